//! What `serve` says when it has begun, and when it ended.

use super::summary::counted;
use crate::serve::ServiceCounts;
use crate::serve::cms::ApprovalCounts;

/// A server that has begun.
#[derive(Debug)]
pub struct ServingFacts<'a> {
    /// Where it listens.
    pub addresses: Vec<String>,
    /// The name of its key and its algorithm, where it has one.
    pub key: Option<(String, &'a str)>,
    /// The zones with their numbers of records.
    pub zones: Vec<(String, usize)>,
    /// The keys of a target that has its zones there, with their values.
    pub target: Vec<(&'a str, String)>,
    /// What to run, where there is a workspace to try it on.
    pub command: Option<String>,
    /// The pools of that workspace whose targets are other servers than this one.
    pub others: Vec<String>,
}

/// Says what is served, where, for whom, and what to do with it.
pub fn serving(serving: &ServingFacts<'_>) -> String {
    let ServingFacts { addresses, key, zones, target, command, others } = serving;
    let count = counted(zones.len(), "zone");
    let allowed = match key {
        Some((name, algorithm)) => format!("Transfers and updates need the key `{name}` ({algorithm})"),
        None => "Every program on this machine may transfer zones and send updates".to_owned(),
    };
    let width = zones.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let zones: String =
        zones.iter().map(|(name, records)| format!("  {name:width$}  {}\n", counted(*records, "record"))).collect();
    let next = match command {
        Some(command) => format!("To try it out, in another terminal:\n\n    {command}\n{}", warning(others)),
        None => {
            let lines: String = target.iter().map(|(key, value)| format!("    {key} = {value}\n")).collect();
            format!("A target that has its zones here:\n\n    [[pool.X.target]]\n    type = \"rfc2136\"\n{lines}")
        }
    };
    format!(
        "Serving {count} on {}, UDP and TCP.\n{allowed}.\n\n{zones}\n{next}\n\
         Ctrl-C ends it. The zones are in memory only.\n",
        addresses.join(" and ")
    )
}

/// Warns of the pools that are elsewhere: an operator who tries things out may not expect to change other servers.
fn warning(others: &[String]) -> String {
    let names: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => String::new(),
        [name] => format!("\nCareful: the pool {name} keeps its target, and `apply` changes what is there.\n"),
        _ => format!(
            "\nCareful: the pools {} keep their targets, and `apply` changes what is there.\n",
            names.join(", ")
        ),
    }
}

/// Says what a server did.
pub fn served(counts: ServiceCounts) -> String {
    let ServiceCounts { updates, done, transfers } = counts;
    format!(
        "Ended after {} ({done} answered with NOERROR) and {}.\nNothing was saved: all changes are gone.\n",
        counted(updates as usize, "update"),
        counted(transfers as usize, "transfer")
    )
}

/// What is printed about a service of approvals that has begun.
pub struct ApprovalFacts {
    /// Where it is.
    pub urls: Vec<String>,
    /// The version of the protocol.
    pub version: &'static str,
    /// How many hosts it lets through at a time.
    pub max_busy: usize,
    /// The file with its token; none where it needs none.
    pub token_file: Option<String>,
    /// Whether its tasks outlive it.
    pub is_kept: bool,
}

/// Says that a service of approvals has begun, and how to use it.
pub fn serving_approvals(facts: &ApprovalFacts) -> String {
    let ApprovalFacts { urls, version, max_busy, token_file, is_kept } = facts;
    let allowed = match token_file {
        Some(_) => "Requests need the token",
        None => "Every program on this machine may ask it",
    };
    let token =
        token_file.as_ref().map(|file| format!("    token = {{ secret_file = {file:?} }}\n")).unwrap_or_default();
    let kept = if *is_kept { "Its tasks are kept in the database." } else { "Its tasks are in memory only." };
    format!(
        "Serving approvals ({version}) on {}; {} may be disturbed at a time.\n{allowed}.\n\n\
         A service that is here:\n\n    [cms.trial]\n    url = {:?}\n    version = {version:?}\n{token}\n\
         Try it in another terminal with `zonewright cms check trial`. Ctrl-C ends it. {kept}\n",
        urls.join(" and "),
        counted(*max_busy, "host"),
        urls[0],
    )
}

/// Says what a service of approvals did.
pub fn served_approvals(counts: ApprovalCounts) -> String {
    let ApprovalCounts { requests, tasks } = counts;
    format!("{} answered; {} left.\n", counted(requests as usize, "request"), counted(tasks, "task"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_what_a_target_must_say() {
        let shown = serving(&ServingFacts {
            addresses: vec!["127.0.0.1:5353".into(), "[::1]:5353".into()],
            key: Some(("zonewright.".into(), "hmac-sha256")),
            zones: vec![("example.net.".into(), 1), ("long.example.net.".into(), 22)],
            target: vec![("server", "\"127.0.0.1:5353\"".into())],
            command: None,
            others: vec![],
        });
        insta::assert_snapshot!(shown, @r#"
        Serving 2 zones on 127.0.0.1:5353 and [::1]:5353, UDP and TCP.
        Transfers and updates need the key `zonewright.` (hmac-sha256).

          example.net.       1 record
          long.example.net.  22 records

        A target that has its zones here:

            [[pool.X.target]]
            type = "rfc2136"
            server = "127.0.0.1:5353"

        Ctrl-C ends it. The zones are in memory only.
        "#);
    }

    #[test]
    fn an_operator_is_warned_of_other_servers() {
        assert_eq!(warning(&[]), "");
        let one = "\nCareful: the pool `a` keeps its target, and `apply` changes what is there.\n";
        assert_eq!(warning(&["a".to_owned()]), one);
        let two = "\nCareful: the pools `a`, `b` keep their targets, and `apply` changes what is there.\n";
        assert_eq!(warning(&["a".to_owned(), "b".to_owned()]), two);
    }

    #[test]
    fn what_a_server_did_is_counted() {
        let shown = served(ServiceCounts { updates: 3, done: 1, transfers: 1 });
        insta::assert_snapshot!(shown, @"
        Ended after 3 updates (1 answered with NOERROR) and 1 transfer.
        Nothing was saved: all changes are gone.
        ");
    }
}
