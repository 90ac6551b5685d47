//! Zones in Route 53, as a strict double of it answers: what is there after applies, writers that race, applies that are
//! killed, and what is undone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::doubles::faults::{Fault, FaultKind};
use crate::doubles::http::DoubleServer;
use crate::doubles::route53::Route53Double;
use crate::doubles::route53::rrset::DoubleRrset;
use crate::doubles::route53::rules::ChangeSettling;
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::etcd::{PROJECT, Rrsets, SETTINGS, one, random_rrsets, write_stated};
use crate::http_way::{FAULTS, HttpFault, Way};
use crate::planted::Dice;
use crate::race::race;
use crate::rig::{Applied, Planned, apply_command, apply_in, plan_in, quiet_in, resume_in, text_of};
use crate::workspace::another;

/// The keys that the double knows.
const KEYS: (&str, &str) = ("AKIDEXAMPLE", "secret/of+example");

/// A workspace whose zones are in an account of Route 53.
struct Account {
    /// The service.
    double: Arc<Route53Double>,
    /// The way to it.
    server: DoubleServer,
    /// The workspace.
    folder: TempDir,
    /// The zones, without the final dot, each with its id.
    zones: Vec<(String, String)>,
}

impl Account {
    /// One with so many zones.
    fn new(zones: usize) -> Account {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let double = Arc::new(Route53Double::new(KEYS, move || i64::try_from(now()).expect("a time")));
        // The pace of the account has tests of its own, by a clock of their own.
        double.set_rules(|rules| {
            rules.requests_a_second = None;
            rules.settling = ChangeSettling::AtOnce;
        });
        let zone = |number| {
            let name = format!("z{number}.example");
            let id = double.create_zone(&name, false);
            (name, id)
        };
        let zones = (0..zones).map(zone).collect();
        let server = DoubleServer::start(Arc::clone(&double));
        let account = Account { double, server, folder: tempfile::tempdir().expect("a folder"), zones };
        for folder in ["octo", "keys"] {
            fs::create_dir(account.path().join(folder)).expect("a folder");
        }
        let keys = json!({"Version": 1, "AccessKeyId": KEYS.0, "SecretAccessKey": KEYS.1});
        let file = account.path().join("keys/aws.json");
        fs::write(&file, keys.to_string()).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
        fs::write(account.path().join("p.yaml"), PROJECT).expect("a file");
        account.configure(&account.server.url());
        account.zones.iter().for_each(|(zone, _)| account.state(zone, &Rrsets::new()));
        account
    }

    /// Writes the settings, with the API at this URL.
    fn configure(&self, url: &str) {
        let target = format!(
            "type = \"route53\"\nendpoint = \"{url}\"\ncredentials = {{ secret_file = \"keys/aws.json\" }}\n\
             requests_per_second = 1000\ntimeout = \"5s\"\n"
        );
        let zone = |(zone, _): &(String, String)| {
            format!("[[zone]]\nname = \"{zone}\"\npool = \"main\"\npermission = \"full\"\n")
        };
        let zones: String = self.zones.iter().map(zone).collect();
        let text = format!("{SETTINGS}[pool.main]\n[[pool.main.target]]\n{target}{zones}");
        fs::write(self.path().join("zonewright.toml"), text).expect("a file");
    }

    /// The workspace.
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// States what a zone is to hold.
    fn state(&self, zone: &str, rrsets: &Rrsets) {
        write_stated(self.path(), zone, rrsets);
    }

    /// States random RRsets for all zones.
    fn state_random(&self, dice: &mut Dice) -> BTreeMap<String, Rrsets> {
        let random = |(zone, _): &(String, String)| (zone.clone(), random_rrsets(zone, dice));
        let wanted: BTreeMap<String, Rrsets> = self.zones.iter().map(random).collect();
        wanted.iter().for_each(|(zone, rrsets)| self.state(zone, rrsets));
        wanted
    }

    /// Plans and applies; all must be applied.
    fn apply_all(&self) -> Planned {
        let plan = plan_in(self.path(), &[]);
        assert_eq!(plan.document["blocked"], json!([]), "{:#}", plan.document["blocked"]);
        let applied = apply_in(self.path(), &plan.file, &[]);
        assert_eq!(applied.exit, Some(0), "{}", applied.said());
        plan
    }

    /// What a zone holds, without its apex records and the marker.
    fn held(&self, id: &str) -> Rrsets {
        let own =
            |set: &DoubleRrset| !matches!(set.rtype.as_str(), "SOA" | "NS") && !set.name.starts_with("_zonewright.");
        let types = ["A", "AAAA", "CNAME", "TXT"];
        let sets = self.double.rrsets(id).into_iter().filter(own);
        sets.map(|set| {
            let rtype = types.into_iter().find(|rtype| *rtype == set.rtype).expect("a type of these tests");
            let values = set.values.iter().map(|value| value.trim_matches('"').to_owned()).collect();
            ((set.name.clone(), rtype), (u64::from(set.ttl.expect("a plain set")), values))
        })
        .collect()
    }

    /// Where a zone holds something else than it is to.
    fn faults(&self, wanted: &BTreeMap<String, Rrsets>) -> Vec<String> {
        let mut faults = Vec::new();
        for (zone, id) in &self.zones {
            let held = self.held(id);
            if held != wanted[zone] {
                faults.push(format!("{zone} holds {held:?}, and not {:?}", wanted[zone]));
            }
        }
        faults
    }
}

#[test]
fn random_zones_hold_what_is_stated() {
    let account = Account::new(10);
    let (mut dice, mut rrsets) = (Dice(7), 0);
    for round in 0..10 {
        let wanted = account.state_random(&mut dice);
        account.apply_all();
        assert!(account.faults(&wanted).is_empty(), "round {round}: {}", account.faults(&wanted).join("\n"));
        let again = plan_in(account.path(), &[]);
        assert!(again.changes().is_empty(), "round {round}: {:#}", again.document["changes"]);
        rrsets += wanted.values().map(BTreeMap::len).sum::<usize>();
    }
    assert!(rrsets > 100, "{rrsets}");
    let verbs = account.double.requests().into_iter().flat_map(|request| request.changes).map(|change| change.action);
    let verbs: BTreeSet<&str> = verbs.collect();
    assert_eq!(verbs, BTreeSet::from(["CREATE", "DELETE"]), "nothing is written over");
}

/// Every request of an apply meets every fault of a network: what is not made at once is made by `resume` or by the next plan.
#[test]
fn an_apply_whose_requests_meet_faults_is_completed() {
    let account = Account::new(1);
    let (mut dice, mut resumed, mut completed) = (Dice(11), 0, 0);
    let port = account.server.url().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
    for fault in FAULTS {
        for at in 1.. {
            let wanted = account.state_random(&mut dice);
            let plan = plan_in(account.path(), &[]);
            let way = Way::new(port, fault, at);
            account.configure(&format!("http://127.0.0.1:{}", way.port));
            let mut command = apply_command(account.path(), &plan.file, &[]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
            way.process.store(child.id() as usize, Ordering::SeqCst);
            let applied = Applied::new(child.wait_with_output().expect("a child"));
            let count = way.count.load(Ordering::SeqCst);
            // What is late may still come.
            thread::sleep(Duration::from_millis(if fault == HttpFault::Late { 200 } else { 0 }));
            account.configure(&account.server.url());
            let again = if applied.exit == Some(0) { applied } else { resume_in(account.path()) };
            let has_done = again.document["hosts"].as_array().is_some_and(|own| !own.is_empty());
            if again.exit == Some(0) && has_done {
                if again.document["resumed"].is_null() {
                    completed += 1
                } else {
                    resumed += 1
                }
                let faults = account.faults(&wanted);
                assert!(faults.is_empty(), "{fault:?} at {at}: {}\n{}", faults.join("\n"), again.said());
            }
            if again.exit != Some(0) || !has_done {
                account.apply_all();
            }
            let faults = account.faults(&wanted);
            assert!(faults.is_empty(), "{fault:?} at {at}: {}", faults.join("\n"));
            if count < at {
                break;
            }
        }
    }
    assert!(resumed + completed > 20, "{resumed} were resumed, and {completed} ended by themselves");
}

/// Every request of an apply meets what the service itself may do: the apply goes on by itself, or `resume` ends it.
#[test]
fn an_apply_that_the_service_troubles_is_completed() {
    let account = Account::new(1);
    let mut dice = Dice(13);
    let kinds = [
        FaultKind::DropAfter,
        FaultKind::FailBefore,
        FaultKind::FailAfter,
        FaultKind::TwiceLast,
        FaultKind::Throttle,
        FaultKind::CutBody,
        FaultKind::HalfPage,
        FaultKind::ExpiredToken,
    ];
    for kind in kinds {
        for at in 1.. {
            let wanted = account.state_random(&mut dice);
            let plan = plan_in(account.path(), &[]);
            let before = account.double.requests().len();
            account.double.plan_fault(Fault::nth(at, kind.clone()));
            let applied = apply_in(account.path(), &plan.file, &[]);
            let count = account.double.requests().len() - before;
            account.double.clear_faults();
            if applied.exit != Some(0) && resume_in(account.path()).exit != Some(0) {
                account.apply_all();
            }
            let faults = account.faults(&wanted);
            assert!(faults.is_empty(), "{kind:?} at {at}: {}\n{}", faults.join("\n"), applied.said());
            if (count as u64) < at {
                break;
            }
        }
    }
}

/// How many of our runs, and of other editors, write at once.
const WRITERS: usize = 6;

/// One RRset, twelve writers: six runs that each state another address, and six editors that compare as they write. The writer
/// that says that it won is the one whose address is there.
#[test]
fn of_twelve_writers_at_once_one_wins_and_no_change_is_lost() {
    let account = Account::new(1);
    let rounds = std::env::var("RACE_ROUNDS").map_or(10, |rounds| rounds.parse().expect("a number"));
    let (zone, id) = account.zones[0].clone();
    account.state(&zone, &one(&zone, "a", 300, "192.0.2.1"));
    account.apply_all();
    // The editors sign nothing.
    account.double.set_rules(|rules| rules.checks_signature = false);
    let runs: Vec<TempDir> = (0..WRITERS).map(|_| another(account.path())).collect();
    let (mut ours, mut foreign) = (0, 0);
    for round in 0..rounds {
        let address = |number: usize| format!("192.0.2.{}", 100 + (round % 10) * 12 + number);
        let (_, standing) = account.held(&id).into_values().next().expect("there is one set");
        let standing = standing.into_iter().next().expect("it has an address");
        let plan = |(number, run): (usize, &TempDir)| {
            let _ = fs::remove_dir_all(run.path().join(".zonewright"));
            write_stated(run.path(), &zone, &one(&zone, "a", 300, &address(number)));
            plan_in(run.path(), &[])
        };
        let plans: Vec<Planned> = runs.iter().enumerate().map(plan).collect();
        account.double.remove(&id, &format!("_zonewright.{zone}"), "TXT", None);
        let begin_runs = || -> Vec<Child> {
            (0..WRITERS)
                .map(|number| {
                    let mut command = apply_command(runs[number].path(), &plans[number].file, &[]);
                    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs")
                })
                .collect()
        };
        let begin_editors = || -> Vec<JoinHandle<bool>> {
            (WRITERS..2 * WRITERS)
                .map(|number| {
                    let (double, zone, id) = (Arc::clone(&account.double), zone.clone(), id.clone());
                    let (from, to) = (standing.clone(), address(number));
                    let pause = Duration::from_millis((round % 5 * 150 + number * 10) as u64);
                    thread::spawn(move || {
                        thread::sleep(pause);
                        edit(&double, (&zone, &id), (&from, &to)).is_some_and(|answer| answer.status == 200)
                    })
                })
                .collect()
        };
        let winners = race(round, begin_runs, begin_editors, |editor| editor.join().expect("it ends"));
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        let (_, there) = account.held(&id).into_values().next().expect("there is one set");
        assert_eq!(there, BTreeSet::from([address(winners[0].0)]), "round {round}");
        if winners[0].1 { ours += 1 } else { foreign += 1 }
    }
    eprintln!("{rounds} rounds: {ours} won by runs, {foreign} by other editors");
    assert!(rounds < 10 || ours > 0 && foreign > 0, "both win now and then: {ours}, {foreign}");
}

/// Replaces the address of `a`, as an editor does that compares.
fn edit(double: &Route53Double, (zone, id): (&str, &str), (from, to): (&str, &str)) -> Option<DoubleAnswer> {
    let change = |action: &str, value: &str| {
        format!(
            "<Change><Action>{action}</Action><ResourceRecordSet><Name>a.{zone}</Name><Type>A</Type><TTL>300</TTL>\
             <ResourceRecords><ResourceRecord><Value>{value}</Value></ResourceRecord></ResourceRecords>\
             </ResourceRecordSet></Change>"
        )
    };
    let body = format!(
        "<ChangeResourceRecordSetsRequest xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"><ChangeBatch><Changes>\
         {}{}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>",
        change("DELETE", from),
        change("CREATE", to)
    );
    double.answer(&DoubleRequest {
        method: "POST".to_owned(),
        target: format!("/2013-04-01/hostedzone/{id}/rrset/"),
        headers: vec![("host".to_owned(), "route53.amazonaws.com".to_owned())],
        body: body.into_bytes(),
    })
}

#[test]
fn an_apply_is_undone_to_the_last_record() {
    let account = Account::new(3);
    let mut dice = Dice(5);
    let mut state = || {
        account.state_random(&mut dice);
        account.apply_all();
        account.zones.iter().map(|(_, id)| account.held(id)).collect::<Vec<Rrsets>>()
    };
    let before = state();
    assert_ne!(state(), before);
    let undone = quiet_in(account.path()).args(["undo", "2", "--yes"]).output().expect("it runs");
    assert_eq!(undone.status.code(), Some(0), "{}{}", text_of(&undone.stdout), text_of(&undone.stderr));
    assert_eq!(account.zones.iter().map(|(_, id)| account.held(id)).collect::<Vec<Rrsets>>(), before);
}

/// The service names the RRsets that other editors changed: they alone are left, in one more request.
#[test]
fn of_a_batch_only_what_others_changed_is_left() {
    let account = Account::new(1);
    let (zone, id) = account.zones[0].clone();
    let of = |last: usize| -> Rrsets {
        (0..40).flat_map(|number| one(&zone, &format!("n{number}"), 300, &format!("192.0.2.{last}"))).collect()
    };
    account.state(&zone, &of(1));
    account.apply_all();
    account.state(&zone, &of(2));
    let plan = plan_in(account.path(), &[]);
    // Their values are written in another way, and one of them is another one, right before the batch.
    let before = account.double.count("ChangeResourceRecordSets");
    let way = thread::spawn({
        let (double, zone) = (Arc::clone(&account.double), zone.clone());
        move || {
            let listed = double.count("ListResourceRecordSets");
            while double.count("ListResourceRecordSets") == listed {
                thread::sleep(Duration::from_micros(200));
            }
            thread::sleep(Duration::from_millis(1));
            double.put(&id, DoubleRrset::new(&format!("n7.{zone}"), "A", 300, &["192.0.2.77"]));
        }
    });
    let applied = apply_in(account.path(), &plan.file, &[]);
    way.join().expect("it ends");
    let counts = &applied.document["counts"];
    let (made, left) = (counts["applied"].as_u64(), counts["stale"].as_u64());
    assert_eq!((made, left), (Some(39), Some(1)), "{}", applied.said());
    let batches = account.double.count("ChangeResourceRecordSets") - before;
    assert!(batches <= 2, "{batches} batches");
}

#[test]
fn what_is_no_plain_set_is_shown_and_blocks_who_needs_its_name() {
    let account = Account::new(1);
    let (zone, id) = account.zones[0].clone();
    account.double.put(&id, DoubleRrset::alias(&format!("a.{zone}"), "A", &id, &format!("b.{zone}")));
    account.double.protect(&id, &format!("c.{zone}"), "A", None);
    let of = |name| one(&zone, name, 300, "192.0.2.1");
    account.state(&zone, &["a", "b", "c"].into_iter().flat_map(of).collect());
    let plan = plan_in(account.path(), &[]);
    let blocked = plan.document["blocked"].as_array().expect("a list");
    let codes: Vec<&str> = blocked.iter().filter_map(|own: &Value| own["code"].as_str()).collect();
    assert_eq!(codes, ["opaque", "opaque"], "{:#}", plan.document["blocked"]);
    assert_eq!(plan.document["changes"].as_array().map(Vec::len), Some(1));
    let looked = quiet_in(account.path()).args(["doctor"]).output().expect("it runs");
    let said = text_of(&looked.stdout);
    assert!(said.contains("credentials of") && said.contains("alias") && said.contains("and one more name"), "{said}");
    assert!(!said.contains(KEYS.1), "a secret is shown");
}
