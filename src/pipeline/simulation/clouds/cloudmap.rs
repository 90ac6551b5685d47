//! The double of Cloud Map: a request asks for one step, and many a step is done later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::service::{CloudService, CloudUpdate};
use crate::dns::{Name, NameRef, Rdata, Rrset, Rtype, Ttl, ZoneName};
use crate::doubles::cloudmap::CloudMapDouble;
use crate::doubles::cloudmap::log::{EDITOR, MapChange};
use crate::doubles::cloudmap::operations::FailurePlan;
use crate::doubles::cloudmap::resources::{MapService, NamespaceKind};
use crate::doubles::cloudmap::rules::{ListingMoment, OperationSettling, RepeatAnswer, RequestMemory};
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::http::HttpAsker;
use crate::provider::cloudmap_double as doubled;
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage};
use crate::provider::memory::primary::SettledUpdate;
use crate::target::WriteTarget;
use crate::verify::truth::Numbers;

/// What Cloud Map answers where it is asked too often.
const THROTTLED: &str = r#"{"__type":"ThrottlingException","message":"Rate exceeded"}"#;

/// The media type of its answers.
const JSON: &str = "application/x-amz-json-1.1";

/// The name of the service of another editor, which no run writes.
const OTHER: &str = "other";

/// An account.
pub struct CloudMapAccount {
    /// The service.
    double: Arc<CloudMapDouble>,
    /// The identifiers of the namespaces.
    namespaces: BTreeMap<ZoneName, String>,
    /// Whether it says of each operation at once that it is done.
    is_hasty: bool,
    /// Whether it lists what an operation does once that is submitted.
    lists_early: bool,
    /// What was read of its log.
    followed: Mutex<FollowedAccount>,
}

/// The instances of a service, by their ids, each with its attributes.
type InstanceMap = BTreeMap<String, BTreeMap<String, String>>;

/// What the log of an account said so far.
#[derive(Default)]
struct FollowedAccount {
    /// How many entries were read.
    entries: usize,
    /// The services by their identifiers, each with the attributes of its instances by their identifiers.
    services: BTreeMap<String, (MapService, InstanceMap)>,
    /// The updates that submitted operations, by the identifiers of these.
    submitted: BTreeMap<String, UpdateMessage>,
    /// The address that another editor gave its own service last.
    other: Option<String>,
}

impl CloudMapAccount {
    /// An account with these namespaces, which are empty; the dice say what is not known of the service for sure, and which
    /// operations it fails to do.
    pub fn new(zones: &[ZoneName], dice: &mut Numbers, is_hasty: bool) -> CloudMapAccount {
        let double = Arc::new(CloudMapDouble::new(doubled::REGION, doubled::KEYS, || doubled::BEGIN));
        // What is listed before it is done, and then fails, nothing shows.
        let may_fail = dice.below(2) == 0;
        double.set_rules(|rules| {
            // Signatures have tests of their own.
            rules.checks_signature = false;
            rules.settling = match dice.below(4) {
                0 => OperationSettling::AtOnce,
                1 => OperationSettling::AfterAsks(1 + u32::from(dice.below(2) == 0)),
                _ => OperationSettling::AfterRequests(dice.below(4) as u64),
            };
            rules.shown = if may_fail { ListingMoment::Done } else { ListingMoment::Submitted };
            rules.repeated = [RepeatAnswer::SameOperation, RepeatAnswer::DuplicateRequest][dice.below(2)];
            rules.memory = [RequestMemory::Forever, RequestMemory::Instance][dice.below(2)];
        });
        for _ in 0..if may_fail { dice.below(4) } else { 0 } {
            let operation = ["RegisterInstance", "DeregisterInstance", "UpdateService"][dice.below(3)];
            let code = ["THROTTLED_REQUEST", "INTERNAL_FAILURE"][dice.below(2)];
            let skip = dice.below(6) as u64;
            double.plan_failure(FailurePlan { skip, ..FailurePlan::next(operation, code) });
        }
        let created =
            |zone: &ZoneName| double.create_namespace(zone.to_string().trim_end_matches('.'), NamespaceKind::Public);
        let namespaces = zones.iter().map(|zone| (zone.clone(), created(zone))).collect();
        CloudMapAccount { double, namespaces, is_hasty, lists_early: !may_fail, followed: Mutex::default() }
    }

    /// The service of a name, as the double has it.
    fn service_at(&self, zone: &ZoneName, owner: NameRef<'_>) -> Option<MapService> {
        let own = owner.to_string();
        let is_it = |service: &MapService| format!("{}.{zone}", service.name) == own;
        self.double.services(&self.namespaces[zone]).into_iter().find(is_it)
    }

    /// The zone of a namespace.
    fn zone_of(&self, namespace: &str) -> Option<&ZoneName> {
        self.namespaces.iter().find(|(_, id)| *id == namespace).map(|(zone, _)| zone)
    }
}

/// The name of the operation that a request asks for.
fn operation_of(request: &DoubleRequest) -> &str {
    request.header("x-amz-target").and_then(|target| target.rsplit('.').next()).unwrap_or_default()
}

/// The word of the attribute that has the value of a type.
fn attribute_of(rtype: &str) -> &'static str {
    match rtype {
        "A" => "AWS_INSTANCE_IPV4",
        "AAAA" => "AWS_INSTANCE_IPV6",
        _ => "AWS_INSTANCE_CNAME",
    }
}

/// The owner name and the type of a service.
fn subject_of(service: &MapService, zone: &ZoneName) -> (Name, Rtype) {
    let owner = Name::parse(&format!("{}.{zone}", service.name)).unwrap();
    (owner, service.records[0].0.parse().unwrap())
}

/// The data that a value of an instance is.
fn data_of(rtype: Rtype, text: &str) -> Rdata {
    Rdata::read(rtype, text, NameRef::ROOT).unwrap()
}

impl FollowedAccount {
    /// Takes a change over; gives the service that it is about, as it was before where it is gone.
    fn follow(&mut self, change: MapChange) -> Option<MapService> {
        match change {
            MapChange::Namespace { .. } => None,
            MapChange::Service { after: Some(after), .. } => {
                self.services.entry(after.id.clone()).or_insert_with(|| (after.clone(), BTreeMap::new())).0 =
                    after.clone();
                Some(after)
            }
            MapChange::Service { before, after: None } => {
                self.services.remove(&before.as_ref()?.id);
                before
            }
            MapChange::Instance { service, before, after } => {
                let (own, instances) = self.services.get_mut(&service)?;
                before.into_iter().for_each(|gone| drop(instances.remove(&gone.id)));
                instances.extend(after.map(|there| (there.id, there.attributes)));
                Some(own.clone())
            }
        }
    }

    /// What makes an RRset as a service is by now.
    fn as_now(&self, service: &MapService, zone: &ZoneName) -> Vec<UpdateInstruction> {
        let (owner, rtype) = subject_of(service, zone);
        let mut instructions = vec![UpdateInstruction::DeleteRrset(owner.clone(), rtype)];
        let Some((own, instances)) = self.services.get(&service.id) else { return instructions };
        let (word, ttl) = &own.records[0];
        let ttl = Ttl::from_secs(u64::from(*ttl)).unwrap();
        let values: BTreeSet<&String> = instances.values().map(|own| &own[attribute_of(word)]).collect();
        let add = |value: &String| UpdateInstruction::Add(owner.clone(), rtype, ttl, data_of(rtype, value));
        instructions.extend(values.into_iter().map(add));
        instructions
    }
}

impl CloudService for CloudMapAccount {
    fn answer(&self, request: &DoubleRequest) -> DoubleAnswer {
        let answer = self.double.answer(request).expect("the network loses, and not the service");
        if !self.is_hasty || operation_of(request) != "GetOperation" {
            return answer;
        }
        let mut document: Value = serde_json::from_slice(&answer.body).unwrap();
        document["Operation"]["Status"] = Value::from("SUCCESS");
        DoubleAnswer::new(200, JSON, document.to_string().into_bytes())
    }

    fn update_of(&self, request: &DoubleRequest) -> Option<CloudUpdate> {
        let input: Value = serde_json::from_slice(&request.body).unwrap();
        let text = |key: &str| input[key].as_str();
        let followed = self.followed.lock().unwrap();
        let of_service = |key: &str| {
            let (service, instances) = followed.services.get(text(key)?)?;
            let zone = self.zone_of(&service.namespace)?;
            Some((zone, subject_of(service, zone), instances))
        };
        let (zone, instruction) = match operation_of(request) {
            "CreateService" => {
                let zone = self.zone_of(text("NamespaceId")?)?;
                let owner = Name::parse(&format!("{}.{zone}", text("Name")?)).unwrap();
                (zone, UpdateInstruction::DeleteRrset(owner, Rtype::AAAA))
            }
            "RegisterInstance" => {
                let (zone, (owner, rtype), _) = of_service("ServiceId")?;
                let value = input["Attributes"][attribute_of(&rtype.to_string())].as_str()?;
                (zone, UpdateInstruction::Add(owner, rtype, Ttl::DEFAULT, data_of(rtype, value)))
            }
            "DeregisterInstance" => {
                let (zone, (owner, rtype), instances) = of_service("ServiceId")?;
                let value = &instances.get(text("InstanceId")?)?[attribute_of(&rtype.to_string())];
                (zone, UpdateInstruction::DeleteRecord(owner, rtype, data_of(rtype, value)))
            }
            "UpdateService" | "DeleteService" => {
                let (zone, (owner, rtype), _) = of_service("Id")?;
                (zone, UpdateInstruction::DeleteRrset(owner, rtype))
            }
            _ => return None,
        };
        Some(CloudUpdate { zone: zone.clone(), instructions: vec![instruction] })
    }

    fn carry_out(&self, request: &DoubleRequest, message: &UpdateMessage) -> (DoubleAnswer, Vec<UpdateInstruction>) {
        let answer = self.double.answer(request).expect("the network loses, and not the service");
        let document: Value = serde_json::from_slice(&answer.body).unwrap();
        if let Some(id) = document["OperationId"].as_str() {
            // A copy of a request is answered with the operation of the first one.
            self.followed.lock().unwrap().submitted.entry(id.to_owned()).or_insert_with(|| message.clone());
        }
        (answer, Vec::new())
    }

    fn settled(&self) -> Vec<SettledUpdate> {
        let mut followed = self.followed.lock().unwrap();
        let new = self.double.requests_from(followed.entries);
        followed.entries += new.len();
        let mut settled = Vec::new();
        for entry in new {
            let services: Vec<MapService> =
                entry.changes.into_iter().filter_map(|change| followed.follow(change)).collect();
            let message = entry.operation_id.and_then(|id| followed.submitted.get(&id).cloned());
            if let (Some(message), Some(service)) = (message.filter(|_| entry.operation != EDITOR), services.last()) {
                let instructions = followed.as_now(service, &message.zone);
                settled.push(SettledUpdate { message, instructions });
            }
        }
        settled
    }

    fn is_busy(&self) -> bool {
        self.double.operations().iter().any(|operation| operation.end.is_none())
    }

    fn lists_early(&self) -> bool {
        self.lists_early
    }

    fn pass(&self) {
        self.double.finish_all();
    }

    fn disturb(&self, number: usize) {
        let Some((zone, namespace)) = self.namespaces.last_key_value() else { return };
        let owner = Name::parse(&format!("{OTHER}.{zone}")).unwrap();
        let service = self.service_at(zone, owner.as_name());
        let id = service
            .map_or_else(|| self.double.create_service(namespace, OTHER, &[("A", 60)], Some("the shop")), |own| own.id);
        let value = format!("192.0.2.{}", number % 250);
        self.double.register(&id, "x", &[("AWS_INSTANCE_IPV4", &value)]);
        self.followed.lock().unwrap().other = Some(value);
    }

    fn lost(&self) -> Vec<String> {
        let Some((zone, namespace)) = self.namespaces.last_key_value() else { return Vec::new() };
        let held = self.double.rrset(namespace, &format!("{OTHER}.{zone}"), "A").map(|own| own.values);
        let left = self.followed.lock().unwrap().other.clone().map(|value| vec![value]);
        if held == left { Vec::new() } else { vec![format!("another editor left {left:?}, and it is {held:?}")] }
    }

    fn unguarded(&self, request: DoubleRequest) -> DoubleRequest {
        request
    }

    fn busy(&self) -> DoubleAnswer {
        DoubleAnswer::new(400, JSON, THROTTLED.as_bytes().to_vec())
    }

    fn put(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype, rrset: Option<&Rrset>) {
        let word = rtype.to_string();
        let service = self.service_at(zone, owner);
        let other = service.as_ref().filter(|own| own.records[0].0 != word);
        match (rrset, &service) {
            (None, None) => {}
            // What goes is of another type than what is there.
            (None, Some(_)) if other.is_some() => {}
            (None, Some(own)) => self.double.delete_service(&own.id),
            (Some(rrset), _) => {
                other.into_iter().for_each(|own| self.double.delete_service(&own.id));
                let ttl = rrset.ttl().as_secs();
                let owner = owner.to_string();
                let name = owner.strip_suffix(&format!(".{zone}")).unwrap();
                let same = service.as_ref().filter(|own| own.records[0].0 == word).map(|own| own.id.clone());
                let id = same.unwrap_or_else(|| {
                    self.double.create_service(&self.namespaces[zone], name, &[(word.as_str(), ttl)], None)
                });
                self.double.change_service(&id, |own| own.records = vec![(word.clone(), ttl)]);
                let gone = self.double.instances(&id);
                gone.iter().for_each(|own| drop(self.double.deregister(&id, &own.id)));
                for value in rrset.rdata_texts(rtype) {
                    let value = value.trim_end_matches('.');
                    self.double.register(&id, value, &[(attribute_of(&word), value)]);
                }
            }
        }
    }

    fn held(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        let set = self.double.rrset(&self.namespaces[zone], &owner.to_string(), &rtype.to_string())?;
        let values = set.values.iter().map(|value| data_of(rtype, value)).collect();
        Rrset::new(Ttl::from_secs(u64::from(set.ttl)).unwrap(), values)
    }

    fn writer(&self, http: Box<dyn HttpAsker>) -> Box<dyn WriteTarget> {
        doubled::writer(http)
    }
}
