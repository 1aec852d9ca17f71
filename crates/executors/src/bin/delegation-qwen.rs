//! The program `delegation-qwen`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    executors::chat::qwen()
}
