//! RRsets that files stated and no longer state: which are removed; and what an apply notes of what files state now.
//!
//! Comes in: what claims which RRset, as applies noted it, and what files claim now. Goes out: what is removed, and news for
//! the state.
//!
//! Only own RRsets are removed, and only where it is known that no file states them: while an entry of the project's sources
//! is bad, or a source is unknown, nothing is.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

use super::act::{RuleAct, RuleActor};
use super::context::RuleContext;
use super::orphans::ProjectDomains;
use super::own;
use super::protect::{self, Protection};
use super::statements::{ADOPTED, NotedRrset, RrsetStatement};
use super::subject_standing::{SubjectStanding, SubjectStandings};
use crate::change::{BlockedSubject, Notice, NoticeCode, Rule};
use crate::claim::{OrphanName, RrsetClaim, Subject};
use crate::desired::records::subject_of;
use crate::diag::Origin;
use crate::dns::{Name, Rtype};
use crate::inventory::model::{Policy, ProjectFile, ProjectIndex};
use crate::inventory::stated::{DocumentIndex, EntryContent, NotedDocument, RecordSource, RecordState, StatedRecords};
use crate::live::LiveRrset;

/// Removes own RRsets that files stated and no longer state.
///
/// Under `repair` those whose manifest or zone file is still there; under `sync` also those at names that nothing
/// has now; at none of the `resting` names, where an entry is blocked or skipped.
///
/// While an entry of the project is bad, or a source of it is not believed, nothing goes; a notice then counts what stays.
pub fn remove(context: &RuleContext<'_>, resting: &HashSet<&Name>, check: &NoteCheck) -> (Vec<RuleAct>, Vec<Notice>) {
    if context.statements.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut kept: BTreeMap<ProjectIndex, usize> = BTreeMap::new();
    let (mut acts, index) = (Vec::new(), DocumentIndex::of(&context.inventory.stated));
    let domains = ProjectDomains::of_all(context);
    for NotedRrset { name, rtype, by, has_known } in context.statements.without(&check.known) {
        // A resting name keeps all that it has: what is to take the place of an RRset may be what is blocked.
        if has_known || resting.contains(name) {
            continue;
        }
        let at = name.as_name();
        let is_kept = context.stated.on(at, rtype).next().is_some() || context.stated.leaves_alone(at, rtype);
        // What a host may claim is for its rules to decide: it may have the address now that a file had.
        if is_kept || context.has_claiming_host(name.as_name(), rtype) {
            continue;
        }
        let Some(found) = context.live.stated_rrset(name.as_name(), rtype) else { continue };
        if !own::is_own(context, found) || is_spared(context, name, rtype) {
            continue;
        }
        let documents: Vec<NotedDocument<'_>> = by.iter().filter_map(|by| index.find(by)).collect();
        // What `record_types` leaves out is neither created nor deleted.
        let is_left_out =
            |noted: &NotedDocument<'_>| noted.source.types.as_ref().is_some_and(|types| !types.contains(&rtype));
        if documents.iter().any(is_left_out) {
            continue;
        }
        if context.stated.is_held(at, rtype) {
            let source = documents.first().map(|noted| noted.source);
            if let Some(source) = source.filter(|source| removes(context, source)) {
                *kept.entry(source.project).or_default() += 1;
            }
            continue;
        }
        let removal = if documents.is_empty() && by.contains(&ADOPTED) {
            adopted_removal(context, name, found, &domains)
        } else {
            removal(context, name, found, &documents)
        };
        let Some((removal, project)) = removal else { continue };
        let Removal { subject, rule, origin } = removal;
        if !context.selection.includes_subject(&subject, project) {
            continue;
        }
        if context.files_rest_at(project, name.as_name()) {
            *kept.entry(project).or_default() += 1;
            continue;
        }
        let actor = RuleActor { subject, project, by_right: false };
        let removed =
            found.rrset.rdata().map(|rdata| RuleAct::removal(found, rdata.to_rdata(), rule, actor.clone(), origin));
        acts.extend(removed);
    }
    (acts, kept.into_iter().map(|(project, count)| rests(context, project, count)).collect())
}

/// The notice that RRsets stay which no file states any longer.
fn rests(context: &RuleContext<'_>, project: ProjectIndex, count: usize) -> Notice {
    let id = context.project_id(project);
    let (rrsets, stay) = if count == 1 { ("RRset", "stays") } else { ("RRsets", "stay") };
    let message = format!(
        "{count} {rrsets} of project `{id}` {stay} although no file that can be read states it: an entry is bad, or a \
         source is not believed, and may state it"
    );
    Notice { code: NoticeCode::RemovalsRest, name: id.to_owned(), subject: None, message }
}

/// The names at which an entry is blocked or skipped.
pub fn resting_names<'c>(
    context: &RuleContext<'c>,
    standings: &SubjectStandings,
    blocked: &'c [BlockedSubject],
) -> HashSet<&'c Name> {
    let is_open = |place: usize| matches!(standings.stated[place], SubjectStanding::Open(_));
    let resting = context.stated.of_files().filter(|(place, _)| !is_open(*place));
    let resting = resting.filter_map(|(_, stated)| stated.subject.stated_name());
    resting.chain(blocked.iter().filter_map(|blocked| blocked.subject.stated_name())).collect()
}

/// How an RRset is removed.
struct Removal {
    /// For which subject.
    subject: Subject,
    /// By which rule.
    rule: Rule,
    /// The line that it is based on.
    origin: Option<Origin>,
}

/// Whether, for whom and why an RRset is removed that no file states; and the project.
fn removal(
    context: &RuleContext<'_>,
    name: &Name,
    found: LiveRrset<'_>,
    documents: &[NotedDocument<'_>],
) -> Option<(Removal, ProjectIndex)> {
    let present = documents.iter().find_map(|noted| {
        let document = noted.document.filter(|document| document.is_whole)?;
        Some((noted.source, document))
    });
    if let Some((source, document)) = present {
        let project = source.project;
        let is_of_project = context.admin(project).is_some_and(|admin| admin.contains(name.as_name()));
        if !removes(context, source) || !is_of_project {
            return None;
        }
        let origin = Some(document.origin);
        let own = subject_of(source, &document.by, name);
        let removal = match context.stated.place_of(&own) {
            Some(_) => Removal { subject: own, rule: Rule::NotStated, origin },
            None => Removal { subject: orphan(context, name, found), rule: Rule::Orphan, origin },
        };
        return Some((removal, project));
    }
    let noted = documents.first()?;
    let project = noted.source.project;
    let is_of_project = context.admin(project).is_some_and(|admin| admin.contains(name.as_name()));
    let are_gone = documents.iter().all(|noted| noted.document.is_none());
    let policy = policy_of(context, noted.source);
    let removal = orphaned(context, name, found, (project, policy)).filter(|_| is_of_project && are_gone);
    Some((removal?, project))
}

/// The same of an RRset that was taken over from another owner: it is of the project in whose domain it is.
fn adopted_removal(
    context: &RuleContext<'_>,
    name: &Name,
    found: LiveRrset<'_>,
    domains: &ProjectDomains<'_>,
) -> Option<(Removal, ProjectIndex)> {
    let project = domains.project_of(name.as_name())?;
    let policy = policy(context, project);
    Some((orphaned(context, name, found, (project, policy))?, project))
}

/// How an RRset is removed that nothing claims: under `sync`, at a name that nothing has, and that other records do not
/// point to (rules 3 and 8).
fn orphaned(
    context: &RuleContext<'_>,
    name: &Name,
    found: LiveRrset<'_>,
    (project, policy): (ProjectIndex, Option<Policy>),
) -> Option<Removal> {
    let at = name.as_name();
    let is_free = !context.stated.has_name(at) && !context.names.has_host(context.inventory, at);
    let is_spared = protect::is_untouchable(context, at) || protect::protection(context, at).is_some();
    let removes = is_free && !is_spared && policy == Some(Policy::Sync);
    let origin = context.settings(project).map(|settings| settings.policy_origin);
    removes.then(|| Removal { subject: orphan(context, name, found), rule: Rule::Orphan, origin })
}

/// The subject of an RRset that no subject claims.
fn orphan(context: &RuleContext<'_>, name: &Name, found: LiveRrset<'_>) -> Subject {
    Subject::Orphan(OrphanName { pool: context.pool_of(found.zone).clone(), name: name.clone() })
}

/// Whether a source removes what it no longer states.
fn removes(context: &RuleContext<'_>, source: &RecordSource) -> bool {
    matches!(policy_of(context, source), Some(Policy::Repair | Policy::Sync))
}

/// The policy by which a source removes what it no longer states: that of its project, or of the DNS update record; none
/// where nothing is removed now.
fn policy_of(context: &RuleContext<'_>, source: &RecordSource) -> Option<Policy> {
    let of_project = policy(context, source.project)?;
    match source.record.as_ref().map(|record| record.state) {
        None => Some(of_project),
        Some(RecordState::Open(policy)) => Some(policy),
        Some(RecordState::Unknown | RecordState::Idle) => None,
    }
}

/// The policy by which a project's files remove what they no longer state; none where nothing is removed now.
fn policy(context: &RuleContext<'_>, project: ProjectIndex) -> Option<Policy> {
    let is_allowed = context.admin(project).is_some_and(|admin| admin.automation_allowed);
    let settings = match &context.inventory.projects[project.0 as usize].file {
        ProjectFile::Good(settings) if settings.automation && is_allowed => settings,
        _ => return None,
    };
    (!context.is_tripped(project)).then_some(settings.policy)
}

/// Whether no rule removes an RRset: what a zone needs to be served, and what the operator protects.
fn is_spared(context: &RuleContext<'_>, name: &Name, rtype: Rtype) -> bool {
    match protect::protection(context, name.as_name()) {
        None => name.as_name().is_wildcard() && rtype == Rtype::NS,
        Some(Protection::Apex) => matches!(rtype, Rtype::SOA | Rtype::NS),
        Some(Protection::NameServer(_) | Protection::Target(_)) => matches!(rtype, Rtype::A | Rtype::AAAA),
        Some(Protection::Listed(_) | Protection::Marker | Protection::Opaque(_)) => true,
    }
}

/// What of the notes still holds, and which claims have none.
pub struct NoteCheck {
    /// Which notes are of what claims the RRset now, by their places.
    known: Vec<bool>,
    /// The claims without a note, each with the place of its subject.
    fresh: Vec<(usize, usize)>,
}

impl NoteCheck {
    /// Compares the notes with all claims.
    pub fn of(context: &RuleContext<'_>) -> NoteCheck {
        let statements = context.statements;
        let mut check = NoteCheck { known: vec![false; statements.count()], fresh: Vec::new() };
        // What pods claim is known by their rows alone.
        for (place, subject) in context.stated.of_files() {
            let Some((source, by)) = subject.stated_in(context.inventory) else { continue };
            for (number, own) in subject.claims.iter().enumerate() {
                let name = own.claim.owner.as_name();
                match statements.place_of(name, own.claim.rtype, |note| source.is_noted(by, note)) {
                    Some(note) => check.known[note] = true,
                    None => check.fresh.push((place, number)),
                }
            }
        }
        check
    }
}

/// What an apply notes: what open subjects claim now of RRsets that are own, or that it creates; and what it forgets of what
/// was noted.
///
/// Forgotten is what another manifest claims while the one that was noted is there and does not; and what is no longer live.
pub fn news(context: &RuleContext<'_>, standings: &SubjectStandings, check: &NoteCheck) -> Vec<RrsetStatement> {
    let inventory = context.inventory;
    let mut news = Vec::new();
    for (place, number) in &check.fresh {
        let (subject, standing) = (context.stated.subject(*place), &standings.stated[*place]);
        let is_selected = context.selection.includes_subject(&subject.subject, subject.project);
        if !matches!(standing, SubjectStanding::Open(_)) || !is_selected {
            continue;
        }
        let RrsetClaim { owner: name, rtype, .. } = &subject.claims[*number].claim;
        // What is another's stays another's, and is never removed.
        let found = context.live.stated_rrset(name.as_name(), *rtype);
        if found.is_none_or(|found| own::is_own(context, found)) {
            let Some((source, by)) = subject.stated_in(inventory) else { continue };
            news.push(RrsetStatement { by: source.noted(by), is_kept: true, name: name.clone(), rtype: *rtype });
        }
    }
    if context.selection.is_all() && !context.statements.is_empty() {
        forget(context, check, &mut news);
    }
    news.sort();
    news.dedup();
    news
}

/// Adds what an apply forgets of what was noted.
fn forget(context: &RuleContext<'_>, check: &NoteCheck, news: &mut Vec<RrsetStatement>) {
    let (stated, index) = (&context.inventory.stated, DocumentIndex::of(&context.inventory.stated));
    // What counts for nothing, and what a second zone file says of a name, is claimed by no subject. It is rarely asked for.
    let entries: OnceCell<HashSet<(&Name, Rtype, String)>> = OnceCell::new();
    let entries = || entries.get_or_init(|| said_by_entries(stated));
    let is_whole = |by: &str| index.find(by).and_then(|noted| noted.document).is_some_and(|document| document.is_whole);
    for NotedRrset { name, rtype, by, .. } in context.statements.without(&check.known) {
        let at = name.as_name();
        let is_said = |by: &str| entries().contains(&(name, rtype, by.to_owned()));
        let is_claimed = || context.stated.on(at, rtype).next().is_some();
        let is_gone = || {
            let zone = context.live.zone_of(at);
            let is_known = zone.is_some_and(|zone| context.live.zone(zone).contents().is_some());
            // What cannot be read now may state it still.
            is_known && context.live.stated_rrset(at, rtype).is_none() && !context.stated.holds(at, rtype)
        };
        let is_over = |by: &&str| !is_said(by) && ((is_claimed() && is_whole(by)) || is_gone());
        let over = by.into_iter().filter(is_over);
        news.extend(over.map(|by| RrsetStatement { by: by.to_owned(), is_kept: false, name: name.clone(), rtype }));
    }
}

/// What all entries say, with what states it.
fn said_by_entries(stated: &StatedRecords) -> HashSet<(&Name, Rtype, String)> {
    let said = stated.entries.iter().filter_map(|entry| {
        let EntryContent::Rrset(rrset) = &entry.content else { return None };
        Some((&entry.owner, rrset.rtype, stated.sources[usize::from(entry.source)].noted(&entry.by)))
    });
    said.collect()
}
