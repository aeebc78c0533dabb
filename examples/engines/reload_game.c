/* The game's code, which reload_host.c loads again and again. VERSION changes its scopes, and what it does. */
#define PROF_CATEGORY "game"
#include "../../prof.h"
#include "reload.h"

#ifndef VERSION
#define VERSION 1
#endif
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

#if VERSION % 2 /* odd versions have other lines, a function more, and an argument */
static void move_ball(game_state *state)
{
    PROFILE_FUNCTION();
    state->x += state->speed;
}
#endif

void update(game_state *state);
void update(game_state *state)
{
    PROFILE_SCOPE("update " TEXT_OF(VERSION));
#if VERSION % 2
    PROFILE_ARG_D("x", state->x);
    move_ball(state);
#else
    PROFILE_SCOPE("slide " TEXT_OF(VERSION));
    state->x += state->speed;
#endif
    PROFILE_COUNTER("version", VERSION);
#ifdef LAST
    state->over = state->frames_of_version == 9;
#endif
}
