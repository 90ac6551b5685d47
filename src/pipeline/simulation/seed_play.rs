//! What is played under a seed.

/// Which protection is switched off, to see that the simulation finds the faults that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakness {
    /// Nothing.
    None,
    /// Updates lose their prerequisites on the way, except that of the marker.
    Prerequisites,
    /// Zones are written without a marker.
    Marker,
    /// The survey sees what the plan saw, whatever DNS holds.
    PreRead,
}

/// What zones are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrimaryKind {
    /// A primary in memory.
    Memory,
    /// The double of Route 53.
    Route53,
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
