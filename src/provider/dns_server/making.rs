//! Zones that a server does not have: whether that is proven, and the commands that make and delete zones.
//!
//! RFC 2136 has no message that makes a zone, so that a command of the settings does it. It gets the text of the zone's
//! master file as its standard input.

use std::thread;
use std::time::{Duration, Instant};

use super::NameServers;
use super::ask::{Asker, DEFAULT_WINDOW};
use super::failure::ServerFailure;
use super::primary::Primary;
use super::query::{self, ZonePresence};
use super::settings::ZONE_WORD;
use crate::diag::{AttemptError, Problem};
use crate::dns::ZoneName;
use crate::process::BoundedCommand;
use crate::target::{Question, ZoneApex};

/// How often a server is asked whether it has a zone by now.
const PAUSE: Duration = Duration::from_millis(200);

impl NameServers {
    /// Whether the first server, which zones are written to, has a zone.
    ///
    /// A refusal that is not signed although the question was proves nothing by itself. Knot sends such for zones that it
    /// does not have: asked without the key, it must refuse again.
    pub fn presence(&self, zone: &ZoneName) -> ZonePresence {
        let Ok(key) = self.key() else { return ZonePresence::Unproven };
        let (timeout, limits) = (self.settings.exchange.timeout, self.settings.limits);
        let ask = |key| {
            let server = &self.settings.servers[0];
            let asker = Asker { server, zone, key, timeout, window: DEFAULT_WINDOW, limits };
            asker.ask_to(&[Question::soa(zone)], query::read_presence)
        };
        let answers = match ask(key) {
            Err(ServerFailure::QueryRefused { unproven: true, .. }) => ask(None),
            answers => answers,
        };
        answers.ok().and_then(|answers| answers.first().copied()).unwrap_or(ZonePresence::Unproven)
    }
}

/// Makes a zone by the command of the settings, and waits until the server has it.
pub fn create(primary: &Primary, zone: &ZoneName, apex: &ZoneApex) -> Result<(), Problem> {
    let failed = |message: String, hint: &str| Problem::new(primary.place(zone), "zone-not-made", message).hint(hint);
    let Some(command) = &primary.servers.settings.making.create else {
        return Err(failed("the target has no `create_command`".to_owned(), "give it one"));
    };
    if primary.servers.presence(zone) != ZonePresence::Absent {
        let hint = "plan again: the next plan reads it";
        return Err(failed("the server no longer says that it lacks the zone".to_owned(), hint));
    }
    let run = run(primary, zone, command, apex.text(zone).as_bytes());
    run.map_err(|error| failed(error.message, "`create_command` gets the zone's master file as standard input"))?;
    if primary.waits_for(zone, ZonePresence::Present) {
        return Ok(());
    }
    let hint = "`create_command` must end once the server answers for the zone, within `timeout`";
    Err(failed("`create_command` succeeded, but the server does not answer for the zone".to_owned(), hint))
}

/// Deletes a zone by the command of the settings, and waits until the server no longer has it.
pub fn delete(primary: &Primary, zone: &ZoneName) -> Result<(), Problem> {
    let failed =
        |message: String, hint: &str| Problem::new(primary.place(zone), "zone-not-deleted", message).hint(hint);
    let Some(command) = &primary.servers.settings.making.delete else {
        return Err(failed("the target has no `delete_command`".to_owned(), "give it one, or delete the zone by hand"));
    };
    let run = run(primary, zone, command, b"");
    run.map_err(|error| failed(error.message, "look at what `delete_command` does"))?;
    if primary.waits_for(zone, ZonePresence::Absent) {
        return Ok(());
    }
    let hint = "`delete_command` must end once the server no longer has the zone, within `timeout`";
    Err(failed("`delete_command` succeeded, but the server still answers for the zone".to_owned(), hint))
}

/// Runs a command about a zone.
fn run(primary: &Primary, zone: &ZoneName, command: &[String], input: &[u8]) -> Result<(), AttemptError> {
    let name = zone.as_name().to_dotless_text();
    let words = command.iter().map(|word| word.replace(ZONE_WORD, &name)).collect();
    let workspace = primary.servers.workspace.clone();
    BoundedCommand { words, workspace, timeout: primary.timeout() }.run(input)
}

impl Primary {
    /// Whether the server comes to have a zone, or to have it no longer, within its time.
    pub fn waits_for(&self, zone: &ZoneName, wanted: ZonePresence) -> bool {
        let end = Instant::now() + self.timeout();
        loop {
            if self.servers.presence(zone) == wanted {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(PAUSE);
        }
    }
}
