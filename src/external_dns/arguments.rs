//! A DNS update record to the arguments of external-dns, and to what it takes from variables and files.
//!
//! Parameters go over as they are, those too that have no effect with zonewright. What the administrator says wins over them.
//! Secrets are named, never written.
//!
//! Source: external-dns v0.22, docs/flags.md, provider/coredns/coredns.go and pkg/tlsutils.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Code, Origin};
use crate::dns::Rtype;
use crate::inventory::model::Config;
use crate::inventory::node::{SettingsNode, SettingsValue};
use crate::inventory::sources::update_records::parameters::ParameterRow;
use crate::inventory::update_record::{ParameterName, ParameterValue, RecordProvider, UpdateRecord, UpdateRecordTerms};
use crate::registry::{MarkAffix, Registry};

/// What one external-dns is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramArguments {
    /// The arguments by the names of their flags, without those that say what it publishes.
    pub flags: BTreeMap<&'static str, FlagValue>,
    /// The variables, by their names.
    pub variables: BTreeMap<&'static str, VariableValue>,
    /// The files that the secret holds: the key in it, and the path that external-dns reads.
    pub files: BTreeMap<&'static str, String>,
    /// What of the record, or of the administrator's table, external-dns has no argument for.
    pub unused: Vec<UnusedSetting>,
}

/// The value of a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagValue {
    /// It is on or off.
    Switch(bool),
    /// It is given once with each of these.
    Texts(Vec<String>),
}

/// Where a variable comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableValue {
    /// It is written down.
    Text(String),
    /// It is a key of the record's secret.
    Secret {
        /// The key.
        key: &'static str,
        /// Whether external-dns starts without it.
        is_optional: bool,
    },
}

/// Something that external-dns has no argument for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedSetting {
    /// Where it is written.
    pub origin: Origin,
    /// What it is, and why.
    pub message: String,
}

/// Why a record cannot be carried out by external-dns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The code.
    pub code: Code,
    /// Where.
    pub origin: Origin,
    /// What is wrong.
    pub message: String,
}

/// The types that external-dns manages where no argument says.
pub const DEFAULT_TYPES: [Rtype; 3] = [Rtype::A, Rtype::AAAA, Rtype::CNAME];

/// The port of name servers (RFC 1035 section 4.2); external-dns would take 0.
const DNS_PORT: u16 = 53;

/// The algorithm of a key of which nothing says another; external-dns has no default that works.
const ALGORITHM: &str = "hmac-sha256";

/// The file of Azure's settings where nothing says another, as external-dns has it.
const AZURE_FILE: &str = "/etc/kubernetes/azure.json";

/// Where files are in the container whose paths cannot be used there.
const FILES: &str = "/etc/external-dns";

/// The keys of an administrator's table that say the same as a parameter.
const AS_PARAMETERS: [(&str, ParameterName); 14] = [
    ("assume_role", ParameterName::AwsAssumeRole),
    ("batch_records", ParameterName::AwsBatchChangeSize),
    ("ca_file", ParameterName::TlsCa),
    ("cert_file", ParameterName::TlsClientCert),
    ("config_file", ParameterName::AzureConfigFile),
    ("external_id", ParameterName::AwsAssumeRoleExternalId),
    ("key_file", ParameterName::TlsClientCertKey),
    ("namespace_type", ParameterName::AwsZoneType),
    ("prefix", ParameterName::CorednsPrefix),
    ("resource_group", ParameterName::AzureResourceGroup),
    ("subscription_id", ParameterName::AzureSubscriptionId),
    ("zone_id_filter", ParameterName::ZoneIdFilter),
    ("zone_tags", ParameterName::AwsZoneTags),
    ("zone_type", ParameterName::AwsZoneType),
];

/// The files of TLS: the parameter, and the variable that an etcd's client takes them from.
const TLS_FILES: [(ParameterName, &str); 3] = [
    (ParameterName::TlsCa, "ETCD_CA_FILE"),
    (ParameterName::TlsClientCert, "ETCD_CERT_FILE"),
    (ParameterName::TlsClientCertKey, "ETCD_KEY_FILE"),
];

/// The arguments of a record that has no problems.
///
/// Errors: what external-dns could not start without.
pub fn arguments(
    record: &UpdateRecord,
    terms: &UpdateRecordTerms,
    config: &Config,
) -> Result<ProgramArguments, ArgumentFault> {
    let provider = record.provider.expect("a record without problems has a provider");
    let mut maker = ArgumentMaker {
        record,
        terms,
        provider,
        values: BTreeMap::new(),
        taken: BTreeSet::new(),
        made: ProgramArguments {
            flags: BTreeMap::new(),
            variables: BTreeMap::new(),
            files: BTreeMap::new(),
            unused: Vec::new(),
        },
    };
    maker.take_parameters();
    maker.take_table()?;
    maker.registry(config)?;
    match provider {
        RecordProvider::Rfc2136 => maker.name_server()?,
        RecordProvider::CoreDns => maker.etcd()?,
        RecordProvider::Aws | RecordProvider::AwsSd => maker.aws()?,
        RecordProvider::Azure | RecordProvider::AzurePrivate => maker.azure(),
    }
    maker.zones();
    Ok(maker.finish())
}

/// Makes the arguments of a record.
struct ArgumentMaker<'a> {
    /// The record.
    record: &'a UpdateRecord,
    /// What the administrator says.
    terms: &'a UpdateRecordTerms,
    /// What it publishes to.
    provider: RecordProvider,
    /// The parameters so far.
    values: BTreeMap<ParameterName, FlagValue>,
    /// The keys of the administrator's table that arguments say.
    taken: BTreeSet<&'static str>,
    /// What was made so far.
    made: ProgramArguments,
}

impl<'a> ArgumentMaker<'a> {
    /// Takes the parameters of the record over.
    fn take_parameters(&mut self) {
        let record = self.record;
        let counted = record.settings.iter().map(|setting| (setting.name, &setting.value, setting.origin));
        let others = record.without_effect.iter().map(|remark| (remark.name, &remark.value, remark.origin));
        for (name, value, origin) in counted.chain(others) {
            let name = match name {
                // `spec.provider` says the first; external-dns no longer has the second.
                ParameterName::Provider | ParameterName::ContourLoadBalancer => continue,
                ParameterName::Rfc2136TsigAxfr => ParameterName::Rfc2136Axfr,
                name => name,
            };
            if name == ParameterName::Once && *value == ParameterValue::Flag(true) {
                let message = "`once` is left out: a Deployment would start external-dns again and again".to_owned();
                self.made.unused.push(UnusedSetting { origin, message });
                continue;
            }
            if let Some(value) = flag_value(value) {
                self.values.insert(name, value);
            }
        }
    }

    /// Takes over what the administrator says in the place of parameters.
    ///
    /// Errors: what no argument can say.
    fn take_table(&mut self) -> Result<(), ArgumentFault> {
        for (key, name) in AS_PARAMETERS {
            let is_own = ParameterRow::find(name, self.provider).is_some();
            if let Some(node) = self.terms.target.get(key).filter(|_| is_own) {
                let texts = texts_of(node);
                if texts.is_empty() {
                    let message = format!("`{key}` says nothing that external-dns could take");
                    return Err(unusable(node.origin, message));
                }
                self.taken.insert(key);
                self.values.insert(name, FlagValue::Texts(texts));
            }
        }
        Ok(())
    }

    /// The text of a parameter so far, where it says something.
    fn text(&self, name: ParameterName) -> Option<&str> {
        match self.values.get(&name) {
            Some(FlagValue::Texts(texts)) => texts.first().map(String::as_str).filter(|text| !text.is_empty()),
            _ => None,
        }
    }

    /// Sets a parameter to one text.
    fn set(&mut self, name: ParameterName, text: impl Into<String>) {
        self.values.insert(name, FlagValue::Texts(vec![text.into()]));
    }

    /// The node of a key of the administrator's table that arguments say.
    fn table(&mut self, key: &'static str) -> Option<&'a SettingsNode> {
        let node = self.terms.target.get(key)?;
        self.taken.insert(key);
        Some(node)
    }

    /// The text of a key of the administrator's table that arguments say.
    ///
    /// Errors: it is no text.
    fn table_text(&mut self, key: &'static str) -> Result<Option<&'a str>, ArgumentFault> {
        self.table(key).map(|node| text_of(node, key)).transpose()
    }

    /// A fault of the record.
    fn fault(&self, code: &'static str, message: String) -> ArgumentFault {
        ArgumentFault { code: code.into(), origin: self.record.origin, message }
    }

    /// Sets whose records are: what the record does not say is as in zonewright.toml, so that each may take over from the
    /// other.
    fn registry(&mut self, config: &Config) -> Result<(), ArgumentFault> {
        let policy = self.record.policy();
        self.set(ParameterName::Policy, policy.as_str());
        if self.text(ParameterName::Registry).is_none() {
            let registry = match (self.provider, config.marking.registry) {
                (_, Registry::Noop) if policy.as_str() == "sync" => {
                    let message = format!(
                        "zonewright.toml has `registry = \"noop\"`, with which external-dns would delete all records that \
                         nothing states: the record `{}` has `policy: sync`, and no `registry`",
                        self.record.name
                    );
                    return Err(self.fault("sync-without-registry", message));
                }
                (_, Registry::Noop) => "noop",
                (RecordProvider::AwsSd, _) => "aws-sd",
                _ => "txt",
            };
            self.set(ParameterName::Registry, registry);
        }
        if self.text(ParameterName::TxtOwnerId).is_none() {
            self.set(ParameterName::TxtOwnerId, config.marking.owner.as_str());
        }
        let form = &config.marking.form;
        let is_said =
            [ParameterName::TxtPrefix, ParameterName::TxtSuffix].into_iter().any(|name| self.text(name).is_some());
        match &form.affix {
            Some(MarkAffix::Prefix(prefix)) if !is_said => self.set(ParameterName::TxtPrefix, prefix.as_str()),
            Some(MarkAffix::Suffix(suffix)) if !is_said => self.set(ParameterName::TxtSuffix, suffix.as_str()),
            _ => {}
        }
        if let (None, Some(label)) = (self.text(ParameterName::TxtWildcardReplacement), &form.wildcard) {
            self.set(ParameterName::TxtWildcardReplacement, label.as_str());
        }
        Ok(())
    }

    /// Where a name server is, how it is read, and how messages to it are signed.
    fn name_server(&mut self) -> Result<(), ArgumentFault> {
        if let Some(servers) = self.table("server") {
            self.servers(servers)?;
        }
        if self.text(ParameterName::Rfc2136Host).is_none() {
            return Err(self.fault("no-endpoints", format!("the record `{}` has no `rfc2136-host`", self.record.name)));
        }
        if self.text(ParameterName::Rfc2136Port).is_none_or(|port| port == "0") {
            self.set(ParameterName::Rfc2136Port, DNS_PORT.to_string());
        }
        if let Some(read) = self.table_text("read")? {
            self.values.insert(ParameterName::Rfc2136Axfr, FlagValue::Switch(read == "axfr"));
        }
        if self.values.get(&ParameterName::Rfc2136Insecure) == Some(&FlagValue::Switch(true)) {
            return Ok(());
        }
        let key = self.table("tsig_key");
        if let Some(node) = key.filter(|key| !matches!(key.value, SettingsValue::Table(_))) {
            return Err(unusable(node.origin, "`tsig_key` is no table".to_owned()));
        }
        for (word, name) in
            [("name", ParameterName::Rfc2136TsigKeyname), ("algorithm", ParameterName::Rfc2136TsigSecretAlg)]
        {
            if let Some(node) = key.and_then(|key| key.get(word)) {
                self.set(name, text_of(node, word)?);
            }
        }
        if self.text(ParameterName::Rfc2136TsigKeyname).is_none() {
            let message = format!("nothing says which key signs the updates of the record `{}`", self.record.name);
            return Err(self.fault("missing-key", message));
        }
        if self.text(ParameterName::Rfc2136TsigSecretAlg).is_none() {
            self.set(ParameterName::Rfc2136TsigSecretAlg, ALGORITHM);
        }
        self.secret("EXTERNAL_DNS_RFC2136_TSIG_SECRET", "rfc2136-tsig-secret", false);
        Ok(())
    }

    /// Takes over the name servers of the administrator. external-dns takes several, and as zonewright does, it asks the next
    /// one where one fails; but it has one port for all of them.
    ///
    /// Errors: what cannot be said so.
    fn servers(&mut self, node: &SettingsNode) -> Result<(), ArgumentFault> {
        let nodes = node.as_list().unwrap_or(std::slice::from_ref(node));
        let mut hosts: Vec<String> = Vec::new();
        let mut common: Option<u16> = None;
        for node in nodes {
            let text = text_of(node, "server")?;
            let Some((host, port)) = host_and_port(text) else {
                return Err(unusable(
                    node.origin,
                    format!("`{text}` in `server` is not a host with a port or without one"),
                ));
            };
            if common.is_some_and(|common| common != port) {
                let message = "the servers of `server` have different ports, and external-dns has one port for all of \
                               them (`--rfc2136-port`)";
                return Err(unusable(node.origin, message.to_owned()));
            }
            common = Some(port);
            hosts.push(host.to_owned());
        }
        let Some(port) = common else {
            return Err(unusable(node.origin, "`server` names no server".to_owned()));
        };
        self.values.insert(ParameterName::Rfc2136Host, FlagValue::Texts(hosts));
        self.set(ParameterName::Rfc2136Port, port.to_string());
        Ok(())
    }

    /// Lets a variable come from the record's secret.
    fn secret(&mut self, variable: &'static str, key: &'static str, is_optional: bool) {
        self.made.variables.insert(variable, VariableValue::Secret { key, is_optional });
    }

    /// Where an etcd is, who asks, and the files of TLS: external-dns takes all of it from variables.
    fn etcd(&mut self) -> Result<(), ArgumentFault> {
        let Some(endpoints) = self.table("endpoints") else {
            let message = format!("nothing says where the etcd of the record `{}` is", self.record.name);
            return Err(self.fault("no-endpoints", message));
        };
        let urls = texts_of(endpoints);
        if urls.is_empty() {
            let message = "`endpoints` names no etcd".to_owned();
            return Err(unusable(endpoints.origin, message));
        }
        self.made.variables.insert("ETCD_URLS", VariableValue::Text(urls.join(",")));
        if let Some(user) = self.table_text("user")? {
            self.made.variables.insert("ETCD_USERNAME", VariableValue::Text(user.to_owned()));
            self.secret("ETCD_PASSWORD", "etcd-password", false);
            self.taken.insert("password");
        }
        self.tls_files()?;
        if let Some(prefix) = self.text(ParameterName::CorednsPrefix) {
            // external-dns puts names behind it as it is.
            self.set(ParameterName::CorednsPrefix, format!("/{}/", prefix.trim_matches('/')));
        }
        self.values.entry(ParameterName::CorednsStrictlyOwned).or_insert(FlagValue::Switch(true));
        Ok(())
    }

    /// The files of TLS. Parameters of one path have one file, such as a certificate and its key: Kubernetes takes no two
    /// mounts at one path.
    ///
    /// Errors: one path leads through another file.
    fn tls_files(&mut self) -> Result<(), ArgumentFault> {
        for (name, variable) in TLS_FILES {
            let Some(path) = self.text(name).map(|path| container_path(name, path)) else { continue };
            self.made.variables.insert(variable, VariableValue::Text(path.clone()));
            if self.made.files.values().any(|other| *other == path) {
                continue;
            }
            if let Some(other) = self.made.files.values().find(|other| is_below(other, &path) || is_below(&path, other))
            {
                let message =
                    format!("`{path}` and `{other}` cannot both be files of the record `{}`", self.record.name);
                return Err(self.fault("bad-value", message));
            }
            self.made.files.insert(name.as_str(), path);
        }
        Ok(())
    }

    /// Which region of AWS is asked, and by whom: a role of the node or the service account needs no key.
    fn aws(&mut self) -> Result<(), ArgumentFault> {
        if let Some(region) = self.table_text("region")? {
            self.made.variables.insert("AWS_REGION", VariableValue::Text(region.to_owned()));
        }
        self.secret("AWS_ACCESS_KEY_ID", "aws-access-key-id", true);
        self.secret("AWS_SECRET_ACCESS_KEY", "aws-secret-access-key", true);
        self.taken.insert("credentials");
        Ok(())
    }

    /// The file with Azure's settings, without which external-dns does not start.
    fn azure(&mut self) {
        let name = ParameterName::AzureConfigFile;
        let path = container_path(name, self.text(name).unwrap_or(AZURE_FILE));
        self.made.files.insert("azure.json", path.clone());
        self.set(name, path);
    }

    /// The zones that the administrator lists: external-dns looks for all that it may see, unless its filter says less.
    fn zones(&mut self) {
        let Some(zone) = self.terms.zones.first() else { return };
        let is_argument =
            self.provider != RecordProvider::Rfc2136 && !self.values.contains_key(&ParameterName::DomainFilter);
        if is_argument {
            let names = self.terms.zones.iter().map(|zone| zone.name.as_name().to_dotless_text()).collect();
            self.values.insert(ParameterName::DomainFilter, FlagValue::Texts(names));
        } else {
            let message =
                "`zones` has no effect: the parameters of the record say where external-dns publishes".to_owned();
            self.made.unused.push(UnusedSetting { origin: zone.origin, message });
        }
    }

    /// All of it.
    fn finish(self) -> ProgramArguments {
        let ArgumentMaker { terms, values, taken, mut made, .. } = self;
        for (name, value) in values {
            let flag = match name {
                // What TLS needs comes from variables, and of other providers nothing takes it.
                ParameterName::TlsCa | ParameterName::TlsClientCert | ParameterName::TlsClientCertKey => continue,
                ParameterName::RequestTimeout => "kube-api-request-timeout",
                name => name.as_str(),
            };
            made.flags.insert(flag, value);
        }
        let entries = match &terms.target.value {
            SettingsValue::Table(entries) => entries.as_slice(),
            _ => &[],
        };
        let keys = entries.iter().map(|(key, _)| key).filter(|key| !taken.contains(key.name.as_str()));
        let unused = keys.map(|key| UnusedSetting {
            origin: key.origin,
            message: format!(
                "`{}` has no effect: external-dns carries the record out, and has no word for it",
                key.name
            ),
        });
        made.unused.extend(unused);
        made
    }
}

/// The value of a flag; none where the parameter says nothing.
fn flag_value(value: &ParameterValue) -> Option<FlagValue> {
    Some(match value {
        ParameterValue::Flag(is_on) => FlagValue::Switch(*is_on),
        ParameterValue::Number(number) => FlagValue::Texts(vec![number.to_string()]),
        ParameterValue::Milliseconds(number) if number % 1000 == 0 => {
            FlagValue::Texts(vec![format!("{}s", number / 1000)])
        }
        ParameterValue::Milliseconds(number) => FlagValue::Texts(vec![format!("{number}ms")]),
        ParameterValue::Text(text) if text.is_empty() => return None,
        ParameterValue::Text(text) => FlagValue::Texts(vec![text.clone()]),
        ParameterValue::Texts(texts) if texts.is_empty() => return None,
        ParameterValue::Texts(texts) => FlagValue::Texts(texts.clone()),
    })
}

/// The texts of a setting, or of each part of a list.
fn texts_of(node: &SettingsNode) -> Vec<String> {
    match &node.value {
        SettingsValue::Text(text) | SettingsValue::Plain(text) | SettingsValue::Other(text) => vec![text.clone()],
        SettingsValue::Integer(number) => vec![number.to_string()],
        SettingsValue::Bool(is_on) => vec![is_on.to_string()],
        SettingsValue::List(items) => items.iter().flat_map(texts_of).collect(),
        SettingsValue::Table(_) => Vec::new(),
    }
}

/// What no argument can say of the administrator's table.
fn unusable(origin: Origin, message: String) -> ArgumentFault {
    ArgumentFault { code: "bad-value".into(), origin, message }
}

/// The text of a key of the administrator's table.
///
/// Errors: it is no text.
fn text_of<'n>(node: &'n SettingsNode, key: &str) -> Result<&'n str, ArgumentFault> {
    let message = || format!("`{key}` is no text that external-dns could take");
    let fault = || unusable(node.origin, message());
    node.as_text().filter(|text| !text.is_empty()).ok_or_else(fault)
}

/// Host and port of `HOST`, `HOST:PORT`, `[ADDRESS]:PORT`, or an IPv6 address alone; none where it is none of them.
fn host_and_port(server: &str) -> Option<(&str, u16)> {
    let (host, port) = if let Some((host, rest)) = server.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
    } else {
        match server.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') => (host, Some(port)),
            _ => (server, None),
        }
    };
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    let port = port.map_or(Some(DNS_PORT), |port| port.parse().ok().filter(|port| *port > 0))?;
    (!host.is_empty() && host.chars().all(is_host)).then_some((host, port))
}

/// Whether a path leads through another.
fn is_below(path: &str, other: &str) -> bool {
    path.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
}

/// Where a file is in the container: at its own path, or where that cannot be one of a mount, in a folder of ours.
fn container_path(name: ParameterName, path: &str) -> String {
    // Another spelling of a path would hide that two are one.
    let is_part = |part: &str| !["", ".", ".."].contains(&part);
    let is_plain = path.strip_prefix('/').is_some_and(|path| path.split('/').all(is_part)) && !path.contains(':');
    if is_plain { path.to_owned() } else { format!("{FILES}/{name}") }
}
