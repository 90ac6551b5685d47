//! Which of the claims of one source counts where they differ, as external-dns decides it.
//!
//! Comes in: the subjects of a source with `conflicts = "external-dns"`, and which manifest the registry records for an
//! RRset. Goes out: the same subjects, where all that claim one RRset say the same; what loses is noted. Pure.
//!
//! Source: external-dns v0.22, endpoint/utils.go (`MergeEndpoints`), plan/plan.go and plan/conflict.go.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::records::{LostClaim, StatedClaim, StatedFault, StatedSubject};
use crate::change::BlockCode;
use crate::claim::{RrsetClaim, Subject, TtlHold, Want, WantedValue};
use crate::diag::Origin;
use crate::dns::{Name, Rdata, Rtype, Ttl};

/// Claims that external-dns takes for one: of one type, with one TTL.
type RivalKey = (Rtype, Option<Ttl>);

/// A claim: the place of its subject, and its place there.
type RivalPlace = (usize, usize);

/// Claims at one name that are joined to one.
struct RivalGroup {
    /// The type.
    rtype: Rtype,
    /// The claims, in the order of their subjects; never empty.
    places: Vec<RivalPlace>,
    /// The values of all of them, sorted, each once.
    values: Vec<Rdata>,
}

/// How many entries are joined to one RRset.
const MAX_JOINED: usize = 1000;

/// Lets claims of one RRset say the same; `subjects` are those of one source. `recorded` gives the manifest, as
/// `NAMESPACE/NAME`, that the registry has for an RRset.
pub fn settle(subjects: &mut [&mut StatedSubject], recorded: &dyn Fn(&Name, Rtype) -> Option<String>) {
    let mut names: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
    for (place, subject) in subjects.iter().enumerate() {
        let Some(name) = subject.subject.stated_name() else { continue };
        names.entry(name.clone()).or_default().push(place);
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
    let groups = group(subjects, places);
    let winners = winners(subjects, &groups, &|rtype| recorded(name, rtype));
    let lost = losers(subjects, &groups, &winners);
    join_values(subjects, &groups, &winners);
    take_out(subjects, lost);
}

/// Groups the claims of some subjects, all at one name.
fn group(subjects: &[&mut StatedSubject], places: &[usize]) -> Vec<RivalGroup> {
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
    let joined = groups.into_values().chain(alone).map(|places| RivalGroup {
        rtype: claim_at(subjects, places[0]).claim.rtype,
        values: values_of(subjects, &places),
        places,
    });
    joined.collect()
}

/// The place of the group that counts, by type. `recorded` gives the manifest that the registry has for a type.
fn winners(
    subjects: &[&mut StatedSubject],
    groups: &[RivalGroup],
    recorded: &dyn Fn(Rtype) -> Option<String>,
) -> BTreeMap<Rtype, usize> {
    let has_others = groups.iter().any(|group| group.rtype != Rtype::CNAME);
    let mut winners: BTreeMap<Rtype, usize> = BTreeMap::new();
    for (place, group) in groups.iter().enumerate() {
        // Next to other types a CNAME never counts.
        if group.rtype == Rtype::CNAME && has_others {
            continue;
        }
        let is_recorded = |group: &RivalGroup| {
            let by = recorded(group.rtype);
            by.is_some() && group.places.iter().any(|(place, _)| manifest_of(&subjects[*place].subject) == by)
        };
        let better = |other: &RivalGroup| {
            let recorded = is_recorded(group).cmp(&is_recorded(other)).reverse();
            recorded.then_with(|| by_values(group.rtype, &group.values, &other.values)) == Ordering::Less
        };
        let is_best = winners.get(&group.rtype).is_none_or(|other| better(&groups[*other]));
        if is_best {
            winners.insert(group.rtype, place);
        }
    }
    winners
}

/// The claims that lose, each with the first claim of the group to which it loses.
fn losers(
    subjects: &[&mut StatedSubject],
    groups: &[RivalGroup],
    winners: &BTreeMap<Rtype, usize>,
) -> BTreeMap<RivalPlace, RivalPlace> {
    let first_of_others = winners.iter().find(|(rtype, _)| **rtype != Rtype::CNAME).map(|(_, place)| *place);
    let mut lost: BTreeMap<RivalPlace, RivalPlace> = BTreeMap::new();
    for (place, group) in groups.iter().enumerate() {
        let winner = winners.get(&group.rtype).copied().or(first_of_others).expect("another type hides a CNAME");
        let other = &groups[winner];
        let says_the_same = || {
            let ttl = |group: &RivalGroup| ttl_of(&claim_at(subjects, group.places[0]).claim);
            group.rtype == other.rtype && ttl(group) == ttl(other) && group.values == other.values
        };
        if winner != place && !says_the_same() {
            lost.extend(group.places.iter().map(|own| (*own, other.places[0])));
        }
    }
    lost
}

/// Gives each claim of the groups that count the values of its whole group.
fn join_values(subjects: &mut [&mut StatedSubject], groups: &[RivalGroup], winners: &BTreeMap<Rtype, usize>) {
    for (place, RivalGroup { rtype, places, values }) in groups.iter().enumerate() {
        if places.len() > MAX_JOINED {
            // Each would have all values of all, and no zone holds so many records of one type at a name.
            let why =
                format!("{} entries of one type are at this name, and at most {MAX_JOINED} are joined", places.len());
            for (subject, number) in places {
                let origin = claim_at(subjects, (*subject, *number)).origin;
                subjects[*subject].faults.push(StatedFault {
                    origin,
                    message: why.clone(),
                    code: BlockCode::TargetLimit,
                });
            }
            continue;
        }
        if winners.get(rtype) != Some(&place) {
            continue;
        }
        for (subject, number) in places {
            let StatedClaim { claim, origin } = &mut subjects[*subject].claims[*number];
            if let Want::Exactly { values: own, .. } = &mut claim.want {
                // Each entry answers for itself, and for no line of another.
                let by_entry = |rdata: &Rdata| WantedValue { rdata: rdata.clone(), evidence: vec![*origin] };
                *own = values.iter().map(by_entry).collect();
            }
        }
    }
}

/// Takes the claims that lose out of their subjects, and notes to what they lost.
fn take_out(subjects: &mut [&mut StatedSubject], lost: BTreeMap<RivalPlace, RivalPlace>) {
    // Before the first is removed, for their places change then.
    let lost = lost.into_iter().map(|(place, winner)| {
        let StatedClaim { claim, origin } = claim_at(subjects, winner);
        (place, (claim.rtype, *origin))
    });
    let lost: Vec<(RivalPlace, (Rtype, Origin))> = lost.collect();
    for ((subject, number), winner) in lost.into_iter().rev() {
        let StatedClaim { claim, origin } = subjects[subject].claims.remove(number);
        subjects[subject].lost.push(LostClaim { origin, rtype: claim.rtype, winner });
    }
}

/// The claim at a place.
fn claim_at<'s>(subjects: &'s [&mut StatedSubject], (subject, number): RivalPlace) -> &'s StatedClaim {
    &subjects[subject].claims[number]
}

/// The TTL that a claim states.
fn ttl_of(claim: &RrsetClaim) -> Option<Ttl> {
    claim.ttl.filter(|ttl| ttl.hold == TtlHold::Always).map(|ttl| ttl.ttl)
}

/// The values of all claims of a group, sorted, each once.
fn values_of(subjects: &[&mut StatedSubject], group: &[RivalPlace]) -> Vec<Rdata> {
    let claims = group.iter().map(|place| &claim_at(subjects, *place).claim);
    let values: BTreeSet<&Rdata> = claims
        .flat_map(|claim| match &claim.want {
            Want::Exactly { values, .. } => values.as_slice(),
            Want::AnyOf { .. } | Want::Absent(_) => &[],
        })
        .map(|value| &value.rdata)
        .collect();
    values.into_iter().cloned().collect()
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
fn by_values(rtype: Rtype, one: &[Rdata], other: &[Rdata]) -> Ordering {
    let texts = |values: &[Rdata]| {
        let mut texts: Vec<String> = values.iter().map(|value| shown(rtype, value)).collect();
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
