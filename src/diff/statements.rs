//! Which manifest or zone file claims which RRset, as applies noted it; and what an apply notes anew. Pure.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use crate::dns::{Name, NameRef, Rtype, rtype_text};
use crate::names::by_hash::ByHash;

/// What is noted in the place of a manifest or zone file: an RRset was taken over from another owner.
pub const ADOPTED: &str = "adopted";

/// That a manifest or zone file claims an RRset.
///
/// The fields are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RrsetStatement {
    /// What claims it: `SOURCE/NAMESPACE/NAME` of a manifest, `SOURCE/ZONE` of a zone file; or [`ADOPTED`].
    pub by: String,
    /// Whether it is claimed from now on, or no longer.
    pub is_kept: bool,
    /// The owner name.
    pub name: Name,
    /// The type.
    #[serde(rename = "type", with = "rtype_text")]
    pub rtype: Rtype,
}

/// What claims an RRset, sorted: nearly always one manifest or zone file.
pub type ClaimNotes<'s> = SmallVec<[&'s str; 1]>;

/// What claims each RRset, as applies noted it.
#[derive(Debug)]
pub struct KeptStatements {
    /// What claims RRsets, each text once.
    texts: Vec<String>,
    /// What is noted, in the order in which it came.
    rows: Vec<KeptRow>,
    /// The places of the rows, by the hashes of their names.
    by_name: ByHash<(u64, u32)>,
}

/// An RRset, and what is noted to claim it.
#[derive(Debug)]
pub struct NotedRrset<'s> {
    /// The owner name.
    pub name: &'s Name,
    /// The type.
    pub rtype: Rtype,
    /// What is noted to claim it, without what is known.
    pub by: ClaimNotes<'s>,
    /// Whether any note of it is known.
    pub has_known: bool,
}

/// That something claims an RRset.
#[derive(Debug)]
struct KeptRow {
    /// The owner name.
    name: Name,
    /// The type.
    rtype: Rtype,
    /// The place of what claims it, among the texts.
    text: u32,
}

impl KeptStatements {
    /// Each RRset with all that claims it.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, Rtype, ClaimNotes<'_>)> {
        self.without(&[]).map(|group| (group.name, group.rtype, group.by))
    }

    /// Each RRset with its notes that are not among `known`, where there are any. `known` is by
    /// [`KeptStatements::place_of`]; empty, it says that none is.
    pub fn without<'s>(&'s self, known: &'s [bool]) -> impl Iterator<Item = NotedRrset<'s>> {
        let is_known = |place: u32| known.get(place as usize).copied().unwrap_or(false);
        let rows = self.by_name.rows().iter().map(|(_, place)| *place).filter(move |place| !is_known(*place));
        rows.filter_map(move |place| {
            let KeptRow { name, rtype, .. } = &self.rows[place as usize];
            let places: SmallVec<[u32; 1]> = self.places(name.as_name(), *rtype).collect();
            let others: SmallVec<[u32; 1]> = places.iter().copied().filter(|place| !is_known(*place)).collect();
            let has_known = others.len() < places.len();
            let is_first = others.first() == Some(&place);
            is_first.then(|| NotedRrset { name, rtype: *rtype, by: self.notes(others.into_iter()), has_known })
        })
    }

    /// The notes of what some sources state.
    pub fn only(&self, is_meant: impl Fn(&str) -> bool) -> KeptStatements {
        let is_of_source = |by: &str| is_meant(by.split_once('/').map_or(by, |(source, _)| source));
        let notes = self.rows.iter().map(|row| (&row.name, row.rtype, &self.texts[row.text as usize]));
        let own = notes.filter(|(_, _, by)| is_of_source(by));
        own.map(|(name, rtype, by)| (name.clone(), rtype, by.clone())).collect()
    }

    /// Whether nothing is noted.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many notes there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// What is noted to claim an RRset.
    pub fn by(&self, name: NameRef<'_>, rtype: Rtype) -> ClaimNotes<'_> {
        self.notes(self.places(name, rtype))
    }

    /// Whether this is noted to claim an RRset.
    pub fn has(&self, name: &Name, rtype: Rtype, by: &str) -> bool {
        self.place_of(name.as_name(), rtype, |note| note == by).is_some()
    }

    /// The place of the first note about an RRset that passes a test.
    pub fn place_of(&self, name: NameRef<'_>, rtype: Rtype, is_it: impl Fn(&str) -> bool) -> Option<usize> {
        self.places(name, rtype).find(|place| is_it(self.text(*place))).map(|place| place as usize)
    }

    /// The places of the rows of an RRset.
    fn places(&self, name: NameRef<'_>, rtype: Rtype) -> impl Iterator<Item = u32> {
        let hash = if self.rows.is_empty() { 0 } else { xxh3_64(name.as_wire()) };
        let near = self.by_name.near(hash).iter().filter(move |(own, _)| *own == hash).map(|(_, place)| *place);
        near.filter(move |place| {
            let row = &self.rows[*place as usize];
            row.rtype == rtype && row.name.as_name() == name
        })
    }

    /// What rows say, sorted.
    fn notes(&self, places: impl Iterator<Item = u32>) -> ClaimNotes<'_> {
        let mut notes: ClaimNotes<'_> = places.map(|place| self.text(place)).collect();
        notes.sort_unstable();
        notes
    }

    /// What a row says.
    fn text(&self, place: u32) -> &str {
        &self.texts[self.rows[place as usize].text as usize]
    }
}

impl Default for KeptStatements {
    fn default() -> KeptStatements {
        std::iter::empty().collect()
    }
}

impl FromIterator<(Name, Rtype, String)> for KeptStatements {
    fn from_iter<T: IntoIterator<Item = (Name, Rtype, String)>>(notes: T) -> KeptStatements {
        let (mut places, mut texts, mut rows) = (HashMap::<String, u32>::new(), Vec::new(), Vec::new());
        for (name, rtype, by) in notes {
            let text = match places.get(&by) {
                Some(place) => *place,
                None => {
                    let place = texts.len() as u32;
                    texts.push(by.clone());
                    places.insert(by, place);
                    place
                }
            };
            rows.push(KeptRow { name, rtype, text });
        }
        let hashes: Vec<(u64, u32)> =
            rows.iter().zip(0..).map(|(row, place)| (xxh3_64(row.name.as_name().as_wire()), place)).collect();
        KeptStatements { texts, rows, by_name: ByHash::new(hashes, |(hash, _)| *hash) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claims_an_rrset_is_found_by_its_name_and_type() {
        let name = |text: &str| Name::parse(text).unwrap();
        let note = |owner: &str, rtype, by: &str| (name(owner), rtype, by.to_owned());
        let notes = [
            note("a.example.net.", Rtype::A, "s/default/two"),
            note("a.example.net.", Rtype::AAAA, "s/default/one"),
            note("b.example.net.", Rtype::A, "s/default/one"),
            note("a.example.net.", Rtype::A, "s/default/one"),
        ];
        let kept: KeptStatements = notes.into_iter().collect();
        assert_eq!(kept.by(name("a.example.net.").as_name(), Rtype::A).as_slice(), ["s/default/one", "s/default/two"]);
        assert!(kept.has(&name("a.example.net."), Rtype::AAAA, "s/default/one"));
        assert!(!kept.has(&name("b.example.net."), Rtype::A, "s/default/two"));
        assert!(kept.by(name("b.example.net.").as_name(), Rtype::AAAA).is_empty());
        let mut all: Vec<String> =
            kept.iter().map(|(name, rtype, by)| format!("{name} {rtype} {}", by.join(","))).collect();
        all.sort();
        assert_eq!(
            all,
            [
                "a.example.net. A s/default/one,s/default/two",
                "a.example.net. AAAA s/default/one",
                "b.example.net. A s/default/one"
            ]
        );
        assert!(KeptStatements::default().is_empty() && KeptStatements::default().iter().next().is_none());
    }
}
