//! A plan as a unified diff of each zone in presentation format.
//!
//! A plan has only the changes of a zone: the two texts that are compared are the RRsets that change, before and after,
//! one record a line. Each owner name is a hunk. `patch` and `git apply` take the diff without guessing where a hunk
//! belongs.

mod hunk;

use std::collections::{BTreeMap, BTreeSet};

use self::hunk::Hunk;
use super::copies::mark;
use super::outages::said_once;
use super::outlook::{PlanOutlook, PlanVerdict};
use super::paint::Paint;
use super::scope::scope;
use super::text::TextOptions;
use crate::diag::sanitize;
use crate::dns::NameRef;
use crate::guard::words;
use crate::plan::{Change, Notice, NoticeCode, Plan, SealedPlan};
use crate::target::PoolName;

/// Renders a plan; empty where there is nothing to change and nothing wrong.
///
/// Lines before the first file say what keeps the plan from being applied, or from being whole. Programs that read
/// diffs ignore these lines.
pub fn render(sealed: &SealedPlan, outlook: &PlanOutlook, options: &TextOptions) -> String {
    let plan = sealed.plan();
    let paint = Paint::new(options.color);
    let mut out = String::new();
    for remark in remarks(plan, outlook) {
        out.push_str(&paint.marked(&paint.alarm, &format!("# {}", sanitize(&remark)), &[]));
        out.push('\n');
    }
    // What is for some targets alone is a file of its own: one RRset may change in other ways elsewhere.
    let mut files: BTreeMap<(String, &PoolName, String), Vec<&Change>> = BTreeMap::new();
    for change in &plan.changes {
        files.entry((change.zone.to_string(), &change.pool, mark(&change.targets))).or_default().push(change);
    }
    for ((zone, _, at), changes) in files {
        let (name, serial) = (format!("{zone}{at}"), serial(plan, changes[0]));
        for head in [format!("--- {name}\t{serial}"), format!("+++ {name}\tplanned")] {
            out.push_str(&paint.marked(&paint.head, &head, &[]));
            out.push('\n');
        }
        self::zone(&mut out, changes, &paint);
    }
    out
}

/// As of which serial the copies were read that a change is for: `live` where they have none in common.
fn serial(plan: &Plan, change: &Change) -> String {
    let copies = plan
        .zones
        .iter()
        .filter(|seen| (&seen.zone, &seen.pool) == (&change.zone, &change.pool) && change.is_at(&seen.target));
    let serials: BTreeSet<u32> = copies.filter_map(|seen| seen.serial).collect();
    match serials.first() {
        Some(serial) if serials.len() == 1 => format!("serial {serial}"),
        _ => "live".to_owned(),
    }
}

/// Writes the hunks of a zone, in the order of names that DNSSEC has (RFC 4034 section 6.1), so that reverse names are
/// sorted by address.
fn zone(out: &mut String, mut changes: Vec<&Change>, paint: &Paint) {
    changes.sort_by_cached_key(|change| (canonical(change.key.owner.as_name()), change.key.rtype.to_string()));
    let (mut old_at, mut new_at) = (1, 1);
    for of_owner in changes.chunk_by(|a, b| a.key.owner == b.key.owner) {
        let hunk = Hunk::new(of_owner);
        hunk.write(out, old_at, new_at, paint);
        let (old, new) = hunk.lengths();
        old_at += old;
        new_at += new;
    }
}

/// The labels of a name from right to left.
fn canonical(name: NameRef<'_>) -> Vec<&[u8]> {
    let mut labels: Vec<&[u8]> = name.labels().collect();
    labels.reverse();
    labels
}

/// What a reader must know who takes the diff for the plan.
fn remarks(plan: &Plan, outlook: &PlanOutlook) -> Vec<String> {
    let mut remarks = Vec::new();
    match &outlook.refusal {
        Some(refusal) => {
            remarks.push(format!("refused as it is: {}: {}", refusal.code, refusal.message));
            remarks.extend(refusal.hint.as_ref().map(|hint| format!("  hint: {hint}")));
        }
        None if PlanVerdict::of(plan, outlook) == PlanVerdict::Refused => {
            let exceeded = plan.limits.iter().filter(|limit| limit.exceeded);
            let told = |limit| [format!("refused as it is: {}", words::says(limit)), allowed(&words::allow(limit))];
            remarks.extend(exceeded.flat_map(told));
        }
        None => {}
    }
    let less = plan.notices.iter().filter(|notice| notice.code.tells_of_less());
    let less = said_once(less).into_iter().map(|(code, says)| format!("not complete: {code}: {says}"));
    remarks.extend(less);
    let of_zones = |notice: &&Notice| matches!(notice.code, NoticeCode::ZoneChange | NoticeCode::ZoneMissing);
    remarks.extend(plan.notices.iter().filter(of_zones).map(|notice| notice.message.clone()));
    remarks.extend(scope(plan, outlook));
    remarks
}

/// How a limit is lifted.
fn allowed(option: &str) -> String {
    format!("  `{option}` lets this plan through")
}

#[cfg(test)]
mod tests;
