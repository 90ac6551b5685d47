//! Random zones of all types, stated as octoDNS has them: planned against empty zones of real servers, applied, transferred.
//!
//! Each zone is written twice from the same dice: as YAML, which zonewright reads, and as a master file, which it never
//! sees. What the server then holds must be what `named-compilezone` makes of the master file: no line of the reader under
//! test says what is right. `ZONES=FROM-TO` tries other zones, so many at a time.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::copy::copy;
use crate::rig::{Applied, Planned, Rig, plan_in, text_of};
use crate::server::Kind;
use crate::workspace::{edit, zonewright};

on_every_primary! {
    random_zones_of_all_types_are_held_as_they_are_stated
    types_that_a_server_refuses_are_blocked_and_no_others
}

/// How many zones a server has at a time.
const TOGETHER: u64 = 25;

/// What reads master files.
const COMPILER: &str = "/usr/bin/named-compilezone";

/// Dice that fall the same each time.
struct Dice(u64);

impl Dice {
    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// One of several.
    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// So many digits of hexadecimal numbers.
    fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from_digit(self.below(16) as u32, 16).expect("a digit")).collect()
    }

    /// A name: in the zone or outside it.
    fn name(&mut self, zone: &str) -> String {
        match self.below(4) {
            0 => format!("t{}.{zone}.", self.below(9)),
            1 => format!("x{}.Example.ORG.", self.below(9)),
            2 => format!("a-b_{}.{zone}.", self.below(9)),
            _ => "mail.example.com.".to_owned(),
        }
    }
}

/// A zone, written twice.
#[derive(Default)]
struct TwiceWritten {
    /// As YAML.
    yaml: String,
    /// As lines of a master file.
    master: String,
    /// How many RRsets it has.
    rrsets: usize,
}

impl TwiceWritten {
    /// Writes a name's only RRset.
    fn add(&mut self, owner: &str, rtype: &str, ttl: Option<u64>, values: &[(String, String)]) {
        let ttl_line = ttl.map(|ttl| format!("  ttl: {ttl}\n")).unwrap_or_default();
        let key = if owner.is_empty() { "''".to_owned() } else { format!("'{owner}'") };
        write!(self.yaml, "{key}:\n  type: {rtype}\n{ttl_line}  values:\n").expect("a string has room");
        for (yaml, master) in values {
            writeln!(self.yaml, "  - {yaml}").expect("a string has room");
            let owner = if owner.is_empty() { "@" } else { owner };
            writeln!(self.master, "{owner} {} {rtype} {master}", ttl.unwrap_or(3600)).expect("a string has room");
        }
        self.rrsets += 1;
    }
}

/// A text of octets: as YAML has it for octoDNS, between single quotes, and as strings of a master file.
fn text(dice: &mut Dice) -> (String, String) {
    let length = *dice.of(&[0, 1, 7, 40, 254, 255, 256, 300, 600]);
    let octets: Vec<u8> = (0..length).map(|_| dice.below(256) as u8).collect();
    let mut yaml = String::new();
    for octet in &octets {
        match octet {
            b';' => yaml.push_str("\\;"),
            b'\'' => yaml.push_str("''"),
            b'\\' => yaml.push_str("\\\\"),
            0x21..=0x7e if *octet != b'"' => yaml.push(char::from(*octet)),
            _ => write!(yaml, "\\{octet:03}").expect("a string has room"),
        }
    }
    let escaped = |string: &[u8]| string.iter().map(|octet| format!("\\{octet:03}")).collect::<String>();
    let mut strings: Vec<String> = octets.chunks(255).map(|string| format!("\"{}\"", escaped(string))).collect();
    if strings.is_empty() {
        strings.push("\"\"".to_owned());
    }
    (format!("'{yaml}'"), strings.join(" "))
}

/// The types, each with what makes a value of it.
type ValueMaker = fn(&mut Dice, &str) -> (String, String);

/// A value that both write alike.
fn alike(value: String) -> (String, String) {
    (value.clone(), value)
}

/// All types that may have several values at a name.
const MAKERS: &[(&str, ValueMaker)] = &[
    ("A", |dice, _| alike(format!("192.0.2.{}", dice.below(256)))),
    ("AAAA", |dice, _| alike(format!("2001:db8::{:x}", 1 + dice.below(60_000)))),
    ("TXT", |dice, _| text(dice)),
    // BIND refuses an exchange in the zone that has no address.
    ("MX", |dice, _| {
        let (preference, name) = (dice.below(65_536), *dice.of(&["mail.example.com.", "X1.Example.ORG."]));
        (format!("{{preference: {preference}, exchange: {name}}}"), format!("{preference} {name}"))
    }),
    ("SRV", |dice, zone| {
        let (priority, weight, port, name) = (dice.below(100), dice.below(100), dice.below(65_536), dice.name(zone));
        (
            format!("{{priority: {priority}, weight: {weight}, port: {port}, target: {name}}}"),
            format!("{priority} {weight} {port} {name}"),
        )
    }),
    ("PTR", |dice, zone| alike(dice.name(zone))),
    ("CAA", |dice, _| {
        let (flags, tag) = (dice.of(&[0, 128]).to_string(), *dice.of(&["issue", "issuewild", "iodef"]));
        let value = *dice.of(&["ca.example.net", "ca.example.net\\; policy=ev", "mailto:a@example.net", "\\;"]);
        (
            format!("{{flags: {flags}, tag: {tag}, value: '{value}'}}"),
            format!("{flags} {tag} \"{}\"", value.replace("\\;", ";")),
        )
    }),
    ("NAPTR", |dice, zone| {
        let (order, preference) = (dice.below(65_536), dice.below(65_536));
        let (flags, service) = (*dice.of(&["S", "U", ""]), *dice.of(&["SIP+D2U", "E2U+sip", ""]));
        let (regexp, name) = (*dice.of(&["", "!^.*$!sip:info@example.net!"]), dice.name(zone));
        (
            format!(
                "{{order: {order}, preference: {preference}, flags: '{flags}', service: '{service}', regexp: '{regexp}', \
                 replacement: {name}}}"
            ),
            format!("{order} {preference} \"{flags}\" \"{service}\" \"{regexp}\" {name}"),
        )
    }),
    ("TLSA", |dice, _| {
        let digest = dice.hex(64);
        (
            format!(
                "{{certificate_usage: 3, selector: 1, matching_type: 1, certificate_association_data: '{digest}'}}"
            ),
            format!("3 1 1 {digest}"),
        )
    }),
    ("SSHFP", |dice, _| {
        let (algorithm, print) = (1 + dice.below(4), dice.hex(40));
        (
            format!("{{algorithm: {algorithm}, fingerprint_type: 1, fingerprint: '{print}'}}"),
            format!("{algorithm} 1 {print}"),
        )
    }),
    ("HTTPS", |dice, zone| {
        let name = if dice.below(2) == 0 { ".".to_owned() } else { dice.name(zone) };
        let port = dice.below(65_536);
        (
            format!(
                "{{svcpriority: 1, targetname: {name}, svcparams: {{alpn: [h2, h3], port: {port}, ipv4hint: [192.0.2.7]}}}}"
            ),
            format!("1 {name} alpn=h2,h3 port={port} ipv4hint=192.0.2.7"),
        )
    }),
    ("SVCB", |dice, zone| {
        let name = dice.name(zone);
        (format!("{{svcpriority: 0, targetname: {name}}}"), format!("0 {name}"))
    }),
    ("LOC", |dice, _| {
        let (degrees, altitude) = (dice.below(90), dice.below(1000));
        (
            format!(
                "{{lat_degrees: {degrees}, lat_minutes: 22, lat_seconds: 23, lat_direction: N, long_degrees: 4, \
                 long_minutes: 53, long_seconds: 32, long_direction: E, altitude: {altitude}, size: 1, \
                 precision_horz: 10000, precision_vert: 10}}"
            ),
            format!("{degrees} 22 23 N 4 53 32 E {altitude}m 1m 10000m 10m"),
        )
    }),
    ("TYPE65501", |dice, _| {
        let octets = 1 + dice.below(20) as usize;
        let data = dice.hex(2 * octets);
        alike(format!("\\# {} {data}", data.len() / 2))
    }),
];

/// A random zone.
fn zone(dice: &mut Dice, name: &str, kind: Kind) -> TwiceWritten {
    let mut zone = TwiceWritten::default();
    let ttl = |dice: &mut Dice| *dice.of(&[None, Some(0), Some(60), Some(2_147_483_647)]);
    let mut number = 0;
    let mut owner = |dice: &mut Dice| {
        number += 1;
        let label = *dice.of(&["n", "N", "_s", "a-b"]);
        match dice.below(6) {
            0 => format!("*.{label}{number}"),
            1 => format!("{label}{number}.deep"),
            _ => format!("{label}{number}"),
        }
    };
    for _ in 0..9 {
        let (rtype, maker) = dice.of(MAKERS);
        // PowerDNS takes no type by UPDATE that it does not know.
        if kind == Kind::PowerDns && rtype.starts_with("TYPE") {
            continue;
        }
        let values: Vec<(String, String)> = (0..1 + dice.below(3)).map(|_| maker(dice, name)).collect();
        let (owner, ttl) = (owner(dice), ttl(dice));
        zone.add(&owner, rtype, ttl, &values);
    }
    let (at, to) = (owner(dice), dice.name(name));
    zone.add(&at, "CNAME", ttl(dice), &[alike(to)]);
    let to = dice.name(name);
    zone.add("moved", "DNAME", ttl(dice), &[alike(to)]);
    // A delegation with its glue, and perhaps DS.
    let servers = [alike(format!("ns1.child.{name}.")), alike("ns.example.org.".to_owned())];
    if dice.below(2) == 0 {
        let (ttl, digest) = (ttl(dice), dice.hex(64));
        zone.yaml.push_str("child:\n");
        let mut item = |rtype: &str, values: &[(String, String)]| {
            let ttl_line = ttl.map(|ttl| format!("    ttl: {ttl}\n")).unwrap_or_default();
            write!(zone.yaml, "  - type: {rtype}\n{ttl_line}    values:\n").expect("a string has room");
            for (yaml, master) in values {
                writeln!(zone.yaml, "    - {yaml}").expect("a string has room");
                writeln!(zone.master, "child {} {rtype} {master}", ttl.unwrap_or(3600)).expect("a string has room");
            }
            zone.rrsets += 1;
        };
        item("NS", &servers);
        let ds =
            (format!("{{key_tag: 7, algorithm: 8, digest_type: 2, digest: '{digest}'}}"), format!("7 8 2 {digest}"));
        item("DS", &[ds]);
    } else {
        zone.add("child", "NS", ttl(dice), &servers);
    }
    zone.add("ns1.child", "A", ttl(dice), &[alike("192.0.2.53".to_owned())]);
    zone.add(
        "",
        "MX",
        ttl(dice),
        &[("{preference: 10, exchange: mail.example.com.}".into(), "10 mail.example.com.".into())],
    );
    zone
}

/// The records of a master file as `named-compilezone` prints them, without SOA, marker and the NS of the apex.
fn compiled(name: &str, text: &str, folder: &Path) -> BTreeSet<String> {
    let file = folder.join("compiled.in");
    fs::write(&file, text).expect("a file");
    let mut command = Command::new(COMPILER);
    command.args(["-q", "-i", "none", "-k", "ignore", "-n", "ignore", "-m", "ignore", "-M", "ignore", "-S", "ignore"]);
    let output = command.args(["-r", "ignore", "-W", "ignore", "-s", "full", "-o", "-", name]).arg(&file).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}{}\n{text}", text_of(&output.stdout), text_of(&output.stderr));
    let lines = text_of(&output.stdout);
    let is_meant = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_apex_ns = fields[3] == "NS" && fields[0].eq_ignore_ascii_case(&format!("{name}."));
        fields[3] != "SOA" && !is_apex_ns && !fields[0].starts_with("_zonewright.")
    };
    lines.lines().filter(is_meant).map(|line| crate::rig::folded(&spaced(line))).collect()
}

/// A line of `named-compilezone` with single blanks, and without its class.
fn spaced(line: &str) -> String {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let data = line.split_whitespace().skip(4).collect::<Vec<_>>().join(" ");
    format!("{} {} {} {data}", fields[0], fields[1], fields[3])
}

/// Makes the workspace: empty zones, and the files that state their content.
fn workspace(folder: &Path, zones: &[(String, TwiceWritten)]) -> PathBuf {
    let path = folder.join("workspace");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), &path);
    fs::create_dir(path.join("octo")).expect("a folder");
    let (mut settings, mut domains) = (String::new(), Vec::new());
    for (name, zone) in zones {
        let apex = "$TTL 60\n@ SOA ns.example.org. h.example.org. 1 7200 900 1209600 300\n@ NS ns.example.org.\n";
        fs::write(path.join(format!("zones/{name}.zone")), apex).expect("a zone");
        fs::write(path.join(format!("octo/{name}.yaml")), &zone.yaml).expect("a file");
        write!(settings, "\n[[zone]]\nname = \"{name}\"\npool = \"main\"\n").expect("a string has room");
        domains.push(name.as_str());
    }
    let source =
        "\n[[sources.records]]\nname = \"static\"\nformat = \"octodns\"\npath = \"octo/*.yaml\"\nproject = \"web\"\n";
    edit(&path, "[project.web]\n", &format!("{source}\n[project.web]\nalso_domains = {domains:?}\n"));
    let file = path.join("zonewright.toml");
    let text = fs::read_to_string(&file).expect("the settings");
    fs::write(&file, text + &settings).expect("the settings");
    path
}

/// The test, for one kind of server.
fn random_zones_of_all_types_are_held_as_they_are_stated(kind: Kind) {
    if !crate::have(Path::new(COMPILER)) {
        return;
    }
    let (from, to) = match std::env::var("ZONES") {
        Ok(zones) => {
            let (from, to) = zones.split_once('-').expect("ZONES is FROM-TO");
            (from.parse().expect("a number"), to.parse().expect("a number"))
        }
        Err(_) => (1, TOGETHER),
    };
    let (mut count, mut rrsets) = (0, 0);
    for first in (from..=to).step_by(TOGETHER as usize) {
        let numbers = first..=(first + TOGETHER - 1).min(to);
        let zones: Vec<(String, TwiceWritten)> = numbers
            .map(|number| {
                let (name, mut dice) =
                    (format!("z{number}.example"), Dice(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
                let zone = zone(&mut dice, &name, kind);
                (name, zone)
            })
            .collect();
        if !try_zones(kind, &zones) {
            return;
        }
        count += zones.len();
        rrsets += zones.iter().map(|(_, zone)| zone.rrsets).sum::<usize>();
    }
    writeln!(std::io::stderr(), "{kind:?}: {count} zones with {rrsets} RRsets").expect("stderr is open");
}

/// Types that few programs know, each with data that any program takes that does, as octets in hexadecimal.
const RARE_TYPES: &[(u16, &str)] = &[
    (10, "abcd"),
    (13, "0361626303646566"),
    (17, "016100016200"),
    (18, "0001016100"),
    (31, "abcd"),
    (32, "abcd"),
    (36, "0001016100"),
    (37, "00010002036869"),
    (40, "01010101"),
    (42, "00011803c00002"),
    (45, "0a0102c0000226aabb"),
    (49, "000201636fc0b8271c82825bb1ac5c41cf5351aa69b4febd94e8f17cdb95000da48c40"),
    (53, "030000aabbccdd"),
    (56, "0161"),
    (61, "68656c6c6f"),
    (62, "000000420003000460000008"),
    (100, "0161"),
    (104, "000a00144fffff20ee64"),
    (105, "000a0a010200"),
    (106, "000a20010db811401000"),
    (107, "000a016100"),
    (108, "00005e00532a"),
    (109, "00005eef1000002a"),
    (256, "0001000268747470733a2f2f612f"),
    (258, "0161"),
    (262, "0161"),
    (600, ""),
    (64999, "ff"),
    (65400, "00000000"),
];

/// What a server refuses by UPDATE is blocked in the plan; all else is applied.
fn types_that_a_server_refuses_are_blocked_and_no_others(kind: Kind) {
    let mut yaml = String::new();
    for (number, value) in RARE_TYPES {
        let value = format!("\\# {} {value}", value.len() / 2);
        writeln!(yaml, "t{number}: {{type: TYPE{number}, value: '{}'}}", value.trim_end()).expect("a string has room");
    }
    // Text as that of a TXT.
    yaml.push_str("t99: {type: SPF, value: v=spf1 -all}\n");
    let folder = tempfile::tempdir().expect("a folder");
    let zones = [("rare.example".to_owned(), TwiceWritten { yaml, ..TwiceWritten::default() })];
    let Some(rig) = Rig::of_files(kind, &workspace(folder.path(), &zones)) else { return };
    let plan = rig.plan();
    let blocked = plan.document["blocked"].as_array().expect("a list");
    assert!(blocked.iter().all(|own| own["code"] == "target-limit"), "{blocked:#?}");
    let number = |own: &serde_json::Value| {
        let subject = own["subject"].as_str().expect("a subject");
        subject.strip_prefix("record:static/t")?.split('.').next()?.parse::<u16>().ok()
    };
    let blocked: Vec<u16> = blocked.iter().filter_map(number).collect();
    let expected: &[u16] = match kind {
        Kind::PowerDns => &[10, 31, 32, 40, 56, 99, 100, 258, 262, 600, 64999, 65400],
        _ => &[],
    };
    let applied = rig.apply(&plan, &[]);
    assert_eq!(refused(&plan, &applied), Vec::<String>::new(), "{kind:?}");
    let listed: BTreeSet<u16> = blocked.into_iter().collect();
    assert_eq!(listed, expected.iter().copied().collect(), "{kind:?}");
}

/// The changes that the server refused, in the words of the apply.
fn refused(plan: &Planned, applied: &Applied) -> Vec<String> {
    let hosts = applied.document["hosts"].as_array().into_iter().flatten();
    let failed: BTreeSet<&str> =
        hosts.filter(|host| host["outcome"] != "applied").filter_map(|host| host["name"].as_str()).collect();
    let changes = plan.document["changes"].as_array().expect("a list").iter();
    let of_failed = changes.filter(|change| failed.contains(change["name"].as_str().unwrap_or_default()));
    of_failed.map(|change| format!("{} {} {}", change["name"], change["type"], change["after"]["rdata"])).collect()
}

/// Plans, applies and transfers zones; `false` where the kind of server is not installed.
fn try_zones(kind: Kind, zones: &[(String, TwiceWritten)]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(rig) = Rig::of_files(kind, &workspace(folder.path(), zones)) else { return false };
    let plan = rig.plan();
    let blocked = plan.document["blocked"].as_array().expect("a list");
    assert!(blocked.is_empty(), "{blocked:#?}");
    let applied = rig.apply(&plan, &[]);
    assert_eq!(applied.exit, Some(0), "{kind:?}: {:#?}", refused(&plan, &applied));
    for (name, zone) in zones {
        let apex = format!(
            "$ORIGIN {name}.\n@ 60 SOA ns.example.org. h.example.org. 1 7200 900 1209600 300\n@ 60 NS ns.example.org.\n"
        );
        let expected = compiled(name, &format!("{apex}{}", zone.master), folder.path());
        let lines: String = rig.zone(&format!("{name}.")).records.iter().map(|line| format!("{line}\n")).collect();
        let soa = format!("{name}. 60 SOA ns.example.org. h.example.org. 1 7200 900 1209600 300\n");
        let is_soa = |line: &&str| line.split(' ').nth(2) == Some("SOA");
        let rest: String = lines.lines().filter(|line| !is_soa(line)).map(|line| format!("{line}\n")).collect();
        let found = compiled(name, &format!("{soa}{rest}"), folder.path());
        let differing: Vec<&String> = expected.symmetric_difference(&found).collect();
        assert!(differing.is_empty(), "{kind:?} {name}: {differing:#?}\n{}", zone.yaml);
    }
    let again = rig.plan();
    assert_eq!(again.document["changes"], serde_json::json!([]), "{kind:?}");
    assert_taken_over(&rig, folder.path(), zones);
    true
}

/// The zones of the server become files that ask for just what is there: planned with the state of the workspace that filled
/// them.
fn assert_taken_over(rig: &Rig, folder: &Path, zones: &[(String, TwiceWritten)]) {
    let taken = folder.join("taken");
    let mut init = zonewright();
    init.args(["init", "--from-axfr", &rig.server.address()]).args(zones.iter().map(|(name, _)| name)).arg("--records");
    let (key, own) = (rig.server.folder().join("key"), folder.join("taken.key"));
    if key.exists() {
        fs::copy(key, &own).expect("a file");
        fs::set_permissions(&own, Permissions::from_mode(0o600)).expect("it is ours");
        init.arg("--tsig-secret-file").arg(&own);
    }
    let made = init.arg("-C").arg(&taken).output().expect("it runs");
    assert!(made.status.success(), "{}", text_of(&made.stderr));
    let said = text_of(&made.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!said.contains("not in the files, since YAML"), "{said}");
    copy(&rig.workspace.path().join(".zonewright"), &taken.join(".zonewright"));
    let plan = plan_in(&taken, &[]);
    assert_eq!(plan.document["changes"], serde_json::json!([]), "{said}");
    assert_eq!(plan.document["blocked"], serde_json::json!([]), "{said}");
}
