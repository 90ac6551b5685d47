//! What a page holds, found by a parser of HTML.

mod decoded;

mod hostile;

mod parsed;

use sha2::{Digest as _, Sha256};

use self::decoded::{decoded, expected};
use self::parsed::Parsed;
use super::*;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::inventory::value::Inv;
use crate::plan::{LimitState, Notice, NoticeCode, Plan, fixture};
use crate::report::SourceUrl;

/// The page of a plan.
fn page_of(plan: Plan, outlook: &PlanOutlook) -> String {
    render(&SealedPlan::new(plan), outlook)
}

/// Where the plan of most tests is.
fn outlook() -> PlanOutlook {
    let url = Some("https://ci.example.net/runs/17".to_owned());
    PlanOutlook { file: Some("plan.json".to_owned()), url, ..PlanOutlook::default() }
}

/// The text of the first heading.
fn headline(plan: Plan, outlook: &PlanOutlook) -> String {
    let page = Parsed::new(&page_of(plan, outlook));
    let heading = page.all("h1").next().unwrap();
    heading.text.clone()
}

/// The fixture without limits, and with a notice of this code.
fn with_notice(code: Option<NoticeCode>) -> Plan {
    let message = "it is not believed".to_owned();
    let notice = code.map(|code| Notice { code, name: "hosts".to_owned(), subject: None, message });
    Plan { limits: Vec::new(), notices: notice.into_iter().collect(), ..fixture::fleet() }
}

#[test]
fn the_verdict_stands_first() {
    let none = PlanOutlook::default();
    let refusal = |code| {
        let (place, message) = ("the plan".to_owned(), "it is".to_owned());
        PlanOutlook { refusal: Some(Problem::new(place, code, message)), ..PlanOutlook::default() }
    };
    let both = |plan: Plan, outlook: &PlanOutlook| {
        let page = Parsed::new(&page_of(plan, outlook));
        let heading = page.all("h1").next().unwrap().text.clone();
        (heading, page.all("p").find(|one| one.attribute("class").starts_with("state")).map(|one| one.text.clone()))
    };
    let state = |plan: Plan, outlook: &PlanOutlook| both(plan, outlook).1.unwrap();
    let counts = "Plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked, 1205 skipped";
    let ready = "Ready to apply to 5 of 62\u{202f}000 hosts; deletes 4 RRsets".to_owned();
    assert_eq!(both(with_notice(None), &none), (format!("\u{2713} {counts}"), Some(ready)));
    assert_eq!(both(fixture::empty(), &none), ("= No changes: live DNS matches the inventory".to_owned(), None));
    let blocked = Plan { blocked: fixture::fleet().blocked, ..fixture::empty() };
    assert_eq!(headline(blocked, &none), "= No changes for 62000 hosts; 50 blocked");
    let partial = state(with_notice(Some(NoticeCode::SourceUntrusted)), &none);
    assert_eq!(partial, "Not complete: some sources or zones could not be read, or are not trusted; deletes 4 RRsets");
    let refused = "Refused by the limit project:search/1h; deletes 4 RRsets";
    let short = "; no plan for what needs source eine, which could not be read";
    assert_eq!(headline(fixture::reviewed(), &none), format!("\u{2715} {counts}{short}"));
    assert_eq!(state(fixture::reviewed(), &none), refused);
    assert_eq!(state(fixture::reviewed(), &refusal("limit-exceeded")), refused);
    let tripped = state(with_notice(None), &refusal("breaker-tripped"));
    assert_eq!(tripped, "Refused by breaker-tripped; deletes 4 RRsets");
}

#[test]
fn the_verdict_stands_last_too() {
    let page = Parsed::new(&page_of(fixture::reviewed(), &outlook()));
    let last = page.all("p").last().unwrap();
    assert!(
        last.text.starts_with("\u{2715} Plan: 6 to create, ") && last.text.contains(". Refused by "),
        "{}",
        last.text
    );
}

#[test]
fn places_lead_to_their_lines_where_a_template_says_how() {
    let source_url = SourceUrl::parse("https://git.example.net/dns/{file}#L{line}").ok();
    let page = Parsed::new(&page_of(fixture::reviewed(), &PlanOutlook { source_url, ..outlook() }));
    let link = page.all("a").find(|one| one.text == "racktables/l3-tors.txt:412").unwrap();
    assert_eq!(link.attribute("href"), "https://git.example.net/dns/racktables/l3-tors.txt#L412");
    assert!(page.by_id("data").text.contains("\"source\":\"https://git.example.net/dns/{file}#L{line}\""));
}

#[test]
fn what_people_must_know_needs_no_script() {
    let page = Parsed::new(&page_of(fixture::reviewed(), &outlook()));
    let says = |name: &str, text: &str| assert!(page.all(name).any(|one| one.text.contains(text)), "{text}");
    says("li", "project:search/1h: 18 used + 3 planned = 21 hosts, but at most 20 may change");
    says("span", "--allow project:search/1h=21 lets it through");
    says("p", "Compared with origin/main, commit 3f2a3f2a3f2a.");
    says("li", "VLAN 604 of switch sas1-s12 moved from 2a02:6b8:0:1600::/64 to 2a02:6b8:0:160b::/64");
    says("li", "not explained by the differences");
    says("p", "1 change is not explained by the differences: check them first.");
    says("p", "1 host is blocked, and not with the base: 100002.");
    says("details", "racktables/l3-tors.txt:412: 2a02:6b8:0:1600::/63 is no /64");
    says("div", "see whether the host's agent runs and reports");
    says("details", "1203 hosts");
    says("li", "agents/eine-1.jsonl was cut");
    says("noscript", "The list of the 14 changes needs JavaScript. Without it zonewright show -v plan.json shows them");
    says("tr", "2026-11-19T20:10:00Z");
    says("tr", "search.example.net.");
    let effect = SealedPlan::new(fixture::reviewed()).effect().to_owned();
    says("dd", &format!("zonewright apply plan.json --expect {effect}"));
    let counts: Vec<&str> = page.all("dd").take(7).map(|count| count.text.as_str()).collect();
    assert_eq!(counts, ["14", "5", "6", "4", "4", "50", "1205"]);
}

#[test]
fn the_page_is_well_formed_and_asks_for_nothing() {
    for plan in [fixture::reviewed(), fixture::fleet(), fixture::empty()] {
        let page = Parsed::new(&page_of(plan, &outlook()));
        assert_eq!(page.faults, [""; 0]);
        let attributes = || page.elements.iter().flat_map(|element| &element.attributes);
        assert!(attributes().all(|(name, _)| !name.starts_with("on") && !matches!(name.as_str(), "src" | "style")));
        let leads = attributes().filter(|(name, _)| name.contains("href")).map(|(_, value)| value);
        let (here, away): (Vec<&String>, Vec<_>) = leads.partition(|value| value.starts_with('#'));
        assert_eq!(away, ["https://ci.example.net/runs/17"], "what the reader asked for");
        let is_in_it =
            |id: &&String| id.contains('=') || page.elements.iter().any(|one| one.attribute("id") == &id[1..]);
        assert!(here.iter().all(is_in_it), "{here:?}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    for word in [
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval",
        "Function(",
        "fetch",
        "XMLHttp",
        "import",
    ] {
        assert!(!SCRIPT.contains(word), "{word}");
    }
}

#[test]
fn ids_are_there_once_and_labels_lead_to_them() {
    let page = Parsed::new(&page_of(fixture::reviewed(), &outlook()));
    let mut ids: Vec<&str> = page.elements.iter().map(|one| one.attribute("id")).filter(|id| !id.is_empty()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    for name in ["for", "aria-labelledby", "aria-describedby"] {
        for one in page.elements.iter().flat_map(|one| one.attribute(name).split_whitespace()) {
            assert!(ids.contains(&one), "{name}={one}");
        }
    }
    let controls = page.elements.iter().filter(|one| matches!(one.name.as_str(), "input" | "select"));
    assert!(
        controls.map(|one| one.attribute("id")).all(|id| page.all("label").any(|label| label.attribute("for") == id))
    );
    assert!(
        page.all("svg").all(|one| one.attribute("role") == "img" && one.attribute("aria-labelledby").contains(' '))
    );
    assert_eq!(page.all("svg").count(), page.all("desc").count());
}

#[test]
fn the_policy_knows_the_style_and_the_script_of_the_page() {
    let page = Parsed::new(&page_of(fixture::reviewed(), &outlook()));
    let policy =
        page.all("meta").map(|meta| meta.attribute("content")).find(|text| text.contains("default-src")).unwrap();
    let style = page.all("style").next().unwrap();
    let script = page.all("script").find(|script| script.attributes.is_empty()).unwrap();
    assert_eq!(policy, policy::policy(&style.text, &script.text));
    assert_eq!(Sha256::digest(&script.text), Sha256::digest(SCRIPT));
    assert_eq!(page.all("script").count(), 2);
}

#[test]
fn the_data_tells_all_changes_of_the_plan() {
    for plan in [fixture::reviewed(), fixture::fleet()] {
        let sealed = SealedPlan::new(plan);
        let page = Parsed::new(&render(&sealed, &outlook()));
        assert_eq!(decoded(&page.by_id("data").text), expected(sealed.plan()));
    }
}

#[test]
fn the_bars_are_as_wide_as_the_plan_says() {
    let page = Parsed::new(&page_of(fixture::reviewed(), &PlanOutlook::default()));
    let widths = |from: &str, to: &str| {
        let place = |id: &str| page.elements.iter().position(|one| one.attribute("id") == id).unwrap();
        let rects = page.elements[place(from)..place(to)].iter().filter(|one| one.name == "rect");
        let drawn = rects.filter(|one| one.attribute("class") != "ground");
        drawn.map(|one| format!("{} {}", one.attribute("class"), one.attribute("width"))).collect::<Vec<_>>()
    };
    // Of ten changes of search four create, three modify and three delete; web has three, and lab has one.
    let projects =
        ["create 40.00%", "modify 30.00%", "delete 30.00%", "create 20.00%", "modify 10.00%", "delete 10.00%"];
    assert_eq!(widths("by-project", "by-location"), projects);
    // 18 used and 3 planned of 20, so that 21 fill the bar; 118 and 5 of 1000.
    assert_eq!(widths("limits-used", "ages"), ["used 85.71%", "over 14.29%", "used 11.80%", "planned 0.50%"]);
    // 15 minutes of an hour; 5 hours and 20 minutes of six hours.
    assert_eq!(widths("ages", "changes"), ["used 25.00%", "near 88.89%"]);
}

#[test]
fn long_lists_are_cut_and_say_so() {
    let limit = fixture::fleet().limits[0].clone();
    let limits =
        (0..450).map(|number| LimitState { scope: format!("project:p{number:03}"), ..limit.clone() }).collect();
    let page = Parsed::new(&page_of(Plan { limits, ..fixture::fleet() }, &outlook()));
    let limits = page.by_id("limits");
    assert!(limits.text.contains("and 250 more: zonewright show -v plan.json lists all"), "{}", limits.text);
    assert!(limits.text.contains("project:p199/1d") && !limits.text.contains("project:p200/1d"));
}

#[test]
fn what_is_said_of_each_host_of_a_target_is_said_once() {
    let notice = |code, name: &str, subject, message: String| Notice { code, name: name.to_owned(), subject, message };
    let of_host = |inv: u64| {
        let says = "no change at `b`: `web.example.net.` could not be read completely".to_owned();
        notice(NoticeCode::TargetUnknown, "b", Some(Subject::Host(Inv(inv))), says)
    };
    let of_zone = |number: u64| {
        let says = "the copy at `b` differs from the reference copy in 1 RRset that the plan leaves".to_owned();
        notice(NoticeCode::CopiesDiffer, &format!("z{number}.example.net."), None, says)
    };
    let down = notice(NoticeCode::TargetUnknown, "b", None, "`b` did not give `web.example.net.`: timeout".to_owned());
    let notices = [down].into_iter().chain((1..=2000).map(of_host)).chain((1..=1000).map(of_zone)).collect();
    let page = Parsed::new(&page_of(Plan { notices, ..fixture::fleet() }, &outlook()));
    let text = &page.by_id("notices").text;
    assert!(text.contains("2001 notices") && text.contains("1000 notices"), "{text}");
    assert_eq!(text.matches("could not be read completely").count(), 1, "{text}");
    assert!(text.contains("2000 hosts (1, 2, 3, 4, 5 and 1995 more)"), "{text}");
    assert_eq!(text.matches("the plan leaves").count(), 12 + 1, "a few examples, and what the code means: {text}");
    assert!(text.contains("and 988 more: zonewright show -v plan.json lists all"), "{text}");
}

#[test]
fn a_view_says_that_it_is_one() {
    let outlook = PlanOutlook { hidden: Some(7), ..PlanOutlook::default() };
    let page = render(&SealedPlan::new(fixture::fleet()), &outlook);
    assert!(page.contains("7 more changes of the plan are not shown"));
    let outlook = PlanOutlook { file: Some("plan.json".to_owned()), ..outlook };
    assert_eq!(
        headline(with_notice(None), &outlook),
        "\u{2026} Part of the plan: 6 to create, 4 to modify, 4 to delete for 5 of 62000 hosts; 50 blocked, 1205 skipped; 7 more changes not shown"
    );
    for plan in [fixture::empty(), with_notice(None)] {
        let page = page_of(plan, &outlook);
        assert!(!page.contains("zonewright apply"), "what is not shown would be applied with it");
        assert!(page.contains("a view cannot be applied: <code>zonewright show -v plan.json</code>"));
    }
    assert_eq!(
        headline(fixture::empty(), &outlook),
        "\u{2026} No changes in this part of the plan; 7 more changes not shown"
    );
}

#[test]
fn a_refused_plan_says_so_beside_the_command_and_what_could_not_be_read() {
    let page = page_of(fixture::reviewed(), &outlook());
    let below = page.split_once("<footer").unwrap().1;
    assert!(below.contains("refuses it until the problems above are fixed"), "{below}");
    let because = page.split_once("<ul class=\"because\">").unwrap().1.split_once("</ul>").unwrap().0;
    assert!(because.contains("was cut") && because.contains("eine"), "{because}");
}

#[test]
fn a_file_whose_name_cannot_be_shown_is_in_no_command() {
    let page =
        page_of(fixture::reviewed(), &PlanOutlook { file: Some("a\u{202e}\n;b".to_owned()), ..PlanOutlook::default() });
    assert!(page.contains("zonewright apply FILE --expect sha256:"));
    assert!(page.contains("zonewright show -v FILE"));
}
