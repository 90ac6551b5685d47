//! Failures of servers, gathered: what keeps several zones from being read is said once, with the zones.
//!
//! Comes in: the errors of zones. Goes out: one for each server and cause. Pure.

use crate::diag::Problem;
use crate::dns::{Name, ZoneName};
use crate::http::HttpFailureKind;

/// The code and the hint of a service of a cloud that gives no answer.
pub fn of_cloud(kind: HttpFailureKind) -> (&'static str, &'static str) {
    match kind {
        HttpFailureKind::Unreachable => {
            ("connect-failed", "check that this machine reaches the API, by a proxy where it needs one (`HTTPS_PROXY`)")
        }
        HttpFailureKind::Late => ("timeout", "try again; if it is always so, raise `timeout`"),
        HttpFailureKind::TooLong => ("read-limit", "if the zone is that large, raise `max_size` of the target"),
    }
}

/// What separates servers from the zone in the place of an error.
const ZONE: &str = " zone ";

/// How many zones a message names; what else is read of them is in the plan.
const MAX_ZONES_NAMED: usize = 10;

/// The place of an error about a zone of these servers.
pub fn place_of(servers: &str, zone: &ZoneName) -> String {
    format!("{servers}{ZONE}{zone}")
}

/// The servers and the zone that [`place_of`] put together; none of another place.
pub fn servers_and_zone(place: &str) -> Option<(&str, &str)> {
    let (servers, zone) = place.rsplit_once(ZONE)?;
    (zone.ends_with('.') && Name::parse(zone).is_ok()).then_some((servers, zone))
}

/// What an error of zones says in the form of a sentence: `127.0.0.1:5300 refuses connections`.
pub fn sentence(servers: &str, message: &str) -> String {
    match message.strip_prefix("the server ") {
        Some(does) => format!("{servers} {does}"),
        None => format!("{servers}: {message}"),
    }
}

/// Some names, of which the first few are shown: `a., b. and 12 more`.
pub fn listed(names: &[&str], shown: usize) -> String {
    match names.len() - names.len().min(shown) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..shown].join(", ")),
    }
}

/// Joins the errors of one server and cause to one, which takes the place of the first of them and names the zones. What an
/// earlier error says word for word is left out.
///
/// Errors with findings in files are about these files, and stay as they are.
pub fn gather(errors: impl Iterator<Item = Problem>) -> Vec<Problem> {
    let mut gathered: Vec<(Problem, Vec<String>)> = Vec::new();
    for error in errors {
        let of_zone = servers_and_zone(&error.place).filter(|_| error.findings.is_none());
        let is_alike = |other: &Problem| match (of_zone, servers_and_zone(&other.place)) {
            (Some((servers, _)), Some((others, _))) => servers == others && error.code == other.code,
            _ => error.to_string() == other.to_string(),
        };
        let zone = of_zone.map(|(_, zone)| zone.to_owned());
        match gathered.iter_mut().find(|(other, _)| is_alike(other)) {
            Some((_, zones)) => zones.extend(zone.filter(|zone| !zones.contains(zone))),
            None => gathered.push((error, zone.into_iter().collect())),
        }
    }
    gathered.into_iter().map(|(error, zones)| of_zones(error, &zones)).collect()
}

/// An error, as that of these zones.
fn of_zones(error: Problem, zones: &[String]) -> Problem {
    let Some((servers, _)) = servers_and_zone(&error.place).filter(|_| zones.len() > 1) else { return error };
    let named: Vec<&str> = zones.iter().map(String::as_str).collect();
    let zones = listed(&named, MAX_ZONES_NAMED);
    let message = format!("{}; {} zones could not be read: {zones}", error.message, named.len());
    Problem { place: servers.to_owned(), message, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    /// An error about a zone of a server.
    fn error(server: &str, zone: &str, code: impl Into<Code>, message: &str) -> Problem {
        let place = place_of(server, &ZoneName::new(Name::parse(zone).unwrap()));
        Problem::new(place, code, message.to_owned()).hint("look")
    }

    /// What is said of errors.
    fn said(errors: Vec<Problem>) -> String {
        gather(errors.into_iter()).iter().map(|error| format!("{error}\n")).collect()
    }

    #[test]
    fn one_server_and_cause_is_said_once_with_its_zones() {
        let refuses = |zone| error("ns1:53", zone, "connect-failed", "the server refuses connections");
        let clock = |zone, ahead| {
            error(
                "ns2:53",
                zone,
                "tsig-bad-time",
                &format!("the clocks differ: the server's is {ahead} s ahead of ours"),
            )
        };
        let alone = error("ns1:53", "c.example.", "timeout", "no answer in time");
        let file = || Problem { place: "zones".to_owned(), ..refuses("a.example.") };
        let all = vec![refuses("a.example."), clock("b.example.", 400), refuses("d.example."), alone, file(), file()];
        let all = all.into_iter().chain([clock("e.example.", 401), refuses("a.example.")]);
        insta::assert_snapshot!(said(all.collect()), @"
        ns1:53: error[connect-failed]: the server refuses connections; 2 zones could not be read: a.example., d.example.
        ns2:53: error[tsig-bad-time]: the clocks differ: the server's is 400 s ahead of ours; 2 zones could not be read: b.example., e.example.
        ns1:53 zone c.example.: error[timeout]: no answer in time
        zones: error[connect-failed]: the server refuses connections
        ");
    }

    #[test]
    fn many_zones_are_counted() {
        let zones =
            (0..13).map(|number| error("ns1:53", &format!("z{number}.example."), "timeout", "no answer in time"));
        insta::assert_snapshot!(said(zones.collect()), @"ns1:53: error[timeout]: no answer in time; 13 zones could not be read: z0.example., z1.example., z2.example., z3.example., z4.example., z5.example., z6.example., z7.example., z8.example., z9.example. and 3 more");
    }

    #[test]
    fn a_place_that_is_no_zone_of_servers_is_left_alone() {
        assert_eq!(servers_and_zone("ns1:53, ns2:53 zone example.net."), Some(("ns1:53, ns2:53", "example.net.")));
        assert_eq!(servers_and_zone("my zone files/example.net.zone"), None);
        assert_eq!(servers_and_zone("zones/example.net.zone"), None);
    }

    #[test]
    fn a_server_that_does_something_is_named_in_a_sentence() {
        assert_eq!(sentence("ns1:53", "the server refuses connections"), "ns1:53 refuses connections");
        assert_eq!(sentence("ns1:53", "the clocks differ"), "ns1:53: the clocks differ");
    }
}
