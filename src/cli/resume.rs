//! `resume`: finishes an apply that did not do all of its plan.

use super::args::{ResumeArgs, SharedArgs};
use super::carry_out::{self, ApplyReach, ConductedWork};
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::request::refuse_zones;
use crate::pipeline::resume::{ResumeOutcome, resume};
use crate::state::ApplyId;

/// Continues an apply, and prints the outcome.
pub fn run(shared: &SharedArgs, args: &ResumeArgs) -> Result<Exit, CommandFailure> {
    refuse_zones(shared, "resume")?;
    if !shared.hosts.is_empty() || !shared.projects.is_empty() {
        let failure = CommandFailure::of_call(
            "`resume` finishes the whole apply: `--host` and `--project` limit only a new plan",
        );
        return Err(failure.hint("make a new plan with them, and apply that"));
    }
    let now = output::now(shared)?;
    let id = args.id.map(ApplyId);
    let reach = ApplyReach { max_failures: args.max_failures, allow: &args.allow, auto: false };
    let ConductedWork { done, is_interrupted, .. } =
        carry_out::conduct(shared, now, reach, |request, progress| resume(id, request, progress))?;
    match done {
        Ok(ResumeOutcome::Ran(sealed, ran)) => {
            carry_out::tell(shared, (&sealed, args.format, now), &ran, (is_interrupted, Exit::Done))
        }
        Ok(ResumeOutcome::Complete(id)) => {
            let words = format!("Nothing to resume: apply {} did all of its plan.\n", id.0);
            carry_out::tell_nothing(shared, args.format, (Some(id), now), &words)
        }
        Ok(ResumeOutcome::NoSuchApply) => match args.id {
            Some(id) => Err(CommandFailure::of_call(format!("the journal has no apply {id}"))
                .hint("`zonewright history` lists all applies")),
            None => carry_out::tell_nothing(
                shared,
                args.format,
                (None, now),
                "Nothing to resume: nothing was ever applied.\n",
            ),
        },
        Ok(ResumeOutcome::Refused(refusal)) => carry_out::refuse_unread(shared, args.format, now, &refusal),
        Err(error) => carry_out::not_begun(shared, args.format, (None, now), error),
    }
}
