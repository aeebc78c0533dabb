// record/no_objects: PROF_NO_OBJECTS: replaces record/objects.
#ifndef PROF__RECORD_NO_OBJECTS_H
#define PROF__RECORD_NO_OBJECTS_H
#include "api/objects.h"
#include "ground/errors.h"
#include "record/counter.h"

/*-- NO OBJECTS ------------------------------------------------------------------------------------------------------
   No function creates a handle, and functions without a handle do nothing. */

struct PROF__SITE_TYPE prof_counter { /* for the layout of copies, which is that of copies with objects */
    prof_site site;
    prof__tally tally;
};

PROF_DEF prof_domain *prof_domain_create(const char *name)
{
    (void)name, prof__left_out("prof_domain_create", "PROF_NO_OBJECTS");
    return NULL;
}
PROF_DEF prof_task *prof_task_create(prof_domain *domain, const char *name)
{
    (void)domain, (void)name, prof__left_out("prof_task_create", "PROF_NO_OBJECTS");
    return NULL;
}
PROF_DEF prof_frame *prof_frame_create(prof_domain *domain, const char *name)
{
    (void)domain, (void)name, prof__left_out("prof_frame_create", "PROF_NO_OBJECTS");
    return NULL;
}
PROF_DEF prof_range *prof_range_create(const char *name)
{
    (void)name, prof__left_out("prof_range_create", "PROF_NO_OBJECTS");
    return NULL;
}
PROF_DEF prof_counter *prof_counter_create(prof_domain *domain, const char *name)
{
    (void)domain, (void)name, prof__left_out("prof_counter_create", "PROF_NO_OBJECTS");
    return NULL;
}
PROF_DEF prof_counter *prof_counter_create_unit(prof_domain *domain, const char *name, const char *unit)
{
    (void)domain, (void)name, (void)unit, prof__left_out("prof_counter_create_unit", "PROF_NO_OBJECTS");
    return NULL;
}
PROF_DEF prof_marker *prof_marker_create(prof_domain *domain, const char *name)
{
    (void)domain, (void)name, prof__left_out("prof_marker_create", "PROF_NO_OBJECTS");
    return NULL;
}
PROF_DEF const char *prof_domain_name(const prof_domain *domain) { return (void)domain, ""; }
PROF_DEF size_t prof_domain_list(const char **names, size_t capacity) { return (void)names, (void)capacity, (size_t)0; }
static prof_site *prof__task_site(uint64_t *object) { return (void)object, (prof_site *)NULL; }
PROF_DEF void prof_task_start(prof_task *task) { (void)task; }
PROF_DEF void prof_task_stop(prof_task *task) { (void)task; }
PROF_DEF void prof_task_destroy(prof_task *task) { (void)task; }
PROF_DEF void prof_frame_start(prof_frame *frame) { (void)frame; }
PROF_DEF void prof_frame_stop(prof_frame *frame) { (void)frame; }
PROF_DEF void prof_frame_destroy(prof_frame *frame) { (void)frame; }
PROF_DEF void prof_range_start(prof_range *range) { (void)range; }
PROF_DEF void prof_range_stop(prof_range *range) { (void)range; }
PROF_DEF void prof_range_destroy(prof_range *range) { (void)range; }
PROF_DEF void prof_counter_set(prof_counter *counter, int64_t value) { (void)counter, (void)value; }
PROF_DEF void prof_counter_add(prof_counter *counter, int64_t delta) { (void)counter, (void)delta; }
PROF_DEF void prof_counter_sub(prof_counter *counter, int64_t delta) { (void)counter, (void)delta; }
PROF_DEF void prof_counter_set_uint(prof_counter *counter, uint64_t value) { (void)counter, (void)value; }
PROF_DEF void prof_counter_set_double(prof_counter *counter, double value) { (void)counter, (void)value; }
PROF_DEF void prof_counter_add_double(prof_counter *counter, double delta) { (void)counter, (void)delta; }
PROF_DEF void prof_counter_destroy(prof_counter *counter) { (void)counter; }
PROF_DEF void prof_marker_mark(prof_marker *marker, prof_mark_scope scope) { (void)marker, (void)scope; }
PROF_DEF void prof_marker_destroy(prof_marker *marker) { (void)marker; }

#endif /* PROF__RECORD_NO_OBJECTS_H */
