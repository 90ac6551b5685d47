//! What is claimed for a name that a host gave up: no addresses at it, and nothing that points to it (rule 9).

use crate::claim::{Claim, ElsewhereClaim, ElsewhereReach, IfForeign, RrsetClaim, Rule, Want, WantedValue};
use crate::diag::Origin;
use crate::dns::{Name, Rdata, Rtype};

/// The claims on a name that was released; `origin` is its row of names.lock. Where the inventory lists addresses,
/// IPv4 too, the own A records go with the rest.
pub fn claims(name: &Name, origin: Origin, is_listed: bool) -> impl Iterator<Item = Claim> {
    let addresses = |rtype: Rtype, if_foreign: IfForeign| RrsetClaim {
        owner: name.clone(),
        rtype,
        want: Want::Absent(vec![origin]),
        ttl: None,
        removes: Rule::Released,
        if_foreign,
    };
    let v6 = addresses(Rtype::AAAA, IfForeign::Leave);
    let v4 = is_listed.then(|| addresses(Rtype::A, IfForeign::Keep));
    let pointers = ElsewhereClaim {
        rtype: Rtype::PTR,
        value: WantedValue { rdata: Rdata::from_name(name.as_name()), evidence: vec![origin] },
        removes: Rule::Released,
        here: Vec::new(),
        own: Vec::new(),
        reach: ElsewhereReach::Everywhere,
    };
    std::iter::once(v6).chain(v4).map(Claim::Rrset).chain([Claim::NowhereElse(pointers)])
}
