//! The double of Azure DNS: a request writes one record set, under a condition.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::service::{CloudService, CloudUpdate};
use crate::dns::{NameRef, Rdata, Rrset, Rtype, Ttl, ZoneName};
use crate::doubles::azure::rules::{AzureKind, GoneAnswer};
use crate::doubles::azure::set::AzureRecordSet;
use crate::doubles::azure::{AzureDouble, AzureZoneId};
use crate::doubles::{DoubleAnswer, DoubleRequest, decode_percent};
use crate::http::HttpAsker;
use crate::provider::azure_double as doubled;
use crate::provider::memory::message::UpdateInstruction;
use crate::target::WriteTarget;
use crate::verify::truth::Numbers;

/// The time, which does not pass: 2026-11-30, in seconds since the epoch.
const NOW: i64 = 1_796_000_400;

/// What Azure answers where a zone was written too often.
const THROTTLED: &str = r#"{"code":"TooManyRequests","message":"The request rate is too high."}"#;

/// A subscription.
pub struct AzureSubscription {
    /// The service.
    double: Arc<AzureDouble>,
    /// Which of the two it is.
    kind: AzureKind,
    /// The zones.
    zones: BTreeMap<ZoneName, AzureZoneId>,
}

impl AzureSubscription {
    /// A subscription with these zones, which are empty; the dice say what is not known of the service for sure.
    pub fn new(zones: &[ZoneName], dice: &mut Numbers) -> AzureSubscription {
        let kind = if dice.below(2) == 0 { AzureKind::Public } else { AzureKind::Private };
        let double = Arc::new(AzureDouble::new(kind, || NOW));
        double.set_rules(|rules| {
            rules.rates = None;
            rules.quotes_etags = dice.below(2) == 0;
            let answers = [GoneAnswer::PreconditionFailed, GoneAnswer::NoContent];
            rules.delete_of_gone = answers[dice.below(2)];
        });
        let created = |zone: &ZoneName| double.create_zone(zone.to_string().trim_end_matches('.'));
        let zones = zones.iter().map(|zone| (zone.clone(), created(zone))).collect();
        AzureSubscription { double, kind, zones }
    }
}

impl CloudService for AzureSubscription {
    fn answer(&self, request: &DoubleRequest) -> DoubleAnswer {
        self.double.answer(request).expect("the network loses, and not the service")
    }

    fn update_of(&self, request: &DoubleRequest) -> Option<CloudUpdate> {
        if request.method == "GET" {
            return None;
        }
        let path = decode_percent(request.path()).unwrap();
        let (rest, name) = path.rsplit_once('/')?;
        let (rest, rtype) = rest.rsplit_once('/')?;
        let (_, zone) = rest.rsplit_once('/')?;
        let (zone, _) = self.zones.iter().find(|(_, id)| id.name == zone)?;
        let (name, rtype): (_, Rtype) = (doubled::parse_name(name, zone), rtype.parse().unwrap());
        let mut instructions = vec![UpdateInstruction::DeleteRrset(name.clone(), rtype)];
        if request.method == "PUT" {
            let rrset = doubled::parse_written(rtype, &request.body);
            let add = |rdata: &Rdata| UpdateInstruction::Add(name.clone(), rtype, rrset.ttl(), rdata.clone());
            instructions.extend(rrset.rdata().iter().map(add));
        }
        Some(CloudUpdate { zone: zone.clone(), instructions })
    }

    fn unguarded(&self, mut request: DoubleRequest) -> DoubleRequest {
        request.headers.retain(|(name, _)| !matches!(name.as_str(), "if-match" | "if-none-match"));
        request
    }

    fn busy(&self) -> DoubleAnswer {
        DoubleAnswer::new(429, "application/json", THROTTLED.as_bytes().to_vec())
    }

    fn put(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype, rrset: Option<&Rrset>) {
        let (id, name) = (&self.zones[zone], doubled::name_text(owner, zone));
        match rrset {
            None => drop(self.double.remove(id, &name, &rtype.to_string())),
            Some(rrset) => {
                let values = rrset.rdata_texts(rtype);
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                let set = AzureRecordSet::new(&name, &rtype.to_string(), rrset.ttl().as_secs(), &values);
                self.double.put(id, set);
            }
        }
    }

    fn held(&self, zone: &ZoneName, owner: NameRef<'_>, rtype: Rtype) -> Option<Rrset> {
        let (name, type_text) = (doubled::name_text(owner, zone), rtype.to_string());
        let mut held = self.double.record_sets(&self.zones[zone]).into_iter();
        let set = held.find(|set| set.name == name && set.rtype == type_text)?;
        let read = |value: &String| Rdata::read(rtype, value, NameRef::ROOT).unwrap();
        Rrset::new(Ttl::from_secs(set.ttl.into()).unwrap(), set.values().iter().map(read).collect())
    }

    fn writer(&self, http: Box<dyn HttpAsker>) -> Box<dyn WriteTarget> {
        doubled::writer(self.kind, http, &self.double.give_token())
    }
}
