//! Changes of RRsets that a person, or another program, edited after the latest apply that wrote them.

use super::WrittenCopy;
use crate::apply::compare::{shown_before, shown_or_nothing};
use crate::change::RrsetText;
use crate::change::{Change, Notice, NoticeCode, Reason};
use crate::dns::Rtype;
use crate::inventory::value::Inv;
use crate::plan::order;
use crate::state::WrittenRrset;

/// Whether live DNS, as a change finds it, is not what the latest update left there; `written` is that update.
///
/// The TTL counts, too.
pub fn differs(change: &Change, written: &WrittenRrset) -> bool {
    !written.left(change.key.rtype, change.kind.before())
}

/// Adds to the reasons of a change that its RRset was edited after an update of an apply.
pub fn mark(change: &mut Change, written: &WrittenRrset) {
    let (apply, sent) = (written.apply.0, written.at.to_second());
    change.reasons.push(Reason::edited_since(apply, written.number, sent, change.subject.clone()));
    change.reasons.sort_by(order::reasons);
}

/// The notice about an RRset that stays as it was edited in a copy; `hosts` stay with it. There is none where nothing is
/// known to have been written there.
pub fn notice(change: &Change, copy: &WrittenCopy, hosts: &[Inv]) -> Option<Notice> {
    let written = copy.written.as_ref()?;
    let place = copy.target.as_ref().map(|target| format!(" at `{}`", target.name)).unwrap_or_default();
    let Change { key, subject, project, .. } = change;
    let host = subject.host();
    let (owner, rtype) = (&key.owner, key.rtype);
    let (left, found) = (left(rtype, written.after.as_ref()), shown_before(change));
    let whose = host.map_or_else(|| "the name".to_owned(), |inv| format!("host {inv}"));
    let others: Vec<String> = hosts.iter().filter(|inv| Some(**inv) != host).map(Inv::to_string).collect();
    let with = match others.as_slice() {
        [] => String::new(),
        [one] => format!(", and with it host {one}"),
        _ => format!(", and with it hosts {}", others.join(", ")),
    };
    let message = format!(
        "{rtype} of `{owner}`{place}: apply {} of {} left {left}, but there is {found}; `keep_edits` of [project.{project}] \
         leaves {whose} as it is{with}",
        written.apply.0,
        written.at.to_second(),
    );
    Some(Notice { code: NoticeCode::EditedSince, message, name: owner.to_string(), subject: Some(subject.clone()) })
}

/// What an update left, in words.
fn left(rtype: Rtype, after: Option<&RrsetText>) -> String {
    shown_or_nothing(rtype, after.and_then(|kept| kept.to_rrset(rtype).ok()).as_ref())
}
