//! What the journal says about hosts, names and addresses that the inventory no longer has.

use std::collections::BTreeSet;
use std::slice;

use crate::diag::{CallError, Problem};
use crate::dns::{Name, Rtype, reverse};
use crate::explain::published::{JournalEntry, PublishedRrset, journal_words};
use crate::explain::{ExplainQuestion, find_hosts, in_domains};
use crate::inventory::Inventory;
use crate::inventory::value::Inv;
use crate::names::NameIndex;
use crate::state::{ApplyJournal, SentChange, SentFate, State};

/// Finds the hosts that texts name; where the inventory has no such host, the error says what the journal knows.
///
/// Errors: the state cannot be read; inside, there is no such host.
pub fn find_named(
    inventory: &Inventory,
    state: Option<&dyn State>,
    texts: &[String],
) -> Result<Result<BTreeSet<Inv>, CallError>, Problem> {
    let error = match find_hosts(inventory, texts) {
        Ok(hosts) => return Ok(Ok(hosts)),
        Err(error) => error,
    };
    let is_wrong = |text: &&String| find_hosts(inventory, slice::from_ref(*text)).is_err();
    let (Some(text), Some(state)) = (texts.iter().find(is_wrong), state) else {
        return Ok(Err(error));
    };
    let published = of_text(state, inventory, text)?;
    let Some(PublishedRrset { host, .. }) = published.first() else {
        return Ok(Err(error));
    };
    let hint = match inventory.place_of(*host) {
        Some(_) => format!(
            "host {host} now has another name, or none: if you mean the host, use its number; `zonewright explain \
             {text}` lists the records that are left at the name"
        ),
        None => format!(
            "`zonewright explain {text}` lists the records that are left and says what deletes them; if the host should \
             be there, correct the inventory"
        ),
    };
    let message = format!("{}; {}", error.message, journal_words(&published));
    Ok(Err(CallError { message, hint }))
}

/// What the journal says about a text that the inventory and live DNS do not know: the question that it asks, and what
/// was published.
pub fn question(
    state: &dyn ApplyJournal,
    inventory: &Inventory,
    text: &str,
) -> Result<Option<(ExplainQuestion, Vec<PublishedRrset>)>, Problem> {
    let published = of_text(state, inventory, text)?;
    Ok(match (text.parse::<Inv>(), published.first()) {
        (_, None) => None,
        (Ok(inv), Some(_)) => Some((ExplainQuestion::Left(inv), published)),
        (Err(()), Some(first)) => Some((ExplainQuestion::Name(first.name.clone()), published)),
    })
}

/// What the journal says about the name or address of a question.
pub fn about(state: &dyn ApplyJournal, question: &ExplainQuestion) -> Result<Vec<PublishedRrset>, Problem> {
    let found = match question {
        ExplainQuestion::Name(name) => at(state, name, Rtype::AAAA, None)?,
        ExplainQuestion::Address(address) => at(state, &reverse::reverse_name(*address), Rtype::PTR, None)?,
        ExplainQuestion::Host(_) | ExplainQuestion::Left(_) => None,
    };
    Ok(found.into_iter().collect())
}

/// What the journal says about a number of no host, or about a name that no host has or had: in full, or by its first
/// label.
fn of_text(state: &dyn ApplyJournal, inventory: &Inventory, text: &str) -> Result<Vec<PublishedRrset>, Problem> {
    if let Ok(host) = text.parse::<Inv>() {
        return of_host(state, host);
    }
    let candidates = match Name::parse(text) {
        Ok(name) if text.contains('.') => vec![name],
        Ok(_) => in_domains(inventory, text),
        Err(_) => Vec::new(),
    };
    let names = NameIndex::new(inventory);
    if candidates.iter().any(|name| names.holders(inventory, name.as_name()).next().is_some()) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for name in &candidates {
        found.extend(at(state, name, Rtype::AAAA, None)?);
    }
    // A label that was a name in two domains does not say which one is meant.
    Ok(if found.len() == 1 { found } else { Vec::new() })
}

/// The AAAA that applies published for a host, by name.
fn of_host(state: &dyn ApplyJournal, host: Inv) -> Result<Vec<PublishedRrset>, Problem> {
    let mut names = BTreeSet::new();
    for apply in state.applies_of(host)? {
        let changes = state.sent(apply)?.into_iter().flat_map(|sent| sent.changes);
        let own = changes.filter(|change| change.rtype == Rtype::AAAA && change.subject.host() == Some(host));
        names.extend(own.map(|change| change.name));
    }
    let mut found = Vec::new();
    for name in &names {
        found.extend(at(state, name, Rtype::AAAA, Some(host))?);
    }
    Ok(found)
}

/// What applies published at an RRset: for one host, or for the host that they last published it for.
fn at(
    state: &dyn ApplyJournal,
    name: &Name,
    rtype: Rtype,
    host: Option<Inv>,
) -> Result<Option<PublishedRrset>, Problem> {
    let mut traced = TracedRrset { host, deleted: None, published: None };
    for apply in state.applies_at(name)? {
        for sent in state.sent(apply)?.into_iter().rev().filter(|sent| sent.fate == SentFate::Done) {
            let entry = JournalEntry { apply: apply.0, at: sent.at };
            let changes = sent.changes.into_iter().filter(|change| change.name == *name && change.rtype == rtype);
            changes.for_each(|change| traced.note(entry, change));
        }
    }
    Ok(traced.published)
}

/// What is known about an RRset while the journal is read from its end.
struct TracedRrset {
    /// The host that is searched for; if none was given, the one that the RRset was last published for.
    host: Option<Inv>,
    /// The first deletion after that publication.
    deleted: Option<JournalEntry>,
    /// What was published.
    published: Option<PublishedRrset>,
}

impl TracedRrset {
    /// Notes a change that is earlier than those noted.
    fn note(&mut self, entry: JournalEntry, change: SentChange) {
        let SentChange { subject, project, name, rtype, before, after, .. } = change;
        if after.is_none() {
            let is_later = self.published.is_none();
            self.deleted = if is_later { Some(entry) } else { self.deleted };
            return;
        }
        let is_created = self.published.as_ref().is_some_and(|published| published.is_created);
        let Some(host) = subject.host().filter(|host| !is_created && self.host.is_none_or(|own| own == *host)) else {
            return;
        };
        self.host = Some(host);
        let (is_created, deleted) = (before.is_none(), self.deleted);
        // An apply that created the RRset counts before later ones that modified it; of those, the last.
        if self.published.is_some() && !is_created {
            return;
        }
        self.published = Some(PublishedRrset { name, rtype, host, project, written: entry, is_created, deleted });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::RrsetText;
    use crate::inventory::value::Time;

    /// What is known of an RRset after changes, given from the last: apply, RDATA before and after.
    fn traced(changes: &[(u64, Option<&str>, Option<&str>)]) -> PublishedRrset {
        let mut traced = TracedRrset { host: None, deleted: None, published: None };
        for (apply, before, after) in changes {
            let kept = |rdata: &Option<&str>| {
                rdata.map(|text| RrsetText { mark: None, ttl: 600, rdata: vec![text.to_owned()] })
            };
            let change = SentChange {
                registers: None,
                subject: crate::claim::Subject::Host(Inv(1)),
                also: Vec::new(),
                project: "web".to_owned(),
                name: Name::parse("x1.web.example").unwrap(),
                rtype: Rtype::AAAA,
                before: kept(before),
                after: kept(after),
            };
            let at = Time::from_nanos(0);
            traced.note(JournalEntry { apply: *apply, at }, change);
        }
        traced.published.unwrap()
    }

    #[test]
    fn the_apply_that_created_an_rrset_is_named_or_else_the_last_that_modified_it() {
        let (old, new) = (Some("2001:db8::1"), Some("2001:db8::2"));
        let modified = traced(&[(3, old, new), (2, new, old), (1, old, new)]);
        assert_eq!((modified.written.apply, modified.is_created), (3, false));
        let created = traced(&[(3, old, new), (1, None, old)]);
        assert_eq!((created.written.apply, created.is_created), (1, true));
        let again = traced(&[(3, None, new), (2, new, None), (1, None, new)]);
        assert_eq!((again.written.apply, again.is_created), (3, true));
    }
}
