//! How far the names of templates are used up: the lowest number that is free, and who has those before it.

use std::collections::HashMap;

use super::outcome::{NameCode, NameRefusal};
use super::refuse::HostInProject;
use super::series::{NameSeries, SeriesError};
use super::taken::{TakenNames, TakenReason, fastbone_label};
use crate::inventory::Inventory;
use crate::inventory::model::{Host, ProjectIndex, ProjectSettings};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::Inv;

/// How many numbers are looked up at a time, at most, so that memory answers them together.
const AT_ONCE: u64 = 32;

/// The series that names are taken from, each once: projects that give the same names share one.
pub struct AllSeries<'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// The places in `all` of projects at locations, for hosts that are in a project.
    known: HashMap<(ProjectIndex, ProjectIndex, Symbol), usize>,
    /// The places in `all` of the keys of series.
    by_key: HashMap<SeriesKey, usize>,
    /// The places in `all` of hosts that got no name because theirs is used up.
    by_host: HashMap<Inv, usize>,
    /// The series.
    all: Vec<OpenSeries>,
}

/// What makes two projects at two locations share their names: template, location, and the other labels of each host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SeriesKey {
    /// The template.
    template: String,
    /// The location in lower case; `None` where the template does not name it, so that all locations share its names.
    location: Option<String>,
    /// A dot in place of the label, and the other labels of the host: a template's text has no dot, so the dot shows
    /// the text before it and after it.
    labels: Vec<Vec<u8>>,
}

/// A series and its use so far.
pub struct OpenSeries {
    /// Its key.
    key: SeriesKey,
    /// The projects that give a host a fastbone name in addition to its name: the one that gives it, and that of
    /// hosts.csv.
    projects: [ProjectIndex; 2],
    /// Its labels.
    series: NameSeries,
    /// The number that is tried next: all before it are taken.
    next: u64,
    /// Why numbers from `next` on are not free, for those that were looked up; the last one first.
    ahead: Vec<Option<TakenReason>>,
    /// How many of those a host has.
    held: u64,
    /// How many a host had until not long ago.
    cooling: u64,
    /// How many live DNS holds something at.
    live: u64,
    /// How many were given.
    given: u64,
}

impl<'i> AllSeries<'i> {
    /// Starts with none.
    pub fn new(inventory: &'i Inventory) -> AllSeries<'i> {
        let (known, by_key, by_host) = Default::default();
        AllSeries { inventory, known, by_key, by_host, all: Vec::new() }
    }

    /// A series by its place.
    pub fn open(&mut self, place: usize) -> &mut OpenSeries {
        &mut self.all[place]
    }

    /// Notes that a host got no name because the series at a place is used up.
    pub fn note_exhausted(&mut self, inv: Inv, place: usize) {
        self.by_host.insert(inv, place);
    }

    /// What there is and who has it, of the series that was used up when a host's turn came; `None` where none was.
    pub fn exhausted(&self, inv: Inv) -> Option<String> {
        self.by_host.get(&inv).map(|place| self.all[*place].exhausted())
    }

    /// The labels that would be given next in all series, those of fastbones too.
    pub fn next_free(&self, taken: &TakenNames) -> Vec<Vec<u8>> {
        self.all.iter().flat_map(|open| open.next_free(self.inventory, taken)).collect()
    }

    /// The place of the series of a project at a host's location.
    pub fn place(
        &mut self,
        host: &Host,
        project: ProjectIndex,
        settings: &ProjectSettings,
    ) -> Result<usize, NameRefusal> {
        let known = (project, host.project, host.location);
        if let Some(place) = self.known.get(&known) {
            return Ok(*place);
        }
        let location = self.inventory.symbols.text(host.location);
        let template = &settings.shortname_template;
        let series = NameSeries::new(template, location).map_err(|error| {
            let message = match error {
                SeriesError::BadLocation => {
                    format!("location `{location}` cannot be part of a name, as `{template}` requires")
                }
                SeriesError::TooLong(octets) => {
                    format!("`{template}` gives labels of {octets} bytes at `{location}`; 63 are allowed")
                }
            };
            let hint = "correct `shortname_template`, or the location in hosts.csv".to_owned();
            HostInProject::own(self.inventory, host).refusal(NameCode::BadTemplate, message, hint)
        })?;
        let projects = [project, host.project];
        let key = SeriesKey {
            template: template.to_string(),
            location: template.has_location().then(|| location.to_ascii_lowercase()),
            labels: labels_together(self.inventory, projects, b"."),
        };
        let place = *self.by_key.entry(key.clone()).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push(OpenSeries::new(key, projects, series));
        }
        self.known.insert(known, place);
        Ok(place)
    }
}

impl OpenSeries {
    /// Starts with the first number.
    fn new(key: SeriesKey, projects: [ProjectIndex; 2], series: NameSeries) -> OpenSeries {
        OpenSeries { key, projects, series, next: 1, ahead: Vec::new(), held: 0, cooling: 0, live: 0, given: 0 }
    }

    /// The lowest label that is free together with the others of its host, all of which `together` returns; `None`
    /// where the width is used up.
    pub fn lowest(&mut self, taken: &TakenNames, together: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
        loop {
            if self.ahead.is_empty() {
                self.look_ahead(taken);
            }
            let known = *self.ahead.last()?;
            // A taken label stays taken, perhaps for another reason; a free one, or one that belongs to it, may have
            // been taken since.
            let labels = if known.is_none() { together(&self.series.label(self.next)?) } else { Vec::new() };
            match known.or_else(|| labels.iter().find_map(|label| taken.reason(label))) {
                None => return Some(labels),
                Some(TakenReason::Held) => self.held += 1,
                Some(TakenReason::Cooling) => self.cooling += 1,
                Some(TakenReason::Live) => self.live += 1,
            }
            self.advance();
        }
    }

    /// Looks up the next numbers; more of them the further it got, since most series of a fleet are short.
    fn look_ahead(&mut self, taken: &TakenNames) {
        let numbers = self.next..self.next + AT_ONCE.min(self.next);
        let labels: Vec<Vec<u8>> = numbers.map_while(|number| self.series.label(number)).collect();
        self.ahead = taken.reasons(&labels);
        self.ahead.reverse();
    }

    /// Continues with the next number.
    fn advance(&mut self) {
        self.next += 1;
        self.ahead.pop();
    }

    /// The labels that would be given next, with those of their fastbones: as many as were skipped because of live DNS.
    /// Where those were found by questions, the number of questions doubles until every existing name was asked for.
    fn next_free(&self, inventory: &Inventory, taken: &TakenNames) -> Vec<Vec<u8>> {
        let labels = (self.next..).map_while(|number| self.series.label(number));
        let together = labels.map(|label| labels_together(inventory, self.projects, &label));
        let free = together.filter(|labels| labels.iter().all(|label| taken.reason(label).is_none()));
        free.take(self.live as usize).flatten().collect()
    }

    /// Notes that the label that was found last is given.
    pub fn take(&mut self) {
        self.given += 1;
        self.advance();
    }

    /// What there is and who has it, once all is taken.
    fn exhausted(&self) -> String {
        let SeriesKey { template, location, .. } = &self.key;
        let allowed = self.series.capacity().unwrap_or(self.next - 1);
        let uses = [
            (self.held, "held"),
            (self.cooling, "given up less than `name_cooldown` ago"),
            (self.live, "in live DNS"),
            (self.given, "given now"),
        ];
        let uses: Vec<String> =
            uses.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        let at = location.as_ref().map(|location| format!(" at `{location}`")).unwrap_or_default();
        format!("`{template}`{at} allows {allowed} names, and all are taken: {}", uses.join(", "))
    }
}

/// The short names of a host that has this one: its own, and those of the fastbones that it gets by a project, and by
/// hosts.csv until that says the same project.
pub fn labels_together(inventory: &Inventory, projects: [ProjectIndex; 2], label: &[u8]) -> Vec<Vec<u8>> {
    let mut labels = vec![label.to_vec()];
    labels.extend(fastbone_label(inventory, projects[0], label));
    if projects[1] != projects[0] {
        labels.extend(fastbone_label(inventory, projects[1], label));
    }
    labels
}
