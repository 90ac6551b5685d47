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

#[path = "support/target.rs"]
mod target;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use self::target::count_records;

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
        Command::Read { settings, zones } => {
            fs::read_to_string(settings).map_err(Fault::from).and_then(|settings| count_records(settings, &zones))
        }
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
