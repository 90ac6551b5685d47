//! The truth: hosts, what DNS has for them, and who is busy because of a change.

use crate::dns::{Name, Rrset, ZoneName};
use crate::inventory::value::{Duration, Time};
use crate::provider::memory::primary::MemoryPrimary;
use crate::provider::memory::zone::MemoryZone;
use crate::provider::parse_text;

/// The projects; each has a zone.
pub const PROJECTS: [&str; 2] = ["search", "web"];

/// How long caches keep what they heard, and that there was nothing.
pub const SETTLE: Duration = Duration::from_secs(300);

/// A change that was made.
#[derive(Debug, Clone)]
pub struct TrueChange {
    /// Since when all name servers serve it; none while they do not.
    pub served: Option<Time>,
    /// Whether `default` had to let it through.
    pub counts: bool,
}

impl TrueChange {
    /// Whether it has not reached all clients.
    fn is_open(&self, now: Time) -> bool {
        self.served.is_none_or(|served| now < served.plus(SETTLE))
    }
}

/// A host.
#[derive(Debug, Clone)]
pub struct TrueHost {
    /// Its name.
    pub name: Name,
    /// Its project.
    pub project: &'static str,
    /// The number of the address that it must have; none where it has left.
    pub wish: Option<usize>,
    /// What DNS had last for it.
    pub live: Option<Rrset>,
    /// What was changed and may not have settled.
    pub changes: Vec<TrueChange>,
}

impl TrueHost {
    /// A host.
    pub fn new(number: usize, project: &'static str, wish: Option<usize>) -> TrueHost {
        let name = Name::parse(&format!("h{number}.{project}.example.net")).unwrap();
        TrueHost { name, project, wish, live: None, changes: Vec::new() }
    }

    /// Its name, as services get it.
    pub fn service_name(&self) -> String {
        self.name.to_string().trim_end_matches('.').to_owned()
    }

    /// Whether a change has not reached all clients.
    pub fn is_in_flux(&self, now: Time) -> bool {
        self.changes.iter().any(|change| change.is_open(now))
    }

    /// Whether a change for which `default` counts it has not reached all clients.
    pub fn is_busy(&self, now: Time) -> bool {
        self.changes.iter().any(|change| change.counts && change.is_open(now))
    }
}

/// The zone of a project.
pub fn zone(project: &str) -> ZoneName {
    ZoneName::new(Name::parse(&format!("{project}.example.net")).unwrap())
}

/// An address of a host.
pub fn address(host: usize, number: usize) -> String {
    format!("2001:db8::{}:{number}", host + 1)
}

/// A primary that has hosts as they are wished.
pub fn primary(hosts: &[TrueHost]) -> MemoryPrimary {
    let served = |project: &&str| {
        let own = hosts.iter().enumerate().filter(|(_, host)| host.project == *project);
        let records = own.filter_map(|(number, host)| Some((host, address(number, host.wish?))));
        let records: String = records.map(|(host, address)| format!("{} 300 AAAA {address}\n", host.name)).collect();
        let text = format!("$TTL 300\n@ SOA ns host 1 2 3 4 300\n@ NS ns\n{records}");
        MemoryZone::of(&parse_text(&zone(project), "zone", text.into_bytes()).unwrap())
    };
    MemoryPrimary::new(PROJECTS.iter().map(served))
}
