//! `status`: who is at work, and what the state says.

use super::args::{Shared, StatusArgs};
use super::exit::Exit;
use super::output::{self, Failure};
use crate::pipeline::state::{self, StateFailure};
use crate::report;

/// How many applies are shown where nobody asks for all.
const APPLIES: usize = 10;

/// Prints what the state says.
pub fn run(shared: &Shared, args: &StatusArgs) -> Result<Exit, Failure> {
    let now = output::now(shared)?;
    let count = if shared.verbose > 0 { usize::MAX } else { APPLIES };
    match state::status(&shared.workspace, now, count) {
        Ok(status) => {
            output::print(&report::status(&status, args.format.into(), &output::text_options(shared)))?;
            Ok(Exit::Done)
        }
        Err(failure) => not_done(shared, failure),
    }
}

/// Tells why nothing was done.
pub fn not_done(shared: &Shared, failure: StateFailure) -> Result<Exit, Failure> {
    match failure {
        StateFailure::Config(findings) => {
            output::findings(shared, &findings);
            Ok(Exit::Error)
        }
        StateFailure::State(error) => Err(Failure { message: error.to_string(), hint: error.hint }),
    }
}
