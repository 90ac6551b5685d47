//! What happens under one seed: exports that change, plans, applies that die or are resumed, name servers that catch up and
//! are polled, resolvers that are asked; and a quiet time at the end, in which all must come to be as wished.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::{Duration as SystemDuration, Instant};

use super::super::telling::{self, Silent, ran_words, shown};
use super::super::wires::Book;
use super::stage::{RolloutStage, Weakness};
use super::world::{NAME_SERVERS, TrueHost, World, address};
use crate::apply::CopyAccess;
use crate::apply::accept::PlanTerms;
use crate::apply::shape::PlanBounds;
use crate::change::{Change, Reason};
use crate::claim::Subject;
use crate::consensus::TimedRow;
use crate::dns::Rtype;
use crate::health::gate::GateAnswer;
use crate::inventory::rollout::{MaxUnavailable, RolloutTerms};
use crate::inventory::value::{Duration, Inv, Time};
use crate::pipeline::apply::{ApplyRun, ApplyWork};
use crate::pipeline::conduct::ApplyConduct;
use crate::pipeline::guards::ApplyGuards;
use crate::pipeline::publication::PoolRolls;
use crate::pipeline::settings::{WorkspaceSettings, load_settings};
use crate::pipeline::targets::Targets;
use crate::pipeline::wave_checks::WaveChecks;
use crate::pipeline::waves::{GroupSettings, NO_BUDGETS, settings_of};
use crate::plan::{GroupSeen, HostSeen, Plan, Rule, SealedPlan, fixture};
use crate::reading::ReadingTerms;
use crate::registry::{Marking, Registry};
use crate::rollout::via::add_via;
use crate::state::{ApplyId, ApplyJournal, PublicationRecord, RecordedZone, RolloutRegister, Sqlite};
use crate::target::{CopyId, PoolName, SerialAnswer, ZoneId};

/// How many events a story has.
const EVENTS: usize = 60;

/// How many rounds there are in which all name servers are current, and exports are still wrong.
const WRONG_ROUNDS: usize = 8;

/// How many rounds the quiet time at the end has at most.
const ROUNDS: usize = 60;

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

/// A story.
struct Story {
    /// The dice.
    stage: RolloutStage,
    /// The truth.
    world: World,
    /// The state of all runs.
    state: Sqlite,
    /// The budget.
    groups: GroupSettings,
    /// Whether its export is wrong once in a while.
    may_be_wrong: bool,
    /// The plan of the latest run.
    last: Option<SealedPlan>,
    /// How many runs there were.
    runs: u64,
    /// What happened.
    history: Vec<String>,
}

/// Plays a seed; an error is what happened until a violation, which is the last line.
pub fn play(seed: u64, weakness: Weakness) -> Result<(), Vec<String>> {
    let (told, is_right) = tell(seed, weakness);
    if is_right { Ok(()) } else { Err(told) }
}

/// Plays a seed; gives what happened, and whether nothing was violated.
pub fn tell(seed: u64, weakness: Weakness) -> (Vec<String>, bool) {
    let mut story = Story::new(seed, weakness);
    let violation = story.play().err();
    let is_right = violation.is_none();
    story.history.extend(violation);
    (story.history, is_right)
}

impl Story {
    /// The story of a seed.
    fn new(seed: u64, weakness: Weakness) -> Story {
        let stage = RolloutStage::new(seed, weakness);
        let world = World::new(3 + stage.below(6), 1 + stage.below(3));
        let own = settings_of(&settings().projects, &[]).remove("search").unwrap();
        let terms = RolloutTerms {
            max_unavailable: MaxUnavailable::Number(1 + stage.below(3)),
            one_location_at_a_time: stage.below(3) > 0,
            canary: (stage.below(2) == 0).then_some(1),
            gate: (stage.below(3) == 0).then(|| "health".to_owned()),
            probe: (stage.below(2) == 0).then(|| "ssh".to_owned()),
            overlap: (stage.below(2) == 0).then(|| Duration::from_secs([0, 120, 900][stage.below(3)])),
            ..own
        };
        let may_be_wrong = terms.probe.is_some();
        let probe = terms.probe.filter(|_| weakness != Weakness::NoProbe);
        let terms = RolloutTerms { probe, ..terms };
        let groups = [("search".to_owned(), terms)].into();
        let (state, history) = (Sqlite::in_memory(), Vec::new());
        Story { stage, world, state, groups, may_be_wrong, last: None, runs: 0, history }
    }

    /// Plays it.
    fn play(&mut self) -> Result<(), String> {
        for _ in 0..EVENTS {
            self.event()?;
            self.world.move_hosts();
            self.check()?;
        }
        for _ in 0..WRONG_ROUNDS {
            self.ask();
            self.change_ttls();
            self.move_hosts();
            self.round()?;
        }
        self.quiet()
    }

    /// Something happens.
    fn event(&mut self) -> Result<(), String> {
        match self.stage.below(17) {
            0 | 1 => self.pass(1 + self.stage.below(400) as u64),
            2 | 3 => self.move_hosts(),
            4 | 5 => self.change_ttls(),
            6..=8 => return self.apply(),
            9 => self.resume()?,
            10 | 11 => self.catch_up(),
            12 => self.poll(),
            13 => self.leave(),
            _ => self.ask(),
        }
        Ok(())
    }

    /// Counts whom clients may not reach.
    fn check(&self) -> Result<(), String> {
        let terms = &self.groups["search"];
        // Where old and new addresses overlap, even a client that hears a wrong one in addition counts.
        let has_overlap = terms.overlap.is_some();
        let unreachable = if has_overlap { self.world.unreachable_in_part() } else { self.world.unreachable() };
        let budget = terms.max_unavailable.of(self.world.hosts.len());
        if unreachable.len() > budget {
            return Err(format!("{unreachable:?} are unreachable, and the budget is {budget}"));
        }
        // A repair does not wait for a location.
        let memory = self.state.rollouts().unwrap();
        let is_repaired = |host: &&usize| {
            let subject = Subject::Host(Inv(**host as u64));
            memory.rows_of(&subject).any(|row| row.is_repair && row.is_in_flux(self.world.now))
        };
        if has_overlap && let Some(host) = self.world.unreachable().iter().find(|host| !is_repaired(host)) {
            return Err(format!("no address of h{host} works for some client, although its old and new ones overlap"));
        }
        let others = unreachable.iter().filter(|host| !is_repaired(host));
        let locations: BTreeSet<&str> = others.map(|host| self.world.hosts[*host].location).collect();
        if terms.one_location_at_a_time && locations.len() > 1 {
            return Err(format!("{unreachable:?} are unreachable at {locations:?}"));
        }
        Ok(())
    }

    /// All name servers catch up and settle, and a run goes; gives whether nothing was left to do.
    fn round(&mut self) -> Result<bool, String> {
        (0..NAME_SERVERS).for_each(|name_server| self.world.catch_up(name_server));
        self.poll();
        self.check()?;
        self.pass(301);
        let is_done = self.run(false, None)?;
        self.world.move_hosts();
        self.check()?;
        Ok(is_done)
    }

    /// Faults end: all must come to be as wished.
    fn quiet(&mut self) -> Result<(), String> {
        self.history.push("the quiet time begins".to_owned());
        self.stage.end_faults();
        for own in &mut self.world.hosts {
            own.wrong.clear();
            if own.left.is_some() {
                own.wish = *own.homes.first().unwrap();
            }
        }
        self.world.move_hosts();
        for _ in 0..ROUNDS {
            if self.round()? {
                return Ok(());
            }
        }
        self.history.push(format!("{:?}", self.state.rollouts().unwrap()));
        Err("not all comes to be as wished".to_owned())
    }

    /// Time passes.
    fn pass(&mut self, seconds: u64) {
        self.world.now = self.world.now.plus(Duration::from_secs(seconds));
        self.history.push(format!("{} comes", self.world.now));
    }

    /// The export gives some hosts other addresses.
    fn move_hosts(&mut self) {
        for _ in 0..=self.stage.below(self.world.hosts.len()) {
            let host = self.stage.below(self.world.hosts.len());
            let (wish, wrong) = (self.stage.below(4), self.may_be_wrong && self.stage.below(5) == 0);
            let written = self.world.written(host);
            let own = &mut self.world.hosts[host];
            own.wish = wish;
            if wrong && !own.homes.contains(&wish) && !written.contains(&wish) {
                own.wrong.insert(wish);
                self.history.push(format!("the export says h{host} is at {wish}, which is wrong"));
            } else {
                own.wrong.remove(&wish);
            }
        }
    }

    /// A host moves by itself to where its export has it, or will have it.
    fn leave(&mut self) {
        let (host, home) = (self.stage.below(self.world.hosts.len()), self.stage.below(4));
        let written = self.world.written(host);
        let own = &mut self.world.hosts[host];
        let Some(old) = written.first().copied().filter(|_| own.homes == written && written.len() == 1) else { return };
        if self.groups["search"].probe.is_some() && own.left.is_none() && home != old {
            (own.homes, own.left) = ([home].into(), Some(old));
            own.wrong.remove(&home);
            if self.stage.below(3) > 0 {
                own.wish = home;
            }
            self.history.push(format!("h{host} moves by itself from {old} to {home}"));
        }
    }

    /// The export gives some hosts another TTL.
    fn change_ttls(&mut self) {
        let host = self.stage.below(self.world.hosts.len());
        self.world.hosts[host].ttl = [30, 300, 900][self.stage.below(3)];
    }

    /// A name server catches up.
    fn catch_up(&mut self) {
        let name_server = self.stage.below(NAME_SERVERS);
        self.world.catch_up(name_server);
        self.history.push(format!("name server {name_server} serves {}", self.world.serial(name_server)));
    }

    /// Clients ask resolvers.
    fn ask(&mut self) {
        for _ in 0..6 {
            let resolver = self.stage.below(self.world.resolver_count());
            let (name_server, host) = (self.stage.below(NAME_SERVERS), self.stage.below(self.world.hosts.len()));
            self.world.resolve(resolver, name_server, host);
        }
    }

    /// A plan is made and applied, perhaps by a run whose clock was set back, and perhaps dies.
    fn apply(&mut self) -> Result<(), String> {
        let is_deadly = self.stage.below(3) == 0;
        self.run(is_deadly, None).map(drop)
    }

    /// The latest apply is resumed.
    fn resume(&mut self) -> Result<(), String> {
        let Some(sealed) = self.last.clone() else { return Ok(()) };
        let latest = self.state.applies(1).unwrap().into_iter().next();
        // A run may have died before its apply began.
        let own = latest.filter(|apply| apply.new.plan == sealed.id()).map(|apply| apply.id);
        if let Some(id) = own.filter(|id| self.state.document(*id).unwrap().is_some()) {
            let is_deadly = self.stage.below(4) == 0;
            self.run(is_deadly, Some((sealed, id)))?;
        }
        Ok(())
    }

    /// Asks all name servers, and keeps what they show.
    fn poll(&mut self) {
        let rolls = rolls();
        let zone = zone_id(&self.world);
        let mut record = self.state.zone_record(&zone).unwrap();
        for (number, own) in rolls.name_servers("main").iter().enumerate() {
            let target = record.targets.get(&own.voter.target).map(|target| target.counted());
            let Some(target) = target else { continue };
            let answer = SerialAnswer::Serves(self.world.serial(number));
            let row = record.row(&own.voter).after(answer, &target, record.newest);
            record.servers.insert(own.voter.clone(), TimedRow { row, at: self.world.now });
        }
        record.count(rolls.roll(&zone).unwrap(), true);
        let kept = RecordedZone { zone, record, begun: None };
        self.state.keep_records(&[kept], self.world.now).unwrap();
    }

    /// A run: with a new plan, or of an apply; gives whether nothing was left to do.
    ///
    /// Errors: a host that left by itself waits.
    fn run(&mut self, is_deadly: bool, resumed: Option<(SealedPlan, ApplyId)>) -> Result<bool, String> {
        self.runs += 1;
        // A clock that is set back by an hour, once in a while.
        let is_back = is_deadly && self.stage.below(4) == 0;
        let now = if is_back { self.world.now.minus(Duration::from_secs(3600)) } else { self.world.now };
        let (sealed, id) = match resumed {
            Some((sealed, id)) => (sealed, Some(id)),
            None => (self.plan(now), None),
        };
        if sealed.plan().changes.is_empty() {
            return Ok(true);
        }
        let is_new = id.is_none();
        self.history.push(format!("a run at {now}: {}", shown(&sealed.plan().changes)));
        self.stage.set_deadly(is_deadly);
        let ran = self.carry_out(&sealed, id, now);
        self.stage.set_deadly(false);
        self.history.push(match &ran {
            None => "it died".to_owned(),
            Some(ran) => ran_words(ran),
        });
        self.last = Some(sealed);
        if self.stage.weakness == Weakness::SettleFromReadBack {
            self.pretend_served();
        }
        let has_all = ran.is_some() && is_new && self.stage.weakness == Weakness::None;
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
    fn plan(&self, now: Time) -> SealedPlan {
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
            (Inv(host as u64), HostSeen { location, name: None, rack: None, switch: None })
        };
        let count = self.world.hosts.len();
        let mut plan = Plan {
            created: now,
            expires: now.plus(Duration::from_secs(86_400)),
            hosts: self.world.hosts.iter().enumerate().map(seen).collect(),
            groups: vec![GroupSeen { group: "search".to_owned(), in_service: count as u64, unmet: None }],
            changes: (0..count).filter_map(change).map(|own| Change { pool: pool(), ..own }).collect(),
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
            workspace: Path::new("."),
            now,
            read_at: None,
            began: Instant::now() - SystemDuration::from_secs(self.runs % 3),
            who: "",
            reason: None,
            max_failures: None,
            run: self.runs,
            interrupted: &interrupted,
            allow: &[],
            auto: false,
            ignores_gates: false,
            waits: false,
        };
        let zone = zone_id(&self.world);
        let access =
            CopyAccess { copy: CopyId::only(&zone), writer: Ok(&self.world.primary), is_fenced: true, share: None };
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

/// The pool.
fn pool() -> PoolName {
    "main".parse().unwrap()
}

/// The zone.
fn zone_id(world: &World) -> ZoneId {
    ZoneId { pool: pool(), name: world.zone.clone() }
}

/// The voters: the name servers of the pool.
fn rolls() -> PoolRolls<'static> {
    let settings = settings();
    let now = "2026-11-20T02:00:00Z".parse().unwrap();
    let context = ReadingTerms { workspace: Path::new("."), now, cache: None };
    PoolRolls::of(&settings.config, context.context(&settings.config).source)
}

/// Settings of a pool with two name servers, and of a project with a rollout.
fn settings() -> &'static WorkspaceSettings {
    static SETTINGS: OnceLock<WorkspaceSettings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let workspace = tempfile::tempdir().unwrap();
        let write = |file, text: &str| std::fs::write(workspace.path().join(file), text).unwrap();
        let exports = ["hosts", "l3_tors", "net_layout", "ipv4_map"].map(|key| format!("{key} = \"{key}\"\n")).concat();
        let toml = format!(
            "owner = \"us\"\n[sources]\nprojects = \"search.yaml\"\n{exports}[[sources.mac]]\nname = \"a\"\npath = \"a\"\n\
             [project.search]\ndns_domain = \"search.example.net\"\nautomation = \"allowed\"\n\
             [[pool.main.target]]\ntype = \"zonefile\"\ndir = \"zones\"\n\
             [[pool.main.nameserver]]\nserver = \"192.0.2.1:53\"\n[[pool.main.nameserver]]\nserver = \"192.0.2.2:53\"\n\
             [[zone]]\nname = \"search.example.net\"\npool = \"main\"\npermission = \"full\"\n"
        );
        write("zonewright.toml", &toml);
        let project = "id: search\nvlan_scheme: static\nvlans: {main: 1}\nautomation: true\nrollout: {max_unavailable: 1}\n";
        write("search.yaml", project);
        load_settings(workspace.path()).unwrap()
    })
}
