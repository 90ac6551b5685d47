//! Serves a zone as Route 53 does, at its pace of five requests a second, to measure what an apply takes of the processor meanwhile.
//!
//! ```text
//! cargo run --release --example route53 -- bench.example
//! ```
//!
//! It prints its URL, and serves until it is ended. It is the double of the tests, with their keys. `ci/bench clouds` runs it.

#[expect(dead_code, reason = "the tests use the rest of it")]
#[path = "../tests/doubles/mod.rs"]
mod doubles;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;

use self::doubles::http::DoubleServer;
use self::doubles::route53::Route53Double;
use self::doubles::route53::rules::ChangeSettling;

/// The keys that it knows.
const KEYS: (&str, &str) = ("AKIDEXAMPLE", "secret/of+example");

/// Serve a zone as Route 53 does.
#[derive(Debug, Parser)]
#[command(name = "route53", version)]
struct Args {
    /// The zone.
    zone: String,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let double = Arc::new(Route53Double::new(KEYS, move || i64::try_from(now()).unwrap_or(i64::MAX)));
    double.set_rules(|rules| rules.settling = ChangeSettling::AtOnce);
    double.create_zone(&args.zone, false);
    let server = DoubleServer::start(double);
    println!("{}", server.url());
    if std::io::stdout().flush().is_err() {
        return ExitCode::FAILURE;
    }
    loop {
        thread::park();
    }
}
