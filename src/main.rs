//! The `zonewright` command.

fn main() {}
