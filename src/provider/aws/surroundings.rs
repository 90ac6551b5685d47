//! What is around the process, and where AWS's own tools look in it: tests have their own.

use std::path::{Path, PathBuf};

use super::profile::{AwsProfiles, ProfileFile};
use crate::diag::Problem;
use crate::provider::secret::{open_private, unreadable};
use crate::provider::surroundings::{ProcessSurroundings, read_text};

/// Where the endpoint of a container is that is given by a path (the ECS developer guide, "Task IAM role").
const CONTAINER: &str = "http://169.254.170.2";

/// What is to be in the files of profiles.
const OF_PROFILES: &str = "it holds profiles as AWS's own tools write them";

/// What is around the process.
pub struct AwsSurroundings {
    /// What is around it for any cloud.
    pub process: ProcessSurroundings,
    /// The URL of the endpoint of a container that is given by a path.
    pub container: String,
}

impl AwsSurroundings {
    /// Those of this process.
    pub fn of_process(workspace: &Path) -> AwsSurroundings {
        AwsSurroundings { process: ProcessSurroundings::of_process(workspace), container: CONTAINER.to_owned() }
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
        if let Some(path) = self.process.variable(variable) {
            return (Some(self.process.in_home(&path)), path);
        }
        let path = self.process.home.as_ref().map(|home| home.join(".aws").join(name));
        (path, format!("~/.aws/{name}"))
    }
}
