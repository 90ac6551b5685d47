//! What a target lacks, and what it holds there now.
//!
//! Comes in: what the state says that copies lack. Goes out: the same ready to be judged; what a copy holds by now is
//! forgotten.

use std::collections::{BTreeMap, BTreeSet};

use super::targets::Targets;
use crate::apply::SIDE_BY_SIDE;
use crate::change::{ChangeKind, RrsetText};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::{Rdata, RrKey, Rrset};
use crate::parallel::side_by_side;
use crate::state::lacks::LeftLack;
use crate::state::{ApplyId, LackList, LackedChange};
use crate::target::{Answer, CopyId, Question, TargetId};

/// A lacking change, ready to be judged.
pub(super) struct OpenLack {
    /// What the state has.
    pub lack: LackedChange,
    /// Its RRset.
    pub key: RrKey,
    /// What it does.
    pub kind: ChangeKind,
}

impl OpenLack {
    /// Reads what the state has; none where that is no change.
    pub fn of(lack: LackedChange) -> Option<OpenLack> {
        let rtype = lack.change.rtype;
        let rrset = |text: &Option<RrsetText>| text.as_ref().map(|text| text.to_rrset(rtype)).transpose().ok();
        let kind = ChangeKind::between(rrset(&lack.change.before)?, rrset(&lack.change.after)?)?;
        let owner = lack.copy.zone.owner(lack.change.name.as_name())?;
        Some(OpenLack { key: RrKey { owner, rtype }, kind, lack })
    }

    /// What is to be there: the RRset, and its data; none where it is to be gone.
    pub fn wish(&self) -> (&RrKey, Option<&[Rdata]>) {
        (&self.key, self.kind.after().map(Rrset::rdata))
    }
}

/// What is left at a copy, and whose it is.
pub(super) struct LackToLeave {
    /// What the report says.
    pub told: LeftLack,
    /// Whose it is.
    pub subjects: Vec<Subject>,
}

impl LackToLeave {
    /// Leaves a lack, and says why.
    pub fn of(own: &OpenLack, why: String) -> LackToLeave {
        let LackedChange { copy, change, .. } = &own.lack;
        let subjects = std::iter::once(&change.subject).chain(&change.also).cloned().collect();
        LackToLeave { told: LeftLack { target: copy.target.clone(), key: own.key.clone(), why }, subjects }
    }
}

/// Forgets what copies of open targets lack by earlier applies and hold by now: an update that was not answered may have
/// taken effect, and another person may have made it.
///
/// A target that lacks something of the apply itself is not asked: it may be away.
pub(super) fn forget_made(state: &mut dyn LackList, targets: &Targets<'_>, apply: ApplyId) -> Result<(), Problem> {
    let lacks = state.lacks()?;
    let of_apply = lacks.iter().filter(|lack| lack.apply == apply);
    let away: BTreeSet<TargetId> = of_apply.map(|lack| lack.copy.target.clone()).collect();
    let is_asked = |lack: &LackedChange| !away.contains(&lack.copy.target) && targets.access(&lack.copy).is_some();
    let mut by_copy: BTreeMap<CopyId, Vec<OpenLack>> = BTreeMap::new();
    for lack in lacks.into_iter().filter(is_asked).filter_map(OpenLack::of) {
        by_copy.entry(lack.lack.copy.clone()).or_default().push(lack);
    }
    let made = side_by_side(by_copy.into_iter().collect(), SIDE_BY_SIDE, |(copy, lacks): (CopyId, Vec<OpenLack>)| {
        let keys: Vec<RrKey> = lacks.iter().map(|own| own.key.clone()).collect();
        // What cannot be read stays.
        let Ok(here) = held(targets, &copy, &keys) else { return Vec::new() };
        // The newest of an RRset decides: a later change went on from the others.
        let newest: BTreeMap<&RrKey, &OpenLack> = lacks.iter().map(|own| (&own.key, own)).collect();
        let is_made = |own: &OpenLack| here[&own.key].as_ref() == newest[&own.key].kind.after();
        let made: Vec<bool> = lacks.iter().map(is_made).collect();
        lacks.into_iter().zip(made).filter(|(_, made)| *made).map(|(own, _)| own).collect()
    });
    made.into_iter().flatten().try_for_each(|own| state.drop_lack(&own.lack))
}

/// What a copy holds of these RRsets.
///
/// Errors: it cannot be asked.
pub(super) fn held(
    targets: &Targets<'_>,
    copy: &CopyId,
    keys: &[RrKey],
) -> Result<BTreeMap<RrKey, Option<Rrset>>, Problem> {
    let writer = targets.access(copy).expect("the copies of a zone are opened together").writer.clone()?;
    let questions: Vec<Question> = keys.iter().map(Question::of).collect();
    let answers = writer.observe(&copy.zone, &questions, None)?;
    let rrset = |(key, answer): (&RrKey, Answer)| match answer {
        Answer::Holds(rtype, rrset) if rtype == key.rtype => (key.clone(), Some(rrset)),
        _ => (key.clone(), None),
    };
    Ok(keys.iter().zip(answers).map(rrset).collect())
}
