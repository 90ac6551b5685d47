//! Updates that a thread delivers one after another, while the next ones are made and noted: for a target that is asked, and
//! answers, before the next one.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::diag::Problem;
use crate::dns::{ChangeKind, RrKey, ZoneName};
use crate::target::{RrsetEdit, Update, UpdateReply, UpdateTicket, UpdateZone};

/// How many updates it pays to have ready: one is under way, and the next ones are there when it is over.
const WINDOW: usize = 3;

/// An update of its own, as the thread gets it.
struct QueuedUpdate {
    /// What its reply is asked for with.
    ticket: UpdateTicket,
    /// How many updates without an answer were known when it was made.
    losses: u64,
    /// The zone.
    zone: ZoneName,
    /// The edits.
    edits: Vec<(RrKey, ChangeKind)>,
}

/// Writes one zone.
pub struct InTurn {
    /// The way to the thread, which ends with it.
    queue: Sender<QueuedUpdate>,
    /// What the thread says.
    said: Receiver<(UpdateTicket, UpdateReply)>,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The latest ticket.
    latest: u64,
    /// How many updates had no answer.
    losses: u64,
}

impl InTurn {
    /// Starts the thread; nothing is sent yet. `deliver` sends an update, and gives its reply.
    pub fn new(deliver: impl Fn(&Update<'_>) -> UpdateReply + Send + 'static) -> InTurn {
        let (queue, queued) = channel();
        let (say, said) = channel();
        thread::spawn(move || deliver_all(&queued, &say, &deliver));
        InTurn { queue, said, replies: HashMap::new(), latest: 0, losses: 0 }
    }
}

/// Delivers what comes. Behind an update without an answer, nothing is sent that was made before that was known.
fn deliver_all(
    queued: &Receiver<QueuedUpdate>,
    say: &Sender<(UpdateTicket, UpdateReply)>,
    deliver: &impl Fn(&Update<'_>) -> UpdateReply,
) {
    let mut lost: Option<(u64, Problem)> = None;
    for QueuedUpdate { ticket, losses, zone, edits } in queued {
        let reply = match &lost {
            Some((before, problem)) if *before == losses => UpdateReply::Unknown(problem.clone()),
            _ => {
                let edits = edits.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
                deliver(&Update { zone: &zone, edits })
            }
        };
        if let UpdateReply::Unknown(problem) = &reply {
            lost = Some((losses, problem.clone()));
        }
        if say.send((ticket, reply)).is_err() {
            return;
        }
    }
}

impl UpdateZone for InTurn {
    fn window(&mut self) -> usize {
        WINDOW
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        self.latest += 1;
        let ticket = UpdateTicket(self.latest);
        let edits = update.edits.iter().map(|edit| (edit.key.clone(), edit.kind.clone())).collect();
        let queued = QueuedUpdate { ticket, losses: self.losses, zone: update.zone.clone(), edits };
        self.queue.send(queued).expect("the thread lives as long as this");
        Ok(ticket)
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        loop {
            if let Some(reply) = self.replies.remove(&ticket) {
                return reply;
            }
            let (ticket, reply) = self.said.recv().expect("the thread replies to each update");
            // All that is in flight is asked for before anything else is sent.
            if matches!(reply, UpdateReply::Unknown(_)) {
                self.losses = self.latest;
            }
            self.replies.insert(ticket, reply);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::dns::{Name, Rdata, Rrset, Rtype, Ttl};

    /// Sends updates of these names at once, and gives the replies, with the names that were delivered.
    fn deliver(session: &mut InTurn, names: &[&str]) -> Vec<bool> {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let rrset = Rrset::new(Ttl::from_secs(60).unwrap(), vec![Rdata::from_address([192, 0, 2, 1].into())]).unwrap();
        let kind = ChangeKind::Create { after: rrset };
        let send = |name: &&str| {
            let owner = zone.owner(Name::parse(&format!("{name}.example.net")).unwrap().as_name()).unwrap();
            let key = RrKey { owner, rtype: Rtype::A };
            session.send(&Update { zone: &zone, edits: vec![RrsetEdit { key: &key, kind: &kind }] }).unwrap()
        };
        let tickets: Vec<UpdateTicket> = names.iter().map(send).collect();
        tickets.into_iter().map(|ticket| matches!(session.reply(ticket), UpdateReply::Done)).collect()
    }

    #[test]
    fn behind_an_update_without_an_answer_nothing_is_sent_until_that_is_known() {
        let delivered: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&delivered);
        let mut session = InTurn::new(move |update: &Update<'_>| {
            let name = update.edits[0].key.owner.as_name().to_string();
            let is_lost = name.starts_with("lost");
            log.lock().unwrap().push(name);
            let problem = || Problem::new("etcd".to_owned(), "timeout", "no answer");
            if is_lost { UpdateReply::Unknown(problem()) } else { UpdateReply::Done }
        });
        assert_eq!(deliver(&mut session, &["a", "lost", "b", "c"]), [true, false, false, false]);
        assert_eq!(deliver(&mut session, &["lost"]), [false]);
        assert_eq!(deliver(&mut session, &["b", "c"]), [true, true]);
        let expected = ["a.example.net.", "lost.example.net.", "lost.example.net.", "b.example.net.", "c.example.net."];
        assert_eq!(*delivered.lock().unwrap(), expected);
    }
}
