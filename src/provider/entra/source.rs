//! Where tokens are, in words. Pure.

use std::fmt;

use super::token::EntraSecret;
use crate::diag::Problem;
use crate::provider::secret::SecretSource;

/// Where tokens are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntraSource {
    /// With Entra, for a secret of an application.
    Secret(EntraApp, ClientSecret),
    /// With Entra, for the token of a platform that Entra trusts.
    Federated(EntraApp, FederatedToken),
    /// With the service that App Service and similar platforms give an app.
    AppService(ManagedIdentity),
    /// With the metadata service of this machine.
    Metadata(ManagedIdentity),
    /// With the same service, since nothing else is set.
    LastMetadata(ManagedIdentity),
}

/// An application in a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntraApp {
    /// The tenant, by its ID or one of its domains.
    pub tenant: String,
    /// The application, by its client ID.
    pub client: String,
}

/// Where the secret of an application is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientSecret {
    /// Where the settings say.
    Given(SecretSource),
    /// In the file of other tools, as messages call it.
    ConfigFile(String, EntraSecret),
    /// In the environment.
    Environment(EntraSecret),
}

/// A token of a platform, such as a cluster, that Entra trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FederatedToken {
    /// The file that it is in, which may begin with `~/`; the platform renews it there.
    pub file: String,
    /// The key or the variable that names the file.
    pub named_by: &'static str,
}

/// The identity of a machine or app: one that was assigned to it, by its client ID, or else its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagedIdentity {
    /// The client ID.
    pub client: Option<String>,
}

/// The variable with the secret of an application.
pub const SECRET: &str = "AZURE_CLIENT_SECRET";

/// What is in front of messages that are about no one file or server.
pub const PLACE: &str = "Azure credentials";

/// The problem that there are no credentials, or that what is set cannot give any.
pub fn no_credentials(place: impl Into<String>, message: impl Into<String>) -> Problem {
    Problem::new(place, "no-credentials", message)
}

/// Whether a text may be the ID or a domain of a tenant, which becomes a part of a path.
pub fn is_tenant(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.len() <= 63 && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// Whether a text is a client ID: 32 hexadecimal digits in five groups (RFC 9562 section 4).
pub fn is_client(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let is_group = |group: &&str| group.bytes().all(|octet| octet.is_ascii_hexdigit());
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(is_group)
}

impl fmt::Display for ManagedIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.client {
            None => f.write_str("the managed identity"),
            Some(client) => write!(f, "the managed identity `{client}`"),
        }
    }
}

impl fmt::Display for EntraSource {
    /// Names the source, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntraSource::Secret(app, from) => {
                write!(f, "application `{}` by the secret in ", app.client)?;
                match from {
                    ClientSecret::Given(source) => write!(f, "{source}"),
                    ClientSecret::ConfigFile(shown, _) => write!(f, "`{shown}`"),
                    ClientSecret::Environment(_) => write!(f, "the environment variable `{SECRET}`"),
                }
            }
            EntraSource::Federated(app, _) => write!(f, "application `{}` by workload identity", app.client),
            EntraSource::AppService(own) => write!(f, "{own} of this app"),
            EntraSource::Metadata(own) | EntraSource::LastMetadata(own) => write!(f, "{own} of this machine"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_a_form() {
        for tenant in ["00000000-1111-2222-3333-444455556666", "example.onmicrosoft.com", "example"] {
            assert!(is_tenant(tenant), "{tenant}");
        }
        for other in ["", "a..b", ".", "..", "a/b", "a b", "hush~"] {
            assert!(!is_tenant(other), "{other}");
        }
        assert!(is_client("0aBc0000-1111-2222-3333-444455556666"));
        for other in ["", "msi", "0g000000-1111-2222-3333-444455556666", "00000000111122223333444455556666"] {
            assert!(!is_client(other), "{other}");
        }
    }
}
