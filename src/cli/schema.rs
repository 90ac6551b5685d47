//! `schema`: the JSON Schema of a file format.

use super::args::SchemaArgs;
use super::exit::Exit;
use super::output::{self, Failure};
use super::values::SchemaKind;
use crate::report;

/// Prints the schema.
pub fn run(args: &SchemaArgs) -> Result<Exit, Failure> {
    let kind = match args.kind {
        SchemaKind::Config => report::SchemaKind::Config,
        SchemaKind::Project => report::SchemaKind::Project,
        SchemaKind::Explain => report::SchemaKind::Explain,
        SchemaKind::Plan => report::SchemaKind::Plan,
        SchemaKind::Drift => report::SchemaKind::Drift,
        SchemaKind::Status => report::SchemaKind::Status,
        SchemaKind::History => report::SchemaKind::History,
        SchemaKind::Apply => report::SchemaKind::Apply,
        SchemaKind::Event => report::SchemaKind::Event,
        SchemaKind::Doctor => report::SchemaKind::Doctor,
    };
    output::print(report::schema(kind))?;
    Ok(Exit::Done)
}
