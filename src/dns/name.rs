//! Domain names in lower-case wire format.
//!
//! Case is settled on the way in, so that names compare, hash and sort as octets.

use std::cmp::Ordering;
use std::fmt;

use serde::{Serialize, Serializer};
use smallvec::SmallVec;

use crate::document::text_in_documents;

/// The longest name, in octets of wire format, the root label included (RFC 1035 section 2.3.4).
pub(super) const MAX_NAME: usize = 255;

/// The longest label, in octets (RFC 1035 section 2.3.4).
pub(super) const MAX_LABEL: usize = 63;

/// How many octets a name takes at most that needs no allocation of its own: those of nearly all hosts, of which a
/// fleet has a million.
const INLINE: usize = 48;

/// An absolute domain name: uncompressed wire format in lower case, at most 255 octets.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(SmallVec<[u8; INLINE]>);

/// A borrowed [`Name`], or one inside the octets of a zone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameRef<'a>(&'a [u8]);

/// Why a text or a string of octets is not a domain name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameError {
    /// Two dots in a row, a dot in front, or nothing at all.
    EmptyLabel,
    /// A label of this many octets, over 63.
    LabelTooLong(usize),
    /// Over 255 octets of wire format.
    NameTooLong,
    /// A backslash that does not begin an escape of RFC 1035 section 5.1.
    BadEscape,
    /// A character that is not allowed in a name here.
    BadCharacter(char),
    /// Octets that are not uncompressed wire format.
    NotWire,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NameError::EmptyLabel => write!(f, "an empty label"),
            NameError::LabelTooLong(octets) => write!(f, "a label of {octets} bytes (63 are allowed)"),
            NameError::NameTooLong => write!(f, "a name of over 255 bytes"),
            NameError::BadEscape => write!(f, "an incomplete escape"),
            NameError::BadCharacter(c) => write!(f, "the character {c:?}"),
            NameError::NotWire => write!(f, "bytes that are not a name"),
        }
    }
}

impl std::error::Error for NameError {}

impl Clone for Name {
    fn clone(&self) -> Name {
        Name::of(&self.0)
    }
}

impl Name {
    /// Takes a copy of octets that are lower-case wire format.
    fn of(wire: &[u8]) -> Name {
        Name(SmallVec::from_slice(wire))
    }

    /// The root.
    pub fn root() -> Name {
        Name::of(&[0])
    }

    /// Parses presentation format with its escapes; the final dot may be left out.
    ///
    /// Errors: see [`NameError`]. Source: RFC 1035 section 5.1.
    pub fn parse(text: &str) -> Result<Name, NameError> {
        Name::parse_octets(text.as_bytes(), None)
    }

    /// Parses presentation format; a name without a final dot is completed by `origin`.
    pub fn parse_relative(text: &[u8], origin: &Name) -> Result<Name, NameError> {
        Name::parse_octets(text, Some(origin))
    }

    /// Parses the name of a host as inventories write it: labels of letters, digits, hyphens and underscores.
    pub fn parse_host(text: &str) -> Result<Name, NameError> {
        if let Some(name) = parse_plain_host(text.as_bytes()) {
            return Ok(name);
        }
        match text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))) {
            Some(c) => Err(NameError::BadCharacter(c)),
            None => Name::parse(text),
        }
    }

    /// Parses `text`; `origin` completes it where the final dot is missing.
    fn parse_octets(text: &[u8], origin: Option<&Name>) -> Result<Name, NameError> {
        let mut wire = Vec::with_capacity(text.len() + 2);
        append_parsed(&mut wire, text, origin.map(Name::as_name))?;
        Ok(Name::of(&wire))
    }

    /// Checks uncompressed wire format and lowers its case.
    pub fn from_wire(wire: &[u8]) -> Result<Name, NameError> {
        let mut at = 0;
        loop {
            let length = *wire.get(at).ok_or(NameError::NotWire)? as usize;
            if length > MAX_LABEL {
                return Err(NameError::NotWire);
            }
            at += 1 + length;
            if length == 0 {
                break;
            }
        }
        if at != wire.len() {
            return Err(NameError::NotWire);
        }
        if at > MAX_NAME {
            return Err(NameError::NameTooLong);
        }
        // Length octets are below 64, so that lowering the case of all octets leaves them alone.
        let mut name = Name::of(wire);
        name.0.make_ascii_lowercase();
        Ok(name)
    }

    /// Puts one label, given as plain octets, before `parent`.
    ///
    /// Errors: the label is empty or over 63 octets, or the name becomes longer than 255.
    pub fn prepend(label: &[u8], parent: NameRef<'_>) -> Result<Name, NameError> {
        Name::prepend_parts(&[label], parent)
    }

    /// Puts one label, given as the plain octets of its parts, before `parent`.
    ///
    /// Errors: as of [`Name::prepend`].
    pub fn prepend_parts(label: &[&[u8]], parent: NameRef<'_>) -> Result<Name, NameError> {
        let length = label.iter().map(|part| part.len()).sum();
        match length {
            0 => return Err(NameError::EmptyLabel),
            1..=MAX_LABEL => {}
            _ => return Err(NameError::LabelTooLong(length)),
        }
        if 1 + length + parent.0.len() > MAX_NAME {
            return Err(NameError::NameTooLong);
        }
        // In one piece, since a name that grows octet by octet has to look for room each time.
        let mut wire = [0; MAX_NAME];
        wire[0] = length as u8;
        let mut end = 1;
        for part in label {
            wire[end..end + part.len()].copy_from_slice(part);
            end += part.len();
        }
        wire[..end].make_ascii_lowercase();
        wire[end..end + parent.0.len()].copy_from_slice(parent.0);
        Ok(Name::of(&wire[..end + parent.0.len()]))
    }

    /// Puts labels, which are lower-case wire format without the root and fit, before `parent`.
    pub(super) fn above(labels: &[u8], parent: NameRef<'_>) -> Name {
        let mut wire = SmallVec::with_capacity(labels.len() + parent.0.len());
        wire.extend_from_slice(labels);
        wire.extend_from_slice(parent.0);
        Name(wire)
    }

    /// Borrows the name.
    pub fn as_name(&self) -> NameRef<'_> {
        NameRef(&self.0)
    }

    /// The octets of the wire format.
    pub fn as_wire(&self) -> &[u8] {
        &self.0
    }
}

/// Parses the name of a host as [`Name::parse_host`] does; `None` for the root, and for anything else.
fn parse_plain_host(text: &[u8]) -> Option<Name> {
    let text = text.strip_suffix(b".").unwrap_or(text);
    if text.is_empty() || text.len() + 2 > MAX_NAME {
        return None;
    }
    // Each dot becomes the length of the label behind it; the root follows the last label.
    let mut wire = [0; MAX_NAME];
    let wire = &mut wire[..text.len() + 2];
    wire[1..=text.len()].copy_from_slice(text);
    wire.make_ascii_lowercase();
    let mut begin = 0;
    let mut is_plain = true;
    for at in 1..wire.len() {
        let octet = wire[at];
        if octet == b'.' || octet == 0 {
            let length = at - begin - 1;
            is_plain &= (1..=MAX_LABEL).contains(&length);
            wire[begin] = length as u8;
            begin = at;
        } else {
            is_plain &= HOST[octet as usize];
        }
    }
    // A zero octet is a label only at the end.
    is_plain &= begin + 1 == wire.len() && memchr::memchr(0, text).is_none();
    is_plain.then(|| Name::of(wire))
}

/// Whether octets are four labels of one octet each, as those of addresses below ip6.arpa are.
pub(super) fn are_four_labels(octets: &[u8; 8]) -> bool {
    u64::from_le_bytes(*octets) & 0x00ff_00ff_00ff_00ff == 0x0001_0001_0001_0001
}

/// Whether each octet, in lower case, is allowed in the label of a host.
const HOST: [bool; 256] = {
    let mut host = [false; 256];
    let mut octet = 0;
    while octet < 256 {
        host[octet] = matches!(octet as u8, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        octet += 1;
    }
    host
};

/// Parses presentation format behind the octets of `wire`, which starts empty; `origin` completes a name without a
/// final dot, else the root does.
///
/// After an error the octets in `wire` are undefined.
pub(super) fn append_parsed(wire: &mut Vec<u8>, text: &[u8], origin: Option<NameRef<'_>>) -> Result<(), NameError> {
    if text == b"." {
        wire.push(0);
        return Ok(());
    }
    let mut label = 0;
    let mut at = 0;
    let mut absolute = false;
    wire.push(0);
    while at < text.len() {
        let plain = text[at..].iter().position(|octet| matches!(octet, b'.' | b'\\')).unwrap_or(text.len() - at);
        wire.extend_from_slice(&text[at..at + plain]);
        at += plain;
        absolute = false;
        match text.get(at) {
            Some(b'.') => {
                close_label(wire, label)?;
                label = wire.len();
                wire.push(0);
                absolute = true;
                at += 1;
            }
            Some(_) => {
                let (value, used) = unescape(&text[at + 1..])?;
                wire.push(value);
                at += 1 + used;
            }
            None => {}
        }
    }
    if !absolute {
        close_label(wire, label)?;
        wire.extend_from_slice(origin.map_or(&[0], |origin| origin.0));
    }
    if wire.len() > MAX_NAME {
        return Err(NameError::NameTooLong);
    }
    // Length octets are below 64, so that lowering the case of all octets leaves them alone.
    wire.make_ascii_lowercase();
    Ok(())
}

/// Writes the length of the label that starts at `label` and ends where `wire` ends.
fn close_label(wire: &mut [u8], label: usize) -> Result<(), NameError> {
    let octets = wire.len() - label - 1;
    match octets {
        0 => Err(NameError::EmptyLabel),
        1..=MAX_LABEL => {
            wire[label] = octets as u8;
            Ok(())
        }
        _ => Err(NameError::LabelTooLong(octets)),
    }
}

/// Reads what follows a backslash: three decimal digits or one octet; gives its value and the octets used.
pub fn unescape(text: &[u8]) -> Result<(u8, usize), NameError> {
    match text {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', ..] => {
            let value = (a - b'0') as u16 * 100 + (b - b'0') as u16 * 10 + (c - b'0') as u16;
            u8::try_from(value).map(|value| (value, 3)).map_err(|_| NameError::BadEscape)
        }
        [b'0'..=b'9', ..] | [] => Err(NameError::BadEscape),
        [octet, ..] => Ok((*octet, 1)),
    }
}

impl<'a> NameRef<'a> {
    /// The root.
    pub const ROOT: NameRef<'static> = NameRef(&[0]);

    /// Takes octets that are known to be lower-case wire format, as those inside a zone's arena are.
    pub(super) fn trusted(wire: &'a [u8]) -> NameRef<'a> {
        NameRef(wire)
    }

    /// Whether octets are labels, in lower case and without the root, that make a name in front of this one.
    pub(super) fn may_have_above(self, labels: &[u8]) -> bool {
        let mut at = 0;
        while let Some(length) = labels.get(at).map(|length| usize::from(*length)) {
            if !(1..=MAX_LABEL).contains(&length) {
                return false;
            }
            at += 1 + length;
        }
        at == labels.len() && at + self.0.len() <= MAX_NAME && !labels.iter().any(u8::is_ascii_uppercase)
    }

    /// The labels of this name above `other`, in wire format without the root: empty if the names are equal; `None` if
    /// this name is neither `other` nor below it.
    pub fn labels_above(self, other: NameRef<'_>) -> Option<&'a [u8]> {
        self.is_at_or_below(other).then(|| &self.0[..self.0.len() - other.0.len()])
    }

    /// The octets of the wire format.
    pub fn as_wire(self) -> &'a [u8] {
        self.0
    }

    /// An owned copy.
    pub fn to_name(self) -> Name {
        Name::of(self.0)
    }

    /// The text without the final dot, as settings and other formats have it; empty for the root.
    pub fn to_dotless_text(self) -> String {
        let mut text = self.to_string();
        text.pop();
        text
    }

    /// The labels from left to right, without the root.
    pub fn labels(self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let length = rest[0] as usize;
            if length == 0 {
                return None;
            }
            let label = &rest[1..=length];
            rest = &rest[1 + length..];
            Some(label)
        })
    }

    /// The leftmost label; `None` for the root.
    pub fn first_label(self) -> Option<&'a [u8]> {
        self.labels().next()
    }

    /// The name without its leftmost label; `None` for the root.
    pub fn parent(self) -> Option<NameRef<'a>> {
        let length = self.0[0] as usize;
        (length > 0).then(|| NameRef(&self.0[1 + length..]))
    }

    /// This name, then its parent, and so on to the root.
    pub fn ancestors(self) -> impl Iterator<Item = NameRef<'a>> {
        std::iter::successors(Some(self), |name| name.parent())
    }

    /// Whether this name is `other` or below it.
    pub fn is_at_or_below(self, other: NameRef<'_>) -> bool {
        // A suffix of octets alone could begin in the middle of a label.
        self.0.ends_with(other.0) && self.begins_label(self.0.len() - other.0.len())
    }

    /// Whether a label begins at an octet of its wire format, at most the last.
    pub fn begins_label(self, start: usize) -> bool {
        // The labels of addresses below ip6.arpa have one octet each, so that no walk through them is needed.
        let (fours, rest) = self.0[..start].as_chunks::<8>();
        let in_nibbles = start.is_multiple_of(2)
            && fours.iter().all(are_four_labels)
            && rest.chunks_exact(2).all(|label| label[0] == 1);
        in_nibbles || {
            let mut at = 0;
            while at < start {
                at += 1 + usize::from(self.0[at]);
            }
            at == start
        }
    }

    /// Whether the leftmost label is the asterisk (RFC 4592 section 2.1.1).
    pub fn is_wildcard(self) -> bool {
        self.first_label() == Some(b"*")
    }
}

impl NameRef<'_> {
    /// Compares as the texts of the names do; hardly any text is made for it.
    pub fn cmp_text(self, other: NameRef<'_>) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        if !(self.is_plain() && other.is_plain()) {
            return self.to_string().cmp(&other.to_string());
        }
        let octets = self.labels().flat_map(|label| label.iter().chain(b"."));
        octets.cmp(other.labels().flat_map(|label| label.iter().chain(b".")))
    }

    /// Whether the labels are their own text; the root has no labels.
    fn is_plain(self) -> bool {
        self.0 != [0] && self.labels().all(is_plain)
    }
}

impl fmt::Display for NameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == [0] {
            return f.write_str(".");
        }
        // Nearly every name needs no escapes, and a plan prints millions: behind its first octet such a name is its
        // text, with a dot for each further length octet.
        let mut text = [0; MAX_NAME];
        text[..self.0.len()].copy_from_slice(self.0);
        let mut dot = 0;
        let plain = self.labels().all(|label| {
            dot += 1 + label.len();
            text[dot] = b'.';
            is_plain(label)
        });
        if plain && let Ok(text) = std::str::from_utf8(&text[1..self.0.len()]) {
            return f.write_str(text);
        }
        for label in self.labels() {
            write_escaped(f, label, SPECIAL)?;
            f.write_str(".")?;
        }
        Ok(())
    }
}

/// Whether a label is its own text.
fn is_plain(label: &[u8]) -> bool {
    label.iter().all(|octet| octet.is_ascii_graphic() && !SPECIAL.contains(octet))
}

/// The octets that are written behind a backslash in names: those with a meaning in a master file.
const SPECIAL: &[u8] = b"\".;\\()@$";

/// Writes octets in presentation format: `special` ones behind a backslash, unprintable ones as `\DDD`.
///
/// Source: RFC 1035 section 5.1.
pub(super) fn write_escaped(f: &mut fmt::Formatter<'_>, octets: &[u8], special: &[u8]) -> fmt::Result {
    for &octet in octets {
        if special.contains(&octet) {
            write!(f, "\\{}", octet as char)?;
        } else if octet.is_ascii_graphic() {
            write!(f, "{}", octet as char)?;
        } else {
            write!(f, "\\{octet:03}")?;
        }
    }
    Ok(())
}

impl std::borrow::Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_name().fmt(f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

impl fmt::Debug for NameRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// The apex of a zone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneName(Name);

impl ZoneName {
    /// Makes `name` an apex.
    pub fn new(name: Name) -> ZoneName {
        ZoneName(name)
    }

    /// The apex as a name.
    pub fn as_name(&self) -> NameRef<'_> {
        self.0.as_name()
    }

    /// Makes an owner name of `name`; `None` where it is outside the zone.
    pub fn owner(&self, name: NameRef<'_>) -> Option<OwnerName> {
        name.is_at_or_below(self.as_name()).then(|| OwnerName(name.to_name()))
    }
}

impl fmt::Display for ZoneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The owner name of an RRset: at or below the apex of the zone that made it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerName(Name);

impl OwnerName {
    /// The owner name as a name.
    pub fn as_name(&self) -> NameRef<'_> {
        self.0.as_name()
    }
}

text_in_documents!(Name, parse_for_document);
text_in_documents!(ZoneName, |text| parse_for_document(text).map(ZoneName));

/// Reads a name of a document.
fn parse_for_document(text: &str) -> Result<Name, String> {
    Name::parse(text).map_err(|error| format!("`{text}` is not a name: {error}"))
}

impl fmt::Display for OwnerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for OwnerName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_compare_as_their_texts() {
        let texts =
            [".", "a.", "a-b.", "a.b.", "a\\.b.", "a\\032b.c.", "\\000.x.", "*.x.", "_x.x.", "ab.c.", "b.", "\\255."];
        let names: Vec<Name> = texts.iter().map(|text| Name::parse(text).unwrap()).collect();
        for one in &names {
            for other in &names {
                let due = one.to_string().cmp(&other.to_string());
                assert_eq!(one.as_name().cmp_text(other.as_name()), due, "{one} and {other}");
            }
        }
    }

    #[test]
    fn presentation_round_trips_in_lower_case() {
        for (text, shown) in [
            ("Sas1-0001.Search.Example.NET", "sas1-0001.search.example.net."),
            (".", "."),
            ("a\\.b.c.", "a\\.b.c."),
            ("a\\032b.c", "a\\032b.c."),
            ("\\000.x", "\\000.x."),
            ("*.x", "*.x."),
        ] {
            let name = Name::parse(text).unwrap();
            assert_eq!(name.to_string(), shown);
            assert_eq!(Name::parse(&name.to_string()).unwrap(), name);
            assert_eq!(Name::from_wire(name.as_wire()).unwrap(), name);
        }
    }

    #[test]
    fn wrong_names_say_why() {
        let long = "a".repeat(64);
        assert_eq!(Name::parse(&long), Err(NameError::LabelTooLong(64)));
        assert_eq!(Name::parse(&vec!["a".repeat(63); 4].join(".")), Err(NameError::NameTooLong));
        assert_eq!(Name::parse("a..b"), Err(NameError::EmptyLabel));
        assert_eq!(Name::parse(""), Err(NameError::EmptyLabel));
        assert_eq!(Name::parse("a\\25"), Err(NameError::BadEscape));
        assert_eq!(Name::parse("a\\256"), Err(NameError::BadEscape));
        assert_eq!(Name::parse_host("a b.c"), Err(NameError::BadCharacter(' ')));
        assert_eq!(Name::parse_host("ä.c"), Err(NameError::BadCharacter('ä')));
    }

    #[test]
    fn names_of_hosts_are_read_alike_by_both_ways() {
        let (long, longest) =
            ("a".repeat(64), ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61)].join("."));
        let one_more = format!("{longest}e");
        let texts = [
            "a",
            "A-1_b.Example.NET",
            "a.b.",
            "1",
            ".",
            "",
            "..",
            ".a",
            "a..b",
            "a..",
            "a.b c",
            "a\\.b",
            "é.x",
            "a\0b",
            "a\0",
            "\0",
            "a.\0",
            long.as_str(),
            longest.as_str(),
            one_more.as_str(),
        ];
        for text in texts {
            let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            let slowly = Name::parse(text).ok().filter(|name| text.chars().all(is_host) && *name != Name::root());
            assert_eq!(parse_plain_host(text.as_bytes()), slowly, "{text:?}");
        }
    }

    #[test]
    fn a_suffix_counts_only_at_a_label_boundary() {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        assert!(zone.owner(Name::parse("a.example.net").unwrap().as_name()).is_some());
        assert!(zone.owner(Name::parse("example.net").unwrap().as_name()).is_some());
        assert!(zone.owner(Name::parse("badexample.net").unwrap().as_name()).is_none());
        // The octets of `\007example.net` end in those of `example.net`, length octet included.
        let tricky = Name::parse("a\\007example.net").unwrap();
        assert!(zone.owner(tricky.as_name()).is_none());
    }
}
