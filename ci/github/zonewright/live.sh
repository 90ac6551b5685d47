#!/bin/sh
# Finds the latest snapshot of live DNS that the default branch saved, and gives its run to later steps: `run`.
set -eu
. "$(dirname "$0")/common.sh"

artifact=$(trusted_artifact zonewright-live)
run=$(printf '%s' "$artifact" | jq -r '.workflow_run.id // empty')
[ -n "$run" ] || fail 1 "there is no snapshot of live DNS yet: run the workflow zonewright-snapshot once"
output run "$run"
