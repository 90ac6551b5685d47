//! Namespaces in Cloud Map, read.

use std::collections::BTreeMap;

use super::client::CloudMapClient;
use super::document::{self, CloudMapInstance, CloudMapNamespace, CloudMapService};
use super::held::HeldService;
use super::names::owner_of;
use super::settings::CloudMapSettings;
use super::zones::NamespaceList;
use crate::diag::Problem;
use crate::dns::{Name, Rdata, Rrset, Rtype, Ttl, ZoneContents, ZoneName};
use crate::provider::aws::AwsFault;
use crate::provider::outage::place_of;
use crate::provider::record_sets::{OwnedSet, contents_of};
use crate::target::{OpaqueRecords, ReadTarget, ZoneRead, apexes_of};

/// How often services are listed until two lists agree.
const TRIES: usize = 4;

/// Reads namespaces.
pub struct CloudMapReader {
    /// The service.
    pub client: CloudMapClient,
    /// The settings.
    pub settings: CloudMapSettings,
    /// What people call the target.
    pub place: String,
    /// The namespaces.
    pub namespaces: NamespaceList,
    /// Whether descriptions of services tell who owns them.
    pub has_marks: bool,
}

/// A namespace, read whole.
pub struct CloudMapContents {
    /// What its services are.
    pub contents: ZoneContents,
    /// What of them is no plain RRset.
    pub opaque: Vec<OpaqueRecords>,
    /// How many octets the answers had.
    pub octets: u64,
}

impl CloudMapReader {
    /// The problem of a fault at a zone.
    pub fn problem(&self, zone: &ZoneName, fault: AwsFault) -> Problem {
        fault.at(self.place(zone))
    }

    /// The namespace of a name.
    ///
    /// Errors: it cannot be found, or there is none that is meant.
    pub fn namespace(&self, zone: &ZoneName) -> Result<CloudMapNamespace, Problem> {
        let found = self.namespaces.find(&self.client, &self.settings.namespaces, zone);
        found.map_err(|fault| self.problem(zone, fault))?.ok_or_else(|| {
            let message = "the account has no such namespace in this region";
            let hint = "compare the account of the credentials and `region` with the list of namespaces; make a new one by the tools of AWS";
            Problem::new(self.place(zone), "zone-not-served", message).hint(hint)
        })
    }

    /// Lists the services of a namespace, by their identifiers; `octets` grows by what came.
    ///
    /// Errors: there is no answer.
    pub fn services(
        &self,
        namespace: &CloudMapNamespace,
        octets: &mut u64,
    ) -> Result<BTreeMap<String, CloudMapService>, AwsFault> {
        let mut services = BTreeMap::new();
        let request = |next: Option<&str>| document::list_services(&namespace.id, next);
        self.client.each_page("ListServices", request, document::read_services, |page, size| {
            *octets += size;
            services.extend(page.into_iter().map(|own| (own.id.clone(), own)));
            Ok(())
        })?;
        Ok(services)
    }

    /// Lists the instances of a service.
    ///
    /// Errors: there is no answer.
    pub fn instances(&self, service: &str, octets: &mut u64) -> Result<Vec<CloudMapInstance>, AwsFault> {
        let mut instances = Vec::new();
        let request = |next: Option<&str>| document::list_instances(service, next);
        self.client.each_page("ListInstances", request, document::read_instances, |page, size| {
            *octets += size;
            instances.extend(page);
            Ok(())
        })?;
        Ok(instances)
    }

    /// Reads a namespace whole. There is no snapshot of it: services are listed again behind their instances, and those of which
    /// the list says something else by then are read again, until two lists agree.
    ///
    /// Errors: it cannot be read.
    pub fn read(&self, zone: &ZoneName) -> Result<CloudMapContents, Problem> {
        let namespace = self.namespace(zone)?;
        let read = self.held(&namespace).map_err(|fault| self.problem(zone, fault));
        let (held, octets) = read?;
        let soa = soa_of(&namespace);
        let named: Vec<(Name, &HeldService)> =
            held.values().filter_map(|own| Some((owner_of(&own.service.name, zone)?, own))).collect();
        let sets = named.iter().flat_map(|(owner, own)| -> Vec<OwnedSet<'_>> {
            match own.rrsets() {
                Ok(sets) => sets.into_iter().map(|set| (owner.as_name(), Ok(set))).collect(),
                Err(what) => vec![(owner.as_name(), Err(what))],
            }
        });
        let of_apex = std::iter::once((zone.as_name(), Ok((Rtype::SOA, soa))));
        let made = contents_of(zone, of_apex.chain(sets));
        let (contents, opaque) = made.map_err(|why| self.problem(zone, AwsFault::unusable(why)))?;
        Ok(CloudMapContents { contents, opaque, octets })
    }

    /// Reads all services of a namespace, by their identifiers, with how many octets they came in.
    fn held(&self, namespace: &CloudMapNamespace) -> Result<(BTreeMap<String, HeldService>, u64), AwsFault> {
        let mut octets = 0;
        let mut held: BTreeMap<String, HeldService> = BTreeMap::new();
        let mut listed = self.services(namespace, &mut octets)?;
        for _ in 0..TRIES {
            held.retain(|id, own| listed.get(id) == Some(&own.service));
            for (id, service) in &listed {
                if !held.contains_key(id) {
                    let instances = self.instances(id, &mut octets)?;
                    held.insert(
                        id.clone(),
                        HeldService { service: service.clone(), instances, has_marks: self.has_marks },
                    );
                    self.check_size(&held, octets)?;
                }
            }
            let again = self.services(namespace, &mut octets)?;
            if again == listed {
                return Ok((held, octets));
            }
            listed = again;
        }
        let message = "something else wrote to the namespace each time that it was read".to_owned();
        Err(AwsFault { hint: "try again".to_owned(), ..AwsFault::unusable(message) })
    }

    /// Checks that not too much was read.
    fn check_size(&self, held: &BTreeMap<String, HeldService>, octets: u64) -> Result<(), AwsFault> {
        let limits = self.settings.limits;
        let records: usize = held.values().map(HeldService::records).sum();
        if records as u64 <= limits.records && octets <= limits.octets {
            return Ok(());
        }
        let message = format!("the zone has more than {} records or {} bytes", limits.records, limits.octets);
        let hint = "if the zone is that large, raise `max_records` or `max_size` of the target".to_owned();
        Err(AwsFault { code: "read-limit", hint, ..AwsFault::unusable(message) })
    }
}

/// The TTL of the SOA where the service does not say it.
const SOA_TTL: u32 = 900;

/// The SOA that Route 53 gives the zone of a namespace, but for its name server. Its serial is always 1.
pub fn soa_of(namespace: &CloudMapNamespace) -> Rrset {
    let name = |text: &str| Name::parse(text).expect("a name of ASCII");
    let negative = namespace.soa_ttl.unwrap_or(SOA_TTL);
    let (server, person) = (name("ns.invalid"), name("awsdns-hostmaster.amazon.com"));
    let soa = Rdata::of_soa(server.as_name(), person.as_name(), [1, 7200, 900, 1_209_600, negative]);
    let ttl = Ttl::from_secs(u64::from(SOA_TTL)).expect("a small TTL");
    Rrset::new(ttl, vec![soa]).expect("one record")
}

impl ReadTarget for CloudMapReader {
    fn place(&self, zone: &ZoneName) -> String {
        place_of(&self.place, zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let CloudMapContents { contents, opaque, .. } = self.read(zone)?;
        Ok(ZoneRead { contents, opaque, is_flat: false, inputs: Vec::new(), findings: None })
    }

    fn lacks_zone(&self, zone: &ZoneName) -> bool {
        let all = self.namespaces.all(&self.client, &self.settings.namespaces);
        all.is_ok_and(|all| all.iter().all(|own| own.name.as_name() != zone.as_name()))
    }

    fn find_apexes(&self, names: &[Name]) -> Result<Vec<Option<ZoneName>>, Problem> {
        let all = self.namespaces.all(&self.client, &self.settings.namespaces);
        let all = all.map_err(|fault| fault.at(self.place.clone()))?;
        Ok(apexes_of(names, |above| all.iter().any(|own| own.name == *above)))
    }

    fn list_zones(&self) -> Result<Vec<ZoneName>, Problem> {
        let all = self.namespaces.all(&self.client, &self.settings.namespaces);
        let all = all.map_err(|fault| fault.at(self.place.clone()))?;
        Ok(all.into_iter().map(|own| ZoneName::new(own.name)).collect())
    }
}
