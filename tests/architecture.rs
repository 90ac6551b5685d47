//! The order of the rooms in `src/lib.rs` is the architecture: a room imports only rooms above it, and a folder inside
//! a room never imports a sibling.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms in the order of `src/lib.rs`.
fn rooms() -> Vec<String> {
    let lib = fs::read_to_string(root().join("lib.rs")).expect("src/lib.rs is there");
    let names = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
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

/// A file's text without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the file can be read");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The first segments of all paths that begin with `prefix`, those of groups in braces too.
fn segments(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices(prefix) {
        let whole_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$');
        let rest = &code[at + prefix.len()..];
        if !whole_word {
            continue;
        }
        match rest.strip_prefix('{') {
            Some(group) => found.extend(group_segments(group)),
            None => {
                found.insert(ident(rest));
            }
        }
    }
    found.remove("");
    found
}

/// The identifier that a text begins with.
fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first segments inside a group, up to its closing brace.
fn group_segments(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(ident(group[start..at].trim_start()));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(ident(group[start..at].trim_start()));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

#[test]
fn rooms_import_only_rooms_above_them() {
    let rooms = rooms();
    assert!(rooms.len() > 8, "src/lib.rs lists the rooms: {rooms:?}");
    let mut faults = Vec::new();
    for (place, room) in rooms.iter().enumerate() {
        for file in rust_files(&root().join(room)) {
            for used in segments(&code(&file), "crate::") {
                match rooms.iter().position(|other| *other == used) {
                    Some(other) if other <= place => {}
                    _ => faults.push(format!("{} imports `{used}`, which is not above `{room}`", file.display())),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn folders_inside_a_room_do_not_import_each_other() {
    let mut faults = Vec::new();
    for room in rooms() {
        let folders: Vec<String> = fs::read_dir(root().join(&room))
            .expect("the room is a folder")
            .map(|entry| entry.expect("the entry can be read").path())
            // A folder next to a file of its name is the inside of that file, which joins its siblings.
            .filter(|path| path.is_dir() && !path.with_extension("rs").exists())
            .map(|path| path.file_name().expect("a folder has a name").to_string_lossy().into_owned())
            .collect();
        for folder in &folders {
            for file in rust_files(&root().join(&room).join(folder)) {
                let used = segments(&code(&file), &format!("crate::{room}::"));
                for sibling in folders.iter().filter(|other| *other != folder && used.contains(*other)) {
                    faults.push(format!("{} imports its sibling `{sibling}`", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_of_the_sources_belongs_to_a_room() {
    let rooms = rooms();
    for file in rust_files(&root()) {
        let inside = file.strip_prefix(root()).expect("below src").to_string_lossy().into_owned();
        let first = inside.split('/').next().expect("a path has a part");
        assert!(["lib.rs", "main.rs"].contains(&first) || rooms.iter().any(|room| room == first), "{inside}");
    }
}

#[test]
fn the_reader_of_imports_sees_groups() {
    let code = "use crate::{dns::Name, live::{A, B}, plan};\nlet x = crate::cli::main();\nnotcrate::foo";
    let found: Vec<String> = segments(code, "crate::").into_iter().collect();
    assert_eq!(found, ["cli", "dns", "live", "plan"]);
}
