//! As what the state is asked for RRsets: in pools of several targets for those of the reference copy, else for those of
//! any copy.

use std::collections::BTreeMap;

use crate::change::Change;
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::inventory::model::Config;
use crate::state::{OwnershipRegister, SightedRrset, WrittenRrset};
use crate::target::{PoolName, TargetScope};

/// The targets with the reference copies of pools of several.
pub(super) struct ReferenceSights(BTreeMap<PoolName, TargetScope>);

impl ReferenceSights {
    /// Those of a configuration.
    pub fn of(config: &Config) -> ReferenceSights {
        let several = config.pools.iter().filter(|pool| pool.has_several());
        ReferenceSights(several.map(|pool| (pool.name.clone(), pool.scope(&pool.targets[0].id))).collect())
    }

    /// An RRset of a zone of a pool.
    pub fn sight<'a>(&'a self, pool: &PoolName, key: &'a RrKey) -> SightedRrset<'a> {
        SightedRrset { key, at: self.0.get(pool) }
    }

    /// The RRset of a change, if it is one of a reference copy.
    fn of_change<'a>(&'a self, change: &'a Change) -> Option<SightedRrset<'a>> {
        let sight = self.sight(&change.pool, &change.key);
        sight.at.is_none_or(|scope| change.is_for(&scope.target)).then_some(sight)
    }

    /// The RRsets of changes; `None` for changes of other copies alone.
    pub fn of_changes<'a>(&'a self, changes: &'a [Change]) -> Vec<Option<SightedRrset<'a>>> {
        changes.iter().map(|change| self.of_change(change)).collect()
    }
}

/// Asks about the RRsets that are there, and gives the answers in the order of all.
pub(super) fn ask_present<T>(
    sights: &[Option<SightedRrset<'_>>],
    ask: impl FnOnce(&[SightedRrset<'_>]) -> Result<Vec<Option<T>>, Problem>,
) -> Result<Vec<Option<T>>, Problem> {
    let present: Vec<SightedRrset<'_>> = sights.iter().flatten().copied().collect();
    let mut answers = ask(&present)?.into_iter();
    Ok(sights.iter().map(|sight| sight.as_ref().and_then(|_| answers.next().flatten())).collect())
}

/// What the latest update left at the RRset of each change, where it changes a reference copy or a pool has one target.
///
/// Errors: the state cannot be read.
pub(super) fn last_written(
    config: &Config,
    changes: &[Change],
    state: &(impl OwnershipRegister + ?Sized),
) -> Result<Vec<Option<WrittenRrset>>, Problem> {
    let sights = ReferenceSights::of(config);
    ask_present(&sights.of_changes(changes), |present| state.last_written(present))
}
