//! What a plan was made from, kept by a process for its next plan: of that only what has moved is read and looked at anew.
//!
//! Comes in: the inventory and live DNS of a plan, and what was found of all hosts. Goes out: the inventory, where nothing of it has moved but
//! rows of hosts.csv; and the copies of zones as they were.

use std::path::Path;

use crate::diag::Diagnostics;
use crate::diff::survey::{EarlierSurvey, FleetSurvey};
use crate::inventory::Inventory;
use crate::inventory::model::Config;
use crate::inventory::moves::HostMoves;
use crate::inventory::read::{self, FolderTraces, KeptRows};
use crate::inventory::value::Time;
use crate::live::Live;
use crate::reading::ReadCopy;

/// What the last plan of a process was made from, as far as the next one may be made from it.
#[derive(Debug, Default)]
pub(super) struct InputMemory(Option<KeptInput>);

/// What a plan was made from.
#[derive(Debug)]
pub(super) struct KeptInput {
    /// The inventory, each source of which is believed.
    pub inventory: Inventory,
    /// How it was read.
    pub reading: InventoryReading,
    /// From when on the clock alone may make something else of it, or of a host.
    pub until: Time,
    /// The copies of zones that were read.
    pub copies: Vec<ReadCopy>,
    /// Live DNS by them.
    pub live: Live,
    /// What was found of all hosts by it.
    pub survey: FleetSurvey,
}

/// How an inventory was read.
#[derive(Debug)]
pub(super) struct InventoryReading {
    /// When.
    pub at: Time,
    /// What was wrong in its files, before anything else was tested.
    pub of_files: Diagnostics,
    /// What its folder looked like.
    pub traces: FolderTraces,
    /// hosts.csv, where it is kept.
    pub rows: Option<KeptRows>,
}

/// An inventory that needs not be read again.
pub(super) struct UnmovedInventory {
    /// The inventory, as a reading would give it.
    pub inventory: Inventory,
    /// How it was read.
    pub reading: InventoryReading,
    /// What was found of its hosts.
    pub survey: EarlierSurvey,
}

impl InputMemory {
    /// Keeps what a plan was made from.
    pub fn keep(&mut self, input: Option<KeptInput>) {
        self.0 = input;
    }

    /// Takes what counts now, by the settings as they are: the inventory where nothing of it has moved but rows of hosts.csv, and
    /// the copies of zones as they were.
    pub fn take(&mut self, config: &Config, workspace: &Path, now: Time) -> (Option<UnmovedInventory>, Vec<ReadCopy>) {
        // Other settings may read other zones under the same names.
        let is_by = |kept: &KeptInput| kept.inventory.config.source.text == config.source.text;
        let Some(kept) = self.0.take().filter(is_by) else { return Default::default() };
        let KeptInput { inventory, reading, until, copies, live, survey } = kept;
        let is_in_time = (reading.at..until).contains(&now);
        let unmoved = is_in_time.then(|| brought_forward(inventory, reading, workspace, now)).flatten();
        let unmoved = unmoved.map(|(mut inventory, reading, moves)| {
            // What the state says is taken from it anew.
            let former = std::mem::take(&mut inventory.tors.former);
            UnmovedInventory { inventory, reading, survey: EarlierSurvey { live, survey, moves, former } }
        });
        (unmoved, copies)
    }
}

/// An inventory as a reading would give it, and whose rows are others now; none where all is to be read.
fn brought_forward(
    mut inventory: Inventory,
    mut reading: InventoryReading,
    workspace: &Path,
    now: Time,
) -> Option<(Inventory, InventoryReading, HostMoves)> {
    if read::still_shows(workspace, &reading.traces) {
        return Some((inventory, reading, HostMoves::default()));
    }
    let kept = (&mut reading.traces, &mut reading.of_files, reading.rows.as_mut()?);
    let moves = read::take_moved(workspace, &mut inventory, kept, now)?;
    tracing::debug!("of the inventory the rows of {} hosts in hosts.csv have moved", moves.0.len());
    Some((inventory, reading, moves))
}
