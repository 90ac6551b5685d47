//! What a report says, that it is whole at any size, and that what comes from input means nothing in it.

mod parsed;
mod random;
mod sums;

use proptest::prelude::*;

use self::parsed::parse;
use self::random::MARKER;
use super::*;
use crate::apply::Refusal;
use crate::dns::Rtype;
use crate::plan::{CauseKind, Rule, fixture};

/// A report of a plan in so many octets, with digests that need no work.
fn report((plan, outlook): &(Plan, Outlook), is_view: bool, max: usize) -> String {
    let review = review::of_plan(plan);
    let mut total = Counts::default();
    plan.changes.iter().for_each(|change| total.count(change));
    let digests = [format!("sha256:{}", "1".repeat(64)), format!("sha256:{}", "2".repeat(64))];
    let (review, causes) = (review.as_ref(), Causes::new(plan, review.as_ref()));
    page(&Subject { plan, id: &digests[0], effect: &digests[1], outlook, is_view, review, causes, total }, max)
}

/// What is known of a plan that is in a file.
fn saved() -> Outlook {
    Outlook { file: Some("plan.json".to_owned()), ..Outlook::default() }
}

#[test]
fn a_plan_reads_well() {
    insta::assert_snapshot!(report(&(fixture::reviewed(), saved()), false, MAX), @"");
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
    plan.notices.retain(|notice| !verdict::tells_of_less(notice));
    plan
}

#[test]
fn a_large_plan_shows_what_matters_and_examples_of_the_rest() {
    let outlook = Outlook { url: Some("https://ci.example.net/runs/17".to_owned()), ..saved() };
    let text = report(&(large(), outlook), false, MAX);
    assert!(text.len() <= MAX && text.len() > MAX - 500, "{}", text.len());
    let first: Vec<&str> = text.lines().take(4).collect();
    assert_eq!(first[..2], ["<!-- zonewright plan -->", "### ⚠️ DNS plan: 5014 changes of 1255 hosts in 5 zones"]);
    let in_lists = text.lines().filter(|line| line.starts_with("@@ ")).count();
    assert!(in_lists > 150 && text.matches("\n<details>\n").count() == 7, "{in_lists} hosts: {text}");
    let cut = text.lines().find(|line| line.starts_with("**Cut to fit here:**")).unwrap();
    assert!(cut.ends_with("All of it: <https://ci.example.net/runs/17> or `zonewright show plan.json`."), "{cut}");
}

#[test]
fn a_thousand_octets_still_tell_the_verdict_and_how_much_is_left_out() {
    insta::assert_snapshot!(report(&(fixture::reviewed(), saved()), false, 1000), @"");
}

#[test]
fn what_there_is_to_apply_decides_how_a_report_ends() {
    let end = |plan: Plan, outlook: &Outlook, is_view| {
        let text = report(&(plan, outlook.clone()), is_view, MAX);
        let heading = text.lines().nth(1).unwrap().to_owned();
        (heading, text.split_once("\n---\n\n").unwrap().1.replace(&"2".repeat(64), "E").replace(&"1".repeat(64), "I"))
    };
    let (heading, idle) = end(fixture::empty(), &saved(), false);
    assert_eq!(
        (heading.as_str(), idle.as_str()),
        ("### ✅ DNS plan: nothing to do", "Plan `sha256:I`, effect `sha256:E`.\n")
    );
    let (_, view) = end(large(), &saved(), true);
    assert!(view.ends_with("Plan `sha256:I`, effect `sha256:E`. A view cannot be applied.\n"), "{view}");
    let (_, unsaved) = end(large(), &Outlook::default(), false);
    assert!(unsaved.contains("All of it: `zonewright plan`, without `--format`.\n"), "{unsaved}");
    assert!(unsaved.ends_with("```sh\nzonewright apply FILE --expect sha256:E\n```\n"), "{unsaved}");
    let (_, spaced) = end(large(), &Outlook { file: Some("my plan.json".to_owned()), ..saved() }, false);
    assert!(spaced.contains("\nzonewright apply 'my plan.json' --expect sha256:E\n"), "{spaced}");
}

#[test]
fn the_guard_that_refuses_a_plan_is_named() {
    let refused = |code, message: &str| {
        let refusal = Refusal { place: "x".into(), code, message: message.into(), hint: Some("`reset` it".into()) };
        let text = report(&(large(), Outlook { refusal: Some(refusal), ..saved() }), false, MAX);
        let told = text.lines().find(|line| line.starts_with("- ")).unwrap().to_owned();
        (text.lines().nth(1).unwrap().to_owned(), told)
    };
    let (heading, told) = refused("breaker-tripped", "the breaker `project:web` is tripped");
    assert_eq!(heading, "### ⛔ DNS plan refused: a breaker is tripped");
    assert_eq!(told, "- **breaker tripped:** ``the breaker `project:web` is tripped``; `` `reset` it ``");
    let (heading, _) = refused("limit-exceeded", "more than it saw itself");
    assert_eq!(heading, "### ⛔ DNS plan refused: a limit is exceeded");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(plans()) })]

    #[test]
    fn whatever_comes_from_input_is_in_code(recipe in random::hostile(), max in sizes(), is_view: bool) {
        let made = recipe.made();
        let text = report(&made, is_view, max);
        prop_assert!(text.len() <= max, "{} of {max}: {text}", text.len());
        let parsed = parse(&text);
        let words = parsed.words.to_lowercase();
        prop_assert!(!words.contains(&MARKER.to_lowercase()), "{words}\n\n{text}");
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

/// How many octets a report may have: what a comment may, or less.
fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![Just(MAX), 1000..=MAX, 1000..6000usize]
}
