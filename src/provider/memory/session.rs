//! The primary as a target: it is read, asked and written as any other.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use domain::base::iana::{Class, Rcode};

use super::message::{UpdateInstruction, UpdateMessage, UpdatePrerequisite};
use super::primary::MemoryPrimary;
use super::zone::MemoryZone;
use crate::diag::{Code, Problem};
use crate::dns::{Name, NameRef, RdataRef, Rrset, Rtype, Ttl, ZoneBuilder, ZoneName};
use crate::provider::entries::{self, UpdateEntry};
use crate::provider::outage::place_of;
use crate::target::answers::{self, WholeZone};
use crate::target::{
    Answer, EditSize, NameExistence, Question, ReadTarget, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateTicket,
    UpdateZone, WriteTarget, ZoneRead,
};

impl WholeZone for MemoryZone {
    fn apex(&self) -> &ZoneName {
        self.apex()
    }

    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        self.rrset(name, rtype).cloned()
    }
}

impl From<&Update<'_>> for UpdateMessage {
    /// The message that any server is sent of an update.
    fn from(update: &Update<'_>) -> UpdateMessage {
        let (mut prerequisites, mut instructions) = (Vec::new(), Vec::new());
        let Ok(()) = entries::prerequisites(&update.edits, |entry| keep(&mut prerequisites, prerequisite(entry)));
        let Ok(()) = entries::updates(&update.edits, |entry| keep(&mut instructions, instruction(entry)));
        UpdateMessage { zone: update.zone.clone(), prerequisites, instructions }
    }
}

/// Keeps one more.
fn keep<T>(all: &mut Vec<T>, one: T) -> Result<(), Infallible> {
    all.push(one);
    Ok(())
}

/// What must hold.
fn prerequisite(entry: UpdateEntry<'_>) -> UpdatePrerequisite {
    let (name, rtype) = (entry.owner.to_name(), entry.rtype);
    match entry.class {
        Class::NONE => UpdatePrerequisite::Absent(name, rtype),
        Class::ANY => UpdatePrerequisite::Exists(name, rtype),
        _ => UpdatePrerequisite::Holds(name, rtype, RdataRef { rtype, octets: entry.rdata }.to_rdata()),
    }
}

/// What is to be done.
fn instruction(entry: UpdateEntry<'_>) -> UpdateInstruction {
    let (name, rtype) = (entry.owner.to_name(), entry.rtype);
    match entry.class {
        Class::ANY => UpdateInstruction::DeleteRrset(name, rtype),
        class => {
            let rdata = RdataRef { rtype, octets: entry.rdata }.to_rdata();
            match class {
                Class::NONE => UpdateInstruction::DeleteRecord(name, rtype, rdata),
                _ => UpdateInstruction::Add(name, rtype, Ttl::from_wire(entry.ttl), rdata),
            }
        }
    }
}

/// Where a zone is, as errors name it.
fn place(zone: &ZoneName) -> String {
    place_of("memory", zone)
}

/// An error at a zone.
fn error(zone: &ZoneName, code: impl Into<Code>, message: impl Into<String>) -> Problem {
    Problem::new(place(zone), code, message.into())
}

impl MemoryPrimary {
    /// Looks at a zone as a client on the network does.
    fn look<R>(&self, zone: &ZoneName, look: impl FnOnce(&MemoryZone) -> R) -> Result<R, Problem> {
        let world = self.world();
        if world.is_down {
            return Err(error(zone, "connect-failed", "the server cannot be reached"));
        }
        let found = world.zone(zone).ok_or_else(|| error(zone, "zone-not-served", "the server has no such zone"))?;
        Ok(look(found))
    }
}

impl ReadTarget for MemoryPrimary {
    fn place(&self, zone: &ZoneName) -> String {
        place(zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let contents = self.look(zone, |found| {
            let mut builder = ZoneBuilder::new(zone.clone());
            for (name, rtype, rrset) in found.rrsets() {
                for rdata in rrset.rdata() {
                    builder.push(name, rtype, rrset.ttl(), rdata.as_octets())?;
                }
            }
            builder.finish()
        })?;
        let contents = contents.map_err(|cause| error(zone, "bad-message", cause.to_string()))?;
        Ok(ZoneRead { contents, opaque: Vec::new(), is_flat: false, inputs: Vec::new(), findings: None })
    }

    fn ask(&self, zone: &ZoneName, questions: &[Question]) -> Result<Vec<Answer>, Problem> {
        self.look(zone, |found| questions.iter().map(|question| answers::answer(found, question)).collect())
    }

    fn find(&self, zone: &ZoneName, names: &[Name]) -> Result<Vec<NameExistence>, Problem> {
        self.look(zone, |found| {
            let existence = |name: &Name| {
                let wildcard = name.as_name().parent().and_then(|parent| Name::prepend(b"*", parent).ok());
                let is_covered = wildcard.is_some_and(|wildcard| found.exists(wildcard.as_name()));
                let is_denied = !is_covered && !found.exists(name.as_name());
                NameExistence::of(answers::answer(found, &Question::whether(name.clone())), is_denied)
            };
            names.iter().map(existence).collect()
        })
    }
}

impl WriteTarget for MemoryPrimary {
    fn place(&self, zone: &ZoneName) -> String {
        place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        self.limits
    }

    /// Counts edits: no message is composed.
    fn size(&self, _: &ZoneName, _: RrsetEdit<'_>) -> EditSize {
        EditSize::of_octets(1)
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], _: Option<u64>) -> Result<Vec<Answer>, Problem> {
        self.ask(zone, questions)
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(MemorySession { primary: self, replies: HashMap::new(), cut: HashSet::new(), next: 0 })
    }

    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        Ok(())
    }
}

/// Writes one zone of a primary.
struct MemorySession<'p> {
    /// The primary.
    primary: &'p MemoryPrimary,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The updates that get no further answer.
    cut: HashSet<UpdateTicket>,
    /// The latest ticket; 0 before the first update, as there is no connection before.
    next: u64,
}

impl UpdateZone for MemorySession<'_> {
    fn window(&mut self) -> usize {
        self.primary.window
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        let said = self.primary.deliver(&UpdateMessage::from(update));
        if self.next == 0 {
            let (now, most) = &mut self.primary.world().connections;
            *now += 1;
            *most = (*most).max(*now);
        }
        self.next += 1;
        let refused = |rcode| error(update.zone, "update-refused", format!("the server answers {rcode}"));
        let reply = match said {
            None => UpdateReply::Unknown(error(update.zone, "timeout", "no answer comes")),
            Some(Rcode::NOERROR) => UpdateReply::Done,
            Some(Rcode::SERVFAIL) => {
                UpdateReply::Failed(error(update.zone, "server-failure", "the server answers SERVFAIL"))
            }
            Some(rcode @ (Rcode::NXDOMAIN | Rcode::NXRRSET | Rcode::YXDOMAIN | Rcode::YXRRSET)) => {
                UpdateReply::Prerequisite(format!("the server answers {rcode}"))
            }
            Some(rcode) => UpdateReply::Refused(refused(rcode)),
        };
        self.replies.insert(UpdateTicket(self.next), reply);
        Ok(UpdateTicket(self.next))
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        let reply = self.replies.remove(&ticket).expect("every ticket is asked for once");
        if self.cut.remove(&ticket) {
            return match reply {
                UpdateReply::Unknown(error) => UpdateReply::Unknown(error),
                _ => UpdateReply::Unknown(Problem::new("memory", "update-cut", "the connection was cut")),
            };
        }
        if matches!(reply, UpdateReply::Unknown(_)) {
            self.cut.extend(self.replies.keys());
        }
        reply
    }
}

impl Drop for MemorySession<'_> {
    /// Closes its connection.
    fn drop(&mut self) {
        if self.next > 0 {
            self.primary.world().connections.0 -= 1;
        }
    }
}
