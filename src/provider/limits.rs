//! How much one read of a zone may bring, which targets of several types may say.

use std::time::Duration;

use crate::inventory::config::shared::{A_DURATION, A_SIZE};
use crate::inventory::node::TableReader;
use crate::inventory::value;

/// The limits of each read of a zone: a transfer, or all questions about its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// How many records may come.
    pub records: u64,
    /// How many octets of messages may come.
    pub octets: u64,
    /// How long it may take.
    pub time: Duration,
    /// How many times as much may come as the zone held last.
    pub growth: u64,
}

impl Default for ReadLimits {
    fn default() -> ReadLimits {
        ReadLimits {
            // Twice a fleet of 10 million records, since nothing is known of a zone that is read for the first time.
            records: 20_000_000,
            // 10 million records of 200 octets; a PTR below ip6.arpa takes 120 where its names are not compressed.
            octets: 2 << 30,
            // 10 million records at 6 000 a second, over a slow line; BIND's `max-transfer-time-in` is two hours.
            time: Duration::from_secs(1800),
            // A fleet that grows to ten times its size between two reads is not read unseen.
            growth: 10,
        }
    }
}

/// Reads how much one read may bring, whatever the zone held last.
pub fn parse_limits(reader: &mut TableReader<'_>) -> ReadLimits {
    let default = ReadLimits::default();
    let records = read_count(reader, "max_records").unwrap_or(default.records);
    let octets = reader.parsed::<value::Size>("max_size", A_SIZE).map_or(default.octets, value::Size::octets);
    let time = reader.take("max_time").and_then(|node| {
        let time = reader.parse_node::<value::Duration>(node, A_DURATION)?.as_secs();
        if time == 0 {
            reader.error(node, "bad-value", "a read needs at least `1s`");
        }
        Some(Duration::from_secs(time))
    });
    ReadLimits { records, octets, time: time.unwrap_or(default.time), growth: default.growth }
}

/// Reads a number of 1 or more.
pub fn read_count(reader: &mut TableReader<'_>, key: &'static str) -> Option<u64> {
    let (node, count) = reader.integer(key)?;
    let valid = u64::try_from(count).ok().filter(|count| *count > 0);
    if valid.is_none() {
        reader.error(node, "bad-value", format!("`{count}` is not a number of 1 or more"));
    }
    valid
}
