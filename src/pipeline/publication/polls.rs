//! The polls: every name server of all zones is asked for their serials, side by side, until it shows the newest step or
//! was asked often enough.
//!
//! One question of a server is about all zones that it has not shown yet. So a server that is down costs the time of one
//! zone, and servers that are down cost no more than one of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::rolls::NamedServer;
use super::watched::WatchedZone;
use crate::consensus::{ServerRow, StepNumber, TimedRow};
use crate::dns::ZoneName;
use crate::inventory::value::Time;
use crate::parallel::{self, HELD};
use crate::progress::{Progress, RunStage};
use crate::provider::{self, ProviderContext};
use crate::target::{NameServer, Patience, SerialAnswer};

/// How many name servers are asked side by side: they are waited for, and cost no more than a thread each.
const MOST_SERVERS: usize = 512;

/// How often is looked whether a wait is over.
const LOOK_UP: Duration = Duration::from_millis(20);

/// A name server of a pool, and the zones that it is asked for.
pub struct PollTask<'a> {
    /// The name server.
    pub named: NamedServer<'a>,
    /// The places of its zones among all that are polled.
    pub zones: Vec<usize>,
}

/// How polls are done.
pub struct PollWatch<'a> {
    /// What name servers are opened with.
    pub context: &'a ProviderContext<'a>,
    /// Set once a signal asks for the end.
    pub interrupted: &'a AtomicBool,
    /// The clock.
    pub clock: &'a (dyn Fn() -> Time + Sync),
    /// Shows the operator how far the polls are.
    pub progress: &'a dyn Progress,
    /// Whether they end as soon as no RRset is pending.
    pub ends_early: bool,
}

/// What all threads of a poll share.
struct PollBoard<'a, 'w> {
    /// The zones, with what is remembered of them.
    zones: Mutex<&'a mut [WatchedZone]>,
    /// Whether no RRset is left pending, so that nothing is waited for.
    is_decided: AtomicBool,
    /// How it is done.
    watch: &'a PollWatch<'w>,
}

/// Asks all name servers, and counts.
pub fn poll(tasks: Vec<PollTask<'_>>, zones: &mut [WatchedZone], watch: &PollWatch<'_>) {
    let total: usize = tasks.iter().map(|task| task.zones.len()).sum();
    watch.progress.stage(RunStage::Publish, Some(total as u64));
    for task in &tasks {
        task.zones.iter().for_each(|place| zones[*place].asking += 1);
    }
    let board = PollBoard { zones: Mutex::new(zones), is_decided: AtomicBool::new(false), watch };
    parallel::side_by_side(tasks, MOST_SERVERS, |task| board.follow(&task));
    for zone in board.zones.into_inner().expect(HELD) {
        // What failed is known where every name server was asked as often as it is to be.
        zone.count(zone.asking == 0);
    }
}

impl PollBoard<'_, '_> {
    /// Whether nothing more is to be asked.
    fn is_over(&self) -> bool {
        self.is_decided.load(Ordering::SeqCst) || self.watch.interrupted.load(Ordering::SeqCst)
    }

    /// Asks one name server until it shows the newest step of all its zones, or was asked often enough.
    fn follow(&self, task: &PollTask<'_>) {
        // Without the secret of its key it cannot be asked: that is no answer.
        let server = provider::open_name_server(&task.named.server.settings, self.watch.context).ok();
        let is_over = || self.is_over();
        let patience = Patience { most: task.named.terms.timeout.as_std(), is_over: &is_over };
        let mut open: Vec<ZoneRow> = self.begin(task);
        for left in (0..=task.named.terms.max_retries).rev() {
            let answers = ask(server.as_deref(), &open, patience);
            if self.is_over() {
                // What did not come was no longer waited for.
                let came = open.into_iter().zip(answers).filter(|(_, answer)| *answer != SerialAnswer::Silent);
                self.take(task, came, false);
                return;
            }
            open = self.take(task, open.into_iter().zip(answers), left == 0 || server.is_none());
            if open.is_empty() {
                return;
            }
            pause(task.named.terms.retry_interval.as_std(), &is_over);
            if self.is_over() {
                return;
            }
        }
    }

    /// The zones of a task with their rows so far.
    fn begin(&self, task: &PollTask<'_>) -> Vec<ZoneRow> {
        let zones = self.zones.lock().expect(HELD);
        let row = |place: &usize| {
            let zone = &zones[*place];
            ZoneRow { place: *place, name: zone.zone.name.clone(), row: zone.record.row(&task.named.voter) }
        };
        task.zones.iter().map(row).collect()
    }

    /// Takes the answers of a server; gives the zones that it is to be asked for again. `is_last` says that it is not.
    fn take(
        &self,
        task: &PollTask<'_>,
        answers: impl Iterator<Item = (ZoneRow, SerialAnswer)>,
        is_last: bool,
    ) -> Vec<ZoneRow> {
        let mut zones = self.zones.lock().expect(HELD);
        let mut again = Vec::new();
        for (mut asked, answer) in answers {
            let zone = &mut zones[asked.place];
            let target = zone.record.targets.get(&task.named.voter.target).map(|standing| standing.counted());
            let target = target.unwrap_or_default();
            asked.row = asked.row.after(answer, &target, zone.record.newest);
            // A server can come no further than its target.
            let is_there = matches!(answer, SerialAnswer::Serves(_)) && asked.row.step >= target.reached;
            let is_there = is_there && target.reached > StepNumber::NONE;
            if !is_last && !is_there {
                again.push(asked);
                continue;
            }
            zone.record.servers.insert(task.named.voter.clone(), TimedRow { row: asked.row, at: (self.watch.clock)() });
            zone.asking -= 1;
            zone.count(false);
            self.watch.progress.step();
        }
        if self.watch.ends_early && zones.iter().all(|zone| !zone.record.is_pending()) {
            self.is_decided.store(true, Ordering::SeqCst);
        }
        again
    }
}

/// Waits; ends early where nothing more is to be asked.
pub fn pause(pause: Duration, is_over: &dyn Fn() -> bool) {
    let end = Instant::now() + pause;
    while !is_over() && Instant::now() < end {
        thread::sleep(LOOK_UP.min(end.saturating_duration_since(Instant::now())));
    }
}

/// A zone that a name server is asked for, with its row so far.
struct ZoneRow {
    /// Its place among all that are polled.
    place: usize,
    /// Its name.
    name: ZoneName,
    /// The row.
    row: ServerRow,
}

/// Asks a name server for zones; one that could not be opened gives no answer.
fn ask(server: Option<&dyn NameServer>, zones: &[ZoneRow], patience: Patience<'_>) -> Vec<SerialAnswer> {
    let names: Vec<&ZoneName> = zones.iter().map(|zone| &zone.name).collect();
    server.map_or_else(|| vec![SerialAnswer::Silent; zones.len()], |server| server.ask(&names, patience))
}
