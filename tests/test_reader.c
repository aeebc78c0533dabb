/* test_reader.c - the reader on images that are built word by word, so that every expected figure is known beforehand.

   Ticks are nanoseconds here unless a test says otherwise, and tick 1000 is time 0. The small images that the tests
   write down are also the seeds of the fuzzer: see TEST(corpus). */
/* run: check traces */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdlib.h> /* declares the functions under their own names */
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc
void *test_malloc(size_t size);
void *test_calloc(size_t count, size_t size);
void *test_realloc(void *old, size_t size);
#include "private.h"
#undef malloc
#undef calloc
#undef realloc
#include "test.h"
#include "trace.h"
#include "image.h"
#include <dirent.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

/*-- memory that can run out --*/

static long allocations_left = -1; /* -1: any number */

static int may_allocate(void)
{
    if (allocations_left < 0) return 1;
    return allocations_left > 0 && allocations_left--;
}
void *test_malloc(size_t size) { return may_allocate() ? malloc(size) : NULL; }
void *test_calloc(size_t count, size_t size) { return may_allocate() ? calloc(count, size) : NULL; }
void *test_realloc(void *old, size_t size) { return may_allocate() ? realloc(old, size) : NULL; }

/* Compares a track with lines such as "scope a 0+90 d0", "mark m 5+0 d1", "scope b 7+3 d1 end"; args as " k=v". */
static void check_track(const prof_trace *trace, size_t number, const char *const *lines, size_t count)
{
    static const char *const types[] = {"scope", "mark", "counter", "frame", "lost",
                                        "span_begin", "span_mark", "span_end"};
    trace_list list = trace_read(trace, number);
    size_t i, k;
    CHECK_EQUAL(list.count, count);
    for (i = 0; i < list.count && i < count; ++i) {
        const prof_event *e = &list.events[i];
        char text[512];
        size_t n = (size_t)snprintf(text, sizeof text, "%s %s %lld+%lld d%u%s%s", types[e->type], e->name,
                                    (long long)e->start_ns, (long long)e->duration_ns, e->depth,
                                    e->flags & PROF_TRUNCATED_BEGIN ? " begin" : "",
                                    e->flags & PROF_TRUNCATED_END ? " end" : "");
        if (e->type == PROF_EVENT_LOST) n += (size_t)snprintf(text + n, sizeof text - n, " %d", (int)e->value.as.u);
        for (k = 0; k < e->arg_count && n < sizeof text; ++k)
            n += (size_t)snprintf(text + n, sizeof text - n, " %s=%d", e->args[k].key, (int)e->args[k].value.as.i);
        CHECK_TEXT(text, lines[i]);
    }
    trace_free(&list);
}
#define CHECK_TRACK(trace, number, lines) check_track(trace, number, lines, sizeof(lines) / sizeof *(lines))

/*-- structure --*/

static image balanced_image(void)
{
    image im = image_new(30, 1, 40);
    uint32_t a = site(&im, "a"), b = site(&im, "b"), c = site(&im, "c"), main_thread = string(&im, "main");
    chunk(&im, 0, 1, 1000);
    track(&im, main_thread, 1);
    begin(&im, a, 1010);
    begin(&im, b, 1020);
    begin(&im, c, 1021);
    end(&im, c, 1022);
    end(&im, b, 1030);
    begin(&im, b, 1040);
    end(&im, b, 1070);
    end(&im, a, 1100);
    begin(&im, c, 1200);
    end(&im, c, 1200);
    return im;
}

TEST(balanced)
{
    static const char *const lines[] = {"scope a 10+90 d0", "scope b 20+10 d1", "scope c 21+1 d2", "scope b 40+30 d1",
                                        "scope c 200+0 d0"};
    image im = balanced_image();
    prof_trace *trace = image_read(&im);
    const prof_trace_info *info = prof_trace_about(trace);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_TRACK(trace, 0, lines);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "main");
    CHECK_EQUAL(prof_trace_track(trace, 0)->id, 1);
    CHECK_EQUAL(prof_trace_track(trace, 0)->thread_id, 101);
    CHECK_EQUAL(prof_trace_track(trace, 0)->first_ns, 10);
    CHECK_EQUAL(prof_trace_track(trace, 0)->last_ns, 200);
    CHECK_TEXT(info->program, "synthetic");
    CHECK_TEXT(info->clock, "test clock");
    CHECK_EQUAL(info->pid, 77);
    CHECK_EQUAL(info->start_unix_ns, START_UNIX);
    CHECK_EQUAL(info->duration_ns, 200);
    CHECK_EQUAL(info->event_count, 5);
    CHECK_EQUAL(info->lost + info->overwritten_chunks + info->unmatched + info->sites_lost, 0);
    CHECK_EQUAL(info->tick_hz, 1000000000);
    CHECK(info->clock_resolution_ns > 9.99 && info->clock_resolution_ns < 10.01);
    CHECK(info->scope_cost_ns > 25.49 && info->scope_cost_ns < 25.51);
    CHECK_EQUAL(info->complete, 1);
    CHECK_EQUAL(info->mode, PROF_RING);
    prof_trace_close(trace);
}

TEST(call_sites)
{
    image im = image_new(30, 1, 100);
    uint32_t first = site_in(&im, "draw", "gfx", "src/draw.c", 42, "draw_all", PROF__KIND_BEGIN);
    uint32_t again = site_in(&im, "draw", "gfx", "src/draw.c", 42, "draw_all", PROF__KIND_BEGIN);
    uint32_t other = site_in(&im, "draw", "gfx", "src/draw.c", 43, "draw_all", PROF__KIND_BEGIN);
    trace_list list;
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, first, 1010);
    end(&im, first, 1020);
    begin(&im, again, 1030);
    end(&im, again, 1040);
    begin(&im, other, 1050);
    end(&im, other, 1060);
    begin(&im, 900, 1070); /* an id that meta does not have */
    end(&im, 900, 1080);
    trace = image_read(&im);
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 4);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "");
    CHECK_TEXT(list.events[0].site->category, "gfx");
    CHECK_TEXT(list.events[0].site->file, "src/draw.c");
    CHECK_TEXT(list.events[0].site->function, "draw_all");
    CHECK_EQUAL(list.events[0].site->line, 42);
    CHECK_EQUAL(list.events[0].site->color, 0x112233);
    CHECK_EQUAL(list.events[0].site->level, 1);
    CHECK_EQUAL(list.events[0].site->kind, PROF__KIND_BEGIN);
    CHECK(list.events[0].site == list.events[1].site); /* equal sites are one */
    CHECK(list.events[0].site != list.events[2].site);
    CHECK_TEXT(list.events[3].name, "?site 900");
    CHECK_TEXT(list.events[3].site->file, "");
    trace_free(&list);
    prof_trace_close(trace);
}

static image values_image(void)
{
    image im = image_new(70, 1, 60);
    uint32_t a = site(&im, "a"), k = site_in(&im, "k", "", "", 0, "", PROF__KIND_ARG);
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    text_record(&im, PROF__KIND_NAME, 0, "run-time name", 0);
    arg_word(&im, k, PROF_VALUE_INT, (uint64_t)-5);
    arg_word(&im, k, PROF_VALUE_UINT, ~(uint64_t)0);
    arg_word(&im, k, PROF_VALUE_DOUBLE, bits(0.1));
    arg_word(&im, k, PROF_VALUE_BOOL, 1);
    arg_word(&im, k, PROF_VALUE_POINTER, 0xdeadbeef);
    text_record(&im, PROF__KIND_ARG, k, "x=1;\"y\"\\", 1);
    text_record(&im, PROF__KIND_ARG, k, "", 0);
    at_tick(&im, PROF__KIND_MARK, a, 1015);
    text_record(&im, PROF__KIND_NAME, 0, "mark, named", 0);
    at_tick(&im, PROF__KIND_COUNTER_INT, a, 1016);
    put(&im, (uint64_t)-7);
    text_record(&im, PROF__KIND_NAME, 0, "belongs to nothing", 0);
    at_tick(&im, PROF__KIND_COUNTER_DOUBLE, a, 1017);
    put(&im, bits(2.5));
    end(&im, a, 1020);
    at_tick(&im, PROF__KIND_FRAME, a, 1030);
    at_tick(&im, PROF__KIND_FRAME, k, 1035);
    at_tick(&im, PROF__KIND_FRAME, a, 1046);
    return im;
}

/* Messages whose values fit their formats and do not, flows with and without partners, a throughput. */
static image notes_image(void)
{
    image im = image_new(110, 1, 80);
    uint32_t fine = site_in(&im, "%s: %5.1f|%-*d", "", "", 0, "", PROF__KIND_EVENT);
    uint32_t wrong = site_in(&im, "%s %n %d %y", "", "", 0, "", PROF__KIND_EVENT);
    uint32_t flow = site_in(&im, "flow", "", "", 0, "", PROF__KIND_EVENT);
    uint32_t copy = site_in(&im, "copy", "", "", 0, "", PROF__KIND_BEGIN | PROF_ROLE_THROUGHPUT << PROF__ROLE_SHIFT);
    uint32_t bytes = site_in(&im, "bytes", "", "", 0, "", PROF__KIND_ARG);
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, copy, 1010);
    arg_word(&im, bytes, PROF_VALUE_UINT, 2000);
    event(&im, flow, PROF_EVENT_FLOW_OUT, 0, ~(uint64_t)0, 1011);
    event(&im, fine, PROF_EVENT_LOG, PROF_LOG_ERROR, 0, 1012);
    text_record(&im, PROF__KIND_DATA, 0, "name", 0);
    put(&im, head(PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_DOUBLE << 32 | 1));
    put(&im, bits(2.25));
    put(&im, head(PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_INT << 32 | 1));
    put(&im, 4);
    put(&im, head(PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_INT << 32 | 1));
    put(&im, (uint64_t)-7);
    event(&im, wrong, PROF_EVENT_LOG, 200, 0, 1013);
    put(&im, head(PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_INT << 32 | 1));
    put(&im, 5);
    put(&im, head(PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_POINTER << 32 | 1));
    put(&im, 6);
    event(&im, wrong, PROF_EVENT_LOG, 0, 0, 1014);
    text_record(&im, PROF__KIND_NAME, 0, "%s of its own", 0);
    event(&im, flow, PROF_EVENT_FLOW_STEP, 0, ~(uint64_t)0, 1015);
    event(&im, flow, PROF_EVENT_FLOW_IN, 0, ~(uint64_t)0, 1016);
    event(&im, flow, PROF_EVENT_FLOW_OUT, 0, ~(uint64_t)0, 1017);
    end(&im, copy, 1020);
    event(&im, flow, PROF_EVENT_FLOW_IN, 0, 5, 1025);
    return im;
}

TEST(notes)
{
    image im = notes_image();
    prof_trace *trace = image_read(&im);
    trace_list list = trace_read(trace, 0);
    prof_stat *stats;
    size_t count;
    CHECK_EQUAL(list.count, 9);
    CHECK_EQUAL(list.events[1].type, PROF_EVENT_FLOW_OUT);
    CHECK(list.events[1].object == ~(uint64_t)0);
    CHECK_TEXT(list.events[2].value.as.string, "name:   2.2|-7  ");
    CHECK_EQUAL(list.events[2].detail, PROF_LOG_ERROR);
    CHECK_EQUAL(list.events[2].arg_count, 4);
    CHECK_TEXT(list.events[3].value.as.string, "(%s has a value of another type) (%n is not supported) (%d is missing) %y");
    CHECK_EQUAL(list.events[3].detail, 200);
    CHECK_TEXT(list.events[4].value.as.string, "%s of its own"); /* which is no format */
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(stats->bytes, 2000);
    CHECK(stats->mean_rate > 199999 && stats->mean_rate < 200001 && stats->deviation_rate < 1);
    prof_stats_free(stats);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(values)
{
    image im = values_image();
    prof_trace *trace = image_read(&im);
    trace_list list = trace_read(trace, 0);
    const prof_arg *args = list.events[0].args;
    CHECK_EQUAL(list.count, 7);
    CHECK_TEXT(list.events[0].name, "run-time name");
    CHECK_TEXT(list.events[0].site->name, "a");
    CHECK_EQUAL(list.events[0].arg_count, 7);
    CHECK_TEXT(args[0].key, "k");
    CHECK_EQUAL(args[0].value.type, PROF_VALUE_INT);
    CHECK_EQUAL(args[0].value.as.i, -5);
    CHECK_EQUAL(args[1].value.type, PROF_VALUE_UINT);
    CHECK(args[1].value.as.u == ~(uint64_t)0);
    CHECK_EQUAL(args[2].value.type, PROF_VALUE_DOUBLE);
    CHECK(args[2].value.as.d >= 0.1 && args[2].value.as.d <= 0.1);
    CHECK_EQUAL(args[3].value.type, PROF_VALUE_BOOL);
    CHECK_EQUAL(args[3].value.as.u, 1);
    CHECK_EQUAL(args[4].value.type, PROF_VALUE_POINTER);
    CHECK_EQUAL(args[4].value.as.u, 0xdeadbeef);
    CHECK_EQUAL(args[5].value.type, PROF_VALUE_STRING);
    CHECK_EQUAL(args[5].value.cut, 1);
    CHECK_TEXT(args[5].value.as.string, "x=1;\"y\"\\");
    CHECK_TEXT(args[6].value.as.string, "");
    CHECK_EQUAL(args[6].value.cut, 0);
    CHECK_EQUAL(list.events[1].type, PROF_EVENT_MARK);
    CHECK_TEXT(list.events[1].name, "mark, named");
    CHECK_EQUAL(list.events[1].depth, 1);
    CHECK_EQUAL(list.events[2].type, PROF_EVENT_COUNTER);
    CHECK_EQUAL(list.events[2].value.type, PROF_VALUE_INT);
    CHECK_EQUAL(list.events[2].value.as.i, -7);
    CHECK_TEXT(list.events[2].name, "a");
    CHECK_EQUAL(list.events[3].value.type, PROF_VALUE_DOUBLE);
    CHECK(list.events[3].value.as.d >= 2.5 && list.events[3].value.as.d <= 2.5);
    CHECK_EQUAL(list.events[4].type, PROF_EVENT_FRAME);
    CHECK_EQUAL(list.events[4].duration_ns, 0);
    CHECK_EQUAL(list.events[5].duration_ns, 0);
    CHECK_TEXT(list.events[6].name, "a");
    CHECK_EQUAL(list.events[6].duration_ns, 16);
    trace_free(&list);
    prof_trace_close(trace);
}

/* Scopes and arguments over three chunks, which do not lie in their order, and a second track between them. */
static image crossing_image(void)
{
    image im = image_new(22, 4, 60);
    uint32_t a = site(&im, "a"), b = site(&im, "b"), c = site(&im, "c"), k = site(&im, "k");
    im.header->mode = PROF_FILL;
    chunk(&im, 2, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    arg_word(&im, k, PROF_VALUE_INT, 1);
    begin(&im, b, 1020);
    arg_word(&im, k, PROF_VALUE_INT, 2);
    begin(&im, c, 1021);
    end(&im, c, 1022);
    chunk(&im, 3, 2, 1005);
    track(&im, 0, 2);
    begin(&im, c, 1006);
    end(&im, c, 1500);
    chunk(&im, 0, 3, 1030);
    track(&im, 0, 1);
    arg_word(&im, k, PROF_VALUE_INT, 3); /* of b */
    begin(&im, c, 1031);
    arg_word(&im, k, PROF_VALUE_INT, 4);
    end(&im, c, 1032);
    end(&im, b, 1040);
    arg_word(&im, k, PROF_VALUE_INT, 5); /* of a */
    begin(&im, c, 1050);
    chunk(&im, 1, 4, 1055);
    track(&im, 0, 1);
    end(&im, c, 1060);
    arg_word(&im, k, PROF_VALUE_INT, 6); /* of a */
    end(&im, a, 1100);
    return im;
}

TEST(crossing)
{
    static const char *const one[] = {"scope a 10+90 d0 k=1 k=5 k=6", "scope b 20+20 d1 k=2 k=3", "scope c 21+1 d2",
                                      "scope c 31+1 d2 k=4", "scope c 50+10 d1"};
    static const char *const two[] = {"scope c 6+494 d0"};
    image im = crossing_image();
    prof_trace *trace = image_read(&im);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_TRACK(trace, 0, one);
    CHECK_TRACK(trace, 1, two);
    CHECK_EQUAL(prof_trace_about(trace)->mode, PROF_FILL);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 6);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
}

TEST(shared_chunk) /* the second thread continues in what the first one left, then the first track is named anew */
{
    static const char *const one[] = {"scope a 1+1 d0"}, *const two[] = {"scope a 50+20 d0"};
    image im = image_new(30, 2, 40);
    uint32_t a = site(&im, "a"), old_name = string(&im, "old"), new_name = string(&im, "new");
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, old_name, 1);
    begin(&im, a, 1001);
    end(&im, a, 1002);
    track(&im, new_name, 1);
    track(&im, 0, 2);
    begin(&im, a, 1050);
    chunk(&im, 1, 2, 1060);
    track(&im, 0, 2);
    end(&im, a, 1070);
    trace = image_read(&im);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_TRACK(trace, 0, one);
    CHECK_TRACK(trace, 1, two);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "new");
    CHECK_EQUAL(prof_trace_track(trace, 1)->first_ns, 50);
    prof_trace_close(trace);
}

/* The ring has overwritten the begins of a, b and c. */
static image orphans_image(void)
{
    image im = image_new(30, 2, 60);
    uint32_t a = site(&im, "a"), b = site(&im, "b"), c = site(&im, "c"), k = site(&im, "k");
    im.header->overwritten = 5;
    chunk(&im, 1, 6, 1100);
    track(&im, 0, 1);
    arg_word(&im, k, PROF_VALUE_INT, 1); /* of c */
    end(&im, c, 1110);
    begin(&im, c, 1120);
    end(&im, c, 1130);
    arg_word(&im, k, PROF_VALUE_INT, 2); /* of b */
    end(&im, b, 1140);
    chunk(&im, 0, 7, 1150);
    track(&im, 0, 1);
    begin(&im, b, 1160);
    end(&im, b, 1170);
    arg_word(&im, k, PROF_VALUE_INT, 3); /* of a */
    begin(&im, c, 1175); /* left by longjmp to where a ends */
    end(&im, a, 1180);
    begin(&im, b, 1190);
    arg_word(&im, k, PROF_VALUE_INT, 4);
    end(&im, b, 1195);
    arg_word(&im, k, PROF_VALUE_INT, 5); /* of a scope of which nothing else is left */
    return im;
}

TEST(orphans)
{
    static const char *const lines[] = {"scope a 100+80 d0 begin k=3", "scope b 100+40 d1 begin k=2",
                                        "scope c 100+10 d2 begin k=1", "scope c 120+10 d2", "scope b 160+10 d1",
                                        "scope c 175+5 d1 end", "scope b 190+5 d0 k=4"};
    image im = orphans_image();
    prof_trace *trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    CHECK_EQUAL(prof_trace_track(trace, 0)->first_ns, 100);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 5);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 1);
    prof_trace_close(trace);
}

TEST(orphans_need_a_loss) /* the same end, but nothing was overwritten: it fits nothing */
{
    static const char *const lines[] = {"scope b 20+80 d0 end"};
    image im = image_new(20, 1, 40);
    uint32_t a = site(&im, "a"), b = site(&im, "b");
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    end(&im, a, 1010);
    begin(&im, b, 1020);
    end(&im, a, 1100);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 2);
    prof_trace_close(trace);
}

static image truncated_image(void)
{
    image im = image_new(30, 1, 40);
    uint32_t a = site(&im, "a"), b = site(&im, "b"), c = site(&im, "c");
    im.header->state = PROF__RUNNING;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    begin(&im, b, 1020);
    begin(&im, c, 1030);
    begin(&im, c, 1040);
    end(&im, b, 1060); /* longjmp out of both c */
    at_tick(&im, PROF__KIND_MARK, c, 1070);
    begin(&im, b, 1080);
    at_tick(&im, PROF__KIND_MARK, c, 1095);
    return im;
}

TEST(truncated_ends)
{
    static const char *const lines[] = {"scope a 10+85 d0 end", "scope b 20+40 d1", "scope c 30+30 d2 end",
                                        "scope c 40+20 d3 end", "mark c 70+0 d1", "scope b 80+15 d1 end",
                                        "mark c 95+0 d2"};
    image im = truncated_image();
    prof_trace *trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
}

TEST(ends_by_name) /* the end of a loose scope has its own call site */
{
    static const char *const lines[] = {"scope load 10+40 d0", "scope load 20+10 d1", "scope other 35+15 d1 end"};
    image im = image_new(30, 1, 60);
    uint32_t begins = site_in(&im, "load", "", "a.c", 1, "f", PROF__KIND_BEGIN);
    uint32_t ends = site_in(&im, "load", "", "a.c", 9, "g", PROF__KIND_END), other = site(&im, "other");
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, begins, 1010);
    begin(&im, begins, 1020);
    end(&im, ends, 1030);
    begin(&im, other, 1035);
    end(&im, ends, 1050);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    prof_trace_close(trace);
}

TEST(site_before_name) /* the same site wins over a nearer one of the same name */
{
    static const char *const lines[] = {"scope x 10+20 d0", "scope x 20+10 d1 end"};
    image im = image_new(30, 1, 60);
    uint32_t outer = site_in(&im, "x", "", "a.c", 1, "f", PROF__KIND_BEGIN);
    uint32_t inner = site_in(&im, "x", "", "a.c", 2, "f", PROF__KIND_BEGIN);
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, outer, 1010);
    begin(&im, inner, 1020);
    end(&im, outer, 1030);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    prof_trace_close(trace);
}

TEST(overlap_is_no_orphan) /* begin x, begin y, end x, end y: y is a span, also where begins may be missing */
{
    static const char *const lines[] = {"scope x 10+20 d0", "span_begin y 20+0 d1", "span_end y 40+0 d0"};
    image im = image_new(30, 1, 60);
    uint32_t x = site(&im, "x"), y = site(&im, "y");
    prof_trace *trace;
    im.header->overwritten = 1;
    chunk(&im, 0, 2, 1000);
    track(&im, 0, 1);
    begin(&im, x, 1010);
    begin(&im, y, 1020);
    end(&im, x, 1030);
    end(&im, y, 1040);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
}

/* Its end in another chunk, its arguments with it; of the same site the one that began last ends first; what is inside
   is not deeper for it. The stack of the reader is the same in front of it and after it. */
TEST(overlap_across_chunks)
{
    static const char *const lines[] = {"scope o 5+95 d0",        "scope x 10+40 d1",      "span_begin y 20+0 d2",
                                        "span_begin y 30+0 d2",   "scope in 35+5 d2",      "scope z 55+5 d1",
                                        "span_end y 60+0 d1",     "span_end y 80+0 d1"};
    image im = image_new(30, 2, 60);
    uint32_t o = site(&im, "o"), x = site(&im, "x"), y = site(&im, "y"), in = site(&im, "in"), z = site(&im, "z");
    prof_trace *trace;
    prof_spans *spans;
    prof_span span;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, o, 1005);
    begin(&im, x, 1010);
    begin(&im, y, 1020);
    begin(&im, y, 1030);
    begin(&im, in, 1035);
    end(&im, in, 1040);
    chunk(&im, 1, 2, 1045);
    track(&im, 1, 1);
    end(&im, x, 1050);
    begin(&im, z, 1055);
    end(&im, z, 1060);
    end(&im, y, 1060);
    end(&im, y, 1080);
    end(&im, o, 1100);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    CHECK(prof_spans_next(spans, &span) && span.start_ns == 30 && span.duration_ns == 30 && !span.flags);
    CHECK(prof_spans_next(spans, &span) && span.start_ns == 20 && span.duration_ns == 60 && !span.flags);
    CHECK(!prof_spans_next(spans, &span));
    prof_spans_close(spans);
    prof_trace_close(trace);
}

/* The arguments of an overlapping scope are those of its span, wherever they are: in its own chunk, in a later one, and
   texts. What another span has is not lost for it. */
TEST(overlap_has_arguments)
{
    image im = image_new(40, 2, 60);
    uint32_t x = site(&im, "x"), y = site(&im, "y"), z = site(&im, "z");
    uint32_t rows = site_in(&im, "rows", "", "", 0, "", PROF__KIND_ARG);
    uint32_t text = site_in(&im, "text", "", "", 0, "", PROF__KIND_ARG);
    prof_trace *trace;
    prof_spans *spans;
    prof_span span;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, x, 1010);
    begin(&im, y, 1020);
    arg_word(&im, rows, PROF_VALUE_INT, 7);
    text_record(&im, PROF__KIND_ARG, text, "a text of several words", 0);
    begin(&im, z, 1030);
    arg_word(&im, rows, PROF_VALUE_INT, 8);
    chunk(&im, 1, 2, 1045);
    track(&im, 1, 1);
    arg_word(&im, rows, PROF_VALUE_INT, 9);
    end(&im, x, 1050);
    end(&im, y, 1060);
    end(&im, z, 1080);
    trace = image_read(&im);
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    CHECK(prof_spans_next(spans, &span));
    CHECK_EQUAL(span.arg_count, 2);
    if (span.arg_count == 2) {
        CHECK_TEXT(span.name, "y");
        CHECK_TEXT(span.args[0].key, "rows");
        CHECK_EQUAL(span.args[0].value.as.i, 7);
        CHECK_TEXT(span.args[1].key, "text");
        CHECK_TEXT(span.args[1].value.as.string, "a text of several words");
    }
    CHECK(prof_spans_next(spans, &span));
    CHECK_EQUAL(span.arg_count, 2);
    if (span.arg_count == 2) {
        CHECK_TEXT(span.name, "z");
        CHECK_EQUAL(span.args[0].value.as.i, 8);
        CHECK_EQUAL(span.args[1].value.as.i, 9);
    }
    CHECK(!prof_spans_next(spans, &span));
    prof_spans_close(spans);
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    CHECK(prof_spans_next(spans, &span)); /* and closed in the middle of it */
    prof_spans_close(spans);
    prof_trace_close(trace);
}

/*-- damage --*/

TEST(losses)
{
    static const char *const one[] = {"scope a 10+10 d0", "lost lost 20+0 d0 7", "mark a 30+0 d0",
                                      "lost lost 30+0 d0 2"};
    static const char *const two[] = {"lost lost 5+0 d0 3", "scope a 40+20 d0", "lost lost 60+0 d0 1"};
    image im = image_new(20, 3, 40);
    uint32_t a = site(&im, "a");
    prof_trace *trace;
    im.header->lost = 100;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    end(&im, a, 1020);
    put(&im, head(PROF__KIND_LOST, 0, 7));
    at_tick(&im, PROF__KIND_MARK, a, 1030);
    im.chunk->lost = 2;
    chunk(&im, 1, 2, 1005);
    track(&im, 0, 2);
    put(&im, head(PROF__KIND_LOST, 0, 3));
    begin(&im, a, 1040);
    end(&im, a, 1060);
    im.chunk->lost = 1;
    chunk(&im, 2, 3, 1070); /* lost, before it had a track */
    im.chunk->lost = 50;
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, one);
    CHECK_TRACK(trace, 1, two);
    CHECK_EQUAL(prof_trace_track(trace, 0)->lost, 9);
    CHECK_EQUAL(prof_trace_track(trace, 1)->lost, 4);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 163);
    prof_trace_close(trace);
}

static image torn_image(void)
{
    image im = image_new(12, 5, 40);
    uint32_t a = site(&im, "a");
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    end(&im, a, 1020);
    put(&im, head(PROF__KIND_NONE, 5, 30)); /* the low half of a word whose high half never came */
    begin(&im, a, 1040);
    chunk(&im, 1, 2, 1100);
    track(&im, 0, 1);
    begin(&im, a, 1110);
    end(&im, a, 1120);
    im.chunk->sequence = 0; /* being reused: */
    --im.serials[1];        /* nothing of this track is missing */
    chunk(&im, 2, 3, 1200);
    track(&im, 0, 1);
    begin(&im, a, 1210);
    put(&im, head(PROF__KIND_ARG, a, (uint64_t)PROF_VALUE_STRING << 32 | 200)); /* runs out of the chunk */
    put(&im, 0);
    end(&im, a, 1290);
    chunk(&im, 3, 4, 1300);
    begin(&im, a, 1310); /* before its TRACK: whose? */
    track(&im, 0, 1);
    end(&im, a, 1320);
    put(&im, head(15, a, 30)); /* no kind of this version */
    end(&im, a, 1330);
    chunk(&im, 4, 5, 1400);
    put(&im, head(PROF__KIND_TRACK, 0, 0)); /* the chunk's end cuts it */
    im.first[9] = im.first[10] = head(PROF__KIND_MARK, a, 1);
    im.first[11] = head(PROF__KIND_TRACK, 0, 0);
    return im;
}

/* A record of text whose last byte is no zero. */
static void put_open_text(image *im, uint64_t first, uint64_t text)
{
    put(im, first | 1);
    put(im, text);
}

/* What a record states about itself is checked once, before anything believes it: a text ends within its record, and
   only what others' arguments may have, a key before the value or the scope after it, is read of a device's. The words
   of a text are letters, so that one that does not end there is longer than seven. */
TEST(records_that_state_too_much)
{
    const uint64_t letters = 0x4141414141414141u, text = (uint64_t)PROF_VALUE_STRING << 32;
    const uint64_t data = head(PROF__KIND_DATA, 0, 0), flags[] = {PROF__ARG_KEY, PROF__ARG_TO};
    for (size_t i = 0; i < 4; ++i) {
        image im = image_new(12, 1, 40);
        uint32_t a = site(&im, "a");
        chunk(&im, 0, 1, 1000);
        track(&im, 0, 1);
        event(&im, a, (prof_event_type)PROF__DEVICE_MARK, 1, 50, 1010);
        put_open_text(&im, head(PROF__KIND_NAME, 0, text), letters);
        put_open_text(&im, data | text | (i == 3 ? flags[0] : 0), letters);
        put_open_text(&im, data | text | (i && i < 3 ? flags[i - 1] : 0), letters); /* to the last word of the image */
        prof_trace *trace = image_read(&im);
        trace_list list = trace_read(trace, prof_trace_track_count(trace) - 1);
        CHECK_EQUAL(list.count, 1);
        if (list.count == 1) {
            CHECK_TEXT(list.events[0].name, "AAAAAAA");
            CHECK_EQUAL(list.events[0].arg_count, i == 0);
        }
        if (list.count == 1 && list.events[0].arg_count == 1) {
            CHECK_TEXT(list.events[0].args[0].key, "AAAAAAA");
            CHECK_TEXT(list.events[0].args[0].value.as.string, "AAAAAAA");
        }
        trace_free(&list);
        prof_trace_close(trace);
    }
    for (size_t i = 0; i < 4; ++i) {
        image im = image_new(8, 1, 40);
        uint32_t a = site(&im, "a");
        chunk(&im, 0, 1, 1000);
        track(&im, 0, 1);
        at_tick(&im, i & 1 ? PROF__KIND_BEGIN : PROF__KIND_MARK, a, 1010);
        uint64_t kind = head(i & 1 ? PROF__KIND_ARG : PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_INT << 32);
        put_open_text(&im, kind | PROF__ARG_KEY | (i & 2 ? PROF__ARG_TO : 0), letters); /* a key that is no string */
        put_open_text(&im, kind, letters);
        prof_trace *trace = image_read(&im);
        trace_list list = trace_read(trace, 0);
        CHECK(list.count == 1 && list.events[0].arg_count == 1);
        if (list.count == 1 && list.events[0].arg_count == 1) CHECK_TEXT(list.events[0].args[0].key, "AAAAAAA");
        trace_free(&list);
        prof_trace_close(trace);
    }
}

/* A fiber that began on one thread, went to another whose chunk is older, and came back; its clock there is behind. */
TEST(fiber_moves)
{
    static const char *const fiber[] = {"scope a 10+68 d0", "scope b 50+20 d1", "mark m 78+0 d0"};
    static const char *const one[] = {"scope b 5+295 d0"};
    static const char *const two[] = {"scope b 100+20 d0"};
    image im = image_new(40, 2, 40);
    uint32_t a = site(&im, "a"), b = site(&im, "b"), m = site_in(&im, "m", "", "", 0, "", PROF__KIND_MARK);
    uint64_t serial = (1ull << 28) - 3; /* both parts of the serial count */
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, b, 1005);
    track_on(&im, 1u << 31, 9, serial + 2, 101); /* the second turn of track 9 */
    begin(&im, b, 1050);
    end(&im, b, 1070);
    track_on(&im, 1u << 31, 9, serial + 3, 101);
    track_on(&im, 1u << 31, 9, serial + 4, 101);
    end(&im, a, 1078);
    track(&im, 0, 1);
    end(&im, b, 1300);
    chunk(&im, 1, 2, 1001);
    track_on(&im, 1u << 31, 9, serial + 1, 102);
    begin(&im, a, 1010);
    track(&im, 0, 2);
    begin(&im, b, 1100);
    end(&im, b, 1120);
    track_on(&im, 1u << 31, 9, serial + 5, 102);
    put(&im, head(PROF__KIND_MARK, m, 60)); /* at 1061 */
    prof_trace *trace = image_read(&im);
    CHECK_EQUAL(prof_trace_track_count(trace), 3);
    CHECK_TRACK(trace, 0, one);
    CHECK_TRACK(trace, 1, two);
    CHECK_TRACK(trace, 2, fiber);
    CHECK_EQUAL(prof_trace_track(trace, 2)->fiber, 1);
    CHECK_EQUAL(prof_trace_track(trace, 0)->fiber, 0);
    CHECK_EQUAL(prof_trace_track(trace, 2)->id, 9);
    CHECK_EQUAL(prof_trace_track(trace, 2)->thread_id, 102);
    CHECK_EQUAL(prof_trace_track(trace, 2)->first_ns, 10);
    prof_trace_close(trace);
}

/* Serials that are missing: as a rule what is older is not read; in a copy, what is newer than its beginning. */
TEST(fiber_gaps)
{
    static const char *const all[] = {"mark m 10+0 d0", "mark m 20+0 d0", "mark m 30+0 d0", "mark m 40+0 d0"};
    for (unsigned missing = 0; missing < 32; ++missing) { /* bits 0 to 3: those marks; bit 4: in a copy begun at 25 */
        image im = image_new(40, 1, 40);
        uint32_t m = site_in(&im, "m", "", "", 0, "", PROF__KIND_MARK);
        unsigned from = 0, to = 4, present = 0;
        if (missing & 16) im.header->copy_tick = 1025;
        chunk(&im, 0, 1, 1000);
        track(&im, 0, 2);
        for (unsigned i = 4; i--;) { /* in the wrong order */
            if (missing >> i & 1) continue;
            track_on(&im, 1u << 31, 1, i + 1, 101);
            put(&im, head(PROF__KIND_MARK, m, 10 * (i + 1)));
            ++present;
        }
        /* what the rule leaves, found the slow way */
        unsigned first = 0, last = 4;
        while (first < 4 && missing >> first & 1) ++first;
        while (last && missing >> (last - 1) & 1) --last;
        from = first;
        for (unsigned i = first; i < last; ++i) {
            if (!(missing >> i & 1)) continue;
            unsigned next = i;
            while (missing >> next & 1) ++next;
            if (missing & 16 && next >= 2) { /* those at 30 and 40 are later than the copy */
                last = i;
                break;
            }
            from = i = next;
        }
        to = last;
        prof_trace *trace = image_read(&im);
        CHECK_EQUAL(prof_trace_track_count(trace), present ? 2 : 1);
        if (present) check_track(trace, 0, all + from, to - from);
        if (test_failures) printf("  missing %u: %u to %u\n", missing, from, to);
        prof_trace_close(trace);
    }
}

/* A copy that missed a turn, and met the next one before its first event: what was before is not lost for that. */
TEST(fiber_turn_without_events)
{
    static const char *const all[] = {"mark m 10+0 d0"};
    image im = image_new(40, 1, 40);
    uint32_t m = site_in(&im, "m", "", "", 0, "", PROF__KIND_MARK);
    im.header->copy_tick = 1025;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 2);
    track_on(&im, 1u << 31, 1, 1, 101);
    put(&im, head(PROF__KIND_MARK, m, 10));
    track_on(&im, 1u << 31, 1, 3, 101);
    prof_trace *trace = image_read(&im);
    CHECK_TRACK(trace, 0, all);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
}

/* A thread slept with its chunk while the ring went round: its slot tells when it was copied, its number does not. */
TEST(fiber_moves_from_an_old_chunk)
{
    static const char *const all[] = {"scope a 10+34 d0 end"};
    image im = image_new(40, 4, 40);
    uint32_t a = site(&im, "a"), m = site_in(&im, "m", "", "", 0, "", PROF__KIND_MARK);
    im.header->copy_tick = 1025;
    chunk(&im, 0, 1, 1000);
    track_on(&im, 1u << 31, 1, 1, 101);
    begin(&im, a, 1010); /* its end came after the copy of this chunk */
    chunk(&im, 1, 6, 1020);
    track(&im, 0, 2);
    chunk(&im, 3, 4, 1005);
    track(&im, 0, 3);
    put(&im, head(PROF__KIND_MARK, m, 39)); /* at 1044 */
    track_on(&im, 1u << 31, 1, 2, 102);
    put(&im, head(PROF__KIND_MARK, m, 35)); /* not in the scope, as it would seem */
    prof_trace *trace = image_read(&im);
    CHECK_TRACK(trace, 0, all);
    prof_trace_close(trace);
}

/* A thread took its chunk before the copy, slept, and met the fiber after it. */
TEST(fiber_moves_to_a_chunk_that_was_waiting)
{
    static const char *const all[] = {"scope a 10+0 d0 end"};
    for (unsigned missing = 0; missing < 2; ++missing) { /* a turn in between, or only the end of this one */
        image im = image_new(40, 4, 40);
        uint32_t a = site(&im, "a"), m = site_in(&im, "m", "", "", 0, "", PROF__KIND_MARK);
        im.header->copy_tick = 1025;
        chunk(&im, 1, 6, 1000);
        track_on(&im, 1u << 31, 1, 1, 101);
        begin(&im, a, 1010);
        chunk(&im, 0, 5, 1005);
        track_on(&im, 1u << 31, 1, 2 + missing, 102);
        put(&im, head(PROF__KIND_MARK, m, 35));
        prof_trace *trace = image_read(&im);
        CHECK_TRACK(trace, 0, all);
        prof_trace_close(trace);
    }
}

TEST(torn)
{
    static const char *const lines[] = {"scope a 10+10 d0", "scope a 210+110 d0"};
    image im = torn_image();
    prof_trace *trace;
    im.first[1] = 1000000; /* a track with words behind a gap: what is there is not read */
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_EQUAL(prof_trace_track(trace, 1)->id, 1000000);
    CHECK_EQUAL(prof_trace_track(trace, 1)->event_count, 0);
    prof_trace_close(trace);
}

TEST(out_of_order_ticks) /* an interrupted writer stores an older tick behind a newer one */
{
    static const char *const lines[] = {"scope a 10+30 d0", "scope b 20+20 d1", "scope b 40+0 d1", "scope b 50+0 d0"};
    image im = image_new(30, 1, 40);
    uint32_t a = site(&im, "a"), b = site(&im, "b");
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    begin(&im, b, 1020);
    end(&im, b, 1040);
    begin(&im, b, 1038);
    end(&im, b, 1039);
    end(&im, a, 1037);
    begin(&im, b, 1050);
    end(&im, b, 1049);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    prof_trace_close(trace);
}

TEST(strings_without_an_end)
{
    image im = image_new(30, 1, 40);
    uint32_t a = site(&im, "a"), k = site(&im, "k");
    trace_list list;
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    put(&im, head(PROF__KIND_NAME, 0, (uint64_t)PROF_VALUE_STRING << 32 | 1));
    memcpy(im.word, "ABCDEFGH", 8);
    im.word++;
    put(&im, head(PROF__KIND_ARG, k, (uint64_t)PROF_VALUE_STRING << 32 | 1));
    memcpy(im.word, "abcdefgh", 8);
    im.word++;
    put(&im, head(PROF__KIND_ARG, k, (uint64_t)PROF_VALUE_STRING << 32)); /* no words at all */
    put(&im, head(PROF__KIND_ARG, k, (uint64_t)PROF_VALUE_INT << 32));
    put(&im, head(PROF__KIND_ARG, k, (uint64_t)99 << 32 | 1));
    put(&im, 1);
    end(&im, a, 1020);
    trace = image_read(&im);
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 1);
    CHECK_TEXT(list.events[0].name, "ABCDEFG");
    CHECK_EQUAL(list.events[0].arg_count, 4);
    CHECK_TEXT(list.events[0].args[0].value.as.string, "abcdefg");
    CHECK_TEXT(list.events[0].args[1].value.as.string, "");
    CHECK_EQUAL(list.events[0].args[2].value.type, PROF_VALUE_NONE);
    CHECK_EQUAL(list.events[0].args[3].value.type, PROF_VALUE_NONE);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(names_between_values) /* all values are the mark's, however many names come between them */
{
    image im = image_new(320, 1, 40);
    uint32_t m = site_in(&im, "m", "", "", 0, "", PROF__KIND_MARK);
    trace_list list;
    prof_trace *trace;
    int i;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    at_tick(&im, PROF__KIND_MARK, m, 1010);
    for (i = 0; i < 100; ++i) {
        put(&im, head(PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_INT << 32 | 1));
        put(&im, (uint64_t)i);
        put(&im, head(PROF__KIND_NAME, 0, 0));
    }
    trace = image_read(&im);
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 1);
    CHECK_EQUAL(list.events[0].arg_count, 100);
    CHECK_EQUAL(list.events[0].args[99].value.as.i, 99);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(flows_have_no_names_of_their_own) /* exporters keep the names of flows, from block to block */
{
    image im = image_new(60, 1, 40);
    uint32_t f = site_in(&im, "f", "", "", 0, "", PROF__KIND_EVENT);
    unsigned type;
    trace_list list;
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    for (type = PROF_EVENT_SPAN_BEGIN; type <= PROF_EVENT_FLOW_IN; ++type) {
        at_tick(&im, PROF__KIND_EVENT, f, 1010);
        put(&im, type);
        put(&im, 77);
        text_record(&im, PROF__KIND_NAME, 0, "run", 0);
    }
    trace = image_read(&im);
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, PROF_EVENT_FLOW_IN - PROF_EVENT_SPAN_BEGIN + 1);
    for (type = 0; type < list.count; ++type) {
        const prof_event *e = &list.events[type];
        CHECK(prof__is_flow(e->type) ? e->name == e->site->name : !strcmp(e->name, "run"));
    }
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(broken_meta)
{
    static const char *const lines[] = {"scope ok 10+10 d0", "scope ?site 2 30+10 d0", "scope  50+10 d0"};
    image im = image_new(30, 1, 60);
    uint64_t *words = (uint64_t *)(void *)im.bytes + im.meta_at;
    uint32_t ok = site(&im, "ok"), fields[8] = {12345, 12345, 12345, 12345, 1, 0, 1, 1};
    prof_trace *trace;
    meta(&im, PROF__META_SITE, 2, "too short", 9);
    meta(&im, PROF__META_SITE, 3, fields, sizeof fields); /* strings that are not there */
    meta(&im, PROF__META_STRING, 0xFFFFFFFFu, "an id beyond all bounds", 24);
    meta(&im, 200, 1, "a kind of later versions", 24);
    words[im.meta_at - sizeof(prof__header) / 8] = (uint64_t)PROF__META_STRING << 56 | (uint64_t)0xFFFFFF << 32 | 9;
    chunk(&im, 0, 1, 1000);
    track(&im, 7777, 1);
    begin(&im, ok, 1010);
    end(&im, ok, 1020);
    begin(&im, 2, 1030);
    end(&im, 2, 1040);
    begin(&im, 3, 1050);
    end(&im, 3, 1060);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "");
    prof_trace_close(trace);
}

TEST(long_texts) /* are cut, between characters: each of a million events may carry them */
{
    image im = image_new(30, 1, 20000);
    char *text = (char *)malloc(100001);
    trace_list list;
    prof_trace *trace;
    memset(text, 'x', 100000);
    text[100000] = 0;
    memcpy(text + 1021, "\xE2\x82\xAC", 3);
    uint32_t a = site_in(&im, text + 98000, "", text, 1, "", PROF__KIND_BEGIN);
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, a, 1010);
    end(&im, a, 1020);
    trace = image_read(&im);
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 1);
    CHECK_EQUAL(strlen(list.events[0].site->file), 1021); /* the third byte of the character would be the 1024th */
    CHECK_EQUAL(strlen(list.events[0].name), 1023);
    trace_free(&list);
    prof_trace_close(trace);
    free(text);
}

TEST(unfinished_meta) /* a record that its thread has only reserved is skipped */
{
    static const char *const lines[] = {"scope later 10+10 d0"};
    image im = image_new(30, 1, 60);
    uint64_t *words = (uint64_t *)(void *)im.bytes + im.meta_at;
    uint32_t later;
    prof_trace *trace;
    meta(&im, PROF__META_STRING, 0, "hidden", 7);
    words[0] &= (uint64_t)0xFFFFFF << 32;
    later = site(&im, "later");
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, later, 1010);
    end(&im, later, 1020);
    trace = image_read(&im);
    CHECK_TRACK(trace, 0, lines);
    prof_trace_close(trace);
}

typedef struct broken {
    size_t offset, size;
    uint64_t value;
    prof_status status;
    const char *text; /* part of prof_error() */
} broken;
#define FIELD(name) offsetof(prof__header, name), sizeof(((prof__header *)0)->name)

TEST(broken_headers)
{
    static const broken cases[] = {
        {FIELD(magic), 0x41414141, PROF_CORRUPT, "not a prof image (bad magic)"},
        {FIELD(byte_order), 0x04030201u, PROF_UNSUPPORTED, "version"}, /* and the rest is not turned */
        {FIELD(byte_order), 5, PROF_CORRUPT, "byte order"},
        {FIELD(version), 0, PROF_CORRUPT, "version"},
        {FIELD(version), 99, PROF_UNSUPPORTED, "version 99 is newer"},
        {FIELD(header_size), 8, PROF_CORRUPT, "header"},
        {FIELD(header_size), 0xFFFFFFF8u, PROF_CORRUPT, "header"},
        {FIELD(header_size), sizeof(prof__header) + 4, PROF_CORRUPT, "header"},
        {FIELD(image_size), 1u << 20, PROF_CORRUPT, "truncated"},
        {FIELD(image_size), ~(uint64_t)0, PROF_CORRUPT, "truncated"},
        {FIELD(image_size), 8, PROF_CORRUPT, "header"},
        {FIELD(meta_offset), 4, PROF_CORRUPT, "meta"},
        {FIELD(meta_offset), 8, PROF_CORRUPT, "meta"},
        {FIELD(meta_offset), ~(uint64_t)7, PROF_CORRUPT, "meta"},
        {FIELD(meta_size), ~(uint64_t)7, PROF_CORRUPT, "meta"},
        {FIELD(meta_size), 3, PROF_CORRUPT, "meta"},
        {FIELD(meta_size), 40 * 8 + 8, PROF_CORRUPT, "overlap"},
        {FIELD(chunk_offset), sizeof(prof__header), PROF_CORRUPT, "overlap"},
        {FIELD(chunk_offset), 0, PROF_CORRUPT, "chunks"},
        {FIELD(chunk_offset), ~(uint64_t)7, PROF_CORRUPT, "chunks"},
        {FIELD(chunk_count), 2, PROF_CORRUPT, "chunks"},
        {FIELD(chunk_count), ~(uint64_t)0, PROF_CORRUPT, "chunks"},
        {FIELD(chunk_count), (uint64_t)1 << 60, PROF_CORRUPT, "chunks"},
        {FIELD(chunk_size), 0, PROF_CORRUPT, "chunk size"},
        {FIELD(chunk_size), PROF__LEAST_CHUNK, PROF_CORRUPT, "chunk size"},
        {FIELD(chunk_size), 1048576, PROF_CORRUPT, "chunks"},
        {FIELD(chunk_size), 1048576 + 8, PROF_CORRUPT, "chunk size"},
        {FIELD(chunk_size), 0xFFFFFFF8u, PROF_CORRUPT, "chunk size"},
        {FIELD(chunk_size), PROF__LEAST_CHUNK + 4, PROF_CORRUPT, "chunk size"},
        {FIELD(chunk_header_size), 8, PROF_CORRUPT, "chunk size"},
        {FIELD(chunk_header_size), PROF__LEAST_CHUNK + 4, PROF_CORRUPT, "chunk size"},
        {FIELD(chunk_header_size), 0xFFFFFFF8u, PROF_CORRUPT, "chunk size"},
    };
    size_t i, size;
    image im = balanced_image();
    prof_trace *trace = NULL;
    for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
        unsigned char *copy = (unsigned char *)malloc(im.size);
        memcpy(copy, im.bytes, im.size);
        const char *value = (const char *)&cases[i].value;
        memcpy(copy + cases[i].offset, PROF__LOW_HALF ? value + 8 - cases[i].size : value, cases[i].size);
        trace = (prof_trace *)&im; /* must become null */
        CHECK_EQUAL(prof_trace_open_memory(copy, im.size, &trace), cases[i].status);
        CHECK(trace == NULL);
        if (!strstr(prof_error(), cases[i].text)) CHECK_TEXT(prof_error(), cases[i].text);
        free(copy);
    }
    for (size = 0; size < im.size; size += 1 + size / 8) { /* exact copies, for the sanitizer's sake */
        unsigned char *copy = (unsigned char *)malloc(size ? size : 1);
        memcpy(copy, im.bytes, size);
        CHECK_EQUAL(prof_trace_open_memory(copy, size, &trace), PROF_CORRUPT);
        free(copy);
    }
    CHECK_EQUAL(prof_trace_open_memory(NULL, 0, &trace), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_open_memory(im.bytes, im.size, NULL), PROF_INVALID_ARGUMENT);
    free(im.bytes);
}

TEST(damaged_bytes) /* any byte may be anything: the reader refuses it, or takes it and gives what holds together */
{
    static image (*const makers[])(void) = {balanced_image, values_image,    crossing_image,
                                            orphans_image,  truncated_image, torn_image, notes_image};
    static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFF, 0x17, 0x90};
    size_t kind, at, v, taken = 0, step = (size_t)trace_times(23, 1, 1);
    for (kind = 0; kind < sizeof makers / sizeof *makers; ++kind) {
        image im = makers[kind]();
        for (at = 0; at < im.size; at += step)
            for (v = 0; v < sizeof values; ++v) {
                unsigned char before = im.bytes[at];
                prof_trace *trace = NULL;
                im.bytes[at] = values[v];
                if (prof_trace_open_memory(im.bytes, im.size, &trace) == PROF_OK) {
                    size_t i;
                    for (i = 0; i < prof_trace_track_count(trace); ++i) {
                        prof_cursor *cursor = NULL;
                        prof_event event;
                        uint64_t count = 0;
                        int64_t now = 0;
                        prof_cursor_open(trace, i, &cursor);
                        while (prof_cursor_next(cursor, &event)) {
                            ++count;
                            CHECK(event.start_ns >= now && event.duration_ns >= 0);
                            now = event.start_ns;
                        }
                        const prof_trace_info *info = prof_trace_about(trace);
                        if (!info->from_ns && !info->to_ns) /* else the header may have a window now */
                            CHECK_EQUAL(count, prof_trace_track(trace, i)->event_count);
                        prof_cursor_close(cursor);
                    }
                    ++taken;
                }
                prof_trace_close(trace);
                im.bytes[at] = before;
            }
        free(im.bytes);
    }
    CHECK(taken > 1000 / step);
}

/*-- the clock --*/

static image clock_image(uint64_t hz)
{
    image im = image_new(10, 6, 20);
    site(&im, "a");
    im.header->tick_hz = hz;
    return im;
}

static void clock_chunk(image *im, size_t place, uint64_t tick, uint64_t ns, uint64_t width, uint64_t mark)
{
    chunk(im, place, place + 1, tick);
    im->chunk->base.monotonic_ns = START_MONOTONIC + ns;
    im->chunk->base.width = width;
    track(im, 0, 1);
    at_tick(im, PROF__KIND_MARK, 1, mark);
}

static void check_times(image *im, const int64_t *times, size_t count, uint64_t hz)
{
    prof_trace *trace = image_read(im);
    trace_list list = trace_read(trace, 0);
    size_t i;
    CHECK_EQUAL(list.count, count);
    for (i = 0; i < list.count && i < count; ++i) CHECK_EQUAL(list.events[i].start_ns, times[i]);
    CHECK_EQUAL(prof_trace_about(trace)->tick_hz, hz);
    trace_free(&list);
    prof_trace_close(trace);
}

#define S 1000000000ull

TEST(clock_drift) /* the counter runs at 2 GHz, then at 2.1 GHz; each stretch has its own slope */
{
    static const int64_t times[] = {(int64_t)(S / 2), 1476190476, (int64_t)(3 * S)};
    image im = clock_image(2 * S);
    clock_chunk(&im, 0, 1000, 0, 20, 1000 + S);
    clock_chunk(&im, 1, 1000 + 2 * S, S, 20, 1000 + 3 * S);
    /* beyond the last pair: its slope is the newest one */
    clock_chunk(&im, 2, 1000 + 41 * S / 10, 2 * S, 20, 1000 + 62 * S / 10);
    check_times(&im, times, 3, 41 * S / 20);
}

/* Scopes of a millisecond from this tick on, which end at the begin of the next. */
static void clock_scopes(image *im, uint64_t tick, int count)
{
    for (int i = 0; i < count; ++i) {
        at_tick(im, PROF__KIND_BEGIN, 1, tick + (uint64_t)i * 1000000);
        at_tick(im, PROF__KIND_END, 1, tick + (uint64_t)(i + 1) * 1000000);
    }
}

/* A chunk whose base is at this tick, so many ns after the start. */
static void gap_chunk(image *im, size_t place, uint64_t tick, uint64_t ns, uint64_t unix_ns)
{
    chunk(im, place, place + 1, tick);
    im->chunk->base.monotonic_ns = START_MONOTONIC + ns;
    im->chunk->base.unix_ns = START_UNIX + unix_ns;
    track(im, 0, 1);
}

static image gap_image(uint64_t first)
{
    image im = image_new(60, 6, 20);
    site(&im, "a");
    im.header->first.tick = im.header->last.tick = first;
    return im;
}

/* Returns 1 if a file has this text. */
static int file_has(const char *path, const char *text)
{
    size_t size = 0;
    char *all = trace_file_text(path, &size);
    int found = all && strstr(all, text);
    free(all);
    return found;
}

/* Checks that all scopes last a millisecond, when those after the gap begin, and that the gap is shown as this. */
static void check_gap(image *im, int64_t after, const char *shown, const char *told)
{
    const char *path = trace_path("gap.txt");
    prof_trace *trace = image_read(im);
    trace_list list = trace_read(trace, 0), gaps = trace_read(trace, 1);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_EQUAL(list.count, 20);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].duration_ns, 1000000);
    for (size_t i = 0; i < list.count; ++i)
        CHECK_EQUAL(list.events[i].start_ns, (int64_t)(i % 10) * 1000000 + (i < 10 ? 0 : after));
    CHECK_EQUAL(gaps.count, 1);
    if (gaps.count) CHECK_TEXT(gaps.events[0].name, shown);
    if (gaps.count) CHECK_EQUAL(gaps.events[0].site->role, PROF_ROLE_MARK_GLOBAL);
    if (gaps.count) CHECK_EQUAL(gaps.events[0].type, PROF_EVENT_MARK);
    CHECK_EQUAL(prof_summary_write(trace, path, NULL), PROF_OK);
    CHECK(file_has(path, told));
    CHECK_EQUAL(prof_csv_write(trace, path), PROF_OK);
    CHECK(file_has(path, shown));
    trace_free(&list);
    trace_free(&gaps);
    prof_trace_close(trace);
}

/* The counter goes on, CLOCK_MONOTONIC does not, and Unix time shows it, too; and the reverse. */
TEST(clock_with_a_gap)
{
    static const struct { uint64_t ticks, ns, unix_ns; const char *told; } gaps[] = {
        {5 * S, 2 * S, 5 * S, "between 10.00 ms and 5.000 s"},
        {2 * S, 5 * S, 5 * S, ": the counter stood still"},
    };
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; ++i) {
        image im = gap_image(1000);
        gap_chunk(&im, 0, 1000, 0, 0);
        clock_scopes(&im, 1000, 10);
        gap_chunk(&im, 1, 1000 + gaps[i].ticks, gaps[i].ns, gaps[i].unix_ns);
        clock_scopes(&im, 1000 + gaps[i].ticks, 10);
        check_gap(&im, (int64_t)(5 * S), "suspended for 3.000 s", gaps[i].told);
    }
}

/* Clocks that are centuries apart are damage, no gap, and no number that is too large for its type. */
TEST(clock_of_centuries)
{
    static const uint64_t far[] = {(uint64_t)1 << 62, (uint64_t)1 << 63, ~(uint64_t)0 / 8 * 7};
    for (size_t i = 0; i < 3 * sizeof far / sizeof *far; ++i) {
        uint64_t ns = far[i / 3], ticks = i % 3 == 1 ? ns : 5 * S;
        image im = gap_image(1000);
        gap_chunk(&im, 0, 1000, 0, 0);
        clock_scopes(&im, 1000, 10);
        gap_chunk(&im, 1, 1000 + ticks, i % 3 == 1 ? 5 * S : ns, i % 3 == 2 ? ns : 5 * S);
        clock_scopes(&im, 1000 + ticks, 10);
        prof_trace *trace = image_read(&im);
        trace_check(trace);
        CHECK_EQUAL(prof_trace_track_count(trace), 1);
        prof_trace_close(trace);
    }
}

TEST(clock_suspended_in_a_chunk) /* it was where no thread has an event for as long */
{
    image im = gap_image(1000);
    gap_chunk(&im, 0, 1000, 0, 0);
    clock_scopes(&im, 1000, 10);
    clock_scopes(&im, 1000 + 4 * S, 10);
    im.header->last = pair_at(1000 + 5 * S);
    im.header->last.monotonic_ns = START_MONOTONIC + 2 * S;
    check_gap(&im, (int64_t)(4 * S), "suspended for 3.000 s", "between 10.00 ms and 4.000 s");
}

TEST(clock_began_again)
{
    image im = gap_image(7000 * S);
    gap_chunk(&im, 0, 7000 * S, 0, 0);
    clock_scopes(&im, 7000 * S, 10);
    gap_chunk(&im, 1, 55, 2 * S, 2 * S);
    clock_scopes(&im, 55, 10);
    im.header->last = pair_at(55 + S);
    im.header->last.monotonic_ns = START_MONOTONIC + 3 * S;
    check_gap(&im, (int64_t)(2 * S), "suspended for at most 1.990 s", ": the counter began again");
}

TEST(clock_began_again_in_a_chunk)
{
    for (uint64_t last = 900; last < 20000000; last += 12000000) { /* also where the counter has passed the base again */
        image im = gap_image(1000);
        gap_chunk(&im, 0, 1000, 0, 0);
        clock_scopes(&im, 1000, 10);
        clock_scopes(&im, 3000, 10);
        im.header->last = pair_at(last);
        im.header->last.monotonic_ns = START_MONOTONIC + 2 * S;
        check_gap(&im, 10000000, "suspended for at most 1.980 s", ": the counter began again");
    }
}

/* The clock is read, then signal handlers record for 10 ms, then what was begun is written: no counter began again. Nor
   is there a gap between pairs of which one was interrupted for as long as it is off. */
TEST(clock_of_records_that_are_written_late)
{
    image im = image_new(200, 6, 20);
    site(&im, "a");
    im.header->first.tick = im.header->last.tick = 1000;
    gap_chunk(&im, 0, 1000, 0, 0);
    for (int round = 0; round < 3; ++round) {
        uint64_t from = 1000 + (uint64_t)round * 20000000;
        clock_scopes(&im, from, 10);
        begin(&im, 1, from);
        clock_scopes(&im, from + 10000000, 5);
        end(&im, 1, from + 15000000);
    }
    gap_chunk(&im, 1, 1000 + S, S, S);
    clock_scopes(&im, 1000 + S, 1);
    gap_chunk(&im, 2, 1000 + 2 * S, 2 * S + S / 2, 2 * S + S / 2);
    im.chunk->base.width = S / 2;
    clock_scopes(&im, 1000 + 2 * S, 1);
    prof_trace *trace = image_read(&im);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_EQUAL(trace->gap_count, 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 3 * 16 + 2);
    trace_list list = trace_read(trace, 0);
    for (size_t i = 0; i < list.count && i < 48; ++i)
        CHECK(list.events[i].start_ns < 80000000 && list.events[i].duration_ns <= 5000000);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(clocks_of_time_namespaces) /* one boot, but CLOCK_MONOTONIC of the second is 100,000 s ahead */
{
    const prof_trace *traces[3];
    int64_t offsets[3];
    for (int i = 0; i < 3; ++i) {
        image im = gap_image(1000);
        strcpy(im.header->boot_id, "the same machine");
        im.header->first.unix_ns += (uint64_t)i * 2 * S;
        im.header->first.monotonic_ns += (uint64_t)i * 2 * S + (i == 1 ? 100000 * S : 0) + (i == 2 ? 300000000 : 0);
        im.header->last = im.header->first;
        traces[i] = image_read(&im);
    }
    CHECK_EQUAL(prof_trace_align(traces, 3, offsets), 2);
    CHECK_EQUAL(offsets[0], 0);
    CHECK_EQUAL(offsets[1], (int64_t)(2 * S)); /* by Unix time */
    CHECK_EQUAL(offsets[2], (int64_t)(4 * S + 300000000)); /* by CLOCK_MONOTONIC: somebody has set the other */
    /* Where the image says which namespace it is of, and counts a suspension, Unix time plays no part. */
    for (int i = 0; i < 3; ++i) {
        prof__header *h = &((prof_trace *)(uintptr_t)traces[i])->header;
        h->time_namespace = i == 1 ? 8 : 7;
        h->since_boot_ns = (uint64_t)(i + 1) * 10 * S;
        h->first.unix_ns += i == 2 ? 5000 * S : 0;
    }
    CHECK_EQUAL(prof_trace_align(traces, 3, offsets), 2);
    CHECK_EQUAL(offsets[1], (int64_t)(2 * S));
    CHECK_EQUAL(offsets[2], (int64_t)(20 * S));
    for (int i = 0; i < 3; ++i) prof_trace_close((prof_trace *)(uintptr_t)traces[i]);
}

TEST(clock_passes_the_end_of_its_bits)
{
    const uint64_t first = 0 - (uint64_t)5500000;
    image im = gap_image(first);
    gap_chunk(&im, 0, first, 0, 0);
    clock_scopes(&im, first, 10);
    gap_chunk(&im, 1, first + 2 * S, 2 * S, 2 * S);
    clock_scopes(&im, first + 2 * S, 10);
    prof_trace *trace = image_read(&im);
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_EQUAL(list.count, 20);
    for (size_t i = 0; i < list.count; ++i) {
        CHECK_EQUAL(list.events[i].duration_ns, 1000000);
        CHECK_EQUAL(list.events[i].start_ns, (int64_t)(i % 10) * 1000000 + (i < 10 ? 0 : (int64_t)(2 * S)));
    }
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(clock_last_pair)
{
    static const int64_t times[] = {(int64_t)(5 * S)};
    image im = clock_image(0);
    clock_chunk(&im, 0, 1000, 0, 20, 1000 + 15 * S);
    im.header->last.tick = 1000 + 30 * S;
    im.header->last.monotonic_ns = START_MONOTONIC + 10 * S;
    check_times(&im, times, 1, 3 * S);
}

TEST(clock_interrupted_pair) /* a pair that took a millisecond to take says nothing */
{
    static const int64_t times[] = {0, (int64_t)S, (int64_t)(3 * S)};
    image im = clock_image(0);
    clock_chunk(&im, 0, 1000, 0, 20, 1000);
    clock_chunk(&im, 1, 1000 + S, S + 900000, 1000000, 1000 + S);
    clock_chunk(&im, 2, 1000 + 2 * S, 2 * S, 24, 1000 + 3 * S);
    im.header->last.tick = 1000 + 4 * S;
    im.header->last.monotonic_ns = START_MONOTONIC + 4 * S;
    check_times(&im, times, 3, S);
}

TEST(clock_near_pairs) /* two pairs within a microsecond make no slope, and one that goes backwards is left out */
{
    static const int64_t times[] = {(int64_t)S, (int64_t)(S + S / 2), (int64_t)(2 * S), (int64_t)(5 * S)};
    image im = clock_image(0);
    clock_chunk(&im, 0, 1000 + S, S, 20, 1000 + S);
    clock_chunk(&im, 1, 1000 + S + 500, S + 1000, 20, 1000 + S + S / 2);
    clock_chunk(&im, 2, 1000 + 2 * S, S - 5, 20, 1000 + 2 * S);
    clock_chunk(&im, 3, 1000 + 3 * S, 3 * S, 20, 1000 + 5 * S);
    check_times(&im, times, 4, S);
}

TEST(clock_rates) /* what is known of the rate when there is one pair only */
{
    static const int64_t quarter[] = {250}, same[] = {1000};
    image im = clock_image(4 * S);
    clock_chunk(&im, 0, 1000, 0, 0, 2000);
    check_times(&im, quarter, 1, 4 * S);
    im = clock_image(0); /* nothing: a tick counts as a nanosecond, and the rate is 0 */
    clock_chunk(&im, 0, 1000, 0, 0, 2000);
    check_times(&im, same, 1, 0);
    im = clock_image(4 * S); /* a session of 5 ms: the rate that is known is better than the pairs */
    clock_chunk(&im, 0, 1000, 0, 100, 2000);
    im.header->last.tick = 1000 + 20000000;
    im.header->last.monotonic_ns = START_MONOTONIC + 5000300;
    check_times(&im, quarter, 1, 4 * S);
    im = clock_image(S); /* clock_gettime: exact, whatever the pairs say */
    im.header->clock = PROF_CLOCK_MONOTONIC;
    clock_chunk(&im, 0, 1000, 0, 100, 2000);
    im.header->last.tick = 1000 + 10 * S;
    im.header->last.monotonic_ns = START_MONOTONIC + 10 * S + 777777;
    check_times(&im, same, 1, S);
}

TEST(clock_before_start) /* times are never negative, however far the first pair is off */
{
    static const int64_t times[] = {0, 9};
    image im = clock_image(S);
    clock_chunk(&im, 0, 500, 0, 20, 600);
    im.chunk->base = im.header->first;
    im.chunk->base.tick = 500;
    clock_chunk(&im, 1, 1000, 0, 20, 1009);
    check_times(&im, times, 2, S);
}

TEST(clock_extremes) /* sums that leave 64 bits saturate */
{
    image im = clock_image(0);
    prof_trace *trace;
    clock_chunk(&im, 0, ~(uint64_t)0 - 10, ~(uint64_t)0 - START_MONOTONIC - 5, ~(uint64_t)0, ~(uint64_t)0);
    clock_chunk(&im, 1, 5, 0, 0, PROF__TICK_MASK);
    im.header->last.tick = ~(uint64_t)0;
    im.header->last.monotonic_ns = ~(uint64_t)0;
    im.header->resolution_ticks = im.header->cost_ticks_x1000 = ~(uint64_t)0;
    trace = image_read(&im);
    CHECK_EQUAL(prof_trace_track(trace, 0)->event_count, 2);
    CHECK(prof_trace_about(trace)->duration_ns >= 0);
    prof_trace_close(trace);
}

TEST(scale_is_exact) /* against the same product made of 16-bit digits */
{
    uint64_t seed = 1;
    long i;
    for (i = 0; i < 200000; ++i) {
        prof__read_line line;
        uint64_t ticks, ns, dt;
        int64_t got;
        double want;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        ticks = (seed >> 20) % (100 * S) + 1;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        ns = (seed >> 20) % (100 * S) + 1;
        prof__read_slope(&line, ticks, ns);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        dt = (seed >> 16) % (ticks * 2);
        got = prof__read_scale(dt, line.factor, line.shift);
        want = (double)dt * (double)ns / (double)ticks;
        if (want < 4e15) {
            if ((double)got > want + 0.501 + want * 1e-15 || (double)got < want - 0.501 - want * 1e-15) {
                CHECK_EQUAL(got, want);
                break;
            }
        }
        CHECK_EQUAL(prof__read_scale(ticks, line.factor, line.shift), ns);
    }
    CHECK_EQUAL(prof__read_scale(~(uint64_t)0, ~(uint64_t)0, 0), PROF__FAR_NS);
    CHECK_EQUAL(prof__read_scale(~(uint64_t)0, ~(uint64_t)0, 64), PROF__FAR_NS);
    CHECK_EQUAL(prof__read_scale(1u << 20, (uint64_t)1 << 63, 64), 1u << 19);
    CHECK_EQUAL(prof__read_scale(7, 3, 0), 21);
}

/*-- size --*/

TEST(deep)
{
    size_t depth = (size_t)trace_times(20000, 100000, 1000000), per = 1000, chunks = depth / per * 2, i;
    image im = image_new(per + 5, chunks, 20);
    uint32_t a = site(&im, "a"), k = site(&im, "k");
    trace_list list;
    prof_trace *trace;
    for (i = 0; i < depth * 2; ++i) {
        if (i % per == 0) {
            chunk(&im, i / per, i / per + 1, 1000 + i);
            track(&im, 0, 1);
        }
        if (i == depth) arg_word(&im, k, PROF_VALUE_INT, 9); /* of the innermost */
        if (i < depth)
            begin(&im, a, 1000 + i);
        else
            end(&im, a, 1000 + i);
    }
    trace = image_read(&im);
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, depth);
    for (i = 0; i < list.count && !test_failures; ++i) {
        CHECK_EQUAL(list.events[i].depth, i);
        CHECK_EQUAL(list.events[i].start_ns, i);
        CHECK_EQUAL(list.events[i].duration_ns, 2 * depth - 1 - 2 * i);
        CHECK_EQUAL(list.events[i].flags, 0);
        CHECK_EQUAL(list.events[i].arg_count, i + 1 == depth);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(many_tracks)
{
    size_t tracks = (size_t)trace_times(20000, 100000, 1000000), per = 100, chunks = tracks / per, i;
    image im = image_new(per * 5, chunks, 20);
    uint32_t a = site(&im, "a");
    prof_trace *trace;
    for (i = 0; i < tracks; ++i) {
        if (i % per == 0) chunk(&im, i / per, i / per + 1, 1000 + i);
        track(&im, 0, tracks - i);
        begin(&im, a, 1000 + i);
        end(&im, a, 1001 + i);
    }
    trace = image_read(&im);
    CHECK_EQUAL(prof_trace_track_count(trace), tracks);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, tracks);
    CHECK_EQUAL(prof_trace_track(trace, 0)->id, 1);
    CHECK_EQUAL(prof_trace_track(trace, tracks - 1)->id, tracks);
    CHECK_EQUAL(prof_trace_track(trace, tracks - 1)->first_ns, 0);
    prof_trace_close(trace);
}

TEST(too_many_to_close) /* an end counts what it closes in 20 bits; beyond that it is left out, and that is counted */
{
    const size_t depth = (size_t)PROF__CLOSE_MAX + 10, per = 100000;
    image im = image_new(per + 5, depth / per + 1, 20);
    uint32_t outer = site(&im, "outer"), a = site(&im, "a");
    prof_trace *trace;
    size_t i;
    for (i = 0; i < depth; ++i) {
        if (i % per == 0) chunk(&im, i / per, i / per + 1, 1000);
        if (i % per == 0) track(&im, 0, 1);
        if (!i) begin(&im, outer, 1000);
        begin(&im, a, 1001);
    }
    end(&im, outer, 1002);
    trace = image_read(&im);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, depth + 1);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 1);
    prof_trace_close(trace);
}

/*-- random programs against a plain model --*/

typedef struct model_event {
    int64_t start, end; /* end: -1 while open */
    size_t depth, begin_word, end_word; /* numbers of the words in the whole stream */
    uint32_t site;
    int args, first_arg;
    size_t first_arg_word;
} model_event;

static uint32_t random_state;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state >> 8) * limit >> 24);
}

/* A random well-nested program, whose stream is cut into chunks of which the ring then keeps only the newest. The model
   knows begin and end of every scope, and so what must come out. */
static void random_program(uint32_t seed)
{
    enum { STEPS = 400, CHUNK = 24 };
    static model_event events[STEPS];
    size_t count = 0, open[STEPS], depth = 0, i, kept, first_chunk, chunks = 0, at_chunk[STEPS], yielded = 0;
    image im = image_new(CHUNK, STEPS, 60), cut;
    uint32_t sites[4], key, k = 0;
    uint64_t now = 2000;
    prof_trace *trace;
    trace_list list;
    random_state = seed;
    sites[0] = site(&im, "a");
    sites[1] = site(&im, "b");
    sites[2] = site(&im, "c");
    sites[3] = site(&im, "a");
    key = site(&im, "k");
    im.word = im.end = NULL;
    for (i = 0; i < STEPS; ++i) {
        uint32_t what = random_below(10);
        if (im.end - im.word < 2) {
            chunk(&im, chunks, chunks + 1, now);
            ++chunks;
            track(&im, 0, 1);
        }
        at_chunk[i] = chunks - 1;
        now += random_below(50) + 1; /* every word its own time, which tells it from the others */
        if (what < 4 || !depth) {
            model_event *e = &events[count];
            memset(e, 0, sizeof *e);
            e->start = (int64_t)now - 1000;
            e->end = -1;
            e->depth = depth;
            e->begin_word = i;
            e->site = random_below(4);
            e->first_arg = -1;
            begin(&im, sites[e->site], now);
            open[depth++] = count++;
        } else if (what < 8) {
            model_event *e = &events[open[--depth]];
            e->end = (int64_t)now - 1000;
            e->end_word = i;
            end(&im, sites[e->site], now);
        } else {
            model_event *e = &events[open[depth - 1]];
            arg_word(&im, key, PROF_VALUE_INT, k);
            if (!e->args++) {
                e->first_arg = (int)k;
                e->first_arg_word = i;
            }
            ++k;
        }
    }
    /* keep the newest chunks, in a ring */
    kept = 1 + random_below((uint32_t)chunks);
    first_chunk = chunks - kept;
    cut = image_new(CHUNK, kept, 60);
    memcpy(cut.bytes + cut.header->meta_offset, im.bytes + im.header->meta_offset, 60 * 8);
    for (i = first_chunk; i < chunks; ++i)
        memcpy(cut.bytes + cut.header->chunk_offset + i % kept * cut.header->chunk_size,
               im.bytes + im.header->chunk_offset + i * im.header->chunk_size, im.header->chunk_size);
    cut.header->next_chunk = chunks;
    cut.header->overwritten = first_chunk;
    free(im.bytes);
    trace = image_read(&cut);
    list = trace_read(trace, 0);
    for (i = 0; i < count; ++i) {
        const model_event *e = &events[i];
        int cut_begin = at_chunk[e->begin_word] < first_chunk;
        const prof_event *got;
        if (cut_begin && (e->end < 0 || at_chunk[e->end_word] < first_chunk)) continue; /* nothing of it is left */
        if (yielded++ >= list.count) break;
        got = &list.events[yielded - 1];
        CHECK_TEXT(got->name, e->site == 3 ? "a" : e->site == 0 ? "a" : e->site == 1 ? "b" : "c");
        CHECK_EQUAL(!!(got->flags & PROF_TRUNCATED_BEGIN), cut_begin);
        CHECK_EQUAL(!!(got->flags & PROF_TRUNCATED_END), e->end < 0);
        if (!cut_begin) CHECK_EQUAL(got->start_ns, e->start);
        if (e->end >= 0) CHECK_EQUAL(got->start_ns + got->duration_ns, e->end);
        if (!cut_begin) {
            CHECK_EQUAL(got->arg_count, e->args);
            if (e->args && got->arg_count) CHECK_EQUAL(got->args[0].value.as.i, e->first_arg);
        }
    }
    CHECK_EQUAL(yielded, list.count);
    if (test_failures) printf("seed %u\n", (unsigned)seed);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(random_programs)
{
    long i, times = trace_times(30, 1000, 100000);
    for (i = 0; i < times && !test_failures; ++i) random_program((uint32_t)i * 2654435761u + 1);
}

/*-- statistics and reports --*/

static const prof_stat *stat_of(const prof_stat *stats, size_t count, const char *name)
{
    size_t i;
    for (i = 0; i < count; ++i)
        if (!strcmp(stats[i].name, name)) return &stats[i];
    CHECK_TEXT("no figures", name);
    exit(1);
}

static int near(double a, double b) { return a - b < 1e-6 && b - a < 1e-6; }

TEST(statistics)
{
    image im = balanced_image();
    prof_trace *trace = image_read(&im);
    prof_stat *stats = NULL;
    const prof_stat *a, *b, *c;
    size_t count = 0;
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 3);
    a = stat_of(stats, count, "a");
    b = stat_of(stats, count, "b");
    c = stat_of(stats, count, "c");
    CHECK(a == &stats[0] && b == &stats[1] && c == &stats[2]);
    CHECK_EQUAL(a->count, 1);
    CHECK_EQUAL(a->total_ns, 90);
    CHECK_EQUAL(a->self_ns, 50);
    CHECK_EQUAL(b->count, 2);
    CHECK_EQUAL(b->truncated, 0);
    CHECK_EQUAL(b->total_ns, 40);
    CHECK_EQUAL(b->self_ns, 39);
    CHECK_EQUAL(b->min_ns, 10);
    CHECK_EQUAL(b->max_ns, 30);
    CHECK(near(b->mean_ns, 20));
    CHECK(near(b->deviation_ns, 10));
    CHECK_EQUAL(b->p50_ns, 10);
    CHECK_EQUAL(b->p90_ns, 30);
    CHECK_EQUAL(b->p999_ns, 30);
    CHECK_EQUAL(c->count, 2);
    CHECK_EQUAL(c->min_ns, 0);
    CHECK_EQUAL(c->max_ns, 1);
    CHECK(near(c->deviation_ns, 0.5));
    prof_stats_free(stats);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_stats(NULL, PROF_SORT_TOTAL, 0, &stats, &count), PROF_INVALID_ARGUMENT);
}

TEST(statistics_of_truncated_scopes) /* they are calls, and their time belongs to nobody, not even to their parent */
{
    image im = truncated_image();
    prof_trace *trace = image_read(&im);
    prof_stat *stats = NULL;
    const prof_stat *b, *c;
    size_t count = 0;
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 3);
    b = stat_of(stats, count, "b");
    c = stat_of(stats, count, "c");
    CHECK(b == &stats[1] && c == &stats[2]);
    CHECK_EQUAL(b->count, 2);
    CHECK_EQUAL(b->truncated, 1);
    CHECK_EQUAL(b->total_ns, 40);
    CHECK_EQUAL(b->self_ns, 10);
    CHECK_EQUAL(b->min_ns, 40);
    CHECK_EQUAL(c->count, 2);
    CHECK_EQUAL(c->truncated, 2);
    CHECK_EQUAL(c->total_ns + c->self_ns + c->min_ns + c->max_ns + c->p50_ns, 0);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

TEST(sorting)
{
    static const prof_sort by[] = {PROF_SORT_TOTAL, PROF_SORT_SELF, PROF_SORT_CALLS, PROF_SORT_MEAN,
                                   PROF_SORT_MIN,   PROF_SORT_MAX,  PROF_SORT_P99,   PROF_SORT_NAME};
    static const char *const down[] = {"xy", "yx", "yx", "xy", "xy", "xy", "xy", "xy"};
    static const char *const up[] = {"yx", "xy", "xy", "yx", "yx", "yx", "yx", "xy"};
    image im = image_new(30, 1, 40); /* x: once, 100 long, 5 of it itself; y: three times, 30 20 45 */
    uint32_t x = site(&im, "x"), y = site(&im, "y");
    prof_trace *trace;
    size_t i, count;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, x, 1000);
    begin(&im, y, 1000);
    end(&im, y, 1030);
    begin(&im, y, 1030);
    end(&im, y, 1050);
    begin(&im, y, 1050);
    end(&im, y, 1095);
    end(&im, x, 1100);
    trace = image_read(&im);
    for (i = 0; i < sizeof by / sizeof *by; ++i) {
        int ascending;
        for (ascending = 0; ascending < 2; ++ascending) {
            prof_stat *stats = NULL;
            char order[3] = "??";
            CHECK_EQUAL(prof_stats(trace, by[i], ascending, &stats, &count), PROF_OK);
            CHECK_EQUAL(count, 2);
            order[0] = stats[0].name[0];
            order[1] = stats[1].name[0];
            CHECK_TEXT(order, ascending ? up[i] : down[i]);
            prof_stats_free(stats);
        }
    }
    prof_trace_close(trace);
}

static int order_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

TEST(percentiles) /* against sorted durations over nine powers of ten */
{
    static const double shares[] = {0.5, 0.9, 0.99, 0.999};
    size_t count = (size_t)trace_times(2000, 20000, 20000), i, stat_count;
    uint64_t *durations = (uint64_t *)malloc(count * sizeof *durations), now = 1000, got[4];
    image im = image_new(count * 2 + 3, 1, 20);
    uint32_t a = site(&im, "a");
    prof_trace *trace;
    prof_stat *stats = NULL;
    random_state = 7;
    im.header->tick_hz = S;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    for (i = 0; i < count; ++i) {
        uint64_t scale = 1;
        uint32_t power = random_below(7);
        while (power--) scale *= 10;
        durations[i] = random_below(1000) * scale / 10;
        begin(&im, a, now);
        now += durations[i];
        if (now - 1000 > PROF__TICK_MASK) {
            now -= durations[i];
            durations[i] = 0;
        }
        end(&im, a, now);
    }
    trace = image_read(&im);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &stat_count), PROF_OK);
    CHECK_EQUAL(stat_count, 1);
    qsort(durations, count, sizeof *durations, order_u64);
    got[0] = stats->p50_ns;
    got[1] = stats->p90_ns;
    got[2] = stats->p99_ns;
    got[3] = stats->p999_ns;
    CHECK_EQUAL(stats->min_ns, durations[0]);
    CHECK_EQUAL(stats->max_ns, durations[count - 1]);
    for (i = 0; i < 4; ++i) {
        double rank = (double)count * shares[i];
        size_t at = (size_t)rank + ((double)(size_t)rank < rank - 1e-6) - 1;
        double want = (double)durations[at], off = (double)got[i] - want;
        CHECK(off <= want * 0.008 && off >= -want * 0.008);
    }
    free(durations);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

TEST(percentiles_stay_between_min_and_max) /* 2000 and 2015 share a step, whose middle is neither */
{
    uint64_t ns;
    for (ns = 2000; ns <= 2015; ns += 15) {
        image im = image_new(10, 1, 20);
        uint32_t a = site(&im, "a");
        prof_trace *trace;
        prof_stat *stats = NULL;
        size_t count = 0;
        chunk(&im, 0, 1, 1000);
        track(&im, 0, 1);
        begin(&im, a, 1000);
        end(&im, a, 1000 + ns);
        trace = image_read(&im);
        CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
        CHECK_EQUAL(stats->p50_ns, ns);
        CHECK_EQUAL(stats->p999_ns, ns);
        prof_stats_free(stats);
        prof_trace_close(trace);
    }
}

TEST(histogram_steps) /* every step's value is within 1/128 of all that fall into it, up to the largest number */
{
    uint64_t value = 0;
    uint32_t before = 0;
    while (value < (uint64_t)1 << 63) {
        uint32_t step = prof__step_of(value);
        uint64_t middle = prof__step_value(step), off = middle > value ? middle - value : value - middle;
        CHECK(step >= before);
        CHECK(off <= value / 128);
        if (off > value / 128) break;
        before = step;
        value += 1 + value / 1000;
    }
    CHECK_EQUAL(prof__step_of(prof__step_value(prof__step_of(~(uint64_t)0))), prof__step_of(~(uint64_t)0));
}

TEST(square_roots)
{
    static const double roots[] = {0, 1e-150, 0.001, 0.5, 1, 1.5, 2, 1e9, 12345.678, 1e150};
    size_t i;
    for (i = 0; i < sizeof roots / sizeof *roots; ++i) {
        double got = prof__square_root(roots[i] * roots[i]);
        CHECK(got <= roots[i] * (1 + 1e-12) && got >= roots[i] * (1 - 1e-12));
    }
}

TEST(same_name_two_sites)
{
    image im = image_new(30, 1, 60);
    uint32_t one = site_in(&im, "x", "", "a.c", 1, "f", PROF__KIND_BEGIN);
    uint32_t two = site_in(&im, "x", "", "b.c", 2, "g", PROF__KIND_BEGIN);
    prof_trace *trace;
    prof_stat *stats = NULL;
    size_t count = 0;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, one, 1010);
    end(&im, one, 1020);
    begin(&im, two, 1030);
    end(&im, two, 1050);
    trace = image_read(&im);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    CHECK_TEXT(stats[0].site->file, "b.c");
    CHECK_TEXT(stats[1].site->file, "a.c");
    prof_stats_free(stats);
    prof_trace_close(trace);
}

typedef struct half {
    unsigned track; /* 1 or 2 */
    uint64_t tick;
    int is_begin; /* or an end */
} half;

/* What becomes of halves of one name and id, as lines "start+duration from track to track flags". */
static void check_halves(const half *halves, size_t count, const char *want)
{
    image im = image_new(70, 2, 60);
    uint32_t site = site_in(&im, "job", "", "", 0, "", PROF__KIND_EVENT);
    prof_trace *trace;
    prof_spans *spans = NULL;
    prof_span span;
    char text[512] = "";
    unsigned number;
    size_t i;
    for (number = 1; number <= 2; ++number) {
        chunk(&im, number - 1, number, 1000);
        track(&im, 0, number);
        for (i = 0; i < count; ++i)
            if (halves[i].track == number)
                event(&im, site, halves[i].is_begin ? PROF_EVENT_SPAN_BEGIN : PROF_EVENT_SPAN_END, 0, 7, halves[i].tick);
    }
    trace = image_read(&im);
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    while (prof_spans_next(spans, &span))
        snprintf(text + strlen(text), sizeof text - strlen(text), "%lld+%lld %u-%u %u\n", (long long)span.start_ns,
                 (long long)span.duration_ns, (unsigned)span.begin_track + 1, (unsigned)span.end_track + 1, span.flags);
    CHECK_TEXT(text, want);
    CHECK_EQUAL(prof_spans_close(spans), PROF_OK);
    prof_trace_close(trace);
}

/* Of the same time, on two tracks: first is what is on the first track; an end waits for its begin. */
TEST(halves_of_the_same_time)
{
    enum { END, BEGIN };
    static const half in_order[] = {{1, 1100, BEGIN}, {2, 1100, END}};
    static const half end_first[] = {{1, 1100, END}, {2, 1100, BEGIN}};
    static const half too_late[] = {{1, 1100, END}, {2, 1101, BEGIN}};
    static const half handed_over[] = {{1, 1100, BEGIN}, {1, 1200, END},
                                       {2, 1200, BEGIN}, {2, 1300, END}};
    static const half inside[] = {{2, 1100, BEGIN}, {1, 1200, BEGIN},
                                  {2, 1200, END}, {1, 1300, END}};
    static const half two_ends[] = {{1, 1100, END}, {1, 1100, END},
                                    {2, 1100, BEGIN}, {2, 1200, BEGIN}};
    static const half crossed[] = {{1, 1100, END}, {1, 1100, BEGIN},
                                   {2, 1100, END}, {2, 1100, BEGIN}};
    check_halves(in_order, 2, "100+0 1-2 0\n");
    check_halves(end_first, 2, "100+0 2-1 0\n");
    check_halves(too_late, 2, "100+0 1-1 1\n101+0 2-2 2\n"); /* an end without begin, a begin without end */
    check_halves(handed_over, 4, "100+100 1-1 0\n200+100 2-2 0\n");
    check_halves(inside, 4, "200+0 1-2 0\n100+200 2-1 0\n"); /* the newest open one ends */
    check_halves(two_ends, 4, "100+0 2-1 0\n100+0 1-1 1\n200+0 2-2 2\n");
    check_halves(crossed, 4, "100+0 1-1 0\n100+0 2-2 0\n");
}

TEST(many_ends_of_the_same_time) /* only so many wait for their begins */
{
    const unsigned count = PROF__LATE_MAX + 100;
    image im = image_new(count * 5 + 3, 2, 60);
    uint32_t site = site_in(&im, "job", "", "", 0, "", PROF__KIND_EVENT);
    prof_trace *trace;
    prof_spans *spans = NULL;
    prof_span span;
    unsigned number, i, whole = 0, ends = 0, begins = 0;
    for (number = 1; number <= 2; ++number) {
        chunk(&im, number - 1, number, 1000);
        track(&im, 0, number);
        for (i = 0; i < count; ++i) {
            event(&im, site, number == 1 ? PROF_EVENT_SPAN_END : PROF_EVENT_SPAN_BEGIN, 0, i, 1100);
            text_record(&im, PROF__KIND_NAME, 0, "made", 0);
        }
    }
    trace = image_read(&im);
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    while (prof_spans_next(spans, &span)) {
        CHECK_TEXT(span.name, "made");
        whole += !span.flags;
        ends += span.flags == PROF_TRUNCATED_BEGIN;
        begins += span.flags == PROF_TRUNCATED_END;
    }
    CHECK_EQUAL(whole, PROF__LATE_MAX);
    CHECK_EQUAL(ends, 100);
    CHECK_EQUAL(begins, 100);
    CHECK_EQUAL(prof_spans_close(spans), PROF_OK);
    prof_trace_close(trace);
}

/* How a lock was held, as lines "start+duration track", and "shared". */
static void check_holds(const half *halves, size_t count, const char *want)
{
    image im = image_new(70, 3, 60);
    uint32_t site = site_in(&im, "m", "", "", 0, "", PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT);
    prof_trace *trace;
    prof__lock_spans spans;
    prof__lock_span span;
    size_t i;
    char text[512] = "";
    unsigned number;
    for (number = 1; number <= 3; ++number) {
        chunk(&im, number - 1, number, 1000);
        track(&im, 0, number);
        for (i = 0; i < count; ++i)
            if (halves[i].track == number)
                event(&im, site, halves[i].is_begin ? PROF_EVENT_LOCK_ACQUIRE : PROF_EVENT_LOCK_RELEASE, 0, 7, halves[i].tick);
    }
    trace = image_read(&im);
    prof__lock_spans_open(&spans, trace, NULL, NULL);
    while (prof__lock_spans_next(&spans, &span))
        if (span.held && !span.open)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%d+%d %u%s\n", (int)span.start,
                     (int)(span.end - span.start), (unsigned)span.track + 1, span.shared ? " shared" : "");
    CHECK_TEXT(text, want);
    CHECK_EQUAL(prof__lock_spans_close(&spans), PROF_OK);
    prof_trace_close(trace);
}

/* A thread seems to have a lock a little before another one gave it back: that is the clocks' fault, and no sharing. */
TEST(locks_handed_over)
{
    enum { END, BEGIN };
    static const half apart[] = {{1, 1100, BEGIN}, {1, 2000, END}, {2, 2001, BEGIN}, {2, 2400, END}};
    static const half early[] = {{1, 1100, BEGIN}, {2, 1500, BEGIN}, {1, 2000, END}, {2, 2400, END}};
    static const half short_one[] = {{2, 1500, BEGIN}, {1, 1510, BEGIN}, {1, 1530, END}, {2, 2400, END}};
    static const half shared[] = {{1, 1100, BEGIN}, {2, 1499, BEGIN}, {1, 2000, END}, {2, 2400, END}};
    static const half inside[] = {{1, 1100, BEGIN}, {2, 1900, BEGIN}, {2, 1950, END}, {1, 2400, END}};
    static const half three[] = {{1, 1100, BEGIN}, {2, 1900, BEGIN}, {3, 1950, BEGIN},
                                 {1, 2000, END}, {2, 2100, END}, {3, 2600, END}};
    check_holds(apart, 4, "100+900 1\n1001+399 2\n");
    check_holds(early, 4, "100+900 1\n1000+400 2\n");
    check_holds(short_one, 4, "510+20 1\n530+870 2\n");
    check_holds(shared, 4, "100+900 1 shared\n499+901 2 shared\n");
    check_holds(inside, 4, "900+50 2 shared\n100+1300 1 shared\n");
    check_holds(three, 6, "100+900 1 shared\n1000+100 2\n1100+500 3\n");
}

/* Samples of two threads at the same moments: a Chrome trace has them in the order of the threads, each time. */
TEST(counters_of_one_moment)
{
    image im = image_new(70, 2, 60);
    uint32_t site = site_in(&im, "n", "", "", 0, "", PROF__KIND_COUNTER_INT);
    trace_bytes json = {NULL, 0, 0, 0};
    char values[16] = "";
    const char *at;
    for (unsigned number = 1; number <= 2; ++number) {
        chunk(&im, number - 1, number, 1000);
        track(&im, 0, number);
        for (unsigned moment = 0; moment < 3; ++moment) {
            at_tick(&im, PROF__KIND_COUNTER_INT, site, 1100 + moment);
            put(&im, 2 * moment + number);
        }
    }
    prof_trace *trace = image_read(&im);
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&json), NULL), PROF_OK);
    for (at = json.bytes; (at = strstr(at, "\"args\":{\"\":")) != NULL; at += 11) strncat(values, at + 11, 1);
    CHECK_TEXT(values, "123456");
    free(json.bytes);
    prof_trace_close(trace);
}

static image report_image(void)
{
    image im = image_new(70, 1, 100);
    uint32_t load = site_in(&im, "load, all", "io", "src/game \"x\".c", 12, "load_all", PROF__KIND_BEGIN);
    uint32_t draw = site_in(&im, "zeichne \xC3\xA4\x1B[2J", "gfx", "src/draw.c", 7, "draw", PROF__KIND_BEGIN);
    uint32_t queue = site_in(&im, "queue", "", "src/draw.c", 8, "draw", PROF__KIND_COUNTER_INT);
    uint32_t frame = site_in(&im, "frame", "", "src/draw.c", 9, "draw", PROF__KIND_FRAME);
    uint32_t key = site_in(&im, "k;1", "", "src/draw.c", 10, "draw", PROF__KIND_ARG);
    uint32_t name = string(&im, "main");
    chunk(&im, 0, 1, 1000);
    track(&im, name, 1);
    at_tick(&im, PROF__KIND_FRAME, frame, 1000);
    begin(&im, load, 1100);
    begin(&im, draw, 1200);
    arg_word(&im, key, PROF_VALUE_BOOL, 1);
    arg_word(&im, key, PROF_VALUE_POINTER, 0x7f00);
    arg_word(&im, key, PROF_VALUE_DOUBLE, bits(0.1));
    arg_word(&im, key, PROF_VALUE_UINT, 3);
    text_record(&im, PROF__KIND_ARG, key, "a=\"b\"\\\r\n", 1);
    end(&im, draw, 1300);
    end(&im, load, 3100);
    at_tick(&im, PROF__KIND_MARK, draw, 4000);
    text_record(&im, PROF__KIND_NAME, 0, " led", 0);
    at_tick(&im, PROF__KIND_COUNTER_INT, queue, 5000);
    put(&im, 3);
    at_tick(&im, PROF__KIND_COUNTER_DOUBLE, queue, 6000);
    put(&im, bits(-0.25));
    at_tick(&im, PROF__KIND_FRAME, frame, 17000);
    begin(&im, draw, 18000);
    put(&im, head(PROF__KIND_LOST, 0, 5));
    at_tick(&im, PROF__KIND_MARK, frame, 21000);
    return im;
}

/* Images had a shorter header once: what it did not have is 0, whatever comes after it. */
TEST(a_header_of_before)
{
    image im = report_image();
    im.header->header_size = PROF__HEADER_LEAST;
    im.header->taken_back = im.header->call_x1000 = im.header->format_x1000 = 77;
    prof_trace *trace = image_read(&im);
    CHECK(trace && prof_trace_about(trace)->taken_back == 0 && !(prof_trace_about(trace)->call_cost_ns > 0));
    CHECK(trace && prof_trace_about(trace)->scope_cost_ns > 25 && prof_trace_about(trace)->event_count == 10);
    prof_trace_close(trace);
    im = report_image();
    im.header->taken_back = 70;
    ((prof__chunk *)(void *)(im.bytes + im.header->chunk_offset))->taken_back = 7;
    trace = image_read(&im);
    CHECK(trace && prof_trace_about(trace)->taken_back == 77);
    prof_trace_close(trace);
    im = report_image();
    im.header->lost_args = 1234;
    trace = image_read(&im);
    CHECK(trace && prof_trace_about(trace)->lost_args == 1234);
    prof_trace_close(trace);
    im = report_image();
    im.header->header_size = offsetof(prof__header, lost_args); /* it has taken_back, but not this */
    im.header->lost_args = im.header->taken_back = 70;
    trace = image_read(&im);
    CHECK(trace && prof_trace_about(trace)->taken_back == 70 && prof_trace_about(trace)->lost_args == 0);
    prof_trace_close(trace);
    im = report_image();
    im.header->header_size = offsetof(prof__header, lost_busy);
    im.header->lost_busy = 3;
    trace = image_read(&im);
    CHECK(trace && prof_trace_about(trace)->lost == 5 && prof_trace_about(trace)->lost_busy == 0);
    prof_trace_close(trace);
    im = report_image();
    im.header->lost_busy = UINT64_MAX;
    trace = image_read(&im);
    CHECK(trace && prof_trace_about(trace)->lost == 5 && prof_trace_about(trace)->lost_busy == 5);
    prof_trace_close(trace);
    im = report_image();
    im.header->lost_busy = 4;
    im.header->lost_deep = 3; /* with those, more than were lost */
    trace = image_read(&im);
    CHECK(trace && prof_trace_about(trace)->lost_deep == 3 && prof_trace_about(trace)->lost_busy == 2);
    prof_trace_close(trace);
    static const char *const then[] = {"tests/corpus/report_of_before", "tests/corpus/report_before_lost_args"};
    for (size_t i = 0; i < 2; ++i) { /* as they were written then */
        trace = trace_open_file(then[i]);
        CHECK(trace && prof_trace_about(trace)->event_count == 10 && prof_trace_about(trace)->taken_back == 0);
        CHECK(trace && prof_trace_about(trace)->lost == 5 && prof_trace_about(trace)->lost_args == 0);
        prof_trace_close(trace);
    }
}

TEST(csv)
{
    static const char want[] =
        "track_id,thread_id,thread,type,name,category,start_ns,duration_ns,depth,flags,value,args,"
        "file,line,function\r\n"
        "1,101,main,frame,frame,,0,0,0,,,,src/draw.c,9,draw\r\n"
        "1,101,main,scope,\"load, all\",io,100,2000,0,,,,\"src/game \"\"x\"\".c\",12,load_all\r\n"
        "1,101,main,scope,zeichne \xC3\xA4\x1B[2J,gfx,200,100,1,,,\"k\\;1=true;k\\;1=0x7f00;k\\;1=0.1;k\\;1=3;"
        "k\\;1=a\\=\"\"b\"\"\\\\\r\n...\",src/draw.c,7,draw\r\n"
        "1,101,main,mark,\" led\",gfx,3000,0,0,,,,src/draw.c,7,draw\r\n"
        "1,101,main,counter,queue,,4000,0,0,,3,,src/draw.c,8,draw\r\n"
        "1,101,main,counter,queue,,5000,0,0,,-0.25,,src/draw.c,8,draw\r\n"
        "1,101,main,frame,frame,,16000,16000,0,,,,src/draw.c,9,draw\r\n"
        "1,101,main,scope,zeichne \xC3\xA4\x1B[2J,gfx,17000,3000,0,truncated_end,,,src/draw.c,7,draw\r\n"
        "1,101,main,lost,lost,,17000,0,1,,5,,,,\r\n"
        "1,101,main,mark,frame,,20000,0,1,,,,src/draw.c,9,draw\r\n";
    image im = report_image();
    prof_trace *trace = image_read(&im);
    trace_bytes to = {NULL, 0, 0, 0};
    char *file;
    const char *path = trace_path("reader.csv");
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&to)), PROF_OK);
    CHECK_TEXT(to.bytes, want);
    CHECK_EQUAL(prof_csv_write(trace, path), PROF_OK);
    file = trace_file_text(path, NULL);
    CHECK_TEXT(file ? file : "no file", want);
    free(file);
    free(to.bytes);
    prof_trace_close(trace);
}

TEST(summary)
{
    static const char *const parts[] = {
        "synthetic, process 77\n",
        "recorded  20.00 us, 10 events on 1 track\n",
        "clock     test clock, 1.000 GHz, smallest step 10 ns\n",
        ("\nscope                 calls      total       self   % of run       mean        min        p50        p90"
         "        p99        max     stddev  where\n"
         "load, all                 1   2.000 us   1.900 us     10.0 %   2.000 us   2.000 us   2.000 us   2.000 us"
         "   2.000 us   2.000 us       0 ns  game \"x\".c:12\n"
         "zeichne \xC3\xA4?[2J             2     100 ns     100 ns      0.5 %     100 ns     100 ns     100 ns"
         "     100 ns     100 ns     100 ns       0 ns  draw.c:7\n"
         "1 call of unknown begin or end: counted as calls, but in no time\n"),
        ("\nframe        frames       rate    1 % low       mean        min        p50        p90        p99        max"
         "     stddev\n"
         "frame             1  62.50 kHz  62.50 kHz   16.00 us   16.00 us   16.00 us   16.00 us   16.00 us   16.00 us"
         "       0 ns\n"),
        ("\ncounter       samples           min          mean           max          last\n"
         "queue               2         -0.25         1.375             3         -0.25\n"),
        "\n5 events lost in a full buffer: enlarge PROF_BUFFER to 128K\n",
        "recording cost 25.50 ns a scope, 228.2 ns for 3 scopes, 6 other events, 1.1 % of the run\n",
    };
    image im = report_image();
    prof_trace *trace = image_read(&im);
    trace_bytes to = {NULL, 0, 0, 0};
    prof_summary_options options;
    size_t i;
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    for (i = 0; i < sizeof parts / sizeof *parts; ++i)
        if (!strstr(to.bytes, parts[i])) CHECK_TEXT(to.bytes, parts[i]);
    prof_trace_close(trace);
    im = report_image();
    im.header->lost_busy = 2;
    trace = image_read(&im);
    to.size = 0;
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    CHECK(strstr(to.bytes, "\n3 events lost in a full buffer: enlarge PROF_BUFFER to 128K\n"));
    CHECK(strstr(to.bytes, "\n2 events lost in signal handlers or interrupts that came while a macro was at work\n"));
    to.size = 0;
    trace->info.lost_args = 4; /* of either */
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    CHECK(strstr(to.bytes, "\n4 arguments lost in a full buffer: enlarge PROF_BUFFER to 128K\n"));
    to.size = 0;
    trace->info.lost_busy = trace->info.lost; /* no event was lost in a full buffer */
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    CHECK(strstr(to.bytes, "\n4 arguments lost in signal handlers or interrupts that came while a macro was at work\n"));
    CHECK(!strstr(to.bytes, "full buffer"));
    to.size = 0;
    trace->info.lost_busy = trace->info.lost = 0;
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    CHECK(strstr(to.bytes, "\n4 arguments lost in a full buffer: enlarge PROF_BUFFER"));
    to.size = 0;
    memset(&options, 0, sizeof options);
    options.sort = PROF_SORT_CALLS;
    options.top = 1;
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), &options), PROF_OK);
    CHECK(strstr(to.bytes, "zeichne") != NULL);
    CHECK(strstr(to.bytes, "load") == NULL);
    CHECK(strstr(to.bytes, "and 1 more\n") != NULL);
    free(to.bytes);
    prof_trace_close(trace);
}

/* A name that was made at run time stands beside the begin, and may be overwritten with it. */
TEST(summary_of_a_scope_without_a_name)
{
    image im = image_new(70, 1, 200);
    uint32_t site = site_in(&im, "", "", "src/draw.c", 7, "draw", PROF__KIND_BEGIN);
    trace_bytes to = {NULL, 0, 0, 0};
    chunk(&im, 0, 1, 1000);
    track(&im, string(&im, "main"), 1);
    begin(&im, site, 1010);
    end(&im, site, 1020);
    prof_trace *trace = image_read(&im);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    CHECK(strstr(to.bytes, "\n(unnamed)             1      10 ns "));
    free(to.bytes);
    prof_trace_close(trace);
}

/* Scopes of long names and short, a tree, a span, counters, a lock. */
static prof_trace *wide_trace(void)
{
    image im = image_new(70, 1, 200);
    const uint32_t kind = PROF__KIND_BEGIN | (uint32_t)PROF_ROLE_THROUGHPUT << PROF__ROLE_SHIFT;
    uint32_t outer = site_in(&im, "server::connection_pool<tls_stream>::handle_request", "net", "src/server/connection.cpp",
                             1234, "handle", PROF__KIND_BEGIN);
    uint32_t inner = site_in(&im, "dr\xC3\xA4w", "gfx", "src/draw.c", 7, "draw", PROF__KIND_BEGIN);
    uint32_t copy = site_in(&im, "copy", "gfx", "src/draw.c", 9, "draw", kind);
    uint32_t frame = site_in(&im, "frame", "", "src/draw.c", 9, "draw", PROF__KIND_FRAME);
    uint32_t queue = site_in(&im, "bytes in the queue", "", "src/draw.c", 8, "draw", PROF__KIND_COUNTER_INT);
    uint32_t lock = site_in(&im, "queue of jobs", "", "src/draw.c", 8, "draw",
                            PROF__KIND_EVENT | (uint32_t)PROF_ROLE_LOCK << PROF__ROLE_SHIFT);
    chunk(&im, 0, 1, 1000);
    track(&im, string(&im, "main"), 1);
    at_tick(&im, PROF__KIND_FRAME, frame, 1000);
    begin(&im, outer, 1000);
    begin(&im, inner, 1001);
    end(&im, inner, 1234567);
    end(&im, outer, 2345678);
    begin(&im, copy, 2345679);
    end(&im, copy, 2345779);
    at_tick(&im, PROF__KIND_COUNTER_INT, queue, 2345780);
    put(&im, 1234567890123);
    event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 1, 2345790);
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 1, 2345800);
    put(&im, head(PROF__KIND_LOST, 0, 5));
    at_tick(&im, PROF__KIND_FRAME, frame, 2346000);
    return image_read(&im);
}

static char *fitted(const prof_trace *trace, int columns, int by_path, prof_sort sort)
{
    trace_bytes to = {NULL, 0, 0, 0};
    prof_summary_options options;
    memset(&options, 0, sizeof options);
    options.columns = columns;
    options.by_path = by_path;
    options.sort = sort;
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), &options), PROF_OK);
    return to.bytes;
}

/* Characters of the longest line. */
static size_t longest_line(const char *text)
{
    size_t longest = 0, length = 0;
    for (; *text; text = prof__next_character(text)) {
        length = *text == '\n' ? 0 : length + 1;
        if (length > longest) longest = length;
    }
    return longest;
}

TEST(summary_fits)
{
    prof_trace *trace = wide_trace();
    char *wide = fitted(trace, 0, 0, PROF_SORT_TOTAL), *text = fitted(trace, -1, 0, PROF_SORT_TOTAL);
    int columns;
    CHECK_TEXT(text, wide);
    CHECK(longest_line(wide) > 160);
    CHECK(strstr(wide, "\nserver::connection_pool...tream>::handle_request ") != NULL);
    CHECK(strstr(wide, "  connection.cpp:1234\n") != NULL);
    free(text);
    for (columns = 66; columns < 260; ++columns) {
        text = fitted(trace, columns, columns % 2, PROF_SORT_TOTAL);
        CHECK(longest_line(text) <= (size_t)columns);
        CHECK(strstr(text, "dr\xC3\xA4w ") != NULL);
        free(text);
    }
    text = fitted(trace, 80, 0, PROF_SORT_TOTAL);
    CHECK(strstr(text, "\nscope                              calls     total      self      mean       p99\n"
                       "server::connect...:handle_request      1  2.345 ms  1.111 ms  2.345 ms  2.345 ms\n"
                       "dr\xC3\xA4w                                   1  1.234 ms  1.234 ms  1.234 ms  1.234 ms\n") != NULL);
    CHECK(strstr(text, "\n    at the end held by 1 thread, 0 waiting\n") != NULL);
    free(text);
    text = fitted(trace, 60, 0, PROF_SORT_MIN); /* what it is sorted by stays */
    CHECK(strstr(text, "      min\n") != NULL);
    CHECK(longest_line(text) <= 66); /* sentences of words that cannot be left out */
    free(text);
    text = fitted(trace, 1, 0, PROF_SORT_TOTAL); /* narrower than anything fits into */
    CHECK(strstr(text, "dr\xC3\xA4w ") != NULL);
    free(text);
    text = fitted(trace, 300, 0, PROF_SORT_TOTAL);
    CHECK_TEXT(text, wide);
    free(text);
    free(wide);
    prof_trace_close(trace);
}

/* What prof_summary_write() prints on a terminal of 70 columns. */
static void print_on_terminal(const prof_trace *trace, int columns, char *text, size_t size)
{
    const char *name;
    struct winsize window;
    int kept, slave = -1, master = posix_openpt(O_RDWR | O_NOCTTY);
    size_t used = 0;
    ssize_t got = 1;
    *text = 0;
    memset(&window, 0, sizeof window);
    window.ws_col = 70;
    window.ws_row = 24;
    if (master >= 0 && !grantpt(master) && !unlockpt(master) && (name = ptsname(master)) != NULL)
        slave = open(name, O_RDWR | O_NOCTTY);
    if (slave >= 0 && !ioctl(slave, TIOCSWINSZ, &window)) {
        prof_summary_options options;
        memset(&options, 0, sizeof options);
        options.columns = columns;
        fflush(stdout);
        kept = dup(1);
        dup2(slave, 1);
        CHECK_EQUAL(prof_summary_write(trace, "-", &options), PROF_OK);
        dup2(kept, 1);
        close(kept);
        fcntl(master, F_SETFL, O_NONBLOCK);
        while (got > 0 && used + 1 < size) {
            got = read(master, text + used, size - 1 - used);
            if (got > 0) used += (size_t)got;
        }
        text[used] = 0;
    }
    if (slave >= 0) close(slave);
    if (master >= 0) close(master);
    while (strchr(text, '\r')) memmove(strchr(text, '\r'), strchr(text, '\r') + 1, strlen(strchr(text, '\r')));
}

TEST(summary_fits_the_terminal)
{
    prof_trace *trace = wide_trace();
    char text[8192], *want;
    unsetenv("COLUMNS");
    print_on_terminal(trace, 0, text, sizeof text);
    if (*text) {
        want = fitted(trace, 70, 0, PROF_SORT_TOTAL);
        CHECK_TEXT(text, want);
        free(want);
        print_on_terminal(trace, -1, text, sizeof text);
        CHECK(longest_line(text) > 160);
        setenv("COLUMNS", "90", 1);
        print_on_terminal(trace, 0, text, sizeof text);
        want = fitted(trace, 90, 0, PROF_SORT_TOTAL);
        CHECK_TEXT(text, want);
        free(want);
        print_on_terminal(trace, 100, text, sizeof text);
        CHECK(longest_line(text) > 90 && longest_line(text) <= 100);
        unsetenv("COLUMNS");
    }
    prof_trace_close(trace);
    if (!*text) SKIP("no pseudo terminal");
}

TEST(buffer_wanted)
{
    /* what was lost relative to what was kept, up to a power of two, and always more than there was */
    static const struct { uint64_t image, most; double more; const char *want; } cases[] = {
        {16 << 20, (uint64_t)64 << 30, 0.01, " to 32M"}, {16 << 20, (uint64_t)64 << 30, 1.5, " to 64M"},
        {(16 << 20) - 20000, (uint64_t)64 << 30, 0, " to 32M"}, {20 << 20, (uint64_t)64 << 30, 0.1, " to 32M"},
        {16 << 20, (uint64_t)64 << 30, 70, " to 2G"}, {40000, (uint64_t)64 << 30, 1, " to 128K"},
        {(uint64_t)64 << 30, (uint64_t)64 << 30, 1, ""}, {128 << 20, 128 << 20, 3, ""},
    };
    prof_trace *trace = wide_trace();
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        trace->header.image_size = cases[i].image;
        trace->header.chunk_size = 16384;
        prof__buffer_wanted(text, trace, cases[i].more, cases[i].most);
        CHECK_TEXT(text, cases[i].want);
    }
    prof_trace_close(trace);
}

TEST(frames_with_time_between_them)
{
    /* four frames of 1 us, 10 us apart: a second of frames has a million of them, and none is slower */
    image im = image_new(70, 1, 100);
    uint32_t it = site_in(&im, "it", "", "", 0, "", PROF__KIND_EVENT | (uint32_t)PROF_ROLE_FRAME << PROF__ROLE_SHIFT);
    trace_bytes to = {NULL, 0, 0, 0};
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    for (uint64_t i = 0; i < 4; ++i) {
        event(&im, it, PROF_EVENT_SPAN_BEGIN, 0, i, 2000 + 10000 * i);
        event(&im, it, PROF_EVENT_SPAN_END, 0, i, 3000 + 10000 * i);
    }
    trace = image_read(&im);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    CHECK(strstr(to.bytes, "\nit                4  1.000 MHz  1.000 MHz   1.000 us ") != NULL);
    free(to.bytes);
    prof_trace_close(trace);
}

TEST(csv_is_utf8)
{
    image im = image_new(70, 1, 100);
    uint32_t it = site_in(&im, "a\xFF" "b\xC3", "c\xE2\x82,\xF0\x9F\x98", "\xED\xA0\x80.c", 1, "\xC3\xA4", PROF__KIND_BEGIN);
    uint32_t key = site_in(&im, "k\x80", "", "a.c", 1, "", PROF__KIND_ARG);
    trace_bytes to = {NULL, 0, 0, 0};
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, string(&im, "\xFE"), 1);
    begin(&im, it, 1010);
    text_record(&im, PROF__KIND_ARG, key, "v\xC3;\xC3\xA4", 0);
    end(&im, it, 1020);
    trace = image_read(&im);
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&to)), PROF_OK);
#define BAD "\xEF\xBF\xBD"
    CHECK_TEXT(strchr(to.bytes, '\n') + 1,
               "1,101," BAD ",scope,a" BAD "b" BAD ",\"c" BAD "," BAD "\",10,10,0,,,\"k" BAD "=v" BAD "\\;\xC3\xA4\"," BAD BAD
               BAD ".c,1,\xC3\xA4\r\n");
#undef BAD
    free(to.bytes);
    prof_trace_close(trace);
}

static size_t times_in(const char *text, const char *part)
{
    size_t times = 0;
    for (; (text = strstr(text, part)) != NULL; ++text) ++times;
    return times;
}

TEST(throughputs_by_path) /* each has its row, also when only the first call paths are shown */
{
    image im = image_new(40, 1, 100);
    const uint32_t kind = PROF__KIND_BEGIN | (uint32_t)PROF_ROLE_THROUGHPUT << PROF__ROLE_SHIFT;
    uint32_t outer = site(&im, "outer"), a = site_in(&im, "copy A", "", "", 0, "", kind);
    uint32_t b = site_in(&im, "copy B", "", "", 0, "", kind), c = site_in(&im, "copy C", "", "", 0, "", kind);
    prof_summary_options options;
    const char *path = trace_path("throughputs.txt");
    prof_trace *trace;
    char *text, *table;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, outer, 1000);
    begin(&im, c, 1001);
    end(&im, c, 1900);
    end(&im, outer, 1901);
    begin(&im, a, 2000);
    end(&im, a, 2100);
    begin(&im, b, 2200);
    end(&im, b, 2210);
    trace = image_read(&im);
    memset(&options, 0, sizeof options);
    options.sort = PROF_SORT_SELF;
    options.top = 1;
    options.by_path = 1;
    CHECK_EQUAL(prof_summary_write(trace, path, &options), PROF_OK);
    text = trace_file_text(path, NULL);
    table = text ? strstr(text, "\nthroughput") : NULL;
    CHECK(table != NULL);
    CHECK(table && times_in(table, "copy A") == 1 && times_in(table, "copy B") == 1 && times_in(table, "copy C") == 1);
    free(text);
    prof_trace_close(trace);
}

TEST(csv_of_objects)
{
    static const char want[] =
        "1,101,,span_begin,it,,10,0,0,,18446744073709551615,,,,\r\n"
        "1,101,,span_mark,it,,11,0,0,,0,,,,\r\n"
        "1,101,,span_end,it,,12,0,0,,7,,,,\r\n"
        "1,101,,flow_out,it,,13,0,0,,8,,,,\r\n"
        "1,101,,flow_in,it,,14,0,0,,9,,,,\r\n"
        "1,101,,alloc,it,,15,0,0,,0x7f00,bytes=72057594037927935,,,\r\n"
        "1,101,,free,it,,16,0,0,,0x7f00,,,,\r\n"
        "1,101,,lock_wait,it,,17,0,0,,0xffffffffffffffff,,,,\r\n"
        "1,101,,lock_acquire,it,,18,0,0,,0x1,,,,\r\n"
        "1,101,,lock_release,it,,19,0,0,,0x0,,,,\r\n";
    image im = image_new(70, 1, 100);
    uint32_t it = site_in(&im, "it", "", "", 0, "", PROF__KIND_EVENT);
    trace_bytes to = {NULL, 0, 0, 0};
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    event(&im, it, PROF_EVENT_SPAN_BEGIN, 0, UINT64_MAX, 1010);
    event(&im, it, PROF_EVENT_SPAN_MARK, 0, 0, 1011);
    event(&im, it, PROF_EVENT_SPAN_END, 0, 7, 1012);
    event(&im, it, PROF_EVENT_FLOW_OUT, 0, 8, 1013);
    event(&im, it, PROF_EVENT_FLOW_IN, 0, 9, 1014);
    event(&im, it, PROF_EVENT_ALLOC, PROF__EVENT_DETAIL_MAX, 0x7f00, 1015);
    event(&im, it, PROF_EVENT_FREE, 0, 0x7f00, 1016);
    event(&im, it, PROF_EVENT_LOCK_WAIT, 1, UINT64_MAX, 1017);
    event(&im, it, PROF_EVENT_LOCK_ACQUIRE, 0, 1, 1018);
    event(&im, it, PROF_EVENT_LOCK_RELEASE, 0, 0, 1019);
    trace = image_read(&im);
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&to)), PROF_OK);
    CHECK_TEXT(strstr(to.bytes, "1,101"), want);
    free(to.bytes);
    prof_trace_close(trace);
}

TEST(an_event_of_a_kind_that_is_not_known)
{
    image im = image_new(70, 1, 100);
    uint32_t work = site(&im, "work"), it = site_in(&im, "it", "", "", 0, "", PROF__KIND_EVENT);
    trace_bytes to = {NULL, 0, 0, 0};
    prof_summary_options options;
    prof_trace *trace;
    memset(&options, 0, sizeof options);
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    begin(&im, work, 1010);
    event(&im, it, 199, 5, 6, 1011); /* with a name and a value, which are not those of the scope */
    text_record(&im, PROF__KIND_NAME, 0, "later", 0);
    put(&im, head(PROF__KIND_DATA, 0, (uint64_t)PROF_VALUE_UINT << 32 | 1));
    put(&im, 7);
    event(&im, it, 255, 0, 0, 1012);
    event(&im, it, PROF_EVENT_LOST, 0, 0, 1013); /* a type that no EVENT has */
    end(&im, work, 1020);
    trace = image_read(&im);
    CHECK_EQUAL(prof_trace_about(trace)->unknown, 3);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&to)), PROF_OK);
    CHECK_TEXT(strstr(to.bytes, "1,101"), "1,101,,scope,work,,10,10,0,,,,,,\r\n");
    to.size = 0;
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), &options), PROF_OK);
    CHECK(strstr(to.bytes, "3 events left out, of kinds that this version does not know: read the file with a newer one"));
    free(to.bytes);
    prof_trace_close(trace);
}

/* The summary of a counter with such samples. Free it. */
static char *counter_summary(const double *samples, size_t count)
{
    image im = image_new(70, 1, 100);
    uint32_t site = site_in(&im, "n", "", "a.c", 1, "f", PROF__KIND_COUNTER_INT);
    trace_bytes to = {NULL, 0, 0, 0};
    prof_trace *trace;
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    for (size_t i = 0; i < count; ++i) {
        at_tick(&im, PROF__KIND_COUNTER_DOUBLE, site, 2000 + i);
        put(&im, bits(samples[i]));
    }
    trace = image_read(&im);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    prof_trace_close(trace);
    return to.bytes;
}

TEST(summary_of_great_numbers)
{
    /* whole numbers in full, so far as a double knows them; columns that never touch */
    static const struct { double samples[3]; const char *want; } cases[] = {
        {{1e9, 1234567890, -999999999999.0},
         "\ncounter       samples              min             mean              max             last\n"
         "n                   3 -999,999,999,999 -332,588,477,370    1,234,567,890 -999,999,999,999\n"},
        {{-9007199254740992.0, 9007199254740992.0, 0},
         "\ncounter       samples                    min                   mean                    max                   last\n"
         "n                   3 -9,007,199,254,740,992                      0  9,007,199,254,740,992                      0\n"},
        {{1e16, 1.5e300, -1.25e-300},
         "\ncounter       samples           min          mean           max          last\n"
         "n                   3    -1.25e-300        5e+299      1.5e+300    -1.25e-300\n"},
        {{1234567890.5, 1e-9, -1.234567e-300},
         "\ncounter       samples           min          mean           max          last\n"
         "n                   3 -1.23457e-300   411,522,630 1,234,567,891 -1.23457e-300\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char *text = counter_summary(cases[i].samples, 3);
        if (!strstr(text, cases[i].want)) CHECK_TEXT(text, cases[i].want);
        free(text);
    }
}

/* An image of counters of one name and place, whose units differ: what two plugins may have. */
static prof_trace *units_trace(void)
{
    static const struct { const char *unit; double values[2]; } counters[] = {
        {"", {40, 1e6}}, {"B", {512, 1500000}}, {"%", {40, 41.5}}, {"ms", {-0.25, 1500}},
        {"\xc2\xb5s", {0, 5e-13}}, {"MHz", {1400, 1410}}, {"bytes", {-2048, 1}}, {"memory\n", {1, 2}},
        {"123456\xc2\xb5m", {1, 1}}};
    image im = image_new(200, 1, 100);
    uint32_t name = string(&im, "memory use"), file = string(&im, "a.c");
    chunk(&im, 0, 1, 1000);
    track(&im, 0, 1);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; ++i) {
        uint64_t field[5] = {(uint64_t)file << 32 | name, 0, 7, (uint64_t)PROF__KIND_COUNTER_INT << 32 | 1, 0};
        field[4] = string(&im, counters[i].unit);
        meta(&im, PROF__META_SITE, ++im.sites, field, i ? sizeof field : 32);
        for (size_t j = 0; j < 2; ++j) {
            at_tick(&im, PROF__KIND_COUNTER_DOUBLE, im.sites, 2000 + 10 * i + j);
            put(&im, bits(counters[i].values[j]));
        }
    }
    return image_read(&im);
}

TEST(summary_of_units)
{
    static const char want[] =
        "\ncounter          samples           min          mean           max          last\n"
        "memory use             2            40       500,020     1,000,000     1,000,000\n"
        "memory use             2         512 B      750.3 kB      1.500 MB      1.500 MB\n"
        "memory use             2          40 %       40.75 %        41.5 %        41.5 %\n"
        "memory use             2     -250.0 us      749.9 ms       1.500 s       1.500 s\n"
        "memory use             2          0 ns    2.5e-13 \xc2\xb5" "s      5e-13 \xc2\xb5" "s      5e-13 \xc2\xb5" "s\n"
        "memory use             2     1,400 MHz     1,405 MHz     1,410 MHz     1,410 MHz\n"
        "memory use             2     -2.048 kB     -1.024 kB           1 B           1 B\n"
        "memory use             2     1 memory?   1.5 memory?     2 memory?     2 memory?\n"
        "memory use             2    1 123456\xc2\xb5" "m    1 123456\xc2\xb5" "m    1 123456\xc2\xb5" "m    1 123456\xc2\xb5" "m\n";
    trace_bytes to = {NULL, 0, 0, 0};
    prof_trace *trace = units_trace();
    const char *found;
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    found = strstr(to.bytes, "\ncounter");
    CHECK(found != NULL);
    if (found && strncmp(found, want, strlen(want))) CHECK_TEXT(found, want);
    to.size = 0;
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&to)), PROF_OK);
    CHECK(strstr(to.bytes, "counter,memory use,,1000,0,0,,40,,a.c,7,\r\n") != NULL);
    CHECK(strstr(to.bytes, "counter,memory use,,1020,0,0,,40,\"unit=%\",a.c,7,\r\n") != NULL);
    free(to.bytes);
    prof_trace_close(trace);
}

TEST(summary_of_nothing)
{
    image im = image_new(10, 1, 4);
    prof_trace *trace;
    trace_bytes to = {NULL, 0, 0, 0};
    im.header->cost_ticks_x1000 = 0;
    trace = image_read(&im);
    CHECK_EQUAL(prof_trace_track_count(trace), 0);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_OK);
    CHECK(strstr(to.bytes, "0 events on 0 tracks") != NULL);
    CHECK(strstr(to.bytes, "no scopes") != NULL);
    CHECK(strstr(to.bytes, "nothing lost") != NULL);
    to.size = 0;
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&to)), PROF_OK);
    CHECK_TEXT(to.bytes + to.size - 10, "function\r\n");
    free(to.bytes);
    prof_trace_close(trace);
}

TEST(human_numbers)
{
    static const struct {
        double ns;
        const char *text;
    } cases[] = {{0, "0 ns"},          {7, "7 ns"},           {7.5, "7.500 ns"},      {999, "999 ns"},
                 {1000, "1.000 us"},   {999.97, "1.000 us"},  {12345, "12.35 us"},    {999949, "999.9 us"},
                 {999951, "1.000 ms"}, {123456789, "123.5 ms"}, {1e9, "1.000 s"},     {1e12, "1,000 s"},
                 {1.5e14, "150,000 s"}, {1e30, "1e+21 s"}, {-2500, "-2.500 us"}};
    size_t i;
    for (i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[64];
        prof__human_ns(text, cases[i].ns);
        CHECK_TEXT(text, cases[i].text);
    }
    {
        char text[32];
        prof__grouped(text, 1234567);
        CHECK_TEXT(text, "1,234,567");
        prof__grouped(text, ~(uint64_t)0);
        CHECK_TEXT(text, "18,446,744,073,709,551,615");
        prof__grouped(text, 999);
        CHECK_TEXT(text, "999");
    }
}

/*-- output --*/

TEST(output_numbers)
{
    trace_bytes to = {NULL, 0, 0, 0};
    prof__out out;
    uint64_t value;
    char want[64];
    prof__out_sink(&out, trace_sink(&to));
    prof__out_signed(&out, INT64_MIN);
    prof__out_text(&out, " ");
    prof__out_unsigned(&out, UINT64_MAX);
    prof__out_text(&out, " ");
    prof__out_double(&out, 1.0 / 3);
    prof__out_text(&out, " ");
    prof__out_double(&out, 1e300 * 1e300);
    CHECK_EQUAL(prof__out_close(&out), PROF_OK);
    CHECK_TEXT(to.bytes, "-9223372036854775808 18446744073709551615 0.3333333333333333 inf");
    for (value = 1; value < UINT64_MAX / 3; value = value * 3 - value / 7) {
        to.size = 0;
        prof__out_sink(&out, trace_sink(&to));
        prof__out_unsigned(&out, value);
        prof__out_close(&out);
        snprintf(want, sizeof want, "%llu", (unsigned long long)value);
        CHECK_TEXT(to.bytes, want);
    }
    free(to.bytes);
}

TEST(output_doubles_read_back)
{
    long i;
    random_state = 3;
    for (i = 0; i < 20000; ++i) {
        uint64_t word = (uint64_t)random_below(1u << 24) << 40 ^ (uint64_t)random_below(1u << 24) << 20 ^
                        random_below(1u << 24);
        double value, back;
        char text[32];
        memcpy(&value, &word, sizeof value);
        if (!(value - value >= 0)) continue;
        prof__double_text(text, value);
        back = strtod(text, NULL);
        CHECK(memcmp(&value, &back, sizeof value) == 0);
        if (test_failures) break;
    }
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        char text[32];
        prof__double_text(text, 2.5);
        CHECK_TEXT(text, "2.5");
        setlocale(LC_NUMERIC, "C");
    }
}

TEST(output_refused)
{
    image im = report_image();
    prof_trace *trace = image_read(&im);
    trace_bytes to = {NULL, 0, 0, 1};
    prof_sink none = {NULL, NULL};
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&to)), PROF_IO);
    CHECK(strstr(prof_error(), "sink") != NULL);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&to), NULL), PROF_IO);
    CHECK_EQUAL(prof_csv_stream(trace, none), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_csv_write(trace, "/dev/null/folder/x.csv"), PROF_IO);
    CHECK(strstr(prof_error(), "/dev/null/folder/x.csv") != NULL);
    CHECK_EQUAL(prof_csv_write(NULL, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_csv_stream(NULL, trace_sink(&to)), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_summary_write(NULL, NULL, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_summary_stream(NULL, trace_sink(&to), NULL), PROF_INVALID_ARGUMENT);
    free(to.bytes);
    prof_trace_close(trace);
}

/* Files of the folder for output whose names begin like this. */
static int count_files(const char *begin)
{
    DIR *folder = opendir(TRACE_FOLDER);
    struct dirent *each;
    int count = 0;
    while (folder && (each = readdir(folder)) != NULL) count += !strncmp(each->d_name, begin, strlen(begin));
    if (folder) closedir(folder);
    return count;
}

TEST(output_full_disk) /* an older file stays as it was, and no half of a new one is left */
{
    image im = report_image();
    prof_trace *trace = image_read(&im);
    const char *path = trace_path("full.csv");
    struct rlimit before, small;
    char *text;
    prof_status status;
    trace_write_file(path, "older", 5);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    status = prof_csv_write(trace, path);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    CHECK_EQUAL(status, PROF_IO);
    CHECK(strstr(prof_error(), "full.csv") != NULL);
    CHECK(strstr(prof_error(), "File too large") != NULL);
    text = trace_file_text(path, NULL);
    CHECK_TEXT(text ? text : "gone", "older");
    free(text);
    CHECK_EQUAL(count_files("full.csv"), 1);
    CHECK_EQUAL(prof_csv_write(trace, path), PROF_OK);
    CHECK(trace_file_size(path) > 500);
    CHECK_EQUAL(count_files("full.csv"), 1);
    prof_trace_close(trace);
}

TEST(output_through_links_and_devices)
{
    image im = report_image();
    prof_trace *trace = image_read(&im);
    const char *target = trace_path("target.csv"), *link = trace_path("link.csv");
    struct stat about;
    remove(link);
    trace_write_file(target, "older", 5);
    CHECK(!symlink("target.csv", link));
    CHECK_EQUAL(prof_csv_write(trace, link), PROF_OK);
    CHECK(!lstat(link, &about) && S_ISLNK(about.st_mode)); /* still a link */
    CHECK(trace_file_size(target) > 500);
    CHECK_EQUAL(prof_csv_write(trace, "/dev/null"), PROF_OK);
    CHECK(!stat("/dev/null", &about) && S_ISCHR(about.st_mode));
#ifdef __linux__
    CHECK_EQUAL(prof_csv_write(trace, "/dev/full"), PROF_IO);
#endif
    prof_trace_close(trace);
}

/*-- files --*/

TEST(files)
{
    image im = crossing_image();
    prof_trace *trace = NULL;
    const char *path = trace_path("reader.prof"), *shorter = trace_path("shorter.prof");
    const char *empty = trace_path("empty.prof");
    trace_write_file(path, im.bytes, im.size);
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    if (trace) {
        trace_check(trace);
        CHECK_EQUAL(prof_trace_track_count(trace), 2);
    }
    prof_trace_close(trace);
    im.header->state = PROF__RUNNING; /* read chunk by chunk */
    trace_write_file(path, im.bytes, im.size);
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    if (trace) {
        trace_check(trace);
        CHECK_EQUAL(prof_trace_about(trace)->event_count, 6);
        CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
    }
    prof_trace_close(trace);
    trace_write_file(shorter, im.bytes, im.size - 1);
    CHECK_EQUAL(prof_trace_open(shorter, &trace), PROF_CORRUPT);
    CHECK(strstr(prof_error(), "shorter.prof: truncated") != NULL);
    CHECK(trace == NULL);
    trace_write_file(shorter, im.bytes, 20);
    CHECK_EQUAL(prof_trace_open(shorter, &trace), PROF_CORRUPT);
    CHECK(strstr(prof_error(), "truncated") != NULL);
    trace_write_file(shorter, "#!/bin/sh\n", 10);
    CHECK_EQUAL(prof_trace_open(shorter, &trace), PROF_CORRUPT);
    CHECK(strstr(prof_error(), "not a prof image") != NULL);
    trace_write_file(empty, "", 0);
    CHECK_EQUAL(prof_trace_open(empty, &trace), PROF_CORRUPT);
    CHECK(strstr(prof_error(), "empty") != NULL);
    CHECK_EQUAL(prof_trace_open(trace_path("there is none.prof"), &trace), PROF_IO);
    CHECK(strstr(prof_error(), "there is none.prof: No such file") != NULL);
    CHECK_EQUAL(prof_trace_open(TRACE_FOLDER, &trace), PROF_IO);
    CHECK(strstr(prof_error(), TRACE_FOLDER) != NULL);
    CHECK_EQUAL(prof_trace_open(NULL, &trace), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_open(path, NULL), PROF_INVALID_ARGUMENT);
    prof_trace_close(NULL);
    free(im.bytes);
}

TEST(arguments)
{
    image im = balanced_image();
    prof_trace *trace = image_read(&im);
    prof_cursor *cursor = NULL;
    prof_event event;
    CHECK_EQUAL(prof_cursor_open(trace, 1, &cursor), PROF_INVALID_ARGUMENT);
    CHECK(cursor == NULL);
    CHECK_EQUAL(prof_cursor_open(NULL, 0, &cursor), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_cursor_open(trace, 0, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_cursor_next(NULL, &event), 0);
    prof_cursor_close(NULL);
    CHECK(prof_trace_track(trace, 1) == NULL);
    CHECK(prof_trace_track(NULL, 0) == NULL);
    CHECK_EQUAL(prof_trace_track_count(NULL), 0);
    CHECK(prof_trace_about(NULL) == NULL);
    prof_trace_close(trace);
}

TEST(two_cursors) /* are independent, and give the same ids each time */
{
    image im = crossing_image();
    prof_trace *trace = image_read(&im);
    prof_cursor *first = NULL, *second = NULL;
    prof_event a, b;
    uint64_t ids[5];
    size_t i;
    CHECK_EQUAL(prof_cursor_open(trace, 0, &first), PROF_OK);
    for (i = 0; i < 5; ++i) {
        CHECK(prof_cursor_next(first, &a));
        ids[i] = a.id;
    }
    CHECK(!prof_cursor_next(first, &a));
    CHECK(!prof_cursor_next(first, &a)); /* and stays at the end */
    prof_cursor_close(first);
    prof_cursor_open(trace, 0, &first);
    prof_cursor_open(trace, 0, &second);
    for (i = 0; i < 5; ++i) {
        prof_cursor_next(first, &a);
        CHECK_EQUAL(a.id, ids[i]);
        if (i < 2) continue;
        prof_cursor_next(second, &b);
        CHECK_EQUAL(b.id, ids[i - 2]);
    }
    prof_cursor_close(first);
    prof_cursor_close(second);
    prof_trace_close(trace);
}

static void *read_all(void *trace)
{
    prof_stat *stats = NULL;
    size_t count = 0;
    trace_bytes to = {NULL, 0, 0, 0};
    prof_stats((const prof_trace *)trace, PROF_SORT_TOTAL, 0, &stats, &count);
    prof_stats_free(stats);
    prof_csv_stream((const prof_trace *)trace, trace_sink(&to));
    return to.bytes;
}

TEST(threads_share_a_trace)
{
    image im = report_image();
    prof_trace *trace = image_read(&im);
    pthread_t threads[4];
    void *texts[4];
    size_t i;
    for (i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, read_all, trace));
    for (i = 0; i < 4; ++i) CHECK(!pthread_join(threads[i], &texts[i]));
    for (i = 0; i < 4; ++i) CHECK_TEXT((char *)texts[i], (char *)texts[0]);
    for (i = 0; i < 4; ++i) free(texts[i]);
    prof_trace_close(trace);
}

/*-- memory --*/

static prof_status use_everything(const image *im)
{
    prof_trace *trace = NULL;
    prof_stat *stats = NULL;
    size_t count = 0, i;
    trace_bytes to = {NULL, 0, 0, 0};
    prof_status status = prof_trace_open_memory(im->bytes, im->size, &trace);
    for (i = 0; status == PROF_OK && i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor = NULL;
        prof_event event;
        status = prof_cursor_open(trace, i, &cursor);
        while (prof_cursor_next(cursor, &event)) continue;
        prof_cursor_close(cursor);
    }
    if (status == PROF_OK) status = prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count);
    prof_stats_free(stats);
    if (status == PROF_OK) status = prof_csv_stream(trace, trace_sink(&to));
    if (status == PROF_OK) status = prof_summary_stream(trace, trace_sink(&to), NULL);
    prof_trace_close(trace);
    free(to.bytes);
    return status;
}

TEST(out_of_memory) /* at each allocation in turn: an error, no crash, and (says the sanitizer) no leak */
{
    image images[4];
    size_t i;
    long n;
    images[0] = orphans_image();
    images[1] = crossing_image();
    images[2] = report_image();
    images[3] = torn_image();
    for (i = 0; i < 4; ++i) {
        long refused = 0;
        for (n = 0; n < 1000; ++n) {
            prof_status status;
            allocations_left = n;
            status = use_everything(&images[i]);
            allocations_left = -1;
            if (status == PROF_OK) { /* a buffer that is missing only makes the output slower */
                allocations_left = n + 4;
                CHECK_EQUAL(use_everything(&images[i]), PROF_OK);
                allocations_left = -1;
                break;
            }
            CHECK_EQUAL(status, PROF_NO_MEMORY);
            ++refused;
        }
        CHECK(refused > 15 && refused < 200);
        free(images[i].bytes);
    }
}

/*-- a file that is being recorded into --*/

#ifdef __GLIBC__
/* A file whose chunks get a new sequence number as soon as their first word was read. */
typedef struct moving_file {
    unsigned char *bytes;
    size_t size, at;
    const prof__header *header;
    int chunk; /* only this one; -1: none */
} moving_file;

static ssize_t moving_read(void *cookie, char *to, size_t size)
{
    moving_file *file = (moving_file *)cookie;
    size_t at = (size_t)file->header->chunk_offset + (size_t)file->chunk * file->header->chunk_size;
    if (size > file->size - file->at) size = file->size - file->at;
    memcpy(to, file->bytes + file->at, size);
    if (file->chunk >= 0 && file->at <= at + 1 && at + 1 < file->at + size) /* stdio may have taken byte 0 already */
        ((prof__chunk *)(void *)(file->bytes + at))->sequence += 4;
    file->at += size;
    return (ssize_t)size;
}

static int moving_seek(void *cookie, off64_t *offset, int whence)
{
    moving_file *file = (moving_file *)cookie;
    if (whence == SEEK_END) *offset += (off64_t)file->size;
    if (whence == SEEK_CUR) *offset += (off64_t)file->at;
    file->at = (size_t)*offset;
    return 0;
}

TEST(chunk_reused_while_read) /* is left out; the others stay */
{
    int victim;
    for (victim = -1; victim < 4; ++victim) {
        image im = crossing_image();
        moving_file file = {im.bytes, im.size, 0, im.header, victim};
        cookie_io_functions_t functions = {moving_read, NULL, moving_seek, NULL};
        FILE *stream = fopencookie(&file, "rb", functions);
        unsigned char *copy = NULL;
        uint64_t size = 0, i;
        im.header->state = PROF__RUNNING;
        setvbuf(stream, NULL, _IONBF, 0);
        prof__image_place place = {stream, 0, 0, 0};
        CHECK_EQUAL(prof__read_file(&place, "moving", &copy, &size, NULL), PROF_OK);
        for (i = 0; i < 4 && copy; ++i) {
            uint64_t sequence;
            memcpy(&sequence, copy + im.header->chunk_offset + i * im.header->chunk_size, sizeof sequence);
            CHECK_EQUAL(!sequence, (int)i == victim);
        }
        fclose(stream);
        free(copy);
        free(im.bytes);
    }
}
#endif

static int recording;

static void *record(void *unused)
{
    while (__atomic_load_n(&recording, __ATOMIC_RELAXED)) {
        PROFILE_SCOPE("outer");
        for (int i = 0; i < 20; ++i) {
            PROFILE_SCOPE("inner");
            PROFILE_ARG_I("i", i);
        }
    }
    return unused;
}

TEST(growing_file) /* the ring turns over many times while the file is read */
{
    prof_config config = trace_config(128 * 1024);
    const char *path = trace_path("growing.prof");
    pthread_t threads[2];
    long i, times = trace_times(5, 40, 1000);
    uint64_t events = 0, overwritten = 0;
    config.output = path;
    trace_start(&config);
    __atomic_store_n(&recording, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 2; ++i) CHECK(!pthread_create(&threads[i], NULL, record, NULL));
    for (i = 0; i < 100000 && overwritten < 20 && !test_failures; ++i) { /* the threads may be slow to start */
        prof_trace *trace = trace_open_file(path);
        if (trace) overwritten = prof_trace_about(trace)->overwritten_chunks;
        prof_trace_close(trace);
    }
    for (i = 0; i < times && !test_failures; ++i) {
        prof_trace *trace = trace_open_file(path);
        if (!trace) break;
        CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
        events += prof_trace_about(trace)->event_count;
        prof_trace_close(trace);
    }
    __atomic_store_n(&recording, 0, __ATOMIC_RELAXED);
    for (i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(overwritten >= 20);
    CHECK(events > 1000);
    prof_reset();
}

/*-- the fuzzer's seeds --*/

TEST(corpus) /* tests/corpus holds these images; it is written anew with PROF_TEST_CORPUS=1 */
{
    static const struct {
        const char *path;
        image (*make)(void);
    } seeds[] = {{"tests/corpus/balanced", balanced_image},   {"tests/corpus/values", values_image},
                 {"tests/corpus/crossing", crossing_image},   {"tests/corpus/orphans", orphans_image},
                 {"tests/corpus/truncated", truncated_image}, {"tests/corpus/torn", torn_image},
                 {"tests/corpus/report", report_image},       {"tests/corpus/notes", notes_image}};
    const char *renew = getenv("PROF_TEST_CORPUS");
    uint32_t order = 1;
    size_t i, size;
    if (*(const char *)&order != 1) SKIP("the seeds are little-endian");
    for (i = 0; i < sizeof seeds / sizeof *seeds; ++i) {
        image im = seeds[i].make();
        char *text;
        if (renew && *renew == '1') trace_write_file(seeds[i].path, im.bytes, im.size);
        text = trace_file_text(seeds[i].path, &size);
        CHECK(text && size == im.size && !memcmp(text, im.bytes, size));
        free(text);
        free(im.bytes);
    }
}

/* An image of version 3, in which no slot is split. */
TEST(images_of_the_version_before)
{
    prof_trace *before = trace_open_file("tests/corpus/version3"), *now = trace_open_file("tests/corpus/values");
    CHECK_EQUAL(prof_trace_about(before)->event_count, prof_trace_about(now)->event_count);
    CHECK(prof_trace_about(now)->event_count > 5);
    CHECK_EQUAL(prof_trace_track_count(before), prof_trace_track_count(now));
    prof_trace_close(before);
    prof_trace_close(now);
}

TEST_MAIN
