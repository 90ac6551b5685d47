//! What a `sync` did as JSON. `schemas/sync.schema.json` describes it.

use super::TOOL;
use super::publication::{ServedView, SyncReport};
use super::zone_changes::ZoneChangeView;
use crate::document::{object_in_documents, pretty};
use crate::state::lacks::{LackOutcome, LeftLack};

/// What `format` says.
const FORMAT: &str = "zonewright.sync/1";

/// Renders the document, with a final newline.
pub fn sync_document(report: &SyncReport<'_>) -> String {
    pretty(report)
}

object_in_documents!(SyncReport<'_>, report => {
    "format": FORMAT,
    "tool": TOOL,
    "started": report.started,
    "exit": report.exit,
    "refused": report.refusal,
    "lacks": report.lacks,
    "publication": ServedView::of(report.served),
    "problems": report.problems,
    ? "zone_changes": ZoneChangeView::of(report.zone_changes),
});

object_in_documents!(LackOutcome, lacks => {
    "made": lacks.made,
    "settled": lacks.settled,
    "left": lacks.left,
    "refused": lacks.refusal,
});

object_in_documents!(LeftLack, left => {
    "pool": left.target.pool.as_str(),
    "target": left.target.name,
    "name": left.key.owner.to_string(),
    "type": left.key.rtype.to_string(),
    "message": left.why,
});

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::consensus::{ServerFault, ServerRow, StepNumber, VoterId, VoterLag, ZoneStatus};
    use crate::diag::Problem;
    use crate::dns::{Name, Rtype, Serial};
    use crate::plan::fixture;
    use crate::report::event::{EndFacts, RunFacts, RunReport};
    use crate::report::schema::tests::check_one;
    use crate::report::{SchemaKind, TextOptions, publication};
    use crate::state::served::{DifferingRrset, ServedOutcome, StatusCounts, VoterShown, WaitEnding, ZoneServed};
    use crate::target::{TargetId, ZoneId};

    /// A zone that a name server does not serve as it was changed.
    fn served() -> ServedOutcome {
        let zone = ZoneId { pool: fixture::pool(), name: fixture::zone("example.net") };
        let voter = VoterId { target: "main".to_owned(), server: Some("192.0.2.53:53".to_owned()) };
        let fault = ServerFault::RecordsDiffer;
        let row = ServerRow { step: StepNumber(1), fault: Some(fault), serial: Some(Serial(7)) };
        let shown = VoterShown { voter: voter.clone(), row: Some(row), lag: Some(VoterLag::Failed(fault)) };
        let differing = DifferingRrset {
            zone: zone.clone(),
            voter,
            name: Name::parse("a.example.net").unwrap(),
            rtype: Rtype::AAAA,
            step: StepNumber(2),
            written: "AAAA 2a02::1 with TTL 60".to_owned(),
            found: Some("nothing".to_owned()),
        };
        let silent = DifferingRrset { found: None, ..differing.clone() };
        let zone = ZoneServed {
            zone,
            status: ZoneStatus::Error,
            newest: StepNumber(2),
            consensus: StepNumber(1),
            voters: vec![shown],
            rrsets: StatusCounts { error: 1, ..StatusCounts::default() },
        };
        ServedOutcome { ending: WaitEnding::Over, zones: vec![zone], differing: vec![differing, silent] }
    }

    /// What targets lacked, of which one change is left.
    fn lacks() -> LackOutcome {
        let change = fixture::fleet().changes.remove(0);
        let target = TargetId { pool: fixture::pool(), name: "b".to_owned() };
        let left = LeftLack { target, key: change.key, why: "the server is down".to_owned() };
        let refusal = Some(Problem::new("sync", "limit-exceeded", "too many hosts"));
        LackOutcome { made: 1, settled: 2, left: vec![left], refusal }
    }

    /// Checks a report against the schemas of its document and of its event; gives both.
    fn checked(report: &SyncReport<'_>) -> (Value, RunReport) {
        let document: Value = serde_json::from_str(&sync_document(report)).unwrap();
        assert_eq!(check_one(SchemaKind::Sync, document.clone()), "");
        let event = RunReport::synced(report, EndFacts { exit: report.exit, seconds: 1.5 });
        let run = RunFacts { run: 7, command: "sync", workspace: "/etc/zonewright", who: "deploy@runner" };
        let line = serde_json::from_str(&event.line("2026-11-20T02:00:00Z", &run)).unwrap();
        assert_eq!(check_one(SchemaKind::Event, line), "");
        (document, event)
    }

    #[test]
    fn the_document_fits_its_schema() {
        let (served, lacks) = (served(), lacks());
        let problems = [Problem::new("192.0.2.53:53", "secret-unreadable", "no such file")];
        let started = "2026-11-20T02:00:00Z".parse().unwrap();
        let report = SyncReport {
            started,
            refusal: None,
            served: &served,
            lacks: &lacks,
            zone_changes: &[],
            problems: &problems,
            exit: 3,
        };
        let (document, event) = checked(&report);
        assert_eq!(document["lacks"]["left"][0]["pool"], "main");
        assert_eq!(document["publication"]["differing"][0]["fault"], "records-differ");
        assert_eq!(document["publication"]["differing"][1]["fault"], "no-answer");
        assert_eq!(
            document["publication"]["zones"][0]["rrsets"],
            json!({"PENDING": 0, "ACTIVE": 0, "ERROR": 1, "DELETED": 0})
        );
        assert_eq!(event.message, "sync finished: 0 of 1 zone ACTIVE; 1 change made, 1 left");
        let text = publication::sync(&report, &TextOptions::default());
        assert!(text.contains("error[records-differ]: AAAA of `a.example.net.` is nothing"), "{text}");

        let (served, lacks) = (ServedOutcome::none(), LackOutcome::default());
        let idle = SyncReport { served: &served, lacks: &lacks, zone_changes: &[], problems: &[], exit: 0, ..report };
        assert_eq!(checked(&idle).1.message, "sync finished: nothing to do");
        let refused = SyncReport { refusal: problems.first(), exit: 1, ..idle };
        assert_eq!(checked(&refused).0["refused"]["code"], "secret-unreadable");
    }
}
