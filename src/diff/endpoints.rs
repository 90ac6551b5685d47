//! The SRV of sets of pods: by which names each pod is listed now. Pure.
//!
//! A pod is listed by the name of its placement as soon as that is live, or comes with this plan. A pod whose change must
//! wait for its turn, or is blocked, stays listed by the name that is live, so that it holds back no other pod of its
//! set. An SRV that no longer lists it, since it died or was taken away, does not list it again by that name. One whose
//! addresses stay where its placement has a new name stays listed by the former name, too, until all name servers and
//! caches know the new one, where there are several name servers.

use super::context::RuleContext;
use crate::desired::pods::{EndpointCase, ListedNames, addresses_of};
use crate::desired::records::StatedClaim;
use crate::dns::{Name, NameRef, Rtype};
use crate::inventory::pods::{Pod, PodSetIndex, PodSetTerms, PodState};
use crate::live::Live;

/// The claims of the endpoints at a place; `is_open` says of the subject of a pod, by its place, that its rules run and that
/// nothing blocks it.
pub fn claims(context: &RuleContext<'_>, place: usize, is_open: &dyn Fn(usize) -> bool) -> Vec<StatedClaim> {
    let (name, case) = context.stated.pods().endpoint(place);
    let EndpointCase { live, set, terms, .. } = case;
    let listing = Listing { context, live, set, terms, is_open };
    case.claims(name, &listing)
}

/// The pods of a set, as far as they are live in the reference copy, by which pods are listed in all copies.
struct Listing<'a, 'c> {
    /// What may be read.
    context: &'a RuleContext<'c>,
    /// What is live.
    live: &'a Live,
    /// The set.
    set: PodSetIndex,
    /// What its owner says.
    terms: &'a PodSetTerms,
    /// Whether the rules of the subject of a pod run, by its place, and nothing blocks it.
    is_open: &'a dyn Fn(usize) -> bool,
}

impl ListedNames for Listing<'_, '_> {
    fn of(&self, place: usize) -> Vec<Name> {
        let (context, pod) = (self.context, &self.context.inventory.pods.rows[place]);
        let subject = context.stated.pods().place_of_row(self.set, place);
        let transient = pod.transient_name(self.terms, &context.inventory.symbols).and_then(Result::ok);
        let is_settled = context.view.is_none() && subject.is_some_and(|subject| context.settled_pods[subject]);
        match transient {
            // Its addresses are live there.
            Some(transient) if is_settled && !self.is_new(&transient) => vec![transient],
            transient => self.names(pod, transient, subject.is_some_and(self.is_open)),
        }
    }

    fn at_first(&self, place: usize, srv: Option<Name>) -> Vec<Name> {
        // One that went listed none of its pods any longer: they come back with the names of their new placements.
        if srv.is_none_or(|srv| self.context.recent.gone.contains(&srv)) {
            return Vec::new();
        }
        self.live_names(&self.context.inventory.pods.rows[place].id)
    }

    fn kept(&self, pod: &str, mut now: Vec<Name>) -> Vec<Name> {
        let constant = self.constant_name(pod);
        now.retain(|name| Some(name) != constant.as_ref());
        let leading = self.live_names(pod);
        if now.iter().any(|name| leading.contains(name)) {
            now.retain(|name| leading.contains(name));
            return now;
        }
        now.retain(|name| !self.is_of_another(pod, name));
        // It has moved, and the SRV has not followed yet.
        if !now.is_empty() && !leading.is_empty() {
            return leading;
        }
        // Another editor changed one of its names: that says nothing of where the pod is.
        now.retain(|name| self.has_any_address(name.as_name()));
        now
    }

    fn replaced<'p>(&self, pod: &'p Pod) -> Option<&'p str> {
        let old = pod.replaced(self.terms)?;
        let pods = &self.context.inventory.pods;
        let row = pods.place_of(self.set, old).map(|place| &pods.rows[place]);
        // Clients are not led to a pod that is known to be dead, nor to one whose name that stays has gone.
        let is_down = row.is_some_and(|row| row.is_down() || !row.is_enabled);
        let is_there = || self.constant_name(old).is_some_and(|constant| self.has_any_address(constant.as_name()));
        (!is_down && is_there()).then_some(old)
    }
}

impl Listing<'_, '_> {
    /// The names by which a pod is listed anew, or again; `transient` is the name of its placement, where it has one.
    fn names(&self, pod: &Pod, transient: Option<Name>, is_open: bool) -> Vec<Name> {
        let Some(transient) = transient else { return Vec::new() };
        let is_there = self.has_addresses(transient.as_name(), pod);
        let comes_now = || pod.state.is_placed() && is_open && !self.takes_values(pod);
        if !is_there && !comes_now() {
            return Vec::new();
        }
        if !is_there || self.is_new(&transient) {
            let former = self.former_names(pod, &transient);
            if !former.is_empty() {
                return former;
            }
        }
        vec![transient]
    }

    /// Whether name servers and caches may not know a name yet.
    fn is_new(&self, name: &Name) -> bool {
        self.context.recent.made.contains_key(name)
    }

    /// The names of former placements by which clients reach a pod where it is now; none where its addresses change.
    fn former_names(&self, pod: &Pod, transient: &Name) -> Vec<Name> {
        let constant = pod.constant_name(self.terms, &self.context.inventory.symbols);
        let is_there = constant.is_ok_and(|constant| self.has_addresses(constant.as_name(), pod));
        if !is_there || !self.has_several_name_servers(transient.as_name()) {
            return Vec::new();
        }
        let is_former = |name: &Name| name != transient && !self.is_new(name) && self.leads_to(name.as_name(), pod);
        self.live_names(&pod.id).into_iter().filter(is_former).collect()
    }

    /// Whether a name server of a name may lag behind another one: what one gives in an SRV, the other may not know yet.
    fn has_several_name_servers(&self, name: NameRef<'_>) -> bool {
        let RuleContext { inventory, live, .. } = *self.context;
        let pool = live.zone_of(name).map(|zone| &inventory.config.pools[self.context.zone_spec(zone).pool]);
        pool.is_some_and(|pool| pool.name_servers.len() > 1)
    }

    /// Whether a name has no addresses but those of a pod.
    fn leads_to(&self, name: NameRef<'_>, pod: &Pod) -> bool {
        self.live.addresses_at(name).all(|address| pod.addresses.contains(&address))
    }

    /// Whether a name has just the addresses of a pod.
    fn has_addresses(&self, name: NameRef<'_>, pod: &Pod) -> bool {
        [Rtype::AAAA, Rtype::A].into_iter().all(|rtype| {
            let found = self.live.rrset(name, rtype);
            let count = found.map_or(0, |found| found.rrset.record_count());
            let is_live =
                |address| found.is_some_and(|found| found.rrset.rdata().any(|rdata| rdata.address() == Some(address)));
            count == addresses_of(pod, rtype).count() && addresses_of(pod, rtype).all(is_live)
        })
    }

    /// Whether a name has an address.
    fn has_any_address(&self, name: NameRef<'_>) -> bool {
        self.live.addresses_at(name).next().is_some()
    }

    /// Whether a name that placements of a pod may have is one of another pod of the set: the template may not tell them
    /// apart.
    fn is_of_another(&self, pod: &str, name: &Name) -> bool {
        let RuleContext { inventory, .. } = *self.context;
        let ids = name.as_name().first_label().map(|label| self.terms.transient.pods_of(label)).unwrap_or_default();
        let others = ids.into_iter().filter(|id| *id != pod);
        let mut rows = others.filter_map(|id| inventory.pods.place_of(self.set, id));
        rows.any(|place| {
            let row = &inventory.pods.rows[place];
            let own = row.transient_name(self.terms, &inventory.symbols).and_then(Result::ok);
            own.as_ref() == Some(name) || self.live_names(&row.id).contains(name)
        })
    }

    /// Whether a live address of the name that stays goes, so that the change of the pod waits for its turn.
    fn takes_values(&self, pod: &Pod) -> bool {
        let Ok(constant) = pod.constant_name(self.terms, &self.context.inventory.symbols) else { return true };
        pod.state == PodState::Active && !self.leads_to(constant.as_name(), pod)
    }

    /// The names of placements of a pod by which the name that stays with it has its live addresses.
    fn live_names(&self, pod: &str) -> Vec<Name> {
        let Some(constant) = self.constant_name(pod) else { return Vec::new() };
        let mut names: Vec<Name> = self
            .live
            .addresses_at(constant.as_name())
            .flat_map(|address| self.live.holding(address))
            .map(|found| found.rrset.owner().as_name().to_name())
            // The template of the name that stays may give what that of placements gives.
            .filter(|name| *name != constant && self.terms.is_placement_of(pod, name.as_name()))
            .collect();
        names.sort_unstable_by(|one, other| one.as_name().cmp_text(other.as_name()));
        names.dedup();
        names
    }

    /// The name that stays with a pod, by its id.
    fn constant_name(&self, pod: &str) -> Option<Name> {
        let RuleContext { inventory, .. } = *self.context;
        match inventory.pods.place_of(self.set, pod) {
            Some(place) => inventory.pods.rows[place].constant_name(self.terms, &inventory.symbols).ok(),
            None => Pod::constant_name_of(pod, self.terms),
        }
    }
}
