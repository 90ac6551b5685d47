//! Bases.
