//! The sets of a story, and the workspace that says the same.

use std::path::Path;

use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::pods::PodState;
use crate::inventory::read;
use crate::inventory::trust::Trust;
use crate::inventory::value::Time;
use crate::pipeline::settings::{WorkspaceSettings, load_settings};
use crate::verify::truth::Numbers;

/// The locations of nodes.
pub const LOCATIONS: [&str; 3] = ["iva", "sas", "vla"];

/// The zone of all sets.
pub const FORWARD: &str = "search.example.net";

/// The zones, in the order of the settings: that of names, and those of addresses.
pub const ZONES: [&str; 3] = [FORWARD, "8.b.d.0.1.0.0.2.ip6.arpa", "0.10.in-addr.arpa"];

/// An endpoint of a set.
#[derive(Debug, Clone)]
pub struct TrueEndpoint {
    /// Its name; the location follows where `is_local`.
    pub name: String,
    /// Whether each location has its own.
    pub is_local: bool,
    /// The port.
    pub port: u16,
    /// The states in which pods are listed.
    pub states: Vec<PodState>,
}

/// A set.
#[derive(Debug, Clone)]
pub struct TrueSet {
    /// Its id.
    pub id: String,
    /// The domain of its names.
    pub domain: String,
    /// How many of its pods may be unreachable at once.
    pub budget: usize,
    /// Whether all of them are at one location.
    pub one_location: bool,
    /// Whether the first wave is of one pod.
    pub has_canary: bool,
    /// Whether names of pods that others replace stay until the others are there.
    pub copies: bool,
    /// The TTL of its records.
    pub ttl: u64,
    /// Whether its pods have IPv4 addresses, too.
    pub has_ipv4: bool,
    /// For how many seconds its pods have old and new addresses together; none where new ones take the place of old ones.
    pub overlap: Option<u64>,
    /// Its endpoints.
    pub endpoints: Vec<TrueEndpoint>,
}

impl TrueSet {
    /// A set by dice.
    fn new(number: usize, dice: &mut Numbers) -> TrueSet {
        let states = |dice: &mut Numbers| match dice.below(4) {
            0 => vec![PodState::Prepared, PodState::Active],
            1 => vec![PodState::Active, PodState::Removing],
            _ => vec![PodState::Active],
        };
        let endpoint = |number: usize, dice: &mut Numbers| TrueEndpoint {
            name: ["http", "grpc"][number].to_owned(),
            is_local: dice.below(3) == 0,
            port: 80 + number as u16,
            states: states(dice),
        };
        TrueSet {
            id: format!("s{number}"),
            domain: format!("s{number}.{FORWARD}"),
            budget: 1 + dice.below(3),
            one_location: dice.below(2) == 0,
            has_canary: dice.below(2) == 0,
            copies: dice.below(2) == 0,
            ttl: [30, 60, 300, 600][dice.below(4)],
            has_ipv4: dice.below(4) == 0,
            overlap: (dice.below(3) == 0).then(|| [120, 600][dice.below(2)]),
            endpoints: (0..1 + dice.below(2)).map(|number| endpoint(number, dice)).collect(),
        }
    }

    /// The sets of a story, by dice.
    pub fn all(dice: &mut Numbers) -> Vec<TrueSet> {
        (0..1 + dice.below(3)).map(|number| TrueSet::new(number, dice)).collect()
    }

    /// The name of an SRV of it; for a location where each has its own.
    pub fn srv_name(&self, endpoint: &TrueEndpoint, location: &str) -> Name {
        let local = if endpoint.is_local { format!("-{location}") } else { String::new() };
        Name::parse(&format!("_{}{local}._tcp.{}", endpoint.name, self.domain)).unwrap()
    }

    /// The names of all SRV that it may have, each with the endpoint and, where each location has its own, the location.
    pub fn srv_names(&self) -> Vec<(Name, &TrueEndpoint, Option<&'static str>)> {
        let of_endpoint = |endpoint| -> Vec<_> {
            let all = LOCATIONS.iter().map(|own| (self.srv_name(endpoint, own), endpoint, Some(*own)));
            if endpoint.is_local { all.collect() } else { vec![(self.srv_name(endpoint, ""), endpoint, None)] }
        };
        self.endpoints.iter().flat_map(of_endpoint).collect()
    }

    /// The file of its owner.
    fn file(&self) -> String {
        let TrueSet { id, domain, budget, ttl, .. } = self;
        let migration = if self.copies { "copy-and-remove" } else { "move" };
        let canary = if self.has_canary { "canary: 1, " } else { "" };
        let overlap = self.overlap.map(|seconds| format!("overlap: {seconds}s, ")).unwrap_or_default();
        let endpoint = |own: &TrueEndpoint| {
            let local = if own.is_local { "-{location}" } else { "" };
            let states: Vec<&str> = own.states.iter().map(|state| state.as_str()).collect();
            let (name, port, states) = (&own.name, own.port, states.join(", "));
            format!("  - {{name: \"{name}{local}\", protocol: tcp, port: {port}, states: [{states}]}}\n")
        };
        let endpoints: String = self.endpoints.iter().map(endpoint).collect();
        format!(
            "id: {id}\nproject: search\ndomain: {domain}\nttl: {ttl}\nunavailability_budget: {budget}\n\
             migration: {migration}\nrollout: {{{canary}{overlap}one_location_at_a_time: {}}}\nendpoints:\n{endpoints}",
            self.one_location
        )
    }
}

/// The settings of a workspace with these sets, and its inventory, in which there is no pod yet.
pub fn workspace(sets: &[TrueSet], (policy, permission): (&str, &str), now: Time) -> (WorkspaceSettings, Inventory) {
    let workspace = tempfile::tempdir().unwrap();
    write_workspace(workspace.path(), sets, (policy, permission));
    let settings = load_settings(workspace.path()).unwrap();
    let loaded = read::load_workspace(workspace.path(), now, &|_| {});
    let mut inventory = loaded.inventory.unwrap();
    inventory.pods.trust = Trust::Known;
    assert_eq!(inventory.pods.sets_trust, Trust::Known, "{:?}", loaded.diagnostics);
    assert!(inventory.pods.sets.iter().all(|set| set.terms().is_some()), "{:?}", loaded.diagnostics);
    (settings, inventory)
}

/// Writes the files of a workspace.
fn write_workspace(at: &Path, sets: &[TrueSet], (policy, permission): (&str, &str)) {
    let write = |file: &str, text: &str| std::fs::write(at.join(file), text).unwrap();
    let zone = |name: &&str| format!("[[zone]]\nname = \"{name}\"\npool = \"main\"\npermission = \"{permission}\"\n");
    let zones: String = ZONES.iter().map(zone).collect();
    let toml = format!(
        "owner = \"us\"\nregistry = \"journal\"\ndelete_after = \"0s\"\n\
         [sources]\nprojects = \"search.yaml\"\npod_sets = \"set-*.yaml\"\npods = \"*.jsonl\"\nhosts = \"none\"\n\
         [project.search]\ndns_domain = \"search.example.net\"\nautomation = \"allowed\"\n\
         [[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n\
         [[pool.main.nameserver]]\nserver = \"192.0.2.1:53\"\n[[pool.main.nameserver]]\nserver = \"192.0.2.2:53\"\n{zones}"
    );
    write("zonewright.toml", &toml);
    write("search.yaml", &format!("id: search\nvlan_scheme: none\nautomation: true\npolicy: {policy}\n"));
    sets.iter().for_each(|set| write(&format!("set-{}.yaml", set.id), &set.file()));
}
