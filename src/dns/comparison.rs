//! What two copies of a zone have alike, and what not.

use std::cmp::Ordering;
use std::ops::Range;

use super::contents::{RrsetRef, ZoneContents};

/// An RRset that two copies of a zone do not have alike, as each of them has it; one of them may lack it.
#[derive(Debug, Clone, Copy)]
pub struct UnlikeRrset<'z> {
    /// In the first copy.
    pub one: Option<RrsetRef<'z>>,
    /// In the other copy.
    pub other: Option<RrsetRef<'z>>,
}

impl<'z> UnlikeRrset<'z> {
    /// What the copies have, the first copy first: one or two RRsets of one owner and type.
    pub fn both(self) -> impl Iterator<Item = RrsetRef<'z>> {
        self.one.into_iter().chain(self.other)
    }
}

/// Records that two copies of a zone have alike, one behind the other in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlikeRecords {
    /// Their numbers in the first copy.
    pub one: Range<u32>,
    /// The number of the first of them in the other copy.
    pub other: u32,
}

/// Two copies of a zone, compared.
#[derive(Debug, Default)]
pub struct ZoneComparison<'z> {
    /// The RRsets that they do not have alike, each once; in no order that counts.
    pub differing: Vec<UnlikeRrset<'z>>,
    /// The records of all other RRsets.
    pub alike: Vec<AlikeRecords>,
}

impl<'z> ZoneComparison<'z> {
    /// Compares two copies of one zone. Both have one order, and nearly always the same octets: these are skipped
    /// without a look at what they mean.
    pub fn of(one: &'z ZoneContents, other: &'z ZoneContents) -> ZoneComparison<'z> {
        let mut compared = ZoneComparison::default();
        let (mut at, mut other_at) = (0, 0);
        loop {
            let same = one.same_from(at, other, other_at);
            compared.note_alike(at..at + same, other_at);
            (at, other_at) = (at + same, other_at + same);
            let (first, second) = (one.rrset_from(at), other.rrset_from(other_at));
            let order = match (first, second) {
                (None, None) => return compared,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(first), Some(second)) => first.cmp_place(second),
            };
            let first = first.filter(|_| order != Ordering::Greater);
            let second = second.filter(|_| order != Ordering::Less);
            match first.zip(second).filter(|(first, second)| first.has_content_of(*second)) {
                Some((first, _)) => compared.note_alike(first.numbers(), other_at),
                None => compared.differing.push(UnlikeRrset { one: first, other: second }),
            }
            at = first.map_or(at, |rrset| rrset.numbers().end);
            other_at = second.map_or(other_at, |rrset| rrset.numbers().end);
        }
    }

    /// Notes records that both have alike.
    fn note_alike(&mut self, one: Range<u32>, other: u32) {
        if !one.is_empty() {
            self.alike.push(AlikeRecords { one, other });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, Rdata, Rtype, Ttl, ZoneBuilder, ZoneName};

    /// How many names the zones have.
    const NAMES: usize = 300;

    /// A zone with an AAAA of some values and a TTL at each numbered name; none where there are no values.
    fn zone(records: impl Fn(usize) -> (u32, Vec<u8>)) -> ZoneContents {
        let apex = ZoneName::new(Name::parse("example.net").unwrap());
        let mut builder = ZoneBuilder::new(apex.clone());
        builder.push(apex.as_name(), Rtype::SOA, Ttl::DEFAULT, &[0; 22]).unwrap();
        for number in 0..NAMES {
            let owner = Name::parse(&format!("h{number}.example.net")).unwrap();
            let (ttl, values) = records(number);
            for value in values {
                let rdata = Rdata::parse(Rtype::AAAA, &format!("2a02::{value:x}")).unwrap();
                builder.push(owner.as_name(), Rtype::AAAA, Ttl::from_wire(ttl), rdata.as_octets()).unwrap();
            }
        }
        builder.finish().unwrap()
    }

    /// The owner names of what differs, sorted.
    fn owners(compared: &ZoneComparison<'_>) -> Vec<String> {
        let owner = |found: &UnlikeRrset<'_>| found.both().next().unwrap().owner().to_string();
        let mut owners: Vec<String> = compared.differing.iter().map(owner).collect();
        owners.sort_unstable();
        owners
    }

    /// Checks that each record of both copies is either in an RRset that differs, or in one that is alike.
    fn assert_whole(compared: &ZoneComparison<'_>, one: &ZoneContents, other: &ZoneContents) {
        let count = |rrset: Option<RrsetRef<'_>>| rrset.map_or(0, RrsetRef::record_count);
        let alike: usize = compared.alike.iter().map(|alike| alike.one.len()).sum();
        let differing = |side: fn(&UnlikeRrset<'_>) -> usize| compared.differing.iter().map(side).sum::<usize>();
        assert_eq!(alike + differing(|found| found.one.map_or(0, RrsetRef::record_count)), one.record_count());
        assert_eq!(
            alike + compared.differing.iter().map(|found| count(found.other)).sum::<usize>(),
            other.record_count()
        );
        for AlikeRecords { one: numbers, other: start } in &compared.alike {
            let (first, second) = (one.rrset_by_id(numbers.start), other.rrset_by_id(*start));
            assert_eq!((first.owner(), first.to_rrset()), (second.owner(), second.to_rrset()));
        }
    }

    #[test]
    fn what_differs_is_in_one_copy_alone_or_has_another_ttl_or_rdata() {
        let one = zone(|number| match number % 7 {
            1 => (60, vec![]),
            _ => (60, vec![number as u8]),
        });
        let other = zone(|number| match number % 7 {
            2 => (60, vec![]),
            3 => (90, vec![number as u8]),
            4 => (60, vec![!(number as u8)]),
            _ => (60, vec![number as u8]),
        });
        let expected = (0..NAMES).filter(|number| matches!(number % 7, 1..=4));
        let mut expected: Vec<String> = expected.map(|number| format!("h{number}.example.net.")).collect();
        expected.sort_unstable();
        for (one, other) in [(&one, &other), (&other, &one)] {
            let compared = ZoneComparison::of(one, other);
            assert_eq!(owners(&compared), expected);
            assert_whole(&compared, one, other);
        }
        let same = ZoneComparison::of(&one, &one);
        assert!(same.differing.is_empty());
        assert_eq!(same.alike, [AlikeRecords { one: 0..one.record_count() as u32, other: 0 }]);
    }

    #[test]
    fn an_rrset_that_has_a_value_more_in_one_copy_differs_though_it_begins_alike() {
        for long in 0..NAMES {
            let one = zone(|number| (60, vec![number as u8]));
            let other = zone(|number| match number {
                _ if number == long => (60, vec![number as u8, 0xff]),
                _ => (60, vec![number as u8]),
            });
            let is_new = long as u8 != 0xff;
            let expected: Vec<String> = is_new.then(|| format!("h{long}.example.net.")).into_iter().collect();
            for (one, other) in [(&one, &other), (&other, &one)] {
                let compared = ZoneComparison::of(one, other);
                assert_eq!(owners(&compared), expected);
                assert_whole(&compared, one, other);
            }
        }
    }
}
