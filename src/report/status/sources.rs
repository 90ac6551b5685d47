//! The sources of a workspace in a status: what they are now, and what was last accepted.

use crate::document::object_in_documents;
use crate::inventory::value::Time;
use crate::report::page::TextPage;
use crate::report::summary::counted;
use crate::state::{Acceptance, SourceStatus, Status};

object_in_documents!(SourceStatus, status => {
    "source": status.source,
    "rows": status.rows,
    "dated": status.dated,
    "doubt": status.doubt,
    "accepted": status.accepted.as_ref().map(|acceptance| AcceptedView { acceptance, same: status.is_accepted }),
});

/// What was last accepted of a source, for documents, which say whether the source is that export still.
struct AcceptedView<'a> {
    /// What was accepted.
    acceptance: &'a Acceptance,
    /// Whether the source is that export still.
    same: bool,
}

object_in_documents!(AcceptedView<'_>, view => {
    "at": view.acceptance.at,
    "apply": view.acceptance.apply,
    "who": view.acceptance.who,
    "reason": view.acceptance.reason,
    "rows": view.acceptance.rows,
    "dated": view.acceptance.dated,
    "same": view.same,
});

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
