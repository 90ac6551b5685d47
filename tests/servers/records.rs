//! DNS update records from end to end: apps, lists and records as files, passes of `run`, and what five servers hold after each,
//! against a calculation that was written apart.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use self::estate::Estate;
use self::expected::{Expected, Holding, Stated, StatedPolicy, StatedService};
use self::files::Places;
use self::people::{RECORDS, RELAY};
use crate::rig::text_of;
use crate::workspace::zonewright;

mod estate;
mod expected;
mod files;
mod people;

/// The settings without the tables of records.
const SETTINGS: &str = "owner = \"house\"
registry = \"txt\"
[sources]
projects = \"web.yaml\"
hosts = \"none\"
dns_update_records = \"dns-update-records/*.yaml\"
record_lists = [\"logical-clouds/*.yaml\", \"clusters/*.yaml\"]
apps = \"apps/*.yaml\"
[[sources.records]]
name = \"static\"
format = \"octodns\"
path = \"octo/*.yaml\"
project = \"web\"
[project.web]
dns_domain = \"example.com\"
also_domains = [\"example.net\"]
automation = \"allowed\"
[limits]
max_loss = \"100%\"
";

/// Servers, a workspace, and what is expected of them.
struct World {
    /// The servers.
    estate: Estate,
    /// The workspace.
    workspace: TempDir,
    /// What people state.
    stated: Stated,
    /// What the server of each record must hold.
    expected: Vec<Expected>,
    /// What the server of the `[[zone]]` must hold.
    house: Holding,
    /// Which server is not there.
    lost: Option<usize>,
}

impl World {
    /// Starts the servers, and makes a workspace; `None` where a program is not installed.
    fn start() -> Option<World> {
        let estate = Estate::start()?;
        let workspace = tempfile::tempdir().expect("a folder");
        estate.write_secrets(workspace.path());
        fs::create_dir(workspace.path().join("octo")).expect("a folder");
        // A file states a name of the house that an app publishes elsewhere.
        let octo = "relay: {type: A, ttl: 50, values: [203.0.113.12]}\n";
        fs::write(workspace.path().join("octo/example.com.yaml"), octo).expect("a file");
        let expected = (0..RECORDS.len()).map(|record| Expected::new(estate.held(record))).collect();
        let mut house = estate.house_held();
        let mark = "heritage=external-dns,external-dns/owner=house";
        for (name, rtype, value) in [("relay", "A", "203.0.113.12"), ("a-relay", "TXT", mark)] {
            house.insert((format!("{name}.example.com."), rtype.to_owned()), (50, [value.to_owned()].into()));
        }
        Some(World { estate, workspace, stated: people::stated(), expected, house, lost: None })
    }

    /// Writes all files as people state them now.
    fn write(&self) {
        let names = self.stated.records.iter().map(|record| record.name.clone());
        let places = Places(names.zip(self.estate.places()).collect());
        let settings = format!("{SETTINGS}{}", self.estate.house_pool());
        files::write(self.workspace.path(), &settings, &self.stated, &places);
    }

    /// Runs a command in the workspace.
    fn command(&self, args: &[&str]) -> Output {
        let mut command = zonewright();
        command.args(["--color", "never", "-C"]).arg(self.workspace.path()).args(args);
        command.output().expect("it runs")
    }

    /// Makes a pass, and says with which code it ended and what it said.
    fn pass(&self) -> (Option<i32>, String) {
        let output = self.command(&["run", "--once", "--listen", "none"]);
        let said = format!("{}{}", text_of(&output.stdout), text_of(&output.stderr));
        (output.status.code(), said)
    }

    /// Writes what people state, makes a pass, and looks at all servers.
    fn go(&mut self, what: &str) {
        self.write();
        let (code, said) = self.pass();
        let is_broken = self.stated.records.iter().any(|record| record.is_broken);
        assert_eq!(code, Some(i32::from(self.lost.is_some() || is_broken)), "{what}: {said}");
        self.calculate();
        self.look(what, &said);
    }

    /// Calculates what the servers that are there must hold now.
    fn calculate(&mut self) {
        for (place, expected) in self.expected.iter_mut().enumerate() {
            if self.lost != Some(place) {
                expected.publish(&self.stated, &self.stated.records[place]);
            }
        }
    }

    /// Compares all servers that are there with what was calculated.
    fn look(&self, what: &str, said: &str) {
        let mut faults = Vec::new();
        for (place, expected) in self.expected.iter().enumerate().filter(|(place, _)| self.lost != Some(*place)) {
            faults.extend(differences(RECORDS[place], &self.estate.held(place), &expected.held));
        }
        faults.extend(differences("the house", &self.estate.house_held(), &self.house));
        assert!(faults.is_empty(), "{what}:\n{}\n{said}", faults.join("\n"));
    }

    /// What a plan would do now.
    fn plan(&self) -> Value {
        let output = self.command(&["plan", "-q", "--format", "json"]);
        serde_json::from_slice(&output.stdout).expect("a plan is JSON")
    }

    /// Asserts that a plan has nothing to do.
    fn no_changes(&self) {
        let plan = self.plan();
        assert_eq!(plan["changes"], json!([]), "{:#}", plan["changes"]);
    }

    /// The names of the notices of a code.
    fn told(&self, code: &str) -> BTreeSet<String> {
        let plan = self.plan();
        let notices = plan["notices"].as_array().expect("a list").iter().filter(|notice| notice["code"] == code);
        notices.map(|notice| notice["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// The codes by which something is blocked.
    fn blocked(&self) -> BTreeSet<String> {
        let plan = self.plan();
        let blocked = plan["blocked"].as_array().expect("a list").iter();
        blocked.map(|blocked| blocked["code"].as_str().expect("a code").to_owned()).collect()
    }

    /// The service of this name.
    fn service(&mut self, name: &str) -> &mut StatedService {
        let mut services = self.stated.apps.iter_mut().flat_map(|app| &mut app.services);
        services.find(|service| service.name == name).expect("the service is stated")
    }

    /// Gives a record another name, in its file, in its table and in all lists.
    fn rename(&mut self, place: usize, name: &str) {
        let old = std::mem::replace(&mut self.stated.records[place].name, name.to_owned());
        for own in self.stated.lists.iter_mut().flat_map(|list| &mut list.records).filter(|own| **own == old) {
            name.clone_into(own);
        }
    }
}

/// Where a server holds something else than it must.
fn differences(server: &str, held: &Holding, expected: &Holding) -> Vec<String> {
    let line = |word: &str, ((name, rtype), content): (&expected::Place, &expected::Content)| {
        format!("{server} {word} {name} {rtype} {content:?}")
    };
    let more = held.iter().filter(|(place, content)| expected.get(*place) != Some(*content));
    let less = expected.iter().filter(|(place, content)| held.get(*place) != Some(*content));
    more.map(|own| line("holds", own)).chain(less.map(|own| line("must hold", own))).collect()
}

/// How many passes a server is away for.
const PASSES_AWAY: u8 = 10;

#[test]
fn five_servers_hold_what_apps_and_lists_say_whatever_becomes_of_them() {
    let Some(mut world) = World::start() else { return };
    let foreign = world.expected.clone();
    world.go("publish");
    world.no_changes();
    explained(&world);
    change_addresses(&mut world);
    narrow_and_widen(&mut world);
    rename(&mut world);
    lose_powerdns(&mut world);
    go_wrong(&mut world);
    world.stated.apps[1].services.clear();
    world.go("an app that publishes nothing");
    world.stated.apps.remove(0);
    world.write();
    let (code, said) = world.pass();
    assert!(code == Some(3) && said.contains("source-shrunk"), "{code:?}: {said}");
    world.look("so much is gone that it is not believed", &said);
    let accepted = world.command(&["accept", "apps", "--reason", "a test"]);
    assert!(accepted.status.success(), "{}", text_of(&accepted.stderr));
    world.go("remove the last app that publishes");
    for (place, foreign) in foreign.iter().enumerate() {
        let is_kept = world.stated.records[place].policy == StatedPolicy::UpsertOnly;
        assert_eq!(
            world.expected[place].held != foreign.held,
            is_kept,
            "what is own goes, but where nothing is deleted"
        );
    }
}

/// Addresses come and go, one of them the only one of its family, a TTL changes, and an app is removed.
fn change_addresses(world: &mut World) {
    world.service("frontend").addresses[0].ips = vec!["192.0.2.77".to_owned()];
    world.service(RELAY).addresses[0].ips[1] = "2001:db8:2::77".to_owned();
    world.service(RELAY).addresses[1].ips[0] = "10.2.0.77".to_owned();
    world.service("api").addresses[0].ips.push("192.0.2.12".to_owned());
    world.service("web").ttl = Some(180);
    world.go("change addresses");
    world.stated.apps.retain(|app| app.name != "blog");
    world.go("remove an app");
}

/// Filters hide names, of which some are stated no longer; then they show them again.
fn narrow_and_widen(world: &mut World) {
    let was = world.stated.records.clone();
    world.stated.records[0].without = vec!["www.example.com", ".example.net"];
    world.stated.records[1].without = vec!["mx.example.com"];
    world.stated.records[2].without = vec!["www.example.com", "mx.example.com"];
    world.stated.records[3].only = vec![".example.net", "api.example.com"];
    world.stated.records[4].only = vec!["relay.example.com"];
    world.service("frontend").addresses[0].ips = vec!["192.0.2.78".to_owned()];
    world.service("frontend").addresses[3].ips = vec!["10.2.0.78".to_owned()];
    world.service(RELAY).addresses[0].ips[0] = "198.51.100.78".to_owned();
    world.go("narrow filters");
    let hidden = ["mx.example.com.", "shop.example.com.", "shop.example.net.", "www.example.com."];
    assert_eq!(world.told("filtered"), hidden.map(str::to_owned).into());
    world.service("frontend").hostnames = vec!["shop.example.com", "shop.example.net"];
    world.service(RELAY).hostnames = vec!["relay.example.com"];
    world.go("remove hostnames that filters hide");
    world.stated.records = was;
    world.go("widen the filters");
    world.no_changes();
}

/// Records get other names: their servers hold the same, and what was published by the old names is changed and deleted by the new
/// ones.
fn rename(world: &mut World) {
    world.service(RELAY).hostnames = vec!["relay.example.com", "mx.example.com"];
    world.go("state a hostname again");
    let before = world.expected.clone();
    for (place, name) in [(0, "border-bind"), (2, "inside-coredns"), (4, "azure-of-another-name")] {
        world.rename(place, name);
        world.go(&format!("rename {}", RECORDS[place]));
        world.no_changes();
    }
    assert_eq!(world.expected, before, "a name of a record is nowhere in what is published");
    world.service("frontend").addresses[2].ips = vec!["10.1.0.79".to_owned()];
    world.service(RELAY).addresses[2].ips = vec!["10.3.0.79".to_owned()];
    world.service(RELAY).hostnames = vec!["relay.example.com", "out.example.com"];
    world.go("change, remove and add after the records were renamed");
}

/// Kills PowerDNS for ten passes; the other records go on, and its own takes up what it missed.
fn lose_powerdns(world: &mut World) {
    world.estate.pdns.kill();
    world.lost = Some(1);
    for pass in 0..PASSES_AWAY {
        world.service("api").addresses[0].ips = vec![format!("192.0.2.{}", 100 + pass)];
        world.service("frontend").addresses[3].ips = vec![format!("10.2.0.{}", 100 + pass)];
        world.service(RELAY).addresses[0].ips = vec![format!("198.51.100.{}", 100 + pass)];
        match pass {
            3 => world.service(RELAY).hostnames.push("smtp.example.com"),
            6 => world.service(RELAY).hostnames.retain(|name| *name != "out.example.com"),
            _ => {}
        }
        world.go(&format!("PowerDNS is away, pass {pass}"));
    }
    world.estate.pdns.start_again();
    world.lost = None;
    let first = world.pass();
    let second = world.pass();
    world.calculate();
    world.look("PowerDNS is back", &format!("{}{}", first.1, second.1));
    assert_eq!(second.0, Some(0), "{}", second.1);
    world.no_changes();
}

/// A record with an error blocks what it publishes, lists that name a record twice or one that is not there block these services,
/// and two apps block the name that both have: all else goes on, and all is done once it is right.
fn go_wrong(world: &mut World) {
    let right = world.stated.clone();
    world.stated.records[4].is_broken = true;
    world.service(RELAY).hostnames = vec!["relay.example.com"];
    world.service(RELAY).addresses[0].ips = vec!["198.51.100.90".to_owned()];
    world.service("api").addresses[0].ips = vec!["192.0.2.90".to_owned()];
    world.go("a record with an error");
    assert_eq!(world.blocked(), ["bad-input", "no-address", "no-zone"].map(str::to_owned).into());
    world.stated.records[4].is_broken = false;
    world.go("the record without its error");

    let bind = world.stated.records[0].name.clone();
    world.stated.lists[2].records.push(bind);
    world.stated.lists[1].records.push("nowhere".to_owned());
    world.service("api").addresses[0].ips = vec!["192.0.2.91".to_owned()];
    world.service(RELAY).addresses[0].ips = vec!["198.51.100.91".to_owned()];
    world.go("lists that are wrong");
    let codes = ["no-address", "no-zone", "scope-conflict", "unknown-record"];
    assert_eq!(world.blocked(), codes.map(str::to_owned).into());
    world.stated.lists = right.lists;

    let mut rival = world.stated.apps[0].clone();
    (rival.name, rival.namespace) = ("rival", "rival");
    rival.services.truncate(1);
    rival.services[0].hostnames = vec!["shop.example.com", "rival.example.com"];
    rival.services[0].addresses[0].ips = vec!["192.0.2.92".to_owned()];
    world.stated.apps.push(rival);
    world.service("frontend").addresses[0].ips = vec!["192.0.2.93".to_owned()];
    world.go("two apps with one hostname");
    assert_eq!(world.blocked(), ["claim-conflict", "no-address", "no-zone"].map(str::to_owned).into());
    world.stated.apps.pop();
    world.go("one app with the hostname");
    world.no_changes();
}

/// `explain` leads from what is published to the lines behind it.
fn explained(world: &World) {
    let output = world.command(&["explain", "relay.example.com"]);
    let said = format!("{}{}", text_of(&output.stdout), text_of(&output.stderr));
    assert!(output.status.success(), "{said}");
    for place in
        ["apps/mail.yaml:14", "clusters/c3.yaml:", "dns-update-records/edge-bind.yaml:", "logical-clouds/lc2.yaml:"]
    {
        assert!(said.contains(place), "{place}: {said}");
    }
}
