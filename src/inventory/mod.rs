//! What the fleet is: files to [`model::Inventory`].
//!
//! Comes in: the folder of a workspace. Goes out: typed values, each with the place that says it, and diagnostics. Only
//! `read` touches the disk; everything else here takes text.

pub mod value;

pub mod symbol;

pub mod repeats;

pub mod template;

pub mod selector;

pub mod kubernetes;

pub mod source;

pub mod place;

pub mod node;

pub mod yaml;

pub mod config;

pub mod pool;

pub mod trust;

pub mod policy;

pub mod apps;

pub mod stated;

pub mod addresses;

pub mod health;

pub mod cms;

pub mod approvals;

pub mod rollout;

pub mod pod_template;

pub mod pods;

pub mod pod_clashes;

pub mod parameter_name;

pub mod domain_filter;

pub mod update_record;

pub mod workspace_config;

pub mod model;

pub mod by_inv;

pub mod moves;

pub mod reports;

pub mod devices;

pub mod sources;

pub mod published;

pub mod near_type;

pub mod outside;

pub mod budgets;

pub mod pod_checks;

pub mod record_pools;

pub mod read;

pub use model::Inventory;
pub use read::{LoadedWorkspace, load_workspace};
