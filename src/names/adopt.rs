//! Recording names: what hosts.csv says of a host comes to stand in names.lock.

use super::allocate::{find_host, fits_template, foreign, refusal, rules_of, taken_by_others};
use super::edit::{Editor, Held};
use super::holders::lock_rows_of;
use super::outcome::{NameCode, Naming, Outcome, Refusal, Settled};
use super::taken::{Reason, Taken, fastbone_label};
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::Host;
use crate::inventory::value::{Inv, Time};

/// Records the names that hosts have in hosts.csv; `invs` is sorted and has none twice.
///
/// A name is recorded where the project's template gives it, and no other host has it, or had it within the cooldown. A
/// host that has another name by names.lock gives that up. `taken` knows the names of hosts, and learns those recorded.
pub fn adopt(inventory: &Inventory, taken: &mut Taken, invs: &[Inv], now: Time) -> Outcome {
    let mut editor = Editor::new(inventory, now);
    let mut outcome = Outcome::default();
    for inv in invs {
        match adopt_one(inventory, taken, &mut editor, *inv) {
            Ok(Some(naming)) => outcome.namings.push(naming),
            Ok(None) => outcome.settled.push(Settled { inv: *inv, message: "has that name in names.lock".to_owned() }),
            Err(refusal) => outcome.refused.push(refusal),
        }
    }
    Outcome { edits: editor.finish(), ..outcome }
}

/// The hosts that have a name by hosts.csv alone.
pub fn adoptable(inventory: &Inventory) -> impl Iterator<Item = &Host> {
    let is_alone = |host: &&Host| host.name.is_some() && lock_rows_of(inventory, host.inv).is_empty();
    inventory.hosts.iter().filter(is_alone)
}

/// Records one host's name; `None` where that is done.
fn adopt_one(
    inventory: &Inventory,
    taken: &mut Taken,
    editor: &mut Editor<'_>,
    inv: Inv,
) -> Result<Option<Naming>, Refusal> {
    let host = find_host(inventory, inv)?;
    let refused = |code, (message, hint): (String, &str)| {
        Err(refusal(inventory, (inv, host.project), code, (message, hint.to_owned())))
    };
    let Some(name) = &host.name else {
        let message = "hosts.csv has no name for it".to_owned();
        return refused(NameCode::NoName, (message, "`zonewright allocate` gives it one"));
    };
    let current = inventory.lock[lock_rows_of(inventory, inv)].iter().find(|row| row.released.is_none());
    if current.is_some_and(|row| row.name.as_ref() == Some(name) && row.project == host.project) {
        return Ok(None);
    }
    let (admin, settings) = rules_of(inventory, host, host.project)?;
    if !admin.has_name(name.as_name()) {
        return Err(foreign(inventory, (inv, host.project), name));
    }
    if !fits_template(inventory, host, settings, name.as_name()) {
        let location = inventory.symbols.text(host.location);
        let message = format!("`{name}` is no name that `{}` gives at `{location}`", settings.shortname_template);
        return refused(
            NameCode::OutsideTemplate,
            (message, "correct it in hosts.csv, or give another name with `zonewright allocate --rename`"),
        );
    }
    if let Some(reason) = taken_by_others(inventory, taken, (inv, host.project), name.as_name()) {
        let short = String::from_utf8_lossy(name.as_name().first_label().unwrap_or_default()).into_owned();
        let message = match reason {
            Reason::Cooling => format!("another host had `{short}` until less than `name_cooldown` ago"),
            Reason::Held | Reason::Live => format!("another host has `{short}`, or it is the fastbone of one"),
        };
        return refused(NameCode::NameTaken, (message, "`zonewright explain` says whose it is"));
    }
    record(inventory, taken, editor, (host, name)).map(Some)
}

/// Records a name that nothing speaks against.
fn record(
    inventory: &Inventory,
    taken: &mut Taken,
    editor: &mut Editor<'_>,
    (host, name): (&Host, &Name),
) -> Result<Naming, Refusal> {
    let held = editor.held(host.inv);
    let before = held.as_ref().map(|held| held.name.clone());
    let has_row = !lock_rows_of(inventory, host.inv).is_empty();
    match held {
        Some(Held { name: old, .. }) if old == *name && has_row => {
            editor.move_to(host.inv, name.clone(), host.project);
        }
        Some(Held { name: old, project }) if old != *name => {
            let Some(project) = project else { return Err(foreign(inventory, (host.inv, host.project), &old)) };
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
    Ok(Naming { inv: host.inv, project, before, after: Some(name.clone()), note: None })
}
