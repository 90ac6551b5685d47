//! Changes of a plan, as an explanation shows them.

use std::net::IpAddr;

use super::ExplainCase;
use super::model::{ChangeFacts, ReasonFacts, RrsetData};
use crate::change::{Change, ChangeKind, Rule};
use crate::desired::{DesiredHost, Interface};
use crate::dns::{Name, NameRef, Rdata, Rrset, Rtype, reverse};
use crate::inventory::value::Inv;

/// One change.
pub fn facts(change: &Change) -> ChangeFacts {
    let rtype = change.key.rtype;
    let data = |rrset: &Rrset| RrsetData { ttl: rrset.ttl().as_secs(), rdata: rrset.rdata_texts(rtype) };
    ChangeFacts {
        verb: match change.kind {
            ChangeKind::Create { .. } => "create",
            ChangeKind::Modify { .. } => "modify",
            ChangeKind::Delete { .. } => "delete",
        },
        zone: change.zone.to_string(),
        name: change.key.owner.to_string(),
        address: reverse::address_of(change.key.owner.as_name()),
        registers: registered(change),
        rtype: rtype.to_string(),
        targets: change.targets.clone(),
        host: change.subject.host().map(|inv| inv.0),
        of: match &change.subject {
            own if own.is_stated() => own.to_string(),
            _ if change.rules().any(|rule| rule == Rule::NoPod) => "no pod".to_owned(),
            _ => "no host".to_owned(),
        },
        before: change.kind.before().map(data),
        after: change.kind.after().map(data),
        reasons: change
            .reasons
            .iter()
            .map(|reason| ReasonFacts {
                rule: reason.rule.as_str(),
                host: reason.subject.host().map(|inv| inv.0),
                evidence: reason.evidence.clone(),
            })
            .collect(),
    }
}

/// The RRset whose owner a TXT of the registry records: the one of type T at LABEL.REST for a TXT at `t-LABEL.REST`.
fn registered(change: &Change) -> Option<String> {
    let (rtype, owner) = change.registered()?;
    Some(match reverse::address_of(owner.as_name()) {
        Some(address) => format!("{rtype} of {address}"),
        None => format!("{rtype} {owner}"),
    })
}

/// Orders a host's changes as one thinks of them: each of its names with the addresses that it gets and loses, backbone
/// first, then all else.
fn order(change: &Change, desired: &DesiredHost) -> (usize, bool, Option<IpAddr>, bool) {
    let is_registry = change.key.rtype == Rtype::TXT;
    let owner = match change.registered() {
        Some((_, owner)) => owner,
        None => change.key.owner.as_name().to_name(),
    };
    let address = reverse::address_of(owner.as_name());
    let about = |interface: &Interface| {
        touches_name(change, interface.owner.as_name())
            || owner.as_name() == interface.owner.as_name()
            || address.is_some_and(|address| interface.is_at(address))
    };
    let interface = desired.interfaces.iter().position(about).unwrap_or(desired.interfaces.len());
    (interface, address.is_some(), address, is_registry)
}

/// Whether a change belongs to others and concerns a host all the same: its rules contributed, or it is about one of
/// its names or addresses.
pub fn concerns(change: &Change, inv: Inv, desired: Option<&DesiredHost>) -> bool {
    let about = desired.is_some_and(|desired| {
        desired.interfaces.iter().any(|interface| {
            touches_name(change, interface.owner.as_name())
                || reverse::address_of(change.key.owner.as_name()).is_some_and(|address| interface.is_at(address))
        })
    });
    change.subject.host() != Some(inv) && (change.hosts().contains(&inv) || about)
}

/// Whether a change is at a name, or of a PTR that names it.
pub fn touches_name(change: &Change, name: NameRef<'_>) -> bool {
    let points = || mentions(change, &Rdata::from_name(name));
    change.key.owner.as_name() == name || (change.key.rtype == Rtype::PTR && points())
}

/// Whether a change is at the reverse name of an address, or of an RRset that holds or comes to hold it.
pub fn touches_address(change: &Change, address: IpAddr, reverse_name: &Name) -> bool {
    let holds = || mentions(change, &Rdata::from_address(address));
    let may_hold = matches!(change.key.rtype, Rtype::A | Rtype::AAAA);
    change.key.owner.as_name() == reverse_name.as_name() || (may_hold && holds())
}

/// Whether an RRset has some data before or after its change.
fn mentions(change: &Change, rdata: &Rdata) -> bool {
    let both = change.kind.before().into_iter().chain(change.kind.after());
    both.flat_map(Rrset::rdata).any(|own| own == rdata)
}

impl ExplainCase<'_> {
    /// The changes that are `wanted`.
    pub(super) fn changes(&self, wanted: impl Fn(&Change) -> bool) -> Vec<ChangeFacts> {
        self.decision.changes.iter().filter(|change| wanted(change)).map(facts).collect()
    }

    /// The changes that are a host's own, in the order in which one thinks of them.
    pub(super) fn own_changes(&self, inv: Inv, desired: Option<&DesiredHost>) -> Vec<ChangeFacts> {
        let mut own: Vec<&Change> =
            self.decision.changes.iter().filter(|change| change.subject.host() == Some(inv)).collect();
        own.sort_by_key(|change| desired.map(|desired| order(change, desired)));
        own.into_iter().map(facts).collect()
    }
}
