//! The files of sets of pods, joined with the sets that rows name.

use std::collections::BTreeMap;

use super::projects::ProjectRead;
use super::{OpenWorkspace, disk};
use crate::diag::{Diagnostic, Diagnostics, Origin, did_you_mean};
use crate::inventory::config::pod_set::{self, PodSetContext};
use crate::inventory::config::settings::Settings;
use crate::inventory::model::{Project, ProjectAdmin, ProjectIndex, Trust};
use crate::inventory::node::SourceText;
use crate::inventory::pods::{PodSet, PodSetFile, PodSetIndex, Pods};
use crate::inventory::yaml;

/// The name of the source in messages.
const SOURCE: &str = "pod_sets";

/// The files of sets, read.
pub struct PodSetFiles {
    /// Those whose id can be read, sorted by it; several of one id are all bad.
    sets: Vec<PodSetRead>,
    /// The files whose id cannot be read.
    nameless: Vec<String>,
    /// Whether all could be found and read.
    trust: Trust,
}

/// The file of a set whose id could be read.
struct PodSetRead {
    /// Its id.
    id: String,
    /// Where the id is written.
    origin: Origin,
    /// What the file says; projects are numbered as in zonewright.toml.
    file: PodSetFile,
}

/// Such a file with its text, for excerpts.
struct PodSetText {
    /// The text.
    source: SourceText,
    /// How many characters the id takes.
    id_width: usize,
    /// The project that it names, as in zonewright.toml.
    project: Option<ProjectIndex>,
    /// What was read.
    read: PodSetRead,
}

/// Reads the files of all sets; `projects` are the project files, whose ids no set may have.
pub fn read(workspace: &mut OpenWorkspace, settings: &Settings, projects: &[ProjectRead]) -> PodSetFiles {
    let mut listing = Vec::new();
    let (mut trust, mut nameless, mut documents) = (Trust::Known, Vec::new(), Vec::new());
    for pattern in &settings.pod_sets.patterns {
        match workspace.folder.find(pattern, None) {
            Ok(found) => listing.extend(found),
            Err(_) if settings.pod_sets.may_lack => {}
            Err(error) => {
                let diagnostic = error.diagnostic(SOURCE, pattern, &settings.config.source);
                trust = Trust::Unknown { reason: diagnostic.message.clone() };
                workspace.diagnostics.push(diagnostic);
            }
        }
    }
    let context = PodSetContext { admins: &settings.admins, health: &settings.config.health };
    for file in disk::number(listing, &mut workspace.files) {
        let Some(source) = workspace.read_text(&file) else {
            trust = Trust::Unknown { reason: format!("source `{SOURCE}`: {} cannot be read", file.name) };
            nameless.push(file.name);
            continue;
        };
        let document = pod_set::read(&source, &yaml::parse(&source), context);
        workspace.diagnostics.append(document.diagnostics);
        let Some((id, origin)) = document.id else {
            nameless.push(file.name);
            continue;
        };
        let (id_width, project) = (document.id_width, document.project);
        let bad = PodSetFile::Bad { origin: document.fault.unwrap_or(origin), project };
        let file = document.terms.map_or(bad, PodSetFile::Good);
        documents.push(PodSetText { source, id_width, project, read: PodSetRead { id, origin, file } });
    }
    refuse_ids_of_projects(&mut documents, settings, projects, workspace);
    refuse_twins(&mut documents, workspace);
    PodSetFiles { sets: documents.into_iter().map(|document| document.read).collect(), nameless, trust }
}

/// Makes sets bad that have the id of a project.
fn refuse_ids_of_projects(
    documents: &mut [PodSetText],
    settings: &Settings,
    projects: &[ProjectRead],
    workspace: &mut OpenWorkspace,
) {
    for PodSetText { source, id_width, project, read } in documents {
        let other = projects.iter().find(|project| project.id() == read.id).map(ProjectRead::origin);
        let Some(other) = other.or(settings.admins.get(&read.id).map(|admin| admin.origin)) else { continue };
        let message = format!("`{}` is the id of a project", read.id);
        workspace.diagnostics.push(
            source
                .error("duplicate-group", read.origin, *id_width, message)
                .also(format!("the project is {}", workspace.files.place(other)))
                .rule("a set and a project have different ids: rollouts and limits name both by their ids alone")
                .hint("give the set another id, here and in the rows of its pods"),
        );
        read.file = PodSetFile::Bad { origin: read.origin, project: *project };
    }
}

/// Sorts the files by id, and makes all bad that claim one id.
fn refuse_twins(documents: &mut [PodSetText], workspace: &mut OpenWorkspace) {
    documents.sort_by(|a, b| (&a.read.id, a.read.origin).cmp(&(&b.read.id, b.read.origin)));
    for twins in documents.chunk_by_mut(|a, b| a.read.id == b.read.id).filter(|twins| twins.len() > 1) {
        let (first, second) = (twins[0].read.origin, twins[1].read.origin);
        let project = twins[0].project;
        let is_of_one = twins.iter().all(|twin| twin.project == project);
        for PodSetText { source, id_width, read, .. } in twins {
            let other = if read.origin == first { second } else { first };
            let message = format!("the set id `{}` is in several files", read.id);
            workspace.diagnostics.push(
                source
                    .error("duplicate-set", read.origin, *id_width, message)
                    .also(format!("the other is {}", workspace.files.place(other)))
                    .rule("a set has one file; if several files have its id, zonewright uses none of them")
                    .hint("give one of them another id, or remove it"),
            );
            read.file = PodSetFile::Bad { origin: read.origin, project: project.filter(|_| is_of_one) };
        }
    }
}

/// The ids of `[project.X]`, in the order in which files of sets number them.
pub fn numbered(admins: &BTreeMap<String, ProjectAdmin>) -> Vec<String> {
    admins.keys().cloned().collect()
}

/// Joins the files with the sets that rows name, sorted by id; `ids` are those of [`numbered`].
pub fn join(pods: &mut Pods, files: PodSetFiles, ids: &[String], projects: &[Project], diagnostics: &mut Diagnostics) {
    report_unknown(pods, &files, diagnostics);
    let PodSetFiles { sets, nameless, trust } = files;
    pods.sets_trust = trust;
    pods.nameless_files = nameless;
    let place = |id: &String| projects.binary_search_by(|project| project.id.cmp(id));
    let place = |id: &String| ProjectIndex(place(id).expect("every project of zonewright.toml is in the list") as u32);
    let numbers: Vec<ProjectIndex> = ids.iter().map(place).collect();
    let mut by_id: BTreeMap<String, PodSetFile> = BTreeMap::new();
    for PodSetRead { id, mut file, .. } in sets {
        match &mut file {
            PodSetFile::Good(terms) => terms.project = numbers[terms.project.0 as usize],
            PodSetFile::Bad { project, .. } => *project = project.map(|project| numbers[project.0 as usize]),
            PodSetFile::Missing => {}
        }
        // All files with the same id are bad; the first represents them.
        by_id.entry(id).or_insert(file);
    }
    let named: Vec<Box<str>> = pods.sets.drain(..).map(|set| set.id).collect();
    for id in &named {
        by_id.entry(id.to_string()).or_insert(PodSetFile::Missing);
    }
    pods.sets = by_id.into_iter().map(|(id, file)| PodSet { id: id.into(), file }).collect();
    let place = |id: &str| pods.find_set(id).expect("every set that a row names is in the list");
    let numbers: Vec<PodSetIndex> = named.iter().map(|id| place(id)).collect();
    // Both lists are sorted by id, so that the rows stay in order.
    for pod in &mut pods.rows {
        pod.set = numbers[pod.set.0 as usize];
    }
}

/// Reports sets that only rows name, once each, at the first row.
fn report_unknown(pods: &Pods, files: &PodSetFiles, diagnostics: &mut Diagnostics) {
    let is_there = |id: &str| files.sets.binary_search_by(|set| set.id.as_str().cmp(id)).is_ok();
    for (place, set) in pods.sets.iter().enumerate().filter(|(_, set)| !is_there(&set.id)) {
        let rows = &pods.rows[pods.places_of(PodSetIndex(place as u32))];
        let Some(first) = rows.iter().map(|pod| pod.origin).min() else { continue };
        let count = match rows.len() {
            1 => "1 pod is".to_owned(),
            many => format!("{many} pods are"),
        };
        let message = format!("{count} of the set `{}`, and no file has this id", set.id);
        let mut error = Diagnostic::error("unknown-set", first, message);
        for file in &files.nameless {
            error = error.also(format!("the id of {file} cannot be read"));
        }
        let near = did_you_mean(&set.id, files.sets.iter().map(|set| set.id.as_str()));
        let hint = near.unwrap_or_else(|| "add the file of the set below `pod-sets`, or correct the rows".to_owned());
        diagnostics.push(error.rule("a pod needs the file of its set, which names its project and domain").hint(hint));
    }
}
