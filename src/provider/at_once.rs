//! Updates that are over as soon as they are sent: a target that is asked, and answers, before the next one.

use std::collections::HashMap;

use crate::diag::Problem;
use crate::target::{RrsetBlame, Update, UpdateReply, UpdateTicket, UpdateZone};

/// What an update came to.
pub struct DeliveredUpdate {
    /// The reply.
    pub reply: UpdateReply,
    /// The RRsets that the server named as the reason why it was not done.
    pub blamed: Vec<RrsetBlame>,
}

impl From<UpdateReply> for DeliveredUpdate {
    fn from(reply: UpdateReply) -> DeliveredUpdate {
        DeliveredUpdate { reply, blamed: Vec::new() }
    }
}

/// Writes one zone by what delivers an update and gives its reply.
pub struct AtOnce<F> {
    /// Delivers an update.
    deliver: F,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// What was named as a reason, of updates that were not done.
    blamed: HashMap<UpdateTicket, Vec<RrsetBlame>>,
    /// The latest ticket.
    latest: u64,
}

impl<F: FnMut(&Update<'_>) -> R, R: Into<DeliveredUpdate>> AtOnce<F> {
    /// Nothing is sent yet.
    pub fn new(deliver: F) -> AtOnce<F> {
        AtOnce { deliver, replies: HashMap::new(), blamed: HashMap::new(), latest: 0 }
    }
}

impl<F: FnMut(&Update<'_>) -> R + Send, R: Into<DeliveredUpdate>> UpdateZone for AtOnce<F> {
    fn window(&mut self) -> usize {
        1
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        self.latest += 1;
        let ticket = UpdateTicket(self.latest);
        let DeliveredUpdate { reply, blamed } = (self.deliver)(update).into();
        self.replies.insert(ticket, reply);
        if !blamed.is_empty() {
            self.blamed.insert(ticket, blamed);
        }
        Ok(ticket)
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        self.replies.remove(&ticket).expect("each ticket is asked for once")
    }

    fn blamed(&mut self, ticket: UpdateTicket) -> Vec<RrsetBlame> {
        self.blamed.remove(&ticket).unwrap_or_default()
    }
}
