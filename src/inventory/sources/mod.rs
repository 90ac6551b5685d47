//! The export formats: the content of files to rows.
//!
//! Comes in: the files of one source, as octets. Goes out: rows, bad ones included, and how far the source can be
//! trusted. Touches no disk. A new format is a module and a word in the list below, and a place in [`Draft`] for what
//! it says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::addresses::AddressRow;
use super::apps::AppFiles;
use super::devices::Devices;
use super::model::{Host, Ipv4Map, LockRow, MacReport, MacSource, NetLayout, ProjectAdmin, ProjectIndex, Tors, Trust};
use super::pods::Pods;
use super::source::{KnownFormat, Occurrence, SourceKeys, SourceSpec};
use super::stated::{StatedBy, StatedDocument, StatedEntry, StatedRecords};
use super::symbol::{Symbol, Symbols};
use super::value::{Duration, Percent, Time};
use crate::diag::{Diagnostic, Diagnostics, FileId, Files, Origin};
use crate::dns::Name;
pub use addresses_csv::HEADER as ADDRESSES_HEADER;
pub use hosts_csv::HEADER as HOSTS_HEADER;
pub use hosts_csv::{HostsPiece, read_frame, read_some};
use meaning::{ExportRows, RowMeaning};
pub use row_clock::RowClock;
pub use stated::warn_of_left_out;
pub use text::LineRange;
pub use zone_yaml::{ZoneYaml, zone_yaml};

mod text;

mod row_clock;

mod json_line;

mod records;

mod stated;

mod documents;

mod other;

pub mod meaning;

mod zone_yaml;

pub mod update_records;

#[cfg(test)]
mod tests;

/// Declares the formats: each word is a module, and an entry of the table.
macro_rules! formats {
    ($($name:ident,)*) => {
        $(mod $name;)*

        /// All formats, in the order in which their rows are taken in.
        pub const FORMATS: &[ExportFormat] = &[$($name::FORMAT,)*];
    };
}

// Those of one key are neighbours, our own first; hosts come before MACs, whose reports may name hosts by their
// devices.
formats! {
    hosts_csv,
    netbox_devices,
    racktables_objects,
    l3_tors,
    net_layout,
    ipv4_map,
    addresses_csv,
    netbox_addresses,
    record_lists,
    apps,
    mac_reports,
    netbox_interfaces,
    racktables_ports,
    dnsendpoint,
    octodns,
    pods,
    names_lock,
}

/// The formats that zonewright.toml can name.
pub fn known() -> Vec<KnownFormat> {
    let known = |format: &ExportFormat| {
        let ExportFormat { key, word, occurs, keys, .. } = *format;
        KnownFormat { key, word, occurs, keys }
    };
    FORMATS.iter().map(known).collect()
}

/// The format of a source.
pub fn format_of(spec: &SourceSpec) -> &'static ExportFormat {
    let found = FORMATS.iter().find(|format| (format.key, format.word) == (spec.key, spec.word));
    found.expect("settings know the formats")
}

/// One export format.
pub struct ExportFormat {
    /// Its key in `[sources]`.
    pub key: &'static str,
    /// The word under `format`, which says whose it is.
    pub word: &'static str,
    /// The keys of its table that only it has.
    pub keys: SourceKeys,
    /// How often that key occurs.
    pub occurs: Occurrence,
    /// Whether it says which host has which name.
    pub gives_names: bool,
    /// Reads all files of one source.
    pub read: fn(&SourceInput<'_>, &RowContext<'_>) -> SourcePart,
    /// What its good rows say, each under what it is about; nothing for a file of our own, which is not an export.
    pub meanings: fn(&ExportRows<'_>) -> Vec<RowMeaning>,
}

impl ExportFormat {
    /// Whether it is that of hosts.csv.
    pub fn is_hosts_csv(&self) -> bool {
        (self.key, self.word) == (hosts_csv::FORMAT.key, hosts_csv::FORMAT.word)
    }
}

/// The files of one source.
pub struct SourceInput<'a> {
    /// What zonewright.toml says of it.
    pub spec: &'a SourceSpec,
    /// The files that could be read, sorted by name.
    pub files: Vec<SourceFile<'a>>,
}

/// One file.
#[derive(Debug, Clone, Copy)]
pub struct SourceFile<'a> {
    /// Its number.
    pub id: FileId,
    /// Its content.
    pub bytes: &'a [u8],
}

/// What rows are judged by.
pub struct RowContext<'a> {
    /// The names of files.
    pub files: &'a Files,
    /// The clock.
    pub clock: &'a RowClock,
    /// Names below it count as none.
    pub free_domain: &'a Name,
    /// How long a released name stays taken.
    pub name_cooldown: Duration,
    /// `[project.X]`, by id.
    pub admins: &'a BTreeMap<String, ProjectAdmin>,
}

/// What one source says.
pub struct SourcePart {
    /// How much of it is wrong.
    pub tally: SourceTally,
    /// Puts the rows into the draft.
    pub fold: DraftFold,
}

/// Puts what was read into the draft, with the trust in it.
pub type DraftFold = Box<dyn FnOnce(&mut Draft, Trust) + Send>;

/// When a source was made, by the word of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceDate {
    /// No file was asked.
    #[default]
    Unasked,
    /// All files say, and this is the earliest that they say: a source is as old as its oldest file.
    At(Time),
    /// Some file does not say, or not readably.
    Unsaid,
}

impl SourceDate {
    /// What one more file says; nothing readable where it is `None`.
    pub fn of(date: Option<Time>) -> SourceDate {
        date.map_or(SourceDate::Unsaid, SourceDate::At)
    }

    /// What both say together.
    fn and(self, other: SourceDate) -> SourceDate {
        match (self, other) {
            (SourceDate::Unasked, said) | (said, SourceDate::Unasked) => said,
            (SourceDate::At(one), SourceDate::At(other)) => SourceDate::At(one.min(other)),
            (SourceDate::Unsaid, _) | (_, SourceDate::Unsaid) => SourceDate::Unsaid,
        }
    }

    /// The date, where there is one.
    pub fn time(self) -> Option<Time> {
        match self {
            SourceDate::At(time) => Some(time),
            SourceDate::Unasked | SourceDate::Unsaid => None,
        }
    }
}

/// How much of a source is wrong.
#[derive(Debug, Default)]
pub struct SourceTally {
    /// How many rows there are, bad ones included.
    pub rows: usize,
    /// How many of them are bad.
    pub bad: usize,
    /// How many of them are about nothing that is looked for; not bad ones.
    pub passed_over: usize,
    /// When it was made, according to its content.
    pub dated: SourceDate,
    /// The first reason why the source as a whole cannot be believed, such as `racktables/hosts.csv was cut`.
    pub doubt: Option<String>,
    /// What is wrong.
    pub diagnostics: Diagnostics,
}

impl SourceTally {
    /// Adds what was found further down.
    pub fn append(&mut self, below: SourceTally) {
        self.rows += below.rows;
        self.bad += below.bad;
        self.passed_over += below.passed_over;
        self.dated = self.dated.and(below.dated);
        self.doubt = self.doubt.take().or(below.doubt);
        self.diagnostics.append(below.diagnostics);
    }

    /// Notes that a file makes the whole source unknown: `cause` follows its name in the reason.
    pub fn distrust(&mut self, file: FileId, files: &Files, cause: &str, diagnostic: Diagnostic) {
        self.doubt.get_or_insert_with(|| format!("{} {cause}", files.name(file)));
        self.diagnostics.push(diagnostic);
    }

    /// Decides on the trust in source `name`: `max_bad_rows` of its rows may be bad, and one row always may. Without
    /// such a limit any number may: names.lock is not an export that a better one could replace.
    pub fn judge(&mut self, name: &str, max_bad_rows: Option<Percent>, first: Option<FileId>) -> Trust {
        let allowed = max_bad_rows.map_or(usize::MAX, |share| share.of(self.rows).max(1));
        if self.bad > allowed
            && let Some(file) = first
        {
            let found = format!("{} of {} rows are bad", self.bad, self.rows);
            let message = format!("source `{name}`: {found}; at most {allowed} may be");
            self.diagnostics.push(
                Diagnostic::file_error("too-many-bad-rows", file, message)
                    .rule("zonewright does not use a source with more bad rows than `max_bad_rows`")
                    .hint("correct the rows, or raise `max_bad_rows` in zonewright.toml"),
            );
            self.doubt.get_or_insert(found);
        }
        match &self.doubt {
            None => Trust::Known,
            Some(cause) => Trust::Unknown { reason: format!("source `{name}`: {cause}") },
        }
    }
}

/// An inventory in the making. Projects are numbered as they come, by [`Draft::projects`].
#[derive(Debug)]
pub struct Draft {
    /// When the clock makes something else of a row; none where it makes nothing else of any.
    pub moves: Option<Time>,
    /// What exports of interfaces call the hosts.
    pub devices: Devices,
    /// Files with several rows on one line.
    pub crowded: Vec<FileId>,
    /// What is wrong between sources.
    pub found: Diagnostics,
    /// Switches and locations.
    pub symbols: Symbols,
    /// The ids of projects that any row names.
    pub projects: Symbols,
    /// Rows of hosts.csv.
    pub hosts: Vec<Host>,
    /// Whether hosts.csv may be believed.
    pub hosts_trust: Trust,
    /// l3-tors.txt.
    pub tors: Tors,
    /// Whether it may be believed.
    pub tors_trust: Trust,
    /// net-layout.xml.
    pub layout: NetLayout,
    /// Whether it may be believed.
    pub layout_trust: Trust,
    /// ipv4-map.txt.
    pub ipv4_map: Ipv4Map,
    /// Whether it may be believed.
    pub ipv4_map_trust: Trust,
    /// The addresses that the inventory lists, sorted by `inv`, then file and line.
    pub addresses: Vec<AddressRow>,
    /// Whether they may be believed.
    pub addresses_trust: Trust,
    /// The sources of MACs.
    pub mac_sources: Vec<MacSource>,
    /// Runs of their reports, in the order of files and rows.
    pub reports: Vec<Vec<MacReport>>,
    /// names.lock.
    pub lock: Vec<LockRow>,
    /// Names in rows whose inventory number cannot be read.
    pub stray_names: Vec<Name>,
    /// Whether it may be believed.
    pub lock_trust: Trust,
    /// Whether some row of hosts.csv or names.lock was bad.
    pub has_bad_names: bool,
    /// What files state.
    pub stated: StatedRecords,
    /// The pods; of their sets the ids alone.
    pub pods: Pods,
    /// The apps, and the lists of the records that publish them.
    pub apps: AppFiles,
    /// What DNS update records publish.
    pub published: StatedRecords,
    /// The manifests that belong to DNS update records, by source.
    pub labelled: Vec<LabelledManifests>,
    /// The manifests that the selections of sources leave out.
    pub left_out: Vec<(Arc<StatedBy>, Origin)>,
}

/// Manifests of one source that belong to one DNS update record.
#[derive(Debug)]
pub struct LabelledManifests {
    /// The name of the record.
    pub record: Arc<str>,
    /// The first label that names it.
    pub label: Origin,
    /// The place of their source.
    pub source: u16,
    /// The manifests.
    pub documents: Vec<StatedDocument>,
    /// What they state.
    pub entries: Vec<StatedEntry>,
}

impl Draft {
    /// Numbers the project `id`.
    pub fn project(&mut self, id: &str) -> ProjectIndex {
        project_index(&mut self.projects, id)
    }
}

impl Default for Draft {
    fn default() -> Draft {
        Draft {
            moves: None,
            devices: Devices::default(),
            crowded: Vec::new(),
            found: Diagnostics::default(),
            symbols: Symbols::default(),
            projects: Symbols::default(),
            hosts: Vec::new(),
            hosts_trust: Trust::Known,
            tors: Tors::default(),
            tors_trust: Trust::Known,
            layout: NetLayout::default(),
            layout_trust: Trust::Known,
            ipv4_map: Ipv4Map::default(),
            ipv4_map_trust: Trust::Known,
            addresses: Vec::new(),
            addresses_trust: Trust::Known,
            mac_sources: Vec::new(),
            reports: Vec::new(),
            lock: Vec::new(),
            stray_names: Vec::new(),
            lock_trust: Trust::Known,
            has_bad_names: false,
            stated: StatedRecords::default(),
            pods: Pods::default(),
            apps: AppFiles::default(),
            published: StatedRecords::default(),
            labelled: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// The numbers that one piece of a source gave to texts, to be changed into those of the whole.
struct Renumbering(Vec<Symbol>);

impl Renumbering {
    /// Takes the texts of a piece into the whole.
    fn merge(whole: &mut Symbols, piece: &Symbols) -> Renumbering {
        Renumbering(whole.merge(piece))
    }

    /// Whether all numbers stay as they are.
    fn is_idle(&self) -> bool {
        self.0.iter().enumerate().all(|(place, symbol)| Symbols::index(*symbol) == place)
    }

    /// The number in the whole.
    fn symbol(&self, piece: Symbol) -> Symbol {
        self.0[Symbols::index(piece)]
    }

    /// The number in the whole, of a project.
    fn project(&self, piece: ProjectIndex) -> ProjectIndex {
        ProjectIndex(Symbols::index(self.0[piece.0 as usize]) as u32)
    }
}

/// Numbers the project `id` within a piece.
fn project_index(projects: &mut Symbols, id: &str) -> ProjectIndex {
    ProjectIndex(Symbols::index(projects.intern(id)) as u32)
}

/// Numbers the project `id` as [`project_index`] does; quick where it is the one that it is `likely` to be.
fn likely_project_index(projects: &mut Symbols, id: &str, likely: Option<ProjectIndex>) -> ProjectIndex {
    let is_likely = |likely: &ProjectIndex| projects.text_at(likely.0 as usize) == Some(id);
    likely.filter(is_likely).unwrap_or_else(|| project_index(projects, id))
}
