//! Transfers zones from a name server, to measure zonewright's reader with.
//!
//! ```text
//! cargo run --release --example axfr -- --server 127.0.0.1:5353 --key-name bench --key-file bench.secret example.net
//! ```
//!
//! Comes in: a server, zones, and perhaps a TSIG key. Goes out: how many records the zones have, read one after the
//! other and verified as a plan reads them. With `--floor` the octets of the answers, all over one connection, are only
//! counted, not even verified: the result is the cost of receiving. `ci/bench axfr` and
//! `ci/bench plan` run both next to other clients.

#[path = "support/target.rs"]
mod target;

use std::fs;
use std::io::{self, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use domain::base::{Message, MessageBuilder, Rtype};
use domain::rdata::tsig::Time48;
use domain::tsig::{Algorithm, ClientSequence, Key, KeyName};
use zonewright::dns::Name;

/// How far from the end of a message its last record but the signature ends at most: more than any TSIG record takes.
const TAIL: usize = 512;

/// What the RDATA of a SOA ends with: five numbers (RFC 1035 section 3.3.13).
const SOA_NUMBERS: usize = 20;

/// Transfer zones and print how many records they have.
#[derive(Debug, Parser)]
#[command(name = "axfr", version)]
struct Args {
    /// The server's address.
    #[arg(long, value_name = "ADDR:PORT")]
    server: SocketAddr,

    /// The name of the TSIG key (hmac-sha256).
    #[arg(long, value_name = "NAME", requires = "key_file")]
    key_name: Option<String>,

    /// The file that holds the key's secret in base64.
    #[arg(long, value_name = "FILE", requires = "key_name")]
    key_file: Option<PathBuf>,

    /// Only count octets.
    #[arg(long)]
    floor: bool,

    /// The zones.
    #[arg(required = true, value_name = "ZONE")]
    zones: Vec<String>,
}

/// What can go wrong: it is only printed.
type Fault = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let args = Args::parse();
    let counted = if args.floor { count_octets(&args) } else { count_records(&args) };
    match counted {
        Ok(counted) => {
            println!("{counted}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Reads the zones as a plan does.
fn count_records(args: &Args) -> Result<String, Fault> {
    let mut text = format!("type = \"rfc2136\"\nserver = \"{}\"\n", args.server);
    if let (Some(name), Some(file)) = (&args.key_name, &args.key_file) {
        let [name, file] = [name, &fs::canonicalize(file)?.display().to_string()].map(|text| quoted(text));
        text += &format!("tsig_key = {{ name = {name}, algorithm = \"hmac-sha256\", secret_file = {file} }}\n");
    }
    target::count_records(text, &args.zones)
}

/// A TOML string.
fn quoted(text: &str) -> String {
    ::toml::Value::from(text).to_string()
}

/// Receives the answers, and looks no further than is needed to know where each ends.
fn count_octets(args: &Args) -> Result<String, Fault> {
    let mut stream = BufReader::with_capacity(2 + 65_535, TcpStream::connect(args.server)?);
    let mut message = Vec::new();
    let (mut octets, mut messages) = (0, 0);
    for zone in &args.zones {
        let question = question(args, zone)?;
        stream.get_mut().write_all(&[&u16::try_from(question.len())?.to_be_bytes()[..], &question].concat())?;
        let mut soa: Option<Vec<u8>> = None;
        let mut whole = false;
        while !whole {
            receive(&mut stream, &mut message)?;
            octets += 2 + message.len();
            messages += 1;
            whole = match &soa {
                Some(soa) => count(&message[message.len().saturating_sub(TAIL)..], soa) > 0,
                // The first message begins with it, and may end with it too.
                None => count(&message, soa.insert(soa_numbers(&message)?)) > 1,
            };
        }
    }
    Ok(format!("{octets} bytes in {messages} messages of {} zones", args.zones.len()))
}

/// The question, signed where there is a key.
fn question(args: &Args, zone: &str) -> Result<Vec<u8>, Fault> {
    let name = domain::base::Name::<Vec<u8>>::from_octets(Name::parse(zone)?.as_wire().to_vec())?;
    let mut message = MessageBuilder::new_vec().question();
    message.push((name, Rtype::AXFR))?;
    let mut message = message.additional();
    if let (Some(name), Some(file)) = (&args.key_name, &args.key_file) {
        let secret: Vec<u8> = domain::utils::base64::decode(fs::read_to_string(file)?.trim())?;
        let key = Key::new(Algorithm::Sha256, &secret, name.parse::<KeyName>()?, None, None)?;
        ClientSequence::request(key, &mut message, Time48::now())?;
    }
    Ok(message.finish())
}

/// Receives one message.
fn receive(stream: &mut impl Read, message: &mut Vec<u8>) -> io::Result<()> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    message.resize(usize::from(u16::from_be_bytes(length)), 0);
    stream.read_exact(message)
}

/// The numbers of the SOA that the first message begins with.
fn soa_numbers(message: &[u8]) -> Result<Vec<u8>, Fault> {
    let message = Message::from_octets(message)?;
    let Some(first) = message.answer()?.next() else {
        return Err(format!("the server answers {}", message.header().rcode()).into());
    };
    let record = first?.into_record::<domain::rdata::Soa<_>>()?.ok_or("the answer does not begin with a SOA")?;
    let soa = record.data();
    let times = [soa.refresh(), soa.retry(), soa.expire(), soa.minimum()].map(|time| time.as_secs());
    Ok([soa.serial().into_int()].into_iter().chain(times).flat_map(u32::to_be_bytes).collect())
}

/// How often the SOA of these numbers occurs in octets.
fn count(octets: &[u8], soa: &[u8]) -> usize {
    octets.windows(SOA_NUMBERS).filter(|window| *window == soa).count()
}
