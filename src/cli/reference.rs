//! docs/cli.md: every command and flag, as clap has them, and what the manual pages have below each of them.
//!
//! `UPDATE_DOCS=1 cargo test --lib cli::reference` writes it anew, for `git diff` to judge.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};

use super::args::Cli;
use super::{examples, man};

/// What the page says before the commands.
const INTRODUCTION: &str = "\
# Commands, flags, exit codes

Everything that the command line takes. This page is made from the program, and a test compares it with the program.
A command with `--help`, and `zonewright man COMMAND`, print the same. [glossary.md](glossary.md) explains the words.

The plan, or another result, goes to standard output. Findings, messages and the progress of long work go to standard error.
";

/// What the page says below its table of exit codes.
const BELOW_EXITS: &str = "\
If several apply, the exit code is the first of 1, 3, 4 and 2 that does. [operations.md](operations.md#a-run-was-refused)
says what to do about each.
";

/// A text as a cell of a table, or as part of a paragraph: in one line, with the names of values in code.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// What is typed for an argument: its flags, and the names of its values.
fn typed(arg: &Arg) -> String {
    let flags = [arg.get_short().map(|short| format!("-{short}")), arg.get_long().map(|long| format!("--{long}"))];
    let flags: Vec<String> = flags.into_iter().flatten().collect();
    let takes_values = arg.get_action().takes_values();
    let values: Vec<&str> = arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let values = Some(values.join(" ")).filter(|values| takes_values && !values.is_empty());
    let parts: Vec<String> =
        Some(flags.join(", ")).into_iter().filter(|flags| !flags.is_empty()).chain(values).collect();
    parts.join(" ")
}

/// What an argument does, with the values that it takes and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = cell(&help);
    if !text.ends_with(['.', ']']) {
        text.push('.');
    }
    let possible = arg.get_possible_values();
    if arg.get_action().takes_values() && !possible.is_empty() {
        let values: Vec<String> = possible
            .iter()
            .map(|value| match value.get_help() {
                Some(help) => format!("`{}`: {}", value.get_name(), cell(&help.to_string()).trim_end_matches('.')),
                None => format!("`{}`", value.get_name()),
            })
            .collect();
        write!(text, " Values: {}.", values.join("; ")).expect("a String takes all");
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        write!(text, " Default: {}.", defaults.join(", ")).expect("a String takes all");
    }
    text
}

/// The table of some arguments; nothing where there are none.
fn table<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let rows: String = args
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .map(|arg| format!("| `{}` | {} |\n", cell(&typed(arg)), meaning(arg)))
        .collect();
    if rows.is_empty() { String::new() } else { format!("\n| argument | meaning |\n| --- | --- |\n{rows}") }
}

/// A table of terms, each with what it means.
fn terms(heading: &str, entries: &[(&str, &str)]) -> String {
    let rows: String = entries.iter().map(|(term, means)| format!("| `{term}` | {} |\n", cell(means))).collect();
    format!("| {heading} | meaning |\n| --- | --- |\n{rows}")
}

/// The part of the page about one command.
fn section(words: &str, command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let mut text = format!("\n### {words}\n\n{}\n\n```text\n{usage}\n```\n", about.trim());
    let aliases: Vec<String> = command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        write!(text, "\nOther names of this command: {}.\n", aliases.join(", ")).expect("a String takes all");
    }
    text.push_str(&table(command.get_arguments().filter(|arg| !arg.is_global_set())));
    if let Some(notes) = command.get_after_help() {
        write!(text, "\n```text\n{}\n```\n", notes.to_string().trim_end()).expect("a String takes all");
    }
    for (line, does) in &examples::of(&words.replace(' ', "-")) {
        write!(text, "\n{does}\n\n    {line}\n").expect("a String takes all");
    }
    text
}

/// The commands below one, in the order of the help, each with the words that it is called by.
fn below<'c>(command: &'c Command, words: &str, found: &mut Vec<(String, &'c Command)>) {
    for own in command.get_subcommands().filter(|own| words.is_empty() || own.get_name() != "help") {
        let words = format!("{words} {}", own.get_name()).trim().to_owned();
        found.push((words.clone(), own));
        below(own, &words, found);
    }
}

/// The page.
fn page() -> String {
    let mut all = Cli::command();
    all.build();
    let mut commands = Vec::new();
    below(&all, "", &mut commands);
    let mut text = String::from(INTRODUCTION);
    text.push_str("\n## All commands\n\n| command | what it does |\n| --- | --- |\n");
    for (words, command) in &commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let anchor = words.replace(' ', "-");
        writeln!(text, "| [`zonewright {words}`](#{anchor}) | {} |", cell(&about)).expect("a String takes all");
    }
    write!(text, "\n## Exit codes\n\n{}\n{BELOW_EXITS}", terms("code", &man::EXITS)).expect("a String takes all");
    write!(text, "\n## Flags of all commands\n{}", table(all.get_arguments())).expect("a String takes all");
    write!(text, "\n## Files\n\n{}", terms("file", &man::FILES)).expect("a String takes all");
    write!(text, "\n## Environment\n\n{}", terms("variable", &man::VARIABLES)).expect("a String takes all");
    text.push_str("\n## Each command\n");
    text.extend(commands.iter().map(|(words, command)| section(words, command)));
    text
}

#[test]
fn the_page_of_commands_is_what_the_program_takes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("docs/ can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    for (number, (written, due)) in written.lines().zip(page.lines()).enumerate() {
        let anew = "`UPDATE_DOCS=1 cargo test --lib cli::reference` writes it anew";
        assert_eq!(written, due, "docs/cli.md:{}; {anew}", number + 1);
    }
    assert!(written == page, "docs/cli.md is not as long as it should be; UPDATE_DOCS=1 writes it anew");
}
