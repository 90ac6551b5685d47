//! As what the state is asked for RRsets: for those of a copy, or of any copy where a name is in one copy alone.

use std::collections::BTreeMap;

use crate::change::Change;
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::drift::WrittenCopy;
use crate::inventory::model::Config;
use crate::inventory::pool::Pool;
use crate::state::{OwnershipRegister, SightedRrset};
use crate::target::{PoolName, TargetId, TargetScope};

/// The targets of pools of which a name may be in several copies, in the order of the settings.
pub(super) struct CopySights(BTreeMap<PoolName, Vec<TargetScope>>);

impl CopySights {
    /// Those of a configuration.
    pub fn of(config: &Config) -> CopySights {
        let scopes = |pool: &Pool| Some((pool.name.clone(), config.scopes(pool)?));
        CopySights(config.pools.iter().filter_map(scopes).collect())
    }

    /// An RRset of the reference copy of a zone of a pool.
    pub fn reference<'a>(&'a self, pool: &PoolName, key: &'a RrKey) -> SightedRrset<'a> {
        SightedRrset { key, at: self.0.get(pool).map(|scopes| &scopes[0]) }
    }

    /// The RRset of a change in each copy that it is for.
    pub fn of_change<'a>(&'a self, change: &'a Change) -> Vec<SightedRrset<'a>> {
        let key = &change.key;
        let Some(scopes) = self.0.get(&change.pool) else { return vec![SightedRrset::anywhere(key)] };
        let own = scopes.iter().filter(|scope| change.is_for(&scope.target));
        own.map(|scope| SightedRrset { key, at: Some(scope) }).collect()
    }

    /// The RRset of a change at a target of its pool, or at the only one.
    pub fn at<'a>(&'a self, target: Option<&TargetId>, change: &'a Change) -> SightedRrset<'a> {
        let scopes = self.0.get(&change.pool).into_iter().flatten();
        let at = scopes.into_iter().find(|scope| target.is_none_or(|target| scope.target == *target));
        SightedRrset { key: &change.key, at }
    }

    /// The RRset of a change in the first copy that it is for.
    pub fn first_of<'a>(&'a self, change: &'a Change) -> SightedRrset<'a> {
        self.of_change(change).swap_remove(0)
    }
}

/// What the latest update left at the RRset of each change, in each copy that the change is for.
///
/// Errors: the state cannot be read.
pub(super) fn last_written(
    config: &Config,
    changes: &[Change],
    state: Option<&(impl OwnershipRegister + ?Sized)>,
) -> Result<Vec<Vec<WrittenCopy>>, Problem> {
    let sights = CopySights::of(config);
    let of_changes: Vec<Vec<SightedRrset<'_>>> = changes.iter().map(|change| sights.of_change(change)).collect();
    let sought = of_changes.concat();
    let written = match state {
        Some(state) => state.last_written(&sought)?,
        None => vec![None; sought.len()],
    };
    let mut written = written.into_iter();
    let copy = |sight: &SightedRrset<'_>, written| {
        let several = sight.at.filter(|scope| !scope.others.is_empty());
        WrittenCopy { target: several.map(|scope| scope.target.clone()), written }
    };
    let of_change = |sights: &Vec<SightedRrset<'_>>| {
        sights.iter().map(|sight| copy(sight, written.next().expect("each RRset has an answer"))).collect()
    };
    Ok(of_changes.iter().map(of_change).collect())
}
