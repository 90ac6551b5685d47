//! Namespaces of AWS Cloud Map.
//!
//! A namespace is a zone, a service is a name, and its instances are the values of its RRsets. Nothing is compared as a part of a
//! write, and each write is an operation that the service does later: what comes is registered and waited for before anything goes.
//!
//! | part | nature |
//! |---|---|
//! | `settings` | pure: what the settings say |
//! | `names` | pure: names, values and identifiers in the service's spelling, and back |
//! | `document` | pure: requests and answers |
//! | `description` | pure: the mark of a service |
//! | `held` | pure: a service with its instances to RRsets |
//! | `steps` | pure: what is done to a service so that it has other RRsets |
//! | `bounds` | pure: which records it can hold |
//! | `client` | asks the service |
//! | `zones` | finds the namespace of a name |
//! | `target` | reads |
//! | `delivery` | carries out steps |
//! | `writer` | writes |
//! | `examine` | looks at what works |

mod bounds;
mod client;
mod delivery;
mod description;
mod document;
mod examine;
mod held;
mod names;
mod settings;
mod steps;
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
    AtomicUnit, MarkPlace, PublicationProof, RecordBounds, RrsetComparison, TargetCapabilities, WritePace, ZoneFence,
    ZoneHome, ZoneMaking,
};

use self::client::{CloudMapClient, SERVICE, read_fault};
use self::examine::examine;
use self::settings::{CloudMapSettings, endpoints, place, server_names};
use self::target::CloudMapReader;
use self::writer::CloudMapWriter;
use self::zones::NamespaceList;

/// The service. Nothing else may write to its namespaces: the settings say so.
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

/// Why no zone is made.
const NO_NAMESPACES: &str = "zonewright makes no namespaces of Cloud Map";

/// An instance is registered, or goes, by itself.
fn capabilities(settings: &SettingsNode) -> TargetCapabilities {
    let requests = settings::pace(settings).saturating_mul(60);
    TargetCapabilities {
        home: ZoneHome::Servers,
        making: ZoneMaking { creates: false, deletes: false, never: Some(NO_NAMESPACES) },
        unit: AtomicUnit::Record,
        limits: writer::LIMITS,
        comparison: RrsetComparison::Nothing,
        fence: ZoneFence::None,
        bounds: bounds::BOUNDS,
        proof: PublicationProof::Operation,
        pace: Some(WritePace { requests, is_of_zone: false, rrsets: 1 }),
        marks: Some(MarkPlace::Description),
    }
}

/// Checks settings without using them.
fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    settings::parse(settings, source).1
}

/// The settings, which [`check`] passed.
fn checked(settings: &SettingsNode, context: &ProviderContext<'_>) -> CloudMapSettings {
    settings::parse(settings, context.source).0.expect("`check` passed the settings")
}

/// What reads namespaces by settings; nothing is asked yet.
///
/// Errors: this system trusts no certificate.
fn reader(settings: CloudMapSettings, context: &ProviderContext<'_>, place: String) -> Result<CloudMapReader, Problem> {
    let terms = AwsTerms {
        service: SERVICE,
        region: &settings.region,
        endpoint: &settings.endpoint,
        login: &settings.login,
        requests: settings.requests,
        timeout: settings.timeout,
        read_fault,
    };
    let client = AwsClient::open(&terms, context.workspace, &place)?;
    Ok(CloudMapReader {
        client: CloudMapClient(client),
        settings,
        place,
        namespaces: NamespaceList::default(),
        has_marks: context.has_marks,
    })
}

/// Opens a target.
fn open(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedReader {
    Ok(Box::new(reader(checked(settings, context), context, place(settings))?))
}

/// Opens a target to write to it.
fn open_writer(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    Ok(Box::new(CloudMapWriter::new(reader(checked(settings, context), context, place(settings))?)))
}

/// Which records the service takes; it need not be asked.
fn bounds(_: &SettingsNode, _: &ProviderContext<'_>) -> RecordBounds {
    bounds::BOUNDS
}
