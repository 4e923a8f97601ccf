#!/usr/bin/env python3
"""Holds the filter's JSON against its schema.

    scripts/check_json.py SCHEMA.md LOG < JSON

SCHEMA.md has the schema in a block marked ```schema. Each line of the input must
be an object of it; their texts must be the lines of LOG. Knows the keywords of
JSON Schema that the schema uses, and fails on others.
"""
import json
import re
import sys

IGNORED = {"$schema", "title", "$defs"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


class Schema:
    def __init__(self, root):
        self.root = root

    def faults(self, value, schema, where):
        for keyword, arg in schema.items():
            if keyword in IGNORED:
                continue
            check = getattr(self, "check_" + keyword.replace("$", ""), None)
            if not check:
                raise SystemExit("the schema uses %s, which is not known here" % keyword)
            yield from check(value, arg, schema, where)

    def check_type(self, value, arg, schema, where):
        if not isinstance(value, TYPES[arg]) or (arg == "integer" and isinstance(value, bool)):
            yield "%s: not of type %s" % (where, arg)

    def check_required(self, value, arg, schema, where):
        if isinstance(value, dict):
            for key in arg:
                if key not in value:
                    yield "%s: %s is missing" % (where, key)

    def check_properties(self, value, arg, schema, where):
        if isinstance(value, dict):
            for key in value.keys() & arg.keys():
                yield from self.faults(value[key], arg[key], where + "." + key)

    def check_additionalProperties(self, value, arg, schema, where):
        if isinstance(value, dict) and not arg:
            for key in value.keys() - schema.get("properties", {}).keys():
                yield "%s: unknown key %s" % (where, key)

    def check_items(self, value, arg, schema, where):
        if isinstance(value, list):
            for i, item in enumerate(value):
                yield from self.faults(item, arg, "%s[%d]" % (where, i))

    def check_minItems(self, value, arg, schema, where):
        if isinstance(value, list) and len(value) < arg:
            yield "%s: fewer than %d" % (where, arg)

    def check_minimum(self, value, arg, schema, where):
        if isinstance(value, int) and value < arg:
            yield "%s: below %d" % (where, arg)

    def check_pattern(self, value, arg, schema, where):
        if isinstance(value, str) and not re.search(arg, value):
            yield "%s: %r does not match %s" % (where, value, arg)

    def check_const(self, value, arg, schema, where):
        if value != arg:
            yield "%s: %r is not %r" % (where, value, arg)

    def check_enum(self, value, arg, schema, where):
        if value not in arg:
            yield "%s: %r is none of %s" % (where, value, arg)

    def check_oneOf(self, value, arg, schema, where):
        faults = [list(self.faults(value, s, where)) for s in arg]
        if sum(not f for f in faults) != 1:
            yield "%s: %d of the alternatives fit: %s" % (
                where, sum(not f for f in faults), min(faults, key=len))

    def check_ref(self, value, arg, schema, where):
        target = self.root
        for part in arg.lstrip("#/").split("/"):
            target = target[part]
        yield from self.faults(value, target, where)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        root = json.loads(re.search(r"```schema\n(.*?)```", f.read(), re.S).group(1))
    schema = Schema(root)
    with open(sys.argv[2], "rb") as f:
        log = f.read().decode(errors="replace").split("\n")
    if log[-1] == "":
        log.pop()
    bad = objects = elements = 0
    number, text = 0, ""
    for line in sys.stdin.buffer:
        value = json.loads(line)
        objects += 1
        elements += len(value.get("elements", []))
        for fault in schema.faults(value, root, "line %s" % value.get("line")):
            print(fault)
            bad += 1
        text += value["text"]
        if value.get("continued"):
            continue
        number += 1
        if value["line"] != number or text != log[number - 1].rstrip("\r"):
            print("line %d: it is not that of the log" % number)
            bad += 1
        text = ""
    if number != len(log):
        print("%d lines of %d" % (number, len(log)))
        bad += 1
    print("%d objects, %d elements, %d faults" % (objects, elements, bad))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
