#!/bin/sh
# Lets the workspace keep its state outside the checkout: `state.sh FOLDER`, a folder on the runner's disk.
#
# The checkout cannot keep it: `actions/checkout` removes what git does not know. The actions cache cannot either: it is
# deleted after a week, cannot be written twice under one name, and is not written when a job fails, which is when the
# journal matters most.
set -eu
. "$(dirname "$0")/common.sh"

[ -d "$1" ] || fail 1 "$1 is not there: make it once, mode 700, for the account of the runner (docs/pipelines.md)"
link=$ZONEWRIGHT_DIR/.zonewright
# A state in git came with a commit; it is not the one that the last apply wrote.
[ -z "$(git ls-files -- "$link")" ] || fail 1 "$link is in git: remove it there"
[ ! -e "$link" ] || [ -L "$link" ] || fail 1 "$link is a folder of its own: if it holds a state, move that to $1"
rm -f "$link"
ln -s "$1" "$link"
