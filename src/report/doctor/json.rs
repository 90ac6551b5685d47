//! A diagnosis as JSON. `schemas/doctor.schema.json` describes it.

use super::abilities::AbilitiesDocument;
use crate::doctor::{Diagnosis, FindingLevel, ServiceHealth, TargetDiagnosis};
use crate::document::{object_in_documents, pretty};
use crate::provider::examine::{
    Capabilities, KeyExamined, KeylessAccess, PlaceExamined, ServerClock, UpdatesExamined, ZoneExamined, ZoneMeasures,
};

/// What `format` says.
const FORMAT: &str = "zonewright.doctor/1";

/// Renders a diagnosis.
pub fn render(diagnosis: &Diagnosis) -> String {
    pretty(diagnosis)
}

object_in_documents!(Diagnosis, diagnosis => {
    "format": FORMAT,
    "tool": diagnosis.tool,
    "created": diagnosis.created,
    "problems": diagnosis.count(FindingLevel::Problem),
    "warnings": diagnosis.count(FindingLevel::Warning),
    "targets": diagnosis.targets,
    "services": diagnosis.services,
});

object_in_documents!(ServiceHealth, service => {
    "service": service.service,
    "url": service.url,
    "version": service.version,
    "findings": service.findings,
});

object_in_documents!(TargetDiagnosis, target => {
    "pool": target.pool,
    "target": target.target,
    "type": target.provider,
    "zones": target.zones,
    "key": target.examined.key,
    "capabilities": match &target.examined.capabilities {
        Capabilities::NotAsked => None,
        Capabilities::Asked { updates, .. } => Some(updates),
    },
    "abilities": AbilitiesDocument(target),
    "places": target.examined.places,
    "findings": target.findings,
});

object_in_documents!(KeyExamined, key => {
    "name": key.name,
    "algorithm": key.algorithm,
    "readable": key.fault.is_none(),
});

object_in_documents!(UpdatesExamined, examined => {
    "zone": examined.zone,
    "updates": examined.fault.is_none(),
});

object_in_documents!(PlaceExamined, place => {
    "place": place.place,
    "reached": place.fault.is_none(),
    "clock_ahead": match place.clock {
        ServerClock::Ahead(ahead) => Some(ahead),
        ServerClock::NotTold | ServerClock::Repeats => None,
    },
    "zones": place.zones,
});

object_in_documents!(ZoneExamined, found => {
    "zone": found.zone,
    "authoritative": found.authority.as_ref().and_then(|known| known.as_ref().ok()),
    "serial": found.serial,
    "read": found.read.is_ok(),
    "rrsets": found.measured(|measures| measures.rrsets),
    "records": found.measured(|measures| measures.records),
    "octets": found.measured(|measures| measures.octets),
    "seconds": found.measured(|measures| measures.took).flatten().map(|took| took.as_secs_f64()),
    "signed": found.measured(|measures| measures.signed),
    "without_key": found.without_key.as_ref().map(|access| match access {
        KeylessAccess::Allowed => "allowed",
        KeylessAccess::Refused => "refused",
        KeylessAccess::Unclear(_) => "unclear",
    }),
    "writable": found.writable,
});

impl ZoneExamined {
    /// One of the measures of what was read.
    fn measured<T>(&self, measure: impl Fn(&ZoneMeasures) -> T) -> Option<T> {
        self.read.as_ref().ok().map(measure)
    }
}
