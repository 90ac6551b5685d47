//! `verify = "records"`: what steps changed is read from each name server that shows their serial.
//!
//! Comes in: what updates left at each target, as the journal says, and the rows of name servers once they were asked for
//! serials. Goes out: the RRsets that a name server does not hold so. It has not reached their step then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use super::polls::{PollTask, PollWatch, pause};
use super::rolls::PoolRolls;
use super::watched::WatchedZone;
use crate::apply::compare::{shown, shown_or_nothing};
use crate::change::RrsetText;
use crate::consensus::{StepNumber, VoterId};
use crate::diag::Problem;
use crate::dns::{Name, RrKey, Rtype, ZoneName};
use crate::inventory::model::Config;
use crate::parallel::side_by_side;
use crate::provider;
use crate::state::served::DifferingRrset;
use crate::state::{SightedRrset, State};
use crate::target::{Answer, CopyId, NameServer, Patience, Question, TargetId, ZoneId};

/// How many name servers are read side by side: they are waited for, and cost no more than a thread each.
const MOST_SERVERS: usize = 64;

/// An RRset that the name servers of a target are to hold.
#[derive(Debug, Clone)]
struct ExpectedRrset {
    /// The owner name.
    name: Name,
    /// The type.
    rtype: Rtype,
    /// The step that changed it last.
    step: StepNumber,
    /// What that left; none where it is to be gone.
    after: Option<RrsetText>,
}

/// What the name servers of some copies are to hold.
#[derive(Debug, Default)]
pub struct ExpectedRecords {
    /// The RRsets, by the copy of the zone that the name servers follow.
    by_copy: BTreeMap<CopyId, Vec<ExpectedRrset>>,
}

impl ExpectedRecords {
    /// Reads from the journal what is expected of the name servers of these zones, where their pools ask for it.
    pub fn read(
        state: &dyn State,
        config: &Config,
        rolls: &PoolRolls<'_>,
        zones: &[WatchedZone],
    ) -> Result<ExpectedRecords, Problem> {
        let mut open: BTreeMap<TargetId, Vec<(ZoneName, RrKey, StepNumber)>> = BTreeMap::new();
        for zone in zones.iter().filter(|zone| rolls.reads_records(&zone.zone.pool)) {
            let ZoneId { pool, name } = &zone.zone;
            let rows = state.rrset_rows_after(&zone.zone, zone.lowest_before())?;
            let followed: BTreeSet<&TargetId> =
                rolls.name_servers(pool.as_str()).iter().map(|named| &named.server.of).collect();
            for target in followed {
                let keys = rows.iter().filter_map(|((own, rtype), row)| {
                    let owner = name.owner(own.as_name())?;
                    Some((name.clone(), RrKey { owner, rtype: *rtype }, row.step))
                });
                open.entry(target.clone()).or_default().extend(keys);
            }
        }
        let mut expected = ExpectedRecords::default();
        for (target, rrsets) in open {
            let pool = config.pools.iter().find(|pool| pool.name == target.pool);
            let scopes = pool.and_then(|pool| config.scopes(pool)).unwrap_or_default();
            let at = scopes.iter().find(|scope| scope.target == target);
            let sights: Vec<SightedRrset<'_>> = rrsets.iter().map(|(_, key, _)| SightedRrset { key, at }).collect();
            let written = state.last_written(&sights)?;
            // What was not written at this target, or perhaps not, is not expected there.
            for ((zone, key, step), written) in rrsets.iter().zip(written) {
                let Some(written) = written else { continue };
                let copy = CopyId { target: target.clone(), zone: zone.clone() };
                let (name, after) = (key.owner.as_name().to_name(), written.after);
                let rrset = ExpectedRrset { name, rtype: key.rtype, step: *step, after };
                expected.by_copy.entry(copy).or_default().push(rrset);
            }
        }
        Ok(expected)
    }

    /// What a name server is to hold of a zone by now: what was changed in the steps that it has come to show.
    fn of_server(&self, task: &PollTask<'_>, place: usize, zone: &WatchedZone) -> Option<AskedRecords<'_>> {
        let copy = CopyId { target: task.named.server.of.clone(), zone: zone.zone.name.clone() };
        let (since, shown) = (zone.shown_before(&task.named.voter), zone.record.row(&task.named.voter).step);
        let is_new = |rrset: &&ExpectedRrset| rrset.step > since && rrset.step <= shown;
        let rrsets: Vec<&ExpectedRrset> = self.by_copy.get(&copy)?.iter().filter(is_new).collect();
        (!rrsets.is_empty()).then(|| AskedRecords { place, zone: zone.zone.clone(), rrsets })
    }

    /// Reads the RRsets from all name servers, side by side; a name server that does not hold them so has not reached
    /// their step. Gives what differs.
    pub fn check(
        &self,
        tasks: Vec<PollTask<'_>>,
        zones: &mut [WatchedZone],
        watch: &PollWatch<'_>,
    ) -> Vec<DifferingRrset> {
        if self.by_copy.is_empty() {
            return Vec::new();
        }
        let asked = |task: &PollTask<'_>| -> Vec<AskedRecords<'_>> {
            task.zones.iter().filter_map(|place| self.of_server(task, *place, &zones[*place])).collect()
        };
        let readers: Vec<RecordReader<'_>> =
            tasks.into_iter().map(|task| RecordReader { asked: asked(&task), task, watch }).collect();
        let mut all = Vec::new();
        for shown in side_by_side(readers, MOST_SERVERS, |reader| reader.read()).into_iter().flatten() {
            let zone = &mut zones[shown.place];
            match shown.differing {
                None => zone.forget_polls(&shown.voter),
                Some(differing) => {
                    zone.unshown.extend(differing.iter().map(DifferingRrset::unshown));
                    all.extend(differing);
                }
            }
        }
        all
    }
}

/// What a name server is asked for of a zone.
struct AskedRecords<'e> {
    /// The place of the zone among all that are polled.
    place: usize,
    /// The zone.
    zone: ZoneId,
    /// The RRsets; never empty.
    rrsets: Vec<&'e ExpectedRrset>,
}

/// What a name server showed of a zone.
struct ShownRecords {
    /// The place of the zone among all that are polled.
    place: usize,
    /// Which voter it is.
    voter: VoterId,
    /// The RRsets that it does not hold as expected; none where a signal came before it was asked.
    differing: Option<Vec<DifferingRrset>>,
}

/// Reads RRsets from one name server.
struct RecordReader<'a> {
    /// The name server.
    task: PollTask<'a>,
    /// What it is asked for.
    asked: Vec<AskedRecords<'a>>,
    /// How that is done.
    watch: &'a PollWatch<'a>,
}

impl RecordReader<'_> {
    /// Reads all zones, those that differ again as often as serials are asked for.
    fn read(self) -> Vec<ShownRecords> {
        let RecordReader { task, asked, watch } = self;
        let (terms, is_over) = (task.named.terms, || watch.interrupted.load(Ordering::SeqCst));
        let server = provider::open_name_server(&task.named.server.settings, watch.context).ok();
        let mut open = asked;
        let mut done = Vec::new();
        for left in (0..=terms.max_retries).rev() {
            // A server that does not answer is not asked for one zone after the other.
            let mut answers = server.as_deref();
            let mut again = Vec::new();
            for zone in open {
                let shown = |differing| ShownRecords { place: zone.place, voter: task.named.voter.clone(), differing };
                if is_over() {
                    done.push(shown(None));
                    continue;
                }
                let patience = Patience { most: terms.timeout.as_std(), is_over: &is_over };
                let held = answers.and_then(|server| zone.ask(server, patience));
                answers = answers.filter(|_| held.is_some());
                let differing = zone.compare(&task.named.voter, held);
                if differing.is_empty() || left == 0 {
                    done.push(shown(Some(differing)));
                } else {
                    again.push(zone);
                }
            }
            open = again;
            if open.is_empty() {
                break;
            }
            pause(terms.retry_interval.as_std(), &is_over);
        }
        done
    }
}

impl AskedRecords<'_> {
    /// Asks a server; none where it does not answer.
    fn ask(&self, server: &dyn NameServer, patience: Patience<'_>) -> Option<Vec<Answer>> {
        let question = |rrset: &&ExpectedRrset| Question { name: rrset.name.clone(), rtype: rrset.rtype };
        server.read(&self.zone.name, &self.rrsets.iter().map(question).collect::<Vec<_>>(), patience)
    }

    /// The RRsets that are not held as expected.
    fn compare(&self, voter: &VoterId, held: Option<Vec<Answer>>) -> Vec<DifferingRrset> {
        let differing = |(rrset, answer): (&&ExpectedRrset, Option<&Answer>)| {
            let ExpectedRrset { name, rtype, step, after } = rrset;
            if answer.is_some_and(|answer| is_as_expected(rrset, answer)) {
                return None;
            }
            let after = after.as_ref().and_then(|text| text.to_rrset(*rtype).ok());
            Some(DifferingRrset {
                zone: self.zone.clone(),
                voter: voter.clone(),
                name: name.clone(),
                rtype: *rtype,
                step: *step,
                written: shown_or_nothing(*rtype, after.as_ref()),
                found: answer.map(shown),
            })
        };
        let answers = (0..self.rrsets.len()).map(|place| held.as_ref().map(|held| &held[place]));
        self.rrsets.iter().zip(answers).filter_map(differing).collect()
    }
}

/// Whether an answer shows an RRset as expected.
fn is_as_expected(rrset: &ExpectedRrset, answer: &Answer) -> bool {
    match (answer, &rrset.after) {
        (Answer::Holds(rtype, held), Some(after)) => *rtype == rrset.rtype && after.has_records_of(*rtype, held),
        (Answer::Holds(rtype, _), None) => *rtype != rrset.rtype,
        (_, after) => after.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::fixture;

    /// Whether an answer shows an RRset of AAAA with this address; none where it is to be gone.
    fn is_shown(after: Option<&str>, answer: &Answer) -> bool {
        let text = |address| RrsetText::of(Rtype::AAAA, &fixture::rrset(Rtype::AAAA, 60, &[address]).unwrap());
        let name = Name::parse("a.example.net").unwrap();
        let rrset = ExpectedRrset { name, rtype: Rtype::AAAA, step: StepNumber(1), after: after.map(text) };
        is_as_expected(&rrset, answer)
    }

    #[test]
    fn an_answer_shows_an_rrset_with_its_values_and_ttl_and_nothing_shows_its_absence() {
        let holds = |rtype, ttl, rdata| Answer::Holds(rtype, fixture::rrset(rtype, ttl, &[rdata]).unwrap());
        let aaaa = |ttl, rdata| holds(Rtype::AAAA, ttl, rdata);
        let cname = holds(Rtype::CNAME, 60, "b.example.net.");
        assert!(is_shown(Some("2a02::1"), &aaaa(60, "2a02::1")));
        assert!(!is_shown(Some("2a02::1"), &aaaa(61, "2a02::1")), "another TTL");
        assert!(!is_shown(Some("2a02::1"), &aaaa(60, "2a02::2")));
        assert!(!is_shown(Some("2a02::1"), &Answer::Nothing));
        assert!(!is_shown(Some("2a02::1"), &cname));
        assert!(is_shown(None, &Answer::Nothing));
        assert!(is_shown(None, &cname), "another type has its place");
        assert!(!is_shown(None, &aaaa(60, "2a02::1")));
    }
}
