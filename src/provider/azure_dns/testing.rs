//! Azure DNS as a strict double answers it, in process: for tests here and for the simulation.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::AzureClient;
use super::document::read_set;
use super::names::{relative_name, relative_text};
use super::service::AzureKind;
use super::settings::AzureSettings;
use super::target::AzureReader;
use super::writer::AzureWriter;
use super::zones::AzureZones;
use crate::dns::{Name, NameRef, Rrset, Rtype, ZoneName};
use crate::doubles::azure::rules::AzureKind as DoubleKind;
use crate::doubles::azure::{AzureDouble, SUBSCRIPTION};
use crate::doubles::http::DoubleServer;
use crate::http::HttpAsker;
use crate::inventory::value::Time;
use crate::provider::double_asker::DoubleAsker;
use crate::provider::entra::{AzureLogin, EntraIdentity, EntraSettings};
use crate::provider::id_ends::IdEnds;
use crate::provider::limits::ReadLimits;
use crate::provider::pace::AccountPace;
use crate::provider::pace::testing::StillClock;
use crate::provider::surroundings::ProcessSurroundings;
use crate::target::WriteTarget;

/// The application that the double knows: its tenant, its client ID and its secret.
pub const APP: (&str, &str, &str) =
    ("example.onmicrosoft.com", "00000000-1111-2222-3333-444455556666", "secret~of.example");

/// When the clock of tests begins: 2026-11-30, in seconds since the epoch.
const BEGIN: i64 = 1_796_000_400;

/// The seconds since the epoch on a clock that moves only while something waits.
fn seconds(clock: &StillClock) -> i64 {
    BEGIN + i64::try_from(clock.0.lock().expect("no test panics with it").as_secs()).expect("a few hours")
}

/// A subscription, and the clock of both sides.
pub struct AzureFake {
    /// What answers.
    pub double: Arc<AzureDouble>,
    /// The clock.
    pub clock: StillClock,
    /// Which service.
    kind: AzureKind,
    /// Where tokens are given: the rest is asked in process.
    tokens: DoubleServer,
}

impl AzureFake {
    /// A subscription without zones.
    pub fn new(kind: AzureKind) -> AzureFake {
        let clock = StillClock::default();
        let own = clock.clone();
        let of_double = if kind == AzureKind::Public { DoubleKind::Public } else { DoubleKind::Private };
        let double = Arc::new(AzureDouble::new(of_double, move || seconds(&own)));
        double.add_client(APP.0, APP.1, APP.2);
        let tokens = DoubleServer::start(Arc::clone(&double));
        AzureFake { double, clock, kind, tokens }
    }

    /// What reads the subscription, or one resource group of it.
    pub fn reader(&self, group: Option<&str>) -> AzureReader {
        let http = Box::new(DoubleAsker(Arc::clone(&self.double)));
        reader((self.kind, &self.clock), http, login(Some(self.tokens.url())), group)
    }

    /// What writes to the subscription.
    pub fn writer(&self) -> AzureWriter {
        AzureWriter::new(self.reader(None))
    }

    /// What writes to one resource group of it.
    pub fn writer_of(&self, group: &str) -> AzureWriter {
        AzureWriter::new(self.reader(Some(group)))
    }

    /// What reads the subscription, where marks of record sets tell who owns them.
    pub fn marking_reader(&self) -> AzureReader {
        AzureReader { has_marks: true, ..self.reader(None) }
    }

    /// What writes to the subscription, where marks of record sets tell who owns them.
    pub fn marking_writer(&self) -> AzureWriter {
        AzureWriter::new(self.marking_reader())
    }
}

/// Who asks, as a client of the double that gets its tokens there.
fn login(authority: Option<String>) -> (AzureLogin, EntraSettings) {
    let settings = EntraSettings {
        tenant: None,
        client: None,
        identity: EntraIdentity::FirstSet { then_managed: false },
        config_file: None,
        cloud: None,
        endpoint: None,
        authority,
    };
    let variables = Box::new(|name: &str| match name {
        "AZURE_TENANT_ID" => Some(APP.0.to_owned()),
        "AZURE_CLIENT_ID" => Some(APP.1.to_owned()),
        "AZURE_CLIENT_SECRET" => Some(APP.2.to_owned()),
        _ => None,
    });
    let around = ProcessSurroundings { variables, home: None, workspace: PathBuf::from(".") };
    (AzureLogin::open(settings.clone(), around).expect("all of it is right"), settings)
}

/// What reads a subscription, or one resource group of it, by a clock.
fn reader(
    (kind, clock): (AzureKind, &StillClock),
    http: Box<dyn HttpAsker>,
    (login, of_login): (AzureLogin, EntraSettings),
    group: Option<&str>,
) -> AzureReader {
    let own = clock.clone();
    let pace = Arc::new(AccountPace::new(Box::new(clock.clone())));
    let of_zones = Arc::clone(&pace);
    let client = AzureClient {
        kind,
        http,
        login,
        paces: Box::new(move |_| Arc::clone(&of_zones)),
        pace,
        clock: Box::new(move || Time::from_nanos(seconds(&own) * 1_000_000_000)),
    };
    let settings = AzureSettings {
        login: of_login,
        subscription: Some(SUBSCRIPTION.to_owned()),
        group: group.map(str::to_owned),
        ends: IdEnds::default(),
        writes: kind.writes_per_minute(),
        timeout: Duration::from_secs(30),
        limits: ReadLimits::default(),
    };
    let zones = AzureZones::new(SUBSCRIPTION.to_owned(), settings.group.clone(), IdEnds::default());
    AzureReader { client, settings, place: kind.shown().to_owned(), zones, has_marks: false }
}

/// What writes to a subscription with a token of it, by a clock that moves only while something waits.
pub fn writer(kind: DoubleKind, http: Box<dyn HttpAsker>, token: &str) -> Box<dyn WriteTarget> {
    let kind = if kind == DoubleKind::Public { AzureKind::Public } else { AzureKind::Private };
    let (login, settings) = login(None);
    let reader = reader((kind, &StillClock::default()), http, (login.keeping(token), settings), None);
    Box::new(AzureWriter::new(reader))
}

/// The name of a record set, as the API has it.
pub fn name_text(owner: NameRef<'_>, zone: &ZoneName) -> String {
    relative_text(owner, zone)
}

/// The owner name that the name of a record set is.
pub fn parse_name(text: &str, zone: &ZoneName) -> Name {
    relative_name(text, zone).expect("a name")
}

/// The RRset that a request writes.
pub fn parse_written(rtype: Rtype, content: &[u8]) -> Rrset {
    let mut set: Value = serde_json::from_slice(content).expect("JSON");
    set["name"] = json!("x");
    set["type"] = json!(rtype.to_string());
    set["etag"] = json!("x");
    let zone = ZoneName::new(Name::parse("example.net").expect("a name"));
    let set = read_set(&zone, set.to_string().as_bytes(), false).expect("a record set");
    set.plain().expect("a plain one").clone()
}
