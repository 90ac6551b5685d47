//! What refuses a plan, or keeps a host out of it: limits, breakers, trust in exports, and what the zones would become.
//!
//! Comes in: inventory, live DNS, a plan, and what is remembered of earlier applies. Goes out: what fits and what does not, in
//! numbers and words. Pure: what is remembered is handed in as plain values, and nothing is sent, tripped or accepted here.

pub mod post;
