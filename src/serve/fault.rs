//! Faults on request: what goes wrong with which update, to try how its sender handles it. Pure.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::provider::memory::message::{Instruction, Message};
use crate::provider::memory::primary;

/// What happens to an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
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
pub const FATES: [(&str, Fate, &str); 7] = [
    ("servfail", Fate::ServFail, "answer SERVFAIL, and do nothing"),
    ("refused", Fate::Refused, "answer REFUSED, and do nothing"),
    ("lost", Fate::Lost, "do nothing, and close the connection without an answer"),
    ("lost-answer", Fate::LostAnswer, "do it, and close the connection without an answer"),
    ("slow", Fate::Slow, "close the connection without an answer, and do it right before the next update"),
    ("late", Fate::Late, "close the connection without an answer, and do it right after the next update"),
    ("ignored", Fate::Ignored, "do nothing, and answer as if it were done"),
];

/// A fault on request: what happens to one update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which update, counted from 1 over all senders and zones.
    pub update: u64,
    /// What happens to it.
    pub fate: Fate,
}

impl FromStr for Fault {
    type Err = String;

    /// Reads `NAME=N`.
    fn from_str(text: &str) -> Result<Fault, String> {
        let (name, number) = text.split_once('=').ok_or("a fault is written NAME=N, such as `servfail=3`")?;
        let fate = FATES.iter().find(|(known, ..)| *known == name).map(|(_, fate, _)| *fate).ok_or_else(|| {
            let names: Vec<String> = FATES.iter().map(|(name, ..)| format!("`{name}`")).collect();
            format!("`{name}` is not a fault; there are {}", names.join(", "))
        })?;
        match number.parse() {
            Ok(update) if update > 0 => Ok(Fault { update, fate }),
            _ => Err(format!("`{number}` is not the number of an update: the first is 1")),
        }
    }
}

/// Says what happens to each update that arrives; of two faults for one update the later one counts.
pub fn script(faults: &[Fault]) -> impl FnMut(&Message) -> primary::Fault + Send + 'static {
    let faults: BTreeMap<u64, Fate> = faults.iter().map(|fault| (fault.update, fault.fate)).collect();
    let mut came = 0;
    move |message: &Message| {
        came += 1;
        match faults.get(&came) {
            None => primary::Fault::None,
            Some(Fate::ServFail) => primary::Fault::ServFail,
            Some(Fate::Refused) => primary::Fault::Refused,
            Some(Fate::Lost) => primary::Fault::Lost,
            Some(Fate::LostAnswer) => primary::Fault::LostAnswer,
            Some(Fate::Slow) => primary::Fault::Slow,
            Some(Fate::Late) => primary::Fault::Late,
            Some(Fate::Ignored) => {
                let names = message.instructions.iter().map(|instruction| match instruction {
                    Instruction::Add(name, ..)
                    | Instruction::DeleteRrset(name, _)
                    | Instruction::DeleteName(name)
                    | Instruction::DeleteRecord(name, ..) => name.clone(),
                });
                primary::Fault::Swallowed(names.collect())
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
        assert_eq!("lost-answer=2".parse(), Ok(Fault { update: 2, fate: Fate::LostAnswer }));
        for wrong in ["lost", "lost=", "lost=0", "lost=-1", "gone=1"] {
            assert!(wrong.parse::<Fault>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn updates_are_counted_from_one() {
        let mut script = script(&[Fault { update: 2, fate: Fate::Lost }]);
        let zone = ZoneName::new(Name::root());
        let message = Message { zone, prerequisites: Vec::new(), instructions: Vec::new() };
        let fates = [script(&message), script(&message), script(&message)];
        assert_eq!(fates, [primary::Fault::None, primary::Fault::Lost, primary::Fault::None]);
    }
}
