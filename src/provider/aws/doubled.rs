//! Services of AWS as strict doubles answer them, in process: for tests of providers and for the simulation.

use super::login::AwsLogin;
use super::surroundings::AwsSurroundings;
use super::{AwsIdentity, AwsSettings};
use crate::inventory::value::Time;
use crate::provider::pace::testing::StillClock;

/// The keys that doubles know.
pub const KEYS: (&str, &str) = ("AKIDEXAMPLE", "secret/of+example");

/// When the clock of tests begins: 2026-11-30, in seconds since the epoch.
pub const BEGIN: i64 = 1_796_000_400;

/// The seconds since the epoch on a clock that moves only while something waits.
pub fn seconds(clock: &StillClock) -> i64 {
    BEGIN + i64::try_from(clock.0.lock().expect("no test panics with it").as_secs()).expect("a few hours")
}

/// The time on such a clock, for signatures.
pub fn clock_of(clock: &StillClock) -> Box<dyn Fn() -> Time + Send + Sync> {
    let own = clock.clone();
    Box::new(move || Time::from_nanos(seconds(&own) * 1_000_000_000))
}

/// Who asks, with these keys.
pub fn login((id, secret): (&'static str, &'static str)) -> AwsLogin {
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
pub fn login_settings() -> AwsSettings {
    AwsSettings { identity: AwsIdentity::FirstSet { then_metadata: false }, role: None, region: None }
}
