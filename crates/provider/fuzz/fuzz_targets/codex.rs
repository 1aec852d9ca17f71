//! Any bytes as the output of `codex:exec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|stdout: &[u8]| provider_fuzz::check("codex:exec", stdout));
