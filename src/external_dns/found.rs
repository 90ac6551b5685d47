//! What a file in the folder is: one of ours, by its name and by the label that each of its objects has, or another one.

use std::collections::BTreeSet;

use super::objects::{
    DEPLOYMENT_KIND, ENDPOINT_KIND, NAMESPACE_FLAG, USED_BY, endpoint_file, is_file_name, program_file,
};
use crate::diag::Files;
use crate::inventory::node::{SettingsNode, SourceText};
use crate::inventory::yaml;

/// A file of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundManifest {
    /// The record that it is of.
    pub record: String,
    /// What is in it.
    pub content: FoundContent,
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

/// Reads a file; `label` is the key of the label. None where it is not one of ours.
pub fn read(name: &str, text: &str, label: &str) -> Option<FoundManifest> {
    if !is_file_name(name) {
        return None;
    }
    let source = SourceText { file: Files::default().add(name), text: text.to_owned() };
    let read = yaml::parse_documents(&source);
    let objects: Vec<&SettingsNode> =
        read.documents.iter().map(|document| &document.root).filter(|root| !root.is_null()).collect();
    let is_whole = read.broken.is_none() && read.documents.iter().all(|document| document.faults.is_empty());
    let record = objects.first().filter(|_| is_whole).and_then(|object| labelled(object, label))?;
    if !objects.iter().all(|object| labelled(object, label) == Some(record)) {
        return None;
    }
    let content = match objects.as_slice() {
        [object] if text_at(object, &["kind"]) == Some(ENDPOINT_KIND) => {
            let namespace = text_at(object, &["metadata", "namespace"])?;
            let own = text_at(object, &["metadata", "name"])?;
            (name == endpoint_file(namespace, own))
                .then(|| FoundContent::Endpoint { namespace: namespace.to_owned() })?
        }
        objects if name == program_file(record) => program(objects),
        _ => return None,
    };
    Some(FoundManifest { record: record.to_owned(), content })
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
