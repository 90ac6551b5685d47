//! The targets of pools, opened side by side; and what names a zone, a target, and a zone at a target. Pure.

use std::fmt;

use super::PoolName;
use crate::diag::Problem;
use crate::dns::ZoneName;

/// Names a zone: by its pool and its name. Two pools may have zones of one name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ZoneId {
    /// Its pool.
    pub pool: PoolName,
    /// Its name.
    pub name: ZoneName,
}

/// Names a target: by its pool and its name there. A target without a name has that of its pool, which has no other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId {
    /// Its pool.
    pub pool: PoolName,
    /// Its name among the targets of the pool.
    pub name: String,
}

impl TargetId {
    /// The one target of a pool, which has no name of its own.
    pub fn only(pool: &PoolName) -> TargetId {
        TargetId { pool: pool.clone(), name: pool.as_str().to_owned() }
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A target among those of its pool, for what was kept under other names: it counts for the target unless it is kept for
/// another target that the pool has now. So a target, or its pool, may get another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetScope {
    /// The target.
    pub target: TargetId,
    /// The names of the other targets of its pool.
    pub others: Vec<String>,
    /// The pools that are no former names of its own: what is kept for them is about other zones, perhaps of one name.
    pub apart: Vec<PoolName>,
    /// The other pools that there are, whose zones have other names.
    pub neighbours: Vec<PoolName>,
    /// Whether it is the target of a DNS update record.
    pub is_of_record: bool,
}

impl TargetScope {
    /// The one target of a pool.
    pub fn only(target: TargetId) -> TargetScope {
        TargetScope { target, others: Vec::new(), apart: Vec::new(), neighbours: Vec::new(), is_of_record: false }
    }

    /// Whether a pool is gone: it may have been this one under another name, or another one.
    pub fn is_gone(&self, pool: &str) -> bool {
        let known = [PoolName::unknown(), PoolName::gone_record(), self.target.pool.clone()];
        !known.iter().chain(&self.apart).chain(&self.neighbours).any(|other| other.as_str() == pool)
    }

    /// Whether what is kept for a target of a pool counts for this target.
    pub fn includes(&self, pool: &str, name: &str) -> bool {
        if pool == self.target.pool.as_str() {
            !self.others.iter().any(|other| other == name)
        } else {
            !self.apart.iter().any(|other| other.as_str() == pool)
        }
    }
}

/// Names a copy: a zone as one target of its pool holds it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CopyId {
    /// The target.
    pub target: TargetId,
    /// The zone's name; its pool is the target's.
    pub zone: ZoneName,
}

impl CopyId {
    /// The copy of a zone at the one target of its pool.
    pub fn only(zone: &ZoneId) -> CopyId {
        CopyId { target: TargetId::only(&zone.pool), zone: zone.name.clone() }
    }

    /// The zone.
    pub fn zone_id(&self) -> ZoneId {
        ZoneId { pool: self.target.pool.clone(), name: self.zone.clone() }
    }
}

/// One target of a pool, opened.
pub struct OpenedTarget<T: ?Sized> {
    /// Which.
    pub id: TargetId,
    /// The way to it, or why there is none.
    pub access: Result<Box<T>, Problem>,
}

/// The targets of pools, opened to be read or to be written; in the order of the settings.
pub struct TargetSet<T: ?Sized>(Vec<OpenedTarget<T>>);

impl<T: ?Sized> FromIterator<OpenedTarget<T>> for TargetSet<T> {
    fn from_iter<I: IntoIterator<Item = OpenedTarget<T>>>(targets: I) -> TargetSet<T> {
        TargetSet(targets.into_iter().collect())
    }
}

impl<T: ?Sized> Default for TargetSet<T> {
    /// No target.
    fn default() -> TargetSet<T> {
        TargetSet(Vec::new())
    }
}

impl<T: ?Sized> TargetSet<T> {
    /// All targets.
    pub fn targets(&self) -> &[OpenedTarget<T>] {
        &self.0
    }

    /// Those that could be opened.
    pub fn opened(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|target| target.access.as_deref().ok())
    }

    /// One target, of which a configuration has this id.
    pub fn target(&self, id: &TargetId) -> &OpenedTarget<T> {
        self.0.iter().find(|target| target.id == *id).expect("all targets of the settings are opened")
    }
}
