//! The addresses of hosts, as the inventory lists them: CSV, an address of an interface a row.

use std::net::IpAddr;

use super::hosts_csv::{self, RowField};
use super::meaning::{ExportRows, RowMeaning};
use super::text::{self, BAD_INV, LineFormat, RowFault, RowFaults, TextRow};
use super::{Draft, ExportFormat, Renumbering, RowContext, SourceInput, SourcePart};
use crate::diag::Code;
use crate::inventory::addresses::{AddressRow, ListedInterface};
use crate::inventory::model::Trust;
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::Symbols;
use crate::inventory::value::Inv;

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "addresses",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// The columns.
pub const HEADER: &str = "inv,interface,address";

/// A row that lacks something.
const EMPTY: RowFault = RowFault {
    code: hosts_csv::EMPTY_FIELD.code,
    rule: "inv, interface and address are never empty",
    hint: "complete the row; until then its host is frozen",
};

/// An address that no host can have.
pub const BAD_ADDRESS: RowFault = RowFault {
    code: Code::new("bad-address"),
    rule: "an address is IPv4 or IPv6, without a prefix length, and one that a host can have",
    hint: "correct the address; until then its host is frozen",
};

/// The rows of a chunk, with the names of their interfaces.
#[derive(Default)]
pub struct AddressPiece {
    /// The names of interfaces.
    pub symbols: Symbols,
    /// The rows.
    pub rows: Vec<AddressRow>,
}

/// Reads the rows.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let shape = LineFormat { header: Some(HEADER), ..LineFormat::default() };
    let (pieces, mut tally) = text::read_rows(input, context, &shape, |_| AddressPiece::default(), read_row);
    text::read_dates(input, &mut tally);
    let fold = move |draft: &mut Draft, trust: Trust| {
        for piece in pieces {
            take_in(draft, piece);
        }
        finish(draft, trust);
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Takes the rows of a chunk into the draft.
pub fn take_in(draft: &mut Draft, AddressPiece { symbols, rows }: AddressPiece) {
    let numbers = Renumbering::merge(&mut draft.symbols, &symbols);
    draft.addresses.extend(rows.into_iter().map(|row| {
        let interface = match row.interface {
            ListedInterface::Named(name) => ListedInterface::Named(numbers.symbol(name)),
            other => other,
        };
        AddressRow { interface, ..row }
    }));
}

/// Sorts the rows once all are there.
pub fn finish(draft: &mut Draft, trust: Trust) {
    draft.addresses.sort_by_key(|row| (row.inv, row.origin));
    draft.addresses_trust = trust;
}

/// Reads one row; without a readable inventory number it belongs to no host, and is only reported.
fn read_row(piece: &mut AddressPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>) {
    let [inv, interface, address]: [RowField<'_>; 3] = hosts_csv::split(row.text, faults);
    // Where the fields of the row are wrong, a value may be in the wrong column.
    let columns_are_known = !faults.found();
    faults.hush();
    let number: Option<Inv> = inv.text.parse().ok();
    if number.is_none() {
        faults.add(&BAD_INV, inv.at.clone(), || format!("`{}` is not an inventory number", inv.text));
    }
    if interface.text.trim_ascii().is_empty() {
        faults.add(&EMPTY, interface.at.clone(), || "the interface is empty".into());
    }
    let read = parse_address(&address.text);
    if address.text.trim_ascii().is_empty() {
        faults.add(&EMPTY, address.at.clone(), || "the address is empty".into());
    } else if let Err(why) = &read {
        faults.add(&BAD_ADDRESS, address.at.clone(), || format!("`{}` {why}", address.text));
    }
    let Some(inv) = number else { return };
    let interface = match interface.text.trim_ascii() {
        "" => ListedInterface::Unreadable,
        _ if !columns_are_known => ListedInterface::Unreadable,
        name => ListedInterface::Named(piece.symbols.intern(name)),
    };
    let address = read.ok().filter(|_| !faults.found());
    piece.rows.push(AddressRow { inv, interface, address, origin: row.origin });
}

/// Reads an address that a host can have; else says in words why it is none.
pub fn parse_address(text: &str) -> Result<IpAddr, &'static str> {
    let address: IpAddr = text.trim_ascii().parse().map_err(|_| "is not an address")?;
    let is_local = match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    match address {
        IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some() => Err("is an IPv4 address inside an IPv6 address"),
        _ if address.is_unspecified() => Err("is the address of no host"),
        _ if address.is_multicast() => Err("is a multicast address"),
        _ if address.is_loopback() => Err("is a loopback address"),
        _ if is_local => Err("means something on its own link alone"),
        _ => Ok(address),
    }
}

/// The addresses of each interface.
pub fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    let meaning = |row: &AddressRow| {
        let interface = match row.interface {
            ListedInterface::Named(name) => said.symbols.text(name),
            ListedInterface::Primary => "primary",
            ListedInterface::Unreadable => return None,
        };
        Some((format!("{} {interface}", row.inv), row.address?.to_string()))
    };
    said.addresses.iter().filter_map(meaning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_that_a_host_can_have() {
        for text in ["192.0.2.1", "10.0.0.1", "2001:db8::1", "fd00::1", " 192.0.2.1 "] {
            assert!(parse_address(text).is_ok(), "{text}");
        }
        let wrong = ["", "192.0.2.1/24", "192.0.2.300", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "127.0.0.1", "::1"];
        for text in wrong.into_iter().chain(["169.254.1.1", "255.255.255.255", "fe80::1", "::ffff:192.0.2.1"]) {
            assert!(parse_address(text).is_err(), "{text}");
        }
    }
}
