// xplane/names: Numbers the names of events and stats, and writes the tables of them.
#ifndef PROF__XPLANE_NAMES_H
#define PROF__XPLANE_NAMES_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "read/cursor.h"
#include "read/event.h"
#include "read/names.h"
#include "display/names.h"
#include "xplane/bytes.h"
#include "xplane/state.h"
#include "xplane/stats.h"

/*-- names --*/

/* Returns 1 if XProf interprets a key as a stat (xplane_schema.cc lists these), or if this header uses the key. The
   list must be sorted. */
static int prof__xplane_taken(const char *key)
{
    static const char *const taken[] = {
        "EdgeTPU MLIR", "EdgeTPU Model Profile information", "EdgeTPU Model information", "Hlo Proto",
        "MemFree_details", "MemoryResidency_details", "Memset_details", "Raw Value", "Scaled Value", "Thread Id",
        "Time Scale Multiplier", "UnknownStatType", "action_duration_ns", "action_index", "action_inputs",
        "action_type", "activation_to_network_receive_duration_us", "addr", "all_reduce_id", "all_reduce_unique_id",
        "allocation_bytes", "allocator_name", "batch_size_after_padding", "batching_input_task_size", "buffer_size",
        "buffer_sizes", "bytes_accessed", "bytes_allocated", "bytes_available", "bytes_reserved", "bytes_transferred",
        "category", "chip_ordinal", "chunk", "clock_rate", "collective_type", "compute_cap_major", "compute_cap_minor",
        "compute_operation", "context_id", "core_count", "core_details", "core_type", "correlation_id", "counter_value",
        "cuda_driver_version", "cuda_graph_exec_id", "cuda_graph_id", "cuda_graph_map_id", "cuda_graph_map_value_id",
        "cuda_graph_node_id", "cuda_graph_node_map_id", "cuda_graph_orig_id", "cuda_graph_orig_node_id",
        "cuda_orig_graph_id", "cuda_runtime_version", "cuda_version", "data_type", "dcn_chunk", "dcn_collective_info",
        "dcn_destination_per_slice_device_id", "dcn_destination_slice_id", "dcn_label", "dcn_loop_index",
        "dcn_source_per_slice_device_id", "dcn_source_slice_id", "dcn_topology_level", "deduplicated_name",
        "delay_budget_us", "device_duration_ps", "device_id", "device_offset_ps", "device_ordinal", "device_type",
        "device_type_string", "device_vendor", "dma_stall_duration_ps", "dropped_traces", "duration_us", "element_id",
        "ended on thread", "equation", "flops", "flow", "flow_id", "fragmentation", "frame", "global_chip_id",
        "gpu_device_name", "graph_key", "graph_metadata_line_id", "graph_protos", "graph_type", "group_id",
        "has_megacore", "has_merged_vmem", "hbm_energy_nj", "hbm_power_events", "hbm_utilization_percent",
        "hlo_category", "hlo_module", "hlo_op", "id", "index_on_host", "input_size", "is_eager", "is_func", "iter_num",
        "kernel_details", "key", "kpi_name", "kpi_value", "launch_id", "layout", "libtpu_version", "llo_proto",
        "local_device_id", "long_name", "loop_iteration", "lost", "marker_payload", "matrix_unit_utilization_percent",
        "max_iteration_num", "memalloc_details", "memcpy_details", "memory_access_breakdown", "memory_bandwidth",
        "memory_size", "min_duration_ps", "mlir_program", "model_flops", "model_id", "model_name", "model_version",
        "multi_slice_topology", "name", "nan_counter_events", "network_transport_latency_us", "node_ordinal",
        "num_actions", "nvtx_range", "occupancy_min_grid_size", "occupancy_suggested_block_size", "offload_core_id",
        "offload_execution_index", "on processor", "padding_amount", "parent_id", "payload_size_bytes",
        "peak_bytes_in_use", "peak_cmem_rd_bw_gigabytes_per_second", "peak_cmem_wr_bw_gigabytes_per_second",
        "peak_hbm_bw_gigabytes_per_second", "peak_sram_rd_bw_gigabytes_per_second",
        "peak_sram_wr_bw_gigabytes_per_second", "peak_teraflops_per_second", "peak_vmem_rd_bw_gigabytes_per_second",
        "peak_vmem_wr_bw_gigabytes_per_second", "performance_counter_description", "performance_counter_id",
        "performance_counter_sets", "process_id", "profile_options", "profile_start_time", "profile_stop_time",
        "program_counter", "program_id", "queue", "queue_addr", "queue_id", "raw_bytes_accessed", "recv_channel_id",
        "region_type", "replica_id", "request_id", "requested_bytes", "run_id", "scope", "scope_range_id",
        "self_duration_ps", "send_channel_id", "severity", "shape", "shape_with_layout", "slack_us", "source",
        "source_stack", "span_id", "start_end_type", "step_idle_time_ps", "step_name", "step_num", "stream",
        "symbol_id", "tc_offload_start_id", "tf_function_call", "tf_op", "tf_op_name", "theoretical_occupancy_pct",
        "thread", "total_profile_duration_ps", "tracing_count", "transaction_with_chip_core_id",
        "transfer_destinations", "transfer_source", "transfers", "transmission_budget_us", "truncated", "uses_megacore",
        "value", "vdd_core_energy_nj", "vdd_core_power_events"};
    return *key == '_' || prof__display_listed(taken, sizeof taken / sizeof *taken, key);
}

static int prof__xplane_same_key(const void *owner, size_t item, const void *key)
{
    return !strcmp(((const prof__xplane_key *)owner)[item].text, (const char *)key);
}

/* Returns the index of an argument's key. Adds the key if it is new. Returns PROF__NONE without memory. */
static size_t prof__xplane_key_of(prof__xplane *x, const char *key)
{
    uint32_t hash = prof__text_hash(key);
    size_t item = prof__read_find(&x->key_index, hash, prof__xplane_same_key, x->keys, key);
    if (item != PROF__NONE) return item;
    item = x->key_count;
    if (!PROF__ROOM(x->keys, x->key_capacity, item)) return PROF__NONE;
    x->keys[item].last = 0;
    x->keys[item].text = prof__text_join(key, "");
    if (!x->keys[item].text) return PROF__NONE;
    if (!prof__read_add(&x->key_index, hash, item)) {
        free(x->keys[item].text);
        return PROF__NONE;
    }
    x->key_count++;
    return item;
}

typedef struct prof__xplane_name_key {
    const prof_callsite *site;
    const char *text;
    uint64_t text_key; /* prof__text_key() of text */
    prof__xplane_what what;
} prof__xplane_name_key;

static int prof__xplane_same_name(const void *owner, size_t item, const void *key)
{
    const prof__xplane_name *name = (const prof__xplane_name *)owner + item;
    const prof__xplane_name_key *wanted = (const prof__xplane_name_key *)key;
    return name->site == wanted->site && name->what == wanted->what && name->key == wanted->text_key;
}

/* Adds a name. Returns its id, or 0 as prof__xplane_name_find() does. */
static uint32_t prof__xplane_name_add(prof__xplane *x, const prof__xplane_name_key *key, uint32_t hash)
{
    prof__xplane_name name;
    name.site = key->site;
    name.what = key->what;
    name.key = key->text_key;
    name.uses = 1;
    name.text = NULL;
    if (key->text && key->site && x->text_count >= PROF__XPLANE_NAMES) return 0;
    if (key->text && !(name.text = prof__text_join(key->text, ""))) return 0;
    if (!PROF__ROOM(x->names, x->name_capacity, x->name_count) ||
        !prof__read_add(&x->name_index, hash, x->name_count)) {
        free(name.text);
        return 0;
    }
    x->names[x->name_count++] = name;
    x->text_count += name.text != NULL;
    return (uint32_t)x->name_count;
}

static uint32_t prof__xplane_name_hash(const prof_callsite *site, prof__xplane_what what, uint64_t text)
{
    return (uint32_t)prof__mix_key((uint64_t)(uintptr_t)site + (uint64_t)what, text);
}

/* Begins to find the name of a scope that comes soon, if that name was made at run time. */
static void prof__xplane_name_soon(const prof__xplane *x, const prof_cursor *cursor)
{
    const prof_callsite *site;
    uint64_t text;
    size_t item;
    if (prof__cursor_ahead(cursor, PROF__XPLANE_AHEAD, &site, &text))
        prof__read_soon(&x->name_index, prof__xplane_name_hash(site, PROF__XPLANE_SCOPE, text));
    if (!prof__cursor_ahead(cursor, PROF__XPLANE_AHEAD / 2, &site, &text)) return;
    item = prof__read_guess(&x->name_index, prof__xplane_name_hash(site, PROF__XPLANE_SCOPE, text));
    if (item != PROF__NONE) PROF__SOON(&x->names[item]);
}

/* Returns the id of a name. text: the name, if it was made at run time; NULL: the site's name. text_key: its
   prof__text_key(). Returns 0 without memory, or for a new run-time name if there are too many. */
static uint32_t prof__xplane_name_find(prof__xplane *x, const prof_callsite *site, const char *text, uint64_t text_key,
                                       prof__xplane_what what)
{
    prof__xplane_name_key key;
    uint32_t hash = prof__xplane_name_hash(site, what, text_key);
    size_t item;
    key.site = site;
    key.text = text;
    key.text_key = text_key;
    key.what = what;
    item = prof__read_find(&x->name_index, hash, prof__xplane_same_name, x->names, &key);
    if (item == PROF__NONE) return prof__xplane_name_add(x, &key, hash);
    x->names[item].uses += !x->writing;
    return (uint32_t)item + 1;
}

/* Returns the id of a call site's own name. */
static uint32_t prof__xplane_site(prof__xplane *x, const prof_callsite *site, prof__xplane_what what)
{
    size_t number = x->sites ? prof__site_number(x->trace, site) : PROF__NONE;
    uint32_t id;
    if (PROF__LIKELY(number != PROF__NONE && x->sites[number].id && x->sites[number].what == what))
        return x->sites[number].id;
    id = prof__xplane_name_find(x, site, NULL, 0, what);
    if (!id) x->status = PROF_NO_MEMORY;
    if (number == PROF__NONE) return id;
    x->sites[number].id = id;
    x->sites[number].what = what;
    return id;
}

/* Returns the id of a name made at run time, which has this prof__text_key(). If there are too many such names, returns
   the id of the call site's name, and adds the run-time name as a stat. */
static uint32_t prof__xplane_keyed(prof__xplane *x, prof__xplane_bytes *stats, const prof_callsite *site,
                                   const char *text, uint64_t text_key, prof__xplane_what what)
{
    uint32_t id = prof__xplane_name_find(x, site, text, text_key, what);
    if (!id && site && x->text_count >= PROF__XPLANE_NAMES) {
        if (stats) prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_NAME, text);
        return prof__xplane_site(x, site, what);
    }
    if (!id) x->status = PROF_NO_MEMORY;
    return id;
}

static uint32_t prof__xplane_named(prof__xplane *x, prof__xplane_bytes *stats, const prof_callsite *site,
                                   const char *text, prof__xplane_what what)
{
    return prof__xplane_keyed(x, stats, site, text, prof__text_key(text), what);
}

static uint32_t prof__xplane_name_of(prof__xplane *x, prof__xplane_bytes *stats, const prof_event *event,
                                     prof__xplane_what what)
{
    if (PROF__LIKELY(event->name == event->site->name)) return prof__xplane_site(x, event->site, what);
    if (!x->key || *event->site->name) return prof__xplane_named(x, stats, event->site, event->name, what);
    return prof__xplane_keyed(x, stats, event->site, event->name, x->key, what);
}

/* Returns 1 if XProf interprets names with this begin: as a step, an input, a transfer or the like. */
static int prof__xplane_meant(const char *name)
{
    static const char *const meant[] = {"train", "test", "TraceContext", "Eager", "FunctionRun", "ExecutorState",
                                        "Iterator", "MEMCPY", "memcpy", "Memcpy", "nccl", "NCCL"};
    size_t i, n;
    for (i = 0; i < sizeof meant / sizeof *meant; i++) {
        n = strlen(meant[i]);
        if (!strncmp(name, meant[i], n)) return 1;
    }
    return 0;
}

/* Appends a type made of a category, or of a row's name without " #2" at its end. XProf takes [a-z][a-z0-9_]* for a
   type. */
static void prof__xplane_type(prof__xplane_bytes *bytes, const char *c)
{
    char letter;
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'))) prof__xplane_add(bytes, "c_", 2);
    for (; *c && strncmp(c, " #", 2); c++) {
        letter = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        if (!((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))) letter = '_';
        prof__xplane_add(bytes, &letter, 1);
    }
}

/* Appends a text to x->text without its colons, because XProf takes what follows a colon for a type. */
static void prof__xplane_spelled(prof__xplane *x, const char *text)
{
    const char *end;
    for (; *text; text = end) {
        size_t before = x->joined.size = 0;
        for (end = text; *end && *end != ':'; end++) before++;
        prof__xplane_add(&x->joined, text, before);
        prof__xplane_add(&x->joined, "", 1);
        if (x->joined.failed) return;
        prof__xplane_letters(&x->text, (const char *)x->joined.data);
        if (*end == ':') prof__xplane_add(&x->text, "/", 1);
        while (*end == ':') end++;
    }
}

/* Sets x->text to an event's name: NAME:TYPE for a scope, so that XProf counts it as an op; for others, with a
   prefix. */
static void prof__xplane_op(prof__xplane *x, const prof__xplane_name *name, const char *text)
{
    static const char *const prefixes[] = {"", "", "mark: ", "message: ", "flow: ", "frame: ", "span: ", "lock: "};
    x->text.size = 0;
    if (name->what >= PROF__XPLANE_MARK) {
        prof__xplane_letters(&x->text, prefixes[name->what]);
        prof__xplane_letters(&x->text, text);
        return;
    }
    /* XProf leaves out calls whose names begin with "cu" where it counts launches. */
    int call = name->site && !strcmp(name->site->category, "CUDA");
    if (call || prof__xplane_meant(text)) prof__xplane_add(&x->text, "./", 2);
    prof__xplane_spelled(x, text);
    prof__xplane_add(&x->text, ":", 1);
    prof__xplane_type(&x->text, name->what == PROF__XPLANE_STEP              ? "step"
                                : name->site && *name->site->category ? name->site->category
                                                                      : "scope");
}

/* Replaces the characters that must be escaped in JSON, for texts that XProf does not escape. */
static void prof__xplane_harmless(prof__xplane_bytes *bytes)
{
    size_t i;
    for (i = 0; i < bytes->size; i++) {
        if (bytes->data[i] == '"') bytes->data[i] = '\'';
        if (bytes->data[i] == '\\') bytes->data[i] = '/';
        if (bytes->data[i] < 32) bytes->data[i] = ' ';
    }
}

/* Appends an entry to a protobuf map. Its key is `id`, its value x->entry. */
static void prof__xplane_map(prof__xplane *x, unsigned tag, uint64_t id)
{
    x->part.size = 0;
    prof__xplane_number(&x->part, PROF__XMAP_KEY, id);
    prof__xplane_message(&x->part, PROF__XMAP_VALUE, x->entry.data, x->entry.size);
    prof__xplane_message(&x->meta, tag, x->part.data, x->part.size);
}

static int prof__xplane_same_group(const void *owner, size_t item, const void *key)
{
    return ((const prof__xplane_group *)owner)[item].site == (const prof_callsite *)key;
}

/* Returns the group of names that a call site has made. Returns NULL without memory. */
static prof__xplane_group *prof__xplane_group_of(prof__xplane *x, const prof_callsite *site)
{
    uint32_t hash = (uint32_t)prof__mix((uint64_t)(uintptr_t)site);
    size_t item = prof__read_find(&x->group_index, hash, prof__xplane_same_group, x->groups, site);
    if (item != PROF__NONE) return &x->groups[item];
    item = x->group_count;
    if (!PROF__ROOM(x->groups, x->group_capacity, item) || !prof__read_add(&x->group_index, hash, item)) {
        x->status = PROF_NO_MEMORY;
        return NULL;
    }
    memset(&x->groups[item], 0, sizeof x->groups[item]);
    x->groups[item].site = site;
    x->group_count++;
    return &x->groups[item];
}

static int prof__xplane_made_at_run_time(const prof__xplane_name *name)
{
    return name->text && name->site && name->what == PROF__XPLANE_SCOPE;
}

static void prof__xplane_group_names(prof__xplane *x)
{
    size_t i;
    for (i = 0; i < x->name_count; i++) {
        const prof__xplane_name *name = &x->names[i];
        prof__xplane_group *group = prof__xplane_made_at_run_time(name) ? prof__xplane_group_of(x, name->site) : NULL;
        if (!group) continue;
        group->names++;
        group->uses += name->uses;
    }
}

/* Returns the text that counts as the op of a name. For a name made by a format, that is the format. A call site may
   have made many names that are seldom used again, as names of requests are, but names of functions are not: then it is
   the function that contains the call site. For other names, it is the name. */
static const char *prof__xplane_op_text(prof__xplane *x, const prof__xplane_name *name, const char *text)
{
    const prof__xplane_group *group;
    if (!prof__xplane_made_at_run_time(name)) return text;
    if (*name->site->name && strcmp(name->site->name, "%s")) return name->site->name;
    group = prof__xplane_group_of(x, name->site);
    if (!group || group->names <= PROF__XPLANE_MANY || group->uses >= group->names * PROF__XPLANE_AGAIN) return text;
    return *name->site->function ? name->site->function : text;
}

static void prof__xplane_event_name(prof__xplane *x, size_t index)
{
    const prof__xplane_name *name = &x->names[index];
    const char *text = name->text ? name->text : name->site ? name->site->name : "";
    prof__xplane_bytes *entry = &x->entry;
    if (!*text) text = "(unnamed)";
    entry->size = 0;
    prof__xplane_number(entry, PROF__XNAME_ID, index + 1);
    if (name->what >= PROF__XPLANE_ROOT) {
        x->text.size = 0;
        prof__xplane_letters(&x->text, text);
        if (name->what == PROF__XPLANE_COUNTER) prof__xplane_harmless(&x->text);
        prof__xplane_message(entry, PROF__XNAME_NAME, x->text.data, x->text.size);
    } else {
        prof__xplane_op(x, name, prof__xplane_op_text(x, name, text));
        prof__xplane_message(entry, PROF__XNAME_NAME, x->text.data, x->text.size);
        prof__xplane_text(x, entry, PROF__XNAME_SHOWN, text);
    }
    if (name->site && *name->site->category && name->what < PROF__XPLANE_COUNTER)
        prof__xplane_stat_text(x, entry, PROF__XNAME_STAT, PROF__STAT_CATEGORY, name->site->category);
    if (name->site && name->what < PROF__XPLANE_COUNTER)
        prof__xplane_stat_source(x, entry, PROF__XNAME_STAT, PROF__STAT_SOURCE, name->site);
    prof__xplane_map(x, PROF__XPLANE_EVENT_NAME, index + 1);
}

static void prof__xplane_stat_name(prof__xplane *x, size_t id, const char *prefix, const char *text)
{
    prof__xplane_bytes *entry = &x->entry;
    entry->size = 0;
    prof__xplane_number(entry, PROF__XNAME_ID, id);
    x->text.size = 0;
    prof__xplane_letters(&x->text, prefix);
    prof__xplane_letters(&x->text, *text ? text : "(unnamed)");
    prof__xplane_message(entry, PROF__XNAME_NAME, x->text.data, x->text.size);
    prof__xplane_map(x, PROF__XPLANE_STAT_NAME, id);
}

/* Returns 1 if an argument of an accelerator's work becomes the stat of that name that XProf has for its own
   devices. */
static int prof__xplane_own_stat(const char *key)
{
    static const char *const own[] = {
        "bytes_accessed", "clock_rate", "compute_cap_major", "compute_cap_minor", "context_id", "core_count",
        "correlation_id", "cuda_graph_id", "cuda_graph_node_id", "device_vendor", "flops", "gpu_device_name",
        "kernel_details", "memalloc_details", "memcpy_details", "memory_bandwidth", "memory_size", "nvtx_range",
        "occupancy_min_grid_size", "occupancy_suggested_block_size", "shape", "tf_op", "theoretical_occupancy_pct"};
    size_t i;
    for (i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(key, own[i])) return 1;
    return 0;
}

/* Returns the prefix for an argument's key: "arg." if XProf would interpret the key otherwise, else "". A scope that
   launches work of an accelerator has the correlation_id of that work. */
static const char *prof__xplane_prefix(const prof__xplane *x, const char *key)
{
    int own = x->gpu ? prof__xplane_own_stat(key) : x->accelerators && !strcmp(key, "correlation_id");
    return prof__xplane_taken(key) && !own ? "arg." : "";
}

static void prof__xplane_names(prof__xplane *x)
{
    size_t i;
    prof__xplane_group_names(x);
    for (i = 0; i < x->name_count; i++) prof__xplane_event_name(x, i);
    for (i = 1; i < PROF__STAT_COUNT; i++)
        if (x->used >> i & 1) prof__xplane_stat_name(x, i, "", prof__xplane_stats[i]);
    for (i = 0; i < x->key_count; i++)
        prof__xplane_stat_name(x, PROF__STAT_COUNT + i, prof__xplane_prefix(x, x->keys[i].text), x->keys[i].text);
}

static void prof__xplane_names_clear(prof__xplane *x)
{
    size_t i;
    for (i = 0; i < x->name_count; i++) free(x->names[i].text);
    for (i = 0; i < x->key_count; i++) free(x->keys[i].text);
    free(x->name_index.slots);
    free(x->key_index.slots);
    free(x->group_index.slots);
    memset(&x->group_index, 0, sizeof x->group_index);
    memset(&x->name_index, 0, sizeof x->name_index);
    memset(&x->key_index, 0, sizeof x->key_index);
    if (x->sites) memset(x->sites, 0, prof__site_count(x->trace) * sizeof *x->sites);
    x->name_count = x->key_count = x->text_count = x->group_count = 0;
    x->used = 0;
}

#endif /* PROF__XPLANE_NAMES_H */
