//! The command line, as clap reads it. Nothing here reads files, the clock or the network.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::candidates;
use super::cms_args::CmsArgs;
use super::init_args::InitArgs;
use super::journal_args::{HistoryArgs, STATUS_WORDS, SYNC_EXITS, StateArgs, StatusArgs, SyncArgs};
use super::name_args::{AdoptArgs, AllocateArgs, ReleaseArgs};
use super::render_args::RenderArgs;
use super::serve_args::{ServeArgs, serve_help};
use super::shared_args::SharedArgs;
use super::values::{
    CheckFormat, FormatArg, ListenArg, PlanFormatArg, SchemaKindArg, parse_apply, parse_listen, parse_url, parse_wait,
};
use crate::codes;
use crate::guard::Allowance;
use crate::inventory::value::Duration;
use crate::report::SourceUrl;

/// What `--help` says below the commands; no line of it is wider than 80 columns.
const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  error; the rest is still planned if a zone or source could not be read,
     or a settings file has errors
  2  `plan --detailed-exitcode`, `drift`: there are changes
  3  refused: a limit, a breaker, an untrusted source, an expired or altered
     plan; or every host of the plan is stale
  4  applied in part: some hosts were changed, and others could not be; or
     too few servers of a pool have the changes
  5  some hosts wait for a later wave of the rollout; nothing went wrong

First steps: `zonewright init DIR` makes a workspace, `zonewright plan` shows
what would change. `zonewright help CODE` explains a code of a message, such as
`not-a-64`; `zonewright help codes` lists all codes.";

/// Keeps DNS in sync with your server inventory: shows what would change, and why, then changes exactly that.
///
/// Reads the inventory, derives the AAAA and PTR records that every host must have, compares them with live DNS, and
/// makes a plan. `plan` changes nothing. `apply` asks first.
#[derive(Debug, Parser)]
#[command(name = "zonewright", version, after_help = AFTER_HELP, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every command takes.
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a workspace, from exports, from live DNS, or an example.
    ///
    /// Finds exports in the folder by their content (hosts.csv, l3-tors, net-layout, ipv4-map, MAC reports, zone files,
    /// project files), and writes a zonewright.toml that points to them, with every line explained, and a file for each
    /// project. An empty folder gets an example that `plan` works on at once. It asks nothing, overwrites nothing, and
    /// writes all files or none.
    ///
    /// With `--from-axfr` the fleet comes from your DNS: `init` transfers the zones, and the reverse zones of their addresses
    /// that the server has, and writes a hosts.csv with a row for each name that looks like a host's. It reads MACs from
    /// EUI-64 addresses. It only asks the server questions, and the first plan removes nothing.
    ///
    /// `--from-powerdns` reads zones by the API of a PowerDNS, which needs no transfer, and `--from-etcd` those that CoreDNS has in
    /// etcd. Zones in Route 53, Azure DNS or Cloud Map are first saved by `snapshot`: docs/start.md has the steps.
    ///
    /// With `--records`, too, no hosts are looked for: each zone becomes a file in YAML that states all its records, as
    /// octoDNS has it, and the first plan is empty.
    Init(InitArgs),
    /// Validate every file of the workspace, offline.
    ///
    /// Reads zonewright.toml, the project files, all sources, names.lock, and zones that are files. It asks no server and
    /// needs no secret. It prints all findings at once. Exits 1 where any finding is an error.
    Check(CheckArgs),
    /// Show what would change in DNS, and why; change nothing.
    ///
    /// Derives the records that every host must have, reads live DNS, and prints the difference. Each change has its reason
    /// and the inventory lines that cause it. Then it prints which hosts are blocked or skipped, and why.
    #[command(after_help = PLAN_EXITS)]
    Plan(PlanArgs),
    /// Show what was changed outside zonewright, and since when.
    ///
    /// Reads inventory and live DNS as `plan` does, and compares each difference with the journal: live DNS drifted, the
    /// inventory changed, both did, or no known apply wrote the RRset. Changes nothing. Exits 2 where there is any
    /// difference.
    Drift(DriftArgs),
    /// Change DNS as a plan says (asks first).
    ///
    /// With FILE: applies the plan that `plan --out` saved, exactly as it is, and does not ask. Without FILE: makes a plan,
    /// shows it, asks, and applies it. A change that another editor made since the plan is never overwritten: that host is
    /// stale and stays as it is, and the other hosts go on. Every change is read back.
    #[command(after_help = APPLY_EXITS)]
    Apply(ApplyArgs),
    /// Fix named hosts now (asks first).
    ///
    /// Explains each host, shows the plan for these hosts alone, asks, and applies it. Naming a host overrides its
    /// restriction, its project's `automation: false`, and breakers. `check-dns` is an older name of this command.
    #[command(visible_alias = "check-dns")]
    Fix(FixArgs),
    /// Keep DNS in line: plan and apply, again and again, until stopped.
    ///
    /// Each pass plans, applies as `apply --auto` does, tries again what targets lack, and asks the name servers that are behind.
    /// Of several processes with one state one makes the passes; the others wait to take over. A person can apply between two
    /// passes. Where settings are broken nothing is changed until they are fixed.
    ///
    /// Where nothing has moved since the last pass, its plan is used again. SIGHUP starts a pass at once, with a new plan. SIGTERM
    /// and Ctrl-C end it, with exit code 0: at once while it plans, otherwise after the updates under way. A page in a browser shows
    /// how it is going: `/`, with the last plan at `/plan`, metrics for Prometheus at `/metrics`, and `/healthz` and
    /// `/readyz` for watchdogs.
    #[command(after_help = RUN_EXITS)]
    Run(RunArgs),
    /// Finish an apply that was killed or did not do everything.
    ///
    /// Finds by the journal and by the zones' markers which changes took effect, and sends the missing ones with their
    /// prerequisites. Nothing is sent twice, and nothing that changed since is overwritten: such a host is named and stays
    /// as it is. You can run it as often as you like. Of a rollout it sends the next wave, as soon as that can go.
    #[command(after_help = APPLY_EXITS)]
    Resume(ResumeArgs),
    /// Ask the name servers that did not serve the last changes yet.
    ///
    /// After an apply each name server of a pool must serve the new serials. `sync` goes on with what an apply did not see:
    /// for each zone that not all voters serve at its newest step, it sends NOTIFY and asks every name server. Then it says
    /// which RRsets are served, and which name server is behind. Before that it tries again what targets of pools with
    /// several targets lack. It reads no inventory and makes no plan.
    #[command(after_help = SYNC_EXITS)]
    Sync(SyncArgs),
    /// Revert what an apply changed (asks first).
    ///
    /// Restores every RRset that is still as the apply left it, by the journal; it reads no export. A host that was changed
    /// since is named and stays as it is. On a terminal it asks before it applies; elsewhere `--yes` applies, and without it
    /// the plan is shown and the exit code is 1. `--out` saves the plan, for review and a later `apply`. `--host` and
    /// `--project` limit it. An undo is an apply, and can be undone.
    #[command(after_help = APPLY_EXITS)]
    Undo(UndoArgs),
    /// Explain the records of a host, name or address.
    ///
    /// Shows where name, MAC, networks and addresses come from, what live DNS has, and which rule changes what; or why
    /// nothing is done, and what would unblock it. The decision is the same as that of `plan`. Changes nothing.
    Explain(ExplainArgs),
    /// Print a plan that `plan --out` saved.
    Show(ShowArgs),
    /// Save live DNS, to plan from it later without servers or secrets.
    ///
    /// Writes a folder with one zone file for each zone, and a manifest of their digests and serials. The manifest lists a
    /// zone that could not be read with its error; the other zones are saved, and the command exits 1.
    Snapshot(SnapshotArgs),
    /// Test every server and target: what works, and what does not.
    ///
    /// Asks each server of each target for each zone (or for those of `--zone`): can it be reached, is it authoritative,
    /// whom does it allow the transfer, how large is the zone, which serial and clock it has. Changes nothing. Exits 1
    /// where there is a problem.
    Doctor(DoctorArgs),
    /// Try services that are asked before hosts are disturbed.
    Cms(CmsArgs),
    /// Show the running apply, the last applies, limits and breakers.
    ///
    /// Lists the last applies, the markers, applies that can be resumed, what is open in pools (zones that are not served
    /// yet, changes that targets lack), what waits for a later wave of a rollout and which hosts clients may not reach yet,
    /// how many hosts each limit still lets change, and which breakers are tripped, since when and why. No server is asked. `--reset SCOPE --reason TEXT` resets a breaker.
    #[command(after_help = STATUS_WORDS)]
    Status(StatusArgs),
    /// Show what was applied: when, by whom, why, with which outcome.
    ///
    /// Without an argument it lists the latest applies. `history 12` shows apply 12: its plan, its changes by kind and zone,
    /// the hosts that it left, and each change with the RRset before and after. `history 100001` shows all changes of that
    /// host (if there is an apply of that number, use `--host 100001`), and `history sas1-0001.search.example.net` all
    /// changes at that name. It also shows what was refused, or never answered.
    History(HistoryArgs),
    /// Accept the export of a source that lost or changed many rows.
    ///
    /// An export that lost more rows than `max_shrink` allows since the last accepted one, or changed more than `max_churn`,
    /// is not used. `accept` makes it the accepted export, and shows what is gone, new and changed. For `l3_tors`, switches
    /// that it does not list leave their L3 segment. An export that is cut, bad or fails any other test is refused.
    Accept(AcceptArgs),
    /// Give names to hosts that have none.
    ///
    /// A host gets the lowest number of its project's `shortname_template` whose short name is free: no host of any project
    /// has it, no host gave it up within `name_cooldown`, and live DNS has nothing there. Prints the change of names.lock,
    /// the file with all names, as a diff; `--write` writes it. For all hosts without a name, or for each HOST, or for the
    /// hosts of `--project`.
    Allocate(AllocateArgs),
    /// Release the names of hosts.
    ///
    /// Each HOST gets `free-INV` below `free_domain` as its name, which is never published. The next plan removes the records
    /// of its old name. No host gets the old name within `name_cooldown`. With `--to-project` it gets a name there at once.
    Release(ReleaseArgs),
    /// Copy names of hosts.csv into names.lock, or take over records.
    ///
    /// Copies a name where the project's template gives it, no other host has it, and no host had it within `name_cooldown`.
    /// For all hosts that names.lock does not have, or for each HOST, or for the hosts of `--project`.
    ///
    /// With `--from-owner`, after external-dns or another zonewright: makes a plan that only replaces the owner in the TXT of
    /// the registry, at RRsets that a host, a manifest or a file claims. `apply` takes the plan as any other. Nothing else
    /// changes in DNS, and a TXT that was changed since the plan stays as it is.
    Adopt(AdoptArgs),
    /// Write what consumers without DNS, and external-dns, need.
    Render(RenderArgs),
    /// Manage the state, the journal of all applies.
    State(StateArgs),
    /// Serve zones or approvals on loopback, for trying things out.
    ///
    /// Answers queries, transfers and updates (RFC 2136). Serves the given files or folders; without any, the zones that the
    /// workspace has in files (targets of type `zonefile`). A quirk makes it behave as another server does; a fault makes
    /// an update fail. `--try DIR` makes a copy of the workspace whose zones are here, to try `plan` and `apply` on.
    /// Runs until Ctrl-C, and saves nothing.
    ///
    /// With `--cms` it is the reference service of approvals: it lets `--cms-max-busy` hosts through at a time, in the order
    /// in which they came.
    #[command(after_help = serve_help())]
    Serve(ServeArgs),
    /// Print the JSON Schema of a file format.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    ///
    /// It completes commands and flags, and values: hosts, projects, zones, sources and applies of the workspace, and codes.
    /// For that the script calls zonewright, which reads files of the workspace and asks no server.
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them.
    ///
    /// The page is for `man -l`. `--out` writes all pages to a folder, `zonewright.1` and one for each command, as packages
    /// install them. Their date is that of SOURCE_DATE_EPOCH; without it they have none.
    Man(ManArgs),
    /// Explain a code or a command.
    ///
    /// You can paste a code, such as `not-a-64`, as it was printed: `error[not-a-64]`. Its page says what it means, with an
    /// example, and what to do. `help codes` lists all codes. For a command it prints the same as `--help`.
    Help(HelpArgs),
}

/// What `plan --help` says below the flags.
const PLAN_EXITS: &str = "\
Exit codes:
  0  a plan was made; with or without changes, whether they go in one wave
     or several
  1  error: settings are wrong, or a zone or source could not be read
  2  with --detailed-exitcode: there are changes
  3  with --detailed-exitcode: `apply` would refuse this plan";

/// What `apply --help` says below the flags.
const APPLY_EXITS: &str = "\
Exit codes:
  0  done: all of the plan was applied, or there was nothing to do
  1  error: nothing was planned, or a zone or source could not be read
  3  refused: a limit, a breaker, an untrusted source, an expired or altered
     plan; or every host of the plan is stale
  4  applied in part: some hosts were changed, and others could not be; or
     too few servers of a pool have the changes
  5  some hosts wait for a later wave of the rollout; nothing went wrong";

/// What `run --help` says below the flags.
const RUN_EXITS: &str = "\
Exit codes:
  0  it was stopped
  1  it could not start: the address to listen on, a wrong option
With `--once` they are those of `apply --auto`, with `--dry-run` too those of
`plan`.";

impl Command {
    /// Its name, as events have it.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::Check(_) => "check",
            Command::Plan(_) => "plan",
            Command::Drift(_) => "drift",
            Command::Apply(_) => "apply",
            Command::Fix(_) => "fix",
            Command::Run(_) => "run",
            Command::Resume(_) => "resume",
            Command::Sync(_) => "sync",
            Command::Undo(_) => "undo",
            Command::Explain(_) => "explain",
            Command::Show(_) => "show",
            Command::Snapshot(_) => "snapshot",
            Command::Doctor(_) => "doctor",
            Command::Cms(_) => "cms",
            Command::Status(_) => "status",
            Command::History(_) => "history",
            Command::Accept(_) => "accept",
            Command::Allocate(_) => "allocate",
            Command::Release(_) => "release",
            Command::Adopt(_) => "adopt",
            Command::Render(_) => "render",
            Command::State(_) => "state",
            Command::Serve(_) => "serve",
            Command::Schema(_) => "schema",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Help(_) => "help",
        }
    }

    /// Whether its outcome is an event.
    pub fn has_events(&self) -> bool {
        matches!(
            self,
            Command::Plan(_)
                | Command::Drift(_)
                | Command::Apply(_)
                | Command::Fix(_)
                | Command::Resume(_)
                | Command::Undo(_)
                | Command::Sync(_)
        )
    }
}

/// What `plan` takes.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The format of the plan.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: PlanFormatArg,
    /// Save the plan to this file, for `zonewright apply FILE`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Compare with a git revision or another folder: which changes does this inventory cause?
    ///
    /// Derives the desired state from both. Each change is `caused` by the difference, was `pending` before it, or is
    /// `mixed`. A file that the revision does not have, such as an export that is not in git, comes from the working tree
    /// for both. Nothing is checked out.
    #[arg(long, value_name = "REV|DIR")]
    pub base: Option<String>,
    /// Show only changes that the difference to the base causes, in part or fully.
    #[arg(long, requires = "base")]
    pub only_caused: bool,
    /// The URL of the whole plan, such as the page of a pipeline; a report that is cut links to it.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    pub plan_url: Option<String>,
    /// Where readers find a line of an export: `https://git.example.net/dns/blob/{commit}/{file}#L{line}`. Markdown and HTML
    /// make links of `file:line` then; `{commit}` is the commit of the workspace.
    #[arg(long, value_name = "TEMPLATE", value_parser = SourceUrl::parse)]
    pub source_url: Option<SourceUrl>,
    /// Make a zone anew that an earlier apply saw at a target, and that is no longer there: `zone-create:example.net=1`
    /// (repeatable).
    #[arg(long, value_name = "LIMIT=N")]
    pub allow: Vec<Allowance>,
    /// Ask the cluster-management services of projects, by dry runs, which hosts they would reject; a notice says so.
    #[arg(long, conflicts_with = "live_snapshot")]
    pub ask_cms: bool,
    /// Exit 2 if there are changes, 3 if `apply` would refuse the plan.
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// Write metrics to this file, for the textfile collector of Prometheus; also if the run fails.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Read live DNS from this snapshot (its folder or manifest); ask no server, use no secret.
    #[arg(long, value_name = "PATH")]
    pub live_snapshot: Option<PathBuf>,
    /// Whether live DNS may come from earlier runs.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// What commands take that may use the zones which earlier runs kept.
#[derive(Debug, Default, Args)]
pub struct CacheArgs {
    /// Transfer every zone, also if its serial is that of the kept copy. The kept copies are replaced.
    #[arg(long)]
    pub no_cache: bool,
}

/// What `drift` takes.
#[derive(Debug, Args)]
pub struct DriftArgs {
    /// The format of the output.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
    /// Write metrics to this file, for the textfile collector of Prometheus; also if the run fails.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// Read live DNS from this snapshot (its folder or manifest); ask no server, use no secret.
    #[arg(long, value_name = "PATH")]
    pub live_snapshot: Option<PathBuf>,
}

/// What `apply` takes.
#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// A plan that `plan --out` saved; without it `apply` makes a plan, shows it and asks.
    pub file: Option<PathBuf>,
    /// The format of the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
    /// Refuse a plan with another effect than this digest, which `plan` and `show` print.
    #[arg(long, value_name = "DIGEST")]
    pub expect: Option<String>,
    /// Run unattended, for timers: do not ask, and print the plan's verdict in place of the plan (`-v` prints both). A plan that
    /// exceeds a limit is refused and trips the breaker of that limit: no unattended run changes anything there until an
    /// operator resets it (`status --reset`).
    #[arg(long, conflicts_with = "allow")]
    pub auto: bool,
    /// Write metrics to this file, for the textfile collector of Prometheus; also if the run fails.
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// How far it goes.
    #[command(flatten)]
    pub limits: ApplyLimits,
    /// Whether live DNS may come from earlier runs.
    #[command(flatten)]
    pub cache: CacheArgs,
}

/// What `run` takes.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// How long after the end of a pass the next one begins, and a tenth of that less or more. Each pass that fails doubles it,
    /// up to ten times as long.
    #[arg(long, value_name = "DURATION", default_value = "1m", value_parser = parse_wait)]
    pub interval: Duration,
    /// Make one pass, and exit as `apply --auto` does.
    #[arg(long)]
    pub once: bool,
    /// Only plan: change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Where the page, metrics and health are served: an address with a port, or `none` [default: 127.0.0.1:7979, where it is
    /// free; none with `--once`]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    pub listen: Option<ListenArg>,
}

/// What all commands take that apply a plan.
#[derive(Debug, Default, Args)]
pub struct ApplyLimits {
    /// Apply without asking.
    #[arg(long)]
    pub yes: bool,
    /// Stop sending once this many hosts could not be changed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_failures: Option<u32>,
    /// Let this plan exceed one limit, up to a number, such as `project:search/1h=34` (repeatable). The journal keeps it.
    #[arg(long, value_name = "LIMIT=N")]
    pub allow: Vec<Allowance>,
    /// Do not wait until the name servers serve the changes; `sync` asks them later.
    #[arg(long)]
    pub no_wait: bool,
    /// Send waves without asking their gates; the journal keeps it. Needs `--reason`.
    #[arg(long)]
    pub ignore_gate: bool,
    /// Send hosts that are named without asking the cluster-management services of their project. Needs `--reason`.
    #[arg(long)]
    pub ignore_cms: bool,
    /// Wait for so long in all until later waves of the rollout can go, and send them: `2h`. Without it one wave goes.
    #[arg(long, value_name = "DURATION", value_parser = parse_wait)]
    pub wait: Option<Duration>,
}

/// What `resume` takes.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The number of the apply, which `status` and `history` show [default: the latest]
    #[arg(value_name = "ID", value_parser = parse_apply, add = candidates::applies())]
    pub id: Option<u64>,
    /// The format of the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
    /// Stop sending once this many hosts could not be changed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_failures: Option<u32>,
    /// Let this plan exceed one limit, up to a number, such as `project:search/1h=34` (repeatable). The journal keeps it.
    #[arg(long, value_name = "LIMIT=N")]
    pub allow: Vec<Allowance>,
    /// Do not wait until the name servers serve the changes; `sync` asks them later.
    #[arg(long)]
    pub no_wait: bool,
    /// Send waves without asking their gates; the journal keeps it. Needs `--reason`.
    #[arg(long)]
    pub ignore_gate: bool,
    /// Send hosts that are named without asking the cluster-management services of their project. Needs `--reason`.
    #[arg(long)]
    pub ignore_cms: bool,
    /// Wait for so long in all until later waves of the rollout can go, and send them: `2h`. Without it one wave goes.
    #[arg(long, value_name = "DURATION", value_parser = parse_wait)]
    pub wait: Option<Duration>,
}

/// What `undo` takes.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The number of the apply, which `status` and `history` show.
    #[arg(value_name = "ID", value_parser = parse_apply, add = candidates::applies())]
    pub id: u64,
    /// The format of the plan, or with `--yes` of the outcome.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
    /// Save the plan to this file; do not apply it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["yes", "max_failures", "allow", "no_wait", "ignore_gate", "ignore_cms", "wait"])]
    pub out: Option<PathBuf>,
    /// How far it goes.
    #[command(flatten)]
    pub limits: ApplyLimits,
}

/// What `fix` takes.
#[derive(Debug, Args)]
pub struct FixArgs {
    /// The hosts, by inventory number or name.
    #[arg(value_name = "HOST", required = true, add = candidates::hosts())]
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
    /// First resolve conflicts between rows of names.lock, as after a merge, and sort it; does not ask.
    ///
    /// One row per name, one name per host, one host per short name: the host that had it first keeps it; of several, the
    /// one with the lowest number. The others have no name until `allocate` gives them one. Prints the difference and the
    /// decisions.
    #[arg(long, conflicts_with = "format")]
    pub fix_lock: bool,
    /// The format of the findings on standard output; standard error has them as text in any case.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CheckFormat,
}

/// What `explain` takes.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// An inventory number, a name (for a host or pod its first label is enough), an address, a reverse name, or a subject
    /// such as `pod:SET/POD`.
    #[arg(value_name = "HOST|NAME|ADDRESS|SUBJECT", add = candidates::hosts())]
    pub subject: String,
    /// The format of the explanation.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
    /// Read live DNS from this snapshot (its folder or manifest); ask no server, use no secret.
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
    /// The format of the plan.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: PlanFormatArg,
    /// The URL of the whole plan, such as the page of a pipeline; a report that is cut links to it.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    pub plan_url: Option<String>,
    /// Where readers find a line of an export: `https://git.example.net/dns/blob/{commit}/{file}#L{line}`. Markdown and HTML
    /// make links of `file:line` then; `{commit}` is the commit of the workspace.
    #[arg(long, value_name = "TEMPLATE", value_parser = SourceUrl::parse)]
    pub source_url: Option<SourceUrl>,
}

/// What `snapshot` takes.
#[derive(Debug, Args)]
pub struct SnapshotArgs {
    /// The folder to write: a new one, or an earlier snapshot, which is replaced.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What `doctor` takes.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The format of the findings.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: FormatArg,
}

/// What `accept` takes.
#[derive(Debug, Args)]
pub struct AcceptArgs {
    /// The source, by the name in messages: hosts, l3_tors, net_layout, ipv4_map, or the name of a source of MACs.
    #[arg(add = candidates::sources())]
    pub source: String,
}

/// What `schema` takes.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// The format.
    pub kind: SchemaKindArg,
}

/// What `completions` takes.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}

/// What `man` takes.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// A command, such as `plan` or `state init` [default: zonewright itself]
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
    #[arg(value_name = "COMMAND|CODE", add = topics())]
    pub words: Vec<String>,
}

/// Completes commands and codes.
fn topics() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let all = Cli::command();
        let commands = all.get_subcommands().map(|command| command.get_name().to_owned());
        let codes = codes::pages().map(|page| page.code.to_string());
        commands.chain(codes).map(CompletionCandidate::new).collect()
    })
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
            let is_line = |line: &str| line.trim_start().starts_with(command.get_name()) && line.contains(&headline);
            assert!(shown.lines().any(is_line), "{headline}");
            for line in command.render_long_help().to_string().lines().chain(shown.lines()) {
                assert!(line.chars().count() <= COLUMNS, "{line}");
            }
        }
    }
}
