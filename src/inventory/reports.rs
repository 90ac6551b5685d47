//! MAC reports of all sources, in the order of hosts.
//!
//! Comes in: runs of reports, each of a piece of a file. Goes out: one list by inventory number, of one number by source and
//! place. What agents write is most often in order, so that a few lists need only be merged, and each report is moved once.

use super::model::MacReport;
use super::value::Inv;
use crate::diag::Origin;

/// How many lists are merged at a time; more are sorted.
const AT_ONCE: usize = 16;

/// What reports are ordered by.
type ReportKey = (Inv, u16, Origin);

/// The key of a report.
fn key(report: &MacReport) -> ReportKey {
    (report.inv, report.source, report.origin)
}

/// Puts reports in order.
pub fn in_order(runs: Vec<Vec<MacReport>>) -> Vec<MacReport> {
    let count = runs.iter().map(Vec::len).sum();
    let mut lists: Vec<Vec<Vec<MacReport>>> = Vec::new();
    for mut run in runs.into_iter().filter(|run| !run.is_empty()) {
        run.sort_by_key(key);
        let last = |list: &Vec<Vec<MacReport>>| list.last().and_then(|run| run.last()).map(key);
        match lists.last_mut() {
            // The next piece of a file goes on where the one before it ends.
            Some(list) if last(list) <= run.first().map(key) => list.push(run),
            _ => lists.push(vec![run]),
        }
    }
    let mut all = Vec::with_capacity(count);
    if lists.len() > AT_ONCE {
        all.extend(lists.into_iter().flatten().flatten());
        all.sort_by_key(key);
        return all;
    }
    let mut lists: Vec<_> = lists.into_iter().map(|list| list.into_iter().flatten().peekable()).collect();
    let mut heads: Vec<Option<ReportKey>> = lists.iter_mut().map(|list| list.peek().map(key)).collect();
    loop {
        let open = heads.iter().enumerate().filter_map(|(place, head)| Some((place, (*head)?)));
        let Some((least, _)) = open.min_by_key(|(_, head)| *head) else { return all };
        all.extend(lists[least].next());
        heads[least] = lists[least].peek().map(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::model::Sighting;
    use crate::inventory::value::Time;

    #[test]
    fn runs_in_any_order_become_one_list_in_order() {
        let file = Files::default().add("agents");
        let time: Time = "2026-11-20T12:00:00Z".parse().unwrap();
        let mut seed = 7_u64;
        let mut below = |end: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % end
        };
        // A few lists are merged, many are sorted; most runs are in order, some go on where the last one ended.
        for runs in [0, 1, 2, 5, AT_ONCE as u64, AT_ONCE as u64 + 1, 60] {
            let mut made: Vec<Vec<MacReport>> = Vec::new();
            for number in 0..runs {
                let mut inv = below(3) * 100;
                let (is_ordered, length) = (below(4) > 0, below(40));
                let report = |line| {
                    inv = if is_ordered { inv + below(3) } else { below(300) };
                    let origin = Origin::line(file, (number * 100 + line) as u32 + 1);
                    MacReport { inv: Inv(inv), time, sighting: Sighting::Bad, source: below(2) as u16, origin }
                };
                made.push((0..length).map(report).collect());
            }
            let mut expected: Vec<ReportKey> = made.iter().flatten().map(key).collect();
            expected.sort();
            assert_eq!(in_order(made).iter().map(key).collect::<Vec<_>>(), expected, "{runs}");
        }
    }
}
