//! The mark of a record set in its metadata. Pure.
//!
//! Metadata are pairs of a name and a text, which the service keeps with a record set and writes in the same request. It does not
//! distinguish names by their case.

use serde_json::{Map, Value};

use crate::dns::RrsetMark;

/// The name of the owner.
pub const OWNER: &str = "zonewright-owner";

/// The name of what a record set was made for.
pub const RESOURCE: &str = "zonewright-resource";

/// The mark that metadata hold; none where there are no metadata.
///
/// Errors: they hold something else, and no mark; as a part of a sentence.
pub fn mark(metadata: &Map<String, Value>) -> Result<Option<RrsetMark>, String> {
    let text = |name: &str| {
        let pair = metadata.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        pair.and_then(|(_, value)| value.as_str()).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match text(OWNER) {
        Some(owner) => Ok(Some(RrsetMark { owner, resource: text(RESOURCE) })),
        None => match metadata.keys().next() {
            None => Ok(None),
            Some(other) => Err(format!("a set with metadata (`{other}`) and without `{OWNER}`,")),
        },
    }
}

/// Metadata with this mark in the place of another; what else is in them stays.
pub fn with_mark(metadata: &Map<String, Value>, mark: Option<&RrsetMark>) -> Map<String, Value> {
    let is_other = |name: &str| ![OWNER, RESOURCE].iter().any(|own| own.eq_ignore_ascii_case(name));
    let others = metadata.iter().filter(|(name, _)| is_other(name)).map(|(name, value)| (name.clone(), value.clone()));
    let pair = |name: &str, text: &String| (name.to_owned(), Value::String(text.clone()));
    let owner = mark.map(|mark| pair(OWNER, &mark.owner));
    let resource = mark.and_then(|mark| mark.resource.as_ref()).map(|resource| pair(RESOURCE, resource));
    others.chain(owner).chain(resource).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pairs(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_mark_is_read_as_it_was_written_and_others_stay() {
        let of_manifest = RrsetMark { owner: "us".into(), resource: Some("crd/shop/web".into()) };
        let others = pairs(json!({ "team": "web", "Zonewright-Owner": "old" }));
        let written = with_mark(&others, Some(&of_manifest));
        let expected = json!({ "team": "web", "zonewright-owner": "us", "zonewright-resource": "crd/shop/web" });
        assert_eq!(Value::Object(written.clone()), expected);
        assert_eq!(mark(&written), Ok(Some(of_manifest)));
        let written = with_mark(&written, Some(&RrsetMark::of("them")));
        assert_eq!(Value::Object(written.clone()), json!({ "team": "web", "zonewright-owner": "them" }));
        assert_eq!(with_mark(&written, None), pairs(json!({ "team": "web" })));
    }

    #[test]
    fn metadata_without_an_owner_are_of_others() {
        assert_eq!(mark(&Map::new()), Ok(None));
        let said = "a set with metadata (`team`) and without `zonewright-owner`,";
        assert_eq!(mark(&pairs(json!({ "team": "web" }))), Err(said.to_owned()));
        let empty = mark(&pairs(json!({ "ZONEWRIGHT-OWNER": "" })));
        assert!(empty.is_err());
        assert_eq!(mark(&pairs(json!({ "ZONEWRIGHT-owner": "us" }))), Ok(Some(RrsetMark::of("us"))));
    }
}
