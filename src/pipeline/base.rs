//! The inventory that a plan is held against.

use std::fmt;
use std::path::Path;

use crate::diag::Diagnostics;
use crate::inventory::Inventory;
use crate::inventory::read;
use crate::inventory::value::Time;

/// The inventory that a plan is held against.
#[derive(Debug)]
pub struct Base {
    /// The inventory.
    pub inventory: Inventory,
    /// What the command line names.
    pub name: String,
    /// The commit; none for a folder.
    pub commit: Option<String>,
    /// What is wrong in it.
    pub diagnostics: Diagnostics,
}

/// Why a base cannot be used.
#[derive(Debug)]
pub struct BaseError(String);

impl fmt::Display for BaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Loads a base.
pub fn load(_workspace: &Path, base: &str, now: Time) -> Result<Base, BaseError> {
    let loaded = read::load_workspace(Path::new(base), now, &|_| {});
    let inventory = loaded.inventory.map_err(|_| BaseError(format!("`{base}` is no workspace")))?;
    Ok(Base { inventory, name: base.to_owned(), commit: None, diagnostics: loaded.diagnostics })
}
