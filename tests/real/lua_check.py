#!/usr/bin/env python3
"""Checks the traces that lua.sh recorded: lua_check.py OUTDIR WORKDIR"""
import json
import os
import sys
from collections import Counter, defaultdict

failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print(f"FAIL lua {what}")


def read_symbols(path, module):
    """(value, file, name) of each function in readelf's list; file: a static one's source, the module of others."""
    file = module
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("Symbol table"):
                full = ".symtab" in line
            fields = line.split()
            if len(fields) < 7 or not fields[0].rstrip(":").isdigit() or not full:
                continue
            kind, binding, section = fields[3], fields[4], fields[6]
            if kind == "FILE":
                file = fields[7] if len(fields) > 7 else module
            elif kind in ("FUNC", "IFUNC") and section != "UND":
                yield int(fields[1], 16), file if binding == "LOCAL" else module, fields[7]


class Scope:
    def __init__(self, fields):
        self.calls, self.truncated, self.least, self.greatest = map(int, fields[1:5])
        self.file, self.function, self.name = fields[5:8]


def read_facts(path):
    trace, scopes, broken, inside = {}, [], [], defaultdict(Counter)
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            kind, *fields = line.rstrip("\n").split("\t")
            if kind == "trace":
                trace[fields[0]] = fields[1]
            elif kind == "scope":
                scopes.append(Scope(fields))
            elif kind == "inside":
                inside[fields[3]][fields[2]] += int(fields[1])
            elif kind == "broken":
                broken.append(line)
    return trace, scopes, broken, inside


def read_counts(out, work):
    names = {value: (file, name) for value, file, name in read_symbols(f"{work}/lua_count.symbols", "lua")}
    with open(f"{out}/lua.counts", encoding="ascii") as lines:
        return {names[int(address, 16)]: int(count) for address, count in map(str.split, lines)}


# The collector shrinks a coroutine's stack and its list of calls, and they then grow again: lstate.c and ldo.c.
COLLECTED = {"l_alloc", "luaE_extendCI", "luaE_freeCI", "luaE_shrinkCI", "freeCI", "luaD_growstack", "luaD_shrinkstack",
             "luaD_reallocstack", "correctstack", "relstack", "stackinuse"}


def check_calls(scopes, counted, work):
    """The same functions, called as often; but for those that look for a free place in a hash table of addresses, and
    those of the collector."""
    module = os.path.realpath(f"{work}/lua")
    with open(f"{work}/hashing.symbols", encoding="ascii") as lines:
        hashing = {line.split()[-1] for line in lines if line.strip()}
    recorded = {(os.path.basename(s.file) if s.file == module else s.file, s.name): s.calls for s in scopes}
    check(len(recorded) == len(scopes), "two call sites for one function")
    check(set(recorded) == set(counted), f"functions: {sorted(set(recorded) ^ set(counted))[:5]} on one side only")
    exact = 0
    for key in set(recorded) & set(counted):
        # A table of addresses may grow once more or less, and the collector then sees one more object.
        if key[1] in hashing or key[0] == "lgc.c" or key[1] in COLLECTED:
            check(abs(recorded[key] - counted[key]) <= 20 + counted[key] // 20,
                  f"{key}: {recorded[key]} calls, counted {counted[key]}")
        else:
            check(recorded[key] == counted[key], f"{key}: {recorded[key]} calls, counted {counted[key]}")
            exact += recorded[key] == counted[key]
    return exact


def check_symbols(scopes, work):
    symbols = {(file, name) for _, file, name in read_symbols(f"{work}/lua.symbols", os.path.realpath(f"{work}/lua"))}
    for scope in scopes:
        check((scope.file, scope.name) in symbols, f"{scope.name} of {scope.file} is no function of the program")
        check(scope.function == scope.name, f"{scope.name}: function is {scope.function}")
    static = sum(scope.file.endswith(".c") for scope in scopes)
    check(static > 200 and len(scopes) - static > 200, f"{static} static functions of {len(scopes)}")


def check_jumps(scopes, inside, said):
    """A longjmp closes what it leaves, and no more."""
    named = {scope.name: scope for scope in scopes}
    thrown = said["errors"] + said["yields"]
    throw, clock, run = named["luaD_throw"], named["os_clock"], named["luaD_rawrunprotected"]
    check(throw.calls == thrown, f"{throw.calls} calls of luaD_throw for {thrown} errors and yields")
    check(throw.truncated == thrown, f"{throw.truncated} calls of luaD_throw without an end")
    check(run.truncated == 0, f"{run.truncated} calls of luaD_rawrunprotected without an end")
    check(not inside["luaD_throw"]["luaD_throw"] and "luaD_throw" not in
          {parent for parents in inside.values() for parent in parents}, "something was called by luaD_throw")
    check(clock.calls == said["clocks"], f"{clock.calls} calls of os_clock, not {said['clocks']}")
    check(clock.least == clock.greatest, f"os_clock, called from one place: depths {clock.least} to {clock.greatest}")
    check(named["main"].calls == 1 and named["main"].truncated == 0 and named["main"].greatest == 0, "main")
    deepest = max(scope.greatest for scope in scopes)
    check(deepest > 700, f"no deeper than {deepest} calls")


def check_short(path, symbols):
    """With a least duration, what has nothing inside is not shorter, but for what cannot be taken back: a call that a
    longjmp left, and the last one that began in a page of the buffer, of which there is one for some 250 calls."""
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    check(trace["otherData"]["lost"] == 0 and trace["otherData"]["unmatched_ends"] == 0, "json: losses")
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    stack, short = [], 0
    for i, event in enumerate(events):
        start, end = round(1000 * event["ts"]), round(1000 * (event["ts"] + event["dur"]))
        while stack and stack[-1] <= start and (stack[-1] < end or stack[-1] == start):
            stack.pop()
        check(not stack or end <= stack[-1], f"json: {event['name']} reaches out of its parent")
        stack.append(end)
        leaf = i + 1 == len(events) or round(1000 * events[i + 1]["ts"]) >= end
        short += leaf and end - start < 1990 and event["name"] != "luaD_throw"
    check(short <= 2 + len(events) // 200, f"json: {short} calls shorter than 2 us")
    check({event["name"] for event in events} <= symbols, "json: unknown functions")
    check({"main", "luaV_execute", "auxsort"} <= {event["name"] for event in events}, "json: long calls are missing")
    return len(events)


def main():
    out, work = sys.argv[1:3]
    trace, scopes, broken, inside = read_facts(f"{out}/lua.facts")
    with open(f"{out}/lua.expected", encoding="ascii") as lines:
        said = {name: int(number) for name, number in map(str.split, lines)}
    for key in ("lost", "unmatched", "sites_lost"):
        check(trace[key] == "0", f"{key} is {trace[key]}")
    check(not broken, f"{len(broken)} broken events, the first: {broken[:1]}")
    check_symbols(scopes, work)
    counted = read_counts(out, work)
    exact = check_calls(scopes, counted, work)
    check_jumps(scopes, inside, said)
    kept = check_short(f"{out}/lua.json", {name for _, name in counted})

    other, stripped = read_facts(f"{out}/lua.other.facts")[1], read_facts(f"{out}/lua.stripped.facts")[1]
    calls = sorted(scope.calls for scope in scopes)
    check(all(scope.name.startswith("lua+0x") for scope in other), "names were taken from another build")
    named = {scope.name for scope in stripped if "+0x" not in scope.name}
    check("lua_pushvalue" in named and named < {scope.name for scope in scopes}, "names of a stripped program")
    for name, facts in ("another build", other), ("a stripped program", stripped):
        check(sorted(scope.calls for scope in facts) == calls, f"calls change with the symbols of {name}")
    if not failures:
        print(f"ok lua {trace['events']} calls of {len(scopes)} functions named and nested, nothing lost; "
              f"{exact} functions counted exactly, the others hash addresses")
        print(f"ok lua {said['errors']} errors and {said['yields']} yields leave by longjmp; "
              f"JSON of 2 us and more: {kept} calls")
    sys.exit(failures != 0)


main()
