//! What a person sees on a terminal of 40 lines and 80 or 60 columns: the demo's plan, and an apply of one host up to its
//! prompt.

#[path = "folder/copy.rs"]
mod copy;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use copy::copy;

/// The clock of the demo.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The lines of a terminal.
const SCREEN: usize = 40;

/// The most lines that the demo's plan may take at 80 columns.
const MAX_PLAN: usize = 260;

/// The verdict on the demo's plan, as it is wrapped at 80 columns.
const VERDICT: &str = "Plan: 54 to create, 26 to modify, 30 to delete for 28 of 111 hosts; 24 blocked,\n  7 skipped";

/// What a plan ends with at 60 columns, after the verdict.
const NEXT: &str = "Nothing was changed. `plan --out FILE` saves the plan,\n  `apply FILE` applies it.";

/// Runs the binary in a workspace at 80 columns; gives standard output and standard error.
fn zonewright(workspace: &Path, args: &[&str]) -> (String, String) {
    zonewright_at(80, workspace, args)
}

/// The same at so many columns.
fn zonewright_at(columns: usize, workspace: &Path, args: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.arg("-C").arg(workspace).args(["--now", NOW]).args(args).env("NO_COLOR", "1");
    let output = command.env("COLUMNS", columns.to_string()).output().expect("the binary was built for this test");
    let text = |octets: Vec<u8>| String::from_utf8(octets).expect("the output is UTF-8");
    (text(output.stdout), text(output.stderr))
}

/// A copy of the demo.
fn demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("inventory"), folder.path());
    folder
}

#[test]
fn the_plan_of_the_demo_is_judged_by_its_first_and_last_screen() {
    let demo = demo();
    let (plan, findings) = zonewright(demo.path(), &["plan"]);
    let lines: Vec<&str> = plan.lines().collect();
    assert!(lines.len() <= MAX_PLAN, "{} lines", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{plan}");
    assert!(plan.starts_with(VERDICT), "{plan}");
    let (first, last) = (lines[..SCREEN].join("\n"), lines[lines.len() - SCREEN..].join("\n"));
    for part in ["\nSummary\n", "\n  total       28      54      26      30       24        7\n", "\nCauses\n"] {
        assert!(first.contains(part), "{part:?} is not in {first}");
    }
    for part in ["\nBlocked (", "\n  no-mac             2  vla0-0011, stvla-06\n", "\nSkipped\n", "\nLimits\n", VERDICT]
    {
        assert!(last.contains(part), "{part:?} is not in {last}");
    }
    assert_eq!(findings, "note: 4 errors and 1 warning in exports; `zonewright check` lists them\n");
}

#[test]
fn the_plan_of_the_demo_keeps_within_60_columns() {
    let demo = demo();
    let (plan, _) = zonewright_at(60, demo.path(), &["plan"]);
    let (first, last) = (&plan[..plan.find("\n\n").expect("a blank line")], plan.trim_end());
    assert!(first.starts_with("Plan: 54 to create"), "{plan}");
    assert!(last.ends_with(&format!("{first}\n{NEXT}")), "{last}");
    assert_within(&plan, 60);
}

/// Checks that no line is wider than this, but for a name in a table, which is its last word.
fn assert_within(text: &str, columns: usize) {
    for line in text.lines().filter(|line| line.chars().count() > columns) {
        let last = line.split_whitespace().next_back().unwrap_or_default();
        let is_name = last.starts_with("zone:") || line.trim_start() == last;
        assert!(is_name, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn an_apply_of_one_host_fits_a_screen_and_its_prompt_says_what_is_agreed_to() {
    let heading = "  sas0-0001.search.example.net. (100101)\n";
    let wide = "    create AAAA 2a02:6b8:0:160b:0:1478:b508:9390  ttl 600";
    let narrow = "    create AAAA  ttl 600 (+ TXT)\n      + 2a02:6b8:0:160b:0:1478:b508:9390\n";
    for (columns, change) in [(80, wide), (60, narrow)] {
        one_host_is_applied_at(columns, &format!("{heading}{change}"));
    }
}

/// Checks what an apply of one host shows before it asks; the answer is no.
fn one_host_is_applied_at(columns: usize, change: &str) {
    let demo = demo();
    zonewright(demo.path(), &["apply", "--yes"]);
    let zone = demo.path().join("zones/search.example.net.zone");
    let text = fs::read_to_string(&zone).expect("the zone is there");
    let is_lost = |line: &&str| line.starts_with("sas0-0001 ") && line.contains("AAAA");
    assert_eq!(text.lines().filter(is_lost).count(), 1, "{text}");
    let kept: Vec<&str> = text.lines().filter(|line| !is_lost(line)).collect();
    fs::write(&zone, kept.join("\n") + "\n").expect("the zone can be written");
    let screen = at_a_terminal(columns, demo.path(), "no\n");
    let question = format!(
        "Type `yes` to apply 2 changes for 1 host to the folder `zones` (workspace {}): ",
        demo.path().display()
    );
    let shown = screen.split(&question).next().expect("a split has a first part");
    assert!(screen.contains(&question) && screen.ends_with("Nothing was changed.\n"), "{screen}");
    assert!(shown.lines().count() <= SCREEN, "{shown}");
    let plan = &shown[shown.find("Plan: 2 to create").expect("the verdict")..];
    assert_within(plan, columns);
    assert!(shown.contains(change), "{shown}");
}

/// What a terminal of so many columns shows of `apply`, with this answer.
fn at_a_terminal(columns: usize, workspace: &Path, answer: &str) -> String {
    let binary = env!("CARGO_BIN_EXE_zonewright");
    let command =
        format!("stty cols {columns} rows {SCREEN}; exec '{binary}' -C '{}' --now {NOW} apply", workspace.display());
    let mut terminal = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("util-linux brings `script`");
    let mut input = terminal.stdin.take().expect("it is piped");
    input.write_all(answer.as_bytes()).expect("the terminal takes input");
    let output = terminal.wait_with_output().expect("the command ends");
    drop(input);
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8").replace("\r\n", "\n");
    // A line of progress is written over: what is left of it is what comes after the last carriage return.
    text.lines().map(|line| line.rsplit('\r').next().unwrap_or(line).to_owned() + "\n").collect()
}
