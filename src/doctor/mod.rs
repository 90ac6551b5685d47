//! What works and what does not work with the targets.
//!
//! Comes in: what providers found when they looked at their targets. Goes out: findings, each with what to do. Pure.

pub mod approvals;

pub mod copies;

pub mod follower;

mod judge;

use serde::Serialize;

use crate::diag::{Code, Problem};
use crate::dns::ZoneName;
use crate::document::words;
use crate::inventory::cms::CmsVersion;
use crate::inventory::value::Time;
use crate::provider::examine::TargetExamined;
use crate::target::TargetCapabilities;

use self::follower::FollowerExamined;

/// All targets, looked at.
#[derive(Debug, Clone)]
pub struct Diagnosis {
    /// The program that looked, such as `zonewright 0.1.0`.
    pub tool: String,
    /// When it looked.
    pub created: Time,
    /// The targets, in the order of the configuration.
    pub targets: Vec<TargetDiagnosis>,
    /// The cluster-management services, in the order of the configuration; none where only some zones were asked for.
    pub services: Vec<ServiceHealth>,
}

/// A cluster-management service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceHealth {
    /// Its name.
    pub service: String,
    /// Its URL.
    pub url: String,
    /// The version that it is said to speak.
    pub version: CmsVersion,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// One target.
#[derive(Debug, Clone)]
pub struct TargetDiagnosis {
    /// The pool that it belongs to.
    pub pool: String,
    /// Its name, where the pool has several.
    pub target: Option<String>,
    /// Its type.
    pub provider: String,
    /// The zones that it was looked at for, in the order of the configuration.
    pub zones: Vec<ZoneName>,
    /// What it can do.
    pub abilities: TargetAbilities,
    /// What was found.
    pub examined: TargetExamined,
    /// What that means, first what concerns the target as a whole, then by place, then by zone.
    pub findings: Vec<Finding>,
}

/// What a target can do, as far as no question to it is needed.
#[derive(Debug, Clone)]
pub struct TargetAbilities {
    /// What it can do by its type and its settings.
    pub capabilities: TargetCapabilities,
    /// Those of its zones that a marker fences.
    pub fenced: Vec<ZoneName>,
}

words! {
    /// How bad a finding is.
    FindingLevel {
        /// Something works.
        Ok = "ok",
        /// Something to know.
        Note = "note",
        /// Something works, but an operator should look at it.
        Warning = "warning",
        /// Something does not work.
        Problem = "problem",
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: FindingLevel,
    /// A stable kebab-case code.
    pub code: Code,
    /// The server or folder that it is about; `None` for the target as a whole.
    pub place: Option<String>,
    /// The zone that it is about.
    pub zone: Option<ZoneName>,
    /// What was found: lower case, no full stop.
    pub message: String,
    /// What to do, where there is something.
    pub hint: Option<String>,
}

impl TargetDiagnosis {
    /// Judges what was found at a target.
    pub fn new(
        pool: String,
        provider: String,
        zones: Vec<ZoneName>,
        abilities: TargetAbilities,
        examined: TargetExamined,
    ) -> TargetDiagnosis {
        let findings = judge::judge(&zones, &examined);
        TargetDiagnosis { pool, target: None, provider, zones, abilities, examined, findings }
    }
}

/// A zone that a target lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LackedZone {
    /// The zone.
    pub zone: ZoneName,
    /// What that means.
    pub meaning: LackedMeaning,
}

/// What it means that a target lacks a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LackedMeaning {
    /// It is to be gone everywhere.
    Absent,
    /// An apply makes it.
    ToBeMade,
    /// No apply makes it, and why.
    NotMade(Problem),
}

impl LackedZone {
    /// The finding: something to do where no apply makes the zone.
    fn finding(self) -> Finding {
        let note = |message: &str| (FindingLevel::Note, Code::new("zone-not-here"), message.to_owned(), None);
        let (level, code, message, hint) = match self.meaning {
            LackedMeaning::Absent => note("the zone is not here, as `state = \"absent\"` says"),
            LackedMeaning::ToBeMade => note("the zone does not exist here yet: an apply makes it (`create = true`)"),
            LackedMeaning::NotMade(Problem { code, message, hint, .. }) => (FindingLevel::Problem, code, message, hint),
        };
        Finding { level, code, place: None, zone: Some(self.zone), message, hint }
    }
}

impl TargetDiagnosis {
    /// The same, with the zones that it lacks.
    pub fn with_lacking(mut self, lacking: Vec<LackedZone>) -> TargetDiagnosis {
        // They concern the target as a whole: no place has them.
        self.findings.splice(..0, lacking.into_iter().map(LackedZone::finding));
        self
    }

    /// The same, with what keeps the encrypted TXT of the registry from being read, where there is something.
    pub fn with_unreadable_registry(mut self, problem: Option<&Problem>) -> TargetDiagnosis {
        let finding = problem.map(|problem| Finding {
            level: FindingLevel::Problem,
            code: problem.code,
            place: None,
            zone: None,
            message: format!("`txt_encrypt_aes_key`: {}", problem.message),
            hint: problem.hint.clone(),
        });
        self.findings.splice(..0, finding);
        self
    }

    /// The same, with what the name servers that follow the target serve.
    pub fn with_followers(mut self, followers: &[FollowerExamined]) -> TargetDiagnosis {
        self.findings.extend(followers.iter().map(FollowerExamined::finding));
        self
    }

    /// The serial of a zone at the first place, where it is known.
    pub fn serial(&self, zone: &ZoneName) -> Option<u32> {
        self.examined.places.first()?.zones.iter().find(|found| found.zone == *zone)?.serial
    }
}

impl Diagnosis {
    /// How many findings there are of a level.
    pub fn count(&self, level: FindingLevel) -> usize {
        let of_targets = self.targets.iter().flat_map(|target| &target.findings);
        let all = of_targets.chain(self.services.iter().flat_map(|service| &service.findings));
        all.filter(|finding| finding.level == level).count()
    }
}
