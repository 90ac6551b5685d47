//! Updates that a thread delivers one after another, while the next ones are made and noted: for a target that is asked, and
//! answers, before the next one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Sends an update, and gives its reply.
type UpdateDelivery = Box<dyn Fn(&Update<'_>) -> UpdateReply + Send>;

/// The way to a thread, which ends with it.
struct DeliveryThread {
    /// What it is to deliver.
    queue: Sender<QueuedUpdate>,
    /// What it says.
    said: Receiver<(UpdateTicket, UpdateReply)>,
}

/// Writes one zone.
pub struct InTurn {
    /// Where it writes, as messages name it.
    place: String,
    /// What delivers, until the thread has it.
    deliver: Option<UpdateDelivery>,
    /// The thread, from the first update on: a run may have thousands of zones to which nothing is sent.
    thread: Option<DeliveryThread>,
    /// Whether nothing more is to be delivered.
    is_over: Arc<AtomicBool>,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The latest ticket.
    latest: u64,
    /// How many updates had no answer.
    losses: u64,
}

impl InTurn {
    /// Nothing is sent yet.
    pub fn new(place: String, deliver: impl Fn(&Update<'_>) -> UpdateReply + Send + 'static) -> InTurn {
        InTurn {
            place,
            deliver: Some(Box::new(deliver)),
            thread: None,
            is_over: Arc::default(),
            replies: HashMap::new(),
            latest: 0,
            losses: 0,
        }
    }

    /// The thread, which is started where it does not run.
    ///
    /// Errors: the system gives none.
    fn thread(&mut self) -> Result<&DeliveryThread, Problem> {
        if let Some(deliver) = self.deliver.take() {
            let (queue, queued) = channel();
            let (say, said) = channel();
            let is_over = Arc::clone(&self.is_over);
            let started = thread::Builder::new().spawn(move || deliver_all(&queued, &say, &deliver, &is_over));
            self.thread = started.is_ok().then_some(DeliveryThread { queue, said });
        }
        self.thread.as_ref().ok_or_else(|| {
            let hint = "raise the limit of tasks of this service or user";
            Problem::new(&self.place, "connect-failed", "the system gives no thread to write with").hint(hint)
        })
    }
}

impl Drop for InTurn {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// Delivers what comes. Behind an update without an answer, nothing is sent that was made before that was known.
fn deliver_all(
    queued: &Receiver<QueuedUpdate>,
    say: &Sender<(UpdateTicket, UpdateReply)>,
    deliver: &UpdateDelivery,
    is_over: &AtomicBool,
) {
    let mut lost: Option<(u64, Problem)> = None;
    for QueuedUpdate { ticket, losses, zone, edits } in queued {
        if is_over.load(Ordering::SeqCst) {
            return;
        }
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
        self.thread()?.queue.send(queued).expect("the thread lives as long as this");
        Ok(ticket)
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        loop {
            if let Some(reply) = self.replies.remove(&ticket) {
                return reply;
            }
            let thread = self.thread.as_ref().expect("an update was sent");
            let (ticket, reply) = thread.said.recv().expect("the thread replies to each update");
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
    use std::sync::Mutex;

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
        let mut session = InTurn::new("etcd".to_owned(), move |update: &Update<'_>| {
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
