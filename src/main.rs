//! The `zonewright` command.

use std::process::ExitCode;

/// The allocator of static binaries: that of musl lets threads wait for each other. Others use their system's.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    zonewright::cli::main()
}
