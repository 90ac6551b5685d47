//! Zones in Azure DNS, public and private: what the two providers share.
//!
//! Each update writes one record set, under the condition that it is still the one that was seen (`If-Match`), or that there is
//! none (`If-None-Match`). Nothing of the service spans record sets, and nothing overwrites.
//!
//! | part | nature |
//! |---|---|
//! | `service` | pure: in what the two services differ |
//! | `settings` | pure: what the settings say |
//! | `names` | pure: names and texts in the service's spelling, and back |
//! | `metadata` | pure: the mark of a record set |
//! | `document` | pure: requests and answers |
//! | `bounds` | pure: which records they can hold |
//! | `work` | pure: how far something is that takes a while |
//! | `client` | asks the service |
//! | `zones` | finds the resource group of a zone |
//! | `target` | reads |
//! | `making` | makes and deletes zones |
//! | `writer` | writes |
//! | `examine` | looks at what works |

mod bounds;
mod client;
mod document;
mod examine;
mod making;
mod metadata;
mod names;
mod service;
mod settings;
mod target;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
mod work;
mod writer;
mod zones;

use super::entra::AzureLogin;
use super::pace::AccountPace;
use super::surroundings::ProcessSurroundings;
use super::{OpenedReader, OpenedWriter, ProviderContext};
use crate::diag::{Diagnostics, Problem};
use crate::http::HttpClient;
use crate::inventory::node::{SettingsNode, SourceText};
use crate::inventory::value::Time;
use crate::target::{
    AtomicUnit, MarkPlace, PublicationProof, RecordBounds, RrsetComparison, TargetCapabilities, WritePace, ZoneFence,
    ZoneHome,
};

use self::client::AzureClient;
pub use self::examine::examine;
pub use self::service::AzureKind;
use self::settings::{AzureSettings, is_national, is_subscription};
pub use self::settings::{endpoints, place, server_names};
use self::target::AzureReader;
use self::writer::{AzureWriter, LIMITS};
use self::zones::AzureZones;

/// What a target can do: a record set by itself is compared and written.
pub fn capabilities(kind: AzureKind, settings: &SettingsNode) -> TargetCapabilities {
    TargetCapabilities {
        home: ZoneHome::Servers,
        making: settings::zone_making(settings),
        unit: AtomicUnit::Rrset,
        limits: LIMITS,
        comparison: RrsetComparison::RecordsAndTtl,
        fence: ZoneFence::None,
        bounds: bounds(kind, settings),
        proof: PublicationProof::ReadBack,
        pace: Some(WritePace { requests: settings::writes_per_minute(kind, settings), is_of_zone: true, rrsets: 1 }),
        marks: Some(MarkPlace::Metadata),
    }
}

/// Checks settings without using them.
pub fn check(kind: AzureKind, settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    settings::parse(kind, settings, source).1
}

/// The settings, which [`check`] passed.
fn checked(kind: AzureKind, settings: &SettingsNode, context: &ProviderContext<'_>) -> AzureSettings {
    settings::parse(kind, settings, context.source).0.expect("`check` passed the settings")
}

/// What reads zones by settings; nothing is asked yet.
///
/// Errors: the `config_file` cannot be used or names no subscription; this system trusts no certificate.
fn reader(
    kind: AzureKind,
    settings: AzureSettings,
    context: &ProviderContext<'_>,
    place: String,
) -> Result<AzureReader, Problem> {
    let login = AzureLogin::open(settings.login.clone(), ProcessSurroundings::of_process(context.workspace))?;
    let subscription = settings.subscription.clone().or_else(|| login.subscription().map(str::to_owned));
    let subscription = subscription.filter(|id| is_subscription(id)).ok_or_else(|| {
        let message = "neither `subscription_id` nor the `config_file` names a subscription";
        Problem::new(place.clone(), "no-credentials", message).hint("set `subscription_id` of the target")
    })?;
    let group = settings.group.clone().or_else(|| login.resource_group().map(str::to_owned));
    let http = HttpClient::new(login.endpoint(), settings.timeout).map_err(|error| {
        Problem::new(place.clone(), "connect-failed", error.message).hint("look at the settings of TLS")
    })?;
    let client = AzureClient {
        kind,
        http: Box::new(http),
        login,
        paces: Box::new(|path| AccountPace::of(&format!("azure {path}"))),
        pace: AccountPace::of("azure"),
        clock: Box::new(|| Time::from_timestamp(jiff::Timestamp::now()).expect("the clock is set to a time of ours")),
    };
    let zones = AzureZones::new(subscription, group, settings.ends.clone());
    Ok(AzureReader { client, settings, place, zones, has_marks: context.has_marks })
}

/// Opens a target.
pub fn open(kind: AzureKind, settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedReader {
    Ok(Box::new(reader(kind, checked(kind, settings, context), context, place(kind, settings))?))
}

/// Opens a target to write to it.
pub fn open_writer(kind: AzureKind, settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    let reader = reader(kind, checked(kind, settings, context), context, place(kind, settings))?;
    Ok(Box::new(AzureWriter::new(reader)))
}

/// Which records the service takes; it need not be asked.
pub fn bounds(kind: AzureKind, settings: &SettingsNode) -> RecordBounds {
    bounds::bounds(kind, is_national(settings))
}
