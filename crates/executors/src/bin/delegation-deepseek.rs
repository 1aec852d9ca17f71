//! The program `delegation-deepseek`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    executors::chat::deepseek()
}
