//! What one rule does to one RRset.

use crate::change::Rule;
use crate::claim::Subject;
use crate::diag::Origin;
use crate::dns::{Name, NameRef, Rdata, RrsetMark, Rtype, Ttl};
use crate::inventory::model::ProjectIndex;
use crate::live::{LiveRrset, ZoneIndex};

/// One record removed or added, or a TTL set, with the reason.
#[derive(Debug, Clone)]
pub struct RuleAct {
    /// The zone.
    pub zone: ZoneIndex,
    /// The owner name.
    pub owner: Name,
    /// The type.
    pub rtype: Rtype,
    /// What is done.
    pub deed: RrsetDeed,
    /// The rule.
    pub rule: Rule,
    /// The subject and project that it is done for.
    pub actor: RuleActor,
    /// The lines that it is based on.
    pub evidence: Vec<Origin>,
}

impl RuleAct {
    /// The server that it adds to an SRV of pods, in wire format.
    pub fn listed_server(&self) -> Option<&[u8]> {
        let RrsetDeed::Add(rdata) = &self.deed else { return None };
        let lists_pods = self.rtype == Rtype::SRV && matches!(self.actor.subject, Subject::Endpoints(_));
        rdata.as_rdata(self.rtype).server().filter(|_| lists_pods).map(NameRef::as_wire)
    }

    /// Removes one record of an RRset that was found.
    pub fn removal(
        found: LiveRrset<'_>,
        rdata: Rdata,
        rule: Rule,
        actor: RuleActor,
        evidence: Option<Origin>,
    ) -> RuleAct {
        RuleAct {
            zone: found.zone,
            owner: found.rrset.owner(),
            rtype: found.rrset.rtype(),
            deed: RrsetDeed::Remove(rdata),
            rule,
            actor,
            evidence: evidence.into_iter().collect(),
        }
    }
}

/// What is done to an RRset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RrsetDeed {
    /// A record is removed.
    Remove(Rdata),
    /// A record is added.
    Add(Rdata),
    /// The TTL is set to this.
    SetTtl(Ttl),
    /// The mark becomes this.
    SetMark(RrsetMark),
}

/// The subject and project that a rule acts for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleActor {
    /// What it acts for.
    pub subject: Subject,
    /// Its project, or that of the orphan.
    pub project: ProjectIndex,
    /// Whether the host has the RRset's name, or has its address among its acceptable ones or its own A ones.
    pub by_right: bool,
}

/// Whether a rule removes records because no host or no pod has the name.
pub fn removes_unheld_name(rule: Rule) -> bool {
    matches!(rule, Rule::Released | Rule::Orphan | Rule::NoPod)
}
