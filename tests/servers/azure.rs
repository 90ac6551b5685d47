//! Zones in Azure DNS, public and private, as a strict double of it answers: what is there after applies and at each moment of
//! them, writers that race, applies that are killed, and what is undone.

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

use crate::doubles::azure::log::AzureChange;
use crate::doubles::azure::rules::AzureKind;
use crate::doubles::azure::set::AzureRecordSet;
use crate::doubles::azure::{AzureDouble, AzureZoneId, SUBSCRIPTION};
use crate::doubles::faults::{Fault, FaultKind};
use crate::doubles::http::DoubleServer;
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::etcd::{PROJECT, Rrsets, SETTINGS, one, random_rrsets, write_stated};
use crate::http_way::{FAULTS, HttpFault, Way};
use crate::planted::Dice;
use crate::race::race;
use crate::rig::{Applied, Planned, apply_command, apply_in, plan_in, quiet_in, resume_in, text_of};
use crate::workspace::another;

mod making;
mod marks;

/// The application that the double knows: its tenant, its client ID and its secret.
const APP: (&str, &str, &str) =
    ("example.onmicrosoft.com", "00000000-1111-2222-3333-444455556666", "secret~of.example");

/// The metadata that name the owner of a record set.
const OWNER: &str = "zonewright-owner";

/// How an owner is kept with a record: next to it, or at it.
const REGISTRIES: [&str; 2] = ["registry = \"txt\"\n", "registry = \"metadata\"\n"];

/// Both services.
const KINDS: [AzureKind; 2] = [AzureKind::Public, AzureKind::Private];

/// A workspace whose zones are in a subscription.
struct Account {
    /// Which service.
    kind: AzureKind,
    /// The service.
    double: Arc<AzureDouble>,
    /// The way to it.
    server: DoubleServer,
    /// The workspace.
    folder: TempDir,
    /// The zones.
    zones: Vec<AzureZoneId>,
    /// What is in front of the sources in the settings.
    registry: &'static str,
}

impl Account {
    /// One with so many zones, and with this registry.
    fn new(kind: AzureKind, zones: usize, registry: &'static str) -> Account {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let double = Arc::new(AzureDouble::new(kind, move || i64::try_from(now()).expect("a time")));
        double.add_client(APP.0, APP.1, APP.2);
        let server = DoubleServer::start(Arc::clone(&double));
        let url = server.url();
        // The pace of zones has tests of its own, by a clock on which no test waits.
        double.set_rules(|rules| {
            rules.rates = None;
            rules.quotes_etags = kind == AzureKind::Private;
        });
        let zones = (0..zones).map(|number| double.create_zone(&format!("z{number}.example"))).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let account = Account { kind, double, server, folder, zones, registry };
        for folder in ["octo", "keys"] {
            fs::create_dir(account.path().join(folder)).expect("a folder");
        }
        let file = account.path().join("keys/azure.secret");
        fs::write(&file, APP.2).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
        fs::write(account.path().join("p.yaml"), PROJECT).expect("a file");
        account.configure(&url);
        account.zones.iter().for_each(|zone| account.state(zone, &Rrsets::new()));
        account
    }

    /// Writes the settings, with the API at this URL.
    fn configure(&self, url: &str) {
        // Tokens are for the URL of the API.
        self.double.set_rules(|rules| rules.audiences.push(url.to_owned()));
        let name = if self.kind == AzureKind::Public { "azure" } else { "azure-private" };
        let target = format!(
            "type = \"{name}\"\nendpoint = \"{url}\"\nauthority = \"{}\"\ntenant_id = \"{}\"\nclient_id = \"{}\"\n\
             client_secret = {{ secret_file = \"keys/azure.secret\" }}\nsubscription_id = \"{SUBSCRIPTION}\"\n\
             writes_per_minute = 1000000\ntimeout = \"5s\"\n",
            self.server.url(),
            APP.0,
            APP.1
        );
        let zone = |zone: &AzureZoneId| {
            format!("[[zone]]\nname = \"{}\"\npool = \"main\"\npermission = \"full\"\n", zone.name)
        };
        let zones: String = self.zones.iter().map(zone).collect();
        let registry = self.registry;
        let text = format!("{registry}{SETTINGS}[pool.main]\n[[pool.main.target]]\n{target}{zones}");
        fs::write(self.path().join("zonewright.toml"), text).expect("a file");
    }

    /// The workspace.
    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// States what a zone is to hold.
    fn state(&self, zone: &AzureZoneId, rrsets: &Rrsets) {
        write_stated(self.path(), &zone.name, rrsets);
    }

    /// States random RRsets for all zones, none at an apex: without a prefix, no TXT in the zone could record it.
    fn state_random(&self, dice: &mut Dice) -> BTreeMap<String, Rrsets> {
        let random = |zone: &AzureZoneId| {
            let mut rrsets = random_rrsets(&zone.name, dice);
            rrsets.retain(|(name, _), _| name.trim_end_matches('.') != zone.name);
            (zone.name.clone(), rrsets)
        };
        let wanted: BTreeMap<String, Rrsets> = self.zones.iter().map(random).collect();
        self.zones.iter().for_each(|zone| self.state(zone, &wanted[&zone.name]));
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

    /// What a zone holds, without its apex records and what the registry notes.
    fn held(&self, zone: &AzureZoneId) -> Rrsets {
        let own = |set: &AzureRecordSet| !matches!(set.rtype.as_str(), "SOA" | "NS") && recorded(set).is_none();
        let types = ["A", "AAAA", "CNAME", "TXT"];
        let sets = self.double.record_sets(zone).into_iter().filter(own);
        sets.map(|set| {
            let rtype = types.into_iter().find(|rtype| *rtype == set.rtype).expect("a type of these tests");
            let value = |value: String| match rtype {
                // The service keeps names without a final dot, and addresses as they were written.
                "CNAME" => format!("{value}."),
                _ => value.trim_matches('"').to_owned(),
            };
            let name = if set.name == "@" { String::new() } else { format!("{}.", set.name) };
            let values = set.values().into_iter().map(value).collect();
            ((format!("{name}{}.", zone.name), rtype), (u64::from(set.ttl), values))
        })
        .collect()
    }

    /// Where a zone holds something else than it is to.
    fn faults(&self, wanted: &BTreeMap<String, Rrsets>) -> Vec<String> {
        let mut faults = Vec::new();
        for zone in &self.zones {
            let held = self.held(zone);
            if held != wanted[&zone.name] {
                faults.push(format!("{} holds {held:?}, and not {:?}", zone.name, wanted[&zone.name]));
            }
        }
        faults
    }

    /// The moments at which a record that we wrote was there without its mark, by the log of the service from an entry on.
    fn unmarked(&self, held: &mut HeldSets, from: usize) -> Vec<String> {
        let mut faults = Vec::new();
        for entry in self.double.requests().iter().skip(from) {
            for change in &entry.changes {
                held.take(change);
                let bare = held.bare();
                if !bare.is_empty() {
                    faults.push(format!("after `{}`: {bare:?}", entry.line));
                }
            }
        }
        faults
    }
}

/// What a TXT of the registry records: the name of the record set, with its type in small letters. The names are those of
/// external-dns.
fn recorded(set: &AzureRecordSet) -> Option<(String, String)> {
    let is_mark = set.rtype == "TXT" && set.values().iter().any(|value| value.contains("heritage="));
    let (rtype, name) = set.name.split_once('-').filter(|_| is_mark)?;
    Some((name.to_owned(), rtype.to_owned()))
}

/// The record sets of zones as the log of the service says.
#[derive(Default)]
struct HeldSets(BTreeMap<(String, String, String), AzureRecordSet>);

impl HeldSets {
    /// Makes a change.
    fn take(&mut self, change: &AzureChange) {
        let key = |set: &AzureRecordSet| (change.zone.clone(), set.name.clone(), set.rtype.clone());
        if let Some(before) = &change.before {
            self.0.remove(&key(before));
        }
        if let Some(after) = &change.after {
            self.0.insert(key(after), after.clone());
        }
    }

    /// The record sets below the apex without a mark.
    fn bare(&self) -> Vec<String> {
        let marks: BTreeSet<(&str, String, String)> = self
            .0
            .iter()
            .filter_map(|((zone, ..), set)| recorded(set).map(|(name, rtype)| (zone.as_str(), name, rtype)))
            .collect();
        let is_bare = |((zone, name, rtype), set): &(&(String, String, String), &AzureRecordSet)| {
            let is_own = name != "@" && recorded(set).is_none() && !set.metadata.contains_key(OWNER);
            is_own && !marks.contains(&(zone.as_str(), name.clone(), rtype.to_lowercase()))
        };
        self.0.iter().filter(is_bare).map(|((zone, name, rtype), _)| format!("{rtype} {name}.{zone}")).collect()
    }
}

#[test]
fn random_zones_hold_what_is_stated_and_no_record_is_ever_without_its_mark() {
    for (kind, registry) in KINDS.into_iter().zip(REGISTRIES).chain(KINDS.into_iter().zip(REGISTRIES.into_iter().rev()))
    {
        let account = Account::new(kind, 4, registry);
        let (mut dice, mut rrsets, mut held, mut seen) = (Dice(7), 0, HeldSets::default(), 0);
        for round in 0..6 {
            let wanted = account.state_random(&mut dice);
            account.apply_all();
            assert!(account.faults(&wanted).is_empty(), "round {round}: {}", account.faults(&wanted).join("\n"));
            let again = plan_in(account.path(), &[]);
            assert_eq!(again.document["changes"], json!([]), "round {round}: {:#}", again.document["changes"]);
            let unmarked = account.unmarked(&mut held, seen);
            assert!(unmarked.is_empty(), "round {round}: {}", unmarked.join("\n"));
            seen = account.double.requests().len();
            rrsets += wanted.values().map(BTreeMap::len).sum::<usize>();
        }
        assert!(rrsets > 60, "{rrsets}");
        let is_marked = |set: &AzureRecordSet| recorded(set).is_some() || set.metadata.contains_key(OWNER);
        assert!(held.0.values().any(is_marked), "there are marks");
        let has_txt = held.0.values().any(|set| recorded(set).is_some());
        assert_eq!(has_txt, registry == REGISTRIES[0], "no TXT where the mark is at the record");
    }
}

#[test]
fn an_apply_that_is_killed_is_completed() {
    meet_faults(REGISTRIES[0], &FAULTS[..2]);
}

#[test]
fn an_apply_that_is_killed_leaves_no_record_without_its_metadata() {
    meet_faults(REGISTRIES[1], &FAULTS[..2]);
}

#[test]
fn an_apply_whose_requests_or_answers_are_lost_is_completed() {
    meet_faults(REGISTRIES[0], &FAULTS[2..4]);
}

#[test]
fn an_apply_whose_requests_come_twice_or_late_is_completed() {
    meet_faults(REGISTRIES[1], &FAULTS[4..]);
}

/// Lets every request of an apply meet each of these faults of a network: what is not made at once is made by `resume` or by the
/// next plan.
fn meet_faults(registry: &'static str, faults: &[HttpFault]) {
    let account = Account::new(AzureKind::Public, 1, registry);
    let zone = account.zones[0].clone();
    let (mut resumed, mut completed, mut turn) = (0, 0, 0);
    let (mut held, mut seen) = (HeldSets::default(), 0);
    let port = account.server.url().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
    for fault in faults.iter().copied() {
        for at in 1.. {
            // An address that comes, one that changes, one that goes, and a CNAME that gives way or comes back.
            turn += 1;
            let swapped: Rrsets = match turn % 2 {
                0 => one(&zone.name, "c", 300, "192.0.2.9"),
                _ => [((format!("c.{}.", zone.name), "CNAME"), (300, ["t.example.org.".to_owned()].into()))].into(),
            };
            let come = one(&zone.name, &format!("n{turn}"), 300, "192.0.2.1");
            let changed = one(&zone.name, "a", 300, &format!("192.0.2.{}", 1 + turn % 200));
            let stated: Rrsets = come.into_iter().chain(changed).chain(swapped).collect();
            account.state(&zone, &stated);
            let wanted = BTreeMap::from([(zone.name.clone(), stated)]);
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
            let was_completed = applied.exit == Some(0);
            let again = if was_completed { applied } else { resume_in(account.path()) };
            let has_done = again.document["hosts"].as_array().is_some_and(|own| !own.is_empty());
            if again.exit == Some(0) && has_done {
                if was_completed {
                    completed += 1
                } else {
                    resumed += 1
                }
                let faults = account.faults(&wanted);
                assert!(faults.is_empty(), "{fault:?} at {at}: {}\n{}", faults.join("\n"), again.said());
            }
            account.apply_all();
            let faults = account.faults(&wanted);
            assert!(faults.is_empty(), "{fault:?} at {at}: {}", faults.join("\n"));
            let unmarked = account.unmarked(&mut held, seen);
            assert!(unmarked.is_empty(), "{fault:?} at {at}: {}", unmarked.join("\n"));
            seen = account.double.requests().len();
            if count < at {
                break;
            }
        }
    }
    assert!(resumed + completed > 10, "{resumed} were resumed, and {completed} ended by themselves");
}

#[test]
fn an_apply_whose_requests_the_service_loses_is_completed() {
    meet_troubles(&[FaultKind::DropBefore, FaultKind::DropAfter, FaultKind::CutBody]);
}

#[test]
fn an_apply_in_which_the_service_fails_is_completed() {
    meet_troubles(&[FaultKind::FailBefore, FaultKind::FailAfter, FaultKind::Unavailable]);
}

#[test]
fn an_apply_whose_requests_the_service_repeats_is_completed() {
    meet_troubles(&[FaultKind::Twice, FaultKind::TwiceLast]);
}

#[test]
fn an_apply_whose_pages_or_tokens_end_is_completed() {
    meet_troubles(&[FaultKind::HalfPage, FaultKind::ExpiredToken]);
}

/// Lets every request of an apply meet each of these things that the service itself may do: the apply goes on by itself, or `resume`
/// ends it.
fn meet_troubles(kinds: &[FaultKind]) {
    let account = Account::new(AzureKind::Private, 1, "registry = \"txt\"\n");
    let zone = account.zones[0].clone();
    let mut turn = 0;
    for kind in kinds {
        for at in 1.. {
            turn += 1;
            let come = one(&zone.name, &format!("n{turn}"), 300, "192.0.2.1");
            let changed = one(&zone.name, "a", 300, &format!("192.0.2.{}", 1 + turn % 200));
            let stated: Rrsets = come.into_iter().chain(changed).collect();
            account.state(&zone, &stated);
            let wanted = BTreeMap::from([(zone.name.clone(), stated)]);
            let plan = plan_in(account.path(), &[]);
            let before = account.double.requests().len();
            account.double.plan_fault(Fault::nth(at, kind.clone()));
            let applied = apply_in(account.path(), &plan.file, &[]);
            let count = account.double.requests().len() - before;
            account.double.clear_faults();
            if applied.exit != Some(0) {
                resume_in(account.path());
            }
            account.apply_all();
            let faults = account.faults(&wanted);
            assert!(faults.is_empty(), "{kind:?} at {at}: {}", faults.join("\n"));
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
    let account = Account::new(AzureKind::Public, 1, "");
    let rounds = std::env::var("RACE_ROUNDS").map_or(10, |rounds| rounds.parse().expect("a number"));
    let zone = account.zones[0].clone();
    account.state(&zone, &one(&zone.name, "a", 300, "192.0.2.1"));
    account.apply_all();
    // The editors prove nothing.
    account.double.set_rules(|rules| rules.checks_token = false);
    let runs: Vec<TempDir> = (0..WRITERS).map(|_| another(account.path())).collect();
    let (mut ours, mut foreign) = (0, 0);
    for round in 0..rounds {
        let address = |number: usize| format!("192.0.2.{}", 100 + (round % 10) * 12 + number);
        let plan = |(number, run): (usize, &TempDir)| {
            let _ = fs::remove_dir_all(run.path().join(".zonewright"));
            write_stated(run.path(), &zone.name, &one(&zone.name, "a", 300, &address(number)));
            plan_in(run.path(), &[])
        };
        let plans: Vec<Planned> = runs.iter().enumerate().map(plan).collect();
        let sets = account.double.record_sets(&zone);
        let etag = sets.iter().find(|set| set.name == "a").expect("there is one set").etag.clone();
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
                    let (double, zone, etag, to) =
                        (Arc::clone(&account.double), zone.clone(), etag.clone(), address(number));
                    let pause = Duration::from_millis((round % 5 * 150 + number * 10) as u64);
                    thread::spawn(move || {
                        thread::sleep(pause);
                        edit(&double, &zone, (&etag, &to)).is_some_and(|answer| answer.status == 200)
                    })
                })
                .collect()
        };
        let winners = race(round, begin_runs, begin_editors, |editor| editor.join().expect("it ends"));
        assert_eq!(winners.len(), 1, "round {round}: {winners:?}");
        let (_, there) = account.held(&zone).into_values().next().expect("there is one set");
        assert_eq!(there, BTreeSet::from([address(winners[0].0)]), "round {round}");
        if winners[0].1 { ours += 1 } else { foreign += 1 }
    }
    eprintln!("{rounds} rounds: {ours} won by runs, {foreign} by other editors");
    assert!(rounds < 10 || ours > 0 && foreign > 0, "both win now and then: {ours}, {foreign}");
}

/// Replaces the address of `a`, as an editor does that compares.
fn edit(double: &AzureDouble, zone: &AzureZoneId, (etag, to): (&str, &str)) -> Option<DoubleAnswer> {
    let body = json!({ "properties": { "TTL": 300, "ARecords": [{ "ipv4Address": to }] } });
    double.answer(&DoubleRequest {
        method: "PUT".to_owned(),
        target: format!("{}/A/a?api-version=2018-05-01", zone.path),
        headers: [("host", "management.azure.com"), ("if-match", etag), ("content-type", "application/json")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        body: body.to_string().into_bytes(),
    })
}

/// Of two units, another editor changed one behind the plan: it alone is left, and nothing of it is written.
#[test]
fn only_what_others_changed_is_left() {
    for kind in KINDS {
        let account = Account::new(kind, 1, "");
        let zone = account.zones[0].clone();
        let of = |last: usize| -> Rrsets {
            (0..10).flat_map(|number| one(&zone.name, &format!("n{number}"), 300, &format!("192.0.2.{last}"))).collect()
        };
        account.state(&zone, &of(1));
        account.apply_all();
        account.state(&zone, &of(2));
        let plan = plan_in(account.path(), &[]);
        // Right before its own write.
        let way = thread::spawn({
            let (double, zone) = (Arc::clone(&account.double), zone.clone());
            move || {
                let written = double.count("RecordSets_CreateOrUpdate");
                while double.count("RecordSets_CreateOrUpdate") == written {
                    thread::sleep(Duration::from_micros(200));
                }
                double.put(&zone, AzureRecordSet::new("n9", "A", 300, &["192.0.2.77"]));
            }
        });
        let applied = apply_in(account.path(), &plan.file, &[]);
        way.join().expect("it ends");
        let counts = &applied.document["counts"];
        let (made, left) = (counts["applied"].as_u64(), counts["stale"].as_u64());
        assert_eq!((made, left), (Some(9), Some(1)), "{}", applied.said());
        let sets = account.double.record_sets(&zone);
        let other = sets.iter().find(|set| set.name == "n9").expect("it is there");
        assert_eq!(other.values(), ["192.0.2.77"]);
    }
}

/// The answer to a write is lost, and another editor writes the same RRset before it is looked at: its host alone fails, and the
/// apply goes on.
#[test]
fn what_another_editor_wrote_over_a_lost_answer_is_left() {
    let account = Account::new(AzureKind::Public, 1, "");
    let zone = account.zones[0].clone();
    let file = account.path().join("zonewright.toml");
    let settings = fs::read_to_string(&file).expect("the settings");
    fs::write(&file, settings.replace("timeout = \"5s\"", "timeout = \"1s\"")).expect("a file");
    let of = |last: usize| -> Rrsets {
        ["a", "b"].into_iter().flat_map(|name| one(&zone.name, name, 300, &format!("192.0.2.{last}"))).collect()
    };
    account.state(&zone, &of(1));
    account.apply_all();
    account.state(&zone, &of(2));
    let plan = plan_in(account.path(), &[]);
    let late = FaultKind::Delay(Duration::from_millis(1_500));
    account.double.plan_fault(Fault::nth_of("RecordSets_CreateOrUpdate", 1, late));
    let way = thread::spawn({
        let (double, zone) = (Arc::clone(&account.double), zone.clone());
        let written = double.count("RecordSets_CreateOrUpdate");
        move || {
            while double.count("RecordSets_CreateOrUpdate") == written {
                thread::sleep(Duration::from_millis(1));
            }
            let last = double.requests().pop().and_then(|entry| entry.changes.into_iter().next()?.after);
            let name = last.expect("it was written").name;
            double.put(&zone, AzureRecordSet::new(&name, "A", 300, &["192.0.2.77"]));
        }
    });
    let applied = apply_in(account.path(), &plan.file, &[]);
    way.join().expect("it ends");
    let counts = &applied.document["counts"];
    assert_eq!((counts["applied"].as_u64(), counts["failed"].as_u64()), (Some(1), Some(1)), "{}", applied.said());
    let held: BTreeSet<String> = account.held(&zone).into_values().flat_map(|(_, values)| values).collect();
    assert_eq!(held, BTreeSet::from(["192.0.2.2".to_owned(), "192.0.2.77".to_owned()]));
}

#[test]
fn an_apply_is_undone_to_the_last_record() {
    for (kind, registry) in KINDS.into_iter().zip(REGISTRIES) {
        let account = Account::new(kind, 3, registry);
        let mut dice = Dice(5);
        let held = || account.zones.iter().map(|zone| account.held(zone)).collect::<Vec<Rrsets>>();
        let mut state = || {
            account.state_random(&mut dice);
            account.apply_all();
            held()
        };
        let before = state();
        assert_ne!(state(), before);
        let undone = quiet_in(account.path()).args(["undo", "2", "--yes"]).output().expect("it runs");
        assert_eq!(undone.status.code(), Some(0), "{}{}", text_of(&undone.stdout), text_of(&undone.stderr));
        assert_eq!(held(), before);
        let unmarked = account.unmarked(&mut HeldSets::default(), 0);
        assert!(unmarked.is_empty(), "{}", unmarked.join("\n"));
    }
}

#[test]
fn what_is_no_plain_set_is_shown_and_blocks_who_needs_its_name() {
    for kind in KINDS {
        let account = Account::new(kind, 1, "");
        let zone = account.zones[0].clone();
        let what = match kind {
            AzureKind::Public => {
                let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPAddresses/ip";
                account.double.alias(&zone, "a", "A", id);
                "alias"
            }
            AzureKind::Private => {
                account.double.register(&zone, "a", "192.0.2.7");
                "virtual machine"
            }
        };
        let both = ["a", "b"].into_iter().flat_map(|name| one(&zone.name, name, 300, "192.0.2.1")).collect();
        account.state(&zone, &both);
        let plan = plan_in(account.path(), &[]);
        let blocked = plan.document["blocked"].as_array().expect("a list");
        let codes: Vec<&str> = blocked.iter().filter_map(|own: &Value| own["code"].as_str()).collect();
        assert_eq!(codes, ["opaque"], "{:#}", plan.document["blocked"]);
        assert_eq!(plan.document["changes"].as_array().map(Vec::len), Some(1));
        let looked = quiet_in(account.path()).args(["doctor"]).output().expect("it runs");
        let said = text_of(&looked.stdout);
        assert!(said.contains(&format!("application `{}`", APP.1)) && said.contains(what), "{said}");
        assert!(said.contains("one RRset"), "{said}");
        assert!(!said.contains(APP.2), "a secret is shown");
    }
}
