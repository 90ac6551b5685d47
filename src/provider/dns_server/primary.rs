//! The primary of a target: the server that its zones are written to, with the key and the number of updates in flight.
//!
//! It is the first server of the settings and no other: what the marker of a zone proves, it proves of one server.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use domain::tsig::Key;

use super::NameServers;
use super::settings::ServerAddress;
use super::version::{ServerSoftware, software};
use super::wire::{Connection, WireFault};
use crate::diag::Problem;
use crate::dns::{Name, ZoneName};
use crate::provider::exchange::ExchangeSettings;
use crate::provider::outage::place_of;

/// The most updates in flight, regardless of the settings: each may be as long as a message.
pub const MAX_IN_FLIGHT: usize = 16;

/// How many updates are in flight to Knot where the settings say nothing. It makes one transaction of all that wait:
/// with 8 of 5 edits each it does 4 times as many as with one, with 8 of 500 edits up to 1.7 times, and 16 are hardly
/// better (Knot 3.2, measured).
const IN_FLIGHT_TO_KNOT: usize = 8;

/// How many updates are in flight to BIND where the settings say nothing. It does one after another and waits for none
/// of ours while it has two; the others are for a disk that takes its time to sync the journal. With 3 to 8 it does 1.4
/// times as many as with one (BIND 9.18, measured). PowerDNS 4.7 gains nothing by more than one.
const IN_FLIGHT_TO_BIND: usize = 4;

/// The primary.
pub struct Primary {
    /// The settings, with this one server, and the key.
    pub servers: NameServers,
    /// How many updates of a zone may be in flight, once that was asked.
    window: OnceLock<usize>,
}

impl Primary {
    /// The one server of these.
    pub fn new(servers: NameServers) -> Primary {
        Primary { servers, window: OnceLock::new() }
    }

    /// The key; fetches its secret the first time.
    pub fn key(&self, zone: &ZoneName) -> Result<Option<Arc<Key>>, Problem> {
        self.servers.key().map_err(|error| error.at(self.place(zone)))
    }

    /// The name of the key, where messages are signed.
    pub fn key_name(&self) -> Option<&Name> {
        self.servers.settings.key.as_ref().map(|key| &key.name)
    }

    /// How long the server may take for an answer.
    pub fn timeout(&self) -> Duration {
        self.exchange().timeout
    }

    /// Connects to the server.
    pub fn connect(&self) -> Result<Connection, WireFault> {
        Connection::open(self.server(), self.timeout())
    }

    /// How many updates of a zone may be in flight; asks the server for its software, once, if the settings do not say
    /// it.
    pub fn window(&self) -> usize {
        *self.window.get_or_init(|| match self.exchange().window {
            Some(window) => usize::from(window).min(MAX_IN_FLIGHT),
            None => match software(self.server(), self.timeout()) {
                ServerSoftware::Knot => IN_FLIGHT_TO_KNOT,
                ServerSoftware::Bind => IN_FLIGHT_TO_BIND,
                ServerSoftware::PowerDns | ServerSoftware::Other => 1,
            },
        })
    }

    /// The server.
    pub fn server(&self) -> &ServerAddress {
        &self.servers.settings.servers[0]
    }

    /// Deadline, method and window.
    pub fn exchange(&self) -> &ExchangeSettings {
        &self.servers.settings.exchange
    }

    /// The server and a zone, as messages name them.
    pub fn place(&self, zone: &ZoneName) -> String {
        place_of(&self.server().to_string(), zone)
    }
}
