//! Cluster-management services (CMS): who knows the load, the shards and the replicas of a cluster, and is asked before a host
//! is disturbed.

use std::time::Duration;

use super::node::SettingsNode;
use crate::diag::Origin;
use crate::document::words;

words! {
    /// A version of the protocol that a service speaks.
    CmsVersion {
        /// Knows `reboot` alone.
        V1_0 = "v1.0",
        /// Knows `prepare` and `deactivate`, too.
        V1_1 = "v1.1",
        /// As v1.1.
        V1_2 = "v1.2",
        /// As v1.2.
        V1_3 = "v1.3",
        /// Knows `temporary-unreachable`, too.
        V1_4 = "v1.4",
    }
}

words! {
    /// What a service is asked to allow.
    CmsAction {
        /// The host gets all its records.
        Prepare = "prepare",
        /// The host loses all its records, because it left.
        Deactivate = "deactivate",
        /// Clients may not reach the host for a while.
        TemporaryUnreachable = "temporary-unreachable",
        /// The same, for services that do not know that word.
        Reboot = "reboot",
    }
}

impl CmsVersion {
    /// The first version that knows an action.
    pub fn of_action(action: CmsAction) -> CmsVersion {
        match action {
            CmsAction::Reboot => CmsVersion::V1_0,
            CmsAction::Prepare | CmsAction::Deactivate => CmsVersion::V1_1,
            CmsAction::TemporaryUnreachable => CmsVersion::V1_4,
        }
    }

    /// The action as which this version is asked for one; none where it is not to be asked.
    pub fn asked_as(self, action: CmsAction) -> Option<CmsAction> {
        match action {
            action if CmsVersion::of_action(action) <= self => Some(action),
            CmsAction::TemporaryUnreachable => Some(CmsAction::Reboot),
            CmsAction::Prepare | CmsAction::Deactivate | CmsAction::Reboot => None,
        }
    }

    /// The actions that this version is asked for.
    pub fn actions(self) -> Vec<CmsAction> {
        let wanted = [CmsAction::Prepare, CmsAction::Deactivate, CmsAction::TemporaryUnreachable];
        wanted.into_iter().filter_map(|action| self.asked_as(action)).collect()
    }
}

/// `[cms.NAME]`: a service over HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct CmsService {
    /// Its name in the settings.
    pub name: String,
    /// Where its tasks are: below `URL/tasks/`. Without `/` at the end.
    pub url: String,
    /// The version of the protocol.
    pub version: CmsVersion,
    /// Where its bearer token is (RFC 6750 section 2.1).
    pub token: Option<SettingsNode>,
    /// How long one request may take.
    pub timeout: Duration,
    /// Its line.
    pub origin: Origin,
}

impl CmsService {
    /// What metrics call it: its URL without the scheme, in lower case; all but letters and digits is `_`.
    pub fn label(&self) -> String {
        let url = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest).to_lowercase();
        url.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_call_a_service_by_its_url() {
        let label = |url: &str| {
            let origin = Origin::line(crate::diag::Files::default().add("zonewright.toml"), 1);
            let (name, timeout) = ("search".to_owned(), Duration::from_secs(10));
            let service =
                CmsService { name, url: url.to_owned(), version: CmsVersion::V1_4, token: None, timeout, origin };
            service.label()
        };
        assert_eq!(label("https://CMS.example.net:8443/search-1/v2"), "cms_example_net_8443_search_1_v2");
        assert_eq!(label("http://[2001:db8::1]/a"), "_2001_db8__1__a");
        assert_eq!(label("http://a"), "a");
    }

    #[test]
    fn each_version_is_asked_for_what_it_knows() {
        let words =
            |version: CmsVersion| -> Vec<&str> { version.actions().into_iter().map(CmsAction::as_str).collect() };
        assert_eq!(words(CmsVersion::V1_0), ["reboot"]);
        for version in [CmsVersion::V1_1, CmsVersion::V1_2, CmsVersion::V1_3] {
            assert_eq!(words(version), ["prepare", "deactivate", "reboot"], "{version}");
        }
        assert_eq!(words(CmsVersion::V1_4), ["prepare", "deactivate", "temporary-unreachable"]);
        assert_eq!(CmsVersion::V1_0.asked_as(CmsAction::Prepare), None);
    }
}
