//! Route 53 as a strict double answers it, in process: for tests here and for the simulation.

use std::sync::Arc;
use std::time::Duration;

use super::client::{Route53Client, SERVICE, read_fault, region_of};
use super::names;
use super::settings::{Route53Settings, ZoneChoice};
use super::target::Route53Reader;
use super::writer::Route53Writer;
use super::zones::ZoneList;
use crate::dns::{Name, NameRef, Rdata, Rtype};
use crate::http::HttpAsker;
use crate::provider::aws::doubled::{clock_of, login, login_settings};
use crate::provider::aws::{AwsClient, XmlElement};
use crate::provider::limits::ReadLimits;
use crate::provider::pace::AccountPace;
use crate::provider::pace::testing::StillClock;
use crate::target::WriteTarget;

pub use crate::provider::aws::doubled::{BEGIN, KEYS, seconds};

/// What reads an account, at so many requests a second by a clock.
pub fn reader(http: Box<dyn HttpAsker>, clock: &StillClock, zones: ZoneChoice) -> Route53Reader {
    let client = AwsClient {
        endpoint: "http://double".to_owned(),
        service: SERVICE,
        region: region_of("http://double").to_owned(),
        http,
        login: login(KEYS),
        pace: Arc::new(AccountPace::new(Box::new(clock.clone()))),
        interval: Duration::from_millis(200),
        clock: clock_of(clock),
        read_fault,
    };
    let settings = Route53Settings {
        login: login_settings(),
        endpoint: "http://double".to_owned(),
        zones,
        protections: true,
        requests: 5,
        batch_records: None,
        timeout: Duration::from_secs(30),
        publication: Duration::from_secs(60),
        limits: ReadLimits::default(),
    };
    Route53Reader { client: Route53Client(client), settings, place: "Route 53".to_owned(), zones: ZoneList::default() }
}

/// What writes to an account, by a clock that moves only while something waits.
pub fn writer(http: Box<dyn HttpAsker>) -> Box<dyn WriteTarget> {
    Box::new(Route53Writer::new(reader(http, &StillClock::default(), ZoneChoice::default())))
}

/// A name as the API has it.
pub fn name_text(name: NameRef<'_>) -> String {
    names::name_text(name)
}

/// The name that a text of the API is.
pub fn parse_name(text: &str) -> Name {
    names::parse_name(text).expect("a name")
}

/// A value as the API has it.
pub fn value_text(rtype: Rtype, rdata: &Rdata) -> String {
    names::value_text(rtype, rdata)
}

/// The data that a value of the API is.
pub fn parse_value(rtype: Rtype, text: &str) -> Rdata {
    names::parse_value(rtype, text).expect("a value")
}

/// A document of the API.
pub fn parse(content: &[u8]) -> XmlElement {
    XmlElement::parse(content).expect("a document")
}
