//! Diagnostics: what is wrong in a file, where, and what would be right.
//!
//! Comes in: places and messages from the rooms that read input. Goes out: a sorted collection that renders itself as
//! text. May not do input or output.

pub mod code;

pub mod diagnostic;

pub mod near;

pub mod origin;

pub mod problem;

pub mod render;

pub mod wrap;

pub use code::Code;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use near::{did_you_mean, near};
pub use origin::{FileId, Files, Origin, split_place};
pub use problem::{AttemptError, CallError, FileFindings, Problem};
pub use render::{is_formatting, is_noncharacter, render, render_in, sanitize};
pub use wrap::{fit, wrap};
