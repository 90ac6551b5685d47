//! The keys of a zone as they were seen, and what of them a write compares. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::json::Operation;
use super::keys::{NamedKey, ZoneKeys};
use super::layout::{EtcdLayout, KeyRange};
use crate::dns::Name;

/// How many keys of other names one comparison may hold: a change of any of them makes the write start anew.
const MAX_BETWEEN: usize = 16;

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
        layout.path(name.as_name()).is_some_and(|path| self.is_written(&KeyRange::around(&path), seen.revision))
    }

    /// Takes what was read of names at one revision; `is_whole` says that all keys of the zone were read.
    pub fn take(&mut self, layout: &EtcdLayout, keys: &ZoneKeys, names: &BTreeSet<Name>, is_whole: bool) {
        let mut sorted: Vec<&NamedKey> = keys.named.iter().collect();
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

    /// Forgets what was seen of names. `written` is the revision at which they were written, where they were.
    pub fn forget(&mut self, layout: &EtcdLayout, names: &BTreeSet<Name>, written: Option<i64>) {
        for name in names {
            self.names.remove(name);
            if let Some((revision, path)) = written.zip(layout.path(name.as_name())) {
                self.written.insert(path, revision);
            }
        }
    }

    /// Whether a path of a range was written here after a revision.
    fn is_written(&self, range: &KeyRange, revision: i64) -> bool {
        self.written.range(range.from.clone()..range.to.clone()).any(|(_, written)| *written > revision)
    }

    /// Ranges, each with the revision after which no key of it may have been written. Those of neighbours are one where few keys of
    /// others are between them.
    pub fn joined(&self, ranges: BTreeMap<KeyRange, &SeenName>) -> Vec<(KeyRange, i64)> {
        let mut joined: Vec<(KeyRange, &SeenName)> = Vec::new();
        for (range, seen) in ranges {
            if let Some((last, before)) = joined.last_mut()
                && let Some(both) = self.both((last, before), (&range, seen))
            {
                (*last, *before) = (both, seen);
            } else {
                joined.push((range, seen));
            }
        }
        joined.into_iter().map(|(range, seen)| (range, seen.revision)).collect()
    }

    /// One range for two, the second behind the first; none where they stay apart.
    fn both(
        &self,
        (first, before): (&KeyRange, &SeenName),
        (second, seen): (&KeyRange, &SeenName),
    ) -> Option<KeyRange> {
        let both = KeyRange { from: first.from.clone(), to: first.to.clone().max(second.to.clone()) };
        let (left, right) = before.span.as_ref().zip(seen.span.as_ref())?;
        let is_near = right.start.saturating_sub(left.end) <= MAX_BETWEEN && before.revision == seen.revision;
        (is_near && !self.is_written(&both, seen.revision)).then_some(both)
    }
}

/// What is read to see the keys of a name: all below its path, and the path itself.
pub fn reads_of(path: &str) -> [Operation; 2] {
    [Operation::Range(KeyRange::below(path)), Operation::Get(path.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::super::keys::EtcdKey;
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
        let keys = ZoneKeys::read(&layout, there.iter().map(key).collect(), 7, None);
        let names: BTreeSet<Name> = names.iter().map(|text| name(text)).collect();
        let mut seen = SeenKeys::default();
        seen.take(&layout, &keys, &names, is_whole);
        if let Some(written) = written {
            seen.forget(&layout, &BTreeSet::from([name(written)]), Some(9));
        }
        let range = |own: &Name| Some((KeyRange::around(&layout.path(own.as_name())?), seen.of(own)?));
        let ranges = names.iter().filter_map(range).collect();
        let words = |(range, at): (KeyRange, i64)| {
            let short = |key: &str| key.trim_start_matches("/skydns/net/example/").to_owned();
            format!("{}..{}@{at}", short(&range.from), short(&range.to))
        };
        seen.joined(ranges).into_iter().map(words).collect()
    }

    #[test]
    fn neighbours_are_compared_as_one_where_the_zone_was_read_whole() {
        let names = ["h1", "h2", "h3"];
        assert_eq!(compared(true, &[], &names, None), ["h1..h30@7"]);
        assert_eq!(compared(false, &[], &names, None), ["h1..h10@7", "h2..h20@7", "h3..h30@7"]);
        // `a-b` is in the range of `a`, and does not end it.
        assert_eq!(compared(true, &["a", "a-b"], &["a", "a-b", "b"], None), ["a..b0@7"]);
    }

    #[test]
    fn names_with_many_others_between_them_stay_apart() {
        let others: Vec<String> = (100..120).map(|number| format!("m{number}")).collect();
        let mut there: Vec<&str> = others.iter().map(String::as_str).collect();
        assert_eq!(compared(true, &there, &["a", "z"], None), ["a..a0@7", "z..z0@7"]);
        there.truncate(16);
        assert_eq!(compared(true, &there, &["a", "z"], None), ["a..z0@7"]);
    }

    #[test]
    fn what_was_written_here_is_in_no_range_that_was_read_before() {
        assert_eq!(compared(true, &[], &["h1", "h3"], Some("h2")), ["h1..h10@7", "h3..h30@7"]);
        let layout = EtcdLayout::new("/skydns/", &ZoneName::new(Name::parse("example.net").unwrap())).unwrap();
        let mut seen = SeenKeys::default();
        let names = BTreeSet::from([name("a"), name("b")]);
        seen.take(&layout, &ZoneKeys::read(&layout, Vec::new(), 7, None), &names, true);
        assert!(!seen.lacks(&layout, &name("a")));
        seen.forget(&layout, &BTreeSet::from([name("a-b")]), Some(9));
        assert!(seen.lacks(&layout, &name("a")), "its range holds `a-b`");
        assert!(!seen.lacks(&layout, &name("b")));
    }
}
