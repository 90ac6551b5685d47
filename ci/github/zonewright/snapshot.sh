#!/bin/sh
# Saves what plans of pull requests are made from: `snapshot.sh LIVE`. LIVE gets `snapshot`, live DNS
# as it is, and `state`, a copy of the state.
set -eu
. "$(dirname "$0")/common.sh"

live=$1 state=$ZONEWRIGHT_DIR/.zonewright
rm -rf "$live"
mkdir -p "$live"
zonewright -C "$ZONEWRIGHT_DIR" snapshot --out "$live/snapshot"
# The state can be copied whenever no apply runs; its lock says that.
if [ -f "$state/state.db" ]; then
    mkdir "$live/state"
    touch "$state/state.db.lock"
    # Only these files of the folder: many people can read this copy.
    flock --shared --wait 300 "$state/state.db.lock" cp "$state"/state.db* "$live/state/"
    rm -f "$live/state/state.db.lock"
fi
