//! The program `delegate-run`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    cli::delegate_run()
}
