//! Targets: the servers and folders that hold zones, as the rest of the code sees them. No provider is named here.
//!
//! Comes in: nothing but names, RRsets and problems. Goes out: what a target can do ([`TargetCapabilities`]), one trait
//! to read it ([`ReadTarget`]), one to write it ([`WriteTarget`]), the record that fences what is written
//! ([`Marker`]), and the targets of pools side by side ([`TargetSet`]).

pub mod answers;

pub mod apex;

pub mod bounds;

pub mod capabilities;

pub mod marker;

pub mod name_server;

pub mod opaque;

pub mod pool_name;

pub mod question;

pub mod read;

pub mod set;

pub mod write;

pub use apex::ZoneApex;
pub use bounds::{PoolBounds, RecordBounds, RecordTypes};
pub use capabilities::{
    AtomicUnit, MarkPlace, PublicationProof, RrsetComparison, TargetCapabilities, WritePace, ZoneFence, ZoneHome,
    ZoneMaking,
};
pub use marker::{MARKER_LABEL, Marker, marker_key};
pub use name_server::{NameServer, Patience, SerialAnswer};
pub use opaque::OpaqueRecords;
pub use pool_name::PoolName;
pub use question::{Answer, NameExistence, PROBE, Question};
pub use read::{ReadTarget, ReadingManner, ZoneRead, ZoneStamp, apexes_of, transfer_is_cheaper};
pub use set::{CopyId, OpenedTarget, TargetId, TargetScope, TargetSet, ZoneId};
pub use write::{
    EditSize, RrsetBlame, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateTicket, UpdateZone, WriteTarget,
};
