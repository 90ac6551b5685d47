//! What guards read from the state; and the clearance to apply a plan, or the refusal.
//!
//! Comes in: the state, and the limits as the workspace sets them. Goes out: a plan's limits and how much of each is
//! used; and at apply, when all of it is counted again, a clearance or a refusal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use super::settings::WorkspaceSettings;
use crate::change::Change;
use crate::diag::{Problem, did_you_mean};
use crate::diff::TrippedHosts;
use crate::guard::LIMIT_EXCEEDED;
use crate::guard::UNKNOWN_LIMIT;
use crate::guard::breakers::{GLOBAL, holding, to_trip};
use crate::guard::causes::{FileSubject, LineKind, OldLines};
use crate::guard::clearance::stray;
use crate::guard::limits::recount;
use crate::guard::rules::HostRule;
use crate::guard::{Allowance, Breaker, Clearance, ExceededLimit, Ledger, LimitRules, clear, count, words};
use crate::inventory::Inventory;
use crate::inventory::model::{Export, HostLimit, Project, ProjectIndex};
use crate::inventory::read;
use crate::inventory::value::Time;
use crate::plan::{LimitKind, LimitState, Plan, SealedPlan};
use crate::state::{ChangeLedger, State};

/// What a plan is tested with, in addition to the inventory and live DNS.
#[derive(Debug, Default)]
pub struct GuardMemory {
    /// The limits in force.
    rules: LimitRules,
    /// What earlier applies changed.
    ledger: Ledger,
    /// The tripped breakers.
    pub breakers: Vec<Breaker>,
    /// The digests of the input files of the last apply that did all of its plan.
    inputs: BTreeMap<String, String>,
    /// The files of the exports that were last accepted, by name.
    accepted: BTreeMap<String, Vec<u8>>,
    /// What files of the inventory are about.
    about: HashMap<String, FileSubject>,
}

impl GuardMemory {
    /// Reads the state, where there is one.
    pub fn read(rules: LimitRules, state: Option<&dyn State>, now: Time) -> Result<GuardMemory, Problem> {
        let Some(state) = state else { return Ok(GuardMemory { rules, ..GuardMemory::default() }) };
        let ledger = read_ledger(&rules, state, now)?;
        let (breakers, inputs) = (state.breakers()?, state.last_inputs()?);
        // What is about one host each is large, and not needed where the limit of causes is the default.
        let is_needed = |source: &str| rules.max_by_cause.is_some() || matches!(source, "l3_tors" | "net_layout");
        let sources = state.exports()?.into_iter().filter(|export| is_needed(&export.source));
        let files = sources.map(|export| state.export_files(&export.source));
        let files = files.collect::<Result<Vec<_>, Problem>>()?.into_iter().flatten();
        let accepted = files.map(|file| (file.name, file.content)).collect();
        Ok(GuardMemory { rules, ledger, breakers, inputs, accepted, about: HashMap::new() })
    }

    /// Notes what the files of an inventory are about.
    pub fn about(self, inventory: &Inventory) -> GuardMemory {
        let of = |export: &Export| FileSubject::of(export.spec.key).map(|about| (export.files.clone(), about));
        let files = inventory.exports.iter().filter_map(of);
        let about = files.flat_map(|(files, about)| files.into_iter().map(move |file| (file, about)));
        GuardMemory { about: about.collect(), ..self }
    }

    /// The hosts whose rules do not run because of a breaker.
    pub fn tripped(&self, inventory: &Inventory) -> TrippedHosts {
        let holds = |id: &str| self.breakers.iter().any(|breaker| breaker.holds(id));
        let numbered = inventory.projects.iter().enumerate();
        let projects = numbered.filter(|(_, project)| holds(&project.id));
        TrippedHosts {
            all: self.breakers.iter().any(|breaker| breaker.scope == GLOBAL),
            projects: projects.map(|(place, _)| ProjectIndex(place as u32)).collect(),
        }
    }

    /// Whether the last apply that did all of its plan had an input of this name with this digest.
    pub fn had(&self, name: &str, digest: &str) -> bool {
        self.inputs.get(name).is_some_and(|known| known == digest)
    }

    /// When each change that an earlier apply made ceases to count for each limit.
    pub fn frees(&self) -> impl Iterator<Item = Time> {
        let periods = self.rules.hosts.iter().map(|rule| rule.period);
        periods.flat_map(|period| self.ledger.times().map(move |at| at.plus(period)))
    }

    /// The limits of a plan, with how much of each is used.
    pub fn count(&self, plan: &Plan, workspace: &Path) -> Vec<LimitState> {
        let is_first = self.inputs.is_empty() && self.rules.max_by_cause.is_none();
        let old = self.old_lines(plan, workspace);
        // Of a workspace in which nothing was applied it is not known what is new.
        let line = |place: &str| if is_first { LineKind::Old } else { old.line(place) };
        count(plan, &self.rules, &self.ledger, plan.created, &line)
    }

    /// The lines of the inventory that cannot cause anything new: all lines of a file that has not changed since the
    /// last apply that did all of its plan, and the lines of an export that the accepted one had.
    fn old_lines(&self, plan: &Plan, workspace: &Path) -> OldLines {
        let mut old = OldLines::new(self.about.clone());
        for (name, digest) in &plan.inputs {
            if self.inputs.get(name) == Some(digest) {
                old.unchanged(name);
            } else if let Some(before) = self.accepted.get(name) {
                // A file that is gone or has changed since has no lines to compare.
                if let Some(now) = read::export_content(workspace, name, digest) {
                    old.compared(name, &now, before);
                }
            }
        }
        old
    }
}

/// What earlier applies changed, in the longest period of any limit.
///
/// An update that was sent by an apply that was killed, or that got no answer, counts until its outcome is known:
/// another run may change hosts of other zones before that.
fn read_ledger(rules: &LimitRules, state: &dyn ChangeLedger, now: Time) -> Result<Ledger, Problem> {
    let since = now.minus(rules.longest());
    Ok(Ledger::new([state.changed_since(since)?, state.perhaps_changed_since(since)?].concat()))
}

/// The limits as an inventory sets them.
pub fn rules_of(inventory: &Inventory) -> LimitRules {
    LimitRules::new(&inventory.config.limits, limits_set(&inventory.projects), &inventory.files)
}

/// The limits of the projects whose file is good, by id.
fn limits_set(projects: &[Project]) -> impl Iterator<Item = (&str, &[HostLimit])> {
    projects.iter().filter_map(|project| Some((project.id.as_str(), project.file.settings()?.limits.as_slice())))
}

/// The limits as the settings set them; of projects whose file cannot be read now as a plan recorded them, where one did.
pub fn rules_now(settings: &WorkspaceSettings, plan: Option<&Plan>) -> LimitRules {
    let WorkspaceSettings { config, files, projects, pod_sets: _, sources: _ } = settings;
    let mut rules = LimitRules::new(&config.limits, limits_set(projects), files);
    let known: BTreeSet<&str> = limits_set(projects).map(|(id, _)| id).collect();
    let recorded = plan.into_iter().flat_map(|plan| &plan.limits).filter(|limit| limit.counts == LimitKind::Hosts);
    let unread = |limit: &&LimitState| limit.scope.strip_prefix("project:").is_some_and(|id| !known.contains(id));
    rules.hosts.extend(recorded.filter(unread).filter_map(|limit| {
        let period = limit.period.parse().ok()?;
        Some(HostRule { scope: limit.scope.clone(), period, max: limit.max, place: None })
    }));
    rules
}

/// How much of the limits of hosts is used, without a plan.
pub fn limits_used(rules: &LimitRules, state: Option<&dyn State>, now: Time) -> Result<Vec<LimitState>, Problem> {
    let ledger = state.map_or_else(|| Ok(Ledger::default()), |state| read_ledger(rules, state, now))?;
    Ok(crate::guard::limits::of_hosts(std::iter::empty(), rules, &ledger, now))
}

/// What a plan is tested with when it is applied.
#[derive(Debug, Clone, Default)]
pub struct ApplyGuards<'a> {
    /// The limits in force.
    pub rules: LimitRules,
    /// The limits that are lifted.
    pub allow: &'a [Allowance],
    /// Whether the run is unattended, so that a limit that is exceeded trips its breaker.
    pub auto: bool,
}

impl ApplyGuards<'_> {
    /// Counts the changes of a plan that are still to be made, and gives a clearance or a refusal; the limits of
    /// `earlier` were lifted for the plan before.
    pub fn clear(
        &self,
        (sealed, place, open): (&SealedPlan, &str, &[&Change]),
        earlier: &[Allowance],
        state: &mut dyn ChangeLedger,
        now: Time,
    ) -> Result<Result<Clearance, Problem>, Problem> {
        if let Some(breaker) = holding(sealed.plan(), &state.breakers()?) {
            return Ok(Err(held(place, breaker)));
        }
        let counted = recount(sealed.plan(), open, &self.rules, &read_ledger(&self.rules, state, now)?, now);
        if let Some(stray) = stray(sealed.plan(), &counted, self.allow) {
            return Ok(Err(unknown(place, stray, &counted)));
        }
        let allowed = [earlier, self.allow].concat();
        let over = match clear(sealed, &counted, &allowed) {
            Ok(clearance) => return Ok(Ok(clearance)),
            Err(over) => over,
        };
        if !self.auto {
            return Ok(Err(exceeded(place, &over)));
        }
        let limits: Vec<&LimitState> = over.iter().map(|over| over.limit).collect();
        let tripped = to_trip(&limits);
        for (scope, why) in &tripped {
            state.trip(&Breaker { scope: scope.clone(), tripped: now, why: why.clone() })?;
        }
        Ok(Err(unattended(place, &over, &tripped)))
    }
}

/// Why a plan that was just made cannot be applied, by its limits and the tripped breakers. `is_named` says whether the
/// command line named its hosts.
///
/// It is shown before the operator is asked: to agree to a plan that will be refused makes no sense.
pub fn foreseen(
    sealed: &SealedPlan,
    place: &str,
    allowed: &[Allowance],
    breakers: &[Breaker],
    is_named: bool,
) -> Option<Problem> {
    let plan = sealed.plan();
    let held_all = if is_named { None } else { of_all(breakers) };
    if let Some(breaker) = held_all.or_else(|| holding(plan, breakers)) {
        return Some(held(place, breaker));
    }
    let stray = stray(plan, &plan.limits, allowed).map(|stray| unknown(place, stray, &plan.limits));
    stray.or_else(|| clear(sealed, &plan.limits, allowed).err().map(|over| exceeded(place, &over)))
}

/// The breaker of everything, where it is tripped.
fn of_all(breakers: &[Breaker]) -> Option<&Breaker> {
    breakers.iter().find(|breaker| breaker.scope == GLOBAL)
}

/// Why a plan with nothing to do is refused: the breaker of all projects is tripped, and the command line does not name
/// hosts. An unattended run must report that.
///
/// A state that cannot be read refuses nothing; the error is reported when there is something to write.
pub fn idle_refusal((plan, place): (&Plan, &str), state: &dyn ChangeLedger) -> Option<Problem> {
    if plan.only.as_ref().is_some_and(|only| !only.subjects.is_empty()) {
        return None;
    }
    let breakers = state.breakers().ok()?;
    of_all(&breakers).map(|breaker| held(place, breaker))
}

/// The refusal of a plan because of a breaker.
fn held(place: &str, breaker: &Breaker) -> Problem {
    Problem::new(place, "breaker-tripped", breaker.says()).hint(breaker.hint())
}

/// The refusal of an allowance that names no limit.
fn unknown(place: &str, stray: &Allowance, counted: &[LimitState]) -> Problem {
    let names: BTreeSet<String> = counted.iter().map(|limit| format!("`{}`", limit.name())).collect();
    let known: Vec<String> = counted.iter().map(LimitState::name).collect();
    let near = did_you_mean(&stray.name, known.iter().map(String::as_str));
    let near = near.map(|near| format!("{near} ")).unwrap_or_default();
    let shares = "`zone:ZONE./max_delete` and `zone:ZONE./max_modify` of each zone that the plan saw".to_owned();
    let names: Vec<String> = names.into_iter().chain([shares]).collect();
    Problem::new(place, UNKNOWN_LIMIT, format!("`--allow {}={}` names no limit", stray.name, stray.number))
        .hint(format!("{near}the limits are {}", names.join(", ")))
}

/// The limits that are exceeded, in words.
fn in_words(over: &[ExceededLimit<'_>]) -> String {
    let one = |over: &ExceededLimit<'_>| {
        let allowed = over.allowed.map(|allowed| format!("; `--allow` permits only {allowed}"));
        format!("{}{}", words::says(over.limit), allowed.unwrap_or_default())
    };
    over.iter().map(one).collect::<Vec<_>>().join(" · ")
}

/// The refusal of a plan that exceeds limits.
fn exceeded(place: &str, over: &[ExceededLimit<'_>]) -> Problem {
    let allow: Vec<String> = over.iter().map(|over| words::allow(over.limit)).collect();
    Problem::new(place, LIMIT_EXCEEDED, in_words(over))
        .hint(format!("check what the plan would do; if that is right, add `{}` to apply it", allow.join(" ")))
}

/// The refusal of a plan that exceeds limits in an unattended run.
fn unattended(place: &str, over: &[ExceededLimit<'_>], tripped: &[(String, String)]) -> Problem {
    let scopes: Vec<String> = tripped.iter().map(|(scope, _)| format!("`{scope}`")).collect();
    let (breaker, is) = if scopes.len() == 1 { ("breaker", "is") } else { ("breakers", "are") };
    let resets: Vec<String> =
        tripped.iter().map(|(scope, _)| format!("`zonewright status --reset {scope} --reason TEXT`")).collect();
    Problem::new(place, LIMIT_EXCEEDED, in_words(over)).hint(format!(
        "the {breaker} {} {is} tripped now, and zonewright does nothing there until an operator resets it: {}",
        scopes.join(" and "),
        resets.join(" and ")
    ))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::apply::{Batch, BatchOutcome, Phase};
    use crate::disk;
    use crate::dns::Rtype;
    use crate::inventory::value::Percent;
    use crate::plan::{Rule, fixture};
    use crate::rollout::RolloutChoice;
    use crate::state::{NewApply, PlanText, StateAddress};
    use crate::target::CopyId;

    /// A plan with thirty changes; each is based on its own row and on one line of a project.
    fn plan(inputs: &[(&str, &[u8])]) -> Plan {
        let digest = |content: &[u8]| disk::hex(&Sha256::digest(content));
        let change = |host: u64| {
            let (name, evidence) = (format!("h{host}.search.example.net"), format!("hosts.csv:{host}"));
            let reason = fixture::reason(Rule::Missing, Some(host), &[&evidence, "projects/search.yaml:2"]);
            let sides = ((0, &[][..]), (60, &["2001:db8::1"][..]));
            fixture::change(("search", Some(host)), (&name, Rtype::AAAA), sides, &[reason])
        };
        Plan {
            inputs: inputs.iter().map(|(name, content)| ((*name).to_owned(), digest(content))).collect(),
            changes: (1..=30).map(change).collect(),
            ..fixture::empty()
        }
    }

    #[test]
    fn a_cause_is_what_was_not_there_at_the_last_apply_nor_in_the_accepted_export() {
        let workspace = tempfile::tempdir().unwrap();
        std::fs::create_dir(workspace.path().join("projects")).unwrap();
        let hosts = (1..=30).map(|host| format!("row {host}\n")).collect::<String>().into_bytes();
        let project = b"id: search\nvlans: {main: 605}\n";
        std::fs::write(workspace.path().join("hosts.csv"), &hosts).unwrap();
        std::fs::write(workspace.path().join("projects/search.yaml"), project).unwrap();
        let plan = plan(&[("hosts.csv", &hosts), ("projects/search.yaml", project)]);
        let rules = LimitRules { max_by_cause: Some(Percent::from_whole(50)), ..LimitRules::default() };
        let cause = |inputs: BTreeMap<String, String>, accepted: &[u8]| {
            let accepted = [("hosts.csv".to_owned(), accepted.to_vec())].into();
            let remembered = GuardMemory { rules: rules.clone(), inputs, accepted, ..GuardMemory::default() };
            let counted = remembered.count(&plan, workspace.path());
            counted.first().map(|limit| (limit.cause.clone().unwrap(), limit.planned))
        };
        let said = |place: &str, count: u64| Some((place.to_owned(), count));
        assert_eq!(cause(BTreeMap::new(), b""), said("projects/search.yaml:2", 30), "the file was edited");
        let unchanged = [("projects/search.yaml".to_owned(), plan.inputs["projects/search.yaml"].clone())];
        assert_eq!(cause(unchanged.clone().into(), b"row 1\n"), said("hosts.csv:10", 1), "its own row causes each");
        assert_eq!(cause(unchanged.clone().into(), &hosts), None, "nothing is new");
        std::fs::write(workspace.path().join("hosts.csv"), b"replaced").unwrap();
        assert_eq!(cause(unchanged.into(), &hosts), said("hosts.csv:1", 1), "of another file nothing can be said");
    }

    #[test]
    fn what_was_sent_counts_until_it_is_known_what_became_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut state = crate::state::open_to_write(&StateAddress::of_file(folder.path(), "state.db")).unwrap();
        let now: Time = "2026-11-20T02:00:00Z".parse().unwrap();
        let new = NewApply {
            plan: "sha256:aa".to_owned(),
            effect: "sha256:bb".to_owned(),
            started: now,
            who: String::new(),
            reason: None,
            inputs: BTreeMap::new(),
            hosts: 1,
            undoes: None,
            is_whole: true,
        };
        let id = state
            .begin(&new, &PlanText { document: "{}", made: now, expires: now, blocked: &[] }, &RolloutChoice::default())
            .unwrap();
        let sides = ((0, &[][..]), (600, &["2a02::1"][..]));
        let change = fixture::change(("search", Some(7)), ("a.search.example.net", Rtype::AAAA), sides, &[]);
        let batch = Batch {
            number: 1,
            copy: CopyId::only(&change.zone_id()),
            phase: Phase::Forward,
            swap: None,
            changes: vec![&change],
        };
        state.note_sending(id, &batch, now).unwrap();
        let rule = HostRule { scope: GLOBAL.to_owned(), period: "1h".parse().unwrap(), max: 2, place: None };
        let rules = LimitRules { hosts: vec![rule], ..LimitRules::default() };
        let used = |state: &dyn State| limits_used(&rules, Some(state), now).unwrap()[0].used;
        assert_eq!(used(&*state), 1, "a crash leaves it so");
        state.note_settled(id, &batch, &BatchOutcome::Unknown("no answer".to_owned()), now).unwrap();
        assert_eq!(used(&*state), 1);
        state.note_settled(id, &batch, &BatchOutcome::Undone("refused".to_owned()), now).unwrap();
        assert_eq!(used(&*state), 0);
    }

    #[test]
    fn the_limits_of_a_project_whose_file_is_gone_are_those_that_the_plan_recorded() {
        let limit = |scope: &str| LimitState { scope: scope.to_owned(), ..fixture::fleet().limits[1].clone() };
        let plan =
            Plan { limits: vec![limit("project:gone"), limit("project:here"), limit("global")], ..fixture::empty() };
        let workspace = tempfile::tempdir().unwrap();
        let toml = "owner = \"me\"\n[sources]\nprojects = \"p.yaml\"\nhosts = \"h\"\nl3_tors = \"t\"\nnet_layout = \"n\"\n\
                    ipv4_map = \"i\"\n[[sources.mac]]\nname = \"a\"\npath = \"a\"\n[project.here]\n\
                    dns_domain = \"here.example\"\n";
        std::fs::write(workspace.path().join("zonewright.toml"), toml).unwrap();
        let project = "id: here\nvlan_scheme: static\nvlans: {main: 1}\n";
        std::fs::write(workspace.path().join("p.yaml"), project).unwrap();
        let settings = crate::pipeline::settings::load_settings(workspace.path()).unwrap();
        assert!(settings.projects[0].file.settings().is_some(), "{:?}", settings.projects);
        let rules = rules_now(&settings, Some(&plan));
        let found: Vec<(&str, u64)> = rules.hosts.iter().map(|rule| (rule.scope.as_str(), rule.max)).collect();
        assert_eq!(found, [("project:gone", 20)], "a limit that was removed from a readable file does not count");
    }
}
