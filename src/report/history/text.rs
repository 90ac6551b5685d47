//! The past applies of a journal, as text: a list, one apply in full, or what was done for a host or at a name.

use std::collections::BTreeMap;

use crate::change::RrsetText;
use crate::diag::sanitize;
use crate::guard::Allowance;
use crate::inventory::value::Inv;
use crate::report::TextOptions;
use crate::report::applies::{by, has_more_to_do, remarks, times, totals};
use crate::report::data::{lines, rrset};
use crate::report::gather::gather;
use crate::report::host_label::of_project;
use crate::report::page::TextPage;
use crate::report::summary::SubjectCounts;
use crate::report::waves::gate_lines;
use crate::report::wrap::table;
use crate::state::served::StatusCounts;
use crate::state::{
    ApprovalGiven, GivenStatus, History, HistoryAnswer, LeftSubject, LiftedLimit, PastApply, SentChange, SentFate,
    SentUpdate,
};

/// Renders a history.
pub fn render(history: &History, options: &TextOptions) -> String {
    let mut page = TextPage::new(options);
    match &history.told {
        HistoryAnswer::Applies(applies, _) if applies.is_empty() => page.line(0, "Nothing was ever applied."),
        HistoryAnswer::Applies(applies, is_cut) => {
            page.line(0, if *is_cut { "Last applies" } else { "Applies" });
            applies.iter().for_each(|apply| page.apply(apply, history.running));
            if *is_cut {
                page.line(2, "and earlier ones (-v lists all)");
            }
        }
        HistoryAnswer::Apply(past) => page.whole(past, history),
        HistoryAnswer::Hosts(hosts, applies) => {
            page.touching(&format!("What was done for {}", numbers(hosts)), applies, history);
        }
        HistoryAnswer::Name(name, applies) => page.touching(&format!("What was done at {name}"), applies, history),
    }
    page.out
}

impl TextPage<'_> {
    /// Adds one apply in full.
    fn whole(&mut self, past: &PastApply, history: &History) {
        let summary = &past.summary;
        self.line(0, &format!("Apply {}: {}", summary.id.0, times(summary, history.running)));
        self.line(2, &totals(summary));
        remarks(summary).iter().for_each(|remark| self.line(2, remark));
        for (asked, line) in past.gates.iter().zip(gate_lines(&past.gates)) {
            self.line(2, &format!("gate at {}, {line}", asked.at));
        }
        self.given(&past.approvals);
        for LiftedLimit { allowance: Allowance { name, number }, at, who, .. } in &past.allowed {
            self.line(2, &format!("allowed {name}={number} {at}{}", by(who)));
        }
        self.line(2, &format!("plan    {}", summary.new.plan));
        self.line(2, &format!("effect  {}", summary.new.effect));
        if history.resumable.contains(&summary.id) && has_more_to_do(summary) {
            self.line(2, &format!("hint: `zonewright resume {}` continues it", summary.id.0));
        }
        self.narrowed(history);
        let served = StatusCounts::of(past.published.iter().map(|rrset| rrset.row.status));
        if served.all() > 0 {
            let StatusCounts { pending, error, .. } = served;
            let done = format!("{} of {} RRsets as applied", served.done(), served.all());
            self.line(2, &format!("served  {done}; {pending} PENDING, {error} ERROR"));
        }
        let changes = past.changes();
        self.counts(&changes);
        self.left(&past.left);
        if !changes.is_empty() {
            self.heading("Changes");
            self.changes(&changes);
        }
    }

    /// Adds what applies did for some hosts or at a name, the latest first.
    fn touching(&mut self, what: &str, applies: &[PastApply], history: &History) {
        self.line(0, &format!("{what}, the latest apply first"));
        self.narrowed(history);
        for past in applies {
            self.heading(&format!("Apply {}: {}", past.summary.id.0, times(&past.summary, history.running)));
            remarks(&past.summary).iter().for_each(|remark| self.line(2, remark));
            self.given(&past.approvals);
            past.left.iter().for_each(|host| self.line(2, &format!("left {}: {}", host.outcome, subject(host))));
            self.changes(&past.changes());
        }
    }

    /// Adds what services said of hosts before the waves, each once; the hosts of a long list are cut.
    fn given(&mut self, given: &[ApprovalGiven]) {
        let mut said: BTreeMap<(GivenStatus, String), Vec<Inv>> = BTreeMap::new();
        for (host, services) in allowed(given) {
            said.entry((GivenStatus::Allowed, format!("approved by {services}"))).or_default().push(host);
        }
        for ApprovalGiven { subject, service, status, message, .. } in given {
            let Some(host) = subject.host() else { continue };
            let says = match status {
                GivenStatus::Allowed => continue,
                GivenStatus::Rejected if message.is_empty() => format!("rejected by `{service}`"),
                GivenStatus::Rejected => format!("rejected by `{service}`, which said \"{message}\""),
                GivenStatus::Ignored => "sent without approvals, as `--ignore-cms` says".to_owned(),
            };
            said.entry((*status, says)).or_default().push(host);
        }
        for ((_, says), hosts) in said {
            let (shown, rest) = hosts.split_at(self.options.shown(hosts.len()));
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more (-v lists all)", rest.len()) };
            self.line(2, &format!("{says}: {}{more}", numbers(shown)));
        }
    }

    /// Says that only some changes are shown, where the command line limits them.
    fn narrowed(&mut self, history: &History) {
        let zones: Vec<String> = history.zones.iter().map(ToString::to_string).collect();
        for (what, of) in [("project", &history.projects), ("zone", &zones)] {
            if !of.is_empty() {
                self.line(0, &format!("Only what concerns the {what} {} is shown.", of.join(" or ")));
            }
        }
    }

    /// Adds how many changes of which kind were made in which zone; the names last, for they may be long.
    fn counts(&mut self, changes: &[(&SentUpdate, &SentChange)]) {
        if changes.is_empty() {
            return;
        }
        self.heading("Zones");
        let mut zones: BTreeMap<String, [usize; 5]> = BTreeMap::new();
        for (sent, change) in changes {
            zones.entry(place(sent)).or_default()[column(&sent.fate, change)] += 1;
        }
        let head = ["created", "modified", "deleted", "perhaps", "not made", "zone"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(zones.into_iter().map(|(zone, counts)| {
            let numbers = counts.iter().map(|count| if *count == 0 { "-".to_owned() } else { count.to_string() });
            numbers.chain([sanitize(&zone)]).collect()
        }));
        self.out.push_str(&table(&rows, "rrrrrl", 2));
    }

    /// Adds the hosts that were left, by outcome and message.
    fn left(&mut self, left: &[LeftSubject]) {
        if left.is_empty() {
            return;
        }
        self.heading("Hosts that are not as the plan says");
        let all: Vec<&LeftSubject> = left.iter().collect();
        for of_outcome in gather(&all, |host| &host.outcome) {
            for of_cause in gather(&of_outcome, |host| host.message.as_deref().unwrap_or_default()) {
                let LeftSubject { outcome, message, .. } = of_cause[0];
                let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
                let subjects = SubjectCounts::of(of_cause.iter().map(|left| &left.subject)).in_words();
                self.line(2, &format!("{outcome}, {subjects}{message}"));
                let (shown, rest) = of_cause.split_at(self.options.shown(of_cause.len()));
                shown.iter().for_each(|host| self.line(4, &whose(host)));
                self.more(4, rest.len());
            }
        }
    }

    /// Adds changes, each with whether it took effect.
    fn changes(&mut self, changes: &[(&SentUpdate, &SentChange)]) {
        let (shown, rest) = changes.split_at(self.options.shown(changes.len()));
        shown.iter().for_each(|(sent, change)| self.change(sent, change));
        self.more(2, rest.len());
    }

    /// Adds one change.
    fn change(&mut self, sent: &SentUpdate, change: &SentChange) {
        let SentChange { name, rtype, before, after, .. } = change;
        let (verb, ttl) = match (before, after) {
            (None, after) => ("create", after.as_ref().map(|after| after.ttl.to_string())),
            (Some(before), None) => ("delete", Some(before.ttl.to_string())),
            (Some(before), Some(after)) if before.ttl != after.ttl => {
                ("modify", Some(format!("{} -> {}", before.ttl, after.ttl)))
            }
            (Some(before), Some(_)) => ("modify", Some(before.ttl.to_string())),
        };
        self.line(2, &format!("{verb} {} ttl {}", rrset(*rtype, name.as_name()), ttl.unwrap_or_default()));
        for line in lines(rdata(before), rdata(after), &self.paint) {
            self.out.push_str(&format!("    {} {}\n", line.sign, line.text));
        }
        let project = &change.project;
        let whose = of_project(&change.subject, project);
        let others = change.other_hosts();
        let also = if others.is_empty() { String::new() } else { format!(", also {}", numbers(&others)) };
        let update = format!("update {} to {}", sent.number, place(sent));
        self.line(4, &format!("{whose}{also}; {update}: {}", fate(sent)));
    }

    /// Says how many are not shown.
    fn more(&mut self, depth: usize, count: usize) {
        if count > 0 {
            self.line(depth, &format!("and {count} more (-v lists all)"));
        }
    }
}

/// The hosts that services let go, each with these services.
fn allowed(given: &[ApprovalGiven]) -> BTreeMap<Inv, String> {
    let mut hosts: BTreeMap<Inv, String> = BTreeMap::new();
    for ApprovalGiven { subject, service, .. } in given.iter().filter(|given| given.status == GivenStatus::Allowed) {
        let Some(host) = subject.host() else { continue };
        let services = hosts.entry(host).or_default();
        let comma = if services.is_empty() { "" } else { ", " };
        services.push_str(&format!("{comma}`{service}`"));
    }
    hosts
}

/// The zone of an update, with the target where its pool has several.
fn place(sent: &SentUpdate) -> String {
    let at = sent.told_target().map(|target| format!(" at {target}")).unwrap_or_default();
    format!("{}{at}", sent.zone)
}

/// The data of an RRset, none where there is none.
fn rdata(rrset: &Option<RrsetText>) -> &[String] {
    rrset.as_ref().map_or(&[], |rrset| &rrset.rdata)
}

/// The column of [`TextPage::counts`] that a change is counted in.
fn column(fate: &SentFate, change: &SentChange) -> usize {
    match (fate, &change.before, &change.after) {
        (SentFate::Done, None, _) => 0,
        (SentFate::Done, Some(_), Some(_)) => 1,
        (SentFate::Done, Some(_), None) => 2,
        (SentFate::Unknown(_), ..) => 3,
        (SentFate::Undone(_), ..) => 4,
    }
}

/// Whether an update took effect, in words.
fn fate(sent: &SentUpdate) -> String {
    match &sent.fate {
        SentFate::Done => sent.race.as_ref().map_or_else(|| "done".to_owned(), |race| format!("done, but {race}")),
        SentFate::Undone(why) => format!("not made: {why}"),
        SentFate::Unknown(None) => "perhaps made: the apply ended before it knew".to_owned(),
        SentFate::Unknown(Some(why)) => format!("perhaps made: {why}"),
    }
}

/// Hosts by their numbers: `hosts 7, 8`.
fn numbers(hosts: &[Inv]) -> String {
    let numbers: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    format!("{} {}", if hosts.len() == 1 { "host" } else { "hosts" }, numbers.join(", "))
}

/// A host, or a name that no host has, with its project.
fn whose(left: &LeftSubject) -> String {
    let LeftSubject { subject, project, name, .. } = left;
    format!("{}, {name}", of_project(subject, project))
}

/// A host that was left, and why.
fn subject(left: &LeftSubject) -> String {
    match &left.message {
        Some(message) => format!("{}: {message}", whose(left)),
        None => whose(left),
    }
}
