//! Zones that are made, listed in the catalog of their pool, or deleted.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::disk::hex;
use crate::dns::{Name, NameError, RrKey, Rtype, ZoneName};
use crate::document::{nullable, present_object, words};
use crate::target::{CopyId, PoolName, TargetId, ZoneApex};

words! {
    /// What is done with a zone at a target.
    ZoneAction {
        /// It is made, and listed in the catalog where its pool has one.
        Create = "CREATE",
        /// It is there, and is listed in the catalog.
        List = "LIST",
        /// It loses its entry in the catalog, and is deleted.
        Delete = "DELETE",
    }
}

/// What is done with a zone at a target, in addition to its records.
///
/// The fields are in the order of their names in documents (RFC 8785 section 3.2.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneChange {
    /// What.
    pub action: ZoneAction,
    /// What the zone begins with, where it is made.
    #[serde(default, deserialize_with = "present_object", skip_serializing_if = "Option::is_none")]
    pub apex: Option<ZoneApex>,
    /// The catalog of its pool; none where it has none.
    #[serde(deserialize_with = "nullable")]
    pub catalog: Option<ZoneName>,
    /// The pool.
    pub pool: PoolName,
    /// The target, by its name.
    pub target: String,
    /// The zone.
    pub zone: ZoneName,
}

impl ZoneChange {
    /// The copy that it is about.
    pub fn copy(&self) -> CopyId {
        CopyId { target: self.target_id(), zone: self.zone.clone() }
    }

    /// The target.
    pub fn target_id(&self) -> TargetId {
        TargetId { pool: self.pool.clone(), name: self.target.clone() }
    }

    /// The copy of the catalog at the same target.
    pub fn catalog_copy(&self) -> Option<CopyId> {
        Some(CopyId { target: self.target_id(), zone: self.catalog.clone()? })
    }
}

/// How many octets of the digest of a zone's name make its label in a catalog.
const LABEL_OCTETS: usize = 16;

/// Where a zone is listed in a catalog: a PTR below `zones` at a label that is the same at all targets (RFC 9432 section
/// 4.1).
///
/// Errors: the name is too long.
pub fn catalog_key(catalog: &ZoneName, zone: &ZoneName) -> Result<RrKey, NameError> {
    let label = hex(&Sha256::digest(zone.as_name().as_wire())[..LABEL_OCTETS]);
    let owner = Name::prepend(label.as_bytes(), members(catalog)?.as_name())?;
    let owner = catalog.owner(owner.as_name()).expect("a name below the apex");
    Ok(RrKey { owner, rtype: Rtype::PTR })
}

/// The name below which a catalog lists zones.
///
/// Errors: the name is too long.
pub fn members(catalog: &ZoneName) -> Result<Name, NameError> {
    Name::prepend(b"zones", catalog.as_name())
}
