//! The clouds of Azure, with where each one is asked. Pure.

use crate::provider::url::{is_confidential, plain_url};

/// A cloud: an Azure with accounts of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AzureCloud {
    /// The one for all.
    Public,
    /// That of the government of the United States.
    UsGovernment,
    /// That in China.
    China,
}

impl AzureCloud {
    /// The clouds, each with its word in settings.
    pub const WORDS: [(&str, AzureCloud); 3] =
        [("public", AzureCloud::Public), ("us-government", AzureCloud::UsGovernment), ("china", AzureCloud::China)];

    /// The cloud by the name that Azure's own tools and external-dns use, in letters of any size; none where it is
    /// another.
    pub fn of_name(name: &str) -> Option<AzureCloud> {
        match name.to_ascii_uppercase().as_str() {
            "AZURECLOUD" | "AZUREPUBLICCLOUD" => Some(AzureCloud::Public),
            "AZUREUSGOVERNMENT" | "AZUREUSGOVERNMENTCLOUD" => Some(AzureCloud::UsGovernment),
            "AZURECHINACLOUD" => Some(AzureCloud::China),
            _ => None,
        }
    }

    /// The cloud whose Entra is at this URL.
    pub fn of_authority(url: &str) -> Option<AzureCloud> {
        AzureCloud::WORDS.iter().map(|(_, cloud)| *cloud).find(|cloud| cloud.authority() == url)
    }

    /// The URL of its Entra.
    pub const fn authority(self) -> &'static str {
        match self {
            AzureCloud::Public => "https://login.microsoftonline.com",
            AzureCloud::UsGovernment => "https://login.microsoftonline.us",
            AzureCloud::China => "https://login.chinacloudapi.cn",
        }
    }

    /// The URL of its Resource Manager, the API for all resources.
    pub const fn endpoint(self) -> &'static str {
        match self {
            AzureCloud::Public => "https://management.azure.com",
            AzureCloud::UsGovernment => "https://management.usgovcloudapi.net",
            AzureCloud::China => "https://management.chinacloudapi.cn",
        }
    }
}

impl From<AzureCloud> for AzureSite {
    fn from(cloud: AzureCloud) -> AzureSite {
        let endpoint = cloud.endpoint().to_owned();
        AzureSite { authority: cloud.authority().to_owned(), audience: endpoint.clone(), endpoint }
    }
}

/// Where a cloud is asked; the URLs are without a slash at their ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureSite {
    /// The URL of its Entra.
    pub authority: String,
    /// The URL of its Resource Manager.
    pub endpoint: String,
    /// What tokens for the Resource Manager are asked for: its URL, but for some private clouds.
    pub audience: String,
}

/// The URL of a service that gets a secret or a token; none where another machine could read them on their way.
pub fn confidential_url(text: &str) -> Option<String> {
    plain_url(text).filter(|url| is_confidential(url, |_| false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clouds_are_known_by_their_names() {
        for (name, cloud) in [
            ("AzurePublicCloud", Some(AzureCloud::Public)),
            ("AzureCloud", Some(AzureCloud::Public)),
            ("AZUREUSGOVERNMENTCLOUD", Some(AzureCloud::UsGovernment)),
            ("AzureUSGovernment", Some(AzureCloud::UsGovernment)),
            ("azurechinacloud", Some(AzureCloud::China)),
            ("AzureGermanCloud", None),
            ("", None),
        ] {
            assert_eq!(AzureCloud::of_name(name), cloud, "{name}");
        }
        for (_, cloud) in AzureCloud::WORDS {
            assert_eq!(AzureCloud::of_authority(cloud.authority()), Some(cloud));
            assert_eq!(confidential_url(cloud.endpoint()).as_deref(), Some(cloud.endpoint()));
        }
    }

    #[test]
    fn secrets_go_to_other_machines_by_tls_alone() {
        for (text, url) in [
            ("https://login.example.net/", Some("https://login.example.net")),
            ("http://127.0.0.1:8080/", Some("http://127.0.0.1:8080")),
            ("http://localhost", Some("http://localhost")),
            ("http://login.example.net", None),
            ("http://169.254.169.254", None),
            ("https://user@login.example.net", None),
            ("login.example.net", None),
        ] {
            assert_eq!(confidential_url(text).as_deref(), url, "{text}");
        }
    }
}
