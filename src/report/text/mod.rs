//! A plan as text for people, at 80 columns and any terminal.

mod causes;

mod changes;

mod fold;

mod left;

mod tables;

mod waiting;

mod waves;

use serde::Serialize;

use self::causes::ClassView;
use self::changes::{ChangesRenderer, ProjectView, RenderedGroups};
use self::left::{BlockedView, SkippedView};
use self::tables::TableCells;
use self::waiting::WaitingView;
use super::alike::{self, is_of_target};
use super::counts::{PlanCounts, without};
use super::host_label::host_label;
use super::outages::{no_plan, said_once};
use super::outlook::PlanOutlook;
use super::paint::Paint;
use super::scope;
use super::summary::{SubjectCounts, counted};
use super::templates::{TemplateError, Templates};
use super::verdict::{headline, refused};
use super::words::ExplainedCode as _;
use crate::claim::Subject;
use crate::diag::sanitize;
use crate::guard::LIMIT_EXCEEDED;
use crate::inventory::value::Inv;
use crate::plan::{Notice, Plan, PlanScope, SealedPlan};

/// What a plan is shown for, which decides how it closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPurpose {
    /// To be looked at: the end says how to save and apply it.
    Look,
    /// It is in a file: the end says how long it is valid, and the command that applies it.
    Saved,
    /// It is about to be applied: what is not changed is said in short.
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
    pub purpose: TextPurpose,
}

impl Default for TextOptions {
    /// No colour and 80 columns, which suits pipes and the narrowest terminals in use.
    fn default() -> TextOptions {
        TextOptions { color: false, width: 80, max_hosts: None, verbose: false, purpose: TextPurpose::Look }
    }
}

impl TextOptions {
    /// How many of `all` items of a list are shown: all, or few enough to see the rest of the report.
    pub fn shown(&self, all: usize) -> usize {
        /// Five show what is going on.
        const FEW: usize = 5;
        // Counting a single one takes as much room as showing it.
        if self.verbose || all <= FEW + 1 { all } else { FEW }
    }
}

/// Renders a plan.
pub fn render(
    sealed: &SealedPlan,
    outlook: &PlanOutlook,
    templates: &Templates,
    options: &TextOptions,
) -> Result<String, TemplateError> {
    let plan = sealed.plan();
    let paint = Paint::new(options.color);
    let renderer = ChangesRenderer { plan, templates, options, paint: &paint };
    let refused = refused(plan, outlook).map(|refused| format!("{refused}."));
    let view = PlanView {
        paint: &paint,
        width: options.width,
        headline: format!("{}.", headline(plan, outlook)),
        refused,
        next: next(sealed, outlook, options),
        command: command(sealed, outlook, options),
        is_brief: options.purpose == TextPurpose::Apply && !options.verbose,
        only: plan.only.as_ref().map(|only| narrowed(plan, only, options)),
        projects: renderer.projects()?,
        unclaimed: renderer.unclaimed(false)?,
        without_pod: renderer.unclaimed(true)?,
        waiting: waiting::waiting(plan, options),
        waves: waves::lines(plan, options),
        created: plan.created.to_second().to_string(),
        causes: causes::causes(plan, options),
        since: causes::since(plan, options),
        summary: tables::summary(plan),
        summary_of: PlanCounts::of_plan(plan).heading(),
        delayed_without: without(plan),
        blocked: if options.verbose { left::blocked(plan) } else { Vec::new() },
        blocked_folded: fold::blocked(plan, options),
        blocked_who: who(plan.blocked.iter().map(|blocked| &blocked.subject), ["gets", "get"]),
        skipped: if options.verbose { left::skipped(plan) } else { Vec::new() },
        skipped_folded: fold::skipped(plan, options),
        skipped_who: who(plan.skipped.iter().map(|skipped| &skipped.subject), ["is", "are"]),
        notices: notices(plan, options),
        notices_folded: if options.verbose { Vec::new() } else { fold::notices(plan, options) },
        limits: tables::limits(plan, options),
        exceeded: tables::exceeded(plan),
        faults: faults(plan, outlook),
        zones: if options.verbose { tables::zones(plan) } else { Vec::new() },
        verbose: options.verbose,
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
    /// What the plan comes to, in one sentence.
    headline: String,
    /// What refuses the plan, in one sentence; none where nothing does.
    refused: Option<String>,
    /// What to do next, in sentences; none where there is nothing to do.
    next: Option<String>,
    /// The command that does it.
    command: Option<String>,
    /// Whether what is not changed is said in short, because the plan is about to be applied.
    is_brief: bool,
    /// What the plan was narrowed to.
    only: Option<String>,
    /// The projects that have changes, sorted; without those at names that no host has.
    projects: Vec<ProjectView>,
    /// The changes at names that no host has.
    unclaimed: RenderedGroups,
    /// The changes at names of sets of pods that no pod has.
    without_pod: RenderedGroups,
    /// The RRsets at names that no host has, and that wait to be deleted, by time.
    waiting: Vec<WaitingView>,
    /// When it was made.
    created: String,
    /// How the plan goes in waves, and what waits for a later one; each line with how far it is indented.
    waves: Vec<(usize, String)>,
    /// What has none of the names that wait to be deleted: `host`, `pod`, `host or pod`.
    delayed_without: &'static str,
    /// What the first number of a row of the summary counts.
    summary_of: String,
    /// The causes of the changes, by class.
    causes: Vec<ClassView>,
    /// What else is new since the base.
    since: Vec<String>,
    /// For each project and in total: hosts, creates, modifies, deletes, blocked, skipped.
    summary: TableCells,
    /// The blocked hosts by code, in full; empty without `-v`.
    blocked: Vec<BlockedView>,
    /// The blocked hosts, one line a code.
    blocked_folded: Vec<String>,
    /// How many subjects are blocked: `3 hosts get`.
    blocked_who: String,
    /// The skipped hosts by code, in full; empty without `-v`.
    skipped: Vec<SkippedView>,
    /// The skipped hosts, one line a code.
    skipped_folded: Vec<String>,
    /// How many subjects are skipped: `1 host is`.
    skipped_who: String,
    /// The notices by code that are said in full.
    notices: Vec<NoticesView>,
    /// The other notices, one line a code.
    notices_folded: Vec<String>,
    /// For each limit that the plan comes near: max, used, planned, name.
    limits: TableCells,
    /// For each limit that is exceeded: what is said of it, what lets the plan through.
    exceeded: TableCells,
    /// What else keeps the plan from being applied, or from being whole.
    faults: Vec<String>,
    /// For each zone: serial, RRsets, target where a pool has several, name; below a heading; empty without `-v`.
    zones: TableCells,
    /// Whether all is shown.
    verbose: bool,
    /// The plan's id.
    id: &'a str,
    /// The plan's effect.
    effect: &'a str,
}

/// What to do next: how to save and apply a plan, or what a saved one is good for.
fn next(sealed: &SealedPlan, outlook: &PlanOutlook, options: &TextOptions) -> Option<String> {
    let plan = sealed.plan();
    match options.purpose {
        TextPurpose::Look if plan.is_idle() || outlook.hidden.is_some() || no_plan(plan).is_some() => None,
        TextPurpose::Look if refused(plan, outlook).is_some() => {
            Some("Nothing was changed. An apply of this plan is refused.".to_owned())
        }
        TextPurpose::Look if plan.undoes.is_some() => {
            Some("Nothing was changed. `--yes` applies this plan; `--out FILE` saves it.".to_owned())
        }
        TextPurpose::Look if plan.changes.iter().all(|change| change.adopts()) => {
            let unclaimed = plan.changes.iter().filter(|change| matches!(change.subject, Subject::Orphan(_))).count();
            let then = match unclaimed {
                0 => String::new(),
                count => {
                    format!(" Policy `sync` may then delete {} of it, which nothing claims.", counted(count, "RRset"))
                }
            };
            Some(format!("Nothing was changed. With `--out FILE` the plan is saved, `apply FILE` applies it.{then}"))
        }
        TextPurpose::Look => {
            Some("Nothing was changed. `plan --out FILE` saves the plan, `apply FILE` applies it.".to_owned())
        }
        TextPurpose::Saved if outlook.is_unsaved => Some("Nothing was changed, and the plan was not saved.".to_owned()),
        TextPurpose::Saved => {
            let file = outlook.file.as_deref().map(sanitize);
            if no_plan(plan).is_some() {
                let file = file.map(|file| format!(" `{file}`")).unwrap_or_default();
                return Some(format!("The file{file} keeps what was found. An apply of it changes nothing."));
            }
            let file = file.map(|file| format!("in `{file}`, ")).unwrap_or_default();
            let apply = if command(sealed, outlook, options).is_some() { " To apply exactly this plan:" } else { "" };
            Some(format!("The plan is {file}valid until {}.{apply}", plan.expires))
        }
        TextPurpose::Apply => None,
    }
}

/// The command that applies a saved plan; none where it would be refused, or changes nothing.
fn command(sealed: &SealedPlan, outlook: &PlanOutlook, options: &TextOptions) -> Option<String> {
    let plan = sealed.plan();
    let is_ready = options.purpose == TextPurpose::Saved
        && !plan.is_idle()
        && outlook.hidden.is_none()
        && refused(plan, outlook).is_none();
    outlook.command.clone().filter(|_| is_ready)
}

/// What a plan was narrowed to, in words.
fn narrowed(plan: &Plan, only: &PlanScope, options: &TextOptions) -> String {
    let list = |what: &str, items: Vec<String>| {
        let shown = options.shown(items.len());
        let more = items.len() - shown;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = if items.len() == 1 { what.to_owned() } else { format!("{what}s") };
        format!("{what} {}{more}", items[..shown].join(", "))
    };
    let label = |inv: &Inv| plan.name_of(*inv).map_or_else(|| inv.to_string(), |_| sanitize(&host_label(plan, *inv)));
    let hosts = only.hosts().iter().map(label).collect::<Vec<_>>();
    let projects = only.projects.iter().map(|project| sanitize(project)).collect::<Vec<_>>();
    let others = scope::others(only).iter().map(|other| sanitize(other)).collect::<Vec<_>>();
    let listed = |what, items: Vec<String>| (!items.is_empty()).then(|| list(what, items));
    scope::in_words(listed("host", hosts), listed("subject", others), listed("project", projects))
}

/// What keeps a plan from being applied, other than limits, which are said one by one.
fn faults(plan: &Plan, outlook: &PlanOutlook) -> Vec<String> {
    let has_limits = plan.limits.iter().any(|limit| limit.exceeded);
    let refusal = outlook.refusal.as_ref().filter(|refusal| !has_limits || refusal.code != LIMIT_EXCEEDED);
    let refused = refusal.map(|refusal| {
        let hint = refusal.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        sanitize(&format!("{}: {}{hint}", refusal.code, refusal.message))
    });
    refused.into_iter().collect()
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

/// Gathers the notices that are said in full by code.
fn notices(plan: &Plan, options: &TextOptions) -> Vec<NoticesView> {
    let of_code = plan.notices.chunk_by(|a, b| a.code == b.code);
    of_code
        .filter(|notices| options.verbose || !fold::is_folded(notices[0].code))
        .map(|notices| {
            let messages = messages(plan, notices);
            let shown = options.shown(messages.len());
            NoticesView {
                code: notices[0].code.as_str(),
                brief: notices[0].code.words().brief,
                messages: messages[..shown].iter().map(|says| sanitize(says)).collect(),
                more: messages.len() - shown,
            }
        })
        .collect()
}

/// What notices of one code say; one message is for all that say the same.
fn messages(plan: &Plan, notices: &[Notice]) -> Vec<String> {
    if is_of_target(notices[0].code) {
        return alike::gather(plan, notices.iter()).into_iter().map(|alike| alike.says).collect();
    }
    said_once(notices.iter()).into_iter().map(|(_, says)| says).collect()
}

/// How many subjects there are, by kind, with a verb for one and for several.
fn who<'a>(subjects: impl Iterator<Item = &'a Subject> + Clone, [one, several]: [&str; 2]) -> String {
    let verb = if subjects.clone().count() == 1 { one } else { several };
    format!("{} {verb}", SubjectCounts::of(subjects).in_words())
}

#[cfg(test)]
mod tests;
