//! Where stories take place: the zones with the way to them, the name servers, and what people set.

use std::path::Path;
use std::sync::OnceLock;

use super::world::{PROJECTS, zone};
use crate::apply::CopyAccess;
use crate::pipeline::publication::PoolRolls;
use crate::pipeline::settings::{WorkspaceSettings, load_settings};
use crate::reading::ReadingTerms;
use crate::target::{CopyId, WriteTarget, ZoneId};

/// The zone of a project at the pool.
pub fn zone_id(project: &str) -> ZoneId {
    ZoneId { pool: super::super::pool(), name: zone(project) }
}

/// The ways to the zones.
pub fn accesses(wire: &dyn WriteTarget) -> Vec<CopyAccess<'_>> {
    let access = |project: &&str| {
        let copy = CopyId::only(&zone_id(project));
        CopyAccess { copy, writer: Ok(wire), is_fenced: true, share: None }
    };
    PROJECTS.iter().map(access).collect()
}

/// The voters: the name servers of the pool.
pub fn rolls() -> PoolRolls<'static> {
    let settings = settings();
    let now = "2026-11-20T02:00:00Z".parse().unwrap();
    let context = ReadingTerms { workspace: Path::new("."), now, cache: None };
    PoolRolls::of(&settings.config, context.context(&settings.config).source)
}

/// Settings of a pool with two name servers, and of two projects.
pub fn settings() -> &'static WorkspaceSettings {
    static SETTINGS: OnceLock<WorkspaceSettings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let workspace = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| std::fs::write(workspace.path().join(file), text).unwrap();
        let exports = ["hosts", "l3_tors", "net_layout", "ipv4_map"].map(|key| format!("{key} = \"{key}\"\n")).concat();
        let of_project = |project: &&str| {
            format!(
                "[project.{project}]\ndns_domain = \"{project}.example.net\"\nautomation = \"allowed\"\n\
                 [[zone]]\nname = \"{project}.example.net\"\npool = \"main\"\npermission = \"full\"\n"
            )
        };
        let of_projects: String = PROJECTS.iter().map(of_project).collect();
        let toml = format!(
            "owner = \"us\"\n[sources]\nprojects = \"*.yaml\"\n{exports}[[sources.mac]]\nname = \"a\"\npath = \"a\"\n\
             [[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n\
             [[pool.main.nameserver]]\nserver = \"192.0.2.1:53\"\n[[pool.main.nameserver]]\nserver = \"192.0.2.2:53\"\n\
             {of_projects}"
        );
        write("zonewright.toml", &toml);
        for (project, vlan) in PROJECTS.iter().zip(1..) {
            let budget = "rollout: {max_unavailable: 1}\n";
            let text =
                format!("id: {project}\nvlan_scheme: static\nvlans: {{main: {vlan}}}\nautomation: true\n{budget}");
            write(&format!("{project}.yaml"), &text);
        }
        load_settings(workspace.path()).unwrap()
    })
}
