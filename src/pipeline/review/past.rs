//! What the state remembers, as far as a review goes by it: what was accepted last, and what applies wrote.

use std::collections::{BTreeMap, BTreeSet};

use super::super::guards::Remembered;
use super::super::{MakeError, Request};
use super::Reviewed;
use crate::apply::Outcome;
use crate::change::Change;
use crate::dns::RrKey;
use crate::guard::last;
use crate::inventory::Inventory;
use crate::inventory::read::{self, Asked, FileError, FindError, GLOB, Layer};
use crate::inventory::source::Pattern;
use crate::inventory::value::Time;
use crate::plan::Against;
use crate::state::{Acceptance, ApplySummary, State, StateError, Written};

/// What is remembered.
#[derive(Default)]
pub struct Past {
    /// The latest apply that did all of its plan for the whole fleet.
    pub whole: Option<Against>,
    /// When exports were last accepted, or such an apply began.
    pub at: Option<Time>,
    /// The inventory with the exports that were last accepted, where any of them is another now.
    pub accepted: Option<Inventory>,
    /// Of each change, in their order, whether somebody else changed or removed what an apply wrote.
    pub drifted: Vec<bool>,
    /// The apply after which live DNS was as the inventory wanted it, where nothing but exports differs since.
    pub stood: Option<u64>,
}

impl Past {
    /// Asks the state.
    ///
    /// Errors: `NoState`.
    pub fn read(
        request: &Request<'_>,
        Reviewed { inventory, decided, .. }: Reviewed<'_>,
        (remembered, state): (&Remembered, &dyn State),
    ) -> Result<Past, MakeError> {
        let whole = last_whole(state)?;
        let exported: BTreeSet<&String> = inventory.exports.iter().flat_map(|export| &export.files).collect();
        let is_same = |(name, digest): (&String, &String)| exported.contains(name) || remembered.had(name, digest);
        let stood = match whole {
            Some(Against::Journal { apply, .. }) if inventory.inputs.iter().all(is_same) => Some(apply),
            _ => None,
        };
        let exports = state.exports()?;
        let began = match whole {
            Some(Against::Journal { at, .. }) => Some(at),
            _ => None,
        };
        let at = exports.iter().map(|export| export.at).chain(began).max();
        let accepted = accepted(request, inventory, (&exports, state))?;
        Ok(Past { whole, at, accepted, drifted: drifted(&decided.changes, state)?, stood })
    }
}

/// The inventory with the exports that were last accepted in the place of today's; none where they are the same, or cannot
/// be used.
fn accepted(
    request: &Request<'_>,
    now: &Inventory,
    (accepted, state): (&[Acceptance], &dyn State),
) -> Result<Option<Inventory>, StateError> {
    let of_today = |source: &str| now.exports.iter().find(|export| export.spec.name == source);
    let is_other = |own: &Acceptance| of_today(&own.source).is_some_and(|export| now.digests_of(export) != own.files);
    if !accepted.iter().any(is_other) {
        return Ok(None);
    }
    let mut layer = Accepted::default();
    for export in accepted.iter().filter_map(|own| of_today(&own.source)) {
        let files = state.export_files(&export.spec.name)?;
        layer.files.extend(files.into_iter().map(|file| (file.name, file.content)));
        layer.replaced.extend(export.files.iter().cloned());
    }
    let (loaded, _) = read::load_behind(Box::new(layer), request.workspace, request.now);
    let Ok(mut inventory) = loaded.inventory else { return Ok(None) };
    last::keep_in_l3(&mut inventory, &state.l3_switches()?);
    Ok(Some(inventory))
}

/// The exports that were last accepted, as a layer in front of the workspace.
#[derive(Default)]
struct Accepted {
    /// The files, by name.
    files: BTreeMap<String, Vec<u8>>,
    /// The files of today that they stand for.
    replaced: BTreeSet<String>,
}

impl Layer for Accepted {
    fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    fn hides(&self, name: &str, _: Asked) -> bool {
        self.replaced.contains(name)
    }

    fn find(&self, glob: &Pattern) -> Result<Vec<String>, FindError> {
        let Ok(pattern) = glob::Pattern::new(&glob.text) else { return Ok(Vec::new()) };
        let names = self.files.keys().filter(|name| pattern.matches_with(name, GLOB));
        Ok(names.cloned().collect())
    }

    fn read(&self, name: &str, _: u64) -> Result<Vec<u8>, FileError> {
        Ok(self.files[name].clone())
    }
}

/// The latest apply that did all of its plan for the whole fleet; none where there is none among the latest.
fn last_whole(state: &dyn State) -> Result<Option<Against>, StateError> {
    /// How far back is looked: a whole apply ends most days (no official source).
    const LATEST: usize = 50;
    let is_done =
        |word: &String| [Outcome::Applied, Outcome::AlreadyApplied].iter().any(|outcome| outcome.as_str() == word);
    let is_whole = |apply: &ApplySummary| {
        let ApplySummary { new, finished, outcomes, .. } = apply;
        new.is_whole && new.undoes.is_none() && finished.is_some() && outcomes.keys().all(is_done)
    };
    let found = state.applies(LATEST)?.into_iter().find(is_whole);
    Ok(found.map(|apply| Against::Journal { apply: apply.id.0, at: apply.new.started }))
}

/// Of each change, whether an apply left there what the change would put there again: somebody else changed or removed it.
fn drifted(changes: &[Change], state: &dyn State) -> Result<Vec<bool>, StateError> {
    let rrsets: Vec<&RrKey> = changes.iter().map(|change| &change.key).collect();
    let is_drift = |(change, written): (&Change, &Option<Written>)| {
        written.as_ref().is_some_and(|written| match (&written.after, change.kind.after()) {
            (Some(kept), Some(after)) => kept.is(change.key.rtype, after),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        })
    };
    Ok(changes.iter().zip(&state.last_written(&rrsets)?).map(is_drift).collect())
}
