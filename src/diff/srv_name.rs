//! The names of SRV of endpoints. Pure.

use crate::dns::NameRef;

/// The parts of the name of an SRV (RFC 2782): `_NAME._PROTOCOL.DOMAIN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SrvName<'n> {
    /// The name of the endpoint, without the underscore.
    pub endpoint: &'n str,
    /// The protocol, without the underscore.
    pub protocol: &'n str,
    /// The domain.
    pub domain: NameRef<'n>,
}

impl<'n> SrvName<'n> {
    /// The parts of a name; none where it is no name that an endpoint can have.
    pub fn of(name: NameRef<'n>) -> Option<SrvName<'n>> {
        let above = name.parent()?;
        let part = |label: &'n [u8]| {
            let text = std::str::from_utf8(label.strip_prefix(b"_")?).ok()?;
            let is_plain = |octet: u8| octet.is_ascii_alphanumeric() || matches!(octet, b'-' | b'_');
            (!text.is_empty() && text.bytes().all(is_plain)).then_some(text)
        };
        let (endpoint, protocol) = (part(name.first_label()?)?, part(above.first_label()?)?);
        Some(SrvName { endpoint, protocol, domain: above.parent()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dns::Name;

    #[test]
    fn the_name_of_an_srv_has_an_endpoint_a_protocol_and_a_domain() {
        let parts = |text: &str| {
            let name = Name::parse(text).unwrap();
            let srv = SrvName::of(name.as_name())?;
            Some([srv.endpoint.to_owned(), srv.protocol.to_owned(), srv.domain.to_string()])
        };
        let expected = ["http-sas", "tcp", "web.example.net."].map(str::to_owned);
        assert_eq!(parts("_http-sas._tcp.web.example.net"), Some(expected));
        for other in
            ["http._tcp.web.example.net", "_http.tcp.example.net", "_._tcp.example.net", "_a\\.b._tcp.net", "_a"]
        {
            assert_eq!(parts(other), None, "{other}");
        }
    }
}
