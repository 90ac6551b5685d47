//! The sources of credentials in AWS's order: which one is set, and what it gives.
//!
//! A source that is set and fails ends the search: the next one would be another identity, with other rights.

use std::time::Duration;

use super::credentials::AwsCredentials;
use super::settings::{AwsIdentity, AwsRole, AwsSettings, is_region, is_role};
use super::source::{AssumedRole, AwsSource, PLACE, SESSION, WebIdentity, no_credentials};
use super::sts::StsSite;
use super::surroundings::AwsSurroundings;
use super::{container, metadata};
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::process::BoundedCommand;
use crate::provider::secret::SecretHints;

/// How long a command may take that gives credentials: some of them ask another service first.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most octets that a command prints.
const MAX_PRINTED: u64 = 64 * 1024;

/// What is to be where the settings say.
const HINTS: SecretHints = SecretHints {
    file: "the file holds JSON as `credential_process` prints it: `Version` (1), `AccessKeyId`, `SecretAccessKey` and, \
           where there is one, `SessionToken`",
    variable: "set it to JSON as `credential_process` prints it",
    command: "run it by hand: it must print JSON as `credential_process` does, and exit with 0",
};

/// The variable with the name of a key.
const KEY_ID: &str = "AWS_ACCESS_KEY_ID";

/// The variable with its secret.
const SECRET: &str = "AWS_SECRET_ACCESS_KEY";

/// The variable with the token of its session.
const TOKEN: &str = "AWS_SESSION_TOKEN";

/// The variable with the file of a web identity's token.
const WEB_TOKEN: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";

/// The variable with the role that is taken with it.
const WEB_ROLE: &str = "AWS_ROLE_ARN";

/// Looks for credentials.
pub struct AwsChain {
    /// What the settings say.
    pub settings: AwsSettings,
    /// What is around the process.
    pub around: AwsSurroundings,
}

impl AwsChain {
    /// Where credentials are: the first source that is set, and the role that is taken with what it gives.
    ///
    /// Errors: none is set, or the one that is set cannot be used.
    pub fn find(&self) -> Result<AwsSource, Problem> {
        let base = match &self.settings.identity {
            AwsIdentity::Given(source) => AwsSource::Given(source.clone()),
            AwsIdentity::Profile(name) => self.named_profile(name)?,
            AwsIdentity::Metadata => AwsSource::Metadata,
            AwsIdentity::FirstSet { then_metadata } => match self.first_set()? {
                Some(source) => source,
                None if *then_metadata && !metadata::is_disabled(&self.around) => AwsSource::LastMetadata,
                None => return Err(none_set("nothing says who asks AWS")),
            },
        };
        Ok(match self.settings.role.clone() {
            None => base,
            Some(AwsRole { arn, external_id }) => {
                AwsSource::Role(AssumedRole { arn, external_id, session: SESSION.to_owned() }, Box::new(base))
            }
        })
    }

    /// Finds a source, and asks it.
    ///
    /// Errors: as for [`AwsChain::find`]; it gives none.
    pub fn fetch(&self, now: Time) -> Result<AwsCredentials, Problem> {
        self.ask(&self.find()?, now)
    }

    /// The first source that is set, without the metadata service.
    fn first_set(&self) -> Result<Option<AwsSource>, Problem> {
        let around = &self.around;
        if around.process.variable(KEY_ID).is_some() || around.process.variable(SECRET).is_some() {
            return Ok(Some(AwsSource::Environment));
        }
        if let Some(file) = around.process.variable(WEB_TOKEN) {
            let arn = around.process.variable(WEB_ROLE).filter(|arn| is_role(arn)).ok_or_else(|| {
                let message = format!("`{WEB_TOKEN}` is set, and `{WEB_ROLE}` is not the ARN of a role");
                no_credentials(WEB_ROLE, message)
                    .hint("annotate the service account with the role, or set the variable")
            })?;
            let session = around.process.variable("AWS_ROLE_SESSION_NAME").unwrap_or_else(|| SESSION.to_owned());
            let role = AssumedRole { arn, external_id: None, session };
            return Ok(Some(AwsSource::WebIdentity(WebIdentity { token_file: file, role })));
        }
        let (named, profiles) = (around.process.variable("AWS_PROFILE"), around.profiles()?);
        if let Some(name) = named.as_deref().filter(|name| !profiles.has(name)) {
            return Err(no_profile(name, "`AWS_PROFILE`"));
        }
        let profile = profiles.find(named.as_deref().unwrap_or("default"))?;
        Ok(profile.or_else(|| container::is_set(around).then_some(AwsSource::Container)))
    }

    /// The credentials of the profile that the settings name, which must have some.
    fn named_profile(&self, name: &str) -> Result<AwsSource, Problem> {
        let profiles = self.around.profiles()?;
        if !profiles.has(name) {
            return Err(no_profile(name, "`profile` of the target"));
        }
        profiles.find(name)?.ok_or_else(|| {
            let message = format!("profile `{name}`, which `profile` of the target names, has no credentials");
            no_credentials("~/.aws/config", message).hint("give it a key, `credential_process` or a role")
        })
    }

    /// Asks a source.
    fn ask(&self, source: &AwsSource, now: Time) -> Result<AwsCredentials, Problem> {
        let around = &self.around;
        match source {
            AwsSource::Given(from) => {
                let text = from.fetch_text(&around.process.workspace, (PATIENCE, HINTS))?;
                AwsCredentials::parse_process(&text).map_err(|why| malformed(&source.to_string(), &why))
            }
            AwsSource::Environment => self.of_environment(),
            AwsSource::WebIdentity(own) => self.sts()?.assume_by_web(own, around),
            AwsSource::Profile(_, _, from) => self.ask(from, now),
            AwsSource::Keys(credentials) => Ok(credentials.clone()),
            AwsSource::Process(words) => self.of_process(words),
            AwsSource::Role(role, from) => {
                let base = self.ask(from, now)?;
                self.sts()?.assume(role, &base, now)
            }
            AwsSource::Container => container::fetch(around),
            AwsSource::Metadata => metadata::fetch(around),
            AwsSource::LastMetadata => metadata::fetch(around).map_err(|problem| match problem.code.as_str() {
                "no-credentials" | "connect-failed" | "timeout" => none_set(&format!(
                    "nothing says who asks AWS, and there is no role of an instance: {}",
                    problem.message
                )),
                _ => problem,
            }),
        }
    }

    /// The key of the environment.
    fn of_environment(&self) -> Result<AwsCredentials, Problem> {
        let lacks = |name: &str, other: &str| {
            let message = format!("the environment variable `{name}` is not set, though `{other}` may be");
            no_credentials(name, message).hint(format!("set both, or unset `{other}`"))
        };
        let id = self.around.process.variable(KEY_ID).ok_or_else(|| lacks(KEY_ID, SECRET))?;
        let secret = self.around.process.variable(SECRET).ok_or_else(|| lacks(SECRET, KEY_ID))?;
        let token = self.around.process.variable(TOKEN);
        AwsCredentials::new((&id, &secret), token.as_deref(), None).map_err(|why| {
            Problem::new(PLACE, "secret-malformed", format!("the environment's key cannot be used: {why}"))
        })
    }

    /// What a command prints.
    fn of_process(&self, words: &[String]) -> Result<AwsCredentials, Problem> {
        let command = BoundedCommand {
            words: words.to_vec(),
            workspace: self.around.process.workspace.clone(),
            timeout: PATIENCE,
        };
        let text = command.read(MAX_PRINTED).map_err(|error| {
            Problem::new(command.program(), "secret-command-failed", error.message).hint(HINTS.command)
        })?;
        AwsCredentials::parse_process(&text)
            .map_err(|why| malformed(&format!("the command `{}`", command.program()), &why))
    }

    /// The region that is worked in: that of the settings, or of the environment.
    pub fn region(&self) -> Option<String> {
        let of_environment = || {
            self.around.process.variable("AWS_REGION").or_else(|| self.around.process.variable("AWS_DEFAULT_REGION"))
        };
        self.settings.region.clone().or_else(of_environment).filter(|region| is_region(region))
    }

    /// The Security Token Service of the region.
    fn sts(&self) -> Result<StsSite, Problem> {
        StsSite::of(&self.around, self.region().as_deref())
    }
}

/// The problem of what is no credentials.
fn malformed(from: &str, why: &str) -> Problem {
    let message = format!("what {from} gives is no credentials of AWS: {why}");
    Problem::new(from, "secret-malformed", message).hint(HINTS.file)
}

/// The problem of a profile that is not there.
fn no_profile(name: &str, by: &str) -> Problem {
    let message = format!("there is no profile `{name}`, which {by} names");
    no_credentials("~/.aws/config", message).hint("correct the name; `aws configure list-profiles` lists the profiles")
}

/// The problem that no source is set.
fn none_set(why: &str) -> Problem {
    let hint = "give credentials by one of these, which are tried in this order: `credentials` of the target; \
                `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`; `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`; a \
                profile of `~/.aws/config` or `~/.aws/credentials`; the endpoint of a container; the role \
                of an EC2 instance";
    no_credentials(PLACE, why).hint(hint)
}
