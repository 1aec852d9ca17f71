//! The program `delegation-glm`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    executors::glm::main()
}
