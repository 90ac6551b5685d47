//! ipv4-map.txt: IPv4 network, location and VLAN to /64.

use std::cmp::Reverse;

use ipnet::Ipv4Net;

use super::meaning::{ExportRows, RowMeaning};
use super::text::{self, BAD_NETWORK, FIELD_COUNT, KeyedRow, LineFormat, RowFault, RowFaults, RowWord, TextRow};
use super::{Draft, ExportFormat, Renumbering, RowContext, SourceInput, SourcePart};
use crate::diag::Code;
use crate::inventory::model::{ExportEntry, Ipv4Map, Ipv4Row, Trust, UnreadableRow};
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::Vlan;

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "ipv4_map",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// An IPv4 network with two /64s.
const CONFLICT: RowFault = RowFault {
    code: Code::new("conflicting-networks"),
    rule: "IPv4 network, location and VLAN give one /64",
    hint: "remove the wrong row; until then the hosts of both are blocked `bad-input`",
};

/// A replacement for an IPv4 network that cannot be read: it may be any network, so no host is derived by guessing from
/// a wider row.
const ANY: Ipv4Net = Ipv4Net::new_assert(std::net::Ipv4Addr::UNSPECIFIED, 0);

/// One row whose location and VLAN can be read; the IPv4 network is there where that can be read too.
type MapRow = KeyedRow<((Symbol, Vlan), Option<Ipv4Net>)>;

/// What one chunk holds.
#[derive(Default)]
struct MapPiece {
    /// The locations.
    symbols: Symbols,
    /// The rows.
    rows: Vec<MapRow>,
    /// Rows whose location or VLAN cannot be read.
    unreadable: Vec<UnreadableRow>,
}

/// Reads ipv4-map.txt.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let shape = LineFormat { trailing_comments: true, ..LineFormat::default() };
    let (pieces, mut tally) = text::read_rows(input, context, &shape, |_| MapPiece::default(), read_row);
    text::read_dates(input, &mut tally);
    let mut symbols = Symbols::default();
    let mut rows = Vec::new();
    let mut unreadable = Vec::new();
    for piece in pieces {
        let numbers = Renumbering::merge(&mut symbols, &piece.symbols);
        unreadable.extend(piece.unreadable.into_iter().map(|row| renumbered(row, &numbers)));
        rows.extend(piece.rows.into_iter().map(|row| {
            let ((location, vlan), ipv4) = row.key;
            MapRow { key: ((numbers.symbol(location), vlan), ipv4), ..row }
        }));
    }
    let conflicts = text::take_conflicts(&mut rows, "network, location and VLAN", &mut tally);
    text::report_conflicts(&CONFLICT, conflicts, input, context, &mut tally);
    let fold = move |draft: &mut Draft, trust: Trust| {
        let numbers = Renumbering::merge(&mut draft.symbols, &symbols);
        for row in &mut rows {
            row.key.0.0 = numbers.symbol(row.key.0.0);
        }
        draft.ipv4_map = index(rows);
        draft.ipv4_map.unreadable = unreadable.into_iter().map(|row| renumbered(row, &numbers)).collect();
        draft.ipv4_map_trust = trust;
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// A row with the numbers of the whole.
fn renumbered(row: UnreadableRow, numbers: &Renumbering) -> UnreadableRow {
    UnreadableRow { location: row.location.map(|location| numbers.symbol(location)), ..row }
}

/// Reads one row.
fn read_row(piece: &mut MapPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>) {
    let mut words = text::words(row.text);
    let (ipv4, location, vlan, network) = (words.next(), words.next(), words.next(), words.next());
    let count = [&ipv4, &location, &vlan, &network].into_iter().flatten().count() + words.count();
    if count != 4 {
        faults.add_whole(&FIELD_COUNT, || {
            format!("{} instead of `IPV4-NETWORK LOCATION VLAN IPV6-NETWORK`", text::fields(count))
        });
    }
    let ipv4 = ipv4.and_then(|word| read_ipv4(&word, faults));
    let vlan = vlan.and_then(|word| text::read_vlan(&word, faults));
    let network = network.and_then(|word| text::read_net64(&word, faults));
    let location = location.map(|word| piece.symbols.intern(word.text));
    let (Some(location), Some(vlan)) = (location, vlan) else {
        // A row of which neither can be read concerns no host in particular.
        if location.is_some() || ipv4.is_some() {
            let network = ipv4.unwrap_or(ANY);
            piece.unreadable.push(UnreadableRow { location, vlan, network, origin: row.origin });
        }
        return;
    };
    let key = ((location, vlan), ipv4);
    piece.rows.push(MapRow { key, network: network.filter(|_| !faults.found()), origin: row.origin });
}

/// Reads an IPv4 network without host bits.
fn read_ipv4(word: &RowWord<'_>, faults: &mut RowFaults<'_, '_>) -> Option<Ipv4Net> {
    let network: Option<Ipv4Net> = word.text.parse().ok().filter(|network: &Ipv4Net| network.trunc() == *network);
    if network.is_none() {
        faults.add(&BAD_NETWORK, word.at.clone(), || format!("`{}` is not an IPv4 network", word.text));
    }
    network
}

/// Indexes the rows: for each location and VLAN one entry an IPv4 network, unreadable ones first, then the longest
/// prefix, then the file's order.
fn index(mut rows: Vec<MapRow>) -> Ipv4Map {
    // Of rows with the same IPv4 network, a bad one represents them all.
    rows.sort_by_key(|row| (row.key, row.network.is_some(), row.origin));
    rows.dedup_by(|next, first| next.key == first.key);
    rows.sort_by_key(|row| {
        let (key, ipv4) = row.key;
        (key, ipv4.map(|ipv4| Reverse(ipv4.prefix_len())), row.origin)
    });
    let mut map = Ipv4Map::default();
    for row in rows {
        let (key, ipv4) = row.key;
        let entry = match row.network {
            Some(network) => ExportEntry::Good(network, row.origin),
            None => ExportEntry::Bad(row.origin),
        };
        map.rows.entry(key).or_default().push((ipv4.unwrap_or(ANY), entry));
    }
    map
}

/// Which /64 carries the addresses of each IPv4 network of a datacenter's VLAN.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    let of_row = |location: Symbol, vlan: Vlan, (ipv4, entry): &Ipv4Row| match entry {
        ExportEntry::Good(network, _) => {
            Some((format!("{} {vlan} {ipv4}", said.symbols.text(location)), network.to_string()))
        }
        ExportEntry::Bad(_) => None,
    };
    let of_key = |((location, vlan), rows): (&(Symbol, Vlan), &Vec<Ipv4Row>)| -> Vec<RowMeaning> {
        rows.iter().filter_map(|row| of_row(*location, *vlan, row)).collect()
    };
    said.ipv4_map.rows.iter().flat_map(of_key).collect()
}
