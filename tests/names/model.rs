//! The rules of names once more, naive: every question looks at everything.

use std::collections::BTreeSet;

use crate::world::{COOLDOWN, DOMAINS, Host, Project, World, stamp};

/// A row of names.lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The host.
    pub inv: u64,
    /// The name, without its final dot.
    pub name: String,
    /// The project's place.
    pub project: usize,
    /// Since when; as it is written.
    pub since: String,
    /// When it was given up; `-` while the host has it.
    pub released: String,
}

impl Row {
    /// Whether the host has the name.
    pub fn is_current(&self) -> bool {
        self.released == "-"
    }
}

/// What a command is to do.
#[derive(Debug, Clone)]
pub enum Command {
    /// Give names; to all without one in a project where one is named, to the hosts where some are.
    Allocate { hosts: Vec<u64>, project: Option<usize>, rename: bool, to: Option<usize> },
    /// Take names away.
    Release { hosts: Vec<u64>, to: Option<usize> },
    /// Record names.
    Adopt { hosts: Vec<u64> },
}

/// Reads names.lock.
pub fn parse(world: &World, text: &str) -> Vec<Row> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [inv, name, project, since, released] = fields[..] else { panic!("{line:?} has five fields") };
        let project = world.projects.iter().position(|own| own.id == project).expect("a project");
        let [name, since, released] = [name, since, released].map(str::to_owned);
        Row { inv: inv.parse().expect("a number"), name, project, since, released }
    };
    text.lines().map(row).collect()
}

/// The text of names.lock.
pub fn text(world: &World, rows: &[Row]) -> String {
    let mut lines: Vec<(u64, &str, String)> = Vec::new();
    for Row { inv, name, project, since, released } in rows {
        let line = format!("{inv}\t{name}\t{}\t{since}\t{released}\n", world.projects[*project].id);
        lines.push((*inv, name, line));
    }
    lines.sort();
    lines.into_iter().map(|(_, _, line)| line).collect()
}

/// A name as hosts.csv has it, in lower case without a final dot; `None` for none.
fn clean(name: &str) -> Option<String> {
    let name = name.trim_end_matches('.').to_lowercase();
    (!name.is_empty() && !name.ends_with(".free.invalid")).then_some(name)
}

/// The first label of a name.
pub fn label(name: &str) -> &str {
    name.split('.').next().expect("a split is never empty")
}

/// The domain of a name.
fn domain(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, domain)| domain)
}

/// The short name of a number; `None` where the width is used up.
fn expand(template: &str, location: &str, number: u64) -> Option<String> {
    let text = template.replace("{location}", &location.to_lowercase());
    if !text.contains("{index:01}") {
        return Some(text.replace("{index}", &number.to_string()));
    }
    let (bucket, index) = if text.contains("{bucket}") { (number / 10, number % 10) } else { (0, number) };
    let fits = bucket < 10 && index < 10;
    fits.then(|| text.replace("{bucket}", &bucket.to_string()).replace("{index:01}", &index.to_string()))
}

/// The fastbone's short name for a backbone's.
fn fastbone(project: &Project, label: &str) -> Option<String> {
    project.fastbone.map(|(before, after)| format!("{before}{label}{after}"))
}

/// The name of a host: a host with any row takes it from there alone.
pub fn name_of(world: &World, rows: &[Row], inv: u64) -> Option<String> {
    if rows.iter().any(|row| row.inv == inv) {
        return rows.iter().find(|row| row.inv == inv && row.is_current()).and_then(|row| clean(&row.name));
    }
    world.hosts.get(&inv).and_then(|host| clean(&host.name))
}

/// Who has which short name, as backbone or fastbone, by hosts.csv's word about projects.
pub fn holders(world: &World, rows: &[Row]) -> BTreeSet<(String, u64)> {
    let invs: BTreeSet<u64> = world.hosts.keys().copied().chain(rows.iter().map(|row| row.inv)).collect();
    let mut found = BTreeSet::new();
    for inv in invs {
        let Some(name) = name_of(world, rows, inv) else { continue };
        let row = rows.iter().find(|row| row.inv == inv && row.is_current());
        let project = world.hosts.get(&inv).map_or_else(|| row.expect("names it").project, |host| host.project);
        found.insert((label(&name).to_owned(), inv));
        found.extend(fastbone(&world.projects[project], label(&name)).map(|label| (label, inv)));
    }
    found
}

/// One command on a workspace, host by host.
pub struct Model<'w> {
    /// The workspace.
    pub world: &'w World,
    /// names.lock as it was.
    pub before: Vec<Row>,
    /// names.lock so far.
    pub rows: Vec<Row>,
    /// The hosts that nothing could be done for.
    pub refused: BTreeSet<u64>,
    /// The names that were given, in order.
    pub given: Vec<(u64, String)>,
}

impl<'w> Model<'w> {
    /// Starts with a names.lock.
    pub fn new(world: &'w World, rows: Vec<Row>) -> Model<'w> {
        Model { world, before: rows.clone(), rows, refused: BTreeSet::new(), given: Vec::new() }
    }

    /// Whether a host other than `inv` has a short name, or had it until not longer ago than the cooldown. What the
    /// command itself did to names counts: a host that had one when it began has given it up just now, at the latest.
    fn is_claimed(&self, short: &str, inv: Option<u64>) -> bool {
        let since = stamp((self.world.now - COOLDOWN).max(0));
        self.is_anybodys(short, inv, |row| row.is_current() || self.world.now < COOLDOWN || row.released >= since)
    }

    /// Whether a host other than `inv` has a short name, now or when the command began.
    fn is_held(&self, short: &str, inv: u64) -> bool {
        self.is_anybodys(short, Some(inv), Row::is_current)
    }

    /// Whether a host other than `inv` has a short name, or a row that `counts` gives it one.
    fn is_anybodys(&self, short: &str, inv: Option<u64>, counts: impl Fn(&Row) -> bool) -> bool {
        let lock = self.before.iter().chain(&self.rows).filter(|row| counts(row) && clean(&row.name).is_some());
        let mut by_lock = lock.flat_map(|row| {
            let paired = fastbone(&self.world.projects[row.project], label(&row.name));
            paired.into_iter().chain([label(&row.name).to_owned()]).map(move |label| (label, row.inv))
        });
        let held = holders(self.world, &self.before).into_iter().chain(holders(self.world, &self.rows));
        let is_others = |(label, by): (String, u64)| label == short && Some(by) != inv;
        by_lock.any(is_others) || held.into_iter().any(is_others)
    }

    /// Whether a short name and its fastbones' are free.
    fn is_free(&self, short: &str, projects: [usize; 2]) -> bool {
        let is_there = |label: &str| (0..DOMAINS.len()).any(|at| self.world.live.contains_key(&(label.to_owned(), at)));
        let paired = projects.iter().filter_map(|at| fastbone(&self.world.projects[*at], short));
        paired.chain([short.to_owned()]).all(|label| !self.is_claimed(&label, None) && !is_there(&label))
    }

    /// Whether a host's short name or its fastbone's in a project is another's too.
    fn is_shared(&self, name: &str, inv: u64, project: usize) -> bool {
        self.short_names(name, project).any(|short| self.is_claimed(&short, Some(inv)))
    }

    /// A host's short name and its fastbone's in a project.
    fn short_names(&self, name: &str, project: usize) -> impl Iterator<Item = String> + use<> {
        let paired = fastbone(&self.world.projects[project], label(name));
        paired.into_iter().chain([label(name).to_owned()])
    }

    /// The current row of a host.
    fn current(&self, inv: u64) -> Option<Row> {
        self.rows.iter().find(|row| row.inv == inv && row.is_current()).cloned()
    }

    /// Replaces a host's current row, and what it says of a former time with the same name.
    fn put(&mut self, inv: u64, name: &str, project: usize, since: String) {
        self.rows.retain(|row| row.inv != inv || !row.is_current() && row.name != name);
        self.rows.push(Row { inv, name: name.to_owned(), project, since, released: "-".to_owned() });
    }

    /// Lets a host give up its name; false where no project of the host has the name's domain.
    fn give_up(&mut self, inv: u64, name: &str) -> bool {
        let current = self.current(inv);
        let projects = [self.world.hosts.get(&inv).map(|host| host.project), current.as_ref().map(|row| row.project)];
        let has_domain = |at: &usize| self.world.projects[*at].domains.contains(&domain(name));
        let Some(project) = projects.into_iter().flatten().find(has_domain) else { return false };
        let now = stamp(self.world.now);
        let since = current.map_or(now.clone(), |row| row.since);
        self.rows.retain(|row| row.inv != inv || !row.is_current() && row.name != name);
        self.rows.push(Row { inv, name: name.to_owned(), project, since, released: now });
        true
    }

    /// Runs a command; names.lock as it then is, in full.
    pub fn run(&mut self, command: &Command) -> String {
        let world = self.world;
        let all = |is_meant: &dyn Fn(u64, &Host) -> bool| -> BTreeSet<u64> {
            world.hosts.iter().filter(|(inv, host)| is_meant(**inv, host)).map(|(inv, _)| *inv).collect()
        };
        let named = |hosts: &Vec<u64>| hosts.iter().copied().collect::<BTreeSet<u64>>();
        match command {
            Command::Allocate { hosts, project, rename, to } => {
                let is_meant = |inv, host: &Host| {
                    host.assigned
                        && project.is_none_or(|project| host.project == project)
                        && name_of(world, &self.before, inv).is_none()
                };
                let invs = if hosts.is_empty() { all(&is_meant) } else { named(hosts) };
                invs.into_iter().for_each(|inv| self.settle(inv, *to, if *rename { "rename" } else { "keep" }));
            }
            Command::Release { hosts, to: Some(to) } => {
                named(hosts).into_iter().for_each(|inv| self.settle(inv, Some(*to), "replace"));
            }
            Command::Release { hosts, to: None } => named(hosts).into_iter().for_each(|inv| self.release(inv)),
            Command::Adopt { hosts } => {
                let is_meant =
                    |inv, host: &Host| clean(&host.name).is_some() && !self.before.iter().any(|row| row.inv == inv);
                let invs = if hosts.is_empty() { all(&is_meant) } else { named(hosts) };
                invs.into_iter().for_each(|inv| {
                    if !self.adopt(inv) {
                        self.refused.insert(inv);
                    }
                });
            }
        }
        if self.rows != self.before {
            self.expire();
        }
        text(world, &self.rows)
    }

    /// One host of `allocate`, or of `release --to-project`.
    fn settle(&mut self, inv: u64, to: Option<usize>, holding: &str) {
        if !self.settled(inv, to, holding) {
            self.refused.insert(inv);
        }
    }

    /// As [`Model::settle`]; false where nothing could be done.
    fn settled(&mut self, inv: u64, to: Option<usize>, holding: &str) -> bool {
        let Some(host) = self.world.hosts.get(&inv) else { return false };
        let at = to.unwrap_or(host.project);
        let project = &self.world.projects[at];
        let held = name_of(self.world, &self.rows, inv);
        if let Some(name) = &held {
            let is_others = |short: String| match to {
                Some(_) => self.is_claimed(&short, Some(inv)),
                None => self.is_held(&short, inv),
            };
            let fits = project.domains.contains(&domain(name))
                && self.number_of(at, host.location, label(name)).is_some()
                && !self.short_names(name, at).any(is_others);
            if holding == "keep" || holding == "rename" && fits {
                return self.keep(inv, name, to);
            }
        }
        if held.as_ref().is_some_and(|name| !Model::new(self.world, self.rows.clone()).give_up(inv, name)) {
            return false;
        }
        let mut numbers = (1..).map(|number| expand(project.template, host.location, number));
        let free = numbers.find(|short| short.as_ref().is_none_or(|short| self.is_free(short, [at, host.project])));
        let Some(Some(short)) = free else { return false };
        if let Some(name) = held {
            self.give_up(inv, &name);
        }
        let name = format!("{short}.{}", project.domains[0]);
        self.put(inv, &name, at, stamp(self.world.now));
        self.given.push((inv, name));
        true
    }

    /// The number of a short name in a project's template.
    fn number_of(&self, project: usize, location: &str, short: &str) -> Option<u64> {
        let template = self.world.projects[project].template;
        (1..=150).find(|number| expand(template, location, *number).as_deref() == Some(short))
    }

    /// Lets a host keep its name, in the project to which it is moved.
    fn keep(&mut self, inv: u64, name: &str, to: Option<usize>) -> bool {
        let current = self.current(inv);
        let Some(to) = to.filter(|to| current.as_ref().is_none_or(|row| row.project != *to)) else { return true };
        let has_domain = self.world.projects[to].domains.contains(&domain(name));
        let paired = fastbone(&self.world.projects[to], label(name));
        let is_there = |label: &str| (0..DOMAINS.len()).any(|at| self.world.live.contains_key(&(label.to_owned(), at)));
        // A record at a fastbone's name that the host has already may be its own.
        let is_shadowing = paired.is_some_and(|label| is_there(&label) && !self.is_claimed(&label, None));
        if !has_domain || self.is_shared(name, inv, to) || is_shadowing {
            return false;
        }
        self.put(inv, name, to, current.map_or(stamp(self.world.now), |row| row.since));
        true
    }

    /// One host of `release`.
    fn release(&mut self, inv: u64) {
        let current = self.current(inv).map(|row| row.project);
        let Some(project) = self.world.hosts.get(&inv).map(|host| host.project).or(current) else {
            self.refused.insert(inv);
            return;
        };
        let Some(name) = name_of(self.world, &self.rows, inv) else { return };
        if self.give_up(inv, &name) {
            self.put(inv, &format!("free-{inv}.free.invalid"), project, stamp(self.world.now));
        } else {
            self.refused.insert(inv);
        }
    }

    /// One host of `adopt`; false where nothing could be done.
    fn adopt(&mut self, inv: u64) -> bool {
        let Some(host) = self.world.hosts.get(&inv) else { return false };
        let Some(name) = clean(&host.name) else { return false };
        let current = self.current(inv);
        if current.as_ref().is_some_and(|row| row.name == name && row.project == host.project) {
            return true;
        }
        let fits = self.world.projects[host.project].domains.contains(&domain(&name))
            && self.number_of(host.project, host.location, label(&name)).is_some();
        if !fits || self.is_shared(&name, inv, host.project) {
            return false;
        }
        let now = stamp(self.world.now);
        let since = match (name_of(self.world, &self.rows, inv), current) {
            (Some(held), _) if held != name => {
                if !self.give_up(inv, &held) {
                    return false;
                }
                now
            }
            (Some(_), Some(row)) => row.since,
            _ => now,
        };
        self.put(inv, &name, host.project, since);
        true
    }

    /// Drops what was given up longer ago than the cooldown; no host's name in hosts.csv comes back by that.
    fn expire(&mut self) {
        let last = stamp((self.world.now - COOLDOWN).max(0));
        let is_over = |row: &Row| !row.is_current() && self.world.now > COOLDOWN && row.released < last;
        let rows = self.rows.clone();
        self.rows.retain(|row| !is_over(row));
        for row in rows.iter().filter(|row| is_over(row)) {
            let newest = rows.iter().filter(|other| other.inv == row.inv).map(|other| &other.released).max();
            let is_bare = self.rows.iter().all(|other| other.inv != row.inv);
            let named = self.world.hosts.get(&row.inv).is_some_and(|host| clean(&host.name).is_some());
            if is_bare && named && newest == Some(&row.released) {
                self.put(row.inv, &format!("free-{}.free.invalid", row.inv), row.project, row.released.clone());
            }
        }
    }
}
