//! What a target can do, in both forms.

use crate::diag::sanitize;
use crate::dns::Rtype;
use crate::doctor::TargetDiagnosis;
use crate::document::object_in_documents;
use crate::report::paint::Paint;
use crate::report::summary::counted;
use crate::report::wrap::wrap;
use crate::target::{AtomicUnit, PublicationProof, RecordTypes, RrsetComparison, ZoneMaking};

/// The columns before the words of an ability: the widest of what they are about, and two blanks on either side.
const INDENT: usize = 14;

/// How many types are named at most.
const MOST_TYPES: usize = 16;

/// What a target can do, as an object of a document.
pub struct AbilitiesDocument<'t>(pub &'t TargetDiagnosis);

object_in_documents!(AbilitiesDocument<'_>, of => {
    "unit": of.0.abilities.capabilities.unit,
    "max_rrsets": bounded(of.0.abilities.capabilities.limits.edits),
    "max_octets": bounded(of.0.abilities.capabilities.limits.octets),
    "comparison": of.0.abilities.capabilities.comparison,
    "creates_zones": of.0.abilities.capabilities.making.creates,
    "deletes_zones": of.0.abilities.capabilities.making.deletes,
    "fenced": of.0.abilities.fenced,
    "types": of.0.abilities.capabilities.bounds.types,
    "min_ttl": of.0.abilities.capabilities.bounds.least_ttl.as_secs(),
    "max_ttl": of.0.abilities.capabilities.bounds.most_ttl.as_secs(),
    "pace": of.0.examined.pace(),
    "requests_per_minute": of.0.abilities.capabilities.pace.map(|pace| pace.requests),
    "proof": of.0.abilities.capabilities.proof,
});

/// A limit, where there is one.
fn bounded(limit: usize) -> Option<usize> {
    (limit < usize::MAX).then_some(limit)
}

/// Adds what a target can do, a paragraph each.
pub fn push_abilities(out: &mut String, target: &TargetDiagnosis, width: usize, paint: &Paint) {
    let capabilities = &target.abilities.capabilities;
    let at_once = target.examined.pace().map(|pace| format!("{} of a zone at a time", counted(pace, "update")));
    let of_service = capabilities.pace.map(|pace| {
        let what = if pace.is_of_zone { "of each zone" } else { "for all zones" };
        format!("{} requests a minute {what}", pace.requests)
    });
    let both: Vec<String> = at_once.into_iter().chain(of_service).collect();
    let of_pace = (!both.is_empty()).then(|| ("pace", both.join("; ")));
    let lines = [
        ("atomic unit", unit(target)),
        ("comparison", comparison(capabilities.comparison).to_owned()),
        ("fence", fence(target)),
        ("types", types(capabilities.bounds.types)),
        ("TTLs", format!("{} to {}", capabilities.bounds.least_ttl, capabilities.bounds.most_ttl)),
        ("zones", making(capabilities.making).to_owned()),
    ];
    let proof = ("proof", proof(capabilities.proof).to_owned());
    for (about, words) in lines.into_iter().chain(of_pace).chain([proof]) {
        let wrapped = wrap(&sanitize(&words), width, INDENT + 1, INDENT + 1);
        let gap = " ".repeat(INDENT - 1 - about.len());
        out.push_str(&format!("  {}{about}{}{gap}{}\n", paint.dim, paint.off, &wrapped[INDENT + 1..]));
    }
}

/// What takes effect as a whole, and how large that can be.
fn unit(target: &TargetDiagnosis) -> String {
    let capabilities = &target.abilities.capabilities;
    let unit = match capabilities.unit {
        AtomicUnit::Message => "a message about one zone",
        AtomicUnit::Request => "a request about one zone",
        AtomicUnit::Transaction => "a transaction about one zone",
        AtomicUnit::Rrset => return "one RRset".to_owned(),
        AtomicUnit::Record => return "one record; an update of an RRset may end in the middle".to_owned(),
        AtomicUnit::ZoneFile => "the file of a zone",
    };
    let limits = capabilities.limits;
    let rrsets = bounded(limits.edits).map(|most| counted(most, "RRset"));
    let octets = bounded(limits.octets).map(|most| format!("{most} bytes"));
    let most: Vec<String> = rrsets.into_iter().chain(octets).collect();
    let most =
        if most.is_empty() { "any number of RRsets".to_owned() } else { format!("at most {}", most.join(" and ")) };
    format!("{unit}, with {most}")
}

/// What is compared before an RRset is replaced.
fn comparison(comparison: RrsetComparison) -> &'static str {
    match comparison {
        RrsetComparison::Records => "the records of each RRset, but not its TTL",
        RrsetComparison::RecordsAndTtl => "the records of each RRset and its TTL",
        RrsetComparison::Nothing => "nothing: what others write at the same time may be lost",
    }
}

/// Which zones have a marker.
fn fence(target: &TargetDiagnosis) -> String {
    let (fenced, zones) = (&target.abilities.fenced, &target.zones);
    match fenced.len() {
        0 => "none".to_owned(),
        count if count == zones.len() => "a marker in each zone".to_owned(),
        _ => {
            let names: Vec<String> = fenced.iter().map(|zone| format!("`{zone}`")).collect();
            format!("a marker in {}", names.join(", "))
        }
    }
}

/// Which types it holds.
fn types(types: RecordTypes) -> String {
    match types {
        RecordTypes::All => "all".to_owned(),
        RecordTypes::These(types) if types.len() > MOST_TYPES => {
            "those that its server knows; not `TYPE65400` and the like".to_owned()
        }
        RecordTypes::These(types) => {
            let types: Vec<String> = types.iter().map(Rtype::to_string).collect();
            format!("{} alone", types.join(", "))
        }
    }
}

/// Which zones it can make and delete.
fn making(making: ZoneMaking) -> &'static str {
    match (making.creates, making.deletes) {
        (true, true) => "it can make and delete them",
        (true, false) => "it can make them, but not delete them (no `delete_command`)",
        (false, true) => "it can delete them, but not make them (no `create_command`)",
        (false, false) => "it can neither make nor delete them",
    }
}

/// What proves that it serves what was written.
fn proof(proof: PublicationProof) -> &'static str {
    match proof {
        PublicationProof::ReadBack => "what was written is read back",
        PublicationProof::InSync => "the service says that all its name servers have it",
        PublicationProof::Operation => "the service says that the operation succeeded",
        PublicationProof::Reload => "`reload` succeeds",
    }
}
