//! What gets no change, and what else there is to know, as one line a code: the code, how many, and the first of them.

use std::collections::BTreeMap;

use unicode_width::UnicodeWidthStr as _;

use super::super::alike::is_of_target;
use super::super::host_label::short_subject;
use super::TextOptions;
use crate::claim::Subject;
use crate::diag::sanitize;
use crate::plan::{BlockCode, NoticeCode, Plan, SkipCode};

/// The line of one code, before it is laid out.
struct CodeLine {
    /// The code.
    code: &'static str,
    /// What it is about: hosts, names, sources, targets.
    labels: Vec<String>,
    /// How many have the code.
    count: usize,
}

/// The blocked hosts, one line a code, in the order in which the codes are tried.
pub fn blocked(plan: &Plan, options: &TextOptions) -> Vec<String> {
    by_code(plan, plan.blocked.iter().map(|blocked| (blocked.code, &blocked.subject)), BlockCode::as_str, options)
}

/// The skipped hosts, one line a code.
pub fn skipped(plan: &Plan, options: &TextOptions) -> Vec<String> {
    by_code(plan, plan.skipped.iter().map(|skipped| (skipped.code, &skipped.subject)), SkipCode::as_str, options)
}

/// Hosts with a code each, one line a code.
fn by_code<'a, C: Ord>(
    plan: &Plan,
    subjects: impl Iterator<Item = (C, &'a Subject)>,
    word: fn(C) -> &'static str,
    options: &TextOptions,
) -> Vec<String> {
    let mut codes: BTreeMap<C, Vec<String>> = BTreeMap::new();
    for (code, subject) in subjects {
        codes.entry(code).or_default().push(sanitize(&short_subject(plan, subject)));
    }
    let line = |(code, labels): (C, Vec<String>)| CodeLine { code: word(code), count: labels.len(), labels };
    lay_out(codes.into_iter().map(line).collect(), options)
}

/// The notices that need no text of their own, one line a code.
pub fn notices(plan: &Plan, options: &TextOptions) -> Vec<String> {
    let of_code = plan.notices.chunk_by(|a, b| a.code == b.code).filter(|notices| is_folded(notices[0].code));
    let fold = |notices: &[crate::plan::Notice]| {
        let mut labels: Vec<String> = notices.iter().map(|notice| sanitize(&notice.name)).collect();
        if is_of_target(notices[0].code) {
            // There may be one for each host.
            labels.sort();
            labels.dedup();
        }
        CodeLine { code: notices[0].code.as_str(), labels, count: notices.len() }
    };
    lay_out(of_code.map(fold).collect(), options)
}

/// Whether notices of a code are folded into a line. Those that say that the plan or an undo is not
/// complete are shown in full, and so are what happens to whole zones and until when names stay.
pub fn is_folded(code: NoticeCode) -> bool {
    use NoticeCode::{
        ClockBack, CmsAnswers, CmsRejects, CmsSilent, EditedSince, FormerNames, RemovalsRest, ZoneChange, ZoneKept,
    };
    !code.tells_of_less()
        && !matches!(
            code,
            ClockBack
                | CmsAnswers
                | CmsRejects
                | CmsSilent
                | EditedSince
                | FormerNames
                | RemovalsRest
                | ZoneChange
                | ZoneKept
        )
}

/// Lays lines out in columns: codes to the left, numbers to the right, and as many labels as the width has room for.
fn lay_out(folds: Vec<CodeLine>, options: &TextOptions) -> Vec<String> {
    let code_width = folds.iter().map(|fold| fold.code.len()).max().unwrap_or(0);
    let count_width = folds.iter().map(|fold| fold.count.to_string().len()).max().unwrap_or(0);
    let line = |CodeLine { code, labels, count }: CodeLine| {
        let start = format!("{code:code_width$}  {count:>count_width$}");
        // Two blanks before the line, two before the labels.
        let room = options.width.saturating_sub(2 + start.len() + 2);
        format!("{start}  {}", first_of(&labels, room))
    };
    folds.into_iter().map(line).collect()
}

/// As many labels as there is room for, and how many more there are; one at least.
fn first_of(labels: &[String], room: usize) -> String {
    let more = |shown: usize| match labels.len() - shown {
        0 => String::new(),
        more => format!(" +{more}"),
    };
    let text = |shown: usize| format!("{}{}", labels[..shown].join(", "), more(shown));
    let mut shown = 1.min(labels.len());
    while shown < labels.len() && text(shown + 1).width() <= room {
        shown += 1;
    }
    text(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::fixture::fleet;

    #[test]
    fn a_code_is_one_line_within_the_width() {
        let options = TextOptions { width: 60, ..TextOptions::default() };
        insta::assert_snapshot!(blocked(&fleet(), &options).join("\n"), @"
        bad-input       38  100100, 100101, 100102, 100103 +34
        duplicate-name   2  100300, 100301
        no-mac           9  200100, 200101, 200102, 200103 +5
        not-owner        1  300007
        ");
        insta::assert_snapshot!(skipped(&fleet(), &options).join("\n"), @"
        automation-off  1203  300100, 300101, 300102, 300103 +1199
        restricted         2  100400, 200400
        ");
        insta::assert_snapshot!(notices(&fleet(), &options).join("\n"), @"foreign-name  1  www.example.net.");
        let narrow = TextOptions { width: 10, ..options };
        assert!(blocked(&fleet(), &narrow).iter().all(|line| line.contains("100") || line.contains("00")));
    }
}
