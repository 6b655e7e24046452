# SPDX-License-Identifier: GPL-2.0-or-later
"""json_schema.py SCHEMA FILE...: whether each line of the files is JSON that the schema describes. Knows the words that
chainwalk's schemas have, and refuses a schema with others. Prints each property that no line had with a value."""
import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
         "null": type(None)}
KNOWN = {"$schema", "$defs", "$ref", "title", "description", "type", "enum", "const", "required", "properties",
         "additionalProperties", "items", "maxItems", "minimum", "maximum", "oneOf"}


def is_of(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def check(value, schema, root, path, seen):
    """Raises ValueError; notes in seen the properties that have a value."""
    if not KNOWN >= set(schema):
        raise ValueError(f"the schema has unknown words: {set(schema) - KNOWN}")
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        check(value, target, root, path, seen)
    if "oneOf" in schema:
        check_one_of(value, schema["oneOf"], root, path, seen)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of(value, name) for name in names):
        raise ValueError(f"{path}: {value!r} is no {' or '.join(names)}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{path}: {value!r} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        raise ValueError(f"{path}: {value!r} is not {schema['const']!r}")
    if value is not None and ("minimum" in schema and value < schema["minimum"]
                              or "maximum" in schema and value > schema["maximum"]):
        raise ValueError(f"{path}: {value!r} is out of range")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                raise ValueError(f"{path}: there is no {key}")
        for key, member in value.items():
            if key in properties:
                if member not in (None, []):
                    seen.add(id(properties[key]))
                check(member, properties[key], root, f"{path}.{key}", seen)
            elif schema.get("additionalProperties") is False:
                raise ValueError(f"{path}: {key} is not in the schema")
    if isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            raise ValueError(f"{path}: {len(value)} are too many")
        for i, item in enumerate(value):
            check(item, schema.get("items", {}), root, f"{path}[{i}]", seen)


def check_one_of(value, schemas, root, path, seen):
    fitting, why = [], []
    for one in schemas:
        noted = set()
        try:
            check(value, one, root, path, noted)
            fitting.append(noted)
        except ValueError as error:
            why.append(str(error))
    if len(fitting) != 1:
        raise ValueError("; ".join(why) or f"{path}: several of the schemas fit")
    seen |= fitting[0]


def properties_of(schema, path=""):
    if isinstance(schema, dict):
        for key, member in schema.get("properties", {}).items():
            yield f"{path}.{key}", member
        for key, member in schema.items():
            yield from properties_of(member, path if key in ("properties", "items", "$defs") else f"{path}.{key}")


root = json.load(open(sys.argv[1], encoding="utf-8"))
seen, lines = set(), 0
for name in sys.argv[2:]:
    for line in open(name, encoding="utf-8"):
        try:
            check(json.loads(line), root, root, "$", seen)
        except ValueError as error:
            sys.exit(f"{name}: {error}")
        lines += 1
if not lines:
    sys.exit("there are no lines")
for path, member in properties_of(root):
    if id(member) not in seen:
        print(path)
