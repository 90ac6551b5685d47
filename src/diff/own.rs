//! Which RRsets are own, and the TXT that say so.
//!
//! [`heritage`](super::heritage) has the texts.

use super::context::RuleContext;
pub use super::heritage::{heritage, heritage_owner, names_owner, txt_name};
use crate::dns::{Name, NameError, NameRef, Rdata, Rtype};
use crate::inventory::model::Registry;
use crate::live::{LiveRrset, NamePlace, ZoneIndex};

/// What the registry says of an RRset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registration {
    /// Nothing.
    None,
    /// It is ours: every heritage TXT there names our owner. They are listed.
    Ours(Vec<Rdata>),
    /// A heritage TXT there names this other owner, or none (an empty text).
    Foreign(String),
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
    let name = match txt_name(owner, rtype) {
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

/// What the registry's TXT of an RRset say.
pub fn registration(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Registration {
    let RegistryName::At(name) = registry_name(context, zone, owner, rtype) else { return Registration::None };
    let Some(found) = context.live.rrset(name.as_name(), Rtype::TXT) else { return Registration::None };
    let mut ours = Vec::new();
    for rdata in found.rrset.rdata() {
        match heritage_owner(rdata) {
            None => {}
            Some(owner) if owner == context.inventory.config.owner => ours.push(rdata.to_rdata()),
            Some(owner) => return Registration::Foreign(owner),
        }
    }
    if ours.is_empty() { Registration::None } else { Registration::Ours(ours) }
}

/// Whether an RRset is own.
pub fn is_own(context: &RuleContext<'_>, found: LiveRrset<'_>) -> bool {
    match context.inventory.config.registry {
        Registry::Journal => context.live.is_recorded_own(found.rrset.owner().as_name(), found.rrset.rtype()),
        Registry::Noop => true,
        Registry::Txt => {
            let said = registration(context, found.zone, found.rrset.owner().as_name(), found.rrset.rtype());
            matches!(said, Registration::Ours(_))
        }
    }
}

/// The name of the TXT of an RRset, where it is not known what is at that name. Then it is not known to which owner the
/// RRset is registered, and its TXT can be neither created nor deleted with it.
pub fn unknown_registry(context: &RuleContext<'_>, zone: ZoneIndex, owner: NameRef<'_>, rtype: Rtype) -> Option<Name> {
    let is_asked = context.inventory.config.registry == Registry::Txt;
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
