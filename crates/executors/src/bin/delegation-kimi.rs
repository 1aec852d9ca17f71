//! The program `delegation-kimi`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    executors::kimi::main()
}
