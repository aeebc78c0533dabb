#!/usr/bin/env python3
"""Tests README.md, docs/guide/*.md and docs/how-it-works.md, and what belongs to all pages.

Code on a page stands between ``` and ```, and the words after the first ``` say what it is:

    c            C. It compiles without a warning. A program (with main) is built and run; of other blocks each function
                 is called, in a session and, with PROF_ENABLE=0, without prof. Neither may fail.
    c NAME.c     the same, but the commands of the page build and run it, as NAME.c
    cpp NAME     C++, which the commands of the page build
    sh           commands. They run in the order of the page, in a folder of the page. Each must succeed
    KIND TEST    what the test of this path runs, because it needs more than a compiler
    python       a snippet that tests/python.sh runs
    text         what is no code: output, a list

A comment <!-- check: COMMAND --> is a command that nobody sees: it must succeed at its place. In the folder of a page
are the headers, hello.c of README.md, hello, what it recorded (ring.prof), and examples/. cc stands for a compiler
that makes each implementation only once: a file with PROF_IMPLEMENTATION is linked to the object of those headers that
it includes. README's first program is compiled as it is.

Also tested: all links and all names of pages in all files; that docs/reference.md is what src/reference.py makes, and
has every public name; that the pictures are what their scripts draw; the sizes of pages that are to be short."""
import glob
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(ROOT, "build", "readme")
STRICT = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wno-misleading-indentation -Werror".split()
LIMITS = {"README.md": 12 * 1024, "BENCHMARKS.md": 15 * 1024}
CC = shutil.which("clang") or "cc"  # it needs half the time of gcc
counts = {"passed": 0, "failed": 0, "skipped": 0}


def note(ok, what, detail=""):
    counts["passed" if ok else "failed"] += 1
    print(("ok   " if ok else "FAIL ") + what)
    if not ok and detail:
        print("     " + detail.strip()[-3000:].replace("\n", "\n     "))
    return ok


def run(command, folder, timeout=120, **more):
    environment = dict(os.environ, PATH=f"{WORK}/bin:{ROOT}/build:{os.environ['PATH']}", BROWSER="true",
                       no_proxy="localhost", TMPDIR=folder)
    for name in [name for name in environment if name.startswith("PROF_")]:
        del environment[name]
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=timeout, errors="replace", **more)
    return done.returncode, done.stdout


# ---- a compiler that makes each implementation once

WRAPPER = """#!/bin/sh
exec python3 %s --cc "$@"
"""


def not_shared(text):
    """The text without its implementation, if it needs none of its own, as PROF_WRITER() and a clock of its own do."""
    return text if "PROF_WRITER(" in text or "#define clock_gettime" in text else text.replace("#define PROF_IMPLEMENTATION", "", 1)


def compile_with_shared(arguments):
    """cc, but what a file's implementation would be comes from an object that files with the same headers share."""
    sources = [name for name in arguments if name.endswith((".c", ".cpp")) and os.path.exists(name)]
    with_it = [name for name in sources if not_shared(open(name).read()) != open(name).read()]
    as_it_is = "-c" in arguments or "-shared" in arguments or os.getcwd() == f"{WORK}/README"
    if not with_it or as_it_is:
        return subprocess.run([CC, "-O0", *arguments]).returncode
    source = with_it[0]
    text = open(source).read()
    headers = re.findall(r'^#include "prof\w*\.h".*$|^#define PROF_\w+.*$', text, re.M)
    flags = [name for name in arguments if re.match(r"-D(PROF|_)", name)]
    flags = [name for name in flags if not name.startswith("-DPROF_ENABLE")]
    key = hashlib.sha1("\n".join(headers + flags).encode()).hexdigest()[:12]
    made = f"{WORK}/implementation/{key}.o"
    if not os.path.exists(made):
        os.makedirs(os.path.dirname(made), exist_ok=True)
        open(made[:-2] + ".c", "w").write("\n".join(headers) + "\n")
        status = subprocess.run([CC, "-std=gnu99", "-w", "-O0", f"-I{ROOT}", *[f for f in flags if f[:2] == "-D"], "-c",
                                 made[:-2] + ".c", "-o", made]).returncode
        if status:
            return status
    without = "shared_" + os.path.basename(source)
    text = not_shared(text)
    open(without, "w").write(f'#line 1 "{source}"\n' + text)
    arguments = [without if name == source else name for name in arguments]
    return subprocess.run([CC, "-O0", *arguments, made, "-ldl", "-lm"]).returncode


# ---- the blocks of a page


class Block:
    def __init__(self, page, line, words, code):
        self.page, self.line, self.code = page, line, code
        self.kind, self.name = words[0] if words else "", words[1] if len(words) > 1 else ""
        self.where = f"{page}:{line}"


def blocks_of(page):
    blocks, code, begun, words = [], None, 0, []
    for number, line in enumerate(open(page, encoding="utf-8").read().split("\n"), 1):
        fence = re.match(r" *```(.*)", line)
        if fence and code is None:
            code, begun, words = [], number, fence.group(1).split()
        elif fence:
            blocks.append(Block(page, begun, words, "\n".join(code) + "\n"))
            code = None
        elif code is not None:
            code.append(line)
        else:
            for check in re.findall(r"<!-- check: (.*?) -->", line):
                blocks.append(Block(page, number, ["check"], check + "\n"))
            if re.match(r"(    |\t)\S", line) and not blocks_list(page, number):
                blocks.append(Block(page, number, ["indented"], line))
    return blocks


def blocks_list(page, number):
    """1: this indented line belongs to a list."""
    lines = open(page, encoding="utf-8").read().split("\n")[:number - 1]
    for line in reversed(lines):
        if re.match(r" *([-*]|\d+\.) ", line):
            return True
        if line.strip() and not line.startswith(" "):
            return False
    return False


def called(block, live):
    """A program that calls each function of a block. One that can fail returns 0 when it has not."""
    calls, code = [], block.code
    pattern = r"^([a-z][\w ]*?[ *]+)(\w+)\(([^)]*)\) *(?:/\*.*\*/)?\n\{(.*?)^\}"
    for result, name, parameters, body in re.findall(pattern, code, re.S | re.M):
        if "daemon(" in body or result.startswith("static"):
            continue
        given = []
        for one in parameters.split(",") if parameters != "void" else []:
            given.append('"ring.prof"' if "char *" in one else "(void *)buffer" if "*" in one else "1")
        call = f"{name}({', '.join(given)})"
        fails = re.search(r"return (1;|\(int\)|prof_)", body)
        calls.append(f"if ({call}) return puts({quoted(call)}), puts(prof_error()), 1;" if fails else f"{call};")
    for name, parameters in re.findall(r"^void (\w+)\(([^)]*)\);", code, re.M):
        code += f"void {name}({parameters}) {{}}\n"
    session = live and "prof_start(" not in code
    lines = ["#include <stdint.h>", "#include <stdio.h>", "int main(void)", "{",
             "    static uint64_t buffer[512]; /* any object, all zero */", "    (void)buffer;",
             "    if (prof_start(NULL)) return 1;" if session else "", *("    " + call for call in calls),
             "    return 0;", "}"]
    return code + "\n".join(lines) + "\n"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def is_program(block):
    return re.search(r"\bmain\(", block.code)


def test_c(block, folder, commands):
    at = f"{folder}/block{block.line}"
    code = not_shared(block.code)
    open(at + ".c", "w").write(code)
    standard = "-std=c99" if code == block.code else "-std=gnu99"  # the implementation defines _GNU_SOURCE
    language = ["-x", "c++", "-std=c++11"] if block.kind == "cpp" else [standard]
    compiler = CC
    if "<coroutine>" in block.code:  # clang 14 may not know that of gcc's library
        compiler, language[2] = "c++", "-std=c++20"
    status, said = run([compiler, *language, *STRICT, "-I.", "-fsyntax-only", at + ".c"], folder)
    if not note(not status, f"{block.where} compiles without a warning", said):
        return
    if block.kind == "cpp":
        return note(block.name in commands, f"{block.where}: a command builds {block.name}")
    # without prof: the same source runs to its end
    crashes = "(int *)8" in block.code
    text = block.code if is_program(block) else called(block, False)
    open(at + "_stripped.c", "w").write(text)
    status, said = run([CC, *"-std=gnu99 -DPROF_ENABLE=0 -w -O1 -I. -pthread".split(), at + "_stripped.c", "-o",
                        at + "_stripped", "-lm"], folder)
    if not status:
        status, said = run([at + "_stripped"], folder)
    note(status == (-signal.SIGSEGV if crashes else 0), f"{block.where} runs without prof", said)
    # with prof
    if block.name:
        return note(block.name in commands, f"{block.where}: a command builds {block.name}")
    if is_program(block):
        text = block.code
    else:
        text = called(block, True)
        if "#define PROF_IMPLEMENTATION" not in text:
            text = "#define PROF_IMPLEMENTATION\n" + text
    open(at + "_live.c", "w").write(text)
    status, said = run(["cc", "-std=gnu99", "-w", f"{at}_live.c".split("/")[-1], "-o", at + "_live", "-pthread"], folder)
    if not status:
        status, said = run([at + "_live"], folder)
    note(not status, f"{block.where} runs", said)


def with_own_port(text):
    """The port of the pages may be taken by somebody else."""
    return text.replace("9012", str(PORT))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


PORT = free_port()


def folder_of(page, first):
    folder = f"{WORK}/{page[:-3].replace('/', '_')}"
    os.makedirs(folder)
    for header in glob.glob("prof*.h") + ["prof.hpp"]:
        os.symlink(f"{ROOT}/{header}", f"{folder}/{header}")
    for name in ("examples", "tests"):
        os.symlink(f"{ROOT}/{name}", f"{folder}/{name}")
    open(f"{folder}/hello.c", "w").write(first)
    for name in ("hello", "ring.prof"):
        if os.path.exists(f"{WORK}/README/{name}") and page != "README.md":
            shutil.copy(f"{WORK}/README/{name}", folder)
    return folder


def is_run_by(block):
    """1: the test takes the block from the page, or has what comes first in it: a target of make, a folder, a variable."""
    words = re.findall(r"[\w-]+/[\w/-]+|(?<=make )\w+|PROF_\w+|recover|\w+-m|obj-m", re.sub(r"#.*", "", block.code))
    test = open(block.name, encoding="utf-8").read() if os.path.exists(block.name) else ""
    return block.page in test or words and words[0] in test


def test_page(page, first):
    folder, blocks = folder_of(page, first), blocks_of(page)
    commands = "".join(block.code for block in blocks if block.kind == "sh")
    for block in blocks:
        if block.kind in ("c", "cpp") and block.name:
            open(f"{folder}/{block.name}", "w").write(with_own_port(block.code))
    for block in blocks:
        if block.kind in ("c", "cpp"):
            test_c(block, folder, commands)
        elif "/" in block.name:
            note(is_run_by(block), f"{block.where}: {block.name} runs these commands")
        elif block.kind in ("sh", "check"):
            if "curl" in block.code and not shutil.which("curl"):
                counts["skipped"] += 1
                print(f"SKIP {block.where}: no curl")
                continue
            status, said = run(["bash", "-ec", with_own_port(block.code)], folder)
            note(not status, f"{block.where}: {block.code.strip().splitlines()[0]}", said)
        elif block.kind not in ("text", "python"):
            note(False, f"{block.where}: a block of code does not say what it is", block.code)


# ---- links

PAGE = r"(?<![\w/.-])((?:docs|examples|tests|tools|bench|packaging)/[\w./-]*\.(?:md|svg|png))\b"


def anchors_of(path):
    """The headings of a page, as GitHub names them: the second of one name ends in -1."""
    anchors, code = [], False
    for line in open(path, encoding="utf-8"):
        code ^= line.startswith("```")
        if line.startswith("#") and not code:
            title = re.sub(r"[`*\[\]]|\([^)]*\)(?=$)", "", line.lstrip("#").strip()).lower()
            anchors.append(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return {name + (f"-{anchors[:at].count(name)}" if name in anchors[:at] else "") for at, name in enumerate(anchors)}


def all_files():
    made = ("./build", "./.git")
    for folder, _, names in os.walk("."):
        if not folder.startswith(made):
            yield from (os.path.join(folder, name)[2:] for name in names)


def test_links():
    tracked = sorted(all_files())
    pages = [name for name in tracked if name.endswith(".md")]
    bad, links, found = [], 0, {"README.md"}
    for page in pages:
        text = re.sub(r"^```.*?^```", "", open(page, encoding="utf-8").read(), flags=re.S | re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            path, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if os.path.isdir(to) and os.path.exists(f"{to}/README.md"):
                found.add(f"{to}/README.md")
            found.add(to)
            if not os.path.exists(to):
                bad.append(f"{page}: no {target}")
            elif anchor and to.endswith(".md") and anchor not in anchors_of(to):
                bad.append(f"{page}: no heading for {target}")
    note(not bad, f"{links} links of {len(pages)} pages lead somewhere", "\n".join(bad))
    lost = [page for page in pages if page.startswith("docs/") and page not in found]
    note(not lost, "another page leads to each page", "\n".join(lost))
    bad, names = [], 0
    for name in tracked:
        if name.startswith(("tests/corpus", "tests/fuzz/")):
            continue
        try:
            text = open(name, encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
        for path in re.findall(PAGE, text):
            names += 1
            if not os.path.exists(path):
                bad.append(f"{name}: no {path}")
    note(not bad, f"{names} names of pages and pictures in all files are right", "\n".join(bad))


# ---- the reference


def test_reference():
    made = subprocess.run([sys.executable, "src/reference.py"], stdout=subprocess.PIPE, text=True)
    reference = open("docs/reference.md", encoding="utf-8").read()
    note(not made.returncode and made.stdout == reference,
         "docs/reference.md is current: make reference makes it")
    public, own = set(), r"\b(?:prof|PROF|PROFILE)_(?!_)\w+"
    headers = [name for name in sorted(glob.glob("prof*.h")) if name != "prof_bridge.h"]
    source = "".join(f'#include "{name}"\n' for name in headers)
    for flags in ([], ["-DPROF_FREESTANDING"]):
        text = source if not flags else '#include "prof.h"\n'
        out = subprocess.run([CC, "-I.", "-E", "-dD", "-x", "c", "-", *flags], input=text, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True).stdout
        for line in out.split("\n"):
            public.update(re.findall(rf"^#define ({own})", line) if line.startswith("#") else re.findall(own, line))
    for name in glob.glob("prof*.h"):
        text = open(name, encoding="utf-8").read()
        text = re.sub(r"^#if(?:[^\n]|\\\n)*\n#error .*$", "", text, flags=re.M)  # old names, and what goes with no other
        public.update(re.findall(r'prof__environment\("(PROF_\w+)"', text))  # variables of the environment
        public.update(re.findall(r"^ *# *ifn?def (PROF_(?!_)\w+)", text, re.M))  # options
        public.update(re.findall(r"defined\((PROF_(?!_)\w+)\)", text))
    keys = subprocess.run(["build/prof", "config", "--all"], stdout=subprocess.PIPE, text=True).stdout
    public.update(re.findall(r"^(\w+) +\w+ +\S+ +PROF_\w+$", keys, re.M))
    public.update(re.findall(r"^\w+ +\w+ +\S+ +(PROF_\w+)$", keys, re.M))
    public.update(re.findall(r"^(\w+) +(?!of )[^\n]{10,}$", keys.split("\nkeys of ", 1)[1], re.M))
    guards = {re.sub(r"\W", "_", name.upper()) for name in glob.glob("prof*.h")}
    private = {name for name in public if name.startswith(("prof_private", "PROF_ROLE")) or name.endswith("_TABLE")}
    missing = sorted(name for name in public - guards - private if not re.search(rf"\b{name}\b", reference))
    note(not missing, f"docs/reference.md has all {len(public)} public names", " ".join(missing))


def test_pictures():
    for command, picture in ((["bench/plot.py", "bench/peers/results.txt"], "docs/images/cost.svg"),
                             (["docs/images/how-it-works.py"], "docs/images/how-it-works.svg")):
        if os.path.exists(command[0]):
            drawn = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, text=True).stdout
            note(drawn == open(picture, encoding="utf-8").read(), f"{command[0]} draws {picture}")
    for page, limit in LIMITS.items():
        size = os.path.getsize(page)
        note(size <= limit, f"{page} has {size} bytes, at most {limit}")
    for command in re.findall(r"^make ([a-z]+)", open("README.md").read(), re.M):
        note(re.search(rf"^{command}:", open("Makefile").read(), re.M), f"make {command} is in the Makefile")


def main():
    if sys.argv[1:2] == ["--cc"]:
        sys.exit(compile_with_shared(sys.argv[2:]))
    os.chdir(ROOT)
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK + "/bin")
    open(WORK + "/bin/cc", "w").write(WRAPPER % os.path.abspath(__file__))
    os.chmod(WORK + "/bin/cc", 0o755)
    first = next(block.code for block in blocks_of("README.md") if block.kind == "c")
    pages = ["README.md", *sorted(glob.glob("docs/guide/*.md")), "docs/how-it-works.md"]
    wanted = sys.argv[1:] or pages  # "links": no page
    for page in pages:
        if page in wanted or page == "README.md" and wanted != ["links"]:
            test_page(page, first)
    if wanted == pages or wanted == ["links"]:
        test_links()
        test_reference()
        test_pictures()
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    sys.exit(counts["failed"] > 0)


main()
