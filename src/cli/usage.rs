//! A command line that cannot be read: what is wrong with it, and what to type.

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, Command, CommandFactory as _};

use super::args::Cli;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use super::peers;
use crate::diag::did_you_mean;

/// Says why a command line cannot be read, or prints the help or the version that it asks for.
///
/// The suggestions of clap are replaced: of words that look alike it suggests some that do something else, such as
/// `--auto` instead of `--auto-approve`.
pub fn refuse(error: &clap::Error) -> Exit {
    let found = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            text(error, ContextKind::InvalidSubcommand).map(|word| unknown_command(error, &word))
        }
        ErrorKind::UnknownArgument => text(error, ContextKind::InvalidArg).map(|word| unknown_argument(error, &word)),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Some(no_command(error)),
        _ => None,
    };
    if let Some(failure) = &found {
        output::usage_failure(failure);
        return Exit::Error;
    }
    // If printing fails, there is no place to report that.
    let _ = error.print();
    if error.use_stderr() { Exit::Error } else { Exit::Done }
}

/// A text that clap knows of an error.
fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    error.get(kind).map(ToString::to_string)
}

/// The command in which an error occurred, with its words; the program itself where none was given.
fn command_of(error: &clap::Error) -> (Command, String) {
    let mut all = Cli::command();
    all.build();
    let usage = text(error, ContextKind::Usage).unwrap_or_default();
    // `Usage:` and the name by which the program was called come first.
    let words = usage.split_whitespace().skip(2);
    let (mut found, mut called) = (all, "zonewright".to_owned());
    for word in words {
        let Some(below) = found.find_subcommand(word).cloned() else { break };
        called = format!("{called} {word}");
        found = below;
    }
    (found, called)
}

/// The failure of a command line without a command.
fn no_command(error: &clap::Error) -> CommandFailure {
    let (_, called) = command_of(error);
    let hint = match called.as_str() {
        "zonewright" => "`zonewright plan` shows what would change; `zonewright --help` lists the commands".to_owned(),
        _ => format!("`{called} --help` lists the commands"),
    };
    CommandFailure::new(format!("`{called}` needs a command")).hint(hint)
}

/// The failure of a word where a command belongs.
fn unknown_command(error: &clap::Error, word: &str) -> CommandFailure {
    let (command, called) = command_of(error);
    let failure = match command.get_name() {
        "zonewright" => CommandFailure::new(format!("there is no command `{word}`")),
        _ => CommandFailure::new(format!("`{called}` has no command `{word}`")),
    };
    let names = command.get_subcommands().flat_map(Command::get_name_and_visible_aliases);
    let hint = peers::command(word).map(str::to_owned).or_else(|| did_you_mean(word, names));
    failure.hint(hint.unwrap_or_else(|| format!("`{called} --help` lists the commands")))
}

/// The failure of an argument that a command does not take.
fn unknown_argument(error: &clap::Error, word: &str) -> CommandFailure {
    let (command, called) = command_of(error);
    let whole = with_one_dash(word);
    let failure = CommandFailure::new(format!("`{called}` does not take `{}`", whole.as_deref().unwrap_or(word)));
    let long = whole.map(|whole| format!("-{whole}"));
    let word = long.as_deref().unwrap_or(word);
    if long.is_some() && flags(&command).iter().any(|flag| flag == word) {
        return failure.hint(format!("write it with two hyphens, `{word}`"));
    }
    if !word.starts_with('-') && matches!(command.get_name(), "plan" | "drift") {
        return failure.hint(format!("for one host write `--host {word}`"));
    }
    let hint = peers::flag(word).map(str::to_owned);
    let hint = hint.or_else(|| did_you_mean(word, flags(&command).iter().map(String::as_str)));
    let hint = hint.or_else(|| of_others(word));
    failure.hint(hint.unwrap_or_else(|| format!("`{called} --help` lists what it takes")))
}

/// The flag of several letters behind one hyphen, as Terraform writes them, of which clap names the first letter alone.
fn with_one_dash(word: &str) -> Option<String> {
    let letter = word.strip_prefix('-').filter(|letter| letter.chars().count() == 1)?;
    let flags = std::env::args().skip(1).filter(|arg| arg.len() > 2 && arg.starts_with('-') && !arg.starts_with("--"));
    let mut names = flags.map(|arg| arg.split('=').next().unwrap_or_default().to_owned());
    names.find(|name| name.contains(letter))
}

/// The long flags of a command.
fn flags(command: &Command) -> Vec<String> {
    command.get_arguments().filter_map(Arg::get_long).map(|long| format!("--{long}")).collect()
}

/// The hint for a flag that only other commands take.
fn of_others(word: &str) -> Option<String> {
    let mut all = Cli::command();
    all.build();
    let takes = |command: &&Command| flags(command).iter().any(|flag| flag == word);
    let names: Vec<String> =
        all.get_subcommands().filter(takes).map(|command| format!("`{}`", command.get_name())).collect();
    (!names.is_empty()).then(|| format!("`{word}` is a flag of {}", names.join(", ")))
}
