//! A host's MAC reports, each with its verdict.

use super::Case;
use super::model::ReportFacts;
use crate::desired::mac::{self, Better, Verdict};
use crate::inventory::model::Report;
use crate::inventory::value::{Duration, Inv};

impl Case<'_> {
    /// Every report of a host, the one that won first, then by when they count as made, the latest first.
    pub(super) fn reports(&self, inv: Inv) -> Vec<ReportFacts> {
        let inventory = self.context.inventory;
        let reports = mac::reports_of(inventory, inv);
        let verdicts = mac::verdicts(inventory, reports, self.context.now);
        let mut judged: Vec<(&Report, Verdict)> = reports.iter().zip(verdicts).collect();
        judged.sort_by_key(|(report, verdict)| {
            (*verdict != Verdict::Won, std::cmp::Reverse(mac::counted_time(inventory, report)))
        });
        judged.into_iter().map(|(report, verdict)| self.report(report, verdict)).collect()
    }

    /// One report.
    fn report(&self, report: &Report, verdict: Verdict) -> ReportFacts {
        let inventory = self.context.inventory;
        let source = &inventory.mac_sources[report.source as usize];
        let (word, why) = self.verdict_words(verdict);
        ReportFacts {
            line: self.line(report.origin),
            source: source.name.clone(),
            time: report.time.to_string(),
            age: self.age(report.time).to_string(),
            penalty: (source.penalty != Duration::from_secs(0)).then(|| source.penalty.to_string()),
            mac: report.sighting.mac().map(|mac| mac.to_string()),
            switch: report.sighting.switch().map(|switch| inventory.symbols.text(switch).to_owned()),
            verdict: word,
            why,
        }
    }

    /// The verdict on a report: a code, and words.
    fn verdict_words(&self, verdict: Verdict) -> (&'static str, String) {
        match verdict {
            Verdict::Won => ("won", "the latest that counts".to_owned()),
            Verdict::Lost(better) => ("lost", better_words(better)),
            Verdict::TooOld { max_age } => ("too-old", format!("its source counts for {max_age} (`max_age`)")),
            Verdict::Withdrawn { by } => {
                ("withdrawn", format!("{} says that the MAC is not in use (`\"active\":false`)", self.line(by)))
            }
            Verdict::Inactive => (
                "inactive",
                "it says that the MAC is not in use, and withdraws reports of that MAC with the same or an earlier time"
                    .to_owned(),
            ),
            Verdict::Ahead => ("future", "dated more than 5 minutes in the future, so it does not count".to_owned()),
            Verdict::Bad { freezes: true } => {
                ("bad", "the line cannot be used, and it is newer than all good reports: it blocks the host".to_owned())
            }
            Verdict::Bad { freezes: false } => ("bad", "the line cannot be used; it blocks nothing".to_owned()),
        }
    }
}

/// Why the report that won is better.
fn better_words(better: Better) -> String {
    match better {
        Better::Newer(newer) => format!("it counts as {newer} older than the report that won"),
        Better::Source => "as new as the report that won, but the winner's source is listed first".to_owned(),
        Better::Mac => "as new as the report that won, but the winner's MAC is lower".to_owned(),
        Better::Switch => "as new as the report that won, but the winner names a switch".to_owned(),
        Better::LowerSwitch => "as new as the report that won, but the winner's switch is lower".to_owned(),
        Better::First => "it says the same as the report that won, but the winner was read first".to_owned(),
    }
}
