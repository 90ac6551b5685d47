//! Reverse names: addresses to `in-addr.arpa` and `ip6.arpa`, and back.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::name::{Name, NameRef, ZoneName};

/// `in-addr.arpa` in wire format.
const IN_ADDR_ARPA: &[u8] = b"\x07in-addr\x04arpa\0";

/// `ip6.arpa` in wire format.
const IP6_ARPA: &[u8] = b"\x03ip6\x04arpa\0";

/// The digits of nibbles in reverse names.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The longest reverse name, in octets of wire format: 32 nibbles, each behind its length.
const LONGEST: usize = 64 + IP6_ARPA.len();

/// The reverse name of an address, without an allocation: rules look up millions.
#[derive(Debug, Clone, Copy)]
pub struct ReverseName {
    /// Wire format, and unused octets behind it.
    wire: [u8; LONGEST],
    /// How many octets of it are the name.
    length: usize,
}

impl ReverseName {
    /// The reverse name of an address. Source: RFC 1035 section 3.5, RFC 3596 section 2.5.
    pub fn of(address: IpAddr) -> ReverseName {
        let mut wire = [1; LONGEST];
        let length = match address {
            IpAddr::V6(v6) => {
                for (octet, labels) in v6.octets().iter().rev().zip(wire.chunks_exact_mut(4)) {
                    labels[1] = DIGITS[usize::from(octet & 0xf)];
                    labels[3] = DIGITS[usize::from(octet >> 4)];
                }
                wire[64..].copy_from_slice(IP6_ARPA);
                LONGEST
            }
            IpAddr::V4(v4) => {
                let name = octet_labels(&v4.octets());
                wire[..name.as_wire().len()].copy_from_slice(name.as_wire());
                name.as_wire().len()
            }
        };
        ReverseName { wire, length }
    }

    /// Borrows the name.
    pub fn as_name(&self) -> NameRef<'_> {
        NameRef::trusted(&self.wire[..self.length])
    }
}

/// The reverse name of an address as a [`Name`]. Source: RFC 1035 section 3.5, RFC 3596 section 2.5.
pub fn reverse_name(address: IpAddr) -> Name {
    ReverseName::of(address).as_name().to_name()
}

/// The apex of the reverse zone of a network; `None` where its prefix ends inside a nibble (IPv6) or octet (IPv4).
pub fn reverse_zone(network: IpNet) -> Option<ZoneName> {
    let prefix = network.prefix_len() as usize;
    match network.trunc() {
        IpNet::V4(v4) if prefix.is_multiple_of(8) => {
            Some(ZoneName::new(octet_labels(&v4.network().octets()[..prefix / 8])))
        }
        IpNet::V6(v6) if prefix.is_multiple_of(4) => {
            Some(ZoneName::new(nibble_labels(&nibbles(v6.network())[..prefix / 4])))
        }
        _ => None,
    }
}

/// The network whose reverse zone this is; `None` where the zone is not that of a whole network.
///
/// The shortest such zone has one label below `in-addr.arpa` or `ip6.arpa`.
pub fn network_of_zone(zone: &ZoneName) -> Option<IpNet> {
    let labels: Vec<&[u8]> = zone.as_name().labels().collect();
    match labels.as_slice() {
        [numbers @ .., b"ip6", b"arpa"] if !numbers.is_empty() && numbers.len() <= 32 => {
            let mut value: u128 = 0;
            for (place, label) in numbers.iter().rev().enumerate() {
                let &[digit] = *label else { return None };
                let digit = char::from(digit).to_digit(16)?;
                value |= u128::from(digit) << (124 - 4 * place);
            }
            Ipv6Net::new(value.into(), 4 * numbers.len() as u8).ok().map(IpNet::V6)
        }
        [numbers @ .., b"in-addr", b"arpa"] if !numbers.is_empty() && numbers.len() <= 4 => {
            let mut octets = [0; 4];
            for (place, label) in numbers.iter().rev().enumerate() {
                octets[place] = octet(label)?;
            }
            Ipv4Net::new(octets.into(), 8 * numbers.len() as u8).ok().map(IpNet::V4)
        }
        _ => None,
    }
}

/// The address of a reverse name; `None` unless it is whole: 4 octets or 32 nibbles.
///
/// Leading zeros (`01`) would make a second name for the same number; such a name is not a reverse name.
pub fn address_of(name: NameRef<'_>) -> Option<IpAddr> {
    let wire = name.as_wire();
    if wire.len() == 64 + IP6_ARPA.len() && wire.ends_with(IP6_ARPA) {
        let mut value: u128 = 0;
        for place in 0..32 {
            if wire[place * 2] != 1 {
                return None;
            }
            let digit = (wire[place * 2 + 1] as char).to_digit(16)?;
            value |= u128::from(digit) << (4 * place);
        }
        return Some(IpAddr::V6(Ipv6Addr::from(value)));
    }
    if !wire.ends_with(IN_ADDR_ARPA) {
        return None;
    }
    let labels: Vec<&[u8]> = name.labels().collect();
    let [d, c, b, a, b"in-addr", b"arpa"] = labels.as_slice() else { return None };
    Some(IpAddr::V4(Ipv4Addr::new(octet(a)?, octet(b)?, octet(c)?, octet(d)?)))
}

/// Whether a name is for addresses: at or below `in-addr.arpa` or `ip6.arpa`.
pub fn is_reverse(name: NameRef<'_>) -> bool {
    name.ancestors().any(|ancestor| [IN_ADDR_ARPA, IP6_ARPA].contains(&ancestor.as_wire()))
}

/// Reads one decimal octet without leading zeros.
fn octet(label: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(label).ok()?;
    let value: u8 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

/// The 32 nibbles of an address, the most significant first.
fn nibbles(address: Ipv6Addr) -> [u8; 32] {
    let value = u128::from(address);
    std::array::from_fn(|place| (value >> (124 - 4 * place)) as u8 & 0xf)
}

/// A name below `ip6.arpa` of nibbles given most significant first.
fn nibble_labels(nibbles: &[u8]) -> Name {
    let mut wire = Vec::with_capacity(nibbles.len() * 2 + IP6_ARPA.len());
    for nibble in nibbles.iter().rev() {
        wire.extend_from_slice(&[1, DIGITS[*nibble as usize]]);
    }
    wire.extend_from_slice(IP6_ARPA);
    Name::from_wire(&wire).expect("at most 74 octets of well-formed labels")
}

/// A name below `in-addr.arpa` of octets given most significant first.
fn octet_labels(octets: &[u8]) -> Name {
    let mut wire = Vec::with_capacity(octets.len() * 4 + IN_ADDR_ARPA.len());
    for octet in octets.iter().rev() {
        let text = octet.to_string();
        wire.push(text.len() as u8);
        wire.extend_from_slice(text.as_bytes());
    }
    wire.extend_from_slice(IN_ADDR_ARPA);
    Name::from_wire(&wire).expect("at most 30 octets of well-formed labels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_reverse_names_round_trip() {
        for (address, name) in [
            ("178.154.132.91", "91.132.154.178.in-addr.arpa."),
            ("2a02:6b8:0:160b::b29a:845b", "b.5.4.8.a.9.2.b.0.0.0.0.0.0.0.0.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa."),
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(reverse_name(address).to_string(), name);
            assert_eq!(address_of(reverse_name(address).as_name()), Some(address));
        }
    }

    #[test]
    fn only_whole_addresses_count() {
        for name in [
            "0.8.b.6.0.2.0.a.2.ip6.arpa",
            "132.154.178.in-addr.arpa",
            "01.2.3.4.in-addr.arpa",
            "a.1.2.3.4.in-addr.arpa",
        ] {
            assert_eq!(address_of(Name::parse(name).unwrap().as_name()), None, "{name}");
        }
    }

    #[test]
    fn reverse_zones_end_on_a_label() {
        let zone = |text: &str| reverse_zone(text.parse().unwrap()).map(|zone| zone.to_string());
        assert_eq!(zone("2a02:6b8::/40").as_deref(), Some("0.0.8.b.6.0.2.0.a.2.ip6.arpa."));
        assert_eq!(zone("10.20.0.0/16").as_deref(), Some("20.10.in-addr.arpa."));
        assert_eq!(zone("10.20.0.0/20"), None);
        assert_eq!(zone("2a02:6b8::/41"), None);
    }

    #[test]
    fn a_reverse_zone_tells_its_network() {
        let network = |text: &str| {
            let zone = ZoneName::new(Name::parse(text).unwrap());
            network_of_zone(&zone).map(|network| network.to_string())
        };
        for known in ["2a02:6b8::/40", "2000::/4", "2001:db8:0:1::/64", "10.20.0.0/16", "192.0.2.0/24"] {
            let zone = reverse_zone(known.parse().unwrap()).unwrap();
            assert_eq!(network(&zone.to_string()).as_deref(), Some(known));
        }
        for none in ["ip6.arpa", "example.net", "0-25.2.0.192.in-addr.arpa", "01.10.in-addr.arpa", "xx.2.ip6.arpa"] {
            assert_eq!(network(none), None, "{none}");
        }
    }
}
