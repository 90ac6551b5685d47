//! A PowerDNS as a target: read whole by its API, written by UPDATE.

use std::collections::HashSet;

use super::api::{ApiZone, PowerDnsApi};
use crate::diag::Problem;
use crate::dns::{Name, ZoneName};
use crate::provider::dns_server::primary::Primary;
use crate::provider::dns_server::query::ZonePresence;
use crate::target::{
    Answer, EditSize, Question, ReadTarget, RrsetEdit, UpdateLimits, UpdateZone, WriteTarget, ZoneApex, ZoneRead,
    answers, apexes_of, transfer_is_cheaper,
};

/// Reads zones.
pub struct PowerDnsReader {
    /// The API.
    pub api: PowerDnsApi,
}

impl ReadTarget for PowerDnsReader {
    fn place(&self, zone: &ZoneName) -> String {
        self.api.place(zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let ApiZone { contents, opaque, .. } = self.api.read(zone)?;
        Ok(ZoneRead { contents, opaque, is_flat: false, inputs: Vec::new(), findings: None })
    }

    fn lacks_zone(&self, zone: &ZoneName) -> bool {
        matches!(self.api.find(zone), Ok(None))
    }

    fn find_apexes(&self, names: &[Name]) -> Result<Vec<Option<ZoneName>>, Problem> {
        let zones: HashSet<Name> = self.api.zones()?.into_iter().collect();
        Ok(apexes_of(names, |above| zones.contains(above)))
    }
}

/// Writes zones.
pub struct PowerDnsWriter {
    /// The API.
    pub api: PowerDnsApi,
    /// The server that takes updates.
    pub primary: Primary,
}

impl WriteTarget for PowerDnsWriter {
    fn place(&self, zone: &ZoneName) -> String {
        self.primary.place(zone)
    }

    fn limits(&self) -> UpdateLimits {
        self.primary.limits()
    }

    fn size(&self, zone: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        self.primary.size(zone, edit)
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        let reads_all = rrsets.is_some_and(|rrsets| transfer_is_cheaper(questions.len() as u64, rrsets));
        if !reads_all {
            return self.primary.observe(zone, questions, rrsets);
        }
        let contents = self.api.read(zone)?.contents;
        Ok(questions.iter().map(|question| answers::answer(&contents, question)).collect())
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        self.primary.open(zone)
    }

    fn create_zone(&self, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
        self.api.create(zone, apex, self.primary.key_name())?;
        if self.primary.waits_for(zone, ZonePresence::Present) {
            return Ok(());
        }
        let message = "the API made the zone, but the server does not answer for it";
        Err(Problem::new(self.place(zone), "zone-not-made", message).hint("`server` and `url` must be one PowerDNS"))
    }

    fn delete_zone(&self, zone: &ZoneName) -> Result<(), Problem> {
        self.api.delete(zone)
    }

    fn finish(&self, is_over: &dyn Fn() -> bool) -> Result<(), Problem> {
        self.primary.finish(is_over)
    }
}
