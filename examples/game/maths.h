/* Mathematics, time and threads for the game. All that decides the picture is in whole numbers; a number with a
   fraction is fixed point, 16 bits of it behind the point. */

typedef int32_t fix;
typedef struct vec {
    fix x, y, z; /* east, south, up */
} vec;

#define ONE 65536
#define FIX(x) ((fix)((x) * 65536.0))

static fix mul(fix a, fix b) { return (fix)(((int64_t)a * b) >> 16); }
static fix divide(fix a, fix b) { return (fix)((int64_t)a * ONE / b); }
static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
static int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* The shorter way from b to a, as the world's edges meet. */
static fix across(fix a, fix b)
{
    uint32_t half = MAP / 2 * ONE, all = (uint32_t)MAP * ONE - 1;
    return (fix)(((uint32_t)a - (uint32_t)b + half) & all) - (fix)half;
}

static fix around(fix a) { return (fix)((uint32_t)a & ((uint32_t)MAP * ONE - 1)); }

/* A full turn is ONE. Bhaskara's approximation, good to 0.2 %. */
static fix sine(fix turn)
{
    int64_t t = turn & 32767, p = t * (32768 - t);
    fix s = (fix)(ONE * 16 * p / (5 * (1ll << 30) - 4 * p));
    return turn & 32768 ? -s : s;
}

static fix cosine(fix turn) { return sine(turn + ONE / 4); }

static uint32_t root(uint32_t x)
{
    uint32_t result = 0;
    for (uint32_t bit = 1u << 30; bit; bit >>= 2) {
        uint32_t trial = result + bit;
        result >>= 1;
        if (x >= trial) x -= trial, result += bit;
    }
    return result;
}

/* Distances from the origin up to 180 cells, and their squares: 8 bits of fraction inside keep them within 32 bits. */
static fix square(vec v) { return (v.x >> 8) * (v.x >> 8) + (v.y >> 8) * (v.y >> 8) + (v.z >> 8) * (v.z >> 8); }
static fix length(vec v) { return (fix)root((uint32_t)square(v)) << 8; }

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static uint32_t dice_state = 1;
static int dice(int low, int high) { return low + (int)(hash(dice_state++) % (uint32_t)(high - low + 1)); }

/* Two colours 0xRRGGBB, t of 256 parts of the second one. */
static uint32_t blend(uint32_t a, uint32_t b, int t)
{
    uint32_t u = (uint32_t)t, v = 256 - u;
    uint32_t rb = ((a & 0xff00ff) * v + (b & 0xff00ff) * u) >> 8, g = ((a & 0xff00) * v + (b & 0xff00) * u) >> 8;
    return (rb & 0xff00ff) | (g & 0xff00);
}

static uint32_t rgb(int r, int g, int b)
{
    return (uint32_t)(clamp(r, 0, 255) << 16 | clamp(g, 0, 255) << 8 | clamp(b, 0, 255));
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_until(int64_t when)
{
    int64_t left = when - now_ns();
    struct timespec pause = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    if (left > 0) nanosleep(&pause, NULL);
}

static void start_thread(pthread_t *thread, void *(*run)(void *), intptr_t argument)
{
    int error = pthread_create(thread, NULL, run, (void *)argument);
    if (!error) return;
    fprintf(stderr, "game: cannot start a thread: %s\n", strerror(error));
    exit(1);
}
