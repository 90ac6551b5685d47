//! Endpoints as a file of targets for Prometheus. Source: prometheus.io/docs, `file_sd_config` and `http_sd_config`.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;

use super::{EndpointsText, LeftOutPart, said};
use crate::desired::endpoints::{EndpointList, ListedPod, SetEndpoints};
use crate::document::{object_in_documents, pretty};

/// How the labels begin that we give; Prometheus drops them once its `relabel_configs` have seen them.
const PREFIX: &str = "__meta_zonewright_";

/// The targets of one pod, with their labels.
struct TargetGroup {
    /// The addresses, each with the port.
    targets: Vec<String>,
    /// The labels, by name.
    labels: BTreeMap<String, String>,
}

object_in_documents!(TargetGroup, group => {
    "targets": group.targets,
    "labels": group.labels,
});

/// The labels of an endpoint, by the names that Prometheus takes.
struct TakenLabels {
    /// The labels.
    labels: BTreeMap<String, String>,
    /// Those that are left out.
    left_out: Vec<LeftOutPart>,
}

/// Renders the endpoints of sets: a group for each pod of each endpoint.
pub fn render(sets: &[SetEndpoints]) -> EndpointsText {
    let (mut groups, mut left_out) = (Vec::new(), Vec::new());
    for set in sets {
        for list in &set.endpoints {
            let mut taken = own_labels(set, list);
            left_out.append(&mut taken.left_out);
            groups.extend(list.pods.iter().map(|pod| group(set, list, pod, &taken.labels)));
        }
    }
    // Prometheus reads a list; no other document of ours is one.
    EndpointsText { text: pretty(&groups), left_out }
}

/// The group of a pod.
fn group(set: &SetEndpoints, list: &EndpointList, pod: &ListedPod, own: &BTreeMap<String, String>) -> TargetGroup {
    let name = pod.name.as_name().to_dotless_text();
    let said = [
        ("set", Some(set.id.as_str())),
        ("endpoint", Some(list.name.as_str())),
        ("protocol", Some(&*list.protocol)),
        ("pod", Some(&*pod.id)),
        ("name", Some(name.as_str())),
        ("location", pod.location.as_deref()),
        ("rack", pod.rack.as_deref()),
        ("node", pod.node.as_deref()),
    ];
    // To Prometheus a label without a value is no label.
    let said = said.into_iter().filter_map(|(key, value)| Some((format!("{PREFIX}{key}"), value?.to_owned())));
    let labels = own.clone().into_iter().chain(said).collect();
    let target = |address| SocketAddr::new(address, list.port).to_string();
    TargetGroup { targets: pod.addresses.iter().copied().map(target).collect(), labels }
}

/// The labels that the owner of a set gives an endpoint. Where two of them get one name, the first by key stays.
fn own_labels(set: &SetEndpoints, list: &EndpointList) -> TakenLabels {
    let mut taken = TakenLabels { labels: BTreeMap::new(), left_out: Vec::new() };
    for (key, value) in &list.labels {
        match taken.labels.entry(label_name(key)) {
            Entry::Vacant(place) => drop(place.insert(value.clone())),
            Entry::Occupied(other) => {
                let (endpoint, name) = (said(set, list), other.key());
                let message = format!("label `{key}` of `{endpoint}` is left out: another label is `{name}`, too");
                taken.left_out.push(LeftOutPart { origin: list.origin, message });
            }
        }
    }
    taken
}

/// The name that Prometheus takes for a key: letters, digits and `_`, and no digit at the start. What else there is becomes
/// `_`, as in the labels that Prometheus' own discovery makes.
fn label_name(key: &str) -> String {
    let of_char = |(place, c): (usize, char)| match c {
        'a'..='z' | 'A'..='Z' | '_' => c,
        '0'..='9' if place > 0 => c,
        _ => '_',
    };
    key.chars().enumerate().map(of_char).collect()
}
