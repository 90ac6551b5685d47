//! The chain of sources as a whole, what is kept of it, and that no secret gets out.

mod signatures;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::chain::AwsChain;
use super::login::AwsLogin;
use super::settings::{AwsIdentity, AwsRole, AwsSettings};
use super::sts::ANSWER;
use super::surroundings::AwsSurroundings;
use super::testing::around;
use crate::diag::Problem;
use crate::provider::secret::SecretSource;
use crate::provider::surroundings::testing::{CloudFake, at};

/// The variable with the URL of STS.
const STS: &str = "AWS_ENDPOINT_URL_STS";

/// The variable with the URL of the metadata service.
const IMDS: &str = "AWS_EC2_METADATA_SERVICE_ENDPOINT";

/// A role.
const ROLE: &str = "arn:aws:iam::123456789012:role/dns";

/// Settings that say nothing.
fn first_set() -> AwsSettings {
    AwsSettings { identity: AwsIdentity::FirstSet { then_metadata: true }, role: None, region: None }
}

/// Settings with credentials where this says.
fn given(identity: AwsIdentity) -> AwsSettings {
    AwsSettings { identity, ..first_set() }
}

/// Settings with a command of the shell.
fn command(script: &str) -> AwsSettings {
    given(AwsIdentity::Given(SecretSource::Command(["sh", "-c", script].map(str::to_owned).to_vec())))
}

/// Settings with a role.
fn with_role(settings: AwsSettings) -> AwsSettings {
    AwsSettings { role: Some(AwsRole { arn: ROLE.to_owned(), external_id: None }), ..settings }
}

/// The source by these settings, and the ID of the key that it gives, or the code of why it gives none.
fn found(settings: AwsSettings, around: AwsSurroundings) -> (String, String) {
    let login = AwsLogin::new(settings, around);
    let key = login.credentials(at("09:00:00"));
    (login.source(), key.map_or_else(|problem| problem.code.as_str().to_owned(), |own| own.key_id.clone()))
}

/// Surroundings with this home folder and these variables.
fn at_home(home: &Path, variables: &[(&str, &str)]) -> AwsSurroundings {
    let mut around = around(variables);
    around.process.home = Some(home.to_owned());
    around
}

/// Writes a file that its owner alone reads.
fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
}

#[test]
fn the_first_source_that_is_set_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let key = |id: &str| format!("aws_access_key_id = {id}\naws_secret_access_key = s\n");
    write(home.path(), ".aws/credentials", &format!("[default]\n{}[other]\n{}", key("OF_DEFAULT"), key("OF_OTHER")));
    write(home.path(), "token", "web.token");
    let sts = CloudFake::answering(&[("200 OK", ANSWER)]);
    let container = CloudFake::answering(&[("200 OK", r#"{"AccessKeyId": "OF_CONTAINER", "SecretAccessKey": "s"}"#)]);
    let metadata = CloudFake::answering(&[
        ("200 OK", "token"),
        ("200 OK", "role"),
        ("200 OK", r#"{"AccessKeyId": "OF_INSTANCE", "SecretAccessKey": "s"}"#),
    ]);
    let token = home.path().join("token").display().to_string();
    let (sts, metadata) = (sts.url(), metadata.url());
    let all: [&[(&str, &str)]; 5] = [
        &[("AWS_ACCESS_KEY_ID", "OF_ENVIRONMENT"), ("AWS_SECRET_ACCESS_KEY", "s"), ("AWS_SESSION_TOKEN", "t")],
        &[("AWS_WEB_IDENTITY_TOKEN_FILE", &token), ("AWS_ROLE_ARN", ROLE), (STS, &sts)],
        &[("AWS_PROFILE", "other")],
        &[("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/creds")],
        &[(IMDS, &metadata)],
    ];
    let sources = [
        ("environment variables", "OF_ENVIRONMENT"),
        ("role `arn:aws:iam::123456789012:role/dns` by web identity", "ASIA1"),
        ("profile `other` of ~/.aws/credentials", "OF_OTHER"),
        ("the endpoint of this container", "OF_CONTAINER"),
        ("the metadata service of this instance", "OF_INSTANCE"),
    ];
    for (first, source) in sources.iter().enumerate() {
        let mut around = around(&all[first..].concat());
        around.container = container.url();
        around.process.home = (first <= 2).then(|| home.path().to_owned());
        assert_eq!(found(first_set(), around), (source.0.to_owned(), source.1.to_owned()));
    }
    let mut by_default = around(&all[3..].concat());
    by_default.process.home = Some(home.path().to_owned());
    let source = ("profile `default` of ~/.aws/credentials".to_owned(), "OF_DEFAULT".to_owned());
    assert_eq!(found(first_set(), by_default), source);
}

#[test]
fn what_the_settings_say_comes_before_the_environment() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), ".aws/config", "[profile p]\ncredential_process = sh -c 'echo \"$0\"' x\n");
    let script = r#"echo '{"Version": 1, "AccessKeyId": "OF_COMMAND", "SecretAccessKey": "s"}'"#;
    write(home.path(), "give", script);
    let process = format!("[profile p]\ncredential_process = sh {}/give\n", home.path().display());
    write(home.path(), ".aws/config", &process);
    let environment = [("AWS_ACCESS_KEY_ID", "OF_ENVIRONMENT"), ("AWS_SECRET_ACCESS_KEY", "s")];
    let in_home = || at_home(home.path(), &environment);
    let of_command = ("the command `sh`".to_owned(), "OF_COMMAND".to_owned());
    assert_eq!(found(command(script), in_home()), of_command);
    let of_profile = ("profile `p` of ~/.aws/config: the command `sh`".to_owned(), "OF_COMMAND".to_owned());
    assert_eq!(found(given(AwsIdentity::Profile("p".into())), in_home()), of_profile);
    let none = found(given(AwsIdentity::Profile("q".into())), in_home());
    let why = "there is no profile `q`, which `profile` of the target names";
    assert_eq!(none, (why.to_owned(), "no-credentials".to_owned()));
}

#[test]
fn a_role_is_taken_with_what_was_found() {
    let sts = CloudFake::answering(&[("200 OK", ANSWER)]);
    let url = sts.url();
    let keys =
        [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "s"), (STS, &url), ("AWS_REGION", "eu-west-1")];
    let source = format!("role `{ROLE}`, taken with environment variables");
    assert_eq!(found(with_role(first_set()), around(&keys)), (source, "ASIA1".to_owned()));
    assert!(sts.asked()[0].contains("Credential=AKID/20261130/eu-west-1/sts/"));
}

#[test]
fn without_a_source_the_hint_lists_them() {
    let nowhere = [(IMDS, "http://127.0.0.1:1")];
    let problem = AwsLogin::new(first_set(), around(&nowhere)).credentials(at("09:00:00")).unwrap_err();
    assert_eq!(problem.code.as_str(), "no-credentials");
    let begin = "nothing says who asks AWS, and there is no role of an instance: ";
    assert!(problem.message.starts_with(begin), "{}", problem.message);
    let hint = problem.hint.unwrap();
    let order = ["`credentials`", "AWS_ACCESS_KEY_ID", "WEB_IDENTITY", "~/.aws/config", "container", "EC2 instance"];
    let places: Vec<usize> = order.iter().map(|word| hint.find(word).expect(word)).collect();
    assert!(places.is_sorted(), "{hint}");
    for (settings, variables) in [
        (given(AwsIdentity::FirstSet { then_metadata: false }), &nowhere[..]),
        (first_set(), &[("AWS_EC2_METADATA_DISABLED", "true")]),
    ] {
        let problem = AwsLogin::new(settings, around(variables)).credentials(at("09:00:00")).unwrap_err();
        assert_eq!((problem.code.as_str(), problem.message.as_str()), ("no-credentials", "nothing says who asks AWS"));
    }
    let asked_for = AwsLogin::new(given(AwsIdentity::Metadata), around(&nowhere)).credentials(at("09:00:00"));
    assert_eq!(asked_for.unwrap_err().code.as_str(), "connect-failed");
}

#[test]
fn a_source_that_is_set_and_fails_ends_the_search() {
    for (variables, why) in [
        (
            &[("AWS_ACCESS_KEY_ID", "A")][..],
            "the environment variable `AWS_SECRET_ACCESS_KEY` is not set, though `AWS_ACCESS_KEY_ID` may be",
        ),
        (
            &[("AWS_WEB_IDENTITY_TOKEN_FILE", "/none")],
            "`AWS_WEB_IDENTITY_TOKEN_FILE` is set, and `AWS_ROLE_ARN` is not the ARN of a role",
        ),
        (&[("AWS_PROFILE", "none")], "there is no profile `none`, which `AWS_PROFILE` names"),
    ] {
        let all =
            [variables, &[(IMDS, "http://127.0.0.1:1"), ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/")]].concat();
        let problem = AwsLogin::new(first_set(), around(&all)).credentials(at("09:00:00")).unwrap_err();
        assert_eq!((problem.code.as_str(), problem.message.as_str()), ("no-credentials", why));
    }
}

#[test]
fn files_of_profiles_are_found_and_kept_secret() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "c", "[profile p]\naws_access_key_id = A\naws_secret_access_key = s\n");
    write(home.path(), "roles", "[profile p]\nrole_arn = r\ncredential_source = Environment\n");
    let file = |name: &str| home.path().join(name).display().to_string();
    let source = |name: &str| {
        let variables = [("AWS_CONFIG_FILE", file(name)), ("AWS_PROFILE", "p".to_owned())];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        AwsChain { settings: first_set(), around: around(&variables) }.find().map(|source| source.to_string())
    };
    assert_eq!(source("c").unwrap(), format!("profile `p` of {}", file("c")));
    for name in ["c", "roles"] {
        std::fs::set_permissions(home.path().join(name), PermissionsExt::from_mode(0o644)).unwrap();
    }
    assert_eq!(source("c").unwrap_err().code.as_str(), "secret-exposed");
    assert!(source("roles").is_ok(), "there is no secret in it");
}

#[test]
fn credentials_are_kept_and_renewed_before_their_end() {
    let sts = CloudFake::answering(&[("200 OK", ANSWER), ("500 Oh", ""), ("500 Oh", ""), ("500 Oh", "")]);
    let url = sts.url();
    let keys = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "s"), (STS, &url)];
    let login = AwsLogin::new(with_role(first_set()), around(&keys));
    let asked = |clock: &str| (login.credentials(at(clock)).is_ok(), sts.asked().len());
    assert_eq!(asked("09:00:00"), (true, 1));
    assert_eq!(asked("09:54:59"), (true, 1));
    // They end at 10:00. The renewal fails, and what is kept goes on; the next try is halfway to the end.
    assert_eq!(asked("09:55:00"), (true, 2));
    assert_eq!(asked("09:57:29"), (true, 2));
    assert_eq!(asked("09:57:30"), (true, 3));
    assert_eq!(asked("10:00:00"), (false, 4));
}

#[test]
fn credentials_that_a_server_calls_ended_are_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "echo x >> {0}/runs; echo '{{\"Version\": 1, \"AccessKeyId\": \"A\", \"SecretAccessKey\": \"s\"}}'",
        folder.path().display()
    );
    let login = AwsLogin::new(command(&script), around(&[]));
    let runs = |clock: &str| {
        login.credentials(at(clock)).unwrap();
        std::fs::read_to_string(folder.path().join("runs")).unwrap().lines().count()
    };
    assert_eq!((runs("09:00:00"), runs("23:00:00")), (1, 1), "they last");
    login.forget();
    assert_eq!(runs("23:00:00"), 2);
}

#[test]
fn credentials_that_have_ended_are_none() {
    let script =
        r#"echo '{"Version": 1, "AccessKeyId": "A", "SecretAccessKey": "hush", "Expiration": "2026-11-30T09:00:00Z"}'"#;
    let problem = AwsLogin::new(command(script), around(&[])).credentials(at("09:00:00")).unwrap_err();
    let why = "the credentials of the command `sh` ended at 2026-11-30T09:00:00Z";
    assert_eq!((problem.code.as_str(), problem.message.as_str()), ("no-credentials", why));
}

#[test]
fn no_secret_is_in_what_is_shown() {
    /// A secret in all places where there can be one.
    const HUSH: &str = "hush-1234";
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "token", HUSH);
    write(home.path(), "bad-token", &format!("{HUSH} {HUSH}"));
    let profile = format!("[p]\naws_access_key_id = A\naws_secret_access_key = {HUSH}\naws_session_token = {HUSH} x\n");
    write(home.path(), ".aws/credentials", &profile);
    let refusal = format!("<e><Error><Code>No{HUSH}</Code><Message>not {HUSH}</Message></Error></e>");
    let sts = CloudFake::answering(&[("403 No", &refusal)]);
    let odd = CloudFake::answering(&[("200 OK", &format!("{{\"AccessKeyId\": \"A\", \"SecretAccessKey\": {HUSH}}}"))]);
    let (url, odd, token) = (sts.url(), odd.url(), home.path().join("token").display().to_string());
    let bad = home.path().join("bad-token").display().to_string();
    let environment =
        [("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", HUSH), ("AWS_SESSION_TOKEN", HUSH), (STS, &url)];
    let web = |file| [("AWS_WEB_IDENTITY_TOKEN_FILE", file), ("AWS_ROLE_ARN", ROLE), (STS, &*url)];
    let container = [("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*odd), ("AWS_CONTAINER_AUTHORIZATION_TOKEN", HUSH)];
    let of_file =
        |name: &str| given(AwsIdentity::Given(SecretSource::File(home.path().join(name).display().to_string())));
    let logins: Vec<(AwsSettings, Vec<(&str, &str)>)> = vec![
        (with_role(first_set()), environment.to_vec()),
        (first_set(), web(&token).to_vec()),
        (first_set(), web(&bad).to_vec()),
        (first_set(), container.to_vec()),
        (first_set(), vec![("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://u:hush-1234@example.net/")]),
        (first_set(), vec![("AWS_ACCESS_KEY_ID", "A"), ("AWS_SECRET_ACCESS_KEY", "hush-1234 x")]),
        (given(AwsIdentity::Profile("p".into())), vec![]),
        (of_file("token"), vec![]),
        (command(&format!("echo {HUSH}; echo {HUSH} >&2")), vec![]),
        (command(&format!("echo {HUSH}; echo {HUSH} >&2; exit 1")), vec![]),
    ];
    for (settings, variables) in logins {
        let around = at_home(home.path(), &variables);
        let login = AwsLogin::new(settings, around);
        let problem: Problem = login.credentials(at("09:00:00")).unwrap_err();
        let shown = format!("{problem:?} {problem} {}", login.source());
        assert!(!shown.contains(HUSH), "{variables:?}: {shown}");
    }
    let login = AwsLogin::new(first_set(), around(&environment));
    let shown = format!("{:?} {}", login.credentials(at("09:00:00")).unwrap(), login.source());
    assert_eq!(shown, "AwsCredentials(…) environment variables");
}
