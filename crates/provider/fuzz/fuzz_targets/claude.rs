//! Any bytes as the output of `claude:print`.
#![no_main]

libfuzzer_sys::fuzz_target!(|stdout: &[u8]| provider_fuzz::check("claude:print", stdout));
