//! Which RRsets are own, and the TXT that say so.
//!
//! The TXT are those of external-dns, so that each of the two tools knows the other's records: an RRset of type T at
//! `LABEL.REST` has a TXT at `t-LABEL.REST` that names the owner. Source: external-dns, registry/txt and
//! endpoint/labels.

use super::context::RuleContext;
use crate::dns::{Name, NameError, NameRef, Rdata, RdataRef, Rtype};
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

/// The name of the TXT of an RRset of `rtype` at `owner`, whether the TXT can be there or not; none for the root.
///
/// Errors: the name would not be valid.
pub fn txt_name(owner: NameRef<'_>, rtype: Rtype) -> Option<Result<Name, NameError>> {
    let (label, rest) = owner.first_label().zip(owner.parent())?;
    let prefixed = [rtype.to_string().to_ascii_lowercase().as_bytes(), b"-", label].concat();
    Some(Name::prepend(&prefixed, rest))
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

/// Whether the TXT of an RRset say that it is this owner's: one does, and none names another.
pub fn names_owner(records: &[Rdata], owner: &str) -> bool {
    let mut owners = records.iter().filter_map(|rdata| heritage_owner(rdata.as_rdata(Rtype::TXT))).peekable();
    owners.peek().is_some() && owners.all(|named| named == owner)
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

/// The TXT that says that an RRset is ours.
pub fn heritage(owner: &str) -> Rdata {
    let text = format!("heritage=external-dns,external-dns/owner={owner}");
    Rdata::from_text(&text).expect("an owner has at most 100 octets")
}

/// The owner that a heritage TXT names, empty where it names none; none where it is another kind of TXT.
///
/// The rules are those of external-dns, so that both tools see the same owner: a token without exactly one `=` is
/// ignored, another `heritage` anywhere makes it another kind of TXT, and the last owner counts. A first-token rule would
/// claim `…owner=us,external-dns/owner=other` for us, which external-dns changes as the owner `other`.
///
/// Source: external-dns, endpoint/labels.go, `NewLabelsFromStringPlain`.
pub fn heritage_owner(rdata: RdataRef<'_>) -> Option<String> {
    let text = rdata.strings().collect::<Vec<_>>().concat();
    let text = String::from_utf8_lossy(&text);
    let tokens = text.trim_matches('"').split(',').filter_map(|token| token.split_once('='));
    let (mut is_heritage, mut owner) = (false, "");
    for (key, value) in tokens.filter(|(_, value)| !value.contains('=')) {
        match key {
            "heritage" if value == "external-dns" => is_heritage = true,
            "heritage" => return None,
            "external-dns/owner" => owner = value,
            _ => {}
        }
    }
    is_heritage.then(|| owner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The owner that a TXT of one string names.
    fn owner(text: &str) -> Option<String> {
        heritage_owner(Rdata::from_text(text).unwrap().as_rdata(Rtype::TXT))
    }

    #[test]
    fn heritage_is_read_as_external_dns_writes_it() {
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us").as_deref(), Some("us"));
        let with_more = "\"heritage=external-dns,external-dns/owner=us,external-dns/resource=crd/a/b\"";
        assert_eq!(owner(with_more).as_deref(), Some("us"));
        assert_eq!(owner("heritage=external-dns").as_deref(), Some(""));
        assert_eq!(owner("heritage=other,external-dns/owner=us"), None);
        assert_eq!(owner("v=spf1 -all"), None);
    }

    #[test]
    fn heritage_is_read_as_external_dns_reads_it() {
        let twice = "heritage=external-dns,external-dns/owner=us,external-dns/owner=other";
        assert_eq!(owner(twice).as_deref(), Some("other"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=other"), None);
        assert_eq!(owner("heritage=other,heritage=external-dns,external-dns/owner=us"), None);
        assert_eq!(owner("external-dns/owner=us,heritage=external-dns").as_deref(), Some("us"));
        // A token with two `=` is no label.
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,external-dns/owner=a=b").as_deref(), Some("us"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=a=b").as_deref(), Some(""));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=a=b").as_deref(), Some("us"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=,x"), None);
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,external-dns/owner=").as_deref(), Some(""));
        assert_eq!(owner("heritage=external-dns, external-dns/owner=us").as_deref(), Some(""));
    }
}
