//! The name servers of pools: they get NOTIFY after an apply, and are asked what they serve.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::diag::Problem;
use crate::dns::{Serial, ZoneName};
use crate::doctor::TargetDiagnosis;
use crate::doctor::follower::FollowerExamined;
use crate::inventory::model::Config;
use crate::inventory::pool::NameServerSpec;
use crate::parallel;
use crate::provider::{self, ProviderContext};
use crate::target::{CopyId, NameServer, Patience, SerialAnswer, TargetId};

/// How long an answer is waited for; what did not come is asked for once more.
const LONGEST: Duration = Duration::from_secs(5);

/// How many name servers are asked side by side: they are waited for, and cost no more than a thread each.
const SIDE_BY_SIDE: usize = 64;

/// Sends NOTIFY about these copies to the name servers that follow their targets and get it (RFC 1996). No answer is
/// waited for.
///
/// Gives why a name server got none: the secret of its key cannot be had.
pub fn notify(config: &Config, context: &ProviderContext<'_>, copies: &BTreeSet<CopyId>) -> Vec<Problem> {
    let told = |server: &NameServerSpec| -> Option<Problem> {
        let changed: Vec<&ZoneName> = zones_followed(server, copies);
        if changed.is_empty() {
            return None;
        }
        match provider::open_name_server(&server.settings, context) {
            Ok(server) => {
                server.notify(&changed);
                None
            }
            Err(problem) => Some(problem),
        }
    };
    let servers = config.pools.iter().flat_map(|pool| &pool.name_servers);
    servers.filter(|server| server.notify).filter_map(told).collect()
}

/// The zones of these copies that a name server follows.
fn zones_followed<'c>(server: &NameServerSpec, copies: &'c BTreeSet<CopyId>) -> Vec<&'c ZoneName> {
    copies.iter().filter(|copy| copy.target == server.of).map(|copy| &copy.zone).collect()
}

/// Asks the name servers that follow a target what they serve of these zones; `diagnosis` is that of the target.
pub fn examine(
    config: &Config,
    context: &ProviderContext<'_>,
    target: &TargetId,
    diagnosis: &TargetDiagnosis,
) -> Vec<FollowerExamined> {
    let servers = config.pools.iter().flat_map(|pool| &pool.name_servers).filter(|server| server.of == *target);
    let zones: Vec<&ZoneName> = diagnosis.zones.iter().collect();
    let asked = parallel::side_by_side(servers.collect(), SIDE_BY_SIDE, |server: &NameServerSpec| {
        let place = provider::name_server_place(&server.settings, context.source);
        let answers = match provider::open_name_server(&server.settings, context) {
            Ok(server) => ask(&*server, &zones),
            Err(_) => vec![SerialAnswer::Silent; zones.len()],
        };
        (place, answers)
    });
    let examined = asked.into_iter().flat_map(|(place, answers)| {
        zones.iter().zip(answers).map(move |(zone, answer)| FollowerExamined {
            place: place.clone(),
            zone: (*zone).clone(),
            target: diagnosis.serial(zone).map(Serial),
            answer,
        })
    });
    examined.collect()
}

/// Asks for the serials of zones, and once more for those that were not answered: a message may be lost.
fn ask(server: &dyn NameServer, zones: &[&ZoneName]) -> Vec<SerialAnswer> {
    let mut answers = server.ask(zones, Patience::of(LONGEST));
    let silent: Vec<usize> = (0..zones.len()).filter(|place| answers[*place] == SerialAnswer::Silent).collect();
    if !silent.is_empty() && silent.len() < zones.len() {
        let again: Vec<&ZoneName> = silent.iter().map(|place| zones[*place]).collect();
        silent
            .into_iter()
            .zip(server.ask(&again, Patience::of(LONGEST)))
            .for_each(|(place, answer)| answers[place] = answer);
    }
    answers
}
