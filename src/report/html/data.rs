//! The changes as data for the page's script: much smaller than the document, and quick to read.
//!
//! Every text is once in one table, which is searched as a whole. All else is numbers, by column: places in that table,
//! or counts, TTLs and places in the other tables. Place 0 is the empty text and means nothing. A list is its length
//! and then its items.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::claim::Subject;
use crate::diag::{is_noncharacter, sanitize};
use crate::dns::reverse::address_of;
use crate::dns::{Rrset, Rtype};
use crate::inventory::value::Inv;
use crate::plan::{BlockedSubject, Cause, Change, HostSeen, Plan, Reason, Review};
use crate::report::copies::listed;
use crate::report::data::{reading_order, texts_of};
use crate::report::host_label::{heading_of_other, is_without_pod};
use crate::report::source_url::SourceUrl;
use crate::report::words::{ExplainedCode as _, edited_in_words, via_in_words};

/// What the script gets.
#[derive(Serialize)]
pub struct ScriptData {
    /// All texts.
    texts: Vec<String>,
    /// The lists of evidence.
    places: Vec<Vec<u32>>,
    /// Of each cause the class or 0, the words, and the evidence.
    causes: Vec<(u32, u32, Vec<u32>)>,
    /// The columns of the changes.
    changes: ChangeColumns,
    /// Of each blocked host the number, project, code, message and hint.
    blocked: Vec<u32>,
    /// Of each host that is named, once, the number, name, location, switch and rack.
    hosts: Vec<u32>,
    /// The template of addresses at which a line of an export is to be seen; empty where there is none.
    source: String,
}

/// The changes, by column.
#[derive(Default, Serialize)]
struct ChangeColumns {
    /// The zone.
    zone: Vec<u32>,
    /// The owner name, or the address of which it is the reverse name.
    owner: Vec<u32>,
    /// The type.
    rtype: Vec<u32>,
    /// Of a TXT of the registry the name or the address of the RRset that it records, otherwise 0.
    registers: Vec<u32>,
    /// The host.
    host: Vec<u32>,
    /// The heading where there is no host, otherwise 0; empty where each is of a host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    of: Vec<u32>,
    /// The other hosts: how many, then they.
    also: Vec<u32>,
    /// The project.
    project: Vec<u32>,
    /// The place of the cause.
    cause: Vec<u32>,
    /// What is there before: how many records, and if any the TTL, then they.
    before: Vec<u32>,
    /// What is there after, likewise.
    after: Vec<u32>,
    /// How many reasons, then of each the rule, the host, and the place of its list of evidence.
    reasons: Vec<u32>,
    /// The targets that it is for, otherwise 0; empty where each is for all targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<u32>,
    /// What is there in between, in words, otherwise 0; empty where each is made in one step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    via: Vec<u32>,
}

/// Gathers the data of a plan; `source` is the template of addresses of lines.
pub fn data(plan: &Plan, review: Option<&Review>, source: Option<&SourceUrl>) -> ScriptData {
    let mut tables = DataTables::default();
    tables.text("");
    let causes = review.map(|review| review.cause_of_each(plan.changes.len())).unwrap_or_default();
    let mut changes = ChangeColumns::default();
    let has_others = plan.changes.iter().any(|change| change.subject.host().is_none());
    let has_targets = plan.changes.iter().any(|change| !change.targets.is_empty());
    let has_via = plan.changes.iter().any(|change| change.via.is_some());
    for place in order(plan) {
        let change = &plan.changes[place];
        changes.push(change, &mut tables);
        let heading = change.subject.host().is_none().then(|| heading_of_other(change));
        changes.of.extend(has_others.then(|| heading.map_or(0, |heading| tables.text(&heading))));
        changes.targets.extend(has_targets.then(|| listed(&change.targets).map_or(0, |targets| tables.text(&targets))));
        changes.via.extend(has_via.then(|| via_in_words(change).map_or(0, |via| tables.text(via))));
        changes.cause.push(causes.get(place).map_or(0, |cause| *cause as u32));
    }
    let causes = review.iter().flat_map(|review| &review.causes).map(|cause| tables.cause(cause)).collect();
    let blocked = plan.blocked.iter().flat_map(|blocked| tables.blocked(blocked)).collect();
    // There may be very many skipped hosts: the page has only what its lists say about them.
    let is_named = |inv: &Inv| tables.of_text.contains_key(&inv.to_string());
    let named: Vec<_> = plan.hosts.iter().filter(|(inv, _)| is_named(inv)).collect();
    let hosts = named.into_iter().flat_map(|(inv, host)| tables.seen(*inv, host)).collect();
    let source = source.map(|source| source.as_str().to_owned()).unwrap_or_default();
    ScriptData { texts: tables.texts, places: tables.places, causes, changes, blocked, hosts, source }
}

/// The places of a plan's changes in the order in which people read them: of each host the names first, then the
/// addresses, and each TXT of the registry behind what it records.
pub fn order(plan: &Plan) -> Vec<usize> {
    let is_one = |a: usize, b: usize| {
        let [a, b] = [a, b].map(|place| &plan.changes[place]);
        let of = |change: &Change| (change.subject.host(), change.subject.counted(), is_without_pod(change));
        a.project == b.project && (a.subject.host().is_some() && a.subject.host() == b.subject.host() || of(a) == of(b))
    };
    let mut places: Vec<usize> = (0..plan.changes.len()).collect();
    // The names that a host gave up are read with those that it has.
    places.sort_by_cached_key(|place| {
        let change = &plan.changes[*place];
        let Change { project, subject, .. } = change;
        let other =
            subject.host().is_none().then(|| (subject.counted().is_none(), subject.counted(), is_without_pod(change)));
        (project, subject.host().is_none(), subject.host(), other)
    });
    for of_host in places.chunk_by_mut(|a, b| is_one(*a, *b)).filter(|of_host| of_host.len() > 1) {
        of_host.sort_by_cached_key(|place| reading_order(plan, &plan.changes[*place]));
    }
    places
}

/// The number of a host, or the text of another subject.
fn subject_number(subject: &Subject) -> String {
    subject.host().map_or_else(|| subject.to_string(), |inv| inv.to_string())
}

/// Data as JSON that is safe inside a script element: nothing ends the element or begins a comment in it.
pub fn json(data: &ScriptData) -> String {
    let text = serde_json::to_string(data).expect("numbers and texts can be written");
    // In JSON these characters are inside texts only.
    let is_kept = |c: char| c != '<' && !is_noncharacter(c);
    if text.chars().all(is_kept) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

impl ChangeColumns {
    /// Adds a change but for its cause.
    fn push(&mut self, change: &Change, tables: &mut DataTables) {
        let rtype = change.key.rtype;
        let name = change.key.owner.as_name();
        let address = (rtype == Rtype::PTR).then(|| address_of(name)).flatten();
        self.zone.push(tables.text(&change.zone.to_string()));
        self.owner.push(tables.text(&address.map_or_else(|| name.to_string(), |address| address.to_string())));
        self.rtype.push(tables.text(&rtype.to_string()));
        self.registers.push(change.registered().map_or(0, |(_, recorded)| {
            let address = address_of(recorded.as_name());
            tables.text(&address.map_or_else(|| recorded.to_string(), |address| address.to_string()))
        }));
        self.host.push(tables.host(change.subject.host()));
        let others = change.other_hosts();
        self.also.push(others.len() as u32);
        self.also.extend(others.into_iter().map(|host| tables.host(Some(host))));
        self.project.push(tables.text(&change.project));
        tables.rrset(&mut self.before, change, change.kind.before());
        tables.rrset(&mut self.after, change, change.kind.after());
        self.reasons.push(change.reasons.len() as u32);
        self.reasons.extend(change.reasons.iter().flat_map(|reason| tables.reason(reason)));
    }
}

/// The tables: each text and list is there once, and its place refers to it.
#[derive(Default)]
struct DataTables {
    /// The texts.
    texts: Vec<String>,
    /// Where each is.
    of_text: HashMap<String, u32>,
    /// The lists of evidence.
    places: Vec<Vec<u32>>,
    /// Where each is.
    of_places: HashMap<Vec<u32>, u32>,
}

impl DataTables {
    /// The place of a text.
    fn text(&mut self, text: &str) -> u32 {
        if let Some(place) = self.of_text.get(text) {
            return *place;
        }
        let place = self.texts.len() as u32;
        self.texts.push(sanitize(text));
        self.of_text.insert(text.to_owned(), place);
        place
    }

    /// The place of a host's number, which as a text keeps all of its digits.
    fn host(&mut self, host: Option<Inv>) -> u32 {
        host.map_or(0, |host| self.text(&host.to_string()))
    }

    /// Adds an RRset to a column.
    fn rrset(&mut self, column: &mut Vec<u32>, change: &Change, rrset: Option<&Rrset>) {
        let Some(rrset) = rrset else { return column.push(0) };
        column.extend([rrset.rdata().len() as u32, rrset.ttl().as_secs()]);
        column.extend(texts_of(change, Some(rrset)).iter().map(|text| self.text(text)));
    }

    /// A reason: its rule in words, its host, and the place of its evidence.
    fn reason(&mut self, reason: &Reason) -> [u32; 3] {
        let words = reason.rule.words();
        let says = edited_in_words(reason).unwrap_or_else(|| format!("{}: {}", words.title, words.brief));
        let rule = self.text(&says);
        let evidence: Vec<u32> = reason.evidence.iter().map(|place| self.text(place)).collect();
        let next = self.places.len() as u32;
        let place = *self.of_places.entry(evidence.clone()).or_insert(next);
        if place == next {
            self.places.push(evidence);
        }
        [rule, self.host(reason.subject.host()), place]
    }

    /// A cause.
    fn cause(&mut self, cause: &Cause) -> (u32, u32, Vec<u32>) {
        let class = cause.class.map_or(0, |class| self.text(class.as_str()));
        (class, self.text(&cause.says), cause.places.iter().map(|place| self.text(place)).collect())
    }

    /// What the inventory says of a host.
    fn seen(&mut self, inv: Inv, host: &HostSeen) -> [u32; 5] {
        let mut given = |text: Option<&str>| text.map_or(0, |text| self.text(text));
        let [name, location] = [given(host.name.as_deref()), given(Some(&host.location))];
        let [switch, rack] = [given(host.switch.as_deref()), given(host.rack.as_deref())];
        [self.host(Some(inv)), name, location, switch, rack]
    }

    /// A blocked host.
    fn blocked(&mut self, blocked: &BlockedSubject) -> [u32; 5] {
        let BlockedSubject { code, hint, message, project, subject } = blocked;
        let texts = [project, code.as_str(), message, hint];
        let [project, code, message, hint] = texts.map(|text| self.text(text));
        [self.text(&subject_number(subject)), project, code, message, hint]
    }
}
