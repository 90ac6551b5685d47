//! Compares the inventory with the accepted exports of the state.
//!
//! Comes in: an inventory, and the state. Goes out: the inventory with exports that are not believed, switches that
//! stay in their L3 segment, and hosts whose MAC a source in doubt gave.

use std::collections::BTreeMap;

use crate::diag::{Diagnostics, Problem};
use crate::guard::baseline::{self, Baseline};
use crate::guard::last;
use crate::inventory::Inventory;
use crate::inventory::model::Trust;
use crate::inventory::read::{self, KeptRows, OtherRows};
use crate::inventory::source::SourceSpec;
use crate::inventory::sources::meaning::{self, EarlierExport};
use crate::inventory::value::{Inv, Time};
use crate::state::{Acceptance, AcceptanceRecord, AcceptedFile, State};

/// Compares an inventory with what the state says was accepted; does nothing where there is no state. Where hosts.csv was kept, only its
/// rows that differ are compared. Gives what is wrong.
pub(super) fn hold_against(
    inventory: &mut Inventory,
    state: Option<&dyn State>,
    rows: Option<&KeptRows>,
) -> Result<Diagnostics, Problem> {
    let Some(state) = state else { return Ok(Diagnostics::default()) };
    let accepted = state.exports()?;
    let baselines = inventory.exports.iter().enumerate().map(|(place, export)| {
        let of_source = accepted.iter().find(|own| own.source == export.spec.name);
        of_source.map_or(Ok(None), |of_source| baseline(inventory, place, (of_source, rows), state))
    });
    let baselines: Vec<Option<Baseline>> = baselines.collect::<Result<_, Problem>>()?;
    let baselines: Vec<Baseline> = baselines.into_iter().flatten().collect();
    let found = baseline::test(inventory, &baselines);
    last::keep_in_l3(inventory, &state.l3_switches()?);
    find_given(inventory, &accepted, state)?;
    Ok(found)
}

/// What the export at a place of the inventory is tested with; none where nothing is tested, because the settings demand nothing, it was not read
/// completely, or it is the accepted one.
fn baseline(
    inventory: &Inventory,
    place: usize,
    (accepted, rows): (&Acceptance, Option<&KeptRows>),
    state: &dyn AcceptanceRecord,
) -> Result<Option<Baseline>, Problem> {
    let export = &inventory.exports[place];
    let demands = export.spec.demands;
    let is_asked = demands.max_shrink.is_some() || demands.max_churn.is_some();
    let is_tested = is_asked && !matches!(inventory.trust_of(&export.spec), Trust::Unknown { .. });
    if !is_tested || inventory.digests_of(export) == accepted.files {
        return Ok(None);
    }
    if let Some(rows) = rows.filter(|_| export.spec.key == "hosts")
        && let [earlier] = state.export_files(&accepted.source)?.as_slice()
        && let Some(found) = by_rows(inventory, place, (earlier, accepted.at), rows)
    {
        return Ok(Some(found));
    }
    let (was, bad) = said(inventory, &export.spec, accepted, state)?;
    let difference = baseline::difference(&was, &meaning::meanings(inventory, &export.spec));
    Ok(Some(Baseline { place, at: accepted.at, said: was.len(), bad, difference }))
}

/// What hosts.csv is tested with, by the rows that differ alone: no row of either export is bad, and no number is twice in it. None where
/// that is not so.
fn by_rows(
    inventory: &Inventory,
    place: usize,
    (earlier, at): (&AcceptedFile, Time),
    kept: &KeptRows,
) -> Option<Baseline> {
    let export = &inventory.exports[place];
    let OtherRows { was, is } = read::other_rows(&earlier.content, kept)?;
    let said = |content: &[u8]| {
        let file = EarlierExport { spec: &export.spec, files: &[(&earlier.name, content)] };
        let (said, bad) = meaning::meanings_of(inventory, &file, at);
        (bad == 0).then_some(said)
    };
    let (was, is) = (said(&was)?, said(&is)?);
    // Rows that both have could have the number of one that differs.
    let is_alone = |number: &String| {
        let inv: Option<Inv> = number.parse().ok();
        inv.is_some_and(|inv| inventory.places_of(inv).len() == usize::from(is.contains_key(number)))
    };
    if export.bad > 0 || !was.keys().chain(is.keys()).all(is_alone) {
        return None;
    }
    let said = inventory.hosts.len() + was.len() - is.len();
    Some(Baseline { place, at, said, bad: 0, difference: baseline::difference(&was, &is) })
}

/// What the accepted export of a source said, and how many bad rows it had.
pub(super) fn said(
    inventory: &Inventory,
    spec: &SourceSpec,
    accepted: &Acceptance,
    state: &dyn AcceptanceRecord,
) -> Result<(BTreeMap<String, String>, usize), Problem> {
    let files = state.export_files(&accepted.source)?;
    let earlier = EarlierExport { spec, files: &contents(&files) };
    Ok(meaning::meanings_of(inventory, &earlier, accepted.at))
}

/// The names and contents of files.
fn contents(files: &[AcceptedFile]) -> Vec<(&str, &[u8])> {
    files.iter().map(|file| (file.name.as_str(), file.content.as_slice())).collect()
}

/// Finds the hosts whose MAC each source in doubt gave when it was last accepted; a source that was never accepted
/// gives none.
fn find_given(inventory: &mut Inventory, accepted: &[Acceptance], state: &dyn AcceptanceRecord) -> Result<(), Problem> {
    let is_doubted = |place: &u16| inventory.mac_sources[usize::from(*place)].trust.doubt().is_some();
    let doubted: Vec<u16> = (0..inventory.mac_sources.len() as u16).filter(is_doubted).collect();
    if doubted.is_empty() {
        return Ok(());
    }
    let is_of_macs = |spec: &SourceSpec| inventory.mac_sources.iter().any(|own| own.name == spec.name);
    let specs: Vec<SourceSpec> =
        inventory.exports.iter().map(|export| export.spec.clone()).filter(is_of_macs).collect();
    let files = specs.iter().map(|spec| state.export_files(&spec.name));
    let files: Vec<Vec<AcceptedFile>> = files.collect::<Result<_, Problem>>()?;
    let files: Vec<Vec<(&str, &[u8])>> = files.iter().map(|files| contents(files)).collect();
    let earlier: Vec<EarlierExport<'_>> =
        specs.iter().zip(&files).map(|(spec, files)| EarlierExport { spec, files }).collect();
    for source in doubted {
        let name = &inventory.mac_sources[usize::from(source)].name;
        if let Some(Acceptance { at, .. }) = accepted.iter().find(|own| own.source == *name) {
            let draft = meaning::read(inventory, &earlier, *at);
            last::find_given(inventory, source, draft, *at);
        }
    }
    Ok(())
}
