#!/bin/sh
# Plans a merge request into zonewright-plan/: plan.json, plan.html, plan.xml. Asks no name server, and needs no secret. Ends
# with the exit code of `plan`, except that changes are not a failure.
set -eu
. "$(dirname "$0")/common.sh"

out=zonewright-plan live=$(mktemp -d)
trap 'rm -rf "$live"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$out"
mkdir "$out"

# What the default branch saved last. A job of a fork may read it if the project allows that for every user, or for that fork.
live_package "$CI_MERGE_REQUEST_PROJECT_ID" --output "$live/live.tar" ||
    fail 1 "there is no snapshot of live DNS, or this job may not read it: see docs/pipelines.md"
tar -xf "$live/live.tar" -C "$live"

# The state knows the own RRsets, the accepted exports and what drifted.
if [ -d "$live/state" ]; then
    [ -z "$(git ls-files -- "$ZONEWRIGHT_DIR/.zonewright")" ] || fail 1 ".zonewright is in git: remove it there"
    rm -rf "$ZONEWRIGHT_DIR/.zonewright"
    mkdir "$ZONEWRIGHT_DIR/.zonewright"
    cp "$live"/state/* "$ZONEWRIGHT_DIR/.zonewright/"
fi

# The plan is of the target branch after the merge. If GitLab has not merged the two for trial, this does it.
if [ "${CI_MERGE_REQUEST_EVENT_TYPE:-}" = merged_result ]; then
    base=$(git rev-parse 'HEAD^1')
else
    git fetch --quiet "${CI_MERGE_REQUEST_PROJECT_URL}.git" "refs/heads/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" ||
        git fetch --quiet origin "refs/heads/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME" ||
        fail 1 "the target branch cannot be fetched"
    base=$(git rev-parse FETCH_HEAD)
    git -c user.name=zonewright -c user.email=zonewright@localhost merge --quiet --no-edit FETCH_HEAD ||
        fail 1 "this cannot be merged: rebase it first"
fi

code=0
zonewright -C "$ZONEWRIGHT_DIR" plan --base "$base" --live-snapshot "$live/snapshot" \
    --out "$out/plan.json" --detailed-exitcode || code=$?
if [ -f "$out/plan.json" ]; then
    zonewright show "$out/plan.json" --format html >"$out/plan.html"
    zonewright show "$out/plan.json" --format junit >"$out/plan.xml"
fi
case $code in
0 | 2) ;;
3) fail 3 "this plan would be refused: see above why" ;;
*) fail "$code" "no complete plan could be made: see above" ;;
esac
