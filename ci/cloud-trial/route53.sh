# shellcheck shell=sh disable=SC2154
# Route 53, for ci/real-cloud: a zone that exists.

id=

check() {
    need_tools aws
}

make() {
    ids=$(aws route53 list-hosted-zones-by-name --dns-name "$zone" --output text --query "HostedZones[?Name=='$zone.'].Id")
    case $ids in
    '' | *[[:space:]]*) fail "the account has not one hosted zone $zone, but: ${ids:-none}" ;;
    esac
    id=$ids
}

target() {
    :
}

edit() {
    aws route53 change-resource-record-sets --hosted-zone-id "$id" --query ChangeInfo.Status --output text --change-batch \
        "{\"Changes\":[{\"Action\":\"UPSERT\",\"ResourceRecordSet\":{\"Name\":\"$1.zonewright-trial.$zone\",\"Type\":\"$2\",\"TTL\":60,\"ResourceRecords\":[{\"Value\":\"$3\"}]}}]}"
}

# Deletes what is left of the trial, whatever happened.
clean() {
    [ -n "$id" ] || return 0
    aws route53 list-resource-record-sets --hosted-zone-id "$id" --output json --query \
        "ResourceRecordSets[?ends_with(Name, 'zonewright-trial.$zone.') || Name == '_zonewright.$zone.']" |
        jq -c '.[] | {Changes: [{Action: "DELETE", ResourceRecordSet: .}]}' |
        while read -r batch; do
            aws route53 change-resource-record-sets --hosted-zone-id "$id" --change-batch "$batch" >/dev/null
        done
}
