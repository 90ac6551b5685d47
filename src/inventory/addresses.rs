//! The addresses that an inventory lists: whose they are, and what a project says of them.

use std::net::IpAddr;

use ipnet::IpNet;

use super::symbol::{Symbol, Symbols};
use super::value::Inv;
use crate::diag::Origin;

/// One row of a source of addresses with a readable inventory number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRow {
    /// The host.
    pub inv: Inv,
    /// The interface.
    pub interface: ListedInterface,
    /// The address; none where the row is bad.
    pub address: Option<IpAddr>,
    /// The row.
    pub origin: Origin,
}

/// The interface that a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedInterface {
    /// The main one, whatever it is called: the export says which address is the primary one.
    Primary,
    /// The one with this name.
    Named(Symbol),
    /// Any of the host: the row cannot be read.
    Unreadable,
}

impl ListedInterface {
    /// Its name, where the source says one.
    pub fn name(self, symbols: &Symbols) -> Option<&str> {
        match self {
            ListedInterface::Named(own) => Some(symbols.text(own)),
            ListedInterface::Primary | ListedInterface::Unreadable => None,
        }
    }

    /// Whether a row about it is also about the interface with this name.
    pub fn may_be(self, name: &str, is_main: bool, symbols: &Symbols) -> bool {
        match self {
            ListedInterface::Primary => is_main,
            ListedInterface::Named(own) => symbols.text(own) == name,
            ListedInterface::Unreadable => true,
        }
    }
}

/// Where the addresses of a project's hosts come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostAddresses {
    /// They are made of MACs and networks.
    Derived,
    /// The inventory lists them.
    Listed(Box<ListedInterfaces>),
}

/// What a project says of addresses that the inventory lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedInterfaces {
    /// Where `addresses` is written.
    pub origin: Origin,
    /// What the inventory calls the backbone.
    pub backbone: String,
    /// What it calls the fastbone, where hosts have one.
    pub fastbone: Option<String>,
    /// The networks in which all addresses are, with their places; any where there are none.
    pub networks: Vec<(IpNet, Origin)>,
}

impl ListedInterfaces {
    /// The interfaces: what the inventory calls each, and whether it is the backbone.
    pub fn names(&self) -> impl Iterator<Item = (&str, bool)> {
        let fastbone = self.fastbone.as_deref().map(|name| (name, false));
        std::iter::once((self.backbone.as_str(), true)).chain(fastbone)
    }

    /// Whether a host may have an address.
    pub fn admits(&self, address: IpAddr) -> bool {
        self.networks.is_empty() || self.networks.iter().any(|(network, _)| network.contains(&address))
    }
}
