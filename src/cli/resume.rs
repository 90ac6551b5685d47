//! `resume`: finishes an apply that did not do all of its plan.

use super::args::ResumeArgs;
use super::carry_out::{self, ApplyOutput, ApplyReach, ConductedWork, RESUME};
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::request::refuse_zones;
use super::shared_args::SharedArgs;
use crate::pipeline::later_waves::resume_in_waves;
use crate::pipeline::resume::ResumeOutcome;
use crate::report;
use crate::state::ApplyId;

/// Continues an apply, and prints the outcome.
pub fn run(shared: &SharedArgs, args: &ResumeArgs) -> Result<Exit, CommandFailure> {
    refuse_zones(shared, "resume")?;
    carry_out::refuse_unexplained(shared, args.ignore_gate, args.ignore_cms)?;
    if shared.limits_plans() {
        let failure = CommandFailure::of_call(
            "`resume` finishes the whole apply: `--host`, `--subject` and `--project` limit only a new plan",
        );
        return Err(failure.hint("make a new plan with them, and apply that"));
    }
    let now = output::now(shared)?;
    let id = args.id.map(ApplyId);
    let reach = ApplyReach {
        max_failures: args.max_failures,
        allow: &args.allow,
        auto: false,
        ignores_gates: args.ignore_gate,
        ignores_approvals: args.ignore_cms,
        waits: !args.no_wait,
        goes_on: RESUME,
    };
    let ConductedWork { done, is_interrupted, .. } =
        carry_out::conduct(shared, now, reach, |request, progress| resume_in_waves(id, request, progress, args.wait))?;
    let output = ApplyOutput { shared, format: args.format, started: now, is_resumed: true, sealed: None };
    match done {
        Ok(ResumeOutcome::Ran(sealed, ran)) => {
            ApplyOutput { sealed: Some(&sealed), ..output }.tell(&ran, is_interrupted, Exit::Done)
        }
        Ok(ResumeOutcome::Complete(id, lacking)) => {
            output.tell_nothing(Some(id), &report::apply::complete(id, lacking))
        }
        Ok(ResumeOutcome::NoSuchApply) => match args.id {
            Some(id) => Err(CommandFailure::of_call(format!("the journal has no apply {id}"))
                .hint("`zonewright history` lists all applies")),
            None => output.tell_nothing(None, "Nothing to resume: nothing was ever applied.\n"),
        },
        Ok(ResumeOutcome::Refused(refusal)) => output.refuse(&refusal, Exit::Refused),
        Err(error) => output.not_begun(error),
    }
}
