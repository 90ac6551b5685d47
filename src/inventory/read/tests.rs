//! Workspaces, good and bad.
