//! A plan that is used again is the plan that would be made: shown on random sequences of what happens to the demo, its zones, its state
//! and the clock.

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;
use crate::dns::{Name, Rdata, Rtype, Ttl, ZoneName};
use crate::inventory::value::{self, Time};
use crate::pipeline::apply::{self, PlanToApply};
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::fixture::{Silent, conduct};
use crate::pipeline::make_plan;
use crate::plan::{SealedPlan, document};
use crate::provider::cache::CacheUse;
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage};
use crate::provider::sample_primary;

/// Longer than it takes until a later write must have another time: a stamp is certain then.
const OLD: Duration = Duration::from_millis(40);

/// What happens between two plans.
#[derive(Debug, Clone)]
enum Event {
    /// Nothing.
    Nothing,
    /// So many seconds pass.
    Tick(u64),
    /// A file is written again as it is.
    Rewrite(&'static str),
    /// A row of hosts.csv has another status.
    Status(usize),
    /// So many rows of hosts.csv from one on are gone.
    Gone(usize, usize),
    /// A host more, with what a row says of another but for its number, before a row.
    New(usize, usize, u64),
    /// A row of hosts.csv has a value of another row in a column.
    Cell(usize, usize, usize),
    /// Two rows of hosts.csv have each other's place.
    Swap(usize, usize),
    /// hosts.csv says when it was made, in its first line.
    Dated(u32),
    /// l3-tors.txt no longer has this one of its switches.
    Tor(usize),
    /// A row of names.lock is given up at this time of the day.
    Release(usize, u32),
    /// Each report of a source is dated so many minutes later.
    Report(&'static str, u32),
    /// A source has a file more, or no longer.
    Files(bool),
    /// A project has another TTL, or a setting of the workspace is another one.
    Setting(&'static str, &'static str, u32),
    /// Another editor gives a name this last octet.
    Edit(&'static str, u8),
    /// What the plan says is done.
    Apply,
}

/// Something that happens.
fn event() -> impl Strategy<Value = Event> {
    let files =
        ["racktables/hosts.csv", "racktables/net-layout.xml", "names.lock", "zonewright.toml", "projects/cloud.yaml"];
    let reports = ["agents/agent-sas.jsonl", "agents/eine-2026-11-20.jsonl", "racktables/macs.jsonl"];
    let settings = [("zonewright.toml", "name_cooldown = \"7d\""), ("projects/cloud.yaml", "policy: sync")];
    let names = ["sas0-0001.search.example.net", "new.search.example.net", "x.cloud.example.net"];
    prop_oneof![
        4 => Just(Event::Nothing),
        4 => prop_oneof![Just(1_u64), Just(60), 1..4_000_u64, 1..100_000_u64, Just(700_000)].prop_map(Event::Tick),
        1 => proptest::sample::select(files.to_vec()).prop_map(Event::Rewrite),
        1 => (0..40_usize).prop_map(Event::Status),
        2 => rows(),
        1 => (0..30_usize).prop_map(Event::Tor),
        1 => (0..8_usize, 0..24_u32).prop_map(|(row, hour)| Event::Release(row, hour)),
        1 => (proptest::sample::select(reports.to_vec()), 0..120_u32).prop_map(|(file, late)| Event::Report(file, late)),
        1 => any::<bool>().prop_map(Event::Files),
        1 => (proptest::sample::select(settings.to_vec()), 1..9_u32).prop_map(|((file, line), to)| Event::Setting(file, line, to)),
        1 => (proptest::sample::select(names.to_vec()), any::<u8>()).prop_map(|(name, octet)| Event::Edit(name, octet)),
        3 => Just(Event::Apply),
    ]
}

/// Something that happens to rows of hosts.csv.
fn rows() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => (0..120_usize).prop_map(Event::Status),
        1 => (0..120_usize, 1..3_usize).prop_map(|(row, count)| Event::Gone(row, count)),
        1 => (0..120_usize, 0..120_usize, 100_000..160_000_u64).prop_map(|(row, like, inv)| Event::New(row, like, inv)),
        2 => (0..120_usize, 0..120_usize, 0..10_usize).prop_map(|(row, like, column)| Event::Cell(row, like, column)),
        1 => (0..120_usize, 0..120_usize).prop_map(|(one, other)| Event::Swap(one, other)),
        1 => (0..24_u32).prop_map(Event::Dated),
    ]
}

/// Edits of records by others.
fn edits() -> impl Strategy<Value = Event> {
    let hosts = ["sas0-0001", "sas0-0002", "fb-sas0-0002", "sas0-0007", "vla0-0001"];
    let search = hosts.map(|host| format!("{host}.search.example.net").leak() as &'static str);
    (proptest::sample::select(search.to_vec()), any::<u8>()).prop_map(|(name, octet)| Event::Edit(name, octet))
}

/// A copy of the demo, whose targets are primaries in memory.
fn demo() -> tempfile::TempDir {
    /// Copies a folder.
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_dir() {
                copy(&from, &to)
            } else {
                let _: u64 = fs::copy(&from, &to).unwrap();
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("inventory"), folder.path());
    edit(folder.path(), "zonewright.toml", |text| text.replace("type = \"zonefile\"", "type = \"sample\""));
    folder
}

/// Writes a file of a workspace anew.
fn edit(workspace: &Path, file: &str, change: impl FnOnce(String) -> String) {
    let path = workspace.join(file);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}

/// What is asked for.
fn request(workspace: &Path, now: Time) -> PlanRequest<'_> {
    PlanRequest {
        workspace,
        now,
        hosts: Vec::new(),
        subjects: Vec::new(),
        projects: Vec::new(),
        live_snapshot: None,
        base: None,
        cache: CacheUse::Read,
        allow: &[],
        adopt: None,
        asks_approvals: false,
    }
}

/// A plan as its document, and what was found on the way.
fn shown(made: &MadePlan) -> String {
    let MadePlan { plan, findings, is_partial, breakers, targets, .. } = made;
    let document = document::to_json(&SealedPlan::new(plan.clone()));
    format!("{document}{findings:#?} {is_partial} {breakers:?} {targets:?}")
}

/// Checks that two plans are the same, with all that was found on the way.
fn assert_same(again: &MadePlan, anew: &MadePlan, when: &str) {
    let (again, anew) = (shown(again), shown(anew));
    let differing = again.lines().zip(anew.lines()).filter(|(one, other)| one != other).take(6);
    let differing: Vec<(&str, &str)> = differing.filter(|(one, _)| !one.contains("sha256:")).collect();
    assert!(again == anew, "{when}: {differing:#?}");
}

/// Does what a plan says.
fn apply(workspace: &Path, made: MadePlan, now: Time) {
    let interrupted = AtomicBool::new(false);
    let conduct = ApplyConduct { who: "tests", ..conduct(workspace, now, 1, &interrupted) };
    let sealed = SealedPlan::new(made.plan);
    let given = PlanToApply { sealed: &sealed, place: "the plan", expect: None };
    apply::apply(&given, &conduct, &Silent).unwrap();
}

/// The lines of a text, one of them changed.
fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let count = text.lines().count();
    let lines = text.lines().enumerate().map(
        |(place, line)| {
            if place == number % count { change(line) } else { line.to_owned() }
        },
    );
    lines.map(|line| line + "\n").collect()
}

/// Edits the lines of hosts.csv behind its header.
fn edit_rows(workspace: &Path, change: impl FnOnce(&mut Vec<String>)) {
    edit(workspace, "racktables/hosts.csv", |text| {
        let header = text.lines().position(|line| line.starts_with("inv,")).unwrap() + 1;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut rows = lines.split_off(header);
        change(&mut rows);
        lines.extend(rows);
        lines.join("\n") + "\n"
    });
}

/// Lets something happen; gives the clock after it.
fn happen(workspace: &Path, event: &Event, now: Time) -> Time {
    match event {
        Event::Nothing => {}
        Event::Tick(seconds) => return now.plus(value::Duration::from_secs(*seconds)),
        Event::Rewrite(file) => edit(workspace, file, |text| text),
        Event::Status(row) => edit(workspace, "racktables/hosts.csv", |text| {
            with_line(&text, *row, |line| match line.split_once(",assigned,") {
                Some((before, behind)) => format!("{before},free,{behind}"),
                None => line.replace(",free,", ",assigned,"),
            })
        }),
        Event::Tor(row) => edit(workspace, "racktables/l3-tors.txt", |text| {
            let rows = text.lines().filter(|line| !line.starts_with('#'));
            let switches: Vec<&str> = rows.filter_map(|line| line.split_ascii_whitespace().next()).collect();
            let gone = switches[row % switches.len()];
            let is_kept = |line: &&str| line.starts_with('#') || line.split_ascii_whitespace().next() != Some(gone);
            text.lines().filter(is_kept).map(|line| line.to_owned() + "\n").collect()
        }),
        Event::Gone(row, count) => edit_rows(workspace, |rows| {
            let first = row % rows.len();
            rows.drain(first..(first + count).min(rows.len()));
        }),
        Event::New(row, like, inv) => edit_rows(workspace, |rows| {
            let like = rows[like % rows.len()].split_once(',').map(|(_, rest)| format!("{inv},{rest}"));
            rows.insert(row % rows.len(), like.unwrap_or_default());
        }),
        Event::Cell(row, like, column) => edit_rows(workspace, |rows| {
            let (row, like) = (row % rows.len(), like % rows.len());
            let (cells, others): (Vec<&str>, Vec<&str>) =
                (rows[row].split(',').collect(), rows[like].split(',').collect());
            if cells.len() > *column && cells.len() == others.len() {
                let cell = |place: usize| if place == *column { others[place] } else { cells[place] };
                rows[row] = (0..cells.len()).map(cell).collect::<Vec<_>>().join(",");
            }
        }),
        Event::Swap(one, other) => edit_rows(workspace, |rows| {
            let count = rows.len();
            rows.swap(one % count, other % count);
        }),
        Event::Dated(hour) => edit(workspace, "racktables/hosts.csv", |text| {
            let rest = text
                .strip_prefix("# generated")
                .and_then(|rest| rest.split_once('\n'))
                .map(|(_, rest)| rest.to_owned());
            format!("# generated: 2026-11-20T{hour:02}:00:00Z\n{}", rest.unwrap_or(text))
        }),
        Event::Release(row, hour) => edit(workspace, "names.lock", |text| {
            with_line(&text, *row, |line| match line.strip_suffix("\t-") {
                Some(row) => format!("{row}\t2026-11-20T{hour:02}:00:00Z"),
                None => line.to_owned(),
            })
        }),
        Event::Report(file, late) => edit(workspace, file, |text| {
            let (hour, minute) = (late / 60 + 1, late % 60);
            text.lines()
                .map(|line| {
                    let rest = line.strip_prefix("{\"time\":\"2026-11-20T").and_then(|rest| rest.get(5..));
                    rest.map_or_else(
                        || line.to_owned(),
                        |rest| format!("{{\"time\":\"2026-11-20T{hour:02}:{minute:02}{rest}"),
                    ) + "\n"
                })
                .collect()
        }),
        Event::Files(are_more) => {
            let path = workspace.join("agents/agent-more.jsonl");
            if *are_more {
                fs::copy(workspace.join("agents/agent-myt.jsonl"), path).unwrap();
            } else {
                let _ = fs::remove_file(path);
            }
        }
        Event::Setting(file, line, to) => edit(workspace, file, |text| {
            let new = if line.contains('=') {
                format!("name_cooldown = \"{to}d\"")
            } else {
                format!("policy: sync\nttl: {to}00")
            };
            if text.contains(line) { text.replace(line, &new) } else { text }
        }),
        Event::Edit(name, octet) => {
            let owner = Name::parse(name).unwrap();
            let zone = ZoneName::new(owner.as_name().parent().unwrap().to_name());
            let rdata = Rdata::parse(Rtype::AAAA, &format!("2001:db8::{octet:x}")).unwrap();
            let ttl = Ttl::from_secs(300).unwrap();
            let instructions = vec![
                UpdateInstruction::DeleteRrset(owner.clone(), Rtype::AAAA),
                UpdateInstruction::Add(owner, Rtype::AAAA, ttl, rdata),
            ];
            let update = UpdateMessage { zone, prerequisites: Vec::new(), instructions };
            sample_primary(&workspace.join("zones")).expect("a plan has opened it").update(&update);
        }
        Event::Apply => {
            let made = make_plan(&request(workspace, now), &Silent).unwrap();
            apply(workspace, made, now);
        }
    }
    now
}

/// Plays a sequence, and compares each plan with one that is made anew; gives how often one was used again.
fn play(events: &[Event]) -> usize {
    let folder = demo();
    let workspace = folder.path();
    let mut last_plan = LastPlan::default();
    let mut now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
    let mut count = 0;
    for event in std::iter::once(&Event::Apply).chain(events) {
        now = happen(workspace, event, now);
        thread::sleep(OLD);
        let request = request(workspace, now);
        let is_used = last_plan.last.as_ref().is_some_and(|(_, ground)| ground.check(&request).is_ok());
        count += usize::from(is_used);
        let (again, anew) = (last_plan.plan(&request, &Silent).unwrap(), make_plan(&request, &Silent).unwrap());
        assert_same(&again, &anew, &format!("after {event:?} at {now}, used again: {is_used}"));
    }
    count
}

/// Plays a sequence, and compares each plan with one that is made anew, where the last plan is never used again, but what it was made
/// from; gives how often nothing but what had moved was read and looked at.
fn play_moves(events: &[Event]) -> usize {
    let folder = demo();
    let workspace = folder.path();
    let mut memory = InputMemory::default();
    let mut now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
    let mut count = 0;
    for event in std::iter::once(&Event::Apply).chain(events) {
        now = happen(workspace, event, now);
        thread::sleep(OLD);
        let request = request(workspace, now);
        let input = gather_moved(&request, &ReadFor::Selected, Some(&mut memory), &Silent).unwrap();
        let is_carried = input.survey.get().is_some();
        count += usize::from(is_carried);
        let (again, input) = plan_of(input, &request, &Silent).unwrap();
        let anew = make_plan(&request, &Silent).unwrap();
        assert_same(&again, &anew, &format!("after {event:?} at {now}, carried: {is_carried}"));
        memory.keep(kept(input, &request));
    }
    count
}

#[test]
fn a_plan_of_what_has_moved_is_the_plan_that_would_be_made() {
    let cases = std::env::var("PROPTEST_CASES").map_or(12, |cases| cases.parse().expect("a number"));
    let mut runner = TestRunner::new(ProptestConfig { cases, ..ProptestConfig::default() });
    let carried = Cell::new(0);
    let event = prop_oneof![1 => event(), 2 => rows(), 1 => edits()];
    let played = runner.run(&proptest::collection::vec(event, 1..16), |events| {
        carried.set(carried.get() + play_moves(&events));
        Ok(())
    });
    played.unwrap();
    assert!(carried.get() > 2 * cases as usize, "{} plans were of what had moved, in {cases} sequences", carried.get());
}

#[test]
fn a_plan_that_is_used_again_is_the_plan_that_would_be_made() {
    // `PROPTEST_CASES=1000` plays so many.
    let cases = std::env::var("PROPTEST_CASES").map_or(12, |cases| cases.parse().expect("a number"));
    let mut runner = TestRunner::new(ProptestConfig { cases, ..ProptestConfig::default() });
    let used = Cell::new(0);
    let played = runner.run(&proptest::collection::vec(event(), 1..16), |events| {
        used.set(used.get() + play(&events));
        Ok(())
    });
    played.unwrap();
    assert!(used.get() > cases as usize, "{} plans were used again in {cases} sequences", used.get());
}

#[test]
fn a_plan_is_used_again_until_something_moves() {
    use Event::{Apply, Edit, Files, Nothing, Rewrite, Tick};
    let folder = demo();
    let workspace = folder.path();
    let mut last_plan = LastPlan::default();
    let mut now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
    let moving = [Apply, Rewrite("racktables/hosts.csv"), Files(true), Edit("x.cloud.example.net", 1), Tick(4_000)];
    for (event, is_same) in moving.iter().flat_map(|event| [(event, false), (&Nothing, true), (&Tick(60), true)]) {
        now = happen(workspace, event, now);
        thread::sleep(OLD);
        let request = request(workspace, now);
        let is_used = last_plan.last.as_ref().is_some_and(|(_, ground)| ground.check(&request).is_ok());
        let made = last_plan.plan(&request, &Silent).unwrap();
        assert_eq!((is_used, made.plan.is_idle()), (is_same, true), "{event:?} {:?}", made.plan.changes);
    }
}
