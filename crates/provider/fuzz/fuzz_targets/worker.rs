//! Any bytes as the output of `offline:survey`.
#![no_main]

libfuzzer_sys::fuzz_target!(|stdout: &[u8]| provider_fuzz::check("offline:survey", stdout));
