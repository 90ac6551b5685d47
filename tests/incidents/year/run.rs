//! A workspace that lives through the days under some settings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use zonewright::change::{BlockCode, ChangeKind, NoticeCode};
use zonewright::inventory::value::Time;
use zonewright::pipeline::apply::{PlanToApply, apply};
use zonewright::pipeline::conduct::{ApplyConduct, NoLog};
use zonewright::plan::{Plan, SealedPlan, ZoneSeen};

use super::faults::Faulty;
use super::life::Life;
use crate::fleet::{Fleet, Records, Settings, unguarded};
use crate::yard::Yard;

/// A workspace.
pub struct World {
    /// Where it is.
    yard: Yard,
    /// The settings that it has on ordinary days.
    settings: Settings,
    /// The most of each figure that an ordinary day came to, in tenths of a percent.
    pub most: BTreeMap<&'static str, u64>,
}

/// The outcome of a day's exports.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What stopped something of it.
    pub stopped_by: Option<String>,
    /// How many hosts have records afterwards that they should not have, and had right before.
    pub harmed: usize,
    /// How many RRsets wait before they are deleted.
    pub waiting: usize,
}

impl World {
    /// A workspace on the first day, all records of which it created itself.
    pub fn new(life: &Life, settings: Settings) -> World {
        let yard = Yard::empty(&life.fleet);
        let world = World { yard, settings, most: BTreeMap::new() };
        let (_, made) = apply_exports(&world.yard, &life.fleet, unguarded(), [life.now(), life.exported(0)]);
        assert_eq!(made, None, "the first day");
        world
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.yard.path()
    }

    /// What its zones hold.
    pub fn records(&self) -> Records {
        self.yard.records()
    }

    /// Applies an ordinary day; what was stopped is let through afterwards, as by a person who looked at it.
    pub fn live(&mut self, life: &Life) -> Outcome {
        let times = [life.now(), life.exported(0)];
        let (plan, stopped_by) = apply_exports(&self.yard, &life.fleet, self.settings.clone(), times);
        for (figure, found) in figures(&plan, life.fleet.hosts.len()) {
            let most = self.most.entry(figure).or_default();
            *most = found.max(*most);
        }
        if stopped_by.is_some() {
            let (_, again) = apply_exports(&self.yard, &life.fleet, unguarded(), times);
            assert_eq!(again, None, "day {}", life.day);
        }
        Outcome { stopped_by, harmed: 0, waiting: plan.delayed.len() }
    }

    /// Lets a fault happen in a copy.
    ///
    /// Without settings nothing stops it: what accepted exports said is forgotten too.
    pub fn suffer(&self, life: &Life, faulty: &Faulty, settings: Option<Settings>) -> Outcome {
        let yard = self.yard.copy();
        if settings.is_none() {
            yard.forget_exports();
        }
        let before = life.fleet.wrong(&yard.records());
        let times = [life.now(), life.exported(faulty.days_ago)];
        let (plan, stopped_by) = apply_exports(&yard, &faulty.fleet, settings.unwrap_or_else(unguarded), times);
        let after: BTreeSet<u64> = life.fleet.wrong(&yard.records());
        Outcome { stopped_by, harmed: after.difference(&before).count(), waiting: plan.delayed.len() }
    }
}

/// How much of the fleet and of its zones a plan changes, in tenths of a percent.
fn figures(plan: &Plan, hosts: usize) -> [(&'static str, u64); 3] {
    let changed: BTreeSet<_> = plan.changes.iter().filter_map(|change| change.subject.host()).collect();
    let most = |counts: fn(&ChangeKind) -> bool| {
        let of_zone = |seen: &ZoneSeen| {
            let of_it = plan.changes.iter().filter(|change| change.zone == seen.zone && counts(&change.kind));
            of_it.count() as u64 * 1_000 / seen.managed.max(1)
        };
        plan.zones.iter().map(of_zone).max().unwrap_or_default()
    };
    [
        ("hosts changed, of all", (changed.len() * 1_000 / hosts) as u64),
        ("RRsets deleted, of a zone", most(|kind| matches!(kind, ChangeKind::Delete { .. }))),
        ("RRsets modified, of a zone", most(|kind| matches!(kind, ChangeKind::Modify { .. }))),
    ]
}

/// Writes the exports of a fleet, plans, and applies; tells what was stopped and by what.
fn apply_exports(yard: &Yard, fleet: &Fleet, settings: Settings, [now, exported]: [Time; 2]) -> (Plan, Option<String>) {
    let mut fleet = fleet.clone();
    fleet.settings = settings;
    yard.export(&fleet, &exported.to_string());
    let sealed = SealedPlan::new(yard.plan(&now.to_string()));
    let given = PlanToApply { sealed: &sealed, place: "the plan", expect: None };
    let conduct = ApplyConduct {
        workspace: yard.path(),
        now,
        read_at: None,
        began: Instant::now(),
        who: "operator",
        reason: None,
        max_failures: None,
        run: 1,
        interrupted: &AtomicBool::new(false),
        allow: &[],
        ignores_gates: false,
        ignores_approvals: false,
        auto: false,
        waits: false,
        log: &NoLog,
        is_patient: false,
    };
    let ran = apply(&given, &conduct, &crate::yard::Silent).expect("settings and a state that can be used");
    let mut causes = stopped(sealed.plan());
    if let Some(refusal) = ran.refusal
        && causes.is_empty()
    {
        causes.insert(format!("refused: {}", refusal.code));
    }
    let causes = causes.into_iter().collect::<Vec<_>>().join(", ");
    (sealed.plan().clone(), Some(causes).filter(|causes| !causes.is_empty()))
}

/// What stops a plan, or hosts of it, in few words.
fn stopped(plan: &Plan) -> BTreeSet<String> {
    let exceeded = plan.limits.iter().filter(|limit| limit.exceeded).map(|limit| match limit.period.as_str() {
        "plan" => limit.counts.to_string(),
        period => format!("hosts in {period}"),
    });
    let untrusted = plan.notices.iter().filter(|notice| notice.code == NoticeCode::SourceUntrusted);
    let untrusted = untrusted.map(|notice| {
        let tests = ["max_age", "max_shrink", "max_churn", "min_rows", "digest"];
        let failed: Vec<&str> = tests.into_iter().filter(|test| notice.message.contains(test)).collect();
        format!("{} of {}", failed.join(" and "), notice.name)
    });
    let codes: BTreeSet<BlockCode> = plan.blocked.iter().map(|blocked| blocked.code).collect();
    let blocked = codes.into_iter().filter(|code| *code != BlockCode::SourceUntrusted).map(|code| {
        let count = plan.blocked.iter().filter(|blocked| blocked.code == code).count();
        format!("{code} of {count} hosts")
    });
    exceeded.chain(untrusted).chain(blocked).collect()
}
