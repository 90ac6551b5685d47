//! The changes, by project and host.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::super::copies::{listed, mark};
use super::super::data::{self, DataLine};
use super::super::host_label::{host_in_words, is_without_pod, short_label, without};
use super::super::templates::{TemplateError, Templates};
use super::super::words::{ExplainedCode as _, edited_in_words, via_in_words};
use super::TextOptions;
use crate::claim::Subject;
use crate::diag::sanitize;
use crate::dns::reverse::address_of;
use crate::dns::{Name, NameRef, Rrset, Rtype};
use crate::inventory::value::Inv;
use crate::plan::{Change, ChangeKind, Plan, Reason, Rule};
use crate::report::paint::Paint;
use crate::target::PoolName;

/// A project that has changes.
#[derive(Serialize)]
pub struct ProjectView {
    /// Its id.
    project: String,
    /// How many changes there are.
    changes: usize,
    /// Its hosts.
    #[serde(flatten)]
    groups: RenderedGroups,
}

/// Hosts, or the orphans of projects, rendered as far as they are shown.
#[derive(Serialize)]
pub struct RenderedGroups {
    /// What `plan-host.txt` makes of each, one after another; empty where there are none.
    text: String,
    /// How many are not shown.
    more_hosts: usize,
    /// How many changes they have.
    more_changes: usize,
}

/// What `plan-host.txt` gets.
#[derive(Serialize)]
struct HostView<'a> {
    /// Escape sequences by what they are for.
    paint: &'a Paint,
    /// The columns to keep within.
    width: usize,
    /// The project, where the heading above does not name it.
    project: Option<String>,
    /// The inventory number; none where it is no host.
    host: Option<u64>,
    /// What has none of the names, where nothing has them: `host` or `pod`.
    without: &'static str,
    /// What states the name in a file; none elsewhere.
    by: Option<String>,
    /// The backbone name: the inventory's, else as far as the changes show it.
    name: Option<String>,
    /// The names that the host had before, where it has others now.
    former: Vec<String>,
    /// The changes: forward names first, then reverse ones.
    changes: Vec<ChangeView>,
}

/// One change.
#[derive(Serialize)]
struct ChangeView {
    /// `create`, `modify` or `delete`.
    verb: &'static str,
    /// The RRset: `AAAA` at the name of the heading, else `AAAA a.example.net.` or `PTR of 2a02:6b8::1`.
    rrset: String,
    /// The only record, where it fits into the line: ` 2a02:6b8::1` or ` to a.example.net.`; else empty.
    record: String,
    /// `  ttl 600`, or `  ttl 3600 -> 600`; empty for what is deleted, unless all is shown. Begins a line of its own where
    /// the line has no room for it and for the mark of the TXT.
    ttl: String,
    /// Whether the TXT of the registry changes in the same way, and is not shown by itself.
    has_txt: bool,
    /// The data, old above new; empty where the line has it.
    lines: Vec<DataLine>,
    /// Whether the only address at the name of the heading is replaced by another one, so that two lines say it all.
    is_moved_address: bool,
    /// Why, with the evidence; only what is new for the host, unless all is shown.
    reasons: Vec<String>,
    /// With `-v`: the other hosts that share the change.
    also: Vec<String>,
    /// The targets that it is for.
    #[serde(flatten)]
    targets: ChangeTargets,
}

/// The targets that a change is for, where it is not for all of its pool.
#[derive(Serialize)]
struct ChangeTargets {
    /// ` (at a, b)` behind the line; empty where it is for all, or the line has no room for it.
    at: String,
    /// The same as a line of its own, `at a, b`, where the line has no room for it.
    at_below: Option<String>,
}

/// What changes are rendered with.
pub struct ChangesRenderer<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The templates.
    pub templates: &'a Templates,
    /// How much is shown, and how.
    pub options: &'a TextOptions,
    /// Escape sequences by what they are for.
    pub paint: &'a Paint,
}

impl ChangesRenderer<'_> {
    /// Renders the changes of all projects, without those at names that no host has.
    ///
    /// Errors: [`TemplateError`].
    pub fn projects(&self) -> Result<Vec<ProjectView>, TemplateError> {
        let ChangePlaces { homes, unclaimed } = ChangePlaces::find(self.plan);
        let changes = self.plan.changes.iter().filter(|change| !unclaimed.contains(&change.meant_rrset()));
        let home = |change: &Change| change.subject.host().and_then(|host| homes.get(&host).copied());
        let mut changes: Vec<(&str, &Change)> =
            changes.map(|change| (home(change).unwrap_or(&change.project), change)).collect();
        changes.sort_by_cached_key(|(project, change)| {
            let own = change.subject.counted();
            (*project, own.is_none(), own)
        });
        let of_project = changes.chunk_by(|a, b| a.0 == b.0);
        of_project
            .map(|of_project| {
                let changes: Vec<&Change> = of_project.iter().map(|(_, change)| *change).collect();
                let groups: Vec<&[&Change]> =
                    changes.chunk_by(|a, b| a.subject.counted() == b.subject.counted()).collect();
                let (project, groups) = (sanitize(of_project[0].0), self.groups(&groups, GroupHeading::Host)?);
                Ok(ProjectView { project, changes: changes.len(), groups })
            })
            .collect()
    }

    /// Renders the changes at names that no host has, or no pod, of all projects.
    ///
    /// Errors: [`TemplateError`].
    pub fn unclaimed(&self, of_pods: bool) -> Result<RenderedGroups, TemplateError> {
        let ChangePlaces { unclaimed, .. } = ChangePlaces::find(self.plan);
        let is_of_pods = |change: &&Change| is_without_pod(change);
        let without_pod: HashSet<(Rtype, Name)> =
            self.plan.changes.iter().filter(is_of_pods).map(Change::meant_rrset).collect();
        let is_shown = |change: &&Change| {
            let rrset = change.meant_rrset();
            unclaimed.contains(&rrset) && without_pod.contains(&rrset) == of_pods
        };
        let changes: Vec<&Change> = self.plan.changes.iter().filter(is_shown).collect();
        let groups: Vec<&[&Change]> =
            changes.chunk_by(|a, b| (&a.project, a.subject.counted()) == (&b.project, b.subject.counted())).collect();
        self.groups(&groups, GroupHeading::HostAndProject)
    }

    /// Renders groups of changes, as many as are shown.
    fn groups(&self, groups: &[&[&Change]], heading: GroupHeading) -> Result<RenderedGroups, TemplateError> {
        let (shown, rest) = groups.split_at(self.options.max_hosts.unwrap_or(groups.len()).min(groups.len()));
        let mut text = String::new();
        for group in shown {
            let project = (heading == GroupHeading::HostAndProject).then(|| sanitize(&group[0].project));
            text.push_str(&self.templates.render("plan-host.txt", HostView { project, ..self.host(group) })?);
        }
        let more_changes = rest.iter().map(|group| group.len()).sum();
        Ok(RenderedGroups { text, more_hosts: rest.len(), more_changes })
    }

    /// The changes of one host, or of all orphans of a project.
    fn host(&self, changes: &[&Change]) -> HostView<'_> {
        let known = changes[0].subject.host().and_then(|host| Name::parse(self.plan.name_of(host)?).ok());
        let of_host = || changes[0].subject.host().and_then(|_| backbone(changes)).map(NameRef::to_name);
        let name = known.or_else(of_host).or_else(|| changes[0].subject.stated_name().cloned());
        let former = name.as_ref().map(|name| former(changes, name.as_name())).unwrap_or_default();
        let former = former.into_iter().map(|name| sanitize(&name.to_string())).collect();
        let ordered = by_name(changes, name.as_ref());
        let with_txt = if self.options.verbose { HashSet::new() } else { with_txt(&ordered) };
        let is_shown = |change: &&&Change| self.options.verbose || !is_folded(change, &with_txt);
        let mut shown = ShownSoFar::default();
        let views = ordered.iter().filter(is_shown).map(|change| {
            let has_txt = with_txt.contains(&deed(change, change.key.rtype, change.key.owner.as_name().to_name()));
            self.change(change, name.as_ref(), has_txt, &mut shown)
        });
        HostView {
            paint: self.paint,
            width: self.options.width,
            project: None,
            host: changes[0].subject.host().map(|inv| inv.0),
            without: without(changes.iter().find(|change| is_without_pod(change)).unwrap_or(&changes[0])),
            by: changes[0].subject.stated_by().map(|by| sanitize(&by)),
            name: name
                .as_ref()
                .map(ToString::to_string)
                .or_else(|| of_pods(&changes[0].subject))
                .map(|name| sanitize(&name)),
            former,
            changes: views.collect(),
        }
    }

    /// One change for the template, below the heading of a name.
    fn change<'p>(
        &self,
        change: &'p Change,
        heading: Option<&Name>,
        has_txt: bool,
        shown: &mut ShownSoFar<'p>,
    ) -> ChangeView {
        let Change { key, kind, .. } = change;
        let is_heading = heading.is_some_and(|name| name.as_name() == key.owner.as_name());
        let rrset = if is_heading && !self.options.verbose { key.rtype.to_string() } else { data::rrset_of(change) };
        let ttl = match kind {
            ChangeKind::Modify { before, after } if before.ttl() != after.ttl() => {
                format!("{} -> {}", before.ttl(), after.ttl())
            }
            ChangeKind::Create { after: rrset }
            | ChangeKind::Delete { before: rrset }
            | ChangeKind::Modify { before: rrset, .. } => rrset.ttl().to_string(),
        };
        let verb = verb(change);
        if matches!(key.rtype, Rtype::AAAA | Rtype::A) {
            shown.owner = Some(key.owner.as_name());
        }
        let is_clear = |name: NameRef<'_>| Some(name) == heading.map(Name::as_name) || Some(name) == shown.owner;
        let record = (!self.options.verbose).then(|| record(change, is_clear)).flatten();
        // Four blanks are before the line.
        let txt = if has_txt { TXT_MARK.len() } else { 0 };
        let ttl = if verb == "delete" && !self.options.verbose { String::new() } else { format!("  ttl {ttl}") };
        let rest = 4 + verb.len() + 1 + rrset.width() + ttl.len() + txt;
        let record = record.filter(|record| rest + record.width() <= self.options.width);
        let record_width = record.as_ref().map_or(0, |record| record.width());
        let lines = if record.is_some() { Vec::new() } else { self.lines(change) };
        let record = record.map(|record| self.paint.marked(self.style(kind), &record, &[])).unwrap_or_default();
        let also = if self.options.verbose { change.other_hosts() } else { Vec::new() };
        let also = also.into_iter().map(|inv| sanitize(&host_in_words(self.plan, inv))).collect();
        let is_moved_address = is_heading
            && !self.options.verbose
            && !has_txt
            && matches!(lines.as_slice(), [old, new] if (old.sign, new.sign) == ('-', '+'));
        // The first line of a moved address has the old address, too.
        let old = kind.before().filter(|_| is_moved_address).map(|rrset| rrset.rdata_texts(key.rtype));
        let of_old: usize = old.iter().flatten().map(|address| 1 + address.width()).sum();
        let is_long = rest + of_old > self.options.width && ttl.len() + txt > 0;
        let line = if is_long { ttl.len() + txt + 7 } else { rest + of_old + record_width };
        let ttl = if is_long { format!("\n{}{ttl}", " ".repeat(if ttl.is_empty() { 7 } else { 6 })) } else { ttl };
        let targets = self.targets(change, line);
        ChangeView {
            verb,
            rrset,
            record,
            ttl,
            has_txt,
            lines,
            is_moved_address,
            reasons: self.reasons(change, shown),
            also,
            targets,
        }
    }

    /// At which targets a change is made, behind a line of a width or below it.
    fn targets(&self, change: &Change, line: usize) -> ChangeTargets {
        let at = mark(&change.targets);
        if line + at.width() <= self.options.width {
            return ChangeTargets { at, at_below: None };
        }
        ChangeTargets { at: String::new(), at_below: listed(&change.targets).map(|targets| format!("at {targets}")) }
    }

    /// The data of a change. Where colours mark what differs, or with `-v`, no line of marks is left out.
    fn lines(&self, change: &Change) -> Vec<DataLine> {
        let texts = |rrset: Option<&Rrset>| data::texts_of(change, rrset);
        let lines = data::lines(&texts(change.kind.before()), &texts(change.kind.after()), self.paint);
        let is_shown = |line: &DataLine| self.options.verbose || !line.is_marks;
        lines.into_iter().filter(is_shown).collect()
    }

    /// The style of a record that comes or goes.
    fn style(&self, kind: &ChangeKind) -> &str {
        match kind {
            ChangeKind::Create { .. } => &self.paint.create,
            ChangeKind::Modify { .. } => &self.paint.modify,
            ChangeKind::Delete { .. } => &self.paint.delete,
        }
    }

    /// Why a change is made.
    ///
    /// All is said with `-v`. Else the reasons are one line, and only where they say something that the changes of the
    /// host above do not: most changes of a host follow from the same lines of the inventory.
    fn reasons<'p>(&self, change: &'p Change, shown: &mut ShownSoFar<'p>) -> Vec<String> {
        if self.options.verbose {
            let in_full = |reason| edited_in_words(reason).unwrap_or_else(|| self.in_full(reason, change, shown));
            return change.reasons.iter().map(in_full).chain(via_in_words(change).map(str::to_owned)).collect();
        }
        let mut rules: Vec<Rule> = change.rules().collect();
        rules.dedup();
        let mut places: Vec<&str> = change.lines().map(String::as_str).collect();
        places.retain(|place| shown.places.insert(place));
        let follows = |rule: &Rule| {
            !matches!(rule, Rule::AddressElsewhere | Rule::Released | Rule::Orphan | Rule::NoPod | Rule::Undo)
                || shown.rules.contains(rule)
        };
        let others = change.other_hosts();
        let edited = change.reasons.iter().find_map(edited_in_words);
        let is_told = edited.is_none() || edited == shown.edited;
        let is_known = places.is_empty() && rules.iter().all(follows) && shown.also == others && is_told;
        shown.also.clone_from(&others);
        shown.rules.extend(&rules);
        let via = via_in_words(change).map(str::to_owned);
        if is_known && !std::mem::take(&mut shown.is_fresh) {
            return via.into_iter().collect();
        }
        shown.is_fresh = false;
        let titles: Vec<&str> = rules.iter().map(|rule| rule.words().title).collect();
        let also: Vec<String> = others.iter().map(|inv| sanitize(&short_label(self.plan, *inv))).collect();
        let also = if also.is_empty() { String::new() } else { format!("; shared with {}", also.join(", ")) };
        let why = self.in_a_line(&format!("{}{also}", titles.join(", ")), &places);
        shown.edited.clone_from(&edited);
        std::iter::once(why).chain(edited).chain(via).collect()
    }

    /// What is said of a change, and as many of its places as the line has room for; one at least.
    fn in_a_line(&self, says: &str, places: &[&str]) -> String {
        let line = |shown: usize| match places.len() - shown {
            0 => format!("{says} ({})", sanitize(&places.join(", "))),
            more => format!("{says} ({}, +{more})", sanitize(&places[..shown].join(", "))),
        };
        if places.is_empty() {
            return says.to_owned();
        }
        // Six blanks are before the line.
        let fits = |shown: &usize| line(*shown).width() + 6 <= self.options.width;
        line((1..=places.len()).rev().find(fits).unwrap_or(1))
    }

    /// A reason in full: the rule, for which host where that is another one, what it means, and the shown.
    fn in_full<'p>(&self, reason: &'p Reason, change: &Change, shown: &mut ShownSoFar<'p>) -> String {
        let places = match reason.evidence.as_slice() {
            [] => String::new(),
            places if shown.last.replace(places) == Some(places) => " (as above)".to_owned(),
            places => format!(" ({})", sanitize(&places.join(", "))),
        };
        // Of several addresses that the inventory lists, some may be there.
        let brief = match (reason.rule, &change.kind) {
            (Rule::Missing, ChangeKind::Modify { before, after }) if shares_records(before, after) => {
                "not all of the host's addresses are here"
            }
            (rule, _) => rule.words().brief,
        };
        format!("{}: {brief}{places}", self.title(reason, change.subject.host()))
    }

    /// A rule in a few words, for which host where that is another one.
    fn title(&self, reason: &Reason, host: Option<Inv>) -> String {
        let title = reason.rule.words().title;
        match reason.subject.host() {
            Some(inv) if Some(inv) != host => format!("{title} for {}", sanitize(&host_in_words(self.plan, inv))),
            _ => title.to_owned(),
        }
    }
}

/// What the template puts behind a change whose TXT is folded into it.
const TXT_MARK: &str = " (+ TXT)";

/// What the changes of a host have shown so far; those below do not repeat it.
struct ShownSoFar<'p> {
    /// The evidence.
    places: HashSet<&'p str>,
    /// The owner name of the last RRset of addresses.
    owner: Option<NameRef<'p>>,
    /// What the reason shown last depends on.
    last: Option<&'p [String]>,
    /// The rules that were named.
    rules: HashSet<Rule>,
    /// The hosts that share the change above.
    also: Vec<Inv>,
    /// After which apply the RRset was edited whose reasons were shown last.
    edited: Option<String>,
    /// Whether no reason was shown yet.
    is_fresh: bool,
}

impl Default for ShownSoFar<'_> {
    fn default() -> Self {
        ShownSoFar {
            places: HashSet::new(),
            owner: None,
            last: None,
            rules: HashSet::new(),
            also: Vec::new(),
            edited: None,
            is_fresh: true,
        }
    }
}

/// What a change does.
fn verb(change: &Change) -> &'static str {
    match change.kind {
        ChangeKind::Create { .. } => "create",
        ChangeKind::Modify { .. } => "modify",
        ChangeKind::Delete { .. } => "delete",
    }
}

/// An RRset, with what a change does to it, and at which targets.
type ChangedRrset<'a> = (&'a PoolName, Rtype, Name, &'static str, &'a [String]);

/// What a change does to an RRset.
fn deed(change: &Change, rtype: Rtype, name: Name) -> ChangedRrset<'_> {
    (&change.pool, rtype, name, verb(change), &change.targets)
}

/// The RRsets among changes whose TXT of the registry changes in the same way.
fn with_txt<'a>(changes: &[&'a Change]) -> HashSet<ChangedRrset<'a>> {
    let own = changes.iter().filter(|change| !change.is_registry());
    let own: HashSet<ChangedRrset<'_>> =
        own.map(|change| deed(change, change.key.rtype, change.key.owner.as_name().to_name())).collect();
    let registered = |change: &&'a Change| change.registered().map(|(rtype, name)| deed(change, rtype, name));
    changes.iter().filter_map(registered).filter(|deed| own.contains(deed)).collect()
}

/// Whether a change is that of a TXT that is folded into the change of its RRset.
fn is_folded(change: &Change, with_txt: &HashSet<ChangedRrset<'_>>) -> bool {
    change.registered().is_some_and(|(rtype, name)| with_txt.contains(&deed(change, rtype, name)))
}

/// The data of a change as far as the line itself can say it: ` 2a02:6b8::1` or ` to a.example.net.` for a single
/// record that is created or deleted. Nothing needs to be said of a PTR to a name that is clear from above, or where
/// only the TTL changes. None where the data needs lines of its own.
fn record(change: &Change, is_clear: impl Fn(NameRef<'_>) -> bool) -> Option<String> {
    let rrset = match &change.kind {
        ChangeKind::Modify { .. } if change.is_of_mark() => return None,
        ChangeKind::Modify { before, after } => return (before.rdata() == after.rdata()).then(String::new),
        ChangeKind::Create { after: rrset } | ChangeKind::Delete { before: rrset } => rrset,
    };
    let [text]: [String; 1] = rrset.rdata_texts(change.key.rtype).try_into().ok()?;
    match pointed_to(change.key.rtype, rrset) {
        Some(name) if is_clear(name) => Some(String::new()),
        Some(_) => Some(format!(" to {}", sanitize(&text))),
        None => Some(format!(" {}", sanitize(&text))),
    }
}

/// Where changes are shown.
struct ChangePlaces<'a> {
    /// The project below which a host is listed: of several the one of its desired records.
    homes: HashMap<Inv, &'a str>,
    /// The RRsets at names that no host has: they lose records for no other reason, and their host has no other
    /// changes. With them go the TXT of the registry that record them.
    unclaimed: HashSet<(Rtype, Name)>,
}

impl<'a> ChangePlaces<'a> {
    /// Looks at what each host has in a plan.
    fn find(plan: &'a Plan) -> ChangePlaces<'a> {
        let is_given_up =
            |change: &&Change| change.rules().all(|rule| matches!(rule, Rule::Released | Rule::Orphan | Rule::NoPod));
        let given_up: HashSet<(Rtype, Name)> =
            plan.changes.iter().filter(is_given_up).map(Change::meant_rrset).collect();
        let others = plan.changes.iter().filter(|change| !given_up.contains(&change.meant_rrset()));
        let (lasting, passing): (Vec<&Change>, Vec<_>) = others.partition(|change| change.kind.after().is_some());
        let mut homes = HashMap::new();
        for change in lasting.into_iter().chain(passing) {
            if let Some(host) = change.subject.host() {
                homes.entry(host).or_insert(change.project.as_str());
            }
        }
        // What a host gave up is listed with the name that it got, so that a rename is seen whole.
        let stays = |change: &&Change| change.subject.host().is_some_and(|host| homes.contains_key(&host));
        let with_hosts: HashSet<(Rtype, Name)> = plan.changes.iter().filter(stays).map(Change::meant_rrset).collect();
        ChangePlaces { unclaimed: given_up.difference(&with_hosts).cloned().collect(), homes }
    }
}

/// The heading above the changes of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupHeading {
    /// The host; the project is in the heading above.
    Host,
    /// The host and its project.
    HostAndProject,
}

/// Sorts changes as one thinks of them: the name `first` with the addresses that it gets and loses, then other names.
///
/// The plan sorts by zone, which tears a name and its reverse names apart.
fn by_name<'a>(changes: &[&'a Change], first: Option<&Name>) -> Vec<&'a Change> {
    let pointers = changes.iter().filter(|change| change.key.rtype == Rtype::PTR);
    let targets: HashMap<NameRef<'_>, NameRef<'_>> =
        pointers.filter_map(|change| Some((change.key.owner.as_name(), target(change)?))).collect();
    let mut ordered: Vec<_> = changes
        .iter()
        .map(|&change| {
            let (_, registered) = change.meant_rrset();
            let name = targets.get(&registered.as_name()).map_or_else(|| registered.clone(), |name| name.to_name());
            let reverse = address_of(registered.as_name());
            (Some(&name) != first, name.to_string(), reverse, change.key.rtype == Rtype::TXT, change)
        })
        .collect();
    ordered.sort_by(|a, b| (a.0, &a.1, a.2, a.3).cmp(&(b.0, &b.1, b.2, b.3)));
    ordered.into_iter().map(|(.., change)| change).collect()
}

/// The name that a PTR RRset comes to point to, or pointed to where it is removed; the first of several.
fn target(change: &Change) -> Option<NameRef<'_>> {
    pointed_to(change.key.rtype, change.kind.after().or(change.kind.before())?)
}

/// The name that an RRset points to, the first of several; none where it does not point.
fn pointed_to(rtype: Rtype, rrset: &Rrset) -> Option<NameRef<'_>> {
    rrset.rdata().first()?.as_rdata(rtype).target()
}

/// Whether two RRsets have a record in common.
fn shares_records(one: &Rrset, other: &Rrset) -> bool {
    one.rdata().iter().any(|rdata| other.rdata().contains(rdata))
}

/// The backbone name of the host whose changes these are, where they show one of its names.
///
/// A plan does not say which name is the backbone's, but a fastbone name is always made by adding to it, so that the
/// shortest of the host's names is the backbone's, if that is among them. What an apply left that is undone is what was
/// the host's then.
fn backbone<'a>(changes: &[&'a Change]) -> Option<NameRef<'a>> {
    let own = |rule| matches!(rule, Rule::Missing | Rule::WrongAddress | Rule::Ttl);
    let names = changes.iter().flat_map(|change| {
        let acts =
            change.reasons.iter().any(|reason| own(reason.rule) && reason.subject.host() == change.subject.host());
        let undone = change.kind.before().filter(|_| change.reasons.iter().any(|reason| reason.rule == Rule::Undo));
        match change.key.rtype {
            Rtype::AAAA | Rtype::A if acts || undone.is_some() => Some(change.key.owner.as_name()),
            Rtype::PTR => undone.or(change.kind.after()).and_then(|rrset| pointed_to(change.key.rtype, rrset)),
            _ => None,
        }
    });
    names.min_by_key(|name| (name.as_wire().len(), *name))
}

/// The backbone names that the host whose changes these are gave up for `now`, sorted, where the changes show them.
///
/// Of names that differ by what is before or behind a label, the shortest is the backbone's.
fn former<'a>(changes: &[&'a Change], now: NameRef<'_>) -> Vec<NameRef<'a>> {
    let gives_up = |change: &&&Change| {
        change
            .reasons
            .iter()
            .any(|reason| reason.rule == Rule::Released && reason.subject.host() == change.subject.host())
    };
    let names = changes.iter().filter(gives_up).filter_map(|change| match change.key.rtype {
        Rtype::AAAA | Rtype::A => Some(change.key.owner.as_name()),
        Rtype::PTR => pointed_to(change.key.rtype, change.kind.before()?),
        _ => None,
    });
    let mut names: Vec<NameRef<'_>> = names.filter(|name| *name != now).collect();
    names.sort();
    names.dedup();
    let is_beside = |name: &NameRef<'_>, backbone: &NameRef<'_>| {
        let labels = name.first_label().zip(backbone.first_label());
        name.parent() == backbone.parent()
            && labels.is_some_and(|(long, short)| {
                long.len() > short.len() && long.windows(short.len()).any(|part| part == short)
            })
    };
    let is_backbone = |name: &&NameRef<'_>| !names.iter().any(|other| is_beside(name, other));
    names.iter().filter(is_backbone).copied().collect()
}

/// A pod or an endpoint within its set; none for other subjects.
fn of_pods(subject: &Subject) -> Option<String> {
    match subject {
        Subject::Pod(own) => Some(format!("pod {}", own.pod)),
        Subject::Endpoints(own) => Some(format!("endpoint {}", own.name)),
        _ => None,
    }
}
