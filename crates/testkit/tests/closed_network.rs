//! The closed network: loopback works, nothing else exists.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Command;

use testkit::closed_network;
use testkit::real::skip;

const INTERFACES: &str = "/proc/thread-self/net/dev";

#[test]
fn a_thread_and_what_it_starts_see_loopback_alone() {
    if let Err(reason) = closed_network::enter() {
        return skip("a_thread_and_what_it_starts_see_loopback_alone", &reason);
    }
    assert!(closed_network::is_closed());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    // A datagram socket that is connected sends nothing: it only asks for a route, to an address of no host.
    let no_route = UdpSocket::bind("0.0.0.0:0").unwrap().connect("192.0.2.1:9");
    assert!(no_route.is_err());
    let child = Command::new("cat").arg(INTERFACES).output().unwrap();
    assert_eq!(String::from_utf8(child.stdout).unwrap().matches(':').count(), 1);
    closed_network::enter().unwrap();
}

#[test]
fn the_program_becomes_the_command_inside() {
    let program = env!("CARGO_BIN_EXE_testkit-closed-network");
    let output = Command::new(program).args(["cat", INTERFACES]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    if output.status.code() == Some(127) {
        return skip("the_program_becomes_the_command_inside", told.trim());
    }
    let interfaces = String::from_utf8(output.stdout).unwrap();
    assert!(interfaces.contains("lo:") && interfaces.matches(':').count() == 1, "{interfaces}");
    let usage = Command::new(program).output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}
