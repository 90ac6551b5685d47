//! Listings, page by page, and their filters.

use serde_json::Value;

use super::calls::MapCall;
use super::errors::MapError;

/// The most items of a page, and how many it has where the request does not say.
const MAX_PAGE: usize = 100;

/// A filter of a listing.
pub struct MapFilter<'c> {
    /// What is compared.
    pub name: &'c str,
    /// With what.
    values: Vec<&'c str>,
    /// How.
    condition: &'c str,
}

impl MapFilter<'_> {
    /// Refuses a condition that the filter does not have, and a number of values that the condition does not have.
    pub fn check_condition(&self, known: &[&str]) -> Result<(), MapError> {
        if !known.contains(&self.condition) {
            let words = format!("The condition {} is not supported for the filter {}", self.condition, self.name);
            return Err(MapError::invalid(words));
        }
        let is_good = match self.condition {
            "IN" => !self.values.is_empty(),
            "BETWEEN" => self.values.len() == 2,
            _ => self.values.len() == 1,
        };
        if is_good {
            return Ok(());
        }
        Err(MapError::invalid(format!("The filter {} has the wrong number of values", self.name)))
    }

    /// Returns the values.
    pub fn values(&self) -> &[&str] {
        &self.values
    }
}

/// Whether one of the words of an item fits a filter.
pub fn has_words(filter: &MapFilter<'_>, words: &[&str]) -> bool {
    let fits = |value: &&str| {
        words.iter().any(|word| match filter.condition {
            "BEGINS_WITH" => word.starts_with(*value),
            _ => word == value,
        })
    };
    filter.values.iter().any(fits)
}

/// Cuts a page of items, which are sorted by their keys, and says where the next one begins.
pub fn page_of<T>(items: Vec<(String, T)>, call: &MapCall<'_>) -> Result<(Vec<T>, Option<String>), MapError> {
    let most = call.input.get("MaxResults").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    let after = call.text("NextToken").filter(|token| !token.is_empty()).map(decode_token).transpose()?;
    let mut rest: Vec<(String, T)> =
        items.into_iter().filter(|(key, _)| after.as_ref().is_none_or(|after| key > after)).collect();
    let (count, is_hidden) = call.page.cut(most.unwrap_or(MAX_PAGE).min(rest.len()));
    let is_more = count < rest.len() && !is_hidden;
    rest.truncate(count);
    let next = rest.last().filter(|_| is_more).map(|(key, _)| encode_token(key));
    Ok((rest.into_iter().map(|(_, item)| item).collect(), next))
}

/// Cuts a page and drops the items that do not fit all filters.
pub fn filtered_page<'s, T>(
    items: Vec<(String, &'s T)>,
    call: &MapCall<'_>,
    fits: impl Fn(&T, &MapFilter<'_>) -> Result<bool, MapError>,
) -> Result<(Vec<&'s T>, Option<String>), MapError> {
    let filters: Vec<MapFilter<'_>> =
        call.input.get("Filters").and_then(Value::as_array).into_iter().flatten().map(decode_filter).collect();
    // A filter that is wrong is refused where there is no item, too.
    let mut wanted = Vec::new();
    for (key, item) in &items {
        let mut is_wanted = true;
        for filter in &filters {
            is_wanted &= fits(item, filter)?;
        }
        if is_wanted {
            wanted.push(key.clone());
        }
    }
    let keyed = items.into_iter().map(|(key, item)| (key.clone(), (key, item))).collect();
    let (page, next) = page_of(keyed, call)?;
    let page = page.into_iter().filter(|(key, _)| wanted.binary_search(key).is_ok());
    Ok((page.map(|(_, item)| item).collect(), next))
}

/// Reads a filter. Without a condition it is `EQ`.
fn decode_filter(value: &Value) -> MapFilter<'_> {
    let values = value["Values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let name = value["Name"].as_str().expect("the model demands it");
    MapFilter { name, values, condition: value["Condition"].as_str().unwrap_or("EQ") }
}

/// Writes where a page begins, so that no client can make it up.
fn encode_token(key: &str) -> String {
    key.bytes().map(|octet| format!("{:02x}", octet ^ 0x5a)).collect()
}

/// Reads where a page begins.
fn decode_token(token: &str) -> Result<String, MapError> {
    let octet = |pair: &[u8]| {
        let digits = std::str::from_utf8(pair).ok().filter(|digits| digits.len() == 2)?;
        u8::from_str_radix(digits, 16).ok().map(|octet| octet ^ 0x5a)
    };
    let octets: Option<Vec<u8>> = token.as_bytes().chunks(2).map(octet).collect();
    let key = octets.and_then(|octets| String::from_utf8(octets).ok());
    key.ok_or_else(|| MapError::invalid("NextToken is not one that the service gave"))
}
