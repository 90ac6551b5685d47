//! The value of a key, and what CoreDNS makes of it. Pure.
//!
//! Source: CoreDNS, plugin `etcd` (`msg.Service`, `HostType`): a host that is an address is A or AAAA, another one is a CNAME,
//! or TXT where there is a text, too; a TTL of 0 is 300.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::dns::{Name, Rdata, Rrset, RrsetMark, Rtype, Ttl};

/// The TTL of a key that says none.
const DEFAULT_TTL: u64 = 300;

/// The value of a key, as far as CoreDNS reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EtcdService {
    /// An address, or a name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The port, of an SRV.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub port: i64,
    /// The priority, of an SRV or MX.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i64,
    /// The weight, of an SRV.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weight: i64,
    /// The text, of TXT; external-dns keeps what its registry says here.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Whether it is an MX.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mail: bool,
    /// The TTL in seconds.
    #[serde(default)]
    pub ttl: u64,
    /// How many labels of the key are no labels of the name.
    #[serde(default, skip_serializing_if = "is_none")]
    pub targetstrip: usize,
    /// With which other keys it is answered.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Whose it is; external-dns reads it with `--coredns-strictly-owned`, and CoreDNS not at all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub owner: String,
}

/// Whether a number is left out.
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// Whether no label was generated.
fn is_none(number: &usize) -> bool {
    *number == 0
}

/// What the owners of keys mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOwners<'a> {
    /// Each is the mark of its RRset.
    Marks,
    /// This one is ours, and what has another one is left.
    Ours(Option<&'a str>),
}

impl<'a> KeyOwners<'a> {
    /// What the new keys of an RRset say.
    pub fn of_new(self, after: Option<&'a Rrset>) -> Option<&'a str> {
        match self {
            KeyOwners::Marks => after?.mark().map(|mark| mark.owner.as_str()),
            KeyOwners::Ours(owner) => owner,
        }
    }

    /// Whether a key of this owner is left.
    fn leaves(self, owner: &str) -> bool {
        match self {
            KeyOwners::Marks => false,
            KeyOwners::Ours(ours) => !owner.is_empty() && ours != Some(owner),
        }
    }
}

/// A record that a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceRecord {
    /// The type.
    pub rtype: Rtype,
    /// The TTL.
    pub ttl: Ttl,
    /// The data.
    pub rdata: Rdata,
    /// Whose it is, where owners are marks.
    pub mark: Option<RrsetMark>,
}

/// The value of a key with the TTL of an RRset, and with its mark where owners are marks: what else it has stays, also what no
/// program here reads. None where it is no object.
pub fn rewritten(value: &[u8], after: &Rrset, owners: KeyOwners<'_>) -> Option<String> {
    let mut own: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(value).ok()?;
    own.insert("ttl".to_owned(), after.ttl().as_secs().into());
    if owners == KeyOwners::Marks {
        match after.mark() {
            Some(mark) => own.insert("owner".to_owned(), mark.owner.as_str().into()),
            None => own.remove("owner"),
        };
    }
    serde_json::to_string(&own).ok()
}

impl EtcdService {
    /// The value of a key for a record; none where no value says it.
    pub fn of(rtype: Rtype, rdata: &Rdata, ttl: Ttl, owner: Option<&str>) -> Option<EtcdService> {
        let own = EtcdService {
            ttl: u64::from(ttl.as_secs()),
            targetstrip: usize::from(rtype != Rtype::PTR),
            owner: owner.unwrap_or_default().to_owned(),
            ..EtcdService::default()
        };
        let data = rdata.as_rdata(rtype);
        match rtype {
            Rtype::A | Rtype::AAAA => Some(EtcdService { host: data.address()?.to_string(), ..own }),
            Rtype::CNAME | Rtype::PTR => {
                let target = data.target()?.to_string();
                Some(EtcdService { host: target.trim_end_matches('.').to_owned(), ..own })
            }
            Rtype::TXT => {
                let text = String::from_utf8(data.strings().collect::<Vec<_>>().concat()).ok()?;
                let is_same = !text.is_empty() && Rdata::from_long_text(text.as_bytes()) == *rdata;
                is_same.then_some(EtcdService { text, ..own })
            }
            _ => None,
        }
    }

    /// The record that CoreDNS makes of a key, or what is there instead, as a part of a sentence; `is_reverse` says that the key
    /// is the whole path of a reverse name.
    pub fn record(&self, is_reverse: bool, owners: KeyOwners<'_>) -> Result<ServiceRecord, String> {
        let ttl = if self.ttl == 0 { DEFAULT_TTL } else { self.ttl };
        let ttl = Ttl::from_secs(ttl).ok_or_else(|| "a key with a TTL that is too large".to_owned())?;
        if owners.leaves(&self.owner) {
            return Err(format!("a key of the owner `{}`", self.owner));
        }
        if self.mail {
            return Err("a key for MX".to_owned());
        }
        if self.port != 0 || !self.group.is_empty() {
            return Err("a key for SRV".to_owned());
        }
        let has_mark = owners == KeyOwners::Marks && !self.owner.is_empty();
        let mark = has_mark.then(|| RrsetMark::of(&self.owner));
        let record = |rtype: Rtype, rdata: Rdata| Ok(ServiceRecord { rtype, ttl, rdata, mark });
        // An address of IPv4 in the form of IPv6 is one of IPv4 to it (`To4`).
        if let Ok(address) = self.host.parse::<IpAddr>().map(|address| address.to_canonical()) {
            let rtype = if address.is_ipv4() { Rtype::A } else { Rtype::AAAA };
            return record(rtype, Rdata::from_address(address));
        }
        match (self.host.as_str(), self.text.as_str()) {
            ("", "") => Err("a key without a host".to_owned()),
            ("", text) => record(Rtype::TXT, Rdata::from_long_text(text.as_bytes())),
            (host, "") => {
                let target = Name::parse(host).map_err(|_| format!("a key with the host `{host}`"))?;
                record(if is_reverse { Rtype::PTR } else { Rtype::CNAME }, Rdata::from_name(target.as_name()))
            }
            // CoreDNS answers with the text alone.
            (_, _) => Err("a CNAME with a text".to_owned()),
        }
    }

    /// The value as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An RRset of one address, with the mark of an owner.
    fn rrset(ttl: u64, owner: Option<&str>) -> Rrset {
        let address = Rdata::from_address("192.0.2.1".parse().unwrap());
        Rrset::new(Ttl::from_secs(ttl).unwrap(), vec![address]).unwrap().marked(owner.map(RrsetMark::of))
    }

    #[test]
    fn an_owner_is_a_mark_or_keeps_others_out() {
        let of = |owner: &str| EtcdService {
            host: "192.0.2.1".to_owned(),
            owner: owner.to_owned(),
            ..EtcdService::default()
        };
        let mark = |owner, owners| of(owner).record(false, owners).map(|record| record.mark);
        assert_eq!(mark("x", KeyOwners::Marks), Ok(Some(RrsetMark::of("x"))));
        assert_eq!(mark("", KeyOwners::Marks), Ok(None));
        assert_eq!(mark("x", KeyOwners::Ours(Some("x"))), Ok(None));
        assert_eq!(mark("x", KeyOwners::Ours(None)), Err("a key of the owner `x`".to_owned()));
    }

    #[test]
    fn what_is_written_anew_keeps_all_but_ttl_and_mark() {
        let value = br#"{"host":"192.0.2.1","owner":"x","text":"t","ttl":60,"unknown":7}"#;
        let anew = |owner, owners| rewritten(value, &rrset(90, owner), owners).unwrap();
        let kept = r#"{"host":"192.0.2.1","owner":"x","text":"t","ttl":90,"unknown":7}"#;
        assert_eq!(anew(Some("us"), KeyOwners::Ours(None)), kept);
        assert_eq!(anew(Some("us"), KeyOwners::Marks), kept.replace("\"x\"", "\"us\""));
        assert_eq!(anew(None, KeyOwners::Marks), kept.replace("\"owner\":\"x\",", ""));
    }
}
