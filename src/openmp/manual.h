// openmp/manual: What users read.
/* prof_openmp.h - parallel regions, loops, tasks and barriers of OpenMP, on the time line of the program's scopes, and
                   names of its threads - public domain or MIT-0; needs prof.h and libc, no header of OpenMP; the
                   licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_openmp.h"               // includes prof.h

    clang -fopenmp -O2 *.c -o solver
    PROF_OUTPUT=solver.html ./solver       // with PROF_AUTOSTART, or prof_start()

Nothing else is written: the runtime looks for a tool when it starts (OMPT, a part of OpenMP 5), and this header is one.
A program that nobody compiled with it is recorded by a library, which `make openmp` builds:

    PROF_OUTPUT=solver.html LD_PRELOAD=/path/libprof_openmp.so ./solver

Runtimes with OMPT are LLVM's libomp, which clang links, and those made of it, such as Intel's. gcc's libgomp has none:
the header records nothing there, and the metadata "openmp" are missing. Its threads have the program's name, until
PROFILE_THREAD() in a region gives them another. A program of gcc can be linked to libomp instead, which has libgomp's
functions, too: gcc -fopenmp -c, then gcc *.o -lomp.

WHAT IT RECORDS

    Scopes of the category "openmp". F is the function that has the construct; without symbols, its address in its
    module.
      omp parallel F    a parallel region, on the thread that begins it: until all threads are done
      omp thread F      the same on each thread of the region; the argument thread is its number in the region
      omp loop F, omp sections F, omp single F, omp workshare F, omp distribute F, omp taskloop F, omp scope F
                        what this thread does of them
      omp task F        a task, on the thread that executes it; F has created it
      omp barrier F, omp implicit barrier F, omp taskwait F, omp taskgroup F
                        waiting. Tasks that the thread executes meanwhile are inside
      omp idle          a thread of the runtime that has done its part of a region, until it is in the next one. For
                        libomp that is also the barrier at the end of a region, but on the thread that began it
    A thread that the runtime has made is called F and its number: those of the first region that is recorded on it. It
    keeps its track in all regions. A name that PROFILE_THREAD() gives in the region stays.
    The metadata "openmp" are the runtime's version. A region that began before the session has no scope.

WHAT IT COSTS

    Off, a call and a branch for each of these; in a session a scope, of 35 ns. A region of one thread with a loop and
    a barrier takes libomp 14 400 ns, 505 ns with this header, and 650 ns while its four scopes are recorded. The first
    time that a construct is met, its function is looked up in the symbols of its module, which are read once.
*/
