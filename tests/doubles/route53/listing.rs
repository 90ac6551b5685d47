//! The RRsets of a zone, page by page.

use super::super::faults::PageFault;
use super::account::ZoneState;
use super::decode::check_type;
use super::errors::ServiceError;
use super::names::DoubleName;
use super::paths::QueryFields;
use super::rrset::{DoubleRrset, RrsetKey};
use super::xml::XmlWriter;

/// The most RRsets of a page.
const MAX_PAGE: usize = 300;

/// Lists RRsets.
pub fn list_rrsets(zone: &ZoneState, query: &QueryFields, fault: PageFault) -> Result<String, ServiceError> {
    let page = query.page("maxitems", MAX_PAGE)?;
    let first = first_key(query)?;
    let mut following = zone.rrsets.range(first..).map(|(_, rrset)| rrset).peekable();
    let rrsets: Vec<&DoubleRrset> = following.by_ref().take(page).collect();
    let (count, is_hidden) = fault.cut(rrsets.len());
    let next = rrsets.get(count).copied().or_else(|| following.next()).filter(|_| !is_hidden);
    Ok(XmlWriter::document("ListResourceRecordSetsResponse", |xml| {
        xml.element("ResourceRecordSets", |xml| rrsets[..count].iter().for_each(|rrset| rrset.write(xml)));
        xml.leaf("IsTruncated", next.is_some().to_string());
        if let Some(next) = next {
            xml.leaf("NextRecordName", &next.name);
            xml.leaf("NextRecordType", &next.rtype);
            xml.optional("NextRecordIdentifier", next.set_identifier.as_ref());
        }
        xml.leaf("MaxItems", page.to_string());
    }))
}

/// Returns where a listing begins: at the first RRset that is not before name, type and set identifier of the query.
fn first_key(query: &QueryFields) -> Result<RrsetKey, ServiceError> {
    let (name, rtype, identifier) = (query.get("name"), query.get("type"), query.get("identifier"));
    if rtype.is_some() && name.is_none() || identifier.is_some() && rtype.is_none() {
        return Err(ServiceError::invalid_input(
            "Specifying a type or an identifier without what is before it is not allowed",
        ));
    }
    if let Some(rtype) = rtype {
        check_type(rtype)?;
    }
    let order = name.map(|name| DoubleName::parse(name).map_err(ServiceError::invalid_input)).transpose()?;
    Ok(RrsetKey {
        order: order.map(|name| name.order()).unwrap_or_default(),
        rtype: rtype.unwrap_or_default().to_owned(),
        set_identifier: identifier.map(str::to_owned),
    })
}
