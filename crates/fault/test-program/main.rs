//! Passes two fault points and prints what each of them answered.

fn main() {
    for name in ["test.first", "test.second"] {
        match fault::point(name) {
            Ok(()) => println!("{name} ok"),
            Err(error) => println!("{name} {}", error.raw_os_error().unwrap_or(0)),
        }
    }
}
