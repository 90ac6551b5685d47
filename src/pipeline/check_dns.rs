//! A few hosts: the plan for them alone, and why it is what it is.

use std::collections::BTreeSet;

use super::explain::{answer, told};
use super::{
    Gathered, Made, MakeError, Progress, ReadFor, Request, decide, found_notices, gather, guarded, made, narrowed_to,
};
use crate::diff::Selection;
use crate::explain::{Explanation, Question, SubjectError};
use crate::inventory::Inventory;
use crate::inventory::value::Inv;
use crate::live::Live;
use crate::names::{Foreseen, HolderRow, NameIndex};
use crate::plan::Plan;
use decide::{Decided, Given};

/// Plans for the hosts that somebody names by number or name, as that person's own act; explains each of them.
///
/// Errors: [`MakeError`]; a text that names no host, too.
pub fn check_dns(
    request: &Request<'_>,
    hosts: &[String],
    progress: &dyn Progress,
) -> Result<(Made, Vec<Explanation>), MakeError> {
    let Gathered { inventory, diagnostics, selection, zones, waits, forgotten, snapshot, remembered, .. } =
        gather(request, &ReadFor::Named(hosts), progress)?;
    progress.stage("comparing hosts with live DNS", None);
    let names = NameIndex::new(&inventory);
    let named = find_hosts(&inventory, &names, &zones.live, hosts).map_err(MakeError::NoSubject)?;
    let selection = Selection { hosts: named, ..selection };
    let (notices, _) = found_notices(&inventory, &zones);
    let tripped = remembered.tripped(&inventory);
    let given = Given { now: request.now, selection: &selection, tripped: &tripped, waits: &waits };
    let (decided, explanations) = decide::decide_and(&inventory, &zones.live, given, |context, standings, decided| {
        let own = decided.notices.clone();
        let told = told(notices, decided);
        let explain = |inv: &Inv| answer(context, standings, (&told, &diagnostics), &Question::Host(*inv));
        let explanations = selection.hosts.iter().map(explain).collect();
        (Decided { notices: own, ..told }, explanations)
    });
    let made = made(request.now, (inventory, diagnostics), zones, snapshot, decided);
    let named: Vec<Inv> = selection.hosts.iter().copied().collect();
    let made = Made { plan: Plan { only: narrowed_to(&named, &request.projects), ..made.plan }, ..made };
    Ok((guarded(made, forgotten, remembered, request.workspace), explanations))
}

/// Finds the hosts that texts name.
///
/// Errors: those of [`find_host`].
pub(super) fn find_hosts(
    inventory: &Inventory,
    names: &NameIndex,
    live: &Live,
    texts: &[String],
) -> Result<BTreeSet<Inv>, SubjectError> {
    texts.iter().map(|text| find_host(inventory, names, live, text)).collect()
}

/// Finds the host that a text names.
///
/// Errors: it names none, or a name that no host or several have.
pub(super) fn find_host(
    inventory: &Inventory,
    names: &NameIndex,
    live: &Live,
    text: &str,
) -> Result<Inv, SubjectError> {
    let error = |message: String| {
        Err(SubjectError { message, hint: "name a host by its inventory number or by the name that it has".to_owned() })
    };
    // A name that a host would get is not one by which it is known.
    let name = match Question::find(inventory, (names, &Foreseen::default()), live, text)? {
        Question::Host(inv) => return Ok(inv),
        Question::Address(_) => return error(format!("`{text}` is an address, and no host")),
        Question::Name(name) => name,
    };
    let holders = names.holders(inventory, name.as_name()).filter(|holder| holder.now);
    let holders: BTreeSet<Inv> = holders
        .map(|holder| match holder.by {
            HolderRow::Host(place) => inventory.hosts[place as usize].inv,
            HolderRow::Lock(place) => inventory.lock[place as usize].inv,
        })
        .collect();
    match (holders.first(), holders.len()) {
        (Some(inv), 1) => Ok(*inv),
        (None, _) => error(format!("no host has the name `{name}`")),
        (Some(_), several) => error(format!("{several} hosts have the name `{name}`")),
    }
}
