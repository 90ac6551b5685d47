"""Holds the double of Route 53 to what botocore sends, signs and understands. The argument is JSON: the URLs of several
doubles that differ in their settings, and the key that may sign. It exits with 0 if all is as the service answers."""

import json
import sys
import time

import botocore.exceptions
import botocore.parsers
import botocore.session
from botocore import UNSIGNED
from botocore.config import Config

SERVERS = json.loads(sys.argv[1])


def client(server, key=None, secret=None, token=None, **config):
    """A client without retries. Parameters are sent as they are, for the double to judge."""
    settings = Config(retries={"total_max_attempts": 1}, parameter_validation=False, **config)
    return botocore.session.Session().create_client(
        "route53",
        region_name="us-east-1",
        endpoint_url=SERVERS[server],
        aws_access_key_id=key or SERVERS["key"],
        aws_secret_access_key=secret or SERVERS["secret"],
        aws_session_token=token,
        config=settings,
    )


def refused(code, status, call, *parts, **arguments):
    """Calls what must be refused with a code and a status, and with a message that has these parts."""
    try:
        answer = call(**arguments)
    except botocore.exceptions.ClientError as error:
        found = (error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"])
        assert found == (code, status), (found, code, status, error)
        message = error.response["Error"]["Message"]
        for part in parts:
            assert part in message, (part, message)
        return error
    raise AssertionError(f"{code} was expected: {answer}")


def plain(name, rtype, *values, ttl=300):
    return {"Name": name, "Type": rtype, "TTL": ttl, "ResourceRecords": [{"Value": value} for value in values]}


def routed(name, identifier, routing, *values):
    rrset = {"Name": name, "Type": "A", "SetIdentifier": identifier, **routing}
    return {**rrset, "TTL": 60, "ResourceRecords": [{"Value": value} for value in values]}


def batch(*changes):
    return {"Changes": [{"Action": action, "ResourceRecordSet": rrset} for action, rrset in changes]}


def change(r53, zone, *changes):
    return r53.change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch(*changes))["ChangeInfo"]


def change_refused(r53, zone, changes, *parts, code="InvalidChangeBatch"):
    call = r53.change_resource_record_sets
    return refused(code, 400, call, *parts, HostedZoneId=zone, ChangeBatch=batch(*changes))


def listed(r53, zone):
    pages = r53.get_paginator("list_resource_record_sets").paginate(HostedZoneId=zone)
    return [rrset for page in pages for rrset in page["ResourceRecordSets"]]


def emptied(r53, zone):
    """Deletes all RRsets but SOA and NS of the apex, exactly as they are listed, and then the zone."""
    rrsets = listed(r53, zone)
    apex = r53.get_hosted_zone(Id=zone)["HostedZone"]["Name"]
    rest = [rrset for rrset in rrsets if rrset["Name"] != apex or rrset["Type"] not in ("SOA", "NS")]
    # An alias of this zone goes before what it names.
    rest.sort(key=lambda rrset: "AliasTarget" not in rrset)
    for start in range(0, len(rest), 500):
        change(r53, zone, *(("DELETE", rrset) for rrset in rest[start : start + 500]))
    assert len(listed(r53, zone)) == 2
    assert r53.delete_hosted_zone(Id=zone)["ChangeInfo"]["Status"] == "PENDING"
    refused("NoSuchHostedZone", 404, r53.get_hosted_zone, Id=zone)


def check_zones(r53):
    made = r53.create_hosted_zone(Name="Example.net", CallerReference="one", HostedZoneConfig={"Comment": "a & b"})
    assert made["ResponseMetadata"]["HTTPStatusCode"] == 201 and made["Location"].endswith(made["HostedZone"]["Id"])
    assert len(made["DelegationSet"]["NameServers"]) == 4
    info = made["ChangeInfo"]
    assert info["Status"] == "PENDING" and abs(time.time() - info["SubmittedAt"].timestamp()) < 60, info
    states = [r53.get_change(Id=info["Id"])["ChangeInfo"]["Status"] for _ in range(3)]
    assert states == ["PENDING", "INSYNC", "INSYNC"], states
    refused("NoSuchChange", 404, r53.get_change, Id="CNONE")
    zone = made["HostedZone"]["Id"].removeprefix("/hostedzone/")
    shown = r53.get_hosted_zone(Id=zone)["HostedZone"]
    assert shown["Name"] == "example.net." and shown["ResourceRecordSetCount"] == 2
    assert shown["Config"] == {"Comment": "a & b", "PrivateZone": False}
    again = {"Name": "example.org", "CallerReference": "one"}
    refused("HostedZoneAlreadyExists", 409, r53.create_hosted_zone, **again)
    refused("InvalidDomainName", 400, r53.create_hosted_zone, Name="a b.net", CallerReference="x")
    refused("NoSuchHostedZone", 404, r53.get_hosted_zone, Id="ZNONE")

    network = {"VPCRegion": "eu-west-1", "VPCId": "vpc-1"}
    made = r53.create_hosted_zone(Name="example.net", VPC=network, CallerReference="two")
    private = made["HostedZone"]["Id"].removeprefix("/hostedzone/")
    assert made["VPC"] == network and made["HostedZone"]["Config"]["PrivateZone"] is True
    assert r53.get_hosted_zone(Id=private)["VPCs"] == [network]
    again = {"Name": "example.net", "VPC": network, "CallerReference": "three"}
    refused("ConflictingDomainExists", 400, r53.create_hosted_zone, **again)
    config = {"HostedZoneConfig": {"PrivateZone": True}, "CallerReference": "four"}
    refused("InvalidInput", 400, r53.create_hosted_zone, Name="example.net", **config)

    other = r53.create_hosted_zone(Name="a.net", CallerReference="five")["HostedZone"]["Id"].split("/")[-1]
    pages = r53.get_paginator("list_hosted_zones").paginate(PaginationConfig={"PageSize": 1})
    assert [page["HostedZones"][0]["Id"].split("/")[-1] for page in pages] == [zone, private, other]
    only = r53.list_hosted_zones(HostedZoneType="PrivateHostedZone")["HostedZones"]
    assert [found["Config"]["PrivateZone"] for found in only] == [True]
    first = r53.list_hosted_zones_by_name(MaxItems="1")
    assert first["HostedZones"][0]["Name"] == "a.net." and first["NextDNSName"] == "example.net."
    rest = r53.list_hosted_zones_by_name(DNSName=first["NextDNSName"], HostedZoneId=first["NextHostedZoneId"])
    assert [found["Name"] for found in rest["HostedZones"]] == ["example.net."] * 2 and not rest["IsTruncated"]
    emptied(r53, other)
    return zone, private


def check_rrsets(r53, zone):
    names = [f"host-{n}.{'abc'[n % 3]}.example.net" for n in range(697)]
    names += ["*.example.net", "0/25.example.net", "A.Example.NET"]
    for start in (0, 350):
        part = names[start : start + 350]
        made = [plain(name, "AAAA", f"2001:0DB8::{start + n:x}") for n, name in enumerate(part)]
        change(r53, zone, *(("CREATE", rrset) for rrset in made))
    pages = list(r53.get_paginator("list_resource_record_sets").paginate(HostedZoneId=zone))
    assert [len(page["ResourceRecordSets"]) for page in pages] == [300, 300, 102]
    rrsets = [rrset for page in pages for rrset in page["ResourceRecordSets"]]
    keys = [(".".join(reversed(rrset["Name"].split("."))).removeprefix(".") + ".", rrset["Type"]) for rrset in rrsets]
    assert keys == sorted(keys), "the order is that of reversed labels"
    shown = {rrset["Name"] for rrset in rrsets}
    assert {"\\052.example.net.", "0\\05725.example.net.", "a.example.net."} <= shown
    values = [rrset["ResourceRecords"][0]["Value"] for rrset in rrsets if rrset["Type"] == "AAAA"]
    assert all(value.startswith("2001:0DB8::") for value in values), "the text of values is kept"
    one = r53.list_resource_record_sets(
        HostedZoneId=zone, StartRecordName="*.example.net", StartRecordType="AAAA", MaxItems="1"
    )
    assert one["ResourceRecordSets"][0]["Name"] == "\\052.example.net." and one["IsTruncated"]
    arguments = {"HostedZoneId": zone, "StartRecordType": "A"}
    refused("InvalidInput", 400, r53.list_resource_record_sets, **arguments)
    texts = ['"a&b" "<c>"', '"\\\\ \\" \\344"', '"x  y"']
    change(r53, zone, ("CREATE", plain("txt.example.net", "TXT", *texts)))
    found = r53.list_resource_record_sets(HostedZoneId=zone, StartRecordName="txt.example.net", MaxItems="1")
    assert found["ResourceRecordSets"][0] == plain("txt.example.net.", "TXT", *texts)


def check_refusals(r53, zone):
    here = plain("a.example.net", "AAAA", "2001:0DB8::2bb")
    swap = (("DELETE", here), ("CREATE", plain("a.example.net", "AAAA", "2001:0DB8::9")))
    create = "Tried to create resource record set [name='a.example.net.', type='AAAA'] but it already exists"
    differs = "[name='a.example.net.', type='AAAA'] but the values provided do not match the current values"
    lost = "Tried to delete resource record set [name='no.example.net.', type='A'] but it was not found"
    gone = ("DELETE", plain("no.example.net", "A", "192.0.2.1"))
    change_refused(r53, zone, [("CREATE", here)], f"[{create}]")
    change_refused(r53, zone, [("CREATE", here), gone], f"[{create}, {lost}]")
    change_refused(r53, zone, [("DELETE", {**here, "TTL": 301})], differs)
    change_refused(r53, zone, [("DELETE", plain("a.example.net", "AAAA", "2001:db8::2bb"))], differs)
    change_refused(r53, zone, [("CREATE", plain("a.example.net", "CNAME", "b.net"))], "it conflicts with other records")
    change_refused(r53, zone, [("CREATE", plain("example.net", "CNAME", "b.net"))], "is not permitted at apex in zone")
    change_refused(r53, zone, [("CREATE", plain("a.example.org", "A", "192.0.2.1"))], "is not permitted in zone")
    change_refused(r53, zone, [("CREATE", plain("n.example.net", "A", "nonsense"))], "ARRDATAIllegalIPv4Address")
    change_refused(r53, zone, [("CREATE", plain("n.example.net", "TXT", "bare"))], "enclosed in quotation marks")
    many = [("CREATE", plain(f"n{n}.example.net", "A", "192.0.2.1")) for n in range(1001)]
    change_refused(r53, zone, many, "[Number of records limit of 1000 exceeded.]")
    upserts = [("UPSERT", rrset) for _, rrset in many[:501]]
    change_refused(r53, zone, upserts, "[Number of records limit of 1000 exceeded.]")
    long = [("CREATE", plain(f"n{n}.example.net", "TXT", f'"{"x" * 250}"')) for n in range(130)]
    change_refused(r53, zone, long, "[RDATA character limit of 32000 exceeded.]")
    ttl = [("CREATE", plain("n.example.net", "A", "192.0.2.1", ttl=2**31))]
    change_refused(r53, zone, ttl, "less than or equal to 2147483647", code="InvalidInput")
    unordered = {"Type": "A", "Name": "n.example.net", "TTL": 1, "ResourceRecords": [{"Value": "192.0.2.1"}]}
    change_refused(r53, zone, [("CREATE", unordered)], "Invalid content", code="InvalidInput")
    no_ttl = {"Name": "n.example.net", "Type": "A", "ResourceRecords": [{"Value": "192.0.2.1"}]}
    change_refused(r53, zone, [("CREATE", no_ttl)], "Missing field 'TTL'", code="InvalidInput")
    apex = [rrset for rrset in listed(r53, zone) if rrset["Type"] in ("SOA", "NS")]
    words = ("exactly one SOA record", "at least one NS record for the zone itself")
    change_refused(r53, zone, [("DELETE", rrset) for rrset in apex], *words)
    arguments = {"HostedZoneId": "ZNONE", "ChangeBatch": batch(gone)}
    refused("NoSuchHostedZone", 404, r53.change_resource_record_sets, **arguments)
    refused("HostedZoneNotEmpty", 400, r53.delete_hosted_zone, Id=zone)
    assert change(r53, zone, *swap)["Status"] == "PENDING"
    change_refused(r53, zone, swap, differs, create)


def check_sets(r53, zone):
    weighted = [routed("w.example.net", name, {"Weight": n}, "192.0.2.1") for n, name in enumerate(("x", "y"))]
    places = [
        routed("g.example.net", "eu", {"GeoLocation": {"ContinentCode": "EU"}}, "192.0.2.1"),
        routed("g.example.net", "us", {"GeoLocation": {"CountryCode": "US", "SubdivisionCode": "CA"}}, "192.0.2.2"),
    ]
    sides = [routed("f.example.net", side, {"Failover": side}, "192.0.2.1") for side in ("PRIMARY", "SECONDARY")]
    several = [routed("m.example.net", name, {"MultiValueAnswer": True}, "192.0.2.1") for name in ("x", "y")]
    regions = [routed("r.example.net", name, {"Region": name}, "192.0.2.1") for name in ("eu-west-1", "us-east-1")]
    cidr = routed("cidr.example.net", "x", {}, "192.0.2.1")
    cidr["CidrRoutingConfig"] = {"CollectionId": "c8c02a84-aaaa-bbbb-e0d2-d833a2f80106", "LocationName": "*"}
    near = routed("near.example.net", "x", {}, "192.0.2.1")
    near["GeoProximityLocation"] = {"Coordinates": {"Latitude": "49.22", "Longitude": "-74.01"}, "Bias": -5}
    target = {"HostedZoneId": zone, "DNSName": "w.example.net.", "EvaluateTargetHealth": False}
    alias = {"Name": "alias.example.net", "Type": "A", "AliasTarget": target}
    made = weighted + places + sides + several + regions + [cidr, near, alias]
    change(r53, zone, *(("CREATE", rrset) for rrset in made))
    found = {(rrset["Name"], rrset.get("SetIdentifier")): rrset for rrset in listed(r53, zone)}
    for rrset in made:
        assert found[rrset["Name"] + ".", rrset.get("SetIdentifier")] == {**rrset, "Name": rrset["Name"] + "."}, rrset
    new = routed("w.example.net", "z", {"Region": "eu-west-1"}, "192.0.2.1")
    change_refused(r53, zone, [("CREATE", new)], "SetIdentifier z cannot be created as a non-latency set exists")
    change_refused(r53, zone, [("CREATE", plain("w.example.net", "A", "192.0.2.1"))], "as other RRSets exist")
    lost = {**target, "DNSName": "no.example.net."}
    lost = {**alias, "Name": "l.example.net", "AliasTarget": lost}
    change_refused(r53, zone, [("CREATE", lost)], "target was not found")
    both = {**plain("l.example.net", "A", "192.0.2.1"), "AliasTarget": target}
    change_refused(r53, zone, [("CREATE", both)], "but found more than one", code="InvalidInput")
    page = r53.list_resource_record_sets(
        HostedZoneId=zone, StartRecordName="w.example.net", StartRecordType="A", MaxItems="1"
    )
    assert page["NextRecordIdentifier"] == "y", page


def check_tags(r53, zone, private):
    of_zone = {"ResourceType": "hostedzone", "ResourceId": zone}
    tags = [{"Key": "owner", "Value": "dns & co"}, {"Key": "stage", "Value": ""}]
    r53.change_tags_for_resource(AddTags=tags, **of_zone)
    assert r53.list_tags_for_resource(**of_zone)["ResourceTagSet"]["Tags"] == tags
    r53.change_tags_for_resource(RemoveTagKeys=["stage"], **of_zone)
    sets = r53.list_tags_for_resources(ResourceType="hostedzone", ResourceIds=[zone, private])["ResourceTagSets"]
    assert [(one["ResourceId"], len(one["Tags"])) for one in sets] == [(zone, 1), (private, 0)]
    unknown = {"ResourceType": "hostedzone", "ResourceId": "ZNONE"}
    refused("NoSuchHostedZone", 404, r53.list_tags_for_resource, **unknown)


def check_protections(r53, zone):
    entries = [{"RecordName": f"{name}.example.net", "RecordType": "AAAA", "Comment": name} for name in ("a", "p")]
    r53.create_resource_record_set_protections(HostedZoneId=zone, Protections=entries)
    first = r53.list_resource_record_set_protections(HostedZoneId=zone, MaxResults="1")
    rest = r53.list_resource_record_set_protections(HostedZoneId=zone, NextToken=first["NextToken"])
    found = [one["ResourceRecordSetProtections"][0]["RecordName"] for one in (first, rest)]
    assert found == ["a.example.net.", "p.example.net."] and "NextToken" not in rest
    upsert = ("UPSERT", plain("a.example.net", "AAAA", "2001:db8::1"))
    create = ("CREATE", plain("q.example.net", "A", "192.0.2.1"))
    change_refused(r53, zone, [upsert, create], "a.example.net.", "protected")
    call = r53.create_resource_record_set_protections
    refused("ProtectionAlreadyExists", 409, call, HostedZoneId=zone, Protections=entries)
    mixed = [{"RecordName": "a.example.org", "RecordType": "A"}]
    refused("InvalidResourceRecordSetProtectionBatch", 400, call, HostedZoneId=zone, Protections=mixed)
    keys = [{"RecordName": entry["RecordName"], "RecordType": entry["RecordType"]} for entry in entries]
    r53.delete_resource_record_set_protections(HostedZoneId=zone, Protections=keys)
    call = r53.delete_resource_record_set_protections
    refused("InvalidResourceRecordSetProtectionBatch", 400, call, HostedZoneId=zone, Protections=keys)


def check_signatures():
    assert client("main", "ASIASESSION", "session secret", "session/token==").list_hosted_zones()
    refused("SignatureDoesNotMatch", 403, client("main", secret="wrong").list_hosted_zones, "The request signature we")
    unknown = ("InvalidClientTokenId", 403)
    refused(*unknown, client("main", "AKIAOTHER").list_hosted_zones)
    refused(*unknown, client("main", "ASIASESSION", "session secret", "other").list_hosted_zones)
    refused(*unknown, client("main", "ASIASESSION", "session secret").list_hosted_zones)
    refused("ExpiredToken", 403, client("main", "ASIAEXPIRED", "old secret", "old token").list_hosted_zones)
    refused("MissingAuthenticationToken", 403, client("main", signature_version=UNSIGNED).list_hosted_zones)
    refused("RequestExpired", 400, client("late").list_hosted_zones)
    refused("SignatureDoesNotMatch", 403, client("late-words").list_hosted_zones, "Signature expired")

    def changed(request, **_):
        request.url = request.url.replace("maxitems=1", "maxitems=2")

    r53 = client("main")
    assert r53.list_hosted_zones(MaxItems="1")
    r53.meta.events.register("before-send.route53", changed)
    refused("SignatureDoesNotMatch", 403, r53.list_hosted_zones, MaxItems="1")

    def other_body(request, **_):
        request.body = request.body.replace(b"mallory.net", b"victim.net.")

    r53 = client("main")
    r53.meta.events.register("before-send.route53", other_body)
    refused("SignatureDoesNotMatch", 403, r53.create_hosted_zone, Name="mallory.net", CallerReference="m")


def check_settings():
    r53 = client("paced")
    for _ in range(5):
        r53.list_hosted_zones()
    refused("Throttling", 400, r53.list_hosted_zones, "Rate exceeded")

    r53 = client("busy")
    zone = r53.create_hosted_zone(Name="busy.net", CallerReference="b")
    new = [("CREATE", plain("a.busy.net", "A", "192.0.2.1"))]
    name = zone["HostedZone"]["Id"]
    change_refused(r53, name, new, "still processing a prior request", code="PriorRequestNotComplete")
    while r53.get_change(Id=zone["ChangeInfo"]["Id"])["ChangeInfo"]["Status"] == "PENDING":
        pass
    change(r53, name, *new)

    # botocore finds no code in this form, which other clients know: users of botocore report the other one.
    r53 = client("list")
    name = r53.create_hosted_zone(Name="list.net", CallerReference="l")["HostedZone"]["Id"]
    lost = [("DELETE", plain("a.list.net", "A", "192.0.2.1"))]
    change_refused(r53, name, lost, code="")

    r53 = client("denied")
    name = r53.create_hosted_zone(Name="denied.net", CallerReference="d")["HostedZone"]["Id"].split("/")[-1]
    action = "route53:ChangeResourceRecordSets"
    arguments = {"HostedZoneId": name, "ChangeBatch": batch(*new)}
    refused(
        "AccessDenied", 403, r53.change_resource_record_sets,
        f"is not authorized to perform: {action} on resource: arn:aws:route53:::hostedzone/{name} because", **arguments
    )


def check_faults():
    """The faults come in the order in which the test planned them, one a request."""
    r53 = client("faulty")
    refused("Throttling", 400, r53.list_hosted_zones, "Rate exceeded")
    refused("ServiceUnavailable", 503, r53.list_hosted_zones)
    refused("ExpiredToken", 403, r53.list_hosted_zones)
    refused("429", 429, r53.list_hosted_zones)
    for lost in (botocore.exceptions.ConnectionClosedError, botocore.parsers.ResponseParserError):
        try:
            answer = r53.list_hosted_zones()
        except lost:
            continue
        raise AssertionError(f"the answer was lost, and there is one: {answer}")
    arguments = {"Name": "two.example.net", "CallerReference": "two"}
    refused("InternalFailure", 500, r53.create_hosted_zone, **arguments)
    half = r53.list_hosted_zones()
    assert len(half["HostedZones"]) == 1 and half["IsTruncated"] and half["NextMarker"], half
    begun = time.monotonic()
    assert len(r53.list_hosted_zones()["HostedZones"]) == 2, "the request was done that was answered with 500"
    assert time.monotonic() - begun >= 0.3


def main():
    r53 = client("main")
    zone, private = check_zones(r53)
    check_rrsets(r53, zone)
    check_refusals(r53, zone)
    check_sets(r53, zone)
    check_tags(r53, zone, private)
    check_protections(r53, zone)
    check_signatures()
    check_settings()
    check_faults()
    for name in (zone, private):
        emptied(r53, name)
    assert r53.list_hosted_zones()["HostedZones"] == []


main()
