//! A PowerDNS that is written by its API alone. Nothing else may write to its zones: the settings say so.
//!
//! Each update is compared with what was read before. The serial of the answer says whether others wrote since then.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::api::{ApiZone, PatchFault, PowerDnsApi};
use super::document::ListedZone;
use super::patch::{self, ApiZoneView, LIMITS, SerialRule};
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::target::{
    Answer, Question, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateTicket, UpdateZone, WriteTarget, ZoneApex,
    answers,
};

/// Writes zones.
pub struct ApiWriter {
    /// The API.
    pub api: PowerDnsApi,
}

impl WriteTarget for ApiWriter {
    fn place(&self, zone: &ZoneName) -> String {
        self.api.place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        LIMITS
    }

    fn octets(&self, _: &ZoneName, edit: RrsetEdit<'_>) -> usize {
        patch::octets(edit)
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], _: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let contents = self.api.read(zone)?.contents;
        Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
    }

    fn compares(&self) -> bool {
        false
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(ApiSession { writer: self, read: None, replies: HashMap::new(), next: 0 })
    }

    fn create_zone(&self, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
        self.api.create(zone, apex, None)
    }

    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        self.api.delete(zone)
    }

    fn finish(&self) -> Result<(), Problem> {
        Ok(())
    }
}

/// A zone as it was read.
struct ReadZone {
    /// How the API names it.
    listed: ListedZone,
    /// What it holds.
    view: ApiZoneView,
    /// How its serial is raised.
    rule: SerialRule,
}

/// Writes one zone.
struct ApiSession<'w> {
    /// The writer.
    writer: &'w ApiWriter,
    /// The zone, where it was read and nothing shows that others wrote since.
    read: Option<ReadZone>,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The latest ticket.
    next: u64,
}

impl ApiSession<'_> {
    /// The zone as it is now: as it was read, where its serial is still that, else read again.
    ///
    /// Errors: the reply to an update that is not sent.
    fn zone(&mut self, zone: &ZoneName) -> Result<ReadZone, UpdateReply> {
        let api = &self.writer.api;
        if let Some(read) = self.read.take() {
            let numbering = api.numbering(zone, &read.listed).map_err(UpdateReply::Failed)?;
            if numbering.serial == read.view.serial {
                return Ok(read);
            }
        }
        let ApiZone { contents, opaque, listed, numbering, .. } = api.read(zone).map_err(UpdateReply::Failed)?;
        let Some(rule) = SerialRule::of(&numbering) else {
            let message = "the serial of the zone does not say whether others write at the same time";
            let hint = format!("set it up: `pdnsutil set-meta {zone} SOA-EDIT-API INCREASE`");
            return Err(UpdateReply::Refused(Problem::new(api.place(zone), "update-rejected", message).hint(hint)));
        };
        Ok(ReadZone { listed, view: ApiZoneView::new(contents, opaque, numbering.serial), rule })
    }

    /// Sends an update.
    fn deliver(&mut self, update: &Update<'_>) -> UpdateReply {
        let mut read = match self.zone(update.zone) {
            Ok(read) => read,
            Err(reply) => return reply,
        };
        let text = match read.view.request(update) {
            Ok(text) => text,
            Err(words) => {
                self.read = Some(read);
                return UpdateReply::Prerequisite(words);
            }
        };
        let api = &self.writer.api;
        let before = read.view.serial;
        match api.patch(update.zone, &read.listed, &text) {
            Ok(Some(new)) if read.rule.is_next(before, new, today()) => {
                read.view.note(update, new);
                self.read = Some(read);
                UpdateReply::Done
            }
            Ok(new) => UpdateReply::Raced(raced(api.place(update.zone), before, new)),
            Err(PatchFault::Refused(problem)) => {
                self.read = Some(read);
                UpdateReply::Refused(problem)
            }
            Err(PatchFault::Unknown(problem)) => UpdateReply::Unknown(problem),
        }
    }
}

/// The day by the clock of this machine: the server's own makes serials, whatever time a run is said to be at.
fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// That others wrote between the reading at this serial and the request that led to another one.
fn raced(place: String, before: u32, new: Option<u32>) -> Problem {
    let led = new.map_or_else(|| "the answer has no serial".to_owned(), |new| format!("the next one is {new}"));
    let message = format!("something else wrote to the zone at the same time: its serial was {before}, and {led}");
    Problem::new(place, "raced", message)
        .hint("plan again, and find what else writes there: what it wrote to these names may be lost")
}

impl UpdateZone for ApiSession<'_> {
    fn window(&mut self) -> usize {
        1
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        self.next += 1;
        let reply = self.deliver(update);
        self.replies.insert(UpdateTicket(self.next), reply);
        Ok(UpdateTicket(self.next))
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        self.replies.remove(&ticket).expect("every ticket is asked for once")
    }
}
