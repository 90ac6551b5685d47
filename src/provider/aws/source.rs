//! Where credentials are, in words. Pure.

use std::fmt;

use super::credentials::AwsCredentials;
use crate::diag::Problem;
use crate::provider::secret::SecretSource;

/// Where credentials are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwsSource {
    /// Where the settings say.
    Given(SecretSource),
    /// In the environment.
    Environment,
    /// With STS, for the token of a web identity.
    WebIdentity(WebIdentity),
    /// In a profile, by its name and the file that says so.
    Profile(String, String, Box<AwsSource>),
    /// They are these.
    Keys(AwsCredentials),
    /// In what a command prints.
    Process(Vec<String>),
    /// With STS, for other credentials.
    Role(AssumedRole, Box<AwsSource>),
    /// With the endpoint of this container.
    Container,
    /// With the metadata service of this instance, which the settings or a profile name.
    Metadata,
    /// With the same service, since nothing else is set.
    LastMetadata,
}

/// A role, and how it is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssumedRole {
    /// Its Amazon Resource Name.
    pub arn: String,
    /// What its owner asks of others who take it.
    pub external_id: Option<String>,
    /// The name that AWS's logs show.
    pub session: String,
}

/// A role that is taken with a token from somewhere else, such as a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebIdentity {
    /// The file with the token; it may begin with `~/`.
    pub token_file: String,
    /// The role.
    pub role: AssumedRole,
}

/// The name of a session where nothing says another one.
pub const SESSION: &str = "zonewright";

/// What is in front of messages that are about no one file or server.
pub const PLACE: &str = "AWS credentials";

/// The problem that there are no credentials, or that what is set cannot give any.
pub fn no_credentials(place: impl Into<String>, message: impl Into<String>) -> Problem {
    Problem::new(place, "no-credentials", message)
}

impl fmt::Display for AwsSource {
    /// Names the source, without secrets: the arguments of a command may be some.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AwsSource::Given(source) => write!(f, "{source}"),
            AwsSource::Environment => f.write_str("environment variables"),
            AwsSource::WebIdentity(WebIdentity { role, .. }) => write!(f, "role `{}` by web identity", role.arn),
            AwsSource::Profile(name, file, from) => match &**from {
                AwsSource::Keys(_) => write!(f, "profile `{name}` of {file}"),
                from => write!(f, "profile `{name}` of {file}: {from}"),
            },
            AwsSource::Keys(_) => f.write_str("a key"),
            AwsSource::Process(words) => write!(f, "the command `{}`", words.first().map_or("", String::as_str)),
            AwsSource::Role(role, from) => write!(f, "role `{}`, taken with {from}", role.arn),
            AwsSource::Container => f.write_str("the endpoint of this container"),
            AwsSource::Metadata | AwsSource::LastMetadata => f.write_str("the metadata service of this instance"),
        }
    }
}
