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
         "prof_ntff.h", "prof_bridge.h"]
PUBLIC = r"\b(?:prof|PROF|PROFILE)_(?!_)\w+"
WORDS = ("PROF__API ", "PROF_DEF ", "PROF__UNTRACED ", "PROF__SITE_TYPE ", "PROF__HIDDEN ")
SUFFIXES = [
    ("`_C`", "a category"), ("`_L`", "a level"), ("`_CL`", "a category and a level"),
    ("`_S`", "a name that is made at run time"), ("`_F`", "a name that is formatted, as by printf()"),
    ("`_TEXT`", "a text and its length in bytes"), ("`_AS`", "a handle, which the macro declares"),
    ("`_UNIT`", "a unit"), ("`_N`", "a name of its own"), ("`_ARGS`", "arguments: `PROF_ARG(key, value), ...`"),
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
        part = re.sub(r"(?<!\w)((?:prof|PROF|PROFILE)_[\w*.%]*[A-Z0-9_a-rt-z](?:\.h)?(?:\([\w, .:\"*]*\))?)", r"`\1`", part)
        part = re.sub(r"(?<![\w`])(_[A-Z]+(?:\([\w, .]*\))?)", r"`\1`", part)
        part = "`".join(one if i % 2 else re.sub(r"([*<>\\]|_(?=\w))", r"\\\1", one) for i, one in enumerate(part.split("`")))
        out.append(part)
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
    return [f"{types[result]} prof_{prefix}_{name}({' '.join(parameters[1:-1].split())});" for result, name, parameters in rows]


def header(path, out):
    text = public_part(path)
    manual = text.split("*/", 1)[0]
    out.append(f"## {path}\n")
    pending, group, had = None, [], set()

    def flush():
        nonlocal group, pending
        if group:
            out.append("```c\n" + "\n".join(group) + "\n```\n")
            if pending:
                out.append(flowed(pending) + "\n")
        group = []

    for kind, piece in pieces(text):
        if kind == "gap":
            if piece.count("\n") > 1:
                flush()
                pending = None
            continue
        if kind == "comment":
            section = re.match(r"\s*/\*--? *(.*?) *-[-> \w]*-*-*\n(.*)", piece, re.S)
            if section and re.match(r"[A-Z ]+$", section.group(1)):
                flush()
                pending = None
                title = section.group(1).capitalize()
                out.append(f"### {title}\n")
                words = section.group(2).rstrip("*/ ")
                if "PROFILE_SCOPE(name)" in words:
                    lead, table = words.split("\n\n", 1)
                    out.append(flowed(lead) + "\n")
                    out.append("Letters at the end of a name:\n\n| | what it adds |\n|---|---|")
                    out.extend(f"| {name} | {what} |" for name, what in SUFFIXES)
                    out.append("")
                    macros(table, text, out)
                    out.append("")
                else:
                    out.append(flowed(words) + "\n")
            elif re.match(r"\s*/\*--+ *>>|\s*/\*-- *TYPES", piece):
                flush()
                out.append("### Types\n")
            else:
                flush()
                pending = plain(piece)
            continue
        names = [name for name in names_of(piece) if name not in had]
        if kind == "code" and not names and not group:
            pending = None
        if not names or "PROF__STRIPPED" in piece:
            continue
        if piece.startswith("#define PROFILE_") and "PROFILE_SCOPE(name)" in text:
            continue  # it is in the table of macros
        if re.match(r"#define PROF_\w+_TABLE\(X\)", piece):
            group += table_of_functions(piece, text)
            continue
        if re.match(r"#define (\w+ *$|\w+_H$|PROF_DEF\b)", piece):
            continue
        if re.search(rf"^ {{4}}{names[0]} {{2,}}", manual, re.M):
            continue  # a compile-time option: it is in the table of these
        had.update(names)
        if names[0] == "prof_config" and "{" in piece:
            flush()
            out.append("#### prof_config\n\n" + flowed(pending or "") + "\n")
            config(piece, out)
            pending = None
            continue
        group.append(shown(piece))
    flush()


def main():
    headers = [name for name in ORDER if os.path.exists(name)]
    headers += sorted(set(glob.glob("prof*.h")) - set(headers))
    out = []
    for path in headers:
        part = []
        header(path, part)
        manual = public_part(path).split("*/", 1)[0]
        options(manual, part)
        listed(manual, "Freestanding: what the program defines", r" {8}(PROF_\w+\([^)]*\)) +(.*)", part)
        environment = re.search(r"\nENVIRONMENT\n(.*?)(?=\n[A-Z]{4}|$)", manual, re.S)
        if environment:
            listed(environment.group(1), "Environment", r" {4}(PROF_\w+=\S+) {2,}(.*)", part)
        out.append("\n".join(part))
    print(LEAD + "\n".join(out).rstrip())


main()
