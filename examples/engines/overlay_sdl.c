/* An SDL2 program that shows its own profile while it runs: see overlay.h for the part that fits any engine.

       cc -O2 examples/engines/overlay_sdl.c -o overlay_sdl $(sdl2-config --cflags --libs) -pthread && ./overlay_sdl

   Arguments: frames (0: until the window is closed), a file for a picture of the last frame (.bmp), a recording. It
   ends with the figures of the whole run. */
#define PROF_IMPLEMENTATION
#include "overlay.h"
#include <SDL.h>
#include <stdlib.h>

enum { WIDTH = 960, HEIGHT = 540, BALLS = 400, SCALE = 2, FRAME_MS = 16 };

/*-- text: letters of 3 x 5 dots, five rows of an octal digit each ---------------------------------------------------*/

static const unsigned short font[64] = { /* from ' ' to '_'; small letters become capitals */
    000000, 022202, 055000, 057575, 036736, 051245, 025257, 022000, 012221, 042224, 052500, 002720, 000024, 000700,
    000002, 011244, 075557, 026227, 071747, 071317, 055711, 074717, 074757, 071222, 075757, 075717, 002020, 002024,
    012421, 007070, 042124, 061202, 075547, 025755, 065656, 034443, 065556, 074647, 074644, 034553, 055755, 072227,
    011152, 055655, 044447, 057755, 065555, 025552, 065644, 025563, 065655, 034216, 072222, 055557, 055552, 055775,
    055255, 055222, 071247, 032223, 044211, 062226, 025000, 000007};

static void set_color(SDL_Renderer *renderer, unsigned color)
{
    SDL_SetRenderDrawColor(renderer, (Uint8)(color >> 16), (Uint8)(color >> 8), (Uint8)color, 230);
}

static void draw_box(void *user, int x, int y, int width, int height, unsigned color)
{
    SDL_Rect rect = {x, y, width, height};
    set_color((SDL_Renderer *)user, color);
    SDL_RenderFillRect((SDL_Renderer *)user, &rect);
}

static void draw_text(void *user, int x, int y, unsigned color, const char *text)
{
    SDL_Rect dots[15];
    set_color((SDL_Renderer *)user, color);
    for (; *text; text++, x += 4 * SCALE) {
        int letter = *text >= 'a' && *text <= 'z' ? *text - 32 : *text, count = 0;
        unsigned glyph = letter >= ' ' && letter <= '_' ? font[letter - ' '] : font['?' - ' '];
        for (int dot = 0; dot < 15; dot++)
            if (glyph >> (14 - dot) & 1)
                dots[count++] = (SDL_Rect){x + dot % 3 * SCALE, y + dot / 3 * SCALE, SCALE, SCALE};
        SDL_RenderFillRects((SDL_Renderer *)user, dots, count);
    }
}

/*-- the figures, which a thread renews ------------------------------------------------------------------------------*/

static struct {
    SDL_mutex *lock;
    SDL_atomic_t over;
    overlay figures; /* under the lock */
} shown;

static int refresh(void *unused)
{
    (void)unused;
    PROFILE_THREAD("overlay");
    while (!SDL_AtomicGet(&shown.over)) {
        overlay figures;
        prof_status status = PROF_OK;
        PROFILE_BLOCK("overlay_read") { status = overlay_read(&figures, 2); }
        if (status == PROF_OK) {
            SDL_LockMutex(shown.lock);
            shown.figures = figures;
            SDL_UnlockMutex(shown.lock);
        }
        SDL_Delay(300);
    }
    return 0;
}

/*-- the game --------------------------------------------------------------------------------------------------------*/

static struct ball {
    float x, y, dx, dy;
} balls[BALLS];
static double memory; /* MiB */

static float between(float low, float high)
{
    static unsigned dice = 1;
    dice = dice * 1664525u + 1013904223u;
    return low + (float)(dice >> 16) / 65536.0f * (high - low);
}

static void start_balls(void)
{
    for (int i = 0; i < BALLS; i++) {
        balls[i].x = between(0, WIDTH);
        balls[i].y = between(0, HEIGHT);
        balls[i].dx = between(-2, 2);
        balls[i].dy = between(-2, 2);
    }
}

static void collide(void)
{
    PROFILE_FUNCTION();
    for (int i = 0; i < BALLS; i++)
        for (int j = 0; j < i; j++) {
            float x = balls[i].x - balls[j].x, y = balls[i].y - balls[j].y;
            if (x * x + y * y > 16) continue;
            balls[i].dx += x * 0.05f;
            balls[j].dx -= x * 0.05f;
        }
}

static void move(void)
{
    PROFILE_FUNCTION();
    for (int i = 0; i < BALLS; i++) {
        struct ball *b = &balls[i];
        if (b->x + b->dx < 0 || b->x + b->dx > WIDTH) b->dx = -b->dx;
        if (b->y + b->dy < 0 || b->y + b->dy > HEIGHT) b->dy = -b->dy;
        b->x += b->dx;
        b->y += b->dy;
    }
}

/* Allocates for each frame, and keeps what every 60th has allocated. */
static void spawn(int frame)
{
    enum { SIZE = 64 << 10 };
    PROFILE_FUNCTION();
    void *block = malloc(SIZE);
    if (!block) return;
    PROFILE_ALLOC(block, SIZE);
    if (frame % 60) {
        PROFILE_FREE(block);
        free(block);
    } else {
        memory += SIZE / 1048576.0;
    }
    PROFILE_COUNTER("memory", memory);
}

static void draw(SDL_Renderer *renderer)
{
    static const unsigned colors[] = {0x4080c0, 0xc06040, 0x60a050};
    overlay_painter painter = {draw_box, draw_text, renderer, 4 * SCALE, 7 * SCALE};
    overlay figures;
    PROFILE_FUNCTION();
    SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND);
    SDL_SetRenderDrawColor(renderer, 24, 32, 40, 255);
    SDL_RenderClear(renderer);
    for (int i = 0; i < BALLS; i++) draw_box(renderer, (int)balls[i].x, (int)balls[i].y, 6, 6, colors[i % 3]);
    PROFILE_SCOPE("draw overlay");
    SDL_LockMutex(shown.lock);
    figures = shown.figures;
    SDL_UnlockMutex(shown.lock);
    overlay_draw(&figures, &painter, 20, 20, FRAME_MS);
}

static int play(SDL_Renderer *renderer, int frames, const char *picture)
{
    SDL_Event event;
    for (int frame = 0;; frame++) {
        PROFILE_FRAME("frame"); /* also where the last one ends */
        if (frames && frame == frames) return 1;
        while (SDL_PollEvent(&event))
            if (event.type == SDL_QUIT) return 1;
        collide();
        move();
        spawn(frame);
        draw(renderer);
        if (picture && frame == frames - 1) { /* before it is shown: what is in the buffer then is undefined */
            SDL_Surface *surface = SDL_CreateRGBSurfaceWithFormat(0, WIDTH, HEIGHT, 32, SDL_PIXELFORMAT_ARGB8888);
            if (!surface || SDL_RenderReadPixels(renderer, NULL, SDL_PIXELFORMAT_ARGB8888, surface->pixels,
                                                 surface->pitch) || SDL_SaveBMP(surface, picture)) return 0;
            SDL_FreeSurface(surface);
        }
        PROFILE_STAGE("present");
        SDL_RenderPresent(renderer);
        PROFILE_NEXT("wait");
        SDL_Delay(FRAME_MS / 2);
    }
}

static void print(const overlay *o)
{
    printf("frames %llu, memory %.4f MiB, ", o->frames, o->memory);
    printf("allocations %llu, lost %llu\n", o->allocations, o->lost);
    for (int i = 0; i < o->scope_count; i++) printf("%s: %llu calls\n", o->scopes[i].name, o->scopes[i].calls);
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 0, good;
    prof_config config = {.output = argc > 3 ? argv[3] : NULL, .buffer_size = 4 << 20};
    overlay figures;
    prof_status status = prof_start(&config);
    if (status != PROF_OK) fprintf(stderr, "no overlay: %s\n", prof_error());
    PROFILE_THREAD("game");
    SDL_Window *window = SDL_Init(SDL_INIT_VIDEO) ? NULL : SDL_CreateWindow("prof", SDL_WINDOWPOS_CENTERED,
                                                        SDL_WINDOWPOS_CENTERED, WIDTH, HEIGHT, 0);
    SDL_Renderer *renderer = window ? SDL_CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE) : NULL;
    if (!renderer) return fprintf(stderr, "%s\n", SDL_GetError()), 1;
    shown.lock = SDL_CreateMutex();
    SDL_Thread *thread = SDL_CreateThread(refresh, "overlay", NULL);
    start_balls();
    good = play(renderer, frames, argc > 2 ? argv[2] : NULL);
    if (!good) fprintf(stderr, "%s\n", SDL_GetError());
    SDL_AtomicSet(&shown.over, 1);
    SDL_WaitThread(thread, NULL);
    SDL_Quit();
    if (status != PROF_OK) return !good;
    if (prof_stop() != PROF_OK || overlay_read(&figures, 1e6) != PROF_OK)
        return fprintf(stderr, "%s\n", prof_error()), 1;
    print(&figures);
    return !good;
}
