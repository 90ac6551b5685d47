//! The id of the workspace that a state belongs to: it tells a plan of one workspace from that of another.
//!
//! Comes in: nothing, or a state without an id. Goes out: 32 hexadecimal digits. A copy of a state has the id of the
//! original, so that a workspace can move to another machine.

use std::hash::{BuildHasher as _, RandomState};

use xxhash_rust::xxh3::xxh3_128;

use super::sql::{SqlRead, SqlRows as _};
use crate::diag::Problem;

/// Draws the id of a new state.
pub fn draw() -> String {
    // Each hasher has keys of its own, from the system's random numbers.
    let half = || RandomState::new().hash_one(());
    format!("{:016x}{:016x}", half(), half())
}

/// The id of a state that was made before states had one: it follows from its first apply. So all who read it know it
/// by the same id, also before the first of them writes to it.
pub fn derive(db: &dyn SqlRead) -> Result<String, Problem> {
    let sql = "SELECT plan || ' ' || effect || ' ' || started || ' ' || who FROM applies ORDER BY id LIMIT 1";
    let first = db.row(sql, &[], |row| row.get::<String>(0))?.unwrap_or_default();
    Ok(format!("{:032x}", xxh3_128(first.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_drawn_apart() {
        let (one, other) = (draw(), draw());
        assert!(one != other && one.len() == 32 && one.bytes().all(|octet| octet.is_ascii_hexdigit()));
    }
}
