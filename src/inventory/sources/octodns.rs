//! Zones in YAML as octoDNS reads them: a file each zone, whose name is the zone's.
//!
//! Source: octoDNS 1.10, octodns/provider/yaml.py and octodns/record.

use std::collections::HashMap;
use std::fmt::Write as _;

use rayon::prelude::*;

use super::stated::rdata::{self, FinalDots};
use super::stated::{
    BAD_MANIFEST, NodeFault, ReadEntry, StatedPiece, StatedText, first_unknown, join, meanings, records_of, rtype_of,
    text_of, to_ascii, ttl_of, twice,
};
use super::{ExportFormat, RowContext, SourceFile, SourceInput, SourcePart};
use crate::diag::{Diagnostic, Origin};
use crate::dns::{Name, Rdata, Rtype, Ttl};
use crate::inventory::node::{SettingsKey, SettingsNode, SettingsValue};
use crate::inventory::source::{Occurrence, RecordsSpec, SourceKeys};
use crate::inventory::stated::{EntryContent, StatedBy, StatedRrset};
use crate::inventory::yaml::{self, YamlDocuments};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "records",
    word: "octodns",
    keys: SourceKeys::NONE,
    occurs: Occurrence::Stated,
    gives_names: false,
    read,
    meanings,
};

/// The TTL of records that state none: octoDNS' default.
const DEFAULT_TTL: u64 = 3600;

/// The keys of a record.
const KEYS: [&str; 9] = ["dynamic", "geo", "lenient", "octodns", "ttl", "type", "value", "values", "weighted"];

/// The keys of a record that ask for what no plain record has.
const ROUTING: [&str; 3] = ["geo", "dynamic", "weighted"];

/// The types that are not of DNS, but of a provider.
const OF_PROVIDERS: [&str; 3] = ["ALIAS", "URLFWD", "ANAME"];

/// One part of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValuePart {
    /// A number or a word.
    Word(&'static [&'static str]),
    /// A name.
    Name(&'static [&'static str]),
    /// Text, which goes between quotes.
    Text(&'static [&'static str]),
    /// A number that may be left out, with what it is then.
    Default(&'static str, &'static str),
    /// Metres that may be left out, with how many they are then.
    Metres(&'static str, &'static str),
    /// The parameters of a service.
    Params,
}

/// The parts of the values of a type, each with the keys that it may have; none for types whose values are texts.
pub(super) fn parts(rtype: Rtype) -> &'static [ValuePart] {
    use ValuePart::{Default, Metres, Name, Params, Text, Word};
    match rtype {
        Rtype::MX => &[Word(&["preference", "priority"]), Name(&["exchange", "value"])],
        Rtype::SRV => &[Word(&["priority"]), Word(&["weight"]), Word(&["port"]), Name(&["target"])],
        Rtype::CAA => &[Default("flags", "0"), Word(&["tag"]), Text(&["value"])],
        Rtype::DS => &[Word(&["key_tag"]), Word(&["algorithm"]), Word(&["digest_type"]), Word(&["digest"])],
        Rtype::SSHFP => &[Word(&["algorithm"]), Word(&["fingerprint_type"]), Word(&["fingerprint"])],
        Rtype::TLSA => &[
            Word(&["certificate_usage"]),
            Word(&["selector"]),
            Word(&["matching_type"]),
            Word(&["certificate_association_data"]),
        ],
        Rtype::URI => &[Word(&["priority"]), Word(&["weight"]), Text(&["target"])],
        Rtype::NAPTR => &[
            Word(&["order"]),
            Word(&["preference"]),
            Text(&["flags"]),
            Text(&["service"]),
            Text(&["regexp"]),
            Name(&["replacement"]),
        ],
        Rtype::SVCB | Rtype::HTTPS => &[Word(&["svcpriority"]), Name(&["targetname"]), Params],
        Rtype::LOC => &[
            Word(&["lat_degrees"]),
            Word(&["lat_minutes"]),
            Word(&["lat_seconds"]),
            Word(&["lat_direction"]),
            Word(&["long_degrees"]),
            Word(&["long_minutes"]),
            Word(&["long_seconds"]),
            Word(&["long_direction"]),
            Metres("altitude", "0"),
            Metres("size", "1"),
            Metres("precision_horz", "10000"),
            Metres("precision_vert", "10"),
        ],
        _ => &[],
    }
}

/// Reads a source of zones.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let records = records_of(input);
    let piece = |file: &SourceFile<'_>| read_file(file, context.files.name(file.id), records);
    let pieces = input.files.par_iter().map(piece).collect();
    join(input, context, pieces, &[])
}

/// The zone that a file is for: its name without the ending.
fn zone_of(name: &str) -> Option<Name> {
    let last = name.rsplit('/').next().unwrap_or(name);
    let stem = last.strip_suffix(".yaml").or_else(|| last.strip_suffix(".yml"))?;
    Name::parse(stem).ok().filter(|zone| *zone != Name::root())
}

/// Reads one file.
fn read_file(file: &SourceFile<'_>, name: &str, records: &RecordsSpec) -> StatedPiece {
    let mut piece = StatedPiece::default();
    let Some(zone) = zone_of(name) else {
        let message = "the name of the file is not that of a zone";
        let diagnostic = Diagnostic::file_error(BAD_MANIFEST, file.id, message);
        piece.refuse(diagnostic.hint("name it as its zone, such as `example.net.yaml`; or let `path` leave it out"));
        return piece;
    };
    let Some(text) = piece.text_of(file) else { return piece };
    let YamlDocuments { documents, broken } = yaml::parse_documents(&text.source);
    let faults = documents.iter().flat_map(|document| document.faults.iter());
    let broken = broken.or_else(|| faults.into_iter().next().cloned());
    piece.begin(StatedBy::Zone(zone.clone()), Origin::line(file.id, 1));
    // What a zone states is not known where a part of its file is not.
    if let Some(broken) = broken {
        piece.cut_short();
        piece.refuse(broken);
        return piece;
    }
    let mut reader = ZoneReader { text: &text, records, zone, piece };
    match &documents[..] {
        [document] if !document.root.is_null() => reader.read_zone(&document.root),
        [_, second, ..] if documents.iter().any(|document| !document.root.is_null()) => {
            let fault =
                NodeFault::of(&second.root, "a second document begins", "keep one document in the file of a zone");
            reader.piece.cut_short();
            reader.piece.refuse(text.error(BAD_MANIFEST, &fault));
        }
        _ => {
            let diagnostic = Diagnostic::file_error(BAD_MANIFEST, file.id, "the file has no document");
            reader.piece.cut_short();
            reader.piece.refuse(diagnostic.hint("restore it; the file of a zone that is to have no records says `{}`"));
        }
    }
    reader.piece
}

/// Reads the records of a zone.
struct ZoneReader<'a> {
    /// The text.
    text: &'a StatedText,
    /// What counts.
    records: &'a RecordsSpec,
    /// The zone.
    zone: Name,
    /// What was read so far.
    piece: StatedPiece,
}

impl ZoneReader<'_> {
    /// Reads all names.
    fn read_zone(&mut self, root: &SettingsNode) {
        let SettingsValue::Table(entries) = &root.value else {
            let fault = NodeFault::of(root, "the file is not a mapping", "write names, each with its records");
            self.piece.cut_short();
            return self.piece.refuse(self.text.error(BAD_MANIFEST, &fault));
        };
        let mut names: HashMap<&str, usize> = HashMap::new();
        entries.iter().for_each(|(key, _)| *names.entry(key.name.as_str()).or_default() += 1);
        for (key, node) in entries {
            let owner = self.owner(key);
            if names[key.name.as_str()] > 1 {
                let fault = NodeFault {
                    origin: key.origin,
                    width: key.width,
                    message: format!("the name `{}` is there twice", key.name),
                    hint: "join its records in one list".to_owned(),
                };
                self.piece.add(self.text, owner.ok(), node.origin, ReadEntry::Bad(vec![fault]));
                continue;
            }
            match &node.value {
                SettingsValue::List(records) => records.iter().for_each(|record| self.read_record(&owner, record)),
                _ => self.read_record(&owner, node),
            }
        }
    }

    /// The owner name of a key, which is relative to the zone.
    fn owner(&self, key: &SettingsKey) -> Result<Name, NodeFault> {
        let text = key.name.as_str();
        let wrong = |why: String, hint: &str| {
            NodeFault::of_key(key, format!("`{text}` is not a name in the zone: {why}"), hint)
        };
        let relative = "names are relative to the zone; the zone itself is `''`";
        match text {
            "" => Ok(self.zone.clone()),
            "@" | "~" => Err(wrong("it has no name".to_owned(), relative)),
            _ if text.ends_with('.') => Err(wrong("it ends with a dot".to_owned(), relative)),
            _ if text.contains(char::is_whitespace) => Err(wrong("it has a blank".to_owned(), relative)),
            _ => {
                let ascii = if text.is_ascii() { Ok(text.to_owned()) } else { to_ascii(text) };
                let ascii = ascii.map_err(|why| wrong(why, relative))?;
                let name = Name::parse_relative(ascii.as_bytes(), &self.zone);
                name.map_err(|error| wrong(error.to_string(), relative))
            }
        }
    }

    /// Reads one record, unless its type does not count.
    fn read_record(&mut self, owner: &Result<Name, NodeFault>, node: &SettingsNode) {
        let of_provider = node.get("type").and_then(SettingsNode::as_text).filter(|text| OF_PROVIDERS.contains(text));
        let rtype = match node.get("type") {
            _ if of_provider.is_some() => Ok(Rtype::from_int(0)),
            Some(node) => rtype_of(node),
            None => Err(NodeFault::of(node, "the record has no `type`", "write its type, such as `type: A`")),
        };
        if rtype.as_ref().is_ok_and(|rtype| !self.counts(owner, *rtype, of_provider.is_some())) {
            return;
        }
        if let (true, Ok(_), Ok(rtype)) = (is_ignored(node), owner, &rtype) {
            if of_provider.is_none() {
                let read = ReadEntry::Good { content: EntryContent::LeftAlone(*rtype), unused: Vec::new() };
                self.piece.add(self.text, owner.as_ref().ok().cloned(), node.origin, read);
            }
            return;
        }
        let mut faults: Vec<NodeFault> = owner.as_ref().err().cloned().into_iter().collect();
        faults.extend(node.key_twice().map(twice).or_else(|| unknown_key(node)));
        let read = match (rtype, of_provider) {
            (_, Some(word)) => {
                let what = format!("`{word}` is a type of some providers, and not one of DNS");
                ReadEntry::Good { content: EntryContent::Unsupported(what), unused: Vec::new() }
            }
            (Err(fault), None) => {
                faults.push(fault);
                ReadEntry::Bad(std::mem::take(&mut faults))
            }
            (Ok(rtype), None) => read_rrset(node, rtype, &mut faults),
        };
        let read = if faults.is_empty() { read } else { ReadEntry::Bad(faults) };
        self.piece.add(self.text, owner.as_ref().ok().cloned(), node.origin, read);
    }

    /// Whether records of a type count at a name.
    fn counts(&self, owner: &Result<Name, NodeFault>, rtype: Rtype, is_of_provider: bool) -> bool {
        match &self.records.record_types {
            Some(types) => !is_of_provider && types.contains(&rtype),
            None => {
                let is_apex = owner.as_ref().is_ok_and(|owner| *owner == self.zone);
                rtype != Rtype::SOA && !(rtype == Rtype::NS && is_apex)
            }
        }
    }
}

/// The first key that no record has.
fn unknown_key(node: &SettingsNode) -> Option<NodeFault> {
    if !matches!(node.value, SettingsValue::Table(_)) {
        return Some(NodeFault::of(node, "the record is not a mapping", "write `type` and `values`"));
    }
    first_unknown(node, &KEYS, |name| format!("no record has `{name}`"))
}

/// Whether octoDNS would leave a record alone.
fn is_ignored(node: &SettingsNode) -> bool {
    let ignored = node.get("octodns").and_then(|own| own.get("ignored"));
    ignored.and_then(SettingsNode::as_text).is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

/// Reads TTL and values.
pub(super) fn read_rrset(node: &SettingsNode, rtype: Rtype, faults: &mut Vec<NodeFault>) -> ReadEntry {
    let asks = ROUTING.iter().find(|key| node.get(key).is_some_and(|node| !node.is_null()));
    if let Some(key) = asks {
        let what = format!("`{key}` asks for routing, which no plain record has");
        return ReadEntry::Good { content: EntryContent::Unsupported(what), unused: Vec::new() };
    }
    let ttl = read_ttl(node).unwrap_or_else(|fault| {
        faults.push(fault);
        None
    });
    let mut values: Vec<Rdata> = Vec::new();
    for item in values_of(node, faults) {
        match read_value(item, rtype) {
            Ok(value) => values.push(value),
            Err(fault) => faults.push(fault),
        }
    }
    values.sort_unstable();
    values.dedup();
    if values.len() > 1 && matches!(rtype, Rtype::CNAME | Rtype::DNAME) {
        faults.push(NodeFault::of(node, format!("a {rtype} has one value"), "keep one of them"));
    }
    let settings = node.get("octodns").map(|own| &own.value);
    let unused = match settings {
        Some(SettingsValue::Table(entries)) => entries.iter().map(|(key, _)| format!("octodns.{}", key.name)).collect(),
        _ => Vec::new(),
    };
    ReadEntry::Good { content: EntryContent::Rrset(StatedRrset { rtype, ttl, values }), unused }
}

/// Reads `ttl`.
fn read_ttl(node: &SettingsNode) -> Result<Option<(Ttl, Origin)>, NodeFault> {
    let default = || (Ttl::from_secs(DEFAULT_TTL).expect("a constant TTL"), node.origin);
    let Some(node) = node.get("ttl").filter(|node| !node.is_null()) else { return Ok(Some(default())) };
    ttl_of(node).map(|ttl| Some((ttl, node.origin)))
}

/// The nodes of the values: `value` or `values`, one or a list.
fn values_of<'n>(node: &'n SettingsNode, faults: &mut Vec<NodeFault>) -> Vec<&'n SettingsNode> {
    let given = ["value", "values"].map(|key| node.get(key).filter(|node| !node.is_null()));
    let found = match given {
        [Some(_), Some(second)] => {
            faults.push(NodeFault::of(second, "the record has `value` and `values`", "keep one of them"));
            return Vec::new();
        }
        [found, None] | [None, found] => found,
    };
    let items: Vec<&SettingsNode> = match found.map(|found| (&found.value, found)) {
        None => Vec::new(),
        Some((SettingsValue::List(items), _)) => items.iter().collect(),
        Some((_, found)) => vec![found],
    };
    if items.is_empty() {
        faults.push(NodeFault::of(node, "the record has no `values`", "write one value at least"));
    }
    items
}

/// Reads one value: a mapping of its parts, or a text.
fn read_value(node: &SettingsNode, rtype: Rtype) -> Result<Rdata, NodeFault> {
    if let SettingsValue::Table(_) = &node.value {
        let parts = parts(rtype);
        if parts.is_empty() {
            return Err(NodeFault::of(
                node,
                format!("the values of {rtype} are texts"),
                "write the data of the record",
            ));
        }
        return rdata::read(node, rtype, &joined(node, parts)?, FinalDots::All);
    }
    let text = text_of(node, "a value")?;
    match rtype {
        Rtype::TXT | Rtype::SPF => {
            // octoDNS takes quotes around it for its own, and joins what they divide.
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            let text = inner.map_or_else(|| text.to_owned(), |inner| inner.replace("\" \"", ""));
            let octets = rdata::unescaped(node, &text)?;
            rdata::long_text(node, &octets)
        }
        _ => rdata::read(node, rtype, text, FinalDots::All),
    }
}

/// The presentation format of a value.
fn joined(node: &SettingsNode, parts: &[ValuePart]) -> Result<String, NodeFault> {
    let mut text = String::new();
    let found = |keys: &[&str]| keys.iter().find_map(|key| node.get(key)).filter(|node| !node.is_null());
    let word = |keys: &[&'static str]| {
        let missing = || NodeFault::of(node, format!("`{}` is missing", keys[0]), "complete the value");
        let part = found(keys).ok_or_else(missing)?;
        Ok((part, text_of(part, "a number or a text")?))
    };
    for part in parts {
        let part = match part {
            ValuePart::Word(keys) | ValuePart::Name(keys) => {
                let (part, word) = word(keys)?;
                if word.is_empty() || word.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')' | ';')) {
                    return Err(NodeFault::of(part, format!("`{word}` is not one word"), "correct this part"));
                }
                word.to_owned()
            }
            ValuePart::Text(keys) => {
                let (part, word) = word(keys)?;
                rdata::quoted(&rdata::unescaped(part, word)?)
            }
            ValuePart::Default(key, default) => {
                let number = found(&[key]).map(|part| text_of(part, "a number")).transpose()?;
                number.unwrap_or(default).to_owned()
            }
            ValuePart::Metres(key, default) => {
                let metres = found(&[key]).map(|part| text_of(part, "a number of metres")).transpose()?;
                format!("{}m", metres.unwrap_or(default))
            }
            ValuePart::Params => match node.get("svcparams").filter(|params| !params.is_null()) {
                Some(params) => read_params(params)?,
                None => continue,
            },
        };
        write!(text, "{}{part}", if text.is_empty() { "" } else { " " }).expect("a string has room");
    }
    Ok(text)
}

/// The presentation format of service parameters.
fn read_params(node: &SettingsNode) -> Result<String, NodeFault> {
    let SettingsValue::Table(entries) = &node.value else {
        return Err(NodeFault::of(node, "`svcparams` is not a mapping", "write keys and values, such as `alpn: [h2]`"));
    };
    let mut params = Vec::new();
    for (key, value) in entries {
        let values = match &value.value {
            SettingsValue::List(items) => {
                let texts = items.iter().map(|item| text_of(item, "a text"));
                texts.collect::<Result<Vec<&str>, NodeFault>>()?.join(",")
            }
            // A parameter without a value.
            SettingsValue::Plain(text) if value.is_null() || text.eq_ignore_ascii_case("true") => String::new(),
            _ => text_of(value, "a text or a list")?.to_owned(),
        };
        params.push(if values.is_empty() { key.name.clone() } else { format!("{}=\"{values}\"", key.name) });
    }
    Ok(params.join(" "))
}
