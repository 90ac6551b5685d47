//! What an account has: its zones with their RRsets, and the changes that were made.

use std::collections::BTreeMap;

use super::super::signature::KnownKey;
use super::errors::ServiceError;
use super::log::{LoggedChange, LoggedRequest};
use super::names::DoubleName;
use super::rrset::{DoubleRrset, RrsetKey};
use super::rules::{ChangeSettling, PriorRequest, Route53Rules};

/// The state of an account.
#[derive(Default)]
pub struct AccountState {
    /// The zones in the order in which they were created.
    pub zones: Vec<ZoneState>,
    /// The changes by their identifiers.
    pub changes: BTreeMap<String, ChangeState>,
    /// Who may sign.
    pub keys: Vec<KnownKey>,
    /// All requests, and all that another editor did, in order.
    pub log: Vec<LoggedRequest>,
    /// How many zones were ever created.
    pub created_zones: u64,
    /// The second of the clock that is counted, and the requests in it.
    pub spent: (i64, u32),
}

/// A zone.
pub struct ZoneState {
    /// The identifier, without `/hostedzone/`.
    pub id: String,
    /// The apex.
    pub name: DoubleName,
    /// What the creator gave, so that a copy of the request creates no second zone.
    pub caller_reference: String,
    /// A comment.
    pub comment: Option<String>,
    /// The networks that see a private zone, each as region and identifier.
    pub networks: Vec<(String, String)>,
    /// Whether it is private.
    pub is_private: bool,
    /// The service that manages it, and a description.
    pub linked_service: Option<(String, String)>,
    /// The RRsets in the order of listings.
    pub rrsets: BTreeMap<RrsetKey, DoubleRrset>,
    /// The names and types that no change may touch.
    pub protections: BTreeMap<ProtectionKey, RrsetProtection>,
    /// The tags by their keys.
    pub tags: BTreeMap<String, String>,
    /// The last change.
    pub last_change: Option<String>,
}

/// What a protection is kept under: the order of names, and the type.
pub type ProtectionKey = (String, String);

/// A protection of a name and type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RrsetProtection {
    /// The name, as answers show it.
    pub name: String,
    /// The comment of its maker.
    pub comment: Option<String>,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeState {
    /// When, in seconds since the epoch.
    pub submitted: i64,
    /// How many times GetChange asked for it.
    pub asks: u32,
    /// The comment of the batch.
    pub comment: Option<String>,
}

impl ChangeState {
    /// Whether all name servers have it.
    pub fn is_in_sync(&self, rules: &Route53Rules, now: i64) -> bool {
        match rules.settling {
            ChangeSettling::AtOnce => true,
            ChangeSettling::AfterAsks(asks) => self.asks > asks,
            ChangeSettling::AfterSeconds(seconds) => now - self.submitted >= seconds,
        }
    }
}

impl AccountState {
    /// Returns a zone.
    pub fn zone(&self, id: &str) -> Result<&ZoneState, ServiceError> {
        self.zones.iter().find(|zone| zone.id == id).ok_or_else(|| ServiceError::no_zone(id))
    }

    /// Returns a zone, to be changed.
    pub fn zone_mut(&mut self, id: &str) -> Result<&mut ZoneState, ServiceError> {
        self.zones.iter_mut().find(|zone| zone.id == id).ok_or_else(|| ServiceError::no_zone(id))
    }

    /// Notes a change of a zone and returns its identifier.
    pub fn note_change(&mut self, zone_id: &str, now: i64, comment: Option<String>) -> String {
        let id = format!("C{:0>12}DOUBLE", self.changes.len() + 1);
        self.changes.insert(id.clone(), ChangeState { submitted: now, asks: 0, comment });
        if let Ok(zone) = self.zone_mut(zone_id) {
            zone.last_change = Some(id.clone());
        }
        id
    }

    /// Refuses a change of a zone while another one is processed, and one of a zone that another service manages.
    pub fn check_free(&self, zone: &ZoneState, rules: &Route53Rules, now: i64) -> Result<(), ServiceError> {
        if let Some((principal, description)) = &zone.linked_service {
            return Err(ServiceError::new(
                403,
                "AccessDenied",
                format!("The resource hostedzone/{} can only be managed through {principal} ({description})", zone.id),
            ));
        }
        let Some(last) = zone.last_change.as_ref().and_then(|id| self.changes.get(id)) else { return Ok(()) };
        let is_busy = match rules.prior_request {
            PriorRequest::Never => false,
            PriorRequest::WhilePending => !last.is_in_sync(rules, now),
            PriorRequest::Seconds(seconds) => now - last.submitted < seconds,
        };
        if !is_busy {
            return Ok(());
        }
        let words = "The request was rejected because Route 53 was still processing a prior request.";
        Err(ServiceError::new(400, "PriorRequestNotComplete", words))
    }

    /// Counts a request of the account. Errors: there were too many in this second of the clock.
    pub fn spend(&mut self, rules: &Route53Rules, now: i64) -> Result<(), ServiceError> {
        if self.spent.0 != now {
            self.spent = (now, 0);
        }
        if rules.requests_a_second.is_some_and(|most| self.spent.1 >= most) {
            return Err(ServiceError::throttling());
        }
        self.spent.1 += 1;
        Ok(())
    }
}

impl ZoneState {
    /// Puts an RRset, whatever was there, and says what changed. The name must be one that the service takes.
    pub fn put(&mut self, rrset: DoubleRrset) -> LoggedChange {
        let name = DoubleName::parse(&rrset.name).expect("the name of an RRset that is put is valid");
        let rrset = DoubleRrset { name: name.shown(), ..rrset };
        let key = rrset.key(&name);
        let before = self.rrsets.insert(key, rrset.clone());
        LoggedChange { action: "PUT", before, after: Some(rrset) }
    }

    /// Removes an RRset, and says what changed; none where it was not there.
    pub fn remove(&mut self, name: &str, rtype: &str, set_identifier: Option<&str>) -> Option<LoggedChange> {
        let name = DoubleName::parse(name).expect("the name of an RRset that is removed is valid");
        let set_identifier = set_identifier.map(str::to_owned);
        let key = RrsetKey { order: name.order(), rtype: rtype.to_owned(), set_identifier };
        let before = self.rrsets.remove(&key)?;
        Some(LoggedChange { action: "REMOVE", before: Some(before), after: None })
    }

    /// Returns the RRsets of a name, given by what it is sorted by.
    pub fn at_name<'z>(&'z self, order: &str) -> impl Iterator<Item = &'z DoubleRrset> {
        let first = RrsetKey { order: order.to_owned(), rtype: String::new(), set_identifier: None };
        let order = order.to_owned();
        self.rrsets.range(first..).take_while(move |(key, _)| key.order == order).map(|(_, rrset)| rrset)
    }

    /// Whether nothing is left but the SOA and the NS of the apex.
    pub fn is_empty(&self) -> bool {
        let apex = self.name.order();
        self.rrsets.keys().all(|key| key.order == apex && ["SOA", "NS"].contains(&key.rtype.as_str()))
    }
}
