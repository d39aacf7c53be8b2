"""Checks data against a JSON Schema: the part of the language that docs/report.schema.json uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
    "integer": int, "number": (int, float),
}  # fmt: skip
KNOWN = {
    "$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf",
    "required", "properties", "additionalProperties", "items", "minimum", "pattern",
}  # fmt: skip


def faults(data: Any, schema: Any, root: Any = None, where: str = "$") -> Iterator[str]:
    """What in the data is not as the schema says."""
    root = schema if root is None else root
    assert set(schema) <= KNOWN, f"{where}: this check does not know {set(schema) - KNOWN}"
    if "$ref" in schema:
        yield from faults(data, root["$defs"][schema["$ref"].rpartition("/")[2]], root, where)
    if "type" in schema and not _is(data, schema["type"]):
        yield f"{where}: {data!r} is no {schema['type']}"
        return
    if "const" in schema and data != schema["const"]:
        yield f"{where}: {data!r} is not {schema['const']!r}"
    if "enum" in schema and data not in schema["enum"]:
        yield f"{where}: {data!r} is none of {schema['enum']}"
    if "pattern" in schema and not re.search(schema["pattern"], data):
        yield f"{where}: {data!r} is not like {schema['pattern']}"
    if "minimum" in schema and data < schema["minimum"]:
        yield f"{where}: {data!r} is less than {schema['minimum']}"
    if "anyOf" in schema:
        ways = [list(faults(data, way, root, where)) for way in schema["anyOf"]]
        if all(ways):
            yield f"{where}: {' and '.join(way[0] for way in ways)}"
    if isinstance(data, dict):
        yield from _of_object(data, schema, root, where)
    if isinstance(data, list) and "items" in schema:
        for k, part in enumerate(data):
            yield from faults(part, schema["items"], root, f"{where}[{k}]")


def _of_object(data: dict, schema: Any, root: Any, where: str) -> Iterator[str]:
    named = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in data:
            yield f"{where}: has no {key!r}"
    for key, part in data.items():
        inner = named.get(key, schema.get("additionalProperties", {}))
        if inner is False:
            yield f"{where}: {key!r} is not foreseen"
        else:
            yield from faults(part, inner, root, f"{where}.{key}")


def _is(data: Any, kinds: str | list[str]) -> bool:
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(data, bool):  # which Python counts among the integers
        return "boolean" in kinds
    return any(isinstance(data, TYPES[kind]) for kind in kinds)
