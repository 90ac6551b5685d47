#!/bin/sh
# Finds what was reviewed of the commit that is to be applied: the pull request that it is the merge of, and the artifact in
# which the workflow zonewright-comment noted the effect that it showed there. Gives `pull`, `head`, `run` and `name`, or
# nothing where the commit came without a pull request, or nothing was shown.
#
# The note counts, not the comment, which whoever may write to the repository can edit; nor the artifact of the pull request's
# own run, which the code of the pull request made. The note is of a run of the default branch's workflow.
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
