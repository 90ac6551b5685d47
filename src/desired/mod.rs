//! What the inventory says must be there: hosts to interfaces with their acceptable addresses.
//!
//! Comes in: the inventory, and of live DNS the A records alone. Goes out: for each host its interfaces, and what in the
//! inventory keeps it from having them; over the fleet, who shares a name, a MAC or an address. Pure.

pub mod mac;

pub mod network;

pub mod address;

pub mod host;

pub mod all;

pub mod collide;

pub use all::Desired;
pub use collide::{Collisions, Used};
pub use host::{DesiredHost, Fault, Interface, InterfaceKind};
