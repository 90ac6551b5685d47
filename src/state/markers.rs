//! The markers of zones: those that are known, and those that an operator lets count as known.

use std::collections::BTreeMap;

use super::seal::BatchRow;
use super::sql::{SqlChange, SqlRead, SqlRow, SqlRows as _, values};
use super::{KnownMarker, effect};
use crate::diag::Problem;
use crate::dns::ZoneName;
use crate::inventory::value::Time;
use crate::target::Marker;

/// What is known about the markers, by zone.
pub fn known(state: &dyn SqlRead) -> Result<BTreeMap<ZoneName, KnownMarker>, Problem> {
    // One query, so that both come from one moment.
    let sql = format!(
        "SELECT 0, 0, zone, '', NULL, marker, 0, 0, 0, NULL, NULL, NULL, NULL, 0 FROM markers
         UNION ALL SELECT {}, 1 FROM batches WHERE awaited = 1
         ORDER BY 14, 1, 2",
        BatchRow::COLUMNS
    );
    let row = |row: &dyn SqlRow| {
        let is_open = row.get(BatchRow::END)?;
        if is_open {
            BatchRow::of(row)?;
        }
        Ok((row.get::<String>(2)?, row.get::<String>(5)?, is_open))
    };
    let mut known: BTreeMap<ZoneName, KnownMarker> = BTreeMap::new();
    for (zone, marker, is_open) in state.rows(&sql, &[], row)? {
        let of_zone = known.entry(state.zone(&zone)?);
        let of_zone = of_zone.or_insert(KnownMarker { marker: None, open: Vec::new() });
        if is_open { of_zone.open.push(state.marker(&marker)?) } else { of_zone.marker = Some(state.marker(&marker)?) }
    }
    Ok(known)
}

/// Treats the markers in these zones as known, because an operator says so, and why.
pub fn adopt(
    change: &dyn SqlChange,
    markers: &[(ZoneName, Option<Marker>)],
    who: &str,
    reason: &str,
    now: Time,
) -> Result<(), Problem> {
    for (zone, marker) in markers {
        match marker {
            Some(marker) => {
                effect::settle_by(change, zone, marker, now)?;
                effect::put_marker(change, zone, marker, now)?;
                effect::close_until(change, zone, marker)?;
            }
            None => {
                change.execute("DELETE FROM markers WHERE zone = ?1", values![zone.to_string()])?;
            }
        }
        let sql = "INSERT INTO adoptions (zone, marker, who, reason, at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let marker = marker.as_ref().map(Marker::to_string);
        change.execute(sql, values![zone.to_string(), marker, who, reason, now])?;
    }
    Ok(())
}
