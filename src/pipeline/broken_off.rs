//! What an apply that was broken off left undone at some targets of its pools. Pure.
//!
//! An apply says at its end what targets lack. One that was killed said nothing, and where no one resumes it, a later plan need
//! not be about the same RRsets. So the next apply says it: `sync` then finds out which of it is there.

use std::collections::BTreeSet;

use crate::apply::CopyAccess;
use crate::change::Change;
use crate::dns::{Name, Rtype};
use crate::plan::{Plan, ZoneSeen};
use crate::state::{SentFate, SentUpdate};
use crate::target::{CopyId, ZoneId};

/// The RRset of a change.
type PlacedRrset = (ZoneId, Name, Rtype);

/// The changes of a plan that copies of pools of several may lack: as the journal says, another copy took a change of the RRset,
/// and they did not.
pub fn lacking<'p>(plan: &'p Plan, sent: &[SentUpdate], copies: &[CopyAccess<'_>]) -> Vec<(CopyId, &'p Change)> {
    let (mut takers, mut taken): (BTreeSet<(CopyId, Name, Rtype)>, BTreeSet<PlacedRrset>) = Default::default();
    for sent in sent.iter().filter(|sent| sent.fate == SentFate::Done) {
        let copy = CopyId { target: sent.target.clone(), zone: sent.zone.clone() };
        for change in &sent.changes {
            taken.insert((copy.zone_id(), change.name.clone(), change.rtype));
            takers.insert((copy.clone(), change.name.clone(), change.rtype));
        }
    }
    let is_known = |copy: &CopyId| {
        let CopyId { target, zone } = copy;
        let is_it = |seen: &ZoneSeen| (&seen.zone, &seen.pool, &seen.target) == (zone, &target.pool, &target.name);
        plan.zones.is_empty() || plan.zones.iter().any(is_it)
    };
    let mut lacking = Vec::new();
    for change in &plan.changes {
        let (zone, name, rtype) = (change.zone_id(), change.key.owner.as_name().to_name(), change.key.rtype);
        if !taken.contains(&(zone.clone(), name.clone(), rtype)) {
            continue;
        }
        let of_zone = copies.iter().filter(|access| access.share.is_some() && access.copy.zone_id() == zone);
        for CopyAccess { copy, .. } in of_zone {
            let is_meant = change.is_for(&copy.target) || !is_known(copy);
            if is_meant && !takers.contains(&(copy.clone(), name.clone(), rtype)) {
                lacking.push((copy.clone(), change));
            }
        }
    }
    lacking
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{PoolShare, VoteTerms};
    use crate::change::fixture::{change, copy, pool};
    use crate::diag::Problem;
    use crate::plan::fixture;
    use crate::state::SentChange;
    use crate::target::TargetId;

    /// The copy of `example.net.` at a target.
    fn at(target: &str) -> CopyId {
        CopyId { target: TargetId { pool: pool(), name: target.to_owned() }, ..copy("example.net") }
    }

    /// A new AAAA at a name, for some targets or for all.
    fn create(name: &str, targets: &[&str]) -> Change {
        let after = (60, &["2a02::1"][..]);
        let targets = targets.iter().map(|&target| target.to_owned()).collect();
        Change { targets, ..change(("p", Some(1)), (name, Rtype::AAAA), ((60, &[]), after), &[]) }
    }

    /// An update with a change, which a target took or perhaps took.
    fn sent(target: &str, change: &Change, fate: SentFate) -> SentUpdate {
        let name = change.key.owner.as_name().to_name();
        let (rtype, subject, project) = (change.key.rtype, change.subject.clone(), change.project.clone());
        let kept =
            SentChange { subject, also: Vec::new(), project, name, rtype, before: None, after: None, registers: None };
        SentUpdate {
            number: 1,
            zone: change.zone.clone(),
            target: at(target).target,
            is_of_several: false,
            phase: "forward".to_owned(),
            at: "2026-11-20T02:00:00Z".parse().unwrap(),
            fate,
            race: None,
            changes: vec![kept],
        }
    }

    #[test]
    fn a_copy_may_lack_what_another_one_took_and_what_is_for_it() {
        let (both, one, none) =
            (create("a.example.net", &[]), create("b.example.net", &["a"]), create("c.example.net", &[]));
        let sent = [
            sent("a", &both, SentFate::Done),
            sent("b", &both, SentFate::Unknown(None)),
            sent("a", &one, SentFate::Done),
            sent("a", &none, SentFate::Undone("refused".to_owned())),
        ];
        let share = Some(PoolShare { votes: 1, terms: VoteTerms { threshold: 100, voters: 2 } });
        let access = |copy: CopyId| {
            let writer = Err(Problem::new("b", "connect-failed", "no route"));
            CopyAccess { copy, writer, is_fenced: true, share }
        };
        let copies = [access(at("a")), access(at("b"))];
        let plan = Plan { changes: vec![both.clone(), one, none], zones: Vec::new(), ..fixture::empty() };
        assert_eq!(lacking(&plan, &sent, &copies), [(at("b"), &both)]);
        let alone = copies.map(|access| CopyAccess { share: None, ..access });
        assert_eq!(lacking(&plan, &sent, &alone), []);
    }
}
