//! Zones behind one lock, and a network that loses, delays or repeats updates.
//!
//! Comes in: zones, updates, and the fault for each. Goes out: the answer to the sender of an update, if there is one.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use domain::base::iana::Rcode;

#[cfg(test)]
use super::message::UpdateInstruction;
use super::message::UpdateMessage;
use super::rules::{self, PrimaryQuirks, RrsetDifference, SerialStep};
use super::zone::MemoryZone;
use crate::dns::{Name, ZoneName};
use crate::parallel::HELD;
use crate::target::UpdateLimits;

/// What happens to one update.
#[derive(Debug, Clone, PartialEq)]
pub enum UpdateFault {
    /// It is done as it should be.
    None,
    /// It is done, and the answer is lost.
    LostAnswer,
    /// It is lost on the way.
    Lost,
    /// It is late: its sender hears nothing, and it is done after the next update.
    Late,
    /// It is slow: its sender hears nothing, and it is done right before the next update.
    Slow,
    /// It is stuck: its sender gets no answer, and it is done right before the next update with this fault, or when
    /// everything on the way arrives.
    Stuck,
    /// It is done as it should be, after all that is stuck.
    Freed,
    /// It comes twice: it is done as it should be, and if it was done its copy is stuck. A copy of a refused update
    /// could be done once its prerequisites hold again: only TCP, which delivers once, prevents that.
    Doubled,
    /// It is lost, and from now on no client reaches the server.
    Dead,
    /// The server fails, and does nothing.
    ServFail,
    /// The server refuses, and does nothing.
    Refused,
    /// The server answers that it is done, but ignores the changes of these names.
    Swallowed(Vec<Name>),
    /// It is done as it should be, and the serial makes another step than it usually does.
    Serial(SerialStep),
    /// Right before it another editor sends an update, which is done.
    Edited(UpdateMessage),
}

/// Says what happens to each update that arrives.
type FaultScript = Box<dyn FnMut(&UpdateMessage) -> UpdateFault + Send>;

/// What is behind a primary in tests, such as the double of a service: it has the last word on each update that comes.
#[cfg(test)]
pub trait UpdateBackend: Send {
    /// Does an update that came over the network; gives what of it is done at once.
    ///
    /// Errors: it refuses, as the answer says.
    fn carry_out(&mut self, message: &UpdateMessage) -> Result<Vec<UpdateInstruction>, Rcode>;

    /// What it did since it was last asked, of updates that it had taken before: in the order in which it did so.
    fn settled(&mut self) -> Vec<SettledUpdate> {
        Vec::new()
    }

    /// Takes what another editor changed.
    fn take_edit(&mut self, zone: &ZoneName, differences: &[RrsetDifference]);
}

/// What was done later of an update that something behind a primary had taken.
#[cfg(test)]
pub struct SettledUpdate {
    /// The update.
    pub message: UpdateMessage,
    /// What was done.
    pub instructions: Vec<UpdateInstruction>,
}

/// Alters each update that comes.
type UpdateAlteration = Box<dyn FnMut(&mut UpdateMessage) + Send>;

/// An update that a primary looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedUpdate {
    /// The update.
    pub message: UpdateMessage,
    /// Whether it came over the network, subject to faults; those of other editors did not.
    pub is_delivered: bool,
    /// What it changed, or the answer to its sender.
    pub outcome: Result<Vec<RrsetDifference>, Rcode>,
}

/// A primary of several zones.
#[derive(Debug)]
pub struct MemoryPrimary {
    /// Its zones, and the updates on the way.
    world: Mutex<MemoryWorld>,
    /// How many updates may be in flight at once.
    pub(super) window: usize,
    /// What an update may hold.
    pub(super) limits: UpdateLimits,
}

/// What a primary holds, and what is on the way to it.
#[derive(Default)]
pub(super) struct MemoryWorld {
    /// The zones.
    zones: BTreeMap<ZoneName, MemoryZone>,
    /// What it does otherwise than the RFC says.
    quirks: PrimaryQuirks,
    /// What happens to the updates that arrive.
    script: Option<FaultScript>,
    /// How updates that come are altered.
    alteration: Option<UpdateAlteration>,
    /// Updates that are late.
    late: Vec<UpdateMessage>,
    /// Updates that are slow.
    slow: Vec<UpdateMessage>,
    /// Updates that are stuck.
    stuck: Vec<UpdateMessage>,
    /// Whether it cannot be reached.
    pub is_down: bool,
    /// How many sessions have a connection, and how many had at most.
    pub connections: (usize, usize),
    /// The updates that it looked at, where they are kept.
    log: Option<Vec<LoggedUpdate>>,
    /// What is behind it.
    #[cfg(test)]
    backend: Option<Box<dyn UpdateBackend>>,
}

impl fmt::Debug for MemoryWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zones: Vec<&ZoneName> = self.zones.keys().collect();
        f.debug_struct("World").field("zones", &zones).field("is_down", &self.is_down).finish_non_exhaustive()
    }
}

impl MemoryPrimary {
    /// A primary of these zones, without faults; one update is in flight at once, and may hold anything.
    pub fn new(zones: impl IntoIterator<Item = MemoryZone>) -> MemoryPrimary {
        let zones = zones.into_iter().map(|zone| (zone.apex().clone(), zone)).collect();
        let limits = UpdateLimits::NONE;
        MemoryPrimary { world: Mutex::new(MemoryWorld { zones, ..MemoryWorld::default() }), window: 1, limits }
    }

    /// Does some things otherwise than the RFC says.
    #[must_use]
    pub fn with_quirks(self, quirks: PrimaryQuirks) -> MemoryPrimary {
        self.world().quirks = quirks;
        self
    }

    /// Takes so many updates at once from one session.
    #[must_use]
    pub fn with_window(self, window: usize) -> MemoryPrimary {
        MemoryPrimary { window, ..self }
    }

    /// Takes updates of this size at most.
    #[must_use]
    pub fn with_limits(self, limits: UpdateLimits) -> MemoryPrimary {
        MemoryPrimary { limits, ..self }
    }

    /// Keeps all updates that it looks at.
    #[must_use]
    pub fn keeping_log(self) -> MemoryPrimary {
        self.world().log = Some(Vec::new());
        self
    }

    /// Does an update, without faults; returns the answer.
    ///
    /// `NOTAUTH` where there is no such zone.
    pub fn update(&self, message: &UpdateMessage) -> Rcode {
        self.world().execute(message, false)
    }

    /// Takes an update off the network, and handles it as the faults say; returns the answer, if the sender gets one.
    pub fn deliver(&self, message: &UpdateMessage) -> Option<Rcode> {
        self.world().deliver(message)
    }

    /// Looks at a zone; `None` where there is none of this name.
    pub fn with_zone<R>(&self, zone: &ZoneName, look: impl FnOnce(&MemoryZone) -> R) -> Option<R> {
        self.world().zones.get(zone).map(look)
    }

    /// The names of the zones, sorted.
    pub fn zones(&self) -> Vec<ZoneName> {
        self.world().zones.keys().cloned().collect()
    }

    /// Sets the faults of the next updates; all after them succeed.
    pub fn expect(&self, faults: impl IntoIterator<Item = UpdateFault>) {
        let mut faults: VecDeque<UpdateFault> = faults.into_iter().collect();
        self.decide(move |_| faults.pop_front().unwrap_or(UpdateFault::None));
    }

    /// Sets a function that decides what happens to each update.
    pub fn decide(&self, script: impl FnMut(&UpdateMessage) -> UpdateFault + Send + 'static) {
        self.world().script = Some(Box::new(script));
    }

    /// Sets a function that alters each update, before its fault is decided.
    pub fn alter(&self, alteration: impl FnMut(&mut UpdateMessage) + Send + 'static) {
        self.world().alteration = Some(Box::new(alteration));
    }

    /// Puts something behind it that has the last word on updates.
    #[cfg(test)]
    pub fn put_behind(&self, backend: Box<dyn UpdateBackend>) {
        self.world().backend = Some(backend);
    }

    /// Does what something behind it did later.
    #[cfg(test)]
    pub fn settle_behind(&self) {
        self.world().settle_behind();
    }

    /// Lets all that is on the way arrive.
    pub fn arrive(&self) {
        let mut world = self.world();
        let MemoryWorld { late, slow, stuck, .. } = &mut *world;
        let all = late.drain(..).chain(slow.drain(..)).chain(stuck.drain(..)).collect();
        world.execute_all(all);
    }

    /// Makes it unreachable, or reachable again.
    pub fn set_down(&self, is_down: bool) {
        self.world().is_down = is_down;
    }

    /// Whether it cannot be reached.
    pub fn is_down(&self) -> bool {
        self.world().is_down
    }

    /// Reads the updates that arrived so far, in their order; empty where they are not kept.
    pub fn with_log<R>(&self, look: impl FnOnce(&[LoggedUpdate]) -> R) -> R {
        look(self.world().log.as_deref().unwrap_or_default())
    }

    /// How many updates are yet to arrive.
    pub fn on_the_way(&self) -> usize {
        let world = self.world();
        world.late.len() + world.slow.len() + world.stuck.len()
    }

    /// How many sessions have a connection now, and how many had at most.
    pub fn connections(&self) -> (usize, usize) {
        self.world().connections
    }

    /// What it holds.
    pub(super) fn world(&self) -> MutexGuard<'_, MemoryWorld> {
        self.world.lock().expect(HELD)
    }
}

impl MemoryWorld {
    /// A zone.
    pub fn zone(&self, zone: &ZoneName) -> Option<&MemoryZone> {
        self.zones.get(zone)
    }

    /// Does an update.
    fn execute(&mut self, message: &UpdateMessage, is_delivered: bool) -> Rcode {
        let quirks = self.quirks.clone();
        self.execute_with(message, is_delivered, &quirks)
    }

    /// Does an update as a server of these quirks does it.
    fn execute_with(&mut self, message: &UpdateMessage, is_delivered: bool, quirks: &PrimaryQuirks) -> Rcode {
        #[cfg(test)]
        if let Some(mut backend) = self.backend.take() {
            let rcode = self.execute_behind(message, is_delivered, &mut *backend);
            self.backend = Some(backend);
            self.settle_behind();
            return rcode;
        }
        let outcome = match self.zones.get_mut(&message.zone) {
            Some(zone) => rules::carry_out(zone, message, quirks),
            None => Err(Rcode::NOTAUTH),
        };
        let rcode = outcome.as_ref().err().copied().unwrap_or(Rcode::NOERROR);
        if let Some(log) = &mut self.log {
            log.push(LoggedUpdate { message: message.clone(), is_delivered, outcome });
        }
        rcode
    }

    /// Lets what is behind it do an update, and does the same here.
    #[cfg(test)]
    fn execute_behind(
        &mut self,
        message: &UpdateMessage,
        is_delivered: bool,
        backend: &mut dyn UpdateBackend,
    ) -> Rcode {
        let at_once = if is_delivered { backend.carry_out(message) } else { Ok(message.instructions.clone()) };
        let zone = self.zones.get_mut(&message.zone).expect("the zones are the same behind it");
        let outcome = at_once.and_then(|instructions| {
            let bare = UpdateMessage { zone: message.zone.clone(), prerequisites: Vec::new(), instructions };
            rules::carry_out(zone, &bare, &self.quirks)
        });
        if let (false, Ok(differences)) = (is_delivered, &outcome) {
            backend.take_edit(&message.zone, differences);
        }
        let rcode = outcome.as_ref().err().copied().unwrap_or(Rcode::NOERROR);
        if let Some(log) = &mut self.log {
            log.push(LoggedUpdate { message: message.clone(), is_delivered, outcome });
        }
        rcode
    }

    /// Does here what was done behind it later, of updates that it had taken.
    #[cfg(test)]
    fn settle_behind(&mut self) {
        let settled = self.backend.as_mut().map(|backend| backend.settled()).unwrap_or_default();
        for SettledUpdate { message, instructions } in settled {
            let zone = self.zones.get_mut(&message.zone).expect("the zones are the same behind it");
            let bare = UpdateMessage { zone: message.zone.clone(), prerequisites: Vec::new(), instructions };
            let outcome = rules::carry_out(zone, &bare, &self.quirks);
            if let Some(log) = &mut self.log {
                log.push(LoggedUpdate { message, is_delivered: true, outcome });
            }
        }
    }

    /// Takes an update off the network.
    fn deliver(&mut self, message: &UpdateMessage) -> Option<Rcode> {
        if self.is_down {
            return None;
        }
        let late = std::mem::take(&mut self.late);
        let slow = std::mem::take(&mut self.slow);
        self.execute_all(slow);
        let mut message = message.clone();
        self.alteration.as_mut().into_iter().for_each(|alter| alter(&mut message));
        let fault = self.script.as_mut().map_or(UpdateFault::None, |script| script(&message));
        let said = self.suffer(fault, &message);
        self.execute_all(late);
        said
    }

    /// Does what a fault makes of an update.
    fn suffer(&mut self, fault: UpdateFault, message: &UpdateMessage) -> Option<Rcode> {
        match fault {
            UpdateFault::None => Some(self.execute(message, true)),
            UpdateFault::LostAnswer => {
                self.execute(message, true);
                None
            }
            UpdateFault::Lost => None,
            UpdateFault::Late => Self::keep(&mut self.late, message),
            UpdateFault::Slow => Self::keep(&mut self.slow, message),
            UpdateFault::Stuck => Self::keep(&mut self.stuck, message),
            UpdateFault::Freed => {
                let stuck = std::mem::take(&mut self.stuck);
                self.execute_all(stuck);
                Some(self.execute(message, true))
            }
            UpdateFault::Doubled => {
                let said = self.execute(message, true);
                if said == Rcode::NOERROR {
                    Self::keep(&mut self.stuck, message);
                }
                Some(said)
            }
            UpdateFault::Dead => {
                self.is_down = true;
                None
            }
            UpdateFault::ServFail => Some(Rcode::SERVFAIL),
            UpdateFault::Refused => Some(Rcode::REFUSED),
            UpdateFault::Swallowed(names) => {
                let mut quirks = self.quirks.clone();
                quirks.ignores_names.extend(names);
                Some(self.execute_with(message, true, &quirks))
            }
            UpdateFault::Serial(serial) => {
                let quirks = PrimaryQuirks { serial, ..self.quirks.clone() };
                Some(self.execute_with(message, true, &quirks))
            }
            UpdateFault::Edited(theirs) => {
                self.execute(&theirs, false);
                Some(self.execute(message, true))
            }
        }
    }

    /// Keeps an update for later; its sender hears nothing.
    fn keep(kept: &mut Vec<UpdateMessage>, message: &UpdateMessage) -> Option<Rcode> {
        kept.push(message.clone());
        None
    }

    /// Does updates that were kept; their answers are not sent.
    fn execute_all(&mut self, messages: Vec<UpdateMessage>) {
        for message in messages {
            self.execute(&message, true);
        }
    }
}
