//! The GitLab jobs, from the merge request to the apply.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::edit::edit;
use crate::gitlab_api::BOT;
use crate::gitlab_runner::{Ended, Lab, Start};
use crate::repository::move_vlan;

/// The invisible line by which a note is known.
const MARKER: &str = "<!-- zonewright plan -->";

/// Runs a pipeline of `main`.
fn on_main(lab: &Lab, source: &str, variables: &[(&str, &str)], by_hand: &[&str]) -> Ended {
    let commit = lab.repository.git(&["rev-parse", "main"]);
    lab.run(&Start { source, commit, branch: "main", variables, by_hand })
}

/// Opens a merge request, or pushes to it, and runs its pipeline; the project of the pipeline may be a fork's.
fn propose(lab: &Lab, iid: u64, head: &str, project: u64) -> Ended {
    let ended = lab.run(&Start {
        source: "merge_request_event",
        commit: head.into(),
        branch: "",
        variables: &[],
        by_hand: &[],
    });
    let mut kept = lab.kept();
    kept.requests.retain(|request| request["iid"] != iid);
    let status = if ended.jobs.values().all(|code| *code == 0) { "success" } else { "failed" };
    kept.requests.push(json!({"iid": iid, "state": "opened", "sha": head, "target_branch": "main",
        "title": "/close \"; touch /tmp/zonewright-hostile-lab; $(id)",
        "merge_commit_sha": null, "squash_commit_sha": null,
        "head_pipeline": {"id": ended.id, "project_id": project, "sha": head, "status": status}}));
    ended
}

/// Merges a request, and runs the pipeline of the push.
fn merge(lab: &Lab, iid: u64, by_hand: &[&str]) -> Ended {
    let head = lab.kept().requests.iter().find(|it| it["iid"] == iid).expect("it is open")["sha"].clone();
    let commit = lab.repository.merge(head.as_str().expect("text"));
    {
        let mut kept = lab.kept();
        let request = kept.requests.iter_mut().find(|it| it["iid"] == iid).expect("it is open");
        request["state"] = json!("merged");
        request["merge_commit_sha"] = json!(commit);
    }
    on_main(lab, "push", &[], by_hand)
}

/// The bodies of all notes.
fn notes(lab: &Lab) -> Vec<String> {
    lab.kept().notes.iter().map(|note| note["body"].as_str().expect("text").to_owned()).collect()
}

#[test]
fn what_a_note_showed_is_applied_by_hand_when_it_is_merged() {
    let Some(lab) = Lab::new() else { return };
    let first = on_main(&lab, "schedule", &[], &[]);
    assert_eq!(first.jobs.values().max(), Some(&0), "{}", first.log);
    let (head, _) = lab.repository.branch("move", move_vlan);
    let planned = propose(&lab, 7, &head, 5);
    assert_eq!((planned.jobs["zonewright-check"], planned.jobs["zonewright-plan"]), (0, 0), "{}", planned.log);
    assert_eq!(planned.jobs.len(), 2);
    // A forged note, and the schedule twice: one note.
    let forged =
        format!("{MARKER}\nall is well\n<!-- zonewright job=1 head={head} effect=sha256:{} -->", "1".repeat(64));
    lab.kept().notes.push(json!({"id": 1, "request": 7, "author": {"id": BOT + 1}, "body": forged}));
    for _ in 0..2 {
        let noted = on_main(&lab, "schedule", &[], &[]);
        assert_eq!(noted.jobs["zonewright-notes"], 0, "{}", noted.log);
    }
    let shown = notes(&lab);
    assert!(shown.len() == 2 && shown[0] == forged, "{shown:?}");
    assert!(shown[1].starts_with(MARKER) && shown[1].contains("caused by this change set"), "{}", shown[1]);
    assert!(shown[1].contains(&format!("head={head} effect=sha256:")), "{}", shown[1]);

    let merged = merge(&lab, 7, &[]);
    assert_eq!(merged.jobs.get("zonewright-apply"), None, "it was not started");
    assert!(lab.repository.differs());
    let applied = on_main(&lab, "push", &[], &["zonewright-apply"]);
    assert_eq!(applied.jobs["zonewright-apply"], 0, "{}", applied.log);
    assert!(!lab.repository.differs());
    lab.repository.assert_expected();
    let again = on_main(&lab, "push", &[], &["zonewright-apply"]);
    assert!(again.jobs["zonewright-apply"] == 0 && again.log.contains("Nothing is to be applied"), "{}", again.log);
    lab.assert_content();
}

#[test]
fn a_later_push_changes_the_note_and_a_forged_plan_is_none() {
    let Some(lab) = Lab::new() else { return };
    on_main(&lab, "schedule", &[], &[]);
    let (head, _) = lab.repository.branch("move", move_vlan);
    propose(&lab, 7, &head, 5);
    on_main(&lab, "schedule", &[], &[]);
    let before = notes(&lab);
    let (head, _) = lab.repository.branch("move", |workspace| {
        move_vlan(workspace);
        edit(workspace, "racktables/l3-tors.txt", "0:2::/64", "0:8::/64");
    });
    propose(&lab, 7, &head, 5);
    on_main(&lab, "schedule", &[], &[]);
    let after = notes(&lab);
    assert!(after.len() == 1 && after != before && after[0].contains(&head), "{after:?}");

    // The pipeline's artifact is what the code of the request made of it.
    propose(&lab, 7, &head, 5);
    let folder = lab.kept().jobs.iter().rfind(|(job, _)| job["name"] == "zonewright-plan").expect("a job").1.clone();
    let file = folder.join("zonewright-plan/plan.json");
    let text = fs::read_to_string(&file).expect("a plan");
    fs::write(file, text.replace("0:9:", "0:7:")).expect("a file");
    let noted = on_main(&lab, "schedule", &[], &[]);
    assert_eq!(noted.jobs["zonewright-notes"], 0, "{}", noted.log);
    let after = notes(&lab);
    assert!(after.len() == 1 && after[0].contains("No DNS plan") && after[0].contains("effect=none"), "{after:?}");
    lab.assert_content();
}

#[test]
fn what_nobody_has_reviewed_waits_for_a_person() {
    let Some(lab) = Lab::new() else { return };
    on_main(&lab, "schedule", &[], &[]);
    let (head, _) = lab.repository.branch("move", move_vlan);
    // A fork's jobs are not for the account to see: no note, and so nothing is reviewed.
    let planned = propose(&lab, 7, &head, 6);
    assert_eq!(planned.jobs["zonewright-plan"], 0, "{}", planned.log);
    let noted = on_main(&lab, "schedule", &[], &[]);
    assert_eq!((noted.jobs["zonewright-notes"], notes(&lab).len()), (0, 0), "{}", noted.log);
    let refused = merge(&lab, 7, &["zonewright-apply"]);
    assert_eq!((refused.jobs["zonewright-merged"], refused.jobs.get("zonewright-apply")), (3, None), "{}", refused.log);
    assert!(lab.repository.differs(), "nothing was changed");
    let effect =
        refused.log.split("ZONEWRIGHT_EXPECT=").nth(1).expect("the effect is shown").split(';').next().expect("text");
    let wrong = on_main(&lab, "web", &[("ZONEWRIGHT_EXPECT", "sha256:1'; id")], &["zonewright-apply"]);
    assert_eq!(wrong.jobs["zonewright-merged"], 3);
    let applied = on_main(&lab, "web", &[("ZONEWRIGHT_EXPECT", effect)], &["zonewright-apply"]);
    assert_eq!(applied.jobs["zonewright-apply"], 0, "{}", applied.log);
    assert!(!lab.repository.differs());
    let nothing = on_main(&lab, "web", &[], &["zonewright-resume"]);
    assert_eq!(nothing.jobs["zonewright-resume"], 0, "{}", nothing.log);
    assert!(!Path::new("/tmp/zonewright-hostile-lab").exists());
    lab.assert_content();
}

#[test]
fn a_faulty_workspace_is_red_and_reported() {
    let Some(lab) = Lab::new() else { return };
    let (head, _) = lab.repository.branch("faulty", |workspace| edit(workspace, "zonewright.toml", "owner", "ownre"));
    let early = propose(&lab, 7, &head, 5);
    assert!(early.log.contains("there is no snapshot of live DNS"), "{}", early.log);
    on_main(&lab, "schedule", &[], &[]);
    let planned = propose(&lab, 7, &head, 5);
    assert_eq!((planned.jobs["zonewright-check"], planned.jobs["zonewright-plan"]), (1, 1), "{}", planned.log);
    on_main(&lab, "schedule", &[], &[]);
    assert!(notes(&lab)[0].contains("No DNS plan"), "{:?}", notes(&lab));
    lab.assert_content();
}

#[test]
fn a_note_of_an_earlier_push_is_no_review_of_a_later_one() {
    let Some(lab) = Lab::new() else { return };
    on_main(&lab, "schedule", &[], &[]);
    let (head, _) = lab.repository.branch("move", move_vlan);
    propose(&lab, 7, &head, 5);
    on_main(&lab, "schedule", &[], &[]);
    let (head, _) = lab.repository.branch("move", |workspace| {
        move_vlan(workspace);
        fs::write(workspace.join("README.md"), "Our DNS.\n").expect("a file");
    });
    propose(&lab, 7, &head, 5);
    // It has the same effect, but it was not shown to a reviewer.
    let refused = merge(&lab, 7, &["zonewright-apply"]);
    assert_eq!((refused.jobs["zonewright-merged"], refused.jobs.get("zonewright-apply")), (3, None), "{}", refused.log);
    assert!(refused.log.contains("reviewed was: nothing"), "{}", refused.log);
    lab.assert_content();
}

#[test]
fn a_request_that_cannot_be_noted_keeps_no_other_from_its_note() {
    let Some(lab) = Lab::new() else { return };
    on_main(&lab, "schedule", &[], &[]);
    let (head, _) = lab.repository.branch("move", move_vlan);
    propose(&lab, 7, &head, 5);
    let request = lab.kept().requests[0].clone();
    // More than a page, and that of which a plan is there is the last.
    for iid in 100..220 {
        let mut other = request.clone();
        other["iid"] = json!(iid);
        other["head_pipeline"]["sha"] = json!("0".repeat(40));
        lab.kept().requests.insert(0, other);
    }
    for (path, status) in [("merge_requests/101", 500), ("merge_requests/102", 200)] {
        lab.kept().broken.push((path.into(), status));
    }
    let noted = on_main(&lab, "schedule", &[], &[]);
    assert_eq!(noted.jobs["zonewright-notes"], 1, "{}", noted.log);
    assert!(noted.log.contains("no note could be written of: !102 !101"), "{}", noted.log);
    assert!(notes(&lab).len() == 1 && notes(&lab)[0].contains(&head), "{:?}", notes(&lab));

    // An answer about notes that is cut off is no end of the pages, and no reason to write a second one.
    lab.kept().requests.retain(|request| request["iid"] == 7);
    for status in [200, 500] {
        lab.kept().broken = vec![("merge_requests/7/notes?".into(), status)];
        propose(&lab, 7, &head, 5);
        assert_eq!(on_main(&lab, "schedule", &[], &[]).jobs["zonewright-notes"], 1);
        assert_eq!(notes(&lab).len(), 1);
        let refused = merge(&lab, 7, &["zonewright-apply"]);
        assert_ne!(
            (refused.jobs["zonewright-merged"], refused.jobs.get("zonewright-apply")),
            (0, None),
            "{}",
            refused.log
        );
        assert!(lab.repository.differs(), "nothing was changed");
    }
    lab.assert_content();
}

#[test]
fn a_runner_without_the_program_fetches_the_one_that_is_pinned() {
    let Some(lab) = Lab::new() else { return };
    let file = lab.repository.path("origin/.gitlab/zonewright/release");
    let [right, wrong] = lab.repository.releases();
    fs::write(&file, right).expect("a file");
    lab.repository.commit("another version");
    on_main(&lab, "schedule", &[], &[]);
    let (head, _) = lab.repository.branch("move", move_vlan);
    let planned = propose(&lab, 7, &head, 5);
    assert_eq!((planned.jobs["zonewright-check"], planned.jobs["zonewright-plan"]), (0, 0), "{}", planned.log);
    let (head, _) = lab.repository.branch("wrong", |_| fs::write(&file, &wrong).expect("a file"));
    let refused = propose(&lab, 8, &head, 5);
    assert_eq!((refused.jobs["zonewright-check"], refused.jobs["zonewright-plan"]), (1, 1), "{}", refused.log);
    assert!(refused.log.contains("its checksum is not that"), "{}", refused.log);
    lab.assert_content();
}
