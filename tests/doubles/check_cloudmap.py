"""Holds the double of Cloud Map to what botocore sends, signs and understands. The argument is JSON: the URLs of several
doubles that differ in their settings, the key that may sign, the part of the model that the double has, and what it
thinks of texts. It exits with 0 if all is as the service answers."""

import json
import re
import sys
import time

import botocore.exceptions
import botocore.model
import botocore.session
from botocore import UNSIGNED
from botocore.config import Config

# The service has two protocols, and botocore takes CBOR where it can. No setting of a client chooses, so the list from
# which it takes the first one is cut to JSON.
botocore.model.PRIORITY_ORDERED_SUPPORTED_PROTOCOLS = ("json",)

SERVERS = json.loads(sys.argv[1])
V4, V6, PORT = "AWS_INSTANCE_IPV4", "AWS_INSTANCE_IPV6", "AWS_INSTANCE_PORT"


def client(server, key=None, secret=None, token=None, **config):
    """A client without retries. Parameters are sent as they are, for the double to judge."""
    region = config.pop("region", SERVERS["region"])
    settings = Config(retries={"total_max_attempts": 1}, parameter_validation=False, **config)
    return botocore.session.Session().create_client(
        "servicediscovery",
        region_name=region,
        endpoint_url=SERVERS[server],
        aws_access_key_id=key or SERVERS["key"],
        aws_secret_access_key=secret or SERVERS["secret"],
        aws_session_token=token,
        config=settings,
    )


def refused(code, call, *parts, status=400, **arguments):
    """Calls what must be refused with a code and a status, and with a message that has these parts."""
    try:
        answer = call(**arguments)
    except botocore.exceptions.ClientError as error:
        found = (error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"])
        assert found == (code, status), (found, code, status, error)
        message = error.response["Error"]["Message"]
        for part in parts:
            assert part in message, (part, message)
        # An error of the model is one that the model has for the operation.
        cm = call.__self__
        if code in cm.meta.service_model.shape_names:
            operation = cm.meta.service_model.operation_model(cm.meta.method_to_api_mapping[call.__name__])
            assert code in [shape.name for shape in operation.error_shapes], (operation, code)
            assert isinstance(error, getattr(cm.exceptions, code)), error
        return error.response
    raise AssertionError(f"{code} was expected: {answer}")


def settled(cm, submitted, status="SUCCESS"):
    """Asks for an operation until it is done, and says how it went."""
    states = []
    while not states or states[-1] in ("SUBMITTED", "PENDING"):
        operation = cm.get_operation(OperationId=submitted["OperationId"])["Operation"]
        states.append(operation["Status"])
    assert states == ["SUBMITTED", status], states
    assert abs(time.time() - operation["CreateDate"].timestamp()) < 60, operation
    return operation


def listed(cm, operation, member, **arguments):
    return [item for page in cm.get_paginator(operation).paginate(**arguments) for item in page[member]]


def dns(*records, routing="MULTIVALUE"):
    return {"RoutingPolicy": routing, "DnsRecords": [{"Type": rtype, "TTL": ttl} for rtype, ttl in records]}


def bounds(shape):
    """A shape of botocore's model as the double writes its own; documentation and names are left out."""
    if shape.type_name == "structure":
        members = {name: bounds(member) for name, member in shape.members.items()}
        return {"type": "structure", "required": sorted(shape.required_members), "members": members}
    metadata = shape.metadata
    if shape.type_name == "string":
        if shape.enum:
            return {"type": "string", "enum": sorted(shape.enum)}
        found = {"type": "string", "min": metadata.get("min", 0)}
        found.update((key, metadata[key]) for key in ("max", "pattern") if key in metadata)
        return found
    if shape.type_name in ("integer", "long"):
        return {"type": "number", "min": metadata["min"], "max": metadata["max"]}
    if shape.type_name == "list":
        found = {"type": "list", "min": metadata.get("min", 0), "member": bounds(shape.member)}
        found.update((key, metadata[key]) for key in ("max",) if key in metadata)
        return found
    assert shape.type_name == "map", shape
    return {"type": "map", "key": bounds(shape.key), "value": bounds(shape.value)}


def sorted_lists(value):
    """Sorts the lists of words, whose order says nothing."""
    if isinstance(value, dict):
        return {key: sorted_lists(part) for key, part in value.items()}
    return sorted(value) if isinstance(value, list) else value


def check_model(cm):
    model = cm.meta.service_model
    assert model.resolved_protocol == "json" and "json" in model.protocols, model.protocols
    for name, shape in SERVERS["model"].items():
        expected, found = bounds(model.operation_model(name).input_shape), sorted_lists(shape)
        assert found == expected, (name, found, expected)
    for judged in SERVERS["texts"]:
        for text in judged["good"] + judged["bad"]:
            fits = re.search(judged["pattern"], text) is not None
            assert fits == (text in judged["good"]), (judged["pattern"], text, fits)


def check_namespaces(cm):
    submitted = cm.create_private_dns_namespace(Name="example.net", Vpc="vpc-1", CreatorRequestId="one")
    again = cm.create_private_dns_namespace(Name="example.net", Vpc="vpc-1", CreatorRequestId="one")
    assert again["OperationId"] == submitted["OperationId"]
    private = settled(cm, submitted)["Targets"]["NAMESPACE"]
    refused("NamespaceAlreadyExists", cm.create_private_dns_namespace, Name="example.net", Vpc="vpc-1")
    soa = {"DnsProperties": {"SOA": {"TTL": 60}}}
    submitted = cm.create_public_dns_namespace(Name="example.org", Properties=soa, Description="a & b")
    public = settled(cm, submitted)["Targets"]["NAMESPACE"]
    assert public.startswith("ns-") and public != private
    shown = cm.get_namespace(Id=public)["Namespace"]
    assert (shown["Name"], shown["Type"], shown["Description"]) == ("example.org", "DNS_PUBLIC", "a & b"), shown
    assert shown["Properties"]["DnsProperties"]["SOA"] == {"TTL": 60}
    assert shown["Properties"]["DnsProperties"]["HostedZoneId"].startswith("Z")
    assert cm.get_namespace(Id=shown["Arn"])["Namespace"] == shown
    pages = list(cm.get_paginator("list_namespaces").paginate(PaginationConfig={"PageSize": 1}))
    assert [[own["Id"] for own in page["Namespaces"]] for page in pages] == [[private], [public]]
    kind = {"Name": "TYPE", "Values": ["DNS_PUBLIC"], "Condition": "EQ"}
    pages = list(cm.get_paginator("list_namespaces").paginate(Filters=[kind], PaginationConfig={"PageSize": 1}))
    assert [[own["Id"] for own in page["Namespaces"]] for page in pages] == [[], [public]]
    refused("NamespaceNotFound", cm.get_namespace, "ns-none", Id="ns-none")
    refused("NamespaceNotFound", cm.delete_namespace, Id="ns-none")
    refused("InvalidInput", cm.create_public_dns_namespace, "'name'", "regular expression", Name="local")
    refused("InvalidInput", cm.create_private_dns_namespace, "Value null at 'vpc'", Name="example.net")
    return private, public


def check_services(cm, namespace, other):
    request = {
        "Name": "web",
        "NamespaceId": namespace,
        "CreatorRequestId": "web-1",
        "Description": "heritage=external-dns,external-dns/owner=me",
        "DnsConfig": dns(("A", 60)),
        "Tags": [{"Key": "team", "Value": "dns"}],
    }
    web = cm.create_service(**request)["Service"]
    assert web["DnsConfig"] == {"NamespaceId": namespace, **dns(("A", 60))} and web["Type"] == "DNS_HTTP", web
    assert cm.create_service(**request)["Service"]["Id"] == web["Id"]
    assert cm.get_service(Id=web["Id"])["Service"]["Description"] == request["Description"]
    assert cm.get_service(Id=web["Arn"])["Service"]["NamespaceId"] == namespace
    taken = refused("ServiceAlreadyExists", cm.create_service, **{**request, "CreatorRequestId": "web-2"})
    assert taken["ServiceId"] == web["Id"] and taken["CreatorRequestId"] == "web-1", taken
    refused("ServiceAlreadyExists", cm.create_service, **{**request, "Name": "WEB"})
    refused("NamespaceNotFound", cm.create_service, **{**request, "NamespaceId": "ns-none"})
    names = cm.create_service(Name="www", NamespaceId=namespace, DnsConfig=dns(("CNAME", 60), routing="WEIGHTED"))
    srv = cm.create_service(Name="_http._tcp", NamespaceId=namespace, DnsConfig=dns(("SRV", 60)))
    both = cm.create_service(Name="both", NamespaceId=namespace, DnsConfig=dns(("A", 60), ("AAAA", 70)))
    strange = {"Name": "bad", "NamespaceId": namespace}
    for config in (dns(("CNAME", 60)), dns(("A", 60), ("SRV", 60)), dns(("A", 60), ("A", 60)), dns()):
        refused("InvalidInput", cm.create_service, DnsConfig=config, **strange)
    refused("InvalidInput", cm.create_service, "'bad name'", Name="bad name", DnsConfig=dns(("A", 60)))
    long = dns(("A", 2**31))
    refused("InvalidInput", cm.create_service, "less than or equal to 2147483647", DnsConfig=long, **strange)
    refused("InvalidInput", cm.create_service, "enum value set", DnsConfig=dns(("TXT", 60)), **strange)
    refused("InvalidInput", cm.create_service, "'description'", Description="x" * 1025, **strange)
    far = cm.create_service(Name="far", NamespaceId=other, DnsConfig=dns(("A", 60)))["Service"]
    only = {"Name": "NAMESPACE_ID", "Values": [namespace]}
    found = listed(cm, "list_services", "Services", Filters=[only], PaginationConfig={"PageSize": 2})
    assert [own["Name"] for own in found] == ["web", "www", "_http._tcp", "both"], found
    assert "NamespaceId" not in found[0] and found[0]["DnsConfig"] == dns(("A", 60)), found
    refused("ServiceNotFound", cm.get_service, Id="srv-none")
    cm.delete_service(Id=far["Id"])
    refused("ServiceNotFound", cm.delete_service, Id=far["Id"])
    refused("ResourceInUse", cm.delete_namespace, Id=namespace)
    return [web["Id"]] + [made["Service"]["Id"] for made in (names, srv, both)]


def check_tags(cm, service):
    arn = cm.get_service(Id=service)["Service"]["Arn"]
    assert cm.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "team", "Value": "dns"}]
    cm.tag_resource(ResourceARN=arn, Tags=[{"Key": "stage", "Value": ""}, {"Key": "team", "Value": "net"}])
    cm.untag_resource(ResourceARN=arn, TagKeys=["stage"])
    assert cm.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "team", "Value": "net"}]
    refused("ResourceNotFoundException", cm.list_tags_for_resource, ResourceARN=arn + "x")


def register(cm, service, instance, attributes, **more):
    return cm.register_instance(ServiceId=service, InstanceId=instance, Attributes=attributes, **more)


def check_instances(cm, services):
    web, names, srv, both = services
    # botocore makes up a CreatorRequestId where there is none.
    first = register(cm, web, "192.0.2.1", {V4: "192.0.2.1", "color": "green"})
    call = cm.deregister_instance
    words = f"Another operation of type RegisterInstance and id {first['OperationId']} is in progress"
    busy = refused("DuplicateRequest", call, words, ServiceId=web, InstanceId="192.0.2.1")
    assert busy["DuplicateOperationId"] == first["OperationId"], busy
    assert cm.list_instances(ServiceId=web)["Instances"] == []
    operation = settled(cm, first)
    assert operation["Type"] == "REGISTER_INSTANCE", operation
    assert operation["Targets"] == {"INSTANCE": "192.0.2.1", "SERVICE": web}, operation
    shown = cm.get_instance(ServiceId=web, InstanceId="192.0.2.1")["Instance"]
    assert shown["Attributes"] == {V4: "192.0.2.1", "color": "green"} and shown["CreatorRequestId"], shown
    settled(cm, register(cm, web, "192.0.2.1", {V4: "192.0.2.9"}))
    only = cm.list_instances(ServiceId=web)["Instances"]
    assert [(own["Id"], own["Attributes"]) for own in only] == [("192.0.2.1", {V4: "192.0.2.9"})], only
    assert cm.get_service(Id=web)["Service"]["InstanceCount"] == 1

    submitted = [register(cm, web, f"i-{n}", {V4: f"198.51.100.{n}"}) for n in range(249)]
    for operation in submitted:
        settled(cm, operation)
    pages = list(cm.get_paginator("list_instances").paginate(ServiceId=web))
    assert [len(page["Instances"]) for page in pages] == [100, 100, 50]
    found = listed(cm, "list_instances", "Instances", ServiceId=web, PaginationConfig={"PageSize": 30})
    assert len({own["Id"] for own in found}) == 250
    done = listed(cm, "list_operations", "Operations", Filters=[{"Name": "STATUS", "Values": ["SUCCESS"]}])
    assert {operation["OperationId"] for operation in submitted} <= {own["Id"] for own in done}

    settled(cm, register(cm, names, "www.example.org", {"AWS_INSTANCE_CNAME": "www.example.org"}))
    settled(cm, register(cm, srv, "web-1", {V4: "192.0.2.1", PORT: "443"}))
    settled(cm, register(cm, both, "one", {V4: "192.0.2.1", V6: "2001:db8::1"}))
    long = register(cm, srv, "x" * 64, {V4: "192.0.2.1", PORT: "443"})
    assert settled(cm, long, "FAIL")["ErrorCode"] == "INVALID_CHANGE_BATCH"

    call = cm.register_instance
    refused("InvalidInput", call, V6, ServiceId=both, InstanceId="two", Attributes={V4: "192.0.2.1"})
    refused("InvalidInput", call, V4, ServiceId=web, InstanceId="two", Attributes={V4: "nonsense"})
    refused("InvalidInput", call, "'attributes'", ServiceId=web, InstanceId="two")
    refused("InvalidInput", call, "'instanceId'", ServiceId=web, InstanceId="x" * 65, Attributes={V4: "192.0.2.1"})
    refused("InvalidInput", call, "'instanceId'", ServiceId=web, InstanceId="a,b", Attributes={V4: "192.0.2.1"})
    refused("ServiceNotFound", call, ServiceId="srv-none", InstanceId="two", Attributes={V4: "192.0.2.1"})
    refused("InstanceNotFound", cm.deregister_instance, ServiceId=web, InstanceId="none")
    refused("InstanceNotFound", cm.get_instance, ServiceId=web, InstanceId="none")
    refused("OperationNotFound", cm.get_operation, OperationId="none")
    refused("InvalidInput", cm.list_instances, "'maxResults'", ServiceId=web, MaxResults=101)
    refused("InvalidInput", cm.list_instances, "NextToken", ServiceId=web, NextToken="none")
    refused("ResourceInUse", cm.delete_service, "Service contains registered instances", Id=web)


def check_updates(cm, service):
    change = {"Description": "mine", "DnsConfig": {"DnsRecords": dns(("A", 5), ("AAAA", 6))["DnsRecords"]}}
    operation = settled(cm, cm.update_service(Id=service, Service=change))
    assert operation["Type"] == "UPDATE_SERVICE" and operation["Targets"] == {"SERVICE": service}, operation
    shown = cm.get_service(Id=service)["Service"]
    assert shown["Description"] == "mine" and shown["DnsConfig"]["DnsRecords"] == change["DnsConfig"]["DnsRecords"]
    change["DnsConfig"] = {"DnsRecords": dns(("SRV", 5))["DnsRecords"]}
    refused("InvalidInput", cm.update_service, Id=service, Service=change)


def emptied(cm, namespaces):
    """Deletes all: instances, then services, then namespaces."""
    for service in listed(cm, "list_services", "Services"):
        instances = listed(cm, "list_instances", "Instances", ServiceId=service["Id"])
        gone = [cm.deregister_instance(ServiceId=service["Id"], InstanceId=own["Id"]) for own in instances]
        for operation in gone:
            settled(cm, operation)
        assert cm.list_instances(ServiceId=service["Id"])["Instances"] == []
        cm.delete_service(Id=service["Id"])
    for namespace in namespaces:
        settled(cm, cm.delete_namespace(Id=namespace))
    assert cm.list_namespaces()["Namespaces"] == []


def check_signatures():
    assert client("main", "ASIASESSION", "session secret", "session/token==").list_services() is not None
    refused("InvalidSignatureException", client("main", secret="wrong").list_services, "The request signature we")
    unknown = "UnrecognizedClientException"
    refused(unknown, client("main", "AKIAOTHER").list_services)
    refused(unknown, client("main", "ASIASESSION", "session secret", "other").list_services)
    refused("ExpiredTokenException", client("main", "ASIAEXPIRED", "old secret", "old token").list_services)
    refused("MissingAuthenticationTokenException", client("main", signature_version=UNSIGNED).list_services)
    refused("InvalidSignatureException", client("late").list_services, "Signature expired")
    other = client("main", region="us-east-1")
    refused("InvalidSignatureException", other.list_services, "scoped to a valid region")

    def other_body(request, **_):
        request.body = request.body.replace(b"mallory", b"victims")

    cm = client("main")
    cm.meta.events.register("before-send.servicediscovery", other_body)
    refused("InvalidSignatureException", cm.get_service, Id="mallory")


def check_settings():
    cm = client("strict")
    namespace = settled(cm, cm.create_http_namespace(Name="api"))["Targets"]["NAMESPACE"]
    service = cm.create_service(Name="web", NamespaceId=namespace)["Service"]
    assert service["Type"] == "HTTP" and "DnsConfig" not in service, service
    running = [register(cm, service["Id"], f"i-{n}", {V4: "192.0.2.1"}) for n in range(3)]
    arguments = {"ServiceId": service["Id"], "InstanceId": "i-3", "Attributes": {V4: "192.0.2.1"}}
    refused("ResourceLimitExceeded", cm.register_instance, "quota of 3 instances", **arguments)
    refused("DuplicateRequest", cm.register_instance, status=409, **{**arguments, "InstanceId": "i-0"})
    refused("ServiceNotFound", cm.get_service, status=404, Id="srv-none")
    for operation in running:
        settled(cm, operation)
    cm = client("denied")
    words = "is not authorized to perform: servicediscovery:RegisterInstance on resource: arn:aws:servicediscovery:"
    refused("AccessDeniedException", cm.register_instance, words, **arguments)
    assert cm.list_services()["Services"] == []


def check_faults():
    """The faults come in the order in which the test planned them, one a request."""
    cm = client("faulty")
    refused("ThrottlingException", cm.list_namespaces, "Rate exceeded")
    refused("ServiceUnavailableException", cm.list_namespaces, status=503)
    refused("ExpiredTokenException", cm.list_namespaces)
    refused("429", cm.list_namespaces, status=429)
    try:
        answer = cm.list_namespaces()
    except botocore.exceptions.ConnectionClosedError:
        pass
    else:
        raise AssertionError(f"the answer was lost, and there is one: {answer}")
    # botocore takes a body that is no JSON for one without members.
    assert "Namespaces" not in cm.list_namespaces()
    refused("InternalFailure", cm.create_http_namespace, status=500, Name="api", CreatorRequestId="api")
    again = cm.create_http_namespace(Name="api", CreatorRequestId="api")
    settled(cm, again)
    assert len(cm.list_operations()["Operations"]) == 1, "the request was done that was answered with 500"


def main():
    cm = client("main")
    check_model(cm)
    namespaces = check_namespaces(cm)
    services = check_services(cm, *namespaces)
    check_tags(cm, services[0])
    check_instances(cm, services)
    check_updates(cm, services[3])
    check_signatures()
    check_settings()
    check_faults()
    emptied(cm, namespaces)


main()
