//! What DNS must hold once all has settled, worked out from rows alone.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::sets::{TrueEndpoint, TrueSet};
use super::world::{Place, Row, TruePod, World, addresses, all_addresses, transient_name};
use crate::dns::reverse::reverse_name;
use crate::dns::{Name, Rtype};
use crate::inventory::pods::PodState;
use crate::provider::memory::zone::MemoryZone;

/// An RRset as text: the owner, the type and the values.
type Shown = (String, String, Vec<String>);

/// What must be there, and what may be.
#[derive(Default)]
struct Wanted {
    /// What must be there, and nothing else at its place.
    must: BTreeMap<(String, String), Vec<String>>,
    /// The owner names at which more may be.
    may: BTreeSet<String>,
    /// The targets that each SRV may list in addition.
    may_list: BTreeMap<String, BTreeSet<String>>,
}

impl Wanted {
    /// Adds the addresses of a place at a name.
    fn addresses(&mut self, name: &Name, place: &Place) {
        for rtype in [Rtype::AAAA, Rtype::A] {
            let own = place.addresses.iter().filter(|address| address.is_ipv6() == (rtype == Rtype::AAAA));
            let mut texts: Vec<String> = own.map(IpAddr::to_string).collect();
            texts.sort();
            if !texts.is_empty() {
                self.must.insert((name.to_string(), rtype.to_string()), texts);
            }
        }
    }
}

impl World {
    /// Compares DNS with what follows from the rows.
    pub fn is_as_wanted(&self) -> Result<(), String> {
        let forward = self.forward();
        let (live, wanted) = (self.shown(), self.wanted(&forward));
        let found: BTreeMap<(String, String), Vec<String>> =
            live.into_iter().map(|(name, rtype, values)| ((name, rtype), values)).collect();
        for ((name, rtype), values) in &wanted.must {
            let has = found.get(&(name.clone(), rtype.clone()));
            if has != Some(values) && !self.lists_more(&wanted, name, values, has) {
                return Err(format!("{name} {rtype} has {has:?}, and must have {values:?}"));
            }
        }
        for ((name, rtype), values) in &found {
            let is_left = !wanted.must.contains_key(&(name.clone(), rtype.clone())) && !wanted.may.contains(name);
            if is_left && !self.lists_more(&wanted, name, &[], Some(values)) {
                return Err(format!("{name} {rtype} has {values:?}, and must be gone"));
            }
        }
        Ok(())
    }

    /// Whether an SRV lists what it must, and of all else only what it may.
    fn lists_more(&self, wanted: &Wanted, name: &str, must: &[String], has: Option<&Vec<String>>) -> bool {
        let (Some(may), has) = (wanted.may_list.get(name), has.map_or(&[][..], Vec::as_slice)) else { return false };
        must.iter().all(|own| has.contains(own)) && has.iter().all(|own| must.contains(own) || may.contains(own))
    }

    /// All RRsets of pods and their sets.
    fn shown(&self) -> Vec<Shown> {
        let of_zone = |zone: &MemoryZone| -> Vec<Shown> {
            let own = zone.rrsets().filter(|(name, rtype, _)| self.is_of_pods(&name.to_name(), *rtype));
            own.map(|(name, rtype, rrset)| (name.to_name().to_string(), rtype.to_string(), rrset.rdata_texts(rtype)))
                .collect()
        };
        let zones = self.zones.iter().map(|zone| self.primary.with_zone(zone, of_zone).unwrap());
        zones.flatten().collect()
    }

    /// What follows from the rows.
    fn wanted(&self, forward: &MemoryZone) -> Wanted {
        let mut wanted = Wanted::default();
        for pod in self.pods.iter() {
            let set = &self.sets[pod.set];
            match &pod.row {
                Some(row) => self.of_row(pod, row, forward, &mut wanted),
                // Until the pod is active that replaces it, all of it stays.
                None if self.waits_for_another(pod) => self.keeps(pod, |_| true, &mut wanted),
                None => {}
            }
            self.listed(set, pod, forward, &mut wanted);
        }
        wanted
    }

    /// What follows from the row of a pod.
    fn of_row(&self, pod: &TruePod, row: &Row, forward: &MemoryZone, wanted: &mut Wanted) {
        let set = &self.sets[pod.set];
        let at_constant = all_addresses(forward, &pod.constant);
        let (Some(place), PodState::Active | PodState::Prepared) = (&row.place, row.state) else {
            return self.keeps(pod, |_| true, wanted);
        };
        let transient = transient_name(set, &pod.id, place);
        wanted.addresses(&transient, place);
        for address in &place.addresses {
            let owner = reverse_name(*address).to_string();
            wanted.must.insert((owner, Rtype::PTR.to_string()), vec![transient.to_string()]);
        }
        // The name of a former placement stays while the constant name has an address of it, of either family: a run that died may
        // have left those of two placements there.
        self.keeps(pod, |old| old.addresses.iter().any(|own| at_constant.contains(own)), wanted);
        if row.state == PodState::Active {
            wanted.may.remove(&pod.constant.to_string());
            wanted.addresses(&pod.constant, place);
        }
    }

    /// Lets the constant name of a pod stay, and the names of some of its placements.
    fn keeps(&self, pod: &TruePod, stays: impl Fn(&Place) -> bool, wanted: &mut Wanted) {
        wanted.may.insert(pod.constant.to_string());
        let its =
            self.placements.iter().filter(|(_, (own, place))| self.pods[*own].constant == pod.constant && stays(place));
        for (name, (_, place)) in its {
            wanted.may.insert(name.to_string());
            wanted.may.extend(place.addresses.iter().map(|address| reverse_name(*address).to_string()));
        }
    }

    /// Whether the pod that replaces one that is gone is not active yet.
    fn waits_for_another(&self, pod: &TruePod) -> bool {
        let set = &self.sets[pod.set];
        let mut others = self.pods.iter().filter(|other| other.set == pod.set).filter_map(|other| other.row.as_ref());
        let is_later = |row: &Row| row.replaces.as_deref() == Some(&pod.id) && row.state != PodState::Active;
        set.copies && others.any(is_later)
    }

    /// Whether a pod replaces one, and an endpoint does not list it.
    fn is_followed(&self, pod: &TruePod, endpoint: &TrueEndpoint) -> bool {
        let mut others = self.pods.iter().filter(|other| other.set == pod.set).filter_map(|other| other.row.as_ref());
        let is_unlisted = |row: &Row| !row.is_enabled || !endpoint.states.contains(&row.state);
        self.sets[pod.set].copies && others.any(|row| row.replaces.as_deref() == Some(&pod.id) && is_unlisted(row))
    }

    /// What the SRV of a set list of a pod.
    fn listed(&self, set: &TrueSet, pod: &TruePod, forward: &MemoryZone, wanted: &mut Wanted) {
        let its = self.placements.iter().filter(|(_, (own, _))| self.pods[*own].constant == pod.constant);
        let live: BTreeSet<&Name> =
            its.map(|(name, _)| name).filter(|name| !addresses(forward, name).is_empty()).collect();
        for (name, endpoint, location) in set.srv_names() {
            let target = |own: &Name| format!("0 0 {} {own}", endpoint.port);
            let Some(row) = &pod.row else {
                if self.waits_for_another(pod) {
                    wanted.may_list.entry(name.to_string()).or_default().extend(live.iter().map(|own| target(own)));
                }
                continue;
            };
            // Until the pod is listed that replaces it, it may be.
            if self.is_followed(pod, endpoint) {
                wanted.may_list.entry(name.to_string()).or_default().extend(live.iter().map(|own| target(own)));
            }
            if !row.is_enabled || !endpoint.states.contains(&row.state) {
                continue;
            }
            match (&row.place, row.state) {
                (Some(place), PodState::Active | PodState::Prepared) => {
                    if location.is_none_or(|at| at == place.location) {
                        let list = wanted.must.entry((name.to_string(), Rtype::SRV.to_string())).or_default();
                        list.push(target(&transient_name(set, &pod.id, place)));
                        list.sort();
                    }
                }
                // What is being taken away is listed by what is live, at the location where that is: its row may have moved since.
                _ => wanted.may_list.entry(name.to_string()).or_default().extend(live.iter().map(|own| target(own))),
            }
        }
    }
}
