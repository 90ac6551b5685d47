//! `help`: the page of a code, or the help of a command.

use clap::CommandFactory as _;

use super::args::{Cli, HelpArgs};
use super::examples;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::peers;
use super::shared_args::SharedArgs;
use crate::codes::{self, CodePage};
use crate::diag::did_you_mean;
use crate::report;

/// The word for which all codes are listed.
const ALL: &str = "codes";

/// The columns that no help of a command is wider than, as in [`Cli`].
const WIDEST: usize = 100;

/// Prints what is asked for. A word that is a command and a code gets both.
pub fn run(shared: &SharedArgs, args: &HelpArgs) -> Result<Exit, CommandFailure> {
    let options = output::text_options(shared);
    if args.words.is_empty() {
        output::print(&styled(shared, command(&[]).expect("the program is a command").render_long_help()))?;
        return Ok(Exit::Done);
    }
    let asked = args.words.join(" ");
    if codes::normalize(&asked) == ALL {
        output::print(&report::codes(codes::families(), &options))?;
        return Ok(Exit::Done);
    }
    let of_command = command(&args.words).map(|mut found| styled(shared, found.render_long_help()));
    let of_code = page(&asked).map(|page| report::code(page, &options));
    let parts: Vec<String> = of_command.into_iter().chain(of_code).collect();
    if parts.is_empty() {
        return Err(unknown(&asked));
    }
    output::print(&parts.join("\n"))?;
    Ok(Exit::Done)
}

/// The command of these words, ready to render its help; none where one of them is no command.
fn command(words: &[String]) -> Option<clap::Command> {
    let mut all = examples::command().term_width(output::width().min(WIDEST));
    all.build();
    let step = |found: clap::Command, word: &String| found.find_subcommand(word.to_lowercase()).cloned();
    words.iter().try_fold(all, step)
}

/// Help with colours, or without.
fn styled(shared: &SharedArgs, text: clap::builder::StyledStr) -> String {
    if output::color(shared) { text.ansi().to_string() } else { text.to_string() }
}

/// The page of a code, or of the rule with this title.
fn page(asked: &str) -> Option<&'static CodePage> {
    let of_title = || codes::find(report::rule_of_title(asked)?.as_str());
    codes::find(asked).or_else(of_title)
}

/// The failure of a word that is neither a command nor a code.
fn unknown(asked: &str) -> CommandFailure {
    let all = Cli::command();
    let commands = all.get_subcommands().map(clap::Command::get_name);
    let known = commands.chain(codes::pages().map(|page| page.code));
    let word = Some(codes::normalize(asked)).filter(|word| !word.is_empty()).unwrap_or_else(|| asked.to_owned());
    let failure = CommandFailure::new(format!("`{word}` is not a command or a code"));
    if let Some(hint) = peers::command(&word).or_else(|| peers::flag(asked)) {
        return failure.hint(hint);
    }
    match did_you_mean(&word, known) {
        None => failure.hint("`zonewright help` lists the commands, `zonewright help codes` the codes"),
        Some(near) => failure.hint(format!("{near} `zonewright help codes` lists all codes")),
    }
}
