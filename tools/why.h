/* why.h - what prof why, prof frames, prof steps and prof request say alike. why.c defines the functions. */
#ifndef PROF_WHY_H
#define PROF_WHY_H

#include "tool.h"

/* Writes the name of a thread, or its number if it has no name. id: what is known of a thread that has no track. */
const char *why_thread(const prof_trace *trace, size_t track, uint64_t id, char *to, size_t size);
/* Adds to a text, as far as it has room. */
void why_add(char *to, size_t size, const char *format, ...) PROF__PRINTF(3, 4);
/* Prints a line, which goes on at a deeper indent if it is long. Names may have control characters. */
void why_say(int indent, const char *format, ...) PROF__PRINTF(2, 3);
/* Writes how a time compares with its median: "14 times its median (430 us)". */
const char *why_compared(char *to, size_t size, uint64_t ns, uint64_t median, const char *whose);
/* Adds "waited 30 ms for mutex textures held by thread worker in scope save" and so on; not for an unknown reason. */
void why_wait(const prof_trace *trace, const prof_why_wait *wait, char *line, size_t size);
/* Returns how long devices worked during a call, all together. */
uint64_t why_devices(const prof_why_call *call);
/* Writes what made a call take longer than its median, in a line; "": nothing stands out. */
const char *why_cause(const prof_trace *trace, const prof_why_report *report, const prof_why_call *call, char *to,
                      size_t size);

#endif
