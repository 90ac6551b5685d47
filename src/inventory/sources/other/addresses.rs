//! Exports of devices and of addresses of other systems: the addresses of their hosts.

use std::net::IpAddr;

use super::macs::{AMBIGUOUS, devices_of};
use super::{AskedFields, RowFilter};
use crate::diag::{Diagnostic, Origin};
use crate::inventory::addresses::{AddressRow, ListedInterface};
use crate::inventory::model::Trust;
use crate::inventory::sources::addresses_csv::{self, AddressPiece, BAD_ADDRESS};
use crate::inventory::sources::records::{Dialect, ExportRecord, ExportRecords, RowReading, WantedField, read_records};
use crate::inventory::sources::text::{RowFault, RowFaults};
use crate::inventory::sources::{Draft, RowContext, SourceInput, SourcePart};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::Inv;

/// What is particular about the addresses of a system, as names of fields. A row is about a device with its primary
/// addresses, or about an address with its interface.
pub struct AddressSystem {
    /// How its files are written.
    pub dialect: Dialect,
    /// The primary addresses of a device, each in the first of these fields that is there.
    pub primary: &'static [&'static [&'static str]],
    /// The number and the name of a device, in its own row.
    pub own_device: (&'static str, &'static str),
    /// The address, in a row of its own.
    pub address: &'static str,
    /// The interface that has it: the first of these that is there.
    pub interface: &'static [&'static str],
    /// The number of the device of that interface.
    pub device_id: &'static str,
    /// The name of that device: the first of these that is there.
    pub device: &'static [&'static str],
}

/// An address that no host can have, in another system.
const WRONG_ADDRESS: RowFault = RowFault {
    code: BAD_ADDRESS.code,
    rule: "an address is IPv4 or IPv6, with a prefix length or without, and one that a host can have",
    hint: "correct it where the export comes from; until then its host is frozen",
};

/// Whose an address is.
enum AddressOwner {
    /// The host's.
    Host(Inv),
    /// That of the device with this number and name.
    Device(Option<u64>, Symbol),
}

/// What one chunk holds.
#[derive(Default)]
struct OwnedPiece {
    /// The rows and the names of their interfaces; those of a device have no host's number yet.
    piece: AddressPiece,
    /// Whose each row is.
    owners: Vec<AddressOwner>,
    /// The names of devices.
    devices: Symbols,
}

/// Where the fields of a row are.
struct AddressFieldPlaces {
    /// The inventory number, in the row of a device.
    inv: Option<usize>,
    /// The primary addresses.
    primary: Vec<Vec<usize>>,
    /// The number and name of a device, in its own row.
    own_device: (usize, usize),
    /// The address.
    address: usize,
    /// Its interface.
    interface: Vec<usize>,
    /// The number of its device.
    device_id: usize,
    /// The name of its device.
    device: Vec<usize>,
}

/// Reads a source of addresses.
pub fn read(input: &SourceInput<'_>, context: &RowContext<'_>, system: &AddressSystem) -> SourcePart {
    let mut asked = AskedFields::default();
    let mut ask = |field: &str| asked.ask(WantedField::optional(field));
    let places = AddressFieldPlaces {
        inv: input.spec.mapping.field("inv").map(&mut ask),
        primary: system.primary.iter().map(|fields| fields.iter().map(|field| ask(field)).collect()).collect(),
        own_device: (ask(system.own_device.0), ask(system.own_device.1)),
        address: ask(system.address),
        interface: system.interface.iter().map(|field| ask(field)).collect(),
        device_id: ask(system.device_id),
        device: system.device.iter().map(|field| ask(field)).collect(),
    };
    let only = RowFilter::new(&input.spec.mapping, &mut asked);
    let row = |piece: &mut OwnedPiece, record: &ExportRecord<'_, '_>, faults: &mut RowFaults<'_, '_>| {
        if only.has(record, faults) {
            read_row(piece, record, &places, faults);
        }
    };
    let reading = RowReading::new(&asked.0, &system.dialect, OwnedPiece::default, row);
    let ExportRecords { pieces, tally, crowded } = read_records(input, context, &reading);
    let fold = move |draft: &mut Draft, trust: Trust| {
        draft.crowded.extend(crowded);
        if draft.devices.is_empty() {
            draft.devices = devices_of(&draft.hosts);
        }
        let mut lost = LostAddresses::default();
        for piece in pieces {
            let piece = of_hosts(draft, piece, &mut lost);
            addresses_csv::take_in(draft, piece);
        }
        lost.report(draft);
        addresses_csv::finish(draft, trust);
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Reads one row: of a device, or of an address of an interface. One without an address, or without an owner, is about
/// nothing that is looked for.
fn read_row(
    piece: &mut OwnedPiece,
    record: &ExportRecord<'_, '_>,
    places: &AddressFieldPlaces,
    faults: &mut RowFaults<'_, '_>,
) {
    faults.hush();
    let first = |fields: &[usize]| fields.iter().copied().find(|place| !record.text(*place).is_empty());
    let listed = Some(places.address).filter(|place| !record.text(*place).is_empty());
    let primary = places.primary.iter().filter_map(|fields| first(fields));
    let found: Vec<usize> = listed.map_or_else(|| primary.collect(), |place| vec![place]);
    let (id, name) = match listed {
        Some(_) => (places.device_id, first(&places.device)),
        None => (places.own_device.0, Some(places.own_device.1)),
    };
    let (id, name) = (record.text(id).parse().ok(), name.map(|name| record.text(name)).unwrap_or_default());
    let inv = places.inv.filter(|_| listed.is_none()).and_then(|place| record.text(place).parse().ok());
    let interface = first(&places.interface).filter(|_| listed.is_some());
    let is_owned = inv.is_some() || id.is_some() || !name.is_empty();
    let is_assigned = is_owned && (listed.is_none() || interface.is_some());
    if (found.is_empty() || !is_assigned) && !faults.found() {
        return faults.pass_over();
    }
    record.judge(faults);
    let interface = match interface {
        Some(place) => ListedInterface::Named(piece.piece.symbols.intern(record.text(place))),
        None => ListedInterface::Primary,
    };
    for place in found {
        let address = read_address(record, place, faults).filter(|_| !faults.found());
        let owner = match inv {
            Some(inv) => AddressOwner::Host(inv),
            None => AddressOwner::Device(id, piece.devices.intern(name)),
        };
        piece.owners.push(owner);
        piece.piece.rows.push(AddressRow { inv: Inv(0), interface, address, origin: record.row.origin });
    }
}

/// Reads an address; what follows a slash is the length of its prefix.
fn read_address(record: &ExportRecord<'_, '_>, place: usize, faults: &mut RowFaults<'_, '_>) -> Option<IpAddr> {
    let text = record.text(place);
    let bare = text.split_once('/').map_or(text, |(address, _)| address);
    match addresses_csv::parse_address(bare) {
        Ok(address) => Some(address),
        Err(why) => {
            record.fault(place, &WRONG_ADDRESS, faults, || format!("`{text}` {why}"));
            None
        }
    }
}

/// The addresses of devices that no host is known as.
#[derive(Default)]
struct LostAddresses {
    /// How many rows were joined with a host.
    joined: usize,
    /// How many were not.
    count: usize,
    /// The first of these.
    first: Option<Origin>,
}

impl LostAddresses {
    /// Warns where no row is about a known host: an export has addresses of switches, too, but not only those.
    fn report(self, draft: &mut Draft) {
        let (0, Some(first), false) = (self.joined, self.first, draft.hosts.is_empty()) else { return };
        let message = format!("no host is known as the device of any of the {} addresses", self.count);
        let diagnostic = Diagnostic::warning("unknown-devices", first, message);
        draft.found.push(diagnostic.rule(AMBIGUOUS.rule).hint("export the addresses of the devices that are hosts"));
    }
}

/// The rows of a chunk, each for its host; those of devices without a known host, such as switches, are dropped.
fn of_hosts(draft: &mut Draft, owned: OwnedPiece, lost: &mut LostAddresses) -> AddressPiece {
    let OwnedPiece { piece: AddressPiece { symbols, rows }, owners, devices } = owned;
    let mut found = Vec::with_capacity(rows.len());
    for (owner, row) in owners.into_iter().zip(rows) {
        let invs = match owner {
            AddressOwner::Host(inv) => vec![inv],
            AddressOwner::Device(id, name) => draft.devices.find(id, devices.text(name)),
        };
        lost.joined += usize::from(!invs.is_empty());
        match invs[..] {
            [] => {
                lost.count += 1;
                lost.first.get_or_insert(row.origin);
            }
            [inv] => found.push(AddressRow { inv, ..row }),
            [one, other, ..] => {
                let message = format!("the device may be host {one} or {other}");
                let make = || Diagnostic::error(AMBIGUOUS.code, row.origin, message);
                draft.found.push_bounded(row.origin.file, || make().rule(AMBIGUOUS.rule).hint(AMBIGUOUS.hint));
                // It is unknown which host has the address, so neither may use it.
                found.extend(invs.iter().map(|inv| AddressRow { inv: *inv, address: None, ..row.clone() }));
            }
        }
    }
    AddressPiece { symbols, rows: found }
}
