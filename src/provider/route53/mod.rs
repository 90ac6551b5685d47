//! Zones in Amazon Route 53.
//!
//! Each update is one batch of changes, which deletes what was listed and creates what is to be there: the service does all of
//! it, or refuses all of it where something else is there. Nothing overwrites.
//!
//! | part | nature |
//! |---|---|
//! | `settings` | pure: what the settings say |
//! | `names` | pure: names and values in the service's spelling, and back |
//! | `document` | pure: requests and answers |
//! | `bounds` | pure: which records it can hold |
//! | `client` | asks the service |
//! | `zones` | finds the hosted zone of a name |
//! | `target` | reads |
//! | `change` | pure: an update to a batch |
//! | `writer` | writes |
//! | `examine` | looks at what works |

mod bounds;
mod change;
mod client;
mod document;
mod examine;
mod names;
mod settings;
mod target;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
mod writer;
mod zones;

use super::aws::{AwsClient, AwsTerms};
use super::{OpenedReader, OpenedWriter, Provider, ProviderContext};
use crate::diag::{Diagnostics, Problem};
use crate::inventory::node::{SettingsNode, SourceText};
use crate::target::{
    AtomicUnit, PublicationProof, RecordBounds, RrsetComparison, TargetCapabilities, WritePace, ZoneFence, ZoneHome,
    ZoneMaking,
};

use self::client::{Route53Client, SERVICE, read_fault, region_of};
use self::examine::examine;
use self::settings::{Route53Settings, endpoints, place, server_names};
use self::target::Route53Reader;
use self::writer::Route53Writer;
use self::zones::ZoneList;

/// The service. Any tool of its account may write to its zones.
pub const PROVIDER: Provider = Provider {
    capabilities,
    check,
    server_names,
    zone_ids: Some(settings::IDS.key),
    endpoints,
    place,
    open,
    open_writer,
    bounds,
    examine,
};

/// A batch of changes compares whole sets.
fn capabilities(settings: &SettingsNode) -> TargetCapabilities {
    let (requests, records) = settings::pace(settings);
    let requests = requests.saturating_mul(60);
    let limits = change::limits(records);
    TargetCapabilities {
        home: ZoneHome::Servers,
        making: ZoneMaking { creates: true, deletes: true, never: settings::never_makes(settings) },
        unit: AtomicUnit::Request,
        limits,
        comparison: RrsetComparison::RecordsAndTtl,
        fence: ZoneFence::Marker,
        bounds: bounds::BOUNDS,
        proof: PublicationProof::InSync,
        // Each RRset that changes takes two records of a batch.
        pace: Some(WritePace { requests, is_of_zone: false, rrsets: (limits.parts / 2).max(1) }),
        marks: None,
    }
}

/// Checks settings without using them.
fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    settings::parse(settings, source).1
}

/// The settings, which [`check`] passed.
fn checked(settings: &SettingsNode, context: &ProviderContext<'_>) -> Route53Settings {
    settings::parse(settings, context.source).0.expect("`check` passed the settings")
}

/// What reads zones by settings; nothing is asked yet.
///
/// Errors: this system trusts no certificate.
fn reader(settings: Route53Settings, context: &ProviderContext<'_>, place: String) -> Result<Route53Reader, Problem> {
    let terms = AwsTerms {
        service: SERVICE,
        region: region_of(&settings.endpoint),
        endpoint: &settings.endpoint,
        login: &settings.login,
        requests: settings.requests,
        timeout: settings.timeout,
        read_fault,
    };
    let client = AwsClient::open(&terms, context.workspace, &place)?;
    Ok(Route53Reader { client: Route53Client(client), settings, place, zones: ZoneList::default() })
}

/// Opens a target.
fn open(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedReader {
    Ok(Box::new(reader(checked(settings, context), context, place(settings))?))
}

/// Opens a target to write to it.
fn open_writer(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    Ok(Box::new(Route53Writer::new(reader(checked(settings, context), context, place(settings))?)))
}

/// Which records the service takes; it need not be asked.
fn bounds(_: &SettingsNode, _: &ProviderContext<'_>) -> RecordBounds {
    bounds::BOUNDS
}
