//! Makes and deletes zones. The service gives a zone its SOA, and a public one its name servers; a private one is made in a while.

use super::client::{AzureFault, AzureFaultKind, AzureQuestion};
use super::document::AzureZone;
use super::target::AzureReader;
use crate::dns::{Rtype, ZoneName};
use crate::http::HttpMethod;

/// What a zone is made with. Zones are in no region.
const NEW_ZONE: &str = r#"{"location":"global"}"#;

/// How many octets an answer about a zone may have.
const MAX_ANSWER: u64 = 1 << 20;

/// Makes a zone in the resource group of the target, unless the subscription has one of its name that is meant.
///
/// Errors: no resource group is said; the zone is there by now; it could not be made.
pub fn make(reader: &AzureReader, zone: &ZoneName) -> Result<(), AzureFault> {
    let refused = |message: &str, hint: &str| {
        let (message, hint) = (message.to_owned(), hint.to_owned());
        AzureFault { kind: AzureFaultKind::Refused, code: "zone-not-made", message, hint }
    };
    let Some(group) = reader.zones.group.clone() else {
        let message = "a zone is made in a resource group, and the target names none";
        return Err(refused(message, "set `resource_group` of the target"));
    };
    reader.zones.forget();
    if reader.zones.find(&reader.client, zone)?.is_some() {
        return Err(refused("the zone is there by now", "plan again"));
    }
    let text = zone.as_name().to_dotless_text();
    let new = AzureZone { name: zone.as_name().to_name(), group, text };
    let path = reader.zones.path_of(&reader.client, &new);
    let made = reader.client.ask_to_end(&AzureQuestion {
        method: HttpMethod::Put,
        target: &path,
        // A PUT of a zone that is there would replace its tags.
        condition: Some(("if-none-match", "*")),
        content: NEW_ZONE,
        max: MAX_ANSWER,
    });
    reader.zones.forget();
    made.map(drop)
}

/// Deletes a zone that has nothing but what the service gave it: the service would delete all of it.
///
/// Errors: it has records; it could not be deleted.
pub fn delete(reader: &AzureReader, hosted: &AzureZone, zone: &ZoneName) -> Result<(), AzureFault> {
    let is_given = |rtype: &str| [Rtype::SOA, Rtype::NS].iter().any(|given| rtype == given.to_string());
    let (sets, _) = reader.read_sets(hosted, zone)?;
    // An alias, or what a virtual machine has, counts, too.
    let others = sets.values().filter(|set| set.owner.as_name() != zone.as_name() || !is_given(&set.rtype)).count();
    if others > 0 {
        let (message, hint) = (format!("it has {others} record sets"), "plan again".to_owned());
        return Err(AzureFault { kind: AzureFaultKind::Refused, code: "zone-not-deleted", message, hint });
    }
    let path = reader.zones.path_of(&reader.client, hosted);
    let deleted = reader.client.ask_to_end(&AzureQuestion {
        method: HttpMethod::Delete,
        target: &path,
        condition: None,
        content: "",
        max: MAX_ANSWER,
    });
    reader.zones.forget();
    deleted.map(drop)
}
