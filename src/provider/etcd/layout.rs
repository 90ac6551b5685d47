//! Where the keys of a zone are: names to keys, and back. Pure.
//!
//! Source: CoreDNS, plugin `etcd` (`msg.Path`, `msg.Domain`), and its README: the path of a name is the prefix and its labels
//! from the root down; what belongs to the apex is below `dns/apex`, and name servers are below `dns/ns`.

use crate::dns::{Name, NameRef, ZoneName};

/// Where what belongs to the apex is, below the path of the zone.
const APEX: &str = "dns/apex";

/// What all keys begin with that are not records: outside the prefix, so that CoreDNS does not see them.
const OWN_ROOT: &str = "/zonewright";

/// Where the keys of a zone are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EtcdLayout {
    /// The zone.
    zone: ZoneName,
    /// The path of the zone, without a final slash.
    root: String,
}

impl EtcdLayout {
    /// Where a zone is below a prefix; none where a label of its name is one that CoreDNS gives another meaning.
    pub fn new(prefix: &str, zone: &ZoneName) -> Option<EtcdLayout> {
        let labels = plain_labels(zone.as_name())?;
        Some(EtcdLayout { zone: zone.clone(), root: format!("{prefix}{}", downwards(&labels)) })
    }

    /// The zone.
    pub fn zone(&self) -> &ZoneName {
        &self.zone
    }

    /// All keys below the zone.
    pub fn range(&self) -> KeyRange {
        KeyRange::below(&self.root)
    }

    /// Where the marker of the zone is. It is there as long as zonewright knows the zone.
    pub fn marker(&self) -> String {
        format!("{OWN_ROOT}{}/marker", self.root)
    }

    /// What says that the zone is there though it has no record yet.
    pub fn made(&self) -> String {
        format!("{OWN_ROOT}{}/zone", self.root)
    }

    /// Whether a key is one of zonewright: of this zone, or of a zone below it.
    pub fn is_own(&self, key: &str) -> bool {
        key.strip_prefix(OWN_ROOT).is_some_and(|rest| rest.starts_with(self.root.as_str()))
    }

    /// All keys of zonewright, with those of zones below this one.
    pub fn own_keys(&self) -> KeyRange {
        KeyRange::below(&format!("{OWN_ROOT}{}", self.root))
    }

    /// The path of a name in the zone, without a final slash; none where CoreDNS would not find it there.
    pub fn path(&self, name: NameRef<'_>) -> Option<String> {
        if name == self.zone.as_name() {
            return Some(format!("{}/{APEX}", self.root));
        }
        let labels = plain_labels(name)?;
        let below = labels.len().checked_sub(plain_labels(self.zone.as_name())?.len())?;
        let path = downwards(&labels[..below]);
        // What is there belongs to the apex, or is a name server.
        let is_special = path == "dns" || path == APEX || path == "dns/ns";
        (!is_special).then(|| format!("{}/{path}", self.root))
    }

    /// The name whose record a key is, `strip` being how many of its labels were generated; none where that is no name.
    pub fn owner(&self, key: &str, strip: usize) -> Option<Name> {
        let rest = key.strip_prefix(self.root.as_str())?.strip_prefix('/')?;
        let labels: Vec<&str> = rest.split('/').collect();
        let labels = &labels[..labels.len().checked_sub(strip)?];
        if labels.join("/") == APEX {
            return Some(self.zone.as_name().to_name());
        }
        if labels.is_empty() || !labels.iter().all(|label| is_plain(label)) {
            return None;
        }
        let mut upwards: Vec<&str> = labels.to_vec();
        upwards.reverse();
        Name::parse(&format!("{}.{}", upwards.join("."), self.zone)).ok()
    }
}

/// A range of keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyRange {
    /// The first key.
    pub from: String,
    /// The first key behind it.
    pub to: String,
}

impl KeyRange {
    /// All keys below a path without a final slash.
    pub fn below(path: &str) -> KeyRange {
        // `0` comes right behind `/`.
        KeyRange { from: format!("{path}/"), to: format!("{path}0") }
    }

    /// A path, all keys below it, and those of its siblings that come in between, such as `a-b` of `a`.
    pub fn around(path: &str) -> KeyRange {
        KeyRange { from: path.to_owned(), to: format!("{path}0") }
    }
}

/// The labels of a name, from the root's side; none where a label is not plain.
fn plain_labels(name: NameRef<'_>) -> Option<Vec<String>> {
    let text = name.to_string();
    let labels: Vec<String> = text.trim_end_matches('.').split('.').map(str::to_owned).collect();
    labels.iter().all(|label| is_plain(label)).then_some(labels)
}

/// Labels as a path.
fn downwards(labels: &[String]) -> String {
    let mut labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    labels.reverse();
    labels.join("/")
}

/// Whether a label is one of which CoreDNS makes the same label of a key: `any` and `*` are wildcards to it, and `.` and `..`
/// are parts of paths.
fn is_plain(label: &str) -> bool {
    let is_right = |octet: u8| octet.is_ascii_lowercase() || octet.is_ascii_digit() || matches!(octet, b'-' | b'_');
    !label.is_empty() && label != "any" && label.bytes().all(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn layout(zone: &str) -> EtcdLayout {
        EtcdLayout::new("/skydns/", &ZoneName::new(name(zone))).unwrap()
    }

    #[test]
    fn names_become_keys_and_keys_names() {
        let layout = layout("example.net");
        for (text, path) in [
            ("a.example.net", "/skydns/net/example/a"),
            ("x.a.example.net", "/skydns/net/example/a/x"),
            ("_sip._tcp.example.net", "/skydns/net/example/_tcp/_sip"),
            ("example.net", "/skydns/net/example/dns/apex"),
        ] {
            assert_eq!(layout.path(name(text).as_name()).as_deref(), Some(path));
            assert_eq!(layout.owner(path, 0), Some(name(text)));
            assert_eq!(layout.owner(&format!("{path}/0a1b2c3d"), 1), Some(name(text)));
        }
        assert_eq!(layout.range(), KeyRange { from: "/skydns/net/example/".into(), to: "/skydns/net/example0".into() });
        assert_eq!(layout.marker(), "/zonewright/skydns/net/example/marker");
    }

    #[test]
    fn what_coredns_would_read_otherwise_has_no_key() {
        let layout = layout("example.net");
        for text in
            ["*.example.net", "any.example.net", "a.any.example.net", r"a\047b.example.net", r"a\.b.example.net"]
        {
            assert_eq!(layout.path(name(text).as_name()), None, "{text}");
        }
        for text in ["apex.dns.example.net", "ns.dns.example.net", "dns.example.net"] {
            assert_eq!(layout.path(name(text).as_name()), None, "{text}");
        }
        assert_eq!(layout.owner("/skydns/net/example/A", 0), None);
        assert_eq!(layout.owner("/skydns/net/example/0a", 1), None);
        assert_eq!(EtcdLayout::new("/skydns/", &ZoneName::new(name("any.net"))), None);
    }
}
