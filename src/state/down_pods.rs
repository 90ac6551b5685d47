//! The pods that an export called dead or waiting, and that none called active since where their names point.

use std::collections::BTreeSet;

use super::sql::{SqlDatabase, SqlRow, SqlRows as _, values};
use crate::claim::Subject;
use crate::diag::Problem;

/// The pods that are down. What a method wrote is durable when it returns.
pub trait DownPods: Send {
    /// The pods that an export called dead or waiting, and that none called active since where their names point.
    fn pods_down(&self) -> Result<BTreeSet<Subject>, Problem>;

    /// Makes these the pods that are down.
    fn keep_pods_down(&mut self, down: &BTreeSet<Subject>) -> Result<(), Problem>;
}

impl<D: SqlDatabase> DownPods for D {
    fn pods_down(&self) -> Result<BTreeSet<Subject>, Problem> {
        let texts: Vec<String> = self.rows("SELECT subject FROM pods_down", &[], |row: &dyn SqlRow| row.get(0))?;
        let subject = |text: String| text.parse().map_err(|_| self.odd("subject", &text));
        texts.into_iter().map(subject).collect()
    }

    fn keep_pods_down(&mut self, down: &BTreeSet<Subject>) -> Result<(), Problem> {
        self.write(|change| {
            change.execute("DELETE FROM pods_down", &[])?;
            for subject in down {
                change.execute("INSERT INTO pods_down (subject) VALUES (?1)", values![subject.to_string()])?;
            }
            Ok(())
        })
    }
}
