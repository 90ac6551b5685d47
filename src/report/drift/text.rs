//! Live DNS compared with what is desired, as text: what drifted first, by project and host; the rest in numbers.

use std::collections::BTreeSet;

use super::super::scope;
use super::{ShownDrift, StrayedRrset};
use crate::change::Change;
use crate::change::RrsetText;
use crate::claim::Subject;
use crate::diag::sanitize;
use crate::dns::{Name, Rrset};
use crate::drift::{ApplyMoment, EditorDeed, Mover, StrayCause};
use crate::inventory::value::Duration;
use crate::inventory::value::Inv;
use crate::plan::{NoticeCode, Plan, PlanScope};
use crate::report::TextOptions;
use crate::report::data::{lines, rrset};
use crate::report::host_label::is_without_pod;
use crate::report::outages::{nothing_read, unread_targets};
use crate::report::page::TextPage;
use crate::report::summary::{SubjectCounts, counted};
use crate::state::WrittenRrset;

/// Renders what is not as desired.
pub fn render(shown: &ShownDrift<'_>, options: &TextOptions) -> String {
    let mut page = TextPage::new(options);
    page.comes_to(shown);
    page.drifted(&shown.of(Mover::Dns), "Drift: changed by another editor since an apply left or found it as desired");
    page.drifted(&shown.of(Mover::Both), "Drift, and the inventory changed, too");
    let others = [
        (Mover::Inventory, "as an apply left them; the inventory changed since"),
        (Mover::Unknown, "no known apply wrote them"),
    ];
    page.others(&others.map(|(mover, says)| (shown.of(mover), says)));
    page.left_rrsets(shown.drift.plan);
    page.not_told(shown.drift.plan);
    page.out
}

impl TextPage<'_> {
    /// Adds what it comes to.
    fn comes_to(&mut self, shown: &ShownDrift<'_>) {
        let plan = shown.drift.plan;
        if let Some(says) = nothing_read(plan) {
            self.alarm(&format!("Nothing could be compared: {says}."));
            self.looked_at(shown);
            return;
        }
        let is_failed = plan.notices.iter().any(|notice| notice.code.tells_of_failure());
        if is_failed {
            self.alarm("Not everything could be read. What could not be read is not listed here.");
        }
        let unread_targets = unread_targets(plan);
        if let Some(targets) = &unread_targets {
            self.alarm(&format!("Not all copies were compared: {}.", sanitize(targets)));
        }
        let is_doubted = plan.notices.iter().any(|notice| notice.code == NoticeCode::SourceUntrusted);
        let is_partial = is_failed || is_doubted || unread_targets.is_some();
        if is_doubted {
            self.alarm("A source is not believed. What needs it is not listed here.");
        }
        let strayed: Vec<StrayedRrset<'_>> = shown.all().collect();
        let drifted: Vec<StrayedRrset<'_>> =
            strayed.iter().filter(|strayed| strayed.stray.mover.is_drift()).copied().collect();
        let says = match (drifted.len(), strayed.len()) {
            (0, 0) if is_partial || !plan.blocked.is_empty() => "What could be compared is as desired.".to_owned(),
            (0, 0) if shown.hidden() > 0 => "In these zones live DNS is as desired.".to_owned(),
            (0, 0) if !plan.left_behind.is_empty() => {
                "Live DNS is as desired, except for records that are left behind.".to_owned()
            }
            (0, 0) => "Live DNS is as desired.".to_owned(),
            (0, _) => format!("{} not as desired; nothing drifted.", are(&strayed)),
            (some, all) if some == all => format!("{} drifted.", have(&drifted)),
            _ => format!("{} drifted; {} not as desired in all.", have(&drifted), are(&strayed)),
        };
        self.line(0, &says);
        self.looked_at(shown);
    }

    /// Adds a line that needs a person.
    fn alarm(&mut self, text: &str) {
        let style = self.paint.alarm.clone();
        self.painted(0, &style, text);
    }

    /// Adds what was looked at, where that is not all.
    fn looked_at(&mut self, shown: &ShownDrift<'_>) {
        if let Some(only) = &shown.drift.plan.only {
            self.line(0, &narrowed(only));
        }
        if !shown.drift.is_known {
            let place = shown.drift.place;
            let says = "past applies are not known, so nothing is listed as drift";
            self.line(0, &format!("No state yet at {place}: {says}."));
        }
        if shown.hidden() > 0 {
            self.line(0, &format!("{} more in other zones.", counted(shown.hidden(), "RRset")));
        }
    }

    /// Adds RRsets that another editor changed, by project and host.
    fn drifted(&mut self, strayed: &[StrayedRrset<'_>], says: &str) {
        if strayed.is_empty() {
            return;
        }
        self.heading(says);
        self.out.push_str("  - is live, + is desired\n");
        for of_project in strayed.chunk_by(|a, b| a.change.project == b.change.project) {
            self.project(of_project);
        }
    }

    /// Adds the RRsets of one project that are not as desired.
    fn project(&mut self, strayed: &[StrayedRrset<'_>]) {
        self.line(2, &format!("Project {}: {}", strayed[0].change.project, of_hosts(strayed)));
        let hosts: Vec<&[StrayedRrset<'_>]> =
            strayed.chunk_by(|a, b| a.change.subject.host() == b.change.subject.host()).collect();
        let (shown, rest) = hosts.split_at(self.options.shown(hosts.len()));
        shown.iter().for_each(|of_host| self.host(of_host));
        self.and_more(4, &of_hosts(&rest.concat()), rest.len());
    }

    /// Adds the RRsets of one host. The time is in the heading where it is the same for all.
    fn host(&mut self, strayed: &[StrayedRrset<'_>]) {
        let whose = subject_words(strayed[0].change);
        let (first, others) = strayed.split_first().expect("a group has one at least");
        let since =
            since(first.stray).filter(|first| others.iter().all(|other| since(other.stray).as_ref() == Some(first)));
        let heading = since.iter().fold(whose, |whose, since| format!("{whose}, {since}"));
        self.line(4, &heading);
        let (shown, rest) = strayed.split_at(self.options.shown(strayed.len()));
        shown.iter().for_each(|strayed| self.strayed(strayed, since.is_none()));
        self.and_more(6, &counted(rest.len(), "RRset"), rest.len());
    }

    /// Adds one RRset: live above desired, and which apply left what; with the time where the heading does not say it.
    fn strayed(&mut self, strayed: &StrayedRrset<'_>, tells_since: bool) {
        let StrayedRrset { change, target, stray } = strayed;
        let Change { key, kind, .. } = change;
        let word = stray.deed.map_or("differs", EditorDeed::as_str);
        let (before, after) = (kind.before(), kind.after());
        let name = rrset(key.rtype, key.owner.as_name());
        let place = target.map(|target| format!(" at `{target}`")).unwrap_or_default();
        self.line(6, &format!("{word} {name} ttl {}{place}", ttl(before, after)));
        let texts = |rrset: Option<&Rrset>| rrset.map(|rrset| rrset.rdata_texts(key.rtype)).unwrap_or_default();
        for line in lines(&texts(before), &texts(after), &self.paint) {
            self.out.push_str(&format!("        {} {}\n", line.sign, line.text));
        }
        if let StrayCause { mover: Mover::Both, written: Some(WrittenRrset { apply, after, .. }), .. } = stray {
            self.line(8, &format!("apply {} left {}", apply.0, left(after.as_ref())));
        }
        if let Some(since) = since(stray).filter(|_| tells_since) {
            self.line(8, &since);
        }
    }

    /// Adds what did not drift, in numbers; with `-v` the lists, too.
    fn others(&mut self, others: &[(Vec<StrayedRrset<'_>>, &str)]) {
        if others.iter().all(|(strayed, _)| strayed.is_empty()) {
            return;
        }
        self.heading("Not as desired, but no drift");
        for (strayed, says) in others.iter().filter(|(strayed, _)| !strayed.is_empty()) {
            let depth = if self.options.verbose { 0 } else { 2 };
            self.line(depth, &format!("{}: {says}", of_hosts(strayed)));
            if self.options.verbose {
                strayed.chunk_by(|a, b| a.change.project == b.change.project).for_each(|project| self.project(project));
            }
        }
        self.line(2, "hint: `zonewright plan` shows what would be changed, and why");
    }

    /// Adds the own RRsets of names that no host has.
    fn left_rrsets(&mut self, plan: &Plan) {
        /// How many names are shown without `-v`.
        const NAMES: usize = 3;
        if plan.left_behind.is_empty() {
            return;
        }
        let mut names: Vec<&Name> = plan.left_behind.iter().map(|left| &left.name).collect();
        names.dedup();
        let shown = if self.options.verbose { names.len() } else { names.len().min(NAMES) };
        self.heading("Left behind");
        let of = if names.len() == 1 { "a name".to_owned() } else { counted(names.len(), "name") };
        let rrsets = counted(plan.left_behind.len(), "RRset");
        self.line(0, &format!("{rrsets} that zonewright created, of {of} that no host or pod has"));
        names[..shown].iter().for_each(|name| self.line(2, &name.to_string()));
        let more = names.len() - shown;
        self.and_more(2, &more.to_string(), more);
        self.line(2, "hint: `zonewright plan -v` says what deletes them");
    }

    /// Adds what was not compared with live DNS, and what waits to be deleted.
    fn not_told(&mut self, plan: &Plan) {
        let counts = [
            (subjects_of(plan.blocked.iter().map(|own| &own.subject)) + " blocked", plan.blocked.len()),
            (subjects_of(plan.skipped.iter().map(|own| &own.subject)) + " skipped", plan.skipped.len()),
            (counted(plan.delayed.len(), "RRset") + " waiting to be deleted", plan.delayed.len()),
        ];
        let some: Vec<String> = counts.into_iter().filter(|(_, count)| *count > 0).map(|(says, _)| says).collect();
        if !some.is_empty() {
            self.out.push('\n');
            self.line(0, &format!("Not listed here: {} (`zonewright plan` shows why)", some.join(", ")));
        }
    }

    /// Says how much is not shown.
    fn and_more(&mut self, depth: usize, what: &str, count: usize) {
        if count > 0 {
            self.line(depth, &format!("and {what} more (-v lists all)"));
        }
    }
}

/// What it was narrowed to, in words.
fn narrowed(only: &PlanScope) -> String {
    let list = |what: &str, items: Vec<String>| match items.as_slice() {
        [] => None,
        [one] => Some(format!("{what} {one}")),
        [first, ..] => Some(format!("{what} {first} and {} more", items.len() - 1)),
    };
    let hosts = list("host", only.hosts().iter().map(Inv::to_string).collect());
    format!("{}.", scope::in_words(hosts, list("subject", scope::others(only)), list("project", only.projects.clone())))
}

/// How many RRsets, with the verb that fits.
fn are(strayed: &[StrayedRrset<'_>]) -> String {
    format!("{} {}", of_hosts(strayed), if strayed.len() == 1 { "is" } else { "are" })
}

/// How many RRsets, with the verb that fits.
fn have(strayed: &[StrayedRrset<'_>]) -> String {
    format!("{} {}", of_hosts(strayed), if strayed.len() == 1 { "has" } else { "have" })
}

/// How many RRsets of how many hosts.
fn of_hosts(strayed: &[StrayedRrset<'_>]) -> String {
    let hosts: BTreeSet<_> = strayed.iter().filter_map(|strayed| strayed.change.subject.host()).collect();
    let rrsets = counted(strayed.len(), "RRset");
    if hosts.is_empty() { rrsets } else { format!("{rrsets} of {}", counted(hosts.len(), "host")) }
}

/// How many subjects of each kind.
fn subjects_of<'p>(subjects: impl Iterator<Item = &'p Subject>) -> String {
    SubjectCounts::of(subjects).in_words()
}

/// The TTL, or the live one and the desired one.
fn ttl(before: Option<&Rrset>, after: Option<&Rrset>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before.ttl() != after.ttl() => format!("{} -> {}", before.ttl(), after.ttl()),
        (before, after) => before.or(after).map(|rrset| rrset.ttl().to_string()).unwrap_or_default(),
    }
}

/// Since which apply an RRset can be as it is, and for how long; none where no apply is known to have written it.
fn since(stray: &StrayCause) -> Option<String> {
    let ApplyMoment { apply, at } = stray.since?;
    let for_at_most = stray.for_at_most.map(|time| format!("for at most {}, ", rounded_up(time))).unwrap_or_default();
    Some(format!("{for_at_most}since apply {} of {}", apply.0, at.to_second()))
}

/// What an apply left.
fn left(after: Option<&RrsetText>) -> String {
    match after {
        None => "nothing there".to_owned(),
        Some(RrsetText { ttl, rdata, .. }) => format!("{}, ttl {ttl}", rdata.join(", ")),
    }
}

/// A time in two units at most; rounded up, since it is a bound.
fn rounded_up(time: Duration) -> Duration {
    let secs = time.as_secs();
    let unit = match secs {
        86_400.. => 3_600,
        3_600.. => 60,
        _ => 1,
    };
    Duration::from_secs(secs.div_ceil(unit) * unit)
}

/// What a change is of, in a word or two.
fn subject_words(change: &Change) -> String {
    let nothing = || if is_without_pod(change) { "no pod" } else { "no host and no file" };
    change.subject.in_words().unwrap_or_else(|| nothing().to_owned())
}
