//! What a shell completes: the values that a workspace knows, and codes.
//!
//! A completion script calls this program with [`VARIABLE`] set. It reads files of the workspace, asks no server, reads
//! no secret and writes nothing. On any error it prints nothing.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_complete::CompleteEnv;
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;

use super::args::Cli;
use crate::codes;
use crate::inventory::value::Time;
use crate::pipeline::vocabulary::{Vocabulary, words};

/// The variable with the name of the shell that asks for completions.
const VARIABLE: &str = "ZONEWRIGHT_COMPLETE";

/// What makes zsh complete at the first use, too: it loads the script as a function when the first word is to be
/// completed.
const FIRST_USE: &str = "\
if [[ $funcstack[1] == _zonewright ]]; then
    _clap_dynamic_completer_zonewright \"$@\"
fi
";

/// Answers a shell that asks for completions; whether one did.
pub fn answer() -> bool {
    let folder = std::env::current_dir().ok();
    let completing = CompleteEnv::with_factory(Cli::command).var(VARIABLE);
    // An error would be printed between the words that a person is typing.
    completing.try_complete(std::env::args_os(), folder.as_deref()).unwrap_or(true)
}

/// The script that makes a shell ask for completions; none where there is none for that shell.
pub fn script(shell: Shell) -> Option<String> {
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string())?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "zonewright", "zonewright", "zonewright", &mut script).ok()?;
    let script = String::from_utf8(script).ok()?;
    Some(match shell {
        Shell::Zsh => script + FIRST_USE,
        _ => script,
    })
}

/// Completes the names and numbers of hosts.
pub fn hosts() -> ArgValueCandidates {
    of(Vocabulary::Hosts)
}

/// Completes the ids of projects.
pub fn projects() -> ArgValueCandidates {
    of(Vocabulary::Projects)
}

/// Completes zones.
pub fn zones() -> ArgValueCandidates {
    of(Vocabulary::Zones)
}

/// Completes sources.
pub fn sources() -> ArgValueCandidates {
    of(Vocabulary::Sources)
}

/// Completes the numbers of applies, the latest first.
pub fn applies() -> ArgValueCandidates {
    of(Vocabulary::Applies)
}

/// Completes commands and codes.
pub fn topics() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let all = Cli::command();
        let commands = all.get_subcommands().map(|command| candidate(command.get_name().to_owned()));
        commands.chain(codes::pages().map(|page| candidate(page.code.to_string()))).collect()
    })
}

/// Completes words that the workspace knows.
fn of(vocabulary: Vocabulary) -> ArgValueCandidates {
    ArgValueCandidates::new(move || {
        let now = Time::from_timestamp(jiff::Timestamp::now());
        let known = now.map(|now| words(&workspace(std::env::args_os()), vocabulary, now)).unwrap_or_default();
        known.into_iter().map(candidate).collect()
    })
}

/// A word as the shell is given it.
fn candidate(word: String) -> CompletionCandidate {
    CompletionCandidate::new(word)
}

/// The workspace that the command line names so far: the folder after `-C`, else the current one.
fn workspace(args: impl Iterator<Item = OsString>) -> PathBuf {
    let mut words = args.skip_while(|word| word != "--").skip(1);
    while let Some(word) = words.next() {
        match word.to_str().and_then(|word| word.strip_prefix("-C")) {
            Some("") => return words.next().map(PathBuf::from).unwrap_or_default(),
            Some(folder) => return PathBuf::from(folder.trim_start_matches('=')),
            None => {}
        }
    }
    PathBuf::from(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_the_one_behind_its_flag() {
        let of = |line: &str| workspace(line.split(' ').map(OsString::from));
        assert_eq!(of("zonewright -- zonewright -C dns plan --host x"), PathBuf::from("dns"));
        assert_eq!(of("zonewright -- zonewright -Cdns plan"), PathBuf::from("dns"));
        assert_eq!(of("zonewright -- zonewright plan"), PathBuf::from("."));
    }

    #[test]
    fn every_shell_has_a_script() {
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            assert!(script(shell).is_some_and(|script| script.contains(VARIABLE)), "{shell}");
        }
    }
}
