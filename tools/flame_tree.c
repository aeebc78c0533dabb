/* flame_tree.c - the call tree of prof flame: an array of nodes, and a hash table that finds a node by its parent, name
   and category. */
#include "flame.h"
#include <stdlib.h>
#include <string.h>

char *flame_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = (char *)malloc(size);
    return copy ? (char *)memcpy(copy, text, size) : NULL;
}

/* Doubles the hash table when it has as many nodes as lists. Returns 0 without memory. */
static int grow_table(flame *tree)
{
    size_t size = tree->table_size ? tree->table_size * 2 : 1024, i, *table;
    if (tree->count < tree->table_size) return 1;
    table = (size_t *)malloc(size * sizeof *table);
    if (!table) return 0;
    for (i = 0; i < size; ++i) table[i] = FLAME_NONE;
    for (i = 0; i < tree->count; ++i) {
        size_t *head = &table[tree->nodes[i].hash & (size - 1)];
        tree->nodes[i].chain = *head;
        *head = i;
    }
    free(tree->table);
    tree->table = table;
    tree->table_size = size;
    return 1;
}

static size_t add_node(flame *tree, size_t parent, const char *name, const char *category, uint32_t hash)
{
    flame_node *node;
    size_t *head, at = tree->count;
    if (at == tree->capacity) {
        size_t capacity = at ? at * 2 : 256;
        flame_node *more = (flame_node *)realloc(tree->nodes, capacity * sizeof *more);
        if (!more) return FLAME_NONE;
        tree->nodes = more;
        tree->capacity = capacity;
    }
    if (!grow_table(tree)) return FLAME_NONE;
    node = &tree->nodes[at];
    memset(node, 0, sizeof *node);
    node->name = flame_text(name);
    node->category = category ? flame_text(category) : NULL;
    if (!node->name || (category && !node->category)) {
        free(node->name);
        free(node->category);
        return FLAME_NONE;
    }
    node->hash = hash;
    node->parent = parent;
    node->first = node->next = FLAME_NONE;
    if (parent != FLAME_NONE) {
        node->depth = tree->nodes[parent].depth + 1;
        node->next = tree->nodes[parent].first;
        tree->nodes[parent].first = at;
    }
    head = &tree->table[hash & (tree->table_size - 1)];
    node->chain = *head;
    *head = at;
    tree->count++;
    return at;
}

size_t flame_child(flame *tree, size_t parent, const char *name, const char *category)
{
    uint32_t hash = tool_hash(tool_hash((uint32_t)parent * 2654435761u, name) ^ 255, category ? category : "");
    size_t i = tree->table_size ? tree->table[hash & (tree->table_size - 1)] : FLAME_NONE;
    for (; i != FLAME_NONE; i = tree->nodes[i].chain) {
        const flame_node *node = &tree->nodes[i];
        if (node->hash == hash && node->parent == parent && !node->category == !category &&
            tool_same(node->name, name) && (!category || tool_same(node->category, category)))
            return i;
    }
    i = add_node(tree, parent, name, category, hash);
    if (i == FLAME_NONE) tree->failed = 1;
    return i;
}

void flame_free(flame *tree)
{
    size_t i;
    for (i = 0; i < tree->count; ++i) {
        free(tree->nodes[i].name);
        free(tree->nodes[i].category);
    }
    for (i = 0; i < tree->note_count; ++i) free(tree->notes[i]);
    free(tree->nodes);
    free(tree->table);
}

static const flame_node *sorted_nodes; /* the nodes whose indices qsort() sorts by wider() */

/* Orders nodes by width, the widest first, and then by name and category. Equal nodes of threads keep their order. */
static int wider(const void *left, const void *right)
{
    size_t i = *(const size_t *)left, j = *(const size_t *)right;
    const flame_node *a = &sorted_nodes[i], *b = &sorted_nodes[j];
    int order;
    if (a->total_ns != b->total_ns) return a->total_ns > b->total_ns ? -1 : 1;
    order = strcmp(a->name, b->name);
    if (!order) order = strcmp(a->category ? a->category : "", b->category ? b->category : "");
    return order ? order : i < j ? -1 : i > j;
}

/* Sorts the children of a node. `list` has space for the indices of all nodes. */
static void sort_children(flame *tree, size_t parent, size_t *list)
{
    size_t count = 0, i, *link = &tree->nodes[parent].first;
    for (i = *link; i != FLAME_NONE; i = tree->nodes[i].next) list[count++] = i;
    sorted_nodes = tree->nodes;
    qsort(list, count, sizeof *list, wider);
    for (i = 0; i < count; ++i) {
        *link = list[i];
        link = &tree->nodes[list[i]].next;
    }
    *link = FLAME_NONE;
}

/* Children have larger indices than their parents. */
void flame_finish(flame *tree)
{
    size_t i, *list = (size_t *)malloc((tree->count + 1) * sizeof *list);
    if (!list) {
        tree->failed = 1;
        return;
    }
    for (i = tree->count; i--;) { /* until a node is visited, its self_ns is the time of its children */
        flame_node *node = &tree->nodes[i];
        uint64_t inside = node->self_ns;
        node->self_ns = node->total_ns > inside ? node->total_ns - inside : 0;
        node->total_ns = node->self_ns + inside;
        if (node->parent != FLAME_NONE) tree->nodes[node->parent].self_ns += node->total_ns;
    }
    for (i = 0; i < tree->count; ++i) sort_children(tree, i, list);
    free(list);
}
