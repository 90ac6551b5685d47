//! What a state keeps, over crashes, versions and other processes.

mod breakers;

mod copies;

mod exports;

mod file;

mod journal;

mod lock;

mod past;

mod publication;

mod rollouts;

mod seal;

mod undone;

mod waits;

mod written;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::apply::{ApplyOutcome, MarkerSwap, OutcomeCode, Phase, SubjectOutcome};
use crate::dns::{Name, Rtype};
use crate::inventory::value::{Duration, Inv};
use crate::plan::{Change, fixture};
use crate::rollout::RolloutChoice;
use crate::target::{CopyId, PoolName, TargetId, ZoneId};

/// A folder for a state, and the file in it.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".zonewright").join("state.db");
    (folder, file)
}

/// The state that is kept in a file.
fn address(file: &Path) -> StateAddress {
    StateAddress::of_file(Path::new(""), file.to_str().unwrap())
}

/// Opens the state in a file to read it.
fn open_to_read(file: &Path) -> OpenedState {
    super::open_to_read(&address(file))
}

/// Opens the state in a file to write to it.
fn open_to_write(file: &Path) -> Result<Box<dyn State>, Problem> {
    super::open_to_write(&address(file))
}

/// So many seconds after some moment.
fn at(seconds: u64) -> Time {
    "2026-11-20T02:00:00Z".parse::<Time>().unwrap().plus(Duration::from_secs(seconds))
}

/// An apply that begins.
fn new_apply() -> NewApply {
    NewApply {
        plan: "sha256:aa".into(),
        effect: "sha256:bb".into(),
        started: at(0),
        who: "ops".into(),
        reason: Some("ticket 7".into()),
        inputs: [("racktables/hosts.csv".to_owned(), "00ff".to_owned())].into(),
        hosts: 2,
        undoes: None,
        is_whole: true,
    }
}

/// Begins an apply of some plan.
fn begin(state: &mut dyn State, apply: &NewApply) -> ApplyId {
    let text = PlanText { document: "{}", made: at(0), expires: at(86_400), blocked: &[] };
    state.begin(apply, &text, &RolloutChoice::default()).unwrap()
}

/// A marker of a plan.
fn marker(epoch: u64, batch: u64) -> Marker {
    Marker { epoch, plan: "sha256:aa".into(), batch }
}

/// One side of a change.
type Side<'a> = (u64, &'a [&'a str]);

/// No RRset.
const NONE: Side<'static> = (0, &[]);

/// A change of the AAAA at a name of host 7.
fn change(name: &str, before: Side<'_>, after: Side<'_>) -> Change {
    fixture::change(("search", Some(7)), (name, Rtype::AAAA), (before, after), &[])
}

/// A batch of changes in one zone, fenced by a marker.
fn batch<'a>(changes: &'a [Change], number: u64, swap: Option<MarkerSwap>) -> Batch<'a> {
    Batch {
        number,
        copy: CopyId::only(&changes[0].zone_id()),
        phase: Phase::Forward,
        swap,
        changes: changes.iter().collect(),
    }
}

/// The copy of the zone of [`change`].
fn copy() -> CopyId {
    fixture::copy("search.example.net")
}

/// The swap of one marker for the next.
fn swap(after: Marker) -> Option<MarkerSwap> {
    let before = (after.batch > 1).then(|| marker(after.epoch, after.batch - 1).to_rrset());
    Some(MarkerSwap { before, after })
}

/// Sends a batch, and settles it where that is known.
fn run(state: &mut dyn State, apply: ApplyId, batch: &Batch<'_>, settled: Option<BatchOutcome>) {
    state.note_sending(apply, batch, at(batch.number)).unwrap();
    if let Some(settled) = settled {
        state.note_settled(apply, batch, &settled, at(batch.number + 1)).unwrap();
    }
}

/// What is known of the marker of the zone of [`change`].
fn known(state: &dyn State) -> KnownMarker {
    let markers = state.markers().unwrap();
    let [known] = markers.of(&copy()).try_into().unwrap();
    known.clone()
}

/// Whether the AAAA at a name is own.
fn is_own(state: &dyn State, name: &str) -> bool {
    state.own().unwrap().contains(Name::parse(name).unwrap().as_name(), Rtype::AAAA)
}

const A: &str = "a.search.example.net";

const B: &str = "b.search.example.net";

/// A state of version 1 as it was once written: tables as they were then, and a row in most of them.
const V1: &str = include_str!("v1.sql");

/// Writes a state of version 1.
fn v1(file: &Path) {
    fs::create_dir(file.parent().unwrap()).unwrap();
    Connection::open(file).unwrap().execute_batch(V1).unwrap();
}
