//! All configured zones, read side by side.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Progress;
use crate::dns::ZoneName;
use crate::inventory::Inventory;
use crate::inventory::model::Config;
use crate::live::{Apexes, Live, LiveZone};
use crate::plan::ZoneSeen;
use crate::provider::{self, Context, ReadError, ReadZone, ZoneRead};
use crate::snapshot::Snapshot;

/// The configured zones as they are live.
#[derive(Debug)]
pub struct Zones {
    /// What they hold.
    pub live: Live,
    /// Those that were read whole, sorted by name.
    pub seen: Vec<ZoneSeen>,
    /// Those that were not, in the order of the configuration.
    pub unread: Vec<(ZoneName, ReadError)>,
    /// The files they were read from, with their SHA-256.
    pub inputs: Vec<(String, String)>,
    /// What is questionable in those that were read.
    pub findings: Vec<provider::Findings>,
}

/// One zone, with what only it can tell.
struct ReadOne {
    /// The zone.
    live: LiveZone,
    /// How it was seen.
    seen: ZoneSeen,
    /// The files it was read from.
    inputs: Vec<(String, String)>,
    /// What is questionable in them.
    findings: Option<Box<provider::Findings>>,
}

/// How many zones are read side by side. Most of the time is a server's or a disk's, so that more than the processors
/// pays; a name server limits transfers to a client (BIND's `transfers-per-ns` is 2, `transfers-out` 10).
const SIDE_BY_SIDE: usize = 4;

/// Reads all configured zones.
pub fn read_all(inventory: &Inventory, workspace: &Path, progress: &dyn Progress) -> Zones {
    let apexes = apexes(inventory);
    let outcomes =
        read_each(&inventory.config, workspace, progress, |_, outcome| outcome.map(|read| look(read, &apexes)));
    join(inventory, apexes, outcomes)
}

/// Takes all configured zones from a snapshot: no target is opened.
pub fn read_snapshot(inventory: &Inventory, snapshot: &Snapshot, progress: &dyn Progress) -> Zones {
    let specs = &inventory.config.zones;
    progress.stage("reading the snapshot", Some(specs.len() as u64));
    let apexes = apexes(inventory);
    let outcomes = side_by_side(specs.len(), |place| {
        let outcome = snapshot.read_zone(&specs[place].name);
        progress.step();
        outcome.map(|read| look(read, &apexes))
    });
    let mut zones = join(inventory, apexes, outcomes);
    zones.inputs.push(snapshot.input().clone());
    zones
}

/// Reads each configured zone from its target, and gives what `done` makes of the outcomes, in the order of the
/// configuration. `done` runs on the threads that read.
pub fn read_each<T: Send>(
    config: &Config,
    workspace: &Path,
    progress: &dyn Progress,
    done: impl Fn(&ZoneName, Result<ZoneRead, ReadError>) -> T + Sync,
) -> Vec<T> {
    let specs = &config.zones;
    progress.stage("reading zones", Some(specs.len() as u64));
    let context = Context { workspace, source: &config.source };
    let pools: Vec<Result<Box<dyn ReadZone>, ReadError>> = config
        .pools
        .iter()
        .map(|pool| provider::open(&pool.target.provider, &pool.target.settings, &context))
        .collect();
    side_by_side(specs.len(), |place| {
        let spec = &specs[place];
        let outcome = match &pools[spec.pool] {
            Ok(target) => target.read_zone(&spec.name),
            Err(error) => Err(error.clone()),
        };
        progress.step();
        done(&spec.name, outcome)
    })
}

/// The apexes of the configured zones.
fn apexes(inventory: &Inventory) -> Apexes {
    Apexes::new(inventory.config.zones.iter().map(|spec| &spec.name))
}

/// Looks through a zone that was read.
fn look(read: ZoneRead, apexes: &Apexes) -> ReadOne {
    ReadOne {
        seen: ZoneSeen::of(&read.contents),
        live: LiveZone::known(read.contents, apexes),
        inputs: read.inputs,
        findings: read.findings,
    }
}

/// Joins the zones, which come in the order of the configuration.
fn join(inventory: &Inventory, apexes: Apexes, outcomes: Vec<Result<ReadOne, ReadError>>) -> Zones {
    let mut live = Vec::new();
    let mut seen = Vec::new();
    let mut unread = Vec::new();
    let mut inputs = Vec::new();
    let mut findings = Vec::new();
    for (spec, outcome) in inventory.config.zones.iter().zip(outcomes) {
        match outcome {
            Ok(read) => {
                live.push(read.live);
                seen.push(read.seen);
                inputs.extend(read.inputs);
                findings.extend(read.findings.map(|found| *found));
            }
            Err(error) => {
                live.push(LiveZone::unknown(spec.name.clone()));
                unread.push((spec.name.clone(), error));
            }
        }
    }
    Zones { live: Live::new(live, apexes), seen, unread, inputs, findings }
}

/// What a check of the zones that are files found.
#[derive(Debug, Default)]
pub struct LocalZones {
    /// How many files were read.
    pub files_read: usize,
    /// What is questionable in zones that can be read.
    pub findings: Vec<provider::Findings>,
    /// The zones that cannot be read.
    pub unread: Vec<ReadError>,
}

/// Reads the zones that are files, for what is wrong with them.
pub fn check_local(inventory: &Inventory, workspace: &Path, progress: &dyn Progress) -> LocalZones {
    let config = &inventory.config;
    let local = |pool: usize| provider::is_local(&config.pools[pool].target.provider);
    let specs: Vec<_> = config.zones.iter().filter(|spec| local(spec.pool)).collect();
    progress.stage("reading zone files", Some(specs.len() as u64));
    let context = Context { workspace, source: &config.source };
    let outcomes = side_by_side(specs.len(), |place| {
        let target = &config.pools[specs[place].pool].target;
        let outcome = provider::open(&target.provider, &target.settings, &context)
            .and_then(|target| target.read_zone(&specs[place].name));
        progress.step();
        outcome.map(|read| (read.inputs, read.findings))
    });
    let mut local = LocalZones::default();
    let mut files = BTreeSet::new();
    for outcome in outcomes {
        match outcome {
            Ok((inputs, found)) => {
                files.extend(inputs.into_iter().map(|(name, _)| name));
                local.findings.extend(found.map(|found| *found));
            }
            Err(error) => local.unread.push(error),
        }
    }
    // A file that several zones include is one file.
    local.files_read = files.len() + local.unread.len();
    local
}

/// Runs `work` for each number below `count` on a few threads, and gives the answers in order.
fn side_by_side<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, T)>> = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..count.min(SIDE_BY_SIDE) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    if place >= count {
                        return;
                    }
                    let answer = work(place);
                    done.lock().expect("no thread panics while it holds the lock").push((place, answer));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panics while it holds the lock");
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, answer)| answer).collect()
}
