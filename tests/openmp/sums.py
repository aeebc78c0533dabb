"""usage: sums.py PRINTED CSV: on each thread, the scopes of loops are at least what it measured inside of them, and at
most what it measured around them."""
import csv
import sys

inside, around, scopes, calls = {}, {}, {}, {}
for line in open(sys.argv[1]):
    thread, a, b = map(int, line.split())
    inside[thread] = inside.get(thread, 0) + a
    around[thread] = around.get(thread, 0) + b
for row in csv.reader(open(sys.argv[2])):
    if len(row) > 7 and row[3] == "scope" and row[4] == "omp loop loops":
        thread = int(row[2].split()[1]) if row[2].startswith("loops ") else 0
        scopes[thread] = scopes.get(thread, 0) + int(row[7])
        calls[thread] = calls.get(thread, 0) + 1
if sorted(inside) != [0, 1, 2] or any(calls.get(t) != 20 for t in inside):
    print("threads", inside, calls)
for t in inside:
    slack = around[t] / 1000 + 20
    if not inside[t] - slack <= scopes.get(t, 0) <= around[t] + slack:
        print("thread", t, inside[t], scopes.get(t), around[t])
