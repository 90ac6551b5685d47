//! Asks a name server for many names over one connection, to measure the questions of `read = "query"` with.
//!
//! ```text
//! cargo run --release --example queries -- --server 127.0.0.1:5353 --zone example.net names.txt
//! ```
//!
//! Comes in: a server, a zone, and a file of lines `NAME TYPE`, as dnsperf reads it. Goes out: how many questions were
//! answered, how many of the answers hold records, and how long it took. `ci/bench queries` runs it next to dnsperf.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use zonewright::diag::Files;
use zonewright::dns::{Name, Rtype, ZoneName};
use zonewright::inventory::config::toml;
use zonewright::inventory::node::SourceText;
use zonewright::inventory::pool::TargetSpec;
use zonewright::provider::{self, ProviderContext};
use zonewright::target::{Answer, PoolName, Question, TargetId};

/// Ask for many names of one zone and print how fast they were answered.
#[derive(Debug, Parser)]
#[command(name = "queries", version)]
struct Args {
    /// The server's address.
    #[arg(long, value_name = "ADDR:PORT")]
    server: SocketAddr,

    /// The zone that holds the names.
    #[arg(long)]
    zone: String,

    /// How many questions are in flight.
    #[arg(long)]
    window: Option<u16>,

    /// The file of questions, one a line: a name and a type.
    questions: PathBuf,
}

/// What can go wrong: it is only printed.
type Fault = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match ask(&Args::parse()) {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Asks all questions as a plan does.
fn ask(args: &Args) -> Result<String, Fault> {
    let window = args.window.map(|window| format!("window = {window}\n")).unwrap_or_default();
    let text = format!("type = \"rfc2136\"\nread = \"query\"\nserver = \"{}\"\n{window}", args.server);
    let source = SourceText { file: Files::default().add("settings"), text };
    let id = TargetId::only(&PoolName::unknown());
    let target =
        TargetSpec { id, provider: "rfc2136".to_owned(), settings: toml::parse(&source).root, has_marks: false };
    if let Some(found) = provider::check(&target, &source).iter().next() {
        return Err(found.message.clone().into());
    }
    // The time counts where something is written, and here nothing is.
    let now = "1970-01-01T00:00:00Z".parse().map_err(|()| "no time")?;
    let context = ProviderContext { workspace: Path::new("."), source: &source, now, cache: None, has_marks: false };
    let target = provider::open(&target, &context)?;
    let zone = ZoneName::new(Name::parse(&args.zone)?);
    let text = fs::read_to_string(&args.questions)?;
    let questions = text.lines().map(question).collect::<Result<Vec<Question>, Fault>>()?;
    let begin = Instant::now();
    let answers = target.ask(&zone, &questions)?;
    let took = begin.elapsed().as_secs_f64();
    let held = answers.iter().filter(|answer| matches!(answer, Answer::Holds(..))).count();
    Ok(format!("{} answers, {held} hold records, {took:.6} seconds", answers.len()))
}

/// Reads one line.
fn question(line: &str) -> Result<Question, Fault> {
    let (name, rtype) = line.split_once(' ').ok_or("a line is a name and a type")?;
    let rtype = [Rtype::SOA, Rtype::AAAA, Rtype::A, Rtype::PTR, Rtype::TXT]
        .into_iter()
        .find(|known| known.to_string() == rtype);
    Ok(Question { name: Name::parse(name)?, rtype: rtype.ok_or("a type that no plan asks for")? })
}
