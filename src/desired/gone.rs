//! What is claimed for a name that a host gave up: no addresses at it, and nothing that points to it (rule 9).

use crate::claim::host_rtypes::{self, HostRtype};
use crate::claim::{Claim, ElsewhereClaim, ElsewhereReach, IfForeign, RrsetClaim, Rule, Want, WantedValue};
use crate::diag::Origin;
use crate::dns::{Name, Rdata, Rtype};

/// The claims on a name that was released; `origin` is its row of names.lock. Where the inventory lists addresses,
/// IPv4 too, the own A records go with the rest.
pub fn claims(name: &Name, origin: Origin, is_listed: bool) -> impl Iterator<Item = Claim> {
    let at_name = move |own: &HostRtype| RrsetClaim {
        owner: name.clone(),
        rtype: own.rtype,
        want: Want::Absent(vec![origin]),
        ttl: None,
        removes: Rule::Released,
        if_foreign: if own.needs_list { IfForeign::Keep } else { IfForeign::Leave },
    };
    let claimed = host_rtypes::at_names().filter(move |own| own.is_claimed(is_listed));
    let pointers = ElsewhereClaim {
        rtype: Rtype::PTR,
        value: WantedValue { rdata: Rdata::from_name(name.as_name()), evidence: vec![origin] },
        removes: Rule::Released,
        here: Vec::new(),
        own: Vec::new(),
        reach: ElsewhereReach::Everywhere,
    };
    claimed.map(at_name).map(Claim::Rrset).chain([Claim::NowhereElse(pointers)])
}
