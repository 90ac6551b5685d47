//! The texts that record who owns an RRset.
//!
//! Source: external-dns v0.22, endpoint/labels.go.

use std::collections::BTreeMap;

use super::TxtKey;
use crate::dns::{Rdata, RdataRef};

/// What a text of external-dns says, and what its keys begin with.
const HERITAGE: &str = "external-dns";

/// The key of the owner.
const OWNER: &str = "owner";

/// The key of what an RRset was made for.
const RESOURCE: &str = "resource";

/// What the resource of a manifest begins with.
const MANIFEST: &str = "crd/";

/// What a TXT says of the RRset that it records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkLabels {
    /// What it says, by keys without what they begin with.
    said: BTreeMap<String, String>,
    /// Whether the text has quotes around it. external-dns hands them to its providers, and some write them as a part of it.
    is_quoted: bool,
}

impl MarkLabels {
    /// That an RRset is an owner's; with the manifest that states it, by its namespace and name.
    pub fn new(owner: &str, manifest: Option<(&str, &str)>) -> MarkLabels {
        let resource = resource(manifest).map(|resource| (RESOURCE.to_owned(), resource));
        let said = std::iter::once((OWNER.to_owned(), owner.to_owned())).chain(resource).collect();
        MarkLabels { said, is_quoted: false }
    }

    /// The same, in a text with quotes around it.
    pub fn quoted(self) -> MarkLabels {
        MarkLabels { is_quoted: true, ..self }
    }

    /// Reads a TXT; none where it is of another kind.
    ///
    /// The rules are those of external-dns, so that both tools see the same owner: a token without `=` is ignored, another
    /// `heritage` anywhere makes it another kind of TXT, and the last owner counts. A first-token rule would claim
    /// `…owner=us,external-dns/owner=other` for us, which external-dns changes as the owner `other`.
    pub fn read(rdata: RdataRef<'_>) -> Option<MarkLabels> {
        MarkLabels::read_with(rdata, None)
    }

    /// Reads a TXT that may be encrypted with a key; what was not encrypted with it is read as it is.
    pub fn read_with(rdata: RdataRef<'_>, key: Option<&TxtKey>) -> Option<MarkLabels> {
        let text = rdata.strings().collect::<Vec<_>>().concat();
        let opened = key.and_then(|key| key.open(unquoted(&text)));
        let is_quoted = unquoted(&text).len() < text.len();
        MarkLabels::parse(&String::from_utf8_lossy(&opened.unwrap_or(text)), is_quoted)
    }

    /// Reads a text.
    fn parse(text: &str, is_quoted: bool) -> Option<MarkLabels> {
        let (mut is_heritage, mut said) = (false, BTreeMap::new());
        for (key, value) in text.trim_matches('"').split(',').filter_map(|token| token.split_once('=')) {
            match key {
                "heritage" if value == HERITAGE => is_heritage = true,
                "heritage" => return None,
                _ => {
                    let own = key.strip_prefix(HERITAGE).map(|rest| rest.strip_prefix('/').unwrap_or(key));
                    said.extend(own.map(|own| (own.to_owned(), value.to_owned())));
                }
            }
        }
        is_heritage.then_some(MarkLabels { said, is_quoted })
    }

    /// The owner that it names, empty where it names none.
    pub fn owner(&self) -> &str {
        self.said.get(OWNER).map_or("", String::as_str)
    }

    /// The manifest that it names, as `NAMESPACE/NAME`; none where it names none.
    pub fn manifest(&self) -> Option<&str> {
        self.said.get(RESOURCE)?.strip_prefix(MANIFEST)
    }

    /// The same of another owner.
    pub fn of_owner(mut self, owner: &str) -> MarkLabels {
        self.said.insert(OWNER.to_owned(), owner.to_owned());
        self
    }

    /// The TXT that says this.
    pub fn to_rdata(&self) -> Rdata {
        let labels = self.said.iter().map(|(key, value)| format!(",{HERITAGE}/{key}={value}"));
        let text: String = std::iter::once(format!("heritage={HERITAGE}")).chain(labels).collect();
        let text = if self.is_quoted { format!("\"{text}\"") } else { text };
        Rdata::from_long_text(text.as_bytes())
    }
}

/// What an RRset is made for, where a manifest states it, by its namespace and name.
pub fn resource(manifest: Option<(&str, &str)>) -> Option<String> {
    manifest.map(|(namespace, name)| format!("{MANIFEST}{namespace}/{name}"))
}

/// A text without the quotes around it.
pub fn unquoted(text: &[u8]) -> &[u8] {
    let begin = text.iter().take_while(|octet| **octet == b'"').count();
    let end = text[begin..].iter().rev().take_while(|octet| **octet == b'"').count();
    &text[begin..text.len() - end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Rtype;

    /// The owner that a TXT of one string names.
    fn owner(text: &str) -> Option<String> {
        MarkLabels::read(Rdata::from_text(text).unwrap().as_rdata(Rtype::TXT)).map(|labels| labels.owner().to_owned())
    }

    #[test]
    fn heritage_is_read_as_external_dns_writes_it() {
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us").as_deref(), Some("us"));
        let with_more = "\"heritage=external-dns,external-dns/owner=us,external-dns/resource=crd/a/b\"";
        assert_eq!(owner(with_more).as_deref(), Some("us"));
        assert_eq!(owner("heritage=external-dns").as_deref(), Some(""));
        assert_eq!(owner("heritage=other,external-dns/owner=us"), None);
        assert_eq!(owner("v=spf1 -all"), None);
    }

    #[test]
    fn quotes_around_a_text_stay_where_only_its_owner_changes() {
        let texts = ["heritage=external-dns,external-dns/owner=us", "\"heritage=external-dns,external-dns/owner=us\""];
        for text in texts {
            let read = MarkLabels::read(Rdata::from_text(text).unwrap().as_rdata(Rtype::TXT)).unwrap();
            assert_eq!(read.of_owner("them").to_rdata(), Rdata::from_text(&text.replace("=us", "=them")).unwrap());
        }
        let quoted = MarkLabels::new("us", None).quoted().to_rdata();
        assert_eq!(quoted, Rdata::from_text(texts[1]).unwrap());
    }

    #[test]
    fn heritage_is_read_as_external_dns_reads_it() {
        let twice = "heritage=external-dns,external-dns/owner=us,external-dns/owner=other";
        assert_eq!(owner(twice).as_deref(), Some("other"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=other"), None);
        assert_eq!(owner("heritage=other,heritage=external-dns,external-dns/owner=us"), None);
        assert_eq!(owner("external-dns/owner=us,heritage=external-dns").as_deref(), Some("us"));
        // A value may have a `=`, since v0.22.
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,external-dns/owner=a=b").as_deref(), Some("a=b"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=a=b"), None);
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=,x"), None);
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,external-dns/owner=").as_deref(), Some(""));
        assert_eq!(owner("heritage=external-dns, external-dns/owner=us").as_deref(), Some(""));
    }
}
