//! Giving names: to each host the lowest number of its project's template whose short name is free.

use std::collections::HashMap;

use super::edit::{Editor, Held};
use super::holders::{lock_rows_of, name_of};
use super::outcome::{NameCode, Naming, Outcome, Refusal, Settled};
use super::series::{Series, SeriesError};
use super::taken::{Reason, Taken, fastbone_label};
use crate::diag::Origin;
use crate::dns::{Name, NameRef};
use crate::inventory::Inventory;
use crate::inventory::model::{
    Host, HostStatus, Policy, Project, ProjectAdmin, ProjectFile, ProjectIndex, ProjectSettings,
};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::{Inv, Time};

/// What hosts that have a name are asked to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// Keep it.
    Keep,
    /// Keep it where it is one of the template's and no other host's; else get another, and give it up.
    Rename,
    /// Give it up, and get another.
    Replace,
}

/// How names are given.
#[derive(Debug, Clone, Copy)]
pub struct Giving {
    /// What becomes of names that hosts have.
    pub holding: Holding,
    /// The project to which hosts are moved; `None` where they stay in theirs.
    pub to: Option<ProjectIndex>,
    /// The clock.
    pub now: Time,
}

/// Gives names to hosts without one, in the order of `invs`, which is sorted and has none twice.
///
/// `taken` knows the names of hosts and of live DNS, and learns those that are given. The same arguments give the same names.
pub fn allocate(inventory: &Inventory, taken: &mut Taken, invs: &[Inv], giving: Giving) -> Outcome {
    allocate_and_tell(inventory, taken, invs, giving).0
}

/// Gives names as [`allocate`] does, and tells which labels must be free for that.
pub fn allocate_and_tell(
    inventory: &Inventory,
    taken: &mut Taken,
    invs: &[Inv],
    giving: Giving,
) -> (Outcome, Candidates) {
    let editor = Editor::new(inventory, giving.now);
    let series = AllSeries::new(inventory);
    let (given, outcome) = Default::default();
    let mut allocation = Allocation { inventory, taken, giving, editor, series, given, outcome };
    for inv in invs {
        if let Err(refusal) = allocation.settle(*inv) {
            allocation.outcome.refused.push(refusal);
        }
    }
    allocation.finish()
}

/// The hosts that get names where nobody names any: those in use without one, of projects that have a domain; in order.
pub fn nameless(inventory: &Inventory) -> impl Iterator<Item = &Host> {
    inventory.hosts.iter().filter(|host| {
        host.status == HostStatus::Assigned
            && inventory.projects[host.project.0 as usize].admin.is_some()
            && name_of(inventory, host).is_none()
    })
}

/// Short names, those of fastbones too, of which nobody knows yet that they are taken.
#[derive(Debug, Default)]
pub struct Candidates {
    /// Those that were given: [`Taken::give_back`] takes them back.
    pub given: Vec<Vec<u8>>,
    /// Those that would be given next: of each series as many as live DNS holds something at among those passed over.
    pub next: Vec<Vec<u8>>,
}

/// Allocating, as far as it got.
struct Allocation<'i, 't> {
    /// The inventory.
    inventory: &'i Inventory,
    /// The short names that are taken.
    taken: &'t mut Taken,
    /// How names are given.
    giving: Giving,
    /// What is done to names.lock.
    editor: Editor<'i>,
    /// How far the templates are used up.
    series: AllSeries<'i>,
    /// The labels that were given, those of fastbones too.
    given: Vec<Vec<u8>>,
    /// What became of the hosts so far.
    outcome: Outcome,
}

impl Allocation<'_, '_> {
    /// Puts together what was done; who got no name because a template is used up is told with the final numbers.
    fn finish(self) -> (Outcome, Candidates) {
        let Allocation { taken, editor, series, given, outcome, .. } = self;
        let next = series.all.iter().flat_map(|open| open.next_free(series.inventory, taken)).collect();
        let mut outcome = Outcome { edits: editor.finish(), ..outcome };
        for refusal in outcome.refused.iter_mut().filter(|refusal| refusal.code == NameCode::TemplateExhausted) {
            if let Some(place) = series.by_host.get(&refusal.inv) {
                refusal.message = series.all[*place].exhausted();
            }
        }
        (outcome, Candidates { given, next })
    }

    /// Settles one host's name.
    fn settle(&mut self, inv: Inv) -> Result<(), Refusal> {
        let inventory = self.inventory;
        let host = find_host(inventory, inv)?;
        let project = self.giving.to.unwrap_or(host.project);
        let held = self.editor.held(inv);
        if let Some(held) = &held {
            let stays = match self.giving.holding {
                Holding::Keep => true,
                Holding::Rename => self.fits(host, held, project)?,
                Holding::Replace => false,
            };
            if stays {
                return self.keep(host, held, project);
            }
        }
        let given_up = match held {
            Some(Held { name, project: Some(old) }) => Some((name, old)),
            Some(Held { name, project: None }) => return Err(foreign(inventory, (inv, host.project), &name)),
            None => None,
        };
        let (name, labels) = self.lowest(host, project)?;
        if let Some((name, old)) = &given_up {
            self.editor.give_up(inv, name, *old);
        }
        labels.iter().for_each(|label| self.taken.take(label, inv));
        self.given.extend(labels);
        self.editor.give(inv, name.clone(), project);
        let before = given_up.map(|(name, _)| name);
        let mut naming = Naming { after: Some(name), ..self.naming(host, project) };
        if before.is_some() {
            naming.note = naming.note.or_else(|| switched_off(inventory, project));
        }
        naming.before = before;
        self.outcome.namings.push(naming);
        Ok(())
    }

    /// Lets a host keep its name; notes the project where that is another.
    fn keep(&mut self, host: &Host, held: &Held, project: ProjectIndex) -> Result<(), Refusal> {
        let Held { name, .. } = held;
        let admin = self.inventory.projects[project.0 as usize].admin.as_ref();
        let rows = &self.inventory.lock[lock_rows_of(self.inventory, host.inv)];
        let is_noted = rows.iter().any(|row| row.released.is_none() && row.project == project);
        if self.giving.to.is_none() || is_noted {
            self.outcome.settled.push(Settled { inv: host.inv, message: format!("has the name `{name}`") });
            return Ok(());
        }
        if !admin.is_some_and(|admin| admin.has_name(name.as_name())) {
            return Err(foreign(self.inventory, (host.inv, project), name));
        }
        // Beside the name it gets the fastbone name that the other project gives.
        if let Some(reason) = taken_by_others(self.inventory, self.taken, (host.inv, project), name.as_name()) {
            return Err(not_alone(self.inventory, (host.inv, project), (name, reason)));
        }
        let label = name.as_name().first_label().unwrap_or_default();
        if let Some(fastbone) = fastbone_label(self.inventory, project, label) {
            match self.taken.reason(&fastbone) {
                Some(Reason::Live) => return Err(shadowing(self.inventory, (host.inv, project), &fastbone)),
                Some(Reason::Held | Reason::Cooling) => {}
                None => self.given.push(fastbone.clone()),
            }
            self.taken.take(&fastbone, host.inv);
        }
        self.editor.move_to(host.inv, name.clone(), project);
        let same = Some(name.clone());
        let naming = Naming { before: same.clone(), after: same, ..self.naming(host, project) };
        self.outcome.namings.push(naming);
        Ok(())
    }

    /// Whether a host's name is one that its project's template gives, directly below a domain of it, and no other host's.
    ///
    /// Who else had it matters only in a project that is new to it: of two hosts that shared a name only one has to give it up.
    fn fits(&self, host: &Host, held: &Held, project: ProjectIndex) -> Result<bool, Refusal> {
        let (admin, settings) = rules_of(self.inventory, host, project)?;
        let in_domain = admin.has_name(held.name.as_name());
        let in_series = fits_template(self.inventory, host, settings, held.name.as_name());
        let others = taken_by_others(self.inventory, self.taken, (host.inv, project), held.name.as_name());
        let is_own = others.is_none() || others == Some(Reason::Cooling) && self.giving.to.is_none();
        Ok(in_domain && in_series && is_own)
    }

    /// A naming without names.
    fn naming(&self, host: &Host, project: ProjectIndex) -> Naming {
        let id = &self.inventory.projects[project.0 as usize].id;
        let own = &self.inventory.projects[host.project.0 as usize].id;
        let note = (project != host.project)
            .then(|| format!("in `{own}` by hosts.csv: records follow once hosts.csv says `{id}`"));
        Naming { inv: host.inv, project: id.clone(), before: None, after: None, note }
    }

    /// The lowest free name of a project at a host's location, and the short names that the host then has.
    fn lowest(&mut self, host: &Host, project: ProjectIndex) -> Result<(Name, Vec<Vec<u8>>), Refusal> {
        let inventory = self.inventory;
        let (admin, settings) = rules_of(inventory, host, project)?;
        let place = self.series.place(host, project, settings)?;
        let series = &mut self.series.all[place];
        let Some(labels) = series.lowest(self.taken, |label| labels_beside(inventory, [project, host.project], label))
        else {
            self.series.by_host.insert(host.inv, place);
            let hint = "widen the index, or add a `{bucket}`; names that hosts have stay as they are";
            return Err(refusal(
                inventory,
                (host.inv, host.project),
                NameCode::TemplateExhausted,
                (String::new(), hint.to_owned()),
            ));
        };
        let names: Result<Vec<Name>, Refusal> = labels
            .iter()
            .map(|label| {
                Name::prepend(label, admin.dns_domain.as_name()).map_err(|error| {
                    let shown = String::from_utf8_lossy(label);
                    let message = format!("`{shown}` below `{}` would be a name with {error}", admin.dns_domain);
                    let id = &inventory.projects[project.0 as usize].id;
                    let hint = format!("shorten `shortname_template` or `fastbone_name` of project `{id}`");
                    refusal(inventory, (host.inv, host.project), NameCode::BadTemplate, (message, hint))
                })
            })
            .collect();
        let name = names?.swap_remove(0);
        series.take();
        Ok((name, labels))
    }
}

/// What follows from another name where the owner has switched automation off: a plan publishes it as a first name, which
/// replaces no PTR, and afterwards leaves the host alone.
fn switched_off(inventory: &Inventory, project: ProjectIndex) -> Option<String> {
    let Project { id, admin, file } = &inventory.projects[project.0 as usize];
    file.settings().filter(|settings| !settings.automation && settings.policy != Policy::CreateOnly)?;
    admin.as_ref().filter(|admin| admin.automation_allowed)?;
    Some(format!("automation is off in `{id}`: their PTR get the new names only by a plan with `--host`"))
}

/// The short names of a host that has this one: its own, and those of the fastbones that it gets by a project, and by
/// hosts.csv until that says the same project.
fn labels_beside(inventory: &Inventory, projects: [ProjectIndex; 2], label: &[u8]) -> Vec<Vec<u8>> {
    let mut labels = vec![label.to_vec()];
    labels.extend(fastbone_label(inventory, projects[0], label));
    if projects[1] != projects[0] {
        labels.extend(fastbone_label(inventory, projects[1], label));
    }
    labels
}

/// The host of a number, if nothing is wrong with its lines.
pub fn find_host(inventory: &Inventory, inv: Inv) -> Result<&Host, Refusal> {
    let Some(place) = inventory.place_of(inv) else {
        return Err(Refusal {
            inv,
            project: String::new(),
            code: NameCode::NoHost,
            message: "hosts.csv lacks it".to_owned(),
            hint: "a host gets a name once hosts.csv has it".to_owned(),
        });
    };
    let host = &inventory.hosts[place];
    match host.bad.then_some(host.origin).or(bad_row(inventory, inv)) {
        None => Ok(host),
        Some(origin) => Err(bad_line(inventory, (inv, host.project), origin)),
    }
}

/// The first bad row of names.lock about a host.
pub fn bad_row(inventory: &Inventory, inv: Inv) -> Option<Origin> {
    inventory.lock[lock_rows_of(inventory, inv)].iter().find(|row| row.bad).map(|row| row.origin)
}

/// The refusal of a host with a bad line.
pub fn bad_line(inventory: &Inventory, whose: (Inv, ProjectIndex), origin: Origin) -> Refusal {
    let message = format!("{} is bad", inventory.files.place(origin));
    let hint = "correct the line; `zonewright check` says what is wrong with it, and `check --fix-lock` settles names that \
                two rows of names.lock give";
    refusal(inventory, whose, NameCode::BadInput, (message, hint.to_owned()))
}

/// The administrator's and the owner's half of a project, for a host.
pub fn rules_of<'i>(
    inventory: &'i Inventory,
    host: &Host,
    project: ProjectIndex,
) -> Result<(&'i ProjectAdmin, &'i ProjectSettings), Refusal> {
    let Project { id, admin, file } = &inventory.projects[project.0 as usize];
    let Some(admin) = admin else {
        let message = format!("zonewright.toml has no [project.{id}], so that its hosts have no domain");
        let hint = format!("add [project.{id}] with its `dns_domain`, or correct the project in hosts.csv");
        return Err(refusal(inventory, (host.inv, host.project), NameCode::NoDomain, (message, hint)));
    };
    match file {
        ProjectFile::Good(settings) => Ok((admin, settings)),
        ProjectFile::Bad { origin } => {
            let message = format!("{} is bad, so that the template is unknown", inventory.files.place(*origin));
            let hint = "correct the project file; `zonewright check` says what is wrong with it".to_owned();
            Err(refusal(inventory, (host.inv, host.project), NameCode::BadInput, (message, hint)))
        }
        ProjectFile::Missing => {
            let message = format!("no readable project file has the id `{id}`");
            let hint = format!("add a project file with `id: {id}`, or correct the one that cannot be read");
            Err(refusal(inventory, (host.inv, host.project), NameCode::BadInput, (message, hint)))
        }
    }
}

/// Whether the first label of a name is one that a template gives at the host's location.
pub fn fits_template(inventory: &Inventory, host: &Host, settings: &ProjectSettings, name: NameRef<'_>) -> bool {
    let series = Series::new(&settings.shortname_template, inventory.symbols.text(host.location));
    let label = name.first_label().unwrap_or_default();
    series.is_ok_and(|series| series.number_of(label).is_some())
}

/// Why a host's name is not its alone: what other hosts have or had of its short name and its fastbone's.
pub fn taken_by_others(
    inventory: &Inventory,
    taken: &Taken,
    (inv, project): (Inv, ProjectIndex),
    name: NameRef<'_>,
) -> Option<Reason> {
    let label = name.first_label().unwrap_or_default();
    let fastbone = fastbone_label(inventory, project, label);
    taken.reason_of_others(label, inv).or_else(|| taken.reason_of_others(&fastbone?, inv))
}

/// Puts the refusal of a host of a project together.
pub fn refusal(
    inventory: &Inventory,
    (inv, project): (Inv, ProjectIndex),
    code: NameCode,
    (message, hint): (String, String),
) -> Refusal {
    let project = inventory.projects[project.0 as usize].id.clone();
    Refusal { inv, project, code, message, hint }
}

/// The refusal of a host whose name lies in no domain of a project.
pub fn foreign(inventory: &Inventory, (inv, project): (Inv, ProjectIndex), name: &Name) -> Refusal {
    let id = &inventory.projects[project.0 as usize].id;
    let message = format!("its name `{name}` is not directly below a domain of project `{id}`");
    let hint = format!("add the domain to `also_domains` of [project.{id}], or correct the name");
    refusal(inventory, (inv, project), NameCode::ForeignDomain, (message, hint))
}

/// The refusal of a host whose short name, or its fastbone's, others have or had.
pub fn not_alone(
    inventory: &Inventory,
    (inv, project): (Inv, ProjectIndex),
    (name, reason): (&Name, Reason),
) -> Refusal {
    let short = String::from_utf8_lossy(name.as_name().first_label().unwrap_or_default()).into_owned();
    let message = match reason {
        Reason::Cooling => {
            format!("another host had `{short}`, or its fastbone's name, until less than `name_cooldown` ago")
        }
        Reason::Held | Reason::Live => format!("another host has `{short}`, or its fastbone's name"),
    };
    let hint = "`zonewright explain` says whose it is".to_owned();
    refusal(inventory, (inv, project), NameCode::NameTaken, (message, hint))
}

/// The refusal of a host whose fastbone would get a short name at which something stands that is no host's.
fn shadowing(inventory: &Inventory, whose: (Inv, ProjectIndex), fastbone: &[u8]) -> Refusal {
    let id = &inventory.projects[whose.1.0 as usize].id;
    let fastbone = String::from_utf8_lossy(fastbone);
    let message = format!("something stands at `{fastbone}` in live DNS, its fastbone's name in project `{id}`");
    let hint = format!("remove what stands there, or give the host a name of `{id}` with `release --to-project`");
    refusal(inventory, whose, NameCode::NameTaken, (message, hint))
}

/// The series that names are taken from, each once: projects that give the same names share one.
struct AllSeries<'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// The places in `all` of projects at locations, for hosts that are in a project.
    known: HashMap<(ProjectIndex, ProjectIndex, Symbol), usize>,
    /// The places in `all` of what they are known by.
    by_key: HashMap<SeriesKey, usize>,
    /// The places in `all` of hosts that got no name because theirs is used up.
    by_host: HashMap<Inv, usize>,
    /// The series.
    all: Vec<OpenSeries>,
}

/// What makes two projects at two locations share their names: template, location, and what is beside each name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SeriesKey {
    /// The template.
    template: String,
    /// The location in lower case; `None` where the template does not name it, so that all locations share its names.
    location: Option<String>,
    /// A dot in the place of a label, and what a host has beside it: no text of a template holds a dot, so that it shows
    /// what stands before it and what after.
    labels: Vec<Vec<u8>>,
}

/// A series, as far as it was used.
struct OpenSeries {
    /// What it is known by.
    key: SeriesKey,
    /// The projects by which a host has fastbones beside its name: the one that gives it, and that of hosts.csv.
    projects: [ProjectIndex; 2],
    /// Its labels.
    series: Series,
    /// The number that is tried next: all before it are taken.
    next: u64,
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
    fn new(inventory: &'i Inventory) -> AllSeries<'i> {
        let (known, by_key, by_host) = Default::default();
        AllSeries { inventory, known, by_key, by_host, all: Vec::new() }
    }

    /// The place of the series of a project at a host's location.
    fn place(&mut self, host: &Host, project: ProjectIndex, settings: &ProjectSettings) -> Result<usize, Refusal> {
        let known = (project, host.project, host.location);
        if let Some(place) = self.known.get(&known) {
            return Ok(*place);
        }
        let location = self.inventory.symbols.text(host.location);
        let template = &settings.shortname_template;
        let series = Series::new(template, location).map_err(|error| {
            let message = match error {
                SeriesError::BadLocation => {
                    format!("location `{location}` cannot be part of a name, as `{template}` asks")
                }
                SeriesError::TooLong(octets) => {
                    format!("`{template}` gives labels of {octets} octets at `{location}`; 63 is the most")
                }
            };
            let hint = "correct `shortname_template`, or the location in hosts.csv".to_owned();
            refusal(self.inventory, (host.inv, host.project), NameCode::BadTemplate, (message, hint))
        })?;
        let projects = [project, host.project];
        let key = SeriesKey {
            template: template.to_string(),
            location: template.has_location().then(|| location.to_ascii_lowercase()),
            labels: labels_beside(self.inventory, projects, b"."),
        };
        let place = *self.by_key.entry(key.clone()).or_insert(self.all.len());
        if place == self.all.len() {
            self.all.push(OpenSeries { key, projects, series, next: 1, held: 0, cooling: 0, live: 0, given: 0 });
        }
        self.known.insert(known, place);
        Ok(place)
    }
}

impl OpenSeries {
    /// The lowest label that is free together with those beside it, which `beside` gives all; `None` where the width is
    /// used up.
    fn lowest(&mut self, taken: &Taken, beside: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
        loop {
            let label = self.series.label(self.next)?;
            // Most numbers of a fleet are taken: only for the others is it worth while to look at what is beside.
            let reason = taken.reason(&label);
            let labels = if reason.is_none() { beside(&label) } else { Vec::new() };
            match reason.or_else(|| labels.iter().find_map(|label| taken.reason(label))) {
                None => return Some(labels),
                Some(Reason::Held) => self.held += 1,
                Some(Reason::Cooling) => self.cooling += 1,
                Some(Reason::Live) => self.live += 1,
            }
            self.next += 1;
        }
    }

    /// The labels that would be given next, with their fastbones': as many as were passed over because of live DNS, so that
    /// where those were found by asking, the questions double until all that is there was asked for.
    fn next_free(&self, inventory: &Inventory, taken: &Taken) -> Vec<Vec<u8>> {
        let labels = (self.next..).map_while(|number| self.series.label(number));
        let together = labels.map(|label| labels_beside(inventory, self.projects, &label));
        let free = together.filter(|labels| labels.iter().all(|label| taken.reason(label).is_none()));
        free.take(self.live as usize).flatten().collect()
    }

    /// Notes that the label that was found last is given.
    fn take(&mut self) {
        self.given += 1;
        self.next += 1;
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

#[cfg(test)]
mod tests;
