//! The outcome for each host whose name was asked about.

use std::fmt;

use super::lock::LockEdits;
use crate::dns::Name;
use crate::inventory::value::Inv;

/// All outcomes of giving, freeing or recording names.
#[derive(Debug, Default)]
pub struct NamesOutcome {
    /// What is done to names.lock.
    pub edits: LockEdits,
    /// The hosts whose name, or its project, changes, in order of their numbers.
    pub namings: Vec<NameChange>,
    /// The hosts for which nothing could be done, in order of their numbers.
    pub refused: Vec<NameRefusal>,
    /// The hosts that are as was asked already, in order of their numbers.
    pub settled: Vec<SettledHost>,
}

/// A host's name, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameChange {
    /// The host.
    pub inv: Inv,
    /// The id of the project in which it has the name then.
    pub project: String,
    /// The name that it had; `None` where it had none.
    pub before: Option<Name>,
    /// The name that it has then; `None` where it has none.
    pub after: Option<Name>,
    /// What follows from it that people should know.
    pub note: Option<String>,
}

/// A host that is as was asked already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettledHost {
    /// The host.
    pub inv: Inv,
    /// The state in words: `has the name …`.
    pub message: String,
}

/// A host for which nothing could be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameRefusal {
    /// The host.
    pub inv: Inv,
    /// The id of its project; empty where it is in none.
    pub project: String,
    /// The kind.
    pub code: NameCode,
    /// Why, in words.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Declares the kinds of refusals: each with its code in text.
macro_rules! name_codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal,)*) => {
        /// Why nothing could be done about a host's name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum NameCode {
            $($(#[$doc])* $name,)*
        }

        impl NameCode {
            /// All codes, in their order.
            pub const ALL: &[NameCode] = &[$(NameCode::$name,)*];

            /// The code as it is written.
            pub fn code(self) -> &'static str {
                match self {
                    $(NameCode::$name => $code,)*
                }
            }
        }
    };
}

name_codes! {
    /// A line about the host, or its project's file, is bad.
    BadInput = "bad-input",
    /// hosts.csv lacks the host.
    NoHost = "no-host",
    /// zonewright.toml has no `[project.X]`, so that its hosts have no domain.
    NoDomain = "no-domain",
    /// The template gives no names at the host's location, or none that fits the domain.
    BadTemplate = "bad-template",
    /// All names that the template's width allows are taken.
    TemplateExhausted = "template-exhausted",
    /// The name is in no domain of the project.
    ForeignDomain = "foreign-domain",
    /// The host has no name.
    NoName = "no-name",
    /// The name is not one that the template gives.
    OutsideTemplate = "outside-template",
    /// Another host has the short name, or had it until not long ago.
    NameTaken = "name-taken",
}

impl fmt::Display for NameCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}
