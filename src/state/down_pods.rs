//! The pods that an export called dead or waiting, and that none called active since where their names point.

use std::collections::BTreeMap;

use super::sql::{SqlDatabase, SqlRow, SqlRows as _, values};
use crate::claim::Subject;
use crate::diag::Problem;
use crate::inventory::value::Time;

/// A pod that is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DownPod {
    /// Whether it is in service: budgets count only such pods.
    pub in_service: bool,
    /// Since when this is known: a plan that was made before does not know it.
    pub since: Time,
}

/// The pods that are down. What a method wrote is durable when it returns.
pub trait DownPods: Send {
    /// The pods that an export called dead or waiting, and that none called active since where their names point.
    fn pods_down(&self) -> Result<BTreeMap<Subject, DownPod>, Problem>;

    /// Makes these the pods that are down.
    fn keep_pods_down(&mut self, down: &BTreeMap<Subject, DownPod>) -> Result<(), Problem>;
}

impl<D: SqlDatabase> DownPods for D {
    fn pods_down(&self) -> Result<BTreeMap<Subject, DownPod>, Problem> {
        let row = |row: &dyn SqlRow| {
            let pod = DownPod { in_service: row.get(1)?, since: row.get(2)? };
            Ok((row.get::<String>(0)?, pod))
        };
        let rows = self.rows("SELECT subject, in_service, since FROM pods_down", &[], row)?;
        let pod = |(text, pod): (String, DownPod)| {
            let subject = text.parse().map_err(|_| self.odd("subject", &text))?;
            Ok((subject, pod))
        };
        rows.into_iter().map(pod).collect()
    }

    fn keep_pods_down(&mut self, down: &BTreeMap<Subject, DownPod>) -> Result<(), Problem> {
        self.write(|change| {
            change.execute("DELETE FROM pods_down", &[])?;
            let sql = "INSERT INTO pods_down (subject, in_service, since) VALUES (?1, ?2, ?3)";
            for (subject, DownPod { in_service, since }) in down {
                change.execute(sql, values![subject.to_string(), *in_service, *since])?;
            }
            Ok(())
        })
    }
}
