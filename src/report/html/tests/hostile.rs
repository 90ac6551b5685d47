//! Hostile values: no text in a plan changes the structure of the page.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::decoded::{decoded, expected};
use super::parsed::Parsed;
use super::*;
use crate::diag::{Problem, sanitize};
use crate::dns::{Name, Rdata, RrKey, Rrset, Rtype, Ttl, ZoneName};
use crate::inventory::value::Inv;
use crate::plan::{BlockCode, Change, ChangeKind, ComparisonBase, PlanScope, SkipCode, SourceSeen};

/// What ends, begins or hides something in HTML, JSON, scripts or templates.
const PIECES: [&str; 24] = [
    "</script>",
    "<script>alert(1)</script>",
    "<!--",
    "-->",
    "<!-- <script>",
    "]]>",
    "<img src=x onerror=alert(1)>",
    "</title>",
    "</style>",
    "</svg>",
    "\" onload=\"x",
    "' onload='x",
    "&lt;",
    "&#60;",
    "`",
    "``",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "\u{2028}",
    "\u{202e}",
    "\0",
    "\n",
    "\\u003c/script>",
    "{\"data\":\"goes here\"}",
];

/// Texts that would do harm, and any others.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![3 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned), 1 => ".{0,6}"];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

/// The fixture with a text behind everything that came from input. What is in front keeps the order.
fn plan_with(text: &str) -> Plan {
    let with = |value: &str| format!("{value}{text}");
    let mut plan = fixture::reviewed();
    plan.tool = with("zonewright");
    plan.only = PlanScope::new([Inv(7)], &[with("search")]);
    for change in &mut plan.changes {
        change.project = with(&change.project);
        change.reasons.iter_mut().flat_map(|reason| &mut reason.evidence).for_each(|place| *place = with(place));
    }
    plan.changes.extend(hostile_change(text));
    let review = plan.review.as_mut().unwrap();
    review.against = ComparisonBase::Base { name: with("origin"), commit: Some(with("3f2a")) };
    for cause in &mut review.causes {
        cause.says = with(&cause.says);
        cause.places.iter_mut().for_each(|place| *place = with(place));
    }
    // The new change is last, because its project is.
    review.causes[0].changes.push(14);
    for blocked in &mut plan.blocked {
        blocked.project = with(&blocked.project);
        blocked.message = with(&blocked.message);
        blocked.hint = with(&blocked.hint);
    }
    plan.skipped.iter_mut().for_each(|skipped| skipped.project = with(&skipped.project));
    for notice in &mut plan.notices {
        (notice.name, notice.message) = (with(&notice.name), with(&notice.message));
    }
    for limit in &mut plan.limits {
        (limit.scope, limit.period, limit.cause) = (with(&limit.scope), with(&limit.period), Some(with("a")));
    }
    plan.sources.iter_mut().for_each(|SourceSeen { source, .. }| *source = with(source));
    assert!(plan.blocked.iter().any(|blocked| blocked.code == BlockCode::NotOwner));
    assert!(plan.skipped.iter().any(|skipped| skipped.code == SkipCode::Restricted));
    plan
}

/// A change of an RRset whose owner and data are made of a text.
fn hostile_change(text: &str) -> Option<Change> {
    let zone = ZoneName::new(Name::parse("search.example.net").unwrap());
    let label: Vec<u8> = [b"x", text.as_bytes()].concat().into_iter().take(63).collect();
    let name = Name::prepend(&label, zone.as_name()).unwrap();
    let cut = |text: &str| text.chars().take(60).collect::<String>();
    let after = Rrset::new(Ttl::from_secs(600).unwrap(), vec![Rdata::from_text(&cut(text)).unwrap()]).unwrap();
    Some(Change {
        key: RrKey { owner: zone.owner(name.as_name())?, rtype: Rtype::TXT },
        zone,
        pool: fixture::pool(),
        subject: fixture::subject(Some(u64::MAX)),
        also: vec![fixture::subject(Some(u64::MAX - 1))],
        registers: None,
        via: None,
        targets: Vec::new(),
        project: format!("zz{text}"),
        kind: ChangeKind::Create { after },
        reasons: vec![fixture::reason(crate::plan::Rule::Registry, None, &[text])],
    })
}

/// The elements of a page, without the code that text in backticks becomes.
fn shapes(page: &Parsed) -> Vec<String> {
    page.elements.iter().filter(|element| element.name != "code").map(parsed::Element::shape).collect()
}

/// The shape of the page of harmless values.
static HARMLESS: LazyLock<Vec<String>> = LazyLock::new(|| shapes(&Parsed::new(&page_with(""))));

/// The page in which a text is in every place that can have one.
fn page_with(text: &str) -> String {
    let refusal = Problem::new(format!("plan{text}"), "breaker-tripped", format!("a breaker is tripped: {text}"))
        .hint(format!("reset it: {text}"));
    let (file, url) = (Some(format!("plan{text}.json")), Some(format!("at {text}")));
    page_of(
        plan_with(text),
        &PlanOutlook {
            file,
            url,
            refusal: Some(refusal),
            hidden: Some(7),
            command: None,
            source_url: None,
            is_unsaved: false,
            idle: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_value_makes_an_element_or_an_attribute(text in hostile()) {
        let page = Parsed::new(&page_with(&text));
        prop_assert_eq!(&page.faults, &[""; 0]);
        prop_assert_eq!(&shapes(&page), &*HARMLESS);
        let shown = page.all("figure").map(|figure| figure.text.as_str()).collect::<String>();
        let project = sanitize(&["web", &text].concat());
        prop_assert!(shown.contains(&project));
        prop_assert_eq!(decoded(&page.by_id("data").text), expected(SealedPlan::new(plan_with(&text)).plan()));
    }
}
