//! Plan to document.

use std::io::{self, BufWriter};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::ser::{CompactFormatter, Formatter};
use sha2::{Digest as _, Sha256};

use super::FORMAT;
use super::lines::Lines;
use crate::change::WithoutReasons;
use crate::disk::{DigestText, hex};
use crate::plan::{Plan, SealedPlan, WorkspaceSeen};

/// How much is digested at a time, in bytes.
const DIGEST_BUFFER: usize = 1 << 16;

/// Writes a plan as its document: the same plan always gives the same text.
pub fn to_json(sealed: &SealedPlan) -> String {
    let document = PlanDocument { plan: sealed.plan(), effect: sealed.effect(), id: Some(sealed.id()) };
    let mut text = Vec::new();
    write(&document, Lines::default(), &mut text);
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is text")
}

/// The digest of the changes without their reasons. The plan must be sorted.
pub fn effect(plan: &Plan) -> String {
    digest(&PlanEffect(plan))
}

/// The digest of the document without `id`, `created`, `expires` and the state's id. The plan must be sorted.
pub fn id(plan: &Plan, effect: &str) -> String {
    digest(&PlanDocument { plan, effect, id: None })
}

/// The digest of the canonical form of a value whose fields are in the order of their names.
fn digest(value: &impl Serialize) -> String {
    let mut hasher = BufWriter::with_capacity(DIGEST_BUFFER, Hashing(Sha256::new()));
    write(value, CompactFormatter, &mut hasher);
    let Hashing(hasher) = hasher.into_inner().unwrap_or_else(|_| unreachable!("a digest takes all that is written"));
    DigestText(&hex(&hasher.finalize())).to_string()
}

/// Digests what is written.
struct Hashing(Sha256);

impl io::Write for Hashing {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.0.update(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a value as JSON.
fn write(value: &impl Serialize, layout: impl Formatter, out: impl io::Write) {
    let mut serializer = serde_json::Serializer::with_formatter(out, layout);
    value.serialize(&mut serializer).expect("the values of a plan are JSON, and are written to memory");
}

/// What a plan does to DNS.
struct PlanEffect<'a>(&'a Plan);

impl Serialize for PlanEffect<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let changes = self.0.changes.iter().map(WithoutReasons);
        if self.0.zone_changes.is_empty() {
            return serializer.collect_seq(changes);
        }
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("changes", &changes.collect::<Vec<_>>())?;
        fields.serialize_entry("zone_changes", &self.0.zone_changes)?;
        fields.end()
    }
}

/// A document, or where it has no id, what the id covers.
struct PlanDocument<'a> {
    /// The plan.
    plan: &'a Plan,
    /// The digest of the changes.
    effect: &'a str,
    /// The digest of the rest.
    id: Option<&'a str>,
}

impl Serialize for PlanDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PlanDocument { plan, effect, id } = self;
        let is_whole = id.is_some();
        let hosts = plan.hosts.iter().map(|(inv, host)| (inv.to_string(), host));
        let inputs = plan.inputs.iter().map(|(file, digits)| (file.clone(), DigestText(digits).to_string()));
        let mut fields = serializer.serialize_map(None)?;
        write_some(&mut fields, "affected", not_empty(&plan.affected))?;
        fields.serialize_entry("blocked", &plan.blocked)?;
        fields.serialize_entry("changes", &plan.changes)?;
        write_some(&mut fields, "created", is_whole.then_some(&plan.created))?;
        write_some(&mut fields, "delayed", not_empty(&plan.delayed))?;
        fields.serialize_entry("effect", effect)?;
        write_some(&mut fields, "expires", is_whole.then_some(&plan.expires))?;
        write_some(&mut fields, "fleet", plan.fleet)?;
        fields.serialize_entry("format", FORMAT)?;
        write_some(&mut fields, "groups", not_empty(&plan.groups))?;
        write_some(&mut fields, "hosts", (!plan.hosts.is_empty()).then(|| SortedObject(hosts.collect())))?;
        write_some(&mut fields, "id", *id)?;
        fields.serialize_entry("inputs", &SortedObject(inputs.collect()))?;
        write_some(&mut fields, "left_behind", not_empty(&plan.left_behind))?;
        fields.serialize_entry("limits", &plan.limits)?;
        fields.serialize_entry("notices", &plan.notices)?;
        write_some(&mut fields, "only", plan.only.as_ref())?;
        write_some(&mut fields, "pods", not_empty(&plan.pods))?;
        write_some(&mut fields, "review", plan.review.as_ref())?;
        fields.serialize_entry("skipped", &plan.skipped)?;
        write_some(&mut fields, "sources", not_empty(&plan.sources))?;
        write_some(&mut fields, "stated", not_empty(&plan.stated))?;
        fields.serialize_entry("tool", &plan.tool)?;
        write_some(&mut fields, "undoes", plan.undoes)?;
        fields.serialize_entry("waiting", &plan.waiting)?;
        fields.serialize_entry("waves", &plan.waves)?;
        if is_whole {
            fields.serialize_entry("workspace", &plan.workspace)?;
        } else {
            // The state's id is left out, so that the same plan has one id wherever it is made. Any other than that of
            // the state is refused by itself.
            fields.serialize_entry("workspace", &BoundWorkspace(&plan.workspace))?;
        }
        write_some(&mut fields, "zone_changes", not_empty(&plan.zone_changes))?;
        fields.serialize_entry("zones", &plan.zones)?;
        fields.end()
    }
}

/// A workspace without the id of its state.
struct BoundWorkspace<'p>(&'p WorkspaceSeen);

impl Serialize for BoundWorkspace<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let WorkspaceSeen { id: _, owner, pools, registry, txt } = self.0;
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("owner", owner)?;
        write_some(&mut fields, "pools", not_empty(pools))?;
        fields.serialize_entry("registry", registry)?;
        write_some(&mut fields, "txt", txt.as_ref())?;
        fields.end()
    }
}

/// Writes a field that may be left out.
fn write_some<M: SerializeMap>(fields: &mut M, name: &str, value: Option<impl Serialize>) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| fields.serialize_entry(name, &value))
}

/// A list; none where it is empty.
fn not_empty<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}

/// An object whose keys are data: they are sorted as UTF-16 (RFC 8785 section 3.2.3).
struct SortedObject<V>(Vec<(String, V)>);

impl<V: Serialize> Serialize for SortedObject<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries: Vec<&(String, V)> = self.0.iter().collect();
        entries.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
        serializer.collect_map(entries.into_iter().map(|(key, value)| (key, value)))
    }
}
