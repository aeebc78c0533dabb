"""What prof_python.c records of a Python program: PROF_OUTPUT=trace.json python3 examples/python/example.py"""
import threading
import prof_python as prof


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def load(name):
    with prof.scope("parse"):
        prof.mark("loading " + name)
        prof.work(10000)


def begin_thread(frame, event, argument):
    """The first call on a thread of the module threading comes here."""
    prof.thread_name(threading.current_thread().name)
    prof.functions(True)


if __name__ == "__main__":
    threading.setprofile(begin_thread)  # threads from here on
    prof.thread_name("main")
    prof.functions(True)  # this one
    threads = [threading.Thread(target=load, args=[name], name="loader " + name) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    fibonacci(10)
    for thread in threads:
        thread.join()
    prof.functions(False)
