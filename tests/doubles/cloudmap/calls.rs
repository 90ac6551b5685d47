//! What the operations of the API are called with.

use serde_json::Value;

use super::super::faults::PageFault;
use super::errors::MapError;
use super::log::MapChange;
use super::rules::CloudMapRules;

/// A request that fits the model.
pub struct MapCall<'c> {
    /// The members of the request.
    pub input: &'c Value,
    /// Its number.
    pub number: u64,
    /// How its page is spoiled, where it is a listing.
    pub page: PageFault,
    /// The settings.
    pub rules: &'c CloudMapRules,
    /// Seconds since the epoch.
    pub now: i64,
}

/// What the service made of a request.
pub struct MapAnswer {
    /// The members of the answer.
    pub body: Value,
    /// The operation that was submitted.
    pub operation_id: Option<String>,
    /// What changed at once.
    pub changes: Vec<MapChange>,
}

/// What an operation of the API gives.
pub type MapResult = Result<MapAnswer, MapError>;

impl MapCall<'_> {
    /// Returns a text.
    pub fn text(&self, member: &str) -> Option<&str> {
        self.input.get(member).and_then(Value::as_str)
    }

    /// Returns a text that the model demands.
    pub fn required(&self, member: &str) -> &str {
        self.text(member).expect("the model demands it")
    }

    /// Returns a text, and none where it is empty.
    pub fn filled(&self, member: &str) -> Option<String> {
        self.text(member).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns the request without its CreatorRequestId: what a copy of it must have as well.
    pub fn without_creator(&self) -> Value {
        let mut input = self.input.clone();
        if let Some(object) = input.as_object_mut() {
            object.remove("CreatorRequestId");
        }
        input
    }
}

impl MapAnswer {
    /// Makes an answer of a request that reads.
    pub fn of(body: Value) -> Self {
        Self { body, operation_id: None, changes: Vec::new() }
    }

    /// Makes an answer of a request that changed something at once.
    pub fn changed(body: Value, changes: Vec<MapChange>) -> Self {
        Self { changes, ..Self::of(body) }
    }

    /// Makes the answer of a request that submitted an operation.
    pub fn submitted(id: String) -> Self {
        Self { operation_id: Some(id.clone()), ..Self::of(serde_json::json!({"OperationId": id})) }
    }
}
