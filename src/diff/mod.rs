//! Compares desired with live DNS by the reconcile rules, and decides what is done.
//!
//! Comes in: desired hosts, live DNS, and which host holds which name. Goes out: for each host, that it is skipped or
//! blocked, or what its rules do; for all hosts, changes with their reasons, and notices. Pure.
//!
//! [`decide`] does all of it. Each host is processed alone, so that all run in parallel. [`standing`] decides whether its rules run at all, and
//! [`rules::reconcile`] runs them, unless live DNS already holds all that the host needs ([`settled`]). After all
//! hosts, [`rules::settle`] can still block a host: only then it is known which hosts' records are protected.

pub mod pod_claims;

pub mod stated;

pub mod context;

pub mod own;

pub mod act;

pub mod words;

pub mod block;

pub mod subject_standing;

pub mod standing;

pub mod settled;

mod choice;

pub mod compare;

pub mod rules;

pub mod records;

mod endpoints;

mod filtered;

pub mod former_names;

pub mod pod_doubt;

pub mod pod_names;

pub mod srv_name;

pub mod gone_endpoints;

mod unstated;

pub mod released;

pub mod orphans;

pub mod left_behind;

mod left_unstated;

pub mod merge;

pub mod protect;

pub mod waits;

pub mod statements;

pub mod delay;

pub mod held;

pub mod derive;

pub mod survey;

pub mod pod_survey;

pub mod recent;

mod refuse;

pub mod judge;

pub mod carry;

pub mod copies;

pub mod adopt;

mod affected;

pub mod decide;

pub use act::RuleAct;
pub use block::SubjectBlock;
pub use context::{RuleContext, RuleGround, Selection, TrippedHosts};
pub use subject_standing::{SubjectStanding, SubjectStandings};
