//! Recording names: the name that hosts.csv has for a host is written into names.lock.

use super::edit::{HeldName, LockEditor};
use super::holders::lock_rows_of;
use super::outcome::{NameChange, NameCode, NameRefusal, NamesOutcome, SettledHost};
use super::refuse::{HostInProject, find_host, fits_template, rules_of};
use super::taken::{TakenNames, fastbone_label};
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::Host;
use crate::inventory::value::{Inv, Time};

/// Records the names that hosts have in hosts.csv; `invs` is sorted and has none twice.
///
/// A name is recorded if the project's template gives it, and no other host has it, or had it within the cooldown. If
/// names.lock has another name for the host, the host gives that up. `taken` knows the names of hosts, and learns those
/// recorded.
pub fn adopt(inventory: &Inventory, taken: &mut TakenNames, invs: &[Inv], now: Time) -> NamesOutcome {
    let mut adoption = NameAdoption { inventory, taken, editor: LockEditor::new(inventory, now) };
    let mut outcome = NamesOutcome::default();
    for inv in invs {
        match adoption.adopt(*inv) {
            Ok(Some(naming)) => outcome.namings.push(naming),
            Ok(None) => {
                outcome.settled.push(SettledHost { inv: *inv, message: "has that name in names.lock".to_owned() })
            }
            Err(refusal) => outcome.refused.push(refusal),
        }
    }
    NamesOutcome { edits: adoption.editor.finish(), ..outcome }
}

/// The hosts that have a name by hosts.csv alone, of projects that have a domain.
pub fn adoptable(inventory: &Inventory) -> impl Iterator<Item = &Host> {
    inventory.hosts.iter().filter(|host| {
        host.name.is_some()
            && inventory.projects[host.project.0 as usize].admin.is_some()
            && lock_rows_of(inventory, host.inv).is_empty()
    })
}

/// The names that are being recorded, host by host.
struct NameAdoption<'a, 'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// The names of hosts, with those recorded so far.
    taken: &'a mut TakenNames,
    /// What is done to names.lock.
    editor: LockEditor<'i>,
}

impl NameAdoption<'_, '_> {
    /// Records one host's name; `None` where that is done.
    fn adopt(&mut self, inv: Inv) -> Result<Option<NameChange>, NameRefusal> {
        let inventory = self.inventory;
        let host = find_host(inventory, inv)?;
        let there = HostInProject::own(inventory, host);
        let Some(name) = &host.name else {
            let message = "hosts.csv has no name for it".to_owned();
            let hint = "`zonewright allocate` gives it one".to_owned();
            return Err(there.refusal(NameCode::NoName, message, hint));
        };
        let current = inventory.lock[lock_rows_of(inventory, inv)].iter().find(|row| row.released.is_none());
        if current.is_some_and(|row| row.name.as_ref() == Some(name) && row.project == host.project) {
            return Ok(None);
        }
        let (admin, settings) = rules_of(inventory, host, host.project)?;
        if !admin.has_name(name.as_name()) {
            return Err(there.foreign(name));
        }
        if !fits_template(inventory, host, settings, name.as_name()) {
            let location = inventory.symbols.text(host.location);
            let template = &settings.shortname_template;
            let message = format!("the template `{template}` does not give the name `{name}` at `{location}`");
            let hint = "correct it in hosts.csv, or give another name with `zonewright allocate --rename`".to_owned();
            return Err(there.refusal(NameCode::OutsideTemplate, message, hint));
        }
        if let Some(reason) = there.taken_by_others(self.taken, name.as_name()) {
            return Err(there.not_alone(name, reason));
        }
        self.record(host, name).map(Some)
    }

    /// Records a name that passed all checks.
    fn record(&mut self, host: &Host, name: &Name) -> Result<NameChange, NameRefusal> {
        let NameAdoption { inventory, taken, editor } = self;
        let held = editor.held(host.inv);
        let before = held.as_ref().map(|held| held.name.clone());
        let has_row = !lock_rows_of(inventory, host.inv).is_empty();
        match held {
            Some(HeldName { name: old, .. }) if old == *name && has_row => {
                editor.move_to(host.inv, name.clone(), host.project);
            }
            Some(HeldName { name: old, project }) if old != *name => {
                let Some(project) = project else { return Err(HostInProject::own(inventory, host).foreign(&old)) };
                editor.give_up(host.inv, &old, project);
                editor.give(host.inv, name.clone(), host.project);
            }
            _ => editor.give(host.inv, name.clone(), host.project),
        }
        let label = name.as_name().first_label().unwrap_or_default();
        taken.take(label, host.inv);
        if let Some(fastbone) = fastbone_label(inventory, host.project, label) {
            taken.take(&fastbone, host.inv);
        }
        let project = inventory.projects[host.project.0 as usize].id.clone();
        Ok(NameChange { inv: host.inv, project, before, after: Some(name.clone()), note: None })
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{at, inventory, invs, refused, shown};
    use super::*;

    /// The outcome of recording names of hosts at two o'clock.
    fn adopted<const N: usize>(inventory: &Inventory, hosts: [u64; N]) -> NamesOutcome {
        adopt(inventory, &mut TakenNames::by_hosts(inventory, at("02:00:00")), &invs(hosts), at("02:00:00"))
    }

    #[test]
    fn a_name_of_hosts_csv_alone_gets_a_row() {
        let hosts =
            ["1,SAS1.search.example.,search,assigned,sas", "2,sas2.old.example,search,free,SAS", "3,,web,assigned,sas"];
        let inventory = inventory(&hosts, &[]);
        assert_eq!(adoptable(&inventory).map(|host| host.inv.0).collect::<Vec<_>>(), [1, 2]);
        let outcome = adopted(&inventory, [1, 2, 3]);
        let rows = ["1 sas1.search.example. search 02:00:00 -", "2 sas2.old.example. search 02:00:00 -"];
        assert_eq!(shown(&outcome.edits).0, rows);
        assert_eq!(refused(&outcome), [(3, "no-name")]);
    }

    #[test]
    fn a_host_gets_back_what_it_gave_up_but_no_other_host_does() {
        let hosts = ["1,sas1.search.example,search,assigned,sas", "2,sas2.search.example,search,assigned,sas"];
        let lock = [
            "1 free-1.free.invalid search 01:30:00 -",
            "1 sas1.search.example search 00:10:00 01:30:00",
            "1 sas2.search.example search 00:00:00 01:00:00",
        ];
        let inventory = inventory(&hosts, &lock);
        let outcome = adopted(&inventory, [1, 2]);
        assert_eq!(shown(&outcome.edits), (vec!["1 sas1.search.example. search 02:00:00 -".to_owned()], vec![0, 1]));
        assert_eq!(refused(&outcome), [(2, "name-taken")]);
        let message = "another host gave up `sas2`, or its fastbone's name, less than `name_cooldown` ago";
        assert_eq!(outcome.refused[0].message, message);
    }

    #[test]
    fn a_name_that_two_hosts_claim_is_recorded_for_neither() {
        let hosts = [
            "1,x1.web.example,web,assigned,sas",
            "2,x1.search.example,web,assigned,sas",
            "3,x3.web.example,web,assigned,sas",
            "4,x3f.web.example,long,assigned,sas",
        ];
        let outcome = adopted(&inventory(&hosts, &[]), [1, 2, 3]);
        assert_eq!(refused(&outcome), [(1, "name-taken"), (2, "name-taken"), (3, "name-taken")]);
        assert!(outcome.edits.is_empty());
    }

    #[test]
    fn a_name_must_be_one_that_the_template_gives_below_a_domain() {
        let hosts = ["1,myt1.search.example,search,assigned,sas", "2,sas2.web.example,search,assigned,sas"];
        let outcome = adopted(&inventory(&hosts, &[]), [1, 2]);
        assert_eq!(refused(&outcome), [(1, "outside-template"), (2, "foreign-domain")]);
    }

    #[test]
    fn another_name_by_names_lock_is_given_up_and_another_project_is_corrected() {
        let hosts = [
            "1,x1.web.example,web,assigned,sas",
            "2,x2.web.example,web,assigned,sas",
            "3,x3.web.example,web,assigned,sas",
        ];
        let lock = [
            "1 x7.web.example web 00:10:00 -",
            "2 x2.web.example search 00:20:00 -",
            "3 x3.web.example web 00:30:00 -",
        ];
        let outcome = adopted(&inventory(&hosts, &lock), [1, 2, 3]);
        let rows = [
            "1 x7.web.example. web 00:10:00 02:00:00",
            "1 x1.web.example. web 02:00:00 -",
            "2 x2.web.example. web 00:20:00 -",
        ];
        assert_eq!(shown(&outcome.edits).0, rows);
        assert_eq!(outcome.settled.len(), 1, "3 has its name already");
    }
}
