//! Records that applies published for hosts: of a host that left the inventory only the journal knows.

use super::ExplainCase;
use super::model::{ExplainSubject, Explanation};
use crate::change::DelayedRrset;
use crate::diff::left_behind::LeftOrphan;
use crate::diff::own;
use crate::dns::{Name, NameRef, RrKey, Rtype, ZoneName, reverse};
use crate::inventory::value::{Inv, Time};
use crate::live::{LiveRrset, NamePlace};
use crate::names::holders::{lock_rows_of, name_of};

/// An RRset that applies published for a host, as the journal has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedRrset {
    /// The owner name.
    pub name: Name,
    /// `AAAA` or `PTR`.
    pub rtype: Rtype,
    /// The host.
    pub host: Inv,
    /// The project that the host was in.
    pub project: String,
    /// The apply that created the RRset; where none created it, the last that modified it for the host.
    pub written: JournalEntry,
    /// Whether that apply created it.
    pub is_created: bool,
    /// The apply that deleted it afterwards; none where no apply did.
    pub deleted: Option<JournalEntry>,
}

/// What an apply did, by its number, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalEntry {
    /// The apply.
    pub apply: u64,
    /// When it sent the update.
    pub at: Time,
}

/// What applies did: `apply 1 created the AAAA of a.example.net. and b.example.net. (2026-11-20T02:00:00Z)`, where
/// `rrsets` names what one apply wrote at one time.
fn deeds(published: &[PublishedRrset], rrsets: impl Fn(&[&PublishedRrset]) -> String) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut rest: Vec<&PublishedRrset> = published.iter().collect();
    while let Some(first) = rest.first().copied() {
        let is_like = |other: &&PublishedRrset| {
            (other.written, other.is_created, other.deleted) == (first.written, first.is_created, first.deleted)
        };
        let (same, others): (Vec<&PublishedRrset>, Vec<&PublishedRrset>) = rest.into_iter().partition(is_like);
        rest = others;
        let JournalEntry { apply, at } = first.written;
        let verb = if first.is_created { "created" } else { "modified" };
        let them = if same.len() == 1 { "it" } else { "them" };
        let deleted = first.deleted.map(|JournalEntry { apply, at }| format!("; apply {apply} deleted {them} ({at})"));
        said.push(format!("apply {apply} {verb} {} ({at}){}", rrsets(&same), deleted.unwrap_or_default()));
    }
    said.join("; ")
}

/// The AAAA of names: `the AAAA of a.example.net. and b.example.net.`
fn aaaa_of(same: &[&PublishedRrset], shown: impl Fn(&Name) -> String) -> String {
    let names: Vec<String> = same.iter().map(|rrset| shown(&rrset.name)).collect();
    format!("the AAAA of {}", names.join(" and "))
}

/// What the journal says of names that applies published for one host, in words, for an error.
pub fn journal_words(published: &[PublishedRrset]) -> String {
    let names = |same: &[&PublishedRrset]| aaaa_of(same, |name| format!("`{name}`"));
    let host = published.first().map(|PublishedRrset { host, project, .. }| format!("host {host} of `{project}`"));
    format!("the journal has {}: {}", host.unwrap_or_default(), deeds(published, names))
}

/// Explains a host that the inventory lacks, by what applies published for it.
pub fn explain(case: &ExplainCase<'_>, inv: Inv) -> Explanation {
    let published = case.published;
    let project = published.first().map(|rrset| format!(" of project `{}`", rrset.project)).unwrap_or_default();
    let missing = "hosts.csv and names.lock have no readable row of it";
    let mut answer = format!("Host {inv}{project} is not in the inventory: {missing}. ");
    answer.push_str(&format!("By the journal, {}. ", deeds(published, |same| aaaa_of(same, Name::to_string))));
    // What is at a name that another host has now is the record of that host.
    let mut free: Vec<PublishedRrset> = Vec::new();
    for rrset in published {
        let name = rrset.name.as_name();
        if case.context.names.holders(case.context.inventory, name).any(|holder| holder.now) {
            answer.push_str(&format!("{} is {} now. ", rrset.name, case.whose_name(name)));
        } else {
            free.push(rrset.clone());
        }
    }
    let left: Vec<LiveRrset<'_>> = free.iter().flat_map(|rrset| case.own_records(rrset.name.as_name())).collect();
    answer.push_str(&case.left_words(&left, &free));
    answer.push_str(" If the host should be there, correct the inventory.");
    answer.push_str(" `zonewright explain NAME` says more about a name.");
    Explanation {
        subject: ExplainSubject::Host(inv.0),
        now: case.context.now.to_string(),
        unseen: Vec::new(),
        answer,
        name: None,
        address: None,
        host: None,
    }
}

impl ExplainCase<'_> {
    /// What the journal says of the name that is asked for: which host had it, where that host is now, what is left.
    pub(super) fn published_name_words(&self, name: &Name) -> Option<String> {
        let rrset = self.published.first()?;
        let left: Vec<LiveRrset<'_>> = self.own_records(name.as_name()).collect();
        Some(format!("{} {}", self.former_words(rrset), self.left_words(&left, self.published)))
    }

    /// The same of an address: the PTR that an apply published for it.
    pub(super) fn published_pointer_words(&self) -> Option<String> {
        let rrset = self.published.first()?;
        let pointer = self.context.live.rrset(rrset.name.as_name(), Rtype::PTR);
        let left: Vec<LiveRrset<'_>> = pointer.into_iter().filter(|found| own::is_own(self.context, *found)).collect();
        Some(format!("{} {}", self.former_words(rrset), self.left_words(&left, self.published)))
    }

    /// Which host an RRset was published for, by which apply, and where that host is now.
    fn former_words(&self, rrset: &PublishedRrset) -> String {
        let PublishedRrset { host, project, rtype, .. } = rrset;
        let deeds = deeds(std::slice::from_ref(rrset), |_| format!("its {rtype}"));
        format!("By the journal, host {host} of project `{project}` had it: {deeds}. {}", self.whereabouts(*host))
    }

    /// Whether the inventory has a host, and its name there: a sentence.
    fn whereabouts(&self, inv: Inv) -> String {
        let inventory = self.context.inventory;
        match inventory.place_of(inv).map(|place| &inventory.hosts[place]) {
            Some(host) => match name_of(inventory, host) {
                Some((name, _)) => format!("Host {inv} has the name {name} now."),
                None => format!("Host {inv} has no name now."),
            },
            None if !lock_rows_of(inventory, inv).is_empty() => format!("Only names.lock has host {inv} now."),
            None => format!("Host {inv} is no longer in the inventory."),
        }
    }

    /// The AAAA and PTR that are our own: those at a name, and those that point to it.
    fn own_records(&self, name: NameRef<'_>) -> impl Iterator<Item = LiveRrset<'_>> {
        let live = self.context.live;
        let at_name = live.rrset(name, Rtype::AAAA);
        let pointing: Vec<LiveRrset<'_>> = live.pointing_to(name).collect();
        at_name.into_iter().chain(pointing).filter(|found| own::is_own(self.context, *found))
    }

    /// What is left of what was published, and what deletes it, in sentences.
    fn left_words(&self, left: &[LiveRrset<'_>], published: &[PublishedRrset]) -> String {
        if published.iter().any(|rrset| self.is_unread(rrset.name.as_name())) {
            return "It is not known whether its records are left: their zone could not be read.".to_owned();
        }
        if left.is_empty() {
            return "No record that zonewright created is left of it.".to_owned();
        }
        let kept: Vec<&LiveRrset<'_>> = left.iter().filter(|found| !self.is_changed(found)).collect();
        if kept.is_empty() {
            return "The plan changes what is left of it.".to_owned();
        }
        let is_waiting = |found: &LiveRrset<'_>, waiting: &DelayedRrset| self.is_at(found, &waiting.zone, &waiting.key);
        let waiting = self.decision.waiting.iter().filter(|own| kept.iter().any(|found| is_waiting(found, own)));
        let mut said: Vec<String> =
            self.waits_words(waiting, None).iter().map(|wait| format!("Of our own records, {wait}.")).collect();
        // What deletes records is the same for most of them, and then said once.
        let mut remedies: Vec<(String, Vec<String>)> = Vec::new();
        let is_settled = |found: &LiveRrset<'_>| self.decision.waiting.iter().any(|own| is_waiting(found, own));
        for found in kept.iter().filter(|found| !is_settled(found)) {
            let remedy = self.remedy_of(found).or_else(|| Some(self.remedy(published.first()?)));
            let remedy = remedy.unwrap_or_default();
            match remedies.iter_mut().find(|(known, _)| *known == remedy) {
                Some((_, records)) => records.push(words_of(found)),
                None => remedies.push((remedy, vec![words_of(found)])),
            }
        }
        let left = |(remedy, records): (String, Vec<String>)| {
            format!("Our own records are left behind: {}; {remedy}.", records.join(", "))
        };
        said.extend(remedies.into_iter().map(left));
        said.join(" ")
    }

    /// What deletes an RRset, as the notice of the plan says it; none where the plan has none.
    fn remedy_of(&self, found: &LiveRrset<'_>) -> Option<String> {
        let lists = |left: &&LeftOrphan| left.rrsets.iter().any(|own| self.is_at(found, &own.zone, &own.key));
        self.decision.left_behind.iter().find(lists).map(|left| left.remedy.clone())
    }

    /// Whether a live RRset is the one of this zone, name and type.
    fn is_at(&self, found: &LiveRrset<'_>, zone: &ZoneName, key: &RrKey) -> bool {
        key.rtype == found.rrset.rtype()
            && key.owner.as_name() == found.rrset.owner().as_name()
            && *zone == self.context.zone_spec(found.zone).name
    }

    /// Whether nothing is known of what is live at a name.
    fn is_unread(&self, name: NameRef<'_>) -> bool {
        matches!(self.context.live.place(name), NamePlace::Unknown(_))
    }

    /// Whether the plan deletes or modifies an RRset.
    fn is_changed(&self, found: &LiveRrset<'_>) -> bool {
        let (owner, rtype) = (found.rrset.owner(), found.rrset.rtype());
        self.decision
            .changes
            .iter()
            .any(|change| change.key.rtype == rtype && change.key.owner.as_name() == owner.as_name())
    }

    /// What deletes what the plan has no notice about.
    fn remedy(&self, rrset: &PublishedRrset) -> String {
        let inventory = self.context.inventory;
        let PublishedRrset { host, project: id, .. } = rrset;
        let project = inventory.projects.iter().find(|project| project.id == *id);
        let policy = project.and_then(|project| project.file.settings()).map(|settings| settings.policy);
        match policy {
            None => format!("the inventory has no usable file of project `{id}`: delete them by hand"),
            Some(policy) if inventory.place_of(*host).is_some() => format!(
                "policy `repair` deletes the records that hold an address of host {host}, and policy `sync` deletes the \
                 rest; project `{id}` has policy `{}`. `zonewright explain {host}` says what is planned for the host",
                policy.as_str()
            ),
            Some(_) => "the plan does not say what deletes them, because a host may have the name or a file is not \
                        believed: delete them by hand"
                .to_owned(),
        }
    }
}

/// An RRset that is live: `AAAA of web01.example.net.`, `PTR of 2001:db8::1`.
fn words_of(found: &LiveRrset<'_>) -> String {
    let (owner, rtype) = (found.rrset.owner(), found.rrset.rtype());
    match reverse::address_of(owner.as_name()) {
        Some(address) => format!("{rtype} of {address}"),
        None => format!("{rtype} of {owner}"),
    }
}
