//! What a name server serves, compared with the target that it follows. Pure.

use super::{Finding, FindingLevel};
use crate::consensus::steps::is_at_or_past;
use crate::dns::{Serial, ZoneName};
use crate::target::SerialAnswer;

/// What a name server answered for a zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowerExamined {
    /// The name server.
    pub place: String,
    /// The zone.
    pub zone: ZoneName,
    /// The serial of the zone at the target that it follows, as it was before the name server was asked; none where that
    /// is not known.
    pub target: Option<Serial>,
    /// What the name server answered.
    pub answer: SerialAnswer,
}

impl FollowerExamined {
    /// What that means.
    pub fn finding(&self) -> Finding {
        let (level, code, message, hint) = match (self.answer, self.target) {
            (SerialAnswer::Silent, _) => (
                FindingLevel::Problem,
                "no-answer",
                "the name server does not answer the question for the SOA".to_owned(),
                Some("check that it runs, that UDP and TCP reach it, and `tsig_key` of `[[pool.NAME.nameserver]]`"),
            ),
            (SerialAnswer::NoZone, _) => (
                FindingLevel::Problem,
                "not-authoritative",
                "the name server does not serve the zone".to_owned(),
                Some("configure the zone there as a secondary; or remove the name server from the pool"),
            ),
            (SerialAnswer::Serves(serial), None) => {
                (FindingLevel::Note, "not-compared", format!("the name server serves serial {serial}"), None)
            }
            (SerialAnswer::Serves(serial), Some(target)) if is_at_or_past(serial, target) => {
                (FindingLevel::Ok, "follows", format!("the name server serves serial {serial}"), None)
            }
            (SerialAnswer::Serves(serial), Some(target)) => (
                FindingLevel::Warning,
                "behind",
                format!("the name server serves serial {serial}, and its target has {target}"),
                Some("look again after the refresh time of the zone; if it stays so, check the transfers to it"),
            ),
        };
        Finding {
            level,
            code: code.into(),
            place: Some(self.place.clone()),
            zone: Some(self.zone.clone()),
            message,
            hint: hint.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    #[test]
    fn a_name_server_is_judged_by_the_serial_of_its_target() {
        let finding = |answer, target: Option<u32>| {
            let zone = ZoneName::new(Name::parse("example.net").unwrap());
            let target = target.map(Serial);
            let found = FollowerExamined { place: "192.0.2.53:53".into(), zone, target, answer }.finding();
            (found.level, found.code.to_string())
        };
        let serves = |serial| SerialAnswer::Serves(Serial(serial));
        assert_eq!(finding(serves(7), Some(7)), (FindingLevel::Ok, "follows".to_owned()));
        // It may have transferred the zone again since the target was asked.
        assert_eq!(finding(serves(8), Some(7)), (FindingLevel::Ok, "follows".to_owned()));
        assert_eq!(finding(serves(0), Some(u32::MAX)), (FindingLevel::Ok, "follows".to_owned()), "serials wrap");
        assert_eq!(finding(serves(6), Some(7)), (FindingLevel::Warning, "behind".to_owned()));
        assert_eq!(finding(serves(6), None), (FindingLevel::Note, "not-compared".to_owned()));
        assert_eq!(finding(SerialAnswer::NoZone, Some(7)), (FindingLevel::Problem, "not-authoritative".to_owned()));
        assert_eq!(finding(SerialAnswer::Silent, None), (FindingLevel::Problem, "no-answer".to_owned()));
    }
}
