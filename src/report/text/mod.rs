//! A plan as text for people, at 80 columns and any terminal.

mod causes;

mod changes;

mod left;

mod tables;

mod waiting;

use serde::Serialize;

use self::causes::ClassView;
use self::changes::{NobodyView, ProjectView};
use self::left::{BlockedView, SkippedView};
use self::tables::Cells;
use self::waiting::WaitingView;
use super::notice::says;
use super::outlook::Outlook;
use super::paint::Paint;
use super::templates::{TemplateError, Templates};
use super::words::Explained as _;
use crate::diag::sanitize;
use crate::plan::{NoticeCode, Only, Plan, SealedPlan};

/// What a plan is shown for, which decides how it closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be looked at: it tells how to save it.
    Look,
    /// It is in a file: it tells of when, and how long it is valid.
    Saved,
    /// It is about to be applied.
    Apply,
}

/// How much is shown, and how.
#[derive(Debug, Clone)]
pub struct TextOptions {
    /// Whether colours are used.
    pub color: bool,
    /// The columns that lines keep within, where blanks let them.
    pub width: usize,
    /// How many hosts of a project show their changes; all where `None`.
    pub max_hosts: Option<usize>,
    /// Whether long lists of blocked and skipped hosts and of notices are shown whole.
    pub verbose: bool,
    /// What the plan is shown for.
    pub purpose: Purpose,
}

impl Default for TextOptions {
    /// No colour and 80 columns, which suits pipes and the narrowest terminals in use (no official source).
    fn default() -> TextOptions {
        TextOptions { color: false, width: 80, max_hosts: None, verbose: false, purpose: Purpose::Look }
    }
}

impl TextOptions {
    /// How many of `all` items of a list are shown: all, or few enough to see the rest of the report.
    pub fn shown(&self, all: usize) -> usize {
        /// Five tell what is going on (no official source).
        const FEW: usize = 5;
        // Counting a single one takes as much room as showing it.
        if self.verbose || all <= FEW + 1 { all } else { FEW }
    }
}

/// Renders a plan.
pub fn render(
    (sealed, outlook): (&SealedPlan, &Outlook),
    templates: &Templates,
    options: &TextOptions,
) -> Result<String, TemplateError> {
    let plan = sealed.plan();
    let paint = Paint::new(options.color);
    let view = PlanView {
        paint: &paint,
        width: options.width,
        saved: options.purpose == Purpose::Saved,
        applies: options.purpose == Purpose::Apply,
        hidden: outlook.hidden,
        is_partial: plan.notices.iter().any(|notice| notice.code.tells_of_failure()),
        is_untrusted: plan.notices.iter().any(|notice| notice.code == NoticeCode::SourceUntrusted),
        only: plan.only.as_ref().map(|only| narrowed(only, options)),
        projects: changes::projects(plan, templates, options, &paint)?,
        nobody: changes::nobody(plan, templates, options, &paint)?,
        waiting: waiting::waiting(plan, options),
        causes: causes::causes(plan, options),
        since: causes::since(plan, options),
        summary: tables::summary(plan),
        blocked: left::blocked(plan, options),
        blocked_count: plan.blocked.len(),
        skipped: left::skipped(plan, options),
        skipped_count: plan.skipped.len(),
        notices: notices(plan, options),
        limits: tables::limits(plan),
        exceeded: tables::exceeded(plan),
        amiss: amiss(plan, outlook),
        zones: tables::zones(plan),
        tool: sanitize(&plan.tool),
        created: plan.created.to_string(),
        expires: plan.expires.to_string(),
        undoes: plan.undoes,
        id: sealed.id(),
        effect: sealed.effect(),
    };
    templates.render("plan.txt", view)
}

/// What `plan.txt` gets. Whatever came from input is sanitized.
#[derive(Serialize)]
struct PlanView<'a> {
    /// Escape sequences by what they are for; empty without colour.
    paint: &'a Paint,
    /// The columns to keep within.
    width: usize,
    /// Whether the plan was read from a file or goes to one.
    saved: bool,
    /// Whether the plan is about to be applied.
    applies: bool,
    /// Where only some of the changes are shown: how many are not.
    hidden: Option<usize>,
    /// Whether a source or zone could not be read.
    is_partial: bool,
    /// Whether a source was read and is not believed.
    is_untrusted: bool,
    /// What the plan was narrowed to.
    only: Option<String>,
    /// The projects that have changes, sorted; without those of names that nobody has.
    projects: Vec<ProjectView>,
    /// The changes that remove what nobody has.
    nobody: NobodyView,
    /// What nobody has, and that waits to be deleted, by time.
    waiting: Vec<WaitingView>,
    /// What the changes rest on, by class.
    causes: Vec<ClassView>,
    /// What else is new since the base.
    since: Vec<String>,
    /// For each project and in total: hosts, creates, modifies, deletes, blocked, skipped.
    summary: Cells,
    /// The blocked hosts by code.
    blocked: Vec<BlockedView>,
    /// How many hosts are blocked.
    blocked_count: usize,
    /// The skipped hosts by code.
    skipped: Vec<SkippedView>,
    /// How many hosts are skipped.
    skipped_count: usize,
    /// The notices by code.
    notices: Vec<NoticesView>,
    /// For each limit that the plan comes near: max, used, planned, name.
    limits: Cells,
    /// For each limit that is exceeded: what is said of it, what lets the plan through.
    exceeded: Cells,
    /// What else keeps the plan from being applied, or from being whole.
    amiss: Vec<String>,
    /// For each zone: serial, RRsets, name.
    zones: Cells,
    /// The program that made the plan.
    tool: String,
    /// When it was made.
    created: String,
    /// When it expires.
    expires: String,
    /// The apply that it undoes.
    undoes: Option<u64>,
    /// The plan's id.
    id: &'a str,
    /// The plan's effect.
    effect: &'a str,
}

/// What a plan was narrowed to, in words.
fn narrowed(only: &Only, options: &TextOptions) -> String {
    let list = |what: &str, items: Vec<String>| {
        let shown = options.shown(items.len());
        let more = items.len() - shown;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = if items.len() == 1 { what.to_owned() } else { format!("{what}s") };
        format!("{what} {}{more}", items[..shown].join(", "))
    };
    let hosts = only.hosts.iter().map(|host| host.0.to_string()).collect::<Vec<_>>();
    let projects = only.projects.iter().map(|project| sanitize(project)).collect::<Vec<_>>();
    let parts = [("host", hosts), ("project", projects)];
    let parts = parts.into_iter().filter(|(_, items)| !items.is_empty()).map(|(what, items)| list(what, items));
    format!("Narrowed to {}", parts.collect::<Vec<_>>().join(" of "))
}

/// What keeps a plan from being applied beside limits, which are told one by one, or from being whole.
fn amiss(plan: &Plan, outlook: &Outlook) -> Vec<String> {
    let has_told = plan.limits.iter().any(|limit| limit.exceeded);
    let refusal = outlook.refusal.as_ref().filter(|refusal| !has_told || refusal.code != "limit-exceeded");
    let refused = refusal.map(|refusal| {
        let hint = refusal.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        sanitize(&format!("Refused as it is: {}: {}{hint}", refusal.code, refusal.message))
    });
    let is_less = plan.notices.iter().any(|notice| notice.code.tells_of_less());
    // Where nothing is to be changed, that stands first.
    let less = (is_less && !plan.changes.is_empty())
        .then(|| "Not whole: a source or a zone could not be read, or is not believed: see the notices.".to_owned());
    refused.into_iter().chain(less).collect()
}

/// The notices of one code.
#[derive(Serialize)]
struct NoticesView {
    /// The code.
    code: &'static str,
    /// What it means.
    brief: &'static str,
    /// The notices that are shown.
    messages: Vec<String>,
    /// How many more there are.
    more: usize,
}

/// Gathers the notices by code.
fn notices(plan: &Plan, options: &TextOptions) -> Vec<NoticesView> {
    let of_code = plan.notices.chunk_by(|a, b| a.code == b.code);
    of_code
        .map(|notices| {
            let shown = options.shown(notices.len());
            NoticesView {
                code: notices[0].code.as_str(),
                brief: notices[0].code.words().brief,
                messages: notices[..shown].iter().map(|notice| sanitize(&says(notice))).collect(),
                more: notices.len() - shown,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
