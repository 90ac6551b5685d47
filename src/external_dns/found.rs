//! What a file in the folder is: one of ours, by its name and by the label that each of its objects has, or another one.

use std::collections::BTreeSet;

use super::objects::{
    DEPLOYMENT_KIND, ENDPOINT_KIND, HEAD, NAMESPACE_FLAG, USED_BY, endpoint_file, is_file_name, program_file,
};
use crate::diag::Files;
use crate::inventory::node::{SettingsNode, SourceText};
use crate::inventory::yaml::{self, YamlDocuments};

/// A file that has a name of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderFile {
    /// It is one of ours.
    Ours(FoundManifest),
    /// It cannot be read as one of ours.
    Strange(StrangeManifest),
}

/// A file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundManifest {
    /// The record that it is of.
    pub record: String,
    /// What is in it.
    pub content: FoundContent,
}

/// A file that has a name of ours and cannot be read as one of ours: another program wrote it, or it was damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrangeManifest {
    /// What is wrong with it.
    pub why: String,
    /// Whether it was ours: it has our first line, or nothing at all.
    pub was_ours: bool,
}

/// What is in a file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundContent {
    /// An endpoint.
    Endpoint {
        /// Its namespace.
        namespace: String,
    },
    /// The external-dns of the record.
    Program {
        /// Who uses it, by its annotation.
        users: BTreeSet<String>,
        /// The one namespace that it looks at; none where it looks at all.
        namespace: Option<String>,
    },
}

/// Reads a file; `label` is the key of the label. None where it does not have a name of ours.
pub fn read(name: &str, text: &str, label: &str) -> Option<FolderFile> {
    if !is_file_name(name) {
        return None;
    }
    Some(match manifest(name, text, label) {
        Ok(manifest) => FolderFile::Ours(manifest),
        Err(why) => {
            let was_ours = text.trim().is_empty() || text.lines().any(|line| line == HEAD.trim_end());
            FolderFile::Strange(StrangeManifest { why, was_ours })
        }
    })
}

/// Reads a file as one of ours.
///
/// Errors: why it is none.
fn manifest(name: &str, text: &str, label: &str) -> Result<FoundManifest, String> {
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.lines().any(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ")) {
        return Err("it has the marks of a merge conflict".to_owned());
    }
    let source = SourceText { file: Files::default().add(name), text: text.to_owned() };
    let YamlDocuments { documents, broken } = yaml::parse_documents(&source);
    let faults = documents.iter().flat_map(|document| document.faults.iter()).chain(&broken);
    if let Some(line) = faults.map(|fault| fault.origin.line).min() {
        return Err(format!("line {line} cannot be read as YAML"));
    }
    let objects: Vec<&SettingsNode> =
        documents.iter().map(|document| &document.root).filter(|root| !root.is_null()).collect();
    let record = record_of(&objects, label)?;
    let content = match objects.as_slice() {
        [object] if text_at(object, &["kind"]) == Some(ENDPOINT_KIND) => endpoint(object, name)?,
        objects if name == program_file(record) => program(objects),
        _ => return Err(format!("it is neither a DNSEndpoint nor the external-dns of the record `{record}`")),
    };
    Ok(FoundManifest { record: record.to_owned(), content })
}

/// The record that the labels of all objects name.
///
/// Errors: they name none, or several.
fn record_of<'n>(objects: &[&'n SettingsNode], label: &str) -> Result<&'n str, String> {
    let mut record = None;
    for object in objects {
        let Some(own) = labelled(object, label) else {
            return Err(format!("its object in line {} does not have the label `{label}`", object.origin.line));
        };
        if record.is_some_and(|record| record != own) {
            return Err(format!("its objects do not have one value of the label `{label}`"));
        }
        record = Some(own);
    }
    record.ok_or_else(|| "it has no object".to_owned())
}

/// What an endpoint says, in the file of this name.
///
/// Errors: the file has not the name of the endpoint.
fn endpoint(object: &SettingsNode, file: &str) -> Result<FoundContent, String> {
    let namespace = text_at(object, &["metadata", "namespace"]).unwrap_or_default();
    let name = text_at(object, &["metadata", "name"]).unwrap_or_default();
    if file != endpoint_file(namespace, name) {
        return Err(format!("it has the DNSEndpoint `{namespace}/{name}`, which has another file"));
    }
    Ok(FoundContent::Endpoint { namespace: namespace.to_owned() })
}

/// What the objects of an external-dns say.
fn program(objects: &[&SettingsNode]) -> FoundContent {
    let deployment = objects.iter().find(|object| text_at(object, &["kind"]) == Some(DEPLOYMENT_KIND));
    let users =
        deployment.and_then(|object| text_at(object, &["metadata", "annotations", USED_BY])).unwrap_or_default();
    let container = deployment.and_then(|object| {
        let containers =
            ["spec", "template", "spec", "containers"].iter().try_fold(*object, |node, key| node.get(key))?;
        containers.as_list()?.first()
    });
    let args =
        container.and_then(|container| container.get("args")).and_then(SettingsNode::as_list).unwrap_or_default();
    let namespace = args.iter().find_map(|arg| arg.as_text()?.strip_prefix(NAMESPACE_FLAG));
    FoundContent::Program {
        users: users.split(',').filter(|user| !user.is_empty()).map(str::to_owned).collect(),
        namespace: namespace.map(str::to_owned),
    }
}

/// The record that the label of an object names.
fn labelled<'n>(object: &'n SettingsNode, label: &str) -> Option<&'n str> {
    text_at(object, &["metadata", "labels", label]).filter(|record| !record.is_empty())
}

/// The text at a path of keys.
fn text_at<'n>(object: &'n SettingsNode, path: &[&str]) -> Option<&'n str> {
    path.iter().try_fold(object, |node, key| node.get(key))?.as_text()
}
