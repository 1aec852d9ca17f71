//! Any bytes as the output of `opencode:run`.
#![no_main]

libfuzzer_sys::fuzz_target!(|stdout: &[u8]| provider_fuzz::check("opencode:run", stdout));
