#!/usr/bin/env python3
"""Processor time of programs that do the same, run in turns, as the least of all rounds, with the kernel's part (which
makes and fills the pages of the buffer) and without.

    cost.py ROUNDS NAME "VARIABLE=value ... PROGRAM" ... -- ARGUMENTS

Prints seconds for the first, and seconds and the difference for the others.
"""
import os
import subprocess
import sys


def seconds(command, arguments):
    words = command.split()
    program = next(i for i, word in enumerate(words) if "=" not in word)
    environment = dict(os.environ, **dict(word.split("=", 1) for word in words[:program]))
    process = subprocess.Popen(words[program:] + arguments, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    usage = os.wait4(process.pid, 0)[2]
    return usage.ru_utime + usage.ru_stime, usage.ru_utime


def main():
    end = sys.argv.index("--")
    rounds, words, arguments = int(sys.argv[1]), sys.argv[2:end], sys.argv[end + 1:]
    programs = list(zip(words[::2], words[1::2]))
    best = {name: (1e9, 1e9) for name, _ in programs}
    for _ in range(rounds):
        for name, command in programs:
            best[name] = tuple(map(min, best[name], seconds(command, arguments)))
    first = best[programs[0][0]]
    for name, _ in programs:
        more = [f"{time:.3f} s ({100 * (time / max(start, 0.001) - 1):+.1f} %)"
                for time, start in zip(best[name], first)]
        print(f"{name}: {more[0]}, without the kernel {more[1]}; least of {rounds}")


main()
