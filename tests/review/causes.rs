//! The changes that an edit causes are reported with its words and line.

use std::fs;

use zonewright::plan::{Cause, ChangeClass, Review};

use crate::edits::{Act, Edit, edit};
use crate::fleet::Fleet;
use crate::world::{Files, files, plan, with_registry, write, zones};

/// A fleet of ten hosts behind three switches; a registry in the zones says which records are its own.
struct Case {
    /// The base.
    base: Files,
    /// The workspace.
    here: Files,
    /// Live DNS.
    live: Files,
}

impl Case {
    /// Nothing differs, and live DNS is right.
    fn new() -> Case {
        let mut fleet = Fleet::new(10, 4, &[60, 40]);
        fleet.settings.top = "registry = \"txt\"".to_owned();
        let live = with_registry(&zones(&fleet));
        Case { base: files(&fleet), here: files(&fleet), live }
    }

    /// Edits the workspace.
    fn with(mut self, act: Act, place: u16, with: u16) -> Case {
        edit(&mut self.here, Edit { act, place, with });
        self
    }

    /// Edits both.
    fn before(mut self, act: Act, place: u16, with: u16) -> Case {
        for files in [&mut self.base, &mut self.here] {
            edit(files, Edit { act, place, with });
        }
        self
    }

    /// The other way round: what the edits made is undone.
    fn undone(mut self) -> Case {
        std::mem::swap(&mut self.base, &mut self.here);
        self
    }

    /// Puts text in the place of a part of a file.
    fn replacing(mut self, file: &str, part: &str, by: &str) -> Case {
        let text = self.here.get_mut(file).expect("a file of the workspace");
        assert!(text.contains(part), "{part}");
        *text = text.replace(part, by);
        self
    }

    /// Adds a line to a zone, and the text that says that it is own.
    fn live(mut self, zone: &str, line: &str) -> Case {
        let text = self.live.get_mut(zone).expect("a zone");
        let own = with_registry(&Files::from([(zone.to_owned(), format!("{line}\n"))]));
        text.push_str(&own[zone]);
        self
    }

    /// The causes of the plan.
    fn review(&self) -> Review {
        let folder = tempfile::tempdir().expect("a folder");
        let (base, here) = (folder.path().join("base"), folder.path().join("here"));
        write(&base, &self.base);
        write(&here, &self.here);
        write(&here, &self.live);
        let made = plan(&here, Some(&base)).expect("settings that can be used");
        let review = made.plan.review.unwrap_or_else(|| panic!("nothing changes: {:#?}", made.plan.blocked));
        assert!(review.is_whole(made.plan.changes.len()));
        for place in review.causes.iter().flat_map(|cause| &cause.places) {
            let (file, line) = place.rsplit_once(':').map_or((place.as_str(), None), |(file, line)| (file, Some(line)));
            let text = fs::read_to_string(here.join(file)).expect("a cause names a file of the workspace");
            let line = line.map_or(1, |line| line.parse::<usize>().expect("a number"));
            assert!((1..=text.lines().count()).contains(&line), "{place}");
        }
        review
    }

    /// Checks that this is the only cause of the plan, and that its first line has a part.
    fn rests_on(&self, kind: &str, says: &str, part: &str) {
        let review = self.review();
        let found: Vec<(&str, &str)> =
            review.causes.iter().map(|cause| (cause.kind.as_str(), cause.says.as_str())).collect();
        assert_eq!(found, [(kind, says)]);
        let Cause { class, places, is_explained, .. } = &review.causes[0];
        assert!(*class == Some(ChangeClass::Caused) && *is_explained, "{class:?}");
        let Some(place) = places.first() else { return assert_eq!(part, "", "no place is reported") };
        let line = match place.rsplit_once(':') {
            Some((file, line)) => {
                self.here[file].lines().nth(line.parse::<usize>().expect("a number") - 1).expect("a line")
            }
            None => place,
        };
        assert!(line.contains(part), "{place}: {line}");
    }
}

#[test]
fn networks() {
    let moved = "VLAN 600 of switch `sas-s0` moved from `2001:db8:0:11::/64` to `2001:db8:1:1::/64`";
    Case::new().with(Act::Tor, 0, 1).rests_on("network", moved, "sas-s0 600 2001:db8:1:1::/64");
    let came = "VLAN 600 of switch `sas-s0` is `2001:db8:0:11::/64` now";
    let mut case = Case::new().with(Act::TorGone, 0, 0).undone();
    // It has no records yet.
    case.live.values_mut().for_each(|text| {
        *text = text
            .lines()
            .filter(|line| !line.contains("0.0.0.0.0.0.8.b.d.0.1.0.0.2") && !line.contains("AAAA"))
            .map(|line| format!("{line}\n"))
            .collect()
    });
    let review = case.review();
    assert!(
        review.causes.iter().any(|cause| cause.says == came && cause.class == Some(ChangeClass::Caused)),
        "{review:#?}"
    );
}

#[test]
fn a_row_that_goes_blocks_its_hosts() {
    // Something else has to change, or there is nothing to review.
    let review = Case::new().with(Act::TorGone, 0, 0).with(Act::Mac, 9, 1).review();
    let blocked: Vec<u64> = review.newly_blocked.iter().filter_map(|own| Some(own.host()?.0)).collect();
    assert!(!blocked.is_empty() && blocked.iter().all(|inv| (100_001..=100_004).contains(inv)), "{blocked:?}");
}

#[test]
fn hosts() {
    Case::new().with(Act::Mac, 0, 1).rests_on("mac", "hosts of `p0` that have another MAC", "\"inv\":100001");
    Case::new().with(Act::HostNew, 0, 1).rests_on("new-host", "hosts of `p0` that are new in hosts.csv", "200001,");
    Case::new()
        .with(Act::HostFree, 0, 0)
        .undone()
        .live("zones/p0.example.net.zone", "x1.p0.example.net. AAAA 2001:db8:0:11:0:1470:0:1")
        .rests_on("new-host", "hosts of `p0` that came into use", "100001,");
    Case::new().before(Act::Policy, 0, 3).with(Act::HostGone, 0, 0).rests_on(
        "released",
        "hosts of `p0` that hosts.csv no longer has",
        "racktables/hosts.csv",
    );
    Case::new().before(Act::Policy, 0, 3).with(Act::HostFree, 0, 0).with(Act::HostNameless, 0, 0).rests_on(
        "released",
        "hosts of `p0` that are free now",
        "100001,",
    );
    Case::new().with(Act::HostName, 0, 6).rests_on(
        "renamed",
        "hosts of `p0` that have another name",
        "100001,other-6.p0.example.net",
    );
    Case::new().before(Act::Policy, 0, 3).with(Act::HostName, 0, 6).rests_on(
        "renamed",
        "hosts of `p0` that have another name",
        "100001,other-6",
    );
    Case::new().with(Act::Switch, 0, 4).rests_on(
        "moved",
        "hosts that moved from switch `sas-s0` to `myt-s1`",
        "\"inv\":100001",
    );
}

#[test]
fn projects_and_zones() {
    Case::new().replacing("projects/p0.yaml", "main: 600", "main: 601").rests_on(
        "setting",
        "the VLAN of project `p0` is 601, no longer 600",
        "vlans",
    );
    Case::new().with(Act::Hbf, 0, 1).rests_on(
        "setting",
        "the project id of `p0` in addresses is 21470, no longer 1470",
        "hbf_project_id",
    );
    Case::new().with(Act::Ttl, 0, 1).rests_on(
        "ttl",
        "the TTL of project `p0` is 600, no longer that of the zone",
        "ttl: 600",
    );
    Case::new().with(Act::ZoneTtl, 0, 1).rests_on(
        "ttl",
        "the TTL of zone `8.b.d.0.1.0.0.2.ip6.arpa.` is 600, no longer 3600",
        "ttl = 600",
    );
    Case::new().with(Act::Fastbone, 0, 0).before(Act::Policy, 0, 3).rests_on(
        "setting",
        "the template of the fastbone names of project `p0` changed",
        "fastbone_name",
    );
    let orphan = || Case::new().live("zones/p0.example.net.zone", "x1.p0.example.net. AAAA 2001:db8:ffff::1");
    orphan().with(Act::Policy, 0, 3).rests_on(
        "setting",
        "the policy of project `p0` is `sync`, no longer `repair`",
        "policy: sync",
    );
    orphan().before(Act::Policy, 0, 3).with(Act::HostBad, 9, 0).undone().rests_on(
        "unblocked",
        "names that no host has are removed again: all rows and sources are good now",
        "",
    );
    let missing = || {
        let mut case = Case::new();
        let zone = case.live.get_mut("zones/p0.example.net.zone").expect("a zone");
        *zone = zone
            .lines()
            .filter(|line| !line.starts_with("sas-00001") && !line.starts_with("aaaa-sas-00001"))
            .map(|line| format!("{line}\n"))
            .collect();
        case
    };
    missing().with(Act::Off, 0, 0).undone().rests_on(
        "setting",
        "automation is switched on for project `p0` now",
        "id: p0",
    );
    missing().with(Act::Forbidden, 0, 0).undone().rests_on(
        "setting",
        "automation is allowed for project `p0` now",
        "[project.p0]",
    );
    missing().with(Act::HostRestricted, 0, 0).undone().rests_on(
        "unblocked",
        "hosts of `p0` that are no longer restricted",
        "100001,",
    );
    missing().with(Act::TorBad, 0, 0).undone().rests_on(
        "network",
        "VLAN 600 of switch `sas-s0` is `2001:db8:0:11::/64` now",
        "sas-s0 600",
    );
    missing().with(Act::ZoneGone, 1, 0).undone().rests_on(
        "setting",
        "zone `p0.example.net.` is configured now",
        "[[zone]]",
    );
}

#[test]
fn what_another_host_brings_about_is_explained_by_that_host() {
    // Two hosts had one MAC.
    let mut case = Case::new().with(Act::Mac, 0, 3).undone();
    let zone = case.live.get_mut("zones/p0.example.net.zone").expect("a zone");
    *zone = zone.lines().filter(|line| !line.contains("sas-00002")).map(|line| format!("{line}\n")).collect();
    assert!(case.review().causes.iter().all(|cause| cause.is_explained), "{:#?}", case.review());
    // An unclaimed name becomes that of a free host, so the address is cleared there.
    let case = Case::new()
        .live("zones/p0.example.net.zone", "other-6.p0.example.net. AAAA 2001:db8:0:11:0:1470:0:1")
        .with(Act::HostFree, 5, 0)
        .with(Act::HostName, 5, 6);
    assert!(case.review().causes.iter().all(|cause| cause.is_explained), "{:#?}", case.review());
}

#[test]
fn what_stood_there_before_is_no_cause() {
    // The row of the network is the same: what is new is the MAC.
    let mut case = Case::new().with(Act::MacGone, 0, 0).undone();
    let zone = case.live.get_mut("zones/p0.example.net.zone").expect("a zone");
    *zone = zone.lines().filter(|line| !line.contains("sas-00001")).map(|line| format!("{line}\n")).collect();
    case.rests_on("mac", "hosts of `p0` whose MAC is known now", "\"inv\":100001");
    // From port to port of one segment nothing moves: what is new is the MAC.
    let both = |from: &str, to: &str| {
        let old = |text: &str| text.replace("sas-s0", from);
        let mut case = Case::new();
        for files in [&mut case.base, &mut case.here] {
            for name in ["racktables/hosts.csv", "agents/agent-1.jsonl"] {
                let text = old(&files[name]);
                files.insert(name.to_owned(), text);
            }
        }
        let own = case.here["agents/agent-1.jsonl"].lines().next().expect("a report").to_owned();
        let other = own.replace(from, to);
        assert_ne!(own, other);
        case.replacing("agents/agent-1.jsonl", &own, &other)
    };
    let mut case = both("l2-a", "l2-b").with(Act::Mac, 0, 1);
    case.live.values_mut().for_each(|text| *text = without_records(text));
    let review = case.review();
    assert!(review.causes.iter().all(|cause| !cause.says.contains("moved")), "{review:#?}");
    assert!(review.causes.iter().any(|cause| cause.says == "hosts of `p0` that have another MAC"), "{review:#?}");
}

#[test]
fn a_switch_that_gets_networks_of_its_own_is_reported() {
    let mut case = Case::new();
    // No row of the base is about the switch.
    let tors = case.base.get_mut("racktables/l3-tors.txt").expect("a file");
    *tors = tors.lines().filter(|line| !line.starts_with("sas-s0 ")).map(|line| format!("{line}\n")).collect();
    case.live.values_mut().for_each(|text| *text = without_records(text));
    let review = case.review();
    let says = "switch `sas-s0` is now in an L3 segment: its VLAN 600 is `2001:db8:0:11::/64`";
    assert!(review.causes.iter().any(|cause| cause.says == says && cause.kind.as_str() == "network"), "{review:#?}");
}

/// A zone without addresses and PTR.
fn without_records(text: &str) -> String {
    let is_left = |line: &&str| !line.contains(" AAAA ") && !line.contains(" PTR ");
    text.lines().filter(is_left).map(|line| format!("{line}\n")).collect()
}
