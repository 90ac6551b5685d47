//! Exports of interfaces of other systems: each with a MAC is a report of its host.

use super::{AskedFields, RowFilter};
use crate::diag::{Code, Diagnostic, Origin};
use crate::inventory::devices::Devices;
use crate::inventory::model::{Host, MacReport, MacSource, Sighting, Trust};
use crate::inventory::sources::mac_reports::{BAD_MAC, FUTURE};
use crate::inventory::sources::records::{
    BAD_FIELD, Dialect, ExportRecord, ExportRecords, RowReading, WantedField, read_records,
};
use crate::inventory::sources::text::{BAD_INV, BAD_TIME, RowFault, RowFaults};
use crate::inventory::sources::{Draft, Renumbering, RowClock, RowContext, SourceInput, SourcePart};
use crate::inventory::symbol::{Symbol, Symbols};
use crate::inventory::value::{Inv, Mac, Time};

/// What is particular about the interfaces of a system, as names of fields.
pub struct MacSystem {
    /// How its files are written.
    pub dialect: Dialect,
    /// The number and the name of the device that an interface belongs to; `None` where its rows say the inventory
    /// number.
    pub device: Option<(&'static str, &'static str)>,
    /// Where the MAC is: the first of these fields that has one.
    pub macs: &'static [&'static str],
    /// When the system last looked.
    pub time: &'static str,
    /// Whether it is in use; where nothing says, it is.
    pub enabled: Option<&'static str>,
    /// Whether it serves to manage the device.
    pub management: Option<&'static str>,
    /// The switch at its other end.
    pub switch: &'static str,
    /// The switch and its port in one, as `SWITCH > PORT`.
    pub connection: Option<&'static str>,
}

/// A time that says too little.
const NO_TIME: RowFault = RowFault {
    code: BAD_TIME.code,
    rule: "times are RFC 3339 with an offset, such as 2026-11-20T01:00:00Z",
    hint: "export as JSON: NetBox before 4.0 writes times into CSV in another form",
};

/// Several MACs of one interface.
const SEVERAL_MACS: RowFault = RowFault {
    code: BAD_MAC.code,
    rule: "an interface has one MAC, or a primary one",
    hint: "make one of them the primary MAC of the interface; until then its host is frozen",
};

/// A device that may be several hosts.
pub const AMBIGUOUS: RowFault = RowFault {
    code: Code::new("ambiguous-device"),
    rule: "an interface belongs to one host",
    hint: "export as JSON, where devices have numbers, or give the devices different names",
};

/// Whose a report is.
enum ReportOwner {
    /// The host's.
    Host(Inv),
    /// That of the device with this number and name.
    Device(Option<u64>, Symbol),
}

/// What one chunk holds.
#[derive(Default)]
struct MacPiece {
    /// The switches.
    symbols: Symbols,
    /// The names of devices.
    devices: Symbols,
    /// The reports; those of a device have no host's number yet.
    reports: Vec<(ReportOwner, MacReport)>,
}

/// Where the fields of a row are.
struct MacFieldPlaces {
    /// The inventory number.
    inv: Option<usize>,
    /// The number and name of the device.
    device: Option<(usize, usize)>,
    /// Where the MAC may be.
    macs: Vec<usize>,
    /// The time.
    time: usize,
    /// Whether it is in use.
    enabled: Option<usize>,
    /// Whether it serves to manage.
    management: Option<usize>,
    /// The switch.
    switch: usize,
    /// The switch and its port.
    connection: Option<usize>,
}

/// Reads a source of interfaces.
pub fn read(input: &SourceInput<'_>, context: &RowContext<'_>, system: &MacSystem) -> SourcePart {
    let mut asked = AskedFields::default();
    let inv = input.spec.mapping.field("inv").map(|field| asked.ask(WantedField::required(field)));
    let device = system.device.filter(|_| inv.is_none());
    let device =
        device.map(|(id, name)| (asked.ask(WantedField::optional(id)), asked.ask(WantedField::required(name))));
    let time = asked.ask(WantedField::required(system.time));
    let mut optional = |field: &str| asked.ask(WantedField::optional(field));
    let places = MacFieldPlaces {
        inv,
        macs: system.macs.iter().map(|field| optional(field)).collect(),
        enabled: system.enabled.map(&mut optional),
        management: system.management.map(&mut optional),
        connection: system.connection.map(&mut optional),
        switch: asked.ask(WantedField::of_first(system.switch)),
        device,
        time,
    };
    let only = RowFilter::new(&input.spec.mapping, &mut asked);
    let row = |piece: &mut MacPiece, record: &ExportRecord<'_, '_>, faults: &mut RowFaults<'_, '_>| {
        if only.has(record, faults) {
            read_interface(piece, record, &places, faults, context.clock);
        }
    };
    let reading = RowReading::new(&asked.0, &system.dialect, MacPiece::default, row);
    let ExportRecords { pieces, tally, crowded } = read_records(input, context, &reading);
    let (name, max_age, penalty) = (input.spec.name.clone(), input.spec.max_age, input.spec.penalty);
    let fold = move |draft: &mut Draft, trust: Trust| {
        let source = draft.mac_sources.len() as u16;
        draft.mac_sources.push(MacSource { name, max_age, penalty, trust, gave: None });
        draft.crowded.extend(crowded);
        if draft.devices.is_empty() {
            draft.devices = devices_of(&draft.hosts);
        }
        let mut lost = LostReports::default();
        for piece in pieces {
            let reports = take_in(draft, piece, source, &mut lost);
            draft.reports.push(reports);
        }
        lost.report(draft);
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// Hosts as devices, where no export of hosts says what they are called: by their names, each whole and by its first
/// label.
pub fn devices_of(hosts: &[Host]) -> Devices {
    let named = hosts.iter().filter_map(|host| Some((host.inv, host.name.as_ref()?.to_string())));
    let names = named.flat_map(|(inv, name)| {
        let whole = name.trim_end_matches('.');
        let label = whole.split('.').next().unwrap_or(whole);
        [(Box::from(whole), inv), (Box::from(label), inv)]
    });
    Devices::new(Vec::new(), names.collect())
}

/// Reads one row. Without a readable owner or time it is reported and belongs to no host.
fn read_interface(
    piece: &mut MacPiece,
    record: &ExportRecord<'_, '_>,
    places: &MacFieldPlaces,
    faults: &mut RowFaults<'_, '_>,
    clock: &RowClock,
) {
    faults.hush();
    let is =
        |place: Option<usize>, word: &str| place.is_some_and(|place| record.text(place).eq_ignore_ascii_case(word));
    let mac_at = places.macs.iter().copied().find(|place| !record.text(*place).is_empty());
    let has_no_host = is(places.management, "true") || mac_at.is_none();
    if has_no_host && !faults.found() {
        return faults.pass_over();
    }
    record.judge(faults);
    let owner = read_owner(piece, record, places, faults);
    let text = record.text(places.time);
    let time: Option<Time> = text.parse().ok();
    if time.is_none() {
        record.fault(places.time, &NO_TIME, faults, || format!("`{text}` is not a time"));
    }
    let is_ahead = time.is_some_and(|time| clock.is_ahead(time));
    if let Some(time) = time.filter(|_| is_ahead) {
        record.fault(places.time, &FUTURE, faults, || format!("the report is dated {time}"));
    }
    let mac = mac_at.and_then(|place| read_mac(record, place, faults));
    if let Some(enabled) =
        places.enabled.filter(|place| !["", "true", "false"].contains(&&*record.text(*place).to_ascii_lowercase()))
    {
        record.fault(enabled, &BAD_FIELD, faults, || format!("`{}` is not true or false", record.text(enabled)));
    }
    let (Some(owner), Some(time)) = (owner, time) else { return };
    let sighting = match mac {
        _ if is_ahead => Sighting::Ahead { mac },
        Some(mac) if !faults.found() && is(places.enabled, "false") => Sighting::Inactive { mac },
        Some(mac) if !faults.found() => Sighting::Active { mac, switch: read_switch(piece, record, places) },
        _ => Sighting::Bad,
    };
    let report = MacReport { inv: Inv(0), time, sighting, source: 0, origin: record.row.origin };
    piece.reports.push((owner, report));
}

/// Reads whose interface it is.
fn read_owner(
    piece: &mut MacPiece,
    record: &ExportRecord<'_, '_>,
    places: &MacFieldPlaces,
    faults: &mut RowFaults<'_, '_>,
) -> Option<ReportOwner> {
    if let Some(place) = places.inv {
        let text = record.text(place);
        let inv: Option<Inv> = text.parse().ok();
        if inv.is_none() {
            record.fault(place, &BAD_INV, faults, || format!("`{text}` is not an inventory number"));
        }
        return inv.map(ReportOwner::Host);
    }
    let (id, name) = places.device?;
    let (id, text) = (record.text(id).parse().ok(), record.text(name));
    if id.is_none() && text.is_empty() {
        record.fault(name, &BAD_FIELD, faults, || "there is no device".into());
        return None;
    }
    Some(ReportOwner::Device(id, piece.devices.intern(text)))
}

/// Reads the MAC, of which there may be several in one field.
fn read_mac(record: &ExportRecord<'_, '_>, place: usize, faults: &mut RowFaults<'_, '_>) -> Option<Mac> {
    let text = record.text(place);
    if text.contains(',') {
        record.fault(place, &SEVERAL_MACS, faults, || format!("none of the MACs `{text}` is the primary one"));
        return None;
    }
    match text.parse() {
        Ok(mac) => Some(mac),
        Err(error) => {
            record.fault(place, &BAD_MAC, faults, || format!("the MAC `{text}` {error}"));
            None
        }
    }
}

/// Reads the switch, without what NetBox writes in parentheses behind a name.
fn read_switch(piece: &mut MacPiece, record: &ExportRecord<'_, '_>, places: &MacFieldPlaces) -> Option<Symbol> {
    let connection = places.connection.and_then(|place| record.text(place).split_once(" > ")).map(|(switch, _)| switch);
    let bare = |text: &'_ str| match text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
        Some((name, _)) => name.to_owned(),
        None => text.to_owned(),
    };
    let switch = Some(record.text(places.switch).to_owned()).filter(|switch| !switch.is_empty());
    let switch = switch.or_else(|| connection.map(bare)).filter(|switch| !switch.is_empty());
    switch.map(|switch| piece.symbols.intern(&switch))
}

/// The reports of devices that no host is known as.
#[derive(Default)]
struct LostReports {
    /// How many reports were joined with a host.
    joined: usize,
    /// How many were not.
    count: usize,
    /// The first of these.
    first: Option<Origin>,
}

impl LostReports {
    /// Warns where no report is about a known host: an export has interfaces of switches, too, but not only those.
    /// Without hosts there was another report already.
    fn report(self, draft: &mut Draft) {
        let (0, Some(first), false) = (self.joined, self.first, draft.hosts.is_empty()) else { return };
        let message = format!("no host is known as the device of any of the {} interfaces", self.count);
        let diagnostic = Diagnostic::warning("unknown-devices", first, message);
        draft.found.push(diagnostic.rule(AMBIGUOUS.rule).hint("export the interfaces of the devices that are hosts"));
    }
}

/// The reports of a chunk, each for its host; those of devices without a known host, such as switches, are dropped.
fn take_in(draft: &mut Draft, piece: MacPiece, source: u16, lost: &mut LostReports) -> Vec<MacReport> {
    let mut reports = Vec::with_capacity(piece.reports.len());
    let numbers = Renumbering::merge(&mut draft.symbols, &piece.symbols);
    for (owner, report) in piece.reports {
        let sighting = match report.sighting {
            Sighting::Active { mac, switch: Some(switch) } => {
                Sighting::Active { mac, switch: Some(numbers.symbol(switch)) }
            }
            other => other,
        };
        let report = MacReport { source, sighting, ..report };
        let invs = match owner {
            ReportOwner::Host(inv) => vec![inv],
            ReportOwner::Device(id, name) => draft.devices.find(id, piece.devices.text(name)),
        };
        lost.joined += usize::from(!invs.is_empty());
        match invs[..] {
            [] => {
                lost.count += 1;
                lost.first.get_or_insert(report.origin);
            }
            [inv] => reports.push(MacReport { inv, ..report }),
            [one, other, ..] => {
                let message = format!("the device may be host {one} or {other}");
                let make = || Diagnostic::error(AMBIGUOUS.code, report.origin, message);
                draft.found.push_bounded(report.origin.file, || make().rule(AMBIGUOUS.rule).hint(AMBIGUOUS.hint));
                // It is unknown which host has the MAC, so neither may use it.
                reports.extend(invs.iter().map(|inv| MacReport { inv: *inv, sighting: Sighting::Bad, ..report }));
            }
        }
    }
    reports
}
