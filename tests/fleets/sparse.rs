//! What a plan for some hosts asks of zones that are read name by name: no less than it needs. On random fleets it
//! comes to what the answers to all questions would make it come to, and to what transfers would.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zonewright::pipeline::targets::server_names;

use zonewright::change::BlockCode;
use zonewright::diff::decide::{DecisionInput, decide};
use zonewright::diff::held::HeldEdits;
use zonewright::diff::judge::FleetDecisions;
use zonewright::diff::recent::RecentPods;
use zonewright::diff::statements::KeptStatements;
use zonewright::diff::waits::RrsetWaits;
use zonewright::diff::{Selection, TrippedHosts};
use zonewright::dns::{Name, ZoneBuilder, ZoneContents, ZoneName, reverse};
use zonewright::inventory::model::{Inventory, ProjectIndex};
use zonewright::inventory::pool::TargetSpec;
use zonewright::inventory::value::{Inv, Time};
use zonewright::live::{Live, NamePlace};
use zonewright::reading::{CreationTerms, ReadingTerms, ZonesRequest, zones};
use zonewright::target::{
    Answer, NameExistence, OpenedTarget, PoolBounds, Question, ReadTarget, ReadingManner, ZoneRead, answers,
};
use zonewright::{inventory, parallel};

use crate::{Silent, fleet, support};
use zonewright::diag::Problem;

/// The seeds: enough for every rule to happen many times.
const SEEDS: u64 = 40;

/// The zones of a fleet, as the servers of all its targets.
#[derive(Clone)]
struct Servers {
    /// The zones, as far as they can be read.
    zones: Arc<Live>,
    /// How many questions were asked.
    asked: Arc<AtomicUsize>,
    /// How they are read.
    manner: ReadingManner,
}

impl Servers {
    /// A zone, or the error of one that cannot be read.
    fn zone(&self, zone: &ZoneName) -> Result<&ZoneContents, Problem> {
        let found = self.zones.zones().find(|(_, live)| live.name() == zone);
        found
            .and_then(|(_, live)| live.contents())
            .ok_or_else(|| Problem::new(zone.to_string(), "zone-not-served", "no such zone"))
    }
}

/// A copy of a zone.
fn copy(contents: &ZoneContents) -> ZoneContents {
    let mut builder = ZoneBuilder::new(contents.apex().clone());
    for rrset in contents.rrsets() {
        for rdata in rrset.rdata() {
            builder.push(rrset.owner().as_name(), rrset.rtype(), rrset.ttl(), rdata.octets).expect("what a zone holds");
        }
    }
    builder.finish().expect("a zone")
}

impl ReadTarget for Servers {
    fn manner(&self) -> ReadingManner {
        self.manner
    }

    fn place(&self, zone: &ZoneName) -> String {
        zone.to_string()
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        Ok(ZoneRead {
            contents: copy(self.zone(zone)?),
            opaque: Vec::new(),
            is_flat: false,
            inputs: Vec::new(),
            findings: None,
        })
    }

    fn ask(&self, zone: &ZoneName, questions: &[Question]) -> Result<Vec<Answer>, Problem> {
        self.asked.fetch_add(questions.len(), Ordering::Relaxed);
        let contents = self.zone(zone)?;
        Ok(questions.iter().map(|question| answers::answer(contents, question)).collect())
    }

    fn find(&self, _: &ZoneName, _: &[Name]) -> Result<Vec<NameExistence>, Problem> {
        unreachable!("no test looks for free names here")
    }
}

/// A fleet and its zones.
struct Fleet {
    /// The inventory.
    inventory: Inventory,
    /// The servers.
    servers: Servers,
    /// The clock.
    now: Time,
}

impl Fleet {
    /// Reads a fleet; none where its settings are refused.
    fn read(folder: &Path) -> Option<Fleet> {
        let now = "2026-11-20T02:00:00Z".parse().expect("a time");
        let inventory = inventory::load_workspace(folder, now, &|_| {}).inventory.ok()?;
        let read = crate::read_zones(&inventory, folder, now);
        Some(Fleet {
            inventory,
            servers: Servers { zones: Arc::new(read.live), asked: Arc::default(), manner: ReadingManner::Whole },
            now,
        })
    }

    /// Reads what the rules of these hosts need; gives how many questions that took, too.
    fn live(&self, manner: ReadingManner, selection: &Selection) -> (Live, usize) {
        let servers = Servers { asked: Arc::default(), manner, ..self.servers.clone() };
        let open = |target: &TargetSpec| OpenedTarget {
            id: target.id.clone(),
            access: Ok(Box::new(servers.clone()) as Box<dyn ReadTarget>),
        };
        let readers = self.inventory.config.targets().map(open).collect();
        let terms = ReadingTerms { workspace: Path::new("."), now: self.now, cache: None };
        let zones = zones::read_from(
            &ZonesRequest {
                inventory: &self.inventory,
                selection,
                terms,
                creation: &CreationTerms::NONE,
                statements: &KeptStatements::default(),
            },
            &readers,
            &Silent,
        );
        (zones.live, servers.asked.load(Ordering::Relaxed))
    }

    /// Decides for these hosts.
    fn decide(&self, live: &Live, selection: &Selection) -> FleetDecisions {
        let (tripped, waits) = (TrippedHosts::default(), RrsetWaits::default());
        let servers = server_names(&self.inventory);
        decide(
            &self.inventory,
            live,
            DecisionInput {
                now: self.now,
                servers: &servers,
                bounds: &PoolBounds::new(),
                selection,
                tripped: &tripped,
                waits: &waits,
                statements: &KeptStatements::default(),
                held: &HeldEdits::default(),
                recent: &RecentPods::default(),
                copies: &[],
                own_of_records: &BTreeMap::new(),
                survey: None,
            },
        )
    }

    /// Selections of some hosts and projects.
    fn selections(&self) -> Vec<Selection> {
        let of_projects = (0..self.inventory.projects.len() as u32)
            .map(|place| Selection { projects: [ProjectIndex(place)].into(), ..Selection::default() });
        let invs: Vec<Inv> = self.inventory.hosts.iter().map(|host| host.inv).collect();
        let of_host = |invs: &[Inv]| Selection { hosts: invs.iter().copied().collect(), ..Selection::default() };
        let few = invs.chunks(3).step_by(2).map(of_host);
        of_projects.chain(invs.iter().step_by(3).map(|inv| of_host(&[*inv]))).chain(few).collect()
    }
}

/// The differences between the results of two ways to read, in words; without what one way cannot see.
///
/// At names and reverse names that were not asked for, nothing is seen: an address of a host there, or a PTR to its
/// name. A host is then also not blocked for taking such a record from another editor who keeps it, or for leaving such
/// a PTR without target.
fn differences(full: (&Live, &FleetDecisions), sparse: (&Live, &FleetDecisions)) -> Vec<String> {
    let is_unseen = |owner: &str| {
        let name = Name::parse(owner).expect("a name");
        matches!(sparse.0.place(name.as_name()), NamePlace::Unknown(_))
    };
    let blocked = |decided: &FleetDecisions| -> BTreeSet<(Inv, BlockCode, String)> {
        decided
            .blocked
            .iter()
            .map(|blocked| (blocked.subject.host().expect("hosts are blocked"), blocked.code, blocked.message.clone()))
            .collect()
    };
    let (of_full, of_sparse) = (blocked(full.1), blocked(sparse.1));
    let excused = |(_, code, message): &&(Inv, BlockCode, String)| {
        let first = message.split('`').nth(1).unwrap_or_default();
        match code {
            BlockCode::Conflict => is_unseen(first),
            BlockCode::PostState => {
                let address = first.parse().ok().map(reverse::reverse_name);
                address.is_some_and(|name| is_unseen(&name.to_string()))
            }
            _ => false,
        }
    };
    let hosts: BTreeSet<Inv> = of_full.difference(&of_sparse).filter(excused).map(|(inv, ..)| *inv).collect();
    let mut found = Vec::new();
    let of_excused = |inv: Option<Inv>| inv.is_some_and(|inv| hosts.contains(&inv));
    found.extend(
        of_full.symmetric_difference(&of_sparse).filter(|(inv, ..)| !hosts.contains(inv)).map(|b| format!("{b:?}")),
    );
    let changes = |decided: &FleetDecisions| -> BTreeSet<String> {
        let seen = decided.changes.iter().filter(|change| {
            let owner = change.key.owner.to_string();
            !is_unseen(&owner) && !of_excused(change.subject.host())
        });
        seen.map(|change| format!("{change:?}")).collect()
    };
    found.extend(changes(full.1).symmetric_difference(&changes(sparse.1)).cloned());
    let told = |decided: &FleetDecisions| -> BTreeSet<String> {
        let notices = decided.notices.iter().filter(|notice| !of_excused(notice.host()));
        notices.filter(|notice| !is_unseen(&notice.name)).map(|notice| format!("{notice:?}")).collect()
    };
    found.extend(told(full.1).symmetric_difference(&told(sparse.1)).cloned());
    let skipped = |decided: &FleetDecisions| -> BTreeSet<String> {
        decided.skipped.iter().map(|skipped| format!("{skipped:?}")).collect()
    };
    found.extend(skipped(full.1).symmetric_difference(&skipped(sparse.1)).cloned());
    found
}

/// Runs `check` on random fleets, a few side by side.
fn on_fleets(check: impl Fn(u64, &Fleet) + Sync) {
    let Some(python) = support::python() else {
        support::skip("Python 3.11 is not there, so that no fleets can be made");
        return;
    };
    parallel::side_by_side((1..=SEEDS).collect(), 2, |seed: u64| {
        let folder = tempfile::tempdir().expect("a folder for the fleet");
        fleet::write(&python, seed, folder.path());
        if let Some(fleet) = Fleet::read(folder.path()) {
            check(seed, &fleet);
        }
    });
}

#[test]
fn what_some_hosts_need_is_asked_and_no_more() {
    let [few, all] = [(); 2].map(|()| AtomicUsize::new(0));
    on_fleets(|seed, fleet| {
        let (full, questions) = fleet.live(ReadingManner::ByName, &Selection::default());
        for selection in fleet.selections() {
            let (sparse, asked) = fleet.live(ReadingManner::ByName, &selection);
            let decided = [&full, &sparse].map(|live| fleet.decide(live, &selection));
            let found = differences((&full, &decided[0]), (&sparse, &decided[1]));
            assert!(found.is_empty(), "fleet {seed} {selection:?}: {found:#?}");
            assert!(asked <= questions, "fleet {seed} {selection:?}: {asked} of {questions}");
            few.fetch_add(asked, Ordering::Relaxed);
            all.fetch_add(questions, Ordering::Relaxed);
        }
    });
    let [few, all] = [few, all].map(AtomicUsize::into_inner);
    assert!(few * 2 < all || all == 0, "{few} questions where all are {all}");
}

#[test]
fn what_is_asked_comes_to_what_is_transferred() {
    on_fleets(|seed, fleet| {
        let (whole, _) = fleet.live(ReadingManner::Whole, &Selection::default());
        for selection in fleet.selections() {
            let (sparse, _) = fleet.live(ReadingManner::Either, &selection);
            let decided = [&whole, &sparse].map(|live| fleet.decide(live, &selection));
            let changes = differences((&whole, &decided[0]), (&sparse, &decided[1]));
            assert!(changes.is_empty(), "fleet {seed} {selection:?}: {changes:#?}");
        }
    });
}
