//! Reports of MACs.

use super::*;

#[test]
fn reports_are_sorted_by_host() {
    let first = "{\"inv\":9,\"time\":\"2026-11-20T12:05:00Z\",\"mac\":\"78e3b5089398\",\"new\":{\"x\":[1]}}\n";
    let lines = format!(
        "{first}{}{}\n",
        report("\"mac\":\"78-e3-b5-08-93-98\",\"switch\":\"sas1\\u002ds1\",\"port\":null,\"active\":true"),
        report("\"mac\":\"78:e3:b5:08:93:99\",\"active\":false,\"switch\":\"\""),
    );
    let outcome = read("mac", &lines);
    assert_eq!(outcome.text(), "");
    let reports = outcome.reports();
    let [active, inactive, other] = &reports[..] else { panic!("three reports") };
    assert_eq!((active.inv, inactive.inv, other.inv), (Inv(7), Inv(7), Inv(9)));
    let switch = Some(outcome.symbol("sas1-s1"));
    assert!(matches!(active.sighting, Sighting::Active { switch: found, .. } if found == switch));
    assert!(matches!(inactive.sighting, Sighting::Inactive { .. }));
    assert_eq!((other.origin.line, outcome.draft.mac_sources[0].name.as_str()), (1, "mac"));
}

#[test]
fn bad_reports_freeze_their_host_where_it_and_their_time_can_be_read() {
    for (line, code, frozen) in [
        (report("\"mac\":\"78:e3:b5:08:93\""), "bad-mac", true),
        (report("\"mac\":\"01:00:5e:00:00:01\""), "bad-mac", true),
        (report("\"mac\":\"00:00:00:00:00:00\""), "bad-mac", true),
        (report("\"mac\":1"), "bad-report", true),
        (report("\"x\":1"), "bad-report", true),
        (report("\"mac\":\"78e3b5089398\",\"active\":\"no\""), "bad-report", true),
        (report("\"mac\":\"78e3b5089398\",\"switch\":\"a\\u0000\""), "bad-report", true),
        (report("\"mac\":\"78e3b5089398\",\"mac\":\"78e3b5089398\""), "bad-json", true),
        ("{\"inv\":7,\"mac\":\"78e3b5089398\"}\n".into(), "bad-report", false),
        ("{\"time\":\"today\",\"inv\":7,\"mac\":\"78e3b5089398\"}\n".into(), "bad-time", false),
        ("{\"time\":\"2026-11-20T12:00:00Z\",\"inv\":-7,\"mac\":\"78e3b5089398\"}\n".into(), "bad-report", false),
        ("{\"time\":\"2026-11-20T12:00:00Z\",\"inv\":\"7\",\"mac\":\"78e3b5089398\"}\n".into(), "bad-report", false),
        ("[1]\n".into(), "bad-json", false),
        ("{\n".into(), "bad-json", false),
        (format!("{}\n", "[".repeat(10_000)), "bad-json", false),
    ] {
        let outcome = read("mac", &line);
        assert!(outcome.codes().contains(&code), "{line}: {:?}", outcome.codes());
        assert_eq!((outcome.tally.bad, outcome.doubt()), (1, "known"), "{line}");
        let found: Vec<_> = outcome.reports().iter().map(|report| report.sighting).collect();
        assert_eq!(found, if frozen { vec![Sighting::Bad] } else { vec![] }, "{line}");
    }
}

#[test]
fn reports_from_the_future_are_reported_but_freeze_no_host() {
    let mac = "78:e3:b5:08:93:98".parse().ok();
    for (rest, mac) in
        [("\"mac\":\"78e3b5089398\"", mac), ("\"mac\":\"78e3b5089398\",\"active\":false", mac), ("\"mac\":1", None)]
    {
        let outcome = read("mac", &format!("{{\"time\":\"2026-11-20T12:05:01Z\",\"inv\":7,{rest}}}\n"));
        assert!(outcome.codes().contains(&"future-report"), "{rest}: {:?}", outcome.codes());
        assert_eq!((outcome.tally.bad, outcome.doubt()), (1, "known"), "{rest}");
        let found: Vec<_> = outcome.reports().iter().map(|report| report.sighting).collect();
        assert_eq!(found, [Sighting::Ahead { mac }], "{rest}");
    }
}

#[test]
fn a_cut_report_is_one_bad_row() {
    let line = report("\"mac\":\"78e3b5089398\"");
    let outcome = read("mac", &format!("{line}{}", line.trim_end()));
    insta::assert_snapshot!(outcome.text(), @r#"
    mac-1:2:1: error[cut-line]: the last line has no end
      2 | {"time":"2026-11-20T01:00:00Z","inv":7,"mac":"78e3b5089398"}
        = rule: every line ends with a newline; the last one may be incomplete without it (zonewright help cut-line)
        = hint: export again; append whole lines only
    "#);
    assert_eq!((outcome.doubt(), outcome.tally.bad), ("known", 1));
    let sightings: Vec<_> = outcome.reports().iter().map(|report| report.sighting == Sighting::Bad).collect();
    assert_eq!(sightings, [false, true]);
}
