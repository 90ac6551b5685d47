//! The parameters of DNS update records: one table of what each is, which providers have it, and what is made of it.
//!
//! Source: external-dns v0.22, docs/flags.md; v0.7.6 for flags that are gone.

use crate::inventory::update_record::ParameterName::*;
use crate::inventory::update_record::{ParameterName, RecordProvider};

/// How the value of a parameter is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// A switch, perhaps as text.
    Flag,
    /// A switch for which `axfr` is another word for `true`.
    AxfrFlag,
    /// A number within bounds.
    Number(u64, u64),
    /// A time as Go writes it, such as `1m30s`.
    Span,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text, perhaps empty.
    Text,
    /// A text, or a list of them, or one with commas.
    Texts,
    /// The same, of domains; a dot in front leaves the domain itself out.
    Domains,
    /// The same, of zones.
    Zones,
    /// The owner in the TXT of the registry, or nothing.
    Owner,
    /// What is in front of the names of these TXT, or nothing.
    Prefix,
    /// What is behind their first label, or nothing.
    Suffix,
    /// The label in the place of a `*` in them, or nothing.
    Wildcard,
}

/// When a parameter has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdleValues {
    /// Never.
    Never,
    /// Always; and why.
    Always(&'static str),
    /// At these values; and why.
    At(&'static [&'static str], &'static str),
}

/// When a parameter is refused, by which code, and why: a reason, a semicolon, and what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusedValues {
    /// Never.
    Never,
    /// At these values.
    At(&'static [&'static str], &'static str, &'static str),
    /// At all values at which it has an effect.
    Otherwise(&'static str, &'static str),
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterRow {
    /// Its name.
    pub name: ParameterName,
    /// The providers that have it.
    pub of: &'static [RecordProvider],
    /// How its value is read.
    pub form: ValueForm,
    /// When it has no effect.
    pub idle: IdleValues,
    /// When it is refused.
    pub refused: RefusedValues,
    /// What it says, in a sentence.
    pub says: &'static str,
}

impl ParameterRow {
    /// The row of a parameter of a provider.
    pub fn find(name: ParameterName, provider: RecordProvider) -> Option<&'static ParameterRow> {
        PARAMETERS.iter().find(|row| row.name == name && row.of.contains(&provider))
    }

    /// The words of all providers that have a parameter.
    pub fn providers_of(name: ParameterName) -> Vec<&'static str> {
        let rows = PARAMETERS.iter().filter(|row| row.name == name);
        rows.flat_map(|row| row.of).map(|provider| provider.as_str()).collect()
    }

    /// Whether a parameter is a switch, which `no-NAME` turns off.
    pub fn is_flag(name: ParameterName) -> bool {
        let mut rows = PARAMETERS.iter().filter(|row| row.name == name);
        rows.any(|row| matches!(row.form, ValueForm::Flag | ValueForm::AxfrFlag))
    }

    /// The same without effect.
    const fn idle(self, why: &'static str) -> ParameterRow {
        ParameterRow { idle: IdleValues::Always(why), ..self }
    }

    /// The same without effect at some values.
    const fn idle_at(self, values: &'static [&'static str], why: &'static str) -> ParameterRow {
        ParameterRow { idle: IdleValues::At(values, why), ..self }
    }

    /// The same, refused at some values.
    const fn refused_at(self, values: &'static [&'static str], code: &'static str, why: &'static str) -> ParameterRow {
        ParameterRow { refused: RefusedValues::At(values, code, why), ..self }
    }

    /// The same, refused where it would have an effect.
    const fn else_refused(self, code: &'static str, why: &'static str) -> ParameterRow {
        ParameterRow { refused: RefusedValues::Otherwise(code, why), ..self }
    }
}

/// A row of a parameter that counts.
const fn row(name: ParameterName, of: &'static [RecordProvider], form: ValueForm, says: &'static str) -> ParameterRow {
    ParameterRow { name, of, form, idle: IdleValues::Never, refused: RefusedValues::Never, says }
}

/// All providers.
const ALL: &[RecordProvider] = RecordProvider::ALL;

/// Route 53.
const AWS: &[RecordProvider] = &[RecordProvider::Aws];

/// Cloud Map.
const AWS_SD: &[RecordProvider] = &[RecordProvider::AwsSd];

/// Both services of AWS.
const BOTH_AWS: &[RecordProvider] = &[RecordProvider::Aws, RecordProvider::AwsSd];

/// Both kinds of zones of Azure.
const AZURE: &[RecordProvider] = &[RecordProvider::Azure, RecordProvider::AzurePrivate];

/// etcd.
const COREDNS: &[RecordProvider] = &[RecordProvider::CoreDns];

/// Name servers.
const RFC2136: &[RecordProvider] = &[RecordProvider::Rfc2136];

/// All but Cloud Map.
const NOT_AWS_SD: &[RecordProvider] = &[
    RecordProvider::Aws,
    RecordProvider::Azure,
    RecordProvider::AzurePrivate,
    RecordProvider::CoreDns,
    RecordProvider::Rfc2136,
];

/// All but CoreDNS.
const NOT_COREDNS: &[RecordProvider] = &[
    RecordProvider::Aws,
    RecordProvider::AwsSd,
    RecordProvider::Azure,
    RecordProvider::AzurePrivate,
    RecordProvider::Rfc2136,
];

/// The most records of a number that has no other bound.
const MANY: u64 = 1_000_000;

/// Why caches of zones have no effect.
const FRESH: &str = "what zonewright reads is never older than the run";

/// Why parameters of external-dns' process have no effect.
const LOOP: &str = "one zonewright carries out all records, with arguments of its own";

/// Why parameters of the sources of external-dns are refused, and what to do.
const SOURCE: &str = "it makes names from objects of Kubernetes, and the records here come from apps and manifests, which state their names; remove it";

/// Why an empty text of such a parameter has no effect.
const NOTHING: &str = "it is the default, and says nothing";

/// The code of parameters that only sources of Kubernetes' own objects have.
const SOURCE_ONLY: &str = "source-only";

/// The code of secrets in files.
const INLINE_SECRET: &str = "inline-secret";

/// The code of registries that there are not.
const NO_REGISTRY: &str = "registry-not-supported";

/// Why `dynamodb` and `crd` are refused.
const ELSEWHERE: &str = "zonewright does not keep owners there; write `txt` or `noop`";

/// All rows. A parameter has several where providers differ in what is made of it.
#[rustfmt::skip]
pub const PARAMETERS: &[ParameterRow] = &[
    row(AwsZoneType, BOTH_AWS, ValueForm::Word(&["", "public", "private"]), "Which zones count: public ones, private ones, or both where it is empty."),
    row(AwsZoneTags, AWS, ValueForm::Texts, "The tags that a hosted zone must have, each `KEY=VALUE` or `KEY`."),
    row(AwsAssumeRole, BOTH_AWS, ValueForm::Text, "The role that is taken, as an ARN."),
    row(AwsAssumeRoleExternalId, BOTH_AWS, ValueForm::Text, "What the owner of the role asks for."),
    row(AwsBatchChangeSize, AWS, ValueForm::Number(1, MANY), "How many records one batch may have; never more than the service takes."),
    row(AwsBatchChangeSizeBytes, AWS, ValueForm::Number(1, MANY), "How many bytes one batch may have.")
        .idle("batches are cut by their records, and by what the service takes"),
    row(AwsBatchChangeSizeValues, AWS, ValueForm::Number(1, MANY), "How many values one batch may have; never more than the service takes."),
    row(AwsBatchChangeInterval, AWS, ValueForm::Span, "How long to wait between two batches.")
        .idle("all requests keep to `requests_per_second` of the target, which `[dns_update_record.NAME]` may set"),
    row(AwsEvaluateTargetHealth, AWS, ValueForm::Flag, "Whether aliases are answered by the health of their targets.")
        .idle("zonewright makes no aliases"),
    row(AwsApiRetries, BOTH_AWS, ValueForm::Number(0, MANY), "How often a request is sent again.")
        .idle("zonewright sends a request again for some minutes where the service asks it to wait"),
    row(AwsPreferCname, AWS, ValueForm::Flag, "Whether names of AWS are published as CNAME and not as an alias. Without it such a name is refused.")
        .idle_at(&["true"], "zonewright makes no aliases"),
    row(AwsZonesCacheDuration, BOTH_AWS, ValueForm::Span, "How long the list of zones is kept.").idle(FRESH),
    row(AzureConfigFile, AZURE, ValueForm::Text, "The `azure.json` with the subscription and who asks."),
    row(AzureResourceGroup, AZURE, ValueForm::Text, "The resource group that has the zones."),
    row(AzureSubscriptionId, AZURE, ValueForm::Text, "The subscription that has the zones."),
    row(AzureUserAssignedIdentityClientId, AZURE, ValueForm::Text, "The client ID of the managed identity that asks."),
    row(AzureZonesCacheDuration, AZURE, ValueForm::Span, "How long the list of zones is kept.").idle(FRESH),
    row(AzureMaxretriesCount, AZURE, ValueForm::Number(0, MANY), "How often a request is sent again.")
        .idle("zonewright sends a request again up to six times where the service asks it to wait"),
    row(CorednsPrefix, COREDNS, ValueForm::Text, "What all keys begin with, as `path` of CoreDNS has it; `/skydns/` where it is not said."),
    row(CorednsStrictlyOwned, COREDNS, ValueForm::Flag, "Whether keys say their owner. They do where it is not said."),
    row(Rfc2136Host, RFC2136, ValueForm::Texts, "The name server that takes updates."),
    row(Rfc2136Port, RFC2136, ValueForm::Number(0, 65535), "Its port; 53 where it is 0 or not said."),
    row(Rfc2136Zone, RFC2136, ValueForm::Zones, "The zones that are updated; one at least."),
    row(Rfc2136Insecure, RFC2136, ValueForm::Flag, "Whether updates go without a key."),
    row(Rfc2136TsigKeyname, RFC2136, ValueForm::Text, "The name of the key that signs messages."),
    row(Rfc2136TsigSecretAlg, RFC2136, ValueForm::Word(&["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512", "hmac-md5"]), "The algorithm of the key.")
        .refused_at(&["hmac-md5"], "weak-algorithm", "MD5 is broken; make a new key with `hmac-sha256`"),
    row(Rfc2136TsigSecret, RFC2136, ValueForm::Text, "The secret of the key; refused here.")
        .idle_at(&[""], NOTHING)
        .else_refused(INLINE_SECRET, "a secret is never in a file of records; remove it, and write `tsig_key = { secret_file = \"FILE\" }` in the `[dns_update_record.NAME]` of zonewright.toml"),
    row(Rfc2136TsigAxfr, RFC2136, ValueForm::AxfrFlag, "Whether zones are read by transfer; else name by name."),
    row(Rfc2136Axfr, RFC2136, ValueForm::AxfrFlag, "Whether zones are read by transfer; else name by name."),
    row(RequestTimeout, ALL, ValueForm::Span, "How long Kubernetes may take to answer.").idle("zonewright does not ask Kubernetes"),
    row(ContourLoadBalancer, ALL, ValueForm::Text, "The service of Contour; external-dns no longer has it.")
        .idle_at(&["", "heptio-contour/contour"], "external-dns no longer has it, and this was its default")
        .else_refused("parameter-gone", "external-dns no longer has it; remove it"),
    row(FqdnTemplate, ALL, ValueForm::Text, "How names are made from objects of Kubernetes.").idle_at(&[""], NOTHING).else_refused(SOURCE_ONLY, SOURCE),
    row(CombineFqdnAnnotation, ALL, ValueForm::Flag, "Whether such names come in addition to annotations.").idle_at(&["false"], NOTHING).else_refused(SOURCE_ONLY, SOURCE),
    row(IgnoreHostnameAnnotation, ALL, ValueForm::Flag, "Whether annotations with names are left out.").idle_at(&["false"], NOTHING).else_refused(SOURCE_ONLY, SOURCE),
    row(Compatibility, ALL, ValueForm::Word(&["", "mate", "molecule", "kops-dns-controller"]), "Which older tool's annotations count.").idle_at(&[""], NOTHING).else_refused(SOURCE_ONLY, SOURCE),
    row(PublishInternalServices, ALL, ValueForm::Flag, "Whether services of the type ClusterIP are published.").idle_at(&["false"], NOTHING).else_refused(SOURCE_ONLY, SOURCE),
    row(PublishHostIp, ALL, ValueForm::Flag, "Whether addresses of nodes are published for headless services.").idle_at(&["false"], NOTHING).else_refused(SOURCE_ONLY, SOURCE),
    row(ServiceTypeFilter, ALL, ValueForm::Texts, "Which types of services count.").idle_at(&[""], NOTHING).else_refused(SOURCE_ONLY, SOURCE),
    row(DomainFilter, ALL, ValueForm::Domains, "The domains whose names are published; all where there are none. A dot in front leaves the domain itself out."),
    row(ExcludeDomains, ALL, ValueForm::Domains, "The domains whose names are not published."),
    row(ZoneIdFilter, ALL, ValueForm::Texts, "The ends of the identifiers of zones that count.")
        .idle("zones are those that are listed, and are not looked for"),
    row(TlsCa, COREDNS, ValueForm::Text, "A file with the certificates that are trusted."),
    row(TlsCa, NOT_COREDNS, ValueForm::Text, "A file with the certificates that are trusted.").idle("connections to this provider do not use it"),
    row(TlsClientCert, COREDNS, ValueForm::Text, "A file with the certificate of the client."),
    row(TlsClientCert, NOT_COREDNS, ValueForm::Text, "A file with the certificate of the client.").idle("connections to this provider do not use it"),
    row(TlsClientCertKey, COREDNS, ValueForm::Text, "A file with the private key of that certificate."),
    row(TlsClientCertKey, NOT_COREDNS, ValueForm::Text, "A file with the private key of that certificate.").idle("connections to this provider do not use it"),
    row(Policy, ALL, ValueForm::Word(&["sync", "upsert-only", "create-only"]), "What may be done to records; `sync` where it is not said."),
    row(Registry, NOT_AWS_SD, ValueForm::Word(&["txt", "noop", "aws-sd", "dynamodb", "crd"]), "How it is known which records are own; as in zonewright.toml where it is not said.")
        .refused_at(&["aws-sd", "dynamodb", "crd"], NO_REGISTRY, ELSEWHERE),
    row(Registry, AWS_SD, ValueForm::Word(&["txt", "noop", "aws-sd", "dynamodb", "crd"]), "How it is known which records are own; as in zonewright.toml where it is not said.")
        .refused_at(&["txt", "dynamodb", "crd"], NO_REGISTRY, "Cloud Map has no TXT, and zonewright keeps no owners elsewhere; write `aws-sd` or `noop`"),
    row(TxtOwnerId, ALL, ValueForm::Owner, "Who owns the records; `owner` of zonewright.toml where it is not said."),
    row(TxtPrefix, ALL, ValueForm::Prefix, "What is in front of the names of the registry's TXT."),
    row(TxtSuffix, ALL, ValueForm::Suffix, "What is behind their first label."),
    row(TxtWildcardReplacement, ALL, ValueForm::Wildcard, "The label in the place of a `*` in them."),
    row(TxtEncryptEnabled, ALL, ValueForm::Flag, "Whether these TXT are encrypted.")
        .idle_at(&["false"], NOTHING)
        .else_refused("txt-encryption", "zonewright reads encrypted TXT and writes none; remove it"),
    row(TxtEncryptAesKey, ALL, ValueForm::Text, "The key of encrypted TXT; refused here.")
        .idle_at(&[""], NOTHING)
        .else_refused(INLINE_SECRET, "a secret is never in a file of records; remove it, and write `txt_encrypt_aes_key` in the `[dns_update_record.NAME]` of zonewright.toml"),
    row(TxtCacheInterval, ALL, ValueForm::Span, "How long what was read is kept.").idle(FRESH),
    row(Interval, ALL, ValueForm::Span, "How long to wait between two passes.").idle(LOOP),
    row(Once, ALL, ValueForm::Flag, "Whether there is just one pass.").idle(LOOP),
    row(DryRun, ALL, ValueForm::Flag, "Whether changes are planned and never applied."),
    row(LogFormat, ALL, ValueForm::Word(&["text", "json"]), "How the log is written.").idle(LOOP),
    row(LogLevel, ALL, ValueForm::Word(&["panic", "debug", "info", "warning", "error", "fatal", "trace"]), "How much is logged.").idle(LOOP),
    row(MetricsAddress, ALL, ValueForm::Text, "Where metrics are served.").idle(LOOP),
    row(Provider, ALL, ValueForm::Text, "The provider again, which must be that of `spec`.").idle("`spec.provider` says it"),
];
