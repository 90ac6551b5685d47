//! zonewright keeps DNS in sync with the inventory of a server fleet.
//!
//! Data moves one way, room by room, and each room imports only rooms above it in the list below:
//!
//! ```text
//! files ───▶ inventory ──┬─────────▶ names ─▶ desired ─┐         ┌─▶ explain ──────────────────────────────────────────────┐
//!                        │           ▲         ▲       ├─▶ diff ─┴─▶ plan ─▶ guard ─▶ rollout ─▶ apply ─▶ verify ─▶ state ─┴─▶ report
//! servers ─▶ provider ─▶ reading ─▶ live ──────┴───────┘              ▲                            └─▶ provider ─▶ servers │
//!                                                                     └────────────────────── undo ◀───────────────────────┘
//! ```
//!
//! `review` names the causes of a plan's changes: it compares the inventory with a base, whose files `git` reads, and
//! with what was accepted last; `drift` compares a plan with what applies left.
//!
//! Every arrow is a plain value that can be printed, compared and put in a test. docs/design.md has the same picture, and
//! says of each room what it touches: *pure* rooms do no input or output, read no clock or environment, and give the
//! same answer for the same arguments. `pipeline` joins the rooms.

pub mod document;

pub mod dns;

pub mod diag;

pub mod target;

pub mod registry;

pub mod disk;

pub mod inventory;

pub mod external_dns;

pub mod claim;

pub mod change;

pub mod live;

pub mod post_state;

pub mod names;

pub mod desired;

pub mod diff;

pub mod explain;

pub mod parallel;

pub mod progress;

pub mod git;

pub mod process;

pub mod http;

pub mod web;

pub mod health;

pub mod cms;

pub mod plan;

pub mod review;

pub mod guard;

pub mod rollout;

pub mod approval;

pub mod consensus;

pub mod provider;

pub mod apply;

pub mod verify;

pub mod state;

pub mod undo;

pub mod drift;

pub mod snapshot;

pub mod reading;

pub mod starter;

pub mod doctor;

pub mod passes;

pub mod serve;

pub mod codes;

pub mod report;

pub mod pipeline;

pub mod notify;

pub mod cli;

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the programs use the rest of it")]
#[path = "../tests/doubles/mod.rs"]
mod doubles;
