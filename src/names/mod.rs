//! Names: who has them, who had them, and which are free.
//!
//! Comes in: the inventory, and live DNS for names that somebody else has. Goes out: whose a name is. Pure.

pub mod holders;

pub use holders::{Holder, HolderRow, NameIndex};
