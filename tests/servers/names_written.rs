//! How names.lock is written: by several at the same moment, through a link, and not at all.
//!
//! No names are lost, and the file is whole at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::fleet;
use crate::rig::{NOW, text_of};
use crate::workspace::zonewright;

/// How often they meet.
const ROUNDS: usize = 20;

/// How many they are.
const RIVALS: usize = 4;

/// For how many hosts each allocates names.
const SHARE: usize = 25;

/// Writes a workspace whose hosts have no names, and whose zones are empty.
fn write(folder: &Path) {
    fleet::write(folder, RIVALS * SHARE);
    let hosts = fs::read_to_string(folder.join("hosts.csv")).expect("the hosts");
    let unnamed = hosts.lines().map(|line| match line.split_once(",h") {
        Some((inv, rest)) => format!("{inv},{}\n", &rest[rest.find(',').expect("another field")..]),
        None => format!("{line}\n"),
    });
    fs::write(folder.join("hosts.csv"), unnamed.collect::<String>()).expect("the hosts");
}

/// The hosts of one of them.
fn share(rival: usize) -> Vec<String> {
    (rival * SHARE + 1..=(rival + 1) * SHARE).map(|inv| inv.to_string()).collect()
}

/// What one of them says.
fn command(folder: &Path, rival: usize) -> Command {
    let mut command = zonewright();
    command.args(["--color", "never", "--now", NOW, "-C"]).arg(folder).args(["allocate", "--write"]).args(share(rival));
    command.stdin(Stdio::null());
    command
}

/// Starts one of them.
fn start(folder: &Path, rival: usize) -> Child {
    command(folder, rival).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

/// The hosts with their names, of a file that is whole; none where there is no file yet.
fn named(folder: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(folder.join("names.lock")).unwrap_or_default();
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!((fields.len(), fields[2], fields[3], fields[4]), (5, "p", NOW, "-"), "{line}");
        (fields[0].to_owned(), fields[1].to_owned())
    };
    let names: BTreeMap<String, String> = text.lines().map(row).collect();
    assert_eq!(names.len(), text.lines().count(), "a host has one name");
    assert_eq!(names.values().collect::<BTreeSet<_>>().len(), names.len(), "a name is one host's");
    names
}

#[test]
fn of_those_who_give_names_at_once_nobody_undoes_what_another_did() {
    let mut lost = 0;
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path());
        let mut waiting: BTreeSet<usize> = (0..RIVALS).collect();
        while !waiting.is_empty() {
            let before = named(folder.path());
            let mut running: Vec<(usize, Child)> =
                waiting.iter().map(|rival| (*rival, start(folder.path(), *rival))).collect();
            while running.iter_mut().any(|(_, child)| child.try_wait().expect("a child").is_none()) {
                assert_eq!(named(folder.path()).len() % SHARE, 0, "all names of one run, or none");
            }
            let mut expected: BTreeSet<String> = before.into_keys().collect();
            for (rival, child) in running {
                let output = child.wait_with_output().expect("it ended");
                let said = text_of(&output.stderr);
                match output.status.code() {
                    Some(0) => {
                        waiting.remove(&rival);
                        expected.extend(share(rival));
                    }
                    Some(1) if said.contains("changed names.lock in the meantime") => lost += 1,
                    code => panic!("exit {code:?}: {said}"),
                }
            }
            let found: BTreeSet<String> = named(folder.path()).into_keys().collect();
            assert_eq!(found, expected, "what was said to be written, and nothing else");
        }
        let names = named(folder.path());
        let lowest: BTreeSet<String> =
            (1..=RIVALS * SHARE).map(|number| format!("sas0-{number:04}.example.net")).collect();
        assert_eq!(names.into_values().collect::<BTreeSet<_>>(), lowest);
        let names = fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name());
        let names: Vec<_> = names.filter(|name| name.to_string_lossy().contains("names.lock")).collect();
        assert_eq!(names, ["names.lock"], "no temporary file is left");
    }
    eprintln!("{lost} had to run again");
}

#[test]
fn a_link_stays_a_link_and_the_file_keeps_its_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let (link, file) = (folder.path().join("names.lock"), folder.path().join("in-git.lock"));
    fs::write(&file, format!("9999\told.example.net\tp\t{NOW}\t-\n")).expect("a file");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("it is ours");
    symlink("in-git.lock", &link).expect("a link");
    let output = command(folder.path(), 0).output().expect("the program runs");
    assert!(output.status.success(), "{}", text_of(&output.stderr));
    assert_eq!(fs::read_link(&link).expect("a link"), Path::new("in-git.lock"));
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
    assert_eq!(named(folder.path()).len(), 1 + SHARE);
}

#[test]
fn what_nobody_could_be_shown_is_not_written() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        eprintln!("skipped: this system has no {}", full.display());
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path());
    let full = File::options().write(true).open(full).expect("it can be opened");
    let output = command(folder.path(), 0).stdout(full).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(text_of(&output.stderr).contains("cannot write to standard output"), "{}", text_of(&output.stderr));
    assert!(!folder.path().join("names.lock").exists());
}
