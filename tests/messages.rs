//! What is sent when a plan is applied, against an independent reading in Python and a primary in memory.
//!
//! `FLEETS=1-2000` in the environment runs other seeds than the default.

#[path = "support/fleet.rs"]
mod fleet;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;
use zonewright::apply::{self, ApplyEvent, ApplyWatch, BatchOutcome, CopyAccess, Orders, PlanWritten, SIDE_BY_SIDE};
use zonewright::change::Change;
use zonewright::dns::{Rdata, RrKey, Rrset, Rtype, Ttl, ZoneBuilder, ZoneName};
use zonewright::guard;
use zonewright::plan::{SealedPlan, store};
use zonewright::provider;
use zonewright::provider::memory::message::UpdateInstruction;
use zonewright::provider::memory::primary::MemoryPrimary;
use zonewright::provider::memory::zone::MemoryZone;
use zonewright::rollout::{RolloutChoice, wave};
use zonewright::target::{CopyId, UpdateLimits, WriteTarget, ZoneId};

/// The seeds to run.
fn seeds() -> RangeInclusive<u64> {
    let Ok(text) = std::env::var("FLEETS") else { return 1..=20 };
    let (from, to) = text.split_once('-').expect("FLEETS is FROM-TO");
    from.parse().expect("a number")..=to.parse().expect("a number")
}

/// A primary that holds what a plan saw.
fn before(changes: &[Change]) -> MemoryPrimary {
    let mut zones: BTreeMap<&ZoneName, ZoneBuilder> = BTreeMap::new();
    for Change { zone, key, kind, .. } in changes {
        let builder = zones.entry(zone).or_insert_with(|| ZoneBuilder::new(zone.clone()));
        for rdata in kind.before().into_iter().flat_map(Rrset::rdata) {
            let ttl = kind.before().map_or(Ttl::DEFAULT, Rrset::ttl);
            builder.push(key.owner.as_name(), key.rtype, ttl, rdata.as_octets()).expect("it is in the zone");
        }
    }
    let zone = |(name, mut builder): (&ZoneName, ZoneBuilder)| {
        builder.push(name.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).expect("one SOA");
        MemoryZone::of(&builder.finish().expect("a SOA"))
    };
    let limits = UpdateLimits { edits: 9, ..UpdateLimits::NONE };
    MemoryPrimary::new(zones.into_iter().map(zone).collect::<Vec<_>>()).with_window(3).with_limits(limits)
}

/// The RRset at the place of a change.
fn standing(primary: &MemoryPrimary, Change { zone, key, .. }: &Change) -> Option<Rrset> {
    primary.with_zone(zone, |zone| zone.rrset(key.owner.as_name(), key.rtype).cloned()).flatten()
}

/// Makes another editor replace the RRset of a change.
fn put(primary: &MemoryPrimary, Change { zone, key, .. }: &Change, rrset: &Rrset) {
    let name = || key.owner.as_name().to_name();
    let add = |rdata: &Rdata| UpdateInstruction::Add(name(), key.rtype, rrset.ttl(), rdata.clone());
    let added = rrset.rdata().iter().map(add);
    let instructions = [UpdateInstruction::DeleteRrset(name(), key.rtype)].into_iter().chain(added).collect();
    primary.update(&provider::memory::message::UpdateMessage {
        zone: zone.clone(),
        prerequisites: Vec::new(),
        instructions,
    });
}

/// A message that took effect: its phase, its zone, and the owner name and type of each change, sorted.
type Message = (String, String, BTreeSet<(String, String)>);

/// Keeps the messages that took effect, in their order.
#[derive(Default)]
struct Journal(Mutex<Vec<Message>>);

impl ApplyWatch for Journal {
    fn event(&self, event: ApplyEvent<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        if let ApplyEvent::Settled(batch, BatchOutcome::Done) = event {
            let rrsets = batch.changes.iter().map(|change| shown(&change.key)).collect();
            let message = (batch.phase.as_str().to_owned(), batch.copy.zone.to_string(), rrsets);
            self.0.lock().expect("no poison").push(message);
        }
        Ok(())
    }

    fn wait(&self, _: Duration) {}
}

/// An RRset as documents name it.
fn shown(key: &RrKey) -> (String, String) {
    (key.owner.to_string(), key.rtype.to_string())
}

/// The plan of a random fleet with at least one change, and what the reference says of its messages: for each phase,
/// zone and unit what it gets there, in the order of sending.
fn plan(python: &Path, folder: &Path, seed: u64) -> Option<(SealedPlan, Vec<Message>)> {
    let (fleet, file) = (folder.join(seed.to_string()), folder.join(format!("{seed}.json")));
    fleet::write(python, seed, &fleet);
    let flags = ["plan", "-q", "-C", fleet.to_str()?, "--out", file.to_str()?].map(str::to_owned);
    support::zonewright(&[&flags[..], &fleet::args(&fleet)].concat(), None);
    let sealed = store::load(&file).ok().filter(|sealed| !sealed.plan().changes.is_empty())?;
    let reference = support::root().join("tests/reference/apply.py");
    let output = Command::new(python).arg(reference).arg(&file).output().expect("Python was just found");
    let said: Vec<Value> = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("the reference failed: {}", String::from_utf8_lossy(&output.stderr)));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let pair = |value: &Value| (text(&value[0]), text(&value[1]));
    let pairs = |value: &Value| value.as_array().expect("a list").iter().map(pair).collect();
    Some((
        sealed,
        said.iter().map(|part| (text(&part["phase"]), text(&part["zone"]), pairs(&part["rrsets"]))).collect(),
    ))
}

/// Applies a plan to a primary; `meanwhile` happens between the pre-read and the first message.
fn apply<'a>(
    sealed: &'a SealedPlan,
    primary: &'a MemoryPrimary,
    watch: &Journal,
    meanwhile: impl FnOnce(),
) -> PlanWritten<'a> {
    let plan = sealed.plan();
    let zones: BTreeSet<ZoneId> = plan.changes.iter().map(Change::zone_id).collect();
    let writer = primary as &dyn WriteTarget;
    let access = |zone| CopyAccess { copy: CopyId::only(&zone), writer: Ok(writer), is_fenced: true, share: None };
    let survey = apply::survey(plan, zones.into_iter().map(access).collect(), SIDE_BY_SIDE);
    meanwhile();
    let clearance = guard::clear(sealed, &[], &[]).expect("no limit is about it");
    let wave = wave::next(&RolloutChoice::default(), clearance);
    let orders = Orders { wave, run: 1, sent: 0, epochs: Default::default(), max_failures: None };
    apply::write(survey, &orders, watch)
}

/// An RRset that no plan makes.
fn foreign(rtype: Rtype) -> Rrset {
    let text = match rtype {
        Rtype::AAAA => "2001:db8::dead",
        Rtype::PTR => "other.example.",
        _ => "\"other\"",
    };
    let rdata = Rdata::parse(rtype, text).expect("RDATA of this type");
    Rrset::new(Ttl::from_secs(60).expect("a TTL"), vec![rdata]).expect("one record")
}

/// Lets `look` look at the plan of each fleet that has one, and at its messages as the reference reads them. Where
/// Python is missing it says so aloud, and gives `false`.
fn each_fleet(mut look: impl FnMut(u64, &SealedPlan, &[Message])) -> bool {
    let Some(python) = support::python() else {
        support::skip("Python 3.11 is not there, so that the reference implementation cannot run");
        return false;
    };
    let folder = tempfile::tempdir().expect("a folder for the fleets");
    for seed in seeds() {
        if let Some((sealed, parts)) = plan(&python, folder.path(), seed) {
            look(seed, &sealed, &parts);
        }
    }
    true
}

#[test]
fn messages_are_those_of_an_independent_reading() {
    let mut count = 0;
    let is_looked = each_fleet(|seed, sealed, parts| {
        let changes = &sealed.plan().changes;
        let (primary, journal) = (before(changes), Journal::default());
        apply(sealed, &primary, &journal, || ());
        for change in changes {
            assert_eq!(standing(&primary, change), change.kind.after().cloned(), "fleet {seed}: {:?}", change.key);
        }
        let sent = journal.0.into_inner().expect("no poison");
        // The reference sorts by phase first, so that its order of phases is that of sending.
        let phases: Vec<&String> = parts.iter().map(|(phase, ..)| phase).collect();
        let place = |phase: &String| phases.iter().position(|other| *other == phase);
        assert!(sent.is_sorted_by_key(|(phase, ..)| place(phase)), "fleet {seed}: {sent:?}");
        let mut left = parts.to_vec();
        for (phase, zone, rrsets) in &sent {
            let within = |part: &Message| part.0 == *phase && part.1 == *zone && part.2.is_subset(rrsets);
            let whole: BTreeSet<_> = left.extract_if(.., |part| within(part)).flat_map(|(.., own)| own).collect();
            assert_eq!(whole, *rrsets, "fleet {seed}: a message of {phase} in {zone} holds whole units");
        }
        assert!(left.is_empty(), "fleet {seed}: not sent: {left:?}");
        count += sent.len();
    });
    assert!(!is_looked || count > 50 || seeds() != (1..=20), "{count}");
}

#[test]
fn what_somebody_changes_meanwhile_is_left_with_its_whole_unit() {
    let mut count = 0;
    let is_looked = each_fleet(|seed, sealed, parts| {
        let changes = &sealed.plan().changes;
        let victim = &changes[seed as usize * 7 % changes.len()];
        let (primary, journal) = (before(changes), Journal::default());
        let theirs = foreign(victim.key.rtype);
        let written = apply(sealed, &primary, &journal, || put(&primary, victim, &theirs));
        assert_eq!(
            standing(&primary, victim),
            Some(theirs),
            "fleet {seed}: what another editor changed is as it left it"
        );
        let units = written.survey.units.iter().zip(&written.lanes[0]);
        for (unit, state) in units {
            let keys: BTreeSet<_> = unit.changes.iter().map(|place| shown(&changes[*place].key)).collect();
            let is_hit = keys.contains(&shown(&victim.key));
            assert_eq!(state.verdict.is_some(), is_hit, "fleet {seed}: {keys:?}");
            for place in unit.changes.iter().filter(|_| !is_hit) {
                let change = &changes[*place];
                assert_eq!(standing(&primary, change), change.kind.after().cloned(), "fleet {seed}: {:?}", change.key);
            }
        }
        // The part of the unit with the victim is as it was, whole.
        let hit = parts.iter().find(|(.., rrsets)| rrsets.contains(&shown(&victim.key))).expect("all are in a part");
        for change in changes.iter().filter(|change| change.key != victim.key && hit.2.contains(&shown(&change.key))) {
            assert_eq!(standing(&primary, change), change.kind.before().cloned(), "fleet {seed}: {:?}", change.key);
        }
        count += 1;
    });
    assert!(!is_looked || count > 10 || seeds() != (1..=20), "{count}");
}
