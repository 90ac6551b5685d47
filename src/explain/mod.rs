//! Why a host, a name or an address has the records that it has: the whole chain, and what is decided about it.
//!
//! Comes in: what a decision was made from (the context, the standings of all hosts) and the decision itself, with the
//! question. Goes out: an [`Explanation`] of plain values. Nothing is decided here, and no rule is written a second
//! time: every answer is that of the function that makes a plan. Pure.

pub mod model;

pub mod subject;

pub mod host_name;

pub mod published;

mod made;

mod site;

mod reports;

mod changes;

mod interface;

mod decision;

mod host;

mod name;

mod address;

use std::fmt;

use crate::change::{BlockedSubject, Change, DelayedRrset, Notice, NoticeCode, SkippedSubject};
use crate::diag::{Diagnostics, Origin};
use crate::diff::left_behind::LeftOrphan;
use crate::diff::{RuleContext, Selection, SubjectStandings};
use crate::inventory::value::{Duration, Time};
use crate::live::{Live, PoolCopies};

pub use host_name::find_hosts;
pub use model::Explanation;
use published::PublishedRrset;
pub use subject::{ExplainQuestion, in_domains};

/// A decision, and what it was made from.
#[derive(Clone, Copy)]
pub struct ExplainCase<'a> {
    /// What the rules may look at.
    pub context: &'a RuleContext<'a>,
    /// The standings of all hosts.
    pub standings: &'a SubjectStandings,
    /// The copies of the pools that have several targets.
    pub copies: &'a [PoolCopies],
    /// DNS as each DNS update record sees it, by the names of the records.
    pub records: &'a [(String, Live)],
    /// What was decided.
    pub decision: ExplainedDecisions<'a>,
    /// What is wrong in the inventory's files.
    pub diagnostics: &'a Diagnostics,
    /// Decides once more, for another selection of hosts.
    pub again: &'a dyn Fn(&Selection) -> OtherDecision,
    /// What the journal says of the name or the address that is asked for, or of the host that the inventory lacks.
    pub published: &'a [PublishedRrset],
}

/// What was decided.
#[derive(Debug, Clone, Copy)]
pub struct ExplainedDecisions<'a> {
    /// The changes.
    pub changes: &'a [Change],
    /// The blocked hosts.
    pub blocked: &'a [BlockedSubject],
    /// The skipped hosts.
    pub skipped: &'a [SkippedSubject],
    /// What was found and left.
    pub notices: &'a [Notice],
    /// The RRsets at names that no host has, and that wait to be deleted.
    pub waiting: &'a [DelayedRrset],
    /// The own RRsets of names that no host has, and that are left.
    pub left_behind: &'a [LeftOrphan],
}

/// What would be decided for another selection.
#[derive(Debug, Clone)]
pub struct OtherDecision {
    /// The changes.
    pub changes: Vec<Change>,
    /// The standings that all hosts would have.
    pub standings: SubjectStandings,
}

/// Answers a question about a decision.
pub fn explain(case: &ExplainCase<'_>, question: &ExplainQuestion) -> Explanation {
    // They are shown with the name or the host that they are about.
    let is_of_names = |notice: &&Notice| match notice.code {
        NoticeCode::ForeignName
        | NoticeCode::Protected
        | NoticeCode::PostState
        | NoticeCode::EditedSince
        | NoticeCode::CopyBlocked
        | NoticeCode::CopiesDiffer
        | NoticeCode::CannotCompare
        | NoticeCode::SlowTarget
        | NoticeCode::FormerNames
        | NoticeCode::MigratesOften
        | NoticeCode::AddressShared
        | NoticeCode::WithoutEffect
        | NoticeCode::EntryLost
        | NoticeCode::DryRun
        | NoticeCode::Filtered
        | NoticeCode::OwnerKept => true,
        NoticeCode::TargetUnknown => notice.subject.is_some(),
        _ => false,
    };
    let unseen = case.decision.notices.iter().filter(|notice| !is_of_names(notice));
    let unseen = unseen.map(|notice| notice.message.clone()).collect();
    let explanation = match question {
        ExplainQuestion::Host(inv) => host::explain(case, *inv),
        ExplainQuestion::Name(name) => name::explain(case, name),
        ExplainQuestion::Address(address) => address::explain(case, *address),
        ExplainQuestion::Left(inv) => published::explain(case, *inv),
    };
    Explanation { unseen, ..explanation }
}

impl ExplainCase<'_> {
    /// A place as `file:line`.
    fn line(&self, origin: Origin) -> String {
        self.context.inventory.files.place(origin).to_string()
    }

    /// How long ago something was; nothing where it is in the future, by as much as clocks may differ.
    fn age(&self, time: Time) -> Duration {
        self.context.now.since(time).unwrap_or(Duration::from_secs(0))
    }

    /// Until when a name that was given up stays taken; none where that is over.
    fn taken_until(&self, released: Time) -> Option<Time> {
        let until = released.plus(self.context.inventory.config.name_cooldown);
        (self.context.now <= until).then_some(until)
    }
}

/// The answer about a name or an address that several hosts claim.
fn claimed_by(what: &dyn fmt::Display, hosts: &[u64]) -> String {
    let list: Vec<String> = hosts.iter().map(u64::to_string).collect();
    format!(
        "several hosts claim {what}: {}. While that is so, none of them gets it. Run `zonewright explain` for each of \
         them.",
        list.join(", ")
    )
}
