//! Namespaces of AWS Cloud Map, as a strict double of it answers: what is there after applies and at each moment of them, applies
//! that are killed, and what is undone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::doubles::cloudmap::CloudMapDouble;
use crate::doubles::cloudmap::log::MapChange;
use crate::doubles::cloudmap::operations::FailurePlan;
use crate::doubles::cloudmap::resources::NamespaceKind;
use crate::doubles::cloudmap::rules::OperationSettling;
use crate::doubles::faults::{Fault, FaultKind};
use crate::doubles::http::DoubleServer;
use crate::etcd::{PROJECT, Rrsets, SETTINGS, one, write_stated};
use crate::http_way::{FAULTS, HttpFault, Way};
use crate::planted::Dice;
use crate::rig::{Applied, Planned, apply_command, apply_in, plan_in, quiet_in, resume_in, text_of};

/// The keys that the double knows.
const KEYS: (&str, &str) = ("AKIDEXAMPLE", "secret/of+example");

/// The zone.
const ZONE: &str = "z.example";

/// A workspace whose zone is a namespace.
struct Account {
    /// The service.
    double: Arc<CloudMapDouble>,
    /// The way to it.
    server: DoubleServer,
    /// The workspace.
    folder: TempDir,
    /// The identifier of the namespace.
    id: String,
    /// What is in front of the sources in the settings.
    registry: &'static str,
    /// What the zone permits.
    permission: &'static str,
}

impl Account {
    /// One with this registry and permission.
    fn new(registry: &'static str, permission: &'static str) -> Account {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let double = Arc::new(CloudMapDouble::new("eu-central-1", KEYS, move || i64::try_from(now()).expect("a time")));
        double.set_rules(|rules| rules.settling = OperationSettling::AtOnce);
        let id = double.create_namespace(ZONE, NamespaceKind::Public);
        let server = DoubleServer::start(Arc::clone(&double));
        let folder = tempfile::tempdir().expect("a folder");
        let account = Account { double, server, folder, id, registry, permission };
        for folder in ["octo", "keys"] {
            fs::create_dir(account.path().join(folder)).expect("a folder");
        }
        let keys = json!({"Version": 1, "AccessKeyId": KEYS.0, "SecretAccessKey": KEYS.1});
        let file = account.path().join("keys/aws.json");
        fs::write(&file, keys.to_string()).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
        fs::write(account.path().join("p.yaml"), PROJECT).expect("a file");
        account.configure(&account.server.url());
        account.state(&Rrsets::new());
        account
    }

    /// Writes the settings, with the API at this URL.
    fn configure(&self, url: &str) {
        let target = format!(
            "type = \"cloudmap\"\nendpoint = \"{url}\"\nregion = \"eu-central-1\"\nexclusive = true\n\
             credentials = {{ secret_file = \"keys/aws.json\" }}\nrequests_per_second = 1000\ntimeout = \"5s\"\n"
        );
        let zone = format!("[[zone]]\nname = \"{ZONE}\"\npool = \"main\"\npermission = \"{}\"\n", self.permission);
        let registry = self.registry;
        let text = format!("{registry}{SETTINGS}[pool.main]\n[[pool.main.target]]\n{target}{zone}");
        fs::write(self.path().join("zonewright.toml"), text).expect("a file");
    }

    /// The workspace.
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// States what the zone is to hold.
    fn state(&self, rrsets: &Rrsets) {
        write_stated(self.path(), ZONE, rrsets);
    }

    /// Plans and applies; all must be applied.
    fn apply_all(&self) -> Planned {
        let plan = plan_in(self.path(), &[]);
        assert_eq!(plan.document["blocked"], json!([]), "{:#}", plan.document["blocked"]);
        let applied = apply_in(self.path(), &plan.file, &[]);
        assert_eq!(applied.exit, Some(0), "{}", applied.said());
        plan
    }

    /// What the zone holds.
    fn held(&self) -> Rrsets {
        let types = ["A", "AAAA", "CNAME"];
        let sets = self.double.rrsets(&self.id).into_iter().map(|set| {
            let rtype = types.into_iter().find(|rtype| *rtype == set.rtype).expect("a type of these tests");
            ((set.name.clone(), rtype), (u64::from(set.ttl), set.values.iter().cloned().collect()))
        });
        sets.collect()
    }

    /// Puts a service with an address, as another editor.
    fn put(&self, name: &str, value: &str, description: Option<&str>) -> String {
        let service = self.double.create_service(&self.id, name, &[("A", 300)], description);
        self.double.register(&service, value, &[("AWS_INSTANCE_IPV4", value)]);
        service
    }

    /// The codes of what a plan blocks.
    fn blocked(&self) -> Vec<String> {
        let plan = plan_in(self.path(), &[]);
        let blocked = plan.document["blocked"].as_array().cloned().unwrap_or_default();
        blocked.iter().filter_map(|own: &Value| own["code"].as_str().map(str::to_owned)).collect()
    }
}

/// Random RRsets: names that have addresses of one type or of both all the time, and names at which a CNAME and addresses change
/// places.
fn random(dice: &mut Dice, names: usize) -> Rrsets {
    let mut rrsets = Rrsets::new();
    for number in 0..names {
        if dice.below(4) == 0 {
            continue;
        }
        let name = format!("n{number}.{}{ZONE}.", if number % 2 == 0 { "in." } else { "" });
        let ttl = [30, 300, 3600][dice.below(3)];
        let addresses = |of: &dyn Fn(usize) -> String, dice: &mut Dice| -> BTreeSet<String> {
            (0..1 + dice.below(3)).map(|_| of(dice.below(9))).collect()
        };
        let v4 = |number: usize| format!("192.0.2.{number}");
        let v6 = |number: usize| format!("2001:db8::{}", number + 1);
        match (number % 4, dice.below(2)) {
            (0, 0) => drop(rrsets.insert((name, "CNAME"), (ttl, [format!("t{ttl}.example.org.")].into()))),
            (0 | 1, _) => drop(rrsets.insert((name, "A"), (ttl, addresses(&v4, dice)))),
            (2, _) => drop(rrsets.insert((name, "AAAA"), (ttl, addresses(&v6, dice)))),
            _ => {
                rrsets.insert((name.clone(), "A"), (ttl, addresses(&v4, dice)));
                rrsets.insert((name, "AAAA"), (ttl, addresses(&v6, dice)));
            }
        }
    }
    rrsets
}

#[test]
fn random_zones_hold_what_is_stated() {
    let account = Account::new("", "full");
    let mut dice = Dice(7);
    for round in 0..12 {
        if round == 10 {
            // Operations take their time.
            account.double.set_rules(|rules| rules.settling = OperationSettling::AfterAsks(1));
        }
        let wanted = random(&mut dice, 12);
        account.state(&wanted);
        let plan = account.apply_all();
        let notices = plan.document["notices"].to_string();
        assert!(notices.contains("cannot-compare"), "{notices}");
        assert_eq!(account.held(), wanted, "round {round}");
        let again = plan_in(account.path(), &[]);
        assert!(again.changes().is_empty(), "round {round}: {:#}", again.document["changes"]);
    }
    assert!(account.double.services(&account.id).iter().all(|own| !account.double.instances(&own.id).is_empty()));
}

/// Whether at each moment since an entry of the log a name had all values that are in both states, and no fewer than the fewer of
/// them; for names that have addresses in both.
fn gaps(account: &Account, from: usize, (before, after): (&Rrsets, &Rrsets)) -> Vec<String> {
    let log = account.double.requests();
    let mut there: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut faults = Vec::new();
    for (number, change) in
        log.iter().enumerate().flat_map(|(number, own)| own.changes.iter().map(move |c| (number, c)))
    {
        match change {
            MapChange::Service { after: Some(service), .. } => {
                names.insert(service.id.clone(), format!("{}.{ZONE}.", service.name));
            }
            MapChange::Instance { service, before: gone, after: come } => {
                let own = there.entry(names[service].clone()).or_default();
                gone.iter().for_each(|gone| drop(own.remove(&gone.id)));
                own.extend(come.iter().map(|come| (come.id.clone(), come.attributes.values().cloned().collect())));
                let key = (names[service].clone(), "A");
                let (Some((_, old)), Some((_, new)), true) = (before.get(&key), after.get(&key), number >= from) else {
                    continue;
                };
                let values: BTreeSet<&String> = own.values().flatten().collect();
                let has_all = old.intersection(new).all(|value| values.contains(value));
                if !has_all || values.len() < old.len().min(new.len()) {
                    faults.push(format!("{} has {values:?}, between {old:?} and {new:?}", key.0));
                }
            }
            _ => {}
        }
    }
    faults
}

/// Two states of two names, which differ in values, in a TTL, and in whether a name is there.
fn two_states() -> [Rrsets; 2] {
    let of = |values: &[&str]| values.iter().map(|value| format!("192.0.2.{value}")).collect::<BTreeSet<String>>();
    let name = |label: &str| (format!("{label}.{ZONE}."), "A");
    let first = [(name("a"), (300, of(&["1", "2"])))].into();
    let second = [(name("a"), (60, of(&["2", "3"]))), (name("b"), (60, of(&["1"])))].into();
    [first, second]
}

/// Every request of an apply meets every fault of a network: what is not made at once is made by `resume`.
#[test]
fn an_apply_whose_requests_meet_faults_is_completed() {
    let account = Account::new("", "full");
    let (mut resumed, mut completed, mut planned) = (0, 0, 0);
    let states = two_states();
    account.state(&states[0]);
    account.apply_all();
    let port = account.server.url().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
    for fault in FAULTS {
        for at in 1.. {
            let (before, wanted) = (&states[(at + 1) % 2], &states[at % 2]);
            account.state(before);
            account.apply_all();
            account.state(wanted);
            let plan = plan_in(account.path(), &[]);
            let from = account.double.requests().len();
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
            let is_through = applied.exit == Some(0);
            let again = if is_through { applied } else { resume_in(account.path()) };
            match again.exit {
                Some(0) if is_through => completed += 1,
                Some(0) if account.held() == *wanted => resumed += 1,
                _ => {
                    planned += 1;
                    account.apply_all();
                }
            }
            assert_eq!(account.held(), *wanted, "{fault:?} at {at}: {}", again.said());
            let gaps = gaps(&account, from, (before, wanted));
            assert!(gaps.is_empty(), "{fault:?} at {at}: {}", gaps.join("\n"));
            if count < at {
                break;
            }
        }
    }
    eprintln!("{completed} ended by themselves, {resumed} were resumed, {planned} were planned again");
    assert!(completed > 20 && resumed > 10 && planned < resumed, "{completed} {resumed} {planned}");
}

/// Every request of an apply meets what the service itself may do.
#[test]
fn an_apply_that_the_service_troubles_is_completed() {
    let account = Account::new("", "full");
    let states = two_states();
    let kinds =
        [FaultKind::FailAfter, FaultKind::TwiceLast, FaultKind::CutBody, FaultKind::HalfPage, FaultKind::ExpiredToken];
    for kind in kinds {
        for at in 1.. {
            let wanted = &states[at as usize % 2];
            account.state(&states[(at as usize + 1) % 2]);
            account.apply_all();
            account.state(wanted);
            let plan = plan_in(account.path(), &[]);
            let before = account.double.requests().len();
            account.double.plan_fault(Fault::nth(at, kind.clone()));
            let applied = apply_in(account.path(), &plan.file, &[]);
            let count = account.double.requests().len() - before;
            account.double.clear_faults();
            assert_eq!(applied.exit, Some(0), "{kind:?} at {at}: {}", applied.said());
            assert_eq!(account.held(), *wanted, "{kind:?} at {at}: {}", applied.said());
            if (count as u64) < at {
                break;
            }
        }
    }
}

/// A name of which a part is made, and the rest is refused for good, stops no other.
#[test]
fn a_name_that_is_refused_in_the_middle_stops_no_other() {
    let account = Account::new("", "full");
    let of = |value: &str| -> Rrsets {
        ["a", "b", "c"].into_iter().flat_map(|label| one(ZONE, label, 300, value)).collect()
    };
    account.state(&of("192.0.2.1"));
    account.apply_all();
    account.state(&of("192.0.2.2"));
    let plan = plan_in(account.path(), &[]);
    let refused = FailurePlan::next("DeregisterInstance", "ACCESS_DENIED");
    account.double.plan_failure(refused);
    let applied = apply_in(account.path(), &plan.file, &[]);
    assert_eq!(applied.exit, Some(4), "{}", applied.said());
    assert!(applied.said().contains("ACCESS_DENIED"), "{}", applied.said());
    let held = account.held();
    let counts: Vec<usize> = held.values().map(|(_, values)| values.len()).collect();
    assert_eq!(counts.iter().sum::<usize>(), 4, "one name has both values, the others have the new one: {held:?}");
    assert_eq!(held.values().filter(|(_, values)| !values.contains("192.0.2.2")).count(), 0, "{held:?}");
    assert_eq!(resume_in(account.path()).exit, Some(0));
    assert_eq!(account.held(), of("192.0.2.2"));
}

/// A signal ends the wait for an operation, and `resume` finds what the operation did.
#[test]
fn an_apply_that_waits_for_an_operation_ends_by_a_signal() {
    let account = Account::new("", "full");
    account.double.set_rules(|rules| rules.settling = OperationSettling::Held);
    let wanted: Rrsets = ["a", "b"].into_iter().flat_map(|label| one(ZONE, label, 300, "192.0.2.1")).collect();
    account.state(&wanted);
    let plan = plan_in(account.path(), &[]);
    let mut command = apply_command(account.path(), &plan.file, &[]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    while account.double.count("GetOperation") == 0 && child.try_wait().expect("a child").is_none() {
        thread::sleep(Duration::from_millis(10));
    }
    let signalled = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs");
    assert!(signalled.success());
    let applied = Applied::new(child.wait_with_output().expect("a child"));
    assert_eq!(applied.exit, Some(1), "nothing is known to be made: {}", applied.said());
    assert!(applied.said().contains("the apply was interrupted while the operation `"), "{}", applied.said());
    assert_eq!(account.double.operations().len(), 1, "nothing more is asked for");
    account.double.finish_all();
    account.double.set_rules(|rules| rules.settling = OperationSettling::AfterAsks(1));
    let resumed = resume_in(account.path());
    assert_eq!((resumed.exit, account.held()), (Some(0), wanted), "{}", resumed.said());
}

#[test]
fn an_apply_is_undone_to_the_last_record() {
    for registry in ["", "registry = \"description\"\n"] {
        let account = Account::new(registry, "full");
        let mut dice = Dice(5);
        let mut state = || {
            account.state(&random(&mut dice, 8));
            account.apply_all();
            account.held()
        };
        let before = state();
        assert_ne!(state(), before);
        let undone = quiet_in(account.path()).args(["undo", "2", "--yes"]).output().expect("it runs");
        assert_eq!(undone.status.code(), Some(0), "{}{}", text_of(&undone.stdout), text_of(&undone.stderr));
        assert_eq!(account.held(), before);
    }
}

#[test]
fn a_description_says_who_owns_a_service() {
    let account = Account::new("registry = \"description\"\n", "own");
    let theirs = account.put("a", "192.0.2.1", Some("heritage=external-dns,external-dns/owner=them"));
    account.put("c", "192.0.2.1", Some("the shop"));
    let of = |label: &str, value: &str| one(ZONE, label, 300, value);
    let wanted: Rrsets = ["a", "b", "c"].into_iter().flat_map(|label| of(label, "192.0.2.2")).collect();
    account.state(&wanted);
    let plan = plan_in(account.path(), &[]);
    let mut blocked: Vec<String> = account.blocked();
    blocked.sort();
    assert_eq!(blocked, ["not-owner", "opaque"], "{:#}", plan.document["blocked"]);
    assert_eq!(apply_in(account.path(), &plan.file, &[]).exit, Some(0));
    let services = account.double.services(&account.id);
    let ours = services.iter().find(|own| own.name == "b").expect("it was made");
    assert_eq!(ours.description.as_deref(), Some("heritage=external-dns,external-dns/owner=fleet-dns"));
    assert_eq!(account.double.instances(&theirs).len(), 1);
    // What is own goes, and its service with it.
    account.state(&Rrsets::new());
    account.apply_all();
    let left: Vec<String> = account.double.services(&account.id).into_iter().map(|own| own.name).collect();
    assert_eq!(left, ["a", "c"]);
}

#[test]
fn what_the_service_cannot_hold_is_blocked_in_the_plan() {
    let account = Account::new("", "full");
    let rrset = |name: &str, rtype: &'static str, values: &[&str]| {
        ((name.to_owned(), rtype), (300, values.iter().map(|value| (*value).to_owned()).collect::<BTreeSet<String>>()))
    };
    let alias = account.double.create_service(&account.id, "x", &[("A", 300)], None);
    account.double.register(&alias, "lb", &[("AWS_ALIAS_DNS_NAME", "lb.eu-central-1.elb.amazonaws.com")]);
    let stated = [
        (rrset("z.example.", "A", &["192.0.2.1"]), "target-limit"),
        (rrset("*.z.example.", "A", &["192.0.2.1"]), "target-limit"),
        (rrset("a.z.example.", "TXT", &["text"]), "target-limit"),
        (rrset("x.z.example.", "A", &["192.0.2.1"]), "opaque"),
    ];
    for (stated, code) in stated {
        let shown = format!("{:?}", stated.0);
        account.state(&[stated].into());
        assert_eq!(account.blocked(), [code], "{shown}");
    }
    account.put("y", "192.0.2.1", None);
    account
        .state(&[rrset("y.z.example.", "A", &["192.0.2.1"]), rrset("y.z.example.", "AAAA", &["2001:db8::1"])].into());
    assert_eq!(account.blocked(), ["target-limit"], "a service keeps its types");
    let looked = quiet_in(account.path()).args(["doctor"]).output().expect("it runs");
    let said = text_of(&looked.stdout);
    assert!(
        said.contains("credentials of") && said.contains("AWS_ALIAS_DNS_NAME") && said.contains("one record"),
        "{said}"
    );
    assert!(!said.contains(KEYS.1), "a secret is shown");
}
