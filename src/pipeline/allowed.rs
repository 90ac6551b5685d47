//! What of a plan the settings still allow when it is applied: a plan may be a day old, and a stop must hold at once.
//!
//! Comes in: the survey of a lane, zonewright.toml and the project files as they are now, and the state. Goes out: which changes are
//! refused, and why. The owner's switches are not asked again: a plan that names hosts overrides them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::registry_texts;
use super::settings::WorkspaceSettings;
use super::sights::CopySights;
use crate::apply::{LaneSurvey, OutcomeCode, UnitVerdict};
use crate::change::Change;
use crate::claim::Subject;
use crate::diag::Problem;
use crate::dns::{RrKey, Rrset};
use crate::inventory::model::{Config, Permission, Project, ProjectFile, ZoneSpec};
use crate::inventory::pods::PodSetFile;
use crate::inventory::read::SETTINGS;
use crate::inventory::update_record::ParameterName;
use crate::plan::{MarkSeen, Plan, TxtFormSeen};
use crate::registry::{Marking, Registry};
use crate::state::{OwnershipRegister, StateIdentity};
use crate::target::{PoolName, Question, ZoneId};

/// Refuses a plan whose owner, registry or form of TXT zonewright.toml no longer has: they say which RRsets are own.
pub fn still_bound(plan: &Plan, config: &Config, place: &str) -> Result<(), Problem> {
    let compare = |seen: MarkSeen<'_>, now: &Marking, of: &dyn Fn() -> String| {
        let Some(setting) = first_other(seen, now) else { return Ok(()) };
        let OtherSetting { key, was, is } = setting;
        let was = was.map_or(format!("without `{key}`"), |was| format!("with `{key} = \"{was}\"`"));
        let is = is.map_or(format!("no `{key}`"), |is| format!("`{key} = \"{is}\"`"));
        let message = format!("the plan was made {was}{}, and {SETTINGS} has {is} now", of());
        let hint = "if this is the right workspace, plan again; else apply the plan where it was made";
        Err(Problem::new(place.to_owned(), OutcomeCode::NoLongerAllowed.as_str(), message).hint(hint))
    };
    compare(plan.workspace.marking(), &config.marking, &String::new)?;
    let pools: BTreeSet<&PoolName> = plan.zones.iter().map(|zone| &zone.pool).collect();
    // A record that has a fault now has no pool: that its zones are not there is another refusal.
    let are_there = |pool: &&PoolName| config.pools.iter().any(|own| own.name == **pool);
    pools.into_iter().filter(are_there).try_for_each(|pool| {
        compare(plan.workspace.marking_in(pool), config.marking_in(pool), &|| format!(" for pool `{pool}`"))
    })
}

/// A setting that is another one since a plan was made.
struct OtherSetting {
    /// Its key.
    key: &'static str,
    /// What it was; none where it was not set.
    was: Option<String>,
    /// What it is now.
    is: Option<String>,
}

/// The first setting of those that say which RRsets are own that is another one now.
fn first_other(seen: MarkSeen<'_>, now: &Marking) -> Option<OtherSetting> {
    let form = TxtFormSeen::of(&now.form);
    let of_form = |key, of: fn(&TxtFormSeen) -> Option<String>| OtherSetting {
        key,
        was: seen.txt.and_then(of),
        is: form.as_ref().and_then(of),
    };
    let text = |text: &str| Some(text.to_owned());
    let settings = [
        OtherSetting { key: "owner", was: text(seen.owner), is: text(&now.owner) },
        OtherSetting { key: "registry", was: text(seen.registry.as_str()), is: text(now.registry.as_str()) },
        of_form("txt_prefix", |form| form.prefix.clone()),
        of_form("txt_suffix", |form| form.suffix.clone()),
        of_form("txt_wildcard_replacement", |form| form.wildcard_replacement.clone()),
    ];
    settings.into_iter().find(|setting| setting.was != setting.is)
}

/// Refuses a plan that was made with another state than the one here, or with none although the one here had applies
/// already.
pub fn of_this_workspace(plan: &Plan, here: Option<&StateIdentity>, place: &str) -> Result<(), Problem> {
    let message = match (&plan.workspace.id, here) {
        (Some(seen), Some(StateIdentity { id, .. })) if seen == id => return Ok(()),
        (Some(seen), Some(StateIdentity { id, .. })) => {
            format!("the plan was made with the state `{seen}`, and the state here is `{id}`")
        }
        (Some(seen), None) => format!("the plan was made with the state `{seen}`, and there is no state here"),
        (None, Some(StateIdentity { first_begun: Some(first), .. })) if *first < plan.created => format!(
            "the plan was made at {} without a state, and the state here has applies since {first}",
            plan.created
        ),
        (None, _) => return Ok(()),
    };
    let hint = "apply the plan in the workspace where it was made, or plan again here";
    Err(Problem::new(place, "other-workspace", message).hint(hint))
}

/// The changes of a lane, of those at these places, that the settings no longer allow, by place, each with its reason.
///
/// Errors: the state cannot be read.
pub fn refused(
    plan: &Plan,
    (survey, open): (&LaneSurvey<'_>, Vec<usize>),
    settings: &WorkspaceSettings,
    state: &dyn OwnershipRegister,
) -> Result<BTreeMap<usize, UnitVerdict>, Problem> {
    let by_id: HashMap<&str, &Project> = settings.projects.iter().map(|own| (own.id.as_str(), own)).collect();
    let config = &settings.config;
    let zones: HashMap<ZoneId, &ZoneSpec> = config.zones.iter().map(|spec| (config.zone_id(spec), spec)).collect();
    let mut refused = BTreeMap::new();
    let mut foreign = ForeignChanges::default();
    for place in open {
        let change = &survey.changes[place];
        let spec = zones.get(&change.zone_id());
        let project = by_id.get(change.project.as_str()).copied();
        let reason = project_forbids(settings, &change.project, project)
            .or_else(|| set_forbids(settings, plan, change))
            .or_else(|| edits_are_kept(settings, change, project))
            .or_else(|| spec.and_then(|spec| zone_protects(settings, spec, change)))
            .or_else(|| record_forbids(settings, change));
        match reason {
            Some(reason) => drop(refused.insert(place, verdict(reason))),
            None if spec.is_some_and(|spec| spec.permission == Permission::Own) => foreign.suspect(place, change),
            None => {}
        }
    }
    for (place, unread) in foreign.places(survey, &settings.config, state)? {
        if let Some(error) = unread {
            refused.insert(place, UnitVerdict::of_error(OutcomeCode::Failed, &error));
            continue;
        }
        let RrKey { owner, rtype } = &survey.changes[place].key;
        let zone = &survey.changes[place].zone;
        let at = zones
            .get(&survey.changes[place].zone_id())
            .map(|spec| settings.files.place(spec.origin).to_string())
            .unwrap_or_default();
        refused.insert(
            place,
            verdict(format!("`permission` of zone `{zone}` is `own` now ({at}), and {rtype} of `{owner}` is not own")),
        );
    }
    Ok(refused)
}

/// The outcome of a host for such a reason.
fn verdict(message: String) -> UnitVerdict {
    let hint = "plan again: the new plan obeys the settings; if the setting is wrong, correct it first";
    UnitVerdict { outcome: OutcomeCode::NoLongerAllowed, message, hint: Some(hint.to_owned()) }
}

/// Why nothing of a project may be changed; none where it may.
fn project_forbids(settings: &WorkspaceSettings, id: &str, project: Option<&Project>) -> Option<String> {
    let place = |origin| settings.files.place(origin).to_string();
    let Some(Project { admin: Some(admin), file, .. }) = project else {
        return Some(format!("{SETTINGS} has no `[project.{id}]` now"));
    };
    match file {
        _ if !admin.automation_allowed => {
            Some(format!("`automation` of project `{id}` is `forbidden` now ({})", place(admin.origin)))
        }
        ProjectFile::Missing => Some(format!("no project file has the id `{id}` now")),
        ProjectFile::Bad { origin } => {
            Some(format!("the file of project `{id}` has an error now ({})", place(*origin)))
        }
        ProjectFile::Good(_) => None,
    }
}

/// Why nothing of the sets of pods of a change may be changed; none where it may. What `sync` makes up was let through before,
/// and an undo may be needed because the file is wrong.
fn set_forbids(settings: &WorkspaceSettings, plan: &Plan, change: &Change) -> Option<String> {
    if plan.undoes.is_some() || plan.fleet.is_none() {
        return None;
    }
    let why = |id: &str| match settings.pod_sets.iter().find(|set| *set.id == *id).map(|set| &set.file) {
        Some(PodSetFile::Good(_)) => None,
        Some(PodSetFile::Bad { origin, .. }) => {
            Some(format!("the file of set `{id}` has an error now ({})", settings.files.place(*origin)))
        }
        Some(PodSetFile::Missing) | None => Some(format!("no file of a set has the id `{id}` now")),
    };
    change.subjects().filter_map(Subject::pod_set).find_map(why)
}

/// Why a project's `keep_edits` forbids a change of an RRset that was edited after an apply; none where it does not.
fn edits_are_kept(settings: &WorkspaceSettings, change: &Change, project: Option<&Project>) -> Option<String> {
    let admin = project.and_then(|project| project.admin.as_ref()).filter(|admin| admin.keep_edits)?;
    let RrKey { owner, rtype } = &change.key;
    let place = settings.files.place(admin.origin);
    change.is_edited_since().then(|| {
        format!(
            "{rtype} of `{owner}` was edited after an apply, and project `{}` has `keep_edits` now ({place})",
            change.project
        )
    })
}

/// Why a DNS update record forbids a change in its zones; none where it does not, and of other zones.
fn record_forbids(settings: &WorkspaceSettings, change: &Change) -> Option<String> {
    let record = settings.config.update_records.of_pool(&change.pool)?;
    let pool = record.pool.as_ref()?;
    let name = &record.name;
    if pool.is_dry_run {
        let place =
            record.setting(ParameterName::DryRun).map(|setting| settings.files.place(setting.origin).to_string());
        return Some(format!(
            "`dry-run` of the record `{name}` says that it is not applied ({})",
            place.unwrap_or_default()
        ));
    }
    let (_, owner) = change.meant_rrset();
    let hides = pool.filter.hides(owner.as_name());
    hides.then(|| format!("the filter of the record `{name}` hides `{owner}` now"))
}

/// Why a zone's `protect` forbids a change; none where it does not.
fn zone_protects(settings: &WorkspaceSettings, spec: &ZoneSpec, change: &Change) -> Option<String> {
    if spec.protect.is_empty() {
        return None;
    }
    // A TXT of the registry is protected with its RRset.
    let owner = change.meant_rrset().1.to_string();
    let pattern = spec.protect.iter().find(|pattern| pattern.glob.matches(&owner))?;
    let place = settings.files.place(pattern.origin);
    Some(format!("`protect` lists `{}` now ({place}), and `{owner}` would change", pattern.glob))
}

/// The place of a change, and the error where its zone could not be asked.
type SuspectChange = (usize, Option<Problem>);

/// Changes in zones where only own RRsets may be changed, by whether their RRset exists.
#[derive(Default)]
struct ForeignChanges {
    /// The changes of RRsets that exist.
    suspects: Vec<usize>,
    /// The changes that give RRsets without a mark to us.
    taken: Vec<usize>,
}

impl ForeignChanges {
    /// Notes a change whose RRset must be own. What is created is own from then on, and a TXT of the registry goes with
    /// the RRset that it records.
    fn suspect(&mut self, place: usize, change: &Change) {
        if change.kind.before().is_some() && !change.is_of_owner() {
            self.suspects.push(place);
        }
        if change.is_of_mark() && change.kind.before().is_some_and(|before| before.mark().is_none()) {
            self.taken.push(place);
        }
    }

    /// The changes of them whose RRset is not own now, or may not be; the latter with the error that hides it.
    ///
    /// Errors: the state cannot be read.
    fn places(
        self,
        survey: &LaneSurvey<'_>,
        config: &Config,
        state: &dyn OwnershipRegister,
    ) -> Result<Vec<SuspectChange>, Problem> {
        let of = |registry: Registry| {
            let is_of = |place: &usize| config.marking_in(&survey.changes[*place].pool).registry == registry;
            self.suspects.iter().copied().filter(is_of).collect::<Vec<usize>>()
        };
        let mut foreign = not_registered_as(survey, of(Registry::Txt), config, &|own| own == Some(true));
        // That the mark is the one that the plan saw is compared with what is written.
        let is_other = |place: &usize| {
            let change = &survey.changes[*place];
            !config.marking_in(&change.pool).has_marked(change.kind.before().and_then(Rrset::mark))
        };
        let marked = [Registry::Metadata, Registry::Description, Registry::Owner].into_iter().flat_map(of);
        foreign.extend(marked.filter(is_other).map(|place| (place, None)));
        // Without a mark a TXT must say that it is of an owner from whom it is taken.
        foreign.extend(not_registered_as(survey, self.taken, config, &|own| own.is_some()));
        let kept = of(Registry::Journal);
        if !kept.is_empty() {
            let sights = CopySights::of(config);
            // All of a lane are of one target, or of pools that have no other.
            let sight = |place: &usize| sights.at(survey.target.as_ref(), &survey.changes[*place]);
            let created = state.created_by(&kept.iter().map(sight).collect::<Vec<_>>())?;
            let others = kept.into_iter().zip(created).filter(|(_, created)| created.is_none());
            foreign.extend(others.map(|(place, _)| (place, None)));
        }
        Ok(foreign)
    }
}

/// The changes whose RRset is not registered by TXT as it must be, and those of zones that could not be asked. `is_right` gets
/// whether the TXT name us alone; none where there are none.
fn not_registered_as(
    survey: &LaneSurvey<'_>,
    suspects: Vec<usize>,
    config: &Config,
    is_right: &dyn Fn(Option<bool>) -> bool,
) -> Vec<SuspectChange> {
    let mut foreign = Vec::new();
    for zone in &survey.copies {
        let id = zone.copy.zone_id();
        let places: Vec<usize> =
            suspects.iter().copied().filter(|place| survey.changes[*place].zone_id() == id).collect();
        let marking = |place: usize| config.marking_in(&survey.changes[place].pool);
        let question = |place: &usize| registry_texts::questions(&survey.changes[*place], marking(*place));
        let asked: Vec<Vec<Question>> = places.iter().map(question).collect();
        if asked.iter().all(Vec::is_empty) {
            // Where there can be no TXT, the RRset is never own.
            foreign.extend(places.into_iter().map(|place| (place, None)));
            continue;
        }
        match registry_texts::read(zone, &asked) {
            Ok(answers) => {
                let others = places.into_iter().zip(answers);
                let others = others.filter(|(place, own)| !is_right(registry_texts::names_us(own, marking(*place))));
                foreign.extend(others.map(|(place, _)| (place, None)));
            }
            Err(error) => foreign.extend(places.into_iter().map(|place| (place, Some(error.clone())))),
        }
    }
    foreign
}
