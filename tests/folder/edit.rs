//! Edits in a workspace.

use std::fs;
use std::path::Path;

/// Replaces a part of a file that is there once.
pub fn edit(workspace: &Path, file: &str, part: &str, by: &str) {
    let text = fs::read_to_string(workspace.join(file)).expect("a file of the workspace");
    assert_eq!(text.matches(part).count(), 1, "{part}");
    fs::write(workspace.join(file), text.replace(part, by)).expect("a file of the workspace");
}
