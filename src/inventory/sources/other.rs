//! Exports of other systems, translated into our terms.
//!
//! Comes in: rows of any format, and what zonewright.toml says about their fields. Goes out: hosts, MAC reports, and
//! addresses.
//! The module of a system knows what the system calls its fields, and what its statuses mean.

use super::records::{ExportRecord, WantedField};
use super::text::RowFaults;
use crate::inventory::source::FieldMapping;

pub mod addresses;

pub mod hosts;

pub mod macs;

/// The fields that are asked for, each once.
#[derive(Default)]
struct AskedFields(Vec<WantedField>);

impl AskedFields {
    /// Asks for a field; gives its place.
    fn ask(&mut self, wanted: WantedField) -> usize {
        match self.0.iter_mut().position(|own| own.name == wanted.name) {
            Some(place) => {
                self.0[place].is_required |= wanted.is_required;
                place
            }
            None => {
                self.0.push(wanted);
                self.0.len() - 1
            }
        }
    }
}

/// The rows that count.
struct RowFilter(Vec<(usize, Vec<String>)>);

impl RowFilter {
    /// What `only` of a source says.
    fn new(mapping: &FieldMapping, asked: &mut AskedFields) -> RowFilter {
        let fields = mapping.only.iter();
        RowFilter(fields.map(|(field, values)| (asked.ask(WantedField::required(field)), values.clone())).collect())
    }

    /// Whether a row counts; one that is bad already may be about anything, and does.
    fn has(&self, record: &ExportRecord<'_, '_>, faults: &mut RowFaults<'_, '_>) -> bool {
        let is_one = |text: &str, values: &[String]| values.iter().any(|value| value == text);
        let fits = |(field, values): &(usize, Vec<String>)| {
            let text = record.text(*field);
            is_one(text, values) || text.split(',').any(|item| is_one(item.trim(), values))
        };
        let counts = faults.found() || self.0.iter().all(fits);
        if !counts {
            faults.pass_over();
        }
        counts
    }
}
