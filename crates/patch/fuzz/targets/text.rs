//! Arbitrary bytes as a patch, and as the result that holds one.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| patch_fuzz::check(data));
