//! Zones in Route 53, read.

use std::collections::{BTreeMap, BTreeSet};

use super::client::{Route53Client, Route53Question};
use super::document::{self, HostedZone, ListedSet, ProtectionPage, SetPage, SetPlace};
use super::names::name_text;
use super::settings::Route53Settings;
use super::zones::ZoneList;
use crate::diag::Problem;
use crate::dns::{Name, Rtype, ZoneContents, ZoneName};
use crate::http::HttpMethod;
use crate::provider::aws::AwsFault;
use crate::provider::outage::place_of;
use crate::provider::record_sets::{OwnedSet, contents_of};
use crate::target::{OpaqueRecords, ReadTarget, ZoneRead, apexes_of, marker_key};

/// How many sets a page has: the most that the service gives.
const PAGE: usize = 300;

/// How many requests a zone of so many sets takes to be read whole: its pages, and what shows whether another run wrote between
/// two of them.
pub fn requests_for(sets: u64) -> u64 {
    let pages = sets.div_ceil(PAGE as u64).max(1);
    if pages > 1 { pages + 3 } else { pages }
}

/// How often a zone is read whole that another run of zonewright writes to all the time.
const TRIES: usize = 3;

/// Reads zones.
pub struct Route53Reader {
    /// The service.
    pub client: Route53Client,
    /// The settings.
    pub settings: Route53Settings,
    /// What people call the target.
    pub place: String,
    /// The hosted zones.
    pub zones: ZoneList,
}

/// A zone, read whole.
pub struct Route53Zone {
    /// What its sets are.
    pub contents: ZoneContents,
    /// What of them is no plain RRset.
    pub opaque: Vec<OpaqueRecords>,
    /// How many octets the answers had.
    pub octets: u64,
}

impl Route53Reader {
    /// The problem of a fault at a zone.
    pub fn problem(&self, zone: &ZoneName, fault: AwsFault) -> Problem {
        fault.at(self.place(zone))
    }

    /// The hosted zone of a name.
    ///
    /// Errors: it cannot be found, or there is none that is meant.
    pub fn hosted(&self, zone: &ZoneName) -> Result<HostedZone, Problem> {
        let found = self.zones.find(&self.client, &self.settings.zones, zone);
        found.map_err(|fault| self.problem(zone, fault))?.ok_or_else(|| {
            let message = "the account has no such hosted zone";
            let hint = "compare the account of the credentials with the list of hosted zones; a new zone needs \
                        `create = true` in its `[[zone]]`";
            Problem::new(self.place(zone), "zone-not-served", message).hint(hint)
        })
    }

    /// The names and types of a zone that no change may touch: every batch that does is refused. Those of the SOA and the NS of the
    /// zone itself are left out: no update ever changes these.
    ///
    /// Errors: they cannot be read.
    ///
    /// Source: `ListResourceRecordSetProtections` in the model of the API.
    fn protected(&self, hosted: &HostedZone, zone: &ZoneName) -> Result<BTreeSet<(Name, String)>, AwsFault> {
        let (mut protected, mut token) = (BTreeSet::new(), None::<String>);
        if !self.settings.protections {
            return Ok(protected);
        }
        let path = format!("/hostedzone/{}/rrsetprotection", hosted.id);
        let max = self.settings.limits.octets;
        let is_of_apex = |name: &Name, rtype: &str| name.as_name() == zone.as_name() && matches!(rtype, "SOA" | "NS");
        loop {
            let query: Vec<(&str, &str)> = token.iter().map(|token| ("nexttoken", token.as_str())).collect();
            let question = Route53Question { method: HttpMethod::Get, path: &path, query: &query, content: "", max };
            let content = self.client.ask(&question).map_err(of_protections)?;
            let ProtectionPage { protected: more, next } =
                document::read_protections(&content).map_err(AwsFault::unusable)?;
            protected.extend(more.into_iter().filter(|(name, rtype)| !is_of_apex(name, rtype)));
            token = match next {
                Some(next) if Some(&next) != token.as_ref() => Some(next),
                _ => return Ok(protected),
            };
        }
    }

    /// Reads a page of the sets of a hosted zone, from this place on.
    fn page(&self, hosted: &HostedZone, from: Option<&SetPlace>, count: usize) -> Result<(SetPage, u64), AwsFault> {
        let count = count.to_string();
        let mut query: Vec<(&str, &str)> = vec![("maxitems", &count)];
        if let Some(SetPlace { name, rtype, identifier }) = from {
            query.push(("name", name));
            query.extend(rtype.as_deref().map(|rtype| ("type", rtype)));
            query.extend(identifier.as_deref().map(|identifier| ("identifier", identifier)));
        }
        let path = format!("/hostedzone/{}/rrset", hosted.id);
        let max = self.settings.limits.octets;
        let question = Route53Question { method: HttpMethod::Get, path: &path, query: &query, content: "", max };
        let content = self.client.ask(&question)?;
        Ok((document::read_sets(&content).map_err(AwsFault::unusable)?, content.len() as u64))
    }

    /// Reads all sets at a name.
    ///
    /// Errors: there is no answer.
    pub fn sets_at(&self, hosted: &HostedZone, name: &Name) -> Result<Vec<ListedSet>, AwsFault> {
        let mut from = SetPlace { name: name_text(name.as_name()), rtype: None, identifier: None };
        let mut sets = Vec::new();
        loop {
            // A name has a few sets; what comes behind them is of other names.
            let (page, _) = self.page(hosted, Some(&from), 10)?;
            let count = page.sets.len();
            let is_own = |set: &ListedSet| set.owner().as_ref() == Ok(name);
            let own: Vec<ListedSet> = page.sets.into_iter().filter(is_own).collect();
            let is_over = own.len() < count;
            sets.extend(own);
            match page.next {
                Some(next) if !is_over => from = next,
                _ => return Ok(sets),
            }
        }
    }

    /// The values of the marker, as they are listed.
    fn marker(&self, hosted: &HostedZone, zone: &ZoneName) -> Result<Vec<String>, AwsFault> {
        let Some(key) = marker_key(zone) else { return Ok(Vec::new()) };
        let from =
            SetPlace { name: name_text(key.owner.as_name()), rtype: Some(Rtype::TXT.to_string()), identifier: None };
        let (page, _) = self.page(hosted, Some(&from), 1)?;
        Ok(marker_in(&page.sets, zone).unwrap_or_default())
    }

    /// Reads a zone whole. Its pages are no snapshot: another run of zonewright that wrote between two of them is seen by the
    /// marker, and the zone read again. What others wrote meanwhile is compared when it is written.
    ///
    /// Errors: it cannot be read.
    pub fn read(&self, zone: &ZoneName) -> Result<Route53Zone, Problem> {
        let hosted = self.hosted(zone)?;
        let read = self.read_hosted(&hosted, zone).and_then(|(sets, octets)| Ok((by_name(sets)?, octets)));
        let (by_name, octets) = read.map_err(|fault| self.problem(zone, fault))?;
        let mut protected = self.protected(&hosted, zone).map_err(|fault| self.problem(zone, fault))?;
        let unusable = |why: String| self.problem(zone, AwsFault::unusable(why));
        let mut owned: Vec<OwnedSet<'_>> = Vec::new();
        for (owner, sets) in &by_name {
            for set in sets {
                let is_protected = protected.remove(&(owner.clone(), set.rtype.clone()));
                let found =
                    if is_protected { Err(format!("a protected set of type {}", set.rtype)) } else { set.rrset() };
                owned.push((owner.as_name(), found));
            }
        }
        let without_set = protected
            .iter()
            .map(|(owner, rtype)| (owner.as_name(), Err(format!("a protection against sets of type {rtype}"))));
        let (contents, opaque) = contents_of(zone, owned.into_iter().chain(without_set)).map_err(unusable)?;
        Ok(Route53Zone { contents, opaque, octets })
    }

    /// Reads all sets of a zone, by their names; as [`Route53Reader::read`].
    ///
    /// Errors: they cannot be read.
    pub fn sets(&self, hosted: &HostedZone, zone: &ZoneName) -> Result<BTreeMap<Name, Vec<ListedSet>>, AwsFault> {
        by_name(self.read_hosted(hosted, zone)?.0)
    }

    /// Reads all sets, with how many octets they came in.
    fn read_hosted(&self, hosted: &HostedZone, zone: &ZoneName) -> Result<(Vec<ListedSet>, u64), AwsFault> {
        for _ in 0..TRIES {
            let (mut page, mut octets) = self.page(hosted, None, PAGE)?;
            let mut before = None;
            // One page is one moment; with more of them, the marker must be the same before and behind them.
            if page.next.is_some() {
                before = marker_in(&page.sets, zone);
                if before.is_none() {
                    before = Some(self.marker(hosted, zone)?);
                    (page, octets) = self.page(hosted, None, PAGE)?;
                }
            }
            let mut sets = page.sets;
            while let Some(from) = page.next {
                let size;
                (page, size) = self.page(hosted, Some(&from), PAGE)?;
                octets += size;
                sets.append(&mut page.sets);
                self.check_size(&sets, octets)?;
            }
            match before {
                Some(before) if self.marker(hosted, zone)? != before => {}
                _ => return Ok((sets, octets)),
            }
        }
        let message = "another run of zonewright wrote to the zone between its pages, each time that it was read";
        let hint = "try again".to_owned();
        Err(AwsFault { hint, ..AwsFault::unusable(message.to_owned()) })
    }

    /// Checks that not too much was read.
    fn check_size(&self, sets: &[ListedSet], octets: u64) -> Result<(), AwsFault> {
        let limits = self.settings.limits;
        let records: usize = sets.iter().map(|set| set.values.len().max(1)).sum();
        if records as u64 <= limits.records && octets <= limits.octets {
            return Ok(());
        }
        let message = format!("the zone has more than {} records or {} bytes", limits.records, limits.octets);
        let hint = "if the zone is that large, raise `max_records` or `max_size` of the target".to_owned();
        Err(AwsFault { code: "read-limit", hint, ..AwsFault::unusable(message) })
    }
}

/// The fault of a question for protections, with what to do where it is denied.
fn of_protections(fault: AwsFault) -> AwsFault {
    let is_denied = fault.code == "api-denied";
    let hint = "allow `route53:ListResourceRecordSetProtections`, or set `protections = false` for the target";
    if is_denied { AwsFault { hint: hint.to_owned(), ..fault } } else { fault }
}

/// The values of the marker among sets; none where it is not there.
fn marker_in(sets: &[ListedSet], zone: &ZoneName) -> Option<Vec<String>> {
    let name = marker_key(zone)?.owner.as_name().to_name();
    let is_marker = |set: &&ListedSet| set.owner().as_ref() == Ok(&name) && set.rtype == Rtype::TXT.to_string();
    sets.iter().find(is_marker).map(|set| set.values.clone())
}

/// Sets by their names.
fn by_name(sets: Vec<ListedSet>) -> Result<BTreeMap<Name, Vec<ListedSet>>, AwsFault> {
    let mut by_name: BTreeMap<Name, Vec<ListedSet>> = BTreeMap::new();
    for set in sets {
        by_name.entry(set.owner().map_err(AwsFault::unusable)?).or_default().push(set);
    }
    Ok(by_name)
}

impl ReadTarget for Route53Reader {
    fn place(&self, zone: &ZoneName) -> String {
        place_of(&self.place, zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let Route53Zone { contents, opaque, .. } = self.read(zone)?;
        Ok(ZoneRead { contents, opaque, is_flat: false, inputs: Vec::new(), findings: None })
    }

    fn lacks_zone(&self, zone: &ZoneName) -> bool {
        matches!(self.zones.lacks(&self.client, &self.settings.zones, zone), Ok(true))
    }

    fn find_apexes(&self, names: &[Name]) -> Result<Vec<Option<ZoneName>>, Problem> {
        let zones = self.zones.all(&self.client, &self.settings.zones);
        let zones = zones.map_err(|fault| fault.at(self.place.clone()))?;
        Ok(apexes_of(names, |above| zones.iter().any(|zone| zone.name == *above)))
    }

    fn list_zones(&self) -> Result<Vec<ZoneName>, Problem> {
        let zones = self.zones.all(&self.client, &self.settings.zones);
        let zones = zones.map_err(|fault| fault.at(self.place.clone()))?;
        Ok(zones.into_iter().map(|zone| ZoneName::new(zone.name)).collect())
    }
}
