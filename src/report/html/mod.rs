//! A plan as one HTML page, for people who decide about it.
//!
//! Comes in: a plan and its outlook. Goes out: one file that needs no other and asks for none. What people must know is
//! in the HTML itself. The changes are data that the page's script lists, searches and filters, as no browser lays out
//! 100 000 of them at once. templates/plan.html, plan.css and plan.js say what the page looks like, and nothing
//! overrides them: the page's policy has the digests of style and script.

mod data;

mod engine;

mod escape;

mod lists;

mod pictures;

mod policy;

pub mod running;

mod verdict;

use minijinja::Value;
use serde::Serialize;

use self::lists::{CausesView, CodeItems, HintFaults, HostList, ListTable, WaitsView};
use self::pictures::Picture;
use self::verdict::{ClassCounts, CountView, VerdictView};
use super::counts::without;
use super::outlook::{PlanOutlook, PlanVerdict};
use super::paste::{is_page, shell};
use super::scope::narrowed;
use crate::plan::{Review, SealedPlan};
use crate::review;

/// What the page is made of.
const PAGE: &str = include_str!("../../../templates/plan.html");

/// Its style.
const STYLE: &str = include_str!("../../../templates/plan.css");

/// Its script.
const SCRIPT: &str = include_str!("../../../templates/plan.js");

/// What the template has in the place of the data. The data is put in afterwards, as it is too much text for the
/// engine.
const DATA: &str = "{\"data\":\"goes here\"}";

/// Renders a plan.
pub fn render(sealed: &SealedPlan, outlook: &PlanOutlook) -> String {
    let plan = sealed.plan();
    let review = review::of_plan(plan);
    let view = page(sealed, outlook, review.as_ref());
    let page = engine::rendered(PAGE, view);
    let (before, after) = page.split_once(DATA).expect("the template has a place for the data");
    let data = data::json(&data::data(plan, review.as_ref(), outlook.source_url.as_ref()));
    [before, &data, after].concat()
}

/// What `plan.html` gets.
#[derive(Serialize)]
struct PageView<'a> {
    /// What the browser may load and run.
    policy: String,
    /// The style.
    style: Value,
    /// The script.
    script: Value,
    /// What is replaced by the data.
    data: Value,
    /// What the plan comes to.
    verdict: VerdictView,
    /// Where only some of the changes are shown: how many are not.
    hidden: Option<usize>,
    /// What the plan was narrowed to.
    narrowed: Option<String>,
    /// The apply that it undoes.
    undoes: Option<u64>,
    /// What is in it, in numbers.
    counts: Vec<CountView>,
    /// The classes of the changes.
    classes: Option<ClassCounts>,
    /// The causes of the changes.
    causes: Option<CausesView>,
    /// The pictures.
    pictures: Vec<Picture>,
    /// How many changes there are.
    changes: String,
    /// The blocked hosts by code.
    blocked: Vec<CodeItems<HintFaults>>,
    /// The skipped hosts by code.
    skipped: Vec<CodeItems<HostList>>,
    /// The notices by code.
    notices: Vec<CodeItems<String>>,
    /// What waits to be deleted.
    waiting: Vec<WaitsView>,
    /// What has none of their names: `host`, `pod`, `host or pod`.
    delayed_without: &'static str,
    /// The limits, the exports and the zones, as far as there are any.
    tables: Vec<ListTable>,
    /// The plan's id.
    id: &'a str,
    /// The plan's effect.
    effect: &'a str,
    /// The program that made it.
    tool: &'a str,
    /// When it was made.
    created: String,
    /// When it expires.
    expires: String,
    /// The command that applies it; none where it is in no file, or not all of it is shown.
    apply: Option<String>,
    /// Whether that command is refused as things are.
    is_refused: bool,
    /// Whether not all of it is shown.
    is_view: bool,
    /// The command that lists all of it at a terminal.
    list: String,
    /// The file that has all of it.
    file: Option<&'a str>,
    /// Where all of it is to be found.
    url: Option<Url<'a>>,
}

/// Where something is to be found.
#[derive(Serialize)]
struct Url<'a> {
    /// The address.
    text: &'a str,
    /// Whether a browser goes there when it is clicked, and does nothing else.
    is_link: bool,
}

/// Puts together what the page shows.
fn page<'a>(sealed: &'a SealedPlan, outlook: &'a PlanOutlook, review: Option<&Review>) -> PageView<'a> {
    let plan = sealed.plan();
    let file = outlook.file.as_deref();
    let is_view = outlook.hidden.is_some_and(|hidden| hidden > 0);
    let is_refused = PlanVerdict::of(plan, outlook) == PlanVerdict::Refused;
    PageView {
        policy: policy::policy(STYLE, SCRIPT),
        style: Value::from_safe_string(STYLE.to_owned()),
        script: Value::from_safe_string(SCRIPT.to_owned()),
        data: Value::from_safe_string(DATA.to_owned()),
        verdict: verdict::verdict(plan, outlook),
        hidden: outlook.hidden,
        narrowed: plan.only.as_ref().map(narrowed),
        undoes: plan.undoes,
        counts: verdict::counts(plan),
        classes: review.and_then(|review| verdict::classes(plan, review)),
        causes: review.map(|review| lists::causes(plan, review, outlook.source_url.as_ref())),
        pictures: pictures::pictures(plan),
        changes: escape::grouped(plan.changes.len() as u64),
        blocked: lists::blocked(plan),
        skipped: lists::skipped(plan),
        notices: lists::notices(plan),
        waiting: lists::waiting(plan),
        delayed_without: without(plan),
        tables: lists::tables(plan),
        id: sealed.id(),
        effect: sealed.effect(),
        tool: &plan.tool,
        created: plan.created.to_string(),
        expires: plan.expires.to_string(),
        apply: file.filter(|_| !is_view && !plan.is_idle()).map(|file| apply(file, sealed.effect())),
        is_refused,
        is_view,
        list: list(outlook),
        file,
        url: outlook.url.as_deref().map(|text| Url { text, is_link: is_page(text) }),
    }
}

/// The command that applies a plan and no other, with `FILE` for a name that cannot be shown.
fn apply(file: &str, effect: &str) -> String {
    format!("zonewright apply {} --expect {effect}", shell(file).as_deref().unwrap_or("FILE"))
}

/// The command that lists a plan at a terminal.
fn list(outlook: &PlanOutlook) -> String {
    match &outlook.file {
        Some(file) => format!("zonewright show -v {}", shell(file).as_deref().unwrap_or("FILE")),
        None => "zonewright plan -v".to_owned(),
    }
}

#[cfg(test)]
mod tests;
