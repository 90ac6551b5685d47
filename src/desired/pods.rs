//! What pods and their sets claim: the names of each pod, what points back to them, and the SRV that list them.
//!
//! Comes in: the row of a pod, or the rows and the file of a set. Goes out: a subject with its claims, and with what is wrong
//! with its row. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

use smallvec::SmallVec;

use super::claims::wanted_ttl;
use super::records::{ClaimSource, StatedClaim, StatedFault, StatedSubject};
use crate::change::BlockCode;
use crate::claim::{EndpointSetName, IfForeign, RrsetClaim, Rule, Subject, TtlHold, Want, WantedTtl, WantedValue};
use crate::diag::Origin;
use crate::dns::reverse::reverse_name;
use crate::dns::{Name, NameRef, Rdata, RdataRef, Rtype, Ttl, address_type};
use crate::inventory::Inventory;
use crate::inventory::model::ProjectIndex;
use crate::inventory::pod_template::{PodField, PodFields, PodNameError};
use crate::inventory::pods::{EndpointSpec, Pod, PodSet, PodSetFile, PodSetIndex, PodSetTerms, PodState, ProjectPods};
use crate::live::Live;

/// A pod, with what its claims depend on.
#[derive(Debug, Clone, Copy)]
pub struct PodCase<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// In which zone a name is.
    pub live: &'a Live,
    /// The pod.
    pub pod: &'a Pod,
    /// Its set.
    pub set: &'a PodSet,
    /// Its project.
    pub project: ProjectIndex,
    /// The id of the set.
    pub id: &'a Arc<str>,
}

/// The names of a pod that has its addresses there, all different.
#[derive(Debug)]
pub struct PodNamesMade {
    /// The name of its placement, which has its addresses.
    pub transient: Name,
    /// The reverse name of each address, in their order, which points to the name of the placement.
    pub reverse: SmallVec<[Name; 1]>,
    /// The name that stays with it.
    pub constant: Name,
    /// Whether the name that stays with it has its addresses, too, and nothing of the other family.
    pub is_active: bool,
}

impl PodNamesMade {
    /// The names at which it has something, in the order of the claims.
    pub fn claimed(&self) -> impl Iterator<Item = &Name> {
        let constant = Some(&self.constant).filter(|_| self.is_active);
        std::iter::once(&self.transient).chain(&self.reverse).chain(constant)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Name> {
        std::iter::once(&self.transient).chain(&self.reverse).chain(std::iter::once(&self.constant))
    }

    /// Whether no two of them are one.
    fn are_different(&self) -> bool {
        let is_reverse = |name: &Name| self.reverse.contains(name);
        self.transient != self.constant && !is_reverse(&self.transient) && !is_reverse(&self.constant)
    }
}

impl PodCase<'_> {
    /// The subject of the pod without what it claims, and without what is wrong with it.
    pub fn bare(&self) -> StatedSubject {
        bare(Subject::pod(Arc::clone(self.id), &*self.pod.id), self.pod.set, self.project, self.pod.origin)
    }

    /// The subject of the pod.
    pub fn subject(&self) -> StatedSubject {
        let pod = self.pod;
        let mut subject = self.bare();
        let fault = |origin, message: String| StatedFault { origin, message, code: BlockCode::BadInput };
        if let Some(message) = &pod.fault {
            subject.faults.push(fault(pod.origin, message.to_string()));
        }
        let terms = match &self.set.file {
            PodSetFile::Good(terms) => terms,
            PodSetFile::Bad { origin, .. } => {
                subject.faults.push(fault(*origin, format!("the file of set `{}` cannot be used", self.id)));
                return subject;
            }
            PodSetFile::Missing => return subject,
        };
        match self.names(terms) {
            Ok((constant, transient)) if subject.faults.is_empty() => {
                let is_placed = pod.state.is_placed();
                if let Some(transient) = transient.as_ref().filter(|_| is_placed) {
                    self.addresses_at(terms, transient, &mut subject.claims);
                    self.pointers(terms, transient, &mut subject.claims);
                } else {
                    subject.kept.extend(transient.clone());
                }
                if pod.state == PodState::Active && transient.is_some() {
                    self.addresses_at(terms, &constant, &mut subject.claims);
                    self.no_other_family(&constant, &mut subject.claims);
                } else {
                    subject.kept.push(constant);
                }
            }
            Ok((constant, transient)) => subject.kept.extend(std::iter::once(constant).chain(transient)),
            Err(error) => {
                subject.kept.extend(pod.constant_name(terms, &self.inventory.symbols).ok());
                // A pod without a place keeps what it has.
                if subject.faults.is_empty() && pod.state.is_placed() {
                    let message = format!("the templates of the set give it no name: {error}");
                    subject.faults.push(fault(pod.origin, message));
                }
            }
        }
        subject
    }

    /// The names of a pod that has its addresses there; none where it has none, or where something is wrong with it.
    pub fn names_with_addresses(&self) -> Option<PodNamesMade> {
        let pod = self.pod;
        if pod.fault.is_some() || !pod.state.is_placed() {
            return None;
        }
        let (constant, transient) = self.names(self.set.terms()?).ok()?;
        let reverse: SmallVec<[Name; 1]> = pod.addresses.iter().map(|address| reverse_name(*address)).collect();
        let made = PodNamesMade { transient: transient?, reverse, constant, is_active: pod.state == PodState::Active };
        made.are_different().then_some(made)
    }

    /// The TTL of what it has at a name; none outside of all zones.
    pub fn ttl_at(&self, name: NameRef<'_>) -> Option<Ttl> {
        ttl_of_set(self.inventory, self.live, self.set.terms()?, name).map(|wanted| wanted.ttl)
    }

    /// The constant name, and the transient one where the pod has a placement.
    fn names(&self, terms: &PodSetTerms) -> Result<(Name, Option<Name>), PodNameError> {
        let symbols = &self.inventory.symbols;
        let transient = self.pod.transient_name(terms, symbols).transpose()?;
        Ok((self.pod.constant_name(terms, symbols)?, transient))
    }

    /// Adds the claims of all its addresses at a name.
    fn addresses_at(&self, terms: &PodSetTerms, name: &Name, claims: &mut Vec<StatedClaim>) {
        for rtype in [Rtype::AAAA, Rtype::A] {
            let own = self.pod.addresses.iter().filter(|address| address_type(**address) == rtype);
            let mut values: Vec<WantedValue> =
                own.map(|address| self.value(terms, Rdata::from_address(*address))).collect();
            values.sort_by(|one, other| one.rdata.cmp(&other.rdata));
            if !values.is_empty() {
                claims.push(self.exactly(terms, name.clone(), rtype, values));
            }
        }
    }

    /// Adds the claim that a family of which it has no address is not at the name that stays.
    fn no_other_family(&self, name: &Name, claims: &mut Vec<StatedClaim>) {
        let lacks = |rtype: &Rtype| !self.pod.addresses.iter().any(|address| address_type(*address) == *rtype);
        claims.extend([Rtype::AAAA, Rtype::A].into_iter().filter(lacks).map(|rtype| StatedClaim {
            claim: RrsetClaim {
                owner: name.clone(),
                rtype,
                want: Want::Absent(vec![self.pod.origin]),
                ttl: None,
                removes: Rule::NotStated,
                if_foreign: IfForeign::Keep,
            },
            origin: self.pod.origin,
        }));
    }

    /// Adds the claims of what points back from its addresses: the transient name.
    fn pointers(&self, terms: &PodSetTerms, transient: &Name, claims: &mut Vec<StatedClaim>) {
        for address in &self.pod.addresses {
            let value = self.value(terms, Rdata::from_name(transient.as_name()));
            claims.push(self.exactly(terms, reverse_name(*address), Rtype::PTR, vec![value]));
        }
    }

    /// A value, with the lines that it follows from.
    fn value(&self, terms: &PodSetTerms, rdata: Rdata) -> WantedValue {
        WantedValue { rdata, evidence: vec![self.pod.origin, terms.origin] }
    }

    /// A claim of all of some values.
    fn exactly(&self, terms: &PodSetTerms, owner: Name, rtype: Rtype, values: Vec<WantedValue>) -> StatedClaim {
        let ttl = ttl_of_set(self.inventory, self.live, terms, owner.as_name());
        let claim = RrsetClaim {
            owner,
            rtype,
            want: Want::Exactly { values, adds: Rule::Stated },
            ttl,
            removes: Rule::NotStated,
            if_foreign: IfForeign::Block,
        };
        StatedClaim { claim, origin: self.pod.origin }
    }
}

/// The TTL of a record of a set: that of its file, else of the project, else of the zone; none outside of all zones.
fn ttl_of_set(inventory: &Inventory, live: &Live, terms: &PodSetTerms, owner: NameRef<'_>) -> Option<WantedTtl> {
    let of_file = terms.ttl.map(|(ttl, origin)| WantedTtl { ttl, origin, hold: TtlHold::Always });
    of_file.or_else(|| wanted_ttl(inventory, live, terms.project, owner))
}

/// A subject of a set without what it claims, and without what is wrong with it; `origin` is its row or line.
fn bare(subject: Subject, set: PodSetIndex, project: ProjectIndex, origin: Origin) -> StatedSubject {
    StatedSubject {
        subject,
        source: ClaimSource::Pods(set),
        project,
        origin,
        faults: Vec::new(),
        unused: Vec::new(),
        claims: Vec::new(),
        lost: Vec::new(),
        kept: Vec::new(),
    }
}

/// The names of the endpoints of a set, each once, sorted as text.
pub fn endpoint_names(terms: &PodSetTerms) -> BTreeSet<String> {
    terms.endpoints.iter().map(|endpoint| endpoint.name.to_string()).collect()
}

/// By which names pods are listed.
pub trait ListedNames {
    /// The names by which the pod of a row is to be listed; none where it cannot be listed anew yet.
    fn of(&self, place: usize) -> Vec<Name>;

    /// The names by which the same pod is listed by an endpoint of which no SRV is there yet, in the one with this name.
    fn at_first(&self, place: usize, srv: Option<Name>) -> Vec<Name>;

    /// The names by which a pod stays listed in an SRV, by its id; `now` are those that the SRV lists now and that may be of
    /// placements of it.
    fn kept(&self, pod: &str, now: Vec<Name>) -> Vec<Name>;

    /// The id of the pod that one replaces, where clients may still be led to that.
    fn replaced<'p>(&self, pod: &'p Pod) -> Option<&'p str>;
}

/// Each pod is listed by the name of its placement, whatever is live.
struct ByNewNames<'a> {
    /// The inventory.
    inventory: &'a Inventory,
    /// What the owner of the set says.
    terms: &'a PodSetTerms,
}

impl ListedNames for ByNewNames<'_> {
    fn of(&self, place: usize) -> Vec<Name> {
        let pod = &self.inventory.pods.rows[place];
        let name = pod.transient_name(self.terms, &self.inventory.symbols).and_then(Result::ok);
        name.into_iter().collect()
    }

    fn at_first(&self, _: usize, _: Option<Name>) -> Vec<Name> {
        Vec::new()
    }

    fn kept(&self, _: &str, _: Vec<Name>) -> Vec<Name> {
        Vec::new()
    }

    fn replaced<'p>(&self, _: &'p Pod) -> Option<&'p str> {
        None
    }
}

/// The values of each SRV of an endpoint, by its label without the underscore.
type SrvValues = BTreeMap<String, BTreeMap<Rdata, WantedValue>>;

/// The endpoints of a set, with what their claims depend on.
#[derive(Clone, Copy)]
pub struct EndpointCase<'a> {
    /// The inventory.
    pub inventory: &'a Inventory,
    /// In which zone a name is, and which SRV are live.
    pub live: &'a Live,
    /// The set.
    pub set: PodSetIndex,
    /// What its owner says.
    pub terms: &'a PodSetTerms,
    /// What is known of all sets.
    pub sights: &'a EndpointSights,
}

impl EndpointCase<'_> {
    /// The subject of the endpoints of one name, as if each pod were listed by the name of its placement.
    pub fn subject(&self, subject: &EndpointSetName) -> StatedSubject {
        let listed = ByNewNames { inventory: self.inventory, terms: self.terms };
        self.subject_with(subject, self.claims(&subject.name, &listed))
    }

    /// The same, with the names and types of its claims, and without values.
    pub fn outline(&self, subject: &EndpointSetName) -> StatedSubject {
        self.subject_with(subject, self.named(&subject.name).flat_map(|endpoint| self.outlines(endpoint)).collect())
    }

    /// The subject of the endpoints of one name, with claims.
    fn subject_with(&self, subject: &EndpointSetName, claims: Vec<StatedClaim>) -> StatedSubject {
        let first = self.named(&subject.name).next().map_or(self.terms.origin, |first| first.origin);
        let subject = Subject::Endpoints(Box::new(subject.clone()));
        StatedSubject { claims, ..bare(subject, self.set, self.terms.project, first) }
    }

    /// The claims of one endpoint, as if each pod were listed by the name of its placement, without values.
    fn outlines(&self, endpoint: &EndpointSpec) -> Vec<StatedClaim> {
        let symbols = &self.inventory.symbols;
        let mut labels: BTreeSet<String> = self.live_labels(endpoint).map(str::to_owned).collect();
        labels.extend(endpoint.name.label(&PodFields::default()));
        if endpoint.name.has(PodField::Location) {
            let pods = &self.inventory.pods;
            let has_name = |pod: &&Pod| pod.transient_name(self.terms, symbols).is_some_and(|name| name.is_ok());
            let listed = pods.rows[pods.places_of(self.set)].iter().filter(|pod| endpoint.lists(pod)).filter(has_name);
            labels.extend(listed.filter_map(|pod| endpoint.label_at(pod, symbols).ok()));
        }
        labels.iter().filter_map(|label| self.claim(endpoint, label, Vec::new())).collect()
    }

    /// The claims of the endpoints of one name; `listed` says by which names a pod is listed.
    ///
    /// Where the name has the location in it, each location that has a pod has an RRset, and an RRset that is live for
    /// another location goes.
    pub fn claims(&self, name: &str, listed: &dyn ListedNames) -> Vec<StatedClaim> {
        self.named(name).flat_map(|endpoint| self.of_endpoint(endpoint, listed)).collect()
    }

    /// The endpoints of one name.
    fn named(&self, name: &str) -> impl Iterator<Item = &EndpointSpec> {
        self.terms.endpoints.iter().filter(move |endpoint| endpoint.name.as_text() == name)
    }

    /// The claims of one endpoint.
    fn of_endpoint(&self, endpoint: &EndpointSpec, listed: &dyn ListedNames) -> Vec<StatedClaim> {
        let pods = &self.inventory.pods;
        let places = pods.places_of(self.set);
        let mut rrsets = SrvValues::new();
        // Without the location there is one name, which loses its RRset where no pod is left.
        let only = endpoint.name.label(&PodFields::default());
        if let Ok(label) = &only {
            rrsets.entry(label.clone()).or_default();
        }
        for label in self.live_labels(endpoint) {
            rrsets.entry(label.to_owned()).or_default();
        }
        let is_first = rrsets.keys().all(|label| self.live_servers(endpoint, label).next().is_none());
        let (mut unlisted, mut replacing): (Vec<&Pod>, Vec<(&Pod, &str)>) = (Vec::new(), Vec::new());
        let mut replaced: BTreeSet<&str> = BTreeSet::new();
        for place in places {
            let pod = &pods.rows[place];
            let label = if only.is_ok() { only.clone() } else { endpoint.label_at(pod, &self.inventory.symbols) };
            let is_listed = endpoint.lists(pod);
            if is_listed && let Ok(label) = label {
                let names = listed.of(place);
                let first = || listed.at_first(place, self.owner(&label, endpoint));
                let names = if names.is_empty() && is_first { first() } else { names };
                if !names.is_empty() {
                    let values = rrsets.entry(label).or_default();
                    names.iter().for_each(|name| add_server(values, endpoint, name.as_name(), pod.origin));
                }
                // It is reached where it is, so it stays in the SRV of that location.
                if !names.is_empty() || self.keep_pod(endpoint, (&pod.id, pod.origin), &mut rrsets, listed) {
                    replaced.extend(pod.replaced(self.terms));
                    continue;
                }
                unlisted.push(pod);
            } else if pod.fault.is_some() || is_listed {
                // What is wrong with a pod, or not known of it, takes it from no client.
                let is_its = |server: NameRef<'_>| self.terms.is_placement_of(&pod.id, server);
                self.keep_listed(endpoint, pod.origin, &mut rrsets, &is_its);
            }
            // Until it is listed itself, the pod that it replaces is; one that is active and never listed takes its place, too.
            let is_to_come = endpoint.asks_for(pod) || pod.state != PodState::Active;
            replacing.extend(listed.replaced(pod).filter(|_| is_to_come).map(|old| (pod, old)));
        }
        // One of several that replace a pod is enough.
        for (pod, old) in replacing.into_iter().filter(|(_, old)| !replaced.contains(old)) {
            self.keep_pod(endpoint, (old, pod.origin), &mut rrsets, listed);
        }
        self.keep_last(endpoint, &unlisted, &mut rrsets);
        if self.sights.of_projects.may_hide(self.terms.project) {
            self.keep_listed(endpoint, endpoint.origin, &mut rrsets, &|server| self.may_be_unknown(server));
        }
        let claim = |(label, values): (String, BTreeMap<Rdata, WantedValue>)| {
            self.claim(endpoint, &label, values.into_values().collect())
        };
        rrsets.into_iter().filter_map(claim).collect()
    }

    /// Leaves a pod, by its id and with the line that says so, in each SRV that lists it now. Returns whether one does so
    /// still.
    fn keep_pod(
        &self,
        endpoint: &EndpointSpec,
        (pod, origin): (&str, Origin),
        rrsets: &mut SrvValues,
        listed: &dyn ListedNames,
    ) -> bool {
        let mut is_kept = false;
        for (label, values) in rrsets {
            let servers = self.live_servers(endpoint, label).filter_map(|rdata| rdata.server());
            let now: Vec<Name> =
                servers.filter(|server| self.terms.is_placement_of(pod, *server)).map(NameRef::to_name).collect();
            if now.is_empty() {
                continue;
            }
            for name in listed.kept(pod, now) {
                add_server(values, endpoint, name.as_name(), origin);
                is_kept = true;
            }
        }
        is_kept
    }

    /// Leaves in each SRV that would go the entries of pods that are to be listed and cannot be yet: it comes back with them.
    fn keep_last(&self, endpoint: &EndpointSpec, unlisted: &[&Pod], rrsets: &mut SrvValues) {
        let mut going: SrvValues = rrsets
            .iter()
            .filter(|(_, values)| values.is_empty() && !unlisted.is_empty())
            .map(|(label, _)| (label.clone(), BTreeMap::new()))
            .collect();
        for pod in unlisted {
            let is_its = |server: NameRef<'_>| self.terms.is_placement_of(&pod.id, server);
            self.keep_listed(endpoint, pod.origin, &mut going, &is_its);
        }
        rrsets.extend(going);
    }

    /// The claim of an endpoint of values, or of none; none where its name would be too long.
    fn claim(&self, endpoint: &EndpointSpec, label: &str, values: Vec<WantedValue>) -> Option<StatedClaim> {
        let owner = self.owner(label, endpoint)?;
        let is_any = !values.is_empty();
        let want =
            if is_any { Want::Exactly { values, adds: Rule::Stated } } else { Want::Absent(vec![endpoint.origin]) };
        let ttl = is_any.then(|| ttl_of_set(self.inventory, self.live, self.terms, owner.as_name())).flatten();
        let if_foreign = if is_any { IfForeign::Block } else { IfForeign::Keep };
        let claim = RrsetClaim { owner, rtype: Rtype::SRV, want, ttl, removes: Rule::NotStated, if_foreign };
        Some(StatedClaim { claim, origin: endpoint.origin })
    }

    /// Leaves in each live SRV of an endpoint the servers that are to stay; with the row or line that says so.
    fn keep_listed(
        &self,
        endpoint: &EndpointSpec,
        origin: Origin,
        rrsets: &mut SrvValues,
        stays: &dyn Fn(NameRef<'_>) -> bool,
    ) {
        for (label, values) in rrsets {
            for rdata in self.live_servers(endpoint, label) {
                if rdata.server().is_some_and(stays) {
                    let value = WantedValue { rdata: rdata.to_rdata(), evidence: vec![origin, endpoint.origin] };
                    values.entry(rdata.to_rdata()).or_insert(value);
                }
            }
        }
    }

    /// What the live SRV of an endpoint with a label lists.
    fn live_servers(&self, endpoint: &EndpointSpec, label: &str) -> impl Iterator<Item = RdataRef<'_>> {
        let live = self.owner(label, endpoint).and_then(|owner| self.live.rrset(owner.as_name(), Rtype::SRV));
        live.into_iter().flat_map(|found| found.rrset.rdata())
    }

    /// Whether a server may be of a pod of the set that is not known.
    fn may_be_unknown(&self, server: NameRef<'_>) -> bool {
        let pods = &self.inventory.pods;
        let ids = || server.first_label().map(|label| self.terms.transient.pods_of(label)).unwrap_or_default();
        server.parent() == Some(self.terms.domain.as_name())
            && ids().into_iter().all(|id| pods.place_of(self.set, id).is_none())
    }

    /// The owner name of an SRV.
    fn owner(&self, label: &str, endpoint: &EndpointSpec) -> Option<Name> {
        srv_owner(self.terms, label, endpoint)
    }

    /// The labels, without the underscore, of live SRV that the name of an endpoint gives for some location.
    fn live_labels(&self, endpoint: &EndpointSpec) -> impl Iterator<Item = &str> {
        let sibling = if endpoint.name.has(PodField::Location) { self.owner("x", endpoint) } else { None };
        let labels = sibling.and_then(|sibling| self.sights.labels.get(sibling.as_name().parent()?.as_wire()));
        let labels = labels.into_iter().flatten().map(String::as_str);
        labels.filter(|label| endpoint.name.may_give(label.as_bytes()))
    }
}

/// Adds a server to the values of an SRV, with the row or line that says so.
fn add_server(values: &mut BTreeMap<Rdata, WantedValue>, endpoint: &EndpointSpec, server: NameRef<'_>, origin: Origin) {
    let rdata = Rdata::of_srv([0, 0, endpoint.port], server);
    values.insert(rdata.clone(), WantedValue { rdata, evidence: vec![origin, endpoint.origin] });
}

/// What the claims of endpoints depend on as well as on their sets: found once for all.
#[derive(Debug)]
pub struct EndpointSights {
    /// The labels, without the underscore, of live SRV, by the name above; where the endpoints of any set have the location
    /// in their names.
    labels: HashMap<Name, Vec<String>>,
    /// Which projects may have pods that are not known.
    pub of_projects: ProjectPods,
}

impl EndpointSights {
    /// Finds them.
    pub fn of(inventory: &Inventory, live: &Live) -> EndpointSights {
        let mut labels: HashMap<Name, Vec<String>> = HashMap::new();
        let terms = inventory.pods.sets.iter().filter_map(PodSet::terms);
        if terms.flat_map(|terms| &terms.endpoints).any(|endpoint| endpoint.name.has(PodField::Location)) {
            for found in live.rrsets_of(Rtype::SRV) {
                let owner = found.rrset.owner();
                let name = owner.as_name();
                let label = name.first_label().and_then(|label| label.strip_prefix(b"_"));
                if let (Some(label), Some(above)) = (label, name.parent()) {
                    let label = String::from_utf8_lossy(label).into_owned();
                    labels.entry(above.to_name()).or_default().push(label);
                }
            }
        }
        EndpointSights { labels, of_projects: inventory.pods.by_project() }
    }
}

/// The owner name of the SRV of an endpoint whose name is a label (RFC 2782); none where it would be too long.
pub fn srv_owner(terms: &PodSetTerms, label: &str, endpoint: &EndpointSpec) -> Option<Name> {
    let protocol = Name::prepend_parts(&[b"_", endpoint.protocol.as_bytes()], terms.domain.as_name()).ok()?;
    Name::prepend_parts(&[b"_", label.as_bytes()], protocol.as_name()).ok()
}

/// The addresses that a pod has at a name, by type; none of a family of which it has none.
pub fn addresses_of(pod: &Pod, rtype: Rtype) -> impl Iterator<Item = IpAddr> {
    pod.addresses.iter().copied().filter(move |address| address_type(*address) == rtype)
}
