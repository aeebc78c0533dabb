"""What gRPC's own client gets from the server: tests/server.sh runs it. Messages are put together here by hand, from the
numbers of the fields; no protobuf library.

usage: server_grpc.py PORT [large]"""
import sys
import threading
import time
import urllib.error
import urllib.request

import grpc

port = sys.argv[1]
failures = 0


def check(name, good, shown=""):
    global failures
    failures += not good
    print("ok   gRPC:" if good else "FAIL gRPC:", name, "" if good else shown, flush=True)


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def parse(message):
    at, fields = 0, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        tag = number()
        if tag & 7 == 0:
            fields.append((tag >> 3, number()))
        else:
            size = 8 if tag & 7 == 1 else number()
            fields.append((tag >> 3, message[at:at + size]))
            at += size
    return fields


def option(key, value):
    kind = {str: 1, bool: 2, int: 3}[type(value)]
    return field(12, field(1, key.encode()) + field(2, field(kind, value.encode() if kind == 1 else int(value))))


channel = grpc.insecure_channel("localhost:" + port, options=[("grpc.max_receive_message_length", -1)])


def call(method, request=b"", timeout=300, on=channel):
    stub = on.unary_unary("/tensorflow.ProfilerService/" + method, lambda x: x, lambda x: x)
    return stub.future(request, timeout=timeout)


def profile(ms, options=b"", session=b"session"):
    request = field(1, ms) + field(2, 1000000) + field(3, b"xplane.pb") + field(4, field(5, 1) + field(9, ms) + field(2, 2) + field(3, 1) + options)
    return call("Profile", request + field(5, b"/nonexistent") + field(6, session) + field(7, b"localhost:1"))


def space_of(response):
    tools = [dict(parse(value)) for number, value in parse(response) if number == 6]
    return tools[0][2] if len(tools) == 1 and tools[0][1] == b"xplane.pb" else b""


def error_of(future):
    try:
        future.result()
        return None, ""
    except grpc.RpcError as error:
        return error.code(), error.details()


def wait_for(path, words):
    """Until an answer over HTTP has these words."""
    for _ in range(1000):
        try:
            with urllib.request.urlopen("http://localhost:%s%s" % (port, path), timeout=100) as answer:
                if words in answer.read():
                    return
        except urllib.error.HTTPError:
            pass  # nothing is recorded yet
        time.sleep(0.1)


if len(sys.argv) > 2:
    space = space_of(profile(2000, option("buffer", "64M")).result())
    check("an answer of %.1f MB" % (len(space) / 1e6), len(space) > 2000000 and parse(space)[0][0] == 1, len(space))
    for _ in range(3):
        space = space_of(profile(1000, option("buffer", "16M")).result())
    check("more of them on the same channel", len(space) > 500000 and parse(space)[0][0] == 1, len(space))
    sys.exit(failures > 0)

running = profile(60000, field(2, 2) + field(3, 1), session=b"long")
wait_for("/status", b'"capturing":1')
wait_for("/summary", b"\nforward ")
call("Terminate", field(1, b"long")).result()
space = space_of(running.result())
planes = [value for number, value in parse(space) if number == 1]
check("Profile", any(b"/host:CPU" in plane and b"forward" in plane for plane in planes))
begin = time.monotonic()
profile(300).result()
took = time.monotonic() - begin
check("it takes as long as it should", took >= 0.3, took)
begin = time.monotonic()
now = time.time_ns()
profile(100, field(8, now + 500000000)).result()
took = time.monotonic() - begin
check("start_timestamp_ns", took >= 0.59, took)
code, text = error_of(profile(10, option("one", 1) + option("two", "x")))
check("unknown options", code == grpc.StatusCode.INVALID_ARGUMENT and "not recognized: one,two" in text, (code, text))
space = space_of(profile(10, option("tpu_trace_mode", "TRACE_COMPUTE")).result())
check("options for what is not here", b"tpu_trace_mode" in dict(parse(space)).get(3, b""))
begin = time.monotonic()
running = profile(600000, session=b"longer")
wait_for("/status", b'"capturing":1')
call("Terminate", field(1, b"longer")).result()
running.result()
took = time.monotonic() - begin
check("Terminate", took < 300, took)
monitor = dict(parse(call("Monitor", field(1, 2000) + field(2, 2)).result()))
check("Monitor", monitor[1].startswith(b"Steps: ") and b"\nforward " in monitor[1] and len(monitor[10]) == 27)
call("StartContinuousProfiling", field(1, 0)).result()
wait_for("/summary", b"\nforward ")
check("GetSnapshot", b"forward" in space_of(call("GetSnapshot").result()))
call("StopContinuousProfiling").result()
check("no GetSnapshot without", error_of(call("GetSnapshot"))[0] == grpc.StatusCode.FAILED_PRECONDITION)
check("an unknown method", error_of(call("Nothing"))[0] == grpc.StatusCode.UNIMPLEMENTED)
check("a deadline", error_of(call("Profile", field(1, 60000), timeout=0.3))[0] == grpc.StatusCode.DEADLINE_EXCEEDED)
several = [profile(2000, session=b"%d" % i) for i in range(5)]
check("five at once", all(b"forward" in space_of(each.result()) for each in several))
others = [grpc.insecure_channel("localhost:" + port) for _ in range(30)]
results = []


def once(on):
    results.append(call("Monitor", field(1, 50), on=on).result()[:1])


threads = [threading.Thread(target=once, args=(each,)) for each in others[:10]]
for each in threads:
    each.start()
for each in threads:
    each.join()
check("ten channels", results == [b"\x0a"] * 10, results)
for each in others[10:]:
    call("Terminate", field(1, b"none"), on=each).result()
check("more channels than there are places, one after the other", True)
for i in range(1000):
    space = space_of(profile(1, option("buffer", "256K")).result())
check("a thousand captures", b"/host:CPU" in space or b"Task Environment" in space)
sys.exit(failures > 0)
