//! What a state says, as text: which apply is running, what did not end, the last applies, the markers.

use std::collections::{BTreeMap, BTreeSet};

use crate::claim::Subject;
use crate::diag::sanitize;
use crate::dns::ZoneName;
use crate::guard::{Breaker, words};
use crate::inventory::value::Time;
use crate::plan::LimitState;
use crate::report::TextOptions;
use crate::report::applies::{by, has_more_to_do, hosts, short, times, updates};
use crate::report::page::TextPage;
use crate::report::publication::{SYNC, SYNC_TARGETS};
use crate::report::running::leader;
use crate::report::summary::counted;
use crate::report::waves::by_reason;
use crate::report::wrap::table;
use crate::rollout::FluxRow;
use crate::state::tallies::PoolTally;
use crate::state::{ApplySummary, KnownMarker, LockHolder, StateFacts, Status};
use crate::target::{CopyId, Marker};

/// What to do about an apply that did not end.
const UNFINISHED: &str = "finds out what took effect, and does what is missing";

/// What to do about one whose plan is gone.
const NOT_KEPT: &str = "its plan has expired: make a new plan and apply it; no change is made twice";

/// What to do about an apply that left hosts.
const LEFT: &str = "`zonewright resume` does what is missing, and leaves alone what changed since";

/// Renders a status.
pub fn render(status: &Status, options: &TextOptions) -> String {
    let mut page = TextPage::new(options);
    page.head(status);
    if let Some(memory) = &status.memory {
        page.unfinished(status, memory);
        page.in_part(status, memory);
        page.in_flux(memory);
        page.approvals(&memory.approvals);
        page.waiting(memory);
        page.applies(status, memory);
        page.markers(memory);
    }
    page.pools(status);
    page.sources(status);
    page.limits(&status.limits);
    page.left_behind(status);
    status.memory.iter().for_each(|memory| page.breakers(memory));
    page.out
}

/// Renders that a breaker was reset.
pub fn reset(breaker: &Breaker, options: &TextOptions) -> String {
    let mut page = TextPage::new(options);
    let Breaker { scope, tripped, why } = breaker;
    page.line(0, &format!("Reset: the breaker {scope}, tripped {tripped}: {why}"));
    page.out
}

/// Renders which markers a state took over, and which zones could not be read.
pub fn adopted(
    place: &str,
    markers: &[(CopyId, Option<Marker>)],
    unread: &[ZoneName],
    options: &TextOptions,
) -> String {
    let mut page = TextPage::new(options);
    for (copy, marker) in markers {
        page.line(0, &copy.zone.to_string());
        page.line(2, &marker.as_ref().map_or_else(|| "no marker".to_owned(), words));
    }
    for zone in unread {
        page.line(0, &zone.to_string());
        page.line(2, "could not be read: its entry in the state stays as it was");
    }
    let known = format!("the markers of {} are known", counted(markers.len(), "zone"));
    page.line(
        0,
        &match (markers.len(), unread.len()) {
            (0, 0) => format!("State {place}: no zone is fenced by a marker, so there is no marker to take over"),
            (_, 0) => format!("State {place}: {known}"),
            (_, unread) => format!("State {place}: {known}, {} could not be read", counted(unread, "zone")),
        },
    );
    page.out
}

impl TextPage<'_> {
    /// Adds where the state is, and which run holds the lock.
    fn head(&mut self, status: &Status) {
        self.line(
            0,
            &match status.memory {
                Some(_) => format!("State: {}", status.place),
                None => format!("State: none yet at {}; the first `apply` creates it", status.place),
            },
        );
        if let Some(leads) = &status.leader {
            self.line(0, &format!("Run: {} leads", leader(Some(leads))));
        }
        let Some(LockHolder { pid, who, since }) = &status.holder else { return self.line(0, "Lock: free") };
        let process = pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
        let since = since.map(|since| format!(", since {since}")).unwrap_or_default();
        self.line(0, &format!("Lock: held by {process}{}{since}", of(who)));
    }

    /// Adds the applies that did not end, and what to do.
    fn unfinished(&mut self, status: &Status, memory: &StateFacts) {
        let running = status.running();
        let broken: Vec<&ApplySummary> = memory.unfinished.iter().filter(|apply| running != Some(apply.id)).collect();
        let Some(latest) = broken.first() else { return };
        self.heading("Unfinished");
        for apply in &broken {
            let done = updates(apply);
            self.line(2, &format!("apply {}, begun {}{}: {done}", apply.id.0, apply.new.started, by(&apply.new.who)));
        }
        // Without a number `resume` continues the latest apply of a plan, which may be a later one.
        let last = memory.applies.iter().find(|apply| !apply.is_sync);
        let number_of = |apply: &ApplySummary| match last {
            Some(last) if last.id != apply.id => format!(" {}", apply.id.0),
            _ => String::new(),
        };
        if latest.is_sync {
            self.line(2, &format!("hint: `zonewright sync` {UNFINISHED}"));
        }
        if let Some(apply) = broken.iter().find(|apply| !apply.is_sync) {
            self.line(
                2,
                &if status.resumable().any(|id| id == apply.id) {
                    format!("hint: `zonewright resume{}` {UNFINISHED}", number_of(apply))
                } else {
                    format!("hint: {NOT_KEPT}")
                },
            );
        }
    }

    /// Adds what the latest apply left, where that can be resumed.
    fn in_part(&mut self, status: &Status, memory: &StateFacts) {
        let latest = memory.applies.iter().find(|apply| !apply.is_sync);
        let Some(latest) = latest.filter(|apply| apply.finished.is_some()) else { return };
        if !has_more_to_do(latest) || status.resumable().all(|id| id != latest.id) {
            return;
        }
        self.heading("Done in part");
        self.line(2, &format!("apply {}, {}: {}", latest.id.0, times(latest, None), hosts(latest)));
        self.line(2, &format!("hint: {LEFT}"));
    }

    /// Adds the hosts and pods that are in flux, by group: those that clients may not reach yet, and those in the middle of
    /// an overlap, which they do reach.
    fn in_flux(&mut self, memory: &StateFacts) {
        let (between, changed): (Vec<&FluxRow>, Vec<&FluxRow>) =
            memory.in_flux.iter().partition(|row| row.is_between());
        let ends = |(group, is_silent): (&str, bool), rows: &[&FluxRow]| {
            let ends = rows.iter().map(|row| row.ends()).collect::<Option<Vec<Time>>>();
            let ends = match ends.and_then(|ends| ends.into_iter().max()) {
                Some(until) => format!("until {until} at the latest"),
                None if is_silent => "settled, until they answer their probe or have no address any longer".to_owned(),
                None => "until name servers serve the changes and they have settled".to_owned(),
            };
            format!("{group}, {ends}")
        };
        if !changed.is_empty() {
            let who = which(&changed);
            self.heading(&format!("In flux: clients may not reach these {who} yet"));
            self.flux_groups(&changed, |row| (row.group.as_str(), row.is_silent()), ends);
        }
        // The second step waits: its wait says when it can go.
        let goes: BTreeMap<&Subject, Option<Time>> =
            memory.waiting.iter().map(|waiting| (&waiting.subject, waiting.until)).collect();
        let until = |(group, goes): (&str, Option<Time>), _: &[&FluxRow]| match goes {
            Some(goes) => format!("{group}, the old ones can go from {goes} on"),
            None => format!("{group}, it is not known when the old ones can go"),
        };
        if !between.is_empty() {
            let who = which(&between);
            self.heading(&format!("In flux: these {who} have both their old and their new addresses"));
            self.flux_groups(&between, |row| (row.group.as_str(), goes.get(&row.subject).copied().flatten()), until);
        }
    }

    /// Adds a line for each group of changes: what is said of it, and its subjects.
    fn flux_groups<'r, K: Ord + Copy>(
        &mut self,
        rows: &[&'r FluxRow],
        key: impl Fn(&'r FluxRow) -> K,
        says: impl Fn(K, &[&'r FluxRow]) -> String,
    ) {
        let mut groups: BTreeMap<K, Vec<&FluxRow>> = BTreeMap::new();
        rows.iter().for_each(|row| groups.entry(key(row)).or_default().push(row));
        for (key, rows) in groups {
            let subjects: BTreeSet<&Subject> = rows.iter().map(|row| &row.subject).collect();
            let shown = self.options.shown(subjects.len());
            let hosts: Vec<String> = subjects.iter().take(shown).map(|subject| subject.to_string()).collect();
            let more =
                if shown < subjects.len() { format!(" and {} more", subjects.len() - shown) } else { String::new() };
            self.line(2, &sanitize(&format!("{}: {}{more}", says(key, &rows), hosts.join(", "))));
        }
    }

    /// Adds what waits for a later wave, by reason and since when.
    fn waiting(&mut self, memory: &StateFacts) {
        if memory.waiting.is_empty() {
            return;
        }
        self.heading("Waiting for a later wave");
        for group in by_reason(&memory.waiting) {
            self.line(2, &group.headline());
            let since = group.subjects.iter().map(|waiting| waiting.since).min();
            since.iter().for_each(|since| self.line(4, &format!("the first since {since}")));
            let group = self.without_told(group, &memory.approvals);
            if group.subjects.is_empty() {
                continue;
            }
            group.lines(|all| self.options.shown(all)).iter().for_each(|line| self.line(4, &sanitize(line)));
            let shown = self.options.shown(group.subjects.len());
            let subjects: Vec<String> = group.subjects[..shown].iter().map(|own| own.subject.to_string()).collect();
            let more = group.subjects.len() - shown;
            let more = if more > 0 { format!(" and {more} more (-v lists all)") } else { String::new() };
            self.line(4, &format!("{}{more}", subjects.join(", ")));
        }
        self.line(2, "hint: these times are of the last apply that looked; a new apply looks again");
    }

    /// Adds the last applies.
    fn applies(&mut self, status: &Status, memory: &StateFacts) {
        if memory.applies.is_empty() {
            return self.line(0, "Applies: none yet");
        }
        self.heading(if self.options.verbose { "Applies" } else { "Last applies" });
        memory.applies.iter().for_each(|apply| self.apply(apply, status.running()));
    }

    /// Adds the markers, zone by zone.
    fn markers(&mut self, memory: &StateFacts) {
        if memory.markers.copies().is_empty() {
            return;
        }
        self.heading("Markers");
        for (copy, KnownMarker { marker, open }) in super::markers(memory) {
            self.line(2, &copy.shown());
            self.line(4, &marker.as_ref().map_or_else(|| "none known".to_owned(), words));
            for open in open {
                self.line(4, &format!("perhaps: {}", words(open)));
            }
        }
    }

    /// Adds what is open in pools: zones that are not served, and changes that targets lack.
    fn pools(&mut self, status: &Status) {
        let counted_pools: Vec<&PoolTally> = status.counted_pools().collect();
        if counted_pools.is_empty() {
            return;
        }
        self.heading("Pools");
        for pool in counted_pools {
            let name = &pool.pool;
            let lacking = pool.lacking.iter().filter(|(_, count)| *count > 0);
            let lacking = lacking.map(|(target, count)| format!("target {target} lacks {}", counted(*count, "change")));
            let of_zones =
                [(pool.zones_failed(), "not made or deleted"), (pool.zones_not_served(), "not served as changed")];
            let of_zones = of_zones.into_iter().filter(|(count, _)| *count > 0);
            let of_zones = of_zones.map(|(count, what)| format!("{} {what}", counted(count, "zone")));
            let open: Vec<String> = of_zones.chain(lacking).collect();
            if open.is_empty() {
                self.line(2, &format!("{name}: nothing is open"));
                continue;
            }
            self.line(2, &format!("{name}: {}", open.join("; ")));
            let next = match (pool.zones_failed(), pool.changes_lacking()) {
                (0, 0) => SYNC,
                (0, _) => SYNC_TARGETS,
                _ => "`zonewright sync` tries again",
            };
            self.line(4, &format!("hint: {next}; `zonewright status --pool {name}` shows every row"));
        }
    }

    /// Adds the names that no host or pod has and that keep what applies created.
    fn left_behind(&mut self, status: &Status) {
        let names = &status.left_behind;
        let Some(first) = names.first() else { return };
        self.heading("Left behind");
        let says = match names.len() {
            1 => format!(
                "By the journal, 1 name that no host or pod has keeps the AAAA that zonewright created: {first}"
            ),
            some => format!(
                "By the journal, {some} names that no host or pod has keep the AAAA that zonewright created: {first} and others"
            ),
        };
        self.line(0, &sanitize(&says));
        self.line(2, "hint: `zonewright plan` reads the zones, counts names of PTR, too, and says what deletes them");
    }

    /// Adds the limits of hosts; the names last, for they may be long.
    fn limits(&mut self, limits: &[LimitState]) {
        if limits.is_empty() {
            return;
        }
        self.heading("Limits");
        let mut rows = vec![["max", "used", "left", "limit"].map(str::to_owned).to_vec()];
        rows.extend(limits.iter().map(|limit| {
            let numbers = [limit.max, limit.used, super::left(limit)].map(|number| number.to_string());
            numbers.into_iter().chain([sanitize(&words::named(limit))]).collect()
        }));
        self.out.push_str(&table(&rows, "rrrl", 2));
    }

    /// Adds the breakers.
    fn breakers(&mut self, memory: &StateFacts) {
        if memory.breakers.is_empty() {
            return;
        }
        self.heading("Breakers");
        for breaker in &memory.breakers {
            self.line(2, &format!("{}: tripped {}: {}", breaker.scope, breaker.tripped, breaker.why));
            self.line(4, &format!("hint: {}", breaker.hint()));
        }
    }
}

/// What changes are of: hosts, pods, or both.
fn which(rows: &[&FluxRow]) -> &'static str {
    match rows.iter().filter(|row| row.subject.pod_set().is_some()).count() {
        0 => "hosts",
        pods if pods == rows.len() => "pods",
        _ => "hosts and pods",
    }
}

/// A marker in words.
fn words(marker: &Marker) -> String {
    format!("epoch {}, update {} of plan {}", marker.epoch, marker.batch, short(&marker.plan))
}

/// Who runs something, where that is known.
fn of(who: &str) -> String {
    if who.is_empty() { String::new() } else { format!(" of {who}") }
}
