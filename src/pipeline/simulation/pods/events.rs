//! What happens to pods.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::sets::LOCATIONS;
use super::story::Story;
use super::world::{Excuse, Pair, Place, Row, TruePod};
use crate::dns::Name;
use crate::inventory::pods::PodState;

/// The most pods of a set.
const MOST: usize = 12;

impl Story {
    /// A place for a pod of a set, perhaps at the location at which it is.
    fn new_place(&self, set: usize, near: Option<&'static str>) -> Place {
        let held = self.held_addresses();
        let stage = &self.stage;
        let near = near.filter(|_| stage.one_of(2));
        let location = near.unwrap_or_else(|| LOCATIONS[stage.below(LOCATIONS.len())]);
        let node = format!("{location}-{}.example.net", stage.below(4));
        let mut world = stage.world();
        let has_ipv4 = world.sets[set].has_ipv4 && !stage.one_of(4);
        let families = [Some(false), stage.one_of(5).then_some(false), has_ipv4.then_some(true)];
        let mut addresses: BTreeSet<IpAddr> = BTreeSet::new();
        for is_ipv4 in families.into_iter().flatten() {
            let address = world.new_address(is_ipv4, stage.one_of(2) && addresses.is_empty(), &held);
            addresses.insert(address);
        }
        Place { node, location, addresses: addresses.into_iter().collect() }
    }

    /// The addresses that plans may still write.
    fn held_addresses(&self) -> BTreeSet<IpAddr> {
        let plans = self.held.iter().chain(&self.last);
        let changes = plans.flat_map(|held| &held.sealed.plan().changes);
        let after = changes.filter_map(|change| Some((change.key.rtype, change.kind.after()?)));
        after
            .flat_map(|(rtype, rrset)| rrset.rdata().iter().filter_map(move |own| own.as_rdata(rtype).address()))
            .collect()
    }

    /// A new pod of a set, in a state.
    pub fn add_pod(&mut self, set: usize, state: PodState, replaces: Option<usize>) {
        let place = self.new_place(set, None);
        let mut world = self.stage.world();
        let id = format!("p{}", world.pods.len());
        let constant = Name::parse(&format!("{id}.{}", world.sets[set].domain)).unwrap();
        let old = replaces.map(|old| world.pods[old].id.clone());
        let row = Row { state, place: Some(place.clone()), is_enabled: true, replaces: old };
        world.pods.push(TruePod {
            set,
            id: id.clone(),
            constant,
            row: Some(row),
            homes: (state == PodState::Active).then(|| place.clone()).into_iter().collect(),
            offered: Vec::new(),
            fallen: Vec::new(),
            excuse: Excuse::New,
            went_at: String::new(),
            written: Vec::new(),
            changed: 0,
            served: None,
            is_removed: false,
        });
        let new = world.pods.len() - 1;
        world.offer(new, &place);
        if let Some(old) = replaces {
            let since = world.steps;
            world.pairs.push(Pair { old, new, since, is_over: false });
        }
        drop(world);
        self.history
            .push(format!("{id} comes at {} {:?}, {state}, replaces {replaces:?}", place.location, place.addresses));
    }

    /// Something happens to a pod.
    pub fn pod_event(&mut self) {
        let world = self.stage.world();
        let present: Vec<usize> = (0..world.pods.len()).filter(|pod| world.pods[*pod].row.is_some()).collect();
        drop(world);
        let Some(pod) = present.get(self.stage.below(present.len().max(1))).copied() else { return };
        let world = self.stage.world();
        let own = &world.pods[pod];
        let (set, state, is_alive) = (own.set, own.row.as_ref().unwrap().state, !own.homes.is_empty());
        drop(world);
        let dice = self.stage.below(12);
        match (state, dice) {
            (PodState::Active, 0..=4) if is_alive => self.set_out(pod),
            (PodState::Active, 5) if is_alive => self.dies(pod, None),
            (PodState::Active, 6) if is_alive => self.dies(pod, Some(PodState::Dead)),
            (PodState::Active, 7) if is_alive => self.dies(pod, Some(PodState::Waiting)),
            (_, 8) => self.switch(pod),
            (PodState::Active, 9 | 10) if is_alive => self.is_succeeded(pod, set),
            (PodState::Active, 11) if is_alive => self.leaves(pod, set),
            (PodState::Active, 0..=5) => self.comes_back(pod, PodState::Active),
            (PodState::Active, _) if !is_alive => self.dies(pod, Some(PodState::Dead)),
            (PodState::Prepared, 0..=8) => self.begins(pod),
            (PodState::Dead | PodState::Waiting, 0..=5) => self.comes_back(pod, PodState::Active),
            (PodState::Dead | PodState::Waiting, 6) => self.comes_back(pod, PodState::Prepared),
            (PodState::Removing, 0..=5) => self.goes(pod),
            _ => {}
        }
    }

    /// A pod is to be elsewhere.
    fn set_out(&mut self, pod: usize) {
        let (set, near) = {
            let world = self.stage.world();
            let own = &world.pods[pod];
            (own.set, own.homes.first().map(|home| home.location))
        };
        let place = self.new_place(set, near);
        let state = if self.stage.one_of(3) { PodState::Prepared } else { PodState::Active };
        let mut world = self.stage.world();
        world.offer(pod, &place);
        let row = world.pods[pod].row.as_mut().unwrap();
        (row.state, row.place) = (state, Some(place.clone()));
        let told = format!("p{pod} is {state} at {} {:?}", place.location, place.addresses);
        drop(world);
        self.history.push(told);
    }

    /// A pod dies by itself, and its row says that, or does not yet.
    fn dies(&mut self, pod: usize, state: Option<PodState>) {
        let keeps_place = self.stage.one_of(2);
        let mut world = self.stage.world();
        world.die(pod);
        let row = world.pods[pod].row.as_mut().unwrap();
        row.state = state.unwrap_or(row.state);
        if row.state == PodState::Waiting || (row.state == PodState::Dead && !keeps_place) {
            row.place = None;
        }
        drop(world);
        self.history.push(format!("p{pod} dies, and its row says {state:?}"));
    }

    /// A pod that is down comes back elsewhere, or where it was.
    pub fn comes_back(&mut self, pod: usize, state: PodState) {
        let world = self.stage.world();
        let own = &world.pods[pod];
        let (set, known) = (own.set, own.row.as_ref().and_then(|row| row.place.clone()));
        // Its addresses may be those of another pod by now.
        let is_free = |place: &Place| {
            let has = |other: &Place| other.addresses.iter().any(|own| place.addresses.contains(own));
            let is_rows = |row: &Row| row.place.as_ref().is_some_and(has);
            let others = world.pods.iter().enumerate().filter(|(number, _)| *number != pod);
            let mut others = others.map(|(_, other)| other);
            let rows = world.exported.iter().filter(|(key, _)| **key != world.key(pod));
            !others.any(|other| other.homes.iter().any(has) || other.row.as_ref().is_some_and(is_rows))
                && !rows.into_iter().any(|(_, row)| is_rows(row))
        };
        let known = known.filter(|place| is_free(place));
        drop(world);
        let place = known.filter(|_| self.stage.one_of(3)).unwrap_or_else(|| self.new_place(set, None));
        let mut world = self.stage.world();
        world.offer(pod, &place);
        let own = &mut world.pods[pod];
        own.homes = (state == PodState::Active).then(|| place.clone()).into_iter().collect();
        let row = own.row.as_mut().unwrap();
        (row.state, row.place) = (state, Some(place.clone()));
        drop(world);
        self.history.push(format!("p{pod} comes back, {state} at {} {:?}", place.location, place.addresses));
    }

    /// A pod that was prepared is active.
    pub fn begins(&mut self, pod: usize) {
        let mut world = self.stage.world();
        let own = &mut world.pods[pod];
        let row = own.row.as_mut().unwrap();
        row.state = PodState::Active;
        if own.homes.is_empty() {
            own.homes.extend(row.place.clone());
        }
        drop(world);
        self.history.push(format!("p{pod} is active"));
    }

    /// A pod is disabled, or enabled.
    fn switch(&mut self, pod: usize) {
        let mut world = self.stage.world();
        let row = world.pods[pod].row.as_mut().unwrap();
        row.is_enabled = !row.is_enabled;
        let told = format!("p{pod} is enabled: {}", row.is_enabled);
        drop(world);
        self.history.push(told);
    }

    /// Whether another pod replaces a pod, and that is not over.
    fn is_replaced(&self, pod: usize) -> bool {
        self.stage.world().pairs.iter().any(|pair| !pair.is_over && pair.old == pod)
    }

    /// A new pod comes, which replaces a pod where the set copies.
    fn is_succeeded(&mut self, pod: usize, set: usize) {
        let world = self.stage.world();
        let count = world.pods.iter().filter(|own| own.set == set && own.row.is_some()).count();
        let copies = world.sets[set].copies;
        drop(world);
        if count >= MOST || (copies && self.is_replaced(pod)) {
            return;
        }
        let state = if self.stage.one_of(2) { PodState::Prepared } else { PodState::Active };
        self.add_pod(set, state, copies.then_some(pod));
    }

    /// A pod is being taken away, or is gone at once.
    fn leaves(&mut self, pod: usize, set: usize) {
        let world = self.stage.world();
        let count = world.pods.iter().filter(|own| own.set == set && own.row.is_some()).count();
        let is_new = world.pairs.iter().any(|pair| !pair.is_over && pair.new == pod);
        drop(world);
        if count <= 2 || is_new {
            return;
        }
        if self.stage.one_of(3) {
            return self.goes(pod);
        }
        self.stage.world().pods[pod].row.as_mut().unwrap().state = PodState::Removing;
        self.history.push(format!("p{pod} is being removed"));
    }

    /// A pod is gone. One that another replaces lives until its names go, all others die.
    pub fn goes(&mut self, pod: usize) {
        let mut world = self.stage.world();
        if world.pairs.iter().any(|pair| !pair.is_over && pair.new == pod) {
            return;
        }
        world.pods[pod].row = None;
        let lives = world.pairs.iter().any(|pair| !pair.is_over && pair.old == pod);
        if !lives {
            world.die(pod);
        }
        drop(world);
        self.history.push(format!("p{pod} is gone, and lives for now: {lives}"));
    }

    /// The export says what is so now.
    pub fn export(&mut self) {
        let mut world = self.stage.world();
        let rows = world.pods.iter().filter_map(|own| Some(((own.set, own.id.clone()), own.row.clone()?)));
        let rows = rows.collect();
        if world.exported == rows {
            return;
        }
        world.exported = rows;
        super::export::put(&mut self.inventory, &world, self.file);
        self.exports += 1;
        drop(world);
        self.history.push("the export says all that".to_owned());
    }
}
