//! What is decided about as a whole: applied, blocked, skipped, counted by limits.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serializer;
use serde::ser::SerializeMap as _;

use crate::dns::Name;
use crate::document::text_in_documents;
use crate::inventory::value::Inv;
use crate::target::PoolName;

/// What is decided about as a whole. The order is that of the kinds, then numbers by value and all else as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A host: `host:100105`.
    Host(Inv),
    /// The names that a host had and that are released: `released:100105`.
    Released(Inv),
    /// A pod: `pod:shop-web/ab12cd`.
    Pod(Box<PodName>),
    /// The SRV of one endpoint of a set of pods: `endpoints:shop-web/http`.
    Endpoints(Box<EndpointSetName>),
    /// What a manifest states for one name: `endpoint:apps/prod/web/www.example.net.`.
    Endpoint(Box<EndpointName>),
    /// What a source of records states for one name without a manifest: `record:static/www.example.net.`.
    Record(Box<RecordName>),
    /// A name with own RRsets that no host has: `orphan:main/old.example.net.`.
    Orphan(OrphanName),
}

/// What a subject is like. Rooms that treat some kinds alike look at this, so that a further kind of a family is said here alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectFamily<'s> {
    /// A host, also where it is about the names that the host had: limits count both once, and both are applied together.
    Host(Inv),
    /// A pod.
    Pod(&'s PodName),
    /// An endpoint of a set of pods.
    Endpoints(&'s EndpointSetName),
    /// What a file states for one name.
    Stated(StatedName<'s>),
    /// A name that nothing has.
    Unclaimed(&'s OrphanName),
}

/// A name for which a file states records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedName<'s> {
    /// The source of records, or the DNS update record.
    pub source: &'s str,
    /// The namespace and name of the manifest; none where there is no manifest.
    pub manifest: Option<(&'s str, &'s str)>,
    /// The owner name.
    pub name: &'s Name,
}

/// What has the budget that counts a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubjectGroup<'s> {
    /// Its project.
    Project,
    /// A set of pods, by its id.
    PodSet(&'s str),
}

/// What is before the colon in the texts of subjects that files state; behind it is the name of the source.
pub const STATED_KINDS: [&str; 2] = ["record", "endpoint"];

impl Subject {
    /// A pod, by the id of its set and its own.
    pub fn pod(set: impl Into<Arc<str>>, pod: impl Into<Arc<str>>) -> Subject {
        Subject::Pod(Box::new(PodName { set: set.into(), pod: pod.into() }))
    }

    /// What it is like.
    pub fn family(&self) -> SubjectFamily<'_> {
        match self {
            Subject::Host(inv) | Subject::Released(inv) => SubjectFamily::Host(*inv),
            Subject::Pod(own) => SubjectFamily::Pod(own),
            Subject::Endpoints(own) => SubjectFamily::Endpoints(own),
            Subject::Endpoint(own) => {
                let EndpointName { source, namespace, manifest, name } = &**own;
                SubjectFamily::Stated(StatedName { source, manifest: Some((namespace, manifest)), name })
            }
            Subject::Record(own) => {
                SubjectFamily::Stated(StatedName { source: &own.source, manifest: None, name: &own.name })
            }
            Subject::Orphan(own) => SubjectFamily::Unclaimed(own),
        }
    }

    /// What has the budget that counts it; none where no budget does. Names that a host had are no longer in service.
    pub fn group(&self) -> Option<SubjectGroup<'_>> {
        match self {
            Subject::Host(_) => Some(SubjectGroup::Project),
            _ => self.pod_set().map(SubjectGroup::PodSet),
        }
    }

    /// What people call it: `host 7`, `pod a1 of shop`, and where a file states it, the file; none for a name that nothing
    /// has.
    pub fn in_words(&self) -> Option<String> {
        match self.family() {
            SubjectFamily::Host(inv) => Some(format!("host {inv}")),
            SubjectFamily::Pod(own) => Some(format!("pod {} of {}", own.pod, own.set)),
            SubjectFamily::Endpoints(own) => Some(format!("endpoint {} of {}", own.name, own.set)),
            SubjectFamily::Stated(_) => self.stated_by(),
            SubjectFamily::Unclaimed(_) => None,
        }
    }

    /// What states it in a file, as part of a sentence: ``the records of `static` ``; none for other kinds.
    pub fn stated_by_in_words(&self) -> Option<String> {
        match self.family() {
            SubjectFamily::Stated(StatedName { source, manifest: Some((namespace, manifest)), .. }) => {
                Some(format!("the manifest `{namespace}/{manifest}` of `{source}`"))
            }
            SubjectFamily::Stated(own) => Some(format!("the records of `{}`", own.source)),
            SubjectFamily::Pod(own) => Some(format!("the pods of `{}`", own.set)),
            SubjectFamily::Endpoints(own) => Some(format!("the endpoints of `{}`", own.set)),
            SubjectFamily::Host(_) | SubjectFamily::Unclaimed(_) => None,
        }
    }

    /// The host, also where it is about the names that the host had; none for other kinds.
    pub fn host(&self) -> Option<Inv> {
        match self.family() {
            SubjectFamily::Host(inv) => Some(inv),
            _ => None,
        }
    }

    /// The set of pods that it is of; none for other kinds.
    pub fn pod_set(&self) -> Option<&str> {
        match self.family() {
            SubjectFamily::Pod(pod) => Some(&pod.set),
            SubjectFamily::Endpoints(endpoints) => Some(&endpoints.set),
            SubjectFamily::Host(_) | SubjectFamily::Stated(_) | SubjectFamily::Unclaimed(_) => None,
        }
    }

    /// Whether rows or files state exactly what it has: neither a host, nor a name that nothing has.
    pub fn is_stated(&self) -> bool {
        match self.family() {
            SubjectFamily::Pod(_) | SubjectFamily::Endpoints(_) | SubjectFamily::Stated(_) => true,
            SubjectFamily::Host(_) | SubjectFamily::Unclaimed(_) => false,
        }
    }

    /// What limits over time count it as, and what is blocked or held as a whole: a host and the names that it had are
    /// one. They do not count orphans.
    pub fn counted(&self) -> Option<Subject> {
        match self.family() {
            SubjectFamily::Host(inv) => Some(Subject::Host(inv)),
            SubjectFamily::Pod(_) | SubjectFamily::Endpoints(_) | SubjectFamily::Stated(_) => Some(self.clone()),
            SubjectFamily::Unclaimed(_) => None,
        }
    }

    /// What states it in a file: `apps/prod/web` for a manifest, `static` for a source of zones, `shop-web` for a set of pods;
    /// none for other kinds.
    pub fn stated_by(&self) -> Option<String> {
        let Some(own) = self.stated() else { return self.pod_set().map(str::to_owned) };
        Some(match own.manifest {
            Some((namespace, manifest)) => format!("{}/{namespace}/{manifest}", own.source),
            None => own.source.to_owned(),
        })
    }

    /// The source of records that states it, or the DNS update record; none for other kinds.
    pub fn source(&self) -> Option<&str> {
        self.stated().map(|own| own.source)
    }

    /// The namespace and name of the manifest that states its records; none for other kinds.
    pub fn manifest(&self) -> Option<(&str, &str)> {
        self.stated().and_then(|own| own.manifest)
    }

    /// The name for which a file states records; none for other kinds.
    pub fn stated_name(&self) -> Option<&Name> {
        self.stated().map(|own| own.name)
    }

    /// What a file states; none for other kinds.
    fn stated(&self) -> Option<StatedName<'_>> {
        match self.family() {
            SubjectFamily::Stated(own) => Some(own),
            _ => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Host(inv) => write!(f, "host:{inv}"),
            Subject::Released(inv) => write!(f, "released:{inv}"),
            Subject::Pod(pod) => write!(f, "pod:{pod}"),
            Subject::Endpoints(endpoints) => write!(f, "endpoints:{endpoints}"),
            Subject::Endpoint(endpoint) => write!(f, "endpoint:{endpoint}"),
            Subject::Record(record) => write!(f, "record:{record}"),
            Subject::Orphan(OrphanName { pool, name }) => write!(f, "orphan:{pool}/{name}"),
        }
    }
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Subject, String> {
        let number = |digits: &str| digits.parse().map_err(|()| format!("`{digits}` is not an inventory number"));
        match text.split_once(':') {
            Some(("host", digits)) => number(digits).map(Subject::Host),
            Some(("released", digits)) => number(digits).map(Subject::Released),
            Some(("pod", pod)) => {
                let (set, pod) = two_parts(pod, "a set and a pod")?;
                // Case does not count in the id of a pod.
                Ok(Subject::pod(set, pod.to_ascii_lowercase()))
            }
            Some(("endpoints", endpoints)) => {
                let (set, name) = two_parts(endpoints, "a set and an endpoint")?;
                Ok(Subject::Endpoints(Box::new(EndpointSetName { set, name })))
            }
            Some(("endpoint", endpoint)) => endpoint_name(endpoint).map(|name| Subject::Endpoint(Box::new(name))),
            Some(("record", record)) => record_name(record).map(|name| Subject::Record(Box::new(name))),
            Some(("orphan", orphan)) => orphan_name(orphan).map(Subject::Orphan),
            _ => Err(format!("`{text}` is not a subject, such as `host:100105`")),
        }
    }
}

text_in_documents!(Subject, str::parse);

/// Writes a subject as keys of an object: `subject` as plans name it, and `host`, the number of a host, which is null for others.
pub fn subject_and_host<S: Serializer>(subject: &Subject, serializer: S) -> Result<S::Ok, S::Error> {
    let mut keys = serializer.serialize_map(Some(2))?;
    keys.serialize_entry("subject", subject)?;
    keys.serialize_entry("host", &subject.host().map(|inv| inv.0))?;
    keys.end()
}

/// A pod, by its set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PodName {
    /// The id of the set.
    pub set: Arc<str>,
    /// Its id.
    pub pod: Arc<str>,
}

impl fmt::Display for PodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.set, self.pod)
    }
}

impl Ord for PodName {
    fn cmp(&self, other: &PodName) -> Ordering {
        by_part(&self.set, &other.set).then_with(|| self.pod.cmp(&other.pod))
    }
}

impl PartialOrd for PodName {
    fn partial_cmp(&self, other: &PodName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// An endpoint of a set of pods.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EndpointSetName {
    /// The id of the set.
    pub set: Arc<str>,
    /// The name of the endpoint, as the file of the set has it.
    pub name: Arc<str>,
}

impl fmt::Display for EndpointSetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.set, self.name)
    }
}

impl Ord for EndpointSetName {
    fn cmp(&self, other: &EndpointSetName) -> Ordering {
        by_part(&self.set, &other.set).then_with(|| self.name.cmp(&other.name))
    }
}

impl PartialOrd for EndpointSetName {
    fn partial_cmp(&self, other: &EndpointSetName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Reads two parts with a slash between them; neither has one.
fn two_parts(text: &str, what: &str) -> Result<(Arc<str>, Arc<str>), String> {
    match text.split_once('/') {
        Some((set, rest)) if !set.is_empty() && !rest.is_empty() && !rest.contains('/') => {
            Ok((set.into(), rest.into()))
        }
        _ => Err(format!("`{text}` is not {what}")),
    }
}

/// A manifest, and a name for which it states records.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EndpointName {
    /// The name of the source.
    pub source: Arc<str>,
    /// The namespace of the manifest.
    pub namespace: Arc<str>,
    /// The name of the manifest.
    pub manifest: Arc<str>,
    /// The owner name.
    pub name: Name,
}

impl fmt::Display for EndpointName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.source, self.namespace, self.manifest, self.name)
    }
}

impl Ord for EndpointName {
    fn cmp(&self, other: &EndpointName) -> Ordering {
        by_part(&self.source, &other.source)
            .then_with(|| by_part(&self.namespace, &other.namespace))
            .then_with(|| by_part(&self.manifest, &other.manifest))
            .then_with(|| self.name.as_name().cmp_text(other.name.as_name()))
    }
}

impl PartialOrd for EndpointName {
    fn partial_cmp(&self, other: &EndpointName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A source of records without manifests, and a name for which it states records.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RecordName {
    /// The name of the source.
    pub source: Arc<str>,
    /// The owner name.
    pub name: Name,
}

impl fmt::Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.name)
    }
}

impl Ord for RecordName {
    fn cmp(&self, other: &RecordName) -> Ordering {
        by_part(&self.source, &other.source).then_with(|| self.name.as_name().cmp_text(other.name.as_name()))
    }
}

impl PartialOrd for RecordName {
    fn partial_cmp(&self, other: &RecordName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares parts of a text as the whole text compares: behind the shorter of two comes its slash.
fn by_part(one: &str, other: &str) -> Ordering {
    if one == other { Ordering::Equal } else { one.bytes().chain([b'/']).cmp(other.bytes().chain([b'/'])) }
}

/// Reads the source, namespace, manifest and name of an endpoint. Only a DNS name may have a slash.
fn endpoint_name(text: &str) -> Result<EndpointName, String> {
    let parts: Vec<&str> = text.splitn(4, '/').collect();
    let [source, namespace, manifest, name] = parts[..] else {
        return Err(format!("`{text}` is not a source, a namespace, a manifest and a name"));
    };
    if [source, namespace, manifest].contains(&"") {
        return Err(format!("`{text}` has an empty part"));
    }
    let [source, namespace, manifest] = [source, namespace, manifest].map(Arc::from);
    Ok(EndpointName { source, namespace, manifest, name: dns_name(name)? })
}

/// Reads the source and the name of a record.
fn record_name(text: &str) -> Result<RecordName, String> {
    match text.split_once('/') {
        Some((source, name)) if !source.is_empty() => Ok(RecordName { source: source.into(), name: dns_name(name)? }),
        _ => Err(format!("`{text}` is not a source and a name")),
    }
}

/// Reads a DNS name.
fn dns_name(text: &str) -> Result<Name, String> {
    Name::parse(text).map_err(|error| format!("`{text}` is not a name: {error}"))
}

/// A name that no host has, and the pool whose zone holds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OrphanName {
    /// The pool.
    pub pool: PoolName,
    /// The name.
    pub name: Name,
}

/// Reads the pool and the name of an orphan. A pool's name has no slash, and a DNS name may have some.
fn orphan_name(text: &str) -> Result<OrphanName, String> {
    let (pool, name) = text.split_once('/').ok_or_else(|| format!("`{text}` is not a pool and a name"))?;
    let pool = pool.parse()?;
    Ok(OrphanName { pool, name: dns_name(name)? })
}

impl Ord for OrphanName {
    fn cmp(&self, other: &OrphanName) -> Ordering {
        let pools = || by_part(&self.pool.to_string(), &other.pool.to_string());
        let pools = if self.pool == other.pool { Ordering::Equal } else { pools() };
        pools.then_with(|| self.name.as_name().cmp_text(other.name.as_name()))
    }
}

impl PartialOrd for OrphanName {
    fn partial_cmp(&self, other: &OrphanName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORPHAN: &str = "orphan:main/a/b.example.net.";

    #[test]
    fn every_subject_is_read_from_its_text_alone() {
        let endpoint = "endpoint:apps/prod/web/a/b.example.net.";
        let texts =
            ["host:0", "host:18446744073709551615", "released:7", endpoint, "record:static/*.example.net.", ORPHAN];
        for text in texts.into_iter().chain(["pod:shop-web/ab12cd", "endpoints:shop-web/http-{location}"]) {
            assert_eq!(text.parse::<Subject>().unwrap().to_string(), text);
            assert_eq!(serde_json::to_string(&text.parse::<Subject>().unwrap()).unwrap(), format!("\"{text}\""));
        }
        let error = |text: &str| serde_json::from_str::<Subject>(&format!("\"{text}\"")).unwrap_err().to_string();
        let wrong = [
            "",
            "host",
            "host:",
            "host:-1",
            "hosts:1",
            "pod:a",
            "pod:a/b/c",
            "orphan:main",
            "orphan:/a.",
            "orphan:a b/c.",
        ];
        for text in wrong.into_iter().chain(["endpoint:a/b/c", "endpoint:a//c/d.", "record:a.", "record:/a."]) {
            error(text);
        }
        assert!(error("host:007").starts_with("`host:007` should be written `host:7`"));
        assert!(error("orphan:main/A.example.net").contains("should be written `orphan:main/a.example.net.`"));
    }

    #[test]
    fn what_files_state_is_told_by_its_kind() {
        let is_stated = |text: &str| {
            let subject: Subject = text.parse().unwrap();
            assert_eq!(subject.stated_name().is_some(), matches!(subject.family(), SubjectFamily::Stated(_)));
            subject.stated_name().is_some()
        };
        assert!(STATED_KINDS.iter().all(|kind| is_stated(&format!("{kind}:apps/prod/web/a.example.net."))));
        assert!(!["host:1", "released:1", "pod:a/b", "endpoints:a/b", ORPHAN].into_iter().any(is_stated));
    }

    #[test]
    fn people_read_words_and_a_budget_counts_what_is_in_service() {
        let said = |text: &str| text.parse::<Subject>().unwrap().in_words().unwrap_or_default();
        let all = [
            "released:7",
            "pod:shop/a1",
            "endpoints:shop/http",
            "endpoint:apps/prod/web/a.",
            "record:static/a.",
            ORPHAN,
        ];
        let words = ["host 7", "pod a1 of shop", "endpoint http of shop", "apps/prod/web", "static", ""];
        assert_eq!(all.map(said), words);
        let group = |text: &str| text.parse::<Subject>().unwrap().group().map(|group| format!("{group:?}"));
        assert_eq!(group("host:7").unwrap(), "Project");
        assert_eq!(group("endpoints:shop/http").unwrap(), "PodSet(\"shop\")");
        assert!(["released:7", "record:static/a.", ORPHAN].into_iter().all(|text| group(text).is_none()));
    }

    #[test]
    fn kinds_come_first_then_numbers_by_value_and_names_as_text() {
        let sorted = [
            "host:9",
            "host:10",
            "released:2",
            "pod:a-b/c",
            "pod:a/b",
            "endpoints:a/b",
            "endpoint:a-b/c/d/e.",
            "endpoint:a/b-c/d/e.",
            "endpoint:a/b/d/e.",
            "record:a-b/c.",
            "record:a/b.",
            "orphan:a-b/z.",
            "orphan:a/b.",
            "orphan:a/c.a.",
            "orphan:b/a.",
        ];
        let subjects: Vec<Subject> = sorted.iter().map(|text| text.parse().unwrap()).collect();
        assert!(subjects.is_sorted_by(|a, b| a < b), "{subjects:?}");
    }
}
