//! Joins the rooms in order: makes a plan from a workspace and its servers.
//!
//! Comes in: the folder of a workspace, the clock, and the hosts whose rules run. Goes out: a plan with all findings.
//! Zones and hosts are processed in parallel here; the outcome does not depend on the number of threads.

pub mod base;

mod accepted;

mod acceptance;

pub mod snapshot;

pub mod doctor;

pub mod state;

pub mod guards;

mod review;

mod run_watch;

pub mod explain;

pub mod accept;

mod free_names;

pub mod names;

pub mod merging;

pub mod conduct;

pub mod targets;

pub mod approvals;

pub mod apply;

mod allowed;

mod broken_off;

pub mod fix;

pub mod resume;

pub mod sync;

pub mod pool_status;

pub mod undo;

mod undo_listed;

mod listed_since;

mod lost_marks;

mod registry_texts;

mod explain_waits;

mod left_behind;

mod left_open;

mod edited;

mod publication;

mod published;

mod recent_pods;

mod pod_states;

pub mod drift;

pub mod render;

pub mod render_external_dns;

pub mod metrics;

mod statements;

mod subjects;

mod waits;

pub mod waves;

mod wave_checks;

mod probing;

mod wave_choice;

mod name_servers;
mod names_again;

pub mod vocabulary;

pub mod later_waves;

mod wait_notes;

pub mod history;

pub mod serve;

pub mod init;

pub mod running;

mod settings;

mod open_lack;

mod hold_back;

mod pointers;

mod mark_places;

mod record_targets;

mod external_dns_records;

mod record_zones;

mod shared_copies;

mod txt_keys;

mod lacking;

mod sights;

mod zone_changes;

mod zone_making;
mod zone_settings;

mod findings;

mod fits;

mod input_error;

mod inputs;

mod kept_input;

mod plan;

mod plan_ground;

mod last_plan;

mod notices;

mod check;

pub mod cms;

pub mod cms_access;

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod simulation;

#[cfg(test)]
mod tests;

pub use check::{WorkspaceCheck, check};
pub use findings::{BaseRemark, Findings};
pub use input_error::InputError;
pub use inputs::{PlanRequest, SnapshotUsed};
pub use last_plan::LastPlan;
pub use plan::{MadePlan, PlanError, make_plan};
pub use settings::OpenError;

/// The name of this program in documents.
const TOOL: &str = concat!("zonewright ", env!("CARGO_PKG_VERSION"));
