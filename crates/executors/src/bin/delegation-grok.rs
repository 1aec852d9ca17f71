//! The program `delegation-grok`.

fn main() -> std::process::ExitCode {
    process::enter_gate_if_asked();
    executors::grok::main()
}
