//! `catalog` of `[pool.X]`: the zone that lists the zones of a pool for secondaries (RFC 9432).
//!
//! A catalog is a zone like others: it is read with them, and its copies are at the targets of its pool.

use crate::inventory::model::{ZonePurpose, ZoneSpec};
use crate::inventory::node::TableReader;
use crate::inventory::pool::Pool;

/// Adds the catalogs of pools to the zones; one that is among them as a `[[zone]]` is a catalog from then on.
pub fn add(reader: &mut TableReader<'_>, pools: &[(String, Option<Pool>)], zones: &mut Vec<ZoneSpec>) {
    for (place, (_, pool)) in pools.iter().enumerate() {
        let Some(catalog) = pool.as_ref().and_then(|pool| pool.catalog.as_ref()) else { continue };
        let Some(spec) = zones.iter_mut().find(|spec| spec.name == catalog.zone) else {
            let bare = ZoneSpec::bare(&catalog.zone, place, catalog.origin);
            zones.push(ZoneSpec { purpose: ZonePurpose::Catalog, ..bare });
            continue;
        };
        let fault = if spec.pool != place {
            Some("the zone is one of another pool")
        } else if spec.purpose == ZonePurpose::Catalog {
            Some("the zone is the catalog of another pool")
        } else if spec.may_be_missing() {
            Some("a catalog must exist, and cannot be made or deleted here")
        } else {
            None
        };
        match fault {
            None => spec.purpose = ZonePurpose::Catalog,
            Some(fault) => {
                let (width, origin) = (catalog.width, catalog.origin);
                let diagnostic = reader.source().error("bad-catalog", origin, width, fault);
                let other = format!("the zone is on line {}", spec.origin.line);
                reader
                    .push(diagnostic.also(other).hint("name a zone that this pool's targets have for this use alone"));
            }
        }
    }
}
