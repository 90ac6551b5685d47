//! Updates of one zone over one connection, several in flight.
//!
//! Comes in: updates. Goes out: what became of each. The connection is made for the first of them and kept for all
//! others. Once an answer fails to come, or proves nothing, nothing more is believed of that connection.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::failure::{Failure, Progress};
use super::lower::{Lowered, TooLarge, lower};
use super::message::Header;
use super::outcome::Expected;
use super::wire::{Connection, WireFault};
use super::writer::Primary;
use super::{random_id, read_error};
use crate::dns::ZoneName;
use crate::provider::TargetError;
use crate::provider::write::{Reply, Ticket, Update, UpdateZone, WriteZone as _};

/// The way to write one zone.
pub struct Session<'a> {
    /// Where it is written.
    primary: &'a Primary,
    /// The zone.
    zone: ZoneName,
    /// The connection, where there is one.
    connection: Option<Connection>,
    /// What was sent and not answered, by the ID of its message.
    in_flight: HashMap<u16, Sent>,
    /// What came of updates before anybody asked.
    replies: HashMap<Ticket, Reply>,
    /// The next ticket.
    next: u64,
}

/// An update that was sent.
struct Sent {
    /// Which.
    ticket: Ticket,
    /// What its answer's signature is checked with.
    transaction: Option<ClientTransaction<Arc<Key>>>,
}

impl UpdateZone for Session<'_> {
    fn window(&mut self) -> usize {
        self.primary.window()
    }

    fn send(&mut self, update: &Update<'_>) -> Result<Ticket, TargetError> {
        let key = self.primary.key(&self.zone)?;
        let id = self.free_id();
        let lowered = lower(update, id, key, Time48::now());
        let Lowered { octets, transaction } = lowered.map_err(|TooLarge| self.error(&Failure::UpdateTooLarge))?;
        if let Err(failure) = self.send_octets(&octets) {
            let error = self.error(&failure);
            self.give_up(&error);
            return Err(error);
        }
        let ticket = Ticket(self.next);
        self.next += 1;
        self.in_flight.insert(id, Sent { ticket, transaction });
        Ok(ticket)
    }

    fn reply(&mut self, ticket: Ticket) -> Reply {
        let deadline = Instant::now() + self.primary.timeout();
        loop {
            if let Some(reply) = self.replies.remove(&ticket) {
                return reply;
            }
            if let Err(failure) = self.receive(deadline) {
                let error = self.error(&failure);
                self.give_up(&error);
                return self.replies.remove(&ticket).unwrap_or(Reply::Unknown(error));
            }
        }
    }
}

impl<'a> Session<'a> {
    /// Starts without a connection.
    pub fn new(primary: &'a Primary, zone: &ZoneName) -> Session<'a> {
        Session {
            primary,
            zone: zone.clone(),
            connection: None,
            in_flight: HashMap::new(),
            replies: HashMap::new(),
            next: 0,
        }
    }

    /// An ID that no update in flight has.
    fn free_id(&self) -> u16 {
        let mut id = random_id();
        while self.in_flight.contains_key(&id) {
            id = random_id();
        }
        id
    }

    /// Sends a message, over another connection where the server closed the last meanwhile.
    fn send_octets(&mut self, octets: &[u8]) -> Result<(), Failure> {
        if self.in_flight.is_empty() {
            self.connection.take_if(|connection| !connection.is_idle());
        }
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(self.primary.connect().map_err(explain_wire)?),
        };
        connection.send(octets).map_err(explain_wire)
    }

    /// Receives the answer to any update in flight.
    fn receive(&mut self, deadline: Instant) -> Result<(), Failure> {
        let connection = self.connection.as_mut().ok_or(Failure::UpdateCut(None))?;
        let mut octets = Vec::new();
        connection.receive_until(deadline, &mut octets).map_err(explain_wire)?;
        // Whatever answers nothing that is awaited may be late: it says nothing, and the deadline runs on.
        let sent = Header::read(&octets).and_then(|header| self.in_flight.remove(&header.id));
        let Some(Sent { ticket, transaction }) = sent else { return Ok(()) };
        let expected = Expected { zone: &self.zone, transaction: transaction.as_ref() };
        let reply = expected.read(octets, Time48::now(), self.primary.place(&self.zone));
        if let Reply::Unknown(error) = &reply {
            self.give_up(error);
        }
        self.replies.insert(ticket, reply);
        Ok(())
    }

    /// Closes the connection: nothing is known of what was sent and not answered.
    fn give_up(&mut self, error: &TargetError) {
        self.connection = None;
        let lost = self.in_flight.drain().map(|(_, sent)| (sent.ticket, Reply::Unknown(error.clone())));
        self.replies.extend(lost);
    }

    /// The error of a failure.
    fn error(&self, failure: &Failure) -> TargetError {
        read_error(self.primary.place(&self.zone), failure, "")
    }
}

/// What a fault of the connection means for updates.
fn explain_wire(fault: WireFault) -> Failure {
    match fault {
        WireFault::Connect(error) => Failure::Connect(error),
        WireFault::TimedOut => Failure::TimedOut { progress: Progress::default() },
        WireFault::Closed => Failure::UpdateCut(None),
        WireFault::Io(error) => Failure::UpdateCut(Some(error)),
    }
}
