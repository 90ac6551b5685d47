//! The plan as a JSON document, format `zonewright.plan/2`.
//!
//! Comes in: a sealed plan, or text. Goes out: text, or a sealed plan that is as whole and sorted as one just made.
//! Both directions are exact: a document that is read and written again is the same to the last byte of its values.
//! Its digests are those of its canonical form (RFC 8785): so that this is its compact form, the fields of all that a
//! plan holds are in the order of their names.

pub(super) mod digest;

mod lines;

mod read;

mod write;

pub use read::{AlteredPart, PlanReadError, parse};
pub use write::to_json;
pub(super) use write::{effect, id};

/// What `format` says.
const FORMAT: &str = "zonewright.plan/2";

#[cfg(test)]
mod tests;
