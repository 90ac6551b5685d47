//! Plans and applies of a story, by the real code.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::time::{Duration as SystemDuration, Instant};

use super::super::telling::{self, Silent, ran_words, shown};
use super::super::wires::Book;
use super::site::{access, settings};
use super::stage::{RolloutStage, Weakness};
use super::story::Story;
use super::world::{NAME_SERVERS, TrueHost, World, address};
use crate::apply::accept::PlanTerms;
use crate::apply::shape::PlanBounds;
use crate::change::{Change, Reason};
use crate::dns::Rtype;
use crate::health::gate::GateAnswer;
use crate::inventory::value::{Duration, Inv, Time};
use crate::pipeline::apply::{ApplyRun, ApplyWork};
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::guards::ApplyGuards;
use crate::pipeline::targets::Targets;
use crate::pipeline::wave_checks::WaveChecks;
use crate::pipeline::waves::NO_BUDGETS;
use crate::plan::{GroupSeen, HostSeen, Plan, Rule, SealedPlan, fixture};
use crate::registry::{Marking, Registry};
use crate::rollout::via::add_via;
use crate::state::ApplyId;

/// The gates and probes of a story.
struct StoryChecks<'s> {
    /// The dice.
    stage: &'s RolloutStage,
    /// The truth.
    world: &'s World,
}

impl WaveChecks for StoryChecks<'_> {
    fn gate(&self, _: &str, _: &str) -> GateAnswer {
        GateAnswer { passed: self.stage.gate_passes(), said: String::new(), is_usable: true }
    }

    fn answers(&self, _: &str, address: IpAddr) -> Result<bool, String> {
        Ok(self.world.answers(&address.to_string()))
    }
}

impl Story {
    /// A run: with a new plan, or one that was made before, or of an apply; gives whether nothing was left to do.
    ///
    /// Errors: a host that left by itself waits; or the state is of an earlier time, and the run goes all the same.
    pub fn run(&mut self, is_deadly: bool, given: Option<(SealedPlan, Option<ApplyId>)>) -> Result<bool, String> {
        self.runs += 1;
        // A clock that is set back by an hour, once in a while.
        let is_back = is_deadly && self.stage.below(4) == 0;
        let now = if is_back { self.world.now.minus(Duration::from_secs(3600)) } else { self.world.now };
        let is_new = given.is_none();
        let (sealed, id) = given.unwrap_or_else(|| (self.plan(now), None));
        if sealed.plan().changes.is_empty() {
            return Ok(true);
        }
        self.history.push(format!("a run at {now}: {}", shown(&sealed.plan().changes)));
        self.stage.set_deadly(is_deadly);
        let ran = self.carry_out(&sealed, id, now);
        self.stage.set_deadly(false);
        self.history.push(match &ran {
            None => "it died".to_owned(),
            Some(ran) => ran_words(ran),
        });
        self.keep_plan(sealed);
        self.is_refused_rightly(ran.as_ref())?;
        if self.stage.weakness == Weakness::SettleFromReadBack {
            self.pretend_served();
        }
        let has_all = ran.is_some_and(|ran| ran.refusal.is_none()) && is_new && self.stage.weakness == Weakness::None;
        let left =
            self.world.hosts.iter().enumerate().filter(|(_, own)| own.left.is_some() && own.homes.contains(&own.wish));
        let mut waiting = left.filter(|(host, own)| has_all && self.world.written(*host).is_disjoint(&own.homes));
        match waiting.next() {
            Some((host, _)) => Err(format!("h{host} is down, and waits")),
            None => Ok(false),
        }
    }

    /// Takes the name servers for current, whatever they serve.
    fn pretend_served(&mut self) {
        let behind = self.world.name_servers.clone();
        (0..NAME_SERVERS).for_each(|name_server| self.world.catch_up(name_server));
        self.poll();
        self.world.name_servers = behind;
    }

    /// The plan that makes all hosts as they are wished.
    pub fn plan(&self, now: Time) -> SealedPlan {
        let change = |host: usize| {
            let own = &self.world.hosts[host];
            let live = self.world.live(host)?;
            let before = live.rdata_texts(Rtype::AAAA);
            let after = [address(host, own.wish)];
            let texts: Vec<&str> = before.iter().map(String::as_str).collect();
            let (name, wanted) = (own.name.to_string(), [after[0].as_str()]);
            let ttl = u64::from(live.ttl().as_secs());
            (before != after || ttl != own.ttl).then(|| {
                let comes = (!before.contains(&after[0])).then_some(Rule::Missing);
                let goes = (before != after).then_some(Rule::WrongAddress);
                let rules = comes.into_iter().chain(goes).chain((ttl != own.ttl).then_some(Rule::Ttl));
                let number = Some(host as u64);
                let reasons: Vec<Reason> = rules.map(|rule| fixture::reason(rule, number, &["hosts.csv:1"])).collect();
                let sides = ((ttl, &texts[..]), (own.ttl, &wanted[..]));
                fixture::change(("search", number), (&name, Rtype::AAAA), sides, &reasons)
            })
        };
        let seen = |(host, own): (usize, &TrueHost)| {
            let location = own.location.to_owned();
            (Inv(host as u64), HostSeen { location, ..HostSeen::default() })
        };
        let count = self.world.hosts.len();
        let mut plan = Plan {
            created: now,
            expires: now.plus(Duration::from_secs(86_400)),
            hosts: self.world.hosts.iter().enumerate().map(seen).collect(),
            groups: vec![GroupSeen { group: "search".to_owned(), in_service: count as u64, unmet: None }],
            changes: (0..count).filter_map(change).map(|own| Change { pool: super::super::pool(), ..own }).collect(),
            inputs: BTreeMap::new(),
            zones: Vec::new(),
            ..fixture::empty()
        };
        add_via(&mut plan, &|group| self.groups[group].overlap.is_some());
        SealedPlan::new(plan)
    }

    /// Applies a plan, or resumes an apply, in a run that takes up to two seconds; none where the run died.
    fn carry_out(&mut self, sealed: &SealedPlan, id: Option<ApplyId>, now: Time) -> Option<ApplyRun> {
        let (settings, interrupted) = (settings(), AtomicBool::new(false));
        let conduct = ApplyConduct {
            began: Instant::now() - SystemDuration::from_secs(self.runs % 3),
            ..super::super::conduct(now, self.runs, &interrupted)
        };
        let access = access(&self.world, self.stage.weakness);
        let targets = Targets { copies: vec![access], writers: vec![&self.world.primary] };
        let projects = settings.projects.iter().filter_map(|own| Some((own.id.as_str(), own.admin.as_ref()?)));
        let marking = Marking::sample("us", Registry::Journal);
        let bounds = PlanBounds::new(vec![&self.world.zone], projects, &marking, 1);
        let expires = Duration::from_secs(86_400);
        let waves_expire = Some(now.plus(expires));
        let terms = PlanTerms { now: sealed.plan().created, expires, waves_expire, expect: None, bounds: &bounds };
        let groups = if self.stage.weakness == Weakness::NoRollout { &NO_BUDGETS } else { &self.groups };
        let guards = ApplyGuards::default();
        let checks = StoryChecks { stage: &self.stage, world: &self.world };
        let (request, progress, targets) = (&conduct, &Silent, &targets);
        let work = ApplyWork {
            approver: None,
            sealed,
            place: "plan",
            terms,
            request,
            progress,
            targets,
            at_once: 1,
            guards,
            settings,
            groups,
            checks: &checks,
        };
        let mut book = Book { stage: &self.stage, run: 0, number: 0, state: &mut self.state };
        telling::carry_out(&work, &mut book, id)
    }
}
