//! Names over random histories: what `allocate`, `release` and `adopt` make of names.lock is what the rules say,
//! however people edit hosts.csv, DNS changes and time passes in between.

mod model;
mod world;

use std::fs;
use std::path::Path;

use model::{Command, Model, holders, parse};
use proptest::prelude::*;
use world::{COOLDOWN, DOMAINS, Host, LOCATIONS, Project, World, stamp};
use zonewright::diag::Severity;
use zonewright::pipeline::names::{LockRewrite, NamesError, NamesOrder, NamesTask, rewrite, write};
use zonewright::pipeline::{InputError, PlanRequest};
use zonewright::progress::{Progress, RunStage};
use zonewright::provider::cache::CacheUse;

/// A test needs no progress reports.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: RunStage, _: Option<u64>) {}
    fn step(&self) {}
}

/// What happens next.
#[derive(Debug, Clone)]
enum Event {
    /// A command runs.
    Run(Command),
    /// Seconds pass.
    Wait(i64),
    /// So many seconds pass that some release is as long ago as the cooldown, perhaps with one more second.
    WaitForCooldown(usize, i64),
    /// An operator gives a host a name in hosts.csv: the low number of a project, or its fastbone's, as it may be
    /// written.
    Name { host: u64, project: usize, number: u64, domain: usize, paired: bool, loud: bool },
    /// An operator gives a host, a new one perhaps, another host's name in hosts.csv, or what would be its fastbone's
    /// in a project.
    CopyName { from: u64, to: u64, paired: Option<usize> },
    /// An operator clears a host's name in hosts.csv.
    ClearName(u64),
    /// An operator moves a host to a project in hosts.csv.
    Move(u64, usize),
    /// An operator turns a host from assigned to free, or back.
    Toggle(u64),
    /// A host appears, or goes.
    Host { host: u64, project: usize, location: usize },
    /// Something appears in DNS at a low number of a project, or its fastbone's, or goes.
    Live { project: usize, number: u64, location: usize, domain: usize, paired: bool, data: &'static str },
}

/// Some host.
fn host() -> impl Strategy<Value = u64> {
    1_u64..=9
}

/// A command.
fn command() -> impl Strategy<Value = Command> {
    let some = || prop::collection::vec(host(), 1..4);
    prop_oneof![
        4 => Just(Command::Allocate { hosts: vec![], project: None, rename: false, to: None }),
        1 => (0..3_usize).prop_map(|at| Command::Allocate { hosts: vec![], project: Some(at), rename: false, to: None }),
        2 => (some(), any::<bool>(), prop::option::weighted(0.5, 0..3_usize))
            .prop_map(|(hosts, rename, to)| Command::Allocate { hosts, project: None, rename, to }),
        4 => (some(), prop::option::weighted(0.3, 0..3_usize)).prop_map(|(hosts, to)| Command::Release { hosts, to }),
        1 => Just(Command::Adopt { hosts: vec![] }),
        1 => some().prop_map(|hosts| Command::Adopt { hosts }),
    ]
}

/// Anything that may happen.
fn event() -> impl Strategy<Value = Event> {
    let domain = 0..DOMAINS.len();
    let data = prop::sample::select(vec![
        "AAAA 2001:db8::1",
        "CNAME x.example.com.",
        "TXT \"kept\"",
        "MX 10 mail.example.com.",
        "NS ns.example.com.",
    ]);
    let name = (host(), 0..3_usize, 1..6_u64, domain.clone(), prop::bool::weighted(0.2), any::<bool>());
    let live = (0..3_usize, 1..6_u64, 0..3_usize, domain, any::<bool>(), data);
    prop_oneof![
        8 => command().prop_map(Event::Run),
        2 => prop::sample::select(vec![1, COOLDOWN / 2, COOLDOWN - 1, COOLDOWN, COOLDOWN + 1]).prop_map(Event::Wait),
        2 => (0..4_usize, 0..=1_i64).prop_map(|(which, more)| Event::WaitForCooldown(which, more)),
        2 => name.prop_map(|(host, project, number, domain, paired, loud)| {
            Event::Name { host, project, number, domain, paired, loud }
        }),
        4 => (host(), host(), prop::option::of(0..3_usize)).prop_map(|(from, to, paired)| Event::CopyName { from, to, paired }),
        1 => host().prop_map(Event::ClearName),
        1 => (host(), 0..3_usize).prop_map(|(host, project)| Event::Move(host, project)),
        1 => host().prop_map(Event::Toggle),
        2 => (host(), 0..3_usize, 0..3_usize).prop_map(|(host, project, location)| Event::Host { host, project, location }),
        2 => live.prop_map(|(project, number, location, domain, paired, data)| {
            Event::Live { project, number, location, domain, paired, data }
        }),
    ]
}

/// Three projects, and hosts in them.
fn start() -> impl Strategy<Value = World> {
    let templates =
        ["{location}{index:01}", "{location}{bucket}-{index:01}", "x{index}", "fb-{location}{index:01}", "x{index:01}"];
    let fastbones = [None, Some(("fb-", "")), Some(("fb-", "")), Some(("", "0")), Some(("x", ""))];
    let choice = (prop::sample::select(templates.to_vec()), prop::sample::select(fastbones.to_vec()));
    let location = prop::sample::select(LOCATIONS.to_vec());
    let hosts = prop::collection::btree_map(host(), (0..3_usize, location), 4..8);
    (prop::array::uniform3(choice), hosts, prop::bool::ANY).prop_map(|(rules, hosts, also)| {
        let search = vec![DOMAINS[0], DOMAINS[2], DOMAINS[1]];
        let domains =
            [search, vec![DOMAINS[1], DOMAINS[0]], if also { vec![DOMAINS[3], DOMAINS[0]] } else { vec![DOMAINS[3]] }];
        let projects = ["search", "web", "sub"].into_iter().zip(rules).zip(domains);
        let projects =
            projects.map(|((id, (template, fastbone)), domains)| Project { id, domains, template, fastbone });
        let host = |(inv, (project, location))| (inv, Host { name: String::new(), project, assigned: true, location });
        World {
            projects: projects.collect(),
            hosts: hosts.into_iter().map(host).collect(),
            live: Default::default(),
            now: 0,
        }
    })
}

/// A low short name of a project, or its fastbone's.
fn short(project: &Project, (number, location): (u64, &str), paired: bool) -> String {
    let label = project.template.replace("{location}", &location.to_lowercase()).replace("{bucket}", "0");
    let label = label.replace("{index:01}", &number.to_string()).replace("{index}", &number.to_string());
    match project.fastbone.filter(|_| paired) {
        Some((before, after)) => format!("{before}{label}{after}"),
        None => label,
    }
}

impl World {
    /// Lets happen what is no command.
    fn happen(&mut self, event: &Event, lock: &str) {
        match *event {
            Event::Run(_) => {}
            Event::Wait(seconds) => self.now += seconds,
            Event::WaitForCooldown(which, more) => {
                let rows = parse(self, lock);
                let mut released: Vec<i64> =
                    (0..=self.now).filter(|at| rows.iter().any(|row| row.released == stamp(*at))).collect();
                released.retain(|at| *at + COOLDOWN + more > self.now);
                if let Some(at) = released.get(which) {
                    self.now = at + COOLDOWN + more;
                }
            }
            Event::Name { host, project, number, domain, paired, loud } => {
                let Some(entry) = self.hosts.get_mut(&host) else { return };
                let name = short(&self.projects[project], (number, entry.location), paired);
                let name = format!("{name}.{}", DOMAINS[domain]);
                entry.name = if loud { name.to_uppercase() + "." } else { name };
            }
            Event::CopyName { from, to, paired } => {
                let (held, fresh) = (model::name_of(self, &parse(self, lock), from), self.hosts.get(&from).cloned());
                let (Some(held), Some(fresh)) = (held, fresh) else { return };
                let (label, domain) = held.split_once('.').expect("a name below a domain");
                let affixes = paired.and_then(|at| self.projects[at].fastbone).unwrap_or_default();
                let name = format!("{}{label}{}.{domain}", affixes.0, affixes.1);
                self.hosts.entry(to).or_insert(fresh).name = name;
            }
            Event::ClearName(host) => drop(self.hosts.entry(host).and_modify(|host| host.name.clear())),
            Event::Move(host, project) => drop(self.hosts.entry(host).and_modify(|host| host.project = project)),
            Event::Toggle(host) => drop(self.hosts.entry(host).and_modify(|host| host.assigned = !host.assigned)),
            Event::Host { host, project, location } => {
                let fresh = Host { name: String::new(), project, assigned: true, location: LOCATIONS[location] };
                if self.hosts.remove(&host).is_none() || self.hosts.is_empty() {
                    self.hosts.insert(host, fresh);
                }
            }
            Event::Live { project, number, location, domain, paired, data } => {
                let label = short(&self.projects[project], (number, LOCATIONS[location]), paired);
                if self.live.remove(&(label.clone(), domain)).is_none() {
                    self.live.insert((label, domain), data);
                }
            }
        }
    }
}

/// Runs a command without writing anything; `None` where it would concern no host.
fn run(world: &World, folder: &Path, command: &Command) -> Option<LockRewrite> {
    let id = |at: &usize| world.projects[*at].id.to_owned();
    let (task, hosts, project) = match command {
        Command::Allocate { hosts, project, rename, to } => {
            (NamesTask::Allocate { rename: *rename, to: to.as_ref().map(id) }, hosts, *project)
        }
        Command::Release { hosts, to } => (NamesTask::Release { to: to.as_ref().map(id) }, hosts, None),
        Command::Adopt { hosts } => (NamesTask::Adopt, hosts, None),
    };
    let now = stamp(world.now).parse().expect("a time");
    let hosts = hosts.iter().map(ToString::to_string).collect();
    let projects = project.iter().map(id).collect();
    let request = PlanRequest {
        subjects: Vec::new(),
        adopt: None,
        asks_approvals: false,
        workspace: folder,
        now,
        hosts,
        projects,
        live_snapshot: None,
        base: None,
        cache: CacheUse::Read,
        allow: &[],
    };
    let (done, findings) = rewrite(&request, NamesOrder { task: &task, hosts: &[] }, &Silent);
    let faults: Vec<_> = findings.diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
    assert!(faults.is_empty(), "{faults:?}");
    match done {
        Ok(rewrite) => Some(rewrite),
        Err(NamesError::Input(InputError::Call(_))) => None,
        Err(error) => panic!("{error:?}"),
    }
}

/// Runs a command on the workspace and on the model, and compares.
fn check(world: &World, folder: &Path, command: &Command) {
    world.write(folder);
    let Some(rewrite) = run(world, folder, command) else { return };
    let before = parse(world, &rewrite.old);
    let mut model = Model::new(world, before.clone());
    let wanted = model.run(command);
    assert_eq!(rewrite.new, wanted, "{command:?}\nof\n{}", rewrite.old);
    let refused: Vec<u64> = rewrite.outcome.refused.iter().map(|refusal| refusal.inv.0).collect();
    assert!(refused.iter().eq(&model.refused), "{:?}, not {:?}", rewrite.outcome.refused, model.refused);
    if rewrite.new != rewrite.old {
        write(folder, &rewrite.old, &rewrite.new).expect("names.lock can be written");
    }
    let after = parse(world, &rewrite.new);
    check_holders(world, (&before, &after), command);
    let again = run(world, folder, command).expect("it ran before");
    // A host that got another name because its own could not be kept may get another one again; no other host changes.
    let renames = matches!(command, Command::Release { to: Some(_), .. });
    assert!(renames || again.new == again.old, "{command:?} again:\n{}\nnot\n{}", again.new, again.old);
}

/// No command makes two hosts have one short name, nor changes a host that it is not about.
fn check_holders(world: &World, (before, after): (&[model::Row], &[model::Row]), command: &Command) {
    let shared = |rows: &[model::Row]| -> Vec<(String, u64)> {
        let held = holders(world, rows);
        held.iter().filter(|(label, inv)| held.iter().any(|(other, by)| other == label && by != inv)).cloned().collect()
    };
    let already = shared(before);
    let new: Vec<_> = shared(after).into_iter().filter(|pair| !already.contains(pair)).collect();
    assert!(new.is_empty(), "{command:?} gives {new:?}");
    let (Command::Allocate { hosts, .. } | Command::Release { hosts, .. } | Command::Adopt { hosts }) = command;
    for inv in world.hosts.keys() {
        let (old, new) = (model::name_of(world, before, *inv), model::name_of(world, after, *inv));
        let is_meant =
            hosts.contains(inv) || hosts.is_empty() && (old.is_none() || matches!(command, Command::Adopt { .. }));
        assert!(is_meant || old == new, "{command:?} changes {inv} from {old:?} to {new:?}");
        if let Command::Release { to: None, .. } = command {
            let has_free = after.iter().any(|row| row.inv == *inv && row.name.starts_with("free-") && row.is_current());
            assert!(!hosts.contains(inv) || !has_free || new.is_none(), "{inv} still has {new:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_history_gives_the_names_that_the_rules_say(world in start(), events in prop::collection::vec(event(), 1..40)) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut world = world;
        world.write_settings(folder.path());
        for event in &events {
            let lock = fs::read_to_string(folder.path().join("names.lock")).unwrap_or_default();
            match event {
                Event::Run(command) => check(&world, folder.path(), command),
                other => world.happen(other, &lock),
            }
        }
    }
}
