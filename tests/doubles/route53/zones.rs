//! Zones: creating, showing, listing and removing them.

use std::collections::BTreeMap;

use super::super::clock::shown_time;
use super::super::faults::PageFault;
use super::account::{AccountState, ZoneState};
use super::decode::{check_length, check_members, decode_bool, decode_root, required};
use super::errors::ServiceError;
use super::names::DoubleName;
use super::paths::QueryFields;
use super::rrset::DoubleRrset;
use super::rules::Route53Rules;
use super::xml::XmlWriter;

/// The most zones of a page.
const MAX_PAGE: usize = 100;

/// The name servers of all zones.
const NAME_SERVERS: [&str; 4] =
    ["ns-1.awsdns-00.com.", "ns-513.awsdns-00.net.", "ns-1025.awsdns-00.org.", "ns-1537.awsdns-00.co.uk."];

/// What a new zone is made of.
pub struct NewZone {
    /// The apex.
    pub name: DoubleName,
    /// What the creator gave, so that a copy of the request creates no second zone.
    pub caller_reference: String,
    /// A comment.
    pub comment: Option<String>,
    /// The network that sees it, as region and identifier.
    pub network: Option<(String, String)>,
    /// Whether it is private.
    pub is_private: bool,
}

/// Adds a zone with its SOA and NS, and returns its identifier.
pub fn add_zone(account: &mut AccountState, new: NewZone) -> String {
    account.created_zones += 1;
    let id = format!("Z{:0>12}DOUBLE", account.created_zones);
    let apex = new.name.shown();
    let mut zone = ZoneState {
        id: id.clone(),
        name: new.name,
        caller_reference: new.caller_reference,
        comment: new.comment,
        networks: new.network.into_iter().collect(),
        is_private: new.is_private,
        linked_service: None,
        rrsets: BTreeMap::new(),
        protections: BTreeMap::new(),
        tags: BTreeMap::new(),
        last_change: None,
    };
    let soa = format!("{} awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400", NAME_SERVERS[0]);
    zone.put(DoubleRrset::new(&apex, "NS", 172_800, &NAME_SERVERS));
    zone.put(DoubleRrset::new(&apex, "SOA", 900, &[&soa]));
    account.zones.push(zone);
    id
}

/// Creates a zone; the answer and its location.
pub fn create_zone(
    account: &mut AccountState,
    body: &[u8],
    rules: &Route53Rules,
    now: i64,
) -> Result<(String, String), ServiceError> {
    let new = decode_zone(body, rules)?;
    if account.zones.iter().any(|zone| zone.caller_reference == new.caller_reference) {
        let words = "A hosted zone has already been created with the specified caller reference.";
        return Err(ServiceError::new(409, "HostedZoneAlreadyExists", words));
    }
    let is_same =
        |zone: &ZoneState| zone.name == new.name && new.network.as_ref().is_some_and(|it| zone.networks.contains(it));
    if account.zones.iter().any(is_same) {
        let words = "The VPC that you chose is already associated with another private hosted zone that has an \
                     overlapping name space.";
        return Err(ServiceError::new(400, "ConflictingDomainExists", words));
    }
    let id = add_zone(account, new);
    let change = account.note_change(&id, now, None);
    let zone = account.zone(&id)?;
    let answer = XmlWriter::document("CreateHostedZoneResponse", |xml| {
        write_zone(xml, zone);
        write_change(xml, &change, false, now, None);
        write_servers(xml);
        for network in &zone.networks {
            write_network(xml, network);
        }
    });
    Ok((answer, format!("https://route53.amazonaws.com/2013-04-01/hostedzone/{id}")))
}

/// Reads what a new zone is made of.
fn decode_zone(body: &[u8], rules: &Route53Rules) -> Result<NewZone, ServiceError> {
    let root = decode_root(body, "CreateHostedZoneRequest")?;
    check_members(&root, &["Name", "VPC", "CallerReference", "HostedZoneConfig", "DelegationSetId"], rules)?;
    let invalid_name = |message: String| ServiceError::new(400, "InvalidDomainName", message);
    let name = DoubleName::parse(required(&root, "Name")?).map_err(invalid_name)?;
    let caller_reference = required(&root, "CallerReference")?.to_owned();
    check_length(&caller_reference, "callerReference", 1, 128)?;
    if root.child("DelegationSetId").is_some() {
        return Err(ServiceError::new(400, "NoSuchDelegationSet", "No delegation set found"));
    }
    let network = root.child("VPC").map(|vpc| {
        check_members(vpc, &["VPCRegion", "VPCId"], rules)?;
        Ok::<_, ServiceError>((required(vpc, "VPCRegion")?.to_owned(), required(vpc, "VPCId")?.to_owned()))
    });
    let network = network.transpose()?;
    if let Some((_, id)) = network.as_ref().filter(|(_, id)| !id.starts_with("vpc-")) {
        return Err(ServiceError::new(400, "InvalidVPCId", format!("The VPC {id} does not exist")));
    }
    let (mut comment, mut is_private) = (None, network.is_some());
    if let Some(config) = root.child("HostedZoneConfig") {
        check_members(config, &["Comment", "PrivateZone"], rules)?;
        comment = config.text_of("Comment").map(str::to_owned);
        is_private |= config.text_of("PrivateZone").map(decode_bool).transpose()?.unwrap_or(false);
    }
    if is_private && network.is_none() {
        return Err(ServiceError::invalid_input("When you're creating a private hosted zone, you must specify a VPC"));
    }
    Ok(NewZone { name, caller_reference, comment, network, is_private })
}

/// Shows a zone.
pub fn get_zone(zone: &ZoneState) -> String {
    XmlWriter::document("GetHostedZoneResponse", |xml| {
        write_zone(xml, zone);
        if !zone.is_private {
            return write_servers(xml);
        }
        if !zone.networks.is_empty() {
            xml.element("VPCs", |xml| zone.networks.iter().for_each(|network| write_network(xml, network)));
        }
    })
}

/// Removes a zone of which nothing is left.
pub fn delete_zone(
    account: &mut AccountState,
    id: &str,
    rules: &Route53Rules,
    now: i64,
) -> Result<String, ServiceError> {
    let zone = account.zone(id)?;
    account.check_free(zone, rules, now)?;
    if !zone.is_empty() || !zone.protections.is_empty() {
        let words = "The specified hosted zone contains non-required resource record sets and so cannot be deleted.";
        return Err(ServiceError::new(400, "HostedZoneNotEmpty", words));
    }
    account.zones.retain(|zone| zone.id != id);
    let change = account.note_change(id, now, None);
    Ok(XmlWriter::document("DeleteHostedZoneResponse", |xml| write_change(xml, &change, false, now, None)))
}

/// Lists zones in the order in which they were created.
pub fn list_zones(account: &AccountState, query: &QueryFields, fault: PageFault) -> Result<String, ServiceError> {
    let page = query.page("maxitems", MAX_PAGE)?;
    let marker = query.get("marker").unwrap_or_default();
    let only_private = match query.get("hostedzonetype") {
        None => false,
        Some("PrivateHostedZone") => true,
        Some(_) => return Err(ServiceError::invalid_input("The hosted zone type is unknown")),
    };
    if query.get("delegationsetid").is_some() {
        return Err(ServiceError::new(400, "NoSuchDelegationSet", "No delegation set found"));
    }
    let zones: Vec<&ZoneState> = account.zones.iter().filter(|zone| !only_private || zone.is_private).collect();
    let start = if marker.is_empty() { Some(0) } else { zones.iter().position(|zone| zone.id == marker) };
    let start = start.ok_or_else(|| ServiceError::invalid_input(format!("The marker {marker} is unknown")))?;
    let (count, is_hidden) = fault.cut(page.min(zones.len() - start));
    let next = zones.get(start + count).filter(|_| !is_hidden);
    Ok(XmlWriter::document("ListHostedZonesResponse", |xml| {
        xml.element("HostedZones", |xml| zones[start..start + count].iter().for_each(|zone| write_zone(xml, zone)));
        xml.optional("Marker", Some(marker).filter(|marker| !marker.is_empty()));
        xml.leaf("IsTruncated", next.is_some().to_string());
        xml.optional("NextMarker", next.map(|zone| &zone.id));
        xml.leaf("MaxItems", page.to_string());
    }))
}

/// Lists zones by name, and by identifier where names are the same.
pub fn list_zones_by_name(
    account: &AccountState,
    query: &QueryFields,
    fault: PageFault,
) -> Result<String, ServiceError> {
    let page = query.page("maxitems", MAX_PAGE)?;
    let (name, id) = (query.get("dnsname"), query.get("hostedzoneid"));
    if id.is_some() && name.is_none() {
        return Err(ServiceError::invalid_input("Specifying a hosted zone without a name is not allowed"));
    }
    let invalid_name = |message: String| ServiceError::new(400, "InvalidDomainName", message);
    let first = name.map(|name| DoubleName::parse(name).map_err(invalid_name)).transpose()?;
    let first = (first.map(|name| name.order()).unwrap_or_default(), id.unwrap_or_default().to_owned());
    let mut zones: Vec<&ZoneState> = account.zones.iter().collect();
    zones.sort_by_key(|zone| (zone.name.order(), zone.id.clone()));
    zones.retain(|zone| (zone.name.order(), zone.id.clone()) >= first);
    let (count, is_hidden) = fault.cut(page.min(zones.len()));
    let next = zones.get(count).filter(|_| !is_hidden);
    Ok(XmlWriter::document("ListHostedZonesByNameResponse", |xml| {
        xml.element("HostedZones", |xml| zones[..count].iter().for_each(|zone| write_zone(xml, zone)));
        xml.optional("DNSName", name);
        xml.optional("HostedZoneId", id);
        xml.leaf("IsTruncated", next.is_some().to_string());
        xml.optional("NextDNSName", next.map(|zone| zone.name.shown()));
        xml.optional("NextHostedZoneId", next.map(|zone| &zone.id));
        xml.leaf("MaxItems", page.to_string());
    }))
}

/// Writes a zone.
fn write_zone(xml: &mut XmlWriter, zone: &ZoneState) {
    xml.element("HostedZone", |xml| {
        xml.leaf("Id", format!("/hostedzone/{}", zone.id));
        xml.leaf("Name", zone.name.shown());
        xml.leaf("CallerReference", &zone.caller_reference);
        xml.element("Config", |xml| {
            xml.optional("Comment", zone.comment.as_ref());
            xml.leaf("PrivateZone", zone.is_private.to_string());
        });
        xml.leaf("ResourceRecordSetCount", zone.rrsets.len().to_string());
        if let Some((principal, description)) = &zone.linked_service {
            xml.element("LinkedService", |xml| {
                xml.leaf("ServicePrincipal", principal);
                xml.leaf("Description", description);
            });
        }
    });
}

/// Writes what is known about a change.
pub fn write_change(xml: &mut XmlWriter, id: &str, is_in_sync: bool, submitted: i64, comment: Option<&String>) {
    xml.element("ChangeInfo", |xml| {
        xml.leaf("Id", format!("/change/{id}"));
        xml.leaf("Status", if is_in_sync { "INSYNC" } else { "PENDING" });
        xml.leaf("SubmittedAt", shown_time(submitted));
        xml.optional("Comment", comment);
    });
}

/// Writes the name servers.
fn write_servers(xml: &mut XmlWriter) {
    xml.element("DelegationSet", |xml| {
        xml.element("NameServers", |xml| {
            NAME_SERVERS.iter().for_each(|server| xml.leaf("NameServer", server.trim_end_matches('.')));
        });
    });
}

/// Writes a network.
fn write_network(xml: &mut XmlWriter, (region, id): &(String, String)) {
    xml.element("VPC", |xml| {
        xml.leaf("VPCRegion", region);
        xml.leaf("VPCId", id);
    });
}
