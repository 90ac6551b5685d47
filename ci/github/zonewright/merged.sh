#!/bin/sh
# Plans what is merged against live DNS, and compares it with what was reviewed: `merged.sh REVIEWED PLAN`. REVIEWED is the
# file of comment.sh, which may be missing; PLAN gets the plan. EXPECT, if it is not empty, is the effect that a person gave,
# PULL and HEAD are those of the merged pull request. Gives `changes` (true or false) and `effect`. Exits 3 where there are
# changes that nobody has reviewed.
set -eu
. "$(dirname "$0")/common.sh"

reviewed=$1 plan=$2
set --
[ -z "${ZONEWRIGHT_METRICS:-}" ] || set -- --metrics "$ZONEWRIGHT_METRICS/zonewright-plan.prom"
code=0
zonewright -C "$ZONEWRIGHT_DIR" plan --out "$plan" --format markdown --detailed-exitcode "$@" \
    >>"$GITHUB_STEP_SUMMARY" || code=$?
summary
case $code in
0)
    summary "Live DNS is as this commit wants it: nothing is to be applied."
    output changes false
    exit 0
    ;;
2) ;;
3) [ -n "${ALLOW:-}" ] || fail 3 "this plan would be refused: see the summary; run zonewright-apply with expect and allow" ;;
*) fail "$code" "no whole plan could be made: see the log of this step" ;;
esac
# A pipe ends as its last program does: what `show` could not read is no effect.
effect=$(zonewright show "$plan" --format json | jq -r .effect)
is_effect "$effect" || fail 3 "there is no whole plan to be applied: see the summary"
expect=${EXPECT:-}
if [ -z "$expect" ] && [ -f "$reviewed" ]; then
    expect=$(jq -r --argjson pull "$PULL" --arg head "$HEAD" 'select(.pull == $pull and .head == $head) | .effect' "$reviewed")
fi
if [ "$effect" != "$expect" ]; then
    if [ -n "$expect" ]; then
        summary "### Not applied: this plan is another one than was reviewed" \
            "Its effect is \`$effect\`, and \`$(printf %s "$expect" | tr -cd '[:alnum:]:')\` was reviewed: live DNS or the branch has moved on."
    else
        summary "### Not applied: nobody has reviewed this plan" \
            "Its effect is \`$effect\`. The commit came without a pull request, or its plan was never shown there."
    fi
    summary "If it is right, run the workflow zonewright-apply with \`expect\` = \`$effect\`. After an apply that was cut off or done in part, run it with \`resume\` instead."
    fail 3 "nobody has reviewed effect $effect: see the summary"
fi
output changes true
output effect "$effect"
