//! An explanation tells the decision that a plan makes, in lines that fit a terminal, as a document that fits its
//! schema.

#[path = "support/fleet.rs"]
mod fleet;
mod support;

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;
use zonewright::explain::Explanation;
use zonewright::explain::model::{ChangeFacts, HostFacts};
use zonewright::inventory::value::{Inv, Time};
use zonewright::pipeline::explain::{MadeExplanation, explain};
use zonewright::pipeline::{PlanRequest, make_plan};
use zonewright::plan::{Change, Plan};
use zonewright::progress::{Progress, RunStage};
use zonewright::provider::cache::CacheUse;
use zonewright::report::{self, ReportFormat, SchemaKind, TextOptions};

/// Ignores all reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// A workspace as of a clock.
struct Workspace {
    /// Its folder.
    folder: PathBuf,
    /// The clock.
    now: Time,
}

impl Workspace {
    /// The demo.
    fn demo() -> Workspace {
        Workspace { folder: support::root().join("inventory"), now: "2026-11-20T02:00:00Z".parse().expect("a time") }
    }

    /// What is asked of it, for some hosts or all.
    fn request(&self, hosts: &[u64]) -> PlanRequest<'_> {
        let hosts = hosts.iter().map(ToString::to_string).collect();
        PlanRequest {
            adopt: None,
            asks_approvals: false,
            workspace: &self.folder,
            now: self.now,
            hosts,
            subjects: Vec::new(),
            projects: Vec::new(),
            live_snapshot: None,
            base: None,
            cache: CacheUse::Read,
            allow: &[],
        }
    }

    /// Its plan.
    fn plan(&self, hosts: &[u64]) -> Plan {
        make_plan(&self.request(hosts), &Silent).expect("the workspace has a plan").plan
    }

    /// What is said about something that it knows.
    fn explain(&self, asked: &str) -> Explanation {
        let MadeExplanation { explanation, .. } =
            explain(&self.request(&[]), asked, &Silent).expect("the settings are good");
        explanation.unwrap_or_else(|error| panic!("{asked}: {error}"))
    }

    /// The inventory numbers in its hosts.csv, each once.
    fn hosts(&self) -> Vec<u64> {
        let text = std::fs::read_to_string(self.folder.join("racktables/hosts.csv")).expect("it has a hosts.csv");
        let numbers = text.lines().filter_map(|line| line.split(',').next()?.parse().ok());
        numbers.collect::<BTreeSet<u64>>().into_iter().collect()
    }
}

/// A change, as far as both a plan and an explanation tell it.
type Told = (String, String, String, Option<Vec<String>>, Option<Vec<String>>);

/// A change of an explanation.
fn told(change: &ChangeFacts) -> Told {
    let data = |data: &Option<zonewright::explain::model::RrsetData>| data.as_ref().map(|data| data.rdata.clone());
    let ChangeFacts { zone, name, rtype, .. } = change;
    (zone.clone(), name.clone(), rtype.clone(), data(&change.before), data(&change.after))
}

/// The changes of an explanation.
fn all_told(changes: &[ChangeFacts]) -> BTreeSet<Told> {
    changes.iter().map(told).collect()
}

/// The changes of a plan that are one host's.
fn planned(plan: &Plan, inv: u64) -> BTreeSet<Told> {
    let own = plan.changes.iter().filter(|change| change.subject.host() == Some(Inv(inv)));
    let told = |change: &Change| {
        let rtype = change.key.rtype;
        let before = change.kind.before().map(|data| data.rdata_texts(rtype));
        let after = change.kind.after().map(|data| data.rdata_texts(rtype));
        (change.zone.to_string(), change.key.owner.to_string(), rtype.to_string(), before, after)
    };
    own.map(told).collect()
}

/// Holds what is said about a host against the plan; gives what differs.
fn compare(plan: &Plan, host: &HostFacts) -> Result<(), String> {
    let decision = &host.decision;
    let blocked = plan.blocked.iter().find(|blocked| blocked.subject.host() == Some(Inv(host.inv)));
    let skipped = plan.skipped.iter().find(|skipped| skipped.subject.host() == Some(Inv(host.inv)));
    let first =
        decision.obstacles.first().map(|first| (first.code.as_str(), first.message.as_str(), first.hint.as_str()));
    let wanted = blocked.map(|blocked| (blocked.code.as_str(), blocked.message.as_str(), blocked.hint.as_str()));
    if first != wanted {
        return Err(format!("blocked {wanted:?}, said {first:?}"));
    }
    if decision.skipped != skipped.map(|skipped| skipped.code.as_str()) {
        return Err(format!("skipped {skipped:?}, said {:?}", decision.skipped));
    }
    if all_told(&decision.changes) != planned(plan, host.inv) {
        return Err("other changes".to_owned());
    }
    Ok(())
}

/// Holds what is said about every host of a workspace against its plan.
fn check_all(workspace: &Workspace) {
    let plan = workspace.plan(&[]);
    let hosts = workspace.hosts();
    assert!(!hosts.is_empty());
    for inv in hosts {
        let explanation = workspace.explain(&inv.to_string());
        let host = explanation.host.as_ref().expect("a host was asked for");
        // Of several rows with the same number, all of them bad, any one represents the host.
        let is_one = host.row.as_ref().is_some_and(|row| row.also.is_empty());
        if let (true, Err(difference)) = (is_one, compare(&plan, host)) {
            panic!("{}: host {inv}: {difference}", workspace.folder.display());
        }
        if let Some(by_hand) = &host.decision.by_hand {
            let named = workspace.plan(&[inv]);
            assert_eq!(all_told(&by_hand.changes), planned(&named, inv), "host {inv} by hand");
            let code = named
                .blocked
                .iter()
                .find(|blocked| blocked.subject.host() == Some(Inv(inv)))
                .map(|blocked| blocked.code.as_str());
            assert_eq!(by_hand.obstacles.first().map(|first| first.code.as_str()), code, "host {inv} by hand");
        }
    }
}

#[test]
fn every_host_of_the_demo_gets_the_decision_of_the_plan() {
    check_all(&Workspace::demo());
}

#[test]
fn every_host_of_random_fleets_gets_the_decision_of_the_plan() {
    let Some(python) = support::python() else { return support::skip("there is no Python 3.11") };
    for seed in 1..=6 {
        let folder = tempfile::tempdir().expect("a folder can be made");
        fleet::write(&python, seed, folder.path());
        let args = fleet::args(folder.path());
        let clock = args.iter().position(|arg| arg == "--now").map(|place| args[place + 1].parse().unwrap());
        let now = clock.expect("a fleet has a clock");
        if make_plan(&Workspace { folder: folder.path().into(), now }.request(&[]), &Silent).is_ok() {
            check_all(&Workspace { folder: folder.path().into(), now });
        }
    }
}

/// Questions about the demo, one of each kind.
const QUESTIONS: [&str; 14] = [
    "100105",
    "sas0-0005",
    "fb-sas0-0005.search.example.net",
    "vla0-0005.search.example.net",
    "cld-sas-090.cloud.example.net",
    "balancer.search.example.net",
    "leftover.pods.cloud.example.net.",
    "search.example.net",
    "myt0-0042.search.example.net",
    "2a02:6b8:0:160c:0:1478:b508:9410",
    "178.154.132.12",
    "2001:db8::1",
    "203.0.113.1",
    "0.1.4.9.8.0.5.b.8.7.4.1.0.0.0.0.c.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa",
];

#[test]
fn documents_fit_the_schema() {
    let demo = Workspace::demo();
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema: Value = serde_json::from_str(report::schema(SchemaKind::Explain)).unwrap();
    compiler.add_resource("file:///schema.json", schema).unwrap();
    let index = compiler.compile("file:///schema.json", &mut schemas).unwrap();
    let hosts = demo.hosts().into_iter().map(|inv| inv.to_string());
    for asked in hosts.chain(QUESTIONS.map(str::to_owned)) {
        let text = report::explanation(&demo.explain(&asked), ReportFormat::Json, &TextOptions::default());
        let document: Value = serde_json::from_str(&text).unwrap();
        assert!(
            schemas.validate(&document, index).is_ok(),
            "{asked}: {:#}",
            schemas.validate(&document, index).unwrap_err()
        );
        let mut more = document.clone();
        more["more"] = Value::Null;
        assert!(schemas.validate(&more, index).is_err(), "{asked}");
    }
}

#[test]
fn text_fits_eighty_columns_where_blanks_let_it() {
    let demo = Workspace::demo();
    let hosts = demo.hosts().into_iter().map(|inv| inv.to_string());
    for asked in hosts.chain(QUESTIONS.map(str::to_owned)) {
        let text = report::explanation(&demo.explain(&asked), ReportFormat::Text, &TextOptions::default());
        // A name or data without blanks stick out whole.
        let long =
            text.lines().find(|line| line.len() > 80 && line.trim().contains(' ') && !line.contains("heritage="));
        assert_eq!(long, None, "{asked}");
        assert!(text.lines().all(|line| line.trim_end() == line), "{asked}:\n{text}");
        assert!(!text.contains('\u{1b}'), "{asked}");
    }
}

#[test]
fn a_reverse_name_stands_for_its_address() {
    let demo = Workspace::demo();
    let [.., by_name] = QUESTIONS;
    assert_eq!(demo.explain(by_name), demo.explain("2a02:6b8:0:160c:0:1478:b508:9410"));
}

#[test]
fn an_ipv4_address_may_be_written_as_an_ipv6_one() {
    let demo = Workspace::demo();
    assert_eq!(demo.explain("::ffff:178.154.132.201"), demo.explain("178.154.132.201"));
}

#[test]
fn the_records_of_a_released_name_go_only_where_a_plan_says_so() {
    let (demo, all) = (Workspace::demo(), Workspace::demo().plan(&[]));
    for (inv, name) in [
        (100302, "myt0-0042.search.example.net."),
        (120309, "stmyt-09.storage.example.net."),
        (140320, "lab-009.lab.example.net."),
    ] {
        let host = demo.explain(&inv.to_string()).host.expect("a chain");
        let said: Vec<&str> =
            host.other_names.iter().filter(|own| own.released.is_some()).map(|own| &*own.said).collect();
        let [said] = said[..] else { panic!("one name that {inv} had: {said:?}") };
        let goes = all.changes.iter().any(|change| change.key.owner.to_string() == name);
        assert_eq!(said.ends_with("its records are removed"), goes, "{said}");
    }
}

#[test]
fn a_host_that_is_planned_though_it_is_switched_off_says_why() {
    let demo = Workspace::demo();
    let although = |asked: &str| demo.explain(asked).host.and_then(|host| host.decision.although);
    assert!(although("140301").is_some_and(|why| why.contains("first publication")));
    assert_eq!(although("140302").or(although("100110")).or(although("100101")), None);
}

#[test]
fn a_host_that_hosts_csv_lacks_has_the_name_that_names_lock_gives_it() {
    let host = Workspace::demo().explain("cld-sas-050").host.expect("a chain");
    assert_eq!(
        (host.inv, host.name.map(|name| name.name)),
        (110150, Some("cld-sas-050.cloud.example.net.".to_owned()))
    );
    assert_eq!(host.other_names, []);
}

#[test]
fn a_report_from_the_future_is_reported() {
    let host = Workspace::demo().explain("110206").host.expect("a chain");
    let verdicts: Vec<&str> = host.reports.iter().map(|report| report.verdict).collect();
    assert_eq!(verdicts, ["won", "future"]);
}

#[test]
fn hosts_are_found_by_their_first_label() {
    let demo = Workspace::demo();
    let whole = demo.explain("SAS0-0005.search.example.net.");
    assert_eq!(demo.explain("sas0-0005"), whole);
    assert_eq!(whole.host, demo.explain("100105").host);
}

#[test]
fn what_cannot_be_found_is_an_error_with_a_hint() {
    for asked in ["999", "no-such-name", "www.example.org", "a..b", "2a02:6b8::/64", ""] {
        let folder = Workspace::demo().folder.display().to_string();
        let args = ["explain", asked, "-C", &folder, "--now", "2026-11-20T02:00:00Z"].map(str::to_owned);
        let output = support::zonewright(&args, None);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{asked}");
        let (_, error) = text.split_once("\nerror: ").unwrap_or_else(|| panic!("{asked}: {text}"));
        assert!(error.contains("  = hint: "), "{asked}: {error}");
    }
}
