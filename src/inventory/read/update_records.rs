//! The files of DNS update records, joined with what zonewright.toml says of them.

use std::collections::BTreeMap;

use super::{OpenWorkspace, disk};
use crate::diag::{Diagnostic, Diagnostics, FileId, Origin, Severity, did_you_mean};
use crate::inventory::config::settings::Settings;
use crate::inventory::model::{Config, Trust};
use crate::inventory::node::SourceText;
use crate::inventory::record_pools::{self, MadePool, PoolFault};
use crate::inventory::source::DNS_UPDATE_RECORDS;
use crate::inventory::sources::update_records::{self, RecordFile};
use crate::inventory::update_record::{
    RecordProblem, RecordRunner, RecordZone, UpdateRecord, UpdateRecordTerms, UpdateRecords,
};

/// What was read, with the texts for excerpts.
struct UpdateRecordReader {
    /// The texts of all files.
    sources: BTreeMap<FileId, SourceText>,
    /// The files in which a record may be that is not known.
    partly_read: Vec<String>,
    /// The records so far.
    read: UpdateRecords,
    /// What was found.
    found: Diagnostics,
}

/// Reads the files of all records into the settings; gives what was found.
///
/// What is wrong with a record concerns no other, and does not make the settings unusable.
pub fn read(workspace: &mut OpenWorkspace, settings: &mut Settings) -> Diagnostics {
    let mut reader = UpdateRecordReader {
        sources: BTreeMap::new(),
        partly_read: Vec::new(),
        read: UpdateRecords::default(),
        found: Diagnostics::default(),
    };
    reader.read_files(workspace, settings);
    reader.read.records.sort_by(|a, b| (&a.name, a.origin).cmp(&(&b.name, b.origin)));
    reader.refuse_twins(workspace);
    reader.join(std::mem::take(&mut settings.update_record_terms), &settings.config);
    reader.read.has_unread = !reader.partly_read.is_empty() || reader.read.trust.doubt().is_some();
    settings.config.update_records = reader.read;
    reader.found
}

impl UpdateRecordReader {
    /// Reads all files.
    fn read_files(&mut self, workspace: &mut OpenWorkspace, settings: &Settings) {
        let mut listing = Vec::new();
        for pattern in &settings.update_records {
            match workspace.folder.find(pattern, None) {
                Ok(found) => listing.extend(found),
                Err(error) => {
                    let diagnostic = error.diagnostic(DNS_UPDATE_RECORDS, pattern, &settings.config.source);
                    self.read.trust = Trust::Unknown { reason: diagnostic.message.clone() };
                    self.found.push(diagnostic);
                }
            }
        }
        for file in disk::number(listing, &mut workspace.files) {
            let before = std::mem::take(&mut workspace.diagnostics);
            // An empty file says no more than one with a comment: it has no record.
            let text = workspace.read_any_text(&file);
            self.found.append(std::mem::replace(&mut workspace.diagnostics, before));
            let Some(source) = text else {
                let reason = format!("source `{DNS_UPDATE_RECORDS}`: {} cannot be read", file.name);
                self.read.trust = Trust::Unknown { reason };
                self.partly_read.push(file.name);
                continue;
            };
            let RecordFile { records, is_whole, diagnostics } = update_records::read(&source);
            if !is_whole {
                self.partly_read.push(file.name);
            }
            self.read.records.extend(records);
            self.found.append(diagnostics);
            self.sources.insert(file.id, source);
        }
    }

    /// A finding at a place in a file of records, or in zonewright.toml.
    fn finding(&self, config: &Config, fault: &PoolFault) -> Diagnostic {
        let source = self.sources.get(&fault.origin.file).unwrap_or(&config.source);
        source.error(fault.code, fault.origin, fault.width, fault.message.as_str()).hint(fault.hint.as_str())
    }

    /// Makes all records bad that have one name.
    fn refuse_twins(&mut self, workspace: &OpenWorkspace) {
        for twins in self.read.records.chunk_by_mut(|a, b| a.name == b.name).filter(|twins| twins.len() > 1) {
            let places: Vec<Origin> = twins.iter().map(|twin| twin.origin).collect();
            for twin in twins {
                let other = if twin.origin == places[0] { places[1] } else { places[0] };
                let message = format!("there are two DNS update records `{}`", twin.name);
                let source = &self.sources[&twin.origin.file];
                let found = source.error("duplicate-record", twin.origin, twin.width, message.clone());
                let found = found.also(format!("the other is {}", workspace.files.place(other)));
                let rule = "it is not known which of two is right, so that none of them is carried out";
                self.found.push(found.rule(rule).hint("give one of them another name, or remove it"));
                let code = "duplicate-record".into();
                twin.problems.push(RecordProblem { code, message, origin: twin.origin });
            }
        }
    }

    /// Joins the records with their tables, and gives each its pool.
    fn join(&mut self, all_terms: Vec<UpdateRecordTerms>, config: &Config) {
        let mut by_name: BTreeMap<String, UpdateRecordTerms> = BTreeMap::new();
        for terms in all_terms {
            if self.read.find(&terms.name).is_none() {
                self.report_missing(&terms, config);
            }
            by_name.insert(terms.name.clone(), terms);
        }
        let mut records = std::mem::take(&mut self.read.records);
        for record in &mut records {
            record.terms = by_name.get(&record.name).cloned();
            match record.terms.clone() {
                None => self.warn_of_no_table(record),
                Some(terms) if terms.by == RecordRunner::Zonewright => self.make_pool(record, &terms, config),
                Some(_) => {}
            }
        }
        self.read.records = records;
    }

    /// Gives a record its pool, or notes what is wrong.
    fn make_pool(&mut self, record: &mut UpdateRecord, terms: &UpdateRecordTerms, config: &Config) {
        let MadePool { pool, place, faults, hidden } = record_pools::pool_of(record, terms, config);
        record.place = place;
        // What follows from a fault that is known already says nothing new.
        if !record.problems.is_empty() {
            return;
        }
        for fault in faults {
            self.found.push(self.finding(config, &fault));
            let PoolFault { code, origin, message, .. } = fault;
            record.problems.push(RecordProblem { code, message, origin });
        }
        for RecordZone { name, origin, width } in hidden {
            let message = format!("the filter of the record `{}` hides all names of `{name}`", record.name);
            let hint = "they are neither created nor deleted; remove the zone, or widen `domain-filter`".to_owned();
            let fault = PoolFault { code: "filtered".into(), origin, width, message, hint };
            let found = self.finding(config, &fault);
            self.found.push(Diagnostic { severity: Severity::Warning, ..found });
        }
        record.pool = pool;
    }

    /// Warns of a record that no table switches on.
    fn warn_of_no_table(&mut self, record: &UpdateRecord) {
        let message = format!("zonewright.toml has no `[dns_update_record.{}]`: nothing is published", record.name);
        let source = &self.sources[&record.origin.file];
        let found = source.error("automation-off", record.origin, record.width, message);
        let hint = format!("the administrator writes `[dns_update_record.{}]` with its `project`", record.name);
        self.found.push(Diagnostic { severity: Severity::Warning, ..found.hint(hint) });
    }

    /// Reports a table of a record that no file has.
    fn report_missing(&mut self, terms: &UpdateRecordTerms, config: &Config) {
        let message = format!("no file has the DNS update record `{}`", terms.name);
        let mut found = config.source.error("missing-record", terms.origin, terms.width, message);
        for file in &self.partly_read {
            found = found.also(format!("not all of {file} can be read"));
        }
        let near = did_you_mean(&terms.name, self.read.records.iter().map(|record| record.name.as_str()));
        let hint = near.unwrap_or_else(|| "add its file, or remove the table".to_owned());
        self.found.push(found.hint(hint));
    }
}

#[cfg(test)]
mod tests;
