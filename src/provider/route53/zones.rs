//! Which hosted zone of an account a zone is.

use std::sync::Mutex;

use super::client::{Route53Client, Route53Question};
use super::document::{self, HostedZone, ZonePage};
use super::settings::ZoneChoice;
use crate::dns::ZoneName;
use crate::http::HttpMethod;
use crate::parallel::HELD;
use crate::provider::aws::{AwsFault, AwsFaultKind};

/// How many octets a page of zones may have: a hundred zones.
const MAX_PAGE: u64 = 1 << 20;

/// How many zones one question for tags may be about (the model of the API).
const TAGGED_AT_ONCE: usize = 10;

/// The hosted zones of an account, as they were listed once.
#[derive(Default)]
pub struct ZoneList {
    /// The zones, where they were listed.
    listed: Mutex<Option<ListedZones>>,
}

/// The hosted zones of an account.
struct ListedZones {
    /// Those of the types that are meant.
    of_type: Vec<HostedZone>,
    /// Those of them that have all tags that are asked for.
    meant: Vec<HostedZone>,
}

impl ZoneList {
    /// All zones that are meant.
    ///
    /// Errors: they cannot be listed.
    pub fn all(&self, client: &Route53Client, choice: &ZoneChoice) -> Result<Vec<HostedZone>, AwsFault> {
        self.with_listed(client, choice, |zones| zones.meant.clone())
    }

    /// Whether the account has no zone of a name: one without the tags that are asked for may be the one.
    ///
    /// Errors: the zones cannot be listed.
    pub fn lacks(&self, client: &Route53Client, choice: &ZoneChoice, zone: &ZoneName) -> Result<bool, AwsFault> {
        let is_other = |listed: &HostedZone| listed.name.as_name() != zone.as_name();
        self.with_listed(client, choice, |zones| zones.of_type.iter().all(is_other))
    }

    /// Looks at the zones of the account, which are listed once.
    fn with_listed<R>(
        &self,
        client: &Route53Client,
        choice: &ZoneChoice,
        look: impl FnOnce(&ListedZones) -> R,
    ) -> Result<R, AwsFault> {
        let mut listed = self.listed.lock().expect(HELD);
        if let Some(zones) = &*listed {
            return Ok(look(zones));
        }
        let mut of_type = list(client)?;
        of_type.retain(|zone| choice.is_private.is_none_or(|is_private| zone.is_private == is_private));
        let meant = if choice.tags.is_empty() { of_type.clone() } else { with_tags(client, choice, of_type.clone())? };
        Ok(look(listed.insert(ListedZones { of_type, meant })))
    }

    /// Forgets what was listed: a zone was made or deleted.
    pub fn forget(&self) {
        *self.listed.lock().expect(HELD) = None;
    }

    /// The hosted zone of a name; none where the account has none that is meant.
    ///
    /// Errors: the zones cannot be listed; several have the name.
    pub fn find(
        &self,
        client: &Route53Client,
        choice: &ZoneChoice,
        zone: &ZoneName,
    ) -> Result<Option<HostedZone>, AwsFault> {
        let name = zone.as_name().to_name();
        let is_it = |listed: &&HostedZone| listed.name == name;
        let mut found: Vec<HostedZone> =
            self.with_listed(client, choice, |zones| zones.meant.iter().filter(is_it).cloned().collect())?;
        if let Some(id) = choice.ids.get(&name) {
            let hosted = found.into_iter().find(|listed| listed.id == *id);
            return hosted.map(Some).ok_or_else(|| {
                unclear(
                    format!("the account has no hosted zone of this name with the id `{id}`"),
                    "compare `zone_ids` with the list of hosted zones, and `zone_type` and `zone_tags` with the zone",
                )
            });
        }
        if found.len() > 1 {
            let kind = |zone: &HostedZone| if zone.is_private { "private" } else { "public" };
            let zones: Vec<String> = found.iter().map(|zone| format!("{} ({})", zone.id, kind(zone))).collect();
            let message = format!("{} hosted zones have this name: {}", found.len(), zones.join(", "));
            return Err(unclear(
                message,
                "say which one: `zone_type`, `zone_tags`, or `zone_ids = { \"NAME\" = \"ID\" }`",
            ));
        }
        Ok(found.pop())
    }
}

/// The fault of a zone of which it is not clear what it is.
fn unclear(message: String, hint: &str) -> AwsFault {
    AwsFault::new(AwsFaultKind::Refused, "zone-not-served", message, hint)
}

/// Lists all hosted zones of the account.
fn list(client: &Route53Client) -> Result<Vec<HostedZone>, AwsFault> {
    let (mut zones, mut marker) = (Vec::new(), None::<String>);
    loop {
        let begin = marker.as_deref().map(|marker| ("marker", marker));
        let query: Vec<(&str, &str)> = begin.into_iter().chain([("maxitems", "100")]).collect();
        let question =
            Route53Question { method: HttpMethod::Get, path: "/hostedzone", query: &query, content: "", max: MAX_PAGE };
        let ZonePage { zones: more, next } =
            document::read_zones(&client.ask(&question)?).map_err(AwsFault::unusable)?;
        zones.extend(more);
        match next {
            Some(next) => marker = Some(next),
            None => return Ok(zones),
        }
    }
}

/// Those zones that have all tags of a choice.
fn with_tags(client: &Route53Client, choice: &ZoneChoice, zones: Vec<HostedZone>) -> Result<Vec<HostedZone>, AwsFault> {
    let mut kept = Vec::new();
    for chunk in zones.chunks(TAGGED_AT_ONCE) {
        let ids: Vec<&str> = chunk.iter().map(|zone| zone.id.as_str()).collect();
        let question = Route53Question {
            method: HttpMethod::Post,
            path: "/tags/hostedzone",
            query: &[],
            content: &document::tags_of(&ids),
            max: MAX_PAGE,
        };
        let tags = document::read_tags(&client.ask(&question)?).map_err(AwsFault::unusable)?;
        let has_all = |zone: &&HostedZone| {
            let own = tags.iter().find(|(id, _)| *id == zone.id).map(|(_, tags)| tags.as_slice()).unwrap_or_default();
            choice.tags.iter().all(|(key, value)| {
                own.iter().any(|(own, said)| own == key && value.as_ref().is_none_or(|value| value == said))
            })
        };
        kept.extend(chunk.iter().filter(has_all).cloned());
    }
    Ok(kept)
}
