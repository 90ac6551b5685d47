//! One zone: its batches one after another, or a chain of them in flight, and what is done if one does not take effect.
//!
//! Comes in: pieces of units. Goes out: to the board which of them were written, and why others were not.
//!
//! Every batch names the marker that its predecessor wrote, so a refused batch stops those behind it. If it is unknown
//! whether a batch took effect, the marker shows it, and the batch is sent again unchanged, with the marker that it was
//! to write: the late original and the copy cannot both take effect. A batch that a prerequisite stops is halved until
//! the host that changed is alone in it; if its lost original still takes effect late, its marker shows that, too. A
//! marker that is not ours means another run: nothing else is sent.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::batch::{self, UnitPiece};
use super::board::ApplyBoard;
use super::compare::is_after;
use super::flight_reader::{ChainLook, FlightReader, PAUSE, TRIES};
use super::lane::{SurveyedCopy, UnitVerdict, differs};
use super::model::{ApplyEvent, Batch, BatchOutcome, MarkerSwap, OutcomeCode, Phase, ZoneWritten};
use super::quorum::UnitTurn;
use super::sent_batch::{SentBatch, after};
use crate::change::ChangeKind;
use crate::diag::Problem;
use crate::dns::Rrset;
use crate::target::{CopyId, Marker, Question, RrsetEdit, TargetId, Update, UpdateReply, UpdateTicket, UpdateZone};

/// After so many single units that a server refused, with none between that it took, it will not take the others.
const STRIKES: u32 = 3;

/// Batches have numbers below this within an apply, so that no other run has the same `b=` in a marker.
const BATCHES: u64 = 1_000_000;

/// The writer of one zone.
pub struct ZoneWriter<'a> {
    /// The apply.
    board: &'a ApplyBoard<'a>,
    /// The zone.
    zone: &'a SurveyedCopy<'a>,
    /// The way to its primary.
    session: Box<dyn UpdateZone + 'a>,
    /// What is at the marker's place, if known.
    marker: Option<Rrset>,
    /// The epoch of this apply.
    epoch: u64,
    /// Why nothing more is sent here.
    given_up: Option<UnitVerdict>,
    /// Batches that were made anew as others or were given up, and of which an answer was lost: they may come late, until any
    /// other batch takes effect; without a marker, until one with a change of theirs does. They are yet to settle.
    late: Vec<SentBatch<'a>>,
    /// The batches that took effect last, until the journal notes them: together with the next ones that are sent, which
    /// saves syncs, or as soon as there are none.
    heard: Vec<SentBatch<'a>>,
    /// How many of the next batches are halves of one that was refused.
    halves: usize,
    /// How often the batch in front was tried without success.
    tries: u32,
    /// How many single units were refused since one was taken.
    strikes: u32,
    /// How many updates and changes took effect.
    written: (usize, usize),
    /// Of how many updates it is not known whether they took effect.
    unknown: usize,
    /// When the first update was sent, and the last settled.
    clock: Option<(Instant, Instant)>,
}

/// What is to be written of a phase.
#[derive(Default)]
pub struct PhasePieces {
    /// What may be written now.
    pub ready: Vec<UnitPiece>,
    /// Whether more waits for other pools.
    pub waits: bool,
}

/// What can be known of batches whose answers were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchDoubt {
    /// The marker says that they took no effect.
    Undone,
    /// The RRsets can be read.
    Readable,
    /// Nothing.
    Blind,
}

impl<'a> ZoneWriter<'a> {
    /// Starts; nothing is sent yet.
    pub fn new(board: &'a ApplyBoard<'a>, zone: &'a SurveyedCopy<'a>) -> ZoneWriter<'a> {
        let read = zone.marker().map_or(0, |marker| marker.epoch);
        let known = board.hub.orders.epochs.get(&zone.copy).copied().unwrap_or(0);
        ZoneWriter {
            board,
            zone,
            session: zone.writer.open(&zone.copy.zone),
            marker: zone.fence.as_ref().and_then(|(_, standing)| standing.clone()),
            // An operator may have written the greatest number by hand.
            epoch: read.max(known).saturating_add(1),
            given_up: None,
            late: Vec::new(),
            heard: Vec::new(),
            halves: 0,
            tries: 0,
            strikes: 0,
            written: (0, 0),
            unknown: 0,
            clock: None,
        }
    }

    /// The pieces of a phase that are still to be written here.
    pub fn pieces(&self, phase: Phase) -> PhasePieces {
        let survey = self.board.hub.survey;
        let mut pieces = batch::pieces(
            &self.zone.places,
            |place| survey.unit_of[place],
            |place| survey.phases[place] == phase && !self.board.lane.made[place],
        );
        pieces.retain(|piece| self.board.is_to_do(piece));
        let mut of_phase = PhasePieces::default();
        for piece in pieces {
            match self.board.turn(&piece, phase) {
                UnitTurn::Go => of_phase.ready.push(piece),
                UnitTurn::Wait => of_phase.waits = true,
                UnitTurn::Over => {}
            }
        }
        of_phase
    }

    /// Writes the pieces of a phase.
    pub fn write(&mut self, phase: Phase, pieces: Vec<UnitPiece>) {
        let (zone, writer) = (&self.zone.copy.zone, self.zone.writer);
        let changes = self.board.lane.changes;
        let size = |place: usize| {
            let change = &changes[place];
            writer.size(zone, RrsetEdit { key: &change.key, kind: &change.kind })
        };
        let mut queue: VecDeque<Vec<UnitPiece>> = batch::cut(pieces, (changes, writer.limits()), size).into();
        let mut flight: VecDeque<SentBatch<'a>> = VecDeque::new();
        self.check_primary();
        loop {
            self.fill(phase, &mut queue, &mut flight);
            let Some(front) = flight.front() else { break };
            match front.reply(&mut *self.session) {
                UpdateReply::Done => {
                    if !writer.compares() {
                        self.board.expose(&front.pieces);
                    }
                    self.hear_done(&mut flight);
                }
                UpdateReply::Raced(error) => {
                    if let Some(front) = flight.front_mut() {
                        front.note_race(self.board, &error);
                    }
                    self.hear_done(&mut flight);
                }
                reply => self.recover(reply, &mut flight, &mut queue),
            }
        }
        self.settle_heard();
        self.give_up_late();
        let rest: Vec<UnitPiece> = queue.into_iter().flatten().filter(|piece| self.board.is_to_do(piece)).collect();
        let verdict = self.given_up.clone().unwrap_or_else(|| self.board.hub.stop_verdict());
        self.board.leave(&rest, &verdict);
        // A connection is not kept until the next phase: the connections of a few hundred zones would leave a server
        // none for other clients (BIND's `tcp-clients` is 150).
        self.session = writer.open(zone);
    }

    /// After a primary was lost: checks that this one is there. Otherwise an update with an unknown outcome would be
    /// sent to each of many zones.
    fn check_primary(&mut self) {
        if self.given_up.is_some() || !self.board.is_any_lost() {
            return;
        }
        let soa = Question::soa(&self.zone.copy.zone);
        if let Err(error) = self.zone.writer.observe(&self.zone.copy.zone, &[soa], None) {
            self.given_up = Some(UnitVerdict::of_error(OutcomeCode::NotReached, &error));
        }
    }

    /// What was sent here.
    pub fn finish(self) -> ZoneWritten {
        let (updates, changes) = self.written;
        let took = self.clock.map_or(Duration::ZERO, |(first, last)| last - first);
        let target = self.board.lane.target.as_ref().map(|target| target.name.clone());
        let CopyId { target: TargetId { pool, .. }, zone } = self.zone.copy.clone();
        ZoneWritten { pool, zone, target, updates, changes, unknown: self.unknown, took }
    }

    /// Sends batches where there is room in the window. One sync of the journal notes all of them, so that none is sent until
    /// half of the window is free: the other half keeps the server busy meanwhile.
    fn fill(&mut self, phase: Phase, queue: &mut VecDeque<Vec<UnitPiece>>, flight: &mut VecDeque<SentBatch<'a>>) {
        // Without markers nothing would stop the batches behind one that is refused or lost.
        let most = if queue.len() > 1 && self.zone.fence.is_some() { self.session.window() } else { 1 };
        // Behind a half that is probably refused again all would be in vain.
        let window = |halves: usize| if halves > 0 { 1 } else { most };
        if flight.len() > window(self.halves) / 2 {
            return;
        }
        let mut made: Vec<(Batch<'a>, Vec<UnitPiece>)> = Vec::new();
        while self.given_up.is_none() && !self.board.hub.is_stopped() {
            if flight.len() + made.len() >= window(self.halves) {
                break;
            }
            let Some(mut pieces) = queue.pop_front() else { break };
            self.halves = self.halves.saturating_sub(1);
            pieces.retain(|piece| self.board.is_to_do(piece));
            if pieces.is_empty() {
                continue;
            }
            let last = made.last().map(|(batch, _)| batch).or(flight.back().map(|sent| &sent.batch));
            let before = last.map_or_else(|| self.marker.clone(), after);
            made.push((self.batch(phase, &pieces, before), pieces));
        }
        if made.is_empty() {
            return;
        }
        if !self.tell_sending(&made) {
            made.into_iter().rev().for_each(|(_, pieces)| queue.push_front(pieces));
            return;
        }
        for (batch, pieces) in made {
            let ticket = self.send(&batch);
            let is_unproven = !self.zone.writer.compares();
            flight.push_back(SentBatch { batch, pieces, ticket, was_lost: false, race: None, is_unproven });
        }
    }

    /// Reports that batches are about to be sent, and the outcome of the last ones.
    fn tell_sending(&mut self, made: &[(Batch<'a>, Vec<UnitPiece>)]) -> bool {
        let heard = std::mem::take(&mut self.heard);
        let outcomes: Vec<BatchOutcome> = heard.iter().map(SentBatch::made).collect();
        let settled = heard.iter().zip(&outcomes).map(|(sent, outcome)| ApplyEvent::Settled(&sent.batch, outcome));
        let events: Vec<ApplyEvent<'_>> =
            settled.chain(made.iter().map(|(batch, _)| ApplyEvent::Sending(batch))).collect();
        let is_kept = self.board.hub.tell_all(&events);
        heard.iter().for_each(|sent| self.board.done(&sent.pieces));
        is_kept
    }

    /// Makes a batch of pieces, which swaps the marker `before` for one of its own.
    fn batch(&self, phase: Phase, pieces: &[UnitPiece], before: Option<Rrset>) -> Batch<'a> {
        let number = self.board.hub.next_number();
        let orders = self.board.hub.orders;
        let after = Marker {
            epoch: self.epoch,
            plan: orders.wave.plan().to_owned(),
            batch: orders.run * BATCHES + number % BATCHES,
        };
        let changes = pieces.iter().flat_map(|piece| &piece.changes).map(|place| self.reader().change(*place));
        Batch {
            number,
            copy: self.zone.copy.clone(),
            phase,
            swap: self.zone.fence.is_some().then_some(MarkerSwap { before, after }),
            changes: changes.collect(),
        }
    }

    /// What reads the zone.
    fn reader(&self) -> FlightReader<'a> {
        FlightReader { board: self.board, zone: self.zone }
    }

    /// Sends a batch.
    fn send(&mut self, batch: &Batch<'a>) -> Result<UpdateTicket, Problem> {
        let now = Instant::now();
        self.clock.get_or_insert((now, now));
        let swap = batch.swap.as_ref().map(swap_kind);
        let key = self.zone.fence.as_ref().map(|(key, _)| key);
        let marker: Option<RrsetEdit<'_>> = key.zip(swap.as_ref()).map(|(key, kind)| RrsetEdit { key, kind });
        let changes = batch.changes.iter().map(|change| RrsetEdit { key: &change.key, kind: &change.kind });
        let edits = marker.into_iter().chain(changes).collect();
        let hub = self.board.hub;
        self.session.send_until(&Update { zone: &self.zone.copy.zone, edits }, &|| hub.is_interrupted())
    }

    /// Treats the first batch as done; the journal notes it soon.
    fn hear_done(&mut self, flight: &mut VecDeque<SentBatch<'a>>) {
        if !self.late.is_empty() {
            return self.settle_done(flight);
        }
        let Some(sent) = flight.pop_front() else { return };
        self.count(sent.after(), sent.batch.changes.len());
        self.heard.push(sent);
    }

    /// Notes the batches that took effect in the journal, where that was left to next batches that do not come.
    fn settle_heard(&mut self) {
        if !self.heard.is_empty() {
            self.tick();
            self.tell_sending(&[]);
        }
    }

    /// Takes the batch in front for done.
    fn settle_done(&mut self, flight: &mut VecDeque<SentBatch<'a>>) {
        let Some(sent) = flight.pop_front() else { return };
        // Without a marker, what writes other RRsets stops no update that is late.
        let is_fenced = self.zone.fence.is_some();
        let late = std::mem::take(&mut self.late).into_iter();
        let (over, late): (Vec<SentBatch<'a>>, _) = late.partition(|late| is_fenced || sent.replaces(late));
        self.late = late;
        for late in over {
            let outcome = if sent.is_unproven {
                BatchOutcome::Unknown("what of it was sent again is there, and an answer was lost".to_owned())
            } else {
                BatchOutcome::Undone("another update took effect in its place".to_owned())
            };
            self.settle(&late.batch, outcome);
        }
        self.took(&sent);
    }

    /// Notes that a batch took effect.
    fn took(&mut self, sent: &SentBatch<'a>) {
        self.count(sent.after(), sent.batch.changes.len());
        self.settle(&sent.batch, sent.made());
        self.board.done(&sent.pieces);
    }

    /// Counts a batch that took effect and left this marker.
    fn count(&mut self, marker: Option<Rrset>, changes: usize) {
        (self.tries, self.strikes) = (0, 0);
        self.written = (self.written.0 + 1, self.written.1 + changes);
        self.marker = marker;
        self.tick();
    }

    /// Notes when the last batch settled.
    fn tick(&mut self) {
        if let Some((_, last)) = &mut self.clock {
            *last = Instant::now();
        }
    }

    /// Notes that a batch took effect late, after those that its chain begins with. Batches in flight, and others that
    /// may be late, named the marker that they found, so they never take effect; their pieces were already sent again.
    fn take_late(&mut self, place: usize, flight: &mut VecDeque<SentBatch<'a>>, queue: &mut VecDeque<Vec<UnitPiece>>) {
        let mut took = vec![self.late.swap_remove(place)];
        while let Some(place) = self.late.iter().position(|late| late.is_before_all(&took)) {
            took.push(self.late.swap_remove(place));
        }
        let undone = || BatchOutcome::Undone("another update took effect in its place".to_owned());
        for late in std::mem::take(&mut self.late) {
            self.settle(&late.batch, undone());
        }
        while let Some(sent) = flight.pop_back() {
            self.settle(&sent.batch, undone());
            queue.push_front(sent.pieces);
        }
        took.iter().rev().for_each(|late| self.took(late));
    }

    /// Leaves what may still come late when nothing more is sent.
    fn give_up_late(&mut self) {
        for late in std::mem::take(&mut self.late) {
            let message = "an answer was lost, and its update may take effect late".to_owned();
            self.settle(&late.batch, BatchOutcome::Unknown(message.clone()));
            let hint = Some("plan again: the new plan starts from what is there now".to_owned());
            self.board.doubt(&late.pieces, &UnitVerdict { outcome: OutcomeCode::Failed, message, hint });
        }
    }

    /// Reports the outcome of a batch.
    fn settle(&mut self, batch: &Batch<'a>, settled: BatchOutcome) {
        self.tick();
        self.unknown += usize::from(matches!(settled, BatchOutcome::Unknown(_)));
        self.board.tell(ApplyEvent::Settled(batch, &settled));
    }

    /// Finds out the outcome of the batches in flight, of which the first has no good reply, and continues from there.
    fn recover(
        &mut self,
        first: UpdateReply,
        flight: &mut VecDeque<SentBatch<'a>>,
        queue: &mut VecDeque<Vec<UnitPiece>>,
    ) {
        self.settle_heard();
        let mut replies = VecDeque::from([first]);
        replies.extend(flight.iter().skip(1).map(|sent| sent.reply(&mut *self.session)));
        for (sent, reply) in flight.iter_mut().zip(&replies) {
            if let UpdateReply::Raced(error) = reply {
                sent.note_race(self.board, error);
            }
        }
        // One behind the first that took effect shows that the first did too, its original being late.
        let may_be_done =
            |reply: &UpdateReply| matches!(reply, UpdateReply::Unknown(_) | UpdateReply::Done | UpdateReply::Raced(_));
        let is_doubtful = replies.iter().any(may_be_done);
        // Another run may have moved the marker; or the original came late, and this is the answer to its copy.
        let may_be_other = self.zone.fence.is_some() || flight.front().is_some_and(|sent| sent.was_lost);
        if is_doubtful || may_be_other && matches!(replies[0], UpdateReply::Prerequisite(_)) {
            match self.reader().look(flight, self.marker.as_ref(), &self.late) {
                ChainLook::Took(count) => {
                    for _ in 0..count {
                        // Without a marker, another editor may have written the same.
                        if let Some(front) = flight.front_mut() {
                            front.is_unproven |= self.zone.fence.is_none();
                        }
                        if let (Some(front), Some(UpdateReply::Unknown(_)), false) =
                            (flight.front_mut(), replies.front(), self.zone.writer.compares())
                        {
                            front.note_race(self.board, &unseen(self.zone.writer.place(&self.zone.copy.zone)));
                        }
                        self.settle_done(flight);
                        replies.pop_front();
                    }
                }
                ChainLook::Late(place) => return self.take_late(place, flight, queue),
                ChainLook::Moved(marker) => return self.give_up_moved(&marker, flight, &replies),
                ChainLook::Mixed => return self.give_up_mixed(flight, &replies),
                ChainLook::Replaced => return self.leave_replaced(flight),
                ChainLook::Unreadable(error) => {
                    self.board.note_lost(&error);
                    let verdict = UnitVerdict::of_error(OutcomeCode::NotReached, &error);
                    return self.give_up(&verdict, flight, &replies, BatchDoubt::Blind);
                }
            }
        }
        for (sent, reply) in flight.iter_mut().zip(&replies) {
            sent.was_lost |= matches!(reply, UpdateReply::Unknown(_));
        }
        match replies.pop_front() {
            None => {}
            Some(UpdateReply::Done | UpdateReply::Raced(_)) => self.settle_done(flight),
            Some(UpdateReply::Unknown(error)) => {
                if self.may_try_again() {
                    self.send_again(flight)
                } else {
                    replies.push_front(UpdateReply::Unknown(error.clone()));
                    let verdict = UnitVerdict::of_error(OutcomeCode::NotReached, &error);
                    let is_divisible = self.zone.writer.is_divisible();
                    let doubt = if is_divisible { BatchDoubt::Readable } else { BatchDoubt::Undone };
                    self.give_up(&verdict, flight, &replies, doubt);
                }
            }
            Some(UpdateReply::Failed(error)) => {
                if self.may_try_again() {
                    self.send_again(flight)
                } else {
                    self.halve(flight, queue, &error.to_string(), |writer, _| writer.strike(&error))
                }
            }
            Some(UpdateReply::Refused(error)) => {
                let refused = |words: &str| {
                    UnitVerdict::of_error(OutcomeCode::Failed, &Problem { message: words.to_owned(), ..error.clone() })
                };
                if !self.leave_blamed(flight, queue, &error.to_string(), |_, _, words| refused(words)) {
                    self.halve(flight, queue, &error.to_string(), |writer, _| writer.strike(&error));
                }
            }
            Some(UpdateReply::RefusedInPart(error)) => self.leave_in_part(&error, flight),
            Some(UpdateReply::Prerequisite(words)) => {
                let stale =
                    |writer: &mut ZoneWriter<'a>, pieces: &[UnitPiece], words: &str| writer.stale(pieces, words);
                let is_left = self.leave_blamed(flight, queue, &words, stale);
                if !is_left {
                    self.halve(flight, queue, &words, |writer, pieces| writer.stale(pieces, &words));
                }
            }
        }
    }

    /// Whether the batch in front may be tried again; waits before that.
    fn may_try_again(&mut self) -> bool {
        self.tries += 1;
        let may = self.tries < TRIES && !self.board.hub.is_stopped();
        if may {
            self.board.hub.wait(PAUSE * (1 << (self.tries - 1)));
        }
        may
    }

    /// Sends all batches in flight again, just as they were.
    fn send_again(&mut self, flight: &mut VecDeque<SentBatch<'a>>) {
        for sent in flight {
            sent.ticket = self.send(&sent.batch);
        }
    }

    /// Leaves those pieces of the first batch that the server named as the reason why it did not do it, each with the verdict
    /// that `alone` gives, and makes a batch of the others; the batches behind it in flight are made again. Does nothing where
    /// the server named no piece, or the only one.
    fn leave_blamed(
        &mut self,
        flight: &mut VecDeque<SentBatch<'a>>,
        queue: &mut VecDeque<Vec<UnitPiece>>,
        why: &str,
        alone: impl Fn(&mut ZoneWriter<'a>, &[UnitPiece], &str) -> UnitVerdict,
    ) -> bool {
        let ticket = flight.front().and_then(|front| front.ticket.as_ref().ok().copied());
        let blamed = ticket.map(|ticket| self.session.blamed(ticket)).unwrap_or_default();
        let words_of = |piece: &UnitPiece| {
            let mut changes = piece.changes.iter().map(|place| self.reader().change(*place));
            changes.find_map(|change| blamed.iter().find(|blame| blame.key == change.key)).map(|blame| &blame.words)
        };
        let pieces = flight.front().map(|front| front.pieces.clone()).unwrap_or_default();
        let (named, others): (Vec<UnitPiece>, Vec<UnitPiece>) =
            pieces.into_iter().partition(|piece| words_of(piece).is_some());
        let named: Vec<(UnitPiece, String)> =
            named.into_iter().filter_map(|piece| Some((piece.clone(), words_of(&piece)?.clone()))).collect();
        // A piece that is alone in its batch is left in the usual way.
        if named.is_empty() || named.len() == 1 && others.is_empty() {
            return false;
        }
        let Some(front) = flight.pop_front() else { return false };
        self.tries = 0;
        self.make_again(flight, queue);
        self.settle_or_await(front, why);
        if !others.is_empty() {
            queue.push_front(others);
        }
        for (piece, words) in named {
            let piece = std::slice::from_ref(&piece);
            let verdict = alone(self, piece, &words);
            self.board.leave(piece, &verdict);
        }
        true
    }

    /// Makes the batches in flight again: the one before them did not take effect, so that they did not either.
    fn make_again(&mut self, flight: &mut VecDeque<SentBatch<'a>>, queue: &mut VecDeque<Vec<UnitPiece>>) {
        while let Some(behind) = flight.pop_back() {
            queue.push_front(behind.pieces.clone());
            self.settle_or_await(behind, "the update before it did not take effect");
        }
    }

    /// Halves the first batch, or leaves its one piece with the verdict that `alone` gives; the batches behind it in
    /// flight did not take effect either, and are made again.
    fn halve(
        &mut self,
        flight: &mut VecDeque<SentBatch<'a>>,
        queue: &mut VecDeque<Vec<UnitPiece>>,
        why: &str,
        alone: impl FnOnce(&mut ZoneWriter<'a>, &[UnitPiece]) -> UnitVerdict,
    ) {
        let Some(front) = flight.pop_front() else { return };
        self.tries = 0;
        self.make_again(flight, queue);
        let pieces = front.pieces.clone();
        self.settle_or_await(front, why);
        match pieces.len() {
            1 => {
                let verdict = alone(self, &pieces);
                self.board.leave(&pieces, &verdict);
            }
            count => {
                let (first, second) = pieces.split_at(count / 2);
                queue.push_front(second.to_vec());
                queue.push_front(first.to_vec());
                self.halves += 2;
            }
        }
    }

    /// Takes a batch for undone, unless it may yet come late.
    fn settle_or_await(&mut self, sent: SentBatch<'a>, why: &str) {
        if sent.was_lost {
            self.late.push(sent)
        } else {
            self.settle(&sent.batch, BatchOutcome::Undone(why.to_owned()))
        }
    }

    /// The verdict on a unit that the server will not take; after a few of them the zone is given up.
    fn strike(&mut self, error: &Problem) -> UnitVerdict {
        self.strikes += 1;
        if self.strikes >= STRIKES {
            self.given_up = Some(UnitVerdict::of_error(OutcomeCode::NotReached, error));
        }
        UnitVerdict::of_error(OutcomeCode::Failed, error)
    }

    /// The verdict on a unit whose prerequisites do not hold.
    fn stale(&mut self, pieces: &[UnitPiece], words: &str) -> UnitVerdict {
        let places: Vec<usize> = pieces.iter().flat_map(|piece| piece.changes.iter().copied()).collect();
        let found = self.reader().observe(&places).ok();
        let read = found.iter().flatten().zip(&places).map(|(answer, place)| (self.reader().change(*place), answer));
        match read.into_iter().find(|(change, answer)| !self.reader().is_before(change, answer)) {
            Some((change, answer)) => UnitVerdict::stale(differs(change, answer)),
            None => UnitVerdict::stale(format!("a prerequisite did not hold: {words}")),
        }
    }

    /// Gives the zone up because another run writes it.
    fn give_up_moved(&mut self, marker: &str, flight: &mut VecDeque<SentBatch<'a>>, replies: &VecDeque<UpdateReply>) {
        let message = format!("another run writes this zone: its marker is {marker}, which is not one of ours");
        let hint = "plan again, and make sure that only one run at a time writes here".to_owned();
        let place = self.zone.writer.place(&self.zone.copy.zone);
        let error = Problem::new(place, "fence-lost", message).hint(hint);
        self.give_up(&UnitVerdict::of_error(OutcomeCode::NotReached, &error), flight, replies, BatchDoubt::Readable);
    }

    /// Gives the zone up because its RRsets are a mixture of old and new ones.
    fn give_up_mixed(&mut self, flight: &mut VecDeque<SentBatch<'a>>, replies: &VecDeque<UpdateReply>) {
        let message = "an answer was lost: some RRsets of its update are as planned, others are not".to_owned();
        let hint = "plan again: the new plan starts from what is there now".to_owned();
        let place = self.zone.writer.place(&self.zone.copy.zone);
        let error = Problem::new(place, "outcome-unknown", message).hint(hint);
        self.give_up(&UnitVerdict::of_error(OutcomeCode::NotReached, &error), flight, replies, BatchDoubt::Readable);
    }

    /// Leaves the one RRset of the batch in front, since another editor has written it: before its update, which was then refused,
    /// or after it. It is not told that it was left as it was.
    fn leave_replaced(&mut self, flight: &mut VecDeque<SentBatch<'a>>) {
        let Some(front) = flight.pop_front() else { return };
        self.tries = 0;
        let why = "an answer was lost, and its RRset is neither as before nor as planned";
        let found = self.stale(&front.pieces, why);
        let message = format!("it is unknown whether its update took effect: {why}; {}", found.message);
        let verdict = UnitVerdict { outcome: OutcomeCode::Failed, message, ..found };
        self.settle(&front.batch, BatchOutcome::Unknown(why.to_owned()));
        self.board.leave(&front.pieces, &verdict);
    }

    /// Leaves the batch in front, of which a part took effect while the rest is refused: the others go on.
    fn leave_in_part(&mut self, error: &Problem, flight: &mut VecDeque<SentBatch<'a>>) {
        let Some(front) = flight.pop_front() else { return };
        self.tries = 0;
        let why = format!("a part of it took effect, and the rest was refused: {}", error.message);
        self.settle(&front.batch, BatchOutcome::Unknown(why));
        let verdict = self.strike(error);
        self.board.leave(&front.pieces, &verdict);
    }

    /// Gives the zone up. Batches in flight that provably took no effect were not reached; for the others, their RRsets
    /// are read, if possible, to see which units took effect.
    fn give_up(
        &mut self,
        verdict: &UnitVerdict,
        flight: &mut VecDeque<SentBatch<'a>>,
        replies: &VecDeque<UpdateReply>,
        doubt: BatchDoubt,
    ) {
        self.give_up_late();
        for (sent, reply) in std::mem::take(flight).into_iter().zip(replies) {
            let why = match reply {
                UpdateReply::Unknown(error) => Some(error.to_string()),
                _ => sent.was_lost.then(|| "an earlier answer was lost".to_owned()),
            };
            match why {
                Some(why) => {
                    self.settle(&sent.batch, BatchOutcome::Unknown(why.clone()));
                    if !self.zone.writer.compares() {
                        let place = self.zone.writer.place(&self.zone.copy.zone);
                        self.board.race(&sent.pieces, &unseen(place));
                    }
                    self.leave_doubtful(&sent.pieces, verdict, why, doubt);
                }
                None => {
                    self.settle(&sent.batch, BatchOutcome::Undone(verdict.message.clone()));
                    self.board.leave(&sent.pieces, verdict);
                }
            }
        }
        self.given_up = Some(verdict.clone());
    }

    /// Leaves pieces whose answer was lost; those whose RRsets are as planned are done.
    fn leave_doubtful(&self, pieces: &[UnitPiece], verdict: &UnitVerdict, why: String, doubt: BatchDoubt) {
        let places: Vec<usize> = pieces.iter().flat_map(|piece| piece.changes.iter().copied()).collect();
        let answers = if doubt == BatchDoubt::Readable { self.reader().observe(&places).ok() } else { None };
        let read = answers.iter().flatten().zip(&places);
        let standing: HashSet<usize> = read
            .filter(|(answer, place)| is_after(self.reader().change(**place), answer))
            .map(|(_, place)| *place)
            .collect();
        let message = match doubt {
            BatchDoubt::Undone => format!("its update has not taken effect, but may still: {why}"),
            BatchDoubt::Readable | BatchDoubt::Blind => format!("it is unknown whether its update took effect: {why}"),
        };
        let lost = UnitVerdict { outcome: OutcomeCode::Failed, message, hint: verdict.hint.clone() };
        for piece in pieces {
            if piece.changes.iter().all(|place| standing.contains(place)) {
                self.board.done(std::slice::from_ref(piece))
            } else {
                self.board.leave(std::slice::from_ref(piece), &lost)
            }
        }
    }
}

/// That nothing says whether others wrote at the same time: there was no answer.
fn unseen(place: String) -> Problem {
    let message = "its answer was lost, so that it is not known whether something else wrote at the same time";
    Problem::new(place, "raced", message).hint("look at the records, and plan again")
}

/// The swap of a marker as a change of its RRset.
fn swap_kind(swap: &MarkerSwap) -> ChangeKind {
    let after = swap.after.to_rrset();
    match swap.before.clone() {
        None => ChangeKind::Create { after },
        Some(before) => ChangeKind::Modify { before, after },
    }
}
