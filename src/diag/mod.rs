//! Diagnostics: what is wrong in a file, where, and what would be right.
//!
//! Comes in: places and messages from whoever reads input. Goes out: a sorted collection that renders itself as text.
//! May not do input or output.

pub mod diagnostic;

pub mod origin;

pub mod render;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use origin::{FileId, Files, Origin, split_place};
pub use render::{is_formatting, render, sanitize};
