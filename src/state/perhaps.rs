//! The hosts that were perhaps changed: those of updates that were sent with an unknown outcome.

use super::journal::{self, KeptChange};
use super::seal;
use super::sqlite::Sqlite;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::inventory::value::Time;

/// The hosts of all updates since a time that are open: project, host, when it was sent.
pub fn changed_since(state: &Sqlite, since: Time) -> Result<Vec<(String, Subject, Time)>, Problem> {
    let sql = format!(
        "{} WHERE (settled IS NULL OR settled = 'unknown') AND sent_at >= ?1
         ORDER BY sent_at, batches.apply, batches.number",
        seal::SENT
    );
    let mut hosts = Vec::new();
    for (batch, changes) in state.read(&sql, [since.as_nanos()], seal::sent)? {
        let at = Time::from_nanos(batch.sent_at);
        let kept = journal::from_json(&changes).ok_or_else(|| state.odd("list of changes", &changes))?;
        let of_hosts =
            kept.into_iter().filter_map(|KeptChange { subject, project, .. }| Some((project, subject.counted()?, at)));
        hosts.extend(of_hosts);
    }
    Ok(hosts)
}
