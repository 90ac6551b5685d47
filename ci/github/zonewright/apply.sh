#!/bin/sh
# Applies a plan, and reports the result: `apply.sh PLAN`, with EXPECT, and perhaps ALLOW; or `apply.sh --resume`. Ends with
# the exit code of zonewright.
set -euf
. "$(dirname "$0")/common.sh"

run=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID
log=$RUNNER_TEMP/zonewright-apply.txt
reason="$GITHUB_SHA${PULL:+ of #$PULL}, started by $GITHUB_ACTOR: $run"
if [ "$1" = --resume ]; then
    set -- resume
else
    is_effect "$EXPECT" || fail 3 "the expected effect is not an effect (sha256:…)"
    set -- apply "$1" --expect "$EXPECT" --yes
    # LIMIT=N, several with spaces between.
    for limit in ${ALLOW:-}; do set -- "$@" --allow "$limit"; done
    [ -z "${ZONEWRIGHT_METRICS:-}" ] || set -- "$@" --metrics "$ZONEWRIGHT_METRICS/zonewright-apply.prom"
fi
code=0
zonewright -C "$ZONEWRIGHT_DIR" "$@" --reason "$reason" >"$log" 2>&1 || code=$?
cat "$log"
summary_of "$log"
case $code in
0) ;;
4) summary "Done in part. Remove the cause, then run the workflow zonewright-apply with \`resume\`." ;;
*) summary "Exit code $code: see above what to do." ;;
esac
exit "$code"
