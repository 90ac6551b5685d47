//! A primary in memory: zones that obey the rules of RFC 2136, without sockets, clock or disk.
//!
//! The embedded server serves it, and tests of the core use it. It is not a type of target: its contents end with the
//! process.

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
