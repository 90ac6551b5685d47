//! Who gets which name.

use super::super::fixture::{at, inventory, invs, project, refused, shown};
use super::*;
use crate::inventory::model::ProjectFile;
use crate::inventory::template::{FastboneTemplate, ShortnameTemplate};

/// The outcome of giving names at two o'clock.
fn given<const N: usize>(
    inventory: &Inventory,
    hosts: [u64; N],
    holding: NameHandling,
    to: Option<&str>,
) -> NamesOutcome {
    let giving = AllocationTerms { holding, to: to.map(|id| project(inventory, id)), now: at("02:00:00") };
    let mut taken = TakenNames::by_hosts(inventory, giving.now);
    taken.add_live_name(b"x8");
    allocate(inventory, &mut taken, &invs(hosts), giving)
}

/// The names that hosts have then.
fn names(outcome: &NamesOutcome) -> Vec<(u64, String)> {
    let name = |naming: &NameChange| (naming.inv.0, naming.after.as_ref().unwrap().to_string());
    outcome.namings.iter().map(name).collect()
}

#[test]
fn the_lowest_number_whose_fastbone_is_free_too_is_given_in_order() {
    let hosts = [
        "1,,search,assigned,SAS",
        "2,,search,assigned,sas",
        "3,fb-sas2.web.example,web,assigned,sas",
        "4,sas1.old.example,search,free,sas",
        "5,,search,assigned,myt",
    ];
    let outcome = given(&inventory(&hosts, &[]), [1, 2, 5], NameHandling::Keep, None);
    let wanted = [(1, "sas3.search.example."), (2, "sas4.search.example."), (5, "myt1.search.example.")];
    assert_eq!(names(&outcome), wanted.map(|(inv, name)| (inv, name.to_owned())));
}

#[test]
fn a_template_that_is_used_up_says_how_many_names_it_allows_and_who_has_them() {
    let mut hosts = vec!["1,x1.web.example,web,assigned,sas", "2,free.web.example,web,assigned,sas"];
    hosts.extend(["11,,web,assigned,sas", "12,,web,assigned,sas", "13,,web,assigned,sas", "14,,web,assigned,sas"]);
    hosts.extend(["15,,web,assigned,myt", "16,,web,assigned,myt", "17,,web,assigned,sas", "18,,web,assigned,sas"]);
    let lock = ["3 x2.web.example web 00:10:00 01:00:00", "4 x3.web.example web 00:10:00 00:59:59"];
    let outcome = given(&inventory(&hosts, &lock), [11, 12, 13, 14, 15, 16, 17, 18], NameHandling::Keep, None);
    let last = outcome.namings.last().unwrap().after.clone().unwrap();
    assert_eq!((outcome.namings.len(), last.to_string()), (6, "x9.web.example.".to_owned()));
    let expected = "`x{index:01}` allows 9 names, and all are taken: 1 held, 1 given up less than `name_cooldown` \
                ago, 1 in live DNS, 6 given now";
    assert_eq!(refused(&outcome), [(17, "template-exhausted"), (18, "template-exhausted")]);
    assert!(outcome.refused.iter().all(|refusal| refusal.message == expected), "{:?}", outcome.refused);

    let names: Vec<String> = (1..=9).map(|at| format!("{at},sas{at}.search.example,search,assigned,sas")).collect();
    let hosts: Vec<&str> = names.iter().map(String::as_str).chain(["11,,search,assigned,SAS"]).collect();
    let outcome = given(&inventory(&hosts, &[]), [11], NameHandling::Keep, None);
    let expected = "`{location}{index:01}` at `sas` allows 9 names, and all are taken: 9 held";
    assert_eq!(outcome.refused[0].message, expected);
}

#[test]
fn a_host_that_gets_no_name_uses_no_number_up() {
    let hosts = ["1,web9.web.example,search,assigned,sas", "2,sas7x.search.example,search,assigned,sas"];
    let outcome = given(&inventory(&hosts, &[]), [1, 2], NameHandling::Rename, None);
    assert_eq!(refused(&outcome), [(1, "foreign-domain")]);
    assert_eq!(names(&outcome), [(2, "sas1.search.example.".to_owned())]);
}

#[test]
fn a_name_whose_fastbone_would_be_too_long_is_not_given() {
    let outcome = given(&inventory(&["1,,long,assigned,sas"], &[]), [1], NameHandling::Keep, None);
    assert_eq!(refused(&outcome), [(1, "bad-template")]);
    assert!(outcome.refused[0].message.contains("would be a name with"), "{:?}", outcome.refused);
    assert!(outcome.edits.is_empty());
}

#[test]
fn a_host_keeps_what_fits_and_is_its_alone_and_gives_up_the_rest() {
    let hosts = [
        "1,sas5.search.example,search,assigned,sas",
        "2,odd.old.example,search,assigned,sas",
        "3,sas6.search.example,search,assigned,sas",
        "4,sas6.web.example,web,assigned,sas",
    ];
    let inventory = inventory(&hosts, &[]);
    let outcome = given(&inventory, [1, 2, 3], NameHandling::Rename, None);
    assert_eq!(outcome.settled.iter().map(|it| it.inv.0).collect::<Vec<_>>(), [1]);
    let rows = [
        "2 odd.old.example. search 02:00:00 02:00:00",
        "2 sas1.search.example. search 02:00:00 -",
        "3 sas6.search.example. search 02:00:00 02:00:00",
        "3 sas2.search.example. search 02:00:00 -",
    ];
    assert_eq!(shown(&outcome.edits).0, rows);
}

#[test]
fn a_host_gives_up_a_name_whose_fastbones_another_has_also_where_a_third_had_the_name_itself() {
    let hosts = ["1,,search,assigned,sas", "2,,search,assigned,sas", "3,fb-sas1.web.example,web,assigned,sas"];
    let current = "1 sas1.search.example search 00:10:00 -";
    let released = "2 sas1.search.example search 00:10:00 01:30:00";
    let outcome = given(&inventory(&hosts, &[current, released]), [1], NameHandling::Rename, None);
    assert_eq!(names(&outcome), [(1, "sas2.search.example.".to_owned())]);
}

#[test]
fn a_host_moves_with_its_name_where_nobody_has_that_or_its_new_fastbone() {
    let hosts = [
        "1,sas1.search.example,search,assigned,sas",
        "2,sas2.search.example,search,assigned,sas",
        "3,sas2f.web.example,web,assigned,sas",
        "4,sas1.old.example,search,assigned,sas",
        "5,sas5.search.example,search,assigned,sas",
        "6,sas6.old.example,search,assigned,sas",
    ];
    let inventory = inventory(&hosts, &["5 sas5.search.example search 00:10:00 -"]);
    let outcome = given(&inventory, [1, 2, 5, 6], NameHandling::Keep, Some("web"));
    assert_eq!(refused(&outcome), [(1, "name-taken"), (2, "name-taken"), (6, "foreign-domain")]);
    assert_eq!(shown(&outcome.edits), (vec!["5 sas5.search.example. web 00:10:00 -".to_owned()], vec![0]));
    assert!(outcome.namings[0].note.is_some(), "hosts.csv is to follow");
}

#[test]
fn a_host_does_not_move_where_its_new_fastbone_would_shadow_what_live_dns_holds() {
    let hosts = [
        "1,sas1.search.example,search,assigned,sas",
        "2,sas2.search.example,search,assigned,sas",
        "3,sas3.search.example,web,assigned,sas",
    ];
    let lock = ["3 sas3.search.example search 00:10:00 -"];
    let inventory = inventory(&hosts, &lock);
    let now = at("02:00:00");
    let giving = AllocationTerms { holding: NameHandling::Keep, to: Some(project(&inventory, "web")), now };
    let mut taken = TakenNames::by_hosts(&inventory, now);
    [b"sas1f", b"sas3f"].into_iter().for_each(|label| taken.add_live_name(label));
    let (outcome, candidates) = allocate_and_tell(&inventory, &mut taken, &invs([1, 2, 3]), giving);
    assert_eq!(refused(&outcome), [(1, "name-taken")], "that of 3 may be its own: hosts.csv has it in `web` already");
    assert!(outcome.refused[0].message.contains("live DNS has a record at `sas1f`"), "{:?}", outcome.refused);
    assert_eq!(candidates.given, [b"sas2f".to_vec()], "a zone may have to be asked for it first");
}

#[test]
fn projects_whose_fastbones_differ_use_no_numbers_of_each_other_up() {
    let hosts = ["1,,search,assigned,sas", "2,,web,assigned,sas", "3,xx1.search.example,search,assigned,sas"];
    let mut inventory = inventory(&hosts, &[]);
    for (id, fastbone) in [("search", "x{shortname}"), ("web", "{shortname}x")] {
        let place = project(&inventory, id).0 as usize;
        let ProjectFile::Good(settings) = &mut inventory.projects[place].file else { panic!("{id} is good") };
        settings.shortname_template = ShortnameTemplate::parse("x{index}").unwrap();
        settings.fastbone_name = FastboneTemplate::parse(fastbone).unwrap();
    }
    let outcome = given(&inventory, [1, 2], NameHandling::Keep, None);
    let wanted = [(1, "x2.search.example."), (2, "x1.web.example.")];
    assert_eq!(names(&outcome), wanted.map(|(inv, name)| (inv, name.to_owned())));
}

#[test]
fn until_hosts_csv_follows_a_host_has_the_fastbones_of_both_projects() {
    let hosts =
        ["1,,search,assigned,sas", "2,fb-x1.web.example,web,assigned,sas", "3,x2f.web.example,web,assigned,sas"];
    let outcome = given(&inventory(&hosts, &[]), [1], NameHandling::Replace, Some("web"));
    assert_eq!(names(&outcome), [(1, "x3.web.example.".to_owned())]);
}
