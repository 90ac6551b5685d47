#!/bin/sh
# Writes the plan of a pull request's run as its one comment: `comment.sh PLAN REVIEWED`. PLAN is the folder with the run's
# artifact, REVIEWED a file that gets what the comment shows: pull request, head, effect.
#
# This runs with the right to comment, and a run of code that the pull request may have changed made PLAN. So nothing of it
# is shown as it is: plan.json must be a complete plan, and is rendered here again. Only GitHub's event and API say which
# pull request it is.
set -eu
. "$(dirname "$0")/common.sh"

plan=$1/plan.json reviewed=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
marker='<!-- zonewright plan -->'
bot='github-actions[bot]'

# The open pull request whose head is the commit that the run was for. A later push has a run of its own.
find_pull() {
    head=$(event '.workflow_run | "\(.head_repository.owner.login):\(.head_branch)" | @uri')
    base=$(event '.repository.default_branch | @uri')
    pulls=$(api GET "pulls?state=open&base=$base&head=$head&per_page=100") || return
    printf '%s' "$pulls" | jq -r --slurpfile event "$GITHUB_EVENT_PATH" '
        $event[0].workflow_run as $run | [.[] | select(.head.sha == $run.head_sha
            and .head.repo.id == $run.head_repository.id)] | first | .number // empty'
}

# Renders the plan into comment.md and gives its effect; fails if the plan cannot be trusted.
render() {
    [ -f "$plan" ] && [ ! -L "$plan" ] && [ "$(wc -c <"$plan")" -le 268435456 ] || return 1
    zonewright show "$plan" --format json >"$work/plan.json" || return 1
    # The comment shows the name that the file has here.
    (cd "$work" && zonewright show plan.json --format markdown --plan-url "$run_url" >comment.md) || return 1
    effect=$(jq -r .effect "$work/plan.json") && is_effect "$effect"
}

# The number of the comment that an earlier run made. Other accounts may write the marker, too; only this pipeline writes as
# this account.
find_comment() {
    page=1
    while :; do
        api GET "issues/$pull/comments?per_page=100&page=$page" >"$work/page.json" || return
        id=$(jq -r --arg bot "$bot" --arg marker "$marker" '[.[] | select(.user.login == $bot and .user.type == "Bot")
            | select(.body | startswith($marker))] | first | .id // empty' "$work/page.json")
        if [ -n "$id" ] || [ "$(jq length "$work/page.json")" -lt 100 ]; then break; fi
        page=$((page + 1))
    done
    echo "$id"
}

pull=$(find_pull)
if [ -z "$pull" ]; then
    echo "no open pull request has this commit as its head now"
    exit 0
fi
run_url=$(event .workflow_run.html_url)
effect=
if ! render; then
    effect=
    printf '%s\n### ❌ No DNS plan\n\nThe run made no plan, or an incomplete one: <%s>\n' "$marker" "$run_url" \
        >"$work/comment.md"
fi
jq -n --rawfile body "$work/comment.md" '{$body}' >"$work/body.json"
comment=$(find_comment)
if [ -n "$comment" ] && ! api PATCH "issues/comments/$comment" "$work/body.json" >"$work/answer.json"; then
    # A user may have deleted it meanwhile. If it is still there, a second comment must not be added.
    comment=$(find_comment)
    [ -z "$comment" ] || fail 1 "the comment cannot be written: $(jq -r '.message // empty' "$work/answer.json")"
fi
[ -n "$comment" ] || api POST "issues/$pull/comments" "$work/body.json" >/dev/null
if [ -n "$effect" ]; then
    jq -n --argjson pull "$pull" --arg head "$(event .workflow_run.head_sha)" --arg effect "$effect" \
        '{$pull, $head, $effect}' >"$reviewed"
    output effect "$effect"
fi
