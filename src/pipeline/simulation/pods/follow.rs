//! What follows from what was written: pods move to where their constant names lead, and what clients can reach again needs no
//! excuse.

use std::net::IpAddr;

use super::world::{Excuse, Pair, Place, PodKey, Row, TruePod, World, addresses, transient_name};
use crate::dns::Serial;
use crate::inventory::pods::PodState;
use crate::provider::memory::zone::MemoryZone;

impl World {
    /// Looks at the zones: what was written is seen, pods move to where it leads them, and all must be as it should.
    pub fn step(&mut self) {
        let serials: Vec<Serial> =
            self.zones.iter().map(|zone| self.primary.with_zone(zone, MemoryZone::serial).unwrap()).collect();
        if serials == self.serials && self.run.is_some() {
            return;
        }
        self.serials = serials;
        self.steps += 1;
        let forward = self.forward();
        let followed = (0..self.pods.len()).map(|pod| self.follow(pod, &forward)).collect::<Vec<_>>();
        let found = followed.into_iter().collect::<Result<(), String>>().and_then(|()| self.check(&forward));
        if self.violation.is_none() {
            self.violation = found.err();
        }
        self.settle();
    }

    /// A pod goes to where its constant name points.
    ///
    /// Errors: it points where the export never had the pod active, or is gone although the pod is not.
    fn follow(&mut self, pod: usize, forward: &MemoryZone) -> Result<(), String> {
        let now = addresses(forward, &self.pods[pod].constant);
        let key = self.key(pod);
        let steps = self.steps;
        let own = &mut self.pods[pod];
        if now == own.written {
            return Ok(());
        }
        let row = self.run.as_ref().and_then(|run| run.rows.get(&key));
        let said = row.filter(|row| row.state == PodState::Active).and_then(|row| row.place.as_ref()).map(Place::asked);
        let has_overlap = self.sets[own.set].overlap.is_some();
        let is_said =
            said.as_ref().is_some_and(|said| *said == now || (has_overlap && both(&own.written, said) == now));
        let is_as_said = if now.is_empty() { row.is_none() } else { is_said };
        let told = format!("{} points to {now:?}, and by the export it is at {said:?}", own.constant);
        let is_free = row.is_some_and(|row| !row.is_enabled) || self.was_down.contains(&key);
        if is_free && own.excuse == Excuse::None {
            own.excuse = Excuse::Repaired;
        }
        let location = row.and_then(|row| row.place.as_ref()).map_or("", |place| place.location);
        // Another change of one that has its place already does not wait for its location.
        let is_again = self.run.as_ref().is_some_and(|run| run.in_flux.contains(&pod)) && own.went_at != location;
        own.went_at = if is_again { String::new() } else { location.to_owned() };
        let was = std::mem::replace(&mut own.written, now);
        (own.changed, own.served) = (steps, None);
        self.forgive(pod);
        let is_taken = self.is_taken(&key, &was);
        let own = &mut self.pods[pod];
        if own.homes.is_empty() {
            return if is_as_said { Ok(()) } else { Err(told) };
        }
        let homes = own.places_of(has_overlap);
        if !homes.is_empty() {
            own.homes = homes;
        } else if own.written.is_empty() && own.row.is_none() {
            own.homes.clear();
            // Where it led to what is another pod's by now, its name does not wait for the pod that replaces it.
            own.is_removed = !is_taken;
        }
        if is_as_said { Ok(()) } else { Err(told) }
    }

    /// Whether one of some addresses of a pod is that of another one, by the export of the run.
    fn is_taken(&self, pod: &PodKey, addresses: &[IpAddr]) -> bool {
        let has = |place: &Place| place.addresses.iter().any(|own| addresses.contains(own));
        let is_others = |(other, row): (&PodKey, &Row)| {
            let is_placed = matches!(row.state, PodState::Prepared | PodState::Active);
            other != pod && is_placed && row.place.as_ref().is_some_and(has)
        };
        self.run.iter().flat_map(|run| &run.rows).any(is_others)
    }

    /// A change by a plan that knows nothing of the pod which replaces another one comes before that.
    fn forgive(&mut self, pod: usize) {
        let Some(run) = &self.run else { return };
        for pair in 0..self.pairs.len() {
            let Pair { old, new, .. } = self.pairs[pair];
            if old == pod && !run.rows.contains_key(&self.key(new)) {
                self.pairs[pair].since = self.steps + 1;
            }
        }
    }

    /// What clients can reach again needs no excuse, and what they no longer ask for is over.
    fn settle(&mut self) {
        for pod in 0..self.pods.len() {
            let own = &self.pods[pod];
            let lacks = |zone: &MemoryZone, home: &Place| {
                addresses(zone, &transient_name(&self.sets[own.set], &own.id, home)).is_empty()
            };
            let has = |zones: &Vec<MemoryZone>| {
                addresses(&zones[0], &own.constant) == own.written
                    && !own.homes.iter().any(|home| lacks(&zones[0], home))
            };
            let is_served = self.name_servers.iter().all(has);
            self.pods[pod].served = is_served.then(|| self.pods[pod].served.unwrap_or(self.now));
            let own = &self.pods[pod];
            if own.excuse != Excuse::None && !own.homes.is_empty() && self.reach_home(pod) {
                self.pods[pod].excuse = Excuse::None;
            }
        }
        for pair in 0..self.pairs.len() {
            let Pair { old, new, .. } = self.pairs[pair];
            let is_gone = self.pods[old].written.is_empty() && self.pods[old].homes.is_empty();
            let is_over = is_gone && !self.is_heard(old) && self.pods[new].excuse == Excuse::None;
            self.pairs[pair].is_over |= is_over;
        }
    }
}

impl TruePod {
    /// The places to which its constant name leads; of several only where old and new addresses overlap.
    fn places_of(&self, has_overlap: bool) -> Vec<Place> {
        let leads = |place: &&Place| {
            let asked = place.asked();
            asked == self.written
                || (has_overlap && !asked.is_empty() && asked.iter().all(|own| self.written.contains(own)))
        };
        let mut places: Vec<Place> = self.offered.iter().filter(leads).cloned().collect();
        let left = self.homes.iter().filter(|home| has_overlap && leads(home) && !self.offered.contains(home));
        places.extend(left.cloned());
        if !has_overlap {
            places.truncate(1);
        }
        places
    }
}

/// Some addresses and others, sorted.
fn both(some: &[IpAddr], others: &[IpAddr]) -> Vec<IpAddr> {
    let mut all = [some, others].concat();
    all.sort_unstable();
    all.dedup();
    all
}
