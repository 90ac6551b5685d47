//! The causes of the changes, as JSON has them.

use serde::Deserialize as _;
use serde::de::Deserializer;

use super::{Checked, Documented, PlanTime, Text, nullable, parse_word, present};
use crate::inventory::value::Inv;
use crate::plan::{Against, Cause, CauseKind, Class, Review};

/// A review as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewShape {
    /// What the inventory was compared with.
    #[serde(deserialize_with = "nullable")]
    against: Option<Checked<Against>>,
    /// How many RRsets the base would change and the plan does not; left out without a base.
    #[serde(default, deserialize_with = "present")]
    settled: Option<u64>,
    /// The hosts that are blocked and were not; left out without a base.
    #[serde(default, deserialize_with = "present")]
    newly_blocked: Option<Vec<u64>>,
    /// The causes.
    causes: Vec<Checked<Cause>>,
}

impl Documented for Review {
    type Shape<'de> = ReviewShape;

    fn check(shape: ReviewShape) -> Result<Review, String> {
        let against = shape.against.map_or(Against::Nothing, |against| against.0);
        let causes: Vec<Cause> = shape.causes.into_iter().map(|cause| cause.0).collect();
        let is_based = matches!(against, Against::Base { .. });
        let of_base = [shape.settled.is_some(), shape.newly_blocked.is_some()];
        if of_base.contains(&!is_based) || causes.iter().any(|cause| cause.class.is_some() != is_based) {
            return Err("`settled`, `newly_blocked` and each `class` are there with a base, and only then".into());
        }
        let newly_blocked: Vec<Inv> = shape.newly_blocked.unwrap_or_default().into_iter().map(Inv).collect();
        if !newly_blocked.is_sorted_by(|a, b| a < b) {
            return Err("`newly_blocked` is not sorted, or has a host twice".into());
        }
        Ok(Review { against, causes, settled: shape.settled.unwrap_or_default(), newly_blocked })
    }
}

/// What an inventory was compared with, as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgainstShape {
    /// The apply.
    #[serde(default, deserialize_with = "present")]
    apply: Option<u64>,
    /// When it began.
    #[serde(default, deserialize_with = "present")]
    at: Option<PlanTime>,
    /// The name of the base.
    #[serde(default, deserialize_with = "present")]
    base: Option<String>,
    /// Its commit, or null; left out without a base.
    #[serde(default, deserialize_with = "present_or_null")]
    commit: Option<Option<String>>,
}

/// Reads a field that may be left out, and may be null.
fn present_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}

impl Documented for Against {
    type Shape<'de> = AgainstShape;

    fn check(shape: AgainstShape) -> Result<Against, String> {
        match (shape.apply, shape.at, shape.base, shape.commit) {
            (Some(apply), Some(at), None, None) => Ok(Against::Journal { apply, at: at.0 }),
            (None, None, Some(name), Some(commit)) => Ok(Against::Base { name, commit }),
            _ => Err("`against` has `apply` and `at`, or `base` and `commit`".into()),
        }
    }
}

/// A cause as JSON has it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CauseShape<'a> {
    /// The class; left out without a base.
    #[serde(borrow, default, deserialize_with = "present")]
    class: Option<Text<'a>>,
    /// The kind.
    #[serde(borrow)]
    kind: Text<'a>,
    /// In words.
    says: String,
    /// The lines.
    places: Vec<String>,
    /// Whether what differs explains the changes.
    explained: bool,
    /// The places of the changes.
    changes: Vec<u32>,
}

impl Documented for Cause {
    type Shape<'de> = CauseShape<'de>;

    fn check(shape: CauseShape<'_>) -> Result<Cause, String> {
        let class = shape.class.map(|class| parse_word(&class, Class::parse, "class")).transpose()?;
        let kind = parse_word(&shape.kind, CauseKind::parse, "kind of cause")?;
        let CauseShape { says, places, explained: is_explained, changes, .. } = shape;
        Ok(Cause { class, kind, says, places, is_explained, changes })
    }
}
