//! What of a plan stands in DNS: what was read back, compared with what was to be.
//!
//! Comes in: changes, and what their RRsets are read as. Goes out: what is not as it should be, with the rule that it
//! probably fell to. Pure.
