//! The chain of one host.

use super::page::ExplainPage;
use super::{site, verdict};
use crate::explain::model::{
    AddressStep, HoldingName, HostFacts, HostsCsvRow, InterfaceFacts, ListedAddress, MadeAddress, NetworkFacts,
    OtherName, OwnA, ProjectFacts, ReportFacts, SwitchFacts,
};

/// Renders all about a host.
pub fn render(page: &mut ExplainPage, host: &HostFacts) {
    page.heading(&format!("Host {}", host.inv));
    if let Some(row) = &host.row {
        inventory(page, row);
    }
    if let Some(project) = &host.project {
        switches(page, project);
    }
    names(page, host);
    // Addresses that the inventory lists are made of no MAC.
    if !host.interfaces.iter().any(is_listed) {
        reports(page, host);
    }
    host.interfaces.iter().for_each(|own| interface(page, own));
    verdict::render(page, host);
}

/// The row of hosts.csv.
fn inventory(page: &mut ExplainPage, row: &HostsCsvRow) {
    let restricted = if row.restricted { ", restricted by `automated-dns`" } else { "" };
    let bad = if row.bad { "; the row is bad" } else { "" };
    let HostsCsvRow { line, status, location, .. } = row;
    page.fact("inventory", &format!("{status}, datacenter {location}{restricted} ({line}{bad})"));
    if !row.also.is_empty() {
        page.fact("", &format!("the same number is in {}, too", row.also.join(", ")));
    }
}

/// Who lets automation work on the project.
fn switches(page: &mut ExplainPage, project: &ProjectFacts) {
    let at = |line: &Option<String>| line.as_ref().map(|line| format!(" ({line})")).unwrap_or_default();
    let administrator = match project.administrator {
        "allowed" => "the administrator allows automation",
        "forbidden" => "the administrator does not allow automation",
        _ => "zonewright.toml has no [project.X] for it",
    };
    let owner = match project.owner {
        "on" => "its owner has switched it on",
        "off" => "its owner has not switched it on",
        "bad" => "its owner's file is bad",
        _ => "no file of its owner can be read",
    };
    let policy = project.policy.map(|policy| format!(", policy {policy}")).unwrap_or_default();
    let (first, second) = (at(&project.administrator_line), at(&project.owner_line));
    page.fact("project", &format!("{}: {administrator}{first}, {owner}{policy}{second}", project.id));
}

/// The host's name, and its former names.
fn names(page: &mut ExplainPage, host: &HostFacts) {
    match &host.name {
        Some(name) => page.fact("name", &format!("{} ({})", name.name, name.line)),
        None if host.other_names.is_empty() => {
            page.fact("name", "none: names.lock and hosts.csv give it none");
        }
        None => page.fact("name", "none now"),
    }
    for OtherName { name, line, released, said, .. } in &host.other_names {
        let name = name.as_deref().unwrap_or("a name that cannot be read");
        match released {
            Some(released) => page.fact("former", &format!("{name}, given up {released}: {said} ({line})")),
            None => page.fact("not counted", &format!("{name}: {said} ({line})")),
        }
    }
}

/// All MAC reports, and the switch.
fn reports(page: &mut ExplainPage, host: &HostFacts) {
    page.heading("MAC and switch");
    match (&host.mac, host.reports.is_empty()) {
        (_, true) => page.fact("MAC", "no source has a report of it"),
        (None, false) => page.fact("MAC", "none: no report counts"),
        (Some(mac), false) => page.fact("MAC", mac),
    }
    host.reports.iter().for_each(|own| report(page, own));
    match &host.switch {
        None => page.fact("switch", "none is known"),
        Some(SwitchFacts { switch, line, source, segment, segment_line }) => {
            let source = if *source == "report" { "as the report says" } else { "as hosts.csv says" };
            let listed = match segment_line {
                Some(first) => format!("l3-tors lists it ({first})"),
                None if *segment == "L3" => {
                    "an l3-tors that was accepted earlier lists it; today's l3-tors does not".to_owned()
                }
                None => "l3-tors does not list it".to_owned(),
            };
            page.fact("switch", &format!("{switch}, {source} ({line}); in an {segment} segment, because {listed}"));
        }
    }
}

/// One report.
fn report(page: &mut ExplainPage, report: &ReportFacts) {
    let ReportFacts { line, source, time, age, penalty, mac, switch, verdict, why } = report;
    let mac = mac.as_deref().unwrap_or("a MAC that cannot be read");
    let switch = switch.as_ref().map(|switch| format!(" at {switch}")).unwrap_or_default();
    let penalty = penalty.as_ref().map(|penalty| format!(", counts as {penalty} older")).unwrap_or_default();
    let age = if *verdict == "future" { String::new() } else { format!(", {age} old") };
    let style = if *verdict == "won" { page.paint.create.clone() } else { String::new() };
    page.styled(4, &style, &format!("{verdict}: {mac}{switch}, by `{source}`{age}{penalty}: {why}"));
    page.item(8, &format!("{line}, {time}"));
}

/// One interface.
fn interface(page: &mut ExplainPage, own: &InterfaceFacts) {
    let name = own.name.as_deref().unwrap_or("(no name)");
    let kind = if own.kind == "backbone" { "Backbone" } else { "Fastbone" };
    page.heading(&format!("{kind} {name}"));
    if let (Some(name), Some(line)) = (&own.name, &own.name_line) {
        page.fact("name", &format!("{name}, by `fastbone_name` ({line})"));
    }
    if let (Some(vlan), Some(line)) = (own.vlan, &own.vlan_line) {
        page.fact("VLAN", &format!("{vlan} ({line})"));
    }
    if is_listed(own) {
        return listed(page, own);
    }
    page.fact(
        "networks",
        if own.networks_from.is_empty() { "unknown without its project's file" } else { &own.networks_from },
    );
    own.networks.iter().enumerate().for_each(|(rank, network)| {
        let lacks = if own.name.is_some() { "no MAC" } else { "no name" };
        self::network(page, network, rank == 0, lacks);
    });
    if let Some(site) = &own.live {
        site::render(page, "live", site);
    }
    for OwnA { address, reverse: site } in &own.own_a {
        site::reverse(page, 4, &format!("PTR of its A {address}"), site);
    }
    let derived = own.networks.iter().any(|own| own.address.is_some());
    for HoldingName { at, ttl, whose } in &own.ptr_elsewhere {
        if derived {
            page.fact("PTR astray", &format!("of {at}, ttl {ttl}, names it; that is {whose}"))
        } else {
            page.fact("PTR to it", &format!("of {at}, ttl {ttl}; whether that is right is not known"))
        }
    }
}

/// Whether the inventory lists the addresses of an interface.
fn is_listed(own: &InterfaceFacts) -> bool {
    own.method == Some("listed")
}

/// The addresses that the inventory lists for an interface, and what is live.
fn listed(page: &mut ExplainPage, own: &InterfaceFacts) {
    if own.listed.is_empty() {
        page.fact("addresses", "the source `addresses` lists none");
    }
    for ListedAddress { address, line, live, kept, reverse: site, elsewhere } in &own.listed {
        let live = whether_live(*live, *kept);
        let style = if *kept { page.paint.head.clone() } else { String::new() };
        page.styled(4, &style, &format!("{address} ({line}; {live})"));
        site::reverse(page, 6, "PTR", site);
        held_elsewhere(page, 6, elsewhere);
    }
    if let Some(site) = &own.live {
        site::render(page, "live", site);
    }
    for HoldingName { at, ttl, whose } in &own.ptr_elsewhere {
        page.fact("PTR astray", &format!("of {at}, ttl {ttl}, names it; that is {whose}"));
    }
}

/// Whether an address is live at its name.
fn whether_live(live: Option<bool>, kept: bool) -> &'static str {
    match live {
        Some(true) => "it is live",
        Some(false) if kept => "it is not live yet",
        Some(false) => "it is not live",
        None => "whether it is live is not known",
    }
}

/// The other names that hold an address.
fn held_elsewhere(page: &mut ExplainPage, indent: usize, elsewhere: &[HoldingName]) {
    for HoldingName { at, ttl, whose } in elsewhere {
        page.item(indent, &format!("also held by {at}, ttl {ttl}: {whose}"));
    }
}

/// A network, with the address in it, or what the host lacks for one. The steps are the same for every network, so only
/// the `first` has them.
fn network(page: &mut ExplainPage, own: &NetworkFacts, first: bool, lacks: &str) {
    page.item(4, &format!("{} ({})", own.network, own.line));
    let Some(MadeAddress { address, preferred, live, kept, steps, reverse: site, elsewhere }) = &own.address else {
        return page.item(6, &format!("no address in it, because the host has {lacks}"));
    };
    let shown: Vec<&AddressStep> = steps.iter().filter(|step| first || step.bits.is_some()).collect();
    let width = shown.iter().map(|step| step.value.len()).max().unwrap_or(0);
    for AddressStep { what, value, bits } in shown {
        let bits = bits.map(|bits| format!("{bits} bits: ")).unwrap_or_default();
        page.exact(6, &format!("{value:<width$}  {bits}{what}"));
    }
    let rank = if *preferred { "the preferred one" } else { "acceptable" };
    let live = whether_live(*live, *kept);
    let style = if *kept { page.paint.head.clone() } else { String::new() };
    page.styled(6, &style, &format!("= {address} ({rank}; {live})"));
    site::reverse(page, 8, "PTR", site);
    held_elsewhere(page, 8, elsewhere);
}
