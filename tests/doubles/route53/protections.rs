//! Protections: names and types of a zone that no change may touch.

use super::super::faults::PageFault;
use super::account::{ProtectionKey, RrsetProtection, ZoneState};
use super::decode::{check_length, check_members, check_type, decode_root, items, required, required_child};
use super::errors::{EntryFault, ServiceError};
use super::names::DoubleName;
use super::paths::QueryFields;
use super::rules::Route53Rules;
use super::xml::{XmlElement, XmlWriter};

/// The most protections of a page.
const MAX_PAGE: usize = 300;

/// The most protections of a request.
const MAX_ENTRIES: usize = 100;

/// An entry of a request.
struct ProtectionEntry {
    /// The name, as it was written.
    name: String,
    /// The type.
    rtype: String,
    /// What it is kept under, and what is kept; the words of what is wrong where the name or type cannot be protected.
    kept: Result<(ProtectionKey, RrsetProtection), String>,
}

/// Lists protections.
pub fn list_protections(zone: &ZoneState, query: &QueryFields, fault: PageFault) -> Result<String, ServiceError> {
    let page = query.page("maxresults", MAX_PAGE)?;
    let first = match query.get("nexttoken") {
        Some(token) => {
            let parts = token.split_once(' ').map(|(rtype, order)| (order.to_owned(), rtype.to_owned()));
            parts.ok_or_else(|| ServiceError::new(400, "InvalidPaginationToken", "The token is not valid"))?
        }
        None => first_key(query)?,
    };
    let found: Vec<(&ProtectionKey, &RrsetProtection)> = zone.protections.range(first..).collect();
    let (count, is_hidden) = fault.cut(page.min(found.len()));
    let next = found.get(count).filter(|_| !is_hidden).map(|((order, rtype), _)| format!("{rtype} {order}"));
    Ok(XmlWriter::document("ListResourceRecordSetProtectionsResponse", |xml| {
        xml.element("ResourceRecordSetProtections", |xml| {
            for ((_, rtype), protection) in &found[..count] {
                xml.element("ResourceRecordSetProtection", |xml| {
                    xml.leaf("RecordName", &protection.name);
                    xml.leaf("RecordType", rtype);
                    xml.optional("Comment", protection.comment.as_ref());
                });
            }
        });
        xml.optional("NextToken", next);
    }))
}

/// Returns where a listing begins.
fn first_key(query: &QueryFields) -> Result<ProtectionKey, ServiceError> {
    let (name, rtype) = (query.get("name"), query.get("type"));
    if rtype.is_some() && name.is_none() {
        return Err(ServiceError::invalid_input("Specifying a type without a name is not allowed"));
    }
    let order = name.map(|name| DoubleName::parse(name).map_err(ServiceError::invalid_input)).transpose()?;
    Ok((order.map(|name| name.order()).unwrap_or_default(), rtype.unwrap_or_default().to_owned()))
}

/// Creates protections, all or none.
pub fn create_protections(zone: &mut ZoneState, body: &[u8], rules: &Route53Rules) -> Result<String, ServiceError> {
    let entries = decode_entries(
        zone,
        body,
        rules,
        ("CreateResourceRecordSetProtectionsRequest", "ResourceRecordSetProtectionConfig"),
    )?;
    let kept = checked(&entries, |key| {
        zone.protections
            .contains_key(key)
            .then_some(("ProtectionAlreadyExists", "A protection already exists for the name and type"))
    })?;
    zone.protections.extend(kept);
    Ok(XmlWriter::document("CreateResourceRecordSetProtectionsResponse", |_| {}))
}

/// Removes protections, all or none.
pub fn delete_protections(zone: &mut ZoneState, body: &[u8], rules: &Route53Rules) -> Result<String, ServiceError> {
    let entries = decode_entries(
        zone,
        body,
        rules,
        ("DeleteResourceRecordSetProtectionsRequest", "ResourceRecordSetProtectionKey"),
    )?;
    let kept = checked(&entries, |key| {
        (!zone.protections.contains_key(key))
            .then_some(("ProtectionNotFound", "No protection exists for the name and type"))
    })?;
    for (key, _) in kept {
        zone.protections.remove(&key);
    }
    Ok(XmlWriter::document("DeleteResourceRecordSetProtectionsResponse", |_| {}))
}

/// Reads the entries of a request.
fn decode_entries(
    zone: &ZoneState,
    body: &[u8],
    rules: &Route53Rules,
    (root, item): (&str, &str),
) -> Result<Vec<ProtectionEntry>, ServiceError> {
    let root = decode_root(body, root)?;
    check_members(&root, &["Protections"], rules)?;
    let list = items(required_child(&root, "Protections")?, item)?;
    if list.len() > MAX_ENTRIES {
        return Err(ServiceError::invalid_input(format!("There are more than {MAX_ENTRIES} protections")));
    }
    list.iter().map(|element| decode_entry(zone, element, rules)).collect()
}

/// Reads an entry.
fn decode_entry(zone: &ZoneState, element: &XmlElement, rules: &Route53Rules) -> Result<ProtectionEntry, ServiceError> {
    check_members(element, &["RecordName", "RecordType", "Comment"], rules)?;
    let (name, rtype) = (required(element, "RecordName")?, required(element, "RecordType")?);
    check_type(rtype)?;
    let comment = element.text_of("Comment").map(str::to_owned);
    check_length(comment.as_deref().unwrap_or_default(), "comment", 0, 256)?;
    let kept = DoubleName::parse(name).and_then(|parsed| {
        if !parsed.is_in(&zone.name) {
            return Err(format!("{} is not permitted in zone {}", parsed.shown(), zone.name.shown()));
        }
        Ok(((parsed.order(), rtype.to_owned()), RrsetProtection { name: parsed.shown(), comment }))
    });
    Ok(ProtectionEntry { name: name.to_owned(), rtype: rtype.to_owned(), kept })
}

/// Returns what is kept of all entries. Errors: the invalid entries, or else those that `refused` finds wrong.
fn checked(
    entries: &[ProtectionEntry],
    refused: impl Fn(&ProtectionKey) -> Option<(&'static str, &'static str)>,
) -> Result<Vec<(ProtectionKey, RrsetProtection)>, ServiceError> {
    let (mut kept, mut invalid, mut refusals) =
        (Vec::<(ProtectionKey, RrsetProtection)>::new(), Vec::new(), Vec::new());
    for entry in entries {
        let fault = |code: &'static str, message: String| {
            let (name, rtype) = (entry.name.clone(), entry.rtype.clone());
            EntryFault { name, rtype, code, message }
        };
        match &entry.kept {
            Err(words) => invalid.push(fault("InvalidInput", words.clone())),
            Ok((key, _)) if kept.iter().any(|(earlier, _)| earlier == key) => {
                invalid.push(fault("InvalidInput", "The name and type appear more than once".to_owned()));
            }
            Ok((key, protection)) => {
                refusals.extend(refused(key).map(|(code, words)| fault(code, words.to_owned())));
                kept.push((key.clone(), protection.clone()));
            }
        }
    }
    let all_exist =
        refusals.len() == entries.len() && refusals.iter().all(|fault| fault.code == "ProtectionAlreadyExists");
    let entries = if invalid.is_empty() { refusals } else { invalid };
    if entries.is_empty() {
        return Ok(kept);
    }
    let (status, code) =
        if all_exist { (409, "ProtectionAlreadyExists") } else { (400, "InvalidResourceRecordSetProtectionBatch") };
    let words = "One or more entries in the request couldn't be processed.";
    Err(ServiceError { entries, ..ServiceError::new(status, code, words) })
}
