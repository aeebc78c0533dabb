// api/inner: The interface of prof.h to our own other headers and to the tool: which of its private names they may use.
// tests/rooms.sh reads the names out of this module, comments included, and fails on a name that they use and that is
// not here, and on one that is here and that nobody uses. Before a name is added: should prof.h not do the whole thing?
#ifndef PROF__API_INNER_H
#define PROF__API_INNER_H
#include "api/devices.h"
#include "api/reports.h"
#include "ground/deflate.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "image/format.h"
#include "session/on_demand.h"
#include "read/align.h"
#include "read/cursor.h"
#include "read/import.h"
#include "read/names.h"
#include "read/since.h"
#include "report/accumulator.h"
#include "report/allocations_walk.h"
#include "report/site_texts.h"
#include "report/stat_rows.h"
#include "report/table.h"
#include "display/flows.h"
#include "display/locks.h"
#include "display/names.h"
#include "display/tracks.h"

/*-- INNER ------------------------------------------------------------------------------------------------ >>inner --
   All that prof_chrome.h, prof_html.h, prof_xplane.h, prof_report.h, prof_ntff.h, prof_server.h and the tool use of
   prof.h beyond what any program may use. It changes with every version. What is said at a function's definition is not
   said again.

   Sizes are bytes, times nanoseconds; text ends with a zero. An int is 1 for yes, or for done, and 0 for no, or for no
   memory, where nothing else is said; functions that return a prof_status leave a text for prof_error(). One thread at
   a time uses an object; locks, and functions of the process and of its session, are for any thread. Signal handlers
   use none of this.

   Of the compiler and the system: PROF__AT_START PROF__AT_END PROF__PER_THREAD, see >>compiler; PROF__PRINTF PROF__COLD
   PROF__LIKELY PROF__UNLIKELY PROF__SOON PROF__UNUSED PROF__UNTRACED, PROF__ONE_PER_PROCESS, of a variable
   that copies of the code share; PROF__SHARED: this is in a library that may be unloaded; PROF__AUTOSTARTS:
   constructors can start what the environment asks for; PROF__LATE: functions of Linux have to be declared;
   PROF__WRAPS_MALLOC: malloc() and so on are the program's, prof__quiet_sort() is qsort() without them;
   PROF__QUIETLY(type, call): a call of the C library whose allocations are not the program's. PROF__LOAD PROF__STORE
   (relaxed) PROF__ACQUIRE PROF__RELEASE. PROF__ERRNO_SAVE PROF__ERRNO_RESTORE.
   PROF__OWN_BEGINS(), PROF__OWN_ENDS(): what this thread waits for in between is not the program's: see >>waits.
   PROF__CALM: begins each public function that computes with numbers of floating point; prof__finite() prof__nan()
   classify these by their bits: see >>numbers.
   Of declarations: PROF__STRIPPED PROF__STRIPPED_OBJECT PROF__STRIPPED_INLINE prof__stripped_none prof__stripped_text
   PROF__EITHER PROF__USE PROF__USE2 PROF__USE3, see >>stripped; PROF__AGAIN; PROF__BLOCK: PROFILE_BLOCK() with a
   category and a level.
   PROF__CENTURY: ns. */

static int prof__interrupted(int *tries); /* a call that has failed is to be made again */
static prof_status prof__fail(prof_status status, const char *format, ...); /* sets prof_error(); returns status */

/*-- output: a file, which takes its name when it is complete, or a sink. The first error sticks (status), and all that
   follows is thrown away. At most 4096 bytes can be reserved; only what is committed counts -- */
/* type: prof__out */
static prof_status prof__out_file(prof__out *out, const char *path); /* path null or "-": standard output */
static void prof__out_sink(prof__out *out, prof_sink sink);
static prof_status prof__out_close(prof__out *out); /* returns the first error; not after prof__out_file() failed */
static void prof__out_fail(prof__out *out, prof_status status);
static void prof__out_bytes(prof__out *out, const void *data, size_t size);
static void prof__out_zeros(prof__out *out, uint64_t size);
static void prof__out_text(prof__out *out, const char *text);
static void prof__out_unsigned(prof__out *out, uint64_t value);
static void prof__out_signed(prof__out *out, int64_t value);
static void prof__out_double(prof__out *out, double value);
static void prof__out_json(prof__out *out, const char *text); /* the inside of a string */
static char *prof__out_reserve(prof__out *out, size_t size); /* never null */
static void prof__out_commit(prof__out *out, size_t size);

/*-- output for people: in columns of width characters, or in lines of so many (0: of any length). No control character
   of a name reaches the terminal -- */
static size_t prof__out_columns(const prof__out *out, int columns); /* what the option of that name means here */
static void prof__out_name(prof__out *out, const char *text, size_t width); /* shortened in the middle */
static void prof__out_right(prof__out *out, const char *text, size_t width);
static void prof__out_count(prof__out *out, uint64_t count, size_t width);
static void prof__out_ns(prof__out *out, double ns, size_t width);
static void prof__out_clean(prof__out *out, const char *text);
static void prof__out_wrapped(prof__out *out, const char *text, size_t at, size_t indent, size_t limit);
static int prof__terminal_columns(void); /* 0: standard output is none */

/*-- text. Where a buffer has no size, 32 bytes do -- */
/* "U+FFFD" in UTF-8: PROF__UTF8_REPLACED */
static void prof__text_copy(char *to, size_t size, const char *from); /* cut where it does not fit */
static int prof__text_add(char *to, size_t size, const char *from);
static char *prof__text_join(const char *a, const char *b); /* for free() */
static char *prof__out_part(const char *path); /* a new name beside a file, for free() */
static size_t prof__utf8(const char *text); /* bytes of the character; 0: it is none */
static int prof__utf8_length(const char *text); /* the same; less than 0: so many bytes for one U+FFFD */
static size_t prof__utf8_write(char *to, unsigned code); /* to: 4 bytes; returns how many it has written */
static int prof__utf8_inner(char byte); /* it is not the first one of a character */
static size_t prof__utf8_cut(const char *text, size_t most); /* so many of a longer text's bytes are whole characters */
static int prof__is_control(const char *text);
static size_t prof__json_character(const char *text, char *to, size_t *size); /* to: 8 bytes */
static const char *prof__next_character(const char *text);
static size_t prof__characters(const char *text);
static size_t prof__digits(char *to, uint64_t value); /* 20 at most, without a zero; returns how many */
static size_t prof__double_text(char *to, double value); /* which reads back as the same */
static size_t prof__decimals(char *to, uint64_t value, unsigned decimals); /* 1234 with 3 is 1.234 */
static size_t prof__fixed(char *to, double value, unsigned decimals); /* value 0 or more, decimals up to 3 */
static void prof__grouped(char *to, uint64_t value); /* 1,234,567 */
static void prof__human_ns(char *to, double ns); /* 1.23 ms */
static void prof__human_hz(char *to, double hz); /* 24.00 MHz */
static void prof__measured(char *to, double value, const char *unit); /* of a counter: 2.196 GB; to: 96 bytes */
static void prof__csv_quoted(prof__out *out, const char *text, const char *special);
static unsigned char *prof__pack_integer(unsigned char *to, uint64_t value); /* LEB128; returns its end */
/* Packing: type prof__deflate, PROF__DEFLATE_BOUND(size), prof__deflate_start() prof__deflate_part()
   prof__deflate_end() prof__deflate_all() */
static int prof__parse_whole(const char *text, uint64_t *out);
#ifndef PROF_NO_TEXT
/* its place among them, or -1; the last is null */
static int prof__parse_name(const char *text, const char *const *names);
static int prof__parse_seconds(const char *text, uint64_t *ns); /* 5, 1.5s, 20ms */
#endif
/* prof__switch_names: 0, 1, off, on, ...: odd places are on. prof__mode_names: of prof_mode */

/*-- arrays that grow, PROF__ROOM(array, capacity, count): 0: no memory for one more; PROF__MORE(array, capacity,
   count): one more, of zeros, or null; and an index of them by hash, all zero when it is empty, its slots for free();
   PROF__NEW(index, hash, array, capacity, count): one more of both, its number or PROF__NONE -- */
/* type: prof__read_index. PROF__NONE: no item */
static size_t prof__read_find(const prof__read_index *index, uint32_t hash, prof__read_equal *equal, const void *owner,
                              const void *key);
static int prof__read_add(prof__read_index *index, uint32_t hash, size_t item);
static inline void prof__read_soon(const prof__read_index *index, uint32_t hash); /* begins to load its place */
static inline size_t prof__read_guess(const prof__read_index *index, uint32_t hash); /* what is probably found */
static void prof__read_forget(prof__read_index *index, size_t *count); /* count: of the array: 0 afterwards */
static uint32_t prof__text_hash(const char *text); /* of this process only */
static uint64_t prof__text_key(const char *text); /* likewise; in place of the text itself */
static uint64_t prof__mix(uint64_t h);
static inline uint64_t prof__mix_key(uint64_t number, uint64_t key);
/* The same in all processes: */
static uint64_t prof__texts_hash(uint64_t hash, const char *text); /* the first text: with PROF__TEXTS_START */
static uint32_t prof__hash_add(uint32_t hash, const void *bytes, size_t size);

/*-- files -- */
/* prof__file_open: fopen(); paths are UTF-8 on Windows, too. prof__about, prof__stat: struct stat and stat(), also of
   files of more than 2 GiB where off_t has 32 bits. Not on Windows. */
static int prof__is_slash(char c);
static int prof__is_folder(const char *path); /* it is one, or is called like one */
static prof_status prof__folder_make(const char *path); /* with those around it */
static int prof__folder_for(const char *path); /* makes that of a file; returns 0 or an errno */
static int prof__path_claim(const char *path); /* a new, empty file; returns 0 or an errno */
static int prof__file_replaceable(const char *path);
static int prof__file_rename(const char *from, const char *to); /* returns 0 if it did, as rename() does */
static int prof__read_size(FILE *file, uint64_t *size);
static int prof__read_at(FILE *file, uint64_t offset, void *to, size_t size);
static prof_status prof__expand(const char *path, char *to, size_t size); /* %p and the like */
struct tm;
static int prof__local_time(uint64_t seconds, struct tm *here); /* of a Unix time; 0: the system cannot */

/*-- the process -- */
static const char *prof__environment(const char *name); /* null: not set, or not to be trusted */
static uint64_t prof__process_id(void);
static int prof__process_records(uint64_t pid, const char *boot_id, const char *path); /* it is alive */
static void prof__program_name(char *name, size_t size);
static void prof__host_name(char *name, size_t size);
static uint64_t prof__unix_time(void);
static int prof__is_whole(void); /* 0: another copy of prof records for this process */
#ifndef _WIN32
static int prof__thread_create(pthread_t *thread, void *(*main)(void *user), void *user);
#endif

/*-- locks: an int, 0 at first. Steady: the holder is not cancelled; what the first returns is for the second -- */
static void prof__lock(int *lock);
static int prof__lock_take(int *lock, int slept);
static int prof__lock_try(int *lock);
static void prof__unlock(int *lock);
static int prof__lock_steady(int *lock);
static void prof__unlock_steady(int *lock, int before);

/*-- the session of the process: see >>on_demand. While the control lock is held none begins or ends -- */
/* types: prof__session_status, prof__on_demand_options */
static void prof__control_lock(void);
static void prof__control_unlock(void);
static prof__session_status prof__session_status_now(void);
static prof_status prof__config_check(const prof_config *c);
static int prof__level_of(const prof_config *config); /* as a number from 0 on */
static prof_status prof__on_demand_begin(const prof_config *config, const prof__on_demand_options *wish);
static int prof__on_demand_stop(void);
static void prof__on_demand_free(void);
static prof_status prof__output_again(const char *what);
static void prof__saved_with(prof_status (*hook)(void)); /* called after each save of a trigger; null: no more */

/*-- images and writers -- */
static prof_status prof__image_copy(void **bytes, size_t *size); /* of what is recorded, for free() */
static prof_status prof__image_stream(void *bytes, size_t size, prof_trace *trace, prof_sink sink);
static int prof__trace_gap(const prof_trace *trace, size_t i, char *to, size_t size); /* a line about a suspension */
static prof_status prof__read_image(void *image, size_t size, FILE *file, const char *what, prof_trace **out);
static int prof__is_set(FILE *file); /* it holds several recordings */
static int prof__set_next(FILE *file, uint64_t *at, char name[PROF__SET_NAME], uint64_t *base, uint64_t *size);
static prof_status prof__trace_buffer(const char *path, prof_trace **trace); /* only what the buffer still has */
static prof_status prof__read_buffer_only(void *image, const char *what, prof_trace **trace); /* takes the image */
static prof_status prof__trace_live(prof_trace **trace, int reset); /* reset: statistics of PROF_STATS begin anew */
static uint32_t prof__live_mode(void);
static prof_status prof__writer_for(const char *path, uint32_t mode, const prof_writer **writer);
static prof_status prof__writer_fits(const char *path, const prof_writer *writer, uint32_t mode);

/*-- devices, and an image written anew with rows of devices: see >>import -- */
static int64_t prof__device_on_host(prof_device *device); /* what to take from a Unix time; see there */
/* type: prof__import */
static prof_status prof__import_open(prof__import *w, const char *host, const char *program, const char *clock);
static prof_status prof__import_begin(prof__import *w, const char *host, const char *path);
static size_t prof__import_row(prof__import *w, const char *device, const char *row, int others);
static int prof__import_put(prof__import *w, size_t row, const prof_device_event *event);
static prof_status prof__import_close(prof__import *w, prof_status status, uint64_t first, uint64_t last);

/*-- what a trace knows beyond its public functions -- */
/* type: prof__pair, one moment on all clocks */
static void prof__trace_pairs(const prof_trace *trace, prof__pair *first, prof__pair *last);
static void prof__trace_last(prof_trace *trace, double seconds);
static uint64_t prof__image_tick(const prof_trace *trace, int64_t ns); /* the first that is not before that time */
static int64_t prof__read_ns(const prof_trace *trace, uint64_t tick, size_t *hint); /* *hint: 0 at first */
/* type: prof__read_node: start_ns, end_ns, depth of a scope */
static inline const prof__read_node *prof__cursor_plain(prof_cursor *c, const prof_callsite **site);
static size_t prof__site_count(const prof_trace *trace); /* of call sites, which are numbered from 0 on */
static inline size_t prof__site_number(const prof_trace *trace, const prof_callsite *site); /* PROF__NONE: not its */
static const prof_callsite *prof__site_caller(const prof_trace *trace, const prof_callsite *site);
/* Names made at run time, by their prof__text_key(), before their events come: */
static void prof__cursor_keyed(prof_cursor *c); /* first of all */
static inline const prof__read_node *prof__cursor_ahead(const prof_cursor *c, size_t ahead, const prof_callsite **site,
                                                        uint64_t *key);
static inline uint64_t prof__cursor_key(const prof_cursor *c); /* of the last event's name, if its site has none */
static int prof__trace_archived(const prof_trace *trace);
/* type: prof__align_clock, what aligns a trace with others */
static void prof__align_of(const prof_trace *trace, prof__align_clock *clock);
static size_t prof__align_clocks(const prof__align_clock *clocks, size_t count, int64_t *offsets);
/* prof__read_whole: an image up to so many bytes is in memory as a whole, of a larger one only what it takes to find
   the rest; a program that opens many at once makes it less */
static const char *prof__trace_said(const prof_trace *trace, const char *what); /* a value of its metadata, or "" */
static int prof__trace_aggregated(const prof_trace *trace);
static int prof__has_role(const prof_trace *trace, uint32_t role); /* prof_role: some call site has it */
static int prof__is_flow(prof_event_type type);
/* Groups of event types: PROF__GROUP_SCOPE PROF__GROUP_MARK PROF__GROUP_COUNTER PROF__GROUP_FRAME PROF__GROUP_LOST
   PROF__GROUP_SPAN PROF__GROUP_FLOW PROF__GROUP_MEMORY PROF__GROUP_LOCK PROF__GROUP_MESSAGE */
static unsigned prof__event_group(unsigned type);
static const char *prof__event_name(unsigned type, int many); /* for people; many: 1: the plural */
static int prof__span_of_scope(const prof_callsite *site);
static const char *prof__severity_text(uint64_t severity); /* of a message: "debug" ... */
static int prof__nothing_text(const prof_trace *trace, char *to, size_t size); /* why there are no events */
static int prof__loss_text(const prof_trace *trace, int kind, char *to, size_t size); /* kind: below PROF__LOSSES */
static const char *prof__dropped(const prof_trace *trace, int kind, int64_t from, char *to, size_t size);

/*-- resets: see >>since. The caller's, all zero at first -- */
/* type: prof__bounds */
static int prof__bounds_apply(const prof__bounds *all, prof_trace *trace);
static int prof__bounds_take(prof__bounds *all, const prof_trace *trace);
static int prof__trace_bounded(const prof_trace *trace);
static int prof__trace_counts(const prof_trace *trace, size_t track, int64_t ns);

/*-- time lines of two groups of events. has(user, track, group): whether a track has events of the first; null: any
   may -- */
static prof_status prof__timeline_of(const prof_trace *trace, unsigned group, unsigned also, prof__has_group *has,
                                     const void *user, prof_timeline **timeline);

/*-- the heap as the events of a walk change it; closed also after a failure -- */
/* types: prof__heap, prof__heap_row (PROF__HEAP_POOL: a pool's), prof__heap_block */
static void prof__heap_open(prof__heap *heap, const prof_trace *trace, prof__has_group *has, const void *user);
static int prof__heap_next(prof__heap *heap, prof_event *event, size_t *track);
static int prof__heap_step(prof__heap *heap, const prof_event *event, size_t track);
static prof_status prof__heap_close(prof__heap *heap);
static const char *prof__memory_function(const prof_callsite *site);
static prof__heap_block *prof__heap_find(const prof__heap *heap, uint64_t address, uint32_t pool, int any);

/*-- display: what exporters show, once for all of them -- */
/* types: prof__lock_spans, prof__lock_span; closed also after a failure */
static void prof__lock_spans_open(prof__lock_spans *spans, const prof_trace *trace, prof__has_group *has,
                                  const void *user);
static int prof__lock_spans_next(prof__lock_spans *spans, prof__lock_span *span);
static prof_status prof__lock_spans_close(prof__lock_spans *spans);
/* types: prof__flows, zeroed but for the size of its elements; prof__flow, with which an element begins */
static prof__flow *prof__flow_of(prof__flows *flows, const prof_event *event); /* null: no memory */
static prof__flow *prof__flow_at(const prof__flows *flows, size_t item);
static void prof__flows_free(prof__flows *flows);
/* PROF__DISPLAY_ID: the first id that the system does not give */
static int prof__display_ids(const prof_trace *const *traces, size_t count, size_t tracks, uint32_t *ids,
                             uint32_t *next);
static int prof__display_in(int64_t start, int64_t end, int64_t from, int64_t to); /* to 0: no end */
static int prof__display_wanted(const prof_event *event, int64_t offset, int64_t from, int64_t to);
static int prof__display_listed(const char *const *list, size_t count, const char *name); /* sorted */

/*-- statistics: rows as prof_stats() has them, with what it takes to merge them; freed also after a failure -- */
/* types: prof__stat_rows, prof__stat_row */
static prof_status prof__stat_rows_make(const prof_trace *trace, int by_path, prof__stat_rows *all);
static int prof__stat_rows_aggregated(const prof_trace *trace, int by_path);
static void prof__stat_rows_free(prof__stat_rows *all);
static int prof__stat_row_add(prof__stat_row *to, const prof__stat_row *from);
static void prof__stat_row_finish(prof__stat_row *row); /* mean, deviation, percentiles */
static void prof__stat_row_powers(const prof__stat_row *row, uint64_t powers[65]);
static uint64_t prof__stat_row_sum(uint64_t a, uint64_t b); /* the largest number where it is larger */
static double prof__sort_key(const prof_stat *stat, prof_sort sort);
static double prof__square_root(double value);
static double prof__real(uint64_t value);
/* type: prof__histogram, all zero when it is empty, its steps for free() */
static inline int prof__histogram_add(prof__histogram *h, uint32_t step, uint64_t count);
static uint32_t prof__step_of(uint64_t ns);
static void prof__percentiles(prof__histogram *h, uint64_t total, prof_stat *stat); /* clamped to its least and most */

/*-- texts of call sites, which a writer makes once: the type prof__site_texts, of a trace; prof__site_text, of a call
     site, has the fields size, rest and head -- */
/* PROF__SITE_TEXT: bytes of a text, at most; PROF__SITE_COPY: what a copy may write behind it */
static void prof__site_texts_open(prof__site_texts *t, const prof_trace *trace); /* all zero at first */
static void prof__site_texts_free(prof__site_texts *t);
static inline prof__site_text *prof__site_text_of(const prof__site_texts *t, const prof_callsite *site);
static inline int prof__site_text_kept(const prof__site_text *kept);
static char *prof__site_text_begin(prof__site_text *kept, const prof_callsite *site, prof__out *out); /* null: no */
static int prof__site_text_end(prof__site_texts *t, prof__site_text *kept, prof__out *out, char *start, size_t rest,
                               size_t head);
static inline const char *prof__site_text_at(const prof__site_texts *t, const prof__site_text *kept);
static inline char *prof__site_text_copy(char *to, const char *from, size_t size);

/*-- tables: rows are given twice, as long as prof__table_again() says so -- */
/* types: prof__table; prof__column, the last one with a null title */
static void prof__summary(const prof_trace *trace, prof__out *out, const prof_summary_options *options);
static void prof__summary_losses(prof__out *out, const prof_trace *trace, size_t limit);
static void prof__table_begin(prof__table *t, prof__out *out, size_t limit, const char *title,
                              const prof__column *columns, const char *note_title, size_t note_order);
static void prof__table_row(prof__table *t, const char *name, size_t depth);
static void prof__table_count(prof__table *t, uint64_t count);
static void prof__table_ns(prof__table *t, double ns);
static void prof__table_percent(prof__table *t, double part, double whole);
static void prof__table_end(prof__table *t); /* of the row */
static int prof__table_again(prof__table *t);

/*-- for prof_bridge.h alone. It is a part of the recorder, included in the middle of it (PROF__BRIDGE_HERE), and runs
   inside macros, in signal handlers, too --
   prof__thread PROF__SELF() prof__thread_id(): the calling thread, busy meanwhile; prof__token, of a scope;
   prof__track_of(): the fiber or thread that it records for, whose prof__bridge_stack is the bridge's; prof__state:
   whether a session runs; prof__live(): whether a call site is on; PROF__ROLE_SHIFT, PROF__KIND_UNIT: of a site's
   kind; prof__log_list: the values of a message. prof__lock_enter() prof__lock_leave() prof__signals: a lock with all
   signals blocked.
   prof__length() prof__copy() prof__equal(): of text, safe in handlers. PROF__BARRIER PROF__HIDDEN. */

/*-- for prof_receive.h alone, which records as macros do, by call sites that it makes --
   PROF__SITE_TYPE PROF__NO_SITE PROF__KIND_MARK prof__on() prof__begin_text() prof__mark() prof__mark_text()
   prof__made_int() prof__made_uint() prof__made_double() prof__arg_part_to(): what macros use. */

/*-- for prof_system.h alone, which is above the recorder and records by itself --
   prof__beside prof__beside_now prof__beside_says(): how the recorder calls it, and what it says in the metadata.
   prof__session prof__state_lock() prof__state_unlock() PROF__HELD prof__meta_pair() prof__sandbox(): the session.
   prof__enter_write() prof__enter_slow() prof__leave() prof__reserve_or_lose() prof__commit() prof__store_word()
   prof__now() prof__monotonic(): a record of words of its own. prof__word_wait() prof__word_wake() prof__exits: its
   thread. PROF__KIND_SHIFT PROF__KIND_EVENT PROF__KIND_DATA
   PROF__DEVICE_SWITCHES PROF__SWITCHES_OF PROF__SWITCHES_BEGIN PROF__SWITCHES_UNTIL prof__switch_word()
   PROF__SWITCH_IN PROF__SWITCH_WAITS PROF__SWITCH_READY PROF__SWITCH_OUT PROF__SWITCH_ENDS PROF__SWITCH_NEW
   PROF__SWITCH_KNOWN PROF__SWITCH_LOST PROF__SWITCH_THREADS PROF__SWITCH_SPAN: see >>system. PROF__DEVICE_DELAYS
   PROF__DELAY_LATE prof__delay_word(): see >>delays. PROF__DEVICE_FAULTS PROF__FAULT_WORDS: see >>faults.
   PROF__DEVICE_SAMPLES
   PROF__SAMPLE_DEPTH PROF__SAMPLE_WORDS prof__pack_integer() PROF__META_MODULE PROF__MODULE_WORDS prof__meta_string()
   prof__meta_intern(): see >>samples. prof__loaded prof__loaded_each() prof__segment prof__elf prof__build_id_text()
   prof__loaded_path() PROF__MAX_BUILD_ID PROF__LOW_HALF: of modules. PROF__API PROF__LAST.
   PROF__SITE_AT PROF__AT PROF__BEGIN PROF__BEGIN_WITH PROF__TO PROF__GUARD_TYPE PROF__RECORDED PROF__KIND_BEGIN
   PROF__KIND_ARG prof__begin_number() prof__end() prof__with() prof__clock_ns() PROF__STATEMENT PROF__HERE
   PROF__KIND_FRAME: scopes and frames that read clocks of their own, and record them with PROF__KEY_RUNNING
   PROF__KEY_READY PROF__KEY_WAITING. */

/*-- for headers that are above the recorder and record what a GPU says, such as prof_vulkan.h --
   prof__device_live(): the device's events are recorded now. prof__null(): sets prof_error() for an argument that is
   null. prof__equal(), of text. PROF__ADD, atomic and relaxed. PROF__API PROF__GONE PROF__GUARD_TYPE PROF__TEXT
   PROF__USE4: of declarations. */

/*-- for prof_openmp.h alone: names of functions, for call sites that it makes --
   PROF__INSTANCES: modules can be walked. prof__module_of() prof__module_symbols prof__symbols: see >>symbols.
   PROF__SITE_TYPE: of a type with a site. prof__on() prof__config_version PROF__OFF: whether a site may be on. */

/*-- for prof_cuda.h alone, which is above the recorder, and uses of the above what prof_system.h does --
   prof__beside_devices: how the recorder calls it. prof__begin() prof__event() prof__arg_uint(): for sites that it
   makes. prof__ones prof__parse_number(): values of keys. prof__wait() PROF__OWN_ENDS(): a short sleep. */

#endif /* PROF__API_INNER_H */
