"""Starts XProf on the log directory that run.sh made, asks its HTTP API for the trace viewer, the overview page, the memory
profile and the framework stats, and compares each with the recordings' CSV. Prints ok, FAIL and SKIP lines."""
import csv, gzip, json, os, re, signal, socket, subprocess, sys, time, urllib.parse, urllib.request

work, node_modules = sys.argv[1:3]
out = os.path.join(work, "out")
counts = {"ok": 0, "FAIL": 0, "SKIP": 0}


def say(kind, text):
    counts[kind] += 1
    print(kind if kind != "ok" else "ok  ", text, flush=True)


held = []


def free_port():
    """Nobody else gets it: this holds it, but lets who binds it by its number, as servers do."""
    held.append(socket.socket())
    held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held[-1].bind(("127.0.0.1", 0))
    return held[-1].getsockname()[1]


def get(route, **query):
    url = "%s/data/plugin/profile/%s?%s" % (server, route, urllib.parse.urlencode(query))
    with urllib.request.urlopen(url, timeout=120) as answer:
        data = answer.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def tool(tag, host, run="both", **query):
    return json.loads(get("data", run=run, tag=tag, host=host, **query))


def read_csv(name):
    path = os.path.join(out, name + ".csv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["name"] = row["name"] or "(unnamed)"
        row["start"], row["duration"] = int(row["start_ns"]), int(row["duration_ns"])
    return rows


def table(answer, column):
    """The table of a tool's answer that has this column, as a list of dictionaries."""
    for each in answer:
        ids = [c["id"] for c in each.get("cols", [])]
        if column in ids:
            return [dict(zip(ids, [c.get("v") if c else None for c in row["c"]])) for row in each["rows"]]
    return []


def events_of(viewer, phase, process):
    pids = {e["pid"]: e["args"]["name"] for e in viewer["traceEvents"] if e["name"] == "process_name"}
    return [e for e in viewer["traceEvents"] if e["ph"] == phase and pids[e["pid"]].endswith(process)]


def ns(microseconds):
    return round(microseconds * 1000)


def same(what, got, wanted):
    if got == wanted:
        return True
    detail = [(g, w) for g, w in zip(got, wanted) if g != w] if isinstance(got, list) else [(got, wanted)]
    say("FAIL", "%s: %d instead of %d; %s" % (what, len(got), len(wanted), detail[:2])
        if isinstance(got, list) else "%s: %r instead of %r" % (what, got, wanted))
    return False


# -- what each tool should say


def check_listing():
    runs = json.loads(get("runs"))
    hosts = [h["hostname"] for h in json.loads(get("hosts", run="both", tag="trace_viewer@"))]
    tools = json.loads(get("run_tools", run="both"))
    wanted = {"trace_viewer@", "overview_page", "memory_profile", "framework_op_stats", "input_pipeline_analyzer"}
    names = ["both", "capture0", "capture1", "full", "gpu", "open", "plain", "ring", "states"]
    if same("runs", sorted(runs), names) and same("hosts", sorted(hosts), ["node.0", "node.1"]):
        if same("tools", sorted(wanted - set(tools)), []):
            say("ok", "the run has two hosts and the tools of a program without devices")


def thread_rows(rows):
    for row in rows:
        shown = row["type"] in ("scope", "mark", "log")
        if not shown or row["category"] == "npu 0":
            continue
        name = row["name"]
        if row["type"] == "log":
            name = row["value"]
        if row["name"] == "train":
            name = "train " + row["args"].split("=")[1].split(";")[0]
        yield int(row["thread_id"]), name, row["start"], row["duration"] if row["type"] == "scope" else 0


def check_threads(rank, viewer, rows):
    got = [(e["tid"], e["name"], ns(e["ts"]), ns(e["dur"])) for e in events_of(viewer, "X", "/host:CPU")]
    wanted = list(thread_rows(rows))
    shift = min(g[2] for g in got) - min(w[2] for w in wanted)
    wanted = [(tid, name, start + shift, duration) for tid, name, start, duration in wanted]
    if same("rank %d: events of threads" % rank, sorted(got), sorted(wanted)):
        say("ok", "rank %d: trace viewer: %d events of threads, each with name, thread, start and duration" % (rank, len(got)))
    names = {e["args"]["name"] for e in viewer["traceEvents"] if e["name"] == "thread_name" and "CPU" in
             next(p["args"]["name"] for p in viewer["traceEvents"] if p["name"] == "process_name" and p["pid"] == e["pid"])}
    if same("rank %d: threads" % rank, sorted(names), ['loader "1"', "main (record)"]):
        say("ok", "rank %d: trace viewer: names of threads, and of the program" % rank)
    return shift


def check_counters(rank, viewer, rows, shift):
    got = sorted((e["name"], ns(entry[0]), entry[1]) for e in events_of(viewer, "C", "/host:CPU") for entry in e["entries"]
                 if not e["name"].startswith("memory"))
    wanted = sorted((r["name"].replace('"', "'"), r["start"] + shift, float(r["value"])) for r in rows
                    if r["type"] == "counter" and r["category"] != "npu 0")
    if same("rank %d: counters" % rank, got, wanted):
        say("ok", "rank %d: trace viewer: %d samples of counters" % (rank, len(got)))


def check_flows(rank, viewer, rows):
    """Steps go to the loader's thread: the last FLOW_OUT of an id before each FLOW_IN."""
    out_of, into = {}, {}
    for e in events_of(viewer, "X", "/host:CPU") + events_of(viewer, "X", "/device:CUSTOM:npu 0"):
        if "bind_id" in e:
            (out_of if e.get("flow_out") else into).setdefault(e["bind_id"], []).append(e)
    loads = [e for e in events_of(viewer, "X", "/host:CPU") if e["name"] == "load"]
    good = all(len(v) == 1 for v in out_of.values()) and all(b in out_of for b in into) and len(out_of) == 13
    good = good and len(loads) == 12 and all("bind_id" in e for e in loads)
    groups = [e["args"].get("group_id") for e in sorted(loads, key=lambda e: e["ts"])]
    if same("rank %d: flows" % rank, good, True) and same("rank %d: steps of loads" % rank, groups, [8, 9, 10, 11] * 3):
        say("ok", "rank %d: trace viewer: 13 flows that begin, 13 ends; the steps they lead from reach the other thread" % rank)


def check_device(rank, viewer, rows, shift):
    got = [(e["name"], ns(e["ts"]), ns(e["dur"])) for e in events_of(viewer, "X", "/device:CUSTOM:npu 0")]
    wanted = [(r["name"], r["start"] + shift, r["duration"]) for r in rows if r["type"] == "scope" and r["category"] == "npu 0"]
    busy = [entry[1] for e in events_of(viewer, "C", "/device:CUSTOM:npu 0") for entry in e["entries"]]
    if same("rank %d: device" % rank, sorted(got), sorted(wanted)) and same("rank %d: busy" % rank, busy, [0, 1, 2, 3, 4]):
        say("ok", "rank %d: trace viewer: %d events of the device, and its counter" % (rank, len(got)))


def check_frames_and_spans(rank, viewer, rows, shift):
    got = [(ns(e["ts"]), ns(e["dur"])) for e in events_of(viewer, "X", "/device:CUSTOM:frames")]
    wanted = [(r["start"] - r["duration"] + shift, r["duration"]) for r in rows if r["type"] == "frame" and r["duration"]]
    if same("rank %d: frames" % rank, sorted(got), sorted(wanted)):
        say("ok", "rank %d: trace viewer: %d frames" % (rank, len(got)))
    begins = {e["id"]: ns(e["ts"]) for e in events_of(viewer, "b", "/device:CUSTOM:spans")}
    ends = {e["id"]: ns(e["ts"]) for e in events_of(viewer, "e", "/device:CUSTOM:spans")}
    got = sorted((begins[i], ends.get(i)) for i in begins)
    starts = sorted(r["start"] + shift for r in rows if r["type"] == "span_begin")
    stops = sorted(r["start"] + shift for r in rows if r["type"] == "span_end")
    locks = len(events_of(viewer, "b", "/device:CUSTOM:locks"))
    if same("rank %d: spans" % rank, got, list(zip(starts, stops))):
        if same("rank %d: locks" % rank, locks, sum(r["type"] == "lock_acquire" for r in rows)):
            say("ok", "rank %d: trace viewer: %d spans that overlap, %d holds of a lock" % (rank, len(got), locks))


def check_arguments(host, viewer):
    event = next(e for e in viewer["traceEvents"] if e["name"] == "arguments" and e["ph"] == "X")
    answer = tool("trace_viewer@", host, event_name="arguments", start_time_ms=event["ts"] / 1000,
                  duration_ms=event["dur"] / 1000, unique_id=event["args"]["uid"])
    args = next(e for e in answer["traceEvents"] if e["name"] == "arguments")["args"]
    wanted = {"least": "-9223372036854775808", "most": "18446744073709551615", "double": 0.1, "bool": 1,
              "text": 'a "quoted"\nline, k=v#', "pointer": "0x1234", "arg.group_id": 99, "arg.flow": 99,
              "arg.step_name": "nonsense", "arg._r": 1, "category": "nn", "group_id": 0}
    if same("arguments", {k: args.get(k) for k in wanted}, wanted):
        say("ok", "trace viewer: arguments of all types, those with XProf's own keys included, and the category")


def check_overview(host, rows):
    answer = tool("overview_page", host)
    got = {r["stepnum"]: round(r["stepTimeMs"] * 1e6) for r in table(answer, "stepnum")}
    steps = {"train " + r["args"].split("=")[1]: r["duration"] for r in rows if r["name"] == "train"}
    wanted = {name: steps[name] for name in got if name in steps}
    average = next(each["p"]["steptime_ms_average"] for each in answer if "steptime_ms_average" in each.get("p", {}))
    if same("step times", got, wanted) and same("number of steps", len(got) >= 10, True):
        say("ok", "overview page: the times of %d steps to the nanosecond, on average %s ms" % (len(got), average))
    answer = tool("input_pipeline_analyzer", host)
    if same("input pipeline", len(table(answer, "stepnum")) >= 10, True):
        say("ok", "input pipeline analyzer: the steps")


def check_memory(host, rows):
    answer = tool("memory_profile", host)["memoryProfilePerAllocator"]
    if not same("allocators", sorted(answer), ["cpu"]):
        return
    shots = answer["cpu"]["sampledTimelineSnapshots"]
    got = sorted(((int(s["timeOffsetPs"]) // 1000, int(s["aggregationStats"]["heapAllocatedBytes"]),
                  s["activityMetadata"]["memoryActivity"], int(s["activityMetadata"]["requestedBytes"]),
                  s["activityMetadata"]["tfOpName"]) for s in shots), key=lambda shot: shot[0])
    wanted, live, sizes = [], 0, {}
    events = [r for r in rows if r["type"] in ("alloc", "free")]
    for row, number in zip(events, range(len(events))):
        size = 1000 + number % 12 # what record.c does
        live += size if row["type"] == "alloc" else -size
        wanted.append((row["start"], live, "ALLOCATION" if row["type"] == "alloc" else "DEALLOCATION", size, "layer"))
    summary = answer["cpu"]["profileSummary"]
    if same("snapshots", got, wanted):
        if same("peak", int(summary["peakBytesUsageLifetime"]), max(w[1] for w in wanted)):
            say("ok", "memory profile: %d allocations and frees, the live bytes after each, the peak, the scope" % len(got))


def check_framework(host, rows):
    answer = tool("framework_op_stats", host)
    got = {(r["operation"], r["type"]): r for r in table(answer, "total_self_time") if r["type"] != "IDLE"}
    wanted, open_scopes = {}, {}
    for row in rows:
        if row["type"] != "scope" or row["category"] == "npu 0" or row["name"] == "train":
            continue
        name = re.sub(":+", "/", row["name"])
        if re.match("train|Iterator", name):
            name = "./" + name
        entry = wanted.setdefault((name, row["category"] or "scope"), {"occurrences": 0, "total_time": 0, "total_self_time": 0})
        entry["occurrences"] += 1
        entry["total_time"] += row["duration"]
        entry["total_self_time"] += row["duration"]
        stack = open_scopes.setdefault(row["track_id"], [])
        while stack and stack[-1][0] <= row["start"] and stack[-1][0] < row["start"] + max(row["duration"], 1):
            stack.pop()
        if stack:
            stack[-1][1]["total_self_time"] -= row["duration"]
        stack.append((row["start"] + row["duration"], entry))
    figures = {key: {"occurrences": int(r["occurrences"]), "total_time": ns(r["total_time"]),
                     "total_self_time": ns(r["total_self_time"])} for key, r in got.items()}
    if same("framework stats", sorted(figures.items()), sorted(wanted.items())):
        say("ok", "framework op stats: %d scopes with calls, total and self time to the nanosecond" % len(wanted))


def check_planes(viewer):
    """From top to bottom."""
    names = {e["pid"]: e["args"]["name"] for e in viewer["traceEvents"] if e["name"] == "process_name"}
    places = {e["pid"]: e["args"]["sort_index"] for e in viewer["traceEvents"] if e["name"] == "process_sort_index"}
    order = [names[pid].split(" ", 1)[1] for pid in sorted(places, key=places.get)]
    if same("planes", order, ["/host:CPU"] + ["/device:CUSTOM:" + n for n in ("npu 0", "spans", "frames", "locks")]):
        say("ok", "trace viewer: the program's threads are on top")


def check_accelerator():
    host = json.loads(get("hosts", run="gpu", tag="trace_viewer@"))[0]["hostname"]
    rows = read_csv("gpu")
    answer = table(tool("framework_op_stats", host, run="gpu"), "total_self_time")
    got = {(r["host_or_device"], r["operation"], r["type"]): (int(r["occurrences"]), ns(r["total_time"]))
           for r in answer if r["type"] != "IDLE"}
    wanted = {}
    for row in rows:
        if row["type"] != "scope" or row["name"] == "train":
            continue
        work = row["category"] == "gpu 0"
        key = (("Device", row["name"], "copy" if row["name"].startswith("MEMCPY") else "compute") if work else
               ("Host", "job %d" if row["name"].startswith("job ") else row["name"], "scope"))
        calls, time = wanted.get(key, (0, 0))
        wanted[key] = calls + 1, time + row["duration"]
    if same("ops of an accelerator", sorted(got.items()), sorted(wanted.items())) and same("ops", len(got), 5):
        say("ok", "framework op stats: the accelerator's work, with calls and time; 60 names that a format made are one op")
    answer = tool("kernel_stats", host, run="gpu")
    answer = table(answer if isinstance(answer, list) else [answer], "kernel_name")
    kernels = {r["kernel_name"]: int(r["occurrences"]) for r in answer}
    if same("kernels", kernels, {"matmul": 12, "relu": 12, "MEMCPYHtoD": 12}):
        say("ok", "kernel stats: the accelerator's work")
    answer = tool("overview_page", host, run="gpu")
    steps = {int(r["stepnum"]): r for r in table(answer, "stepnum")}
    durations = [r["duration"] for r in rows if r["name"] == "train"]
    times = {number: ns(1000 * r["stepTimeMs"]) for number, r in steps.items()}
    if same("steps", times, {number: durations[number] for number in steps}) and same("many", len(steps) >= 10, True):
        say("ok", "overview page: the times of %d steps of a program with an accelerator" % len(steps))
    busy = all(abs(ns(1000 * r["deviceComputeTimeMs"]) - 90000) < 3000 for r in steps.values()) # a clock of 1 MHz rounds
    shown = next(each["p"]["device_type"] for each in answer if "device_type" in each.get("p", {}))
    if same("device compute", busy, True) and same("device type", shown, "GPU"):
        say("ok", "overview page: in each of them the device's compute time, with a flow and without")
    answer = tool("memory_profile", host, run="gpu")["memoryProfilePerAllocator"]
    shots = [(int(s["aggregationStats"]["heapAllocatedBytes"]), int(s["aggregationStats"]["freeMemoryBytes"]))
             for s in answer.get("gpu 0", {}).get("sampledTimelineSnapshots", [])]
    if same("memory of an accelerator", shots, [(1000, 4000), (2000, 3000), (3000, 2000), (2000, 3000)]):
        say("ok", "memory profile: the accelerator's allocations, and what is left of its memory")


def check_warnings():
    """JAX's captures of these kinds have no warning but that there are no steps; losses are prof's own."""
    no_steps = "No step marker observed"
    older = r"Detected events dropped on node: [\d,]+ older chunks overwritten in the ring: enlarge PROF_BUFFER to \dM"
    full = r"Detected events dropped on node: [\d,]+ events lost in a full buffer: enlarge PROF_BUFFER to \dM"
    kinds = {"both": [], "gpu": [], "open": [], "capture0": [], "plain": [no_steps], "ring": [older], "states": [no_steps], "capture1": [older],
             "full": [full]}
    good = True
    for run, wanted in kinds.items():
        for host in json.loads(get("hosts", run=run, tag="overview_page")):
            rows = table(tool("overview_page", host["hostname"], run=run), "severity")
            got = [r["severity"] + " " + r["message"] for r in rows]
            if len(got) != len(wanted) or not all(re.match("WARNING " + w, g) for w, g in zip(wanted, got)):
                good = same("warnings of the run " + run, got, wanted)
    if good:
        say("ok", "overview page: %d runs have no warning but of losses, and that there are no steps" % len(kinds))


def check_states():
    """Beside the line of each thread is one of what the system did with it: see tests/states_images.c."""
    host = json.loads(get("hosts", run="states", tag="trace_viewer@"))[0]["hostname"]
    viewer = tool("trace_viewer@", host, run="states", resolution=1000000, full_dma="true")
    lines = {e["args"]["name"]: e["tid"] for e in viewer["traceEvents"] if e["name"] == "thread_name"}
    order = {e["tid"]: e["args"]["sort_index"] for e in viewer["traceEvents"] if e["name"] == "thread_sort_index"}
    got = [(e["name"], ns(e["ts"]), ns(e["dur"])) for e in events_of(viewer, "X", "/host:CPU") if e["tid"] == lines["state of main"]]
    us = [("running", 5, 95), ("waiting", 100, 50), ("running", 150, 100), ("ready", 250, 50), ("running", 300, 100),
          ("waiting", 400, 100), ("running", 500, 20)]
    wanted = [(name, at * 1000, long * 1000) for name, at, long in us]
    wanted += [(name, 520000 + 200 * i + at, 100) for i in range(100) for name, at in (("ready", 0), ("running", 100))]
    wanted[-1] = ("running", 539900, 20100)
    wanted += [("not running", 560000, 20000), ("running", 580000, 20000)]
    if same("lines of states", sorted(lines, key=lambda name: order[lines[name]]), ["main", "state of main", "worker", "state of worker"]) and \
            same("states", sorted(got, key=lambda e: e[1]), wanted):
        say("ok", "trace viewer: what the system did with a thread, in a line below it")


def check_picture():
    picture = os.path.join(work, "trace_viewer.png")
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    if not os.path.isdir(os.path.join(node_modules, "playwright-core")) or not os.path.exists(chromium):
        say("SKIP", "picture of the trace viewer: node, playwright-core or chromium is missing")
        return
    if os.path.exists(picture):
        os.remove(picture)
    done = subprocess.run(["node", "tests/xprof/picture.mjs", os.path.abspath(node_modules), server, picture],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    text = done.stdout.decode(errors="replace").strip()
    if done.returncode:
        say("FAIL", "picture of the trace viewer: " + text[-1500:])
    else:
        say("ok", "picture of the trace viewer: %s; %s" % (picture, text))


def check_all():
    check_listing()
    for rank in range(2):
        host, rows = "node.%d" % rank, read_csv("rank%d" % rank)
        viewer = tool("trace_viewer@", host, resolution=1000000, full_dma="true")
        shift = check_threads(rank, viewer, rows)
        check_counters(rank, viewer, rows, shift)
        check_flows(rank, viewer, rows)
        check_device(rank, viewer, rows, shift)
        check_frames_and_spans(rank, viewer, rows, shift)
        if not rank:
            check_arguments(host, viewer)
            check_planes(viewer)
            check_overview(host, rows)
            check_memory(host, rows)
            check_framework(host, rows)
    check_accelerator()
    check_states()
    check_warnings()
    check_picture()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1)) # so that the server does not outlive this
port = free_port()
server = "http://127.0.0.1:%d" % port
log = open(os.path.join(work, "server.log"), "wb")
xprof = subprocess.Popen([os.path.join(work, "venv/bin/xprof"), "--logdir", os.path.join(out, "logs"), "--port", str(port),
                          "--grpc_port", str(free_port())], stdout=log, stderr=subprocess.STDOUT)
try:
    for _ in range(240):
        try:
            get("runs")
            break
        except OSError:
            if xprof.poll() is not None:
                break
            time.sleep(0.5)
    check_all()
except Exception as error: # one check that breaks must not hide the others' figures
    say("FAIL", "%s: %s" % (type(error).__name__, error))
finally:
    xprof.terminate()
    try:
        xprof.wait(20)
    except subprocess.TimeoutExpired:
        xprof.kill()
print("%d passed, %d failed, %d skipped" % (counts["ok"], counts["FAIL"], counts["SKIP"]))
sys.exit(counts["FAIL"] > 0)
