//! Runs a model server until standard input closes. Its URL is the first line on standard output.

use std::io::{Read, Write};

use testkit::model_server::ModelServer;

fn main() -> std::io::Result<()> {
    let server = ModelServer::start()?;
    let mut output = std::io::stdout();
    writeln!(output, "{}", server.url())?;
    output.flush()?;
    let mut ignored = Vec::new();
    std::io::stdin().read_to_end(&mut ignored)?;
    Ok(())
}
