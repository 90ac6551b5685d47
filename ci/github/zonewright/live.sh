#!/bin/sh
# Finds the latest snapshot of live DNS that the default branch saved, and gives its run to later steps: `run`.
set -eu
. "$(dirname "$0")/common.sh"

run=$(trusted_run zonewright-live zonewright-snapshot.yml schedule workflow_run workflow_dispatch)
[ -n "$run" ] || fail 1 "there is no snapshot of live DNS yet: run the workflow zonewright-snapshot once"
output run "$run"
