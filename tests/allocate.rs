//! What `allocate` gives over whole workspaces: as much as an independent implementation in Python says, written from
//! the specification alone, and the same whatever the order of rows and the number of threads.
//!
//! `FLEETS=1-2000` in the environment runs other seeds than the default.

#[path = "support/seeds.rs"]
mod seeds;
mod support;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// The clock of all generated fleets.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The last seed by default.
const LAST: u64 = 60;

/// Runs a script of the reference, and gives what it printed; `None` where it ended with another code than 0.
fn script(python: &Path, name: &str, args: &[&str]) -> Option<String> {
    let path = support::root().join("tests/reference").join(name);
    let output = Command::new(python).arg(path).args(args).output().expect("Python was just found");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{name} {args:?}: {errors}");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Writes names.lock of a workspace anew; gives what was printed.
fn allocate(workspace: &Path, threads: Option<usize>) -> String {
    let folder = workspace.to_str().expect("UTF-8");
    let args = ["allocate", "--write", "-v", "--now", NOW, "-C", folder].map(str::to_owned);
    let output = support::zonewright(&args, threads);
    String::from_utf8(output.stdout).expect("UTF-8") + &String::from_utf8_lossy(&output.stderr)
}

/// names.lock of a workspace; empty where there is none.
fn lock(workspace: &Path) -> String {
    fs::read_to_string(workspace.join("names.lock")).unwrap_or_default()
}

/// The rows of a names.lock, in their order.
fn rows(text: &str) -> Vec<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// What of a fleet both implementations do not say alike; and whether names were given, and all of a template's.
fn compare(python: &Path, seed: u64, fleet: &Path) -> (Option<String>, [bool; 3]) {
    script(python, "names_fleets.py", &[&seed.to_string(), fleet.to_str().expect("UTF-8")]);
    let theirs = script(python, "names.py", &["-C", fleet.to_str().expect("UTF-8"), "--now", NOW]);
    let before = lock(fleet);
    let shown = allocate(fleet, None);
    let after = lock(fleet);
    let seen = [theirs.is_none(), before != after, shown.contains("template-exhausted")];
    let wanted = theirs.unwrap_or_else(|| rows(&before).iter().map(|row| format!("{row}\n")).collect());
    if rows(&after).iter().copied().eq(wanted.lines()) {
        return (None, seen);
    }
    let (ours, theirs): (BTreeSet<&str>, BTreeSet<&str>) =
        (rows(&after).into_iter().collect(), wanted.lines().collect());
    let mut text = format!("fleet {seed}\n");
    for (whose, rows) in [("ours", ours.difference(&theirs)), ("theirs", theirs.difference(&ours))] {
        rows.for_each(|row| writeln!(text, "  {whose} {row}").expect("a String grows"));
    }
    (Some(text), seen)
}

#[test]
fn an_independent_implementation_gives_the_same_names() {
    let Some(python) = support::python() else {
        support::skip("Python 3.11 is not there, so that the reference implementation cannot run");
        return;
    };
    let found = Mutex::new((Vec::new(), [0; 3]));
    seeds::each(seeds::seeds(LAST), |seed, fleet| {
        let (fault, seen) = compare(&python, seed, fleet);
        let mut found = found.lock().expect("no poison");
        found.0.extend(fault);
        (0..3).for_each(|at| found.1[at] += u64::from(seen[at]));
    });
    let (faults, [refused, given, exhausted]) = found.into_inner().expect("no poison");
    assert!(faults.is_empty(), "{} fleets differ:\n{}", faults.len(), faults.join("\n"));
    let fleets = seeds::seeds(LAST).count() as u64;
    assert!(given * 2 > fleets, "{given} of {fleets} fleets get names");
    assert!(exhausted > 0 && refused < fleets / 2, "{exhausted} with a template used up, {refused} refused");
}

/// Puts the rows of a file into another order, given by a number; a header stays first.
fn shuffle(path: &Path, headers: usize, mut number: u64) {
    let text = fs::read_to_string(path).expect("the file is there");
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    for at in (headers + 1..lines.len()).rev() {
        // The constants of Knuth's MMIX generator.
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lines.swap(at, headers + (number >> 33) as usize % (at + 1 - headers));
    }
    fs::write(path, lines.concat()).expect("the file can be written");
}

/// Writes a workspace whose exports are read in several pieces: of every four hosts one has no name, one has one by
/// hosts.csv, one by names.lock, and one gave its name up, lately or long ago.
fn write_large(folder: &Path) {
    const HOSTS: u64 = 24_000;
    let mut hosts = String::from("inv,name,project,status,location,queue,rack,switch,port,restrictions\n");
    let mut lock = String::new();
    for host in 0..HOSTS {
        let (inv, location) = (100_000 + host, ["sas", "myt", "SAS"][host as usize % 3]);
        let short = format!("{}{}-{:04}", location.to_ascii_lowercase(), host / 10_000, host % 10_000);
        let project = ["search", "web"][host as usize / 2 % 2];
        let name = if host % 4 == 1 { format!("{short}.{project}.example.net") } else { String::new() };
        writeln!(hosts, "{inv},{name},{project},assigned,{location},a long name of a queue,r1,sw1,,").expect("grows");
        let released = match host % 8 {
            2 | 6 => "-",
            3 => "2026-11-18T00:00:00Z",
            7 => "2026-11-01T00:00:00Z",
            _ => continue,
        };
        writeln!(lock, "{inv}\t{short}.{project}.example.net\t{project}\t2026-01-01T00:00:00Z\t{released}")
            .expect("grows");
    }
    let mut settings = String::from(
        "owner = \"fleet-dns\"\nregistry = \"journal\"\nfree_domain = \"free.invalid\"\n[sources]\n\
         projects = \"projects/*.yaml\"\nhosts = \"hosts.csv\"\n[pool.main]\n[[pool.main.target]]\n\
         type = \"zonefile\"\ndir = \"zones\"\n",
    );
    fs::create_dir_all(folder.join("projects")).expect("a folder");
    fs::create_dir_all(folder.join("zones")).expect("a folder");
    for project in ["search", "web"] {
        let domain = format!("{project}.example.net");
        writeln!(
            settings,
            "[project.{project}]\ndns_domain = \"{domain}\"\n[[zone]]\nname = \"{domain}\"\npool = \"main\""
        )
        .expect("a String grows");
        let zone = format!("{domain}. 3600 IN SOA ns1 hostmaster 1 7200 900 1209600 300\n{domain}. 3600 IN NS ns1\n");
        fs::write(folder.join(format!("zones/{domain}.zone")), zone + "sas0-0003 3600 IN TXT \"kept\"\n")
            .expect("written");
        let file = format!("id: {project}\nvlan_scheme: search\nvlans: {{main: 604, fastbone: 761}}\n");
        fs::write(folder.join(format!("projects/{project}.yaml")), file).expect("written");
    }
    for (file, text) in [("zonewright.toml", settings), ("hosts.csv", hosts), ("names.lock", lock)] {
        fs::write(folder.join(file), text).expect("written");
    }
}

#[test]
fn the_order_of_rows_and_the_number_of_threads_change_no_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let written: Vec<String> = [(1, 1), (8, 1), (1, 2), (8, 3)]
        .into_iter()
        .map(|(threads, order)| {
            let workspace = folder.path().join(format!("{threads}-{order}"));
            write_large(&workspace);
            shuffle(&workspace.join("hosts.csv"), 1, order);
            shuffle(&workspace.join("names.lock"), 0, order);
            let shown = allocate(&workspace, Some(threads));
            assert!(shown.ends_with("12000 hosts get names\nnames.lock is written\n"), "{shown}");
            lock(&workspace)
        })
        .collect();
    assert!(written.iter().all(|text| *text == written[0]));
    let current = rows(&written[0]).iter().filter(|row| row.ends_with("\t-")).count();
    assert_eq!(current, 18_000, "12 000 new ones in addition to 6 000 that were there");
}
