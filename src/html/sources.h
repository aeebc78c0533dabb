// html/sources: The option `sources`: copies lines around the call sites of scopes from files below a folder. The paths
// of call sites are as untrusted as the recording: none leads out of the folder, unless a link in the folder does.
#ifndef PROF__HTML_SOURCES_H
#define PROF__HTML_SOURCES_H
#include "ground/utf8.h"
#include "ground/windows.h"
#include "session/save.h"
#include "html/pack.h"

/*-- sources --*/

#define PROF__HTML_BEFORE 4u /* lines before the call site's, and after it: as Panels.source() in panels.js has it */
#define PROF__HTML_AFTER 8u
#define PROF__HTML_LINE 400u           /* bytes of a line that are written */
#define PROF__HTML_EXCERPTS (1u << 20) /* bytes of all lines together */
#define PROF__HTML_SEARCH (1u << 26)   /* bytes of a file that are searched */

static int prof__html_source_order(const void *a, const void *b)
{
    const prof__html_source *left = (const prof__html_source *)a, *right = (const prof__html_source *)b;
    int order = strcmp(left->file, right->file);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

/* Opens a regular file. Returns NULL for devices and pipes, because they may have no end. */
static FILE *prof__html_source_file(const char *path)
{
#ifdef _WIN32
    uint64_t size;
    FILE *file = prof__file_open(path, "rb");
    if (file && prof__read_size(file, &size)) return rewind(file), file;
    if (file) fclose(file);
    return NULL;
#else
    prof__about about;
    return !prof__stat(path, &about) && S_ISREG(about.st_mode) ? prof__file_open(path, "rb") : NULL;
#endif
}

/* Opens the file of a call site below the folder. Tries the whole path of the call site, then shorter and shorter tails
   of it. Returns NULL if none is there. */
static FILE *prof__html_source_open(const char *folder, const char *path)
{
    static const char slashes[] = "/\\";
    char at[4096], *slash;
    FILE *file = NULL;
    for (; !file && *(path += strspn(path, slashes)); path += strcspn(path, slashes)) {
        if (strstr(path, "..") || strchr(path, ':')) continue; /* would lead out of the folder, or to a drive */
        if (snprintf(at, sizeof at, "%s/%s", folder, path) >= (int)sizeof at) continue;
        while ((slash = strchr(at + strlen(folder), '\\')) != NULL) *slash = '/';
        file = prof__html_source_file(at);
    }
    return file;
}

/* Writes one line of source: the number of the string that is its path, the line's number, and the text. */
static void prof__html_source_line(prof__html *h, const prof__html_source *site, uint32_t line, char *text, size_t size)
{
    if (size > PROF__HTML_LINE) {
        size = prof__utf8_cut(text, PROF__HTML_LINE);
        memcpy(text + size, "\xE2\x80\xA6", 3);
        size += 3;
    }
    text[size] = 0;
    h->source_bytes += size + 1;
    if (h->source_bytes > PROF__HTML_EXCERPTS) {
        h->source_limit = 1;
        return;
    }
    prof__html_u(&h->rows, site->text);
    prof__html_u(&h->rows, line);
    prof__html_text(&h->rows, text);
    if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'X', &h->rows);
}

/* Writes the lines around the call sites of one file. `site` is sorted by line. */
static void prof__html_source_lines(prof__html *h, FILE *file, const prof__html_source *site,
                                    const prof__html_source *end)
{
    char text[PROF__HTML_LINE + 4];
    size_t size = 0;
    uint32_t line = 1;
    int c = 0;
    for (uint32_t left = PROF__HTML_SEARCH; left && c != EOF && h->source_bytes <= PROF__HTML_EXCERPTS; --left) {
        c = fgetc(file);
        if (c != '\n' && c != EOF) {
            if (size <= PROF__HTML_LINE) text[size++] = (char)(c < ' ' && c != '\t' ? ' ' : c);
            continue;
        }
        while (site < end && line > site->line + PROF__HTML_AFTER) ++site;
        if (site == end) return;
        if (line + PROF__HTML_BEFORE >= site->line && (size || c != EOF))
            prof__html_source_line(h, site, line, text, size);
        size = 0;
        ++line;
    }
}

/* Writes the lines around all call sites in the table, and how many of their files were not found. */
static void prof__html_sources(prof__html *h)
{
    const prof__html_source *from = h->sources, *to, *end = from + h->source_count;
    uint64_t missing = 0;
    qsort(h->sources, h->source_count, sizeof *from, prof__html_source_order);
    prof__html_tables(h);
    for (; from < end; from = to) {
        FILE *file = prof__html_source_open(h->options.sources, from->file);
        for (to = from; to < end && !strcmp(from->file, to->file);) ++to;
        if (file) {
            prof__html_source_lines(h, file, from, to);
            fclose(file);
        } else {
            ++missing;
        }
    }
    prof__html_block1(h, 'X', &h->rows);
    prof__html_about_number(h, "sources_missing", missing);
    prof__html_about_number(h, "sources_limit", (uint64_t)h->source_limit);
    prof__html_block1(h, 'P', &h->rows);
}

#endif /* PROF__HTML_SOURCES_H */
