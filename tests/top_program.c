/* top_program.c - the program that tests/test_top.sh watches: it records as the environment says, until the file END
   exists, or for two minutes. Usage: top_program END [much]. much: 200 more scopes a round */
#include "../prof.h"
#include <time.h>
#include <unistd.h>

static void rest(void)
{
    struct timespec time = {0, 1000000};
    PROFILE_FUNCTION();
    nanosleep(&time, NULL);
}

static void work(void)
{
    PROFILE_FUNCTION();
    for (volatile int i = 0; i < 1000; ++i) {}
}

static void tiny(void)
{
    PROFILE_FUNCTION();
}

int main(int argc, char **argv)
{
    time_t end = time(NULL) + 120;
    PROFILE_SCOPE("main loop");
    while (argc >= 2 && access(argv[1], F_OK) && time(NULL) < end) {
        PROFILE_SCOPE("round");
        for (int i = 0; argc > 2 && i < 200; ++i) tiny();
        work();
        rest();
        PROFILE_FRAME("tick\033[2J"); /* no control character of a name reaches a terminal */
    }
    return 0;
}
