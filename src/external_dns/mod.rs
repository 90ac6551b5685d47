//! What external-dns carries out, as manifests for Kubernetes.
//!
//! Comes in: the inventory, and the files that a folder holds. Goes out: which of them are to be written and removed, in the
//! order in which that is safe. Pure: `pipeline` reads and writes the folder.

pub mod yaml_text;

pub mod arguments;

pub mod objects;

pub mod wishes;

pub mod found;

pub mod folder;
