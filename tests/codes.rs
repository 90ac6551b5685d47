//! The pages of docs/codes and the program say the same: every code that is printed has one page, every page is of a
//! code that is printed, examples are what is printed, and `zonewright help` finds them.

#[expect(dead_code, reason = "this file starts the binary itself")]
mod support;

#[path = "support/no_codes.rs"]
mod no_codes;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use no_codes::NO_CODES;
use zonewright::apply::OutcomeCode;
use zonewright::change::{BlockCode, NoticeCode, Rule, SkipCode};
use zonewright::codes::{self, CodeKind, CodePage, families, pages};
use zonewright::consensus::ServerFault;
use zonewright::drift::Mover;
use zonewright::names::NameCode;
use zonewright::plan::{CauseKind, ChangeClass, WaitCode};

/// The columns of what is no terminal.
const COLUMNS: usize = 80;

/// Texts of several words in other rooms that are written as codes are, and are none.
const OTHERS: &[&str] = &[
    "adds-after-deletes",
    "aws-access-key-id",
    "aws-secret-access-key",
    "below-dname",
    "by-location",
    "by-project",
    "by-wave",
    "cat-file",
    "check-config",
    "check-dns",
    "check-names",
    "cms-check",
    "cms-clean",
    "content-length",
    "delete-unknown-task",
    "deleted-task",
    "etcd-password",
    "eui-64",
    "force-unlock",
    "from-dns",
    "gave-up",
    "get-zones",
    "ignore-name",
    "ignore-ttl-change",
    "in-addr",
    "in-process",
    "kebab-case",
    "kube-api-request-timeout",
    "metrics-address",
    "left-out",
    "limits-used",
    "lost-answer",
    "ls-files",
    "ls-tree",
    "max-records",
    "memory",
    "not-answered",
    "own-a",
    "project-id",
    "read-back",
    "records-and-ttl",
    "refuse-cname-clash",
    "render-endpoints",
    "render-external-dns",
    "replace-me",
    "rev-parse",
    "rfc2136-tsig-secret",
    "serial-step",
    "state-init",
    "to-be-deleted",
    "too-long",
    "too-old",
    "transfer-encoding",
    "unknown-task",
    "without-token",
    "wrong-hosts",
    "wrong-task",
    "zone-file",
];

/// The file whose texts are the names of parameters of external-dns.
const PARAMETER_NAMES: &str = "src/inventory/parameter_name.rs";

/// The share of an example's words that the source which is named must have: the rest are values.
const SHARE: f64 = 0.4;

/// The text before a literal of one word that is a code.
const CALLS: [&str; 7] = ["error(", "warning(", "finding(", "Problem::new(", "Code::new(", "code: ", "code(\""];

/// The root of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the built binary, as something that is no terminal.
fn zonewright(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zonewright"));
    command.args(args).env("COLUMNS", COLUMNS.to_string()).current_dir(root());
    command.output().expect("the binary was built for this test")
}

/// The standard output of a run that succeeds.
fn printed(args: &[&str]) -> String {
    let output = zonewright(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The sources without tests, fixtures and comments.
fn sources() -> Vec<(PathBuf, String)> {
    let is_test = |path: &PathBuf| {
        let inside = path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
        let is_of_tests = ["tests", "fixture", "simulation"].iter().any(|word| inside.contains(word));
        is_of_tests || inside == PARAMETER_NAMES || !inside.ends_with(".rs")
    };
    let paths = files(&root().join("src")).into_iter().filter(|path| !is_test(path));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source can be read");
        let code = text.split("mod tests {").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        (path, lines.collect::<Vec<_>>().join("\n"))
    };
    paths.map(read).collect()
}

/// Whether a text is of lower-case letters and digits, in `words` words at least with hyphens between them.
fn is_code(text: &str, words: usize) -> bool {
    let plain = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.split('-').count() >= words && text.split('-').all(plain) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The codes in a source: texts of several words, and those of one word that are given to what makes an error.
fn codes_in(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let parts: Vec<&str> = code.split('"').collect();
    for pair in parts.windows(2) {
        let (before, text) = (pair[0], pair[1]);
        let statement = before.rsplit([';', '{', '}']).next().unwrap_or_default();
        let is_given = CALLS.iter().any(|call| {
            statement.rsplit_once(call).is_some_and(|(_, between)| !between.contains(')') && !between.contains('='))
        });
        if is_code(text, 2) || is_code(text, 1) && is_given && before.trim_end().ends_with([',', '(', ':']) {
            found.insert(text.to_owned());
        }
    }
    let marked = ["error[", "warning["].into_iter().flat_map(|start| code.split(start).skip(1));
    found.extend(marked.filter_map(|rest| rest.split_once(']')).map(|(code, _)| code.to_owned()));
    found.retain(|code| is_code(code, 1) && !NO_CODES.iter().chain(OTHERS).any(|own| own == code));
    found
}

/// The words of all enums of codes, with the kind of each.
fn enumerated() -> Vec<(CodeKind, &'static str)> {
    let mut all: Vec<(CodeKind, &str)> = Vec::new();
    all.extend(Rule::ALL.iter().map(|code| (CodeKind::Rule, code.as_str())));
    all.extend(BlockCode::ALL.iter().map(|code| (CodeKind::Block, code.as_str())));
    all.extend(SkipCode::ALL.iter().map(|code| (CodeKind::Skip, code.as_str())));
    all.extend(NoticeCode::ALL.iter().map(|code| (CodeKind::Notice, code.as_str())));
    all.extend(NameCode::ALL.iter().map(|code| (CodeKind::Names, code.code())));
    all.extend(OutcomeCode::ALL.iter().map(|code| (CodeKind::Outcome, code.as_str())));
    all.extend(WaitCode::ALL.iter().map(|code| (CodeKind::Wait, code.as_str())));
    all.extend(CauseKind::ALL.iter().map(|code| (CodeKind::Cause, code.as_str())));
    all.extend(ChangeClass::ALL.iter().map(|code| (CodeKind::Class, code.as_str())));
    all.extend(ServerFault::ALL.iter().map(|code| (CodeKind::ServerFault, code.as_str())));
    all.extend(Mover::ALL.iter().map(|code| (CodeKind::Drift, code.as_str())));
    all
}

#[test]
fn every_code_of_the_sources_has_a_page() {
    let described: BTreeSet<&str> = pages().map(|page| page.code).collect();
    let (mut count, mut missing) = (0, Vec::new());
    for (path, code) in sources() {
        let found = codes_in(&code);
        count += found.len();
        let lacks = found.into_iter().filter(|code| !described.contains(code.as_str()));
        missing.extend(lacks.map(|code| format!("{}: `{code}`", path.display())));
    }
    assert!(missing.is_empty(), "docs/codes does not explain these codes:\n{}", missing.join("\n"));
    assert!(count > 250, "{count}");
}

#[test]
fn every_page_is_of_a_code_that_is_printed() {
    let all: String = sources().into_iter().map(|(_, code)| code).collect();
    for CodePage { code, .. } in pages() {
        let literal = [format!("\"{code}\""), format!("[{code}]")];
        assert!(
            literal.iter().any(|literal| all.contains(literal)),
            "docs/codes explains `{code}`, which nothing prints"
        );
    }
}

#[test]
fn kinds_are_those_of_the_enums() {
    let enumerated = enumerated();
    for (kind, code) in &enumerated {
        let page = codes::find(code).unwrap_or_else(|| panic!("docs/codes does not explain `{code}`"));
        assert!(page.kinds.contains(kind), "`{code}` is {}", kind.says());
    }
    let kinds: BTreeSet<&str> = enumerated.iter().map(|(kind, _)| kind.as_str()).collect();
    for page in pages() {
        for kind in page.kinds.iter().filter(|kind| kinds.contains(kind.as_str())) {
            assert!(enumerated.contains(&(*kind, page.code)), "`{}` is not {}", page.code, kind.says());
        }
    }
}

/// Whether `lines` has all lines of an example after one another, indented by some width more.
fn holds(lines: &[&str], example: &[&str]) -> bool {
    lines.windows(example.len()).any(|window| {
        let indent = window[0].len().checked_sub(example[0].len());
        let is_line = |indent: usize, (line, wanted): (&&str, &&str)| {
            line.is_empty() && wanted.is_empty()
                || line.is_char_boundary(indent) && line[..indent].trim().is_empty() && line[indent..] == **wanted
        };
        indent.is_some_and(|indent| {
            window.iter().zip(example).all(|pair| pair.0.len() >= indent && is_line(indent, pair))
        })
    })
}

/// The share of a message's words, without values, that a source has in runs of two or more.
fn share_held(message: &str, source: &str) -> f64 {
    let message = message.split(" (os error").next().unwrap_or(message);
    let words: Vec<&str> = message.split_whitespace().collect();
    let mut held = vec![false; words.len()];
    for from in 0..words.len() {
        let ends = (from + 2..=words.len()).take_while(|to| source.contains(&words[from..*to].join(" ")));
        ends.for_each(|to| held[from..to].fill(true));
    }
    let is_value = |word: &str| word.contains(|c: char| c.is_ascii_digit() || c == '`');
    let counted: Vec<bool> = words.iter().zip(held).filter(|(word, _)| !is_value(word)).map(|(_, held)| held).collect();
    counted.iter().filter(|held| **held).count() as f64 / counted.len().max(1) as f64
}

#[test]
fn examples_are_what_is_printed() {
    let expected: Vec<String> = files(&root().join("tests/cases"))
        .into_iter()
        .filter(|path| path.ends_with("expect/stdout") || path.ends_with("expect/stderr"))
        .map(|path| fs::read_to_string(path).expect("an expectation can be read"))
        .collect();
    let expected: Vec<Vec<&str>> = expected.iter().map(|text| text.lines().collect()).collect();
    assert!(expected.len() > 300, "{}", expected.len());
    let mut failures = Vec::new();
    for CodePage { code, example, source, .. } in pages() {
        let is_shown = expected.iter().any(|lines| holds(lines, example));
        let Some(source) = source else {
            if !is_shown {
                failures.push(format!("`{code}`: no test case prints its example"));
            }
            continue;
        };
        if is_shown {
            failures.push(format!("`{code}`: a test case prints its example; the comment above it is to go"));
        }
        let text = fs::read_to_string(root().join(source)).unwrap_or_else(|error| panic!("{source}: {error}"));
        let code_alone: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let text = code_alone.join("\n").replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let message = example[0].split_once("]: ").map_or(example[0], |(_, message)| message);
        let is_marked = text.contains(&format!("error[{code}]"));
        if share_held(message, &text) < SHARE && !is_marked {
            failures.push(format!("`{code}`: {source} does not say `{message}`"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_index_names_every_code_once() {
    let index = fs::read_to_string(root().join("docs/codes/README.md")).expect("the index can be read");
    for family in families() {
        assert!(index.contains(&format!("[{}]({})", family.title, family.file)), "{}", family.file);
        for CodePage { code, kinds, .. } in &family.pages {
            let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            let line = format!("- [`{code}`]({}#{code}): {}", family.file, kinds.join(", "));
            assert_eq!(index.lines().filter(|own| *own == line).count(), 1, "docs/codes/README.md lacks: {line}");
        }
    }
    let listed = index.lines().filter(|line| line.starts_with("- ")).count();
    assert_eq!(listed, pages().count(), "docs/codes/README.md names what there is not");
    let of_files = fs::read_dir(root().join("docs/codes")).expect("the folder is there").count();
    assert_eq!(of_files, families().len() + 1, "a file of docs/codes is not part of the program");
}

/// The pieces of a text between its links, and the words of these.
fn without_links(text: &str) -> Vec<&str> {
    let Some((before, behind)) = text.split_once("](") else { return vec![text] };
    let (before, words) = before.rsplit_once('[').expect("a link begins");
    let (_, behind) = behind.split_once(')').expect("a link ends");
    [before, words].into_iter().chain(without_links(behind)).collect()
}

#[test]
fn help_prints_the_page_of_every_code() {
    for page in pages() {
        let text = printed(&["help", page.code]);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for piece in
            [&page.means, &page.advice].into_iter().chain(&page.in_a_cloud).flat_map(|part| without_links(part))
        {
            assert!(flat.contains(piece.trim()), "{piece}\n{text}");
        }
        assert!(!text.contains("]("), "the marks of a link: {text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS, "help {}: {line}", page.code);
        }
    }
}

/// The providers of clouds, and what they share.
const OF_CLOUDS: [&str; 5] = ["aws", "azure_dns", "cloudmap", "entra", "route53"];

#[test]
fn every_error_of_a_cloud_says_what_to_do_there() {
    // What is wrong with a setting is the same for all targets.
    let of_settings: BTreeSet<&str> =
        families().iter().filter(|family| family.file == "settings.md").flat_map(codes_of).collect();
    let outage = fs::read_to_string(root().join("src/provider/outage.rs")).expect("a source");
    let of_cloud = outage.split_once("pub fn of_cloud").and_then(|(_, rest)| rest.split_once("\n}\n"));
    let mut texts = vec![of_cloud.expect("the function").0.to_owned()];
    for folder in OF_CLOUDS {
        let folder = root().join("src/provider").join(folder);
        for entry in fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|own| own == "rs") {
                texts.push(fs::read_to_string(&path).expect("a source"));
            }
        }
    }
    let shown = |page: &&CodePage| texts.iter().any(|text| text.contains(&format!("\"{}\"", page.code)));
    let is_error = |page: &&CodePage| page.kinds.contains(&CodeKind::Error);
    let of_clouds: Vec<&CodePage> =
        pages().filter(is_error).filter(shown).filter(|page| !of_settings.contains(page.code)).collect();
    assert!(of_clouds.len() > 10, "{}", of_clouds.len());
    let without: Vec<&str> = of_clouds.iter().filter(|page| page.in_a_cloud.is_none()).map(|page| page.code).collect();
    assert!(without.is_empty(), "`zonewright help` does not say what to do in a cloud: {without:?}");
}

/// The codes of a family.
fn codes_of(family: &codes::CodeFamily) -> impl Iterator<Item = &'static str> {
    family.pages.iter().map(|page| page.code)
}

#[test]
fn help_takes_codes_as_they_are_pasted() {
    let page = printed(&["help", "not-a-64"]);
    for pasted in
        ["error[not-a-64]", "`not-a-64`", "NOT-A-64:", "racktables/l3-tors.txt:18:16: error[not-a-64]: no /64"]
    {
        assert_eq!(printed(&["help", pasted]), page, "{pasted}");
    }
    assert_eq!(printed(&["help", "not", "a", "64"]), page);
    assert_eq!(printed(&["help", "wrong", "PTR"]), printed(&["help", "wrong-ptr"]));
    assert!(printed(&["--color", "always", "help", "not-a-64"]).contains('\u{1b}'));
}

#[test]
fn help_of_a_command_is_what_the_command_says_of_itself() {
    assert_eq!(printed(&["help"]), printed(&["--help"]));
    assert!(printed(&["help"]).contains("help codes"));
    for words in [&["plan"][..], &["state", "init"], &["check-dns"], &["help"]] {
        let asked: Vec<&str> = ["help"].iter().chain(words).copied().collect();
        let own: Vec<&str> = words.iter().chain(&["--help"]).copied().collect();
        assert_eq!(printed(&asked), printed(&own));
    }
    let both = printed(&["help", "drift"]);
    assert!(both.starts_with(&printed(&["drift", "--help"])) && both.contains("\ndrift: a cause"), "{both}");
}

#[test]
fn help_lists_all_codes() {
    let text = printed(&["help", "codes"]);
    for page in pages() {
        assert!(text.lines().any(|line| line.trim() == page.code), "{}", page.code);
    }
    for line in text.lines() {
        assert!(line.chars().count() <= COLUMNS, "{line}");
    }
}

#[test]
fn a_word_that_is_nothing_gets_suggestions_and_fails() {
    for (word, near) in
        [("not-a-65", "`not-a-64`"), ("plam", "`plan`"), ("sourcecut", "`source-cut`"), ("tsig", "`tsig-bad-")]
    {
        let output = zonewright(&["help", word]);
        let says = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{word}");
        assert!(says.contains("did you mean") && says.contains(near), "{says}");
    }
    for word in ["zzzzzzzzzz", "", "-", "ä", "\u{7f}\u{202e}", "error[", "]", "plan nothing", "%s%n"] {
        let output = zonewright(&["help", "--", word]);
        let says = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{word:?}: {says}");
        assert!(says.starts_with("error: ") && !says.contains("panicked"), "{says}");
    }
}

/// Runs a command on a terminal of 60 columns, and prints what it shows there.
const TERMINAL: &str = r#"
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    sys.stdin.readline()
    os.environ.pop("NO_COLOR", None)
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))
os.write(terminal, b"\n")
shown = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
"#;

/// What a command shows on a terminal of 60 columns; none where there is no Python.
fn on_terminal(args: &[&str]) -> Option<String> {
    let Some(python) = support::python() else {
        support::skip("no Python 3.11 or later, which has terminals to try on");
        return None;
    };
    let mut command = Command::new(python);
    command.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_zonewright")]).args(args).current_dir(root());
    let output = command.output().expect("Python is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).replace('\r', ""))
}

#[test]
fn a_page_fits_the_terminal_and_has_its_emphasis() {
    let Some(shown) = on_terminal(&["help", "not-a-64"]) else { return };
    assert!(shown.contains("\u{1b}[1mMeans"), "{shown:?}");
    let plain = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    let widest = plain.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| widest > 50 && widest <= 60), "{plain}");
}

#[test]
fn findings_at_a_terminal_end_with_where_codes_are_explained() {
    let says = "`zonewright help CODE` explains a code";
    let check = ["-C", "inventory", "--now", "2026-11-20T02:00:00Z", "check"];
    let Some(shown) = on_terminal(&check) else { return };
    assert_eq!(shown.matches(says).count(), 1, "{shown}");
    let quiet = on_terminal(&[&check[..], &["-q"]].concat()).expect("Python was there");
    assert!(quiet.contains("error[") && !quiet.contains(says), "{quiet}");
    let piped = zonewright(&check);
    assert!(!String::from_utf8_lossy(&piped.stderr).contains(says), "a pipeline is spared it");
}
