//! Updates as messages: what is to become of RRsets, with what was seen of them as its prerequisite.
//!
//! Comes in: an update. Goes out: the octets of an UPDATE message. Pure.
//!
//! All prerequisites come first (section 2.4), then all that is deleted, then all that is added: servers differ in what
//! they make of another order. An RRset is always replaced whole, because Knot passes over a record that is there already
//! with another TTL.
//!
//! Source: RFC 2136 section 2.

use std::collections::HashSet;
use std::sync::Arc;

use domain::base::MessageBuilder;
use domain::base::iana::{Class, Opcode};
use domain::base::message_builder::{AdditionalBuilder, HashCompressor, PushError};
use domain::base::name::Name as LibraryName;
use domain::base::rdata::UnknownRecordData;
use domain::rdata::tsig::Time48;
use domain::tsig::{ClientTransaction, Key};

use crate::dns::{NameRef, Rrset, Rtype, ZoneName};
use crate::provider::write::{Edit, Update, UpdateLimits};

/// What one update may hold. A message holds some 1 700 new RRsets of short names; 500 edits leave most of them well
/// below the limit, more make no server faster (no official source), and one refusal concerns fewer hosts. 60 KiB leave
/// room for header, zone and signature.
pub const LIMITS: UpdateLimits = UpdateLimits { edits: 500, octets: 60 * 1024 };

/// The longest message (RFC 1035 section 4.2.2).
const MAX_MESSAGE: usize = 65_535;

/// What a name takes that is compressed to the last label (RFC 1035 section 4.1.4).
const POINTER: usize = 2;

/// What a record takes beside owner name and RDATA: type, class, TTL and length (RFC 1035 section 4.1.3).
const FIXED: usize = 10;

/// An update that no message holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

impl From<PushError> for TooLarge {
    fn from(_: PushError) -> TooLarge {
        TooLarge
    }
}

/// The message of an update, and with what the signature of its answer is checked.
#[derive(Debug)]
pub struct Lowered {
    /// The message.
    pub octets: Vec<u8>,
    /// What the answer is checked with, where there is a key.
    pub transaction: Option<ClientTransaction<Arc<Key>>>,
}

/// Makes the message of an update, signed at the time `now` where there is a key.
pub fn lower(update: &Update<'_>, id: u16, key: Option<Arc<Key>>, now: Time48) -> Result<Lowered, TooLarge> {
    let mut message = MessageBuilder::from_target(HashCompressor::new(Vec::new())).expect("a header fits");
    let signature = key.as_ref().map_or(0, |key| usize::from(key.compose_len()));
    // The limit is the first length that is too long.
    message.set_push_limit(MAX_MESSAGE + 1 - signature);
    message.header_mut().set_id(id);
    message.header_mut().set_opcode(Opcode::UPDATE);
    let mut message = message.question();
    message.push((library_name(update.zone.as_name()), Rtype::SOA, Class::IN))?;
    let mut message = message.answer();
    push_prerequisites(&update.edits, |entry| message.push(entry.to_record()))?;
    let mut message = message.authority();
    push_updates(&update.edits, |entry| message.push(entry.to_record()))?;
    let mut message = message.additional();
    message.set_push_limit(MAX_MESSAGE + 1);
    let transaction = key.map(|key| sign(key, &mut message, now)).transpose()?;
    Ok(Lowered { octets: message.finish().into_target(), transaction })
}

/// The most octets that an edit takes in an update of this zone.
///
/// Every owner name ends in a pointer to the zone's apex. That one which stands there already is a pointer and nothing
/// else is not counted on: only the first 16 KiB of a message can be pointed to.
pub fn octets(zone: &ZoneName, edit: Edit<'_>) -> usize {
    let below_apex = edit.key.owner.as_name().as_wire().len() - zone.as_name().as_wire().len();
    let record = |rdata: usize| below_apex + POINTER + FIXED + rdata;
    let records = |rrset: &Rrset| rrset.rdata().iter().map(|rdata| record(rdata.as_octets().len())).sum::<usize>();
    let (before, after) = (edit.kind.before(), edit.kind.after());
    let prerequisite = before.map_or(record(0), records);
    let deleted = before.map_or(0, |_| record(0));
    let added = after.map_or(0, |after| record(0) + records(after));
    prerequisite + deleted + added
}

/// Adds what must hold before the update.
fn push_prerequisites<'a>(edits: &[Edit<'a>], mut push: impl FnMut(Entry<'a>) -> Pushed) -> Pushed {
    let of_cname = |edit: &&Edit<'a>| edit.key.rtype == Rtype::CNAME;
    let mut without_cname: HashSet<NameRef<'a>> = edits.iter().filter(of_cname).map(owner).collect();
    for edit in edits {
        let entry = Entry::of(edit);
        match edit.kind.before() {
            Some(before) => before
                .rdata()
                .iter()
                .try_for_each(|rdata| push(Entry { class: Class::IN, rdata: rdata.as_octets(), ..entry }))?,
            None => push(Entry { class: Class::NONE, ..entry })?,
        }
        // A server passes over a record that comes beside a CNAME, and says that all is well (section 3.4.2.2).
        if edit.kind.after().is_some() && without_cname.insert(entry.owner) {
            push(Entry { class: Class::NONE, rtype: Rtype::CNAME, ..entry })?;
        }
    }
    Ok(())
}

/// Adds what is deleted, then what is added.
fn push_updates<'a>(edits: &[Edit<'a>], mut push: impl FnMut(Entry<'a>) -> Pushed) -> Pushed {
    for edit in edits.iter().filter(|edit| edit.kind.before().is_some()) {
        push(Entry { class: Class::ANY, ..Entry::of(edit) })?;
    }
    for edit in edits {
        let Some(after) = edit.kind.after() else { continue };
        let entry = Entry { class: Class::IN, ttl: after.ttl().as_secs(), ..Entry::of(edit) };
        after.rdata().iter().try_for_each(|rdata| push(Entry { rdata: rdata.as_octets(), ..entry }))?;
    }
    Ok(())
}

/// Signs a message.
fn sign(
    key: Arc<Key>,
    message: &mut AdditionalBuilder<HashCompressor<Vec<u8>>>,
    now: Time48,
) -> Result<ClientTransaction<Arc<Key>>, TooLarge> {
    Ok(ClientTransaction::request(key, message, now)?)
}

/// The owner name of an edit.
fn owner<'a>(edit: &Edit<'a>) -> NameRef<'a> {
    edit.key.owner.as_name()
}

/// A name as the library has it.
fn library_name(name: NameRef<'_>) -> LibraryName<&[u8]> {
    LibraryName::from_octets(name.as_wire()).expect("names are wire format")
}

/// Whether a record found room.
type Pushed = Result<(), PushError>;

/// One record of an update.
#[derive(Clone, Copy)]
struct Entry<'a> {
    /// The owner name.
    owner: NameRef<'a>,
    /// The type.
    rtype: Rtype,
    /// What is meant: these data (IN), none (NONE), or all (ANY).
    class: Class,
    /// The TTL in seconds; 0 where nothing is added.
    ttl: u32,
    /// The RDATA; empty where the whole RRset is meant.
    rdata: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The RRset of an edit: what to say of it is left open.
    fn of(edit: &Edit<'a>) -> Entry<'a> {
        Entry { owner: owner(edit), rtype: edit.key.rtype, class: Class::ANY, ttl: 0, rdata: &[] }
    }

    /// As the library composes it, the RDATA never compressed.
    fn to_record(self) -> (LibraryName<&'a [u8]>, Class, u32, UnknownRecordData<&'a [u8]>) {
        let rdata = UnknownRecordData::from_octets(self.rtype, self.rdata).expect("RDATA have at most 65 535 octets");
        (library_name(self.owner), self.class, self.ttl, rdata)
    }
}
