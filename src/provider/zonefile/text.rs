//! Master files outside targets: their text to contents, for code that keeps zones as text.
//!
//! Comes in: text. Goes out: the zone's contents exactly as they were written, since a server's zone need not be a
//! correct master file: CNAMEs next to other data, or TTLs that differ within an RRset, are not reported.

use super::load::FileLoader;
use super::{no_contents, parse};
use crate::diag::FileFindings;
use crate::dns::{ZoneBuilder, ZoneContents, ZoneName};

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
