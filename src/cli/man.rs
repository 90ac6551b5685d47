//! `man`: manual pages, made from the command line's own help.

use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::args::{Cli, ManArgs};
use super::examples;
use super::exit::Exit;
use super::output::{self, CommandFailure};
use crate::disk;

/// The variable with the time, in seconds, that reproducible builds date their output by.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// What each exit code means.
pub const EXITS: [(&str, &str); 6] = [
    (
        "0",
        "Done. For `plan` without `--detailed-exitcode`: whatever it found. For `apply`: also if the answer was not \
         yes.",
    ),
    (
        "1",
        "An error, in usage too. `check`: a finding that is an error. `plan`, `explain`, `drift`: a zone or a source \
         could not be read; what is known is printed all the same. `snapshot`: a zone is missing in it. `doctor`: a \
         server has a problem. `apply`: nothing is known to be changed; or what could be done was done, and a zone or a \
         source could not be read or a step behind it failed, such as \
         `reload`.",
    ),
    ("2", "`plan --detailed-exitcode` and `drift`: there are changes."),
    (
        "3",
        "Refused: a limit or breaker; a plan that is expired, altered or not the expected one; a state that was lost. \
         Nothing was changed. Also if every host of the plan is stale. Also if an export is not believed: then hosts \
         that do not need that export were changed. `plan --detailed-exitcode`: `apply` would refuse the plan.",
    ),
    (
        "4",
        "Applied in part: some hosts were changed, and others could not be. `zonewright resume` goes on. Also if too few \
         name servers or targets of a pool have the changes, and for `sync`: if that is so, or a target still lacks \
         changes. `zonewright sync` goes on.",
    ),
    (
        "5",
        "Some hosts wait for a later wave of the rollout, and nothing went wrong. `zonewright resume` sends the next wave \
         once it can go; `--wait` does so by itself.",
    ),
];

/// The files of a workspace that have their names from the program.
pub const FILES: [(&str, &str); 5] = [
    ("zonewright.toml", "The administrator's settings: sources, projects, zones, where they are served, limits."),
    ("names.lock", "Which host has or had which name; kept in git next to the settings."),
    ("templates/", "Templates of reports that take the place of those in the program."),
    (
        ".zonewright/state.db",
        "The state: the journal of all applies, own RRsets, markers, accepted exports, breakers. Each apply needs the \
         state of the apply before it. [state] url names another place.",
    ),
    (".zonewright/state.db.lock", "The lock that one apply at a time holds."),
];

/// The variables that are read.
pub const VARIABLES: [(&str, &str); 8] = [
    ("NO_COLOR", "If it is set and not empty, output has no colour unless --color says so."),
    (
        "CLICOLOR_FORCE, FORCE_COLOR",
        "If one is set and not 0, output has colour also without a terminal; NO_COLOR wins.",
    ),
    ("COLUMNS", "How many columns output has; without it as many as the terminal, and 80 where there is none."),
    ("ZONEWRIGHT_WHO", "Who runs this, for the journal, the lock and events; it takes the place of account and host."),
    (
        "GITHUB_ACTOR, GITLAB_USER_LOGIN, USER, LOGNAME, USERNAME",
        "The account that the journal names, with the host; the first that is set and not empty, else the account of \
         the process.",
    ),
    (
        "RAYON_NUM_THREADS",
        "How many threads read sources and derive hosts; as many as there are processors by default.",
    ),
    (EPOCH, "The date of manual pages, in seconds since 1970; without it they have none."),
    ("the one that secret_env names", "The secret of a TSIG key, in base64."),
];

/// Prints a page, or writes all.
pub fn run(args: &ManArgs) -> Result<Exit, CommandFailure> {
    let mut all = Cli::command();
    all.build();
    let pages = pages(&all);
    if let Some(folder) = &args.out {
        write(folder, &pages).map_err(|error| {
            let message = format!("{}: the manual pages could not be written: {error}", folder.display());
            CommandFailure::new(message)
                .hint("`--out` names a folder that can be written; it is made where there is none")
        })?;
        return Ok(Exit::Done);
    }
    let wanted = format!("{}.1", [&["zonewright".to_owned()], args.words.as_slice()].concat().join("-"));
    let page = pages.into_iter().find(|(file, _)| *file == wanted);
    let (_, text) = page.ok_or_else(|| {
        let message = format!("there is no command `{}`", args.words.join(" "));
        CommandFailure::new(message).hint("`zonewright help` lists the commands")
    })?;
    output::print(&text)?;
    Ok(Exit::Done)
}

/// All pages, each with the name of its file; that of the program comes first.
fn pages(all: &clap::Command) -> Vec<(String, String)> {
    let mut commands = Vec::new();
    collect(all, all.get_name(), &mut commands);
    let names: Vec<String> = commands.iter().map(|(name, _)| name.clone()).collect();
    commands.iter().map(|(name, command)| (format!("{name}.1"), page(name, command, &names))).collect()
}

/// Collects a command and all below it, each by the name of its page.
fn collect<'c>(command: &'c clap::Command, name: &str, found: &mut Vec<(String, &'c clap::Command)>) {
    found.push((name.to_owned(), command));
    // The `help` that clap adds below a command says what the page of the command does.
    let is_own = |below: &&clap::Command| name == "zonewright" || below.get_name() != "help";
    for below in command.get_subcommands().filter(is_own) {
        collect(below, &format!("{name}-{}", below.get_name()), found);
    }
}

/// Writes all pages to a folder.
fn write(folder: &Path, pages: &[(String, String)]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    pages.iter().try_for_each(|(file, text)| disk::publish(&folder.join(file), text.as_bytes()))
}

/// The page of one command; `names` are those of all pages.
fn page(name: &str, command: &clap::Command, names: &[String]) -> String {
    let is_program = name == "zonewright";
    // The exit codes have a section of their own, and are not below the program's help as clap has them.
    let shown = if is_program { command.clone().after_help("") } else { command.clone() };
    let usage = shown.clone().render_usage().to_string();
    let man = Man::new(shown);
    // Written here: the head must have an empty date where there is none.
    let mut out = format!(
        ".TH \"{}\" \"1\" \"{}\" \"zonewright {}\" \"zonewright\"\n",
        name.to_uppercase(),
        date(),
        env!("CARGO_PKG_VERSION")
    )
    .into_bytes();
    let rendered = (|| {
        man.render_name_section(&mut out)?;
        synopsis(&usage).to_writer(&mut out)?;
        man.render_description_section(&mut out)?;
        man.render_options_section(&mut out)?;
        if is_program {
            commands(command).to_writer(&mut out)?;
        } else if let Some(more) = command.get_after_help() {
            notes(&more.to_string()).to_writer(&mut out)?;
        }
        list("EXIT STATUS", &EXITS).to_writer(&mut out)?;
        list("FILES", &FILES).to_writer(&mut out)?;
        list("ENVIRONMENT", &VARIABLES).to_writer(&mut out)?;
        list("EXAMPLES", &examples::of(name.strip_prefix("zonewright-").unwrap_or(name))).to_writer(&mut out)?;
        see(name, names).to_writer(&mut out)
    })();
    rendered.expect("memory takes all that is written to it");
    plain(&String::from_utf8(out).expect("what is rendered is text"))
}

/// A page in ASCII, as every `man` reads and every terminal shows it: dots for an ellipsis, other characters by their
/// numbers.
fn plain(text: &str) -> String {
    let escaped = |c: char| match c {
        '…' => "...".to_owned(),
        c if c.is_ascii() => c.to_string(),
        c => format!("\\[u{:04X}]", u32::from(c)),
    };
    text.chars().map(escaped).collect()
}

/// The section of how a command is called, in the one line that its help has.
fn synopsis(usage: &str) -> Roff {
    let line = usage.trim_start_matches("Usage:").trim();
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).text([bold(line)]);
    roff
}

/// The date of the pages; empty where SOURCE_DATE_EPOCH is not set.
fn date() -> String {
    let epoch = std::env::var(EPOCH).ok().and_then(|text| text.trim().parse().ok());
    let moment = epoch.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    moment.map(|moment| moment.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}

/// The section of what a command's help says below its flags, line by line as it is there.
fn notes(text: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["NOTES"]).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

/// A section of terms, each with what it means.
fn list(heading: &str, entries: &[(&str, &str)]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [heading]);
    for (term, meaning) in entries {
        roff.control("TP", []).text([bold(*term)]).text([roman(*meaning)]);
    }
    roff
}

/// The section of the program's commands, each with its headline.
fn commands(program: &clap::Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for command in program.get_subcommands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        roff.control("TP", []).text([bold(format!("zonewright-{}(1)", command.get_name()))]).text([roman(about)]);
    }
    roff
}

/// The section of other pages: those of all commands on the program's, and on a command's the program's and those below
/// it.
fn see(name: &str, names: &[String]) -> Roff {
    let is_near = |other: &&String| match name {
        "zonewright" => other.as_str() != name && other.matches('-').count() >= 1,
        _ => *other == "zonewright" || other.strip_prefix(name).is_some_and(|rest| rest.starts_with('-')),
    };
    let mut near: Vec<String> = names.iter().filter(is_near).map(|other| format!("{other}(1)")).collect();
    near.extend(["dig(1)", "nsupdate(1)"].map(str::to_owned));
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]).text([roman(near.join(", "))]);
    roff.control("PP", []).text([roman("`zonewright help codes` lists every code that a message may have.")]);
    roff
}
