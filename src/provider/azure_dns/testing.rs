//! Azure DNS as a strict double answers it, in process: for tests here and for the simulation.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::client::AzureClient;
use super::service::AzureKind;
use super::settings::AzureSettings;
use super::target::AzureReader;
use super::writer::AzureWriter;
use super::zones::AzureZones;
use crate::doubles::DoubleRequest;
use crate::doubles::azure::rules::AzureKind as DoubleKind;
use crate::doubles::azure::{AzureDouble, SUBSCRIPTION};
use crate::doubles::http::DoubleServer;
use crate::http::{HttpAnswer, HttpAsker, HttpFailure, HttpFailureKind, HttpQuestion};
use crate::inventory::value::Time;
use crate::provider::entra::{AzureLogin, EntraIdentity, EntraSettings};
use crate::provider::limits::ReadLimits;
use crate::provider::pace::AccountPace;
use crate::provider::pace::testing::StillClock;
use crate::provider::surroundings::ProcessSurroundings;

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

/// Asks a double.
struct AzureAsker(Arc<AzureDouble>);

impl HttpAsker for AzureAsker {
    fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        let broken = || HttpFailure { kind: HttpFailureKind::Unreachable, message: "the connection broke".to_owned() };
        let (_, rest) = question.url.split_once("://").expect("a URL");
        let (host, target) = rest.split_at(rest.find('/').expect("a path"));
        let own = question.headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let of_content = question.content.map(|content| ("content-type".to_owned(), content.media_type.to_owned()));
        let request = DoubleRequest {
            method: question.method.as_str().to_owned(),
            target: target.to_owned(),
            headers: [("host".to_owned(), host.to_owned())].into_iter().chain(own).chain(of_content).collect(),
            body: question.content.map(|content| content.text.as_bytes().to_vec()).unwrap_or_default(),
        };
        let answer = self.0.answer(&request).ok_or_else(broken)?;
        if answer.is_cut() {
            return Err(broken());
        }
        let headers = answer.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect();
        Ok(HttpAnswer { host: "double".to_owned(), status: answer.status, content: answer.body, headers })
    }
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

    /// Who asks, as a client of the double.
    fn login(&self) -> (AzureLogin, EntraSettings) {
        let settings = EntraSettings {
            tenant: None,
            client: None,
            identity: EntraIdentity::FirstSet { then_managed: false },
            config_file: None,
            cloud: None,
            endpoint: None,
            authority: Some(self.tokens.url()),
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

    /// What reads the subscription, or one resource group of it.
    pub fn reader(&self, group: Option<&str>) -> AzureReader {
        let own = self.clock.clone();
        let (login, of_login) = self.login();
        let pace = Arc::new(AccountPace::new(Box::new(self.clock.clone())));
        let of_zones = Arc::clone(&pace);
        let client = AzureClient {
            kind: self.kind,
            http: Box::new(AzureAsker(Arc::clone(&self.double))),
            login,
            paces: Box::new(move |_| Arc::clone(&of_zones)),
            pace,
            clock: Box::new(move || Time::from_nanos(seconds(&own) * 1_000_000_000)),
        };
        let settings = AzureSettings {
            login: of_login,
            subscription: Some(SUBSCRIPTION.to_owned()),
            group: group.map(str::to_owned),
            writes: self.kind.writes_per_minute(),
            timeout: Duration::from_secs(30),
            limits: ReadLimits::default(),
        };
        let zones = AzureZones::new(SUBSCRIPTION.to_owned(), settings.group.clone());
        AzureReader { client, settings, place: self.kind.shown().to_owned(), zones }
    }

    /// What writes to the subscription.
    pub fn writer(&self) -> AzureWriter {
        AzureWriter::new(self.reader(None))
    }
}
