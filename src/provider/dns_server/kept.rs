//! A zone with the help of the cache: the stored zone, if the server says that it has not changed; with its
//! differences, if it has; else a transfer of the whole zone, which is then stored.
//!
//! Comes in: a zone, and the cache. Goes out: its contents as a transfer would give them. A mismatch is written to the
//! log, and costs a transfer.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use domain::rdata::tsig::Time48;
use domain::tsig::Key;

use super::ask::{Asker, DEFAULT_WINDOW};
use super::failure::{ServerFailure, TransferProgress};
use super::ixfr::{IncrementOutcome, IncrementalTransfer};
use super::meter::ReadMeter;
use super::settings::ServerAddress;
use super::wire::Connection;
use super::{NameServers, explain_wire, query, random_id};
use crate::dns::{Name, RdataRef, Rtype, ZoneContents, ZoneName};
use crate::inventory::value::Time;
use crate::provider::cache::{Cache, CachedZone, KeptSize};
use crate::provider::outage::place_of;
use crate::target::{Marker, Question, ZoneStamp, marker_key};

/// How long a server may be silent when it is asked what moved: a transfer waits as long as the settings say.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a server said of many zones.
#[derive(Debug)]
pub struct ZoneStandings {
    /// The server.
    server: ServerAddress,
    /// What it said.
    of: HashMap<ZoneName, ZoneStamp>,
}

/// From which server a zone is read, and how.
#[derive(Debug)]
struct ReadTerms<'a> {
    /// The server.
    server: &'a ServerAddress,
    /// The key that questions are signed with.
    key: Option<Arc<Key>>,
    /// How large the zone was when it was last kept, where that is known.
    held: Option<KeptSize>,
}

impl NameServers {
    /// Asks, over one connection, what moved of the zones that the cache may have.
    pub fn foresee(&self, zones: &[&ZoneName]) {
        let Some(cache) = &self.cache else { return };
        let zones: Vec<&ZoneName> = zones.iter().copied().filter(|zone| cache.may_have(zone)).collect();
        if zones.is_empty() {
            return;
        }
        // The read of a zone reports why there is no key.
        let Ok(key) = self.key() else { return };
        for server in &self.settings.servers {
            match self.ask_standings(server, &zones, key.clone()) {
                Ok(standings) => {
                    let of = zones.into_iter().cloned().zip(standings).collect();
                    // A second look would see what the first did.
                    let _ = self.foreseen.set(ZoneStandings { server: server.clone(), of });
                    return;
                }
                Err(failure) => tracing::info!("{server}: changes are asked for zone by zone: {failure}"),
            }
        }
    }

    /// Whether zones are as they were by these stamps: the first server says so of each over one connection, and each was kept from
    /// that server no longer ago than the cache is used.
    pub fn still_keeps(&self, stamps: &[&ZoneStamp]) -> bool {
        let (Some(cache), [server, ..]) = (&self.cache, self.settings.servers.as_slice()) else { return false };
        let (origin, max_age) = (self.origin(server), self.settings.cache_max_age);
        if !stamps.iter().all(|stamp| cache.since(&stamp.zone, &origin, max_age).is_ok()) {
            return false;
        }
        // Whatever fails is reported where the zone is read.
        let Ok(key) = self.key() else { return false };
        let zones: Vec<&ZoneName> = stamps.iter().map(|stamp| &stamp.zone).collect();
        let is_same = |(stamp, standing): (&&ZoneStamp, &ZoneStamp)| {
            has_same_soa(stamp, standing) && has_same_marker(stamp, standing)
        };
        let standings = self.ask_standings(server, &zones, key);
        standings.is_ok_and(|standings| stamps.iter().zip(&standings).all(is_same))
    }

    /// The zone as one server has it, by way of the cache.
    pub fn read_by_cache(
        &self,
        cache: &Cache,
        server: &ServerAddress,
        zone: &ZoneName,
        key: Option<Arc<Key>>,
    ) -> Result<ZoneContents, ServerFailure> {
        let terms = ReadTerms { server, key, held: cache.kept_size(zone) };
        match cache.load(zone, &self.origin(server), self.settings.cache_max_age) {
            Ok(CachedZone { contents, since }) => {
                let moved = self.bring_forward(&terms, &contents, since)?;
                Ok(self.take_move(cache, &terms, zone, moved)?.map_or(contents, |now| self.kept(cache, server, now)))
            }
            Err(why) => {
                let read = self.take_move(cache, &terms, zone, ZoneMove::Unknown(why))?;
                Ok(self.kept(cache, server, read.expect("nothing is known that did not move")))
            }
        }
    }

    /// The zone as one server has it, unless it is as it is `known` from that server; without a look at what the cache holds of it,
    /// but for when it was last transferred whole.
    pub fn bring_known(
        &self,
        cache: &Cache,
        server: &ServerAddress,
        known: &ZoneContents,
        key: Option<Arc<Key>>,
    ) -> Result<Option<ZoneContents>, ServerFailure> {
        let zone = known.apex();
        let Ok(since) = cache.since(zone, &self.origin(server), self.settings.cache_max_age) else {
            return self.read_by_cache(cache, server, zone, key).map(Some);
        };
        let terms = ReadTerms { server, key, held: cache.kept_size(zone) };
        let moved = self.bring_forward(&terms, known, since)?;
        let read = self.take_move(cache, &terms, zone, moved)?;
        // The process has the differences in memory: the file of another one gets them by their transfer, as it is.
        Ok(read.map(|now| if now.since == since { now.contents } else { self.kept(cache, server, now) }))
    }

    /// The zone after what happened to it: none where it did not move.
    fn take_move(
        &self,
        cache: &Cache,
        terms: &ReadTerms<'_>,
        zone: &ZoneName,
        moved: ZoneMove,
    ) -> Result<Option<CachedZone>, ServerFailure> {
        let why = match moved {
            ZoneMove::Not => return Ok(None),
            ZoneMove::To(now) => return Ok(Some(now)),
            ZoneMove::Unknown(why) => why,
        };
        if let Some(why) = why {
            let place = place_of(&terms.server.to_string(), zone);
            tracing::info!("{place}: transferred whole, because the stored zone was not used: {why}");
        }
        let contents = self.transfer_patiently(terms.server, zone, terms.key.clone(), terms.held)?;
        Ok(Some(CachedZone { contents, since: cache.now() }))
    }

    /// Keeps a zone for the next run, and gives its contents.
    fn kept(&self, cache: &Cache, server: &ServerAddress, zone: CachedZone) -> ZoneContents {
        let CachedZone { contents, since } = zone;
        if let Err(error) = cache.keep(&contents, &self.origin(server), since) {
            let place = place_of(&server.to_string(), contents.apex());
            tracing::info!("{place}: not kept for the next run: {error}");
        }
        contents
    }

    /// Finds out whether a zone changed since it was read, and to which serial; `since` is when it was last transferred whole.
    ///
    /// Errors: there is no connection, so there would be none for a transfer.
    fn bring_forward(
        &self,
        terms: &ReadTerms<'_>,
        known: &ZoneContents,
        since: Time,
    ) -> Result<ZoneMove, ServerFailure> {
        let (server, zone) = (terms.server, known.apex());
        let foreseen = self.foreseen.get().filter(|foreseen| foreseen.server == *server);
        let standing = match foreseen.and_then(|foreseen| foreseen.of.get(zone)) {
            Some(standing) => standing.clone(),
            None => match self.ask_standings(server, &[zone], terms.key.clone()).map(|mut all| all.pop()) {
                Ok(Some(standing)) => standing,
                Ok(None) => return Ok(ZoneMove::Unknown(Some("the server does not answer for it".to_owned()))),
                Err(failure) if would_fail_too(&failure) => return Err(failure),
                Err(failure) => return Ok(ZoneMove::Unknown(Some(failure.to_string()))),
            },
        };
        let stamp = ZoneStamp::of(known);
        let was = known.serial();
        if has_same_soa(&stamp, &standing) {
            // An apply of zonewright since then left another marker.
            let why = || "its marker changed, but its serial did not".to_owned();
            if !has_same_marker(&stamp, &standing) {
                return Ok(ZoneMove::Unknown(Some(why())));
            }
            tracing::info!("{}: unchanged at serial {was} since {since}", place_of(&server.to_string(), zone));
            return Ok(ZoneMove::Not);
        }
        let serial = standing
            .soa
            .as_ref()
            .and_then(|soa| RdataRef { rtype: Rtype::SOA, octets: soa.rdata().first()?.as_octets() }.serial());
        match serial {
            None => Ok(ZoneMove::Unknown(Some("the server has no SOA for it".to_owned()))),
            Some(serial) if serial > was => Ok(self.take_differences(terms, (known, since), &standing)),
            Some(serial) => {
                Ok(ZoneMove::Unknown(Some(format!("its serial changed from {was} to {serial}, which is not newer"))))
            }
        }
    }

    /// Transfers what changed in a zone, up to the serial that the server has.
    fn take_differences(
        &self,
        terms: &ReadTerms<'_>,
        (known, since): (&ZoneContents, Time),
        standing: &ZoneStamp,
    ) -> ZoneMove {
        let (server, zone, was) = (terms.server, known.apex(), known.serial());
        match self.increment(terms, known) {
            // A zone that was restored from a backup, and came to the kept serial on another way, has another marker.
            Ok(IncrementOutcome::Changed(contents, _)) if leads_elsewhere(&contents, standing) => {
                ZoneMove::Unknown(Some("after its differences the zone has another marker than the server".to_owned()))
            }
            Ok(IncrementOutcome::Changed(contents, records)) => {
                let now = contents.serial();
                tracing::info!("{server} zone {zone}: from serial {was} to {now} by {records} records of differences");
                ZoneMove::To(CachedZone { contents: *contents, since })
            }
            Ok(IncrementOutcome::Whole(contents)) => {
                tracing::info!(
                    "{server} zone {zone}: zonewright asked for differences, and the server sent the whole zone"
                );
                let since = self.cache.as_ref().map_or(since, Cache::now);
                ZoneMove::To(CachedZone { contents: *contents, since })
            }
            Ok(IncrementOutcome::Unmoved) => ZoneMove::Unknown(Some(
                "one answer of the server says that the zone changed, and another that it did not".into(),
            )),
            Err(failure) => ZoneMove::Unknown(Some(failure.to_string())),
        }
    }

    /// Asks one server for what changed since a zone was as it is here.
    fn increment(&self, terms: &ReadTerms<'_>, base: &ZoneContents) -> Result<IncrementOutcome, ServerFailure> {
        let mut meter = ReadMeter::start(self.settings.limits, terms.held);
        let mut connection = Connection::open(terms.server, self.settings.exchange.timeout)
            .map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let (mut increment, question) = IncrementalTransfer::start(base, terms.key.clone(), random_id(), Time48::now());
        connection.send(&question).map_err(|fault| explain_wire(fault, TransferProgress::default()))?;
        let mut message = Vec::new();
        while !increment.ended() {
            // Where a SOA alone came, the next message is on its way, or never will be.
            let timeout = self.settings.exchange.timeout;
            let patience = if increment.is_unclear() { timeout.min(PATIENCE) } else { timeout };
            meter.receive(&mut connection, patience, &mut message, increment.progress())?;
            increment.accept(&mut message, Time48::now())?;
            meter.check(increment.progress())?;
        }
        if connection.has_more() {
            return Err(ServerFailure::BadMessage("bytes after the last message".to_owned()));
        }
        increment.finish()
    }

    /// Asks one server for the serials and markers of zones; the answers have their order.
    fn ask_standings(
        &self,
        server: &ServerAddress,
        zones: &[&ZoneName],
        key: Option<Arc<Key>>,
    ) -> Result<Vec<ZoneStamp>, ServerFailure> {
        let soas = zones.iter().map(|zone| Question { name: zone.as_name().to_name(), rtype: Rtype::SOA });
        let markers = zones.iter().map(|zone| {
            // For a zone whose name is too long for a marker, its own TXT is asked for and ignored.
            Question { name: marker_of(zone).unwrap_or_else(|| zone.as_name().to_name()), rtype: Rtype::TXT }
        });
        let questions: Vec<Question> = soas.chain(markers).collect();
        let timeout = self.settings.exchange.timeout.min(PATIENCE);
        let root = ZoneName::new(Name::root());
        let limits = self.settings.limits;
        let asker = Asker { server, zone: &root, key, timeout, window: DEFAULT_WINDOW, limits };
        let mut soas = asker.ask_to(&questions, query::read_own)?;
        let markers = soas.split_off(zones.len());
        let stamp = |(zone, (soa, marker)): (&&ZoneName, _)| ZoneStamp { zone: (*zone).clone(), soa, marker };
        Ok(zones.iter().zip(soas.into_iter().zip(markers)).map(stamp).collect())
    }

    /// What zones of a server are kept as: the server, and the key, by which it may show another view of them.
    fn origin(&self, server: &ServerAddress) -> String {
        match &self.settings.key {
            Some(key) => format!("{server}, key {} {}", key.name, key.algorithm),
            None => format!("{server}, without a key"),
        }
    }
}

/// What happened to a zone since it was read.
enum ZoneMove {
    /// Nothing.
    Not,
    /// It moved, and this is how it is now.
    To(CachedZone),
    /// That is not known: why, where there was anything to know it by.
    Unknown(Option<String>),
}

/// The owner name of a zone's marker; `None` where the zone's name is too long for one.
fn marker_of(zone: &ZoneName) -> Option<Name> {
    marker_key(zone).map(|key| key.owner.as_name().to_name())
}

/// Whether a transfer would fail as a question did, though it waits longer for a connection.
fn would_fail_too(failure: &ServerFailure) -> bool {
    match failure {
        ServerFailure::Unresolved(_) => true,
        ServerFailure::Connect(error) => error.kind() != ErrorKind::TimedOut,
        _ => false,
    }
}

/// Whether a server has a zone with the SOA that was kept.
fn has_same_soa(kept: &ZoneStamp, standing: &ZoneStamp) -> bool {
    standing.soa.is_some() && standing.soa == kept.soa
}

/// Whether the marker of a zone is the one that was kept. Where none was kept, a wildcard may answer in its place.
fn has_same_marker(kept: &ZoneStamp, standing: &ZoneStamp) -> bool {
    kept.marker == standing.marker
        || kept.marker.is_none() && standing.marker.as_ref().and_then(Marker::of_rrset).is_none()
}

/// Whether a zone has the SOA that was seen, and not the marker that was seen.
fn leads_elsewhere(contents: &ZoneContents, standing: &ZoneStamp) -> bool {
    let own = ZoneStamp::of(contents);
    standing.soa == own.soa && !has_same_marker(&own, standing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_took_too_long_for_a_question_is_waited_for_by_a_transfer() {
        let connect = |kind: ErrorKind| would_fail_too(&ServerFailure::Connect(kind.into()));
        assert!(connect(ErrorKind::ConnectionRefused));
        assert!(!connect(ErrorKind::TimedOut));
        assert!(!would_fail_too(&ServerFailure::TimedOut { progress: TransferProgress::default() }));
    }
}
