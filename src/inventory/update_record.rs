//! DNS update records: what files say of them, and what zonewright.toml adds.
//!
//! A record names one DNS provider with the parameters of external-dns. What it gives is a pool of one target, which no
//! host, pod or manifest sees.

use super::domain_filter::DomainFilter;
use super::node::SettingsNode;
pub use super::parameter_name::ParameterName;
use super::policy::Policy;
use super::pool::Pool;
use super::trust::Trust;
use crate::diag::{Code, Origin, Problem};
use crate::dns::ZoneName;
use crate::document::words;
use crate::target::PoolName;

words! {
    /// What a record publishes to, in the word of its file; `azure-dns` is another word for `azure`.
    RecordProvider {
        /// Amazon Route 53.
        Aws = "aws",
        /// AWS Cloud Map.
        AwsSd = "aws-sd",
        /// Public zones of Azure.
        Azure = "azure",
        /// Private zones of Azure.
        AzurePrivate = "azure-private-dns",
        /// An etcd from which CoreDNS serves.
        CoreDns = "coredns",
        /// A name server that takes DNS UPDATE.
        Rfc2136 = "rfc2136",
    }
}

/// The word that external-dns has for `azure`, too.
const AZURE_DNS: &str = "azure-dns";

impl RecordProvider {
    /// The provider of a word.
    pub fn of_word(word: &str) -> Option<RecordProvider> {
        if word == AZURE_DNS { Some(RecordProvider::Azure) } else { RecordProvider::parse(word) }
    }

    /// All words that name a provider.
    pub fn all_words() -> impl Iterator<Item = &'static str> {
        RecordProvider::ALL.iter().map(|provider| provider.as_str()).chain([AZURE_DNS])
    }

    /// Whether it says which zones there are: those of an account.
    pub fn lists_zones(self) -> bool {
        match self {
            RecordProvider::Aws | RecordProvider::AwsSd | RecordProvider::Azure | RecordProvider::AzurePrivate => true,
            RecordProvider::CoreDns | RecordProvider::Rfc2136 => false,
        }
    }

    /// The `type` of its target.
    pub fn target_type(self) -> &'static str {
        match self {
            RecordProvider::Aws => "route53",
            RecordProvider::AwsSd => "cloudmap",
            RecordProvider::Azure => "azure",
            RecordProvider::AzurePrivate => "azure-private",
            RecordProvider::CoreDns => "etcd",
            RecordProvider::Rfc2136 => "rfc2136",
        }
    }
}

/// The DNS update records of a workspace.
#[derive(Debug, Clone)]
pub struct UpdateRecords {
    /// The records, sorted by name, then place; those that have one name have a problem each.
    pub records: Vec<UpdateRecord>,
    /// Whether all files could be found and read.
    pub trust: Trust,
    /// Whether some files or documents could not be read, so that there may be more records.
    pub has_unread: bool,
    /// The records whose targets do not say which zones they have, by name, and why.
    pub unlisted: Vec<(String, Problem)>,
}

impl Default for UpdateRecords {
    /// No records, of which all is known: no file is configured.
    fn default() -> UpdateRecords {
        UpdateRecords { records: Vec::new(), trust: Trust::Known, has_unread: false, unlisted: Vec::new() }
    }
}

impl UpdateRecords {
    /// The record that a pool is of.
    pub fn of_pool(&self, pool: &PoolName) -> Option<&UpdateRecord> {
        self.find(pool.as_str()).filter(|record| record.pool.is_some())
    }

    /// Why the target of a record does not say which zones it has; none where it does.
    pub fn unlisted_zones(&self, name: &str) -> Option<&Problem> {
        self.unlisted.iter().find(|(record, _)| record == name).map(|(_, problem)| problem)
    }

    /// The record of a name; of several, the first.
    pub fn find(&self, name: &str) -> Option<&UpdateRecord> {
        let place = self.records.partition_point(|record| record.name.as_str() < name);
        self.records.get(place).filter(|record| record.name == name)
    }
}

/// One DNS update record.
#[derive(Debug, Clone)]
pub struct UpdateRecord {
    /// Its name: a label of DNS in lower case.
    pub name: String,
    /// Where the name is written.
    pub origin: Origin,
    /// How many characters it takes there.
    pub width: usize,
    /// What people note about it.
    pub notes: RecordNotes,
    /// What it publishes to; none where that is wrong.
    pub provider: Option<RecordProvider>,
    /// The parameters that count, in the order of the file.
    pub settings: Vec<RecordSetting>,
    /// The parameters that have no effect, in the order of the file.
    pub without_effect: Vec<RecordRemark>,
    /// What is wrong with it; a record that has any is not carried out, and blocks its endpoints.
    pub problems: Vec<RecordProblem>,
    /// `[dns_update_record.NAME]`; none where there is none.
    pub terms: Option<UpdateRecordTerms>,
    /// Where zonewright publishes it; none where it does not, or something is wrong.
    pub pool: Option<RecordPool>,
    /// Where zonewright publishes it once it is right, as far as that is known; none where it does not. What is there stays its own.
    pub place: Option<RecordPool>,
}

/// Whether and by what a record is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordStanding {
    /// Something is wrong with it.
    Bad,
    /// zonewright.toml has no table for it.
    SwitchedOff,
    /// external-dns carries it out.
    ExternalDns,
    /// zonewright carries it out, in the pool that it has.
    Zonewright,
}

impl UpdateRecord {
    /// Whether and by what it is carried out.
    pub fn standing(&self) -> RecordStanding {
        match &self.terms {
            _ if !self.problems.is_empty() => RecordStanding::Bad,
            None => RecordStanding::SwitchedOff,
            Some(terms) if terms.by == RecordRunner::ExternalDns => RecordStanding::ExternalDns,
            Some(_) => RecordStanding::Zonewright,
        }
    }

    /// A parameter that counts.
    pub fn setting(&self, name: ParameterName) -> Option<&RecordSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }

    /// A text; none where it is not given or empty.
    pub fn text(&self, name: ParameterName) -> Option<&str> {
        match self.setting(name).map(|setting| &setting.value) {
            Some(ParameterValue::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A list of texts; empty where it is not given.
    pub fn texts(&self, name: ParameterName) -> &[String] {
        match self.setting(name).map(|setting| &setting.value) {
            Some(ParameterValue::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// A switch; none where it is not given.
    pub fn flag(&self, name: ParameterName) -> Option<bool> {
        match self.setting(name).map(|setting| &setting.value) {
            Some(ParameterValue::Flag(is_on)) => Some(*is_on),
            _ => None,
        }
    }

    /// A number; none where it is not given.
    pub fn number(&self, name: ParameterName) -> Option<u64> {
        match self.setting(name).map(|setting| &setting.value) {
            Some(ParameterValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// What may be done to its records. Where nothing says, all that external-dns does by the design of the format.
    pub fn policy(&self) -> Policy {
        match self.text(ParameterName::Policy) {
            Some("create-only") => Policy::CreateOnly,
            Some("upsert-only") => Policy::UpsertOnly,
            _ => Policy::Sync,
        }
    }
}

/// What people note about a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordNotes {
    /// `description`.
    pub description: Option<String>,
    /// `userdata1`.
    pub userdata1: Option<String>,
    /// `userdata2`.
    pub userdata2: Option<String>,
}

/// A parameter that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSetting {
    /// Which.
    pub name: ParameterName,
    /// Its value.
    pub value: ParameterValue,
    /// Where the value is written.
    pub origin: Origin,
    /// How many characters it takes there.
    pub width: usize,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterValue {
    /// A switch.
    Flag(bool),
    /// A number.
    Number(u64),
    /// A time, in milliseconds.
    Milliseconds(u64),
    /// A text; perhaps empty, which says nothing.
    Text(String),
    /// Texts, in the order of the file, none of them empty; perhaps none.
    Texts(Vec<String>),
}

impl ParameterValue {
    /// The value in one spelling: a list with commas, a time in milliseconds.
    pub fn canonical(&self) -> String {
        match self {
            ParameterValue::Flag(is_on) => is_on.to_string(),
            ParameterValue::Number(number) | ParameterValue::Milliseconds(number) => number.to_string(),
            ParameterValue::Text(text) => text.clone(),
            ParameterValue::Texts(texts) => texts.join(","),
        }
    }
}

/// A parameter that has no effect.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordRemark {
    /// Which.
    pub name: ParameterName,
    /// Its value.
    pub value: ParameterValue,
    /// Why it has none.
    pub why: &'static str,
    /// Where the value is written.
    pub origin: Origin,
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordProblem {
    /// What kind of fault it is.
    pub code: Code,
    /// What is wrong, without secrets.
    pub message: String,
    /// Where.
    pub origin: Origin,
}

/// What carries a record out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordRunner {
    /// zonewright itself.
    Zonewright,
    /// external-dns, by what `render` writes.
    ExternalDns,
}

/// `[dns_update_record.NAME]`: what only the administrator may say about a record.
#[derive(Debug, Clone)]
pub struct UpdateRecordTerms {
    /// The name of the record.
    pub name: String,
    /// The project whose switches, limits and domains hold.
    pub project: String,
    /// What carries it out.
    pub by: RecordRunner,
    /// The namespace of the Deployment, where external-dns carries it out.
    pub namespace: String,
    /// The zones, where neither the record nor its target says them.
    pub zones: Vec<RecordZone>,
    /// The other keys, a table: settings of the target.
    pub target: SettingsNode,
    /// Where the key of encrypted TXT is.
    pub txt_key: Option<SettingsNode>,
    /// Where the name is written.
    pub origin: Origin,
    /// How many characters it takes there.
    pub width: usize,
}

/// A zone that a list names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordZone {
    /// Its name.
    pub name: ZoneName,
    /// Where it is written.
    pub origin: Origin,
    /// How many characters it takes there.
    pub width: usize,
}

/// Where zonewright publishes a record: a pool of one target, which other claims do not see.
#[derive(Debug, Clone)]
pub struct RecordPool {
    /// The pool, named after the record.
    pub pool: Pool,
    /// The zones that files name, each once, without those that the filter hides.
    pub zones: Vec<RecordZone>,
    /// Whether no file names its zones, so that its target lists them.
    pub lists_zones: bool,
    /// Which names are published.
    pub filter: DomainFilter,
    /// What may be done to records.
    pub policy: Policy,
    /// Whether it is planned and never applied.
    pub is_dry_run: bool,
    /// Whether a zone without any record is made: at an etcd it has no other sign than its records.
    pub makes_zones: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_found_by_their_words() {
        assert_eq!(RecordProvider::of_word("azure-dns"), Some(RecordProvider::Azure));
        assert_eq!(RecordProvider::all_words().count(), 7);
        assert!(RecordProvider::all_words().all(|word| RecordProvider::of_word(word).is_some()));
        assert_eq!(RecordProvider::of_word("google"), None);
    }
}
