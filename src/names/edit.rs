//! One change of names.lock after another, each leaving a host with at most one current row.

use super::holders::{lock_rows_of, name_of};
use super::lock::{LockEdits, NewRow};
use crate::dns::Name;
use crate::inventory::Inventory;
use crate::inventory::model::{LockRow, ProjectIndex};
use crate::inventory::value::{Inv, Time};

/// What is done to names.lock, host by host; each host once.
#[derive(Debug)]
pub struct LockEditor<'i> {
    /// The inventory.
    inventory: &'i Inventory,
    /// The clock, to the second.
    now: Time,
    /// What was done so far.
    edits: LockEdits,
}

/// The name that a host has, and the project in which its records are looked after once it has given it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldName {
    /// The name.
    pub name: Name,
    /// The project; `None` where the name is not directly below a domain of any project that the host is in, so that a
    /// row of a release would be bad.
    pub project: Option<ProjectIndex>,
}

impl<'i> LockEditor<'i> {
    /// Starts with nothing done.
    pub fn new(inventory: &'i Inventory, now: Time) -> LockEditor<'i> {
        LockEditor { inventory, now: now.to_second(), edits: LockEdits::default() }
    }

    /// What was done.
    pub fn finish(self) -> LockEdits {
        self.edits
    }

    /// The rows of a host, with their places.
    fn rows(&self, inv: Inv) -> impl Iterator<Item = (usize, &'i LockRow)> + use<'i> {
        let inventory = self.inventory;
        lock_rows_of(inventory, inv).map(move |place| (place, &inventory.lock[place]))
    }

    /// The name that a host has; `None` where it has none.
    pub fn held(&self, inv: Inv) -> Option<HeldName> {
        let host = self.inventory.place_of(inv).map(|place| &self.inventory.hosts[place]);
        let current = self.rows(inv).find(|(_, row)| row.released.is_none());
        let name = match host {
            Some(host) => name_of(self.inventory, host).map(|(name, _)| name),
            None => current.and_then(|(_, row)| row.name.as_ref()),
        }?;
        let projects = [host.map(|host| host.project), current.map(|(_, row)| row.project)];
        let project = looked_after(self.inventory, name, projects.into_iter().flatten());
        Some(HeldName { name: name.clone(), project })
    }

    /// Lets a host give up its name, which is noted in `project`; without another it then has none.
    pub fn give_up(&mut self, inv: Inv, name: &Name, project: ProjectIndex) {
        let current = self.rows(inv).find(|(_, row)| row.released.is_none() && row.name.as_ref() == Some(name));
        let since = current.and_then(|(_, row)| row.since).unwrap_or(self.now);
        self.drop_current(inv);
        self.drop_released(inv, name);
        // By a clock that is behind it would else be over too early.
        let (project, released) = (self.id_of(project), Some(self.now.max(since)));
        self.edits.new.push(NewRow { inv, name: name.clone(), project, since, released });
    }

    /// Gives a host a name; a name that it has is lost, so call [`LockEditor::give_up`] first.
    pub fn give(&mut self, inv: Inv, name: Name, project: ProjectIndex) {
        self.drop_current(inv);
        self.drop_released(inv, &name);
        let project = self.id_of(project);
        self.edits.new.push(NewRow { inv, name, project, since: self.now, released: None });
    }

    /// Lets a host keep its name, in another project.
    pub fn move_to(&mut self, inv: Inv, name: Name, project: ProjectIndex) {
        let current = self.rows(inv).find(|(_, row)| row.released.is_none());
        let since = current.and_then(|(_, row)| row.since).unwrap_or(self.now);
        self.drop_current(inv);
        self.drop_released(inv, &name);
        let project = self.id_of(project);
        self.edits.new.push(NewRow { inv, name, project, since, released: None });
    }

    /// Drops the current rows of a host.
    fn drop_current(&mut self, inv: Inv) {
        let current = self.rows(inv).filter(|(_, row)| row.released.is_none()).map(|(place, _)| place);
        self.edits.gone.extend(current);
    }

    /// Drops the rows that say that a host gave up a name.
    fn drop_released(&mut self, inv: Inv, name: &Name) {
        let released = self.rows(inv).filter(|(_, row)| row.released.is_some() && row.name.as_ref() == Some(name));
        self.edits.gone.extend(released.map(|(place, _)| place));
    }

    /// The id of a project.
    fn id_of(&self, project: ProjectIndex) -> String {
        self.inventory.projects[project.0 as usize].id.clone()
    }
}

/// The first of some projects that maintains the records of a name after it is given up: a row of the name in that
/// project is good.
///
/// A project that zonewright.toml lacks has no domains, so no row in it is bad; but its records are not maintained, so
/// it comes last.
pub fn looked_after(
    inventory: &Inventory,
    name: &Name,
    mut projects: impl Iterator<Item = ProjectIndex> + Clone,
) -> Option<ProjectIndex> {
    let admin = |project: &ProjectIndex| inventory.projects[project.0 as usize].admin.as_ref();
    let has_domain = |project: &ProjectIndex| admin(project).is_some_and(|admin| admin.has_name(name.as_name()));
    projects.clone().find(has_domain).or_else(|| projects.find(|project| admin(project).is_none()))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{at, inventory, project, shown};
    use super::*;

    /// A name.
    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    #[test]
    fn one_row_tells_of_a_name_given_up_and_keeps_since_when() {
        let lock = ["1 sas1.search.example search 00:10:00 -", "1 sas1.search.example search 00:00:00 00:05:00"];
        let inventory = inventory(&["1,,search,assigned,sas"], &lock);
        let search = project(&inventory, "search");
        let mut editor = LockEditor::new(&inventory, at("02:00:00.9"));
        editor.give_up(Inv(1), &name("sas1.search.example"), search);
        editor.give(Inv(1), name("sas2.search.example"), search);
        let (new, gone) = shown(&editor.finish());
        assert_eq!(
            new,
            ["1 sas1.search.example. search 00:10:00 02:00:00", "1 sas2.search.example. search 02:00:00 -"]
        );
        assert_eq!(gone, [0, 1]);
    }

    #[test]
    fn by_a_clock_that_is_behind_nothing_is_given_up_before_it_was_given() {
        let inventory = inventory(&["1,,search,assigned,sas"], &["1 sas1.search.example search 03:00:00 -"]);
        let mut editor = LockEditor::new(&inventory, at("02:00:00"));
        editor.give_up(Inv(1), &name("sas1.search.example"), project(&inventory, "search"));
        assert_eq!(shown(&editor.finish()).0, ["1 sas1.search.example. search 03:00:00 03:00:00"]);
    }

    #[test]
    fn a_host_that_moves_keeps_its_name_since_then_in_one_row() {
        let lock = ["1 sas1.search.example search 00:10:00 -", "1 sas1.search.example search 00:00:00 00:05:00"];
        let inventory = inventory(&["1,,search,assigned,sas"], &lock);
        let mut editor = LockEditor::new(&inventory, at("02:00:00"));
        editor.move_to(Inv(1), name("sas1.search.example"), project(&inventory, "web"));
        assert_eq!(shown(&editor.finish()), (vec!["1 sas1.search.example. web 00:10:00 -".to_owned()], vec![0, 1]));
    }

    #[test]
    fn a_name_is_looked_after_in_a_project_that_has_its_domain() {
        let inventory = inventory(
            &[
                "1,,web,assigned,sas",
                "2,x2.web.example,search,assigned,sas",
                "4,,search,assigned,sas",
                "6,,gone,assigned,sas",
                "7,x7.web.example,gone,assigned,sas",
            ],
            &[
                "1 sas1.old.example search 00:10:00 -",
                "3 x3.web.example web 00:10:00 -",
                "4 free-4.free.invalid search 00:10:00 -",
                "6 x6.web.example web 00:10:00 -",
            ],
        );
        let editor = LockEditor::new(&inventory, at("02:00:00"));
        let projects = [1, 2, 3].map(|inv| editor.held(Inv(inv)).unwrap().project);
        assert_eq!(projects, [Some(project(&inventory, "search")), None, Some(project(&inventory, "web"))]);
        assert_eq!(
            editor.held(Inv(6)).unwrap().project,
            Some(project(&inventory, "web")),
            "`gone` does not maintain records"
        );
        assert_eq!(
            editor.held(Inv(7)).unwrap().project,
            Some(project(&inventory, "gone")),
            "there is no other project"
        );
        assert_eq!(editor.held(Inv(4)), None, "a name below the free domain does not count");
        assert_eq!(editor.held(Inv(5)), None);
    }
}
