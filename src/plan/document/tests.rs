//! What holds of the document in both directions.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::super::fixture::{self, fleet};
use super::super::*;
use super::*;
use crate::change::AffectedHost;
use crate::claim::{OrphanName, Subject};
use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::inventory::value::{Duration, Inv, Time};
use crate::plan::{SealedPlan, TxtFormSeen};
use crate::registry::Registry;

/// `sha256:` and the digest of a value's canonical text, made by a library that shares no code with ours.
fn independent_digest(value: &serde_json::Value) -> String {
    let canonical = serde_jcs::to_vec(value).unwrap();
    Sha256::digest(canonical).iter().fold("sha256:".to_owned(), |text, octet| format!("{text}{octet:02x}"))
}

/// A review of so many changes: two causes, or one, with a base or without.
fn reviewed(count: u32, seed: u64, text: String) -> Review {
    let is_based = seed.is_multiple_of(3);
    let against = match seed % 3 {
        0 => ComparisonBase::Base { name: text.clone(), commit: seed.is_multiple_of(2).then(|| "0f".repeat(20)) },
        1 => ComparisonBase::Journal { apply: seed, at: "2026-11-20T01:30:00Z".parse().unwrap() },
        _ => ComparisonBase::Nothing,
    };
    let cause = |class: ChangeClass, changes: Vec<u32>| Cause {
        class: is_based.then_some(class),
        kind: CauseKind::ALL[(seed % CauseKind::ALL.len() as u64) as usize],
        says: text.clone(),
        places: vec![text.clone()],
        is_explained: seed.is_multiple_of(2),
        changes,
    };
    let (first, second) = ((0..count).step_by(2).collect(), (1..count).step_by(2).collect::<Vec<u32>>());
    let causes = [cause(ChangeClass::Caused, first), cause(ChangeClass::Pending, second)];
    let causes = causes.into_iter().filter(|cause| !cause.changes.is_empty()).collect();
    let newly_blocked = if is_based { vec![Subject::Host(Inv(3)), Subject::Host(Inv(seed | 4))] } else { Vec::new() };
    let mut review = Review { against, causes, settled: if is_based { seed } else { 0 }, newly_blocked };
    review.sort();
    review
}

/// A label of any octets.
fn label() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof!["[a-z0-9_-]{1,12}".prop_map(String::into_bytes), vec(any::<u8>(), 1..8)]
}

/// One of two zones, and a name at or below its apex.
fn owner() -> impl Strategy<Value = (ZoneName, Name)> {
    let zone = prop_oneof![Just(fixture::zone("example.net")), Just(fixture::zone("8.b.6.0.2.0.a.2.ip6.arpa"))];
    (zone, vec(label(), 0..3)).prop_map(|(zone, labels)| {
        let below = |name: Name, label: &Vec<u8>| Name::prepend(label, name.as_name()).unwrap();
        let name = labels.iter().fold(zone.as_name().to_name(), below);
        (zone, name)
    })
}

/// RDATA of a type.
fn rdata(rtype: Rtype) -> BoxedStrategy<Rdata> {
    match rtype {
        Rtype::AAAA => {
            any::<u128>().prop_map(|bits| Rdata::from_address(std::net::Ipv6Addr::from(bits).into())).boxed()
        }
        Rtype::PTR => owner().prop_map(|(_, name)| Rdata::from_name(name.as_name())).boxed(),
        _ => vec("\\PC{0,20}", 1..3)
            .prop_map(|texts| {
                let quoted: Vec<String> = texts.iter().map(|text| format!("{:?}", text.replace('\\', "/"))).collect();
                Rdata::parse(Rtype::TXT, &quoted.join(" ").replace("\\u{", "{")).unwrap()
            })
            .boxed(),
    }
}

/// An RRset of a type.
fn rrset(rtype: Rtype) -> impl Strategy<Value = Rrset> {
    (0..=0x7fff_ffffu64, vec(rdata(rtype), 1..4))
        .prop_map(|(ttl, rdata)| Rrset::new(Ttl::from_secs(ttl).unwrap(), rdata).unwrap())
}

/// A reason.
fn reason() -> impl Strategy<Value = Reason> {
    let places = vec("\\PC{0,20}:[0-9]{1,3}", 0..3);
    let rule = proptest::sample::select(Rule::ALL);
    (rule, subject(), places).prop_map(|(rule, subject, evidence)| Reason { evidence, rule, subject })
}

/// A subject of any kind.
fn subject() -> impl Strategy<Value = Subject> {
    let orphan =
        |(pool, (_, name)): (&str, (ZoneName, Name))| Subject::Orphan(OrphanName { pool: pool.parse().unwrap(), name });
    prop_oneof![
        any::<u64>().prop_map(|inv| Subject::Host(Inv(inv))),
        any::<u64>().prop_map(|inv| Subject::Released(Inv(inv))),
        (prop::sample::select(vec!["main", "main-2", "a.b"]), owner()).prop_map(orphan),
    ]
}

/// A change.
fn change() -> impl Strategy<Value = Change> {
    let rtype = proptest::sample::select(vec![Rtype::AAAA, Rtype::PTR, Rtype::TXT]);
    let data = rtype.prop_flat_map(|rtype| (Just(rtype), 0..3, rrset(rtype), rrset(rtype)));
    let whose = (subject(), btree_set(subject(), 0..3), btree_set("[ab]{1,2}", 0..3), "[a-z]{0,3}");
    (owner(), data, whose, vec(reason(), 1..4)).prop_map(
        |((zone, name), data, (subject, also, targets, project), reasons)| {
            let (rtype, kind, before, after) = data;
            let kind = match kind {
                0 => ChangeKind::Create { after },
                1 if before != after => ChangeKind::Modify { before, after },
                _ => ChangeKind::Delete { before },
            };
            let owner = zone.owner(name.as_name()).unwrap();
            let also = also.into_iter().filter(|other| *other != subject).collect();
            let (pool, key, targets) = (fixture::pool(), RrKey { owner, rtype }, targets.into_iter().collect());
            Change { pool, zone, key, subject, also, registers: None, via: None, targets, project, kind, reasons }
        },
    )
}

/// A host whose name loses an address.
fn affected(name: String, inv: Inv) -> AffectedHost {
    AffectedHost { project: name.clone(), name, subject: Subject::Host(inv) }
}

/// A host with a text for all that is known of it, or with a datacenter alone.
fn host_seen(text: String, inv: Inv) -> HostSeen {
    let given = inv.0.is_multiple_of(2).then(|| text.clone());
    HostSeen { name: given.clone(), location: text, switch: given.clone(), rack: given, ..HostSeen::default() }
}

/// A plan whose lists hold nothing twice, in any order.
fn plan() -> impl Strategy<Value = Plan> {
    let lists = (vec(change(), 0..8), vec("\\PC{0,9}", 0..4), vec(any::<u64>(), 0..4));
    (lists, any::<(u32, u64)>(), btree_set(owner(), 0..3)).prop_map(|((mut changes, texts, numbers), seen, zones)| {
        let mut known = std::collections::HashSet::new();
        changes.retain(|change| known.insert((change.zone.clone(), change.key.clone())));
        let text = |at: usize| texts.get(at % 4).cloned().unwrap_or_default();
        let hosts: std::collections::BTreeSet<Inv> = numbers.iter().copied().map(Inv).collect();
        let blocked = |(at, host): (usize, &Inv)| BlockedSubject {
            subject: Subject::Host(*host),
            project: text(at),
            code: BlockCode::ALL[at % BlockCode::ALL.len()],
            message: text(at + 1),
            hint: text(at + 2),
        };
        let created: Time = "2026-11-20T01:30:00.5Z".parse().unwrap();
        let waits = |change: &Change| DelayedRrset {
            zone: change.zone.clone(),
            key: change.key.clone(),
            pool: change.pool.clone(),
            subject: change.subject.clone(),
            project: change.project.clone(),
            rule: if change.subject.host().is_some() { Rule::Released } else { Rule::Orphan },
            since: (seen.0 % 2 == 0).then_some(created),
            due: (seen.0 % 2 == 0).then_some(created.plus(Duration::from_secs(seen.1 % 1000))),
        };
        let delayed = changes.iter().map(waits).collect();
        let left = |change: &Change| LeftBehindRrset {
            zone: change.zone.clone(),
            key: change.key.clone(),
            name: change.key.owner.as_name().to_name(),
            pool: change.pool.clone(),
            subject: change.subject.clone(),
            project: (seen.0 % 3 == 0).then(|| change.project.clone()),
            apply: (seen.0 % 2 == 0).then_some(seen.1),
        };
        let left_behind = changes.iter().map(left).collect();
        Plan {
            tool: text(0),
            created,
            expires: created.plus(Duration::from_secs(u64::from(seen.0))),
            workspace: WorkspaceSeen {
                owner: text(2),
                pools: Vec::new(),
                registry: Registry::ALL[seen.0 as usize % 3],
                txt: (seen.1 % 2 == 0).then(|| TxtFormSeen {
                    prefix: Some(text(1)),
                    suffix: None,
                    wildcard_replacement: None,
                }),
                id: (seen.0 % 2 == 0).then(|| text(3)),
            },
            undoes: (seen.1 % 2 == 0).then_some(seen.1 | 1),
            only: (seen.1 % 3 == 0 && !hosts.is_empty()).then(|| PlanScope {
                patterns: if seen.1 % 2 == 0 { vec!["record:*".parse().unwrap()] } else { Vec::new() },
                projects: Vec::new(),
                subjects: hosts.iter().rev().map(|inv| Subject::Host(*inv)).collect(),
            }),
            inputs: texts.iter().map(|text| (text.clone(), "0f".repeat(32))).collect(),
            fleet: (seen.1 % 2 == 1).then_some(seen.1),
            affected: hosts.iter().map(|host| affected(text(1), *host)).collect(),
            hosts: hosts.iter().map(|host| (*host, host_seen(text(host.0 as usize % 4), *host))).collect(),
            review: (!changes.is_empty()).then(|| reviewed(changes.len() as u32, seen.1, text(1))),
            changes,
            groups: Vec::new(),
            pods: Vec::new(),
            delayed,
            waiting: Vec::new(),
            waves: Vec::new(),
            stated: Vec::new(),
            left_behind,
            blocked: hosts.iter().rev().enumerate().map(blocked).collect(),
            skipped: hosts
                .iter()
                .map(|host| SkippedSubject { subject: Subject::Host(*host), project: text(3), code: SkipCode::Breaker })
                .collect(),
            notices: hosts
                .iter()
                .map(|host| Notice {
                    code: NoticeCode::ForeignName,
                    name: text(1),
                    subject: (host.0 % 2 == 0).then_some(Subject::Host(*host)),
                    message: host.to_string(),
                })
                .collect(),
            limits: hosts
                .iter()
                .map(|host| LimitState {
                    scope: text(2),
                    period: if host.0 % 2 == 0 { "1h30m" } else { "plan" }.to_owned(),
                    counts: if host.0 % 2 == 0 { LimitKind::Hosts } else { LimitKind::MaxDelete },
                    of: (host.0 % 2 == 1).then_some(seen.1),
                    cause: (host.0 % 3 == 0).then(|| text(1)),
                    frees: (host.0 % 5 == 0).then_some(created),
                    max: host.0,
                    used: seen.1,
                    planned: 0,
                    exceeded: seen.1 % 2 == 0,
                    setting: match host.0 % 3 {
                        0 => None,
                        _ => Some(LimitSetting { place: text(1), says: text(0) }),
                    },
                })
                .collect(),
            sources: (0..hosts.len())
                .map(|at| SourceSeen {
                    source: format!("{} {at:03}", text(4)),
                    rows: seen.1,
                    dated: (at % 2 == 0).then_some(created),
                    max_age: (at % 3 == 0).then(|| Duration::from_secs(3600)),
                })
                .collect(),
            zone_changes: Vec::new(),
            zones: zones
                .into_iter()
                .map(|(_, name)| ZoneSeen {
                    zone: ZoneName::new(name),
                    serial: Some(seen.0),
                    rrsets: seen.1,
                    managed: seen.1 / 2,
                    digest: "c4".repeat(32),
                    pool: fixture::pool(),
                    target: text(3),
                })
                .collect(),
        }
    })
}

proptest! {
    #[test]
    fn writing_and_reading_are_inverse(plan in plan()) {
        let sealed = SealedPlan::new(plan);
        let text = to_json(&sealed);
        let read = parse(&text);
        prop_assert_eq!(read.as_ref(), Ok(&sealed), "{}", text);
        prop_assert_eq!(to_json(&read.unwrap()), text);
    }

    #[test]
    fn order_in_memory_does_not_show(plan in plan(), turn in 0..8usize) {
        let mut turned = plan.clone();
        let by = turn.min(turned.changes.len());
        turned.changes.rotate_left(by);
        turned.blocked.reverse();
        turned.notices.reverse();
        turned.changes.iter_mut().for_each(|change| change.reasons.reverse());
        prop_assert_eq!(to_json(&SealedPlan::new(turned)), to_json(&SealedPlan::new(plan)));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*", at in 0..4000usize, octet in " -~") {
        let _ = parse(&text);
        let mut document = to_json(&SealedPlan::new(fleet()));
        document.replace_range(at..=at, &octet);
        let _ = parse(&document);
    }
}

#[test]
fn digests_are_what_an_independent_library_makes_of_the_document() {
    let sealed = SealedPlan::new(fleet());
    let mut document: serde_json::Value = serde_json::from_str(&to_json(&sealed)).unwrap();
    let fields = document.as_object_mut().unwrap();
    for left_out in ["id", "created", "expires"] {
        fields.remove(left_out).unwrap();
    }
    fields["workspace"].as_object_mut().unwrap().remove("id").unwrap();
    assert_eq!(sealed.id(), independent_digest(&document));
    let changes = document["changes"].as_array_mut().unwrap();
    for change in changes.iter_mut() {
        change.as_object_mut().unwrap().remove("reasons").unwrap();
    }
    assert_eq!(sealed.effect(), independent_digest(&document["changes"]));
}

#[test]
fn time_of_making_and_reasons_stay_out_of_the_digests() {
    let sealed = SealedPlan::new(fleet());
    let mut later = fleet();
    later.created = later.created.plus(Duration::from_secs(60));
    later.expires = later.expires.plus(Duration::from_secs(60));
    assert_eq!(SealedPlan::new(later).id(), sealed.id());
    let mut explained = fleet();
    explained.changes[0].reasons[0].evidence.clear();
    let explained = SealedPlan::new(explained);
    assert_eq!(explained.effect(), sealed.effect());
    assert_ne!(explained.id(), sealed.id());
}

#[test]
fn the_document_is_laid_out_for_people() {
    let mut plan = fixture::empty();
    plan.changes = vec![fleet().changes.remove(5)];
    plan.skipped = vec![fleet().skipped.remove(0)];
    plan.zones.truncate(1);
    insta::assert_snapshot!(to_json(&SealedPlan::new(plan)), @r#"
    {
      "blocked": [],
      "changes": [
        {
          "after": null,
          "also": ["host:100008"],
          "before": {"rdata": ["2a02:6b8:0:160b:0:1478:b508:93a0"], "ttl": 600},
          "name": "sas1-0002.search.example.net.",
          "pool": "main",
          "project": "search",
          "reasons": [{"evidence": ["agents/agent-1.jsonl:23", "racktables/l3-tors.txt:412", "projects/search.yaml:4"], "rule": "address-elsewhere", "subject": "host:100007"}, {"evidence": ["agents/agent-2.jsonl:9", "racktables/l3-tors.txt:412", "projects/search.yaml:4"], "rule": "address-elsewhere", "subject": "host:100008"}],
          "subject": "host:100007",
          "type": "AAAA",
          "zone": "search.example.net."
        }
      ],
      "created": "2026-11-20T01:30:00Z",
      "effect": "sha256:b2876825bde91746400b151c136bb9369f427ede0d8da47d392119e1e44957bc",
      "expires": "2026-11-21T01:30:00Z",
      "fleet": 62000,
      "format": "zonewright.plan/2",
      "id": "sha256:9c6ed6b5f24e70e46904444313191d693e9a0bbf0af488f7b7cef624e803a45b",
      "inputs": {
        "racktables/hosts.csv": "sha256:1111111111111111111111111111111111111111111111111111111111111111",
        "racktables/l3-tors.txt": "sha256:2222222222222222222222222222222222222222222222222222222222222222"
      },
      "limits": [],
      "notices": [],
      "skipped": [
        {
          "code": "automation-off",
          "project": "lab",
          "subject": "host:300100"
        }
      ],
      "tool": "zonewright 0.1.0",
      "waiting": [],
      "waves": [],
      "workspace": {
        "id": "2f61c0a49be07d352f61c0a49be07d35",
        "owner": "fleet-dns",
        "registry": "txt"
      },
      "zones": [
        {
          "digest": "sha256:abababababababababababababababababababababababababababababababab",
          "managed": 40620,
          "pool": "main",
          "rrsets": 81240,
          "serial": 2026112007,
          "target": "main",
          "zone": "0.0.8.b.6.0.2.0.a.2.ip6.arpa."
        }
      ]
    }
    "#);
}

/// Every edit, what it replaces, and the error it brings.
const EDITS: &[(&str, &str, &str)] = &[
    ("zonewright.plan/2", "zonewright.plan/1", "its format is `zonewright.plan/1`"),
    ("\"tool\": ", "\"tools\": ", "unknown field `tools`"),
    ("\"tool\": \"zonewright 0.1.0\",", "", "missing field `tool`"),
    ("\"tool\": ", "\"tool\": \"x\", \"tool\": ", "duplicate field `tool`"),
    ("zonewright 0.1.0", "zonewright 0.1.1", "does not match its `id`"),
    ("2026-11-20T01:30:00Z", "yesterday", "`yesterday` is not a time of RFC 3339"),
    ("racktables/hosts.csv\": \"sha256:1", "racktables/hosts.csv\": \"sha256:3", "does not match its `id`"),
    ("racktables/hosts.csv", "racktables/l3-tors.txt", "`racktables/l3-tors.txt` is there twice"),
    ("\"sha256:1111", "\"sha256:A111", "64 hexadecimal digits"),
    ("\"sha256:1111", "\"md5:1111", "64 hexadecimal digits"),
    ("\"subject\": \"host:300007\"", "\"subject\": null", "invalid type"),
    ("\"subject\": \"host:100001\"", "\"subject\": 100001", "invalid type"),
    ("\"subject\": \"host:100001\"", "\"subject\": \"host:-1\"", "`-1` is not an inventory number"),
    ("\"subject\": \"host:100001\"", "\"subject\": \"host:0100001\"", "should be written `host:100001`"),
    ("\"subject\": \"host:100001\"", "\"subject\": \"pods:a/b\"", "`pods:a/b` is not a subject"),
    ("\"subject\": \"released:300044\",", "\"subject\": \"released:300045\",", "its changes do not match its `effect`"),
    ("\"subject\": \"released:300044\",", "", "missing field `subject`"),
    ("orphan:main/sas1", "orphan:sas1", "is not a pool and a name"),
    ("\"pool\": \"main\"", "\"pool\": \"m/n\"", "`m/n` cannot be the name of a pool"),
    (", \"ttl\": 600", "", "missing field `ttl`"),
    ("\"ttl\": 600", "\"ttl\": 601", "its changes do not match its `effect`"),
    ("\"ttl\": 600", "\"ttl\": 2147483648", "the TTL 2147483648 is above 2147483647"),
    ("\"ttl\": 600", "\"ttl\": -1", "invalid value"),
    ("\"type\": \"AAAA\"", "\"type\": \"mx\"", "`mx` should be written `MX`"),
    ("\"type\": \"AAAA\"", "\"type\": \"PTR\"", "should be written"),
    ("[\"2a02:6b8:0:77::1\"]", "[\"2a02:6B8:0:77::1\"]", "should be written `2a02:6b8:0:77::1`"),
    ("[\"2a02:6b8:0:77::1\"]", "[\"192.0.2.1\"]", "is not valid RDATA of type AAAA"),
    ("[\"2a02:6b8:0:77::1\"]", "[]", "`rdata` is empty"),
    ("[\"2a02:6b8:0:77::1\"]", "[\"::2\", \"::1\"]", "`rdata` is not sorted"),
    ("\"name\": \"lab-old-3.example.net.\"", "\"name\": \"lab-old-3.example.org.\"", "is outside `example.net.`"),
    ("\"name\": \"lab-old-3.example.net.\"", "\"name\": \"Lab-old-3.example.net.\"", "should be written"),
    ("\"name\": \"lab-old-3.example.net.\"", "\"name\": \"lab..example.net.\"", "is not a name: an empty label"),
    ("\"also\": [\"host:100008\"]", "\"also\": []", "`also` is not a sorted list"),
    ("\"also\": [\"host:100008\"]", "\"also\": [\"host:100008\", \"host:100008\"]", "`also` is not a sorted list"),
    ("\"also\": [\"host:100008\"]", "\"also\": [\"host:100007\"]", "`also` is not a sorted list"),
    ("\"rule\": \"released\"", "\"rule\": \"relaxed\"", "`relaxed` is none of the words `missing`"),
    ("\"evidence\": [\"names.lock:902\"]", "\"evidence\": [\"names.lock:9\"]", "does not match its `id`"),
    (
        "{\"evidence\": [\"names.lock:902\"], \"rule\": \"released\", \"subject\": \"released:300044\"}",
        "",
        "`reasons` of `lab-old-3.example.net.` AAAA is not",
    ),
    ("\"project\": \"lab\",\n      \"reasons\"", "\"project\": \"zoo\",\n      \"reasons\"", "`changes` is not sorted"),
    ("\"code\": \"not-owner\"", "\"code\": \"not-a-code\"", "`not-a-code` is none of the words `bad-input`"),
    ("\"subject\": \"host:300007\"", "\"subject\": \"host:7\"", "`blocked` is not sorted"),
    ("\"period\": \"1d\"", "\"period\": \"daily\"", "`daily` is not a length of time"),
    ("\"exceeded\": true", "\"exceeded\": \"true\"", "invalid type"),
    ("\"serial\": 417", "\"serial\": 4294967296", "invalid value"),
    ("\"zones\": [", "\"zones\": [[],", "expected an object"),
    ("\"limits\": [", "\"left_behind\": [], \"limits\": [", "an empty list is left out here"),
    ("\"limits\": [", "\"only\": {\"projects\": [\"a\", \"a\"], \"subjects\": []}, \"limits\": [", "or one twice"),
    ("\"inputs\": {", "\"undoes\": 12, \"inputs\": {", "does not match its `id`"),
    ("\"inputs\": {", "\"undoes\": 0, \"inputs\": {", "invalid value"),
    ("\"inputs\": {", "\"undoes\": null, \"inputs\": {", "invalid type"),
    ("{\"rdata\": [\"2a02:6b8:0:77::1\"], \"ttl\": 3600}", "[[\"2a02:6b8:0:77::1\"], 3600]", "expected an object"),
];

#[test]
fn whatever_is_altered_is_refused_and_named() {
    let document = to_json(&SealedPlan::new(fleet()));
    for (from, to, error) in EDITS {
        let edited = document.replacen(from, to, 1);
        assert!(edited != document, "{from} is not in the document");
        let found = parse(&edited).unwrap_err().to_string();
        assert!(found.contains(error), "{from} to {to}: {found}");
    }
    for cut in [0, 1, 100, document.len() - 3] {
        assert!(matches!(parse(&document[..cut]), Err(PlanReadError::Malformed { .. })));
    }
}

#[test]
fn both_sides_alike_and_neither_side_are_no_change() {
    let mut plan = fixture::empty();
    plan.changes = vec![fleet().changes.remove(0)];
    let document = to_json(&SealedPlan::new(plan));
    let before = document.lines().find(|line| line.contains("\"before\"")).unwrap();
    let after = document.lines().find(|line| line.contains("\"after\"")).unwrap();
    for edited in [
        document.replace(after, &before.replace("before", "after")),
        document.replace(before, "\"before\": null,").replace(after, "\"after\": null,"),
    ] {
        let found = parse(&edited).unwrap_err().to_string();
        assert!(found.ends_with("`before` and `after` are the same"), "{found}");
    }
}

#[test]
fn one_rrset_has_one_change() {
    let mut plan = fleet();
    let mut twice = plan.changes[0].clone();
    twice.project = "web".to_owned();
    plan.changes.push(twice);
    let found = parse(&to_json(&SealedPlan::new(plan))).unwrap_err().to_string();
    assert_eq!(found, "`changes` holds `sas1-0001.search.example.net.` AAAA twice");
}
