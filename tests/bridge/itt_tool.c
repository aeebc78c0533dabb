/* Stands in for VTune: what libittnotify calls. As a shared library it is what INTEL_LIBITTNOTIFY64 names, for a program
   that is linked with libittnotify; with ITT_STATIC it is linked into the program in that library's place, and defines
   the pointers that <ittnotify.h> declares. */
#ifndef ITT_STATIC
#define INTEL_NO_MACRO_BODY
#endif
#define INTEL_ITTNOTIFY_API_PRIVATE /* the names of the pointers */
#include <ittnotify.h>
#include <string.h>
#include "log.h"

#ifdef ITT_STATIC
#define TOOL(type, name, parameters)                                                                       \
    static type tool_##name parameters;                                                                    \
    type (*ITTNOTIFY_NAME(name)) parameters = tool_##name;                                                 \
    static type tool_##name parameters
#else
#define TOOL(type, name, parameters)                                                                       \
    __attribute__((visibility("default"))) type __itt_##name parameters;                                   \
    type __itt_##name parameters
#endif

static const char *name_of(const __itt_domain *domain) { return domain ? domain->nameA : "NO DOMAIN"; }
static const char *text_of(const __itt_string_handle *text) { return text ? text->strA : "NO STRING"; }

/* libittnotify walks the lists of what it has, and asks the tool only for new ones. */
TOOL(__itt_domain *, domain_create, (const char *name))
{
    static __itt_domain *domains;
    for (__itt_domain *each = domains; each; each = each->next)
        if (!strcmp(each->nameA, name)) return each;
    __itt_domain *domain = calloc(1, sizeof *domain);
    domain->nameA = strdup(name);
    domain->flags = 1;
    domain->next = domains;
    say("domain %s", name);
    return domains = domain;
}
TOOL(__itt_string_handle *, string_handle_create, (const char *text))
{
    __itt_string_handle *handle = calloc(1, sizeof *handle);
    handle->strA = strdup(text);
    say("string %s", text);
    return handle;
}
TOOL(void, task_begin, (const __itt_domain *domain, __itt_id id, __itt_id parent, __itt_string_handle *name))
{
    say("begin %s: %s%s", name_of(domain), text_of(name), id.d1 || parent.d1 ? " WITH AN ID" : "");
}
TOOL(void, task_end, (const __itt_domain *domain)) { say("end %s", name_of(domain)); }
TOOL(void, task_begin_overlapped, (const __itt_domain *domain, __itt_id id, __itt_id parent, __itt_string_handle *name))
{
    say("overlapped begin %s: %s %llu%s", name_of(domain), text_of(name), id.d2, parent.d1 ? " WITH A PARENT" : "");
}
TOOL(void, task_end_overlapped, (const __itt_domain *domain, __itt_id id))
{
    say("overlapped end %s: %llu", name_of(domain), id.d2);
}
TOOL(void, frame_begin_v3, (const __itt_domain *domain, __itt_id *id))
{
    say("frame begin %s: %llu", name_of(domain), id->d2);
}
TOOL(void, frame_end_v3, (const __itt_domain *domain, __itt_id *id))
{
    say("frame end %s: %llu", name_of(domain), id->d2);
}
TOOL(void, marker, (const __itt_domain *domain, __itt_id id, __itt_string_handle *name, __itt_scope scope))
{
    say("marker %s: %s scope %d of %llu", name_of(domain), text_of(name), (int)scope, id.d2);
}
TOOL(void, metadata_add,
     (const __itt_domain *domain, __itt_id id, __itt_string_handle *key, __itt_metadata_type type, size_t count, void *data))
{
    double number = type == __itt_metadata_double ? *(double *)data : (double)*(long long *)data;
    say("metadata %s: %s = %g type %d%s", name_of(domain), text_of(key), number, (int)type,
        count != 1 || id.d1 ? " WRONG COUNT OR ID" : "");
}
TOOL(void, metadata_str_add,
     (const __itt_domain *domain, __itt_id id, __itt_string_handle *key, const char *data, size_t length))
{
    say("metadata %s: %s = \"%.*s\"%s", name_of(domain), text_of(key), (int)length, data, id.d1 ? " WITH AN ID" : "");
}
typedef struct counter {
    const char *name;
    __itt_metadata_type type;
} counter;
TOOL(__itt_counter, counter_create_typed, (const char *name, const char *domain, __itt_metadata_type type))
{
    counter *made = malloc(sizeof *made);
    made->name = strdup(name);
    made->type = type;
    say("counter %s: %s type %d", domain, name, (int)type);
    return (__itt_counter)(void *)made;
}
TOOL(void, counter_set_value, (__itt_counter id, void *value))
{
    const counter *set = (const counter *)(void *)id;
    say("counter %s = %g", set->name, set->type == __itt_metadata_double ? *(double *)value : (double)*(long long *)value);
}
TOOL(void, counter_destroy, (__itt_counter id))
{
    say("counter %s destroyed", ((const counter *)(void *)id)->name);
}
TOOL(__itt_event, event_create, (const char *name, int length))
{
    static int count;
    say("event %.*s -> %d", length, name, ++count);
    return count;
}
TOOL(int, event_start, (__itt_event event))
{
    say("event begin %d", (int)event);
    return 0;
}
TOOL(int, event_end, (__itt_event event))
{
    say("event end %d", (int)event);
    return 0;
}
TOOL(void, sync_prepare, (void *lock)) { say("prepare %d", lock != NULL); }
TOOL(void, sync_acquired, (void *lock)) { say("acquired %d", lock != NULL); }
TOOL(void, sync_releasing, (void *lock)) { say("releasing %d", lock != NULL); }
TOOL(void, thread_set_name, (const char *name)) { say("thread %s", name); }
TOOL(__itt_timestamp, get_timestamp, (void)) { return 0; }
TOOL(void, pause, (void)) { say("pause"); }
TOOL(void, resume, (void)) { say("resume"); }

#ifndef ITT_STATIC /* a library with this is one that has the functions by their names */
__attribute__((visibility("default"))) const char *__itt_api_version(void);
const char *__itt_api_version(void) { return "stand-in"; }
#endif
