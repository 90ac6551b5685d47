//! Zones in Azure DNS, written: each update is one record set, under the condition that it is still the one that was seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use super::client::{AzureFault, AzureFaultKind, AzureQuestion};
use super::document::{self, AzureSet, AzureZone, written};
use super::making;
use super::target::{AzureReader, PAGE};
use crate::diag::Problem;
use crate::dns::{ChangeKind, Name, NameRef, Rrset, Rtype, ZoneName};
use crate::http::HttpMethod;
use crate::parallel::HELD;
use crate::provider::at_once::AtOnce;
use crate::target::answers::{self, WholeZone};
use crate::target::{
    Answer, EditSize, Question, ReadTarget as _, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateZone, WriteTarget,
    ZoneApex,
};

/// What one update may hold: nothing of the service spans record sets.
pub const LIMITS: UpdateLimits = UpdateLimits { edits: 1, ..UpdateLimits::NONE };

/// How many octets an answer to a write may have: a record set.
const MAX_ANSWER: u64 = 1 << 20;

/// An etag that no record set has, so that what is asked under its condition is never done.
const NO_ETAG: &str = "00000000-0000-0000-0000-000000000000";

/// The record sets of a zone that were seen or written, by their names and types; none of what was not there.
type SeenRecordSets = HashMap<(Name, Rtype), Option<AzureSet>>;

/// Writes zones.
pub struct AzureWriter {
    /// Reads them.
    reader: AzureReader,
    /// What was seen or written.
    seen: Mutex<HashMap<ZoneName, SeenRecordSets>>,
    /// Updates whose answers were lost.
    unanswered: Mutex<HashMap<(ZoneName, Name, Rtype), UnansweredUpdate>>,
}

/// An update whose answer was lost. Its copy names the same etag, so that one of them at most takes effect, even where another
/// editor puts back what was there.
#[derive(Clone)]
struct UnansweredUpdate {
    /// What it does.
    kind: ChangeKind,
    /// What it is compared with.
    base: WriteBase,
}

/// What a record set that is written is compared with.
#[derive(Clone)]
struct WriteBase {
    /// The record set as it was seen; none where it was not there.
    found: Option<AzureSet>,
    /// The etag that it must have; none where it must not be there.
    etag: Option<String>,
}

/// Some record sets of a zone, which answer questions about their names.
struct SomeSets<'z> {
    /// The zone.
    zone: &'z ZoneName,
    /// The record sets, by their names and types.
    sets: BTreeMap<(Name, Rtype), Option<AzureSet>>,
}

impl WholeZone for SomeSets<'_> {
    fn apex(&self) -> &ZoneName {
        self.zone
    }

    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        self.sets.get(&(name.to_name(), rtype))?.as_ref()?.plain().cloned()
    }
}

impl AzureWriter {
    /// A writer of which nothing was seen.
    pub fn new(reader: AzureReader) -> AzureWriter {
        AzureWriter { reader, seen: Mutex::default(), unanswered: Mutex::default() }
    }

    /// Does something with what was seen of a zone.
    fn with_seen<R>(&self, zone: &ZoneName, work: impl FnOnce(&mut SeenRecordSets) -> R) -> R {
        work(self.seen.lock().expect(HELD).entry(zone.clone()).or_default())
    }

    /// Reads a record set, and keeps it as it was seen.
    ///
    /// Errors: there is no answer.
    fn see(&self, hosted: &AzureZone, zone: &ZoneName, key: &(Name, Rtype)) -> Result<Option<AzureSet>, AzureFault> {
        let set = self.reader.set_at(hosted, zone, (key.0.as_name(), key.1))?;
        self.with_seen(zone, |seen| seen.insert(key.clone(), set.clone()));
        Ok(set)
    }

    /// The record set that an edit is about, as it was seen last; where that is not what the edit says, as it is now.
    ///
    /// Errors: there is no answer.
    fn found(&self, hosted: &AzureZone, zone: &ZoneName, edit: RrsetEdit<'_>) -> Result<Option<AzureSet>, AzureFault> {
        let key = (edit.key.owner.as_name().to_name(), edit.key.rtype);
        let known = self.with_seen(zone, |seen| seen.get(&key).cloned());
        match known {
            Some(set) if is_before(set.as_ref(), edit) => Ok(set),
            _ => self.see(hosted, zone, &key),
        }
    }

    /// Sends an update.
    fn deliver(&self, update: &Update<'_>) -> UpdateReply {
        let [edit] = update.edits.as_slice() else {
            let problem = Problem::new(self.place(update.zone), "update-rejected", "Azure writes one RRset at a time");
            return UpdateReply::Refused(problem);
        };
        let hosted = match self.reader.hosted(update.zone) {
            Ok(hosted) => hosted,
            Err(problem) => return UpdateReply::Failed(problem),
        };
        let (owner, rtype) = (edit.key.owner.as_name().to_name(), edit.key.rtype);
        let sent = (update.zone.clone(), owner.clone(), rtype);
        let unanswered = self.unanswered.lock().expect(HELD).get(&sent).cloned();
        let base = match unanswered.filter(|unanswered| unanswered.kind == *edit.kind) {
            Some(unanswered) => unanswered.base,
            None => match self.base(&hosted, update.zone, *edit) {
                Ok(base) => base,
                Err(reply) => return reply,
            },
        };
        let key = (owner, rtype);
        match self.write(&hosted, update.zone, *edit, &base) {
            Ok(set) => {
                self.unanswered.lock().expect(HELD).remove(&sent);
                self.with_seen(update.zone, |seen| seen.insert(key, set));
                UpdateReply::Done
            }
            Err(fault) => {
                self.with_seen(update.zone, |seen| seen.remove(&key));
                let mut unanswered = self.unanswered.lock().expect(HELD);
                match fault.kind {
                    AzureFaultKind::Unknown => {
                        unanswered.insert(sent, UnansweredUpdate { kind: edit.kind.clone(), base });
                    }
                    AzureFaultKind::Busy(_) | AzureFaultKind::Ended => {}
                    AzureFaultKind::Stale | AzureFaultKind::Refused | AzureFaultKind::Missing => {
                        unanswered.remove(&sent);
                    }
                }
                drop(unanswered);
                let problem = |fault| self.reader.problem(update.zone, fault);
                match fault.kind {
                    AzureFaultKind::Stale => UpdateReply::Prerequisite(fault.message),
                    AzureFaultKind::Refused | AzureFaultKind::Missing => UpdateReply::Refused(problem(fault)),
                    AzureFaultKind::Busy(_) | AzureFaultKind::Ended => UpdateReply::Failed(problem(fault)),
                    AzureFaultKind::Unknown => UpdateReply::Unknown(problem(fault)),
                }
            }
        }
    }

    /// What an edit is compared with: what was seen.
    ///
    /// Errors: the reply where nothing is sent that writes.
    fn base(&self, hosted: &AzureZone, zone: &ZoneName, edit: RrsetEdit<'_>) -> Result<WriteBase, UpdateReply> {
        let found = self.found(hosted, zone, edit);
        let found = found.map_err(|fault| UpdateReply::Failed(self.reader.problem(zone, fault)))?;
        let (owner, rtype) = (&edit.key.owner, edit.key.rtype);
        let etag = if is_before(found.as_ref(), edit) {
            found.as_ref().map(|set| set.etag.clone())
        } else if let Some(Err(what)) = found.as_ref().map(|set| &set.rrset) {
            let words = format!("`{owner}` has {what}, which zonewright never touches");
            return Err(UpdateReply::Prerequisite(words));
        } else if found.is_none() && edit.kind.after().is_none() {
            // The service refuses it, and shows by how it does so whether it would have been allowed.
            Some(NO_ETAG.to_owned())
        } else {
            return Err(UpdateReply::Prerequisite(format!("{rtype} of `{owner}` is not what the plan says")));
        };
        Ok(WriteBase { found, etag })
    }

    /// Writes one record set under the condition that it is what it is compared with; gives what is there then.
    fn write(
        &self,
        hosted: &AzureZone,
        zone: &ZoneName,
        edit: RrsetEdit<'_>,
        base: &WriteBase,
    ) -> Result<Option<AzureSet>, AzureFault> {
        let path = self.reader.path_of(hosted, zone, (edit.key.owner.as_name(), edit.key.rtype));
        let condition = Some(base.etag.as_deref().map_or(("if-none-match", "*"), |etag| ("if-match", etag)));
        let client = &self.reader.client;
        let metadata = base.found.as_ref().map(|set| set.metadata.clone()).unwrap_or_default();
        let content = edit
            .kind
            .after()
            .map(|after| written(client.kind, (edit.key.rtype, after), (&metadata, self.reader.has_marks)));
        let question = AzureQuestion {
            method: if content.is_some() { HttpMethod::Put } else { HttpMethod::Delete },
            target: &path,
            condition,
            content: content.as_deref().unwrap_or_default(),
            max: MAX_ANSWER,
        };
        let minute = Duration::from_secs(60);
        let interval = minute / u32::try_from(self.reader.settings.writes).unwrap_or(u32::MAX);
        (client.paces)(&self.reader.zones.path_of(client, hosted).to_ascii_lowercase()).take(interval);
        let done = client.ask(&question)?;
        if content.is_some() {
            return document::read_set(zone, &done.content, self.reader.has_marks)
                .map(Some)
                .map_err(AzureFault::unusable);
        }
        if done.status == 204 {
            let message = "Azure answers that the record set is not there".to_owned();
            let hint = "plan again: the new plan starts from what is there now".to_owned();
            return Err(AzureFault { kind: AzureFaultKind::Stale, code: "update-rejected", message, hint });
        }
        Ok(None)
    }

    /// What answers questions about names: their record sets and CNAMEs, and the delegations at and above them.
    fn needed(&self, zone: &ZoneName, questions: &[Question]) -> BTreeSet<(Name, Rtype)> {
        let apex = zone.as_name();
        let delegates = self.reader.client.kind.delegates();
        let of_question = |question: &Question| {
            let name = question.name.as_name();
            let above = name.ancestors().take_while(|above| delegates && *above != apex);
            let own = [question.rtype, Rtype::CNAME].map(|rtype| (name.to_name(), rtype));
            above.map(|above| (above.to_name(), Rtype::NS)).chain(own).collect::<Vec<_>>()
        };
        let is_held = |key: &(Name, Rtype)| self.holds(key.1);
        questions.iter().flat_map(of_question).filter(is_held).collect()
    }

    /// Whether the service has sets of a type.
    fn holds(&self, rtype: Rtype) -> bool {
        rtype == Rtype::SOA || super::bounds::bounds(self.reader.client.kind, false).types.holds(rtype)
    }
}

/// Whether a record set is as an edit says that it was, and may be replaced.
fn is_before(set: Option<&AzureSet>, edit: RrsetEdit<'_>) -> bool {
    match (set, edit.kind.before()) {
        (None, None) => true,
        (Some(set), Some(before)) => set.plain() == Some(before),
        _ => false,
    }
}

impl WriteTarget for AzureWriter {
    fn place(&self, zone: &ZoneName) -> String {
        self.reader.place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        LIMITS
    }

    fn size(&self, _: &ZoneName, _: RrsetEdit<'_>) -> EditSize {
        EditSize::default()
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let needed = self.needed(zone, questions);
        let pages = rrsets.map(|rrsets| rrsets.div_ceil(PAGE));
        let sets: BTreeMap<(Name, Rtype), Option<AzureSet>> = if pages.is_some_and(|pages| pages < needed.len() as u64)
        {
            let read = self.reader.read(zone)?;
            let of = |key: (Name, Rtype)| {
                let set = read.sets.get(&(key.0.clone(), key.1.to_string())).cloned();
                (key, set)
            };
            let sets: BTreeMap<(Name, Rtype), Option<AzureSet>> = needed.into_iter().map(of).collect();
            self.with_seen(zone, |seen| seen.extend(sets.clone()));
            sets
        } else {
            let hosted = self.reader.hosted(zone)?;
            let see = |key: (Name, Rtype)| self.see(&hosted, zone, &key).map(|set| (key, set));
            let sets = needed.into_iter().map(see).collect::<Result<_, _>>();
            sets.map_err(|fault| self.reader.problem(zone, fault))?
        };
        let sets = SomeSets { zone, sets };
        Ok(questions.iter().map(|question| answers::answer(&sets, question)).collect())
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(AtOnce::new(|update: &Update<'_>| self.deliver(update)))
    }

    /// The service gives the zone its SOA and its name servers.
    fn create_zone(&self, zone: &ZoneName, _: &ZoneApex) -> Result<(), Problem> {
        let made = making::make(&self.reader, zone);
        made.map_err(|fault| self.reader.problem(zone, AzureFault { code: "zone-not-made", ..fault }))
    }

    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        let hosted = self.reader.hosted(zone)?;
        let deleted = making::delete(&self.reader, &hosted, zone);
        deleted.map_err(|fault| self.reader.problem(zone, AzureFault { code: "zone-not-deleted", ..fault }))
    }

    /// What was written is there: each answer says so.
    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        Ok(())
    }
}
