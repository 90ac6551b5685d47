//! `show`: a saved plan; and how any plan is printed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use super::args::ShowArgs;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::shared_args::SharedArgs;
use super::values::{self, FormatArg};
use crate::apply::accept;
use crate::change::Change;
use crate::diag::did_you_mean;
use crate::dns::{Name, ZoneName};
use crate::git::Repository;
use crate::plan::{ChangeClass, Notice, NoticeCode, Plan, SealedPlan, store};
use crate::report::paste::shell;
use crate::report::{self, PlanFormat, PlanOutlook, SourceUrl, Templates, TextOptions, TextPurpose};

/// Prints a saved plan.
pub fn run(shared: &SharedArgs, args: &ShowArgs) -> Result<Exit, CommandFailure> {
    let view = ShowOptions::new(shared, args.format.into(), TextPurpose::Saved)?;
    let sealed = store::load(&args.file).map_err(CommandFailure::new)?;
    let file = args.file.display().to_string();
    // A plan that is too old is refused. A plan without changes is never applied, so its age does not matter.
    let has_changes = !sealed.plan().is_idle();
    let refusal = if has_changes { accept::expired(&sealed, "the plan", output::now(shared)?) } else { None };
    let source_url = source_url(shared, args.source_url.as_ref())?;
    let url = args.plan_url.clone();
    let (file, command) = (Some(file), apply_command(shared, &args.file));
    view.print(
        &sealed,
        &PlanOutlook { refusal, file, command, url, hidden: None, source_url, is_unsaved: false, idle: None },
    )?;
    Ok(Exit::Done)
}

/// The template of `--source-url`, for the commit that the workspace is at.
///
/// Errors: it has a `{commit}`, and git knows none.
pub fn source_url(shared: &SharedArgs, template: Option<&SourceUrl>) -> Result<Option<SourceUrl>, CommandFailure> {
    match template.filter(|template| template.needs_commit()) {
        None => Ok(template.cloned()),
        Some(template) => {
            let commit = Repository::of(&shared.workspace).and_then(|repository| repository.commit("HEAD"));
            let commit = commit.map_err(|error| {
                CommandFailure::new(format!("--source-url: `{{commit}}` needs the commit of the workspace: {error}"))
            })?;
            Ok(Some(template.of_commit(&commit)))
        }
    }
}

/// The command that applies the plan in a file, as a shell takes it; none where the file cannot be shown as it is.
pub fn apply_command(shared: &SharedArgs, file: &Path) -> Option<String> {
    let workspace = shared.workspace.to_str()?;
    let folder = if workspace == "." { String::new() } else { format!("-C {} ", shell(workspace)?) };
    // A plan that was made with another clock is expired, or not made yet, without it.
    let clock = shared.now.map(|now| format!("--now {now} ")).unwrap_or_default();
    Some(format!("zonewright {folder}{clock}apply {}", shell(file.to_str()?)?))
}

/// How a plan is printed.
#[derive(Debug)]
pub struct ShowOptions<'a> {
    /// What every command takes.
    shared: &'a SharedArgs,
    /// The format.
    format: PlanFormat,
    /// The templates, the workspace's own in their place.
    templates: Templates,
    /// How much, and with colour or not.
    options: TextOptions,
    /// The zones whose changes are shown; all where empty.
    zones: Vec<ZoneName>,
    /// Whether only what the difference to a base causes is shown.
    only_caused: bool,
}

impl<'a> ShowOptions<'a> {
    /// How plans are printed, and for what purpose.
    ///
    /// Errors: a `--zone` that is no name, a template of the workspace that cannot be used.
    pub fn new(
        shared: &'a SharedArgs,
        format: PlanFormat,
        purpose: TextPurpose,
    ) -> Result<ShowOptions<'a>, CommandFailure> {
        Ok(ShowOptions {
            shared,
            format,
            templates: Templates::load(overrides(&shared.workspace)?).map_err(CommandFailure::new)?,
            options: TextOptions { purpose, ..output::text_options(shared) },
            zones: zones(shared)?,
            only_caused: false,
        })
    }

    /// Shows only what the difference to a base causes, where that is asked for.
    pub fn only_caused(self, only_caused: bool) -> ShowOptions<'a> {
        ShowOptions { only_caused, ..self }
    }

    /// Prints a plan, or of its changes those in the chosen zones.
    ///
    /// A view keeps the digests of the whole plan, so that it cannot be used as a plan. Errors: a chosen zone that the
    /// plan does not know.
    pub fn print(&self, sealed: &SealedPlan, outlook: &PlanOutlook) -> Result<(), CommandFailure> {
        check_known(&self.zones, sealed.plan())?;
        if self.format == PlanFormat::Text && !output::shows_pages(self.shared) {
            return Ok(());
        }
        let is_view = !self.zones.is_empty() || self.only_caused;
        let is_in_zones = |change: &Change| self.zones.is_empty() || self.zones.contains(&change.zone);
        let is_caused =
            |class: Option<ChangeClass>| !self.only_caused || class.is_some_and(|class| class != ChangeClass::Pending);
        let cut = is_view.then(|| sealed.view(|change, class| is_in_zones(change) && is_caused(class)));
        let shown = cut.as_ref().unwrap_or(sealed);
        let hidden = cut.as_ref().map(|cut| sealed.plan().changes.len() - cut.plan().changes.len());
        let outlook = PlanOutlook { hidden, ..outlook.clone() };
        let text =
            report::plan(shown, &outlook, self.format, &self.templates, &self.options).map_err(CommandFailure::new)?;
        self.tell_of_view(outlook.hidden);
        output::print(&text)
    }

    /// Prints the verdict on a plan alone.
    pub fn print_headline(&self, sealed: &SealedPlan, outlook: &PlanOutlook) -> Result<(), CommandFailure> {
        if output::shows_pages(self.shared) {
            output::print(&format!("{}.\n", report::headline(sealed.plan(), outlook)))
        } else {
            Ok(())
        }
    }

    /// Says that not all changes are in a document, which has no place for that.
    fn tell_of_view(&self, hidden: Option<usize>) {
        if let (PlanFormat::Json, Some(hidden)) = (self.format, hidden.filter(|hidden| *hidden > 0)) {
            let says = format!("a view: {hidden} of its changes are not shown, so it cannot be applied or shown again");
            output::warning(self.shared, "the plan", "view", &says);
        }
    }
}

impl From<values::PlanFormatArg> for PlanFormat {
    fn from(format: values::PlanFormatArg) -> PlanFormat {
        match format {
            values::PlanFormatArg::Text => PlanFormat::Text,
            values::PlanFormatArg::Json => PlanFormat::Json,
            values::PlanFormatArg::Markdown => PlanFormat::Markdown,
            values::PlanFormatArg::Html => PlanFormat::Html,
            values::PlanFormatArg::Diff => PlanFormat::Diff,
            values::PlanFormatArg::Junit => PlanFormat::Junit,
        }
    }
}

impl From<FormatArg> for report::ReportFormat {
    fn from(format: FormatArg) -> report::ReportFormat {
        match format {
            FormatArg::Text => report::ReportFormat::Text,
            FormatArg::Json => report::ReportFormat::Json,
        }
    }
}

/// The zones that the command line names.
///
/// Errors: one that is no name.
pub fn zones(shared: &SharedArgs) -> Result<Vec<ZoneName>, CommandFailure> {
    let zone = |text: &String| {
        let name = Name::parse(text)
            .map_err(|error| CommandFailure::of_call(format!("--zone: `{text}` is not a name: {error}")));
        name.map(ZoneName::new)
    };
    shared.zones.iter().map(zone).collect()
}

/// The zones that the command line names.
///
/// Errors: one that is no name, or that a plan does not know.
pub fn known_zones(shared: &SharedArgs, plan: &Plan) -> Result<Vec<ZoneName>, CommandFailure> {
    let zones = zones(shared)?;
    check_known(&zones, plan)?;
    Ok(zones)
}

/// Checks that a plan knows zones.
///
/// Errors: one that it does not know.
fn check_known(zones: &[ZoneName], plan: &Plan) -> Result<(), CommandFailure> {
    match zones.iter().find(|zone| !knows(plan, zone)) {
        None => Ok(()),
        Some(zone) => {
            let failure = CommandFailure::of_call(match plan.undoes {
                Some(id) => format!("--zone: apply {id} has nothing to undo in `{zone}`"),
                None => format!("--zone: no zone `{zone}` is configured"),
            });
            let seen = plan.zones.iter().map(|seen| &seen.zone);
            let known: BTreeSet<String> =
                seen.chain(plan.changes.iter().map(|change| &change.zone)).map(ToString::to_string).collect();
            let near = did_you_mean(&zone.to_string(), known.iter().map(String::as_str));
            Err(failure.maybe_hint(near))
        }
    }
}

/// Whether a plan looked at a zone, whether it could be read or not. What undoes an apply reads no zone whole.
fn knows(plan: &Plan, zone: &ZoneName) -> bool {
    let unread = |notice: &Notice| notice.code == NoticeCode::ZoneUnknown && notice.name == zone.to_string();
    plan.zones.iter().any(|seen| seen.zone == *zone)
        || plan.changes.iter().any(|change| change.zone == *zone)
        || plan.notices.iter().any(unread)
}

/// The templates in the folder `templates` of a workspace, by file name; none where there is no such folder.
fn overrides(workspace: &Path) -> Result<BTreeMap<String, String>, CommandFailure> {
    let folder = workspace.join("templates");
    let unreadable = |error: std::io::Error| CommandFailure::new(format!("{}: {error}", folder.display()));
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        // Errors of the workspace itself are reported when it is read.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(BTreeMap::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut texts = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_file() && !name.starts_with('.') {
            let text = std::fs::read_to_string(&path);
            texts.insert(name, text.map_err(|error| CommandFailure::new(format!("{}: {error}", path.display())))?);
        }
    }
    Ok(texts)
}
