//! What a report says, that it is whole at any size, and that what comes from input means nothing in it.

mod parsed;
mod random;
mod sums;

use proptest::prelude::*;

use self::parsed::parse;
use self::random::MARKER;
use super::*;
use crate::diag::Problem;
use crate::dns::Rtype;
use crate::plan::{Cause, CauseKind, Rule, fixture};

/// A report of a plan in so many octets, with digests that need no work.
fn report((plan, outlook): &(Plan, PlanOutlook), is_view: bool, max: usize) -> String {
    let outlook = &PlanOutlook { hidden: is_view.then_some(7), ..outlook.clone() };
    let review = review::of_plan(plan);
    let digests = [format!("sha256:{}", "1".repeat(64)), format!("sha256:{}", "2".repeat(64))];
    let (review, causes) = (review.as_ref(), PlanCauses::new(plan, review.as_ref(), outlook.source_url.as_ref()));
    page(&ReportSubject { plan, id: &digests[0], effect: &digests[1], outlook, review, causes }, max)
}

/// What is known of a plan that is in a file.
fn saved() -> PlanOutlook {
    PlanOutlook { file: Some("plan.json".to_owned()), ..PlanOutlook::default() }
}

#[test]
fn a_plan_reads_well() {
    insta::assert_snapshot!(report(&(fixture::reviewed(), saved()), false, MAX), @r#"
    <!-- zonewright plan -->
    ### ⛔ Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked, 1205 skipped; no plan for what needs source `eine`, which could not be read

    **Refused by the limit `project:search/1h`.**

    ⚠️ **1 change of 1 host is not explained by any difference: check them first.**

    - **limit exceeded:** `project:search/1h`: 18 used + 3 planned = 21 hosts, but at most 20 may change; `--allow project:search/1h=21` lets this plan through
    - **not read:** source `eine`: `agents/eine-1.jsonl` was cut: its last line has no end

    Against `origin/main` (`3f2a3f2a3f2a`): **6 caused by this change set, 3 caused in part, 5 pending before.** It settles 2 RRsets that would be changed without it. **It blocks 1 host that the base does not: `100002`.**

    | project | hosts | create | modify | delete | blocked | skipped |
    |:--|--:|--:|--:|--:|--:|--:|
    | `lab` | 1 | - | - | 1 | 1 | 1203 |
    | `search` | 3 | 4 | 3 | 3 | 40 | 1 |
    | `web` | 1 | 2 | 1 | - | 9 | 1 |
    | **total** | **5** | **6** | **4** | **4** | **50** | **1205** |

    By datacenter: `SAS` 3 hosts, `MYT` 1 host.

    #### Caused by this change set: 6 changes of 2 hosts

    <details open>
    <summary>⚠️ <b>not explained:</b> nothing that differs explains this: 1 change of 1 host, 1 delete</summary>

    ```diff
    @@ host 300044 of lab @@
    - AAAA lab-old-3.example.net.  3600  2a02:6b8:0:77::1
    ```

    </details>

    <details open>
    <summary>VLAN 604 of switch <code>sas1-s12</code> moved from <code>2a02:6b8:0:1600::/64</code> to <code>2a02:6b8:0:160b::/64</code> (<code>racktables/l3-tors.txt:412</code>): 5 changes of 1 host, 1 delete</summary>

    ```diff
    @@ host sas1-0007.search.example.net. (100007) of search @@
    - AAAA sas1-0002.search.example.net.  600  2a02:6b8:0:160b:0:1478:b508:93a0
    - PTR of 2a02:6b8:0:160b:0:1478:b508:93a0  600  sas1-0002.search.example.net.
    + PTR of 2a02:6b8:0:160b:0:1478:b508:93a0  600  sas1-0007.search.example.net.
    + AAAA sas1-0007.search.example.net.  600  2a02:6b8:0:160b:0:1478:b508:93a0
    + AAAA fb-sas1-0007.search.example.net.  600  2a02:6b8:0:3f02:0:1478:b508:93a0
    + PTR of 2a02:6b8:0:3f02:0:1478:b508:93a0  600  fb-sas1-0007.search.example.net.
    ```

    </details>

    #### Caused in part by this change set: 3 changes of 1 host

    <details open>
    <summary>VLAN 604 of switch <code>sas1-s12</code> moved from <code>2a02:6b8:0:1600::/64</code> to <code>2a02:6b8:0:160b::/64</code> (<code>racktables/l3-tors.txt:412</code>): 3 changes of 1 host, 1 delete</summary>

    ```diff
    @@ host sas1-0001.search.example.net. (100001) of search @@
    - PTR of 2a02:6b8:0:160b:7ae3:b5ff:fe08:9398  3600  sas1-0001.search.example.net.
    - AAAA sas1-0001.search.example.net.  3600  2a02:6b8:0:160b:7ae3:b5ff:fe08:9398
    + AAAA sas1-0001.search.example.net.  600  2a02:6b8:0:160b:0:1478:b508:9398
    + PTR of 2a02:6b8:0:160b:0:1478:b508:9398  600  sas1-0001.search.example.net.
    ```

    </details>

    #### Pending before this change set: 5 changes of 2 hosts

    <details>
    <summary>another editor changed or removed records that apply 12 wrote (<code>2026-11-18T04:00:00Z</code>): 3 changes of 1 host</summary>

    ```diff
    @@ host myt2-web-0017.web.example.net. (200017) of web @@
    - AAAA myt2-web-0017.web.example.net.  3600  2a02:6b8:0:51a::b29a:845c
      AAAA myt2-web-0017.web.example.net.  3600  2a02:6b8:0:51a::b29a:845b
    + TXT aaaa-myt2-web-0017.web.example.net.  3600  "heritage=external-dns,external-dns/owner=fleet-dns"
    + PTR of 178.154.132.91  3600  myt2-web-0017.web.example.net.
    ```

    </details>

    <details>
    <summary>names that no host has (<code>projects/search.yaml:11</code>): 1 change, 1 delete</summary>

    ```diff
    @@ no host, project search @@
    - AAAA sas1-0931.search.example.net.  600  2a02:6b8:0:160b:0:1478:b508:1111
    ```

    </details>

    <details>
    <summary>the TTL of project <code>search</code> is 600, no longer 3600 (<code>projects/search.yaml:9</code>): 1 change of 1 host</summary>

    ```diff
    @@ host sas1-0012.search.example.net. (100012) of search @@
    - AAAA sas1-0012.search.example.net.  3600  2a02:6b8:0:160b:0:1478:b508:93b1
    - AAAA sas1-0012.search.example.net.  3600  2a02:6b8:0:160c:0:1478:b508:93b1
    + AAAA sas1-0012.search.example.net.  600  2a02:6b8:0:160b:0:1478:b508:93b1
    + AAAA sas1-0012.search.example.net.  600  2a02:6b8:0:160c:0:1478:b508:93b1
    ```

    </details>

    <details>
    <summary>Blocked before this change set: 38 bad-input, 2 duplicate-name, 9 no-mac, 1 not-owner</summary>

    - **bad-input**, 38 hosts: a line that they need is wrong
      - 38 hosts of `search`, `100100`, `100101`, `100102`, `100103`, `100104` and 33 more: `racktables/l3-tors.txt:412`: `2a02:6b8:0:1600::/63` is no `/64`
      - **hint:** correct the line
    - **duplicate-name**, 2 hosts: another interface has their name
      - host `100300` of `search`: `sas1-0300.search.example.net.` is the name of host 100301 too
      - host `100301` of `search`: `sas1-0300.search.example.net.` is the name of host 100300 too
      - **hint:** `release` one of the two, or correct `hosts.csv`
    - **no-mac**, 9 hosts: no report gives their MAC
      - host `200100` of `web`: no source reports a MAC of host 200100
      - host `200101` of `web`: no source reports a MAC of host 200101
      - host `200102` of `web`: no source reports a MAC of host 200102
      - host `200103` of `web`: no source reports a MAC of host 200103
      - host `200104` of `web`: no source reports a MAC of host 200104
      - **hint:** see whether the host's agent runs and reports
      - and 4 more, not shown here
    - **not-owner**, 1 host: a wrong record that zonewright did not create is in place of theirs
      - host `300007` of `lab`: AAAA at `lab-7.example.net.` is wrong and was not created by us
      - **hint:** `adopt` the name, or remove the record by hand

    </details>

    | limit that is near | used | planned | max |
    |:--|--:|--:|--:|
    | `global/1d` | 118 | 5 | 1000 |

    Skipped, zonewright leaves them alone: 1205 hosts (1203 automation-off, 2 restricted).

    `zonewright help CODE` explains a code.

    <details>
    <summary>Notices: 1 foreign-name</summary>

    - `www.example.net.`: AAAA `2a02:6b8:0:160b:0:1478:b508:9398` belongs to host 100001, but the name is no host's

    </details>

    ---

    Plan `sha256:1111111111111111111111111111111111111111111111111111111111111111`, effect `sha256:2222222222222222222222222222222222222222222222222222222222222222`, valid until `2026-11-21T01:30:00Z`. `apply` refuses it until the problems above are fixed:

    ```sh
    zonewright apply plan.json --expect sha256:2222222222222222222222222222222222222222222222222222222222222222
    ```

    ⛔ **Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked, 1205 skipped; no plan for what needs source `eine`, which could not be read. Refused by the limit `project:search/1h`.**
    "#);
}

/// A plan of four changes of each of so many hosts: most because a VLAN moved, some because of drift.
fn crowd(hosts: usize) -> Plan {
    let mut plan = fixture::reviewed();
    let first = plan.changes.len();
    for host in 0..hosts {
        let name = format!("sas1-{host:04}.search.example.net");
        let [old, new] = ["1600", "160b"].map(|net| format!("2a02:6b8:0:{net}:0:1478:{:x}:{host:x}", host % 7));
        let of = ("search", Some(110_000 + host as u64));
        let none = (0, &[][..]);
        let reasons = [fixture::reason(Rule::Missing, of.1, &["racktables/l3-tors.txt:412"])];
        let fastbone = (format!("fb-{name}"), format!("2a02:6b8:0:3f02:0:1478:{:x}:{host:x}", host % 7));
        plan.changes.extend([
            fixture::change(of, (&name, Rtype::AAAA), ((600, &[&old]), (600, &[&new])), &reasons),
            fixture::change(of, (&old, Rtype::PTR), ((600, &[&name]), none), &reasons),
            fixture::change(of, (&new, Rtype::PTR), (none, (600, &[&name])), &reasons),
            fixture::change(of, (&fastbone.0, Rtype::AAAA), (none, (600, &[&fastbone.1])), &reasons),
        ]);
    }
    let review = plan.review.as_mut().unwrap();
    let places = (first as u32..).take(4 * hosts);
    let (moved, drifted): (Vec<u32>, Vec<u32>) = places.partition(|place| place % 10 < 8);
    let network = review.causes.iter_mut().find(|cause| cause.kind == CauseKind::Network).unwrap();
    network.changes.extend(moved);
    let drift = review.causes.iter_mut().find(|cause| cause.kind == CauseKind::Drift).unwrap();
    drift.changes.extend(drifted);
    review.sort();
    plan
}

/// A plan of 5 014 changes that may be applied.
fn large() -> Plan {
    let mut plan = crowd(1250);
    plan.limits.retain(|limit| !limit.exceeded);
    plan.notices.retain(|notice| !notice.code.tells_of_less());
    plan
}

#[test]
fn a_large_plan_shows_what_matters_and_examples_of_the_rest() {
    let outlook = PlanOutlook { url: Some("https://ci.example.net/runs/17".to_owned()), ..saved() };
    let text = report(&(large(), outlook), false, MAX);
    assert!(text.len() <= MAX && text.len() > MAX - 500, "{}", text.len());
    let first: Vec<&str> = text.lines().take(4).collect();
    assert_eq!(
        first[..2],
        [
            "<!-- zonewright plan -->",
            "### ⚠️ Plan: 2506 to create, 1254 to modify, 1254 to delete for 1255 of 62000 hosts; 50 blocked, 1205 skipped"
        ]
    );
    let in_lists = text.lines().filter(|line| line.starts_with("@@ ")).count();
    assert!(in_lists > 150 && text.matches("\n<details").count() == 8, "{in_lists} hosts: {text}");
    let cut = text.lines().find(|line| line.starts_with("**Cut to fit here:**")).unwrap();
    assert!(cut.ends_with("All of it: <https://ci.example.net/runs/17> or `zonewright show plan.json`."), "{cut}");
}

#[test]
fn of_many_causes_the_first_have_examples() {
    let mut plan = large();
    let review = plan.review.as_mut().unwrap();
    let split = |cause: &Cause| -> Vec<Cause> {
        let part = |(number, changes): (usize, &[u32])| {
            let says = format!("{} ({number})", cause.says);
            Cause { says, changes: changes.to_vec(), ..cause.clone() }
        };
        cause.changes.chunks(8).enumerate().map(part).collect()
    };
    review.causes = review.causes.iter().flat_map(split).collect();
    review.sort();
    let text = report(&(plan, saved()), false, MAX);
    assert!(text.len() <= MAX && text.len() > MAX * 9 / 10, "{}", text.len());
    assert!(text.matches("\n<details").count() > 30 && text.matches("\n@@ ").count() > 60, "{text}");
}

#[test]
fn fifteen_hundred_octets_still_tell_the_verdict_and_how_much_is_left_out() {
    insta::assert_snapshot!(report(&(fixture::reviewed(), saved()), false, 1500), @"
    <!-- zonewright plan -->
    ### ⛔ Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked, 1205 skipped; no plan for what needs source `eine`, which could not be read

    **Refused by the limit `project:search/1h`.**

    ⚠️ **1 change of 1 host is not explained by any difference: check them first.**

    2 remarks, not shown here.

    Against `origin/main` (`3f2a3f2a3f2a`): **6 caused by this change set, 3 caused in part, 5 pending before.** It settles 2 RRsets that would be changed without it. **It blocks 1 host that the base does not.**

    3 projects, not shown here.

    By datacenter: `SAS` 3 hosts, `MYT` 1 host.

    6 causes with 14 changes, not shown here.

    1 limit with room left, not shown here.

    ---

    **Cut to fit here:** 14 of 14 changes are not listed; nothing is shown of blocked, skipped, notices. All of it: `zonewright show plan.json`.

    Plan `sha256:1111111111111111111111111111111111111111111111111111111111111111`, effect `sha256:2222222222222222222222222222222222222222222222222222222222222222`, valid until `2026-11-21T01:30:00Z`. `apply` refuses it until the problems above are fixed:

    ```sh
    zonewright apply plan.json --expect sha256:2222222222222222222222222222222222222222222222222222222222222222
    ```

    ⛔ **Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked, 1205 skipped; no plan for what needs source `eine`, which could not be read. Refused by the limit `project:search/1h`.**
    ");
}

#[test]
fn what_there_is_to_apply_decides_how_a_report_ends() {
    let end = |plan: Plan, outlook: &PlanOutlook, is_view| {
        let text = report(&(plan, outlook.clone()), is_view, MAX);
        let heading = text.lines().nth(1).unwrap().to_owned();
        (heading, text.split_once("\n---\n\n").unwrap().1.replace(&"2".repeat(64), "E").replace(&"1".repeat(64), "I"))
    };
    let (heading, idle) = end(fixture::empty(), &saved(), false);
    assert_eq!(
        (heading.as_str(), idle.as_str()),
        (
            "### ✅ No changes: live DNS matches the inventory",
            "Plan `sha256:I`, effect `sha256:E`.\n\n✅ **No changes: live DNS matches the inventory.**\n"
        )
    );
    let (_, view) = end(large(), &saved(), true);
    assert!(
        view.contains("Plan `sha256:I`, effect `sha256:E`. A view cannot be applied.\n\n⚠️ **Part of the plan: "),
        "{view}"
    );
    let (_, unsaved) = end(large(), &PlanOutlook::default(), false);
    assert!(unsaved.contains("All of it: `zonewright plan`, without `--format`.\n"), "{unsaved}");
    assert!(unsaved.contains("```sh\nzonewright apply FILE --expect sha256:E\n```\n\n⚠️ **Plan: "), "{unsaved}");
    let (_, spaced) = end(large(), &PlanOutlook { file: Some("my plan.json".to_owned()), ..saved() }, false);
    assert!(spaced.contains("\nzonewright apply 'my plan.json' --expect sha256:E\n"), "{spaced}");
}

#[test]
fn the_guard_that_refuses_a_plan_is_named() {
    let refused = |code, message: &str| {
        let refusal = Problem::new("x", code, message).hint("`reset` it");
        let text = report(&(large(), PlanOutlook { refusal: Some(refusal), ..saved() }), false, MAX);
        let told = text.lines().find(|line| line.starts_with("- ")).unwrap().to_owned();
        (text.lines().nth(3).unwrap().to_owned(), told)
    };
    let (state, told) = refused("breaker-tripped", "the breaker `project:web` is tripped");
    assert_eq!(state, "**Refused by `breaker-tripped`.**");
    assert_eq!(told, "- **breaker tripped:** the breaker `project:web` is tripped; `reset` it");
    let (state, _) = refused("limit-exceeded", "more than it saw itself");
    assert_eq!(state, "**Refused by `limit-exceeded`.**");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(plans()) })]

    #[test]
    fn whatever_comes_from_input_is_in_code_or_a_plain_word(recipe in random::hostile(), max in sizes(), is_view: bool) {
        let made = recipe.made();
        let text = report(&made, is_view, max);
        prop_assert!(text.len() <= max, "{} of {max}: {text}", text.len());
        let parsed = parse(&text);
        let of_input = |word: &&str| word.to_lowercase().contains(&MARKER.to_lowercase());
        let is_plain = |word: &str| word.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"(),.;:-'".contains(&octet));
        prop_assert!(parsed.words.split_whitespace().filter(of_input).all(is_plain), "{}\n\n{text}", parsed.words);
        prop_assert!(parsed.links.iter().all(|link| made.1.url.as_ref() == Some(link)), "{:?}", parsed.links);
        prop_assert!(text.chars().all(|c| c == '\n' || (!c.is_control() && !crate::diag::is_formatting(c))), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(plans()) })]

    #[test]
    fn a_report_is_whole_within_its_octets_and_its_counts_add_up(recipe in random::plain(), max in sizes()) {
        let made = recipe.made();
        let text = report(&made, false, max);
        prop_assert!(text.len() <= max, "{} of {max}: {text}", text.len());
        prop_assert!(text.contains("\n### "), "the verdict: {text}");
        parse(&text);
        sums::check(&text, &made.0);
    }
}

/// How many random plans are tried; `PLANS=2000` in the environment tries as many.
fn plans() -> u32 {
    std::env::var("PLANS").ok().and_then(|text| text.parse().ok()).unwrap_or(200)
}

/// How many octets a report may have: what a comment may, or less, with room for the longest verdict, at both ends.
fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![Just(MAX), 2500..=MAX, 2500..6000usize]
}
