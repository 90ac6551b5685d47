//! The way to the primary: before a message is sent, it is seen whether all hosts of it may go.

use std::collections::BTreeSet;

use super::services::{LastAnswer, is_asked};
use super::stage::{Cast, Stage};
use crate::cms::task::TaskStatus;
use crate::diag::Problem;
use crate::dns::{Rtype, ZoneName};
use crate::inventory::approvals::DEFAULT_SERVICE;
use crate::inventory::cms::CmsAction;
use crate::target::{
    Answer, EditSize, Question, RrsetEdit, Update, UpdateLimits, UpdateReply, UpdateTicket, UpdateZone, WriteTarget,
};

/// The connection of a run to the primary.
pub struct StoryWire<'s> {
    /// The stage.
    pub stage: &'s Stage,
}

impl WriteTarget for StoryWire<'_> {
    fn place(&self, zone: &ZoneName) -> String {
        WriteTarget::place(&self.stage.primary, zone)
    }

    fn limits(&self) -> UpdateLimits {
        self.stage.primary.limits()
    }

    fn size(&self, zone: &ZoneName, edit: RrsetEdit<'_>) -> EditSize {
        self.stage.primary.size(zone, edit)
    }

    fn observe(&self, zone: &ZoneName, asked: &[Question], rrsets: Option<u64>) -> Result<Vec<Answer>, Problem> {
        self.stage.primary.observe(zone, asked, rrsets)
    }

    fn open(&self, zone: &ZoneName) -> Box<dyn UpdateZone + '_> {
        Box::new(StoryZone { stage: self.stage, session: self.stage.primary.open(zone) })
    }

    fn finish(&self, is_over: &dyn Fn() -> bool) -> Result<(), Problem> {
        self.stage.primary.finish(is_over)
    }
}

/// The connection of a run to one zone.
struct StoryZone<'w> {
    /// The stage.
    stage: &'w Stage,
    /// The session with the primary.
    session: Box<dyn UpdateZone + 'w>,
}

impl UpdateZone for StoryZone<'_> {
    fn window(&mut self) -> usize {
        self.session.window()
    }

    fn send(&mut self, update: &Update<'_>) -> Result<UpdateTicket, Problem> {
        let going: BTreeSet<usize> = {
            let mut cast = self.stage.cast();
            let is_edited = |name: &crate::dns::Name| {
                update
                    .edits
                    .iter()
                    .any(|edit| edit.key.rtype == Rtype::AAAA && edit.key.owner.as_name() == name.as_name())
            };
            let hosts = cast.hosts.iter().enumerate().filter(|(_, host)| is_edited(&host.name));
            let going = hosts.map(|(number, _)| number).collect();
            see_off(&mut cast, &going);
            going
        };
        self.stage.death_point("before a message");
        let ticket = self.session.send(update);
        self.stage.observe();
        self.stage.cast().tell(|| format!("  sent to DNS: {going:?}"));
        self.stage.death_point("after a message");
        ticket
    }

    fn reply(&mut self, ticket: UpdateTicket) -> UpdateReply {
        let reply = self.session.reply(ticket);
        self.stage.observe();
        reply
    }
}

/// Sees whether hosts may go now.
fn see_off(cast: &mut Cast, going: &BTreeSet<usize>) {
    cast.counted.clear();
    let mut deeds: Vec<(usize, CmsAction)> = Vec::new();
    for number in going {
        let Some(action) = cast.deeds.get(number).copied() else {
            let fault = format!("{} goes, and the plan does not change it", cast.hosts[*number].name);
            cast.fault(fault);
            continue;
        };
        deeds.push((*number, action));
        // Who has the same name loses an address, and nothing else.
        deeds.extend(cast.affected.get(number).map(|other| (*other, CmsAction::TemporaryUnreachable)));
    }
    for (number, action) in deeds {
        let host = &cast.hosts[number];
        let Some(terms) = cast.projects.get(host.project).filter(|terms| terms.actions.contains(&action)) else {
            continue;
        };
        let (name, run) = (host.service_name(), cast.run);
        let mut faults = Vec::new();
        for service in terms.services.iter().filter(|service| *service != DEFAULT_SERVICE) {
            let own = &cast.services[service];
            let tasks = own.tasks.iter().filter(|(_, task)| task.host == name);
            let tasks: Vec<String> = tasks.map(|(id, _)| id.clone()).collect();
            cast.went.extend(tasks.iter().filter(|id| cast.polled.contains(*id)).cloned());
            cast.used.extend(tasks);
            let allowed = LastAnswer { run, is_poll: true, said: Some(TaskStatus::Ok) };
            let last = own.last.get(&name);
            if is_asked(own.version, action) && last != Some(&allowed) {
                faults.push(format!("{name} goes in run {run}, and `{service}` did not allow that: {last:?}"));
            }
        }
        if terms.services.iter().any(|service| service == DEFAULT_SERVICE) {
            cast.counted.insert(number);
        }
        faults.into_iter().for_each(|fault| cast.fault(fault));
    }
    let projects: Vec<(String, usize)> =
        cast.projects.iter().map(|(project, terms)| (project.clone(), terms.max_busy_hosts)).collect();
    for (project, max) in projects {
        let own = |number: &usize| cast.hosts[*number].project == project;
        let busy: BTreeSet<usize> =
            (0..cast.hosts.len()).filter(own).filter(|number| cast.hosts[*number].is_busy(cast.now)).collect();
        let comes: BTreeSet<usize> = cast.counted.iter().copied().filter(|number| own(number)).collect();
        let count = busy.union(&comes).count();
        if count > max && !comes.is_subset(&busy) {
            let fault = format!("{comes:?} go, {busy:?} of `{project}` are busy, and {max} may be");
            cast.fault(fault);
        }
    }
}
