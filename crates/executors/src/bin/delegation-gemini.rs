//! The program `delegation-gemini`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    executors::gemini::main()
}
