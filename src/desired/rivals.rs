//! Which of the claims of one source counts where they differ, as external-dns decides it.
//!
//! Comes in: the subjects of a source with `conflicts = "external-dns"`, and which manifest the registry records for an
//! RRset. Goes out: the same subjects, where all that claim one RRset say the same; what loses is noted. Pure.
//!
//! Source: external-dns v0.22, endpoint/utils.go (`MergeEndpoints`), plan/plan.go and plan/conflict.go.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::records::{StatedClaim, StatedFault, StatedSubject};
use crate::claim::{RrsetClaim, Subject, TtlHold, Want, WantedValue};
use crate::dns::{Name, Rdata, Rtype, Ttl};

/// Claims that external-dns takes for one: of one type, with one TTL.
type RivalKey = (Rtype, Option<Ttl>);

/// A claim: the place of its subject, and its place there.
type RivalPlace = (usize, usize);

/// Lets claims of one RRset say the same; `subjects` are those of one source. `recorded` gives the manifest, as
/// `NAMESPACE/NAME`, that the registry has for an RRset.
pub fn settle(subjects: &mut [&mut StatedSubject], recorded: &dyn Fn(&Name, Rtype) -> Option<String>) {
    let mut names: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
    for (place, subject) in subjects.iter().enumerate() {
        names.entry(subject.name().clone()).or_default().push(place);
    }
    for (name, places) in names {
        settle_name(subjects, &name, &places, recorded);
    }
}

/// Settles the claims at one name.
fn settle_name(
    subjects: &mut [&mut StatedSubject],
    name: &Name,
    places: &[usize],
    recorded: &dyn Fn(&Name, Rtype) -> Option<String>,
) {
    let mut groups: BTreeMap<RivalKey, Vec<RivalPlace>> = BTreeMap::new();
    let mut alone: Vec<Vec<RivalPlace>> = Vec::new();
    for place in places {
        for (number, own) in subjects[*place].claims.iter().enumerate() {
            // CNAME and DNAME have one value, and are never joined.
            if matches!(own.claim.rtype, Rtype::CNAME | Rtype::DNAME) {
                alone.push(vec![(*place, number)]);
            } else {
                groups.entry((own.claim.rtype, ttl_of(&own.claim))).or_default().push((*place, number));
            }
        }
    }
    let joined: Vec<Vec<RivalPlace>> = groups.into_values().chain(alone).collect();
    let values: Vec<Vec<WantedValue>> = joined.iter().map(|group| values_of(subjects, group)).collect();
    let rtype = |group: &[RivalPlace]| subjects[group[0].0].claims[group[0].1].claim.rtype;
    let types: Vec<Rtype> = joined.iter().map(|group| rtype(group)).collect();
    let has_others = types.iter().any(|rtype| *rtype != Rtype::CNAME);
    let mut winners: BTreeMap<Rtype, usize> = BTreeMap::new();
    for (place, rtype) in types.iter().enumerate() {
        // Next to other types a CNAME never counts.
        if *rtype == Rtype::CNAME && has_others {
            continue;
        }
        let is_recorded = |group: &[RivalPlace]| {
            let by = recorded(name, *rtype);
            by.is_some() && group.iter().any(|(place, _)| manifest_of(&subjects[*place].subject) == by)
        };
        let better = |other: usize| {
            let recorded = is_recorded(&joined[place]).cmp(&is_recorded(&joined[other])).reverse();
            recorded.then_with(|| by_values(*rtype, &values[place], &values[other])) == Ordering::Less
        };
        let is_best = winners.get(rtype).is_none_or(|other| better(*other));
        if is_best {
            winners.insert(*rtype, place);
        }
    }
    let mut lost: BTreeSet<RivalPlace> = BTreeSet::new();
    for (place, (group, values)) in joined.iter().zip(values).enumerate() {
        if winners.get(&types[place]) != Some(&place) {
            lost.extend(group);
            continue;
        }
        for (subject, number) in group {
            let claim = &mut subjects[*subject].claims[*number].claim;
            if let Want::Exactly { values: own, .. } = &mut claim.want {
                own.clone_from(&values);
            }
        }
    }
    for (subject, number) in lost.into_iter().rev() {
        let StatedClaim { claim, origin } = subjects[subject].claims.remove(number);
        let message = format!("{} of `{}` loses to another entry of its source", claim.rtype, claim.owner);
        subjects[subject].lost.push(StatedFault { origin, message, is_unsupported: false });
    }
}

/// The TTL that a claim states.
fn ttl_of(claim: &RrsetClaim) -> Option<Ttl> {
    claim.ttl.filter(|ttl| ttl.hold == TtlHold::Always).map(|ttl| ttl.ttl)
}

/// The values of all claims of a group, sorted, each once.
fn values_of(subjects: &[&mut StatedSubject], group: &[RivalPlace]) -> Vec<WantedValue> {
    let claims = group.iter().map(|(place, number)| &subjects[*place].claims[*number].claim);
    let mut values: Vec<WantedValue> = claims
        .flat_map(|claim| match &claim.want {
            Want::Exactly { values, .. } => values.clone(),
            Want::AnyOf { .. } | Want::Absent(_) => Vec::new(),
        })
        .collect();
    values.sort_by(|a, b| a.rdata.cmp(&b.rdata));
    values.dedup_by(|b, a| {
        a.rdata == b.rdata && {
            a.evidence.append(&mut b.evidence);
            true
        }
    });
    values
}

/// The manifest of a subject, as the registry records it.
fn manifest_of(subject: &Subject) -> Option<String> {
    match subject {
        Subject::Endpoint(own) => Some(format!("{}/{}", own.namespace, own.manifest)),
        _ => None,
    }
}

/// Which of two candidates external-dns prefers: with fewer targets; then by the first that differs, an address before a
/// name, addresses by their numbers, names as text.
fn by_values(rtype: Rtype, one: &[WantedValue], other: &[WantedValue]) -> Ordering {
    let texts = |values: &[WantedValue]| {
        let text = |value: &WantedValue| shown(rtype, &value.rdata);
        let mut texts: Vec<String> = values.iter().map(text).collect();
        texts.sort_unstable();
        texts
    };
    one.len().cmp(&other.len()).then_with(|| {
        let (one, other) = (texts(one), texts(other));
        let differing = one.iter().zip(&other).find(|(one, other)| one != other);
        differing.map_or(Ordering::Equal, |(one, other)| match (one.parse::<IpAddr>(), other.parse::<IpAddr>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => one.cmp(other),
        })
    })
}

/// A value as manifests write it: names without the final dot.
fn shown(rtype: Rtype, rdata: &Rdata) -> String {
    let text = rdata.as_rdata(rtype).to_string();
    text.strip_suffix('.').map_or(text.clone(), str::to_owned)
}
