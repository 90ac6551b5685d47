//! Which operation a request asks for.

use super::super::{DoubleRequest, decode_percent};
use super::errors::ServiceError;

/// What the version of the API puts in front of all paths.
const PREFIX: &str = "/2013-04-01/";

/// An operation, with what the path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route53Operation {
    /// Lists zones.
    ListHostedZones,
    /// Lists zones by name.
    ListHostedZonesByName,
    /// Shows a zone.
    GetHostedZone(String),
    /// Creates a zone.
    CreateHostedZone,
    /// Removes a zone.
    DeleteHostedZone(String),
    /// Lists RRsets of a zone.
    ListResourceRecordSets(String),
    /// Changes RRsets of a zone.
    ChangeResourceRecordSets(String),
    /// Asks after a change.
    GetChange(String),
    /// Lists the tags of a resource: its type and identifier.
    ListTagsForResource(String, String),
    /// Lists the tags of several resources of a type.
    ListTagsForResources(String),
    /// Changes the tags of a resource: its type and identifier.
    ChangeTagsForResource(String, String),
    /// Lists the protections of a zone.
    ListResourceRecordSetProtections(String),
    /// Creates protections in a zone.
    CreateResourceRecordSetProtections(String),
    /// Removes protections of a zone.
    DeleteResourceRecordSetProtections(String),
}

impl Route53Operation {
    /// Finds the operation of a request; none for a path or method that is none.
    pub fn find(request: &DoubleRequest) -> Option<Self> {
        let path = request.path().strip_prefix(PREFIX)?;
        let parts = path.split('/').map(decode_percent).collect::<Option<Vec<String>>>()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Some(match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["hostedzone"]) => Self::ListHostedZones,
            ("GET", ["hostedzonesbyname"]) => Self::ListHostedZonesByName,
            ("POST", ["hostedzone"]) => Self::CreateHostedZone,
            ("GET", ["hostedzone", id]) => Self::GetHostedZone((*id).to_owned()),
            ("DELETE", ["hostedzone", id]) => Self::DeleteHostedZone((*id).to_owned()),
            ("GET", ["hostedzone", id, "rrset"]) => Self::ListResourceRecordSets((*id).to_owned()),
            // The path of this one ends with a slash.
            ("POST", ["hostedzone", id, "rrset", ""]) => Self::ChangeResourceRecordSets((*id).to_owned()),
            ("GET", ["change", id]) => Self::GetChange((*id).to_owned()),
            ("GET", ["tags", kind, id]) => Self::ListTagsForResource((*kind).to_owned(), (*id).to_owned()),
            ("POST", ["tags", kind]) => Self::ListTagsForResources((*kind).to_owned()),
            ("POST", ["tags", kind, id]) => Self::ChangeTagsForResource((*kind).to_owned(), (*id).to_owned()),
            ("GET", ["hostedzone", id, "rrsetprotection"]) => Self::ListResourceRecordSetProtections((*id).to_owned()),
            ("POST", ["hostedzone", id, "rrsetprotection"]) => {
                Self::CreateResourceRecordSetProtections((*id).to_owned())
            }
            ("POST", ["hostedzone", id, "rrsetprotection", "delete"]) => {
                Self::DeleteResourceRecordSetProtections((*id).to_owned())
            }
            _ => return None,
        })
    }

    /// Returns the name of the API.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ListHostedZones => "ListHostedZones",
            Self::ListHostedZonesByName => "ListHostedZonesByName",
            Self::GetHostedZone(_) => "GetHostedZone",
            Self::CreateHostedZone => "CreateHostedZone",
            Self::DeleteHostedZone(_) => "DeleteHostedZone",
            Self::ListResourceRecordSets(_) => "ListResourceRecordSets",
            Self::ChangeResourceRecordSets(_) => "ChangeResourceRecordSets",
            Self::GetChange(_) => "GetChange",
            Self::ListTagsForResource(..) => "ListTagsForResource",
            Self::ListTagsForResources(_) => "ListTagsForResources",
            Self::ChangeTagsForResource(..) => "ChangeTagsForResource",
            Self::ListResourceRecordSetProtections(_) => "ListResourceRecordSetProtections",
            Self::CreateResourceRecordSetProtections(_) => "CreateResourceRecordSetProtections",
            Self::DeleteResourceRecordSetProtections(_) => "DeleteResourceRecordSetProtections",
        }
    }

    /// Returns the zone that the path names.
    pub fn zone(&self) -> Option<&str> {
        match self {
            Self::GetHostedZone(id)
            | Self::DeleteHostedZone(id)
            | Self::ListResourceRecordSets(id)
            | Self::ChangeResourceRecordSets(id)
            | Self::ListResourceRecordSetProtections(id)
            | Self::CreateResourceRecordSetProtections(id)
            | Self::DeleteResourceRecordSetProtections(id) => Some(id),
            Self::ListTagsForResource(kind, id) | Self::ChangeTagsForResource(kind, id) if kind == "hostedzone" => {
                Some(id)
            }
            _ => None,
        }
    }

    /// Returns the resource that a policy names.
    pub fn resource(&self) -> String {
        match (self, self.zone()) {
            (_, Some(zone)) => format!("arn:aws:route53:::hostedzone/{zone}"),
            (Self::GetChange(id), None) => format!("arn:aws:route53:::change/{id}"),
            _ => "*".to_owned(),
        }
    }
}

/// The parameters of a query.
pub struct QueryFields(Vec<(String, String)>);

impl QueryFields {
    /// Parses a query.
    ///
    /// Errors: a broken escape, a parameter that the operation does not have, or one that is there twice.
    pub fn parse(request: &DoubleRequest, known: &[&str]) -> Result<Self, ServiceError> {
        let mut fields: Vec<(String, String)> = Vec::new();
        for pair in request.query().split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = decode_percent(key).zip(decode_percent(value));
            let (key, value) = decoded.ok_or_else(|| ServiceError::invalid_input("The query has a broken escape"))?;
            if !known.contains(&key.as_str()) || fields.iter().any(|(earlier, _)| *earlier == key) {
                return Err(ServiceError::invalid_input(format!("The query parameter '{key}' has no place here")));
            }
            fields.push((key, value));
        }
        Ok(Self(fields))
    }

    /// Returns a parameter; an empty one is not there.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, value)| known == key && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// Returns how many items a page may have: what is asked, but not more than `most`.
    pub fn page(&self, key: &str, most: usize) -> Result<usize, ServiceError> {
        let Some(text) = self.get(key) else { return Ok(most) };
        let asked = text.parse::<usize>().ok().filter(|asked| *asked > 0);
        let wrong = || ServiceError::invalid_input(format!("Invalid value '{text}' for '{key}'"));
        asked.map(|asked| asked.min(most)).ok_or_else(wrong)
    }
}
