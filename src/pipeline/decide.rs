//! From inventory and live DNS to decisions, host by host in parallel.

use rayon::prelude::*;

use crate::change::{Blocked, Change, Notice, Skipped};
use crate::desired::host;
use crate::desired::{Collisions, DesiredHost, NameIndex};
use crate::diff::rules::{self, Outcome};
use crate::diff::standing::{self, Block};
use crate::diff::{Context, Selection, Standing, Standings, merge, orphans, released};
use crate::inventory::Inventory;
use crate::inventory::value::Time;
use crate::live::Live;

/// All that was decided.
#[derive(Debug)]
pub struct Decided {
    /// The changes.
    pub changes: Vec<Change>,
    /// The blocked hosts, each once.
    pub blocked: Vec<Blocked>,
    /// The skipped hosts, each once.
    pub skipped: Vec<Skipped>,
    /// What was found and left.
    pub notices: Vec<Notice>,
}

/// Derives all hosts, decides where each stands, runs the rules, and joins what they do.
pub fn decide(inventory: &Inventory, live: &Live, now: Time, selection: &Selection) -> Decided {
    let (names, desired) = rayon::join(|| NameIndex::new(inventory), || derive_all(inventory, live, now));
    let collisions = Collisions::find(inventory, &names, &desired);
    let context =
        Context { inventory, live, names: &names, desired: &desired, collisions: &collisions, now, selection };
    let places = 0..inventory.hosts.len();
    let standings = Standings(places.into_par_iter().map(|place| standing::judge(&context, place)).collect());
    let selected: Vec<usize> = (0..inventory.hosts.len())
        .filter(|place| {
            let host = &inventory.hosts[*place];
            selection.includes(host.inv, host.project)
        })
        .collect();
    let outcomes: Vec<Outcome> = selected.par_iter().map(|place| run_rules(&context, &standings, *place)).collect();
    collect(&context, &standings, &selected, outcomes)
}

/// Derives every host, in the inventory's order.
fn derive_all(inventory: &Inventory, live: &Live, now: Time) -> Vec<DesiredHost> {
    inventory.hosts.par_iter().map(|host| host::derive(inventory, live, host, now)).collect()
}

/// Runs the rules of one host, where they run.
fn run_rules(context: &Context<'_>, standings: &Standings, place: usize) -> Outcome {
    match &standings.0[place] {
        Standing::Open(policy) => rules::reconcile(context, standings, place, *policy),
        Standing::Free | Standing::Skipped(_) | Standing::Blocked(_) => Outcome::default(),
    }
}

/// Joins what the rules of all hosts do, and adds released names and orphans.
fn collect(context: &Context<'_>, standings: &Standings, selected: &[usize], outcomes: Vec<Outcome>) -> Decided {
    let mut decided = Decided { changes: Vec::new(), blocked: Vec::new(), skipped: Vec::new(), notices: Vec::new() };
    let mut acts = Vec::new();
    for (place, outcome) in selected.iter().zip(outcomes) {
        let host = &context.inventory.hosts[*place];
        let project = || context.project_id(host.project).to_owned();
        let block = match &standings.0[*place] {
            Standing::Blocked(block) => Some(block.clone()),
            Standing::Skipped(code) => {
                decided.skipped.push(Skipped { host: host.inv, project: project(), code: *code });
                None
            }
            Standing::Free | Standing::Open(_) => outcome.block,
        };
        if let Some(Block { code, message, hint }) = block {
            decided.blocked.push(Blocked { host: host.inv, project: project(), code, message, hint });
        }
        acts.extend(outcome.acts);
        decided.notices.extend(outcome.notices);
    }
    acts.extend(context.inventory.lock.iter().flat_map(|row| released::release(context, row)));
    acts.extend(orphans::remove_orphans(context));
    decided.changes = merge::merge(context, acts);
    // An inventory number that several rows claim is one host.
    decided.blocked.sort();
    decided.blocked.dedup_by_key(|blocked| blocked.host);
    decided
        .skipped
        .retain(|skipped| decided.blocked.binary_search_by_key(&skipped.host, |blocked| blocked.host).is_err());
    decided.skipped.sort();
    decided.skipped.dedup_by_key(|skipped| skipped.host);
    decided
}
