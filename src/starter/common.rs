//! The files that every new workspace gets in addition to its settings and exports: what git needs to know.

use std::path::Path;

use super::{Starter, StarterFile};

/// The folder of secrets.
pub const KEYS: &str = "keys/";

/// What git must not keep.
const IGNORED: [&str; 2] = [".zonewright/", KEYS];

/// The patterns in the .gitignore of a starter.
pub fn ignored(starter: &Starter) -> impl Iterator<Item = &str> {
    let text = starter.files.iter().find(|file| file.path == IGNORE).map(|file| file.text.as_str());
    text.unwrap_or_default().lines().filter(|line| !line.starts_with('#'))
}

/// The file that says it.
pub const IGNORE: &str = ".gitignore";

/// The files for git; secrets in the workspace are not kept either.
pub fn for_git(secrets: &[&str]) -> Vec<StarterFile> {
    let [state, keys] = IGNORED;
    let mut ignore = format!(
        "# The journal, and what else zonewright remembers between runs: kept, but not in git.\n{state}\n\
         # Secrets.\n{keys}\n"
    );
    for secret in secrets.iter().filter(|path| Path::new(path).is_relative() && !path.starts_with(keys)) {
        ignore.push_str(&format!("{}\n", as_pattern(secret)));
    }
    let attributes = "# Branches that give names add rows; `zonewright check --fix-lock` resolves their conflicts.\n\
                      names.lock merge=union\n";
    let owners = "# Who must agree to a change, for GitHub and GitLab. Enter your own teams, and rename the file to CODEOWNERS.\n\
                  # What the administrator alone may change:\n\
                  /zonewright.toml  @example/dns-admins\n\
                  /CODEOWNERS       @example/dns-admins\n\
                  # What the owners of projects may change:\n\
                  /projects/        @example/project-owners\n\
                  # Names, which are given by `zonewright allocate` and reviewed like code:\n\
                  /names.lock       @example/project-owners\n";
    vec![
        StarterFile::new(IGNORE, "keeps the state and keys out of git", ignore),
        StarterFile::new(".gitattributes", "lets git merge names.lock", attributes.to_owned()),
        StarterFile::new("CODEOWNERS.example", "who reviews what, for you to adapt", owners.to_owned()),
    ]
}

/// A path in the folder as a pattern that means just it.
fn as_pattern(path: &str) -> String {
    let escaped = path.chars().map(|c| if "\\*?[ ".contains(c) { format!("\\{c}") } else { c.to_string() });
    format!("/{}", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_the_workspace_is_not_kept_in_git() {
        let ignored = |secrets: &[&str]| {
            let starter = Starter { files: for_git(secrets), ..Starter::default() };
            ignored(&starter).map(str::to_owned).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(ignored(&[]), ".zonewright/\nkeys/");
        assert_eq!(ignored(&["keys/a.key"]), ".zonewright/\nkeys/");
        assert_eq!(ignored(&["/etc/zonewright.key"]), ".zonewright/\nkeys/");
        assert_eq!(ignored(&["zone wright.key", "api"]), ".zonewright/\nkeys/\n/zone\\ wright.key\n/api");
    }
}
