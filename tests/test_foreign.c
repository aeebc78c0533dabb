/* test_foreign.c - images of machines of another byte order and word size: those that tests/foreign_program.c recorded
   on other processors, in tests/corpus and, with PROF_TEST_FOREIGN="FILE FILE", in files that tests/cpus.sh has just
   had recorded in emulation; and all images of tests/corpus, turned to the other byte order by what this file knows. */
/* run: check traces */
#include "private.h"
#include "test.h"
#include "trace.h"

/*-- turning images by hand, to the other byte order --*/

static void turn(void *at, size_t size)
{
    unsigned char *bytes = (unsigned char *)at, other;
    for (size_t i = 0; i < size / 2; ++i) {
        other = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = other;
    }
}

#define TURN(field) turn(&(field), sizeof(field))

static void turn_pair(prof__pair *pair)
{
    TURN(pair->tick), TURN(pair->monotonic_ns), TURN(pair->unix_ns), TURN(pair->width);
}

static void turn_head(prof__header *h)
{
    TURN(h->version), TURN(h->byte_order), TURN(h->header_size), TURN(h->word_size), TURN(h->image_size);
    TURN(h->meta_offset), TURN(h->meta_size), TURN(h->index_offset), TURN(h->index_size), TURN(h->chunk_offset);
    TURN(h->chunk_count), TURN(h->chunk_size), TURN(h->chunk_header_size), TURN(h->mode), TURN(h->clock);
    TURN(h->state), TURN(h->session), TURN(h->pid), TURN(h->tick_hz), TURN(h->resolution_ticks);
    TURN(h->cost_ticks_x1000), turn_pair(&h->first), turn_pair(&h->last), TURN(h->next_chunk), TURN(h->overwritten);
    TURN(h->meta_used), TURN(h->lost), TURN(h->sites_lost), TURN(h->tracks), TURN(h->parent_pid);
    TURN(h->archive_offset), TURN(h->archive_limit), TURN(h->archive_first), TURN(h->archive_next);
    TURN(h->write_failures), TURN(h->window_from), TURN(h->window_to), TURN(h->copy_tick), TURN(h->taken_back);
    TURN(h->call_x1000), TURN(h->text_x1000), TURN(h->format_x1000), TURN(h->lost_args), TURN(h->lost_busy), TURN(h->lost_deep);
    TURN(h->time_namespace), TURN(h->since_boot_ns), TURN(h->start_ns), TURN(h->ready_ticks), TURN(h->ring_count);
}

static void turn_words(uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; ++i) TURN(words[i]);
}

static void turn_chunk(prof__chunk *chunk, uint64_t *words, size_t count)
{
    TURN(chunk->sequence), turn_pair(&chunk->base), TURN(chunk->state), TURN(chunk->lost), TURN(chunk->taken_back);
    for (size_t at = 0, length; at < count; at += length) {
        uint64_t head = words[at], kind = head >> 60;
        int text = kind == PROF__KIND_NAME ||
                   ((kind == PROF__KIND_ARG || kind == PROF__KIND_DATA) && (head >> 32 & 0xFF) == PROF_VALUE_STRING);
        length = prof__record_words(head, count - at);
        TURN(words[at]);
        if (!length) return;
        if (!text) turn_words(words + at + 1, length - 1);
        if (text && kind == PROF__KIND_ARG && head >> 29 & 1 && length > 1) TURN(words[at + length - 1]);
    }
}

static void turn_image(unsigned char *bytes, size_t size)
{
    prof__header h;
    memset(&h, 0, sizeof h);
    memcpy(&h, bytes, sizeof h);
    uint64_t *meta = (uint64_t *)(void *)(bytes + h.meta_offset);
    for (size_t at = 0, length; at < h.meta_size / 8; at += length) {
        uint64_t kind = meta[at] >> 56;
        length = (size_t)(meta[at] >> 32 & 0xFFFFFF);
        TURN(meta[at]);
        if (!length || length > h.meta_size / 8 - at) break;
        if (kind != PROF__META_STRING && kind != PROF__META_SESSION) turn_words(meta + at + 1, length - 1);
    }
    for (uint64_t i = 0; i < h.chunk_count; ++i) {
        unsigned char *chunk = bytes + h.chunk_offset + i * h.chunk_size;
        turn_chunk((prof__chunk *)(void *)chunk, (uint64_t *)(void *)(chunk + h.chunk_header_size),
                   (h.chunk_size - h.chunk_header_size) / 8);
    }
    for (size_t at = (size_t)h.archive_offset; at && at + sizeof(prof__block) <= size;) {
        prof__block *block = (prof__block *)(void *)(bytes + at);
        if (block->magic != PROF__BLOCK_MAGIC) { /* what an archive that goes in a circle has left over */
            at += 8;
            continue;
        }
        at += block->size;
        TURN(block->magic), TURN(block->size), TURN(block->sequence), turn_pair(&block->base), TURN(block->lost);
        TURN(block->words), TURN(block->check);
    }
    prof__header turned = h;
    turn_head(&turned);
    memcpy(bytes, &turned, h.header_size < sizeof turned ? h.header_size : sizeof turned);
}

/*-- what is in a trace, as text --*/

static trace_bytes csv(const prof_trace *trace)
{
    trace_bytes all = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&all)), PROF_OK);
    return all;
}

static void check_same(const prof_trace *one, const prof_trace *other)
{
    trace_bytes a = csv(one), b = csv(other);
    CHECK_TEXT(b.bytes, a.bytes);
    CHECK_EQUAL(prof_trace_about(other)->event_count, prof_trace_about(one)->event_count);
    CHECK_EQUAL(prof_trace_about(other)->lost, prof_trace_about(one)->lost);
    CHECK_EQUAL(prof_trace_about(other)->lost_blocks, prof_trace_about(one)->lost_blocks);
    CHECK_TEXT(prof_trace_about(other)->program, prof_trace_about(one)->program);
    for (size_t i = 0; i < prof_trace_track_count(one); ++i) {
        trace_list x = trace_read(one, i), y = trace_read(other, i);
        CHECK_EQUAL(y.count, x.count);
        for (size_t k = 0; k < x.count && k < y.count; ++k) {
            CHECK_TEXT(y.events[k].name, x.events[k].name);
            CHECK_EQUAL(y.events[k].arg_count, x.events[k].arg_count);
            for (uint32_t n = 0; n < x.events[k].arg_count && n < y.events[k].arg_count; ++n) {
                const prof_arg *p = &x.events[k].args[n], *q = &y.events[k].args[n];
                CHECK_TEXT(q->key, p->key);
                CHECK_EQUAL(q->value.type, p->value.type);
                if (p->value.type == PROF_VALUE_STRING)
                    CHECK_TEXT(q->value.as.string, p->value.as.string);
                else
                    CHECK(q->value.as.u == p->value.as.u);
            }
        }
        trace_free(&x);
        trace_free(&y);
    }
    free(a.bytes);
    free(b.bytes);
}

static int turned_images;

static void check_turned(const char *path)
{
    size_t size;
    unsigned char *bytes = (unsigned char *)trace_file_text(path, &size);
    prof_trace *one = NULL, *other = NULL;
    if (!bytes) return;
    if (!prof__byteswap(bytes) && prof_trace_open_memory(bytes, size, &one) == PROF_OK) {
        trace_check(one);
        turn_image(bytes, size);
        CHECK(prof__byteswap(bytes));
        CHECK_EQUAL(prof_trace_open_memory(bytes, size, &other), PROF_OK);
        if (other) {
            trace_check(other);
            check_same(one, other);
            ++turned_images;
        }
        prof_trace_close(other);
        trace_write_file(trace_path("turned.prof"), bytes, size);
        CHECK_EQUAL(prof_trace_open(trace_path("turned.prof"), &other), PROF_OK);
        if (other) check_same(one, other);
        prof_trace_close(other);
        CHECK_EQUAL(prof_image_copy(trace_path("turned.prof"), trace_path("copy.prof"), PROF_SAME_WINDOW, 0), PROF_OK);
        CHECK_EQUAL(prof_trace_open(trace_path("copy.prof"), &other), PROF_OK);
        if (other) check_same(one, other);
        prof_trace_close(other);
        free(bytes);
        bytes = (unsigned char *)trace_file_text(trace_path("copy.prof"), &size);
        CHECK(bytes && !prof__byteswap(bytes)); /* what is written is this machine's */
    }
    prof_trace_close(one);
    free(bytes);
}

TEST(turned_images_have_the_same_content)
{
    static const char *const names[] = {"archive", "archive_wrapped", "balanced", "crossing", "notes", "orphans", "report",
                                        "report_before_lost_args", "report_of_before", "torn", "truncated", "values",
                                        "armhf", "i386", "mips64el", "ppc64le", "riscv64", "s390x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char path[64];
        snprintf(path, sizeof path, "tests/corpus/%s", names[i]);
        check_turned(path);
    }
    CHECK_EQUAL(turned_images, PROF__LOW_HALF ? 1 : 17); /* one is big-endian */
}

/*-- recorded elsewhere --*/

static int is_int(const prof_event *event, const char *key, int64_t value)
{
    const prof_value *arg = trace_arg(event, key);
    return arg && arg->type == PROF_VALUE_INT && arg->as.i == value;
}

static void check_everything(const trace_list *list, size_t times)
{
    const prof_event *whole = trace_find(list, "whole"), *event;
    const prof_value *arg;
    CHECK_EQUAL(trace_count(list, "whole"), times);
    CHECK_EQUAL(trace_count(list, "inner"), 3 * times);
    CHECK(whole && whole->type == PROF_EVENT_SCOPE && whole->depth == 0 && whole->duration_ns > 0);
    CHECK(whole && strstr(whole->site->file, "foreign_program.c") && !strcmp(whole->site->function, "everything"));
    arg = trace_arg(whole, "unsigned");
    CHECK(arg && arg->type == PROF_VALUE_UINT && arg->as.u == 0xFEDCBA9876543210u);
    arg = trace_arg(whole, "double");
    CHECK(arg && arg->type == PROF_VALUE_DOUBLE && arg->as.d > -0.15626 && arg->as.d < -0.15624);
    arg = trace_arg(whole, "bool");
    CHECK(arg && arg->type == PROF_VALUE_BOOL && arg->as.u == 1);
    arg = trace_arg(whole, "text");
    CHECK(arg && arg->type == PROF_VALUE_STRING && !strcmp(arg->as.string, "eleven char"));
    arg = trace_arg(whole, "pointer");
    CHECK(arg && arg->type == PROF_VALUE_POINTER && arg->as.u == 0x12345678u);
    arg = trace_arg(whole, "late");
    CHECK(arg && arg->type == PROF_VALUE_STRING && !strcmp(arg->as.string, "text for the outer"));
    CHECK(is_int(whole, "later", 7));
    for (size_t i = 0; i < 3; ++i) CHECK(is_int(trace_nth(list, "inner", i), "round", -(int64_t)i - 1));
    event = trace_find(list, "a name made at run time");
    CHECK(event && event->type == PROF_EVENT_MARK && event->depth == 1);
    event = trace_find(list, "mark");
    arg = trace_arg(event, "what");
    CHECK(arg && arg->type == PROF_VALUE_STRING && !strcmp(arg->as.string, "why"));
    arg = trace_arg(event, "pi");
    CHECK(arg && arg->type == PROF_VALUE_DOUBLE && arg->as.d > 3.24 && arg->as.d < 3.26);
    event = trace_find(list, "integer");
    CHECK(event && event->type == PROF_EVENT_COUNTER && event->value.as.i == -123456789);
    event = trace_find(list, "real");
    CHECK(event && event->value.type == PROF_VALUE_DOUBLE && event->value.as.d > 0.09 && event->value.as.d < 0.11);
    CHECK(trace_find(list, "frame") && trace_find(list, "frame")->type == PROF_EVENT_FRAME);
    CHECK_EQUAL(trace_count(list, "span"), 2 * times);
    event = NULL;
    for (size_t i = 0; i < list->count && !event; ++i)
        if (list->events[i].type == PROF_EVENT_LOG) event = &list->events[i];
    CHECK(event && event->value.type == PROF_VALUE_STRING && !strcmp(event->value.as.string, "3 of four is 0.75"));
}

static void check_golden(const char *path)
{
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    const prof_trace_info *info = prof_trace_about(trace);
    const char *key, *value;
    size_t track = trace_track_named(trace, "the only thread");
    int streamed = info->mode == PROF_STREAM;
    CHECK(info->complete && strstr(info->program, "foreign"));
    CHECK_EQUAL(info->lost, 0);
    CHECK_EQUAL(info->lost_blocks, 0);
    CHECK_EQUAL(info->sites_lost, 0);
    CHECK(info->start_unix_ns > 1700000000000000000 && info->duration_ns > 0 && info->duration_ns < 3600000000000);
    CHECK(prof_trace_metadata(trace, 0, &key, &value) && !strcmp(key, "made") && !strcmp(value, "by a program"));
    CHECK_EQUAL(prof_trace_track_count(trace), streamed ? 2 : 1); /* the service's */
    CHECK(track < prof_trace_track_count(trace));
    if (track < prof_trace_track_count(trace)) {
        trace_list list = trace_read(trace, track);
        check_everything(&list, streamed ? 1001 : 1);
        trace_free(&list);
    }
    prof_trace_close(trace);
}

TEST(images_of_other_processors)
{
    static const char *const names[] = {"s390x", "armhf", "i386", "riscv64", "ppc64le", "mips64el"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        int before = test_failures;
        char path[64];
        snprintf(path, sizeof path, "tests/corpus/%s", names[i]);
        check_golden(path);
        if (test_failures > before) printf("     %s\n", path);
    }
}

TEST(images_of_just_now)
{
    const char *files = getenv("PROF_TEST_FOREIGN");
    char path[512];
    int length;
    if (!files || !*files) SKIP("PROF_TEST_FOREIGN names no files");
    for (; sscanf(files, " %500s%n", path, &length) == 1; files += length) {
        int before = test_failures;
        check_golden(path);
        printf("     %s: %s\n", test_failures > before ? "bad" : "read", path);
    }
}

/* What `prof recover` and `prof cut` use. */
TEST(images_are_found_and_cut)
{
    size_t size, whole;
    uint64_t found = 0;
    prof_trace *trace = NULL;
    uint32_t order = 1;
    int little = *(const char *)&order == 1;
    char *bytes = trace_file_text(little ? "tests/corpus/s390x" : "tests/corpus/riscv64", &size);
    CHECK(bytes && prof__byteswap(bytes));
    if (!bytes) return;
    CHECK_EQUAL(prof_image_find(bytes, size, &found), PROF_OK);
    CHECK_EQUAL(found, size);
    CHECK_EQUAL(prof_trace_open_memory(bytes, size, &trace), PROF_OK);
    int64_t end = trace ? (int64_t)prof_trace_about(trace)->duration_ns : 0;
    prof_trace_close(trace);
    CHECK_EQUAL(prof_image_set_window(bytes, size, 1, end), PROF_OK);
    CHECK(prof__byteswap(bytes));
    CHECK_EQUAL(prof_trace_open_memory(bytes, size, &trace), PROF_OK);
    CHECK(trace && prof_trace_about(trace)->from_ns > 0);
    prof_trace_close(trace);
    whole = size;
    CHECK_EQUAL(prof_image_shorten(bytes, size - 1024, &found), PROF_OK);
    CHECK(found <= whole - 1024 && prof__byteswap(bytes));
    CHECK_EQUAL(prof_trace_open_memory(bytes, (size_t)found, &trace), PROF_OK);
    CHECK(trace && prof_trace_track_count(trace) == 1);
    prof_trace_close(trace);
    free(bytes);
}

/* Whatever the bytes are, the image is read or refused: the sanitizers look at this, too. */
TEST(damaged_images_are_read_or_refused)
{
    static const char *const paths[] = {"tests/corpus/s390x", "tests/corpus/ppc64le", "tests/corpus/archive_wrapped"};
    long rounds = trace_times(300, 3000, 1000000), opened = 0;
    uint32_t random = 1;
    for (size_t n = 0; n < sizeof paths / sizeof *paths; ++n) {
        size_t size;
        unsigned char *bytes = (unsigned char *)trace_file_text(paths[n], &size);
        CHECK(bytes != NULL);
        if (!bytes) continue;
        if (!prof__byteswap(bytes)) turn_image(bytes, size);
        for (long i = 0; i < rounds; ++i) {
            unsigned char *copy = (unsigned char *)malloc(size); /* exact, for the sanitizer's sake */
            prof_trace *trace = NULL;
            memcpy(copy, bytes, size);
            for (long change = i % 7; change >= 0; --change) {
                random = random * 1664525u + 1013904223u;
                copy[16 + (random >> 8) % (i % 2 ? size - 16 : 600)] = (unsigned char)(random >> 3);
            }
            if (prof_trace_open_memory(copy, size, &trace) == PROF_OK) {
                trace_bytes all = csv(trace);
                free(all.bytes);
                ++opened;
            }
            prof_trace_close(trace);
            free(copy);
        }
        free(bytes);
    }
    CHECK(opened > rounds / 2);
}

TEST_MAIN
