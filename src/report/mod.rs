//! Values as text for people and machines.
//!
//! Comes in: a plan, an explanation, diagnostics, a code. Goes out: a String. May not do input or output; what comes
//! from input passes `diag::sanitize` here, before it can reach a terminal. What a plan looks like is in templates/,
//! which a workspace may override.

mod accept;

mod alike;

pub mod apply;

mod applies;

mod checked;

mod cms;

mod codes;

mod copies;

mod counts;

mod data;

mod diff;

mod doctor;

mod drift;

mod endpoints;

mod external_dns;

pub mod event;

mod explain;

mod gather;

mod github;

mod history;

mod host_label;

mod html;

mod junit;

mod lines;

mod mark;

mod markdown;

pub mod metrics;

mod names;

mod notice;

mod outages;

mod outlook;

mod page;

mod paint;

pub mod paste;

pub mod publication;

pub mod running;

mod schema;

mod scope;

mod serve;

pub mod init;

mod settlement;

mod source_url;

mod status;

mod summary;

mod sync;

mod templates;

mod text;

mod verdict;

mod waves;

mod words;

mod wrap;

mod zone_changes;

use crate::explain::Explanation;
use crate::plan::{SealedPlan, document};

pub use accept::accepted;
pub use checked::CheckReport;
pub use cms::{cms_check, cms_clean};
pub use codes::{code, codes};
pub use doctor::doctor;
pub use drift::drift;
pub use endpoints::{EndpointsFormat, EndpointsText, LeftOutPart, endpoints, endpoints_summary};
pub use external_dns::external_dns_summary;
pub use github::{annotations, inert};
pub use history::history;
pub use junit::check as check_junit;
pub use names::{NamesReport, names};
pub use outages::no_plan;
pub use outlook::{PlanOutlook, PlanVerdict};
pub use schema::{SchemaKind, cms_protocol, schema};
pub use serve::{ApprovalFacts, ServingFacts, served, served_approvals, serving, serving_approvals};
pub use settlement::settlement;
pub use source_url::SourceUrl;
pub use status::{adopted, reset, status};
pub use summary::{check_summary, counted, snapshot_summary};
pub use sync::sync_document;
pub use templates::{TemplateError, Templates};
pub use text::{TextOptions, TextPurpose};
pub use verdict::headline;
pub use words::{CodeWords, ExplainedCode, rule_of_title};

/// The program with its version, as documents name it.
const TOOL: &str = concat!("zonewright ", env!("CARGO_PKG_VERSION"));

/// How a plan or diagnosis is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people at a terminal.
    Text,
    /// The document that `--out` saves.
    Json,
}

/// How a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanFormat {
    /// For people at a terminal.
    Text,
    /// The document that `--out` saves.
    Json,
    /// For a comment on a pull request.
    Markdown,
    /// One page to look at in a browser.
    Html,
    /// A unified diff of each zone.
    Diff,
    /// A report of tests, for pipelines that show such.
    Junit,
}

impl From<ReportFormat> for PlanFormat {
    fn from(format: ReportFormat) -> PlanFormat {
        match format {
            ReportFormat::Text => PlanFormat::Text,
            ReportFormat::Json => PlanFormat::Json,
        }
    }
}

/// Prints a plan.
///
/// Errors: [`TemplateError`] where an overriding template asks for something that is not there.
pub fn plan(
    sealed: &SealedPlan,
    outlook: &PlanOutlook,
    format: PlanFormat,
    templates: &Templates,
    options: &TextOptions,
) -> Result<String, TemplateError> {
    match format {
        PlanFormat::Text => text::render(sealed, outlook, templates, options),
        PlanFormat::Json => Ok(document::to_json(sealed)),
        PlanFormat::Markdown => Ok(markdown::render(sealed, outlook)),
        PlanFormat::Html => Ok(html::render(sealed, outlook)),
        PlanFormat::Diff => Ok(diff::render(sealed, outlook, options)),
        PlanFormat::Junit => Ok(junit::plan(sealed, outlook)),
    }
}

/// Prints a plan as one page, for a browser.
pub fn plan_page(sealed: &SealedPlan, outlook: &PlanOutlook) -> String {
    html::render(sealed, outlook)
}

/// The page of `run`: how it is going, for a browser, which asks for it again by itself.
pub fn running_page(news: &running::RunningNews) -> String {
    html::running::render(news)
}

/// Prints an explanation.
pub fn explanation(explanation: &Explanation, format: ReportFormat, options: &TextOptions) -> String {
    match format {
        ReportFormat::Text => explain::text::render(explanation, options),
        ReportFormat::Json => explain::json::render(explanation),
    }
}

#[cfg(test)]
mod tests;
