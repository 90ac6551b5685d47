//! l3-tors.txt: switch and VLAN to /64.

use std::collections::hash_map::Entry as Slot;

use super::meaning::{ExportRows, RowMeaning};
use super::text::{self, FIELD_COUNT, KeyedRow, LineFormat, RowFault, RowFaults, TextRow};
use super::{Draft, ExportFormat, Renumbering, RowContext, SourceInput, SourcePart};
use crate::diag::Code;
use crate::inventory::model::{ExportEntry, Tors, Trust};
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::{Net64, Vlan};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "l3_tors",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Optional,
    gives_names: false,
    read,
    meanings,
};

/// A switch and VLAN with two networks.
const CONFLICT: RowFault = RowFault {
    code: Code::new("conflicting-networks"),
    rule: "switch and VLAN give exactly one /64",
    hint: "remove the wrong row; until then the hosts of both are blocked `bad-input`",
};

/// One row whose switch can be read; the VLAN is there where that can be read too.
type TorRow = KeyedRow<(Symbol, Option<Vlan>)>;

/// What one chunk holds.
#[derive(Default)]
struct TorPiece {
    /// The switches.
    symbols: Symbols,
    /// The rows.
    rows: Vec<TorRow>,
}

/// Reads l3-tors.txt.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let shape = LineFormat { trailing_comments: true, ..LineFormat::default() };
    let (pieces, mut tally) = text::read_rows(input, context, &shape, |_| TorPiece::default(), read_tor);
    text::read_dates(input, &mut tally);
    let mut symbols = Symbols::default();
    let mut rows = Vec::with_capacity(pieces.iter().map(|piece| piece.rows.len()).sum());
    for piece in pieces {
        let numbers = Renumbering::merge(&mut symbols, &piece.symbols);
        rows.extend(piece.rows.into_iter().map(|row| TorRow { key: (numbers.symbol(row.key.0), row.key.1), ..row }));
    }
    let conflicts = text::take_conflicts(&mut rows, "switch and VLAN", &mut tally);
    text::report_conflicts(&CONFLICT, conflicts, input, context, &mut tally);
    let fold = move |draft: &mut Draft, trust: Trust| {
        let numbers = Renumbering::merge(&mut draft.symbols, &symbols);
        for row in &mut rows {
            row.key.0 = numbers.symbol(row.key.0);
        }
        draft.tors = index(&rows);
        draft.tors_trust = trust;
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Reads one row.
fn read_tor(piece: &mut TorPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>) {
    let mut words = text::words(row.text);
    let (switch, vlan, network) = (words.next(), words.next(), words.next());
    let count = [&switch, &vlan, &network].into_iter().flatten().count() + words.count();
    if count != 3 {
        faults.add_whole(&FIELD_COUNT, || format!("{} instead of `SWITCH VLAN NETWORK`", text::fields(count)));
    }
    let Some(switch) = switch else { return };
    let vlan = vlan.and_then(|vlan| text::read_vlan(&vlan, faults));
    let network = network.and_then(|network| text::read_net64(&network, faults));
    piece.rows.push(TorRow {
        key: (piece.symbols.intern(switch.text), vlan),
        network: network.filter(|_| !faults.found()),
        origin: row.origin,
    });
}

/// Indexes the rows, which are sorted by switch, VLAN and place.
fn index(rows: &[TorRow]) -> Tors {
    let mut tors = Tors::default();
    for row in rows {
        let (switch, vlan) = row.key;
        tors.switches.insert(switch);
        let Some(vlan) = vlan else {
            tors.unreadable.entry(switch).or_insert(row.origin);
            continue;
        };
        match (tors.networks.entry((switch, vlan)), row.network) {
            (Slot::Vacant(slot), Some(network)) => {
                slot.insert(ExportEntry::Good(network, row.origin));
            }
            (Slot::Vacant(slot), None) => {
                slot.insert(ExportEntry::Bad(row.origin));
            }
            (Slot::Occupied(mut slot), None) if matches!(slot.get(), ExportEntry::Good(..)) => {
                slot.insert(ExportEntry::Bad(row.origin));
            }
            (Slot::Occupied(_), _) => {}
        }
    }
    tors
}

/// Which /64 each VLAN of a switch is.
fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    let meaning = |((switch, vlan), entry): (&(Symbol, Vlan), &ExportEntry<Net64>)| match entry {
        ExportEntry::Good(network, _) => Some((format!("{} {vlan}", said.symbols.text(*switch)), network.to_string())),
        ExportEntry::Bad(_) => None,
    };
    said.tors.networks.iter().filter_map(meaning).collect()
}
