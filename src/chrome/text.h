// chrome/text: Writes names, categories, colors and call sites, and keeps the texts of call sites.
#ifndef PROF__CHROME_TEXT_H
#define PROF__CHROME_TEXT_H
#include "api/read.h"
#include "ground/json.h"
#include "ground/out.h"
#include "display/names.h"
#include "report/site_texts.h"
#include "chrome/api.h"
#include "chrome/state.h"

/*-- text --*/

/* Returns 1 for names that viewers interpret. Some begin a CPU profile in speedscope and DevTools. Others are events of
   the browser, which make DevTools refuse the whole file if they lack certain arguments. */
static int prof__chrome_taken(const char *name)
{
    static const char *const taken[] = {
        "AbortPostTaskCallback", "ActivateLayerTree", "BeginMainThreadFrame", "BeginRemoteFontLoad", "CommitLoad",
        "CompositeLayers", "CpuProfile", "EventTiming", "FireIdleCallback", "FunctionCall", "InteractiveTime",
        "InvalidateLayout", "JitCodeAdded", "JitCodeMoved", "LayoutInvalidationTracking", "LayoutShift",
        "MarkDOMContent", "MarkLoad", "MetaCharsetCheck", "NeedsBeginFrameChanged", "Paint", "PaintImage",
        "ParseHTML", "PreloadRenderBlockingStatusChange", "Profile", "ProfileChunk", "RequestIdleCallback",
        "RequestMainThreadFrame", "ResourceFinish", "ResourceMarkAsCached", "ResourceReceiveResponse",
        "ResourceReceivedData", "ResourceSendRequest", "ResourceWillSendRequest", "RunPostTaskCallback",
        "SchedulePostTaskCallback", "ScheduleStyleInvalidationTracking", "ScheduleStyleRecalculation",
        "SetLayerTreeId", "SoftNavigationStart", "StyleInvalidatorInvalidationTracking",
        "StyleRecalcInvalidationTracking", "SyntheticNetworkRequest", "SyntheticSoftFirstContentfulPaint",
        "TimerFire", "TimerInstall", "TracingSessionIdForWorker", "TracingStartedInBrowser", "TracingStartedInPage",
        "UpdateLayoutTree", "UserTiming::Measure", "WebSocketCreate", "WebSocketDestroy", "WebSocketReceive",
        "WebSocketReceiveHandshakeResponse", "WebSocketSend", "WebSocketSendHandshakeRequest",
        "firstContentfulPaint", "firstPaint", "largestContentfulPaint::Candidate",
        "largestContentfulPaint::CandidateForSoftNavigation", "navigationStart", "thread_name"};
    return prof__display_listed(taken, sizeof taken / sizeof *taken, name);
}

/* Writes the name of an event as a JSON string. */
static void prof__chrome_name(prof__out *out, const char *name)
{
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, *name ? name : "(unnamed)");
    if (prof__chrome_taken(name)) PROF__CHROME_LITERAL(out, " ");
    PROF__CHROME_LITERAL(out, "\"");
}

static void prof__chrome_category(prof__out *out, const char *category)
{
    int taken = strstr(category, "trace_event_overhead") || strstr(category, "blink.user_timing");
    PROF__CHROME_LITERAL(out, "\"");
    prof__out_json(out, *category && !taken ? category : "prof");
    PROF__CHROME_LITERAL(out, "\"");
}

/* Writes the source as file:line, without quotes. */
static void prof__chrome_source_text(prof__out *out, const prof_callsite *site)
{
    prof__out_json(out, site->file);
    PROF__CHROME_LITERAL(out, ":");
    prof__out_unsigned(out, site->line);
}

/* Returns the named color of chrome://tracing that is nearest to a color. chrome://tracing refuses a file with other
   names. */
static const char *prof__chrome_color(uint32_t color)
{
    static const struct {
        uint32_t color;
        const char *name;
    } known[] = {{0x7EC894, "thread_state_running"}, {0x85A0D2, "thread_state_runnable"},
                 {0xB67D8F, "thread_state_uninterruptible"}, {0xC79B7D, "thread_state_unknown"},
                 {0xFF8C00, "thread_state_iowait"}, {0xF0F0F0, "thread_state_sleeping"},
                 {0x00B4B4, "background_memory_dump"}, {0x0000B4, "light_memory_dump"},
                 {0xB400B4, "detailed_memory_dump"}, {0x0000FF, "vsync_highlight_color"},
                 {0x7D7D7D, "generic_work"}, {0x007D00, "good"}, {0xB47D00, "bad"}, {0xB40000, "terrible"},
                 {0x000000, "black"}, {0xDDDDDD, "grey"}, {0xFFFFFF, "white"}, {0xFFFF00, "yellow"},
                 {0x646400, "olive"}, {0x4387FD, "rail_response"}, {0xF44A3F, "rail_animation"},
                 {0xEE8E00, "rail_idle"}, {0x0DA861, "rail_load"}, {0xE6E600, "startup"},
                 {0xCC6600, "heap_dump_child_node_arrow"}, {0xFFFF77, "cq_build_running"},
                 {0x99EE66, "cq_build_passed"}, {0xEE8888, "cq_build_failed"}, {0xBBBBBB, "cq_build_abandoned"},
                 {0x67DA23, "cq_build_attempt_passed"}, {0xC55151, "cq_build_attempt_failed"}};
    size_t i, best = 0;
    long best_distance = -1;
    for (i = 0; i < sizeof known / sizeof *known; i++) {
        long red = (long)(known[i].color >> 16 & 255) - (long)(color >> 16 & 255);
        long green = (long)(known[i].color >> 8 & 255) - (long)(color >> 8 & 255);
        long blue = (long)(known[i].color & 255) - (long)(color & 255);
        long distance = 3 * red * red + 4 * green * green + 2 * blue * blue; /* roughly as the eye weighs them */
        if (best_distance < 0 || distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return known[best].name;
}

static void prof__chrome_site_rest(prof__chrome *c, const prof_callsite *site)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, ",\"cat\":");
    prof__chrome_category(out, site->category);
    if (*site->file && c->options.source != PROF_CHROME_SOURCE_NONE) {
        PROF__CHROME_LITERAL(out, ",\"loc\":\"");
        prof__chrome_source_text(out, site);
        PROF__CHROME_LITERAL(out, "\"");
    }
    if (site->color) {
        PROF__CHROME_LITERAL(out, ",\"cname\":\"");
        prof__out_text(out, prof__chrome_color(site->color));
        PROF__CHROME_LITERAL(out, "\"");
    }
}

static void prof__chrome_name_pair(prof__out *out, const char *name)
{
    PROF__CHROME_LITERAL(out, ",\"name\":");
    prof__chrome_name(out, name);
}

/* Makes and keeps the text of a call site. Returns 0 if it is too long, or without memory. */
static int prof__chrome_keep(prof__chrome *c, prof__site_text *kept, const prof_callsite *site)
{
    char *start = prof__site_text_begin(kept, site, &c->out);
    size_t rest;
    if (!start) return 0;
    prof__chrome_name_pair(&c->out, site->name);
    rest = (size_t)(c->out.cursor - start);
    prof__chrome_site_rest(c, site);
    return prof__site_text_end(&c->sites, kept, &c->out, start, rest, rest);
}

/* Writes the text that an event has from its call site, with a name that need not be the call site's. */
static void prof__chrome_describe(prof__chrome *c, const prof_callsite *site, const char *name)
{
    prof__site_text *kept = prof__site_text_of(&c->sites, site);
    int there = prof__site_text_kept(kept) || prof__chrome_keep(c, kept, site);
    prof__chrome_name_pair(&c->out, name);
    if (there) {
        char *to = prof__out_reserve(&c->out, PROF__SITE_TEXT + PROF__SITE_COPY);
        c->out.cursor = prof__site_text_copy(to, prof__site_text_at(&c->sites, kept) + kept->rest,
                                             (size_t)(kept->size - kept->rest));
    } else {
        prof__chrome_site_rest(c, site);
    }
}

#endif /* PROF__CHROME_TEXT_H */
