//! Faults on request: what goes wrong with which update, to try how its sender handles it. Pure.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::provider::memory::message::{UpdateInstruction, UpdateMessage};
use crate::provider::memory::primary;

/// What happens to an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateFate {
    /// It is answered with SERVFAIL, and not done.
    ServFail,
    /// It is answered with REFUSED, and not done.
    Refused,
    /// It is not done, and not answered: the connection ends.
    Lost,
    /// It is done, and not answered: the connection ends.
    LostAnswer,
    /// It is not answered, the connection ends, and it is done right before the next update.
    Slow,
    /// It is not answered, the connection ends, and it is done right after the next update.
    Late,
    /// It is not done, and answered as if it were.
    Ignored,
}

/// All fates: how they are written, and what each means, for `--help`.
pub const FATES: [(&str, UpdateFate, &str); 7] = [
    ("servfail", UpdateFate::ServFail, "answer SERVFAIL, and do nothing"),
    ("refused", UpdateFate::Refused, "answer REFUSED, and do nothing"),
    ("lost", UpdateFate::Lost, "do nothing, and close the connection without an answer"),
    ("lost-answer", UpdateFate::LostAnswer, "do it, and close the connection without an answer"),
    ("slow", UpdateFate::Slow, "close the connection without an answer, and do it right before the next update"),
    ("late", UpdateFate::Late, "close the connection without an answer, and do it right after the next update"),
    ("ignored", UpdateFate::Ignored, "do nothing, and answer as if it were done"),
];

/// A fault on request: what happens to one update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrialFault {
    /// Which update, counted from 1 over all senders and zones.
    pub update: u64,
    /// What happens to it.
    pub fate: UpdateFate,
}

impl FromStr for TrialFault {
    type Err = String;

    /// Reads `NAME=N`.
    fn from_str(text: &str) -> Result<TrialFault, String> {
        let (name, number) = text.split_once('=').ok_or("a fault is written NAME=N, such as `servfail=3`")?;
        let fate = FATES.iter().find(|(known, ..)| *known == name).map(|(_, fate, _)| *fate).ok_or_else(|| {
            let names: Vec<String> = FATES.iter().map(|(name, ..)| format!("`{name}`")).collect();
            format!("`{name}` is not a fault; there are {}", names.join(", "))
        })?;
        match number.parse() {
            Ok(update) if update > 0 => Ok(TrialFault { update, fate }),
            _ => Err(format!("`{number}` is not the number of an update: the first is 1")),
        }
    }
}

/// Says what happens to each update that arrives; of two faults for one update the later one counts.
pub fn script(faults: &[TrialFault]) -> impl FnMut(&UpdateMessage) -> primary::UpdateFault + Send + 'static {
    let faults: BTreeMap<u64, UpdateFate> = faults.iter().map(|fault| (fault.update, fault.fate)).collect();
    let mut came = 0;
    move |message: &UpdateMessage| {
        came += 1;
        match faults.get(&came) {
            None => primary::UpdateFault::None,
            Some(UpdateFate::ServFail) => primary::UpdateFault::ServFail,
            Some(UpdateFate::Refused) => primary::UpdateFault::Refused,
            Some(UpdateFate::Lost) => primary::UpdateFault::Lost,
            Some(UpdateFate::LostAnswer) => primary::UpdateFault::LostAnswer,
            Some(UpdateFate::Slow) => primary::UpdateFault::Slow,
            Some(UpdateFate::Late) => primary::UpdateFault::Late,
            Some(UpdateFate::Ignored) => {
                let names = message.instructions.iter().map(|instruction| match instruction {
                    UpdateInstruction::Add(name, ..)
                    | UpdateInstruction::DeleteRrset(name, _)
                    | UpdateInstruction::DeleteName(name)
                    | UpdateInstruction::DeleteRecord(name, ..) => name.clone(),
                });
                primary::UpdateFault::Swallowed(names.collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, ZoneName};

    #[test]
    fn a_fault_is_a_name_and_a_number() {
        assert_eq!("lost-answer=2".parse(), Ok(TrialFault { update: 2, fate: UpdateFate::LostAnswer }));
        for wrong in ["lost", "lost=", "lost=0", "lost=-1", "gone=1"] {
            assert!(wrong.parse::<TrialFault>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn updates_are_counted_from_one() {
        let mut script = script(&[TrialFault { update: 2, fate: UpdateFate::Lost }]);
        let zone = ZoneName::new(Name::root());
        let message = UpdateMessage { zone, prerequisites: Vec::new(), instructions: Vec::new() };
        let fates = [script(&message), script(&message), script(&message)];
        assert_eq!(fates, [primary::UpdateFault::None, primary::UpdateFault::Lost, primary::UpdateFault::None]);
    }
}
