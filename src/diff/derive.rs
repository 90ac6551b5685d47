//! Derives all hosts in parallel, and finds those that need no change.
//!
//! Nearly all hosts of a fleet need none. They are processed some at a time, so that their look-ups stay in the
//! processor's cache, and their derived values are not kept.

use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;

use rayon::prelude::*;

use super::RuleGround;
use super::settled::{HostSights, is_settled};
use crate::desired::host::{self, LookedUp, addresses_v4};
use crate::desired::{DesiredHost, DesiredHosts, InterfaceKind, UsedValues};
use crate::dns::reverse::ReverseName;
use crate::dns::{Name, Rtype};
use crate::inventory::Inventory;
use crate::inventory::by_inv::of_each;
use crate::inventory::model::{Host, LockRow};
use crate::inventory::value::Time;
use crate::live::{Live, NameSpot, PairedRecords};
use crate::names::NameIndex;
use crate::names::holders::{HolderRow, fastbone_of, name_among};

/// How many hosts are processed at a time.
const AT_ONCE: usize = 32;

/// The result of deriving all hosts.
pub struct DerivedHosts {
    /// What was noted of them.
    noted: HostNotes,
    /// The AAAA and PTR records that match each other.
    paired: PairedRecords,
}

/// What is noted of hosts as they are derived.
#[derive(Default)]
struct HostNotes {
    /// The names, MACs and addresses that they use.
    used: UsedValues,
    /// Which of them are settled, as far as their own names and addresses are concerned, in the inventory's order.
    settled: Vec<bool>,
}

impl DerivedHosts {
    /// The AAAA and PTR records that match each other, for more to be noted.
    pub fn paired(&self) -> &PairedRecords {
        &self.paired
    }

    /// What hosts use, and which are settled as far as their own names and addresses are concerned, in the inventory's order.
    pub fn into_noted(self, live: &Live) -> (UsedValues, Vec<bool>) {
        let DerivedHosts { noted: HostNotes { used, settled }, paired } = self;
        live.pair(paired);
        (used, settled)
    }

    /// The same, those that share something with others counted as not settled.
    pub fn finish(self, ground: RuleGround<'_>, names: &NameIndex) -> (UsedValues, Vec<bool>) {
        let (used, mut settled) = self.into_noted(ground.live);
        unsettle_shared(ground, names, &used, &mut settled);
        (used, settled)
    }
}

/// Unsettles the hosts whose names or addresses are also somewhere else in live DNS.
pub fn unsettle_shared(ground: RuleGround<'_>, names: &NameIndex, used: &UsedValues, settled: &mut [bool]) {
    let RuleGround { inventory, live, .. } = ground;
    for (address, place) in used.addresses() {
        if live.may_be_held_unanswered(address) {
            settled[place] = false;
        }
    }
    for name in live.pointed_to_in_vain() {
        for holder in names.holders(inventory, name) {
            if let HolderRow::Host(place) = holder.by {
                settled[place as usize] = false;
            }
        }
    }
}

/// Derives every host, and keeps those that are not settled.
pub fn all(ground: RuleGround<'_>, desired: &DesiredHosts<'_>) -> DerivedHosts {
    let RuleGround { inventory, live, .. } = ground;
    let paired = PairedRecords::none(live);
    let chunks = inventory.hosts.par_chunks(AT_ONCE).enumerate();
    let parts = chunks.fold(HostNotes::default, |mut noted, (number, hosts)| {
        let first = number * AT_ONCE;
        some(ground, desired, first..first + hosts.len(), &paired, &mut noted);
        noted
    });
    let join = |mut all: HostNotes, mut more: HostNotes| {
        all.used.append(more.used);
        all.settled.append(&mut more.settled);
        all
    };
    DerivedHosts { noted: parts.reduce(HostNotes::default, join), paired }
}

/// Derives one host again, and notes what it uses; gives whether it is settled.
pub fn again(
    ground: RuleGround<'_>,
    desired: &DesiredHosts<'_>,
    place: usize,
    paired: &PairedRecords,
    used: &mut UsedValues,
) -> bool {
    let mut noted = HostNotes { used: std::mem::take(used), settled: Vec::new() };
    some(ground, desired, place..place + 1, paired, &mut noted);
    *used = noted.used;
    noted.settled == [true]
}

/// Derives every host, in the inventory's order, and keeps them all.
pub fn whole(inventory: &Inventory, live: &Live, now: Time) -> Vec<DesiredHost> {
    inventory.hosts.par_iter().map(|host| host::derive(inventory, live, host, now)).collect()
}

/// Derives the hosts at some places, and keeps those that are not settled; notes what they use,
/// and which of them are settled.
fn some(
    ground: RuleGround<'_>,
    desired: &DesiredHosts<'_>,
    places: Range<usize>,
    paired: &PairedRecords,
    noted: &mut HostNotes,
) {
    let RuleGround { inventory, live, .. } = ground;
    let first = places.start;
    let hosts = &inventory.hosts[places];
    let rows: Vec<&[LockRow]> = of_each(&inventory.lock, |row| row.inv, hosts).collect();
    let (fastbones, at_names) = look_up_names(ground, hosts, &rows);
    let reports = of_each(&inventory.reports, |report| report.inv, hosts);
    let looked_up = rows.into_iter().zip(reports).zip(fastbones);
    let looked_up = looked_up.map(|((rows, reports), fastbone)| LookedUp { rows, reports, fastbone });
    let derive = |((place, looked_up), at_names): ((usize, LookedUp<'_>), &[Option<NameSpot>; 2])| {
        let own_a = |kind: InterfaceKind, name: &Name| own_a(live, name, at_names[kind as usize].as_ref());
        desired.derive_by(place, looked_up, &own_a)
    };
    let derived: Vec<DesiredHost> = (first..).zip(looked_up).zip(&at_names).map(derive).collect();
    let at_reverse = look_up_reverse(live, &derived);
    let mut reverse = at_reverse.as_slice();
    let mut open = Vec::new();
    for (number, derived) in derived.iter().enumerate() {
        let host = &hosts[number];
        noted.used.note(first + number, host, derived);
        let count = derived.interfaces.iter().map(|own| own.acceptable.len()).sum();
        let (own, others) = reverse.split_at(count);
        reverse = others;
        let sights = HostSights { names: &at_names[number], reverse: own };
        let is_settled = is_settled(ground, host, derived, sights, paired);
        if !is_settled {
            open.push(number);
        }
        noted.settled.push(is_settled);
    }
    // Nearly always there are none, and no host has to be moved.
    if !open.is_empty() {
        let mut open = open.into_iter().peekable();
        for (number, derived) in derived.into_iter().enumerate() {
            if open.next_if_eq(&number).is_some() {
                desired.keep(first + number, derived);
            }
        }
    }
}

/// Makes the names of the fastbones of hosts, and looks up all their names, backbone and fastbone.
fn look_up_names(
    RuleGround { inventory, live, .. }: RuleGround<'_>,
    hosts: &[Host],
    rows: &[&[LockRow]],
) -> (Vec<Option<Name>>, Vec<[Option<NameSpot>; 2]>) {
    let named = hosts.iter().zip(rows).map(|(host, rows)| name_among(rows, host));
    let names: Vec<Option<&Name>> = named.map(|named| named.map(|(name, _)| name)).collect();
    let fastbone =
        |(host, name): (&Host, &Option<&Name>)| fastbone_of(inventory, host.project, name.as_ref()?.as_name());
    let fastbones: Vec<Option<Name>> = hosts.iter().zip(&names).map(fastbone).collect();
    let both = names.iter().zip(&fastbones).map(|(name, fastbone)| [*name, fastbone.as_ref()]);
    let both: Vec<[Option<&Name>; 2]> = both.collect();
    let mut spots = live.look_up(both.iter().flatten().flatten().map(|name| name.as_name())).into_iter();
    let spots = both.into_iter().map(|both| both.map(|name| name.and_then(|_| spots.next().flatten()))).collect();
    (fastbones, spots)
}

/// Looks up the reverse names of the acceptable addresses of hosts, interface by interface.
fn look_up_reverse(live: &Live, hosts: &[DesiredHost]) -> Vec<Option<NameSpot>> {
    let interfaces = hosts.iter().flat_map(|host| &host.interfaces);
    let addresses = interfaces.flat_map(|own| own.acceptable.iter().map(|(address, _)| IpAddr::V6(*address)));
    let names: Vec<ReverseName> = addresses.map(ReverseName::of).collect();
    live.look_up(names.iter().map(ReverseName::as_name))
}

/// The A records at a name, which may have been found already, in numeric order; none where its zone could not be read.
fn own_a(live: &Live, name: &Name, spot: Option<&NameSpot>) -> Option<Vec<Ipv4Addr>> {
    let Some(spot) = spot else { return host::live_a(live, name) };
    let rrset = live.at(spot).find(|rrset| rrset.rtype() == Rtype::A);
    Some(rrset.map(addresses_v4).unwrap_or_default())
}
