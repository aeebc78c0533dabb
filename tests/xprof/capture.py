"""Starts XProf and programs with a server, has XProf capture them while they run, and compares what it then shows with the
programs' own order of events. Prints ok and FAIL lines."""
import glob, gzip, json, os, re, socket, subprocess, sys, threading, time, urllib.error, urllib.parse, urllib.request

work = sys.argv[1]
logs = os.path.join(work, "logs")
counts = {"ok": 0, "FAIL": 0}


def check(text, good, shown=""):
    counts["ok" if good else "FAIL"] += 1
    print("ok  " if good else "FAIL", "xprof capture:", text, "" if good else str(shown)[:400], flush=True)


held = []


def free_port():
    """Nobody else gets it: this holds it, but lets who binds it by its number, as servers do."""
    held.append(socket.socket())
    held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held[-1].bind(("127.0.0.1", 0))
    return held[-1].getsockname()[1]


def get(route, **query):
    url = "%s/data/plugin/profile/%s?%s" % (server, route, urllib.parse.urlencode(query))
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            data = answer.read()
    except urllib.error.HTTPError as error:
        data = error.read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return json.loads(data)


def program(*arguments, build="server_program"):
    process = subprocess.Popen(["timeout", "880", os.path.join("build", build), "start", "0", *arguments], stdout=subprocess.PIPE)
    return process, int(process.stdout.readline())


def capture(*ports, duration, **query):
    """The answer, the files that it made, and how long it took."""
    before, begin = set(files()), time.monotonic()
    while time.strftime("%Y_%m_%d_%H_%M_%S") in runs_of(before):
        time.sleep(0.1)  # XProf names runs by the second
    answer = get("capture_profile", service_addr=",".join("localhost:%d" % port for port in ports), duration=duration, **query)
    return answer, sorted(set(files()) - before), time.monotonic() - begin


def files():
    return glob.glob(os.path.join(logs, "plugins/profile/*/*.xplane.pb"))


def runs_of(paths):
    return {os.path.basename(os.path.dirname(path)) for path in paths}


def host_of(path):
    return os.path.basename(path)[: -len(".xplane.pb")]


def view(path):
    """The trace viewer's scopes on the program's threads: (thread, name, begin, end) in us; in order of time."""
    run = os.path.basename(os.path.dirname(path))
    trace = get("data", run=run, tag="trace_viewer@", host=host_of(path), resolution=1000000)["traceEvents"]
    pids = {e["pid"]: e["args"]["name"] for e in trace if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    found = [(threads[e["pid"], e["tid"]], e["name"], e["ts"], e["ts"] + e["dur"]) for e in trace
             if e["ph"] == "X" and "/host:CPU" in pids[e["pid"]]]
    return sorted(found, key=lambda e: (e[2], -e[3]))


def proto(message):
    at = 0
    while at < len(message):
        values = []
        for _ in range(2):
            value = shift = 0
            while True:
                byte = message[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            values.append(value)
            if values[0] & 7 not in (0, 2):
                break
        if values[0] & 7 == 1:
            values.append(message[at:at + 8])
            at += 8
        if values[0] & 7 == 2:
            at += values[1]
            values[1] = message[at - values[1]:at]
        yield values[0] >> 3, values[1]


def events_in(path):
    """How many events of more than no time each line of the plane /host:CPU has, by the line's name."""
    found = {}
    for number, plane in proto(open(path, "rb").read()):
        if number == 1 and (2, b"/host:CPU") in proto(plane):
            for kind, line in proto(plane):
                if kind == 3:
                    fields = list(proto(line))
                    name = [v for k, v in fields if k in (2, 11)][-1].decode()
                    found[name] = sum(dict(proto(v)).get(3, 0) > 0 for k, v in fields if k == 4)
    return found


def check_steps(name, path):
    scopes = view(path)
    steps = [(int(m[1]), b, e) for t, n, b, e in scopes if (m := re.fullmatch(r"train (\d+)", n))]
    whole = steps[1:-1]  # the first and the last may be cut
    check("%s: %d steps, none missing" % (name, len(steps)),
          len(steps) > 10 and [s[0] for s in steps] == list(range(steps[0][0], steps[0][0] + len(steps))), steps)
    inside = [[n for t, n, b, e in scopes if t != "helper" and n != "train %d" % number and begin <= b and e <= end]
              for number, begin, end in whole]
    check("%s: each step has its scopes" % name, all(each == ["forward", "backward"] for each in inside), inside)
    check("%s: the other thread" % name, sum(t == "helper" and n == "help" for t, n, b, e in scopes) > 20)
    shown = {}
    for thread, _, begin, end in scopes:
        shown[thread] = shown.get(thread, 0) + (end > begin)
    lines = {k: v for k, v in events_in(path).items() if v}
    check("%s: as many events as the file has" % name, shown == lines, (shown, lines))
    return whole


port = free_port()
server = "http://localhost:%d" % port
log = open(os.path.join(work, "xprof.log"), "w")
xprof = subprocess.Popen([os.path.join("build/xprof/venv/bin/xprof"), "--logdir", logs, "--port", str(port),
                          "--grpc_port", str(free_port())], stdout=log, stderr=log)
children = [xprof]
try:
    for _ in range(1200):
        try:
            urllib.request.urlopen(server, timeout=100).read()
            break
        except OSError:
            if xprof.poll() is not None:
                break
            time.sleep(0.1)
    first, first_port = program()
    second, second_port = program("record")
    children += [first, second]

    answer, made, took = capture(first_port, duration=2000)
    check("of a program that records nothing", "successfully" in answer.get("result", "") and len(made) == 1, answer)
    whole = check_steps("captured", made[0])
    overview = get("data", run=os.path.basename(os.path.dirname(made[0])), tag="overview_page", host=host_of(made[0]))
    ids = [[c["id"] for c in table.get("cols", [])] for table in overview]
    rows = [[dict(zip(columns, [c.get("v") for c in row["c"]])) for row in table["rows"]]
            for table, columns in zip(overview, ids) if "stepnum" in columns][0]
    times = {int(row["stepnum"].split()[-1]): row["stepTimeMs"] for row in rows}
    check("the overview page has the steps", len(times) >= len(whole) - 2 and set(times) >= {s[0] for s in whole[2:-2]}, times)
    wanted = {number: (end - begin) / 1000 for number, begin, end in whole if number in times}
    check("and their times", all(abs(times[number] - ms) < 1e-5 for number, ms in wanted.items()), (times, wanted))
    average = [float(table["p"]["steptime_ms_average"]) for table in overview if "steptime_ms_average" in table.get("p", {})]
    check("and the average", average and abs(average[0] - sum(times.values()) / len(times)) < 0.051, (average, times))

    answer, made, took = capture(second_port, duration=2000)
    check("of a program that records", "successfully" in answer.get("result", "") and len(made) == 1, answer)
    scopes = view(made[0])
    check_steps("from its ring", made[0])
    check("only the time asked for", max(e for _, _, _, e in scopes) - min(b for _, _, b, _ in scopes) <= 2000000.1)
    check("the program records on", b'"session":"program"' in
          urllib.request.urlopen("http://localhost:%d/status" % second_port).read())

    answer, made, took = capture(first_port, second_port, duration=2000)
    check("of two hosts", len(made) == 2 and len(runs_of(made)) == 1, (answer, made))
    for path in made:
        check_steps(host_of(path), path)

    answer, made, took = capture(first_port, duration=200, delay=1000)
    check("with a delay", len(made) == 1 and took >= 1.2, (answer, took))
    answer, made, took = capture(first_port, duration=200, host_tracer_level=0)
    check("level 0: no scopes", len(made) == 1 and not events_in(made[0]).get("helper"), answer)

    answers = []
    both = [threading.Thread(target=lambda n=n: answers.append(
        get("capture_profile", service_addr="%s:%d" % (n, first_port), duration=800))) for n in ("localhost", "127.0.0.1")]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    check("twice at the same time", [a.get("result", "")[:15] for a in answers] == ["Capture profile"] * 2, answers)

    third, third_port = program("steps", "50")
    children.append(third)
    answer, made, took = capture(third_port, duration=59000)
    check("of a program that ends meanwhile", len(made) == 1 and took < 55, (answer, took))
    check_steps("until its end", made[0])

    fourth, fourth_port = program("idle")
    children.append(fourth)
    answer, made, took = capture(fourth_port, duration=200)
    check("of an idle program", "successfully" in answer.get("result", "") and len(made) == 1, answer)

    fifth, fifth_port = program(build="server_program_bare")
    children.append(fifth)
    answer, made, took = capture(fifth_port, duration=200)
    check("of a program without prof_xplane.h: an error", "error" in answer and not made, answer)
    answer, made, took = capture(free_port(), duration=200)
    check("of nobody", "error" in answer and not made, answer)
finally:
    for child in children:
        child.terminate()  # timeout passes it on
print("%d passed, %d failed, 0 skipped" % (counts["ok"], counts["FAIL"]))
sys.exit(counts["FAIL"] > 0)
