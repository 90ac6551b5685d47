//! docs/config.md is what the JSON Schemas of zonewright.toml, project files and the files of sets say.
//!
//! `UPDATE_DOCS=1 cargo test --test config_reference` writes it anew, for `git diff` to judge.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

/// One file of settings: its heading, its schema, and its tables, each with the heading and the place in the schema.
struct File {
    /// The heading, and what the file is called.
    heading: &'static str,
    /// The schema, from the root of the project.
    schema: &'static str,
    /// The tables, in the order in which the page has them.
    tables: &'static [(&'static str, &'static str)],
}

/// The files of settings, in the order in which the page has them.
const FILES: &[File] = &[
    File {
        heading: "zonewright.toml",
        schema: "schemas/config.schema.json",
        tables: &[
            ("Top level", ""),
            ("`[state]`", "/properties/state"),
            ("`[plan]`", "/properties/plan"),
            ("`[sources]`", "/properties/sources"),
            ("`hosts` of `[sources]` as a table", "/$defs/hosts_table"),
            ("`addresses` of `[sources]` as a table", "/$defs/addresses_table"),
            ("`record_lists` and `apps` of `[sources]` as a table", "/$defs/documents_table"),
            ("Another source as a table", "/$defs/trusted_source"),
            ("`[[sources.mac]]`", "/$defs/mac_source"),
            ("`[[sources.records]]`", "/$defs/records_source"),
            ("`[project.ID]`", "/$defs/project"),
            ("`[dns_update_record.NAME]`", "/$defs/dns_update_record"),
            ("`tsig_key` of `[dns_update_record.NAME]`", "/$defs/record_key"),
            ("`[pool.NAME]`", "/$defs/pool"),
            ("`[[pool.NAME.target]]`", "/$defs/target"),
            ("A target with `type = \"rfc2136\"`", "/$defs/rfc2136"),
            ("`tsig_key` of a target", "/$defs/tsig_key"),
            ("A target with `type = \"powerdns\"`", "/$defs/powerdns"),
            ("A target with `type = \"etcd\"`", "/$defs/etcd"),
            ("A target with `type = \"route53\"`", "/$defs/route53"),
            ("A target with `type = \"azure\"`", "/$defs/azure"),
            ("A target with `type = \"azure-private\"`", "/$defs/azure_private"),
            ("A target with `type = \"cloudmap\"`", "/$defs/cloudmap"),
            ("`api_key`, `password`, `credentials` and `client_secret` of a target", "/$defs/api_key"),
            ("`txt_encrypt_aes_key`", "/$defs/txt_key"),
            ("A target with `type = \"zonefile\"`", "/$defs/zonefile"),
            ("`[[pool.NAME.nameserver]]`", "/$defs/nameserver"),
            ("`[[zone]]`", "/$defs/zone"),
            ("`[zone.apex]`", "/$defs/apex"),
            ("`[limits]`", "/$defs/limits"),
            ("An entry of `hosts` in `[limits]`", "/$defs/limit"),
            ("`[gate.NAME]`", "/$defs/gate"),
            ("`[cms.NAME]`", "/$defs/cms"),
            ("`token` of `[cms.NAME]`", "/$defs/token"),
            ("`[probe.NAME]`", "/$defs/probe"),
            ("`[notify]`", "/properties/notify"),
        ],
    },
    File {
        heading: "projects/*.yaml",
        schema: "schemas/project.schema.json",
        tables: &[
            ("A project file", ""),
            ("`interfaces`", "/properties/interfaces"),
            ("`vlans`", "/properties/vlans"),
            ("`rollout`", "/properties/rollout"),
            ("`limits` of a project", "/$defs/limits"),
            ("An entry of `limits: hosts`", "/$defs/limit"),
        ],
    },
    File {
        heading: "pod-sets/*.yaml",
        schema: "schemas/pod-set.schema.json",
        tables: &[
            ("The file of a set of pods", ""),
            ("`names`", "/properties/names"),
            ("`rollout` of a set", "/properties/rollout"),
            ("An entry of `endpoints`", "/$defs/endpoint"),
        ],
    },
    File {
        heading: "record_lists",
        schema: "schemas/record-list.schema.json",
        tables: &[("A list of records", ""), ("`metadata`", "/properties/metadata"), ("`spec`", "/properties/spec")],
    },
    File {
        heading: "apps/*.yaml",
        schema: "schemas/app.schema.json",
        tables: &[
            ("An app", ""),
            ("An entry of `services`", "/$defs/service"),
            ("An entry of `addresses`", "/$defs/place"),
        ],
    },
];

/// What the page says before the tables.
const INTRODUCTION: &str = "\
# Configuration reference

Every key of `zonewright.toml`, of project files, of the files of sets of pods, of lists of records and of apps, with its values and its
default. This page is made from the JSON Schemas that `zonewright schema config`, `schema project`, `schema pod-set`, `schema record-list`
and `schema app` print, and a test compares it with them.
[editors.md](editors.md) says how an editor uses them. [workspace.md](workspace.md), [targets.md](targets.md) and
[netbox.md](netbox.md) explain the same keys at length, with examples and with the result of each mistake.

A key that is not listed here is an error, with its place and the key that was probably meant.
";

/// Reads a file of the project.
fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A text of a schema, as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The description of a part of a schema.
fn description(part: &Value) -> &str {
    part["description"].as_str().unwrap_or_else(|| panic!("{part} has no description"))
}

/// The name of a definition that is pointed to.
fn referred(part: &Value) -> Option<&str> {
    part["$ref"].as_str().map(|pointer| pointer.trim_start_matches("#/$defs/"))
}

/// One JSON value, as the settings files write it.
fn literal(value: &Value) -> String {
    format!("`{value}`")
}

/// The allowed values of a key, in words.
fn values(file: &File, root: &Value, part: &Value) -> String {
    if let Some(name) = referred(part) {
        let pointer = format!("/$defs/{name}");
        if let Some((heading, _)) = file.tables.iter().find(|(_, place)| *place == pointer) {
            return format!("[table](#{})", anchor(heading));
        }
        let definition = &root["$defs"][name];
        return if definition["anyOf"].is_array() {
            values(file, root, definition)
        } else {
            format!("[{name}](#values-of-{})", anchor(file.heading))
        };
    }
    if let Some(choices) = part["enum"].as_array() {
        return choices.iter().map(literal).collect::<Vec<_>>().join(", ");
    }
    if let Some(only) = part.get("const") {
        return literal(only);
    }
    if let Some(either) = part["anyOf"].as_array() {
        return either.iter().map(|one| values(file, root, one)).collect::<Vec<_>>().join(", or ");
    }
    match part["type"].as_str() {
        Some("array") => format!("list of: {}", values(file, root, &part["items"])),
        Some("object") => {
            if part["additionalProperties"].is_object() {
                format!("by name: {}", values(file, root, &part["additionalProperties"]))
            } else {
                panic!("a table has a heading of its own: {part}")
            }
        }
        Some("integer") => match (part["minimum"].as_i64(), part["maximum"].as_i64()) {
            (Some(least), Some(most)) => format!("number from {least} to {most}"),
            (Some(least), None) => format!("number from {least} on"),
            _ => "number".into(),
        },
        Some("boolean") => "`true`, `false`".into(),
        Some("string") => "text".into(),
        other => panic!("{other:?} is no type that the page can tell: {part}"),
    }
}

/// The anchor that a heading gets, as GitHub does it.
fn anchor(heading: &str) -> String {
    let lower = heading.to_lowercase().replace(' ', "-");
    lower.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// The rows of a table: what is required first, each half sorted by key.
fn rows(file: &File, root: &Value, place: &str) -> String {
    let table = root.pointer(place).unwrap_or_else(|| panic!("{} has no {place}", file.schema));
    let properties = table["properties"].as_object().expect("a table of the page has keys");
    let required: BTreeSet<&str> =
        table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut keys: Vec<(&String, &Value)> = properties.iter().collect();
    keys.sort_by_key(|(key, _)| (!required.contains(key.as_str()), key.as_str()));
    let mut text = String::from("| key | values | default | meaning |\n| --- | --- | --- | --- |\n");
    for (key, part) in keys {
        let default = match part.get("default") {
            Some(default) => literal(default),
            None if required.contains(key.as_str()) => "required".into(),
            None => "none".into(),
        };
        let mut meaning = description(part).to_owned();
        if let Some(examples) = part["examples"].as_array() {
            let examples: Vec<String> = examples.iter().map(literal).collect();
            write!(meaning, " Such as {}.", examples.join(", ")).expect("a String takes all");
        }
        let own = format!("{place}/properties/{key}");
        let values = match file.tables.iter().find(|(_, place)| *place == own) {
            Some((heading, _)) => format!("[table](#{})", anchor(heading)),
            None => values(file, root, part),
        };
        writeln!(text, "| `{key}` | {} | {} | {} |", cell(&values), cell(&default), cell(&meaning))
            .expect("a String takes all");
    }
    text
}

/// The definitions that are no tables: the kinds of values.
fn kinds(file: &File, root: &Value) -> String {
    let mut text = String::from("| value | what it is |\n| --- | --- |\n");
    for (name, definition) in root["$defs"].as_object().expect("a schema has definitions") {
        let is_table = file.tables.iter().any(|(_, place)| place.strip_prefix("/$defs/") == Some(name));
        if is_table || definition["anyOf"].is_array() {
            continue;
        }
        let range = match values(file, root, definition) {
            words if words.starts_with("number") => format!(" A {words}."),
            _ => String::new(),
        };
        let examples: Vec<String> = definition["examples"].as_array().into_iter().flatten().map(literal).collect();
        let examples = if examples.is_empty() { String::new() } else { format!(" Such as {}.", examples.join(", ")) };
        writeln!(text, "| {name} | {}{range}{examples} |", cell(description(definition))).expect("a String takes all");
    }
    text
}

/// The page, as the schemas make it.
fn page() -> String {
    let mut text = String::from(INTRODUCTION);
    for file in FILES {
        let root: Value = serde_json::from_str(&read(file.schema)).expect("a schema is JSON");
        write!(text, "\n## {}\n\n{}\n", file.heading, description(&root)).expect("a String takes all");
        for (heading, place) in file.tables {
            let table = root.pointer(place).unwrap_or_else(|| panic!("{} has no {place}", file.schema));
            write!(text, "\n### {heading}\n\n").expect("a String takes all");
            if !place.is_empty() {
                write!(text, "{}\n\n", description(table)).expect("a String takes all");
            }
            text.push_str(&rows(file, &root, place));
        }
        write!(text, "\n### Values of {}\n\n{}", file.heading, kinds(file, &root)).expect("a String takes all");
    }
    text
}

/// The places of all parts of a schema that have keys of their own; conditions only repeat them.
fn tables(part: &Value, place: &str, found: &mut BTreeSet<String>) {
    let Some(members) = part.as_object() else { return };
    let is_table = |members: &Map<String, Value>| members.get("properties").is_some_and(Value::is_object);
    if is_table(members) && members.contains_key("description") {
        found.insert(place.to_owned());
    }
    for (key, member) in members.iter().filter(|(key, _)| !["if", "then", "else", "allOf"].contains(&key.as_str())) {
        tables(member, &format!("{place}/{key}"), found);
    }
}

#[test]
fn the_page_is_what_the_schemas_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/config.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("docs/ can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    for (number, (written, due)) in written.lines().zip(page.lines()).enumerate() {
        assert_eq!(written, due, "docs/config.md:{}; UPDATE_DOCS=1 writes it anew", number + 1);
    }
    assert!(written == page, "docs/config.md is not as long as it should be; UPDATE_DOCS=1 writes it anew");
}

#[test]
fn no_table_of_a_schema_is_left_out() {
    for file in FILES {
        let root: Value = serde_json::from_str(&read(file.schema)).expect("a schema is JSON");
        let mut there = BTreeSet::new();
        tables(&root, "", &mut there);
        let told: BTreeSet<String> = file.tables.iter().map(|(_, place)| (*place).to_owned()).collect();
        assert_eq!(there, told, "{}", file.schema);
    }
}
