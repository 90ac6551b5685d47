//! Which hosts an apply may have changed of which the state knows nothing: it is of an earlier time, as the markers of their zones
//! say, or these cannot be read.

use std::collections::{BTreeMap, BTreeSet};

use crate::apply::CopyAccess;
use crate::dns::{Name, ZoneName};
use crate::live::Apexes;
use crate::pipeline::state::read_marker;
use crate::reading::side_by_side::side_by_side;
use crate::state::KnownMarkers;
use crate::target::{CopyId, TargetId};

/// Those of hosts, by the names that services get. `seen` are the copies whose markers this run has looked at. A zone of which no
/// copy can be read says nothing, and no host is outside of all zones that an apply could have changed.
pub fn hosts(
    hosts: &BTreeSet<String>,
    (copies, seen): (&[CopyAccess<'_>], &BTreeSet<&CopyId>),
    known: &KnownMarkers,
) -> BTreeSet<String> {
    // Copies of one zone are one zone here.
    let zones: BTreeSet<&ZoneName> = copies.iter().map(|access| &access.copy.zone).collect();
    let zones: Vec<&ZoneName> = zones.into_iter().collect();
    let apexes = Apexes::new(zones.iter().copied());
    let mut of_zone: BTreeMap<&ZoneName, Vec<&String>> = BTreeMap::new();
    for host in hosts {
        let zone = Name::parse(host).ok().and_then(|name| apexes.zone_of(name.as_name()));
        if let Some(zone) = zone {
            of_zone.entry(zones[zone.0 as usize]).or_default().push(host);
        }
    }
    let is_asked = |access: &&CopyAccess<'_>| {
        access.is_fenced && of_zone.contains_key(&access.copy.zone) && !seen.contains(&access.copy)
    };
    let asked: Vec<&CopyAccess<'_>> = copies.iter().filter(is_asked).collect();
    let targets: Vec<&TargetId> = asked.iter().map(|access| &access.copy.target).collect();
    let markers = side_by_side(&targets, |place| read_marker(asked[place]));
    let mut read: BTreeSet<&ZoneName> = seen.iter().map(|copy| &copy.zone).collect();
    let mut doubtful: BTreeSet<&ZoneName> = BTreeSet::new();
    for (access, marker) in asked.iter().zip(markers) {
        let Ok(marker) = marker else { continue };
        read.insert(&access.copy.zone);
        if marker.is_some_and(|live| !known.covers(&access.copy, &live)) {
            doubtful.insert(&access.copy.zone);
        }
    }
    doubtful.extend(asked.iter().map(|access| &access.copy.zone).filter(|zone| !read.contains(zone)));
    doubtful.into_iter().flat_map(|zone| &of_zone[zone]).map(|host| (*host).clone()).collect()
}
