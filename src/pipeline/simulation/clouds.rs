//! A double of a cloud service as the place where zones are written: what it does is the truth, and the primary in memory keeps
//! the log of it, loses and delays requests, and lets other editors write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use domain::base::iana::Rcode;

use super::fleet::Fleet;
use super::seed_play::Weakness;
use crate::dns::{Name, NameRef, Rdata, Rrset, Rtype, Ttl, ZoneName};
use crate::doubles::route53::Route53Double;
use crate::doubles::route53::rrset::DoubleRrset;
use crate::doubles::route53::rules::ChangeSettling;
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::http::{HttpAnswer, HttpAsker, HttpFailure, HttpFailureKind, HttpQuestion};
use crate::provider::memory::message::{UpdateInstruction, UpdateMessage};
use crate::provider::memory::primary::{MemoryPrimary, UpdateBackend};
use crate::provider::memory::rules::RrsetDifference;
use crate::provider::route53_double as doubled;
use crate::target::WriteTarget;
use crate::verify::truth;

/// An account of a service.
pub struct CloudAccount {
    /// The service.
    double: Arc<Route53Double>,
    /// The network before it.
    primary: Arc<MemoryPrimary>,
    /// The ids of the zones.
    ids: BTreeMap<ZoneName, String>,
    /// What was asked, and answered.
    carried: Arc<Mutex<CarriedRequests>>,
    /// What is switched off.
    weakness: Weakness,
}

/// The requests that write, with the last answer of each.
#[derive(Default)]
struct CarriedRequests(Vec<(UpdateMessage, DoubleRequest, Option<DoubleAnswer>)>);

impl CloudAccount {
    /// The account behind a primary, with what the fleet holds at first.
    pub fn new(primary: &Arc<MemoryPrimary>, fleet: &Fleet, weakness: Weakness) -> CloudAccount {
        let double = Arc::new(Route53Double::new(doubled::KEYS, || doubled::BEGIN));
        double.set_rules(|rules| {
            rules.requests_a_second = None;
            rules.settling = ChangeSettling::AtOnce;
            // Signatures have tests of their own, and weakened requests have none that is right.
            rules.checks_signature = false;
        });
        let ids: BTreeMap<ZoneName, String> = fleet
            .zones
            .iter()
            .map(|zone| (zone.clone(), double.create_zone(zone.to_string().trim_end_matches('.'), false)))
            .collect();
        for (key, rrset) in fleet.keys.iter().zip(&fleet.first) {
            let zone = fleet.zones.iter().find(|zone| key.owner.as_name().is_at_or_below(zone.as_name()));
            if let (Some(zone), Some(rrset)) = (zone, rrset) {
                double.put(&ids[zone], set_of(key.owner.as_name(), key.rtype, rrset));
            }
        }
        let carried = Arc::new(Mutex::new(CarriedRequests::default()));
        primary.put_behind(Box::new(AccountBackend {
            double: Arc::clone(&double),
            ids: ids.clone(),
            carried: Arc::clone(&carried),
        }));
        CloudAccount { double, primary: Arc::clone(primary), ids, carried, weakness }
    }

    /// What a process writes with.
    pub fn writer(&self) -> Box<dyn WriteTarget> {
        let asker = AccountAsker {
            double: Arc::clone(&self.double),
            primary: Arc::clone(&self.primary),
            zones: self.ids.iter().map(|(zone, id)| (id.clone(), zone.clone())).collect(),
            carried: Arc::clone(&self.carried),
            weakness: self.weakness,
        };
        doubled::writer(Box::new(asker))
    }

    /// What the service does not hold as the log says.
    pub fn differences(&self, fleet: &Fleet) -> Vec<String> {
        let mut found = Vec::new();
        for key in &fleet.keys {
            let zone = fleet.zones.iter().find(|zone| key.owner.as_name().is_at_or_below(zone.as_name()));
            let Some(id) = zone.map(|zone| &self.ids[zone]) else { continue };
            let wanted =
                truth::standing(&self.primary, key).map(|rrset| set_of(key.owner.as_name(), key.rtype, &rrset));
            let mut held = self.double.rrsets(id).into_iter();
            let (name, rtype) = (doubled::name_text(key.owner.as_name()), key.rtype.to_string());
            let held = held.find(|set| set.name == name && set.rtype == rtype);
            let parts = |set: DoubleRrset| {
                let mut values = set.values;
                values.sort();
                (set.ttl, values)
            };
            if held.map(parts) != wanted.map(parts) {
                found.push(format!("the service does not hold {} {} as the log says", key.owner, key.rtype));
            }
        }
        found
    }
}

/// A set of the double for an RRset.
fn set_of(owner: NameRef<'_>, rtype: Rtype, rrset: &Rrset) -> DoubleRrset {
    let values: Vec<String> = rrset.rdata().iter().map(|rdata| doubled::value_text(rtype, rdata)).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    DoubleRrset::new(&doubled::name_text(owner), &rtype.to_string(), rrset.ttl().as_secs(), &values)
}

/// The service, as the end of the network.
struct AccountBackend {
    /// The service.
    double: Arc<Route53Double>,
    /// The ids of the zones.
    ids: BTreeMap<ZoneName, String>,
    /// What was asked.
    carried: Arc<Mutex<CarriedRequests>>,
}

impl UpdateBackend for AccountBackend {
    fn carry_out(&mut self, message: &UpdateMessage) -> Result<(), Rcode> {
        let mut carried = self.carried.lock().unwrap();
        let asked = carried.0.iter_mut().rev().find(|(own, ..)| own == message);
        let (_, request, last) = asked.expect("each update is a request");
        let answer = self.double.answer(request).expect("the network loses, and not the service");
        let is_done = answer.status == 200;
        *last = Some(answer);
        if is_done { Ok(()) } else { Err(Rcode::NXRRSET) }
    }

    fn take_edit(&mut self, zone: &ZoneName, differences: &[RrsetDifference]) {
        let own = |found: &&RrsetDifference| found.rtype != Rtype::SOA;
        // What goes makes room for what comes.
        let (gone, there): (Vec<_>, Vec<_>) = differences.iter().filter(own).partition(|found| found.after.is_none());
        for RrsetDifference { name, rtype, .. } in gone {
            self.double.remove(&self.ids[zone], &doubled::name_text(name.as_name()), &rtype.to_string(), None);
        }
        for found in there {
            if let Some(after) = &found.after {
                self.double.put(&self.ids[zone], set_of(found.name.as_name(), found.rtype, after));
            }
        }
    }
}

/// The way of a process to the service.
struct AccountAsker {
    /// The service.
    double: Arc<Route53Double>,
    /// The network before it.
    primary: Arc<MemoryPrimary>,
    /// The zones, by their ids.
    zones: BTreeMap<String, ZoneName>,
    /// What was asked.
    carried: Arc<Mutex<CarriedRequests>>,
    /// What is switched off.
    weakness: Weakness,
}

impl AccountAsker {
    /// An answer as the client gets it.
    fn heard(answer: DoubleAnswer) -> HttpAnswer {
        let headers = answer.headers.into_iter().collect();
        HttpAnswer { host: "double".to_owned(), status: answer.status, content: answer.body, headers }
    }

    /// A request without what compares: what is there is written over.
    fn weakened(&self, request: DoubleRequest) -> DoubleRequest {
        if self.weakness != Weakness::Prerequisites {
            return request;
        }
        let text = String::from_utf8(request.body).unwrap();
        let (head, rest) = text.split_once("<Changes>").unwrap();
        let (changes, tail) = rest.split_once("</Changes>").unwrap();
        let kept = changes.split_inclusive("</Change>").map(|change| {
            let subject =
                |change: &str| change.split("<TTL>").next().unwrap().split("<Name>").nth(1).map(str::to_owned);
            let is_marker = change.contains("<Name>_zonewright.");
            let is_swapped = |own: &str| {
                let mut others = changes.split_inclusive("</Change>").filter(|other| other.contains("CREATE"));
                others.any(|other| subject(other) == subject(own))
            };
            match change.contains("<Action>DELETE") {
                _ if is_marker => change.to_owned(),
                true if is_swapped(change) => String::new(),
                true => change.to_owned(),
                false => change.replace("<Action>CREATE", "<Action>UPSERT"),
            }
        });
        let body = format!("{head}<Changes>{}</Changes>{tail}", kept.collect::<String>());
        DoubleRequest { body: body.into_bytes(), ..request }
    }
}

impl HttpAsker for AccountAsker {
    fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        let broken = || HttpFailure { kind: HttpFailureKind::Unreachable, message: "the connection broke".to_owned() };
        if self.primary.is_down() {
            return Err(broken());
        }
        let request = doubled::request(question);
        let id = request.target.strip_suffix("/rrset/").and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        let Some(zone) = id.and_then(|id| self.zones.get(&id)).cloned() else {
            return self.double.answer(&request).map(Self::heard).ok_or_else(broken);
        };
        let message = message_of(&zone, &request);
        let request = self.weakened(request);
        self.carried.lock().unwrap().0.push((message.clone(), request, None));
        let said = self.primary.deliver(&message).ok_or_else(broken)?;
        let carried = self.carried.lock().unwrap();
        let answer = carried.0.iter().rev().find(|(own, ..)| *own == message).and_then(|(.., answer)| answer.clone());
        match (said, answer) {
            // The service is busy: it does nothing.
            (Rcode::SERVFAIL, _) | (_, None) => {
                let content = "<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>";
                let content = content.as_bytes().to_vec();
                Ok(HttpAnswer { host: "double".to_owned(), status: 400, content, headers: BTreeMap::new() })
            }
            (_, Some(answer)) => Ok(Self::heard(answer)),
        }
    }
}

/// What a batch of changes does, as an update: what it compares is a matter of the service.
fn message_of(zone: &ZoneName, request: &DoubleRequest) -> UpdateMessage {
    let document = doubled::parse(&request.body);
    let batch = document.child("ChangeBatch").unwrap();
    let mut instructions = Vec::new();
    for change in batch.list_of("Changes") {
        let set = change.child("ResourceRecordSet").unwrap();
        let name: Name = doubled::parse_name(set.text_of("Name").unwrap());
        let rtype: Rtype = set.text_of("Type").unwrap().parse().unwrap();
        if change.text_of("Action") == Some("DELETE") {
            instructions.push(UpdateInstruction::DeleteRrset(name, rtype));
            continue;
        }
        let ttl = Ttl::from_secs(set.text_of("TTL").unwrap().parse().unwrap()).unwrap();
        for record in set.list_of("ResourceRecords") {
            let rdata: Rdata = doubled::parse_value(rtype, record.text_of("Value").unwrap());
            instructions.push(UpdateInstruction::Add(name.clone(), rtype, ttl, rdata));
        }
    }
    UpdateMessage { zone: zone.clone(), prerequisites: Vec::new(), instructions }
}
