//! Updates of one zone over one connection, several in flight.
//!
//! Comes in: updates. Goes out: the outcome of each. The connection is made for the first update and kept for all
//! others. After an answer that does not come, or proves nothing, nothing else from that connection is believed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use super::failure::{ServerFailure, TransferProgress};
use super::lower::{LoweredUpdate, TooLarge, lower};
use super::message::MessageHeader;
use super::outcome::ExpectedAnswer;
use super::primary::Primary;
use super::wire::{Connection, WireFault};
use super::{random_id, read_error};
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::target::{Update, UpdateReply, UpdateTicket, UpdateZone};

/// The way to write one zone.
pub struct UpdateSession<'a> {
    /// Where it is written.
    primary: &'a Primary,
    /// The zone.
    zone: ZoneName,
    /// The connection, where there is one.
    connection: Option<Connection>,
    /// The updates without an answer, by the ID of the message.
    in_flight: HashMap<u16, InFlightUpdate>,
    /// The outcomes that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The next ticket.
    next: u64,
}

/// An update that was sent.
struct InFlightUpdate {
    /// Which.
    ticket: UpdateTicket,
    /// What its answer's signature is checked with.
    transaction: Option<ClientTransaction<Arc<Key>>>,
}

impl UpdateZone for UpdateSession<'_> {
    fn window(&mut self) -> usize {
        self.primary.window()
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        let key = self.primary.key(&self.zone)?;
        let id = self.free_id();
        let ticket = UpdateTicket(self.next);
        self.next += 1;
        let LoweredUpdate { octets, transaction } = match lower(update, id, key, Time48::now()) {
            Ok(lowered) => lowered,
            Err(TooLarge) => {
                self.replies.insert(ticket, UpdateReply::Refused(self.error(&ServerFailure::UpdateTooLarge)));
                return Ok(ticket);
            }
        };
        if let Err(failure) = self.send_octets(&octets) {
            let error = self.error(&failure);
            self.give_up(&error);
            return Err(error);
        }
        self.in_flight.insert(id, InFlightUpdate { ticket, transaction });
        Ok(ticket)
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        let deadline = Instant::now() + self.primary.timeout();
        loop {
            if let Some(reply) = self.replies.remove(&ticket) {
                return reply;
            }
            if let Err(failure) = self.receive(deadline) {
                let error = self.error(&failure);
                self.give_up(&error);
                return self.replies.remove(&ticket).unwrap_or(UpdateReply::Unknown(error));
            }
        }
    }
}

impl<'a> UpdateSession<'a> {
    /// Starts without a connection.
    pub fn new(primary: &'a Primary, zone: &ZoneName) -> UpdateSession<'a> {
        UpdateSession {
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
    fn send_octets(&mut self, octets: &[u8]) -> Result<(), ServerFailure> {
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
    fn receive(&mut self, deadline: Instant) -> Result<(), ServerFailure> {
        let connection = self.connection.as_mut().ok_or(ServerFailure::UpdateCut(None))?;
        let mut octets = Vec::new();
        connection.receive_until(deadline, &mut octets).map_err(explain_wire)?;
        // A message that answers no open update may be late: it proves nothing, and the deadline does not change.
        let sent = MessageHeader::read(&octets).and_then(|header| self.in_flight.remove(&header.id));
        let Some(InFlightUpdate { ticket, transaction }) = sent else { return Ok(()) };
        let expected = ExpectedAnswer { zone: &self.zone, transaction: transaction.as_ref() };
        let reply = expected.read(octets, Time48::now(), self.primary.place(&self.zone));
        if let UpdateReply::Unknown(error) = &reply {
            self.give_up(error);
        }
        self.replies.insert(ticket, reply);
        Ok(())
    }

    /// Closes the connection: nothing is known of what was sent and not answered.
    fn give_up(&mut self, error: &Problem) {
        self.connection = None;
        let lost = self.in_flight.drain().map(|(_, sent)| (sent.ticket, UpdateReply::Unknown(error.clone())));
        self.replies.extend(lost);
    }

    /// The error of a failure.
    fn error(&self, failure: &ServerFailure) -> Problem {
        read_error(self.primary.place(&self.zone), failure, "")
    }
}

/// What a fault of the connection means for updates.
fn explain_wire(fault: WireFault) -> ServerFailure {
    match fault {
        WireFault::Unresolved(error) => ServerFailure::Unresolved(error),
        WireFault::Connect(error) => ServerFailure::Connect(error),
        WireFault::TimedOut => ServerFailure::TimedOut { progress: TransferProgress::default() },
        WireFault::Closed => ServerFailure::UpdateCut(None),
        WireFault::Io(error) => ServerFailure::UpdateCut(Some(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::super::NameServers;
    use super::super::settings::ServerAddress;
    use super::super::tests::{Signer, apex, framed, read, reader};
    use super::*;
    use crate::dns::{ChangeKind, Name, Rdata, RrKey, Rrset, Rtype, Ttl};
    use crate::target::RrsetEdit;

    /// An answer with this error to an update, signed as it is.
    fn answer(update: &[u8], rcode: u8) -> Vec<u8> {
        let answer = [&update[..2], &[0xa8, rcode, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
        if update[11] == 0 { answer } else { Signer::new(update).sign(answer) }
    }

    /// A primary that serves one connection after the other as `act` says, the number of the connection given.
    fn primary(keyed: bool, act: impl Fn(usize, &mut TcpStream) + Send + 'static) -> Primary {
        Primary::new(servers(keyed, act))
    }

    /// The same, with settings to be changed.
    fn servers(keyed: bool, act: impl Fn(usize, &mut TcpStream) + Send + 'static) -> NameServers {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for number in 0.. {
                let (mut stream, _) = listener.accept().unwrap();
                act(number, &mut stream);
            }
        });
        reader(vec![ServerAddress { host: "127.0.0.1".into(), port }], keyed)
    }

    /// Sends an update that creates a TXT of some octets.
    fn send(session: &mut UpdateSession<'_>, octets: usize) -> Result<UpdateTicket, Problem> {
        let rdata = (0..octets.div_ceil(200)).map(|number| Rdata::from_text(&format!("{number:0200}")).unwrap());
        let kind = ChangeKind::Create { after: Rrset::new(Ttl::DEFAULT, rdata.collect()).unwrap() };
        let owner = apex().owner(Name::parse("a.example.net").unwrap().as_name()).unwrap();
        let key = RrKey { owner, rtype: Rtype::TXT };
        session.send(&Update { zone: &apex(), edits: vec![RrsetEdit { key: &key, kind: &kind }] })
    }

    /// The kind of a reply, with its code where it is an error.
    fn kind(reply: &UpdateReply) -> &'static str {
        match reply {
            UpdateReply::Done => "done",
            UpdateReply::Prerequisite(_) => "prerequisite",
            UpdateReply::Refused(error)
            | UpdateReply::Failed(error)
            | UpdateReply::Unknown(error)
            | UpdateReply::Raced(error)
            | UpdateReply::RefusedInPart(error) => error.code.as_str(),
        }
    }

    #[test]
    fn answers_in_any_order_find_their_updates_and_others_are_passed_over() {
        let primary = primary(true, |_, stream| {
            let updates: Vec<_> = (0..3).map_while(|_| read(stream)).collect();
            let stray = [&[updates[0][0] ^ 1][..], &answer(&updates[0], 0)[1..]].concat();
            let answers = [2, 0, 1].map(|place| answer(&updates[place], [0, 8, 2][place]));
            stream.write_all(&framed(&[vec![0; 5], stray])).unwrap();
            stream.write_all(&framed(&answers)).unwrap();
        });
        let mut session = UpdateSession::new(&primary, &apex());
        let tickets = [0; 3].map(|_| send(&mut session, 1).unwrap());
        let replies = tickets.map(|ticket| kind(&session.reply(ticket)));
        assert_eq!(replies, ["done", "prerequisite", "server-failure"]);
    }

    #[test]
    fn after_an_answer_that_proves_nothing_another_connection_is_made() {
        let primary = primary(true, |number, stream| {
            let updates: Vec<_> = (0..2 - number).map_while(|_| read(stream)).collect();
            let mut first = answer(&updates[0], 0);
            if number == 0 {
                first[3] ^= 1;
            }
            stream.write_all(&framed(&[first])).unwrap();
            // Until the other side closes it.
            while read(stream).is_some() {}
        });
        let mut session = UpdateSession::new(&primary, &apex());
        let tickets = [0; 2].map(|_| send(&mut session, 1).unwrap());
        assert_eq!(tickets.map(|ticket| kind(&session.reply(ticket))), ["tsig-bad-sig"; 2]);
        let ticket = send(&mut session, 1).unwrap();
        assert_eq!(kind(&session.reply(ticket)), "done");
    }

    #[test]
    fn a_connection_that_was_closed_meanwhile_is_not_written_to() {
        let (closed, is_closed) = mpsc::channel();
        let primary = primary(false, move |_, stream| {
            let update = read(stream).unwrap();
            stream.write_all(&framed(&[answer(&update, 0)])).unwrap();
            stream.shutdown(std::net::Shutdown::Both).unwrap();
            closed.send(()).unwrap();
        });
        let mut session = UpdateSession::new(&primary, &apex());
        for _ in 0..5 {
            let ticket = send(&mut session, 1).unwrap();
            assert_eq!(kind(&session.reply(ticket)), "done");
            is_closed.recv().unwrap();
            // It is noticed as soon as it has come through.
            while session.connection.as_ref().is_some_and(Connection::is_idle) {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn an_answer_that_does_not_come_is_unknown() {
        let mut silent = servers(false, |number, stream| {
            let update = read(stream).unwrap();
            if number > 0 {
                stream.write_all(&framed(&[answer(&update, 0)])).unwrap();
            }
            while read(stream).is_some() {}
        });
        silent.settings.exchange.timeout = Duration::from_millis(100);
        let silent = Primary::new(silent);
        let mut session = UpdateSession::new(&silent, &apex());
        let ticket = send(&mut session, 1).unwrap();
        assert_eq!(kind(&session.reply(ticket)), "timeout");
        // The same update is not waited for twice.
        assert_eq!(kind(&session.reply(ticket)), "update-cut");
        let ticket = send(&mut session, 1).unwrap();
        assert_eq!(kind(&session.reply(ticket)), "done");
        let hangs_up = primary(false, |_, stream| drop(read(stream)));
        let mut session = UpdateSession::new(&hangs_up, &apex());
        let ticket = send(&mut session, 1).unwrap();
        assert_eq!(kind(&session.reply(ticket)), "update-cut");
    }

    #[test]
    fn what_cannot_be_sent_is_an_error() {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let primary = Primary::new(reader(vec![ServerAddress { host: "127.0.0.1".into(), port: gone }], true));
        let mut session = UpdateSession::new(&primary, &apex());
        let error = send(&mut session, 1).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.place),
            ("connect-failed", format!("127.0.0.1:{gone} zone example.net."))
        );
    }

    #[test]
    fn what_no_message_holds_is_refused_and_those_in_flight_are_not() {
        let primary = primary(true, |_, stream| {
            while let Some(update) = read(stream) {
                stream.write_all(&framed(&[answer(&update, 0)])).unwrap();
            }
        });
        let mut session = UpdateSession::new(&primary, &apex());
        let tickets = [1, 70_000, 1].map(|octets| send(&mut session, octets).unwrap());
        let replies = tickets.map(|ticket| session.reply(ticket));
        assert_eq!(replies.each_ref().map(kind), ["done", "update-too-large", "done"]);
        assert!(matches!(replies[1], UpdateReply::Refused(_)));
    }
}
