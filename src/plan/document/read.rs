//! Document to plan. What is wrong is refused with its line and column; nothing is corrected in silence.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::de;
use serde::{Deserialize, Deserializer};

use super::FORMAT;
use super::digest::HexDigest;
use crate::change::AffectedHost;
use crate::diff::statements::RrsetStatement;
use crate::disk::DigestText;
use crate::dns::{RrKey, ZoneName};
use crate::document::{Object, map, object, objects, present, present_object, some_objects};
use crate::inventory::value::{Duration, Inv, Time};
use crate::plan::{
    BlockedSubject, Change, DelayedRrset, GroupSeen, GroupWaves, HostSeen, LeftBehindRrset, LimitKind, LimitState,
    Notice, Plan, PlanScope, PodSeen, Review, SealedPlan, SkippedSubject, SourceSeen, WaitingSubject, WorkspaceSeen,
    ZoneChange, ZoneSeen, order,
};
use crate::target::PoolName;

/// Why a text is no plan that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanReadError {
    /// A plan of another format.
    Format {
        /// What `format` says.
        found: String,
    },
    /// No JSON, or JSON with a field, type or value that the format does not have.
    Malformed {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Values that are right each by itself, but not together.
    Inconsistent(String),
    /// The digests do not fit what the plan says.
    Altered(AlteredPart),
}

/// What of a plan was altered after it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlteredPart {
    /// The changes, or their digest.
    Effect,
    /// Anything else, or the digest of it all.
    Id,
}

impl PlanReadError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            PlanReadError::Format { .. } => "plan-format",
            PlanReadError::Malformed { .. } | PlanReadError::Inconsistent(_) => "plan-malformed",
            PlanReadError::Altered(_) => "plan-altered",
        }
    }
}

impl fmt::Display for PlanReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanReadError::Format { found } => {
                write!(f, "its format is `{found}`, and this version reads `{FORMAT}` only: make the plan again")
            }
            PlanReadError::Malformed { line, column, message } => write!(f, "line {line}, column {column}: {message}"),
            PlanReadError::Inconsistent(message) => f.write_str(message),
            PlanReadError::Altered(AlteredPart::Effect) => {
                f.write_str("it was altered: its changes do not match its `effect`")
            }
            PlanReadError::Altered(AlteredPart::Id) => {
                f.write_str("it was altered: its content does not match its `id`, but its changes match its `effect`")
            }
        }
    }
}

impl std::error::Error for PlanReadError {}

/// Reads a plan and checks all of it: format, types, order, and both digests.
///
/// Errors: [`PlanReadError`], the first that is found.
pub fn parse(text: &str) -> Result<SealedPlan, PlanReadError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let document: Result<DocumentFields, serde_json::Error> =
        object(&mut json).and_then(|document| json.end().map(|()| document));
    let document = document.map_err(|error| format_error(text).unwrap_or(malformed(error)))?;
    let (id, effect) = (document.id.0, document.effect.0);
    let plan = Plan {
        tool: document.tool,
        created: document.created,
        expires: document.expires,
        workspace: document.workspace,
        undoes: document.undoes.map(NonZeroU64::get),
        only: document.only,
        inputs: document.inputs.into_iter().map(|(file, HexDigest(digits))| (file, digits)).collect(),
        fleet: document.fleet,
        hosts: document.hosts,
        affected: document.affected,
        changes: document.changes,
        review: document.review,
        stated: document.stated,
        groups: document.groups,
        pods: document.pods,
        delayed: document.delayed,
        waiting: document.waiting,
        waves: document.waves,
        left_behind: document.left_behind,
        blocked: document.blocked,
        skipped: document.skipped,
        notices: document.notices,
        limits: document.limits,
        sources: document.sources,
        zone_changes: document.zone_changes,
        zones: document.zones,
    };
    check(&plan)?;
    let sealed = SealedPlan::new(plan);
    if sealed.effect() != DigestText(&effect).to_string() {
        return Err(PlanReadError::Altered(AlteredPart::Effect));
    }
    if sealed.id() != DigestText(&id).to_string() {
        return Err(PlanReadError::Altered(AlteredPart::Id));
    }
    Ok(sealed)
}

/// The error for a document of another format, whatever else it holds.
fn format_error(text: &str) -> Option<PlanReadError> {
    /// The one field that every version has.
    #[derive(Deserialize)]
    struct Head {
        /// The format and its version.
        format: String,
    }
    let head: Head = serde_json::from_str(text).ok()?;
    (head.format != FORMAT).then_some(PlanReadError::Format { found: head.format })
}

/// An error of the JSON reader, with its place.
fn malformed(error: serde_json::Error) -> PlanReadError {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let what = if error.is_data() { "" } else { "this is not JSON: " };
    PlanReadError::Malformed { line, column, message: format!("{what}{message}") }
}

/// Checks what values say together: each list is sorted and says nothing twice, and periods are of what is counted.
fn check(plan: &Plan) -> Result<(), PlanReadError> {
    let reasons = |change: &&Change| {
        !change.reasons.is_empty() && change.reasons.is_sorted_by(|a, b| order::reasons(a, b) == Ordering::Less)
    };
    if let Some(Change { key, .. }) = plan.changes.iter().find(|change| !reasons(change)) {
        let message = "is not a sorted list of reasons, at least one, each once";
        return Err(PlanReadError::Inconsistent(format!("`reasons` of `{}` {} {message}", key.owner, key.rtype)));
    }
    if let Some(only) = &plan.only
        && !(only.subjects.is_sorted_by(|a, b| a < b)
            && only.projects.is_sorted_by(|a, b| a < b)
            && only.patterns.is_sorted_by(|a, b| a < b))
    {
        return Err(PlanReadError::Inconsistent(
            "`only` names subjects or projects that are not sorted, or one twice".to_owned(),
        ));
    }
    if plan.only.as_ref().is_some_and(|only| !only.picks_subjects() && only.projects.is_empty()) {
        return Err(PlanReadError::Inconsistent("`only` names neither subjects nor projects".to_owned()));
    }
    let has_period = |limit: &&LimitState| match limit.counts {
        LimitKind::Hosts => Duration::from_str(&limit.period).is_ok(),
        _ => limit.period == "plan",
    };
    if let Some(LimitState { period, .. }) = plan.limits.iter().find(|limit| !has_period(limit)) {
        return Err(PlanReadError::Inconsistent(format!("`{period}` is not a length of time such as `1h`")));
    }
    ascending("changes", &plan.changes, order::changes)?;
    ascending("affected", &plan.affected, Ord::cmp)?;
    ascending("stated", &plan.stated, Ord::cmp)?;
    ascending("delayed", &plan.delayed, order::delayed)?;
    ascending("groups", &plan.groups, |a, b| a.group.cmp(&b.group))?;
    ascending("pods", &plan.pods, |a, b| a.subject.cmp(&b.subject))?;
    ascending("waiting", &plan.waiting, |a, b| a.subject.cmp(&b.subject))?;
    ascending("waves", &plan.waves, |a, b| a.group.cmp(&b.group))?;
    ascending("left_behind", &plan.left_behind, order::left_behind)?;
    ascending("blocked", &plan.blocked, order::blocked)?;
    ascending("skipped", &plan.skipped, order::skipped)?;
    ascending("notices", &plan.notices, order::notices)?;
    ascending("limits", &plan.limits, order::limits)?;
    ascending("sources", &plan.sources, order::sources)?;
    ascending("zone_changes", &plan.zone_changes, order::zone_changes)?;
    ascending("zones", &plan.zones, order::zones)?;
    if plan.review.as_ref().is_some_and(|review| !review.is_whole(plan.changes.len())) {
        let message = "`review` does not have each change once, or its causes are not in order";
        return Err(PlanReadError::Inconsistent(message.to_owned()));
    }
    match twice(&plan.changes) {
        Some(Change { key, .. }) => {
            Err(PlanReadError::Inconsistent(format!("`changes` holds `{}` {} twice", key.owner, key.rtype)))
        }
        None => Ok(()),
    }
}

/// The first change of an RRset that an earlier one changes at the same target.
fn twice(changes: &[Change]) -> Option<&Change> {
    let mut seen: HashMap<(&PoolName, &ZoneName, &RrKey), Vec<&Change>> = HashMap::with_capacity(changes.len());
    changes.iter().find(|change| {
        let others = seen.entry((&change.pool, &change.zone, &change.key)).or_default();
        let is_twice = others.iter().any(|other| {
            // One that names no target is for all of them.
            other.targets.is_empty() || change.targets.iter().any(|target| other.is_at(target))
        });
        let is_twice = is_twice || change.targets.is_empty() && !others.is_empty();
        others.push(change);
        is_twice
    })
}

/// Checks that the items of one list ascend.
fn ascending<T>(list: &str, items: &[T], compare: fn(&T, &T) -> Ordering) -> Result<(), PlanReadError> {
    let at = items.windows(2).position(|pair| compare(&pair[0], &pair[1]) != Ordering::Less);
    match at {
        Some(at) => Err(PlanReadError::Inconsistent(format!(
            "`{list}` is not sorted, or holds something twice: see its items {} and {}",
            at + 1,
            at + 2
        ))),
        None => Ok(()),
    }
}

/// The document as JSON has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentFields {
    /// The hosts whose names lose an address by changes that are not theirs; left out where there are none.
    #[serde(default, deserialize_with = "some_objects")]
    affected: Vec<AffectedHost>,
    /// The blocked subjects.
    #[serde(deserialize_with = "objects")]
    blocked: Vec<BlockedSubject>,
    /// The changes.
    #[serde(deserialize_with = "objects")]
    changes: Vec<Change>,
    /// When it was made.
    created: Time,
    /// The RRsets that wait before they are deleted; left out where there are none.
    #[serde(default, deserialize_with = "some_objects")]
    delayed: Vec<DelayedRrset>,
    /// The digest of the changes.
    effect: HexDigest,
    /// When it may no longer be applied.
    expires: Time,
    /// How many hosts the inventory has; left out where an apply is undone.
    #[serde(default, deserialize_with = "present")]
    fleet: Option<u64>,
    /// The format and its version.
    #[serde(rename = "format", deserialize_with = "format")]
    _format: (),
    /// The groups that have a budget; left out where there are none.
    #[serde(default, deserialize_with = "some_objects")]
    groups: Vec<GroupSeen>,
    /// The hosts that the plan names; left out where there are none.
    #[serde(default, deserialize_with = "hosts")]
    hosts: BTreeMap<Inv, HostSeen>,
    /// The digest of the document.
    id: HexDigest,
    /// The digest of every input file.
    #[serde(deserialize_with = "map")]
    inputs: BTreeMap<String, HexDigest>,
    /// The own RRsets of names that no host has; left out where there are none.
    #[serde(default, deserialize_with = "some_objects")]
    left_behind: Vec<LeftBehindRrset>,
    /// The limits.
    #[serde(deserialize_with = "objects")]
    limits: Vec<LimitState>,
    /// The notices.
    #[serde(deserialize_with = "objects")]
    notices: Vec<Notice>,
    /// What it was narrowed to; left out where it is about the whole fleet.
    #[serde(default, deserialize_with = "present_object")]
    only: Option<PlanScope>,
    /// The pods that it is about; left out where there are none.
    #[serde(default, deserialize_with = "some_objects")]
    pods: Vec<PodSeen>,
    /// The causes of the changes; left out where there are none.
    #[serde(default, deserialize_with = "present_object")]
    review: Option<Review>,
    /// The skipped subjects.
    #[serde(deserialize_with = "objects")]
    skipped: Vec<SkippedSubject>,
    /// The exports; left out where there are none.
    #[serde(default, deserialize_with = "some_objects")]
    sources: Vec<SourceSeen>,
    /// What files state that an apply notes; left out where there is nothing.
    #[serde(default, deserialize_with = "some_objects")]
    stated: Vec<RrsetStatement>,
    /// The program that made it.
    tool: String,
    /// The apply that it undoes; left out where there is none.
    #[serde(default, deserialize_with = "present")]
    undoes: Option<NonZeroU64>,
    /// The subjects that wait for a wave, sorted by subject.
    #[serde(deserialize_with = "objects")]
    waiting: Vec<WaitingSubject>,
    /// How the groups go in waves, sorted by group.
    #[serde(deserialize_with = "objects")]
    waves: Vec<GroupWaves>,
    /// The workspace that it is for.
    #[serde(deserialize_with = "object")]
    workspace: WorkspaceSeen,
    /// The zones that are made, listed or deleted; left out where there are none.
    #[serde(default, deserialize_with = "some_objects")]
    zone_changes: Vec<ZoneChange>,
    /// The zones.
    #[serde(deserialize_with = "objects")]
    zones: Vec<ZoneSeen>,
}

/// Reads the name of this format; nothing else can be read as one.
fn format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match &*Cow::<'_, str>::deserialize(deserializer)? {
        FORMAT => Ok(()),
        other => Err(de::Error::custom(format_args!("`{other}` is not `{FORMAT}`"))),
    }
}

/// Reads hosts by number.
fn hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Inv, HostSeen>, D::Error> {
    let hosts: BTreeMap<Inv, Object<HostSeen>> = map(deserializer)?;
    if hosts.is_empty() {
        return Err(de::Error::custom("an object without members is left out here"));
    }
    Ok(hosts.into_iter().map(|(inv, Object(host))| (inv, host)).collect())
}
