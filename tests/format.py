"""Compares what examples/read_trace.py reads of an image with the CSV of prof: python3 tests/format.py IMAGE CSV"""
import csv
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import read_trace

with open("prof.h", encoding="utf-8") as kinds:  # the kind of each event's object
    OBJECTS = {text: kind for kind, text in re.findall(r'X\(\w+, \d+, \w+, (\w+), "(\w+)"', kinds.read())}
END_OF_TYPES = {"log": ["value", "args"]}  # not read: the text of a message


def unescape(args):
    """The pairs of a field args."""
    pairs, pair, escaped = [], [""], False
    for c in args:
        if escaped or c not in "\\;=":
            pair[-1] += c
            escaped = False
        elif c == "\\":
            escaped = True
        elif c == "=":
            pair.append("")
        else:
            pairs.append(tuple(pair))
            pair = [""]
    return pairs + [tuple(pair)] if args else []


def plain(value, kind=None):
    """A value as the CSV has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"0x{value:x}" if kind == read_trace.POINTER else str(value)


def same(a, b):
    if a == b:
        return True
    try:
        return float(a) == float(b) or (float(a) != float(a) and float(b) != float(b))
    except ValueError:
        return False


def compare(image, path):
    with open(path, encoding="utf-8", newline="") as file:
        wanted = [row for row in csv.DictReader(file) if "/" not in row["thread"] and row["thread"] != "clock"]
    found = [(track, event) for track in image.tracks for event in track["events"]]
    wrong = []
    for row, (track, event), got in zip(wanted, found, list(read_trace.rows(image))[1:]):
        got = dict(zip(row, got))
        for key, value in row.items():
            have = str(got[key])
            if key == "args":
                have = [(key, plain(value, kind)) for key, value, kind in event.args]
                if event.type == "alloc":
                    have = [("bytes", str(event.detail))]
                elif event.site.unit:
                    have = [("unit", event.site.unit)]
                value = unescape(value)
                good = len(have) == len(value) and all(a[0] == b[0] and same(a[1], b[1]) for a, b in zip(have, value))
            elif key in ("start_ns", "duration_ns"):
                good = abs(int(have) - int(value)) <= 1  # prof rounds a factor, the example a quotient
            elif key == "value":
                pointer = event.value is not None and OBJECTS[event.type] == "POINTER"
                have = plain(event.value, read_trace.POINTER if pointer else None)
                good = same(have, value) or (OBJECTS[event.type] == "UINT" and event.value is None)
            elif key == "line":
                good = have == (value or "0")
            else:
                good = have == value
            if not good and key not in END_OF_TYPES.get(row["type"], []):
                wrong.append(f"{row}\n    {key}: {have!r}, not {value!r}")
    if len(wanted) != len(found):
        wrong.append(f"{len(found)} events, not {len(wanted)}")
    return len(wanted), wrong


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        count, wrong = compare(read_trace.Image(file.read()), sys.argv[2])
    print("\n".join(wrong[:3]) if wrong else f"{count} events")
    sys.exit(bool(wrong))
