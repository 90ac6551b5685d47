//! From an address back to its host, or to no host.

use std::net::IpAddr;

use super::model::{AddressClaim, AddressFacts, ExplainSubject, Explanation, HoldingName};
use super::site::kind_word;
use super::{ExplainCase, changes, claimed_by, host};
use crate::desired::Interface;
use crate::dns::reverse;
use crate::inventory::value::Inv;
use crate::live::{Live, LiveRrset};

/// Explains an address.
pub fn explain(case: &ExplainCase<'_>, address: IpAddr) -> Explanation {
    let facts = case.address_facts(address);
    let mut hosts: Vec<u64> = facts.claims.iter().map(|claim| claim.inv).collect();
    hosts.dedup();
    let chain = match hosts.as_slice() {
        [inv] => Some(case.host(Inv(*inv))),
        _ => None,
    };
    let published = case.published_pointer_words().map(|words| format!(" {words}")).unwrap_or_default();
    let whose = match (facts.claims.as_slice(), hosts.as_slice()) {
        ([], _) if !facts.pods.is_empty() => {
            format!("{address} is an address of {}.{published}", facts.pods.join(", "))
        }
        ([], _) if !facts.stated.is_empty() => {
            let mut by: Vec<&str> = facts.stated.iter().map(|own| own.by.as_str()).collect();
            by.dedup();
            format!("Files state {address}: {}.{published}", by.join(", "))
        }
        ([], _) if facts.is_without_hosts && facts.held_by.is_empty() => format!("No name holds {address}.{published}"),
        ([], _) if facts.is_without_hosts => format!("Live names hold {address}.{published}"),
        ([], _) if facts.held_by.is_empty() => {
            format!("No host may have {address}, and no name holds it.{published}")
        }
        ([], _) => format!("No host may have {address}, but live names hold it.{published}"),
        ([claim, ..], [_]) => format!("{address} is {} {}", role_words(claim.role), claim.name),
        (_, several) => claimed_by(&address, several),
    };
    let then = match &chain {
        Some(chain) => host::answer(chain),
        None => host::touched(facts.changes.len()),
    };
    Explanation {
        subject: ExplainSubject::Address(address),
        now: case.context.now.to_string(),
        unseen: Vec::new(),
        answer: format!("{whose} {then}"),
        name: None,
        address: Some(facts),
        host: chain,
    }
}

/// What an address is to an interface, before the interface's name.
fn role_words(role: &str) -> &'static str {
    match role {
        "preferred" => "the preferred address of",
        "own-a" => "the address of an A record at",
        "listed" => "an address of",
        _ => "an acceptable address of",
    }
}

impl ExplainCase<'_> {
    /// All about an address.
    fn address_facts(&self, address: IpAddr) -> AddressFacts {
        let claims = self.claims(address);
        let reverse_name = reverse::reverse_name(address);
        let claimant = claims.first().and_then(|claim| self.context.inventory.place_of(Inv(claim.inv)));
        let project = claimant.map(|place| self.context.inventory.hosts[place].project);
        AddressFacts {
            is_without_hosts: self.context.inventory.is_without_hosts(),
            claims,
            pods: self.pods_at(address),
            stated: self.stated_with(address),
            held_by: self.held_by(address),
            reverse: self.whole_site(reverse_name.as_name(), project),
            changes: self.changes(|change| changes::touches_address(change, address, &reverse_name)),
        }
    }

    /// The pods that have an address by their rows, in words.
    fn pods_at(&self, address: IpAddr) -> Vec<String> {
        let inventory = self.context.inventory;
        let pods = inventory.pods.rows.iter().filter(|pod| pod.addresses.contains(&address));
        let said = pods.map(|pod| {
            let set = &inventory.pods.set_of(pod).id;
            format!("pod:{set}/{} ({}, {})", pod.id, pod.state, self.line(pod.origin))
        });
        said.collect()
    }

    /// The names that hold an address, also in the zones of DNS update records.
    fn held_by(&self, address: IpAddr) -> Vec<HoldingName> {
        let in_record = |(record, live): &(String, Live)| {
            let holding = |found: LiveRrset<'_>| HoldingName {
                at: found.rrset.owner().to_string(),
                ttl: found.rrset.ttl().as_secs(),
                whose: format!("a name in a zone of the record `{record}`"),
            };
            live.holding(address).map(holding).collect::<Vec<_>>()
        };
        let mut names = self.names_holding(address, None);
        names.extend(self.records.iter().flat_map(in_record));
        names.sort_by(|a, b| a.at.cmp(&b.at));
        names
    }

    /// The interfaces that may have an address, in the order of hosts.
    fn claims(&self, address: IpAddr) -> Vec<AddressClaim> {
        let hosts = self.context.inventory.hosts.iter().zip(self.context.desired.iter());
        let claims = hosts.flat_map(|(host, desired)| {
            let at = desired.interfaces.iter().filter(|interface| interface.is_at(address));
            at.map(|interface| self.claim(host.inv, interface, address))
        });
        claims.collect()
    }

    /// What an address is to an interface that may have it.
    fn claim(&self, inv: Inv, interface: &Interface, address: IpAddr) -> AddressClaim {
        let found = interface.addresses().position(|(own, _)| own == address);
        let line = found.and_then(|place| interface.addresses().nth(place)).map(|(_, line)| self.line(line));
        AddressClaim {
            inv: inv.0,
            interface: kind_word(interface.kind),
            name: interface.owner.to_string(),
            role: match found {
                Some(_) if interface.is_listed() => super::interface::LISTED,
                Some(0) => "preferred",
                Some(_) => "acceptable",
                None => "own-a",
            },
            line,
        }
    }
}
