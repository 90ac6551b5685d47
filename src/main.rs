//! The `zonewright` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    zonewright::cli::main()
}
