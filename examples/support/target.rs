//! A target that is read as a plan reads it, by its settings alone.

use std::error::Error;
use std::path::Path;

use zonewright::diag::Files;
use zonewright::dns::{Name, ZoneName};
use zonewright::inventory::config::toml;
use zonewright::inventory::node::SourceText;
use zonewright::inventory::pool::TargetSpec;
use zonewright::provider::{self, ProviderContext};
use zonewright::target::{PoolName, TargetId};

/// Reads zones of the target of these settings, one after the other; says how many records they have.
pub fn count_records(settings: String, zones: &[String]) -> Result<String, Box<dyn Error>> {
    let source = SourceText { file: Files::default().add("settings"), text: settings };
    let root = toml::parse(&source).root;
    let provider = root.get("type").and_then(|node| node.as_text()).ok_or("the settings have no type")?.to_owned();
    let target = TargetSpec { id: TargetId::only(&PoolName::unknown()), provider, settings: root, has_marks: false };
    if let Some(found) = provider::check(&target, &source).iter().next() {
        return Err(found.message.clone().into());
    }
    // The time counts where something is written, and here nothing is.
    let now = "1970-01-01T00:00:00Z".parse().map_err(|()| "no time")?;
    let context = ProviderContext { workspace: Path::new("."), source: &source, now, cache: None, has_marks: false };
    let target = provider::open(&target, &context)?;
    let mut records = 0;
    for zone in zones {
        records += target.read_zone(&ZoneName::new(Name::parse(zone)?))?.contents.record_count();
    }
    Ok(format!("{records} records in {} zones", zones.len()))
}
