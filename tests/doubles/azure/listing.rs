//! Listings, page by page.

use serde_json::{Value, json};

use super::account::AzureZoneState;
use super::errors::AzureError;
use super::manager::{AzureAnswer, AzureCall, AzureResult};
use super::names::full_name;
use super::paths::AzureVerb;

/// How a page is spoiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSpoil {
    /// It is whole.
    None,
    /// It has half of the items, and says that more follow.
    Half,
    /// It has half of the items, and says that nothing follows.
    Lost,
}

/// An item of a listing.
pub struct PagedItem {
    /// What listings are sorted by, and where a page begins.
    pub key: String,
    /// The item.
    pub json: Value,
}

/// Lists record sets of a zone: all, those of a type, or those whose names end in a suffix.
pub fn list_sets(zone: &AzureZoneState, call: &AzureCall<'_>) -> AzureResult {
    let path = zone.path(call.kind, call.subscription);
    let suffix = call.query.get("$recordsetnamesuffix").map(str::to_ascii_lowercase);
    let is_wanted = |name: &str, rtype: &str| {
        let is_of_type = call.operation.verb != AzureVerb::ListByType || rtype == call.operation.rtype;
        let full = full_name(name, &zone.name).to_ascii_lowercase();
        let relative = if name == "@" { "@" } else { full.trim_end_matches('.') };
        let has_suffix = |suffix: &String| name.to_ascii_lowercase().ends_with(suffix) || relative.ends_with(suffix);
        is_of_type && suffix.as_ref().is_none_or(has_suffix)
    };
    let sets = zone.sets.iter().filter(|(_, set)| is_wanted(&set.name, &set.rtype));
    let items = sets.map(|((is_below, name, rtype), set)| PagedItem {
        key: format!("{}{name}\0{rtype}", u8::from(*is_below)),
        json: set.write(call.kind, call.rules, (&zone.name, &path)),
    });
    write_page(items.collect(), call)
}

/// Writes a page of items that are sorted. A page says with which item the next one begins, so that what is created or
/// deleted between two pages shifts nothing.
pub fn write_page(items: Vec<PagedItem>, call: &AzureCall<'_>) -> AzureResult {
    let page = page_size(call)?;
    let first = match call.query.get("$skiptoken") {
        Some(token) => decode_token(token).ok_or_else(|| {
            AzureError::manager(400, "InvalidSkipToken", format!("The skip token '{token}' is not valid."))
        })?,
        None => String::new(),
    };
    let mut following = items.into_iter().skip_while(|item| item.key < first).peekable();
    let mut shown: Vec<PagedItem> = following.by_ref().take(page).collect();
    let mut next = following.peek().map(|item| item.key.clone());
    match call.spoil {
        PageSpoil::None => {}
        PageSpoil::Half => {
            // A page of one item cannot be less and still say where the next one begins.
            let rest = shown.split_off(shown.len().div_ceil(2));
            next = rest.into_iter().next().map(|item| item.key).or(next);
        }
        PageSpoil::Lost => {
            shown.truncate(shown.len() / 2);
            next = None;
        }
    }
    let mut body = json!({"value": shown.into_iter().map(|item| item.json).collect::<Vec<_>>()});
    if let Some(next) = next {
        let token: String = next.bytes().map(|octet| format!("{octet:02x}")).collect();
        let mut query = vec![("$skiptoken", token)];
        let kept = ["$top", "$recordsetnamesuffix"].into_iter();
        query.extend(kept.filter_map(|key| call.query.get(key).map(|value| (key, value.to_owned()))));
        body["nextLink"] = json!(call.link(call.request.path(), &query));
    }
    Ok(AzureAnswer::new(200, body))
}

/// Returns how many items a page may have.
fn page_size(call: &AzureCall<'_>) -> Result<usize, AzureError> {
    let Some(text) = call.query.get("$top") else { return Ok(call.rules.max_page) };
    let wrong = || AzureError::bad_request(format!("The value '{text}' of '$top' is invalid."));
    let asked = text.parse::<usize>().ok().filter(|asked| *asked > 0).ok_or_else(wrong)?;
    Ok(asked.min(call.rules.max_page))
}

/// Decodes where a page begins.
fn decode_token(token: &str) -> Option<String> {
    if !token.len().is_multiple_of(2) || !token.is_ascii() {
        return None;
    }
    let octets = (0..token.len()).step_by(2).map(|at| u8::from_str_radix(&token[at..at + 2], 16).ok());
    String::from_utf8(octets.collect::<Option<Vec<u8>>>()?).ok()
}
