//! What is said of drift.

use super::*;
use crate::change::RrsetText;
use crate::drift::{of_one_target, strays};
use crate::inventory::value::{Duration, Time};
use crate::plan::fixture::{self, fleet, zone};
use crate::plan::{NoticeCode, Plan, SealedPlan};
use crate::report::schema::tests::check_one;
use crate::report::{SchemaKind, TextOptions};
use crate::state::{ApplyId, WrittenRrset};

/// When it is looked.
fn now() -> Time {
    "2026-11-20T02:00:00Z".parse().unwrap()
}

/// What an apply left, so many seconds ago.
fn left(apply: u64, seconds: u64, after: Option<RrsetText>) -> Option<WrittenRrset> {
    Some(WrittenRrset {
        apply: ApplyId(apply),
        number: 1,
        is_new: false,
        at: now().minus(Duration::from_secs(seconds)),
        after,
    })
}

/// What is desired and what is there, as the journal keeps it.
fn sides(change: &Change) -> (Option<RrsetText>, Option<RrsetText>) {
    let kept = |rrset: &crate::dns::Rrset| RrsetText {
        mark: None,
        ttl: rrset.ttl().as_secs(),
        rdata: rrset.rdata_texts(change.key.rtype),
    };
    (change.kind.after().map(kept), change.kind.before().map(kept))
}

/// The fleet of the fixtures, of which every change has something else behind it.
fn found(plan: &Plan) -> Vec<StrayedCopy> {
    let other = Some(RrsetText { mark: None, ttl: 60, rdata: vec!["2a02::\u{1b}[31m".into(), "2a02::2".into()] });
    let of_place = |(place, change): (usize, &Change)| {
        let (wanted, live) = sides(change);
        match (place % 7, change.project.as_str()) {
            (_, "lab") => None,
            (0..4, _) => left(12, 273_601, wanted),
            (4, _) => left(9, 400, other.clone()),
            (5, _) => left(12, 60, live),
            _ => None,
        }
    };
    strays(plan, of_one_target(plan.changes.iter().enumerate().map(of_place)), now())
}

/// The fixture as text.
fn text(plan: &Plan, strays: &[StrayedCopy], zones: &[ZoneName], options: &TextOptions) -> String {
    let known = Drift { plan, strays, place: ".zonewright/state.db", is_known: true };
    drift(&known, zones, ReportFormat::Text, options)
}

#[test]
fn what_drifted_comes_first() {
    let sealed = SealedPlan::new(fleet());
    let plan = sealed.plan();
    let shown = text(plan, &found(plan), &[], &TextOptions::default());
    insta::assert_snapshot!(shown, @r"
    Not everything could be read. What could not be read is not listed here.
    9 RRsets of 4 hosts have drifted; 14 RRsets of 5 hosts are not as desired in
      all.

    Drift: changed by another editor since an apply left or found it as desired
      - is live, + is desired
      Project search: 7 RRsets of 3 hosts
        host 100001, for at most 3d5h, since apply 12 of 2026-11-16T21:59:59Z
          removed PTR of 2a02:6b8:0:160b:0:1478:b508:9398 ttl 600
            + sas1-0001.search.example.net.
          added PTR of 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398 ttl 3600
            - sas1-0001.search.example.net.
          changed AAAA sas1-0001.search.example.net. ttl 3600 -> 600
            - 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398
            + 2a02:6b8:0:160b:0:1478:b508:9398
                              ^^^^^^^^^^^
        host 100007, for at most 3d5h, since apply 12 of 2026-11-16T21:59:59Z
          added AAAA sas1-0002.search.example.net. ttl 600
            - 2a02:6b8:0:160b:0:1478:b508:93a0
          removed AAAA sas1-0007.search.example.net. ttl 600
            + 2a02:6b8:0:160b:0:1478:b508:93a0
        host 100012, for at most 3d5h, since apply 12 of 2026-11-16T21:59:59Z
          changed AAAA sas1-0012.search.example.net. ttl 3600 -> 600
              2a02:6b8:0:160b:0:1478:b508:93b1
              2a02:6b8:0:160c:0:1478:b508:93b1
        no host and no file, for at most 3d5h, since apply 12 of
          2026-11-16T21:59:59Z
          added AAAA sas1-0931.search.example.net. ttl 600
            - 2a02:6b8:0:160b:0:1478:b508:1111

    Drift, and the inventory changed, too
      - is live, + is desired
      Project search: 1 RRset of 1 host
        host 100007, for at most 6m40s, since apply 9 of 2026-11-20T01:53:20Z
          removed PTR of 2a02:6b8:0:3f02:0:1478:b508:93a0 ttl 600
            + fb-sas1-0007.search.example.net.
            apply 9 left 2a02::\u{1b}[31m, 2a02::2, ttl 60
      Project web: 1 RRset of 1 host
        host 200017, for at most 6m40s, since apply 9 of 2026-11-20T01:53:20Z
          removed PTR of 178.154.132.91 ttl 3600
            + myt2-web-0017.web.example.net.
            apply 9 left 2a02::\u{1b}[31m, 2a02::2, ttl 60

    Not as desired, but no drift
      2 RRsets of 2 hosts: as an apply left them; the inventory changed since
      3 RRsets of 3 hosts: no known apply wrote them
      hint: `zonewright plan` shows what would be changed, and why

    Not listed here: 50 hosts blocked, 1205 hosts skipped (`zonewright plan` shows
      why)
    ");
    assert!(shown.lines().all(|line| line.len() <= 80), "{shown}");
}

#[test]
fn all_is_told_where_somebody_wants_it() {
    let sealed = SealedPlan::new(fleet());
    let plan = sealed.plan();
    let options = TextOptions { verbose: true, ..TextOptions::default() };
    let shown = text(plan, &found(plan), &[zone("web.example.net")], &options);
    insta::assert_snapshot!(shown, @r#"
    Not everything could be read. What could not be read is not listed here.
    2 RRsets of 1 host are not as desired; nothing drifted.
    12 RRsets more in other zones.

    Not as desired, but no drift
    1 RRset of 1 host: as an apply left them; the inventory changed since
      Project web: 1 RRset of 1 host
        host 200017, since apply 12 of 2026-11-20T01:59:00Z
          differs TXT aaaa-myt2-web-0017.web.example.net. ttl 3600
            + "heritage=external-dns,external-dns/owner=fleet-dns"
    1 RRset of 1 host: no known apply wrote them
      Project web: 1 RRset of 1 host
        host 200017
          differs AAAA myt2-web-0017.web.example.net. ttl 3600
              2a02:6b8:0:51a::b29a:845b
            - 2a02:6b8:0:51a::b29a:845c
      hint: `zonewright plan` shows what would be changed, and why

    Not listed here: 50 hosts blocked, 1205 hosts skipped (`zonewright plan` shows
      why)
    "#);
}

#[test]
fn many_are_counted() {
    let of_host = |inv: u64| {
        (0..9).map(move |number| {
            let name = format!("h{inv}-{number}.search.example.net");
            let sides = ((0, &[][..]), (600, &["2a02::1"][..]));
            fixture::change(("search", Some(inv)), (&name, crate::dns::Rtype::AAAA), sides, &[])
        })
    };
    let sealed = SealedPlan::new(Plan { changes: (0..9).flat_map(of_host).collect(), ..fixture::empty() });
    let plan = sealed.plan();
    let written = of_one_target(plan.changes.iter().map(|change| left(3, 59, sides(change).0)));
    let strays = strays(plan, written, now());
    let shown = text(plan, &strays, &[], &TextOptions::default());
    assert_eq!(shown.lines().filter(|line| line.contains("removed AAAA")).count(), 25, "{shown}");
    assert!(shown.contains("\n      and 4 RRsets more (-v lists all)\n"), "{shown}");
    assert!(shown.ends_with("\n    and 36 RRsets of 4 hosts more (-v lists all)\n"), "{shown}");
    let whole = text(plan, &strays, &[], &TextOptions { verbose: true, ..TextOptions::default() });
    assert_eq!(whole.lines().filter(|line| line.contains("removed AAAA")).count(), 81);
}

#[test]
fn nothing_is_said_in_one_line() {
    let plan = fixture::empty();
    assert_eq!(text(&plan, &[], &[], &TextOptions::default()), "Live DNS is as desired.\n");
    let notice = |notice: &crate::plan::Notice| notice.code == NoticeCode::SourceUnknown;
    let notices = fleet().notices.into_iter().filter(notice).collect();
    let shown = text(&Plan { notices, ..plan }, &[], &[], &TextOptions::default());
    assert_eq!(
        shown,
        "Not everything could be read. What could not be read is not listed here.\nWhat could be compared is as desired.\n"
    );
}

#[test]
fn without_a_state_nothing_is_told_as_drift() {
    let sealed = SealedPlan::new(fleet());
    let plan = sealed.plan();
    let strays = strays(plan, of_one_target(plan.changes.iter().map(|_| None)), now());
    let unknown = Drift { plan, strays: &strays, place: ".zonewright/state.db", is_known: false };
    insta::assert_snapshot!(drift(&unknown, &[], ReportFormat::Text, &TextOptions::default()), @"
    Not everything could be read. What could not be read is not listed here.
    14 RRsets of 5 hosts are not as desired; nothing drifted.
    No state yet at .zonewright/state.db: past applies are not known, so nothing is
      listed as drift.

    Not as desired, but no drift
      14 RRsets of 5 hosts: no known apply wrote them
      hint: `zonewright plan` shows what would be changed, and why

    Not listed here: 50 hosts blocked, 1205 hosts skipped (`zonewright plan` shows
      why)
    ");
}

#[test]
fn the_document_fits_its_schema() {
    let sealed = SealedPlan::new(fleet());
    let plan = sealed.plan();
    let strays = found(plan);
    let known = Drift { plan, strays: &strays, place: ".zonewright/state.db", is_known: true };
    for (plan, strays, zones) in
        [(plan, &strays[..], vec![]), (&fixture::empty(), &[], vec![]), (plan, &strays, vec![zone("web.example.net")])]
    {
        let document = drift(&Drift { plan, strays, ..known }, &zones, ReportFormat::Json, &TextOptions::default());
        assert_eq!(check_one(SchemaKind::Drift, serde_json::from_str(&document).unwrap()), "");
    }
    let document = drift(&known, &[], ReportFormat::Json, &TextOptions::default());
    let mut document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let counts: u64 = document["counts"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counts as usize, plan.changes.len());
    let first = document["rrsets"].as_array().unwrap().iter().find(|rrset| rrset["class"] == "drift").unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(first).unwrap(), @r#"
    {
      "class": "drift",
      "for_at_most": 273601,
      "host": 100001,
      "kind": "removed",
      "live": null,
      "name": "8.9.3.9.8.0.5.b.8.7.4.1.0.0.0.0.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
      "project": "search",
      "since": {
        "apply": 12,
        "at": "2026-11-16T21:59:59Z"
      },
      "target": null,
      "type": "PTR",
      "wanted": {
        "rdata": [
          "sas1-0001.search.example.net."
        ],
        "ttl": 600
      },
      "written": {
        "after": {
          "rdata": [
            "sas1-0001.search.example.net."
          ],
          "ttl": 600
        },
        "apply": 12,
        "at": "2026-11-16T21:59:59Z"
      },
      "zone": "0.0.8.b.6.0.2.0.a.2.ip6.arpa."
    }
    "#);
    document["rrsets"][0]["class"] = "odd".into();
    assert_ne!(check_one(SchemaKind::Drift, document), "");
}
