//! Which namespace of an account a zone is.

use std::sync::Mutex;

use super::client::CloudMapClient;
use super::document::{self, CloudMapNamespace};
use super::settings::{IDS, NamespaceChoice};
use crate::dns::ZoneName;
use crate::parallel::HELD;
use crate::provider::aws::{AwsFault, ZoneWords, the_one};
use crate::provider::id_ends;

/// The setting that leaves out namespaces of another type.
const TYPE: &str = "namespace_type";

/// What messages say of namespaces.
const WORDS: ZoneWords = ZoneWords {
    one: "namespace",
    left_out: "correct this setting of the target",
    several: "say which one: `namespace_type`, or `namespace_ids = { \"NAME\" = \"ID\" }`",
};

/// The namespaces of an account, as they were listed once.
#[derive(Default)]
pub struct NamespaceList {
    /// All of them, where they were listed.
    listed: Mutex<Option<Vec<CloudMapNamespace>>>,
}

impl NamespaceList {
    /// All namespaces that are meant.
    ///
    /// Errors: they cannot be listed.
    pub fn all(&self, client: &CloudMapClient, choice: &NamespaceChoice) -> Result<Vec<CloudMapNamespace>, AwsFault> {
        let mut all = self.list(client)?;
        all.retain(|own| is_of_type(own, choice) && choice.ends.show(&own.id));
        Ok(all)
    }

    /// All namespaces of the account.
    fn list(&self, client: &CloudMapClient) -> Result<Vec<CloudMapNamespace>, AwsFault> {
        let mut listed = self.listed.lock().expect(HELD);
        if let Some(namespaces) = &*listed {
            return Ok(namespaces.clone());
        }
        let mut all = Vec::new();
        client.each_page("ListNamespaces", document::list_namespaces, document::read_namespaces, |page, _| {
            all.extend(page);
            Ok(())
        })?;
        Ok(listed.insert(all).clone())
    }

    /// The namespace of a name; none where the account has none.
    ///
    /// Errors: they cannot be listed; several have the name; settings leave all of them out.
    pub fn find(
        &self,
        client: &CloudMapClient,
        choice: &NamespaceChoice,
        zone: &ZoneName,
    ) -> Result<Option<CloudMapNamespace>, AwsFault> {
        let mut listed = self.list(client)?;
        listed.retain(|own| own.name.as_name() == zone.as_name());
        let id = choice.ids.get(&zone.as_name().to_name());
        let left_out = |own: &CloudMapNamespace| match id {
            _ if !is_of_type(own, choice) => Some(TYPE),
            Some(id) if *id != own.id => Some(IDS.key),
            _ if !choice.ends.show(&own.id) => Some(id_ends::KEY),
            _ => None,
        };
        let judge = |own: CloudMapNamespace| {
            let left_out = left_out(&own);
            (own, left_out)
        };
        the_one(listed.into_iter().map(judge).collect(), |own| (&own.id, own.is_private), &WORDS)
    }
}

/// Whether a namespace is of the type that is meant.
fn is_of_type(own: &CloudMapNamespace, choice: &NamespaceChoice) -> bool {
    choice.is_private.is_none_or(|is_private| own.is_private == is_private)
}
