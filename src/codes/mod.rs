//! The pages of the codes: what each code that zonewright prints means, an example, and what to do.
//!
//! Comes in: the text of docs/codes/*.md, which is part of the binary, and a word that a user pasted. Goes out:
//! families of pages, and the page of a code. May not do input or output.

mod find;

mod parse;

#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use find::{find, normalize};
pub use parse::{PageFault, parse};

/// The files of docs/codes, in the order in which they are listed.
const TEXTS: [(&str, &str); 14] = [
    ("settings.md", include_str!("../../docs/codes/settings.md")),
    ("update-records.md", include_str!("../../docs/codes/update-records.md")),
    ("exports.md", include_str!("../../docs/codes/exports.md")),
    ("trust.md", include_str!("../../docs/codes/trust.md")),
    ("names.md", include_str!("../../docs/codes/names.md")),
    ("zones.md", include_str!("../../docs/codes/zones.md")),
    ("servers.md", include_str!("../../docs/codes/servers.md")),
    ("changes.md", include_str!("../../docs/codes/changes.md")),
    ("hosts.md", include_str!("../../docs/codes/hosts.md")),
    ("apply.md", include_str!("../../docs/codes/apply.md")),
    ("waves.md", include_str!("../../docs/codes/waves.md")),
    ("state.md", include_str!("../../docs/codes/state.md")),
    ("files.md", include_str!("../../docs/codes/files.md")),
    ("doctor.md", include_str!("../../docs/codes/doctor.md")),
];

/// The octets above which a sentence is long for a list.
const LONG: usize = 72;

/// A text before a colon that is at most this long, in octets, is not a sentence: it says when the rest applies.
const SHORT: usize = 30;

/// All families, with all pages.
static FAMILIES: LazyLock<Vec<CodeFamily>> = LazyLock::new(|| {
    let read = |(file, text): (&'static str, &'static str)| {
        parse(file, text).unwrap_or_else(|fault| panic!("a test reads all pages, and {fault}"))
    };
    TEXTS.into_iter().map(read).collect()
});

/// All families, in the order in which they are listed.
pub fn families() -> &'static [CodeFamily] {
    &FAMILIES
}

/// All pages, in the order of their families.
pub fn pages() -> impl Iterator<Item = &'static CodePage> {
    families().iter().flat_map(|family| &family.pages)
}

/// The codes of one file of docs/codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeFamily {
    /// The name of the file.
    pub file: &'static str,
    /// What it is about, in a word or two.
    pub title: &'static str,
    /// What holds for all of its codes, in one paragraph.
    pub about: String,
    /// Its codes; never empty.
    pub pages: Vec<CodePage>,
}

/// What there is to know of one code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePage {
    /// The code.
    pub code: &'static str,
    /// What kinds of messages have it; never empty.
    pub kinds: Vec<CodeKind>,
    /// What it means, in one paragraph.
    pub means: String,
    /// A message as it is printed, line by line; never empty.
    pub example: Vec<&'static str>,
    /// The file that has the words of the example, where no test case prints it.
    pub source: Option<&'static str>,
    /// What to do, and what happens in the meantime, in one paragraph.
    pub advice: String,
    /// What is different where the target is a cloud, in one paragraph; none where nothing is.
    pub in_a_cloud: Option<String>,
    /// Where more is said: in words, and the path from docs/codes; never empty.
    pub see: Vec<(&'static str, &'static str)>,
}

impl CodePage {
    /// What it means in short, for lists: the first sentence, or its part before the colon where it is long.
    pub fn brief(&self) -> &str {
        let is_outside = |at: &usize| self.means[..*at].matches('`').count().is_multiple_of(2);
        let end = self.means.match_indices(". ").map(|(at, _)| at).find(is_outside);
        let sentence = end.map_or(self.means.trim_end_matches('.'), |at| &self.means[..at]);
        let colon = sentence.match_indices(": ").map(|(at, _)| at).find(is_outside);
        let colon = colon.filter(|at| *at > SHORT && sentence.len() > LONG);
        colon.map_or(sentence, |at| &sentence[..at])
    }
}

crate::document::words! {
    /// A kind of message that has a code.
    CodeKind {
        /// An error about a file, server or plan.
        Error = "error",
        /// A warning about one.
        Warning = "warning",
        /// Why an RRset is changed.
        Rule = "rule",
        /// What causes changes.
        Cause = "cause",
        /// What a base has to do with a change.
        Class = "class",
        /// What is behind an RRset that is not as desired.
        Drift = "drift",
        /// Why a host gets no change.
        Block = "block",
        /// Why a host is not looked after.
        Skip = "skip",
        /// What a reader of a plan should know.
        Notice = "notice",
        /// Why a host gets no name, or keeps it.
        Names = "names",
        /// The outcome of a host.
        Outcome = "outcome",
        /// Why a host goes with a later wave.
        Wait = "wait",
        /// Why a plan is not applied.
        Problem = "refusal",
        /// Why a name server or a target does not count as serving what was applied.
        ServerFault = "server fault",
        /// A finding of `doctor`: something works.
        DoctorOk = "doctor ok",
        /// One to know.
        DoctorNote = "doctor note",
        /// One that an operator should look at.
        DoctorWarning = "doctor warning",
        /// One that does not work.
        DoctorProblem = "doctor problem",
    }
}

impl CodeKind {
    /// What it is in words, printed behind the code: `not-a-64: an error`.
    pub fn says(self) -> &'static str {
        match self {
            CodeKind::Error => "an error",
            CodeKind::Warning => "a warning",
            CodeKind::Rule => "a rule by which an RRset is changed",
            CodeKind::Cause => "a cause of changes",
            CodeKind::Class => "a class of changes against a base",
            CodeKind::Drift => "a word of `drift`",
            CodeKind::Block => "a reason for which a host is blocked",
            CodeKind::Skip => "a reason for which a host is skipped",
            CodeKind::Notice => "a notice of a plan",
            CodeKind::Names => "a reason for which a host gets no name",
            CodeKind::Outcome => "an outcome of a host",
            CodeKind::Wait => "a reason for which a host goes with a later wave",
            CodeKind::Problem => "a refusal of a plan",
            CodeKind::ServerFault => "a reason for which a name server does not count as serving what was applied",
            CodeKind::DoctorOk => "a finding of `doctor`: it works",
            CodeKind::DoctorNote => "a note of `doctor`",
            CodeKind::DoctorWarning => "a warning of `doctor`",
            CodeKind::DoctorProblem => "a problem that `doctor` finds",
        }
    }
}
