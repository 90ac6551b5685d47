//! Plan to document.

use super::super::SealedPlan;
use super::super::json::{Emitter, Field, Layout, Value};
use super::super::{Against, Cause, Review};
use super::super::{
    Blocked, Change, HostSeen, LeftBehind, LimitKind, LimitSetting, LimitState, Notice, Only, Plan, Reason, Skipped,
    SourceSeen, Waiting, WorkspaceSeen, ZoneSeen,
};
use super::{DEFAULT, FORMAT, SHA256};
use crate::dns::{Rrset, Rtype};
use crate::inventory::value::Inv;

/// Writes a plan as its document: the same plan always gives the same text.
pub fn to_json(sealed: &SealedPlan) -> String {
    Emitter::file(|out| document(out, sealed.plan(), sealed.effect(), Part::Whole(sealed.id())))
}

/// The digest of the changes without their reasons. The plan must be sorted.
pub fn effect(plan: &Plan) -> String {
    hexadecimal(Emitter::digest(|out| changes(out, &plan.changes, Reasons::Left)))
}

/// The digest of the document without `id`, `created`, `expires` and the state's id. The plan must be sorted.
pub fn id(plan: &Plan, effect: &str) -> String {
    hexadecimal(Emitter::digest(|out| document(out, plan, effect, Part::Named)))
}

/// A digest as documents write it.
fn hexadecimal(digest: [u8; 32]) -> String {
    digest.iter().fold(SHA256.to_owned(), |text, octet| format!("{text}{octet:02x}"))
}

/// How much of the document is written.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// All of it, with this id.
    Whole(&'a str),
    /// What the id covers.
    Named,
}

/// Whether a change is written with its reasons.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reasons {
    /// With them.
    Written,
    /// Without.
    Left,
}

/// Writes the document.
fn document(out: &mut Emitter, plan: &Plan, effect: &str, part: Part<'_>) {
    let whole = |value| if let Part::Whole(_) = part { value } else { Value::Absent };
    let id = if let Part::Whole(id) = part { Value::Text(id) } else { Value::Absent };
    let narrowed = |out: &mut Emitter| plan.only.iter().for_each(|narrowed| only(out, narrowed));
    let reviewed = |out: &mut Emitter| plan.review.iter().for_each(|found| review(out, found));
    let exports = |out: &mut Emitter| out.list(Layout::Lines, &plan.sources, source);
    let waits = |out: &mut Emitter| out.list(Layout::Lines, &plan.waiting, waiting);
    let seen = |out: &mut Emitter| hosts(out, plan);
    // The state's id is left out of the digest, so that the same plan has one id wherever it is made. Any other id than
    // that of the state is refused by itself.
    let state_id = whole(plan.workspace.id.as_deref().map_or(Value::Null, Value::Text));
    let bound = |out: &mut Emitter| workspace(out, &plan.workspace, state_id);
    let left = |out: &mut Emitter| out.list(Layout::Lines, &plan.left_behind, left_behind);
    let fields: &mut [Field<'_>] = &mut [
        ("format", Value::Text(FORMAT)),
        ("id", id),
        ("effect", Value::Text(effect)),
        ("tool", Value::Text(&plan.tool)),
        ("created", whole(Value::Shown(&plan.created))),
        ("expires", whole(Value::Shown(&plan.expires))),
        ("workspace", Value::Written(&bound)),
        ("undoes", plan.undoes.map_or(Value::Absent, Value::Number)),
        ("only", plan.only.as_ref().map_or(Value::Absent, |_| Value::Written(&narrowed))),
        ("inputs", Value::Written(&|out| inputs(out, plan))),
        ("fleet", plan.fleet.map_or(Value::Absent, Value::Number)),
        ("hosts", if plan.hosts.is_empty() { Value::Absent } else { Value::Written(&seen) }),
        ("changes", Value::Written(&|out| changes(out, &plan.changes, Reasons::Written))),
        ("review", plan.review.as_ref().map_or(Value::Absent, |_| Value::Written(&reviewed))),
        ("waiting", if plan.waiting.is_empty() { Value::Absent } else { Value::Written(&waits) }),
        ("left_behind", if plan.left_behind.is_empty() { Value::Absent } else { Value::Written(&left) }),
        ("blocked", Value::Written(&|out| out.list(Layout::Lines, &plan.blocked, blocked))),
        ("skipped", Value::Written(&|out| out.list(Layout::Lines, &plan.skipped, skipped))),
        ("notices", Value::Written(&|out| out.list(Layout::Lines, &plan.notices, notice))),
        ("limits", Value::Written(&|out| out.list(Layout::Lines, &plan.limits, limit))),
        ("sources", if plan.sources.is_empty() { Value::Absent } else { Value::Written(&exports) }),
        ("zones", Value::Written(&|out| out.list(Layout::Lines, &plan.zones, zone))),
    ];
    out.object(Layout::Lines, fields);
}

/// Writes the workspace that a plan is for, with this id of its state.
fn workspace(out: &mut Emitter, workspace: &WorkspaceSeen, id: Value<'_>) {
    let fields: &mut [Field<'_>] = &mut [
        ("owner", Value::Text(&workspace.owner)),
        ("registry", Value::Text(workspace.registry.as_str())),
        ("id", id),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes the digests of the inputs by file name.
fn inputs(out: &mut Emitter, plan: &Plan) {
    let digests: Vec<(&str, String)> =
        plan.inputs.iter().map(|(file, digits)| (file.as_str(), format!("{SHA256}{digits}"))).collect();
    let mut fields: Vec<Field<'_>> = digests.iter().map(|(file, digest)| (*file, Value::Text(digest))).collect();
    out.object(Layout::Lines, &mut fields);
}

/// Writes what the inventory says of hosts, by number.
fn hosts(out: &mut Emitter, plan: &Plan) {
    let each = plan.hosts.iter().map(|(inv, host)| (inv.to_string(), move |out: &mut Emitter| host_seen(out, host)));
    let each: Vec<_> = each.collect();
    let mut fields: Vec<Field<'_>> = each.iter().map(|(inv, host)| (inv.as_str(), Value::Written(host))).collect();
    out.object(Layout::Lines, &mut fields);
}

/// Writes what the inventory says of a host.
fn host_seen(out: &mut Emitter, host: &HostSeen) {
    let fields: &mut [Field<'_>] = &mut [
        ("name", host.name.as_deref().map_or(Value::Null, Value::Text)),
        ("location", Value::Text(&host.location)),
        ("switch", host.switch.as_deref().map_or(Value::Null, Value::Text)),
        ("rack", host.rack.as_deref().map_or(Value::Null, Value::Text)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes what a plan was narrowed to.
fn only(out: &mut Emitter, only: &Only) {
    let hosts = |out: &mut Emitter| out.list(Layout::Inline, &only.hosts, |out, inv| out.value(Value::Number(inv.0)));
    let projects = |out: &mut Emitter| out.list(Layout::Inline, &only.projects, |out, id| out.value(Value::Text(id)));
    out.object(Layout::Inline, &mut [("hosts", Value::Written(&hosts)), ("projects", Value::Written(&projects))]);
}

/// Writes an RRset that waits.
fn waiting(out: &mut Emitter, waiting: &Waiting) {
    let since = waiting.since.map(|at| at.to_string());
    let due = waiting.due.map(|at| at.to_string());
    let fields: &mut [Field<'_>] = &mut [
        ("zone", Value::Shown(&waiting.zone)),
        ("name", Value::Shown(&waiting.key.owner)),
        ("type", Value::Shown(&waiting.key.rtype)),
        ("host", host(waiting.host)),
        ("project", Value::Text(&waiting.project)),
        ("rule", Value::Text(waiting.rule.as_str())),
        ("since", since.as_deref().map_or(Value::Null, Value::Text)),
        ("due", due.as_deref().map_or(Value::Null, Value::Text)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes an own RRset of a name that no host has.
fn left_behind(out: &mut Emitter, left: &LeftBehind) {
    let fields: &mut [Field<'_>] = &mut [
        ("zone", Value::Shown(&left.zone)),
        ("name", Value::Shown(&left.key.owner)),
        ("type", Value::Shown(&left.key.rtype)),
        ("of", Value::Shown(&left.name)),
        ("host", host(left.host)),
        ("project", left.project.as_deref().map_or(Value::Null, Value::Text)),
        ("apply", left.apply.map_or(Value::Null, Value::Number)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes the changes.
fn changes(out: &mut Emitter, changes: &[Change], reasons: Reasons) {
    out.list(Layout::Lines, changes, |out, one| change(out, one, reasons));
}

/// Writes a change.
fn change(out: &mut Emitter, change: &Change, reasons: Reasons) {
    let rtype = change.key.rtype;
    let also = |out: &mut Emitter| out.list(Layout::Inline, &change.also, |out, inv| out.value(Value::Number(inv.0)));
    let why = |out: &mut Emitter| out.list(Layout::Lines, &change.reasons, reason);
    let fields: &mut [Field<'_>] = &mut [
        ("zone", Value::Shown(&change.zone)),
        ("name", Value::Shown(&change.key.owner)),
        ("type", Value::Shown(&rtype)),
        ("host", host(change.host)),
        ("also", if change.also.is_empty() { Value::Absent } else { Value::Written(&also) }),
        ("project", Value::Text(&change.project)),
        ("before", Value::Written(&|out| rrset(out, rtype, change.kind.before()))),
        ("after", Value::Written(&|out| rrset(out, rtype, change.kind.after()))),
        ("reasons", if reasons == Reasons::Left { Value::Absent } else { Value::Written(&why) }),
    ];
    out.object(Layout::Lines, fields);
}

/// Writes the causes of the changes.
fn review(out: &mut Emitter, review: &Review) {
    let held = |out: &mut Emitter| against(out, &review.against);
    let causes = |out: &mut Emitter| out.list(Layout::Lines, &review.causes, cause);
    let hosts = |out: &mut Emitter| invs(out, &review.newly_blocked);
    let is_based = matches!(review.against, Against::Base { .. });
    let fields: &mut [Field<'_>] = &mut [
        ("against", Value::Written(&held)),
        ("settled", if is_based { Value::Number(review.settled) } else { Value::Absent }),
        ("newly_blocked", if is_based { Value::Written(&hosts) } else { Value::Absent }),
        ("causes", Value::Written(&causes)),
    ];
    out.object(Layout::Lines, fields);
}

/// Writes hosts.
fn invs(out: &mut Emitter, hosts: &[Inv]) {
    out.list(Layout::Inline, hosts, |out, inv| out.value(Value::Number(inv.0)));
}

/// Writes what an inventory was compared with, or null.
fn against(out: &mut Emitter, against: &Against) {
    match against {
        Against::Nothing => out.value(Value::Null),
        Against::Journal { apply, at } => {
            out.object(Layout::Inline, &mut [("apply", Value::Number(*apply)), ("at", Value::Shown(at))]);
        }
        Against::Base { name, commit } => {
            let commit = commit.as_deref().map_or(Value::Null, Value::Text);
            out.object(Layout::Inline, &mut [("base", Value::Text(name)), ("commit", commit)]);
        }
    }
}

/// Writes a cause.
fn cause(out: &mut Emitter, cause: &Cause) {
    let places =
        |out: &mut Emitter| out.list(Layout::Inline, &cause.places, |out, place| out.value(Value::Text(place)));
    let changes = |out: &mut Emitter| {
        out.list(Layout::Inline, &cause.changes, |out, place| out.value(Value::Number(u64::from(*place))));
    };
    let fields: &mut [Field<'_>] = &mut [
        ("class", cause.class.map_or(Value::Absent, |class| Value::Text(class.as_str()))),
        ("kind", Value::Text(cause.kind.as_str())),
        ("says", Value::Text(&cause.says)),
        ("places", Value::Written(&places)),
        ("explained", Value::Bool(cause.is_explained)),
        ("changes", Value::Written(&changes)),
    ];
    out.object(Layout::Inline, fields);
}

/// A host, or null.
fn host(host: Option<Inv>) -> Value<'static> {
    host.map_or(Value::Null, |inv| Value::Number(inv.0))
}

/// Writes an RRset, or null.
fn rrset(out: &mut Emitter, rtype: Rtype, rrset: Option<&Rrset>) {
    let Some(rrset) = rrset else { return out.value(Value::Null) };
    let rdata = |out: &mut Emitter| match rrset.rdata() {
        // Nearly every RRset has one record, and nothing to sort.
        [one] => out.list(Layout::Inline, [one], |out, rdata| out.value(Value::Shown(&rdata.as_rdata(rtype)))),
        _ => out.list(Layout::Inline, rrset.rdata_texts(rtype), |out, text| out.value(Value::Text(&text))),
    };
    let ttl = Value::Number(u64::from(rrset.ttl().as_secs()));
    out.object(Layout::Inline, &mut [("ttl", ttl), ("rdata", Value::Written(&rdata))]);
}

/// Writes a reason.
fn reason(out: &mut Emitter, reason: &Reason) {
    let evidence =
        |out: &mut Emitter| out.list(Layout::Inline, &reason.evidence, |out, place| out.value(Value::Text(place)));
    let fields: &mut [Field<'_>] = &mut [
        ("rule", Value::Text(reason.rule.as_str())),
        ("host", host(reason.host)),
        ("evidence", Value::Written(&evidence)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes a blocked host.
fn blocked(out: &mut Emitter, blocked: &Blocked) {
    let fields: &mut [Field<'_>] = &mut [
        ("host", Value::Number(blocked.host.0)),
        ("project", Value::Text(&blocked.project)),
        ("code", Value::Text(blocked.code.as_str())),
        ("message", Value::Text(&blocked.message)),
        ("hint", Value::Text(&blocked.hint)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes a skipped host.
fn skipped(out: &mut Emitter, skipped: &Skipped) {
    let fields: &mut [Field<'_>] = &mut [
        ("host", Value::Number(skipped.host.0)),
        ("project", Value::Text(&skipped.project)),
        ("code", Value::Text(skipped.code.as_str())),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes a notice.
fn notice(out: &mut Emitter, notice: &Notice) {
    let fields: &mut [Field<'_>] = &mut [
        ("code", Value::Text(notice.code.as_str())),
        ("name", Value::Text(&notice.name)),
        ("host", host(notice.host)),
        ("message", Value::Text(&notice.message)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes a limit.
fn limit(out: &mut Emitter, limit: &LimitState) {
    let counts = if limit.counts == LimitKind::Hosts { Value::Absent } else { Value::Text(limit.counts.as_str()) };
    let frees = limit.frees.map(|frees| frees.to_string());
    let (says, place) = match &limit.setting {
        None => (None, None),
        Some(LimitSetting::Default) => (Some(DEFAULT), None),
        Some(LimitSetting::Written { says, place }) => (Some(says.as_str()), Some(place.as_str())),
    };
    let fields: &mut [Field<'_>] = &mut [
        ("scope", Value::Text(&limit.scope)),
        ("period", Value::Text(&limit.period)),
        ("counts", counts),
        ("max", Value::Number(limit.max)),
        ("used", Value::Number(limit.used)),
        ("planned", Value::Number(limit.planned)),
        ("exceeded", Value::Bool(limit.exceeded)),
        ("of", limit.of.map_or(Value::Absent, Value::Number)),
        ("cause", limit.cause.as_deref().map_or(Value::Absent, Value::Text)),
        ("frees", frees.as_deref().map_or(Value::Absent, Value::Text)),
        ("setting", says.map_or(Value::Absent, Value::Text)),
        ("place", place.map_or(Value::Absent, Value::Text)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes an export as it was read.
fn source(out: &mut Emitter, source: &SourceSeen) {
    let dated = source.dated.map(|dated| dated.to_string());
    let max_age = source.max_age.map(|max_age| max_age.to_string());
    let fields: &mut [Field<'_>] = &mut [
        ("source", Value::Text(&source.source)),
        ("rows", Value::Number(source.rows)),
        ("dated", dated.as_deref().map_or(Value::Null, Value::Text)),
        ("max_age", max_age.as_deref().map_or(Value::Absent, Value::Text)),
    ];
    out.object(Layout::Inline, fields);
}

/// Writes a zone as it was read.
fn zone(out: &mut Emitter, zone: &ZoneSeen) {
    let fields: &mut [Field<'_>] = &mut [
        ("zone", Value::Shown(&zone.zone)),
        ("serial", Value::Number(u64::from(zone.serial))),
        ("rrsets", Value::Number(zone.rrsets)),
        ("managed", Value::Number(zone.managed)),
        ("digest", Value::Shown(&format_args!("{SHA256}{}", zone.digest))),
    ];
    out.object(Layout::Inline, fields);
}
