//! `status`: which apply is running, and what the state says; and breakers reset.

use super::exit::Exit;
use super::journal_args::StatusArgs;
use super::output::{self, CommandFailure};
use super::request::not_opened;
use super::shared_args::SharedArgs;
use super::sync::unknown_pool;
use super::who::who;
use crate::diag::did_you_mean;
use crate::inventory::value::Time;
use crate::pipeline::pool_status::pool_status;
use crate::pipeline::state::{self, WasReset};
use crate::pipeline::sync::SyncError;
use crate::report;
use crate::state::BreakerReset;

/// How many applies are shown without `-v`.
const APPLIES: usize = 10;

/// Prints what the state says, or resets a breaker.
pub fn run(shared: &SharedArgs, args: &StatusArgs) -> Result<Exit, CommandFailure> {
    let now = output::now(shared)?;
    if let Some(scope) = &args.reset {
        return reset(shared, scope, now);
    }
    let count = if shared.verbose > 0 { usize::MAX } else { APPLIES };
    match state::status(&shared.workspace, now, count) {
        Ok(mut status) => {
            if let Some(pool) = &args.pool {
                status.pool = match pool_status(&shared.workspace, pool, now) {
                    Ok(pool) => Some(pool),
                    Err(SyncError::UnknownPool(unknown)) => return Err(unknown_pool(&unknown)),
                    Err(SyncError::Open(error)) => return not_opened(shared, error),
                };
            }
            output::print(&report::status(&status, args.format.into(), &output::text_options(shared)))?;
            Ok(Exit::Done)
        }
        Err(error) => not_opened(shared, error),
    }
}

/// Resets the breaker of a scope.
fn reset(shared: &SharedArgs, scope: &str, now: Time) -> Result<Exit, CommandFailure> {
    let reason = output::reason(
        shared,
        "`status --reset` needs `--reason TEXT`: after the reset, unattended runs try the same changes again",
        "say what the cause was and why it is right now, such as `--reason \"the export was whole again\"`",
    )?;
    let who = who();
    match state::reset(&shared.workspace, scope, BreakerReset { who: &who, reason, now }) {
        Ok(WasReset::Yes(breaker)) => {
            if !shared.quiet {
                output::print(&report::reset(&breaker, &output::text_options(shared)))?;
            }
            Ok(Exit::Done)
        }
        Ok(WasReset::No(tripped)) => {
            let scopes: Vec<String> = tripped.iter().map(|breaker| format!("`{}`", breaker.scope)).collect();
            let near = did_you_mean(scope, tripped.iter().map(|breaker| breaker.scope.as_str()));
            let hint = match (near, scopes.is_empty()) {
                (Some(near), _) => near,
                (None, true) => "no breaker is tripped".to_owned(),
                (None, false) => format!("tripped: {}", scopes.join(", ")),
            };
            Err(CommandFailure::new(format!("the breaker `{scope}` is not tripped")).hint(hint))
        }
        Err(error) => not_opened(shared, error),
    }
}
