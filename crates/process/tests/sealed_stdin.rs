//! A child can read its input and can not change it, by no way through its own descriptor.

mod common;

use common::{output_of, shell};
use process::SealedInput;

#[test]
fn every_way_of_rewriting_the_input_fails() {
    let script = "
        echo other 2>/dev/null >/proc/self/fd/0 && echo truncated
        echo other 2>/dev/null >>/proc/self/fd/0 && echo appended
        echo other 2>/dev/null 1<>/proc/self/fd/0 && echo overwritten
        echo other 2>/dev/null >&0 && echo written
        cat";
    let seen = output_of(|output| {
        let mut spec = shell(script, output);
        spec.stdin = SealedInput::from_bytes(b"brief\n").expect("an input");
        spec.stderr = common::append(std::path::Path::new("/dev/null"));
        spec
    });
    assert_eq!(seen, "brief\n");
}
