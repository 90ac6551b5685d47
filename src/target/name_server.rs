//! A name server as the rest of the code sees it: it gets NOTIFY, and is asked which serials it serves.

use std::time::Duration;

use super::question::{Answer, Question};
use crate::dns::{Serial, ZoneName};

/// What a server answered to the question for the SOA of a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SerialAnswer {
    /// The serial that it serves, as an authoritative answer.
    Serves(Serial),
    /// It is not authoritative for the zone, or refuses to answer for it.
    NoZone,
    /// Nothing that says either.
    Silent,
}

/// How long an answer is waited for.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// At most so long.
    pub most: Duration,
    /// Whether an answer is no longer wanted; it is looked at every now and then.
    pub is_over: &'a (dyn Fn() -> bool + Sync),
}

impl Patience<'static> {
    /// So long.
    pub fn of(most: Duration) -> Patience<'static> {
        Patience { most, is_over: &|| false }
    }
}

/// A name server that is asked, and never written to.
pub trait NameServer: Sync {
    /// Where it is, for messages.
    fn place(&self) -> String;

    /// Tells it that zones changed (RFC 1996). It is not waited for: whether that helped, the next question shows.
    fn notify(&self, zones: &[&ZoneName]);

    /// Asks for the SOA of each zone, all at once; The answers have the order of the zones.
    fn ask(&self, zones: &[&ZoneName], patience: Patience<'_>) -> Vec<SerialAnswer>;

    /// Asks for RRsets of a zone; the answers have the order of the questions, and what a wildcard gives counts as nothing.
    /// None where it does not answer all of them.
    fn read(&self, zone: &ZoneName, questions: &[Question], patience: Patience<'_>) -> Option<Vec<Answer>>;
}
