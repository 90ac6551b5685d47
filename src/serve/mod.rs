//! A small authoritative server on loopback, to try zonewright with and to test it; not a name server for a network.
//!
//! Comes in: zones, a key, and how the server is to deviate from the RFC. Goes out: answers to queries, transfers and
//! updates, until it is stopped. Zones live in memory and end with the process; nothing is written to disk.
//!
//! | part | nature |
//! |---|---|
//! | `wire` | pure: requests in |
//! | `update` | pure: what an update says |
//! | `letters` | the capitals of what updates added |
//! | `lookup` | pure: what a zone answers to a question |
//! | `answer` | answers out |
//! | `axfr` | transfers out |
//! | `tsig` | who signed, and the answer to a bad signature |
//! | `quirk` | pure: deviations from the RFC |
//! | `fault` | pure: faults on request |
//! | `service` | one request to its outcome |
//! | `listen` | sockets and threads |
//!
//! `cms` is another server: the reference service of approvals.
//!
//! `hickory-server` (0.26.3) is not enough: it puts a transfer into one message, so that a zone of 40 000 records
//! cannot be transferred (its issue 351).

mod answer;

mod axfr;

pub mod cms;

pub mod fault;

mod letters;

mod listen;

mod lookup;

pub mod quirk;

mod service;

mod tsig;

mod update;

mod wire;

pub use self::listen::{ListenError, RunningServer, listen};
pub use self::service::{Service, ServiceCounts, ServiceOptions};
pub use self::tsig::ServerKey;
