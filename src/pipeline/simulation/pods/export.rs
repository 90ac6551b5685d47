//! What the export says, as an inventory, and what is kept of it once it is accepted.

use super::world::{PodKey, Row, World};
use crate::claim::Subject;
use crate::diag::{FileId, Origin};
use crate::inventory::Inventory;
use crate::inventory::pod_template::Placement;
use crate::inventory::pods::{Pod, PodSetIndex, PodState};
use crate::pipeline::acceptance::inactive_pods;
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
        pods: Some(inactive_pods(inventory)),
    })
}

impl World {
    /// Notes that the export is accepted.
    pub fn note_accepted(&mut self) {
        let state = |key: &PodKey| self.exported.get(key).map(|row| row.state);
        self.was_down.retain(|key| state(key).is_some_and(|state| state != PodState::Active));
        let down = self.exported.iter().filter(|(_, row)| matches!(row.state, PodState::Dead | PodState::Waiting));
        self.was_down.extend(down.map(|(key, _)| key.clone()));
    }

    /// The pod of a subject.
    pub fn pod_of(&self, subject: &Subject) -> Option<usize> {
        (0..self.pods.len()).find(|pod| self.subject(*pod) == *subject)
    }
}
