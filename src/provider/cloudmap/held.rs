//! A service with its instances, as the RRsets that they are. Pure.

use std::collections::BTreeMap;

use super::description;
use super::document::{CloudMapInstance, CloudMapService, routing_of};
use super::names::{ATTRIBUTES, attribute_of, parse_value};
use crate::dns::{Rdata, Rrset, RrsetMark, Rtype, Ttl};

/// The RRsets at a name, by their types.
pub type NameSets = BTreeMap<Rtype, Rrset>;

/// A service with its instances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldService {
    /// The service.
    pub service: CloudMapService,
    /// Its instances.
    pub instances: Vec<CloudMapInstance>,
    /// Whether its description tells who owns it.
    pub has_marks: bool,
}

impl HeldService {
    /// Its types, sorted, with their TTLs.
    ///
    /// Errors: what it is instead, as a part of a sentence.
    pub fn types(&self) -> Result<Vec<(Rtype, Ttl)>, String> {
        let words = self.service.types();
        let read = |(word, ttl): &(&str, u64)| {
            let rtype = ATTRIBUTES.iter().map(|(rtype, _)| *rtype).find(|rtype| rtype.to_string() == *word)?;
            Some((rtype, Ttl::from_secs(*ttl)?))
        };
        let types: Option<Vec<(Rtype, Ttl)>> = words.iter().map(read).collect();
        let shown: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        match types {
            _ if words.is_empty() => Err("a service without DNS".to_owned()),
            Some(types) => Ok(types),
            None => Err(format!("a service of the type {}", shown.join(", "))),
        }
    }

    /// The RRsets that it is; none without instances.
    ///
    /// Errors: what it is instead, as a part of a sentence.
    pub fn rrsets(&self) -> Result<NameSets, String> {
        let types = self.types()?;
        if self.service.is_checked() {
            return Err("a service with a health check".to_owned());
        }
        let mark = self.mark()?;
        if self.instances.is_empty() {
            return Ok(NameSets::new());
        }
        let rtypes: Vec<Rtype> = types.iter().map(|(rtype, _)| *rtype).collect();
        let routing = self.service.routing();
        if !routing.is_empty() && routing != routing_of(&rtypes) {
            return Err(format!("a service whose instances are chosen by `{routing}`"));
        }
        if rtypes.contains(&Rtype::CNAME) && self.instances.len() > 1 {
            return Err("a service with several CNAMEs, of which one is answered with".to_owned());
        }
        let mut sets = NameSets::new();
        for (rtype, ttl) in types {
            let values = self.instances.iter().map(|own| value_of(own, &rtypes, rtype)).collect::<Result<_, _>>()?;
            sets.extend(Rrset::new(ttl, values).map(|rrset| (rtype, rrset.marked(mark.clone()))));
        }
        Ok(sets)
    }

    /// Its mark, where its description tells who owns it.
    ///
    /// Errors: what it is instead, as a part of a sentence.
    pub fn mark(&self) -> Result<Option<RrsetMark>, String> {
        if self.has_marks { description::mark(self.service.description.as_deref()) } else { Ok(None) }
    }

    /// Whether it goes with its last instance: its description names this owner, or it has none and zonewright made it.
    pub fn is_own(&self, owner: Option<&str>) -> bool {
        match self.mark() {
            Ok(Some(mark)) => owner == Some(mark.owner.as_str()),
            Ok(None) => self.service.is_made_here(),
            Err(_) => false,
        }
    }

    /// How many records it has, whatever they are.
    pub fn records(&self) -> usize {
        self.instances.len() * self.service.types().len()
    }
}

/// The value of a type that an instance has, whose service has these types.
///
/// Errors: what it is instead, as a part of a sentence.
fn value_of(instance: &CloudMapInstance, rtypes: &[Rtype], rtype: Rtype) -> Result<Rdata, String> {
    let is_known = |word: &String| rtypes.iter().any(|own| attribute_of(*own) == Some(word));
    if let Some(other) = instance.attributes.keys().find(|word| !is_known(word)) {
        return Err(format!("an instance with the attribute `{other}`"));
    }
    let value = attribute_of(rtype).and_then(|word| instance.attributes.get(word));
    let value = value.and_then(|text| parse_value(rtype, text));
    value.ok_or_else(|| format!("an instance without a value for {rtype}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a service is with these members, and instances with these attributes.
    fn read(members: &str, instances: &[&str]) -> Result<String, String> {
        let service = serde_json::from_str(&format!(r#"{{"Id": "srv-1", "Name": "a", {members}}}"#)).unwrap();
        let instance = |text: &&str| serde_json::from_str(&format!(r#"{{"Id": "i", "Attributes": {text}}}"#)).unwrap();
        let instances = instances.iter().map(instance).collect();
        let held = HeldService { service, instances, has_marks: true };
        let shown = |(rtype, rrset): (&Rtype, &Rrset)| {
            format!("{} {rtype} {}", rrset.ttl().as_secs(), rrset.rdata_texts(*rtype).join(" "))
        };
        held.rrsets().map(|sets| sets.iter().map(shown).collect::<Vec<_>>().join(", "))
    }

    /// The members of a service of DNS.
    fn dns(routing: &str, types: &[&str]) -> String {
        let types: Vec<String> = types.iter().map(|rtype| format!(r#"{{"Type": "{rtype}", "TTL": 60}}"#)).collect();
        format!(r#""DnsConfig": {{"RoutingPolicy": "{routing}", "DnsRecords": [{}]}}"#, types.join(", "))
    }

    #[test]
    fn instances_are_the_values_of_rrsets() {
        let both = dns("MULTIVALUE", &["AAAA", "A"]);
        let one = r#"{"AWS_INSTANCE_IPV4": "192.0.2.1", "AWS_INSTANCE_IPV6": "2001:db8::1"}"#;
        let other = r#"{"AWS_INSTANCE_IPV4": "192.0.2.1", "AWS_INSTANCE_IPV6": "2001:0db8::2"}"#;
        let shown = read(&both, &[other, one]).unwrap();
        assert_eq!(shown, "60 A 192.0.2.1, 60 AAAA 2001:db8::1 2001:db8::2");
        assert_eq!(read(&both, &[]).unwrap(), "");
        let cname = dns("WEIGHTED", &["CNAME"]);
        assert_eq!(read(&cname, &[r#"{"AWS_INSTANCE_CNAME": "b.example.org"}"#]).unwrap(), "60 CNAME b.example.org.");
    }

    #[test]
    fn a_service_is_ours_by_its_description_or_by_who_made_it() {
        let (made, us) = (r#""CreatorRequestId": "zonewright-1""#, "heritage=external-dns,external-dns/owner=us");
        let noted = |text: &str| format!(r#""Description": "{text}""#);
        for (members, is_own) in [
            (made.to_owned(), true),
            (r#""CreatorRequestId": "other""#.to_owned(), false),
            (noted(us), true),
            (format!("{made}, {}", noted(us)), true),
            (format!("{made}, {}", noted(&us.replace("=us", "=them"))), false),
            (format!("{made}, {}", noted("the shop")), false),
        ] {
            let service = format!(r#"{{"Id": "srv-1", "Name": "a", {members}}}"#);
            let service = serde_json::from_str(&service).unwrap();
            let held = HeldService { service, instances: Vec::new(), has_marks: true };
            assert_eq!(held.is_own(Some("us")), is_own, "{members}");
        }
    }

    #[test]
    fn what_no_rrset_says_is_opaque() {
        let address = r#"{"AWS_INSTANCE_IPV4": "192.0.2.1"}"#;
        let cname = r#"{"AWS_INSTANCE_CNAME": "b.example.org"}"#;
        let (a, checked) = (dns("MULTIVALUE", &["A"]), r#", "HealthCheckCustomConfig": {"FailureThreshold": 1}"#);
        for (members, instances, what) in [
            (r#""Type": "HTTP""#.to_owned(), vec![], "a service without DNS"),
            (
                format!("{}, \"Description\": \"the shop\"", dns("MULTIVALUE", &["A"])),
                vec![],
                "a service with a description that names no owner",
            ),
            (dns("MULTIVALUE", &["SRV"]), vec![], "a service of the type SRV"),
            (format!("{a}{checked}"), vec![], "a service with a health check"),
            (dns("WEIGHTED", &["A"]), vec![address], "a service whose instances are chosen by `WEIGHTED`"),
            (
                dns("WEIGHTED", &["CNAME"]),
                vec![cname, cname],
                "a service with several CNAMEs, of which one is answered with",
            ),
            (a.clone(), vec![r#"{"AWS_ALIAS_DNS_NAME": "x"}"#], "an instance with the attribute `AWS_ALIAS_DNS_NAME`"),
            (
                a.clone(),
                vec![r#"{"AWS_INSTANCE_IPV4": "192.0.2.1", "team": "x"}"#],
                "an instance with the attribute `team`",
            ),
            (a.clone(), vec!["{}"], "an instance without a value for A"),
            (a, vec![r#"{"AWS_INSTANCE_IPV4": "x"}"#], "an instance without a value for A"),
        ] {
            assert_eq!(read(&members, &instances), Err(what.to_owned()));
        }
    }
}
