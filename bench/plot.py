#!/usr/bin/env python3
"""Draws what a scope costs, by how much work is between two scopes, from what bench/peers/run.sh wrote.

usage: bench/plot.py RESULTS >docs/images/cost.svg"""
import math
import sys

NAMES = {"prof": "prof", "barectf": "barectf", "uftrace": "uftrace, a function",
         "lttng": "LTTng-UST", "xray": "LLVM XRay", "spall": "spall", "tracy-cpp": "Tracy, C++, connected",
         "tracy-cpp-alone": "Tracy, C++, no server", "clock": "two reads of the counter",
         "system_clock": "two clock_gettime()"}
COLORS = """
text{fill:%s}.dim{fill:%s}.grid{stroke:%s}.page{fill:%s}
.line{fill:none;stroke:%s;stroke-width:1.6}.dot{fill:%s}.floor{stroke-dasharray:5 4}
.line.prof{stroke:%s;stroke-width:3}.dot.prof,text.prof{fill:%s}
"""
LIGHT = COLORS % ("#1f2328", "#59636e", "#d8dee4", "#fff", "#768390", "#768390", "#0b62d0", "#0b62d0")
DARK = COLORS % ("#e6edf3", "#9aa4af", "#30363d", "#0d1117", "#8b949e", "#8b949e", "#6cb0ff", "#6cb0ff")
STYLE = "svg{font:13px sans-serif}text.prof{font-weight:600}%s@media(prefers-color-scheme:dark){%s}" % (LIGHT, DARK)
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 48, 215, 46, 58
LOW, HIGH = 0.5, 20


def read(path):
    lines, works = {}, []
    for line in open(path, encoding="utf-8"):
        if line.startswith("#"):
            continue
        name, threads, work, scope, _, _, clock, system = line.split()[:8]
        if threads != "1" or (name not in NAMES):
            continue
        for key, value in ((name, scope), ("clock", clock), ("system_clock", system)):
            if key == name or name == "prof":  # the clocks of all programs differ little
                lines.setdefault(key, {})[int(work)] = float(value)
        works = sorted(set(works) | {int(work)})
    return lines, works


def y_of(value):
    part = math.log(max(value, LOW) / LOW) / math.log(HIGH / LOW)
    return HEIGHT - BOTTOM - part * (HEIGHT - BOTTOM - TOP)


def apart(places, gap):
    """Moves labels down and up until none lies on another."""
    order = sorted(places, key=places.get)
    for _ in range(200):
        for above, below in zip(order, order[1:]):
            short = gap - (places[below] - places[above])
            if short > 0:
                places[above] -= short / 2
                places[below] += short / 2
    return places


def rate(work):
    if not work:
        return "no work", "one after the other"
    return "%g ns" % work if work < 1000 else "%g µs" % (work / 1000), "%g million a second" % (1000 / work)


def main():
    lines, works = read(sys.argv[1])
    step = (WIDTH - LEFT - RIGHT) / (len(works) - 1 + 0.5)
    x = {work: LEFT + (i + 0.25) * step for i, work in enumerate(works)}
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">' % (WIDTH, HEIGHT),
           "<title>What a scope adds, as a multiple of two clock reads, by the work around it</title>",
           "<style>%s</style>" % STYLE, '<rect class="page" width="100%" height="100%"/>',
           '<text x="14" y="24">What a scope adds to the work around it, as a multiple of two clock reads</text>']
    for value in (0.5, 1, 2, 5, 10, 20):
        y = y_of(value)
        out.append('<path class="grid" d="M%d %.1fH%d"/>' % (LEFT, y, WIDTH - RIGHT))
        out.append('<text class="dim" text-anchor="end" x="%d" y="%.1f">%g</text>' % (LEFT - 8, y + 4, value))
    for work in works:
        for row, text in enumerate(rate(work)):
            out.append('<text class="%s" text-anchor="middle" x="%.1f" y="%d">%s</text>' %
                       ("dim" if row else "ink", x[work], HEIGHT - BOTTOM + 21 + 17 * row, text))
    labels = apart({name: y_of(points[works[-1]]) for name, points in lines.items()}, 17)
    for name in sorted(lines, key=lambda name: name == "prof"):  # prof last, on top
        points, kind = lines[name], "prof" if name == "prof" else "floor" if "clock" in name else "peer"
        out.append('<polyline class="line %s" points="%s"/>' %
                   (kind, " ".join("%.1f,%.1f" % (x[work], y_of(points[work])) for work in works)))
        out += ['<circle class="dot %s" cx="%.1f" cy="%.1f" r="%g"/>' %
                (kind, x[work], y_of(points[work]), 4.5 if name == "prof" else 3) for work in works if kind != "floor"]
        end = x[works[-1]]
        out.append('<path class="grid" d="M%.1f %.1fL%.1f %.1f" fill="none"/>' %
                   (end + 7, y_of(points[works[-1]]), WIDTH - RIGHT + 4, labels[name]))
        last = points[works[-1]]
        out.append('<text class="%s" x="%d" y="%.1f">%s, %.*f</text>' %
                   (kind, WIDTH - RIGHT + 8, labels[name] + 4, NAMES[name], 2 if last < 5 else 0, last))
    print("\n".join(out + ["</svg>"]))


main()
