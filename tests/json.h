/* json.h - what the tests that read JSON share: a parser of strict JSON that refuses what some viewer stumbles over
   (control characters, bad UTF-8, keys given twice, escapes nobody needs). Include it after test.h. Valid in C99 and
   C++11. */
#ifndef JSON_H
#define JSON_H

#include <stdlib.h>
#include <string.h>

typedef struct json {
    char type; /* { [ " 0 t f n */
    char *key; /* decoded; of a member */
    char *text; /* decoded string, or a number as written */
    struct json *child, *next;
} json;

typedef struct parser {
    const char *at, *end;
    const char *error;
} parser;

static inline void json_free(json *node)
{
    while (node) {
        json *next = node->next;
        json_free(node->child);
        free(node->key);
        free(node->text);
        free(node);
        node = next;
    }
}

static inline void space(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t')) p->at++;
}

/* Length of the UTF-8 sequence at s by decoding it; 0 if it is not valid. */
static inline size_t utf8_length(const char *s, const char *end)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = (unsigned char)*s;
    size_t length = c < 0x80 ? 1 : (c & 0xE0) == 0xC0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : (c & 0xF8) == 0xF0 ? 4 : 0;
    unsigned code;
    if (!length || (size_t)(end - s) < length) return 0;
    code = length == 1 ? c : c & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        if (((unsigned char)s[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | ((unsigned char)s[i] & 0x3F);
    }
    if (code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0;
    return length;
}

static inline char *parse_string(parser *p)
{
    size_t room = 64, used = 0;
    char *text = (char *)malloc(room);
    p->at++;
    while (p->at < p->end && *p->at != '"') {
        size_t length;
        if (used + 8 > room) text = (char *)realloc(text, room *= 2);
        if ((unsigned char)*p->at < 0x20) p->error = "control character in a string";
        if (*p->at == '\\') {
            unsigned code = 0;
            const char *simple = "\"\"\\\\//b\bf\fn\nr\rt\t";
            if (++p->at == p->end) break;
            if (*p->at == 'u') {
                for (int i = 1; i <= 4; ++i) {
                    char c = p->end - p->at > i ? p->at[i] : 'x';
                    if (c >= '0' && c <= '9')
                        code = code * 16 + (unsigned)(c - '0');
                    else if (c >= 'a' && c <= 'f')
                        code = code * 16 + (unsigned)(c - 'a' + 10);
                    else
                        p->error = "bad \\u";
                }
                if (!code || (code > 0x1F && code != '\\')) p->error = "an escape that is not needed, or NUL";
                if (p->error) break;
                text[used++] = (char)code;
                p->at += 5;
                continue;
            }
            if (*p->at == '\\' && p->end - p->at > 1 && p->at[1] == '"') p->error = "Perfetto 52 sees no end";
            while (*simple && *simple != *p->at) simple += 2;
            if (!*simple) p->error = "bad escape";
            if (p->error) break;
            text[used++] = simple[1];
            p->at++;
            continue;
        }
        length = utf8_length(p->at, p->end);
        if (!length) p->error = "invalid UTF-8";
        if (p->error) break;
        memcpy(text + used, p->at, length);
        used += length;
        p->at += length;
    }
    if (p->at == p->end && !p->error) p->error = "unfinished string";
    p->at += p->at < p->end;
    text[used] = 0;
    return text;
}

static inline char *parse_number(parser *p)
{
    const char *from = p->at;
    char *text;
    if (*p->at == '-') p->at++;
    if (p->at < p->end && *p->at == '0') {
        p->at++;
    } else {
        if (p->at == p->end || *p->at < '1' || *p->at > '9') p->error = "bad number";
        while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
    }
    if (p->at < p->end && *p->at == '.') {
        const char *digits = ++p->at;
        while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
        if (p->at == digits) p->error = "bad fraction";
    }
    if (p->at < p->end && (*p->at | 32) == 'e') {
        const char *digits;
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        digits = p->at;
        while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
        if (p->at == digits) p->error = "bad exponent";
    }
    text = (char *)malloc((size_t)(p->at - from) + 1);
    memcpy(text, from, (size_t)(p->at - from));
    text[p->at - from] = 0;
    if (!(strtod(text, NULL) - strtod(text, NULL) >= 0)) p->error = "number out of range";
    return text;
}

static inline json *parse_value(parser *p)
{
    json *node = (json *)calloc(1, sizeof *node), **last = &node->child;
    space(p);
    if (p->at == p->end) {
        p->error = "value expected";
        return node;
    }
    node->type = *p->at;
    if (*p->at == '"') {
        node->text = parse_string(p);
    } else if (*p->at == '-' || (*p->at >= '0' && *p->at <= '9')) {
        node->type = '0';
        node->text = parse_number(p);
    } else if (*p->at == '{' || *p->at == '[') {
        char close = *p->at == '{' ? '}' : ']';
        p->at++;
        space(p);
        while (!p->error && p->at < p->end && (*p->at != close || node->child)) {
            char *key = NULL;
            if (close == '}') {
                if (*p->at != '"') {
                    p->error = "key expected";
                    break;
                }
                key = parse_string(p);
                for (json *each = node->child; each; each = each->next)
                    if (!strcmp(each->key, key)) p->error = "key given twice";
                space(p);
                if (p->at == p->end || *p->at++ != ':') p->error = "colon expected";
            }
            *last = p->error ? NULL : parse_value(p);
            if (!*last) {
                free(key);
                break;
            }
            (*last)->key = key;
            last = &(*last)->next;
            space(p);
            if (p->at < p->end && *p->at == close) break;
            if (!p->error && (p->at == p->end || *p->at++ != ',')) p->error = "comma expected";
            space(p);
        }
        if (!p->error && p->at++ == p->end) p->error = "unfinished";
    } else {
        const char *words[] = {"true", "false", "null"};
        int found = 0;
        for (int i = 0; i < 3 && !found; ++i) {
            size_t length = strlen(words[i]);
            found = (size_t)(p->end - p->at) >= length && !memcmp(p->at, words[i], length);
            if (found) p->at += length;
        }
        if (!found) p->error = "value expected";
    }
    return node;
}

/* Null, and a failed check, if text is not strict JSON. */
static inline json *json_parse(const char *text, size_t size)
{
    parser p = {text, text + size, NULL};
    json *node = parse_value(&p);
    space(&p);
    if (!p.error && p.at != p.end) p.error = "something after the end";
    if (!p.error) return node;
    size_t offset = (size_t)(p.at - text), from = offset > 150 ? offset - 150 : 0;
    printf("JSON: %s at byte %lu of %lu: %.*s\n", p.error, (unsigned long)offset, (unsigned long)size,
           (int)(size - from < 200 ? size - from : 200), text + from);
    CHECK(p.error == NULL);
    json_free(node);
    return NULL;
}

static inline const json *member(const json *object, const char *key)
{
    for (const json *each = object ? object->child : NULL; each; each = each->next)
        if (!strcmp(each->key, key)) return each;
    return NULL;
}

static inline const char *text_of(const json *object, const char *key)
{
    const json *node = member(object, key);
    return node && node->text ? node->text : "";
}
#endif
