//! The chain of sources as a whole, what is kept of it, and that no secret gets out.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::cloud::{AzureCloud, AzureSite};
use super::login::AzureLogin;
use super::settings::{EntraIdentity, EntraSettings};
use crate::diag::Problem;
use crate::provider::secret::SecretSource;
use crate::provider::surroundings::testing::{CloudFake, at, process_around};

/// The variable with the URL of the metadata service.
const IMDS: &str = "AZURE_POD_IDENTITY_AUTHORITY_HOST";

/// The variable with the URL of Entra.
const AUTHORITY: &str = "AZURE_AUTHORITY_HOST";

/// An application, as the environment names it.
const APP: (&str, &str) = ("AZURE_CLIENT_ID", "00000000-0000-0000-0000-00000000000a");

/// Its tenant.
const TENANT: (&str, &str) = ("AZURE_TENANT_ID", "of-environment.example");

/// A metadata service that is not there.
const NOWHERE: (&str, &str) = (IMDS, "http://127.0.0.1:1");

/// Settings that say nothing.
fn first_set() -> EntraSettings {
    EntraSettings {
        tenant: None,
        client: None,
        identity: EntraIdentity::FirstSet { then_managed: true },
        config_file: None,
        cloud: None,
        endpoint: None,
        authority: None,
    }
}

/// Settings where this proves who asks.
fn given(identity: EntraIdentity) -> EntraSettings {
    EntraSettings { identity, ..first_set() }
}

/// Settings that name a file of other tools.
fn with_file(path: &str) -> EntraSettings {
    EntraSettings { config_file: Some(path.to_owned()), ..first_set() }
}

/// A login by these settings and variables.
fn login(settings: EntraSettings, variables: &[(&str, &str)]) -> AzureLogin {
    AzureLogin::open(settings, process_around(variables)).unwrap()
}

/// Why these settings and variables give no token.
fn problem(settings: EntraSettings, variables: &[(&str, &str)]) -> Problem {
    let opened = AzureLogin::open(settings, process_around(variables));
    opened.and_then(|login| login.token(at("09:00:00"))).unwrap_err()
}

/// An answer with a token that ends at ten.
fn answer(token: &str) -> String {
    format!(r#"{{"access_token": "{token}", "token_type": "Bearer", "expires_in": "3600"}}"#)
}

/// A service that always gives this token.
fn giving(token: &str) -> CloudFake {
    CloudFake::answering(&[("200 OK", &answer(token))])
}

/// Writes a file that its owner alone reads, and gives its path.
fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    path.display().to_string()
}

#[test]
fn the_first_source_that_is_set_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let token = write(folder.path(), "token", "web.token\n");
    let (entra, app, machine) = (giving("of-entra"), giving("of-app"), giving("of-machine"));
    let (entra_url, app_url, machine_url) = (entra.url(), app.url(), machine.url());
    let all: [&[(&str, &str)]; 5] = [
        &[("AZURE_CLIENT_SECRET", "s")],
        &[("AZURE_FEDERATED_TOKEN_FILE", &token), (AUTHORITY, &entra_url), TENANT],
        &[("IDENTITY_ENDPOINT", &app_url), ("IDENTITY_HEADER", "h")],
        &[APP],
        &[(IMDS, &machine_url)],
    ];
    let id = APP.1;
    for (first, (source, token)) in [
        (format!("application `{id}` by the secret in the environment variable `AZURE_CLIENT_SECRET`"), "of-entra"),
        (format!("application `{id}` by workload identity"), "of-entra"),
        (format!("the managed identity `{id}` of this app"), "of-app"),
        (format!("the managed identity `{id}` of this machine"), "of-machine"),
        ("the managed identity of this machine".to_owned(), "of-machine"),
    ]
    .into_iter()
    .enumerate()
    {
        let login = login(first_set(), &all[first..].concat());
        assert_eq!(login.source(), source);
        assert_eq!(login.token(at("09:00:00")).unwrap().authorization(), format!("Bearer {token}"));
    }
    let asked = entra.asked();
    assert!(asked[0].starts_with("POST /of-environment.example/oauth2/v2.0/token "), "{asked:?}");
    assert!(asked[0].contains("&scope=https%3A%2F%2Fmanagement.azure.com%2F.default&client_secret=s"), "{asked:?}");
    assert!(asked[1].ends_with("&client_assertion=web.token"), "{asked:?}");
    // A machine's service is asked twice: whether it is there, and for the token.
    assert_eq!(machine.asked().len(), 4);
}

#[test]
fn what_the_settings_say_comes_before_the_file_and_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let own = "11111111-0000-0000-0000-000000000000";
    let secret = EntraIdentity::Secret(SecretSource::File(write(folder.path(), "own", "of-settings\n")));
    let token = EntraIdentity::Federated(write(folder.path(), "token", "web.token"));
    let file = r#"{"tenantId": "of-file.example", "aadClientId": "22222222-0000-0000-0000-000000000000",
        "aadClientSecret": "of-file"}"#;
    let file = write(folder.path(), "azure.json", file);
    let entra = giving("of-entra");
    let url = entra.url();
    let environment = [("AZURE_CLIENT_SECRET", "of-environment"), APP, TENANT, (AUTHORITY, &url)];
    let asked = |settings: EntraSettings, variables: &[(&str, &str)]| {
        login(settings, variables).token(at("09:00:00")).unwrap();
        let asked = entra.asked().pop().unwrap();
        let tenant = asked.split('/').nth(1).unwrap().to_owned();
        let form = asked.rsplit("\r\n\r\n").next().unwrap().to_owned();
        let part = |key: &str| form.split('&').find_map(|pair| pair.strip_prefix(key)).unwrap_or("").to_owned();
        (tenant, part("client_id="), part("client_secret="), part("client_assertion="))
    };
    let ids = |tenant: &str, client: &str, secret: &str, token: &str| {
        (tenant.to_owned(), client.to_owned(), secret.to_owned(), token.to_owned())
    };
    let of_environment = ids(TENANT.1, APP.1, "of-environment", "");
    assert_eq!(asked(first_set(), &environment), of_environment);
    let of_file = ids("of-file.example", "22222222-0000-0000-0000-000000000000", "of-file", "");
    assert_eq!(asked(with_file(&file), &environment), of_file);
    let (tenant, client) = (Some("of-settings.example".to_owned()), Some(own.to_owned()));
    let settings = EntraSettings { tenant, client, identity: secret.clone(), ..with_file(&file) };
    assert_eq!(asked(settings, &environment), ids("of-settings.example", own, "of-settings", ""));
    let settings = EntraSettings { client: Some(own.to_owned()), ..given(secret) };
    assert_eq!(asked(settings, &environment), ids(TENANT.1, own, "of-settings", ""));
    let of_token = ids("of-file.example", "22222222-0000-0000-0000-000000000000", "", "web.token");
    assert_eq!(asked(EntraSettings { identity: token, ..with_file(&file) }, &environment), of_token);
}

#[test]
fn the_file_of_other_tools_names_the_source_and_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let token = write(folder.path(), "token", "web.token");
    let client = "22222222-0000-0000-0000-000000000000";
    let managed = r#"{"aadClientId": "msi", "aadClientSecret": "msi", "useManagedIdentityExtension": true,
        "userAssignedIdentityID": "22222222-0000-0000-0000-000000000000",
        "subscriptionId": "s", "resourceGroup": "g"}"#;
    let managed = write(folder.path(), "managed.json", managed);
    let machine = login(with_file(&managed), &[APP, NOWHERE]);
    assert_eq!(machine.source(), format!("the managed identity `{client}` of this machine"));
    assert_eq!((machine.subscription(), machine.resource_group()), (Some("s"), Some("g")));
    assert_eq!(machine.token(at("09:00:00")).unwrap_err().code.as_str(), "connect-failed", "it is set, not tried");
    let never = EntraSettings { identity: EntraIdentity::FirstSet { then_managed: false }, ..with_file(&managed) };
    assert_eq!(login(never, &[NOWHERE]).source(), "nothing says who asks Azure");
    let federated = r#"{"useWorkloadIdentityExtension": true, "useManagedIdentityExtension": true, "tenantId": "t"}"#;
    let federated = write(folder.path(), "federated.json", federated);
    let pod = [("AZURE_FEDERATED_TOKEN_FILE", token.as_str()), APP];
    assert_eq!(login(with_file(&federated), &pod).source(), format!("application `{}` by workload identity", APP.1));
    let why = format!("`{federated}` has `useWorkloadIdentityExtension`, and `AZURE_FEDERATED_TOKEN_FILE` is not set");
    assert_eq!(problem(with_file(&federated), &[APP]).message, why);
    let missing = problem(with_file("/none/azure.json"), &[]);
    assert_eq!((missing.code.as_str(), missing.place.as_str()), ("secret-unreadable", "/none/azure.json"));
}

#[test]
fn a_cloud_is_asked_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let china = write(folder.path(), "azure.json", r#"{"cloud": "AzureChinaCloud"}"#);
    let site = |settings: EntraSettings, variables: &[(&str, &str)]| {
        super::chain::EntraChain::open(settings, process_around(variables)).map(|chain| chain.site)
    };
    let of = |cloud: AzureCloud| AzureSite::from(cloud);
    let us = || EntraSettings { cloud: Some(AzureCloud::UsGovernment), ..with_file(&china) };
    let authority = |text| [(AUTHORITY, text)];
    assert_eq!(site(first_set(), &[]), Ok(of(AzureCloud::Public)));
    assert_eq!(site(with_file(&china), &authority("https://login.microsoftonline.us/")), Ok(of(AzureCloud::China)));
    assert_eq!(site(us(), &[]), Ok(of(AzureCloud::UsGovernment)));
    for text in ["https://login.microsoftonline.us/", "login.microsoftonline.us"] {
        assert_eq!(site(first_set(), &authority(text)), Ok(of(AzureCloud::UsGovernment)));
    }
    let other = AzureSite { authority: "https://login.example.net".into(), ..of(AzureCloud::Public) };
    assert_eq!(site(first_set(), &authority("https://login.example.net")), Ok(other));
    let refused = site(first_set(), &authority("http://login.example.net")).unwrap_err();
    assert_eq!((refused.code.as_str(), refused.place.as_str()), ("no-credentials", AUTHORITY));
    let (endpoint, host) = ("https://arm.example.net".to_owned(), "https://login.example.net".to_owned());
    let own = EntraSettings { endpoint: Some(endpoint.clone()), authority: Some(host.clone()), ..us() };
    let site = site(own, &authority("nowhere at all"));
    assert_eq!(site, Ok(AzureSite { authority: host, audience: endpoint.clone(), endpoint: endpoint.clone() }));
    let endpoint = EntraSettings { endpoint: Some(endpoint), ..first_set() };
    assert_eq!(login(endpoint, &[]).endpoint(), "https://arm.example.net");
}

#[test]
fn without_a_source_the_hint_lists_them() {
    let none = problem(first_set(), &[NOWHERE]);
    assert_eq!(none.code.as_str(), "no-credentials");
    let begin = "nothing says who asks Azure, and there is no identity of this machine: ";
    assert!(none.message.starts_with(begin), "{}", none.message);
    let hint = none.hint.unwrap();
    let order = [
        "`client_secret`",
        "`federated_token_file`",
        "`managed_identity`",
        "`config_file`",
        "`AZURE_CLIENT_SECRET`",
        "`AZURE_FEDERATED_TOKEN_FILE`",
        "machine",
    ];
    let places: Vec<usize> = order.iter().map(|word| hint.find(word).expect(word)).collect();
    assert!(places.is_sorted(), "{hint}");
    let never = problem(given(EntraIdentity::FirstSet { then_managed: false }), &[NOWHERE]);
    assert_eq!((never.code.as_str(), never.message.as_str()), ("no-credentials", "nothing says who asks Azure"));
    assert_eq!(problem(given(EntraIdentity::Managed), &[NOWHERE]).code.as_str(), "connect-failed");
    let elsewhere = CloudFake::answering(&[("404 None", "<html>")]);
    let none = problem(first_set(), &[(IMDS, &elsewhere.url())]);
    assert!(none.code.as_str() == "no-credentials" && none.message.ends_with("status 404"), "{}", none.message);
}

#[test]
fn a_source_that_is_set_and_fails_ends_the_search() {
    let machine = giving("of-machine");
    let url = machine.url();
    let lacks = |what: &str| format!("no {what} is set for what proves who asks Azure, or what is set is none");
    for (variables, why) in [
        (vec![("AZURE_CLIENT_SECRET", "s"), APP], lacks("tenant")),
        (vec![("AZURE_CLIENT_SECRET", "s"), TENANT], lacks("client ID")),
        (vec![("AZURE_CLIENT_SECRET", "s"), TENANT, ("AZURE_CLIENT_ID", "hush")], lacks("client ID")),
        (vec![("AZURE_FEDERATED_TOKEN_FILE", "/none"), APP], lacks("tenant")),
        (vec![("AZURE_CLIENT_ID", "hush")], "what says which identity asks Azure is no client ID".to_owned()),
    ] {
        let found = problem(first_set(), &[variables, vec![(IMDS, &url)]].concat());
        assert_eq!((found.code.as_str(), found.message), ("no-credentials", why));
    }
    let gone = problem(first_set(), &[("AZURE_FEDERATED_TOKEN_FILE", "/none"), APP, TENANT, (IMDS, &url)]);
    assert_eq!(gone.code.as_str(), "secret-unreadable");
    assert_eq!(machine.asked().len(), 0);
}

#[test]
fn a_token_is_kept_and_renewed_before_its_end() {
    let entra = CloudFake::answering(&[("200 OK", &answer("first")), ("500 Oh", ""), ("200 OK", &answer("second"))]);
    let url = entra.url();
    let login = login(first_set(), &[("AZURE_CLIENT_SECRET", "s"), APP, TENANT, (AUTHORITY, &url)]);
    let asked = |clock: &str| (login.token(at(clock)).unwrap().authorization().to_owned(), entra.asked().len());
    assert_eq!(asked("09:00:00"), ("Bearer first".into(), 1));
    assert_eq!(asked("09:54:59"), ("Bearer first".into(), 1));
    // It ends at 10:00. The renewal fails, and what is kept goes on; the next try is halfway to the end.
    assert_eq!(asked("09:55:00"), ("Bearer first".into(), 2));
    assert_eq!(asked("09:57:29"), ("Bearer first".into(), 2));
    assert_eq!(asked("09:57:30"), ("Bearer second".into(), 3));
    login.forget();
    assert_eq!(asked("09:57:31"), ("Bearer second".into(), 4));
}

#[test]
fn an_old_token_is_not_used_beyond_its_end() {
    let entra = CloudFake::answering(&[("200 OK", &answer("first")), ("500 Oh", "")]);
    let url = entra.url();
    let login = login(first_set(), &[("AZURE_CLIENT_SECRET", "s"), APP, TENANT, (AUTHORITY, &url)]);
    assert!(login.token(at("09:00:00")).is_ok());
    assert!(login.token(at("09:59:59")).is_ok());
    assert_eq!(login.token(at("10:00:00")).unwrap_err().code.as_str(), "api-failed");
}

#[test]
fn a_token_that_has_ended_is_none() {
    let ended = r#"{"access_token": "hush", "expires_on": "1796029200"}"#;
    let machine = CloudFake::answering(&[("200 OK", ended)]);
    let found = problem(given(EntraIdentity::Managed), &[(IMDS, &machine.url())]);
    let why = "the token of the managed identity of this machine ended at 2026-11-30T09:00:00Z";
    assert_eq!((found.code.as_str(), found.message.as_str()), ("no-credentials", why));
}

#[test]
fn no_secret_is_in_what_is_shown() {
    /// A secret in all places where there can be one.
    const HUSH: &str = "hush-1234";
    let folder = tempfile::tempdir().unwrap();
    let (token, bad) = (write(folder.path(), "token", HUSH), write(folder.path(), "bad", &format!("{HUSH} {HUSH}")));
    let file = |name: &str, secret: &str| {
        let text = format!(
            r#"{{"tenantId": "t", "aadClientId": "00000000-0000-0000-0000-00000000000a", "aadClientSecret": {secret}}}"#
        );
        with_file(&write(folder.path(), name, &text))
    };
    let refusal = format!(r#"{{"error": "no{HUSH}", "error_description": "AADSTS7000215: not {HUSH}"}}"#);
    let refusing = CloudFake::answering(&[("401 No", &refusal)]);
    let odd = CloudFake::answering(&[("200 OK", &format!("{{\"access_token\": {HUSH}}}"))]);
    let (url, odd) = (refusing.url(), odd.url());
    let ids = [APP, TENANT, (AUTHORITY, &url), NOWHERE];
    let secret = |source| given(EntraIdentity::Secret(source));
    let script = format!("echo {HUSH} x; echo {HUSH} >&2");
    let logins: Vec<(EntraSettings, Vec<(&str, &str)>)> = vec![
        (first_set(), vec![("AZURE_CLIENT_SECRET", HUSH)]),
        (first_set(), vec![("AZURE_CLIENT_SECRET", "hush-1234 x")]),
        (first_set(), vec![("AZURE_FEDERATED_TOKEN_FILE", &token)]),
        (first_set(), vec![("AZURE_FEDERATED_TOKEN_FILE", &bad)]),
        (first_set(), vec![("IDENTITY_ENDPOINT", &url), ("IDENTITY_HEADER", HUSH)]),
        (first_set(), vec![("IDENTITY_ENDPOINT", &odd), ("IDENTITY_HEADER", HUSH)]),
        (first_set(), vec![("IDENTITY_ENDPOINT", "http://u:hush-1234@example.net/"), ("IDENTITY_HEADER", HUSH)]),
        (file("a.json", "\"hush-1234\""), vec![]),
        (file("b.json", "\"hush-1234 x\""), vec![]),
        (file("c.json", "hush-1234"), vec![]),
        (secret(SecretSource::File(token.clone())), vec![]),
        (secret(SecretSource::File(bad.clone())), vec![]),
        (secret(SecretSource::Command(["sh", "-c", &script].map(str::to_owned).to_vec())), vec![]),
        (given(EntraIdentity::Federated(bad.clone())), vec![]),
        (given(EntraIdentity::Managed), vec![(IMDS, &odd)]),
    ];
    for (settings, variables) in logins {
        // Of a variable that is there twice, the last one counts.
        let all: Vec<(&str, &str)> = ids.iter().copied().chain(variables.iter().copied()).collect();
        let shown = match AzureLogin::open(settings.clone(), process_around(&all)) {
            Err(problem) => format!("{problem:?} {problem}"),
            Ok(login) => {
                let problem = login.token(at("09:00:00")).unwrap_err();
                format!("{problem:?} {problem} {}", login.source())
            }
        };
        assert!(!shown.contains(HUSH), "{variables:?}: {shown}");
    }
    let entra = giving(HUSH);
    let url = entra.url();
    let login = login(first_set(), &[("AZURE_CLIENT_SECRET", HUSH), APP, TENANT, (AUTHORITY, &url)]);
    let shown = format!("{:?} {}", login.token(at("09:00:00")).unwrap(), login.source());
    let source = "by the secret in the environment variable `AZURE_CLIENT_SECRET`";
    assert_eq!(shown, format!("AzureToken(…) application `{}` {source}", APP.1));
}
