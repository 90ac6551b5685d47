"""zonewright.toml (section 2). Whatever is wrong in it is fatal."""

import dataclasses
import datetime
import fractions
import ipaddress
import os
import tomllib

import dnsnames
import values


class ConfigError(Exception):
    """The administrator's file is bad: there is no plan."""


@dataclasses.dataclass
class Source:
    """One entry of [sources]: its name, its path patterns, and the keys that this version evaluates."""

    name: str
    patterns: list
    require_end: bool = False
    max_age: datetime.timedelta | None = None  # of the export; for sources of MACs: of a report
    any_age: bool = False  # `max_age = "none"`: not even the default age of an export holds
    penalty: datetime.timedelta = datetime.timedelta(0)  # only sources of MACs


@dataclasses.dataclass
class AdminProject:
    dns_domain: str
    also_domains: list
    allowed: bool

    @property
    def domains(self):
        return [self.dns_domain, *self.also_domains]


@dataclasses.dataclass
class ZoneConfig:
    name: str
    pool: str
    master_file: str | None  # None: its target is none that this program reads
    permission: str
    claim_all: bool
    ttl: int
    protect: list  # names and globs


@dataclasses.dataclass
class Config:
    owner: str
    registry: str
    free_domain: str | None
    name_cooldown: datetime.timedelta
    max_bad_rows: fractions.Fraction
    sources: dict  # name -> Source; without those of MACs
    mac_sources: list  # in order of preference
    projects: dict  # id -> AdminProject
    zones: dict  # name -> ZoneConfig


_TRUST_KEYS = {"max_age", "max_shrink", "max_churn", "min_rows", "require_end", "digest"}
_SOURCE_NAMES = ("projects", "hosts", "l3_tors", "net_layout", "ipv4_map")
_LIMIT_KEYS = {"hosts", "max_delete", "max_modify", "max_by_cause", "max_loss"}
_TARGET_KEYS = {"type", "server", "tsig_key", "dir", "read", "timeout", "window", "reload"}
_ZONE_KEYS = {"name", "network", "pool", "permission", "claim_addresses", "ttl", "fence", "protect"}
_TOP_KEYS = {
    "owner", "registry", "free_domain", "sources", "project", "pool", "zone", "limits",
    "name_cooldown", "max_bad_rows", "state", "plan", "delete_after",
}  # fmt: skip


def load(folder):
    """The Config of the workspace in `folder`; ConfigError where it is bad."""
    try:
        with open(os.path.join(folder, "zonewright.toml"), "rb") as stream:
            table = tomllib.loads(stream.read().decode("utf-8-sig"))
        return _config(table, folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(str(error)) from error


def _config(table, folder):
    _only(table, _TOP_KEYS, "zonewright.toml")
    _only(table.get("state", {}), {"url"}, "[state]")
    _only(table.get("plan", {}), {"expires"}, "[plan]")
    _only(table.get("limits", {}), _LIMIT_KEYS, "[limits]")
    sources = dict(table["sources"])
    mac_tables = sources.pop("mac", [])
    _only(sources, set(_SOURCE_NAMES), "[sources]")
    if "hosts" not in sources or "projects" not in sources:
        raise ValueError("[sources] needs hosts and projects")
    mac_sources = [_mac_source(entry) for entry in mac_tables]
    if len({source.name for source in mac_sources}) != len(mac_sources):
        raise ValueError("two [[sources.mac]] of one name")
    free_domain = table.get("free_domain")
    return Config(
        owner=_text(table["owner"]),
        registry=_choice(table.get("registry", "journal"), "journal", "txt", "noop"),
        free_domain=None if free_domain is None else dnsnames.host_name(free_domain),
        name_cooldown=values.duration(table.get("name_cooldown", "7d")),
        max_bad_rows=values.share(table.get("max_bad_rows", "1%")),
        sources={name: _source(name, entry) for name, entry in sources.items()},
        mac_sources=mac_sources,
        projects=_projects(table.get("project", {})),
        zones=_zones(table.get("zone", []), table.get("pool", {}), folder),
    )


def _only(table, allowed, where):
    unknown = set(table) - set(allowed)
    if unknown:
        raise ValueError(f"unknown keys in {where}: {sorted(unknown)}")


def _choice(value, *allowed):
    if value not in allowed:
        raise ValueError(f"{value!r} is none of {allowed}")
    return value


def _text(value):
    if not isinstance(value, str) or not value:
        raise ValueError(f"not a text: {value!r}")
    return value


def _ttl(value):
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError(f"not a TTL: {value!r}")
    return value


def _patterns(path):
    patterns = path if isinstance(path, list) else [path]
    if not patterns:
        raise ValueError("a source without a path")
    return [_text(pattern) for pattern in patterns]


def _boolean(value):
    if not isinstance(value, bool):
        raise ValueError(f"not a boolean: {value!r}")
    return value


def _source(name, entry):
    if not isinstance(entry, dict):
        return Source(name, _patterns(entry))
    _only(entry, {"path"} | _TRUST_KEYS, f"source {name}")
    return Source(
        name=name,
        patterns=_patterns(entry["path"]),
        require_end=_boolean(entry.get("require_end", False)),
        max_age=None if entry.get("max_age") == "none" else _max_age(entry),
        any_age=entry.get("max_age") == "none",
    )


def _max_age(entry):
    return values.duration(entry["max_age"]) if "max_age" in entry else None


def _mac_source(entry):
    _only(entry, {"name", "path", "penalty"} | _TRUST_KEYS, "[[sources.mac]]")
    return Source(
        name=_text(entry["name"]),
        patterns=_patterns(entry["path"]),
        require_end=_boolean(entry.get("require_end", False)),
        max_age=_max_age(entry),
        penalty=values.duration(entry.get("penalty", "0s")),
    )


def _projects(tables):
    projects = {}
    for project_id, table in tables.items():
        _only(table, {"dns_domain", "also_domains", "automation", "keep_edits"}, f"[project.{project_id}]")
        projects[project_id] = AdminProject(
            dns_domain=dnsnames.host_name(table["dns_domain"]),
            also_domains=[dnsnames.host_name(domain) for domain in table.get("also_domains", [])],
            allowed=_choice(table.get("automation", "forbidden"), "allowed", "forbidden") == "allowed",
        )
    domains = [project.dns_domain for project in projects.values()]
    if len(set(domains)) != len(domains):
        raise ValueError("two projects with one dns_domain")
    return projects


def _zone_name(table):
    if ("name" in table) == ("network" in table):
        raise ValueError("a zone has either a name or a network")
    if "name" in table:
        return dnsnames.host_name(table["name"])
    return dnsnames.reverse_zone_name(ipaddress.ip_network(table["network"]))


def _pool_folders(pools, folder):
    """For each pool the folder of its master files, or None for a target of another type."""
    folders = {}
    for name, pool in pools.items():
        _only(pool, {"target"}, f"[pool.{name}]")
        if len(pool["target"]) != 1:
            raise ValueError(f"pool {name}: exactly one target for now")
        target = pool["target"][0]
        _only(target, _TARGET_KEYS, f"target of pool {name}")
        is_folder = _choice(target["type"], "rfc2136", "zonefile") == "zonefile"
        folders[name] = os.path.join(folder, _text(target["dir"])) if is_folder else None
    return folders


def _zones(tables, pools, folder):
    folders = _pool_folders(pools, folder)
    zones = {}
    for table in tables:
        _only(table, _ZONE_KEYS, "[[zone]]")
        name = _zone_name(table)
        if name in zones:
            raise ValueError(f"zone {name} twice")
        _choice(table.get("fence", "none"), "marker", "none")
        pool_folder = folders[table["pool"]]
        zones[name] = ZoneConfig(
            name=name,
            pool=table["pool"],
            master_file=None if pool_folder is None else os.path.join(pool_folder, name + "zone"),
            permission=_choice(table.get("permission", "own"), "full", "own"),
            claim_all=_choice(table.get("claim_addresses", "hosts"), "hosts", "all") == "all",
            ttl=_ttl(table.get("ttl", 3600)),
            protect=[_text(pattern) for pattern in table.get("protect", [])],
        )
    return zones
