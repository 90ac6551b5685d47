//! The causes of changes as far as a plan alone says them: for plans of an earlier version, and for those that undo an
//! apply.

use std::collections::BTreeMap;

use crate::change::{Change, Rule};
use crate::plan::{Cause, CauseKind, ComparisonBase, Plan, Review};

/// Gathers the changes of a plan by their rules. The plan has changes.
pub fn of_reasons(plan: &Plan) -> Review {
    let mut causes: BTreeMap<Rule, Vec<u32>> = BTreeMap::new();
    for (change, place) in plan.changes.iter().zip(0..) {
        causes.entry(first_rule(change)).or_default().push(place);
    }
    let cause = |(rule, changes): (Rule, Vec<u32>)| {
        let (kind, says) = told(rule, plan.undoes);
        Cause { class: None, kind, says, places: Vec::new(), is_explained: true, changes }
    };
    let causes = causes.into_iter().map(cause).collect();
    let mut review = Review { against: ComparisonBase::Nothing, causes, settled: 0, newly_blocked: Vec::new() };
    review.sort();
    review
}

/// The main rule of a change: that it was edited since, else of several any but that of TTLs, which often accompanies
/// others.
fn first_rule(change: &Change) -> Rule {
    if change.is_edited_since() {
        return Rule::EditedSince;
    }
    if change.brings_in_line() {
        return Rule::CopyDiffers;
    }
    let rules = change.reasons.iter().map(|reason| reason.rule);
    rules.min_by_key(|rule| (*rule == Rule::Ttl, *rule)).unwrap_or(Rule::Undo)
}

/// What a rule is a cause of, and in words.
fn told(rule: Rule, undoes: Option<u64>) -> (CauseKind, String) {
    let (kind, says) = match rule {
        Rule::Undo => {
            let of = undoes.map(|id| format!(" {id}")).unwrap_or_default();
            return (CauseKind::Undo, format!("apply{of} is undone"));
        }
        Rule::Ttl => (CauseKind::Ttl, "the TTL is not the desired one"),
        Rule::Released => (CauseKind::Released, "the name was given up"),
        Rule::Orphan => (CauseKind::Released, "no host and no file has the name"),
        Rule::NoPod => (CauseKind::Released, "no pod or endpoint of the set has the name any longer"),
        Rule::Missing => (CauseKind::Other, "an address is missing"),
        Rule::WrongAddress => (CauseKind::Other, "an address is wrong"),
        Rule::AddressElsewhere => (CauseKind::Other, "an address is at another name"),
        Rule::MissingPtr => (CauseKind::Other, "a PTR is missing"),
        Rule::WrongPtr => (CauseKind::Other, "a PTR is wrong"),
        Rule::PtrElsewhere => (CauseKind::Other, "a PTR is at another address"),
        Rule::Stated => (CauseKind::Other, "a file states the record"),
        Rule::NotStated => (CauseKind::Other, "no file states the record"),
        Rule::MakesRoom => (CauseKind::Other, "a record makes room for another"),
        Rule::Registry => (CauseKind::Other, "an RRset is registered"),
        Rule::Adopted => (CauseKind::Other, "an RRset is taken over from another owner"),
        Rule::EditedSince => (CauseKind::Drift, "drift: edited after the apply that wrote it"),
        Rule::CopyDiffers => (CauseKind::Drift, "drift: a copy differs from the reference"),
    };
    (kind, says.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{SealedPlan, fixture};

    #[test]
    fn every_change_has_the_cause_of_its_rule() {
        let sealed = SealedPlan::new(fixture::fleet());
        let review = of_reasons(sealed.plan());
        assert!(review.is_whole(sealed.plan().changes.len()));
        let told: Vec<(&str, usize)> =
            review.causes.iter().map(|cause| (cause.says.as_str(), cause.changes.len())).collect();
        let some = [("a PTR is missing", 4), ("an address is missing", 2), ("the TTL is not the desired one", 1)];
        assert!(some.iter().all(|one| told.contains(one)), "{told:?}");
    }
}
