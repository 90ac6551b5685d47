//! Which host an operator names: by its number, by a name that it has, or by the first label of one.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::subject::{error, host, suggested};
use crate::diag::CallError;
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::value::Inv;
use crate::names::holders::held_name;
use crate::names::{HolderRow, NameHolder, NameIndex};

/// How many hosts are listed where a text may be any of several.
const LISTED: usize = 8;

/// What names a host.
const EXPECTED: &str = "name a host by its inventory number, or by a name that it has";

/// What names other things than hosts.
const WITHOUT_HOSTS: &str =
    "`plan` and `apply` take records and pods by `--subject`, such as `record:SOURCE/DNSNAME` or `pod:SET/POD`";

/// Finds the hosts that texts name. Backbone and fastbone names count, of hosts.csv and names.lock.
///
/// Errors: a text that names no host, or several.
pub fn find_hosts(inventory: &Inventory, texts: &[String]) -> Result<BTreeSet<Inv>, CallError> {
    if let Some(text) = texts.first().filter(|_| inventory.is_without_hosts()) {
        return error(format!("`{text}` is no host: this workspace has no hosts"), WITHOUT_HOSTS);
    }
    // An index of all names takes long to make for a large fleet, and numbers need none.
    let is_number = |text: &String| text.parse::<Inv>().is_ok();
    let names = (!texts.iter().all(is_number)).then(|| NameIndex::new(inventory));
    let find = |text: &String| match (text.parse::<Inv>(), &names) {
        (Ok(inv), _) => host(inventory, inv),
        (Err(()), Some(names)) => NamedHosts { inventory, names }.find(text),
        (Err(()), None) => unreachable!("a text that is no number needs the index, which was made"),
    };
    texts.iter().map(find).collect()
}

/// Hosts by their names.
struct NamedHosts<'a> {
    /// The inventory.
    inventory: &'a Inventory,
    /// All names.
    names: &'a NameIndex,
}

impl NamedHosts<'_> {
    /// Finds the host that has a name.
    ///
    /// Errors: no host has it, or several have.
    fn find(&self, text: &str) -> Result<Inv, CallError> {
        if text.parse::<IpAddr>().is_ok() {
            return error(format!("`{text}` is an address, not a host"), EXPECTED);
        }
        let whole = Name::parse(text);
        let whole = match whole {
            Ok(name) => name,
            Err(wrong) => return error(format!("`{text}` is not an inventory number or a name: {wrong}"), EXPECTED),
        };
        let holders: Vec<NameHolder> = if text.contains('.') {
            self.names.holders(self.inventory, whole.as_name()).collect()
        } else {
            self.by_first_label(&whole)
        };
        let hosts_of = |now: bool| -> BTreeSet<Inv> {
            let hosts = holders.iter().filter(|holder| holder.now == now);
            hosts.map(|holder| self.inv_of(*holder)).collect()
        };
        let (current, former) = (hosts_of(true), hosts_of(false));
        match (current.first(), current.len()) {
            (Some(inv), 1) => Ok(*inv),
            (Some(_), _) => error(self.several(text, &holders), "give the number, or the whole name"),
            (None, _) => match former.first() {
                Some(inv) => error(
                    format!("no host has the name `{text}` now; host {inv} had it"),
                    format!("name that host by its number, {inv}"),
                ),
                None => error(
                    format!("no host has the name `{text}`"),
                    suggested(self.inventory, self.names, text).unwrap_or_else(|| EXPECTED.to_owned()),
                ),
            },
        }
    }

    /// Who has or had a name with a first label.
    fn by_first_label(&self, label: &Name) -> Vec<NameHolder> {
        let is_wanted = |holder: &NameHolder| {
            let name = held_name(self.inventory, *holder);
            name.is_some_and(|name| name.as_name().first_label() == label.as_name().first_label())
        };
        self.names.entries().filter(is_wanted).collect()
    }

    /// The host of a row.
    fn inv_of(&self, holder: NameHolder) -> Inv {
        match holder.by {
            HolderRow::Host(place) => self.inventory.hosts[place as usize].inv,
            HolderRow::Lock(place) => self.inventory.lock[place as usize].inv,
        }
    }

    /// The message for a text that several hosts have as a name: number and name of each.
    fn several(&self, text: &str, holders: &[NameHolder]) -> String {
        let current = holders.iter().filter(|holder| holder.now);
        let named = current.filter_map(|holder| Some((self.inv_of(*holder), held_name(self.inventory, *holder)?)));
        let all: BTreeSet<(Inv, Name)> = named.collect();
        let shown: Vec<String> = all.iter().take(LISTED).map(|(inv, name)| format!("{inv} `{name}`")).collect();
        let more = match all.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("`{text}` may be any of {}{more}", shown.join(", "))
    }
}
