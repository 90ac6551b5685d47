//! Giving names: to each host the lowest number of its project's template whose short name is free.

use super::edit::{HeldName, LockEditor};
use super::holders::{lock_rows_of, named};
use super::numbers::{AllSeries, labels_together};
use super::outcome::{NameChange, NameCode, NameRefusal, NamesOutcome, SettledHost};
use super::refuse::{HostInProject, find_host, fits_template, rules_of};
use super::taken::{TakenNames, TakenReason, fastbone_label};
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::{Host, HostStatus, Policy, Project, ProjectIndex};
use crate::inventory::value::{Inv, Time};

/// What hosts that have a name are asked to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameHandling {
    /// Keep it.
    Keep,
    /// Keep it where it is one of the template's and no other host's; else get another, and give it up.
    Rename,
    /// Give it up, and get another.
    Replace,
}

/// How names are given.
#[derive(Debug, Clone, Copy)]
pub struct AllocationTerms {
    /// What happens to names that hosts have.
    pub holding: NameHandling,
    /// The project to which hosts are moved; `None` where they stay in theirs.
    pub to: Option<ProjectIndex>,
    /// The clock.
    pub now: Time,
}

/// Gives names to hosts without one, in the order of `invs`, which is sorted and has none twice.
///
/// `taken` knows the names of hosts and of live DNS, and learns those that are given. The same arguments give the same
/// names.
pub fn allocate(inventory: &Inventory, taken: &mut TakenNames, invs: &[Inv], giving: AllocationTerms) -> NamesOutcome {
    allocate_and_tell(inventory, taken, invs, giving).0
}

/// Gives names as [`allocate`] does, and returns the labels that must be free for that.
pub fn allocate_and_tell(
    inventory: &Inventory,
    taken: &mut TakenNames,
    invs: &[Inv],
    giving: AllocationTerms,
) -> (NamesOutcome, NameCandidates) {
    let editor = LockEditor::new(inventory, giving.now);
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

/// The hosts that get names by default: those in use without one, of projects that have a domain; in order.
pub fn nameless(inventory: &Inventory) -> impl Iterator<Item = &Host> {
    let nameless = named(inventory).filter(|(host, name)| {
        host.status == HostStatus::Assigned
            && inventory.projects[host.project.0 as usize].admin.is_some()
            && name.is_none()
    });
    nameless.map(|(host, _)| host)
}

/// Short names, also of fastbones, that may be free.
#[derive(Debug, Default)]
pub struct NameCandidates {
    /// Those that were given: [`TakenNames::give_back`] takes them back.
    pub given: Vec<Vec<u8>>,
    /// Those that would be given next: in each series as many as were skipped because live DNS has something at them.
    pub next: Vec<Vec<u8>>,
}

/// The state of an allocation.
struct Allocation<'i, 't> {
    /// The inventory.
    inventory: &'i Inventory,
    /// The short names that are taken.
    taken: &'t mut TakenNames,
    /// How names are given.
    giving: AllocationTerms,
    /// What is done to names.lock.
    editor: LockEditor<'i>,
    /// How far the templates are used up.
    series: AllSeries<'i>,
    /// The labels that were given, those of fastbones too.
    given: Vec<Vec<u8>>,
    /// The outcomes of the hosts so far.
    outcome: NamesOutcome,
}

impl Allocation<'_, '_> {
    /// Puts the result together; refusals because of a used-up template get the final numbers.
    fn finish(self) -> (NamesOutcome, NameCandidates) {
        let Allocation { taken, editor, series, given, outcome, .. } = self;
        let next = series.next_free(taken);
        let mut outcome = NamesOutcome { edits: editor.finish(), ..outcome };
        for refusal in outcome.refused.iter_mut().filter(|refusal| refusal.code == NameCode::TemplateExhausted) {
            if let Some(message) = series.exhausted(refusal.inv) {
                refusal.message = message;
            }
        }
        (outcome, NameCandidates { given, next })
    }

    /// Settles one host's name.
    fn settle(&mut self, inv: Inv) -> Result<(), NameRefusal> {
        let inventory = self.inventory;
        let host = find_host(inventory, inv)?;
        let project = self.giving.to.unwrap_or(host.project);
        let held = self.editor.held(inv);
        if let Some(held) = &held {
            let stays = match self.giving.holding {
                NameHandling::Keep => true,
                NameHandling::Rename => self.fits(host, held, project)?,
                NameHandling::Replace => false,
            };
            if stays {
                return self.keep(host, held, project);
            }
        }
        let given_up = match held {
            Some(HeldName { name, project: Some(old) }) => Some((name, old)),
            Some(HeldName { name, project: None }) => return Err(HostInProject::own(inventory, host).foreign(&name)),
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
        let mut naming = NameChange { after: Some(name), ..self.naming(host, project) };
        if before.is_some() {
            naming.note = naming.note.or_else(|| switched_off(inventory, project));
        }
        naming.before = before;
        self.outcome.namings.push(naming);
        Ok(())
    }

    /// Lets a host keep its name; notes the project where that is another.
    fn keep(&mut self, host: &Host, held: &HeldName, project: ProjectIndex) -> Result<(), NameRefusal> {
        let HeldName { name, .. } = held;
        let admin = self.inventory.projects[project.0 as usize].admin.as_ref();
        let rows = &self.inventory.lock[lock_rows_of(self.inventory, host.inv)];
        let is_noted = rows.iter().any(|row| row.released.is_none() && row.project == project);
        if self.giving.to.is_none() || is_noted {
            self.outcome.settled.push(SettledHost { inv: host.inv, message: format!("has the name `{name}`") });
            return Ok(());
        }
        let there = HostInProject { inventory: self.inventory, inv: host.inv, project };
        if !admin.is_some_and(|admin| admin.has_name(name.as_name())) {
            return Err(there.foreign(name));
        }
        // In addition to the name it gets the fastbone name of the other project.
        if let Some(reason) = there.taken_by_others(self.taken, name.as_name()) {
            return Err(there.not_alone(name, reason));
        }
        let label = name.as_name().first_label().unwrap_or_default();
        if let Some(fastbone) = fastbone_label(self.inventory, project, label) {
            match self.taken.reason(&fastbone) {
                Some(TakenReason::Live) => return Err(there.shadowing(&fastbone)),
                Some(TakenReason::Held | TakenReason::Cooling) => {}
                None => self.given.push(fastbone.clone()),
            }
            self.taken.take(&fastbone, host.inv);
        }
        self.editor.move_to(host.inv, name.clone(), project);
        let same = Some(name.clone());
        let naming = NameChange { before: same.clone(), after: same, ..self.naming(host, project) };
        self.outcome.namings.push(naming);
        Ok(())
    }

    /// Whether a host's name is one that its project's template gives, directly below a domain of it, and no other
    /// host's.
    ///
    /// Who else had it matters only in a project that is new to it: of two hosts that shared a name only one has to
    /// give it up.
    fn fits(&self, host: &Host, held: &HeldName, project: ProjectIndex) -> Result<bool, NameRefusal> {
        let (admin, settings) = rules_of(self.inventory, host, project)?;
        let in_domain = admin.has_name(held.name.as_name());
        let in_series = fits_template(self.inventory, host, settings, held.name.as_name());
        let there = HostInProject { inventory: self.inventory, inv: host.inv, project };
        let others = there.taken_by_others(self.taken, held.name.as_name());
        let is_own = others.is_none() || others == Some(TakenReason::Cooling) && self.giving.to.is_none();
        Ok(in_domain && in_series && is_own)
    }

    /// A naming without names.
    fn naming(&self, host: &Host, project: ProjectIndex) -> NameChange {
        let id = &self.inventory.projects[project.0 as usize].id;
        let own = &self.inventory.projects[host.project.0 as usize].id;
        let note = (project != host.project)
            .then(|| format!("hosts.csv has it in `{own}`: its records change when hosts.csv says `{id}`"));
        NameChange { inv: host.inv, project: id.clone(), before: None, after: None, note }
    }

    /// The lowest free name of a project at a host's location, and the short names that the host then has.
    fn lowest(&mut self, host: &Host, project: ProjectIndex) -> Result<(Name, Vec<Vec<u8>>), NameRefusal> {
        let inventory = self.inventory;
        let (admin, settings) = rules_of(inventory, host, project)?;
        let place = self.series.place(host, project, settings)?;
        let series = self.series.open(place);
        let Some(labels) =
            series.lowest(self.taken, |label| labels_together(inventory, [project, host.project], label))
        else {
            self.series.note_exhausted(host.inv, place);
            let hint = "widen the index, or add a `{bucket}`; hosts keep the names that they have";
            let code = NameCode::TemplateExhausted;
            return Err(HostInProject::own(inventory, host).refusal(code, String::new(), hint.to_owned()));
        };
        let names: Result<Vec<Name>, NameRefusal> = labels
            .iter()
            .map(|label| {
                Name::prepend(label, admin.dns_domain.as_name()).map_err(|error| {
                    let shown = String::from_utf8_lossy(label);
                    let message = format!("`{shown}` below `{}` would be a name with {error}", admin.dns_domain);
                    let id = &inventory.projects[project.0 as usize].id;
                    let hint = format!("shorten `shortname_template` or `fastbone_name` of project `{id}`");
                    HostInProject::own(inventory, host).refusal(NameCode::BadTemplate, message, hint)
                })
            })
            .collect();
        let name = names?.swap_remove(0);
        series.take();
        Ok((name, labels))
    }
}

/// What follows from another name where the owner has switched automation off: a plan publishes it as a first name,
/// which replaces no PTR, and afterwards leaves the host alone.
fn switched_off(inventory: &Inventory, project: ProjectIndex) -> Option<String> {
    let Project { id, admin, file } = &inventory.projects[project.0 as usize];
    file.settings().filter(|settings| !settings.automation && settings.policy != Policy::CreateOnly)?;
    admin.as_ref().filter(|admin| admin.automation_allowed)?;
    Some(format!("automation is off in `{id}`: only a plan with `--host` writes the new names into their PTR records"))
}

#[cfg(test)]
mod tests;
