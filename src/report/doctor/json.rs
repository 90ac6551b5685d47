//! A diagnosis as JSON. `schemas/doctor.schema.json` describes it.

use serde::Serialize;

use crate::diag::Code;
use crate::doctor::{Diagnosis, Finding, FindingLevel, TargetDiagnosis};
use crate::provider::examine::{
    Capabilities, KeyExamined, KeylessAccess, PlaceExamined, ServerClock, UpdatesExamined, ZoneExamined,
};

/// What `format` says.
const FORMAT: &str = "zonewright.doctor/1";

/// The document.
#[derive(Debug, Serialize)]
struct DoctorDocument<'a> {
    /// [`FORMAT`].
    format: &'static str,
    /// The program.
    tool: &'a str,
    /// When it looked.
    created: String,
    /// How many problems were found.
    problems: usize,
    /// How many warnings.
    warnings: usize,
    /// The targets.
    targets: Vec<TargetView<'a>>,
}

/// A target.
#[derive(Debug, Serialize)]
struct TargetView<'a> {
    /// Its pool.
    pool: &'a str,
    /// Its type.
    #[serde(rename = "type")]
    provider: &'a str,
    /// The zones that were tested there.
    zones: Vec<String>,
    /// Its key.
    key: Option<KeyView<'a>>,
    /// Which updates it takes.
    capabilities: Option<Vec<UpdatesView>>,
    /// Its servers, or its folder.
    places: Vec<DoctorPlaceView<'a>>,
    /// What was found, in words.
    findings: Vec<FindingView<'a>>,
}

/// A key.
#[derive(Debug, Serialize)]
struct KeyView<'a> {
    /// Its name.
    name: String,
    /// Its algorithm.
    algorithm: &'a str,
    /// Whether its secret can be read.
    readable: bool,
}

/// A server or folder.
#[derive(Debug, Serialize)]
struct DoctorPlaceView<'a> {
    /// Its address or path.
    place: &'a str,
    /// Whether it can be reached.
    reached: bool,
    /// How many seconds its clock is ahead.
    clock_ahead: Option<i64>,
    /// The zones that were asked for.
    zones: Vec<DoctorZoneView>,
}

/// A zone at one place.
#[derive(Debug, Serialize)]
struct DoctorZoneView {
    /// Its name.
    zone: String,
    /// Whether the server answers with authority.
    authoritative: Option<bool>,
    /// Its serial.
    serial: Option<u32>,
    /// Whether it was read whole.
    read: bool,
    /// How many RRsets it has.
    rrsets: Option<usize>,
    /// How many records.
    records: Option<usize>,
    /// How many octets were read.
    octets: Option<u64>,
    /// How many seconds a transfer took.
    seconds: Option<f64>,
    /// Whether there are signatures in it.
    signed: Option<bool>,
    /// What a client without the key gets.
    without_key: Option<&'static str>,
    /// Whether its file can be written.
    writable: Option<bool>,
}

/// A finding.
#[derive(Debug, Serialize)]
struct FindingView<'a> {
    /// How bad it is.
    level: &'static str,
    /// Its code.
    code: Code,
    /// The server or folder.
    place: Option<&'a str>,
    /// The zone.
    zone: Option<String>,
    /// What was found.
    message: &'a str,
    /// What to do.
    hint: Option<&'a str>,
}

/// Whether a zone takes updates.
#[derive(Debug, Serialize)]
struct UpdatesView {
    /// Its name.
    zone: String,
    /// Whether it does.
    updates: bool,
}

/// Renders a diagnosis.
pub fn render(diagnosis: &Diagnosis) -> String {
    let document = DoctorDocument {
        format: FORMAT,
        tool: &diagnosis.tool,
        created: diagnosis.created.to_string(),
        problems: diagnosis.count(FindingLevel::Problem),
        warnings: diagnosis.count(FindingLevel::Warning),
        targets: diagnosis.targets.iter().map(target).collect(),
    };
    serde_json::to_string_pretty(&document).expect("texts and numbers are JSON") + "\n"
}

/// A target for the document.
fn target(target: &TargetDiagnosis) -> TargetView<'_> {
    let key = |key| {
        let KeyExamined { name, algorithm, fault }: &KeyExamined = key;
        KeyView { name: name.to_string(), algorithm, readable: fault.is_none() }
    };
    TargetView {
        pool: &target.pool,
        provider: &target.provider,
        zones: target.zones.iter().map(ToString::to_string).collect(),
        key: target.examined.key.as_ref().map(key),
        capabilities: match &target.examined.capabilities {
            Capabilities::NotAsked => None,
            Capabilities::Asked(zones) => Some(zones.iter().map(updates).collect()),
        },
        places: target.examined.places.iter().map(place).collect(),
        findings: target.findings.iter().map(finding).collect(),
    }
}

/// Whether a zone takes updates, for the document.
fn updates(examined: &UpdatesExamined) -> UpdatesView {
    UpdatesView { zone: examined.zone.to_string(), updates: examined.fault.is_none() }
}

/// A place for the document.
fn place(place: &PlaceExamined) -> DoctorPlaceView<'_> {
    let PlaceExamined { place, fault, clock, zones } = place;
    let clock_ahead = match clock {
        ServerClock::Ahead(ahead) => Some(*ahead),
        ServerClock::NotTold | ServerClock::Repeats => None,
    };
    DoctorPlaceView { place, reached: fault.is_none(), clock_ahead, zones: zones.iter().map(zone).collect() }
}

/// A zone for the document.
fn zone(found: &ZoneExamined) -> DoctorZoneView {
    let read = found.read.as_ref().ok();
    DoctorZoneView {
        zone: found.zone.to_string(),
        authoritative: found.authority.as_ref().and_then(|known| known.as_ref().ok()).copied(),
        serial: found.serial,
        read: read.is_some(),
        rrsets: read.map(|measures| measures.rrsets),
        records: read.map(|measures| measures.records),
        octets: read.map(|measures| measures.octets),
        seconds: read.and_then(|measures| measures.took).map(|took| took.as_secs_f64()),
        signed: read.map(|measures| measures.signed),
        without_key: found.without_key.as_ref().map(|access| match access {
            KeylessAccess::Allowed => "allowed",
            KeylessAccess::Refused => "refused",
            KeylessAccess::Unclear(_) => "unclear",
        }),
        writable: found.writable,
    }
}

/// A finding for the document.
fn finding(finding: &Finding) -> FindingView<'_> {
    let Finding { level, code, place, zone, message, hint } = finding;
    FindingView {
        level: level.as_str(),
        code: *code,
        place: place.as_deref(),
        zone: zone.as_ref().map(ToString::to_string),
        message,
        hint: hint.as_deref(),
    }
}
