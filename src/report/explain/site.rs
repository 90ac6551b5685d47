//! What is live at a name, and at a reverse name.

use super::page::ExplainPage;
use crate::explain::model::{CopyFacts, CopySite, LiveFacts, LiveSite};

/// What is live at a name.
pub fn render(page: &mut ExplainPage, label: &str, site: &LiveSite) {
    let zone = match (&site.zone, site.permission) {
        (Some(zone), Some(permission)) => format!("zone {zone} (permission {permission})"),
        _ if !site.records.is_empty() => "DNS update records have zones for it".to_owned(),
        _ => "so its records are unknown".to_owned(),
    };
    match (site.said.as_str(), site.rrsets.is_empty()) {
        ("", true) => page.fact(label, &format!("nothing is live; {zone}")),
        ("", false) => page.fact(label, &zone),
        (said, _) => page.fact(label, &format!("{said}; {zone}")),
    }
    for rrset in &site.rrsets {
        self::rrset(page, 6, rrset);
    }
    copies(page, 6, "at", &site.copies);
    copies(page, 6, "in the zone of", &site.records);
}

/// What copies hold.
fn copies(page: &mut ExplainPage, depth: usize, at: &str, copies: &[CopySite]) {
    for CopySite { target, rrsets } in copies {
        if rrsets.is_empty() {
            page.item(depth, &format!("{at} `{target}` nothing is live"));
            continue;
        }
        page.item(depth, &format!("{at} `{target}`:"));
        for CopyFacts { rtype, ttl, rdata } in rrsets {
            rdata.iter().for_each(|rdata| page.item(depth + 2, &format!("{rtype} {rdata}  ttl {ttl}")));
        }
    }
}

/// What is live at a reverse name, in a line where that will do.
pub fn reverse(page: &mut ExplainPage, depth: usize, label: &str, site: &LiveSite) {
    let zone = site.zone.as_ref().map(|zone| format!("zone {zone}")).unwrap_or_default();
    match (site.said.as_str(), site.rrsets.is_empty()) {
        ("", true) => page.item(depth, &format!("{label}: nothing is live ({zone})")),
        ("", false) => page.item(depth, &format!("{label}, {zone}:")),
        (said, _) if zone.is_empty() => page.item(depth, &format!("{label}: {said}")),
        (said, _) => page.item(depth, &format!("{label}, {zone}: {said}")),
    }
    site.rrsets.iter().for_each(|own| rrset(page, depth + 2, own));
    copies(page, depth + 2, "at", &site.copies);
}

/// A live RRset.
fn rrset(page: &mut ExplainPage, depth: usize, own: &LiveFacts) {
    let wanted = own.wanted_ttl.map(|wanted| format!(" (desired: {wanted})")).unwrap_or_default();
    let is_managed = matches!(own.rtype.as_str(), "AAAA" | "PTR");
    let whose = match (&own.registered_to, own.own, own.writable) {
        (Some(by), ..) => format!(", registered to `{by}`"),
        (None, true, _) => ", our own".to_owned(),
        (None, false, false) if is_managed => ", not our own, so it may not be changed".to_owned(),
        (None, false, _) => String::new(),
    };
    for rdata in &own.rdata {
        page.item(depth, &format!("{} {rdata}  ttl {}{wanted}{whose}", own.rtype, own.ttl));
    }
}
