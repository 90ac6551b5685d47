//! What a real BIND answers name by name, where it allows no transfer.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bind::{Bind, BindConfig};

/// A forward zone: a host at each of what answers may mean, and a child zone on the same server.
const ZONE: &str = "$TTL 3600
@ SOA ns1 hostmaster 1 1d 2h 4w 10m
@ NS ns1
ns1 A 192.0.2.53
good AAAA 2a02:6b8:0:1::aaaa
stale AAAA 2a02:6b8:0:1::dead
alias CNAME good
cut NS ns.cut
ns.cut A 192.0.2.54
child NS ns1
old DNAME ns1
elsewhere AAAA 2a02:6b8:0:1:ae1f:6bff:fe00:3
unseen AAAA 2a02:6b8:0:1:ae1f:6bff:fe00:2
*.wild AAAA 2a02:6b8:0:1::eeee
real.wild AAAA 2a02:6b8:0:1::cccc
";

/// The child zone.
const CHILD: &str = "$TTL 3600
@ SOA ns1.example.net. hostmaster 1 1d 2h 4w 10m
@ NS ns1.example.net.
h8 AAAA 2a02:6b8:0:1::8888
";

/// The reverse zone of 2a02:6b8:0:1::/64.
const REVERSE: &str = "$TTL 3600
@ SOA ns1.example.net. hostmaster.example.net. 1 1d 2h 4w 10m
@ NS ns1.example.net.
d.a.e.d.0.0.0.0.0.0.0.0.0.0.0.0 PTR stale.example.net.
3.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a PTR elsewhere.example.net.
f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0 PTR good.example.net.
";

/// The apex of [`REVERSE`].
const REVERSE_APEX: &str = "1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa";

/// The hosts: number and name. Their MACs end in the last octet of the number.
const HOSTS: [(u8, &str); 11] = [
    (1, "good"),
    (2, "stale"),
    (3, "new"),
    (4, "alias"),
    (5, "cut"),
    (6, "x.cut"),
    (7, "x.old"),
    (8, "h8.child"),
    (9, "any.wild"),
    (10, "real.wild"),
    (11, "elsewhere"),
];

/// Writes a workspace that reads these zones from a target.
fn write_workspace(folder: &Path, target: &str) {
    let domains = ["cut", "old", "child", "wild"].map(|label| format!("\"{label}.example.net\"")).join(", ");
    let settings = format!(
        "owner = \"fleet-dns\"\n[sources]\nprojects = \"p.yaml\"\nhosts = \"hosts.csv\"\nl3_tors = \"l3\"\n\
         net_layout = \"layout.xml\"\nipv4_map = \"map\"\n[[sources.mac]]\nname = \"agent\"\npath = \"macs.jsonl\"\n\
         [project.p]\ndns_domain = \"example.net\"\nalso_domains = [{domains}]\nautomation = \"allowed\"\n\
         [pool.main]\n[[pool.main.target]]\n{target}\n\
         [[zone]]\nname = \"example.net\"\npool = \"main\"\npermission = \"full\"\n\
         [[zone]]\nnetwork = \"2a02:6b8:0:1::/64\"\npool = \"main\"\npermission = \"full\"\n"
    );
    fs::write(folder.join("zonewright.toml"), settings).expect("a file");
    let project = "id: p\nvlan_scheme: static\nvlans: {main: 604}\nautomation: true\n";
    fs::write(folder.join("p.yaml"), project).expect("a file");
    let rows = HOSTS.map(|(inv, name)| format!("{inv},{name}.example.net,p,assigned,sas,,,s1,,\n")).concat();
    let header = "inv,name,project,status,location,queue,rack,switch,port,restrictions\n";
    fs::write(folder.join("hosts.csv"), format!("{header}{rows}")).expect("a file");
    fs::write(folder.join("l3"), "s1 604 2a02:6b8:0:1::/64\n").expect("a file");
    let layout = "<net-layout><datacenter name=\"myt\"><vlan id=\"1\"><network>2a02:6b8:0:2::/64</network></vlan>\
                  </datacenter></net-layout>\n";
    fs::write(folder.join("layout.xml"), layout).expect("a file");
    fs::write(folder.join("map"), "192.0.2.0/24 myt 1 2a02:6b8:0:2::/64\n").expect("a file");
    let report = |(inv, _): (u8, &str)| {
        format!("{{\"time\":\"2026-11-20T01:00:00Z\",\"inv\":{inv},\"mac\":\"ac1f6b0000{inv:02x}\"}}\n")
    };
    fs::write(folder.join("macs.jsonl"), HOSTS.map(report).concat()).expect("a file");
}

/// The plan of a workspace as JSON.
fn plan(workspace: &Path) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_zonewright"))
        .args(["plan", "--format", "json", "--now", "2026-11-20T02:00:00Z", "-C"])
        .arg(workspace)
        .output()
        .expect("the binary was built for this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The list of a plan under `key`, each entry as one line of these of its values.
fn lines(plan: &Value, key: &str, values: &[&str]) -> Vec<String> {
    let entries = plan[key].as_array().expect("a list");
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let line = |entry: &Value| values.iter().map(|value| text(&entry[value])).collect::<Vec<_>>().join(" ");
    entries.iter().map(line).collect()
}

/// A server of the zones, and the plans by questions and from its files.
fn plans() -> Option<(Value, Value)> {
    let zones = [("example.net", ZONE), ("child.example.net", CHILD), (REVERSE_APEX, REVERSE)];
    let zones = zones.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
    let bind = Bind::start(&BindConfig { keys: Vec::new(), zones })?;
    let folder = tempfile::tempdir().expect("a folder");
    let target = format!("type = \"rfc2136\"\nread = \"query\"\nserver = \"{}\"", bind.address());
    let by_query = folder.path().join("query");
    fs::create_dir(&by_query).expect("a folder");
    write_workspace(&by_query, &target);
    let whole: PathBuf = folder.path().join("whole");
    fs::create_dir_all(whole.join("zones")).expect("a folder");
    for (name, text) in [("example.net", ZONE), (REVERSE_APEX, REVERSE)] {
        fs::write(whole.join("zones").join(format!("{name}.zone")), text).expect("a file");
    }
    write_workspace(&whole, "type = \"zonefile\"\ndir = \"zones\"\n");
    Some((plan(&by_query), plan(&whole)))
}

#[test]
fn questions_show_what_the_rules_need_and_the_plan_says_what_they_do_not() {
    let Some((by_query, whole)) = plans() else { return };
    let blocked = ["host", "code", "message"];
    let of_query = lines(&by_query, "blocked", &blocked);
    insta::assert_snapshot!(of_query.join("\n"), @r"
    4 cname a CNAME stands at `alias.example.net.`
    5 delegated `cut.example.net.` lies below the delegation `cut.example.net.`
    6 delegated `x.cut.example.net.` lies below the delegation `cut.example.net.`
    7 cname `x.old.example.net.` lies below the DNAME at `old.example.net.`
    8 delegated `h8.child.example.net.` lies below the delegation `child.example.net.`
    9 zone-unknown what stands at `any.wild.example.net.` cannot be told from a wildcard of `example.net.`
    ");
    let of_whole = lines(&whole, "blocked", &blocked);
    let differing: Vec<&String> = of_query.iter().filter(|line| !of_whole.contains(line)).collect();
    assert!(matches!(differing.as_slice(), [line] if line.starts_with("9 zone-unknown")), "{differing:?}");
    let changes = ["host", "type", "name"];
    let of_query = lines(&by_query, "changes", &changes);
    insta::assert_snapshot!(of_query.join("\n"), @r"
    1 PTR 1.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    1 AAAA good.example.net.
    2 PTR 2.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    2 PTR d.a.e.d.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    2 AAAA stale.example.net.
    3 PTR 3.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    3 AAAA new.example.net.
    10 PTR a.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    10 AAAA real.wild.example.net.
    11 PTR b.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    11 AAAA elsewhere.example.net.
    ");
    let of_whole = lines(&whole, "changes", &changes);
    assert!(of_query.iter().all(|line| of_whole.contains(line)), "{of_whole:#?}");
    let unseen: Vec<String> = of_whole.into_iter().filter(|line| !of_query.contains(line)).collect();
    insta::assert_snapshot!(unseen.join("\n"), @r"
    1 PTR f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    9 PTR 9.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    9 AAAA any.wild.example.net.
    ");
    insta::assert_snapshot!(lines(&by_query, "notices", &["code", "name"]).join("\n"), @r"
    read-by-query 1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.
    read-by-query example.net.
    ");
}
