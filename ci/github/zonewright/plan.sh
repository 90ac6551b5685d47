#!/bin/sh
# Plans a pull request: `plan.sh LIVE OUT`. LIVE is what snapshot.sh saved; OUT gets plan.json, comment.md and plan.html.
# Asks no server, and needs no secret. Ends with the exit code of `plan`, except that changes are not a failure.
set -eu
. "$(dirname "$0")/common.sh"

live=$1 out=$2
mkdir -p "$out"

# The state knows the own RRsets, the accepted exports and what drifted.
if [ -d "$live/state" ]; then
    [ -z "$(git ls-files -- "$ZONEWRIGHT_DIR/.zonewright")" ] || fail 1 ".zonewright is in git: remove it there"
    mkdir "$ZONEWRIGHT_DIR/.zonewright"
    cp "$live"/state/* "$ZONEWRIGHT_DIR/.zonewright/"
fi

# GitHub has merged the pull request for trial; the first parent is the branch that it was merged into. The base that the
# event names can be older, and then changes of other pull requests would count as changes of this one.
base=$(git rev-parse --verify --quiet 'HEAD^2' >/dev/null && git rev-parse 'HEAD^1') || base=$(event .pull_request.base.sha)
run=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID

code=0
zonewright -C "$ZONEWRIGHT_DIR" plan --base "$base" --live-snapshot "$live/snapshot" --out "$out/plan.json" \
    --format markdown --plan-url "$run" --detailed-exitcode >"$out/comment.md" || code=$?
cat "$out/comment.md" >>"$GITHUB_STEP_SUMMARY"
[ ! -f "$out/plan.json" ] || zonewright show "$out/plan.json" --format html >"$out/plan.html"
case $code in
0 | 2) ;;
3) fail 3 "this plan would be refused: the summary says why" ;;
*) fail "$code" "no complete plan could be made: see the log of this step" ;;
esac
