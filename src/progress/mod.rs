//! The stages of a run. Each has a text for people and a label for metrics, so that the text can change and a dashboard
//! keeps working.

/// Receives the progress of a run, to show it to the operator.
pub trait Progress: Sync {
    /// A stage begins; `total` is how many steps it has, where that is known.
    fn stage(&self, what: RunStage, total: Option<u64>);
    /// One step is done.
    fn step(&self);
    /// Says something that the operator needs to know while the run goes on: lower case, no full stop.
    fn tell(&self, _: &str) {}
    /// Waits before a next try.
    fn pause(&self, pause: std::time::Duration) {
        std::thread::sleep(pause);
    }
}

/// What a run is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStage {
    /// It reads and parses the files of the workspace.
    Inventory,
    /// It transfers zones, or queries a part of them.
    Zones,
    /// It checks the zones that are files.
    ZoneFiles,
    /// It reads the zones of a snapshot.
    Snapshot,
    /// It queries the names of hosts, where zones are not transferred.
    HostNames,
    /// It queries the PTR of addresses, where zones are not transferred.
    Addresses,
    /// It queries the names in those PTR, where zones are not transferred.
    PtrTargets,
    /// It compares what hosts must have with live DNS.
    Compare,
    /// It derives what hosts must have by the base of a plan.
    Base,
    /// It derives what hosts must have by the exports that were accepted last.
    Accepted,
    /// It digests the plan.
    Digest,
    /// It makes zones that targets lack.
    MakeZones,
    /// It reads the RRsets that a plan changes, right before it changes them.
    Survey,
    /// It asks whether hosts answer.
    Probes,
    /// It asks whether a further wave may go; one step a gate.
    Gates,
    /// It asks cluster-management services whether hosts may be changed.
    Approvals,
    /// It sends updates; one step a host.
    Send,
    /// It reads back what it sent.
    ReadBack,
    /// It waits until name servers serve what was applied; one step a name server and zone.
    Publish,
    /// It waits until the next wave can go.
    Waves,
    /// It reads the markers of zones.
    Markers,
    /// It examines targets.
    Targets,
    /// It searches a folder for exports.
    Folder,
    /// It searches the reverse zones of addresses.
    FindReverse,
    /// It transfers those reverse zones.
    Reverse,
    /// It gives names to hosts.
    Names,
    /// It queries whether those names are free.
    FreeNames,
}

impl RunStage {
    /// All of them.
    pub const ALL: [RunStage; 27] = [
        RunStage::Inventory,
        RunStage::Zones,
        RunStage::ZoneFiles,
        RunStage::Snapshot,
        RunStage::HostNames,
        RunStage::Addresses,
        RunStage::PtrTargets,
        RunStage::Compare,
        RunStage::Base,
        RunStage::Accepted,
        RunStage::Digest,
        RunStage::MakeZones,
        RunStage::Survey,
        RunStage::Probes,
        RunStage::Gates,
        RunStage::Approvals,
        RunStage::Send,
        RunStage::ReadBack,
        RunStage::Publish,
        RunStage::Waves,
        RunStage::Markers,
        RunStage::Targets,
        RunStage::Folder,
        RunStage::FindReverse,
        RunStage::Reverse,
        RunStage::Names,
        RunStage::FreeNames,
    ];

    /// The value of the label `stage` in metrics; it never changes.
    pub fn label(self) -> &'static str {
        self.words().0
    }

    /// The text that people read.
    pub fn text(self) -> &'static str {
        self.words().1
    }

    /// The label and the text.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            RunStage::Inventory => ("inventory", "reading the inventory"),
            RunStage::Zones => ("zones", "reading zones"),
            RunStage::ZoneFiles => ("zone_files", "reading zone files"),
            RunStage::Snapshot => ("snapshot", "reading the snapshot"),
            RunStage::HostNames => ("host_names", "asking for the names of hosts"),
            RunStage::Addresses => ("addresses", "asking for the names of addresses"),
            RunStage::PtrTargets => ("ptr_targets", "asking for the names that addresses point to"),
            RunStage::Compare => ("compare", "comparing hosts with live DNS"),
            RunStage::Base => ("base", "deriving the base"),
            RunStage::Accepted => ("accepted", "deriving what was accepted last"),
            RunStage::Digest => ("digest", "digesting the plan"),
            RunStage::MakeZones => ("make_zones", "making zones"),
            RunStage::Survey => ("survey", "reading live DNS before the changes"),
            RunStage::Probes => ("probes", "asking whether hosts answer"),
            RunStage::Gates => ("gates", "asking gates"),
            RunStage::Approvals => ("approvals", "asking cluster-management services"),
            RunStage::Send => ("send", "applying: hosts"),
            RunStage::ReadBack => ("read_back", "reading back"),
            RunStage::Publish => ("publish", "waiting for name servers"),
            RunStage::Waves => ("waves", "waiting for the next wave"),
            RunStage::Markers => ("markers", "reading markers"),
            RunStage::Targets => ("targets", "looking at targets"),
            RunStage::Folder => ("folder", "looking through the folder"),
            RunStage::FindReverse => ("find_reverse", "looking for reverse zones"),
            RunStage::Reverse => ("reverse", "transferring reverse zones"),
            RunStage::Names => ("names", "giving names"),
            RunStage::FreeNames => ("free_names", "asking whether names are free"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_stage_has_a_label_of_its_own_that_is_one_word() {
        let labels: BTreeSet<&str> = RunStage::ALL.iter().map(|stage| stage.label()).collect();
        assert_eq!(labels.len(), RunStage::ALL.len());
        assert!(labels.iter().all(|label| label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    }

    #[test]
    fn the_documentation_lists_every_label() {
        let text = include_str!("../../docs/review.md");
        let absent: Vec<&str> = RunStage::ALL
            .iter()
            .map(|stage| stage.label())
            .filter(|label| !text.contains(&format!("`{label}`")))
            .collect();
        assert!(absent.is_empty(), "docs/review.md lacks {absent:?}");
    }
}
