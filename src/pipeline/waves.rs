//! Waves, between the settings, a plan and the state.
//!
//! Comes in: the budgets that project files set, a plan, what applies left. Goes out: what of a plan goes now, and what
//! waits and why.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use super::approvals::foreseen;
use crate::apply::Survey;
use crate::change::reach::takes_value;
use crate::change::{Change, Notice, NoticeCode};
use crate::claim::{Rule, Subject};
use crate::diag::Problem;
use crate::dns::{NameRef, RrKey, Rtype};
use crate::inventory::budgets::{in_service, terms};
use crate::inventory::model::{Project, ProjectIndex};
use crate::inventory::pods::{Pod, PodSet, PodSetIndex, PodSetTerms, PodState, Pods};
use crate::inventory::rollout::RolloutTerms;
use crate::inventory::value::{Duration, Time};
use crate::inventory::{Inventory, pod_checks};
use crate::live::{Live, LiveZone};
use crate::plan::{GroupSeen, LeftNames, Plan, PodSeen};
use crate::rollout::flux::{FluxRow, FluxStage};
use crate::rollout::units::units_of;
use crate::rollout::{CacheTimes, GroupTerms, RolloutMemory, RolloutView, UnitStep, choose, place_of};
use crate::state::{ApplyId, DownPod, FormerTtls, SentFate, State};
use crate::target::{PoolName, ZoneId};
use crate::undo::takes_name;

/// What files of projects and of sets of pods say of rollouts, by the id of either: no two are the same.
pub type GroupSettings = BTreeMap<String, RolloutTerms>;

/// No budget: what `sync` makes up was let through before.
pub static NO_BUDGETS: GroupSettings = GroupSettings::new();

/// The rollouts that hold for a plan. One that undoes an apply may be needed just because the file of a set is wrong: so it is
/// let through, one pod after another.
pub fn settings_for(plan: &Plan, projects: &[Project], sets: &[PodSet]) -> GroupSettings {
    let mut settings = settings_of(projects, sets);
    let admin_of = |change: &Change| projects.iter().find(|own| own.id == change.project)?.admin.as_ref();
    // A host whose name loses an address is busy until clients no longer see that, whatever its own project asks for.
    for change in plan.changes.iter().filter(|change| plan.affected(change).next().is_some()) {
        if let Some(admin) = admin_of(change) {
            let terms = || RolloutTerms::without_budget(admin.origin);
            settings.entry(change.project.clone()).or_insert_with(terms);
        }
    }
    for change in plan.changes.iter().filter(|_| plan.undoes.is_some()) {
        // Without it nothing of the project is allowed.
        let Some(admin) = admin_of(change) else { continue };
        for set in change.subjects().filter_map(Subject::pod_set) {
            settings.entry(set.to_owned()).or_insert_with(|| RolloutTerms::of_unread_file(admin.origin));
        }
    }
    settings
}

/// The rollouts of the projects and sets whose file can be read. Of others nothing can change, but by an undo.
pub fn settings_of(projects: &[Project], sets: &[PodSet]) -> GroupSettings {
    let of_projects = projects.iter().filter_map(|project| Some((project.id.clone(), rollout_of(project)?)));
    let of_sets = sets.iter().filter_map(|set| Some((set.id.to_string(), set.terms()?.rollout.clone())));
    of_projects.chain(of_sets).collect()
}

/// How the hosts of a project go; none where all of them go at once, and nothing of that is remembered.
fn rollout_of(project: &Project) -> Option<RolloutTerms> {
    let approvals = project.admin.as_ref().and_then(|admin| admin.approvals.as_ref());
    project.file.settings()?;
    // A host is busy until its change has reached all clients, which is remembered without a budget, too.
    terms(project).cloned().or_else(|| Some(RolloutTerms::without_budget(approvals?.origin)))
}

/// The groups of which a plan changes something, as the inventory has them; sorted by group.
pub fn groups_seen(inventory: &Inventory, plan: &Plan) -> Vec<GroupSeen> {
    let changed: BTreeSet<&str> = plan.changes.iter().map(|change| change.project.as_str()).collect();
    let with_budget = inventory.projects.iter().enumerate().filter(|(_, own)| terms(own).is_some());
    let seen = |(place, project): (usize, &Project)| GroupSeen {
        group: project.id.clone(),
        in_service: in_service(inventory, ProjectIndex(place as u32)) as u64,
        unmet: None,
    };
    let of_projects = with_budget.filter(|(_, own)| changed.contains(own.id.as_str())).map(seen);
    let pods = &inventory.pods;
    let sets = changed_sets(plan).into_iter().filter_map(|id| Some((id, pods.find_set(id)?)));
    let of_sets = sets.map(|(id, set)| GroupSeen {
        group: id.to_owned(),
        in_service: pods.rows[pods.places_of(set)].iter().filter(|pod| pod.is_enabled).count() as u64,
        unmet: demands(inventory, set).then(|| pod_checks::unmet(inventory, set)).flatten(),
    });
    let mut groups: Vec<GroupSeen> = of_projects.chain(of_sets).collect();
    groups.sort_by(|one, other| one.group.cmp(&other.group));
    groups
}

/// Whether the project of a set demands that it can lose pods.
fn demands(inventory: &Inventory, set: PodSetIndex) -> bool {
    let project = inventory.pods.sets[set.0 as usize].project();
    let settings = project.and_then(|project| inventory.projects[project.0 as usize].file.settings());
    settings.is_some_and(|settings| settings.requires_availability)
}

/// The sets of which a plan changes something.
fn changed_sets(plan: &Plan) -> BTreeSet<&str> {
    plan.changes.iter().flat_map(Change::subjects).filter_map(Subject::pod_set).collect()
}

/// The pods that a plan changes, and those of their sets that cannot be reached or could not, as the export has them. `was_down`
/// are those that earlier exports called dead or waiting.
pub fn pods_seen(
    (inventory, live): (&Inventory, &Live),
    plan: &Plan,
    was_down: &BTreeMap<Subject, DownPod>,
) -> Vec<PodSeen> {
    let pods = &inventory.pods;
    let text = |symbol| inventory.symbols.text(symbol).to_owned();
    let left = left_names((inventory, live), plan);
    let moving = plan.changes.iter().filter(|change| !was_down.is_empty() && takes_value(change));
    let moved: HashSet<NameRef<'_>> = moving.map(|change| change.key.owner.as_name()).collect();
    let seen = |subject: Subject, pod: &Pod| PodSeen {
        active: pod.is_active(),
        replaces: replaced(pods, pod),
        down: pod.is_down(),
        elsewhere: was_down.contains_key(&subject)
            && pod.is_active()
            && stays_elsewhere((inventory, live), &moved, pod),
        // Of a bad row nothing is known.
        in_service: was_down.get(&subject).filter(|_| pod.fault.is_some()).map_or(pod.is_enabled, |was| was.in_service),
        leaves: left.get(&subject).cloned(),
        location: pod.location.map(text).unwrap_or_default(),
        rack: pod.rack.map(text),
        was_down: was_down.contains_key(&subject),
        waiting: pod.state == PodState::Waiting,
        subject,
    };
    let row = |subject: &Subject| {
        let Subject::Pod(own) = subject else { return None };
        let place = pods.place_of(pods.find_set(&own.set)?, &own.pod)?;
        Some(seen(subject.clone(), &pods.rows[place]))
    };
    let changed: BTreeSet<&Subject> = plan.changes.iter().flat_map(Change::subjects).collect();
    let mut all: BTreeMap<Subject, PodSeen> = changed.iter().copied().filter_map(row).map(by_subject).collect();
    for set in changed_sets(plan) {
        let rows = pods.find_set(set).map_or(&[][..], |set| &pods.rows[pods.places_of(set)]);
        let id: Arc<str> = set.into();
        let subject = |pod: &Pod| Subject::pod(Arc::clone(&id), &*pod.id);
        let is_known_down = |pod: &Pod| !was_down.is_empty() && was_down.contains_key(&subject(pod));
        let down = rows.iter().filter(|pod| pod.is_down() && pod.is_enabled || is_known_down(pod));
        // Those that replace a pod of the plan say when its records may go.
        let new = rows.iter().filter(|pod| replaced(pods, pod).is_some_and(|old| changed.contains(&old)));
        all.extend(down.chain(new).map(|pod| by_subject(seen(subject(pod), pod))));
    }
    let unmoved = was_down.keys().filter_map(row).filter(|seen| seen.elsewhere);
    all.extend(unmoved.chain(left.keys().filter_map(row)).map(by_subject));
    all.into_values().collect()
}

/// The names that a plan takes and that pods had before, by pod: of those whose name that stays has other addresses.
fn left_names((inventory, live): (&Inventory, &Live), plan: &Plan) -> BTreeMap<Subject, LeftNames> {
    let taken = plan.changes.iter().filter(|change| change.rules().any(|rule| rule == Rule::NoPod));
    let taken: Vec<&Change> = taken.filter(|change| takes_name(change)).collect();
    let mut left: BTreeMap<Subject, LeftNames> = BTreeMap::new();
    if taken.is_empty() {
        return left;
    }
    let pods = &inventory.pods;
    // There may be as many sets as names.
    let mut by_domain: HashMap<NameRef<'_>, Vec<(PodSetIndex, &PodSet, &PodSetTerms)>> = HashMap::new();
    for (place, set) in pods.sets.iter().enumerate() {
        if let Some(terms) = set.terms() {
            let own = (PodSetIndex(place as u32), set, terms);
            by_domain.entry(terms.domain.as_name()).or_default().push(own);
        }
    }
    for change in taken {
        let name = change.key.owner.as_name();
        let Some((label, domain)) = name.first_label().zip(name.parent()) else { continue };
        let here: BTreeSet<IpAddr> = live.addresses_at(name).collect();
        for (set, own, terms) in by_domain.get(&domain).into_iter().flatten() {
            let ids: BTreeSet<&str> =
                terms.transient.pods_of(label).into_iter().chain(terms.constant.pods_of(label)).collect();
            for pod in ids.into_iter().filter_map(|id| pods.place_of(*set, id)).map(|row| &pods.rows[row]) {
                let Ok(constant) = pod.constant_name(terms, &inventory.symbols) else { continue };
                let mut there = live.addresses_at(constant.as_name()).peekable();
                let has_none = there.peek().is_none();
                if constant.as_name() == name || has_none || there.any(|address| here.contains(&address)) {
                    continue;
                }
                let own = left.entry(Subject::pod(&*own.id, &*pod.id));
                let own = own.or_insert_with(|| LeftNames { constant: constant.to_string(), names: Vec::new() });
                let owner = change.key.owner.to_string();
                own.names.extend((!own.names.contains(&owner)).then_some(owner));
            }
        }
    }
    left
}

/// Whether the name that stays with a pod leads to another place than its own, and a plan leaves that as it is: the policy, or an
/// edit that is kept, may forbid the change. `moved` are the names from which the plan takes an address.
fn stays_elsewhere((inventory, live): (&Inventory, &Live), moved: &HashSet<NameRef<'_>>, pod: &Pod) -> bool {
    let terms = inventory.pods.set_of(pod).terms();
    let Some(Ok(name)) = terms.map(|terms| pod.constant_name(terms, &inventory.symbols)) else { return false };
    let is_elsewhere = live.addresses_at(name.as_name()).any(|address| !pod.addresses.contains(&address));
    is_elsewhere && !moved.contains(&name.as_name())
}

/// The pod whose records wait for this one; none where its set moves names.
fn replaced(pods: &Pods, pod: &Pod) -> Option<Subject> {
    let set = pods.set_of(pod);
    let old = pod.replaced(set.terms()?)?;
    Some(Subject::pod(&*set.id, old))
}

/// A pod, by its subject.
fn by_subject(seen: PodSeen) -> (Subject, PodSeen) {
    (seen.subject.clone(), seen)
}

/// The pods that cannot be reached, by the word of the export; each with its group.
pub(super) fn down_pods(plan: &Plan) -> BTreeMap<Subject, String> {
    let down = plan.pods.iter().filter(|seen| seen.down && seen.in_service);
    down.filter_map(|seen| Some((seen.subject.clone(), seen.subject.pod_set()?.to_owned()))).collect()
}

/// The pods in service that the state knows as down, and that the plan does not call so: it undoes an apply, and was made
/// without the export; or it was made before; or the pod is not active yet where it is to be, or its row is bad. Each with its
/// group.
pub(super) fn fallen_pods(plan: &Plan, down: &BTreeMap<Subject, DownPod>) -> BTreeMap<Subject, String> {
    let is_news = |pod: &DownPod| plan.undoes.is_some() || pod.since > plan.created;
    let is_untold = |subject: &Subject, pod: &DownPod| {
        plan.pod(subject)
            .map_or_else(|| is_news(pod), |seen| !seen.down && (is_news(pod) || seen.in_service && !seen.active))
    };
    let fallen = down.iter().filter(|(subject, pod)| pod.in_service && is_untold(subject, pod));
    fallen.filter_map(|(subject, _)| Some((subject.clone(), subject.pod_set()?.to_owned()))).collect()
}

/// What holds for each group: how many of it are in service says the plan, or, where it does not know, the latest one that
/// did.
pub(super) fn terms_of(settings: &GroupSettings, plan: &Plan, memory: &RolloutMemory) -> BTreeMap<String, GroupTerms> {
    let in_service = |group: &str| {
        let seen = plan.group(group).map(|seen| seen.in_service);
        let remembered = || memory.batches.get(group).map_or(0, |batch| batch.in_service);
        seen.unwrap_or_else(remembered) as usize
    };
    let terms = |(group, own): (&String, &RolloutTerms)| {
        let terms = GroupTerms {
            budget: own.max_unavailable.of(in_service(group)),
            one_location: own.one_location_at_a_time,
            canary: own.canary,
            settle: own.settle,
            overlap: own.overlap,
        };
        (group.clone(), terms)
    };
    settings.iter().map(terms).collect()
}

/// The groups whose file can be read, each with its project.
pub fn known_groups(projects: &[Project], sets: &[PodSet]) -> BTreeMap<String, String> {
    let of_projects = projects.iter().filter(|own| own.file.settings().is_some());
    let of_projects = of_projects.map(|own| (own.id.clone(), own.id.clone()));
    let of_set = |set: &PodSet| Some((set.id.to_string(), projects[set.terms()?.project.0 as usize].id.clone()));
    of_projects.chain(sets.iter().filter_map(of_set)).collect()
}

/// What is used as the location of each host of a plan that the plan does not know, because it undoes an apply and reads no
/// inventory, and that no apply changed since there is a rollout: a place of its own, so that none goes with another.
pub(super) fn unknown_places(plan: &Plan, memory: &RolloutMemory) -> BTreeMap<Subject, String> {
    let is_known = |subject: &Subject| place_of(plan, subject).is_some() || memory.location_of(subject).is_some();
    let subjects = plan.changes.iter().flat_map(Change::subjects).filter(|own| !is_known(own));
    subjects.map(|own| (own.clone(), format!("unknown, of {own}"))).collect()
}

/// Whether the hosts of a group have a probe.
pub(super) fn has_probe(settings: &GroupSettings, group: &str) -> bool {
    settings.get(group).is_some_and(|terms| terms.probe.is_some())
}

/// Adds to a plan which subjects would wait if it were applied now, and in how many waves it goes at least.
///
/// Errors: the state cannot be read.
pub fn foresee(
    plan: &mut Plan,
    (projects, sets): (&[Project], &[PodSet]),
    (live, state): (Option<&Live>, Option<&dyn State>),
) -> Result<(), Problem> {
    let settings = &settings_for(plan, projects, sets);
    if settings.is_empty() {
        return Ok(());
    }
    let mut memory = state.map_or_else(|| Ok(RolloutMemory::default()), |state| state.rollouts())?;
    memory.forget_answers(|group| has_probe(settings, group));
    let pods_down = state.map(|state| state.pods_down()).transpose()?.unwrap_or_default();
    let negative = live.map(negative_times).unwrap_or_default();
    // It is the least: what is not known adds nothing.
    let times = KnownTimes { negative, unknown: Duration::from_secs(0), former: FormerTtls::default() };
    let groups = terms_of(settings, plan, &memory);
    let units = units_of(plan);
    let (known, unknown) = (known_groups(projects, sets), unknown_places(plan, &memory));
    let now = memory.now(plan.created);
    let unapproved = foreseen::held((plan, &units), projects, state, now)?;
    let view = RolloutView {
        plan,
        groups: &groups,
        memory: &memory,
        times: &times,
        is_open: &|_| true,
        step: &|unit| UnitStep::first(&plan.changes, unit),
        known: &known,
        unknown: &unknown,
        // A plan asks neither gates nor probes: it is made where hosts may not be reached.
        shut: &BTreeMap::new(),
        down: &down_pods(plan),
        was_down: &pods_down.keys().cloned().collect(),
        unapproved: &unapproved,
        fallen: &fallen_pods(plan, &pods_down),
        now,
    };
    let choice = choose(&view, &units, 0..units.len());
    (plan.waiting, plan.waves) = (choice.waiting(), choice.waves);
    plan.notices.extend(clock_back(&memory, plan.created).filter(|_| !plan.waiting.is_empty()));
    Ok(())
}

/// How far clocks of machines may differ without a word.
const CLOCKS_DIFFER: Duration = Duration::from_secs(300);

/// The notice that the clock is behind what runs noted: nothing settles until it has passed that.
fn clock_back(memory: &RolloutMemory, clock: Time) -> Option<Notice> {
    let latest = memory.latest.filter(|latest| *latest > clock.plus(CLOCKS_DIFFER))?;
    let message = format!(
        "the clock says {clock}, and an earlier run noted {latest}: what is in flux counts as in flux until the clock has passed \
         that"
    );
    Some(Notice { code: NoticeCode::ClockBack, name: "clock".to_owned(), subject: None, message })
}

/// Whether the apply of a plan must look at what waits, even if it has nothing else to do.
pub fn has_news(state: Option<&dyn State>) -> bool {
    state.is_some_and(|state| state.rollouts().is_ok_and(|memory| !memory.waits.is_empty()))
}

/// Whether something is in flux of which it is not known whether it was ever made: only an apply finds that out, and until then it
/// is in flux. While an apply runs, what it is about to send is so, too.
pub fn has_open_flux(state: &dyn State) -> bool {
    let (Ok(memory), Ok(unserved)) = (state.rollouts(), state.unserved()) else { return false };
    let is_sent = |row: &FluxRow| unserved.binary_search(&ApplyId(row.apply)).is_ok();
    let is_unknown = |apply: &ApplyId| {
        let sent = state.sent(*apply).unwrap_or_default();
        sent.iter().any(|sent| matches!(sent.fate, SentFate::Unknown(_)))
    };
    let mut open = memory.flux.iter().filter(|row| row.stage == FluxStage::NotServed);
    open.any(|row| !is_sent(row)) || unserved.iter().any(is_unknown)
}

/// How long caches hold that a name does not exist, in each zone that is known. Zones of one name in two pools count as
/// one: the longer time holds.
fn negative_times(live: &Live) -> BTreeMap<ZoneId, Duration> {
    let of_zone = |zone: &LiveZone| {
        let contents = zone.contents()?;
        let soa = contents.rrset(contents.apex().as_name(), Rtype::SOA)?;
        let negative = soa.rdata().next()?.negative_ttl(soa.ttl())?;
        Some((contents.apex().clone(), Duration::from(negative)))
    };
    let any = PoolName::unknown();
    live.zones()
        .filter_map(|(_, zone)| of_zone(zone))
        .map(|(name, time)| (ZoneId { pool: any.clone(), name }, time))
        .collect()
}

/// How long caches hold what is there, as far as it is known.
pub(super) struct KnownTimes {
    /// That a name does not exist, by zone; of the pool `-` where the pool is not known.
    pub negative: BTreeMap<ZoneId, Duration>,
    /// The same of other zones.
    pub unknown: Duration,
    /// What RRsets were before.
    pub former: FormerTtls,
}

/// How long caches hold that a name does not exist where that is not known: the most that RFC 2308 section 5 advises.
pub(super) const LONGEST_NEGATIVE: Duration = Duration::from_secs(10_800);

impl CacheTimes for KnownTimes {
    fn negative(&self, zone: &ZoneId) -> Duration {
        let any = ZoneId { pool: PoolName::unknown(), name: zone.name.clone() };
        self.negative.get(zone).or_else(|| self.negative.get(&any)).copied().unwrap_or(self.unknown)
    }

    fn former(&self, key: &RrKey) -> Option<Duration> {
        self.former.get(&(key.owner.to_string(), key.rtype.to_string())).copied()
    }
}

/// How long caches hold that a name does not exist, in each zone that a plan changes; the longest of its copies.
pub(super) fn surveyed_times(survey: &Survey<'_>) -> BTreeMap<ZoneId, Duration> {
    let mut times: BTreeMap<ZoneId, Duration> = BTreeMap::new();
    for copy in survey.copies() {
        if let Some(negative) = copy.negative_ttl {
            let time = Duration::from(negative);
            let known = times.entry(copy.copy.zone_id()).or_insert(time);
            *known = time.max(*known);
        }
    }
    times
}

/// The notices about sets whose pods move again sooner than the set says that they do; those that were down do not count.
///
/// Errors: the state cannot be read.
pub fn migrations(inventory: &Inventory, plan: &Plan, state: Option<&dyn State>) -> Result<Vec<Notice>, Problem> {
    let mut moving: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
    for change in plan.changes.iter().filter(|change| takes_value(change) && change.kind.after().is_some()) {
        let was_down = plan.pod(&change.subject).is_some_and(|seen| seen.was_down);
        if let (Subject::Pod(pod), false) = (&change.subject, was_down) {
            moving.entry(&pod.set).or_default().push(change);
        }
    }
    let mut notices = Vec::new();
    for (set, changes) in moving {
        let found = inventory.pods.find_set(set).and_then(|set| inventory.pods.sets[set.0 as usize].terms());
        let (Some(terms), Some(state)) = (found, state) else { continue };
        let key = |change: &Change| (change.key.owner.to_string(), change.key.rtype.to_string());
        let asked = changes.iter().map(|change| key(change)).collect();
        let moved = state.moved_since(&asked, plan.created.minus(terms.min_interval))?;
        let again = changes.into_iter().filter(|change| moved.contains(&key(change)));
        let again: BTreeSet<String> = again.map(|change| change.subject.to_string()).collect();
        let Some(first) = again.first() else { continue };
        let who = match again.len() {
            1 => format!("{first} moves"),
            many => format!("{many} pods move, {first} among them, each"),
        };
        notices.push(Notice {
            code: NoticeCode::MigratesOften,
            name: set.to_owned(),
            subject: None,
            message: format!("{who} again within {}, `min_interval` of `{set}`", terms.min_interval),
        });
    }
    Ok(notices)
}
