#!/usr/bin/env python3
"""Holds plan_model.py against every case of plan.json. Exit status 1 on a difference. Standard library only."""
import json
import sys
from pathlib import Path

import plan_model as pm


def norm(value):
    """For the comparison: targets sorted, an owner that is missing is the same as ""."""
    if isinstance(value, dict) and "dns_name" in value:
        return {**value, "targets": sorted(value["targets"]), "owner": value["owner"] or "", "resource": value["resource"] or ""}
    if isinstance(value, dict):
        return {k: norm(v) for k, v in value.items()}
    if isinstance(value, list):
        return sorted((norm(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    return value


def load(records):
    return [pm.Endpoint.from_json(o) for o in records]


def main():
    data = json.loads((Path(__file__).parent / "plan.json").read_text())
    print(f"begin: plan.json, external-dns {data['origin']['tag']} {data['origin']['commit']}")
    bad = 0
    counts = {}

    def compare(kind, name, got, want):
        nonlocal bad
        counts[kind] = counts.get(kind, 0) + 1
        if norm(got) != norm(want):
            bad += 1
            print(f"  DIFFERENT {kind}: {name}\n    want {json.dumps(norm(want))}\n    got  {json.dumps(norm(got))}")

    shape = {tuple(sorted(c)) for c in data["cases"] + data["extra_cases"]}
    compare("shape", "all cases have the same fields", len(shape), 1)
    for kind in ("cases", "extra_cases"):
        for c in data[kind]:
            out = pm.calculate(c, load(c["current"]), load(c["desired"]))
            compare(kind, c["name"], pm.as_expected(out), c["expected"])
    for c in data["pick"]:
        cands = load(c["candidates"])
        current = c["current"] and pm.Endpoint.from_json(c["current"])
        got = pm.resolve_update(current, cands) if current else pm.resolve_create(cands)
        compare("pick", c["name"], got.to_json(), c["expected"])
    for c in data["types"]:
        records = {}
        cands = load(c["candidates"])
        for part, eps in (("current", load(c["current"])), ("candidates", cands)):
            for e in eps:
                slot = records.setdefault(e.RecordType, {"current": None, "candidates": []})
                if part == "current":
                    slot["current"] = e
                else:
                    slot["candidates"].append(e)
        got = pm.resolve_types({"candidates": cands, "records": records})
        compare("types", c["name"], {t: {"current": v["current"] and v["current"].to_json(),
                                         "candidates": [x.to_json() for x in v["candidates"]]} for t, v in got.items()},
                c["expected"])
    for kind, n in counts.items():
        print(f"  {kind}: {n} compared")
    print(f"end: {'PASS' if bad == 0 else f'FAIL, {bad} differences'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
