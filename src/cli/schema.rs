//! `schema`: the JSON Schema of a file format.

use super::args::SchemaArgs;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::values::SchemaKindArg;
use crate::report;

/// Prints the schema.
pub fn run(args: &SchemaArgs) -> Result<Exit, CommandFailure> {
    let kind = match args.kind {
        SchemaKindArg::Config => report::SchemaKind::Config,
        SchemaKindArg::Project => report::SchemaKind::Project,
        SchemaKindArg::PodSet => report::SchemaKind::PodSet,
        SchemaKindArg::App => report::SchemaKind::App,
        SchemaKindArg::RecordList => report::SchemaKind::RecordList,
        SchemaKindArg::DnsUpdateRecord => report::SchemaKind::UpdateRecord,
        SchemaKindArg::Explain => report::SchemaKind::Explain,
        SchemaKindArg::Plan => report::SchemaKind::Plan,
        SchemaKindArg::Drift => report::SchemaKind::Drift,
        SchemaKindArg::Status => report::SchemaKind::Status,
        SchemaKindArg::History => report::SchemaKind::History,
        SchemaKindArg::Sync => report::SchemaKind::Sync,
        SchemaKindArg::Apply => report::SchemaKind::Apply,
        SchemaKindArg::Event => report::SchemaKind::Event,
        SchemaKindArg::Endpoints => report::SchemaKind::Endpoints,
        SchemaKindArg::Doctor => report::SchemaKind::Doctor,
        SchemaKindArg::CmsCheck => report::SchemaKind::CmsCheck,
        SchemaKindArg::Cms => {
            output::print(report::cms_protocol())?;
            return Ok(Exit::Done);
        }
    };
    output::print(report::schema(kind))?;
    Ok(Exit::Done)
}
