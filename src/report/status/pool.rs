//! What the state says of a pool, as text and as JSON: its zones, servers and RRsets.

use crate::consensus::{RrsetStatus, ServerRow, VoterId, ZoneStatus};
use crate::diag::sanitize;
use crate::document::object_in_documents;
use crate::report::TextOptions;
use crate::report::page::TextPage;
use crate::report::publication::ServerView;
use crate::report::summary::counted;
use crate::report::wrap::table;
use crate::state::served::StatusCounts;
use crate::state::status::PoolStatus;
use crate::state::{RrsetStanding, ServerStanding, ZoneActionRow, ZonePublication};

/// Renders the rows of a pool; the verdict first, and last where the page is long.
pub fn render(status: &PoolStatus, options: &TextOptions) -> String {
    let mut page = TextPage::new(options);
    page.pool_verdict(status);
    page.pool_made(status);
    if status.zones.is_empty() {
        return page.out;
    }
    page.pool_zones(status);
    page.pool_servers(status);
    page.pool_rrsets(status);
    page.out.push('\n');
    page.pool_verdict(status);
    page.out
}

/// How many rows of a zone have each status.
fn counts(zone: &ZonePublication) -> StatusCounts {
    StatusCounts::of(zone.rrsets.iter().map(|rrset| rrset.row.status))
}

/// The row of a voter of a zone.
fn row<'a>(zone: &'a ZonePublication, voter: &VoterId) -> Option<&'a ServerStanding> {
    zone.servers.iter().find(|own| own.voter == *voter)
}

impl TextPage<'_> {
    /// Adds the verdict.
    fn pool_verdict(&mut self, status: &PoolStatus) {
        let count = |wanted| status.zones.iter().filter(|zone| zone.status == wanted).count();
        let deleted = count(ZoneStatus::Deleted);
        let (all, active) = (status.zones.len() - deleted, count(ZoneStatus::Active));
        let (voters, threshold) = (counted(status.voters.len(), "voter"), status.threshold);
        let terms = format!("{voters}, threshold {threshold} percent");
        if status.zones.is_empty() {
            return self.line(0, &format!("Pool {}: no apply has changed a zone of it yet; {terms}.", status.name));
        }
        let mut left = match (count(ZoneStatus::Error), count(ZoneStatus::Pending)) {
            (0, 0) => String::new(),
            (errors, pending) => format!(", {errors} ERROR, {pending} PENDING"),
        };
        if deleted > 0 {
            left.push_str(&format!(", {deleted} deleted"));
        }
        let style = if active == all { self.paint.create.clone() } else { self.paint.alarm.clone() };
        let zones = counted(all, "zone");
        self.painted(0, &style, &format!("Pool {}: {active} of {zones} ACTIVE{left}; {terms}.", status.name));
        if active != all {
            self.line(2, &format!("hint: `zonewright sync --pool {}` asks the name servers again", status.name));
        }
    }

    /// Adds the zones that were made or deleted, target by target.
    fn pool_made(&mut self, status: &PoolStatus) {
        if status.made.is_empty() {
            return;
        }
        self.heading("Zones that were made or deleted");
        for row in &status.made {
            let ZoneActionRow { copy, action, why, .. } = row;
            let about = sanitize(&format!("{action} {} at {}", copy.zone, copy.target));
            let why = why.as_deref().map(|why| format!(": {}", sanitize(why))).unwrap_or_default();
            self.line(2, &format!("{} {about}{why}", row.status()));
        }
    }

    /// Adds the zones; the names last, for they may be long.
    fn pool_zones(&mut self, status: &PoolStatus) {
        self.heading("Zones");
        let head = ["status", "step", "newest", "active", "pending", "error", "deleted", "zone"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(status.zones.iter().map(|zone| {
            let StatusCounts { pending, active, error, deleted } = counts(zone);
            let steps = [zone.consensus.to_string(), zone.newest.to_string()];
            let numbers = [active, pending, error, deleted].map(|number| number.to_string());
            let name = sanitize(&zone.zone.name.to_string());
            std::iter::once(zone.status.to_string()).chain(steps).chain(numbers).chain([name]).collect()
        }));
        self.out.push_str(&table(&rows, "lrrrrrrl", 2));
    }

    /// Adds the rows of servers.
    fn pool_servers(&mut self, status: &PoolStatus) {
        self.heading("Servers");
        let head = ["status", "step", "serial", "server", "zone"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for zone in &status.zones {
            rows.extend(status.voters.iter().map(|voter| {
                let kept = row(zone, voter).map(|own| own.kept.row);
                let said = kept.map_or_else(|| "not asked".to_owned(), |row| row.status().to_string());
                let fault = kept.and_then(|row| row.fault).map(|fault| format!(" {fault}")).unwrap_or_default();
                let ServerRow { step, serial, .. } = kept.unwrap_or_default();
                let serial = serial.map_or_else(|| "-".to_owned(), |serial| serial.to_string());
                let server = voter.server.clone().unwrap_or_else(|| format!("target {}", voter.target));
                let zone = zone.zone.name.to_string();
                vec![said + &fault, step.to_string(), serial, sanitize(&server), sanitize(&zone)]
            }));
        }
        self.out.push_str(&table(&rows, "lrrll", 2));
    }

    /// Adds the rows of RRsets, those first that are not served.
    fn pool_rrsets(&mut self, status: &PoolStatus) {
        self.heading("RRsets");
        let mut rrsets: Vec<&RrsetStanding> = status.zones.iter().flat_map(|zone| &zone.rrsets).collect();
        rrsets.sort_by_key(|rrset| matches!(rrset.row.status, RrsetStatus::Active | RrsetStatus::Deleted));
        let (shown, rest) = rrsets.split_at(self.options.shown(rrsets.len()));
        for RrsetStanding { name, rtype, apply, row, .. } in shown {
            let (status, task, step) = (row.status, row.task, row.step);
            self.line(2, &format!("{status} {task} {name} {rtype}, apply {}, step {step}", apply.0));
        }
        if !rest.is_empty() {
            self.line(2, &format!("and {} more (-v lists all)", rest.len()));
        }
    }
}

/// A zone with the voters of its pool, for the document.
struct ZoneView<'a> {
    /// The zone.
    zone: &'a ZonePublication,
    /// The pool.
    pool: &'a PoolStatus,
}

object_in_documents!(PoolStatus, pool => {
    "name": pool.name.as_str(),
    "threshold": pool.threshold,
    "zones": pool.zones.iter().map(|zone| ZoneView { zone, pool }).collect::<Vec<_>>(),
    ? "zone_rows": (!pool.made.is_empty()).then_some(&pool.made),
});

object_in_documents!(ZoneActionRow, row => {
    "zone": row.copy.zone,
    "target": row.copy.target.name,
    "action": row.action,
    "status": row.status(),
    "why": row.why,
    "at": row.at,
});

object_in_documents!(ZoneView<'_>, view => {
    "zone": view.zone.zone.name,
    "status": view.zone.status,
    "step": view.zone.newest,
    "consensus": view.zone.consensus,
    "servers": view.pool.voters.iter().map(|voter| server(view.zone, voter)).collect::<Vec<_>>(),
    "rrsets": view.zone.rrsets,
});

/// The row of a voter for the document.
fn server<'a>(zone: &ZonePublication, voter: &'a VoterId) -> ServerView<'a> {
    let kept = row(zone, voter).map(|own| own.kept);
    ServerView::of(voter, kept.map(|kept| kept.row), kept.map(|kept| kept.at))
}

object_in_documents!(RrsetStanding, rrset => {
    "zone": rrset.zone.name,
    "name": rrset.name,
    "type": rrset.rtype.to_string(),
    "apply": rrset.apply,
    "step": rrset.row.step,
    "task": rrset.row.task,
    "status": rrset.row.status,
});
