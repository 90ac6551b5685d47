//! What real servers answer when they are queried name by name.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::server::{Key, Kind, Server, ServerConfig};
use crate::workspace::{self, demo, demo_zones, document, edit, reading_from, zonewright};

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

/// A forward zone where every name has a TXT, with a host's address at the name of another's registry TXT.
const TXT_ZONE: &str = "$TTL 3600
@ SOA ns1 hostmaster 1 1d 2h 4w 10m
@ NS ns1
ns1 A 192.0.2.53
* TXT \"v=spf1 -all\"
aaaa-new AAAA 2a02:6b8:0:1:ae1f:6bff:fe00:2
";

/// The reverse zone of 2a02:6b8:0:1::/64 in addition to [`TXT_ZONE`].
const TXT_REVERSE: &str = "$TTL 3600
@ SOA ns1.example.net. hostmaster.example.net. 1 1d 2h 4w 10m
@ NS ns1.example.net.
2.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a PTR aaaa-new.example.net.
";

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

/// The plan of a workspace.
fn plan(workspace: &Path) -> Value {
    let output = workspace::plan(workspace, zonewright());
    assert!(output.status.success(), "{}", workspace::stderr(&output));
    document(&output)
}

/// The list of a plan under `key`, each entry as one line of these of its values.
fn lines(plan: &Value, key: &str, values: &[&str]) -> Vec<String> {
    let entries = plan[key].as_array().expect("a list");
    // A host is its number alone.
    let text = |value: &Value| match value.as_str() {
        Some(text) => text.trim_start_matches("host:").trim_start_matches("released:").to_owned(),
        None => value.to_string(),
    };
    let line = |entry: &Value| values.iter().map(|value| text(&entry[value])).collect::<Vec<_>>().join(" ");
    entries.iter().map(line).collect()
}

/// A server of these zones, by name and text.
fn serve(kind: Kind, zones: &[(&str, &str)]) -> Option<Server> {
    let zones = zones.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Server::start(kind, &ServerConfig { keys: Vec::new(), zones, ..ServerConfig::default() })
}

/// A server of the zones, and the plans by questions and from its files.
fn plans(kind: Kind) -> Option<(Value, Value)> {
    let server = serve(kind, &[("example.net", ZONE), ("child.example.net", CHILD), (REVERSE_APEX, REVERSE)])?;
    let folder = tempfile::tempdir().expect("a folder");
    let target = format!("type = \"rfc2136\"\nread = \"query\"\nserver = \"{}\"", server.address());
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

on_every_kind! {
    questions_show_what_the_rules_need_and_the_plan_says_what_they_do_not
    the_demo_by_questions_lacks_only_what_no_question_is_about
    nothing_is_registered_or_given_up_where_a_wildcard_may_give_the_text
    a_name_that_was_asked_for_its_text_is_asked_for_its_addresses_too
    a_name_that_was_given_up_loses_the_pointers_of_all_its_addresses
    a_plan_for_some_hosts_asks_where_that_is_cheaper_and_comes_to_the_same
}

/// The plan names what was not queried.
fn questions_show_what_the_rules_need_and_the_plan_says_what_they_do_not(kind: Kind) {
    let Some((by_query, whole)) = plans(kind) else { return };
    let blocked = ["subject", "code", "message"];
    let of_query = lines(&by_query, "blocked", &blocked);
    assert_eq!(
        of_query,
        [
            "4 cname there is a CNAME at `alias.example.net.`",
            "5 delegated `cut.example.net.` is below the delegation `cut.example.net.`",
            "6 delegated `x.cut.example.net.` is below the delegation `cut.example.net.`",
            "7 cname `x.old.example.net.` is below the DNAME at `old.example.net.`",
            "8 delegated `h8.child.example.net.` is below the delegation `child.example.net.`",
            "9 zone-unknown the answer for `any.wild.example.net.` may come from a wildcard of `example.net.`"
        ]
    );
    let of_whole = lines(&whole, "blocked", &blocked);
    let differing: Vec<&String> = of_query.iter().filter(|line| !of_whole.contains(line)).collect();
    assert!(matches!(differing.as_slice(), [line] if line.starts_with("9 zone-unknown")), "{differing:?}");
    let changes = ["subject", "type", "name"];
    let of_query = lines(&by_query, "changes", &changes);
    assert_eq!(
        of_query,
        [
            "1 PTR 1.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "1 AAAA good.example.net.",
            "2 PTR 2.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "2 PTR d.a.e.d.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "2 AAAA stale.example.net.",
            "3 PTR 3.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "3 AAAA new.example.net.",
            "10 PTR a.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "10 AAAA real.wild.example.net.",
            "11 PTR b.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "11 AAAA elsewhere.example.net."
        ]
    );
    let of_whole = lines(&whole, "changes", &changes);
    assert!(of_query.iter().all(|line| of_whole.contains(line)), "{of_whole:#?}");
    let unseen: Vec<String> = of_whole.into_iter().filter(|line| !of_query.contains(line)).collect();
    assert_eq!(
        unseen,
        [
            "1 PTR f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "9 PTR 9.0.0.0.0.0.e.f.f.f.b.6.f.1.e.a.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "9 AAAA any.wild.example.net."
        ]
    );
    assert_eq!(
        lines(&by_query, "notices", &["code", "name"]),
        ["read-by-query 1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.", "read-by-query example.net."]
    );
}

/// The changes of a plan without their causes.
fn effects(plan: &Value) -> Vec<String> {
    lines(plan, "changes", &["subject", "also", "zone", "type", "name", "before", "after"])
}

/// All zones are signed; the records that no question is about are those of an orphan and of an address at an alias.
fn the_demo_by_questions_lacks_only_what_no_question_is_about(kind: Kind) {
    let key = Key::new("key");
    let Some(server) = Server::start(kind, &demo_zones(&key)) else { return };
    let workspace = reading_from(&[server.address()], &key);
    edit(workspace.path(), "type = \"rfc2136\"\n", "type = \"rfc2136\"\nread = \"query\"\n");
    let by_query = document(&workspace::plan(workspace.path(), zonewright()));
    let whole = document(&workspace::plan(&demo(), zonewright()));
    let (of_query, of_whole) = (effects(&by_query), effects(&whole));
    assert!(of_query.iter().all(|line| of_whole.contains(line)), "{of_query:#?}");
    let unseen = whole["changes"].as_array().expect("a list").iter().zip(&of_whole);
    let unseen: Vec<&Value> = unseen.filter(|(_, line)| !of_query.contains(line)).map(|(change, _)| change).collect();
    let names: Vec<&str> = unseen.iter().filter_map(|change| change["name"].as_str()).collect();
    assert_eq!(
        names,
        [
            "ci.cloud.example.net.",
            "0.9.1.2.0.1.f.e.4.c.0.1.0.0.0.0.c.0.6.1.2.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "ptr-0.9.1.2.0.1.f.e.4.c.0.1.0.0.0.0.c.0.6.1.2.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "aaaa-cld-sas-090.cloud.example.net.",
            "cld-sas-090.cloud.example.net.",
        ]
    );
    // Only `allocate` finds out which name a host would get.
    let blocked = ["subject", "code", "message", "hint"];
    let (of_query, of_whole) = (lines(&by_query, "blocked", &blocked), lines(&whole, "blocked", &blocked));
    let different: Vec<(&String, &String)> =
        of_query.iter().zip(&of_whole).filter(|(one, other)| one != other).collect();
    let [(of_query, of_whole)] = different[..] else { panic!("{different:#?}") };
    assert!(of_query.ends_with(" after asking `search.example.net.` which names are free"), "{of_query}");
    assert!(of_whole.ends_with(" gives it `sas0-0014.search.example.net.`"), "{of_whole}");
    assert_eq!(by_query["skipped"], whole["skipped"]);
}

/// A workspace with a registry of texts that asks a server of [`TXT_ZONE`], with or without its wildcard.
fn plan_with_texts(kind: Kind, zone: &str) -> Option<Value> {
    let server = serve(kind, &[("example.net", zone), (REVERSE_APEX, TXT_REVERSE)])?;
    let folder = tempfile::tempdir().expect("a folder");
    write_workspace(folder.path(), &format!("type = \"rfc2136\"\nread = \"query\"\nserver = \"{}\"", server.address()));
    edit(folder.path(), "[sources]\n", "registry = \"txt\"\n[sources]\n");
    let project = "id: p\nvlan_scheme: static\nvlans: {main: 604}\nautomation: true\npolicy: repair\n";
    fs::write(folder.path().join("p.yaml"), project).expect("a file");
    Some(plan(folder.path()))
}

/// Otherwise an AAAA would be created without the TXT that names its owner.
fn nothing_is_registered_or_given_up_where_a_wildcard_may_give_the_text(kind: Kind) {
    let Some(plan) = plan_with_texts(kind, TXT_ZONE) else { return };
    let blocked = lines(&plan, "blocked", &["subject", "code", "message"]);
    let doubtful = "the answer for `aaaa-good.example.net.` may come from a wildcard of `example.net.`";
    assert!(blocked.contains(&format!("1 zone-unknown {doubtful}")), "{blocked:#?}");
    // The wildcard gives nothing at `aaaa-new`, where there is an RRset.
    assert_eq!(lines(&plan, "changes", &["subject"]), ["3"; 4]);
}

/// The TXT of one host's name and the AAAA of another name can be at the same name.
fn a_name_that_was_asked_for_its_text_is_asked_for_its_addresses_too(kind: Kind) {
    let zone = TXT_ZONE.lines().filter(|line| !line.starts_with('*')).map(|line| format!("{line}\n"));
    let Some(plan) = plan_with_texts(kind, &zone.collect::<String>()) else { return };
    let notices = lines(&plan, "notices", &["code", "subject", "name"]);
    assert!(notices.contains(&"foreign-name 2 aaaa-new.example.net.".to_owned()), "{notices:#?}");
}

/// Also the pointers of its A, which no host has now.
fn a_name_that_was_given_up_loses_the_pointers_of_all_its_addresses(kind: Kind) {
    let start = "$TTL 3600\n@ SOA ns1.example.net. hostmaster.example.net. 1 1d 2h 4w 10m\n@ NS ns1.example.net.\n";
    let forward = format!("{start}ns1 A 192.0.2.53\nformer A 192.0.2.9\nformer AAAA 2a02:6b8:0:1::77\n");
    let by_v6 = format!("{start}7.7.0.0.0.0.0.0.0.0.0.0.0.0.0.0 PTR former.example.net.\n");
    let by_v4 = format!("{start}9 PTR former.example.net.\n");
    let v4 = "2.0.192.in-addr.arpa";
    let Some(server) = serve(kind, &[("example.net", &forward), (REVERSE_APEX, &by_v6), (v4, &by_v4)]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let target = format!("type = \"rfc2136\"\nread = \"query\"\nserver = \"{}\"", server.address());
    write_workspace(
        folder.path(),
        &format!("{target}\n[[zone]]\nname = \"{v4}\"\npool = \"main\"\npermission = \"full\""),
    );
    let project = "id: p\nvlan_scheme: static\nvlans: {main: 604}\nautomation: true\npolicy: repair\n";
    fs::write(folder.path().join("p.yaml"), project).expect("a file");
    let row = "99\tformer.example.net\tp\t2026-02-10T08:00:00Z\t2026-11-19T14:20:00Z\n";
    fs::write(folder.path().join("names.lock"), row).expect("a file");
    let changes = lines(&plan(folder.path()), "changes", &["subject", "type", "name"]);
    let mut released: Vec<&String> = changes.iter().filter(|line| line.starts_with("99 ")).collect();
    released.sort();
    assert_eq!(
        released,
        [
            "99 AAAA former.example.net.",
            "99 PTR 7.7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa.",
            "99 PTR 9.2.0.192.in-addr.arpa.",
        ]
    );
}

/// The zones hold little of what the inventory has for them, which is what a transfer is taken to cost.
fn a_plan_for_some_hosts_asks_where_that_is_cheaper_and_comes_to_the_same(kind: Kind) {
    let zones = [("example.net", ZONE), ("child.example.net", CHILD), (REVERSE_APEX, REVERSE)];
    let Some(server) = serve(kind, &zones) else { return };
    let planned = |read: &str, more: &[&str]| {
        let folder = tempfile::tempdir().expect("a folder");
        let target = format!("type = \"rfc2136\"\nread = \"{read}\"\nserver = \"{}\"", server.address());
        write_workspace(folder.path(), &target);
        let hosts = folder.path().join("hosts.csv");
        let others = (100..300).map(|inv| format!("{inv},other{inv}.example.net,p,assigned,sas,,,s1,,\n"));
        let rows = fs::read_to_string(&hosts).expect("the file was just written") + &others.collect::<String>();
        fs::write(hosts, rows).expect("a file");
        let mut command = zonewright();
        command.args(more);
        let output = workspace::plan(folder.path(), command);
        assert!(output.status.success(), "{}", workspace::stderr(&output));
        document(&output)
    };
    let told = |plan: &Value| {
        [effects(plan), lines(plan, "blocked", &["subject", "code"]), lines(plan, "skipped", &["subject"])]
    };
    let some = ["--host", "2", "--host", "3", "--host", "4", "--host", "8", "--host", "11"];
    let [whole, by_query, auto] = ["axfr", "query", "auto"].map(|read| planned(read, &some));
    assert_eq!(told(&auto), told(&by_query));
    assert_eq!(told(&auto), told(&whole));
    assert!(!effects(&auto).is_empty());
    let asked = |plan: &Value| {
        lines(plan, "notices", &["code", "name"])
            .into_iter()
            .filter(|line| line.starts_with("read"))
            .collect::<Vec<_>>()
    };
    // The others have no MAC, so that there is too little in the inventory for the reverse zone.
    assert_eq!(asked(&auto), ["read-by-query example.net."]);
    assert_eq!(asked(&planned("auto", &[])), [""; 0]);
}
