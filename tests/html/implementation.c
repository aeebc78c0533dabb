/* The implementation that make_pair.c, make_views.c and make_live.c share. */
#define PROF_IMPLEMENTATION
#include "../../prof_html.h"
#include "../../prof_server.h"
#include "../../prof_system.h"
