//! A primary in memory: zones that obey the rules of RFC 2136, without sockets, clock or disk.
//!
//! It is what the embedded server serves, and what the core is tried out against. It is no type of target: what it is told
//! is gone with the process.

mod hosts;

pub mod message;

pub mod primary;

pub mod rules;

mod session;

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests;

pub mod zone;
