//! Names that are given in zones that real servers do not transfer.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{stderr, zonewright};

/// The domain of the project whose hosts get names: all low numbers except 8, 9 and 12 are in use.
const OWN: &str = "$TTL 3600
@ SOA ns1 hostmaster 1 1d 2h 4w 10m
@ NS ns1
ns1 A 192.0.2.53
h01 TXT \"a text\"
h02 CNAME nowhere.example.com.
x.y.h03 A 192.0.2.1
h04 NS ns1
h05 DNAME example.com.
fb-h07 A 192.0.2.1
h10 NS ns1
";

/// A zone in [`OWN`], on the same server.
const CHILD: &str = "$TTL 3600
@ SOA ns1.example.net. hostmaster 1 1d 2h 4w 10m
@ NS ns1.example.net.
";

/// The domain of another project.
const OTHER: &str = "$TTL 3600
@ SOA ns1.example.net. hostmaster.example.net. 1 1d 2h 4w 10m
@ NS ns1.example.net.
h06 MX 10 mail.example.com.
h11 AAAA 2001:db8::11
";

/// A server that transfers none of these zones to clients without a key.
fn serve(kind: Kind, other: &str) -> Option<Server> {
    let zones = [("example.net", OWN), ("h10.example.net", CHILD), ("example.org", other)];
    let zones = zones.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
    Server::start(kind, &ServerConfig { keys: vec![Key::new("key")], zones, ..ServerConfig::default() })
}

/// Writes a workspace with three hosts without names that reads those zones as `read` says.
fn write_workspace(folder: &Path, server: &Server, read: &str) {
    let settings = format!(
        "owner = \"fleet-dns\"\n[sources]\nprojects = \"*.yaml\"\nhosts = \"hosts.csv\"\n\
         [project.p]\ndns_domain = \"example.net\"\n[project.q]\ndns_domain = \"example.org\"\n\
         [pool.main]\n[[pool.main.target]]\ntype = \"rfc2136\"\nread = \"{read}\"\nserver = \"{}\"\n\
         [[zone]]\nname = \"example.net\"\npool = \"main\"\n[[zone]]\nname = \"example.org\"\npool = \"main\"\n",
        server.address()
    );
    fs::write(folder.join("zonewright.toml"), settings).expect("a file");
    let scheme = "shortname_template: \"h{index:02}\"\nvlan_scheme: search\nvlans: {main: 604, fastbone: 761}\n";
    for id in ["p", "q"] {
        fs::write(folder.join(format!("{id}.yaml")), format!("id: {id}\n{scheme}")).expect("a file");
    }
    let rows = [1, 2, 3].map(|inv| format!("{inv},,p,assigned,sas,,,s1,,\n")).concat();
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    fs::write(folder.join("hosts.csv"), format!("{header}{rows}")).expect("a file");
}

/// Runs `allocate --write` with more arguments.
fn allocate(folder: &Path, more: &[&str]) -> Output {
    let mut command = zonewright();
    command.args(["allocate", "--write", "-q", "--color", "never", "--now", "2026-11-20T02:00:00Z", "-C"]);
    command.arg(folder).args(more).output().expect("the program runs")
}

/// The names that names.lock gives; none where there is no such file.
fn names(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("names.lock")).unwrap_or_default();
    text.lines().filter_map(|line| line.split('\t').nth(1)).map(str::to_owned).collect()
}

on_every_kind! {
    only_names_that_the_server_denies_are_given
    nothing_is_given_beside_a_wildcard
    nothing_is_given_by_a_snapshot_of_names_that_were_asked_for
}

/// Any record at a name or below it, in the domain of any project.
fn only_names_that_the_server_denies_are_given(kind: Kind) {
    let Some(server) = serve(kind, OTHER) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    write_workspace(folder.path(), &server, "axfr");
    let refused = allocate(folder.path(), &[]);
    assert_eq!((refused.status.code(), names(folder.path())), (Some(1), vec![]), "{}", stderr(&refused));
    write_workspace(folder.path(), &server, "query");
    let given = allocate(folder.path(), &[]);
    assert_eq!(given.status.code(), Some(0), "{}", stderr(&given));
    let expected = match kind {
        // PowerDNS does not know a name that only has others below it: the tool that adds such names does not run here.
        Kind::PowerDns => ["h03.example.net", "h08.example.net", "h09.example.net"],
        _ => ["h08.example.net", "h09.example.net", "h12.example.net"],
    };
    assert_eq!(names(folder.path()), expected);
}

/// A wildcard answers for names that do not exist, with any type.
fn nothing_is_given_beside_a_wildcard(kind: Kind) {
    let Some(server) = serve(kind, &format!("{OTHER}* TXT \"v=spf1 -all\"\n")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    write_workspace(folder.path(), &server, "query");
    let refused = allocate(folder.path(), &[]);
    assert_eq!((refused.status.code(), names(folder.path())), (Some(1), vec![]));
    let expected = "queries of `example.org.` find every name in `example.org.`, probably because of a wildcard: \
                    zonewright cannot find out which names are free";
    assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
}

/// The snapshot does not say which other names exist.
fn nothing_is_given_by_a_snapshot_of_names_that_were_asked_for(kind: Kind) {
    let Some(server) = serve(kind, OTHER) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    write_workspace(folder.path(), &server, "query");
    let live = folder.path().join("live");
    let saved = zonewright()
        .args(["snapshot", "-q", "--out"])
        .arg(&live)
        .arg("-C")
        .arg(folder.path())
        .output()
        .expect("it runs");
    assert_eq!(saved.status.code(), Some(0), "{}", stderr(&saved));
    let refused = allocate(folder.path(), &["--live-snapshot", &live.to_string_lossy()]);
    assert_eq!((refused.status.code(), names(folder.path())), (Some(1), vec![]));
    let expected = "the snapshot has only the names of `example.net.` that were queried";
    assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
}
