//! The tests of an export that need only the export: its age, and how many rows it has.
//!
//! Comes in: an inventory and the clock. Goes out: which exports fail, in their trust and in diagnostics. Ages are
//! durations between two instants, so that time zones and summer time do not change them.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::inventory::Inventory;
use crate::inventory::model::{Export, Trust};
use crate::inventory::source::MaxAge;
use crate::inventory::value::{CLOCK_SKEW, Duration, Time};

/// The rule that an export breaks that is too old, or of unknown age.
const AGE_RULE: &str = "with `max_age` an export must say when it was made, and must not be older";

/// The rule that an export with too few rows breaks.
const ROWS_RULE: &str = "an export must have at least `min_rows` rows";

/// Tests every export that could be read completely; those that fail are distrusted for the first reason, and all
/// reasons are reported. An export that could not be read completely is unknown already, and the rest of it proves
/// nothing.
pub fn test_exports(inventory: &mut Inventory, now: Time) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for place in 0..inventory.exports.len() {
        if matches!(inventory.trust_of(&inventory.exports[place].spec), Trust::Unknown { .. }) {
            continue;
        }
        let export = &inventory.exports[place];
        let found: Vec<TrustFailure> = [test_age(export, now), test_rows(export)].into_iter().flatten().collect();
        let name = export.spec.name.clone();
        let file = export.first.expect("an export that was read has a file");
        for TrustFailure { code, cause, rule, hint } in found {
            let reason = format!("source `{name}`: {cause}");
            diagnostics.push(Diagnostic::file_error(code, file, reason.as_str()).rule(rule).hint(hint));
            inventory.distrust(place, reason);
        }
    }
    diagnostics
}

/// A test that an export failed.
#[derive(Debug, PartialEq, Eq)]
struct TrustFailure {
    /// The code.
    code: Code,
    /// What is wrong, as the text after the source's name.
    cause: String,
    /// The rule that is broken.
    rule: &'static str,
    /// What to do.
    hint: &'static str,
}

/// Tests the age of an export, where `max_age` is set.
fn test_age(export: &Export, now: Time) -> Option<TrustFailure> {
    let MaxAge { age: max, is_default } = export.spec.demands.max_age?;
    let failure = |code, cause: String, hint| Some(TrustFailure { code, cause, rule: AGE_RULE, hint });
    let several = export.files.len() > 1;
    let Some(dated) = export.dated else {
        if is_default {
            return None;
        }
        let whose = if several { "not every file of it has a date" } else { "no date" };
        let hint = match export.spec.key {
            "net_layout" => "let the export say `<net-layout generated=\"TIME\">`, or remove `max_age`",
            _ => "let the export begin with a line `# generated: TIME`, or remove `max_age`",
        };
        return failure(Code::new("source-undated"), format!("it has `max_age`, but {whose} of its own"), hint);
    };
    if let Some(ahead) = dated.since(now)
        && ahead > CLOCK_SKEW
        && !is_default
    {
        let ahead = rounded(ahead);
        let cause =
            format!("it is dated {dated}, which is {ahead} ahead of the clock ({now}): one of the two is wrong");
        return failure(
            Code::new("source-from-the-future"),
            cause,
            "correct the wrong clock, here or on the machine that makes the export",
        );
    }
    let age = now.since(dated)?;
    if age <= max {
        return None;
    }
    // Pods are dated row by row.
    let (what, made) = match export.spec.key {
        "pods" => ("its newest row", "of"),
        _ if several => ("its oldest file", "generated"),
        _ => ("it", "generated"),
    };
    let cause = format!("{what} is {} old ({made} {dated}); `max_age` allows {max}", rounded(age));
    if !is_default {
        failure(Code::new("source-too-old"), cause, "export again, or find out why the export job stopped")
    } else {
        failure(
            Code::new("source-too-old"),
            cause + " (the default)",
            "export again, or find out why the export job stopped; if it is made so seldom, set `max_age` of the source in \
         zonewright.toml (`none`: any age)",
        )
    }
}

/// A duration in whole seconds, rounded up, so that an age just over the limit is not shown as the limit.
fn rounded(length: Duration) -> Duration {
    let whole = Duration::from_secs(length.as_secs());
    if whole < length { Duration::from_secs(length.as_secs() + 1) } else { whole }
}

/// Tests the number of rows of an export, where `min_rows` is set.
fn test_rows(export: &Export) -> Option<TrustFailure> {
    let (rows, min) = (export.rows, export.spec.demands.min_rows?);
    let cause = || format!("it has {rows} row{}, and `min_rows` is {min}", if rows == 1 { "" } else { "s" });
    (rows < min).then(|| TrustFailure {
        code: Code::new("too-few-rows"),
        cause: cause(),
        rule: ROWS_RULE,
        hint: "export again; or, if so few rows are correct, lower `min_rows` in zonewright.toml",
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::diag::render;
    use crate::inventory::load_workspace;
    use crate::inventory::source::ExportDemands;

    /// The clock.
    const NOW: &str = "2026-11-20T02:00:00Z";

    /// A small workspace without demands.
    fn inventory() -> Inventory {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        let loaded = load_workspace(&workspace, NOW.parse().unwrap(), &|_| {});
        loaded.inventory.expect("the base of the cases is a workspace")
    }

    /// An export of that workspace.
    fn export(name: &str) -> Export {
        inventory().exports.into_iter().find(|export| export.spec.name == name).unwrap()
    }

    /// The export `l3_tors` of that workspace, with this date and `max_age`.
    fn dated(date: &str, max_age: &str) -> Export {
        let mut export = export("l3_tors");
        export.dated = (!date.is_empty()).then(|| date.parse().unwrap());
        export.spec.demands.max_age = Some(MaxAge { age: max_age.parse().unwrap(), is_default: false });
        export
    }

    /// What is wrong with the age of an export.
    fn wrong_age(date: &str, max_age: &str, now: &str) -> Option<String> {
        test_age(&dated(date, max_age), now.parse().unwrap())
            .map(|failure| format!("{}: {}", failure.code, failure.cause))
    }

    #[test]
    fn an_export_may_be_as_old_as_max_age_and_no_older() {
        assert_eq!(wrong_age("2026-11-19T20:00:00Z", "6h", NOW), None);
        assert_eq!(
            wrong_age("2026-11-19T19:00:00Z", "6h", NOW).unwrap(),
            "source-too-old: it is 7h old (generated 2026-11-19T19:00:00Z); `max_age` allows 6h"
        );
        // A moment too old is not shown as just young enough.
        assert_eq!(
            wrong_age("2026-11-19T20:00:00Z", "6h", "2026-11-20T02:00:00.000000001Z").unwrap(),
            "source-too-old: it is 6h1s old (generated 2026-11-19T20:00:00Z); `max_age` allows 6h"
        );
        assert_eq!(wrong_age(NOW, "0s", NOW), None);
    }

    #[test]
    fn ages_are_between_instants_whatever_the_offsets() {
        // In the night of 25 October 2026 clocks in Berlin show 02:30 twice, and the export was made at the first.
        let (first, second) = ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00");
        assert_eq!(wrong_age(first, "1h", second), None);
        assert!(wrong_age(first, "59m", second).is_some_and(|cause| cause.contains("it is 1h old")));
        // On 29 March 2026 they show no 02:30: of two hours on the clock only one passed.
        assert_eq!(wrong_age("2026-03-29T01:30:00+01:00", "1h", "2026-03-29T03:30:00+02:00"), None);
        assert_eq!(wrong_age("2026-11-20T07:00:00+05:00", "0s", NOW), None);
    }

    #[test]
    fn a_date_in_the_future_is_wrong_beyond_what_clocks_differ() {
        assert_eq!(wrong_age("2026-11-20T02:05:00Z", "6h", NOW), None);
        assert_eq!(
            wrong_age("2026-11-20T02:05:01Z", "6h", NOW).unwrap(),
            "source-from-the-future: it is dated 2026-11-20T02:05:01Z, which is 5m1s ahead of the clock \
             (2026-11-20T02:00:00Z): one of the two is wrong"
        );
    }

    #[test]
    fn of_several_files_the_oldest_counts_and_each_needs_a_date() {
        assert_eq!(wrong_age("", "6h", NOW).unwrap(), "source-undated: it has `max_age`, but no date of its own");
        let of_two = |date| Export { files: vec!["a".into(), "b".into()], ..dated(date, "6h") };
        let cause = |export| test_age(&export, NOW.parse().unwrap()).unwrap().cause;
        assert_eq!(cause(of_two("")), "it has `max_age`, but not every file of it has a date of its own");
        assert!(cause(of_two("2026-11-19T19:00:00Z")).starts_with("its oldest file is 7h old"));
    }

    #[test]
    fn nothing_is_asked_where_nothing_is_demanded() {
        let mut inventory = inventory();
        inventory.exports.iter_mut().for_each(|export| export.spec.demands = ExportDemands::default());
        assert!(test_exports(&mut inventory, "2036-11-20T02:00:00Z".parse().unwrap()).is_empty());
        assert!(test_exports(&mut inventory, "2006-11-20T02:00:00Z".parse().unwrap()).is_empty());
        assert!(inventory.sources().all(|(_, trust)| *trust == Trust::Known));
    }

    #[test]
    fn where_nothing_is_said_a_dated_export_may_be_three_days_old() {
        let told = |date: &str| {
            let max_age = export("l3_tors").spec.demands.max_age;
            let mut export = dated(date, "0s");
            export.spec.demands.max_age = max_age;
            test_age(&export, NOW.parse().unwrap()).map(|failure| (failure.cause, failure.hint))
        };
        assert_eq!(told("2026-11-17T02:00:00Z"), None);
        let (cause, hint) = told("2026-11-17T01:00:00Z").unwrap();
        assert_eq!(cause, "it is 3d1h old (generated 2026-11-17T01:00:00Z); `max_age` allows 3d (the default)");
        assert!(hint.contains("set `max_age`"), "{hint}");
        assert_eq!(told(""), None, "an export without a date");
        assert_eq!(told("2026-11-21T02:00:00Z"), None, "a date after the clock");
        assert_eq!(export("agent").spec.demands.max_age, None, "reports have dates of their own");
    }

    #[test]
    fn all_that_fails_is_told_and_the_first_is_the_reason() {
        let mut inventory = inventory();
        for export in &mut inventory.exports {
            export.spec.demands.min_rows = Some(3);
        }
        inventory.exports.iter_mut().find(|export| export.spec.key == "l3_tors").unwrap().spec.demands.max_age =
            Some(MaxAge { age: Duration::from_secs(1800), is_default: false });
        let mut found = test_exports(&mut inventory, NOW.parse().unwrap());
        found.settle();
        insta::assert_snapshot!(render(&found, &inventory.files), @r#"
    racktables/l3-tors.txt: error[source-too-old]: source `l3_tors`: it is 1h old (generated 2026-11-20T01:00:00Z); `max_age` allows 30m
        = rule: with `max_age` an export must say when it was made, and must not be older (zonewright help source-too-old)
        = hint: export again, or find out why the export job stopped
    racktables/l3-tors.txt: error[too-few-rows]: source `l3_tors`: it has 2 rows, and `min_rows` is 3
        = rule: an export must have at least `min_rows` rows (zonewright help too-few-rows)
        = hint: export again; or, if so few rows are correct, lower `min_rows` in zonewright.toml
    racktables/net-layout.xml: error[too-few-rows]: source `net_layout`: it has 2 rows, and `min_rows` is 3
        = rule: an export must have at least `min_rows` rows (zonewright help too-few-rows)
        = hint: export again; or, if so few rows are correct, lower `min_rows` in zonewright.toml
    racktables/ipv4-map.txt: error[too-few-rows]: source `ipv4_map`: it has 1 row, and `min_rows` is 3
        = rule: an export must have at least `min_rows` rows (zonewright help too-few-rows)
        = hint: export again; or, if so few rows are correct, lower `min_rows` in zonewright.toml
    agents/eine.jsonl: error[too-few-rows]: source `eine`: it has 1 row, and `min_rows` is 3
        = rule: an export must have at least `min_rows` rows (zonewright help too-few-rows)
        = hint: export again; or, if so few rows are correct, lower `min_rows` in zonewright.toml
    "#);
        let reason = "source `l3_tors`: it is 1h old (generated 2026-11-20T01:00:00Z); `max_age` allows 30m".to_owned();
        assert_eq!(inventory.trust.l3_tors, Trust::Distrusted { reason });
        let doubted: Vec<&str> = inventory.sources().filter_map(|(name, trust)| trust.doubt().map(|_| name)).collect();
        assert_eq!(doubted, ["l3_tors", "net_layout", "ipv4_map", "eine"]);
    }

    #[test]
    fn what_could_not_be_read_whole_is_not_tested() {
        let mut inventory = inventory();
        let unknown = Trust::Unknown { reason: "source `hosts`: it was cut".into() };
        inventory.trust.hosts = unknown.clone();
        for export in &mut inventory.exports {
            export.spec.demands.min_rows = (export.spec.key == "hosts").then_some(1000);
        }
        assert!(test_exports(&mut inventory, NOW.parse().unwrap()).is_empty());
        assert_eq!(inventory.trust.hosts, unknown);
    }
}
