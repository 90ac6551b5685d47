#!/bin/sh
# Writes the plans of all open merge requests as notes, one for each, updated in place.
#
# This runs on the default branch, with a token that no merge request gets. What it takes from a merge request's pipeline was
# made by code that the merge request may have changed. So nothing of it is shown as it is: plan.json must be a complete
# plan, and is rendered here again. The last line of a note keeps which commit and effect it shows.
set -eu
. "$(dirname "$0")/common.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
account=$(notes_account)

# Fetches and renders the plan of a job into note.md, and gives its effect; fails if the plan cannot be trusted.
render() {
    notes_api GET "projects/$project/jobs/$job/artifacts/zonewright-plan/plan.json" >"$work/fetched.json" || return 1
    [ "$(wc -c <"$work/fetched.json")" -le 268435456 ] || return 1
    zonewright show "$work/fetched.json" --format json >"$work/plan.json" || return 1
    # The note shows the name that the file has here.
    (cd "$work" && zonewright show plan.json --format markdown --plan-url "$url" >note.md) || return 1
    effect=$(jq -r .effect "$work/plan.json") && is_effect "$effect"
}

# Writes the note of one merge request. It is called in a condition, in which the shell goes on after a failure: so each step
# says what happens when it fails.
write_note() {
    notes_api GET "projects/$CI_PROJECT_ID/merge_requests/$1" >"$work/request.json" || return
    head=$(jq -r .sha "$work/request.json") || return
    pipeline=$(jq -r --arg head "$head" '.head_pipeline | select(.sha == $head and (.status == "success" or
        .status == "failed")) | "\(.project_id) \(.id)"' "$work/request.json") || return
    [ -n "$pipeline" ] || return 0
    project=${pipeline% *}
    # A fork whose jobs this account may not see: its plan is an artifact there.
    jobs=$(notes_api GET "projects/$project/pipelines/${pipeline#* }/jobs?per_page=100") || return 0
    made=$(printf '%s' "$jobs" | jq -c '[.[] | select(.name == "zonewright-plan")] | max_by(.id) // empty') || return
    [ -n "$made" ] || return 0
    job=$(printf '%s' "$made" | jq .id)
    url=$(printf '%s' "$made" | jq -r .web_url)
    note=$(find_note "$1" "$account") || return
    case $(printf '%s' "$note" | jq -r '.body // empty' | tail -n 1) in
    "<!-- zonewright job=$job "*) return 0 ;;
    esac
    effect=
    if ! render; then
        effect=none
        printf '<!-- zonewright plan -->\n### ❌ No DNS plan\n\nThe pipeline made no plan, or an incomplete one: <%s>\n' "$url" \
            >"$work/note.md"
    fi
    printf '\n<!-- zonewright job=%s head=%s effect=%s -->\n' "$job" "$head" "$effect" >>"$work/note.md"
    jq -n --rawfile body "$work/note.md" '{body: ($body | rtrimstr("\n"))}' >"$work/body.json" || return
    id=$(printf '%s' "$note" | jq -r '.id // empty')
    if [ -n "$id" ]; then
        notes_api PUT "projects/$CI_PROJECT_ID/merge_requests/$1/notes/$id" "$work/body.json" >/dev/null || return
    else
        notes_api POST "projects/$CI_PROJECT_ID/merge_requests/$1/notes" "$work/body.json" >/dev/null || return
    fi
    echo "!$1: $effect"
}

# All pages are read first: a request that is merged meanwhile would move the others.
page=1 requests=
while :; do
    notes_api GET "projects/$CI_PROJECT_ID/merge_requests?state=opened&target_branch=$CI_DEFAULT_BRANCH&per_page=100&page=$page" \
        >"$work/requests.json"
    requests="$requests $(jq '.[].iid' "$work/requests.json")"
    count=$(jq length "$work/requests.json")
    if [ "$count" -lt 100 ]; then break; fi
    page=$((page + 1))
done
# An error of one request stops no other.
failed=
for request in $requests; do
    write_note "$request" || failed="$failed !$request"
done
[ -z "$failed" ] || fail 1 "no note could be written of:$failed"
