#!/usr/bin/env python3
"""Prints docs/reference.md: every public name of the headers, from the headers themselves.

    python3 src/reference.py >docs/reference.md

It reads what stands before END OF HEADER in each prof*.h: the comment before a declaration, and the declaration. The
table of PROFILE_ macros, the fields of prof_config and the compile-time options come from their comments. A PROFILE_
macro that the table lacks is an error."""
import glob
import os
import re
import sys
import textwrap

ORDER = ["prof.h", "prof_read.h", "prof_chrome.h", "prof_html.h", "prof_xplane.h", "prof_report.h", "prof_server.h",
         "prof_ntff.h", "prof_system.h", "prof_vulkan.h", "prof_cuda.h", "prof_gl.h", "prof_opencl.h", "prof_mpi.h",
         "prof_receive.h", "prof_openmp.h", "prof_bridge.h"]
PUBLIC = r"\b(?:prof|PROF|PROFILE)_(?!_)\w+"
NAME = r"(?<!\w)((?:prof|PROF|PROFILE)_[\w*.%]*(?:\w\([\w, .:\"*]*\)|[A-Z0-9_a-rt-z](?:\.h)?|_ns\b))"
WORDS = ("PROF__API ", "PROF_DEF ", "PROF__UNTRACED ", "PROF__SITE_TYPE ", "PROF__HIDDEN ")
SUFFIXES = [
    ("`_C`", "a category"), ("`_L`", "a level"), ("`_CL`", "a category and a level"),
    ("`_DYNAMIC`", "a name that is made at run time"), ("`_F`", "a name that is formatted, as by printf()"),
    ("`_TEXT`", "a text and its length in bytes"), ("`_AS`", "a handle, which the macro declares"),
    ("`_UNIT`", "a unit"), ("`_NAMED`", "a name of its own"), ("`_MASK`", "a filter mask"),
    ("`_POOL`", "a pool of memory"), ("`_REACH`", "what an instant is about"),
    ("`_ARGS`", "arguments: `PROF_ARG(key, value), ...`"),
    ("`_I` `_U` `_D` `_B` `_S` `_P`", "of an argument: int64_t, uint64_t, double, bool, string, pointer")]

LEAD = """<!-- Made by src/reference.py from the headers: change the comments there, and run it again. -->
# Reference

Every public macro, function, type, key and variable, by header. The [guide](guide/README.md) shows how to use them.
Each key of `prof_config` is also a variable of the environment; `prof config` prints them all, with their defaults.

"""


def public_part(path):
    text = open(path, encoding="utf-8").read()
    return text.split("/*== END OF HEADER", 1)[0]


def plain(comment):
    """The words of a comment, without its marks."""
    comment = re.sub(r"^/\*+|\*/$", "", comment.strip())
    return "\n".join(line.rstrip() for line in comment.strip("\n").split("\n"))


def flowed(text):
    """Paragraphs and code of a comment, as markdown."""
    out = []
    for part in re.split(r"\n\s*\n", textwrap.dedent(text)):
        lines = part.split("\n")
        if all(line.startswith("    ") for line in lines if line) and any(re.search(r"[;{(=]", line) for line in lines):
            out.append("```text\n" + textwrap.dedent(part) + "\n```")
        else:
            out.append(wrapped(" ".join(line.strip() for line in lines)))
    return "\n\n".join(out)


def quoted(text):
    """Names and calls as code, and nothing that markdown would take for a mark. What is code already stays."""
    out = []
    for at, part in enumerate(text.split("`")):
        if at % 2:
            out.append(f"`{part}`")
            continue
        part = re.sub(NAME, r"`\1`", part)
        part = re.sub(r"(?<![\w`])(_[A-Z]+(?:\([\w, .]*\))?)", r"`\1`", part)
        words = part.split("`")
        words[::2] = [re.sub(r"([*<>\\]|_(?=\w))", r"\\\1", word) for word in words[::2]]
        out.append("`".join(words))
    return "".join(out).replace("|", "\\|")


def wrapped(text, indent=""):
    return "\n".join(textwrap.wrap(quoted(text), 120, subsequent_indent=indent, break_long_words=False,
                                   break_on_hyphens=False, drop_whitespace=True))


def pieces(text):
    """Comments, directives and declarations of C, in turn."""
    at = 0
    while at < len(text):
        if text[at] in " \t\n":
            gap = re.compile(r"\s+").match(text, at)
            yield "gap", gap.group()
            at = gap.end()
        elif text.startswith("/*", at):
            end = text.index("*/", at) + 2
            yield "comment", text[text.rfind("\n", 0, at) + 1:at] + text[at:end]
            at = end
        elif text[at] == "#":
            directive = re.compile(r"#(?:/\*.*?\*/|\\\n|[^\n])*", re.S).match(text, at)
            yield "directive", directive.group()
            at = directive.end()
        else:
            begin, depth = at, 0
            linkage = re.compile(r'extern "C(?:\+\+)?" \{|\}').match(text, at)
            if linkage:
                at = linkage.end()
                continue
            while at < len(text):
                if text.startswith("/*", at):
                    at = text.index("*/", at) + 2
                    continue
                literal = re.compile(r"'(?:\\.|[^'\\])+'|\"(?:\\.|[^\"\\])*\"").match(text, at)
                if literal: # may have a bracket
                    at = literal.end()
                    continue
                if text[at] == "#" and text[at - 1] == "\n" and not depth:
                    break
                depth += (text[at] in "{(") - (text[at] in ")}")
                at += 1
                if not depth and (text[at - 1] == ";" or text[at - 1] == "}" and re.match(r"\s*\n", text[at:])
                                  and not text[begin:at].startswith(("typedef", "enum", "struct"))):
                    break
            behind = re.compile(r"[ \t]*/\*.*?\*/(?=[ \t]*\n)", re.S).match(text, at)
            if behind:
                at = behind.end()
            yield "code", text[begin:at]


def names_of(code):
    """The public names that a declaration makes."""
    bare = re.sub(r"/\*.*?\*/", "", code, flags=re.S)
    if bare.startswith("#define"):
        return re.findall(r"^#define (" + PUBLIC + ")", bare)
    if re.search(r"PROF_(_API|DEF)\b", bare) or re.match(r"(static )?inline|static", bare):
        return re.findall(r"(" + PUBLIC + r")\(", bare.split("{")[0])[:1]
    if bare.startswith("typedef"):
        made = re.findall(r"(" + PUBLIC + r")(?:\(|;)", re.sub(r"\{.*\}", "", bare, flags=re.S))
        return made[:1] + (re.findall(r"\b(PROF_(?!_)\w+)", bare) if "enum" in bare else [])
    if bare.startswith("enum"):
        return re.findall(r"\b(PROF_(?!_)\w+)", bare)
    return []


def shown(code):
    for word in WORDS:
        code = code.replace(word, "")
    code = re.sub(r"\s*PROF__PRINTF\([^)]*\)|^PROF__\w+\n", "", code)
    if "{" not in code:
        code = re.sub(r",\n {20,}", ", ", code) # its list was aligned behind what is left out here
    if code.startswith("#define"):
        code = re.sub(r"\\\n.*", "...", code, flags=re.S)
        code = re.sub(r"(#define \w+\([^)]*\)).*", r"\1", code)
    return code.rstrip()


def macros(comment, text, out):
    """The table of the PROFILE_ macros: entries begin at column 5, forms of an entry at column 7."""
    signatures = {}
    for name, parameters in re.findall(r"^ *#define (PROFILE_\w+)(\([^)]*\))", text, re.M):
        signatures.setdefault(name, name + parameters)
    entries, entry, bases = [], None, []
    for line in comment.split("\n"):
        begins = re.match(r" {5}(PROFILE_\w+)(\((?:[^()]|\([^)]*\))*\))(?:, (PROFILE_\w+\([^)]*\)))? *(.*)", line)
        form = re.match(r" {7}(_[A-Z]\S.*?)(?: {2,}(\S.*))?$", line)
        if begins:
            entry = [begins.group(1), begins.group(1) + begins.group(2), [["", begins.group(4)]]]
            entries.append(entry)
            if begins.group(3):
                entry[1] += "`, `" + begins.group(3)
                bases.append(begins.group(3).split("(")[0])
        elif entry and form:
            entry[2].append([form.group(1).strip(), form.group(2) or ""])
        elif entry and line.strip():
            entry[2][-1][1] += " " + line.strip()
        elif not line.strip() and entry:
            entry = None
    bases = sorted({entry[0] for entry in entries} | set(bases), key=len, reverse=True)
    forms = {}
    for name in signatures:
        base = next((base for base in bases if name == base or name.startswith(base + "_")), None)
        if not base:
            sys.exit(f"src/reference.py: the table in src/api/markup.h has no {name}")
        if name != base:
            forms.setdefault(base, []).append(signatures[name])
    for base, signature, texts in entries:
        out.append(wrapped(f"- `{signature}`: " + texts[0][1].strip(), "  "))
        more = [form for one in re.findall(r"PROFILE_\w+", signature) for form in forms.pop(one, [])]
        for form, text in texts[1:]:
            form = re.sub(r" {2,}", " ", form)
            out.append("  " + wrapped(f"- {form}: {text.strip()}", "    ") if text.strip() else f"  - {form}")
        if more:
            out.append("  " + wrapped("- also " + ", ".join(f"`{one}`" for one in more), "    "))


def config(code, out):
    """The fields of prof_config: their comments begin with the key and the variable of the environment."""
    out.append("| field | key | variable | meaning |\n|---|---|---|---|")
    for field, comment in re.findall(r"^ +([\w ]+?\*?\w+);\s*/\*(.*?)\*/", code, re.S | re.M):
        comment = " ".join(comment.split())
        key = re.match(r"(\w+) (PROF_\w+): (.*)", comment)
        name, variable, meaning = key.groups() if key else ("", "", comment)
        out.append(f"| `{field}` | {name and f'`{name}`'} | {variable and f'`{variable}`'} | {quoted(meaning)} |")
    out.append("")


def options(manual, out):
    """The compile-time options: in the manual a name at column 4 begins one, other text there stands between tables."""
    block = re.search(r"COMPILE-TIME OPTIONS[^\n]*\n(.*?)(?=\n[A-Z][A-Z ,-]{3,}[^\n]*\n\n|$)", manual, re.S)
    if not block:
        return
    rows = []  # name, value, meaning; or only a meaning
    for line in block.group(1).split("\n"):
        begins = re.match(r" {4}(PROF_\w+)(?:\([^)]*\))? {2,}(.*)", line)
        if begins:
            value = re.match(r"(\S.*?) {2,}(.*)", begins.group(2))
            rows.append([begins.group(1), *(value.groups() if value else ("", begins.group(2)))])
        elif line.startswith(" " * 8) and rows or rows and not rows[-1][0] and line.strip():
            rows[-1][2] += " " + line.strip()
        elif line.strip():
            rows.append(["", "", line.strip()])
    out.append("### Compile-time options\n")
    for at, (name, value, meaning) in enumerate(rows):
        if not name:
            out.append(("\n" if at else "") + wrapped(meaning) + "\n")
        else:
            if not at or not rows[at - 1][0]:
                out.append("| name | value | meaning |\n|---|---|---|")
            out.append(f"| `{name}` | {quoted(value)} | {quoted(meaning)} |")
    out.append("")


def listed(manual, title, pattern, out):
    """A list in the manual: what matches the pattern begins an entry, deeper lines continue it."""
    rows, margin = [], 0
    for line in manual.split("\n"):
        begins = re.match(pattern, line)
        if begins:
            margin = len(line) - len(line.lstrip())
            rows.append([begins.group(1), begins.group(2)])
        elif rows and margin and line.startswith(" " * (margin + 2)):
            rows[-1][1] += " " + line.strip()
        else:
            margin = 0
    if rows:
        out.append(f"### {title}\n\n| name | meaning |\n|---|---|")
        out.extend(f"| `{name}` | {quoted(meaning)} |" for name, meaning in rows)
        out.append("")


def table_of_functions(code, text):
    """Declarations that a macro makes of a table: X(result, name, (parameters), ...) in NAME_TABLE(X)."""
    prefix = re.match(r"#define PROF_(\w+)_TABLE\(X\)", code).group(1).lower()
    rows = re.findall(r"X\((\w+),\s*(\w+),\s*(\([^()]*\))", code.replace("\\\n", " "))
    types = dict(re.findall(r"#define PROF__[A-Z]+_TYPE_(\w+) (.*)", text))
    return [f"{types[result]} prof_{prefix}_{name}({' '.join(parameters[1:-1].split())});"
            for result, name, parameters in rows]


class Header:
    """The part of the page about one header: its declarations in their order, each with the comment before it."""

    def __init__(self, path):
        self.text = public_part(path)
        self.manual = self.text.split("*/", 1)[0]
        self.out = [f"## {path}\n"]
        self.comment, self.group, self.had = None, [], set()
        for kind, piece in pieces(self.text):
            if kind == "gap":
                if piece.count("\n") > 1:
                    self.flush()
                    self.comment = None
            elif kind == "comment":
                self.add_comment(piece)
            else:
                self.add_declaration(kind, piece)
        self.flush()
        options(self.manual, self.out)
        listed(self.manual, "Freestanding hooks", r" {8}(PROF_\w+\([^)]*\)) +(.*)", self.out)
        environment = re.search(r"\nENVIRONMENT\n(.*?)(?=\n[A-Z]{4}|$)", self.manual, re.S)
        if environment:
            listed(environment.group(1), "Environment", r" {4}(PROF_\w+=\S+) {2,}(.*)", self.out)

    def flush(self):
        """Writes the declarations that stand under one comment, and the comment."""
        if self.group:
            self.out.append("```c\n" + "\n".join(self.group) + "\n```\n")
            if self.comment:
                self.out.append(flowed(self.comment) + "\n")
        self.group = []

    def add_comment(self, piece):
        self.flush()
        section = re.match(r"\s*/\*-- *([A-Z ]+?) *-[-> \w]*-*\n?(.*)", piece, re.S)
        if not section:
            self.comment = plain(piece)
            return
        self.comment = None
        self.out.append(f"### {section.group(1).capitalize()}\n")
        words = section.group(2).rstrip("*/- ")
        if "PROFILE_SCOPE(name)" not in words:
            if words.strip():
                self.out.append(flowed(words) + "\n")
            return
        lead, table = words.split("\n\n", 1)
        self.out.append(flowed(lead) + "\n\nLetters at the end of a name:\n\n| | what it adds |\n|---|---|")
        self.out.extend(f"| {name} | {what} |" for name, what in SUFFIXES)
        self.out.append("")
        macros(table, self.text, self.out)
        self.out.append("")

    def add_declaration(self, kind, piece):
        names = [name for name in names_of(piece) if name not in self.had]
        if kind == "code" and not names and not self.group:
            self.comment = None  # it is about what is private
        if not names or self.is_elsewhere(names[0], piece):
            return
        if re.match(r"#define PROF_\w+_TABLE\(X\)", piece):
            self.group += table_of_functions(piece, self.text)
            return
        self.had.update(names)
        if names[0] != "prof_config" or "{" not in piece:
            self.group.append(shown(piece))
            return
        self.flush()
        self.out.append("#### prof_config\n\n" + flowed(self.comment or "") + "\n")
        self.comment = None
        config(piece, self.out)

    def is_elsewhere(self, name, piece):
        """1: a table of the page has it, or it is no part of the interface."""
        return ("PROF__STRIPPED" in piece or re.match(r"#define PROFILE_\w+\(", piece)
                and "PROFILE_SCOPE(name)" in self.text
                or re.match(r"#define (\w+ *$|\w+_H$|PROF_DEF\b)", piece)
                or re.search(rf"^ {{4}}{name} {{2,}}", self.manual, re.M))


def macros_first(text):
    """The part of a header, with what most readers look for at its beginning."""
    head, *sections = re.split(r"(?m)^(?=### )", text)
    return head + "".join(sorted(sections, key=lambda section: not section.startswith("### Markup")))


def contents(text):
    """A list of the parts: a line for each header."""
    lines, anchors = [], []
    for level, title in re.findall(r"^(##|###) (.*)$", text, re.M):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = anchors.count(anchor)
        anchors.append(anchor)
        link = f"[{title}](#{anchor}{f'-{count}' if count else ''})"
        if level == "##":
            lines.append("- " + link)
        else:
            lines[-1] += (": " if lines[-1].count("[") == 1 else ", ") + link
    return "\n".join("\n".join(textwrap.wrap(line, 120, subsequent_indent="  ", break_long_words=False,
                                              break_on_hyphens=False)) for line in lines)


def keys_of_others():
    """The keys of other profilers, out of the table that prof_config_set() looks them up in."""
    text = "".join(open(path, encoding="utf-8").read() for path in sorted(glob.glob("prof*.h")))
    words = dict(re.findall(r'^#define (PROF__\w+) "(.*)"$', text, re.M))
    row = r'\{"(\w+)", "(\w+)", PROF__OTHER_\w+,\s*(?:NULL|"([^"]*)"),\s*(NULL|PROF__\w+|(?:"(?:[^"\\]|\\.)*"\s*)+)\}'
    out, system = ["## Keys of other profilers", "", "`prof_config_set()` and `prof config` know them.", ""], ""
    for of, key, home, meaning in re.findall(row, text):
        if of != system:
            system = of
            out += ["", f"| {system} | sets | |", "|---|---|---|"]
        meaning = words.get(meaning, "" if meaning == "NULL" else "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', meaning)))
        known = re.search(rf"\w; +/\* {re.escape(home)} PROF_", text) if home else None
        out.append(f"| `{key}` | {f'`{home}`' if known else ''} | {quoted(meaning)} |")
    return "\n".join(out)


def main():
    headers = [name for name in ORDER if os.path.exists(name)]
    headers += sorted(set(glob.glob("prof*.h")) - set(headers))
    text = "\n".join([macros_first("\n".join(Header(path).out)) for path in headers] + [keys_of_others()]).rstrip()
    print(LEAD + contents(text) + "\n\n" + text)


main()
