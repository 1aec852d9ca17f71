//! Any bytes as the output of `pi:json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|stdout: &[u8]| provider_fuzz::check("pi:json", stdout));
