//! The JSON Schema of the files of records is made of the table of parameters.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::super::document::is_record_name;
use super::super::parameters::{IdleValues, PARAMETERS, ParameterRow, RefusedValues, ValueForm};
use super::{EXAMPLES, Variant, record_of, variants};
use crate::inventory::update_record::RecordProvider;

/// The file.
const FILE: &str = "schemas/dns-update-record.schema.json";

/// The names of records.
const NAME: &str = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";

/// The schema of one value of a form.
fn of_form(form: ValueForm) -> Value {
    let texts = json!({ "$ref": "#/$defs/texts" });
    match form {
        ValueForm::Flag => json!({ "$ref": "#/$defs/flag" }),
        ValueForm::AxfrFlag => json!({ "enum": [true, false, "true", "false", "axfr"] }),
        ValueForm::Number(least, most) => json!({ "anyOf": [
            { "type": "integer", "minimum": least, "maximum": most },
            { "type": "string", "pattern": if least > 0 { "^0*[1-9][0-9]*$" } else { "^[0-9]+$" } },
        ]}),
        ValueForm::Span => json!({ "$ref": "#/$defs/span" }),
        ValueForm::Word(words) => json!({ "enum": words }),
        ValueForm::Texts | ValueForm::Domains => texts,
        ValueForm::Zones => json!({ "anyOf": [
            { "type": "string", "minLength": 1 },
            { "type": "array", "minItems": 1, "items": { "type": "string", "minLength": 1 } },
        ]}),
        ValueForm::Owner => json!({ "type": "string", "maxLength": 100, "pattern": "^[^,=\"'\\\\\\s]*$" }),
        ValueForm::Text | ValueForm::Prefix | ValueForm::Suffix | ValueForm::Wildcard => json!({ "type": "string" }),
    }
}

/// A value of an idle or refused one, in all its spellings.
fn spelled(form: ValueForm, text: &str) -> Vec<Value> {
    match form {
        ValueForm::Flag | ValueForm::AxfrFlag => vec![json!(text == "true"), json!(text)],
        ValueForm::Texts => vec![json!(text), json!([])],
        _ => vec![json!(text)],
    }
}

/// The schema of a parameter of a provider: the values that are not refused.
fn of_row(row: &ParameterRow) -> Value {
    let mut part = match (row.refused, row.idle, row.form) {
        (RefusedValues::Otherwise(..), IdleValues::At(values, _), form) => {
            let values: Vec<Value> = values.iter().flat_map(|text| spelled(form, text)).collect();
            json!({ "enum": values })
        }
        (RefusedValues::At(values, _, _), _, ValueForm::Word(words)) => {
            json!({ "enum": words.iter().filter(|word| !values.contains(word)).collect::<Vec<_>>() })
        }
        (RefusedValues::Never, _, form) => of_form(form),
        (refused, ..) => panic!("{refused:?} of {}", row.name),
    };
    let end = match row.idle {
        IdleValues::Always(why) => format!(" No effect: {why}."),
        _ => String::new(),
    };
    part["description"] = json!(format!("{}{end}", row.says));
    part
}

/// The schema of the parameters of a provider.
fn of_provider(provider: RecordProvider) -> Value {
    let (mut properties, mut both) = (Map::new(), Vec::new());
    for row in PARAMETERS.iter().filter(|row| row.of.contains(&provider)) {
        let name = row.name.as_str();
        let mut part = of_row(row);
        if name == "provider" {
            part = json!({ "enum": words_of(provider), "description": part["description"] });
        }
        properties.insert(name.to_owned(), part);
        if ParameterRow::is_flag(row.name) {
            let description = format!("`true` is `{name}: false`.");
            let values = match row.refused {
                RefusedValues::Otherwise(..) => json!({ "enum": [true, "true"], "description": description }),
                _ => json!({ "$ref": "#/$defs/flag", "description": description }),
            };
            properties.insert(format!("no-{name}"), values);
            both.push(json!({ "not": { "required": [name, format!("no-{name}")] } }));
        }
    }
    let required = if provider == RecordProvider::Rfc2136 { json!(["rfc2136-zone"]) } else { json!([]) };
    let mut whole = json!({
        "description": format!("The parameters of the provider `{provider}`."),
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    });
    if !both.is_empty() {
        whole["allOf"] = json!(both);
    }
    whole
}

/// The words of a provider.
fn words_of(provider: RecordProvider) -> Vec<&'static str> {
    RecordProvider::all_words().filter(|word| RecordProvider::of_word(word) == Some(provider)).collect()
}

/// The name of a definition.
fn definition(provider: RecordProvider) -> String {
    provider.as_str().replace('-', "_")
}

/// The whole schema.
fn schema() -> Value {
    let mut definitions = Map::new();
    definitions.insert("flag".into(), json!({ "description": "A switch, perhaps as text.", "anyOf": [{ "type": "boolean" }, { "enum": ["true", "false"] }] }));
    definitions.insert(
        "span".into(),
        json!({
            "description": "A time as Go writes it.", "type": "string",
            "pattern": "^(0|([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+)$", "examples": ["0s", "1m30s"],
        }),
    );
    definitions.insert(
        "texts".into(),
        json!({
            "description": "A text with commas, or a list.",
            "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }],
        }),
    );
    let mut choices = Vec::new();
    for provider in RecordProvider::ALL {
        definitions.insert(definition(*provider), of_provider(*provider));
        let mut properties = json!({ "provider": { "enum": words_of(*provider) } });
        properties["external-dns-parameters"] = json!({ "$ref": format!("#/$defs/{}", definition(*provider)) });
        let mut choice = json!({ "properties": properties });
        if *provider == RecordProvider::Rfc2136 {
            choice["required"] = json!(["external-dns-parameters"]);
        }
        choices.push(choice);
    }
    let text = |description: &str| json!({ "description": description, "type": ["string", "null"] });
    let metadata = json!({
        "description": "What the record is called.", "type": "object", "additionalProperties": false, "required": ["name"],
        "properties": {
            "name": { "description": "Its name, a label of DNS. No two records have one.", "type": "string", "pattern": NAME, "examples": ["edge-bind"] },
            "description": text("What people note about it."),
            "userdata1": text("What programs note about it."), "userdata2": text("What programs note about it."),
            "userData1": text("Another spelling of `userdata1`."), "userData2": text("Another spelling of `userdata2`."),
        },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:zonewright:dns-update-record:1",
        "title": "zonewright DNS update record",
        "description": "A document of dns-update-records/*.yaml: one DNS provider with the parameters of external-dns.",
        "type": "object", "additionalProperties": false, "required": ["metadata", "spec"],
        "properties": {
            "metadata": metadata,
            "spec": {
                "description": "Where records are published, and how.", "type": "object", "additionalProperties": false, "required": ["provider"],
                "properties": {
                    "provider": { "description": "What is published to.", "enum": RecordProvider::all_words().collect::<Vec<_>>() },
                    "external-dns-parameters": { "description": "The parameters of external-dns, those of the provider and of all providers.", "type": "object" },
                },
                "oneOf": choices,
            },
        },
        "$defs": definitions,
    })
}

/// Judges documents by the schema; gives what is wrong with each, empty where nothing is.
fn judged(documents: &[Value]) -> Vec<String> {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("file:///schema.json", schema()).unwrap();
    let index = compiler.compile("file:///schema.json", &mut schemas).unwrap();
    let judge = |document| schemas.validate(document, index).map_or_else(|error| error.to_string(), |()| String::new());
    documents.iter().map(judge).collect()
}

#[test]
fn the_schema_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let due = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &due).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == due, "UPDATE_DOCS=1 cargo test --lib update_records writes {FILE} anew");
}

#[test]
fn the_schema_and_the_reader_judge_alike() {
    let (of_schema, others): (Vec<Variant>, Vec<Variant>) =
        variants().into_iter().partition(|variant| variant.is_for_schema);
    let values: Vec<Value> = of_schema.iter().map(|variant| serde_json::from_str(&variant.text).unwrap()).collect();
    let mut wrong = String::new();
    for (Variant { line, text, .. }, said) in of_schema.iter().zip(judged(&values)) {
        let is_right = record_of(text).problems.is_empty();
        if is_right != said.is_empty() {
            wrong += &format!("{line}\n{said}\n");
        }
    }
    // What is marked as beyond the schema would be no reason to leave a line out otherwise.
    let values: Vec<Value> = others.iter().map(|variant| serde_json::from_str(&variant.text).unwrap()).collect();
    for (Variant { line, text, .. }, said) in others.iter().zip(judged(&values)) {
        if record_of(text).problems.is_empty() == said.is_empty() {
            wrong += &format!("{line}\n    the schema can tell\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let examples: Vec<Value> = EXAMPLES
        .iter()
        .map(|(word, _)| serde_json::from_str(&super::ExampleDocument::of(word).text()).unwrap())
        .collect();
    assert_eq!(judged(&examples), [""; 7]);
}

#[test]
fn heads_of_documents_are_judged_alike() {
    for (document, is_right) in [
        (json!({ "metadata": { "name": "a" }, "spec": { "provider": "aws" } }), true),
        (json!({ "metadata": { "name": "a", "description": null }, "spec": { "provider": "aws" } }), true),
        (json!({ "metadata": {}, "spec": { "provider": "aws" } }), false),
        (json!({ "metadata": { "name": "A" }, "spec": { "provider": "aws" } }), false),
        (json!({ "metadata": { "name": "a" }, "spec": { "provider": "google" } }), false),
        (json!({ "metadata": { "name": "a" }, "spec": { "provider": "rfc2136" } }), false),
        (json!({ "metadata": { "name": "a" }, "spec": {} }), false),
        (json!({ "metadata": { "name": "a" } }), false),
        (json!({ "metadata": { "name": "a" }, "spec": { "provider": "aws", "oneOf": [] } }), false),
        (json!({ "metadata": { "name": "a", "labels": {} }, "spec": { "provider": "aws" } }), false),
    ] {
        let (_, read) = super::read_text(&document.to_string());
        let by_reader = read.records.len() == 1 && read.records[0].problems.is_empty();
        assert_eq!(
            (by_reader, judged(std::slice::from_ref(&document))[0].is_empty()),
            (is_right, is_right),
            "{document}"
        );
    }
    let pattern =
        |text: &str| judged(&[json!({ "metadata": { "name": text }, "spec": { "provider": "aws" } })])[0].is_empty();
    for text in ["a", "a-b", "0", "-a", "a-", "a.b", "", "A", "a_b", &"a".repeat(63), &"a".repeat(64)] {
        assert_eq!(pattern(text), is_record_name(text), "{text}");
    }
}

/// What is around the list of parameters on the page.
const MARKS: (&str, &str) = ("<!-- parameters -->\n", "<!-- end of parameters -->\n");

/// The list of parameters, as the page has it.
fn listed() -> String {
    let mut text =
        String::from("| parameter | providers | meaning | what is made of it |\n| --- | --- | --- | --- |\n");
    for row in PARAMETERS {
        let of = match row.of.len() {
            6 => "all".to_owned(),
            _ => row.of.iter().map(|provider| format!("`{provider}`")).collect::<Vec<_>>().join(", "),
        };
        let value = |value: &&str| if value.is_empty() { "empty".to_owned() } else { format!("`{value}`") };
        let values = |values: &[&str]| values.iter().map(value).collect::<Vec<_>>().join(", ");
        let idle = match row.idle {
            IdleValues::Never => None,
            IdleValues::Always(why) => Some(format!("no effect: {why}")),
            IdleValues::At(at, why) => Some(format!("{}: no effect, {why}", values(at))),
        };
        let refused = match row.refused {
            RefusedValues::Never => None,
            RefusedValues::At(at, code, _) => Some(format!("{}: refused (`{code}`)", values(at))),
            RefusedValues::Otherwise(code, _) => Some(format!("else refused (`{code}`)")),
        };
        let made: Vec<String> = idle.into_iter().chain(refused).collect();
        let made = if made.is_empty() { "counts".to_owned() } else { made.join("; ") };
        text += &format!("| `{}` | {of} | {} | {made} |\n", row.name, row.says);
    }
    text
}

#[test]
fn the_page_lists_all_parameters() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/update-records.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS.0).unwrap();
    let (_, after) = rest.split_once(MARKS.1).unwrap();
    let due = format!("{before}{}{}{}{after}", MARKS.0, listed(), MARKS.1);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &due).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written == due, "UPDATE_DOCS=1 cargo test --lib update_records writes docs/update-records.md anew");
}
