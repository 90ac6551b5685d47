//! What keeps a host from a name: errors in its lines, names of others, and the messages about them.

use super::holders::lock_rows_of;
use super::outcome::{NameCode, NameRefusal};
use super::series::NameSeries;
use super::taken::{TakenNames, TakenReason, fastbone_label};
use crate::diag::Origin;
use crate::dns::{Name, NameRef};
use crate::inventory::Inventory;
use crate::inventory::model::{Host, Project, ProjectAdmin, ProjectFile, ProjectIndex, ProjectSettings};
use crate::inventory::value::Inv;

/// The host of a number, if nothing is wrong with its lines.
pub fn find_host(inventory: &Inventory, inv: Inv) -> Result<&Host, NameRefusal> {
    let Some(place) = inventory.place_of(inv) else {
        return Err(NameRefusal {
            inv,
            project: String::new(),
            code: NameCode::NoHost,
            message: "hosts.csv lacks it".to_owned(),
            hint: "a host gets a name once hosts.csv has it".to_owned(),
        });
    };
    let host = &inventory.hosts[place];
    match host.bad.then_some(host.origin).or(bad_row(inventory, inv)) {
        None => Ok(host),
        Some(origin) => Err(bad_line(inventory, (inv, host.project), origin)),
    }
}

/// The first bad row of names.lock about a host.
pub fn bad_row(inventory: &Inventory, inv: Inv) -> Option<Origin> {
    inventory.lock[lock_rows_of(inventory, inv)].iter().find(|row| row.bad).map(|row| row.origin)
}

/// The refusal of a host with a bad line.
pub fn bad_line(inventory: &Inventory, whose: (Inv, ProjectIndex), origin: Origin) -> NameRefusal {
    let message = format!("{} is bad", inventory.files.place(origin));
    let hint = "correct the line; `zonewright check` shows what is wrong with it, and `check --fix-lock` settles names \
                that two rows of names.lock give";
    refusal(inventory, whose, NameCode::BadInput, (message, hint.to_owned()))
}

/// The administrator's and the owner's half of a project, for a host.
pub fn rules_of<'i>(
    inventory: &'i Inventory,
    host: &Host,
    project: ProjectIndex,
) -> Result<(&'i ProjectAdmin, &'i ProjectSettings), NameRefusal> {
    let Project { id, admin, file } = &inventory.projects[project.0 as usize];
    let Some(admin) = admin else {
        let message = format!("zonewright.toml has no [project.{id}], so its hosts have no domain");
        let hint = format!("add [project.{id}] with its `dns_domain`, or correct the project in hosts.csv");
        return Err(refusal(inventory, (host.inv, host.project), NameCode::NoDomain, (message, hint)));
    };
    match file {
        ProjectFile::Good(settings) => Ok((admin, settings)),
        ProjectFile::Bad { origin } => {
            let message = format!("{} is bad, so the template is unknown", inventory.files.place(*origin));
            let hint = "correct the project file; `zonewright check` says what is wrong with it".to_owned();
            Err(refusal(inventory, (host.inv, host.project), NameCode::BadInput, (message, hint)))
        }
        ProjectFile::Missing => {
            let message = format!("no readable project file has the id `{id}`");
            let hint = format!("add a project file with `id: {id}`, or correct the one that cannot be read");
            Err(refusal(inventory, (host.inv, host.project), NameCode::BadInput, (message, hint)))
        }
    }
}

/// Whether the first label of a name is one that a template gives at the host's location.
pub fn fits_template(inventory: &Inventory, host: &Host, settings: &ProjectSettings, name: NameRef<'_>) -> bool {
    let series = NameSeries::new(&settings.shortname_template, inventory.symbols.text(host.location));
    let label = name.first_label().unwrap_or_default();
    series.is_ok_and(|series| series.number_of(label).is_some())
}

/// Why a host's name is not its alone: what other hosts have or had of its short name and its fastbone's. A name that
/// another host has counts before one that another host had.
pub fn taken_by_others(
    inventory: &Inventory,
    taken: &TakenNames,
    (inv, project): (Inv, ProjectIndex),
    name: NameRef<'_>,
) -> Option<TakenReason> {
    let label = name.first_label().unwrap_or_default();
    let of_fastbone =
        fastbone_label(inventory, project, label).and_then(|fastbone| taken.reason_of_others(&fastbone, inv));
    taken.reason_of_others(label, inv).into_iter().chain(of_fastbone).min()
}

/// Puts the refusal of a host of a project together.
pub fn refusal(
    inventory: &Inventory,
    (inv, project): (Inv, ProjectIndex),
    code: NameCode,
    (message, hint): (String, String),
) -> NameRefusal {
    let project = inventory.projects[project.0 as usize].id.clone();
    NameRefusal { inv, project, code, message, hint }
}

/// The refusal of a host whose name is in no domain of a project.
pub fn foreign(inventory: &Inventory, (inv, project): (Inv, ProjectIndex), name: &Name) -> NameRefusal {
    let id = &inventory.projects[project.0 as usize].id;
    let message = format!("its name `{name}` is not directly below a domain of project `{id}`");
    let hint = format!("add the domain to `also_domains` of [project.{id}], or correct the name");
    refusal(inventory, (inv, project), NameCode::ForeignDomain, (message, hint))
}

/// The refusal of a host whose short name, or its fastbone's, others have or had.
pub fn not_alone(
    inventory: &Inventory,
    (inv, project): (Inv, ProjectIndex),
    (name, reason): (&Name, TakenReason),
) -> NameRefusal {
    let short = String::from_utf8_lossy(name.as_name().first_label().unwrap_or_default()).into_owned();
    let message = match reason {
        TakenReason::Cooling => {
            format!("another host gave up `{short}`, or its fastbone's name, less than `name_cooldown` ago")
        }
        TakenReason::Held | TakenReason::Live => format!("another host has `{short}`, or its fastbone's name"),
    };
    let hint = "`zonewright explain` says whose it is".to_owned();
    refusal(inventory, (inv, project), NameCode::NameTaken, (message, hint))
}

/// The refusal of a host whose fastbone would get a short name where another record, not of a
/// host, already is.
pub fn shadowing(inventory: &Inventory, whose: (Inv, ProjectIndex), fastbone: &[u8]) -> NameRefusal {
    let id = &inventory.projects[whose.1.0 as usize].id;
    let fastbone = String::from_utf8_lossy(fastbone);
    let message =
        format!("live DNS has a record at `{fastbone}`, which would be the name of its fastbone in project `{id}`");
    let hint = format!("remove that record, or give the host a name of `{id}` with `release --to-project`");
    refusal(inventory, whose, NameCode::NameTaken, (message, hint))
}
