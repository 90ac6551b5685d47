//! The plan as a JSON document, format `zonewright.plan/1`.
//!
//! Comes in: a sealed plan, or text. Goes out: text, or a sealed plan that is as whole and sorted as one just made.
//! Both directions are exact: a document that is read and written again is the same to the last octet of its values.

mod read;

mod write;

pub use read::{Altered, PlanError, parse};
pub use write::to_json;
pub(super) use write::{effect, id};

/// What `format` says.
const FORMAT: &str = "zonewright.plan/1";

/// The prefix of every digest.
const SHA256: &str = "sha256:";

/// The setting of a limit that is not set.
const DEFAULT: &str = "default";

#[cfg(test)]
mod tests;
