//! Zones in Route 53, written: each update is one batch of changes.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use super::change::{SeenSets, limits, size};
use super::client::Route53Question;
use super::document::{self, HostedZone, ListedSet, SetAction, TakenChange};
use super::settings::{PRIVATE_IS_NOT_MADE, TAGGED_IS_NOT_MADE};
use super::target::{Route53Reader, requests_for};
use crate::diag::Problem;
use crate::dns::{Name, NameRef, Rrset, Rtype, ZoneName};
use crate::http::HttpMethod;
use crate::parallel::HELD;
use crate::provider::at_once::{AtOnce, DeliveredUpdate};
use crate::provider::aws::{AwsFault, AwsFaultKind};
use crate::target::answers::{self, WholeZone};
use crate::target::{
    Answer, EditSize, Question, ReadTarget as _, RrsetBlame, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateZone,
    WriteTarget, ZoneApex, marker_key,
};

/// How many octets an answer to a change may have: a message for each of a thousand records.
const MAX_ANSWER: u64 = 4 << 20;

/// How long is waited between two questions whether all name servers have a change.
const POLL: Duration = Duration::from_secs(2);

/// Writes zones.
pub struct Route53Writer {
    /// Reads them.
    reader: Route53Reader,
    /// The sets that were seen or written.
    seen: Mutex<HashMap<ZoneName, SeenSets>>,
    /// The last change of each zone, by its id.
    changes: Mutex<BTreeMap<ZoneName, String>>,
}

/// Sets of some names of a zone, which answer questions about these names.
struct NamedSets<'z> {
    /// The zone.
    zone: &'z ZoneName,
    /// The sets, by their names.
    sets: BTreeMap<Name, Vec<ListedSet>>,
}

impl WholeZone for NamedSets<'_> {
    fn apex(&self) -> &ZoneName {
        self.zone
    }

    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        let mut rrsets = self.sets.get(&name.to_name())?.iter().filter_map(|set| set.rrset().ok());
        rrsets.find(|(own, _)| *own == rtype).map(|(_, rrset)| rrset)
    }
}

impl Route53Writer {
    /// A writer of which nothing was seen.
    pub fn new(reader: Route53Reader) -> Route53Writer {
        Route53Writer { reader, seen: Mutex::default(), changes: Mutex::default() }
    }

    /// Does something with what was seen of a zone.
    fn with_seen<R>(&self, zone: &ZoneName, work: impl FnOnce(&mut SeenSets) -> R) -> R {
        work(self.seen.lock().expect(HELD).entry(zone.clone()).or_default())
    }

    /// Reads the sets of names, one by one or all of the zone, whichever is less, and keeps them as they were seen.
    ///
    /// Errors: there is no answer.
    fn see(
        &self,
        hosted: &HostedZone,
        zone: &ZoneName,
        names: &BTreeSet<Name>,
    ) -> Result<BTreeMap<Name, Vec<ListedSet>>, AwsFault> {
        let mut read = BTreeMap::new();
        if requests_for(hosted.sets) < names.len() as u64 {
            let mut all = self.reader.sets(hosted, zone)?;
            read.extend(names.iter().map(|name| (name.clone(), all.remove(name).unwrap_or_default())));
        } else {
            for name in names {
                read.insert(name.clone(), self.reader.sets_at(hosted, name)?);
            }
        }
        self.with_seen(zone, |seen| read.iter().for_each(|(name, sets)| seen.take(name.clone(), sets.clone())));
        Ok(read)
    }

    /// Makes the batch of an update, by what was seen or, where `anew` says so, by what is seen now.
    fn plan(&self, hosted: &HostedZone, update: &Update<'_>, anew: bool) -> Result<ActionsOr, AwsFault> {
        let names: BTreeSet<Name> = update.edits.iter().map(|edit| edit.key.owner.as_name().to_name()).collect();
        let missing: BTreeSet<Name> =
            self.with_seen(update.zone, |seen| names.iter().filter(|name| anew || seen.lacks(name)).cloned().collect());
        self.see(hosted, update.zone, &missing)?;
        Ok(self.with_seen(update.zone, |seen| seen.actions(update)))
    }

    /// Sends an update; `blamed` gets the RRsets that the service names as the reason why it was not done.
    fn deliver(&self, update: &Update<'_>, blamed: &mut Vec<RrsetBlame>) -> UpdateReply {
        let hosted = match self.reader.hosted(update.zone) {
            Ok(hosted) => hosted,
            // Nothing was sent that writes.
            Err(problem) => return UpdateReply::Failed(problem),
        };
        if let Some(problem) = self.managed(update.zone, &hosted) {
            return UpdateReply::Refused(problem);
        }
        let problem = |fault: AwsFault| self.reader.problem(update.zone, fault);
        let by_seen = self.plan(&hosted, update, false);
        // What was seen may be old.
        let planned =
            by_seen.and_then(|by_seen| by_seen.map_or_else(|_| self.plan(&hosted, update, true), |own| Ok(Ok(own))));
        let actions = match planned {
            Ok(Ok(actions)) => actions,
            Ok(Err(words)) => return UpdateReply::Prerequisite(words),
            // Nothing was sent that writes.
            Err(fault) => return UpdateReply::Failed(problem(fault)),
        };
        match self.send(&hosted, &actions) {
            Ok(change) => {
                self.with_seen(update.zone, |seen| seen.note(update));
                self.changes.lock().expect(HELD).insert(update.zone.clone(), change.id);
                UpdateReply::Done
            }
            Err(fault) => {
                *blamed = blame(update, &fault.said);
                let is_undone = matches!(fault.kind, AwsFaultKind::Busy | AwsFaultKind::Ended);
                // What the service names is not as it was seen; the rest is.
                self.with_seen(update.zone, |seen| match blamed.as_slice() {
                    _ if is_undone => {}
                    [] => seen.forget(update.edits.iter().map(|edit| edit.key)),
                    named => seen.forget(named.iter().map(|blame| &blame.key)),
                });
                match fault.kind {
                    AwsFaultKind::Stale => UpdateReply::Prerequisite(fault.message),
                    AwsFaultKind::Refused => UpdateReply::Refused(problem(fault)),
                    AwsFaultKind::Busy | AwsFaultKind::Ended => UpdateReply::Failed(problem(fault)),
                    AwsFaultKind::Unknown => UpdateReply::Unknown(problem(fault)),
                }
            }
        }
    }

    /// Why a hosted zone is not written to: another service manages it.
    fn managed(&self, zone: &ZoneName, hosted: &HostedZone) -> Option<Problem> {
        let service = hosted.linked_service.as_ref()?;
        let message = format!("the hosted zone is managed by another service: {service}");
        Some(Problem::new(self.place(zone), "update-rejected", message).hint("change its records there"))
    }

    /// Sends a batch of changes.
    fn send(&self, hosted: &HostedZone, actions: &[SetAction]) -> Result<TakenChange, AwsFault> {
        let path = format!("/hostedzone/{}/rrset/", hosted.id);
        self.change(HttpMethod::Post, &path, &document::batch(actions))
    }

    /// Asks for a change, or about one.
    fn change(&self, method: HttpMethod, path: &str, content: &str) -> Result<TakenChange, AwsFault> {
        let question = Route53Question { method, path, query: &[], content, max: MAX_ANSWER };
        document::read_change(&self.reader.client.ask(&question)?).map_err(AwsFault::unusable)
    }

    /// Waits until all name servers of the service have a change, or until the apply is to end.
    fn wait_for(&self, zone: &ZoneName, id: &str, is_over: &dyn Fn() -> bool) -> Result<(), Problem> {
        let pace = &self.reader.client.0.pace;
        let end = pace.now() + self.reader.settings.publication;
        loop {
            // Nothing more is asked then, either: an apply of hundreds of zones would go on for minutes.
            if is_over() {
                let message =
                    format!("the apply was interrupted before all name servers were known to have the change `{id}`");
                let hint = "the service has it, and gives it to them by itself: look at it again later";
                return Err(Problem::new(self.place(zone), "api-failed", message).hint(hint));
            }
            let change = self.change(HttpMethod::Get, &format!("/change/{id}"), "");
            let change = change.map_err(|fault| self.reader.problem(zone, fault))?;
            if change.is_in_sync {
                return Ok(());
            }
            if pace.now() >= end {
                let seconds = self.reader.settings.publication.as_secs();
                let message = format!("not all name servers have the change `{id}` after {seconds} s");
                let hint = "the service has it: look at it again later, or raise `publication_timeout`";
                return Err(Problem::new(self.place(zone), "api-failed", message).hint(hint));
            }
            pace.wait_until(POLL, is_over);
        }
    }
}

/// The RRsets of an update that messages name; none where a message names another one, or none.
fn blame(update: &Update<'_>, messages: &[String]) -> Vec<RrsetBlame> {
    let named = |message: &String| {
        let (name, rtype) = document::subject_of(message)?;
        let is_it = |edit: &&RrsetEdit<'_>| edit.key.owner.as_name() == name.as_name() && edit.key.rtype == rtype;
        let edit = update.edits.iter().find(is_it)?;
        Some(RrsetBlame { key: edit.key.clone(), words: message.clone() })
    };
    let mut blamed: Vec<RrsetBlame> = messages.iter().map(named).collect::<Option<_>>().unwrap_or_default();
    // An RRset that another editor changed can be neither deleted nor created, and has two messages.
    let mut known = HashSet::new();
    blamed.retain(|blame| known.insert(blame.key.clone()));
    blamed
}

/// The actions of an update, or why there are none.
type ActionsOr = Result<Vec<SetAction>, String>;

impl WriteTarget for Route53Writer {
    fn place(&self, zone: &ZoneName) -> String {
        self.reader.place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        limits(self.reader.settings.batch_records)
    }

    fn size(&self, _: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        size(edit)
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let names: BTreeSet<Name> = questions.iter().map(|question| question.name.clone()).collect();
        let apex = zone.as_name();
        // A delegation above a name answers for it.
        let above = names.iter().flat_map(|name| {
            name.as_name().ancestors().skip(1).take_while(|above| *above != apex).map(NameRef::to_name)
        });
        let all: BTreeSet<Name> = names.iter().cloned().chain(above).collect();
        let hosted = self.reader.hosted(zone)?;
        let hosted = HostedZone { sets: rrsets.unwrap_or(hosted.sets).max(hosted.sets), ..hosted };
        let sets = self.see(&hosted, zone, &all).map_err(|fault| self.reader.problem(zone, fault))?;
        let contents = NamedSets { zone, sets };
        Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(AtOnce::new(|update: &Update<'_>| {
            let mut blamed = Vec::new();
            DeliveredUpdate { reply: self.deliver(update, &mut blamed), blamed }
        }))
    }

    /// The service gives the zone name servers of its own, and a SOA.
    fn create_zone(&self, zone: &ZoneName, _: &ZoneApex) -> Result<(), Problem> {
        if self.reader.settings.zones.is_private == Some(true) {
            let hint = "make it by the tools of AWS; then leave out `create`";
            return Err(Problem::new(self.place(zone), "zone-not-made", PRIVATE_IS_NOT_MADE).hint(hint));
        }
        if !self.reader.settings.zones.tags.is_empty() {
            let hint = "make it by the tools of AWS, with its tags; then leave out `create`";
            return Err(Problem::new(self.place(zone), "zone-not-made", TAGGED_IS_NOT_MADE).hint(hint));
        }
        // The service would make a second zone of the name.
        self.reader.zones.forget();
        let of_reader = |fault| self.reader.problem(zone, AwsFault { code: "zone-not-made", ..fault });
        if !self.reader.zones.lacks(&self.reader.client, &self.reader.settings.zones, zone).map_err(of_reader)? {
            return Err(Problem::new(self.place(zone), "zone-not-made", "the zone is there by now").hint("plan again"));
        }
        let now = (self.reader.client.0.clock)();
        let content = document::new_zone(zone.as_name(), &format!("zonewright {now}"));
        let made = self.change(HttpMethod::Post, "/hostedzone", &content);
        self.reader.zones.forget();
        made.map(drop).map_err(|fault| self.reader.problem(zone, AwsFault { code: "zone-not-made", ..fault }))
    }

    /// The marker goes first: the service deletes no zone that has more than its own records.
    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        let hosted = self.reader.hosted(zone)?;
        if let Some(problem) = self.managed(zone, &hosted) {
            return Err(problem);
        }
        let problem = |fault| self.reader.problem(zone, AwsFault { code: "zone-not-deleted", ..fault });
        let apex = zone.as_name().to_name();
        let marker = marker_key(zone).map(|key| key.owner.as_name().to_name());
        let mut sets = self.reader.sets(&hosted, zone).map_err(problem)?;
        let others = sets.keys().filter(|name| **name != apex && Some(*name) != marker.as_ref()).count();
        if others > 0 {
            let message = format!("it has records at {others} names");
            return Err(Problem::new(self.place(zone), "zone-not-deleted", message).hint("plan again"));
        }
        let marks = marker.and_then(|name| sets.remove(&name)).unwrap_or_default();
        let actions: Vec<SetAction> = marks.into_iter().map(SetAction::Delete).collect();
        if !actions.is_empty() {
            self.send(&hosted, &actions).map_err(problem)?;
        }
        let deleted = self.change(HttpMethod::Delete, &format!("/hostedzone/{}", hosted.id), "");
        self.reader.zones.forget();
        deleted.map(drop).map_err(problem)
    }

    /// Waits until all name servers of the service have what was written.
    fn finish(&self, is_over: &dyn Fn() -> bool) -> Result<(), Problem> {
        let changes = std::mem::take(&mut *self.changes.lock().expect(HELD));
        // Each is waited for: while one of them is, the others go on.
        let waited: Vec<Result<(), Problem>> =
            changes.iter().map(|(zone, id)| self.wait_for(zone, id, is_over)).collect();
        waited.into_iter().collect()
    }
}
