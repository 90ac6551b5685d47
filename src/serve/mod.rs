//! A small authoritative server on loopback, to try zonewright out on and to test it with; not a name server for a network.
//!
//! Comes in: zones, a key, and what the server is to do otherwise than the RFC says. Goes out: answers to queries, transfers
//! and updates, until it is told to stop. Zones live in memory and go with the process; nothing is written anywhere.
//!
//! | part | nature |
//! |---|---|
//! | `wire` | pure: requests in |
//! | `update` | pure: what an update says |
//! | `lookup` | pure: what a zone says to a question |
//! | `answer` | answers out |
//! | `axfr` | transfers out |
//! | `tsig` | who signed, and what is said where that is no good |
//! | `quirk` | pure: what it does otherwise than the RFC says |
//! | `fault` | pure: what is to go wrong |
//! | `service` | one request to what becomes of it |
//! | `listen` | sockets and threads |
//!
//! `hickory-server` (0.26.3) would not do: it puts a transfer into one message, so that a zone of 40 000 records cannot be
//! transferred (its issue 351).

mod answer;

mod axfr;

pub mod fault;

mod listen;

mod lookup;

pub mod quirk;

mod service;

mod tsig;

mod update;

mod wire;

pub use self::listen::{ListenError, Running, listen};
pub use self::service::{Counts, Options, Service};
pub use self::tsig::ServerKey;
