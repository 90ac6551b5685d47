//! What the server is to do otherwise than RFC 2136 says, as people name it. Pure.

use std::str::FromStr;

use crate::dns::Name;
use crate::provider::memory::rules::{PrimaryQuirks, SerialStep};

/// One way in which servers differ from the RFC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerQuirk {
    /// An update that puts a CNAME next to other data, or other data next to a CNAME, is refused whole (PowerDNS).
    RefuseCnameClash,
    /// A record that is there already with another TTL is ignored (Knot).
    IgnoreTtlChange,
    /// All that deletes is done before all that adds (PowerDNS).
    AddsAfterDeletes,
    /// An RRset of more records is a failure (BIND).
    MaxRecords(usize),
    /// Hosts must have names of hosts (BIND).
    CheckNames,
    /// Changes of this name in an update are ignored in silence (policies of BIND and PowerDNS).
    IgnoreName(Name),
    /// The serial grows by so much; by nothing, where that is 0 (Knot within a batch).
    SerialStep(u32),
}

/// How they are written, and what each means, for `--help`.
pub const QUIRKS: [(&str, &str); 7] = [
    (
        "refuse-cname-clash",
        "refuse an update that puts a CNAME next to other data, or other data next to a CNAME (PowerDNS)",
    ),
    ("ignore-ttl-change", "ignore a record that is there already with another TTL (Knot)"),
    ("adds-after-deletes", "do all deletions before all additions, regardless of their order (PowerDNS)"),
    ("max-records=N", "fail if an RRset would have more than N records (BIND: 100)"),
    (
        "check-names",
        "refuse an address or a pointer if its name, or the name that it points to, is no host name (BIND)",
    ),
    (
        "ignore-name=NAME",
        "ignore the changes of this name in an update, without an error (policies of BIND and PowerDNS)",
    ),
    ("serial-step=N", "let the serial grow by N; 0 leaves it as it is (Knot within a batch)"),
];

impl FromStr for ServerQuirk {
    type Err = String;

    /// Reads `NAME` or `NAME=VALUE`.
    fn from_str(text: &str) -> Result<ServerQuirk, String> {
        let number = |value: &str| value.parse().map_err(|_| format!("`{value}` is not a number"));
        match text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value))) {
            ("refuse-cname-clash", None) => Ok(ServerQuirk::RefuseCnameClash),
            ("ignore-ttl-change", None) => Ok(ServerQuirk::IgnoreTtlChange),
            ("adds-after-deletes", None) => Ok(ServerQuirk::AddsAfterDeletes),
            ("max-records", Some(value)) => Ok(ServerQuirk::MaxRecords(number(value)? as usize)),
            ("check-names", None) => Ok(ServerQuirk::CheckNames),
            ("ignore-name", Some(value)) => {
                Name::parse(value).map(ServerQuirk::IgnoreName).map_err(|error| format!("`{value}`: {error}"))
            }
            ("serial-step", Some(value)) => Ok(ServerQuirk::SerialStep(number(value)?)),
            _ => {
                let known: Vec<String> = QUIRKS.iter().map(|(name, _)| format!("`{name}`")).collect();
                Err(format!("there are {}", known.join(", ")))
            }
        }
    }
}

/// All of these together.
pub fn collect(quirks: &[ServerQuirk]) -> PrimaryQuirks {
    let mut all = PrimaryQuirks::default();
    for quirk in quirks {
        match quirk {
            ServerQuirk::RefuseCnameClash => all.refuses_cname_clash = true,
            ServerQuirk::IgnoreTtlChange => all.ignores_ttl_change = true,
            ServerQuirk::AddsAfterDeletes => all.adds_after_deletes = true,
            ServerQuirk::MaxRecords(most) => all.max_records = Some(*most),
            ServerQuirk::CheckNames => all.checks_names = true,
            ServerQuirk::IgnoreName(name) => all.ignores_names.push(name.clone()),
            ServerQuirk::SerialStep(0) => all.serial = SerialStep::Unmoved,
            ServerQuirk::SerialStep(step) => all.serial = SerialStep::By(*step),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quirk_that_is_listed_can_be_read_and_does_something() {
        for (name, _) in QUIRKS {
            let text = name.replace("=NAME", "=a.example.net").replace("=N", "=7");
            let quirk: ServerQuirk = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_ne!(collect(&[quirk]), PrimaryQuirks::default(), "{text}");
        }
        for wrong in ["", "none", "max-records", "max-records=x", "check-names=1", "ignore-name=a..b"] {
            assert!(wrong.parse::<ServerQuirk>().is_err(), "{wrong}");
        }
    }
}
