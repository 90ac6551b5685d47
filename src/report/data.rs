//! An RRset that changes: what it is called, and its data before and after, line by line.

use std::net::IpAddr;

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::mark::differing;
use super::paint::Paint;
use crate::diag::sanitize;
use crate::dns::reverse::address_of;
use crate::dns::{NameRef, Rrset, Rtype};
use crate::plan::{Change, Plan};

/// One line of data.
#[derive(Serialize)]
pub struct DataLine {
    /// `-` for what goes, `+` for what comes, a blank for what stays or for marks.
    pub sign: char,
    /// The data, or marks below what differs; painted.
    pub text: String,
    /// Whether it is marks.
    #[serde(skip)]
    pub is_marks: bool,
}

/// An RRset as people call it: `AAAA a.example.net.`, or `PTR of 2a02:6b8::1`.
pub fn rrset(rtype: Rtype, name: NameRef<'_>) -> String {
    match address_of(name) {
        Some(address) => format!("{rtype} of {address}"),
        None => format!("{rtype} {}", sanitize(&name.to_string())),
    }
}

/// The RRset of a change as people call it; of a TXT of the registry that records a PTR its address.
pub fn rrset_of(change: &Change) -> String {
    match change.registered().and_then(|(_, name)| address_of(name.as_name())) {
        Some(address) => format!("{} for PTR of {address}", change.key.rtype),
        None => rrset(change.key.rtype, change.key.owner.as_name()),
    }
}

/// The RDATA of a side of a change in presentation format, sorted; with the owner as a comment where the mark alone changes.
pub fn texts_of(change: &Change, side: Option<&Rrset>) -> Vec<String> {
    let Some(rrset) = side else { return Vec::new() };
    let texts = rrset.rdata_texts(change.key.rtype);
    if !change.is_of_mark() {
        return texts;
    }
    let owner = rrset.mark().map_or_else(|| "no owner".to_owned(), |mark| format!("owner {}", mark.owner));
    texts.into_iter().map(|text| format!("{text} ; {owner}")).collect()
}

/// What the changes of one host are sorted by for readers: whether they are at an address, whether not at the host's
/// own name, the address and the name, whether a TXT of the registry, which follows what it records, and the type.
pub type ReadingOrder = (bool, bool, Option<IpAddr>, String, bool, String);

/// Where a change is among those of its host: names first, the host's own before all, then addresses.
pub fn reading_order(plan: &Plan, change: &Change) -> ReadingOrder {
    let recorded = change.registered();
    let is_registry = recorded.is_some();
    let (rtype, name) = recorded.unwrap_or_else(|| (change.key.rtype, change.key.owner.as_name().to_name()));
    let address = (rtype == Rtype::PTR).then(|| address_of(name.as_name())).flatten();
    let (is_address, name) = (rtype == Rtype::PTR, name.to_string());
    let is_other = change.subject.host().and_then(|host| plan.name_of(host)) != Some(name.as_str());
    (is_address, is_other, address, name, is_registry, change.key.rtype.to_string())
}

/// The data of a change, from RDATA in presentation format: what stays, what goes, what comes, and marks below what
/// differs of a single one.
pub fn lines(before: &[String], after: &[String], paint: &Paint) -> Vec<DataLine> {
    let (stays, goes): (Vec<&String>, Vec<&String>) = before.iter().partition(|text| after.contains(text));
    let comes: Vec<&String> = after.iter().filter(|text| !before.contains(text)).collect();
    let mut lines: Vec<DataLine> = stays.into_iter().map(|text| line(' ', "", text, paint)).collect();
    if let ([old], [new]) = (goes.as_slice(), comes.as_slice()) {
        lines.extend(pair(&sanitize(old), &sanitize(new), paint));
        return lines;
    }
    lines.extend(goes.into_iter().map(|text| line('-', &paint.delete, text, paint)));
    lines.extend(comes.into_iter().map(|text| line('+', &paint.create, text, paint)));
    lines
}

/// A line of data without marks.
fn line(sign: char, style: &str, text: &str, paint: &Paint) -> DataLine {
    DataLine { sign, text: paint.marked(style, &sanitize(text), &[]), is_marks: false }
}

/// Old above new, with what differs marked: by style, or by a line of its own below.
fn pair(old: &str, new: &str, paint: &Paint) -> Vec<DataLine> {
    let (in_old, in_new) = differing(old, new).unwrap_or_default();
    let mut lines = Vec::with_capacity(3);
    for (sign, style, text, parts) in [('-', &paint.delete, old, &in_old), ('+', &paint.create, new, &in_new)] {
        lines.push(DataLine { sign, text: paint.marked(style, text, parts), is_marks: false });
        // One line of marks is enough; it is below the old text only where the new one has nothing to mark.
        if !paint.is_on() && !parts.is_empty() && (sign == '+' || in_new.is_empty()) {
            let mut marks = String::new();
            for part in parts {
                marks.extend(std::iter::repeat_n(' ', text[..part.start].width() - marks.width()));
                marks.extend(std::iter::repeat_n('^', text[part.clone()].width()));
            }
            lines.push(DataLine { sign: ' ', text: marks, is_marks: true });
        }
    }
    lines
}
