//! In which order files come and go, and what stays.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::workspace::{EDGE, LABEL, Manifests, Workspace, app, fresh, list, table};

const WEB: (&str, &str, &str) = ("web", "web.example.net", "192.0.2.10");
const ENDPOINT: &str = "dnsendpoint_shop_web-edge.yaml";
const PROGRAM: &str = "external-dns_edge.yaml";

/// The users of a record, by its Deployment.
fn used_by(folder: &Manifests) -> &str {
    let line = folder.0[PROGRAM].lines().find_map(|line| line.trim().strip_prefix("zonewright.dev/used-by: "));
    line.expect("the annotation is there").trim_matches('"')
}

/// A workspace in which external-dns carries `edge` out, with the app `shop`, and its folder.
fn in_use() -> (Workspace, Manifests) {
    let workspace = Workspace::new(&table("edge", "external-dns"));
    workspace.write("apps/shop.yaml", &app("shop", "shop", &[WEB]));
    let folder = fresh(&workspace.wishes());
    assert_eq!(folder.names(), [ENDPOINT, PROGRAM]);
    (workspace, folder)
}

/// One whole call; gives the names of the files that it wrote or removed.
fn call(workspace: &Workspace, folder: &mut Manifests) -> Vec<String> {
    let plan = folder.call(&workspace.wishes(), usize::MAX);
    plan.steps.into_iter().map(|step| step.file).collect()
}

#[test]
fn the_last_app_leaves_in_two_calls() {
    let (workspace, mut folder) = in_use();
    workspace.write("apps/also.yaml", &app("also", "shop", &[("api", "api.example.net", "192.0.2.11")]));
    call(&workspace, &mut folder);
    assert_eq!(used_by(&folder), "also-bundle/v1/prod,shop-bundle/v1/prod");
    workspace.remove("apps/also.yaml");
    call(&workspace, &mut folder);
    assert_eq!((used_by(&folder), folder.names()), ("shop-bundle/v1/prod", vec![ENDPOINT, PROGRAM]));
    workspace.remove("apps/shop.yaml");
    assert_eq!(call(&workspace, &mut folder), [ENDPOINT, PROGRAM]);
    assert_eq!((used_by(&folder), folder.names()), ("", vec![PROGRAM]));
    assert_eq!(call(&workspace, &mut folder), [PROGRAM]);
    assert!(folder.0.is_empty() && call(&workspace, &mut folder).is_empty());
}

#[test]
fn zonewright_takes_over_without_a_deletion() {
    let (workspace, mut folder) = in_use();
    let other = Workspace::new(&table("edge", "zonewright"));
    assert_eq!(call(&other, &mut folder), [PROGRAM]);
    assert_eq!(call(&other, &mut folder), [ENDPOINT]);
    // Back again, the endpoints come first.
    assert_eq!(call(&workspace, &mut folder), [ENDPOINT, PROGRAM]);
}

#[test]
fn a_record_gets_another_name_or_namespace_without_a_deletion() {
    let (workspace, mut folder) = in_use();
    let released = Workspace::new(&table("edge", "zonewright"));
    // What is in use goes before its endpoints, and all of it before the new name comes.
    assert_eq!(call(&released, &mut folder), [PROGRAM]);
    assert_eq!(call(&released, &mut folder), [ENDPOINT]);
    assert!(folder.0.is_empty());
    let other = Workspace::new(&format!("{}namespace = \"far\"\n", table("public", "external-dns")));
    other.write("records/edge.yaml", &EDGE.replace("name: edge", "name: public"));
    other.write("logical-clouds/lc1.yaml", &list(&["public"]));
    other.write("apps/shop.yaml", &app("shop", "shop", &[WEB]));
    call(&other, &mut folder);
    let program = &folder.0["external-dns_public.yaml"];
    assert!(program.contains("--txt-owner-id=shop") && program.contains("namespace: far"), "{program}");
    // At once, the files of the old name stay, and it is said.
    let mut folder = fresh(&workspace.wishes());
    let plan = folder.call(&other.wishes(), usize::MAX);
    assert_eq!((folder.0.len(), plan.held.len()), (4, 2), "{plan:?}");
}

#[test]
fn the_namespace_is_an_argument_where_all_endpoints_have_it() {
    let (workspace, mut folder) = in_use();
    assert!(folder.0[PROGRAM].contains("--namespace=shop"));
    workspace.write("apps/far.yaml", &app("far", "far", &[("far", "far.example.net", "192.0.2.12")]));
    call(&workspace, &mut folder);
    assert!(!folder.0[PROGRAM].contains("--namespace="));
    // What cannot be read may be in the other namespace still.
    workspace.write("apps/far.yaml", "app: far\n");
    call(&workspace, &mut folder);
    assert!(!folder.0[PROGRAM].contains("--namespace=") && folder.0.len() == 3);
    workspace.remove("apps/far.yaml");
    call(&workspace, &mut folder);
    assert!(folder.0[PROGRAM].contains("--namespace=shop"));
}

/// What stays of a folder where an edit blocks something: files that one call changes, and what it says.
fn blocked(edit: impl Fn(&Workspace)) -> (Vec<String>, String) {
    let (workspace, mut folder) = in_use();
    edit(&workspace);
    let wishes = workspace.wishes();
    let before = folder.clone();
    let plan = folder.call(&wishes, usize::MAX);
    assert!(before.names().iter().all(|name| folder.0.contains_key(*name)), "nothing is removed");
    let left = if before.0 == folder.0 { before.0.len() } else { 0 };
    assert!(plan.kept + plan.unchanged + plan.held.len() >= left, "all files are counted: {plan:?}");
    let held = wishes.held.iter().map(|held| held.message.clone()).chain(plan.held.iter().map(|held| held.why.clone()));
    (plan.steps.into_iter().map(|step| step.file).collect(), held.collect::<Vec<_>>().join("; "))
}

#[test]
fn what_is_blocked_keeps_its_files() {
    let shop = |services: &[(&str, &str, &str)]| app("shop", "shop", services);
    let none: [String; 0] = [];
    // The record, or its project.
    let (steps, said) = blocked(|own| own.write("records/edge.yaml", &EDGE.replace("sync", "sink")));
    assert!(steps == none && said.contains("stay as they are"), "{steps:?} {said}");
    let (steps, said) =
        blocked(|own| own.write("records/edge.yaml", &EDGE.replace("insecure: true", "insecure: false")));
    assert!(steps == none && said.contains("which key"), "{steps:?} {said}");
    let (steps, said) =
        blocked(|own| own.write("projects/web.yaml", "id: web\nvlan_scheme: none\nautomation: false\n"));
    assert!(steps == none && said.contains("stay as they are"), "{steps:?} {said}");
    let (steps, said) = blocked(|own| own.remove("records/edge.yaml"));
    assert!(steps == none && said.contains("no file has"), "{steps:?} {said}");
    // The service.
    let (steps, said) = blocked(|own| own.write("clusters/c1.yaml", &list(&["edge"])));
    assert!(steps == none && said.contains("lists of the logical cloud and of the cluster"), "{steps:?} {said}");
    let (steps, said) =
        blocked(|own| own.write("apps/shop.yaml", &shop(&[WEB]).replace("scope: public", "scope: cluster")));
    assert!(steps == none && said.contains("no public address"), "{steps:?} {said}");
    let (steps, said) = blocked(|own| own.write("apps/shop.yaml", &shop(&[("web", "web.example.org", "192.0.2.10")])));
    assert!(steps == none && said.contains("no domain"), "{steps:?} {said}");
    let twin = app("twin", "shop", &[("web", "twin.example.net", "192.0.2.11")]);
    let (steps, said) = blocked(|own| own.write("apps/twin.yaml", &twin));
    assert!(steps == [PROGRAM] && said.contains("is stated at"), "{steps:?} {said}");
    let rival = app("rival", "shop", &[("rival", "web.example.net", "192.0.2.11")]);
    let (steps, said) = blocked(|own| own.write("apps/rival.yaml", &rival));
    assert!(steps == [PROGRAM] && said.contains("states something else"), "{steps:?} {said}");
    // An app that cannot be read keeps all that may be its own; what is right goes on.
    let (steps, said) = blocked(|own| own.write("apps/shop.yaml", "app: shop\n"));
    assert!(steps == none && said.contains("is removed while"), "{steps:?} {said}");
    let (steps, _) = blocked(|own| {
        own.write("apps/shop.yaml", "app: shop\n");
        own.write("apps/new.yaml", &app("new", "shop", &[("new", "new.example.net", "192.0.2.12")]));
    });
    assert!(steps == ["dnsendpoint_shop_new-edge.yaml", PROGRAM], "{steps:?}");
}

#[test]
fn files_that_are_not_ours_stay() {
    let (workspace, folder) = in_use();
    let endpoint = &folder.0[ENDPOINT];
    for (strange, why) in [
        (String::new(), "it is empty"),
        ("kind: [".to_owned(), "line 1 cannot be read as YAML"),
        ("# nothing\n".to_owned(), "it has no object"),
        (endpoint.replace(LABEL, "other"), "its object in line 2 does not have the label"),
        (endpoint.replace("name: web-edge", "name: x"), "it has the DNSEndpoint `shop/x`, which has another file"),
        (endpoint.replace("DNSEndpoint", "Pod"), "it is neither a DNSEndpoint nor"),
        (format!("{endpoint}<<<<<<< HEAD\n"), "it has the marks of a merge conflict"),
        (endpoint[..endpoint.len() / 2].to_owned() + "\n  x: [", "cannot be read as YAML"),
    ] {
        let mut folder = folder.clone();
        folder.0.insert(ENDPOINT.to_owned(), strange.clone());
        let plan = folder.call(&workspace.wishes(), usize::MAX);
        assert_eq!((&folder.0[ENDPOINT], plan.steps.len(), plan.unchanged), (&strange, 0, 1));
        assert!(plan.held[0].why.contains(why) && plan.held[0].why.contains("delete it, and run again"), "{plan:?}");
        // The way out.
        folder.0.remove(ENDPOINT);
        folder.call(&workspace.wishes(), usize::MAX);
        assert_eq!(&folder.0[ENDPOINT], endpoint);
        // An external-dns that is not there is not made: it could take the endpoint for one that is gone.
        folder.0.insert(ENDPOINT.to_owned(), strange);
        folder.0.remove(PROGRAM);
        let plan = folder.call(&workspace.wishes(), usize::MAX);
        assert_eq!((plan.steps.len(), plan.held.len()), (0, 2), "{plan:?}");
    }
    // A labelled manifest of another name is one that a person wrote.
    let mut folder = folder;
    folder.0.insert("own.yaml".to_owned(), folder.0[ENDPOINT].replace("web-edge", "own"));
    assert!(call(&workspace, &mut folder).is_empty());
}

#[test]
fn a_file_of_an_unknown_record_is_not_replaced() {
    let (workspace, mut folder) = in_use();
    let other = folder.0[ENDPOINT].replace(&format!("{LABEL}: edge"), &format!("{LABEL}: gone"));
    folder.0.insert(ENDPOINT.to_owned(), other);
    let plan = folder.call(&workspace.wishes(), usize::MAX);
    assert!(
        plan.held.len() == 1 && plan.held[0].why.contains("names the record `gone`, which no file has"),
        "{plan:?}"
    );
}

#[test]
fn a_damaged_external_dns_goes_before_its_endpoints() {
    let (_, folder) = in_use();
    let other = Workspace::new(&table("edge", "zonewright"));
    for damaged in ["", "kind: [", &format!("{}<<<<<<< HEAD\n", folder.0[PROGRAM])] {
        let mut folder = folder.clone();
        folder.0.insert(PROGRAM.to_owned(), damaged.to_owned());
        let plan = folder.call(&other.wishes(), usize::MAX);
        assert!(plan.steps.is_empty() && plan.kept == 1, "{plan:?}");
        assert!(plan.held[0].why.contains("delete it, apply the folder, and run again"), "{plan:?}");
        folder.0.remove(PROGRAM);
        assert_eq!(call(&other, &mut folder), [ENDPOINT]);
    }
}

#[test]
fn an_external_dns_stays_while_an_endpoint_may_be_in_a_damaged_file() {
    let (workspace, mut folder) = in_use();
    workspace.remove("apps/shop.yaml");
    call(&workspace, &mut folder);
    assert_eq!((used_by(&folder), folder.names()), ("", vec![PROGRAM]));
    let damaged = "# Written by `zonewright render external-dns`, which replaces what is changed here.\nkind: [\n";
    folder.0.insert(ENDPOINT.to_owned(), damaged.to_owned());
    let plan = folder.call(&workspace.wishes(), usize::MAX);
    assert!(plan.steps.is_empty() && plan.held.len() == 2, "{plan:?}");
    assert!(plan.held.iter().any(|held| held.file == ENDPOINT && held.why.contains("restore it")), "{plan:?}");
    folder.0.remove(ENDPOINT);
    assert_eq!(call(&workspace, &mut folder), [PROGRAM]);
    // What never was ours holds nothing up.
    let (workspace, mut folder) = in_use();
    workspace.remove("apps/shop.yaml");
    folder.0.insert("dnsendpoint_own.yaml".to_owned(), "kind: Own\n".to_owned());
    call(&workspace, &mut folder);
    assert_eq!(call(&workspace, &mut folder), [PROGRAM]);
}

#[test]
fn annotations_that_kubernetes_refuses_are_not_written() {
    let (workspace, mut folder) = in_use();
    let long = "b".repeat(1 << 17);
    for number in 0..2 {
        let name = format!("app{number}");
        let services = [(name.as_str(), &*format!("{name}.example.net"), "192.0.2.20")];
        let text = app(&name, "shop", &services).replace(&format!("{name}-bundle"), &format!("{long}{number}"));
        workspace.write(&format!("apps/{name}.yaml"), &text);
    }
    let before = folder.0[PROGRAM].clone();
    let plan = folder.call(&workspace.wishes(), usize::MAX);
    assert_eq!((plan.steps.len(), &folder.0[PROGRAM]), (2, &before));
    assert!(plan.held[0].why.contains("Kubernetes takes annotations of 262144 octets in all"), "{plan:?}");
}

#[test]
fn an_endpoint_may_pass_to_a_record_that_makes_the_same_name() {
    let workspace = Workspace::new(&format!("{}{}", table("edge", "external-dns"), table("b-edge", "external-dns")));
    workspace.write("records/b.yaml", &EDGE.replace("{name: edge}", "{name: b-edge}"));
    workspace.write("logical-clouds/lc1.yaml", &list(&["b-edge"]));
    workspace.write("apps/shop.yaml", &app("shop", "shop", &[("a", "a.example.net", "192.0.2.10")]));
    let mut folder = fresh(&workspace.wishes());
    let file = "dnsendpoint_shop_a-b-edge.yaml";
    assert_eq!(folder.names(), [file, "external-dns_b-edge.yaml"]);
    workspace.write("logical-clouds/lc1.yaml", &list(&["edge"]));
    workspace.write("apps/shop.yaml", &app("shop", "shop", &[("a-b", "a.example.net", "192.0.2.10")]));
    let wishes = workspace.wishes();
    folder.call(&wishes, usize::MAX);
    assert!(folder.0[file].contains("dns-update-record: edge") && folder.0.len() == 3);
    folder.call(&wishes, usize::MAX);
    assert_eq!(folder, fresh(&wishes));
}

/// A change of a workspace.
#[derive(Debug, Clone)]
enum Edit {
    /// An app has these services, each with an address, or is gone.
    App(usize, Option<Vec<(usize, u8)>>),
    /// An app cannot be read.
    Broken(usize),
    /// The list names these records.
    List(Vec<&'static str>),
    /// What carries out `core`.
    Runner(&'static str),
}

fn edits() -> impl Strategy<Value = Edit> {
    let services = proptest::collection::btree_map(0..3_usize, 1..3_u8, 0..3);
    let services = services.prop_map(|services| services.into_iter().collect());
    let records = proptest::sample::subsequence(vec!["core", "edge"], 0..=2);
    prop_oneof![
        4 => (0..3_usize, proptest::option::of(services)).prop_map(|(app, services)| Edit::App(app, services)),
        1 => (0..3_usize).prop_map(Edit::Broken),
        1 => records.prop_map(Edit::List),
        1 => prop_oneof![Just("external-dns"), Just("zonewright")].prop_map(Edit::Runner),
    ]
}

/// Makes a change.
fn make(workspace: &Workspace, edit: &Edit) {
    match edit {
        Edit::App(number, services) => {
            let file = format!("apps/app{number}.yaml");
            let texts: Vec<[String; 3]> = services
                .iter()
                .flatten()
                .map(|(service, address)| {
                    let name = format!("s{number}{service}");
                    [name.clone(), format!("{name}.example.net"), format!("192.0.2.{address}")]
                })
                .collect();
            let services: Vec<(&str, &str, &str)> =
                texts.iter().map(|[name, host, address]| (name.as_str(), host.as_str(), address.as_str())).collect();
            // The last app is in another namespace.
            let namespace = if *number == 2 { "far" } else { "shop" };
            workspace.write(&file, &app(&format!("app{number}"), namespace, &services));
        }
        Edit::Broken(number) => workspace.write(&format!("apps/app{number}.yaml"), "app: broken\n"),
        Edit::List(records) => workspace.write("logical-clouds/lc1.yaml", &list(records)),
        Edit::Runner(by) => {
            let own = Workspace::new(&format!("{}{}", table("edge", "external-dns"), table("core", by)));
            let text = std::fs::read_to_string(own.path().join("zonewright.toml")).expect("settings");
            workspace.write("zonewright.toml", &text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_changes_end_in_what_an_empty_folder_would_get(
        changes in proptest::collection::vec((edits(), 0..8_usize), 1..12),
    ) {
        let workspace = Workspace::new("");
        workspace.write("records/core.yaml", &EDGE.replace("{name: edge}", "{name: core}"));
        make(&workspace, &Edit::Runner("external-dns"));
        let mut folder = Manifests([("own.yaml".to_owned(), "kind: Own\n".to_owned())].into());
        let mut broken = BTreeSet::new();
        for (edit, most) in &changes {
            make(&workspace, edit);
            match edit {
                Edit::Broken(number) => drop(broken.insert(*number)),
                Edit::App(number, _) => drop(broken.remove(number)),
                Edit::List(_) | Edit::Runner(_) => {}
            }
            let (wishes, before) = (workspace.wishes(), folder.clone());
            // A run may end early.
            folder.call(&wishes, *most);
            let gone: Vec<&str> =
                before.names().into_iter().filter(|name| !folder.0.contains_key(*name)).collect();
            let is_of_core = |name: &str| name.contains("core");
            // What cannot be read takes nothing with it, but where zonewright takes over.
            prop_assert!(broken.is_empty() || gone.iter().all(|name| is_of_core(name)), "{gone:?}");
            let leaves = gone.contains(&"external-dns_edge.yaml");
            prop_assert!(!leaves || !before.names().iter().any(|name| name.ends_with("-edge.yaml")), "the deleter outlives the endpoints");
        }
        for number in broken {
            make(&workspace, &Edit::App(number, None));
        }
        let wishes = workspace.wishes();
        prop_assert!(wishes.held.is_empty(), "{:?}", wishes.held);
        folder.call(&wishes, usize::MAX);
        folder.call(&wishes, usize::MAX);
        let mut wished = fresh(&wishes);
        wished.0.insert("own.yaml".to_owned(), "kind: Own\n".to_owned());
        prop_assert_eq!(&folder, &wished);
        prop_assert!(folder.call(&wishes, usize::MAX).steps.is_empty());
    }
}
