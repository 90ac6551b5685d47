//! What editors need to check settings while they are typed: the JSON Schemas, and the line in a file that names its
//! schema.
//!
//! The schemas are files of the workspace, kept in git, so that they are there in every clone and without a network.

use super::StarterFile;

/// The schema of zonewright.toml.
const CONFIG: (&str, &str) = ("schemas/config.schema.json", include_str!("../../schemas/config.schema.json"));

/// The schema of project files.
const PROJECT: (&str, &str) = ("schemas/project.schema.json", include_str!("../../schemas/project.schema.json"));

/// The first line of zonewright.toml, which Taplo reads (VS Code, Neovim, Helix, Zed).
pub fn config_line() -> String {
    format!("#:schema ./{}\n", CONFIG.0)
}

/// The first line of a project file, which the YAML language server reads; `path` is that of the project file.
pub fn project_line(path: &str) -> String {
    let up = "../".repeat(path.matches('/').count());
    format!("# yaml-language-server: $schema={up}{}\n", PROJECT.0)
}

/// The files of the schemas.
pub fn schemas() -> impl Iterator<Item = StarterFile> {
    let all = [(CONFIG, "lets editors check zonewright.toml"), (PROJECT, "lets editors check project files")];
    all.into_iter().map(|((path, text), about)| StarterFile::new(path, about, text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_file_names_the_schema_from_its_own_folder() {
        assert_eq!(config_line(), "#:schema ./schemas/config.schema.json\n");
        assert_eq!(project_line("a.yaml"), "# yaml-language-server: $schema=schemas/project.schema.json\n");
        assert_eq!(project_line("projects/a.yaml"), "# yaml-language-server: $schema=../schemas/project.schema.json\n");
        assert_eq!(project_line("x/y/a.yaml"), "# yaml-language-server: $schema=../../schemas/project.schema.json\n");
    }
}
