//! An update to a transaction. Pure.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::bounds::BOUNDS;
use super::json::{Comparison, Operation, Transaction};
use super::keys::{NamedKey, is_reverse};
use super::layout::EtcdLayout;
use super::seen::{ComparedName, SeenKeys, SeenName};
use super::service::{EtcdService, KeyOwners, ServiceRecord, rewritten};
use crate::dns::{ChangeKind, Name, Rdata, Rrset, Rtype, ZoneName};
use crate::target::{EditSize, RrsetEdit, Update, UpdateLimits, marker_key};

/// How many comparisons and operations a transaction may have (`--max-txn-ops`).
const MOST: usize = 128;

/// How many octets a request may have, with room for its frame: 1.5 MiB (`--max-request-bytes`).
const REQUEST: usize = 1_400_000;

/// What one update may hold, with room for the marker.
pub const LIMITS: UpdateLimits = UpdateLimits { edits: MOST - 1, octets: REQUEST, parts: MOST - 1, names: usize::MAX };

/// What an edit takes: octets of the request, and comparisons or operations, whichever are more.
pub fn size(edit: RrsetEdit<'_>) -> EditSize {
    let records = |side: Option<&Rrset>| side.map_or(0, |rrset| rrset.rdata().len());
    let (before, after) = (records(edit.kind.before()), records(edit.kind.after()));
    // Each key that was there is compared, and the range of the name; keys go and come.
    let parts = (before + 1).max(before + after);
    let text = |rrset: &Rrset| rrset.rdata().iter().map(|rdata| rdata.as_octets().len()).sum::<usize>();
    // Base64 in JSON, and the key.
    EditSize { octets: 2 * edit.kind.after().map_or(0, text) + parts * 1_000, parts }
}

/// Why an update makes no transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeFault {
    /// What is there is not what the update says.
    Differs(String),
    /// etcd cannot hold what the update says, or something else is there.
    Impossible(String),
}

/// A transaction, with the names of which it writes keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTransaction {
    /// The transaction.
    pub transaction: Transaction,
    /// The names.
    pub names: BTreeSet<Name>,
}

/// Whether an edit is of the marker of the zone.
pub fn is_of_marker(zone: &ZoneName, edit: &RrsetEdit<'_>) -> bool {
    marker_key(zone).is_some_and(|key| key == *edit.key)
}

/// Makes the transaction of an update, by what was seen at its names.
///
/// Errors: [`ChangeFault`].
pub fn transaction(
    layout: &EtcdLayout,
    update: &Update<'_>,
    seen: &SeenKeys,
    owners: KeyOwners<'_>,
) -> Result<PlannedTransaction, ChangeFault> {
    let mut made = PlannedTransaction { transaction: Transaction::default(), names: BTreeSet::new() };
    let mut compared: BTreeMap<String, ComparedName<'_>> = BTreeMap::new();
    for edit in &update.edits {
        if is_of_marker(update.zone, edit) {
            marker(layout, edit.kind, &mut made.transaction)?;
            continue;
        }
        let name = edit.key.owner.as_name();
        let path = layout.path(name);
        let path =
            path.ok_or_else(|| impossible(format!("`{name}` has a label that CoreDNS reads as something else")))?;
        let found = seen.of(&name.to_name()).ok_or_else(|| ChangeFault::Differs(format!("`{name}` was not read")))?;
        let deletes = |rtype: Rtype| {
            let is_it = |other: &RrsetEdit<'_>| other.key.owner == edit.key.owner && other.key.rtype == rtype;
            update.edits.iter().any(|other| is_it(other) && other.kind.after().is_none())
        };
        let site = EditSite { edit, zone: update.zone, path: &path, found, owners, deletes: &deletes };
        site.add_to(&mut made.transaction)?;
        made.names.insert(name.to_name());
        let is_pointer = edit.key.rtype == Rtype::PTR;
        let new = ComparedName { seen: found, is_pointer, is_there: edit.kind.before().is_some() };
        let name = compared.entry(path).or_insert(new);
        name.is_pointer &= is_pointer;
    }
    made.transaction.comparisons.extend(seen.joined(compared));
    Ok(made)
}

/// The fault of what cannot be.
fn impossible(why: String) -> ChangeFault {
    ChangeFault::Impossible(why)
}

/// Adds the edit of the marker.
fn marker(layout: &EtcdLayout, kind: &ChangeKind, transaction: &mut Transaction) -> Result<(), ChangeFault> {
    let key = layout.marker();
    let text = |rrset: &Rrset| {
        let strings =
            rrset.rdata().first().map(|rdata| rdata.as_rdata(Rtype::TXT).strings().collect::<Vec<_>>().concat());
        String::from_utf8(strings.unwrap_or_default()).map_err(|_| impossible("a marker that is no text".to_owned()))
    };
    transaction.comparisons.push(match kind.before() {
        Some(before) => Comparison::Holds(key.clone(), text(before)?),
        None => Comparison::Unchanged(key.clone(), 0),
    });
    transaction.operations.push(match kind.after() {
        Some(after) => Operation::Put(key, text(after)?),
        None => Operation::Delete(key),
    });
    Ok(())
}

/// An edit with what is at its name.
struct EditSite<'a> {
    /// The edit.
    edit: &'a RrsetEdit<'a>,
    /// The zone.
    zone: &'a ZoneName,
    /// The path of its name.
    path: &'a str,
    /// What was seen.
    found: &'a SeenName,
    /// What the owners of keys mean.
    owners: KeyOwners<'a>,
    /// Whether the update deletes the RRset of a type at the name.
    deletes: &'a dyn Fn(Rtype) -> bool,
}

impl EditSite<'_> {
    /// Adds what the edit compares and does.
    fn add_to(&self, transaction: &mut Transaction) -> Result<(), ChangeFault> {
        let EditSite { edit, found, .. } = self;
        let (name, rtype) = (edit.key.owner.as_name(), edit.key.rtype);
        let own: Vec<&NamedKey> = found.keys.iter().filter(|key| key.owner.as_name() == name).collect();
        let below = found.keys.iter().find(|key| key.owner.as_name() != name);
        if let (Some(below), Some(_), false) = (below, edit.kind.after(), is_reverse(name)) {
            let other = &below.owner;
            return Err(impossible(format!("there is `{other}` below `{name}`: CoreDNS would answer with both")));
        }
        if let Some(Err(what)) = own.iter().map(|key| &key.record).find(|record| record.is_err()) {
            return Err(impossible(format!("`{name}` has {what}, which zonewright never touches")));
        }
        let of_type: Vec<(&NamedKey, &ServiceRecord)> = own
            .iter()
            .filter_map(|key| Some((*key, key.record.as_ref().ok()?)))
            .filter(|(_, record)| record.rtype == rtype)
            .collect();
        let is_of_type = |other: &NamedKey| of_type.iter().any(|(own, _)| own.key.key == other.key.key);
        let mut foreign = found.keys.iter().filter(|own| own.key.key == self.path || own.record.is_err());
        if let (Some(foreign), Some(_)) = (foreign.find(|own| !is_of_type(own)), edit.kind.after()) {
            let key = &foreign.key.key;
            return Err(impossible(format!(
                "`{name}` has the key `{key}` of something else, which zonewright never touches"
            )));
        }
        let stays = |other: &ServiceRecord| other.rtype != rtype && !(self.deletes)(other.rtype);
        let mut others = own.iter().filter_map(|key| key.record.as_ref().ok()).filter(|other| stays(other));
        let clashes = |other: &ServiceRecord| rtype == Rtype::CNAME || other.rtype == Rtype::CNAME;
        if edit.kind.after().is_some() && others.any(clashes) {
            return Err(ChangeFault::Differs(format!("`{name}` would have a CNAME and other data")));
        }
        if !self.is_before(&of_type) {
            return Err(ChangeFault::Differs(format!("{rtype} of `{name}` is not what the plan says")));
        }
        for (key, _) in &of_type {
            transaction.comparisons.push(Comparison::Unchanged(key.key.key.clone(), key.key.mod_revision));
        }
        self.write(&of_type, transaction)
    }

    /// Whether the keys are what the edit says was there, with their TTL and mark.
    fn is_before(&self, of_type: &[(&NamedKey, &ServiceRecord)]) -> bool {
        let Some(before) = self.edit.kind.before() else { return of_type.is_empty() };
        let mut found: Vec<&Rdata> = of_type.iter().map(|(_, record)| &record.rdata).collect();
        found.sort();
        found.dedup();
        // Both are sorted by octets.
        let is_same = |record: &ServiceRecord| record.ttl == before.ttl() && record.mark.as_ref() == before.mark();
        found.into_iter().eq(before.rdata()) && of_type.iter().all(|(_, record)| is_same(record))
    }

    /// Adds the keys that go, come, or get another TTL or owner.
    fn write(&self, of_type: &[(&NamedKey, &ServiceRecord)], transaction: &mut Transaction) -> Result<(), ChangeFault> {
        let (name, rtype) = (self.edit.key.owner.as_name(), self.edit.key.rtype);
        let after = self.edit.kind.after();
        let stays = |rdata: &Rdata| after.is_some_and(|after| after.rdata().contains(rdata));
        let comes: Vec<&Rdata> = after
            .into_iter()
            .flat_map(|after| after.rdata())
            .filter(|rdata| of_type.iter().all(|(_, record)| record.rdata != **rdata))
            .collect();
        let is_pointer = rtype == Rtype::PTR;
        if let Some(after) = after {
            let values: Vec<&Rdata> = after.rdata().iter().collect();
            if let Some(why) = BOUNDS.refusal(self.zone, (name, rtype), Some(after.ttl()), &values) {
                return Err(impossible(format!("etcd {why}")));
            }
            if rtype == Rtype::CNAME && after.rdata().len() > 1 {
                return Err(impossible(format!("`{name}` would have several CNAME")));
            }
        }
        // The one key of a PTR is written over.
        let is_replaced = is_pointer && !comes.is_empty();
        for (key, record) in of_type.iter().filter(|_| !is_replaced) {
            match after {
                Some(after) if stays(&record.rdata) => {
                    if record.ttl != after.ttl() || record.mark.as_ref() != after.mark() {
                        let text = rewritten(&key.key.value, after, self.owners)
                            .ok_or_else(|| impossible(format!("a key of `{name}` is no object of JSON")))?;
                        transaction.operations.push(Operation::Put(key.key.key.clone(), text));
                    }
                }
                _ => transaction.operations.push(Operation::Delete(key.key.key.clone())),
            }
        }
        let taken: BTreeSet<&str> = self.found.keys.iter().map(|key| key.key.key.as_str()).collect();
        for rdata in comes {
            let ttl = after.map_or(self.edit.kind.before().map(Rrset::ttl), |after| Some(after.ttl()));
            let owner = self.owners.of_new(after);
            let service = ttl.and_then(|ttl| EtcdService::of(rtype, rdata, ttl, owner));
            let service = service
                .ok_or_else(|| impossible(format!("no key says {rtype} of `{name}`: `{}`", rdata.as_rdata(rtype))))?;
            let key = if is_pointer { self.path.to_owned() } else { free_key(self.path, (rtype, rdata), &taken) };
            transaction.operations.push(Operation::Put(key, service.to_json()));
        }
        Ok(())
    }
}

/// The key of a record: the same each time, so that a record that is made twice is there once.
fn free_key(path: &str, (rtype, rdata): (Rtype, &Rdata), taken: &BTreeSet<&str>) -> String {
    let hash = Sha256::new().chain_update(rtype.to_int().to_be_bytes()).chain_update(rdata.as_octets()).finalize();
    let text: String = hash.iter().map(|octet| format!("{octet:02x}")).collect();
    // Eight digits are enough, unless another record has them.
    let keys = (8..=text.len()).step_by(8).map(|length| format!("{path}/{}", &text[..length]));
    keys.clone().find(|key| !taken.contains(key.as_str())).or_else(|| keys.last()).unwrap_or_default()
}
