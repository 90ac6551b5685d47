#!/bin/sh
# Reports in the summary of the run what in live DNS is not as desired, and since when at most.
set -eu
. "$(dirname "$0")/common.sh"

log=$RUNNER_TEMP/zonewright-drift.txt
set --
[ -z "${ZONEWRIGHT_METRICS:-}" ] || set -- --metrics "$ZONEWRIGHT_METRICS/zonewright-drift.prom"
code=0
zonewright -C "$ZONEWRIGHT_DIR" drift "$@" >"$log" || code=$?
summary_of "$log"
# DNS that is not as desired is a result, not a failure.
case $code in
0 | 2) ;;
*) fail "$code" "drift could not be determined: see the log of this step" ;;
esac
