#!/bin/sh
# Finds what was reviewed for the commit that is to be applied: the pull request that it merges, and the artifact in
# which the workflow zonewright-comment noted the effect that it showed there. Gives `pull`, `head`, `run` and `name`, or
# nothing if the commit came without a pull request, or nothing was shown.
#
# Only the note counts. Every account that may write to the repository can edit the comment, and the code of the pull request
# made the artifact of its own run. A run of the default branch's workflow made the note.
set -eu
. "$(dirname "$0")/common.sh"

pulls=$(api GET "commits/$GITHUB_SHA/pulls?per_page=100")
pull=$(printf '%s' "$pulls" | jq -c --arg sha "$GITHUB_SHA" \
    --arg base "$(event .repository.default_branch)" '[.[] | select(.merged_at != null and .merge_commit_sha == $sha
        and .base.ref == $base)] | first // empty')
if [ -z "$pull" ]; then
    echo "no merged pull request has this commit"
    exit 0
fi
number=$(printf '%s' "$pull" | jq .number)
head=$(printf '%s' "$pull" | jq -r .head.sha)
output pull "$number"
output head "$head"
name=zonewright-reviewed-$head
run=$(trusted_run "$name" zonewright-comment.yml workflow_run)
if [ -z "$run" ]; then
    echo "no plan was shown of $head, the head of #$number"
    exit 0
fi
output run "$run"
output name "$name"
