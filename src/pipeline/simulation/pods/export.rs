//! What the export says, as an inventory, and what is kept of it once it is accepted.

use std::collections::BTreeSet;

use super::world::{Place, PodKey, Row, World, addresses};
use crate::claim::Subject;
use crate::diag::{FileId, Origin};
use crate::inventory::Inventory;
use crate::inventory::pod_template::Placement;
use crate::inventory::pods::{Pod, PodSetIndex, PodState};
use crate::state::{ExportToAccept, NewExport};

/// Puts the rows of the export into an inventory.
pub fn put(inventory: &mut Inventory, world: &World, file: FileId) {
    let symbols = &mut inventory.symbols;
    let mut row = |(line, ((set, id), row)): (usize, (&PodKey, &Row))| Pod {
        set: PodSetIndex(*set as u32),
        id: id.as_str().into(),
        time: world.now,
        node: row.place.as_ref().map(|place| symbols.intern(&place.node)),
        inv: None,
        rack: row.place.as_ref().map(|place| symbols.intern(place.location)),
        location: row.place.as_ref().map(|place| symbols.intern(place.location)),
        addresses: row.place.iter().flat_map(|place| place.addresses.iter().copied()).collect(),
        placement: row.place.as_ref().and_then(|place| Placement::of_row(Some(&place.node), &place.addresses)),
        is_enabled: row.is_enabled,
        state: row.state,
        replaces: row.replaces.as_deref().map(Into::into),
        fault: None,
        origin: Origin::line(file, line as u32 + 1),
    };
    inventory.pods.rows = world.exported.iter().enumerate().map(&mut row).collect();
}

/// The export of an inventory, to be accepted.
pub fn to_accept(inventory: &Inventory) -> ExportToAccept {
    ExportToAccept::Anew(NewExport {
        source: "pods".to_owned(),
        rows: inventory.pods.rows.len(),
        dated: None,
        files: Vec::new(),
        switches: Vec::new(),
    })
}

impl World {
    /// Notes who died and who came back, by an export that a run begins with. One that is blocked may not be where its name
    /// points, for all that the run knows.
    pub fn note_states(&mut self, blocked: &BTreeSet<Subject>) {
        let forward = self.forward();
        let points_there = |key: &PodKey, row: &Row| {
            let pod = (0..self.pods.len()).find(|pod| self.key(*pod) == *key);
            let asked = row.place.as_ref().map(Place::asked);
            pod.is_some_and(|pod| {
                Some(addresses(&forward, &self.pods[pod].constant)) == asked && !blocked.contains(&self.subject(pod))
            })
        };
        let is_back = |key: &PodKey, row: &Row| row.state == PodState::Active && points_there(key, row);
        let stays = |key: &&PodKey| self.exported.get(*key).is_some_and(|row| !is_back(key, row));
        self.was_down = self.was_down.iter().filter(stays).cloned().collect();
        let down = self.exported.iter().filter(|(_, row)| matches!(row.state, PodState::Dead | PodState::Waiting));
        self.was_down.extend(down.map(|(key, _)| key.clone()));
    }

    /// The pod of a subject.
    pub fn pod_of(&self, subject: &Subject) -> Option<usize> {
        (0..self.pods.len()).find(|pod| self.subject(*pod) == *subject)
    }
}
