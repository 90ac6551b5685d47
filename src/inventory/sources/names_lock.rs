//! names.lock: the names given to hosts, one row a name.

use std::cmp::Ordering;

use super::text::{self, BAD_INV, BAD_NAME, BAD_TIME, FIELD_COUNT, LineFormat, RowFault, RowFaults, RowWord, TextRow};
use super::{Draft, ExportFormat, Renumbering, RowContext, SourceInput, SourcePart, likely_project_index};
use crate::diag::Code;
use crate::dns::Name;
use crate::inventory::model::{LockRow, Trust};
use crate::inventory::source::{NAMES_LOCK, OWN, Occurrence, SourceKeys, is_conflict_marker};
use crate::inventory::symbol::Symbols;
use crate::inventory::value::{Inv, Time};

mod clashes;

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "names_lock",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Fixed(NAMES_LOCK),
    gives_names: true,
    read,
    meanings: |_| Vec::new(),
};

/// A row with too many or too few fields.
const LOCK_FIELDS: RowFault = RowFault { hint: "write its five fields with one tab between them", ..FIELD_COUNT };

/// A project that does not exist.
const EMPTY_PROJECT: RowFault = RowFault {
    code: Code::new("empty-field"),
    rule: "a row is `inv name project since released`, separated by tabs",
    hint: "complete the row",
};

/// A released name outside its project.
const FOREIGN_RELEASED: RowFault = RowFault {
    code: Code::new("foreign-released-name"),
    rule: "a released name is directly below a domain of its project",
    hint: "correct the project of the row, or give the project the domain in `also_domains`",
};

/// A host with two current names.
const TWO_NAMES: RowFault = RowFault {
    code: Code::new("two-current-names"),
    rule: "a host has one current row",
    hint: "let `zonewright check --fix-lock` settle it, or give all but one of the rows the time of the release",
};

/// A name that two hosts have.
const TWO_HOLDERS: RowFault = RowFault {
    code: Code::new("two-current-holders"),
    rule: "a name is current in one row",
    hint: "let `zonewright check --fix-lock` settle it, or release the name of all but one of the hosts",
};

/// A name that a host has by one row, and gave up by another that was made of it.
const STALE: RowFault = RowFault {
    code: Code::new("current-and-released"),
    rule: "names.lock has one row for each name; if two rows have the same `since`, the released row counts as the \
           later one",
    hint: "let `zonewright check --fix-lock` settle it, or remove the row that is wrong",
};

/// What git wrote around what it could not merge.
const CONFLICT_MARKER: RowFault = RowFault {
    code: Code::new("conflict-marker"),
    rule: "a conflict marker, which git writes when it cannot merge rows, is not a row",
    hint: "`zonewright check --fix-lock` keeps the rows of both sides and settles them; with `names.lock merge=union` \
           in .gitattributes git writes no conflict markers",
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
struct LockPiece {
    /// The projects.
    projects: Symbols,
    /// The rows.
    entries: Vec<LockEntry>,
    /// The names of rows whose inventory number cannot be read.
    strays: Vec<Name>,
}

/// Reads names.lock.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let shape = LineFormat { is_own: true, ..LineFormat::default() };
    let start = |rows| LockPiece { entries: Vec::with_capacity(rows), ..LockPiece::default() };
    let (pieces, mut tally) = text::read_rows(input, context, &shape, start, |piece, row, faults| {
        read_row(piece, row, faults, context);
    });
    let mut projects = Symbols::default();
    let mut entries = Vec::new();
    let mut strays = Vec::new();
    entries.reserve_exact(pieces.iter().map(|piece| piece.entries.len()).sum());
    for piece in pieces {
        strays.extend(piece.strays);
        let numbers = Renumbering::merge(&mut projects, &piece.projects);
        let from = entries.len();
        entries.extend(piece.entries);
        entries[from..].iter_mut().for_each(|entry: &mut LockEntry| {
            entry.row.project = numbers.project(entry.row.project);
        });
    }
    for (fault, conflicts) in clashes::find(&mut entries, &mut tally) {
        text::report_conflicts(fault, conflicts, input, context, &mut tally);
    }
    let mut rows: Vec<LockRow> = entries.into_iter().map(|entry| entry.row).collect();
    // The file is most often in order, and what is in order takes no second copy to sort.
    if !rows.is_sorted_by(|a, b| in_order(a, b).is_le()) {
        rows.sort_by(in_order);
    }
    let has_bad = tally.bad > 0;
    let fold = move |draft: &mut Draft, trust: Trust| {
        let numbers = Renumbering::merge(&mut draft.projects, &projects);
        if !numbers.is_idle() {
            rows.iter_mut().for_each(|row| row.project = numbers.project(row.project));
        }
        draft.lock = rows;
        draft.lock_trust = trust;
        draft.stray_names.extend(strays);
        draft.has_bad_names |= has_bad;
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// How rows are ordered: by host, name and place.
fn in_order(a: &LockRow, b: &LockRow) -> Ordering {
    (a.inv, &a.name, a.origin).cmp(&(b.inv, &b.name, b.origin))
}

/// Reads one row; without a readable inventory number it belongs to no host, and is only reported.
fn read_row(piece: &mut LockPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>, context: &RowContext<'_>) {
    if is_conflict_marker(row.text) {
        faults.add_whole(&CONFLICT_MARKER, || "git could not merge the rows here".into());
        return;
    }
    let fields = split(row.text, faults);
    faults.hush();
    let [inv, name, project, since, released] = &fields;
    let number: Option<Inv> = inv.text.parse().ok();
    if number.is_none() {
        faults.add(&BAD_INV, inv.at.clone(), || format!("`{}` is not an inventory number", inv.text));
    }
    let read_name = text::read_name(name.text, context).unwrap_or_else(|error| {
        faults.add(&BAD_NAME, name.at.clone(), || format!("`{}` is not a host name: {error}", name.text));
        None
    });
    if project.text.is_empty() {
        faults.add(&EMPTY_PROJECT, project.at.clone(), || "the project is empty".into());
    }
    let since = read_time(since, faults);
    let current = released.text == "-";
    let released_at = if current { None } else { read_time(released, faults) };
    if let (Some(time), Some(known), Some(admin)) = (released_at, &read_name, context.admins.get(project.text)) {
        let cooling = context.clock.is_cooling(time, context.name_cooldown);
        if cooling && !admin.has_name(known.as_name()) {
            faults.add(&FOREIGN_RELEASED, name.at.clone(), || {
                format!("`{known}` is not directly below a domain of project `{}`", project.text)
            });
        }
    }
    let Some(inv) = number else {
        piece.strays.extend(read_name);
        // The host of this row is unknown; but any name in it, perhaps between blanks, is in use.
        let words = row.text.split_ascii_whitespace().filter(|word| word.contains('.') && *word != name.text);
        piece.strays.extend(words.filter_map(|word| text::read_name(word, context).ok().flatten()));
        return;
    };
    let likely = piece.entries.last().map(|entry| entry.row.project);
    let project = likely_project_index(&mut piece.projects, project.text, likely);
    let bad = faults.found();
    let (released, origin) = (released_at, row.origin);
    let row = LockRow { inv, name: read_name, project, since, released, bad, bad_itself: bad, origin };
    piece.entries.push(LockEntry { row, current });
}

/// Cuts a row at its tabs; fields that are not there are empty, which is reported.
fn split<'a>(line: &'a str, faults: &mut RowFaults<'_, '_>) -> [RowWord<'a>; 5] {
    let mut begin = 0;
    let ends = memchr::memchr_iter(b'\t', line.as_bytes()).chain(std::iter::once(line.len()));
    let mut words = ends.map(|end| {
        let at = std::mem::replace(&mut begin, end + 1)..end;
        RowWord { text: &line[at.clone()], at }
    });
    let mut count = 0;
    let fields = std::array::from_fn(|_| match words.next() {
        Some(word) => {
            count += 1;
            word
        }
        None => RowWord { text: "", at: line.len()..line.len() },
    });
    count += words.count();
    if count != 5 {
        let message = || format!("{} instead of `inv name project since released`", text::fields(count));
        faults.add_whole(&LOCK_FIELDS, message);
    }
    fields
}

/// Reads a time.
fn read_time(word: &RowWord<'_>, faults: &mut RowFaults<'_, '_>) -> Option<Time> {
    let time = word.text.parse().ok();
    if time.is_none() {
        faults.add(&BAD_TIME, word.at.clone(), || format!("`{}` is not a time", word.text));
    }
    time
}
