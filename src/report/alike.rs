//! Notices that say the same of many subjects, as one: a target that is down may be one for each host.

use std::collections::HashMap;

use super::host_label::short_subject;
use super::notice::says;
use super::summary::SubjectCounts;
use crate::plan::{Notice, NoticeCode, Plan};

/// How many subjects are named.
const FEW: usize = 5;

/// Notices that say the same.
#[derive(Debug)]
pub struct AlikeNotices {
    /// Their code.
    pub code: NoticeCode,
    /// What they say; not sanitized.
    pub says: String,
    /// How many they are.
    pub count: usize,
}

/// Whether notices of a code are about one target, so that many may say the same.
pub fn is_of_target(code: NoticeCode) -> bool {
    matches!(code, NoticeCode::TargetUnknown | NoticeCode::CopyBlocked)
}

/// Gathers notices in their order: those about one target that say the same of several subjects are one. Of a code those
/// about no subject come first, since they say why.
pub fn gather<'p>(plan: &Plan, notices: impl Iterator<Item = &'p Notice>) -> Vec<AlikeNotices> {
    let mut groups: Vec<Vec<&Notice>> = Vec::new();
    let mut last: HashMap<(NoticeCode, &str, &str), usize> = HashMap::new();
    for notice in notices {
        let key = (notice.code, notice.name.as_str(), notice.message.as_str());
        let known = last.get(&key).filter(|_| is_of_target(notice.code) && notice.subject.is_some());
        match known {
            Some(place) => groups[*place].push(notice),
            None => {
                last.insert(key, groups.len());
                groups.push(vec![notice]);
            }
        }
    }
    let rank = |group: &Vec<&Notice>| is_of_target(group[0].code) && group[0].subject.is_some();
    for of_code in groups.chunk_by_mut(|a, b| a[0].code == b[0].code) {
        of_code.sort_by_key(rank);
    }
    groups.iter().map(|group| of_group(plan, group)).collect()
}

/// What a group says.
fn of_group(plan: &Plan, group: &[&Notice]) -> AlikeNotices {
    let (code, count) = (group[0].code, group.len());
    let subjects: Vec<String> = group
        .iter()
        .filter_map(|notice| notice.subject.as_ref())
        .filter(|_| is_of_target(code))
        .map(|subject| short_subject(plan, subject))
        .collect();
    let named = subjects.iter().take(FEW).map(String::as_str).collect::<Vec<_>>().join(", ");
    let counted = SubjectCounts::of(group.iter().filter_map(|notice| notice.subject.as_ref())).in_words();
    let says = match (says(group[0]), subjects.len()) {
        (says, 0) => says,
        // Most messages name their subject.
        (says, 1) if says.contains(&named) => says,
        (says, 1) => format!("{says} ({named})"),
        (says, all) if all <= FEW => format!("{says}: {counted} ({named})"),
        (says, all) => format!("{says}: {counted} ({named} and {} more)", all - FEW),
    };
    AlikeNotices { code, says, count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Subject;
    use crate::inventory::value::Inv;
    use crate::plan::fixture;

    #[test]
    fn a_target_that_is_down_is_one_line() {
        let notice = |code, subject: Option<u64>, message: &str| Notice {
            code,
            name: "b".to_owned(),
            subject: subject.map(|inv| Subject::Host(Inv(inv))),
            message: message.to_owned(),
        };
        let mut notices: Vec<Notice> =
            (1..=7).map(|inv| notice(NoticeCode::TargetUnknown, Some(inv), "no change at `b`: zone unknown")).collect();
        notices.push(notice(NoticeCode::TargetUnknown, None, "`b` did not give a zone"));
        notices.push(notice(NoticeCode::CopyBlocked, Some(9), "no change at `b`: a CNAME"));
        let said = gather(&fixture::empty(), notices.iter());
        let says: Vec<&str> = said.iter().map(|said| said.says.as_str()).collect();
        insta::assert_snapshot!(says.join("\n"), @"
        `b` did not give a zone
        no change at `b`: zone unknown: 7 hosts (1, 2, 3, 4, 5 and 2 more)
        no change at `b`: a CNAME (9)
        ");
        assert_eq!(said.iter().map(|said| said.count).sum::<usize>(), 9);
    }
}
