//! Reads zones of a target, or writes keys to an etcd as a bare client does, to measure targets with that an API serves.
//!
//! ```text
//! cargo run --release --example api -- read settings.toml example.net
//! cargo run --release --example api -- put http://127.0.0.1:2379 /floor/ 40000
//! ```
//!
//! `read` reads zones as a plan does, by the settings of a target in a file, and prints how many records they have. `put` writes
//! so many keys in transactions of 128, one after another, and looks at nothing but the status: the cost of sending. `ci/bench apis`
//! runs both.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use zonewright::diag::Files;
use zonewright::dns::{Name, ZoneName};
use zonewright::inventory::config::toml;
use zonewright::inventory::node::SourceText;
use zonewright::inventory::pool::TargetSpec;
use zonewright::provider::{self, ProviderContext};
use zonewright::target::{PoolName, TargetId};

/// How many keys a transaction has: the most that etcd takes by default.
const AT_ONCE: usize = 128;

/// Measure targets that an API serves.
#[derive(Debug, Parser)]
#[command(name = "api", version)]
struct Args {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    /// Read zones as a plan does.
    Read {
        /// A file with the settings of a target.
        settings: PathBuf,
        /// The zones.
        #[arg(required = true, value_name = "ZONE")]
        zones: Vec<String>,
    },
    /// Write keys to an etcd.
    Put {
        /// Its URL.
        url: String,
        /// What the keys begin with.
        prefix: String,
        /// How many.
        count: usize,
    },
}

/// What can go wrong: it is only printed.
type Fault = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Read { settings, zones } => read(&settings, &zones),
        Command::Put { url, prefix, count } => put(&url, &prefix, count),
    };
    match done {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Reads zones.
fn read(settings: &Path, zones: &[String]) -> Result<String, Fault> {
    let source = SourceText { file: Files::default().add("settings"), text: fs::read_to_string(settings)? };
    let root = toml::parse(&source).root;
    let kind = root.get("type").and_then(|node| node.as_text()).ok_or("the settings have no type")?.to_owned();
    let target = TargetSpec { id: TargetId::only(&PoolName::unknown()), provider: kind, settings: root };
    if let Some(found) = provider::check(&target, &source).iter().next() {
        return Err(found.message.clone().into());
    }
    // The time counts where something is written, and here nothing is.
    let now = "1970-01-01T00:00:00Z".parse().map_err(|()| "no time")?;
    let context = ProviderContext { workspace: Path::new("."), source: &source, now, cache: None };
    let target = provider::open(&target, &context)?;
    let mut records = 0;
    for zone in zones {
        records += target.read_zone(&ZoneName::new(Name::parse(zone)?))?.contents.record_count();
    }
    Ok(format!("{records} records in {} zones", zones.len()))
}

/// Writes keys.
fn put(url: &str, prefix: &str, count: usize) -> Result<String, Fault> {
    let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(60))).build().into();
    let encoded = |text: &str| domain::utils::base64::encode_string(text.as_bytes());
    let numbers: Vec<usize> = (0..count).collect();
    let mut transactions = 0;
    for chunk in numbers.chunks(AT_ONCE) {
        let mut text = String::from("{\"success\":[");
        for (place, number) in chunk.iter().enumerate() {
            let key = encoded(&format!("{prefix}h{number}/0a1b2c3d"));
            let address = format!("192.{}.{}.{}", number / 65_536, number / 256 % 256, number % 256);
            let value = encoded(&format!("{{\"host\":\"{address}\",\"ttl\":600,\"targetstrip\":1}}"));
            let comma = if place == 0 { "" } else { "," };
            write!(text, "{comma}{{\"requestPut\":{{\"key\":\"{key}\",\"value\":\"{value}\"}}}}")?;
        }
        text.push_str("]}");
        let mut answer = agent.post(format!("{url}/v3/kv/txn")).content_type("application/json").send(&text)?;
        answer.body_mut().read_to_vec()?;
        transactions += 1;
    }
    Ok(format!("{count} keys in {transactions} transactions"))
}
