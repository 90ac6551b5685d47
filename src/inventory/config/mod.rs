//! The two kinds of settings: zonewright.toml and the project files.
//!
//! Comes in: their text. Goes out: a tree of located values, then checked settings with all that is wrong. Touches no
//! disk.

mod apexes;

mod catalogs;

mod marking;

pub mod pools;

pub mod toml;

pub mod shared;

pub mod retarget;

pub mod notify;

mod health;

mod cms;

mod approvals;

mod sources;

mod update_records;

pub mod settings;

mod template_text;

mod rollout;

pub mod pod_set;

pub mod project;

/// Whether a text can be the id of a project: something that can be seen, in one word.
fn is_id(text: &str) -> bool {
    !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control())
}

/// What to do about a text that cannot.
const ID_HINT: &str = "use one word without blanks and control characters";
