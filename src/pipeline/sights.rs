//! As what the state is asked for RRsets: in pools of several targets for those of a copy, else for those of any copy.

use std::collections::BTreeMap;

use crate::change::Change;
use crate::diag::Problem;
use crate::dns::RrKey;
use crate::drift::WrittenCopy;
use crate::inventory::model::Config;
use crate::state::{OwnershipRegister, SightedRrset};
use crate::target::{PoolName, TargetScope};

/// The targets of pools of several, in the order of the settings.
pub(super) struct CopySights(BTreeMap<PoolName, Vec<TargetScope>>);

impl CopySights {
    /// Those of a configuration.
    pub fn of(config: &Config) -> CopySights {
        let several = config.pools.iter().filter(|pool| pool.has_several());
        let scopes = several.map(|pool| {
            let scopes = pool.targets.iter().map(|target| pool.scope(&target.id)).collect();
            (pool.name.clone(), scopes)
        });
        CopySights(scopes.collect())
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
    let copy =
        |sight: &SightedRrset<'_>, written| WrittenCopy { target: sight.at.map(|scope| scope.target.clone()), written };
    let of_change = |sights: &Vec<SightedRrset<'_>>| {
        sights.iter().map(|sight| copy(sight, written.next().expect("each RRset has an answer"))).collect()
    };
    Ok(of_changes.iter().map(of_change).collect())
}
