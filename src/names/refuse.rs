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
        Some(origin) => Err(HostInProject::own(inventory, host).bad_line(origin)),
    }
}

/// The first bad row of names.lock about a host.
pub fn bad_row(inventory: &Inventory, inv: Inv) -> Option<Origin> {
    inventory.lock[lock_rows_of(inventory, inv)].iter().find(|row| row.bad).map(|row| row.origin)
}

/// A host as one of a project, in which it gets, has or gives up a name.
#[derive(Debug, Clone, Copy)]
pub struct HostInProject<'i> {
    /// The inventory.
    pub inventory: &'i Inventory,
    /// The host.
    pub inv: Inv,
    /// The project.
    pub project: ProjectIndex,
}

impl<'i> HostInProject<'i> {
    /// A host in the project that hosts.csv says.
    pub fn own(inventory: &'i Inventory, host: &Host) -> HostInProject<'i> {
        HostInProject { inventory, inv: host.inv, project: host.project }
    }

    /// The id of the project.
    fn id(&self) -> &'i str {
        &self.inventory.projects[self.project.0 as usize].id
    }

    /// Why its name is not its alone: what other hosts have or had of its short name and its fastbone's. A name that
    /// another host has counts before one that another host had.
    pub fn taken_by_others(&self, taken: &TakenNames, name: NameRef<'_>) -> Option<TakenReason> {
        let label = name.first_label().unwrap_or_default();
        let of_fastbone = fastbone_label(self.inventory, self.project, label)
            .and_then(|fastbone| taken.reason_of_others(&fastbone, self.inv));
        taken.reason_of_others(label, self.inv).into_iter().chain(of_fastbone).min()
    }

    /// Puts its refusal together.
    pub fn refusal(&self, code: NameCode, message: String, hint: String) -> NameRefusal {
        NameRefusal { inv: self.inv, project: self.id().to_owned(), code, message, hint }
    }

    /// Its refusal where it has a bad line.
    pub fn bad_line(&self, origin: Origin) -> NameRefusal {
        let message = format!("{} is bad", self.inventory.files.place(origin));
        let hint = "correct the line; `zonewright check` shows what is wrong with it, and `check --fix-lock` settles \
                    names that two rows of names.lock give";
        self.refusal(NameCode::BadInput, message, hint.to_owned())
    }

    /// Its refusal where its name is in no domain of the project.
    pub fn foreign(&self, name: &Name) -> NameRefusal {
        let id = self.id();
        let message = format!("its name `{name}` is not directly below a domain of project `{id}`");
        let hint = format!("add the domain to `also_domains` of [project.{id}], or correct the name");
        self.refusal(NameCode::ForeignDomain, message, hint)
    }

    /// Its refusal where others have or had its short name, or its fastbone's.
    pub fn not_alone(&self, name: &Name, reason: TakenReason) -> NameRefusal {
        let short = String::from_utf8_lossy(name.as_name().first_label().unwrap_or_default()).into_owned();
        let message = match reason {
            TakenReason::Cooling => {
                format!("another host gave up `{short}`, or its fastbone's name, less than `name_cooldown` ago")
            }
            TakenReason::Held | TakenReason::Live => format!("another host has `{short}`, or its fastbone's name"),
        };
        self.refusal(NameCode::NameTaken, message, "`zonewright explain` says whose it is".to_owned())
    }

    /// Its refusal where its fastbone would get a short name where another record, not of a host, already is.
    pub fn shadowing(&self, fastbone: &[u8]) -> NameRefusal {
        let id = self.id();
        let fastbone = String::from_utf8_lossy(fastbone);
        let message =
            format!("live DNS has a record at `{fastbone}`, which would be the name of its fastbone in project `{id}`");
        let hint = format!("remove that record, or give the host a name of `{id}` with `release --to-project`");
        self.refusal(NameCode::NameTaken, message, hint)
    }
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
        return Err(HostInProject::own(inventory, host).refusal(NameCode::NoDomain, message, hint));
    };
    match file {
        ProjectFile::Good(settings) => Ok((admin, settings)),
        ProjectFile::Bad { origin } => {
            let message = format!("{} is bad, so the template is unknown", inventory.files.place(*origin));
            let hint = "correct the project file; `zonewright check` says what is wrong with it".to_owned();
            Err(HostInProject::own(inventory, host).refusal(NameCode::BadInput, message, hint))
        }
        ProjectFile::Missing => {
            let message = format!("no readable project file has the id `{id}`");
            let hint = format!("add a project file with `id: {id}`, or correct the one that cannot be read");
            Err(HostInProject::own(inventory, host).refusal(NameCode::BadInput, message, hint))
        }
    }
}

/// Whether the first label of a name is one that a template gives at the host's location.
pub fn fits_template(inventory: &Inventory, host: &Host, settings: &ProjectSettings, name: NameRef<'_>) -> bool {
    let series = NameSeries::new(&settings.shortname_template, inventory.symbols.text(host.location));
    let label = name.first_label().unwrap_or_default();
    series.is_ok_and(|series| series.number_of(label).is_some())
}
