//! names.lock: the names given to hosts, one row a name.

use std::cmp::Ordering;

use super::text::{self, BAD_INV, BAD_NAME, BAD_TIME, Conflict, FIELD_COUNT, Fault, Faults, Row, Shape, Word};
use super::{Context, Draft, Format, Input, Part, Renumbering, Tally, project_index};
use crate::dns::Name;
use crate::inventory::model::{LockRow, Trust};
use crate::inventory::source::{NAMES_LOCK, Occurs};
use crate::inventory::symbol::Symbols;
use crate::inventory::value::{Inv, Time};

/// The format.
pub const FORMAT: Format =
    Format { key: "names_lock", occurs: Occurs::Fixed(NAMES_LOCK), gives_names: true, read, meanings: |_| Vec::new() };

/// A row with too many or too few fields.
const LOCK_FIELDS: Fault = Fault { hint: "write its five fields with one tab between them", ..FIELD_COUNT };

/// A project that is none.
const EMPTY_PROJECT: Fault = Fault {
    code: "empty-field",
    rule: "a row is `inv name project since released`, separated by tabs (docs/formats.md, names.lock)",
    hint: "complete the row",
};

/// A released name outside its project.
const FOREIGN_RELEASED: Fault = Fault {
    code: "foreign-released-name",
    rule: "a released name is directly below a domain of its project (docs/formats.md, names.lock)",
    hint: "correct the project of the row, or give the project the domain in `also_domains`",
};

/// A host with two current names.
const TWO_NAMES: Fault = Fault {
    code: "two-current-names",
    rule: "a host has one current row (docs/formats.md, names.lock)",
    hint: "give all but one of the rows the time at which the name was released",
};

/// A name that two hosts have.
const TWO_HOLDERS: Fault = Fault {
    code: "two-current-holders",
    rule: "a name is current in one row (docs/formats.md, names.lock)",
    hint: "release the name of all but one of the hosts",
};

/// One row, with what only comparing needs.
struct LockEntry {
    /// The row; its project counts within the piece.
    row: LockRow,
    /// Whether the row says that the host has the name, bad rows too.
    current: bool,
}

/// What one chunk holds.
#[derive(Default)]
struct Piece {
    /// The projects.
    projects: Symbols,
    /// The rows.
    entries: Vec<LockEntry>,
    /// The names of rows whose inventory number cannot be read.
    strays: Vec<Name>,
}

/// Reads names.lock.
fn read(input: &Input<'_>, context: &Context<'_>) -> Part {
    let shape = Shape { is_own: true, ..Shape::default() };
    let (pieces, mut tally) = text::read_rows(input, context, &shape, Piece::default, |piece, row, faults| {
        read_row(piece, row, faults, context);
    });
    let mut projects = Symbols::default();
    let mut entries = Vec::new();
    let mut strays = Vec::new();
    for piece in pieces {
        strays.extend(piece.strays);
        let numbers = Renumbering::merge(&mut projects, &piece.projects);
        entries.extend(piece.entries.into_iter().map(|mut entry| {
            entry.row.project = numbers.project(entry.row.project);
            entry
        }));
    }
    let (by_inv, by_name) = find_clashes(&mut entries, &mut tally);
    text::report_conflicts(&TWO_NAMES, by_inv, input, context, &mut tally);
    text::report_conflicts(&TWO_HOLDERS, by_name, input, context, &mut tally);
    let mut rows: Vec<LockRow> = entries.into_iter().map(|entry| entry.row).collect();
    rows.sort_by(|a, b| (a.inv, &a.name, a.origin).cmp(&(b.inv, &b.name, b.origin)));
    let has_bad = tally.bad > 0;
    let fold = move |draft: &mut Draft, trust: Trust| {
        let numbers = Renumbering::merge(&mut draft.projects, &projects);
        for row in &mut rows {
            row.project = numbers.project(row.project);
        }
        draft.lock = rows;
        draft.lock_trust = trust;
        draft.stray_names.extend(strays);
        draft.has_bad_names |= has_bad;
    };
    Part { tally, fold: Box::new(fold) }
}

/// Reads one row; without a readable inventory number it is nobody's, and only reported.
fn read_row(piece: &mut Piece, row: &Row<'_>, faults: &mut Faults<'_, '_>, context: &Context<'_>) {
    let fields = split(row.text, faults);
    faults.hush();
    let [inv, name, project, since, released] = &fields;
    let number: Option<Inv> = inv.text.parse().ok();
    if number.is_none() {
        faults.add(&BAD_INV, inv.at.clone(), || format!("`{}` is no inventory number", inv.text));
    }
    let read_name = text::read_name(name.text, context).unwrap_or_else(|error| {
        faults.add(&BAD_NAME, name.at.clone(), || format!("`{}` is no host name: {error}", name.text));
        None
    });
    if project.text.is_empty() {
        faults.add(&EMPTY_PROJECT, project.at.clone(), || "the project is empty".into());
    }
    let since = read_time(since, faults);
    let current = released.text == "-";
    let released_at = if current { None } else { read_time(released, faults) };
    if let (Some(time), Some(known), Some(admin)) = (released_at, &read_name, context.admins.get(project.text)) {
        // A time in the future is not longer ago than the cooldown either.
        let cooling = context.now.since(time).is_none_or(|age| age <= context.name_cooldown);
        if cooling && !admin.has_name(known.as_name()) {
            faults.add(&FOREIGN_RELEASED, name.at.clone(), || {
                format!("`{known}` is not directly below a domain of project `{}`", project.text)
            });
        }
    }
    let Some(inv) = number else {
        piece.strays.extend(read_name);
        return;
    };
    let project = project_index(&mut piece.projects, project.text);
    let bad = faults.found();
    let row = LockRow { inv, name: read_name, project, since, released: released_at, bad, origin: row.origin };
    piece.entries.push(LockEntry { row, current });
}

/// Cuts a row at its tabs; fields that are not there are empty, which is reported.
fn split<'a>(line: &'a str, faults: &mut Faults<'_, '_>) -> [Word<'a>; 5] {
    let mut at = 0;
    let mut words = line.split('\t').map(|text| {
        let start = at;
        at += text.len() + 1;
        Word { text, at: start..start + text.len() }
    });
    let fields = std::array::from_fn(|_| words.next().unwrap_or(Word { text: "", at: line.len()..line.len() }));
    let count = line.split('\t').count();
    if count != 5 {
        let message = || format!("{} instead of `inv name project since released`", text::fields(count));
        faults.add_whole(&LOCK_FIELDS, message);
    }
    fields
}

/// Reads a time.
fn read_time(word: &Word<'_>, faults: &mut Faults<'_, '_>) -> Option<Time> {
    let time = word.text.parse().ok();
    if time.is_none() {
        faults.add(&BAD_TIME, word.at.clone(), || format!("`{}` is no time", word.text));
    }
    time
}

/// Finds hosts with two current rows, and names that are current twice; marks all rows concerned.
fn find_clashes(entries: &mut [LockEntry], tally: &mut Tally) -> (Vec<Conflict>, Vec<Conflict>) {
    let mut current: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].current).collect();
    let by_inv = clashes(
        entries,
        &mut current,
        |a, b| a.inv.cmp(&b.inv),
        |row| format!("host {} has several current rows", row.inv),
    );
    current.retain(|at| entries[*at].row.name.is_some());
    let by_name = clashes(
        entries,
        &mut current,
        |a, b| a.name.cmp(&b.name),
        |row| match &row.name {
            Some(name) => format!("`{name}` is current in several rows"),
            None => "a name is current in several rows".into(),
        },
    );
    for conflict in by_inv.iter().chain(&by_name) {
        let at = entries.binary_search_by_key(&conflict.origin, |entry| entry.row.origin);
        let entry = &mut entries[at.expect("entries are in the order of their places")];
        tally.bad += usize::from(!entry.row.bad);
        entry.row.bad = true;
    }
    (by_inv, by_name)
}

/// Finds rows among `current` that `compare` calls equal.
fn clashes(
    entries: &[LockEntry],
    current: &mut [usize],
    compare: fn(&LockRow, &LockRow) -> Ordering,
    message: fn(&LockRow) -> String,
) -> Vec<Conflict> {
    let row = |at: usize| &entries[at].row;
    current.sort_by(|a, b| compare(row(*a), row(*b)).then(row(*a).origin.cmp(&row(*b).origin)));
    let mut conflicts = Vec::new();
    for same in current.chunk_by(|a, b| compare(row(*a), row(*b)).is_eq()).filter(|same| same.len() > 1) {
        let (first, second) = (row(same[0]).origin, row(same[1]).origin);
        for at in same {
            let origin = row(*at).origin;
            let other = if origin == first { second } else { first };
            conflicts.push(Conflict { origin, message: message(row(*at)), other });
        }
    }
    conflicts
}
