"""What a scope costs in Python: scopes.py NAME, for run.sh, with the lines of loop.h.

The floor is two time.perf_counter_ns(). A scope is a call of a function, which tools for Python trace, or a with
statement; the call itself is part of the work alone."""
import os
import sys
import time

BATCHES = 4 if os.environ.get("QUICK") else 48
TABLE = list(range(4096))


def work(passes):
    a = passes
    for i in range(passes):
        a = (a ^ a >> 7) + TABLE[i]


def alone(passes, calls):
    for _ in range(calls):
        work(passes)


def clock(passes, calls):
    for _ in range(calls):
        time.perf_counter_ns()
        work(passes)
        time.perf_counter_ns()


def scope(passes, calls):
    for _ in range(calls):
        with prof.scope("scope"):
            work(passes)


def timed(function, passes, calls):
    start = time.thread_time_ns()
    function(passes, calls)
    return (time.thread_time_ns() - start) / calls


def quartile(values):
    return sorted(values)[len(values) // 4]


name, traced = sys.argv[1], alone
if name.startswith("prof"):
    import prof_python as prof
    if name == "prof-scope":
        traced = scope
        on, off = prof.start, prof.stop
    else:
        on, off = (lambda: (prof.start(), prof.functions(True))), (lambda: (prof.functions(False), prof.stop()))
elif name == "viztracer":
    import viztracer
    tracer = viztracer.VizTracer(tracer_entries=1000000, verbose=0)
    on, off = tracer.start, tracer.stop
else:
    import cProfile
    profile = cProfile.Profile()
    on, off = profile.enable, profile.disable

each = quartile([timed(alone, 300, 20) - timed(alone, 100, 20) for _ in range(BATCHES)]) / 200
for ns in (0, 1000):
    passes, calls = round(ns / each), 300
    samples = []
    for _ in range(BATCHES):
        row = [timed(alone, passes, calls), 0, timed(clock, passes, calls)]
        on()
        timed(traced, passes, 20)
        row[1] = timed(traced, passes, calls)
        off()
        samples.append(row)
    empty, cost, floor = (quartile([row[i] for row in samples]) for i in range(3))
    print(1, ns, "%.2f %.2f %.2f %.2f" % (empty, cost - empty, floor - empty, floor - empty))
