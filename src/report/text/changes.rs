//! The changes, by project and host.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::super::data::{self, Line};
use super::super::templates::{TemplateError, Templates};
use super::super::words::Explained as _;
use super::TextOptions;
use crate::diag::sanitize;
use crate::dns::reverse::address_of;
use crate::dns::{Name, NameRef, Rrset, Rtype};
use crate::inventory::value::Inv;
use crate::plan::{Change, ChangeKind, Plan, Reason, Rule};
use crate::report::paint::Paint;

/// A project that has changes.
#[derive(Serialize)]
pub struct ProjectView {
    /// Its id.
    project: String,
    /// How many hosts have changes; orphans are nobody's.
    hosts: usize,
    /// How many changes there are.
    changes: usize,
    /// What `plan-host.txt` makes of each host, one after another.
    text: String,
    /// How many hosts are not shown.
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
    /// The project, where it does not stand above.
    project: Option<String>,
    /// The inventory number; none for orphans.
    host: Option<u64>,
    /// The backbone name, as far as the changes show it.
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
    /// The RRset: `AAAA a.example.net.` or `PTR of 2a02:6b8::1`.
    rrset: String,
    /// The TTL, or the old one and the new one.
    ttl: String,
    /// The data, old above new.
    lines: Vec<Line>,
    /// Why, with the evidence.
    reasons: Vec<String>,
    /// The other hosts that share the change.
    also: Vec<u64>,
}

/// The changes that remove what nobody has.
#[derive(Serialize)]
pub struct NobodyView {
    /// What `plan-host.txt` makes of each host, or of the orphans of a project, one after another; empty where there are none.
    text: String,
    /// How many such groups are not shown.
    more_hosts: usize,
    /// How many changes they have.
    more_changes: usize,
}

/// Renders the changes of all projects, but for those that remove what nobody has.
pub fn projects(
    plan: &Plan,
    templates: &Templates,
    options: &TextOptions,
    paint: &Paint,
) -> Result<Vec<ProjectView>, TemplateError> {
    let Places { homes, of_nobody } = Places::find(plan);
    let mut changes: Vec<(&str, &Change)> = plan
        .changes
        .iter()
        .filter(|change| !of_nobody.contains(&rrset_of(change)))
        .map(|change| (change.host.and_then(|host| homes.get(&host).copied()).unwrap_or(&change.project), change))
        .collect();
    changes.sort_by_key(|(project, change)| (*project, change.host.is_none(), change.host));
    let of_project = changes.chunk_by(|a, b| a.0 == b.0);
    of_project
        .map(|of_project| {
            let changes: Vec<&Change> = of_project.iter().map(|(_, change)| *change).collect();
            let groups: Vec<&[&Change]> = changes.chunk_by(|a, b| a.host == b.host).collect();
            let hosts = groups.iter().filter(|group| group[0].host.is_some()).count();
            let Groups { text, more_hosts, more_changes } = shown(&groups, Heading::Host, (templates, options, paint))?;
            let project = sanitize(of_project[0].0);
            Ok(ProjectView { project, hosts, changes: changes.len(), text, more_hosts, more_changes })
        })
        .collect()
}

/// Renders the changes that remove what nobody has, of all projects.
pub fn nobody(
    plan: &Plan,
    templates: &Templates,
    options: &TextOptions,
    paint: &Paint,
) -> Result<NobodyView, TemplateError> {
    let Places { of_nobody, .. } = Places::find(plan);
    let changes: Vec<&Change> = plan.changes.iter().filter(|change| of_nobody.contains(&rrset_of(change))).collect();
    let groups: Vec<&[&Change]> = changes.chunk_by(|a, b| (&a.project, a.host) == (&b.project, b.host)).collect();
    let Groups { text, more_hosts, more_changes } =
        shown(&groups, Heading::HostAndProject, (templates, options, paint))?;
    Ok(NobodyView { text, more_hosts, more_changes })
}

/// Where changes are shown.
struct Places<'a> {
    /// The project below which a host stands: of several the one of its records that are to be.
    homes: HashMap<Inv, &'a str>,
    /// The RRsets that nobody has: they lose records for no other reason, and their host has no changes beside. With them
    /// go the TXT of the registry that record them.
    of_nobody: HashSet<(Rtype, Name)>,
}

impl<'a> Places<'a> {
    /// Looks at what each host has in a plan.
    fn find(plan: &'a Plan) -> Places<'a> {
        let is_given_up =
            |change: &&Change| change.reasons.iter().all(|reason| matches!(reason.rule, Rule::Released | Rule::Orphan));
        let given_up: HashSet<(Rtype, Name)> = plan.changes.iter().filter(is_given_up).map(rrset_of).collect();
        let others = plan.changes.iter().filter(|change| !given_up.contains(&rrset_of(change)));
        let (lasting, passing): (Vec<&Change>, Vec<_>) = others.partition(|change| change.kind.after().is_some());
        let mut homes = HashMap::new();
        for change in lasting.into_iter().chain(passing) {
            if let Some(host) = change.host {
                homes.entry(host).or_insert(change.project.as_str());
            }
        }
        // What a host gave up stands with the name that it got, so that a rename is seen whole.
        let stays = |change: &&Change| change.host.is_some_and(|host| homes.contains_key(&host));
        let with_hosts: HashSet<(Rtype, Name)> = plan.changes.iter().filter(stays).map(rrset_of).collect();
        Places { of_nobody: given_up.difference(&with_hosts).cloned().collect(), homes }
    }
}

/// The RRset of a change; of a TXT of the registry the one that it records.
fn rrset_of(change: &Change) -> (Rtype, Name) {
    change.registered().unwrap_or_else(|| (change.key.rtype, change.key.owner.as_name().to_name()))
}

/// Groups of changes, rendered as far as they are shown.
struct Groups {
    /// The text.
    text: String,
    /// How many are not shown.
    more_hosts: usize,
    /// How many changes they have.
    more_changes: usize,
}

/// What stands above the changes of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    /// The host; the project stands above.
    Host,
    /// The host and its project.
    HostAndProject,
}

/// Renders groups of changes, as many as are shown.
fn shown(
    groups: &[&[&Change]],
    heading: Heading,
    (templates, options, paint): (&Templates, &TextOptions, &Paint),
) -> Result<Groups, TemplateError> {
    let (shown, rest) = groups.split_at(options.max_hosts.unwrap_or(groups.len()).min(groups.len()));
    let mut text = String::new();
    for group in shown {
        let project = (heading == Heading::HostAndProject).then(|| sanitize(&group[0].project));
        let view = HostView { project, ..host(group, options, paint) };
        text.push_str(&templates.render("plan-host.txt", view)?);
    }
    let more_changes = rest.iter().map(|group| group.len()).sum();
    Ok(Groups { text, more_hosts: rest.len(), more_changes })
}

/// The changes of one host, or of all orphans of a project.
fn host<'a>(changes: &[&Change], options: &TextOptions, paint: &'a Paint) -> HostView<'a> {
    let name = changes[0].host.and_then(|_| backbone(changes)).map(NameRef::to_name);
    let mut evidence = None;
    let former = name.as_ref().map(|name| former(changes, name.as_name())).unwrap_or_default();
    HostView {
        paint,
        width: options.width,
        project: None,
        host: changes[0].host.map(|inv| inv.0),
        name: name.as_ref().map(|name| sanitize(&name.to_string())),
        former: former.into_iter().map(|name| sanitize(&name.to_string())).collect(),
        changes: by_name(changes, name.as_ref()).into_iter().map(|change| view(change, &mut evidence, paint)).collect(),
    }
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
            let (_, registered) = rrset_of(change);
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

/// The backbone name of the host whose changes these are, where they show one of its names.
///
/// A plan does not say which name is the backbone's, but a fastbone name is always made by adding to it, so that the
/// shortest of the host's names is the backbone's, if that is among them. What an apply left that is undone is what was
/// the host's then.
fn backbone<'a>(changes: &[&'a Change]) -> Option<NameRef<'a>> {
    let own = |rule| matches!(rule, Rule::Missing | Rule::WrongAddress | Rule::Ttl);
    let names = changes.iter().flat_map(|change| {
        let acts = change.reasons.iter().any(|reason| own(reason.rule) && reason.host == change.host);
        let undone = change.kind.before().filter(|_| change.reasons.iter().any(|reason| reason.rule == Rule::Undo));
        match change.key.rtype {
            Rtype::AAAA if acts || undone.is_some() => Some(change.key.owner.as_name()),
            Rtype::PTR => undone.or(change.kind.after()).and_then(|rrset| pointed_to(change.key.rtype, rrset)),
            _ => None,
        }
    });
    names.min_by_key(|name| (name.as_wire().len(), *name))
}

/// The backbone names that the host whose changes these are gave up for `now`, sorted, where the changes show them.
///
/// Of names that are told apart by what stands before or behind a label, the shortest is the backbone's.
fn former<'a>(changes: &[&'a Change], now: NameRef<'_>) -> Vec<NameRef<'a>> {
    let gives_up = |change: &&&Change| {
        change.reasons.iter().any(|reason| reason.rule == Rule::Released && reason.host == change.host)
    };
    let names = changes.iter().filter(gives_up).filter_map(|change| match change.key.rtype {
        Rtype::AAAA => Some(change.key.owner.as_name()),
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

/// One change for the template; `evidence` is what the reason shown last rests on.
fn view<'a>(change: &'a Change, evidence: &mut Option<&'a [String]>, paint: &Paint) -> ChangeView {
    let Change { key, kind, .. } = change;
    let rrset = data::rrset_of(change);
    let (verb, ttl) = match kind {
        ChangeKind::Create { after } => ("create", after.ttl().to_string()),
        ChangeKind::Modify { before, after } if before.ttl() != after.ttl() => {
            ("modify", format!("{} -> {}", before.ttl(), after.ttl()))
        }
        ChangeKind::Modify { before, .. } => ("modify", before.ttl().to_string()),
        ChangeKind::Delete { before } => ("delete", before.ttl().to_string()),
    };
    ChangeView {
        verb,
        rrset,
        ttl,
        lines: lines(key.rtype, kind, paint),
        reasons: change.reasons.iter().map(|reason| words(reason, change.host, evidence)).collect(),
        also: change.also.iter().map(|inv| inv.0).collect(),
    }
}

/// The data of a change.
fn lines(rtype: Rtype, kind: &ChangeKind, paint: &Paint) -> Vec<Line> {
    let texts = |rrset: Option<&Rrset>| rrset.map(|rrset| rrset.rdata_texts(rtype)).unwrap_or_default();
    data::lines(&texts(kind.before()), &texts(kind.after()), paint)
}

/// A reason in words: the rule, for whom where that is another host, and the evidence.
///
/// Evidence that the reason shown just before has too is not repeated: most changes of a host rest on the same lines.
fn words<'a>(reason: &'a Reason, host: Option<Inv>, evidence: &mut Option<&'a [String]>) -> String {
    let words = reason.rule.words();
    let whose = match reason.host {
        Some(inv) if Some(inv) != host => format!(" for host {inv}"),
        _ => String::new(),
    };
    let places = match reason.evidence.as_slice() {
        [] => String::new(),
        places if evidence.replace(places) == Some(places) => " (as above)".to_owned(),
        places => format!(" ({})", sanitize(&places.join(", "))),
    };
    format!("{}{whose}: {}{places}", words.title, words.brief)
}
