//! The text of a zone's main file, edited.
//!
//! Comes in: the text, the places of its records, edits of whole RRsets, and the next serial. Goes out: the new text,
//! in which every line outside the edits, and every record of theirs that stays, is unchanged, or why the file cannot be
//! edited. Pure.
//!
//! A record may leave out its owner name and its TTL; it then has those of earlier records. Therefore, while lines are
//! copied, the owner name and TTL that a reader of the new text would use are tracked, and a record whose meaning would
//! change gets its own written out. What this misses, such as records of an included file that have their TTL from the
//! including file, is found when the new text is read again.

use std::collections::HashMap;
use std::ops::Range;

use super::layout::{LayoutKey, RecordLine, ZoneLayout};
use super::parse::TtlFrom;
use crate::diag::Origin;
use crate::dns::{NameRef, Rdata, Rrset, Rtype, Serial, Ttl};
use crate::target::RrsetEdit;

/// Why a file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnfitFile {
    /// A record of an RRset that is to change, or the SOA, is in an included file.
    Included(LayoutKey, Origin),
    /// The SOA is not written as fields, so that its serial has no place of its own.
    NoSerial,
}

/// Whether the main file has everything that is to be edited, including a serial.
pub fn check(layout: &ZoneLayout) -> Result<(), UnfitFile> {
    if let Some((key, origin)) = layout.included.iter().min_by_key(|(_, origin)| **origin) {
        return Err(UnfitFile::Included(key.clone(), *origin));
    }
    let has_serial = layout.lines.iter().any(|line| line.serial_at.is_some());
    if has_serial { Ok(()) } else { Err(UnfitFile::NoSerial) }
}

/// Makes the edits, each of another RRset of which the text holds what the edit says is before, and sets the serial.
///
/// Errors: as for [`check`].
pub fn edit(text: &[u8], layout: &ZoneLayout, edits: &[RrsetEdit<'_>], serial: Serial) -> Result<Vec<u8>, UnfitFile> {
    check(layout)?;
    let mut todo = LineTasks::new(layout, edits);
    let mut copy =
        NewText { text, out: Vec::with_capacity(text.len() + text.len() / 8), at: 0, owner: None, ttl: None };
    for (number, line) in layout.lines.iter().enumerate() {
        copy.go_to(line);
        match todo.replaced.get_mut(&(line.owner.as_wire(), line.rtype)) {
            Some(replaced) if stays(line, replaced.after) => {
                copy.keep(line, serial);
                if replaced.last == number
                    && let Some(new) = replaced.new.take()
                {
                    copy.write(line, &new);
                }
            }
            Some(replaced) => {
                copy.at = line.range.end;
                if let Some(new) = replaced.new.take() {
                    copy.write(line, &new);
                }
            }
            None => copy.keep(line, serial),
        }
        for new in todo.behind.remove(&number).unwrap_or_default() {
            copy.write(line, &new);
        }
    }
    copy.out.extend_from_slice(&text[copy.at..]);
    for new in todo.at_end {
        copy.write_at_end(layout.lines.last(), &new);
    }
    Ok(copy.out)
}

/// Whether a record is in the RRset that takes the place of its own; its line then stays, with capitals and comment.
fn stays(line: &RecordLine, after: Option<&Rrset>) -> bool {
    after
        .zip(line.rdata.as_ref())
        .is_some_and(|(after, rdata)| after.ttl() == line.ttl && after.rdata().contains(rdata))
}

/// Records of an RRset that are to be written.
#[derive(Debug, Clone)]
struct NewRecords<'a> {
    /// The owner name and type.
    key: (NameRef<'a>, Rtype),
    /// The TTL.
    ttl: Ttl,
    /// Their data; may be empty.
    rdata: Vec<&'a Rdata>,
}

/// What takes the place of an RRset.
#[derive(Debug)]
struct RrsetReplacement<'a> {
    /// What is there afterwards.
    after: Option<&'a Rrset>,
    /// The records of it that no line has; none once they were written.
    new: Option<NewRecords<'a>>,
    /// The number of its last line.
    last: usize,
}

/// What is to be done with which lines.
struct LineTasks<'a> {
    /// The RRsets that change or go. New records take the place of the first line that goes, else follow the last line.
    replaced: HashMap<(&'a [u8], Rtype), RrsetReplacement<'a>>,
    /// What comes behind the line with a number.
    behind: HashMap<usize, Vec<NewRecords<'a>>>,
    /// The new records at the end of the file.
    at_end: Vec<NewRecords<'a>>,
}

impl<'a> LineTasks<'a> {
    /// Finds the place of each edit.
    fn new(layout: &'a ZoneLayout, edits: &[RrsetEdit<'a>]) -> LineTasks<'a> {
        let mut todo = LineTasks { replaced: HashMap::new(), behind: HashMap::new(), at_end: Vec::new() };
        let mut created: HashMap<&[u8], (Option<usize>, Vec<NewRecords<'a>>)> = HashMap::new();
        for edit in edits {
            let owner = edit.key.owner.as_name();
            let after = edit.kind.after();
            let key = (owner, edit.key.rtype);
            let new = after.map(|after| NewRecords { key, ttl: after.ttl(), rdata: after.rdata().iter().collect() });
            if edit.kind.before().is_some() {
                todo.replaced.insert((owner.as_wire(), edit.key.rtype), RrsetReplacement { after, new, last: 0 });
            } else {
                created.entry(owner.as_wire()).or_default().1.extend(new);
            }
        }
        for (number, line) in layout.lines.iter().enumerate() {
            if let Some(RrsetReplacement { after, new, last }) =
                todo.replaced.get_mut(&(line.owner.as_wire(), line.rtype))
            {
                *last = number;
                if let Some(new) = new.as_mut().filter(|_| stays(line, *after)) {
                    new.rdata.retain(|rdata| Some(*rdata) != line.rdata.as_ref());
                }
            }
            if let Some((last, _)) = created.get_mut(line.owner.as_wire()) {
                *last = Some(number);
            }
        }
        for edit in edits {
            match created.remove(edit.key.owner.as_name().as_wire()) {
                Some((Some(number), new)) => {
                    todo.behind.insert(number, new);
                }
                Some((None, new)) => todo.at_end.extend(new),
                None => {}
            }
        }
        todo
    }
}

/// The part of the new text that is written.
struct NewText<'a> {
    /// The old text.
    text: &'a [u8],
    /// The new one.
    out: Vec<u8>,
    /// The first octet of the old one that is not dealt with yet.
    at: usize,
    /// The owner name that a record without one would have here.
    owner: Option<NameRef<'a>>,
    /// The TTL that a record without one would have here, where nothing says one for all.
    ttl: Option<Ttl>,
}

impl<'a> NewText<'a> {
    /// Copies the text before a line: comments, directives, empty lines.
    fn go_to(&mut self, line: &RecordLine) {
        self.out.extend_from_slice(&self.text[self.at..line.range.start]);
        self.at = line.range.start;
        self.ttl = line.included_ttl.or(self.ttl);
    }

    /// Copies a record; a field that it leaves out is added if it would now mean something else. A SOA gets the serial.
    fn keep(&mut self, line: &'a RecordLine, serial: Serial) {
        if line.owner_at.is_none() && self.owner != Some(line.owner.as_name()) {
            self.out.extend_from_slice(line.owner.to_string().as_bytes());
        }
        self.copy_to(line.head_at);
        if line.ttl_from == TtlFrom::Latest && self.ttl != Some(line.ttl) {
            self.write_ttl(line.ttl, 0);
        }
        if let Some(serial_at) = &line.serial_at {
            self.copy_to(serial_at.start);
            self.write_serial(serial_at.clone(), serial);
        }
        self.copy_to(line.range.end);
        self.owner = Some(line.owner.as_name());
        if line.ttl_from != TtlFrom::Default {
            self.ttl = Some(line.ttl);
        }
    }

    /// Copies up to an octet of the old text.
    fn copy_to(&mut self, end: usize) {
        self.out.extend_from_slice(&self.text[self.at..end]);
        self.at = end;
    }

    /// Replaces a serial; if the blanks behind it allow, the text after them keeps its column.
    fn write_serial(&mut self, old: Range<usize>, serial: Serial) {
        let width = old.len();
        let leading_zero = self.text[old.start] == b'0';
        let digits =
            if leading_zero { format!("{:0width$}", serial.into_int()) } else { serial.into_int().to_string() };
        self.out.extend_from_slice(digits.as_bytes());
        let blanks = self.text[old.end..].iter().take_while(|octet| **octet == b' ').count();
        // One blank stays in any case: it may be what separates the serial from the next field.
        self.at = old.end + digits.len().saturating_sub(width).min(blanks.saturating_sub(1));
        if blanks > 0 {
            self.out.resize(self.out.len() + width.saturating_sub(digits.len()), b' ');
        }
    }

    /// Writes records in the place of, or behind, a record of their owner, each in the shape of that one.
    fn write(&mut self, line: &RecordLine, new: &NewRecords<'a>) {
        let NewRecords { key, ttl, rdata } = new;
        let end = if self.text[line.range.clone()].ends_with(b"\r\n") { "\r\n" } else { "\n" };
        for rdata in rdata {
            self.write_head(line, new);
            self.out.extend_from_slice(format!("{}{end}", rdata.as_rdata(key.1)).as_bytes());
            self.owner = Some(key.0);
            self.ttl = Some(*ttl);
        }
    }

    /// Writes the fields before the data of a new record: as a record of the same owner has them, unless comments,
    /// parentheses or quotes are in between there.
    fn write_head(&mut self, line: &RecordLine, new: &NewRecords<'a>) {
        let NewRecords { key: (owner, rtype), ttl, .. } = *new;
        let text = self.text;
        let before_data = &text[line.range.start..line.rdata_at];
        if line.rdata_at == line.rtype_at.end || before_data.iter().any(|octet| b"();\"\n".contains(octet)) {
            let class = if line.has_class { "IN " } else { "" };
            self.out.extend_from_slice(format!("{owner} {ttl} {class}{rtype} ").as_bytes());
            return;
        }
        if line.owner_at.is_none() && self.owner != Some(owner) {
            self.out.extend_from_slice(owner.to_string().as_bytes());
        }
        let ttl_at = line.ttl_at.clone().unwrap_or(line.head_at..line.head_at);
        self.out.extend_from_slice(&text[line.range.start..ttl_at.start]);
        self.write_ttl(ttl, ttl_at.len());
        self.out.extend_from_slice(&text[ttl_at.end..line.rtype_at.start]);
        if rtype == line.rtype {
            self.out.extend_from_slice(&text[line.rtype_at.start..line.rdata_at])
        } else {
            self.out.extend_from_slice(rtype.to_string().as_bytes());
            self.out.extend_from_slice(&text[line.rtype_at.end..line.rdata_at]);
        }
    }

    /// Writes a TTL in place of one with so many digits, or of none. If enough blanks before it make a column, their
    /// number changes so that the text after it keeps its column.
    fn write_ttl(&mut self, ttl: Ttl, old: usize) {
        let new = if old == 0 { format!("{ttl} ") } else { ttl.to_string() };
        let blanks = self.out.iter().rev().take_while(|octet| **octet == b' ').count();
        if blanks > 1 && blanks + old > new.len() {
            self.out.resize(self.out.len() + old - new.len(), b' ');
        }
        self.out.extend_from_slice(new.as_bytes());
    }

    /// Writes records at the end of the file, with the class where the last record there has it.
    fn write_at_end(&mut self, last: Option<&RecordLine>, new: &NewRecords<'a>) {
        let NewRecords { key: (owner, rtype), ttl, rdata } = new;
        let class = if last.is_some_and(|line| line.has_class) { "IN " } else { "" };
        let end = if self.text.ends_with(b"\r\n") { "\r\n" } else { "\n" };
        for rdata in rdata {
            let line = format!("{owner} {ttl} {class}{rtype} {}{end}", rdata.as_rdata(*rtype));
            self.out.extend_from_slice(line.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
