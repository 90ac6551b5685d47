//! RRsets that files stated and no longer state: which are removed; and what an apply notes of what files state now.
//!
//! Comes in: what claims which RRset, as applies noted it, and what files claim now. Goes out: what is removed, and news for
//! the state.
//!
//! Only own RRsets are removed, and only where it is known that no file states them: while an entry of the project's sources
//! is bad, or a source is unknown, nothing is.

use std::collections::{BTreeSet, HashMap};

use super::act::{RuleAct, RuleActor};
use super::context::RuleContext;
use super::own;
use super::protect::{self, Protection};
use super::statements::RrsetStatement;
use super::subject_standing::{SubjectStanding, SubjectStandings};
use crate::change::Rule;
use crate::claim::{EndpointName, OrphanName, RecordName, Subject};
use crate::diag::Origin;
use crate::dns::{Name, Rtype};
use crate::inventory::model::{Policy, ProjectFile, ProjectIndex};
use crate::inventory::stated::{EntryContent, RecordSource, StatedDocument};
use crate::live::LiveRrset;

/// A manifest or zone file that an apply noted, as far as it is there now.
struct NotedDocument<'c, 'n> {
    /// Its source.
    source: &'c RecordSource,
    /// The manifest or file, where it is there.
    document: Option<&'c StatedDocument>,
    /// Its namespace and name, where it is a manifest.
    manifest: Option<(&'n str, &'n str)>,
}

/// The manifests and zone files that are there, by what applies note of them.
struct DocumentIndex<'c> {
    /// The sources.
    sources: &'c [RecordSource],
    /// The documents.
    documents: HashMap<String, &'c StatedDocument>,
}

impl<'c> DocumentIndex<'c> {
    /// Collects them.
    fn of(context: &RuleContext<'c>) -> DocumentIndex<'c> {
        let stated = &context.inventory.stated;
        let of_document =
            |document: &'c StatedDocument| (stated.sources[usize::from(document.source)].noted(&document.by), document);
        DocumentIndex { sources: &stated.sources, documents: stated.documents.iter().map(of_document).collect() }
    }

    /// Finds what an apply noted; none where its source is no longer configured.
    fn find<'n>(&self, noted_by: &'n str) -> Option<NotedDocument<'c, 'n>> {
        let (name, rest) = noted_by.split_once('/')?;
        let source = self.sources.iter().find(|source| source.name == name)?;
        let document = self.documents.get(noted_by).copied();
        Some(NotedDocument { source, document, manifest: rest.split_once('/') })
    }

    /// Whether it is there, and all of it could be read.
    fn is_whole(&self, noted_by: &str) -> bool {
        self.documents.get(noted_by).is_some_and(|document| document.is_whole)
    }
}

/// Removes own RRsets that files stated and no longer state.
///
/// Under `repair` those whose manifest or zone file is still there; under `sync` also those at names that nothing
/// has now.
pub fn remove(context: &RuleContext<'_>, standings: &SubjectStandings) -> Vec<RuleAct> {
    let (mut acts, index) = (Vec::new(), DocumentIndex::of(context));
    for (name, rtype, by) in context.statements.iter() {
        let is_kept =
            context.stated.on(name.as_name(), rtype).next().is_some() || context.stated.holds(name.as_name(), rtype);
        if is_kept {
            continue;
        }
        let Some(found) = context.live.stated_rrset(name.as_name(), rtype) else { continue };
        if !own::is_own(context, found) || is_spared(context, name, rtype) {
            continue;
        }
        let documents: Vec<NotedDocument<'_, '_>> = by.iter().filter_map(|by| index.find(by)).collect();
        // What `record_types` leaves out is neither created nor deleted.
        let is_left_out =
            |noted: &NotedDocument<'_, '_>| noted.source.types.as_ref().is_some_and(|types| !types.contains(&rtype));
        if documents.iter().any(is_left_out) {
            continue;
        }
        let Some((removal, project)) = removal(context, standings, name, found, &documents) else { continue };
        let Removal { subject, rule, origin } = removal;
        let actor = RuleActor { subject, project, by_right: false };
        let removed =
            found.rrset.rdata().map(|rdata| RuleAct::removal(found, rdata.to_rdata(), rule, actor.clone(), origin));
        acts.extend(removed);
    }
    acts
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
    standings: &SubjectStandings,
    name: &Name,
    found: LiveRrset<'_>,
    documents: &[NotedDocument<'_, '_>],
) -> Option<(Removal, ProjectIndex)> {
    let of_nobody = || {
        let pool = context.pool_of(found.zone).clone();
        Subject::Orphan(OrphanName { pool, name: name.clone() })
    };
    let present = documents.iter().find(|noted| noted.document.is_some_and(|document| document.is_whole));
    if let Some(noted) = present {
        let project = noted.source.project;
        let policy = policy(context, project)?;
        if !matches!(policy, Policy::Repair | Policy::Sync) {
            return None;
        }
        let origin = noted.document.map(|document| document.origin);
        let own = subject_of(noted, name);
        let removal = match context.stated.place_of(&own) {
            // A subject that is blocked or skipped keeps all that it has.
            Some(place) if !matches!(standings.stated[place], SubjectStanding::Open(_)) => return None,
            Some(_) => Removal { subject: own, rule: Rule::NotStated, origin },
            None => Removal { subject: of_nobody(), rule: Rule::Orphan, origin },
        };
        return Some((removal, project));
    }
    let noted = documents.first()?;
    let project = noted.source.project;
    let is_free =
        !context.stated.has_name(name.as_name()) && !context.names.has_host(context.inventory, name.as_name());
    let is_of_project = context.admin(project).is_some_and(|admin| admin.contains(name.as_name()));
    let removes = policy(context, project) == Some(Policy::Sync)
        && is_free
        && is_of_project
        && documents.iter().all(|noted| noted.document.is_none());
    let origin = context.settings(project).map(|settings| settings.policy_origin);
    removes.then(|| (Removal { subject: of_nobody(), rule: Rule::Orphan, origin }, project))
}

/// The subject that a manifest or zone file has at a name.
fn subject_of(noted: &NotedDocument<'_, '_>, name: &Name) -> Subject {
    let (source, name) = (noted.source.name.clone(), name.clone());
    match noted.manifest {
        Some((namespace, manifest)) => Subject::Endpoint(Box::new(EndpointName {
            source,
            namespace: namespace.to_owned(),
            manifest: manifest.to_owned(),
            name,
        })),
        None => Subject::Record(Box::new(RecordName { source, name })),
    }
}

/// The policy by which a project's files remove what they no longer state; none where nothing is removed now.
fn policy(context: &RuleContext<'_>, project: ProjectIndex) -> Option<Policy> {
    let is_allowed = context.admin(project).is_some_and(|admin| admin.automation_allowed);
    let settings = match &context.inventory.projects[project.0 as usize].file {
        ProjectFile::Good(settings) if settings.automation && is_allowed => settings,
        _ => return None,
    };
    let runs =
        !context.files_rest(project) && !context.is_tripped(project) && context.selection.includes_stated(project);
    runs.then_some(settings.policy)
}

/// Whether no rule removes an RRset: what a zone needs to be served, and what the operator protects.
fn is_spared(context: &RuleContext<'_>, name: &Name, rtype: Rtype) -> bool {
    match protect::protection(context, name.as_name()) {
        None => name.as_name().is_wildcard() && rtype == Rtype::NS,
        Some(Protection::Apex) => matches!(rtype, Rtype::SOA | Rtype::NS),
        Some(Protection::NameServer(_) | Protection::Target(_)) => matches!(rtype, Rtype::A | Rtype::AAAA),
        Some(Protection::Listed(_) | Protection::Marker) => true,
    }
}

/// What an apply notes: all that open subjects claim now, and what it forgets of what was noted.
///
/// Forgotten is what another manifest claims while the one that was noted is there and does not; and what is no longer live.
pub fn news(context: &RuleContext<'_>, standings: &SubjectStandings) -> Vec<RrsetStatement> {
    let inventory = context.inventory;
    let mut now: BTreeSet<(&Name, Rtype, String)> = BTreeSet::new();
    for entry in &inventory.stated.entries {
        let source = &inventory.stated.sources[usize::from(entry.source)];
        if let EntryContent::Rrset(rrset) = &entry.content {
            now.insert((&entry.owner, rrset.rtype, source.noted(&entry.by)));
        }
    }
    let (mut news, index) = (Vec::new(), DocumentIndex::of(context));
    for (subject, standing) in context.stated.subjects.iter().zip(&standings.stated) {
        if !matches!(standing, SubjectStanding::Open(_)) || !context.selection.includes_stated(subject.project) {
            continue;
        }
        let (by, name) = (inventory.stated.sources[usize::from(subject.source)].noted(&subject.by), subject.name());
        for own in &subject.claims {
            let rtype = own.claim.rtype;
            if !context.statements.has(name, rtype, &by) {
                news.push(RrsetStatement { by: by.clone(), is_kept: true, name: name.clone(), rtype });
            }
        }
    }
    if context.selection.is_all() {
        for (name, rtype, by) in context.statements.iter() {
            let is_claimed = context.stated.on(name.as_name(), rtype).next().is_some();
            let is_live = context.live.stated_rrset(name.as_name(), rtype).is_some();
            let is_known =
                context.live.zone_of(name.as_name()).is_some_and(|zone| context.live.zone(zone).contents().is_some());
            let is_over = |by: &String| {
                let is_said = now.contains(&(name, rtype, by.clone()));
                !is_said && ((is_claimed && index.is_whole(by)) || (is_known && !is_live))
            };
            let over = by.iter().filter(|by| is_over(by));
            news.extend(over.map(|by| RrsetStatement { by: by.clone(), is_kept: false, name: name.clone(), rtype }));
        }
    }
    news.sort();
    news.dedup();
    news
}
