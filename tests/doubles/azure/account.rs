//! What a subscription has: its zones with their record sets, its tokens, and what is left of its rates.

use std::collections::BTreeMap;

use super::errors::AzureError;
use super::guid::guid;
use super::log::{AzureChange, AzureLogEntry};
use super::paths::{AzureOperation, zone_path};
use super::rules::{AzureKind, AzureRates, AzureRules};
use super::set::{AzureRecordSet, AzureSetKey, set_key};
use super::tokens::{AzureClient, AzureToken};

/// The seconds for which requests are counted together.
const RATE_SECONDS: i64 = 60;

/// The TTL of the SOA and NS of an apex, in seconds.
const APEX_TTL: u32 = 172_800;

/// The state of a subscription.
#[derive(Default)]
pub struct AzureState {
    /// The names of the resource groups.
    pub groups: Vec<String>,
    /// The zones in the order in which they were created.
    pub zones: Vec<AzureZoneState>,
    /// Who may ask for tokens by itself.
    pub clients: Vec<AzureClient>,
    /// The identities of the machine, by their client identifiers; the empty one is the machine's own.
    pub identities: Vec<String>,
    /// What the header of an App Service must be; none where there is no App Service.
    pub app_secret: Option<String>,
    /// The tokens that were given.
    pub tokens: Vec<AzureToken>,
    /// The changes of zones that are not done at once: how many times each was asked after.
    pub changes: BTreeMap<String, u32>,
    /// All requests, and all that another editor did, in order.
    pub log: Vec<AzureLogEntry>,
    /// How many GUIDs were made.
    pub guids: u64,
    /// For each zone and kind of request, since when requests are counted, and how many there were.
    pub spent: BTreeMap<(String, RateClass), (i64, u32)>,
}

/// A zone.
pub struct AzureZoneState {
    /// The resource group.
    pub group: String,
    /// The apex, without the final dot.
    pub name: String,
    /// What changes with each write of the zone itself.
    pub etag: String,
    /// Tags of Resource Manager.
    pub tags: BTreeMap<String, String>,
    /// The name servers, with the final dot; none for a private zone.
    pub name_servers: Vec<String>,
    /// The record sets in the order of listings.
    pub sets: BTreeMap<AzureSetKey, AzureRecordSet>,
}

/// What requests are counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RateClass {
    /// A record set is created.
    Create,
    /// A record set is updated.
    Update,
    /// A record set is deleted.
    Delete,
    /// A page is read.
    List,
    /// A zone or a record set is read.
    Get,
}

impl RateClass {
    /// Returns how many there may be in a minute.
    fn most(self, rates: AzureRates) -> u32 {
        match self {
            Self::Create => rates.creates,
            Self::Update => rates.updates,
            Self::Delete => rates.deletes,
            Self::List => rates.lists,
            Self::Get => rates.gets,
        }
    }
}

impl AzureState {
    /// Makes a GUID that was not there before.
    pub fn next_guid(&mut self) -> String {
        self.guids += 1;
        guid(self.guids + 100)
    }

    /// Gives a token for an audience.
    pub fn give_token(&mut self, audience: &str, rules: &AzureRules, now: i64) -> String {
        let text = format!("eyJhbGciOiJub25lIn0.{}.double", self.next_guid());
        let audience = audience.trim_end_matches('/').to_owned();
        self.tokens.push(AzureToken { text: text.clone(), audience, expires_at: now + rules.token_seconds });
        text
    }

    /// Returns the place of the zone that an operation names. Case does not matter.
    pub fn find_zone(&self, operation: &AzureOperation) -> Option<usize> {
        let is_it = |zone: &AzureZoneState| {
            zone.group.eq_ignore_ascii_case(&operation.group) && zone.name.eq_ignore_ascii_case(&operation.zone)
        };
        self.zones.iter().position(is_it)
    }

    /// Adds a zone with the record sets that each one has, and returns its place.
    pub fn add_zone(&mut self, kind: AzureKind, group: &str, name: &str) -> usize {
        // Each zone has name servers of one of several clusters.
        let cluster = self.zones.len() % 9 + 1;
        let servers = ["com", "net", "org", "info"].iter().zip(1..);
        let servers = servers.map(|(top, place)| format!("ns{place}-{cluster:02}.azure-dns.{top}."));
        let (name_servers, soa) = match kind {
            AzureKind::Public => {
                let name_servers: Vec<String> = servers.collect();
                let soa = format!("{} azuredns-hostmaster.microsoft.com 1 3600 300 2419200 300", name_servers[0]);
                (name_servers, soa)
            }
            AzureKind::Private => {
                (Vec::new(), "azureprivatedns.net azureprivatedns-host.microsoft.com 1 3600 300 2419200 10".to_owned())
            }
        };
        let mut zone = AzureZoneState {
            group: group.to_owned(),
            name: name.to_owned(),
            etag: self.next_guid(),
            tags: BTreeMap::new(),
            name_servers,
            sets: BTreeMap::new(),
        };
        let servers: Vec<&str> = zone.name_servers.iter().map(String::as_str).collect();
        let mut sets = vec![AzureRecordSet::new("@", "SOA", 3_600, &[&soa])];
        if kind == AzureKind::Public {
            sets.push(AzureRecordSet::new("@", "NS", APEX_TTL, &servers));
        }
        for set in sets {
            let etag = self.next_guid();
            zone.sets.insert(set.key(), AzureRecordSet { etag, ..set });
        }
        self.zones.push(zone);
        self.zones.len() - 1
    }

    /// Counts a request. Errors: there were too many in this minute.
    pub fn spend(&mut self, path: &str, class: RateClass, (rules, now): (&AzureRules, i64)) -> Result<(), AzureError> {
        let Some(rates) = rules.rates else { return Ok(()) };
        let spent = self.spent.entry((path.to_ascii_lowercase(), class)).or_insert((now, 0));
        if now - spent.0 >= RATE_SECONDS {
            *spent = (now, 0);
        }
        if spent.1 >= class.most(rates) {
            return Err(AzureError::throttled(rules.throttle_answer, RATE_SECONDS - (now - spent.0)));
        }
        spent.1 += 1;
        Ok(())
    }

    /// Puts a record set with a new etag, whatever was there, and says what changed.
    pub fn put_set(&mut self, place: usize, set: AzureRecordSet) -> AzureChange {
        let set = AzureRecordSet { etag: self.next_guid(), ..set };
        let zone = &mut self.zones[place];
        let before = zone.sets.insert(set.key(), set.clone());
        AzureChange { zone: zone.name.clone(), before, after: Some(set) }
    }

    /// Removes a record set, and says what changed; none where it was not there.
    pub fn remove_set(&mut self, place: usize, name: &str, rtype: &str) -> Option<AzureChange> {
        let zone = &mut self.zones[place];
        let before = zone.sets.remove(&set_key(name, rtype))?;
        Some(AzureChange { zone: zone.name.clone(), before: Some(before), after: None })
    }
}

impl AzureZoneState {
    /// Returns the path, as answers write it.
    pub fn path(&self, kind: AzureKind, subscription: &str) -> String {
        zone_path(kind, subscription, &self.group, &self.name)
    }

    /// Returns the record sets of a name.
    pub fn at_name<'z>(&'z self, name: &str) -> impl Iterator<Item = &'z AzureRecordSet> {
        let (is_below, name, _) = set_key(name, "");
        let first = (is_below, name.clone(), String::new());
        self.sets.range(first..).take_while(move |(key, _)| key.1 == name).map(|(_, set)| set)
    }
}
