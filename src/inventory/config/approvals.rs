//! The approvals that `[project.X]` of zonewright.toml asks for.

use std::collections::HashMap;

use super::shared::A_DURATION;
use crate::diag::did_you_mean;
use crate::inventory::approvals::{ApprovalTerms, DEFAULT_SERVICE};
use crate::inventory::cms::{CmsAction, CmsService};
use crate::inventory::node::{SettingsNode, TableReader};
use crate::inventory::value::Duration;

/// How many hosts of a project may be busy at a time where `max_busy_hosts` does not say.
const MAX_BUSY_HOSTS: usize = 5;

/// How many hosts are asked for ahead where `ask_ahead` does not say.
const ASK_AHEAD: usize = 10;

/// How long services are asked for a host where `give_up` does not say: a day.
const GIVE_UP: Duration = Duration::from_secs(86_400);

/// The keys that mean nothing without `cms`.
const REST: [&str; 4] = ["cms_actions", "max_busy_hosts", "ask_ahead", "give_up"];

/// What services may be asked for.
const ACTIONS: [CmsAction; 3] = [CmsAction::TemporaryUnreachable, CmsAction::Prepare, CmsAction::Deactivate];

/// Reads `cms` of a project and what goes with it; none where there is no `cms`, or where it has an error. `services` are
/// those of zonewright.toml, also by name alone where they have errors of their own.
pub fn read(project: &mut TableReader<'_>, services: &[(String, Option<CmsService>)]) -> Option<ApprovalTerms> {
    let Some(node) = project.take("cms") else {
        for key in REST {
            if let Some(node) = project.take(key) {
                let message = format!("`{key}` says how services are asked, and no `cms` says which");
                let error = project.source().error("bad-value", node.origin, node.width, message);
                project.push(error.hint("write `cms = [\"NAME\"]` of a `[cms.NAME]`, or leave the key out"));
            }
        }
        return None;
    };
    let services = read_services(node, services, project);
    let actions = project.take("cms_actions").map_or(Some(vec![CmsAction::TemporaryUnreachable]), |node| {
        let items = project.list_of(node)?;
        let words: Vec<(&str, CmsAction)> = ACTIONS.iter().map(|action| (action.as_str(), *action)).collect();
        let mut actions: Vec<CmsAction> = Vec::new();
        for item in items {
            let Some(action) = project.choice_of(item, &words) else { continue };
            if actions.contains(&action) {
                project.error(item, "bad-value", format!("`{}` is there twice, and once is enough", action.as_str()));
            } else {
                actions.push(action);
            }
        }
        if items.is_empty() {
            let message = "without an action no service is ever asked";
            let error = project.source().error("bad-value", node.origin, node.width, message);
            project.push(error.hint("name actions, or leave out `cms`"));
        }
        Some(actions)
    });
    let max_busy_hosts = read_number(project, "max_busy_hosts", 1).unwrap_or(MAX_BUSY_HOSTS);
    let ask_ahead = read_number(project, "ask_ahead", 0).unwrap_or(ASK_AHEAD);
    let give_up = read_give_up(project).unwrap_or(GIVE_UP);
    Some(ApprovalTerms {
        services: services?,
        actions: actions?,
        max_busy_hosts,
        ask_ahead,
        give_up,
        origin: node.origin,
    })
}

/// Reads the names of services, each once; gives them in the order in which they are asked.
fn read_services<'a>(
    node: &'a SettingsNode,
    services: &[(String, Option<CmsService>)],
    project: &mut TableReader<'a>,
) -> Option<Vec<String>> {
    let items = project.list_of(node)?;
    let mut asked: Vec<&str> = Vec::new();
    let mut urls: HashMap<&str, &str> = HashMap::new();
    for item in items {
        let Some(name) = project.text_of(item) else { continue };
        // A service with an error of its own is there: that error is all that is wrong.
        let declared = services.iter().find(|(own, _)| own == name);
        let same =
            declared.and_then(|(_, service)| service.as_ref()).and_then(|service| urls.insert(&service.url, name));
        if asked.contains(&name) {
            project.error(item, "bad-value", format!("`{name}` is there twice, and each service is asked once"));
        } else if declared.is_none() && name != DEFAULT_SERVICE {
            let message = format!("zonewright.toml has no `[cms.{name}]`");
            let known = services.iter().map(|(own, _)| own.as_str()).chain([DEFAULT_SERVICE]);
            let hint = did_you_mean(name, known);
            let hint = hint.unwrap_or_else(|| format!("add `[cms.{name}]` with `url` and `version`, or leave it out"));
            let error = project.source().error("bad-value", item.origin, item.width, message);
            project.push(error.hint(hint));
        } else if let Some(same) = same {
            let message = format!("`{name}` and `{same}` have one URL, and each service is asked once");
            let error = project.source().error("bad-value", item.origin, item.width, message);
            project.push(error.hint("leave out one of them"));
        } else {
            asked.push(name);
        }
    }
    if items.is_empty() {
        let error = project.source().error("bad-value", node.origin, node.width, "`cms` names no service");
        project.push(error.hint("name services, or leave out `cms`"));
    }
    // The service that is built in comes last: a host is busy from its `ok` on.
    asked.sort_unstable_by_key(|name| (*name == DEFAULT_SERVICE, *name));
    (!asked.is_empty()).then(|| asked.into_iter().map(str::to_owned).collect())
}

/// Reads a whole number from `least` on.
fn read_number(project: &mut TableReader<'_>, key: &'static str, least: usize) -> Option<usize> {
    let (node, number) = project.integer(key)?;
    let found = usize::try_from(number).ok().filter(|number| *number >= least);
    if found.is_none() {
        project.error(node, "bad-value", format!("`{number}` is too small: the least is {least}"));
    }
    found
}

/// Reads for how long services are asked: a host must have time to be asked for at all.
fn read_give_up(project: &mut TableReader<'_>) -> Option<Duration> {
    let node = project.take("give_up")?;
    let give_up = project.parse_node::<Duration>(node, A_DURATION)?;
    if give_up.as_secs() > 0 {
        return Some(give_up);
    }
    let message = "no host would ever be asked for long enough";
    let error = project.source().error("bad-value", node.origin, node.width, message);
    project.push(error.hint("give a time such as `1d`"));
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Files, render};
    use crate::inventory::config::{cms, toml};
    use crate::inventory::node::SourceText;

    /// Three services: two have one URL.
    const SERVICES: &str = "
[cms.shards]
url = \"https://cms.example.net/shards\"
version = \"v1.4\"
[cms.load]
url = \"https://cms.example.net/load\"
version = \"v1.0\"
[cms.other-load]
url = \"https://cms.example.net/load/\"
version = \"v1.1\"
";

    /// Reads the keys of a project that has these services; gives what they say, and what is wrong.
    fn read_with(project: &str, services: &str) -> (Option<ApprovalTerms>, String) {
        let mut files = Files::default();
        let text = format!("{project}{services}");
        let source = SourceText { file: files.add("zonewright.toml"), text };
        let parsed = toml::parse(&source);
        assert!(parsed.whole, "{}", render(&parsed.faults, &files));
        let mut reader = TableReader::new(&parsed.root, &source);
        let services = cms::read(&mut reader);
        let node = reader.take("project").expect("the text has a project");
        let mut project = TableReader::new(node, &source);
        let terms = read(&mut project, &services);
        reader.append(project.finish());
        (terms, render(&reader.finish(), &files))
    }

    /// What the keys of a project say, which are all right.
    fn terms(keys: &str) -> Option<ApprovalTerms> {
        let (terms, faults) = read_with(&format!("[project]\n{keys}\n"), SERVICES);
        assert_eq!(faults, "", "{keys}");
        terms
    }

    /// What is wrong with the keys of a project.
    fn faults(keys: &str) -> String {
        read_with(&format!("[project]\n{keys}\n"), SERVICES).1
    }

    #[test]
    fn without_services_nothing_is_asked() {
        assert_eq!(terms(""), None);
    }

    #[test]
    fn what_is_not_said_has_defaults() {
        let terms = terms("cms = [\"load\"]").unwrap();
        assert_eq!(terms.services, ["load"]);
        assert_eq!(terms.actions, [CmsAction::TemporaryUnreachable]);
        assert_eq!((terms.max_busy_hosts, terms.ask_ahead, terms.give_up.as_secs()), (5, 10, 86_400));
        assert_eq!((terms.origin.line, terms.origin.col), (2, 7));
    }

    #[test]
    fn what_is_said_counts() {
        let keys = "cms = [\"default\"]\ncms_actions = [\"deactivate\", \"prepare\"]\nmax_busy_hosts = 1\nask_ahead = 0\ngive_up = \"2h\"";
        let terms = terms(keys).unwrap();
        assert_eq!(terms.actions, [CmsAction::Deactivate, CmsAction::Prepare]);
        assert_eq!((terms.max_busy_hosts, terms.ask_ahead, terms.give_up.as_secs()), (1, 0, 7_200));
    }

    #[test]
    fn services_are_asked_by_name_and_the_built_in_one_last() {
        for cms in [
            "\"default\", \"shards\", \"load\"",
            "\"shards\", \"default\", \"load\"",
            "\"load\", \"shards\", \"default\"",
        ] {
            assert_eq!(terms(&format!("cms = [{cms}]")).unwrap().services, ["load", "shards", "default"], "{cms}");
        }
    }

    #[test]
    fn services_that_do_not_go_are_reported() {
        insta::assert_snapshot!(faults("cms = [\"lod\", \"zookeeper\", \"defualt\", \"shards\", \"shards\", 7]"), @r#"
        zonewright.toml:2:8: error[bad-value]: zonewright.toml has no `[cms.lod]`
          2 | cms = ["lod", "zookeeper", "defualt", "shards", "shards", 7]
            |        ^^^^^
            = hint: did you mean `load`?
        zonewright.toml:2:15: error[bad-value]: zonewright.toml has no `[cms.zookeeper]`
          2 | cms = ["lod", "zookeeper", "defualt", "shards", "shards", 7]
            |               ^^^^^^^^^^^
            = hint: add `[cms.zookeeper]` with `url` and `version`, or leave it out
        zonewright.toml:2:28: error[bad-value]: zonewright.toml has no `[cms.defualt]`
          2 | cms = ["lod", "zookeeper", "defualt", "shards", "shards", 7]
            |                            ^^^^^^^^^
            = hint: did you mean `default`?
        zonewright.toml:2:49: error[bad-value]: `shards` is there twice, and each service is asked once
          2 | cms = ["lod", "zookeeper", "defualt", "shards", "shards", 7]
            |                                                 ^^^^^^^^
        zonewright.toml:2:59: error[wrong-type]: `7` is not text
          2 | cms = ["lod", "zookeeper", "defualt", "shards", "shards", 7]
            |                                                           ^
        "#);
        insta::assert_snapshot!(faults("cms = [\"load\", \"shards\", \"other-load\"]"), @r#"
        zonewright.toml:2:26: error[bad-value]: `other-load` and `load` have one URL, and each service is asked once
          2 | cms = ["load", "shards", "other-load"]
            |                          ^^^^^^^^^^^^
            = hint: leave out one of them
        "#);
        insta::assert_snapshot!(faults("cms = []"), @r#"
        zonewright.toml:2:7: error[bad-value]: `cms` names no service
          2 | cms = []
            |       ^^
            = hint: name services, or leave out `cms`
        "#);
        insta::assert_snapshot!(faults("cms = \"load\""), @r#"
        zonewright.toml:2:7: error[wrong-type]: text is here, but a list belongs here
          2 | cms = "load"
            |       ^^^^^^
        "#);
    }

    #[test]
    fn actions_that_do_not_go_are_reported() {
        insta::assert_snapshot!(faults("cms = [\"load\"]\ncms_actions = [\"prepair\", \"reboot\"]"), @r#"
        zonewright.toml:3:16: error[bad-value]: `prepair` is not one of `temporary-unreachable`, `prepare`, `deactivate`
          3 | cms_actions = ["prepair", "reboot"]
            |                ^^^^^^^^^
            = hint: did you mean `prepare`?
        zonewright.toml:3:27: error[bad-value]: `reboot` is not one of `temporary-unreachable`, `prepare`, `deactivate`
          3 | cms_actions = ["prepair", "reboot"]
            |                           ^^^^^^^^
        "#);
        insta::assert_snapshot!(faults("cms = [\"load\"]\ncms_actions = []"), @r#"
        zonewright.toml:3:15: error[bad-value]: without an action no service is ever asked
          3 | cms_actions = []
            |               ^^
            = hint: name actions, or leave out `cms`
        "#);
        insta::assert_snapshot!(faults("cms = [\"load\"]\ncms_actions = [\"prepare\", \"prepare\"]"), @r#"
        zonewright.toml:3:27: error[bad-value]: `prepare` is there twice, and once is enough
          3 | cms_actions = ["prepare", "prepare"]
            |                           ^^^^^^^^^
        "#);
        insta::assert_snapshot!(faults("cms = [\"load\"]\ncms_actions = \"prepare\""), @r#"
        zonewright.toml:3:15: error[wrong-type]: text is here, but a list belongs here
          3 | cms_actions = "prepare"
            |               ^^^^^^^^^
        "#);
    }

    #[test]
    fn numbers_and_times_that_do_not_go_are_reported() {
        insta::assert_snapshot!(faults("cms = [\"default\"]\nmax_busy_hosts = 0\nask_ahead = -1\ngive_up = \"a day\""), @r#"
        zonewright.toml:3:18: error[bad-value]: `0` is too small: the least is 1
          3 | max_busy_hosts = 0
            |                  ^
        zonewright.toml:4:13: error[bad-value]: `-1` is too small: the least is 0
          4 | ask_ahead = -1
            |             ^^
        zonewright.toml:5:11: error[bad-value]: `a day` is not a duration such as `90s`, `12h`, `7d` or `1h30m`
          5 | give_up = "a day"
            |           ^^^^^^^
        "#);
        insta::assert_snapshot!(faults("cms = [\"default\"]\ngive_up = \"0s\""), @r#"
        zonewright.toml:3:11: error[bad-value]: no host would ever be asked for long enough
          3 | give_up = "0s"
            |           ^^^^
            = hint: give a time such as `1d`
        "#);
        insta::assert_snapshot!(faults("cms = [\"default\"]\nmax_busy_hosts = \"5\"\nask_ahead = 1.5\ngive_up = 60"), @r#"
        zonewright.toml:3:18: error[wrong-type]: text is here, but a whole number belongs here
          3 | max_busy_hosts = "5"
            |                  ^^^
        zonewright.toml:4:13: error[wrong-type]: `1.5` is not a whole number
          4 | ask_ahead = 1.5
            |             ^^^
        zonewright.toml:5:11: error[wrong-type]: `60` is not a duration such as `90s`, `12h`, `7d` or `1h30m`
          5 | give_up = 60
            |           ^^
        "#);
    }

    #[test]
    fn keys_that_mean_nothing_without_services_are_reported() {
        let keys = "cms_actions = [\"prepare\"]\nmax_busy_hosts = 5\nask_ahead = 0\ngive_up = \"2h\"";
        insta::assert_snapshot!(faults(keys), @r#"
        zonewright.toml:2:15: error[bad-value]: `cms_actions` says how services are asked, and no `cms` says which
          2 | cms_actions = ["prepare"]
            |               ^^^^^^^^^^^
            = hint: write `cms = ["NAME"]` of a `[cms.NAME]`, or leave the key out
        zonewright.toml:3:18: error[bad-value]: `max_busy_hosts` says how services are asked, and no `cms` says which
          3 | max_busy_hosts = 5
            |                  ^
            = hint: write `cms = ["NAME"]` of a `[cms.NAME]`, or leave the key out
        zonewright.toml:4:13: error[bad-value]: `ask_ahead` says how services are asked, and no `cms` says which
          4 | ask_ahead = 0
            |             ^
            = hint: write `cms = ["NAME"]` of a `[cms.NAME]`, or leave the key out
        zonewright.toml:5:11: error[bad-value]: `give_up` says how services are asked, and no `cms` says which
          5 | give_up = "2h"
            |           ^^^^
            = hint: write `cms = ["NAME"]` of a `[cms.NAME]`, or leave the key out
        "#);
    }

    #[test]
    fn a_service_with_an_error_is_reported_once() {
        let services = "[cms.load]\nurl = \"cms.example.net\"\nversion = \"v1.4\"\n[cms.\"a b\"]\nversion = \"v1.0\"\n";
        let project = "[project]\ncms = [\"load\", \"a b\", \"lod\", \"load\"]\n";
        insta::assert_snapshot!(read_with(project, services).1, @r#"
        zonewright.toml:4:7: error[bad-value]: `url` is not the URL of a service
          4 | url = "cms.example.net"
            |       ^^^^^^^^^^^^^^^^^
            = hint: write `https://` or `http://`, a host and a path, without `?`, `#` or a password
        zonewright.toml:6:6: error[bad-value]: `a b` cannot be the name of a service
          6 | [cms."a b"]
            |      ^^^^^
            = hint: use one word without blanks and control characters
        zonewright.toml:6:1: error[missing-key]: the key `url` is missing
          6 | [cms."a b"]
            = hint: add `url`
        zonewright.toml:2:23: error[bad-value]: zonewright.toml has no `[cms.lod]`
          2 | cms = ["load", "a b", "lod", "load"]
            |                       ^^^^^
            = hint: did you mean `load`?
        zonewright.toml:2:30: error[bad-value]: `load` is there twice, and each service is asked once
          2 | cms = ["load", "a b", "lod", "load"]
            |                              ^^^^^^
        "#);
    }
}
