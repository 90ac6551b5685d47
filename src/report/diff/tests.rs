//! What holds of the diff, by eye and by programs that apply it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use proptest::collection::{btree_map, btree_set};
use proptest::prelude::*;

use super::*;
use crate::diag::Problem;
use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl};
use crate::plan::fixture::{self, zone};
use crate::plan::{ChangeKind, Rule};

/// The diff of a plan without colour.
fn shown(plan: Plan) -> String {
    render(&SealedPlan::new(plan), &PlanOutlook::default(), &TextOptions::default())
}

/// A plan that is whole and not refused.
fn fleet() -> Plan {
    Plan { notices: Vec::new(), limits: Vec::new(), ..fixture::fleet() }
}

#[test]
fn each_name_is_a_hunk() {
    let text = shown(fleet()).replace('\t', " ");
    insta::assert_snapshot!(text.replace(" \n", "·\n"), @r#"
    --- 0.0.8.b.6.0.2.0.a.2.ip6.arpa. serial 2026112007
    +++ 0.0.8.b.6.0.2.0.a.2.ip6.arpa. planned
    @@ -1,2 +1,3 @@ 2a02:6b8:0:160b:0:1478:b508:9398
     ; host 100001 of search: missing PTR
    +8.9.3.9.8.0.5.b.8.7.4.1.0.0.0.0.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. 600 IN PTR sas1-0001.search.example.net.
    ·
    @@ -3,3 +4,3 @@ 2a02:6b8:0:160b:0:1478:b508:93a0
     ; host 100007 of search: missing PTR, wrong PTR
    -0.a.3.9.8.0.5.b.8.7.4.1.0.0.0.0.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. 600 IN PTR sas1-0002.search.example.net.
    +0.a.3.9.8.0.5.b.8.7.4.1.0.0.0.0.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. 600 IN PTR sas1-0007.search.example.net.
    ·
    @@ -6,3 +7,2 @@ 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398
     ; host 100001 of search: PTR elsewhere
    -8.9.3.9.8.0.e.f.f.f.5.b.3.e.a.7.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. 3600 IN PTR sas1-0001.search.example.net.
    ·
    @@ -9,2 +9,3 @@ 2a02:6b8:0:3f02:0:1478:b508:93a0
     ; host 100007 of search: missing PTR
    +0.a.3.9.8.0.5.b.8.7.4.1.0.0.0.0.2.0.f.3.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. 600 IN PTR fb-sas1-0007.search.example.net.
    ·
    --- 154.178.in-addr.arpa. live
    +++ 154.178.in-addr.arpa. planned
    @@ -1,2 +1,3 @@ 178.154.132.91
     ; host 200017 of web: missing PTR
    +91.132.154.178.in-addr.arpa. 3600 IN PTR myt2-web-0017.web.example.net.
    ·
    --- example.net. live
    +++ example.net. planned
    @@ -1,3 +1,2 @@ lab-old-3.example.net.
     ; host 300044 of lab: released name
    -lab-old-3.example.net. 3600 IN AAAA 2a02:6b8:0:77::1
    ·
    --- search.example.net. serial 2026112001
    +++ search.example.net. planned
    @@ -1,2 +1,3 @@ fb-sas1-0007.search.example.net.
     ; host 100007 of search: missing address
    +fb-sas1-0007.search.example.net. 600 IN AAAA 2a02:6b8:0:3f02:0:1478:b508:93a0
    ·
    @@ -3,3 +4,3 @@ sas1-0001.search.example.net.
     ; host 100001 of search: other TTL, wrong address
    -sas1-0001.search.example.net. 3600 IN AAAA 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398
    +sas1-0001.search.example.net. 600 IN AAAA 2a02:6b8:0:160b:0:1478:b508:9398
    ·
    @@ -6,3 +7,2 @@ sas1-0002.search.example.net.
     ; hosts 100007, 100008 of search: address elsewhere
    -sas1-0002.search.example.net. 600 IN AAAA 2a02:6b8:0:160b:0:1478:b508:93a0
    ·
    @@ -9,2 +9,3 @@ sas1-0007.search.example.net.
     ; host 100007 of search: missing address
    +sas1-0007.search.example.net. 600 IN AAAA 2a02:6b8:0:160b:0:1478:b508:93a0
    ·
    @@ -11,4 +12,4 @@ sas1-0012.search.example.net.
     ; host 100012 of search: other TTL
    -sas1-0012.search.example.net. 3600 IN AAAA 2a02:6b8:0:160b:0:1478:b508:93b1
    -sas1-0012.search.example.net. 3600 IN AAAA 2a02:6b8:0:160c:0:1478:b508:93b1
    +sas1-0012.search.example.net. 600 IN AAAA 2a02:6b8:0:160b:0:1478:b508:93b1
    +sas1-0012.search.example.net. 600 IN AAAA 2a02:6b8:0:160c:0:1478:b508:93b1
    ·
    @@ -15,3 +16,2 @@ sas1-0931.search.example.net.
     ; project search: orphan
    -sas1-0931.search.example.net. 600 IN AAAA 2a02:6b8:0:160b:0:1478:b508:1111
    ·
    --- web.example.net. serial 417
    +++ web.example.net. planned
    @@ -1,2 +1,3 @@ aaaa-myt2-web-0017.web.example.net.
     ; host 200017 of web: registry
    +aaaa-myt2-web-0017.web.example.net. 3600 IN TXT "heritage=external-dns,external-dns/owner=fleet-dns"
    ·
    @@ -3,5 +4,4 @@ myt2-web-0017.web.example.net.
     ; host 200017 of web: wrong address
     myt2-web-0017.web.example.net. 3600 IN AAAA 2a02:6b8:0:51a::b29a:845b
    -myt2-web-0017.web.example.net. 3600 IN AAAA 2a02:6b8:0:51a::b29a:845c
    ·
    ·
    "#);
}

#[test]
fn nothing_to_change_is_an_empty_diff() {
    assert_eq!(shown(fixture::empty()), "");
}

#[test]
fn what_is_amiss_is_told_before_the_first_file() {
    let text = shown(fixture::fleet());
    let remarks: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
    insta::assert_snapshot!(remarks.join("\n"), @"
    # refused as it is: project:search/1h: 18 used + 3 planned = 21 hosts, but at most 20 may change
    #   `--allow project:search/1h=21` lets this plan through
    # not complete: source-unknown: source `eine`: agents/eine-1.jsonl was cut: its last line has no end
    ");
    let refusal =
        Problem::new("the plan", "breaker-tripped", "the breaker `global` is tripped\n--- x").hint("reset it");
    let outlook = PlanOutlook { refusal: Some(refusal), hidden: Some(7), ..PlanOutlook::default() };
    let text = render(&SealedPlan::new(fixture::empty()), &outlook, &TextOptions::default());
    insta::assert_snapshot!(text, @r"
    # refused as it is: breaker-tripped: the breaker `global` is tripped\u{a}--- x
    #   hint: reset it
    # A view: 7 more changes of the plan are not shown
    ");
}

#[test]
fn on_a_terminal_what_differs_is_marked() {
    let options = TextOptions { color: true, ..TextOptions::default() };
    let text = render(&SealedPlan::new(fleet()), &PlanOutlook::default(), &options);
    let lines: Vec<String> = text.lines().filter(|line| line.contains("sas1-0001")).map(str::to_owned).collect();
    insta::assert_snapshot!(lines.join("\n").replace('\u{1b}', "␛").replace('\t', " "), @r"
    ␛[32m+8.9.3.9.8.0.5.b.8.7.4.1.0.0.0.0.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. 600 IN PTR sas1-0001.search.example.net.␛[0m
    ␛[31m-8.9.3.9.8.0.e.f.f.f.5.b.3.e.a.7.b.0.6.1.0.0.0.0.8.b.6.0.2.0.a.2.ip6.arpa. 3600 IN PTR sas1-0001.search.example.net.␛[0m
    ␛[2m@@ -3,3 +4,3 @@␛[0m ␛[1msas1-0001.search.example.net.␛[0m
    ␛[31m-sas1-0001.search.example.net. ␛[1m␛[4m3600␛[0m␛[31m IN AAAA 2a02:6b8:0:160b:␛[1m␛[4m7ae3:b5ff:fe08␛[0m␛[31m:9398␛[0m
    ␛[32m+sas1-0001.search.example.net. ␛[1m␛[4m600␛[0m␛[32m IN AAAA 2a02:6b8:0:160b:␛[1m␛[4m0:1478:b508␛[0m␛[32m:9398␛[0m
    ");
}

#[test]
fn data_begin_no_command_in_the_log_of_a_pipeline() {
    let mut plan = fixture::empty();
    let old = (60, &["\"##[add-mask]a\"", "\"stays\""][..]);
    let new = (60, &["\"##[add-mask]b\"", "\"stays\""][..]);
    let reasons = [fixture::reason(Rule::Registry, None, &[])];
    plan.changes =
        vec![fixture::change(("##[error]", None), ("::add-mask::.example.net", Rtype::TXT), (old, new), &reasons)];
    let text = shown(plan);
    assert!(text.contains("\n-\\058:add-mask::.example.net.\t60\tIN\tTXT\t\"#\\035[add-mask]a\"\n"), "{text}");
    assert!(!text.contains("##[") && text.lines().all(|line| !line.trim_start().starts_with("::")), "{text}");
}

/// The files of a diff: the old text and the new one by name, as it tells them. Fails where ranges or the context are wrong.
fn files(diff: &str) -> BTreeMap<String, (String, String)> {
    let mut files: BTreeMap<String, (String, String)> = BTreeMap::new();
    let mut name = String::new();
    let mut left = (0, 0);
    for line in diff.lines() {
        if left == (0, 0) {
            if let Some(head) = line.strip_prefix("--- ") {
                name = head.split('\t').next().unwrap().to_owned();
                assert!(files.insert(name.clone(), Default::default()).is_none());
            } else if let Some(head) = line.strip_prefix("+++ ") {
                assert_eq!(head, format!("{name}\tplanned"));
            } else {
                let numbers: Vec<usize> = line
                    .strip_prefix("@@ -")
                    .unwrap()
                    .split_inclusive([',', ' '])
                    .take(4)
                    .filter_map(|part| part.trim_matches([',', ' ', '+']).parse().ok())
                    .collect();
                let (old, new) = &files[&name];
                assert_eq!((numbers[0], numbers[2]), (old.lines().count() + 1, new.lines().count() + 1), "{line}");
                left = (numbers[1], numbers[3]);
            }
            continue;
        }
        let (old, new) = files.get_mut(&name).unwrap();
        let (sign, text) = line.split_at(1);
        if sign != "+" {
            old.push_str(&format!("{text}\n"));
            left.0 -= 1;
        }
        if sign != "-" {
            new.push_str(&format!("{text}\n"));
            left.1 -= 1;
        }
    }
    assert_eq!(left, (0, 0));
    files
}

/// The records of a plan's changes before or after, by zone, printed by no code of the diff's.
fn records(plan: &Plan, side: fn(&ChangeKind) -> Option<&Rrset>) -> BTreeMap<String, BTreeSet<String>> {
    let mut zones: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for change in &plan.changes {
        let records = zones.entry(change.zone.to_string()).or_default();
        if let Some(rrset) = side(&change.kind) {
            let RrKey { owner, rtype } = &change.key;
            let one = |rdata: &Rdata| format!("{owner}\t{}\tIN\t{rtype}\t{}", rrset.ttl(), rdata.as_rdata(*rtype));
            records.extend(rrset.rdata().iter().map(one));
        }
    }
    zones
}

/// The records in a text, each once.
fn in_text(text: &str) -> BTreeSet<String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with(';')).collect();
    let records: BTreeSet<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    assert_eq!(records.len(), lines.len(), "{text}");
    records
}

/// An RRset of AAAA or PTR, of few addresses and TTLs, so that two of them often share some.
fn rrset(rtype: Rtype) -> impl Strategy<Value = Rrset> {
    let rdata = move |number: u8| match rtype {
        Rtype::AAAA => Rdata::parse(rtype, &format!("2001:db8::{number}")).unwrap(),
        _ => Rdata::parse(rtype, &format!("h{number}.example.net")).unwrap(),
    };
    let ttl = prop_oneof![4 => Just(3600), 1 => Just(600)];
    (ttl, btree_set(0..7u8, 1..6)).prop_map(move |(ttl, numbers)| {
        Rrset::new(Ttl::from_secs(ttl).unwrap(), numbers.into_iter().map(rdata).collect()).unwrap()
    })
}

/// A plan of changes in two zones.
fn plan() -> impl Strategy<Value = Plan> {
    let side = |rtype| proptest::option::weighted(0.8, rrset(rtype));
    let key = (0..2usize, 0..9u8, proptest::sample::select(vec![Rtype::AAAA, Rtype::PTR]));
    let sides = (side(Rtype::AAAA), side(Rtype::AAAA), side(Rtype::PTR), side(Rtype::PTR));
    btree_map(key, sides, 0..12).prop_map(|changes| {
        let change = |((place, number, rtype), sides): ((usize, u8, Rtype), _)| {
            let (old, new, old_ptr, new_ptr) = sides;
            let (old, new) = if rtype == Rtype::AAAA { (old, new) } else { (old_ptr, new_ptr) };
            let zone = [zone("example.net"), zone("2.ip6.arpa")][place].clone();
            let name = Name::parse(&format!("h{number}.{zone}")).unwrap();
            let owner = zone.owner(name.as_name()).unwrap();
            Some(Change {
                zone,
                key: RrKey { owner, rtype },
                subject: fixture::subject(Some(u64::from(number))),
                pool: fixture::pool(),
                also: Vec::new(),
                registers: None,
                via: None,
                targets: Vec::new(),
                project: "p".to_owned(),
                kind: ChangeKind::between(old, new)?,
                reasons: vec![fixture::reason(Rule::Missing, None, &[])],
            })
        };
        Plan { changes: changes.into_iter().filter_map(change).collect(), zones: Vec::new(), ..fixture::empty() }
    })
}

/// Runs a program in a folder with a text on its standard input; `None`, aloud, where there is none.
fn run(folder: &Path, program: &[&str], input: &str) -> Option<Output> {
    use std::io::Write as _;
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match command.spawn() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            eprintln!("skipped: there is no `{}`", program[0]);
            None
        }
        child => {
            let mut child = child.unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            Some(child.wait_with_output().unwrap())
        }
    }
}

proptest! {
    #[test]
    fn the_texts_are_the_records_before_and_after(plan in plan()) {
        let files = files(&shown(plan.clone()));
        let texts = |side: fn(&(String, String)) -> &String| -> BTreeMap<String, BTreeSet<String>> {
            files.iter().map(|(zone, texts)| (zone.clone(), in_text(side(texts)))).collect()
        };
        prop_assert_eq!(texts(|(old, _)| old), records(&plan, ChangeKind::before));
        prop_assert_eq!(texts(|(_, new)| new), records(&plan, ChangeKind::after));
    }

    #[test]
    fn colours_change_no_text(plan in plan()) {
        let options = TextOptions { color: true, ..TextOptions::default() };
        let painted = render(&SealedPlan::new(plan.clone()), &PlanOutlook::default(), &options);
        let plain: String = painted.split('\u{1b}').enumerate()
            .map(|(place, part)| if place == 0 { part } else { part.split_once('m').unwrap().1 }).collect();
        prop_assert_eq!(plain, shown(plan));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn programs_that_apply_diffs_get_the_new_texts(plan in plan()) {
        let diff = shown(Plan { notices: vec![], ..plan });
        let diff = format!("# a remark\n{diff}");
        let files = files(diff.split_once('\n').unwrap().1);
        // Without fuzz, and without leave to take a hunk that lacks context.
        for program in [&["patch", "-p0", "-F0", "--no-backup-if-mismatch"][..], &["git", "apply", "-p0"]] {
            if files.is_empty() {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            files.iter().for_each(|(name, (old, _))| std::fs::write(folder.path().join(name), old).unwrap());
            let Some(output) = run(folder.path(), program, &diff) else { continue };
            let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            prop_assert!(output.status.success(), "{}\n{}", said, diff);
            prop_assert!(!said.contains("fuzz") && !said.contains("offset"), "{}\n{}", said, diff);
            for (name, (_, new)) in &files {
                prop_assert_eq!(&std::fs::read_to_string(folder.path().join(name)).unwrap(), new, "{}", said);
            }
        }
    }
}
