//! The record sets of a service of a cloud, as the contents of a zone. Pure.

use crate::dns::{NameRef, Rrset, Rtype, ZoneBuilder, ZoneContents, ZoneName};
use crate::target::OpaqueRecords;

/// A record set with its owner name: the RRset that it is, or what it is instead, as a part of a sentence.
pub type OwnedSet<'s> = (NameRef<'s>, Result<(Rtype, Rrset), String>);

/// What record sets are: the contents of a zone, and what no RRset says.
///
/// Errors: in words, where they make no zone.
pub fn contents_of<'s>(
    zone: &ZoneName,
    sets: impl Iterator<Item = OwnedSet<'s>>,
) -> Result<(ZoneContents, Vec<OpaqueRecords>), String> {
    let mut builder = ZoneBuilder::new(zone.clone());
    let mut opaque = Vec::new();
    for (owner, set) in sets {
        match set {
            Ok((rtype, rrset)) => {
                for rdata in rrset.rdata() {
                    let pushed = builder.push(owner, rtype, rrset.ttl(), rdata.as_octets());
                    pushed.map_err(|error| format!("its {rtype} set at `{owner}` cannot be kept: {error}"))?;
                }
                if let Some(mark) = rrset.mark() {
                    builder.mark(owner, rtype, mark.clone());
                }
            }
            Err(what) => opaque.push(OpaqueRecords { owner: owner.to_name(), what }),
        }
    }
    opaque.sort_unstable();
    opaque.dedup();
    let contents = builder.finish().map_err(|error| format!("its zone cannot be used: {error}"))?;
    Ok((contents, opaque))
}
