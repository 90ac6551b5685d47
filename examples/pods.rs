//! Writes a large, consistent workspace of pods to measure zonewright with.
//!
//! ```text
//! cargo run --release --example pods -- --pods 100000 --sets 2500 --drift 0.005 --seed 1 /tmp/pods
//! ```
//!
//! Comes in: a number of pods, the number of their sets, the share of pods that have moved, and a seed. Goes out: every
//! file that a workspace needs, with live DNS as master files, four records a pod: the address at each of its two names,
//! the PTR, and its record in the SRV of its set. The rows have no errors, so a plan changes the pods that have moved and
//! no others, and blocks no pod.
//!
//! The same arguments give the same bytes. Pods are written one by one as they are made up, so that memory does not grow
//! with their number.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use fleet::{Address, AddressPlan, Interface, LOCATIONS, NOW, Picker, RACK, Rack, Random, Share, TTL};
use zonewright::inventory::pod_template::Placement;

#[expect(dead_code, reason = "it is a program of its own, of which the addresses and the chance are used")]
#[path = "fleet.rs"]
mod fleet;

/// The zone of all names.
const FORWARD_ZONE: &str = "pods.example.net.";

/// Pods on a node.
const ON_NODE: u32 = 10;

/// The port of each endpoint.
const PORT: u16 = 8080;

/// Write a large workspace of pods to measure zonewright with: rows and the files of sets, and their live DNS as master
/// files, in which a share of the pods has moved since.
///
/// The sets are of one project, and each has one endpoint. All pods are active, ten on each node, each with one address.
#[derive(Debug, Parser)]
#[command(name = "pods", version)]
struct PodArgs {
    /// How many pods.
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_500_000))]
    pods: u32,

    /// How many sets they are in, all of one size, but for a pod.
    #[arg(long, default_value_t = 2_500, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sets: u32,

    /// The share of pods that have moved; exactly this share, picked by the seed. Live DNS has them where they were.
    #[arg(long, default_value = "0.005", value_name = "SHARE")]
    drift: Share,

    /// What all chance comes from: with another seed other pods have moved.
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    seed: u64,

    /// Over how many reverse zones, a /48 each, the racks are spread.
    #[arg(long, default_value_t = 16, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    reverse_zones: u32,

    /// The folder to write; it is made, and must be empty if it exists.
    outdir: PathBuf,
}

/// Writes what the command line says, and tells how much that is.
fn main() -> ExitCode {
    let args = PodArgs::parse();
    fleet::tell(&args.outdir, write_workspace(&args))
}

/// Writes all files.
fn write_workspace(args: &PodArgs) -> io::Result<PodsWritten> {
    fleet::make_empty(&args.outdir, &["projects", "pod-sets", "pods", "zones"])?;
    let plan = AddressPlan { reverse_zones: args.reverse_zones };
    fs::write(args.outdir.join("zonewright.toml"), config(args, &plan))?;
    fs::write(args.outdir.join("projects/pods.yaml"), project())?;
    let mut rows = BufWriter::new(File::create(args.outdir.join("pods/pods.jsonl"))?);
    let mut live = PodRecords::create(&args.outdir.join("zones"), &plan)?;
    let mut moved = Picker::new(args.drift, args.pods);
    let mut random = Random(args.seed);
    let sets = args.sets.min(args.pods);
    for set in 0..sets {
        fs::write(args.outdir.join(format!("pod-sets/{}.yaml", set_id(set))), set_file(set))?;
        let first = first_of(set, sets, args.pods);
        for index in first..first_of(set + 1, sets, args.pods) {
            // The pods of a set are on different nodes.
            let place = (index - first) * sets + set;
            let now = PodMade::make(index, place, set, &plan);
            write_row(&mut rows, &now)?;
            let is_moved = moved.picks(&mut random);
            // Places after those of all pods are free.
            let was = if is_moved { PodMade::make(index, args.pods + sets + place, set, &plan) } else { now };
            live.write(&was, is_moved)?;
        }
    }
    rows.flush()?;
    live.finish(args.pods, sets)
}

/// The number of the first pod of a set.
fn first_of(set: u32, sets: u32, pods: u32) -> u32 {
    (u64::from(set) * u64::from(pods) / u64::from(sets)) as u32
}

/// The id of a set.
fn set_id(set: u32) -> String {
    format!("set-{set:06}")
}

/// The text of zonewright.toml.
fn config(args: &PodArgs, plan: &AddressPlan) -> String {
    let mut text = format!(
        r#"# Made by `cargo run --example pods`: {} pods in {} sets, seed {}. Plan it with --now {NOW}.

owner = "fleet-dns"

[sources]
projects = "projects/*.yaml"
pods     = "pods/*.jsonl"
pod_sets = "pod-sets/*.yaml"
hosts    = "none"

[project.pods]
dns_domain = "{FORWARD_ZONE}"
automation = "allowed"

[pool.main]
[[pool.main.target]]
type = "zonefile"
dir = "zones"

[[zone]]
name = "{FORWARD_ZONE}"
pool = "main"
permission = "full"
"#,
        args.pods, args.sets, args.seed
    );
    for zone in 0..args.reverse_zones {
        let network = plan.zone_network(zone);
        text.push_str(&format!("\n[[zone]]\nnetwork = \"{network}\"\npool = \"main\"\npermission = \"full\"\n"));
    }
    text
}

/// The text of the project file.
fn project() -> String {
    format!("id: pods\nvlan_scheme: none\nttl: {TTL}\nautomation: true\npolicy: repair\n")
}

/// The text of the file of a set.
fn set_file(set: u32) -> String {
    let id = set_id(set);
    format!(
        "id: {id}\nproject: pods\ndomain: {id}.{}\nunavailability_budget: \"5%\"\nmigration: move\n\
         endpoints:\n  - {{name: http, protocol: tcp, port: {PORT}}}\n",
        FORWARD_ZONE.trim_end_matches('.')
    )
}

/// A pod at a place.
#[derive(Clone)]
struct PodMade {
    /// The number of its set.
    set: u32,
    /// Its id.
    id: String,
    /// The number of its node.
    node: u32,
    /// The rack of the node.
    rack: Rack,
    /// Its address.
    address: Address,
}

impl PodMade {
    /// Makes a pod up, at the place with a number.
    fn make(index: u32, place: u32, set: u32, plan: &AddressPlan) -> PodMade {
        // Multiplying by an odd number permutes the 32 bits: no two pods have one id, and no two places one address.
        let mixed = |number: u32| number.wrapping_mul(0x9e37_79b1);
        let node = place / ON_NODE;
        let rack = Rack(node / RACK);
        let address = plan.rack(rack, Interface::Backbone).address(u64::from(mixed(place)));
        PodMade { set, id: format!("p{:08x}", mixed(index)), node, rack, address }
    }

    /// The name of its node.
    fn node(&self) -> String {
        format!("{}-{:06}.nodes.example.net", LOCATIONS[self.rack.location()], self.node)
    }

    /// The label of the name of its placement.
    fn transient(&self) -> String {
        let placement = Placement::of(&self.node(), &[IpAddr::V6(self.address.address)]);
        format!("{}-{}", self.id, placement.as_str())
    }
}

/// Writes the row of a pod.
fn write_row(out: &mut impl Write, pod: &PodMade) -> io::Result<()> {
    let PodMade { set, id, rack, address, .. } = pod;
    let (set, node, location) = (set_id(*set), pod.node(), LOCATIONS[rack.location()]);
    let Address { address, .. } = address;
    writeln!(
        out,
        r#"{{"time":"2026-11-20T01:00:00Z","set":"{set}","pod":"{id}","node":"{node}","rack":"{rack}","location":"{location}","addresses":["{address}"],"enabled":true,"state":"active"}}"#
    )
}

/// The master files.
struct PodRecords {
    /// The zone of names.
    forward: BufWriter<File>,
    /// The reverse zones.
    reverse: Vec<BufWriter<File>>,
    /// How many records were written, without SOA and NS.
    records: u64,
    /// How many pods have moved.
    moved: u32,
}

impl PodRecords {
    /// Creates the files.
    fn create(folder: &Path, plan: &AddressPlan) -> io::Result<PodRecords> {
        let apexes = (0..plan.reverse_zones).map(|zone| plan.zone_name(zone).to_string());
        let reverse = apexes.map(|apex| fleet::create_zone(folder, &apex)).collect::<io::Result<_>>()?;
        Ok(PodRecords { forward: fleet::create_zone(folder, FORWARD_ZONE)?, reverse, records: 0, moved: 0 })
    }

    /// Writes the records of a pod where it is, or was before it moved.
    fn write(&mut self, pod: &PodMade, is_moved: bool) -> io::Result<()> {
        let (set, transient) = (set_id(pod.set), pod.transient());
        let Address { zone, address } = pod.address;
        writeln!(self.forward, "{}.{set} AAAA {address}\n{transient}.{set} AAAA {address}", pod.id)?;
        writeln!(self.forward, "_http._tcp.{set} SRV 0 0 {PORT} {transient}.{set}")?;
        let reverse = &mut self.reverse[zone as usize];
        reverse.write_all(&pod.address.relative_reverse_name())?;
        writeln!(reverse, " PTR {transient}.{set}.{FORWARD_ZONE}")?;
        self.records += 4;
        self.moved += u32::from(is_moved);
        Ok(())
    }

    /// Writes what is still buffered, and tells what was written.
    fn finish(self, pods: u32, sets: u32) -> io::Result<PodsWritten> {
        let zones = 1 + self.reverse.len();
        std::iter::once(self.forward).chain(self.reverse).try_for_each(|mut zone| zone.flush())?;
        Ok(PodsWritten { pods, sets, zones, records: self.records, moved: self.moved })
    }
}

/// What was written, for the report at the end.
struct PodsWritten {
    /// Pods.
    pods: u32,
    /// Their sets.
    sets: u32,
    /// Zones.
    zones: usize,
    /// Live records, without SOA and NS.
    records: u64,
    /// Pods that have moved.
    moved: u32,
}

impl fmt::Display for PodsWritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "pods: {} in {} sets", self.pods, self.sets)?;
        writeln!(f, "live records: {} in {} zones (SOA and NS not counted)", self.records, self.zones)?;
        writeln!(f, "pods that have moved: {}", self.moved)
    }
}
