//! Checks a workspace without a query to any server.

use std::collections::BTreeSet;
use std::path::Path;

use super::accepted;
use super::findings::Findings;
use super::inputs::load;
use super::settings::state_address;
use crate::inventory::value::Time;
use crate::inventory::{budgets, outside, pod_checks};
use crate::names::short;
use crate::progress::Progress;
use crate::provider::outage;
use crate::reading::ReadingTerms;
use crate::reading::local::check_local;
use crate::state::open_to_read;

/// What a check of a workspace found.
#[derive(Debug)]
pub struct WorkspaceCheck {
    /// What was found.
    pub findings: Findings,
    /// The files that were read, those of zones included.
    pub read: BTreeSet<String>,
}

/// Checks a workspace without a query to any server: all its files, the targets' settings, and zones that are files.
pub fn check(workspace: &Path, now: Time, progress: &dyn Progress) -> WorkspaceCheck {
    let (mut inventory, mut diagnostics) = match load(workspace, now, progress) {
        Ok(loaded) => loaded,
        Err(findings) => return WorkspaceCheck { findings: *findings, read: BTreeSet::new() },
    };
    diagnostics.append(short::check(&inventory));
    diagnostics.append(outside::check(&inventory));
    diagnostics.append(budgets::check(&inventory));
    diagnostics.append(pod_checks::check(&inventory));
    diagnostics.settle();
    let state = open_to_read(&state_address(workspace, &inventory.config));
    let held = state.and_then(|state| accepted::hold_against(&mut inventory, state.as_deref(), None));
    let unread = match held {
        Ok(found) => {
            diagnostics.append(found);
            diagnostics.settle();
            None
        }
        Err(error) => Some(error),
    };
    let local = check_local(&inventory.config, &ReadingTerms { workspace, now, cache: None }, progress);
    let files_read = inventory.inputs.len() + local.read.len() + local.unread.len();
    let (zones, unread) = (local.findings, outage::gather(unread.into_iter().chain(local.unread)));
    let read = inventory.inputs.into_keys().chain(local.read).collect();
    let findings = Findings {
        files: inventory.files,
        settings: BTreeSet::new(),
        are_exports_believed: false,
        diagnostics,
        files_read,
        zones,
        unread,
        forgotten: Vec::new(),
        base: Vec::new(),
    };
    WorkspaceCheck { findings, read }
}
