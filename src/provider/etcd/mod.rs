//! Zones in etcd, as CoreDNS reads them there (the layout of SkyDNS).
//!
//! A record is a key below a prefix: the labels of its name from the root down, and a label of its own. Every write is one
//! transaction that compares what was there, so that of two writers one is refused.
//!
//! | part | nature |
//! |---|---|
//! | `settings` | pure: what the settings say |
//! | `layout` | pure: names to keys, and back |
//! | `bounds` | pure: which records it can hold |
//! | `service` | pure: the value of a key to what CoreDNS makes of it, and back |
//! | `keys` | pure: the keys of a zone to its contents |
//! | `json` | pure: requests and answers of etcd's gateway |
//! | `client` | asks the endpoints |
//! | `target` | reads |
//! | `seen` | pure: the keys as they were seen, and what of them a write compares |
//! | `change` | pure: an update to a transaction |
//! | `delivery` | sends updates |
//! | `writer` | writes |
//! | `examine` | looks at what works |

mod bounds;
mod change;
mod client;
mod delivery;
mod examine;
mod json;
mod keys;
mod layout;
mod seen;
mod service;
mod settings;
mod target;
mod writer;

use super::{OpenedReader, OpenedWriter, Provider, ProviderContext};
use crate::diag::Diagnostics;
use crate::inventory::node::{SettingsNode, SourceText};
use crate::target::{
    AtomicUnit, MarkPlace, PublicationProof, RecordBounds, RrsetComparison, TargetCapabilities, ZoneFence, ZoneHome,
    ZoneMaking,
};

use self::client::EtcdClient;
use self::examine::examine;
use self::settings::{EtcdSettings, endpoints, place, server_names};
use self::target::EtcdReader;
use self::writer::EtcdWriter;

/// Keys of etcd. Any client may write to them.
pub const PROVIDER: Provider = Provider {
    capabilities,
    check,
    server_names,
    zone_ids: None,
    endpoints,
    place,
    open,
    open_writer,
    bounds,
    examine,
};

/// A transaction compares whole keys.
fn capabilities(_: &SettingsNode) -> TargetCapabilities {
    TargetCapabilities {
        home: ZoneHome::Servers,
        making: ZoneMaking { creates: true, deletes: true, never: None },
        unit: AtomicUnit::Transaction,
        limits: change::LIMITS,
        comparison: RrsetComparison::RecordsAndTtl,
        fence: ZoneFence::Marker,
        bounds: bounds::BOUNDS,
        proof: PublicationProof::ReadBack,
        pace: None,
        marks: Some(MarkPlace::Owner),
    }
}

/// Checks settings without using them.
fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    settings::parse(settings, source).1
}

/// The settings, which [`check`] passed.
fn checked(settings: &SettingsNode, context: &ProviderContext<'_>) -> EtcdSettings {
    settings::parse(settings, context.source).0.expect("`check` passed the settings")
}

/// Opens a target; fetches its password.
fn open(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedReader {
    let settings = checked(settings, context);
    let client = EtcdClient::open(&settings, context.workspace)?;
    Ok(Box::new(EtcdReader { client, settings, has_marks: context.has_marks }))
}

/// Opens a target to write to it, as [`open`] does.
fn open_writer(settings: &SettingsNode, context: &ProviderContext<'_>) -> OpenedWriter {
    let settings = checked(settings, context);
    let client = EtcdClient::open(&settings, context.workspace)?;
    Ok(Box::new(EtcdWriter::new(EtcdReader { client, settings, has_marks: context.has_marks })))
}

/// Which records a target takes; it need not be asked.
fn bounds(_: &SettingsNode, _: &ProviderContext<'_>) -> RecordBounds {
    bounds::BOUNDS
}
