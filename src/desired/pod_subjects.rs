//! The subjects of all pods and endpoints, each derived when it is read, and few of them kept.
//!
//! In nearly every pod everything is in order, and it is read once: its claims need not be kept. Subjects are counted by
//! their places: pods first, then endpoints, each in the order of subjects.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::pods::{EndpointCase, EndpointSights, PodCase, endpoint_names};
use super::records::StatedSubject;
use crate::claim::{EndpointSetName, PodName, Subject};
use crate::dns::NameRef;
use crate::inventory::Inventory;
use crate::inventory::model::ProjectIndex;
use crate::inventory::pods::{PodSet, PodSetIndex, ProjectPods};
use crate::live::Live;

/// All pods and endpoints whose project is known.
#[derive(Debug)]
pub struct PodSubjects<'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// In which zone a name is, and which SRV there are.
    live: &'i Live,
    /// What endpoints depend on.
    sights: EndpointSights,
    /// The sets that have subjects, in the order of these.
    sets: Vec<SetPlaces>,
    /// Where each set of the inventory is among them.
    numbers: Vec<Option<u32>>,
    /// The endpoints, in their order.
    endpoints: Vec<EndpointPlace>,
    /// Which of the sets the pod at each place is of.
    pods: Vec<u32>,
    /// What was read and is kept.
    kept: Vec<OnceLock<Box<StatedSubject>>>,
}

/// Where the pods of a set are.
#[derive(Debug)]
struct SetPlaces {
    /// The set.
    set: PodSetIndex,
    /// Its id.
    id: Arc<str>,
    /// Its project.
    project: ProjectIndex,
    /// The rows of its pods.
    rows: Range<usize>,
    /// The place of its first pod among subjects.
    first: usize,
}

/// The endpoints of one name.
#[derive(Debug)]
struct EndpointPlace {
    /// The place of the set among those that have subjects.
    set: usize,
    /// The set and the name.
    name: EndpointSetName,
}

impl<'i> PodSubjects<'i> {
    /// Counts the subjects of an inventory; none of them is derived yet. `live` says in which zone a name is, and which SRV
    /// there are.
    pub fn of(inventory: &'i Inventory, live: &'i Live) -> PodSubjects<'i> {
        let pods = &inventory.pods;
        let all = (0..).map(PodSetIndex).zip(&pods.sets);
        let places = |(number, set): (PodSetIndex, &PodSet)| {
            let (id, rows) = (Arc::from(&*set.id), pods.places_of(number));
            Some(SetPlaces { set: number, id, project: set.project()?, rows, first: 0 })
        };
        let mut sets: Vec<SetPlaces> = all.filter_map(places).collect();
        // Rows are sorted by the ids of sets alone, subjects by the whole text.
        sets.sort_by_cached_key(|own| Subject::pod(Arc::clone(&own.id), ""));
        PodSubjects::of_sets(inventory, live, sets)
    }

    /// No pods and no endpoints.
    pub fn none(inventory: &'i Inventory, live: &'i Live) -> PodSubjects<'i> {
        PodSubjects::of_sets(inventory, live, Vec::new())
    }

    /// Counts the subjects of some sets, which are sorted.
    fn of_sets(inventory: &'i Inventory, live: &'i Live, mut sets: Vec<SetPlaces>) -> PodSubjects<'i> {
        let pods = &inventory.pods;
        let mut of_pods = Vec::with_capacity(pods.rows.len());
        let mut numbers = vec![None; pods.sets.len()];
        for (number, own) in sets.iter_mut().enumerate() {
            own.first = of_pods.len();
            of_pods.resize(own.first + own.rows.len(), number as u32);
            numbers[own.set.0 as usize] = Some(number as u32);
        }
        let of_set = |(set, own): (usize, &SetPlaces)| {
            let names = pods.sets[own.set.0 as usize].terms().map(endpoint_names).unwrap_or_default();
            let id = Arc::clone(&own.id);
            names.into_iter().map(move |name| {
                let name = EndpointSetName { set: Arc::clone(&id), name: name.into() };
                EndpointPlace { set, name }
            })
        };
        let endpoints: Vec<EndpointPlace> = sets.iter().enumerate().flat_map(of_set).collect();
        let kept = (0..of_pods.len() + endpoints.len()).map(|_| OnceLock::new()).collect();
        let sights = EndpointSights::of(inventory, live);
        PodSubjects { inventory, live, sights, sets, numbers, endpoints, pods: of_pods, kept }
    }

    /// Which projects have sets of pods.
    pub fn projects(&self) -> &ProjectPods {
        &self.sights.of_projects
    }

    /// How many subjects there are.
    pub fn count(&self) -> usize {
        self.kept.len()
    }

    /// The places of pods.
    pub fn pods(&self) -> Range<usize> {
        0..self.pods.len()
    }

    /// The places of endpoints.
    pub fn endpoints(&self) -> Range<usize> {
        self.pods.len()..self.kept.len()
    }

    /// The place of a subject.
    pub fn place_of(&self, subject: &Subject) -> Option<usize> {
        match subject {
            Subject::Pod(own) => {
                let PodName { set, pod } = &**own;
                let set = self.inventory.pods.find_set(set)?;
                self.place_of_row(set, self.inventory.pods.place_of(set, pod)?)
            }
            Subject::Endpoints(own) => {
                Some(self.pods.len() + self.endpoints.binary_search_by(|other| other.name.cmp(own)).ok()?)
            }
            _ => None,
        }
    }

    /// The place of the pod of a row of a set.
    pub fn place_of_row(&self, set: PodSetIndex, row: usize) -> Option<usize> {
        let own = &self.sets[self.numbers[set.0 as usize]? as usize];
        Some(own.first + (row - own.rows.start))
    }

    /// The project of a subject.
    pub fn project_of(&self, place: usize) -> ProjectIndex {
        self.set_at(place).project
    }

    /// The set of the subject at a place.
    fn set_at(&self, place: usize) -> &SetPlaces {
        let set = match place.checked_sub(self.pods.len()) {
            Some(endpoint) => self.endpoints[endpoint].set,
            None => self.pods[place] as usize,
        };
        &self.sets[set]
    }

    /// The pod at a place.
    pub fn pod(&self, place: usize) -> PodCase<'_> {
        let SetPlaces { set, id, project, rows, first } = self.set_at(place);
        let PodSubjects { inventory, live, .. } = *self;
        let pod = &inventory.pods.rows[rows.start + (place - first)];
        PodCase { inventory, live, pod, set: &inventory.pods.sets[set.0 as usize], project: *project, id }
    }

    /// The subject at a place, without its claims.
    pub fn name_of(&self, place: usize) -> Subject {
        match place.checked_sub(self.pods.len()) {
            Some(endpoint) => Subject::Endpoints(Box::new(self.endpoints[endpoint].name.clone())),
            None => self.pod(place).bare().subject,
        }
    }

    /// Whether a name is the one that stays with the pod at a place.
    pub fn has_constant_name(&self, place: usize, name: NameRef<'_>) -> bool {
        if place >= self.pods.len() {
            return false;
        }
        let PodCase { pod, set, .. } = self.pod(place);
        let constant = set.terms().and_then(|terms| pod.constant_name(terms, &self.inventory.symbols).ok());
        constant.is_some_and(|constant| constant.as_name() == name)
    }

    /// Derives the subject at a place, and does not keep it.
    pub fn derive(&self, place: usize) -> StatedSubject {
        match place.checked_sub(self.pods.len()) {
            Some(endpoint) => self.endpoints_at(endpoint).subject(&self.endpoints[endpoint].name),
            None => self.pod(place).subject(),
        }
    }

    /// The subject of the endpoints at a place, with the names and types of its claims, and without values.
    pub fn outline(&self, place: usize) -> StatedSubject {
        let endpoint = place - self.pods.len();
        self.endpoints_at(endpoint).outline(&self.endpoints[endpoint].name)
    }

    /// The endpoints at a place: their name, and what their claims follow from.
    pub fn endpoint(&self, place: usize) -> (&str, EndpointCase<'_>) {
        let endpoint = place - self.pods.len();
        (&self.endpoints[endpoint].name.name, self.endpoints_at(endpoint))
    }

    /// The set of the endpoints with a number.
    fn endpoints_at(&self, endpoint: usize) -> EndpointCase<'_> {
        let set = self.sets[self.endpoints[endpoint].set].set;
        let PodSubjects { inventory, live, sights, .. } = self;
        let terms = inventory.pods.sets[set.0 as usize].terms().expect("a set with endpoints has a good file");
        EndpointCase { inventory, live, set, terms, sights }
    }

    /// Keeps what was derived of the subject at a place.
    pub fn keep(&self, place: usize, subject: StatedSubject) {
        self.kept[place].get_or_init(|| Box::new(subject));
    }

    /// The subject at a place, where it is kept.
    pub fn kept(&self, place: usize) -> Option<&StatedSubject> {
        self.kept[place].get().map(|subject| &**subject)
    }

    /// The subject at a place, which is kept from then on.
    pub fn read(&self, place: usize) -> &StatedSubject {
        self.kept[place].get_or_init(|| Box::new(self.derive(place)))
    }
}
