#!/bin/sh
# Saves what plans of merge requests are made from as a package of the project: `snapshot`, live DNS as it is, and `state`, a copy
# of the state. Then reports what drifted.
set -eu
. "$(dirname "$0")/common.sh"

take_state
take_key
live=$(mktemp -d) state=$ZONEWRIGHT_DIR/.zonewright
trap 'rm -rf "$live"' EXIT
trap 'exit 1' HUP INT TERM
zonewright -C "$ZONEWRIGHT_DIR" snapshot --out "$live/snapshot"
set -- snapshot
# The state can be copied whenever no apply runs; its lock says that.
if [ -f "$state/state.db" ]; then
    mkdir "$live/state"
    touch "$state/state.db.lock"
    # Only these files of the folder: many people can read this copy.
    flock --shared --wait 300 "$state/state.db.lock" cp "$state"/state.db* "$live/state/"
    rm -f "$live/state/state.db.lock"
    set -- snapshot state
fi
tar -cf "$live/live.tar" -C "$live" "$@"
live_package "$CI_PROJECT_ID" --upload-file "$live/live.tar"
set --
[ -z "${ZONEWRIGHT_METRICS:-}" ] || set -- --metrics "$ZONEWRIGHT_METRICS/zonewright-drift.prom"
code=0
zonewright -C "$ZONEWRIGHT_DIR" drift "$@" || code=$?
# DNS that is not as desired, or an export that is not believed, is not a failure: plans can be made from this.
case $code in
0 | 2 | 3) ;;
*) fail "$code" "drift could not be determined: see above" ;;
esac
