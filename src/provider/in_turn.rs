//! Updates that threads deliver, made one after another and in their order, with two of them under way: for a target that
//! compares what the update before has left.

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use crate::diag::Problem;
use crate::dns::{ChangeKind, RrKey, ZoneName};
use crate::parallel::HELD;
use crate::target::{RrsetEdit, Update, UpdateReply, UpdateTicket, UpdateZone};

/// How many updates are under way: while the target does one, it reads the next.
const UNDER_WAY: usize = 2;

/// How many updates it pays to have ready: while half of them is delivered, the journal notes the other half with one sync.
const WINDOW: usize = 8;

/// An update of its own, as a thread gets it.
struct QueuedUpdate {
    /// What its reply is asked for with; they are consecutive numbers.
    ticket: UpdateTicket,
    /// How many updates without an answer were known when it was made.
    losses: u64,
    /// The zone.
    zone: ZoneName,
    /// The edits.
    edits: Vec<(RrKey, ChangeKind)>,
}

/// Sends an update, and gives its reply.
type UpdateDelivery = Box<dyn Fn(&Update<'_>, &mut UpdateTurn<'_>) -> UpdateReply + Send + Sync>;

/// What the threads share.
struct SharedTurns {
    /// Whose turn it is to take the next update; it is kept until that one is made.
    queue: Mutex<Receiver<QueuedUpdate>>,
    /// How the last update ended.
    ended: Mutex<EndedUpdate>,
    /// Another one has ended.
    changed: Condvar,
    /// What delivers.
    deliver: UpdateDelivery,
    /// Where it writes, as messages name it.
    place: String,
    /// Whether nothing more is to be delivered.
    is_over: AtomicBool,
}

/// How updates ended. They end in their order.
#[derive(Default)]
struct EndedUpdate {
    /// The ticket of the last one.
    ticket: u64,
    /// Whether it took effect.
    is_done: bool,
    /// The last one without an answer: how many of these were known when it was made, and why.
    lost: Option<(u64, Problem)>,
}

/// An update that may be made now: no other is, until it passes that on.
pub struct UpdateTurn<'t> {
    /// What the threads share.
    shared: &'t SharedTurns,
    /// Which update it is.
    ticket: u64,
    /// The turn, until it is passed on.
    turn: Option<MutexGuard<'t, Receiver<QueuedUpdate>>>,
}

impl UpdateTurn<'_> {
    /// Lets the next update be made: this one is made, and is sent now.
    pub fn pass(&mut self) {
        self.turn = None;
    }

    /// Whether the update before has a reply.
    pub fn is_alone(&self) -> bool {
        self.shared.ended.lock().expect(HELD).ticket + 1 >= self.ticket
    }

    /// Waits for the reply to the update before; says whether it took effect.
    pub fn await_before(&self) -> bool {
        self.before().is_done
    }

    /// How the update before ended, once it has.
    fn before(&self) -> MutexGuard<'_, EndedUpdate> {
        let mut ended = self.shared.ended.lock().expect(HELD);
        while ended.ticket + 1 < self.ticket {
            ended = self.shared.changed.wait(ended).expect(HELD);
        }
        ended
    }
}

/// The way to the threads, which end with it.
struct DeliveryThreads {
    /// What they are to deliver.
    queue: Sender<QueuedUpdate>,
    /// What they say.
    said: Receiver<(UpdateTicket, UpdateReply)>,
    /// What they share.
    shared: Arc<SharedTurns>,
}

/// Writes one zone.
pub struct InTurn {
    /// Where it writes, as messages name it.
    place: String,
    /// What delivers, until the threads have it.
    deliver: Option<UpdateDelivery>,
    /// The threads, from the first update on: a run may have thousands of zones to which nothing is sent.
    threads: Option<DeliveryThreads>,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The latest ticket.
    latest: u64,
    /// How many updates had no answer.
    losses: u64,
}

impl InTurn {
    /// Nothing is sent yet.
    pub fn new(
        place: String,
        deliver: impl Fn(&Update<'_>, &mut UpdateTurn<'_>) -> UpdateReply + Send + Sync + 'static,
    ) -> InTurn {
        let deliver: Option<UpdateDelivery> = Some(Box::new(deliver));
        InTurn { place, deliver, threads: None, replies: HashMap::new(), latest: 0, losses: 0 }
    }

    /// The threads, which are started where they do not run.
    ///
    /// Errors: the system gives none.
    fn threads(&mut self) -> Result<&DeliveryThreads, Problem> {
        if let Some(deliver) = self.deliver.take() {
            let (queue, queued) = channel();
            let (say, said) = channel();
            let shared = Arc::new(SharedTurns {
                queue: Mutex::new(queued),
                ended: Mutex::default(),
                changed: Condvar::new(),
                deliver,
                place: self.place.clone(),
                is_over: AtomicBool::new(false),
            });
            let start = |_| {
                let (shared, say) = (Arc::clone(&shared), say.clone());
                thread::Builder::new().spawn(move || deliver_all(&shared, &say)).is_ok()
            };
            // One is enough.
            let started = (0..UNDER_WAY).map(start).filter(|is_started| *is_started).count();
            self.threads = (started > 0).then_some(DeliveryThreads { queue, said, shared });
        }
        self.threads.as_ref().ok_or_else(|| {
            let hint = "raise the limit of tasks of this service or user";
            Problem::new(&self.place, "connect-failed", "the system gives no thread to write with").hint(hint)
        })
    }
}

impl Drop for InTurn {
    fn drop(&mut self) {
        if let Some(threads) = &self.threads {
            threads.shared.is_over.store(true, Ordering::SeqCst);
        }
    }
}

/// That a defect of zonewright ended an update.
fn broken(place: &str) -> Problem {
    let message = "a defect of zonewright ended this update: standard error has what it says of itself";
    Problem::new(place, "outcome-unknown", message).hint("report it with that text, and run `zonewright resume`")
}

/// Delivers what comes. Behind an update without an answer, nothing is sent that was made before that was known.
fn deliver_all(shared: &SharedTurns, say: &Sender<(UpdateTicket, UpdateReply)>) {
    loop {
        let turn = shared.queue.lock().expect(HELD);
        let Ok(QueuedUpdate { ticket, losses, zone, edits }) = turn.recv() else { return };
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let mut turn = UpdateTurn { shared, ticket: ticket.0, turn: Some(turn) };
        let loss = |ended: &EndedUpdate| ended.lost.clone().filter(|(before, _)| *before == losses);
        let known = loss(&shared.ended.lock().expect(HELD));
        let reply = match known {
            Some((_, problem)) => UpdateReply::Unknown(problem),
            None => {
                let edits = edits.iter().map(|(key, kind)| RrsetEdit { key, kind }).collect();
                let deliver = || (shared.deliver)(&Update { zone: &zone, edits }, &mut turn);
                // Without a reply the next one, and what waits for both, would wait for ever.
                panic::catch_unwind(AssertUnwindSafe(deliver))
                    .unwrap_or_else(|_| UpdateReply::Unknown(broken(&shared.place)))
            }
        };
        // One that did not pass its turn on keeps it until its end is noted.
        let mut ended = turn.before();
        // What the one before has left may still come, and then this one may, too.
        let reply = match (reply, loss(&ended)) {
            (UpdateReply::Prerequisite(_), Some((_, problem))) => UpdateReply::Unknown(problem),
            (reply, _) => reply,
        };
        (ended.ticket, ended.is_done) = (ticket.0, matches!(reply, UpdateReply::Done));
        if let UpdateReply::Unknown(problem) = &reply {
            ended.lost = Some((losses, problem.clone()));
        }
        drop(ended);
        drop(turn);
        shared.changed.notify_all();
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
        let edits = update.edits.iter().map(|edit| (edit.key.clone(), edit.kind.clone())).collect();
        let (ticket, losses) = (UpdateTicket(self.latest + 1), self.losses);
        let queued = QueuedUpdate { ticket, losses, zone: update.zone.clone(), edits };
        self.threads()?.queue.send(queued).expect("the threads live as long as this");
        self.latest = ticket.0;
        Ok(ticket)
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        loop {
            if let Some(reply) = self.replies.remove(&ticket) {
                return reply;
            }
            let threads = self.threads.as_ref().expect("an update was sent");
            let (ticket, reply) = threads.said.recv().expect("the threads reply to each update");
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
    use super::*;
    use crate::dns::{Name, Rdata, Rrset, Rtype, Ttl};

    /// The first label of what an update is about.
    fn label(update: &Update<'_>) -> String {
        update.edits[0].key.owner.as_name().to_string().trim_end_matches(".example.net.").to_owned()
    }

    /// Sends updates of these names at once, and gives the replies.
    fn replies(session: &mut InTurn, names: &[&str]) -> Vec<UpdateReply> {
        let zone = ZoneName::new(Name::parse("example.net").unwrap());
        let rrset = Rrset::new(Ttl::from_secs(60).unwrap(), vec![Rdata::from_address([192, 0, 2, 1].into())]).unwrap();
        let kind = ChangeKind::Create { after: rrset };
        let send = |name: &&str| {
            let owner = zone.owner(Name::parse(&format!("{name}.example.net")).unwrap().as_name()).unwrap();
            let key = RrKey { owner, rtype: Rtype::A };
            session.send(&Update { zone: &zone, edits: vec![RrsetEdit { key: &key, kind: &kind }] }).unwrap()
        };
        let tickets: Vec<UpdateTicket> = names.iter().map(send).collect();
        tickets.into_iter().map(|ticket| session.reply(ticket)).collect()
    }

    /// Whether updates of these names are done.
    fn deliver(session: &mut InTurn, names: &[&str]) -> Vec<bool> {
        replies(session, names).iter().map(|reply| matches!(reply, UpdateReply::Done)).collect()
    }

    fn lost() -> UpdateReply {
        UpdateReply::Unknown(Problem::new("etcd".to_owned(), "timeout", "no answer"))
    }

    #[test]
    fn behind_an_update_without_an_answer_nothing_is_sent_until_that_is_known() {
        let delivered: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&delivered);
        let mut session = InTurn::new("etcd".to_owned(), move |update, _| {
            let name = label(update);
            let is_lost = name.starts_with("lost");
            log.lock().unwrap().push(name);
            if is_lost { lost() } else { UpdateReply::Done }
        });
        assert_eq!(deliver(&mut session, &["a", "lost", "b", "c"]), [true, false, false, false]);
        assert_eq!(deliver(&mut session, &["lost"]), [false]);
        assert_eq!(deliver(&mut session, &["b", "c"]), [true, true]);
        assert_eq!(*delivered.lock().unwrap(), ["a", "lost", "lost", "b", "c"]);
    }

    #[test]
    fn a_defect_ends_no_thread() {
        let mut session = InTurn::new("etcd".to_owned(), |update, turn| {
            turn.pass();
            assert!(label(update) != "defect", "a defect of this test");
            turn.await_before();
            UpdateReply::Done
        });
        let said = replies(&mut session, &["a", "defect", "b"]);
        assert!(
            matches!(&said[1], UpdateReply::Unknown(problem) if problem.code.as_str() == "outcome-unknown"),
            "{said:?}"
        );
        assert_eq!(deliver(&mut session, &["c"]), [true]);
    }

    #[test]
    fn two_are_under_way_and_end_in_their_order() {
        let arrived = Arc::new((Mutex::new(0), Condvar::new()));
        let both = Arc::clone(&arrived);
        let mut session = InTurn::new("etcd".to_owned(), move |update, turn| {
            turn.pass();
            // The first two wait until both are here.
            let (count, changed) = &*both;
            let mut count = count.lock().unwrap();
            *count += 1;
            changed.notify_all();
            while *count < 2 {
                count = changed.wait(count).unwrap();
            }
            drop(count);
            match label(update).as_str() {
                // It came first, and is made once the one before is.
                "overtakes" => {
                    if turn.await_before() {
                        UpdateReply::Done
                    } else {
                        UpdateReply::Prerequisite(String::new())
                    }
                }
                "refused" => UpdateReply::Prerequisite(String::new()),
                _ => UpdateReply::Done,
            }
        });
        assert_eq!(
            deliver(&mut session, &["a", "overtakes", "refused", "overtakes", "b"]),
            [true, true, false, false, true]
        );
        assert!(session.threads.as_ref().unwrap().shared.ended.lock().unwrap().ticket == 5);
    }

    #[test]
    fn what_waits_behind_a_lost_update_is_of_unknown_outcome_too() {
        let (come, came) = channel();
        let (come, came) = (Mutex::new(come), Mutex::new(came));
        let mut session = InTurn::new("etcd".to_owned(), move |update, turn| {
            turn.pass();
            if label(update) == "lost" {
                // The next one is under way.
                came.lock().unwrap().recv().unwrap();
                return lost();
            }
            come.lock().unwrap().send(()).unwrap();
            turn.await_before();
            UpdateReply::Prerequisite("the marker is another one".to_owned())
        });
        let said = replies(&mut session, &["lost", "behind"]);
        assert!(said.iter().all(|reply| matches!(reply, UpdateReply::Unknown(_))), "{said:?}");
    }
}
