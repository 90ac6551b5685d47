//! By which RRsets clients reach what changes are about, and what changes take from these. Pure.

use std::net::IpAddr;

use super::{Change, ChangeKind};
use crate::dns::{Rrset, Rtype};

/// Whether a change is of an RRset by which clients reach its subject.
pub fn is_of_address(change: &Change) -> bool {
    is_address_type(change.key.rtype)
}

/// Whether clients reach a subject by RRsets of a type.
pub fn is_address_type(rtype: Rtype) -> bool {
    matches!(rtype, Rtype::A | Rtype::AAAA | Rtype::CNAME)
}

/// Whether a change takes a live value from such an RRset.
pub fn takes_value(change: &Change) -> bool {
    is_of_address(change)
        && match &change.kind {
            ChangeKind::Create { .. } => false,
            ChangeKind::Delete { .. } => true,
            ChangeKind::Modify { before, after } => before.rdata().iter().any(|value| !after.rdata().contains(value)),
        }
}

/// The addresses of an RRset, where there is one that holds any.
pub fn addresses(rrset: Option<&Rrset>, rtype: Rtype) -> impl Iterator<Item = IpAddr> {
    rrset.into_iter().flat_map(Rrset::rdata).filter_map(move |value| value.as_rdata(rtype).address())
}
