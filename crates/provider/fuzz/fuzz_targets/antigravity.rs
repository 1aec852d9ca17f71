//! Any bytes as the output of `antigravity:print`.
#![no_main]

libfuzzer_sys::fuzz_target!(|stdout: &[u8]| provider_fuzz::check("antigravity:print", stdout));
