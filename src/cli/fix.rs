//! `fix`: a few hosts explained, planned and applied.

use super::args::FixArgs;
use super::carry_out::{self, ApplyTask};
use super::events;
use super::exit::Exit;
use super::metrics::RunNotes;
use super::output::{self, CommandFailure};
use super::progress::ProgressLine;
use super::request::{cache, not_read, refuse_zones, request, verdict};
use super::shared_args::SharedArgs;
use super::show::ShowOptions;
use super::values::FormatArg;
use crate::pipeline::PlanRequest;
use crate::pipeline::fix::fix;
use crate::plan::SealedPlan;
use crate::report::event::RunReport;
use crate::report::{self, PlanFormat, PlanOutlook, TextPurpose};

/// Explains the hosts, shows their plan, asks, and applies it.
pub fn run(shared: &SharedArgs, args: &FixArgs) -> Result<Exit, CommandFailure> {
    if !shared.hosts.is_empty() || !shared.picked.is_empty() {
        let failure = CommandFailure::of_call("`fix` takes hosts as arguments, not with `--host` or `--subject`");
        return Err(failure.hint("`zonewright fix HOST` names a host by number or name"));
    }
    refuse_zones(shared, "fix")?;
    carry_out::refuse_unexplained(shared, args.limits.ignore_gate, args.limits.ignore_cms)?;
    let now = output::now(shared)?;
    let request = PlanRequest { cache: cache(&args.cache), ..request(shared, now, None) };
    let view = ShowOptions::new(shared, PlanFormat::Text, TextPurpose::Apply)?;
    let progress = ProgressLine::start(shared);
    let made = fix(&request, &args.subjects, &progress);
    progress.finish();
    let (made, explanations) = match made {
        Ok(made) => made,
        Err(error) => return not_read(shared, error),
    };
    output::findings_in_short(shared, &made.findings);
    let options = output::text_options(shared);
    for explanation in explanations.iter().filter(|_| output::shows_pages(shared)) {
        output::print(&report::explanation(explanation, report::ReportFormat::Text, &options))?;
        output::print("\n")?;
    }
    let sealed = SealedPlan::new(made.plan);
    events::planned(shared, &RunReport::plan_made(&sealed, &PlanOutlook::default()));
    // Where there is no plan, the outcome says so.
    if report::no_plan(sealed.plan()).is_none() {
        view.print(&sealed, &PlanOutlook::default())?;
    }
    let (limits, verdict) = (&args.limits, verdict(made.is_partial, sealed.plan()));
    let notes = RunNotes::none();
    let task = ApplyTask {
        sealed: &sealed,
        place: "the plan",
        now,
        expect: None,
        limits,
        format: FormatArg::Text,
        auto: false,
        notes: &notes,
    };
    if let Some(refused) = carry_out::foresee(shared, &task, &made.breakers, true, verdict) {
        return refused;
    }
    if !sealed.plan().changes.is_empty() && !carry_out::consents(shared, &task, &made.targets)? {
        return Ok(Exit::Done);
    }
    carry_out::carry_out(shared, &task, verdict)
}
