#!/usr/bin/env python3
"""Draws how a recording goes from the macros to the outputs.

usage: docs/images/how-it-works.py >docs/images/how-it-works.svg"""
COLORS = """
text{fill:%s}.dim{fill:%s}.page{fill:%s}.box{fill:%s;stroke:%s}.arrow{stroke:%s;fill:none}.head{fill:%s}
.a{fill:%s}.b{fill:%s}.c{fill:%s}.free{fill:none;stroke:%s}
"""
LIGHT = COLORS % ("#1f2328", "#59636e", "#fff", "#f6f8fa", "#d0d7de", "#768390", "#768390",
                  "#a8c9f0", "#f2c9a0", "#b5dcb5", "#d0d7de")
DARK = COLORS % ("#e6edf3", "#9aa4af", "#0d1117", "#161b22", "#3d444d", "#8b949e", "#8b949e",
                 "#2f5b8f", "#8a5a2b", "#3f7043", "#3d444d")
STYLE = "svg{font:13px sans-serif}.title{font-weight:600}.code{font:12px monospace}%s@media(prefers-color-scheme:dark){%s}"
WIDTH, HEIGHT = 860, 352
out = []


def text(x, y, words, kind="", anchor="start"):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    out.append(f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>')


def box(x, y, width, height, kind="box"):
    out.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="4"/>')


def arrow(x, y, to_x, to_y):
    out.append(f'<path class="arrow" d="M{x} {y}L{to_x - 7} {to_y}"/>')
    out.append(f'<path class="head" d="M{to_x} {to_y}l-8 -4v8z"/>')


def threads():
    box(16, 44, 196, 212)
    text(28, 66, "your program", "title")
    for row, (kind, name) in enumerate((("a", "thread 1"), ("b", "thread 2"), ("c", "thread 3"))):
        y = 82 + row * 56
        box(28, y, 172, 44, kind)
        text(38, y + 18, name)
        text(38, y + 35, ("PROFILE_SCOPE", "PROFILE_COUNTER", "PROFILE_MARK")[row] + "()", "code")
        arrow(204, y + 22, 258, 134 + row * 18)
    text(16, 280, "A begin and an end are a word", "dim")
    text(16, 298, "of 8 bytes each, with the time.", "dim")
    text(16, 316, "No lock, no system call.", "dim")


def image():
    box(260, 44, 328, 212)
    text(272, 66, "the image: one block of memory", "title")
    box(272, 80, 96, 30, "free")
    text(320, 100, "header", "", "middle")
    box(376, 80, 200, 30, "free")
    text(476, 100, "names, call sites, clocks", "", "middle")
    text(272, 130, "a ring of chunks; each belongs to one thread")
    for at, kind in enumerate("abacbaab"):
        x = 272 + at % 8 * 38
        box(x, 140, 34, 40, kind)
        text(x + 17, 165, str(at + 9), "", "middle")
    text(272, 200, "the oldest chunk is used again")
    box(272, 214, 304, 30, "free")
    text(424, 234, "mode stream: everything, packed", "", "middle")
    text(260, 280, "The same bytes in memory, in a mapped file after", "dim")
    text(260, 298, "kill -9, in a core dump, in a kernel's memory.", "dim")


def reader():
    arrow(590, 150, 634, 150)
    box(636, 44, 92, 212)
    text(682, 66, "reader", "title", "middle")
    for row, words in enumerate(("checks", "every byte,", "matches", "begins and", "ends:", "tracks of", "events")):
        text(682, 98 + row * 20, words, "", "middle")
    for row, words in enumerate((".json", ".html", "XProf", ".csv", "tables", "statistics", "your own")):
        y = 62 + row * 30
        arrow(730, 150, 764, y)
        text(770, y + 4, words)
    text(636, 280, "Each output is a small", "dim")
    text(636, 298, "consumer of the reader.", "dim")


text(16, 26, "Recording: in the program, always the same few instructions", "title")
text(636, 26, "Reading: later, anywhere", "title")
threads()
image()
reader()
print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT - 24}" role="img">')
print("<title>From macros through the image to the outputs</title>")
print(f"<style>{STYLE % (LIGHT, DARK)}</style>".replace("\n", ""))
print('<rect class="page" width="100%" height="100%"/>')
print("\n".join(out + ["</svg>"]))
