//! A small fleet on a server or in zone files, in the middle of its life: an apply was made, and another is to come
//! that creates, modifies and deletes in two zones. Whatever is tried with that one, all can be put back.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use zonewright::state::ApplyId;

use crate::fleet::{self, REVERSE_APEX, ZONE};
use crate::hindsight::{differences, without_marker, without_ttl};
use crate::rig::{Applied, Planned, Rig, Zone, apply_command, apply_in, key_of, plan_in, quiet_in};
use crate::server::Kind;
use crate::syscalls::{self, Maker, Point};
use crate::workspace::{copy, edit};

/// The folder of the state.
pub const STATE: &str = ".zonewright";

/// The folder of the zones, where they are files.
const ZONES: &str = "zones";

/// The first of the hosts with long names.
const FIRST_WIDE: usize = 5;

/// How many hosts have a long name and many addresses that they are not to have: so many that their zone takes two
/// updates in one phase.
const WIDE: usize = 4;

/// How many such addresses each of them has: below what BIND lets an RRset have (100).
const ADDRESSES: usize = 75;

/// The apply that is to come, by its number.
pub const COMING: ApplyId = ApplyId(2);

/// What the zones of a yard are in.
enum Live {
    /// A server.
    Served(Rig),
    /// The files of a workspace.
    Files(TempDir),
}

/// The fleet, its zones, and both as they were before the next apply.
pub struct Yard {
    /// Where the zones are.
    live: Live,
    /// The plan of the apply that is to come.
    pub plan: Planned,
    /// The zones before it.
    pub before: Zones,
    /// The records after it, but for the markers.
    pub after: Records,
    /// The own RRsets after it.
    pub own: BTreeSet<(String, String)>,
    /// A copy of the state before it, and of the zones where they are files.
    copies: TempDir,
}

/// Zones by name.
pub type Zones = BTreeMap<String, Zone>;

/// The records of zones, by their names.
pub type Records = BTreeMap<String, BTreeSet<String>>;

impl Yard {
    /// Makes it, with its zones in a server; `None` where the kind is not installed.
    pub fn served(kind: Kind) -> Option<Yard> {
        let files = files();
        let rig = Rig::of_files(kind, files.path())?;
        rig.set_target("timeout = \"10s\"");
        Some(Yard::of(Live::Served(rig)))
    }

    /// Makes it, with its zones in files.
    pub fn in_files() -> Yard {
        Yard::of(Live::Files(files()))
    }

    /// Makes the first apply, and the plan of the one that is to come.
    fn of(live: Live) -> Yard {
        let workspace = live.workspace();
        apply_in(workspace, &plan_in(workspace, &[]).file, &[]).assert_all(0, "applied");
        // One is gone, one has another MAC, one is new, and some have addresses that another editor gave them.
        let moved = (2, short(2).1, "ac1f6bffffff".to_owned());
        let hosts = [moved, short(3), short(4)].into_iter().chain((FIRST_WIDE..FIRST_WIDE + WIDE).map(wide));
        write_hosts(workspace, &hosts.collect::<Vec<_>>());
        let plan = plan_in(workspace, &[]);
        let before = live.zones();
        let copies = tempfile::tempdir().expect("a folder");
        for folder in [STATE, ZONES] {
            if workspace.join(folder).exists() {
                copy(&workspace.join(folder), &copies.path().join(folder));
            }
        }
        let mut yard = Yard { after: after(&plan, &before), own: BTreeSet::new(), live, plan, before, copies };
        yard.own = yard.own_after();
        yard
    }

    /// The workspace.
    pub fn workspace(&self) -> &Path {
        self.live.workspace()
    }

    /// The zones.
    pub fn zones(&self) -> Zones {
        self.live.zones()
    }

    /// The command of the apply that is to come.
    pub fn apply_command(&self) -> Command {
        apply_command(self.workspace(), &self.plan.file, &[])
    }

    /// The command that takes it up again.
    pub fn resume_command(&self) -> Command {
        let mut command = quiet_in(self.workspace());
        command.args(["resume", "--format", "json"]);
        command
    }

    /// Takes it up again.
    pub fn resume(&self) -> Applied {
        Applied::new(self.resume_command().output().expect("the program runs"))
    }

    /// Takes an apply up again by its number.
    pub fn resume_of(&self, id: ApplyId) -> Applied {
        let output = self.resume_command().arg(id.0.to_string()).output();
        Applied::new(output.expect("the program runs"))
    }

    /// Puts zones and state back.
    pub fn put_back(&self) {
        for folder in [STATE, ZONES] {
            let (place, copied) = (self.workspace().join(folder), self.copies.path().join(folder));
            if place.exists() {
                fs::remove_dir_all(&place).expect("a folder of the workspace");
            }
            if copied.exists() {
                copy(&copied, &place);
            }
        }
        let Live::Served(rig) = &self.live else { return };
        for (zone, was) in &self.before {
            let is = rig.zone(zone);
            let line = |(is_missing, line): (bool, &String)| {
                if is_missing { format!("update add {line}") } else { format!("update delete {}", without_ttl(line)) }
            };
            let lines: Vec<String> = differences(&is.records, &was.records).into_iter().map(line).collect();
            // A message holds some of the long names only.
            lines.chunks(150).for_each(|lines| rig.nsupdate(zone, &lines.join("\n")));
        }
    }

    /// Every call of the apply that is to come, after which all is put back.
    pub fn points(&self) -> Vec<Point> {
        syscalls::points(&self.apply_command(), self.copies.path(), |mut command| {
            self.put_back();
            Applied::new(command.output().expect("it runs")).assert_all(0, "applied");
            self.differ_from_after(&self.zones()).expect("the plan is done");
        })
    }

    /// The point of the apply that is to come just before the last so many of its updates are sent.
    pub fn before_updates(&self, count: usize) -> Point {
        let is_send = |point: &Point| point.maker == Maker::Library && point.call == "send";
        let sends = self.points().into_iter().filter(is_send).count();
        // After the updates each of the two zones is read back by one question.
        Point { maker: Maker::Library, call: "send".to_owned(), number: sends - 1 - count }
    }

    /// A folder for whatever a test keeps.
    pub fn copies(&self) -> &Path {
        self.copies.path()
    }
}

impl Live {
    /// The workspace.
    fn workspace(&self) -> &Path {
        match self {
            Live::Served(rig) => rig.workspace.path(),
            Live::Files(folder) => folder.path(),
        }
    }

    /// The zones.
    fn zones(&self) -> Zones {
        match self {
            Live::Served(rig) => rig.all_zones(),
            Live::Files(folder) => {
                let zone = |name: String| {
                    let file = folder.path().join(ZONES).join(format!("{name}zone"));
                    (name.clone(), read_zone(&name, &fs::read_to_string(file).expect("a zone file")))
                };
                [ZONE.to_owned(), format!("{REVERSE_APEX}.")].map(zone).into()
            }
        }
    }
}

/// Reads the file of a zone as it is written here: one record a line, all but the SOA.
fn read_zone(zone: &str, text: &str) -> Zone {
    let absolute = |name: &str| match name {
        "@" => zone.to_owned(),
        name if name.ends_with('.') => name.to_owned(),
        name => format!("{name}.{zone}"),
    };
    let (mut ttl, mut records) = ("", BTreeSet::new());
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().filter(|field| *field != "IN").collect();
        let (of_record, rtype, rdata) = match fields[..] {
            ["$TTL", value] => {
                ttl = value;
                continue;
            }
            [_, "SOA", ..] => continue,
            [_, rtype, rdata] => (ttl, rtype, rdata),
            [_, ttl, rtype, rdata] => (ttl, rtype, rdata),
            _ => panic!("{line}"),
        };
        let rdata = if ["NS", "PTR"].contains(&rtype) { absolute(rdata) } else { rdata.to_owned() };
        records.insert(format!("{} {of_record} {rtype} {rdata}", absolute(fields[0])));
    }
    Zone { serial: 0, records }
}

/// The workspace before the first apply, with its zones in files.
fn files() -> TempDir {
    let files = tempfile::tempdir().expect("a folder");
    fleet::write(files.path(), 0);
    let project = files.path().join("p.yaml");
    let text = fs::read_to_string(&project).expect("the project") + "policy: sync\n";
    fs::write(&project, text).expect("the project");
    let domain = format!("dns_domain = \"example.net\"\nalso_domains = [\"{}\"]\n", long_domain());
    edit(files.path(), "dns_domain = \"example.net\"\n", &domain);
    write_hosts(files.path(), &[1, 2, 3].map(short));
    let zone = files.path().join(ZONES).join("example.net.zone");
    let mut text = fs::read_to_string(&zone).expect("the zone");
    for host in FIRST_WIDE..FIRST_WIDE + WIDE {
        for address in 1..=ADDRESSES {
            let (_, name, _) = wide(host);
            writeln!(text, "{name}. 60 AAAA 2001:db8:{host:x}::{address:x}").expect("a String grows");
        }
    }
    fs::write(&zone, text).expect("the zone");
    files
}

/// A host: number, name, MAC.
type Host = (usize, String, String);

/// A host with a name like any other.
pub fn short(host: usize) -> Host {
    (host, format!("h{host}.example.net"), format!("ac1f6b{host:06x}"))
}

/// A host with a long name.
fn wide(host: usize) -> Host {
    (host, format!("w{host}.{}", long_domain()), format!("ac1f6b{host:06x}"))
}

/// Writes which hosts there are.
fn write_hosts(folder: &Path, hosts: &[Host]) {
    let rows: String = hosts.iter().map(|(inv, name, _)| format!("{inv},{name},p,assigned,sas,,,s1,,\n")).collect();
    let head = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    fs::write(folder.join("hosts.csv"), format!("{head}{rows}")).expect("a file");
    write_macs(folder, hosts);
}

/// Writes which MACs hosts have.
pub fn write_macs(folder: &Path, hosts: &[Host]) {
    let report =
        |(inv, _, mac): &Host| format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":{inv},\"mac\":\"{mac}\"}}\n");
    fs::write(folder.join("macs.jsonl"), hosts.iter().map(report).collect::<String>()).expect("a file");
}

/// A domain whose name is nearly as long as names may be.
fn long_domain() -> String {
    format!("{0}.{0}.{0}.{1}.example.net", "x".repeat(58), "y".repeat(40))
}

/// The records once a plan is done.
fn after(plan: &Planned, before: &Zones) -> Records {
    let mut after: Records =
        before.iter().map(|(zone, of)| (zone.clone(), without_marker(zone, &of.records))).collect();
    for change in plan.changes() {
        let records = after.get_mut(&change.zone).expect("the server has all zones of the plan");
        records.retain(|line| key_of(line) != change.key());
        records.extend(change.after);
    }
    after
}
