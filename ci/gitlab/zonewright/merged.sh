#!/bin/sh
# Plans what is merged against live DNS into zonewright-merged/, and compares it with what was reviewed: what a person gave as
# ZONEWRIGHT_EXPECT, or else what the note of the merge request shows. Exits 3 if there are changes that no person has reviewed.
set -eu
. "$(dirname "$0")/common.sh"

# The effect that the note of the merged request shows of the very commit that was merged. The note counts if our own
# account wrote it: only maintainers could edit it.
reviewed() {
    answer=$(notes_api GET "projects/$CI_PROJECT_ID/repository/commits/$CI_COMMIT_SHA/merge_requests") || return
    request=$(printf '%s' "$answer" | jq -c --arg sha "$CI_COMMIT_SHA" --arg branch "$CI_DEFAULT_BRANCH" '[.[] | select(
        .state == "merged" and .target_branch == $branch and
        (.merge_commit_sha == $sha or .squash_commit_sha == $sha or .sha == $sha))] | first // empty')
    [ -n "$request" ] || return 0
    head=$(printf '%s' "$request" | jq -r .sha)
    account=$(notes_account) || return
    note=$(find_note "$(printf '%s' "$request" | jq .iid)" "$account") || return
    printf '%s' "$note" | jq -r '.body // empty' |
        sed -n "\$s/^<!-- zonewright job=[0-9]* head=$head effect=\(sha256:[0-9a-f]*\) -->\$/\1/p"
}

out=zonewright-merged
rm -rf "$out"
mkdir "$out"
take_state
expect=${ZONEWRIGHT_EXPECT:-}
[ -n "$expect" ] || expect=$(reviewed)
take_key
set --
[ -z "${ZONEWRIGHT_METRICS:-}" ] || set -- --metrics "$ZONEWRIGHT_METRICS/zonewright-plan.prom"
code=0
zonewright -C "$ZONEWRIGHT_DIR" plan --out "$out/plan.json" --detailed-exitcode "$@" || code=$?
[ ! -f "$out/plan.json" ] || zonewright show "$out/plan.json" --format html >"$out/plan.html"
case $code in
0)
    echo "Live DNS already agrees with this commit: there is nothing to apply."
    exit 0
    ;;
2) ;;
3) [ -n "${ZONEWRIGHT_ALLOW:-}" ] || fail 3 "this plan would be refused: see above; ZONEWRIGHT_EXPECT and ZONEWRIGHT_ALLOW let it through" ;;
*) fail "$code" "no complete plan could be made: see above" ;;
esac
# A pipe has the exit code of its last program: if `show` could not read the plan, the effect is empty.
effect=$(zonewright show "$out/plan.json" --format json | jq -r .effect)
is_effect "$effect" || fail 3 "there is no complete plan to apply: see above"
[ "$effect" = "$expect" ] || fail 3 "this plan was not reviewed (reviewed was: ${expect:-nothing}). If it is right, run a new \
pipeline on $CI_DEFAULT_BRANCH with the variable ZONEWRIGHT_EXPECT=$effect; after an apply that was cut off, start \
zonewright-resume there instead"
printf '%s\n' "$effect" >"$out/effect"
