# shellcheck shell=sh disable=SC2154
# Azure DNS, public and private, for ci/real-cloud: a zone that it makes and deletes.

made=
endpoint=${TRIAL_ENDPOINT:-https://management.azure.com}
authority=${TRIAL_AUTHORITY:-https://login.microsoftonline.com}

check() {
    need_tools curl
    need_variables AZURE_TENANT_ID AZURE_CLIENT_ID AZURE_CLIENT_SECRET AZURE_SUBSCRIPTION_ID AZURE_RESOURCE_GROUP
    case $service in
    azure) kind=dnsZones version=2018-05-01 ;;
    *) kind=privateDnsZones version=2024-06-01 ;;
    esac
    groups=$endpoint/subscriptions/$AZURE_SUBSCRIPTION_ID/resourceGroups
    path=$groups/$AZURE_RESOURCE_GROUP/providers/Microsoft.Network/$kind/$zone
}

# Asks, with a token of its own: `METHOD URL [CONTENT [HEADER]]`. Secrets are on no command line. Says the status behind the content.
ask() {
    printf 'data-urlencode = "client_secret=%s"\ndata-urlencode = "client_id=%s"\n' "$AZURE_CLIENT_SECRET" "$AZURE_CLIENT_ID" |
        curl -sS -K - --data-urlencode grant_type=client_credentials --data-urlencode "scope=$endpoint/.default" \
            "$authority/$AZURE_TENANT_ID/oauth2/v2.0/token" |
        jq -r '"header = \"authorization: Bearer \(.access_token)\""' |
        curl -sS -K - -X "$1" -H 'content-type: application/json' -H "${4:-accept: application/json}" ${3:+--data "$3"} \
            -w '\n%{http_code}\n' "$2?api-version=$version"
}

make() {
    answer=$(ask PUT "$path" '{"location": "global"}' 'if-none-match: *')
    case ${answer##*
} in
    200 | 201 | 202) made=yes ;;
    *) fail "the zone $zone is not made: $answer" ;;
    esac
    # A private zone takes a while.
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        found=$(ask GET "$path" | sed '$d' | jq -r '.properties.provisioningState // .name')
        case $found in Succeeded | "$zone") return 0 ;; esac
        sleep 3
    done
    fail "the zone $zone is not there: $found"
}

target() {
    printf 'subscription_id = "%s"\nresource_group = "%s"\n' "$AZURE_SUBSCRIPTION_ID" "$AZURE_RESOURCE_GROUP"
    if [ -n "${TRIAL_ENDPOINT:-}" ]; then printf 'endpoint = "%s"\nauthority = "%s"\n' "$endpoint" "$authority"; fi
}

edit() {
    case $service in
    azure) content="{\"properties\": {\"TTL\": 60, \"AAAARecords\": [{\"ipv6Address\": \"$3\"}]}}" ;;
    *) content="{\"properties\": {\"ttl\": 60, \"aaaaRecords\": [{\"ipv6Address\": \"$3\"}]}}" ;;
    esac
    answer=$(ask PUT "$path/$2/$1.zonewright-trial" "$content")
    case ${answer##*
} in
    200 | 201) ;;
    *) fail "another tool cannot write: $answer" ;;
    esac
}

# Deletes the zone with all that is in it.
clean() {
    [ -n "$made" ] || return 0
    answer=$(ask DELETE "$path")
    case ${answer##*
} in
    200 | 202 | 204) ;;
    *) echo "ci/real-cloud: the zone $zone is still there: $answer" >&2 ;;
    esac
}
