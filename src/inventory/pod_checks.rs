//! Sets of pods compared with their pods and the hosts: what makes little sense, and what an outage would show. Pure.
//!
//! A set needs a budget of 5 % from 20 pods on, 3 enabled pods, and no server or rack with more pods than the budget.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::Inventory;
use super::budgets::{canary_warning, overlap_warning, settle_warning, zone_of};
use super::pods::{EndpointSpec, Pod, PodMigration, PodSet, PodSetIndex, PodSetTerms};
use super::rollout::MaxUnavailable;
use super::symbol::Symbol;
use crate::diag::{Diagnostic, Diagnostics, Origin};
use crate::dns::{Name, NameRef, Ttl};

/// The code of a budget that does not fit its set.
const BUDGET: &str = "set-budget";

/// The code of a set with too few pods.
const SMALL: &str = "set-small";

/// The code of a server or rack that holds too many pods.
const DOMAIN: &str = "set-domain";

/// The code of pods that no SRV lists, since their location gives no name of one.
const LOCATION: &str = "endpoint-location";

/// The code of an endpoint whose protocol no client asks for.
const PROTOCOL: &str = "endpoint-protocol";

/// The protocols that clients of SRV ask for: those of the transport.
const PROTOCOLS: [&str; 3] = ["tcp", "udp", "sctp"];

/// The code of pods on nodes that the inventory lacks.
const NODE: &str = "unknown-node";

/// The code of pods that replace a pod without a row.
const REPLACED: &str = "unknown-replaced";

/// The code of rows that say which pod they replace, in a set that moves names.
const UNUSED: &str = "unused-replaces";

/// The fewest enabled pods of a set.
const FEWEST: usize = 3;

/// From so many pods on, a set needs a budget of a twentieth of them.
const MANY: usize = 20;

/// The part of the pods of such a set that its budget is at least.
const PART: usize = 20;

/// How many rows or places a message names.
const NAMED: usize = 3;

/// Warns of sets that do not fit their pods.
pub fn check(inventory: &Inventory) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    let endpoints = inventory.pods.sets.iter().filter_map(PodSet::terms).flat_map(|terms| &terms.endpoints);
    endpoints.filter_map(unusual_protocol).for_each(|warning| warnings.push(warning));
    // A part of the pods shows nothing of their sets.
    if inventory.pods.trust.doubt().is_some() {
        return warnings;
    }
    let hosts = KnownHosts::of(inventory);
    for (place, set) in inventory.pods.sets.iter().enumerate() {
        let Some(terms) = set.terms() else { continue };
        let pods = &inventory.pods.rows[inventory.pods.places_of(PodSetIndex(place as u32))];
        let view = SetView { inventory, terms, pods };
        let of_hosts = hosts.as_ref().and_then(|hosts| view.unknown_nodes(hosts));
        let of_rollout = [
            canary_warning(&terms.rollout, view.in_service().count()),
            settle_warning(&terms.rollout, view.ttl()),
            overlap_warning(&terms.rollout, inventory.config.waves_expire),
        ];
        let found = [view.budget(), view.small(), view.replaced(), of_hosts].into_iter().chain(of_rollout);
        let crowded = [view.crowded("the server", |pod| pod.node), view.crowded("the rack", |pod| pod.rack)];
        let unlisted = terms.endpoints.iter().map(|endpoint| view.unlisted(endpoint));
        found.chain(crowded).chain(unlisted).flatten().for_each(|warning| warnings.push(warning));
    }
    warnings
}

/// Warns of an endpoint whose protocol is none of the transport.
fn unusual_protocol(endpoint: &EndpointSpec) -> Option<Diagnostic> {
    let EndpointSpec { name, protocol, origin, .. } = endpoint;
    if PROTOCOLS.contains(&&**protocol) {
        return None;
    }
    let message = format!("the protocol of endpoint `{name}` is `{protocol}`: its SRV is `_{name}._{protocol}`");
    Some(
        Diagnostic::warning(PROTOCOL, *origin, message)
            .rule("clients look up SRV by the protocol of the transport: `tcp`, `udp` or `sctp`")
            .hint("write one of these; what is spoken over it belongs into `name`"),
    )
}

/// In which ways a set does not meet what a project may demand of it, in words; none where it does.
pub fn unmet(inventory: &Inventory, set: PodSetIndex) -> Option<String> {
    let terms = inventory.pods.sets[set.0 as usize].terms()?;
    let view = SetView { inventory, terms, pods: &inventory.pods.rows[inventory.pods.places_of(set)] };
    let crowded = [view.crowded("the server", |pod| pod.node), view.crowded("the rack", |pod| pod.rack)];
    let found = [view.tight_budget(), view.small()].into_iter().chain(crowded).flatten();
    let messages: Vec<String> = found.map(|warning| warning.message).collect();
    (!messages.is_empty()).then(|| messages.join("; "))
}

/// A set with its pods.
struct SetView<'v> {
    /// The workspace.
    inventory: &'v Inventory,
    /// What its file says.
    terms: &'v PodSetTerms,
    /// Its pods.
    pods: &'v [Pod],
}

impl SetView<'_> {
    /// The pods in service.
    fn in_service(&self) -> impl Iterator<Item = &Pod> {
        self.pods.iter().filter(|pod| pod.is_enabled)
    }

    /// How many pods may be unavailable at once.
    fn allowed(&self) -> usize {
        self.terms.rollout.max_unavailable.of(self.in_service().count())
    }

    /// Warns of a budget that holds nothing back, is less than a pod, or keeps a large set from ever changing.
    fn budget(&self) -> Option<Diagnostic> {
        let (count, allowed) = (self.in_service().count(), self.allowed());
        let (message, rule, hint) = match self.terms.rollout.max_unavailable {
            _ if count == 0 => return None,
            MaxUnavailable::Share(share) if share.of(count) == 0 => (
                format!("{share} of the pods in service, {count}, is less than one pod, and counts as 1"),
                "at least one pod may be unavailable, or nothing could ever change",
                "write `unavailability_budget: 1` if one is meant".to_owned(),
            ),
            // A set of one pod has no smaller budget; that it is small is said by itself.
            MaxUnavailable::Share(_) | MaxUnavailable::Number(_) if allowed >= count.max(2) => (
                format!("the budget, {allowed}, is all of the pods in service: there are {count}"),
                "such a budget lets all of them be unavailable at once",
                "write a smaller number, or a share such as `10%`".to_owned(),
            ),
            MaxUnavailable::Share(_) | MaxUnavailable::Number(_) => return self.tight_budget(),
        };
        Some(Diagnostic::warning(BUDGET, self.terms.rollout.budget_origin, message).rule(rule).hint(hint))
    }

    /// Warns of a budget that keeps a large set from being moved in time.
    fn tight_budget(&self) -> Option<Diagnostic> {
        let (count, allowed) = (self.in_service().count(), self.allowed());
        if count < MANY || allowed * PART >= count {
            return None;
        }
        let message = format!("the budget, {allowed}, is less than 5% of the pods in service: there are {count}");
        let rule = "a set of 20 pods or more needs a budget of 5%, or servers cannot be emptied in time";
        let hint = format!("write `unavailability_budget: 5%`, or at least {}", count.div_ceil(PART));
        Some(Diagnostic::warning(BUDGET, self.terms.rollout.budget_origin, message).rule(rule).hint(hint))
    }

    /// Warns of a set with too few enabled pods.
    fn small(&self) -> Option<Diagnostic> {
        let count = self.in_service().count();
        if count >= FEWEST {
            return None;
        }
        let message = match count {
            0 => "the set has no enabled pod".to_owned(),
            1 => "the set has 1 enabled pod".to_owned(),
            _ => format!("the set has {count} enabled pods"),
        };
        let warning = Diagnostic::warning(SMALL, self.terms.origin, message);
        Some(
            warning
                .rule("a set needs 3 enabled pods, so that it works while one moves and one fails")
                .hint("add pods, or enable those that are disabled"),
        )
    }

    /// Warns of places that each hold more pods than the budget.
    fn crowded(&self, what: &str, place: impl Fn(&Pod) -> Option<Symbol>) -> Option<Diagnostic> {
        let allowed = self.allowed();
        let mut counts: BTreeMap<Symbol, usize> = BTreeMap::new();
        for place in self.in_service().filter(|pod| pod.state.is_placed()).filter_map(place) {
            *counts.entry(place).or_default() += 1;
        }
        let mut crowded: Vec<(usize, &str)> = counts
            .into_iter()
            .filter(|(_, count)| *count > allowed)
            .map(|(place, count)| (count, self.inventory.symbols.text(place)))
            .collect();
        crowded.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let (count, first) = *crowded.first()?;
        let message = format!("{what} `{first}` has {count} of the pods in service, and the budget is {allowed}");
        let mut warning = Diagnostic::warning(DOMAIN, self.terms.rollout.budget_origin, message);
        for (count, place) in crowded.iter().skip(1).take(NAMED - 1) {
            warning = warning.also(format!("`{place}` has {count}"));
        }
        if crowded.len() > NAMED {
            warning = warning.also(format!("so have {} more", crowded.len() - NAMED));
        }
        Some(
            warning
                .rule("no server and no rack has more pods of a set than its budget: it may fail as a whole")
                .hint("spread the pods over more servers and racks, or raise `unavailability_budget`"),
        )
    }

    /// The TTL of the records of the set.
    fn ttl(&self) -> Ttl {
        let inventory = self.inventory;
        let of_zone = || {
            zone_of(inventory, &self.terms.domain)
                .map_or(Ttl::DEFAULT, |zone| inventory.wanted_ttl(self.terms.project, zone))
        };
        self.terms.ttl.map_or_else(of_zone, |(ttl, _)| ttl)
    }

    /// Warns of rows that say which pod they replace, where the set moves names.
    fn unused(&self) -> Option<Diagnostic> {
        let replacing: Vec<&Pod> = self.pods.iter().filter(|pod| pod.replaces.is_some()).collect();
        let first = replacing.iter().min_by_key(|pod| pod.origin)?;
        let more = match replacing.len() {
            1 => String::new(),
            many => format!(", as in {} more", many - 1),
        };
        let migration = self.terms.migration.as_str();
        let message =
            format!("`replaces` of pod `{}` counts for nothing{more}: its set has `migration: {migration}`", first.id);
        Some(
            Diagnostic::warning(UNUSED, first.origin, message)
                .rule("records wait for the pod that replaces theirs only with `migration: copy-and-remove`")
                .hint("write `migration: copy-and-remove` in the file of the set, or leave `replaces` out"),
        )
    }

    /// Warns of pods that replace one without a row, or in a set that moves names.
    fn replaced(&self) -> Option<Diagnostic> {
        if self.terms.migration == PodMigration::Move {
            return self.unused();
        }
        let is_there = |id: &str| self.pods.binary_search_by(|pod| (*pod.id).cmp(id)).is_ok();
        let lacks = |pod: &&Pod| pod.replaces.as_deref().is_some_and(|id| !is_there(id));
        let lacking: Vec<&Pod> = self.pods.iter().filter(lacks).collect();
        let first = lacking.iter().min_by_key(|pod| pod.origin)?;
        let replaced = first.replaces.as_deref()?;
        let message = match lacking.len() {
            1 => format!("pod `{}` replaces `{replaced}`, and no row is about that", first.id),
            many => format!(
                "{many} pods replace pods that have no row, such as `{}`, which replaces `{replaced}`",
                first.id
            ),
        };
        Some(
            Diagnostic::warning(REPLACED, first.origin, message)
                .rule("`replaces` names a pod of the same set; this is normal once the older pod is gone")
                .hint("remove `replaces` if the older pod never was"),
        )
    }

    /// Warns of pods that an endpoint is to list, and whose location gives no name of an SRV.
    fn unlisted(&self, endpoint: &EndpointSpec) -> Option<Diagnostic> {
        let fault = |pod: &Pod| endpoint.label_at(pod, &self.inventory.symbols).err();
        let unlisted: Vec<&Pod> = self
            .pods
            .iter()
            .filter(|pod| endpoint.lists(pod) && pod.state.is_placed() && fault(pod).is_some())
            .collect();
        let first = unlisted.iter().min_by_key(|pod| pod.origin)?;
        let (name, error) = (endpoint.name.as_text(), fault(first)?);
        let message = match unlisted.len() {
            1 => format!("no SRV of endpoint `{name}` lists pod `{}`: {error}", first.id),
            many => format!("no SRV of endpoint `{name}` lists {many} pods, such as `{}`: {error}", first.id),
        };
        Some(
            Diagnostic::warning(LOCATION, first.origin, message)
                .rule("an endpoint with `{location}` in its name lists a pod in the SRV of the pod's location")
                .hint("correct the location in the rows, or leave `{location}` out of the name"),
        )
    }

    /// Warns of pods on nodes that hosts.csv lacks.
    fn unknown_nodes(&self, hosts: &KnownHosts<'_>) -> Option<Diagnostic> {
        let mut known: HashMap<Symbol, bool> = HashMap::default();
        let mut is_known = |pod: &Pod| match (pod.inv, pod.node) {
            (Some(inv), _) => !self.inventory.places_of(inv).is_empty(),
            (None, Some(node)) => *known.entry(node).or_insert_with(|| hosts.has(self.inventory.symbols.text(node))),
            (None, None) => true,
        };
        let lacking: Vec<&Pod> = self.pods.iter().filter(|pod| pod.state.is_placed() && !is_known(pod)).collect();
        let mut origins: Vec<Origin> = lacking.iter().map(|pod| pod.origin).collect();
        origins.sort_unstable();
        let first = lacking.iter().min_by_key(|pod| pod.origin)?;
        let node = first.node.map_or("no node", |node| self.inventory.symbols.text(node));
        let what = match first.inv {
            Some(inv) => format!("host {inv}, `{node}`"),
            None => format!("`{node}`"),
        };
        let message = match lacking.len() {
            1 => format!("pod `{}` is on a host that the inventory lacks: {what}", first.id),
            many => format!("{many} pods of the set are on hosts that the inventory lacks, the first on {what}"),
        };
        let mut warning = Diagnostic::warning(NODE, first.origin, message);
        for origin in origins.iter().skip(1).take(NAMED - 1) {
            warning = warning.also(format!("so is the one in {}", self.inventory.files.place(*origin)));
        }
        Some(
            warning
                .rule("the node of a pod is a host of hosts.csv, by `inv` or by name")
                .hint("correct the rows, or add the hosts to the inventory"),
        )
    }
}

/// The names of hosts.
struct KnownHosts<'h>(HashSet<NameRef<'h>>);

impl<'h> KnownHosts<'h> {
    /// Those of an inventory; none where hosts.csv is not there or not believed.
    fn of(inventory: &'h Inventory) -> Option<KnownHosts<'h>> {
        let has_hosts = inventory.exports.iter().any(|export| export.spec.key == "hosts");
        if !has_hosts || inventory.trust.hosts.doubt().is_some() || inventory.pods.rows.is_empty() {
            return None;
        }
        let own = inventory.hosts.iter().filter_map(|host| host.name.as_ref());
        let given = inventory.lock.iter().filter(|row| row.released.is_none()).filter_map(|row| row.name.as_ref());
        Some(KnownHosts(own.chain(given).map(Name::as_name).collect()))
    }

    /// Whether a host has a name.
    fn has(&self, node: &str) -> bool {
        Name::parse_host(node).is_ok_and(|name| self.0.contains(&name.as_name()))
    }
}
