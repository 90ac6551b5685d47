//! A host's MAC reports, each with its verdict.

use super::ExplainCase;
use super::model::ReportFacts;
use crate::desired::mac::{self, BetterBy, MacVerdict};
use crate::inventory::model::MacReport;
use crate::inventory::value::{Duration, Inv};

impl ExplainCase<'_> {
    /// Every report of a host, the one that won first, then by when they count as made, the latest first.
    pub(super) fn reports(&self, inv: Inv) -> Vec<ReportFacts> {
        let inventory = self.context.inventory;
        let reports = mac::reports_of(inventory, inv);
        let verdicts = mac::verdicts(inventory, reports, self.context.now);
        let mut judged: Vec<(&MacReport, MacVerdict)> = reports.iter().zip(verdicts).collect();
        judged.sort_by_key(|(report, verdict)| {
            (*verdict != MacVerdict::Won, std::cmp::Reverse(mac::counted_time(inventory, report)))
        });
        judged.into_iter().map(|(report, verdict)| self.report(report, verdict)).collect()
    }

    /// One report.
    fn report(&self, report: &MacReport, verdict: MacVerdict) -> ReportFacts {
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
    fn verdict_words(&self, verdict: MacVerdict) -> (&'static str, String) {
        match verdict {
            MacVerdict::Won => ("won", "the latest that counts".to_owned()),
            MacVerdict::Lost(better) => ("lost", better_words(better)),
            MacVerdict::TooOld { max_age } => ("too-old", format!("its source counts for {max_age} (`max_age`)")),
            MacVerdict::Withdrawn { by } => {
                ("withdrawn", format!("{} says that the MAC is not in use (`\"active\":false`)", self.line(by)))
            }
            MacVerdict::Inactive => (
                "inactive",
                "it says that the MAC is not in use, and withdraws reports of that MAC with the same or an earlier time"
                    .to_owned(),
            ),
            MacVerdict::Ahead => ("future", "dated more than 5 minutes in the future, so it does not count".to_owned()),
            MacVerdict::Bad { freezes: true } => {
                ("bad", "the line cannot be used, and it is newer than all good reports: it blocks the host".to_owned())
            }
            MacVerdict::Bad { freezes: false } => ("bad", "the line cannot be used; it blocks nothing".to_owned()),
        }
    }
}

/// Why the report that won is better.
fn better_words(better: BetterBy) -> String {
    match better {
        BetterBy::Newer(newer) => format!("it counts as {newer} older than the report that won"),
        BetterBy::Source => "as new as the report that won, but the winner's source is listed first".to_owned(),
        BetterBy::Mac => "as new as the report that won, but the winner's MAC is lower".to_owned(),
        BetterBy::Switch => "as new as the report that won, but the winner names a switch".to_owned(),
        BetterBy::LowerSwitch => "as new as the report that won, but the winner's switch is lower".to_owned(),
        BetterBy::First => "it says the same as the report that won, but the winner was read first".to_owned(),
    }
}
