//! Route 53 as a strict double answers it, in process: for tests here and for the simulation.

use std::sync::Arc;
use std::time::Duration;

use super::client::Route53Client;
use super::names;
use super::settings::{Route53Settings, ZoneChoice};
use super::target::Route53Reader;
use super::writer::Route53Writer;
use super::zones::ZoneList;
use crate::dns::{Name, NameRef, Rdata, Rtype};
use crate::http::HttpAsker;
use crate::inventory::value::Time;
use crate::provider::aws::{AwsIdentity, AwsLogin, AwsSettings, AwsSurroundings, XmlElement};
use crate::provider::limits::ReadLimits;
use crate::provider::pace::AccountPace;
use crate::provider::pace::testing::StillClock;
use crate::target::WriteTarget;

/// The keys that the double knows.
pub const KEYS: (&str, &str) = ("AKIDEXAMPLE", "secret/of+example");

/// When the clock of tests begins: 2026-11-30, in seconds since the epoch.
pub const BEGIN: i64 = 1_796_000_400;

/// The seconds since the epoch on a clock that moves only while something waits.
pub fn seconds(clock: &StillClock) -> i64 {
    BEGIN + i64::try_from(clock.0.lock().expect("no test panics with it").as_secs()).expect("a few hours")
}

/// Who asks, with these keys.
fn login((id, secret): (&'static str, &'static str)) -> AwsLogin {
    let variables = Box::new(move |name: &str| match name {
        "AWS_ACCESS_KEY_ID" => Some(id.to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some(secret.to_owned()),
        _ => None,
    });
    let mut surroundings = AwsSurroundings::of_process(std::path::Path::new("."));
    surroundings.process.variables = variables;
    AwsLogin::new(login_settings(), surroundings)
}

/// The settings of a log-in that say nothing.
fn login_settings() -> AwsSettings {
    AwsSettings { identity: AwsIdentity::FirstSet { then_metadata: false }, role: None, region: None }
}

/// What reads an account, at so many requests a second by a clock.
pub fn reader(http: Box<dyn HttpAsker>, clock: &StillClock, zones: ZoneChoice) -> Route53Reader {
    let own = clock.clone();
    let client = Route53Client {
        endpoint: "http://double".to_owned(),
        http,
        login: login(KEYS),
        pace: Arc::new(AccountPace::new(Box::new(clock.clone()))),
        interval: Duration::from_millis(200),
        clock: Box::new(move || Time::from_nanos(seconds(&own) * 1_000_000_000)),
    };
    let settings = Route53Settings {
        login: login_settings(),
        endpoint: "http://double".to_owned(),
        zones,
        requests: 5,
        batch_records: None,
        timeout: Duration::from_secs(30),
        publication: Duration::from_secs(60),
        limits: ReadLimits::default(),
    };
    Route53Reader { client, settings, place: "Route 53".to_owned(), zones: ZoneList::default() }
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
