//! The texts that record who owns an RRset. Pure.
//!
//! They are those of external-dns, so that each of the two tools knows the other's records: an RRset of type T at
//! `LABEL.REST` has a TXT at `t-LABEL.REST` that names the owner. Source: external-dns, registry/txt and
//! endpoint/labels.

use std::collections::HashMap;

use crate::claim::Subject;
use crate::dns::{Name, NameError, NameRef, Rdata, RdataRef, Rtype};

/// The name of the TXT of an RRset of `rtype` at `owner`, whether the TXT can be there or not; none for the root.
///
/// Errors: the name would not be valid.
pub fn txt_name(owner: NameRef<'_>, rtype: Rtype) -> Option<Result<Name, NameError>> {
    let (label, rest) = owner.first_label().zip(owner.parent())?;
    let prefixed = [rtype.to_string().to_ascii_lowercase().as_bytes(), b"-", label].concat();
    Some(Name::prepend(&prefixed, rest))
}

/// The RRset whose TXT would be at a name: the other way round as [`txt_name`]; none where the name is no such name.
pub fn recorded_by(name: NameRef<'_>) -> Option<(Rtype, Name)> {
    let label = name.first_label()?;
    let dash = label.iter().position(|octet| *octet == b'-')?;
    let rtype = std::str::from_utf8(&label[..dash]).ok()?.to_ascii_uppercase().parse().ok()?;
    Some((rtype, Name::prepend(&label[dash + 1..], name.parent()?).ok()?))
}

/// Whether the TXT of an RRset say that it is this owner's: one does, and none names another.
pub fn names_owner(records: &[Rdata], owner: &str) -> bool {
    let mut owners = records.iter().filter_map(|rdata| heritage_owner(rdata.as_rdata(Rtype::TXT))).peekable();
    owners.peek().is_some() && owners.all(|named| named == owner)
}

/// The TXT that says that an RRset is ours; of what a manifest states it also names the manifest.
pub fn heritage(owner: &str, subject: &Subject) -> Rdata {
    let mut text = format!("heritage=external-dns,external-dns/owner={owner}");
    if let Subject::Endpoint(own) = subject {
        text += &format!(",external-dns/resource={MANIFEST}{}/{}", own.namespace, own.manifest);
    }
    Rdata::from_long_text(text.as_bytes())
}

/// The owner that a heritage TXT names, empty where it names none; none where it is another kind of TXT.
///
/// The rules are those of external-dns, so that both tools see the same owner: a token without exactly one `=` is
/// ignored, another `heritage` anywhere makes it another kind of TXT, and the last owner counts. A first-token rule would
/// claim `…owner=us,external-dns/owner=other` for us, which external-dns changes as the owner `other`.
///
/// Source: external-dns, endpoint/labels.go, `NewLabelsFromStringPlain`.
pub fn heritage_owner(rdata: RdataRef<'_>) -> Option<String> {
    heritage_labels(rdata).map(|labels| labels.get("external-dns/owner").cloned().unwrap_or_default())
}

/// The manifest that a heritage TXT names, as `NAMESPACE/NAME`; none where it names none.
pub fn heritage_manifest(rdata: RdataRef<'_>) -> Option<String> {
    let labels = heritage_labels(rdata)?;
    labels.get("external-dns/resource")?.strip_prefix(MANIFEST).map(str::to_owned)
}

/// What the resource of a manifest begins with.
const MANIFEST: &str = "crd/";

/// The labels of a heritage TXT, as [`heritage_owner`] reads them; none where it is another kind of TXT.
fn heritage_labels(rdata: RdataRef<'_>) -> Option<HashMap<String, String>> {
    let text = rdata.strings().collect::<Vec<_>>().concat();
    let text = String::from_utf8_lossy(&text);
    let tokens = text.trim_matches('"').split(',').filter_map(|token| token.split_once('='));
    let (mut is_heritage, mut labels) = (false, HashMap::new());
    for (key, value) in tokens.filter(|(_, value)| !value.contains('=')) {
        match key {
            "heritage" if value == "external-dns" => is_heritage = true,
            "heritage" => return None,
            _ => {
                labels.insert(key.to_owned(), value.to_owned());
            }
        }
    }
    is_heritage.then_some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The owner that a TXT of one string names.
    fn owner(text: &str) -> Option<String> {
        heritage_owner(Rdata::from_text(text).unwrap().as_rdata(Rtype::TXT))
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
    fn heritage_is_read_as_external_dns_reads_it() {
        let twice = "heritage=external-dns,external-dns/owner=us,external-dns/owner=other";
        assert_eq!(owner(twice).as_deref(), Some("other"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=other"), None);
        assert_eq!(owner("heritage=other,heritage=external-dns,external-dns/owner=us"), None);
        assert_eq!(owner("external-dns/owner=us,heritage=external-dns").as_deref(), Some("us"));
        // A token with two `=` is no label.
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,external-dns/owner=a=b").as_deref(), Some("us"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=a=b").as_deref(), Some(""));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=a=b").as_deref(), Some("us"));
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,heritage=,x"), None);
        assert_eq!(owner("heritage=external-dns,external-dns/owner=us,external-dns/owner=").as_deref(), Some(""));
        assert_eq!(owner("heritage=external-dns, external-dns/owner=us").as_deref(), Some(""));
    }
}
