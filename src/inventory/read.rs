//! Reads a workspace: the only place of the inventory that touches the disk.
//!
//! Comes in: a folder and the clock. Goes out: an [`Inventory`] and all that is wrong with it. The files of a
//! source are read, hashed and parsed side by side; the answer is the same whatever the number of threads.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use super::config::settings::{self, Settings};
use super::config::toml;
use super::model::{Config, Export, Inventory, Project, SourceTrust, Trust};
use super::node::SourceText;
use super::pod_clashes;
use super::pods::{PodSet, Pods};
use super::published;
use super::reports;
use super::source::{NAMES_LOCK, Occurrence, SourceSpec};
use super::sources::{
    self, Draft, DraftFold, ExportFormat, RowClock, RowContext, SourceFile, SourceInput, SourceTally, format_of,
};
use super::value::Time;
use crate::diag::{Diagnostic, Diagnostics, FileId, Files, Origin, Severity};
pub use disk::of_folder;
use disk::{FoundFile, WorkspaceFolder};
pub use layer::{BorrowReason, BorrowedFile, FileLayer, FoundBy, GLOB};
pub use moved_hosts::{KeptRows, OtherRows, other_rows, take_moved, with_earlier};
pub use traces::FolderTraces;
pub use unread::{FileError, FindError};

mod checksum;

mod disk;

mod layer;

mod listed;

mod moved_hosts;

mod moved_lines;

mod pod_sets;

mod projects;

mod steady;

mod traces;

mod update_records;

mod unread;

#[cfg(test)]
mod tests;

/// The name of the administrator's file.
pub const SETTINGS: &str = "zonewright.toml";

/// The largest settings file, in octets: a thousand times what projects need.
const MAX_SETTINGS: u64 = 1 << 20;

/// A workspace, as far as it could be read.
#[derive(Debug)]
pub struct LoadedWorkspace {
    /// The inventory; only the files that were read where zonewright.toml cannot be used.
    pub inventory: Result<Inventory, Files>,
    /// All that was found, settled.
    pub diagnostics: Diagnostics,
    /// What its folder looked like; empty where other files are in front of its own.
    pub traces: FolderTraces,
    /// hosts.csv, where it is kept.
    pub rows: Option<KeptRows>,
}

impl LoadedWorkspace {
    /// The files that were read.
    pub fn files(&self) -> &Files {
        match &self.inventory {
            Ok(inventory) => &inventory.files,
            Err(files) => files,
        }
    }
}

/// How much of a workspace is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceExtent {
    /// All of it.
    Whole,
    /// What says which host has which name, and how names are made; sources of anything else count as unknown.
    Names,
}

/// Reads the workspace in `dir`; `now` is the clock, and `progress` hears what is being read, from any thread.
pub fn load_workspace(dir: &Path, now: Time, progress: &(dyn Fn(&str) + Sync)) -> LoadedWorkspace {
    load_extent(dir, WorkspaceExtent::Whole, now, progress)
}

/// Reads so much of the workspace in `dir`, as [`load_workspace`] does.
pub fn load_extent(
    dir: &Path,
    extent: WorkspaceExtent,
    now: Time,
    progress: &(dyn Fn(&str) + Sync),
) -> LoadedWorkspace {
    SettingsFile::read(dir).load(extent, now, progress)
}

/// Reads the workspace in `dir` with other files in front of its own, and returns which of its own files were read; `judge` is
/// that of [`SettingsFile::with_records`].
///
/// A file of the layer is not compared with a digest file.
pub fn load_behind(
    layer: Box<dyn FileLayer>,
    dir: &Path,
    now: Time,
    judge: impl FnOnce(&mut Config) -> Diagnostics,
) -> (LoadedWorkspace, Vec<BorrowedFile>) {
    let settings = SettingsFile::of(OpenWorkspace::new(WorkspaceFolder::behind(layer, dir))).with_records(judge);
    let (loaded, folder) = load(settings, WorkspaceExtent::Whole, now, &|_| {});
    (loaded, folder.into_borrowed())
}

/// zonewright.toml, read and judged by itself. All else is read by the same settings, whatever happens to the file.
pub struct SettingsFile {
    /// What was read so far.
    workspace: OpenWorkspace,
    /// The settings; `None` where they cannot be used.
    settings: Option<Settings>,
    /// What is wrong with DNS update records: a reading of the whole workspace reports it, as of project files.
    of_records: Diagnostics,
}

impl SettingsFile {
    /// Reads the settings of the workspace in `dir`.
    pub fn read(dir: &Path) -> SettingsFile {
        SettingsFile::of(OpenWorkspace::new(WorkspaceFolder::new(dir)))
    }

    /// Reads the settings of a workspace.
    fn of(mut workspace: OpenWorkspace) -> SettingsFile {
        let mut settings = workspace.read_settings();
        let read = |settings| update_records::read(&mut workspace, settings);
        let of_records = settings.as_mut().map(read).unwrap_or_default();
        SettingsFile { workspace, settings, of_records }
    }

    /// Keeps hosts.csv, so that later its rows can be compared.
    pub fn keeping_rows(mut self) -> SettingsFile {
        self.workspace.keeps_rows = true;
        self
    }

    /// The settings; `None` where they cannot be used.
    pub fn config(&self) -> Option<&Config> {
        self.settings.as_ref().map(|settings| &settings.config)
    }

    /// Judges the targets of DNS update records, and gives the pools of those that can be used their places among all. What is
    /// wrong with a record is a problem of the record alone.
    pub fn with_records(mut self, judge: impl FnOnce(&mut Config) -> Diagnostics) -> SettingsFile {
        if let Some(settings) = &mut self.settings {
            self.of_records.append(judge(&mut settings.config));
            settings.config.place_records();
        }
        self
    }

    /// The same with other settings of zones.
    pub fn with_zones(mut self, add: impl FnOnce(&mut Config)) -> SettingsFile {
        if let Some(settings) = &mut self.settings {
            add(&mut settings.config);
        }
        self
    }

    /// Goes on with so much of the workspace; `now` is the clock, and `progress` hears what is being read, from any thread.
    pub fn load(self, extent: WorkspaceExtent, now: Time, progress: &(dyn Fn(&str) + Sync)) -> LoadedWorkspace {
        let (loaded, folder) = load(self, extent, now, progress);
        LoadedWorkspace { traces: folder.into_traces(), ..loaded }
    }

    /// The settings alone, for what concerns zones and no hosts.
    pub fn into_config(self) -> LoadedConfig {
        let OpenWorkspace { files, mut diagnostics, .. } = self.workspace;
        diagnostics.settle();
        LoadedConfig { config: self.settings.map(|settings| settings.config), files, diagnostics }
    }

    /// The settings, the files of projects and of sets of pods, and no export: for commands that derive nothing. Also what
    /// the settings say of the sources.
    ///
    /// What is wrong in a project file is not reported: [`ProjectFile`](super::model::ProjectFile) says that it is bad.
    pub fn into_projects(self) -> ReadSettings {
        let SettingsFile { mut workspace, settings, .. } = self;
        let mut diagnostics = std::mem::take(&mut workspace.diagnostics);
        diagnostics.settle();
        let (config, projects, pod_sets, sources) = match settings {
            Some(settings) => {
                let (read, _) = projects::read(&mut workspace, &settings);
                let files = pod_sets::read(&mut workspace, &settings, &read);
                let Settings { config, admins, sources, .. } = settings;
                let ids = pod_sets::numbered(&admins);
                let projects = projects::halves(admins, read, std::iter::empty());
                let mut pods = Pods::default();
                pod_sets::join(&mut pods, files, &ids, &projects, &mut Diagnostics::default());
                (Some(config), projects, pods.sets, sources)
            }
            None => (None, Vec::new(), Vec::new(), Vec::new()),
        };
        let loaded = LoadedConfig { config, files: workspace.files, diagnostics };
        ReadSettings { loaded, projects, pod_sets, sources }
    }
}

/// Reads so much of a workspace; gives its folder back.
fn load(
    SettingsFile { mut workspace, settings, of_records }: SettingsFile,
    extent: WorkspaceExtent,
    now: Time,
    progress: &(dyn Fn(&str) + Sync),
) -> (LoadedWorkspace, WorkspaceFolder) {
    progress(SETTINGS);
    workspace.diagnostics.append(of_records);
    let Some(settings) = settings else {
        workspace.diagnostics.settle();
        let (inventory, diagnostics) = (Err(workspace.files), workspace.diagnostics);
        let traces = FolderTraces::default();
        return (LoadedWorkspace { inventory, diagnostics, traces, rows: None }, workspace.folder);
    };
    progress("projects");
    let (project_files, projects_trust) = projects::read(&mut workspace, &settings);
    let pod_sets = pod_sets::read(&mut workspace, &settings, &project_files);
    let project_ids = pod_sets::numbered(&settings.admins);
    // No export was read yet: what was found is about settings.
    let settings_errors = workspace.errors_by_file();
    let (mut draft, exports) = workspace.read_sources(&settings, extent, now, progress);
    sources::warn_of_left_out(&mut draft, &workspace.files);
    let updates = &settings.config.update_records;
    draft.apps.records_trust = updates.trust.clone();
    published::add(&mut draft, &published::records(updates), &workspace.files);
    let projects = projects::join(&mut draft, settings.admins, project_files, &mut workspace.diagnostics);
    pod_sets::join(&mut draft.pods, pod_sets, &project_ids, &projects, &mut workspace.diagnostics);
    pod_clashes::mark(&mut draft.pods, &draft.symbols, &workspace.files, &mut workspace.diagnostics);
    let OpenWorkspace { folder, mut files, inputs, mut diagnostics, rows, .. } = workspace;
    files.mark_crowded(&draft.crowded);
    diagnostics.append(draft.found);
    // A source that is left out must not look empty.
    let unless_left_out = |name: &str, trust: Trust| match extent {
        WorkspaceExtent::Whole => trust,
        WorkspaceExtent::Names => {
            Trust::Unknown { reason: format!("source `{name}`: not read, since names do not come from it") }
        }
    };
    let trust = SourceTrust {
        projects: projects_trust,
        hosts: draft.hosts_trust,
        l3_tors: unless_left_out("l3_tors", draft.tors_trust),
        net_layout: unless_left_out("net_layout", draft.layout_trust),
        ipv4_map: unless_left_out("ipv4_map", draft.ipv4_map_trust),
        addresses: unless_left_out("addresses", draft.addresses_trust),
        names_lock: draft.lock_trust,
    };
    if settings.sources.iter().any(|spec| spec.key == "pods") {
        draft.pods.is_exported = true;
        draft.pods.trust = unless_left_out("pods", draft.pods.trust);
    }
    let inventory = Inventory {
        files,
        symbols: draft.symbols,
        config: settings.config,
        projects,
        hosts: draft.hosts,
        devices: draft.devices,
        tors: draft.tors,
        layout: draft.layout,
        ipv4_map: draft.ipv4_map,
        addresses: draft.addresses,
        mac_sources: draft.mac_sources,
        reports: reports::in_order(draft.reports),
        lock: draft.lock,
        stray_names: draft.stray_names,
        trust,
        exports,
        inputs,
        has_bad_names: draft.has_bad_names,
        stated: draft.stated,
        pods: draft.pods,
        apps: draft.apps,
        published: draft.published,
        settings_errors,
        moves: draft.moves,
    };
    if extent == WorkspaceExtent::Whole {
        listed::warn(&inventory, settings.sources.iter().any(|spec| spec.name == "addresses"), &mut diagnostics);
    }
    diagnostics.settle();
    (LoadedWorkspace { inventory: Ok(inventory), diagnostics, traces: FolderTraces::default(), rows }, folder)
}

/// What people set, without any export.
#[derive(Debug)]
pub struct ReadSettings {
    /// zonewright.toml.
    pub loaded: LoadedConfig,
    /// The projects, sorted by id.
    pub projects: Vec<Project>,
    /// The sets of pods that have a file, sorted by id.
    pub pod_sets: Vec<PodSet>,
    /// What zonewright.toml says of the sources.
    pub sources: Vec<SourceSpec>,
}

/// What zonewright.toml says, by itself.
#[derive(Debug)]
pub struct LoadedConfig {
    /// The settings; `None` where they cannot be used.
    pub config: Option<Config>,
    /// The files that were read.
    pub files: Files,
    /// All that was found, settled.
    pub diagnostics: Diagnostics,
}

/// The files of an export, unread.
#[derive(Debug, Clone)]
pub struct ExportFiles {
    /// The source.
    pub source: String,
    /// Whether it is one of MACs.
    pub is_of_macs: bool,
    /// The digests of its files, by name; empty where not all of them could be read.
    pub digests: BTreeMap<String, String>,
}

/// Finds the files of all exports that the settings name, and hashes those whose digest is not `known` by their name, without
/// reading their rows.
pub fn export_files(
    dir: &Path,
    config: &Config,
    sources: &[SourceSpec],
    known: &(dyn Fn(&str) -> Option<String> + Sync),
) -> Vec<ExportFiles> {
    let mut workspace = OpenWorkspace::new(WorkspaceFolder::new(dir));
    let jobs: Vec<SourceJob<'_>> = sources.iter().filter_map(|spec| workspace.prepare(spec, config)).collect();
    let of_job = |job: &SourceJob<'_>| {
        let hash = |file: &FoundFile| Some(disk::digest(&workspace.folder.read(file, u64::MAX).ok()?));
        let hash = |file: &FoundFile| Some((file.name.clone(), known(&file.name).or_else(|| hash(file))?));
        let digests: Option<BTreeMap<String, String>> = job.files.par_iter().map(hash).collect();
        let digests = digests.filter(|_| job.tally.doubt.is_none()).unwrap_or_default();
        let is_of_macs = job.format.occurs == Occurrence::Listed;
        ExportFiles { source: job.spec.name.clone(), is_of_macs, digests }
    };
    jobs.iter().filter(|job| job.is_export()).map(of_job).collect()
}

/// Whether a workspace still looks as it did when it was read: then a reading would give the same.
pub fn still_shows(dir: &Path, traces: &FolderTraces) -> bool {
    WorkspaceFolder::new(dir).still_shows(traces)
}

/// The names of the configured sources, in the order in which they are read; empty where zonewright.toml cannot be used.
pub fn source_names(dir: &Path) -> Vec<String> {
    let settings = OpenWorkspace::new(WorkspaceFolder::new(dir)).read_settings();
    let is_export = |spec: &&SourceSpec| !matches!(format_of(spec).occurs, Occurrence::Fixed(_));
    let sources = settings.iter().flat_map(|settings| &settings.sources);
    sources.filter(is_export).map(|spec| spec.name.clone()).collect()
}

/// Reads a file of an export again; `None` where it cannot be read or has changed.
pub fn export_content(dir: &Path, name: &str, digest: &str) -> Option<Vec<u8>> {
    let folder = WorkspaceFolder::new(dir);
    let file = folder.file(name, &mut Files::default());
    folder.read(&file, u64::MAX).ok().filter(|bytes| disk::digest(bytes) == digest)
}

/// Why names.lock cannot be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotReadAgain {
    /// It has changed, or is no longer there.
    Changed,
    /// It is not UTF-8.
    NotUtf8,
}

/// Reads names.lock again, which must not have changed since it was read for `inventory`; empty where there is no file.
///
/// Errors: [`NotReadAgain`].
pub fn names_lock(dir: &Path, inventory: &Inventory) -> Result<String, NotReadAgain> {
    match inventory.inputs.get(NAMES_LOCK) {
        Some(digest) => {
            let content = export_content(dir, NAMES_LOCK, digest).ok_or(NotReadAgain::Changed)?;
            String::from_utf8(content).map_err(|_| NotReadAgain::NotUtf8)
        }
        None if WorkspaceFolder::new(dir).lacks(NAMES_LOCK) => Ok(String::new()),
        None => Err(NotReadAgain::Changed),
    }
}

/// A workspace that is being read.
struct OpenWorkspace {
    /// Its folder.
    folder: WorkspaceFolder,
    /// The files so far.
    files: Files,
    /// Their digests.
    inputs: BTreeMap<String, String>,
    /// What was found so far.
    diagnostics: Diagnostics,
    /// Whether hosts.csv is kept.
    keeps_rows: bool,
    /// The same, once it was read.
    rows: Option<KeptRows>,
}

impl OpenWorkspace {
    /// Starts on a folder.
    fn new(folder: WorkspaceFolder) -> OpenWorkspace {
        OpenWorkspace {
            folder,
            files: Files::default(),
            inputs: BTreeMap::new(),
            diagnostics: Diagnostics::default(),
            keeps_rows: false,
            rows: None,
        }
    }

    /// Reads zonewright.toml; `None` where there is any error in it.
    fn read_settings(&mut self) -> Option<Settings> {
        let file = self.folder.file(SETTINGS, &mut self.files);
        if let Some(missing) = self.folder.lacks(SETTINGS).then(|| self.folder.no_workspace(file.id)).flatten() {
            self.diagnostics.push(missing);
            return None;
        }
        let source = self.read_text(&file)?;
        let parsed = toml::parse(&source);
        let (settings, diagnostics) = settings::read(source, parsed, &sources::known());
        self.diagnostics.append(diagnostics);
        settings
    }

    /// How many errors were found so far in each file that has any, by its name. That a source is missing is said of the
    /// source.
    fn errors_by_file(&self) -> BTreeMap<String, usize> {
        let mut errors = BTreeMap::new();
        let is_counted =
            |found: &&Diagnostic| found.severity == Severity::Error && found.code.as_str() != "source-missing";
        for found in self.diagnostics.iter().filter(is_counted) {
            *errors.entry(self.files.name(found.origin.file).to_owned()).or_default() += 1;
        }
        errors
    }

    /// Reads a settings file; what is wrong with it as a file is reported. An empty one is wrong.
    fn read_text(&mut self, file: &FoundFile) -> Option<SourceText> {
        let source = self.read_any_text(file)?;
        if source.text.trim().is_empty() {
            let diagnostic = Diagnostic::file_error("empty-file", file.id, "the file is empty");
            self.diagnostics.push(diagnostic.hint("restore it from version control"));
            return None;
        }
        Some(source)
    }

    /// The same, where the file may be empty.
    fn read_any_text(&mut self, file: &FoundFile) -> Option<SourceText> {
        let bytes = match self.folder.read(file, MAX_SETTINGS) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.diagnostics.push(error.diagnostic(file.id));
                return None;
            }
        };
        self.inputs.insert(file.name.clone(), disk::digest(&bytes));
        match String::from_utf8(bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                self.check_end(&text, file.id);
                Some(SourceText { file: file.id, text })
            }
            Err(error) => {
                let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + memchr::memchr_iter(b'\n', before).count() as u32;
                let origin = Origin::line(file.id, line);
                let diagnostic = Diagnostic::error("not-utf-8", origin, "the line is not UTF-8");
                self.diagnostics.push(diagnostic.hint("save the file as UTF-8"));
                None
            }
        }
    }

    /// Warns of a settings file whose last line has no end. Editors leave such files; but `ttl: 60` may also be the
    /// rest of `ttl: 600`, and nothing else would show it.
    fn check_end(&mut self, text: &str, file: FileId) {
        if !text.trim().is_empty() && !text.ends_with('\n') {
            let message = "the file does not end with a newline: is it whole?";
            let diagnostic =
                Diagnostic { severity: Severity::Warning, ..Diagnostic::file_error("no-newline", file, message) };
            self.diagnostics.push(diagnostic.hint("end its last line"));
        }
    }

    /// Reads all sources; takes them in in the order of the formats.
    fn read_sources(
        &mut self,
        settings: &Settings,
        extent: WorkspaceExtent,
        now: Time,
        progress: &(dyn Fn(&str) + Sync),
    ) -> (Draft, Vec<Export>) {
        let is_read = |spec: &&SourceSpec| extent == WorkspaceExtent::Whole || format_of(spec).gives_names;
        let specs = settings.sources.iter().filter(is_read);
        let jobs: Vec<SourceJob<'_>> = specs.filter_map(|spec| self.prepare(spec, &settings.config)).collect();
        let clock = RowClock::at(now);
        let context = RowContext {
            files: &self.files,
            clock: &clock,
            free_domain: &settings.config.free_domain,
            name_cooldown: settings.config.name_cooldown,
            admins: &settings.admins,
        };
        let folder = &self.folder;
        // One after another, since each is read side by side in itself, and the content of its files is only dropped
        // behind it.
        let done: Vec<SourceRead> = jobs.into_iter().map(|job| job.run(folder, &context, progress)).collect();
        let (mut draft, mut exports) = (Draft::default(), Vec::new());
        for SourceRead { spec, first, tally: mut found, fold, digests, disagrees, rows } in done {
            self.rows = self.rows.take().or(rows.filter(|_| self.keeps_rows));
            let is_export = !matches!(format_of(&spec).occurs, Occurrence::Fixed(_));
            // A document that is wrong blocks what it is about, and nothing else.
            let is_of_rows = is_export && !spec.has_documents();
            let limit = is_of_rows.then_some(settings.config.max_bad_rows);
            let trust = match (found.judge(&spec.name, limit, first), disagrees) {
                (Trust::Known, Some(cause)) => Trust::Distrusted { reason: format!("source `{}`: {cause}", spec.name) },
                (trust, _) => trust,
            };
            self.diagnostics.append(found.diagnostics);
            let files = digests.iter().map(|(name, _)| name.clone()).collect();
            self.inputs.extend(digests);
            if is_export {
                let SourceTally { rows, bad, dated, .. } = found;
                exports.push(Export { spec, files, first, rows, bad, dated: dated.time() });
            }
            fold(&mut draft, trust);
        }
        draft.moves = clock.next();
        (draft, exports)
    }

    /// Finds the files of one source; `None` for a fixed file that does not exist.
    fn prepare<'a>(&mut self, spec: &'a SourceSpec, config: &Config) -> Option<SourceJob<'a>> {
        let format = format_of(spec);
        if let Occurrence::Fixed(name) = format.occurs
            && self.folder.lacks(name)
        {
            return None;
        }
        let mut tally = SourceTally::default();
        let mut found = Vec::new();
        // Otherwise a glob such as `agents/*` would read the digests next to the exports as exports.
        let digest_file = spec.demands.digest.then_some(checksum::ENDING);
        for pattern in &spec.patterns {
            match self.folder.find(pattern, digest_file) {
                Ok(files) => found.extend(files),
                Err(error) => {
                    tally.doubt.get_or_insert_with(|| error.reason(pattern));
                    tally.diagnostics.push(error.diagnostic(&spec.name, pattern, &config.source));
                }
            }
        }
        Some(SourceJob { spec, format, files: disk::number(found, &mut self.files), tally })
    }
}

/// One source to be read.
struct SourceJob<'a> {
    /// What zonewright.toml says of it.
    spec: &'a SourceSpec,
    /// Its format.
    format: &'static ExportFormat,
    /// Its files.
    files: Vec<FoundFile>,
    /// The errors from before any file is read.
    tally: SourceTally,
}

/// One source, read.
struct SourceRead {
    /// What zonewright.toml says of it.
    spec: SourceSpec,
    /// Its first file.
    first: Option<FileId>,
    /// What is wrong with it.
    tally: SourceTally,
    /// Puts its rows into the draft.
    fold: DraftFold,
    /// The digests of its files.
    digests: Vec<(String, String)>,
    /// Why a file does not agree with its digest file, where `digest` demands it: the first such file.
    disagrees: Option<String>,
    /// hosts.csv, where it is that.
    rows: Option<KeptRows>,
}

impl SourceJob<'_> {
    /// Whether the source is an export, and no file of our own.
    fn is_export(&self) -> bool {
        !matches!(self.format.occurs, Occurrence::Fixed(_))
    }

    /// Reads, hashes and parses the files.
    fn run(
        mut self,
        folder: &WorkspaceFolder,
        context: &RowContext<'_>,
        progress: &(dyn Fn(&str) + Sync),
    ) -> SourceRead {
        progress(&self.spec.name);
        let (max, is_export) = (self.spec.max_size.octets(), self.is_export());
        let read = |file| match self.format.occurs {
            // Agents append to their reports, and a report that is not there yet is no error.
            Occurrence::Listed => folder.read_appended(file, max),
            Occurrence::Required | Occurrence::Optional | Occurrence::Stated | Occurrence::Fixed(_) => {
                folder.read(file, max)
            }
        };
        let mut contents: Vec<_> = self.files.par_iter().map(read).collect();
        let mut readable = Vec::new();
        for (file, content) in self.files.iter().zip(&contents) {
            match content {
                Ok(bytes) => readable.push((file, SourceFile { id: file.id, bytes })),
                Err(error) => {
                    let diagnostic =
                        if is_export { error.diagnostic_of_source(file.id) } else { error.diagnostic(file.id) };
                    self.tally.distrust(file.id, context.files, &error.reason(), diagnostic);
                }
            }
        }
        let input = SourceInput { spec: self.spec, files: readable.iter().map(|(_, file)| *file).collect() };
        let hash = || readable.par_iter().map(|(found, file)| (found.name.clone(), disk::digest(file.bytes))).collect();
        let (part, digests): (_, Vec<(String, String)>) = rayon::join(|| (self.format.read)(&input, context), hash);
        self.tally.append(part.tally);
        let mut disagrees = None;
        if self.spec.demands.digest {
            for ((found, _), (_, digest)) in readable.iter().zip(&digests) {
                // The digest file in the folder is from another time.
                if folder.is_in_front(found) {
                    continue;
                }
                let Err(disagreement) = checksum::compare(folder, found, digest) else { continue };
                self.tally.diagnostics.push(disagreement.diagnostic(&self.spec.name, found));
                disagrees.get_or_insert(disagreement.reason);
            }
        }
        let first = self.files.first().map(|file| file.id);
        let content = contents.pop().and_then(Result::ok).filter(|_| self.format.is_hosts_csv());
        let rows = self.files.pop().filter(|_| self.files.is_empty()).zip(content);
        let rows = rows.map(|(file, bytes)| KeptRows { file, bytes });
        SourceRead { spec: self.spec.clone(), first, tally: self.tally, fold: part.fold, digests, disagrees, rows }
    }
}
