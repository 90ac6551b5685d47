//! What the inventory says must be there: hosts to interfaces with their acceptable addresses, and what files state.
//!
//! Comes in: the inventory, and the A records of live DNS. Goes out: for each host its interfaces, and the faults of
//! the inventory that keep it from having them; for the fleet, which hosts share a name, a MAC or an address. Pure.

pub mod mac;

pub mod network;

pub mod address;

pub mod host;

pub mod claims;

pub mod gone;

pub mod records;

pub mod pods;

pub mod pod_subjects;

pub mod endpoints;

pub mod rivals;

pub mod all;

pub mod collide;

pub use all::DesiredHosts;
pub use collide::{Collisions, UsedValues};
pub use host::{DesiredHost, HostFault, Interface, InterfaceKind};
