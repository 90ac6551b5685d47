//! Updates that are over as soon as they are sent: a target that is asked, and answers, before the next one.

use std::collections::HashMap;

use crate::diag::Problem;
use crate::target::{Update, UpdateReply, UpdateTicket, UpdateZone};

/// Writes one zone by what delivers an update and gives its reply.
pub struct AtOnce<F> {
    /// Delivers an update.
    deliver: F,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The latest ticket.
    latest: u64,
}

impl<F: FnMut(&Update<'_>) -> UpdateReply> AtOnce<F> {
    /// Nothing is sent yet.
    pub fn new(deliver: F) -> AtOnce<F> {
        AtOnce { deliver, replies: HashMap::new(), latest: 0 }
    }
}

impl<F: FnMut(&Update<'_>) -> UpdateReply + Send> UpdateZone for AtOnce<F> {
    fn window(&mut self) -> usize {
        1
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        self.latest += 1;
        let ticket = UpdateTicket(self.latest);
        self.replies.insert(ticket, (self.deliver)(update));
        Ok(ticket)
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        self.replies.remove(&ticket).expect("each ticket is asked for once")
    }
}
