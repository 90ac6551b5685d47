//! Repositories, real ones.
