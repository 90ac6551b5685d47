//! DNS update records to pools of one target: what a record says, over which the table of zonewright.toml wins.

use super::config::pools;
use super::domain_filter::{DomainFilter, DomainSuffix};
use super::model::Config;
use super::node::{SettingsKey, SettingsNode, SettingsValue};
use super::pool::TargetSpec;
use super::update_record::{
    ParameterName, ParameterValue, RecordPool, RecordProvider, RecordSetting, RecordZone, UpdateRecord,
    UpdateRecordTerms,
};
use crate::diag::{Code, Origin};
use crate::dns::{Name, ZoneName};
use crate::registry::{MarkAffix, MarkForm, Marking, Registry};
use crate::target::{PoolName, TargetId};

/// What keeps a record from its pool.
#[derive(Debug, Clone)]
pub struct PoolFault {
    /// What kind of fault it is.
    pub code: Code,
    /// Where: in the file of the record, or in zonewright.toml.
    pub origin: Origin,
    /// How many characters are meant.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// The pool of a record.
#[derive(Debug)]
pub struct MadePool {
    /// The pool; none where something is wrong.
    pub pool: Option<RecordPool>,
    /// The same whatever is wrong, as far as it can be made: where the record publishes once it is right.
    pub place: Option<RecordPool>,
    /// What is wrong.
    pub faults: Vec<PoolFault>,
    /// The zones of which all names are hidden.
    pub hidden: Vec<RecordZone>,
}

/// The most records that a batch of Route 53 has next to the marker; the provider's own default is the same.
const MAX_BATCH: u64 = 998;

/// Makes the pool of a record that zonewright carries out.
pub fn pool_of(record: &UpdateRecord, terms: &UpdateRecordTerms, config: &Config) -> MadePool {
    let mut maker = PoolMaker { record, terms, faults: Vec::new(), entries: Vec::new(), hidden: Vec::new() };
    let pool = record.provider.and_then(|provider| maker.make(provider, config));
    let PoolMaker { faults, hidden, .. } = maker;
    MadePool { pool: pool.clone().filter(|_| faults.is_empty()), place: pool, faults, hidden }
}

/// A pool in the making.
struct PoolMaker<'a> {
    /// The record.
    record: &'a UpdateRecord,
    /// What the administrator says.
    terms: &'a UpdateRecordTerms,
    /// What is wrong.
    faults: Vec<PoolFault>,
    /// The settings of the target.
    entries: Vec<(SettingsKey, SettingsNode)>,
    /// The zones that the filter hides.
    hidden: Vec<RecordZone>,
}

impl PoolMaker<'_> {
    /// Makes the pool; none where its name, its mark or its zones cannot be.
    fn make(&mut self, provider: RecordProvider, config: &Config) -> Option<RecordPool> {
        let name: PoolName = self.record.name.parse().expect("the name of a record can be that of a pool");
        if config.pools.iter().any(|pool| pool.name == name) {
            let message = format!("`{name}` is the name of a pool of zonewright.toml");
            self.fault("duplicate-record", self.record_place(), message, "give the record another name");
        }
        let filter = self.filter();
        let zones = self.zones(provider, &filter);
        self.settings(provider);
        let entries = std::mem::take(&mut self.entries);
        let target = TargetSpec {
            id: TargetId { pool: name.clone(), name: name.as_str().to_owned() },
            provider: provider.target_type().to_owned(),
            settings: self.node(SettingsValue::Table(entries)),
            has_marks: false,
        };
        let marking = self.marking(provider, &config.marking);
        let target = TargetSpec { has_marks: marking.registry.mark_place().is_some(), ..target };
        let pool = pools::of_record(target, marking, self.terms.txt_key.clone());
        let is_dry_run = self.record.flag(ParameterName::DryRun) == Some(true);
        let makes_zones = provider == RecordProvider::CoreDns;
        let lists_zones = provider.lists_zones() && self.terms.zones.is_empty();
        Some(RecordPool { pool, zones, lists_zones, filter, policy: self.record.policy(), is_dry_run, makes_zones })
    }

    /// Notes what is wrong.
    fn fault(&mut self, code: impl Into<Code>, (origin, width): (Origin, usize), message: String, hint: &str) {
        self.faults.push(PoolFault { code: code.into(), origin, width, message, hint: hint.to_owned() });
    }

    /// The place of the record's name.
    fn record_place(&self) -> (Origin, usize) {
        (self.record.origin, self.record.width)
    }

    /// A node at the table of the administrator.
    fn node(&self, value: SettingsValue) -> SettingsNode {
        SettingsNode { origin: self.terms.target.origin, width: self.terms.target.width, value }
    }

    /// Which names are published.
    fn filter(&self) -> DomainFilter {
        let read = |name| self.record.texts(name).iter().filter_map(|text| DomainSuffix::parse(text).ok()).collect();
        DomainFilter { domains: read(ParameterName::DomainFilter), excluded: read(ParameterName::ExcludeDomains) }
    }

    /// The zones, without those that the filter hides.
    fn zones(&mut self, provider: RecordProvider, filter: &DomainFilter) -> Vec<RecordZone> {
        let terms = self.terms;
        let place = (terms.origin, terms.width);
        let stated = match provider {
            RecordProvider::Rfc2136 => self.stated_zones(ParameterName::Rfc2136Zone),
            RecordProvider::CoreDns if terms.zones.is_empty() => self.stated_zones(ParameterName::DomainFilter),
            _ => terms.zones.clone(),
        };
        if let (RecordProvider::Rfc2136, Some(zone)) = (provider, terms.zones.first()) {
            let message = "the zones of this record are those of its `rfc2136-zone`".to_owned();
            self.fault("bad-value", (zone.origin, zone.width), message, "remove `zones`");
        }
        let is_empty = stated.is_empty();
        let (hidden, shown): (Vec<_>, Vec<_>) =
            stated.into_iter().partition(|zone| filter.hides_zone(zone.name.as_name()));
        self.hidden = hidden;
        if is_empty && !provider.lists_zones() {
            let message = format!("the record `{}` has no zones: its provider does not list them", terms.name);
            self.fault("no-zone", place, message, "write them here, such as `zones = [\"example.net\"]`");
        } else if shown.is_empty() && !is_empty {
            let message =
                format!("`domain-filter` and `exclude-domains` hide all zones of the record `{}`", terms.name);
            self.fault("no-zone", place, message, "let a zone and the filter of the record meet");
        }
        shown
    }

    /// The zones that a parameter names, each once, without those below another one of a filter.
    fn stated_zones(&self, name: ParameterName) -> Vec<RecordZone> {
        let Some(setting) = self.record.setting(name) else { return Vec::new() };
        let names = self.record.texts(name).iter();
        let mut apexes: Vec<Name> =
            names.filter_map(|text| Name::parse(text.strip_prefix('.').unwrap_or(text)).ok()).collect();
        let all = apexes.clone();
        // A filter may name a domain and one below it; of etcd, the zone is the domain.
        let is_inner =
            |apex: &Name| all.iter().any(|other| other != apex && apex.as_name().is_at_or_below(other.as_name()));
        apexes.retain(|apex| name != ParameterName::DomainFilter || !is_inner(apex));
        let mut zones: Vec<RecordZone> = Vec::new();
        for apex in apexes {
            let zone = RecordZone { name: ZoneName::new(apex), origin: setting.origin, width: setting.width };
            if zones.iter().all(|other| other.name != zone.name) {
                zones.push(zone);
            }
        }
        zones
    }

    /// How own RRsets are known: as the record says, else as zonewright.toml does for all pools.
    fn marking(&self, provider: RecordProvider, of_all: &Marking) -> Marking {
        let record = self.record;
        let registry = match record.text(ParameterName::Registry) {
            Some("txt") => Registry::Txt,
            Some("noop") => Registry::Noop,
            Some(_) => Registry::Description,
            None => of_all.registry,
        };
        let registry = possible(provider, registry);
        let prefix = record.text(ParameterName::TxtPrefix).and_then(|text| MarkAffix::prefix(text).ok());
        let suffix = record.text(ParameterName::TxtSuffix).and_then(|text| MarkAffix::suffix(text).ok());
        let wildcard = record.text(ParameterName::TxtWildcardReplacement);
        let wildcard = wildcard.and_then(|text| MarkForm::wildcard(text).ok());
        let form = MarkForm {
            affix: prefix.or(suffix).or_else(|| of_all.form.affix.clone()),
            wildcard: wildcard.or_else(|| of_all.form.wildcard.clone()),
        };
        Marking { owner: self.owner(&of_all.owner), registry, form, key: None }
    }

    /// Who owns the records.
    fn owner(&self, of_all: &str) -> String {
        self.record.text(ParameterName::TxtOwnerId).unwrap_or(of_all).to_owned()
    }

    /// The settings of the target.
    fn settings(&mut self, provider: RecordProvider) {
        if let SettingsValue::Table(entries) = &self.terms.target.value {
            self.entries.extend(entries.iter().filter(|(key, _)| key.name != "tsig_key").cloned());
        }
        match provider {
            RecordProvider::Rfc2136 => self.name_server(),
            RecordProvider::CoreDns => self.etcd(),
            RecordProvider::Aws => {
                self.text("zone_type", ParameterName::AwsZoneType);
                self.list("zone_tags", ParameterName::AwsZoneTags);
                self.role();
                self.batches();
            }
            RecordProvider::AwsSd => {
                self.text("namespace_type", ParameterName::AwsZoneType);
                self.role();
            }
            RecordProvider::Azure | RecordProvider::AzurePrivate => self.azure(),
        }
        if provider.lists_zones() {
            self.list("zone_id_filter", ParameterName::ZoneIdFilter);
        }
        let kind = self.node(SettingsValue::Text(provider.target_type().to_owned()));
        self.set("type", kind);
    }

    /// Sets a key, unless the administrator did.
    fn set(&mut self, key: &'static str, node: SettingsNode) {
        if self.entries.iter().all(|(own, _)| own.name != key) {
            let key = SettingsKey { name: key.to_owned(), origin: node.origin, width: node.width };
            self.entries.push((key, node));
        }
    }

    /// Sets a key to a value that a parameter says.
    fn set_of(&mut self, key: &'static str, setting: &RecordSetting, value: SettingsValue) {
        self.set(key, SettingsNode { origin: setting.origin, width: setting.width, value });
    }

    /// Sets a key to the text of a parameter, where that says something.
    fn text(&mut self, key: &'static str, name: ParameterName) {
        let record = self.record;
        if let (Some(setting), Some(text)) = (record.setting(name), record.text(name)) {
            self.set_of(key, setting, SettingsValue::Text(text.to_owned()));
        }
    }

    /// Where a name server is, how it is read, and how messages to it are signed.
    fn name_server(&mut self) {
        let record = self.record;
        let hosts = record.setting(ParameterName::Rfc2136Host);
        match (hosts, record.texts(ParameterName::Rfc2136Host)) {
            (Some(setting), [host]) => {
                let port = record.number(ParameterName::Rfc2136Port).filter(|port| *port > 0);
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                let server = port.map_or(host.clone(), |port| format!("{host}:{port}"));
                self.set_of("server", setting, SettingsValue::Text(server));
            }
            _ if self.terms.target.get("server").is_some() => {}
            _ => {
                let message = format!("the record `{}` has no `rfc2136-host`", record.name);
                self.fault("no-endpoints", self.record_place(), message, "write the name server that takes updates");
            }
        }
        let axfr = record.setting(ParameterName::Rfc2136Axfr).or(record.setting(ParameterName::Rfc2136TsigAxfr));
        let is_axfr = axfr.is_some_and(|setting| setting.value == ParameterValue::Flag(true));
        let read = self.node(SettingsValue::Text(if is_axfr { "axfr" } else { "query" }.to_owned()));
        self.set("read", read);
        self.tsig_key();
    }

    /// The key of messages: its name and algorithm by the record, where the administrator says only the secret.
    fn tsig_key(&mut self) {
        let record = self.record;
        let hint = "write `tsig_key = { secret_file = \"FILE\" }` in the `[dns_update_record.NAME]` of zonewright.toml";
        let name = record.setting(ParameterName::Rfc2136TsigKeyname).filter(|setting| setting.value != empty());
        let Some(own) = self.terms.target.get("tsig_key") else {
            if let Some(setting) = name {
                let message = "the secret of the key that `rfc2136-tsig-keyname` names is not given".to_owned();
                self.fault("missing-key", (setting.origin, setting.width), message, hint);
            } else if record.flag(ParameterName::Rfc2136Insecure) != Some(true) {
                let message = format!("nothing says how updates of the record `{}` are signed", record.name);
                self.fault(
                    "missing-key",
                    self.record_place(),
                    message,
                    "name a key, or write `rfc2136-insecure: true`",
                );
            }
            return;
        };
        let mut node = own.clone();
        if let SettingsValue::Table(entries) = &mut node.value {
            for (key, parameter) in
                [("name", ParameterName::Rfc2136TsigKeyname), ("algorithm", ParameterName::Rfc2136TsigSecretAlg)]
            {
                let is_said = entries.iter().any(|(own, _)| own.name == key);
                let setting = record.setting(parameter).filter(|setting| !is_said && setting.value != empty());
                if let Some(RecordSetting { value, origin, width, .. }) = setting {
                    let value = SettingsValue::Text(value.canonical());
                    let key = SettingsKey { name: key.to_owned(), origin: *origin, width: *width };
                    entries.push((key, SettingsNode { origin: *origin, width: *width, value }));
                }
            }
        }
        self.set("tsig_key", node);
    }

    /// The keys and the files of an etcd.
    fn etcd(&mut self) {
        let record = self.record;
        if self.terms.target.get("endpoints").is_none() {
            let message = format!("nothing says where the etcd of the record `{}` is", record.name);
            let hint = "write `endpoints = [\"http://127.0.0.1:2379\"]` with the URLs of its members here";
            self.fault("no-endpoints", (self.terms.origin, self.terms.width), message, hint);
        }
        self.text("prefix", ParameterName::CorednsPrefix);
        self.text("ca_file", ParameterName::TlsCa);
        self.text("cert_file", ParameterName::TlsClientCert);
        self.text("key_file", ParameterName::TlsClientCertKey);
        if record.flag(ParameterName::CorednsStrictlyOwned) != Some(false) {
            self.text("owner", ParameterName::TxtOwnerId);
        }
    }

    /// Sets a key to the list of a parameter, where that says something.
    fn list(&mut self, key: &'static str, name: ParameterName) {
        let record = self.record;
        let texts = record.texts(name);
        if let (Some(setting), false) = (record.setting(name), texts.is_empty()) {
            let RecordSetting { origin, width, .. } = *setting;
            let item = |text: &String| SettingsNode { origin, width, value: SettingsValue::Text(text.clone()) };
            self.set_of(key, setting, SettingsValue::List(texts.iter().map(item).collect()));
        }
    }

    /// The role that is taken.
    fn role(&mut self) {
        self.text("assume_role", ParameterName::AwsAssumeRole);
        self.text("external_id", ParameterName::AwsAssumeRoleExternalId);
    }

    /// How large batches are: the least that is said, and never more than the service takes.
    fn batches(&mut self) {
        let record = self.record;
        let names = [ParameterName::AwsBatchChangeSize, ParameterName::AwsBatchChangeSizeValues];
        let sizes = names.into_iter().filter_map(|name| Some((record.setting(name)?, record.number(name)?)));
        if let Some((setting, size)) = sizes.min_by_key(|(_, size)| *size).filter(|(_, size)| *size < MAX_BATCH) {
            let size = i64::try_from(size).expect("the size is less than the most");
            self.set_of("batch_records", setting, SettingsValue::Integer(size));
        }
    }

    /// Where zones of Azure are, and who asks.
    fn azure(&mut self) {
        self.text("config_file", ParameterName::AzureConfigFile);
        self.text("resource_group", ParameterName::AzureResourceGroup);
        self.text("subscription_id", ParameterName::AzureSubscriptionId);
        let record = self.record;
        let identity = ParameterName::AzureUserAssignedIdentityClientId;
        let is_said = ["client_id", "client_secret", "federated_token_file", "managed_identity"]
            .iter()
            .any(|key| self.terms.target.get(key).is_some());
        if let (Some(setting), Some(id), false) = (record.setting(identity), record.text(identity), is_said) {
            self.set_of("client_id", setting, SettingsValue::Text(id.to_owned()));
            self.set_of("managed_identity", setting, SettingsValue::Bool(true));
        }
    }
}

/// A text that says nothing.
fn empty() -> ParameterValue {
    ParameterValue::Text(String::new())
}

/// How own RRsets are known at the targets of a provider. Keys of etcd and services of Cloud Map have their owner with them, and need
/// no TXT.
fn possible(provider: RecordProvider, registry: Registry) -> Registry {
    match (provider, registry) {
        (_, Registry::Noop) => Registry::Noop,
        (RecordProvider::AwsSd | RecordProvider::CoreDns, Registry::Journal) => Registry::Journal,
        (RecordProvider::CoreDns, _) => Registry::Owner,
        (RecordProvider::AwsSd, _) => Registry::Description,
        (RecordProvider::Azure | RecordProvider::AzurePrivate, Registry::Metadata) => Registry::Metadata,
        (_, Registry::Metadata | Registry::Description | Registry::Owner) => Registry::Txt,
        (_, registry) => registry,
    }
}
