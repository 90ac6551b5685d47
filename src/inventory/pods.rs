//! Pods and their sets, as an export and the files of their owners say them.
//!
//! A pod has an id that stays and a placement that moves: a node with addresses. What of both is live does not matter here.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::Range;

use smallvec::SmallVec;

use super::pod_template::{Placement, PodField, PodFields, PodNameError, PodTemplate};
use super::rollout::RolloutTerms;
use super::symbol::{Symbol, Symbols};
use super::trust::{ProjectIndex, Trust};
use super::value::{Duration, Inv, Time};
use crate::diag::Origin;
use crate::dns::{Name, NameRef, Ttl};
use crate::document::words;

/// What is said of all pods.
#[derive(Debug, Clone)]
pub struct Pods {
    /// Every set that a file or a row names, sorted by id; [`PodSetIndex`] counts into it.
    pub sets: Vec<PodSet>,
    /// The pods, sorted by set and id; of several rows of one pod the latest. Two rows of one pod with one time are bad.
    pub rows: Vec<Pod>,
    /// Whether there is an export: sets without one have pods that are not known.
    pub is_exported: bool,
    /// How far the export may be believed.
    pub trust: Trust,
    /// How far the files of the sets may be believed: unknown where a path matches nothing or a file cannot be read.
    pub sets_trust: Trust,
    /// Whether a row is so bad that it is not known which pod it is about: no own name is one that no pod has.
    pub has_strays: bool,
    /// The files of sets whose id cannot be read: it is not known which sets they are.
    pub nameless_files: Vec<String>,
}

impl Default for Pods {
    fn default() -> Pods {
        let known = || Trust::Known;
        Pods {
            sets: Vec::new(),
            rows: Vec::new(),
            is_exported: false,
            trust: known(),
            sets_trust: known(),
            has_strays: false,
            nameless_files: Vec::new(),
        }
    }
}

/// The most characters of the id of a pod, as of a label.
const MAX_POD_ID: usize = 63;

/// Whether a text can be the id of a set.
pub fn is_set_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_' | b'.'))
}

/// Whether a text can be the id of a pod, in capitals or not.
pub fn is_pod_id(text: &str) -> bool {
    let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_');
    (1..=MAX_POD_ID).contains(&text.len()) && text.bytes().all(is_plain)
}

impl Pods {
    /// The trust in both the export and the files of the sets: the one that is in doubt, where one is.
    pub fn doubted(&self) -> &Trust {
        if self.trust.doubt().is_some() { &self.trust } else { &self.sets_trust }
    }

    /// Which projects have sets, and which may have pods that are not known.
    pub fn by_project(&self) -> ProjectPods {
        let is_unread = |set: &&PodSet| set.terms().is_none() || !self.is_exported;
        let unread: Option<BTreeSet<ProjectIndex>> = self.sets.iter().filter(is_unread).map(PodSet::project).collect();
        let is_known = !self.has_strays && self.doubted().doubt().is_none();
        ProjectPods {
            hiding: unread.filter(|_| is_known),
            with_sets: self.sets.iter().filter_map(PodSet::project).collect(),
        }
    }

    /// The set of a pod.
    pub fn set_of(&self, pod: &Pod) -> &PodSet {
        &self.sets[pod.set.0 as usize]
    }

    /// The place of a set, by its id.
    pub fn find_set(&self, id: &str) -> Option<PodSetIndex> {
        let place = self.sets.binary_search_by(|set| (*set.id).cmp(id)).ok()?;
        Some(PodSetIndex(place as u32))
    }

    /// The places of the pods of a set.
    pub fn places_of(&self, set: PodSetIndex) -> Range<usize> {
        let first = self.rows.partition_point(|pod| pod.set < set);
        first..first + self.rows[first..].partition_point(|pod| pod.set == set)
    }

    /// The place of a pod, by its id.
    pub fn place_of(&self, set: PodSetIndex, id: &str) -> Option<usize> {
        self.rows.binary_search_by(|pod| (pod.set, &*pod.id).cmp(&(set, id))).ok()
    }
}

/// Which projects have sets of pods, and of which more is to be known: found once, since there may be many sets.
#[derive(Debug)]
pub struct ProjectPods {
    /// The projects of which something may be a pod, or a name of one, that is not known; none where it may be of any.
    hiding: Option<BTreeSet<ProjectIndex>>,
    /// The projects that sets name.
    with_sets: BTreeSet<ProjectIndex>,
}

impl ProjectPods {
    /// Whether something may be a pod of a project, or a name of it, that is not known.
    pub fn may_hide(&self, project: ProjectIndex) -> bool {
        self.hiding.as_ref().is_none_or(|projects| projects.contains(&project))
    }

    /// The projects that sets name, each once.
    pub fn with_sets(&self) -> impl Iterator<Item = ProjectIndex> {
        self.with_sets.iter().copied()
    }
}

/// The number of a set in [`Pods::sets`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodSetIndex(pub u32);

/// A set of pods.
#[derive(Debug, Clone)]
pub struct PodSet {
    /// Its id: letters, digits, `-`, `_` and `.`.
    pub id: Box<str>,
    /// What its owner says.
    pub file: PodSetFile,
}

impl PodSet {
    /// What its owner says, where that can be read.
    pub fn terms(&self) -> Option<&PodSetTerms> {
        match &self.file {
            PodSetFile::Good(terms) => Some(terms),
            PodSetFile::Missing | PodSetFile::Bad { .. } => None,
        }
    }

    /// Its project, where that is known.
    pub fn project(&self) -> Option<ProjectIndex> {
        match &self.file {
            PodSetFile::Good(terms) => Some(terms.project),
            PodSetFile::Bad { project, .. } => *project,
            PodSetFile::Missing => None,
        }
    }
}

/// The file of a set.
#[derive(Debug, Clone)]
pub enum PodSetFile {
    /// No file has this id.
    Missing,
    /// Its file, or one of several that claim the id, cannot be used.
    Bad {
        /// Where the fault is.
        origin: Origin,
        /// The project that it names, where that can be read.
        project: Option<ProjectIndex>,
    },
    /// Read and checked.
    Good(Box<PodSetTerms>),
}

/// What the file of a set says.
#[derive(Debug, Clone)]
pub struct PodSetTerms {
    /// The project whose switches, policy, limits and domains hold.
    pub project: ProjectIndex,
    /// The domain of its names.
    pub domain: Name,
    /// How the name is made that stays with a pod.
    pub constant: PodTemplate,
    /// How the name is made that each placement has.
    pub transient: PodTemplate,
    /// The TTL of its records, and where it is written; without one, that of the project or zone holds.
    pub ttl: Option<(Ttl, Origin)>,
    /// How its pods are rolled out.
    pub rollout: RolloutTerms,
    /// How a pod that another replaces goes.
    pub migration: PodMigration,
    /// How long a pod stays at one place, usually.
    pub min_interval: Duration,
    /// What it publishes as SRV, in the file's order; no name and protocol twice.
    pub endpoints: Vec<EndpointSpec>,
    /// Where the id is written: the line that evidence names.
    pub origin: Origin,
    /// Where `domain` is written.
    pub domain_origin: Origin,
}

impl PodSetTerms {
    /// Whether a name is one that placements of a pod have.
    pub fn is_placement_of(&self, pod: &str, name: NameRef<'_>) -> bool {
        let is_in_domain = name.parent() == Some(self.domain.as_name());
        is_in_domain && name.first_label().is_some_and(|label| self.transient.may_give_for(pod, label))
    }
}

words! {
    /// How the names of a set move.
    PodMigration {
        /// The constant name of a pod moves to its new addresses.
        Move = "move",
        /// A new pod comes; the records of the one that it replaces go once the new ones have settled.
        CopyAndRemove = "copy-and-remove",
    }
}

/// An SRV RRset of a set (RFC 2782).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSpec {
    /// Its name without the underscore; `{location}` in it means an RRset for each location.
    pub name: PodTemplate,
    /// `tcp`, `udp` and the like, without the underscore.
    pub protocol: Box<str>,
    /// The port, from 1.
    pub port: u16,
    /// The states in which a pod is listed.
    pub states: Vec<PodState>,
    /// What consumers without DNS get with each address, sorted by key.
    pub labels: Vec<(String, String)>,
    /// Where it is written.
    pub origin: Origin,
}

impl EndpointSpec {
    /// Whether a pod is in service in one of its states; a pod that has a fault is not listed all the same.
    pub fn asks_for(&self, pod: &Pod) -> bool {
        pod.is_enabled && self.states.contains(&pod.state)
    }

    /// Whether it lists a pod, as soon as the pod has a name.
    pub fn lists(&self, pod: &Pod) -> bool {
        self.asks_for(pod) && pod.fault.is_none()
    }

    /// Its name where a pod is, without the underscore.
    ///
    /// Errors: the name has the location in it, and that of the pod is unknown or no part of a label.
    pub fn label_at(&self, pod: &Pod, symbols: &Symbols) -> Result<String, PodNameError> {
        let location = pod.location.map_or("", |location| symbols.text(location));
        self.name.label(&PodFields { location, ..PodFields::default() })
    }
}

words! {
    /// How far a pod is.
    PodState {
        /// It has no node yet.
        Waiting = "waiting",
        /// It has a node and addresses, and does not serve yet.
        Prepared = "prepared",
        /// It serves.
        Active = "active",
        /// It is being taken away.
        Removing = "removing",
        /// Its node or it died.
        Dead = "dead",
    }
}

impl PodState {
    /// Whether a pod cannot be reached where it was.
    pub fn is_down(self) -> bool {
        matches!(self, PodState::Waiting | PodState::Dead)
    }

    /// Whether a pod has a placement that is to have names.
    pub fn is_placed(self) -> bool {
        matches!(self, PodState::Prepared | PodState::Active)
    }
}

/// One pod, by its latest row.
#[derive(Debug, Clone)]
pub struct Pod {
    /// Its set.
    pub set: PodSetIndex,
    /// Its id within the set: letters, digits, `-` and `_`, in lower case.
    pub id: Box<str>,
    /// When the row was made.
    pub time: Time,
    /// The node, in lower case without a final dot; none while it waits.
    pub node: Option<Symbol>,
    /// The inventory number of the node, where the row names it.
    pub inv: Option<Inv>,
    /// The rack of the node.
    pub rack: Option<Symbol>,
    /// The location of the node.
    pub location: Option<Symbol>,
    /// Its addresses, sorted, each once.
    pub addresses: SmallVec<[IpAddr; 1]>,
    /// The text for its node and addresses, as [`Placement::of_row`] gives it.
    pub placement: Option<Placement>,
    /// Whether it is in service.
    pub is_enabled: bool,
    /// How far it is.
    pub state: PodState,
    /// The id of the pod of its set that it replaces.
    pub replaces: Option<Box<str>>,
    /// What is wrong with the row, or with what it says next to other rows; nothing is done for such a pod.
    pub fault: Option<Box<str>>,
    /// The row.
    pub origin: Origin,
}

impl Pod {
    /// Whether the export calls it active. A bad row says nothing of that.
    pub fn is_active(&self) -> bool {
        self.fault.is_none() && self.state == PodState::Active
    }

    /// Whether the export says that it cannot be reached where it was. A bad row says nothing of that.
    pub fn is_down(&self) -> bool {
        self.fault.is_none() && self.state.is_down()
    }

    /// The id of the pod that it replaces, in a set whose names are copied. That something is wrong with it does not let the
    /// other one go.
    pub fn replaced<'p>(&'p self, terms: &PodSetTerms) -> Option<&'p str> {
        self.replaces.as_deref().filter(|_| terms.migration == PodMigration::CopyAndRemove)
    }

    /// The name that stays with it.
    ///
    /// Errors: the template gives no label that DNS allows.
    pub fn constant_name(&self, terms: &PodSetTerms, symbols: &Symbols) -> Result<Name, PodNameError> {
        self.name(&terms.constant, None, terms, symbols)
    }

    /// The name of its placement; none while it has none.
    ///
    /// Errors: the template gives no label that DNS allows.
    pub fn transient_name(&self, terms: &PodSetTerms, symbols: &Symbols) -> Option<Result<Name, PodNameError>> {
        Some(self.name(&terms.transient, Some(self.placement?), terms, symbols))
    }

    /// The name that stays with a pod of which nothing but the id is known; none where its template needs more.
    pub fn constant_name_of(id: &str, terms: &PodSetTerms) -> Option<Name> {
        let fields = PodFields { pod: id, ..PodFields::default() };
        terms.constant.expand(&fields, terms.domain.as_name()).ok()
    }

    /// The name that a template gives it.
    fn name(
        &self,
        template: &PodTemplate,
        placement: Option<Placement>,
        terms: &PodSetTerms,
        symbols: &Symbols,
    ) -> Result<Name, PodNameError> {
        let text = |symbol: Option<Symbol>| symbol.map_or("", |symbol| symbols.text(symbol));
        let fields = PodFields {
            pod: &self.id,
            placement: placement.as_ref().map_or("", Placement::as_str),
            node: if template.has(PodField::Node) { first_label(text(self.node)) } else { "" },
            rack: text(self.rack),
            location: text(self.location),
        };
        template.expand(&fields, terms.domain.as_name())
    }
}

/// The first label of a node.
fn first_label(node: &str) -> &str {
    node.split('.').next().unwrap_or_default()
}
