//! A PowerDNS that is written by its API alone. Nothing else may write to its zones: the settings say so.
//!
//! Each update is compared with what was read before. The serial of the answer says whether others wrote since then.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::api::{ApiZone, PatchFault, PowerDnsApi};
use super::document::ListedZone;
use super::patch::{self, ApiZoneView, LIMITS, SerialRule};
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::provider::at_once::AtOnce;
use crate::target::{
    Answer, EditSize, Question, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateZone, WriteTarget, ZoneApex,
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

    fn size(&self, _: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        EditSize::of_octets(patch::octets(edit))
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], _: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let contents = self.api.read(zone)?.contents;
        Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
    }

    fn compares(&self) -> bool {
        false
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        let mut session = ApiSession { writer: self, read: None, unfit: None };
        Box::new(AtOnce::new(move |update: &Update<'_>| session.deliver(update)))
    }

    fn create_zone(&self, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
        self.api.create(zone, apex, None)
    }

    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        self.api.delete(zone)
    }

    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
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
    /// Why the zone cannot be written at all, where it cannot.
    unfit: Option<Problem>,
}

impl ApiSession<'_> {
    /// The zone as it is now: as it was read, where its serial is still that, else read again.
    ///
    /// Errors: the reply to an update that is not sent.
    fn zone(&mut self, zone: &ZoneName) -> Result<ReadZone, UpdateReply> {
        if let Some(unfit) = &self.unfit {
            return Err(UpdateReply::Refused(unfit.clone()));
        }
        if let Some(read) = self.read.take() {
            let numbering = self.writer.api.numbering(zone, &read.listed).map_err(UpdateReply::Failed)?;
            if numbering.serial == read.view.serial {
                return Ok(read);
            }
        }
        self.read_anew(zone)
    }

    /// Reads the zone.
    ///
    /// Errors: the reply to an update that is not sent.
    fn read_anew(&mut self, zone: &ZoneName) -> Result<ReadZone, UpdateReply> {
        let api = &self.writer.api;
        let ApiZone { contents, opaque, listed, numbering, .. } = api.read(zone).map_err(UpdateReply::Failed)?;
        let Some(rule) = SerialRule::of(&numbering) else {
            let set = match numbering.soa_edit_api.as_str() {
                "" => "not set".to_owned(),
                kind => format!("`{kind}`"),
            };
            let message = format!(
                "`SOA-EDIT-API` of the zone is {set}, so that its serial does not show whether others write, too"
            );
            let hint = format!("set it up: `pdnsutil set-meta {zone} SOA-EDIT-API INCREASE`");
            let unfit = Problem::new(api.place(zone), "update-rejected", message).hint(hint);
            self.unfit = Some(unfit.clone());
            return Err(UpdateReply::Refused(unfit));
        };
        Ok(ReadZone { listed, view: ApiZoneView::new(contents, opaque, numbering.serial), rule })
    }

    /// Sends an update.
    fn deliver(&mut self, update: &Update<'_>) -> UpdateReply {
        let read = match self.zone(update.zone) {
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
        match self.writer.api.patch(update.zone, &read.listed, &text) {
            Ok(Some(new)) => self.made(update, read, new),
            // A proxy may have left the header out. What others write before the serial is asked for counts as a race, too.
            Ok(None) => match self.writer.api.numbering(update.zone, &read.listed) {
                Ok(numbering) => self.made(update, read, numbering.serial),
                Err(problem) => UpdateReply::Raced(unseen(problem)),
            },
            Err(PatchFault::Refused(problem)) => {
                self.read = Some(read);
                UpdateReply::Refused(problem)
            }
            Err(PatchFault::Busy(problem)) => {
                self.read = Some(read);
                UpdateReply::Failed(problem)
            }
            Err(PatchFault::Unknown(problem)) => self.look(update, read, problem),
        }
    }

    /// The reply to an update that was made, and led from one serial to another.
    fn made(&mut self, update: &Update<'_>, mut read: ReadZone, new: u32) -> UpdateReply {
        let before = read.view.serial;
        if !read.rule.is_next(before, new, today()) {
            return UpdateReply::Raced(raced(self.writer.api.place(update.zone), before, new));
        }
        read.view.note(update, new);
        self.read = Some(read);
        UpdateReply::Done
    }

    /// Looks whether an update was made whose answer was lost: its RRsets and the serial say it, where it was made soon.
    fn look(&mut self, update: &Update<'_>, read: ReadZone, problem: Problem) -> UpdateReply {
        match self.read_anew(update.zone) {
            Ok(now) if now.view.holds(update) && now.view.serial != read.view.serial => {
                let serial = now.view.serial;
                self.made(update, read, serial)
            }
            Ok(_) | Err(_) => UpdateReply::Unknown(problem),
        }
    }
}

/// That others wrote between the reading at this serial and the request that led to another one.
fn raced(place: String, before: u32, new: u32) -> Problem {
    let message = format!(
        "something else wrote to the zone at the same time: its serial was {before}, and the next one is {new}"
    );
    Problem::new(place, "raced", message)
        .hint("plan again, and find what else writes there: what it wrote to these names may be lost")
}

/// That the serial after an update cannot be had.
fn unseen(problem: Problem) -> Problem {
    let message =
        format!("its serial is not known, so that others may have written at the same time: {}", problem.message);
    Problem::new(problem.place, "raced", message).hint("plan again: the new plan starts from what is there now")
}

/// The day by the clock of this machine: the server's own makes serials, whatever time a run is said to be at.
fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}
