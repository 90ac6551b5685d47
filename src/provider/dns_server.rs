//! Authoritative name servers as targets: zones by transfer (AXFR over TCP) or name by name, and updates; signed with TSIG
//! where there is a key.
//!
//! Comes in: a server's address and key. Goes out: the zone's contents, whole and proven, or an error that names
//! server, zone and cause. An answer that is cut, refused or late is never treated as an empty zone.
//!
//! | part | nature |
//! |---|---|
//! | `settings` | pure: what the settings say |
//! | `secret` | fetches the secrets of keys |
//! | `wire` | messages over TCP, with deadlines |
//! | `message` | pure: what transfers and queries read alike |
//! | `stream` | pure: what transfers check of each message |
//! | `axfr` | pure: messages to a zone |
//! | `query` | pure: a message to its answer about one name |
//! | `ask` | many questions over one connection |
//! | `failure` | pure: what can go wrong |
//! | `health` | what a run has learned of a server |
//! | `ixfr` | pure: the old zone and messages to the new zone |
//! | `kept` | a zone with the help of the cache |
//! | `meter` | how much one read may bring |
//! | `examine` | asks each server what works |
//! | `lower` | pure: updates to messages |
//! | `making` | makes and deletes zones by commands, and tells whether a server has a zone |
//! | `composed` | pure: the octets of a message, names compressed |
//! | `outcome` | pure: the answer to an update to its outcome |
//! | `rooms` | memory for zones, reused by the next transfer |
//! | `session` | updates over one connection |
//! | `observe` | pure: answers out of a whole zone, and those that a wildcard gives |
//! | `version` | asks a server what it is |
//! | `primary` | the server that zones are written to |
//! | `writer` | writes to the primary, and reads for that |
//! | `tsig_key` | a key with its secret |
//! | `udp` | messages over UDP |
//! | `name_server` | sends NOTIFY, and asks for serials |

mod ask;
mod axfr;
mod composed;
pub mod examine;
mod failure;
mod health;
mod ixfr;
mod kept;
mod lower;
mod making;
mod message;
mod meter;
pub mod name_server;
mod observe;
mod outcome;
pub mod primary;
pub mod query;
mod rooms;
mod session;
pub mod settings;
mod stream;
mod tsig_key;
mod udp;
pub mod version;
mod wire;
mod writer;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use domain::base::iana::Rcode;
use domain::rdata::tsig::Time48;
use domain::tsig::Key;

use super::ProviderContext;
use super::exchange::ExchangeSettings;
use crate::diag::Problem;
use crate::dns::{Name, Rtype, ZoneContents, ZoneName};
use crate::target::{Answer, NameExistence, Question, ReadTarget, ReadingManner, ZoneRead, ZoneStamp};

use self::ask::{Asker, DEFAULT_WINDOW, MAX_WINDOW};
use self::axfr::ZoneTransfer;
use self::failure::{ServerFailure, TransferProgress};
use self::health::ServerHealth;
use self::kept::ZoneStandings;
pub use self::lower::LIMITS;
use self::meter::ReadMeter;
use self::primary::Primary;
use self::query::ZonePresence;
use self::rooms::FreeRooms;
use self::settings::{KeySettings, ServerAddress, ServerSettings};
use self::wire::{Connection, WireFault};
use super::cache::{Cache, KeptSize};
use super::outage::place_of;
use super::secret::SecretSource;

/// The one server of these settings, to write to it; fetches the key's secret as [`open_servers`] does.
pub fn open_primary(settings: ServerSettings, context: &ProviderContext<'_>) -> Result<Primary, Problem> {
    Ok(Primary::new(open_servers(settings, context)?))
}

/// Servers, the key's secret fetched unless a command gives it.
///
/// Errors: the secret cannot be had.
pub fn open_servers(settings: ServerSettings, context: &ProviderContext<'_>) -> Result<NameServers, Problem> {
    let servers = NameServers::of(settings, context);
    let by_command = matches!(servers.settings.key, Some(KeySettings { secret: SecretSource::Command(_), .. }));
    if !by_command {
        servers.key().map_err(|error| error.at(servers.places()))?;
    }
    Ok(servers)
}

/// The servers of one target, of which any may answer.
pub struct NameServers {
    /// The settings.
    settings: ServerSettings,
    /// The folder of the workspace.
    workspace: PathBuf,
    /// The key, or why there is none, once it was asked for; `None` where messages are not signed.
    key: OnceLock<Result<Option<Arc<Key>>, Problem>>,
    /// What this run knows of each server.
    health: Vec<ServerHealth>,
    /// The cache: zones may come from it where they are read to plan; what it knows of their sizes bounds every read.
    cache: Option<Cache>,
    /// What a server said of zones before they were read.
    foreseen: OnceLock<ZoneStandings>,
    /// Room that transfers left.
    rooms: FreeRooms,
}

/// How long is waited before a transfer that failed is asked for again: BIND answers SERVFAIL while as many transfers
/// run as
/// `transfers-out` allows, 10 for all clients together.
const PAUSES: [Duration; 3] = [Duration::from_millis(250), Duration::from_millis(500), Duration::from_secs(1)];

impl fmt::Debug for NameServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameServers").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// A zone of a server: its records are all that it holds.
fn zone_read(contents: ZoneContents) -> ZoneRead {
    ZoneRead { contents, opaque: Vec::new(), is_flat: false, inputs: Vec::new(), findings: None }
}

impl ReadTarget for NameServers {
    fn manner(&self) -> ReadingManner {
        self.settings.exchange.read
    }

    fn place(&self, zone: &ZoneName) -> String {
        place_of(&self.places(), zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let contents = self.first_that_can(zone, |server, key| match &self.cache {
            Some(cache) => self.read_by_cache(cache, server, zone, key),
            None => self.transfer_patiently(server, zone, key, None),
        })?;
        Ok(zone_read(contents))
    }

    fn read_if_moved(&self, known: &ZoneContents) -> Result<Option<ZoneRead>, Problem> {
        let Some(cache) = &self.cache else { return self.read_zone(known.apex()).map(Some) };
        let contents = self.first_that_can(known.apex(), |server, key| self.bring_known(cache, server, known, key))?;
        Ok(contents.map(zone_read))
    }

    fn lacks_zone(&self, zone: &ZoneName) -> bool {
        self.presence(zone) == ZonePresence::Absent
    }

    fn prepare(&self, zones: &[&ZoneName]) {
        self.foresee(zones);
    }

    fn still_has(&self, stamps: &[&ZoneStamp]) -> bool {
        self.still_keeps(stamps)
    }

    fn ask(&self, zone: &ZoneName, questions: &[Question]) -> Result<Vec<Answer>, Problem> {
        let (ExchangeSettings { timeout, window, .. }, limits) = (self.settings.exchange, self.settings.limits);
        let window = window.map_or(DEFAULT_WINDOW, |window| usize::from(window).min(MAX_WINDOW));
        self.first_that_can(zone, |server, key| Asker { server, zone, key, timeout, window, limits }.ask(questions))
    }

    fn find(&self, zone: &ZoneName, names: &[Name]) -> Result<Vec<NameExistence>, Problem> {
        let (ExchangeSettings { timeout, window, .. }, limits) = (self.settings.exchange, self.settings.limits);
        let window = window.map_or(DEFAULT_WINDOW, |window| usize::from(window).min(MAX_WINDOW));
        let questions: Vec<Question> = names.iter().cloned().map(Question::whether).collect();
        self.first_that_can(zone, |server, key| {
            Asker { server, zone, key, timeout, window, limits }.ask_to(&questions, query::read_existence)
        })
    }

    /// Asks the first server that answers which zones it has authority for.
    ///
    /// Knot does not sign its refusal for a name in no zone of its own. Then all questions are asked without the key:
    /// the answers only show where to look, and a transfer proves the rest.
    fn find_apexes(&self, names: &[Name]) -> Result<Vec<Option<ZoneName>>, Problem> {
        let (timeout, limits) = (self.settings.exchange.timeout, self.settings.limits);
        let questions = names.iter().cloned().map(|name| Question { name, rtype: Rtype::SOA });
        let questions: Vec<Question> = questions.collect();
        let root = ZoneName::new(Name::root());
        self.first_that_can(&root, |server, key| {
            let ask = |key| {
                let asker = Asker { server, zone: &root, key, timeout, window: DEFAULT_WINDOW, limits };
                asker.ask_to(&questions, query::read_apex)
            };
            match ask(key) {
                Err(ServerFailure::AtQuestion(_, failure))
                    if matches!(*failure, ServerFailure::QueryRefused { unproven: true, .. }) =>
                {
                    ask(None)
                }
                outcome => outcome,
            }
        })
    }
}

impl NameServers {
    /// The servers of a target.
    fn of(settings: ServerSettings, context: &ProviderContext<'_>) -> NameServers {
        let cache = context.cache.filter(|_| settings.cache).cloned();
        NameServers { cache, ..NameServers::new(settings, context.workspace.to_owned(), OnceLock::new()) }
    }

    /// How much a zone held when it was last kept, where that is known.
    fn kept_size(&self, zone: &ZoneName) -> Option<KeptSize> {
        self.cache.as_ref()?.kept_size(zone)
    }

    /// Servers of which nothing is known yet.
    fn new(
        settings: ServerSettings,
        workspace: PathBuf,
        key: OnceLock<Result<Option<Arc<Key>>, Problem>>,
    ) -> NameServers {
        let health = settings.servers.iter().map(|_| ServerHealth::default()).collect();
        NameServers {
            settings,
            workspace,
            key,
            health,
            cache: None,
            foreseen: OnceLock::new(),
            rooms: FreeRooms::default(),
        }
    }

    /// What the first server gives that can.
    ///
    /// Errors: that of the first server, with those of the others in its message.
    fn first_that_can<T>(
        &self,
        zone: &ZoneName,
        act: impl Fn(&ServerAddress, Option<Arc<Key>>) -> Result<T, ServerFailure>,
    ) -> Result<T, Problem> {
        let place = |servers: String| place_of(&servers, zone);
        let key = self.key().map_err(|error| error.at(place(self.places())))?;
        let mut failures = Vec::new();
        let mut order: Vec<usize> = (0..self.settings.servers.len()).collect();
        order.sort_by_cached_key(|number| self.health[*number].was_silent());
        for number in order {
            let health = &self.health[number];
            let outcome = health.check().and_then(|()| act(&self.settings.servers[number], key.clone()));
            health.note(outcome.as_ref().err());
            match outcome {
                Ok(given) => return Ok(given),
                Err(failure) => failures.push((number, failure)),
            }
        }
        failures.sort_by_key(|(number, _)| *number);
        let named = failures.iter().map(|(number, failure)| (&self.settings.servers[*number], failure));
        let named: Vec<_> = named.collect();
        let ((server, failure), others) = named.split_first().expect("there is a server");
        let others: Vec<_> = others.iter().map(|(server, failure)| format!("; then {server}: {failure}")).collect();
        Err(read_error(place(server.to_string()), failure, &others.concat()))
    }

    /// All servers, for messages.
    fn places(&self) -> String {
        let servers: Vec<_> = self.settings.servers.iter().map(ServerAddress::to_string).collect();
        servers.join(", ")
    }

    /// The key; fetches its secret the first time. Other threads wait meanwhile, so that a command runs once.
    fn key(&self) -> Result<Option<Arc<Key>>, Problem> {
        let fetch = || {
            let key = self.settings.key.as_ref();
            key.map(|key| tsig_key::fetch(key, &self.workspace, self.settings.exchange.timeout)).transpose()
        };
        self.key.get_or_init(fetch).clone()
    }

    /// Transfers a zone from one server; where it is the only one, and fails, again after a while. `held` is what the
    /// zone held last.
    ///
    /// Errors: the first failure, as what follows may follow from it.
    fn transfer_patiently(
        &self,
        server: &ServerAddress,
        zone: &ZoneName,
        key: Option<Arc<Key>>,
        held: Option<KeptSize>,
    ) -> Result<ZoneContents, ServerFailure> {
        let failed = |outcome: &Result<_, ServerFailure>| {
            matches!(outcome, Err(ServerFailure::Refused { rcode: Rcode::SERVFAIL, .. }))
        };
        let first = self.transfer(server, zone, key.clone(), held);
        if !failed(&first) || self.settings.servers.len() > 1 {
            return first;
        }
        let health = &self.health[0];
        for pause in PAUSES {
            if health.goes_on_failing() {
                return first;
            }
            std::thread::sleep(pause);
            let again = self.transfer(server, zone, key.clone(), held);
            if again.is_ok() {
                return again;
            }
            if !failed(&again) {
                return first;
            }
        }
        health.note_failing();
        first
    }

    /// Transfers a zone from one server; `held` is what the zone held last.
    fn transfer(
        &self,
        server: &ServerAddress,
        zone: &ZoneName,
        key: Option<Arc<Key>>,
        held: Option<KeptSize>,
    ) -> Result<ZoneContents, ServerFailure> {
        let mut meter = ReadMeter::start(self.settings.limits, held);
        let mut connection = Connection::open(server, self.settings.exchange.timeout)
            .map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let (transfer, question) = ZoneTransfer::start(zone, key, random_id(), Time48::now());
        let mut transfer = transfer.within(self.rooms.enter());
        connection.send(&question).map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let mut message = Vec::new();
        while !transfer.ended() {
            meter.receive(&mut connection, self.settings.exchange.timeout, &mut message, transfer.progress())?;
            transfer.accept(&mut message, Time48::now())?;
            meter.check(transfer.progress())?;
        }
        if connection.has_more() {
            return Err(ServerFailure::BadMessage("bytes after the last message".to_owned()));
        }
        let (contents, room) = transfer.finish_and_leave()?;
        self.rooms.leave(room);
        Ok(contents)
    }
}

/// What a fault of the connection means after what had come.
fn explain_wire(fault: WireFault, progress: TransferProgress) -> ServerFailure {
    match fault {
        WireFault::Unresolved(error) => ServerFailure::Unresolved(error),
        WireFault::Connect(error) => ServerFailure::Connect(error),
        WireFault::TimedOut => ServerFailure::TimedOut { progress },
        WireFault::Closed => ServerFailure::Cut { progress },
        WireFault::Io(error) => ServerFailure::Io(error),
    }
}

/// The error of a failure; `others` is added to its message.
fn read_error(place: String, failure: &ServerFailure, others: &str) -> Problem {
    let message = format!("{failure}{others}");
    Problem::new(place, failure.code(), message).hint(failure.hint())
}

/// An ID that others cannot foresee (RFC 5452 section 4.3).
fn random_id() -> u16 {
    RandomState::new().hash_one(()) as u16
}

#[cfg(test)]
mod tests;
