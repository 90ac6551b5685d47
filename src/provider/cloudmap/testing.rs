//! Cloud Map as a strict double answers it, in process: for tests here and for the simulation.

use std::sync::Arc;
use std::time::Duration;

use super::client::{CloudMapClient, SERVICE, read_fault};
use super::settings::{CloudMapSettings, NamespaceChoice};
use super::target::CloudMapReader;
use super::writer::CloudMapWriter;
use super::zones::NamespaceList;
use crate::http::HttpAsker;
use crate::provider::aws::AwsClient;
use crate::provider::aws::doubled::{clock_of, login, login_settings};
use crate::provider::limits::ReadLimits;
use crate::provider::pace::AccountPace;
use crate::provider::pace::testing::StillClock;
use crate::target::WriteTarget;

pub use crate::provider::aws::doubled::{BEGIN, KEYS};

/// The region of the double.
pub const REGION: &str = "eu-central-1";

/// What reads an account, at ten requests a second by a clock.
pub fn reader(http: Box<dyn HttpAsker>, clock: &StillClock, namespaces: NamespaceChoice) -> CloudMapReader {
    let client = AwsClient {
        endpoint: "http://double".to_owned(),
        service: SERVICE,
        region: REGION.to_owned(),
        http,
        login: login(KEYS),
        pace: Arc::new(AccountPace::new(Box::new(clock.clone()))),
        interval: Duration::from_millis(100),
        clock: clock_of(clock),
        read_fault,
    };
    let settings = CloudMapSettings {
        login: login_settings(),
        region: REGION.to_owned(),
        endpoint: "http://double".to_owned(),
        namespaces,
        requests: 10,
        timeout: Duration::from_secs(30),
        publication: Duration::from_secs(60),
        limits: ReadLimits::default(),
    };
    CloudMapReader {
        client: CloudMapClient(client),
        settings,
        place: "Cloud Map".to_owned(),
        namespaces: NamespaceList::default(),
        has_marks: false,
    }
}

/// What writes to an account, by a clock that moves only while something waits.
pub fn writer(http: Box<dyn HttpAsker>) -> Box<dyn WriteTarget> {
    Box::new(CloudMapWriter::new(reader(http, &StillClock::default(), NamespaceChoice::default())))
}
