//! Endpoints as our own document. `schemas/endpoints.schema.json` describes it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::desired::endpoints::{EndpointList, ListedPod, SetEndpoints};
use crate::document::{object_in_documents, pretty};

/// What `format` says.
const FORMAT: &str = "zonewright.endpoints/1";

/// The document.
struct EndpointsDocument<'a>(&'a [SetEndpoints]);

/// An address of a pod at an endpoint.
struct EndpointTargetView<'a> {
    /// The endpoint.
    list: &'a EndpointList,
    /// The pod.
    pod: &'a ListedPod,
    /// The address.
    address: IpAddr,
}

/// Renders the endpoints of sets.
pub fn render(sets: &[SetEndpoints]) -> String {
    pretty(&EndpointsDocument(sets))
}

object_in_documents!(EndpointsDocument<'_>, document => {
    "format": FORMAT,
    "sets": document.0,
});

object_in_documents!(SetEndpoints, set => {
    "id": set.id,
    "endpoints": set.endpoints,
});

object_in_documents!(EndpointList, list => {
    "name": list.name,
    "protocol": list.protocol,
    "location": list.location,
    "srv": list.srv,
    "targets": targets(list),
});

object_in_documents!(EndpointTargetView<'_>, target => {
    "address": target.address,
    "name": target.pod.name,
    "port": target.list.port,
    "labels": labels(target.list),
    "pod": target.pod.id,
    "location": target.pod.location,
    "rack": target.pod.rack,
    "node": target.pod.node,
});

/// The targets of an endpoint, by pod and address.
fn targets(list: &EndpointList) -> Vec<EndpointTargetView<'_>> {
    let of_pod = |pod| -> Vec<EndpointTargetView<'_>> { addresses(list, pod).collect() };
    list.pods.iter().flat_map(of_pod).collect()
}

/// The targets of a pod.
fn addresses<'a>(list: &'a EndpointList, pod: &'a ListedPod) -> impl Iterator<Item = EndpointTargetView<'a>> {
    pod.addresses.iter().map(move |address| EndpointTargetView { list, pod, address: *address })
}

/// The labels of an endpoint, by key.
fn labels(list: &EndpointList) -> BTreeMap<&str, &str> {
    list.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}
