//! Whether the servers of a pool serve what was applied: steps, statuses, and what the voters agree on. Pure.
//!
//! Comes in: what targets and name servers were seen to serve. Goes out: the row of each server, the step that a zone has
//! reached by consensus, and the status of each RRset. The words are those of OpenStack Designate's pool manager. Unlike
//! there, serials of two servers are never compared with each other: each is a step of the target that it is of, by the
//! arithmetic of RFC 1982.
//!
//! | part | what it does |
//! |---|---|
//! | `steps` | serials to steps, of targets and name servers |
//! | `server` | what a server answered to its row |
//! | `count` | the rows of all voters to one verdict |
//! | `rrsets` | the verdict to the statuses of RRsets and of the zone |
//! | `record` | all of that for one zone, as it is remembered between runs |
//! | `merge` | what name servers showed, into a record that other runs went on with meanwhile |

pub mod count;

pub mod merge;

pub mod record;

pub mod rrsets;

pub mod server;

pub mod steps;

pub use count::{StepVerdict, UpdateBallot, is_reached};
pub use merge::{UnshownStep, ZonePolls};
pub use record::{
    NewStep, SerialSeen, TakenRrset, TargetServed, TargetStanding, TimedRow, VoterId, VoterLag, VoterRoll, ZoneRecord,
    ZoneRrsets,
};
pub use rrsets::{RrsetPublication, RrsetStatus, RrsetTask, ZoneStatus};
pub use server::{RowStatus, ServerFault, ServerRow};
pub use steps::{ServedSteps, StepNumber, StepSerial};

#[cfg(test)]
mod tests;
