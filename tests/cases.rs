//! The built binary in small workspaces: every folder in `tests/cases` but `_base` is one case.
//!
//! A case holds only what differs from `_base`, a small healthy workspace, and what the binary says of it:
//!
//! | file | meaning |
//! |---|---|
//! | `inventory/` | files that replace those of the workspace, or are added |
//! | `live/` | zone files, the same for `zones/` |
//! | `edits` | `@ FILE`, then lines `- OLD` that the file holds once, and `+ NEW` in their place; `+` alone adds lines at the end |
//! | `remove` | files to remove, one a line |
//! | `then` | edits as in `edits`, made after the first command |
//! | `env` | environment variables, `NAME=VALUE` one a line: `COLUMNS=60` prints for a narrow terminal |
//! | `args` | arguments, one a line; `--then--` begins another command; `plan -v` as of [`NOW`] where there is no such file |
//! | `expect/stdout`, `expect/stderr` | what is printed; nothing where there is no such file |
//! | `expect/exit` | the exit codes, one a command; 0 where there is no such file |
//! | `expect/names.lock` | names.lock after the last command; as it was before the first where there is no such file |
//!
//! Every case is run, and all that differ are reported. `UPDATE_CASES=1 cargo test --test cases` writes down what the
//! binary says; the developer then checks the difference by eye.

#[path = "support/no_codes.rs"]
mod no_codes;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use no_codes::NO_CODES;
use similar::TextDiff;
use zonewright::names::NameCode;

/// The clock of all cases that do not set their own: an hour after the reports of the base.
const NOW: &str = "2026-11-20T02:00:00Z";

/// What separates the commands of a case.
const THEN: &str = "--then--";

/// What a case may hold in addition to `expect`.
const PARTS: [&str; 8] = ["inventory", "live", "edits", "remove", "then", "env", "args", "expect"];

#[test]
fn every_case_prints_what_it_expects() {
    let update = is_update();
    let mut failures = String::new();
    let cases = cases();
    for case in &cases {
        let name = case.file_name().expect("a case has a name").to_string_lossy();
        let outcome = run(case).and_then(|found| if update { found.write(case) } else { found.compare(case) });
        if let Err(failure) = outcome {
            let _ = writeln!(failures, "--- {name}\n{failure}");
        }
    }
    assert!(cases.len() > 50, "only {} cases were found", cases.len());
    assert!(
        failures.is_empty(),
        "\n{failures}\nIf this is right, write it down: UPDATE_CASES=1 cargo test --test cases"
    );
}

/// Whether what the binary says is to be written down.
fn is_update() -> bool {
    std::env::var_os("UPDATE_CASES").is_some()
}

/// The rooms whose diagnostics are about input.
const ROOMS: [&str; 4] = ["src/guard", "src/inventory", "src/provider", "src/snapshot"];

/// The file whose texts are the names of parameters of external-dns.
const PARAMETER_NAMES: &str = "inventory/parameter_name.rs";

/// The codes that no case shows, each with the reason. All of them have tests next to the code, or in `tests/servers`.
const UNSHOWN: &[(&str, &str)] = &[
    ("api-denied", NEEDS_A_SERVER),
    ("api-failed", NEEDS_A_SERVER),
    ("bad-message", NEEDS_A_SERVER),
    ("changed-while-read", "it needs a writer at the same moment"),
    ("file-not-synced", NEEDS_A_FAULT),
    ("file-not-written", NEEDS_A_FAULT),
    ("file-too-large", "it takes a file of a mebibyte"),
    ("include-limit", "it takes ten thousand lines"),
    ("no-credentials", NEEDS_A_SERVER),
    ("outcome-unknown", NEEDS_A_SERVER),
    ("query-refused", NEEDS_A_SERVER),
    ("read-limit", NEEDS_A_SERVER),
    ("reload-failed", "text says how long a write took, so its case prints JSON"),
    ("secret-exposed", "it depends on the mode of a file, which version control does not keep"),
    ("server-failure", NEEDS_A_SERVER),
    ("soa-changed", NEEDS_A_SERVER),
    ("too-many-errors", "it takes a thousand lines"),
    ("transfer-cut", NEEDS_A_SERVER),
    ("transfer-refused", NEEDS_A_SERVER),
    ("tsig-bad-key", NEEDS_A_SERVER),
    ("tsig-bad-sig", NEEDS_A_SERVER),
    ("tsig-bad-time", NEEDS_A_SERVER),
    ("tsig-unsigned", NEEDS_A_SERVER),
    ("update-cut", NEEDS_A_SERVER),
    ("update-not-implemented", NEEDS_A_SERVER),
    ("update-refused", NEEDS_A_SERVER),
    ("update-rejected", NEEDS_A_SERVER),
    ("update-too-large", NEEDS_A_SERVER),
    ("zone-not-deleted", NEEDS_A_SERVER),
    ("zone-not-made", NEEDS_A_SERVER),
    ("zone-not-served", NEEDS_A_SERVER),
];

/// Why a case cannot show what goes wrong with a server.
const NEEDS_A_SERVER: &str = "it takes a server";

/// Why a case cannot show what goes wrong with a disk.
const NEEDS_A_FAULT: &str = "it takes a disk that fails";

#[test]
fn every_code_has_a_case() {
    if is_update() {
        return; // The other test is writing what this one reads.
    }
    let mut shown = BTreeSet::new();
    for case in cases() {
        for part in ["stdout", "stderr"] {
            let text = fs::read_to_string(case.join("expect").join(part)).unwrap_or_default();
            shown.extend(bracketed(&text).map(str::to_owned));
            shown.extend(refused(&text));
        }
    }
    let mut missing: BTreeSet<String> = codes().difference(&shown).cloned().collect();
    let names = NameCode::ALL.iter().map(|code| format!("{REFUSED}{code}"));
    missing.extend(names.filter(|code| !shown.contains(code)));
    for &(code, reason) in UNSHOWN {
        assert!(missing.remove(code), "`{code}` has a case, or is no longer a code: it was excepted because {reason}");
    }
    assert!(missing.is_empty(), "no case shows {missing:?}");
}

/// The codes in rendered diagnostics: `error[CODE]: `.
fn bracketed(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (before, rest) = line.split_once('[')?;
        let (code, _) = rest.split_once("]: ")?;
        (before.ends_with("error") || before.ends_with("warning")).then_some(code)
    })
}

/// What begins the codes for which a host got no name, or kept it: some of them are codes of diagnostics too.
const REFUSED: &str = "names: ";

/// The codes for which hosts got no name, or kept it: lines such as `CODE: MESSAGE: host 101`.
fn refused(text: &str) -> impl Iterator<Item = String> {
    let starts = |code: &NameCode| text.lines().any(|line| line.starts_with(&format!("{code}: ")));
    NameCode::ALL.iter().filter(move |code| starts(code)).map(|code| format!("{REFUSED}{code}"))
}

/// All codes of diagnostics in the sources: all quoted words there that are written as codes are.
fn codes() -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    for room in ROOMS {
        add_codes(&Path::new(env!("CARGO_MANIFEST_DIR")).join(room), &mut codes);
    }
    codes.retain(|code| !NO_CODES.contains(&code.as_str()));
    codes
}

/// Adds the codes in the files of a folder, except those of tests.
fn add_codes(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the entry can be read").path();
        if path.ends_with("tests") || path.ends_with("tests.rs") || path.ends_with(PARAMETER_NAMES) {
            continue;
        }
        if path.is_dir() {
            add_codes(&path, codes);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("the file can be read");
            let code = text.split("mod tests {").next().unwrap_or_default();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            codes.extend(lines.flat_map(|line| line.split('"')).filter(|text| is_code(text)).map(str::to_owned));
        }
    }
}

/// Whether a text is written as codes of several words are: lower case, with hyphens.
fn is_code(text: &str) -> bool {
    let words: Vec<&str> = text.split('-').collect();
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    words.len() > 1 && words.iter().all(|word| plain(word)) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The folders of all cases, sorted.
fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the folder of cases is there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut cases: Vec<PathBuf> = paths.filter(|path| *path != base()).collect();
    cases.sort();
    cases
}

/// Where the cases are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The workspace that every case starts from.
fn base() -> PathBuf {
    folder().join("_base")
}

/// What a case is refused for, or where it differs.
type Failure = String;

/// What the commands of a case print and write, and their exit codes.
#[derive(Default)]
struct Found {
    /// Standard output, the commands' parts separated by [`THEN`].
    stdout: String,
    /// Standard error, the same.
    stderr: String,
    /// The exit codes, one a line.
    exit: String,
    /// names.lock, before and after; empty where there is none.
    names_lock: (String, String),
}

/// Runs a case in a copy of its workspace.
fn run(case: &Path) -> Result<Found, Failure> {
    check_parts(case)?;
    let workspace = tempfile::tempdir().map_err(|error| error.to_string())?;
    lay_over(&base(), workspace.path())?;
    lay_over(&case.join("inventory"), workspace.path())?;
    lay_over(&case.join("live"), &workspace.path().join("zones"))?;
    edit(&read(&case.join("edits"))?, workspace.path())?;
    for file in read(&case.join("remove"))?.lines() {
        fs::remove_file(workspace.path().join(file)).map_err(|error| format!("remove: {file}: {error}"))?;
    }
    let names_lock = workspace.path().join("names.lock");
    let mut found = Found { names_lock: (read(&names_lock)?, String::new()), ..Found::default() };
    for (number, args) in commands(case)?.iter().enumerate() {
        if number > 0 {
            found.stdout += &format!("{THEN}\n");
            found.stderr += &format!("{THEN}\n");
        }
        let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
            .args(args)
            .current_dir(&workspace)
            .env("NO_COLOR", "1")
            .env_remove("RAYON_NUM_THREADS")
            .env("ZONEWRIGHT_WHO", "ops@desk")
            .env_remove("COLUMNS")
            .envs(variables(case)?)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        if number == 0 {
            edit(&read(&case.join("then"))?, workspace.path())?;
        }
        found.stdout += &plain(output.stdout, "standard output", workspace.path())?;
        found.stderr += &plain(output.stderr, "standard error", workspace.path())?;
        let code = output.status.code().ok_or_else(|| format!("the command was ended by {}", output.status))?;
        found.exit += &format!("{code}\n");
    }
    found.names_lock.1 = read(&names_lock)?;
    Ok(found)
}

/// Refuses a case with a part that the harness would ignore.
fn check_parts(case: &Path) -> Result<(), Failure> {
    let stray = |folder: &Path, known: &[&str]| {
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.map(|name| name.to_string_lossy().into_owned()).find(|name| !known.contains(&name.as_str()))
    };
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') {
        return Err("the name of a case is written in lower case, with hyphens".to_owned());
    }
    match stray(case, &PARTS).or_else(|| stray(&case.join("expect"), &["stdout", "stderr", "exit", "names.lock"])) {
        Some(stray) => Err(format!("a case has no part `{stray}`")),
        None => Ok(()),
    }
}

/// A text that may not be there.
fn read(file: &Path) -> Result<String, Failure> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        outcome => outcome.map_err(|error| format!("{}: {error}", file.display())),
    }
}

/// The environment variables that a case sets.
fn variables(case: &Path) -> Result<Vec<(String, String)>, Failure> {
    let split = |line: &str| {
        let pair = line.split_once('=').ok_or_else(|| format!("env: `{line}` is not `NAME=VALUE`"))?;
        Ok((pair.0.to_owned(), pair.1.to_owned()))
    };
    read(&case.join("env"))?.lines().map(split).collect()
}

/// The arguments of each command.
fn commands(case: &Path) -> Result<Vec<Vec<String>>, Failure> {
    let text = match read(&case.join("args"))? {
        text if text.is_empty() => format!("plan\n-v\n--now\n{NOW}\n"),
        text => text,
    };
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines.split(|line| *line == THEN).map(|args| args.iter().map(|arg| (*arg).to_owned()).collect()).collect())
}

/// Copies a folder over another, links as links; nothing where it is not there.
fn lay_over(from: &Path, to: &Path) -> Result<(), Failure> {
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    fs::create_dir_all(to).map_err(failed)?;
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            lay_over(&source, &copy)?;
        } else if kind.is_symlink() {
            // What a link takes the place of must go first.
            let _ = fs::remove_file(&copy);
            link(&fs::read_link(&source).map_err(failed)?, &copy).map_err(failed)?;
        } else {
            fs::copy(&source, &copy).map_err(failed)?;
        }
    }
    Ok(())
}

/// Makes a symbolic link.
#[cfg(unix)]
fn link(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Systems without such links as Unix has cannot run the cases that hold one.
#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Makes the edits of a case in its workspace.
fn edit(edits: &str, workspace: &Path) -> Result<(), Failure> {
    let mut lines = edits.lines().peekable();
    let mut file = None;
    while let Some(&line) = lines.peek() {
        if let Some(name) = line.strip_prefix("@ ") {
            file = Some(workspace.join(name));
            lines.next();
            continue;
        }
        let file = file.as_ref().ok_or("edits: the first line names no file: `@ FILE`")?;
        let mut take = |sign: char| {
            let mut block = String::new();
            while let Some(line) = lines.next_if(|line| line.starts_with(sign)) {
                block += line[1..].strip_prefix(' ').unwrap_or(&line[1..]);
                block.push('\n');
            }
            block
        };
        let (old, new) = (take('-'), take('+'));
        let text = fs::read_to_string(file).map_err(|error| format!("edits: {}: {error}", file.display()))?;
        let places: Vec<usize> =
            text.match_indices(&old).map(|(at, _)| at).filter(|at| begins_line(&text, *at)).collect();
        let edited = match (old.is_empty(), new.is_empty(), places.as_slice()) {
            (true, true, _) => return Err(format!("edits: `{line}` is no edit")),
            (true, false, _) => text + &new,
            (false, _, [at]) => [&text[..*at], &new, &text[at + old.len()..]].concat(),
            (false, _, places) => return Err(format!("edits: the file holds this {} times:\n{old}", places.len())),
        };
        fs::write(file, edited).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Whether a line of the text begins at an octet.
fn begins_line(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes()[at - 1] == b'\n'
}

/// What was printed, as text that is the same on every machine and that no terminal takes for commands.
fn plain(output: Vec<u8>, what: &str, workspace: &Path) -> Result<String, Failure> {
    let text = String::from_utf8(output).map_err(|_| format!("{what} is not UTF-8"))?;
    // Tabs are between the fields of names.lock.
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        Some(control) => Err(format!("{what} holds the control character {control:?}:\n{}", text.escape_debug())),
        None if text.contains(&*workspace.to_string_lossy()) => Err(format!("{what} names the folder:\n{text}")),
        None => Ok(without_work(&without_state_id(text))),
    }
}

/// The text with zeros for the id of the state, which each new state draws.
fn without_state_id(mut text: String) -> String {
    const KEY: &str = "\"id\": \"";
    const DIGITS: usize = 32;
    let is_id = |after: &str| {
        let (id, rest) = after.as_bytes().split_at_checked(DIGITS).unwrap_or_default();
        id.len() == DIGITS && id.iter().all(u8::is_ascii_hexdigit) && rest.first() == Some(&b'"')
    };
    let places: Vec<usize> = text.match_indices(KEY).map(|(place, _)| place + KEY.len()).collect();
    for place in places {
        if is_id(&text[place..]) {
            text.replace_range(place..place + DIGITS, &"0".repeat(DIGITS));
        }
    }
    text
}

/// The text with dashes for the updates and seconds that each zone took in an apply: they depend on the machine.
fn without_work(text: &str) -> String {
    let without = |line: &str| {
        let mut words = line.split_whitespace();
        let [updates, changes, seconds, zone] =
            [words.next(), words.next(), words.next(), words.next()].map(Option::unwrap_or_default);
        let is_number = |word: &str| word.parse::<u32>().is_ok();
        let is_work = is_number(updates) && is_number(changes) && seconds.parse::<f64>().is_ok() && zone.ends_with('.');
        match line.find(zone).filter(|_| is_work) {
            Some(place) => format!("{:>9}{changes:>9}{:>9}  {}", "-", "-", &line[place..]),
            None => line.to_owned(),
        }
    };
    text.split_inclusive('\n').map(without).collect()
}

impl Found {
    /// The files of `expect`, each with what it holds and what it would where it is not there.
    fn parts(&self) -> [(&'static str, &str, String); 4] {
        let zeros = "0\n".repeat(self.exit.lines().count());
        let (before, after) = &self.names_lock;
        [
            ("stdout", &self.stdout, String::new()),
            ("stderr", &self.stderr, String::new()),
            ("exit", &self.exit, zeros),
            ("names.lock", after, before.clone()),
        ]
    }

    /// Compares with what the case expects.
    fn compare(&self, case: &Path) -> Result<(), Failure> {
        let mut failure = String::new();
        for (part, found, default) in self.parts() {
            let file = case.join("expect").join(part);
            let expected = if file.exists() { read(&file)? } else { default };
            if expected != found {
                let diff = TextDiff::from_lines(expected.as_str(), found);
                let _ = write!(failure, "{}", diff.unified_diff().header(&format!("expect/{part}"), "found"));
            }
        }
        if failure.is_empty() { Ok(()) } else { Err(failure) }
    }

    /// Writes down what was found as what the case expects.
    fn write(&self, case: &Path) -> Result<(), Failure> {
        let failed = |error: std::io::Error| error.to_string();
        fs::create_dir_all(case.join("expect")).map_err(failed)?;
        for (part, found, default) in self.parts() {
            let file = case.join("expect").join(part);
            match found == default {
                true if file.exists() => fs::remove_file(file).map_err(failed)?,
                true => {}
                false => fs::write(file, found).map_err(failed)?,
            }
        }
        Ok(())
    }
}
