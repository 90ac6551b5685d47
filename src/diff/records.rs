//! The rules of what files state for a name, or rows for a pod: whether they run, what they do, and what blocks the subject.

use super::compare::{Claimant, ClaimsResult};
use super::context::{RuleContext, RuleGround};
use super::protect::{self, Protection};
use super::{SubjectBlock, SubjectStanding};
use super::{own, words};
use crate::change::{BlockCode, Notice, NoticeCode, SkipCode};
use crate::claim::{RrsetClaim, TtlHold, WantedValue};
use crate::desired::records::{StatedClaim, StatedSubject};
use crate::dns::{Name, Rtype};
use crate::inventory::model::{Policy, ProjectFile};
use crate::inventory::stated::RecordState;
use crate::live::{NamePlace, NameSpot};
use crate::registry::Registry;

/// Decides whether the rules of the subject at a place run, by the order of codes. Where it is settled, the places of its
/// names are open, and its claims are not looked at.
pub fn standing(context: &RuleContext<'_>, place: usize, subject: &StatedSubject, is_settled: bool) -> SubjectStanding {
    if let Some(view) = context.view {
        let standing = &view.standings.stated[place];
        return match standing {
            SubjectStanding::Open(_) if !is_settled => by_places(context, subject, standing),
            standing => standing.clone(),
        };
    }
    let policy = match skip_or_policy(context, subject) {
        Ok(policy) => policy,
        Err(code) => return SubjectStanding::Skipped(code),
    };
    if let Some(block) = by_inputs(context, place, subject) {
        return SubjectStanding::Blocked(block);
    }
    if let Some(block) = context.by_copies.get(&subject.subject) {
        return SubjectStanding::Blocked(block.clone());
    }
    let open = SubjectStanding::Open(policy);
    if is_settled { open } else { by_places(context, subject, &open) }
}

/// Whether the rules would find nothing to do for an open subject, nothing to report, and nothing that blocks it: its claims
/// are all that is live at its names, of which `spots` are what was looked up.
///
/// Where it cannot be proven so, the rules run.
pub fn is_settled(ground: RuleGround<'_>, subject: &StatedSubject, spots: &[Option<NameSpot>]) -> bool {
    let is_plain = subject.faults.is_empty() && subject.unused.is_empty() && subject.lost.is_empty();
    if !is_plain || subject.claims.is_empty() {
        return false;
    }
    let pool = subject.stated_in(ground.inventory).and_then(|(source, _)| source.pool.as_ref());
    let is_in_pool = |spot: &NameSpot| pool.is_none_or(|pool| pool.as_str() == ground.pool_of(spot.zone).as_str());
    let is_as_claimed = |(name, spot): (&Name, &Option<NameSpot>)| {
        let Some(spot) = spot.as_ref().filter(|spot| is_in_pool(spot)) else { return false };
        let mut wanted = subject.claims.iter().map(|own| &own.claim).filter(|claim| claim.owner == *name);
        wanted.clone().all(|claim| is_live(ground, spot, claim))
            && ground.live.at(spot).count() == wanted.by_ref().filter(|claim| !claim.want.values().is_empty()).count()
    };
    subject.names().zip(spots).all(is_as_claimed) && protection(ground, subject).is_none()
}

/// Whether a claim, of a type of which nothing else is looked at, is what is live at a name.
fn is_live(ground: RuleGround<'_>, spot: &NameSpot, claim: &RrsetClaim) -> bool {
    // What these name, or hide, is looked at, too.
    let is_of_many = matches!(claim.rtype, Rtype::NS | Rtype::DS | Rtype::DNAME | Rtype::MX | Rtype::SRV | Rtype::TXT);
    let found = ground.live.at(spot).find(|rrset| rrset.rtype() == claim.rtype);
    let values = claim.want.values();
    !is_of_many
        && match found {
            Some(rrset) => {
                rrset.record_count() == values.len()
                    && rrset.rdata().all(|rdata| values.iter().any(|value| value.rdata.as_octets() == rdata.octets))
                    && claim.ttl.as_ref().is_none_or(|ttl| ttl.hold == TtlHold::WhenCreated || ttl.ttl == rrset.ttl())
            }
            None => values.is_empty(),
        }
}

/// Whether the rules find nothing to do for a subject, nothing to report, and nothing that blocks it by what is live.
pub fn is_idle(context: &RuleContext<'_>, place: usize) -> bool {
    let subject = context.stated.subject(place);
    let standing = standing(context, place, subject, false);
    if standing != self::standing(context, place, subject, true) {
        return false;
    }
    let SubjectStanding::Open(policy) = standing else { return true };
    let ClaimsResult { acts, notices, blocks } = reconcile(context, subject, policy, &subject.claims);
    acts.is_empty() && notices.is_empty() && blocks.is_empty()
}

/// The policy under which a subject is planned, or why it is skipped.
fn skip_or_policy(context: &RuleContext<'_>, subject: &StatedSubject) -> Result<Policy, SkipCode> {
    let record = subject.stated_in(context.inventory).and_then(|(source, _)| source.record.as_ref());
    let record = record.map(|record| record.state);
    match record {
        // It is blocked, whatever its project says.
        Some(RecordState::Unknown) => return Ok(Policy::CreateOnly),
        Some(RecordState::Idle) => return Err(SkipCode::AutomationOff),
        Some(RecordState::Open(_)) | None => {}
    }
    if !context.admin(subject.project).is_some_and(|admin| admin.automation_allowed) {
        return Err(SkipCode::AutomationOff);
    }
    let by_hand = context.selection.names(&subject.subject);
    let policy = match &context.inventory.projects[subject.project.0 as usize].file {
        ProjectFile::Good(settings) if settings.automation || by_hand => match record {
            Some(RecordState::Open(policy)) => policy,
            _ => settings.policy,
        },
        ProjectFile::Good(_) => return Err(SkipCode::AutomationOff),
        // The switch and policy of the file are unknown; the subject is blocked because of the file.
        ProjectFile::Missing | ProjectFile::Bad { .. } => Policy::CreateOnly,
    };
    if context.is_tripped(subject.project) && !by_hand { Err(SkipCode::Breaker) } else { Ok(policy) }
}

/// What the files themselves give to block a subject.
fn by_inputs(context: &RuleContext<'_>, place: usize, subject: &StatedSubject) -> Option<SubjectBlock> {
    let fault = subject.faults.iter().find(|fault| fault.code != BlockCode::TargetLimit);
    let bad = fault.map(|fault| words::stated_fault(context, fault));
    let project = || match &context.inventory.projects[subject.project.0 as usize].file {
        ProjectFile::Good(_) => None,
        ProjectFile::Missing | ProjectFile::Bad { .. } => Some(words::bad_project(context, subject.project)),
    };
    let trust = match subject.stated_in(context.inventory) {
        Some((source, _)) => &source.trust,
        None => context.inventory.pods.doubted(),
    };
    let doubt = || trust.doubt().map(words::untrusted_records);
    let foreign = || {
        // The domain of a set of pods is one of its project's.
        let name = subject.subject.stated_name()?.as_name();
        let is_own = context.admin(subject.project)?.contains(name);
        (!is_own).then(|| words::foreign_record(context, subject, name))
    };
    bad.or_else(project).or_else(doubt).or_else(foreign).or_else(|| context.stated.conflict(place).cloned())
}

/// What the zones of a subject's name give to block it; the CNAME that its own claims replace does not.
fn by_places(context: &RuleContext<'_>, subject: &StatedSubject, open: &SubjectStanding) -> SubjectStanding {
    let blocked = subject.claims.iter().find_map(|own| place_block(context, subject, own));
    blocked.map_or_else(|| open.clone(), SubjectStanding::Blocked)
}

/// What the place of a claim gives to block its subject.
fn place_block(context: &RuleContext<'_>, subject: &StatedSubject, own: &StatedClaim) -> Option<SubjectBlock> {
    let (name, rtype): (&Name, Rtype) = (&own.claim.owner, own.claim.rtype);
    let place = context.live.stated_place(name.as_name(), rtype);
    let code = match &place {
        NamePlace::Open(zone) | NamePlace::Cname(zone) => {
            let (source, _) = subject.stated_in(context.inventory)?;
            let pool = source.pool.as_ref().filter(|pool| pool.as_str() != context.pool_of(*zone).as_str())?;
            return Some(words::other_pool(context, name, *zone, pool));
        }
        NamePlace::NoZone => BlockCode::NoZone,
        NamePlace::Unknown(zone) => super::standing::unknown_code(context, *zone),
        // Other records may take the place of a delegation that is over.
        NamePlace::Delegated(_, cut) if cut == name && own::is_delegation_over(context, name.as_name()) => return None,
        NamePlace::Delegated(..) => BlockCode::Delegated,
        NamePlace::BelowDname(..) => BlockCode::Cname,
        NamePlace::Opaque(_) => BlockCode::Opaque,
    };
    Some(words::place_block(context, code, name, &place))
}

/// Runs the rules of an open subject, by its claims or by others that take their place.
pub fn reconcile(
    context: &RuleContext<'_>,
    subject: &StatedSubject,
    policy: Policy,
    claims: &[StatedClaim],
) -> ClaimsResult {
    let mut claimant = Claimant::by_right(context, subject.subject.clone(), subject.project, policy);
    for own in claims {
        claimant.make_room(&own.claim);
        claimant.compare_rrset(&own.claim);
    }
    let ClaimsResult { mut acts, mut notices, mut blocks } = claimant.finish();
    blocks.extend(limits(context, subject));
    blocks.extend(protection(context.ground(), subject).map(|(name, why)| {
        let why = protect::reason(context, why);
        words::protected_record(name, &why)
    }));
    blocks.extend(missing_glue(context, subject));
    blocks.extend(misplaced(context, subject));
    blocks.extend(registry_name(context, subject));
    notices.extend(unused(context, subject));
    notices.extend(named_aliases(context, subject));
    if !blocks.is_empty() {
        acts.clear();
        notices.clear();
    }
    ClaimsResult { acts, notices, blocks }
}

/// What of a subject's entries no target can hold.
fn limits(context: &RuleContext<'_>, subject: &StatedSubject) -> Option<SubjectBlock> {
    let fault = subject.faults.iter().find(|fault| fault.code == BlockCode::TargetLimit)?;
    Some(words::unsupported(context, fault.origin, &fault.message))
}

/// The first name of a subject that the operator protects, or that is that of a marker, and why. What else is protected from
/// the rules of hosts and pods, an apex or a name server, is what files of records are for.
fn protection<'s, 'g>(ground: RuleGround<'g>, subject: &'s StatedSubject) -> Option<(&'s Name, Protection<'g>)> {
    let is_of_file = subject.subject.stated_name().is_some();
    subject.names().find_map(|name| {
        let why = protect::protection_in(ground, ground.live.zone_of(name.as_name())?, name.as_name())?;
        let is_barred = !is_of_file || matches!(why, Protection::Listed(_) | Protection::Marker);
        is_barred.then_some((name, why))
    })
}

/// The notices about what has no effect, and about what loses to other entries.
fn unused(context: &RuleContext<'_>, subject: &StatedSubject) -> Vec<Notice> {
    let Some(name) = subject.subject.stated_name() else { return Vec::new() };
    let notice = |code: NoticeCode, message: String| Notice {
        code,
        message,
        name: name.to_string(),
        subject: Some(subject.subject.clone()),
    };
    let unused = subject.unused.iter().map(|unused| {
        notice(NoticeCode::WithoutEffect, words::without_effect(context, unused.origin, &unused.message))
    });
    let lost = subject.lost.iter().map(|lost| notice(NoticeCode::EntryLost, words::entry_lost(context, name, lost)));
    unused.chain(lost).collect()
}

/// The names that the values of a claim name as servers, with the claim.
fn servers<'s>(subject: &'s StatedSubject, of: &[Rtype]) -> Vec<(&'s StatedClaim, Name)> {
    let own = subject.claims.iter().filter(|own| of.contains(&own.claim.rtype));
    let servers = own.flat_map(|own| {
        let named =
            move |value: &WantedValue| value.rdata.as_rdata(own.claim.rtype).server().map(|name| name.to_name());
        own.claim.want.values().iter().filter_map(named).map(move |name| (own, name))
    });
    servers.collect()
}

/// The block of a subject that delegates to a name server below the delegation whose address is nowhere (RFC 1034 section
/// 4.2.1).
fn missing_glue(context: &RuleContext<'_>, subject: &StatedSubject) -> Option<SubjectBlock> {
    let name = subject.subject.stated_name()?;
    let owner = name.as_name();
    let has_address = |name: &Name| {
        [Rtype::A, Rtype::AAAA].into_iter().any(|rtype| {
            let is_stated = context.stated.on(name.as_name(), rtype).next().is_some();
            is_stated || context.live.stated_rrset(name.as_name(), rtype).is_some()
        })
    };
    let needs =
        |name: &Name| name.as_name().is_at_or_below(owner) && !context.live.is_apex(owner) && !has_address(name);
    let (_, server) = servers(subject, &[Rtype::NS]).into_iter().find(|(_, name)| needs(name))?;
    Some(words::missing_glue(name, &server))
}

/// The block of a subject that states a TXT where one of the registry is, or is to be.
fn registry_name(context: &RuleContext<'_>, subject: &StatedSubject) -> Option<SubjectBlock> {
    let has_text = subject.claims.iter().any(|own| own.claim.rtype == Rtype::TXT);
    let stated = subject.subject.stated_name()?;
    let name = stated.as_name();
    let marking = context.marking(context.live.zone_of(name).filter(|_| has_text)?);
    if !marking.registry.reads_texts() {
        return None;
    }
    let live = context.live.rrset(name, Rtype::TXT);
    let mut values =
        subject.claims.iter().filter(|own| own.claim.rtype == Rtype::TXT).flat_map(|own| own.claim.want.values());
    let states_mark = values.any(|value| marking.labels(value.rdata.as_rdata(Rtype::TXT)).is_some());
    let is_mark = live.is_some_and(|found| found.rrset.rdata().any(|rdata| marking.labels(rdata).is_some()));
    let is_recorded = || {
        let Some((Some(rtype), recorded)) = marking.form.recorded_by(name) else { return false };
        context.has_claiming_host(recorded.as_name(), rtype)
            || context.stated.on(recorded.as_name(), rtype).next().is_some()
    };
    // Where TXT are only read, none is written at the names of the registry: what is no mark may be there.
    let is_taken = marking.registry == Registry::Txt && is_recorded();
    (is_mark || states_mark || is_taken).then(|| words::registry_text(stated))
}

/// The block of a subject that asks for what a zone cannot have at its name: NS or DS of an apex, which are the server's and
/// the parent's; NS of a wildcard; DS without a delegation; NS or a DNAME above what is live.
fn misplaced(context: &RuleContext<'_>, subject: &StatedSubject) -> Option<SubjectBlock> {
    let stated = subject.subject.stated_name()?;
    let name = stated.as_name();
    let claims = || subject.claims.iter().map(|own| own.claim.rtype);
    let (is_ns, is_ds) = (claims().any(|rtype| rtype == Rtype::NS), claims().any(|rtype| rtype == Rtype::DS));
    if (is_ns || is_ds) && context.live.is_apex(name) {
        return Some(words::of_apex(stated));
    }
    if is_ns && name.is_wildcard() {
        return Some(words::wildcard_delegation(stated));
    }
    let has_ns =
        || context.stated.on(name, Rtype::NS).next().is_some() || context.live.stated_rrset(name, Rtype::NS).is_some();
    if is_ds && !has_ns() {
        return Some(words::ds_without_ns(stated));
    }
    let cutting = claims().find(|rtype| matches!(*rtype, Rtype::NS | Rtype::DNAME))?;
    if context.live.stated_rrset(name, cutting).is_some() {
        return None;
    }
    let glue: Vec<Name> = servers(subject, &[Rtype::NS]).into_iter().map(|(_, name)| name).collect();
    let hidden = context.live.would_hide(name, cutting, &glue)?;
    Some(words::would_hide(stated, cutting, hidden.rrset.owner().as_name(), hidden.rrset.rtype()))
}

/// The notices about MX and SRV that name a CNAME (RFC 2181 section 10.3, RFC 2782).
fn named_aliases(context: &RuleContext<'_>, subject: &StatedSubject) -> Vec<Notice> {
    let Some(stated) = subject.subject.stated_name() else { return Vec::new() };
    let is_alias = |name: &Name| {
        let is_stated = context.stated.on(name.as_name(), Rtype::CNAME).next().is_some();
        let is_live = || matches!(context.live.place(name.as_name()), NamePlace::Cname(_));
        is_stated || (is_live() && !context.stated.has_name(name.as_name()))
    };
    let named = servers(subject, &[Rtype::MX, Rtype::SRV]).into_iter().filter(|(_, name)| is_alias(name));
    let notice = |(own, name): (&StatedClaim, Name)| Notice {
        code: NoticeCode::PostState,
        message: words::named_alias(context, own.origin, own.claim.rtype, &name),
        name: stated.to_string(),
        subject: Some(subject.subject.clone()),
    };
    named.map(notice).collect()
}
