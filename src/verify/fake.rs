//! A primary in memory that fails as it is told to, for tests.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Mutex;

use crate::change::ChangeKind;
use crate::dns::{Name, RrKey, Rrset, Rtype, ZoneName};
use crate::live::asked::{Answer, Question};
use crate::provider::TargetError;
use crate::provider::write::{Edit, Reply, Ticket, Update, UpdateLimits, UpdateZone, WriteZone};

/// What becomes of one update.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
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
    /// It is stuck: its sender hears nothing, and it is done right before the next update that is told so.
    Stuck,
    /// It is done as it should be, after all that is stuck.
    Freed,
    /// It is lost, and from now on nobody reaches the server.
    Dead,
    /// The server fails, and does nothing.
    ServFail,
    /// The server refuses, and does nothing.
    Refused,
    /// The server says that it is done, and passes over all edits but the first.
    Swallowed,
    /// Right before it somebody else writes an RRset.
    Edited(RrKey, Rrset),
}

/// An update as it went over the wire.
type Message = Vec<(RrKey, ChangeKind)>;

/// What the primary holds, and what it was made to do.
#[derive(Debug, Default)]
pub struct World {
    /// The RRsets of all zones.
    pub rrsets: HashMap<(Name, Rtype), Rrset>,
    /// What becomes of the next updates; the rest go well.
    pub faults: VecDeque<Fault>,
    /// Updates that are late.
    late: Vec<Message>,
    /// Updates that are slow.
    slow: Vec<Message>,
    /// Updates that are stuck.
    stuck: Vec<Message>,
    /// The updates that took effect, each with the order of its edits.
    pub done: Vec<Message>,
    /// What somebody else wrote, the latest of each RRset.
    pub foreign: HashMap<(Name, Rtype), Rrset>,
    /// Whether nobody reaches the server.
    pub is_down: bool,
    /// How many sessions have a connection, and how many had at most.
    pub connections: (usize, usize),
}

/// A primary of all zones.
#[derive(Debug)]
pub struct Fake {
    /// What it holds.
    pub world: Mutex<World>,
    /// How many updates may be in flight.
    pub window: usize,
    /// What an update may hold.
    pub limits: UpdateLimits,
}

/// The key of an RRset over all zones.
pub fn place(key: &RrKey) -> (Name, Rtype) {
    (key.owner.as_name().to_name(), key.rtype)
}

/// An error with a code.
pub fn error(code: &'static str) -> TargetError {
    TargetError { place: "fake".into(), code, message: "as told".into(), hint: None, findings: None }
}

impl World {
    /// Whether all prerequisites of a message hold.
    fn holds(&self, message: &Message) -> bool {
        message.iter().all(|(key, kind)| {
            let standing = self.rrsets.get(&place(key)).map(Rrset::rdata);
            let cname = self.rrsets.contains_key(&(key.owner.as_name().to_name(), Rtype::CNAME));
            standing == kind.before().map(Rrset::rdata) && !(cname && kind.after().is_some())
        })
    }

    /// Does a message, if its prerequisites hold.
    fn execute(&mut self, message: &Message) -> bool {
        if !self.holds(message) {
            return false;
        }
        for (key, kind) in message {
            match kind.after() {
                Some(after) => self.rrsets.insert(place(key), after.clone()),
                None => self.rrsets.remove(&place(key)),
            };
        }
        self.done.push(message.clone());
        true
    }

    /// Does what is late.
    pub fn execute_late(&mut self) {
        let World { late, slow, stuck, .. } = self;
        let all: Vec<Message> = late.drain(..).chain(slow.drain(..)).chain(stuck.drain(..)).collect();
        for message in all {
            self.execute(&message);
        }
    }

    /// Takes an update; what its sender is told.
    fn receive(&mut self, message: Message) -> Reply {
        if self.is_down {
            return Reply::Unknown(error("connect-failed"));
        }
        let late = std::mem::take(&mut self.late);
        for message in std::mem::take(&mut self.slow) {
            self.execute(&message);
        }
        let fault = self.faults.pop_front().unwrap_or(Fault::None);
        let lost = || Reply::Unknown(error("timeout"));
        let answer = |did| if did { Reply::Done } else { Reply::Prerequisite("NXRRSET".into()) };
        let reply = match fault {
            Fault::None => answer(self.execute(&message)),
            Fault::LostAnswer => {
                self.execute(&message);
                lost()
            }
            Fault::Lost => lost(),
            Fault::Late => {
                self.late.push(message);
                lost()
            }
            Fault::Slow => {
                self.slow.push(message);
                lost()
            }
            Fault::Stuck => {
                self.stuck.push(message);
                lost()
            }
            Fault::Freed => {
                for stuck in std::mem::take(&mut self.stuck) {
                    self.execute(&stuck);
                }
                answer(self.execute(&message))
            }
            Fault::Dead => {
                self.is_down = true;
                lost()
            }
            Fault::ServFail => Reply::Failed(error("server-failure")),
            Fault::Refused => Reply::Refused(error("update-refused")),
            Fault::Swallowed => match self.holds(&message) {
                true => answer(self.execute(&message[..1].to_vec())),
                false => answer(false),
            },
            Fault::Edited(key, rrset) => {
                self.rrsets.insert(place(&key), rrset.clone());
                self.foreign.insert(place(&key), rrset);
                answer(self.execute(&message))
            }
        };
        for message in &late {
            self.execute(message);
        }
        reply
    }
}

impl WriteZone for Fake {
    fn place(&self, zone: &ZoneName) -> String {
        format!("fake zone {zone}")
    }

    fn limits(&self) -> UpdateLimits {
        self.limits
    }

    fn octets(&self, _: &ZoneName, _: Edit<'_>) -> usize {
        1
    }

    fn observe(&self, _: &ZoneName, questions: &[Question], _: Option<u64>) -> Result<Vec<Answer>, TargetError> {
        let world = self.world.lock().unwrap();
        if world.is_down {
            return Err(error("connect-failed"));
        }
        let answer = |question: &Question| {
            let of = |rtype| world.rrsets.get(&(question.name.clone(), rtype)).map(|found| (rtype, found.clone()));
            let found = of(question.rtype).or_else(|| of(Rtype::CNAME));
            found.map_or(Answer::Nothing, |(rtype, rrset)| Answer::Holds(rtype, rrset))
        };
        Ok(questions.iter().map(answer).collect())
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(Session { fake: self, replies: HashMap::new(), lost: HashSet::new(), next: 0 })
    }

    fn finish(&self) -> Result<(), TargetError> {
        Ok(())
    }
}

/// A session with a fake.
struct Session<'a> {
    /// The primary.
    fake: &'a Fake,
    /// The replies that were not asked for yet.
    replies: HashMap<Ticket, Reply>,
    /// The updates of which nothing comes any more.
    lost: HashSet<Ticket>,
    /// The next ticket.
    next: u64,
}

impl UpdateZone for Session<'_> {
    fn window(&mut self) -> usize {
        self.fake.window
    }

    fn send(&mut self, update: &Update<'_>) -> Result<Ticket, TargetError> {
        let message = update.edits.iter().map(|edit| (edit.key.clone(), edit.kind.clone())).collect();
        let reply = self.fake.world.lock().unwrap().receive(message);
        if self.next == 0 {
            let (now, most) = &mut self.fake.world.lock().unwrap().connections;
            *now += 1;
            *most = (*most).max(*now);
        }
        self.next += 1;
        self.replies.insert(Ticket(self.next), reply);
        Ok(Ticket(self.next))
    }

    fn reply(&mut self, ticket: Ticket) -> Reply {
        let reply = self.replies.remove(&ticket).expect("every ticket is asked once");
        if self.lost.remove(&ticket) {
            return Reply::Unknown(error("update-cut"));
        }
        if matches!(reply, Reply::Unknown(_)) {
            self.lost.extend(self.replies.keys());
        }
        reply
    }
}

impl Drop for Session<'_> {
    /// Closes its connection.
    fn drop(&mut self) {
        if self.next > 0 {
            self.fake.world.lock().unwrap().connections.0 -= 1;
        }
    }
}
