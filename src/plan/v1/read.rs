//! Document to plan. What is wrong is refused with its line and column; nothing is corrected in silence.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::super::SealedPlan;
use super::super::order;
use super::super::{
    BlockCode, Blocked, Change, ChangeKind, HostSeen, LeftBehind, LimitKind, LimitSetting, LimitState, Notice,
    NoticeCode, Only, Plan, Reason, Review, Rule, SkipCode, Skipped, SourceSeen, Waiting, WorkspaceSeen, ZoneSeen,
};
use super::{DEFAULT, FORMAT, SHA256};
use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::inventory::model::Registry;
use crate::inventory::value::{Duration, Inv, Time};

mod review;

/// The types that a plan changes.
const TYPES: [Rtype; 3] = [Rtype::AAAA, Rtype::PTR, Rtype::TXT];

/// Why a text is no plan that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
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
    Altered(Altered),
}

/// What of a plan was altered after it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Altered {
    /// The changes, or their digest.
    Effect,
    /// Anything else, or the digest of it all.
    Id,
}

impl PlanError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            PlanError::Format { .. } => "plan-format",
            PlanError::Malformed { .. } | PlanError::Inconsistent(_) => "plan-malformed",
            PlanError::Altered(_) => "plan-altered",
        }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::Format { found } => {
                write!(f, "its format is `{found}`, and this version reads `{FORMAT}` only")
            }
            PlanError::Malformed { line, column, message } => write!(f, "line {line}, column {column}: {message}"),
            PlanError::Inconsistent(message) => f.write_str(message),
            PlanError::Altered(Altered::Effect) => f.write_str("it was altered: its changes do not match its `effect`"),
            PlanError::Altered(Altered::Id) => {
                f.write_str("it was altered: its content does not match its `id`, but its changes match its `effect`")
            }
        }
    }
}

impl std::error::Error for PlanError {}

/// Reads a plan and checks all of it: format, types, order, and both digests.
///
/// Errors: [`PlanError`], the first that is found.
pub fn parse(text: &str) -> Result<SealedPlan, PlanError> {
    let document: Object<Document> =
        serde_json::from_str(text).map_err(|error| format_error(text).unwrap_or(malformed(error)))?;
    let document = document.0;
    let (id, effect) = (document.id.0, document.effect.0);
    let plan = Plan {
        tool: document.tool,
        created: document.created.0,
        expires: document.expires.0,
        workspace: document.workspace.0,
        undoes: document.undoes.map(NonZeroU64::get),
        only: document.only.map(|only| only.0),
        inputs: document.inputs.0.into_iter().map(|(file, Digest(digits))| (file, digits)).collect(),
        fleet: document.fleet,
        hosts: document.hosts.0.into_iter().map(|(HostKey(inv), host)| (inv, host.0)).collect(),
        changes: document.changes.into_iter().map(|change| change.0).collect(),
        review: document.review.map(|review| review.0),
        waiting: document.waiting.into_iter().map(|waiting| waiting.0).collect(),
        left_behind: document.left_behind.into_iter().map(|left| left.0).collect(),
        blocked: document.blocked.into_iter().map(|blocked| blocked.0).collect(),
        skipped: document.skipped.into_iter().map(|skipped| skipped.0).collect(),
        notices: document.notices.into_iter().map(|notice| notice.0).collect(),
        limits: document.limits.into_iter().map(|limit| limit.0).collect(),
        sources: document.sources.into_iter().map(|source| source.0).collect(),
        zones: document.zones.into_iter().map(|zone| zone.0).collect(),
    };
    check_order(&plan)?;
    let sealed = SealedPlan::new(plan);
    if sealed.effect() != format!("{SHA256}{effect}") {
        return Err(PlanError::Altered(Altered::Effect));
    }
    if sealed.id() != format!("{SHA256}{id}") {
        return Err(PlanError::Altered(Altered::Id));
    }
    Ok(sealed)
}

/// The error for a document of another format, whatever else it holds.
fn format_error(text: &str) -> Option<PlanError> {
    /// The one field that every version has.
    #[derive(serde::Deserialize)]
    struct Head {
        /// The format and its version.
        format: String,
    }
    let head: Head = serde_json::from_str(text).ok()?;
    (head.format != FORMAT).then_some(PlanError::Format { found: head.format })
}

/// An error of the JSON reader, with its place.
fn malformed(error: serde_json::Error) -> PlanError {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let what = if error.is_data() { "" } else { "this is not JSON: " };
    PlanError::Malformed { line, column, message: format!("{what}{message}") }
}

/// Checks that every list is sorted and says nothing twice.
fn check_order(plan: &Plan) -> Result<(), PlanError> {
    ascending("changes", &plan.changes, order::changes)?;
    ascending("waiting", &plan.waiting, order::waiting)?;
    ascending("left_behind", &plan.left_behind, order::left_behind)?;
    ascending("blocked", &plan.blocked, order::blocked)?;
    ascending("skipped", &plan.skipped, order::skipped)?;
    ascending("notices", &plan.notices, order::notices)?;
    ascending("limits", &plan.limits, order::limits)?;
    ascending("sources", &plan.sources, order::sources)?;
    ascending("zones", &plan.zones, order::zones)?;
    if plan.review.as_ref().is_some_and(|review| !review.is_whole(plan.changes.len())) {
        let message = "`review` does not have each change once, or its causes are not in order";
        return Err(PlanError::Inconsistent(message.to_owned()));
    }
    let mut keys = HashSet::with_capacity(plan.changes.len());
    match plan.changes.iter().find(|change| !keys.insert((&change.zone, &change.key))) {
        Some(Change { key, .. }) => {
            Err(PlanError::Inconsistent(format!("`changes` holds `{}` {} twice", key.owner, key.rtype)))
        }
        None => Ok(()),
    }
}

/// Checks that the items of one list ascend.
fn ascending<T>(list: &str, items: &[T], compare: fn(&T, &T) -> Ordering) -> Result<(), PlanError> {
    let at = items.windows(2).position(|pair| compare(&pair[0], &pair[1]) != Ordering::Less);
    match at {
        Some(at) => Err(PlanError::Inconsistent(format!(
            "`{list}` is not sorted, or holds something twice: see its items {} and {}",
            at + 1,
            at + 2
        ))),
        None => Ok(()),
    }
}

/// The document as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// The format and its version.
    #[serde(rename = "format")]
    _format: Format,
    /// The digest of the document.
    id: Digest,
    /// The digest of the changes.
    effect: Digest,
    /// The program that made it.
    tool: String,
    /// When it was made.
    created: PlanTime,
    /// When it may no longer be applied.
    expires: PlanTime,
    /// The workspace that it is for.
    workspace: Checked<WorkspaceSeen>,
    /// The apply that it undoes; left out where there is none.
    #[serde(default, deserialize_with = "present")]
    undoes: Option<NonZeroU64>,
    /// What it was narrowed to; left out where it is about the whole fleet.
    #[serde(default, deserialize_with = "present")]
    only: Option<Checked<Only>>,
    /// The digest of every input file.
    inputs: EachOnce<String, Digest>,
    /// How many hosts the inventory has; left out where an apply is undone.
    #[serde(default, deserialize_with = "present")]
    fleet: Option<u64>,
    /// The hosts that the plan names; left out where there are none.
    #[serde(default)]
    hosts: EachOnce<HostKey, Checked<HostSeen>>,
    /// The changes.
    changes: Vec<Checked<Change>>,
    /// The causes of the changes; left out where there are none.
    #[serde(default, deserialize_with = "present")]
    review: Option<Checked<Review>>,
    /// The RRsets that wait; left out where there are none.
    #[serde(default)]
    waiting: Vec<Checked<Waiting>>,
    /// The own RRsets of names that no host has; left out where there are none.
    #[serde(default)]
    left_behind: Vec<Checked<LeftBehind>>,
    /// The blocked hosts.
    blocked: Vec<Checked<Blocked>>,
    /// The skipped hosts.
    skipped: Vec<Checked<Skipped>>,
    /// The notices.
    notices: Vec<Checked<Notice>>,
    /// The limits.
    limits: Vec<Checked<LimitState>>,
    /// The exports; left out where there are none.
    #[serde(default)]
    sources: Vec<Checked<SourceSeen>>,
    /// The zones.
    zones: Vec<Checked<ZoneSeen>>,
}

/// Text that borrows from the document where it holds no escapes.
#[derive(serde::Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// The name of this format; nothing else can be read as one.
struct Format;

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Format, D::Error> {
        match &*Text::deserialize(deserializer)?.0 {
            FORMAT => Ok(Format),
            other => Err(de::Error::custom(format_args!("`{other}` is not `{FORMAT}`"))),
        }
    }
}

/// A digest: 64 hexadecimal digits, without the prefix that it has in a document.
struct Digest(String);

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        let digits = text.strip_prefix(SHA256).filter(|digits| digits.len() == 64);
        match digits.filter(|digits| digits.bytes().all(|octet| matches!(octet, b'0'..=b'9' | b'a'..=b'f'))) {
            Some(digits) => Ok(Digest(digits.to_owned())),
            None => Err(de::Error::custom(format_args!("`{text}` is not `{SHA256}` and 64 hexadecimal digits"))),
        }
    }
}

/// A time, written as plans write it: no digest covers the text, so that any other was altered.
struct PlanTime(Time);

impl<'de> Deserialize<'de> for PlanTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PlanTime, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        let time: Option<Time> = text.parse().ok().filter(|time: &Time| time.to_string() == text);
        let wrong = || de::Error::custom(format_args!("`{text}` is not a time of RFC 3339 in UTC, in capital letters"));
        time.map(PlanTime).ok_or_else(wrong)
    }
}

/// An object of which each key is read; one that is there twice is an error, where a map of serde would keep the last.
struct EachOnce<K, V>(BTreeMap<K, V>);

impl<K, V> Default for EachOnce<K, V> {
    fn default() -> EachOnce<K, V> {
        EachOnce(BTreeMap::new())
    }
}

impl<'de, K: Deserialize<'de> + Ord + Clone + fmt::Display, V: Deserialize<'de>> Deserialize<'de> for EachOnce<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EachOnce<K, V>, D::Error> {
        deserializer.deserialize_map(EachOnceVisitor(PhantomData))
    }
}

/// Reads [`EachOnce`].
struct EachOnceVisitor<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord + Clone + fmt::Display, V: Deserialize<'de>> Visitor<'de>
    for EachOnceVisitor<K, V>
{
    type Value = EachOnce<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<EachOnce<K, V>, A::Error> {
        let mut found = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry::<K, V>()? {
            if found.insert(key.clone(), value).is_some() {
                return Err(de::Error::custom(format_args!("`{key}` is there twice")));
            }
        }
        Ok(EachOnce(found))
    }
}

/// A JSON object. What serde derives for a struct would take an array of its fields too.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// Reads [`Object`].
struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(Object)
    }
}

/// A value that was read as JSON has it, and then checked; so the JSON reader gives its errors a place.
struct Checked<T>(T);

/// A value as the document has it.
trait Documented: Sized {
    /// Its shape in JSON.
    type Shape<'de>: Deserialize<'de>;

    /// Checks what was read.
    fn check(shape: Self::Shape<'_>) -> Result<Self, String>;
}

impl<'de, T: Documented> Deserialize<'de> for Checked<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Checked<T>, D::Error> {
        let Object(shape) = Object::<T::Shape<'de>>::deserialize(deserializer)?;
        T::check(shape).map(Checked).map_err(de::Error::custom)
    }
}

/// Reads a field that must be there and may be null.
fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// Reads a field that may be left out and is never null.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A change as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeShape<'a> {
    /// The zone.
    #[serde(borrow)]
    zone: Text<'a>,
    /// The owner name.
    #[serde(borrow)]
    name: Text<'a>,
    /// The type.
    #[serde(borrow, rename = "type")]
    rtype: Text<'a>,
    /// The host.
    #[serde(deserialize_with = "nullable")]
    host: Option<u64>,
    /// The other hosts; left out where there are none.
    also: Option<Vec<u64>>,
    /// The project.
    project: String,
    /// The RRset before.
    #[serde(borrow, deserialize_with = "nullable")]
    before: Option<Object<RrsetShape<'a>>>,
    /// The RRset after.
    #[serde(borrow, deserialize_with = "nullable")]
    after: Option<Object<RrsetShape<'a>>>,
    /// Why.
    reasons: Vec<Checked<Reason>>,
}

/// An RRset as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RrsetShape<'a> {
    /// Seconds.
    ttl: u64,
    /// Presentation format.
    #[serde(borrow)]
    rdata: Vec<Text<'a>>,
}

impl Documented for Change {
    type Shape<'de> = ChangeShape<'de>;

    fn check(shape: ChangeShape<'_>) -> Result<Change, String> {
        let zone = ZoneName::new(parse_name(&shape.zone.0)?);
        let name = parse_name(&shape.name.0)?;
        let owner = zone.owner(name.as_name()).ok_or_else(|| format!("`{name}` is outside `{zone}`"))?;
        let rtype = TYPES.into_iter().find(|rtype| rtype.to_string() == shape.rtype.0);
        let rtype = rtype.ok_or_else(|| format!("plans do not change the type `{}`", shape.rtype.0))?;
        let before = shape.before.map(|rrset| parse_rrset(rtype, &rrset.0)).transpose()?;
        let after = shape.after.map(|rrset| parse_rrset(rtype, &rrset.0)).transpose()?;
        let kind = ChangeKind::between(before, after);
        let kind = kind.ok_or_else(|| "`before` and `after` are the same".to_owned())?;
        let host = shape.host.map(Inv);
        let also: Vec<Inv> = shape.also.iter().flatten().copied().map(Inv).collect();
        let superfluous = shape.also.is_some() && also.is_empty();
        if superfluous || !also.is_sorted_by(|a, b| a < b) || also.iter().any(|inv| Some(*inv) == host) {
            return Err("`also` is not a sorted list of other hosts, each once, left out where empty".to_owned());
        }
        let reasons: Vec<Reason> = shape.reasons.into_iter().map(|reason| reason.0).collect();
        if reasons.is_empty() || !reasons.is_sorted_by(|a, b| order::reasons(a, b) == Ordering::Less) {
            return Err("`reasons` is not a sorted list of reasons, at least one, each once".to_owned());
        }
        Ok(Change { zone, key: RrKey { owner, rtype }, host, also, project: shape.project, kind, reasons })
    }
}

/// Reads a name that is written as names are printed: else the document would have two spellings and one digest.
fn parse_name(text: &str) -> Result<Name, String> {
    let name = Name::parse(text).map_err(|error| format!("`{text}` is not a name: {error}"))?;
    if name.to_string() == text { Ok(name) } else { Err(format!("`{text}` should be written `{name}`")) }
}

/// Reads an RRset whose RDATA is sorted, each once, written as it is printed.
fn parse_rrset(rtype: Rtype, shape: &RrsetShape<'_>) -> Result<Rrset, String> {
    let ttl = Ttl::from_secs(shape.ttl).ok_or_else(|| format!("the TTL {} is above {}", shape.ttl, Ttl::MAX))?;
    let parse = |text: &Text<'_>| {
        let text = &*text.0;
        let rdata = Rdata::parse(rtype, text).ok_or_else(|| format!("`{text}` is not valid RDATA of type {rtype}"))?;
        let printed = rdata.as_rdata(rtype).to_string();
        if printed == text { Ok(rdata) } else { Err(format!("`{text}` should be written `{printed}`")) }
    };
    let rdata = shape.rdata.iter().map(parse).collect::<Result<Vec<Rdata>, String>>()?;
    if !shape.rdata.is_sorted_by(|a, b| a.0 < b.0) {
        return Err("`rdata` is not sorted, or holds something twice".to_owned());
    }
    Rrset::new(ttl, rdata).ok_or_else(|| "`rdata` is empty".to_owned())
}

/// Reads one of an enum's words.
fn parse_word<T>(word: &Text<'_>, parse: fn(&str) -> Option<T>, what: &str) -> Result<T, String> {
    parse(&word.0).ok_or_else(|| format!("`{}` is no {what}", word.0))
}

/// A reason as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ReasonShape<'a> {
    /// The rule.
    #[serde(borrow)]
    rule: Text<'a>,
    /// The host.
    #[serde(deserialize_with = "nullable")]
    host: Option<u64>,
    /// The places.
    evidence: Vec<String>,
}

impl Documented for Reason {
    type Shape<'de> = ReasonShape<'de>;

    fn check(shape: ReasonShape<'_>) -> Result<Reason, String> {
        let rule = parse_word(&shape.rule, Rule::parse, "rule")?;
        Ok(Reason { rule, host: shape.host.map(Inv), evidence: shape.evidence })
    }
}

/// The workspace of a plan as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkspaceShape<'a> {
    /// `owner`.
    owner: String,
    /// `registry`.
    #[serde(borrow)]
    registry: Text<'a>,
    /// The id, or null.
    #[serde(deserialize_with = "nullable")]
    id: Option<String>,
}

impl Documented for WorkspaceSeen {
    type Shape<'de> = WorkspaceShape<'de>;

    fn check(shape: WorkspaceShape<'_>) -> Result<WorkspaceSeen, String> {
        let registry = parse_word(&shape.registry, Registry::parse, "registry")?;
        Ok(WorkspaceSeen { owner: shape.owner, registry, id: shape.id })
    }
}

/// A blocked host as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockedShape<'a> {
    /// The host.
    host: u64,
    /// Its project.
    project: String,
    /// Why.
    #[serde(borrow)]
    code: Text<'a>,
    /// Why, in words.
    message: String,
    /// What to do.
    hint: String,
}

impl Documented for Blocked {
    type Shape<'de> = BlockedShape<'de>;

    fn check(shape: BlockedShape<'_>) -> Result<Blocked, String> {
        let code = parse_word(&shape.code, BlockCode::parse, "code of blocked hosts")?;
        let BlockedShape { host, project, message, hint, .. } = shape;
        Ok(Blocked { host: Inv(host), project, code, message, hint })
    }
}

/// What a plan was narrowed to as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OnlyShape {
    /// The hosts.
    hosts: Vec<u64>,
    /// The projects.
    projects: Vec<String>,
}

impl Documented for Only {
    type Shape<'de> = OnlyShape;

    fn check(shape: OnlyShape) -> Result<Only, String> {
        let OnlyShape { hosts, projects } = shape;
        if !hosts.is_sorted() || !projects.is_sorted() || (hosts.is_empty() && projects.is_empty()) {
            return Err("`only` names hosts or projects, sorted".to_owned());
        }
        Ok(Only { hosts: hosts.into_iter().map(Inv).collect(), projects })
    }
}

/// An RRset that waits as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitingShape<'a> {
    /// The zone.
    #[serde(borrow)]
    zone: Text<'a>,
    /// The owner name.
    #[serde(borrow)]
    name: Text<'a>,
    /// The type.
    #[serde(borrow, rename = "type")]
    rtype: Text<'a>,
    /// The host.
    #[serde(deserialize_with = "nullable")]
    host: Option<u64>,
    /// The project.
    project: String,
    /// The rule.
    #[serde(borrow)]
    rule: Text<'a>,
    /// When it was first wanted.
    #[serde(deserialize_with = "nullable")]
    since: Option<PlanTime>,
    /// When it may go.
    #[serde(deserialize_with = "nullable")]
    due: Option<PlanTime>,
}

impl Documented for Waiting {
    type Shape<'de> = WaitingShape<'de>;

    fn check(shape: WaitingShape<'_>) -> Result<Waiting, String> {
        let zone = ZoneName::new(parse_name(&shape.zone.0)?);
        let key = parse_key(&zone, &shape.name, &shape.rtype)?;
        let rule = parse_word(&shape.rule, Rule::parse, "rule")?;
        let (since, due) = (shape.since.map(|time| time.0), shape.due.map(|time| time.0));
        let (host, project) = (shape.host.map(Inv), shape.project);
        Ok(Waiting { zone, key, host, project, rule, since, due })
    }
}

/// The inventory number of a host, as a key of an object.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct HostKey(Inv);

impl fmt::Display for HostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for HostKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HostKey, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        let inv = text.parse().map_err(|()| de::Error::custom(format_args!("`{text}` is not an inventory number")))?;
        Ok(HostKey(inv))
    }
}

/// What the inventory says of a host, as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct HostShape {
    /// Its backbone name, or null.
    #[serde(deserialize_with = "nullable")]
    name: Option<String>,
    /// Its datacenter.
    location: String,
    /// Its switch, or null.
    #[serde(deserialize_with = "nullable")]
    switch: Option<String>,
    /// Its rack, or null.
    #[serde(deserialize_with = "nullable")]
    rack: Option<String>,
}

impl Documented for HostSeen {
    type Shape<'de> = HostShape;

    fn check(shape: HostShape) -> Result<HostSeen, String> {
        let HostShape { name, location, switch, rack } = shape;
        Ok(HostSeen { name, location, switch, rack })
    }
}

/// An own RRset of a name that no host has, as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftBehindShape<'a> {
    /// The zone.
    #[serde(borrow)]
    zone: Text<'a>,
    /// The owner name.
    #[serde(borrow)]
    name: Text<'a>,
    /// The type.
    #[serde(borrow, rename = "type")]
    rtype: Text<'a>,
    /// The name that no host has.
    #[serde(borrow)]
    of: Text<'a>,
    /// The host that had the name.
    #[serde(deserialize_with = "nullable")]
    host: Option<u64>,
    /// The project.
    #[serde(deserialize_with = "nullable")]
    project: Option<String>,
    /// The apply.
    #[serde(deserialize_with = "nullable")]
    apply: Option<u64>,
}

impl Documented for LeftBehind {
    type Shape<'de> = LeftBehindShape<'de>;

    fn check(shape: LeftBehindShape<'_>) -> Result<LeftBehind, String> {
        let zone = ZoneName::new(parse_name(&shape.zone.0)?);
        let key = parse_key(&zone, &shape.name, &shape.rtype)?;
        let name = parse_name(&shape.of.0)?;
        let (host, project, apply) = (shape.host.map(Inv), shape.project, shape.apply);
        Ok(LeftBehind { zone, key, name, host, project, apply })
    }
}

/// Reads the owner name and the type of an RRset in a zone.
fn parse_key(zone: &ZoneName, name: &Text<'_>, rtype: &Text<'_>) -> Result<RrKey, String> {
    let owner = parse_name(&name.0)?;
    let owner = zone.owner(owner.as_name()).ok_or_else(|| format!("`{owner}` is not in `{zone}`"))?;
    let rtype = rtype.0.parse().map_err(|_| format!("`{}` is not a type of records", rtype.0))?;
    Ok(RrKey { owner, rtype })
}

/// A skipped host as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct SkippedShape<'a> {
    /// The host.
    host: u64,
    /// Its project.
    project: String,
    /// Why.
    #[serde(borrow)]
    code: Text<'a>,
}

impl Documented for Skipped {
    type Shape<'de> = SkippedShape<'de>;

    fn check(shape: SkippedShape<'_>) -> Result<Skipped, String> {
        let code = parse_word(&shape.code, SkipCode::parse, "code of skipped hosts")?;
        Ok(Skipped { host: Inv(shape.host), project: shape.project, code })
    }
}

/// A notice as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoticeShape<'a> {
    /// What kind.
    #[serde(borrow)]
    code: Text<'a>,
    /// What it is about.
    name: String,
    /// The host.
    #[serde(deserialize_with = "nullable")]
    host: Option<u64>,
    /// In words.
    message: String,
}

impl Documented for Notice {
    type Shape<'de> = NoticeShape<'de>;

    fn check(shape: NoticeShape<'_>) -> Result<Notice, String> {
        let code = parse_word(&shape.code, NoticeCode::parse, "code of notices")?;
        Ok(Notice { code, name: shape.name, host: shape.host.map(Inv), message: shape.message })
    }
}

/// A limit as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitShape {
    /// What it limits.
    scope: String,
    /// The period.
    period: String,
    /// What it counts; hosts where nothing is said.
    #[serde(default)]
    counts: Option<String>,
    /// How many may.
    max: u64,
    /// How many did.
    used: u64,
    /// How many would.
    planned: u64,
    /// Whether that is too many.
    exceeded: bool,
    /// What the greatest number is a share of.
    #[serde(default)]
    of: Option<u64>,
    /// What causes most.
    #[serde(default)]
    cause: Option<String>,
    /// When it fits.
    #[serde(default)]
    frees: Option<PlanTime>,
    /// What sets it.
    #[serde(default)]
    setting: Option<String>,
    /// Where that is written.
    #[serde(default)]
    place: Option<String>,
}

impl Documented for LimitState {
    type Shape<'de> = LimitShape;

    fn check(shape: LimitShape) -> Result<LimitState, String> {
        let LimitShape { scope, period, counts, max, used, planned, exceeded, of, cause, frees, setting, place } =
            shape;
        let setting = match (setting, place) {
            (None, None) => None,
            (Some(word), None) if word == DEFAULT => Some(LimitSetting::Default),
            (Some(says), Some(place)) => Some(LimitSetting::Written { says, place }),
            (Some(_), None) | (None, Some(_)) => return Err("a limit has `setting` and `place`, or neither".to_owned()),
        };
        let counts = match counts {
            Some(word) => parse_word(&Text(word.into()), LimitKind::parse, "kind of limits")?,
            None => LimitKind::Hosts,
        };
        let is_period = if counts == LimitKind::Hosts { Duration::from_str(&period).is_ok() } else { period == "plan" };
        if !is_period {
            return Err(format!("`{period}` is not a length of time such as `1h`"));
        }
        let frees = frees.map(|frees| frees.0);
        Ok(LimitState { scope, period, counts, max, used, planned, exceeded, of, cause, frees, setting })
    }
}

/// An export as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceShape<'a> {
    /// The source.
    source: String,
    /// How many rows it has.
    rows: u64,
    /// When it was made.
    #[serde(deserialize_with = "nullable")]
    dated: Option<PlanTime>,
    /// How old it may be; left out where nothing is said.
    #[serde(borrow, default, deserialize_with = "present")]
    max_age: Option<Text<'a>>,
}

impl Documented for SourceSeen {
    type Shape<'de> = SourceShape<'de>;

    fn check(shape: SourceShape<'_>) -> Result<SourceSeen, String> {
        let SourceShape { source, rows, dated, max_age } = shape;
        let length = |text: Text<'_>| {
            let parsed = text.0.parse::<Duration>().ok().filter(|length| length.to_string() == text.0);
            parsed.ok_or_else(|| format!("`{}` is not a length of time as plans write it", text.0))
        };
        Ok(SourceSeen { source, rows, dated: dated.map(|time| time.0), max_age: max_age.map(length).transpose()? })
    }
}

/// A zone as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ZoneShape<'a> {
    /// The zone.
    #[serde(borrow)]
    zone: Text<'a>,
    /// The SOA's serial.
    serial: u32,
    /// How many RRsets.
    rrsets: u64,
    /// How many of them the rules manage.
    managed: u64,
    /// The digest of the content.
    digest: Digest,
}

impl Documented for ZoneSeen {
    type Shape<'de> = ZoneShape<'de>;

    fn check(shape: ZoneShape<'_>) -> Result<ZoneSeen, String> {
        let zone = ZoneName::new(parse_name(&shape.zone.0)?);
        let ZoneShape { serial, rrsets, managed, .. } = shape;
        Ok(ZoneSeen { zone, serial, rrsets, managed, digest: shape.digest.0 })
    }
}
