//! Names and texts of the registry: the tables of `registry/mapper/mapper_test.go` and `endpoint/labels_test.go`.

use serde_json::Value;
use zonewright::dns::{Name, Rdata, Rtype};
use zonewright::registry::{MarkAffix, MarkForm, MarkLabels, TxtKey};

use super::{Differences, cases, tables, text};

/// What of names zonewright has otherwise: the way, the name, the reason, what zonewright has.
const NAMES: &[(&str, &str, &str)] = &[
    (
        "read caa-foo.example.org",
        "zonewright states CAA, too, and so reads the type; external-dns reads another host's name of the old form",
        "CAA foo.example.org",
    ),
    ("read bar.example.org (-txt)", "a name that begins with a dot is none", ""),
];

/// The form of names that a case sets; none where external-dns refuses it.
fn form_of(case: &Value) -> Option<MarkForm> {
    let affix = match (text(case, "prefix"), text(case, "suffix")) {
        ("", "") => None,
        (prefix, "") => Some(MarkAffix::prefix(prefix).expect("a prefix")),
        ("", suffix) => Some(MarkAffix::suffix(suffix).expect("a suffix")),
        _ => return None,
    };
    let wildcard = Some(text(case, "wildcard_replacement")).filter(|text| !text.is_empty());
    Some(MarkForm { affix, wildcard: wildcard.map(|text| MarkForm::wildcard(text).expect("a label")) })
}

/// A name as the tables have it: without the final dot.
fn shown(name: &Name) -> String {
    name.to_string().trim_end_matches('.').to_owned()
}

/// A text of the table as zonewright has names: in lower case, without the final dot.
fn folded(name: &str) -> String {
    name.trim_end_matches('.').to_lowercase()
}

/// The name of the TXT of a record.
fn written(form: &MarkForm, name: &str, rtype: &str) -> String {
    let name = Name::parse(name).expect("a name");
    let rtype: Rtype = rtype.parse().expect("a type");
    shown(&form.txt_name(name.as_name(), rtype).expect("it is not the root").expect("a name"))
}

/// The record that a name of a TXT is for: its type, empty where the name has none, and its name; empty where it is for none.
fn read(form: &MarkForm, name: &str) -> String {
    let name = Name::parse(name).expect("a name");
    let read = form.recorded_by(name.as_name());
    read.map_or(String::new(), |(rtype, name)| {
        record(&rtype.map_or(String::new(), |rtype| rtype.to_string()), &shown(&name))
    })
}

/// A type and a name as [`read`] has them.
fn record(rtype: &str, name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{rtype} {}", folded(name)) }
}

#[test]
fn names_are_written_and_read_as_external_dns_does() {
    let tables = tables("registry.json");
    let ours = NAMES.iter().map(|(case, reason, ours)| (*case, *reason, (*ours).to_owned()));
    let mut names = Differences::new(ours);
    let [to_txt, to_record, extra] =
        ["mapper_to_txt_name", "mapper_to_endpoint_name", "mapper_extra"].map(|table| cases(&tables, table));
    let mut refused = 0;
    for case in to_txt.iter().chain(extra).filter(|case| case["dns_name"].is_string()) {
        let Some(form) = form_of(case) else {
            refused += 1;
            continue;
        };
        let (name, rtype) = (text(case, "dns_name"), text(case, "record_type"));
        names.compare(&format!("write {rtype} {name}"), folded(text(case, "txt_name")), written(&form, name, rtype));
    }
    for case in to_record.iter().chain(extra) {
        let is_extra = case["read_dns_name"].is_string();
        let [name, rtype] = if is_extra { ["read_dns_name", "read_record_type"] } else { ["dns_name", "record_type"] };
        let txt = text(case, "txt_name");
        let Some(form) = form_of(case) else {
            refused += 1;
            continue;
        };
        let affix = format!("{}{}", text(case, "prefix"), text(case, "suffix"));
        let label = if affix.is_empty() { format!("read {txt}") } else { format!("read {txt} ({affix})") };
        names.compare(&label, record(text(case, rtype), text(case, name)), read(&form, txt));
    }
    assert_eq!(refused, 3, "cases with prefix and suffix at once, which external-dns refuses at its start");
    assert_eq!(names.end(), 128);
}

/// The text that a TXT of these labels has.
fn expected_text(labels: &Value) -> Option<String> {
    let labels = labels.as_object()?;
    let mut keys: Vec<&String> = labels.keys().collect();
    keys.sort();
    let parts = keys.iter().map(|key| format!(",external-dns/{key}={}", labels[key.as_str()].as_str().expect("text")));
    Some(std::iter::once("heritage=external-dns".to_owned()).chain(parts).collect())
}

/// The text of a TXT whose strings are joined.
fn joined(rdata: &Rdata) -> String {
    let strings: Vec<&[u8]> = rdata.as_rdata(Rtype::TXT).strings().collect();
    String::from_utf8(strings.concat()).expect("UTF-8")
}

#[test]
fn texts_are_read_and_written_as_external_dns_does() {
    let tables = tables("registry.json");
    let mut texts = Differences::new([]);
    let key = |case: &Value| case["aes_key"].as_str().map(|key| TxtKey::parse(key.as_bytes()).expect("a key"));
    for table in ["labels", "labels_extra"] {
        for case in cases(&tables, table) {
            let rdata = Rdata::from_long_text(text(case, "text").as_bytes());
            let labels = MarkLabels::read_with(rdata.as_rdata(Rtype::TXT), key(case).as_ref());
            // Quotes stay as they were read.
            let ours = labels.as_ref().map(|labels| joined(&labels.to_rdata()).trim_matches('"').to_owned());
            let owner = labels.as_ref().map(|labels| labels.owner().to_owned());
            let expected_owner = case["labels"].as_object().map(|_| text(&case["labels"], "owner").to_owned());
            texts.compare(text(case, "text"), (expected_text(&case["labels"]), expected_owner), (ours, owner));
        }
    }
    for case in cases(&tables, "serialize") {
        let made = expected_text(&case["labels"]).expect("labels");
        if let Some(key) = key(case) {
            // What external-dns encrypts is read, and zonewright writes it plainly.
            let sealed = Rdata::from_long_text(text(case, "text").as_bytes());
            let read = MarkLabels::read_with(sealed.as_rdata(Rtype::TXT), Some(&key));
            texts.compare(
                text(case, "text"),
                (Some(made), None),
                (read.map(|labels| joined(&labels.to_rdata()).trim_matches('"').to_owned()), None),
            );
            continue;
        }
        // Labels are made by reading them; the quotes are those of a master file.
        let read = MarkLabels::read(Rdata::from_long_text(made.as_bytes()).as_rdata(Rtype::TXT));
        let ours = read.map(|labels| joined(&labels.to_rdata()));
        texts.compare(text(case, "text"), (Some(text(case, "text").trim_matches('"').to_owned()), None), (ours, None));
    }
    for case in cases(&tables, "generate") {
        let record = &case["record"];
        let form = form_of(&case["config"]).expect("a form");
        let rtype: Rtype = text(record, "type").parse().expect("a type");
        // One has a label of over 63 octets.
        let name = Name::parse(text(record, "dns_name")).ok();
        let txt = name.and_then(|name| form.txt_name(name.as_name(), rtype)?.ok());
        let labels = MarkLabels::new(text(&case["config"], "owner"), None);
        let ours = txt.map(|name| format!("{} {}", shown(&name), joined(&labels.to_rdata())));
        let theirs = case["expected"].as_array().expect("a list").first().map(|txt| {
            format!("{} {}", text(txt, "dns_name"), txt["targets"][0].as_str().expect("text").trim_matches('"'))
        });
        texts.compare(text(case, "name"), (theirs, None), (ours, None));
    }
    assert_eq!(texts.end(), 42);
}

#[test]
fn encrypted_texts_are_opened_as_external_dns_does() {
    let tables = tables("registry.json");
    let mut opened = Differences::new([]);
    for case in cases(&tables, "aes_keys") {
        let given = text(case, "given");
        let taken = |is_taken: bool| is_taken.then(|| "a key".to_owned());
        opened.compare(given, taken(case["accepted"] == true), taken(TxtKey::parse(given.as_bytes()).is_some()));
    }
    for case in cases(&tables, "decrypt") {
        let key = TxtKey::parse(text(case, "aes_key").as_bytes()).expect("a key");
        let ours = key.open(text(case, "text").as_bytes()).map(|plain| String::from_utf8(plain).expect("UTF-8"));
        opened.compare(text(case, "text"), case["plain"].as_str().map(str::to_owned), ours);
    }
    assert_eq!(opened.end(), 6);
}
