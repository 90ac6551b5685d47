//! What is played under a seed.

/// Which protection is switched off, to see that the simulation finds the faults that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Nothing.
    None,
    /// Updates lose their prerequisites on the way, except that of the marker; requests lose their conditions.
    Prerequisites,
    /// Zones are written without a marker.
    Marker,
    /// The survey sees what the plan saw, whatever DNS holds.
    PreRead,
    /// RRsets that are written one by one have no order of their own; where values are written one by one, those of before go
    /// before the others come.
    Order,
    /// What a service does later is not waited for.
    Wait,
}

/// What zones are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrimaryKind {
    /// A primary in memory.
    Memory,
    /// The double of Route 53.
    Route53,
    /// The double of Azure DNS, with the zones of a registry: each RRset is written by itself, and no marker fences it.
    Azure,
    /// The double of Cloud Map, which compares nothing: no other editor writes what a run is about while it is active.
    CloudMap,
}

/// What is played.
#[derive(Debug, Clone, Copy)]
pub struct SeedPlay {
    /// The seed.
    pub seed: u64,
    /// What zones are written to.
    pub kind: PrimaryKind,
    /// What is switched off.
    pub weakness: Weakness,
    /// Whether what happens is kept.
    pub has_history: bool,
}
