//! Plans and applies of a story, by the real code.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use super::super::telling::{self, Silent, ran_words, shown};
use super::super::wires::Book;
use super::desk::StoryDesk;
use super::dns::StoryWire;
use super::site::{accesses, settings};
use super::story::Story;
use super::world::{PROJECTS, TrueHost, address};
use crate::apply::accept::PlanTerms;
use crate::apply::shape::PlanBounds;
use crate::change::{AffectedHost, Change, Reason};
use crate::claim::Subject;
use crate::dns::{ChangeKind, Rrset, Rtype};
use crate::inventory::cms::{CmsAction, CmsVersion};
use crate::inventory::value::{Duration, Inv, Time};
use crate::pipeline::apply::{ApplyRun, ApplyWork};
use crate::pipeline::approvals::{Approver, services_asked};
use crate::pipeline::conduct::NoLog;
use crate::pipeline::guards::ApplyGuards;
use crate::pipeline::targets::Targets;
use crate::pipeline::wave_checks::NoChecks;
use crate::plan::{GroupSeen, HostSeen, Plan, PlanScope, Rule, SealedPlan, fixture};
use crate::provider::memory::primary::UpdateFault;
use crate::registry::{Marking, Registry};
use crate::rollout::via::add_via;
use crate::state::{ApplyId, ApprovalRegister as _};

/// What a change does to a host.
fn deed(change: &Change) -> CmsAction {
    match change.kind {
        ChangeKind::Create { .. } => CmsAction::Prepare,
        ChangeKind::Modify { .. } => CmsAction::TemporaryUnreachable,
        ChangeKind::Delete { .. } => CmsAction::Deactivate,
    }
}

/// The change that makes a host as it is wished; none where it is.
fn change(number: usize, host: &TrueHost) -> Option<Change> {
    let before = host.live.as_ref().map(|rrset| rrset.rdata_texts(Rtype::AAAA)).unwrap_or_default();
    let after: Vec<String> = host.wish.iter().map(|wish| address(number, *wish)).collect();
    let rules: &[Rule] = match (before.as_slice(), after.as_slice()) {
        (before, after) if before == after => return None,
        ([], _) => &[Rule::Missing],
        (_, []) => &[Rule::Released],
        (before, [new]) if before.contains(new) => &[Rule::WrongAddress],
        _ => &[Rule::Missing, Rule::WrongAddress],
    };
    let inv = Some(number as u64);
    let reasons: Vec<Reason> = rules.iter().map(|rule| fixture::reason(*rule, inv, &["hosts.csv:1"])).collect();
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let after: Vec<&str> = after.iter().map(String::as_str).collect();
    let name = host.name.to_string();
    let sides = ((300, &before[..]), (300, &after[..]));
    let own = fixture::change((host.project, inv), (&name, Rtype::AAAA), sides, &reasons);
    Some(Change { pool: super::super::pool(), ..own })
}

impl Story {
    /// A run: with a new plan, or one that was made before, or of an apply.
    ///
    /// Errors: something is not as it should be.
    pub fn run(&mut self, is_deadly: bool, given: Option<(SealedPlan, Option<ApplyId>)>) -> Result<(), String> {
        self.stage.observe();
        let now = self.stage.cast().now;
        let (sealed, id) = given.unwrap_or_else(|| (self.plan(now), None));
        if self.hides_older(sealed.plan()) {
            return Ok(());
        }
        let deeds = sealed.plan().changes.iter().filter_map(|own| Some((own.subject.host()?.0 as usize, deed(own))));
        let affected = sealed.plan().changes.iter().flat_map(|own| {
            let others = sealed.plan().affected(own).filter_map(|host| host.subject.host());
            others.filter_map(|other| Some((own.subject.host()?.0 as usize, other.0 as usize)))
        });
        self.stage.begin_run(is_deadly);
        {
            let mut cast = self.stage.cast();
            cast.deeds = deeds.collect();
            cast.affected = affected.collect();
            let run = cast.run;
            cast.tell(|| format!("run {run} at {now} of {id:?}: {}", shown(&sealed.plan().changes)));
        }
        let kinds = [UpdateFault::LostAnswer, UpdateFault::Lost, UpdateFault::ServFail, UpdateFault::Refused];
        let mut faults = Vec::new();
        for _ in 0..6 {
            let is_faulty = self.stage.cast().one_of(8);
            faults.push(if is_faulty { kinds[self.stage.below(kinds.len())].clone() } else { UpdateFault::None });
        }
        self.stage.primary.expect(faults);
        let ran = self.carry_out(&sealed, id, now);
        self.stage.observe();
        {
            let mut cast = self.stage.cast();
            cast.is_deadly = false;
            cast.tell(|| ran.as_ref().map_or_else(|| "it died".to_owned(), ran_words));
        }
        let is_idle = sealed.plan().changes.is_empty();
        if !is_idle {
            self.keep_plan(sealed);
        }
        self.is_refused_rightly(ran.as_ref(), is_idle)
    }

    /// The plan that makes all hosts as they are wished, or once in a while one of them.
    pub fn plan(&self, now: Time) -> SealedPlan {
        let mut cast = self.stage.cast();
        let cast = &mut *cast;
        let count = cast.hosts.len();
        let one = cast.one_of(6).then(|| cast.dice.below(count));
        let seen = |(number, own): (usize, &TrueHost)| {
            let host = HostSeen {
                location: ["iva", "sas"][number % 2].to_owned(),
                name: Some(own.name.to_string()),
                left: own.wish.is_none(),
                new: own.live.is_none(),
                ..HostSeen::default()
            };
            (Inv(number as u64), host)
        };
        let goes = |number: &usize| one.is_none_or(|one| one == *number);
        // Once in a while the names of hosts that go are those of another host, too, of which the plan changes nothing.
        let shared = cast.one_of(4).then(|| [0; 3].map(|_| cast.dice.below(count)));
        let is_idle = |number: usize| !goes(&number) || change(number, &cast.hosts[number]).is_none();
        let affected = shared.into_iter().filter(|[_, _, other]| is_idle(*other)).flat_map(|[one, two, other]| {
            // All names of a host are in one zone here: what a state of an earlier time does not know is seen by its marker.
            let is_near = |own: &usize| *own != other && cast.hosts[*own].project == cast.hosts[other].project;
            let own: BTreeSet<usize> = [one, two].into_iter().filter(|own| goes(own) && is_near(own)).collect();
            own.into_iter().map(move |own| (own, other))
        });
        let affected = affected.map(|(own, other)| AffectedHost {
            name: cast.hosts[own].name.to_string(),
            project: cast.hosts[other].project.to_owned(),
            subject: Subject::Host(Inv(other as u64)),
        });
        let affected: Vec<AffectedHost> = affected.collect();
        let changes = cast.hosts.iter().enumerate().filter(|(number, _)| goes(number));
        let in_service = |project: &str| cast.hosts.iter().filter(|own| own.project == project).count() as u64;
        let group =
            |project: &&str| GroupSeen { group: (*project).to_owned(), in_service: in_service(project), unmet: None };
        let mut plan = Plan {
            created: now,
            expires: now.plus(Duration::from_secs(86_400)),
            only: one.and_then(|one| PlanScope::new([Inv(one as u64)], &[])),
            hosts: cast.hosts.iter().enumerate().map(seen).collect(),
            groups: PROJECTS.iter().map(group).collect(),
            changes: changes.filter_map(|(number, host)| change(number, host)).collect(),
            affected,
            inputs: BTreeMap::new(),
            zones: Vec::new(),
            ..fixture::empty()
        };
        add_via(&mut plan, &|group| self.groups.get(group).is_some_and(|terms| terms.overlap.is_some()));
        SealedPlan::new(plan)
    }

    /// Applies a plan, or resumes an apply; none where the run died.
    fn carry_out(&mut self, sealed: &SealedPlan, id: Option<ApplyId>, now: Time) -> Option<ApplyRun> {
        let (settings, interrupted) = (settings(), AtomicBool::new(false));
        let stage = &self.stage;
        let (run, projects) = {
            let cast = stage.cast();
            (cast.run, cast.projects.clone())
        };
        let memory = self.state.approvals().unwrap();
        let with_tasks: BTreeSet<&str> = memory.tasks().map(|row| row.service.as_str()).collect();
        let asked = services_asked(&projects, with_tasks.into_iter());
        let version = |name: &&str| ((*name).to_owned(), stage.cast().services[*name].version);
        let services: BTreeMap<String, CmsVersion> = asked.iter().map(version).collect();
        let desk = StoryDesk { stage, pretence: &self.desk };
        let random = || stage.random();
        let approver = Approver {
            projects: &projects,
            services: &services,
            desk: &desk,
            owner: "us",
            run,
            random: &random,
            ignores: false,
            log: &NoLog,
        };
        let conduct = super::super::conduct(now, run, &interrupted);
        let wire = StoryWire { stage };
        let targets = Targets { copies: accesses(&wire), writers: vec![&wire] };
        let admins = settings.projects.iter().filter_map(|own| Some((own.id.as_str(), own.admin.as_ref()?)));
        let marking = Marking::sample("us", Registry::Journal);
        let zones: Vec<_> = settings.config.zones.iter().map(|zone| &zone.name).collect();
        let bounds = PlanBounds::new(zones, admins, &marking, 2);
        let expires = Duration::from_secs(86_400);
        let waves_expire = Some(now.plus(expires));
        let terms = PlanTerms { now: sealed.plan().created, expires, waves_expire, expect: None, bounds: &bounds };
        let work = ApplyWork {
            approver: Some(&approver),
            sealed,
            place: "plan",
            terms,
            request: &conduct,
            progress: &Silent,
            targets: &targets,
            at_once: 1,
            guards: ApplyGuards::default(),
            settings,
            groups: &self.groups,
            checks: &NoChecks,
        };
        let mut book = Book { stage, run: 0, number: 0, state: &mut self.state };
        telling::carry_out(&work, &mut book, id)
    }

    /// What DNS has for hosts, and what they are to have.
    pub fn standing(&self) -> String {
        let cast = self.stage.cast();
        let texts = |rrset: Option<&Rrset>| rrset.map(|own| own.rdata_texts(Rtype::AAAA).join(",")).unwrap_or_default();
        let one = |(number, host): (usize, &TrueHost)| {
            format!("h{number} of {} has [{}], and is to have {:?}", host.project, texts(host.live.as_ref()), host.wish)
        };
        cast.hosts.iter().enumerate().map(one).collect::<Vec<_>>().join("; ")
    }

    /// The hosts that are not as they are wished.
    pub fn unlike(&self) -> BTreeSet<usize> {
        let cast = self.stage.cast();
        let hosts = cast.hosts.iter().enumerate();
        hosts.filter(|(number, host)| change(*number, host).is_some()).map(|(number, _)| number).collect()
    }
}
