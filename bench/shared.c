/* shared.c - bench.c from inside a shared library that holds the recorder: thread-local storage and calls cost more
   there. */
int bench_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return bench_main(argc, argv);
}
