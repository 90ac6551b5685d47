//! The hunk of one owner name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use super::super::mark::differing;
use super::super::paint::Paint;
use super::super::words::ExplainedCode as _;
use crate::diag::sanitize;
use crate::dns::reverse::address_of;
use crate::dns::{RrKey, Rrset, Ttl};
use crate::inventory::value::Inv;
use crate::plan::Change;
use crate::report::data::texts_of;

/// What changes at one owner name.
///
/// A comment above its records says whose they are. Below them are blank lines, one more than the unchanged records at
/// the top: `patch` and `git apply` assume the end of the file where a hunk has fewer unchanged lines below than above.
pub struct Hunk {
    /// The name, or the address that it is the reverse name of.
    title: String,
    /// The lines.
    lines: Vec<HunkLine>,
}

/// One line.
struct HunkLine {
    /// `-` for what goes, `+` for what comes, a blank for what is in both.
    sign: char,
    /// The text.
    text: String,
    /// The parts of it that differ, as octets.
    parts: Vec<Range<usize>>,
}

impl HunkLine {
    /// A line that is in both texts.
    fn both(text: String) -> HunkLine {
        HunkLine { sign: ' ', text, parts: Vec::new() }
    }
}

impl Hunk {
    /// The hunk of all changes at one owner name, at least one, sorted by type.
    pub fn new(changes: &[&Change]) -> Hunk {
        let owner = changes[0].key.owner.as_name();
        let title = address_of(owner).map_or_else(|| inert(&owner.to_string()), |address| address.to_string());
        let mut lines = vec![HunkLine::both(format!("; {}", whose(changes)))];
        changes.iter().for_each(|change| lines.extend(records(change)));
        let above = lines.iter().take_while(|line| line.sign == ' ').count();
        lines.extend((0..above).map(|_| HunkLine::both(String::new())));
        Hunk { title, lines }
    }

    /// How many lines it has of the old text and of the new one.
    pub fn lengths(&self) -> (usize, usize) {
        let without = |sign: char| self.lines.iter().filter(|line| line.sign != sign).count();
        (without('+'), without('-'))
    }

    /// Writes it, given the lines at which it begins in the old text and in the new one, from 1.
    pub fn write(&self, out: &mut String, old_at: usize, new_at: usize, paint: &Paint) {
        let (old, new) = self.lengths();
        let Paint { head, delete, create, dim, off, .. } = paint;
        // Formatting into a String cannot fail.
        let _ = writeln!(out, "{dim}@@ -{old_at},{old} +{new_at},{new} @@{off} {head}{}{off}", self.title);
        for HunkLine { sign, text, parts } in &self.lines {
            let text = format!("{sign}{text}");
            let parts: Vec<Range<usize>> = parts.iter().map(|part| part.start + 1..part.end + 1).collect();
            out.push_str(&match sign {
                '-' => paint.marked(delete, &text, &parts),
                '+' => paint.marked(create, &text, &parts),
                _ => text,
            });
            out.push('\n');
        }
    }
}

/// Which hosts the changes are for, and why they are made: `host 100001 of search: other TTL, wrong address`.
fn whose(changes: &[&Change]) -> String {
    let mut told: Vec<(String, BTreeSet<&str>)> = Vec::new();
    for change in changes {
        let hosts: Vec<String> = change.hosts().iter().map(Inv::to_string).collect();
        let who = match hosts.len() {
            0 => "project".to_owned(),
            1 => format!("host {} of", hosts[0]),
            _ => format!("hosts {} of", hosts.join(", ")),
        };
        let who = format!("{who} {}", sanitize(&change.project));
        let titles = change.reasons.iter().map(|reason| reason.rule.words().title);
        match told.iter_mut().find(|(known, _)| *known == who) {
            Some((_, known)) => known.extend(titles),
            None => told.push((who, titles.collect())),
        }
    }
    let one = |(who, why): &(String, BTreeSet<&str>)| {
        let why: Vec<&str> = why.iter().copied().collect();
        format!("{who}: {}", why.join(", "))
    };
    told.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The records of an RRset that changes: those that stay, those that go, those that come.
fn records(change: &Change) -> Vec<HunkLine> {
    let (before, after) = (change.kind.before(), change.kind.after());
    let texts = |rrset: Option<&Rrset>| texts_of(change, rrset);
    let (old, new) = (texts(before), texts(after));
    let (gone, come) = (without(&old, &new), without(&new, &old));
    let (in_gone, in_come) = match (&*gone, &*come) {
        ([gone], [come]) => differing(gone, come).unwrap_or_default(),
        _ => Default::default(),
    };
    // A record with another TTL is another record.
    let ttl = before.zip(after).is_some_and(|(before, after)| before.ttl() != after.ttl());
    let line = |sign, rrset: &Rrset, data: &String, parts: &[Range<usize>]| {
        let is_alone = !old.contains(data) || !new.contains(data);
        let marks = RecordMarks { ttl, data: if is_alone { parts } else { &[] } };
        DiffRecord { key: &change.key, ttl: rrset.ttl(), data }.line(sign, marks)
    };
    let mut lines = Vec::new();
    if let Some(before) = before {
        let (stays, goes): (Vec<&String>, Vec<&String>) = old.iter().partition(|data| !ttl && new.contains(data));
        lines.extend(stays.into_iter().map(|data| line(' ', before, data, &[])));
        lines.extend(goes.into_iter().map(|data| line('-', before, data, &in_gone)));
    }
    if let Some(after) = after {
        let comes = new.iter().filter(|data| ttl || !old.contains(data));
        lines.extend(comes.map(|data| line('+', after, data, &in_come)));
    }
    lines
}

/// The texts that others lack.
fn without<'a>(texts: &'a [String], others: &[String]) -> Vec<&'a String> {
    texts.iter().filter(|text| !others.contains(text)).collect()
}

/// What of a record is marked.
struct RecordMarks<'a> {
    /// Whether its TTL is.
    ttl: bool,
    /// Which parts of its data, as octets.
    data: &'a [Range<usize>],
}

/// One record of an RRset.
struct DiffRecord<'a> {
    /// The owner name and type.
    key: &'a RrKey,
    /// The TTL.
    ttl: Ttl,
    /// The data, in presentation format.
    data: &'a str,
}

impl DiffRecord<'_> {
    /// The record as a line of a master file.
    fn line(&self, sign: char, marks: RecordMarks<'_>) -> HunkLine {
        let owner = inert(&self.key.owner.to_string());
        // At the beginning of a line the logs of pipelines read two colons as a command, too.
        let owner = owner.strip_prefix("::").map(|rest| format!("\\058:{rest}")).unwrap_or(owner);
        let ttl = self.ttl.to_string();
        let ttl_at = owner.len() + 1;
        let start = format!("{owner}\t{ttl}\tIN\t{}\t", self.key.rtype);
        let shown = inert(self.data);
        // Where an escape was put in, the places are others.
        let in_data = if shown == self.data { marks.data } else { &[] };
        let in_data = in_data.iter().map(|part| part.start + start.len()..part.end + start.len());
        let parts = marks.ttl.then(|| ttl_at..ttl_at + ttl.len()).into_iter().chain(in_data).collect();
        HunkLine { sign, text: start + &shown, parts }
    }
}

/// Presentation format, which is printable ASCII, without the `##` that begins commands in the logs of pipelines. The
/// escape is that of RFC 1035 section 5.1, so that it says the same.
fn inert(text: &str) -> String {
    text.replace("##", "#\\035")
}
