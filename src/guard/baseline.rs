//! What an export lost and changed since the one that was last accepted.
//!
//! Comes in: the inventory, and what is remembered of accepted exports. Goes out: the exports that lost or changed more than
//! they may, as findings and as doubts in the inventory.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Diagnostics};
use crate::inventory::Inventory;
use crate::inventory::value::{Percent, Time};

/// What a finding is about.
const RULE: &str = "an export that lost or changed too much since the last accepted one is not believed \
                    (docs/formats.md, trust)";

/// What is remembered of the accepted export of a source.
#[derive(Debug)]
pub struct Baseline {
    /// The place of the source's export in [`Inventory::exports`].
    pub place: usize,
    /// How many rows the accepted one had.
    pub rows: usize,
    /// When it was accepted.
    pub at: Time,
    /// What it said and what is said now, each under what it is said of; where `max_churn` asks for it.
    pub said: Option<(BTreeMap<String, String>, BTreeMap<String, String>)>,
}

/// Something that is said of one thing now, and was not before; or the other way round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Of what: `sas1-s12 604`.
    pub key: String,
    /// What was said.
    pub was: String,
    /// What is said now.
    pub is: String,
}

/// How what an export says differs from what another said; each sorted by what it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// What is said no longer.
    pub gone: Vec<String>,
    /// What was not said.
    pub new: Vec<String>,
    /// Of what something else is said.
    pub changed: Vec<Changed>,
}

/// Compares what was said with what is said now.
pub fn difference(was: &BTreeMap<String, String>, is: &BTreeMap<String, String>) -> Difference {
    let lacks = |own: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        own.keys().filter(|key| !other.contains_key(*key)).cloned().collect()
    };
    let changed = was.iter().filter_map(|(key, was)| {
        let is = is.get(key).filter(|is| *is != was)?;
        Some(Changed { key: key.clone(), was: was.clone(), is: is.clone() })
    });
    Difference { gone: lacks(was, is), new: lacks(is, was), changed: changed.collect() }
}

/// Tests exports against the accepted ones, and distrusts those that fail.
pub fn test(inventory: &mut Inventory, baselines: &[Baseline]) -> Diagnostics {
    let mut found = Diagnostics::default();
    for baseline in baselines {
        let export = &inventory.exports[baseline.place];
        let (demands, first) = (export.spec.demands, export.first);
        let shrunk = demands.max_shrink.and_then(|share| shrunk(baseline, export.rows, share));
        let churned = demands.max_churn.and_then(|share| churned(baseline, share));
        for (code, cause) in [("source-shrunk", shrunk), ("source-churned", churned)] {
            let (Some(cause), Some(first)) = (cause, first) else { continue };
            let name = &inventory.exports[baseline.place].spec.name;
            let reason = format!("source `{name}`: {cause}");
            let hint = format!("export it again; or, if it is right, `zonewright accept {name} --reason TEXT`");
            found.push(Diagnostic::file_error(code, first, reason.as_str()).rule(RULE).hint(hint));
            inventory.distrust(baseline.place, reason);
        }
    }
    found
}

/// What is wrong where more rows are gone than may be.
fn shrunk(baseline: &Baseline, rows: usize, share: Percent) -> Option<String> {
    let gone = baseline.rows.saturating_sub(rows);
    let are = if gone == 1 { "is" } else { "are" };
    let found = || {
        let Baseline { rows, at, .. } = baseline;
        format!("{gone} of {rows} rows {are} gone since the export accepted {at}, and `max_shrink` is {share}")
    };
    (gone > share.of(baseline.rows)).then(found)
}

/// What is wrong where more rows mean something else than may.
fn churned(baseline: &Baseline, share: Percent) -> Option<String> {
    let (was, is) = baseline.said.as_ref()?;
    let Difference { changed, .. } = difference(was, is);
    let example = changed.first()?;
    let mean = if changed.len() == 1 { "means" } else { "mean" };
    let found = || {
        let (count, Baseline { rows, at, .. }, Changed { key, was, is }) = (changed.len(), baseline, example);
        format!(
            "{count} of {rows} rows {mean} something else than in the export accepted {at}, and `max_churn` is {share}; \
             such as `{key}`: {is}, was {was}"
        )
    };
    (changed.len() > share.of(baseline.rows)).then(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts under what they are about.
    fn said(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, meaning)| ((*key).to_owned(), (*meaning).to_owned())).collect()
    }

    /// What is remembered of an export of so many rows.
    fn baseline(rows: usize) -> Baseline {
        let was = said(&[("a", "1"), ("b", "2"), ("c", "3"), ("gone", "4")]);
        let is = said(&[("a", "1"), ("b", "22"), ("c", "33"), ("new", "5")]);
        Baseline { place: 0, rows, at: "2026-11-19T02:00:00Z".parse().unwrap(), said: Some((was, is)) }
    }

    /// So many percent.
    fn percent(whole: u32) -> Percent {
        Percent::from_whole(whole)
    }

    #[test]
    fn as_many_rows_may_be_gone_as_the_share_says_and_no_more() {
        assert_eq!(shrunk(&baseline(400), 360, percent(10)), None);
        assert_eq!(
            shrunk(&baseline(400), 160, percent(10)).unwrap(),
            "240 of 400 rows are gone since the export accepted 2026-11-19T02:00:00Z, and `max_shrink` is 10%"
        );
        assert!(shrunk(&baseline(400), 359, percent(10)).is_some());
        assert!(shrunk(&baseline(9), 8, percent(10)).unwrap().starts_with("1 of 9 rows is gone"), "no row of a few");
        assert_eq!(shrunk(&baseline(400), 4000, percent(0)), None, "more is not less");
    }

    #[test]
    fn what_only_one_of_them_says_means_nothing_else() {
        assert_eq!(churned(&baseline(20), percent(10)), None);
        assert_eq!(
            churned(&baseline(19), percent(10)).unwrap(),
            "2 of 19 rows mean something else than in the export accepted 2026-11-19T02:00:00Z, and `max_churn` is 10%; \
             such as `b`: 22, was 2"
        );
        assert_eq!(churned(&Baseline { said: None, ..baseline(4) }, percent(0)), None);
        let (was, is) = baseline(0).said.unwrap();
        let Difference { gone, new, changed } = difference(&was, &is);
        assert_eq!((gone, new, changed.len()), (vec!["gone".to_owned()], vec!["new".to_owned()], 2));
    }
}
