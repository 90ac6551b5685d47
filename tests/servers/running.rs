//! `run`: passes that begin by themselves, one process of two that makes them, and what it shows of itself.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::copy::copy;
use crate::rig::Rig;
use crate::server::Kind;
use crate::workspace::{edit, zonewright};

/// How long anything here may take.
const LONG: Duration = Duration::from_secs(120);

/// How often is looked whether something has happened.
const LOOK: Duration = Duration::from_millis(20);

/// The zone.
const ZONE: &str = "live.example";

/// A workspace whose records a file states, and whose one zone is in a folder.
fn files() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    };
    write(
        "zonewright.toml",
        &format!(
            "owner = \"run\"\n[sources]\nprojects = \"p.yaml\"\nhosts = \"none\"\n[[sources.records]]\nname = \"static\"\n\
             format = \"octodns\"\npath = \"octo/*.yaml\"\nproject = \"p\"\nmax_shrink = \"100%\"\n[project.p]\n\
             dns_domain = \"{ZONE}\"\nautomation = \"allowed\"\n[limits]\nmax_loss = \"100%\"\n[pool.main]\n\
             [[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n[[zone]]\nname = \"{ZONE}\"\npool = \"main\"\n\
             permission = \"own\"\n"
        ),
    );
    write("p.yaml", "id: p\nvlan_scheme: none\nttl: 60\nautomation: true\npolicy: sync\n");
    let soa = "@ 300 SOA ns1 hostmaster 1 3600 600 86400 60\n@ 300 NS ns1\nns1 300 A 192.0.2.53\n";
    write(&format!("zones/{ZONE}.zone"), &format!("$ORIGIN {ZONE}.\n{soa}"));
    fs::create_dir(folder.path().join("octo")).expect("a folder");
    state(folder.path(), &BTreeSet::from(["192.0.2.1".to_owned()]));
    folder
}

/// States the addresses of the name `a`.
fn state(workspace: &Path, addresses: &BTreeSet<String>) {
    let list: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let text = format!("a: {{type: A, ttl: 60, values: [{}]}}\n", list.join(", "));
    fs::write(workspace.join(format!("octo/.{ZONE}")), text).expect("a file");
    // Replaced at once: a pass reads the old one or the new one.
    fs::rename(workspace.join(format!("octo/.{ZONE}")), workspace.join(format!("octo/{ZONE}.yaml"))).expect("a file");
}

/// The addresses that the server has at the name `a`.
fn live(rig: &Rig) -> BTreeSet<String> {
    let zone = format!("{ZONE}.");
    let records = rig.zone(&zone).records;
    let own = records.iter().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_own = fields.first() == Some(&format!("a.{zone}").as_str()) && fields.contains(&"A");
        is_own.then(|| (*fields.last().expect("fields")).to_owned())
    });
    own.collect()
}

/// A `run` that goes on.
struct Running {
    /// The process.
    child: Child,
    /// The address of its page.
    address: String,
    /// The lines that it printed to standard error.
    said: Arc<Mutex<Vec<String>>>,
}

impl Running {
    /// Starts one, and waits until it says where its page is.
    fn start(workspace: &Path, args: &[&str]) -> Running {
        let mut command = zonewright();
        command.args(["run", "--listen", "127.0.0.1:0"]).args(args).arg("-C").arg(workspace);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let line = lines.by_ref().map(|line| line.expect("a line")).find(|line| line.contains("http://"));
        let line = line.expect("it says where its page is");
        let address = line.split("http://").nth(1).expect("a URL").trim_end_matches('/').to_owned();
        // What it says further is read, so that it never waits for that.
        let said = Arc::new(Mutex::new(Vec::new()));
        let book = Arc::clone(&said);
        thread::spawn(move || lines.for_each(|line| book.lock().expect("it is whole").extend(line.ok())));
        Running { child, address, said }
    }

    /// How many lines it printed that have these words.
    fn said(&self, words: &str) -> usize {
        self.said.lock().expect("it is whole").iter().filter(|line| line.contains(words)).count()
    }

    /// The status and the content of a path.
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: page\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("it answers");
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, text.split_once("\r\n\r\n").expect("a head").1.to_owned())
    }

    /// A metric.
    fn metric(&self, name: &str) -> Option<f64> {
        let (_, text) = self.get("/metrics");
        let line = text.lines().find(|line| line.starts_with(&format!("{name}{{")))?;
        line.rsplit(' ').next()?.parse().ok()
    }

    /// Sends a signal.
    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Starts a pass, and waits until it has ended.
    fn pass(&self) {
        let before = self.metric("zonewright_passes").unwrap_or_default();
        self.signal("-HUP");
        until("a pass ends", || self.metric("zonewright_passes").unwrap_or_default() > before);
    }

    /// Ends it, and says with which code.
    fn stop(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.child.wait().expect("it ends").code()
    }

    /// Kills it.
    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Running {
    /// A test that fails leaves no process behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "{what}: not within {LONG:?}");
        thread::sleep(LOOK);
    }
}

/// These addresses.
fn of(addresses: &[&str]) -> BTreeSet<String> {
    addresses.iter().map(|address| (*address).to_owned()).collect()
}

#[test]
fn passes_follow_the_files_and_the_page_says_how_it_is_going() {
    let files = files();
    let Some(rig) = Rig::of_files(Kind::Bind, files.path()) else { return };
    let workspace = rig.workspace.path();
    let running = Running::start(workspace, &["--interval", "1h"]);
    until("it is ready", || running.get("/readyz").0 == 200);
    assert_eq!(live(&rig), of(&["192.0.2.1"]));
    assert_eq!(running.get("/healthz"), (200, "ok\n".to_owned()));
    let (status, page) = running.get("/");
    assert!(status == 200 && page.contains("The last pass did what its plan says"), "{page}");
    assert!(page.contains("http-equiv=\"refresh\"") && !page.contains("<script"), "{page}");
    assert!(running.get("/plan").1.contains("1 to create"));
    assert_eq!(running.get("/nothing").0, 404);
    assert_eq!(running.metric("zonewright_leader"), Some(1.0));

    state(workspace, &of(&["192.0.2.1", "192.0.2.2"]));
    running.pass();
    assert_eq!(live(&rig), of(&["192.0.2.1", "192.0.2.2"]));

    // Settings that are broken stop it from doing anything, and are said; fixed ones let it go on.
    let settings = workspace.join("zonewright.toml");
    let good = fs::read_to_string(&settings).expect("the settings");
    fs::write(&settings, format!("{good}nonsense = [\n")).expect("the settings");
    state(workspace, &of(&["192.0.2.3"]));
    running.signal("-HUP");
    until("the error is seen", || running.metric("zonewright_config_ok") == Some(0.0));
    let (_, page) = running.get("/");
    assert!(page.contains("The configuration is broken") && page.contains("toml-syntax"), "{page}");
    assert_eq!(live(&rig), of(&["192.0.2.1", "192.0.2.2"]));
    assert_eq!(running.get("/healthz").0, 200, "it is well: a person must fix the settings");
    fs::write(&settings, good).expect("the settings");
    running.pass();
    assert_eq!(running.metric("zonewright_config_ok"), Some(1.0));
    assert_eq!(live(&rig), of(&["192.0.2.3"]));

    // A person's command has the state: the pass comes after it.
    let lock = File::options().write(true).open(workspace.join(".zonewright/state.db.lock")).expect("a lock");
    lock.lock().expect("it is free between two passes");
    state(workspace, &of(&["192.0.2.4"]));
    let passes = running.metric("zonewright_passes");
    running.signal("-HUP");
    thread::sleep(Duration::from_millis(500));
    assert_eq!((running.metric("zonewright_passes"), live(&rig)), (passes, of(&["192.0.2.3"])));
    drop(lock);
    until("the pass is made", || live(&rig) == of(&["192.0.2.4"]));
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn a_plan_is_used_again_until_something_moves() {
    let files = files();
    let Some(rig) = Rig::of_files(Kind::Bind, files.path()) else { return };
    let workspace = rig.workspace.path();
    let running = Running::start(workspace, &["--interval", "0s", "-v"]);
    let used = || running.said("nothing has moved");
    let used_again = |what: &str| {
        let before = used();
        until(what, || used() > before + 1);
    };
    until("the first change is live", || live(&rig) == of(&["192.0.2.1"]));
    used_again("a plan is used again after an apply");

    // A row, a record of ours that another editor changes, one of its own, and a touch.
    state(workspace, &of(&["192.0.2.2"]));
    until("the row is followed", || live(&rig) == of(&["192.0.2.2"]));
    used_again("a plan is used again after a row");
    let edit = format!("update delete a.{ZONE}. A\nupdate add a.{ZONE}. 60 A 203.0.113.9\n");
    rig.nsupdate(&format!("{ZONE}."), &edit);
    until("the edit is taken back", || live(&rig) == of(&["192.0.2.2"]));
    used_again("a plan is used again after an edit");
    rig.nsupdate(&format!("{ZONE}."), &format!("update add x.{ZONE}. 60 A 203.0.113.1\n"));
    used_again("a plan is used again after a record of another editor");
    assert_eq!(live(&rig), of(&["192.0.2.2"]));
    state(workspace, &of(&["192.0.2.2"]));
    used_again("a plan is used again after a touch");

    // Who asks for a pass gets a plan that is made anew.
    let passes = Running::start(workspace, &["--interval", "1h", "--dry-run", "-v"]);
    until("its first pass has ended", || passes.metric("zonewright_passes") == Some(1.0));
    passes.pass();
    assert_eq!((passes.said("nothing has moved"), passes.stop()), (0, Some(0)));
    assert_eq!(running.stop(), Some(0));
}

/// A workspace with three hosts, whose exports are never too old.
fn fleet() -> TempDir {
    let files = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), files.path());
    edit(files.path(), "[[pool.main.target]]", "[limits]\nmax_loss = \"100%\"\n\n[[pool.main.target]]");
    for (file, date) in [
        ("l3-tors.txt", "# generated: 2026-11-20T01:00:00Z\n"),
        ("net-layout.xml", " generated=\"2026-11-20T01:00:00Z\""),
    ] {
        let path = files.path().join("racktables").join(file);
        let text = fs::read_to_string(&path).expect("an export");
        fs::write(path, text.replace(date, "")).expect("an export");
    }
    files
}

#[test]
fn what_moves_between_passes_is_read_and_looked_at_alone() {
    let files = fleet();
    let Some(rig) = Rig::of_files(Kind::Bind, files.path()) else { return };
    let workspace = rig.workspace.path();
    let running = Running::start(workspace, &["--interval", "0s", "-vv"]);
    let zone = "web.example.net.";
    let has = |name: &str| rig.zone(zone).rrset(&format!("{name}.{zone}"), "AAAA").len() == 1;
    let idle = |what: &str| {
        let before = running.said("nothing has moved");
        until(what, || running.said("nothing has moved") > before + 1);
    };
    until("the first plan is live", || has("sas0-0002"));
    idle("a plan is used again");

    // A host gets another name, another host comes before it, and one goes; a person edits a record meanwhile.
    let rows = workspace.join("racktables/hosts.csv");
    let replace = |from: &str, to: &str| {
        let text = fs::read_to_string(&rows).expect("rows");
        assert!(text.contains(from), "{text}");
        let new = rows.with_extension("new");
        fs::write(&new, text.replace(from, to)).expect("rows");
        fs::rename(new, &rows).expect("rows");
    };
    let edit = format!("update delete sas0-0001.{zone} AAAA\nupdate add sas0-0001.{zone} 600 AAAA 2001:db8::bad\n");
    for (from, to) in [
        ("102,sas0-0002.", "102,sas0-0003."),
        ("102,sas0-0003.", "100,sas0-0009.web.example.net,web,free,sas,q1,r1,sas-s1,ge1,\n102,sas0-0004."),
        ("201,db-sas1.db.example.net,db,assigned,sas,q1,r2,sas-s9,ge1,\n", ""),
    ] {
        rig.nsupdate(zone, &edit);
        replace(from, to);
        let name = fs::read_to_string(&rows).expect("rows");
        let name = name.lines().find_map(|line| line.strip_prefix("102,")?.split('.').next()).expect("host 102");
        until("the row is followed", || has(name));
        let is_put_right =
            || !rig.zone(zone).rrset(&format!("sas0-0001.{zone}"), "AAAA").iter().any(|line| line.contains("bad"));
        until("the edit is taken back", is_put_right);
        idle("a plan is used again");
    }
    assert!(running.said("of the inventory the rows of 1 hosts") >= 2, "rows were read again as a whole");
    let planned =
        zonewright().args(["plan", "--format", "json", "-C"]).arg(workspace).output().expect("the program runs");
    let planned: Value = serde_json::from_slice(&planned.stdout).expect("a plan");
    assert_eq!(planned["changes"], Value::Array(Vec::new()), "another process finds something to do");
    assert_eq!(running.stop(), Some(0));
}

#[test]
fn a_signal_ends_a_pass_at_once_that_waits_for_a_server() {
    let files = files();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let settings = files.path().join("zonewright.toml");
    let text = fs::read_to_string(&settings).expect("the settings");
    let target =
        format!("type = \"rfc2136\"\nserver = \"{}\"\ntimeout = \"10m\"", silent.local_addr().expect("an address"));
    fs::write(&settings, text.replace("type = \"zonefile\"\ndir = \"zones\"", &target)).expect("the settings");
    for signal in ["-TERM", "-INT"] {
        let mut running = Running::start(files.path(), &["--interval", "1h"]);
        let (_connection, _) = silent.accept().expect("it asks the server");
        running.signal(signal);
        let mut ended = None;
        until("it ends", || {
            ended = running.child.try_wait().expect("it is ours");
            ended.is_some()
        });
        assert_eq!(ended.and_then(|status| status.code()), Some(0));
    }
}

#[test]
fn one_of_two_makes_the_passes_and_the_other_one_takes_over() {
    let files = files();
    let Some(rig) = Rig::of_files(Kind::Bind, files.path()) else { return };
    let workspace = rig.workspace.path();
    let first = Running::start(workspace, &["--interval", "1s"]);
    until("the first is ready", || first.get("/readyz").0 == 200);
    let second = Running::start(workspace, &["--interval", "1s"]);
    until("the second waits", || second.get("/readyz") == (200, "ready to take over\n".to_owned()));
    assert_eq!(second.metric("zonewright_leader"), Some(0.0));
    assert_eq!((second.get("/readyz").0, second.get("/healthz").0), (200, 200));
    assert!(second.get("/").1.contains(&format!("process {}", first.child.id())), "{}", second.get("/").1);
    first.kill();
    state(workspace, &of(&["192.0.2.7"]));
    until("the second leads", || second.metric("zonewright_leader") == Some(1.0));
    until("the second makes passes", || live(&rig) == of(&["192.0.2.7"]));
    assert_eq!(second.stop(), Some(0));
}

#[test]
fn one_pass_ends_as_an_unattended_apply_does_and_a_dry_one_changes_nothing() {
    let files = files();
    let Some(rig) = Rig::of_files(Kind::Bind, files.path()) else { return };
    let run = |args: &[&str]| {
        let mut command = zonewright();
        command.args(["run", "--once"]).args(args).arg("-C").arg(rig.workspace.path());
        let output = command.output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = run(&["--dry-run"]);
    assert!(code == Some(0) && said.contains("1 to create") && !said.contains("Applied"), "{said}");
    assert_eq!(live(&rig), of(&[]));
    let (code, said) = run(&[]);
    assert!(code == Some(0) && said.contains("Applied"), "{said}");
    assert_eq!(live(&rig), of(&["192.0.2.1"]));
    fs::write(rig.workspace.path().join("zonewright.toml"), "nonsense = [\n").expect("the settings");
    assert_eq!(run(&[]).0, Some(1));
}

/// Asserts by the journal that no apply began before the one before it ended, and by the log of the server that all updates form one
/// chain: the epochs of their markers grow with each apply, and their numbers within it.
fn assert_one_writer_at_a_time(workspace: &Path, rig: &Rig) {
    let history =
        zonewright().args(["history", "--format", "json", "-C"]).arg(workspace).output().expect("the program runs");
    let history: Value = serde_json::from_slice(&history.stdout).expect("a document");
    let text = |apply: &Value, key: &str| apply[key].as_str().map(str::to_owned);
    let mut applies: Vec<&Value> = history["applies"].as_array().expect("applies").iter().collect();
    applies.reverse();
    for pair in applies.windows(2) {
        // One whose process was killed has no end.
        if let (Some(ended), Some(begun)) = (text(pair[0], "finished"), text(pair[1], "started")) {
            assert!(milliseconds(&ended) <= milliseconds(&begun), "{ended}, then {begun}");
        }
    }
    let printed = Command::new("/usr/bin/named-journalprint")
        .arg(rig.server.folder().join(format!("{ZONE}.zone.jnl")))
        .output()
        .expect("it runs");
    let printed = String::from_utf8_lossy(&printed.stdout);
    let added = printed.lines().filter(|line| line.starts_with("add _zonewright."));
    let markers: Vec<(u64, u64)> = added.map(marker).collect();
    assert!(markers.len() > 2, "{printed}");
    for pair in markers.windows(2) {
        assert!(pair[0] < pair[1], "{:?}, then {:?}", pair[0], pair[1]);
    }
}

/// The epoch and the number of a marker in a line of a log.
fn marker(line: &str) -> (u64, u64) {
    let number = |key: &str| {
        let field = line.split(['"', ' ']).find_map(|field| field.strip_prefix(key)).expect("a field");
        field.parse().expect("a number")
    };
    (number("e="), number("b="))
}

/// A time of the journal: when an apply began is kept to the millisecond.
fn milliseconds(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().expect("a time").as_millisecond()
}

/// How many rounds of changes there are: `RUN_ROUNDS`.
fn rounds() -> u64 {
    std::env::var("RUN_ROUNDS").map_or(12, |count| count.parse().expect("a number"))
}

/// How much memory a process has, in kibibytes, and how many files it has open.
fn measures(child: &Child) -> (u64, usize) {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    let memory = line.trim().trim_end_matches(" kB").parse().expect("a number");
    (memory, fs::read_dir(format!("/proc/{}/fd", child.id())).expect("it runs").count())
}

#[test]
fn whatever_happens_between_passes_the_last_change_is_live_in_the_end() {
    let files = files();
    let Some(rig) = Rig::of_files(Kind::Bind, files.path()) else { return };
    let workspace = rig.workspace.path();
    let start = || Running::start(workspace, &["--interval", "0s"]);
    let mut all = [start(), start()];
    let mut dice = 7u64;
    let mut roll = |below: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        dice % below
    };
    for round in 0..rounds() {
        let wanted: BTreeSet<String> = (0..1 + roll(4)).map(|_| format!("198.51.100.{}", roll(250))).collect();
        let leader = usize::from(all[0].metric("zonewright_leader") != Some(1.0));
        let is_killed = match roll(4) {
            0 => true,
            // Another editor writes what is ours, and something else.
            1 => {
                rig.nsupdate(&format!("{ZONE}."), &format!("update add x{round}.{ZONE}. 60 A 203.0.113.1\n"));
                false
            }
            _ => false,
        };
        let before = all[leader].metric("zonewright_passes");
        state(workspace, &wanted);
        if is_killed {
            // The leader dies, wherever it is.
            std::mem::replace(&mut all[leader], start()).kill();
        }
        let since = before.filter(|before| !is_killed && *before > 0.0);
        until("the change is live", || {
            let ended = since.map(|before| all[leader].metric("zonewright_passes").unwrap_or_default() - before);
            let is_live = live(&rig) == wanted;
            // One pass may have read the files before they changed; of two that begin then the second is enough, whatever another
            // editor does meanwhile.
            assert!(
                is_live || ended.is_none_or(|ended| ended <= 3.0),
                "{ended:?} passes ended, and the change is not live"
            );
            is_live
        });
        let leaders = all.iter().filter(|one| one.metric("zonewright_leader") == Some(1.0)).count();
        assert!(leaders <= 1, "{leaders} lead");
    }
    let first = measures(&all[0].child);
    thread::sleep(Duration::from_secs(2));
    let later = measures(&all[0].child);
    assert!(later.0 <= first.0 * 5 / 4 && later.1 <= first.1 + 2, "{first:?}, then {later:?}");
    for one in all {
        assert_eq!(one.stop(), Some(0));
    }
    assert_one_writer_at_a_time(workspace, &rig);
    // Nothing is left open, and the next plan is empty.
    let plan = zonewright().args(["plan", "--detailed-exitcode", "-C"]).arg(workspace).output().expect("it runs");
    assert_eq!(plan.status.code(), Some(0), "{}", String::from_utf8_lossy(&plan.stdout));
}
