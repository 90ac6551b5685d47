//! The sources of a workspace in a status: what they are now, and what was last accepted.

use serde::Serialize;

use crate::inventory::value::Time;
use crate::report::page::TextPage;
use crate::report::summary::counted;
use crate::state::{Acceptance, SourceStatus, Status};

/// A source for the document.
#[derive(Debug, Serialize)]
pub struct SourceView<'a> {
    /// Its name.
    source: &'a str,
    /// How many rows it has.
    rows: usize,
    /// When it was made, by its own date.
    dated: Option<String>,
    /// Why it cannot be believed.
    doubt: Option<&'a str>,
    /// What was last accepted.
    accepted: Option<AcceptedView<'a>>,
}

/// An accepted export for the document.
#[derive(Debug, Serialize)]
struct AcceptedView<'a> {
    /// When.
    at: String,
    /// By which apply.
    apply: Option<u64>,
    /// Who ran that.
    who: &'a str,
    /// Why a person did.
    reason: Option<&'a str>,
    /// How many rows it had.
    rows: usize,
    /// When it was made, by its own date.
    dated: Option<String>,
    /// Whether the source is that export still.
    same: bool,
}

/// The sources for the document.
pub fn views(status: &Status) -> Vec<SourceView<'_>> {
    status.sources.iter().map(view).collect()
}

/// A source for the document.
fn view(status: &SourceStatus) -> SourceView<'_> {
    let SourceStatus { source, rows, dated, doubt, accepted, is_accepted } = status;
    let accepted = accepted.as_ref().map(|accepted| {
        let Acceptance { rows, dated, at, apply, who, reason, .. } = accepted;
        let (apply, dated) = (apply.map(|id| id.0), dated.as_ref().map(Time::to_string));
        AcceptedView {
            at: at.to_string(),
            apply,
            who,
            reason: reason.as_deref(),
            rows: *rows,
            dated,
            same: *is_accepted,
        }
    });
    let dated = dated.as_ref().map(Time::to_string);
    SourceView { source, rows: *rows, dated, doubt: doubt.as_deref(), accepted }
}

impl TextPage<'_> {
    /// Adds the sources: what each is now, why it is not believed, and what was last accepted.
    pub(super) fn sources(&mut self, status: &Status) {
        if status.sources.is_empty() {
            return;
        }
        self.heading("Sources");
        for SourceStatus { source, rows, dated, doubt, accepted, is_accepted } in &status.sources {
            let rows = counted(*rows, "row");
            self.line(2, &format!("{source}: {rows}, {}", age(*dated, status.created)));
            if let Some(doubt) = doubt {
                let prefix = format!("source `{source}`: ");
                self.line(4, &format!("not believed: {}", doubt.strip_prefix(&prefix).unwrap_or(doubt)));
            }
            self.line(
                4,
                &match accepted {
                    None => "never accepted".to_owned(),
                    Some(own) if *is_accepted => format!("accepted {} {}", own.at.to_second(), own.words()),
                    Some(own) => {
                        let rows = counted(own.rows, "row");
                        format!("another one, of {rows}, was accepted {} {}", own.at.to_second(), own.words())
                    }
                },
            );
        }
    }
}

/// When an export was made, by its own date, and how long ago that is.
fn age(dated: Option<Time>, now: Time) -> String {
    match dated.map(|dated| (dated, now.since(dated))) {
        None => "no date of its own".to_owned(),
        Some((dated, Some(age))) => format!("of {dated}, {age} old"),
        Some((dated, None)) => format!("of {dated}, which is in the future"),
    }
}
