#!/usr/bin/env python3
"""Checks the traces that doom.sh recorded: doom_check.py OUTDIR TICS SOURCE

What must be so follows from the game's loop. D_DoomLoop runs one tic before it enters the loop; each D_RunFrame then
runs a tic and draws, or, while the screen melts from one picture into the next, draws a step of that and runs none. The
demo ends inside the last tic, after which tics are counted, with four scopes open.
"""
import csv
import json
import os
import sys
from collections import Counter, defaultdict

OPEN_AT_THE_END = ("D_RunFrame", "TryRunTics", "RunTic", "G_Ticker")
STAGES = ["setup", "clear", "bsp", "planes", "masked"]
CALLED_BY = {
    "TryRunTics": ("", "D_RunFrame"), "RunTic": ("TryRunTics",), "G_Ticker": ("RunTic",),
    "P_Ticker": ("G_Ticker",), "P_RunThinkers": ("P_Ticker",), "P_PlayerThink": ("P_Ticker",),
    "P_MobjThinker": ("P_RunThinkers",), "D_RunFrame": ("",), "D_Display": ("D_RunFrame",),
    "I_FinishUpdate": ("D_RunFrame",), "S_UpdateSounds": ("D_RunFrame",), "R_RenderPlayerView": ("D_Display",),
    "setup": ("R_RenderPlayerView",), "bsp": ("R_RenderPlayerView",), "planes": ("R_RenderPlayerView",),
    "masked": ("R_RenderPlayerView",), "R_StoreWallRange": ("bsp",), "R_DrawVisSprite": ("masked",),
    "R_DrawColumn": ("bsp", "planes", "masked", "R_StoreWallRange", "R_DrawVisSprite"), "R_DrawSpan": ("planes",),
    "OPL_Mix_Callback": ("",),
}
MELT = ("D_RunFrame", "I_FinishUpdate", "frame")  # how many steps a melt has is a matter of time

failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print(f"FAIL doom {what}")


class Facts:
    def __init__(self, path):
        self.trace, self.tracks, self.calls, self.truncated = {}, {}, defaultdict(Counter), defaultdict(Counter)
        self.inside, self.others, self.broken = defaultdict(Counter), Counter(), []
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                kind, *fields = line.rstrip("\n").split("\t")
                if kind == "trace":
                    self.trace[fields[0]] = fields[1]
                elif kind == "track":
                    self.tracks[fields[0]] = fields[3]
                elif kind == "scope":
                    self.calls[fields[0]][fields[7]] += int(fields[1])
                    self.truncated[fields[0]][fields[7]] += int(fields[2])
                elif kind == "inside":
                    self.inside[fields[3]][fields[2]] += int(fields[1])
                elif kind == "broken":
                    self.broken.append(line)
                else:
                    self.others[kind, fields[2]] += int(fields[1])
        self.game = next((track for track in self.calls if "D_RunFrame" in self.calls[track]), None)


def check_facts(facts, tics, name):
    check(not facts.broken, f"{name}: {len(facts.broken)} broken events, the first: {facts.broken[:1]}")
    for key in ("lost", "unmatched", "sites_lost", "overwritten"):
        check(facts.trace[key] == "0", f"{name}: {key} is {facts.trace[key]}")
    check(facts.trace["complete"] == "1", f"{name}: not complete")
    check(facts.game is not None, f"{name}: no track of the game")
    calls, truncated = facts.calls[facts.game], facts.truncated[facts.game]
    melt = calls["D_RunFrame"] - tics
    check(melt > 0, f"{name}: {calls['D_RunFrame']} frames for {tics} tics")
    expected = dict.fromkeys(("P_Ticker", "P_RunThinkers", "P_PlayerThink"), tics)
    expected.update(dict.fromkeys(("TryRunTics", "RunTic", "G_Ticker"), tics + 1))
    drawing = ("D_Display", "S_UpdateSounds", "R_RenderPlayerView", "ST_Drawer", *STAGES)
    expected.update(dict.fromkeys(drawing, tics - 1))
    expected.update({"G_DoLoadLevel": 1, "P_SetupLevel": 1, "I_FinishUpdate": tics - 2 + melt})
    for scope, count in expected.items():
        check(calls[scope] == count, f"{name}: {scope}: {calls[scope]} calls, not {count}")
    check(facts.others["frame", "frame"] == tics + melt, f"{name}: {facts.others['frame', 'frame']} frames")
    check(facts.others["counter", "visplanes"] == tics - 1, f"{name}: wrong number of samples of visplanes")
    check(sorted(scope for scope in truncated if truncated[scope]) == sorted(OPEN_AT_THE_END) and
          sum(truncated.values()) == len(OPEN_AT_THE_END), f"{name}: not only the last frame is cut: {truncated}")
    for scope, parents in CALLED_BY.items():
        check(set(facts.inside[scope]) <= set(parents), f"{name}: {scope} inside {set(facts.inside[scope])}")
    sound = [track for track in facts.calls if "OPL_Mix_Callback" in facts.calls[track]]
    check(len(sound) == 1 and sound[0] != facts.game, f"{name}: the mixer is not on a thread of its own")
    check(sound and facts.tracks[sound[0]].startswith("SDLAudio"), f"{name}: the mixer's thread has lost its name")


def same_calls(calls, facts, name):
    for scope, count in facts.calls[facts.game].items():
        if scope not in MELT:
            check(calls[scope] == count, f"{name}: {scope}: {calls[scope]} calls, not the {count} of doom.prof")


def check_stages(events):
    """Each view has its five stages, in order, end to end."""
    views = [e for e in events if e["name"] == "R_RenderPlayerView"]
    stages = [e for e in events if e["name"] in STAGES]
    check(len(stages) == 5 * len(views), "json: number of stages")
    for i, view in enumerate(views):
        five = stages[5 * i:5 * i + 5]
        if [e["name"] for e in five] != STAGES:
            check(False, f"json: stages {[e['name'] for e in five]}")
            return
        ends = [round(1000 * (e["ts"] + e["dur"])) for e in five]
        starts = [round(1000 * e["ts"]) for e in five]
        first, last = 1000 * view["ts"], 1000 * (view["ts"] + view["dur"])
        if starts[1:] != ends[:-1] or starts[0] < first - 1 or ends[4] > last + 1:
            check(False, f"json: the stages of view {i} do not follow one another")
            return


def check_nesting(events, name):
    """In the order of the file, each event lies inside those that are still open, to the nanosecond."""
    stack = []
    for event in events:
        start, end = round(1000 * event["ts"]), round(1000 * (event["ts"] + event["dur"]))
        while stack and stack[-1] <= start and (stack[-1] < end or stack[-1] == start):
            stack.pop()
        if stack and end > stack[-1]:
            check(False, f"json: {event['name']} at {event['ts']} us of {name} reaches out of its parent")
            return
        stack.append(end)


def check_lines(events, source):
    """File and line are those of the unchanged source: where the body of the function begins."""
    for place, name in {(event["loc"], event["name"]) for event in events if event["name"] not in STAGES}:
        path, line = place.rsplit(":", 1)
        with open(os.path.join(source, path), encoding="latin-1") as file:
            lines = file.read().split("\n")
        near = "\n".join(lines[max(0, int(line) - 9):int(line)])
        check("{" in lines[int(line) - 1] and name in near, f"json: {name} is not at {place}")


def check_json(path, facts, tics, source):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    check(trace["otherData"]["lost"] == 0 and trace["otherData"]["complete"], "json: losses, or not complete")
    threads = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" and event["name"] != "frame":
            threads[event["tid"]].append(event)
    game = next(events for events in threads.values() if any(e["name"] == "D_RunFrame" for e in events))
    same_calls(Counter(event["name"] for event in game), facts, "json")
    tics_seen = [event["args"]["gametic"] for event in game if event["name"] == "RunTic"]
    check(tics_seen == list(range(tics + 1)), "json: the arguments 'gametic' do not count the tics")
    check_stages(game)
    check_lines(game, source)
    for tid, events in threads.items():
        check_nesting(events, f"thread {tid}")
    marks = [event["name"] for event in trace["traceEvents"] if event["ph"] == "i"]
    check(marks == ["load E1M4"], f"json: marks {marks}")
    categories = {event["name"]: event["cat"] for event in game}
    check(categories["D_Display"] == "loop" and categories["P_Ticker"] == "game" and categories["bsp"] == "prof" and
          categories["R_DrawVisSprite"] == "render", "json: categories")
    return sum(map(len, threads.values()))


def check_csv(path, facts):
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        head = next(rows)
        name = head.index("name")
        calls = Counter(row[name] for row in rows)
    same_calls(calls, facts, "csv")
    return sum(calls.values())


def main():
    out, tics, source = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    facts, more = Facts(f"{out}/doom.facts"), Facts(f"{out}/doom.3.facts")
    check_facts(facts, tics, "prof")
    check_facts(more, tics, "level 3")
    check(not facts.calls[facts.game]["R_DrawColumn"] and more.calls[more.game]["R_DrawColumn"] > 100 * tics,
          "level 3 shows no columns, or level 2 does")
    scopes = check_json(f"{out}/doom.json", facts, tics, source)
    rows = check_csv(f"{out}/doom.csv", facts)
    with open(f"{out}/doom.txt", encoding="utf-8") as file:
        summary = file.read()
    check("nothing lost" in summary and "R_RenderPlayerView" in summary, "txt: not the summary that was expected")
    if not failures:
        print(f"ok doom prof: {facts.trace['events']} events, calls and nesting as {tics} tics make them, nothing lost")
        print(f"ok doom level 3: {more.trace['events']} events, nothing lost")
        print(f"ok doom json: {scopes} scopes with the same calls, arguments, stages, lines, nesting; csv: {rows} rows")
    sys.exit(failures != 0)


main()
