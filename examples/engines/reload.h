/* The state of the game of reload_host.c, which outlives every version of its code. */
#ifndef RELOAD_H
#define RELOAD_H

typedef struct game_state {
    int frame, frames_of_version, over;
    double x, speed;
} game_state;

/* What the library has: one frame of the game. */
typedef void game_update(game_state *state);
#endif
