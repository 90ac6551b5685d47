//! What the state remembers, as far as a review goes by it: what was accepted last, and what applies wrote.

use std::collections::{BTreeMap, BTreeSet};

use super::super::guards::Remembered;
use super::super::{MakeError, Request};
use super::Reviewed;
use crate::apply::Outcome;
use crate::change::Change;
use crate::dns::{RrKey, Rrset};
use crate::guard::last;
use crate::inventory::Inventory;
use crate::inventory::read::{self, Asked, FileError, FindError, GLOB, Layer};
use crate::inventory::source::Pattern;
use crate::inventory::value::Time;
use crate::plan::Against;
use crate::review::FoundAs;
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
    /// Of each change, in their order, what applies have to do with what it finds.
    pub found: Vec<FoundAs>,
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
        let LastWhole { whole, is_undone } = last_whole(state)?;
        let exported: BTreeSet<&String> = inventory.exports.iter().flat_map(|export| &export.files).collect();
        let is_same = |(name, digest): (&String, &String)| exported.contains(name) || remembered.had(name, digest);
        let exports = state.exports()?;
        let stood = match whole {
            Some(Against::Journal { apply, at })
                if !is_undone && inventory.inputs.iter().all(is_same) && are_of(inventory, &exports, at) =>
            {
                Some(apply)
            }
            _ => None,
        };
        let began = match whole {
            Some(Against::Journal { at, .. }) => Some(at),
            _ => None,
        };
        let at = exports.iter().map(|export| export.at).chain(began).max();
        let accepted = accepted(request, inventory, (&exports, state))?;
        Ok(Past { whole, at, accepted, found: found_as(&decided.changes, state)?, stood })
    }
}

/// Whether the accepted exports are those that an apply which began then left: each source has one, and no person accepted
/// another since.
fn are_of(inventory: &Inventory, accepted: &[Acceptance], began: Time) -> bool {
    let is_by_an_apply = |own: &Acceptance| own.reason.is_none() || own.at < began;
    let has_one = |name: &String| accepted.iter().any(|own| own.source == *name && is_by_an_apply(own));
    let mut used = inventory.exports.iter().filter(|export| !export.files.is_empty());
    used.all(|export| has_one(&export.spec.name))
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

/// What the latest applies say of the latest that did all of its plan for the whole fleet.
struct LastWhole {
    /// That one; none where there is none among the latest.
    whole: Option<Against>,
    /// Whether an apply was undone after it.
    is_undone: bool,
}

/// Looks for the latest apply that did all of its plan for the whole fleet.
fn last_whole(state: &dyn State) -> Result<LastWhole, StateError> {
    /// How far back is looked: a whole apply ends most days (no official source).
    const LATEST: usize = 50;
    let is_done =
        |word: &String| [Outcome::Applied, Outcome::AlreadyApplied].iter().any(|outcome| outcome.as_str() == word);
    let is_whole = |apply: &ApplySummary| {
        let ApplySummary { new, finished, outcomes, .. } = apply;
        new.is_whole && new.undoes.is_none() && finished.is_some() && outcomes.keys().all(is_done)
    };
    let latest = state.applies(LATEST)?;
    let place = latest.iter().position(is_whole);
    let whole = place.map(|place| Against::Journal { apply: latest[place].id.0, at: latest[place].new.started });
    let is_undone = latest[..place.unwrap_or_default()].iter().any(|apply| apply.new.undoes.is_some());
    Ok(LastWhole { whole, is_undone })
}

/// Of each change, what applies have to do with what it finds.
fn found_as(changes: &[Change], state: &dyn State) -> Result<Vec<FoundAs>, StateError> {
    let rrsets: Vec<&RrKey> = changes.iter().map(|change| &change.key).collect();
    let of_change = |(change, written): (&Change, &Option<Written>)| {
        let Some(Written { after: left, .. }) = written else { return FoundAs::Unwritten };
        let is = |rrset: Option<&Rrset>| match (left, rrset) {
            (Some(left), Some(rrset)) => left.is(change.key.rtype, rrset),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        match (is(change.kind.before()), is(change.kind.after())) {
            (true, _) => FoundAs::Left,
            (false, is_wanted) => FoundAs::Changed { is_wanted },
        }
    };
    Ok(changes.iter().zip(&state.last_written(&rrsets)?).map(of_change).collect())
}
