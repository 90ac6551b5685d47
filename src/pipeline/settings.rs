//! What people set: zonewright.toml and the project files, without any export.

use std::path::{Path, PathBuf};

use super::findings::Findings;
use super::{external_dns_records, mark_places, record_targets, record_zones, shared_copies, txt_keys, zone_settings};
use crate::diag::{Diagnostics, Files, Problem};
use crate::inventory::model::{Config, Project};
use crate::inventory::pods::PodSet;
use crate::inventory::read::{LoadedConfig, ReadSettings, SettingsFile};
use crate::inventory::source::SourceSpec;
use crate::provider;
use crate::state::{StateAddress, open_to_read};

/// Why a workspace cannot be worked with at all.
#[derive(Debug)]
pub enum OpenError {
    /// zonewright.toml cannot be used.
    Settings(Box<Findings>),
    /// The state cannot be used, or is in use; or a key of the registry cannot be had.
    State(Problem),
}

impl From<Box<Findings>> for OpenError {
    fn from(findings: Box<Findings>) -> OpenError {
        OpenError::Settings(findings)
    }
}

impl From<Problem> for OpenError {
    fn from(error: Problem) -> OpenError {
        OpenError::State(error)
    }
}

/// Reads zonewright.toml and the DNS update records, and judges the targets of these.
///
/// Commands that read all files report what is wrong with a record, as of project files.
pub fn read_settings(workspace: &Path) -> SettingsFile {
    SettingsFile::read(workspace).with_records(judge_targets)
}

/// Judges what only the providers of targets know: where they keep marks, and whether those of DNS update records can be used.
pub(super) fn judge_targets(config: &mut Config) -> Diagnostics {
    mark_places::settle(config);
    let mut found = record_targets::check(config);
    found.append(external_dns_records::check(config));
    found
}

/// Loads zonewright.toml alone, and checks the targets' settings.
///
/// Errors: what is wrong, where they cannot be used.
pub fn load_config(workspace: &Path) -> Result<(Config, Files), Box<Findings>> {
    checked(read_settings(workspace).into_config())
}

/// What people set, as it is now: for commands that read no export.
#[derive(Debug)]
pub struct WorkspaceSettings {
    /// zonewright.toml.
    pub config: Config,
    /// The files that were read.
    pub files: Files,
    /// The projects, sorted by id.
    pub projects: Vec<Project>,
    /// The sets of pods that have a file, sorted by id.
    pub pod_sets: Vec<PodSet>,
    /// What zonewright.toml says of the sources.
    pub sources: Vec<SourceSpec>,
}

/// Loads zonewright.toml and the project files, and checks the targets' settings.
///
/// Errors: what is wrong, where zonewright.toml cannot be used; or a key of the registry cannot be had.
pub fn load_settings(workspace: &Path) -> Result<WorkspaceSettings, OpenError> {
    let ReadSettings { loaded, projects, pod_sets, sources } = read_settings(workspace).into_projects();
    let (mut config, files) = checked(loaded)?;
    txt_keys::fetch(&mut config, workspace)?;
    if record_zones::are_listed(&config) {
        // What follows reports a state that cannot be read.
        let state = open_to_read(&state_address(workspace, &config)).ok().flatten();
        let sent = state.map(|state| state.sent_zones()).transpose()?;
        config.add_record_zones(sent.unwrap_or_default());
    }
    Ok(WorkspaceSettings { config, files, projects, pod_sets, sources })
}

/// Where the state of a workspace is kept.
pub fn state_address(workspace: &Path, config: &Config) -> StateAddress {
    StateAddress::of_file(workspace, &config.state_file)
}

/// The folder of what a workspace keeps on this machine alone and may lose, such as copies of zones.
pub fn local_folder(workspace: &Path, config: &Config) -> PathBuf {
    workspace.join(&config.state_file).parent().unwrap_or(Path::new("")).to_owned()
}

/// Whether a path is that of the state of a workspace, or of what is next to it: its log and its lock, whose names begin
/// with its name.
pub fn is_of_state(workspace: &Path, config: &Config, path: &Path) -> bool {
    let state = workspace.join(&config.state_file);
    let rest = path.to_str().zip(state.to_str()).and_then(|(path, state)| path.strip_prefix(state));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
}

/// Checks the targets' settings.
///
/// Errors: what is wrong, where they cannot be used.
fn checked(loaded: LoadedConfig) -> Result<(Config, Files), Box<Findings>> {
    let LoadedConfig { config, files, mut diagnostics } = loaded;
    if let Some(config) = &config {
        diagnostics.append(check_targets(config));
        diagnostics.settle();
    }
    match config {
        Some(config) if diagnostics.error_count() == 0 => Ok((config, files)),
        _ => Err(Box::new(Findings { files, diagnostics, ..Findings::default() })),
    }
}

/// Checks the settings of all targets and name servers.
pub fn check_targets(config: &Config) -> Diagnostics {
    let mut found = Diagnostics::default();
    // Those of DNS update records are judged by themselves.
    let listed = || config.pools.iter().filter(|pool| !pool.is_of_record);
    let targets = listed().flat_map(|pool| &pool.targets);
    targets.for_each(|target| found.append(provider::check(target, &config.source)));
    let name_servers = config.pools.iter().flat_map(|pool| &pool.name_servers);
    name_servers.for_each(|server| found.append(provider::check_name_server(&server.settings, &config.source)));
    let keys = config.txt_key.iter().chain(listed().filter_map(|pool| pool.txt_key.as_ref()));
    keys.for_each(|key| found.append(provider::txt_key::check(key, &config.source)));
    let tokens = config.cms.iter().filter_map(|service| service.token.as_ref());
    tokens.for_each(|token| found.append(provider::token::check(token, &config.source)));
    found.append(mark_places::check(config));
    found.append(shared_copies::check(config));
    found.append(zone_settings::check(config));
    found
}
