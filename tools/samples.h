/* samples.h - the samples of a recording, each with the scope that was open and with its functions: what prof hot and
   prof flame --samples show. */
#ifndef PROF_SAMPLES_H
#define PROF_SAMPLES_H

#include "flame.h"
#include "symbols.h"


typedef struct samples_one {
    const prof_sample *sample;
    size_t track; /* PROF_NO_TRACK: of a thread that recorded nothing else */
    size_t node;  /* of the tree: the innermost scope that was open; or the row of the thread */
    size_t chain; /* its places are samples.chain[chain], ...: as many as it has frames, the innermost first */
} samples_one;

typedef struct samples {
    const prof_trace *trace;
    flame *tree; /* has the scopes, without their times */
    symbols *symbols;
    samples_one *items;
    size_t count, capacity;
    size_t *chain, chain_count, chain_capacity;
    struct samples_known *known; /* chains that were read before: a hash table */
    size_t known_count, known_size;
    const char **functions; /* by node: the function that has the scope, by its call site; NULL: a thread, or unknown */
    size_t function_capacity;
    uint64_t all; /* samples of the recording, whatever the window and the thread */
} samples;

/* Reads the samples of a recording in its window into `all`, and finds their functions. top: the node of the tree below
   which threads are. thread: only that of this name or number; NULL: all. folder: see symbols_open(). Prints a message
   if that fails, or if the recording has no samples. samples_free() goes with it in each case. */
int samples_read(samples *all, const prof_trace *trace, const char *path, flame *tree, size_t top, const char *thread,
                 const char *folder);
void samples_free(samples *all);

/* Returns how many frames of a sample, from the innermost on, are in the scope of `node` or around the next scope whose
   function is among them: up to the function that has that scope. All of them, if none is. */
uint32_t samples_inside(const samples *all, const samples_one *one, size_t node);

/* Returns the number of the function of a frame. */
size_t samples_function(const samples *all, const samples_one *one, uint32_t frame);

/* Returns for how many ns each of these samples stands: the period, or less where that is more in all than the threads
   may have run in which they are, or scopes of a name in them. thread: as for samples_read(). */
double samples_each(const samples *all, uint64_t counted, const char *scope, const char *thread);

/* Adds the samples to the tree: scopes, and the functions below them. */
void samples_draw(const samples *all);

/* Writes them in the format of pprof. Returns 0 without memory. */
int samples_write_pprof(const samples *all, tool_out *out);

#endif
