//! What is decided about as a whole: applied, blocked, skipped, counted by limits.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

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
    /// A name with own RRsets that no host has: `orphan:main/old.example.net.`.
    Orphan(OrphanName),
}

impl Subject {
    /// The host, also where it is about the names that the host had: limits count both once, and both are applied
    /// together.
    pub fn host(&self) -> Option<Inv> {
        match self {
            Subject::Host(inv) | Subject::Released(inv) => Some(*inv),
            Subject::Orphan(_) => None,
        }
    }

    /// What limits over time count it as: a host and the names that it had are one. They do not count orphans.
    pub fn counted(&self) -> Option<Subject> {
        self.host().map(Subject::Host)
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Host(inv) => write!(f, "host:{inv}"),
            Subject::Released(inv) => write!(f, "released:{inv}"),
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
            Some(("orphan", orphan)) => orphan_name(orphan).map(Subject::Orphan),
            _ => Err(format!("`{text}` is not a subject, such as `host:100105`")),
        }
    }
}

text_in_documents!(Subject, str::parse);

/// Writes the number of a subject's host, as documents do that name hosts by their numbers; null where it has none.
pub fn host_number<S: Serializer>(subject: &Subject, serializer: S) -> Result<S::Ok, S::Error> {
    subject.host().map(|inv| inv.0).serialize(serializer)
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
    let name = Name::parse(name).map_err(|error| format!("`{name}` is not a name: {error}"))?;
    Ok(OrphanName { pool, name })
}

impl Ord for OrphanName {
    fn cmp(&self, other: &OrphanName) -> Ordering {
        // As `POOL/NAME` compares: after the shorter of two pool names comes its slash.
        let pool = |orphan: &OrphanName| format!("{}/", orphan.pool);
        let pools = if self.pool == other.pool { Ordering::Equal } else { pool(self).cmp(&pool(other)) };
        pools.then_with(|| self.name.to_string().cmp(&other.name.to_string()))
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

    #[test]
    fn every_subject_is_read_from_its_text_alone() {
        for text in ["host:0", "host:18446744073709551615", "released:7", "orphan:main/a/b.example.net."] {
            assert_eq!(text.parse::<Subject>().unwrap().to_string(), text);
            assert_eq!(serde_json::to_string(&text.parse::<Subject>().unwrap()).unwrap(), format!("\"{text}\""));
        }
        let error = |text: &str| serde_json::from_str::<Subject>(&format!("\"{text}\"")).unwrap_err().to_string();
        for text in ["", "host", "host:", "host:-1", "hosts:1", "pod:a/b", "orphan:main", "orphan:/a.", "orphan:a b/c."]
        {
            error(text);
        }
        assert!(error("host:007").starts_with("`host:007` should be written `host:7`"));
        assert!(error("orphan:main/A.example.net").contains("should be written `orphan:main/a.example.net.`"));
    }

    #[test]
    fn kinds_come_first_then_numbers_by_value_and_names_as_text() {
        let sorted =
            ["host:9", "host:10", "released:2", "orphan:a-b/z.", "orphan:a/b.", "orphan:a/c.a.", "orphan:b/a."];
        let subjects: Vec<Subject> = sorted.iter().map(|text| text.parse().unwrap()).collect();
        assert!(subjects.is_sorted_by(|a, b| a < b), "{subjects:?}");
    }
}
