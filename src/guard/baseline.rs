//! Tests what an export lost and changed since the last accepted one.
//!
//! Comes in: the inventory, and what the state has of accepted exports. Goes out: the exports that lost or changed more
//! than they may, as findings and as doubts in the inventory.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diagnostics};
use crate::inventory::Inventory;
use crate::inventory::model::Export;
use crate::inventory::source::{APPS, ExportTolerance, RECORD_LISTS};
use crate::inventory::value::Time;

/// What a finding is about.
const RULE: &str = "zonewright does not believe an export that lost or changed too much since the last accepted one";

/// What the state has of the accepted export of a source.
#[derive(Debug)]
pub struct Baseline {
    /// The place of the source's export in [`Inventory::exports`].
    pub place: usize,
    /// When the accepted one was accepted.
    pub at: Time,
    /// How many things it described.
    pub said: usize,
    /// How many bad rows it had.
    pub bad: usize,
    /// How the present export differs from it.
    pub difference: ExportDifference,
}

/// One thing about which the present export says something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedEntry {
    /// The thing: `sas1-s12 604`.
    pub key: String,
    /// What was said.
    pub was: String,
    /// What is said now.
    pub is: String,
}

/// How the content of an export differs from that of another; each list is sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportDifference {
    /// The things that are missing now.
    pub gone: Vec<String>,
    /// The things that are new.
    pub new: Vec<String>,
    /// The things about which the present export says something else.
    pub changed: Vec<ChangedEntry>,
}

/// Compares what was said with what is said now.
pub fn difference(was: &BTreeMap<String, String>, is: &BTreeMap<String, String>) -> ExportDifference {
    let lacks = |own: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        own.keys().filter(|key| !other.contains_key(*key)).cloned().collect()
    };
    let changed = was.iter().filter_map(|(key, was)| {
        let is = is.get(key).filter(|is| *is != was)?;
        Some(ChangedEntry { key: key.clone(), was: was.clone(), is: is.clone() })
    });
    ExportDifference { gone: lacks(was, is), new: lacks(is, was), changed: changed.collect() }
}

/// Tests exports against the accepted ones, and distrusts those that fail.
///
/// The things that an export describes are counted, not its lines: a host reports each hour, and a line that is there
/// twice counts once.
pub fn test(inventory: &mut Inventory, baselines: &[Baseline]) -> Diagnostics {
    let mut found = Diagnostics::default();
    for baseline in baselines {
        let export = &inventory.exports[baseline.place];
        let demands = export.spec.demands;
        let shrunk = demands.max_shrink.and_then(|allowed| shrunk(baseline, export, allowed));
        let churned = demands.max_churn.and_then(|allowed| churned(baseline, export, allowed));
        let (first, name) = (export.first, export.spec.name.clone());
        for (code, cause) in [("source-shrunk", shrunk), ("source-churned", churned)] {
            let (Some(cause), Some(first)) = (cause, first) else { continue };
            let reason = format!("source `{name}`: {cause}");
            let hint = match unread_file(inventory, &name) {
                Some(file) => format!("correct {file} first: it could not be read completely"),
                None => format!("export it again; or, if it is correct, `zonewright accept {name} --reason TEXT`"),
            };
            found.push(Diagnostic::file_error(code, first, reason.as_str()).rule(RULE).hint(hint));
            inventory.distrust(baseline.place, reason);
        }
    }
    found
}

/// The first file of a source of records that could not be read completely: what it stated is not gone.
fn unread_file<'i>(inventory: &'i Inventory, source: &str) -> Option<&'i str> {
    let source = inventory.stated.sources.iter().find(|own| &*own.name == source)?;
    let (file, _) = source.unread.first_key_value()?;
    Some(inventory.files.name(*file))
}

/// The things that an export describes, in words: rows, where each row is about another thing.
fn things(export: &Export) -> &'static str {
    match export.spec.key {
        "hosts" | "l3_tors" | "ipv4_map" => "rows",
        "addresses" => "interfaces",
        "net_layout" => "VLANs",
        "records" => "names",
        APPS => "apps and names",
        RECORD_LISTS => "entries of lists",
        "pods" => "pods",
        _ => "hosts",
    }
}

/// What is wrong where more things are missing than may be. A row that became bad may be about a missing thing, so that
/// each of these reduces the count by one. Those that were bad before are about nothing that the accepted export had.
fn shrunk(baseline: &Baseline, export: &Export, allowed: ExportTolerance) -> Option<String> {
    let Baseline { said, at, bad, difference: ExportDifference { gone, .. }, .. } = baseline;
    let count = gone.len().saturating_sub(export.bad.saturating_sub(*bad));
    let (things, are) = (things(export), if count == 1 { "is" } else { "are" });
    let found = || {
        format!("{count} of {said} {things} of the export accepted {at} {are} missing; `max_shrink` allows {allowed}")
    };
    (count > allowed.of(*said)).then(found)
}

/// What is wrong where more things changed than may.
fn churned(baseline: &Baseline, export: &Export, allowed: ExportTolerance) -> Option<String> {
    let Baseline { said, at, difference: ExportDifference { changed, .. }, .. } = baseline;
    let ChangedEntry { key, was, is } = changed.first()?;
    let (count, things) = (changed.len(), things(export));
    let differ = match (things, count) {
        ("hosts", 1) => "has another report",
        ("hosts", _) => "have other reports",
        (_, 1) => "has another meaning",
        _ => "have another meaning",
    };
    let found = || {
        format!(
            "{count} of {said} {things} {differ} than in the export accepted {at}; `max_churn` allows {allowed}; for \
             example `{key}`: {is}, was {was}"
        )
    };
    (count > allowed.of(*said)).then(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::inventory::load_workspace;
    use crate::inventory::source::ExportDemands;
    use crate::inventory::value::Percent;

    /// Texts under what they are about.
    fn said(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, meaning)| ((*key).to_owned(), (*meaning).to_owned())).collect()
    }

    /// The baseline of an export with so many things; the present export lost, added and changed some.
    fn baseline(count: usize) -> Baseline {
        let was = said(&[("a", "1"), ("b", "2"), ("c", "3"), ("gone", "4")]);
        let is = said(&[("a", "1"), ("b", "22"), ("c", "33"), ("new", "5")]);
        let difference = difference(&was, &is);
        Baseline { place: 0, at: "2026-11-19T02:00:00Z".parse().unwrap(), said: count, bad: 0, difference }
    }

    /// The same, where so many things are missing.
    fn lost(count: usize, gone: usize) -> Baseline {
        let gone = (0..gone).map(|number| number.to_string()).collect();
        Baseline { difference: ExportDifference { gone, ..ExportDifference::default() }, ..baseline(count) }
    }

    /// A small export of a source.
    fn export(name: &str) -> Export {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base");
        let loaded = load_workspace(&workspace, "2026-11-20T02:00:00Z".parse().unwrap(), &|_| {});
        let exports = loaded.inventory.expect("the base of the cases is a workspace").exports;
        exports.into_iter().find(|export| export.spec.name == name).unwrap()
    }

    /// So many percent.
    fn percent(whole: u32) -> ExportTolerance {
        ExportTolerance::exactly(Percent::from_whole(whole))
    }

    #[test]
    fn as_much_may_be_gone_as_the_share_says_and_no_more() {
        let hosts = export("hosts");
        assert_eq!(shrunk(&lost(400, 40), &hosts, percent(10)), None);
        assert_eq!(
            shrunk(&lost(400, 240), &hosts, percent(10)).unwrap(),
            "240 of 400 rows of the export accepted 2026-11-19T02:00:00Z are missing; `max_shrink` allows 10%"
        );
        assert!(shrunk(&lost(400, 41), &hosts, percent(10)).is_some());
        assert!(
            shrunk(&lost(9, 1), &hosts, percent(10)).unwrap().starts_with("1 of 9 rows of the export accepted"),
            "not of a few"
        );
        assert_eq!(shrunk(&lost(400, 0), &hosts, percent(0)), None);
        assert_eq!(shrunk(&lost(400, 400), &hosts, percent(100)), None, "that is how it is turned off");
        assert!(
            shrunk(&lost(9, 9), &export("agent"), percent(10))
                .unwrap()
                .starts_with("9 of 9 hosts of the export accepted")
        );
    }

    #[test]
    fn what_a_bad_row_is_about_is_not_gone() {
        let hosts = Export { bad: 2, ..export("hosts") };
        assert_eq!(shrunk(&lost(9, 2), &hosts, percent(0)), None);
        assert!(shrunk(&lost(9, 3), &hosts, percent(0)).unwrap().starts_with("1 of 9 rows of the export accepted"));
    }

    #[test]
    fn rows_that_were_bad_before_hide_no_loss() {
        let hosts = Export { bad: 2, ..export("hosts") };
        let lost = Baseline { bad: 2, ..lost(9, 2) };
        assert!(shrunk(&lost, &hosts, percent(0)).unwrap().starts_with("2 of 9 rows of the export accepted"));
        let more = Export { bad: 3, ..hosts };
        assert!(shrunk(&lost, &more, percent(0)).unwrap().starts_with("1 of 9 rows of the export accepted"));
    }

    #[test]
    fn where_nothing_is_said_a_rack_of_hosts_may_go_or_change_at_once() {
        let hosts = export("hosts");
        let allowed = ExportDemands::of("hosts").max_shrink.unwrap();
        assert_eq!(shrunk(&lost(111, 50), &hosts, allowed), None);
        assert!(
            shrunk(&lost(111, 51), &hosts, allowed)
                .unwrap()
                .ends_with("are missing; `max_shrink` allows 5%, or 50 (the default)")
        );
        assert_eq!(shrunk(&lost(10_000, 500), &hosts, allowed), None);
        assert!(shrunk(&lost(10_000, 501), &hosts, allowed).is_some());
        assert_eq!(ExportDemands::of("names_lock"), ExportDemands::default(), "people write it");
        assert_eq!(ExportDemands::of("mac").max_churn, Some(allowed));
    }

    #[test]
    fn what_only_one_of_them_says_means_nothing_else() {
        let hosts = export("hosts");
        assert_eq!(churned(&baseline(20), &hosts, percent(10)), None);
        assert_eq!(
            churned(&baseline(19), &hosts, percent(10)).unwrap(),
            "2 of 19 rows have another meaning than in the export accepted 2026-11-19T02:00:00Z; `max_churn` allows \
             10%; for example `b`: 22, was 2"
        );
        assert!(churned(&baseline(4), &export("net_layout"), percent(10)).unwrap().starts_with("2 of 4 VLANs have"));
        assert!(
            churned(&baseline(4), &export("agent"), percent(10))
                .unwrap()
                .starts_with("2 of 4 hosts have other reports")
        );
        let ExportDifference { gone, new, changed } = baseline(0).difference;
        assert_eq!((gone, new, changed.len()), (vec!["gone".to_owned()], vec!["new".to_owned()], 2));
    }
}
