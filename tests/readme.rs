//! What README and docs/ say is what the program does: its commands and flags, links, sections and codes. What they show of
//! its output is followed by tests/tour.rs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use zonewright::apply::OutcomeCode;
use zonewright::change::{BlockCode, NoticeCode, Rule, SkipCode};
use zonewright::names::NameCode;

/// The mark for lines that are left out.
const OMISSION: &str = "…";

/// What points from a message to a page that the program prints.
const POINTER: &str = "zonewright help ";

/// Documents that files of a workspace name, which `init` writes: they are read where the documents are.
const WRITTEN_BY_INIT: &str = "src/starter";

/// The documents that describe the keys of settings files.
const SETTINGS_PAGES: [&str; 5] =
    ["docs/workspace.md", "docs/netbox.md", "docs/targets.md", "docs/records.md", "docs/update-records.md"];

/// How many bytes README may have: what a newcomer reads in a few minutes.
const MAX_README_BYTES: usize = 8_000;

/// The root of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the project.
fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Runs the built binary at the root of the project; gives its standard output.
fn zonewright(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .args(args)
        .current_dir(root())
        .output()
        .expect("the binary was built for this test");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// All files with some ending below a folder.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the entry can be read").path();
        match path.is_dir() {
            true => found.extend(files(&path, ending)),
            false if path.extension().is_some_and(|own| own == ending) => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

/// The documents that people read.
fn documents() -> Vec<PathBuf> {
    let mut documents = files(&root().join("docs"), "md");
    documents
        .extend(["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "inventory/README.md"].map(|file| root().join(file)));
    documents
}

/// The parts of a text between two marks that do not nest.
fn between<'t>(text: &'t str, open: &'t str, close: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(open).skip(1).filter_map(move |rest| rest.split_once(close).map(|(inside, _)| inside))
}

/// A text without its fenced blocks.
fn without_fences(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        if !fence && !inside {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The headings of a document, without the marks before them.
fn headings(text: &str) -> Vec<String> {
    let text = without_fences(text);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| line.trim_start_matches('#').trim().to_owned()).collect()
}

/// The anchor that a heading gets: lower case, blanks as hyphens, and of the rest letters, digits, hyphens,
/// underscores.
///
/// As GitHub does it.
fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase().replace(' ', "-");
    lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// The command lines of zonewright that a document shows: lines that are indented or fenced, also behind a prompt, and
/// what is between backticks. A line with an omission does not count.
fn commands_shown(text: &str) -> BTreeSet<Vec<String>> {
    let text = text.replace("\\\n", " ").replace("\\|", "|");
    let mut inside = false;
    let mut shown: Vec<String> = Vec::new();
    for line in text.lines() {
        inside ^= line.trim_start().starts_with("```");
        if inside || line.starts_with("    ") {
            shown.push(line.trim_start().trim_start_matches("$ ").to_owned());
        }
    }
    // A span may go on in the next line of its paragraph.
    for paragraph in without_fences(&text).split("\n\n") {
        let joined = paragraph.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        shown.extend(joined.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    let starts = ["zonewright ", "cargo run --release -- ", "cargo run -- "];
    let of_line = |line: &String| starts.iter().find_map(|start| line.strip_prefix(start)).map(str::to_owned);
    let lines = shown.iter().filter_map(of_line).filter(|line| !line.contains(OMISSION));
    lines.map(|line| shell_words(&line)).collect()
}

/// The words of a command line as a shell splits them, up to what the shell does with the command. Of alternatives, as
/// in
/// `text|json`, the first is taken, and the brackets of what may be left out go.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        if "|>&;#<$(".contains(first) {
            break;
        }
        let quote = Some(first).filter(|first| "\"'".contains(*first));
        let (word, behind) = match quote {
            Some(quote) => rest[1..].split_once(quote).unwrap_or((&rest[1..], "")),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        let plain = word.split('|').next().unwrap_or(word).trim_matches(['[', ']', ';']);
        words.push(if quote.is_some() { word.to_owned() } else { plain.to_owned() });
        rest = behind.trim_start();
    }
    words
}

/// The first word of a text, of lower-case letters and hyphens.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_lowercase() || c == '-')).unwrap_or(text.len());
    &text[..end]
}

#[test]
fn readme_is_short_and_has_the_two_commands() {
    let readme = text("README.md");
    assert!(readme.len() <= MAX_README_BYTES, "README has {} bytes: what is too much belongs into docs/", readme.len());
    for command in ["cargo run --release -- -C inventory --now 2026-11-20T02:00:00Z plan", "ci/test"] {
        assert!(readme.contains(&format!("\n    {command}\n")), "README lacks `{command}`");
    }
}

#[test]
fn the_explanations_are_what_the_demo_gives() {
    let document = text("docs/explain.md");
    let mut count = 0;
    for example in between(&document, "```text\n$ zonewright ", "\n```") {
        let (command, shown) = example.split_once('\n').expect("a command comes before its output");
        let args: Vec<&str> = command.split(' ').chain(["-C", "inventory", "--now", "2026-11-20T02:00:00Z"]).collect();
        assert_eq!(zonewright(&args).trim_end(), shown, "docs/explain.md: zonewright {command}");
        count += 1;
    }
    assert_eq!(count, 3);
}

#[test]
fn every_command_is_described_and_no_other() {
    let help = zonewright(&["--help"]);
    let (_, listed) = help.split_once("Commands:\n").expect("the help lists the commands");
    let (listed, _) = listed.split_once("\n\n").expect("a blank line ends the list");
    let commands: Vec<&str> = listed.lines().map(|line| word(line.trim())).collect();
    assert!(commands.contains(&"plan"), "{commands:?}");
    let mut described = Vec::new();
    for document in documents() {
        let shown = document.display().to_string();
        let text = fs::read_to_string(document).expect("the document can be read");
        for command in between(&text, "`zonewright ", "`").map(word).filter(|command| !command.starts_with('-')) {
            assert!(commands.contains(&command), "{shown}: there is no `zonewright {command}`");
            described.push(command.to_owned());
        }
    }
    for command in commands.iter().filter(|command| **command != "help") {
        assert!(described.iter().any(|own| own == command), "no document describes `zonewright {command}`");
    }
}

#[test]
fn commands_in_the_documents_are_taken_by_the_program() {
    let mut failures = Vec::new();
    let mut count = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("the document can be read");
        for words in commands_shown(&text) {
            count += 1;
            // The words before `--help` are read first, and nothing is done.
            let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
                .args(&words)
                .arg("--help")
                .current_dir(root())
                .output()
                .expect("the binary was built for this test");
            let says = String::from_utf8_lossy(&output.stderr).into_owned();
            if !output.status.success() && !is_of_a_placeholder(&says) {
                failures.push(format!("{}: zonewright {}: {says}", document.display(), words.join(" ")));
            }
        }
    }
    assert!(count > 60, "{count}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether an argument is refused only since it is a placeholder in capitals, such as `ID` where a number belongs.
fn is_of_a_placeholder(says: &str) -> bool {
    let value = between(says, "invalid value '", "'").next();
    value.is_some_and(|value| {
        value.chars().any(|c| c.is_ascii_uppercase()) && !value.chars().any(|c| c.is_ascii_lowercase())
    })
}

#[test]
fn links_lead_to_files_and_headings() {
    for document in documents() {
        let own = without_fences(&fs::read_to_string(&document).expect("the document can be read"));
        for link in between(&own, "](", ")").filter(|link| !link.starts_with("http")) {
            let (path, wanted) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
            let target = match path {
                "" => document.clone(),
                path => document.parent().expect("a file has a folder").join(path),
            };
            assert!(target.exists(), "{}: {link} leads nowhere", document.display());
            let Some(wanted) = wanted else { continue };
            let headings = headings(&fs::read_to_string(&target).expect("a link with # leads to a text"));
            let found = headings.iter().any(|heading| anchor(heading) == wanted);
            assert!(found, "{}: {link} leads to no heading of {headings:?}", document.display());
        }
    }
}

#[test]
fn every_page_that_a_finding_names_is_in_the_program_and_leads_to_a_section() {
    let mut pointed = BTreeSet::new();
    let cases = fs::read_dir(root().join("tests/cases")).expect("the folder is there");
    let printed = cases.map(|case| case.expect("the entry can be read").path().join("expect/stderr"));
    for file in printed.chain(files(&root().join("src"), "rs")) {
        // Not every case prints findings.
        let text = fs::read_to_string(&file).unwrap_or_default();
        let is_code = |code: &&str| code.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-');
        pointed.extend(between(&text, &format!("({POINTER}"), ")").filter(is_code).map(str::to_owned));
    }
    assert!(pointed.len() > 20, "{pointed:?}");
    for code in pointed {
        let page = zonewright(&["help", &code]);
        assert!(page.contains("\nSee\n  docs/"), "{code}: {page}");
    }
}

#[test]
fn no_message_names_a_document_that_an_installed_program_lacks() {
    for file in files(&root().join("src"), "rs") {
        let shown = file.strip_prefix(root()).expect("below the root").display().to_string();
        let source = fs::read_to_string(&file).expect("a source can be read");
        let is_text = |line: &&str| !line.trim_start().starts_with("//") && !line.contains("include_str!");
        let named = source.lines().filter(is_text).find(|line| line.contains("(docs/"));
        assert!(named.is_none() || shown.starts_with(WRITTEN_BY_INIT), "{shown}: {named:?}");
    }
}

#[test]
fn every_code_of_a_plan_is_explained() {
    let rules = text("docs/rules.md");
    let codes = Rule::ALL.iter().map(|code| code.as_str());
    let codes = codes.chain(BlockCode::ALL.iter().map(|code| code.as_str()));
    let codes = codes.chain(SkipCode::ALL.iter().map(|code| code.as_str()));
    for code in codes.chain(NoticeCode::ALL.iter().map(|code| code.as_str())) {
        assert!(rules.contains(&format!("`{code}`")), "docs/rules.md does not explain `{code}`");
    }
}

#[test]
fn every_code_of_names_is_explained() {
    let names = text("docs/names.md");
    for code in NameCode::ALL {
        assert!(names.contains(&format!("\n| `{code}` |")), "docs/names.md does not explain `{code}`");
    }
}

#[test]
fn every_outcome_and_key_of_an_apply_is_explained() {
    let apply = text("docs/apply.md");
    for outcome in OutcomeCode::ALL {
        assert!(apply.contains(&format!("\n| `{outcome}` |")), "docs/apply.md does not explain `{outcome}`");
    }
    let schema: Value = serde_json::from_str(&zonewright(&["schema", "apply"])).expect("a schema is JSON");
    let mut keys = Vec::new();
    collect_keys(&schema, &mut keys);
    assert!(keys.len() > 20, "{keys:?}");
    for key in keys {
        assert!(apply.contains(&format!("`{key}`")), "docs/apply.md does not mention `{key}` of the document");
    }
}

#[test]
fn every_key_of_the_settings_is_documented() {
    let pages: String = SETTINGS_PAGES.iter().map(|page| without_fences(&text(page))).collect();
    let code: Vec<&str> = pages.split('`').skip(1).step_by(2).collect();
    for kind in ["config", "project"] {
        let schema: Value = serde_json::from_str(&zonewright(&["schema", kind])).expect("a schema is JSON");
        let mut keys = Vec::new();
        collect_keys(&schema, &mut keys);
        assert!(keys.len() > 8, "{keys:?}");
        for key in keys {
            let documented = code.iter().any(|code| code.split(|c| !is_key(c)).any(|own| own == key));
            assert!(documented, "{SETTINGS_PAGES:?} do not mention `{key}` of the schema `{kind}`");
        }
    }
}

/// Collects the names of all properties that a schema has.
fn collect_keys(schema: &Value, keys: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            fields.values().for_each(|value| collect_keys(value, keys));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}

/// Whether a character is allowed in a key.
fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a word is the name of a test, a part of one, or of a module of tests, in some files.
fn names_a_test(word: &str, files: &[PathBuf]) -> bool {
    files.iter().any(|file| {
        let path = file.to_string_lossy();
        let text = fs::read_to_string(file).expect("the file can be read");
        path.contains(word) || text.lines().any(|line| line.trim_start().starts_with("fn ") && line.contains(word))
    })
}

#[test]
fn every_test_that_a_document_names_exists() {
    let mut named = 0;
    for document in documents() {
        let told = fs::read_to_string(&document).expect("the document can be read");
        let spans = told.split('`').flat_map(|part| {
            if part.contains("\n\n") {
                part.lines().map(str::to_owned).collect()
            } else {
                vec![part.split_whitespace().collect::<Vec<_>>().join(" ")]
            }
        });
        for code in spans {
            let Some((_, args)) = code.split_once("cargo test ") else { continue };
            let args = args.split(" -- ").next().expect("a split has a first part");
            let words: Vec<&str> = args.split_whitespace().collect();
            let target = words.iter().position(|word| *word == "--test").map(|at| words[at + 1]);
            let files = match target {
                Some(target) => {
                    let folder = root().join("tests").join(target);
                    let mut files = if folder.is_dir() { files(&folder, "rs") } else { Vec::new() };
                    files.extend(Some(folder.with_extension("rs")).filter(|file| file.is_file()));
                    assert!(!files.is_empty(), "{}: there is no test `{target}`: {code}", document.display());
                    files
                }
                None => files(&root().join("src"), "rs"),
            };
            let filters = words.iter().filter(|word| !word.starts_with('-') && Some(**word) != target);
            for filter in filters {
                let last = filter.rsplit("::").next().expect("a split has a part");
                assert!(names_a_test(last, &files), "{}: no test is named `{filter}`: {code}", document.display());
            }
            named += 1;
        }
    }
    assert!(named > 20, "{named}");
}

#[test]
fn every_benchmark_that_a_document_names_exists() {
    let mut named = 0;
    for document in documents() {
        let told = fs::read_to_string(&document).expect("the document can be read");
        for command in between(&told, "`ci/bench ", "`").map(word).filter(|command| *command != "all") {
            let module = format!("ci/benchmark/{command}.py");
            assert!(root().join(&module).is_file(), "{}: there is no {module}", document.display());
            named += 1;
        }
    }
    assert!(named > 8, "{named}");
}
