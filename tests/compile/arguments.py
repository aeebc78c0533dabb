"""Finds macros that give another one more arguments in __VA_ARGS__ than its last parameter takes: the preprocessor that
Microsoft's compiler has for C++ without /Zc:preprocessor takes all of them for one argument. PROF__AGAIN around the
call helps.

usage: python3 tests/compile/arguments.py HEADER..."""

import re
import sys


def parts(text):
    """The arguments of a call, from after its opening parenthesis."""
    depth, part, found = 0, "", []
    for c in text:
        if c == "," and not depth:
            found.append(part)
            part = ""
            continue
        if c == ")" and not depth:
            break
        depth += (c in "([{") - (c in ")]}") if c not in "[]{}" else 0
        part += c
    return found + [part]


failed, calls = 0, 0
for path in sys.argv[1:]:
    text = re.sub(r"\\\n", " ", open(path, encoding="utf-8").read())
    macros = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)[ \t]*(.*)$", text, re.M)
    named, last = {}, {} # how many parameters have a name; the last one takes the rest
    for name, parameters, _ in macros:
        last[name] = "..." in parameters
        named[name] = len([p for p in parameters.split(",") if p.strip()]) - last[name]
    for name, _, body in macros:
        for call in re.finditer(r"(PROF__AGAIN\()?\b(\w+)\(", body):
            given = [g.strip() for g in parts(body[call.end():])]
            if call.group(2) not in named or call.group(2) == "PROF__AGAIN" or "__VA_ARGS__" not in given:
                continue
            calls += 1
            before = given.index("__VA_ARGS__")
            takes = named[call.group(2)] - (not last[call.group(2)] and before + 1 == len(given))
            if takes > before and not call.group(1):
                print("%s: %s gives __VA_ARGS__ to %s, which has %d parameters" % (
                    path, name, call.group(2), named[call.group(2)]))
                failed += 1
if not calls:
    print("%s: no macro with __VA_ARGS__ was found" % " ".join(sys.argv[1:]))
sys.exit(bool(failed or not calls))
