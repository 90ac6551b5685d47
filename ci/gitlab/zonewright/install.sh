# shellcheck shell=sh
# Puts the zonewright of the file `release` into PATH: the one that the runner has, if it is of that version, or else the
# released binary, which must have that checksum. Jobs source it from the root of the checkout.
# shellcheck source=ci/gitlab/zonewright/common.sh
. .gitlab/zonewright/common.sh

pin() { sed -n "s/^$1=//p" .gitlab/zonewright/release; }

# A bare Debian image lacks these.
if ! command -v git >/dev/null || ! command -v curl >/dev/null || ! command -v jq >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends git curl jq ca-certificates >/dev/null
fi
if [ "$(zonewright --version 2>/dev/null || true)" != "zonewright $(pin version)" ]; then
    mkdir -p "$CI_PROJECT_DIR.tmp/zonewright"
    curl --silent --show-error --fail --location --max-time 300 --output "$CI_PROJECT_DIR.tmp/zonewright/zonewright" "$(pin url)" ||
        fail 1 "zonewright could not be fetched: see url in .gitlab/zonewright/release"
    echo "$(pin sha256)  $CI_PROJECT_DIR.tmp/zonewright/zonewright" | sha256sum --check --quiet ||
        fail 1 "what was fetched is not that zonewright: its checksum is not that of .gitlab/zonewright/release"
    chmod 755 "$CI_PROJECT_DIR.tmp/zonewright/zonewright"
    PATH=$CI_PROJECT_DIR.tmp/zonewright:$PATH
fi
