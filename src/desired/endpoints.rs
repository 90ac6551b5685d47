//! What consumers without DNS need of the endpoints of a set: who is listed, where and by which name.
//!
//! Comes in: rows and the file of a set. Goes out: a list for each endpoint and location, the pods that are left out because
//! their rows are bad, and the endpoints of which therefore nothing is left. Looks at no DNS. Pure.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::pods::srv_owner;
use crate::diag::Origin;
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::pod_template::{PodField, PodFields};
use crate::inventory::pods::{EndpointSpec, Pod, PodSetIndex, PodSetTerms, PodState};
use crate::inventory::symbol::Symbol;

/// The endpoints of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetEndpoints {
    /// The id of the set.
    pub id: String,
    /// The endpoints, sorted by name, protocol and location.
    pub endpoints: Vec<EndpointList>,
    /// The pods that are left out of some endpoint, in the order of the rows' pods.
    pub left_out: Vec<LeftOutPod>,
}

/// An endpoint: all of it, or that of one location where the name has the location in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointList {
    /// Its name without the underscore, with the location filled in.
    pub name: String,
    /// `tcp`, `udp` and the like, without the underscore.
    pub protocol: Box<str>,
    /// The location, in lower case, where the name has it.
    pub location: Option<String>,
    /// The owner name of its SRV; none where that would be too long.
    pub srv: Option<Name>,
    /// The port.
    pub port: u16,
    /// Its labels, sorted by key.
    pub labels: Vec<(String, String)>,
    /// The pods that it lists, sorted by id.
    pub pods: Vec<ListedPod>,
    /// How many pods it may lack, because their rows are bad.
    pub lacks: usize,
    /// Where the endpoint is written.
    pub origin: Origin,
}

/// A pod that an endpoint lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPod {
    /// Its id.
    pub id: Box<str>,
    /// The name of its placement.
    pub name: Name,
    /// Its addresses, sorted; at least one.
    pub addresses: Vec<IpAddr>,
    /// The node.
    pub node: Option<Box<str>>,
    /// The rack of the node.
    pub rack: Option<Box<str>>,
    /// The location of the node.
    pub location: Option<Box<str>>,
}

/// A pod that is left out because its row is bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutPod {
    /// Its id.
    pub id: Box<str>,
    /// What is wrong: lower case, no full stop.
    pub why: String,
    /// The row.
    pub origin: Origin,
}

impl SetEndpoints {
    /// The endpoints of a set, by its rows.
    pub fn of(inventory: &Inventory, set: PodSetIndex, terms: &PodSetTerms) -> SetEndpoints {
        let pods = &inventory.pods;
        let rows = &pods.rows[pods.places_of(set)];
        let mut left_out: Vec<LeftOutPod> = rows.iter().filter_map(|pod| faulty(pod, &terms.endpoints)).collect();
        let case = SetCase { inventory, terms, rows };
        let mut endpoints: Vec<EndpointList> =
            terms.endpoints.iter().flat_map(|endpoint| case.lists(endpoint, &mut left_out)).collect();
        endpoints.sort_by(|one, other| one.key().cmp(&other.key()));
        SetEndpoints { id: pods.sets[set.0 as usize].id.to_string(), endpoints, left_out }
    }

    /// An endpoint that lists no pod, although it may list one whose row is bad: it is not known to be empty.
    pub fn hollow(&self) -> Option<&EndpointList> {
        self.endpoints.iter().find(|list| list.pods.is_empty() && list.lacks > 0)
    }
}

impl EndpointList {
    /// What lists are sorted by.
    fn key(&self) -> (&str, &str, Option<&str>) {
        (&self.name, &self.protocol, self.location.as_deref())
    }
}

/// Whether an endpoint may list a pod whose row is bad. Where its state cannot be read, the pod counts as dead.
fn may_list(endpoint: &EndpointSpec, pod: &Pod) -> bool {
    pod.fault.is_some() && (endpoint.asks_for(pod) || pod.is_enabled && pod.state == PodState::Dead)
}

/// A pod whose row is bad, where that leaves it out of an endpoint.
fn faulty(pod: &Pod, endpoints: &[EndpointSpec]) -> Option<LeftOutPod> {
    let why = pod.fault.as_deref().filter(|_| endpoints.iter().any(|endpoint| may_list(endpoint, pod)))?;
    Some(LeftOutPod { id: pod.id.clone(), why: why.to_owned(), origin: pod.origin })
}

/// A set, with what its lists are made of.
struct SetCase<'a> {
    /// The inventory.
    inventory: &'a Inventory,
    /// What the owner of the set says.
    terms: &'a PodSetTerms,
    /// Its pods.
    rows: &'a [Pod],
}

impl SetCase<'_> {
    /// The lists of an endpoint: one, or one for each location in which the set has a pod in any state. Adds the pods that
    /// are left out because of their location.
    fn lists(&self, endpoint: &EndpointSpec, left_out: &mut Vec<LeftOutPod>) -> Vec<EndpointList> {
        let mut lists: BTreeMap<String, EndpointList> = BTreeMap::new();
        if let Ok(label) = endpoint.name.label(&PodFields::default()) {
            lists.insert(label.clone(), self.list(endpoint, label, None));
        }
        let mut homeless = 0;
        for pod in self.rows {
            let (is_listed, may_be) = (endpoint.lists(pod), may_list(endpoint, pod));
            let label = match endpoint.label_at(pod, &self.inventory.symbols) {
                Ok(label) => label,
                Err(error) => {
                    if is_listed {
                        let why = format!("endpoint `{}`: {error}", endpoint.name);
                        left_out.push(LeftOutPod { id: pod.id.clone(), why, origin: pod.origin });
                    }
                    homeless += usize::from(is_listed || may_be);
                    continue;
                }
            };
            let list =
                lists.entry(label.clone()).or_insert_with(|| self.list(endpoint, label, self.text(pod.location)));
            match pod.transient_name(self.terms, &self.inventory.symbols) {
                Some(Ok(name)) if is_listed => list.pods.push(self.listed(pod, name)),
                _ => list.lacks += usize::from(may_be),
            }
        }
        let mut lists: Vec<EndpointList> = lists.into_values().collect();
        if lists.is_empty() && homeless > 0 {
            lists.push(self.list(endpoint, endpoint.name.to_string(), None));
        }
        // Where these belong is not known: they may belong to each of the lists.
        if lists.iter().all(|list| list.pods.is_empty()) {
            lists.iter_mut().for_each(|list| list.lacks += homeless);
        }
        lists
    }

    /// A list that is empty so far.
    fn list(&self, endpoint: &EndpointSpec, name: String, location: Option<Box<str>>) -> EndpointList {
        let has_location = endpoint.name.has(PodField::Location);
        EndpointList {
            srv: srv_owner(self.terms, &name, endpoint),
            name,
            protocol: endpoint.protocol.clone(),
            location: location.filter(|_| has_location).map(|location| location.to_ascii_lowercase()),
            port: endpoint.port,
            labels: endpoint.labels.clone(),
            pods: Vec::new(),
            lacks: 0,
            origin: endpoint.origin,
        }
    }

    /// A pod by the name of its placement.
    fn listed(&self, pod: &Pod, name: Name) -> ListedPod {
        ListedPod {
            id: pod.id.clone(),
            name,
            addresses: pod.addresses.to_vec(),
            node: self.text(pod.node),
            rack: self.text(pod.rack),
            location: self.text(pod.location),
        }
    }

    /// The text of a symbol.
    fn text(&self, symbol: Option<Symbol>) -> Option<Box<str>> {
        symbol.map(|symbol| self.inventory.symbols.text(symbol).into())
    }
}
