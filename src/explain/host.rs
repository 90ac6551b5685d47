//! The chain of one host.

use super::ExplainCase;
use super::model::{
    DecisionFacts, ExplainSubject, Explanation, GivenName, HostFacts, HostsCsvRow, OtherName, ProjectFacts, SwitchFacts,
};
use crate::desired::network::{self, Segment};
use crate::diag::Origin;
use crate::diff::protect;
use crate::diff::released::{self, SpareReason};
use crate::dns::{Name, NameRef};
use crate::inventory::model::{ExportEntry, Host, HostStatus, LockRow, ProjectFile, ProjectIndex};
use crate::inventory::symbol::Symbol;
use crate::inventory::value::Inv;
use crate::names::holders::{lock_rows_of, name_of};

/// Explains a host.
pub fn explain(case: &ExplainCase<'_>, inv: Inv) -> Explanation {
    let host = case.host(inv);
    Explanation {
        subject: ExplainSubject::Host(inv.0),
        now: case.context.now.to_string(),
        unseen: Vec::new(),
        answer: answer(&host),
        name: None,
        address: None,
        host: Some(host),
    }
}

/// Who a host is and what is done about it, in a few sentences.
pub fn answer(host: &HostFacts) -> String {
    let name = host.name.as_ref().map_or("without a name".to_owned(), |name| name.name.clone());
    let project = host.project.as_ref().map(|project| format!(", project {}", project.id)).unwrap_or_default();
    let others = match host.decision.changes_of_others.len() {
        0 => String::new(),
        1 => " 1 change of others touches it.".to_owned(),
        several => format!(" {several} changes of others touch it."),
    };
    let foreign = match host.decision.outcome {
        "nothing" if has_foreign_ttl(host) => " A TTL is not the desired one, but the RRset is not our own.",
        _ => "",
    };
    format!("Host {}, {name}{project}: {}{foreign}{others}", host.inv, decided(host.inv, &host.decision))
}

/// Whether some RRset of a host has a TTL that is not the desired one and that may not be changed.
fn has_foreign_ttl(host: &HostFacts) -> bool {
    let sites = host.interfaces.iter().flat_map(|own| {
        let reverse = own.networks.iter().filter_map(|network| network.address.as_ref()).filter(|own| own.kept);
        own.live
            .iter()
            .chain(reverse.map(|address| &address.reverse))
            .chain(own.own_a.iter().map(|a| &a.reverse))
            .chain(own.listed.iter().filter(|own| own.kept).map(|own| &own.reverse))
    });
    let mut rrsets = sites.flat_map(|site| &site.rrsets);
    rrsets.any(|rrset| rrset.wanted_ttl.is_some() && !rrset.writable)
}

/// What is decided about a host, in a sentence or two.
fn decided(inv: u64, decision: &DecisionFacts) -> String {
    let counted = |number: usize| if number == 1 { "1 change".to_owned() } else { format!("{number} changes") };
    let own = decision.changes.len();
    let released = match own {
        0 => String::new(),
        _ => format!(" {} planned for its former names all the same.", is_are(own)),
    };
    match decision.outcome {
        "changes" => format!("{} planned.", is_are(own)),
        "nothing" if !decision.held_back.is_empty() => format!(
            "nothing is done, because policy `{}` holds back {}.",
            decision.policy.unwrap_or_default(),
            counted(decision.held_back.len())
        ),
        "nothing" if !decision.said.is_empty() => format!("nothing is done, because {}.", decision.said),
        "nothing" => "nothing has to be changed.".to_owned(),
        "blocked" => {
            let first = decision.obstacles.first();
            let what = first.map(|first| format!(" by `{}`: {}", first.code, first.message)).unwrap_or_default();
            let more = match decision.obstacles.len() {
                0 | 1 => String::new(),
                2 => " 1 more obstacle comes after it.".to_owned(),
                all => format!(" {} more obstacles come after it.", all - 1),
            };
            format!("it is blocked{what}.{more}{released}")
        }
        "skipped" => {
            let by_hand = match &decision.by_hand {
                Some(by_hand) if !by_hand.passes => " `--host` does not override that.".to_owned(),
                Some(by_hand) if !by_hand.obstacles.is_empty() => {
                    format!(" With `--host {inv}` it would be blocked by `{}`.", by_hand.obstacles[0].code)
                }
                Some(by_hand) if by_hand.changes.is_empty() => {
                    format!(" With `--host {inv}` nothing would be changed.")
                }
                Some(by_hand) => format!(" With `--host {inv}` there would be {}.", counted(by_hand.changes.len())),
                None => String::new(),
            };
            format!("it is skipped (`{}`).{by_hand}{released}", decision.skipped.unwrap_or_default())
        }
        "free" => format!("it is free, so nothing is planned for it.{released}"),
        "left-out" => "nothing is planned for it, because `--host` or `--project` names others.".to_owned(),
        _ => format!("nothing is planned for it, because hosts.csv has no row of it.{released}"),
    }
}

/// How many changes touch a name or address that no host has, in a sentence.
pub fn touched(changes: usize) -> String {
    match changes {
        0 => "No change touches it.".to_owned(),
        1 => "1 change touches it.".to_owned(),
        several => format!("{several} changes touch it."),
    }
}

/// A number of changes with its verb.
fn is_are(number: usize) -> String {
    if number == 1 { "1 change is".to_owned() } else { format!("{number} changes are") }
}

impl ExplainCase<'_> {
    /// All about a host.
    pub(super) fn host(&self, inv: Inv) -> HostFacts {
        let Some(place) = self.context.inventory.place_of(inv) else { return self.lost_host(inv) };
        let host = &self.context.inventory.hosts[place];
        let desired = &self.context.desired[place];
        let is_free = host.status == HostStatus::Free;
        // An address that the inventory lists needs no MAC and no switch.
        let is_listed = self.is_listed(host.project);
        HostFacts {
            inv: inv.0,
            row: Some(self.row(host)),
            project: Some(self.project(host.project)),
            name: self.given_name(inv),
            other_names: self.other_names(inv),
            reports: if is_listed { Vec::new() } else { self.reports(inv) },
            mac: desired.mac.active.map(|active| active.mac.to_string()),
            switch: if is_listed { None } else { self.switch(place) },
            interfaces: if is_free { Vec::new() } else { self.interfaces(place, self.policy_of(place)) },
            decision: self.decide(place),
        }
    }

    /// A host that names.lock alone knows.
    fn lost_host(&self, inv: Inv) -> HostFacts {
        let said = "it is not planned and not listed; names that names.lock still gives it count as taken";
        HostFacts {
            inv: inv.0,
            row: None,
            project: None,
            name: self.given_name(inv),
            other_names: self.other_names(inv),
            reports: self.reports(inv),
            mac: None,
            switch: None,
            interfaces: Vec::new(),
            decision: DecisionFacts { outcome: "unknown", said: said.to_owned(), ..self.changes_of(inv, None) },
        }
    }

    /// A row of hosts.csv.
    fn row(&self, host: &Host) -> HostsCsvRow {
        let inventory = self.context.inventory;
        let others = inventory.hosts.iter().filter(|other| other.inv == host.inv && other.origin != host.origin);
        let text = |symbol: Symbol| inventory.symbols.text(symbol).to_owned();
        HostsCsvRow {
            line: self.line(host.origin),
            also: others.map(|other| self.line(other.origin)).collect(),
            status: match host.status {
                HostStatus::Assigned => "assigned",
                HostStatus::Free => "free",
            },
            location: text(host.location),
            switch: host.switch.map(text),
            restricted: host.restricted,
            bad: host.bad,
        }
    }

    /// A project with its switches.
    fn project(&self, index: ProjectIndex) -> ProjectFacts {
        let project = &self.context.inventory.projects[index.0 as usize];
        let (owner, owner_line) = match &project.file {
            ProjectFile::Good(settings) => {
                (if settings.automation { "on" } else { "off" }, Some(self.line(settings.policy_origin)))
            }
            ProjectFile::Bad { origin } => ("bad", Some(self.line(*origin))),
            ProjectFile::Missing => ("missing", None),
        };
        ProjectFacts {
            id: project.id.clone(),
            administrator: match &project.admin {
                Some(admin) if admin.automation_allowed => "allowed",
                Some(_) => "forbidden",
                None => "absent",
            },
            administrator_line: project.admin.as_ref().map(|admin| self.line(admin.origin)),
            owner,
            owner_line,
            policy: project.file.settings().map(|settings| settings.policy.as_str()),
        }
    }

    /// A host's name, and the line that gives it.
    fn given_name(&self, inv: Inv) -> Option<GivenName> {
        let (name, row) = self.name(inv)?;
        let origin = row.map(|row| row.origin).or(self.host_row(inv).map(|host| host.origin))?;
        Some(GivenName {
            name: name.to_string(),
            line: self.line(origin),
            source: if row.is_some() { "names.lock" } else { "hosts.csv" },
        })
    }

    /// A host's name, with its row of names.lock where that gives it; of a host that hosts.csv lacks, its current
    /// row's.
    fn name(&self, inv: Inv) -> Option<(&Name, Option<&LockRow>)> {
        let inventory = self.context.inventory;
        match self.host_row(inv) {
            Some(host) => name_of(inventory, host),
            None => {
                let mut rows = inventory.lock[lock_rows_of(inventory, inv)].iter();
                let row = rows.find(|row| row.released.is_none() && !row.bad)?;
                Some((row.name.as_ref()?, Some(row)))
            }
        }
    }

    /// A host's row of hosts.csv.
    fn host_row(&self, inv: Inv) -> Option<&Host> {
        let inventory = self.context.inventory;
        inventory.place_of(inv).map(|place| &inventory.hosts[place])
    }

    /// The names that a host had, and those that do not count.
    fn other_names(&self, inv: Inv) -> Vec<OtherName> {
        let inventory = self.context.inventory;
        let (host, given) = (self.host_row(inv), self.name(inv));
        let rows = inventory.lock[lock_rows_of(inventory, inv)].iter();
        let rows = rows.filter(|row| given.and_then(|(_, given)| given).is_none_or(|given| given.origin != row.origin));
        // A current row without a name only says that the host has none.
        let rows = rows.filter(|row| row.bad || row.name.is_some() || row.released.is_some());
        let mut names: Vec<OtherName> = rows.map(|row| self.other_name(row)).collect();
        if let Some(host) = host
            && let Some(name) = &host.name
            && given.is_none_or(|(held, _)| held != name)
        {
            names.push(OtherName {
                name: Some(name.to_string()),
                line: self.line(host.origin),
                released: None,
                taken_until: None,
                said: "hosts.csv says so, but names.lock has rows of the host, and only names.lock counts".to_owned(),
            });
        }
        names
    }

    /// A row of names.lock that does not give its host's name now.
    fn other_name(&self, row: &LockRow) -> OtherName {
        let until = row.released.and_then(|released| self.taken_until(released));
        let said = match (row.bad, row.released, until) {
            (true, ..) => "the row is bad".to_owned(),
            (_, None, _) => "it still counts as taken".to_owned(),
            (_, Some(_), Some(until)) => format!("it stays taken until {until}; {}", self.fate_words(row)),
            (_, Some(_), None) if released::spared(self.context, row) == Some(SpareReason::LongAgo) => {
                "long ago: zonewright no longer changes its records".to_owned()
            }
            (_, Some(_), None) => {
                let again = row.name.as_ref().map(|name| self.again_words(name.as_name()));
                format!("{}; {}", again.unwrap_or_default(), self.fate_words(row))
            }
        };
        OtherName {
            name: row.name.as_ref().map(|name| name.to_string()),
            line: self.line(row.origin),
            released: row.released.map(|released| released.to_string()),
            taken_until: until.map(|until| until.to_string()),
            said,
        }
    }

    /// When a name that was given up long enough ago may be given again.
    pub(super) fn again_words(&self, name: NameRef<'_>) -> &'static str {
        match self.context.live.rrsets_at(name).next() {
            Some(_) => "it may be given again once live DNS has nothing at it",
            None => "it may be given again",
        }
    }

    /// What happens to the records of a name that was given up not long ago.
    fn fate_words(&self, row: &LockRow) -> String {
        let Some(spared) = released::spared(self.context, row) else {
            let name = row.name.as_ref().map(Name::as_name);
            let waits = name.map(|name| self.waits_of(name)).unwrap_or_default();
            return match waits.first() {
                Some(waits) => waits.clone(),
                None => "its records are removed".to_owned(),
            };
        };
        let why = match spared {
            SpareReason::NotReleased | SpareReason::LongAgo => "no rule looks at it".to_owned(),
            SpareReason::Forbidden => "the administrator does not allow automation".to_owned(),
            SpareReason::PolicyUnknown => "no file of its project can be read".to_owned(),
            SpareReason::Policy(policy) => format!("policy `{}` removes nothing", policy.as_str()),
            SpareReason::LeftOut => "`--host` or `--project` names others".to_owned(),
            SpareReason::Restricted => "`automated-dns` restricts the host".to_owned(),
            SpareReason::Breaker => "a breaker has tripped".to_owned(),
            SpareReason::Resting => {
                "nothing is removed while a row of hosts.csv or names.lock is bad, or a source is unknown".to_owned()
            }
            SpareReason::Held => "a host has the name again".to_owned(),
            SpareReason::Untouchable => "no rule touches this name".to_owned(),
            SpareReason::Protected => {
                let name = row.name.as_ref().map(Name::as_name);
                let why = name.and_then(|name| protect::protection(self.context, name));
                why.map(|why| protect::reason(self.context, why)).unwrap_or_default()
            }
        };
        format!("its records are left alone: {why}")
    }

    /// A host's switch, who names it, and which segment it is in.
    fn switch(&self, place: usize) -> Option<SwitchFacts> {
        let inventory = self.context.inventory;
        let (host, desired) = (&inventory.hosts[place], &self.context.desired[place]);
        let switch = desired.mac.switch_of(host)?;
        let (source, origin) = match desired.mac.active {
            Some(active) if active.switch.is_some() => ("report", active.origin),
            _ => ("hosts.csv", host.origin),
        };
        let segment = network::segment(inventory, Some(switch));
        Some(SwitchFacts {
            switch: inventory.symbols.text(switch).to_owned(),
            line: self.line(origin),
            source,
            segment: match segment {
                Segment::L3 => "L3",
                Segment::L2 => "L2",
            },
            segment_line: self.first_row_of(switch).map(|origin| self.line(origin)),
        })
    }

    /// The first row of l3-tors that lists a switch.
    fn first_row_of(&self, switch: Symbol) -> Option<Origin> {
        let tors = &self.context.inventory.tors;
        let rows = tors.networks.iter().filter(|((own, _), _)| *own == switch).map(|(_, entry)| match entry {
            ExportEntry::Good(_, origin) | ExportEntry::Bad(origin) => *origin,
        });
        rows.chain(tors.unreadable.get(&switch).copied()).min()
    }
}
