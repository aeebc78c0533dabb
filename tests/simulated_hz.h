/* simulated_hz.h - the rate of the counter that tests/clocks.sh simulates: from the environment, so that one build serves
   all rates. Included before any other header. */
#ifdef __cplusplus
extern "C"
#else
extern
#endif
char *simulated_hz_text(const char *name) __asm__("getenv");

#define PROF__SIMULATED_HZ simulated_hz()
static inline unsigned long long simulated_hz(void)
{
    static volatile unsigned long long known;
    unsigned long long hz = 0;
    if (known) return known;
    const char *text = simulated_hz_text("SIMULATED_HZ");
    while (text && *text) hz = hz * 10 + (unsigned long long)(*text++ - '0');
    return known = hz ? hz : 1000000;
}
