//! Which short names are taken, by whom and why.
//!
//! A short name, the first label of a host's name, is one host's over all projects and domains.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_128;

use super::by_hash::ByHash;
use super::holders::named;
use crate::dns::{Name, NameRef, ZoneContents};
use crate::inventory::Inventory;
use crate::inventory::model::{Project, ProjectIndex};
use crate::inventory::value::{Inv, Time, is_cooling};
use crate::live::{Live, LiveZone};
use crate::target::OpaqueRecords;

/// Why a short name is not free; of several reasons the first one here is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TakenReason {
    /// A host has it, as backbone or fastbone.
    Held,
    /// A host had it until not long ago.
    Cooling,
    /// Live DNS has a record at it.
    Live,
}

/// Who says that a short name is not free.
#[derive(Debug, Clone, Copy)]
struct NameClaim {
    /// The leading half of the hash of the short name.
    lead: u64,
    /// The other half without its two last bits, which say whether the name is held, and whether its host is known.
    rest: u64,
    /// The host, where that is known.
    inv: Inv,
}

impl NameClaim {
    /// The bit of [`NameClaim::rest`] that says that the name is held; otherwise it is cooling.
    const IS_HELD: u64 = 1;

    /// The bit of [`NameClaim::rest`] that says that the host is known.
    const IS_ITS: u64 = 2;

    /// Notes a claim to the short name with this hash.
    fn new(hash: u128, is_held: bool, by: Option<Inv>) -> NameClaim {
        let mut rest = hash as u64 & !(NameClaim::IS_HELD | NameClaim::IS_ITS);
        if is_held {
            rest |= NameClaim::IS_HELD;
        }
        if by.is_some() {
            rest |= NameClaim::IS_ITS;
        }
        NameClaim { lead: lead(hash), rest, inv: by.unwrap_or(Inv(0)) }
    }

    /// Whether it is one to the short name with this hash.
    fn is_to(&self, hash: u128) -> bool {
        self.lead == lead(hash) && (self.rest ^ hash as u64) & !(NameClaim::IS_HELD | NameClaim::IS_ITS) == 0
    }

    /// Why the name is not free.
    fn reason(&self) -> TakenReason {
        if self.rest & NameClaim::IS_HELD == 0 { TakenReason::Cooling } else { TakenReason::Held }
    }

    /// Whether it is that of a host.
    fn is_by(&self, inv: Inv) -> bool {
        self.rest & NameClaim::IS_ITS != 0 && self.inv == inv
    }
}

/// The half of a hash by which claims are sorted.
fn lead(hash: u128) -> u64 {
    (hash >> 64) as u64
}

/// The short names that are taken.
///
/// Kept as 126 bits of their hashes: two of a million names have the same bits with a probability of 10^-26; the only
/// effect is one more skipped name.
#[derive(Debug)]
pub struct TakenNames {
    /// What hosts claimed from the beginning.
    claims: ByHash<NameClaim>,
    /// Who took which name since, which no other host has.
    later: HashMap<u128, Inv>,
    /// The labels in zones.
    live: Vec<ByHash<u128>>,
    /// Further labels that were found in live DNS.
    live_names: HashSet<u128>,
    /// The short names whose fastbone names are unknown, because the project's file is bad or missing. A fastbone's
    /// name always contains the backbone's.
    clouded: HashSet<u128>,
}

/// The short names at which a zone holds something, by their hashes.
#[derive(Debug)]
pub struct LiveLabels(ByHash<u128>);

impl LiveLabels {
    /// Looks for any records directly below any of `domains`; `opaque` are those that no RRset says.
    pub fn of(domains: &HashSet<Name>, contents: &ZoneContents, opaque: &[OpaqueRecords]) -> LiveLabels {
        let apex = contents.apex().as_name();
        let is_domain = |name: NameRef<'_>| domains.contains(name.as_wire());
        // Most zones hold no domain of a project, and none is one's child: those of addresses.
        let may_hold =
            apex.parent().is_some_and(is_domain) || domains.iter().any(|domain| domain.as_name().is_at_or_below(apex));
        let mut labels = Vec::new();
        let mut last = None;
        for rrset in contents.rrsets().filter(|_| may_hold) {
            if last.replace(rrset.labels()) == Some(rrset.labels()) {
                continue;
            }
            let owner = rrset.owner();
            if owner.as_name().parent().is_some_and(is_domain) {
                labels.push(xxh3_128(owner.as_name().first_label().unwrap_or_default()));
            }
        }
        for OpaqueRecords { owner, .. } in opaque {
            if owner.as_name().parent().is_some_and(is_domain) {
                labels.push(xxh3_128(owner.as_name().first_label().unwrap_or_default()));
            }
        }
        LiveLabels(ByHash::new(labels, |hash| lead(*hash)))
    }
}

/// The domains of all projects: a short name is taken if any of them has a record at it.
pub fn domains(inventory: &Inventory) -> HashSet<Name> {
    let admins = inventory.projects.iter().filter_map(|project| project.admin.as_ref());
    admins.flat_map(|admin| std::iter::once(&admin.dns_domain).chain(&admin.also_domains)).cloned().collect()
}

/// Whether a zone can say that a short name is taken: it has names directly below a domain, or is at one.
pub fn is_needed(domains: &HashSet<Name>, apex: NameRef<'_>) -> bool {
    let is_at_domain = apex.parent().is_some_and(|parent| domains.contains(parent.as_wire()));
    is_at_domain || domains.iter().any(|domain| domain.as_name().is_at_or_below(apex))
}

impl TakenNames {
    /// The names that hosts have, or had within the cooldown, with their fastbone names; and the names of rows whose
    /// host is unknown.
    pub fn by_hosts(inventory: &Inventory, now: Time) -> TakenNames {
        let mut found =
            FoundClaims { inventory, claims: Vec::with_capacity(inventory.hosts.len()), clouded: HashSet::new() };
        for (host, held) in named(inventory) {
            match held {
                // The row says it too, below.
                Some((_, Some(row))) if row.project == host.project => {}
                Some((name, _)) => {
                    found.add(&ClaimedName { name, project: host.project, inv: host.inv, is_held: true });
                }
                None => {}
            }
        }
        for row in &inventory.lock {
            let Some(name) = &row.name else { continue };
            let is_held = match row.released {
                None => true,
                Some(released) if is_cooling(released, now, inventory.config.name_cooldown) => false,
                Some(_) => continue,
            };
            found.add(&ClaimedName { name, project: row.project, inv: row.inv, is_held });
        }
        for name in &inventory.stray_names {
            let label = name.as_name().first_label().unwrap_or_default();
            found.claims.push(NameClaim::new(xxh3_128(label), true, None));
        }
        let FoundClaims { claims, clouded, .. } = found;
        let claims = ByHash::new(claims, |claim| claim.lead);
        TakenNames { claims, later: HashMap::new(), live: Vec::new(), live_names: HashSet::new(), clouded }
    }

    /// Adds any records in live DNS directly below a project's domain.
    pub fn add_live(&mut self, inventory: &Inventory, live: &Live) {
        let domains = domains(inventory);
        let zones = live.zones().map(|(_, zone)| zone).filter(|zone| is_needed(&domains, zone.name().as_name()));
        let labels = |zone: &LiveZone| Some(LiveLabels::of(&domains, zone.contents()?, &zone.opaque()).0);
        self.live.extend(zones.filter_map(labels));
    }

    /// Adds what was found in a zone.
    pub fn add_labels(&mut self, labels: LiveLabels) {
        self.live.push(labels.0);
    }

    /// Adds a short name that live DNS is known to hold something at.
    pub fn add_live_name(&mut self, label: &[u8]) {
        self.live_names.insert(xxh3_128(label));
    }

    /// Why a short name is not free; `None` where it is.
    pub fn reason(&self, label: &[u8]) -> Option<TakenReason> {
        let hash = xxh3_128(label);
        self.reason_among(self.claims.near(lead(hash)), label, hash)
    }

    /// Why each of some short names is not free, as [`TakenNames::reason`] says.
    pub fn reasons(&self, labels: &[Vec<u8>]) -> Vec<Option<TakenReason>> {
        let hashes: Vec<u128> = labels.iter().map(|label| xxh3_128(label)).collect();
        let near: Vec<&[NameClaim]> = hashes.iter().map(|hash| self.claims.near(lead(*hash))).collect();
        let each = labels.iter().zip(hashes).zip(near);
        each.map(|((label, hash), near)| self.reason_among(near, label, hash)).collect()
    }

    /// Why a short name, which has this hash, is not free; `near` are the claims among which those to it are.
    fn reason_among(&self, near: &[NameClaim], label: &[u8], hash: u128) -> Option<TakenReason> {
        let claimed = near.iter().filter(|claim| claim.is_to(hash)).map(NameClaim::reason);
        let taken = claimed.chain(self.later.contains_key(&hash).then_some(TakenReason::Held)).min();
        let live = || self.is_live(hash).then_some(TakenReason::Live);
        taken.or_else(live).or_else(|| self.may_be_fastbone(label).then_some(TakenReason::Held))
    }

    /// Whether live DNS holds something at the short name with this hash.
    fn is_live(&self, hash: u128) -> bool {
        self.live.iter().any(|zone| zone.near(lead(hash)).contains(&hash)) || self.live_names.contains(&hash)
    }

    /// Whether a short name may be that of a fastbone whose name is unknown.
    fn may_be_fastbone(&self, label: &[u8]) -> bool {
        let parts = |from: usize| (from + 1..=label.len()).map(move |to| &label[from..to]);
        let is_clouded = |part: &[u8]| part.len() < label.len() && self.clouded.contains(&xxh3_128(part));
        !self.clouded.is_empty() && (0..label.len()).flat_map(parts).any(is_clouded)
    }

    /// Why a short name is not free for the host that has it: what other hosts have or had; live DNS does not matter.
    pub fn reason_of_others(&self, label: &[u8], inv: Inv) -> Option<TakenReason> {
        let hash = xxh3_128(label);
        let claims = self.claims_to(hash).filter(|claim| !claim.is_by(inv)).map(NameClaim::reason);
        claims.chain(self.later.get(&hash).filter(|by| **by != inv).map(|_| TakenReason::Held)).min()
    }

    /// Takes a short name for a host; no other host has it.
    pub fn take(&mut self, label: &[u8], inv: Inv) {
        self.later.insert(xxh3_128(label), inv);
    }

    /// Takes back short names that were free, and were given.
    pub fn give_back(&mut self, labels: &[Vec<u8>]) {
        for label in labels {
            self.later.remove(&xxh3_128(label));
        }
    }

    /// What hosts claimed of the short name with this hash from the beginning.
    fn claims_to(&self, hash: u128) -> impl Iterator<Item = &NameClaim> {
        self.claims.near(lead(hash)).iter().filter(move |claim| claim.is_to(hash))
    }
}

/// A backbone's name that a host holds, or held until not long ago.
struct ClaimedName<'a> {
    /// The name.
    name: &'a Name,
    /// The project in which the host has or had it.
    project: ProjectIndex,
    /// The host.
    inv: Inv,
    /// Whether the host holds it now.
    is_held: bool,
}

/// The names of hosts found so far.
struct FoundClaims<'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// The claims, unsorted.
    claims: Vec<NameClaim>,
    /// As in [`TakenNames`].
    clouded: HashSet<u128>,
}

impl FoundClaims<'_> {
    /// Adds a backbone's name and its fastbone's.
    fn add(&mut self, claimed: &ClaimedName<'_>) {
        let ClaimedName { name, project, inv, is_held } = *claimed;
        let label = name.as_name().first_label().unwrap_or_default();
        self.claims.push(NameClaim::new(xxh3_128(label), is_held, Some(inv)));
        let Project { admin, file, .. } = &self.inventory.projects[project.0 as usize];
        if admin.is_some() && file.settings().is_none() {
            self.clouded.insert(xxh3_128(label));
        }
        if let Some(fastbone) = fastbone_label(self.inventory, project, label) {
            self.claims.push(NameClaim::new(xxh3_128(&fastbone), is_held, Some(inv)));
        }
    }
}

/// The fastbone's short name for a backbone's; `None` where the project has no fastbones, or its file is not good.
pub fn fastbone_label(inventory: &Inventory, project: ProjectIndex, label: &[u8]) -> Option<Vec<u8>> {
    let settings = inventory.projects[project.0 as usize].file.settings()?;
    settings.has_fastbone().then(|| settings.fastbone_name.label(label))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{at, inventory, inventory_of};
    use super::*;
    use crate::dns::{Rtype, Ttl, ZoneBuilder, ZoneName};
    use crate::inventory::value::Duration;
    use crate::live::{Apexes, LiveZone};

    /// Why a short name is not free, and why it is not the host's of each number alone.
    fn reasons<const N: usize>(
        taken: &TakenNames,
        label: &str,
        invs: [u64; N],
    ) -> (Option<TakenReason>, [Option<TakenReason>; N]) {
        (taken.reason(label.as_bytes()), invs.map(|inv| taken.reason_of_others(label.as_bytes(), Inv(inv))))
    }

    #[test]
    fn claims_of_several_hosts_are_told_apart() {
        let lock = ["1 sas1.search.example search 01:00:00 -", "2 sas1.web.example web 01:00:00 01:30:00"];
        let inventory =
            inventory(&["1,,search,assigned,sas", "2,,web,assigned,sas", "3,x1.web.example,web,free,sas"], &lock);
        let taken = TakenNames::by_hosts(&inventory, at("02:00:00"));
        let (held, cooling) = (Some(TakenReason::Held), Some(TakenReason::Cooling));
        assert_eq!(reasons(&taken, "sas1", [1, 2, 3]), (held, [cooling, held, held]));
        assert_eq!(reasons(&taken, "fb-sas1", [1, 2]), (held, [None, held]), "the fastbone of 1");
        assert_eq!(reasons(&taken, "sas1f", [1, 2]), (cooling, [cooling, None]), "that which 2 had");
        assert_eq!(reasons(&taken, "x1", [3, 4]), (held, [None, held]), "a free host has its name");
        assert_eq!(reasons(&taken, "x2", [3, 4]), (None, [None, None]));
    }

    #[test]
    fn what_hosts_csv_says_against_names_lock_is_not_held() {
        let inventory =
            inventory(&["1,sas1.search.example,search,assigned,sas"], &["1 sas2.search.example search 01:00:00 -"]);
        let taken = TakenNames::by_hosts(&inventory, at("02:00:00"));
        assert_eq!((taken.reason(b"sas1"), taken.reason(b"sas2")), (None, Some(TakenReason::Held)));
    }

    #[test]
    fn the_name_of_a_row_without_a_host_is_held() {
        let inventory = inventory(&["1,,search,assigned,sas"], &["one sas1.search.example search 01:00:00 -"]);
        let taken = TakenNames::by_hosts(&inventory, at("02:00:00"));
        assert_eq!(reasons(&taken, "sas1", [1]), (Some(TakenReason::Held), [Some(TakenReason::Held)]));
        let blanks = "1 sas2.search.example search 2026-11-20T01:00:00Z -\n";
        let inventory = inventory_of("max_bad_rows = \"100%\"", &["1,,search,assigned,sas"], blanks);
        let taken = TakenNames::by_hosts(&inventory, at("02:00:00"));
        assert_eq!(taken.reason(b"sas2"), Some(TakenReason::Held), "tabs that became blanks hide no name");
    }

    #[test]
    fn a_name_cools_until_it_was_given_up_longer_ago_than_the_cooldown() {
        let hour = Duration::from_secs(3600);
        assert!(is_cooling(at("01:00:00"), at("02:00:00"), hour));
        assert!(!is_cooling(at("01:00:00"), at("02:00:01"), hour));
        assert!(is_cooling(at("02:00:01"), at("02:00:00"), hour), "a time to come is not long ago");
        assert!(is_cooling(at("02:00:00"), at("02:00:00"), Duration::from_secs(0)));
    }

    #[test]
    fn what_live_dns_holds_is_told_last_and_is_no_others() {
        let inventory = inventory(&["1,,search,assigned,sas"], &["1 sas1.search.example search 01:00:00 01:30:00"]);
        let mut taken = TakenNames::by_hosts(&inventory, at("02:00:00"));
        [b"sas1", b"sas2", b"sas2"].into_iter().for_each(|label| taken.add_live_name(label));
        assert_eq!(reasons(&taken, "sas1", [1, 2]), (Some(TakenReason::Cooling), [None, Some(TakenReason::Cooling)]));
        assert_eq!(reasons(&taken, "sas2", [1, 2]), (Some(TakenReason::Live), [None, None]));
        taken.take(b"sas2", Inv(1));
        assert_eq!(reasons(&taken, "sas2", [1, 2]), (Some(TakenReason::Held), [None, Some(TakenReason::Held)]));
    }

    #[test]
    fn a_name_around_that_of_a_host_without_a_project_file_may_be_its_fastbones() {
        // `broken` is in zonewright.toml, and has no file; `unheard` is nowhere.
        let hosts = ["1,n1.broken.example,broken,assigned,sas", "2,n7.unheard.example,unheard,assigned,sas"];
        let inventory = inventory(&hosts, &[]);
        let taken = TakenNames::by_hosts(&inventory, at("02:00:00"));
        let is_taken = |label: &str| taken.reason(label.as_bytes()).is_some();
        assert_eq!(
            ["n1", "fb-n1", "n1f", "n12", "n2", "n", "fb-n7"].map(is_taken),
            [true, true, true, true, false, false, false]
        );
    }

    #[test]
    fn whatever_stands_directly_below_a_domain_takes_the_name() {
        let inventory = inventory(&["1,,search,assigned,sas"], &[]);
        let apexes = ["search.example", "other.example"].map(|apex| ZoneName::new(Name::parse(apex).unwrap()));
        let zones = apexes.iter().map(|apex| {
            let mut builder = ZoneBuilder::new(apex.clone());
            let owner = |label: &str| Name::parse(&format!("{label}.{apex}")).unwrap();
            let target = Name::parse("x.example.com").unwrap();
            let mut push =
                |owner: &Name, rtype, rdata: &[u8]| builder.push(owner.as_name(), rtype, Ttl::DEFAULT, rdata);
            push(&apex.as_name().to_name(), Rtype::SOA, &[0; 22]).unwrap();
            push(&owner("sas1"), Rtype::CNAME, target.as_wire()).unwrap();
            push(&owner("sas2"), Rtype::NS, target.as_wire()).unwrap();
            push(&owner("sas3"), Rtype::TXT, b"\x04kept").unwrap();
            push(&owner("deep.sas4"), Rtype::TXT, b"\x04kept").unwrap();
            push(&owner(&format!("only-{}", apex.to_string().replace('.', "-"))), Rtype::TXT, b"\x04kept").unwrap();
            LiveZone::known(builder.finish().unwrap())
        });
        let mut taken = TakenNames::by_hosts(&inventory, at("02:00:00"));
        taken.add_live(&inventory, &Live::new(zones.collect(), Apexes::new(apexes.iter())));
        let is_taken = |label: &str| taken.reason(label.as_bytes()).is_some();
        assert_eq!(["sas1", "sas2", "sas3", "sas4", "deep"].map(is_taken), [true, true, true, false, false]);
        assert_eq!(["only-search-example-", "only-other-example-"].map(is_taken), [true, false], "no project's domain");
    }
}
