//! The tasks of the reference service, in SQLite.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row};

/// The table, in the order in which tasks came.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS tasks (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    host TEXT NOT NULL,
    content TEXT NOT NULL,
    allowed INTEGER NOT NULL DEFAULT 0
)";

/// A task that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTask {
    /// Its id.
    pub id: String,
    /// Its host, in small letters.
    pub host: String,
    /// The content with which it was made.
    pub content: String,
    /// Whether its host may be disturbed.
    pub is_allowed: bool,
}

/// The tasks. Errors are SQLite's, in words.
pub struct TaskStore(Connection);

impl TaskStore {
    /// Opens a file, or makes it; none is in memory, and ends with the process.
    pub fn open(file: Option<&Path>) -> Result<TaskStore, String> {
        let db = file.map_or_else(Connection::open_in_memory, Connection::open).map_err(said)?;
        db.execute(TABLE, []).map_err(said)?;
        Ok(TaskStore(db))
    }

    /// A task by its id.
    pub fn find(&self, id: &str) -> Result<Option<StoredTask>, String> {
        let sql = "SELECT id, host, content, allowed FROM tasks WHERE id = ?1";
        self.0.query_row(sql, [id], task).optional().map_err(said)
    }

    /// All tasks, in the order in which they came.
    pub fn all(&self) -> Result<Vec<StoredTask>, String> {
        let mut query =
            self.0.prepare_cached("SELECT id, host, content, allowed FROM tasks ORDER BY place").map_err(said)?;
        let rows = query.query_map([], task).map_err(said)?;
        rows.collect::<Result<Vec<StoredTask>, _>>().map_err(said)
    }

    /// Adds a task.
    pub fn add(&self, added: &StoredTask) -> Result<(), String> {
        let StoredTask { id, host, content, is_allowed } = added;
        let sql = "INSERT INTO tasks (id, host, content, allowed) VALUES (?1, ?2, ?3, ?4)";
        self.0.execute(sql, (id, host, content, is_allowed)).map(drop).map_err(said)
    }

    /// Says that the host of a task may be disturbed.
    pub fn allow(&self, id: &str) -> Result<(), String> {
        self.0.execute("UPDATE tasks SET allowed = 1 WHERE id = ?1", [id]).map(drop).map_err(said)
    }

    /// Removes a task; says whether there was one.
    pub fn remove(&self, id: &str) -> Result<bool, String> {
        self.0.execute("DELETE FROM tasks WHERE id = ?1", [id]).map(|count| count > 0).map_err(said)
    }
}

/// A row.
fn task(row: &Row<'_>) -> rusqlite::Result<StoredTask> {
    Ok(StoredTask { id: row.get(0)?, host: row.get(1)?, content: row.get(2)?, is_allowed: row.get(3)? })
}

/// An error in words.
fn said(error: rusqlite::Error) -> String {
    error.to_string()
}
