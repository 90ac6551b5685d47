# shellcheck shell=sh
# What the scripts in this folder share; they source it. Names of GitHub's environment are those of its documentation.

# Prints why a script cannot go on, as an annotation of the run, and ends with the code.
fail() {
    code=$1
    shift
    printf '::error title=zonewright::%s\n' "$*"
    exit "$code"
}

# Adds paragraphs to the summary of the run.
summary() { printf '%s\n\n' "$@" >>"$GITHUB_STEP_SUMMARY"; }

# Adds what a program printed to the summary, so that nothing in it can be Markdown or HTML: every line is indented code.
summary_of() {
    sed 's/^/    /' "$1" >>"$GITHUB_STEP_SUMMARY"
    printf '\n' >>"$GITHUB_STEP_SUMMARY"
}

# Gives a value to later steps. It is always one line: a number, a digest, a word.
output() { printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }

# A field of the event that started the run, or nothing.
event() { jq -r "$1 // empty" "$GITHUB_EVENT_PATH"; }

# Asks GitHub: `api METHOD PATH [FILE]`, FILE with the body as JSON. The token goes to curl on its standard input, since any
# process of the machine can read an argument.
api() {
    method=$1 path=$2
    shift 2
    [ $# -eq 0 ] || set -- --header 'Content-Type: application/json' --data-binary "@$1"
    printf 'header = "Authorization: Bearer %s"\n' "$GITHUB_TOKEN" |
        curl --config - --silent --show-error --fail-with-body --max-time 60 --request "$method" \
            --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' \
            "$@" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$path"
}

# The run that made the latest artifact of a name, or nothing: `trusted_run NAME WORKFLOW EVENT…`. It counts only if a run
# of the default branch made it, of that workflow, and started by one of these events.
#
# Any user who opens a pull request can let its run upload an artifact of any name. The difference is where the run got its
# workflow from: the branch, and the repository, since a fork may have a branch of the same name. The event counts, because
# a pull request of the default branch into another one runs the workflow of that one, and a tag may have the branch's name.
trusted_run() {
    name=$1 workflow=.github/workflows/$2
    shift 2
    artifacts=$(api GET "actions/artifacts?name=$name&per_page=100") || return
    runs=$(printf '%s' "$artifacts" | jq -r --arg branch "$(event .repository.default_branch)" '[.artifacts[]
            | select(.expired | not) | select(.workflow_run.head_branch == $branch)
            | select(.workflow_run.head_repository_id == .workflow_run.repository_id)]
            | sort_by(-.id) | .[].workflow_run.id') || return
    for run in $runs; do
        maker=$(api GET "actions/runs/$run") || return
        found=$(printf '%s' "$maker" | jq -r --arg workflow "$workflow" \
            'select(.path == $workflow and (.event | IN($ARGS.positional[]))) | .id' --args "$@") || return
        if [ -n "$found" ]; then
            echo "$found"
            return
        fi
        echo "run $run, which made an artifact $name, is not of $workflow: ignored" >&2
    done
}

# Whether a text is the effect of a plan.
is_effect() { printf '%s\n' "$1" | grep -Eqx 'sha256:[0-9a-f]{64}'; }
