"""Holds the double of Azure DNS to what the service's own clients send and understand. The argument is JSON: the URLs
of several doubles that differ in their settings, and what they have. It exits with 0 if all is as the service answers.
"""

import itertools
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from azure.core import MatchConditions
from azure.core.credentials import AccessToken
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceExistsError,
    ResourceModifiedError,
    ResourceNotFoundError,
    ServiceResponseError,
)
from azure.mgmt.core.policies import ARMChallengeAuthenticationPolicy
from azure.mgmt.dns import DnsManagementClient
from azure.mgmt.dns import models as dns
from azure.mgmt.privatedns import PrivateDnsManagementClient
from azure.mgmt.privatedns import models as private

SERVERS = json.loads(sys.argv[1])
GROUP = SERVERS["group"]
SCOPE = "https://management.azure.com/.default"


class DoubleCredential:
    """Gets tokens from the endpoint of a double, as a client with a secret does."""

    def __init__(self, url):
        self.url = url
        self.count = 0

    def get_token(self, *scopes, **_options):
        self.count += 1
        form = {
            "grant_type": "client_credentials",
            "client_id": "client-1",
            "client_secret": "secret-1",
            "scope": scopes[0],
        }
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"{self.url}/tenant-1/oauth2/v2.0/token", data) as answer:
            token = json.load(answer)
        assert token["token_type"] == "Bearer"
        return AccessToken(token["access_token"], int(time.time()) + token["expires_in"])


class FixedCredential:
    """Has a token that no double gave."""

    def get_token(self, *_scopes, **_options):
        return AccessToken("x", int(time.time()) + 3600)


class PlainAuthentication(ARMChallengeAuthenticationPolicy):
    """Sends tokens without TLS: the doubles are on loopback."""

    def on_request(self, request):
        request.context.options["enforce_https"] = False
        super().on_request(request)


def client(kind, server, credential=None):
    """A client without retries."""
    credential = credential or DoubleCredential(SERVERS[server])
    return kind(
        credential,
        SERVERS["subscription"],
        base_url=SERVERS[server],
        authentication_policy=PlainAuthentication(credential, SCOPE),
        retry_total=0,
        polling_interval=0,
    )


def refused(error_type, status, code, call, *arguments, part="", **options):
    """Calls what must be refused with a type of error, a status, a code, and a message that has a part."""
    try:
        answer = call(*arguments, **options)
        answer = list(answer) if hasattr(answer, "by_page") else answer
    except HttpResponseError as error:
        # The clients of azure-core read the code of both forms of errors.
        found = (type(error), error.status_code, error.error and error.error.code)
        assert found == (error_type, status, code), (found, error_type, status, code, error.message)
        assert part in error.message, (part, error.message)
        return error
    raise AssertionError(f"{code} was expected: {answer}")


def public_sets():
    """Record sets of all types but SOA, each with what makes it another one."""
    a = [dns.ARecord(ipv4_address="192.0.2.1"), dns.ARecord(ipv4_address="192.0.2.2")]
    yield "A", "a_records", a, a[:1]
    aaaa = [dns.AaaaRecord(ipv6_address="2001:db8::1"), dns.AaaaRecord(ipv6_address="2001:db8::2")]
    yield "AAAA", "aaaa_records", aaaa, aaaa[1:]
    caa = [
        dns.CaaRecord(flags=0, tag="issue", value="ca.example"),
        dns.CaaRecord(flags=128, tag="iodef", value="mailto:a@b"),
    ]
    yield "CAA", "caa_records", caa, caa[1:]
    yield "CNAME", "cname_record", dns.CnameRecord(cname="a.example.org"), dns.CnameRecord(cname="b.example.org.")
    mx = [dns.MxRecord(preference=10, exchange="mail.example.org")]
    yield "MX", "mx_records", mx, [dns.MxRecord(preference=0, exchange=".")]
    ns = [dns.NsRecord(nsdname="ns1.example.org."), dns.NsRecord(nsdname="ns2.example.org")]
    yield "NS", "ns_records", ns, ns[:1]
    yield "PTR", "ptr_records", [dns.PtrRecord(ptrdname="a.example.org")], [dns.PtrRecord(ptrdname="b.example.org")]
    srv = [dns.SrvRecord(priority=1, weight=2, port=443, target="a.example.org")]
    yield "SRV", "srv_records", srv, [dns.SrvRecord(priority=0, weight=0, port=1, target="b.example.org")]
    txt = [dns.TxtRecord(value=["one", 'two "\\ ä']), dns.TxtRecord(value=["x" * 255, "y"])]
    yield "TXT", "txt_records", txt, txt[:1]


def private_sets():
    """The same of private zones."""
    a = [private.ARecord(ipv4_address="192.0.2.1"), private.ARecord(ipv4_address="192.0.2.2")]
    yield "A", "a_records", a, a[:1]
    yield "AAAA", "aaaa_records", [private.AaaaRecord(ipv6_address="2001:db8::1")], []
    cname = private.CnameRecord(cname="a.example.org")
    yield "CNAME", "cname_record", cname, private.CnameRecord(cname="b.example.org.")
    mx = [private.MxRecord(preference=10, exchange="mail.example.org")]
    yield "MX", "mx_records", mx, [private.MxRecord(preference=0, exchange=".")]
    ptr = [private.PtrRecord(ptrdname="a.example.org")]
    yield "PTR", "ptr_records", ptr, [private.PtrRecord(ptrdname="b.example.org")]
    srv = [private.SrvRecord(priority=1, weight=2, port=443, target="a.example.org")]
    yield "SRV", "srv_records", srv, [private.SrvRecord(priority=0, weight=0, port=1, target="b.example.org")]
    txt = [private.TxtRecord(value=["one", 'two "\\ ä']), private.TxtRecord(value=["x" * 255, "y"])]
    yield "TXT", "txt_records", txt, txt[:1]


def check_public_zones():
    api = client(DnsManagementClient, "public")
    zone = api.zones.create_or_update(
        GROUP, "example.com", dns.Zone(location="global", tags={"team": "dns"}), if_none_match="*"
    )
    assert (zone.name, zone.type, zone.location, zone.tags) == (
        "example.com",
        "Microsoft.Network/dnszones",
        "global",
        {"team": "dns"},
    )
    assert len(zone.name_servers) == 4 and zone.number_of_record_sets == 2 and zone.zone_type == "Public"
    refused(
        HttpResponseError,
        412,
        "PreconditionFailed",
        api.zones.create_or_update,
        GROUP,
        "example.com",
        dns.Zone(location="global"),
        if_none_match="*",
    )
    refused(
        HttpResponseError,
        400,
        "LocationNotAvailableForResourceType",
        api.zones.create_or_update,
        GROUP,
        "example.com",
        dns.Zone(location="westeurope"),
    )
    tags = dns.ZoneUpdate(tags={"a": "b"})
    assert api.zones.update(GROUP, "example.com", tags, if_match=zone.etag).tags == {"a": "b"}
    assert api.zones.get("DNS-GROUP", "EXAMPLE.com").etag != zone.etag
    for name in ["example.org", "2.0.192.in-addr.arpa"]:
        api.zones.create_or_update(GROUP, name, dns.Zone(location="global"))
    names = ["2.0.192.in-addr.arpa", "example.com", "example.org"]
    assert [zone.name for zone in api.zones.list(top=1)] == names
    assert [zone.name for zone in api.zones.list_by_resource_group(GROUP, top=2)] == names
    refused(ResourceNotFoundError, 404, "ResourceNotFound", api.zones.get, GROUP, "example.net")
    refused(ResourceNotFoundError, 404, "ResourceGroupNotFound", api.zones.get, "none", "example.com")
    api.zones.begin_delete(GROUP, "2.0.192.in-addr.arpa", polling_interval=0).result()
    api.zones.begin_delete(GROUP, "example.org", polling_interval=0).result()
    api.zones.begin_delete(GROUP, "example.org", polling_interval=0).result()
    assert [zone.name for zone in api.zones.list()] == ["example.com"]


def check_public_sets():
    api = client(DnsManagementClient, "public")
    sets = api.record_sets
    for rtype, field, first, second in public_sets():
        name = f"all-{rtype.lower()}"
        at = (GROUP, "example.com", name, rtype)
        made = sets.create_or_update(
            *at, dns.RecordSet(ttl=300, metadata={"owner": "us"}, **{field: first}), if_none_match="*"
        )
        assert made.type == f"Microsoft.Network/dnszones/{rtype}" and made.fqdn == f"{name}.example.com."
        assert made.provisioning_state == "Succeeded" and made.metadata == {"owner": "us"} and made.ttl == 300
        read = sets.get(*at)
        assert read.etag == made.etag and getattr(read, field) == getattr(made, field) == first, rtype
        refused(
            HttpResponseError,
            412,
            "PreconditionFailed",
            sets.create_or_update,
            *at,
            dns.RecordSet(ttl=300, **{field: first}),
            if_none_match="*",
        )
        again = sets.create_or_update(*at, dns.RecordSet(ttl=300, **{field: second}), if_match=read.etag)
        assert again.etag != read.etag and getattr(again, field) == second and again.metadata is None
        stale = read.etag
        for call in (
            lambda at=at, stale=stale: sets.create_or_update(*at, dns.RecordSet(ttl=1), if_match=stale),
            lambda at=at, stale=stale: sets.update(*at, dns.RecordSet(ttl=1), if_match=stale),
            lambda at=at, stale=stale: sets.delete(*at, if_match=stale),
        ):
            refused(HttpResponseError, 412, "PreconditionFailed", call)
        patched = sets.update(*at, dns.RecordSet(ttl=60, metadata={"k": "v"}), if_match=again.etag)
        assert (patched.ttl, patched.metadata, getattr(patched, field)) == (60, {"k": "v"}, second)
        assert patched.etag != again.etag
        sets.delete(*at, if_match=patched.etag)
        refused(HttpResponseError, 412, "PreconditionFailed", sets.delete, *at, if_match=patched.etag)
        sets.delete(*at)
        refused(ResourceNotFoundError, 404, "NotFound", sets.get, *at)
        refused(ResourceNotFoundError, 404, "NotFound", sets.update, *at, dns.RecordSet(ttl=1))
    apex = sets.get(GROUP, "example.com", "@", "SOA")
    soa = apex.soa_record
    assert soa.host.startswith("ns1-") and soa.minimum_ttl == 300
    soa.email = "hostmaster.example.com"
    changed = sets.create_or_update(GROUP, "example.com", "@", "SOA", apex, if_match=apex.etag)
    assert changed.soa_record.email == "hostmaster.example.com"


def check_public_refusals():
    sets = client(DnsManagementClient, "public").record_sets

    def bad(name, rtype, part="", status=400, code="BadRequest", kind=HttpResponseError, **fields):
        fields.setdefault("ttl", 300)
        at = (GROUP, "example.com", name, rtype)
        refused(kind, status, code, sets.create_or_update, *at, dns.RecordSet(**fields), part=part)

    one = [dns.ARecord(ipv4_address="192.0.2.1")]
    many = [dns.ARecord(ipv4_address=f"192.0.2.{n}") for n in range(21)]
    bad("a", "A", "TTL '0'", ttl=0, a_records=one)
    bad("a", "A", "TTL '2147483648'", ttl=2**31, a_records=one)
    bad("a", "A", "The request was invalid.", ttl=None, a_records=one)
    bad("a", "A", "more than 20 records", a_records=many)
    bad("a", "A", "identical", a_records=one * 2)
    bad("a", "A", "IP address", a_records=[dns.ARecord(ipv4_address="1.2.3")])
    bad("a", "A", "The request was invalid.", aaaa_records=[dns.AaaaRecord(ipv6_address="2001:db8::1")])
    bad("a", "TXT", "longer than 255", txt_records=[dns.TxtRecord(value=["x" * 256])])
    bad("a", "TXT", "4096", txt_records=[dns.TxtRecord(value=[str(n) + "x" * 250] * 2) for n in range(9)])
    bad("a", "TXT", "metadata", metadata={f"k{n}": "v" for n in range(11)})
    bad("a..b", "A", "name 'a..b'", a_records=one)
    bad("*", "NS", "Wildcard", ns_records=[dns.NsRecord(nsdname="ns.example.org")])
    bad("@", "NS", "name servers of Azure", ns_records=[dns.NsRecord(nsdname="ns.example.org")])
    bad("@", "CNAME", "apex", cname_record=dns.CnameRecord(cname="a.example.org"))
    bad("a", "SOA", "apex", soa_record=dns.SoaRecord(email="a.example.org"))
    invalid = {"kind": ResourceNotFoundError, "status": 404, "code": "InvalidResourceType"}
    bad("a", "SPF", **invalid)
    sets.create_or_update(GROUP, "example.com", "b", "A", dns.RecordSet(ttl=1, a_records=one))
    sets.create_or_update(
        GROUP, "example.com", "c", "CNAME", dns.RecordSet(ttl=1, cname_record=dns.CnameRecord(cname="a.example.org"))
    )
    conflict = {"kind": ResourceExistsError, "status": 409, "code": "Conflict"}
    bad("b", "CNAME", "another record", cname_record=dns.CnameRecord(cname="a.example.org"), **conflict)
    bad("c", "A", "a CNAME record", a_records=one, **conflict)
    for rtype in ["SOA", "NS"]:
        refused(HttpResponseError, 400, "BadRequest", sets.delete, GROUP, "example.com", "@", rtype)
    parent = (ResourceNotFoundError, 404, "ParentResourceNotFound")
    refused(*parent, sets.get, GROUP, "example.net", "a", "A")
    refused(*parent, sets.create_or_update, GROUP, "example.net", "a", "A", dns.RecordSet(ttl=1))
    refused(*parent, sets.list_by_dns_zone, GROUP, "example.net")
    other = client(DnsManagementClient, "public", FixedCredential()).record_sets
    refused(ClientAuthenticationError, 401, "InvalidAuthenticationToken", other.get, GROUP, "example.com", "b", "A")
    # An alias has a target and no records.
    subscription = SERVERS["subscription"]
    target = dns.SubResource(
        id=f"/subscriptions/{subscription}/resourceGroups/web/providers/Microsoft.Network/publicIPAddresses/one"
    )
    alias = sets.create_or_update(GROUP, "example.com", "d", "A", dns.RecordSet(ttl=1, target_resource=target))
    assert alias.target_resource.id == target.id and not alias.a_records
    own = dns.SubResource(id=sets.get(GROUP, "example.com", "b", "A").id)
    assert sets.create_or_update(GROUP, "example.com", "e", "A", dns.RecordSet(ttl=1, target_resource=own))
    bad("f", "A", "both", target_resource=target, a_records=one)
    bad("f", "TXT", "target resource", target_resource=target)
    for name, rtype in [("b", "A"), ("c", "CNAME"), ("d", "A"), ("e", "A")]:
        sets.delete(GROUP, "example.com", name, rtype)


def check_public_pages():
    sets = client(DnsManagementClient, "public").record_sets
    for n in range(250):
        sets.create_or_update(
            GROUP,
            "example.com",
            f"n{n:03}",
            "A",
            dns.RecordSet(ttl=60, a_records=[dns.ARecord(ipv4_address=f"192.0.2.{n}")]),
            if_none_match="*",
        )
    for call in (sets.list_by_dns_zone, sets.list_all_by_dns_zone):
        pages = [list(page) for page in call(GROUP, "example.com").by_page()]
        assert [len(page) for page in pages] == [100, 100, 52], pages
        found = list(itertools.chain(*pages))
        assert len({(item.name, item.type) for item in found}) == 252
        by_name = {item.name: item for item in found}
        assert by_name["n249"].a_records[0].ipv4_address == "192.0.2.249"
        assert by_name["n007"].etag == sets.get(GROUP, "example.com", "n007", "A").etag
    pages = [len(list(page)) for page in sets.list_by_type(GROUP, "example.com", "A", top=99).by_page()]
    assert pages == [99, 99, 52], pages
    suffix = [item.name for item in sets.list_by_dns_zone(GROUP, "example.com", recordsetnamesuffix="49")]
    assert suffix == ["n049", "n149", "n249"], suffix
    found = sets.list_all_by_dns_zone(GROUP, "example.com", record_set_name_suffix="49", top=2)
    assert [item.name for item in found] == ["n049", "n149", "n249"]


def check_private():
    api = client(PrivateDnsManagementClient, "private")
    zones, sets = api.private_zones, api.record_sets
    zone = zones.begin_create_or_update(
        GROUP, "corp.example", private.PrivateZone(location="global"), match_condition=MatchConditions.IfMissing
    ).result()
    assert zone.name == "corp.example" and zone.properties.provisioning_state == "Succeeded"
    assert zone.type == "Microsoft.Network/privateDnsZones" and zone.properties.number_of_record_sets == 1
    assert [zone.name for zone in zones.list()] == ["corp.example", "machines.example"]
    assert [zone.name for zone in zones.list_by_resource_group(GROUP, top=1)] == ["corp.example", "machines.example"]

    def record_set(ttl=300, **properties):
        return private.RecordSet(properties=private.RecordSetProperties(ttl=ttl, **properties))

    for rtype, field, first, second in private_sets():
        at = (GROUP, "corp.example", rtype, f"all-{rtype.lower()}")
        value = record_set(metadata={"owner": "us"}, **{field: first})
        made = sets.create_or_update(*at, value, match_condition=MatchConditions.IfMissing)
        assert made.type == f"Microsoft.Network/privateDnsZones/{rtype}"
        assert made.properties.is_auto_registered is False and made.properties.metadata == {"owner": "us"}
        read = sets.get(*at)
        assert read.etag == made.etag and getattr(read.properties, field) == first, rtype
        refused(
            ResourceExistsError,
            412,
            "PreconditionFailed",
            sets.create_or_update,
            *at,
            value,
            match_condition=MatchConditions.IfMissing,
        )
        held = {"etag": read.etag, "match_condition": MatchConditions.IfNotModified}
        again = sets.create_or_update(*at, record_set(**{field: second}), **held)
        assert again.etag != read.etag and getattr(again.properties, field) == second
        modified = (ResourceModifiedError, 412, "PreconditionFailed")
        refused(*modified, sets.create_or_update, *at, record_set(**{field: second}), **held)
        refused(*modified, sets.update, *at, record_set(), **held)
        refused(*modified, sets.delete, *at, **held)
        present = {"match_condition": MatchConditions.IfPresent}
        patched = sets.update(*at, record_set(ttl=60), **present)
        assert patched.properties.ttl == 60 and getattr(patched.properties, field) == second
        sets.delete(*at, etag=patched.etag, match_condition=MatchConditions.IfNotModified)
        refused(ResourceNotFoundError, 412, "PreconditionFailed", sets.create_or_update, *at, record_set(), **present)
        sets.delete(*at)
        refused(ResourceNotFoundError, 404, "NotFound", sets.get, *at)
    apex = (GROUP, "corp.example", "SOA", "@")
    soa = sets.get(*apex)
    assert soa.properties.soa_record.minimum_ttl == 10
    soa.properties.soa_record.minimum_ttl = 30
    assert sets.create_or_update(*apex, soa).properties.soa_record.minimum_ttl == 30
    refused(HttpResponseError, 400, "BadRequest", sets.delete, *apex)
    for rtype in ["NS", "CAA"]:
        at = (GROUP, "corp.example", rtype, "a")
        refused(ResourceNotFoundError, 404, "InvalidResourceType", sets.create_or_update, *at, record_set())
    machine = (GROUP, "machines.example", "A", "vm")
    vm = sets.get(*machine)
    assert vm.properties.is_auto_registered is True and vm.properties.ttl == 10
    refused(HttpResponseError, 400, "BadRequest", sets.create_or_update, *machine, vm, part="automatically registered")
    refused(HttpResponseError, 400, "BadRequest", sets.delete, *machine)
    one = [private.ARecord(ipv4_address="10.0.0.1")]
    sets.create_or_update(GROUP, "corp.example", "A", "b", record_set(a_records=one))
    cname = record_set(cname_record=private.CnameRecord(cname="b.corp.example"))
    refused(ResourceExistsError, 409, "Conflict", sets.create_or_update, GROUP, "corp.example", "CNAME", "b", cname)
    at = (GROUP, "corp.example", "A", "b")
    refused(HttpResponseError, 400, "BadRequest", sets.create_or_update, *at, record_set(ttl=0))
    parent = (ResourceNotFoundError, 404, "ParentResourceNotFound")
    refused(*parent, sets.create_or_update, GROUP, "none.example", "A", "b", record_set(a_records=one))
    refused(*parent, sets.list, GROUP, "none.example")
    for n in range(250):
        sets.create_or_update(GROUP, "corp.example", "A", f"n{n:03}", record_set(a_records=one))
    pages = [len(list(page)) for page in sets.list(GROUP, "corp.example").by_page()]
    assert pages == [100, 100, 52], pages
    found = [item.name for item in sets.list(GROUP, "corp.example", recordsetnamesuffix="49", top=2)]
    assert found == ["n049", "n149", "n249"], found
    assert len(list(sets.list_by_type(GROUP, "corp.example", "A", top=50))) == 251
    zones.begin_update(GROUP, "corp.example", private.PrivateZone(tags={"a": "b"})).result()
    assert zones.get(GROUP, "corp.example").tags == {"a": "b"}
    zones.begin_delete(GROUP, "corp.example").result()
    refused(ResourceNotFoundError, 404, "ResourceNotFound", zones.get, GROUP, "corp.example")


def check_slow_zones():
    """A change of a zone goes on after its answer, and the clients ask until it is done."""
    zones = client(DnsManagementClient, "slow").zones
    # The public client does not take 202 where it creates a zone.
    zones.create_or_update(GROUP, "example.com", dns.Zone(location="global"))
    poller = zones.begin_delete(GROUP, "example.com", polling_interval=0)
    poller.result()
    assert poller.status() == "Succeeded"
    zones = client(PrivateDnsManagementClient, "slow-private").private_zones
    poller = zones.begin_create_or_update(GROUP, "corp.example", private.PrivateZone(location="global"))
    assert poller.result().name == "corp.example" and poller.status() == "Succeeded"
    zones.begin_delete(GROUP, "corp.example").result()


def check_rights():
    api = client(DnsManagementClient, "denied")
    api.zones.create_or_update(GROUP, "example.com", dns.Zone(location="global"))
    a = dns.RecordSet(ttl=1, a_records=[dns.ARecord(ipv4_address="192.0.2.1")])
    api.record_sets.create_or_update(GROUP, "example.com", "a", "A", a)
    denied = (HttpResponseError, 403, "AuthorizationFailed")
    action = "perform action 'Microsoft.Network/dnsZones/"
    sets = api.record_sets
    refused(*denied, sets.get, GROUP, "example.com", "a", "A", part=f"{action}A/read'")
    refused(*denied, sets.delete, GROUP, "example.com", "a", "A", part=f"{action}A/delete'")
    refused(*denied, sets.create_or_update, GROUP, "example.com", "a", "TXT", a, part=f"{action}TXT/write'")
    refused(*denied, sets.list_by_dns_zone, GROUP, "example.com", part=f"{action}recordsets/read'")
    refused(*denied, sets.list_all_by_dns_zone, GROUP, "example.com", part=f"{action}all/read'")


def check_rates():
    api = client(DnsManagementClient, "paced")
    api.zones.create_or_update(GROUP, "example.com", dns.Zone(location="global"))
    sets = api.record_sets
    for call in (
        lambda n: sets.create_or_update(GROUP, "example.com", f"n{n}", "A", dns.RecordSet(ttl=1)),
        lambda n: sets.update(GROUP, "example.com", "n0", "A", dns.RecordSet(ttl=2)),
        lambda n: sets.get(GROUP, "example.com", "n0", "A"),
        lambda n: list(sets.list_by_dns_zone(GROUP, "example.com")),
        lambda n: sets.delete(GROUP, "example.com", f"n{n}", "A"),
    ):
        call(0)
        call(1)
        error = refused(HttpResponseError, 429, "TooManyRequests", call, 2)
        assert 1 <= int(error.response.headers["Retry-After"]) <= 60


def check_faults():
    sets = client(DnsManagementClient, "faulty").record_sets

    def names():
        return [(item.name, item.type.rsplit("/", 1)[1]) for item in sets.list_by_dns_zone(GROUP, "one.example.net")]

    error = refused(HttpResponseError, 429, "TooManyRequests", names)
    assert error.response.headers["Retry-After"] == "10"
    refused(HttpResponseError, 503, "ServiceUnavailable", names)
    error = refused(ClientAuthenticationError, 401, "ExpiredAuthenticationToken", names)
    assert error.response.headers["WWW-Authenticate"].startswith("Bearer ")
    refused(HttpResponseError, 429, None, names)
    for _ in range(2):
        try:
            names()
        except (ServiceResponseError, HttpResponseError) as error:
            assert getattr(error, "status_code", None) in (None, 200), error
        else:
            raise AssertionError("an answer that is lost or cut is an error")
    refused(HttpResponseError, 500, "InternalServerError", names)
    wanted = [("@", "NS"), ("@", "SOA"), ("a", "A")]
    # A page that is short and says so is no error; the next one is late.
    started = time.monotonic()
    assert names() == wanted and time.monotonic() - started >= 0.3


def check_tokens():
    url = f"{SERVERS['public']}/tenant-1/oauth2/v2.0/token"
    form = {"grant_type": "client_credentials", "client_id": "client-1", "client_secret": "other", "scope": SCOPE}
    try:
        urllib.request.urlopen(url, urllib.parse.urlencode(form).encode())
    except urllib.error.HTTPError as error:
        body = json.load(error)
        assert error.code == 401 and body["error"] == "invalid_client" and body["error_codes"] == [7000215], body
    else:
        raise AssertionError("a wrong secret is refused")
    credential = DoubleCredential(SERVERS["public"])
    api = client(DnsManagementClient, "public", credential)
    for _ in range(3):
        list(api.zones.list())
    assert credential.count == 1, credential.count


def check_identities():
    """The library that gets tokens for clients takes those of a machine and of an App Service, where it is installed."""
    try:
        from azure.core.exceptions import ClientAuthenticationError as AuthenticationError
        from azure.identity import ManagedIdentityCredential
    except ImportError:
        print("azure-identity is not installed", file=sys.stderr)
        return
    url = SERVERS["private"]
    for environment in (
        {"AZURE_POD_IDENTITY_AUTHORITY_HOST": url},
        {"IDENTITY_ENDPOINT": f"{url}/msi/token", "IDENTITY_HEADER": SERVERS["app-secret"]},
    ):
        os.environ.update(environment)
        for options in ({}, {"client_id": "client-3"}):
            credential = ManagedIdentityCredential(**options)
            token = credential.get_token(SCOPE)
            assert 3000 < token.expires_on - time.time() <= 3599, token.expires_on
            assert list(client(PrivateDnsManagementClient, "private", credential).private_zones.list())
        try:
            ManagedIdentityCredential(client_id="client-9", retry_total=0).get_token(SCOPE)
        except AuthenticationError as error:
            wanted = "No User Assigned" if "IDENTITY_HEADER" in environment else "Identity not found"
            assert wanted in str(error), error
        else:
            raise AssertionError("an identity that is unknown is refused")
        for name in environment:
            del os.environ[name]


CHECKS = [
    check_public_zones,
    check_public_sets,
    check_public_refusals,
    check_public_pages,
    check_private,
    check_slow_zones,
    check_rights,
    check_rates,
    check_faults,
    check_tokens,
    check_identities,
]
for check in CHECKS:
    check()
print(f"{len(CHECKS)} checks are done")
