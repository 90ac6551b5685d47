//! Master files outside targets: their text to contents, for code that keeps zones as text.
//!
//! Comes in: text. Goes out: the zone's contents exactly as they were written, since a server's zone need not be a
//! correct master file: CNAMEs next to other data, or TTLs that differ within an RRset, are not reported.

use super::entry::EntrySplitter;
use super::load::FileLoader;
use super::rdata::{RdataReader, RdataText};
use super::{no_contents, parse};
use crate::diag::FileFindings;
use crate::dns::{Name, Rtype, ZoneBuilder, ZoneContents, ZoneName};

/// Parses the text of a zone, whose file has the name `shown` in messages.
///
/// Errors: all that is wrong in it.
pub fn parse_text(zone: &ZoneName, shown: &str, text: Vec<u8>) -> Result<ZoneContents, Box<FileFindings>> {
    let mut loader = FileLoader::of_text(shown, text);
    let mut builder = ZoneBuilder::new(zone.clone());
    let parse::ParsedZone { mut found, .. } = parse::parse_zone(zone, &mut loader, 0, &mut |record, _| {
        builder.push(record.owner, record.rtype, record.ttl, record.rdata)
    });
    match builder.finish() {
        Ok(contents) if found.error_count() == 0 => Ok(contents),
        outcome => {
            if let Err(error) = outcome
                && found.error_count() == 0
            {
                found.push(no_contents(error, &loader, 0));
            }
            found.settle();
            Err(Box::new((loader.finish().0, found)))
        }
    }
}

/// Checks whether RDATA in presentation format would be read as the octets that they were written from.
#[derive(Debug)]
pub struct RdataCheck {
    /// Reads them.
    reader: RdataReader,
    /// What would complete names without a final dot; no right name is one.
    root: Name,
}

impl Default for RdataCheck {
    fn default() -> RdataCheck {
        RdataCheck { reader: RdataReader::default(), root: Name::root() }
    }
}

impl RdataCheck {
    /// Whether `line`, which holds the text of RDATA and ends with a newline, is read as `octets`.
    pub fn reads_as(&mut self, rtype: Rtype, line: &str, octets: &[u8]) -> bool {
        let text = line.as_bytes();
        let mut splitter = EntrySplitter::new(text);
        let whole = splitter.next_entry().is_some_and(|entry| entry.fault.is_none() && entry.range.end == text.len());
        let source = RdataText { text, tokens: splitter.tokens(), origin: self.root.as_name() };
        whole && self.reader.read(rtype, source).is_ok_and(|read| read == octets)
    }
}
