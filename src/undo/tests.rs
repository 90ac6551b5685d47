//! What is put back, and who is left.

use super::*;
use crate::change::RrsetText;
use crate::change::{Change, ChangeKind, Notice, Rule};
use crate::claim::{OrphanName, Subject};
use crate::dns::{Name, Rdata, Rrset, Rtype, Ttl, reverse};
use crate::inventory::value::Inv;
use crate::plan::PlanScope;
use crate::plan::fixture::{self, rrset, zone};
use crate::state::{ApplyId, SentChange, SentFate, SentUpdate};
use crate::target::{Answer, TargetId};

/// The apply that is undone.
const APPLY: ApplyId = ApplyId(12);

/// One side of a change.
type Side<'a> = (u64, &'a [&'a str]);

/// No RRset.
const NONE: Side<'static> = (0, &[]);

/// Some RRsets.
const ONE: Side<'static> = (600, &["2a02::1"]);

const TWO: Side<'static> = (600, &["2a02::2"]);

const TO_A: Side<'static> = (600, &["a.search.example.net"]);

const A: &str = "a.search.example.net";

const B: &str = "b.search.example.net";

/// The reverse name of [`ONE`].
const REVERSE: &str = "2a02:6b8::1";

/// An RRset as the journal keeps it.
fn kept(rtype: Rtype, side: Side<'_>) -> Option<RrsetText> {
    let rrset = rrset(rtype, side.0, side.1)?;
    Some(RrsetText { mark: None, ttl: rrset.ttl().as_secs(), rdata: rrset.rdata_texts(rtype) })
}

/// The pool of a zone.
fn pool_of<T>(_: &T) -> ZonePool {
    ZonePool { pool: fixture::pool(), targets: Vec::new() }
}

/// A change as the journal keeps it, with its zone, by which hosts.
fn did(hosts: &[u64], name: &str, rtype: Rtype, (before, after): (Side<'_>, Side<'_>)) -> (String, SentChange) {
    let (name, zone) = match name.parse() {
        Ok(address) => (reverse::reverse_name(address), "0.0.8.b.6.0.2.0.a.2.ip6.arpa"),
        Err(_) => (Name::parse(name).unwrap(), "search.example.net"),
    };
    let mut hosts = hosts.iter().map(|inv| Subject::Host(Inv(*inv)));
    // Without a host it is an orphan: the name of the addresses, or what the PTR points to.
    let orphan = || {
        let target = before.1.iter().chain(after.1).next().filter(|_| rtype == Rtype::PTR);
        let name = target.map_or_else(|| name.clone(), |target| Name::parse(target).unwrap());
        Subject::Orphan(OrphanName { pool: fixture::pool(), name })
    };
    let change = SentChange {
        registers: None,
        subject: hosts.next().unwrap_or_else(orphan),
        also: hosts.collect(),
        project: "search".to_owned(),
        name,
        rtype,
        before: kept(rtype, before),
        after: kept(rtype, after),
    };
    (zone.to_owned(), change)
}

/// Updates of one change each, and their outcomes.
fn sent(updates: Vec<((String, SentChange), SentFate)>) -> Vec<SentUpdate> {
    let updates = updates.into_iter().zip(1..);
    updates
        .map(|(((of_zone, change), fate), number)| SentUpdate {
            number,
            zone: zone(&of_zone),
            target: TargetId::only(&pool_of(&zone(&of_zone)).pool),
            is_of_several: false,
            phase: "forward".to_owned(),
            at: "2026-11-20T02:00:00Z".parse().unwrap(),
            fate,
            race: None,
            changes: vec![change],
        })
        .collect()
}

/// What an apply did in all, all of whose updates took effect.
fn done(changes: Vec<(String, SentChange)>) -> Vec<Change> {
    net(APPLY, &sent(changes.into_iter().map(|change| (change, SentFate::Done)).collect()), pool_of).unwrap()
}

/// The answer that an RRset is there, or nothing.
fn there(rtype: Rtype, side: Side<'_>) -> Option<Answer> {
    Some(rrset(rtype, side.0, side.1).map_or(Answer::Nothing, |rrset| Answer::Holds(rtype, rrset)))
}

/// An AAAA RRset, or nothing.
fn aaaa(side: Side<'_>) -> Option<Answer> {
    there(Rtype::AAAA, side)
}

/// A PTR RRset, or nothing.
fn ptr(side: Side<'_>) -> Option<Answer> {
    there(Rtype::PTR, side)
}

/// Changes in a line each.
fn lines(changes: &[Change]) -> Vec<String> {
    let side = |rtype, rrset: Option<&Rrset>| match rrset {
        None => "nothing".to_owned(),
        Some(rrset) => format!("{} {}", rrset.ttl(), rrset.rdata_texts(rtype).join(" ")),
    };
    let line = |change: &Change| {
        let Change { key, kind, .. } = change;
        format!("{} {}: {} > {}", key.owner, key.rtype, side(key.rtype, kind.before()), side(key.rtype, kind.after()))
    };
    changes.iter().map(line).collect()
}

/// What the notices say.
fn messages(judged: &UndoJudgement) -> Vec<String> {
    judged.edited.iter().map(|edited| notice(APPLY, edited, None).message).collect()
}

#[test]
fn what_several_updates_did_to_an_rrset_is_one_change() {
    let change = |before, after| did(&[7], A, Rtype::AAAA, (before, after));
    let refused = || SentFate::Undone("refused".to_owned());
    let updates = sent(vec![
        (change(NONE, TWO), refused()),
        (change(NONE, ONE), SentFate::Done),
        (change(ONE, TWO), SentFate::Done),
        (change(TWO, NONE), refused()),
        (did(&[8], B, Rtype::AAAA, (ONE, NONE)), SentFate::Unknown(None)),
    ]);
    let changes = net(APPLY, &updates, pool_of).unwrap();
    assert_eq!(
        lines(&changes),
        ["a.search.example.net. AAAA: nothing > 600 2a02::2", "b.search.example.net. AAAA: 600 2a02::1 > nothing"]
    );
    assert_eq!(changes[0].reasons, [fixture::reason(Rule::Undo, Some(7), &["apply:12:3"])]);
    assert_eq!(changes[1].reasons, [fixture::reason(Rule::Undo, Some(8), &["apply:12:5"])]);
}

#[test]
fn what_was_changed_back_and_what_never_took_effect_is_no_change() {
    let change = |before, after| did(&[7], A, Rtype::AAAA, (before, after));
    let back = vec![(change(NONE, ONE), SentFate::Done), (change(ONE, NONE), SentFate::Done)];
    assert_eq!(net(APPLY, &sent(back), pool_of), Ok(vec![]));
    let never = vec![(change(NONE, ONE), SentFate::Undone("refused".to_owned()))];
    assert_eq!(net(APPLY, &sent(never), pool_of), Ok(vec![]));
}

#[test]
fn a_journal_that_holds_something_else_is_reported() {
    let mut updates = sent(vec![(did(&[7], A, Rtype::AAAA, (NONE, ONE)), SentFate::Done)]);
    updates[0].changes[0].after = Some(RrsetText { mark: None, ttl: 600, rdata: vec!["192.0.2.1".to_owned()] });
    let odd = OddChange { update: 1, name: Name::parse(A).unwrap() };
    assert_eq!(net(APPLY, &updates, pool_of), Err(odd));
    let mut updates = sent(vec![(did(&[7], A, Rtype::AAAA, (NONE, ONE)), SentFate::Done)]);
    updates[0].zone = zone("web.example.net");
    assert!(net(APPLY, &updates, pool_of).is_err());
}

#[test]
fn what_stands_as_it_was_left_is_put_back() {
    let done = done(vec![
        did(&[1], A, Rtype::AAAA, (NONE, ONE)),
        did(&[2], B, Rtype::AAAA, (ONE, TWO)),
        did(&[3], REVERSE, Rtype::PTR, (TO_A, NONE)),
    ]);
    let judged = judge(&done, &[aaaa(ONE), aaaa(TWO), ptr(NONE)]);
    assert_eq!(
        lines(&judged.changes),
        [
            "a.search.example.net. AAAA: 600 2a02::1 > nothing",
            "b.search.example.net. AAAA: 600 2a02::2 > 600 2a02::1",
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. PTR: nothing > 600 \
             a.search.example.net.",
        ]
    );
    assert!(judged.edited.is_empty() && judged.blocked.is_empty());
}

#[test]
fn what_stands_as_before_needs_nothing() {
    let done = done(vec![
        did(&[1], A, Rtype::AAAA, (NONE, ONE)),
        did(&[1], REVERSE, Rtype::PTR, (NONE, TO_A)),
        did(&[2], B, Rtype::AAAA, (ONE, TWO)),
    ]);
    assert_eq!(judge(&done, &[aaaa(NONE), ptr(NONE), aaaa(ONE)]), UndoJudgement::default());
    let judged = judge(&done, &[aaaa(NONE), ptr(TO_A), aaaa(ONE)]);
    assert_eq!(judged.changes.len(), 1, "the rest of a host");
    assert_eq!(judged.changes[0].key.rtype, Rtype::PTR);
}

#[test]
fn an_update_of_unknown_fate_is_put_back_where_it_took_effect() {
    let updates = sent(vec![
        (did(&[1], A, Rtype::AAAA, (NONE, ONE)), SentFate::Unknown(Some("no answer".to_owned()))),
        (did(&[2], B, Rtype::AAAA, (NONE, ONE)), SentFate::Unknown(None)),
    ]);
    let done = net(APPLY, &updates, pool_of).unwrap();
    let judged = judge(&done, &[aaaa(ONE), aaaa(NONE)]);
    assert_eq!(lines(&judged.changes), ["a.search.example.net. AAAA: 600 2a02::1 > nothing"]);
    assert!(judged.edited.is_empty());
}

#[test]
fn a_host_of_which_anything_was_edited_is_left_whole_and_named() {
    let done = done(vec![
        did(&[1], A, Rtype::AAAA, (NONE, ONE)),
        did(&[1], REVERSE, Rtype::PTR, (NONE, TO_A)),
        did(&[2], B, Rtype::AAAA, (NONE, ONE)),
    ]);
    let judged = judge(&done, &[aaaa(TWO), ptr(TO_A), aaaa(ONE)]);
    assert_eq!(lines(&judged.changes), ["b.search.example.net. AAAA: 600 2a02::1 > nothing"]);
    assert_eq!(
        messages(&judged),
        [
            "AAAA of `a.search.example.net.`: apply 12 left AAAA 2a02::1 with TTL 600, but there is AAAA 2a02::2 with TTL \
             600; no later apply in this journal changed it; undo leaves host 1 as it is"
        ]
    );
    let Notice { name, subject, message, .. } = notice(APPLY, &judged.edited[0], Some(ApplyId(14)));
    assert_eq!((name.as_str(), subject.and_then(|subject| subject.host())), ("a.search.example.net.", Some(Inv(1))));
    assert!(
        message.contains("; apply 14 changed it since; undo that apply first; undo leaves host 1 as it is"),
        "{message}"
    );
}

#[test]
fn an_edit_is_an_edit_though_it_is_only_of_the_ttl_or_by_a_cname() {
    let done = done(vec![did(&[1], A, Rtype::AAAA, (ONE, TWO))]);
    let cname = Rrset::new(Ttl::DEFAULT, vec![Rdata::from_name(Name::parse(B).unwrap().as_name())]).unwrap();
    for edit in [(300, TWO.1), (300, ONE.1), NONE, (600, &["2a02::2", "2a02::3"])].map(aaaa) {
        let judged = judge(&done, &[edit]);
        assert_eq!((judged.changes.len(), judged.edited.len()), (0, 1), "{judged:?}");
    }
    for (before, after) in [(NONE, ONE), (ONE, NONE)] {
        let done =
            net(APPLY, &sent(vec![(did(&[1], A, Rtype::AAAA, (before, after)), SentFate::Done)]), pool_of).unwrap();
        let judged = judge(&done, &[Some(Answer::Holds(Rtype::CNAME, cname.clone()))]);
        assert_eq!((judged.changes.len(), judged.edited.len()), (0, 1), "{judged:?}");
    }
}

#[test]
fn a_cname_and_what_it_replaced_are_put_back_together() {
    let alias: Side<'_> = (600, &[B]);
    for (cname, address) in [((alias, NONE), (NONE, ONE)), ((NONE, alias), (ONE, NONE))] {
        let done = done(vec![did(&[1], A, Rtype::CNAME, cname), did(&[2], A, Rtype::AAAA, address)]);
        // A name with a CNAME answers with it whatever the type.
        let found = |cname, address| match there(Rtype::CNAME, cname) {
            Some(Answer::Nothing) => [Some(Answer::Nothing), aaaa(address)],
            alias => [alias.clone(), alias],
        };
        assert_eq!(judge(&done, &found(cname.1, address.1)).changes.len(), 2);
        assert_eq!(judge(&done, &found(cname.0, address.0)), UndoJudgement::default());
        let other = judge(&done, &found((600, &["c.search.example.net"]), NONE));
        assert_eq!((other.changes.len(), other.edited.len()), (0, 2));
    }
}

#[test]
fn hosts_that_share_a_change_are_put_back_together_or_left_together() {
    let done = done(vec![
        did(&[1, 2], REVERSE, Rtype::PTR, (NONE, TO_A)),
        did(&[2], B, Rtype::AAAA, (NONE, ONE)),
        did(&[1], A, Rtype::AAAA, (NONE, ONE)),
    ]);
    assert_eq!(judge(&done, &[ptr(TO_A), aaaa(ONE), aaaa(ONE)]).changes.len(), 3);
    let judged = judge(&done, &[ptr(TO_A), aaaa(ONE), aaaa(TWO)]);
    assert!(judged.changes.is_empty());
    assert_eq!(judged.edited[0].hosts, [Inv(1), Inv(2)]);
    assert!(messages(&judged)[0].ends_with("; undo leaves host 1 as it is, and with it host 2"), "{judged:?}");
}

#[test]
fn an_orphan_comes_back_with_what_points_to_it() {
    let done = done(vec![
        did(&[], A, Rtype::AAAA, (ONE, NONE)),
        did(&[], REVERSE, Rtype::PTR, (TO_A, NONE)),
        did(&[], "aaaa-a.search.example.net", Rtype::TXT, ((600, &["\"heritage=x\""]), NONE)),
    ]);
    let nothing = || Some(Answer::Nothing);
    let judged = judge(&done, &[nothing(), nothing(), nothing()]);
    assert_eq!(judged.changes.len(), 3);
    // The changes that put them back are tied as those were that removed them.
    let units = crate::rollout::units(&judged.changes);
    assert_eq!(units.len(), 1);
    let judged = judge(&done, &[aaaa(TWO), nothing(), nothing()]);
    assert!(judged.changes.is_empty());
    assert!(messages(&judged)[0].ends_with("; undo leaves the name as it is"), "{judged:?}");
}

#[test]
fn hosts_of_which_something_cannot_be_read_are_blocked() {
    let done = done(vec![
        did(&[1], A, Rtype::AAAA, (NONE, ONE)),
        did(&[1], REVERSE, Rtype::PTR, (NONE, TO_A)),
        did(&[2], B, Rtype::AAAA, (NONE, ONE)),
    ]);
    let judged = judge(&done, &[aaaa(ONE), None, aaaa(ONE)]);
    assert_eq!(lines(&judged.changes), ["b.search.example.net. AAAA: 600 2a02::1 > nothing"]);
    assert_eq!(judged.blocked.len(), 1);
    assert_eq!((judged.blocked[0].subject.host().unwrap(), judged.blocked[0].code.as_str()), (Inv(1), "zone-unknown"));
    assert!(judged.blocked[0].message.contains("is in `0.0.8.b.6.0.2.0.a.2.ip6.arpa.`, which could not be read"));
}

#[test]
fn hosts_that_are_named_are_put_back_with_whom_they_share_changes() {
    let done = || {
        done(vec![
            did(&[1, 2], REVERSE, Rtype::PTR, (NONE, TO_A)),
            did(&[2], B, Rtype::AAAA, (NONE, ONE)),
            did(&[3], A, Rtype::AAAA, (NONE, ONE)),
        ])
    };
    let kept = |hosts: &[u64], projects: &[&str]| -> Vec<u64> {
        let projects: Vec<String> = projects.iter().map(|id| (*id).to_owned()).collect();
        let only = PlanScope::new(hosts.iter().copied().map(Inv), &projects).unwrap_or_default();
        narrow(done(), &only).iter().map(|change| change.subject.host().unwrap().0).collect()
    };
    assert_eq!(kept(&[], &[]), [1, 2, 3]);
    assert_eq!(kept(&[2], &[]), [1, 2]);
    assert_eq!(kept(&[1, 3], &[]), [1, 2, 3]);
    assert_eq!(kept(&[], &["search"]), [1, 2, 3]);
    assert!(kept(&[3], &["web"]).is_empty());
}

#[test]
fn the_inverse_of_the_inverse_is_what_was_done() {
    let done = done(vec![
        did(&[1], A, Rtype::AAAA, (NONE, ONE)),
        did(&[2], B, Rtype::AAAA, (ONE, (300, TWO.1))),
        did(&[3], REVERSE, Rtype::PTR, (TO_A, NONE)),
    ]);
    let after = |change: &Change| {
        let rtype = change.key.rtype;
        Some(change.kind.after().map_or(Answer::Nothing, |after| Answer::Holds(rtype, after.clone())))
    };
    let undone = judge(&done, &done.iter().map(after).collect::<Vec<_>>()).changes;
    let again = judge(&undone, &undone.iter().map(after).collect::<Vec<_>>()).changes;
    let kinds = |changes: &[Change]| changes.iter().map(|change| change.kind.clone()).collect::<Vec<ChangeKind>>();
    assert_eq!(kinds(&again), kinds(&done));
}

#[test]
fn a_text_of_the_registry_goes_with_the_rrset_that_it_records() {
    let (ours, theirs) = ("\"heritage=external-dns,external-dns/owner=me\"", "\"a note\"");
    let done = done(vec![
        did(&[1], A, Rtype::AAAA, (NONE, ONE)),
        did(&[1], "aaaa-a.search.example.net", Rtype::TXT, ((60, &[theirs]), (60, &[theirs, ours]))),
    ]);
    let judged = judge(&done, &[aaaa(ONE), there(Rtype::TXT, (60, &[theirs, ours]))]);
    let tied = crate::rollout::units::ChangeTies::of(&judged.changes);
    let phases = crate::apply::order::phases(&judged.changes, &tied);
    assert_eq!(phases, [crate::apply::Phase::Deletes; 2]);
}

#[test]
fn an_undo_puts_back_what_each_target_got() {
    fn pool<T>(_: &T) -> ZonePool {
        ZonePool { pool: fixture::pool(), targets: vec!["a".to_owned(), "b".to_owned()] }
    }
    let at = |name: &str| TargetId { pool: fixture::pool(), name: name.to_owned() };
    let create = || did(&[7], "a.search.example.net", Rtype::AAAA, (NONE, (600, &["2a02:6b8::1"])));
    let both = || sent(vec![(create(), SentFate::Done), (create(), SentFate::Done)]);
    let mut of_both = both();
    of_both.iter_mut().zip(["a", "b"]).for_each(|(update, name)| update.target = at(name));
    let done = net(APPLY, &of_both, pool).unwrap();
    assert_eq!(done.iter().map(|change| change.targets.clone()).collect::<Vec<_>>(), [["a"], ["b"]]);
    assert!(gathered(done.clone(), pool).iter().all(|change| change.targets.is_empty()), "one for all");
    assert_eq!(gathered(done.clone(), pool).len(), 1);
    // The reason names the update of the first.
    let split = per_target(&gathered(done.clone(), pool), pool);
    assert_eq!(split[0], done[0]);
    assert_eq!(split[1], Change { reasons: done[0].reasons.clone(), ..done[1].clone() });
    of_both.pop();
    let of_one = gathered(net(APPLY, &of_both, pool).unwrap(), pool);
    assert_eq!(of_one[0].targets, ["a"]);
    // What an older version sent may be at any of them.
    let of_old = net(APPLY, &both()[..1], pool).unwrap();
    assert_eq!(of_old.len(), 2);
    let back: Vec<Change> = done.iter().map(|change| Change { kind: inverse_kind(change), ..change.clone() }).collect();
    assert_eq!(stray(&back, &done), None);
    assert!(stray(&back, &done[..1]).is_some(), "the other target did not get it");
}

/// The inverse of a create.
fn inverse_kind(change: &Change) -> ChangeKind {
    ChangeKind::between(change.kind.after().cloned(), None).unwrap()
}

#[test]
fn a_sync_made_up_for_an_apply_what_went_from_and_to_the_same() {
    let of = |host, name, sides| did(&[host], name, Rtype::AAAA, sides);
    let apply = |fate| sent(vec![(of(1, A, (NONE, ONE)), fate)]);
    let made = |asked: &[SentUpdate], later| {
        let later = sent(vec![(later, SentFate::Done)]);
        made_up(asked, later).into_iter().flat_map(|update| update.changes).collect::<Vec<SentChange>>()
    };
    let asked = apply(SentFate::Done);
    let same = of(1, A, (NONE, ONE));
    assert_eq!(made(&asked, same.clone()), std::slice::from_ref(&same.1));
    // A later apply put it back, and the sync made that one; a sync made two applies at once; another RRset; another host.
    for other in [(1, A, (TWO, ONE)), (1, A, (NONE, TWO)), (1, B, (NONE, ONE)), (2, A, (NONE, ONE))] {
        let (host, name, sides) = other;
        assert_eq!(made(&asked, of(host, name, sides)), [], "{other:?}");
    }
    assert_eq!(made(&apply(SentFate::Undone("refused".to_owned())), same), []);
}
