"""Processes: PROF_OUTPUT=run.%p.prof python3 examples/python/workers.py [fork | forkserver | spawn]"""
import multiprocessing
import sys
import prof_python as prof


def square(n):
    with prof.scope("square"):
        prof.work(1000)
    return n * n


if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1] if len(sys.argv) > 1 else "fork")
    with prof.scope("all"), context.Pool(2) as pool:
        print(sum(pool.map(square, range(20), chunksize=5)))
