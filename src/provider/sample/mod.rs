//! A provider for tests, which shows what one needs: this folder, and a word in the list of providers.
//!
//! Its target is a primary in memory. The folder `dir` names it and gives its first zones; no file there is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::examine::{Capabilities, TargetExamined};
use super::memory::primary::MemoryPrimary;
use super::memory::zone::MemoryZone;
use super::{OpenedReader, OpenedWriter, Provider, ProviderContext};
use crate::diag::{Diagnostics, Problem};
use crate::dns::{Name, ZoneContents, ZoneName};
use crate::inventory::node::{SettingsNode, SourceText, TableReader};
use crate::parallel::HELD;
use crate::target::{
    Answer, AtomicUnit, EditSize, PublicationProof, Question, ReadTarget, RecordBounds, RrsetComparison, RrsetEdit,
    TargetCapabilities, UpdateLimits, UpdateZone, WriteTarget, ZoneFence, ZoneHome, ZoneMaking, ZoneRead, ZoneStamp,
};

/// A primary in memory, which other editors may write to as well.
pub const PROVIDER: Provider = Provider {
    capabilities: |_| TargetCapabilities {
        home: ZoneHome::Servers,
        unit: AtomicUnit::Message,
        limits: UpdateLimits::NONE,
        comparison: RrsetComparison::RecordsAndTtl,
        fence: ZoneFence::Marker,
        bounds: RecordBounds::ALL,
        making: ZoneMaking { creates: false, deletes: false, never: None },
        proof: PublicationProof::ReadBack,
        pace: None,
        marks: None,
    },
    check,
    server_names: |_| Vec::new(),
    zone_ids: None,
    endpoints: |_| Vec::new(),
    place: |settings| format!("the primary of `{}`", dir(settings)),
    open: |settings, context| -> OpenedReader { Ok(Box::new(find(settings, context)?)) },
    open_writer: |settings, context| -> OpenedWriter { Ok(Box::new(find(settings, context)?)) },
    bounds: |_, _| RecordBounds::ALL,
    examine: |_, _, _| TargetExamined {
        key: None,
        signs: false,
        is_folder: false,
        transfers: true,
        places: Vec::new(),
        capabilities: Capabilities::NotAsked,
    },
};

/// The primaries of the process, by their folders: each command opens its targets anew.
static PRIMARIES: Mutex<BTreeMap<PathBuf, Arc<MemoryPrimary>>> = Mutex::new(BTreeMap::new());

/// Checks settings without using them.
fn check(settings: &SettingsNode, source: &SourceText) -> Diagnostics {
    let mut reader = TableReader::new(settings, source);
    reader.take("type");
    reader.take("name");
    reader.require("dir").and_then(|node| reader.text_of(node));
    reader.finish()
}

/// The folder in the settings.
fn dir(settings: &SettingsNode) -> &str {
    settings.get("dir").and_then(SettingsNode::as_text).expect("`check` passed the settings")
}

/// A primary of the process.
struct SampleTarget(Arc<MemoryPrimary>);

/// The primary that a folder names, once a command has opened it.
pub fn primary(folder: &Path) -> Option<Arc<MemoryPrimary>> {
    PRIMARIES.lock().expect(HELD).get(folder).map(Arc::clone)
}

/// Finds the primary of the settings, or makes it.
fn find(settings: &SettingsNode, context: &ProviderContext<'_>) -> Result<SampleTarget, Problem> {
    let folder = context.workspace.join(dir(settings));
    let mut primaries = PRIMARIES.lock().expect(HELD);
    let primary = match primaries.get(&folder) {
        Some(primary) => Arc::clone(primary),
        None => Arc::new(MemoryPrimary::new(first_zones(&folder)?)),
    };
    primaries.insert(folder, Arc::clone(&primary));
    Ok(SampleTarget(primary))
}

/// The zones of the master files of a folder.
fn first_zones(folder: &Path) -> Result<Vec<MemoryZone>, Problem> {
    let files = fs::read_dir(folder).expect("a test made the folder");
    let names = files.map(|file| file.expect("it can be read").file_name().into_string().expect("it is plain"));
    let zones = names.filter_map(|name| Some(ZoneName::new(Name::parse(name.strip_suffix(".zone")?).ok()?)));
    zones.map(|zone| Ok(MemoryZone::of(&super::read_in(folder, &zone)?.contents))).collect()
}

impl ReadTarget for SampleTarget {
    fn place(&self, zone: &ZoneName) -> String {
        ReadTarget::place(&*self.0, zone)
    }

    fn read_zone(&self, zone: &ZoneName) -> Result<ZoneRead, Problem> {
        self.0.read_zone(zone)
    }

    fn read_if_moved(&self, known: &ZoneContents) -> Result<Option<ZoneRead>, Problem> {
        let read = self.0.read_zone(known.apex())?;
        Ok((ZoneStamp::of(&read.contents) != ZoneStamp::of(known)).then_some(read))
    }

    fn still_has(&self, stamps: &[&ZoneStamp]) -> bool {
        let is_same = |stamp: &&ZoneStamp| {
            self.0.read_zone(&stamp.zone).is_ok_and(|read| ZoneStamp::of(&read.contents) == **stamp)
        };
        stamps.iter().all(is_same)
    }
}

impl WriteTarget for SampleTarget {
    fn place(&self, zone: &ZoneName) -> String {
        WriteTarget::place(&*self.0, zone)
    }

    fn limits(&self) -> UpdateLimits {
        self.0.limits()
    }

    fn size(&self, zone: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        self.0.size(zone, edit)
    }

    fn observe(&self, zone: &ZoneName, questions: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        self.0.observe(zone, questions, rrsets)
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        self.0.open(zone)
    }

    fn finish(&self, is_over: &dyn Fn() -> bool) -> Result<(), Problem> {
        self.0.finish(is_over)
    }
}
