//! A CNAME that becomes an A, and an A that becomes a CNAME, by an apply that is killed anywhere: the name answers one or the
//! other, never both and never neither, and `resume` ends it.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use tempfile::TempDir;

use crate::copy::copy;
use crate::rig::{Applied, Planned, Rig, apply_command, quiet_in};
use crate::server::Kind;
use crate::sweep;
use crate::syscalls::{self, Fault, Maker, Point};
use crate::workspace::edit;
use crate::yard::STATE;

on_every_primary! {
    a_type_that_is_replaced_is_never_missing_and_never_doubled
}

/// How many points are tried in each direction, by default, in addition to those around messages.
const SAMPLE: usize = 12;

/// The zone.
const ZONE: &str = "web.example.net.";

/// The name whose type changes.
const NAME: &str = "api.web.example.net.";

/// The manifest, with a type and its target.
fn manifest(rtype: &str, target: &str) -> String {
    format!(
        "apiVersion: externaldns.k8s.io/v1alpha1\nkind: DNSEndpoint\nmetadata: {{name: web}}\nspec:\n  endpoints:\n  - \
         {{dnsName: {NAME}, recordType: {rtype}, targets: [{target}]}}\n"
    )
}

/// The types with their targets, there and back.
const TURNS: [[&str; 2]; 3] = [["CNAME", "www.example.org"], ["A", "192.0.2.1"], ["CNAME", "www.example.org"]];

/// The workspace with its zones in files.
fn files() -> TempDir {
    let files = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/_base"), files.path());
    let source =
        "[[sources.records]]\nname = \"apps\"\nformat = \"dnsendpoint\"\npath = \"m.yaml\"\nproject = \"web\"\n\n";
    edit(files.path(), "[project.web]\n", &format!("{source}[project.web]\n"));
    files
}

/// A server, and the plan that replaces one type by another.
struct Turn<'r> {
    /// The server.
    rig: &'r Rig,
    /// The plan.
    plan: Planned,
    /// A copy of the state before it.
    copies: TempDir,
    /// The type before and after.
    types: [&'static str; 2],
    /// The number of the apply that is to come.
    number: u64,
}

impl Turn<'_> {
    /// The types at the name: that of the record, whichever it is.
    fn types_now(&self) -> Vec<String> {
        let records = self.rig.zone(ZONE).records;
        let own = records.iter().filter(|line| line.starts_with(&format!("{NAME} ")));
        own.map(|line| line.split(' ').nth(2).expect("a type").to_owned()).collect()
    }

    /// Puts zone and state back.
    fn put_back(&self, before: &std::collections::BTreeMap<String, crate::rig::Zone>) {
        let state = self.rig.workspace.path().join(STATE);
        fs::remove_dir_all(&state).expect("the state");
        copy(&self.copies.path().join(STATE), &state);
        self.rig.restore(&self.rig.all_zones(), before);
    }

    /// Tries all points of a sample.
    fn sweep(&self, kind: Kind) {
        let before = self.rig.all_zones();
        let command = || apply_command(self.rig.workspace.path(), &self.plan.file, &[]);
        let points = syscalls::points(&command(), self.copies.path(), |mut command| {
            self.put_back(&before);
            Applied::new(command.output().expect("it runs")).assert_all(0, "applied");
        });
        let is_on_the_wire =
            |point: &Point| point.maker == Maker::Library && ["connect", "send", "recv"].contains(&point.call.as_str());
        let (mut chosen, others): (Vec<Point>, Vec<Point>) = points.into_iter().partition(is_on_the_wire);
        let more = if sweep::wants_all("KILL_POINTS") { others } else { sweep::sample(&others, SAMPLE) };
        chosen.extend(more);
        let mut killed = 0;
        for point in &chosen {
            self.put_back(&before);
            let output = point.of(&command(), Fault::Kill).output().expect("it runs");
            killed += usize::from(output.status.signal().is_some());
            let now = self.types_now();
            assert!(now.len() == 1 && self.types.contains(&now[0].as_str()), "{kind:?} {point:?}: {now:?}");
            let mut resume = quiet_in(self.rig.workspace.path());
            let resumed = Applied::new(resume.args(["resume", "--format", "json"]).output().expect("it runs"));
            let has_begun = resumed.document["apply"] == self.number && resumed.refused().is_none();
            if has_begun {
                assert_eq!(self.types_now(), [self.types[1]], "{kind:?} {point:?}: {}", resumed.said());
            } else {
                // Nothing was begun, or all was done: the same plan is taken, or finds itself done.
                let again = Applied::new(command().output().expect("it runs"));
                assert_eq!(again.exit, Some(0), "{kind:?} {point:?}: {}{}", resumed.said(), again.said());
                assert_eq!(self.types_now(), [self.types[1]], "{kind:?} {point:?}");
            }
        }
        assert!(killed * 2 > chosen.len(), "{kind:?}: only {killed} of {} were killed", chosen.len());
        self.put_back(&before);
    }
}

/// The test, for one kind of server.
fn a_type_that_is_replaced_is_never_missing_and_never_doubled(kind: Kind) {
    if !syscalls::are_possible() {
        return;
    }
    let files = files();
    let state = |[rtype, target]: [&str; 2], to: &Path| {
        fs::write(to.join("m.yaml"), manifest(rtype, target)).expect("a file");
    };
    state(TURNS[0], files.path());
    let Some(rig) = Rig::of_files(kind, files.path()) else { return };
    rig.apply(&rig.plan(), &[]).assert_all(0, "applied");
    for (number, turn) in (2..).zip(TURNS.windows(2)) {
        state(turn[1], rig.workspace.path());
        let plan = rig.plan();
        assert_eq!(plan.document["changes"].as_array().map(Vec::len), Some(2), "{kind:?}: {:#}", plan.document);
        let copies = tempfile::tempdir().expect("a folder");
        copy(&rig.workspace.path().join(STATE), &copies.path().join(STATE));
        let turn = Turn { rig: &rig, plan, copies, types: [turn[0][0], turn[1][0]], number };
        turn.sweep(kind);
        rig.apply(&turn.plan, &[]).assert_all(0, "applied");
        assert_eq!(turn.types_now(), [turn.types[1]]);
    }
}
