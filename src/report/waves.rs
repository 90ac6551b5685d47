//! What is said of rollouts: how each group goes, and what waits.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::summary::{SubjectCounts, counted};
use super::words::ExplainedCode as _;
use crate::change::reach::takes_value;
use crate::claim::Subject;
use crate::inventory::value::{Duration, Time};
use crate::plan::{GroupWaves, Plan, WaitCode, WaitingSubject};
use crate::rollout::group_of;
use crate::state::GateAsked;

/// One line a group: how many subjects, in how many waves, and how long that takes.
pub fn group_lines(waves: &[GroupWaves]) -> Vec<String> {
    let line = |GroupWaves { group, seconds, subjects, waves }: &GroupWaves| {
        let go = if *subjects == 1 { "goes" } else { "go" };
        let all = format!("{group}: {subjects} {go} in {}", counted(*waves as usize, "wave"));
        match waves {
            0 | 1 => all,
            _ => format!("{all}, the last one in {} at the earliest", Duration::from_secs(*seconds)),
        }
    };
    waves.iter().map(line).collect()
}

/// One line a gate that was asked, or was to be.
pub fn gate_lines(gates: &[GateAsked]) -> Vec<String> {
    let line = |GateAsked { group, gate, outcome, said, .. }: &GateAsked| {
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        format!("{gate} of {group}: {outcome}{said}")
    };
    gates.iter().map(line).collect()
}

/// Whether a subject may go although nothing is done for it.
pub fn may_go_later(waiting: &WaitingSubject) -> bool {
    !matches!(waiting.code, WaitCode::DoesNotFit | WaitCode::Availability)
}

/// Whether a subject has no room as long as others are down or do not answer: to wait alone does not help.
pub fn needs_others(waiting: &WaitingSubject) -> bool {
    matches!(waiting.code, WaitCode::Budget | WaitCode::Location | WaitCode::Canary) && waiting.until.is_none()
}

/// The hosts and pods of groups that a plan takes live addresses from now, each once, in the order of the plan.
pub fn going_now(plan: &Plan) -> Vec<&Subject> {
    going_of_groups(plan).into_iter().map(|(_, subject)| subject).collect()
}

/// The same, each with its group.
fn going_of_groups(plan: &Plan) -> Vec<(&str, &Subject)> {
    let mut told: HashSet<&Subject> = plan.waiting.iter().map(|waiting| &waiting.subject).collect();
    let disruptive = plan.changes.iter().filter(|change| takes_value(change));
    let counted = disruptive
        .flat_map(|change| change.subjects().filter_map(move |subject| Some((group_of(change, subject)?, subject))));
    counted.filter(|(group, subject)| plan.group(group).is_some() && told.insert(subject)).collect()
}

/// How many hosts or pods of each group go now, and how many with later waves.
pub fn now_and_later(plan: &Plan) -> HashMap<&str, (usize, usize)> {
    let mut sizes: HashMap<&str, (usize, usize)> = HashMap::new();
    going_of_groups(plan).into_iter().for_each(|(group, _)| sizes.entry(group).or_default().0 += 1);
    for waiting in plan.waiting.iter().filter(|waiting| waiting.code != WaitCode::DoesNotFit) {
        let group = match &waiting.subject {
            Subject::Host(_) => &waiting.project,
            Subject::Pod(pod) => &*pod.set,
            // An SRV that lists pods is none of them.
            _ => continue,
        };
        sizes.entry(group).or_default().1 += 1;
    }
    sizes
}

/// The subjects that wait for one reason.
#[derive(Debug)]
pub struct WaitGroup<'w> {
    /// The reason.
    pub code: WaitCode,
    /// The subjects; never empty.
    pub subjects: Vec<&'w WaitingSubject>,
}

impl WaitGroup<'_> {
    /// The first line: how many, why, and from when on the first can go.
    pub fn headline(&self) -> String {
        let who = SubjectCounts::of(self.subjects.iter().map(|waiting| &waiting.subject)).in_words();
        let from = next_wave(self.subjects.iter().copied());
        let from = from.map(|from| format!("; the first can go from {from} on")).unwrap_or_default();
        format!("{}, {who}: {}{from}", self.code, self.code.words().brief)
    }

    /// What is said of them, each message once, in the order of subjects.
    fn messages(&self) -> Vec<&str> {
        let mut messages: Vec<&str> = Vec::new();
        for waiting in &self.subjects {
            if !messages.contains(&waiting.message.as_str()) {
                messages.push(&waiting.message);
            }
        }
        messages
    }

    /// The lines of these messages: as many as are shown of so many, and how many are not.
    pub fn lines(&self, shown: impl Fn(usize) -> usize) -> Vec<String> {
        let messages = self.messages();
        let shown = shown(messages.len());
        let more = (shown < messages.len()).then(|| format!("and {} more (-v lists all)", messages.len() - shown));
        messages[..shown].iter().map(|message| (*message).to_owned()).chain(more).collect()
    }
}

/// What waits, by reason.
pub fn by_reason(waiting: &[WaitingSubject]) -> Vec<WaitGroup<'_>> {
    let mut groups: BTreeMap<WaitCode, Vec<&WaitingSubject>> = BTreeMap::new();
    waiting.iter().for_each(|own| groups.entry(own.code).or_default().push(own));
    groups.into_iter().map(|(code, subjects)| WaitGroup { code, subjects }).collect()
}

/// When the next of these can go at the earliest.
pub fn next_wave<'w>(waiting: impl IntoIterator<Item = &'w WaitingSubject>) -> Option<Time> {
    waiting.into_iter().filter_map(|own| own.until).min()
}
