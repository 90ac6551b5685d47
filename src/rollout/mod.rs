//! Which units of a plan go now. Pure.
//!
//! Comes in: the units that are still to be written, the budgets of groups, what is remembered of earlier waves, the clock,
//! and the leave that `guard` gave. Goes out: the next wave. It decides which units go now and which later, never what a
//! plan does.
//!
//! | part | what it does |
//! |---|---|
//! | `units` | joins changes that are made together or not at all |
//! | `flux` | what is remembered: changes that may not have reached all clients, batches, waits |
//! | `recent` | names of placements that clients may not see as they are |
//! | `listed` | names that SRV list: whose changes come after those of another unit |
//! | `members` | the subjects of a unit that a budget counts |
//! | `steps` | changes in two steps: the new addresses come before the old ones go |
//! | `via` | what is there in between |
//! | `replaced` | pods that others replace |
//! | `released` | who is in between and gives its place back |
//! | `board` | chooses waves, one after another |
//! | `present` | who is down or in flux |
//! | `choice` | which units of a plan go now, and why the others wait |
//! | `turns` | the order in which they come, for those who prepare them |
//! | `wave` | the units that go, with the leave to write them |

pub mod units;

pub mod listed;

pub mod flux;

pub mod recent;

pub mod members;

pub mod steps;

pub mod via;

pub mod board;

pub mod replaced;

pub mod present;

pub mod released;

pub mod choice;

pub mod turns;

pub mod wave;

pub use choice::{RolloutChoice, choose};
pub use flux::{FluxRow, FluxStage, FormerRrset, GroupBatch, ProbeResult, RolloutMemory, WaitRecord};
pub use members::{
    CacheTimes, GroupTerms, RolloutView, UnapprovedHost, UnitMember, group_of, place_of, plan_covers, what_is_left,
};
pub use present::free_places;
pub use steps::UnitStep;
pub use turns::in_order;
pub use units::{ChangeUnit, UnitSubject, hosts_of, is_one, units, units_of};
pub use wave::Wave;
