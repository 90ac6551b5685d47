//! The values that every rule may read.

use std::collections::{BTreeMap, BTreeSet};

use super::block::SubjectBlock;
use super::held::HeldEdits;
use super::recent::RecentPods;
use super::stated::StatedClaims;
use super::statements::KeptStatements;
use super::subject_standing::SubjectStandings;
use super::waits::RrsetWaits;
use crate::claim::host_rtypes::{self, HostSite};
use crate::claim::{Subject, SubjectPattern};
use crate::desired::{Collisions, DesiredHosts, UsedValues};
use crate::diag::Origin;
use crate::dns::{Name, NameRef, Rtype, Ttl};
use crate::inventory::Inventory;
use crate::inventory::model::{Permission, ProjectAdmin, ProjectIndex, ProjectSettings, ZoneSpec};
use crate::inventory::pods::ProjectPods;
use crate::inventory::update_record::UpdateRecord;
use crate::inventory::value::{Inv, Time};
use crate::live::{Live, PoolCopies, ZoneIndex};
use crate::names::{ForeseenNames, NameIndex};
use crate::registry::Marking;
use crate::target::{PoolBounds, PoolName};

/// The values that all rules share.
#[derive(Debug, Clone, Copy)]
pub struct RuleContext<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// Live DNS.
    pub live: &'a Live,
    /// Which host holds which name.
    pub names: &'a NameIndex,
    /// The desired hosts, in the order of [`Inventory::hosts`].
    pub desired: &'a DesiredHosts<'a>,
    /// Whether live DNS already holds all that a host needs, in the same order.
    pub settled: &'a [bool],
    /// Whether live DNS already holds just what a pod has, in the order of the subjects of pods.
    pub settled_pods: &'a [bool],
    /// Which projects have sets of pods.
    pub pods: &'a ProjectPods,
    /// What hosts use, by the reference copies.
    pub used: &'a UsedValues,
    /// Which hosts share a name, MAC or address.
    pub collisions: &'a Collisions,
    /// What `allocate` would give to hosts without a name.
    pub foreseen: &'a ForeseenNames,
    /// The clock.
    pub now: Time,
    /// The hosts whose rules run.
    pub selection: &'a Selection,
    /// The hosts whose rules do not run because of a breaker.
    pub tripped: &'a TrippedHosts,
    /// The servers that zones are written to.
    pub servers: &'a ServerNames,
    /// Which records the targets of pools hold.
    pub bounds: &'a PoolBounds,
    /// The RRsets that wait to be deleted.
    pub waits: &'a RrsetWaits,
    /// The hosts and RRsets that stay as they are, because a person edited them after an apply.
    pub held: &'a HeldEdits,
    /// What earlier applies left of pods.
    pub recent: &'a RecentPods,
    /// What files of records claim.
    pub stated: &'a StatedClaims<'a>,
    /// What claims which RRset, as applies noted it.
    pub statements: &'a KeptStatements,
    /// What blocks subjects because of other copies than the reference.
    pub by_copies: &'a CopyBlocks,
    /// From which target zones are seen; none where the reference copies are.
    pub view: Option<TargetView<'a>>,
}

/// What blocks subjects because of copies.
pub type CopyBlocks = BTreeMap<Subject, SubjectBlock>;

/// DNS as it is seen from one target of a pool that has several.
#[derive(Debug, Clone, Copy)]
pub struct TargetView<'a> {
    /// The copies of its pool.
    pub copies: &'a PoolCopies,
    /// The reference copies of all zones.
    pub reference: &'a Live,
    /// What the rules said of hosts by the reference: what it skips or blocks is skipped or blocked everywhere.
    pub standings: &'a SubjectStandings,
}

/// The names of the servers that zones are written to, each with the line of zonewright.toml that holds it.
pub type ServerNames = BTreeMap<Name, Origin>;

/// The values that are known before the first host is examined.
#[derive(Debug, Clone, Copy)]
pub struct RuleGround<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// Live DNS.
    pub live: &'a Live,
    /// The servers that zones are written to.
    pub servers: &'a ServerNames,
}

impl<'a> RuleGround<'a> {
    /// The settings of a zone.
    pub fn zone_spec(self, zone: ZoneIndex) -> &'a ZoneSpec {
        &self.inventory.config.zones[zone.0 as usize]
    }

    /// The pool of a zone.
    pub fn pool_of(self, zone: ZoneIndex) -> &'a PoolName {
        &self.inventory.config.pools[self.zone_spec(zone).pool].name
    }
}

/// The hosts whose rules do not run because a breaker has tripped.
#[derive(Debug, Clone, Default)]
pub struct TrippedHosts {
    /// Whether this applies to all hosts.
    pub all: bool,
    /// The projects to whose hosts it applies.
    pub projects: BTreeSet<ProjectIndex>,
}

/// The subjects whose rules run: all, or those that the command line names.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The named hosts.
    pub hosts: BTreeSet<Inv>,
    /// The other named subjects.
    pub subjects: BTreeSet<Subject>,
    /// What subjects may also be like.
    pub patterns: Vec<SubjectPattern>,
    /// The named projects; all where empty.
    pub projects: BTreeSet<ProjectIndex>,
}

impl Selection {
    /// Whether all rules run.
    pub fn is_all(&self) -> bool {
        !self.picks_subjects() && self.projects.is_empty()
    }

    /// Whether the command line names subjects, of any kind.
    pub fn picks_subjects(&self) -> bool {
        !self.hosts.is_empty() || self.picks_others()
    }

    /// Whether it may name subjects that are no hosts.
    pub fn picks_others(&self) -> bool {
        !self.subjects.is_empty() || !self.patterns.is_empty()
    }

    /// Whether the command line names this host. Such a host is planned despite the owner's switch, restrictions and
    /// breakers.
    pub fn names_host(&self, inv: Inv) -> bool {
        self.hosts.contains(&inv)
    }

    /// Whether the command line names this subject by its text: the same holds for it.
    pub fn names(&self, subject: &Subject) -> bool {
        self.subjects.contains(subject)
    }

    /// Whether the selection lets the rules of a host of a project run.
    pub fn includes(&self, inv: Inv, project: ProjectIndex) -> bool {
        let is_like = || [Subject::Host(inv), Subject::Released(inv)].iter().any(|subject| self.picks(subject));
        (!self.picks_subjects() || self.hosts.contains(&inv) || is_like()) && self.includes_project(project)
    }

    /// Whether the selection lets the rules of a subject of a project run that is no host.
    pub fn includes_subject(&self, subject: &Subject, project: ProjectIndex) -> bool {
        (!self.picks_subjects() || self.picks(subject)) && self.includes_project(project)
    }

    /// Whether the command line names a subject that is no host by its text, or any subject by a pattern.
    pub fn picks(&self, subject: &Subject) -> bool {
        self.names(subject) || self.patterns.iter().any(|pattern| pattern.matches(subject))
    }

    /// Whether a project is among those selected.
    pub fn includes_project(&self, project: ProjectIndex) -> bool {
        self.projects.is_empty() || self.projects.contains(&project)
    }
}

impl<'a> RuleContext<'a> {
    /// The DNS update record that alone is decided about; none where all else is.
    pub fn record(&self) -> Option<&'a UpdateRecord> {
        match self.inventory.stated.sources.as_slice() {
            [own] if self.inventory.published.sources.is_empty() => {
                self.inventory.config.update_records.find(&own.name)
            }
            _ => None,
        }
    }

    /// The TTL of a new TXT of the registry in a zone, where the targets of its pool have one of their own.
    pub fn mark_ttl(&self, zone: ZoneIndex) -> Option<Ttl> {
        self.bounds.get(self.pool_of(zone))?.iter().find_map(|(_, bounds)| bounds.mark_ttl)
    }

    /// Whether a new TXT of the registry in a zone has quotes around its text: all targets of its pool have those of external-dns so.
    pub fn quotes_marks(&self, zone: ZoneIndex) -> bool {
        let bounds = self.bounds.get(self.pool_of(zone));
        bounds.is_some_and(|bounds| !bounds.is_empty() && bounds.iter().all(|(_, bounds)| bounds.quotes_marks))
    }

    /// How own RRsets are known in a zone.
    pub fn marking(&self, zone: ZoneIndex) -> &'a Marking {
        self.inventory.config.marking(self.zone_spec(zone))
    }

    /// The settings of a zone.
    pub fn zone_spec(&self, zone: ZoneIndex) -> &'a ZoneSpec {
        self.ground().zone_spec(zone)
    }

    /// The pool of a zone.
    pub fn pool_of(&self, zone: ZoneIndex) -> &'a PoolName {
        self.ground().pool_of(zone)
    }

    /// The values that are known before the first host is examined.
    pub fn ground(&self) -> RuleGround<'a> {
        RuleGround { inventory: self.inventory, live: self.live, servers: self.servers }
    }

    /// Whether a zone permits changes to RRsets that are not own.
    pub fn is_full(&self, zone: ZoneIndex) -> bool {
        self.zone_spec(zone).permission == Permission::Full
    }

    /// The administrator's settings of a project.
    pub fn admin(&self, project: ProjectIndex) -> Option<&'a ProjectAdmin> {
        self.inventory.projects[project.0 as usize].admin.as_ref()
    }

    /// The owner's settings of a project, where its project file is valid.
    pub fn settings(&self, project: ProjectIndex) -> Option<&'a ProjectSettings> {
        self.inventory.projects[project.0 as usize].file.settings()
    }

    /// Whether a host has a name now, and claims a type at it.
    pub fn has_claiming_host(&self, name: NameRef<'_>, rtype: Rtype) -> bool {
        match host_rtypes::of(rtype).filter(|own| own.site == HostSite::Name) {
            Some(own) if own.needs_list => self.has_listed_host(name),
            Some(_) => self.names.has_host(self.inventory, name),
            None => false,
        }
    }

    /// Whether a host has a name now whose addresses the inventory lists.
    fn has_listed_host(&self, name: NameRef<'_>) -> bool {
        let mut hosts = self.names.hosts_now(self.inventory, name);
        hosts.any(|place| self.inventory.lists_addresses(self.inventory.hosts[place].project))
    }

    /// A project's id.
    pub fn project_id(&self, project: ProjectIndex) -> &'a str {
        &self.inventory.projects[project.0 as usize].id
    }

    /// Whether a breaker stops automatic changes for a project.
    pub fn is_tripped(&self, project: ProjectIndex) -> bool {
        self.tripped.all || self.tripped.projects.contains(&project)
    }

    /// Whether nothing is removed for a project that its files may still state: an entry of theirs is bad, or a source is
    /// unknown.
    pub fn files_rest(&self, project: ProjectIndex) -> bool {
        let mut sources = self.inventory.stated.sources.iter().filter(|source| source.project == project);
        sources.any(|source| source.has_bad || source.trust.doubt().is_some()) || self.pods.may_hide(project)
    }

    /// The same for a name: files of any project in whose domains it is may state it.
    pub fn files_rest_at(&self, project: ProjectIndex, name: NameRef<'_>) -> bool {
        let is_over = |other: ProjectIndex| self.admin(other).is_some_and(|admin| admin.contains(name));
        let sources = self.inventory.stated.sources.iter().map(|source| source.project);
        let mut projects = sources.chain(self.pods.with_sets()).filter(|other| *other == project || is_over(*other));
        projects.any(|other| self.files_rest(other))
    }

    /// Whether removals of names that no host has are paused: a bad row may be a host that has one.
    pub fn removals_rest(&self) -> bool {
        self.inventory.has_bad_names || self.inventory.sources().any(|(_, trust)| trust.doubt().is_some())
    }
}
