//! What every code of a plan or an apply means, in words: the one place where they are explained, a table for each kind.

use crate::change::{Change, edited_after};
use crate::plan::{Reason, Rule};

/// What a code means.
#[derive(Debug, Clone, Copy)]
pub struct CodeWords {
    /// A few words that replace the code in a text.
    pub title: &'static str,
    /// A clause that follows the title after a colon.
    pub brief: &'static str,
    /// All that there is to know, with what to do; one paragraph.
    pub long: &'static str,
}

/// Declares what each code of a kind means: title, brief and long text. The compiler misses a code that is not there.
macro_rules! words_of_codes {
    ($kind:ident, $($code:ident => { $title:literal, $brief:literal, $long:literal, })*) => {
        impl ExplainedCode for $kind {
            fn words(self) -> CodeWords {
                match self {
                    $($kind::$code => CodeWords { title: $title, brief: $brief, long: $long },)*
                }
            }
        }
    };
}

mod rules;

mod blocks;

mod notices;

mod outcomes;

/// A code that a plan, or the outcome of an apply, may hold.
pub trait ExplainedCode: Copy {
    /// What it means.
    fn words(self) -> CodeWords;
}

/// That a change goes in two steps, and what is there in between, where it does.
pub fn via_in_words(change: &Change) -> Option<&'static str> {
    let via = change.via.as_ref()?;
    let stays = change.kind.before() == Some(via);
    Some(if stays { "goes after `overlap`" } else { "old and new together for `overlap`, then the new alone" })
}

/// That a change puts back what was edited after an apply, where a reason says so: `was edited after apply 12 (2026-11-19
/// 14:02)`.
pub fn edited_in_words(reason: &Reason) -> Option<String> {
    if reason.rule == Rule::EditedSince { edited_after_in_words(&reason.evidence) } else { None }
}

/// The same of the evidence of such a reason.
pub fn edited_after_in_words(evidence: &[String]) -> Option<String> {
    let (apply, at) = edited_after(evidence)?;
    // Down to the minute: `2026-11-19T14:02:05Z`.
    let minute: String = at.to_string().chars().take(16).collect();
    Some(format!("was edited after apply {apply} ({})", minute.replace('T', " ")))
}

/// The rule with this title, in any case of letters: `wrong PTR`.
pub fn rule_of_title(title: &str) -> Option<Rule> {
    Rule::ALL.iter().copied().find(|rule| rule.words().title.eq_ignore_ascii_case(title.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::OutcomeCode;
    use crate::plan::{BlockCode, NoticeCode, SkipCode, WaitCode};

    /// All codes of one kind with their texts.
    fn all<T: ExplainedCode + ToString>(codes: &[T]) -> Vec<(String, CodeWords)> {
        codes.iter().map(|code| (code.to_string(), code.words())).collect()
    }

    #[test]
    fn every_code_has_words_that_fit_eighty_columns() {
        let kinds = [
            all(Rule::ALL),
            all(BlockCode::ALL),
            all(SkipCode::ALL),
            all(NoticeCode::ALL),
            all(OutcomeCode::ALL),
            all(WaitCode::ALL),
        ];
        for (code, CodeWords { title, brief, long }) in kinds.into_iter().flatten() {
            assert!(title.len() < 24 && brief.len() < 72, "{code}");
            assert!(long.ends_with('.') && !long.contains("  "), "{code}");
        }
    }

    #[test]
    fn a_rule_is_found_by_what_texts_call_it() {
        assert_eq!(rule_of_title("wrong ptr"), Some(Rule::WrongPtr));
        assert_eq!(rule_of_title("no such rule"), None);
    }
}
