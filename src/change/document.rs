//! Changes, and RRsets that wait or are left, as documents have them.

use serde::de::Error as _;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Change, ChangeKind, DelayedRrset, LeftBehindRrset, Reason, RecordedRrset, Rule};
use crate::claim::Subject;
use crate::dns::{Name, OwnerName, Rdata, RrKey, Rrset, RrsetMark, Rtype, Ttl, ZoneName};
use crate::document::{nullable, nullable_object, objects, present, present_object};
use crate::inventory::value::Time;
use crate::target::PoolName;

/// An RRset in a document. What its RDATA say depends on the type, which is next to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RrsetText {
    /// Whose it is, where its target keeps that with it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present_object")]
    pub mark: Option<RrsetMark>,
    /// The RDATA in presentation format, sorted as text.
    pub rdata: Vec<String>,
    /// Seconds.
    pub ttl: u32,
}

impl RrsetText {
    /// An RRset of this type.
    pub fn of(rtype: Rtype, rrset: &Rrset) -> RrsetText {
        RrsetText { mark: rrset.mark().cloned(), rdata: rrset.rdata_texts(rtype), ttl: rrset.ttl().as_secs() }
    }

    /// Whether this is what an RRset of this type holds, the TTL and the mark too.
    pub fn is(&self, rtype: Rtype, rrset: &Rrset) -> bool {
        self.mark.as_ref() == rrset.mark() && self.has_records_of(rtype, rrset)
    }

    /// Whether the records and the TTL are those of an RRset of this type, whatever its mark is: name servers know no marks.
    pub fn has_records_of(&self, rtype: Rtype, rrset: &Rrset) -> bool {
        self.ttl == rrset.ttl().as_secs() && self.rdata == rrset.rdata_texts(rtype)
    }

    /// The RRset.
    ///
    /// Errors: this is not what [`RrsetText::of`] makes, in words.
    pub fn to_rrset(&self, rtype: Rtype) -> Result<Rrset, String> {
        let ttl = u64::from(self.ttl);
        let ttl = Ttl::from_secs(ttl).ok_or_else(|| format!("the TTL {ttl} is above {}", Ttl::MAX))?;
        let parse = |text: &String| {
            let rdata =
                Rdata::parse(rtype, text).ok_or_else(|| format!("`{text}` is not valid RDATA of type {rtype}"))?;
            let written = rdata.as_rdata(rtype).to_string();
            if written == *text { Ok(rdata) } else { Err(format!("`{text}` should be written `{written}`")) }
        };
        let rdata = self.rdata.iter().map(parse).collect::<Result<Vec<Rdata>, String>>()?;
        if !self.rdata.is_sorted_by(|a, b| a < b) {
            return Err("`rdata` is not sorted, or holds something twice".to_owned());
        }
        let rrset = Rrset::new(ttl, rdata).ok_or_else(|| "`rdata` is empty".to_owned())?;
        Ok(rrset.marked(self.mark.clone()))
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_change(self, Some(&self.reasons), serializer)
    }
}

/// A change without its reasons: what it does to DNS.
pub struct WithoutReasons<'a>(pub &'a Change);

impl Serialize for WithoutReasons<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_change(self.0, None, serializer)
    }
}

/// Writes a change, its fields in the order of their names.
fn write_change<S: Serializer>(change: &Change, reasons: Option<&[Reason]>, serializer: S) -> Result<S::Ok, S::Error> {
    let Change { pool, zone, key, subject, also, registers, targets, project, kind, via, .. } = change;
    let rrset = |rrset: Option<&Rrset>| rrset.map(|rrset| RrsetText::of(key.rtype, rrset));
    let mut fields = serializer.serialize_struct("Change", 14)?;
    fields.serialize_field("after", &rrset(kind.after()))?;
    if !also.is_empty() {
        fields.serialize_field("also", also)?;
    }
    fields.serialize_field("before", &rrset(kind.before()))?;
    fields.serialize_field("name", &key.owner)?;
    fields.serialize_field("pool", pool)?;
    fields.serialize_field("project", project)?;
    if let Some(reasons) = reasons {
        fields.serialize_field("reasons", reasons)?;
    }
    if let Some(registers) = registers {
        fields.serialize_field("registers", registers)?;
    }
    fields.serialize_field("subject", subject)?;
    if !targets.is_empty() {
        fields.serialize_field("targets", targets)?;
    }
    fields.serialize_field("type", &Mnemonic(key.rtype))?;
    if let Some(via) = via {
        fields.serialize_field("via", &RrsetText::of(key.rtype, via))?;
    }
    fields.serialize_field("zone", zone)?;
    fields.end()
}

/// A record type, as documents write it.
struct Mnemonic(Rtype);

impl Serialize for Mnemonic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A change as it is read: its RRsets are known once its type is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeText {
    /// What is there after.
    #[serde(deserialize_with = "nullable_object")]
    after: Option<RrsetText>,
    /// The other subjects; left out where there are none.
    #[serde(default, deserialize_with = "present")]
    also: Option<Vec<Subject>>,
    /// What was there before.
    #[serde(deserialize_with = "nullable_object")]
    before: Option<RrsetText>,
    /// The owner name.
    name: Name,
    /// The pool.
    pool: PoolName,
    /// The project.
    project: String,
    /// Why.
    #[serde(deserialize_with = "objects")]
    reasons: Vec<Reason>,
    /// What a TXT of the registry records; left out where its name says it.
    #[serde(default, deserialize_with = "present")]
    registers: Option<RecordedRrset>,
    /// What it is for.
    subject: Subject,
    /// The targets; left out where it is for all.
    #[serde(default, deserialize_with = "present")]
    targets: Option<Vec<String>>,
    /// The type.
    #[serde(rename = "type", with = "crate::dns::rtype_text")]
    rtype: Rtype,
    /// What is there in between; left out where the change is made at once.
    #[serde(default, deserialize_with = "present")]
    via: Option<RrsetText>,
    /// The zone.
    zone: ZoneName,
}

impl<'de> Deserialize<'de> for Change {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Change, D::Error> {
        change(ChangeText::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Makes a change of what was read.
///
/// Errors: no plan has such a change.
fn change(text: ChangeText) -> Result<Change, String> {
    let ChangeText { after, also, before, name, pool, project, reasons, registers, subject, targets, rtype, via, zone } =
        text;
    let rrset = |rrset: Option<RrsetText>| rrset.map(|rrset| rrset.to_rrset(rtype)).transpose();
    let kind = ChangeKind::between(rrset(before)?, rrset(after)?);
    let kind = kind.ok_or_else(|| "`before` and `after` are the same".to_owned())?;
    let is_superfluous = also.as_ref().is_some_and(Vec::is_empty);
    let also = also.unwrap_or_default();
    if is_superfluous || !also.is_sorted_by(|a, b| a < b) || also.contains(&subject) {
        return Err("`also` is not a sorted list of other subjects, each once, left out where empty".to_owned());
    }
    let is_superfluous = targets.as_ref().is_some_and(Vec::is_empty);
    let targets = targets.unwrap_or_default();
    if is_superfluous || !targets.is_sorted_by(|a, b| a < b) {
        return Err("`targets` is not a sorted list of targets, each once, left out where empty".to_owned());
    }
    let key = key(&zone, &name, rtype)?;
    if registers.is_some() && registers.clone().and_then(|own| own.unless_said_by(name.as_name())) != registers {
        return Err("`registers` is not left out where the name says it".to_owned());
    }
    let via = rrset(via)?;
    if via.as_ref().is_some_and(|via| !kind.may_pass(via)) {
        return Err("`via` holds neither what is there before, nor that together with what is there after".to_owned());
    }
    Ok(Change { key, pool, zone, subject, also, registers, targets, project, kind, via, reasons })
}

/// The owner name and type of an RRset in a zone.
///
/// Errors: the name is not in the zone.
fn key(zone: &ZoneName, name: &Name, rtype: Rtype) -> Result<RrKey, String> {
    let owner: Option<OwnerName> = zone.owner(name.as_name());
    let owner = owner.ok_or_else(|| format!("`{name}` is outside `{zone}`"))?;
    Ok(RrKey { owner, rtype })
}

/// An RRset that waits, in a document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DelayedText {
    /// When it may go.
    #[serde(deserialize_with = "nullable")]
    due: Option<Time>,
    /// The owner name.
    name: Name,
    /// The pool.
    pool: PoolName,
    /// The project.
    project: String,
    /// The rule.
    rule: Rule,
    /// When it was first noted.
    #[serde(deserialize_with = "nullable")]
    since: Option<Time>,
    /// What it is of.
    subject: Subject,
    /// The type.
    #[serde(rename = "type", with = "crate::dns::rtype_text")]
    rtype: Rtype,
    /// The zone.
    zone: ZoneName,
}

impl From<DelayedRrset> for DelayedText {
    fn from(waiting: DelayedRrset) -> DelayedText {
        let DelayedRrset { pool, zone, key: RrKey { owner, rtype }, subject, project, rule, since, due } = waiting;
        DelayedText { due, name: owner.as_name().to_name(), pool, project, rule, since, subject, rtype, zone }
    }
}

impl TryFrom<DelayedText> for DelayedRrset {
    type Error = String;

    fn try_from(text: DelayedText) -> Result<DelayedRrset, String> {
        let DelayedText { due, name, pool, project, rule, since, subject, rtype, zone } = text;
        Ok(DelayedRrset { key: key(&zone, &name, rtype)?, pool, zone, subject, project, rule, since, due })
    }
}

/// An own RRset that a plan leaves, in a document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LeftBehindText {
    /// The apply that created it.
    #[serde(deserialize_with = "nullable")]
    apply: Option<u64>,
    /// The owner name.
    name: Name,
    /// The name that no host has.
    of: Name,
    /// The pool.
    pool: PoolName,
    /// The project.
    #[serde(deserialize_with = "nullable")]
    project: Option<String>,
    /// What it is of.
    subject: Subject,
    /// The type.
    #[serde(rename = "type", with = "crate::dns::rtype_text")]
    rtype: Rtype,
    /// The zone.
    zone: ZoneName,
}

impl From<LeftBehindRrset> for LeftBehindText {
    fn from(left: LeftBehindRrset) -> LeftBehindText {
        let LeftBehindRrset { pool, zone, key: RrKey { owner, rtype }, name, subject, project, apply } = left;
        LeftBehindText { apply, name: owner.as_name().to_name(), of: name, pool, project, subject, rtype, zone }
    }
}

impl TryFrom<LeftBehindText> for LeftBehindRrset {
    type Error = String;

    fn try_from(text: LeftBehindText) -> Result<LeftBehindRrset, String> {
        let LeftBehindText { apply, name, of, pool, project, subject, rtype, zone } = text;
        Ok(LeftBehindRrset { key: key(&zone, &name, rtype)?, pool, zone, name: of, subject, project, apply })
    }
}
