//! Room that zones took while they were transferred, left to those that are transferred after them.
//!
//! A fleet has many small zones, and memory that a process never touched before costs as much as what is written into
//! it.

use std::sync::{Mutex, PoisonError};

use crate::dns::ZoneRoom;

/// How many octets of memory are kept for reuse: the memory of a large zone goes back to the system, which can use it
/// before the next such zone comes.
const MAX_OCTETS: usize = 8 * 1024 * 1024;

/// Rooms that are not in use.
#[derive(Default)]
pub struct FreeRooms(Mutex<Vec<ZoneRoom>>);

impl FreeRooms {
    /// A room, new where none was left.
    pub fn enter(&self) -> ZoneRoom {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Leaves a room to others.
    pub fn leave(&self, room: ZoneRoom) {
        if room.octets() <= MAX_OCTETS {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(room);
        }
    }
}
