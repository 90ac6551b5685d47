//! What SRV list, when an apply is undone: a name that an SRV lists is not taken away, and an SRV lists no name that is not there.
//!
//! Comes in: the changes that would put all back, and what is live. Goes out: the changes that may go, and those that are
//! left, unit by unit. Pure.

use std::collections::HashSet;

use crate::change::{Change, ChangeKind, Notice, NoticeCode};
use crate::claim::Subject;
use crate::dns::{Name, NameRef, RrKey, Rrset, Rtype, ZoneName};
use crate::rollout::listed::{listed_anew, servers};
use crate::rollout::units;
use crate::state::ApplyId;

/// An SRV in a copy, as it is live.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveSrv {
    /// Its zone.
    pub zone: ZoneName,
    /// Its name and type.
    pub key: RrKey,
    /// The target of the copy, where the pool has several.
    pub target: Option<String>,
    /// What it is.
    pub rrset: Rrset,
}

/// What is live of what SRV list.
#[derive(Debug, Default)]
pub struct ListedNow {
    /// The SRV.
    pub srv: Vec<LiveSrv>,
    /// The names that SRV would list again, and that have no address.
    pub absent: HashSet<Name>,
}

/// Why a unit is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListingFault {
    /// An SRV lists a name that would go.
    Listed {
        /// The SRV.
        srv: RrKey,
        /// The name.
        name: Name,
    },
    /// Its SRV would list a name that is not there.
    Absent {
        /// The name.
        name: Name,
    },
}

/// A unit that is left.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitLeft {
    /// The change that cannot be made.
    pub change: Change,
    /// Why.
    pub fault: ListingFault,
}

/// Whether a change takes the addresses of a name from something other than a host.
pub fn takes_name(change: &Change) -> bool {
    let is_address = matches!(change.key.rtype, Rtype::A | Rtype::AAAA);
    is_address && matches!(change.kind, ChangeKind::Delete { .. }) && change.subject.host().is_none()
}

/// Leaves the units that would take a name which an SRV lists, or whose SRV would list a name that is not there; then those
/// that need these, and so on. Gives the changes that may go, and what is left.
pub fn without_listed(mut changes: Vec<Change>, now: &ListedNow) -> (Vec<Change>, Vec<UnitLeft>) {
    let mut left = Vec::new();
    loop {
        let view = UndoView::of(&changes, now);
        let mut goes = vec![true; changes.len()];
        let count = left.len();
        for unit in units(&changes) {
            let fault = unit.changes.iter().find_map(|place| Some((*place, view.fault(&changes[*place])?)));
            if let Some((place, fault)) = fault {
                left.push(UnitLeft { change: changes[place].clone(), fault });
                unit.changes.iter().for_each(|place| goes[*place] = false);
            }
        }
        if left.len() == count {
            return (changes, left);
        }
        let mut goes = goes.into_iter();
        changes.retain(|_| goes.next().unwrap_or_default());
    }
}

/// What SRV would list after the changes of an undo, and which names would be there.
struct UndoView<'c> {
    /// The live SRV that no change is about, and what changes leave: each name with its SRV.
    listed: Vec<(NameRef<'c>, &'c RrKey)>,
    /// The names that are not there, and that no change creates.
    absent: HashSet<NameRef<'c>>,
}

impl<'c> UndoView<'c> {
    /// Finds it.
    fn of(changes: &'c [Change], now: &'c ListedNow) -> UndoView<'c> {
        let is_changed = |srv: &LiveSrv| {
            let mut own = changes.iter().filter(|change| change.key == srv.key && change.zone == srv.zone);
            own.any(|change| srv.target.as_ref().is_none_or(|target| change.is_at(target)))
        };
        let stays = now.srv.iter().filter(|srv| !is_changed(srv));
        let stays = stays.flat_map(|srv| servers(Some(&srv.rrset)).into_iter().map(|name| (name, &srv.key)));
        let after = changes.iter().filter(|change| change.key.rtype == Rtype::SRV);
        let after = after.flat_map(|change| servers(change.kind.after()).into_iter().map(|name| (name, &change.key)));
        let is_created = |change: &&Change| {
            matches!(change.key.rtype, Rtype::A | Rtype::AAAA) && matches!(change.kind, ChangeKind::Create { .. })
        };
        let created: HashSet<NameRef<'_>> =
            changes.iter().filter(is_created).map(|change| change.key.owner.as_name()).collect();
        let absent = now.absent.iter().map(Name::as_name).filter(|name| !created.contains(name));
        UndoView { absent: absent.collect(), listed: stays.chain(after).collect() }
    }

    /// Why a change cannot be made.
    fn fault(&self, change: &Change) -> Option<ListingFault> {
        if takes_name(change) {
            let name = change.key.owner.as_name();
            let (_, srv) = self.listed.iter().find(|(listed, _)| *listed == name)?;
            return Some(ListingFault::Listed { srv: (*srv).clone(), name: name.to_name() });
        }
        let absent = listed_anew(change).into_iter().find(|name| self.absent.contains(name))?;
        Some(ListingFault::Absent { name: absent.to_name() })
    }
}

/// The notice about a unit that is left. `later` is the apply after the undone one that wrote the SRV, or took the name; `with`
/// is the subject of the SRV, where the undone apply wrote it, too, and this undo leaves it out.
pub fn notice_of_left(undone: ApplyId, left: &UnitLeft, later: Option<ApplyId>, with: Option<&Subject>) -> Notice {
    let UnitLeft { change, fault } = left;
    let subject = &change.subject;
    let advice = match (later, with) {
        (Some(later), _) => format!("apply {} did that; undo that apply first", later.0),
        (None, Some(with)) => format!("undo that, too: `--subject '{with}'`"),
        (None, None) => "no later apply in this journal did that".to_owned(),
    };
    let message = match fault {
        ListingFault::Listed { srv, name } => format!(
            "the SRV `{}` lists `{name}`, which apply {} created; {advice}; undo leaves {subject} as it is",
            srv.owner, undone.0
        ),
        ListingFault::Absent { name } => format!(
            "the SRV `{}` would list `{name}`, which is no longer there; {advice}; undo leaves {subject} as it is",
            change.key.owner
        ),
    };
    let name = change.key.owner.to_string();
    Notice { code: NoticeCode::EditedSince, message, name, subject: Some(subject.clone()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Rule;
    use crate::change::fixture::{Side, change, reason};
    use crate::claim::EndpointSetName;

    const NONE: Side<'static> = (60, &[]);

    /// A change of a pod, or of an endpoint where the id begins with `_`.
    fn of(id: &str, (name, rtype): (&str, Rtype), sides: (Side<'_>, Side<'_>)) -> Change {
        let subject = match id.strip_prefix('_') {
            Some(name) => Subject::Endpoints(Box::new(EndpointSetName { set: "web".into(), name: name.into() })),
            None => Subject::pod("web", id),
        };
        let name = format!("{name}.search.example.net");
        let change = change(("search", Some(1)), (&name, rtype), sides, &[reason(Rule::Undo, None, &[])]);
        Change { subject, also: Vec::new(), ..change }
    }

    /// The name of a pod goes.
    fn goes(pod: &str) -> Change {
        of(pod, (&format!("{pod}1"), Rtype::AAAA), ((60, &["2a02:6b8::a"]), NONE))
    }

    /// An SRV changes.
    fn srv(endpoint: &str, before: &[&str], after: &[&str]) -> Change {
        of(endpoint, (&format!("{endpoint}._tcp"), Rtype::SRV), ((60, before), (60, after)))
    }

    const A: &str = "0 0 80 a1.search.example.net.";

    const B: &str = "0 0 80 b1.search.example.net.";

    const OLD: &str = "0 0 80 old.search.example.net.";

    /// What is live: what changes find, and that the old name is not there.
    fn live(found: &[Change], target: Option<&str>) -> ListedNow {
        let own = |change: &Change| {
            let (zone, key) = (change.zone.clone(), change.key.clone());
            let target = target.map(str::to_owned);
            Some(LiveSrv { zone, key, target, rrset: change.kind.before()?.clone() })
        };
        let absent = Name::parse("old.search.example.net").unwrap();
        ListedNow { srv: found.iter().filter_map(own).collect(), absent: HashSet::from([absent]) }
    }

    /// The subjects that are left, in the order in which that is found.
    fn left(changes: &[Change], now: &ListedNow) -> Vec<String> {
        let (goes, left) = without_listed(changes.to_vec(), now);
        assert_eq!(goes.len() + left.len(), changes.len());
        left.iter().map(|left| left.change.subject.to_string()).collect()
    }

    #[test]
    fn a_name_stays_while_an_srv_lists_it_unless_the_undo_changes_that() {
        let listing = [srv("_http", &[A, B], &[])];
        assert_eq!(left(&[goes("a"), goes("c")], &live(&listing, None)), ["pod:web/a"]);
        let some = [goes("a"), goes("b"), srv("_http", &[A, B], &[A])];
        assert_eq!(left(&some, &live(&listing, None)), ["pod:web/a"]);
        let all = [goes("a"), goes("b"), srv("_http", &[A, B], &[])];
        assert_eq!(left(&all, &live(&listing, None)), [""; 0]);
        // The other target has it, too.
        let here = all.map(|change| Change { targets: vec!["one".to_owned()], ..change });
        assert_eq!(left(&here, &live(&listing, Some("one"))), [""; 0]);
        assert_eq!(left(&here, &live(&listing, Some("two"))), ["pod:web/a", "pod:web/b"]);
    }

    #[test]
    fn an_srv_that_would_list_a_lost_name_is_left_and_so_is_what_it_lists_meanwhile() {
        let back = srv("_http", &[A], &[OLD]);
        let changes = [goes("a"), back.clone()];
        assert_eq!(left(&changes, &live(&changes[1..], None)), ["endpoints:web/http", "pod:web/a"]);
        let old = of("old", ("old", Rtype::AAAA), (NONE, (60, &["2a02:6b8::1"])));
        assert_eq!(left(&[goes("a"), back, old], &live(&changes[1..], None)), [""; 0], "the undo makes the name again");
    }

    #[test]
    fn a_notice_says_what_to_undo_first() {
        let (changes, now) = ([goes("a")], live(&[srv("_http", &[A], &[])], None));
        let (_, left) = without_listed(changes.to_vec(), &now);
        let subject = srv("_http", &[], &[A]).subject;
        let told = |later: Option<u64>, with| notice_of_left(ApplyId(2), &left[0], later.map(ApplyId), with).message;
        let shown = [told(Some(3), None), told(None, Some(&subject)), told(None, None)].join("\n");
        insta::assert_snapshot!(shown, @r"
        the SRV `_http._tcp.search.example.net.` lists `a1.search.example.net.`, which apply 2 created; apply 3 did that; undo that apply first; undo leaves pod:web/a as it is
        the SRV `_http._tcp.search.example.net.` lists `a1.search.example.net.`, which apply 2 created; undo that, too: `--subject 'endpoints:web/http'`; undo leaves pod:web/a as it is
        the SRV `_http._tcp.search.example.net.` lists `a1.search.example.net.`, which apply 2 created; no later apply in this journal did that; undo leaves pod:web/a as it is
        ");
    }
}
