//! RRsets that are looked for in the journal, each until it is found.

use std::collections::HashMap;

use crate::dns::RrKey;

/// Owner names and types as the journal writes them.
pub struct RrsetNames(Vec<(String, String)>);

impl RrsetNames {
    /// Those of some RRsets, in their order.
    pub fn of<'k>(rrsets: impl Iterator<Item = &'k RrKey>) -> RrsetNames {
        RrsetNames(rrsets.map(|rrset| (rrset.owner.to_string(), rrset.rtype.to_string())).collect())
    }
}

/// RRsets that are not found yet.
pub struct SoughtRrsets<'a> {
    /// All of them.
    names: &'a RrsetNames,
    /// The places of those that are left, by owner name; never empty.
    left: HashMap<&'a str, Vec<usize>>,
}

impl<'a> SoughtRrsets<'a> {
    /// Begins to look for RRsets, of which some may be the same.
    pub fn new(names: &'a RrsetNames) -> SoughtRrsets<'a> {
        let mut left: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, (name, _)) in names.0.iter().enumerate() {
            left.entry(name).or_default().push(place);
        }
        SoughtRrsets { names, left }
    }

    /// Whether all are found.
    pub fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    /// Whether an RRset is looked for.
    pub fn contains(&self, name: &str, rtype: &str) -> bool {
        self.left.get(name).is_some_and(|places| places.iter().any(|place| self.names.0[*place].1 == rtype))
    }

    /// The places of an RRset that is found in a copy that is meant: it is no longer looked for. Empty where it was not
    /// looked for.
    pub fn find(&mut self, name: &str, rtype: &str, is_meant: impl Fn(usize) -> bool) -> Vec<usize> {
        let Some(places) = self.left.get_mut(name) else { return Vec::new() };
        let (found, left) = places.iter().partition(|place| self.names.0[**place].1 == rtype && is_meant(**place));
        *places = left;
        if places.is_empty() {
            self.left.remove(name);
        }
        found
    }
}
