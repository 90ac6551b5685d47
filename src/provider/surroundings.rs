//! What is around the process, as values: tests have their own.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::diag::Problem;
use crate::provider::credentials::one_word;
use crate::provider::secret::unreadable;

#[cfg(test)]
pub mod testing;

/// The most octets that a file of another tool, or of a token, may have: a longer one is another file.
const MAX_FILE: u64 = 4 << 20;

/// The value of an environment variable, by its name.
pub type VariableLookup = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What is around the process.
pub struct ProcessSurroundings {
    /// The environment.
    pub variables: VariableLookup,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// The folder of the workspace, in which commands run.
    pub workspace: PathBuf,
}

impl ProcessSurroundings {
    /// Those of this process.
    pub fn of_process(workspace: &Path) -> ProcessSurroundings {
        ProcessSurroundings {
            variables: Box::new(|name| std::env::var(name).ok()),
            home: std::env::home_dir(),
            workspace: workspace.to_owned(),
        }
    }

    /// A variable that is set to something, without blanks around it.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// A path that may begin with the home folder.
    pub fn in_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.workspace.join(path),
        }
    }

    /// Reads a token that the platform keeps in a file, and renews there. The platform chooses the file's mode, too: in
    /// a pod, all users of the container may often read it, and no operator can change that.
    ///
    /// Errors: it cannot be read, or it is not one word.
    pub fn token(&self, path: &Path, variable: &str) -> Result<String, Problem> {
        let shown = path.display().to_string();
        let hint = format!("the file that `{variable}` names holds the token alone; the platform puts it there");
        let text = read_text(path).map_err(|error| unreadable((&shown, &hint), &error))?;
        one_word(text.trim()).map(str::to_owned).ok_or_else(|| {
            Problem::new(&shown, "secret-malformed", format!("what is in `{shown}` is no token: one word")).hint(hint)
        })
    }
}

/// Reads a file of text.
///
/// Errors: it cannot be read, is no regular file, is no text, or is too long.
pub fn read_text(path: &Path) -> io::Result<String> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    let length = File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
    if length as u64 > MAX_FILE {
        return Err(io::Error::other("it is too long"));
    }
    Ok(text)
}
