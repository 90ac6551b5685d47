//! What rows of pods claim, by name: of nearly all pods only the hashes of their names are kept.
//!
//! Comes in: the names of pods and endpoints, each with the place of its subject. Goes out: the subjects that are about a
//! name, derived where they are asked for. Pure.

use foldhash::HashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::desired::pod_subjects::PodSubjects;
use crate::dns::NameRef;
use crate::names::by_hash::ByHash;

/// The hash of a name, and the place of a subject that is about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HashOfClaim {
    /// The hash.
    hash: u64,
    /// The place.
    place: u32,
}

impl HashOfClaim {
    /// A name of the subject at a place.
    pub fn new(name: NameRef<'_>, place: usize) -> HashOfClaim {
        HashOfClaim { hash: xxh3_64(name.as_wire()), place: place as u32 }
    }
}

/// The subjects of pods and endpoints, by their names.
#[derive(Debug)]
pub struct PodClaims<'i> {
    /// The subjects.
    subjects: PodSubjects<'i>,
    /// Their names.
    names: ByHash<HashOfClaim>,
}

impl<'i> PodClaims<'i> {
    /// Sorts the names of subjects.
    pub fn new(subjects: PodSubjects<'i>, names: Vec<HashOfClaim>) -> PodClaims<'i> {
        PodClaims { subjects, names: ByHash::new(names, |own| own.hash).sorted() }
    }

    /// The subjects.
    pub fn subjects(&self) -> &PodSubjects<'i> {
        &self.subjects
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.rows().is_empty()
    }

    /// The places of the subjects that may be about a name, in their order.
    pub fn near(&self, name: NameRef<'_>) -> impl Iterator<Item = usize> {
        self.near_hash(xxh3_64(name.as_wire()))
    }

    /// The same, by the hash (XXH3) of the name's wire format.
    pub fn near_hash(&self, hash: u64) -> impl Iterator<Item = usize> {
        self.names.near(hash).iter().filter(move |own| own.hash == hash).map(|own| own.place as usize)
    }

    /// Whether a subject is about a name. No subject is kept for this.
    pub fn has_name(&self, name: NameRef<'_>) -> bool {
        self.near(name).any(|place| match self.subjects.kept(place) {
            Some(subject) => subject.is_about(name),
            None => self.subjects.has_constant_name(place, name) || self.subjects.derive(place).is_about(name),
        })
    }

    /// The places of the subjects that may share a name with another one.
    pub fn sharing(&self) -> HashSet<usize> {
        let groups = self.names.rows().chunk_by(|one, other| one.hash == other.hash);
        let shared = groups.filter(|group| group[0].place != group[group.len() - 1].place);
        shared.flatten().map(|own| own.place as usize).collect()
    }
}
