//! How DNS as it is seen from one target differs from the reference. Pure.

use std::sync::Arc;

use foldhash::HashMap;
use rayon::prelude::*;

use super::{Live, LiveZone, ZoneIndex};
use crate::dns::{Name, ZoneComparison};

/// Two views of DNS, compared zone by zone.
#[derive(Debug)]
pub struct ComparedViews<'l> {
    /// The reference.
    pub reference: &'l Live,
    /// The other view.
    pub view: &'l Live,
    /// The zones whose copies the views do not share and that both know, in the order of the settings.
    pub zones: Vec<ComparedZone<'l>>,
    /// Whether the views know the same zones, and hide the same names in them.
    pub is_alike_in_structure: bool,
}

/// The two copies of one zone, compared.
#[derive(Debug)]
pub struct ComparedZone<'l> {
    /// The zone.
    pub zone: ZoneIndex,
    /// What they have alike, and what not; the reference comes first.
    pub compared: ZoneComparison<'l>,
}

impl<'l> ComparedViews<'l> {
    /// Compares a view with the reference.
    pub fn of(reference: &'l Live, view: &'l Live) -> ComparedViews<'l> {
        let zones: Vec<ZoneIndex> = reference.zones().map(|(zone, _)| zone).collect();
        let of_zone = |zone: &ZoneIndex| {
            let (one, other) = (reference.zone(*zone), view.zone(*zone));
            let (one, other) = (one.contents()?, other.contents().filter(|_| !is_shared(reference, view, *zone))?);
            Some(ComparedZone { zone: *zone, compared: ZoneComparison::of(one, other) })
        };
        let is_alike = |zone: &ZoneIndex| has_structure_of(reference.zone(*zone), view.zone(*zone));
        let is_alike_in_structure = zones.iter().all(is_alike);
        ComparedViews { reference, view, zones: zones.par_iter().filter_map(of_zone).collect(), is_alike_in_structure }
    }

    /// The names at which a name server is in one view alone.
    pub fn differing_name_servers(&self) -> impl Iterator<Item = &'l Name> {
        let (one, other) = (&self.reference.name_servers, &self.view.name_servers);
        let only = |here: &'l HashMap<Name, Name>, there: &'l HashMap<Name, Name>| {
            here.keys().filter(|name| !there.contains_key(*name))
        };
        only(one, other).chain(only(other, one))
    }
}

/// Whether two views have the same copy of a zone.
pub fn is_shared(one: &Live, other: &Live, zone: ZoneIndex) -> bool {
    Arc::ptr_eq(&one.zones[zone.0 as usize], &other.zones[zone.0 as usize])
}

/// Whether two copies of a zone are both known whole, or both not known for the same reason, and hide the same names.
fn has_structure_of(one: &LiveZone, other: &LiveZone) -> bool {
    let is_whole = |zone: &LiveZone| zone.knowledge().is_none();
    std::ptr::eq(one, other)
        || (is_whole(one) && is_whole(other) && one.absence() == other.absence() && one.hides_as(other))
}
