//! Endpoints as a file that Envoy subscribes to. Source: envoyproxy.io, `ClusterLoadAssignment` of the API v3 and the
//! subscription `path_config_source`, which reads a `DiscoveryResponse`.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{EndpointsText, LeftOutPart, said};
use crate::desired::endpoints::{EndpointList, ListedPod, SetEndpoints};
use crate::disk::{DigestText, hex};
use crate::document::{object_in_documents, pretty};

/// The type of each resource.
const TYPE: &str = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";

/// Where Envoy's load balancers look for metadata.
const METADATA: &str = "envoy.lb";

/// The file.
struct DiscoveryResponse<'a> {
    /// The version: other resources have another.
    version: String,
    /// The clusters.
    resources: Vec<ClusterView<'a>>,
}

/// The endpoints of one cluster.
struct ClusterView<'a> {
    /// The name of the cluster.
    name: String,
    /// The pods by location; those without one first.
    localities: Vec<LocalityView<'a>>,
}

/// The pods of one location.
struct LocalityView<'a> {
    /// The location.
    location: Option<&'a str>,
    /// The addresses.
    endpoints: Vec<AddressView<'a>>,
}

/// An address of a pod.
struct AddressView<'a> {
    /// The endpoint.
    list: &'a EndpointList,
    /// The word of the protocol.
    protocol: &'static str,
    /// The pod.
    pod: &'a ListedPod,
    /// The address.
    address: IpAddr,
}

/// An object with one key.
type KeyedTree<T> = BTreeMap<&'static str, T>;

object_in_documents!(DiscoveryResponse<'_>, response => {
    "version_info": response.version,
    "resources": response.resources,
});

object_in_documents!(ClusterView<'_>, cluster => {
    "@type": TYPE,
    "cluster_name": cluster.name,
    "endpoints": cluster.localities,
});

object_in_documents!(LocalityView<'_>, locality => {
    "lb_endpoints": locality.endpoints,
    ? "locality": locality.location.map(|location| nested("zone", location)),
});

object_in_documents!(AddressView<'_>, endpoint => {
    "endpoint": EndpointHostView(endpoint),
    ? "metadata": endpoint.metadata(),
});

/// What Envoy connects to.
struct EndpointHostView<'a>(&'a AddressView<'a>);

object_in_documents!(EndpointHostView<'_>, host => {
    "address": nested("socket_address", SocketView(host.0)),
    "hostname": host.0.pod.name.as_name().to_dotless_text(),
});

/// The address with its port.
struct SocketView<'a>(&'a AddressView<'a>);

object_in_documents!(SocketView<'_>, socket => {
    "protocol": socket.0.protocol,
    "address": socket.0.address,
    "port_value": socket.0.list.port,
});

impl AddressView<'_> {
    /// The labels of the endpoint as metadata, where there are any.
    fn metadata(&self) -> Option<impl Serialize> {
        let labels: BTreeMap<&str, &str> =
            self.list.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        (!labels.is_empty()).then(|| nested("filter_metadata", nested(METADATA, labels)))
    }
}

/// An object with one key.
fn nested<T>(key: &'static str, value: T) -> KeyedTree<T> {
    BTreeMap::from([(key, value)])
}

/// Renders the endpoints of sets: a cluster for each endpoint. Envoy knows no protocols but TCP and UDP.
pub fn render(sets: &[SetEndpoints]) -> EndpointsText {
    let (mut resources, mut left_out) = (Vec::new(), Vec::new());
    for set in sets {
        for list in &set.endpoints {
            match protocol(list) {
                Some(protocol) => resources.push(cluster(set, list, protocol)),
                None => {
                    let name = said(set, list);
                    let message = format!("`{name}` is left out: Envoy has no protocol `{}`", list.protocol);
                    left_out.push(LeftOutPart { origin: list.origin, message });
                }
            }
        }
    }
    let digest = hex(&Sha256::digest(pretty(&resources)));
    let version = DigestText(&digest).to_string();
    EndpointsText { text: pretty(&DiscoveryResponse { version, resources }), left_out }
}

/// The word of Envoy for the protocol of an endpoint.
fn protocol(list: &EndpointList) -> Option<&'static str> {
    match &*list.protocol {
        "tcp" => Some("TCP"),
        "udp" => Some("UDP"),
        _ => None,
    }
}

/// The cluster of an endpoint. The protocol is part of its name, since an endpoint of each may have one name.
fn cluster<'a>(set: &SetEndpoints, list: &'a EndpointList, protocol: &'static str) -> ClusterView<'a> {
    let mut by_location: BTreeMap<Option<&str>, Vec<AddressView<'a>>> = BTreeMap::new();
    for pod in &list.pods {
        let own = pod.addresses.iter().map(|address| AddressView { list, protocol, pod, address: *address });
        by_location.entry(pod.location.as_deref()).or_default().extend(own);
    }
    let localities = by_location.into_iter().map(|(location, endpoints)| LocalityView { location, endpoints });
    ClusterView { name: format!("{}/{}/{}", set.id, list.name, list.protocol), localities: localities.collect() }
}
