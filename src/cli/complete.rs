//! Completion in a shell: the script that the shell loads, and the answers that the script calls this program for.
//!
//! The script sets [`VARIABLE`]. The answers are the commands and flags of [`Cli`], and the words of
//! [`candidates`](super::candidates). On any error nothing is printed.

use clap::CommandFactory as _;
use clap_complete::CompleteEnv;
use clap_complete::Shell;
use clap_complete::env::Shells;

use super::args::Cli;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_has_a_script() {
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            assert!(script(shell).is_some_and(|script| script.contains(VARIABLE)), "{shell}");
        }
    }
}
