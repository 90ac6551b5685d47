//! What zonewright.toml says of a source: the words that its readers share.

use std::fmt;

use super::selector::KeySelector;
use super::value::{Duration, Percent, Size};
use crate::diag::Origin;
use crate::dns::Rtype;

/// One export, as it is configured.
#[derive(Debug, Clone)]
pub struct SourceSpec {
    /// The key in `[sources]`, which says what it is about.
    pub key: &'static str,
    /// The word under `format`, which says whose export it is.
    pub word: &'static str,
    /// What messages call it: the key, or the `name` of a source of MACs.
    pub name: String,
    /// Where its files are; never empty.
    pub patterns: Vec<PathPattern>,
    /// Whether each file must end in `# end ROWS`.
    pub require_end: bool,
    /// How large each of its files may be.
    pub max_size: Size,
    /// What else it needs to be believed.
    pub demands: ExportDemands,
    /// Of a source of MACs: reports that are older do not count.
    pub max_age: Option<Duration>,
    /// Of a source of MACs: how much older than it says a report counts.
    pub penalty: Duration,
    /// What an export of another system calls what is looked for.
    pub mapping: FieldMapping,
    /// Of a source of records: what it is for, and what of its files counts.
    pub records: Option<RecordsSpec>,
}

impl SourceSpec {
    /// Whether its files hold documents, of which one that is wrong blocks what it is about, and nothing else.
    pub fn has_documents(&self) -> bool {
        matches!(self.key, "records" | APPS | RECORD_LISTS)
    }
}

/// What zonewright.toml says of a source of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordsSpec {
    /// The project whose switches, policy, limits and domains hold.
    pub project: String,
    /// The pool in whose zones its records are; any where none is said.
    pub pool: Option<String>,
    /// The namespace of the manifests that count; all where none is said.
    pub namespace: Option<String>,
    /// Which labels the manifests that count have.
    pub labels: KeySelector,
    /// Which annotations the manifests that count have.
    pub annotations: KeySelector,
    /// The types that count; those of the format where none are said.
    pub record_types: Option<Vec<Rtype>>,
    /// What happens where two entries say different things.
    pub conflicts: RecordConflicts,
    /// The label by which manifests belong to a DNS update record.
    pub record_label: String,
}

/// What happens where two entries of a source of records say different things of one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordConflicts {
    /// All of them are blocked.
    Block,
    /// One of them is chosen as external-dns does.
    ExternalDns,
}

/// The key of the files of DNS update records, and their name in messages.
pub const DNS_UPDATE_RECORDS: &str = "dns_update_records";

/// The word under `format` of the formats that are our own.
pub const OWN: &str = "zonewright";

/// The word in the place of a path that says that there is no such source.
pub const NO_SOURCE: &str = "none";

/// The key of apps in `[sources]`.
pub const APPS: &str = "apps";

/// The key of lists of DNS update records in `[sources]`.
pub const RECORD_LISTS: &str = "record_lists";

/// The label by which manifests belong to a DNS update record where nothing says.
pub const RECORD_LABEL: &str = "zonewright.dev/dns-update-record";

/// The labels that a Deployment of external-dns has in any case, by which it finds its pods: no record has one of them.
pub const PROGRAM_LABELS: [&str; 2] = ["app.kubernetes.io/instance", "app.kubernetes.io/name"];

/// The word under `format` of manifests of the kind DNSEndpoint.
pub const MANIFESTS: &str = "dnsendpoint";

/// A format, as far as zonewright.toml can name it.
#[derive(Debug, Clone, Copy)]
pub struct KnownFormat {
    /// The key in `[sources]`.
    pub key: &'static str,
    /// The word under `format`.
    pub word: &'static str,
    /// How often the key occurs.
    pub occurs: Occurrence,
    /// The keys of its table that only it has.
    pub keys: SourceKeys,
}

/// What the table of a source may hold in addition to the keys of all sources.
#[derive(Debug, Clone, Copy)]
pub struct SourceKeys {
    /// Keys that name a field of the export, each with its default field; empty where there is no default.
    pub fields: &'static [(&'static str, &'static str)],
    /// Whether `only` chooses rows.
    pub has_only: bool,
    /// Whether `statuses` says what a status means.
    pub has_statuses: bool,
}

impl SourceKeys {
    /// Those of our own formats, whose columns have their names.
    pub const NONE: SourceKeys = SourceKeys { fields: &[], has_only: false, has_statuses: false };
}

/// What an export of another system calls what is looked for.
#[derive(Debug, Clone, Default)]
pub struct FieldMapping {
    /// The field under each key that its format has; empty where it is in none.
    pub fields: Vec<(&'static str, String)>,
    /// The rows that count: those that have, in each of these fields, one of its values. All rows, where there is no
    /// field.
    pub only: Vec<(String, Vec<String>)>,
    /// What a status means, in addition to those that the format knows: whether a host with it was given back.
    pub statuses: Vec<(String, bool)>,
}

impl FieldMapping {
    /// The field under a key; `None` where it is in none.
    pub fn field(&self, key: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(own, _)| *own == key);
        found.map(|(_, field)| field.as_str()).filter(|field| !field.is_empty())
    }
}

/// What an export that was read whole needs to be believed; `None` and `false` demand nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportDemands {
    /// How old it may be, by its own date. Not for sources of MACs, whose reports have dates of their own.
    pub max_age: Option<MaxAge>,
    /// How much of the last accepted export it may lack.
    pub max_shrink: Option<ExportTolerance>,
    /// How much of the last accepted export may mean something else in it.
    pub max_churn: Option<ExportTolerance>,
    /// How few rows it may have.
    pub min_rows: Option<usize>,
    /// Whether each file must agree with the `FILE.sha256` next to it.
    pub digest: bool,
}

/// How old an export may be, by its own date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxAge {
    /// The age.
    pub age: Duration,
    /// Whether nothing is said: then an export without a date may be of any age, and one that is dated after the clock
    /// is new.
    pub is_default: bool,
}

/// How much of an export may differ from the accepted one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportTolerance {
    /// The share.
    pub share: Percent,
    /// Where nothing is said: so many always may, whatever share they are.
    pub at_least: Option<usize>,
}

impl ExportTolerance {
    /// A share that is said, which is exact.
    pub const fn exactly(share: Percent) -> ExportTolerance {
        ExportTolerance { share, at_least: None }
    }

    /// How many of these may differ.
    pub fn of(self, things: usize) -> usize {
        self.share.of(things).max(self.at_least.unwrap_or_default())
    }
}

impl fmt::Display for ExportTolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at_least {
            None => self.share.fmt(f),
            Some(least) => write!(f, "{}, or {least} (the default)", self.share),
        }
    }
}

/// How old an export of machines may be where nothing is said: a job that runs on working days has run again after a
/// weekend.
const DEFAULT_AGE: Duration = Duration::from_secs(3 * 86_400);

/// How much of an export of machines may be gone, or mean something else, where nothing is said: twice what a VLAN that
/// moves in one datacenter changes.
const DEFAULT_SHARE: Percent = Percent::from_whole(5);

impl ExportDemands {
    /// What an export under a key of `[sources]` needs where nothing is said. People write names.lock, so that it may be
    /// of any age and change as a whole.
    ///
    /// Of few rows 5% is none. So there is a number that always may differ: of hosts as many as a rack has, of networks
    /// of L3 segments those of a few racks, and of other networks those of a VLAN in three datacenters.
    pub fn of(key: &str) -> ExportDemands {
        let at_least = match key {
            "hosts" | "addresses" | "mac" | "pods" => 50,
            "l3_tors" | "ipv4_map" => 20,
            "net_layout" => 3,
            // People write these files, and each may hold many records: half of them may go at once.
            "records" | APPS | RECORD_LISTS => {
                let half = ExportTolerance { share: Percent::from_whole(50), at_least: None };
                return ExportDemands { max_shrink: Some(half), ..ExportDemands::default() };
            }
            _ => return ExportDemands::default(),
        };
        let tolerance = Some(ExportTolerance { share: DEFAULT_SHARE, at_least: Some(at_least) });
        // Reports and rows of pods have dates of their own, and may be a list that people keep.
        let max_age = (!matches!(key, "mac" | "pods")).then_some(MaxAge { age: DEFAULT_AGE, is_default: true });
        ExportDemands { max_age, max_shrink: tolerance, max_churn: tolerance, ..ExportDemands::default() }
    }
}

/// A path or glob, relative to the workspace.
#[derive(Debug, Clone)]
pub struct PathPattern {
    /// As it is written; leads nowhere out of the workspace by `..` or a leading `/`.
    pub text: String,
    /// Where it is written.
    pub origin: Origin,
    /// How many characters it takes there.
    pub width: usize,
}

/// The most patterns that the alternatives of one may make.
const MAX_ALTERNATIVES: usize = 64;

impl PathPattern {
    /// The patterns that it means: `a.{yaml,json}` is `a.yaml` and `a.json`. Braces without a comma are as they are, and
    /// so is a pattern that would be more than 64.
    pub fn alternatives(&self) -> Vec<PathPattern> {
        let (mut done, mut open) = (Vec::new(), vec![self.text.clone()]);
        while let Some(text) = open.pop() {
            match one_alternative(&text) {
                Some(texts) => open.extend(texts.into_iter().rev()),
                None => done.push(PathPattern { text, ..self.clone() }),
            }
            if done.len() + open.len() > MAX_ALTERNATIVES {
                return vec![self.clone()];
            }
        }
        done
    }
}

/// The texts that the first innermost braces with a comma make of a text; none where there are none.
fn one_alternative(text: &str) -> Option<Vec<String>> {
    let ends = text.match_indices('}').map(|(end, _)| end);
    let found = ends.filter_map(|end| text[..end].rfind('{').map(|start| (start, end)));
    let (start, end) = found.into_iter().find(|(start, end)| text[*start..*end].contains(','))?;
    let words = text[start + 1..end].split(',');
    Some(words.map(|word| format!("{}{word}{}", &text[..start], &text[end + 1..])).collect())
}

/// The file that keeps the names that were given, in the workspace.
pub const NAMES_LOCK: &str = "names.lock";

/// Whether a line of it is one that git writes around what it could not merge.
pub fn is_conflict_marker(line: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].iter().any(|sign| line.strip_prefix(sign).is_some_and(ends))
}

/// Whether a line begins what neither side of a merge wrote: the rows that both changed, as they were before.
pub fn is_base_marker(line: &str) -> bool {
    is_conflict_marker(line) && line.starts_with('|')
}

/// How often a format occurs in `[sources]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// Once, and it must be there; the word `none` says that it has no rows.
    Required,
    /// At most once; a source that is not there has no rows.
    Optional,
    /// As a list of tables, each with a `name`.
    Listed,
    /// As a list of tables, each with a `name` and a `project`.
    Stated,
    /// Not at all: the file has this name, and need not exist.
    Fixed(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Files;

    fn alternatives(text: &str) -> Vec<String> {
        let origin = Origin::line(Files::default().add("x"), 1);
        let pattern = PathPattern { text: text.to_owned(), origin, width: 1 };
        pattern.alternatives().into_iter().map(|pattern| pattern.text).collect()
    }

    #[test]
    fn braces_with_a_comma_are_alternatives() {
        assert_eq!(alternatives("a/*.{yaml,json}"), ["a/*.yaml", "a/*.json"]);
        assert_eq!(alternatives("{a,b}/{c,d}"), ["a/c", "a/d", "b/c", "b/d"]);
        assert_eq!(alternatives("{a,{b,c}d}"), ["a", "bd", "a", "cd"]);
        assert_eq!(alternatives("x{,.bak}"), ["x", "x.bak"]);
        for plain in ["a/*.yaml", "{a}", "{a", "a,b}", "}a,b{", "{}"] {
            assert_eq!(alternatives(plain), [plain]);
        }
        let many = "{a,b}".repeat(20);
        assert_eq!(alternatives(&many), [many.as_str()]);
    }
}
