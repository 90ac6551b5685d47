#!/bin/sh
# Plans what is merged against live DNS, and compares it with what was reviewed: `merged.sh REVIEWED PLAN`. REVIEWED is the
# file of comment.sh, which may be missing; PLAN gets the plan. EXPECT, if it is not empty, is the effect that a person gave,
# PULL and HEAD are those of the merged pull request. Gives `changes` (true or false) and `effect`. Exits 3 if there are
# changes that no person has reviewed.
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
    summary "Live DNS already agrees with this commit: there is nothing to apply."
    output changes false
    exit 0
    ;;
2) ;;
3) [ -n "${ALLOW:-}" ] || fail 3 "this plan would be refused: see the summary; run zonewright-apply with expect and allow" ;;
*) fail "$code" "no complete plan could be made: see the log of this step" ;;
esac
# A pipe has the exit code of its last program: if `show` could not read the plan, the effect is empty.
effect=$(zonewright show "$plan" --format json | jq -r .effect)
is_effect "$effect" || fail 3 "there is no complete plan to apply: see the summary"
expect=${EXPECT:-}
if [ -z "$expect" ] && [ -f "$reviewed" ]; then
    expect=$(jq -r --argjson pull "$PULL" --arg head "$HEAD" 'select(.pull == $pull and .head == $head) | .effect' "$reviewed")
fi
if [ "$effect" != "$expect" ]; then
    if [ -n "$expect" ]; then
        summary "### Not applied: this is not the plan that was reviewed" \
            "Its effect is \`$effect\`, and \`$(printf %s "$expect" | tr -cd '[:alnum:]:')\` was reviewed: live DNS or the branch has changed since."
    else
        summary "### Not applied: this plan was not reviewed" \
            "Its effect is \`$effect\`. The commit came without a pull request, or its plan was never shown there."
    fi
    summary "If it is right, run the workflow zonewright-apply with \`expect\` = \`$effect\`. After an apply that was cut off or done in part, run it with \`resume\` instead."
    fail 3 "effect $effect was not reviewed: see the summary"
fi
output changes true
output effect "$effect"
