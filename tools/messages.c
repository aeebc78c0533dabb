/* messages.c - prof messages: arrows from process to process, such as those of prof_mpi.h, and who waited for whom: a
   receiver for a sender that was late, or a sender for a receiver. */
#include "several.h"
#include "why.h"
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {{"--top", "-n", "N", "the N pairs that waited longest; default: 10"},
                                      {"--format", "-f", "KIND", "text (default) or json"},
                                      TOOL_OFFSET,
                                      TOOL_COLUMNS,
                                      TOOL_PROGRESS,
                                      {NULL, NULL, NULL, NULL}};

static const char *const formats[] = {"text", "json", NULL};

#define MOST_POINTS ((size_t)4 << 20) /* of arrows: 160 MB */

/* An arrow's begin or end, with the scope that it is in. */
typedef struct point {
    uint64_t id;
    int64_t start_ns, end_ns; /* of the scope; of the recording, then of all */
    uint32_t rank, scope;     /* scope: the number of its name */
    uint32_t call;            /* the number of the scope: of points in one scope it is the same */
    int ends, both;           /* ends: the arrow does, here; both: the scope has begins and ends of arrows */
} point;

/* A message whose begin and end are known. One call may receive several: it waits for the latest, and only that one has
   the time. */
typedef struct message {
    uint32_t from, to; /* ranks */
    uint32_t from_call, to_call;
    uint32_t from_scope, to_scope; /* their names */
    float sender_ns, receiver_ns;  /* how long the receiver waited for the sender, and the sender for the receiver */
} message;

/* All messages from one rank to another. */
typedef struct pair {
    uint32_t from, to, scope; /* scope: in which the longest wait was */
    uint64_t messages;
    double sender_ns, receiver_ns, worst_ns;
} pair;

typedef struct all_messages {
    point *points;
    size_t count, room;
    uint32_t calls;
    char **ranks; /* their names, owned */
    size_t rank_count;
    char **scopes; /* names, owned */
    size_t scope_count, scope_room;
    message *messages;
    size_t joined, message_room;
    pair *pairs;
    size_t pair_count, pair_room;
    uint64_t alone;    /* ends of arrows whose begin is not in these recordings, and begins without an end */
    uint64_t left_out; /* points, beyond the most */
} all_messages;

/*-- reading --*/

static uint32_t scope_of(all_messages *all, const char *name)
{
    size_t i;
    char *copy;
    for (i = 0; i < all->scope_count; i++)
        if (tool_same(all->scopes[i], name)) return (uint32_t)i;
    copy = (char *)malloc(strlen(name) + 1);
    if (!copy || !tool_room(&all->scopes, &all->scope_room, all->scope_count, sizeof *all->scopes)) {
        free(copy);
        return 0;
    }
    all->scopes[all->scope_count++] = strcpy(copy, name);
    return (uint32_t)(all->scope_count - 1);
}

/* The scopes that are open where a cursor is. */
typedef struct open_scope {
    int64_t start_ns, end_ns;
    uint32_t name, call;
    size_t first; /* its first point; all->count: it has none yet */
} open_scope;

typedef struct reading {
    all_messages *all;
    open_scope *stack;
    size_t room;
    uint32_t rank;
} reading;

static int add_point(reading *r, const prof_event *event, uint32_t depth)
{
    all_messages *all = r->all;
    const open_scope *scope = depth && depth <= r->room ? &r->stack[depth - 1] : NULL;
    point *to;
    size_t i;
    if (all->count >= MOST_POINTS) return (int)(all->left_out++, 1);
    if (!scope) return 1; /* outside of all scopes nobody waits */
    if (!tool_room(&all->points, &all->room, all->count, sizeof *all->points)) return 0;
    to = &all->points[all->count++];
    to->id = event->object;
    to->start_ns = scope->start_ns;
    to->end_ns = scope->end_ns;
    to->rank = r->rank;
    to->scope = scope->name;
    to->call = scope->call;
    to->ends = event->type == PROF_EVENT_FLOW_IN;
    to->both = 0;
    for (i = all->count - 1; i-- > 0 && all->points[i].call == to->call;)
        if (all->points[i].ends != to->ends || all->points[i].both) all->points[i].both = to->both = 1;
    return 1;
}

static int read_track(reading *r, const prof_trace *trace, size_t track)
{
    prof_cursor *cursor;
    prof_event event;
    int good = 1;
    if (tool_status(prof_cursor_open(trace, track, &cursor))) return 0;
    while (good && prof_cursor_next(cursor, &event)) {
        if (event.type == PROF_EVENT_SCOPE) {
            open_scope *scope;
            good = tool_room(&r->stack, &r->room, event.depth, sizeof *r->stack);
            if (!good) break;
            scope = &r->stack[event.depth];
            scope->start_ns = event.start_ns;
            scope->end_ns = event.start_ns + event.duration_ns;
            scope->name = scope_of(r->all, event.name);
            scope->call = ++r->all->calls;
        } else if ((event.type == PROF_EVENT_FLOW_OUT || event.type == PROF_EVENT_FLOW_IN) &&
                   event.site->role == PROF_ROLE_SHARED) {
            good = add_point(r, &event, event.depth);
        }
    }
    prof_cursor_close(cursor);
    if (!good) tool_fail("out of memory");
    return good;
}

static int read_one(all_messages *all, const prof_trace *trace, uint32_t rank)
{
    reading r;
    char name[1100];
    const char *number = tool_said(trace, "rank");
    size_t track;
    int good;
    memset(&r, 0, sizeof r);
    r.all = all;
    r.rank = rank;
    if (*number)
        snprintf(name, sizeof name, "rank %.200s", number);
    else
        several_process(trace, all->rank_count, name, sizeof name);
    all->ranks[rank] = (char *)malloc(strlen(name) + 1);
    good = all->ranks[rank] != NULL;
    if (good)
        strcpy(all->ranks[rank], name);
    else
        tool_fail("out of memory");
    for (track = 0; good && track < prof_trace_track_count(trace); track++) good = read_track(&r, trace, track);
    free(r.stack);
    return good;
}

static int read_all(const tool_args *args, all_messages *all)
{
    tool_clocks *clocks;
    int64_t *offsets;
    size_t i;
    int good;
    all->rank_count = (size_t)args->file_count;
    all->ranks = (char **)calloc(all->rank_count, sizeof *all->ranks);
    offsets = (int64_t *)calloc(all->rank_count, sizeof *offsets);
    clocks = tool_clocks_new(all->rank_count);
    good = all->ranks && offsets && clocks;
    if (!good) tool_fail("out of memory");
    for (i = 0; i < all->rank_count && good; i++) {
        prof_trace *trace = tool_open(args->files[i]);
        good = trace && tool_shift(args, trace) && read_one(all, trace, (uint32_t)i);
        if (good) tool_clocks_put(clocks, i, trace);
        prof_trace_close(trace);
        tool_progress(1.0 / (double)all->rank_count);
    }
    good = good && tool_shift_done(args);
    if (good) tool_clocks_align(clocks, offsets);
    for (i = 0; i < all->count && good; i++) {
        all->points[i].start_ns += offsets[all->points[i].rank];
        all->points[i].end_ns += offsets[all->points[i].rank];
    }
    tool_clocks_free(clocks);
    free(offsets);
    return good;
}

/*-- joining --*/

/* The begin of each arrow comes before its ends. */
static int by_id(const void *left, const void *right)
{
    const point *a = (const point *)left, *b = (const point *)right;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return a->ends - b->ends;
}

static float later(int64_t from, int64_t to, int64_t most) /* from `from` to `to`, at least 0 and at most to `most` */
{
    int64_t end = to < most ? to : most;
    return end > from ? (float)(end - from) : 0;
}

/* A receiver waited for the sender until the send began. A sender waited for the receiver, if its call went on until
   the receive had begun; but one that receives as well, such as MPI_Sendrecv, goes on for that. */
static int join(all_messages *all, const point *begin, const point *end)
{
    message *to;
    if (!tool_room(&all->messages, &all->message_room, all->joined, sizeof *all->messages)) return 0;
    to = &all->messages[all->joined++];
    to->from = begin->rank;
    to->to = end->rank;
    to->from_call = begin->call;
    to->to_call = end->call;
    to->from_scope = begin->scope;
    to->to_scope = end->scope;
    to->sender_ns = later(end->start_ns, begin->start_ns, end->end_ns);
    to->receiver_ns =
        begin->both || begin->end_ns <= end->start_ns ? 0 : later(begin->start_ns, end->start_ns, begin->end_ns);
    return 1;
}

static int by_receive(const void *left, const void *right)
{
    const message *a = (const message *)left, *b = (const message *)right;
    if (a->to_call != b->to_call) return a->to_call < b->to_call ? -1 : 1;
    return a->sender_ns > b->sender_ns ? -1 : a->sender_ns < b->sender_ns;
}

static int by_send(const void *left, const void *right)
{
    const message *a = (const message *)left, *b = (const message *)right;
    if (a->from_call != b->from_call) return a->from_call < b->from_call ? -1 : 1;
    return a->receiver_ns > b->receiver_ns ? -1 : a->receiver_ns < b->receiver_ns;
}

static int by_ranks(const void *left, const void *right)
{
    const message *a = (const message *)left, *b = (const message *)right;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static int by_wait(const void *left, const void *right)
{
    const pair *a = (const pair *)left, *b = (const pair *)right;
    double x = a->sender_ns + a->receiver_ns, y = b->sender_ns + b->receiver_ns;
    if (x > y || x < y) return x > y ? -1 : 1;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

static int add_up(all_messages *all)
{
    size_t i;
    pair *to = NULL;
    if (!all->joined) return 1;
    qsort(all->messages, all->joined, sizeof *all->messages, by_receive);
    for (i = 1; i < all->joined; i++)
        if (all->messages[i].to_call == all->messages[i - 1].to_call) all->messages[i].sender_ns = 0;
    qsort(all->messages, all->joined, sizeof *all->messages, by_send);
    for (i = 1; i < all->joined; i++)
        if (all->messages[i].from_call == all->messages[i - 1].from_call) all->messages[i].receiver_ns = 0;
    qsort(all->messages, all->joined, sizeof *all->messages, by_ranks);
    for (i = 0; i < all->joined; i++) {
        const message *one = &all->messages[i];
        double worst = one->sender_ns > one->receiver_ns ? one->sender_ns : one->receiver_ns;
        if (!to || to->from != one->from || to->to != one->to) {
            if (!tool_room(&all->pairs, &all->pair_room, all->pair_count, sizeof *all->pairs)) return 0;
            to = &all->pairs[all->pair_count++];
            memset(to, 0, sizeof *to);
            to->from = one->from;
            to->to = one->to;
        }
        to->messages++;
        to->sender_ns += one->sender_ns;
        to->receiver_ns += one->receiver_ns;
        if (worst <= to->worst_ns) continue;
        to->worst_ns = worst;
        to->scope = one->sender_ns > one->receiver_ns ? one->to_scope : one->from_scope;
    }
    qsort(all->pairs, all->pair_count, sizeof *all->pairs, by_wait);
    return 1;
}

/* Joins the ends of each arrow with its begin. */
static int join_all(all_messages *all)
{
    size_t i, k;
    if (all->count) qsort(all->points, all->count, sizeof *all->points, by_id);
    for (i = 0; i < all->count; i = k) {
        const point *begin = &all->points[i];
        for (k = i + 1; k < all->count && all->points[k].id == begin->id; k++)
            if (!begin->ends && all->points[k].ends && !join(all, begin, &all->points[k])) return 0;
        if (k == i + 1) all->alone++;
    }
    return add_up(all);
}

/*-- printing --*/

static void print_text(const all_messages *all, size_t most)
{
    double sender = 0, receiver = 0;
    char a[48], b[48], c[48], d[48];
    size_t i;
    for (i = 0; i < all->pair_count; i++) sender += all->pairs[i].sender_ns, receiver += all->pairs[i].receiver_ns;
    why_say(0,
            "%s messages between %s recordings: receivers waited %s for senders that were late, and senders %s for "
            "receivers",
            tool_count(a, all->joined), tool_count(b, all->rank_count), tool_ns(c, sender), tool_ns(d, receiver));
    if (all->alone) why_say(0, "%s more have only one end in these recordings", tool_count(a, all->alone));
    if (all->left_out) why_say(0, "Left out: %s ends, because there are too many", tool_count(a, all->left_out));
    for (i = 0; i < all->pair_count && i < most; i++) {
        const pair *one = &all->pairs[i];
        char line[1500];
        snprintf(line, sizeof line, "%.300s to %.300s: %s message%s", all->ranks[one->from], all->ranks[one->to],
                 tool_count(a, one->messages), one->messages == 1 ? "" : "s");
        if (one->sender_ns > 0) why_add(line, sizeof line, ", late sender %s", tool_ns(a, one->sender_ns));
        if (one->receiver_ns > 0) why_add(line, sizeof line, ", late receiver %s", tool_ns(a, one->receiver_ns));
        if (one->worst_ns > 0)
            why_add(line, sizeof line, ", at most %s, in %.300s", tool_ns(a, one->worst_ns), all->scopes[one->scope]);
        why_say(2, "%s", line);
    }
}

static void print_json(const all_messages *all, size_t most)
{
    size_t i;
    printf("{\"messages\":%lu", (unsigned long)all->joined);
    tool_json_number("alone", all->alone);
    tool_json_number("left_out", all->left_out);
    printf(",\n\"pairs\":[");
    for (i = 0; i < all->pair_count && i < most; i++) {
        const pair *one = &all->pairs[i];
        printf("%s\n{\"from\":", i ? "," : "");
        tool_print_json(all->ranks[one->from], strlen(all->ranks[one->from]));
        tool_json_text("to", all->ranks[one->to]);
        tool_json_number("messages", one->messages);
        printf(",\"late_sender_ns\":%.0f,\"late_receiver_ns\":%.0f,\"most_ns\":%.0f", one->sender_ns, one->receiver_ns,
               one->worst_ns);
        tool_json_text("in", one->worst_ns > 0 ? all->scopes[one->scope] : "");
        printf("}");
    }
    printf("]}\n");
}

static void free_all(all_messages *all)
{
    size_t i;
    for (i = 0; i < all->rank_count && all->ranks; i++) free(all->ranks[i]);
    for (i = 0; i < all->scope_count; i++) free(all->scopes[i]);
    free(all->ranks);
    free(all->scopes);
    free(all->points);
    free(all->messages);
    free(all->pairs);
}

static int run(const tool_args *args)
{
    all_messages all;
    double most = 10;
    int json, choice, columns, result = TOOL_OK;
    memset(&all, 0, sizeof all);
    if (!tool_choice("--format", tool_value(args, "--format"), formats, &json)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (tool_value(args, "--top") && !tool_number("--top", tool_value(args, "--top"), 1, 1e9, &most)) return TOOL_ERROR;
    if (!tool_columns(args, &columns)) return TOOL_ERROR;
    tool_progress_begin("messages", tool_value(args, "--progress"));
    if (!read_all(args, &all))
        result = TOOL_ERROR;
    else if (!join_all(&all))
        result = tool_fail("out of memory");
    else if (!all.count)
        result = tool_fail("there are no messages: prof_mpi.h records them, and PROFILE_FLOW_OUT_SHARED(id)");
    tool_progress_end();
    if (result == TOOL_OK && json)
        print_json(&all, (size_t)most);
    else if (result == TOOL_OK)
        print_text(&all, (size_t)most);
    free_all(&all);
    return tool_flush(result);
}

const tool_command tool_messages = {
    "messages",
    "IN IN ...",
    "Says who waited for whose message: receivers for senders, or senders for receivers",
    2,
    1000000,
    run,
    options,
    "Arrows from process to process are those of prof_mpi.h and PROFILE_FLOW_OUT_SHARED().\n\n"
    "example: prof messages rank-*.prof\n"};
