//! The objects of Kubernetes: the endpoints of a record, and the external-dns that carries it out.
//!
//! Source: external-dns v0.22, config/crd/standard, charts/external-dns and docs/sources/crd.md; Kubernetes 1.34.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use super::arguments::{FlagValue, ProgramArguments, VariableValue};
use super::yaml_text::YamlValue;
use crate::dns::{Name, Rtype, Ttl, address_type};
use crate::inventory::source::PROGRAM_LABELS;

/// The kind of endpoints.
pub const ENDPOINT_KIND: &str = "DNSEndpoint";

/// The kind of what runs external-dns.
pub const DEPLOYMENT_KIND: &str = "Deployment";

/// The most octets that keys and values of all annotations of an object have. Source: Kubernetes,
/// apimachinery/pkg/api/validation, TotalAnnotationSizeLimitB.
pub const MAX_ANNOTATIONS_OCTETS: usize = 256 * 1024;

/// The annotation with the apps that use a record.
pub const USED_BY: &str = "zonewright.dev/used-by";

/// The argument that limits external-dns to one namespace.
pub const NAMESPACE_FLAG: &str = "--namespace=";

/// What begins the names of files with one endpoint.
const ENDPOINT_FILE: &str = "dnsendpoint_";

/// What begins the names of files with the external-dns of one record, and the names of its objects.
const PROGRAM: &str = "external-dns";

/// The ending of files.
const ENDING: &str = ".yaml";

/// The first line of each file.
pub const HEAD: &str = "# Written by `zonewright render external-dns`, which replaces what is changed here.\n";

/// Where external-dns serves its health and metrics where nothing says.
const METRICS_ADDRESS: &str = ":7979";

/// The user of the image, and the group that may read mounted secrets. Source: charts/external-dns/values.yaml.
const USER: i64 = 65532;

/// The group of the image's user.
const GROUP: i64 = 65534;

/// The name of the file of an endpoint: no name of Kubernetes has an underscore, so that no two are alike.
pub fn endpoint_file(namespace: &str, name: &str) -> String {
    format!("{ENDPOINT_FILE}{namespace}_{name}{ENDING}")
}

/// The name of the file with the external-dns of a record.
pub fn program_file(record: &str) -> String {
    format!("{PROGRAM}_{record}{ENDING}")
}

/// Whether a file may be one of ours, by its name.
pub fn is_file_name(name: &str) -> bool {
    let has_head =
        name.starts_with(ENDPOINT_FILE) || name.strip_prefix(PROGRAM).is_some_and(|rest| rest.starts_with('_'));
    has_head && name.ends_with(ENDING)
}

/// Whether a file may be an endpoint of ours, by its name.
pub fn is_endpoint_file(name: &str) -> bool {
    is_file_name(name) && name.starts_with(ENDPOINT_FILE)
}

/// The label that all objects of a record have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordLabel<'a> {
    /// Its key.
    pub key: &'a str,
    /// The name of the record.
    pub record: &'a str,
}

impl RecordLabel<'_> {
    /// The labels of an object that has no other.
    fn labels(&self) -> YamlValue {
        YamlValue::table([(self.key, self.record.into())])
    }
}

/// An endpoint of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointObject {
    /// Its namespace.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The names that it is about.
    pub hostnames: BTreeSet<Name>,
    /// The addresses of each of them.
    pub addresses: BTreeSet<IpAddr>,
    /// The TTL, where one is said.
    pub ttl: Option<Ttl>,
}

impl EndpointObject {
    /// The text of its file.
    pub fn text(&self, label: &RecordLabel<'_>) -> String {
        let mut names: Vec<String> = self.hostnames.iter().map(|name| name.as_name().to_dotless_text()).collect();
        names.sort();
        let entries = names.iter().flat_map(|name| [Rtype::A, Rtype::AAAA].map(|rtype| self.entry(name, rtype)));
        let object = YamlValue::table([
            ("apiVersion", "externaldns.k8s.io/v1alpha1".into()),
            ("kind", ENDPOINT_KIND.into()),
            ("metadata", metadata(label.labels(), &self.name, Some(&self.namespace))),
            ("spec", YamlValue::table([("endpoints", YamlValue::List(entries.flatten().collect()))])),
        ]);
        format!("{HEAD}{}", object.document())
    }

    /// The addresses of one type at a name; none where there are none.
    fn entry(&self, name: &str, rtype: Rtype) -> Option<YamlValue> {
        let own = self.addresses.iter().filter(|address| address_type(**address) == rtype);
        let targets: Vec<String> = own.map(IpAddr::to_string).collect();
        let ttl = self.ttl.map(|ttl| YamlValue::Number(i64::from(ttl.as_secs())));
        let entry = YamlValue::table([
            ("dnsName", name.into()),
            ("recordType", rtype.to_string().into()),
            ("targets", YamlValue::texts(&targets)),
        ]);
        (!targets.is_empty()).then(|| entry.with("recordTTL", ttl))
    }
}

/// The `metadata` of an object.
fn metadata(labels: YamlValue, name: &str, namespace: Option<&str>) -> YamlValue {
    let metadata = YamlValue::table([("labels", labels), ("name", name.into())]);
    metadata.with("namespace", namespace.map(YamlValue::from))
}

/// The external-dns of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramObjects {
    /// Its namespace.
    pub namespace: String,
    /// Its image.
    pub image: String,
    /// The word of the provider.
    pub provider: &'static str,
    /// The types that it manages, where these are not those that it manages anyway.
    pub types: Vec<String>,
    /// What it is started with.
    pub arguments: ProgramArguments,
}

/// Who uses a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordUse {
    /// What uses it.
    pub users: BTreeSet<String>,
    /// The one namespace that all its endpoints are in; none where there are several.
    pub namespace: Option<String>,
}

impl RecordUse {
    /// The value of the annotation that says who uses the record.
    fn annotation(&self) -> String {
        let users: Vec<&str> = self.users.iter().map(String::as_str).collect();
        users.join(",")
    }

    /// How many octets the annotations of the Deployment have.
    pub fn annotations_octets(&self) -> usize {
        USED_BY.len() + self.annotation().len()
    }
}

impl ProgramObjects {
    /// The text of their file.
    pub fn text(&self, label: &RecordLabel<'_>, used: &RecordUse) -> String {
        let objects = [self.account(label), role(label, self), binding(label, self), self.deployment(label, used)];
        let documents: Vec<String> = objects.iter().map(YamlValue::document).collect();
        format!("{HEAD}{}", documents.join("---\n"))
    }

    /// The account that external-dns asks Kubernetes with.
    fn account(&self, label: &RecordLabel<'_>) -> YamlValue {
        YamlValue::table([
            ("apiVersion", "v1".into()),
            ("kind", "ServiceAccount".into()),
            ("metadata", metadata(label.labels(), &object_name(label), Some(&self.namespace))),
        ])
    }

    /// What runs it.
    fn deployment(&self, label: &RecordLabel<'_>, used: &RecordUse) -> YamlValue {
        let annotations = YamlValue::table([(USED_BY, used.annotation().into())]);
        let name = object_name(label);
        let [instance, program] = PROGRAM_LABELS;
        let selector = YamlValue::table([(instance, label.record.into()), (program, PROGRAM.into())]);
        let labels = selector.clone().with(label.key, Some(label.record.into()));
        let template = YamlValue::table([
            ("metadata", YamlValue::table([("labels", labels.clone())])),
            ("spec", self.pod(label, used)),
        ]);
        // Two of them would undo each other's changes: external-dns knows no leader.
        let spec = YamlValue::table([
            ("replicas", YamlValue::Number(1)),
            ("selector", YamlValue::table([("matchLabels", selector)])),
            ("strategy", YamlValue::table([("type", "Recreate".into())])),
            ("template", template),
        ]);
        YamlValue::table([
            ("apiVersion", "apps/v1".into()),
            ("kind", DEPLOYMENT_KIND.into()),
            ("metadata", metadata(labels, &name, Some(&self.namespace)).with("annotations", Some(annotations))),
            ("spec", spec),
        ])
    }

    /// The `spec` of its pod.
    fn pod(&self, label: &RecordLabel<'_>, used: &RecordUse) -> YamlValue {
        let name = object_name(label);
        let seccomp = YamlValue::table([("type", "RuntimeDefault".into())]);
        let security = YamlValue::table([
            ("fsGroup", YamlValue::Number(GROUP)),
            ("runAsNonRoot", YamlValue::Flag(true)),
            ("runAsUser", YamlValue::Number(USER)),
            ("seccompProfile", seccomp),
        ]);
        let volumes = (!self.arguments.files.is_empty()).then(|| {
            let keys = self.arguments.files.keys();
            let items = keys.map(|key| YamlValue::table([("key", (*key).into()), ("path", (*key).into())])).collect();
            let secret = YamlValue::table([("items", YamlValue::List(items)), ("secretName", name.as_str().into())]);
            YamlValue::List(vec![YamlValue::table([("name", "secret".into()), ("secret", secret)])])
        });
        YamlValue::table([
            ("containers", YamlValue::List(vec![self.container(label, used)])),
            ("securityContext", security),
            ("serviceAccountName", name.as_str().into()),
        ])
        .with("volumes", volumes)
    }

    /// Its container.
    fn container(&self, label: &RecordLabel<'_>, used: &RecordUse) -> YamlValue {
        let capabilities = YamlValue::table([("drop", YamlValue::texts(["ALL"]))]);
        let security = YamlValue::table([
            ("allowPrivilegeEscalation", YamlValue::Flag(false)),
            ("capabilities", capabilities),
            ("readOnlyRootFilesystem", YamlValue::Flag(true)),
        ]);
        let port = self.health_port();
        let ports = port.map(|port| {
            let port = YamlValue::table([("containerPort", YamlValue::Number(port)), ("name", "http".into())]);
            YamlValue::List(vec![port])
        });
        let probe = port.map(|_| {
            let get = YamlValue::table([("path", "/healthz".into()), ("port", "http".into())]);
            YamlValue::table([("httpGet", get)])
        });
        YamlValue::table([
            ("args", YamlValue::texts(self.args(label, used))),
            ("image", self.image.as_str().into()),
            ("name", PROGRAM.into()),
            ("securityContext", security),
        ])
        .with("env", self.env(label))
        .with("livenessProbe", probe.clone())
        .with("ports", ports)
        .with("readinessProbe", probe)
        .with("volumeMounts", self.mounts())
    }

    /// Its arguments: what it publishes and where, then its flags by their names.
    fn args(&self, label: &RecordLabel<'_>, used: &RecordUse) -> Vec<String> {
        let mut args = vec![format!("--label-filter={}={}", label.key, label.record)];
        args.extend(used.namespace.iter().map(|namespace| format!("{NAMESPACE_FLAG}{namespace}")));
        args.extend([format!("--provider={}", self.provider), "--source=crd".to_owned()]);
        args.extend(self.types.iter().map(|rtype| format!("--managed-record-types={rtype}")));
        for (flag, value) in &self.arguments.flags {
            match value {
                FlagValue::Switch(true) => args.push(format!("--{flag}")),
                FlagValue::Switch(false) => args.push(format!("--no-{flag}")),
                FlagValue::Texts(texts) => args.extend(texts.iter().map(|text| format!("--{flag}={text}"))),
            }
        }
        args.into_iter().map(|arg| unexpanded(&arg)).collect()
    }

    /// Its variables; none where it needs none.
    fn env(&self, label: &RecordLabel<'_>) -> Option<YamlValue> {
        let entry = |(name, value): (&&str, &VariableValue)| {
            let entry = YamlValue::table([("name", (*name).into())]);
            match value {
                VariableValue::Text(text) => entry.with("value", Some(unexpanded(text).into())),
                VariableValue::Secret { key, is_optional } => {
                    let secret = YamlValue::table([("key", (*key).into()), ("name", object_name(label).into())]);
                    let secret = secret.with("optional", is_optional.then_some(YamlValue::Flag(true)));
                    entry.with("valueFrom", Some(YamlValue::table([("secretKeyRef", secret)])))
                }
            }
        };
        let entries: Vec<YamlValue> = self.arguments.variables.iter().map(entry).collect();
        (!entries.is_empty()).then_some(YamlValue::List(entries))
    }

    /// Where the files of its secret are; none where it needs none.
    fn mounts(&self) -> Option<YamlValue> {
        let mount = |(key, path): (&&str, &String)| {
            YamlValue::table([
                ("mountPath", path.as_str().into()),
                ("name", "secret".into()),
                ("readOnly", YamlValue::Flag(true)),
                ("subPath", (*key).into()),
            ])
        };
        let mounts: Vec<YamlValue> = self.arguments.files.iter().map(mount).collect();
        (!mounts.is_empty()).then_some(YamlValue::List(mounts))
    }

    /// The port of its health and metrics; none where it serves them on another address than all, or none that can be read.
    fn health_port(&self) -> Option<i64> {
        let address = match self.arguments.flags.get("metrics-address") {
            Some(FlagValue::Texts(texts)) => texts.first()?.as_str(),
            _ => METRICS_ADDRESS,
        };
        let (host, port) = address.rsplit_once(':')?;
        let is_open = ["", "0.0.0.0", "[::]"].contains(&host);
        port.parse::<u16>().ok().filter(|port| is_open && *port > 0).map(i64::from)
    }
}

/// The name of the objects of a record.
fn object_name(label: &RecordLabel<'_>) -> String {
    format!("{PROGRAM}-{}", label.record)
}

/// The name of objects that no namespace keeps apart: other workspaces may have a record of the name.
fn cluster_name(label: &RecordLabel<'_>, program: &ProgramObjects) -> String {
    format!("{PROGRAM}:{}:{}", program.namespace, label.record)
}

/// What external-dns may do.
fn role(label: &RecordLabel<'_>, program: &ProgramObjects) -> YamlValue {
    let rule = |resource: &str, verbs: &[&str]| {
        YamlValue::table([
            ("apiGroups", YamlValue::texts(["externaldns.k8s.io"])),
            ("resources", YamlValue::texts([resource])),
            ("verbs", YamlValue::texts(verbs.iter().copied())),
        ])
    };
    let rules = vec![rule("dnsendpoints", &["get", "list", "watch"]), rule("dnsendpoints/status", &["update"])];
    YamlValue::table([
        ("apiVersion", "rbac.authorization.k8s.io/v1".into()),
        ("kind", "ClusterRole".into()),
        ("metadata", metadata(label.labels(), &cluster_name(label, program), None)),
        ("rules", YamlValue::List(rules)),
    ])
}

/// Who may do it.
fn binding(label: &RecordLabel<'_>, program: &ProgramObjects) -> YamlValue {
    let name = cluster_name(label, program);
    let role = YamlValue::table([
        ("apiGroup", "rbac.authorization.k8s.io".into()),
        ("kind", "ClusterRole".into()),
        ("name", name.as_str().into()),
    ]);
    let subject = YamlValue::table([
        ("kind", "ServiceAccount".into()),
        ("name", object_name(label).into()),
        ("namespace", program.namespace.as_str().into()),
    ]);
    YamlValue::table([
        ("apiVersion", "rbac.authorization.k8s.io/v1".into()),
        ("kind", "ClusterRoleBinding".into()),
        ("metadata", metadata(label.labels(), &name, None)),
        ("roleRef", role),
        ("subjects", YamlValue::List(vec![subject])),
    ])
}

/// A text in which Kubernetes does not see the name of a variable: it takes `$(NAME)` for one, and `$$` for `$`.
fn unexpanded(text: &str) -> String {
    text.replace('$', "$$")
}
