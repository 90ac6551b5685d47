//! Namespaces in Cloud Map, written: each update is about one name.
//!
//! Nothing is compared as a part of a write. The name is looked at right before it is written, and once more behind that.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::time::Duration;

use super::delivery::NameDelivery;
use super::document::{self, CloudMapNamespace};
use super::held::{HeldService, NameSets};
use super::names::{attribute_of, owner_of, service_name};
use super::steps::{NameProgress, ServiceStep, coming, progress, steps};
use super::target::{CloudMapReader, soa_of};
use crate::diag::Problem;
use crate::dns::{ChangeKind, Name, NameRef, Rrset, Rtype, ZoneName};
use crate::parallel::HELD;
use crate::provider::aws::{AwsFault, AwsFaultKind};
use crate::target::answers::{self, WholeZone};
use crate::target::{
    Answer, EditSize, Question, ReadTarget as _, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateTicket,
    UpdateZone, WriteTarget,
};

/// What one update may hold: a service has all types of a name.
pub const LIMITS: UpdateLimits = UpdateLimits { names: 1, ..UpdateLimits::NONE };

/// How often a name is looked at and changed until it is as it is to be.
const ROUNDS: usize = 6;

/// How often a name is looked at again that does not show what was done.
const LOOKS: u32 = 1;

/// How long is waited before the next try, and before a listing is read again that does not show what was done.
const PAUSE: Duration = Duration::from_secs(1);

/// An identifier that no instance has, so that what is asked for it is never done.
const NO_INSTANCE: &str = "zonewright-doctor";

/// The identifiers of the services of a namespace, by their owner names.
type ServiceIds = HashMap<Name, String>;

/// Writes namespaces.
pub struct CloudMapWriter {
    /// Reads them.
    reader: CloudMapReader,
    /// The services that are known.
    known: Mutex<HashMap<ZoneName, ServiceIds>>,
    /// What could not be cleared away.
    left: Mutex<Vec<Problem>>,
}

/// What names of a namespace have, which answers questions about them.
struct NamedServices<'z> {
    /// The namespace.
    zone: &'z ZoneName,
    /// The SOA of its zone.
    soa: Rrset,
    /// The RRsets, by their names.
    sets: HashMap<Name, NameSets>,
}

impl WholeZone for NamedServices<'_> {
    fn apex(&self) -> &ZoneName {
        self.zone
    }

    fn rrset(&self, name: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        if rtype == Rtype::SOA && name == self.zone.as_name() {
            return Some(self.soa.clone());
        }
        self.sets.get(&name.to_name())?.get(&rtype).cloned()
    }
}

impl CloudMapWriter {
    /// A writer of which nothing was seen.
    pub fn new(reader: CloudMapReader) -> CloudMapWriter {
        CloudMapWriter { reader, known: Mutex::default(), left: Mutex::default() }
    }

    /// Does something with the services of a namespace that are known.
    fn with_known<R>(&self, zone: &ZoneName, work: impl FnOnce(&mut ServiceIds) -> R) -> R {
        work(self.known.lock().expect(HELD).entry(zone.clone()).or_default())
    }

    /// Looks at a name: its service as it is now, with its instances. A service that was not known may be there; one that is gone
    /// is looked for once more, because another tool may have made it anew.
    ///
    /// Errors: there is no answer.
    fn look(
        &self,
        zone: &ZoneName,
        namespace: &CloudMapNamespace,
        owner: &Name,
    ) -> Result<Option<HeldService>, AwsFault> {
        for is_last in [false, true] {
            let Some(id) = self.with_known(zone, |known| known.get(owner).cloned()) else { return Ok(None) };
            match self.held(&id) {
                Ok(held) => return Ok(Some(held)),
                Err(AwsFault { name, .. }) if name == "ServiceNotFound" && is_last => {
                    self.with_known(zone, |known| known.remove(owner));
                }
                Err(AwsFault { name, .. }) if name == "ServiceNotFound" => drop(self.list(zone, namespace)?),
                Err(fault) => return Err(fault),
            }
        }
        Ok(None)
    }

    /// A service as it is now, with its instances.
    ///
    /// Errors: there is no answer, or no such service.
    fn held(&self, id: &str) -> Result<HeldService, AwsFault> {
        let content = self.reader.client.ask("GetService", &document::of_service(id))?;
        let service = document::read_service(&content).map_err(AwsFault::unusable)?;
        let instances = self.reader.instances(id, &mut 0)?;
        Ok(HeldService { service, instances, has_marks: self.reader.has_marks })
    }

    /// Sends an update; nothing is waited for once the apply is to end.
    fn deliver(&self, update: &Update<'_>, is_over: &dyn Fn() -> bool) -> UpdateReply {
        let zone = update.zone;
        let namespace = match self.reader.namespace(zone) {
            Ok(namespace) => namespace,
            // Nothing was sent that writes.
            Err(problem) => return UpdateReply::Failed(problem),
        };
        let owner = update.edits[0].key.owner.as_name();
        let is_held =
            |edit: &RrsetEdit<'_>| edit.key.owner.as_name() == owner && attribute_of(edit.key.rtype).is_some();
        let name = service_name(owner, zone).filter(|_| update.edits.iter().all(is_held));
        let Some(name) = name else { return self.try_right(zone, &namespace) };
        let known = match self.identifier(zone, &namespace, &owner.to_name()) {
            Ok(known) => known,
            Err(fault) => return UpdateReply::Failed(self.reader.problem(zone, fault)),
        };
        let mut delivery = NameDelivery {
            reader: &self.reader,
            namespace: &namespace,
            name: &name,
            service: known,
            may_have_written: false,
            has_written: false,
            unsure: None,
            left: None,
            owner: update.edits.iter().find_map(|edit| owner_in(edit.kind)),
            is_over,
        };
        let reply = self.change(update, &mut delivery);
        let left = delivery.left.map(|fault| {
            let message =
                format!("the service `{name}` no longer has an instance, and was not deleted: {}", fault.message);
            self.reader.problem(zone, AwsFault { message, ..fault })
        });
        self.left.lock().expect(HELD).extend(left);
        reply
    }

    /// The identifier of the service of a name, where it is known; services are listed where none of the namespace is.
    fn identifier(
        &self,
        zone: &ZoneName,
        namespace: &CloudMapNamespace,
        owner: &Name,
    ) -> Result<Option<String>, AwsFault> {
        if !self.known.lock().expect(HELD).contains_key(zone) {
            self.list(zone, namespace)?;
        }
        Ok(self.with_known(zone, |known| known.get(owner).cloned()))
    }

    /// Lists the services of a namespace by their owner names, and keeps their identifiers.
    fn list(
        &self,
        zone: &ZoneName,
        namespace: &CloudMapNamespace,
    ) -> Result<HashMap<Name, document::CloudMapService>, AwsFault> {
        let services = self.reader.services(namespace, &mut 0)?;
        let named = services.into_values().filter_map(|own| Some((owner_of(&own.name, zone)?, own)));
        let named: HashMap<Name, document::CloudMapService> = named.collect();
        let ids = named.iter().map(|(owner, own)| (owner.clone(), own.id.clone())).collect();
        self.known.lock().expect(HELD).insert(zone.clone(), ids);
        Ok(named)
    }

    /// Changes a name until it is as an update says, or cannot be.
    fn change(&self, update: &Update<'_>, delivery: &mut NameDelivery<'_>) -> UpdateReply {
        let (zone, owner) = (update.zone, update.edits[0].key.owner.as_name().to_name());
        let problem = |fault: AwsFault| self.reader.problem(zone, fault);
        let (mut fault, mut looks, mut was_unanswered) = (None::<AwsFault>, None::<u32>, false);
        for round in 1..=ROUNDS {
            let held = match self.look(zone, delivery.namespace, &owner) {
                Ok(held) => held,
                Err(fault) if delivery.may_have_written => return UpdateReply::Unknown(problem(fault)),
                Err(fault) => return UpdateReply::Failed(problem(fault)),
            };
            let (sets, standing) = match self.standing(held.as_ref(), update, delivery) {
                Ok(found) => found,
                Err(reply) => return reply,
            };
            let is_last = round == ROUNDS || (delivery.is_over)();
            if let Some(fault) = fault.take_if(|fault| fault.kind == AwsFaultKind::Refused || is_last) {
                return ended(standing, was_unanswered, fault.kind)(problem(fault));
            }
            if round == ROUNDS && looks.is_none() {
                return UpdateReply::Unknown(problem(unfinished()));
            }
            // All was done. It may be listed a moment later.
            if let Some(count) = &mut looks {
                *count += 1;
                if *count > LOOKS {
                    return UpdateReply::Raced(problem(raced("is not what was written")));
                }
                delivery.wait(PAUSE);
                continue;
            }
            let wanted = after(&sets, update);
            delivery.service = held.as_ref().map(|own| own.service.id.clone());
            if let (1, NameProgress::Between, Some(held)) = (round, standing, &held) {
                delivery.unsure = coming(held, &wanted, update);
            }
            if delivery.unsure.is_some() && held.is_some() {
                // Nothing goes before that is known to be there.
                fault = delivery.make_sure().err();
            } else {
                fault = match steps(held.as_ref(), &wanted) {
                    Ok(steps) => steps.iter().try_for_each(|step| delivery.run(step, held.as_ref())).err(),
                    Err(words) => {
                        let refused = impossible(update, &words);
                        return ended(standing, was_unanswered, refused.kind)(problem(refused));
                    }
                };
                self.keep(zone, &owner, delivery);
                if fault.is_none() {
                    looks = Some(0);
                }
            }
            was_unanswered |= fault.as_ref().is_some_and(|fault| fault.kind == AwsFaultKind::Unknown);
            if fault.as_ref().is_some_and(|fault| fault.kind != AwsFaultKind::Stale) {
                delivery.wait(PAUSE);
            }
        }
        UpdateReply::Raced(problem(raced("is not what was written")))
    }

    /// What a name has, and how far an update of it is.
    ///
    /// Errors: the reply, where nothing is left to do, or nothing can be done.
    fn standing(
        &self,
        held: Option<&HeldService>,
        update: &Update<'_>,
        delivery: &mut NameDelivery<'_>,
    ) -> Result<(NameSets, NameProgress), UpdateReply> {
        let owner = update.edits[0].key.owner.as_name();
        let problem = |words: &str| self.reader.problem(update.zone, raced(words));
        let other = |words: &str, stale: String| match (delivery.has_written, delivery.may_have_written) {
            (true, _) => UpdateReply::Raced(problem(words)),
            (false, true) => UpdateReply::Unknown(problem(words)),
            (false, false) => UpdateReply::Prerequisite(stale),
        };
        let sets = held.map_or(Ok(NameSets::new()), HeldService::rrsets);
        let sets = sets.map_err(|what| {
            other(&format!("has {what}"), format!("`{owner}` has {what}, which zonewright never touches"))
        })?;
        match progress(&sets, update) {
            NameProgress::Other => {
                Err(other("is not what was written", format!("`{owner}` is not what the plan says")))
            }
            NameProgress::After if delivery.unsure.is_none() || held.is_none() => {
                // An answer may have been lost behind which the service was to go.
                let left = steps(held, &after(&sets, update)).unwrap_or_default();
                if delivery.may_have_written && left == [ServiceStep::Leave] {
                    delivery.service = held.map(|own| own.service.id.clone());
                    delivery.leave(held);
                }
                Err(UpdateReply::Done)
            }
            standing => Ok((sets, standing)),
        }
    }

    /// Keeps the identifier of the service of a name, as it was left.
    fn keep(&self, zone: &ZoneName, owner: &Name, delivery: &NameDelivery<'_>) {
        self.with_known(zone, |known| match delivery.service.clone() {
            Some(id) => known.insert(owner.clone(), id),
            None => known.remove(owner),
        });
    }

    /// Asks for what is never done, and shows by how that is refused whether it would have been allowed.
    fn try_right(&self, zone: &ZoneName, namespace: &CloudMapNamespace) -> UpdateReply {
        let listed = match self.list(zone, namespace) {
            Ok(listed) => listed,
            Err(fault) => return UpdateReply::Failed(self.reader.problem(zone, fault)),
        };
        let Some(service) = listed.into_values().next() else {
            return UpdateReply::Prerequisite("there is no service at which writing could be tried".to_owned());
        };
        match self.reader.client.ask("DeregisterInstance", &document::deregister(&service.id, NO_INSTANCE)) {
            Ok(_) => UpdateReply::Done,
            Err(fault) if fault.kind == AwsFaultKind::Stale => UpdateReply::Prerequisite(fault.message),
            Err(fault) if fault.kind == AwsFaultKind::Refused => UpdateReply::Refused(self.reader.problem(zone, fault)),
            Err(fault) => UpdateReply::Failed(self.reader.problem(zone, fault)),
        }
    }
}

/// Writes names of one namespace, one after another.
struct NameSession<'w> {
    /// What writes.
    writer: &'w CloudMapWriter,
    /// The replies that were not asked for yet.
    replies: HashMap<UpdateTicket, UpdateReply>,
    /// The latest ticket.
    latest: u64,
}

impl UpdateZone for NameSession<'_> {
    fn window(&mut self) -> usize {
        1
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        self.send_until(update, &|| false)
    }

    fn send_until(&mut self, update: &Update<'_>, is_over: &dyn Fn() -> bool) -> Result<UpdateTicket, Problem> {
        self.latest += 1;
        let ticket = UpdateTicket(self.latest);
        self.replies.insert(ticket, self.writer.deliver(update, is_over));
        Ok(ticket)
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        self.replies.remove(&ticket).expect("each ticket is asked for once")
    }
}

/// The owner that a mark of a change names.
fn owner_in(kind: &ChangeKind) -> Option<String> {
    let mut sides = [kind.before(), kind.after()].into_iter().flatten();
    sides.find_map(|rrset| rrset.mark().map(|mark| mark.owner.clone()))
}

/// Whether a change makes what is there another owner's.
fn takes_over(kind: &ChangeKind) -> bool {
    let owner = |rrset: Option<&Rrset>| rrset.and_then(Rrset::mark).map(|mark| mark.owner.clone());
    kind.before().is_some() && kind.after().is_some() && owner(kind.before()) != owner(kind.after())
}

/// The reply to an update that ended by a fault of this kind, where its name is so far. What an earlier round asked for may still be
/// done where it had no answer.
fn ended(standing: NameProgress, was_unanswered: bool, kind: AwsFaultKind) -> fn(Problem) -> UpdateReply {
    match (standing, kind) {
        _ if was_unanswered => UpdateReply::Unknown,
        (NameProgress::Before, AwsFaultKind::Refused) => UpdateReply::Refused,
        (_, AwsFaultKind::Refused) => UpdateReply::RefusedInPart,
        (_, AwsFaultKind::Unknown) | (NameProgress::Between, _) => UpdateReply::Unknown,
        _ => UpdateReply::Failed,
    }
}

/// That a name was not done in all rounds, although nothing failed in the last one.
fn unfinished() -> AwsFault {
    let message = format!("the name is not as it is to be after {ROUNDS} tries, of which some had no answer");
    AwsFault::new(AwsFaultKind::Unknown, "api-failed", message, "`zonewright resume` goes on from there")
}

/// That a service cannot be as an update says; the words go on after its name.
fn impossible(update: &Update<'_>, words: &str) -> AwsFault {
    let hint = if update.edits.iter().any(|edit| takes_over(edit.kind)) {
        "take all types of the name over together: claim the others, too, or say `--all` to `zonewright adopt`"
    } else {
        "change what asks for it, or change the service by the tools of AWS"
    };
    let message = format!("`{}` {words}", update.edits[0].key.owner.as_name());
    AwsFault::new(AwsFaultKind::Refused, "update-rejected", message, hint)
}

/// The RRsets of a name after an update.
fn after(sets: &NameSets, update: &Update<'_>) -> NameSets {
    let mut sets = sets.clone();
    for edit in &update.edits {
        match edit.kind.after() {
            Some(rrset) => sets.insert(edit.key.rtype, rrset.clone()),
            None => sets.remove(&edit.key.rtype),
        };
    }
    sets
}

/// That something else wrote at the same time.
fn raced(words: &str) -> AwsFault {
    let message = format!("something else wrote to the name at the same time: it {words}");
    let hint = "plan again, and find what else writes there: what it wrote to this name may be lost";
    AwsFault::new(AwsFaultKind::Unknown, "raced", message, hint)
}

impl WriteTarget for CloudMapWriter {
    fn place(&self, zone: &ZoneName) -> String {
        self.reader.place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        LIMITS
    }

    fn size(&self, _: &ZoneName, _: RrsetEdit<'_>) -> EditSize {
        EditSize::default()
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], _: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let namespace = self.reader.namespace(zone)?;
        let problem = |fault| self.reader.problem(zone, fault);
        let mut listed = self.list(zone, &namespace).map_err(problem)?;
        let names: BTreeSet<&Name> = questions.iter().map(|question| &question.name).collect();
        let mut sets = HashMap::new();
        for name in names {
            let Some(service) = listed.remove(name) else { continue };
            let instances = self.reader.instances(&service.id, &mut 0).map_err(problem)?;
            // What no RRset says is left, and an update at its name is refused.
            sets.extend(
                HeldService { service, instances, has_marks: self.reader.has_marks }
                    .rrsets()
                    .ok()
                    .map(|sets| (name.clone(), sets)),
            );
        }
        let named = NamedServices { zone, soa: soa_of(&namespace), sets };
        Ok(questions.iter().map(|question| answers::answer(&named, question)).collect())
    }

    fn compares(&self) -> bool {
        false
    }

    fn is_divisible(&self) -> bool {
        true
    }

    fn open(&self, _: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(NameSession { writer: self, replies: HashMap::new(), latest: 0 })
    }

    /// What was written is there: each operation was waited for.
    fn finish(&self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        std::mem::take(&mut *self.left.lock().expect(HELD)).into_iter().next().map_or(Ok(()), Err)
    }
}
