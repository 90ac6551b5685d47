//! Room that zones took while they were transferred, left to those that are transferred after them.
//!
//! A fleet has many small zones, and memory that a process never touched before costs as much as what is written into it.

use std::sync::{Mutex, PoisonError};

use crate::dns::ZoneRoom;

/// How many octets a room may hold on to: that of a large zone goes back to the system, which has uses for it before another
/// such zone comes.
const MAX_OCTETS: usize = 8 * 1024 * 1024;

/// Rooms that nobody is in.
#[derive(Default)]
pub struct Rooms(Mutex<Vec<ZoneRoom>>);

impl Rooms {
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
