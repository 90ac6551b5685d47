//! What is around the process, as values: tests have their own.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::profile::{AwsProfiles, ProfileFile};
use super::source::PLACE;
use crate::diag::Problem;
use crate::http::{HttpAnswer, HttpClient, HttpFailureKind, HttpQuestion};
use crate::provider::secret::{open_private, unreadable};

/// The most octets that a file of profiles, or of a token, may have: a longer one is another file.
const MAX_FILE: u64 = 4 << 20;

/// How many octets an answer with credentials may have, by far.
pub const MAX_ANSWER: u64 = 256 * 1024;

/// Where the endpoint of a container is that is given by a path (the ECS developer guide, "Task IAM role").
const CONTAINER: &str = "http://169.254.170.2";

/// What is to be in the files of profiles.
const OF_PROFILES: &str = "it holds profiles as AWS's own tools write them";

/// The value of an environment variable, by its name.
pub type VariableLookup = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What is around the process.
pub struct AwsSurroundings {
    /// The environment.
    pub variables: VariableLookup,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// The folder of the workspace, in which commands run.
    pub workspace: PathBuf,
    /// The URL of the endpoint of a container that is given by a path.
    pub container: String,
}

impl AwsSurroundings {
    /// Those of this process.
    pub fn of_process(workspace: &Path) -> AwsSurroundings {
        AwsSurroundings {
            variables: Box::new(|name| std::env::var(name).ok()),
            home: std::env::home_dir(),
            workspace: workspace.to_owned(),
            container: CONTAINER.to_owned(),
        }
    }

    /// A variable that is set to something, without blanks around it.
    pub fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Reads the files of profiles; a file that is not there has none.
    ///
    /// Errors: a file cannot be read, or others can read a secret in it.
    pub fn profiles(&self) -> Result<AwsProfiles, Problem> {
        let (config, shown_config) = self.file("AWS_CONFIG_FILE", "config");
        let (credentials, shown_credentials) = self.file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        let text = |path: Option<PathBuf>, shown: &str, is_secret: fn(&str) -> bool| {
            let Some(path) = path.filter(|path| path.exists()) else { return Ok(String::new()) };
            let text = read_text(&path).map_err(|error| unreadable((shown, OF_PROFILES), &error))?;
            if is_secret(&text) {
                open_private(&path, (shown, OF_PROFILES))?;
            }
            Ok(text)
        };
        let of_config = text(config, &shown_config, AwsProfiles::holds_secret)?;
        let of_credentials = text(credentials, &shown_credentials, AwsProfiles::holds_secret)?;
        let file = |shown, text| ProfileFile { shown, text };
        Ok(AwsProfiles::parse(&file(&shown_config, &of_config), &file(&shown_credentials, &of_credentials)))
    }

    /// A file of AWS's own tools, and what messages call it.
    fn file(&self, variable: &str, name: &str) -> (Option<PathBuf>, String) {
        if let Some(path) = self.variable(variable) {
            return (Some(self.in_home(&path)), path);
        }
        let path = self.home.as_ref().map(|home| home.join(".aws").join(name));
        (path, format!("~/.aws/{name}"))
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
fn read_text(path: &Path) -> io::Result<String> {
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

/// A text that a header can have; none where it is another.
pub fn one_word(text: &str) -> Option<&str> {
    (!text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())).then_some(text)
}

/// Asks a service that gives credentials; any status is an answer.
///
/// Errors: there is no answer.
pub fn ask(client: &HttpClient, question: &HttpQuestion<'_>) -> Result<HttpAnswer, Problem> {
    client.ask(question).map_err(|failure| {
        let code = match failure.kind {
            HttpFailureKind::Unreachable => "connect-failed",
            HttpFailureKind::Late => "timeout",
            HttpFailureKind::TooLong => "api-failed",
        };
        Problem::new(PLACE, code, failure.message)
    })
}
