//! Which namespace of an account a zone is.

use std::sync::Mutex;

use super::client::CloudMapClient;
use super::document::{self, CloudMapNamespace};
use super::settings::NamespaceChoice;
use crate::dns::ZoneName;
use crate::parallel::HELD;
use crate::provider::aws::{AwsFault, AwsFaultKind};

/// The namespaces of an account, as they were listed once.
#[derive(Default)]
pub struct NamespaceList {
    /// Those that are meant, where they were listed.
    listed: Mutex<Option<Vec<CloudMapNamespace>>>,
}

impl NamespaceList {
    /// All namespaces that are meant.
    ///
    /// Errors: they cannot be listed.
    pub fn all(&self, client: &CloudMapClient, choice: &NamespaceChoice) -> Result<Vec<CloudMapNamespace>, AwsFault> {
        let mut listed = self.listed.lock().expect(HELD);
        if let Some(namespaces) = &*listed {
            return Ok(namespaces.clone());
        }
        let mut all = Vec::new();
        client.each_page("ListNamespaces", document::list_namespaces, document::read_namespaces, |page, _| {
            all.extend(page);
            Ok(())
        })?;
        all.retain(|own| choice.is_private.is_none_or(|is_private| own.is_private == is_private));
        Ok(listed.insert(all).clone())
    }

    /// The namespace of a name; none where the account has none that is meant.
    ///
    /// Errors: they cannot be listed; several have the name.
    pub fn find(
        &self,
        client: &CloudMapClient,
        choice: &NamespaceChoice,
        zone: &ZoneName,
    ) -> Result<Option<CloudMapNamespace>, AwsFault> {
        let mut found = self.all(client, choice)?;
        found.retain(|own| own.name.as_name() == zone.as_name());
        if let Some(id) = choice.ids.get(&zone.as_name().to_name()) {
            let own = found.into_iter().find(|own| own.id == *id);
            return own.map(Some).ok_or_else(|| {
                unclear(
                    format!("the account has no namespace of this name with the id `{id}`"),
                    "compare `namespace_ids` and `namespace_type` with the list of namespaces",
                )
            });
        }
        if found.len() > 1 {
            let kind = |own: &CloudMapNamespace| if own.is_private { "private" } else { "public" };
            let all: Vec<String> = found.iter().map(|own| format!("{} ({})", own.id, kind(own))).collect();
            return Err(unclear(
                format!("{} namespaces have this name: {}", found.len(), all.join(", ")),
                "say which one: `namespace_type`, or `namespace_ids = { \"NAME\" = \"ID\" }`",
            ));
        }
        Ok(found.pop())
    }
}

/// The fault of a zone of which it is not clear what it is.
fn unclear(message: String, hint: &str) -> AwsFault {
    AwsFault::new(AwsFaultKind::Refused, "zone-not-served", message, hint)
}
