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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::inventory::read::load_workspace;

    /// The endpoints of the set `shop` with some `endpoints` and rows.
    fn found(endpoints: &str, rows: &[&str]) -> SetEndpoints {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let settings = "owner = \"o\"\nmax_bad_rows = \"100%\"\n[sources]\nprojects = \"projects/*.yaml\"\n\
                        pods = \"pods.jsonl\"\nhosts = \"none\"\n[project.p]\ndns_domain = \"example.net\"\n\
                        [pool.m]\n[[pool.m.target]]\ntype = \"zonefile\"\ndir = \".\"\n\
                        [[zone]]\nname = \"example.net\"\npool = \"m\"\n";
        write("zonewright.toml", settings.to_owned());
        write("projects/p.yaml", "id: p\nvlan_scheme: none\n".to_owned());
        write(
            "pod-sets/shop.yaml",
            format!("id: shop\nproject: p\ndomain: shop.example.net\nendpoints: [{endpoints}]\n"),
        );
        let row = |row: &&str| format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"set\":\"shop\",{row}}}\n");
        write("pods.jsonl", rows.iter().map(row).collect());
        let inventory =
            load_workspace(folder.path(), "2026-11-20T02:00:00Z".parse().unwrap(), &|_| {}).inventory.unwrap();
        assert_eq!(inventory.pods.doubted().doubt(), None);
        let set = inventory.pods.find_set("shop").unwrap();
        SetEndpoints::of(&inventory, set, inventory.pods.sets[0].terms().unwrap())
    }

    /// A row in a state.
    fn row(id: u8, state: &str, location: &str) -> String {
        format!(
            "\"pod\":\"a{id}\",\"state\":\"{state}\",\"node\":\"n{id}.example.net\",\"addresses\":[\"2001:db8::{id}\"]{location}"
        )
    }

    /// Each endpoint with the ids of its pods and how many it lacks.
    fn shown(found: &SetEndpoints) -> Vec<String> {
        let of_list = |list: &EndpointList| {
            let pods: Vec<&str> = list.pods.iter().map(|pod| &*pod.id).collect();
            format!("{} {} {:?} {} -{}", list.name, list.protocol, list.location, pods.join(","), list.lacks)
        };
        found.endpoints.iter().map(of_list).collect()
    }

    #[test]
    fn a_location_in_the_name_gives_a_list_for_each_location() {
        let rows = [
            row(1, "active", ",\"location\":\"SAS\""),
            row(2, "active", ",\"location\":\"myt\""),
            row(3, "active", ",\"location\":\"sas\""),
            row(4, "removing", ",\"location\":\"vla\""),
            row(5, "active", ",\"location\":\"sas\",\"enabled\":false"),
            row(6, "prepared", ",\"location\":\"sas\""),
        ];
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let endpoints = "{name: \"http-{location}\", protocol: tcp, port: 80}, \
                         {name: all, protocol: udp, port: 53, states: [active, prepared, removing]}, \
                         {name: all, protocol: tcp, port: 53}";
        let found = found(endpoints, &rows);
        assert_eq!(
            shown(&found),
            [
                "all tcp None a1,a2,a3 -0",
                "all udp None a1,a2,a3,a4,a6 -0",
                "http-myt tcp Some(\"myt\") a2 -0",
                "http-sas tcp Some(\"sas\") a1,a3 -0",
                // The location is known, and empty.
                "http-vla tcp Some(\"vla\")  -0",
            ]
        );
        assert_eq!((found.left_out.len(), found.hollow()), (0, None));
        let pod = &found.endpoints[0].pods[0];
        assert_eq!(pod.location.as_deref(), Some("SAS"));
        assert!(pod.name.to_string().starts_with("a1-") && pod.name.to_string().ends_with(".shop.example.net."));
    }

    #[test]
    fn an_endpoint_is_not_empty_because_its_rows_are_bad() {
        let good = row(1, "active", "");
        let bad = "\"pod\":\"b1\",\"state\":\"active\",\"node\":\"n9.example.net\"";
        let unread = "\"pod\":\"b2\",\"state\":\"actve\"";
        let endpoint = "{name: http, protocol: tcp, port: 80}";
        let short = found(endpoint, &[&good, bad, unread]);
        assert_eq!(shown(&short), ["http tcp None a1 -2"]);
        assert_eq!(short.hollow(), None);
        let left_out: Vec<&str> = short.left_out.iter().map(|pod| &*pod.id).collect();
        assert_eq!(left_out, ["b1", "b2"]);
        let empty = found(endpoint, &[bad]);
        assert!(empty.hollow().is_some());
        // A pod that would not be listed anyway is missed by no list.
        let waiting = "\"pod\":\"b3\",\"state\":\"waiting\",\"node\":\"n9.example.net\"";
        let truly = found(endpoint, &[waiting]);
        assert_eq!((truly.hollow(), truly.left_out.len()), (None, 0));
    }

    #[test]
    fn a_pod_without_the_location_of_its_endpoint_is_left_out() {
        let endpoint = "{name: \"http-{location}\", protocol: tcp, port: 80}";
        let (homeless, good) = (row(1, "active", ""), row(2, "active", ",\"location\":\"sas\""));
        let short = found(endpoint, &[&homeless, &good]);
        assert_eq!((shown(&short), short.hollow()), (vec!["http-sas tcp Some(\"sas\") a2 -0".to_owned()], None));
        assert_eq!(short.left_out[0].why, "endpoint `http-{location}`: the row has nothing for `{location}`");
        // Where no pod is left, it is not known that there is none.
        let empty = found(endpoint, &[&homeless]);
        assert_eq!(empty.hollow().map(|list| list.name.as_str()), Some("http-{location}"));
        // A pod that waits is nowhere yet.
        let waiting = "\"pod\":\"a1\",\"state\":\"waiting\"";
        assert_eq!(shown(&found(endpoint, &[waiting])), Vec::<String>::new());
    }
}
