//! The two kinds of settings: zonewright.toml and the project files.

pub mod node;
