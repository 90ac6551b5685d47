//! The markers of zones: those that are known, and those that an operator lets count as known.

use std::collections::BTreeMap;

use super::seal::BatchRow;
use super::sql::{SqlChange, SqlRead, SqlRow, SqlRows as _, values};
use super::{KnownMarker, KnownMarkers, effect};
use crate::diag::Problem;
use crate::inventory::value::Time;
use crate::target::{CopyId, Marker};

/// What is known about the markers, by zone.
pub fn known(state: &dyn SqlRead) -> Result<KnownMarkers, Problem> {
    // One query, so that both come from one moment.
    let sql = format!(
        "SELECT 0, 0, zone, '', NULL, marker, 0, 0, 0, NULL, NULL, NULL, pool, target, NULL, 0 FROM markers
         UNION ALL SELECT {}, 1 FROM batches WHERE awaited = 1
         ORDER BY 16, 1, 2",
        BatchRow::COLUMNS
    );
    let row = |row: &dyn SqlRow| {
        let is_open = row.get(BatchRow::END)?;
        if is_open {
            BatchRow::of(row)?;
        }
        let copy = (row.get::<String>(12)?, row.get::<String>(13)?, row.get::<String>(2)?);
        Ok((copy, row.get::<String>(5)?, is_open))
    };
    let mut known: BTreeMap<CopyId, KnownMarker> = BTreeMap::new();
    for ((pool, target, zone), marker, is_open) in state.rows(&sql, &[], row)? {
        let of_copy = known.entry(state.copy(&pool, &target, &zone)?);
        let of_copy = of_copy.or_insert(KnownMarker { marker: None, open: Vec::new() });
        if is_open { of_copy.open.push(state.marker(&marker)?) } else { of_copy.marker = Some(state.marker(&marker)?) }
    }
    Ok(known.into_iter().collect())
}

/// Treats the markers in these zones as known, because an operator says so, and why.
pub fn adopt(
    change: &dyn SqlChange,
    markers: &[(CopyId, Option<Marker>)],
    who: &str,
    reason: &str,
    now: Time,
) -> Result<(), Problem> {
    for (copy, marker) in markers {
        match marker {
            Some(marker) => {
                effect::settle_by(change, copy, marker, now)?;
                effect::put_marker(change, copy, marker, now)?;
                effect::close_until(change, copy, marker)?;
            }
            None => {
                effect::forget_marker(change, copy)?;
            }
        }
        let sql = "INSERT INTO adoptions (zone, pool, target, marker, who, reason, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (zone, pool, target) = effect::columns(copy);
        let marker = marker.as_ref().map(Marker::to_string);
        change.execute(sql, values![zone, pool, target, marker, who, reason, now])?;
    }
    Ok(())
}
