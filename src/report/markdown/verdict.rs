//! What a reader must know first: what the plan comes to, how much it is, and what is wrong with it.

use super::super::notice::says;
use super::super::outlook::Verdict;
use super::super::summary::counted;
use super::causes::in_words;
use super::escape::code;
use super::{Subject, notes};
use crate::guard::words;
use crate::plan::{LimitState, Notice, NoticeCode, Plan};

/// How many octets a limit's name may take in the heading; a longer one stands below (no official source).
const IN_HEADING: usize = 100;

/// What a limit that is exceeded refuses a plan with; it is told limit by limit.
const EXCEEDED: &str = "limit-exceeded";

/// A plan's verdict, and what it rests on.
pub struct Head<'a> {
    /// The plan, and what is known of it.
    subject: &'a Subject<'a>,
    /// What keeps it from being what it seems, what refuses it, and what could not be read; a line each.
    remarks: Vec<String>,
}

impl<'a> Head<'a> {
    /// The verdict on a plan.
    pub fn new(subject: &'a Subject<'a>) -> Head<'a> {
        let refusal = refusal(subject);
        let limits = exceeded(subject.plan).map(|limit| {
            let (numbers, allow) = (code(&words::says(limit)), code(&words::allow(limit)));
            format!("- **limit exceeded:** {numbers}; {allow} lets this plan through\n")
        });
        let unread = unread(subject.plan).map(|notice| {
            let what = if notice.code.tells_of_failure() { "not read" } else { "not believed" };
            format!("- **{what}:** {}\n", code(&says(notice)))
        });
        let notes = notes::of(subject.plan, subject.outlook.hidden);
        Head { subject, remarks: notes.into_iter().chain(refusal).chain(limits).chain(unread).collect() }
    }

    /// How many remarks there are.
    pub fn remarks(&self) -> usize {
        self.remarks.len()
    }

    /// The heading, the counts, and the first `shown` remarks.
    pub fn text(&self, shown: usize) -> String {
        let mut out = format!("### {}\n\n{}\n", self.heading(), counts(self.subject));
        let unexplained = self.subject.causes.unexplained();
        if unexplained.all_changes() > 0 {
            let (what, are) = (in_words(&unexplained), if unexplained.all_changes() == 1 { "is" } else { "are" });
            out.push_str(&format!("\n⚠️ **{what} {are} not explained by anything that differs: look there first.**\n"));
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

    /// The verdict in a line.
    fn heading(&self) -> String {
        let Subject { plan, outlook, causes, .. } = self.subject;
        // What a change set blocks gets no change, and would be overlooked.
        let newly_blocked = self.subject.review.map_or(0, |review| review.newly_blocked.len());
        let blocks = format!("it blocks {}", counted(newly_blocked, "host"));
        match Verdict::of(plan, outlook) {
            Verdict::Refused => format!("⛔ DNS plan refused: {}", guard(self.subject)),
            Verdict::Partial => format!("⚠️ DNS plan is not whole: {}", missing(plan)),
            Verdict::Ready if plan.changes.is_empty() => "DNS plan: no changes in what is shown".to_owned(),
            Verdict::Idle if plan.undoes.is_some() => "✅ DNS plan: nothing to undo".to_owned(),
            Verdict::Idle if newly_blocked > 0 => format!("⚠️ DNS plan: no changes, and {blocks}"),
            Verdict::Idle => "✅ DNS plan: nothing to do".to_owned(),
            Verdict::Ready if newly_blocked > 0 => format!("⚠️ DNS plan: {}, and {blocks}", scale(self.subject)),
            Verdict::Ready => {
                let mark = if causes.unexplained().all_changes() == 0 { "✅" } else { "⚠️" };
                format!("{mark} DNS plan: {}", scale(self.subject))
            }
        }
    }
}

/// How much a plan is: changes, hosts, zones.
fn scale(Subject { plan, total, .. }: &Subject<'_>) -> String {
    let mut zones: Vec<_> = plan.changes.iter().map(|change| &change.zone).collect();
    zones.sort();
    zones.dedup();
    format!("{} in {}", in_words(total), counted(zones.len(), "zone"))
}

/// How much a plan is, by kind, and who gets none.
fn counts(subject: &Subject<'_>) -> String {
    let Subject { plan, outlook, total, .. } = subject;
    let kinds = total.changes.iter().zip(["create", "modify", "delete"]).filter(|(count, _)| **count > 0);
    let kinds = kinds.map(|(count, kind)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ");
    let kinds = format!("**{kinds}**");
    let changes = match Verdict::of(plan, outlook) {
        _ if plan.changes.is_empty() => "No changes".to_owned(),
        Verdict::Ready => kinds,
        _ => format!("{}: {kinds}", scale(subject)),
    };
    let blocked = match plan.blocked.len() {
        0 => String::new(),
        1 => "; 1 host is blocked".to_owned(),
        many => format!("; {many} hosts are blocked"),
    };
    format!("{changes}{blocked}.")
}

/// Which guard refuses a plan, in a few words.
fn guard(Subject { plan, outlook, .. }: &Subject<'_>) -> String {
    let refused = outlook.refusal.as_ref().filter(|refusal| refusal.code != EXCEEDED);
    let limits: Vec<&LimitState> = exceeded(plan).collect();
    match (refused.map(|refusal| refusal.code), limits.as_slice()) {
        (Some("breaker-tripped"), _) => "a breaker is tripped".to_owned(),
        (Some(other), _) => other.replace('-', " "),
        (None, [limit]) if code(&limit.name()).len() <= IN_HEADING => format!("{} is exceeded", code(&limit.name())),
        (None, [_] | []) => "a limit is exceeded".to_owned(),
        (None, limits) => format!("{} limits are exceeded", limits.len()),
    }
}

/// Why a plan is refused, where that is not told by its limits.
fn refusal(Subject { plan, outlook, .. }: &Subject<'_>) -> Option<String> {
    let is_told = |code: &str| code == EXCEEDED && exceeded(plan).next().is_some();
    let refusal = outlook.refusal.as_ref().filter(|refusal| !is_told(refusal.code))?;
    let hint = refusal.hint.as_ref().map(|hint| format!("; {}", code(hint))).unwrap_or_default();
    Some(format!("- **{}:** {}{hint}\n", refusal.code.replace('-', " "), code(&refusal.message)))
}

/// The limits that a plan exceeds.
pub fn exceeded(plan: &Plan) -> impl Iterator<Item = &LimitState> {
    plan.limits.iter().filter(|limit| limit.exceeded)
}

/// The notices that say why a plan is less than it should be.
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
    let untrusted = match count(NoticeCode::SourceUntrusted) {
        0 => None,
        1 => Some("1 source is not believed".to_owned()),
        many => Some(format!("{many} sources are not believed")),
    };
    unread.into_iter().chain(untrusted).collect::<Vec<_>>().join(", ")
}
