//! Two branches that give, free, rename and record names apart from each other, merged by git and settled by
//! `check --fix-lock`: names.lock is valid then, whatever both did.

#[expect(dead_code, reason = "this file needs git, and no Python")]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use tempfile::TempDir;
use zonewright::inventory::load_workspace;
use zonewright::inventory::value::{Duration, Inv, Time};
use zonewright::pipeline::PlanRequest;
use zonewright::pipeline::names::{NamesError, NamesOrder, NamesTask, fix_lock, rewrite, write};
use zonewright::progress::{Progress, RunStage};
use zonewright::provider::cache::CacheUse;

/// When the branches part.
const PARTED: &str = "2026-11-20T00:00:00Z";

/// When they are merged; no release is forgotten within the next seconds.
const MERGED: &str = "2026-11-24T00:00:30Z";

/// Three projects whose names clash: `web` and `db` give the same short names, `fb` those of the fastbones of `web`.
const SETTINGS: &str = "\
owner = \"fleet\"
name_cooldown = \"2d\"
[sources]
projects = \"*.yaml\"
hosts = \"hosts.csv\"
[project.web]
dns_domain = \"web.test\"
also_domains = [\"all.test\"]
[project.db]
dns_domain = \"db.test\"
also_domains = [\"all.test\"]
[project.fb]
dns_domain = \"all.test\"
also_domains = [\"web.test\", \"db.test\"]
";

/// Their files.
const PROJECTS: [(&str, &str); 3] = [
    ("web", "shortname_template: \"s{index}\"\nvlan_scheme: search\nvlans: {main: 604, fastbone: 761}"),
    ("db", "shortname_template: \"s{index}\"\nvlan_scheme: static\nvlans: {main: 700}"),
    ("fb", "shortname_template: \"fb-s{index}\"\nvlan_scheme: static\nvlans: {main: 700}"),
];

/// The hosts, from number 1: the project of each, and its name in hosts.csv.
const HOSTS: [(&str, &str); 9] = [
    ("web", ""),
    ("db", ""),
    ("fb", ""),
    ("web", "s2.web.test"),
    ("db", "s3.db.test"),
    ("fb", "fb-s1.all.test"),
    ("web", ""),
    ("db", ""),
    ("web", "s1.all.test"),
];

/// Something that is done to names.
#[derive(Debug, Clone)]
enum Act {
    /// All hosts without a name get one.
    Allocate,
    /// One host gets one.
    AllocateOne(usize),
    /// One host gives its name up.
    Release(usize),
    /// One host gets another name, in a project.
    Rename(usize, usize),
    /// One host is noted in another project.
    Move(usize, usize),
    /// All names of hosts.csv are recorded.
    Adopt,
    /// One name of hosts.csv is recorded, in place of the one that names.lock has.
    AdoptOne(usize),
}

/// An act, and the hours that pass before it.
fn act() -> impl Strategy<Value = (Act, u32)> {
    let host = || 1..=HOSTS.len();
    let project = || 0..PROJECTS.len();
    let act = prop_oneof![
        Just(Act::Allocate),
        host().prop_map(Act::AllocateOne),
        host().prop_map(Act::Release),
        (host(), project()).prop_map(|(host, project)| Act::Rename(host, project)),
        (host(), project()).prop_map(|(host, project)| Act::Move(host, project)),
        Just(Act::Adopt),
        host().prop_map(Act::AdoptOne),
    ];
    (act, 0..30_u32)
}

/// It ignores all reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// A time.
fn time(text: &str) -> Time {
    text.parse().expect("a time")
}

/// The inventory number of a host.
fn inv(host: usize) -> Inv {
    host.to_string().parse().expect("a number")
}

/// A workspace, with names.lock where there is to be one.
fn workspace(lock: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path());
    put_lock(folder.path(), lock);
    folder
}

/// Writes all but names.lock.
fn fill(folder: &Path) {
    let put = |file: &str, text: &str| fs::write(folder.join(file), text).expect("a file of the workspace");
    put("zonewright.toml", SETTINGS);
    for (id, settings) in PROJECTS {
        put(&format!("{id}.yaml"), &format!("id: {id}\n{settings}\nautomation: true\n"));
    }
    let rows = (1..).zip(HOSTS).map(|(inv, (project, name))| format!("{inv},{name},{project},assigned,sas,,,s1,,\n"));
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    put("hosts.csv", &(header.to_owned() + &rows.collect::<String>()));
}

/// Writes names.lock, where it is to have a row.
fn put_lock(folder: &Path, lock: &str) {
    if !lock.is_empty() {
        fs::write(folder.join("names.lock"), lock).expect("names.lock");
    }
}

/// names.lock; empty where there is none.
fn lock_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("names.lock")).unwrap_or_default()
}

/// What is asked of a workspace.
fn request(folder: &Path, now: Time, host: Option<usize>) -> PlanRequest<'_> {
    PlanRequest {
        adopt: None,
        asks_approvals: false,
        workspace: folder,
        now,
        hosts: host.map(|host| inv(host).to_string()).into_iter().collect(),
        subjects: Vec::new(),
        projects: vec![],
        live_snapshot: None,
        base: None,
        cache: CacheUse::Read,
        allow: &[],
    }
}

/// Does some acts one after another, from a time on; gives names.lock.
fn do_all(folder: &Path, acts: &[(Act, u32)], from: Time) -> String {
    let mut now = from;
    for (act, hours) in acts {
        now = now.plus(format!("{hours}h").parse().expect("a duration"));
        let to = |project: &usize| Some(PROJECTS[*project].0.to_owned());
        let (task, host) = match act {
            Act::Allocate => (NamesTask::Allocate { rename: false, to: None }, None),
            Act::AllocateOne(host) => (NamesTask::Allocate { rename: false, to: None }, Some(*host)),
            Act::Release(host) => (NamesTask::Release { to: None }, Some(*host)),
            Act::Rename(host, project) => (NamesTask::Release { to: to(project) }, Some(*host)),
            Act::Move(host, project) => (NamesTask::Allocate { rename: false, to: to(project) }, Some(*host)),
            Act::Adopt => (NamesTask::Adopt, None),
            Act::AdoptOne(host) => (NamesTask::Adopt, Some(*host)),
        };
        let (done, _) = rewrite(&request(folder, now, host), NamesOrder { task: &task, hosts: &[] }, &Silent);
        let done = done.expect("every source can be believed");
        if done.old != done.new {
            write(folder, &done.old, &done.new).expect("there is no other writer");
        }
    }
    lock_of(folder)
}

/// Merges two versions of a file by git, keeping the lines of both.
fn merge(base: &str, ours: &str, theirs: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        fs::write(folder.path().join(file), text).expect("a file");
    }
    let output = git(folder.path(), &["merge-file", "-p", "--union", "ours", "base", "theirs"]);
    output.expect("git was just found")
}

/// Runs git, without the settings of the user who runs the test; gives what it prints, or `None` where it fails.
fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.net", "-c", "commit.gpgSign=false"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).expect("git prints what it read"))
}

/// Whether git is there; says aloud where it is not.
fn has_git() -> bool {
    let found = git(Path::new("."), &["--version"]).is_some();
    if !found {
        support::skip("git is not there");
    }
    found
}

/// Settles names.lock, which must be possible.
fn fix(folder: &Path, now: Time) -> String {
    let (fixed, _) = fix_lock(&request(folder, now, None), &Silent);
    let fixed = fixed.expect("every source can be believed");
    write(folder, &fixed.old, &fixed.new).expect("there is no other writer");
    fixed.new
}

/// A row: inventory number, name, project, since, released.
type Row<'a> = (u64, &'a str, &'a str, &'a str, &'a str);

/// The rows of a file.
fn rows(lock: &str) -> Vec<Row<'_>> {
    lock.lines().map(row).collect()
}

/// The row of a line.
fn row(line: &str) -> Row<'_> {
    let [inv, name, project, since, released] = line.split('\t').collect::<Vec<_>>()[..] else {
        panic!("{line} is no row")
    };
    (inv.parse().expect("a number"), name, project, since, released)
}

/// The hosts that have names, by names.lock or, where that says nothing of them, by hosts.csv.
fn held(lock: &str) -> BTreeSet<(u64, String)> {
    let rows = rows(lock);
    let mut held: BTreeSet<(u64, String)> = rows
        .iter()
        .filter(|(_, name, _, _, released)| *released == "-" && !name.starts_with("free-"))
        .map(|(inv, name, ..)| (*inv, (*name).to_owned()))
        .collect();
    for (inv, (_, name)) in (1..).zip(HOSTS) {
        if !name.is_empty() && !rows.iter().any(|row| row.0 == inv) {
            held.insert((inv, name.to_owned()));
        }
    }
    held
}

/// Whether a row says of a name that it was given up so long ago that it no longer matters.
fn is_over(row: &Row<'_>, now: Time) -> bool {
    let longest: Duration = "2d".parse().expect("a duration");
    row.4 != "-" && time(row.4).plus(longest) < now
}

/// What is wrong with names.lock by the rules of the format.
fn check_valid(folder: &Path, lock: &str, now: Time) -> Result<(), TestCaseError> {
    let loaded = load_workspace(folder, now, &|_| {});
    let messages: Vec<&str> = loaded.diagnostics.iter().map(|found| found.message.as_str()).collect();
    let inventory = loaded.inventory.expect("the settings are good");
    prop_assert!(inventory.lock.iter().all(|row| !row.bad) && messages.is_empty(), "{messages:?}\n{lock}");
    let rows = rows(lock);
    let keys: Vec<(u64, &str)> = rows.iter().map(|row| (row.0, row.1)).collect();
    let sorted: BTreeSet<(u64, &str)> = keys.iter().copied().collect();
    prop_assert!(sorted.into_iter().eq(keys), "not sorted, or a name twice:\n{lock}");
    let mut owners: BTreeMap<String, u64> = BTreeMap::new();
    for (inv, name, project, _, released) in rows {
        if released != "-" || name.starts_with("free-") {
            continue;
        }
        let short = name.split('.').next().unwrap_or_default();
        let has_fastbone = project == "web" || HOSTS[inv as usize - 1].0 == "web";
        for label in [Some(short.to_owned()), has_fastbone.then(|| format!("fb-{short}"))].into_iter().flatten() {
            let other = owners.insert(label.clone(), inv);
            prop_assert!(other.is_none_or(|other| other == inv), "{label} is of {inv} and {other:?}:\n{lock}");
        }
    }
    Ok(())
}

/// Checks the merge of two branches.
fn check_merged(base: &str, ours: &str, theirs: &str, merged: &str) -> Result<(), TestCaseError> {
    if merged.is_empty() {
        return Ok(());
    }
    let now = time(MERGED);
    let folder = workspace(merged);
    let fixed = fix(folder.path(), now);
    let all = format!("merged:\n{merged}fixed:\n{fixed}");
    check_valid(folder.path(), &fixed, now)?;
    prop_assert_eq!(fix(folder.path(), now.plus("1s".parse().expect("a duration"))), fixed.as_str(), "again: {}", all);
    let turned: Vec<&str> = merged.lines().rev().collect();
    prop_assert_eq!(fix(workspace(&(turned.join("\n") + "\n")).path(), now), fixed.as_str(), "turned: {}", all);
    let before: BTreeSet<(u64, String)> = held(ours).union(&held(theirs)).cloned().collect();
    let by_lock: BTreeSet<u64> = rows(merged).iter().map(|row| row.0).collect();
    for (inv, name) in held(&fixed).into_iter().filter(|(inv, _)| by_lock.contains(inv)) {
        prop_assert!(before.contains(&(inv, name.clone())), "{inv} had {name} nowhere\n{all}");
    }
    let (old, new) = (rows(merged), rows(&fixed));
    for row in old.iter().filter(|row| !row.1.starts_with("free-")) {
        let is_forgotten = old.iter().any(|other| (row.0, row.1) == (other.0, other.1) && is_over(other, now));
        let is_kept = new.iter().any(|other| (row.0, row.1) == (other.0, other.1));
        prop_assert!(is_kept || is_forgotten, "nothing is known of {row:?} now\n{all}");
    }
    for inv in 1..=HOSTS.len() as u64 {
        let own = |lock| -> Vec<String> {
            let of = rows(lock).into_iter().filter(|row| row.0 == inv && !is_over(row, now));
            of.map(|row| format!("{row:?}")).collect()
        };
        if own(base) == own(ours) && own(base) == own(theirs) {
            prop_assert!(own(base).iter().all(|row| own(&fixed).contains(row)), "{inv} was not changed\n{all}");
        }
    }
    Ok(())
}

/// Lets two branches part, and both do what they do.
fn branches(base: &[(Act, u32)], ours: &[(Act, u32)], theirs: &[(Act, u32)]) -> (String, String, String) {
    let parted = time(PARTED);
    let folder = workspace("");
    do_all(folder.path(), base, parted.minus("9d".parse().expect("a duration")));
    // A clash of names in hosts.csv that were recorded is nothing that the branches did.
    let base = if lock_of(folder.path()).is_empty() { String::new() } else { fix(folder.path(), parted) };
    let ours = do_all(workspace(&base).path(), ours, parted);
    // Their clock is slow.
    let theirs = do_all(workspace(&base).path(), theirs, parted.minus("5m".parse().expect("a duration")));
    (base, ours, theirs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_git_merges_is_valid_once_it_is_settled(
        base in proptest::collection::vec(act(), 0..7),
        ours in proptest::collection::vec(act(), 1..5),
        theirs in proptest::collection::vec(act(), 1..5),
    ) {
        // The other test says aloud that git is not there.
        if git(Path::new("."), &["--version"]).is_some() {
            let (base, ours, theirs) = branches(&base, &ours, &theirs);
            check_merged(&base, &ours, &theirs, &merge(&base, &ours, &theirs))?;
        }
    }
}

#[test]
fn what_is_not_utf_8_stays_as_it_is() {
    let folder = workspace("");
    let lock = b"7\ts7.web.test\tweb\t2026-11-19T00:00:00Z\t-\n1\ts\xff.web.test\tweb\t2026-11-19T00:00:00Z\t-\n";
    fs::write(folder.path().join("names.lock"), lock).expect("names.lock");
    let (fixed, _) = fix_lock(&request(folder.path(), time(MERGED), None), &Silent);
    assert!(matches!(fixed, Err(NamesError::NotUtf8)), "{fixed:?}");
}

#[test]
fn a_command_that_writes_names_lock_says_how_git_is_to_merge_it() {
    let tree = tempfile::tempdir().expect("a folder");
    let folder = tree.path().join("inventory");
    fs::create_dir(&folder).expect("a folder");
    fill(&folder);
    put_lock(&folder, "1\ts4.web.test\tweb\t2026-11-19T00:00:00Z\t-\n");
    let told = |command: &str| {
        let args = [command, " -C ", &folder.to_string_lossy()].concat();
        let output = support::zonewright(&args.split(' ').map(str::to_owned).collect::<Vec<_>>(), None);
        String::from_utf8(output.stderr).expect("text").contains("names.lock merge=union")
    };
    assert!(!told("allocate --write --yes --host 2"), "this is no work tree");
    fs::create_dir(tree.path().join(".git")).expect("a folder");
    assert!(!told("allocate --host 3"), "nothing is written");
    assert!(told("allocate --write --yes --host 3"));
    assert!(!told("check --fix-lock"), "nothing changes");
    put_lock(&folder, "7\ts7.web.test\tweb\t2026-11-19T00:00:00Z\t-\n1\ts4.web.test\tweb\t2026-11-19T00:00:00Z\t-\n");
    assert!(told("check --fix-lock"));
    fs::write(tree.path().join(".gitattributes"), "names.lock merge=union\n").expect("a file");
    assert!(!told("release --host 7 --write --yes"));
}

#[test]
fn a_repository_with_the_attribute_merges_by_itself() {
    if !has_git() {
        return;
    }
    let repository = tempfile::tempdir().expect("a folder");
    let at = repository.path();
    let run = |args: &[&str]| git(at, args).unwrap_or_else(|| panic!("git {args:?} fails"));
    let parted = time(PARTED);
    fill(at);
    fs::write(at.join(".gitattributes"), "names.lock merge=union\n").expect("a file");
    let base =
        do_all(at, &[(Act::Adopt, 0), (Act::AllocateOne(1), 0)], parted.minus("9d".parse().expect("a duration")));
    run(&["init", "-q", "-b", "ours"]);
    let commit = |message: &str| {
        run(&["add", "-A"]);
        run(&["commit", "-q", "-m", message])
    };
    commit("as it was");
    run(&["checkout", "-q", "-b", "theirs"]);
    let theirs = do_all(at, &[(Act::AllocateOne(7), 1), (Act::Release(1), 1)], parted);
    commit("theirs");
    run(&["checkout", "-q", "ours"]);
    let ours = do_all(at, &[(Act::AllocateOne(8), 0), (Act::Rename(1, 0), 3)], parted);
    commit("ours");
    run(&["merge", "-q", "--no-edit", "theirs"]);
    let merged = lock_of(at);
    assert!(!merged.contains("<<<<") && [&ours, &theirs].iter().all(|side| *side != &merged), "{merged}");
    check_merged(&base, &ours, &theirs, &merged).expect("a valid lock");
    let fixed = fix(at, time(MERGED));
    let held = held(&fixed);
    // Both gave the lowest name that was free, to two hosts: 8 had it first. Host 1 was renamed after it was released.
    let names: Vec<&str> = held.iter().filter(|(inv, _)| [1, 7, 8].contains(inv)).map(|(_, name)| &**name).collect();
    assert_eq!(names, ["s6.web.test", "s5.db.test"], "{merged}{fixed}");
}
