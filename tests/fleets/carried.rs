//! What a copy of a zone is known to hold in order because the reference has it so: a look at the whole copy says the same.

use std::sync::Arc;

use zonewright::desired::DesiredHosts;
use zonewright::diff::{RuleContext, RuleGround, carry, derive};
use zonewright::dns::{Rdata, RrsetRef, Rtype, Ttl, ZoneBuilder, ZoneContents};
use zonewright::live::{ComparedViews, Live, LiveZone};

use super::copies::Dice;
use super::on_fleets;
use super::shortcuts::{compare_look_ups, decide_all, now, read};

/// How many copies are made of each fleet's zones.
const COPIES: u64 = 6;

/// What is done to RRsets of a copy.
pub struct RandomDamage<'l> {
    /// One of how many RRsets is changed.
    pub one_of: u64,
    /// The AAAA and PTR of all zones: values to take from one to another.
    pub values: &'l [(Rtype, Rdata)],
    /// Whether delegations and DNAME may be added, too.
    pub is_structural: bool,
}

impl RandomDamage<'_> {
    /// A copy of a zone, with some of its RRsets changed.
    fn copy(&self, contents: &ZoneContents, dice: &mut Dice) -> ZoneContents {
        let mut builder = ZoneBuilder::new(contents.apex().clone());
        for rrset in contents.rrsets() {
            let is_meant = rrset.rtype() != Rtype::SOA && dice.below(self.one_of) == 0;
            match dice.below(7) {
                0 if is_meant => {}
                1 if is_meant => push(&mut builder, rrset, Ttl::from_wire(77)),
                2 | 3 if is_meant => {
                    if let Some(value) = self.value(rrset.rtype(), dice) {
                        let owner = rrset.owner();
                        let ttl = rrset.ttl();
                        builder.push(owner.as_name(), rrset.rtype(), ttl, value.as_octets()).expect("a record");
                    }
                }
                4 if is_meant => {
                    push(&mut builder, rrset, rrset.ttl());
                    self.add(&mut builder, rrset, dice);
                }
                _ => push(&mut builder, rrset, rrset.ttl()),
            }
        }
        builder.finish().expect("a zone with its SOA")
    }

    /// Adds a value to an RRset, or another RRset at its name.
    fn add(&self, builder: &mut ZoneBuilder, rrset: RrsetRef<'_>, dice: &mut Dice) {
        let owner = rrset.owner();
        let is_apex = owner.as_name() == builder.apex().as_name();
        let is_structural = self.is_structural && !is_apex;
        let rtype = match dice.below(5) {
            0 => Rtype::AAAA,
            1 => Rtype::PTR,
            2 if is_structural => Rtype::NS,
            3 if is_structural => Rtype::DNAME,
            4 if is_apex => Rtype::NS,
            _ => rrset.rtype(),
        };
        let of_type = match rtype {
            Rtype::NS | Rtype::DNAME => Rtype::PTR,
            other => other,
        };
        if let Some(value) = self.value(of_type, dice) {
            builder.push(owner.as_name(), rtype, rrset.ttl(), value.as_octets()).expect("a record");
        }
    }

    /// A value of a type from anywhere in the zones.
    fn value(&self, rtype: Rtype, dice: &mut Dice) -> Option<&Rdata> {
        let of_type: Vec<&Rdata> =
            self.values.iter().filter(|(own, _)| *own == rtype).map(|(_, value)| value).collect();
        if of_type.is_empty() { None } else { Some(of_type[dice.below(of_type.len() as u64) as usize]) }
    }
}

/// Takes an RRset into a copy, with a TTL.
fn push(builder: &mut ZoneBuilder, rrset: RrsetRef<'_>, ttl: Ttl) {
    let owner = rrset.owner();
    for rdata in rrset.rdata() {
        builder.push(owner.as_name(), rrset.rtype(), ttl, rdata.octets).expect("a record of a zone");
    }
}

/// A view of DNS with damaged copies of about half of the zones; made twice alike by the same seed.
pub fn view(live: &Live, damage: &RandomDamage<'_>, seed: u64) -> Live {
    let mut dice = Dice(seed);
    let known = live.zones().filter_map(|(zone, known)| Some((zone, known.contents()?)));
    let mut copies = Vec::new();
    for (zone, contents) in known {
        if dice.below(2) == 0 {
            copies.push((zone, Arc::new(LiveZone::known(damage.copy(contents, &mut dice)))));
        }
    }
    live.with_copies(copies)
}

/// Compares, for one copy, what is carried over from the reference with what a look at all hosts finds. Returns how many
/// hosts are settled by the first, and by the second.
fn compare(context: &RuleContext<'_>, damage: &RandomDamage<'_>, seed: u64) -> (usize, usize) {
    let copy = view(context.live, damage, seed);
    let compared = ComparedViews::of(context.live, &copy);
    let desired = DesiredHosts::new(context.inventory, &copy, context.now);
    let carried = carry::settled_there(context, &compared, &desired);
    compare_look_ups(&copy, seed);
    let whole = view(context.live, damage, seed);
    let desired = DesiredHosts::new(context.inventory, &whole, context.now);
    let ground = RuleGround { live: &whole, ..context.ground() };
    let (_, settled) = derive::all(ground, &desired).finish(ground, context.names);
    for (place, (carried, settled)) in carried.iter().zip(&settled).enumerate() {
        assert!(!carried || *settled, "copy {seed}: {:?} is not settled", context.inventory.hosts[place].inv);
    }
    let count = |settled: &[bool]| settled.iter().filter(|is_settled| **is_settled).count();
    (count(&carried), count(&settled))
}

#[test]
fn a_copy_is_in_order_where_the_reference_is_and_nothing_differs() {
    let mut counts = (0, 0);
    on_fleets(|seed, fleet| {
        let Some((inventory, live)) = read(fleet, now()) else { return };
        let found = [Rtype::AAAA, Rtype::PTR].into_iter().flat_map(|rtype| live.rrsets_of(rtype));
        let values: Vec<(Rtype, Rdata)> = found
            .flat_map(|found| found.rrset.rdata().map(|rdata| (rdata.rtype, rdata.to_rdata())).collect::<Vec<_>>())
            .collect();
        decide_all(&inventory, &live, |context, _, _| {
            for copy in 0..COPIES {
                let damage = RandomDamage { one_of: 5 + 20 * copy, values: &values, is_structural: copy % 3 == 2 };
                let (carried, settled) = compare(context, &damage, seed * COPIES + copy);
                counts = (counts.0 + carried, counts.1 + settled);
            }
        });
    });
    // Without Python there are no fleets, which is reported.
    assert!(crate::support::python().is_none() || counts.0 > 1000, "{counts:?} hosts are settled");
    eprintln!("{} hosts of copies are settled, by a whole look {}", counts.0, counts.1);
}
