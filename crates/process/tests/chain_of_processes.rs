//! A tree that keeps moving, each process starting the next and ending, is swept all the same.

mod common;

use common::{TEST_PROGRAM, announced, launch, pipe, start};
use process::{Containment, Ending};

#[test]
fn nothing_is_left_of_a_chain() {
    process::become_subreaper().expect("a subreaper");
    let (mut reader, writer) = pipe();
    let mut spec = launch(&[TEST_PROGRAM, "chain", "0"], writer);
    spec.containment = Containment::Subreaper;
    let mut child = start(spec);
    announced(&mut reader);
    assert_eq!(child.ending(), Ending::Exited(0));
    let swept = child.tree().sweep().expect("swept");
    assert_eq!(swept.survivors, 0);
    // A living link would hold the pipe open and say so at its end.
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut reader, &mut rest).expect("the end of the pipe");
    assert_eq!(rest, "");
    assert_eq!(child.tree().members().expect("members"), []);
}
