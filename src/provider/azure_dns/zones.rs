//! In which resource group a zone is.

use std::collections::HashSet;
use std::sync::Mutex;

use super::client::{AzureClient, AzureFault, AzureFaultKind, AzureQuestion, path_of};
use super::document::{self, AzurePage, AzureZone};
use crate::dns::ZoneName;
use crate::http::HttpMethod;
use crate::parallel::HELD;
use crate::provider::id_ends::IdEnds;
use crate::provider::url::encode_segment;

/// How many octets a page of zones may have: a hundred zones with their tags.
const MAX_PAGE: u64 = 4 << 20;

/// The zones of a subscription, or of one resource group of it, as they were listed once.
pub struct AzureZones {
    /// The subscription.
    pub subscription: String,
    /// The resource group, where one is meant.
    pub group: Option<String>,
    /// The ends of the ids of the zones that are meant.
    ends: IdEnds,
    /// The zones, where they were listed.
    listed: Mutex<Option<Vec<AzureZone>>>,
}

impl AzureZones {
    /// Those of a subscription, or of a resource group; nothing is listed yet.
    pub fn new(subscription: String, group: Option<String>, ends: IdEnds) -> AzureZones {
        AzureZones { subscription, group, ends, listed: Mutex::default() }
    }

    /// Forgets what was listed: a zone was made or deleted.
    pub fn forget(&self) {
        *self.listed.lock().expect(HELD) = None;
    }

    /// The path of the zones of a resource group, or of the subscription.
    fn path(&self, client: &AzureClient, group: Option<&str>) -> String {
        let group = group.map(|group| format!("/resourceGroups/{}", encode_segment(group))).unwrap_or_default();
        let zones = client.kind.zones();
        format!("/subscriptions/{}{group}/providers/Microsoft.Network/{zones}", encode_segment(&self.subscription))
    }

    /// The path of a zone.
    pub fn path_of(&self, client: &AzureClient, zone: &AzureZone) -> String {
        format!("{}/{}", self.path(client, Some(&zone.group)), encode_segment(&zone.text))
    }

    /// All zones that are meant.
    ///
    /// Errors: they cannot be listed.
    pub fn all(&self, client: &AzureClient) -> Result<Vec<AzureZone>, AzureFault> {
        let mut listed = self.listed.lock().expect(HELD);
        if let Some(zones) = &*listed {
            return Ok(zones.clone());
        }
        let mut zones = Vec::new();
        let path = self.path(client, self.group.as_deref());
        each_page(client, path, MAX_PAGE, document::read_zones, |page, _| {
            zones.extend(page);
            Ok(())
        })?;
        zones.retain(|zone: &AzureZone| self.ends.show(&self.path_of(client, zone)));
        *listed = Some(zones.clone());
        Ok(zones)
    }

    /// The zone of a name; none where there is none.
    ///
    /// Errors: the zones cannot be listed; several resource groups have the name.
    pub fn find(&self, client: &AzureClient, zone: &ZoneName) -> Result<Option<AzureZone>, AzureFault> {
        let mut found = self.all(client)?;
        found.retain(|listed| listed.name.as_name() == zone.as_name());
        if found.len() > 1 {
            let groups: Vec<String> = found.iter().map(|zone| format!("`{}`", zone.group)).collect();
            let message = format!("{} resource groups have a zone of this name: {}", groups.len(), groups.join(", "));
            let hint = "say which one is meant: `resource_group`".to_owned();
            return Err(AzureFault { kind: AzureFaultKind::Refused, code: "zone-not-served", message, hint });
        }
        Ok(found.pop())
    }
}

/// Reads a list page by page: its items go to `take`, with how many octets they came in.
///
/// Errors: a page cannot be read, or `take` does not want more.
pub fn each_page<T>(
    client: &AzureClient,
    path: String,
    max: u64,
    read: impl Fn(&[u8]) -> Result<AzurePage<T>, String>,
    mut take: impl FnMut(Vec<T>, u64) -> Result<(), AzureFault>,
) -> Result<(), AzureFault> {
    let (mut target, mut seen) = (path, HashSet::new());
    loop {
        let question = AzureQuestion { method: HttpMethod::Get, target: &target, condition: None, content: "", max };
        let done = client.ask(&question)?;
        let page = read(&done.content).map_err(AzureFault::unusable)?;
        take(page.items, done.content.len() as u64)?;
        let Some(next) = page.next else { return Ok(()) };
        let link = path_of(&next);
        let link = link.ok_or_else(|| AzureFault::unusable("its link to the next page is none".to_owned()))?;
        if !seen.insert(std::mem::replace(&mut target, link)) || seen.contains(&target) {
            return Err(AzureFault::unusable("its pages go in a circle".to_owned()));
        }
    }
}
