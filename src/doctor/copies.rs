//! The copies of the zones of a pool with several targets, compared with their reference copies. Pure.

use super::{Finding, FindingLevel, TargetDiagnosis};
use crate::dns::{RrKey, ZoneName};

/// How many RRsets are named that differ.
const EXAMPLES: usize = 5;

/// A copy of a zone, compared with the reference copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyExamined {
    /// The zone.
    pub zone: ZoneName,
    /// The target that has the reference copy.
    pub reference: String,
    /// The RRsets that differ, sorted; without what a copy has for itself, such as SOA.
    pub differing: Vec<RrKey>,
}

impl TargetDiagnosis {
    /// The same, with the name of the target and what its copies differ in.
    pub fn with_copies(mut self, target: String, copies: &[CopyExamined]) -> TargetDiagnosis {
        self.target = Some(target);
        // Nothing of this is about a single server of the target.
        let place = self.findings.iter().position(|finding| finding.place.is_some()).unwrap_or(self.findings.len());
        self.findings.splice(place..place, findings(copies));
        self
    }
}

/// What the copies at one target are: those that are alike in one finding for each reference, the others one by one.
fn findings(copies: &[CopyExamined]) -> Vec<Finding> {
    let (alike, others): (Vec<&CopyExamined>, Vec<_>) = copies.iter().partition(|copy| copy.differing.is_empty());
    let mut references: Vec<&str> = alike.iter().map(|copy| copy.reference.as_str()).collect();
    references.sort_unstable();
    let of_reference = references.chunk_by(|a, b| a == b).map(|same| {
        let zones = if same.len() == 1 { "1 zone holds".to_owned() } else { format!("{} zones hold", same.len()) };
        Finding {
            level: FindingLevel::Ok,
            code: "copies-alike".into(),
            place: None,
            zone: None,
            message: format!("{zones} the same as at `{}`", same[0]),
            hint: None,
        }
    });
    of_reference.chain(others.into_iter().map(differ)).collect()
}

/// A copy that differs.
fn differ(copy: &CopyExamined) -> Finding {
    let CopyExamined { zone, reference, differing } = copy;
    let named: Vec<String> =
        differing.iter().take(EXAMPLES).map(|RrKey { owner, rtype }| format!("{rtype} of `{owner}`")).collect();
    let (count, more) = (differing.len(), differing.len().saturating_sub(EXAMPLES));
    let rrsets = if count == 1 { "1 RRset differs".to_owned() } else { format!("{count} RRsets differ") };
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let hint = "a plan brings in line what its rules are about; correct the rest by hand, at the target that is wrong";
    Finding {
        level: FindingLevel::Warning,
        code: "copies-differ".into(),
        place: None,
        zone: Some(zone.clone()),
        message: format!("{rrsets} from the copy at `{reference}`: {}{more}", named.join(", ")),
        hint: Some(hint.to_owned()),
    }
}
