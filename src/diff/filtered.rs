//! What a DNS update record does not do, and says: what its filter hides is neither created nor deleted, and what one with
//! `dry-run` would do is not made. Pure.

use std::collections::BTreeSet;

use super::judge::FleetDecisions;
use super::statements::KeptStatements;
use crate::change::{Change, ChangeKind, Notice, NoticeCode};
use crate::claim::Subject;
use crate::dns::{Name, NameRef, RrKey};
use crate::inventory::stated::StatedRecords;
use crate::inventory::update_record::{RecordPool, UpdateRecord};
use crate::live::Live;

/// What a record publishes, and what it published.
#[derive(Debug, Clone, Copy)]
pub struct PublishedNames<'a> {
    /// What it is to publish.
    pub stated: &'a StatedRecords,
    /// What applies noted that it published.
    pub noted: &'a KeptStatements,
    /// Its zones, as they are.
    pub live: &'a Live,
}

/// Takes all from what was decided for a record that its filter hides.
pub fn without_hidden(
    record: &UpdateRecord,
    PublishedNames { stated, noted, live }: PublishedNames<'_>,
    mut decided: FleetDecisions,
) -> FleetDecisions {
    let Some(RecordPool { filter, .. }) = &record.pool else { return decided };
    let is_hidden = |name: NameRef<'_>| filter.hides(name);
    let mut hidden: BTreeSet<Name> =
        stated.entries.iter().map(|entry| &entry.owner).filter(|name| is_hidden(name.as_name())).cloned().collect();
    // Where the zones of a record are those of its filter, what it published elsewhere is in none of them.
    let is_elsewhere = |name: &&Name| is_hidden(name.as_name()) && live.zone_of(name.as_name()).is_none();
    hidden.extend(noted.iter().map(|(name, ..)| name).filter(is_elsewhere).cloned());
    decided.changes.retain(|change| {
        // A TXT of the registry goes with the RRset that it records.
        let (_, name) = change.meant_rrset();
        let is_shown = !is_hidden(name.as_name());
        hidden.extend((!is_shown).then_some(name));
        is_shown
    });
    let is_shown = |subject: &Subject| !name_of(subject).is_some_and(|name| is_hidden(name.as_name()));
    decided.blocked.retain(|blocked| is_shown(&blocked.subject));
    decided.skipped.retain(|skipped| is_shown(&skipped.subject));
    decided.notices.retain(|notice| notice.subject.as_ref().is_none_or(is_shown));
    decided.waiting.retain(|waiting| !is_hidden(waiting.key.owner.as_name()));
    decided.left_behind.retain(|left| !is_hidden(left.orphan.name.as_name()));
    decided.statements.retain(|statement| !is_hidden(statement.name.as_name()));
    decided.notices.extend(hidden.into_iter().map(|name| notice(&record.name, &name)));
    decided
}

/// Takes the changes of a record that is never applied, and says what it would do; of TXT of the registry nothing is said.
pub fn without_dry_run(record: &UpdateRecord, mut decided: FleetDecisions) -> FleetDecisions {
    if !record.pool.as_ref().is_some_and(|own| own.is_dry_run) {
        return decided;
    }
    let name = &record.name;
    let would = |change: &Change| {
        let verb = match change.kind {
            ChangeKind::Create { .. } => "created",
            ChangeKind::Modify { .. } => "modified",
            ChangeKind::Delete { .. } => "deleted",
        };
        let RrKey { owner, rtype } = &change.key;
        let data = change.kind.after().or(change.kind.before()).map(|rrset| rrset.rdata_texts(*rtype).join(", "));
        let message = format!(
            "the DNS update record `{name}` has `dry-run`: {rtype} of `{owner}` ({}) is not {verb}",
            data.unwrap_or_default()
        );
        Notice { code: NoticeCode::DryRun, name: owner.to_string(), subject: Some(change.subject.clone()), message }
    };
    let changes = std::mem::take(&mut decided.changes);
    decided.notices.extend(changes.iter().filter(|change| !change.is_registry()).map(would));
    decided.statements.clear();
    decided
}

/// The name that a subject of files is about.
fn name_of(subject: &Subject) -> Option<&Name> {
    match subject {
        Subject::Orphan(orphan) => Some(&orphan.name),
        stated => stated.stated_name(),
    }
}

/// The notice about a hidden name.
fn notice(record: &str, name: &Name) -> Notice {
    let message = format!(
        "the filter of the DNS update record `{record}` hides `{name}`: nothing is created or deleted there; widen \
         `domain-filter`, or publish the name by another record"
    );
    Notice { code: NoticeCode::Filtered, name: name.to_string(), subject: None, message }
}
