//! An export that another takes the place of while it is read.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::fleet::{Fleet, unguarded};
use crate::yard::{LATER, LATER_EXPORTS, Yard};

/// The export that is replaced.
const FILE: &str = "racktables/l3-tors.txt";

/// The octets of one line, so that half a file ends where a line ends.
const LINE: usize = 60;

/// Compiles the library that replaces the file.
const CC: &str = "/usr/bin/cc";

/// An export with its lines in this order or the other way round, and each as long as all others.
fn ordered(fleet: &Fleet, is_reversed: bool) -> String {
    let text = fleet.l3_tors(LATER_EXPORTS);
    let (date, rows) = text.split_once('\n').expect("the date is the first line");
    let mut rows: Vec<&str> = rows.lines().collect();
    if is_reversed {
        rows.reverse();
    }
    let mut text = String::new();
    for line in std::iter::once(date).chain(rows) {
        let _ = writeln!(text, "{line:<width$}", width = LINE - 1);
    }
    text
}

/// A fleet with its export, what takes its place, and what a reader finds whom that happens to in the midst.
fn texts() -> (Fleet, [String; 3]) {
    let mut fleet = Fleet::new(400, 10, &[100]);
    fleet.settings = unguarded();
    let (first, second) = (ordered(&fleet, false), ordered(&fleet, true));
    let half = first.lines().count() / 2 * LINE;
    let mixed = first[..half].to_owned() + &second[half..];
    (fleet, [first, second, mixed])
}

/// The hosts of which a text has no line.
fn lost(fleet: &Fleet, text: &str) -> BTreeSet<u64> {
    let found: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    fleet.in_l3().into_iter().filter(|inv| !found.contains(&*fleet.switches[fleet.hosts[inv].switch].name)).collect()
}

#[test]
fn an_export_that_is_replaced_while_it_is_read_is_not_believed() {
    let (fleet, [first, second, mixed]) = texts();
    let yard = Yard::good(&fleet);
    let good = yard.records();
    yard.write(FILE, &first);
    yard.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(yard.records(), good);

    // What a reader believes who does not look: half of the switches are there twice, and half are not.
    let off = yard.copy();
    off.forget_exports();
    off.write(FILE, &mixed);
    off.apply(LATER, &[]).tells(0, &[]);
    let lost = lost(&fleet, &mixed);
    assert!(lost.len() > 100);
    assert_eq!(fleet.wrong(&off.records()), lost);

    yard.forget_exports();
    yard.write("other.txt", &second);
    let Some(library) = library(yard.path()) else { return };
    let run = |times: &str| {
        yard.write(FILE, &first);
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
        command.env("LD_PRELOAD", &library).env("REPLACE", yard.path().join(FILE)).env("REPLACE_TIMES", times);
        command.env("REPLACE_BY", yard.path().join("other.txt"));
        command.env("REPLACE_AFTER", (first.lines().count() / 2 * LINE).to_string());
        let run = yard.run_by(&mut command, &["apply", "--yes", "--now", LATER]);
        assert_eq!(yard.read(FILE), second, "it was replaced");
        run
    };
    // Each time that it is read; a missing file is never treated as empty.
    run("1000").tells(1, &[FILE, "changed while it was read, 4 times in a row", "rename the complete file"]);
    assert_eq!(yard.records(), good);
    // Once: it is read again, and found whole.
    run("1").tells(0, &[]);
    assert_eq!(yard.records(), good);
}

#[test]
fn an_export_that_is_not_what_its_digest_says_is_not_believed() {
    let (mut fleet, [_, second, mixed]) = texts();
    let yard = Yard::good(&fleet);
    let good = yard.records();
    yard.forget_exports();

    let off = yard.copy();
    off.write(FILE, &mixed);
    off.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(fleet.wrong(&off.records()), lost(&fleet, &mixed));

    fleet.settings.l3_tors = "digest = \"sha256\"".to_owned();
    yard.export(&fleet, LATER_EXPORTS);
    let digest: String = Sha256::digest(&second).iter().map(|octet| format!("{octet:02x}")).collect();
    yard.write(&format!("{FILE}.sha256"), &format!("{digest}  l3-tors.txt\n"));
    yard.write(FILE, &mixed);
    yard.apply(LATER, &[]).tells(
        3,
        &[
            "source `l3_tors`: the SHA-256 of racktables/l3-tors.txt is ",
            &format!("and racktables/l3-tors.txt.sha256 says {}…", &digest[..12]),
            "export or copy both files again",
        ],
    );
    assert_eq!(yard.records(), good);
    // Once it is copied whole it is what the digest says.
    yard.write(FILE, &second);
    yard.apply(LATER, &[]).tells(0, &[]);
    assert_eq!(yard.records(), good);
}

/// The library that replaces a file while it is read; where there is no compiler, that is said aloud.
fn library(folder: &Path) -> Option<PathBuf> {
    if !Path::new(CC).is_file() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{CC} is not installed, and CI is true");
        writeln!(std::io::stderr(), "skipped: {CC} is not installed").expect("stderr is open");
        return None;
    }
    let library = folder.join("replaced.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/incidents/replaced.c");
    let mut compile = Command::new(CC);
    compile
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&library)
        .arg(source)
        .arg("-ldl");
    let output = compile.output().expect("cc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}
