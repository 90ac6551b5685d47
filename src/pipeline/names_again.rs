//! Names that pods have again since a plan was made: they stay.
//!
//! A plan takes names that a pod had at its former place. But it may be applied hours later, when the pod is back there: then the
//! name that stays with it leads there again, or is no longer the one that the plan saw.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use crate::apply::{CopyAccess, LaneSurvey, Survey, UnitVerdict};
use crate::change::Change;
use crate::change::reach::addresses;
use crate::dns::{Name, RrKey, Rtype, ZoneName};
use crate::plan::Plan;
use crate::target::{Answer, Question};
use crate::undo::takes_name;

/// A name that stays with a pod, in a zone.
type StayingName = (ZoneName, Name);

/// What names lead to that stay with pods whose former names a plan takes.
#[derive(Default)]
pub struct NamesAgain {
    /// The name that stays with the pod, by each former name of it that the plan leaves, as text.
    staying: HashMap<String, Name>,
    /// The addresses of each that could be read, in any copy.
    found: BTreeMap<StayingName, BTreeSet<IpAddr>>,
}

impl NamesAgain {
    /// Reads it in some copies. Where none can be read, nothing can be written either.
    pub fn read((plan, survey): (&Plan, &Survey<'_>), copies: &[CopyAccess<'_>]) -> NamesAgain {
        let mut again = NamesAgain { staying: staying_names(plan), ..NamesAgain::default() };
        let mut asked: BTreeMap<&ZoneName, BTreeSet<Name>> = BTreeMap::new();
        for change in survey.open() {
            if let Some(name) = again.staying_name(change) {
                asked.entry(&change.zone).or_default().insert(name.clone());
            }
        }
        for access in copies {
            let zone = &access.copy.zone;
            let (Some(names), Ok(writer)) = (asked.get(zone), &access.writer) else { continue };
            let owned = names.iter().filter_map(|name| Some((name, zone.owner(name.as_name())?)));
            let (mut questions, mut names) = (Vec::new(), Vec::new());
            for (name, owner) in owned {
                for rtype in [Rtype::AAAA, Rtype::A] {
                    questions.push(Question::of(&RrKey { owner: owner.clone(), rtype }));
                    names.push(name);
                }
            }
            for (name, answer) in names.into_iter().zip(writer.observe(zone, &questions, None).unwrap_or_default()) {
                let own = again.found.entry((zone.clone(), name.clone())).or_default();
                if let Answer::Holds(rtype, rrset) = answer {
                    own.extend(addresses(Some(&rrset), rtype));
                }
            }
        }
        again
    }

    /// The changes of a lane, of those at these places, that take such a name, each with why it is left.
    pub fn refused(&self, lane: &LaneSurvey<'_>, open: &[usize]) -> BTreeMap<usize, UnitVerdict> {
        open.iter().filter_map(|place| Some((*place, self.fault(&lane.changes[*place])?))).collect()
    }

    /// Why a name stays; none where it may go.
    fn fault(&self, change: &Change) -> Option<UnitVerdict> {
        let name = self.staying_name(change)?;
        let found = self.found.get(&(change.zone.clone(), name.clone()))?;
        if found.is_empty() {
            return Some(UnitVerdict::stale(format!(
                "`{name}`, which stays with the pod, has gone since the plan was made"
            )));
        }
        let mut own = addresses(change.kind.before(), change.key.rtype);
        own.any(|address| found.contains(&address)).then(|| {
            let owner = &change.key.owner;
            UnitVerdict::stale(format!("`{name}` has an address of `{owner}` again since the plan was made"))
        })
    }

    /// The name that stays with the pod whose former name a change takes; none where it takes none.
    fn staying_name(&self, change: &Change) -> Option<&Name> {
        let is_any = !self.staying.is_empty() && takes_name(change);
        is_any.then(|| self.staying.get(&change.key.owner.to_string())).flatten()
    }
}

/// The names that stay with pods, by the former names that a plan leaves. Of several pods with one former name the first counts.
fn staying_names(plan: &Plan) -> HashMap<String, Name> {
    let mut names = HashMap::new();
    for left in plan.pods.iter().filter_map(|seen| seen.leaves.as_ref()) {
        if let Ok(constant) = Name::parse(&left.constant) {
            for former in &left.names {
                names.entry(former.clone()).or_insert_with(|| constant.clone());
            }
        }
    }
    names
}
