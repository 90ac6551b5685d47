//! Where stories take place: the zone with the way to it, the name servers, and what people set.

use std::path::Path;
use std::sync::OnceLock;

use super::stage::Weakness;
use super::world::World;
use crate::apply::CopyAccess;
use crate::pipeline::publication::PoolRolls;
use crate::pipeline::settings::{WorkspaceSettings, load_settings};
use crate::reading::ReadingTerms;
use crate::target::{CopyId, ZoneId};

/// The zone.
pub fn zone_id(world: &World) -> ZoneId {
    ZoneId { pool: super::super::pool(), name: world.zone.clone() }
}

/// The way to the zone; without a fence where that is switched off.
pub fn access(world: &World, weakness: Weakness) -> CopyAccess<'_> {
    let copy = CopyId::only(&zone_id(world));
    CopyAccess { copy, writer: Ok(&world.primary), is_fenced: weakness != Weakness::NoMarker, share: None }
}

/// The voters: the name servers of the pool.
pub fn rolls() -> PoolRolls<'static> {
    let settings = settings();
    let now = "2026-11-20T02:00:00Z".parse().unwrap();
    let context = ReadingTerms { workspace: Path::new("."), now, cache: None };
    PoolRolls::of(&settings.config, context.context(&settings.config).source)
}

/// Settings of a pool with two name servers, and of a project with a rollout.
pub fn settings() -> &'static WorkspaceSettings {
    static SETTINGS: OnceLock<WorkspaceSettings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let workspace = tempfile::tempdir().unwrap();
        let write = |file, text: &str| std::fs::write(workspace.path().join(file), text).unwrap();
        let exports = ["hosts", "l3_tors", "net_layout", "ipv4_map"].map(|key| format!("{key} = \"{key}\"\n")).concat();
        let toml = format!(
            "owner = \"us\"\n[sources]\nprojects = \"search.yaml\"\n{exports}[[sources.mac]]\nname = \"a\"\npath = \"a\"\n\
             [project.search]\ndns_domain = \"search.example.net\"\nautomation = \"allowed\"\n\
             [[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n\
             [[pool.main.nameserver]]\nserver = \"192.0.2.1:53\"\n[[pool.main.nameserver]]\nserver = \"192.0.2.2:53\"\n\
             [[zone]]\nname = \"search.example.net\"\npool = \"main\"\npermission = \"full\"\n"
        );
        write("zonewright.toml", &toml);
        let project = "id: search\nvlan_scheme: static\nvlans: {main: 1}\nautomation: true\nrollout: {max_unavailable: 1}\n";
        write("search.yaml", project);
        load_settings(workspace.path()).unwrap()
    })
}
