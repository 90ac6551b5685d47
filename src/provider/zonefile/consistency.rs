//! What only a whole zone shows: a CNAME next to other data, and TTLs that differ within an RRset.
//!
//! Contents do not say where a record was written. Zones are nearly always right, so the places are looked up only for
//! errors, by reading the files again.

use std::collections::{HashMap, HashSet};

use crate::diag::{Diagnostic, Diagnostics, Severity};
use crate::dns::{Name, RrsetRef, Rtype, Ttl, ZoneContents};

use super::load::FileLoader;
use super::parse::parse_zone;

/// Of how many owner names and RRsets the places are looked up, so that memory stays bounded.
const MAX_FOUND: usize = 1_000;

/// Checks the contents of the zone whose file has the number `first`.
pub fn check(contents: &ZoneContents, loader: &mut FileLoader<'_>, first: usize) -> Diagnostics {
    let suspects = find(contents);
    if suspects.cnames.is_empty() && suspects.ttls.is_empty() {
        Diagnostics::default()
    } else {
        locate(contents, suspects, loader, first)
    }
}

/// What is wrong with a zone.
#[derive(Debug, Default)]
struct ZoneSuspects {
    /// The owner names with a CNAME and something that is not allowed next to it.
    cnames: HashSet<Name>,
    /// The RRsets with several TTLs, with the first TTL once it is seen.
    ttls: HashMap<(Name, Rtype), Option<Ttl>>,
}

/// Looks through a zone.
fn find(contents: &ZoneContents) -> ZoneSuspects {
    let mut suspects = ZoneSuspects::default();
    let mut rrsets = contents.rrsets().peekable();
    while let Some(first) = rrsets.next() {
        let (mut cnames, mut others) = (0, 0);
        let mut look = |rrset: RrsetRef<'_>| {
            match rrset.rtype() {
                Rtype::CNAME => cnames += rrset.record_count(),
                rtype if may_stand_beside_cname(rtype) => {}
                _ => others += 1,
            }
            // Signatures have the TTL of what they sign, so those of one owner may differ (RFC 4034 section 3).
            let signatures = matches!(rrset.rtype(), Rtype::RRSIG | Rtype::SIG);
            if !rrset.has_one_ttl() && !signatures && suspects.ttls.len() < MAX_FOUND {
                suspects.ttls.insert((rrset.owner(), rrset.rtype()), None);
            }
        };
        look(first);
        while let Some(next) = rrsets.next_if(|next| next.labels() == first.labels()) {
            look(next);
        }
        if (cnames > 1 || cnames == 1 && others > 0) && suspects.cnames.len() < MAX_FOUND {
            suspects.cnames.insert(first.owner());
        }
    }
    suspects
}

/// Whether a type may have records where a CNAME is: RFC 4034 section 2.5 (RRSIG, NSEC) and RFC 2181 section 10.1
/// (their forerunners).
fn may_stand_beside_cname(rtype: Rtype) -> bool {
    matches!(rtype, Rtype::RRSIG | Rtype::NSEC | Rtype::KEY | Rtype::SIG | Rtype::NXT)
}

/// Reads the files again for the places.
fn locate(
    contents: &ZoneContents,
    mut suspects: ZoneSuspects,
    loader: &mut FileLoader<'_>,
    first: usize,
) -> Diagnostics {
    let mut found = Diagnostics::default();
    let files = loader.files().clone();
    // For each owner name with a CNAME: the place and type of its first record, then whether it was reported.
    let mut seen: HashMap<Name, (String, Rtype)> = HashMap::new();
    let mut take = |record: &super::parse::FileRecord<'_>, place: &super::parse::EntryPlace<'_>| {
        let owner = record.owner.to_name();
        if suspects.cnames.contains(&owner) && !may_stand_beside_cname(record.rtype) {
            match seen.get(&owner) {
                Some((earlier, kind)) if *kind == Rtype::CNAME || record.rtype == Rtype::CNAME => {
                    found.push(cname_clash(place, record, *kind).also(format!("the {kind} is at {earlier}")));
                }
                Some(_) => {}
                None => {
                    seen.insert(owner.clone(), (files.place(place.origin()).to_string(), record.rtype));
                }
            }
        }
        if let Some(ttl) = suspects.ttls.get_mut(&(owner, record.rtype)) {
            match ttl {
                None => *ttl = Some(record.ttl),
                Some(ttl) if *ttl != record.ttl => found.push(mixed_ttl(place, record, *ttl)),
                Some(_) => {}
            }
        }
        Ok(())
    };
    parse_zone(contents.apex(), loader, first, &mut take);
    found
}

/// The error of a record that may not be where another is.
fn cname_clash(
    place: &super::parse::EntryPlace<'_>,
    record: &super::parse::FileRecord<'_>,
    earlier: Rtype,
) -> Diagnostic {
    let owner = record.owner;
    if record.rtype == Rtype::CNAME && earlier == Rtype::CNAME {
        let error = place.record_error("multiple-cnames", format!("a second CNAME at `{owner}`"));
        return error.rule("a name has at most one CNAME (RFC 2181 section 10.1)").hint("remove one of them");
    }
    let error = place.record_error("cname-and-other-data", format!("`{owner}` has a CNAME and other data"));
    error.rule("only DNSSEC's records are allowed next to a CNAME (RFC 1034 section 3.6.2)").hint("remove one of them")
}

/// The warning about a record whose TTL is not that of the first of its RRset.
fn mixed_ttl(place: &super::parse::EntryPlace<'_>, record: &super::parse::FileRecord<'_>, first: Ttl) -> Diagnostic {
    let message = format!("TTL {} here, but {first} in the first record of the RRset", record.ttl);
    let warning = Diagnostic { severity: Severity::Warning, ..place.record_error("mixed-ttl", message) };
    warning.rule("an RRset has one TTL (RFC 2181 section 5.2); the lowest counts").hint("give all its records one TTL")
}
