//! Zones in etcd, read.

use super::client::{EtcdClient, EtcdFault, KeysRead};
use super::json::{Operation, Transaction};
use super::keys::ZoneKeys;
use super::layout::EtcdLayout;
use super::service::KeyOwners;
use super::settings::EtcdSettings;
use crate::diag::Problem;
use crate::dns::{ZoneContents, ZoneName};
use crate::provider::outage::place_of;
use crate::target::{OpaqueRecords, ReadTarget, ZoneRead};

/// Reads zones.
pub struct EtcdReader {
    /// The etcd.
    pub client: EtcdClient,
    /// The settings.
    pub settings: EtcdSettings,
    /// Whether the owners of keys are the marks of their RRsets.
    pub has_marks: bool,
}

/// A zone, read whole.
pub struct EtcdZone {
    /// Its keys.
    pub keys: ZoneKeys,
    /// What they are.
    pub contents: ZoneContents,
    /// What of them is no plain RRset.
    pub opaque: Vec<OpaqueRecords>,
    /// How many octets the answers had.
    pub octets: u64,
}

impl EtcdReader {
    /// What the owners of keys mean.
    pub fn owners(&self) -> KeyOwners<'_> {
        if self.has_marks { KeyOwners::Marks } else { KeyOwners::Ours(self.settings.owner.as_deref()) }
    }

    /// Where the keys of a zone are.
    ///
    /// Errors: the zone has a label of which CoreDNS makes something else.
    pub fn layout(&self, zone: &ZoneName) -> Result<EtcdLayout, Problem> {
        EtcdLayout::new(&self.settings.prefix, zone).ok_or_else(|| {
            let message =
                "the zone has a label that CoreDNS reads as something else, such as `any`, or one with a slash";
            Problem::new(self.place(zone), "zone-not-served", message).hint("give the zone to a pool of another type")
        })
    }

    /// The problem of a fault at a zone.
    pub fn problem(&self, zone: &ZoneName, fault: EtcdFault) -> Problem {
        fault.at(self.place(zone))
    }

    /// Reads a zone whole, at one revision.
    ///
    /// Errors: it cannot be read; no key is below its path, and zonewright did not make it.
    pub fn read(&self, zone: &ZoneName) -> Result<EtcdZone, Problem> {
        let (layout, limits) = (self.layout(zone)?, self.settings.limits);
        let most = (limits.records, limits.octets);
        let read = |range, at| self.client.read(&range, at, most).map_err(|fault| self.problem(zone, fault));
        let KeysRead { mut keys, revision, octets } = read(layout.range(), None)?;
        let mut own = read(layout.own_keys(), Some(revision))?;
        let of_zone = [layout.marker(), layout.made()];
        own.keys.retain(|key| of_zone.contains(&key.key));
        if keys.is_empty() && own.keys.is_empty() {
            let message = format!("there is no key below `{}`", layout.range().from);
            return Err(Problem::new(self.place(zone), "zone-not-served", message)
                .hint("compare `prefix` with that of CoreDNS; a new zone needs `create = true` in its `[[zone]]`"));
        }
        keys.extend(own.keys);
        let keys = ZoneKeys::read(&layout, keys, revision, self.owners());
        let (contents, opaque) = keys
            .contents(zone)
            .map_err(|error| self.problem(zone, EtcdFault::unusable(format!("its keys make no zone: {error}"))))?;
        Ok(EtcdZone { keys, contents, opaque, octets: octets + own.octets })
    }

    /// Whether etcd has no key of a zone.
    fn lacks(&self, zone: &ZoneName) -> Result<bool, EtcdFault> {
        let Some(layout) = EtcdLayout::new(&self.settings.prefix, zone) else { return Ok(false) };
        let operations = vec![Operation::Get(layout.marker()), Operation::Get(layout.made())];
        let own = self.client.look(&Transaction { comparisons: Vec::new(), operations })?;
        Ok(own.keys.is_empty() && !self.client.has_any(&layout.range())?)
    }
}

impl ReadTarget for EtcdReader {
    fn place(&self, zone: &ZoneName) -> String {
        place_of(&self.client.place(), zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        let EtcdZone { contents, opaque, .. } = self.read(zone)?;
        Ok(ZoneRead { contents, opaque, is_flat: self.is_flat(), inputs: Vec::new(), findings: None })
    }

    fn is_flat(&self) -> bool {
        true
    }

    fn lacks_zone(&self, zone: &ZoneName) -> bool {
        matches!(self.lacks(zone), Ok(true))
    }
}
