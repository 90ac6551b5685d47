//! The text of a project file.

use super::settings::commented;
use super::{StarterFile, editors};

/// What a project file is to say.
#[derive(Debug, Default)]
pub struct StarterProject {
    /// The id.
    pub id: String,
    /// The comment at the top.
    pub head: Vec<String>,
    /// The VLAN of the backbone, and why it is that one; none where the project has no hosts.
    pub vlan: Option<(u16, String)>,
    /// The name of the main interface where the inventory lists the addresses; none where they are derived.
    pub listed: Option<String>,
    /// Whether the owner's switch is on, and why.
    pub automation: (bool, String),
    /// What is known of 32 bits that addresses share, said in a comment.
    pub shared_bits: Option<String>,
}

impl StarterProject {
    /// The file, at a path.
    pub fn to_file(&self, path: &str) -> StarterFile {
        let StarterProject { id, head, vlan, listed, automation: (is_on, of_switch), shared_bits } = self;
        let head: String = head.iter().map(|line| commented(line)).collect();
        if let Some(main) = listed {
            return self.with_addresses(path, &head, main);
        }
        let Some((vlan, of_vlan)) = vlan else { return self.without_hosts(path, &head) };
        let bits = match shared_bits {
            Some(remark) => format!("\n{}", commented(remark)),
            None => "\n# With a project id, 32 bits in hexadecimal, addresses are made of that id instead of EUI-64:\n\
                     # hbf_project_id: \"1478\"\n"
                .to_owned(),
        };
        let id_text = serde_json::Value::from(id.as_str());
        let schema = editors::project_line(path);
        let text = format!(
            "{schema}{head}id: {id_text}\n\n\
             # How new hosts are named: {{location}} is the host's, {{bucket}} and {{index}} come from a counter.\n\
             shortname_template: \"{{location}}{{bucket}}-{{index:04}}\"\n\n\
             # `static`: one interface a host; `search`: a second one, the fastbone, with a VLAN and a name of its own.\n\
             vlan_scheme: static\n{}vlans: {{main: {vlan}}}\n{bits}\n\
             {}automation: {is_on}\n\n\
             # How far it goes: create-only, upsert-only, repair, sync (docs/rules.md). `sync` also deletes the records\n\
             # that zonewright created for hosts that left the inventory, `delete_after` later; it deletes no others.\n\
             policy: sync\n",
            commented(of_vlan),
            commented(of_switch),
        );
        StarterFile::new(path, "what the project's owner decides", text)
    }

    /// The file of a project whose addresses the inventory lists; `main` is the name of the main interface.
    fn with_addresses(&self, path: &str, head: &str, main: &str) -> StarterFile {
        let [id_text, main] = [self.id.as_str(), main].map(serde_json::Value::from);
        let (is_on, of_switch) = &self.automation;
        let text = format!(
            "{}{head}id: {id_text}\n\n\
             # How new hosts are named: {{location}} is the host's, {{bucket}} and {{index}} come from a counter.\n\
             shortname_template: \"{{location}}{{bucket}}-{{index:04}}\"\n\n\
             # Each host has exactly the addresses that the source `addresses` lists for this interface. `fastbone: NAME`\n\
             # adds a second one, with a name of its own.\n\
             addresses: inventory\ninterfaces: {{backbone: {main}}}\n\n\
             {}automation: {is_on}\n\n\
             # How far it goes: create-only, upsert-only, repair, sync (docs/rules.md). `sync` also deletes the records\n\
             # that zonewright created for hosts that left the inventory, `delete_after` later; it deletes no others.\n\
             policy: sync\n",
            editors::project_line(path),
            commented(of_switch),
        );
        StarterFile::new(path, "what the project's owner decides", text)
    }

    /// The file of a project without hosts.
    fn without_hosts(&self, path: &str, head: &str) -> StarterFile {
        let id_text = serde_json::Value::from(self.id.as_str());
        let (is_on, of_switch) = &self.automation;
        let text = format!(
            "{}{head}id: {id_text}\n\n\
             # The project has no hosts. `static` and `vlans: {{main: VLAN}}` are for one that has.\n\
             vlan_scheme: none\n\n\
             {}automation: {is_on}\n\n\
             # How far it goes: create-only, upsert-only, repair, sync (docs/records.md). `repair` deletes what zonewright\n\
             # created and a file no longer states; `sync` also what was stated by a file that is gone.\n\
             policy: repair\n",
            editors::project_line(path),
            commented(of_switch),
        );
        StarterFile::new(path, "what the project's owner decides", text)
    }
}
