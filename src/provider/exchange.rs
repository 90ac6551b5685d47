//! Settings of the exchange with a target, which targets of all types may have: `timeout`, `window` and `read`.

use std::time::Duration;

use crate::inventory::node::TableReader;
use crate::inventory::value;
use crate::target::ReadingManner;

/// Settings of the exchange with a target, which targets of all types may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeSettings {
    /// How long one message may take.
    pub timeout: Duration,
    /// How records are read.
    pub read: ReadingManner,
    /// How many messages may be in flight, where that is said.
    pub window: Option<u16>,
}

/// How long one message may take where the settings say nothing: 30 s, as BIND waits for an idle client
/// (`tcp-idle-timeout`).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The longest `timeout`: an hour, beyond which a slip of the pen is likelier than a server.
const MAX_TIMEOUT: u64 = 3600;

/// The most messages in flight: more than message IDs are there for (RFC 1035 section 4.1.1).
const MAX_WINDOW: u16 = u16::MAX;

impl ExchangeSettings {
    /// Reads `timeout`, `window` and `read`.
    pub fn parse(reader: &mut TableReader<'_>) -> ExchangeSettings {
        let methods =
            [("axfr", ReadingManner::Whole), ("query", ReadingManner::ByName), ("auto", ReadingManner::Either)];
        let read = reader.choice("read", &methods).unwrap_or(ReadingManner::Whole);
        ExchangeSettings::parse_without_read(reader, read)
    }

    /// Reads `timeout` and `window`, for a target that is read in this manner.
    pub fn parse_without_read(reader: &mut TableReader<'_>, read: ReadingManner) -> ExchangeSettings {
        let timeout = reader.take("timeout").and_then(|node| {
            let timeout = reader.parse_node::<value::Duration>(node, "a length of time such as `30s`")?.as_secs();
            if !(1..=MAX_TIMEOUT).contains(&timeout) {
                reader.error(node, "bad-value", "a deadline must be between `1s` and `1h`");
                return None;
            }
            Some(Duration::from_secs(timeout))
        });
        let window = reader.integer("window").and_then(|(node, window)| {
            let valid = u16::try_from(window).ok().filter(|window| *window > 0);
            if valid.is_none() {
                reader.error(node, "bad-value", format!("`{window}` is not a number of 1 to {MAX_WINDOW}"));
            }
            valid
        });
        ExchangeSettings { timeout: timeout.unwrap_or(DEFAULT_TIMEOUT), read, window }
    }
}
