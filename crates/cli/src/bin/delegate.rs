//! The program `delegate`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    cli::delegate()
}
