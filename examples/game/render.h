/* The renderer: the landscape column by column, then triangles and sparks against its depths, in vertical strips. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "render"

enum { STEPS = 320, FOG = 0xb9cbe0, DEPTH_ONE = 32 };

static uint32_t picture[WIDTH * HEIGHT];
static uint16_t depths[WIDTH * HEIGHT]; /* distance, in units of cell / DEPTH_ONE */
static uint32_t sky[HEIGHT];
static struct {
    fix distance;
    int scale, fog; /* pixels per cell, 16 bits of fraction; 0 ... 256 */
} steps[STEPS];

static int fog_at(fix distance) { return clamp((distance / ONE - 120) * 256 / 640, 0, 256); }

static void start_picture(void)
{
    fix distance = 6 * ONE;
    for (int i = 0; i < STEPS; i++) {
        steps[i].distance = distance;
        steps[i].scale = divide(FOCAL * ONE / 4, distance / 4);
        steps[i].fog = fog_at(distance);
        distance += ONE / 2 + distance / 90;
    }
    for (int y = 0; y < HEIGHT; y++) sky[y] = blend(0x2f66b0, FOG, clamp(y * 256 / HORIZON, 0, 256));
}

/* Where a point is in the picture: x and y in pixels, 4 bits of fraction; z its distance. 0: behind the camera. */
static int project(vec p, vec *screen)
{
    fix x = across(p.x, camera.at.x), y = across(p.y, camera.at.y), z = mul(x, camera.east) + mul(y, camera.south);
    fix right = mul(y, camera.east) - mul(x, camera.south);
    if (z < 4 * ONE || z > 1000 * ONE || abs(right) > 2 * z || abs(p.z - camera.at.z) > 2 * z) return 0;
    screen->x = WIDTH / 2 * 16 + (int)((int64_t)right * FOCAL * 16 / z);
    screen->y = HORIZON * 16 + (int)((int64_t)(camera.at.z - p.z) * FOCAL * 16 / z);
    screen->z = z;
    return 1;
}

/* What is drawn besides the ground: the wings of birds, and sparks. */
static struct sprite {
    int left, right; /* columns */
    vec corner[3];   /* a spark has only the first */
    uint32_t color;
    int size;        /* of a spark, pixels; 0: a wing */
} sprites[2 * BIRDS + SPARKS];

static void project_wings(const struct bird *bird, int number, struct sprite *wing)
{
    fix speed = max(length(bird->speed), 256), flap = sine(number * 7919 + camera.heading * 40);
    fix ahead_x = divide(bird->speed.x, speed), ahead_y = divide(bird->speed.y, speed);
    for (int side = 0; side < 2; side++, wing++) {
        fix out = side ? FIX(1.4) : FIX(-1.4);
        vec p[3] = {bird->at, bird->at, bird->at};
        p[0].x += ahead_x, p[0].y += ahead_y;
        p[1].x -= ahead_x, p[1].y -= ahead_y;
        p[2].x -= mul(ahead_y, out), p[2].y += mul(ahead_x, out), p[2].z += flap;
        wing->left = wing->right = -1;
        if (!project(p[0], &wing->corner[0]) || !project(p[1], &wing->corner[1]) || !project(p[2], &wing->corner[2]))
            continue;
        wing->left = min(wing->corner[0].x, min(wing->corner[1].x, wing->corner[2].x)) / 16;
        wing->right = max(wing->corner[0].x, max(wing->corner[1].x, wing->corner[2].x)) / 16 + 1;
        wing->color = blend(side ? 0xffffff : 0xc9ccd8, FOG, fog_at(wing->corner[0].z));
        wing->size = 0;
    }
}

static void project_spark(const struct spark *spark, struct sprite *sprite)
{
    vec p;
    sprite->left = sprite->right = -1;
    if (!project(spark->at, &p)) return;
    sprite->size = clamp(FOCAL * ONE / 2 / p.z, 1, 9);
    sprite->left = p.x / 16 - sprite->size;
    sprite->right = p.x / 16 + sprite->size;
    sprite->corner[0] = p;
    sprite->color = rgb(spark->life * 3 + 30, spark->life * 3 / 2, spark->life / 2);
}

static void project_batch(int index)
{
    PROFILE_FUNCTION();
    for (int i = index * BATCH; i < min((index + 1) * BATCH, BIRDS + spark_count); i++)
        if (i < BIRDS) project_wings(&birds[i], i, &sprites[2 * i]);
        else project_spark(&sparks[i - BIRDS], &sprites[BIRDS + i]);
}

/* One column of the landscape, from near to far: what is drawn already hides what is behind it. */
static void draw_column(int x)
{
    fix lean = (x - WIDTH / 2) * ONE / FOCAL;
    fix east = camera.east - mul(camera.south, lean), south = camera.south + mul(camera.east, lean);
    int bottom = HEIGHT, eye = camera.at.z / 256;
    for (int i = 0; i < STEPS && bottom > 0; i++) {
        fix distance = steps[i].distance;
        fix map_x = camera.at.x + mul(east, distance), map_y = camera.at.y + mul(south, distance);
        int cell = at(map_x >> 16, map_y >> 16);
        int top = HORIZON + (int)((int64_t)(eye - height_at(map_x, map_y)) * steps[i].scale >> 24);
        if (top >= bottom) continue;
        uint32_t color = blend(colors[cell], FOG, steps[i].fog);
        for (top = max(top, 0); bottom > top;) {
            bottom--;
            picture[bottom * WIDTH + x] = color;
            depths[bottom * WIDTH + x] = (uint16_t)(distance / (ONE / DEPTH_ONE));
        }
    }
    while (bottom-- > 0) picture[bottom * WIDTH + x] = sky[bottom], depths[bottom * WIDTH + x] = 65535;
}

static void draw_wing(const struct sprite *wing, int left, int right)
{
    vec a = wing->corner[0], b = wing->corner[1], c = wing->corner[2];
    int top = max(min(a.y, min(b.y, c.y)) / 16, 0), bottom = min(max(a.y, max(b.y, c.y)) / 16 + 1, HEIGHT - 1);
    int depth = a.z / (ONE / DEPTH_ONE);
    if ((b.x - a.x) * (c.y - a.y) < (b.y - a.y) * (c.x - a.x)) {
        vec swap = b;
        b = c, c = swap;
    }
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            int px = x * 16 + 8, py = y * 16 + 8;
            if ((b.x - a.x) * (py - a.y) < (b.y - a.y) * (px - a.x)) continue;
            if ((c.x - b.x) * (py - b.y) < (c.y - b.y) * (px - b.x)) continue;
            if ((a.x - c.x) * (py - c.y) < (a.y - c.y) * (px - c.x)) continue;
            if (depth < depths[y * WIDTH + x]) picture[y * WIDTH + x] = wing->color;
        }
}

static void draw_spark(const struct sprite *spark, int left, int right)
{
    int center_x = spark->corner[0].x / 16, center_y = spark->corner[0].y / 16, radius = spark->size;
    int depth = spark->corner[0].z / (ONE / DEPTH_ONE) - DEPTH_ONE;
    for (int y = max(center_y - radius, 0); y <= min(center_y + radius, HEIGHT - 1); y++)
        for (int x = left; x <= right; x++) {
            uint32_t *pixel = &picture[y * WIDTH + x], c = spark->color;
            int distance = (x - center_x) * (x - center_x) + (y - center_y) * (y - center_y);
            int glow = 256 - 256 * distance / (radius * radius + 1);
            if (glow <= 0 || depth >= depths[y * WIDTH + x]) continue;
            *pixel = rgb((int)(*pixel >> 16) + ((int)(c >> 16) * glow >> 8),
                         (int)(*pixel >> 8 & 255) + ((int)(c >> 8 & 255) * glow >> 8),
                         (int)(*pixel & 255) + ((int)(c & 255) * glow >> 8));
        }
}

static void draw_strip(int index)
{
    int first = index * STRIP, last = first + STRIP - 1, drawn = 0;
    PROFILE_FUNCTION();
    PROFILE_STAGE("landscape");
    for (int x = first; x <= last; x++) draw_column(x);
    PROFILE_NEXT("birds and sparks");
    for (int i = 0; i < 2 * BIRDS + spark_count; i++) {
        const struct sprite *sprite = &sprites[i];
        if (sprite->right < first || sprite->left > last) continue;
        drawn++;
        if (sprite->size) draw_spark(sprite, max(sprite->left, first), min(sprite->right, last));
        else draw_wing(sprite, max(sprite->left, first), min(sprite->right, last));
    }
    PROFILE_ARG_I("drawn", drawn);
}

static void render(void)
{
    PROFILE_FUNCTION();
    PROFILE_STAGE("project");
    jobs_run(project_batch, (BIRDS + spark_count + BATCH - 1) / BATCH);
    PROFILE_NEXT("draw");
    jobs_run(draw_strip, WIDTH / STRIP);
}
