//! The GitHub workflows, from the pull request to the apply.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::edit::edit;
use crate::github_runner::{Ended, Hub, OURS, Start};
use crate::repository::{move_vlan, shorten_ttl};

/// The invisible line by which a comment is known.
const MARKER: &str = "<!-- zonewright plan -->";

/// An event of the repository.
fn event(more: Value) -> Value {
    let mut event = json!({"repository": {"default_branch": "main", "full_name": "o/dns"}});
    event.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    event
}

/// What starts a run on `main`.
fn on_main(hub: &Hub, workflow: &'static str, event_name: &'static str, more: Value, inputs: Value) -> Start {
    let commit = hub.repository.git(&["rev-parse", "main"]);
    Start {
        workflow,
        event_name,
        event: event(more),
        head: commit.clone(),
        commit,
        branch: "main".into(),
        from: OURS,
        inputs,
    }
}

/// Saves a snapshot on `main`.
fn snapshot(hub: &Hub) -> Ended {
    let start = on_main(hub, "zonewright-snapshot", "schedule", json!({}), json!({}));
    let ended = hub.run(&start);
    assert_eq!(ended.conclusion, "success", "{}", ended.log);
    ended
}

/// Opens a pull request, or reports a push to it.
fn pull(hub: &Hub, number: u64, branch: &str, head: &str, from: u64) {
    let mut kept = hub.kept();
    let owner = if from == OURS { "o" } else { "f" };
    kept.pulls.retain(|pull| pull["number"] != number);
    kept.pulls.push(json!({
        "number": number, "state": "open", "merged_at": null, "merge_commit_sha": null,
        "title": "\"; touch /tmp/zonewright-hostile; $(id) `id` ${{ secrets.ZONEWRIGHT_TSIG }}",
        "head": {"ref": branch, "sha": head, "repo": {"id": from, "full_name": format!("{owner}/dns"), "owner": {"login": owner}}},
        "base": {"ref": "main"},
    }));
}

/// Runs the plan of a pull request, and the comment after it.
fn plan(hub: &Hub, number: u64, branch: &str, (head, merge): (&str, &str), from: u64) -> (Ended, Ended) {
    pull(hub, number, branch, head, from);
    let request = hub.kept().pulls.last().expect("it was opened").clone();
    let planned = hub.run(&Start {
        workflow: "zonewright-plan",
        event_name: "pull_request",
        event: event(json!({"pull_request": request, "number": number})),
        commit: merge.into(),
        branch: branch.into(),
        head: head.into(),
        from,
        inputs: json!({}),
    });
    let commented = comment(hub, planned.id);
    (planned, commented)
}

/// Runs the comment after a run.
fn comment(hub: &Hub, run: u64) -> Ended {
    let run = hub.kept().runs[usize::try_from(run).expect("few runs") - 1].clone();
    hub.run(&on_main(hub, "zonewright-comment", "workflow_run", json!({"workflow_run": run}), json!({})))
}

/// Merges a pull request, and runs what a push to `main` starts.
fn merge(hub: &Hub, number: u64) -> Ended {
    let head = {
        let kept = hub.kept();
        let found = kept.pulls.iter().find(|pull| pull["number"] == number).expect("it is open");
        found["head"]["sha"].as_str().expect("text").to_owned()
    };
    let commit = hub.repository.merge(&head);
    {
        let mut kept = hub.kept();
        let found = kept.pulls.iter_mut().find(|pull| pull["number"] == number).expect("it is open");
        found["state"] = json!("closed");
        found["merged_at"] = json!("2026-11-20T02:00:00Z");
        found["merge_commit_sha"] = json!(commit);
    }
    push(hub)
}

/// Runs what a push to `main` starts.
fn push(hub: &Hub) -> Ended {
    hub.run(&on_main(hub, "zonewright-apply", "push", json!({}), json!({})))
}

/// Starts the apply by hand.
fn dispatch(hub: &Hub, inputs: Value) -> Ended {
    hub.run(&on_main(hub, "zonewright-apply", "workflow_dispatch", json!({"inputs": inputs}), inputs))
}

/// The effect that the summary of a refused run tells to expect.
fn told_effect(refused: &Ended) -> String {
    let behind = refused.summary.split("`expect` = `").nth(1).expect("the effect is shown");
    behind.split('`').next().expect("text").to_owned()
}

/// The bodies of all comments.
fn comments(hub: &Hub) -> Vec<String> {
    hub.kept().comments.iter().map(|comment| comment["body"].as_str().expect("text").to_owned()).collect()
}

/// How many applies the journal on the runner's disk has.
fn applies(hub: &Hub) -> usize {
    let folder = hub.repository.path("own/checkout");
    let output =
        hub.repository.command("zonewright", &folder).args(["history", "--format", "json"]).output().expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["applies"].as_array().expect("a list").len()
}

/// Moves the VLAN on a branch of the repository, plans and comments.
fn propose(hub: &Hub) -> (Ended, Ended) {
    let (head, merge) = hub.repository.branch("move", move_vlan);
    plan(hub, 7, "move", (&head, &merge), OURS)
}

#[test]
fn what_a_pull_request_showed_is_applied_when_it_is_merged() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let (planned, commented) = propose(&hub);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    assert_eq!(commented.conclusion, "success", "{}", commented.log);
    assert!(planned.summary.contains("caused by this change set"), "{}", planned.summary);
    let shown = comments(&hub);
    assert_eq!(shown.len(), 1);
    assert!(
        shown[0].starts_with(MARKER) && shown[0].contains(&format!("/actions/runs/{}", planned.id)),
        "{}",
        shown[0]
    );

    assert!(!hub.repository.differs(), "nothing is merged yet");
    let applied = merge(&hub, 7);
    assert_eq!(applied.jobs["apply"], ("success".into(), 0), "{}", applied.log);
    assert!(applied.summary.contains("    Applied: 2 hosts changed"), "{}", applied.summary);
    assert!(!hub.repository.differs(), "live DNS is as main has it");
    assert_eq!(applies(&hub), 1);
    hub.repository.assert_expected();

    // The next run has the journal of this one, though the checkout was cleaned; and starting a run again does no harm.
    let again = push(&hub);
    assert_eq!((again.conclusion, again.jobs["apply"].0.as_str()), ("success", "skipped"), "{}", again.log);
    assert_eq!(applies(&hub), 1);
    let shown = snapshot(&hub);
    assert!(shown.summary.contains("    "), "{}", shown.summary);
    let live = hub.kept().artifacts.last().expect("an artifact")["id"].clone();
    assert!(hub.repository.path(&format!("artifacts/{live}/state/state.db")).is_file(), "plans have the state, too");
    let (head, trial) = hub.repository.branch("ttl", shorten_ttl);
    let (planned, _) = plan(&hub, 8, "ttl", (&head, &trial), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    assert!(!planned.log.contains("state-lost"), "{}", planned.log);
    hub.assert_content();
}

#[test]
fn the_demo_is_planned_with_its_blocked_hosts_and_applied_as_shown() {
    let Some(hub) = Hub::of("inventory", &[]) else { return };
    snapshot(&hub);
    // The records that live DNS lacks from the start make a plan to look at.
    let refused = push(&hub);
    assert_eq!(refused.jobs["plan"].1, 3, "{}", refused.log);
    let applied = dispatch(&hub, json!({"expect": told_effect(&refused)}));
    assert_eq!(applied.jobs["apply"].0, "success", "{}", applied.log);
    snapshot(&hub);
    let (head, trial) = hub.repository.branch("vlan", |workspace| {
        edit(
            workspace,
            "racktables/l3-tors.txt",
            "sas1-s2   604  2a02:6b8:0:160c::/64",
            "sas1-s2 604 2a02:6b8:0:1700::/64",
        );
    });
    let (planned, _) = plan(&hub, 7, "vlan", (&head, &trial), OURS);
    assert_eq!((planned.jobs["check"].1, planned.jobs["plan"].1), (1, 0), "{}", planned.log);
    let shown = comments(&hub).remove(0);
    for part in ["**41 caused by this change set", "24 blocked", "duplicate-mac"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let applied = merge(&hub, 7);
    assert_eq!(applied.jobs["apply"].0, "success", "{}", applied.log);
    assert!(!hub.repository.differs());
    hub.assert_content();
}

#[test]
fn the_comment_is_updated_in_place_and_no_other_is_touched() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    for n in 0..101 {
        let body = format!("{MARKER}\nforged {n}");
        let user = json!({"login": "mallory", "type": "User"});
        hub.kept().comments.push(json!({"id": n + 1, "issue": 7, "body": body, "user": user}));
    }
    let (first, _) = propose(&hub);
    assert_eq!(comments(&hub).len(), 102);
    let (head, merge) = hub.repository.branch("move", |workspace| {
        move_vlan(workspace);
        edit(workspace, "racktables/l3-tors.txt", "0:2::/64", "0:8::/64");
    });
    let before = comments(&hub).pop();
    let (planned, _) = plan(&hub, 7, "move", (&head, &merge), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    let after = comments(&hub);
    assert_eq!(after.len(), 102);
    assert_ne!(after.last(), before.as_ref());
    assert!(after[..101].iter().all(|body| body.contains("forged")), "{after:?}");

    // A run for a commit that is no longer the head says nothing.
    assert_eq!(comment(&hub, first.id).conclusion, "success");
    assert_eq!(comments(&hub), after);
    hub.assert_content();
}

#[test]
fn a_fork_is_planned_and_shown_without_a_secret() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let branch = "a\"$(touch${IFS}/tmp/zonewright-hostile)`id`;'b";
    let (head, merge) = hub.repository.branch("fork", move_vlan);
    let (planned, commented) = plan(&hub, 8, branch, (&head, &merge), 2);
    assert_eq!((planned.conclusion, commented.conclusion), ("success", "success"), "{}{}", planned.log, commented.log);
    assert_eq!(comments(&hub).len(), 1);
    assert!(!Path::new("/tmp/zonewright-hostile").exists());
    // What the fork's run uploads under the name of a snapshot, or of a note, from a branch that it calls main, is not
    // used.
    hub.kept().runs[usize::try_from(planned.id).expect("few runs") - 1]["head_branch"] = json!("main");
    let forged = hub.repository.path("forged");
    fs::create_dir_all(&forged).expect("a folder");
    let note = json!({"pull": 8, "head": head, "effect": format!("sha256:{}", "0".repeat(64))});
    fs::write(forged.join("reviewed.json"), note.to_string()).expect("a file");
    hub.upload("zonewright-live", &forged, "error", planned.id);
    hub.upload(&format!("zonewright-reviewed-{head}"), &forged, "error", planned.id);
    let applied = self::merge(&hub, 8);
    assert_eq!(applied.jobs["apply"].0, "success", "{}", applied.log);
    let (head, merge) =
        hub.repository.branch("next", |workspace| edit(workspace, "racktables/l3-tors.txt", "0:9::/64", "0:1::/64"));
    let (planned, _) = plan(&hub, 9, "next", (&head, &merge), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    hub.assert_content();
}

#[test]
fn what_runs_on_main_without_being_of_our_workflows_is_passed_over() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let (head, trial) = hub.repository.branch("move", move_vlan);
    plan(&hub, 7, "move", (&head, &trial), OURS);
    let forged = hub.repository.path("forged");
    fs::create_dir_all(forged.join("snapshot")).expect("a folder");
    let note = json!({"pull": 7, "head": head, "effect": format!("sha256:{}", "0".repeat(64))});
    fs::write(forged.join("reviewed.json"), note.to_string()).expect("a file");
    // A pull request of main into a branch that another user may write to runs the files of that branch, and its run
    // has main as its branch. So has the push of a tag that is called main. The user also chooses the names of the
    // files there. A fork chooses the name of its branch.
    for (event_name, path, from) in [
        ("pull_request", "zonewright-snapshot.yml", OURS),
        ("pull_request", "zonewright-comment.yml", OURS),
        ("push", "zonewright-snapshot.yml", OURS),
        ("schedule", "other.yml", OURS),
        ("workflow_run", "other.yml", OURS),
        ("schedule", "zonewright-snapshot.yml", 2),
        ("workflow_run", "zonewright-comment.yml", 2),
    ] {
        let mut kept = hub.kept();
        let id = kept.runs.len() as u64 + 1;
        kept.runs.push(json!({"id": id, "event": event_name, "path": format!(".github/workflows/{path}"),
            "head_branch": "main", "head_sha": head, "head_repository": {"id": from}}));
        drop(kept);
        hub.upload("zonewright-live", &forged, "error", id);
        hub.upload(&format!("zonewright-reviewed-{head}"), &forged, "error", id);
    }
    let (planned, _) = plan(&hub, 7, "move", (&head, &trial), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    assert!(planned.log.contains(", which made an artifact zonewright-"), "{}", planned.log);
    // The note of that plan is the latest; the forged ones are asked about where it is gone.
    hub.kept().artifacts.pop().expect("the note");
    let applied = merge(&hub, 7);
    assert_eq!(applied.jobs["apply"].0, "success", "{}", applied.log);
    hub.assert_content();
}

#[test]
fn a_state_that_a_pull_request_brings_is_none() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    propose(&hub);
    assert_eq!(merge(&hub, 7).jobs["apply"].0, "success");
    snapshot(&hub);
    // A link to where it leads on the runner, and a folder: each is in git, although git is configured to ignore it.
    for is_link in [true, false] {
        let bring = |workspace: &Path| {
            let state = workspace.join(".zonewright");
            if is_link {
                std::os::unix::fs::symlink("/etc", &state).expect("a link")
            } else {
                fs::create_dir(&state).expect("a folder");
                fs::write(state.join("state.db"), "forged").expect("a file");
            }
        };
        let (head, trial) = hub.repository.branch("state", bring);
        let (planned, _) = plan(&hub, 8, "state", (&head, &trial), OURS);
        assert_eq!(planned.jobs["plan"].0, "failure", "{}", planned.log);
        assert!(planned.log.contains(".zonewright is in git"), "{}", planned.log);
        let before = hub.repository.git(&["rev-parse", "main"]);
        let merged = merge(&hub, 8);
        assert_eq!(merged.jobs["plan"], ("failure".into(), 1), "{}", merged.log);
        assert!(merged.log.contains(".zonewright is in git"), "{}", merged.log);
        hub.repository.git(&["reset", "--quiet", "--hard", &before]);
    }
    assert_eq!(push(&hub).conclusion, "success");
    hub.assert_content();
}

#[test]
fn answers_that_are_cut_off_or_errors_show_and_apply_nothing() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let (head, trial) = hub.repository.branch("move", move_vlan);
    for status in [200, 403, 500] {
        hub.kept().broken = vec![("GET /repos/o/dns/actions/artifacts".into(), status)];
        let (planned, _) = plan(&hub, 7, "move", (&head, &trial), OURS);
        assert_eq!(planned.jobs["plan"].0, "failure", "{}", planned.log);
    }
    hub.kept().broken.clear();
    let (planned, _) = plan(&hub, 7, "move", (&head, &trial), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    let before = (comments(&hub), hub.kept().artifacts.len());
    for (request, status) in [
        ("GET /repos/o/dns/pulls", 200),
        ("GET /repos/o/dns/pulls", 500),
        ("GET /repos/o/dns/issues", 200),
        ("GET /repos/o/dns/issues", 502),
        ("PATCH /repos/o/dns/issues", 403),
        ("PATCH /repos/o/dns/issues", 500),
    ] {
        hub.kept().broken = vec![(request.into(), status)];
        let commented = comment(&hub, planned.id);
        assert_eq!(commented.conclusion, "failure", "{request} {status}: {}", commented.log);
        assert_eq!((comments(&hub), hub.kept().artifacts.len()), before, "{request} {status}");
    }
    hub.kept().broken = vec![("GET /repos/o/dns/commits".into(), 200)];
    assert_eq!(merge(&hub, 7).jobs["apply"].0, "skipped");
    for (request, status) in [("GET /repos/o/dns/actions/artifacts", 200), ("GET /repos/o/dns/actions/runs", 500)] {
        hub.kept().broken = vec![(request.into(), status)];
        assert_eq!(push(&hub).jobs["apply"].0, "skipped", "{request}");
    }
    assert!(hub.repository.differs(), "nothing was changed");
    hub.kept().broken.clear();
    assert_eq!(push(&hub).jobs["apply"].0, "success");
    hub.assert_content();
}

#[test]
fn a_comment_that_somebody_deletes_meanwhile_is_written_anew() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let (planned, _) = propose(&hub);
    let before = comments(&hub);
    hub.kept().is_comment_going = true;
    let commented = comment(&hub, planned.id);
    assert_eq!(commented.conclusion, "success", "{}", commented.log);
    assert_eq!(comments(&hub), before);
    assert!(before[0].contains("zonewright apply plan.json --expect"), "no path of the runner: {}", before[0]);
    hub.assert_content();
}

#[test]
fn a_plan_that_a_pull_request_forged_is_not_shown_as_one() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let (planned, _) = propose(&hub);
    let artifact = hub.repository.path("forged");
    fs::create_dir(&artifact).expect("a folder");
    let plan = hub.kept().artifacts.iter().find(|it| it["name"] == "zonewright-plan").expect("a plan")["id"].clone();
    let text = fs::read_to_string(hub.repository.path(&format!("artifacts/{plan}/plan.json"))).expect("a plan");
    fs::write(artifact.join("plan.json"), text.replace("0:9:", "0:7:")).expect("a file");
    fs::write(artifact.join("comment.md"), "@everybody all is well").expect("a file");
    hub.upload("zonewright-plan", &artifact, "error", planned.id);
    let notes = |hub: &Hub| {
        hub.kept().artifacts.iter().filter(|it| it["name"].as_str().expect("text").contains("reviewed")).count()
    };
    let before = notes(&hub);
    assert_eq!(comment(&hub, planned.id).conclusion, "success");
    let shown = comments(&hub);
    assert!(shown.len() == 1 && shown[0].contains("No DNS plan") && !shown[0].contains("everybody"), "{shown:?}");
    assert_eq!(notes(&hub), before, "nothing is noted");
    hub.assert_content();
}

#[test]
fn a_plan_of_another_effect_waits_for_a_person() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    propose(&hub);
    let other = hub.repository.branch("other", shorten_ttl);
    hub.repository.merge(&other.0);
    let refused = merge(&hub, 7);
    assert_eq!(refused.jobs["plan"], ("failure".into(), 3), "{}", refused.log);
    assert_eq!(refused.jobs["apply"].0, "skipped");
    assert!(refused.summary.contains("not the plan that was reviewed"), "{}", refused.summary);
    assert!(hub.repository.differs(), "nothing was changed");
    let effect = told_effect(&refused);

    let wrong = dispatch(&hub, json!({"expect": format!("sha256:{}", "1".repeat(64))}));
    assert_eq!(wrong.jobs["plan"].1, 3);
    let hostile = dispatch(&hub, json!({"expect": "sha256:1'; touch /tmp/zonewright-hostile; `id`"}));
    assert_eq!(hostile.jobs["plan"].1, 3);
    let applied = dispatch(&hub, json!({"expect": effect}));
    assert_eq!(applied.jobs["apply"].0, "success", "{}", applied.log);
    assert!(!hub.repository.differs());
    let nothing = dispatch(&hub, json!({"resume": true}));
    assert_eq!(
        (nothing.jobs["plan"].0.as_str(), nothing.jobs["resume"].0.as_str()),
        ("skipped", "success"),
        "{}",
        nothing.log
    );
    hub.assert_content();
}

#[test]
fn a_push_without_a_pull_request_waits_for_a_person() {
    let Some(hub) = Hub::new(&[]) else { return };
    move_vlan(&hub.repository.path("origin"));
    hub.repository.commit("pushed");
    let refused = push(&hub);
    assert_eq!(refused.jobs["plan"], ("failure".into(), 3), "{}", refused.log);
    assert!(refused.summary.contains("### Not applied: "), "{}", refused.summary);
    // One that changes nothing needs no approval.
    edit(&hub.repository.path("origin"), "racktables/l3-tors.txt", "0:9::/64", "0:1::/64");
    hub.repository.commit("pushed");
    assert_eq!(push(&hub).conclusion, "success");
    hub.assert_content();
}

#[test]
fn two_that_are_merged_fast_after_each_other_are_each_applied_as_shown() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    propose(&hub);
    let (head, trial) = hub.repository.branch("ttl", shorten_ttl);
    let (planned, _) = plan(&hub, 8, "ttl", (&head, &trial), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    // The second is merged before the apply of the first has begun: the run of each is of its own commit.
    let first = merge(&hub, 7);
    let second = merge(&hub, 8);
    assert_eq!(first.jobs["apply"].0, "success", "{}", first.log);
    assert_eq!(second.jobs["apply"].0, "success", "{}", second.log);
    assert_eq!(applies(&hub), 2);
    hub.assert_content();
}

#[test]
fn what_is_wrong_is_told_and_the_plan_is_made_all_the_same() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let row = "sas-s9 604 ::error::<b>@everybody</b>${{github.token}}\n";
    let (head, merge) = hub.repository.branch("faulty", |workspace| {
        let file = workspace.join("racktables/l3-tors.txt");
        let text = fs::read_to_string(&file).expect("a file");
        fs::write(&file, text + row).expect("a file");
        edit(workspace, "projects/db.yaml", "main: 700", "main: 701");
    });
    let (planned, _) = plan(&hub, 7, "faulty", (&head, &merge), OURS);
    assert_eq!(planned.jobs["check"], ("failure".into(), 1), "{}", planned.log);
    assert_eq!(planned.jobs["plan"].0, "success", "{}", planned.log);
    let commands: Vec<_> = planned.log.lines().filter(|line| line.trim_start().starts_with("::")).collect();
    assert!(commands.iter().all(|line| line.contains("title=zonewright::")), "{commands:?}");
    assert!(
        commands.iter().any(|line| line.starts_with("::error file=racktables/l3-tors.txt,line=4,")),
        "{commands:?}"
    );
    let shown = comments(&hub);
    assert!(shown[0].contains("Newly blocked: 1 host"), "{}", shown[0]);

    // With a workspace that cannot be read there is no plan, and the comment says so.
    let (head, merge) =
        hub.repository.branch("faulty", |workspace| edit(workspace, "zonewright.toml", "owner", "ownre"));
    let (planned, commented) = plan(&hub, 7, "faulty", (&head, &merge), OURS);
    assert_eq!((planned.conclusion, commented.conclusion), ("failure", "success"), "{}", commented.log);
    assert!(comments(&hub).len() == 1 && comments(&hub)[0].contains("No DNS plan"), "{:?}", comments(&hub));
    hub.assert_content();
}

#[test]
fn a_refused_plan_is_red_and_goes_through_with_a_persons_allowance() {
    let Some(hub) = Hub::new(&[]) else { return };
    edit(
        &hub.repository.path("origin"),
        "zonewright.toml",
        "[project.web]",
        "[limits]\nhosts = [{ period = \"1h\", max = 1 }]\n\n[project.web]",
    );
    hub.repository.commit("a limit");
    snapshot(&hub);
    let (planned, _) = propose(&hub);
    assert_eq!(planned.jobs["plan"], ("failure".into(), 3), "{}", planned.log);
    assert!(comments(&hub)[0].contains("Refused by the limit"), "{:?}", comments(&hub));
    let refused = merge(&hub, 7);
    assert_eq!(refused.jobs["plan"], ("failure".into(), 3), "{}", refused.log);
    let plan = hub.repository.look(&["plan", "--out", "plan.json"]);
    assert!(plan.status.success());
    let text = fs::read_to_string(hub.repository.path("look/plan.json")).expect("a plan");
    let effect = serde_json::from_str::<Value>(&text).expect("JSON")["effect"].clone();
    let applied = dispatch(&hub, json!({"expect": effect, "allow": "global/1h=2"}));
    assert_eq!(applied.jobs["apply"].0, "success", "{}", applied.log);
    hub.assert_content();
}

#[test]
fn what_was_done_in_part_is_resumed() {
    // The reverse zone refuses the two hosts, together and each alone.
    let Some(hub) = Hub::new(&["refused=2", "refused=3", "refused=4"]) else { return };
    snapshot(&hub);
    propose(&hub);
    let partly = merge(&hub, 7);
    assert_eq!(partly.jobs["apply"], ("failure".into(), 4), "{}", partly.log);
    assert!(partly.summary.contains("with `resume`"), "{}", partly.summary);
    assert!(hub.repository.differs());
    let again = push(&hub);
    assert_eq!(again.jobs["plan"], ("failure".into(), 3), "{}", again.log);
    let resumed = dispatch(&hub, json!({"resume": true}));
    assert_eq!(resumed.jobs["resume"].0, "success", "{}", resumed.log);
    assert!(!hub.repository.differs());
    assert_eq!(applies(&hub), 1, "it is one apply");
    assert_eq!(push(&hub).conclusion, "success");
    hub.assert_content();
}

#[test]
fn live_dns_that_moved_on_makes_another_effect() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    propose(&hub);
    // Another run applies something else meanwhile, so that the records of the hosts are others.
    edit(&hub.repository.path("origin"), "racktables/l3-tors.txt", "0:1::/64", "0:7::/64");
    hub.repository.commit("by hand");
    let moved = hub.repository.look(&["apply", "--yes"]);
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    edit(&hub.repository.path("origin"), "racktables/l3-tors.txt", "0:7::/64", "0:1::/64");
    hub.repository.commit("and back");
    fs::rename(hub.repository.path("look/.zonewright/state.db"), hub.repository.path("state/state.db"))
        .expect("a file");
    let refused = merge(&hub, 7);
    assert_eq!(refused.jobs["plan"], ("failure".into(), 3), "{}", refused.log);
    assert!(refused.summary.contains("not the plan that was reviewed"), "{}", refused.summary);
    hub.assert_content();
}

#[test]
fn a_pull_request_that_changes_nothing_is_shown_and_needs_no_approval() {
    let Some(hub) = Hub::new(&[]) else { return };
    snapshot(&hub);
    let (head, trial) = hub.repository.branch("words", |workspace| {
        fs::write(workspace.join("README.md"), "Our DNS.\n").expect("a file");
    });
    let (planned, _) = plan(&hub, 7, "words", (&head, &trial), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    assert!(comments(&hub)[0].starts_with(MARKER), "{:?}", comments(&hub));
    let merged = merge(&hub, 7);
    assert_eq!((merged.conclusion, merged.jobs["apply"].0.as_str()), ("success", "skipped"), "{}", merged.log);
    hub.assert_content();
}

#[test]
fn a_runner_without_the_program_fetches_the_one_that_is_pinned() {
    let Some(hub) = Hub::new(&[]) else { return };
    // The workspace is in a folder here.
    let origin = hub.repository.path("origin");
    hub.repository.git(&["config", "core.quotePath", "false"]);
    fs::create_dir(origin.join("dns")).expect("a folder");
    for name in ["agents", "projects", "racktables", "zonewright.toml"] {
        fs::rename(origin.join(name), origin.join("dns").join(name)).expect("it moves");
    }
    for entry in fs::read_dir(origin.join(".github/workflows")).expect("a folder") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a workflow");
        let metrics = format!("ZONEWRIGHT_METRICS: {}\n  ZONEWRIGHT_DIR: dns", hub.repository.folder.path().display());
        fs::write(path, text.replace("ZONEWRIGHT_DIR: .", &metrics)).expect("a workflow");
    }
    let [right, wrong] = hub.repository.releases();
    fs::write(origin.join(".github/zonewright/release"), right).expect("a file");
    hub.repository.commit("another version");
    let shown = snapshot(&hub);
    assert!(!shown.log.contains("is on this runner"), "{}", shown.log);
    let (head, trial) = hub.repository.branch("move", |origin| move_vlan(&origin.join("dns")));
    let (planned, _) = plan(&hub, 7, "move", (&head, &trial), OURS);
    assert_eq!(planned.conclusion, "success", "{}", planned.log);
    let applied = merge(&hub, 7);
    assert_eq!(applied.jobs["apply"].0, "success", "{}", applied.log);

    for command in ["plan", "apply", "drift"] {
        assert!(hub.repository.path(&format!("zonewright-{command}.prom")).is_file(), "metrics of {command}");
    }

    fs::write(origin.join(".github/zonewright/release"), wrong).expect("a file");
    hub.repository.commit("a sum that is not that of the file");
    let refused = push(&hub);
    assert_eq!(refused.jobs["plan"], ("failure".into(), 1));
    assert!(refused.log.contains("its checksum is not that"), "{}", refused.log);
    hub.assert_content();
}
