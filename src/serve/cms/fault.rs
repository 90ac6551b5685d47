//! Faults on request: what goes wrong with which request, to try how its sender handles it. Pure.

use std::str::FromStr;

/// What goes wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalFate {
    /// It is done, and the answer comes too late.
    Late,
    /// It is answered with status 500, and not done.
    Error,
    /// It is done, and the answer is of another form.
    Schema,
    /// It is answered as if it were done, and is not: a task that was made is not known, one that was deleted still is.
    Forgotten,
    /// What was allowed is rejected from now on.
    Reversed,
}

/// All fates: how they are written, and what each means, for `--help`.
pub const FATES: [(&str, ApprovalFate, &str); 5] = [
    ("late", ApprovalFate::Late, "do it, and answer after 15 seconds"),
    ("error", ApprovalFate::Error, "answer with status 500, and do nothing"),
    ("schema", ApprovalFate::Schema, "do it, and answer with JSON of another form"),
    (
        "forgotten",
        ApprovalFate::Forgotten,
        "answer as if it were done: a new task is not known, a deleted one still is",
    ),
    ("reversed", ApprovalFate::Reversed, "reject from now on what was allowed"),
];

/// A fault on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalFault {
    /// Which request, counted from 1; none for each.
    pub request: Option<u64>,
    /// What goes wrong.
    pub fate: ApprovalFate,
}

impl ApprovalFault {
    /// Whether it is about a request of this number.
    pub fn is_of(&self, number: u64) -> bool {
        self.request.is_none_or(|request| request == number)
    }
}

impl FromStr for ApprovalFault {
    type Err = String;

    /// Reads `NAME=N` or `NAME=all`.
    fn from_str(text: &str) -> Result<ApprovalFault, String> {
        let (name, number) =
            text.split_once('=').ok_or("a fault is written NAME=N or NAME=all, such as `error=3` or `late=all`")?;
        let fate = FATES.iter().find(|(known, ..)| *known == name).map(|(_, fate, _)| *fate).ok_or_else(|| {
            let names: Vec<String> = FATES.iter().map(|(name, ..)| format!("`{name}`")).collect();
            format!("`{name}` is not a fault; there are {}", names.join(", "))
        })?;
        match (number, number.parse::<u64>()) {
            ("all", _) => Ok(ApprovalFault { request: None, fate }),
            (_, Ok(number)) if number > 0 => Ok(ApprovalFault { request: Some(number), fate }),
            _ => Err(format!("`{number}` is not the number of a request: the first is 1")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_a_name_and_a_number_or_all() {
        let late = ApprovalFault { request: None, fate: ApprovalFate::Late };
        assert_eq!("late=all".parse(), Ok(late));
        assert!(late.is_of(1) && late.is_of(7));
        let third: ApprovalFault = "error=3".parse().unwrap();
        assert!(third.is_of(3) && !third.is_of(4));
        for wrong in ["late", "late=", "late=0", "late=-1", "gone=1"] {
            assert!(wrong.parse::<ApprovalFault>().is_err(), "{wrong}");
        }
    }
}
