//! The types that hosts claim: where, which hosts, and by which rules their records come and go.
//!
//! Whatever must know what hosts may have at a name asks here, so that no room has a list of its own. What a host claims of a type
//! is said in `desired`.

use super::Rule;
use crate::dns::Rtype;

/// A type that hosts claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRtype {
    /// The type.
    pub rtype: Rtype,
    /// At which names hosts have it.
    pub site: HostSite,
    /// Whether only hosts claim it whose addresses the inventory lists; those of others are not ours to change.
    pub needs_list: bool,
    /// The rule that adds a record.
    pub adds: Rule,
    /// The rules that remove one.
    pub removes: &'static [Rule],
}

impl HostRtype {
    /// Whether hosts claim it; `are_listed` says whether the inventory lists their addresses.
    pub fn is_claimed(&self, are_listed: bool) -> bool {
        are_listed || !self.needs_list
    }
}

/// At which names hosts have records of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostSite {
    /// At the names of their interfaces.
    Name,
    /// At the reverse names of their addresses.
    ReverseName,
}

/// The rules that remove what hosts have at their names.
const REMOVE_AT_NAMES: &[Rule] = &[Rule::WrongAddress, Rule::AddressElsewhere, Rule::Released, Rule::Orphan];

/// All types that hosts claim, in the order in which they are looked at.
const HOST_RTYPES: [HostRtype; 3] = [
    HostRtype {
        rtype: Rtype::AAAA,
        site: HostSite::Name,
        needs_list: false,
        adds: Rule::Missing,
        removes: REMOVE_AT_NAMES,
    },
    HostRtype {
        rtype: Rtype::A,
        site: HostSite::Name,
        needs_list: true,
        adds: Rule::Missing,
        removes: REMOVE_AT_NAMES,
    },
    HostRtype {
        rtype: Rtype::PTR,
        site: HostSite::ReverseName,
        needs_list: false,
        adds: Rule::MissingPtr,
        removes: &[Rule::WrongPtr, Rule::PtrElsewhere, Rule::Released, Rule::Orphan],
    },
];

/// What is said of a type; none where no host claims it.
pub fn of(rtype: Rtype) -> Option<&'static HostRtype> {
    HOST_RTYPES.iter().find(|own| own.rtype == rtype)
}

/// The types that hosts claim at the names of their interfaces, AAAA first.
pub fn at_names() -> impl Iterator<Item = &'static HostRtype> {
    HOST_RTYPES.iter().filter(|own| own.site == HostSite::Name)
}

/// Whether hosts claim a type; `are_listed` says whether the inventory lists their addresses.
pub fn are_claimed(rtype: Rtype, are_listed: bool) -> bool {
    of(rtype).is_some_and(|own| own.is_claimed(are_listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_is_claimed_where_addresses_are_listed_and_no_file_type_is() {
        let claimed = |are_listed| {
            let all = [Rtype::AAAA, Rtype::A, Rtype::PTR, Rtype::CNAME, Rtype::TXT];
            all.into_iter().filter(|rtype| are_claimed(*rtype, are_listed)).collect::<Vec<Rtype>>()
        };
        assert_eq!(claimed(false), [Rtype::AAAA, Rtype::PTR]);
        assert_eq!(claimed(true), [Rtype::AAAA, Rtype::A, Rtype::PTR]);
        assert_eq!(at_names().map(|own| own.rtype).collect::<Vec<Rtype>>(), [Rtype::AAAA, Rtype::A]);
    }
}
