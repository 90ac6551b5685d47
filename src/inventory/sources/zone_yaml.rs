//! Zones as YAML that octoDNS reads, too: the inverse of the format `octodns`, which reads back each record before it is
//! written.

use std::fmt::Write as _;

use super::octodns::{ValuePart, parts, read_rrset};
use super::stated::ReadEntry;
use crate::diag::Files;
use crate::dns::{Name, RdataRef, RrsetRef, Rtype, ZoneContents, is_of_signer};
use crate::inventory::node::SourceText;
use crate::inventory::stated::EntryContent;
use crate::inventory::yaml;

/// A zone in YAML.
#[derive(Debug, Default)]
pub struct ZoneYaml {
    /// The text of its file.
    pub text: String,
    /// How many RRsets the text has.
    pub rrsets: usize,
    /// The RRsets that this form cannot say, as they are in DNS.
    pub unsaid: Vec<(Name, Rtype)>,
}

/// Writes a zone, but for what its server or a signer makes, and for the RRsets at names that `is_ours`. Names and keys are in
/// the order that octoDNS asks for.
pub fn zone_yaml(contents: &ZoneContents, is_ours: impl Fn(&Name) -> bool) -> ZoneYaml {
    let mut zone = ZoneYaml { text: "---\n".to_owned(), ..ZoneYaml::default() };
    let apex = contents.apex().as_name();
    let is_of_server = |rrset: &RrsetRef<'_>| match rrset.rtype() {
        Rtype::SOA => true,
        Rtype::NS => rrset.is_at(apex),
        rtype => is_of_signer(rtype),
    };
    let stated = contents.rrsets().filter(|rrset| !is_of_server(rrset));
    let mut records: Vec<RecordYaml> = Vec::new();
    for rrset in stated {
        let owner = rrset.owner();
        if is_ours(&owner) {
            continue;
        }
        match RecordYaml::of(rrset, contents) {
            Some(record) => records.push(record),
            None => zone.unsaid.push((owner, rrset.rtype())),
        }
    }
    records.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.rtype.cmp(&b.rtype)));
    zone.unsaid.sort_by_key(|(owner, rtype)| (owner.to_string(), rtype.to_int()));
    zone.rrsets = records.len();
    if records.is_empty() {
        zone.text = "--- {}\n".to_owned();
    }
    for same in records.chunk_by(|a, b| a.owner == b.owner) {
        writeln!(zone.text, "{}:", key(&same[0].owner)).expect("a string has room");
        for record in same {
            let is_alone = same.len() == 1;
            for (number, line) in record.lines.iter().enumerate() {
                let before = match (is_alone, number) {
                    (true, _) => "  ",
                    (false, 0) => "  - ",
                    (false, _) => "    ",
                };
                writeln!(zone.text, "{before}{line}").expect("a string has room");
            }
        }
    }
    zone
}

/// One record of the file: an RRset.
struct RecordYaml {
    /// Its name, relative to the zone.
    owner: String,
    /// Where its name is among others.
    order: Vec<(String, usize, String)>,
    /// Its type.
    rtype: String,
    /// Its lines.
    lines: Vec<String>,
}

impl RecordYaml {
    /// Writes an RRset; none where no text is read as just that.
    fn of(rrset: RrsetRef<'_>, contents: &ZoneContents) -> Option<RecordYaml> {
        let owner = relative(&rrset.owner(), contents);
        // The reader takes these for something else than a name in the zone.
        if owner.ends_with('.') || owner == "@" {
            return None;
        }
        let lines = [true, false].into_iter().find_map(|by_parts| {
            let values: Option<Vec<Vec<String>>> = rrset.rdata().map(|value| written(value, by_parts)).collect();
            let lines = record(rrset, &values?);
            is_read_back(&lines.join("\n"), rrset).then_some(lines)
        })?;
        Some(RecordYaml { order: order(&owner), owner, rtype: rrset.rtype().to_string(), lines })
    }
}

/// The lines of a record.
fn record(rrset: RrsetRef<'_>, values: &[Vec<String>]) -> Vec<String> {
    let mut lines = vec![format!("ttl: {}", rrset.ttl().as_secs()), format!("type: {}", rrset.rtype())];
    let is_one = values.len() == 1;
    match values {
        [value] if value.len() == 1 => lines.push(format!("value: {}", value[0])),
        _ => {
            lines.push(if is_one { "value:" } else { "values:" }.to_owned());
            for value in values {
                for (number, line) in value.iter().enumerate() {
                    let before = match (is_one, number) {
                        (true, _) => "  ",
                        (false, 0) => "  - ",
                        (false, _) => "    ",
                    };
                    lines.push(format!("{before}{line}"));
                }
            }
        }
    }
    lines
}

/// Whether a record is read as just this RRset.
fn is_read_back(text: &str, rrset: RrsetRef<'_>) -> bool {
    let parsed = yaml::parse_documents(&SourceText { file: Files::default().add("-"), text: text.to_owned() });
    let ([document], None) = (&parsed.documents[..], &parsed.broken) else { return false };
    let mut faults = Vec::new();
    let read = read_rrset(&document.root, rrset.rtype(), &mut faults);
    let ReadEntry::Good { content: EntryContent::Rrset(read), .. } = read else { return false };
    let expected = rrset.to_rrset();
    let has_ttl = read.ttl.is_some_and(|(ttl, _)| ttl == expected.ttl());
    faults.is_empty() && document.faults.is_empty() && has_ttl && read.values == expected.rdata()
}

/// The lines of a value: its parts, each with its key, or one text.
fn written(value: RdataRef<'_>, by_parts: bool) -> Option<Vec<String>> {
    if matches!(value.rtype, Rtype::TXT | Rtype::SPF) {
        return Some(vec![single(&text_of_strings(value))]);
    }
    let text = value.to_string();
    let parts = parts(value.rtype);
    // What has no better form is written as a type that is not known, and has no parts then.
    if parts.is_empty() || !by_parts || text.starts_with("\\#") {
        return Some(vec![scalar(&text)]);
    }
    let mut words = words(&text).into_iter();
    let mut lines = Vec::new();
    for part in parts {
        let (key, word) = match part {
            ValuePart::Word(keys) | ValuePart::Name(keys) => (keys[0], scalar(&words.next()?)),
            ValuePart::Text(keys) => (keys[0], single(&bare(&words.next()?))),
            ValuePart::Default(key, _) => (*key, scalar(&words.next()?)),
            ValuePart::Metres(key, _) => (*key, scalar(words.next()?.trim_end_matches('m'))),
            ValuePart::Params => {
                let mut params: Vec<String> = words.by_ref().map(|word| param(&word)).collect();
                params.sort_unstable();
                if !params.is_empty() {
                    lines.push(format!("svcparams: {{{}}}", params.join(", ")));
                }
                continue;
            }
        };
        lines.push(format!("{key}: {word}"));
    }
    lines.sort_unstable();
    words.next().is_none().then_some(lines)
}

/// The strings of a TXT as one text, in which `\` escapes.
fn text_of_strings(value: RdataRef<'_>) -> String {
    let octets: Vec<u8> = value.strings().flatten().copied().collect();
    let mut text = String::new();
    for (at, octet) in octets.iter().enumerate() {
        match octet {
            b'\\' => text.push_str("\\\\"),
            b';' => text.push_str("\\;"),
            // Quotes around the whole would be read as no part of it.
            b'"' if at == 0 => text.push_str("\\034"),
            0x20..=0x7e => text.push(char::from(*octet)),
            _ => write!(text, "\\{octet:03}").expect("a string has room"),
        }
    }
    text
}

/// A service parameter as an entry of a mapping.
fn param(word: &str) -> String {
    match word.split_once('=') {
        None => format!("{}: null", scalar(word)),
        Some((key, value)) => {
            let values: Vec<String> = bare(value).split(',').map(single).collect();
            // octoDNS asks for lists here, of one value, too.
            let is_list = ["alpn", "ipv4hint", "ipv6hint", "mandatory"].contains(&key) || values.len() > 1;
            if is_list { format!("{key}: [{}]", values.join(", ")) } else { format!("{key}: {}", values[0]) }
        }
    }
}

/// The words of a text in presentation format, quotes with them; a quote may begin inside a word, as in `alpn="h2"`.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut is_quoted, mut is_escaped) = (false, false);
    for c in text.chars() {
        if c == ' ' && !is_quoted && !is_escaped {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            continue;
        }
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        word.push(c);
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// A word without the quotes around it.
fn bare(word: &str) -> String {
    let inner = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    inner.unwrap_or(word).to_owned()
}

/// The name of a record in the file of its zone.
fn relative(owner: &Name, contents: &ZoneContents) -> String {
    let (owner, apex) = (owner.to_string(), contents.apex().as_name().to_string());
    let suffix = format!(".{apex}");
    owner.strip_suffix(&suffix).map(str::to_owned).unwrap_or_default()
}

/// Where octoDNS has a name among others: numbers count by their value.
fn order(owner: &str) -> Vec<(String, usize, String)> {
    let mut order: Vec<(String, usize, String)> = Vec::new();
    let mut rest = owner;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, from) = rest.split_at(digits);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (number, after) = from.split_at(end);
        let number = number.trim_start_matches('0');
        order.push((text.to_owned(), number.len(), number.to_owned()));
        rest = after;
    }
    order
}

/// A key of YAML, in quotes where YAML would read something else than this text.
fn key(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    // YAML 1.1, which octoDNS uses, takes these for Booleans.
    let is_word = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    let is_bare = begins && text.chars().all(is_plain) && !is_word.contains(&text.to_ascii_lowercase().as_str());
    if is_bare { text.to_owned() } else { single(text) }
}

/// A scalar of YAML, bare where it is a number, an IPv4 address or a name.
fn scalar(text: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    let is_decimal = text == "0" || (is_number(text) && !text.starts_with('0'));
    let is_v4 = text.split('.').count() == 4 && text.split('.').all(is_number);
    if is_decimal || is_v4 || text.starts_with(|c: char| c.is_ascii_alphabetic()) && key(text) == text {
        text.to_owned()
    } else {
        single(text)
    }
}

/// A scalar of YAML in single quotes.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
