//! The files that every new workspace gets beside its settings and exports: what git needs to know.

use super::StarterFile;

/// What git is not to keep.
pub const IGNORED: [&str; 2] = [".zonewright/", "keys/"];

/// The files for git.
pub fn for_git() -> Vec<StarterFile> {
    let [state, keys] = IGNORED;
    let ignore = format!(
        "# The journal, and what else zonewright remembers between runs: kept, but not in git.\n{state}\n\
         # Secrets of TSIG keys.\n{keys}\n"
    );
    let attributes = "# Branches that give names add rows; `zonewright check --fix-lock` settles what they say against each other.\n\
                      names.lock merge=union\n";
    let owners = "# Who must agree to a change, for GitHub and GitLab. Put your own teams in, and call the file CODEOWNERS.\n\
                  # What the administrator alone may change:\n\
                  /zonewright.toml  @example/dns-admins\n\
                  /CODEOWNERS       @example/dns-admins\n\
                  # What the owners of projects may change:\n\
                  /projects/        @example/project-owners\n\
                  # Names, which are given by `zonewright allocate` and reviewed like code:\n\
                  /names.lock       @example/project-owners\n";
    vec![
        StarterFile::new(".gitignore", "keeps the state and keys out of git", ignore),
        StarterFile::new(".gitattributes", "lets git merge names.lock", attributes.to_owned()),
        StarterFile::new("CODEOWNERS.example", "who reviews what, for you to adapt", owners.to_owned()),
    ]
}
