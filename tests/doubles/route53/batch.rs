//! A batch of changes: each is checked in order against what the ones before it left, and all or none take effect.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use super::account::ZoneState;
use super::decode::{ChangeAction, RequestedChange};
use super::errors::ServiceError;
use super::log::LoggedChange;
use super::names::DoubleName;
use super::rrset::{DoubleRrset, RoutingPolicy, RrsetKey};
use super::rules::Route53Rules;
use super::values::check_value;

/// Types that have one RRset a name, whatever the routing. Source: the API's documentation of routing policies.
const UNROUTED: [&str; 3] = ["NS", "SOA", "DS"];

/// A batch that is carried out.
struct BatchRun<'a> {
    /// The zone; changes that took effect are undone where a later one fails.
    zone: &'a mut ZoneState,
    /// The settings.
    rules: &'a Route53Rules,
    /// What took effect.
    done: Vec<(RrsetKey, LoggedChange)>,
    /// The actions of each RRset so far.
    seen: BTreeMap<RrsetKey, Vec<ChangeAction>>,
    /// All that is wrong.
    messages: Vec<String>,
}

/// Carries out a batch, and says what changed, in order. Errors: all that is wrong with it; nothing changed then.
pub fn apply_batch(
    zone: &mut ZoneState,
    changes: Vec<RequestedChange>,
    rules: &Route53Rules,
) -> Result<Vec<LoggedChange>, ServiceError> {
    check_limits(&changes, rules)?;
    let mut run = BatchRun { zone, rules, done: Vec::new(), seen: BTreeMap::new(), messages: Vec::new() };
    for change in changes {
        if let Err(message) = run.apply(change) {
            run.messages.push(message);
        }
    }
    run.check_end();
    if run.messages.is_empty() {
        return Ok(run.done.into_iter().map(|(_, change)| change).collect());
    }
    for (key, change) in run.done.into_iter().rev() {
        match change.before {
            Some(before) => run.zone.rrsets.insert(key, before),
            None => run.zone.rrsets.remove(&key),
        };
    }
    Err(ServiceError::invalid_batch(run.messages))
}

/// Checks how much a batch holds. What an UPSERT holds counts twice.
fn check_limits(changes: &[RequestedChange], rules: &Route53Rules) -> Result<(), ServiceError> {
    let (mut records, mut characters) = (0, 0);
    for change in changes {
        let times = if change.action == ChangeAction::Upsert { 2 } else { 1 };
        records += times * change.rrset.values.len();
        characters += times * change.rrset.values.iter().map(|value| value.chars().count()).sum::<usize>();
    }
    let mut messages = Vec::new();
    if records > rules.max_records {
        messages.push(format!("Number of records limit of {} exceeded.", rules.max_records));
    }
    if characters > rules.max_characters {
        messages.push(format!("RDATA character limit of {} exceeded.", rules.max_characters));
    }
    if messages.is_empty() { Ok(()) } else { Err(ServiceError::invalid_batch(messages)) }
}

impl BatchRun<'_> {
    /// Carries out one change. Errors: what is wrong with it.
    fn apply(&mut self, change: RequestedChange) -> Result<(), String> {
        let RequestedChange { action, mut rrset } = change;
        let name = DoubleName::parse(&rrset.name)?;
        rrset.name = name.shown();
        if let Some(alias) = &mut rrset.alias {
            alias.dns_name = DoubleName::parse(&alias.dns_name)?.shown();
        }
        if !name.is_in(&self.zone.name) {
            return Err(format!(
                "RRSet with DNS name {} is not permitted in zone {}",
                rrset.name,
                self.zone.name.shown()
            ));
        }
        let key = rrset.key(&name);
        self.check_protection(&key, &rrset)?;
        self.check_repetition(action, &key, &rrset)?;
        let before = self.zone.rrsets.get(&key).cloned();
        let after = match (action, &before) {
            (ChangeAction::Delete, None) => {
                return Err(format!("Tried to delete resource record set {} but it was not found", rrset.shown()));
            }
            (ChangeAction::Delete, Some(there)) if !rrset.fits(there, self.rules.order_matters) => {
                return Err(format!(
                    "Tried to delete resource record set {} but the values provided do not match the current values",
                    rrset.shown()
                ));
            }
            (ChangeAction::Delete, Some(_)) => None,
            (ChangeAction::Create, Some(_)) => {
                return Err(format!("Tried to create resource record set {} but it already exists", rrset.shown()));
            }
            (ChangeAction::Create | ChangeAction::Upsert, _) => {
                self.check_new(&key, &rrset)?;
                Some(rrset)
            }
        };
        match &after {
            Some(rrset) => self.zone.rrsets.insert(key.clone(), rrset.clone()),
            None => self.zone.rrsets.remove(&key),
        };
        self.done.push((key, LoggedChange { action: action.word(), before, after }));
        Ok(())
    }

    /// Refuses what is protected.
    fn check_protection(&self, key: &RrsetKey, rrset: &DoubleRrset) -> Result<(), String> {
        let Some(protection) = self.zone.protections.get(&(key.order.clone(), key.rtype.clone())) else {
            return Ok(());
        };
        let comment = protection.comment.as_ref().map(|comment| format!(": {comment}")).unwrap_or_default();
        Err(format!("Resource record set {} is protected by a resource record set protection{comment}", rrset.shown()))
    }

    /// Refuses several changes of one RRset, but for a DELETE and then a CREATE where the settings allow it.
    fn check_repetition(&mut self, action: ChangeAction, key: &RrsetKey, rrset: &DoubleRrset) -> Result<(), String> {
        let seen = self.seen.entry(key.clone()).or_default();
        seen.push(action);
        let is_swap = seen[..] == [ChangeAction::Delete, ChangeAction::Create] && self.rules.allows_swap;
        if seen.len() == 1 || is_swap {
            return Ok(());
        }
        Err(format!(
            "The request contains an invalid set of changes for a resource record set '{} {}'",
            rrset.rtype, rrset.name
        ))
    }

    /// Checks an RRset that is to be there.
    fn check_new(&self, key: &RrsetKey, rrset: &DoubleRrset) -> Result<(), String> {
        rrset.values.iter().try_for_each(|value| check_value(&rrset.rtype, value))?;
        if rrset.values.len() > self.rules.max_records_a_set {
            return Err(format!("Cannot have more than {} records in a RRSet.", self.rules.max_records_a_set));
        }
        if let Some(value) = repeated(&rrset.rtype, &rrset.values) {
            return Err(format!("Duplicate Resource Record: '{value}'"));
        }
        self.check_type(key, rrset)?;
        self.check_conflict(key, rrset)?;
        self.check_routing(key, rrset)?;
        self.check_alias(rrset)
    }

    /// Checks what depends on the type alone.
    fn check_type(&self, key: &RrsetKey, rrset: &DoubleRrset) -> Result<(), String> {
        let (name, rtype, zone) = (&rrset.name, &rrset.rtype, self.zone.name.shown());
        let is_apex = key.order == self.zone.name.order();
        if rtype == "CNAME" && is_apex {
            return Err(format!("RRSet of type CNAME with DNS name {name} is not permitted at apex in zone {zone}"));
        }
        if rtype == "DS" && is_apex || rtype == "SOA" && !is_apex {
            return Err(format!("RRSet of type {rtype} with DNS name {name} is not permitted in zone {zone}"));
        }
        if ["CNAME", "SOA"].contains(&rtype.as_str()) && rrset.values.len() > 1 {
            return Err(format!("RRSet of type {rtype} with DNS name {name} must have one record"));
        }
        let is_routed = rrset.routing.is_some() || rrset.alias.is_some();
        let is_multi = rrset.routing == Some(RoutingPolicy::MultiValue);
        if UNROUTED.contains(&rtype.as_str()) && is_routed || is_multi && (rtype == "CNAME" || rrset.alias.is_some()) {
            return Err(format!("RRSet of type {rtype} with DNS name {name} must be a simple one"));
        }
        Ok(())
    }

    /// Refuses a CNAME next to other types, and other types next to a CNAME.
    fn check_conflict(&self, key: &RrsetKey, rrset: &DoubleRrset) -> Result<(), String> {
        let (name, rtype, zone) = (&rrset.name, &rrset.rtype, self.zone.name.shown());
        let mut others = self.zone.at_name(&key.order).filter(|other| other.rtype != *rtype);
        if rtype == "CNAME" && others.next().is_some() {
            return Err(format!(
                "RRSet of type CNAME with DNS name {name} is not permitted as it conflicts with other records with the \
                 same DNS name in zone {zone}"
            ));
        }
        if rtype != "CNAME" && others.any(|other| other.rtype == "CNAME") {
            return Err(format!(
                "RRSet of type {rtype} with DNS name {name} is not permitted because a conflicting RRSet of type CNAME \
                 with the same DNS name already exists in zone {zone}"
            ));
        }
        Ok(())
    }

    /// Checks that all RRsets of the name and type are chosen from in one way.
    fn check_routing(&self, key: &RrsetKey, rrset: &DoubleRrset) -> Result<(), String> {
        let same_type = |other: &&DoubleRrset| other.rtype == rrset.rtype;
        let identifier = &rrset.set_identifier;
        let others =
            self.zone.at_name(&key.order).filter(same_type).filter(|other| other.set_identifier != *identifier);
        let others: Vec<&DoubleRrset> = others.collect();
        let Some(routing) = rrset.routing.as_ref().filter(|_| !others.is_empty()) else {
            return if others.is_empty() {
                Ok(())
            } else {
                Err(format!(
                    "RRSet with DNS name {}, type {} cannot be created as other RRSets exist with the same name and \
                     type.",
                    rrset.name, rrset.rtype
                ))
            };
        };
        let kind = routing.kind();
        let is_other_kind = |other: &&DoubleRrset| other.routing.as_ref().is_none_or(|theirs| theirs.kind() != kind);
        // Weights may be equal; of places, regions and sides there is one each.
        let is_plural = matches!(routing, RoutingPolicy::Weight(_) | RoutingPolicy::MultiValue);
        let words = if others.iter().any(is_other_kind) {
            match routing {
                RoutingPolicy::MultiValue => {
                    "because a non multivalue answer rrset exists with the same name and type.".to_owned()
                }
                _ => format!("as a non-{kind} set exists with the same name and type."),
            }
        } else if kind == "weighted"
            && others.iter().any(|other| other.ttl.is_some() && rrset.ttl.is_some() && other.ttl != rrset.ttl)
        {
            "as weighted sets must contain the same TTL.".to_owned()
        } else if !is_plural && others.iter().any(|other| other.routing.as_ref() == Some(routing)) {
            format!("as another {kind} set exists with the same name, type and {kind} value.")
        } else {
            return Ok(());
        };
        Err(format!(
            "RRSet with DNS name {}, type {}, SetIdentifier {} cannot be created {words}",
            rrset.name,
            rrset.rtype,
            identifier.as_deref().unwrap_or("null")
        ))
    }

    /// Checks that an alias of an RRset of this zone has its target.
    fn check_alias(&self, rrset: &DoubleRrset) -> Result<(), String> {
        let Some(alias) = rrset.alias.as_ref().filter(|alias| alias.zone_id == self.zone.id) else { return Ok(()) };
        let target = DoubleName::parse(&alias.dns_name)?;
        if self.zone.at_name(&target.order()).any(|there| there.rtype == rrset.rtype) {
            return Ok(());
        }
        Err(format!(
            "Tried to create an alias that targets {}, type {} in zone {}, but that target was not found",
            alias.dns_name, rrset.rtype, alias.zone_id
        ))
    }

    /// Checks what must hold after the whole batch.
    fn check_end(&mut self) {
        let apex = self.zone.name.order();
        let has = |rtype: &str| self.zone.at_name(&apex).any(|rrset| rrset.rtype == rtype);
        let (has_soa, has_ns) = (has("SOA"), has("NS"));
        if !has_soa {
            self.messages.push("A HostedZone must contain exactly one SOA record.".to_owned());
        }
        if !has_ns {
            self.messages.push("A HostedZone must contain at least one NS record for the zone itself.".to_owned());
        }
        let grows = self.done.iter().any(|(_, change)| change.before.is_none());
        if grows && self.rules.max_rrsets.is_some_and(|most| self.zone.rrsets.len() > most) {
            self.messages.push(format!("Exceeded limit MAX_RRSETS_BY_ZONE for zone: {}", self.zone.id));
        }
    }
}

/// Returns a value that is there twice. IPv6 addresses are compared as addresses, the rest as text.
fn repeated<'v>(rtype: &str, values: &'v [String]) -> Option<&'v String> {
    let same = |one: &str, other: &str| {
        let addresses = (one.parse::<Ipv6Addr>(), other.parse::<Ipv6Addr>());
        one == other || rtype == "AAAA" && matches!(addresses, (Ok(one), Ok(other)) if one == other)
    };
    values
        .iter()
        .enumerate()
        .find(|(place, value)| values[..*place].iter().any(|earlier| same(earlier, value)))
        .map(|(_, value)| value)
}
