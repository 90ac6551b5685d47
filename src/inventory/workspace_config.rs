//! What zonewright.toml says, with the pools and zones of the DNS update records.

use std::collections::HashSet;

use super::cms::CmsService;
use super::health::HealthChecks;
use super::node::{SettingsNode, SourceText};
use super::pool::{Pool, TargetSpec};
use super::update_record::{RecordPool, UpdateRecords};
use super::value::{Duration, Percent};
use crate::diag::Origin;
use crate::dns::{Name, Ttl, ZoneName};
use crate::registry::{Marking, Registry};
use crate::target::{CopyId, PoolName, TargetId, TargetScope, ZoneApex, ZoneFence, ZoneId};

/// zonewright.toml.
#[derive(Debug, Clone)]
pub struct Config {
    /// How own RRsets are known where a pool says nothing.
    pub marking: Marking,
    /// Where the key of encrypted TXT is, for pools that say nothing of their own.
    pub txt_key: Option<SettingsNode>,
    /// Where released hosts get their name; never published.
    pub free_domain: Name,
    /// How long a released name stays taken.
    pub name_cooldown: Duration,
    /// The share of bad rows above which a source is unknown.
    pub max_bad_rows: Percent,
    /// How long a saved plan may be applied.
    pub plan_expires: Duration,
    /// How long the later waves of a plan may be applied.
    pub waves_expire: Duration,
    /// Where the state is kept: a file, relative to the workspace.
    pub state_file: String,
    /// What may change within a time, and in one plan.
    pub limits: Limits,
    /// What rollouts may ask before they go on.
    pub health: HealthChecks,
    /// The cluster-management services, in the file's order.
    pub cms: Vec<CmsService>,
    /// How long a name that no host has keeps its records, counted from the first applied plan that would delete them.
    pub delete_after: Duration,
    /// What `[[zone]]` lists, in the file's order, no name twice; then the zones of DNS update records, no name twice in one
    /// pool.
    pub zones: Vec<ZoneSpec>,
    /// What `[pool.X]` lists, then the pools of DNS update records; [`ZoneSpec::pool`] counts into it.
    pub pools: Vec<Pool>,
    /// The DNS update records, of files of their own.
    pub update_records: UpdateRecords,
    /// The label of manifests that names their DNS update record.
    pub record_label: String,
    /// The file itself, for what providers find in their settings.
    pub source: SourceText,
}

/// What may change within a time, and in one plan. Shares are `None` where nothing is said; what holds then is
/// `guard`'s.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many hosts may change within a period; in the file's order.
    pub hosts: Vec<HostLimit>,
    /// The share of a zone's live RRsets of the managed types that one plan may delete.
    pub max_delete: Option<ShareLimit>,
    /// The share of them that one plan may modify.
    pub max_modify: Option<ShareLimit>,
    /// The share of all changes that one row or setting of the inventory may cause.
    pub max_by_cause: Option<ShareLimit>,
    /// The share of the hosts that may lose live records.
    pub max_loss: Option<ShareLimit>,
    /// How many records an RRset may have after the plan.
    pub max_rrset: usize,
}

/// A share that one plan may not exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareLimit {
    /// The share.
    pub share: Percent,
    /// Where it is set.
    pub origin: Origin,
}

/// How many distinct hosts may change within a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLimit {
    /// The period; never of length 0.
    pub period: Duration,
    /// How many hosts.
    pub max: u64,
    /// Where it is written.
    pub origin: Origin,
}

/// One `[[zone]]`.
#[derive(Debug, Clone)]
pub struct ZoneSpec {
    /// The zone.
    pub name: ZoneName,
    /// Its pool's place in [`Config::pools`].
    pub pool: usize,
    /// What may be changed.
    pub permission: Permission,
    /// Whose names rule 3 may clear.
    pub claim_addresses: ClaimAddresses,
    /// The TTL of its records where the project has none.
    pub ttl: Option<Ttl>,
    /// Whether a marker fences updates; where nothing is said, the provider knows what is right.
    pub fence: Option<ZoneFence>,
    /// The names of it that no rule may change.
    pub protect: Vec<ProtectPattern>,
    /// What it is for.
    pub purpose: ZonePurpose,
    /// With which apex a target that lacks it gets it; none where it does not.
    pub create: Option<ZoneApex>,
    /// Where `create` is set, for messages.
    pub create_origin: Option<Origin>,
    /// Where it is configured.
    pub origin: Origin,
    /// Where `ttl` is set, for evidence.
    pub ttl_origin: Option<Origin>,
}

/// What a zone is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZonePurpose {
    /// It holds what is asked for.
    Records,
    /// It is to be deleted: nothing may be asked for in it.
    Absent,
    /// It lists zones for secondaries (RFC 9432), and holds nothing else.
    Catalog,
}

impl ZoneSpec {
    /// A zone of which nothing is said but its pool, by its place, and its name; `origin` says where the zone is known from.
    pub fn bare(name: &ZoneName, pool: usize, origin: Origin) -> ZoneSpec {
        ZoneSpec {
            name: name.clone(),
            pool,
            permission: Permission::Own,
            claim_addresses: ClaimAddresses::Hosts,
            ttl: None,
            fence: None,
            protect: Vec::new(),
            purpose: ZonePurpose::Records,
            create: None,
            create_origin: None,
            origin,
            ttl_origin: None,
        }
    }

    /// A zone of a DNS update record; `place` is that of its pool.
    fn of_record(own: &RecordPool, place: usize, name: &ZoneName, origin: Origin) -> ZoneSpec {
        let create = if own.makes_zones { ZoneApex::below(name) } else { None };
        ZoneSpec { create, ..ZoneSpec::bare(name, place, origin) }
    }

    /// Whether nothing may be asked for in it.
    pub fn is_closed(&self) -> bool {
        self.purpose != ZonePurpose::Records
    }

    /// Whether it is no failure that a target lacks it.
    pub fn may_be_missing(&self) -> bool {
        self.create.is_some() || self.purpose == ZonePurpose::Absent
    }
}

/// A name, or a glob of names, that no rule may change.
#[derive(Debug, Clone)]
pub struct ProtectPattern {
    /// In lower case, absolute, with the final dot; `*` and `?` match dots too.
    pub glob: glob::Pattern,
    /// Where it is written.
    pub origin: Origin,
}

/// What may be changed in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Any RRset that the rules name.
    Full,
    /// Own RRsets alone.
    Own,
}

/// Whose names lose an address that a host needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimAddresses {
    /// Names that a host has or had.
    Hosts,
    /// All names.
    All,
}

impl Config {
    /// What `[[zone]]` lists: all zones that hosts, pods and files may have names in. Their numbers are those among all zones.
    pub fn listed_zones(&self) -> impl Iterator<Item = &ZoneSpec> {
        self.zones.iter().take_while(|spec| !self.is_of_record(spec))
    }

    /// Whether a zone is seen by a DNS update record alone.
    pub fn is_of_record(&self, zone: &ZoneSpec) -> bool {
        self.pool(zone).is_of_record
    }

    /// Puts the pools of the DNS update records behind all others, in the order of the records, and so the zones that files name.
    pub fn place_records(&mut self) {
        for record in &self.update_records.records {
            let Some(own) = &record.pool else { continue };
            let place = self.pools.len();
            self.zones.extend(own.zones.iter().map(|zone| ZoneSpec::of_record(own, place, &zone.name, zone.origin)));
            self.pools.push(own.pool.clone());
        }
    }

    /// Adds zones of DNS update records that no file names, each once; without those that the filter of the record hides.
    pub fn add_record_zones(&mut self, zones: impl IntoIterator<Item = ZoneId>) {
        // An account may have thousands of zones.
        let mut known: HashSet<ZoneId> = self.zones.iter().map(|spec| self.zone_id(spec)).collect();
        for zone in zones {
            let record = self.update_records.of_pool(&zone.pool);
            let Some((record, own)) = record.and_then(|record| Some((record, record.pool.as_ref()?))) else { continue };
            let is_shown = own.lists_zones && !own.filter.hides_zone(zone.name.as_name());
            let place = self.pools.iter().position(|pool| pool.is_of_record && pool.name == zone.pool);
            if let Some(place) = place.filter(|_| is_shown) {
                let spec = ZoneSpec::of_record(own, place, &zone.name, record.origin);
                self.zones.extend(known.insert(zone).then_some(spec));
            }
        }
    }

    /// The targets of all pools, in the order of the settings.
    pub fn targets(&self) -> impl Iterator<Item = &TargetSpec> {
        self.pools.iter().flat_map(|pool| &pool.targets)
    }

    /// The target whose copy of a zone is the reference: the first of its pool.
    pub fn reference(&self, zone: &ZoneSpec) -> &TargetSpec {
        &self.pools[zone.pool].targets[0]
    }

    /// The settings of a zone, where they have it in its pool.
    pub fn zone(&self, zone: &ZoneId) -> Option<&ZoneSpec> {
        self.zones.iter().find(|spec| spec.name == zone.name && self.pool(spec).name == zone.pool)
    }

    /// The name of a zone, with that of its pool.
    pub fn zone_id(&self, zone: &ZoneSpec) -> ZoneId {
        ZoneId { pool: self.pool(zone).name.clone(), name: zone.name.clone() }
    }

    /// The pool of a zone.
    pub fn pool(&self, zone: &ZoneSpec) -> &Pool {
        &self.pools[zone.pool]
    }

    /// How own RRsets are known in the zones of a pool.
    pub fn marking_in(&self, pool: &PoolName) -> &Marking {
        self.pools.iter().find(|own| own.name == *pool).map_or(&self.marking, |own| &own.marking)
    }

    /// How own RRsets are known in a zone.
    pub fn marking(&self, zone: &ZoneSpec) -> &Marking {
        &self.pool(zone).marking
    }

    /// Whether own RRsets are known in this way in all zones.
    pub fn is_marked_by(&self, registry: Registry) -> bool {
        self.pools.iter().all(|pool| pool.marking.registry == registry)
    }

    /// All copies of a zone: one for each target of its pool.
    pub fn copies(&self, zone: &ZoneSpec) -> impl Iterator<Item = CopyId> {
        let copy = |target: &TargetSpec| CopyId { target: target.id.clone(), zone: zone.name.clone() };
        self.pool(zone).targets.iter().map(copy)
    }

    /// A target among those of its pool; alone where no pool has it.
    ///
    /// The zones of a DNS update record are its own, whatever their names.
    pub fn scope(&self, target: &TargetId) -> TargetScope {
        let pool = self.pools.iter().find(|pool| pool.name == target.pool);
        let scope = pool.map_or_else(|| TargetScope::only(target.clone()), |pool| pool.scope(target));
        let is_of_record = pool.is_some_and(|pool| pool.is_of_record);
        let listed = self.pools.iter().filter(|pool| is_of_record && !pool.is_of_record).map(|pool| pool.name.clone());
        // One with a fault has no pool now, and has not lost what it published.
        let of_records = self.update_records.records.iter().filter_map(|record| record.name.parse().ok());
        let of_gone = if is_of_record { PoolName::unknown() } else { PoolName::gone_record() };
        let apart = listed.chain(of_records).chain([of_gone]).filter(|other| *other != target.pool);
        let neighbours =
            self.pools.iter().filter(|pool| !is_of_record && !pool.is_of_record && pool.name != target.pool);
        let neighbours = neighbours.map(|pool| pool.name.clone()).collect();
        TargetScope { apart: apart.collect(), neighbours, is_of_record, ..scope }
    }

    /// The scopes of the targets of a pool, where what is kept of RRsets must say whose they are: there are several targets, or
    /// zones of one name.
    pub fn scopes(&self, pool: &Pool) -> Option<Vec<TargetScope>> {
        let is_needed = pool.has_several() || !self.update_records.records.is_empty();
        is_needed.then(|| pool.targets.iter().map(|target| self.scope(&target.id)).collect())
    }

    /// The copy of a zone on which hosts are derived.
    pub fn reference_copy(&self, zone: &ZoneSpec) -> CopyId {
        CopyId { target: self.reference(zone).id.clone(), zone: zone.name.clone() }
    }

    /// The pool of a zone; [`PoolName::unknown`] where no `[[zone]]` has this name.
    pub fn pool_of(&self, zone: &ZoneName) -> PoolName {
        let spec = self.listed_zones().find(|spec| spec.name == *zone);
        spec.map_or_else(PoolName::unknown, |spec| self.pools[spec.pool].name.clone())
    }
}
