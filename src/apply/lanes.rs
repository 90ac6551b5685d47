//! Zones side by side: which is written next, and by which thread.
//!
//! Comes in: the writers of zones. Goes out: the same, when all was sent that will be. A lane writes one zone at a time and
//! keeps its connection. Where nothing of that can be sent before other zones have come further, it takes up another one;
//! forward zones go first, as the others wait for them.

use std::sync::{Condvar, Mutex, MutexGuard};

use super::SIDE_BY_SIDE;
use super::model::Phase;
use super::writer::{Turn, ZoneWriter};
use crate::parallel::HELD;

/// A zone, and who writes it.
struct Slot<'a> {
    /// Its writer; none while a lane has it.
    writer: Option<ZoneWriter<'a>>,
    /// The lane that had it last, and may have left a connection.
    lane: Option<usize>,
    /// Whether all was sent that will be.
    is_over: bool,
}

/// All zones.
struct Zones<'a> {
    /// The zones.
    slots: Mutex<Vec<Slot<'a>>>,
    /// Woken whenever a zone has come further.
    further: Condvar,
}

/// Writes what zones have in these phases, so many at once; where one is the most, all of it runs on the thread of the caller,
/// and the lanes take turns.
pub fn write<'a>(writers: Vec<ZoneWriter<'a>>, phases: &[Phase], at_once: usize) -> Vec<ZoneWriter<'a>> {
    let slots = writers.into_iter().map(|mut writer| {
        let is_over = !writer.take_up(phases);
        Slot { writer: Some(writer), lane: None, is_over }
    });
    let slots: Vec<Slot<'a>> = slots.collect();
    let open = slots.iter().filter(|slot| !slot.is_over).count();
    let zones = Zones { slots: Mutex::new(slots), further: Condvar::new() };
    match at_once {
        1 => zones.by_turns(open.min(SIDE_BY_SIDE)),
        _ => std::thread::scope(|scope| {
            for lane in 0..open.min(at_once) {
                let zones = &zones;
                scope.spawn(move || zones.run(lane));
            }
        }),
    }
    let slots = zones.slots.into_inner().expect(HELD);
    slots.into_iter().map(|slot| slot.writer.expect("every lane gives back what it took")).collect()
}

impl<'a> Zones<'a> {
    /// The zones.
    fn slots(&self) -> MutexGuard<'_, Vec<Slot<'a>>> {
        self.slots.lock().expect(HELD)
    }

    /// Lets lanes do one turn after another, until nothing is left.
    fn by_turns(&self, lanes: usize) {
        let mut taken: Vec<Option<(usize, ZoneWriter<'a>)>> = (0..lanes).map(|_| None).collect();
        loop {
            for (lane, taken) in taken.iter_mut().enumerate() {
                if taken.is_none() {
                    *taken = take(&mut self.slots(), lane);
                }
                if let Some((place, mut writer)) = taken.take() {
                    match writer.turn() {
                        Turn::More => *taken = Some((place, writer)),
                        turn => give_back(&mut self.slots(), place, writer, turn),
                    }
                }
            }
            if taken.iter().all(Option::is_none) && self.slots().iter().all(|slot| slot.is_over) {
                return;
            }
        }
    }

    /// Writes zones until nothing is left to be taken up.
    fn run(&self, lane: usize) {
        let _relieved = Relieved(self);
        let mut slots = self.slots();
        loop {
            let Some((place, mut writer)) = take(&mut slots, lane) else {
                if slots.iter().all(|slot| slot.is_over) {
                    return;
                }
                slots = self.further.wait(slots).expect(HELD);
                continue;
            };
            loop {
                drop(slots);
                let turn = writer.turn();
                slots = self.slots();
                // What others wait for may have been done.
                self.further.notify_all();
                if turn != Turn::More {
                    give_back(&mut slots, place, writer, turn);
                    break;
                }
            }
        }
    }
}

/// Lets nobody wait for a lane that panicked.
struct Relieved<'z, 'a>(&'z Zones<'a>);

impl Drop for Relieved<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let slots = self.0.slots.lock();
            slots.into_iter().for_each(|mut slots| slots.iter_mut().for_each(|slot| slot.is_over = true));
            self.0.further.notify_all();
        }
    }
}

/// Takes up a zone that can be written further: the one that the lane had last, else one that others wait for, else any.
fn take<'a>(slots: &mut [Slot<'a>], lane: usize) -> Option<(usize, ZoneWriter<'a>)> {
    let rank = |slot: &mut Slot<'_>| {
        let is_over = slot.is_over;
        let writer = slot.writer.as_mut().filter(|_| !is_over)?;
        let is_behind = writer.is_behind();
        writer.can_go_on().then_some((slot.lane != Some(lane), is_behind))
    };
    let ranked = slots.iter_mut().enumerate().filter_map(|(place, slot)| Some((rank(slot)?, place)));
    let (_, place) = ranked.min()?;
    for (other, slot) in slots.iter_mut().enumerate() {
        if other != place && slot.lane == Some(lane) {
            slot.lane = None;
            slot.writer.iter_mut().for_each(ZoneWriter::hang_up);
        }
    }
    slots[place].lane = Some(lane);
    slots[place].writer.take().map(|writer| (place, writer))
}

/// Gives a zone back.
fn give_back<'a>(slots: &mut [Slot<'a>], place: usize, writer: ZoneWriter<'a>, turn: Turn) {
    slots[place].writer = Some(writer);
    slots[place].is_over = turn == Turn::Over;
}
