// vulkan/labels: Makes scopes of the labels that a program puts into its command buffers for debuggers. A function of
// Vulkan has no place for a prof_vk, and the end of a label none for its scope: so a table has the open labels of each
// command buffer. One thread at a time records a command buffer, so its place is that thread's alone.
#ifndef PROF__VULKAN_LABELS_H
#define PROF__VULKAN_LABELS_H
#include "vulkan/scope.h"
#include "vulkan/state.h"

/* The queue whose scopes labels are, the program's pointers to functions, and where they led. */
static struct {
    prof_vk *vk;
    prof_vk_label_begin *begin_at, begin;
    prof_vk_label_end *end_at, end;
} prof__vk_labelled;

/* Returns the place of a command buffer; or, if it has none, a free one, if make is 1, or NULL. */
static prof__vk_labels *prof__vk_labels_of(prof_vk *vk, struct VkCommandBuffer_T *commands, int make)
{
    uint32_t first = (uint32_t)((uintptr_t)commands >> 4) * 2654435761u >> 24;
    for (int round = 0; round <= make; ++round) {
        for (uint32_t i = 0; i < PROF__VK_LABEL_TRIES; ++i) {
            prof__vk_labels *labels = &vk->labels[(first + i) % PROF__VK_LABEL_PLACES];
            struct VkCommandBuffer_T *owner = PROF__ACQUIRE(&labels->commands);
            if (owner == commands) return labels;
            if (round && !owner &&
                __atomic_compare_exchange_n(&labels->commands, &owner, commands, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                return labels;
        }
    }
    return NULL;
}

/* Returns 1 if a scope, or one in whose place it would be, is no longer open: the command buffer was reset before the
   label ended. */
static int prof__vk_is_stale(const prof_vk *vk, uint64_t scope)
{
    const prof__vk_entry *entry = &prof__vk_scope_pool(vk, scope)->entries[prof__vk_scope_number(scope)];
    return scope && PROF__ACQUIRE(&entry->state) != (uint32_t)(scope >> 32);
}

static void prof__vk_label_begin(prof_vk *vk, struct VkCommandBuffer_T *commands, const char *name)
{
    prof__vk_labels *labels = prof__vk_labels_of(vk, commands, 0);
    if (labels && labels->depth && labels->depth <= PROF__VK_LABEL_DEPTH &&
        prof__vk_is_stale(vk, labels->scopes[labels->depth - 1]))
        labels->depth = 0;
    if (!labels && prof__vk_records(vk) && !(labels = prof__vk_labels_of(vk, commands, 1)))
        PROF__ADD(&vk->lost_no_query, 1u);
    if (!labels) return;
    if (labels->depth < PROF__VK_LABEL_DEPTH) labels->scopes[labels->depth] = prof_vk_begin_text(vk, commands, name);
    ++labels->depth;
}

static void prof__vk_label_end(prof_vk *vk, struct VkCommandBuffer_T *commands)
{
    prof__vk_labels *labels = prof__vk_labels_of(vk, commands, 0);
    if (!labels) return;
    if (labels->depth && --labels->depth < PROF__VK_LABEL_DEPTH)
        prof_vk_end(vk, commands, labels->scopes[labels->depth]);
    if (!labels->depth) PROF__RELEASE(&labels->commands, (struct VkCommandBuffer_T *)NULL);
}

static void PROF__VK_CALL prof__vk_cmd_begin_label(struct VkCommandBuffer_T *commands,
                                                   const struct VkDebugUtilsLabelEXT *label)
{
    prof__vk_label copy;
    prof_vk *vk = prof__vk_labelled.vk;
    if (prof__vk_labelled.begin) prof__vk_labelled.begin(commands, label);
    memcpy(&copy, label, sizeof copy);
    if (vk) prof__vk_label_begin(vk, commands, copy.name);
}

static void PROF__VK_CALL prof__vk_cmd_end_label(struct VkCommandBuffer_T *commands)
{
    prof_vk *vk = prof__vk_labelled.vk;
    if (vk) prof__vk_label_end(vk, commands);
    if (prof__vk_labelled.end) prof__vk_labelled.end(commands);
}

/* Puts back what is still prof's: the program may have loaded its functions anew. Copies of prof's functions that it
   has made lead to the driver from then on. */
static void prof__vk_unwrap_labels(void)
{
    if (!prof__vk_labelled.vk) return;
    if (*prof__vk_labelled.begin_at == prof__vk_cmd_begin_label) *prof__vk_labelled.begin_at = prof__vk_labelled.begin;
    if (*prof__vk_labelled.end_at == prof__vk_cmd_end_label) *prof__vk_labelled.end_at = prof__vk_labelled.end;
    prof__vk_labelled.vk = NULL;
}

PROF_DEF prof_status prof_vk_wrap_labels(prof_vk *vk, prof_vk_label_begin *begin, prof_vk_label_end *end)
{
    if (!vk || !begin || !end) return prof__null("prof_vk_wrap_labels", "vk, begin or end");
    if (!vk->labels) vk->labels = (prof__vk_labels *)calloc(PROF__VK_LABEL_PLACES, sizeof *vk->labels);
    if (!vk->labels) return prof__fail(PROF_NO_MEMORY, "no memory for labels");
    prof__vk_unwrap_labels();
    prof__vk_labelled.vk = vk;
    prof__vk_labelled.begin_at = begin;
    prof__vk_labelled.end_at = end;
    /* Copies of prof's functions lead to where those led. */
    if (*begin != prof__vk_cmd_begin_label) prof__vk_labelled.begin = *begin;
    if (*end != prof__vk_cmd_end_label) prof__vk_labelled.end = *end;
    *begin = prof__vk_cmd_begin_label;
    *end = prof__vk_cmd_end_label;
    return PROF_OK;
}

#endif /* PROF__VULKAN_LABELS_H */
