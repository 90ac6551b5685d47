//! A plan to updates, and what became of them: exactly the plan, or nothing.
//!
//! Comes in: a plan, and the writers of the zones that it changes. Goes out: an outcome for each host, and before and after
//! every update an event, of which the first must be durable before the update is sent. Nothing is decided here: what the
//! plan says is sent, with what the plan saw as its prerequisite, or it is not.

pub mod model;

pub use model::{Applied, Batch, Event, HostOutcome, Outcome, Phase, Refusal, Settled, Swap, Watch, ZoneWritten};
