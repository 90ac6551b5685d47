//! The `azure.json` that other tools share: the cluster's own agents, and external-dns.
//!
//! Source: external-dns, `provider/azure/config.go`, for the keys and what they mean.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cloud::{AzureCloud, AzureSite, confidential_url};
use super::source::no_credentials;
use super::token::EntraSecret;
use crate::diag::Problem;
use crate::provider::secret::{open_private, unreadable};
use crate::provider::surroundings::{ProcessSurroundings, read_text};

/// What is to be in the file.
const HINT: &str = "it holds JSON as external-dns reads it: `tenantId`, `aadClientId`, `aadClientSecret`, and more";

/// What is in the place of the ID and the secret of an application where a cluster uses its machines' identity.
const NO_APPLICATION: &str = "msi";

/// The name of a cloud that the file itself describes.
const OWN_CLOUD: &str = "AzureStackCloud";

/// What the file says; nothing of it is in any table of ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AzureConfig {
    /// What messages call the file.
    pub shown: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// The subscription.
    pub subscription: Option<String>,
    /// The resource group.
    pub resource_group: Option<String>,
    /// The client ID of an application.
    pub client: Option<String>,
    /// The secret of the application.
    pub secret: Option<EntraSecret>,
    /// Whether a token of the platform proves who asks.
    pub is_federated: bool,
    /// Whether the identity of the machine proves it.
    pub is_managed: bool,
    /// The client ID of the identity that is assigned to the machine.
    pub assigned: Option<String>,
    /// The cloud.
    pub site: Option<AzureSite>,
}

impl AzureConfig {
    /// Reads the file at this path.
    ///
    /// Errors: it cannot be read, it is of another form, or others can read a secret in it.
    pub fn load(path: &str, around: &ProcessSurroundings) -> Result<AzureConfig, Problem> {
        let file = around.in_home(path);
        let text = read_text(&file).map_err(|error| unreadable((path, HINT), &error))?;
        let config = AzureConfig::parse(&text, path)?;
        if config.secret.is_some() {
            open_private(&file, (path, HINT))?;
        }
        Ok(config)
    }

    /// Reads the text of a file; keys of other tools are left.
    ///
    /// Errors: it is of another form.
    fn parse(text: &str, shown: &str) -> Result<AzureConfig, Problem> {
        let malformed = |why: String| {
            Problem::new(shown, "secret-malformed", format!("`{shown}` cannot be used: {why}")).hint(HINT)
        };
        // What the library says of a fault may quote a secret, so that only its place is kept.
        let entries: BTreeMap<String, Value> = serde_json::from_str(text).map_err(|error| {
            malformed(format!("it is no JSON of keys: line {}, column {}", error.line(), error.column()))
        })?;
        // external-dns takes a key in letters of any size.
        let entries: BTreeMap<String, Value> =
            entries.into_iter().map(|(key, value)| (key.to_lowercase(), value)).collect();
        let text = |key: &str| match entries.get(&key.to_lowercase()) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Some(_) => Err(malformed(format!("`{key}` is not text"))),
        };
        let switch = |key: &str| match entries.get(&key.to_lowercase()) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(malformed(format!("`{key}` is not `true` or `false`"))),
        };
        let of_application = |key| Ok(text(key)?.filter(|value: &String| !value.eq_ignore_ascii_case(NO_APPLICATION)));
        let secret = of_application("aadClientSecret")?.map(|secret| {
            EntraSecret::parse(&secret).ok_or_else(|| malformed("`aadClientSecret` is not one word".to_owned()))
        });
        let site = match text("cloud")? {
            None => None,
            Some(name) if name.eq_ignore_ascii_case(OWN_CLOUD) => Some(own_site(shown, text)?),
            Some(name) => Some(AzureCloud::of_name(&name).map(AzureSite::from).ok_or_else(|| {
                let message = format!("`cloud` in `{shown}` is not the name of a cloud that is known");
                let names = "`AzurePublicCloud`, `AzureUSGovernmentCloud`, `AzureChinaCloud` or `AzureStackCloud`";
                no_credentials(shown, message).hint(format!("it is {names}"))
            })?),
        };
        Ok(AzureConfig {
            shown: shown.to_owned(),
            tenant: text("tenantId")?,
            subscription: text("subscriptionId")?,
            resource_group: text("resourceGroup")?,
            client: of_application("aadClientId")?,
            secret: secret.transpose()?,
            is_federated: switch("useWorkloadIdentityExtension")?,
            is_managed: switch("useManagedIdentityExtension")?,
            assigned: text("userAssignedIdentityID")?,
            site,
        })
    }
}

/// The cloud that a file describes.
///
/// Errors: a part is missing, or is no URL that secrets may be sent to.
fn own_site(shown: &str, text: impl Fn(&str) -> Result<Option<String>, Problem>) -> Result<AzureSite, Problem> {
    let url = |key: &str| {
        let url = text(key)?.as_deref().and_then(confidential_url);
        url.ok_or_else(|| {
            let message = format!("`{key}` in `{shown}`, which `{OWN_CLOUD}` needs, is no URL of `https://`");
            no_credentials(shown, message).hint("write it as the operator of that cloud gives it")
        })
    };
    let (authority, endpoint) = (url("activeDirectoryAuthorityHost")?, url("resourceManagerEndpoint")?);
    let audience = text("resourceManagerAudience")?.unwrap_or_else(|| endpoint.clone());
    Ok(AzureSite { authority, endpoint, audience })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::provider::surroundings::testing::process_around;

    /// What is wrong with a text.
    fn fault(text: &str) -> String {
        let problem = AzureConfig::parse(text, "azure.json").unwrap_err();
        format!("{}: {}", problem.code.as_str(), problem.message)
    }

    #[test]
    fn the_file_of_other_tools_is_read() {
        let text = r#"{"cloud": "AzureUSGovernmentCloud", "tenantId": "t", "subscriptionId": "s", "resourceGroup": "g",
            "location": "x", "aadClientId": "c", "aadClientSecret": "hush~1", "useManagedIdentityExtension": false,
            "useWorkloadIdentityExtension": true, "userAssignedIdentityID": "u", "vmType": {"more": [1]}}"#;
        let config = AzureConfig::parse(text, "azure.json").unwrap();
        let parts = [&config.tenant, &config.subscription, &config.resource_group, &config.client, &config.assigned];
        assert_eq!(parts.map(|part| part.as_deref().unwrap()), ["t", "s", "g", "c", "u"]);
        assert_eq!(config.secret.as_ref().unwrap().as_str(), "hush~1");
        assert_eq!((config.is_federated, config.is_managed), (true, false));
        assert_eq!(config.site, Some(AzureCloud::UsGovernment.into()));
        assert!(!format!("{config:?}").contains("hush"));
    }

    #[test]
    fn a_machine_s_identity_has_placeholders_for_an_application() {
        let text = r#"{"aadclientid": "msi", "AADClientSecret": "MSI", "useManagedIdentityExtension": true,
            "userAssignedIdentityID": "", "tenantId": null}"#;
        let config = AzureConfig::parse(text, "azure.json").unwrap();
        let managed = AzureConfig { shown: "azure.json".into(), is_managed: true, ..AzureConfig::default() };
        assert_eq!(config, managed);
    }

    #[test]
    fn a_private_cloud_describes_itself() {
        let text = r#"{"cloud": "AzureStackCloud", "activeDirectoryAuthorityHost": "https://login.example.net/",
            "resourceManagerEndpoint": "https://arm.example.net/", "resourceManagerAudience": "https://arm.test/1"}"#;
        let (authority, endpoint) = ("https://login.example.net".into(), "https://arm.example.net".into());
        let site = AzureSite { authority, endpoint, audience: "https://arm.test/1".into() };
        assert_eq!(AzureConfig::parse(text, "azure.json").unwrap().site, Some(site));
        let lacks = "no-credentials: `activeDirectoryAuthorityHost` in `azure.json`, which `AzureStackCloud` needs, is \
                     no URL of `https://`";
        assert_eq!(fault(r#"{"cloud": "AzureStackCloud"}"#), lacks);
    }

    #[test]
    fn what_is_of_another_form_is_refused_without_being_quoted() {
        let cannot = "secret-malformed: `azure.json` cannot be used: ";
        for (text, why) in [
            ("hush", "it is no JSON of keys: line 1, column 1"),
            ("[\"hush\"]", "it is no JSON of keys: line 1, column 0"),
            (r#"{"tenantId": 7}"#, "`tenantId` is not text"),
            (r#"{"aadClientSecret": "hush hush"}"#, "`aadClientSecret` is not one word"),
            (r#"{"useManagedIdentityExtension": "true"}"#, "`useManagedIdentityExtension` is not `true` or `false`"),
        ] {
            assert_eq!(fault(text), format!("{cannot}{why}"), "{text}");
        }
        let unknown = "no-credentials: `cloud` in `azure.json` is not the name of a cloud that is known";
        assert_eq!(fault(r#"{"cloud": "Moon"}"#), unknown);
    }

    #[test]
    fn a_file_with_a_secret_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("azure.json");
        let around = process_around(&[]);
        let load = |text: &str, mode: u32| {
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            AzureConfig::load(file.to_str().unwrap(), &around).map_err(|problem| problem.code.as_str().to_owned())
        };
        let secret = r#"{"aadClientSecret": "hush"}"#;
        assert!(load(secret, 0o600).is_ok());
        assert_eq!(load(secret, 0o644).unwrap_err(), "secret-exposed");
        assert!(load(r#"{"tenantId": "t", "aadClientSecret": "msi"}"#, 0o644).is_ok(), "there is no secret in it");
        let none = AzureConfig::load("/none/azure.json", &around).unwrap_err();
        assert_eq!(none.code.as_str(), "secret-unreadable");
    }
}
