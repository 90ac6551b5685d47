//! Follows the transcripts of a document: each command is run, in order, and what it prints is compared with the lines
//! below it.
//!
//! A transcript is a block of the kind `console`: a line that begins with `$ ` is a command, lines with `> ` continue it, and
//! all others are what it prints on either stream. `…` alone represents lines that are left out. All blocks of a document run
//! in one folder, with copies of the demo and of the examples in it. A command with `serve` goes on until the end; the port
//! 5300 is replaced by a free one. With `UPDATE_DOCS=1` the blocks are written anew, for `git diff` to judge: of each run of
//! lines between omissions it takes the lines of the output from the one most like its first to the one most like its last.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::copy::copy;
use crate::support;

/// What represents lines that are left out.
const OMISSION: &str = "…";

/// The folders of the project that a document uses.
const COPIED: [&str; 2] = ["inventory", "examples/migrate"];

/// The port that the documents name.
const PORT: &str = "5300";

/// How many ports were tried.
static TRIED_PORTS: AtomicU32 = AtomicU32::new(0);

/// How the documents build and run the program; the test has a built one.
const BUILD: &str = "cargo run --release -- ";

/// A block of a document, or the text between two.
enum Part {
    /// Text as it is, with its lines' ends.
    Text(String),
    /// The lines of a transcript, without its fences.
    Transcript(Vec<String>),
}

/// Splits a document.
fn parts(document: &str) -> Vec<Part> {
    let mut parts = vec![Part::Text(String::new())];
    let mut inside = false;
    for line in document.split_inclusive('\n') {
        let plain = line.trim_end_matches('\n');
        match parts.last_mut().expect("it begins with a part") {
            Part::Transcript(lines) if inside && plain != "```" => lines.push(plain.to_owned()),
            Part::Transcript(_) => {
                inside = false;
                parts.push(Part::Text(line.to_owned()));
            }
            Part::Text(text) => {
                text.push_str(line);
                if plain == "```console" {
                    inside = true;
                    parts.push(Part::Transcript(Vec::new()));
                }
            }
        }
    }
    parts
}

/// A command of a transcript, with the lines that it has there.
struct Step<'t> {
    /// The lines of the command as they are written.
    typed: Vec<&'t str>,
    /// The lines below it.
    shown: Vec<&'t str>,
}

/// Splits a transcript into its commands.
fn steps(lines: &[String]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for line in lines {
        match steps.last_mut() {
            Some(step) if line.starts_with("> ") && step.shown.is_empty() => step.typed.push(line),
            _ if line.starts_with("$ ") => steps.push(Step { typed: vec![line], shown: Vec::new() }),
            Some(step) => step.shown.push(line),
            None => panic!("a transcript begins with a command: {line}"),
        }
    }
    steps
}

/// A terminal in which a document is followed: a folder with copies of the demo and the examples, and the server if one was started.
struct Terminal {
    /// The folder.
    folder: TempDir,
    /// The port that is used in place of the documents' one.
    port: u16,
    /// The server.
    server: Option<Child>,
}

impl Terminal {
    /// A new one.
    fn open() -> Terminal {
        let folder = tempfile::tempdir().expect("a folder");
        for part in COPIED {
            copy(&support::root().join(part), &folder.path().join(part));
        }
        // As many digits as the documents' port has, so that lines are broken alike; another one for each terminal, and
        // for most processes.
        let tried = std::iter::repeat_with(|| {
            let number = TRIED_PORTS.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id());
            u16::try_from(2000 + number % 8000).expect("four digits fit")
        });
        let port = tried.take(8000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
        Terminal { folder, port: port.expect("a port is free"), server: None }
    }

    /// A shell for a command, which begins as the documents' reader does.
    fn shell(&self, typed: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_zonewright"));
        let mut path = vec![program.parent().expect("a program is in a folder").to_owned()];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let typed = typed.replace(BUILD, "zonewright ").replace(PORT, &self.port.to_string());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec 2>&1; {typed}")]).current_dir(self.folder.path());
        command.env("PATH", std::env::join_paths(path).expect("no path has a colon"));
        command.envs([("NO_COLOR", "1"), ("USER", "you"), ("LOGNAME", "you"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC")]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    /// Runs a command to its end, or a server until it serves; gives what it prints.
    fn run(&mut self, typed: &str) -> Vec<String> {
        let printed = if typed.contains(" serve ") {
            self.serve(typed)
        } else {
            let output = self.shell(typed).output().expect("there is a shell");
            String::from_utf8(output.stdout).expect("the output is text")
        };
        self.as_documented(&printed)
    }

    /// Starts the server; gives what it prints before it serves.
    fn serve(&mut self, typed: &str) -> String {
        let typed = format!("exec {typed} --listen 127.0.0.1:{PORT}");
        let mut server = self.shell(&typed).spawn().expect("there is a shell");
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let mut printed = String::new();
        for line in lines.by_ref() {
            let is_last = line.starts_with("Ctrl-C");
            printed.push_str(&line);
            printed.push('\n');
            if is_last {
                break;
            }
        }
        // What it says at its end must find a reader.
        std::thread::spawn(move || lines.count());
        self.server = Some(server);
        printed
    }

    /// Output as the documents have it: with their port and folder, and without digits that depend on these.
    fn as_documented(&self, printed: &str) -> Vec<String> {
        let folder = self.folder.path().display().to_string();
        let printed = printed.replace(&format!(":{}", self.port), &format!(":{PORT}")).replace(&folder, "/home/you");
        let mut parts = printed.split("sha256:");
        let mut plain = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            plain.push_str("sha256:");
            plain.push_str(OMISSION);
            plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
        }
        plain.trim_end().lines().map(str::to_owned).collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // It may have ended already.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// The runs of shown lines between omissions.
fn runs<'t>(shown: &'t [&'t str]) -> impl Iterator<Item = &'t [&'t str]> {
    shown.split(|line| *line == OMISSION).filter(|run| !run.is_empty())
}

/// Why shown lines are not what was printed; none where they are. Only where an omission says so may lines be missing.
fn fault(shown: &[&str], printed: &[String]) -> Option<String> {
    let mut from = 0;
    for (number, run) in runs(shown).enumerate() {
        let is_at = |at: usize| printed[at..].iter().zip(run).filter(|(own, line)| *own == *line).count() == run.len();
        let is_tied = number == 0 && shown[0] != OMISSION;
        let mut places = if is_tied { 0..1 } else { from..printed.len() };
        let Some(found) = places.find(|at| is_at(*at)) else {
            return Some(format!("not printed, or not in this order:\n{}", run.join("\n")));
        };
        from = found + run.len();
    }
    let is_whole = shown.last() == Some(&OMISSION) || from == printed.len();
    (!is_whole).then(|| format!("more was printed:\n{}", printed[from..].join("\n")))
}

/// How alike two lines are: first by the words that both have, then letter by letter.
fn likeness(a: &str, b: &str) -> (usize, Reverse<usize>) {
    let words = |line: &str| -> BTreeSet<String> {
        let parts = line.split(|c: char| !(c.is_alphanumeric() || ".:-_".contains(c)));
        parts.filter(|word| word.len() > 1).map(str::to_owned).collect()
    };
    let (a_words, b_words) = (words(a), words(b));
    let shared = 1000 * a_words.intersection(&b_words).count() / a_words.union(&b_words).count().max(1);
    (shared, Reverse(strsim::levenshtein(a, b)))
}

/// The place of the printed line that is most like a shown one, the first of several.
fn most_like(line: &str, printed: &[String]) -> usize {
    (0..printed.len()).rev().max_by_key(|at| likeness(line, &printed[*at])).unwrap_or_default()
}

/// The shown lines anew, from what is printed now.
fn anew(shown: &[&str], printed: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut from = 0;
    if shown.first() == Some(&OMISSION) {
        lines.push(OMISSION.to_owned());
    }
    let number_of_runs = runs(shown).count();
    for (number, run) in runs(shown).enumerate() {
        let is_tied = number == 0 && shown[0] != OMISSION;
        let is_last = number + 1 == number_of_runs && shown.last() != Some(&OMISSION);
        let rest = &printed[from.min(printed.len())..];
        let first = if is_tied { 0 } else { most_like(run[0], rest) };
        let behind = &rest[first.min(rest.len())..];
        // What is shown does not grow much: else one common word far below would take in all that is between.
        let near = &behind[..behind.len().min(2 * run.len() + 2)];
        let length = if is_last { behind.len() } else { most_like(run[run.len() - 1], near) + 1 };
        lines.extend(behind.iter().take(length).cloned());
        from += first + length;
        if number + 1 < number_of_runs || shown.last() == Some(&OMISSION) {
            lines.push(OMISSION.to_owned());
        }
    }
    lines
}

/// Follows a document; asserts what its transcripts show, or writes them anew.
pub fn follow(file: &str) {
    let path: PathBuf = support::root().join(file);
    let document = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut terminal = Terminal::open();
    let mut written = String::new();
    let mut faults = Vec::new();
    let mut count = 0;
    for part in parts(&document) {
        let lines = match part {
            Part::Text(text) => {
                written.push_str(&text);
                continue;
            }
            Part::Transcript(lines) => lines,
        };
        for step in steps(&lines) {
            count += 1;
            let typed: Vec<&str> = step.typed.iter().map(|line| &line[2..]).collect();
            let printed = terminal.run(&typed.join("\n"));
            let found = fault(&step.shown, &printed);
            faults.extend(found.map(|fault| format!("{file}: {}\n{fault}\n", step.typed.join("\n"))));
            let shown = anew(&step.shown, &printed);
            written.extend(step.typed.iter().map(|line| format!("{line}\n")));
            written.extend(shown.iter().map(|line| format!("{line}\n")));
        }
    }
    assert!(count > 0, "{file} has no transcript");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, written).expect("the document can be written")
    } else {
        assert!(faults.is_empty(), "{}UPDATE_DOCS=1 writes them anew", faults.join("\n"))
    }
}

#[test]
fn omissions_stand_for_any_lines_and_nothing_else_may_differ() {
    let printed: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    for shown in [&["a", "b", "c", "d"][..], &["a", OMISSION], &[OMISSION, "d"], &["a", OMISSION, "c", OMISSION]] {
        assert_eq!(fault(shown, &printed), None, "{shown:?}");
        assert_eq!(anew(shown, &printed), shown, "{shown:?}");
    }
    for shown in [&["a", "b", "c"][..], &["b", OMISSION], &["a", OMISSION, "c"], &[OMISSION, "c", OMISSION, "b"]] {
        assert!(fault(shown, &printed).is_some(), "{shown:?}");
    }
    assert_eq!(anew(&["a", OMISSION, "cc", OMISSION], &printed), ["a", OMISSION, "c", OMISSION]);
}
