//! The settings of who asks Azure, and which cloud is asked. Pure.

use super::cloud::{AzureCloud, confidential_url};
use super::source::{is_client, is_tenant};
use crate::diag::Diagnostic;
use crate::inventory::node::TableReader;
use crate::provider::secret::SecretSource;
use crate::provider::url::has_path;

/// Who asks, by the settings of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntraSettings {
    /// The tenant, by its ID or one of its domains (`tenant_id`).
    pub tenant: Option<String>,
    /// The application or the identity that is assigned to this machine, by its client ID (`client_id`).
    pub client: Option<String>,
    /// What proves it.
    pub identity: EntraIdentity,
    /// The `azure.json` that other tools share (`config_file`).
    pub config_file: Option<String>,
    /// The cloud.
    pub cloud: Option<AzureCloud>,
    /// The URL of the Resource Manager, in place of that of the cloud.
    pub endpoint: Option<String>,
    /// The URL of Entra, in place of that of the cloud.
    pub authority: Option<String>,
}

/// What proves who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntraIdentity {
    /// A secret of the application (`client_secret`).
    Secret(SecretSource),
    /// A token of a platform that Entra trusts, in this file (`federated_token_file`).
    Federated(String),
    /// The identity of this machine or app (`managed_identity`).
    Managed,
    /// What the first source gives that is set.
    FirstSet {
        /// Whether the identity of this machine or app is one of them.
        then_managed: bool,
    },
}

impl EntraSettings {
    /// Reads the keys of a target's table; none where one of them is wrong.
    pub fn read(reader: &mut TableReader<'_>) -> Option<EntraSettings> {
        let tenant = read_id(reader, "tenant_id", is_tenant, "`tenant_id` is neither the ID nor a domain of a tenant");
        let what = "`client_id` is not the client ID of an application or identity";
        let client = read_id(reader, "client_id", is_client, what);
        let identity = read_identity(reader);
        let config_file = read_path(reader, "config_file");
        let cloud = match reader.take("cloud") {
            None => Some(None),
            Some(node) => reader.choice_of(node, &AzureCloud::WORDS).map(Some),
        };
        let endpoint = read_endpoint(reader);
        let authority = read_url(reader, "authority", "https://login.example.net");
        Some(EntraSettings {
            tenant: tenant?,
            client: client?,
            identity: identity?,
            config_file: config_file?,
            cloud: cloud?,
            endpoint: endpoint?,
            authority: authority?,
        })
    }
}

/// Reads an ID; none where it is wrong. What is there may be a secret that is in the wrong place: it is not shown.
fn read_id(
    reader: &mut TableReader<'_>,
    key: &'static str,
    is_right: fn(&str) -> bool,
    why: &'static str,
) -> Option<Option<String>> {
    let Some(node) = reader.take(key) else { return Some(None) };
    let Some(id) = node.as_text().filter(|id| is_right(id)) else {
        let hint = "write it as the portal shows it, such as `00000000-0000-0000-0000-000000000000`";
        reader.push(Diagnostic::error("bad-value", node.origin, why).hint(hint));
        return None;
    };
    Some(Some(id.to_owned()))
}

/// Reads `client_secret`, `federated_token_file` and `managed_identity`, of which one at most says what proves it.
fn read_identity(reader: &mut TableReader<'_>) -> Option<EntraIdentity> {
    let said = ["client_secret", "federated_token_file", "managed_identity"].map(|key| reader.node().get(key));
    let secret = reader.take("client_secret").map(|node| {
        let (source, found) = SecretSource::of_table(node, reader.source());
        reader.append(found);
        source.map(EntraIdentity::Secret)
    });
    // The key is asked for where it is not there, too: hints name the keys that were asked for.
    let path = read_path(reader, "federated_token_file");
    let file = said[1].map(|_| path.flatten().map(EntraIdentity::Federated));
    let managed = reader.boolean("managed_identity");
    if said[2].is_some() && managed.is_none() {
        return None;
    }
    let of_managed = (managed == Some(true)).then_some(Some(EntraIdentity::Managed));
    let second = match (&secret, &file, &of_managed) {
        (Some(_), Some(_), _) => said[1],
        (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => said[2],
        _ => None,
    };
    if let Some(node) = second {
        let message = "`client_secret`, `federated_token_file` and `managed_identity = true` each say what proves who \
                       asks: one of them at most";
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        reader.push(error.hint("keep the one that is meant; without any, the sources are tried in order"));
        return None;
    }
    let otherwise = EntraIdentity::FirstSet { then_managed: managed != Some(false) };
    secret.or(file).or(of_managed).unwrap_or(Some(otherwise))
}

/// Reads the path of a file; none where it is wrong.
fn read_path(reader: &mut TableReader<'_>, key: &'static str) -> Option<Option<String>> {
    let Some(node) = reader.take(key) else { return Some(None) };
    let path = reader.text_of(node)?.trim();
    if path.is_empty() {
        reader.error(node, "bad-value", format!("`{key}` is empty: it is the path of a file"));
        return None;
    }
    Some(Some(path.to_owned()))
}

/// Reads `endpoint`; none where it is wrong. Links from page to page have no more than the path of the API.
fn read_endpoint(reader: &mut TableReader<'_>) -> Option<Option<String>> {
    let node = reader.node().get("endpoint");
    let url = read_url(reader, "endpoint", "https://management.example.net")?;
    if let Some(node) = node.filter(|_| url.as_deref().is_some_and(has_path)) {
        reader.error(
            node,
            "bad-value",
            "what `endpoint` names has a path: write `https://` and a host, and nothing behind it",
        );
        return None;
    }
    Some(url)
}

/// Reads a URL; none where it is wrong.
fn read_url(reader: &mut TableReader<'_>, key: &'static str, example: &str) -> Option<Option<String>> {
    let Some(node) = reader.take(key) else { return Some(None) };
    let url = node.as_text().and_then(confidential_url);
    if url.is_none() {
        let message = format!("what `{key}` names is not a URL that secrets may be sent to");
        let error = reader.source().error("bad-value", node.origin, node.width, message);
        let hint = format!("write `https://` and a host, such as `{example}`; `http://` is for this machine alone");
        reader.push(error.hint(hint));
    }
    url.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;
    use crate::inventory::config::toml;
    use crate::inventory::node::SourceText;

    /// What is read of a table, with what is wrong.
    fn read(text: &str) -> (Option<EntraSettings>, Vec<String>) {
        let source = SourceText { file: Files::default().add("zonewright.toml"), text: text.into() };
        let tree = toml::parse(&source);
        let mut reader = TableReader::new(&tree.root, &source);
        let settings = EntraSettings::read(&mut reader);
        let found = reader.finish();
        (settings, found.iter().map(|found| format!("{}: {}", found.code.as_str(), found.message)).collect())
    }

    #[test]
    fn hints_name_keys_that_are_not_there() {
        for (text, near) in [("clod = \"china\"", "`cloud`"), ("federated_token_fil = \"f\"", "`federated_token_file`")]
        {
            let source = SourceText { file: Files::default().add("zonewright.toml"), text: text.into() };
            let tree = toml::parse(&source);
            let mut reader = TableReader::new(&tree.root, &source);
            EntraSettings::read(&mut reader);
            let hints: Vec<String> = reader.finish().iter().filter_map(|found| found.hint.clone()).collect();
            assert_eq!(hints, [format!("did you mean {near}?")]);
        }
    }

    /// What proves who asks.
    fn identity(text: &str) -> EntraIdentity {
        read(text).0.unwrap().identity
    }

    #[test]
    fn without_settings_the_sources_are_tried_in_order() {
        let first = |then_managed| EntraIdentity::FirstSet { then_managed };
        let settings = EntraSettings {
            tenant: None,
            client: None,
            identity: first(true),
            config_file: None,
            cloud: None,
            endpoint: None,
            authority: None,
        };
        assert_eq!(read(""), (Some(settings), vec![]));
        assert_eq!(identity("managed_identity = false"), first(false));
    }

    #[test]
    fn settings_say_who_asks_which_cloud() {
        let (settings, found) = read(
            "tenant_id = \"example.onmicrosoft.com\"\nclient_id = \"00000000-1111-2222-3333-444455556666\"\n\
             client_secret = { secret_env = \"DNS\" }\nmanaged_identity = false\nconfig_file = \"/etc/azure.json\"\n\
             cloud = \"us-government\"\nendpoint = \"https://arm.example.net/\"\nauthority = \"http://127.0.0.1:80\"",
        );
        assert_eq!(found, [""; 0]);
        let settings = settings.unwrap();
        assert_eq!(settings.tenant.as_deref(), Some("example.onmicrosoft.com"));
        assert_eq!(settings.client.as_deref(), Some("00000000-1111-2222-3333-444455556666"));
        assert_eq!(settings.identity, EntraIdentity::Secret(SecretSource::Variable("DNS".into())));
        assert_eq!(settings.config_file.as_deref(), Some("/etc/azure.json"));
        assert_eq!(settings.cloud, Some(AzureCloud::UsGovernment));
        assert_eq!(settings.endpoint.as_deref(), Some("https://arm.example.net"));
        assert_eq!(settings.authority.as_deref(), Some("http://127.0.0.1:80"));
        assert_eq!(identity("federated_token_file = \"t\""), EntraIdentity::Federated("t".into()));
        assert_eq!(identity("managed_identity = true"), EntraIdentity::Managed);
    }

    #[test]
    fn wrong_settings_are_explained() {
        let twice = "bad-value: `client_secret`, `federated_token_file` and `managed_identity = true` each say what \
                     proves who asks: one of them at most";
        let client = "bad-value: `client_id` is not the client ID of an application or identity";
        let tenant = "bad-value: `tenant_id` is neither the ID nor a domain of a tenant";
        for (text, why) in [
            ("client_id = \"hush\"", client),
            ("client_id = 7", client),
            ("tenant_id = \"hush~hush\"", tenant),
            ("tenant_id = \"../common\"", tenant),
            (
                "client_secret = \"hush\"",
                "bad-secret: text is here, and a table that says where the secret is belongs here",
            ),
            ("managed_identity = \"yes\"", "wrong-type: text is here, but `true` or `false` belongs here"),
            ("client_secret = { secret_file = \"f\" }\nfederated_token_file = \"t\"", twice),
            ("client_secret = { secret_file = \"f\" }\nmanaged_identity = true", twice),
            ("federated_token_file = \"t\"\nmanaged_identity = true", twice),
            ("federated_token_file = \" \"", "bad-value: `federated_token_file` is empty: it is the path of a file"),
            ("config_file = 7", "wrong-type: `7` is not text"),
            ("cloud = \"germany\"", "bad-value: `germany` is not one of `public`, `us-government`, `china`"),
            (
                "endpoint = \"http://arm.example.net\"",
                "bad-value: what `endpoint` names is not a URL that secrets may be sent to",
            ),
            (
                "endpoint = \"https://arm.example.net/v1\"",
                "bad-value: what `endpoint` names has a path: write `https://` and a host, and nothing behind it",
            ),
            ("authority = \"login\"", "bad-value: what `authority` names is not a URL that secrets may be sent to"),
        ] {
            assert_eq!(read(text), (None, vec![why.to_owned()]), "{text}");
        }
    }

    #[test]
    fn a_secret_in_the_place_of_an_id_is_not_shown() {
        let source = SourceText { file: Files::default().add("x.toml"), text: "client_id = \"hush\"".into() };
        let tree = toml::parse(&source);
        let mut reader = TableReader::new(&tree.root, &source);
        assert_eq!(EntraSettings::read(&mut reader), None);
        assert!(!format!("{:?}", reader.finish()).contains("hush"));
    }
}
