/* The simulation: birds that flock, meteors that fall, sparks that fly, and the camera. One call, one step. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "sim"

static struct bird {
    vec at, speed, next_speed;
} birds[BIRDS];

static struct spark {
    vec at, speed;
    int life; /* frames left */
} sparks[SPARKS];
static int spark_count;

static struct {
    vec at, speed;
    int frames; /* until it hits */
} meteor;

static struct {
    vec at;
    fix heading, east, south; /* a turn is ONE; its cosine and sine */
} camera = {.at = {FIX(300), FIX(300), FIX(120)}, .heading = FIX(0.1)};

static vec leaders[3]; /* one for each flock to follow */
static int grid_start[GRID * GRID + 1], grid_birds[BIRDS];

static int grid_cell(vec p) { return (p.y / ONE / CELL) * GRID + p.x / ONE / CELL; }

/* The broad phase: the birds in the order of the cells they are in, by counting. */
static void fill_grid(void)
{
    PROFILE_FUNCTION();
    memset(grid_start, 0, sizeof grid_start);
    for (int i = 0; i < BIRDS; i++) grid_start[grid_cell(birds[i].at)]++;
    for (int i = 0, sum = 0; i <= GRID * GRID; i++) sum += grid_start[i], grid_start[i] = sum;
    for (int i = BIRDS - 1; i >= 0; i--) grid_birds[--grid_start[grid_cell(birds[i].at)]] = i;
}

/* Keep near the others, fly as they fly, do not touch them; follow the leader, stay above the ground. */
static vec steer(const struct bird *bird, vec leader)
{
    vec pull = {0, 0, 0}, drift = {0, 0, 0}, v = bird->speed;
    int count = 0, column = bird->at.x / ONE / CELL, row = bird->at.y / ONE / CELL;
    for (int k = 0; k < 9; k++) {
        int cell = ((row + k / 3 - 1) & (GRID - 1)) * GRID + ((column + k % 3 - 1) & (GRID - 1));
        for (int i = grid_start[cell]; i < grid_start[cell + 1]; i++) {
            const struct bird *other = &birds[grid_birds[i]];
            vec d = {across(other->at.x, bird->at.x), across(other->at.y, bird->at.y), other->at.z - bird->at.z};
            fix far = square(d);
            if (far >= CELL * CELL * ONE || other == bird) continue;
            fix force = far < 36 * ONE ? (far - 36 * ONE) / 24 : ONE / 64; /* nearer than 6 cells: away from it */
            pull.x += mul(d.x, force) / 32, pull.y += mul(d.y, force) / 32, pull.z += mul(d.z, force) / 32;
            drift.x += other->speed.x - v.x, drift.y += other->speed.y - v.y, drift.z += other->speed.z - v.z;
            count++;
        }
    }
    if (count) {
        v.x += pull.x / 16 + drift.x / (16 * count);
        v.y += pull.y / 16 + drift.y / (16 * count);
        v.z += pull.z / 16 + drift.z / (16 * count);
    }
    v.x += clamp(across(leader.x, bird->at.x) / 1024, -2500, 2500) + (camera.east - v.x) / 24;
    v.y += clamp(across(leader.y, bird->at.y) / 1024, -2500, 2500) + (camera.south - v.y) / 24;
    v.z += clamp((leader.z - bird->at.z) / 256, -2500, 2500) - v.z / 24;
    fix above = bird->at.z - height_at(bird->at.x, bird->at.y) * 256;
    if (above < FIX(12)) v.z += (FIX(12) - above) / 64;
    fix speed = length(v), wanted = clamp(speed, FIX(0.7), FIX(1.4));
    if (speed == wanted) return v;
    return (vec){divide(mul(v.x, wanted), speed + 1), divide(mul(v.y, wanted), speed + 1), v.z};
}

static void steer_birds(int index)
{
    PROFILE_FUNCTION();
    for (int i = index * FLOCK; i < (index + 1) * FLOCK; i++) birds[i].next_speed = steer(&birds[i], leaders[i % 3]);
}

static void move_birds(void)
{
    PROFILE_FUNCTION();
    for (int i = 0; i < BIRDS; i++) {
        struct bird *bird = &birds[i];
        bird->speed = bird->next_speed;
        bird->at.x = around(bird->at.x + bird->speed.x);
        bird->at.y = around(bird->at.y + bird->speed.y);
        bird->at.z += bird->speed.z;
    }
}

static void add_spark(vec where, int radius, int spread, int life)
{
    if (spark_count == SPARKS) return;
    struct spark *spark = &sparks[spark_count++];
    int up = dice(0, spread), turn = dice(0, ONE - 1), out = dice(0, spread - up * 3 / 4);
    spark->at.x = around(where.x + dice(-radius, radius));
    spark->at.y = around(where.y + dice(-radius, radius));
    spark->at.z = where.z + dice(-radius, radius);
    spark->speed.x = mul(cosine(turn), out), spark->speed.y = mul(sine(turn), out), spark->speed.z = up;
    spark->life = dice(life / 4, life);
}

static void move_spark_batch(int index)
{
    PROFILE_FUNCTION();
    for (int i = index * BATCH; i < min((index + 1) * BATCH, spark_count); i++) {
        struct spark *spark = &sparks[i];
        spark->at.x = around(spark->at.x + spark->speed.x);
        spark->at.y = around(spark->at.y + spark->speed.y);
        spark->at.z += spark->speed.z;
        spark->speed.z -= FIX(0.03);
        spark->life--;
        fix floor = height_at(spark->at.x, spark->at.y) * 256;
        if (spark->at.z < floor) {
            spark->at.z = floor;
            spark->speed.x /= 2, spark->speed.y /= 2, spark->speed.z = abs(spark->speed.z) / 3;
        }
    }
}

static void move_sparks(void)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_I("sparks", spark_count);
    jobs_run(move_spark_batch, (spark_count + BATCH - 1) / BATCH);
    for (int i = 0; i < spark_count;)
        if (sparks[i].life <= 0) sparks[i] = sparks[--spark_count];
        else i++;
}

static void explode(void)
{
    PROFILE_FUNCTION();
    PROFILE_MARK("impact");
    play_sound(SOUND_IMPACT);
    dig_crater(meteor.at.x / ONE, meteor.at.y / ONE, 26);
    for (int i = 0; i < 2500; i++) add_spark(meteor.at, FIX(5), FIX(1.6), 110);
    relight_world();
}

static void launch_meteor(int ahead, int right)
{
    enum { FALL = 36 };
    vec hit = {around(camera.at.x + camera.east * ahead - camera.south * right),
               around(camera.at.y + camera.south * ahead + camera.east * right), 0};
    hit.z = height_at(hit.x, hit.y) * 256;
    PROFILE_MARK_F("meteor, %d cells away", ahead);
    play_sound(SOUND_METEOR);
    meteor.speed = (vec){mul(camera.south, FIX(1.5)), -mul(camera.east, FIX(1.5)), FIX(-3.4)};
    meteor.at = (vec){hit.x - FALL * meteor.speed.x, hit.y - FALL * meteor.speed.y, hit.z - FALL * meteor.speed.z};
    meteor.frames = FALL;
}

static void move_meteor(int frame)
{
    static const struct {
        int frame, ahead, right;
    } script[] = {{22, 250, 90}, {76, 250, -110}, {136, 330, -10}};
    PROFILE_FUNCTION();
    for (int i = 0; i < COUNT(script); i++)
        if (script[i].frame == frame) launch_meteor(script[i].ahead, script[i].right);
    if (!meteor.frames) return;
    meteor.at.x = around(meteor.at.x + meteor.speed.x);
    meteor.at.y = around(meteor.at.y + meteor.speed.y);
    meteor.at.z += meteor.speed.z;
    for (int i = 0; i < 50; i++) add_spark(meteor.at, FIX(1.5), FIX(0.3), 60);
    if (--meteor.frames == 0) explode();
}

static void move_camera(int frame)
{
    camera.heading += 20 + sine(frame * 300) / 1200;
    camera.east = cosine(camera.heading);
    camera.south = sine(camera.heading);
    camera.at.x = around(camera.at.x + camera.east);
    camera.at.y = around(camera.at.y + camera.south);
    int top = 0;
    for (int i = 0; i < 100; i += 4) {
        int x = camera.at.x / ONE + camera.east * i / ONE, y = camera.at.y / ONE + camera.south * i / ONE;
        top = max(top, height_at(x * ONE, y * ONE));
    }
    camera.at.z += (top * 256 + FIX(50) - camera.at.z) / 40;
    for (int i = 0; i < 3; i++) {
        fix ahead = FIX(90) + FIX(50) * i, side = 45 * sine(frame * 400 + i * ONE / 3);
        leaders[i].x = around(camera.at.x + mul(camera.east, ahead) - mul(camera.south, side));
        leaders[i].y = around(camera.at.y + mul(camera.south, ahead) + mul(camera.east, side));
        leaders[i].z = camera.at.z + 10 * sine(frame * 500 + i * ONE / 4);
    }
}

static void start_simulation(void)
{
    PROFILE_FUNCTION();
    move_camera(0);
    camera.at.z = FIX(110);
    for (int i = 0; i < BIRDS; i++) {
        const vec *leader = &leaders[i % 3];
        birds[i].at.x = around(leader->x + dice(FIX(-40), FIX(40)));
        birds[i].at.y = around(leader->y + dice(FIX(-40), FIX(40)));
        birds[i].at.z = leader->z + dice(FIX(-10), FIX(10));
        birds[i].speed = (vec){camera.east, camera.south, 0};
    }
}

static void simulate(int frame)
{
    PROFILE_FUNCTION();
    PROFILE_STAGE("birds");
    fill_grid();
    jobs_run(steer_birds, BIRDS / FLOCK);
    move_birds();
    if (frame % 23 == 5) play_sound(SOUND_GULL);
    PROFILE_NEXT("meteor and sparks");
    move_meteor(frame);
    move_sparks();
    PROFILE_NEXT("camera");
    move_camera(frame);
    PROFILE_COUNTER("sparks", spark_count);
}
