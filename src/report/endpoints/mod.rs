//! The endpoints of sets of pods for consumers without DNS: our own document, and files that Prometheus and Envoy read.
//!
//! Comes in: the endpoints of sets. Goes out: the text of a file, and what of the endpoints the format cannot say.

mod envoy;

mod json;

mod prometheus;

#[cfg(test)]
mod tests;

use super::counted;
use crate::desired::endpoints::{EndpointList, SetEndpoints};
use crate::diag::Origin;

/// For which consumer endpoints are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointsFormat {
    /// Our own document, which `schemas/endpoints.schema.json` describes.
    Json,
    /// For `file_sd_configs` and `http_sd_configs` of Prometheus.
    Prometheus,
    /// For a subscription of Envoy to a file.
    Envoy,
}

/// The endpoints of sets as a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointsText {
    /// The text.
    pub text: String,
    /// What of the endpoints is not in it.
    pub left_out: Vec<LeftOutPart>,
}

/// A part of an endpoint that a format cannot say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutPart {
    /// Where the endpoint is written.
    pub origin: Origin,
    /// What is left out, and why: lower case, no full stop.
    pub message: String,
}

/// Writes the endpoints of sets; the same sets give the same text.
pub fn endpoints(sets: &[SetEndpoints], format: EndpointsFormat) -> EndpointsText {
    match format {
        EndpointsFormat::Json => EndpointsText { text: json::render(sets), left_out: Vec::new() },
        EndpointsFormat::Prometheus => prometheus::render(sets),
        EndpointsFormat::Envoy => envoy::render(sets),
    }
}

/// The line that says what a file holds: `endpoints.json: written: 1 set, 2 endpoints, 3 targets`.
pub fn endpoints_summary(file: &str, sets: &[SetEndpoints], is_written: bool) -> String {
    let lists = || sets.iter().flat_map(|set| &set.endpoints);
    let outcome = if is_written { "written" } else { "unchanged" };
    let targets = lists().flat_map(|list| &list.pods).map(|pod| pod.addresses.len()).sum();
    let (sets, lists) = (counted(sets.len(), "set"), counted(lists().count(), "endpoint"));
    format!("{file}: {outcome}: {sets}, {lists}, {}\n", counted(targets, "target"))
}

/// An endpoint as messages name it: `shop/_http._tcp`.
fn said(set: &SetEndpoints, list: &EndpointList) -> String {
    format!("{}/_{}._{}", set.id, list.name, list.protocol)
}
