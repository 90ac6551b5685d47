//! What is found of all hosts before any of them is judged: who has which name, who uses which address, and who needs no change.
//!
//! Comes in: the inventory and live DNS; or the survey of a moment before, and what has moved since. Goes out: the survey. Nearly
//! all hosts are as they were a moment ago: only those that something of what moved may concern are derived again.

use foldhash::HashSet;

use super::context::RuleGround;
use super::{carry, derive};
use crate::desired::{DesiredHosts, UsedValues};
use crate::inventory::moves::HostMoves;
use crate::inventory::symbol::Symbol;
use crate::inventory::value::Time;
use crate::live::{ComparedViews, Live, PairedRecords};
use crate::names::holders::name_of;
use crate::names::{ForeseenNames, NameIndex};

/// What is found of all hosts.
#[derive(Debug, Clone)]
pub struct FleetSurvey {
    /// Which host holds which name.
    pub names: NameIndex,
    /// What `allocate` would give to hosts without a name.
    pub foreseen: ForeseenNames,
    /// The names, MACs and addresses that hosts use.
    pub used: UsedValues,
    /// Whether live DNS already holds all that a host needs, in the inventory's order.
    pub settled: Vec<bool>,
    /// The same, as far as the host's own names and addresses are concerned.
    settled_alone: Vec<bool>,
}

/// What was found of all hosts a moment before.
#[derive(Debug)]
pub struct EarlierSurvey {
    /// Live DNS as it was.
    pub live: Live,
    /// What was found.
    pub survey: FleetSurvey,
    /// The hosts that have other rows since.
    pub moves: HostMoves,
    /// The switches that were in an L3 segment by accepted exports alone.
    pub former: HashSet<Symbol>,
}

impl FleetSurvey {
    /// Looks at all hosts. `note` may note more of the records that match each other, before all others are looked for.
    pub fn of(
        ground: RuleGround<'_>,
        desired: &DesiredHosts<'_>,
        now: Time,
        note: impl FnOnce(&PairedRecords),
    ) -> FleetSurvey {
        let RuleGround { inventory, live, .. } = ground;
        let index = || rayon::join(|| NameIndex::new(inventory), || ForeseenNames::find(inventory, live, now));
        let ((names, foreseen), derived) = rayon::join(index, || derive::all(ground, desired));
        note(derived.paired());
        let (used, settled_alone) = derived.into_noted(live);
        FleetSurvey::finish(ground, FleetSurvey { names, foreseen, used, settled: Vec::new(), settled_alone })
    }

    /// Finds who is settled, once all records are known that match each other.
    fn finish(ground: RuleGround<'_>, found: FleetSurvey) -> FleetSurvey {
        let mut settled = found.settled_alone.clone();
        derive::unsettle_shared(ground, &found.names, &found.used, &mut settled);
        FleetSurvey { settled, ..found }
    }
}

impl EarlierSurvey {
    /// The survey of now. Of the inventory nothing but the rows of some hosts has moved between the two, and the clock makes nothing
    /// else of it.
    ///
    /// None where any host may be concerned: zones hide other names now, the state has other switches, or a bad project file hides which
    /// names hosts have.
    pub fn carry(self, ground: RuleGround<'_>, now: Time) -> Option<FleetSurvey> {
        let EarlierSurvey { live: was, survey, moves, former } = self;
        let is_same = ground.inventory.tors.former == former;
        is_same.then(|| survey.carry((&was, &moves), ground, now)).flatten()
    }
}

impl FleetSurvey {
    /// The survey of another moment or inventory: some hosts have other rows, and live DNS was `was`. The inventories differ in nothing
    /// else.
    ///
    /// None where any host may be concerned.
    pub fn carry(self, (was, moves): (&Live, &HostMoves), ground: RuleGround<'_>, now: Time) -> Option<FleetSurvey> {
        let RuleGround { inventory, live, .. } = ground;
        let compared = ComparedViews::of(was, live);
        if !compared.is_alike_in_structure {
            return None;
        }
        let FleetSurvey { names, foreseen, mut used, settled_alone, .. } = self;
        let names = names.carry(inventory, moves)?;
        let paired = PairedRecords::carried(&compared);
        // The records of a host with other rows may be of no host now.
        let of_moved = used.addresses().filter(|(_, place)| moves.place(*place).is_none());
        of_moved.for_each(|(address, _)| paired.forget(live, address));
        used.carry(moves);
        let mut settled_alone = moves.carry(settled_alone, &false);
        let mut places = carry::concerned(inventory, (&names, &used), &compared);
        places.extend(moves.places());
        // One that was not settled may be so now.
        places.extend((0..settled_alone.len()).filter(|place| !settled_alone[*place]));
        places.sort_unstable();
        places.dedup();
        // Those that are in order are noted again.
        let of_concerned = used.addresses().filter(|(_, place)| places.binary_search(place).is_ok());
        of_concerned.for_each(|(address, _)| paired.forget(live, address));
        used.forget(&places);
        let desired = DesiredHosts::new(inventory, live, now);
        for place in places {
            settled_alone[place] = derive::again(ground, &desired, place, &paired, &mut used);
        }
        live.pair(paired);
        // What is free for hosts without a name depends on all names that are live.
        let is_named = |place: usize| name_of(inventory, &inventory.hosts[place]).is_some();
        let foreseen = if foreseen.is_of_none() && moves.places().all(is_named) {
            foreseen
        } else {
            ForeseenNames::find(inventory, live, now)
        };
        let found = FleetSurvey { names, foreseen, used, settled: Vec::new(), settled_alone };
        Some(FleetSurvey::finish(ground, found))
    }
}
