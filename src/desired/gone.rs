//! What is claimed for a name that a host gave up: no addresses at it, and nothing that points to it (rule 9).

use crate::claim::{Claim, ElsewhereClaim, ElsewhereReach, IfForeign, RrsetClaim, Rule, Want, WantedValue};
use crate::diag::Origin;
use crate::dns::{Name, Rdata, Rtype};

/// The claims on a name that was released; `origin` is its row of names.lock.
pub fn claims(name: &Name, origin: Origin) -> [Claim; 2] {
    let addresses = RrsetClaim {
        owner: name.clone(),
        rtype: Rtype::AAAA,
        want: Want::Absent(vec![origin]),
        ttl: None,
        removes: Rule::Released,
        if_foreign: IfForeign::Leave,
    };
    let pointers = ElsewhereClaim {
        rtype: Rtype::PTR,
        value: WantedValue { rdata: Rdata::from_name(name.as_name()), evidence: vec![origin] },
        removes: Rule::Released,
        here: Vec::new(),
        own: Vec::new(),
        reach: ElsewhereReach::Everywhere,
    };
    [Claim::Rrset(addresses), Claim::NowhereElse(pointers)]
}
