//! The files of consumers.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Deserialize;
use serde_json::Value;

use super::*;
use crate::desired::endpoints::{ListedPod, SetEndpoints};
use crate::diag::Files;
use crate::dns::Name;
use crate::report::SchemaKind;
use crate::report::schema::tests::check_one;

/// A pod in a location.
fn pod(id: &str, addresses: &[&str], location: Option<&str>) -> ListedPod {
    ListedPod {
        id: id.into(),
        name: Name::parse(&format!("{id}-0011aaff.shop.example.net")).unwrap(),
        addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
        node: Some("sas1-0001.example.net".into()),
        rack: None,
        location: location.map(Into::into),
    }
}

/// An endpoint of some pods.
fn list(name: &str, protocol: &str, location: Option<&str>, pods: Vec<ListedPod>) -> EndpointList {
    let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    EndpointList {
        name: name.to_owned(),
        protocol: protocol.into(),
        location: location.map(str::to_owned),
        srv: Name::parse(&format!("_{name}._{protocol}.shop.example.net")).ok(),
        port: 8080,
        labels: vec![label("1st", "1"), label("app.kubernetes.io/name", "shop"), label("tier", "front")],
        pods,
        lacks: 0,
        origin: Origin::line(Files::default().add("pod-sets/shop.yaml".to_owned()), 7),
    }
}

/// A set with pods at two locations and at none, an endpoint that is empty, and one of a protocol that few know.
fn sets() -> Vec<SetEndpoints> {
    let pods = vec![
        pod("a1", &["192.0.2.1", "2001:db8::1"], Some("sas")),
        pod("a2", &["2001:db8::2"], Some("myt")),
        pod("a3", &["2001:db8::3"], None),
    ];
    let endpoints = vec![
        list("http", "tcp", None, pods.clone()),
        list("http", "udp", None, pods[1..2].to_vec()),
        list("http-sas", "tcp", Some("sas"), Vec::new()),
        list("sig", "sctp", None, pods[2..].to_vec()),
    ];
    vec![SetEndpoints { id: "shop".to_owned(), endpoints, left_out: Vec::new() }]
}

/// The text of a format as JSON.
fn value(format: EndpointsFormat) -> Value {
    serde_json::from_str(&endpoints(&sets(), format).text).unwrap()
}

#[test]
fn the_document_fits_its_schema_and_lists_each_address() {
    let document = value(EndpointsFormat::Json);
    assert_eq!(check_one(SchemaKind::Endpoints, document.clone()), "");
    let of_first = document.pointer("/sets/0/endpoints/0").unwrap();
    assert_eq!(of_first["srv"], "_http._tcp.shop.example.net.");
    let addresses: Vec<&str> =
        of_first["targets"].as_array().unwrap().iter().map(|target| target["address"].as_str().unwrap()).collect();
    assert_eq!(addresses, ["192.0.2.1", "2001:db8::1", "2001:db8::2", "2001:db8::3"]);
    let target = of_first.pointer("/targets/0").unwrap();
    assert_eq!(
        target.to_string(),
        r#"{"address":"192.0.2.1","labels":{"1st":"1","app.kubernetes.io/name":"shop","tier":"front"},"location":"sas","name":"a1-0011aaff.shop.example.net.","node":"sas1-0001.example.net","pod":"a1","port":8080,"rack":null}"#
    );
    // An endpoint that is empty is there, too.
    assert_eq!(document.pointer("/sets/0/endpoints/2/targets").unwrap().as_array().unwrap().len(), 0);
    for edit in ["/format", "/sets/0/id", "/sets/0/endpoints/0/srv", "/sets/0/endpoints/0/targets/0/port"] {
        let mut edited = document.clone();
        *edited.pointer_mut(edit).unwrap() = Value::from(-1);
        assert_ne!(check_one(SchemaKind::Endpoints, edited), "", "{edit}");
    }
}

/// A group of targets, as Prometheus' `targetgroup.Group` reads it: other keys are errors there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupShape {
    /// `host:port`.
    targets: Vec<String>,
    /// Names and values.
    labels: BTreeMap<String, String>,
}

#[test]
fn prometheus_reads_a_group_for_each_pod() {
    let groups: Vec<GroupShape> = serde_json::from_value(value(EndpointsFormat::Prometheus)).unwrap();
    assert_eq!(groups.len(), 5);
    assert_eq!(groups[0].targets, ["192.0.2.1:8080", "[2001:db8::1]:8080"]);
    for group in &groups {
        for name in group.labels.keys() {
            let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
            assert!(name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit()), "{name}");
        }
    }
    let shown: Vec<String> = groups[0].labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(
        shown,
        [
            "__meta_zonewright_endpoint=http",
            "__meta_zonewright_location=sas",
            "__meta_zonewright_name=a1-0011aaff.shop.example.net",
            "__meta_zonewright_node=sas1-0001.example.net",
            "__meta_zonewright_pod=a1",
            "__meta_zonewright_protocol=tcp",
            "__meta_zonewright_set=shop",
            "_st=1",
            "app_kubernetes_io_name=shop",
            "tier=front",
        ]
    );
}

#[test]
fn of_two_labels_with_one_name_for_prometheus_the_first_stays() {
    let mut sets = sets();
    sets[0].endpoints.truncate(1);
    let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    sets[0].endpoints[0].labels = vec![label("a-b", "1"), label("a.b", "2"), label("__meta_zonewright_pod", "me")];
    let written = endpoints(&sets, EndpointsFormat::Prometheus);
    let messages: Vec<&str> = written.left_out.iter().map(|part| part.message.as_str()).collect();
    assert_eq!(messages, ["label `a.b` of `shop/_http._tcp` is left out: another label is `a_b`, too"]);
    let groups: Vec<GroupShape> = serde_json::from_str(&written.text).unwrap();
    // What we say ourselves, no owner of a set can say.
    assert_eq!((groups[0].labels["a_b"].as_str(), groups[0].labels["__meta_zonewright_pod"].as_str()), ("1", "a1"));
}

/// `envoy.service.discovery.v3.DiscoveryResponse`, as far as it is written. Envoy takes no unknown field.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseShape {
    /// The version.
    version_info: String,
    /// The resources.
    resources: Vec<ClusterShape>,
}

/// `envoy.config.endpoint.v3.ClusterLoadAssignment`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClusterShape {
    /// The type of the resource.
    #[serde(rename = "@type")]
    kind: String,
    /// The cluster.
    cluster_name: String,
    /// The localities.
    endpoints: Vec<LocalityShape>,
}

/// `envoy.config.endpoint.v3.LocalityLbEndpoints`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LocalityShape {
    /// The locality.
    locality: Option<ZoneShape>,
    /// The endpoints.
    lb_endpoints: Vec<LbEndpointShape>,
}

/// `envoy.config.core.v3.Locality`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZoneShape {
    /// The zone.
    zone: String,
}

/// `envoy.config.endpoint.v3.LbEndpoint`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LbEndpointShape {
    /// The endpoint.
    endpoint: EndpointShape,
    /// `envoy.config.core.v3.Metadata`.
    metadata: Option<MetadataShape>,
}

/// `envoy.config.core.v3.Metadata`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetadataShape {
    /// By the name of a filter.
    filter_metadata: BTreeMap<String, BTreeMap<String, String>>,
}

/// `envoy.config.endpoint.v3.Endpoint`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EndpointShape {
    /// The address.
    address: AddressShape,
    /// The name.
    hostname: String,
}

/// `envoy.config.core.v3.Address`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddressShape {
    /// The address.
    socket_address: SocketShape,
}

/// `envoy.config.core.v3.SocketAddress`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SocketShape {
    /// `TCP` or `UDP`.
    protocol: String,
    /// The address, without brackets.
    address: IpAddr,
    /// The port.
    port_value: u16,
}

#[test]
fn envoy_reads_a_cluster_for_each_endpoint_of_tcp_and_udp() {
    let written = endpoints(&sets(), EndpointsFormat::Envoy);
    let response: ResponseShape = serde_json::from_str(&written.text).unwrap();
    let shown = |cluster: &ClusterShape| {
        assert_eq!(cluster.kind, "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment");
        let of_zone = |locality: &LocalityShape| {
            let zone = locality.locality.as_ref().map_or("-", |locality| locality.zone.as_str());
            let socket = |lb: &LbEndpointShape| {
                let SocketShape { protocol, address, port_value } = &lb.endpoint.address.socket_address;
                let metadata = lb.metadata.as_ref().unwrap();
                assert_eq!(metadata.filter_metadata["envoy.lb"]["app.kubernetes.io/name"], "shop");
                assert!(lb.endpoint.hostname.ends_with("-0011aaff.shop.example.net"));
                format!(" {protocol}:{address}:{port_value}")
            };
            format!(" {zone}{}", locality.lb_endpoints.iter().map(socket).collect::<String>())
        };
        format!("{}{}", cluster.cluster_name, cluster.endpoints.iter().map(of_zone).collect::<String>())
    };
    assert_eq!(
        response.resources.iter().map(shown).collect::<Vec<_>>(),
        [
            "shop/http/tcp - TCP:2001:db8::3:8080 myt TCP:2001:db8::2:8080 sas TCP:192.0.2.1:8080 TCP:2001:db8::1:8080",
            "shop/http/udp myt UDP:2001:db8::2:8080",
            "shop/http-sas/tcp",
        ]
    );
    let messages: Vec<&str> = written.left_out.iter().map(|part| part.message.as_str()).collect();
    assert_eq!(messages, ["`shop/_sig._sctp` is left out: Envoy has no protocol `sctp`"]);
}

#[test]
fn the_version_for_envoy_is_that_of_the_content() {
    let version = |sets: &[SetEndpoints]| {
        let response: ResponseShape = serde_json::from_str(&endpoints(sets, EndpointsFormat::Envoy).text).unwrap();
        response.version_info
    };
    let mut edited = sets();
    assert_eq!(version(&edited), version(&sets()));
    edited[0].endpoints[0].port = 8081;
    assert_ne!(version(&edited), version(&sets()));
    assert!(version(&edited).starts_with("sha256:"));
}

#[test]
fn without_labels_there_is_no_metadata() {
    let mut sets = sets();
    sets[0].endpoints.truncate(1);
    sets[0].endpoints[0].labels.clear();
    let response: ResponseShape = serde_json::from_str(&endpoints(&sets, EndpointsFormat::Envoy).text).unwrap();
    assert!(response.resources[0].endpoints[0].lb_endpoints[0].metadata.is_none());
}

#[test]
fn one_line_says_what_a_file_holds() {
    assert_eq!(endpoints_summary("a.json", &sets(), true), "a.json: written: 1 set, 4 endpoints, 6 targets\n");
    assert_eq!(endpoints_summary("a.json", &[], false), "a.json: unchanged: 0 sets, 0 endpoints, 0 targets\n");
}
