//! MAC reports: JSON lines, one report a line.

use std::collections::BTreeMap;

use super::json_line::{self, LineFields, LineRead, LineValue};
use super::meaning::{ExportRows, RowMeaning};
use super::text::{self, LineFormat, RowFault, RowFaults, TextRow};
use super::{Draft, ExportFormat, Renumbering, RowClock, RowContext, SourceInput, SourcePart};
use crate::diag::Code;
use crate::inventory::model::{MacReport, MacSource, Sighting, Trust};
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::{Inv, Mac};

/// The format.
pub const FORMAT: ExportFormat = ExportFormat {
    key: "mac",
    word: OWN,
    keys: SourceKeys::NONE,
    occurs: Occurrence::Listed,
    gives_names: false,
    read,
    meanings,
};

/// A key with the wrong value.
const BAD_REPORT: RowFault = RowFault {
    code: Code::new("bad-report"),
    rule: "time, inv and mac are required; switch, port and active may be left out",
    hint: "find out which program wrote this line",
};

/// A MAC that no interface has.
pub const BAD_MAC: RowFault = RowFault {
    code: Code::new("bad-mac"),
    rule: "a MAC is twelve hexadecimal digits; it is not multicast and not all zeros",
    hint: "find out which program wrote this line; its host is frozen until a newer report",
};

/// A report from the future.
pub const FUTURE: RowFault = RowFault {
    code: Code::new("future-report"),
    rule: "the time of a report is at most 5 minutes ahead of the clock of this machine",
    hint: "correct the clock of the machine that reported it",
};

/// What one chunk holds.
#[derive(Default)]
struct ReportPiece {
    /// The switches.
    symbols: Symbols,
    /// The reports.
    reports: Vec<MacReport>,
}

/// Reads one source of MACs.
fn read(input: &SourceInput<'_>, context: &RowContext<'_>) -> SourcePart {
    let shape = LineFormat { cut_is_a_row: true, ..LineFormat::default() };
    let start = |rows| ReportPiece { reports: Vec::with_capacity(rows), ..ReportPiece::default() };
    let (pieces, tally) = text::read_rows(input, context, &shape, start, |piece, row, faults| {
        read_report(piece, row, faults, context.clock);
    });
    let (name, max_age, penalty) = (input.spec.name.clone(), input.spec.max_age, input.spec.penalty);
    let fold = move |draft: &mut Draft, trust: Trust| {
        let source = draft.mac_sources.len() as u16;
        draft.mac_sources.push(MacSource { name, max_age, penalty, trust, gave: None });
        for mut piece in pieces {
            let numbers = Renumbering::merge(&mut draft.symbols, &piece.symbols);
            for report in &mut piece.reports {
                report.source = source;
                if let Sighting::Active { switch: Some(switch), .. } = &mut report.sighting {
                    *switch = numbers.symbol(*switch);
                }
            }
            draft.reports.push(piece.reports);
        }
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Reads one line. Without a readable number or time it is reported and belongs to no host.
fn read_report(piece: &mut ReportPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>, clock: &RowClock) {
    let Some(LineRead { fields, .. }) = json_line::read::<ReportFields<'_>>(row, faults) else { return };
    let time = json_line::read_time(&fields.time, &BAD_REPORT, faults);
    let is_ahead = time.is_some_and(|time| clock.is_ahead(time));
    if let Some(time) = time.filter(|_| is_ahead) {
        faults.add_whole(&FUTURE, || format!("the report is dated {time}"));
    }
    let inv = read_inv(&fields, faults);
    let sighting = read_sighting(piece, &fields, faults);
    if let (Some(time), Some(inv)) = (time, inv) {
        let sighting = match sighting {
            sighting if is_ahead => Sighting::Ahead { mac: sighting.and_then(Sighting::mac) },
            Some(sighting) if !faults.found() => sighting,
            _ => Sighting::Bad,
        };
        piece.reports.push(MacReport { inv, time, sighting, source: 0, origin: row.origin });
    }
}

/// Reads the inventory number.
fn read_inv(fields: &ReportFields<'_>, faults: &mut RowFaults<'_, '_>) -> Option<Inv> {
    match fields.inv {
        LineValue::Number(inv) => Some(Inv(inv)),
        _ => {
            faults.add_whole(&BAD_REPORT, || fields.inv.missing("inv", "an unsigned integer"));
            None
        }
    }
}

/// Reads what was seen.
fn read_sighting(
    piece: &mut ReportPiece,
    fields: &ReportFields<'_>,
    faults: &mut RowFaults<'_, '_>,
) -> Option<Sighting> {
    let active = match fields.active {
        LineValue::Bool(active) => active,
        LineValue::Absent | LineValue::Null => true,
        _ => {
            faults.add_whole(&BAD_REPORT, || fields.active.missing("active", "true or false"));
            true
        }
    };
    let switch = read_optional(&fields.switch, "switch", faults);
    read_optional(&fields.port, "port", faults);
    let LineValue::Text(text) = &fields.mac else {
        faults.add_whole(&BAD_REPORT, || fields.mac.missing("mac", "a MAC in quotes"));
        return None;
    };
    let mac: Mac = match text.parse() {
        Ok(mac) => mac,
        Err(error) => {
            faults.add_whole(&BAD_MAC, || format!("the MAC `{text}` {error}"));
            return None;
        }
    };
    if !active {
        return Some(Sighting::Inactive { mac });
    }
    // The switch is probably that of the report before.
    let likely = piece.reports.last().and_then(|report| report.sighting.switch());
    let switch: Option<Symbol> = switch.map(|switch| piece.symbols.intern_likely(switch, likely));
    Some(Sighting::Active { mac, switch })
}

/// Reads text that may be left out, null or empty.
fn read_optional<'f>(field: &'f LineValue<'_>, key: &str, faults: &mut RowFaults<'_, '_>) -> Option<&'f str> {
    json_line::optional_text(field, key, faults).unwrap_or_else(|message| {
        faults.add_whole(&BAD_REPORT, || message);
        None
    })
}

/// The known keys of a report; others are ignored, since agents may add some.
#[derive(Debug, PartialEq, Default)]
struct ReportFields<'a> {
    /// `time`.
    time: LineValue<'a>,
    /// `inv`.
    inv: LineValue<'a>,
    /// `mac`.
    mac: LineValue<'a>,
    /// `switch`.
    switch: LineValue<'a>,
    /// `port`.
    port: LineValue<'a>,
    /// `active`.
    active: LineValue<'a>,
}

impl<'a> LineFields<'a> for ReportFields<'a> {
    fn field(&mut self, key: &str) -> Option<(&'static str, &mut LineValue<'a>)> {
        Some(match key {
            "time" => ("time", &mut self.time),
            "inv" => ("inv", &mut self.inv),
            "mac" => ("mac", &mut self.mac),
            "switch" => ("switch", &mut self.switch),
            "port" => ("port", &mut self.port),
            "active" => ("active", &mut self.active),
            _ => return None,
        })
    }
}

/// The MAC and the switch of each host, by the latest report of this source that says it is in use.
pub fn meanings(said: &ExportRows<'_>) -> Vec<RowMeaning> {
    let active =
        |report: &&MacReport| report.source == said.source && matches!(report.sighting, Sighting::Active { .. });
    let mut latest: BTreeMap<Inv, &MacReport> = BTreeMap::new();
    for report in said.reports.iter().copied().flatten().filter(active) {
        let kept = latest.entry(report.inv).or_insert(report);
        if kept.time < report.time {
            *kept = report;
        }
    }
    let meaning = |(inv, report): (Inv, &MacReport)| {
        let mac = report.sighting.mac()?;
        let switch = report.sighting.switch().map(|switch| said.symbols.text(switch)).unwrap_or("no switch");
        Some((inv.to_string(), format!("{mac}, {switch}")))
    };
    latest.into_iter().filter_map(meaning).collect()
}
