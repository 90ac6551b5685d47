//! What the journal says about past applies.
//!
//! Comes in: what an operator asks for. Goes out: the applies that match. No server is queried, and nothing is locked
//! or written.

use std::path::Path;

use super::TOOL;
use super::settings::{OpenError, load_config, state_address};
use crate::diag::Problem;
use crate::dns::{Name, ZoneName};
use crate::inventory::model::Config;
use crate::inventory::value::{Inv, Time};
use crate::state::status::at_work;
use crate::state::{
    self, ApplyId, History, HistoryAnswer, LeftSubject, PastApply, RrsetStanding, SentChange, SentUpdate, State,
    StateLock,
};
use crate::target::PoolName;

/// What an operator asks for.
#[derive(Debug, Clone)]
pub enum HistoryQuestion {
    /// The latest applies, at most so many.
    Latest(usize),
    /// The apply of this number, or else the host.
    Number(u64),
    /// What was done for these hosts.
    Hosts(Vec<Inv>),
    /// What was done at this name.
    Name(Name),
}

/// A question about the past.
#[derive(Debug, Clone)]
pub struct HistoryInquiry<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The clock.
    pub now: Time,
    /// What is asked for.
    pub asked: HistoryQuestion,
    /// The projects whose changes are shown; all where empty.
    pub projects: Vec<String>,
    /// The zones whose changes are shown; all where empty.
    pub zones: Vec<ZoneName>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum HistoryError {
    /// The settings or the state cannot be used.
    Open(OpenError),
    /// There never was a state: nothing was applied. Says where it would be.
    NoState(String),
    /// The journal has nothing that matches; says what was asked for.
    Nothing(String),
}

impl From<Problem> for HistoryError {
    fn from(error: Problem) -> HistoryError {
        HistoryError::Open(error.into())
    }
}

/// Answers a question about the past.
///
/// Errors: [`HistoryError`]; a list of the latest applies may be empty.
pub fn history(inquiry: &HistoryInquiry<'_>) -> Result<History, HistoryError> {
    let HistoryInquiry { workspace, now, asked, projects, zones } = inquiry;
    let (config, _) = load_config(workspace).map_err(OpenError::from).map_err(HistoryError::Open)?;
    let address = state_address(workspace, &config);
    let mut history = History {
        tool: TOOL.to_owned(),
        created: *now,
        place: address.setting().to_owned(),
        running: None,
        resumable: Vec::new(),
        projects: projects.clone(),
        zones: zones.clone(),
        told: HistoryAnswer::Applies(Vec::new(), false),
    };
    // The lock is read first, so that an apply that is seen as running has not ended before the journal is read.
    let holder = StateLock::holder(&address);
    let Some(state) = state::open_to_read(&address)? else {
        return match asked {
            HistoryQuestion::Latest(_) => Ok(history),
            _ => Err(HistoryError::NoState(history.place)),
        };
    };
    history.running = at_work(holder.as_ref(), &state.unfinished()?);
    history.resumable = state.resumable(*now)?;
    history.resumable.retain(|id| Some(*id) != history.running);
    history.told = inquiry.tell(&*state)?;
    history.mark_targets(|pool| config.pools.iter().any(|own| own.name == *pool && own.has_several()));
    leave_unfollowed(&mut history.told, &config);
    Ok(history)
}

/// Leaves out whether RRsets are served where their pool has no name server that says so.
fn leave_unfollowed(told: &mut HistoryAnswer, config: &Config) {
    let pool = |name: &PoolName| config.pools.iter().find(|pool| pool.name == *name);
    let is_followed = |rrset: &RrsetStanding| pool(&rrset.zone.pool).is_some_and(|pool| !pool.name_servers.is_empty());
    match told {
        HistoryAnswer::Applies(..) => {}
        HistoryAnswer::Apply(past) => past.published.retain(is_followed),
        HistoryAnswer::Hosts(_, applies) | HistoryAnswer::Name(_, applies) => {
            applies.iter_mut().for_each(|past| past.published.retain(is_followed));
        }
    }
}

impl HistoryInquiry<'_> {
    /// Asks the journal.
    fn tell(&self, state: &dyn State) -> Result<HistoryAnswer, HistoryError> {
        match &self.asked {
            HistoryQuestion::Latest(count) => {
                let mut applies = state.applies(count.saturating_add(1))?;
                let is_cut = applies.len() > *count;
                applies.truncate(*count);
                Ok(HistoryAnswer::Applies(applies, is_cut))
            }
            HistoryQuestion::Number(number) => match self.past(state, ApplyId(*number))? {
                Some(past) => Ok(HistoryAnswer::Apply(Box::new(past))),
                None => {
                    let what = format!("no apply {number}, and no change for a host {number}");
                    self.of_hosts(state, &[Inv(*number)], what)
                }
            },
            HistoryQuestion::Hosts(hosts) => {
                let numbers: Vec<String> = hosts.iter().map(Inv::to_string).collect();
                self.of_hosts(state, hosts, format!("no change for host {}", numbers.join(" or ")))
            }
            HistoryQuestion::Name(name) => {
                let text = name.to_string();
                let of = |past: &mut PastApply| {
                    past.retain(|_, change| change.is_at(name), |left| left.name == text);
                    past.retain_approvals();
                };
                let applies = self.applies(state, state.applies_at(name)?, of)?;
                some(applies, format!("no change at `{name}`"))
                    .map(|applies| HistoryAnswer::Name(name.clone(), applies))
            }
        }
    }

    /// What was done for hosts; `what` says what is missing where there is nothing.
    fn of_hosts(&self, state: &dyn State, hosts: &[Inv], what: String) -> Result<HistoryAnswer, HistoryError> {
        let mut ids = Vec::new();
        for host in hosts {
            ids.extend(state.applies_of(*host)?);
        }
        ids.sort_by(|a, b| b.cmp(a));
        ids.dedup();
        let change = |_: &SentUpdate, change: &SentChange| hosts.iter().any(|host| change.is_for(*host));
        let host = |left: &LeftSubject| left.subject.host().is_some_and(|host| hosts.contains(&host));
        let keep = |past: &mut PastApply| {
            past.retain(change, host);
            past.approvals.retain(|given| given.subject.host().is_some_and(|host| hosts.contains(&host)));
        };
        let applies = self.applies(state, ids, keep)?;
        some(applies, what).map(|applies| HistoryAnswer::Hosts(hosts.to_vec(), applies))
    }

    /// Applies with the changes that `keep` leaves; without applies that have no change left.
    fn applies(
        &self,
        state: &dyn State,
        ids: Vec<ApplyId>,
        keep: impl Fn(&mut PastApply),
    ) -> Result<Vec<PastApply>, HistoryError> {
        let mut applies = Vec::new();
        for id in ids {
            let found = self.past(state, id)?;
            applies.extend(found.map(|mut past| {
                keep(&mut past);
                past
            }));
        }
        applies.retain(|past| !past.is_empty());
        Ok(applies)
    }

    /// One apply, with its changes in the projects and zones that are asked for.
    fn past(&self, state: &dyn State, id: ApplyId) -> Result<Option<PastApply>, Problem> {
        let Some(summary) = state.apply(id)? else { return Ok(None) };
        let (sent, left, allowed) = (state.sent(id)?, state.left_hosts(id)?, state.allowed(id)?);
        let published = state.published_by(id)?;
        let (gates, approvals) = (state.gates_asked(id)?, state.approvals_given(id)?);
        let mut past = PastApply { summary, sent, left, allowed, gates, approvals, published };
        let in_project = |project: &String| self.projects.is_empty() || self.projects.contains(project);
        let in_zone = |zone: &ZoneName| self.zones.is_empty() || self.zones.contains(zone);
        let change = |sent: &SentUpdate, change: &SentChange| in_project(&change.project) && in_zone(&sent.zone);
        past.retain(change, |left| in_project(&left.project));
        if !self.projects.is_empty() || !self.zones.is_empty() {
            past.retain_approvals();
        }
        Ok(Some(past))
    }
}

/// Applies, if there are any; `what` says what is missing where there are none.
fn some(applies: Vec<PastApply>, what: String) -> Result<Vec<PastApply>, HistoryError> {
    if applies.is_empty() { Err(HistoryError::Nothing(what)) } else { Ok(applies) }
}
