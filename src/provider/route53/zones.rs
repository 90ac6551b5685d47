//! Which hosted zone of an account a zone is.

use std::sync::Mutex;

use super::client::{Route53Client, Route53Question};
use super::document::{self, HostedZone, ZonePage};
use super::settings::{IDS, ZoneChoice};
use crate::dns::ZoneName;
use crate::http::HttpMethod;
use crate::parallel::HELD;
use crate::provider::aws::{AwsFault, JudgedZone, ZoneWords, the_one};
use crate::provider::id_ends;

/// How many octets a page of zones may have: a hundred zones.
const MAX_PAGE: u64 = 1 << 20;

/// How many zones one question for tags may be about (the model of the API).
const TAGGED_AT_ONCE: usize = 10;

/// The setting that leaves out zones of another type.
const TYPE: &str = "zone_type";

/// The setting that leaves out zones without some tags.
const TAGS: &str = "zone_tags";

/// What messages say of hosted zones.
const WORDS: ZoneWords = ZoneWords {
    one: "hosted zone",
    left_out: "correct this setting of the target, or the tags of the zone that is meant",
    several: "say which one: `zone_type`, `zone_tags`, or `zone_ids = { \"NAME\" = \"ID\" }`",
};

/// The hosted zones of an account, as they were listed once.
#[derive(Default)]
pub struct ZoneList {
    /// The zones, where they were listed.
    listed: Mutex<Option<ListedZones>>,
}

/// The hosted zones of an account, each with the setting that leaves it out, where one does.
type ListedZones = Vec<JudgedZone<HostedZone>>;

impl ZoneList {
    /// All zones that are meant.
    ///
    /// Errors: they cannot be listed.
    pub fn all(&self, client: &Route53Client, choice: &ZoneChoice) -> Result<Vec<HostedZone>, AwsFault> {
        self.with_listed(client, choice, |zones| {
            zones.iter().filter(|(_, left_out)| left_out.is_none()).map(|(zone, _)| zone.clone()).collect()
        })
    }

    /// Whether the account has no zone of a name: one without the tags that are asked for may be the one.
    ///
    /// Errors: the zones cannot be listed.
    pub fn lacks(&self, client: &Route53Client, choice: &ZoneChoice, zone: &ZoneName) -> Result<bool, AwsFault> {
        let is_it = |(listed, left_out): &JudgedZone<HostedZone>| {
            listed.name.as_name() == zone.as_name() && *left_out != Some(TYPE)
        };
        self.with_listed(client, choice, |zones| !zones.iter().any(is_it))
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
        let is_of_type = |zone: &HostedZone| choice.is_private.is_none_or(|is_private| zone.is_private == is_private);
        let (of_type, others): (Vec<HostedZone>, Vec<HostedZone>) = list(client)?.into_iter().partition(is_of_type);
        let has_tags =
            if choice.tags.is_empty() { vec![true; of_type.len()] } else { with_tags(client, choice, &of_type)? };
        let judge = |(zone, has_tags): (HostedZone, bool)| {
            let by_end = (!choice.ends.show(&zone.id)).then_some(id_ends::KEY);
            (zone, if has_tags { by_end } else { Some(TAGS) })
        };
        let of_type = of_type.into_iter().zip(has_tags).map(judge);
        let zones = of_type.chain(others.into_iter().map(|zone| (zone, Some(TYPE)))).collect();
        Ok(look(listed.insert(zones)))
    }

    /// Forgets what was listed: a zone was made or deleted.
    pub fn forget(&self) {
        *self.listed.lock().expect(HELD) = None;
    }

    /// The hosted zone of a name; none where the account has none.
    ///
    /// Errors: the zones cannot be listed; several have the name; settings leave all of them out.
    pub fn find(
        &self,
        client: &Route53Client,
        choice: &ZoneChoice,
        zone: &ZoneName,
    ) -> Result<Option<HostedZone>, AwsFault> {
        let name = zone.as_name().to_name();
        let id = choice.ids.get(&name);
        let by_id = |zone: &HostedZone| id.is_some_and(|id| *id != zone.id).then_some(IDS.key);
        let judge = |(zone, left_out): &JudgedZone<HostedZone>| (zone.clone(), left_out.or_else(|| by_id(zone)));
        let found = self.with_listed(client, choice, |zones| {
            zones.iter().filter(|(zone, _)| zone.name == name).map(judge).collect()
        })?;
        the_one(found, |zone| (&zone.id, zone.is_private), &WORDS)
    }
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

/// Of each zone whether it has all tags of a choice.
fn with_tags(client: &Route53Client, choice: &ZoneChoice, zones: &[HostedZone]) -> Result<Vec<bool>, AwsFault> {
    let mut all = Vec::new();
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
        all.extend(chunk.iter().map(|zone| {
            let own = tags.iter().find(|(id, _)| *id == zone.id).map(|(_, tags)| tags.as_slice()).unwrap_or_default();
            choice.tags.iter().all(|(key, value)| {
                own.iter().any(|(own, said)| own == key && value.as_ref().is_none_or(|value| value == said))
            })
        }));
    }
    Ok(all)
}
