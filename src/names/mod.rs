//! Names: who has them, who had them, which are free, and what names.lock says about them.
//!
//! Comes in: the inventory, and live DNS for names that others have. Goes out: the holder of a name, the name that a
//! host is given, and names.lock as it would be. Pure.

pub mod by_hash;

pub mod holders;

pub mod series;

pub mod taken;

pub mod lock;

pub mod edit;

pub mod outcome;

pub mod refuse;

pub mod numbers;

pub mod allocate;

pub mod foreseen;

pub mod release;

pub mod adopt;

pub mod settle;

pub mod short;

#[cfg(test)]
mod fixture;

pub use foreseen::{ForeseenNames, NameProspect};
pub use holders::{HolderRow, NameHolder, NameIndex};
pub use lock::LockEdits;
pub use outcome::{NameChange, NameCode, NameRefusal, NamesOutcome, SettledHost};
pub use settle::Settlement;
pub use taken::TakenNames;
