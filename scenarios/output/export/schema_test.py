"""Validates result documents against result.schema.json, and checks that broken ones fail.

Usage: schema_test.py SCHEMA DOCUMENT...
"""
import copy
import json
import sys

import jsonschema

SUFFIXES = {"_us": "us", "_ns": "ns", "_mops": "million/s", "_frac": "1", "_bytes": "bytes", "_hz": "Hz", "_per_ns": "1/ns"}


def contradictions(schema, key=""):
    """Yields the numbers of the schema whose unit is missing, or another one than their key ends in."""
    suffix = max(filter(key.endswith, SUFFIXES), key=len, default=None)
    if suffix and "number" in schema.get("type", ()) and schema.get("unit") != SUFFIXES[suffix]:
        yield key
    for name, member in schema.get("properties", {}).items():
        yield from contradictions(member, name)
    for inner in [schema.get("items"), *schema.get("$defs", {}).values()]:
        yield from contradictions(inner) if inner else ()


def broken(document):
    """Yields copies of a document with one fault each."""
    for key, value in {"schema": "kvcast.none/1", "colour": 1, "version": 3, "seed": "one"}.items():
        if key in document or key == "colour":
            yield {**copy.deepcopy(document), key: value}
    for key in {"throughput_mops", "latency_us", "capacity_mops", "best"} & set(document):
        yield {**document, key: {**document[key], "colour": 1}}
    for key in document:
        yield {name: copy.deepcopy(value) for name, value in document.items() if name != key}


with open(sys.argv[1]) as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
failures = ["%s: no unit, or not the one of its key" % key for key in contradictions(schema)]
seen = set()
for path in sys.argv[2:]:
    with open(path) as file:
        document = json.load(file)
    failures += ["%s: %s: %.200s" % (path, error.json_path, error.message) for error in validator.iter_errors(document)]
    optional = {"slo", "worst_window", "clocks", "accuracy", "sensitivity", "cluster", "partial", "tenants", "twin", "pipeline",
                "twin_miss_frac_off_max", "twin_off_max_at_bytes"}
    for fault in broken(document) if document["schema"] not in seen else ():
        missing = set(document) - set(fault)
        if validator.is_valid(fault) and not missing & optional:
            failures.append("%s: a broken document passes: %s" % (path, missing or "another value"))
    seen.add(document["schema"])
unseen = set(schema["properties"]["schema"]["enum"]) - seen
failures += ["no document of %s was checked" % name for name in sorted(unseen)]
print("\n".join(failures))
sys.exit(1 if failures else 0)
