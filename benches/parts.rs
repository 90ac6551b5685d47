//! What the parts of a plan cost, each alone: `cargo bench`, or `cargo bench -- WORD` for those with the word in their
//! name.
//!
//! Comes in: nothing; a fleet is made up, the same each time. Goes out: for each part how many things it takes, and
//! what a thing takes: the median of wall time, and the mean of processor time, of all threads together.
//! `RAYON_NUM_THREADS=1` has all work done by one. `ci/bench` measures the whole.
//!
//! The harness is these lines and no crate: processor time, which repeats where other work disturbs wall time, is what
//! none of the small ones tells. Without `--bench`, as `cargo test --benches` runs it, the fleet is tiny and each part
//! runs once.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use zonewright::pipeline::targets::server_names;
use zonewright::target::PoolBounds;

use clap::Parser;
use domain::base::message_builder::HashCompressor;
use domain::base::record::Ttl as WireTtl;
use domain::base::{Message, MessageBuilder, Name as WireName, Serial};
use domain::rdata::{Aaaa, Soa};
use zonewright::desired::DesiredHosts;
use zonewright::diag::Files;
use zonewright::diff::context::{Selection, TrippedHosts};
use zonewright::diff::decide::{self, DecisionInput};
use zonewright::diff::held::HeldEdits;
use zonewright::diff::recent::RecentPods;
use zonewright::diff::statements::KeptStatements;
use zonewright::diff::waits::RrsetWaits;
use zonewright::dns::{Name, Rtype, Ttl, ZoneBuilder, ZoneContents, ZoneName};
use zonewright::inventory::model::Inventory;
use zonewright::inventory::sources::{self, SourceFile, SourceInput};
use zonewright::inventory::value::Time;
use zonewright::live::Live;
use zonewright::plan::{SealedPlan, document};
use zonewright::progress::{Progress, RunStage};
use zonewright::reading::{CreationTerms, ReadingTerms, ZonesRequest, zones};

#[expect(dead_code, reason = "it is a program of its own, of which the writer is used")]
#[path = "../examples/fleet.rs"]
mod fleet;

/// The clock that the fleet is made for.
const NOW: &str = "2026-11-20T02:00:00Z";

/// The zone of records that have no fleet.
const ZONE: &str = "bench.example";

/// How long a part is repeated, and how often at least.
const LONG: (Duration, usize) = (Duration::from_secs(3), 5);

/// The unit in which Linux reports processor time, independent of its own clock (proc(5), `USER_HZ`).
const TICK: Duration = Duration::from_millis(10);

/// How many octets a message of a transfer holds at least, as most servers send them.
const MESSAGE: usize = 16 * 1024;

/// What can go wrong: it is only printed.
type Fault = Box<dyn std::error::Error>;

fn main() -> Result<(), Fault> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let is_bench = args.iter().any(|arg| arg == "--bench");
    let word = args.into_iter().find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let bench = Bench { word, is_bench };
    let folder = tempfile::tempdir()?;
    let hosts = if is_bench { 50_000 } else { 200 };
    let fleet = folder.path().join("fleet");
    write_fleet(&fleet, hosts)?;
    exports(&bench, &fleet)?;
    zone(&bench, 4 * hosts)?;
    plan(&bench, &fleet)
}

/// What is measured, and for how long.
struct Bench {
    /// What the name of a part must have in it.
    word: String,
    /// Whether figures are wanted.
    is_bench: bool,
}

impl Bench {
    /// Measures a part that takes `count` things; what `prepare` makes for it is not counted.
    fn part<T, U>(&self, name: &str, count: usize, prepare: impl Fn() -> T, work: impl Fn(T) -> U) {
        if !name.contains(&self.word) {
            return;
        }
        let (mut walls, mut processor) = (Vec::new(), Duration::ZERO);
        let begin = Instant::now();
        while walls.is_empty() || self.is_bench && (walls.len() < LONG.1 || begin.elapsed() < LONG.0) {
            let given = prepare();
            let (started, before) = (Instant::now(), processor_time());
            let made = black_box(work(black_box(given)));
            walls.push(started.elapsed());
            processor += processor_time() - before;
            drop(made);
        }
        walls.sort_unstable();
        let each = |time: Duration, runs: usize| time.as_nanos() as f64 / (runs * count.max(1)) as f64;
        let (wall, mean) = (each(walls[walls.len() / 2], 1), each(processor, walls.len()));
        println!("{name:<28} {count:>9}  wall {wall:>8.1} ns  processor {mean:>8.1} ns  ({} runs)", walls.len());
    }
}

/// The processor time of the process so far, in steps of a tick. Zero where the system does not tell it as Linux does.
fn processor_time() -> Duration {
    let told = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the name of the program in parentheses, and may hold anything; user and system are the 14th
    // and 15th.
    let fields = told.rsplit(')').next().unwrap_or_default().split_whitespace();
    TICK * fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u32>().ok()).sum()
}

/// The clock.
fn now() -> Result<Time, Fault> {
    NOW.parse().map_err(|()| "no time".into())
}

/// Writes a fleet, always the same.
fn write_fleet(folder: &Path, hosts: u32) -> Result<(), Fault> {
    let args = ["fleet", "--hosts", &hosts.to_string(), &folder.display().to_string()].map(str::to_owned);
    fleet::write_workspace(&fleet::Args::try_parse_from(args)?)?;
    Ok(())
}

/// How many records live DNS has.
fn records_of(live: &Live) -> usize {
    live.zones().filter_map(|(_, zone)| zone.contents()).map(ZoneContents::record_count).sum()
}

/// Reads the workspace.
fn inventory(fleet: &Path) -> Result<Inventory, Fault> {
    zonewright::inventory::load_workspace(fleet, now()?, &|_| {})
        .inventory
        .map_err(|_| "the fleet cannot be read".into())
}

/// Exports to rows, each source alone, and all of the inventory.
fn exports(bench: &Bench, fleet: &Path) -> Result<(), Fault> {
    let (inventory, now) = (inventory(fleet)?, now()?);
    bench.part(
        "inventory: all",
        inventory.hosts.len(),
        || (),
        |()| zonewright::inventory::load_workspace(fleet, now, &|_| {}),
    );
    for (source, path) in [("hosts", "racktables/hosts.csv"), ("agent", "agents/agent-sas.jsonl")] {
        let spec = &inventory.exports.iter().find(|export| export.spec.name == source).ok_or("no such export")?.spec;
        let bytes = fs::read(fleet.join(path))?;
        let mut files = Files::default();
        let id = files.add(path);
        let admins = inventory.projects.iter().filter_map(|project| Some((project.id.clone(), project.admin.clone()?)));
        let context = sources::RowContext {
            files: &files,
            clock: &sources::RowClock::at(now),
            free_domain: &inventory.config.free_domain,
            name_cooldown: inventory.config.name_cooldown,
            admins: &admins.collect(),
        };
        let read = sources::format_of(spec).read;
        let input = || SourceInput { spec, files: vec![SourceFile { id, bytes: &bytes }] };
        let rows = read(&input(), &context).tally.rows;
        bench.part(&format!("inventory: {source}"), rows, input, |input| read(&input, &context));
    }
    Ok(())
}

/// The records of a zone that has no fleet: owner names and addresses.
fn records(count: u32) -> impl Iterator<Item = (String, Ipv6Addr)> {
    (0..count).map(|number| {
        let address = Ipv6Addr::new(0x2001, 0xdb8, (number >> 16) as u16, number as u16, 0, 0, 0, 1);
        (format!("h{}.rack{}.{ZONE}.", number % 1000, number / 1000), address)
    })
}

/// A zone from messages, and from records.
fn zone(bench: &Bench, count: u32) -> Result<(), Fault> {
    let apex = ZoneName::new(Name::parse(ZONE)?);
    let server = serve(messages(count)?)?;
    // A workspace needs an inventory, and what it holds matters little here.
    let (workspace, now) = (tempfile::tempdir()?, now()?);
    write_fleet(workspace.path(), 1)?;
    let settings = workspace.path().join("zonewright.toml");
    let text = fs::read_to_string(&settings)?;
    let (sources, _) = text.split_once("[pool.main]").ok_or("the settings have no pool")?;
    let pool = format!("[pool.main]\n[[pool.main.target]]\ntype = \"rfc2136\"\nserver = \"{server}\"\n");
    fs::write(settings, format!("{sources}{pool}[[zone]]\nname = \"{ZONE}\"\npool = \"main\"\n"))?;
    let inventory = inventory(workspace.path())?;
    let transfer = || read_live(&inventory, workspace.path(), now);
    let whole = count as usize + 1;
    let transferred = records_of(&transfer());
    if transferred != whole {
        return Err(format!("{transferred} records were transferred, not {whole}").into());
    }
    bench.part("zone: transferred, indexed", whole, || (), |()| transfer());

    let ttl = Ttl::from_secs(600).ok_or("no TTL")?;
    let records: Vec<(Name, [u8; 16])> = records(count)
        .map(|(name, address)| Ok((Name::parse(&name)?, address.octets())))
        .collect::<Result<_, Fault>>()?;
    // Root as server and mailbox, then five numbers.
    let soa = [[0; 2].as_slice(), [1; 20].as_slice()].concat();
    let push = || {
        let mut builder = ZoneBuilder::new(apex.clone());
        builder.push(apex.as_name(), Rtype::SOA, ttl, &soa).expect("a zone has a SOA");
        for (name, address) in &records {
            builder.push(name.as_name(), Rtype::AAAA, ttl, address).expect("the name is in the zone");
        }
        builder
    };
    bench.part("zone: records pushed", whole, || (), |()| push());
    bench.part("zone: finished", whole, push, |builder| builder.finish().expect("the zone has a SOA"));
    Ok(())
}

/// The answer to a transfer: all messages with 0 for their ID.
fn messages(count: u32) -> Result<Vec<Vec<u8>>, Fault> {
    let apex: WireName<Vec<u8>> = ZONE.parse()?;
    let second = WireTtl::from_secs(600);
    let root = WireName::<Vec<u8>>::root_vec();
    let soa = (apex.clone(), second, Soa::new(root.clone(), root, Serial::from(1), second, second, second, second));
    let begin = || -> Result<_, Fault> {
        let mut message = MessageBuilder::from_target(HashCompressor::new(Vec::new()))?;
        message.header_mut().set_qr(true);
        message.header_mut().set_aa(true);
        let mut message = message.question();
        message.push((&apex, domain::base::Rtype::AXFR))?;
        Ok(message.answer())
    };
    let mut done = Vec::new();
    let mut message = begin()?;
    message.push(&soa)?;
    for (name, address) in records(count) {
        if message.as_slice().len() > MESSAGE {
            done.push(std::mem::replace(&mut message, begin()?).finish().into_target());
        }
        message.push((name.parse::<WireName<Vec<u8>>>()?, second, Aaaa::new(address)))?;
    }
    message.push(&soa)?;
    done.push(message.finish().into_target());
    Ok(done)
}

/// Answers every question with the same messages, on a port of loopback, for as long as the program runs.
fn serve(messages: Vec<Vec<u8>>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that closes the connection misses the rest.
            let _ = answer(stream, &messages);
        }
    });
    Ok(address)
}

/// Answers the questions of one connection.
fn answer(mut stream: TcpStream, messages: &[Vec<u8>]) -> io::Result<()> {
    loop {
        let mut length = [0; 2];
        stream.read_exact(&mut length)?;
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut question)?;
        let id = Message::from_octets(&question).map_err(io::Error::other)?.header().id().to_be_bytes();
        for message in messages {
            stream.write_all(&[&(message.len() as u16).to_be_bytes()[..], &id, &message[2..]].concat())?;
        }
    }
}

/// It ignores all reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// What is derived and decided, and the plan as a document.
fn plan(bench: &Bench, fleet: &Path) -> Result<(), Fault> {
    let (inventory, now) = (inventory(fleet)?, now()?);
    let read = || read_live(&inventory, fleet, now);
    let live = read();
    bench.part("zones: read from files", records_of(&live), || (), |()| read());
    let hosts = inventory.hosts.len();
    bench.part(
        "hosts: derived, one by one",
        hosts,
        || (),
        |()| DesiredHosts::new(&inventory, &live, now).iter().count(),
    );
    let (selection, tripped, waits) = (Selection::default(), TrippedHosts::default(), RrsetWaits::default());
    let (statements, held, recent) = (KeptStatements::default(), HeldEdits::default(), RecentPods::default());
    let (servers, bounds) = (server_names(&inventory), PoolBounds::new());
    let given = DecisionInput {
        now,
        servers: &servers,
        bounds: &bounds,
        selection: &selection,
        tripped: &tripped,
        waits: &waits,
        statements: &statements,
        held: &held,
        recent: &recent,
        copies: &[],
        own_of_records: &BTreeMap::new(),
        survey: None,
    };
    bench.part("hosts: derived and decided", hosts, || (), |()| decide::decide(&inventory, &live, given));

    let program = Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .args(["-q", "--now", NOW, "plan", "--format", "json", "-C"])
        .arg(fleet)
        .output()?;
    let text = String::from_utf8(program.stdout)?;
    let made = document::parse(&text).map_err(|_| "there is no plan")?.plan().clone();
    let changes = made.changes.len();
    bench.part("plan: sealed", changes, || made.clone(), SealedPlan::new);
    let sealed = SealedPlan::new(made);
    bench.part("plan: written as JSON", changes, || (), |()| document::to_json(&sealed));
    bench.part("plan: read from JSON", changes, || (), |()| document::parse(&text));
    Ok(())
}

/// The zones of a workspace as they are live.
fn read_live(inventory: &Inventory, workspace: &Path, now: Time) -> Live {
    let terms = ReadingTerms { workspace, now, cache: None };
    zones::read(
        &ZonesRequest {
            inventory,
            selection: &Selection::default(),
            terms,
            creation: &CreationTerms::NONE,
            statements: &KeptStatements::default(),
        },
        None,
        &Silent,
    )
    .live
}
