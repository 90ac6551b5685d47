//! Project files, and the two halves of projects joined.

use std::collections::BTreeMap;

use super::{OpenWorkspace, disk};
use crate::diag::{Code, Diagnostic, Diagnostics, Origin};
use crate::inventory::config::project;
use crate::inventory::config::settings::Settings;
use crate::inventory::model::{Project, ProjectAdmin, ProjectFile, ProjectIndex, ProjectSettings, Trust};
use crate::inventory::node::SourceText;
use crate::inventory::sources::Draft;
use crate::inventory::yaml;
use crate::registry::Registry;

/// A project file whose id could be read.
pub struct ProjectRead {
    /// Its id.
    id: String,
    /// Where the id is written.
    origin: Origin,
    /// What the file says, or where it is wrong.
    file: Result<Box<ProjectSettings>, Origin>,
}

impl ProjectRead {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the id is written.
    pub fn origin(&self) -> Origin {
        self.origin
    }
}

/// Reads all project files; gives those whose id can be read, sorted by it, and whether all could be found and read.
pub fn read(workspace: &mut OpenWorkspace, settings: &Settings) -> (Vec<ProjectRead>, Trust) {
    let mut listing = Vec::new();
    let mut trust = Trust::Known;
    for pattern in &settings.projects {
        match workspace.folder.find(pattern, None) {
            Ok(found) => listing.extend(found),
            Err(error) => {
                let diagnostic = error.diagnostic("projects", pattern, &settings.config.source);
                trust = Trust::Unknown { reason: diagnostic.message.clone() };
                workspace.diagnostics.push(diagnostic);
            }
        }
    }
    // `sync` leaves the zones of a pool with `noop` alone; where all are such, it could do nothing.
    let mut of_pools = settings.config.pools.iter().map(|pool| pool.marking.registry);
    let registry = of_pools.find(|registry| *registry != Registry::Noop).unwrap_or(settings.config.marking.registry);
    let mut documents = Vec::new();
    let mut nameless = Vec::new();
    for file in disk::number(listing, &mut workspace.files) {
        let Some(source) = workspace.read_text(&file) else {
            trust = Trust::Unknown { reason: format!("source `projects`: {} cannot be read", file.name) };
            nameless.push(file.name);
            continue;
        };
        let document = project::read(&source, &yaml::parse(&source), registry, &settings.config.health);
        workspace.diagnostics.append(document.diagnostics);
        let Some((id, origin)) = document.id else {
            nameless.push(file.name);
            continue;
        };
        let file = document.settings.ok_or(document.fault.unwrap_or(origin));
        documents.push(ProjectFileText { source, id_width: document.id_width, read: ProjectRead { id, origin, file } });
    }
    refuse_twins(&mut documents, workspace);
    report_missing(&documents, &nameless, settings, workspace);
    (documents.into_iter().map(|document| document.read).collect(), trust)
}

/// A project file with its text, for excerpts.
struct ProjectFileText {
    /// The text.
    source: SourceText,
    /// How many characters the id takes.
    id_width: usize,
    /// What was read.
    read: ProjectRead,
}

/// Sorts project files by id, and makes all bad that claim one id.
fn refuse_twins(documents: &mut [ProjectFileText], workspace: &mut OpenWorkspace) {
    documents.sort_by(|a, b| (&a.read.id, a.read.origin).cmp(&(&b.read.id, b.read.origin)));
    for twins in documents.chunk_by_mut(|a, b| a.read.id == b.read.id).filter(|twins| twins.len() > 1) {
        let (first, second) = (twins[0].read.origin, twins[1].read.origin);
        for ProjectFileText { source, id_width, read } in twins {
            let other = if read.origin == first { second } else { first };
            let message = format!("the project id `{}` is in several files", read.id);
            workspace.diagnostics.push(
                source
                    .error("duplicate-project", read.origin, *id_width, message)
                    .also(format!("the other is {}", workspace.files.place(other)))
                    .rule("a project has one file; if several files have its id, zonewright uses none of them")
                    .hint("give one of them another id, or remove it"),
            );
            read.file = Err(read.origin);
        }
    }
}

/// Reports projects of zonewright.toml that no file has; `documents` are sorted by id, and of the files `nameless` the
/// id cannot be read, so that each may be the one.
fn report_missing(
    documents: &[ProjectFileText],
    nameless: &[String],
    settings: &Settings,
    workspace: &mut OpenWorkspace,
) {
    for (id, admin) in &settings.admins {
        if documents.binary_search_by(|document| document.read.id.cmp(id)).is_err() {
            let message = format!("no project file has the id `{id}`");
            let width = id.chars().count();
            let mut diagnostic = settings.config.source.error("missing-project", admin.origin, width, message);
            for file in nameless {
                diagnostic = diagnostic.also(format!("the id of {file} cannot be read"));
            }
            workspace.diagnostics.push(
                diagnostic
                    .rule("a project needs `[project.ID]` in zonewright.toml and a project file of its owner")
                    .hint("add the file, or correct the id; until then its hosts are blocked `bad-input`"),
            );
        }
    }
}

/// Joins the halves of projects with the ids that rows name, sorted by id; renumbers the rows to match.
pub fn join(
    draft: &mut Draft,
    admins: BTreeMap<String, ProjectAdmin>,
    read: Vec<ProjectRead>,
    diagnostics: &mut Diagnostics,
) -> Vec<Project> {
    let projects = halves(admins, read, draft.projects.texts());
    renumber(draft, &projects);
    warn_of_unknown(draft, &projects, diagnostics);
    projects
}

/// Joins the halves of projects, with the ids that rows name; sorted by id.
pub fn halves<'n>(
    mut admins: BTreeMap<String, ProjectAdmin>,
    read: Vec<ProjectRead>,
    named: impl Iterator<Item = &'n str>,
) -> Vec<Project> {
    let mut files: BTreeMap<String, ProjectFile> = BTreeMap::new();
    for ProjectRead { id, file, .. } in read {
        // All files with the same id are bad; the first represents them.
        files.entry(id).or_insert(match file {
            Ok(settings) => ProjectFile::Good(settings),
            Err(origin) => ProjectFile::Bad { origin },
        });
    }
    for id in admins.keys().cloned().chain(named.map(str::to_owned)) {
        files.entry(id).or_insert(ProjectFile::Missing);
    }
    files.into_iter().map(|(id, file)| Project { admin: admins.remove(&id), id, file }).collect()
}

/// Changes the numbers of projects in rows to those of the sorted list.
fn renumber(draft: &mut Draft, projects: &[Project]) {
    let place = |id: &str| projects.binary_search_by(|project| project.id.as_str().cmp(id));
    let place = |id: &str| place(id).expect("every id that a row names is in the list") as u32;
    let numbers: Vec<ProjectIndex> = draft.projects.texts().map(|id| ProjectIndex(place(id))).collect();
    let of_hosts = draft.hosts.iter_mut().map(|host| &mut host.project);
    let sources = draft.stated.sources.iter_mut().chain(&mut draft.published.sources);
    let of_sources = sources.map(|source| &mut source.project);
    for project in of_hosts.chain(draft.lock.iter_mut().map(|row| &mut row.project)).chain(of_sources) {
        *project = numbers[project.0 as usize];
    }
}

/// The code of a project that only hosts name: a warning at the first of its rows.
pub const UNKNOWN_PROJECT: Code = Code::new("unknown-project");

/// Warns of projects that only hosts name, once each, at the first.
fn warn_of_unknown(draft: &Draft, projects: &[Project], diagnostics: &mut Diagnostics) {
    let known = |project: &Project| project.admin.is_some() || !matches!(project.file, ProjectFile::Missing);
    let mut firsts: Vec<Option<Origin>> = projects.iter().map(|_| None).collect();
    for host in draft.hosts.iter().filter(|host| !host.bad && !known(&projects[host.project.0 as usize])) {
        let first = firsts[host.project.0 as usize].get_or_insert(host.origin);
        *first = host.origin.min(*first);
    }
    for (project, origin) in projects.iter().zip(firsts) {
        let Some(origin) = origin else { continue };
        let message = format!("project `{}` occurs only in hosts.csv; its hosts are skipped", project.id);
        let hint = format!("correct the rows, or add `[project.{}]` and a project file", project.id);
        diagnostics.push(Diagnostic::warning(UNKNOWN_PROJECT, origin, message).hint(hint));
    }
}
