//! Which operation a request asks for.

use super::super::{DoubleRequest, decode_percent};
use super::errors::AzureError;
use super::rules::AzureKind;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AzureVerb {
    /// Lists the zones of the subscription.
    ListZones,
    /// Lists the zones of a resource group.
    ListZonesOfGroup,
    /// Shows a zone.
    GetZone,
    /// Creates or updates a zone.
    PutZone,
    /// Updates the tags of a zone.
    PatchZone,
    /// Deletes a zone.
    DeleteZone,
    /// Lists record sets at `recordsets`, which only public zones have.
    ListRecordSets,
    /// Lists record sets at `all`.
    ListAll,
    /// Lists record sets of a type.
    ListByType,
    /// Shows a record set.
    GetSet,
    /// Creates or updates a record set.
    PutSet,
    /// Updates parts of a record set.
    PatchSet,
    /// Deletes a record set.
    DeleteSet,
    /// Asks after a change of a zone.
    GetStatus,
    /// Gives a token to a client that proves itself.
    GetToken,
    /// Gives a token to a virtual machine.
    GetMachineToken,
    /// Gives a token to an App Service.
    GetAppToken,
}

/// An operation, with what the path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureOperation {
    /// What is done.
    pub verb: AzureVerb,
    /// The subscription; for a token, the tenant.
    pub scope: String,
    /// The resource group.
    pub group: String,
    /// The zone, or the identifier of a change.
    pub zone: String,
    /// The type, in upper case.
    pub rtype: String,
    /// The relative name of the record set, as it was sent.
    pub name: String,
}

impl AzureOperation {
    /// Finds the operation of a request; none for a path or method that is none.
    pub fn find(kind: AzureKind, request: &DoubleRequest) -> Option<Self> {
        let path = request.path().strip_prefix('/')?;
        let parts = path.split('/').map(decode_percent).collect::<Option<Vec<String>>>()?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let method = request.method.as_str();
        match (method, parts.as_slice()) {
            ("POST", [tenant, "oauth2", "v2.0", "token"]) => return Some(Self::new(AzureVerb::GetToken, tenant)),
            ("GET", ["metadata", "identity", "oauth2", "token"]) => {
                return Some(Self::new(AzureVerb::GetMachineToken, ""));
            }
            ("GET", ["msi", "token"] | ["msi", "token", ""]) => return Some(Self::new(AzureVerb::GetAppToken, "")),
            _ => {}
        }
        let [first, subscription, rest @ ..] = parts.as_slice() else { return None };
        if !is_same(first, "subscriptions") || rest.iter().any(|part| part.is_empty()) {
            return None;
        }
        let (group, rest) = match rest {
            [groups, group, rest @ ..] if is_same(groups, "resourceGroups") => (Some(*group), rest),
            _ => (None, rest),
        };
        let [providers, namespace, rtype, rest @ ..] = rest else { return None };
        if !is_same(providers, "providers") || !is_same(namespace, "Microsoft.Network") {
            return None;
        }
        let found = Self::new(AzureVerb::ListZones, subscription);
        if is_same(rtype, status_type(kind)) {
            let ("GET", Some(group), [id]) = (method, group, rest) else { return None };
            return Some(Self { verb: AzureVerb::GetStatus, group: group.to_owned(), zone: (*id).to_owned(), ..found });
        }
        if !is_same(rtype, kind.zone_type()) {
            return None;
        }
        let Some(group) = group else { return (method == "GET" && rest.is_empty()).then_some(found) };
        found.in_group(kind, group, method, rest)
    }

    /// Finds what is asked for below the zones of a resource group.
    fn in_group(self, kind: AzureKind, group: &str, method: &str, rest: &[&str]) -> Option<Self> {
        let (verb, zone, rtype, name) = match (method, rest) {
            ("GET", []) => (AzureVerb::ListZonesOfGroup, "", "", ""),
            ("GET", [zone]) => (AzureVerb::GetZone, *zone, "", ""),
            ("PUT", [zone]) => (AzureVerb::PutZone, *zone, "", ""),
            ("PATCH", [zone]) => (AzureVerb::PatchZone, *zone, "", ""),
            ("DELETE", [zone]) => (AzureVerb::DeleteZone, *zone, "", ""),
            ("GET", [zone, all]) if is_same(all, "all") => (AzureVerb::ListAll, *zone, "", ""),
            ("GET", [zone, sets]) if is_same(sets, "recordsets") && kind == AzureKind::Public => {
                (AzureVerb::ListRecordSets, *zone, "", "")
            }
            ("GET", [zone, rtype]) => (AzureVerb::ListByType, *zone, *rtype, ""),
            ("GET", [zone, rtype, name]) => (AzureVerb::GetSet, *zone, *rtype, *name),
            ("PUT", [zone, rtype, name]) => (AzureVerb::PutSet, *zone, *rtype, *name),
            ("PATCH", [zone, rtype, name]) => (AzureVerb::PatchSet, *zone, *rtype, *name),
            ("DELETE", [zone, rtype, name]) => (AzureVerb::DeleteSet, *zone, *rtype, *name),
            _ => return None,
        };
        let rtype = rtype.to_ascii_uppercase();
        if !rtype.is_empty() && !kind.types().contains(&rtype.as_str()) {
            return None;
        }
        Some(Self { verb, group: group.to_owned(), zone: zone.to_owned(), rtype, name: name.to_owned(), ..self })
    }

    /// Makes one that names nothing else.
    fn new(verb: AzureVerb, scope: &str) -> Self {
        let empty = String::new;
        Self { verb, scope: scope.to_owned(), group: empty(), zone: empty(), rtype: empty(), name: empty() }
    }

    /// Returns the name of the operation in the API.
    pub fn api_name(&self, kind: AzureKind) -> &'static str {
        let of = |public, private| if kind == AzureKind::Public { public } else { private };
        match self.verb {
            AzureVerb::ListZones => of("Zones_List", "PrivateZones_List"),
            AzureVerb::ListZonesOfGroup => of("Zones_ListByResourceGroup", "PrivateZones_ListByResourceGroup"),
            AzureVerb::GetZone => of("Zones_Get", "PrivateZones_Get"),
            AzureVerb::PutZone => of("Zones_CreateOrUpdate", "PrivateZones_CreateOrUpdate"),
            AzureVerb::PatchZone => of("Zones_Update", "PrivateZones_Update"),
            AzureVerb::DeleteZone => of("Zones_Delete", "PrivateZones_Delete"),
            AzureVerb::ListRecordSets => "RecordSets_ListByDnsZone",
            AzureVerb::ListAll => of("RecordSets_ListAllByDnsZone", "RecordSets_List"),
            AzureVerb::ListByType => "RecordSets_ListByType",
            AzureVerb::GetSet => "RecordSets_Get",
            AzureVerb::PutSet => "RecordSets_CreateOrUpdate",
            AzureVerb::PatchSet => "RecordSets_Update",
            AzureVerb::DeleteSet => "RecordSets_Delete",
            AzureVerb::GetStatus => "OperationStatuses_Get",
            AzureVerb::GetToken => "Token",
            AzureVerb::GetMachineToken => "MachineToken",
            AzureVerb::GetAppToken => "AppToken",
        }
    }

    /// Returns the action that a role must allow; none where no role is asked.
    pub fn action(&self, kind: AzureKind) -> Option<String> {
        let (part, what) = match self.verb {
            AzureVerb::ListZones | AzureVerb::ListZonesOfGroup | AzureVerb::GetZone => ("", "read"),
            AzureVerb::PutZone | AzureVerb::PatchZone => ("", "write"),
            AzureVerb::DeleteZone => ("", "delete"),
            AzureVerb::ListRecordSets => ("recordsets/", "read"),
            AzureVerb::ListAll if kind == AzureKind::Public => ("all/", "read"),
            AzureVerb::ListAll => ("ALL/", "read"),
            AzureVerb::ListByType | AzureVerb::GetSet => (self.rtype.as_str(), "/read"),
            AzureVerb::PutSet | AzureVerb::PatchSet => (self.rtype.as_str(), "/write"),
            AzureVerb::DeleteSet => (self.rtype.as_str(), "/delete"),
            AzureVerb::GetStatus => return Some(format!("Microsoft.Network/{}/read", status_type(kind))),
            AzureVerb::GetToken | AzureVerb::GetMachineToken | AzureVerb::GetAppToken => return None,
        };
        Some(format!("Microsoft.Network/{}/{part}{what}", kind.action_type()))
    }

    /// Returns the path without what is below the zone.
    pub fn zone_path(&self, kind: AzureKind) -> String {
        zone_path(kind, &self.scope, &self.group, &self.zone)
    }

    /// Whether it is about record sets of a zone.
    pub fn is_of_sets(&self) -> bool {
        matches!(
            self.verb,
            AzureVerb::ListRecordSets
                | AzureVerb::ListAll
                | AzureVerb::ListByType
                | AzureVerb::GetSet
                | AzureVerb::PutSet
                | AzureVerb::PatchSet
                | AzureVerb::DeleteSet
        )
    }
}

/// Returns the path of a zone, as answers write it.
pub fn zone_path(kind: AzureKind, subscription: &str, group: &str, zone: &str) -> String {
    let provider = "providers/Microsoft.Network";
    format!("/subscriptions/{subscription}/resourceGroups/{group}/{provider}/{}/{zone}", kind.zone_type())
}

/// Returns the type under which changes of zones are asked after.
pub fn status_type(kind: AzureKind) -> &'static str {
    match kind {
        AzureKind::Public => "dnsOperationStatuses",
        AzureKind::Private => "privateDnsOperationStatuses",
    }
}

/// Whether two fixed parts of a path are the same. Case does not matter.
fn is_same(part: &str, fixed: &str) -> bool {
    part.eq_ignore_ascii_case(fixed)
}

/// The parameters of a query or of a form.
pub struct AzureFields(Vec<(String, String)>);

impl AzureFields {
    /// Parses a query.
    ///
    /// Errors: a broken escape, a parameter that the operation does not have, or one that is there twice.
    pub fn parse_query(request: &DoubleRequest, known: &[&str]) -> Result<Self, AzureError> {
        let wrong = |key: &str| {
            let message = format!("The query parameter '{key}' is not valid for this request.");
            AzureError::manager(400, "InvalidQueryParameter", message)
        };
        let fields = Self::parse(request.query()).ok_or_else(|| wrong(request.query()))?;
        for (place, (key, _)) in fields.0.iter().enumerate() {
            if !known.contains(&key.as_str()) || fields.0[..place].iter().any(|(earlier, _)| earlier == key) {
                return Err(wrong(key));
            }
        }
        Ok(fields)
    }

    /// Parses a form; none where an escape is broken. A plus sign is a blank.
    pub fn parse_form(body: &[u8]) -> Option<Self> {
        Self::parse(&std::str::from_utf8(body).ok()?.replace('+', " "))
    }

    /// Parses pairs of keys and values.
    fn parse(text: &str) -> Option<Self> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let fields = pairs.map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            decode_percent(key).zip(decode_percent(value))
        });
        fields.collect::<Option<Vec<_>>>().map(Self)
    }

    /// Returns a parameter; an empty one is not there.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, value)| known == key && !value.is_empty()).map(|(_, value)| value.as_str())
    }
}
