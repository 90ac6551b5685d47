//! Which RRsets are own, by the state, by the TXT of the registry, or by their marks.

use super::context::RuleContext;
use crate::dns::{Name, NameError, NameRef, Rdata, Rtype};
use crate::live::{LiveRrset, NamePlace, ZoneIndex};
use crate::registry::Registry;
use crate::target::MarkPlace;

/// What the registry says of an RRset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    /// Nothing.
    None,
    /// It is ours: its mark, or every heritage TXT at the name that counts, names our owner. Those TXT are listed that are where we
    /// write them.
    Ours(Vec<Rdata>),
    /// Its mark, or a heritage TXT at this name, says that it is another owner's.
    Foreign {
        /// The owner, empty where the TXT names none.
        owner: String,
        /// The name of the TXT, or of the RRset with the mark.
        at: Name,
    },
}

/// Where the TXT of an RRset would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistryName {
    /// There.
    At(Name),
    /// At the name of a CNAME, so that it cannot be written.
    AtCname(Name),
    /// There, but what is there now is not known.
    Unknown(Name),
    /// The name would not be valid.
    TooLong(NameError),
    /// Outside the RRset's zone or hidden in it: the RRset can never be own.
    Outside,
}

/// Where the TXT of an RRset of `rtype` at `owner` in `zone` would be.
pub fn registry_name(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> RegistryName {
    let name = match context.marking(zone).form.txt_name(owner, rtype) {
        None => return RegistryName::Outside,
        Some(Ok(name)) => name,
        Some(Err(error)) => return RegistryName::TooLong(error),
    };
    match context.live.place_of_text(name.as_name()) {
        NamePlace::Open(place) if place == zone => RegistryName::At(name),
        NamePlace::Cname(place) if place == zone => RegistryName::AtCname(name),
        NamePlace::Unknown(place) if place == zone => RegistryName::Unknown(name),
        _ => RegistryName::Outside,
    }
}

/// What the registry says of an RRset: its TXT, or the mark of the RRset where marks are the registry. An RRset whose keys name no
/// owner may have been made by external-dns, which has only TXT: these keep another owner's RRset from us, and make none ours. No
/// change writes them, so that one may outlive its RRset.
pub fn registration(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Registration {
    let marking = context.marking(zone);
    let Some(place) = marking.registry.mark_place() else { return by_text(context, zone, owner, rtype) };
    match context.live.stated_rrset(owner, rtype).and_then(|found| found.rrset.mark()) {
        Some(mark) if mark.owner == marking.owner => Registration::Ours(Vec::new()),
        Some(mark) => Registration::Foreign { owner: mark.owner.clone(), at: owner.to_name() },
        None if place == MarkPlace::Owner => match by_text(context, zone, owner, rtype) {
            Registration::Ours(_) => Registration::None,
            other => other,
        },
        None => Registration::None,
    }
}

/// What the TXT of an RRset say, at the first of their names that has one.
fn by_text(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Registration {
    let marking = context.marking(zone);
    let names = marking.form.names(owner, rtype);
    let is_open =
        |name: &Name| matches!(context.live.place_of_text(name.as_name()), NamePlace::Open(place) if place == zone);
    for at in names.filter(is_open) {
        let Some(found) = context.live.rrset(at.as_name(), Rtype::TXT) else { continue };
        let mut ours = Vec::new();
        for rdata in found.rrset.rdata() {
            match marking.labels(rdata) {
                None => {}
                Some(labels) if labels.owner() == marking.owner => ours.push(rdata.to_rdata()),
                Some(labels) => return Registration::Foreign { owner: labels.owner().to_owned(), at },
            }
        }
        if !ours.is_empty() {
            // What is where earlier versions of external-dns wrote it may record other types, too: it stays.
            let is_written_there = matches!(marking.form.txt_name(owner, rtype), Some(Ok(name)) if name == at);
            return Registration::Ours(if is_written_there { ours } else { Vec::new() });
        }
    }
    Registration::None
}

/// The first TXT at a name of the registry of an RRset that may be encrypted and cannot be read.
pub fn unreadable_text(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Option<Name> {
    let marking = context.marking(zone);
    let mut names = marking.form.names(owner, rtype);
    names.find(|name| {
        let found = context.live.rrset(name.as_name(), Rtype::TXT);
        found.is_some_and(|found| found.rrset.rdata().any(|rdata| marking.is_unreadable(rdata)))
    })
}

/// Whether an RRset is own.
pub fn is_own(context: &RuleContext<'_>, found: LiveRrset<'_>) -> bool {
    match context.marking(found.zone).registry {
        Registry::Journal => context.live.is_recorded_own(found.rrset.owner().as_name(), found.rrset.rtype()),
        Registry::Noop => true,
        Registry::Txt => {
            let said = registration(context, found.zone, found.rrset.owner().as_name(), found.rrset.rtype());
            matches!(said, Registration::Ours(_))
        }
        Registry::Metadata | Registry::Description | Registry::Owner => {
            context.marking(found.zone).has_marked(found.rrset.mark())
        }
    }
}

/// The owner from whom an RRset that is not own can be taken over, where marks are the registry; none where nothing names one. It may
/// be ours, by a TXT alone.
pub fn named_owner(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Option<String> {
    let marking = context.marking(zone);
    let place = marking.registry.mark_place()?;
    match registration(context, zone, owner, rtype) {
        Registration::Foreign { owner, .. } => Some(owner),
        Registration::None if place == MarkPlace::Owner => {
            matches!(by_text(context, zone, owner, rtype), Registration::Ours(_)).then(|| marking.owner.clone())
        }
        Registration::None | Registration::Ours(_) => None,
    }
}

/// The name of the TXT of an RRset, where it is not known what is at that name. Then it is not known to which owner the
/// RRset is registered, and its TXT can be neither created nor deleted with it.
pub fn unknown_registry(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Option<Name> {
    let is_asked = context.marking(zone).registry == Registry::Txt;
    match is_asked.then(|| registry_name(context, zone, owner, rtype))? {
        RegistryName::Unknown(name) => Some(name),
        _ => None,
    }
}

/// Whether an RRset may be changed: it is own, or its zone permits changes to all.
pub fn is_writable(context: &RuleContext<'_>, found: LiveRrset<'_>) -> bool {
    context.is_full(found.zone) || is_own(context, found)
}

/// Whether there is a delegation at a name that is own, and that no file states any longer: other records may take its
/// place.
pub fn is_delegation_over(context: &RuleContext<'_>, name: NameRef<'_>) -> bool {
    let found = context.live.delegation_at(name);
    let is_all_own = found.iter().all(|found| is_own(context, *found));
    !found.is_empty() && is_all_own && context.stated.on(name, Rtype::NS).next().is_none()
}
