//! Whether what was applied is served, as text and in documents.

use std::collections::BTreeSet;

use serde::Serialize;

use super::gather::gather;
use super::page::TextPage;
use super::summary::counted;
use super::text::TextOptions;
use crate::apply::ZoneOutcome;
use crate::consensus::{RowStatus, ServerFault, ServerRow, StepNumber, VoterId, VoterLag, ZoneStatus};
use crate::diag::Problem;
use crate::dns::Serial;
use crate::inventory::value::Time;
use crate::state::lacks::{LackOutcome, LeftLack};
use crate::state::served::{DifferingRrset, ServedOutcome, StatusCounts, VoterShown, WaitEnding, ZoneServed};
use crate::target::PoolName;

/// What `sync` says where there is nothing to ask for.
const NOTHING_OPEN: &str = "Nothing to do: every server serves the last changes.\n";

/// How many lines are read at a glance (the first terminals had 24).
const SCREEN: usize = 24;

/// What goes on with what is not served.
pub const SYNC: &str = "`zonewright sync` asks the name servers again";

/// What an apply says of its name servers in its first line.
pub fn clause(served: &ServedOutcome) -> String {
    let rrsets = served.rrsets();
    let (done, all) = (rrsets.done(), counted(rrsets.all(), "RRset"));
    match served.ending {
        _ if rrsets.all() == 0 => "later applies changed all of it again".to_owned(),
        _ if !served.has_name_servers() => format!("enough targets have {done} of {all}"),
        _ if served.is_done() && served.is_everywhere() => format!("the name servers serve all of it ({all})"),
        _ if served.is_done() => format!("enough servers have all of it ({all}), others do not show it yet"),
        WaitEnding::Skipped => {
            let failed = if rrsets.error > 0 { format!(", {} ERROR", rrsets.error) } else { String::new() };
            format!("the name servers were not asked: {} pending{failed}", counted(rrsets.pending, "RRset"))
        }
        WaitEnding::Interrupted => format!("interrupted while the name servers serve {done} of {all}"),
        WaitEnding::Over => format!("the name servers serve {done} of {all}"),
    }
}

/// What goes on with what targets lack.
pub const SYNC_TARGETS: &str = "`zonewright sync` makes at targets what they lack";

/// What a `sync` did.
#[derive(Debug, Clone, Copy)]
pub struct SyncReport<'a> {
    /// When it began.
    pub started: Time,
    /// Why it could not begin.
    pub refusal: Option<&'a Problem>,
    /// What the zones that it asked for show.
    pub served: &'a ServedOutcome,
    /// What happened to what targets lacked.
    pub lacks: &'a LackOutcome,
    /// What happened to zones that could not be made or deleted before.
    pub zone_changes: &'a [ZoneOutcome],
    /// What went wrong with targets and name servers as a whole.
    pub problems: &'a [Problem],
    /// The exit code of the command.
    pub exit: u8,
}

impl SyncReport<'_> {
    /// Whether there was nothing to do.
    pub fn is_idle(&self) -> bool {
        let is_idle = self.lacks.is_empty() && self.served.zones.is_empty() && self.zone_changes.is_empty();
        self.refusal.is_none() && is_idle
    }

    /// How many of its zones are served as they were changed.
    pub fn active(&self) -> usize {
        count(self.served, ZoneStatus::Active)
    }
}

/// Prints what a `sync` did: the verdict first, then what is left, and the verdict last.
pub fn sync(report: &SyncReport<'_>, options: &TextOptions) -> String {
    if report.is_idle() {
        return NOTHING_OPEN.to_owned();
    }
    let SyncReport { served, lacks, zone_changes, problems, .. } = *report;
    let mut page = TextPage::new(options);
    page.zone_verdict(zone_changes);
    page.lacks_verdict(lacks);
    page.sync_verdict(served);
    page.left_lacks(lacks);
    page.zone_changes(zone_changes);
    if !problems.is_empty() {
        page.heading("Problems");
    }
    for problem in problems {
        page.line(2, &problem.to_string());
        problem.hint.iter().for_each(|hint| page.line(4, &format!("hint: {hint}")));
    }
    page.open_zones(served);
    page.name_servers(served);
    if page.out.lines().count() > SCREEN {
        page.out.push('\n');
        page.zone_verdict(zone_changes);
        page.lacks_verdict(lacks);
        page.sync_verdict(served);
    }
    page.out
}

/// How many of these zones have a status.
fn count(served: &ServedOutcome, status: ZoneStatus) -> usize {
    served.zones.iter().filter(|zone| zone.status == status).count()
}

/// A voter that does not show the newest step of a zone.
struct LaggingVoter<'a> {
    /// The zone.
    zone: &'a ZoneServed,
    /// Who it is, and what is wrong, in words.
    words: String,
}

/// The voters that do not show the newest step of a zone.
fn lagging(served: &ServedOutcome) -> Vec<LaggingVoter<'_>> {
    let of_zone = |zone: &ZoneServed, shown: &VoterShown| {
        let pool = &zone.zone.pool;
        let who = match &shown.voter {
            VoterId { server: Some(server), target } => format!("{server} (pool {pool}, follows {target})"),
            VoterId { server: None, target } => format!("target {target} (pool {pool})"),
        };
        Some(format!("{who} {}", lag_words(shown.lag?)))
    };
    let all = served.zones.iter().flat_map(|zone| zone.voters.iter().map(move |shown| (zone, shown)));
    all.filter_map(|(zone, shown)| Some(LaggingVoter { zone, words: of_zone(zone, shown)? })).collect()
}

/// What is wrong with a voter, in words.
fn lag_words(lag: VoterLag) -> &'static str {
    match lag {
        VoterLag::Failed(ServerFault::Behind) => "is behind",
        VoterLag::Failed(ServerFault::NoAnswer) => "does not answer",
        VoterLag::Failed(ServerFault::NoZone) => "does not have the zone",
        VoterLag::Failed(ServerFault::SerialSetBack) => "set its serial back (serial-set-back)",
        VoterLag::Failed(ServerFault::RecordsDiffer) => "does not hold what was applied (records-differ)",
        VoterLag::NotAsked => "has not shown it yet, and is not waited for",
    }
}

impl TextPage<'_> {
    /// Adds which name servers do not serve what was applied, with their zones, and what to do.
    pub(super) fn name_servers(&mut self, served: &ServedOutcome) {
        let mut lagging = lagging(served);
        if served.ending == WaitEnding::Skipped && !served.is_done() {
            self.heading("Name servers");
            self.line(2, "hint: `zonewright sync` asks them whether they serve it");
            // What is known without them is in pools that have none.
            lagging.retain(|lagging| !lagging.zone.has_name_servers());
        }
        if lagging.is_empty() {
            return;
        }
        let is_target = |shown: &VoterShown| shown.voter.server.is_none();
        let zones = lagging.iter().map(|lagging| lagging.zone);
        let mut late = zones.flat_map(|zone| &zone.voters).filter(|shown| shown.lag.is_some());
        let are_targets = late.clone().all(is_target);
        self.heading(match (are_targets, late.any(is_target)) {
            (true, _) => "Targets",
            (false, true) => "Targets and name servers",
            (false, false) => "Name servers",
        });
        for of_voter in gather(&lagging.iter().collect::<Vec<_>>(), |lagging| &lagging.words) {
            let zones: Vec<String> = of_voter.iter().map(|lagging| lagging.zone.zone.name.to_string()).collect();
            let (shown, rest) = zones.split_at(self.options.shown(zones.len()));
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more (-v lists all)", rest.len()) };
            self.line(2, &format!("{}: {}{more}", of_voter[0].words, shown.join(", ")));
        }
        let pools: BTreeSet<&PoolName> = lagging.iter().map(|lagging| &lagging.zone.zone.pool).collect();
        let pools: Vec<String> = pools.into_iter().map(|pool| format!("`zonewright status --pool {pool}`")).collect();
        let next = if are_targets { SYNC_TARGETS } else { SYNC };
        self.line(2, &format!("hint: {next}; {} shows every row", pools.join(", ")));
        self.differing(&served.differing);
    }

    /// Adds the RRsets that name servers do not hold as they were changed.
    fn differing(&mut self, differing: &[DifferingRrset]) {
        if differing.is_empty() {
            return;
        }
        self.heading("Records");
        let (shown, rest) = differing.split_at(self.options.shown(differing.len()));
        for own in shown {
            let DifferingRrset { voter, name, rtype, written, found, .. } = own;
            let server = voter.server.as_deref().unwrap_or_default();
            let what = format!("{rtype} of `{name}`");
            self.line(
                2,
                &match found {
                    Some(found) => format!("{server}: error[records-differ]: {what} is {found}; {written} was applied"),
                    None => format!("{server}: error[no-answer]: the server does not answer for {what}"),
                },
            );
        }
        if !rest.is_empty() {
            self.line(2, &format!("and {} more (-v lists all)", rest.len()));
        }
    }

    /// Adds what happened to what targets lacked, where they did.
    fn lacks_verdict(&mut self, lacks: &LackOutcome) {
        if lacks.is_empty() {
            return;
        }
        let LackOutcome { made, settled, left, refusal } = lacks;
        let is_done = left.is_empty() && refusal.is_none();
        let style = if is_done { &self.paint.create } else { &self.paint.alarm };
        let style = style.clone();
        let start = if is_done { "Targets have what they lacked" } else { "Targets still lack changes" };
        let more = if *settled > 0 { format!(", {settled} no longer lacking") } else { String::new() };
        let still = if left.is_empty() { String::new() } else { format!("; {} left", counted(left.len(), "change")) };
        self.painted(0, &style, &format!("{start}: {} made{more}{still}.", counted(*made, "change")));
    }

    /// Adds what targets still lack, and why.
    fn left_lacks(&mut self, lacks: &LackOutcome) {
        if let Some(refusal) = &lacks.refusal {
            self.heading("Refused");
            self.line(2, &refusal.to_string());
            refusal.hint.iter().for_each(|hint| self.line(4, &format!("hint: {hint}")));
        }
        if lacks.left.is_empty() {
            return;
        }
        self.heading("Lacking");
        let (shown, rest) = lacks.left.split_at(self.options.shown(lacks.left.len()));
        for LeftLack { target, key, why } in shown {
            self.line(2, &format!("{target}: {} of {}: {why}", key.rtype, key.owner));
        }
        if !rest.is_empty() {
            self.line(2, &format!("and {} more (-v lists all)", rest.len()));
        }
        self.line(2, "hint: run `zonewright sync` again once the target answers; the next plan decides about the rest");
    }

    /// Adds the verdict of a `sync`.
    fn sync_verdict(&mut self, served: &ServedOutcome) {
        if served.zones.is_empty() {
            return;
        }
        let (zones, active) = (served.zones.len(), count(served, ZoneStatus::Active));
        let style = if active == zones { &self.paint.create } else { &self.paint.alarm };
        let style = style.clone();
        let text = match (zones, active == zones) {
            (_, true) => format!("Served: {} ACTIVE", counted(zones, "zone")),
            (_, false) => {
                let left = [ZoneStatus::Error, ZoneStatus::Pending].map(|status| (count(served, status), status));
                let left: Vec<String> = left
                    .iter()
                    .filter(|(count, _)| *count > 0)
                    .map(|(count, status)| format!("{count} {status}"))
                    .collect();
                format!("Not served everywhere: {active} of {} ACTIVE; {}", counted(zones, "zone"), left.join(", "))
            }
        };
        let interrupted = if served.ending == WaitEnding::Interrupted { "; interrupted" } else { "" };
        self.painted(0, &style, &format!("{text}{interrupted}."));
    }

    /// Adds the zones that are not served as applied.
    fn open_zones(&mut self, served: &ServedOutcome) {
        let open: Vec<&ZoneServed> = served.zones.iter().filter(|zone| zone.status != ZoneStatus::Active).collect();
        if open.is_empty() {
            return;
        }
        self.heading("Zones");
        let (shown, rest) = open.split_at(self.options.shown(open.len()));
        for zone in shown {
            let ZoneServed { zone, status, newest, consensus, rrsets, .. } = zone;
            let open = counted(rrsets.pending + rrsets.error, "RRset");
            self.line(2, &format!("{}: {status}, step {consensus} of {newest}, {open} not served", zone.name));
        }
        if !rest.is_empty() {
            self.line(2, &format!("and {} more (-v lists all)", rest.len()));
        }
    }
}

/// What was published, in a document.
#[derive(Debug, Serialize)]
pub(super) struct ServedView<'a> {
    /// How the wait ended.
    wait: WaitEnding,
    /// The zones.
    zones: Vec<ZoneServedView<'a>>,
    /// The RRsets that name servers do not hold as they were changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differing: Vec<DifferingView<'a>>,
}

/// An RRset that a name server does not hold as it was changed, in a document.
#[derive(Debug, Serialize)]
struct DifferingView<'a> {
    /// The pool.
    pool: String,
    /// The zone.
    zone: String,
    /// The target that the name server follows.
    target: &'a str,
    /// The address of the name server.
    server: Option<&'a str>,
    /// The owner name.
    name: String,
    /// The type.
    #[serde(rename = "type")]
    rtype: String,
    /// Why.
    fault: ServerFault,
    /// What was applied, in words.
    written: &'a str,
    /// What the name server has, in words.
    found: Option<&'a str>,
}

/// A zone in a document.
#[derive(Debug, Serialize)]
struct ZoneServedView<'a> {
    /// Its pool.
    pool: String,
    /// Its name.
    zone: String,
    /// Its status.
    status: ZoneStatus,
    /// The newest step.
    step: StepNumber,
    /// The consensus step.
    consensus: StepNumber,
    /// The RRsets.
    rrsets: StatusCounts,
    /// The voters.
    servers: Vec<ServerView<'a>>,
}

/// A voter in a document.
#[derive(Debug, Serialize)]
pub(super) struct ServerView<'a> {
    /// The target that it is or follows.
    pub target: &'a str,
    /// Its address; null for a target.
    pub server: Option<&'a str>,
    /// Its status; null where it was not asked yet.
    pub status: Option<RowStatus>,
    /// Why it failed.
    pub fault: Option<ServerFault>,
    /// The highest serial that it answered.
    pub serial: Option<u32>,
    /// The step that it reached.
    pub step: StepNumber,
    /// When the row was written; left out where that is no matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
}

impl<'a> ServedView<'a> {
    /// The view of an outcome.
    pub fn of(served: &'a ServedOutcome) -> ServedView<'a> {
        let differing = served.differing.iter().map(differing_view).collect();
        ServedView { wait: served.ending, zones: served.zones.iter().map(zone_view).collect(), differing }
    }
}

/// An RRset that a name server does not hold as it was changed, for a document.
fn differing_view(own: &DifferingRrset) -> DifferingView<'_> {
    DifferingView {
        pool: own.zone.pool.to_string(),
        zone: own.zone.name.to_string(),
        target: &own.voter.target,
        server: own.voter.server.as_deref(),
        name: own.name.to_string(),
        rtype: own.rtype.to_string(),
        fault: own.fault(),
        written: &own.written,
        found: own.found.as_deref(),
    }
}

/// A zone for a document.
fn zone_view(served: &ZoneServed) -> ZoneServedView<'_> {
    ZoneServedView {
        pool: served.zone.pool.to_string(),
        zone: served.zone.name.to_string(),
        status: served.status,
        step: served.newest,
        consensus: served.consensus,
        rrsets: served.rrsets,
        servers: served.voters.iter().map(|shown| ServerView::of(&shown.voter, shown.row, None)).collect(),
    }
}

impl<'a> ServerView<'a> {
    /// The view of a voter, with its row where there is one, and when that was written where it matters.
    pub fn of(voter: &'a VoterId, row: Option<ServerRow>, at: Option<Time>) -> ServerView<'a> {
        let status = row.map(ServerRow::status);
        let ServerRow { step, fault, serial } = row.unwrap_or_default();
        let (target, server) = (voter.target.as_str(), voter.server.as_deref());
        ServerView { target, server, status, fault, serial: serial.map(Serial::into_int), step, at }
    }
}
