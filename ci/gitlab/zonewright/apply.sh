#!/bin/sh
# Applies the plan of zonewright-merged/, which is the one that was reviewed; or, as `apply.sh --resume`, finishes the last
# apply. Ends with the exit code of zonewright.
set -euf
. "$(dirname "$0")/common.sh"

if [ "${1:-}" = --resume ]; then
    set -- resume
elif [ -f zonewright-merged/effect ]; then
    effect=$(cat zonewright-merged/effect)
    is_effect "$effect" || fail 3 "the expected effect is not an effect (sha256:…)"
    set -- apply zonewright-merged/plan.json --expect "$effect" --yes
    # LIMIT=N, several with spaces between.
    for limit in ${ZONEWRIGHT_ALLOW:-}; do set -- "$@" --allow "$limit"; done
    [ -z "${ZONEWRIGHT_METRICS:-}" ] || set -- "$@" --metrics "$ZONEWRIGHT_METRICS/zonewright-apply.prom"
else
    echo "Nothing is to be applied."
    exit 0
fi
take_state
take_key
code=0
zonewright -C "$ZONEWRIGHT_DIR" "$@" --reason "$CI_COMMIT_SHA, started by $GITLAB_USER_LOGIN: $CI_PIPELINE_URL" || code=$?
case $code in
0) ;;
4) fail 4 "done in part: remove the cause, then start zonewright-resume in a new pipeline on $CI_DEFAULT_BRANCH" ;;
*) fail "$code" "see above what to do" ;;
esac
