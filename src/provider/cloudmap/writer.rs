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
use super::steps::{NameProgress, ServiceStep, progress, steps};
use super::target::{CloudMapReader, soa_of};
use crate::diag::Problem;
use crate::dns::{Name, NameRef, Rrset, Rtype, ZoneName};
use crate::parallel::HELD;
use crate::provider::at_once::AtOnce;
use crate::provider::aws::{AwsFault, AwsFaultKind};
use crate::target::answers::{self, WholeZone};
use crate::target::{
    Answer, EditSize, Question, ReadTarget as _, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateZone, WriteTarget,
};

/// What one update may hold: a service has all types of a name.
pub const LIMITS: UpdateLimits = UpdateLimits { names: 1, ..UpdateLimits::NONE };

/// How often a name is looked at and changed until it is as it is to be.
const ROUNDS: usize = 5;

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

    /// Looks at a name: its service as it is now, with its instances. A service that was not known may be there.
    ///
    /// Errors: there is no answer.
    fn look(&self, zone: &ZoneName, owner: &Name) -> Result<Option<HeldService>, AwsFault> {
        let Some(id) = self.with_known(zone, |known| known.get(owner).cloned()) else { return Ok(None) };
        let read = || {
            let content = self.reader.client.ask("GetService", &document::of_service(&id))?;
            let service = document::read_service(&content).map_err(AwsFault::unusable)?;
            let instances = self.reader.instances(&id, &mut 0)?;
            Ok(HeldService { service, instances, has_marks: self.reader.has_marks })
        };
        match read() {
            Ok(held) => Ok(Some(held)),
            Err(AwsFault { name, .. }) if name == "ServiceNotFound" => {
                self.with_known(zone, |known| known.remove(owner));
                Ok(None)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Sends an update.
    fn deliver(&self, update: &Update<'_>) -> UpdateReply {
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
            left: None,
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
        let pace = &self.reader.client.0.pace;
        let (mut fault, mut looks, mut was_unanswered) = (None::<AwsFault>, None::<u32>, false);
        for round in 1..=ROUNDS {
            let held = match self.look(zone, &owner) {
                Ok(held) => held,
                Err(fault) if delivery.may_have_written => return UpdateReply::Unknown(problem(fault)),
                Err(fault) => return UpdateReply::Failed(problem(fault)),
            };
            let sets = held.as_ref().map_or(Ok(NameSets::new()), HeldService::rrsets);
            let (sets, standing) = match &sets {
                Ok(sets) => (sets, progress(sets, update)),
                Err(what) if delivery.has_written => return UpdateReply::Raced(problem(raced(&format!("has {what}")))),
                Err(what) if delivery.may_have_written => {
                    return UpdateReply::Unknown(problem(raced(&format!("has {what}"))));
                }
                Err(what) => {
                    return UpdateReply::Prerequisite(format!("`{owner}` has {what}, which zonewright never touches"));
                }
            };
            match standing {
                NameProgress::After => {
                    // An answer may have been lost behind which the service was to go.
                    let left = steps(held.as_ref(), &after(sets, update)).unwrap_or_default();
                    if delivery.may_have_written && left == [ServiceStep::Leave] {
                        delivery.service = held.as_ref().map(|own| own.service.id.clone());
                        delivery.leave(held.as_ref());
                    }
                    return UpdateReply::Done;
                }
                NameProgress::Other if delivery.has_written => {
                    return UpdateReply::Raced(problem(raced("is not what was written")));
                }
                NameProgress::Other if delivery.may_have_written => {
                    return UpdateReply::Unknown(problem(raced("is not what was written")));
                }
                NameProgress::Other => {
                    return UpdateReply::Prerequisite(format!("`{owner}` is not what the plan says"));
                }
                NameProgress::Before | NameProgress::Between => {}
            }
            if let Some(fault) = fault.take_if(|fault| fault.kind == AwsFaultKind::Refused || round == ROUNDS) {
                return match (standing, fault.kind) {
                    // What an earlier round asked for may still be done.
                    _ if was_unanswered => UpdateReply::Unknown(problem(fault)),
                    (NameProgress::Before, AwsFaultKind::Refused) => UpdateReply::Refused(problem(fault)),
                    (_, AwsFaultKind::Unknown) | (NameProgress::Between, _) => UpdateReply::Unknown(problem(fault)),
                    _ => UpdateReply::Failed(problem(fault)),
                };
            }
            // All was done. It may be listed a moment later.
            if let Some(count) = &mut looks {
                *count += 1;
                if *count > LOOKS {
                    return UpdateReply::Raced(problem(raced("is not what was written")));
                }
                pace.wait(PAUSE);
                continue;
            }
            let steps = match steps(held.as_ref(), &after(sets, update)) {
                Ok(steps) => steps,
                Err(words) => {
                    let hint = "change what asks for it, or change the service by the tools of AWS";
                    let kind = AwsFaultKind::Refused;
                    let refused = AwsFault::new(kind, "update-rejected", format!("`{owner}` {words}"), hint);
                    return UpdateReply::Refused(problem(refused));
                }
            };
            delivery.service = held.as_ref().map(|own| own.service.id.clone());
            fault = self.run(&steps, held.as_ref(), delivery).err();
            was_unanswered |= fault.as_ref().is_some_and(|fault| fault.kind == AwsFaultKind::Unknown);
            self.with_known(zone, |known| match delivery.service.clone() {
                Some(id) => known.insert(owner.clone(), id),
                None => known.remove(&owner),
            });
            match &fault {
                None => looks = Some(0),
                Some(fault) if fault.kind == AwsFaultKind::Stale => {}
                Some(_) => pace.wait(PAUSE),
            }
        }
        UpdateReply::Raced(problem(raced("is not what was written")))
    }

    /// Carries out steps.
    fn run(
        &self,
        steps: &[ServiceStep],
        held: Option<&HeldService>,
        delivery: &mut NameDelivery<'_>,
    ) -> Result<(), AwsFault> {
        steps.iter().try_for_each(|step| delivery.run(step, held))
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
        Box::new(AtOnce::new(|update: &Update<'_>| self.deliver(update)))
    }

    /// What was written is there: each operation was waited for.
    fn finish(&self) -> Result<(), Problem> {
        std::mem::take(&mut *self.left.lock().expect(HELD)).into_iter().next().map_or(Ok(()), Err)
    }
}
