//! The primary of a target: where its zones are written, and read for that.
//!
//! It is the first server of the settings and no other: what the marker of a zone proves, it proves of one server.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::base::iana::Rcode;
use domain::tsig::Key;

use super::ask::{Asker, DEFAULT_WINDOW, MAX_WINDOW};
use super::failure::Failure;
use super::lower::{self, LIMITS};
use super::observe::{Probes, answer_from};
use super::session::Session;
use super::settings::Server;
use super::wire::{Connection, WireFault};
use super::{NameServers, read_error, secret_error};
use crate::dns::ZoneName;
use crate::live::asked::{Answer, Question};
use crate::provider::write::{Edit, UpdateLimits, UpdateZone, WriteZone};
use crate::provider::{Exchange, ReadMethod, TargetError};

/// The most updates in flight, whatever the settings say: each may be as long as a message.
const MAX_IN_FLIGHT: usize = 16;

/// What a question costs a server, and what a record of a transfer does, in microseconds (BIND 9.18, measured).
const COSTS: (u64, u64) = (11, 2);

/// The primary.
pub struct Primary {
    /// The settings, with this one server, and the key.
    servers: NameServers,
}

impl WriteZone for Primary {
    fn place(&self, zone: &ZoneName) -> String {
        format!("{} zone {zone}", self.server())
    }

    fn limits(&self) -> UpdateLimits {
        LIMITS
    }

    fn octets(&self, zone: &ZoneName, edit: Edit<'_>) -> usize {
        lower::octets(zone, edit)
    }

    fn observe(
        &self,
        zone: &ZoneName,
        questions: &[Question],
        rrsets: Option<u64>,
    ) -> Result<Vec<Answer>, TargetError> {
        if questions.is_empty() {
            return Ok(Vec::new());
        }
        let key = self.key(zone)?;
        let transferred = self.transfer_pays(questions.len(), rrsets).then(|| {
            let contents = self.servers.transfer(self.server(), zone, key.clone())?;
            Ok(questions.iter().map(|question| answer_from(&contents, question)).collect())
        });
        let answers = match transferred {
            Some(Err(failure)) if !may_be_no_permission(&failure) => Err(failure),
            Some(Ok(answers)) => Ok(answers),
            Some(Err(_)) | None => self.ask(zone, key, questions),
        };
        answers.map_err(|failure| read_error(self.place(zone), &failure, ""))
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(Session::new(self, zone))
    }

    fn finish(&self) -> Result<(), TargetError> {
        Ok(())
    }
}

impl Primary {
    /// The one server of these.
    pub fn new(servers: NameServers) -> Primary {
        Primary { servers }
    }

    /// The key; fetches its secret the first time.
    pub fn key(&self, zone: &ZoneName) -> Result<Option<Arc<Key>>, TargetError> {
        self.servers.key().map_err(|error| secret_error(error, self.place(zone)))
    }

    /// How long the server may take for an answer.
    pub fn timeout(&self) -> Duration {
        self.exchange().timeout
    }

    /// Connects to the server.
    pub fn connect(&self) -> Result<Connection, WireFault> {
        Connection::open(self.server(), self.timeout())
    }

    /// How many updates of a zone may be in flight.
    pub fn window(&self) -> usize {
        self.exchange().window.map_or(1, |window| usize::from(window).min(MAX_IN_FLIGHT))
    }

    /// The server.
    fn server(&self) -> &Server {
        &self.servers.settings.servers[0]
    }

    /// Deadline, method and window.
    fn exchange(&self) -> &Exchange {
        &self.servers.settings.exchange
    }

    /// Whether a transfer costs the server less than so many questions.
    fn transfer_pays(&self, questions: usize, rrsets: Option<u64>) -> bool {
        let (question, record) = COSTS;
        self.exchange().read == ReadMethod::Axfr
            && rrsets.is_some_and(|rrsets| record.saturating_mul(rrsets) < question * questions as u64)
    }

    /// Asks questions, and those that tell the answers of wildcards apart.
    fn ask(&self, zone: &ZoneName, key: Option<Arc<Key>>, questions: &[Question]) -> Result<Vec<Answer>, Failure> {
        let &Exchange { timeout, window, .. } = self.exchange();
        let window = window.map_or(DEFAULT_WINDOW, |window| usize::from(window).min(MAX_WINDOW));
        let asker = Asker { server: self.server(), zone, key, timeout, window };
        let probe = |probes: Vec<Question>| -> Result<HashMap<Question, Answer>, Failure> {
            if probes.is_empty() {
                return Ok(HashMap::new());
            }
            let answers = asker.ask(&probes)?;
            Ok(probes.into_iter().zip(answers).collect())
        };
        let probes = Probes { zone, questions, answers: asker.ask(questions)? };
        let beside = probe(probes.beside())?;
        let below = probe(probes.below(&beside))?;
        Ok(probes.settle(&below))
    }
}

/// Whether a transfer may have failed only because nobody may transfer the zone.
fn may_be_no_permission(failure: &Failure) -> bool {
    match failure {
        Failure::Refused { rcode, .. } => matches!(*rcode, Rcode::REFUSED | Rcode::NOTAUTH | Rcode::NOTIMP),
        // Knot says so of a key that no `acl` lets transfer the zone, and some servers just hang up.
        Failure::BadKey { by_server: true } => true,
        Failure::Cut { progress } => progress.messages == 0,
        _ => false,
    }
}
