//! The order of the rooms in `src/lib.rs` is the architecture: a room imports only rooms above it, a folder inside a room
//! never imports a sibling, and the files inside a room form no circle. What only one folder needs, others do not name.
//! Files are no longer than what one purpose takes, and few functions are long.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders of these names hold tests.
const OF_TESTS: [&str; 4] = ["tests", "simulation", "fixture", "sample"];

/// How many lines a file of the sources has at most, one of tests too: what is longer has more than one purpose.
const MAX_FILE_LINES: usize = 750;

/// How many lines a function has, signature and braces included, that fits on a screen or two.
const MAX_SHORT_LINES: usize = 60;

/// How many of a thousand functions are fewer than may be longer: some are one sequence that pieces would not make clearer.
const MAX_LONG_PER_MILLE: usize = 3;

/// What the tests inside a file begin with; they are at its end.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// What can be in front of `use`.
const VISIBILITIES: [&str; 4] = ["", "pub ", "pub(super) ", "pub(crate) "];

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
    for path in paths(code, prefix) {
        let rest = &path[prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => found.extend(parts(group).into_iter().map(ident)),
            None => {
                found.insert(ident(rest));
            }
        }
    }
    found.remove("");
    found
}

/// The rest of the code from each path on that begins with `prefix`.
fn paths<'c>(code: &'c str, prefix: &'c str) -> impl Iterator<Item = &'c str> {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$';
    code.match_indices(prefix).filter(move |(at, _)| !code[..*at].ends_with(inside)).map(|(at, _)| &code[at..])
}

/// The identifier that a text begins with.
fn ident(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The parts of a group, up to its closing brace.
fn parts(group: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut found = Vec::new();
    let mut start = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(group[start..at].trim());
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(group[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// A module that is a file: its path, such as `state`, `sqlite`.
type Module = Vec<String>;

/// Which modules each module imports, each with one path that does so.
type Imports = BTreeMap<Module, BTreeMap<Module, String>>;

/// The module that is a file with this path below `src`; none for roots of crates and for tests.
fn module(path: &Path) -> Option<Module> {
    let path = path.with_extension("");
    let mut module: Module = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    module.pop_if(|last| last == "mod");
    let is_root = ["lib", "main"].contains(&module[0].as_str());
    (!is_root && !module.iter().any(|part| OF_TESTS.contains(&part.as_str()))).then_some(module)
}

/// The declarations `use` of a code, without that word; and the code without them.
fn declarations(code: &str) -> (Vec<String>, String) {
    let (mut declared, mut rest) = (Vec::new(), String::new());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let begun = VISIBILITIES.iter().find_map(|before| line.trim().strip_prefix(before)?.strip_prefix("use "));
        match begun.filter(|begun| begun.ends_with([';', '{'])) {
            Some(begun) => {
                let mut declaration = begun.to_owned();
                while !declaration.ends_with(';') {
                    declaration.push_str(lines.next().expect("every declaration ends").trim());
                }
                declaration.pop();
                declared.push(declaration);
            }
            None => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
    }
    (declared, rest)
}

/// The paths of a declaration, its groups in braces opened.
fn opened(declaration: &str) -> Vec<String> {
    match declaration.split_once('{') {
        Some((before, group)) => {
            let parts = parts(group).into_iter().filter(|part| !part.is_empty());
            parts.flat_map(|part| opened(&format!("{before}{part}"))).collect()
        }
        None => vec![declaration.to_owned()],
    }
}

/// The modules of a source tree.
struct Modules {
    /// The paths that each names, in declarations and elsewhere.
    named: BTreeMap<Module, Vec<String>>,
    /// The path behind each name that a module imports: other modules may import the name from there.
    behind: BTreeMap<Module, BTreeMap<String, String>>,
}

impl Modules {
    /// Reads the code of modules.
    fn read(files: BTreeMap<Module, String>) -> Modules {
        let mut modules = Modules { named: BTreeMap::new(), behind: BTreeMap::new() };
        for (module, code) in files {
            let (declared, rest) = declarations(code.split(TESTS).next().unwrap_or_default());
            let mut named = Vec::new();
            let mut behind = BTreeMap::new();
            for path in declared.iter().flat_map(|declaration| opened(declaration)) {
                let (path, alias) = path.split_once(" as ").unwrap_or((&path, ""));
                let path = path.trim_end_matches("::self").trim_end_matches("::*");
                let last = path.rsplit("::").next().unwrap_or_default();
                behind.insert(if alias.is_empty() { last } else { alias }.to_owned(), path.to_owned());
                named.push(path.to_owned());
            }
            for path in ["crate::", "super::"].into_iter().flat_map(|prefix| paths(&rest, prefix)) {
                let path: String = path.chars().take_while(|c| c.is_alphanumeric() || ['_', ':'].contains(c)).collect();
                named.push(path.trim_end_matches(':').to_owned());
            }
            modules.named.insert(module.clone(), named);
            modules.behind.insert(module, behind);
        }
        modules
    }

    /// The module that defines what a path in `module` names; none where that is in no module, or in `module` itself by
    /// its bare name.
    ///
    /// It is looked for behind the names that modules import, at most so `deep`.
    fn find(&self, module: &Module, path: &str, deep: usize) -> Option<Module> {
        let mut segments = path.split("::").peekable();
        let mut at = module.clone();
        if segments.next_if_eq(&"crate").is_some() {
            at.clear();
        }
        segments.next_if_eq(&"self");
        while segments.next_if_eq(&"super").is_some() {
            at.pop();
        }
        let is_bare = at == *module;
        while let Some(segment) = segments.peek() {
            let below = [&at[..], &[(*segment).to_owned()]].concat();
            if !self.named.contains_key(&below) {
                break;
            }
            at = below;
            segments.next();
        }
        let stays = is_bare && at == *module;
        let behind = segments.next().and_then(|name| self.behind.get(&at)?.get(name));
        let through = behind.filter(|_| deep > 0).and_then(|behind| {
            let whole = segments.fold(behind.clone(), |path, segment| format!("{path}::{segment}"));
            self.find(&at, &whole, deep - 1)
        });
        through.or_else(|| (!stays && self.named.contains_key(&at)).then_some(at))
    }

    /// The imports of each module, without those of what is inside it.
    fn imports(&self) -> Imports {
        let of_module = |(module, named): (&Module, &Vec<String>)| {
            let found = named.iter().filter_map(|path| Some((self.find(module, path, 6)?, path.clone())));
            (module.clone(), found.filter(|(other, _)| !other.starts_with(module)).collect())
        };
        self.named.iter().map(of_module).collect()
    }
}

/// The modules that a module leads to by imports, and those by theirs.
fn reached(imports: &Imports, module: &Module) -> BTreeSet<Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        let others = imports.get(module).into_iter().flat_map(BTreeMap::keys);
        open.extend(others.filter(|other| reached.insert((*other).clone())));
    }
    reached
}

/// The sets of modules each of which leads to all others of its set by imports.
fn circles(imports: &Imports) -> BTreeSet<Vec<&Module>> {
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        imports.keys().map(|module| (module, reached(imports, module))).collect();
    let in_circles = imports.keys().filter(|module| reached[module].contains(*module));
    let circle = |module: &Module| {
        let back = |other: &&Module| reached[module].contains(*other) && reached[other].contains(module);
        imports.keys().filter(back).collect()
    };
    in_circles.map(circle).collect()
}

/// What a test prints of a circle: its modules, and each import from one to another.
fn shown(circle: &[&Module], imports: &Imports) -> String {
    let names: Vec<String> = circle.iter().map(|module| module.join("/")).collect();
    let mut lines = vec![format!("a circle of {}", names.join(", "))];
    for module in circle {
        for (other, path) in imports[*module].iter().filter(|(other, _)| circle.contains(other)) {
            lines.push(format!("    {} imports {}: `{path}`", module.join("/"), other.join("/")));
        }
    }
    lines.join("\n")
}

/// The doubles of services, which tests of any room may use.
const DOUBLES: &str = "doubles";

#[test]
fn rooms_import_only_rooms_above_them() {
    let rooms = rooms();
    assert!(rooms.len() > 8, "src/lib.rs lists the rooms: {rooms:?}");
    let mut faults = Vec::new();
    for (place, room) in rooms.iter().enumerate() {
        for file in rust_files(&root().join(room)) {
            for used in segments(&code(&file), "crate::").into_iter().filter(|used| used != DOUBLES) {
                match rooms.iter().position(|other| *other == used) {
                    Some(other) if other <= place => {}
                    _ => faults.push(format!("{} imports `{used}`, which is not above `{room}`", file.display())),
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The first picture in a text, without what is in front of each of its lines.
fn picture(text: &str, prefix: &str) -> String {
    let lines = text.lines().map(|line| line.strip_prefix(prefix).unwrap_or(line));
    let inside = lines.skip_while(|line| *line != "```text").skip(1).take_while(|line| *line != "```");
    inside.collect::<Vec<_>>().join("\n")
}

#[test]
fn there_is_one_picture_and_one_list_of_rooms() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file is there");
    let (lib, design) = (read("lib.rs"), read("../docs/design.md"));
    let shown = picture(&lib, "//! ");
    assert_eq!(shown, picture(&design, ""));
    let rooms = rooms();
    let ends = ["files", "servers"];
    let words = shown.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty() && !ends.contains(word));
    let strange: Vec<&str> = words.filter(|word| !rooms.iter().any(|room| room == word)).collect();
    assert_eq!(strange, [""; 0], "words of the picture that are no rooms");
    let way = design.split("| file below `src/` |").nth(1).expect("the way of a row");
    let steps = way.lines().skip(2).take_while(|row| row.starts_with('|'));
    let files = steps.flat_map(|row| row.split('|').nth(1).expect("a cell").split('`').skip(1).step_by(2));
    for file in files {
        assert!(root().join(file).exists(), "docs/design.md names src/{file}");
    }
    let table = design.split("| room |").nth(1).expect("the table of rooms");
    let rows = table.lines().skip(2).map_while(|row| row.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), rooms, "docs/design.md lists the rooms in the order of src/lib.rs");
}

/// What providers may know: targets and their settings. What hosts must have is no business of theirs.
const KNOWN_TO_PROVIDERS: [&str; 9] =
    ["dns", "diag", "target", "inventory", "disk", "parallel", "process", "http", "provider"];

#[test]
fn providers_know_targets_and_their_settings_alone() {
    let mut faults = Vec::new();
    for file in rust_files(&root().join("provider")) {
        let code = code(&file);
        let rooms = segments(&code, "crate::");
        let strange = rooms.iter().filter(|room| !KNOWN_TO_PROVIDERS.contains(&room.as_str()) && *room != DOUBLES);
        faults.extend(strange.map(|room| format!("{} imports `{room}`", file.display())));
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
            .filter(|folder| !OF_TESTS.contains(&folder.as_str()))
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

/// The modules of the sources.
fn modules() -> Modules {
    let files = rust_files(&root());
    let of_file = |file: &PathBuf| Some((module(file.strip_prefix(root()).expect("below src"))?, code(file)));
    Modules::read(files.iter().filter_map(of_file).collect())
}

#[test]
fn files_inside_a_room_form_no_circle() {
    let imports = modules().imports();
    assert!(imports.values().map(BTreeMap::len).sum::<usize>() > 1000, "the imports are found");
    let found: Vec<String> = circles(&imports).iter().map(|circle| shown(circle, &imports)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
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
fn a_library_for_one_purpose_is_named_in_one_folder() {
    // The reference service of approvals keeps tasks of its own, not a state.
    let folders: [(&str, &[&str]); 2] = [("rusqlite::", &["state/sqlite", "serve/cms"]), ("ureq::", &["http"])];
    for (library, folders) in folders {
        let names = |file: &&PathBuf| {
            let module = module(file.strip_prefix(root()).expect("below src"));
            module.is_some() && paths(&code(file), library).next().is_some()
        };
        let files = rust_files(&root());
        let found: Vec<&PathBuf> = files.iter().filter(names).collect();
        let is_home = |file: &&PathBuf| folders.iter().any(|folder| file.starts_with(root().join(folder)));
        let is_inside = found.iter().all(is_home);
        assert!(!found.is_empty() && is_inside, "{library} is named in {found:?}");
    }
}

/// The words in the list of providers.
fn providers() -> Vec<String> {
    let list = code(&root().join("provider/mod.rs"));
    let list = list.split("\nproviders! {").nth(1).and_then(|rest| rest.split('}').next()).expect("there is a list");
    let words = list.lines().filter_map(|line| line.trim().strip_suffix(','));
    // What `type` says is behind a word where it is another text.
    words.map(|word| word.split(" = ").next().unwrap_or(word).to_owned()).collect()
}

#[test]
fn a_provider_is_named_in_its_folder_and_in_the_list() {
    let providers = providers();
    assert!(providers.len() > 2, "the list is found: {providers:?}");
    for provider in &providers {
        assert!(root().join("provider").join(provider).is_dir(), "`{provider}` has no folder");
    }
    let mut faults = Vec::new();
    for (module, named) in modules().named {
        let is_home =
            |provider: &str| module == ["provider"] || module.starts_with(&["provider", provider].map(str::to_owned));
        let names = |path: &&String| {
            let is_named = |part: &str| providers.iter().any(|one| one == part && !is_home(one));
            path.split("::").all(|part| part != DOUBLES) && path.split("::").any(is_named)
        };
        faults.extend(named.iter().filter(names).map(|path| format!("{} names `{path}`", module.join("/"))));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_file_of_the_sources_is_too_long() {
    let lines = |file: &PathBuf| fs::read_to_string(file).expect("the file can be read").lines().count();
    let files = rust_files(&root()).into_iter().map(|file| (lines(&file), file));
    let long: Vec<(usize, PathBuf)> = files.filter(|(lines, _)| *lines > MAX_FILE_LINES).collect();
    assert!(long.is_empty(), "longer than {MAX_FILE_LINES} lines: {long:#?}");
}

/// The place of the last line of the item that begins at a place, in lines as rustfmt leaves them.
fn end_of_item(lines: &[&str], start: usize) -> usize {
    let line = lines[start];
    if line.ends_with([';', '}']) {
        return start;
    }
    let indent = &line[..line.len() - line.trim_start().len()];
    let is_end = |line: &&str| {
        let rest = line.strip_prefix(indent).unwrap_or_default();
        // A function without a body ends as the list of its parameters does, and a `use` with its braces.
        rest == "}" || (rest.starts_with([')', '}']) && rest.ends_with(';'))
    };
    start + lines[start..].iter().position(is_end).expect("every item ends")
}

/// Whether a line begins a function.
fn begins_function(line: &str) -> bool {
    let before = ["pub", "pub(super)", "pub(crate)", "const", "unsafe", "async"];
    line.split_whitespace().find(|word| !before.contains(word)) == Some("fn")
}

/// The functions of a code, each by its first line and with how many lines it has; without those that only tests have.
fn functions(code: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if lines[at].trim() == "#[cfg(test)]" {
            let is_attribute = |line: &&str| line.trim_start().starts_with("#[");
            at += lines[at..].iter().take_while(|line| is_attribute(line)).count();
            at = end_of_item(&lines, at);
        } else if begins_function(lines[at]) {
            found.push((lines[at].trim(), end_of_item(&lines, at) + 1 - at));
        }
        at += 1;
    }
    found
}

#[test]
fn few_functions_are_long() {
    let (mut count, mut long) = (0, Vec::new());
    for file in rust_files(&root()) {
        if module(file.strip_prefix(root()).expect("below src")).is_none() {
            continue;
        }
        let text = fs::read_to_string(&file).expect("the file can be read");
        let found = functions(&text);
        count += found.len();
        let found = found.into_iter().filter(|(_, lines)| *lines > MAX_SHORT_LINES);
        long.extend(found.map(|(line, lines)| format!("{lines} lines: {}: {line}", file.display())));
    }
    assert!(count > 5000, "the functions are found: {count}");
    let long_per_mille = 1000 * long.len();
    assert!(
        long_per_mille < MAX_LONG_PER_MILLE * count,
        "{} of {count} functions have more than {MAX_SHORT_LINES} lines:\n{}",
        long.len(),
        long.join("\n")
    );
}

#[test]
fn the_counter_of_functions_leaves_out_those_of_tests() {
    let code = "fn one() {}\n\nimpl A {\n    pub(super) const fn two(\n        self,\n    ) -> u8 {\n        if x {\n        }\n    }\n\n    \
                fn three(\n        &self,\n    ) -> u8;\n}\n\n#[cfg(test)]\nmod tests;\n\nfn four() {\n}\n\n#[cfg(test)]\nmod tests \
                {\n    fn five() {\n    }\n}\n";
    let found: Vec<usize> = functions(code).into_iter().map(|(_, lines)| lines).collect();
    assert_eq!(found, [1, 6, 3, 2]);
}

#[test]
fn the_reader_of_imports_sees_groups() {
    let code = "use crate::{dns::Name, live::{A, B}, plan};\nlet x = crate::cli::main();\nnotcrate::foo";
    let found: Vec<String> = segments(code, "crate::").into_iter().collect();
    assert_eq!(found, ["cli", "dns", "live", "plan"]);
}

/// The circles of made-up files, each with its path and its code.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let files = files.iter().filter_map(|(path, code)| Some((module(Path::new(path))?, (*code).to_owned())));
    let imports = Modules::read(files.collect()).imports();
    circles(&imports).iter().map(|circle| shown(circle, &imports)).collect()
}

#[test]
fn the_finder_of_circles_finds_one() {
    let found = circles_of(&[
        ("room/mod.rs", "mod a;\nmod b;\npub use a::{One, Two as Other};\n"),
        ("room/a.rs", "use std::{fs, io};\n\npub use super::{\n    c::{C, deep::{self, D}},\n    d,\n};\n"),
        ("room/b.rs", "use crate::room::Other;\n"),
        ("room/c/mod.rs", "pub mod deep;\n"),
        ("room/c/deep.rs", "fn of(b: crate::room::b::B<u8>) {}\n"),
        ("room/d.rs", "struct D;\n"),
    ]);
    let circle = "a circle of room/a, room/b, room/c/deep
    room/a imports room/c/deep: `super::c::deep::D`
    room/b imports room/a: `crate::room::Other`
    room/c/deep imports room/b: `crate::room::b::B`";
    assert_eq!(found, [circle]);
}

#[test]
fn the_finder_of_circles_leaves_out_what_is_inside_a_module_and_tests() {
    let found = circles_of(&[
        ("room/mod.rs", "mod a;\nuse a::A;\n"),
        (
            "room/a.rs",
            "mod b;\nuse super::Common;\nuse self::b::B;\n#[cfg(test)]\nmod tests {\n    use crate::room::c::C;",
        ),
        ("room/a/b.rs", "use super::Common;\n"),
        ("room/c.rs", "use super::a::A;\n"),
        ("room/a/tests.rs", "use crate::room::c::C;\n"),
    ]);
    assert_eq!(found, [""; 0]);
}
