//! Brings an inventory up to date where of its files hosts.csv alone has moved, and of it only some rows.
//!
//! Comes in: an inventory, and hosts.csv as it was read for it. Goes out: the inventory that a reading would give, and which hosts
//! have other rows. Where anything is wrong with the file, or more depends on the rows than the hosts themselves, a reading of all has
//! to find out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::disk::{self, FoundFile, WorkspaceFolder};
use super::moved_lines::{MovedLines, moved_lines};
use super::projects::UNKNOWN_PROJECT;
use super::traces::FolderTraces;
use crate::diag::{Diagnostic, Diagnostics};
use crate::inventory::Inventory;
use crate::inventory::model::{Host, Project, ProjectFile, ProjectIndex};
use crate::inventory::moves::{HostMoves, MovedHost};
use crate::inventory::sources::{
    HOSTS_HEADER, HostsPiece, RowClock, RowContext, SourceFile, SourceInput, read_frame, read_some,
};
use crate::inventory::symbol::Symbols;
use crate::inventory::value::{Inv, Time};

/// hosts.csv as it was read, by which the rows that have moved are found.
#[derive(Debug)]
pub struct KeptRows {
    /// The file.
    pub file: FoundFile,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Takes the rows of hosts.csv that have moved since it was read into the inventory; none where that cannot be done, and all is to be
/// read: the inventory is then as it was.
pub fn take_moved(
    dir: &Path,
    inventory: &mut Inventory,
    (traces, of_files, rows): (&mut FolderTraces, &mut Diagnostics, &mut KeptRows),
    now: Time,
) -> Option<HostMoves> {
    let is_of_rows = |found: &Diagnostic| found.origin.file == rows.file.id && found.code != UNKNOWN_PROJECT;
    if of_files.iter().any(is_of_rows) {
        return None;
    }
    let folder = WorkspaceFolder::new(dir);
    let moved = folder.moved(traces)?;
    if moved.iter().any(|path| *path != rows.file.path()) {
        return None;
    }
    let place = place_of_hosts(inventory)?;
    let bytes = folder.read(&rows.file, inventory.exports[place].spec.max_size.octets()).ok()?;
    let found = MovedRows::find(inventory, place, (rows, &bytes), now)?;
    let traced = folder.into_traces();
    traces.files.extend(traced.files);
    let id = rows.file.id;
    of_files.move_origins(|origin| {
        if origin.file == id {
            origin.line = line_now(&found.lines, origin.line);
        }
    });
    let moves = found.put_into(inventory, (place, &rows.file.name), &bytes);
    rows.bytes = bytes;
    Some(moves)
}

/// The inventory with an earlier content of hosts.csv, and the hosts that have other rows by it; none where that cannot be said by the rows
/// that differ. `rows` is hosts.csv as it was read for the inventory.
pub fn with_earlier(
    inventory: &Inventory,
    rows: &KeptRows,
    earlier: &[u8],
    now: Time,
) -> Option<(Inventory, HostMoves)> {
    let place = place_of_hosts(inventory)?;
    let found = MovedRows::find(inventory, place, (rows, earlier), now)?;
    let mut inventory = inventory.clone();
    let moves = found.put_into(&mut inventory, (place, &rows.file.name), earlier);
    Some((inventory, moves))
}

/// The place of hosts.csv among the exports, where its rows may be read by themselves.
fn place_of_hosts(inventory: &Inventory) -> Option<usize> {
    let place = inventory.exports.iter().position(|export| export.spec.key == "hosts")?;
    let export = &inventory.exports[place];
    let is_plain = export.bad == 0 && !export.spec.demands.digest;
    (is_plain && !inventory.projects.iter().any(Project::lists_addresses)).then_some(place)
}

/// The lines in which two contents of hosts.csv differ, as two files of their own.
#[derive(Debug)]
pub struct OtherRows {
    /// Those of the earlier one.
    pub was: Vec<u8>,
    /// Those of the one that is kept.
    pub is: Vec<u8>,
}

/// The lines in which hosts.csv differs from an earlier content; none where it is another file.
pub fn other_rows(earlier: &[u8], kept: &KeptRows) -> Option<OtherRows> {
    // A row without an end is no row.
    if !earlier.ends_with(b"\n") || !kept.bytes.ends_with(b"\n") {
        return None;
    }
    let mut other =
        OtherRows { was: format!("{HOSTS_HEADER}\n").into_bytes(), is: format!("{HOSTS_HEADER}\n").into_bytes() };
    for MovedLines { was, is } in moved_lines(earlier, &kept.bytes)? {
        other.was.extend_from_slice(&earlier[was.octets]);
        other.is.extend_from_slice(&kept.bytes[is.octets]);
    }
    Some(other)
}

/// The rows that are others than they were.
struct MovedRows {
    /// The lines in which the file differs.
    lines: Vec<MovedLines>,
    /// The hosts whose rows are gone or new.
    invs: BTreeSet<Inv>,
    /// The new rows, with the numbers of the inventory but for their symbols.
    new: HostsPiece,
    /// How many rows the file has.
    rows: usize,
    /// When it was made.
    dated: Option<Time>,
}

impl MovedRows {
    /// Finds them; `place` is that of the export. None where anything is wrong in the file.
    fn find(inventory: &Inventory, place: usize, (kept, bytes): (&KeptRows, &[u8]), now: Time) -> Option<MovedRows> {
        let (export, id) = (&inventory.exports[place], kept.file.id);
        let lines = moved_lines(&kept.bytes, bytes)?;
        let (clock, admins) = (RowClock::at(now), BTreeMap::new());
        let context = RowContext {
            files: &inventory.files,
            clock: &clock,
            free_domain: &inventory.config.free_domain,
            name_cooldown: inventory.config.name_cooldown,
            admins: &admins,
        };
        let (was, is) = (SourceFile { id, bytes: &kept.bytes }, SourceFile { id, bytes });
        let gone = read_some(was, lines.iter().map(|moved| &moved.was), &context)?;
        let mut new = read_some(is, lines.iter().map(|moved| &moved.is), &context)?;
        let rows = export.rows - gone.hosts.len() + new.hosts.len();
        let frame = read_frame(&SourceInput { spec: &export.spec, files: vec![is] }, rows, &context)?;
        // A project that no file has is there because of its rows.
        let numbers: Vec<ProjectIndex> =
            new.projects.texts().map(|id| known_project(inventory, id)).collect::<Option<_>>()?;
        new.hosts.iter_mut().for_each(|host| host.project = numbers[host.project.0 as usize]);
        if !gone.projects.texts().all(|id| known_project(inventory, id).is_some()) {
            return None;
        }
        let invs: BTreeSet<Inv> = gone.hosts.iter().chain(&new.hosts).map(|host| host.inv).collect();
        let count = |hosts: &[Host], inv: Inv| hosts.iter().filter(|host| host.inv == inv).count();
        // Rows of one number would be bad, the others of it too.
        let is_single = |inv: &Inv| {
            let there = inventory.places_of(*inv).len();
            there <= 1 && count(&gone.hosts, *inv) == there && count(&new.hosts, *inv) <= 1
        };
        let are_single = invs.iter().all(is_single);
        are_single.then_some(MovedRows { lines, invs, new, rows, dated: frame.time() })
    }

    /// Puts them into the inventory, whose hosts.csv has a place among the exports and a name, and now this content; gives which hosts
    /// have others now.
    fn put_into(self, inventory: &mut Inventory, (place, name): (usize, &str), content: &[u8]) -> HostMoves {
        let MovedRows { lines, invs, new: HostsPiece { symbols, hosts: mut new, .. }, rows, dated } = self;
        let export = &mut inventory.exports[place];
        (export.rows, export.dated) = (rows, dated);
        inventory.inputs.insert(name.to_owned(), disk::digest(content));
        let symbols = inventory.symbols.merge(&symbols);
        let symbol = |own| symbols[Symbols::index(own)];
        for host in &mut new {
            host.location = symbol(host.location);
            (host.switch, host.rack) = (host.switch.map(symbol), host.rack.map(symbol));
        }
        new.sort_by_key(|host| host.inv);
        let mut moves = Vec::with_capacity(invs.len());
        let mut ahead = 0_isize;
        for inv in invs {
            let was = inventory.places_of(inv);
            let count = new.iter().filter(|host| host.inv == inv).count();
            let start = was.start.checked_add_signed(ahead).expect("rows are not before the first");
            ahead += count as isize - was.len() as isize;
            moves.push(MovedHost { inv, was, is: start..start + count });
        }
        let moves = HostMoves(moves);
        shift_lines(&mut inventory.hosts, &lines);
        if moves.is_in_place() {
            for (place, host) in moves.places().zip(new) {
                inventory.hosts[place] = host;
            }
            return moves;
        }
        let mut hosts = Vec::with_capacity(inventory.hosts.len() + new.len());
        let (mut was, mut new, mut at) = (std::mem::take(&mut inventory.hosts).into_iter(), new.into_iter(), 0);
        for MovedHost { was: gone, is, .. } in &moves.0 {
            hosts.extend(was.by_ref().take(gone.start - at));
            was.by_ref().take(gone.len()).for_each(drop);
            at = gone.end;
            hosts.extend(new.by_ref().take(is.len()));
        }
        hosts.extend(was);
        inventory.hosts = hosts;
        moves
    }
}

/// The number of a project of which both halves are there, so that nothing of it depends on which rows name it.
fn known_project(inventory: &Inventory, id: &str) -> Option<ProjectIndex> {
    let place = inventory.projects.binary_search_by(|project| project.id.as_str().cmp(id)).ok()?;
    let Project { admin, file, .. } = &inventory.projects[place];
    (admin.is_some() && matches!(file, ProjectFile::Good(_))).then_some(ProjectIndex(place as u32))
}

/// Gives the rows that stay the numbers of their lines as they are.
fn shift_lines(hosts: &mut [Host], lines: &[MovedLines]) {
    if lines.iter().all(|moved| moved.was.count == moved.is.count) {
        return;
    }
    for host in hosts {
        host.origin.line = line_now(lines, host.origin.line);
    }
}

/// The number now of a line that stays.
fn line_now(lines: &[MovedLines], line: u32) -> u32 {
    let before = lines.partition_point(|moved| moved.was.first + moved.was.count <= line);
    match before.checked_sub(1).map(|last| &lines[last]) {
        Some(MovedLines { was, is }) => line - (was.first + was.count) + (is.first + is.count),
        None => line,
    }
}
