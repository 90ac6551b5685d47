//! Exports of hosts of other systems.

use super::{AskedFields, RowFilter};
use crate::dns::Name;
use crate::inventory::devices::Devices;
use crate::inventory::model::{Host, HostStatus, Trust};
use crate::inventory::source::FieldMapping;
use crate::inventory::sources::hosts_csv::{self, RESTRICTION};
use crate::inventory::sources::records::{Dialect, ExportRecord, ExportRecords, RowReading, WantedField, read_records};
use crate::inventory::sources::text::{self, BAD_INV, BAD_NAME, RowFault, RowFaults};
use crate::inventory::sources::{Draft, RowContext, SourceInput, SourcePart, project_index};
use crate::inventory::value::Inv;

/// What is particular about the hosts of a system.
pub struct HostSystem {
    /// How its files are written.
    pub dialect: Dialect,
    /// Its statuses in lower case, each with what it means. Only what means that a host was given back may be free: the
    /// records of a free host are not protected.
    pub statuses: &'static [(&'static str, HostStatus)],
    /// The status of hosts where there is no such field; `None` where the field is required.
    pub without_status: Option<HostStatus>,
    /// The characters between tags.
    pub between_tags: &'static [char],
    /// The text that means that there is no name.
    pub no_name: Option<&'static str>,
    /// The fields by which exports of interfaces name a device: its number, and what its name may be followed by.
    pub device: Option<(&'static str, &'static str)>,
}

/// An inventory number that is not a number.
const NO_INV: RowFault = RowFault {
    code: BAD_INV.code,
    rule: "an inventory number is an unsigned integer in decimal digits",
    hint: "correct it; or name another field with `inv`; or select the rows of hosts with `only`",
};

/// A field that may not be empty.
const EMPTY_FIELD: RowFault = RowFault {
    code: hosts_csv::EMPTY_FIELD.code,
    rule: "project, location and status are never empty",
    hint: "complete it, or select the rows of hosts with `only`",
};

/// A status without a known meaning.
const BAD_STATUS: RowFault = RowFault {
    code: hosts_csv::BAD_STATUS.code,
    rule: "each status means either that a host is assigned or that it is free",
    hint: "set its meaning in `statuses`; until then the host counts as assigned, and is frozen",
};

/// What one chunk holds.
#[derive(Default)]
struct OtherHostsPiece {
    /// The hosts.
    hosts: hosts_csv::HostsPiece,
    /// The numbers of their devices.
    ids: Vec<(u64, Inv)>,
    /// The names of their devices.
    names: Vec<(Box<str>, Inv)>,
}

/// Where the fields of a row are.
struct HostFieldPlaces {
    /// The inventory number.
    inv: usize,
    /// The name.
    name: usize,
    /// The project.
    project: usize,
    /// The location.
    location: usize,
    /// The status.
    status: usize,
    /// The restrictions: what they are called, and their slugs.
    restrictions: Vec<usize>,
    /// The switch.
    switch: Option<usize>,
    /// The rack.
    rack: Option<usize>,
    /// The number of the device, and what its name may be followed by.
    device: Option<(usize, usize)>,
}

impl HostFieldPlaces {
    /// Asks for the fields of a mapping.
    fn new(mapping: &FieldMapping, system: &HostSystem, asked: &mut AskedFields) -> HostFieldPlaces {
        let name = |key: &str| mapping.field(key).expect("the format gives every field that is required a default");
        let mut ask = |key: &str| asked.ask(WantedField::required(name(key)));
        let (inv, device, project, location) = (ask("inv"), ask("name"), ask("project"), ask("location"));
        let is_required = system.without_status.is_none();
        let status = asked.ask(WantedField { is_required, ..WantedField::required(name("status")) });
        // Without it, the hosts that automation must leave alone would be unknown.
        let restrictions = mapping.field("restrictions").into_iter().flat_map(|field| {
            [asked.ask(WantedField::required(field)), asked.ask(WantedField::optional(format!("{field}.slug")))]
        });
        let restrictions = restrictions.collect();
        let [switch, rack] =
            ["switch", "rack"].map(|key| mapping.field(key).map(|field| asked.ask(WantedField::optional(field))));
        let of_device =
            |(id, tag): (&str, &str)| (asked.ask(WantedField::optional(id)), asked.ask(WantedField::optional(tag)));
        let place = system.device.map(of_device);
        HostFieldPlaces { inv, name: device, project, location, status, restrictions, switch, rack, device: place }
    }
}

/// Reads a source of hosts.
pub fn read(input: &SourceInput<'_>, context: &RowContext<'_>, system: &HostSystem) -> SourcePart {
    let mapping = &input.spec.mapping;
    let mut asked = AskedFields::default();
    let places = HostFieldPlaces::new(mapping, system, &mut asked);
    let only = RowFilter::new(mapping, &mut asked);
    let reader = HostRowReader { context, system, mapping, places };
    let row = |piece: &mut OtherHostsPiece, record: &ExportRecord<'_, '_>, faults: &mut RowFaults<'_, '_>| {
        if only.has(record, faults) {
            reader.read(piece, record, faults);
        }
    };
    let reading = RowReading::new(&asked.0, &system.dialect, OtherHostsPiece::default, row);
    let ExportRecords { pieces, tally, crowded } = read_records(input, context, &reading);
    let (mut hosts, mut ids, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for piece in pieces {
        hosts.push(piece.hosts);
        ids.extend(piece.ids);
        names.extend(piece.names);
    }
    let SourcePart { tally, fold } = hosts_csv::join(hosts, input, context, tally);
    let devices = Devices::new(ids, names);
    let fold = move |draft: &mut Draft, trust: Trust| {
        fold(draft, trust);
        draft.devices = devices;
        draft.crowded.extend(crowded);
    };
    SourcePart { tally, fold: Box::new(fold) }
}

/// What reads the rows of a source.
struct HostRowReader<'a> {
    /// What is known while sources are read.
    context: &'a RowContext<'a>,
    /// What is particular about the system.
    system: &'a HostSystem,
    /// What zonewright.toml says of the fields.
    mapping: &'a FieldMapping,
    /// Where the fields are.
    places: HostFieldPlaces,
}

impl HostRowReader<'_> {
    /// Reads one row; without a readable inventory number it belongs to no host, and is only reported.
    fn read(&self, piece: &mut OtherHostsPiece, record: &ExportRecord<'_, '_>, faults: &mut RowFaults<'_, '_>) {
        let HostRowReader { system, places, .. } = self;
        // Where the fields of the row are wrong, a value may be in the wrong column.
        let columns_are_known = !faults.found();
        faults.hush();
        record.judge(faults);
        let text = |place: usize| record.text(place);
        let (number, project) = (text(places.inv), text(places.project));
        let inv: Option<Inv> = number.parse().ok();
        if inv.is_none() {
            record.fault(places.inv, &NO_INV, faults, || match number {
                "" => "there is no inventory number".into(),
                number => format!("`{number}` is not an inventory number"),
            });
        }
        for (place, what) in [(places.project, "project"), (places.location, "location")] {
            if text(place).is_empty() {
                record.fault(place, &EMPTY_FIELD, faults, || format!("the {what} is empty"));
            }
        }
        let device = Some(text(places.name)).filter(|name| !name.is_empty() && Some(*name) != system.no_name);
        let name = device.and_then(|device| self.read_name(device, record, faults));
        let status = self.read_status(record, faults);
        let Some(inv) = inv else {
            piece.hosts.strays.extend(name);
            return;
        };
        if let Some((id, tag)) = places.device {
            piece.ids.extend(text(id).parse().ok().map(|id| (id, inv)));
            let lower = device.map(str::to_ascii_lowercase);
            let tagged = lower.as_ref().filter(|_| !text(tag).is_empty());
            piece.names.extend(tagged.map(|name| (format!("{name} ({})", text(tag).to_ascii_lowercase()).into(), inv)));
            piece.names.extend(lower.map(|name| (name.into(), inv)));
        }
        // Capitals mean the same: too much protection does no harm.
        let is_it = |tag: &str| tag.trim_ascii().eq_ignore_ascii_case(RESTRICTION);
        let is_restricted = |place: &usize| text(*place).split(system.between_tags).any(is_it);
        let [switch, rack] = [places.switch, places.rack].map(|place| place.map(text).filter(|text| !text.is_empty()));
        piece.hosts.hosts.push(Host {
            inv,
            name,
            project: project_index(&mut piece.hosts.projects, project),
            status,
            location: piece.hosts.symbols.intern(text(places.location)),
            switch: switch.map(|switch| piece.hosts.symbols.intern(switch)),
            rack: rack.map(|rack| piece.hosts.symbols.intern(rack)),
            restricted: places.restrictions.iter().any(is_restricted),
            bad: faults.found(),
            columns_are_known: columns_are_known && !project.is_empty(),
            origin: record.row.origin,
        });
    }

    /// Reads the name of the host that a device is; in a project's domain where it has none.
    fn read_name(&self, device: &str, record: &ExportRecord<'_, '_>, faults: &mut RowFaults<'_, '_>) -> Option<Name> {
        let HostRowReader { context, places, .. } = self;
        let whole = match context.admins.get(record.text(places.project)) {
            _ if device.contains('.') => device.to_owned(),
            Some(admin) => format!("{device}.{}", admin.dns_domain),
            // A project without an administrator's half has no known domain; its hosts are skipped.
            None => return None,
        };
        text::read_name(&whole, context).unwrap_or_else(|error| {
            record.fault(places.name, &BAD_NAME, faults, || format!("`{device}` is not a host name: {error}"));
            None
        })
    }

    /// Reads the status: what zonewright.toml says that it means comes first.
    fn read_status(&self, record: &ExportRecord<'_, '_>, faults: &mut RowFaults<'_, '_>) -> HostStatus {
        let HostRowReader { mapping, system, .. } = self;
        let place = self.places.status;
        let text = record.text(place);
        let own = mapping.statuses.iter().find(|(status, _)| status.eq_ignore_ascii_case(text));
        let own = own.map(|(_, is_free)| if *is_free { HostStatus::Free } else { HostStatus::Assigned });
        let known = || system.statuses.iter().find(|(status, _)| status.eq_ignore_ascii_case(text)).map(|(_, of)| *of);
        let without = || system.without_status.filter(|_| text.is_empty());
        own.or_else(known).or_else(without).unwrap_or_else(|| {
            match text {
                "" => record.fault(place, &EMPTY_FIELD, faults, || "the status is empty".into()),
                _ => record
                    .fault(place, &BAD_STATUS, faults, || format!("the meaning of the status `{text}` is unknown")),
            }
            HostStatus::Assigned
        })
    }
}
