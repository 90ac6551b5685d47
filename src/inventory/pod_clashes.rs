//! Faults of pods that only show next to other rows, or with the file of their set: names and addresses of two pods, circles of
//! pods that replace each other, names that DNS does not allow. Pure.
//!
//! Comes in: all pods. Goes out: the same, those with a fault marked, and what is wrong at their rows.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::net::IpAddr;

use foldhash::HashSet;
use foldhash::fast::FixedState;
use rayon::prelude::*;

use super::pods::{Pod, Pods};
use super::symbol::Symbols;
use crate::diag::{Code, Diagnostic, Diagnostics, Files};
use crate::dns::Name;

/// A kind of fault: what every diagnostic of it says.
struct ClashKind {
    /// The code.
    code: Code,
    /// The rule that is broken.
    rule: &'static str,
    /// What to do.
    hint: &'static str,
}

/// Pods that replace each other.
const CIRCLE: ClashKind = ClashKind {
    code: Code::new("pod-circle"),
    rule: "a pod replaces an older one: following `replaces` never leads back",
    hint: "correct `replaces`; until then these pods are blocked `bad-input`",
};

/// An address of two pods.
const ADDRESS: ClashKind = ClashKind {
    code: Code::new("duplicate-pod-address"),
    rule: "an address belongs to one pod at a time, among those that are prepared or active",
    hint: "export again once the address has moved; until then both pods are blocked `bad-input`",
};

/// A name of two pods, or two names of one pod that are one.
const NAME: ClashKind = ClashKind {
    code: Code::new("duplicate-pod-name"),
    rule: "each pod has its own constant name, and each placement its own transient name",
    hint: "give one of the sets another domain or another template; until then these pods are blocked `bad-input`",
};

/// A template that gives a pod no name.
const NO_NAME: ClashKind = ClashKind {
    code: Code::new("bad-pod-name"),
    rule: "labels are 1 to 63 letters, digits, hyphens and underscores, names at most 255 bytes",
    hint: "correct the row or the template of its set; until then the pod is blocked `bad-input`",
};

/// One fault of one pod.
struct PodClash {
    /// The place of the pod.
    place: usize,
    /// Its kind.
    kind: &'static ClashKind,
    /// What is wrong.
    message: String,
}

/// Marks the pods that have such a fault, and reports each.
pub fn mark(pods: &mut Pods, symbols: &Symbols, files: &Files, diagnostics: &mut Diagnostics) {
    let view = PodView { pods, symbols, files };
    let (mut found, (addresses, names)) =
        rayon::join(|| circles(&view), || rayon::join(|| same_addresses(&view), || same_names(&view)));
    found.extend(addresses.into_iter().chain(names));
    found.sort_by_key(|clash| pods.rows[clash.place].origin);
    let mut clashes = Diagnostics::default();
    for PodClash { place, kind, message } in found {
        let pod = &mut pods.rows[place];
        clashes.push_bounded(pod.origin.file, || {
            Diagnostic::error(kind.code, pod.origin, message.as_str()).rule(kind.rule).hint(kind.hint)
        });
        pod.fault.get_or_insert_with(|| message.into());
    }
    diagnostics.append(clashes);
}

/// The pods, and what their names and places are made of.
struct PodView<'v> {
    /// The pods.
    pods: &'v Pods,
    /// Their nodes, racks and locations.
    symbols: &'v Symbols,
    /// The files of their rows.
    files: &'v Files,
}

impl PodView<'_> {
    /// The pod at a place, in words.
    fn names(&self, place: usize) -> String {
        let pod = &self.pods.rows[place];
        format!("pod `{}/{}` ({})", self.pods.set_of(pod).id, pod.id, self.files.place(pod.origin))
    }
}

/// Pods that replace each other in a circle, or themselves.
fn circles(view: &PodView<'_>) -> Vec<PodClash> {
    let rows = &view.pods.rows;
    let next: BTreeMap<usize, usize> = rows
        .iter()
        .enumerate()
        .filter_map(|(place, pod)| Some((place, view.pods.place_of(pod.set, pod.replaces.as_deref()?)?)))
        .collect();
    let mut done: HashSet<usize> = HashSet::default();
    let mut found = Vec::new();
    for start in next.keys() {
        let (mut path, mut at) = (Vec::new(), *start);
        // A path ends at a pod that replaces none, at one that was looked at, or where it meets itself.
        while done.insert(at) {
            path.push(at);
            let Some(further) = next.get(&at) else { break };
            at = *further;
        }
        let Some(begin) = path.iter().position(|own| *own == at) else { continue };
        let circle = &path[begin..];
        if !next.contains_key(&at) {
            continue;
        }
        let message = match circle {
            [_] => "the pod replaces itself".to_owned(),
            _ => {
                let shown: Vec<String> =
                    circle.iter().take(SHOWN).map(|place| format!("`{}`", rows[*place].id)).collect();
                let more =
                    if circle.len() > SHOWN { format!(" and {} more", circle.len() - SHOWN) } else { String::new() };
                format!("the pods {}{more} replace each other in a circle", shown.join(", "))
            }
        };
        found.extend(circle.iter().map(|place| PodClash { place: *place, kind: &CIRCLE, message: message.clone() }));
    }
    found
}

/// How many pods of a circle a message names.
const SHOWN: usize = 5;

/// An address of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddressOfPod {
    /// The address.
    address: IpAddr,
    /// The place of the pod.
    place: u32,
}

/// Addresses that two pods have at a time.
fn same_addresses(view: &PodView<'_>) -> Vec<PodClash> {
    let placed = view.pods.rows.iter().enumerate().filter(|(_, pod)| pod.state.is_placed());
    let of_pod = |(place, pod): (usize, &Pod)| {
        let of_place = move |address: IpAddr| AddressOfPod { address, place: place as u32 };
        pod.addresses.clone().into_iter().map(of_place)
    };
    let mut all: Vec<AddressOfPod> = placed.flat_map(of_pod).collect();
    all.par_sort_unstable();
    let mut found = Vec::new();
    for twins in all.chunk_by(|a, b| a.address == b.address).filter(|twins| twins.len() > 1) {
        for twin in twins {
            let other = if twin == &twins[0] { &twins[1] } else { &twins[0] };
            let message = format!("`{}` is an address of {}, too", twin.address, view.names(other.place as usize));
            found.push(PodClash { place: twin.place as usize, kind: &ADDRESS, message });
        }
    }
    found
}

/// A name of a pod, by its hash: of millions of names only those that may be one are made twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct HashOfName {
    /// The hash.
    hash: u64,
    /// The place of the pod.
    place: u32,
    /// Whether it is that of the placement.
    is_transient: bool,
}

/// The names of pods, and the pods that have none.
#[derive(Default)]
struct NameSurvey {
    /// The hashes of all names.
    hashes: Vec<HashOfName>,
    /// The pods to which a template gives none.
    without: Vec<PodClash>,
}

impl NameSurvey {
    /// Adds the names of a pod.
    fn add(&mut self, view: &PodView<'_>, place: usize, hasher: &FixedState) {
        let pod = &view.pods.rows[place];
        let Some(terms) = view.pods.set_of(pod).terms() else { return };
        let mut hash = |name: Name, is_transient| {
            let hash = hasher.hash_one(name.as_wire());
            self.hashes.push(HashOfName { hash, place: place as u32, is_transient });
        };
        let mut without = None;
        match pod.constant_name(terms, view.symbols) {
            Ok(name) => hash(name, false),
            Err(error) => without = Some((&terms.constant, error)),
        }
        match pod.transient_name(terms, view.symbols) {
            Some(Ok(name)) => hash(name, true),
            Some(Err(error)) => without = without.or(Some((&terms.transient, error))),
            None => {}
        }
        // A pod without a place needs no names yet.
        if let Some((template, error)) = without.filter(|_| pod.state.is_placed()) {
            let message = format!("`{template}` gives the pod no name: {error}");
            self.without.push(PodClash { place, kind: &NO_NAME, message });
        }
    }

    /// Adds those of other pods.
    fn and(mut self, mut other: NameSurvey) -> NameSurvey {
        self.hashes.append(&mut other.hashes);
        self.without.append(&mut other.without);
        self
    }
}

/// Names that two pods have, and templates that give none.
fn same_names(view: &PodView<'_>) -> Vec<PodClash> {
    let hasher = FixedState::default();
    let add = |mut survey: NameSurvey, place| {
        survey.add(view, place, &hasher);
        survey
    };
    let places = (0..view.pods.rows.len()).into_par_iter();
    let NameSurvey { hashes: mut all, without: mut found } =
        places.fold(NameSurvey::default, add).reduce(NameSurvey::default, NameSurvey::and);
    all.par_sort_unstable();
    for alike in all.chunk_by(|a, b| a.hash == b.hash).filter(|alike| alike.len() > 1) {
        let mut named: BTreeMap<String, Vec<HashOfName>> = BTreeMap::new();
        for own in alike {
            let name = name(view, own.place as usize, own.is_transient).expect("a name that was hashed");
            named.entry(name.to_string()).or_default().push(*own);
        }
        for (name, twins) in named.iter().filter(|(_, twins)| twins.len() > 1) {
            for twin in twins {
                let other = if twin == &twins[0] { &twins[1] } else { &twins[0] };
                let message = if twin.place == other.place {
                    format!("`{name}` is the constant name of the pod and that of its placement")
                } else {
                    format!("`{name}` is a name of {}, too", view.names(other.place as usize))
                };
                found.push(PodClash { place: twin.place as usize, kind: &NAME, message });
            }
        }
    }
    found.dedup_by(|next, kept| next.place == kept.place && next.message == kept.message);
    found
}

/// One of the two names of a pod, where it has it.
fn name(view: &PodView<'_>, place: usize, is_transient: bool) -> Option<Name> {
    let pod = &view.pods.rows[place];
    let terms = view.pods.set_of(pod).terms()?;
    if is_transient {
        pod.transient_name(terms, view.symbols)?.ok()
    } else {
        pod.constant_name(terms, view.symbols).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Origin;
    use crate::inventory::pod_template::{Placement, PodField, PodTemplate};
    use crate::inventory::pods::{PodMigration, PodSet, PodSetFile, PodSetIndex, PodSetTerms, PodState};
    use crate::inventory::rollout::{MaxUnavailable, RolloutTerms, SettleTime};
    use crate::inventory::trust::ProjectIndex;
    use crate::inventory::value::Duration;

    /// Pods of one set, with the files and symbols that they need.
    struct Sample {
        /// The pods.
        pods: Pods,
        /// The texts.
        symbols: Symbols,
        /// The files.
        files: Files,
    }

    impl Sample {
        /// A set whose placements are named by a template.
        fn new(transient: &str) -> Sample {
            let mut files = Files::default();
            let origin = Origin::line(files.add("pods"), 1);
            let parse = |text| PodTemplate::parse(text, &[PodField::Pod, PodField::Placement, PodField::Rack]).unwrap();
            let terms = PodSetTerms {
                project: ProjectIndex(0),
                domain: Name::parse("example.net").unwrap(),
                constant: parse("{pod}"),
                transient: parse(transient),
                ttl: None,
                rollout: RolloutTerms {
                    max_unavailable: MaxUnavailable::Number(1),
                    budget_origin: origin,
                    one_location_at_a_time: true,
                    settle: SettleTime::Ttl,
                    settle_origin: None,
                    canary: None,
                    canary_origin: None,
                    overlap: None,
                    overlap_origin: None,
                    gate: None,
                    probe: None,
                },
                migration: PodMigration::Move,
                min_interval: Duration::from_secs(3600),
                endpoints: Vec::new(),
                origin,
                domain_origin: origin,
            };
            let sets = vec![PodSet { id: "s".into(), file: PodSetFile::Good(Box::new(terms)) }];
            Sample { pods: Pods { sets, ..Pods::default() }, symbols: Symbols::default(), files }
        }

        /// Adds an active pod; ids come in order.
        fn pod(mut self, id: &str, address: &str, rack: &str, replaces: Option<&str>) -> Sample {
            let origin = Origin { line: self.pods.rows.len() as u32 + 1, ..self.pods.sets[0].terms().unwrap().origin };
            let address: IpAddr = address.parse().unwrap();
            self.pods.rows.push(Pod {
                set: PodSetIndex(0),
                id: id.into(),
                time: "2026-11-20T01:00:00Z".parse().unwrap(),
                node: Some(self.symbols.intern("n1.example.net")),
                inv: None,
                rack: Some(self.symbols.intern(rack)),
                location: None,
                addresses: [address].into_iter().collect(),
                placement: Placement::of_row(Some("n1.example.net"), &[address]),
                is_enabled: true,
                state: PodState::Active,
                replaces: replaces.map(Into::into),
                fault: None,
                origin,
            });
            self
        }

        /// The faults, each with the pod.
        fn faults(mut self) -> Vec<String> {
            let mut found = Diagnostics::default();
            mark(&mut self.pods, &self.symbols, &self.files, &mut found);
            let faulty = self.pods.rows.iter().filter_map(|pod| Some(format!("{}: {}", pod.id, pod.fault.as_deref()?)));
            faulty.collect()
        }
    }

    #[test]
    fn a_circle_is_found_and_what_leads_into_it_is_good() {
        let sample = Sample::new("{pod}-{placement}")
            .pod("a", "::a", "r", Some("b"))
            .pod("b", "::b", "r", Some("c"))
            .pod("c", "::c", "r", Some("b"))
            .pod("d", "::d", "r", Some("d"))
            .pod("e", "::e", "r", Some("gone"));
        let circle = "the pods `b`, `c` replace each other in a circle";
        assert_eq!(
            sample.faults(),
            [format!("b: {circle}"), format!("c: {circle}"), "d: the pod replaces itself".to_owned()]
        );
    }

    #[test]
    fn names_of_two_pods_are_found_whichever_names_they_are() {
        let sample = Sample::new("{pod}-{rack}")
            .pod("a", "::a", "b-c", None)
            .pod("a-b", "::b", "c", None)
            .pod("b", "::c", "r", None);
        assert_eq!(
            sample.faults(),
            [
                "a: `a-b-c.example.net.` is a name of pod `s/a-b` (pods:2), too",
                "a-b: `a-b-c.example.net.` is a name of pod `s/a` (pods:1), too",
            ]
        );
        let sample = Sample::new("{pod}-{rack}").pod("a", "::a", "1", None).pod("a-1", "::b", "2", None);
        assert_eq!(
            sample.faults(),
            [
                "a: `a-1.example.net.` is a name of pod `s/a-1` (pods:2), too",
                "a-1: `a-1.example.net.` is a name of pod `s/a` (pods:1), too",
            ]
        );
    }

    #[test]
    fn an_address_counts_only_where_both_pods_are_placed() {
        let mut sample = Sample::new("{pod}-{placement}").pod("a", "::a", "r", None).pod("b", "::a", "r", None);
        sample.pods.rows[1].state = PodState::Removing;
        assert_eq!(sample.faults(), [""; 0]);
        let sample = Sample::new("{pod}-{placement}").pod("a", "::a", "r", None).pod("b", "::a", "r", None);
        assert_eq!(
            sample.faults(),
            ["a: `::a` is an address of pod `s/b` (pods:2), too", "b: `::a` is an address of pod `s/a` (pods:1), too"]
        );
    }
}
