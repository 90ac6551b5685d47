//! How an address is made of a network and what is unique to the interface.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::inventory::value::{HbfProjectId, Mac, Net64};

/// Modified EUI-64: `fffe` in the middle of the MAC, the universal/local bit inverted.
///
/// Source: RFC 4291 appendix A.
pub fn eui64(network: Net64, mac: Mac) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.octets();
    network.address(u64::from_be_bytes([a ^ 0b10, b, c, 0xff, 0xfe, d, e, f]))
}

/// The project id in the upper half of the interface identifier, the last 32 bits of the MAC in the lower.
///
/// Source: none official; host-based firewalls filter by these bits.
pub fn with_project_id(network: Net64, project: HbfProjectId, mac: Mac) -> Ipv6Addr {
    let [_, _, c, d, e, f] = mac.octets();
    network.address(u64::from(project.0) << 32 | u64::from(u32::from_be_bytes([c, d, e, f])))
}

/// An IPv4 address in the last 32 bits, the 32 before them zero.
pub fn with_ipv4(network: Net64, address: Ipv4Addr) -> Ipv6Addr {
    network.address(u64::from(u32::from(address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The network of the examples.
    fn network() -> Net64 {
        Net64::new("2a02:6b8:0:160b::/64".parse().unwrap()).unwrap()
    }

    #[test]
    fn the_three_ways_to_an_address() {
        let mac: Mac = "78:e3:b5:08:93:98".parse().unwrap();
        let project: HbfProjectId = "1478".parse().unwrap();
        assert_eq!(eui64(network(), mac).to_string(), "2a02:6b8:0:160b:7ae3:b5ff:fe08:9398");
        assert_eq!(with_project_id(network(), project, mac).to_string(), "2a02:6b8:0:160b:0:1478:b508:9398");
        let ipv4 = "178.154.132.91".parse().unwrap();
        assert_eq!(with_ipv4(network(), ipv4).to_string(), "2a02:6b8:0:160b::b29a:845b");
    }
}
