//! The JSON Schemas of the files that people and programs write and read.

/// The file that a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaKind {
    /// A saved plan.
    Plan,
    /// zonewright.toml.
    Config,
    /// projects/*.yaml.
    Project,
}

/// The schema of a file, as JSON text. Source: JSON Schema draft 2020-12.
pub fn schema(kind: SchemaKind) -> &'static str {
    match kind {
        SchemaKind::Plan => include_str!("../../schemas/plan.schema.json"),
        SchemaKind::Config => include_str!("../../schemas/config.schema.json"),
        SchemaKind::Project => include_str!("../../schemas/project.schema.json"),
    }
}
