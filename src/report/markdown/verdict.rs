//! What a reader must know first: what the plan comes to, how much it is, and what is wrong with it.

use super::super::outages::said_once;
use super::super::outlook::PlanVerdict;
use super::super::summary::counted;
use super::super::verdict;
use super::causes::in_words;
use super::escape::{code, sentence};
use super::{ReportSubject, notes};
use crate::diag::Code;
use crate::guard::LIMIT_EXCEEDED;
use crate::guard::words;
use crate::plan::{LimitState, Notice, NoticeCode, Plan};

/// How many octets the refusal may take at both ends of a report; a longer one is shortened, because the remarks have
/// it in full.
const IN_HEADING: usize = 100;

/// A plan's verdict, and the reasons for it.
pub struct ReportHead<'a> {
    /// The plan, and what is known of it.
    subject: &'a ReportSubject<'a>,
    /// What it does not cover, what refuses it, and what could not be read; a line each.
    remarks: Vec<String>,
}

impl<'a> ReportHead<'a> {
    /// The verdict on a plan.
    pub fn new(subject: &'a ReportSubject<'a>) -> ReportHead<'a> {
        let refusal = refusal(subject);
        let limits = exceeded(subject.plan).map(|limit| {
            let (numbers, allow) = (sentence(&words::says(limit), code), code(&words::allow(limit)));
            format!("- **limit exceeded:** {numbers}; {allow} lets this plan through\n")
        });
        let unread = said_once(unread(subject.plan)).into_iter().map(|(notice, says)| {
            let what = match notice {
                NoticeCode::BadSettings => "errors in settings",
                NoticeCode::UnknownSet => "set without a file",
                NoticeCode::RecordsUnread => "errors in records",
                notice if notice.tells_of_failure() => "not read",
                _ => "not trusted",
            };
            format!("- **{what}:** {}\n", sentence(&says, code))
        });
        let notes = notes::of(subject.plan, subject.outlook.hidden);
        ReportHead { subject, remarks: notes.into_iter().chain(refusal).chain(limits).chain(unread).collect() }
    }

    /// How many remarks there are.
    pub fn remarks(&self) -> usize {
        self.remarks.len()
    }

    /// The heading, what there is to know of it, and the first `shown` remarks.
    pub fn text(&self, shown: usize) -> String {
        let mut out = format!("### {} {}\n", mark(self.subject), headline(self.subject));
        if let Some(state) = state(self.subject) {
            out.push_str(&format!("\n**{state}.**\n"));
        }
        let unexplained = self.subject.causes.unexplained();
        if unexplained.all_changes() > 0 {
            let (what, are) = (in_words(&unexplained), if unexplained.all_changes() == 1 { "is" } else { "are" });
            out.push_str(&format!("\n⚠️ **{what} {are} not explained by any difference: check them first.**\n"));
        }
        if !self.remarks.is_empty() {
            out.push('\n');
        }
        self.remarks[..shown].iter().for_each(|remark| out.push_str(remark));
        match self.remarks.len() - shown {
            0 => {}
            more if shown == 0 => out.push_str(&format!("{}, not shown here.\n", counted(more, "remark"))),
            more => out.push_str(&format!("- and {}, not shown here\n", counted(more, "more remark"))),
        }
        out
    }
}

/// What the plan comes to.
fn headline(ReportSubject { plan, outlook, .. }: &ReportSubject<'_>) -> String {
    sentence(&verdict::headline(plan, outlook), code)
}

/// The verdict again, for the end of a report.
pub fn closing(subject: &ReportSubject<'_>) -> String {
    let state = state(subject).map(|state| format!(". {state}")).unwrap_or_default();
    format!("{} **{}{state}.**\n", mark(subject), headline(subject))
}

/// The sign of a verdict.
fn mark(ReportSubject { plan, outlook, causes, review, .. }: &ReportSubject<'_>) -> &'static str {
    // What a change set blocks gets no change, and would be overlooked.
    let blocks = review.is_some_and(|review| !review.newly_blocked.is_empty());
    match PlanVerdict::of(plan, outlook) {
        PlanVerdict::Refused => "⛔",
        PlanVerdict::Partial => "⚠️",
        PlanVerdict::Ready | PlanVerdict::Idle if blocks || causes.unexplained().all_changes() > 0 => "⚠️",
        PlanVerdict::Ready | PlanVerdict::Idle => "✅",
    }
}

/// What keeps a plan from being applied, or from being complete; none where nothing does.
fn state(ReportSubject { plan, outlook, .. }: &ReportSubject<'_>) -> Option<String> {
    match PlanVerdict::of(plan, outlook) {
        PlanVerdict::Refused => {
            let refused = sentence(&verdict::refused(plan, outlook)?, code);
            Some(if refused.len() <= IN_HEADING { refused } else { "Refused by a limit".to_owned() })
        }
        PlanVerdict::Partial => Some(format!("Not complete: {}", missing(plan))),
        PlanVerdict::Ready | PlanVerdict::Idle => None,
    }
}

/// Why a plan is refused, where its limits do not say so.
fn refusal(ReportSubject { plan, outlook, .. }: &ReportSubject<'_>) -> Option<String> {
    let is_told = |code: Code| code == LIMIT_EXCEEDED && exceeded(plan).next().is_some();
    let refusal = outlook.refusal.as_ref().filter(|refusal| !is_told(refusal.code))?;
    let hint = refusal.hint.as_ref().map(|hint| format!("; {}", sentence(hint, code))).unwrap_or_default();
    Some(format!("- **{}:** {}{hint}\n", refusal.code.as_str().replace('-', " "), sentence(&refusal.message, code)))
}

/// The limits that a plan exceeds.
fn exceeded(plan: &Plan) -> impl Iterator<Item = &LimitState> {
    plan.limits.iter().filter(|limit| limit.exceeded)
}

/// The notices that say why a plan is not complete.
fn unread(plan: &Plan) -> impl Iterator<Item = &Notice> {
    plan.notices.iter().filter(|notice| notice.code.tells_of_less())
}

/// What a plan lacks, in a few words: `1 source and 2 zones could not be read`.
fn missing(plan: &Plan) -> String {
    let count = |code| plan.notices.iter().filter(|notice| notice.code == code).count();
    let unread = [(NoticeCode::SourceUnknown, "source"), (NoticeCode::ZoneUnknown, "zone")];
    let unread = unread.map(|(code, what)| (count(code), what)).into_iter().filter(|(number, _)| *number > 0);
    let unread: Vec<String> = unread.map(|(number, what)| counted(number, what)).collect();
    let unread = (!unread.is_empty()).then(|| format!("{} could not be read", unread.join(" and ")));
    let files = |code, what: &str| match count(code) {
        0 => None,
        1 => Some(format!("1 {what} has errors")),
        many => Some(format!("{many} {} have errors", what.replace("file", "files"))),
    };
    let settings = files(NoticeCode::BadSettings, "settings file");
    let records = files(NoticeCode::RecordsUnread, "file of records");
    let sets = match count(NoticeCode::UnknownSet) {
        0 => None,
        1 => Some("1 set of pods has no file".to_owned()),
        many => Some(format!("{many} sets of pods have no file")),
    };
    let untrusted = match count(NoticeCode::SourceUntrusted) {
        0 => None,
        1 => Some("1 source is not trusted".to_owned()),
        many => Some(format!("{many} sources are not trusted")),
    };
    unread.into_iter().chain(settings).chain(sets).chain(records).chain(untrusted).collect::<Vec<_>>().join(", ")
}
