//! Zones in Azure DNS, read.

use std::collections::BTreeMap;

use super::client::{AzureClient, AzureFault, AzureFaultKind, AzureQuestion};
use super::document::{self, AzureSet, AzureZone};
use super::names::relative_text;
use super::settings::AzureSettings;
use super::zones::{AzureZones, each_page};
use crate::diag::Problem;
use crate::dns::{Name, NameRef, Rtype, ZoneContents, ZoneName};
use crate::http::HttpMethod;
use crate::provider::outage::place_of;
use crate::provider::record_sets::contents_of;
use crate::provider::url::encode_segment;
use crate::target::{OpaqueRecords, ReadTarget, ZoneRead, apexes_of};

/// How many record sets a page has.
pub const PAGE: u64 = 100;

/// How many octets one record set may have, by far.
const MAX_SET: u64 = 1 << 20;

/// Reads zones.
pub struct AzureReader {
    /// The service.
    pub client: AzureClient,
    /// The settings.
    pub settings: AzureSettings,
    /// What people call the target.
    pub place: String,
    /// The zones.
    pub zones: AzureZones,
    /// Whether marks of record sets tell who owns them.
    pub has_marks: bool,
}

/// The record sets of a zone, by their names and types.
pub type AzureSets = BTreeMap<(Name, String), AzureSet>;

/// A zone, read whole.
pub struct AzureContents {
    /// Its record sets.
    pub sets: AzureSets,
    /// What they are.
    pub contents: ZoneContents,
    /// What of them is no plain RRset.
    pub opaque: Vec<OpaqueRecords>,
    /// How many octets the answers had.
    pub octets: u64,
}

impl AzureReader {
    /// The problem of a fault at a zone.
    pub fn problem(&self, zone: &ZoneName, fault: AzureFault) -> Problem {
        fault.at(self.place(zone))
    }

    /// The zone of a name.
    ///
    /// Errors: it cannot be found, or there is none that is meant.
    pub fn hosted(&self, zone: &ZoneName) -> Result<AzureZone, Problem> {
        let found = self.zones.find(&self.client, zone).map_err(|fault| self.problem(zone, fault))?;
        found.ok_or_else(|| {
            let message = match &self.zones.group {
                Some(group) => format!("the resource group `{group}` has no such zone"),
                None => "the subscription has no such zone that the credentials may see".to_owned(),
            };
            let hint = "compare `subscription_id`, `resource_group`, `type` (`azure` or `azure-private`) and the role of who asks with the list of zones";
            Problem::new(self.place(zone), "zone-not-served", message).hint(hint)
        })
    }

    /// The path of a record set.
    pub fn path_of(&self, hosted: &AzureZone, zone: &ZoneName, (owner, rtype): (NameRef<'_>, Rtype)) -> String {
        let name = encode_segment(&relative_text(owner, zone));
        format!("{}/{rtype}/{name}", self.zones.path_of(&self.client, hosted))
    }

    /// Reads one record set; none where it is not there.
    ///
    /// Errors: there is no answer.
    pub fn set_at(
        &self,
        hosted: &AzureZone,
        zone: &ZoneName,
        key: (NameRef<'_>, Rtype),
    ) -> Result<Option<AzureSet>, AzureFault> {
        let path = self.path_of(hosted, zone, key);
        let question =
            AzureQuestion { method: HttpMethod::Get, target: &path, condition: None, content: "", max: MAX_SET };
        match self.client.ask(&question) {
            Ok(done) => document::read_set(zone, &done.content, self.has_marks).map(Some).map_err(AzureFault::unusable),
            Err(fault) if fault.kind == AzureFaultKind::Missing => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Reads a zone whole. Its pages are no snapshot: what others write meanwhile is compared when it is written.
    ///
    /// Errors: it cannot be read.
    pub fn read(&self, zone: &ZoneName) -> Result<AzureContents, Problem> {
        let hosted = self.hosted(zone)?;
        let read = self.read_sets(&hosted, zone).map_err(|fault| self.problem(zone, fault));
        let (sets, octets) = read?;
        let unusable = |why: String| self.problem(zone, AzureFault::unusable(why));
        let owned = sets.values().map(|set| (set.owner.as_name(), set.rrset.clone()));
        let (contents, opaque) = contents_of(zone, owned).map_err(unusable)?;
        Ok(AzureContents { sets, contents, opaque, octets })
    }

    /// Reads all record sets, with how many octets they came in.
    pub fn read_sets(&self, hosted: &AzureZone, zone: &ZoneName) -> Result<(AzureSets, u64), AzureFault> {
        let path = format!("{}/{}", self.zones.path_of(&self.client, hosted), self.client.kind.sets());
        let limits = self.settings.limits;
        let (mut sets, mut octets, mut records) = (AzureSets::new(), 0, 0);
        let read = |content: &[u8]| document::read_sets(zone, content, self.has_marks);
        each_page(&self.client, path, limits.octets, read, |page, size| {
            octets += size;
            records += page.iter().map(|set| set.records.max(1) as u64).sum::<u64>();
            sets.extend(page.into_iter().map(|set| ((set.owner.clone(), set.rtype.clone()), set)));
            if records <= limits.records && octets <= limits.octets {
                return Ok(());
            }
            let message = format!("the zone has more than {} records or {} bytes", limits.records, limits.octets);
            let hint = "if the zone is that large, raise `max_records` or `max_size` of the target".to_owned();
            Err(AzureFault { code: "read-limit", hint, ..AzureFault::unusable(message) })
        })?;
        Ok((sets, octets))
    }
}

impl ReadTarget for AzureReader {
    fn place(&self, zone: &ZoneName) -> String {
        place_of(&self.place, zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let AzureContents { contents, opaque, .. } = self.read(zone)?;
        Ok(ZoneRead { contents, opaque, is_flat: false, inputs: Vec::new(), findings: None })
    }

    fn lacks_zone(&self, zone: &ZoneName) -> bool {
        matches!(self.zones.find(&self.client, zone), Ok(None))
    }

    fn find_apexes(&self, names: &[Name]) -> Result<Vec<Option<ZoneName>>, Problem> {
        let zones = self.zones.all(&self.client).map_err(|fault| fault.at(self.place.clone()))?;
        Ok(apexes_of(names, |above| zones.iter().any(|zone| zone.name == *above)))
    }

    fn list_zones(&self) -> Result<Vec<ZoneName>, Problem> {
        let zones = self.zones.all(&self.client).map_err(|fault| fault.at(self.place.clone()))?;
        Ok(zones.into_iter().map(|zone| ZoneName::new(zone.name)).collect())
    }
}
