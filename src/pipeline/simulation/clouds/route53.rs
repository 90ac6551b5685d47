//! The double of Route 53: a request writes a batch of changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::service::{CloudService, CloudUpdate};
use crate::dns::{NameRef, Rdata, Rrset, Rtype, Ttl, ZoneName};
use crate::doubles::route53::Route53Double;
use crate::doubles::route53::rrset::DoubleRrset;
use crate::doubles::route53::rules::ChangeSettling;
use crate::doubles::{DoubleAnswer, DoubleRequest};
use crate::http::HttpAsker;
use crate::provider::memory::message::UpdateInstruction;
use crate::provider::route53_double as doubled;
use crate::target::WriteTarget;

/// What Route 53 answers where it is too busy.
const THROTTLED: &str =
    "<ErrorResponse><Error><Code>Throttling</Code><Message>Rate exceeded</Message></Error></ErrorResponse>";

/// An account.
pub struct Route53Account {
    /// The service.
    double: Arc<Route53Double>,
    /// The ids of the zones.
    ids: BTreeMap<ZoneName, String>,
}

impl Route53Account {
    /// An account with these zones, which are empty.
    pub fn new(zones: &[ZoneName]) -> Route53Account {
        let double = Arc::new(Route53Double::new(doubled::KEYS, || doubled::BEGIN));
        double.set_rules(|rules| {
            rules.requests_a_second = None;
            rules.settling = ChangeSettling::AtOnce;
            // Signatures have tests of their own, and weakened requests have none that is right.
            rules.checks_signature = false;
        });
        let created = |zone: &ZoneName| double.create_zone(zone.to_string().trim_end_matches('.'), false);
        let ids = zones.iter().map(|zone| (zone.clone(), created(zone))).collect();
        Route53Account { double, ids }
    }
}

impl CloudService for Route53Account {
    fn answer(&self, request: &DoubleRequest) -> DoubleAnswer {
        self.double.answer(request).expect("the network loses, and not the service")
    }

    fn update_of(&self, request: &DoubleRequest) -> Option<CloudUpdate> {
        let id = request.target.strip_suffix("/rrset/").and_then(|path| path.rsplit('/').next())?;
        let (zone, _) = self.ids.iter().find(|(_, own)| *own == id)?;
        let document = doubled::parse(&request.body);
        let mut instructions = Vec::new();
        for change in document.child("ChangeBatch").unwrap().list_of("Changes") {
            let set = change.child("ResourceRecordSet").unwrap();
            let name = doubled::parse_name(set.text_of("Name").unwrap());
            let rtype: Rtype = set.text_of("Type").unwrap().parse().unwrap();
            if change.text_of("Action") == Some("DELETE") {
                instructions.push(UpdateInstruction::DeleteRrset(name, rtype));
                continue;
            }
            let ttl = Ttl::from_secs(set.text_of("TTL").unwrap().parse().unwrap()).unwrap();
            for record in set.list_of("ResourceRecords") {
                let rdata = doubled::parse_value(rtype, record.text_of("Value").unwrap());
                instructions.push(UpdateInstruction::Add(name.clone(), rtype, ttl, rdata));
            }
        }
        Some(CloudUpdate { zone: zone.clone(), instructions })
    }

    fn unguarded(&self, request: DoubleRequest) -> DoubleRequest {
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

    fn busy(&self) -> DoubleAnswer {
        DoubleAnswer::new(400, "text/xml", THROTTLED.as_bytes().to_vec())
    }

    fn put(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype, rrset: Option<&Rrset>) {
        let (id, name) = (&self.ids[zone], doubled::name_text(owner));
        match rrset {
            None => drop(self.double.remove(id, &name, &rtype.to_string(), None)),
            Some(rrset) => {
                let values: Vec<String> = rrset.rdata().iter().map(|rdata| doubled::value_text(rtype, rdata)).collect();
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                self.double.put(id, DoubleRrset::new(&name, &rtype.to_string(), rrset.ttl().as_secs(), &values));
            }
        }
    }

    fn held(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        let (name, type_text) = (doubled::name_text(owner), rtype.to_string());
        let mut held = self.double.rrsets(&self.ids[zone]).into_iter();
        let set = held.find(|set| set.name == name && set.rtype == type_text)?;
        let rdata: Vec<Rdata> = set.values.iter().map(|value| doubled::parse_value(rtype, value)).collect();
        Rrset::new(Ttl::from_secs(set.ttl?.into()).unwrap(), rdata)
    }

    fn writer(&self, http: Box<dyn HttpAsker>) -> Box<dyn WriteTarget> {
        doubled::writer(http)
    }
}
