"""Joins the arrows of ranks, whose events are given as CSV files, and says which are wrong.

usage: arrows.py EXPECTED MISSING FILE...   EXPECTED: how many arrows there must be; MISSING: receives without one"""
import csv
import re
import sys


def events(path):
    """Yields each flow of MPI with the numbers of the innermost scope "sends" or "gets" around it."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    scopes = [row for row in rows if row["type"] == "scope" and row["name"] in ("sends", "gets")]
    for row in rows:
        if row["type"] not in ("flow_out", "flow_in") or row["category"] != "mpi":
            continue
        at, name = int(row["start_ns"]), "sends" if row["type"] == "flow_out" else "gets"
        around = [s for s in scopes if s["name"] == name and s["track_id"] == row["track_id"]
                  and int(s["start_ns"]) <= at <= int(s["start_ns"]) + int(s["duration_ns"])]
        yield row["type"], row["value"], re.findall(r"number=(\d+)", around[-1]["args"]) if around else []


expected, missing, files = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
begins, ends, gets = {}, {}, 0
for path in files:
    for kind, flow, numbers in events(path):
        to = begins if kind == "flow_out" else ends
        if flow in to:
            print(f"{kind} {flow} is there twice")
        to[flow] = numbers
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["type"] == "scope" and row["name"] == "gets":
                gets += row["args"].count("number=")
for flow, numbers in ends.items():
    if flow not in begins:
        print(f"the arrow into {numbers} comes from nowhere")
    elif not set(begins[flow]) & set(numbers):
        print(f"an arrow leads from {begins[flow]} to {numbers}")
if len(ends) != expected:
    print(f"{len(ends)} arrows, not {expected}")
if gets - len(ends) != missing:
    print(f"{gets - len(ends)} receives have no arrow, not {missing}")
