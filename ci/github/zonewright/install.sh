#!/bin/sh
# Puts the zonewright of the file `release` into the PATH of later steps: the one that the runner has, if it is of that
# version, or else the released binary, which must have that checksum.
set -eu
. "$(dirname "$0")/common.sh"

pin() { sed -n "s/^$1=//p" "$(dirname "$0")/release"; }

version=$(pin version)
if [ "$(zonewright --version 2>/dev/null || true)" = "zonewright $version" ]; then
    echo "zonewright $version is on this runner"
    exit 0
fi
mkdir -p "$RUNNER_TEMP/zonewright"
file=$RUNNER_TEMP/zonewright/zonewright
curl --silent --show-error --fail --location --max-time 300 --output "$file" "$(pin url)" ||
    fail 1 "zonewright $version could not be fetched: see url in .github/zonewright/release"
echo "$(pin sha256)  $file" | sha256sum --check --quiet ||
    fail 1 "what was fetched is not zonewright $version: its checksum is not that of .github/zonewright/release"
chmod 755 "$file"
echo "$RUNNER_TEMP/zonewright" >>"$GITHUB_PATH"
