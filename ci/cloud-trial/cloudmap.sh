# shellcheck shell=sh disable=SC2154
# Cloud Map, for ci/real-cloud: a namespace that it makes and deletes.

id=

check() {
    need_tools curl
    need_variables AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION
    endpoint=${TRIAL_ENDPOINT:-https://servicediscovery.$AWS_REGION.amazonaws.com}
}

# Asks for an operation: `OPERATION CONTENT`. Secrets are on no command line. Says what is answered, errors too.
ask() {
    {
        printf 'user = "%s:%s"\n' "$AWS_ACCESS_KEY_ID" "$AWS_SECRET_ACCESS_KEY"
        if [ -n "${AWS_SESSION_TOKEN:-}" ]; then printf 'header = "x-amz-security-token: %s"\n' "$AWS_SESSION_TOKEN"; fi
    } | curl -sS -K - --aws-sigv4 "aws:amz:$AWS_REGION:servicediscovery" -H 'content-type: application/x-amz-json-1.1' \
        -H "x-amz-target: Route53AutoNaming_v20170314.$1" --data "$2" "$endpoint/"
}

# Waits until an operation is done, which an answer names.
await() {
    operation=$(printf '%s' "$1" | jq -r '.OperationId // empty')
    [ -n "$operation" ] || fail "Cloud Map did not take a request: $1"
    while :; do
        answer=$(ask GetOperation "{\"OperationId\": \"$operation\"}")
        case $(printf '%s' "$answer" | jq -r '.Operation.Status // empty') in
        SUCCESS) return 0 ;;
        SUBMITTED | PENDING) sleep 2 ;;
        *) fail "Cloud Map did not do an operation: $answer" ;;
        esac
    done
}

make() {
    await "$(ask CreatePublicDnsNamespace "{\"Name\": \"$zone\", \"CreatorRequestId\": \"trial-$$-$(date +%s)\"}")"
    id=$(printf '%s' "$answer" | jq -r .Operation.Targets.NAMESPACE)
}

target() {
    printf 'region = "%s"\nexclusive = true\nnamespace_ids = { "%s" = "%s" }\n' "$AWS_REGION" "$zone" "$id"
    if [ -n "${TRIAL_ENDPOINT:-}" ]; then printf 'endpoint = "%s"\n' "$endpoint"; fi
}

# The services of the namespace, each as its identifier and its name.
services() {
    ask ListServices "{\"Filters\": [{\"Name\": \"NAMESPACE_ID\", \"Values\": [\"$id\"]}]}" |
        jq -r '.Services[] | "\(.Id) \(.Name)"'
}

# The identifiers of the instances of a service.
instances() {
    ask ListInstances "{\"ServiceId\": \"$1\"}" | jq -r '.Instances[].Id'
}

# Replaces the instances of a service, as another editor.
edit() {
    service_id=$(services | sed -n "s/ $1\.zonewright-trial\$//p")
    before=$(instances "$service_id")
    await "$(ask RegisterInstance "{\"ServiceId\": \"$service_id\", \"InstanceId\": \"$3\", \"Attributes\": {\"AWS_INSTANCE_IPV6\": \"$3\"}}")"
    for instance in $before; do
        if [ "$instance" != "$3" ]; then
            await "$(ask DeregisterInstance "{\"ServiceId\": \"$service_id\", \"InstanceId\": \"$instance\"}")"
        fi
    done
}

# Deletes the namespace with all that is in it.
clean() {
    [ -n "$id" ] || return 0
    services | while read -r own _; do
        for instance in $(instances "$own"); do
            await "$(ask DeregisterInstance "{\"ServiceId\": \"$own\", \"InstanceId\": \"$instance\"}")"
        done
        ask DeleteService "{\"Id\": \"$own\"}" >/dev/null
    done
    await "$(ask DeleteNamespace "{\"Id\": \"$id\"}")"
}
