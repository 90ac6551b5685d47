//! `history`: what was applied, when, by whom and why; of one apply, for hosts or at a name.

use super::exit::Exit;
use super::journal_args::HistoryArgs;
use super::output::{self, CommandFailure};
use super::request::not_opened;
use super::shared_args::SharedArgs;
use super::show::zones;
use crate::dns::Name;
use crate::dns::reverse::reverse_name;
use crate::inventory::value::Inv;
use crate::pipeline::history::{HistoryError, HistoryInquiry, HistoryQuestion, history};
use crate::report;

/// How many applies are listed without `-v`.
const APPLIES: usize = 20;

/// Prints past applies.
pub fn run(shared: &SharedArgs, args: &HistoryArgs) -> Result<Exit, CommandFailure> {
    let asked = asked(shared, args)?;
    if matches!(asked, HistoryQuestion::Latest(_)) && !(shared.projects.is_empty() && shared.zones.is_empty()) {
        let failure = CommandFailure::new(
            "`--project` and `--zone` limit which changes are shown, but the list of applies shows no changes",
        );
        return Err(failure.hint("name an apply, a host or a name as well"));
    }
    let inquiry = HistoryInquiry {
        workspace: &shared.workspace,
        now: output::now(shared)?,
        asked,
        projects: shared.projects.clone(),
        zones: zones(shared)?,
    };
    match history(&inquiry) {
        Ok(history) => {
            output::print(&report::history(&history, args.format.into(), &output::text_options(shared)))?;
            Ok(Exit::Done)
        }
        Err(HistoryError::Open(error)) => not_opened(shared, error),
        Err(HistoryError::NoState(place)) => {
            Err(CommandFailure::new(format!("nothing was ever applied: there is no state at `{place}`"))
                .hint("the first `zonewright apply` creates it; `[state] url` says where it is"))
        }
        Err(HistoryError::Nothing(what)) => Err(CommandFailure::new(format!("the journal has {what}"))
            .hint("`zonewright history` lists the applies; a name is written whole, as `zonewright explain` shows it")),
    }
}

/// Reads the number of a host: the journal keeps numbers, and the inventory is not read.
fn number(text: &String) -> Result<Inv, CommandFailure> {
    text.parse().map_err(|()| {
        let failure =
            CommandFailure::new(format!("`history --host` takes an inventory number, but `{text}` is not one"));
        failure
            .hint("`zonewright explain HOST` shows the number of a host; `zonewright history NAME` takes a whole name")
    })
}

/// What the command line asks for.
///
/// Errors: two things at once; what is neither a number nor a name.
fn asked(shared: &SharedArgs, args: &HistoryArgs) -> Result<HistoryQuestion, CommandFailure> {
    let subject = match (&args.subject, shared.hosts.is_empty()) {
        (Some(_), false) => {
            let failure =
                CommandFailure::new("`history` takes only one of these: an apply, a host, a name, or `--host`");
            return Err(failure.hint("run it twice"));
        }
        (None, false) => return shared.hosts.iter().map(number).collect::<Result<_, _>>().map(HistoryQuestion::Hosts),
        (None, true) if shared.verbose > 0 => return Ok(HistoryQuestion::Latest(usize::MAX)),
        (None, true) => return Ok(HistoryQuestion::Latest(APPLIES)),
        (Some(subject), true) => subject,
    };
    if !subject.is_empty() && subject.bytes().all(|octet| octet.is_ascii_digit()) {
        let number = subject
            .parse()
            .map_err(|_| CommandFailure::new(format!("`{subject}` is not the number of an apply or a host")));
        return number.map(HistoryQuestion::Number);
    }
    if let Ok(address) = subject.parse() {
        return Ok(HistoryQuestion::Name(reverse_name(address)));
    }
    let name = Name::parse(subject).map_err(|error| CommandFailure::new(format!("`{subject}` is not a name: {error}")));
    name.map(HistoryQuestion::Name)
}
