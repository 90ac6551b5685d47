//! Examples of command lines, for the help of each command and for its manual page.

use std::fmt::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _};

use super::args::Cli;

/// How many of [`EXAMPLES`] the help and the page of the program show: those that a new user needs first.
const COMMON: usize = 8;

/// A command line, the page that shows it, and what it does.
type CommandExample = (&'static str, &'static str, &'static str);

/// All examples; each command has at least one.
const EXAMPLES: [CommandExample; 61] = [
    ("init", "zonewright init dns --from-axfr ns1.example.net example.net", "Make the workspace dns/ from live DNS."),
    ("check", "zonewright -C dns check", "Validate all files of the workspace dns/, offline."),
    ("plan", "zonewright plan --out plan.json", "Show what would change in DNS, and save the plan."),
    ("apply", "zonewright apply plan.json", "Apply the saved plan: exactly that, or nothing."),
    ("resume", "zonewright resume", "Finish the latest apply, if it did not do everything."),
    ("undo", "zonewright undo 12", "Show how to revert apply 12, ask, and do it."),
    ("explain", "zonewright explain 100105", "Explain the records of host 100105."),
    ("help", "zonewright help not-a-64", "Explain a code of a message."),
    ("init", "zonewright init dns", "Make a workspace around the exports in dns/, or an example."),
    (
        "init",
        "zonewright init dns --from-axfr ns1.example.net example.net --tsig-secret-file zonewright.key",
        "The same, signed with a key that `tsig-keygen zonewright. > zonewright.key` makes.",
    ),
    (
        "init",
        "zonewright init dns --from-axfr ns1.example.net example.net --records",
        "Make files that state all records of the zone, to move from another tool.",
    ),
    (
        "init",
        "zonewright init dns --from-powerdns http://127.0.0.1:8081 example.net --api-key-file api.key",
        "Make the workspace dns/ from zones of a PowerDNS, read by its API.",
    ),
    (
        "init",
        "zonewright init dns --from-etcd http://127.0.0.1:2379 example.net --records",
        "Make files that state all records which CoreDNS has in etcd.",
    ),
    ("check", "zonewright check --fix-lock", "Resolve conflicts in names.lock after a merge."),
    ("plan", "zonewright plan --host sas0-0005", "Show what would change for one host."),
    ("plan", "zonewright plan --base origin/main --format markdown", "Write a comment for a pull request."),
    ("plan", "zonewright plan --detailed-exitcode", "Let a pipeline see by the exit code whether there are changes."),
    ("apply", "zonewright apply", "Make a plan, show it, ask, and apply it."),
    ("apply", "zonewright apply --auto", "Run unattended, as a timer does."),
    (
        "apply",
        "zonewright apply --project search --max-failures 5",
        "Apply one project, and stop after five failed hosts.",
    ),
    ("drift", "zonewright drift", "Show what was changed outside zonewright."),
    ("drift", "zonewright drift --format json", "The same, for a program."),
    ("fix", "zonewright fix sas0-0005", "Explain one host, show its plan, ask, and apply it."),
    ("run", "zonewright run --interval 5m", "A pass every five minutes, until Ctrl-C."),
    ("run", "zonewright run --once --dry-run", "One pass that only plans."),
    ("resume", "zonewright resume 12", "Finish apply 12."),
    ("sync", "zonewright sync --pool main", "Ask the name servers of one pool again."),
    (
        "undo",
        "zonewright undo 12 --host sas0-0005 --out undo.json",
        "Save the plan that reverts apply 12 for one host.",
    ),
    ("explain", "zonewright explain 2001:db8::17", "Explain an address."),
    ("show", "zonewright show plan.json --format html > plan.html", "Print a saved plan as a page for a browser."),
    ("snapshot", "zonewright snapshot --out live", "Save live DNS, to plan from it without servers or secrets."),
    ("doctor", "zonewright doctor --zone example.net", "Test all servers of one zone."),
    ("cms", "zonewright cms check search", "Try the service `[cms.search]`, by dry runs."),
    ("cms-check", "zonewright cms check search --format json", "The same, for its authors' programs."),
    (
        "cms-clean",
        "zonewright cms clean search --state 5f1c09ab5f1c09ab5f1c09ab5f1c09ab --reason 'its disk is gone, ticket 7'",
        "Delete the tasks of a lost state.",
    ),
    ("status", "zonewright status", "Show the running apply, the last applies, limits and breakers."),
    ("status", "zonewright status --pool main", "Show which name servers serve the last changes."),
    (
        "status",
        "zonewright status --reset project:search --reason 'the export is whole again'",
        "Let unattended runs change the project again.",
    ),
    ("history", "zonewright history", "List the latest applies."),
    ("history", "zonewright history 12", "Show each change of apply 12, with the RRset before and after."),
    ("accept", "zonewright accept l3_tors --reason 'hall 3 was emptied'", "Accept an export that lost many rows."),
    ("allocate", "zonewright allocate --write", "Give names to all hosts without one, and write names.lock."),
    ("release", "zonewright release 100118 --write", "Release the name of a host."),
    ("adopt", "zonewright adopt --project search", "Show which names names.lock would get from hosts.csv."),
    ("render", "zonewright render endpoints", "Print the endpoints of all sets of pods."),
    ("render-endpoints", "zonewright render endpoints --set shop-web", "Print the endpoints of one set as JSON."),
    (
        "render-endpoints",
        "zonewright render endpoints --format prometheus --out pods.json",
        "Write the file of `file_sd_configs`, if it changed.",
    ),
    (
        "render-endpoints",
        "zonewright render endpoints --format envoy --out eds.json",
        "Write the file of an EDS `path_config_source`, if it changed.",
    ),
    (
        "render-endpoints",
        "zonewright render endpoints --format json --out endpoints.json",
        "Write our own document, for scripts.",
    ),
    (
        "render",
        "zonewright render external-dns --out manifests",
        "Write the manifests of records that external-dns carries out.",
    ),
    (
        "render-external-dns",
        "zonewright render external-dns --out manifests",
        "Bring the folder manifests/ up to date.",
    ),
    (
        "render-external-dns",
        "zonewright render external-dns --out manifests --check",
        "Let a pipeline see by the exit code whether it is.",
    ),
    ("state", "zonewright state init --reason 'the runner was rebuilt'", "Take over the markers that the zones have."),
    (
        "state-init",
        "zonewright state init --reason 'the runner was rebuilt'",
        "Take over the markers that the zones have.",
    ),
    ("serve", "zonewright -C inventory serve --try demo", "Serve the zones of a workspace, and make a copy to try."),
    ("serve", "zonewright serve --cms --cms-max-busy 2", "Serve approvals, to try `cms check` with."),
    ("schema", "zonewright schema config", "Print the JSON Schema of zonewright.toml, for editors."),
    (
        "completions",
        "zonewright completions bash > ~/.local/share/bash-completion/completions/zonewright",
        "Install completions for bash.",
    ),
    ("help", "zonewright help codes", "List all codes."),
    ("man", "zonewright man plan | man -l -", "Read the page of a command that is not installed."),
    ("man", "zonewright man --out /usr/local/share/man/man1", "Install all pages."),
];

/// The command line, with examples below the long help of each command.
pub fn command() -> clap::Command {
    with_examples(Cli::command(), "zonewright")
}

/// Reads the command line that the process was started with.
///
/// Errors: those of clap; also help and version, which are asked for.
pub fn parse() -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The examples of a page, each with what it does; `page` is `zonewright`, or the words of a command joined by hyphens.
pub fn of(page: &str) -> Vec<(&'static str, &'static str)> {
    let is_own = |(own, ..): &&CommandExample| *own == page;
    let shown = |(_, line, does): &CommandExample| (*line, *does);
    match page {
        "zonewright" => EXAMPLES[..COMMON].iter().map(shown).collect(),
        _ => EXAMPLES.iter().filter(is_own).map(shown).collect(),
    }
}

/// Adds examples to a command and to all below it.
fn with_examples(command: clap::Command, page: &str) -> clap::Command {
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let below = |command: clap::Command, name: String| {
        let page = if page == "zonewright" { name.clone() } else { format!("{page}-{name}") };
        command.mut_subcommand(name, |below| with_examples(below, &page))
    };
    let command = names.into_iter().fold(command, below);
    let before = command.get_after_help().map(|text| format!("{text}\n\n")).unwrap_or_default();
    let text = of(page).into_iter().fold(format!("{before}Examples:"), |mut text, (line, does)| {
        let _ =
            write!(text, "\n  {}\n      {does}", line.replace(" --tsig-secret-file", " \\\n      --tsig-secret-file"));
        text
    });
    command.after_long_help(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_an_example_that_the_command_line_reads() {
        let mut all = command();
        all.build();
        let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
        for name in &names {
            assert!(!of(name).is_empty(), "{name}");
        }
        for (page, line, _) in EXAMPLES {
            assert!(
                names.contains(&page)
                    || ["state-init", "render-endpoints", "render-external-dns", "cms-check", "cms-clean"]
                        .contains(&page),
                "{page}"
            );
            let line = line.split([';', '|', '>']).next().expect("a split has a part");
            let words = line.replace('\'', "");
            let words = words.split_whitespace().take_while(|word| *word != "--reason");
            let error = command().try_get_matches_from(words).err();
            assert!(error.is_none(), "{line}: {error:?}");
        }
    }
}
