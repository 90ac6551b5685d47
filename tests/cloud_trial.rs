//! `ci/real-cloud`, which people with an account run, against the doubles of the services.

#[expect(dead_code, reason = "this file uses what it needs")]
mod doubles;
#[expect(dead_code, reason = "this file starts a script")]
mod support;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use doubles::azure::rules::AzureKind;
use doubles::azure::{AzureDouble, GROUP, SUBSCRIPTION};
use doubles::cloudmap::CloudMapDouble;
use doubles::cloudmap::rules::OperationSettling;
use doubles::http::DoubleServer;

/// The variables that say who asks.
const VARIABLES: [&str; 9] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AZURE_TENANT_ID",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_SUBSCRIPTION_ID",
    "AZURE_RESOURCE_GROUP",
];

/// The seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(since.as_secs()).expect("a time")
}

/// What a program wrote.
fn text_of(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// Runs the script with these variables.
fn run(service: &str, zone: &str, variables: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_zonewright")).parent().expect("a folder");
    // The script looks in target/release of its own folder first.
    let folder = tempfile::tempdir().expect("a folder");
    let copied =
        Command::new("cp").arg("-r").arg(support::root().join("ci")).arg(folder.path()).status().expect("cp runs");
    assert!(copied.success());
    let path = std::env::var("PATH").expect("a path");
    let mut command = Command::new(folder.path().join("ci/real-cloud"));
    for variable in VARIABLES {
        command.env_remove(variable);
    }
    command.env("PATH", format!("{}:{path}", program.display())).envs(variables.iter().copied());
    command.args([service, zone]).output().expect("it runs")
}

/// Whether the tools are there that the script needs.
fn has_tools() -> bool {
    ["curl", "jq"].iter().all(|tool| Command::new(tool).arg("--version").output().is_ok())
}

/// What a run said, which did all.
#[track_caller]
fn assert_all(output: &Output) {
    let (said, error) = (text_of(&output.stdout), text_of(&output.stderr));
    assert!(output.status.success(), "{said}\n{error}");
    assert!(said.ends_with("all of it works as the tests assume\n"), "{said}\n{error}");
}

#[test]
fn the_trial_of_cloud_map_goes_through_and_leaves_nothing() {
    if !has_tools() {
        return support::skip("curl or jq is not installed");
    }
    let double = Arc::new(CloudMapDouble::new("eu-central-1", ("AKIDEXAMPLE", "secret/of+example"), now));
    double.set_rules(|rules| rules.settling = OperationSettling::AtOnce);
    let server = DoubleServer::start(Arc::clone(&double));
    let url = server.url();
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", "secret/of+example"),
        ("AWS_REGION", "eu-central-1"),
        ("TRIAL_ENDPOINT", url.as_str()),
    ];
    assert_all(&run("cloudmap", "trial.example", &variables));
    assert!(double.namespaces().is_empty() && double.count("RegisterInstance") > 5);
}

#[test]
fn the_trial_of_azure_goes_through_and_leaves_nothing() {
    if !has_tools() {
        return support::skip("curl or jq is not installed");
    }
    for (kind, service) in [(AzureKind::Public, "azure"), (AzureKind::Private, "azure-private")] {
        let double = Arc::new(AzureDouble::new(kind, now));
        double.add_client("example.onmicrosoft.com", "00000000-1111-2222-3333-444455556666", "secret~of.example");
        let server = DoubleServer::start(Arc::clone(&double));
        let url = server.url();
        double.set_rules(|rules| {
            rules.rates = None;
            rules.quotes_etags = kind == AzureKind::Private;
            rules.audiences.push(url.clone());
        });
        let variables = [
            ("AZURE_TENANT_ID", "example.onmicrosoft.com"),
            ("AZURE_CLIENT_ID", "00000000-1111-2222-3333-444455556666"),
            ("AZURE_CLIENT_SECRET", "secret~of.example"),
            ("AZURE_SUBSCRIPTION_ID", SUBSCRIPTION),
            ("AZURE_RESOURCE_GROUP", GROUP),
            ("TRIAL_ENDPOINT", url.as_str()),
            ("TRIAL_AUTHORITY", url.as_str()),
        ];
        assert_all(&run(service, "trial.example", &variables));
        let deleted = || double.count("Zones_Delete") + double.count("PrivateZones_Delete");
        assert_eq!(deleted(), 1, "{service}");
        // Another zone of the name is left alone.
        let zone = double.create_zone("trial.example");
        let refused = run(service, "trial.example", &variables);
        let left = (refused.status.code(), deleted(), double.record_sets(&zone).is_empty());
        assert_eq!(left, (Some(1), 1, false), "{}", text_of(&refused.stderr));
    }
}

#[test]
fn the_trial_asks_nothing_without_its_variables() {
    if !has_tools() {
        return support::skip("curl or jq is not installed");
    }
    for (service, variable) in [("cloudmap", "AWS_ACCESS_KEY_ID"), ("azure", "AZURE_TENANT_ID")] {
        let refused = run(service, "trial.example", &[]);
        let said = text_of(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("{variable} is not set")), "{said}");
    }
}
