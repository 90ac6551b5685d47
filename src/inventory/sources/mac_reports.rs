//! MAC reports: JSON lines, one report a line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::meaning::{ExportRows, RowMeaning};
use super::text::{self, BAD_TIME, LineFormat, RowFault, RowFaults, TextRow};
use super::{Draft, ExportFormat, Renumbering, RowContext, SourceInput, SourcePart};
use crate::diag::Code;
use crate::inventory::model::{MacReport, MacSource, Sighting, Trust};
use crate::inventory::source::{OWN, Occurrence, SourceKeys};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::{CLOCK_SKEW, Inv, Mac, Time};

mod plain;

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

/// A line that is not a JSON object.
const BAD_JSON: RowFault = RowFault {
    code: Code::new("bad-json"),
    rule: "a report is one JSON object on one line, each key once",
    hint: "find out which program wrote this line",
};

/// A line without an end.
const CUT: RowFault = RowFault {
    code: Code::new("cut-line"),
    rule: "every line ends with a newline; the last one may be incomplete without it",
    hint: "export again; append whole lines only",
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
    let latest = context.now.plus(CLOCK_SKEW);
    let start = |rows| ReportPiece { reports: Vec::with_capacity(rows), ..ReportPiece::default() };
    let (pieces, tally) = text::read_rows(input, context, &shape, start, |piece, row, faults| {
        read_report(piece, row, faults, latest);
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
fn read_report(piece: &mut ReportPiece, row: &TextRow<'_>, faults: &mut RowFaults<'_, '_>, latest: Time) {
    if row.cut {
        faults.add_whole(&CUT, || "the last line has no end".into());
    }
    let fields: ReportFields<'_> = match plain::read(row.text).map_or_else(|| serde_json::from_str(row.text), Ok) {
        Ok(fields) => fields,
        Err(error) => {
            // The library counts octets, from 1, and may point behind the end.
            let at = error.column().saturating_sub(1).min(row.text.len());
            let at = (0..=at).rev().find(|at| row.text.is_char_boundary(*at)).unwrap_or(0);
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what).to_owned();
            // A line that was cut, or has characters that are not text, is not JSON for that reason.
            faults.hush();
            faults.add(&BAD_JSON, at..row.text.len(), || message);
            return;
        }
    };
    if let Some(key) = fields.twice {
        faults.add_whole(&BAD_JSON, || format!("it has the key `{key}` twice"));
        faults.hush();
    }
    let time = read_time(&fields, faults);
    let is_ahead = time.is_some_and(|time| time > latest);
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

/// Reads the time.
fn read_time(fields: &ReportFields<'_>, faults: &mut RowFaults<'_, '_>) -> Option<Time> {
    let ReportScalar::Text(text) = &fields.time else {
        faults.add_whole(&BAD_REPORT, || fields.time.missing("time", "a time in quotes"));
        return None;
    };
    let time = text.parse::<Time>().ok();
    if time.is_none() {
        faults.add_whole(&BAD_TIME, || format!("`{text}` is not a time"));
    }
    time
}

/// Reads the inventory number.
fn read_inv(fields: &ReportFields<'_>, faults: &mut RowFaults<'_, '_>) -> Option<Inv> {
    match fields.inv {
        ReportScalar::Number(inv) => Some(Inv(inv)),
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
        ReportScalar::Bool(active) => active,
        ReportScalar::Absent | ReportScalar::Null => true,
        _ => {
            faults.add_whole(&BAD_REPORT, || fields.active.missing("active", "true or false"));
            true
        }
    };
    let switch = read_optional(&fields.switch, "switch", faults);
    read_optional(&fields.port, "port", faults);
    let ReportScalar::Text(text) = &fields.mac else {
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
fn read_optional<'f>(field: &'f ReportScalar<'_>, key: &str, faults: &mut RowFaults<'_, '_>) -> Option<&'f str> {
    match field {
        // A row without a flaw holds control characters only behind escapes, and text with escapes is not borrowed.
        ReportScalar::Text(text)
            if (faults.is_flawed() || matches!(text, Cow::Owned(_))) && text.contains(|c: char| c.is_control()) =>
        {
            faults.add_whole(&BAD_REPORT, || format!("`{key}` holds a control character"));
            None
        }
        ReportScalar::Text(text) => Some(&**text).filter(|text| !text.is_empty()),
        ReportScalar::Absent | ReportScalar::Null => None,
        _ => {
            faults.add_whole(&BAD_REPORT, || field.missing(key, "text"));
            None
        }
    }
}

/// The known keys of a report; others are ignored, since agents may add some.
#[derive(Debug, PartialEq, Default)]
struct ReportFields<'a> {
    /// `time`.
    time: ReportScalar<'a>,
    /// `inv`.
    inv: ReportScalar<'a>,
    /// `mac`.
    mac: ReportScalar<'a>,
    /// `switch`.
    switch: ReportScalar<'a>,
    /// `port`.
    port: ReportScalar<'a>,
    /// `active`.
    active: ReportScalar<'a>,
    /// A known key that is there twice.
    twice: Option<&'static str>,
}

impl<'a> ReportFields<'a> {
    /// The field of a known key, with the key.
    fn field(&mut self, key: &str) -> Option<(&'static str, &mut ReportScalar<'a>)> {
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

/// A value of any type, as far as a report may hold it.
#[derive(Debug, PartialEq, Default)]
enum ReportScalar<'a> {
    /// The key is not there.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// Text, borrowed where it has no escapes.
    Text(Cow<'a, str>),
    /// An unsigned integer.
    Number(u64),
    /// `true` or `false`.
    Bool(bool),
    /// Anything else.
    Other,
}

impl ReportScalar<'_> {
    /// What to say where `wanted` belongs under `key`.
    fn missing(&self, key: &str, wanted: &str) -> String {
        match self {
            ReportScalar::Absent => format!("there is no `{key}`"),
            _ => format!("`{key}` is not {wanted}"),
        }
    }
}

impl<'de> Deserialize<'de> for ReportFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Collects the known keys. A derived reader would end at the first value of a wrong type, and the host would be
/// unknown.
struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = ReportFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<ReportFields<'de>, M::Error> {
        let mut fields = ReportFields::default();
        while let Some(key) = map.next_key::<KeyText<'de>>()? {
            let Some((name, field)) = fields.field(&key.0) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value()?;
            if matches!(field, ReportScalar::Absent) {
                *field = value;
            } else {
                // It is unknown which of the two is right.
                *field = ReportScalar::Other;
                fields.twice = Some(name);
            }
        }
        Ok(fields)
    }
}

/// A key, borrowed where it has no escapes.
struct KeyText<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for KeyText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(ScalarVisitor)? {
            ReportScalar::Text(text) => Ok(KeyText(text)),
            _ => Ok(KeyText(Cow::Borrowed(""))),
        }
    }
}

impl<'de> Deserialize<'de> for ReportScalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

/// Takes any value.
struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = ReportScalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<ReportScalar<'de>, E> {
        Ok(ReportScalar::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<ReportScalar<'de>, E> {
        Ok(ReportScalar::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<ReportScalar<'de>, E> {
        Ok(ReportScalar::Number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<ReportScalar<'de>, E> {
        Ok(ReportScalar::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<ReportScalar<'de>, E> {
        Ok(ReportScalar::Other)
    }

    fn visit_bool<E>(self, value: bool) -> Result<ReportScalar<'de>, E> {
        Ok(ReportScalar::Bool(value))
    }

    fn visit_unit<E>(self) -> Result<ReportScalar<'de>, E> {
        Ok(ReportScalar::Null)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<ReportScalar<'de>, S::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(ReportScalar::Other)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<ReportScalar<'de>, M::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(ReportScalar::Other)
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
