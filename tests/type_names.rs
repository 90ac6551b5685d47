//! A type's name says of what: `SubjectStanding`, `BatchOutcome`, not `Standing`, `Outcome`. No name is there twice in the
//! crate, and none is a participle alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders of these names hold tests.
const OF_TESTS: [&str; 3] = ["tests", "simulation", "fixture"];

/// What the tests inside a file begin with; they are at its end.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// The words before the name of a type.
const KEYWORDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];

/// What can be in front of them.
const VISIBILITIES: [&str; 4] = ["", "pub ", "pub(super) ", "pub(crate) "];

/// What declares an enum of words, whose name is on a line of its own.
const WORDS: &str = "words! {";

/// Participles that do not end in `ed`, and that are not nouns as well.
const IRREGULAR: &str = "Begun Bound Broken Brought Built Caught Chosen Cut Done Drawn Driven Fallen Foreseen \
    Forgotten Found Frozen Given Gone Grown Heard Held Hidden Kept Known Laid Led Left Lent Lost \
    Made Meant Met Paid Put Ran Read Said Seen Sent Shown Shut Sought Spent Split Spread Stuck \
    Swept Taken Taught Thought Thrown Told Torn Undone Unknown Unread Unseen Unsent Unwritten \
    Withdrawn Worn Written";

/// Words that end in `ed` and are no participles.
const NO_PARTICIPLES: [&str; 6] = ["Bed", "Feed", "Need", "Seed", "Shed", "Speed"];

/// A type that a file defines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TypeDefinition {
    /// Its name.
    name: String,
    /// The room of the file.
    room: String,
    /// The path of the file below `src`.
    file: String,
    /// Whether it is of tests, or inside a function or macro: no other file sees it.
    is_inner: bool,
}

/// The folder of the sources.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The types that the sources define.
fn all_definitions() -> Vec<TypeDefinition> {
    let of_file = |path: PathBuf| {
        let inside = path.strip_prefix(root()).expect("below src");
        let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
        definitions(&parts.join("/"), &fs::read_to_string(&path).expect("the file can be read"))
    };
    rust_files(&root()).into_iter().flat_map(of_file).collect()
}

/// The types that a file defines. An indented `type` is one of a trait or an `impl`, which is no name of its own.
fn definitions(file: &str, text: &str) -> Vec<TypeDefinition> {
    let room = file.split('/').next().unwrap_or_default();
    let is_of_tests = file.trim_end_matches(".rs").split('/').any(|part| OF_TESTS.contains(&part));
    let end = text.find(TESTS).unwrap_or(text.len());
    let mut found = Vec::new();
    let mut at = 0;
    // Whether the name of an enum of words comes.
    let mut has_words = false;
    for line in text.split_inclusive('\n') {
        let is_inner = is_of_tests || at >= end;
        at += line.len();
        let begun = line.trim();
        let is_indented = line.starts_with(' ');
        let name = defined(begun).filter(|_| !(is_indented && begun.contains("type ")));
        let word = begun.strip_suffix(" {").filter(|word| has_words && *word == ident(word));
        if let Some(name) = name.or(word.map(str::to_owned)) {
            let is_inner = is_inner || is_indented && word.is_none();
            found.push(TypeDefinition { name, room: room.to_owned(), file: file.to_owned(), is_inner });
            has_words = false;
        }
        has_words |= begun == WORDS;
    }
    found
}

/// The name of the type that a line defines, if it does.
fn defined(line: &str) -> Option<String> {
    let after = VISIBILITIES.iter().filter_map(|visibility| line.strip_prefix(visibility));
    let name = after.flat_map(|rest| KEYWORDS.iter().filter_map(|keyword| rest.strip_prefix(keyword))).next()?;
    Some(ident(name)).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// The identifier that a text begins with.
fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The names that are there twice, each with its files. What no other file sees may have the name of a type of its own
/// room, and that of another such type.
fn shared(definitions: &[TypeDefinition]) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<&TypeDefinition>> = BTreeMap::new();
    for definition in definitions.iter().filter(|definition| !definition.is_inner) {
        by_name.entry(&definition.name).or_default().push(definition);
    }
    for definition in definitions.iter().filter(|definition| definition.is_inner) {
        if let Some(others) = by_name.get_mut(&*definition.name).filter(|others| others[0].room != definition.room) {
            others.push(definition);
        }
    }
    let twice = by_name.into_iter().filter(|(_, there)| there.len() > 1);
    let files = |there: Vec<&TypeDefinition>| there.iter().map(|one| one.file.as_str()).collect::<Vec<_>>().join(", ");
    twice.map(|(name, there)| format!("`{name}` is in {}", files(there))).collect()
}

/// Whether a name is a participle alone.
fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(char::is_ascii_uppercase).count() == 1;
    let is_regular = name.ends_with("ed") && !NO_PARTICIPLES.contains(&name);
    is_one_word && (is_regular || IRREGULAR.split(' ').any(|word| word == name))
}

/// The participles among the names of types that other files see, each with its file.
fn participles(definitions: &[TypeDefinition]) -> Vec<String> {
    let seen = definitions.iter().filter(|definition| !definition.is_inner);
    let lone = seen.filter(|definition| is_participle(&definition.name));
    lone.map(|definition| format!("`{}` in {}", definition.name, definition.file)).collect()
}

#[test]
fn no_name_is_there_twice() {
    let definitions = all_definitions();
    assert!(definitions.len() > 1000, "the types are found");
    let found = shared(&definitions);
    assert!(found.is_empty(), "say in the name of what the type is:\n{}", found.join("\n"));
}

#[test]
fn no_name_is_a_participle_alone() {
    let found = participles(&all_definitions());
    assert!(found.is_empty(), "say in the name what is done to what:\n{}", found.join("\n"));
}

/// The types of made-up files, each with its path and its code.
fn definitions_of(files: &[(&str, &str)]) -> Vec<TypeDefinition> {
    files.iter().flat_map(|(path, text)| definitions(path, text)).collect()
}

#[test]
fn the_finder_finds_types() {
    let code = "//! A struct Not.\npub struct One<T>(T);\npub(super) enum Two {\n    A,\n}\ntype Three = u8;\n\
                impl Trait for One {\n    type Four = u8;\n}\nwords! {\n    /// Words.\n    #[derive(Default)]\n    Five {\n        \
                Six = \"six\",\n    }\n}\nfn f() {\n    struct Seven;\n}\n\n#[cfg(test)]\nmod tests {\n    trait Eight {}\n}\n";
    let found = definitions_of(&[("room/a.rs", code), ("room/a/tests.rs", "struct Nine;\n")]);
    let names: Vec<(&str, bool)> = found.iter().map(|one| (one.name.as_str(), one.is_inner)).collect();
    let inner = [("Seven", true), ("Eight", true), ("Nine", true)];
    assert_eq!(names, [&[("One", false), ("Two", false), ("Three", false), ("Five", false)][..], &inner].concat());
}

#[test]
fn the_finder_finds_names_that_are_there_twice() {
    let found = definitions_of(&[
        ("a/mod.rs", "struct Both;\nstruct Own;\nstruct Local;\n"),
        ("a/b.rs", "enum Both {}\n\nfn f() {\n    struct Own;\n}\n"),
        ("b/tests.rs", "struct Local;\nstruct Own2;\n"),
        ("c/tests.rs", "struct Own2;\n"),
    ]);
    assert_eq!(shared(&found), ["`Both` is in a/mod.rs, a/b.rs", "`Local` is in a/mod.rs, b/tests.rs"]);
}

#[test]
fn the_finder_finds_participles() {
    let code =
        "struct Judged;\nstruct Told;\nstruct JudgedPlan;\nstruct Seed;\nstruct Plan;\nfn f() {\n    struct Made;\n}\n";
    assert_eq!(participles(&definitions_of(&[("a/b.rs", code)])), ["`Judged` in a/b.rs", "`Told` in a/b.rs"]);
}
