"""projects/*.yaml (section 2): the owners' half of the projects."""

import dataclasses
import re

import values
import yamlsubset

_KEYS = {
    "id", "shortname_template", "vlan_scheme", "vlans", "fastbone_name", "hbf_project_id",
    "ttl", "automation", "policy", "limits",
}  # fmt: skip
_POLICIES = ("create-only", "upsert-only", "repair", "sync")


@dataclasses.dataclass
class Project:
    id: str
    main_vlan: int
    fastbone_vlan: int | None  # None: scheme static, there is no fastbone
    fastbone_name: str
    hbf_project_id: int | None  # None: EUI-64
    ttl: int | None
    automation: bool
    policy: str
    template: str = "{location}{bucket}-{index:04}"

    def fastbone_of(self, name):
        """The fastbone name of a backbone name, or None under scheme static."""
        if self.fastbone_vlan is None:
            return None
        short_name, domain = name.split(".", 1)
        return self.fastbone_name.replace("{shortname}", short_name) + "." + domain


def load(paths, registry):
    """(id -> Project for the good files, whether any file has an error).

    A bad file, or an id that two files claim, leaves its project out.
    """
    found = []
    is_faulty = False
    for path in paths:
        try:
            with open(path, "rb") as stream:
                document = yamlsubset.parse(stream.read().decode("utf-8-sig"))
        except (OSError, ValueError):
            is_faulty = True
            continue
        found.append(document)
    ids = [str(document.get("id")) for document in found]
    projects = {}
    for project_id, document in zip(ids, found):
        if ids.count(project_id) > 1:
            is_faulty = True
            continue
        try:
            projects[project_id] = _project(document, registry)
        except ValueError:
            is_faulty = True
    return projects, is_faulty


def _scalar(document, key, default=None):
    value = document.get(key)
    if value is None:
        return default
    if not isinstance(value, yamlsubset.Scalar) or not value:
        raise ValueError(f"{key} is no scalar")
    return value


def _plain(document, key, default=None):
    """A number or a boolean: a scalar without quotes."""
    value = _scalar(document, key, default)
    if isinstance(value, yamlsubset.Scalar) and value.quoted:
        raise ValueError(f"{key} is a text")
    return value


def _project(document, registry):
    if set(document) - _KEYS:
        raise ValueError("unknown keys")
    if _scalar(document, "id") is None:
        raise ValueError("no id")
    _check_template(_scalar(document, "shortname_template", "{location}{bucket}-{index:04}"))
    main_vlan, fastbone_vlan = _vlans(document)
    policy = _scalar(document, "policy", "repair")
    if policy not in _POLICIES or (policy == "sync" and registry == "noop"):
        raise ValueError(f"policy {policy}")
    automation = _plain(document, "automation", "false")
    if automation not in ("true", "false"):
        raise ValueError("automation is true or false")
    return Project(
        id=str(document["id"]),
        main_vlan=main_vlan,
        fastbone_vlan=fastbone_vlan,
        fastbone_name=_fastbone_template(document),
        hbf_project_id=_hbf_project_id(document),
        ttl=_ttl(document),
        automation=automation == "true",
        policy=str(policy),
        template=str(_scalar(document, "shortname_template", "{location}{bucket}-{index:04}")),
    )


def _vlans(document):
    scheme = _scalar(document, "vlan_scheme")
    vlans = document.get("vlans")
    if scheme not in ("search", "static") or not isinstance(vlans, dict):
        raise ValueError("vlan_scheme or vlans")
    if set(vlans) - {"main", "fastbone"}:
        raise ValueError("unknown keys in vlans")
    numbers = {key: values.vlan_number(_plain(vlans, key)) for key in vlans}
    if "main" not in numbers:
        raise ValueError("no main VLAN")
    if scheme == "static":
        return numbers["main"], None
    if numbers.get("fastbone") in (None, numbers["main"]):
        raise ValueError("scheme search needs a fastbone VLAN of its own")
    return numbers["main"], numbers["fastbone"]


def _check_template(template):
    """Section 5: {index} is required, {bucket} requires a width; other text is part of a label."""
    fields = re.findall(r"\{[^{}]*\}", template)
    index_fields = [field for field in fields if re.fullmatch(r"\{index(:0[1-9])?\}", field)]
    if set(fields) - set(index_fields) - {"{location}", "{bucket}"} or len(index_fields) != 1:
        raise ValueError("shortname_template: unknown fields, or not one {index}")
    if "{bucket}" in fields and index_fields == ["{index}"]:
        raise ValueError("shortname_template: {bucket} requires a width")
    if not re.fullmatch(r"[A-Za-z0-9_-]*", re.sub(r"\{[^{}]*\}", "", template)):
        raise ValueError("shortname_template: not part of a label")


def _fastbone_template(document):
    template = _scalar(document, "fastbone_name", "fb-{shortname}")
    if not re.fullmatch(r"[A-Za-z0-9_-]*\{shortname\}[A-Za-z0-9_-]*", template):
        raise ValueError("fastbone_name")
    return template.replace("{shortname}", "\0").lower().replace("\0", "{shortname}")


def _hbf_project_id(document):
    text = _scalar(document, "hbf_project_id")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9A-Fa-f]{1,8}", text):
        raise ValueError("hbf_project_id")
    return int(text, 16)


def _ttl(document):
    text = _plain(document, "ttl")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]+", text) or int(text) >= 2**31:
        raise ValueError("ttl")
    return int(text)
