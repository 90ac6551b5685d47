# shellcheck shell=sh
# What the scripts in this folder share; they source it. Names of GitLab's environment are those of its documentation.

# Prints why a script cannot go on, and ends with the code.
fail() {
    code=$1
    shift
    printf 'zonewright: %s\n' "$*" >&2
    exit "$code"
}

# Asks GitLab as the account that writes the notes, by its project access token: `notes_api METHOD PATH [BODY]`, BODY a file of
# JSON. The token goes to curl on its standard input, since any process of the machine can read an argument; and in this
# header, which curl leaves out if GitLab redirects it to another host for an artifact.
notes_api() {
    method=$1 path=$2
    shift 2
    [ $# -eq 0 ] || set -- --header 'Content-Type: application/json' --data-binary "@$1"
    printf 'header = "Authorization: Bearer %s"\n' "$(cat "$ZONEWRIGHT_NOTE_TOKEN_FILE")" |
        curl --config - --silent --show-error --fail --location --max-time 60 --request "$method" "$@" "$CI_API_V4_URL/$path"
}

# The snapshot of live DNS in the project's package registry, which a job may read and write with its own token, in every
# edition of GitLab: `live_package PROJECT CURL-ARGUMENT…`.
live_package() {
    project=$1
    shift
    printf 'header = "JOB-TOKEN: %s"\n' "$CI_JOB_TOKEN" |
        curl --config - --silent --show-error --fail --location --max-time 300 "$@" \
            "$CI_API_V4_URL/projects/$project/packages/generic/zonewright-live/latest/live.tar"
}

# The id of the account that writes the notes.
notes_account() {
    answer=$(notes_api GET user) || return
    printf '%s' "$answer" | jq .id
}

# The note about a merge request as JSON, or nothing: `find_note IID ACCOUNT`. Other accounts may write the marker, too; only
# this pipeline writes as this account.
find_note() {
    page=1
    while :; do
        answer=$(notes_api GET "projects/$CI_PROJECT_ID/merge_requests/$1/notes?sort=asc&per_page=100&page=$page") || return
        found=$(printf '%s' "$answer" | jq -c --argjson account "$2" '[.[] | select(.author.id == $account)
            | select(.body | startswith("<!-- zonewright plan -->"))] | first // empty') || return
        count=$(printf '%s' "$answer" | jq length) || return
        if [ -n "$found" ] || [ "$count" -lt 100 ]; then break; fi
        page=$((page + 1))
    done
    printf '%s' "$found"
}

# Lets zonewright read the key, which is a variable of type file: as [tsig_key] secret_env = "ZONEWRIGHT_TSIG" says.
take_key() {
    [ -n "${ZONEWRIGHT_TSIG_FILE:-}" ] || fail 1 "the variable ZONEWRIGHT_TSIG_FILE is not there: see docs/pipelines.md"
    ZONEWRIGHT_TSIG=$(cat "$ZONEWRIGHT_TSIG_FILE")
    export ZONEWRIGHT_TSIG
}

# Lets the workspace keep its state outside the checkout, where GitLab would remove it. GitLab's cache would keep many copies.
take_state() {
    [ -d "$ZONEWRIGHT_STATE" ] || fail 1 "$ZONEWRIGHT_STATE is not there: make it once, mode 700, for the account of the runner"
    link=$ZONEWRIGHT_DIR/.zonewright
    # A state in git came with a commit; it is not the one that the last apply wrote.
    [ -z "$(git ls-files -- "$link")" ] || fail 1 "$link is in git: remove it there"
    [ ! -e "$link" ] || [ -L "$link" ] || fail 1 "$link is a folder of its own: if it holds a state, move that to $ZONEWRIGHT_STATE"
    rm -f "$link"
    ln -s "$ZONEWRIGHT_STATE" "$link"
}

# Whether a text is the effect of a plan.
is_effect() { printf '%s\n' "$1" | grep -Eqx 'sha256:[0-9a-f]{64}'; }
