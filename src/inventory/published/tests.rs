//! What follows from apps and lists, against a calculation of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::diag::FileId;
use crate::inventory::apps::ServicePlace;
use crate::inventory::kubernetes::is_object_name;

/// The names of services and records: `a` and `b-c` make the endpoint that `a-b` and `c` make.
const SERVICES: [&str; 4] = ["a", "a-b", "web", "a-service-with-a-long-name-that-leaves-little-room-for"];
const RECORDS: [&str; 5] = ["b-c", "c", "bind", "etcd", "route53"];
const CLUSTERS: [&str; 3] = ["edge-1", "edge-2", "edge-3"];
const CLOUDS: [&str; 2] = ["lc1", "lc2"];
const SPACES: [&str; 2] = ["prod", "test"];
const HOSTS: [&str; 3] = ["www.example.com.", "api.example.com.", "www.example.net."];
const ADDRESSES: [&str; 5] = ["192.0.2.1", "192.0.2.2", "10.0.0.1", "2001:db8::1", "2001:db8::2"];

/// Addresses of one scope in one cluster: the cluster, whether the scope is `public`, and the addresses.
type PlaceModel = (usize, bool, Vec<usize>);

/// A service: its name, its hostnames and its places.
type ServiceModel = (usize, Vec<usize>, Vec<PlaceModel>);

/// An app: its namespace, its logical cloud and its services.
type AppModel = (usize, usize, Vec<ServiceModel>);

/// A list: whether it is of a logical cloud, for which, and its records.
type ListModel = (bool, usize, Vec<usize>);

fn some(of: usize, from: usize, to: usize) -> impl Strategy<Value = Vec<usize>> {
    proptest::sample::subsequence((0..of).collect::<Vec<_>>(), from..=to)
}

/// The hostnames and places of a service.
fn service() -> impl Strategy<Value = (Vec<usize>, Vec<PlaceModel>)> {
    let place = (0..CLUSTERS.len(), any::<bool>(), some(ADDRESSES.len(), 0, 3));
    (some(HOSTS.len(), 1, 2), proptest::collection::vec(place, 0..4))
}

fn app() -> impl Strategy<Value = AppModel> {
    let services = some(SERVICES.len(), 0, 3).prop_flat_map(|names| {
        let parts = proptest::collection::vec(service(), names.len());
        let named = move |parts: Vec<(Vec<usize>, Vec<PlaceModel>)>| {
            names.iter().zip(parts).map(|(name, (hosts, places))| (*name, hosts, places)).collect()
        };
        parts.prop_map(named)
    });
    (0..SPACES.len(), 0..CLOUDS.len(), services)
}

fn list() -> impl Strategy<Value = ListModel> {
    any::<bool>().prop_flat_map(|is_cloud| {
        let holders = if is_cloud { CLOUDS.len() } else { CLUSTERS.len() };
        (Just(is_cloud), 0..holders, some(RECORDS.len(), 0, 3))
    })
}

/// A place of its own for each value.
struct Places(FileId, u32);

impl Places {
    fn next(&mut self) -> Origin {
        self.1 += 1;
        Origin::line(self.0, self.1)
    }
}

fn files_of(apps: &[AppModel], lists: &[ListModel], places: &mut Places) -> AppFiles {
    let service = |(name, hosts, reached): &ServiceModel, places: &mut Places| AppService {
        name: SERVICES[*name].into(),
        origin: places.next(),
        hostnames: hosts.iter().map(|host| (Name::parse(HOSTS[*host]).unwrap(), places.next())).collect(),
        ttl: None,
        places: reached
            .iter()
            .map(|(cluster, is_public, addresses)| ServicePlace {
                cluster: CLUSTERS[*cluster].into(),
                scope: if *is_public { AddressScope::Public } else { AddressScope::Cluster },
                addresses: addresses.iter().map(|own| (ADDRESSES[*own].parse().unwrap(), places.next())).collect(),
            })
            .collect(),
        fault: None,
    };
    let apps = apps.iter().map(|(space, cloud, services)| App {
        origin: places.next(),
        name: "app".into(),
        bundle: "bundle".into(),
        version: "v1".into(),
        profile: "p".into(),
        namespace: SPACES[*space].into(),
        cloud: CLOUDS[*cloud].into(),
        services: services.iter().map(|own| service(own, places)).collect(),
        fault: None,
    });
    let apps = apps.collect();
    let lists = lists.iter().map(|(is_cloud, holder, records)| RecordList {
        holder: if *is_cloud {
            ListHolder::LogicalCloud(CLOUDS[*holder].into())
        } else {
            ListHolder::Cluster(CLUSTERS[*holder].into())
        },
        origin: places.next(),
        records: records.iter().map(|record| (RECORDS[*record].into(), places.next())).collect(),
        fault: None,
    });
    let lists = lists.collect();
    AppFiles { apps, lists, ..AppFiles::default() }
}

/// An endpoint by its record: its name with the namespace, the hosts, and its addresses or why it is blocked.
type FoundEndpoint = (usize, String, Vec<usize>, Result<BTreeSet<&'static str>, &'static str>);

/// What the contract says, worked out by sets alone: a line for each RRset, and for each name that is blocked.
fn expected(apps: &[AppModel], lists: &[ListModel], known: &BTreeSet<usize>) -> BTreeSet<String> {
    let mut of_clouds: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut of_clusters: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (is_cloud, holder, records) in lists {
        let all = if *is_cloud { &mut of_clouds } else { &mut of_clusters };
        all.extend(records.iter().map(|record| (*holder, *record)));
    }
    let mut found: Vec<FoundEndpoint> = Vec::new();
    for (space, cloud, services) in apps {
        for (name, hosts, places) in services {
            for (record, record_name) in RECORDS.iter().enumerate() {
                let is_of_cloud = of_clouds.contains(&(*cloud, record));
                let is_of_cluster = places.iter().any(|(cluster, ..)| of_clusters.contains(&(*cluster, record)));
                if !is_of_cloud && !is_of_cluster {
                    continue;
                }
                let is_public = |place: &PlaceModel| place.1;
                let is_of_place = |place: &PlaceModel| is_of_cluster && of_clusters.contains(&(place.0, record));
                let is_meant = |place: &&PlaceModel| if is_public(place) { is_of_cloud } else { is_of_place(place) };
                let meant = places.iter().filter(is_meant).flat_map(|place| &place.2);
                let meant: BTreeSet<&str> = meant.map(|address| ADDRESSES[*address]).collect();
                let result = match (known.contains(&record), is_of_cloud && is_of_cluster, meant.is_empty()) {
                    (false, ..) => Err("unknown-record"),
                    (_, true, _) => Err("scope-conflict"),
                    (.., true) => Err("no-address"),
                    _ => Ok(meant),
                };
                let whole = format!("{}-{}", SERVICES[*name], record_name);
                found.push((record, format!("{}/{whole}", SPACES[*space]), hosts.clone(), result));
            }
        }
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    found.iter().for_each(|(_, name, ..)| *counts.entry(name).or_default() += 1);
    let mut lines = BTreeSet::new();
    for (record, name, hosts, result) in &found {
        for host in hosts.iter().map(|host| HOSTS[*host]) {
            let head = format!("{} {name} {host}", RECORDS[*record]);
            match result {
                Err(code) => drop(lines.insert(format!("{head} {code}"))),
                Ok(_) if counts[name.as_str()] > 1 => drop(lines.insert(format!("{head} claim-conflict"))),
                Ok(addresses) => {
                    for (rtype, is_v6) in [("A", false), ("AAAA", true)] {
                        let own = addresses.iter().filter(|address| address.contains(':') == is_v6).copied();
                        let own = own.collect::<Vec<_>>().join(",");
                        if !own.is_empty() {
                            lines.insert(format!("{head} {rtype} {own}"));
                        }
                    }
                }
            }
        }
    }
    lines
}

/// The whole names behind shortened ones.
fn whole(name: &str) -> String {
    let all = SERVICES.iter().flat_map(|service| RECORDS.iter().map(move |record| (*service, *record)));
    let found = all.into_iter().find(|(service, record)| endpoint_name(service, record) == name);
    found.map(|(service, record)| format!("{service}-{record}")).expect("the name is one of these")
}

/// What was added, in the same lines.
fn added(draft: &Draft) -> BTreeSet<String> {
    let line = |entry: &StatedEntry| {
        let StatedBy::Manifest { namespace, name } = &*entry.by else { panic!("endpoints are manifests") };
        let source = &draft.published.sources[usize::from(entry.source)];
        let head = format!("{} {namespace}/{} {}", source.name, whole(name), entry.owner);
        match &entry.content {
            EntryContent::Rrset(StatedRrset { rtype, values, .. }) => {
                let values: BTreeSet<String> = values.iter().map(|value| value.as_rdata(*rtype).to_string()).collect();
                format!("{head} {rtype} {}", values.into_iter().collect::<Vec<_>>().join(","))
            }
            EntryContent::Barred(kind, ..) => format!("{head} {}", kind.code()),
            other => panic!("{other:?}"),
        }
    };
    draft.published.entries.iter().map(line).collect()
}

fn record(name: &str, origin: Origin) -> PublishingRecord {
    let project = Some("web".to_owned());
    PublishingRecord { name: name.into(), origin, project, state: RecordState::Open(Policy::Sync), fault: None }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_follows_is_what_a_calculation_by_sets_says(
        apps in proptest::collection::vec(app(), 0..4),
        lists in proptest::collection::vec(list(), 0..6),
        known in proptest::sample::subsequence(vec![0usize, 1, 2, 3, 4], 3..=5),
    ) {
        let mut files = Files::default();
        let mut places = Places(files.add("apps.yaml"), 0);
        let mut draft = Draft { apps: files_of(&apps, &lists, &mut places), ..Draft::default() };
        let records: Vec<PublishingRecord> = known.iter().map(|own| record(RECORDS[*own], places.next())).collect();
        add(&mut draft, &records, &files);
        prop_assert_eq!(added(&draft), expected(&apps, &lists, &known.iter().copied().collect()));
        // Every name that is there is of one document, and only those of which all is known are whole.
        for entry in &draft.published.entries {
            let own = |document: &&StatedDocument| document.source == entry.source && document.by == entry.by;
            let is_good = matches!(entry.content, EntryContent::Rrset(_));
            let documents: Vec<&StatedDocument> = draft.published.documents.iter().filter(own).collect();
            prop_assert!(!documents.is_empty() && documents.iter().all(|document| document.is_whole == is_good));
        }
    }
}

#[test]
fn a_value_leads_back_to_the_app_the_lists_and_the_record() {
    let mut files = Files::default();
    let mut places = Places(files.add("apps.yaml"), 0);
    let service = (2, vec![0], vec![(0, true, vec![0, 3]), (1, true, vec![0])]);
    let apps = files_of(&[(0, 0, vec![service])], &[(true, 0, vec![2]), (true, 0, vec![2])], &mut places);
    let addresses: Vec<Vec<u32>> =
        apps.apps[0].services[0].places.iter().map(|place| lines(&place.addresses)).collect();
    let of_lists: Vec<u32> = apps.lists.iter().map(|list| list.records[0].1.line).collect();
    let of_record = places.next();
    let mut draft = Draft { apps, ..Draft::default() };
    add(&mut draft, &[record("bind", of_record)], &files);
    let evidence = |place: usize| draft.published.entries[place].evidence.as_deref().unwrap();
    let because: Vec<u32> = evidence(0).because.iter().map(|origin| origin.line).collect();
    assert_eq!(because, [of_lists, vec![of_record.line]].concat());
    // Two clusters have the IPv4 address.
    let of_values = |place: usize| -> Vec<Vec<u32>> {
        evidence(place).values.iter().map(|lines| lines.iter().map(|origin| origin.line).collect()).collect()
    };
    assert_eq!(of_values(0), [vec![addresses[0][0], addresses[1][0]]]);
    assert_eq!(of_values(1), [vec![addresses[0][1]]]);
}

fn lines(addresses: &[(IpAddr, Origin)]) -> Vec<u32> {
    addresses.iter().map(|(_, origin)| origin.line).collect()
}

#[test]
fn a_long_name_keeps_its_head_and_a_hash() {
    let long = "s".repeat(60);
    assert_eq!(endpoint_name(&long[..58], "bind"), format!("{}-bind", &long[..58]));
    // SHA-256 of 60 `s`, a hyphen and `bind`, by another program.
    let hash = "4739c254";
    assert_eq!(endpoint_name(&long, "bind"), format!("{}-{hash}", &long[..54]));
    assert_eq!(endpoint_name(&long, "bind").len(), 63);
    // Where the head ends in a dot, the dot goes: `s.-4739c254` is no name of Kubernetes.
    let dotted = format!("{}.{}", &long[..53], &long[..20]);
    let name = endpoint_name(&dotted, "bind");
    assert!(name.starts_with(&format!("{}-", &long[..53])) && name.len() == 62 && is_object_name(&name), "{name}");
    let hyphen = format!("{}-{}", &long[..53], &long[..20]);
    assert!(endpoint_name(&hyphen, "bind").contains("--") && is_object_name(&endpoint_name(&hyphen, "bind")));
}

#[test]
fn nothing_is_concluded_from_apps_that_may_not_be_believed() {
    let mut files = Files::default();
    let mut places = Places(files.add("apps.yaml"), 0);
    let service = (2, vec![0], vec![(0, true, vec![0])]);
    let mut apps = files_of(&[(0, 0, vec![service])], &[(true, 0, vec![2, 3])], &mut places);
    apps.apps_trust = Trust::Unknown { reason: "source `apps`: cut".to_owned() };
    apps.records_trust = Trust::Unknown { reason: "source `dns_update_records`: cut".to_owned() };
    let mut draft = Draft { apps, ..Draft::default() };
    add(&mut draft, &[record("bind", places.next())], &files);
    let doubts: Vec<Option<&str>> = draft.published.sources.iter().map(|source| source.trust.doubt()).collect();
    assert_eq!(doubts, [Some("source `dns_update_records`: cut"); 2]);
    // The record `etcd` may be in the file that cannot be read.
    assert!(draft.published.entries.iter().all(|entry| matches!(entry.content, EntryContent::Rrset(_))));
    assert!(draft.found.is_empty());
}

#[test]
fn a_record_that_is_wrong_or_named_as_a_source_blocks_its_own_endpoints() {
    let mut files = Files::default();
    let mut places = Places(files.add("apps.yaml"), 0);
    let service = (2, vec![0], vec![(0, true, vec![0])]);
    let apps = files_of(&[(0, 0, vec![service])], &[(true, 0, vec![2, 3])], &mut places);
    let mut draft = Draft { apps, ..Draft::default() };
    let fault = AppFileFault { origin: places.next(), message: "no zone".to_owned() };
    let bad = PublishingRecord { fault: Some(fault), state: RecordState::Unknown, ..record("bind", places.next()) };
    add(&mut draft, &[bad, record("etcd", places.next())], &files);
    let kinds: Vec<(Arc<str>, bool)> = draft
        .published
        .entries
        .iter()
        .map(|entry| {
            let source = &draft.published.sources[usize::from(entry.source)];
            (Arc::clone(&source.name), matches!(entry.content, EntryContent::Bad(..)))
        })
        .collect();
    assert_eq!(kinds, [("bind".into(), true), ("etcd".into(), false)]);
}
