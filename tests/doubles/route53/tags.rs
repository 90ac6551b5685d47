//! Tags of zones.

use super::account::{AccountState, ZoneState};
use super::decode::{check_length, check_members, check_word, decode_root, items, required, required_child};
use super::errors::ServiceError;
use super::rules::Route53Rules;
use super::xml::XmlWriter;

/// The most tags, keys or resources of a request. Source: the API's model.
const MAX_ITEMS: usize = 10;

/// Lists the tags of a resource.
pub fn list_tags(account: &AccountState, kind: &str, id: &str) -> Result<String, ServiceError> {
    check_kind(kind, id)?;
    let zone = account.zone(id)?;
    Ok(XmlWriter::document("ListTagsForResourceResponse", |xml| write_tags(xml, zone)))
}

/// Lists the tags of several resources.
pub fn list_tags_of_many(
    account: &AccountState,
    kind: &str,
    body: &[u8],
    rules: &Route53Rules,
) -> Result<String, ServiceError> {
    let root = decode_root(body, "ListTagsForResourcesRequest")?;
    check_members(&root, &["ResourceIds"], rules)?;
    let ids = items(required_child(&root, "ResourceIds")?, "ResourceId")?;
    check_count(ids.len(), "resourceIds")?;
    let mut zones = Vec::new();
    for id in ids {
        check_kind(kind, &id.text)?;
        zones.push(account.zone(&id.text)?);
    }
    Ok(XmlWriter::document("ListTagsForResourcesResponse", |xml| {
        xml.element("ResourceTagSets", |xml| zones.iter().for_each(|zone| write_tags(xml, zone)));
    }))
}

/// Changes the tags of a resource.
pub fn change_tags(
    account: &mut AccountState,
    (kind, id): (&str, &str),
    body: &[u8],
    rules: &Route53Rules,
) -> Result<String, ServiceError> {
    check_kind(kind, id)?;
    let root = decode_root(body, "ChangeTagsForResourceRequest")?;
    check_members(&root, &["AddTags", "RemoveTagKeys"], rules)?;
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    if let Some(list) = root.child("AddTags") {
        for tag in items(list, "Tag")? {
            check_members(tag, &["Key", "Value"], rules)?;
            let (key, value) = (required(tag, "Key")?, required(tag, "Value")?);
            check_length(key, "addTags.member.key", 1, 128)?;
            check_length(value, "addTags.member.value", 0, 256)?;
            added.push((key.to_owned(), value.to_owned()));
        }
    }
    if let Some(list) = root.child("RemoveTagKeys") {
        removed.extend(items(list, "Key")?.iter().map(|key| key.text.clone()));
    }
    check_count(added.len(), "addTags")?;
    check_count(removed.len(), "removeTagKeys")?;
    if added.is_empty() && removed.is_empty() {
        return Err(ServiceError::invalid_input("There is no tag to add or to remove"));
    }
    let zone = account.zone_mut(id)?;
    zone.tags.extend(added);
    zone.tags.retain(|key, _| !removed.contains(key));
    Ok(XmlWriter::document("ChangeTagsForResourceResponse", |_| {}))
}

/// Checks the type of a resource. The double has no health checks.
fn check_kind(kind: &str, id: &str) -> Result<(), ServiceError> {
    check_word(kind, "resourceType", &["healthcheck", "hostedzone"])?;
    if kind == "healthcheck" {
        return Err(ServiceError::new(404, "NoSuchHealthCheck", format!("No health check exists with the ID {id}")));
    }
    Ok(())
}

/// Checks how many items there are.
fn check_count(count: usize, field: &str) -> Result<(), ServiceError> {
    if count <= MAX_ITEMS {
        return Ok(());
    }
    Err(ServiceError::invalid_input(format!(
        "1 validation error detected: Value at '{field}' failed to satisfy constraint: Member must have length less \
         than or equal to {MAX_ITEMS}"
    )))
}

/// Writes the tags of a zone.
fn write_tags(xml: &mut XmlWriter, zone: &ZoneState) {
    xml.element("ResourceTagSet", |xml| {
        xml.leaf("ResourceType", "hostedzone");
        xml.leaf("ResourceId", &zone.id);
        xml.element("Tags", |xml| {
            for (key, value) in &zone.tags {
                xml.element("Tag", |xml| {
                    xml.leaf("Key", key);
                    xml.leaf("Value", value);
                });
            }
        });
    });
}
