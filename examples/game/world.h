/* The world: a map of heights, and one of colours with the sunlight already in them. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "world"

static uint16_t ground[MAP * MAP]; /* height, 8 bits of fraction */
static uint16_t scorch[MAP * MAP]; /* 0 ... 256: burnt */
static uint32_t colors[MAP * MAP];

static int at(int x, int y) { return (y & (MAP - 1)) * MAP + (x & (MAP - 1)); }

/* Between the four cells around a point; never below the lake. */
static int height_at(fix x, fix y)
{
    int u = (x >> 8) & 255, v = (y >> 8) & 255, i = x >> 16, j = y >> 16;
    int north = ground[at(i, j)] * (256 - u) + ground[at(i + 1, j)] * u;
    int south = ground[at(i, j + 1)] * (256 - u) + ground[at(i + 1, j + 1)] * u;
    return max((int)(((int64_t)north * (256 - v) + (int64_t)south * v) >> 16), WATER << 8);
}

/* Smooth noise, 0 ... 65535, with bumps as wide as cell. */
static int noise(int x, int y, int cell)
{
    int i = x / cell, j = y / cell, mask = MAP / cell - 1;
    int u = x % cell * 4096 / cell, v = y % cell * 4096 / cell, seed = (cell + SEED) * MAP * MAP, corner[4];
    for (int k = 0; k < 4; k++)
        corner[k] = (int)(hash((uint32_t)(seed + at((i + k % 2) & mask, (j + k / 2) & mask))) >> 16);
    u = (u * u >> 12) * (3 * 4096 - 2 * u) >> 12;
    v = (v * v >> 12) * (3 * 4096 - 2 * v) >> 12;
    int top = corner[0] + ((corner[1] - corner[0]) * u >> 12), bottom = corner[2] + ((corner[3] - corner[2]) * u >> 12);
    return top + ((bottom - top) * v >> 12);
}

static int height_of(int x, int y)
{
    int plain = noise(x, y, 256) / 2 + noise(x, y, 128) / 4, ridges = 0, weight = 65536;
    for (int cell = 128; cell >= 2; cell /= 2) {
        int ridge = 65535 - abs(2 * noise(x, y, cell) - 65535);
        ridge = (int)((int64_t)ridge * ridge >> 16);
        ridges += (int)((int64_t)ridge * weight >> 17);
        weight = (int)((int64_t)weight * (12000 + ridge / 3) >> 16);
    }
    int mountain = clamp(plain - 14000, 0, 40000);
    return (10 << 8) + plain / 6 + (int)((int64_t)mountain * ridges >> 16);
}

/* Sand, grass, forest, rock or snow, by height and steepness. shade: how far below the line of shadow, cell / 256. */
static uint32_t color_of(int x, int y, int shade)
{
    int east = ground[at(x - 1, y)] - ground[at(x + 1, y)], south = ground[at(x, y - 1)] - ground[at(x, y + 1)];
    int steep = abs(east) + abs(south), grain = (int)(hash((uint32_t)at(x, y)) & 31) - 16;
    int level = ground[at(x, y)] + grain * 24 + noise(x, y, 32) / 32;
    int light = 155 + grain / 2 + clamp(east / 6, -60, 110) + clamp(south / 16, -30, 30) - min(shade / 20, 70);
    uint32_t c = level < 12000 ? 0xc8b27a : level < 17500 ? 0x5f8440 : level < 22500 ? 0x3f6436 : 0x7d7468;
    if (steep > 900 && level > 11000) c = 0x6e665c;
    if (steep < 1500 && level > 27000) c = 0xf2f4fa;
    c = blend(c, 0x1c1512, scorch[at(x, y)]);
    if (ground[at(x, y)] <= WATER << 8) c = 0x2f6f8f, light = 150 + grain / 2 - min(shade / 24, 60);
    light = max(light, 55);
    return rgb((int)(c >> 16) * light / 150, (int)(c >> 8 & 255) * light / 154, (int)(c & 255) * light / 160);
}

/* The sun is low in the east: sweeping away from it, the line of shadow sinks with every cell. Twice around, as the
   first time nothing is known of the mountains behind the edge. */
static void light_row(int y)
{
    int shadow = 0;
    for (int x = 2 * MAP - 1; x >= 0; x--) {
        int height = max(ground[at(x, y)], WATER << 8);
        shadow = max(shadow - 110, height);
        if (x < MAP) colors[at(x, y)] = color_of(x, y, shadow - height);
    }
}

static void raise_rows(int index)
{
    PROFILE_FUNCTION();
    for (int y = index * ROWS; y < (index + 1) * ROWS; y++)
        for (int x = 0; x < MAP; x++) ground[at(x, y)] = (uint16_t)height_of(x, y);
}

static void light_rows(int index)
{
    PROFILE_FUNCTION();
    for (int y = index * ROWS; y < (index + 1) * ROWS; y++) light_row(y);
}

static void load_world(void)
{
    PROFILE_FUNCTION();
    PROFILE_STAGE("raise the ground");
    jobs_run(raise_rows, MAP / ROWS);
    PROFILE_NEXT("light the ground");
    jobs_run(light_rows, MAP / ROWS);
}

static void dig_crater(int center_x, int center_y, int radius)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_I("radius", radius);
    for (int y = -2 * radius; y <= 2 * radius; y++)
        for (int x = -2 * radius; x <= 2 * radius; x++) {
            int d = (int)root((uint32_t)(x * x + y * y) << 16) / radius; /* 256 at the rim */
            uint16_t *h = &ground[at(center_x + x, center_y + y)], *burnt = &scorch[at(center_x + x, center_y + y)];
            int depth = d < 280 ? (280 - d) * radius / 2 - 760 : d < 512 ? (d - 512) * 3 : 0;
            *h = (uint16_t)clamp(*h - depth, 0, 65535);
            *burnt = (uint16_t)max(*burnt, clamp(440 - d + (int)(hash((uint32_t)(x * 977 + y)) & 63), 0, 190));
        }
}

/* Bad on purpose: all rows, in the middle of a frame, on this one thread. load_world() shows how it should be done. */
static void relight_world(void)
{
    PROFILE_FUNCTION();
    for (int y = 0; y < MAP; y++) light_row(y);
}
