//! The command line, as clap reads it; nothing here looks at the world.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::diag::is_formatting;
use crate::dns::Name;
use crate::guard::Allowance;
use crate::inventory::value::{Inv, Time};
use crate::serve::fault::{FATES, Fault};
use crate::serve::quirk::{QUIRKS, Quirk};

/// What `--help` says below the commands; no line of it is wider than 80 columns.
const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  error; where a zone or source could not be read, a plan is still printed
  2  `plan --detailed-exitcode`, `drift`: there are changes
  3  refused (limits, breakers, a source that is not believed, an expired or
     another plan), or every host of a plan is stale
  4  applied in part

`zonewright help CODE` explains a code, such as `not-a-64`, that a message has;
`zonewright help codes` lists all codes.";

/// Keeps the DNS records of a server fleet true: derives names and addresses from inventory, compares them with live DNS
/// record by record, and plans the changes that make the two agree.
#[derive(Debug, Parser)]
#[command(name = "zonewright", version, after_help = AFTER_HELP, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes.
    #[command(flatten)]
    pub shared: Shared,
}

/// What every command takes.
#[derive(Debug, Args)]
pub struct Shared {
    /// The workspace: a folder with zonewright.toml and everything it points to.
    #[arg(short = 'C', value_name = "DIR", default_value = ".", global = true)]
    pub workspace: PathBuf,
    /// Only this host's rules run (repeatable). Naming a host passes its restrictions, its project's switch, and breakers.
    #[arg(long = "host", value_name = "INV", global = true, value_parser = parse_inv)]
    pub hosts: Vec<Inv>,
    /// Only this project's rules run (repeatable).
    #[arg(long = "project", value_name = "ID", global = true)]
    pub projects: Vec<String>,
    /// Show only changes in this zone (repeatable). Limits what is shown, and what `doctor` asks for, never what a host
    /// gets.
    #[arg(long = "zone", value_name = "ZONE", global = true)]
    pub zones: Vec<String>,
    /// The clock that ages are measured against [default: now]
    #[arg(long, value_name = "RFC3339", global = true, value_parser = parse_time)]
    pub now: Option<Time>,
    /// Why this is run; kept in the journal by commands that change something.
    #[arg(long, value_name = "TEXT", global = true)]
    pub reason: Option<String>,
    /// How messages on standard error are written.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub log_format: LogFormat,
    /// Say only what went wrong.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Show long lists whole; twice: say how long each stage took.
    #[arg(short, long, action = ArgAction::Count, global = true)]
    pub verbose: u8,
    /// When to use colour.
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a workspace to start from, around what is in a folder.
    ///
    /// Looks for exports by their content: hosts.csv, l3-tors, net-layout, ipv4-map, MAC reports, zone files, project files.
    /// Writes a zonewright.toml that points at them, with every line explained, and a file for each project. Where there is
    /// nothing, makes an example that `plan` works on at once. Asks nothing, overwrites nothing, and writes all of it or
    /// nothing.
    ///
    /// With `--from-axfr` the fleet comes from your DNS: transfers the zones, and the reverse zones of the addresses in them that
    /// the server has, and writes a hosts.csv with a row for each name that looks like a host's. MACs are read out of EUI-64
    /// addresses. Nothing is sent to the server but questions, and the first plan removes nothing.
    #[command(after_help = INIT_HELP)]
    Init(InitArgs),
    /// Validate every file of the workspace, offline.
    ///
    /// Reads zonewright.toml, the project files, all inventory sources, names.lock, and zones that are files; asks no
    /// server and needs no secret. All findings are printed at once. Exits 1 where any is an error.
    Check(CheckArgs),
    /// Print what would be changed in DNS, and why; change nothing.
    ///
    /// Derives the records that every host must have, reads live DNS, and prints the difference with the reason and the
    /// inventory lines behind every change, then what was blocked or skipped, and why.
    Plan(PlanArgs),
    /// Tell what in live DNS is not as desired, and since when.
    ///
    /// Reads inventory and live DNS as `plan` does, and holds each difference against the journal: live DNS drifted, the
    /// inventory moved, both did, or no apply is known to have written the RRset. Changes nothing. Exits 2 where there is
    /// any difference.
    Drift(DriftArgs),
    /// Change DNS by what a plan says: exactly that, or nothing.
    ///
    /// With a file, applies the plan that `plan --out` saved; nothing is derived anew. Without, plans, shows the plan, asks,
    /// and applies it. Whatever somebody else changed since the plan is never overwritten: such a host is stale and left as
    /// it is, and the others go on. Every change is read back.
    Apply(ApplyArgs),
    /// Explain, plan and apply for a few hosts, as your own act.
    ///
    /// Explains each, shows the plan, asks, and applies it.
    CheckDns(CheckDnsArgs),
    /// Take up an apply that was killed or did not do all, and finish it.
    ///
    /// Finds out by the journal and the zones' markers what of it took effect, and sends what is missing, with the
    /// prerequisites that it had: nothing is sent twice, and nothing that changed since is overwritten. A host that changed
    /// since is named and left. May be run as often as one likes.
    Resume(ResumeArgs),
    /// Put back what an apply changed: show the plan, ask, apply it.
    ///
    /// Every RRset that stands as the apply left it is to stand as it did before, by the journal; no export is read. A host
    /// of which anything was changed since is named and left as it is. On a terminal it asks before it applies; else
    /// `--yes` says so. With `--out` the plan is saved, to be reviewed and applied like any other. `--host` and `--project`
    /// narrow it. An undo is an apply, and can be undone.
    Undo(UndoArgs),
    /// Explain what is decided about a host, name or address, and why.
    ///
    /// Shows the whole chain: where name, MAC, networks and addresses come from, what is live, and which rule changes what,
    /// or why nothing is done and what would unblock it. The decision is the one that `plan` makes. Changes nothing.
    Explain(ExplainArgs),
    /// Print a plan that `plan --out` saved.
    Show(ShowArgs),
    /// Save live DNS, to plan from later without any server or secret.
    ///
    /// Writes a folder with one zone file for each zone and a manifest of their digests and serials. A zone that could not
    /// be read is listed there with its error; the others are saved, and the command exits 1.
    Snapshot(SnapshotArgs),
    /// Look at every server and target: what works, and what does not.
    ///
    /// Asks each server of each target for each zone (or those of `--zone`): whether it can be reached, has authority,
    /// allows the transfer, to whom, how large the zone is, what serial and clock it has. Changes nothing. Exits 1
    /// where there is a problem.
    Doctor(DoctorArgs),
    /// Show who is at work, applies, limits, breakers; or reset one.
    ///
    /// Tells the last applies, markers, what did not end and whether it can be taken up again, how many hosts each limit still lets change, and which
    /// breakers are tripped, since when and why. `--reset SCOPE --reason TEXT` resets one.
    Status(StatusArgs),
    /// Tell what was applied: when, by whom, why, and what came of it.
    ///
    /// Without an argument, lists the latest applies. `history 12` tells all of apply 12: its plan, how many changes of
    /// which kind in which zones, the hosts that it left, and each change with what stood before and after. `history 100001`
    /// tells what was ever done for that host (where there is an apply of that number, `--host 100001`), and
    /// `history sas1-0001.search.example.net` what at that name. What was sent and refused, or never answered, is told too.
    History(HistoryArgs),
    /// Take the export of a source for right, whatever it changed.
    ///
    /// An export that lost more rows than `max_shrink` allows since the one that was last accepted, or changed more than
    /// `max_churn`, is not believed. This makes it the accepted one, and tells what is gone, new and changed. Of `l3_tors`,
    /// switches that it does not list leave their L3 segment. An export that is cut, bad or fails any other test is refused.
    Accept(AcceptArgs),
    /// Give names to the hosts that have none.
    ///
    /// Each gets the lowest number of its project's `shortname_template` whose short name is free: no host of any project has
    /// it, nobody gave it up within `name_cooldown`, and nothing stands at it in live DNS. Prints the change of names.lock, the
    /// file that keeps them, as a diff; `--write` writes it. For all hosts without a name, or just for HOST…, or for those of
    /// `--project`.
    Allocate(AllocateArgs),
    /// Let hosts give up their names.
    ///
    /// Each HOST gets `free-INV` below `free_domain` for a name, which is never published. The next plan removes the
    /// records of its old name, which nobody gets within `name_cooldown`. With `--to-project` it gets a name there at once.
    Release(ReleaseArgs),
    /// Record names that hosts have in hosts.csv in names.lock.
    ///
    /// A name is recorded where the project's template gives it, no other host has it, and none had it within
    /// `name_cooldown`. For all hosts of which names.lock has no row, or just for HOST…, or for those of `--project`.
    Adopt(AdoptArgs),
    /// Look after the state, the journal of what was applied.
    State(StateArgs),
    /// Serve zones from memory on loopback, to try things out on.
    ///
    /// Answers queries, transfers and updates. Serves the zones of the files or folders that are named, else those that the
    /// workspace has in files (targets of type `zonefile`). Obeys RFC 2136; a quirk makes it behave as some other server
    /// does, a fault lets an update go wrong. With `--try DIR` it makes a copy of the workspace that has its zones here, so
    /// that `plan` and `apply` can be tried on it.
    /// Runs until Ctrl-C; nothing is saved.
    #[command(after_help = serve_help())]
    Serve(ServeArgs),
    /// Print the JSON Schema of a file format.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page of zonewright or a command, or write all.
    ///
    /// The page is for `man -l`. With `--out` all pages are written to a folder, `zonewright.1` and one for each command,
    /// as packages install them; the date in them is that of SOURCE_DATE_EPOCH, and without it there is none.
    Man(ManArgs),
    /// Explain a code or a command.
    ///
    /// A code, such as `not-a-64`, may be pasted as it was printed: `error[not-a-64]`. Its page says what it means, with an
    /// example, and what to do. `help codes` lists all codes. Of a command it prints what `--help` does.
    Help(HelpArgs),
}

/// What `init --help` says below the flags.
const INIT_HELP: &str = "\
Examples:
  zonewright init fleet
      an example, or around the exports that are in fleet/
  zonewright init fleet --from-axfr ns1.example.net example.net
      from a server that lets this machine transfer the zone
  zonewright init fleet --from-axfr ns1.example.net example.net \\
      --tsig-secret-file zonewright.key
      signed with a key, as `tsig-keygen zonewright. > zonewright.key` makes it";

/// What `init` takes.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The folder to make a workspace of; it is made where it is not there [default: that of -C]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Begin with the zones of a server: HOST, HOST:PORT or an address, then the zones. DIR comes before.
    #[arg(long, num_args = 2.., value_names = ["SERVER", "ZONE"])]
    pub from_axfr: Vec<String>,
    /// The file of the key that transfers are signed with: a key of named.conf, as `tsig-keygen` prints it, or the secret alone
    /// in base64. For its owner alone (chmod 600); the settings name it.
    #[arg(long, value_name = "FILE", requires = "from_axfr")]
    pub tsig_secret_file: Option<PathBuf>,
    /// The name of the key, where its file does not say it.
    #[arg(long, value_name = "NAME", requires = "tsig_secret_file", value_parser = parse_key_name)]
    pub tsig_key: Option<Name>,
    /// The algorithm of the key, where its file does not say it [default: hmac-sha256]
    #[arg(long, value_name = "ALGORITHM", requires = "tsig_secret_file")]
    pub tsig_algorithm: Option<String>,
}

/// What `plan` takes.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// How the plan is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: PlanFormat,
    /// Save the plan to this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Tell what this inventory changes against a git revision or another folder, and what was to be changed before.
    ///
    /// Derives the desired state from both. Each change is `caused` by what differs, `pending` before it, or `mixed`. Files
    /// that a revision lacks, such as exports that are not in git, are taken from the working tree for both. Nothing is
    /// checked out.
    #[arg(long, value_name = "REV|DIR")]
    pub base: Option<String>,
    /// Show only changes that the difference to the base causes, in part or whole.
    #[arg(long, requires = "base")]
    pub only_caused: bool,
    /// Where readers of the report find the whole plan, such as the page of a run; told where a report is cut.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    pub plan_url: Option<String>,
    /// Exit 2 where there are changes, 3 where the plan would be refused.
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Write metrics of this run to this file, for the textfile collector of Prometheus; also where the run fails.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Take live DNS from this snapshot, its folder or its manifest; ask no server, and use no secret.
    #[arg(long, value_name = "PATH")]
    pub live_snapshot: Option<PathBuf>,
    /// Whether live DNS may come from earlier runs.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// What commands take that may use the zones which earlier runs kept.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// Transfer every zone, also those whose serial has not moved since an earlier run kept them. What is transferred is
    /// kept in their place.
    #[arg(long)]
    pub no_cache: bool,
}

/// What `drift` takes.
#[derive(Debug, Args)]
pub struct DriftArgs {
    /// How it is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Write metrics of this run to this file, for the textfile collector of Prometheus; also where the run fails.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Take live DNS from this snapshot, its folder or its manifest; ask no server, and use no secret.
    #[arg(long, value_name = "PATH")]
    pub live_snapshot: Option<PathBuf>,
}

/// What `apply` takes.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// The saved plan; without one a plan is made, shown and applied.
    pub file: Option<PathBuf>,
    /// How the outcome is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Refuse any plan but the one with this effect, as `show` and `plan` print it.
    #[arg(long, value_name = "DIGEST")]
    pub expect: Option<String>,
    /// Run unattended: ask nobody. A plan that exceeds a limit is not applied, and trips the breaker of the limit's scope:
    /// nothing is done there any more until somebody resets it (`status --reset`).
    #[arg(long, conflicts_with = "allow")]
    pub auto: bool,
    /// Write metrics of this run to this file, for the textfile collector of Prometheus; also where the run fails.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// How far it goes.
    #[command(flatten)]
    pub limits: ApplyLimits,
    /// Whether live DNS may come from earlier runs.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// What all commands take that apply a plan.
#[derive(Debug, Args)]
pub struct ApplyLimits {
    /// Apply without asking.
    #[arg(long)]
    pub yes: bool,
    /// Send nothing more once this many hosts could not be changed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_failures: Option<u32>,
    /// Let this plan exceed one limit, up to a number, such as `project:search/1h=34` (repeatable). Kept in the journal.
    #[arg(long, value_name = "LIMIT=N")]
    pub allow: Vec<Allowance>,
}

/// What `resume` takes.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The number of the apply, as `status` and `history` show it; the latest where none is given.
    #[arg(value_name = "ID", value_parser = parse_apply)]
    pub id: Option<u64>,
    /// How the outcome is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Send nothing more once this many hosts could not be changed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_failures: Option<u32>,
    /// Let this plan exceed one limit, up to a number, such as `project:search/1h=34` (repeatable). Kept in the journal.
    #[arg(long, value_name = "LIMIT=N")]
    pub allow: Vec<Allowance>,
}

/// What `undo` takes.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The number of the apply, as `status` and `history` show it.
    #[arg(value_name = "ID", value_parser = parse_apply)]
    pub id: u64,
    /// How the plan is printed, or with `--yes` the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Save the plan to this file, and do not apply it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["yes", "max_failures", "allow"])]
    pub out: Option<PathBuf>,
    /// How far it goes.
    #[command(flatten)]
    pub limits: ApplyLimits,
}

/// What `check-dns` takes.
#[derive(Debug, Args)]
pub struct CheckDnsArgs {
    /// Inventory numbers, or names that hosts have.
    #[arg(value_name = "HOST", required = true)]
    pub subjects: Vec<String>,
    /// How far it goes.
    #[command(flatten)]
    pub limits: ApplyLimits,
    /// Whether live DNS may come from earlier runs.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// What `check` takes.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// First settle what rows of names.lock say against each other, as after a merge, and sort it; never asks.
    ///
    /// One row a name, one name a host, one host a short name: the host that had it first keeps it, of several the one with
    /// the lowest number; the others have none until `allocate` gives them one. Prints the difference and what was decided.
    #[arg(long, conflicts_with = "format")]
    pub fix_lock: bool,
    /// How the findings are printed on standard output; standard error tells them for people in any case.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CheckFormat,
}

/// What `explain` takes.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// An inventory number, a name (its first label will do for a host's), an address or a reverse name.
    #[arg(value_name = "HOST|NAME|ADDRESS")]
    pub subject: String,
    /// How the explanation is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Take live DNS from this snapshot, its folder or its manifest; ask no server, and use no secret.
    #[arg(long, value_name = "PATH")]
    pub live_snapshot: Option<PathBuf>,
    /// Whether live DNS may come from earlier runs.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// What `show` takes.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The saved plan.
    pub file: PathBuf,
    /// How the plan is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: PlanFormat,
    /// Where readers of the report find the whole plan, such as the page of a run; told where a report is cut.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    pub plan_url: Option<String>,
}

/// What `snapshot` takes.
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// The folder to save it as: a free name, or an earlier snapshot, which it replaces.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What `doctor` takes.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// How the findings are printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// What `status` takes.
#[derive(Debug, Args)]
pub struct StatusArgs {
    /// How it is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// Reset the breaker of this scope, `global` or `project:ID`; `--reason` says why, and is kept.
    #[arg(long, value_name = "SCOPE", conflicts_with = "format")]
    pub reset: Option<String>,
}

/// What `history` takes.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// The number of an apply, an inventory number, a whole owner name, or an address for its reverse name; a list of the
    /// applies where none is given.
    #[arg(value_name = "ID|HOST|NAME")]
    pub subject: Option<String>,
    /// How it is printed.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
}

/// What `accept` takes.
#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// The source, as messages call it: hosts, l3_tors, net_layout, ipv4_map, or the name of a source of MACs.
    pub source: String,
}

/// What `allocate` takes.
#[derive(Debug, Args)]
pub struct AllocateArgs {
    /// Inventory numbers, or names that hosts have; the same as `--host`.
    #[arg(value_name = "HOST")]
    pub subjects: Vec<String>,
    /// Rename each HOST whose name is not one that its template gives; what fits stays.
    #[arg(long)]
    pub rename: bool,
    /// Note that each HOST is in this project; it keeps its name.
    #[arg(long, value_name = "ID")]
    pub to_project: Option<String>,
    /// Take live DNS from this snapshot, its folder or its manifest; ask no server, and use no secret.
    #[arg(long, value_name = "PATH")]
    pub live_snapshot: Option<PathBuf>,
    /// Whether it is written.
    #[command(flatten)]
    pub writing: Writing,
}

/// What `release` takes.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// Inventory numbers, or names that hosts have; the same as `--host`.
    #[arg(value_name = "HOST")]
    pub subjects: Vec<String>,
    /// Give each HOST a name in this project at once.
    #[arg(long, value_name = "ID")]
    pub to_project: Option<String>,
    /// With `--to-project`, take live DNS from this snapshot, its folder or its manifest; ask no server, and use no secret.
    #[arg(long, value_name = "PATH", requires = "to_project")]
    pub live_snapshot: Option<PathBuf>,
    /// Whether it is written.
    #[command(flatten)]
    pub writing: Writing,
}

/// What `adopt` takes.
#[derive(Debug, Args)]
pub struct AdoptArgs {
    /// Inventory numbers, or names that hosts have; the same as `--host`.
    #[arg(value_name = "HOST")]
    pub subjects: Vec<String>,
    /// Whether it is written.
    #[command(flatten)]
    pub writing: Writing,
}

/// What all commands take that change names.lock.
#[derive(Debug, Args)]
pub struct Writing {
    /// Write names.lock; on a terminal it asks first.
    #[arg(long)]
    pub write: bool,
    /// Write without asking.
    #[arg(long, requires = "write")]
    pub yes: bool,
}

/// What `state` takes.
#[derive(Debug, Args)]
pub struct StateArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: StateCommand,
}

/// What can be done with the state.
#[derive(Debug, Subcommand)]
pub enum StateCommand {
    /// Take the markers that stand in the zones for known; create the state where there is none.
    ///
    /// For when an apply is refused with `state-lost`: somebody applied with another state, or the state is gone. Look first
    /// at what was done; `--reason` says why this is right, and is kept. Changes nothing in DNS. A zone that cannot be read
    /// is named and not taken over, and the command exits 1.
    Init,
}

/// What `serve` takes.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Master files called APEX.zone, and folders of such; without any, the zones that the workspace has in files.
    #[arg(value_name = "FILE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Where to listen, a loopback address (repeatable); port 0 takes any that is free.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5300", value_parser = parse_address)]
    pub listen: Vec<SocketAddr>,
    /// A file with the secret of an hmac-sha256 key in base64, which transfers and updates must then be signed with.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The name of the key.
    #[arg(long, value_name = "NAME", default_value = "zonewright.", value_parser = parse_key_name)]
    pub key_name: Name,
    /// Make this folder a copy of the workspace whose targets of type `zonefile` are this server, with a key of its own.
    #[arg(long = "try", value_name = "DIR", conflicts_with_all = ["paths", "key"])]
    pub try_on: Option<PathBuf>,
    /// Do something otherwise than the RFC says (repeatable); see below.
    #[arg(long = "quirk", value_name = "NAME")]
    pub quirks: Vec<Quirk>,
    /// Let the Nth update go wrong (repeatable); see below.
    #[arg(long = "fault", value_name = "NAME=N")]
    pub faults: Vec<Fault>,
}

/// What `serve --help` says below the flags.
fn serve_help() -> String {
    let list = |entries: &[(&str, &str)]| -> String {
        entries.iter().map(|(name, meaning)| format!("  {name:18}  {meaning}\n")).collect()
    };
    format!(
        "Quirks:\n{}\nFaults, of which N says which update, the first being 1:\n{}",
        list(&QUIRKS),
        list(&FATES.map(|(name, _, meaning)| (name, meaning)))
    )
}

/// What `schema` takes.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which format.
    pub kind: SchemaKind,
}

/// What `completions` takes.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Which shell.
    pub shell: Shell,
}

/// What `man` takes.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// A command, such as `plan` or `state init`; zonewright itself where none is given.
    #[arg(value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Write all pages to this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "words")]
    pub out: Option<PathBuf>,
}

/// What `help` takes.
#[derive(Debug, Args)]
pub struct HelpArgs {
    /// A command, a code, or `codes`.
    #[arg(value_name = "COMMAND|CODE")]
    pub words: Vec<String>,
}

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlanFormat {
    /// For people at a terminal.
    Text,
    /// The document that `--out` saves.
    Json,
    /// For a comment on a pull request; at most 65 536 octets.
    Markdown,
    /// One page to look at in a browser, with all that is needed in it.
    Html,
    /// A unified diff of each zone.
    Diff,
    /// A report of tests, for pipelines that show such.
    Junit,
}

/// How the findings of a check are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// How many there are.
    Text,
    /// A report of tests, for pipelines that show such.
    Junit,
    /// Annotations of files at GitHub.
    Github,
}

/// How anything else is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// The document.
    Json,
}

/// The formats that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// zonewright.toml.
    Config,
    /// A project file.
    Project,
    /// The plan document.
    Plan,
    /// The document of `doctor`.
    Doctor,
    /// What `explain` prints as JSON.
    Explain,
    /// What `apply` prints as JSON.
    Apply,
    /// What `drift` prints as JSON.
    Drift,
    /// What `status` prints as JSON.
    Status,
    /// What `history` prints as JSON.
    History,
}

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Reads an inventory number.
fn parse_inv(text: &str) -> Result<Inv, String> {
    text.parse().map_err(|()| "an inventory number is a whole number, such as 100001".to_owned())
}

/// Reads an address with its port.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "an address has a port, such as 127.0.0.1:5300 or [::1]:5300".to_owned())
}

/// Reads the name of a key.
fn parse_key_name(text: &str) -> Result<Name, String> {
    Name::parse(text).map_err(|error| error.to_string())
}

/// Reads the number of an apply.
fn parse_apply(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "the number of an apply is a whole number from 1; `zonewright history` lists them".to_owned())
}

/// Reads the address of a page, for reports to show.
fn parse_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or(text.strip_prefix("http://"));
    let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && !is_formatting(c);
    let is_page = rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_plain));
    let wrong = || "a URL is that of a page, without blanks, such as https://ci.example.net/runs/17".to_owned();
    is_page.then(|| text.to_owned()).ok_or_else(wrong)
}

/// Reads a point in time.
fn parse_time(text: &str) -> Result<Time, String> {
    text.parse().map_err(|()| "a time is written as in RFC 3339, such as 2026-11-20T02:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// The columns of a usual terminal.
    const COLUMNS: usize = 80;

    #[test]
    fn help_fits_a_terminal_and_has_a_line_for_each_command() {
        let mut cli = Cli::command().term_width(COLUMNS);
        cli.build();
        let shown = cli.render_help().to_string();
        for command in cli.get_subcommands_mut() {
            let headline = command.get_about().map(ToString::to_string).unwrap_or_default();
            let is_line = |line: &str| line.trim_start().starts_with(command.get_name()) && line.ends_with(&headline);
            assert!(shown.lines().any(is_line), "{headline}");
            for line in command.render_long_help().to_string().lines().chain(shown.lines()) {
                assert!(line.chars().count() <= COLUMNS, "{line}");
            }
        }
    }
}
