//! Words of other tools for what zonewright does by another name. Terraform, octoDNS, DNSControl, external-dns and
//! nsdiff have them; an operator who knows those tools types them here.

/// What other tools have, and what to type here.
#[derive(Debug)]
struct PeerWord {
    /// How other tools call it; a flag begins with hyphens.
    words: &'static [&'static str],
    /// What to do here, as a hint.
    hint: &'static str,
}

/// What applies without asking.
const YES: &str = "`zonewright apply --yes` applies without asking; `--auto` is for unattended runs";

/// What changes nothing.
const PLAN: &str = "`zonewright plan` shows what would be changed, and changes nothing";

/// What validates.
const CHECK: &str = "`zonewright check` validates every file of the workspace, offline";

/// What shows drift.
const DRIFT: &str = "live DNS is read at each run; `zonewright drift` shows what changed outside zonewright";

/// What removes.
const REMOVE: &str = "nothing removes all records at once: `zonewright undo ID` reverts an apply, `policy: sync` \
                      removes the records of hosts that left the inventory, `zonewright release HOST` frees a name";

/// What runs unattended.
const AUTO: &str = "`zonewright run` makes passes until it is stopped; `zonewright apply --auto` makes one";

/// The commands of other tools.
const COMMANDS: [PeerWord; 16] = [
    PeerWord { words: &["validate", "lint", "check-config"], hint: CHECK },
    PeerWord {
        words: &["diff", "preview", "compare"],
        hint: "`zonewright plan` shows what would be changed; `zonewright drift` shows what changed outside zonewright",
    },
    PeerWord { words: &["dry-run", "dryrun"], hint: PLAN },
    PeerWord {
        words: &["fmt", "format"],
        hint: "settings have no fixed layout; `zonewright check` validates them, `check --fix-lock` sorts names.lock",
    },
    PeerWord {
        words: &["import", "dump", "get-zones"],
        hint: "`zonewright init DIR --from-axfr SERVER ZONE` makes a workspace from live DNS",
    },
    PeerWord { words: &["new", "create"], hint: "`zonewright init DIR` makes a workspace" },
    PeerWord { words: &["version"], hint: "`zonewright --version` prints it" },
    PeerWord { words: &["destroy", "delete", "remove"], hint: REMOVE },
    PeerWord { words: &["refresh"], hint: DRIFT },
    PeerWord {
        words: &["push", "deploy", "reconcile", "update"],
        hint: "`zonewright apply` makes a plan, asks, and applies it",
    },
    PeerWord {
        words: &["rollback", "revert", "restore"],
        hint: "`zonewright undo ID` reverts an apply; `zonewright history` lists the applies",
    },
    PeerWord { words: &["repair"], hint: "`zonewright fix HOST` fixes named hosts now; it asks first" },
    PeerWord {
        words: &["unlock", "force-unlock"],
        hint: "the lock ends with its process; `zonewright status` shows which apply is running",
    },
    PeerWord {
        words: &["console", "output"],
        hint: "`zonewright explain HOST` shows what is decided about a host, and why",
    },
    PeerWord { words: &["daemon", "watch", "loop"], hint: AUTO },
    PeerWord {
        words: &["template", "manifests", "external-dns"],
        hint: "`zonewright render external-dns --out DIR` writes the manifests of records that external-dns carries out",
    },
];

/// The flags of other tools.
const FLAGS: [PeerWord; 12] = [
    PeerWord {
        words: &["--auto-approve", "--approve", "--assume-yes", "--no-confirm", "--non-interactive", "--doit", "-y"],
        hint: YES,
    },
    PeerWord {
        words: &["--force", "-f"],
        hint: "`--yes` applies without asking; `--allow LIMIT=N` lets one plan exceed one limit, up to a number",
    },
    PeerWord { words: &["--dry-run", "--dryrun", "--noop", "--check", "-n"], hint: PLAN },
    PeerWord {
        words: &["--target", "-target", "--limit", "--hosts"],
        hint: "`--host HOST` limits a plan to a host, by number or name",
    },
    PeerWord {
        words: &["--domain", "--domains", "--domain-filter", "--zones"],
        hint: "`zonewright plan --zone ZONE` shows the changes of a zone; `--project ID` limits a plan to a project",
    },
    PeerWord { words: &["--once", "--unattended"], hint: AUTO },
    PeerWord { words: &["--interval"], hint: "a timer repeats `zonewright apply --auto` (`ci/systemd` has one)" },
    PeerWord {
        words: &["--config", "--config-file", "--config-dir", "--chdir", "-chdir"],
        hint: "`-C DIR` names the workspace, the folder with zonewright.toml",
    },
    PeerWord { words: &["--destroy"], hint: REMOVE },
    PeerWord { words: &["--refresh", "--refresh-only", "-refresh-only"], hint: DRIFT },
    PeerWord {
        words: &["--output", "--json", "-json", "-o", "-out"],
        hint: "`--format json` prints JSON; `zonewright plan --out FILE` saves the plan",
    },
    PeerWord { words: &["--debug", "--log-level"], hint: "`-v` shows more, `-vv` also how long each stage took" },
];

/// What to do here instead of a command of another tool.
pub fn command(word: &str) -> Option<&'static str> {
    find(&COMMANDS, word)
}

/// What to do here instead of a flag of another tool.
pub fn flag(word: &str) -> Option<&'static str> {
    find(&FLAGS, word)
}

/// The hint for a word, in small letters or capitals.
fn find(table: &[PeerWord], word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    table.iter().find(|entry| entry.words.contains(&word.as_str())).map(|entry| entry.hint)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn no_word_of_another_tool_is_one_of_ours() {
        let mut all = Cli::command();
        all.build();
        let commands: BTreeSet<&str> =
            all.get_subcommands().flat_map(clap::Command::get_name_and_visible_aliases).collect();
        let words = || COMMANDS.iter().chain(&FLAGS).flat_map(|entry| entry.words);
        assert!(words().all(|word| !commands.contains(word)));
        let apply = all.find_subcommand("apply").expect("a command");
        let flags: BTreeSet<String> =
            apply.get_arguments().filter_map(|arg| arg.get_long()).map(|long| format!("--{long}")).collect();
        assert!(words().all(|word| !flags.contains(*word)));
        assert_eq!(words().collect::<BTreeSet<_>>().len(), words().count());
    }
}
