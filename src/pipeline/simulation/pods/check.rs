//! What must hold at every instant, by the truth alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::sets::TrueEndpoint;
use super::world::{Excuse, NAME_SERVERS, Pair, Place, Row, World, addresses, targets};
use crate::dns::reverse::ReverseName;
use crate::dns::{Name, NameRef, Rrset, Rtype};
use crate::inventory::pods::PodState;
use crate::inventory::value::Duration;
use crate::provider::memory::zone::MemoryZone;

/// Whether more pods than the budget may not be unreachable by an SRV, either: a pod whose name has settled frees its place
/// in the budget, although the SRV of its set still lists it where it was.
static COUNTS_SRV: LazyLock<bool> = LazyLock::new(|| std::env::var("POD_COUNTS_SRV").is_ok());

/// How long caches hold that a name is not there, in seconds: the zones say so.
const NEGATIVE: u64 = 300;

/// An SRV, and the name server that is asked for its targets.
struct SrvView<'v> {
    /// Its name.
    name: &'v Name,
    /// The endpoint.
    endpoint: &'v TrueEndpoint,
    /// The location whose pods it lists; none where it lists those of all.
    location: Option<&'static str>,
    /// The name server.
    name_server: usize,
}

impl World {
    /// Checks all of it; an error is what does not hold.
    pub fn check(&self, forward: &MemoryZone) -> Result<(), String> {
        self.has_foreign()?;
        self.names_are_right(forward)?;
        self.pointers_are_right()?;
        for set in 0..self.sets.len() {
            self.keeps_budget(set)?;
            self.srv_lead_somewhere(set, forward)?;
        }
        self.pairs.iter().filter(|pair| !pair.is_over).try_for_each(|pair| self.pair_is_reached(pair))
    }

    /// The pods of a set that some client may not reach because of what was written.
    pub fn unreachable(&self, set: usize) -> BTreeSet<usize> {
        let is_ours = |pod: &usize| {
            let own = &self.pods[*pod];
            let is_counted = own.set == set && own.row.as_ref().is_some_and(|row| row.is_enabled);
            is_counted && own.excuse == Excuse::None && !own.homes.is_empty() && self.is_counted(*pod)
        };
        (0..self.pods.len()).filter(is_ours).collect()
    }

    /// Names of placements have just their addresses, and no pod loses its constant name.
    fn names_are_right(&self, forward: &MemoryZone) -> Result<(), String> {
        for (name, (_, place)) in &self.placements {
            let live = addresses(forward, name);
            if !live.is_empty() && live != place.asked() {
                return Err(format!("{name} has {live:?}, which are not the addresses of its placement"));
            }
        }
        for (number, pod) in self.pods.iter().enumerate() {
            let is_there = pod.row.is_some() && self.exported_of(number).is_some();
            if is_there && pod.written.is_empty() && pod.changed > 0 {
                return Err(format!("{} lost its constant name", pod.id));
            }
        }
        Ok(())
    }

    /// A PTR points to the name of a placement with its address.
    fn pointers_are_right(&self) -> Result<(), String> {
        let of_zone = |zone: &MemoryZone| {
            let pointers = zone.rrsets().filter(|(_, rtype, _)| *rtype == Rtype::PTR);
            let pointers = pointers.filter(|(name, rtype, _)| !self.is_foreign(&name.to_name(), *rtype));
            let is_wrong = |name: NameRef<'_>, rrset: &Rrset| {
                let mut targets = rrset.rdata().iter().filter_map(|rdata| rdata.as_rdata(Rtype::PTR).target());
                let leads_here = |target: NameRef<'_>| {
                    let place = self.placements.get(&target.to_name()).map(|(_, place)| place);
                    place.is_some_and(|place| {
                        place.addresses.iter().any(|address| ReverseName::of(*address).as_name() == name)
                    })
                };
                rrset.rdata().len() != 1 || !targets.all(leads_here)
            };
            let mut pointers = pointers;
            let found = pointers.find(|(name, _, rrset)| is_wrong(*name, rrset));
            found.map(|(name, ..)| name.to_name())
        };
        let mut found = self.zones.iter().filter_map(|zone| self.primary.with_zone(zone, of_zone).unwrap());
        match found.next() {
            Some(name) => Err(format!("the PTR {name} does not point to the name of a placement with its address")),
            None => Ok(()),
        }
    }

    /// At most as many pods as the budget says are unreachable; what a run adds has room next to those that were down.
    fn keeps_budget(&self, set: usize) -> Result<(), String> {
        let own = &self.sets[set];
        let unreachable = self.unreachable(set);
        let words = |pods: &BTreeSet<usize>| pods.iter().map(|pod| self.pods[*pod].id.clone()).collect::<Vec<_>>();
        if unreachable.len() > own.budget {
            return Err(format!("{:?} are unreachable, and the budget is {}", words(&unreachable), own.budget));
        }
        let Some(run) = &self.run else { return Ok(()) };
        let is_new = |pod: &&usize| !run.before.contains(pod) && !run.in_flux.contains(pod);
        let new = unreachable.iter().filter(is_new).count();
        let is_down = |row: &Row| row.is_enabled && matches!(row.state, PodState::Dead | PodState::Waiting);
        let down: BTreeSet<usize> = (0..self.pods.len())
            .filter(|pod| self.pods[*pod].set == set && run.rows.get(&self.key(*pod)).is_some_and(is_down))
            .collect();
        if new > 0 && unreachable.union(&down).count() > own.budget {
            let (unreachable, down) = (words(&unreachable), words(&down));
            return Err(format!("{unreachable:?} are unreachable and {down:?} down, and the budget is {}", own.budget));
        }
        Ok(())
    }

    /// SRV have targets with addresses, which lead somewhere while a pod is alive that was and is listed.
    fn srv_lead_somewhere(&self, set: usize, forward: &MemoryZone) -> Result<(), String> {
        for (name, endpoint, location) in self.sets[set].srv_names() {
            let lacks = |target: &&Name| addresses(forward, target).is_empty();
            if let Some(target) = targets(forward, &name).iter().find(lacks) {
                return Err(format!("{name} lists {target}, which has no address"));
            }
            for (resolver, targets) in self.srv_views(&name) {
                if let Some(target) = targets.iter().find(lacks) {
                    return Err(format!("resolver {resolver} has {name} with {target}, which is gone"));
                }
                let is_empty = targets.is_empty();
                let leads = |name_server: &usize| is_empty || self.leads_to((resolver, *name_server), set, &targets);
                for name_server in (0..NAME_SERVERS).filter(|name_server| !leads(name_server)) {
                    let view = SrvView { name: &name, endpoint, location, name_server };
                    self.is_permitted(set, &view, (resolver, &targets))?;
                }
            }
        }
        Ok(())
    }

    /// Whether targets of which none is alive are those of pods that are on their way, or died.
    fn is_permitted(
        &self,
        set: usize,
        view: &SrvView<'_>,
        (resolver, targets): (usize, &[Name]),
    ) -> Result<(), String> {
        let missed = self.missed(view, targets);
        // So many may be on their way at once.
        let is_too_many = *COUNTS_SRV && missed.len() > self.sets[set].budget;
        // A cache may hold that a name of it is not there, as long as it may hold anything else.
        let settle = Duration::from_secs(self.sets[set].ttl.max(NEGATIVE));
        let is_settled = |(pod, place): &(usize, &Place)| {
            let own = &self.pods[*pod];
            own.homes.contains(*place) && own.served.is_some_and(|served| served.plus(settle) <= self.now)
        };
        if !is_too_many && !missed.iter().any(is_settled) {
            return Ok(());
        }
        let ids: Vec<&str> = missed.iter().map(|(pod, _)| &*self.pods[*pod].id).collect();
        let targets: Vec<String> = targets.iter().map(Name::to_string).collect();
        let name = view.name;
        Err(format!("resolver {resolver} has {name} with {targets:?}: none is alive, and {ids:?} are"))
    }

    /// The pods of an answer that are alive, and that their owner had and has active; each with the place of its target. What
    /// died by itself leads nowhere until the SRV is changed, and what a name server does not list yet is new to it.
    fn missed<'w>(&'w self, view: &SrvView<'_>, answer: &[Name]) -> Vec<(usize, &'w Place)> {
        let SrvView { name, endpoint, location, name_server } = *view;
        let is_listed = |row: Option<&Row>| {
            row.is_some_and(|row| {
                let is_here = row.place.as_ref().is_some_and(|place| location.is_none_or(|at| at == place.location));
                row.is_enabled && row.state == PodState::Active && endpoint.states.contains(&row.state) && is_here
            })
        };
        let at_server = targets(&self.name_servers[name_server][0], name);
        let known: BTreeSet<usize> =
            at_server.iter().filter_map(|target| Some(self.placements.get(target)?.0)).collect();
        let found = answer.iter().filter_map(|target| self.placements.get(target));
        let is_missed = |(pod, place): &&(usize, Place)| {
            let own = &self.pods[*pod];
            let is_alive = !own.homes.is_empty() && own.excuse == Excuse::None && !own.fallen.contains(place);
            known.contains(pod) && is_alive && is_listed(own.row.as_ref()) && is_listed(self.exported_of(*pod))
        };
        let missed: BTreeMap<usize, &Place> = found.filter(is_missed).map(|(pod, place)| (*pod, place)).collect();
        missed.into_iter().collect()
    }

    /// Each resolver gets a pod that is replaced, or the one that replaces it.
    fn pair_is_reached(&self, pair: &Pair) -> Result<(), String> {
        let Pair { old, new, since, .. } = *pair;
        let (its, other) = (&self.pods[old], &self.pods[new]);
        let is_excused = if its.is_removed {
            // What happens to the new one later is its own.
            other.excuse == Excuse::Repaired || other.changed > its.changed
        } else {
            let is_down = its.excuse != Excuse::None || other.excuse == Excuse::Repaired;
            is_down || its.homes.is_empty() || its.changed < since
        };
        let is_missed = |resolver: &usize| !self.reaches(*resolver, old) && !self.reaches(*resolver, new);
        match (0..self.resolvers.len()).find(is_missed).filter(|_| !is_excused) {
            Some(resolver) => {
                Err(format!("resolver {resolver} gets neither {} nor {}, which replaces it", its.id, other.id))
            }
            None => Ok(()),
        }
    }

    /// Whether an RRset is one that pods or their sets have.
    pub fn is_of_pods(&self, name: &Name, rtype: Rtype) -> bool {
        matches!(rtype, Rtype::A | Rtype::AAAA | Rtype::SRV | Rtype::PTR) && !self.is_foreign(name, rtype)
    }
}
