//! Freeing names: a host gives its name up, and has none until it is given another.

use super::edit::{HeldName, LockEditor};
use super::holders::lock_rows_of;
use super::lock::free_name;
use super::outcome::{NameChange, NameCode, NameRefusal, NamesOutcome, SettledHost};
use super::refuse::{HostInProject, bad_row, find_host};
use crate::inventory::Inventory;
use crate::inventory::model::{HostStatus, ProjectIndex};
use crate::inventory::value::{Inv, Time};

/// Lets hosts give up their names; `invs` is sorted and has none twice.
///
/// A host that hosts.csv lacks gives up what names.lock says that it has.
pub fn release(inventory: &Inventory, invs: &[Inv], now: Time) -> NamesOutcome {
    let mut editor = LockEditor::new(inventory, now);
    let mut outcome = NamesOutcome::default();
    for inv in invs {
        match release_one(inventory, &mut editor, *inv) {
            Ok(Some(naming)) => outcome.namings.push(naming),
            Ok(None) => outcome.settled.push(SettledHost { inv: *inv, message: "has no name".to_owned() }),
            Err(refusal) => outcome.refused.push(refusal),
        }
    }
    NamesOutcome { edits: editor.finish(), ..outcome }
}

/// Lets one host give up its name; `None` where it has none.
fn release_one(
    inventory: &Inventory,
    editor: &mut LockEditor<'_>,
    inv: Inv,
) -> Result<Option<NameChange>, NameRefusal> {
    let project = project_of(inventory, inv)?;
    let host = HostInProject { inventory, inv, project };
    let Some(HeldName { name, project: looked_after }) = editor.held(inv) else { return Ok(None) };
    let Some(looked_after) = looked_after else { return Err(host.foreign(&name)) };
    let Some(free) = free_name(inventory, inv) else {
        let message = format!("`free-{inv}` below `free_domain` would be too long a name");
        let hint = "shorten `free_domain` in zonewright.toml".to_owned();
        return Err(host.refusal(NameCode::BadInput, message, hint));
    };
    editor.give_up(inv, &name, looked_after);
    editor.give(inv, free, project);
    let is_assigned =
        inventory.place_of(inv).is_some_and(|place| inventory.hosts[place].status == HostStatus::Assigned);
    let note =
        is_assigned.then(|| "still `assigned` in hosts.csv, so the next `allocate` gives it another name".to_owned());
    let project = inventory.projects[looked_after.0 as usize].id.clone();
    Ok(Some(NameChange { inv, project, before: Some(name), after: None, note }))
}

/// The project that a host is in, if nothing is wrong with its lines.
fn project_of(inventory: &Inventory, inv: Inv) -> Result<ProjectIndex, NameRefusal> {
    let current = inventory.lock[lock_rows_of(inventory, inv)].iter().find(|row| row.released.is_none());
    match (inventory.place_of(inv), current) {
        (None, Some(row)) => match bad_row(inventory, inv) {
            None => Ok(row.project),
            Some(origin) => Err(HostInProject { inventory, inv, project: row.project }.bad_line(origin)),
        },
        _ => find_host(inventory, inv).map(|host| host.project),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{at, inventory, invs, refused, shown};
    use super::*;

    #[test]
    fn a_name_given_up_leaves_a_row_of_it_and_one_that_says_that_the_host_has_none() {
        let hosts = ["1,sas1.search.example,search,assigned,sas", "2,,web,free,sas"];
        let inventory = inventory(&hosts, &["2 x2.web.example web 00:10:00 -", "3 x3.web.example web 00:10:00 -"]);
        let outcome = release(&inventory, &invs([1, 2, 3]), at("02:00:00"));
        let (new, gone) = shown(&outcome.edits);
        assert_eq!(
            new,
            [
                "1 sas1.search.example. search 02:00:00 02:00:00",
                "1 free-1.free.invalid. search 02:00:00 -",
                "2 x2.web.example. web 00:10:00 02:00:00",
                "2 free-2.free.invalid. web 02:00:00 -",
                "3 x3.web.example. web 00:10:00 02:00:00",
                "3 free-3.free.invalid. web 02:00:00 -",
            ]
        );
        assert_eq!(gone, [0, 1]);
        let noted: Vec<u64> = outcome.namings.iter().filter(|it| it.note.is_some()).map(|it| it.inv.0).collect();
        assert_eq!(noted, [1], "only an assigned host gets another name");
    }

    #[test]
    fn who_has_no_name_is_left_as_it_is() {
        let hosts = ["1,,search,assigned,sas", "2,x2.web.example,web,assigned,sas"];
        let inventory = inventory(&hosts, &["2 free-2.free.invalid web 00:10:00 -"]);
        let outcome = release(&inventory, &invs([1, 2]), at("02:00:00"));
        assert!(outcome.edits.is_empty());
        assert_eq!(outcome.settled.len(), 2);
    }

    #[test]
    fn what_cannot_be_given_up_is_reported() {
        let hosts = ["1,x1.web.example,search,assigned,sas", "2,,web,assigned,sas", "2,,web,assigned,sas"];
        let inventory = inventory(&hosts, &["4 x4.web.example web 00:10:00 -", "4 x5.web.example web 00:10:00 -"]);
        let outcome = release(&inventory, &invs([1, 2, 3, 4]), at("02:00:00"));
        let codes = [(1, "foreign-domain"), (2, "bad-input"), (3, "no-host"), (4, "bad-input")];
        assert_eq!(refused(&outcome), codes);
        assert!(outcome.edits.is_empty());
    }
}
