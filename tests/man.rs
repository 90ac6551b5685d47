//! `zonewright man`: a page for the program and for each command, which formatters read without complaint.

#[expect(dead_code, reason = "this file needs no Python")]
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The sections that every page has.
const SECTIONS: [&str; 8] =
    ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES", "SEE ALSO"];

/// Runs the built binary with the time that reproducible builds use, or without one.
fn man(args: &[&str], epoch: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.arg("man").args(args).env_remove("SOURCE_DATE_EPOCH");
    if let Some(epoch) = epoch {
        command.env("SOURCE_DATE_EPOCH", epoch);
    }
    command.output().expect("the binary was built for this test")
}

/// All pages by the names of their files, sorted.
fn pages(folder: &Path, epoch: Option<&str>) -> Vec<(String, String)> {
    let out = man(&["--out", &folder.display().to_string()], epoch);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("the entry can be read");
        let text = fs::read_to_string(entry.path()).expect("a page is text");
        (entry.file_name().to_string_lossy().into_owned(), text)
    };
    let mut pages: Vec<(String, String)> = fs::read_dir(folder).expect("the folder is made").map(read).collect();
    pages.sort();
    pages
}

/// The commands as `--help` lists them.
fn commands() -> BTreeSet<String> {
    let help = support::zonewright(&["--help".to_owned()], None);
    let help = String::from_utf8(help.stdout).expect("help is text");
    let (_, listed) = help.split_once("Commands:\n").expect("the help lists the commands");
    let (listed, _) = listed.split_once("\n\n").expect("a blank line ends the list");
    listed.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_command_has_a_page_with_all_sections() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = pages(&folder.path().join("new/man1"), None);
    let files: BTreeSet<&str> = pages.iter().map(|(file, _)| file.as_str()).collect();
    assert!(files.contains("zonewright.1") && files.contains("zonewright-state-init.1"), "{files:?}");
    for command in commands() {
        assert!(files.contains(format!("zonewright-{command}.1").as_str()), "{command}: {files:?}");
    }
    for (file, text) in &pages {
        assert!(text.is_ascii(), "{file}");
        let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        for section in SECTIONS {
            assert!(
                headings.iter().any(|own| own.trim_matches('"') == section),
                "{file} lacks {section}: {headings:?}"
            );
        }
        let words: Vec<&str> =
            file.trim_end_matches(".1").split_once('-').map_or(vec![], |(_, name)| match name.strip_prefix("state-") {
                Some(below) => vec!["state", below],
                None => vec![name],
            });
        assert_eq!(String::from_utf8_lossy(&man(&words, None).stdout), *text, "{file}");
    }
}

#[test]
fn examples_of_pages_are_commands_that_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in pages(folder.path(), None) {
        let (_, examples) = text.split_once(".SH EXAMPLES").expect("the section is there");
        let lines = examples.lines().filter_map(|line| line.strip_prefix("\\fBzonewright ")?.strip_suffix("\\fR"));
        let mut count = 0;
        for line in lines {
            let line = line.replace("\\-", "-").replace("\\*(Aq", "'");
            let line = line.split(['|', '>']).next().expect("a text has a part").to_owned();
            // A reason in quotes is one word, and `--help` ends the word before it.
            let (before, quoted) =
                line.split_once('\'').map_or((line.as_str(), None), |(before, rest)| (before, Some(rest)));
            let mut args: Vec<String> = before.split_whitespace().map(str::to_owned).collect();
            args.extend(quoted.map(|quoted| quoted.trim_end_matches('\'').to_owned()));
            args.push("--help".to_owned());
            let out = support::zonewright(&args, None);
            assert!(out.status.success(), "{file}: {line}: {}", String::from_utf8_lossy(&out.stderr));
            count += 1;
        }
        assert!(count > 0, "{file} has no example");
    }
}

#[test]
fn pages_are_dated_by_who_builds_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let undated = pages(&folder.path().join("a"), None);
    assert!(undated.iter().all(|(_, text)| text.lines().next().is_some_and(|line| line.contains("\" \"1\" \"\" \""))));
    let dated = pages(&folder.path().join("b"), Some("1700000000"));
    assert!(dated.iter().all(|(_, text)| text.lines().next().is_some_and(|line| line.contains("\"2023-11-14\""))));
    assert_eq!(dated, pages(&folder.path().join("c"), Some("1700000000")));
    assert_eq!(undated, pages(&folder.path().join("d"), Some("no time")));
}

#[test]
fn what_cannot_be_printed_or_written_is_reported() {
    for (args, says) in [
        (&["nothing"][..], "error: there is no command `nothing`"),
        (&["plan", "nothing"], "error: there is no command `plan nothing`"),
        (&["--out", "/dev/null/man"], "error: /dev/null/man: the manual pages could not be written"),
    ] {
        let out = man(args, None);
        assert_eq!(out.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8_lossy(&out.stderr).starts_with(says), "{}", String::from_utf8_lossy(&out.stderr));
    }
}

/// What a formatter complains of in a page; none where it is not installed.
fn complaints(program: &str, args: &[&str], page: &str) -> Option<String> {
    let child =
        Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.ok()?;
    let mut input = child.stdin.take().expect("its input is piped");
    let page = page.to_owned();
    let writer = std::thread::spawn(move || drop(input.write_all(page.as_bytes())));
    let out = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    Some(format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)))
}

#[test]
fn formatters_read_the_pages_without_complaint() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = pages(folder.path(), Some("1700000000"));
    for (program, args) in
        [("groff", &["-man", "-ww", "-Tascii", "-z"][..]), ("mandoc", &["-T", "lint", "-W", "error", "-man"])]
    {
        for (file, text) in &pages {
            let Some(complaints) = complaints(program, args, text) else {
                support::skip(&format!("{program} is not installed (Debian: groff-base, mandoc)"));
                break;
            };
            assert_eq!(complaints, "", "{program}: {file}");
        }
    }
}
