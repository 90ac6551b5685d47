//! RRsets that a plan creates where a TXT of the registry records them already: it may have gone since the plan was made.
//!
//! A plan makes the TXT of what it creates, unless it is there. A newer apply may then have removed it, before the older plan is
//! applied or resumed: what that one creates would be ours, and nothing would say so.

use std::collections::{BTreeMap, HashSet};

use super::registry_texts;
use crate::apply::shape::PlanBounds;
use crate::apply::{LaneSurvey, OutcomeCode, UnitVerdict};
use crate::change::{Change, ChangeKind};
use crate::dns::{Name, OwnerName, RrKey, Rtype};
use crate::plan::Plan;
use crate::registry::Registry;
use crate::target::{Answer, Question, ZoneId};

/// The changes of a lane, of those at these places, of which the TXT is gone or names another owner, each with why it is left.
pub fn refused(
    plan: &Plan,
    (lane, open): (&LaneSurvey<'_>, &[usize]),
    bounds: &PlanBounds<'_>,
) -> BTreeMap<usize, UnitVerdict> {
    // An undo puts back what was there, with a TXT or without.
    if plan.undoes.is_some() {
        return BTreeMap::new();
    }
    let made = |rtype| {
        let is_made = move |change: &&Change| change.key.rtype == rtype && change.kind.after().is_some();
        lane.changes.iter().filter(is_made).map(|change| (change.zone_id(), &change.key.owner))
    };
    let texts: HashSet<(ZoneId, &OwnerName)> = made(Rtype::TXT).collect();
    let delegations: Vec<(ZoneId, &OwnerName)> = made(Rtype::NS).collect();
    let relies = |place: &usize| {
        let change = &lane.changes[*place];
        let at = text_of(change, bounds)?;
        // Below what the plan delegates to others it makes no TXT.
        let is_delegated = |(zone, cut): &(ZoneId, &OwnerName)| {
            *zone == change.zone_id()
                && cut.as_name() != change.zone.as_name()
                && at.as_name().is_at_or_below(cut.as_name())
        };
        let relies = !texts.contains(&(change.zone_id(), &at)) && !delegations.iter().any(is_delegated);
        relies.then(|| (*place, registry_texts::questions(change, bounds.marking(&change.pool))))
    };
    let mut relying: BTreeMap<usize, Vec<Question>> = open.iter().filter_map(relies).collect();
    let mut refused = BTreeMap::new();
    for copy in &lane.copies {
        let own = copy.places.iter().filter_map(|place| Some((*place, relying.remove(place)?)));
        let (places, asked): (Vec<usize>, Vec<Vec<Question>>) = own.unzip();
        if places.is_empty() {
            continue;
        }
        match registry_texts::read(copy, &asked) {
            Ok(answers) => {
                let all = places.into_iter().zip(asked.iter().zip(answers));
                refused.extend(all.filter_map(|(place, (asked, answers))| {
                    // The first is asked where the TXT is written.
                    Some((place, fault(&lane.changes[place], &asked[0].name, (&answers, bounds))?))
                }));
            }
            Err(error) => {
                let verdict = UnitVerdict::of_error(OutcomeCode::Failed, &error);
                refused.extend(places.into_iter().map(|place| (place, verdict.clone())));
            }
        }
    }
    refused
}

/// Where the TXT of an RRset that a change creates is written; none where it has none.
fn text_of(change: &Change, bounds: &PlanBounds<'_>) -> Option<OwnerName> {
    let Change { pool, zone, key, kind, .. } = change;
    let marking = bounds.marking(pool);
    let is_created = matches!(kind, ChangeKind::Create { .. }) && !change.is_of_owner();
    if marking.registry != Registry::Txt || !is_created {
        return None;
    }
    let name = marking.form.txt_name(key.owner.as_name(), key.rtype)?.ok()?;
    zone.owner(name.as_name()).filter(|_| bounds.zone_of(pool, name.as_name()) == Some(zone))
}

/// Why an RRset would be ours without a TXT that says so; none where one does, and where there can be none.
fn fault(change: &Change, at: &Name, (answers, bounds): (&[Answer], &PlanBounds<'_>)) -> Option<UnitVerdict> {
    if matches!(answers.first(), None | Some(Answer::Delegated(..) | Answer::BelowDname(..))) {
        return None;
    }
    let marking = bounds.marking(&change.pool);
    let RrKey { owner, rtype } = &change.key;
    let words = match registry_texts::names_us(answers, marking) {
        Some(true) => return None,
        Some(false) => "names another owner now",
        None => "has gone since the plan was made",
    };
    Some(UnitVerdict::stale(format!("the TXT at `{at}`, which says that {rtype} of `{owner}` is ours, {words}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{CopyAccess, survey};
    use crate::change::Rule;
    use crate::change::fixture::{Side, change, copy, reason, rrset, zone};
    use crate::dns::Rrset;
    use crate::provider::memory::primary::MemoryPrimary;
    use crate::registry::Marking;
    use crate::target::WriteTarget;
    use crate::verify::truth;

    const NONE: Side<'static> = (0, &[]);

    const OURS: Side<'static> = (600, &["\"heritage=external-dns,external-dns/owner=us\""]);

    const THEIRS: Side<'static> = (600, &["\"heritage=external-dns,external-dns/owner=them\""]);

    /// A change of an RRset below the zone.
    fn by(label: &str, rtype: Rtype, sides: (Side<'_>, Side<'_>)) -> Change {
        let rule = if rtype == Rtype::TXT { Rule::Registry } else { Rule::Missing };
        let name = format!("{label}.search.example.net");
        change(("search", Some(1)), (&name, rtype), sides, &[reason(rule, Some(1), &[])])
    }

    /// A primary with these TXT.
    fn holding(texts: &[(&str, Side<'_>)]) -> MemoryPrimary {
        let held: Vec<(RrKey, Rrset)> = texts
            .iter()
            .map(|(label, text)| (by(label, Rtype::TXT, (NONE, *text)).key, rrset(Rtype::TXT, text.0, text.1).unwrap()))
            .collect();
        truth::holding(&[zone("search.example.net")], &held.iter().map(|(key, own)| (key, own)).collect::<Vec<_>>())
    }

    /// Why the changes of a plan are left, in words.
    fn left(plan: Plan, primary: &MemoryPrimary, registry: Registry) -> Vec<String> {
        let (zone, marking) = (zone("search.example.net"), Marking::sample("us", registry));
        let bounds = PlanBounds::new(vec![&zone], [], &marking, 1);
        let writer = Ok(primary as &dyn WriteTarget);
        let access = CopyAccess { copy: copy("search.example.net"), writer, is_fenced: false, share: None };
        let survey = survey(&plan, vec![access], 1);
        let lane = &survey.lanes[0];
        let refused = refused(&plan, (lane, &lane.open_places(&survey.unit_of)), &bounds);
        refused.into_values().map(|verdict| verdict.message).collect()
    }

    /// A plan of these changes.
    fn plan(changes: Vec<Change>) -> Plan {
        Plan { changes, ..crate::plan::fixture::empty() }
    }

    #[test]
    fn nothing_is_created_of_which_the_text_went_since_the_plan() {
        let address: Side<'_> = (600, &["2a02:6b8::1"]);
        let creates = || plan(vec![by("a", Rtype::AAAA, (NONE, address))]);
        let gone = "the TXT at `aaaa-a.search.example.net.`, which says that AAAA of `a.search.example.net.` is ours, has gone \
                    since the plan was made";
        let of = |texts: &[(&str, Side<'_>)], plan: Plan| left(plan, &holding(texts), Registry::Txt);
        assert_eq!(of(&[], creates()), [gone]);
        assert_eq!(of(&[("aaaa-a", (600, &["\"v=spf1\""]))], creates()), [gone]);
        assert_eq!(of(&[("aaaa-a", OURS)], creates()), [""; 0]);
        assert!(of(&[("aaaa-a", THEIRS)], creates())[0].ends_with("is ours, names another owner now"));
        // Where the plan makes the TXT, and where there is none.
        let with_text = vec![by("a", Rtype::AAAA, (NONE, address)), by("aaaa-a", Rtype::TXT, (NONE, OURS))];
        assert_eq!(of(&[], plan(with_text)), [""; 0]);
        assert_eq!(left(creates(), &holding(&[]), Registry::Journal), [""; 0]);
        assert_eq!(of(&[], Plan { undoes: Some(7), ..creates() }), [""; 0]);
        let delegated = || by("sub", Rtype::NS, (NONE, (600, &["a.sub.search.example.net."])));
        let glue = || by("a.sub", Rtype::AAAA, (NONE, address));
        assert_eq!(of(&[("ns-sub", OURS)], plan(vec![delegated(), glue()])), [""; 0]);
        assert_eq!(of(&[], plan(vec![glue()])).len(), 1);
        // What earlier versions of external-dns wrote counts, too.
        let pointer = || plan(vec![by("b", Rtype::CNAME, (NONE, (600, &["a.search.example.net."])))]);
        assert_eq!(of(&[], pointer()).len(), 1);
        assert_eq!(of(&[("cname-b", OURS)], pointer()), [""; 0]);
    }
}
