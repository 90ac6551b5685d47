//! Names of zones, of record sets, and inside records.

use super::errors::AzureError;

/// The longest label, in octets. Source: RFC 1035 section 2.3.4.
const MAX_LABEL: usize = 63;

/// The longest name as a text without the final dot. Source: RFC 1035 section 2.3.4.
const MAX_NAME: usize = 253;

/// How many labels a zone has. Source: the naming rules of Resource Manager.
const ZONE_LABELS: std::ops::RangeInclusive<usize> = 2..=34;

/// Checks the name of a zone, which has no final dot.
pub fn check_zone_name(name: &str) -> Result<(), AzureError> {
    let is_long_enough = ZONE_LABELS.contains(&name.split('.').count());
    if is_long_enough && name.len() <= MAX_NAME && name.split('.').all(is_label) {
        return Ok(());
    }
    Err(AzureError::bad_request(format!("The zone name '{name}' is invalid.")))
}

/// Checks the name of a record set, relative to its zone: `@`, or labels of which the first may be `*`.
pub fn check_relative_name(name: &str, rtype: &str, zone: &str) -> Result<(), AzureError> {
    if name == "@" {
        return Ok(());
    }
    let wildcard = name.strip_prefix('*').filter(|rest| rest.is_empty() || rest.starts_with('.'));
    let labels = wildcard.map_or(name, |rest| rest.trim_start_matches('.'));
    let is_valid = wildcard == Some("") || labels.split('.').all(is_label);
    let has_dots = wildcard.is_some_and(|rest| rest.starts_with("..") || rest == ".");
    if !is_valid || has_dots || name.len() + 1 + zone.len() > MAX_NAME {
        return Err(AzureError::bad_request(format!("The relative record set name '{name}' is invalid.")));
    }
    if wildcard.is_some() && ["NS", "SOA"].contains(&rtype) {
        return Err(AzureError::bad_request(format!("Wildcard record sets of type '{rtype}' are not supported.")));
    }
    Ok(())
}

/// Checks a name inside a record. A final dot may be there.
pub fn check_target_name(name: &str) -> Result<(), AzureError> {
    let labels = name.strip_suffix('.').unwrap_or(name);
    if labels.len() <= MAX_NAME && labels.split('.').all(is_label) {
        return Ok(());
    }
    Err(AzureError::bad_request(format!("The domain name '{name}' is invalid.")))
}

/// Returns the full name of a record set, with the final dot.
pub fn full_name(relative: &str, zone: &str) -> String {
    if relative == "@" { format!("{zone}.") } else { format!("{relative}.{zone}.") }
}

/// Whether a text is a label: letters, digits, hyphens and underscores. Other scripts must be Punycode.
fn is_label(label: &str) -> bool {
    let is_allowed = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_';
    (1..=MAX_LABEL).contains(&label.len()) && label.bytes().all(is_allowed)
}
