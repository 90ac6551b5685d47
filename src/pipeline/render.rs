//! Finds what consumers without DNS need, in the inventory alone. Asks no server and writes nothing.
//!
//! Comes in: a workspace, and the sets of pods that are asked for. Goes out: their endpoints, or why the lists could be too
//! short: a consumer that reads an empty list takes the service down, so that there is no list then.

use std::collections::BTreeSet;
use std::path::Path;

use super::findings::Findings;
use super::inputs::load_held;
use super::settings::OpenError;
use crate::desired::endpoints::SetEndpoints;
use crate::diag::{CallError, Diagnostics, did_you_mean};
use crate::inventory::Inventory;
use crate::inventory::model::Trust;
use crate::inventory::pods::{PodSetFile, PodSetIndex, PodSetTerms, Pods};
use crate::inventory::value::Time;
use crate::progress::Progress;

/// How many sets are listed where the command line names an unknown one.
const SETS_LISTED: usize = 8;

/// What is to be found.
#[derive(Debug, Clone, Copy)]
pub struct EndpointsRequest<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock that ages are measured against.
    pub now: Time,
    /// The ids of the sets; all where empty.
    pub sets: &'a [String],
}

/// The endpoints that were asked for, and what was found on the way.
#[derive(Debug)]
pub struct EndpointsFound {
    /// The sets, sorted by id; or why there is no list.
    pub sets: Result<Vec<SetEndpoints>, RenderError>,
    /// What was found.
    pub findings: Findings,
}

/// Why there is no list.
#[derive(Debug)]
pub enum RenderError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// The command line names a set that is not known.
    Call(CallError),
    /// zonewright.toml names no export of pods.
    NoExport,
    /// There is no set of pods.
    NoSets,
    /// The file of a set cannot be used; says which.
    BadSet(String),
    /// The export of pods, or where the files of sets are, is in doubt, so that pods or sets may be missing.
    Doubted {
        /// What is in doubt.
        reason: String,
        /// Whether an export was read whole, and failed a test that `accept` can overrule.
        is_distrusted: bool,
    },
    /// An endpoint lists no pod, and pods that it may list have bad rows.
    Hollow {
        /// The endpoint: `shop/_http._tcp`.
        endpoint: String,
        /// How many pods it may lack.
        lacks: usize,
    },
}

impl From<CallError> for RenderError {
    fn from(error: CallError) -> RenderError {
        RenderError::Call(error)
    }
}

/// Finds the endpoints of sets. The export of pods is tested as `check` tests it, also against the export that was accepted
/// last, where there is a state.
pub fn endpoints(request: &EndpointsRequest<'_>, progress: &dyn Progress) -> EndpointsFound {
    let (inventory, diagnostics) = match load_held(request.workspace, request.now, progress) {
        Ok(loaded) => loaded,
        Err(error) => {
            return EndpointsFound { sets: Err(RenderError::Open(error)), findings: Findings::default() };
        }
    };
    let sets = found(&inventory, request.sets);
    EndpointsFound { sets, findings: findings(inventory, diagnostics) }
}

/// The endpoints of some sets, or of all where none is named.
///
/// Errors: something may be missing.
fn found(inventory: &Inventory, named: &[String]) -> Result<Vec<SetEndpoints>, RenderError> {
    let pods = &inventory.pods;
    if let Some(reason) = pods.doubted().doubt() {
        let is_distrusted = matches!(pods.doubted(), Trust::Distrusted { .. });
        return Err(RenderError::Doubted { reason: reason.to_owned(), is_distrusted });
    }
    if let Some(file) = pods.nameless_files.first().filter(|_| named.is_empty()) {
        return Err(RenderError::BadSet(format!("the id of {file} cannot be read")));
    }
    if pods.sets.is_empty() {
        return Err(RenderError::NoSets);
    }
    if !inventory.exports.iter().any(|export| export.spec.key == "pods") {
        return Err(RenderError::NoExport);
    }
    let sets: BTreeSet<PodSetIndex> = match named {
        [] => (0..pods.sets.len()).map(|place| PodSetIndex(place as u32)).collect(),
        named => named.iter().map(|id| find_set(pods, id)).collect::<Result<_, _>>()?,
    };
    let of_set = |set: PodSetIndex| {
        let found = SetEndpoints::of(inventory, set, terms_of(inventory, set)?);
        match found.hollow() {
            Some(list) => {
                let endpoint = format!("{}/_{}._{}", found.id, list.name, list.protocol);
                Err(RenderError::Hollow { endpoint, lacks: list.lacks })
            }
            None => Ok(found),
        }
    };
    sets.into_iter().map(of_set).collect()
}

/// Finds a set that the command line names.
///
/// Errors: no file and no row names it.
fn find_set(pods: &Pods, id: &str) -> Result<PodSetIndex, CallError> {
    pods.find_set(id).ok_or_else(|| {
        let known = || pods.sets.iter().map(|set| &*set.id);
        let listed = || {
            let listed: Vec<String> = known().take(SETS_LISTED).map(|id| format!("`{id}`")).collect();
            let more = if known().count() > SETS_LISTED { ", …" } else { "" };
            format!("the sets are {}{more}", listed.join(", "))
        };
        let hint = did_you_mean(id, known()).unwrap_or_else(listed);
        CallError { message: format!("there is no set `{id}`"), hint }
    })
}

/// What the file of a set says.
///
/// Errors: there is no such file, or it cannot be used.
fn terms_of(inventory: &Inventory, set: PodSetIndex) -> Result<&PodSetTerms, RenderError> {
    let found = &inventory.pods.sets[set.0 as usize];
    match &found.file {
        PodSetFile::Good(terms) => Ok(terms),
        PodSetFile::Bad { origin, .. } => {
            let place = inventory.files.place(*origin);
            Err(RenderError::BadSet(format!("the file of set `{}` cannot be used: {place}", found.id)))
        }
        PodSetFile::Missing => {
            Err(RenderError::BadSet(format!("rows name the set `{}`, and no file has this id", found.id)))
        }
    }
}

/// What was found in files. Other exports do not matter here, so that they count as believed.
fn findings(inventory: Inventory, diagnostics: Diagnostics) -> Findings {
    Findings {
        files_read: inventory.inputs.len(),
        are_exports_believed: inventory.pods.doubted().doubt().is_none(),
        settings: inventory.settings_errors.into_keys().collect(),
        files: inventory.files,
        diagnostics,
        ..Findings::default()
    }
}
