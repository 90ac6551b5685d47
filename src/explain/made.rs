//! How an address was made, step by step.

use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::Ipv6Net;

use super::model::AddressStep;
use crate::desired::address::{eui64, with_ipv4, with_project_id};
use crate::inventory::value::{HbfProjectId, Mac, Net64};

/// What an address is made of in addition to its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressIngredients {
    /// The project id, and the last 32 bits of the MAC.
    ProjectId(HbfProjectId, Mac),
    /// The MAC as modified EUI-64.
    Eui64(Mac),
    /// An IPv4 address.
    Ipv4(Ipv4Addr),
}

impl AddressIngredients {
    /// The word that documents use.
    pub fn method(self) -> &'static str {
        match self {
            AddressIngredients::ProjectId(..) => "project-id",
            AddressIngredients::Eui64(_) => "eui-64",
            AddressIngredients::Ipv4(_) => "ipv4",
        }
    }

    /// The address that they give in a network.
    pub fn address(self, network: Net64) -> Ipv6Addr {
        match self {
            AddressIngredients::ProjectId(project, mac) => with_project_id(network, project, mac),
            AddressIngredients::Eui64(mac) => eui64(network, mac),
            AddressIngredients::Ipv4(address) => with_ipv4(network, address),
        }
    }

    /// The steps to that address. The values of those that have bits are the address, one after another.
    pub fn steps(self, network: Net64) -> Vec<AddressStep> {
        let address = self.address(network).octets();
        let mut steps = vec![step("the network", grouped(&address[..8], 2), Some(64))];
        match self {
            AddressIngredients::ProjectId(project, mac) => {
                steps.push(step(format!("the project id {project}"), grouped(&address[8..12], 2), Some(32)));
                steps.push(step(format!("the last 32 bits of {mac}"), grouped(&address[12..], 2), Some(32)));
            }
            AddressIngredients::Eui64(mac) => steps.extend(eui64_steps(mac, &address[8..])),
            AddressIngredients::Ipv4(ipv4) => {
                steps.push(step("zeros", grouped(&address[8..12], 2), Some(32)));
                steps.push(step(format!("{ipv4} in hexadecimal"), grouped(&address[12..], 2), Some(32)));
            }
        }
        steps
    }
}

/// From a MAC to a modified EUI-64, as the lower half of an address has it. Source: RFC 4291 appendix A.
fn eui64_steps(mac: Mac, lower: &[u8]) -> Vec<AddressStep> {
    let octets = mac.octets();
    let (first, last) = (grouped(&octets[..3], 1), grouped(&octets[3..], 1));
    let flipped = format!("{:02x} = {:08b} becomes {:08b} = {:02x}", octets[0], octets[0], lower[0], lower[0]);
    vec![
        step("the MAC, split in the middle", format!("{first} | {last}"), None),
        step("ff:fe put in between", format!("{first}:ff:fe:{last}"), None),
        step("its universal/local bit flipped", flipped, None),
        step("the interface identifier", grouped(lower, 2), Some(64)),
    ]
}

/// Puts a step together.
fn step(what: impl Into<String>, value: String, bits: Option<u8>) -> AddressStep {
    AddressStep { what: what.into(), value, bits }
}

/// Octets in hexadecimal, so many to a group.
fn grouped(octets: &[u8], size: usize) -> String {
    let group = |group: &[u8]| group.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
    octets.chunks(size).map(group).collect::<Vec<_>>().join(":")
}

/// The network of an address.
pub fn network_of(address: Ipv6Addr) -> Net64 {
    let network = Ipv6Net::new(address, 64).expect("64 is a prefix").trunc();
    Net64::new(network).expect("a truncated /64 is one")
}

/// The IPv4 address in the last 32 bits.
pub fn embedded_ipv4(address: Ipv6Addr) -> Ipv4Addr {
    Ipv4Addr::from(u128::from(address) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the steps that have bits, as one address.
    fn joined(steps: &[AddressStep]) -> Ipv6Addr {
        assert_eq!(steps.iter().filter_map(|step| step.bits).map(u32::from).sum::<u32>(), 128);
        let values: Vec<&str> =
            steps.iter().filter(|step| step.bits.is_some()).map(|step| step.value.as_str()).collect();
        values.join(":").parse().unwrap()
    }

    #[test]
    fn the_steps_are_the_address() {
        let network = Net64::new("2a02:6b8:0:160b::/64".parse().unwrap()).unwrap();
        for mac in ["78:e3:b5:08:93:98", "02:00:00:00:00:01"].map(|mac| mac.parse().unwrap()) {
            let ways = [
                AddressIngredients::ProjectId("1478".parse().unwrap(), mac),
                AddressIngredients::Eui64(mac),
                AddressIngredients::Ipv4("178.154.132.91".parse().unwrap()),
            ];
            for way in ways {
                assert_eq!(joined(&way.steps(network)), way.address(network));
                assert_eq!(network_of(way.address(network)), network);
            }
        }
    }

    #[test]
    fn the_flipped_bit_is_shown() {
        let network = Net64::new("2a02:6b8:0:160b::/64".parse().unwrap()).unwrap();
        let steps = AddressIngredients::Eui64("78:e3:b5:08:93:98".parse().unwrap()).steps(network);
        let values: Vec<&str> = steps.iter().map(|step| step.value.as_str()).collect();
        assert_eq!(
            values,
            [
                "2a02:06b8:0000:160b",
                "78:e3:b5 | 08:93:98",
                "78:e3:b5:ff:fe:08:93:98",
                "78 = 01111000 becomes 01111010 = 7a",
                "7ae3:b5ff:fe08:9398",
            ]
        );
    }
}
