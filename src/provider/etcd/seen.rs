//! The keys of a zone as they were seen, and what of them a write compares. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::json::{Comparison, Operation};
use super::keys::{EtcdKey, NamedKey, ZoneKeys, of_no_name};
use super::layout::{EtcdLayout, KeyRange};
use crate::dns::Name;

/// How many keys of other names one comparison may hold: a change of any of them makes the write start anew.
const MAX_BETWEEN: usize = 16;

/// The revision of what is under way: later than all that was read.
const UNDER_WAY: i64 = i64::MAX;

/// The keys of a name, and of all below it, as they were at a revision.
#[derive(Debug, Clone)]
pub struct SeenName {
    /// The revision.
    pub revision: i64,
    /// The keys.
    pub keys: Vec<NamedKey>,
    /// Where its range is among all keys of the zone, by their numbers; none where the zone was not read whole.
    span: Option<Range<usize>>,
}

/// The keys of the names of a zone, and what was written since.
#[derive(Debug, Default)]
pub struct SeenKeys {
    /// What was seen of each name.
    names: BTreeMap<Name, SeenName>,
    /// The paths that were written here, each with the revision.
    written: BTreeMap<String, i64>,
}

impl SeenKeys {
    /// What was seen of a name.
    pub fn of(&self, name: &Name) -> Option<&SeenName> {
        self.names.get(name)
    }

    /// Whether what was seen of a name is out of date at any rate: a write of its own was next to it.
    pub fn lacks(&self, layout: &EtcdLayout, name: &Name) -> bool {
        let Some(seen) = self.of(name) else { return true };
        layout.path(name.as_name()).is_some_and(|path| self.is_written(&KeyRange::below(&path), seen.revision))
    }

    /// Takes what was read of names at one revision; `is_whole` says that all keys of the zone were read.
    pub fn take(&mut self, layout: &EtcdLayout, keys: &ZoneKeys, names: &BTreeSet<Name>, is_whole: bool) {
        let strange: Vec<NamedKey> = keys.strange.iter().map(|key| nameless(layout, key)).collect();
        let mut sorted: Vec<&NamedKey> = keys.named.iter().chain(&strange).collect();
        sorted.sort_unstable_by(|one, other| one.key.key.cmp(&other.key.key));
        let place = |key: &str| sorted.partition_point(|own| own.key.key.as_str() < key);
        for name in names {
            let Some(path) = layout.path(name.as_name()) else { continue };
            let around = KeyRange::around(&path);
            let span = place(&around.from)..place(&around.to);
            let is_below = |own: &&&NamedKey| {
                own.key.key.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let own = sorted[span.clone()].iter().filter(is_below).map(|own| (*own).clone()).collect();
            let seen = SeenName { revision: keys.revision, keys: own, span: is_whole.then_some(span) };
            self.names.insert(name.clone(), seen);
        }
    }

    /// Forgets what was seen of names: a write of them is under way.
    pub fn begin(&mut self, layout: &EtcdLayout, names: &BTreeSet<Name>) {
        for name in names {
            self.names.remove(name);
            self.written.extend(layout.path(name.as_name()).map(|path| (path, UNDER_WAY)));
        }
    }

    /// Notes how a write of names ended: the revision at which they were written, where they were.
    pub fn end(&mut self, layout: &EtcdLayout, names: &BTreeSet<Name>, written: Option<i64>) {
        for path in names.iter().filter_map(|name| layout.path(name.as_name())) {
            match written {
                Some(revision) => self.written.insert(path, revision),
                None => self.written.remove(&path),
            };
        }
    }

    /// Whether a path of a range was written here after a revision.
    fn is_written(&self, range: &KeyRange, revision: i64) -> bool {
        self.written.range(range.from.clone()..range.to.clone()).any(|(_, written)| *written > revision)
    }

    /// What names are compared by, sorted by their paths. Neighbours are one range where few keys of others are between them; the
    /// keys of a sibling, such as `a-b` of `a`, are in a range of several, and no part of a name by itself.
    pub fn joined(&self, names: BTreeMap<String, ComparedName<'_>>) -> Vec<Comparison> {
        let mut joined: Vec<(KeyRange, Vec<(String, ComparedName<'_>)>)> = Vec::new();
        for (path, name) in names {
            let range = KeyRange::around(&path);
            match joined.last_mut() {
                Some((last, own)) if let Some(both) = self.both((&*last, own), (&range, name.seen)) => {
                    *last = both;
                    own.push((path, name));
                }
                _ => joined.push((range, vec![(path, name)])),
            }
        }
        let compared = |(range, own): (KeyRange, Vec<(String, ComparedName<'_>)>)| match own.as_slice() {
            // Of a PTR CoreDNS reads the one key at the path, which is compared by itself where it is there.
            [(path, ComparedName { is_pointer: true, is_there, .. })] => {
                (!is_there).then(|| Comparison::Unchanged(path.clone(), 0))
            }
            [(path, name)] => Some(Comparison::NoneSince(KeyRange::below(path), name.seen.revision)),
            several => several.first().map(|(_, name)| Comparison::NoneSince(range, name.seen.revision)),
        };
        joined.into_iter().filter_map(compared).collect()
    }

    /// One range for those of neighbours and of the name behind them; none where they stay apart.
    fn both(
        &self,
        (first, names): (&KeyRange, &[(String, ComparedName<'_>)]),
        (second, seen): (&KeyRange, &SeenName),
    ) -> Option<KeyRange> {
        let before = names.last()?.1.seen;
        let both = KeyRange { from: first.from.clone(), to: first.to.clone().max(second.to.clone()) };
        let (left, right) = before.span.as_ref().zip(seen.span.as_ref())?;
        let is_near = right.start.saturating_sub(left.end) <= MAX_BETWEEN && before.revision == seen.revision;
        (is_near && !self.is_written(&both, seen.revision)).then_some(both)
    }
}

/// A name that a write compares.
#[derive(Debug, Clone, Copy)]
pub struct ComparedName<'s> {
    /// What was seen of it.
    pub seen: &'s SeenName,
    /// Whether all that is written there is a PTR.
    pub is_pointer: bool,
    /// Whether a key of what is written was there, which is compared by itself.
    pub is_there: bool,
}

/// A key of no name, as one that no write may touch.
fn nameless(layout: &EtcdLayout, key: &EtcdKey) -> NamedKey {
    NamedKey { key: key.clone(), owner: layout.zone().as_name().to_name(), record: Err(of_no_name(key)) }
}

/// What is read to see the keys of a name: all below its path, and the path itself.
pub fn reads_of(path: &str) -> [Operation; 2] {
    [Operation::Range(KeyRange::below(path)), Operation::Get(path.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::super::service::KeyOwners;
    use super::*;
    use crate::dns::ZoneName;

    fn name(text: &str) -> Name {
        Name::parse(&format!("{text}.example.net")).unwrap()
    }

    /// What is compared for names of a zone that has keys at these ones, read at revision 7 as a whole or not; after a write of
    /// this name.
    fn compared(is_whole: bool, there: &[&str], names: &[&str], written: Option<&str>) -> Vec<String> {
        let layout = EtcdLayout::new("/skydns/", &ZoneName::new(Name::parse("example.net").unwrap())).unwrap();
        let key = |at: &&str| {
            let key = format!("{}/0a1b2c3d", layout.path(name(at).as_name()).unwrap());
            EtcdKey {
                key,
                mod_revision: 5,
                has_lease: false,
                value: br#"{"host":"192.0.2.1","targetstrip":1}"#.to_vec(),
            }
        };
        let keys = ZoneKeys::read(&layout, there.iter().map(key).collect(), 7, KeyOwners::Ours(None));
        let names: BTreeSet<Name> = names.iter().map(|text| name(text)).collect();
        let mut seen = SeenKeys::default();
        seen.take(&layout, &keys, &names, is_whole);
        if let Some(written) = written {
            let written = BTreeSet::from([name(written)]);
            seen.begin(&layout, &written);
            seen.end(&layout, &written, Some(9));
        }
        let compared = |own: &Name| {
            let name = ComparedName { seen: seen.of(own)?, is_pointer: false, is_there: false };
            Some((layout.path(own.as_name())?, name))
        };
        let compared = names.iter().filter_map(compared).collect();
        let words = |comparison: Comparison| {
            let Comparison::NoneSince(range, at) = comparison else { panic!("{comparison:?}") };
            let short = |key: &str| key.trim_start_matches("/skydns/net/example/").to_owned();
            format!("{}..{}@{at}", short(&range.from), short(&range.to))
        };
        seen.joined(compared).into_iter().map(words).collect()
    }

    #[test]
    fn neighbours_are_compared_as_one_where_the_zone_was_read_whole() {
        let names = ["h1", "h2", "h3"];
        assert_eq!(compared(true, &[], &names, None), ["h1..h30@7"]);
        assert_eq!(compared(false, &[], &names, None), ["h1/..h10@7", "h2/..h20@7", "h3/..h30@7"]);
        // `a-b` is in the range of `a`, and does not end it.
        assert_eq!(compared(true, &["a", "a-b"], &["a", "a-b", "b"], None), ["a..b0@7"]);
    }

    #[test]
    fn names_with_many_others_between_them_stay_apart() {
        let others: Vec<String> = (100..120).map(|number| format!("m{number}")).collect();
        let mut there: Vec<&str> = others.iter().map(String::as_str).collect();
        assert_eq!(compared(true, &there, &["a", "z"], None), ["a/..a0@7", "z/..z0@7"]);
        there.truncate(16);
        assert_eq!(compared(true, &there, &["a", "z"], None), ["a..z0@7"]);
    }

    #[test]
    fn what_was_written_here_is_in_no_range_that_was_read_before() {
        assert_eq!(compared(true, &[], &["h1", "h3"], Some("h2")), ["h1/..h10@7", "h3/..h30@7"]);
        let layout = EtcdLayout::new("/skydns/", &ZoneName::new(Name::parse("example.net").unwrap())).unwrap();
        let mut seen = SeenKeys::default();
        let names = BTreeSet::from([name("a"), name("b")]);
        seen.take(&layout, &ZoneKeys::read(&layout, Vec::new(), 7, KeyOwners::Ours(None)), &names, true);
        assert!(!seen.lacks(&layout, &name("a")));
        let below = BTreeSet::from([name("x.a")]);
        seen.begin(&layout, &below);
        assert!(seen.lacks(&layout, &name("a")), "`x.a` is under way in its range");
        seen.end(&layout, &below, None);
        assert!(!seen.lacks(&layout, &name("a")));
        seen.end(&layout, &below, Some(9));
        assert!(seen.lacks(&layout, &name("a")), "its range holds `x.a`");
        assert!(!seen.lacks(&layout, &name("b")));
    }
}
