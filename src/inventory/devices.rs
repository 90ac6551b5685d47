//! The device names of hosts: exports of interfaces name a device, and have no inventory numbers.
//!
//! Comes in: what an export of hosts calls each device, or the names of hosts. Goes out: the hosts that a device may be.
//! Touches no disk.

use super::value::Inv;

/// The hosts by their names as devices.
#[derive(Debug, Clone, Default)]
pub struct Devices {
    /// By the number that the other system gave; sorted.
    ids: Vec<(u64, Inv)>,
    /// By name in lower case, as it is written there; sorted.
    names: Vec<(Box<str>, Inv)>,
}

impl Devices {
    /// Takes what the devices of an export are called.
    pub fn new(mut ids: Vec<(u64, Inv)>, mut names: Vec<(Box<str>, Inv)>) -> Devices {
        ids.sort_unstable();
        ids.dedup();
        names.sort_unstable();
        names.dedup();
        Devices { ids, names }
    }

    /// Whether nothing is known of any device.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.names.is_empty()
    }

    /// The hosts that a device may be, each once: by its number where numbers are known, else by its name, else by the
    /// name without the parentheses behind it, as NetBox writes asset tags.
    pub fn find(&self, id: Option<u64>, name: &str) -> Vec<Inv> {
        if let Some(id) = id.filter(|_| !self.ids.is_empty()) {
            return range(&self.ids, |own| own.cmp(&id));
        }
        let name = name.trim().trim_end_matches('.').to_ascii_lowercase();
        let by_name = |name: &str| range(&self.names, |own| (**own).cmp(name));
        let found = by_name(&name);
        match name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
            Some((bare, _)) if found.is_empty() => by_name(bare),
            _ => found,
        }
    }
}

/// The hosts under one key of a sorted list, each once.
fn range<K>(list: &[(K, Inv)], compare: impl Fn(&K) -> std::cmp::Ordering) -> Vec<Inv> {
    let from = list.partition_point(|(key, _)| compare(key).is_lt());
    let found = list[from..].iter().take_while(|(key, _)| compare(key).is_eq());
    found.map(|(_, inv)| *inv).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a device may be, as numbers.
    fn found(devices: &Devices, id: Option<u64>, name: &str) -> Vec<u64> {
        devices.find(id, name).iter().map(|inv| inv.0).collect()
    }

    #[test]
    fn a_device_is_found_by_number_then_by_name() {
        let names = [("web-1", 7), ("web-1", 8), ("web-1 (7)", 7), ("db-1", 9)];
        let names: Vec<(Box<str>, Inv)> = names.map(|(name, inv)| (Box::from(name), Inv(inv))).into();
        let by_name = Devices::new(Vec::new(), names.clone());
        assert_eq!(found(&by_name, Some(1), "Web-1 (7)"), [7]);
        assert_eq!(found(&by_name, None, "web-1"), [7, 8], "it may be either");
        assert_eq!(found(&by_name, None, "db-1 (9)"), [9], "the tag may not be in the export of hosts");
        assert_eq!(found(&by_name, None, "db-2"), [] as [u64; 0]);
        let by_number = Devices::new(vec![(1, Inv(7))], names);
        assert_eq!(found(&by_number, Some(1), "db-1"), [7]);
        assert_eq!(found(&by_number, Some(2), "db-1"), [] as [u64; 0], "a number is believed");
    }
}
