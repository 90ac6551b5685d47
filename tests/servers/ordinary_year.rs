//! An ordinary year of a fleet of a dozen hosts, from `init` on: what a person does, reads and gets from BIND, day by
//! day, and on three bad days.
//!
//! Time passes by `--now` alone. The settings are those of `init`: its limits let every ordinary day through.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::net::Ipv6Addr;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::clock::with_clock;
use crate::edit::edit;
use crate::rig::{Rig, marker_name, text_of};
use crate::server::Kind;
use crate::workspace::zonewright;

/// The day of `init` and of the first applies.
const JANUARY: &str = "2026-01-05T08:00:00Z";

/// The plan of every day: it exits with 0 only where it has no changes.
const PLAN: &[&str] = &["plan", "--detailed-exitcode"];

/// The apply of every day.
const APPLY: &[&str] = &["apply", "--yes"];

/// What a plan says where there is nothing to do and no host is blocked.
const NOTHING: &str = "No changes: live DNS matches the inventory.";

/// How long BIND may take to load a zone that is new in its settings.
const RELOAD: Duration = Duration::from_secs(60);

/// The export of hosts.
const HOSTS: &str = "exports/hosts.csv";

/// The export of networks.
const NETWORKS: &str = "exports/l3-tors.txt";

/// The reports of the agents.
const REPORTS: &str = "agents/example.jsonl";

/// The administrator's settings.
const SETTINGS: &str = "zonewright.toml";

/// The settings of the owner of the first project.
const PROJECT: &str = "projects/example.yaml";

/// A change that is planned and applied.
struct Step<'a> {
    /// When.
    day: &'a str,
    /// The verdict of the plan.
    plan: &'a str,
    /// A sentence of the plan that says why.
    why: &'a str,
    /// The outcome of the apply.
    applied: &'a str,
    /// What the server then serves otherwise than before.
    served: &'a [&'a str],
    /// The verdict of the next plan, which has no changes.
    then: &'a str,
}

/// The fleet in the course of the year.
struct Year {
    /// The workspace and its server.
    rig: Rig,
    /// The records that the server served at the last look, as [`readable`] writes them.
    seen: BTreeSet<String>,
}

/// What a person sees of a command.
struct Screen {
    /// The exit code.
    exit: Option<i32>,
    /// Standard output.
    text: String,
    /// Standard error.
    errors: String,
}

/// Makes the workspace of `init`, without the comments behind its settings: the harness replaces the target by its
/// exact text.
fn init() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let made = run(folder.path(), zonewright(), JANUARY, &["init", "fleet"]);
    assert_eq!(made.exit, Some(0), "{}", made.errors);
    let file = folder.path().join("fleet").join(SETTINGS);
    let text = fs::read_to_string(&file).expect("the settings");
    let bare = text.lines().map(|line| line.split("  #").next().unwrap_or_default().trim_end().to_owned() + "\n");
    fs::write(&file, bare.collect::<String>()).expect("the settings");
    folder
}

/// Runs a command on a day, for a terminal so wide that no sentence is broken.
fn run(workspace: &Path, mut command: Command, day: &str, args: &[&str]) -> Screen {
    command.arg("-C").arg(workspace).args(["--now", day]).args(args).env("NO_COLOR", "1").env("COLUMNS", "400");
    let Output { status, stdout, stderr } = command.output().expect("the program runs");
    Screen { exit: status.code(), text: text_of(&stdout), errors: text_of(&stderr) }
}

impl Screen {
    /// Checks the exit code, and the verdict, which comes first and at the end.
    fn judged(self, exit: i32, verdict: &str) -> Screen {
        assert_eq!(self.exit, Some(exit), "{self}");
        let lines: Vec<&str> = self.text.lines().collect();
        assert_eq!(lines.first(), Some(&verdict), "{self}");
        assert!(lines.iter().rev().take(2).any(|line| *line == verdict), "{self}");
        self
    }

    /// Checks that an apply could make no plan for a cause, and that this is its whole verdict.
    fn changes_nothing(self, cause: &str) {
        assert_eq!(self.exit, Some(1), "{self}");
        let verdict = self.text.lines().next().unwrap_or_default();
        assert!(verdict.starts_with("No plan: ") && !self.text.contains("Applied"), "{self}");
        self.says(cause);
    }

    /// Checks that a sentence is there.
    fn says(self, sentence: &str) -> Screen {
        assert!(self.text.contains(sentence) || self.errors.contains(sentence), "{sentence:?} is not in\n{self}");
        self
    }
}

impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit {:?}\n{}\n{}", self.exit, self.text, self.errors)
    }
}

impl Year {
    /// Begins with what `init` makes, its zones in BIND.
    fn begin() -> Option<Year> {
        let folder = init();
        let rig = Rig::of_files(Kind::Bind, &folder.path().join("fleet"))?;
        let mut year = Year { rig, seen: BTreeSet::new() };
        year.changed();
        Some(year)
    }

    /// The folder of the workspace.
    fn workspace(&self) -> &Path {
        self.rig.workspace.path()
    }

    /// Runs a command on a day.
    fn run(&self, day: &str, args: &[&str]) -> Screen {
        run(self.workspace(), zonewright(), day, args)
    }

    /// Plans on a day.
    fn plan(&self, day: &str) -> Screen {
        self.run(day, PLAN)
    }

    /// Replaces a part of a file that is there once.
    fn edit(&self, file: &str, part: &str, by: &str) {
        edit(self.workspace(), file, part, by);
    }

    /// Adds lines to a file.
    fn add(&self, file: &str, lines: &str) {
        let path = self.workspace().join(file);
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, text + lines).expect("a file of the workspace");
    }

    /// The agent of a host reports where it is.
    fn report(&self, day: &str, host: u8, switch: &str) {
        let mac = format!("00:00:5e:00:53:{host:02x}");
        let line = format!("{{\"time\":\"{day}\",\"inv\":{host},\"mac\":\"{mac}\",\"switch\":\"{switch}\"}}\n");
        self.add(REPORTS, &line);
    }

    /// Plans, applies, looks at what is served, and plans once more.
    fn step(&mut self, step: &Step<'_>) {
        let changed = self.step_of_many(step);
        assert_eq!(changed, step.served);
    }

    /// As [`Year::step`] for a step of many records, of which `served` names a few; gives all of them.
    fn step_of_many(&mut self, Step { day, plan, why, applied, served, then }: &Step<'_>) -> Vec<String> {
        self.plan(day).judged(2, plan).says(why);
        let screen = self.run(day, APPLY);
        assert_eq!(screen.exit, Some(0), "{screen}");
        assert!(screen.text.lines().any(|line| line == *applied), "{screen}");
        let changed = self.changed();
        for record in *served {
            assert!(changed.iter().any(|line| line == record), "{record:?} is not in {changed:#?}");
        }
        self.plan(day).judged(0, then);
        changed
    }

    /// The records that the server no longer serves (`-`) and those that are new (`+`) since the last look, without the
    /// markers of zonewright.
    fn changed(&mut self) -> Vec<String> {
        let mut served = BTreeSet::new();
        for (zone, contents) in self.rig.all_zones() {
            let is_ours = |line: &&String| line.starts_with(&format!("{} ", marker_name(&zone)));
            served.extend(contents.records.iter().filter(|line| !is_ours(line)).map(|line| readable(line)));
        }
        let gone = self.seen.difference(&served).map(|line| format!("- {line}"));
        let come = served.difference(&self.seen).map(|line| format!("+ {line}"));
        let changed = gone.chain(come).collect();
        self.seen = served;
        changed
    }

    /// Adds a zone to the settings of BIND, makes BIND read them, and waits until it serves the zone.
    fn serve(&mut self, zone: &str) {
        let folder = self.rig.server.folder();
        let apex =
            format!("$TTL 3600\n@ SOA ns.{zone}. hostmaster.{zone}. 1 3600 600 604800 300\n@ NS ns\nns A 192.0.2.53\n");
        fs::write(folder.join(format!("{zone}.zone")), apex).expect("a zone file");
        let settings = folder.join("named.conf");
        let text = fs::read_to_string(&settings).expect("the settings");
        let like = text.lines().find(|line| line.starts_with("zone \"example.net\"")).expect("a zone");
        fs::write(&settings, format!("{text}{}\n", like.replace("example.net", zone))).expect("the settings");
        let pid = self.rig.server.process().to_string();
        assert!(Command::new("kill").args(["-HUP", &pid]).status().expect("kill runs").success());
        let deadline = Instant::now() + RELOAD;
        let is_there = || {
            let answer = self.rig.other("dig").args(["+short", zone, "SOA"]).output().expect("dig runs");
            !answer.stdout.is_empty()
        };
        while !is_there() {
            assert!(Instant::now() < deadline, "BIND does not load {zone}");
            thread::sleep(Duration::from_millis(50));
        }
        self.rig.zones.push(format!("{zone}."));
    }
}

/// A record's line, with the address in place of an owner name in ip6.arpa.
fn readable(line: &str) -> String {
    let (owner, rest) = line.split_once(' ').expect("a record");
    let Some(nibbles) = owner.strip_suffix(".ip6.arpa.").filter(|nibbles| nibbles.len() == 63) else {
        return line.to_owned();
    };
    let digits: String = nibbles.split('.').rev().collect();
    format!("{} {rest}", Ipv6Addr::from(u128::from_str_radix(&digits, 16).expect("nibbles")))
}

#[test]
fn a_person_gets_through_an_ordinary_year() {
    let Some(mut year) = Year::begin() else { return };
    the_first_apply(&mut year);
    a_rack_is_filled(&mut year);
    a_host_is_added(&mut year);
    a_host_moves_to_another_network(&mut year);
    a_host_is_renamed(&mut year);
    a_host_is_retired(&mut year);
    a_vlan_changes_its_prefix(&mut year);
    a_record_of_another_editor_is_put_right(&mut year);
    the_ttl_changes(&mut year);
    a_project_is_added(&mut year);
    a_zone_is_added(&mut year);
    the_clock_is_wrong(&mut year);
    the_key_is_wrong(&mut year);
    the_server_is_dead(year);
}

/// The example of `init`, whose zones another editor began: one host is new, two need something of people.
fn the_first_apply(year: &mut Year) {
    year.plan(JANUARY).says("no-name  1  4").says("no-mac   1  dc0-0003");
    year.step(&Step {
        day: JANUARY,
        plan: "Plan: 2 to create, 0 to modify, 0 to delete for 1 of 4 hosts; 2 blocked.",
        why: "VLAN 1 of switch `switch-1`",
        applied: "Applied: 1 host changed (2 RRsets in 2 zones), nothing left.",
        served: &[
            "+ 2001:db8:0:1:200:5eff:fe00:5302 3600 PTR dc0-0002.example.net.",
            "+ dc0-0002.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:5302",
        ],
        then: "No changes for 4 hosts; 2 blocked.",
    });
}

/// Host 3 starts, host 4 gets a name, and eight more come: a dozen.
fn a_rack_is_filled(year: &mut Year) {
    let day = "2026-01-19T08:00:00Z";
    for host in 5..=12 {
        year.add(HOSTS, &format!("{host},dc0-{host:04}.example.net,example,assigned,dc,,,switch-1,,\n"));
        year.report(day, host, "switch-1");
    }
    year.report(day, 3, "switch-2");
    year.report(day, 4, "switch-2");
    let named = year.run(day, &["allocate", "--write"]).says("+4\tdc0-0004.example.net\t").says("1 host gets a name");
    assert_eq!(named.exit, Some(0), "{named}");
    let changed = year.step_of_many(&Step {
        day,
        plan: "Plan: 20 to create, 0 to modify, 0 to delete for 10 of 12 hosts.",
        why: "hosts of `example` that are new in hosts.csv",
        applied: "Applied: 10 hosts changed (20 RRsets in 2 zones), nothing left.",
        served: &["+ dc0-0004.example.net. 3600 AAAA 2001:db8:0:2:200:5eff:fe00:5304"],
        then: NOTHING,
    });
    assert_eq!(changed.len(), 20);
}

/// A host is in hosts.csv before it starts for the first time.
fn a_host_is_added(year: &mut Year) {
    let day = "2026-02-02T08:00:00Z";
    year.add(HOSTS, "13,dc0-0013.example.net,example,assigned,dc,,,switch-1,,\n");
    year.plan(day).judged(0, "No changes for 13 hosts; 1 blocked.").says("no-mac  1  dc0-0013");
    year.report(day, 13, "switch-1");
    year.step(&Step {
        day,
        plan: "Plan: 2 to create, 0 to modify, 0 to delete for 1 of 13 hosts.",
        why: "hosts of `example` that are new in hosts.csv",
        applied: "Applied: 1 host changed (2 RRsets in 2 zones), nothing left.",
        served: &[
            "+ 2001:db8:0:1:200:5eff:fe00:530d 3600 PTR dc0-0013.example.net.",
            "+ dc0-0013.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:530d",
        ],
        then: NOTHING,
    });
}

/// Its name stays, its address changes.
fn a_host_moves_to_another_network(year: &mut Year) {
    let day = "2026-03-02T08:00:00Z";
    year.edit(
        HOSTS,
        "2,dc0-0002.example.net,example,assigned,dc,,,switch-1",
        "2,dc0-0002.example.net,example,assigned,dc,,,switch-2",
    );
    year.report(day, 2, "switch-2");
    year.step(&Step {
        day,
        plan: "Plan: 1 to create, 1 to modify, 1 to delete for 1 of 13 hosts.",
        why: "hosts that moved from switch `switch-1` to `switch-2`",
        applied: "Applied: 1 host changed (3 RRsets in 2 zones), nothing left.",
        served: &[
            "- 2001:db8:0:1:200:5eff:fe00:5302 3600 PTR dc0-0002.example.net.",
            "- dc0-0002.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:5302",
            "+ 2001:db8:0:2:200:5eff:fe00:5302 3600 PTR dc0-0002.example.net.",
            "+ dc0-0002.example.net. 3600 AAAA 2001:db8:0:2:200:5eff:fe00:5302",
        ],
        then: NOTHING,
    });
}

/// Its address stays, its name changes; the old name goes at once, since the host has another.
fn a_host_is_renamed(year: &mut Year) {
    let day = "2026-04-06T08:00:00Z";
    year.edit(HOSTS, "5,dc0-0005.example.net", "5,db1.example.net");
    year.step(&Step {
        day,
        plan: "Plan: 1 to create, 1 to modify, 1 to delete for 1 of 13 hosts.",
        why: "hosts of `example` that have another name",
        applied: "Applied: 1 host changed (3 RRsets in 2 zones), nothing left.",
        served: &[
            "- 2001:db8:0:1:200:5eff:fe00:5305 3600 PTR dc0-0005.example.net.",
            "- dc0-0005.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:5305",
            "+ 2001:db8:0:1:200:5eff:fe00:5305 3600 PTR db1.example.net.",
            "+ db1.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:5305",
        ],
        then: NOTHING,
    });
}

/// Its records stay for `delete_after`, a day in the settings of `init`, in case the row was lost by mistake.
fn a_host_is_retired(year: &mut Year) {
    let day = "2026-05-04T08:00:00Z";
    let waiting = "No changes for 12 hosts; 2 RRsets waiting.";
    year.edit(HOSTS, "6,dc0-0006.example.net,example,assigned,dc,,,switch-1,,\n", "");
    year.plan(day).judged(0, waiting).says("AAAA dc0-0006.example.net.");
    let screen = year.run(day, APPLY).says(waiting).says("Nothing was changed");
    assert_eq!(screen.exit, Some(0), "{screen}");
    year.plan(day).judged(0, waiting).says("due 2026-05-05T08:00:00Z");
    assert_eq!(year.changed(), [""; 0]);
    year.step(&Step {
        day: "2026-05-06T08:00:00Z",
        plan: "Plan: 0 to create, 0 to modify, 2 to delete at unclaimed names.",
        why: "Deleted: no host and no file has the name",
        applied: "Applied: 1 unclaimed name changed (2 RRsets in 2 zones), nothing left.",
        served: &[
            "- 2001:db8:0:1:200:5eff:fe00:5306 3600 PTR dc0-0006.example.net.",
            "- dc0-0006.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:5306",
        ],
        then: NOTHING,
    });
}

/// Eight hosts move at once; the ninth has the record that was there before `init`, which zonewright did not create.
fn a_vlan_changes_its_prefix(year: &mut Year) {
    year.edit(NETWORKS, "2001:db8:0:1::/64", "2001:db8:0:a1::/64");
    let changed = year.step_of_many(&Step {
        day: "2026-06-08T08:00:00Z",
        plan: "Plan: 8 to create, 8 to modify, 8 to delete for 8 of 12 hosts; 1 blocked.",
        why: "VLAN 1 of switch `switch-1` moved from `2001:db8:0:1::/64` to `2001:db8:0:a1::/64`",
        applied: "Applied: 8 hosts changed (24 RRsets in 2 zones), nothing left.",
        served: &[
            "- db1.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:5305",
            "+ db1.example.net. 3600 AAAA 2001:db8:0:a1:200:5eff:fe00:5305",
            "+ 2001:db8:0:a1:200:5eff:fe00:5305 3600 PTR db1.example.net.",
        ],
        then: "No changes for 12 hosts; 1 blocked.",
    });
    assert_eq!(changed.len(), 8 * 4);
}

/// The hint names two ways; a person who trusts the plans by now takes the second.
fn a_record_of_another_editor_is_put_right(year: &mut Year) {
    let day = "2026-06-08T09:00:00Z";
    let screen = year.run(day, &["plan", "-v", "--host", "1"]);
    screen.says("`fleet` did not create").says("hint: correct it by hand, or set `permission = \"full\"` for its zone");
    let file = year.workspace().join(SETTINGS);
    let text = fs::read_to_string(&file).expect("the settings");
    fs::write(&file, text.replace("permission = \"own\"", "permission = \"full\"")).expect("the settings");
    year.step(&Step {
        day,
        plan: "Plan: 1 to create, 1 to modify, 1 to delete for 1 of 12 hosts.",
        why: "VLAN 1 of switch `switch-1`: `2001:db8:0:a1::/64`",
        applied: "Applied: 1 host changed (3 RRsets in 2 zones), nothing left.",
        served: &[
            "- 2001:db8:0:1:200:5eff:fe00:5301 3600 PTR dc0-0001.example.net.",
            "- dc0-0001.example.net. 3600 AAAA 2001:db8:0:1:200:5eff:fe00:5301",
            "+ 2001:db8:0:a1:200:5eff:fe00:5301 3600 PTR dc0-0001.example.net.",
            "+ dc0-0001.example.net. 3600 AAAA 2001:db8:0:a1:200:5eff:fe00:5301",
        ],
        then: NOTHING,
    });
}

/// Every record of the project changes, and no data.
fn the_ttl_changes(year: &mut Year) {
    year.add(PROJECT, "ttl: 600\n");
    let changed = year.step_of_many(&Step {
        day: "2026-08-10T08:00:00Z",
        plan: "Plan: 0 to create, 24 to modify, 0 to delete for 12 of 12 hosts.",
        why: "the TTL of `example`, 600",
        applied: "Applied: 12 hosts changed (24 RRsets in 2 zones), nothing left.",
        served: &[
            "- db1.example.net. 3600 AAAA 2001:db8:0:a1:200:5eff:fe00:5305",
            "+ db1.example.net. 600 AAAA 2001:db8:0:a1:200:5eff:fe00:5305",
            "+ 2001:db8:0:a1:200:5eff:fe00:5305 600 PTR db1.example.net.",
        ],
        then: NOTHING,
    });
    assert_eq!(changed.len(), 24 * 2);
}

/// Its hosts have names in a zone that is there.
fn a_project_is_added(year: &mut Year) {
    let day = "2026-09-07T08:00:00Z";
    year.add("projects/lab.yaml", "id: lab\nvlan_scheme: static\nvlans: {main: 1}\nautomation: true\n");
    year.add(SETTINGS, "[project.lab]\ndns_domain = \"lab.example.net\"\nautomation = \"allowed\"\n");
    year.add(HOSTS, "21,lab1.lab.example.net,lab,assigned,dc,,,switch-2,,\n");
    year.report(day, 21, "switch-2");
    year.step(&Step {
        day,
        plan: "Plan: 2 to create, 0 to modify, 0 to delete for 1 of 13 hosts.",
        why: "hosts of `lab` that are new in hosts.csv",
        applied: "Applied: 1 host changed (2 RRsets in 2 zones), nothing left.",
        served: &[
            "+ 2001:db8:0:2:200:5eff:fe00:5315 3600 PTR lab1.lab.example.net.",
            "+ lab1.lab.example.net. 3600 AAAA 2001:db8:0:2:200:5eff:fe00:5315",
        ],
        then: NOTHING,
    });
}

/// Its hosts come first, then its name in the settings of zonewright, and at last its name in those of BIND.
fn a_zone_is_added(year: &mut Year) {
    let day = "2026-10-05T08:00:00Z";
    year.add("projects/web.yaml", "id: web\nvlan_scheme: static\nvlans: {main: 1}\nautomation: true\n");
    year.add(SETTINGS, "[project.web]\ndns_domain = \"web.example\"\nautomation = \"allowed\"\n");
    year.add(HOSTS, "31,web1.web.example,web,assigned,dc,,,switch-2,,\n");
    year.report(day, 31, "switch-2");
    year.plan(day).judged(0, "No changes for 14 hosts; 1 blocked.").says("no-zone  1  web1");
    let screen = year.run(day, &["plan", "-v", "--host", "31"]);
    screen.says("no configured zone holds `web1.web.example.`").says("hint: add a [[zone]] for it to zonewright.toml");
    year.add(SETTINGS, "[[zone]]\nname = \"web.example\"\npool = \"main\"\npermission = \"full\"\n");
    year.plan(day)
        .judged(1, "No changes for 14 hosts; 1 blocked; no plan for 1 of 3 zones.")
        .says("zone web.example.: error[zone-not-served]: the server answers NOTAUTH")
        .says("hint: check the zone's name");
    year.serve("web.example");
    year.step(&Step {
        day,
        plan: "Plan: 2 to create, 0 to modify, 0 to delete for 1 of 14 hosts.",
        why: "hosts of `web` that are new in hosts.csv",
        applied: "Applied: 1 host changed (2 RRsets in 2 zones), nothing left.",
        served: &[
            "+ 2001:db8:0:2:200:5eff:fe00:531f 3600 PTR web1.web.example.",
            "+ ns.web.example. 3600 A 192.0.2.53",
            "+ web.example. 3600 NS ns.web.example.",
            "+ web.example. 3600 SOA ns.web.example. hostmaster.web.example. 3600 600 604800 300",
            "+ web1.web.example. 3600 AAAA 2001:db8:0:2:200:5eff:fe00:531f",
        ],
        then: NOTHING,
    });
}

/// More than five minutes: the server does not believe what is signed.
fn the_clock_is_wrong(year: &mut Year) {
    let day = "2026-11-02T08:00:00Z";
    for (skew, side) in [(-400, "ahead of"), (400, "behind")] {
        let command = || with_clock(skew);
        let Some(plan) = command() else { return };
        let planned = run(year.workspace(), plan, day, PLAN);
        assert_eq!(planned.exit, Some(1), "{planned}");
        // Some seconds may pass between both looks at the clock on a busy machine.
        let verdict = planned.text.lines().next().unwrap_or_default().to_owned();
        let unread =
            format!("No plan: 3 of 3 zones could not be read; {}: the clocks differ", year.rig.server.address());
        assert!(verdict.starts_with(&unread) && verdict.ends_with(&format!(" s {side} ours.")), "{verdict}");
        planned.judged(1, &verdict).says("hint: set both clocks by NTP");
        let Some(apply) = command() else { return };
        run(year.workspace(), apply, day, APPLY).changes_nothing("the clocks differ");
    }
    assert_eq!(year.changed(), [""; 0]);
    year.plan(day).judged(0, NOTHING);
}

/// The server has a new secret; the workspace still has the old one.
fn the_key_is_wrong(year: &mut Year) {
    let day = "2026-11-09T08:00:00Z";
    let file = year.workspace().join("secret");
    let right = fs::read_to_string(&file).expect("the secret");
    fs::write(&file, "d3Jvbmc=").expect("the secret");
    let cause = format!("{} finds our signature wrong (BADSIG)", year.rig.server.address());
    year.plan(day)
        .judged(1, &format!("No plan: 3 of 3 zones could not be read; {cause}."))
        .says("hint: the secret here is not the secret of");
    year.run(day, APPLY).changes_nothing(&cause);
    fs::write(&file, right).expect("the secret");
    assert_eq!(year.changed(), [""; 0]);
    year.plan(day).judged(0, NOTHING);
}

/// Nothing listens on its port, while a host is about to be renamed.
fn the_server_is_dead(year: Year) {
    let day = "2026-12-07T08:00:00Z";
    year.edit(HOSTS, "7,dc0-0007.example.net", "7,db2.example.net");
    year.plan(day).judged(2, "Plan: 1 to create, 1 to modify, 1 to delete for 1 of 14 hosts.");
    let Rig { server, workspace, .. } = year.rig;
    let cause = format!("{} refuses connections", server.address());
    drop(server);
    run(workspace.path(), zonewright(), day, PLAN)
        .judged(1, &format!("No plan: 3 of 3 zones could not be read; {cause}."))
        .says("hint: check that the server is running");
    run(workspace.path(), zonewright(), day, APPLY).changes_nothing(&cause);
}
