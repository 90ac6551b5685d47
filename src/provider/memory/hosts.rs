//! Which records must be at names of hosts, or point to such names, as BIND's `check-names` requires. Pure.
//!
//! Source: RFC 952, RFC 1123 section 2.1; which types it concerns is BIND's.

use crate::dns::{NameRef, RdataRef, Rtype, reverse};

/// Whether the owner name and the RDATA of a record name hosts where they must.
pub fn is_host_data(owner: NameRef<'_>, rdata: RdataRef<'_>) -> bool {
    let is_target_host = || rdata.target().is_none_or(|target| is_host(target, false));
    match rdata.rtype {
        Rtype::A | Rtype::AAAA => is_host(owner, true),
        Rtype::MX => is_host(owner, true) && is_target_host(),
        Rtype::NS => is_target_host(),
        Rtype::PTR => !reverse::is_reverse(owner) || is_service(owner) || is_target_host(),
        _ => true,
    }
}

/// Whether a name could be that of a host: labels of letters, digits and inner hyphens.
fn is_host(name: NameRef<'_>, may_be_wildcard: bool) -> bool {
    let mut labels = name.labels().skip(usize::from(may_be_wildcard && name.is_wildcard()));
    labels.all(|label| {
        let (first, last) = (label.first(), label.last());
        let is_inner = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'-';
        label.iter().all(is_inner) && first != Some(&b'-') && last != Some(&b'-')
    })
}

/// Whether services are listed at a name (RFC 6763 section 11), which point to what is not a host.
fn is_service(name: NameRef<'_>) -> bool {
    let mut labels = name.labels();
    let lists = [&b"b"[..], b"db", b"r", b"dr", b"lb"];
    labels.next().is_some_and(|label| lists.contains(&label)) && labels.next() == Some(b"_dns-sd")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::{Name, Rdata};

    #[test]
    fn addresses_stand_at_names_of_hosts_and_reverse_pointers_point_to_such() {
        let name = |text: &str| Name::parse(text).unwrap();
        let is_allowed = |owner: &str, rtype, text: &str| {
            let rdata = Rdata::parse(rtype, text).unwrap();
            is_host_data(name(owner).as_name(), rdata.as_rdata(rtype))
        };
        assert!(is_allowed("a-1.example.net", Rtype::A, "192.0.2.1"));
        assert!(is_allowed("*.example.net", Rtype::AAAA, "::1"));
        for owner in ["under_score.example.net", "-a.example.net", "a-.example.net", "a.*.example.net", "a\\032b.net"] {
            assert!(!is_allowed(owner, Rtype::A, "192.0.2.1"), "{owner}");
            assert!(is_allowed(owner, Rtype::TXT, "\"x\""), "{owner}");
        }
        assert!(!is_allowed("1.2.0.192.in-addr.arpa", Rtype::PTR, "under_score.example.net."));
        assert!(is_allowed("1.2.0.192.in-addr.arpa", Rtype::PTR, "a.example.net."));
        assert!(is_allowed("b._dns-sd._udp.0.2.0.192.in-addr.arpa", Rtype::PTR, "under_score.example.net."));
        assert!(is_allowed("a.example.net", Rtype::PTR, "under_score.example.net."));
    }
}
