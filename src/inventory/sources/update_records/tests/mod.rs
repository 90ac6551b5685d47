mod schema;

use proptest::prelude::*;

use super::parameters::RefusedValues;
use super::*;
use crate::diag::{Files, render};
use crate::inventory::node::SettingsValue;
use crate::inventory::update_record::{ParameterName, ParameterValue, RecordProvider};

/// The example of each provider, by the word of the provider.
const EXAMPLES: [(&str, &str); 7] = [
    ("aws", include_str!("examples/aws.yaml")),
    ("aws-sd", include_str!("examples/aws-sd.yaml")),
    ("azure", include_str!("examples/azure.yaml")),
    ("azure-dns", include_str!("examples/azure-dns.yaml")),
    ("azure-private-dns", include_str!("examples/azure-private-dns.yaml")),
    ("coredns", include_str!("examples/coredns.yaml")),
    ("rfc2136", include_str!("examples/rfc2136.yaml")),
];

/// The key of the parameters.
const PARAMETERS_KEY: &str = "external-dns-parameters";

/// Reads a text.
fn read_text(text: &str) -> (Files, RecordFile) {
    let mut files = Files::default();
    let source = SourceText { file: files.add("r.yaml"), text: text.to_owned() };
    let read = read(&source);
    (files, read)
}

/// The one record of a text.
fn record_of(text: &str) -> UpdateRecord {
    let (files, mut read) = read_text(text);
    assert_eq!(read.records.len(), 1, "{}", render(&read.diagnostics, &files));
    read.records.pop().unwrap()
}

/// The codes of all that is wrong with a record, in the order of the file.
fn codes(record: &UpdateRecord) -> Vec<&'static str> {
    record.problems.iter().map(|problem| problem.code.as_str()).collect()
}

/// A document: metadata, provider, and the texts of its parameters, in JSON.
struct ExampleDocument {
    /// `metadata`.
    metadata: String,
    /// `provider`.
    provider: String,
    /// The keys, each with its value.
    parameters: Vec<(String, String)>,
}

impl ExampleDocument {
    /// The example of a provider.
    fn of(provider: &str) -> ExampleDocument {
        let (_, text) = EXAMPLES.iter().find(|(word, _)| *word == provider).unwrap();
        let source = SourceText { file: Files::default().add("r.yaml"), text: (*text).to_owned() };
        let root = &yaml::parse_documents(&source).documents[0].root;
        let spec = root.get("spec").unwrap();
        let SettingsValue::Table(entries) = &spec.get(PARAMETERS_KEY).unwrap().value else { panic!() };
        let parameters = entries.iter().map(|(key, node)| (key.name.clone(), json_of(node))).collect();
        let provider = spec.get("provider").unwrap().as_text().unwrap().to_owned();
        ExampleDocument { metadata: json_of(root.get("metadata").unwrap()), provider, parameters }
    }

    /// The document in JSON, perhaps with a key twice.
    fn text(&self) -> String {
        let of_one = |(key, value): &(String, String)| format!("{key:?}: {value}");
        let parameters: Vec<String> = self.parameters.iter().map(of_one).collect();
        format!(
            "{{\"metadata\": {}, \"spec\": {{\"provider\": {:?}, \"{PARAMETERS_KEY}\": {{{}}}}}}}\n",
            self.metadata,
            self.provider,
            parameters.join(", ")
        )
    }
}

/// A node of YAML in JSON.
fn json_of(node: &crate::inventory::node::SettingsNode) -> String {
    match &node.value {
        SettingsValue::Text(text) => format!("{text:?}"),
        SettingsValue::Plain(text) if text.parse::<u64>().is_ok() => text.clone(),
        SettingsValue::Plain(text) => format!("{text:?}"),
        SettingsValue::List(items) => format!("[{}]", items.iter().map(json_of).collect::<Vec<_>>().join(", ")),
        SettingsValue::Table(entries) => {
            let entries = entries.iter().map(|(key, node)| format!("{:?}: {}", key.name, json_of(node)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => panic!("{other:?} is not of YAML"),
    }
}

/// A line of the list of variants.
struct Variant {
    /// The line.
    line: &'static str,
    /// The document.
    text: String,
    /// The first key that is set.
    key: &'static str,
    /// What is made of it: `counts`, `idle`, `none` or codes.
    outcome: &'static str,
    /// Whether the schema can tell.
    is_for_schema: bool,
}

/// All variants.
fn variants() -> Vec<Variant> {
    let lines = include_str!("variants.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(variant).collect()
}

/// Reads a line.
fn variant(line: &'static str) -> Variant {
    let parts: Vec<&str> = line.split(" | ").collect();
    let [provider, edits, outcome] = parts[..] else { panic!("{line}") };
    let mut document = ExampleDocument::of(provider);
    let edits: Vec<(&str, &str)> = edits.split(" ; ").map(|edit| edit.split_once(' ').unwrap()).collect();
    let keys: Vec<&str> = edits.iter().map(|(key, _)| *key).collect();
    document.parameters.retain(|(key, _)| !keys.contains(&key.as_str()));
    let set = edits.iter().filter(|(_, value)| *value != "-");
    document.parameters.extend(set.map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    let (outcome, is_for_schema) = outcome.strip_suffix('~').map_or((outcome, true), |outcome| (outcome, false));
    Variant { line, text: document.text(), key: keys[0], outcome, is_for_schema }
}

/// The parameter of a key.
fn named(key: &str) -> Option<ParameterName> {
    ParameterName::parse(key).or_else(|| ParameterName::parse(key.strip_prefix("no-")?))
}

#[test]
fn the_examples_of_all_providers_are_accepted_as_they_are() {
    for (word, text) in EXAMPLES {
        let record = record_of(text);
        assert_eq!(codes(&record), [""; 0], "{word}");
        assert_eq!(record.provider, RecordProvider::of_word(word));
        let json = record_of(&ExampleDocument::of(word).text());
        let values = |record: &UpdateRecord| {
            let own = record.settings.iter().map(|setting| (setting.name, setting.value.clone()));
            own.collect::<Vec<_>>()
        };
        assert_eq!(values(&json), values(&record), "{word}: JSON says the same");
    }
}

#[test]
fn every_variant_is_accepted_or_refused_as_listed() {
    let all = variants();
    assert!(all.len() > 150, "{}", all.len());
    let mut wrong = String::new();
    for Variant { line, text, key, outcome, .. } in all {
        let record = record_of(&text);
        let name = named(key);
        let is_set = record.settings.iter().any(|setting| Some(setting.name) == name);
        let is_idle = record.without_effect.iter().any(|remark| Some(remark.name) == name);
        let found = match codes(&record)[..] {
            [] if is_set => "counts".to_owned(),
            [] if is_idle => "idle".to_owned(),
            [] => "none".to_owned(),
            ref codes => codes.join(" "),
        };
        if found != outcome {
            wrong += &format!("{line}\n    is {found}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn all_rows_have_variants() {
    let lines = include_str!("variants.txt");
    let examples: String = EXAMPLES.iter().map(|(_, text)| *text).collect();
    for row in parameters::PARAMETERS {
        let name = row.name.as_str();
        assert!(lines.contains(&format!("| {name} ")) || examples.contains(&format!("{name}:")), "{name}");
    }
    for row in parameters::PARAMETERS {
        if let RefusedValues::At(_, _, why) | RefusedValues::Otherwise(_, why) = row.refused {
            assert_eq!(why.matches("; ").count(), 1, "{}", row.name);
        }
    }
    for name in ParameterName::ALL {
        assert!(parameters::PARAMETERS.iter().any(|row| row.name == *name), "{name} has no row");
        let mut of: Vec<&str> = parameters::ParameterRow::providers_of(*name);
        let count = of.len();
        of.sort_unstable();
        of.dedup();
        assert_eq!(of.len(), count, "{name} has two rows of one provider");
    }
}

#[test]
fn findings_have_their_places() {
    let text = "\
metadata: {name: a, nam: b}
spec:
  provider: rfc2136
  external-dns-parameters:
    rfc2136-hots: 192.0.2.1
    rfc2136-zone: ''
    rfc2136-tsig-secret: c2VjcmV0
    txt-cache-interval: 1m
    domain-filter: [example.net, a..b]
    oneOf: []
";
    let (files, read) = read_text(text);
    let shown = render(&read.diagnostics, &files);
    assert!(!shown.contains("c2VjcmV0"), "{shown}");
    insta::assert_snapshot!(shown, @r##"
    r.yaml:1:21: error[unknown-key]: there is no key `nam` here
      1 | metadata: {name: a, nam: b}
        |                     ^^^
        = hint: did you mean `name`?
    r.yaml:5:5: error[unknown-key]: there is no parameter `rfc2136-hots`
      5 |     rfc2136-hots: 192.0.2.1
        |     ^^^^^^^^^^^^
        = hint: did you mean `rfc2136-host` or `rfc2136-port` or `rfc2136-zone`?
    r.yaml:7:5: error[inline-secret]: `rfc2136-tsig-secret` is refused: a secret is never in a file of records
        = hint: remove it, and write `tsig_key = { secret_file = "FILE" }` in the `[dns_update_record.NAME]` of zonewright.toml
    r.yaml:8:5: warning[without-effect]: `txt-cache-interval` has no effect: what zonewright reads is never older than the run
      8 |     txt-cache-interval: 1m
        |     ^^^^^^^^^^^^^^^^^^
        = hint: remove it, or leave it for external-dns
    r.yaml:9:34: error[bad-value]: `domain-filter` cannot have this value: an empty label
      9 |     domain-filter: [example.net, a..b]
        |                                  ^^^^
        = hint: the domains whose names are published; all where there are none. A dot in front leaves the domain itself out
    r.yaml:10:5: error[one-of-literal]: `oneOf` is a word of schemas, and here are values
      10 |     oneOf: []
         |     ^^^^^
         = hint: write the parameters of one provider directly below `external-dns-parameters`, such as `policy: sync`
    r.yaml:3:13: warning[default-policy]: nothing says `policy`: it is `sync`, which deletes own records that nothing states
      3 |   provider: rfc2136
        |             ^^^^^^^
        = hint: write `policy: sync`, or another one
    r.yaml:6:19: error[no-zone]: the record has no `rfc2136-zone`: external-dns would update the root
      6 |     rfc2136-zone: ''
        |                   ^^
        = hint: write the zones that the server has
    "##);
}

#[test]
fn documents_that_are_none_say_so() {
    for (text, is_whole, found) in [
        ("", true, &["empty-file"][..]),
        ("---\n", true, &["empty-file"]),
        ("[]\n", false, &["wrong-type"]),
        ("spec: {provider: aws}\n", false, &["default-policy", "missing-key"]),
        ("metadata: {name: A}\nspec: {provider: aws}\n", false, &["bad-value", "default-policy"]),
        ("metadata: {name: -a}\nspec: {provider: aws}\n", false, &["bad-value", "default-policy"]),
        ("metadata: {name: a}\n", true, &["missing-key"]),
        ("metadata: {name: a}\nspec: {}\n", true, &["missing-key"]),
        ("metadata: {name: a}\nspec: {provider: bind}\n", true, &["bad-value"]),
        (
            "metadata: {name: a}\nspec: {provider: aws, external-dns-parameters: []}\n",
            true,
            &["default-policy", "wrong-type"],
        ),
        ("metadata: {name: a}\nspec: {oneOf: [], provider: aws}\n", true, &["default-policy", "one-of-literal"]),
        ("metadata: {name: a, userdata1: []}\nspec: {provider: aws}\n", true, &["default-policy", "wrong-type"]),
        (
            "metadata: {name: a}\nmetadata: {name: b}\nspec: {provider: aws}\n",
            true,
            &["default-policy", "duplicate-key"],
        ),
        ("metadata: &x {name: a}\nspec: {provider: aws}\n", false, &["yaml-anchor"]),
        ("metadata: {name: a}\nspec: {provider: aws\n", false, &["yaml-syntax"]),
        (
            "metadata: {name: a, userData1: x}\nspec: {provider: aws, external-dns-parameters: }\n",
            true,
            &["default-policy"],
        ),
    ] {
        let (_, read) = read_text(text);
        let mut codes: Vec<&str> = read.diagnostics.iter().map(|found| found.code.as_str()).collect();
        codes.sort_unstable();
        assert_eq!((codes.as_slice(), read.is_whole), (found, is_whole), "{text}");
    }
}

#[test]
fn of_several_documents_one_that_is_wrong_spoils_no_other() {
    let text = "metadata: {name: a}\nspec: {provider: aws, external-dns-parameters: {policy: all}}\n---\n\
        metadata: {name: b, description: x, userData1: y}\nspec: {provider: azure, external-dns-parameters: {policy: sync}}\n";
    let (_, read) = read_text(text);
    let found: Vec<_> = read.records.iter().map(|record| (record.name.as_str(), codes(record))).collect();
    assert_eq!(found, [("a", vec!["bad-value"]), ("b", vec![])]);
    assert_eq!(read.records[1].notes.description.as_deref(), Some("x"));
    assert_eq!(read.records[1].notes.userdata1.as_deref(), Some("y"));
}

#[test]
fn times_are_those_of_go() {
    let text = |value: &str| {
        format!(
            "metadata: {{name: a}}\nspec: {{provider: aws, external-dns-parameters: {{interval: {value}, policy: sync}}}}\n"
        )
    };
    for (value, milliseconds) in
        [("0", 0), ("0s", 0), ("1m", 60_000), ("1m30s", 90_000), ("1.5h", 5_400_000), ("250ms", 250), ("1500us", 2)]
    {
        let record = record_of(&text(value));
        assert_eq!(record.without_effect[0].value, ParameterValue::Milliseconds(milliseconds), "{value}");
    }
    for value in ["1", "1d", "-1s", "s", "1..5s", "''"] {
        assert_eq!(codes(&record_of(&text(value))), ["bad-value"], "{value}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Each parameter that is given is a setting, has no effect, or is wrong; none is two of these, and none is lost.
    #[test]
    fn no_parameter_is_dropped_in_silence(
        provider in 0..EXAMPLES.len(),
        given in proptest::collection::vec((0..ParameterName::ALL.len(), any::<bool>(), 0..VALUES.len()), 1..12),
    ) {
        let mut document = ExampleDocument::of(EXAMPLES[provider].0);
        document.parameters = given.iter().map(|(name, is_negated, value)| {
            let no = if *is_negated { "no-" } else { "" };
            (format!("{no}{}", ParameterName::ALL[*name]), VALUES[*value].to_owned())
        }).collect();
        let text = document.text();
        let record = record_of(&text);
        let kept = record.settings.len() + record.without_effect.len();
        for (key, _) in &document.parameters {
            let name = named(key).unwrap();
            let place = |origin: crate::diag::Origin| origin.col as usize;
            let is_there = record.settings.iter().any(|setting| setting.name == name)
                || record.without_effect.iter().any(|remark| remark.name == name)
                || record.problems.iter().any(|problem| problem.message.contains(&format!("`{key}`")) && place(problem.origin) > 0);
            prop_assert!(is_there, "{key} of {text}");
        }
        let names: std::collections::BTreeSet<_> = record.settings.iter().map(|setting| setting.name)
            .chain(record.without_effect.iter().map(|remark| remark.name)).collect();
        prop_assert_eq!(names.len(), kept, "one parameter is there twice: {}", text);
        prop_assert!(kept + record.problems.len() >= document.parameters.len(), "{}", text);
    }
}

/// Values of all kinds, for random parameters.
const VALUES: [&str; 12] = [
    "true",
    "\"false\"",
    "\"\"",
    "\"example.net\"",
    "[\"example.net\"]",
    "3",
    "\"1m\"",
    "\"sync\"",
    "\"noop\"",
    "null",
    "{}",
    "\"axfr\"",
];
