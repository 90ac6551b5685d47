//! What files that state records give a workspace: their sources, and a project in whose domains their names are.

use std::collections::{BTreeMap, BTreeSet};

use super::project::StarterProject;
use super::settings::StarterRecords;
use super::{count, folder_of, in_folder, parent, some};
use crate::dns::reverse::is_reverse;
use crate::dns::{Name, ZoneName};

/// How many files a source names one by one; of more it names the folder.
const NAMED: usize = 12;

/// The manifests and zones in YAML of a folder.
#[derive(Debug, Default)]
pub struct StatedFiles {
    /// The files of manifests.
    manifests: BTreeSet<String>,
    /// The names that manifests state.
    names: BTreeSet<Name>,
    /// The files of zones, each with its zone.
    zones: BTreeMap<String, ZoneName>,
}

impl StatedFiles {
    /// Takes a file of manifests.
    pub fn take_manifests(&mut self, path: String, names: &[Name]) {
        self.manifests.insert(path);
        self.names.extend(names.iter().cloned());
    }

    /// Takes the file of a zone.
    pub fn take_zone(&mut self, path: String, zone: ZoneName) {
        self.zones.insert(path, zone);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.manifests.is_empty() && self.zones.is_empty()
    }

    /// Whether there are manifests.
    pub fn has_manifests(&self) -> bool {
        !self.manifests.is_empty()
    }

    /// The zones that have files of their own.
    pub fn zones(&self) -> BTreeSet<&ZoneName> {
        self.zones.values().collect()
    }

    /// The domains of the names: the zones, and above all other names the one that is a label shorter. Those of names
    /// that people use are first.
    pub fn domains(&self) -> Vec<Name> {
        let zones: BTreeSet<Name> = self.zones.values().map(|zone| zone.as_name().to_name()).collect();
        let is_known = |name: &Name| zones.iter().any(|zone| name.as_name().is_at_or_below(zone.as_name()));
        // The domain above a name of two labels is no company's.
        let domain = |name: &Name| parent(name).filter(|above| above.as_name().labels().count() > 1);
        let above: BTreeSet<Name> = self
            .names
            .iter()
            .filter(|name| !is_known(name))
            .map(|name| domain(name).unwrap_or_else(|| name.clone()))
            .collect();
        let is_below =
            |name: &Name| above.iter().any(|other| other != name && name.as_name().is_at_or_below(other.as_name()));
        let topmost: Vec<Name> = above.iter().filter(|name| !is_below(name)).cloned().collect();
        let mut domains: Vec<Name> = zones.into_iter().chain(topmost).collect();
        domains.sort_by_key(|name| (is_reverse(name.as_name()), name.to_string()));
        domains.dedup();
        domains
    }

    /// The sources, for a project.
    pub fn sources(&self, project: &str) -> Vec<StarterRecords> {
        let folders: BTreeSet<String> = self.manifests.iter().map(|path| glob(path)).collect();
        let zones = match self.zones.len() {
            0..=NAMED => self.zones.keys().cloned().collect(),
            _ => self.zones.keys().map(|path| glob(path)).collect::<BTreeSet<_>>().into_iter().collect(),
        };
        let source = |name, format, about, paths: Vec<String>| {
            let project = project.to_owned();
            (!paths.is_empty()).then_some(StarterRecords { name, format, about, paths, project })
        };
        let manifests = source(
            "manifests",
            "dnsendpoint",
            "manifests of the kind DNSEndpoint; documents of other kinds are ignored",
            folders.into_iter().collect(),
        );
        let of_zones =
            "zones in YAML; the name of a file is that of its zone; `FOLDER/*.yaml` would take new files, too";
        let zones = source("zones", "octodns", of_zones, zones);
        manifests.into_iter().chain(zones).collect()
    }

    /// The project of the records.
    pub fn project(&self, id: &str) -> StarterProject {
        StarterProject {
            id: id.to_owned(),
            head: vec!["The records that manifests and zones in YAML state.".to_owned()],
            vlan: None,
            automation: (
                true,
                "The owner's switch; the administrator's is in zonewright.toml, and both must be on.".to_owned(),
            ),
            listed: None,
            shared_bits: None,
        }
    }

    /// What was found.
    pub fn told(&self) -> Vec<String> {
        let of = |paths: Vec<&String>, one, many| {
            (!paths.is_empty()).then(|| format!("{}: {}", count(paths.len(), one, many), some(&paths)))
        };
        let manifests = of(self.manifests.iter().collect(), "file of manifests", "files of manifests");
        let zones = of(self.zones.keys().collect(), "zone in YAML", "zones in YAML");
        manifests.into_iter().chain(zones).collect()
    }
}

/// All files of a file's folder that end as it does.
fn glob(path: &str) -> String {
    let ending = path.rsplit_once('.').map_or("yaml", |(_, ending)| ending);
    in_folder(&glob::Pattern::escape(&folder_of(path)), &format!("*.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domains_of_records_are_their_zones_and_what_is_above_the_other_names() {
        let name = |text: &str| Name::parse(text).unwrap();
        let mut files = StatedFiles::default();
        for zone in ["example.net", "2.0.192.in-addr.arpa"] {
            files.take_zone(format!("zones/{zone}.yaml"), ZoneName::new(name(zone)));
        }
        let names = ["a.example.net", "www.example.org", "x.prod.example.org", "example.com", "*.example.edu"];
        files.take_manifests("k8s/a.yaml".to_owned(), &names.map(name));
        files.take_manifests("k8s/b.json".to_owned(), &[]);
        let domains: Vec<String> = files.domains().iter().map(Name::to_string).collect();
        let expected = ["example.com.", "example.edu.", "example.net.", "example.org.", "2.0.192.in-addr.arpa."];
        assert_eq!(domains, expected);
        let sources: Vec<_> =
            files.sources("records").into_iter().map(|source| (source.format, source.paths)).collect();
        let zones = ["zones/2.0.192.in-addr.arpa.yaml", "zones/example.net.yaml"];
        let manifests = ["k8s/*.json", "k8s/*.yaml"];
        assert_eq!(
            sources,
            [("dnsendpoint", manifests.map(str::to_owned).to_vec()), ("octodns", zones.map(str::to_owned).to_vec())]
        );
    }
}
