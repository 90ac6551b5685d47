//! Updates as records of a message: the changes of RRsets, with what was seen of them as prerequisites. Pure.
//!
//! All deletions come before all additions: servers differ in how they handle another order. A record that stays with its
//! TTL is left alone, so that it keeps its capitals: names are compared and kept here in lower case, and a server that is
//! sent the record again takes the new letters. Where no record stays, or the TTL changes, the RRset is replaced whole:
//! Knot ignores a record that is there already with another TTL.
//!
//! Source: RFC 2136 sections 2.4 and 2.5.

use std::collections::HashSet;

use domain::base::iana::Class;

use crate::dns::{NameRef, Rdata, Rrset, Rtype};
use crate::target::RrsetEdit;

/// One record of an update.
#[derive(Debug, Clone, Copy)]
pub struct UpdateEntry<'a> {
    /// The owner name.
    pub owner: NameRef<'a>,
    /// The type.
    pub rtype: Rtype,
    /// Class IN: these data. ANY: all data of the RRset. NONE as a prerequisite: there is no RRset; as an update: these
    /// data go.
    pub class: Class,
    /// The TTL in seconds; 0 where nothing is added.
    pub ttl: u32,
    /// The RDATA; empty where it is about the whole RRset.
    pub rdata: &'a [u8],
}

impl<'a> UpdateEntry<'a> {
    /// The RRset of an edit, still without class and data.
    fn of(edit: &RrsetEdit<'a>) -> UpdateEntry<'a> {
        UpdateEntry { owner: owner(edit), rtype: edit.key.rtype, class: Class::ANY, ttl: 0, rdata: &[] }
    }
}

/// The types that may be at a name where a CNAME is created, and that no edit needs to be about. A message can ask for
/// the absence of an RRset, not of all others; what is not in this list is of no use next to host names.
pub const NEXT_TO_CNAME: [Rtype; 26] = [
    Rtype::A,
    Rtype::NS,
    Rtype::PTR,
    Rtype::HINFO,
    Rtype::MX,
    Rtype::TXT,
    Rtype::RP,
    Rtype::AFSDB,
    Rtype::AAAA,
    Rtype::LOC,
    Rtype::SRV,
    Rtype::NAPTR,
    Rtype::KX,
    Rtype::CERT,
    Rtype::DNAME,
    Rtype::DS,
    Rtype::SSHFP,
    Rtype::IPSECKEY,
    Rtype::DHCID,
    Rtype::TLSA,
    Rtype::SMIMEA,
    Rtype::OPENPGPKEY,
    Rtype::SVCB,
    Rtype::HTTPS,
    Rtype::URI,
    Rtype::CAA,
];

/// Whether an edit creates a CNAME: nothing else may be at its name then.
pub fn creates_cname(edit: &RrsetEdit<'_>) -> bool {
    edit.key.rtype == Rtype::CNAME && edit.kind.before().is_none() && edit.kind.after().is_some()
}

/// Gives what must hold before the edits.
///
/// Errors: what `push` gives.
pub fn prerequisites<'a, E>(
    edits: &[RrsetEdit<'a>],
    mut push: impl FnMut(UpdateEntry<'a>) -> Result<(), E>,
) -> Result<(), E> {
    // An edit of the CNAME itself says what is there: one that is deleted makes room for the others.
    let of_cname = |edit: &&RrsetEdit<'a>| edit.key.rtype == Rtype::CNAME;
    let mut without_cname: HashSet<NameRef<'a>> = edits.iter().filter(of_cname).map(owner).collect();
    for edit in edits {
        let entry = UpdateEntry::of(edit);
        match edit.kind.before() {
            Some(before) => before
                .rdata()
                .iter()
                .try_for_each(|rdata| push(UpdateEntry { class: Class::IN, rdata: rdata.as_octets(), ..entry }))?,
            None => push(UpdateEntry { class: Class::NONE, ..entry })?,
        }
        // A server ignores a record next to a CNAME, and answers that all is well (section 3.4.2.2).
        if edit.kind.after().is_some() && without_cname.insert(entry.owner) {
            push(UpdateEntry { class: Class::NONE, rtype: Rtype::CNAME, ..entry })?;
        }
        // It ignores a CNAME next to other data, too: what the update deletes in its favour would be gone for nothing.
        if creates_cname(edit) {
            let is_edited = |rtype: &Rtype| {
                edits.iter().any(|other| other.key.owner == edit.key.owner && other.key.rtype == *rtype)
            };
            let others = NEXT_TO_CNAME.into_iter().filter(|rtype| !is_edited(rtype));
            others.into_iter().try_for_each(|rtype| push(UpdateEntry { class: Class::NONE, rtype, ..entry }))?;
        }
    }
    Ok(())
}

/// Passes on the deletions, then the additions.
///
/// Errors: those of `push`.
pub fn updates<'a, E>(
    edits: &[RrsetEdit<'a>],
    mut push: impl FnMut(UpdateEntry<'a>) -> Result<(), E>,
) -> Result<(), E> {
    for edit in edits {
        let entry = UpdateEntry::of(edit);
        match (edit.kind.before(), edit.kind.after()) {
            (Some(before), Some(after)) if keeps_records(before, after) => missing(before, after)
                .try_for_each(|rdata| push(UpdateEntry { class: Class::NONE, rdata: rdata.as_octets(), ..entry }))?,
            (Some(_), _) => push(UpdateEntry { class: Class::ANY, ..entry })?,
            (None, _) => {}
        }
    }
    for edit in edits {
        let Some(after) = edit.kind.after() else { continue };
        let entry = UpdateEntry { class: Class::IN, ttl: after.ttl().as_secs(), ..UpdateEntry::of(edit) };
        let mut add = |rdata: &'a Rdata| push(UpdateEntry { rdata: rdata.as_octets(), ..entry });
        match edit.kind.before() {
            Some(before) if keeps_records(before, after) => missing(after, before).try_for_each(&mut add)?,
            _ => after.rdata().iter().try_for_each(&mut add)?,
        }
    }
    Ok(())
}

/// Whether some records of an RRset stay as they are.
fn keeps_records(before: &Rrset, after: &Rrset) -> bool {
    before.ttl() == after.ttl() && before.rdata().iter().any(|rdata| after.rdata().binary_search(rdata).is_ok())
}

/// The records of an RRset that another one lacks.
fn missing<'a>(of: &'a Rrset, lacks: &Rrset) -> impl Iterator<Item = &'a Rdata> {
    of.rdata().iter().filter(|rdata| lacks.rdata().binary_search(rdata).is_err())
}

/// The owner name of an edit.
fn owner<'a>(edit: &RrsetEdit<'a>) -> NameRef<'a> {
    edit.key.owner.as_name()
}
